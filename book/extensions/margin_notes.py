"""Add margin notes to code cells that are the library's own code, as tags claim and tests prove.

The index has an entry from the library's name to the note.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

NOTES = {
    "tag_same-as-": "The library's own code: ",
    "tag_textbook-": "The textbook form. The library's is written differently, and proven equal: ",
}


class MarginNotes(SphinxTransform):
    """Insert a note before each tagged cell; the theme moves it into the margin."""

    default_priority = 700  # before Sphinx makes quotes curly

    def apply(self, **kwargs):
        """Find the tagged cells by their classes."""
        indexed = set()
        for cell in list(self.document.findall(nodes.container)):
            for sentence, where in _notes(cell["classes"]):
                words = nodes.paragraph("", sentence, nodes.literal(text=self._breakable(where)))
                note = nodes.container("", words, classes=["margin"])
                cell.parent.insert(cell.parent.index(cell), note)
                module, _, name = where.rpartition(".")
                if where not in indexed and not name.startswith("_"):
                    indexed.add(where)
                    place = nodes.make_id(f"built-{where}")
                    words["ids"].append(place)
                    entry = ("single", f"{name} ({module.removeprefix('minigrad.')})", place, "main", None)
                    note.insert(0, addnodes.index(entries=[entry]))

    def _breakable(self, where):
        """Return a name that HTML may break after a dot."""
        return where.replace(".", ".\N{ZERO WIDTH SPACE}") if self.app.builder.format == "html" else where


def _notes(classes):
    """Yield a sentence and a library name for each tag among the classes."""
    for tag in classes:
        for prefix, sentence in NOTES.items():
            if tag.startswith(prefix):
                yield sentence, tag.removeprefix(prefix)


def setup(app):
    """Add the notes to Sphinx."""
    app.add_transform(MarginNotes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
