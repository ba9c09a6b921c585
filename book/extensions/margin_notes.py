"""Says beside a code cell that it is the library's, as the cell's tag promises and the tests prove."""

from docutils import nodes
from sphinx.transforms import SphinxTransform

NOTES = {
    "tag_same-as-": "The library's own code: ",
    "tag_textbook-": "The textbook form. The library holds a faster one, proven equal: ",
}


class MarginNotes(SphinxTransform):
    """Put a note before each tagged cell; the theme moves it into the margin."""

    default_priority = 700  # before the quotes are made curly

    def apply(self, **kwargs):
        """Look at the classes that the cells' tags became."""
        for cell in list(self.document.findall(nodes.container)):
            for note in _notes(cell["classes"], self.app.builder.format == "html"):
                cell.parent.insert(cell.parent.index(cell), note)


def _notes(classes, on_a_page):
    """Yield a note for each class that is a tag of these kinds; on a page a name may go on below a point."""
    for name in classes:
        for prefix, sentence in NOTES.items():
            if name.startswith(prefix):
                where = name.removeprefix(prefix)
                where = where.replace(".", ".\N{ZERO WIDTH SPACE}") if on_a_page else where
                words = nodes.paragraph("", sentence, nodes.literal(text=where))
                yield nodes.container("", words, classes=["margin"])


def setup(app):
    """Add the notes to Sphinx."""
    app.add_transform(MarginNotes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
