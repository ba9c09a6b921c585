"""Budgets of the library: lines of code, without blanks, comments and docstrings."""

import ast
from pathlib import Path

import nbformat

from authoring.count import code_lines
from course import gather

LIBRARY = Path(__file__).parents[2] / "minigrad"
RINGS_BESIDE = ("check/", "beyond/")
CHECKER = 1017
LINES = 1925  # with room for the 14 of the layer that a walk-through adds


def size(name):
    return len(code_lines((LIBRARY / name).read_text(encoding="utf-8")))


def files():
    return sorted(path.relative_to(LIBRARY).as_posix() for path in LIBRARY.rglob("*.py"))


def test_the_library_without_its_checker_stays_within_its_lines():
    assert sum(size(name) for name in files() if not name.startswith(RINGS_BESIDE)) <= LINES


def test_the_gradient_checker_stays_within_its_lines_in_small_files():
    sizes = [size(name) for name in files() if name.startswith("check/")]
    assert sum(sizes) <= CHECKER and max(sizes) <= 250


def test_what_the_reader_builds_has_about_a_hundred_lines(monkeypatch):
    monkeypatch.chdir(LIBRARY.parent / "notebooks")
    chapter = nbformat.read("07_learning.ipynb", as_version=4)
    (cell,) = (cell for cell in chapter.cells if cell.source.startswith("source = gather("))
    scope = {}
    exec(cell.source.partition("\nlines = ")[0], {"gather": gather}, scope)  # the chapter counts; so do we
    defined = {getattr(node, "name", None) for node in ast.parse(scope["source"]).body}
    assert {"Parameter", "Layer", "Linear", "Sequential", "mse", "SGD", "Learner"} <= defined
    assert 80 <= len(code_lines(scope["source"])) <= 105  # of 80 columns
