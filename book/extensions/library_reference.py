"""Writes the reference of the library before the pages are read: a page for each file with public names.

What a page says is in the file itself: its docstring, and those of its names. The order is the teaching
order of ``minigrad.__all__``.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import minigrad

FOLDER = "reference"
# What readers meet and `minigrad` does not export: what gradcheck returns, and what needs another library.
BESIDE = {
    "minigrad.diagnosis": ("Report",),
    "minigrad.bridge": ("from_torch", "from_jax", "to_torch"),
}
INDEX = """# The library, file by file

Each page is one file of `minigrad`, in the order of the course, and says what the file holds, what it leaves
out, and which chapter builds it; {{ref}}`genindex` has every name from A to Z. All names are imported from
the library itself, as in `from minigrad import Linear`. The words are those that `help(Linear)` shows; each
example is run by the tests. Letters and words mean what the [notation](../notation.md) says.

| File | What it is |
|---|---|
{rows}

```{{toctree}}
:hidden:

{pages}
```
"""
PAGE = """# `{file}`

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


def pages():
    """Return the pages of the reference: their text by their name.

    Returns
    -------
    dict of str to str
    """
    rows, texts = [], {}
    for module, names in public_names().items():
        import_module(module)
        file = module.removeprefix("minigrad.")
        words = " ".join(inspect.getdoc(sys.modules[module]).split("\n\n")[0].split())
        lead = words.partition(". ")[0].rstrip(".")
        rows.append(f"| [`{file}`]({file}.md) | {lead}: {', '.join(f'`{name}`' for name in names)} |")
        directives = "\n".join(_directive(module, name) for name in names)
        texts[file] = PAGE.format(file=file, module=module, directives=directives)
    index = INDEX.format(rows="\n".join(rows), pages="\n".join(texts))
    return {"index": index} | texts


def _directive(module, name):
    """Return what shows one name: a function, an error, or a class with the methods that it explains."""
    thing = getattr(sys.modules[module], name)
    where = name if module not in BESIDE else f"{module}.{name}"
    if not inspect.isclass(thing):
        return f".. autofunction:: {where}"
    kind = "exception" if issubclass(thing, BaseException) else "class"
    return f".. auto{kind}:: {where}\n   :members:\n   :special-members: __call__"


def write_pages(folder):
    """Write the pages into a folder, and remove those whose file is gone; what is equal stays untouched."""
    folder.mkdir(exist_ok=True)
    texts = {folder / f"{name}.md": text for name, text in pages().items()}
    for path in set(folder.glob("*.md")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app):
    """Write when Sphinx is set up and has not yet looked for pages."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / FOLDER))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
