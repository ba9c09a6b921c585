"""The library stays small: code lines are counted, without blanks, comments and docstrings."""

import ast
import io
import tokenize
from pathlib import Path

import nbformat

from course import gather

LIBRARY = Path(__file__).parents[2] / "minigrad"
CHECKER = ("gradcheck.py", "trial.py", "diagnosis.py")
APART = ("graph.py", "functional.py", "bridge.py")  # other ways to the same: no other file uses them
LINES = 2655  # with room for the layer that a walk-through adds
SILENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(source):
    """Return the numbers of the lines with code in a file."""
    tree = ast.parse(source)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines |= {
                n for n in range(token.start[0], token.end[0] + 1) if source.splitlines()[n - 1].strip()
            }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def size(name):
    return len(code_lines((LIBRARY / name).read_text(encoding="utf-8")))


def files():
    return sorted(path.relative_to(LIBRARY).as_posix() for path in LIBRARY.rglob("*.py"))


def test_code_lines_are_what_is_neither_blank_nor_comment_nor_docstring():
    source = """'The file.'

import ast  # why

# a comment
class A:
    'The class.'

    x = (1,
         2)
"""
    assert code_lines(source) == {3, 6, 9, 10}


def test_the_library_without_its_checker_stays_within_its_lines():
    assert sum(size(name) for name in files() if name not in (*CHECKER, *APART)) <= LINES


def test_what_the_reader_builds_has_at_most_100_lines(monkeypatch):
    monkeypatch.chdir(LIBRARY.parent / "notebooks")
    chapter = nbformat.read("07_learning.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.source.startswith("source = gather("))
    scope = {}
    exec(cell.source.partition("\nlines = ")[0], {"gather": gather}, scope)  # the chapter counts; so do we
    defined = {getattr(node, "name", None) for node in ast.parse(scope["source"]).body}
    assert {"Parameter", "Layer", "Linear", "Sequential", "mse", "SGD", "Learner"} <= defined
    assert 80 <= len(code_lines(scope["source"])) <= 100
