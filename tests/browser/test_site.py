"""The site in Chromium: it shows, computes, checks, keeps what was done, and asks nobody else."""

import json

import pytest

from tests.browser.conftest import BUSY
from tests.browser.test_chapters import ALL, HERE, WAITING, answers, as_elsewhere

pytestmark = pytest.mark.browser

SECONDS = 30  # from an address to the first output, in a browser that has seen nothing before
RIGHT = "def centre(X):\n    return X - X.mean(axis=1, keepdims=True)"
CHECK = 'check("00_start.centre", centre)'
WRONG = "def centre(X):\n    return X - X.mean(axis=0)"


@pytest.fixture
def visit(node, chromium, site):
    """Return a function that runs notebooks of the site, and tells what it saw; none asked anybody else."""

    def visit(*visits, **options):
        seen = answers([node, HERE / "in_chromium.mjs", chromium, site, json.dumps(visits)], **options)
        assert [seen[-1]["foreign"], seen[-1]["lost"]] == [[], []]
        return seen

    return visit


def outputs(seen):
    """Return the outputs of the cells that ran, by their place."""
    return {place: cell["outputs"] for place, cell in enumerate(seen["cells"]) if cell.get("execution_count")}


def said(seen, part):
    """Return what the one cell with a part in its source showed, as text."""
    code = [cell for cell in seen["cells"] if cell["cell_type"] == "code"]
    (cell,) = [cell for cell in code if part in "".join(cell["source"])]
    return json.dumps(cell["outputs"], ensure_ascii=False)


def test_a_chapter_runs_in_the_site_and_its_slider_moves(visit):
    (seen,) = visit({"notebook": ALL[2], "slide": True}, timeout=900)
    as_elsewhere(ALL[2], outputs(seen))
    assert seen["slid"]
    print(f"{ALL[2]}: its first output after {seen['firstOutput']:.0f} s (goal: {SECONDS})")
    assert seen["firstOutput"] < BUSY * SECONDS


@pytest.mark.parametrize("chapter", WAITING)
def test_a_chapter_whose_threads_wait_runs_in_the_site(chapter, visit):
    (seen,) = visit({"notebook": chapter}, timeout=900)
    as_elsewhere(chapter, outputs(seen))


def test_an_exercise_is_checked_and_what_is_done_is_kept_in_the_browser(visit):
    exercise, hint = "exercises/00_start/00_start_exercises.ipynb", 'hint("00_start.centre")'
    wrong, right, later = visit(
        {"notebook": exercise, "write": {"raise NotImplemented": WRONG, 'check("': f"{hint}\n{CHECK}"}},
        {"notebook": exercise, "write": {"def centre": RIGHT, "check(": CHECK}},
        {"notebook": "notebooks/00_start.ipynb", "app": "notebooks", "width": 390},
        timeout=900,
    )
    assert "Hint 1 of 3" in said(wrong, hint)
    assert "centre: right" not in said(wrong, hint)
    assert "centre: right. 1 point." in said(right, CHECK)
    assert "1 of 1 points  ✓\xa0centre" in said(later, "progress()")


def test_a_chapter_and_its_exercises_side_by_side_have_a_title_and_a_kernel_each(visit):
    chapter, exercises = "notebooks/00_start.ipynb", "exercises/00_start/00_start_exercises.ipynb"
    (seen,) = visit({"notebook": chapter, "beside": exercises}, timeout=900)
    assert seen["both"] == [["00_start.ipynb", "ok"], ["00_start_exercises.ipynb", "error"]]


@pytest.fixture(scope="module")
def notices(node, chromium, site):
    """What the lab says where something is wrong."""
    (found,) = answers([node, HERE / "notices.mjs", chromium, site], timeout=900)
    return found


def test_a_learner_is_told_from_where_python_could_not_be_loaded_and_what_to_do(notices, site):
    (sentences,) = notices["blocked"]
    assert f"Python could not be loaded from {site}/static/pyodide/, so no cell can run." in sentences
    assert "Are you online?" in sentences and "PYODIDE=folder" in sentences and "make lab" in sentences


def test_a_copy_of_an_older_edition_is_named_and_kept_beside_the_new_one(notices):
    assert notices["same"] == []
    (sentences,) = notices["older"]
    assert "Your copy of 00_start.ipynb was made from an older edition" in sentences
    assert notices["now"] == ["the new edition", "mine, not saved", []]
    assert notices["later"] == ["the new edition", []]


def test_exercises_under_their_older_name_are_kept_beside_those_of_today(notices):
    assert notices["renamed"] == "mine"


@pytest.mark.long
@pytest.mark.parametrize("chapter", ALL)
def test_a_chapter_runs_to_its_end_in_the_site(chapter, visit):
    (seen,) = visit({"notebook": chapter}, timeout=900)
    as_elsewhere(chapter, outputs(seen))
    assert seen["firstOutput"] < BUSY * SECONDS
