"""A chapter to rebuild from memory: no prose, no outputs, and stubs for the functions that it builds.

Holds `recall_copy`. The chapter's headings, imports, calls and assertions remain; the assertions show whether
the rebuilt functions are right. The book's extension ``chapter_tools`` writes the files.
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
    "Rebuild this chapter from memory. Write each function that raises `NotImplementedError`; its name and "
    "its arguments are those of the chapter. All other code is unchanged. The assertions pass when your "
    "functions are right."
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def recall_copy(chapter):
    """Make a chapter's copy for recall; None if the chapter defines nothing.

    Parameters
    ----------
    chapter : NotebookNode
        Not changed. Stubs replace the functions and classes in its cells tagged ``same-as-`` or
        ``textbook-`` or, if it has no such cells, in all cells.

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
    r"""Replace the bodies of functions and methods with stubs; names, arguments and docstrings remain.

    Parameters
    ----------
    source : str
        Code outside functions is unchanged, and so is code that is not valid Python.

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
    for function in reversed(
        list(_outer_functions(tree))
    ):  # careful: from the bottom up, so that line numbers stay valid
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not body or body[0].lineno == function.lineno:  # a body on the same line is already a stub
            continue
        first = body[0].lineno - 1
        while lines[first - 1].strip().startswith(("#", "@")) or not lines[first - 1].strip():
            first -= 1  # also remove comments on the body, and its first function's decorators
        lines[first : body[-1].end_lineno] = [" " * body[0].col_offset + STUB]
    return "\n".join(lines)


def _outer_functions(node):
    """Yield the functions and methods, from top to bottom, but not those inside another function."""
    for child in node.body:
        if isinstance(child, DEFINITIONS):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from _outer_functions(child)


def _has(cell, *tags):
    """Report whether a cell has a tag that begins with one of `tags`."""
    return any(tag.startswith(tags) for tag in cell.metadata.get("tags", []))
