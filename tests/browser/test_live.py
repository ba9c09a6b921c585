"""Cells of the book's pages in Chromium: changed, run, put back, and stopped, by hand and by keys."""

import shutil

import pytest

from tests.browser.conftest import BUSY, FETCHED, HERE, needed, served, small_book
from tests.browser.test_chapters import answers

pytestmark = pytest.mark.browser

INDEX = "# Book\n\n```{toctree}\n:glob:\n\nnotebooks/*\nexercises/*/*\n```\n"
COPIED = ("notebooks/01_slope.ipynb", "exercises/04_closures", "solutions/04_closures")


@pytest.fixture(scope="module")
def book(lab, tmp_path_factory):
    """The address of a book of one chapter and another's exercises, with the lab beside it."""
    project = tmp_path_factory.mktemp("live")
    shutil.copytree(lab, project / "site/lite")
    with served(small_book(project, {"index": INDEX}, COPIED)) as address:
        yield address


@pytest.fixture(scope="module")
def found(book, node, chromium):
    """What a reader met who worked through the pages once."""
    needed((HERE / "node_modules" / "axe-core").exists(), f"tests/browser/node_modules/axe-core {FETCHED}")
    (line,) = answers([node, HERE / "live.mjs", chromium, book], timeout=900)
    return line


def test_nothing_is_fetched_before_a_cell_runs_and_nothing_from_elsewhere(found):
    assert found["before"] == [] and found["after"] > 5
    assert found["problems"] == []


def test_a_reader_is_told_from_where_python_could_not_be_loaded_and_what_to_do(found, book):
    assert f"Python could not be loaded from {book}/lite/static/pyodide/. Are you online?" in found["blocked"]
    assert "make lab" in found["blocked"]


def test_a_changed_cell_runs_after_those_above_it(found):
    loading = [words for words in found["said"] if words.startswith("Loading Python into this page, about ")]
    assert loading and "Running the 2 cells above first …" in found["said"]
    seen, heard = found["end"].split("\n")  # and what its output says, to ears
    assert seen == "Ran." and heard.startswith("1 percent more: 7,626.3 euros per percent")
    lines = found["changed"].split("\n")
    assert lines[:2] == ["1      percent more: 7,626.3 euros per percent", f"0.5    {HALF}"]
    assert lines[-1] == "ran in this page"
    assert found["firstRan"].startswith("45,456 euros")


def test_the_first_output_comes_within_fifteen_seconds_and_the_next_within_one(found):
    print(f"first output after {found['cold']:.1f} s, a warm run takes {found['warm']:.2f} s")
    assert found["cold"] < 15 * BUSY and found["warm"] < 1 * BUSY


HALF = "percent more: 7,263.4 euros per percent"


def unearned(years):
    """What the account of chapter 01 holds at a rate of zero."""
    money = 0.0
    for _ in range(years):
        money += 1000
        if money > 20000:
            money = money - 0.01 * (money - 20000)
    return money


def test_an_error_is_short_and_ends_what_needs_the_cell(found):
    assert found["error"].startswith("Traceback") and "ZeroDivisionError: division by zero" in found["error"]
    assert found["error"].count("File") == found["error"].count('File "cell 1"') == 1
    assert found["stopsAt"].startswith("cell 1 (1 / 0) above, which you changed, does not run")


def test_what_is_written_outlives_a_reload_and_reset_brings_everything_back(found):
    assert found["kept"][0] == "1 / 0" and "in (1, 0.5):" in found["kept"][1]
    code, same = found["reset"]
    assert "0.1, 0.01, 0.001, 0.0001" in code and same
    assert found["focus"] == "live-open"


def test_all_cells_are_put_back_at_once(found):
    assert found["both"] == ["42", "42"]
    assert found["resetAll"] == [0, True, True]


def test_a_finger_runs_a_cell_and_a_long_one_says_so(found):
    assert found["byTouch"] == "42" and found["phone"] == 390 and found["warned"]


def test_a_cell_is_written_run_and_left_by_keys_alone(found):
    assert found["typed"] == "for h in (1, 2):\n    print(h * savings(0.0))"
    assert found["left"] == "Run" and found["next"] == "Reset"
    assert found["byKeys"].split("\n")[0] == str(unearned(30))


def test_a_figure_is_drawn_anew_under_its_number(found):
    assert found["figure"].startswith("Figure 1.1") and found["drawn"] == 1


def test_a_run_that_does_not_end_is_stopped(found):
    assert found["stopped"] == "Stopped. What had run is gone; the next run starts Python again."


def test_an_exercise_is_checked_in_the_page_without_those_above_it(found):
    assert "reduce_mean: right" not in found["wrong"] and "reduce_mean" in found["wrong"]
    assert "reduce_mean: right. 2 points." in found["right"]
    assert found["passedOver"] == 0


def test_the_controls_fit_a_phone_have_no_barrier_and_are_not_printed(found):
    assert found["barriers"] == {"light": [], "dark": []}
    assert found["width"] == 360
    assert found["printed"] == 0


def test_a_heading_leads_to_itself_in_the_lab(found):
    assert found["inTheLab"]
