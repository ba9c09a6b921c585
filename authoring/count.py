"""Count lines of code per folder, without blanks, comments, docstrings: ``python -m authoring count``.

Holds `code_lines`, for one file, and `table`, for all.
"""

import ast
import io
import tokenize

from course import store

HOUSE = ("minigrad", "course", "classroom", "authoring", "book", "benchmarks", "tests")
SILENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(source):
    r"""Return the line numbers of a file's lines of code.

    Parameters
    ----------
    source : str

    Returns
    -------
    set of int

    Examples
    --------
    >>> sorted(code_lines("'The file.'\n\nimport ast  # why\n\n# a comment\nx = (1,\n     2)\n"))
    [3, 6, 7]
    """
    tree, text = ast.parse(source), source.splitlines()
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines |= {n for n in range(token.start[0], token.end[0] + 1) if text[n - 1].strip()}
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def table(project=store.PROJECT):
    """Count the files and lines of code of each folder.

    Parameters
    ----------
    project : Path

    Returns
    -------
    dict of str to (int, int)
        Folder to files and lines; the direct subfolders are listed, too.
    """
    sizes = {}
    for house in HOUSE:
        for path in sorted((project / house).rglob("*.py")):
            lines = len(code_lines(path.read_text("utf-8")))
            inner = path.relative_to(project).parts[:-1][:2]
            for name in dict.fromkeys((house, "/".join(inner))):
                files, total = sizes.get(name, (0, 0))
                sizes[name] = files + 1, total + lines
    return sizes
