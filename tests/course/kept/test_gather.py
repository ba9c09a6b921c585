"""What the reader has built is gathered from the chapters beside the notebook, or told to be missing."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course import gather
from course.kept.gather import NotGathered

DOUBLE = "def double(X):\n    return 2 * X, lambda dY: 2 * dY  # the slope"


def write(folder, name, *cells):
    """Store a notebook; a cell is its tag and its source."""
    cells = [new_code_cell(source, metadata={"tags": [tag] if tag else []}) for tag, source in cells]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), *cells]), folder / name)


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    write(
        tmp_path,
        "04_closures.ipynb",
        ("textbook-minigrad.a.double", f"import os\n{DOUBLE}\n\n\nprint(double(3))"),
        ("", "class Lost:\n    pass"),
    )
    write(
        tmp_path, "05_chains.ipynb", ("hundred-lines", "%time 1\n@staticmethod\ndef find(thing):\n    pass")
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_definitions_come_in_the_order_asked_for_without_what_stands_beside_them(chapters):
    assert gather("find", "double") == (
        f"import numpy as np\n\n\n@staticmethod\ndef find(thing):\n    pass\n\n\n{DOUBLE}\n"
    )


def test_the_last_chapter_that_defines_a_name_counts_but_none_after_07(chapters):
    write(chapters, "07_learning.ipynb", ("same-as-minigrad.a.double", "def double(X):\n    return 7"))
    write(chapters, "08_digits.ipynb", ("same-as-minigrad.a.double", "def double(X):\n    return 8"))
    write(chapters, "03_gradcheck.ipynb", ("same-as-minigrad.a.half", "def half(X):\n    return 3"))
    assert gather("double").endswith("    return 7\n")
    with pytest.raises(NotGathered, match="half is defined in no tagged cell"):
        gather("half")


def test_what_the_reader_changed_and_saved_counts(chapters):
    write(chapters, "04_closures.ipynb", ("textbook-minigrad.a.double", DOUBLE.replace("2 * X", "X + X")))
    assert "return X + X" in gather("double")


def test_a_name_in_no_tagged_cell_is_told_with_what_there_is(chapters):
    with pytest.raises(NotGathered, match="Lost is .* of 04_closures.ipynb, 05_chains.ipynb.*double, find"):
        gather("double", "Lost")


def test_a_tagged_cell_that_is_no_python_is_told(chapters):
    write(chapters, "06_losses.ipynb", ("textbook-minigrad.a.mse", "def mse(Y, T)\n    pass"))
    with pytest.raises(NotGathered, match=r"06_losses.ipynb .* in its line 1, `def mse\(Y, T\)`.*Correct"):
        gather("double")


def test_without_chapters_beside_it_the_projects_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "class Linear(Layer):" in gather("Layer", "Linear")


def test_a_notebook_shows_the_sentence_alone():
    lines = NotGathered("Two words. " * 20)._render_traceback_()
    assert lines[0].startswith("Not gathered. Two words.")
    assert max(map(len, lines)) <= 96
