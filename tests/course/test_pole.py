"""Chapter 18's pole: the cell skips where gymnasium is missing; where it is installed, the network learns."""

import ast
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np
import pytest

CHAPTER = Path(__file__).parents[2] / "notebooks/18_acting.ipynb"
NEEDED = (
    "def choose(",
    "def loss_on_move(",
    "def new_model(",
    "def replay(",
    "def deep_q(",
    "class Pole:",
    "def moments_upright(",
)


def cells(*beginnings):
    """Return the sources of the set-up cell and of the cells that hold one of these beginnings of lines."""
    code = [cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "code"]
    found = [source for source in code if any(start in source for start in beginnings)]
    assert all(any(start in source for source in found) for start in beginnings)
    return [code[0], *found]


def definitions(source):
    """Return the definitions of a cell, without what it calls."""
    tree = ast.parse(source)
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return ast.unparse([line for line in tree.body if isinstance(line, kept)])


def scope_of_the_pole():
    """Return the names that the chapter's last cell of the pole uses, without running the maze."""
    scope = {"__name__": "__main__"}
    for source in cells(*NEEDED):
        exec(compile(definitions(source), "<cell>", "exec"), scope)
    return scope


@pytest.mark.skipif(find_spec("gymnasium") is not None, reason="gymnasium is there, so nothing is skipped")
def test_without_gymnasium_the_cell_says_why_it_shows_nothing_and_how_to_get_it():
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(cells("if find_spec(")[1], "<cell>", "exec"), scope_of_the_pole())
    assert printed.getvalue() == (
        "Skipped: gymnasium is not installed (`uv pip install gymnasium` brings it).\n"
        "Nothing that comes later needs this cell.\n"
    )


@pytest.mark.skipif(find_spec("gymnasium") is None, reason="gymnasium is not installed; it is optional")
def test_the_pole_stays_upright_five_times_as_long_as_by_chance():
    scope = scope_of_the_pole()
    exec(compile(definitions(cells("def balance(")[1]), "<cell>", "exec"), scope)
    by_chance, learned = np.mean([scope["balance"](seed) for seed in range(2)], axis=0)
    assert 15 < by_chance < 30
    assert learned > 5 * by_chance  # nine to twenty times as long in the runs of five seeds
