"""The library stays small: code lines are counted, without blanks, comments and docstrings."""

import ast
import io
import tokenize
from pathlib import Path

import nbformat
import pytest

from course import gather

LIBRARY = Path(__file__).parents[2] / "minigrad"
CHECKER = ("gradcheck.py", "diagnosis.py")
APART = "graph.py"  # the other way to remember, for chapter 11: the library does not use it
RUNGS = (
    "shapes.py",
    "parameter.py",
    "layer.py",
    "losses.py",
    "layers/linear.py",
    "layers/activations.py",
    "layers/combinators.py",
    "learner.py",
)
# What stands in these files for the sake of a later chapter, and does not count yet.
LATER = {
    "parameter.py": {"Buffer"},  # 10
    "layer.py": {"buffers", "freeze", "unfreeze", "to"}  # 10
    | {"observed", "initialize", "open", "open_all", "forget", "named_layers", "summary"},  # 12
    "losses.py": {"cosine_distance"},  # 13
    "layers/linear.py": {"take_sizes", "_width"},  # 12
    "layers/activations.py": {"GELU"},  # 16
    "layers/combinators.py": {"open"},  # 12
}
SILENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(source, class_name=None, without=()):
    """Return the numbers of the lines with code, in a file or a class of it, without some definitions."""
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
        if getattr(node, "name", None) in without:
            lines -= set(range(node.lineno, node.end_lineno + 1))
    if class_name is not None:
        (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == class_name)
        lines &= set(range(node.lineno, node.end_lineno + 1))
    return lines


def size(name, class_name=None, without=()):
    return len(code_lines((LIBRARY / name).read_text(encoding="utf-8"), class_name, without))


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
    assert code_lines(source, "A") == {6, 9, 10}
    assert code_lines(source, without={"A"}) == {3}


def test_the_library_without_its_checker_has_at_most_1450_lines():
    assert sum(size(name) for name in files() if name not in (*CHECKER, APART)) <= 1450


def test_the_graph_has_at_most_80_lines():
    assert size(APART) <= 80


def test_what_the_first_two_parts_need_has_at_most_440_lines():
    rungs = sum(size(name, without=LATER.get(name, ())) for name in RUNGS)
    assert rungs + size("optimizers.py", "SGD") <= 440


def test_what_the_reader_builds_has_at_most_100_lines(monkeypatch):
    monkeypatch.chdir(LIBRARY.parent / "notebooks")
    chapter = nbformat.read("07_learning.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.source.startswith("source = gather("))
    scope = {}
    exec(cell.source.partition("\nlines = ")[0], {"gather": gather}, scope)  # the chapter counts; so do we
    defined = {getattr(node, "name", None) for node in ast.parse(scope["source"]).body}
    assert {"Parameter", "Layer", "Linear", "Sequential", "mse", "SGD", "Learner"} <= defined
    assert 80 <= len(code_lines(scope["source"])) <= 100


def test_what_belongs_to_later_chapters_is_there():
    for name, later in LATER.items():
        assert later <= {
            getattr(node, "name", None) for node in ast.walk(ast.parse((LIBRARY / name).read_text("utf-8")))
        }


@pytest.mark.parametrize("name", [name for name in files() if name not in CHECKER])
def test_no_file_has_more_than_200_lines(name):
    assert size(name) <= 200
