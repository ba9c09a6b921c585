"""A chapter to be rebuilt from memory: no prose, no outputs, and empty functions where it built its idea.

Holds `recall_copy`. What stays is the chapter's headings, its imports, its calls and its assertions: they
tell when what you wrote is right. Leaves out reading and writing files (``chapter_tools``, of the book).
"""

import ast
import re
from copy import deepcopy

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring.exercises import STUB

BUILT_TAGS = ("same-as-", "textbook-")
HEADING = re.compile(r"^#{1,3} .+$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INVITATION = (
    "To be rebuilt from memory. Each function that raises `NotImplementedError` is yours: its name and its "
    "arguments are those of the chapter. What calls it is left as it was, and the assertions hold when you "
    "are right."
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def recall_copy(chapter):
    """Return a chapter's copy for recall, or None where the chapter defines nothing.

    Parameters
    ----------
    chapter : NotebookNode
        Left as it is. What it builds are the functions and classes in its cells tagged ``same-as-`` or
        ``textbook-``; if it has no such cells, those of all its cells.

    Returns
    -------
    NotebookNode or None
    """
    for everywhere in (False, True):
        cells, emptied = [], 0
        for cell in chapter.cells:
            if cell.cell_type == "markdown":
                if headings := HEADING.findall(FENCE.sub("", cell.source)):
                    cells.append(new_markdown_cell("\n\n".join(headings), id=cell.id))
            elif cell.cell_type == "code":
                built = everywhere or _has(cell, *BUILT_TAGS)
                copy = new_code_cell(emptied_source(cell.source) if built else cell.source, id=cell.id)
                copy.metadata.tags = ["raises-exception"] if _has(cell, "raises-exception") else []
                emptied += copy.source != cell.source
                cells.append(copy)
        if emptied:
            cells.insert(1, new_markdown_cell(INVITATION, id="invitation"))
            return new_notebook(cells=cells, metadata=deepcopy(chapter.metadata))
    return None


def emptied_source(source):
    r"""Return code whose functions and methods raise NotImplementedError; names, arguments, docstrings stay.

    Parameters
    ----------
    source : str
        What stands outside of a function is left as it is, and so is code that Python cannot read.

    Returns
    -------
    str

    Examples
    --------
    >>> print(emptied_source("def half(x):\n    return x / 2\n\n\nassert half(4) == 2"))
    def half(x):
        raise NotImplementedError
    <BLANKLINE>
    <BLANKLINE>
    assert half(4) == 2
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    lines = source.split("\n")
    for function in reversed(list(_outer_functions(tree))):  # careful: from below, so that line numbers hold
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not body or body[0].lineno == function.lineno:  # a body beside its name is a stub already
            continue
        first = body[0].lineno - 1
        while lines[first - 1].strip().startswith(("#", "@")) or not lines[first - 1].strip():
            first -= 1  # comments on the body, and what decorates its first function, tell too much
        lines[first : body[-1].end_lineno] = [" " * body[0].col_offset + STUB]
    return "\n".join(lines)


def _outer_functions(node):
    """Yield the functions and methods, from above, and none that stands inside another one."""
    for child in node.body:
        if isinstance(child, DEFINITIONS):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from _outer_functions(child)


def _has(cell, *tags):
    """Say whether a cell has a tag that begins with one of these."""
    return any(tag.startswith(tags) for tag in cell.metadata.get("tags", []))
