"""Generate the library's reference before Sphinx reads pages: a page for each file with public names.

A page has the docstring of its file and those of its public names, in the order of ``minigrad.__all__``. The
directive `{library-files}` in reference.md lists the pages.
"""

import inspect
from importlib import import_module
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

import minigrad

FOLDER = "reference"
# Public names that `minigrad` does not export: the result of gradcheck, and functions for other libraries.
BESIDE = {
    "minigrad.check.report": ("Report",),
    "minigrad.beyond.bridge": ("from_torch", "from_jax", "to_torch"),
}
TABLE = """| File | What it is |
|---|---|
{rows}
"""
CONTENTS = """
```{{toctree}}
:hidden:

{pages}
```
"""
PAGE = """# {file}

```{{eval-rst}}
.. automodule:: {module}
   :no-index:
```

```{{eval-rst}}
.. currentmodule:: minigrad
{directives}
```
"""


def public_names():
    """Return the public names by module, in teaching order.

    Returns
    -------
    dict of str to list of str
    """
    names = {}
    for name in minigrad.__all__:
        names.setdefault(getattr(minigrad, name).__module__, []).append(name)
    return names | {module: list(beside) for module, beside in BESIDE.items()}


def table():
    """Return, in Markdown, a table of the files."""
    rows = []
    for module, names in public_names().items():
        file = module.removeprefix("minigrad.")
        words = " ".join(inspect.getdoc(import_module(module)).split("\n\n")[0].split())
        what = words.partition(". ")[0].rstrip(".")
        listed = ", ".join(f"`{name}`" for name in names)
        rows.append(f"| [`{file}`]({FOLDER}/{file}.md) | {what}: {listed} |")
    return TABLE.format(rows="\n".join(rows))


def contents():
    """Return, in Markdown, the table of contents of the files' pages."""
    pages = "\n".join(f"{FOLDER}/{module.removeprefix('minigrad.')}" for module in public_names())
    return CONTENTS.format(pages=pages)


def page(module, names):
    """Return, in Markdown, the page of a file."""
    directives = "\n".join(_directive(import_module(module), name) for name in names)
    return PAGE.format(file=module.removeprefix("minigrad."), module=module, directives=directives)


def _directive(module, name):
    """Return the directive for a function, an error or a class; for a layer, show only `forward`."""
    thing = getattr(module, name)
    where = f"{module.__name__}.{name}" if module.__name__ in BESIDE else name
    if not inspect.isclass(thing):
        return f".. autofunction:: {where}"
    if issubclass(thing, BaseException):
        return f".. autoexception:: {where}"
    if thing is minigrad.Layer:
        return f".. autoclass:: {where}\n   :members:\n   :special-members: __call__"
    return f".. autoclass:: {where}\n   :members: {'forward' if issubclass(thing, minigrad.Layer) else ''}"


def write_pages(folder):
    """Write the changed pages into a folder, and remove the pages of deleted files."""
    folder.mkdir(exist_ok=True)
    texts = {
        folder / f"{module.removeprefix('minigrad.')}.md": page(module, names)
        for module, names in public_names().items()
    }
    for path in set(folder.glob("*.md")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _before_reading(app):
    """Write the pages before Sphinx looks for pages, if the book lists them."""
    book = Path(app.srcdir)
    if (book / f"{FOLDER}.md").exists():
        write_pages(book / FOLDER)


class LibraryFiles(SphinxDirective):
    """The table of the files, each with a link to its page."""

    def run(self):
        """Make the table."""
        return self.parse_text_to_nodes(table() + contents(), allow_section_headings=False)


def setup(app):
    """Connect the pages and their table to Sphinx."""
    app.connect("builder-inited", _before_reading)
    app.add_directive("library-files", LibraryFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
