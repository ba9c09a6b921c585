"""Folds long imports on a page, so that they do not part a chapter's question from its answer.

A cell of code that holds nothing but imports, in more than eight lines, is one small line until a reader
opens it. On paper it stays as it is.
"""

import ast

import nbformat

PAPER = ("latex", "epub")
MOST = 8  # lines that stay open


def is_long_import(source):
    """Return whether code is nothing but imports, in more than eight lines.

    Parameters
    ----------
    source : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_long_import("import os\\n"), is_long_import("import os\\n" * 9), is_long_import("x = 1\\n" * 9)
    (False, True, False)
    """
    if len(source.strip().splitlines()) <= MOST:
        return False
    try:
        lines = ast.parse(source).body
    except SyntaxError:  # magic, or a line that is not Python yet
        return False
    return all(isinstance(line, ast.Import | ast.ImportFrom) for line in lines)


def with_folded_imports(notebook):
    """Return a notebook whose cells of long imports are folded.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.

    Returns
    -------
    NotebookNode
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_long_import(cell.source):
            label = f"Imports: {len(cell.source.strip().splitlines())} lines"
            cell.metadata.setdefault("tags", []).extend(["hide-input", "imports"])
            cell.metadata.mystnb = {"code_prompt_show": label, "code_prompt_hide": label}
    return notebook


def _on_reading(app, page, source):
    """Fold the imports of a notebook."""
    if app.builder.name not in PAPER and page.startswith(("notebooks/", "exercises/")):
        notebook = nbformat.reads(source[0], as_version=4)
        source[0] = nbformat.writes(with_folded_imports(notebook))


def setup(app):
    """Tell Sphinx when to fold."""
    app.connect("source-read", _on_reading, priority=790)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
