"""gather: collects the reader's library, the definitions in the chapters' cells, into one file.

Chapter 07 counts, stores and imports the result.
"""

import ast
import json
import re
import textwrap
from pathlib import Path

from course import store

__all__ = ["NotGathered", "gather"]

CHAPTERS = range(4, 8)  # the chapters that build the library in a hundred lines
TAGS = ("same-as-", "textbook-", "hundred-lines")
MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)  # IPython's magic commands


class NotGathered(Exception):
    """A definition cannot be gathered; the message says why and what to do."""

    def _render_traceback_(self):
        """Return the lines a notebook shows instead of a traceback."""
        return textwrap.wrap(f"Not gathered. {self}", 96)


def gather(*names):
    """Return the source of classes and functions built in chapters 04 to 07, as one file.

    Parameters
    ----------
    *names : str
        In the order of the file.

    Returns
    -------
    str
        ``import numpy as np``, then the definitions.

    Raises
    ------
    NotGathered
        If no chapter defines a name, or a tagged cell has a syntax error.

    Notes
    -----
    Chapters are read from the current folder, including the reader's saved changes; if it has
    none, from the project. Only cells whose tag begins with ``same-as-``, ``textbook-`` or ``hundred-lines``
    count; of several definitions, the last one counts.
    """
    paths = _chapters(Path.cwd()) or _chapters(store.PROJECT / "notebooks")
    found = {}
    for path in paths:
        found |= _definitions(path)
    missing = [name for name in names if name not in found]
    if missing:
        raise NotGathered(
            f"{', '.join(missing)} is defined in no tagged cell of {', '.join(path.name for path in paths)}. "
            f"Those cells define {', '.join(sorted(found))}. Check the spelling, or get a new copy of the "
            "chapter."
        )
    return "\n\n\n".join(["import numpy as np", *(found[name] for name in names)]) + "\n"


def _chapters(folder):
    """Return the notebooks of CHAPTERS in a folder, in order."""
    return [path for number in CHAPTERS for path in sorted(folder.glob(f"{number:02}_*.ipynb"))]


def _definitions(path):
    """Return the source of all functions and classes that a notebook's tagged cells define, by name."""
    found = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:  # json, since a browser has no nbformat
        if not any(tag.startswith(TAGS) for tag in cell["metadata"].get("tags", ())):
            continue
        source = MAGIC.sub("", "".join(cell["source"]))
        try:
            body = ast.parse(source).body
        except SyntaxError as error:
            raise NotGathered(
                f"{path.name} has a cell with a syntax error: {error.msg} in its line {error.lineno}, "
                f"`{(error.text or '').strip()}`. Correct the cell and save the notebook."
            ) from error
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                found[node.name] = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return found
