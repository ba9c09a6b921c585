"""Writes the reference of the library before the pages are read: a page for each file with public names.

What a page says is in the file itself: its docstring, and those of its names. Their order is that
of ``minigrad.__all__``. The page reference.md lists them where it writes `{library-files}`.
"""

import inspect
from importlib import import_module
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

import minigrad

FOLDER = "reference"
# What readers meet and `minigrad` does not export: what gradcheck returns, and what needs another library.
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
    """Return the names of the reference by module, in teaching order.

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
    """Return, in Markdown, the list of the files' pages."""
    pages = "\n".join(f"{FOLDER}/{module.removeprefix('minigrad.')}" for module in public_names())
    return CONTENTS.format(pages=pages)


def page(module, names):
    """Return, in Markdown, the page of a file."""
    directives = "\n".join(_directive(import_module(module), name) for name in names)
    return PAGE.format(file=module.removeprefix("minigrad."), module=module, directives=directives)


def _directive(module, name):
    """Return what shows one name: a function, an error, or a class; of a layer only its forward is shown."""
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
    """Write the pages into a folder, and remove those whose file is gone; what is equal stays untouched."""
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
    """Write the pages of a book that lists them, when Sphinx has not yet looked for pages."""
    book = Path(app.srcdir)
    if (book / f"{FOLDER}.md").exists():
        write_pages(book / FOLDER)


class LibraryFiles(SphinxDirective):
    """The table of the files, each of which leads to its page."""

    def run(self):
        """Make it."""
        return self.parse_text_to_nodes(table() + contents(), allow_section_headings=False)


def setup(app):
    """Tell Sphinx when to write the pages, and the word for their table."""
    app.connect("builder-inited", _before_reading)
    app.add_directive("library-files", LibraryFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
