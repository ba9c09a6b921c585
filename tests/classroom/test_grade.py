"""From bytes to marks: what is right gets its points, what is not its reason, and a fault gets neither."""

import hashlib
import json
from pathlib import Path

import nbformat
import pytest

from classroom import grade as module
from classroom import remote
from classroom.faults import GradingFault
from classroom.grade import clean, grade, works
from course.checks import exercises
from course.checks.exercise import CheckFailed, Exercise

PROJECT = Path(__file__).resolve().parents[2]
CENTRE = "import numpy as np\ndef centre(X):\n    return X - X.mean(axis=1, keepdims=True)"
STEMS = sorted({exercise.stem for exercise in exercises()})


def notebook(*sources):
    """Return a notebook with these code cells, as bytes."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()


def centre(*sources, **options):
    """Return the result of these cells in chapter 00, and the row of its first exercise."""
    result = grade(notebook(*sources), "00_start", 5, **options)
    row, *others = result["exercises"]
    assert row["name"] == "00_start.centre" and all(not other["points"] for other in others)
    return result, row


@pytest.mark.parametrize("stem", STEMS)
def test_a_solution_gets_every_point_and_a_stub_none(stem):
    for folder, points in (("solutions", None), ("exercises", 0)):
        data = (PROJECT / folder / stem / f"{stem}.ipynb").read_bytes()
        result = grade(data, stem, 5)
        asked = [exercise for exercise in exercises() if exercise.stem == stem]
        assert [row["name"] for row in result["exercises"]] == [exercise.name for exercise in asked]
        assert result["fault"] is None and result["refused"] is None and result["notes"] == []
        assert result["points"] == (result["out_of"] if points is None else points)
        assert result["out_of"] + result["by_hand"] == sum(exercise.points for exercise in asked)
        assert result["submission"] == hashlib.sha256(data).hexdigest()
        assert json.loads(json.dumps(result)) == result
        status = {"passed", "by hand"} if points is None else {"not written", "by hand"}
        assert {row["status"] for row in result["exercises"]} <= status


def test_the_same_bytes_and_seed_give_the_same_result_and_another_seed_asks_something_else():
    wrong = notebook(CENTRE.replace(".mean", ".max"))
    one, same, other = (grade(wrong, "00_start", seed) for seed in (5, 5, 6))
    assert one == same and one["exercises"] != other["exercises"]


def test_a_chapter_without_exercises_is_refused():
    with pytest.raises(ValueError, match="04_closures"):
        grade(b"", "99_nothing", 0)


def test_what_cannot_be_read_gets_its_reason_in_every_exercise():
    result = grade(b"no notebook", "04_closures", 0)
    assert result["refused"].startswith("the file is no notebook") and result["points"] == 0
    assert {row["status"] for row in result["exercises"]} == {"missing"}


def test_what_is_not_there_is_missing():
    result, row = centre("X = 1")
    assert row["status"] == "missing" and row["sentence"] == "there is no centre in the notebook"
    assert result["points"] == 0


def test_a_cell_that_raises_is_noted_and_what_stands_below_it_is_graded():
    result, row = centre("1 / 0", CENTRE, "raise SystemExit", "def def")
    assert row["status"] == "passed"
    assert result["notes"][0] == "code cell 1 raised ZeroDivisionError: division by zero"
    assert [note.split()[4] for note in result["notes"]] == [
        "ZeroDivisionError:", "RuntimeError:", "SyntaxError:"
    ]  # fmt: skip


def test_notes_are_few_and_short():
    result, _ = centre(*[f"raise ValueError('{number}' * 1000)" for number in range(30)])
    assert len(result["notes"]) == module.NOTES and max(map(len, result["notes"])) <= module.NOTE


@pytest.mark.parametrize(
    "source", ["while True: pass", "import os; os._exit(0)", "X = bytearray(2**40)\nwhile 1: X += X"]
)
def test_a_cell_that_ends_or_hangs_is_left_out_and_the_rest_is_graded(monkeypatch, source):
    monkeypatch.setattr(remote, "SECONDS", 1.0)
    result, row = centre(source, CENTRE)
    assert row["status"] == "passed" and len(result["notes"]) == 1
    assert ("left out" in result["notes"][0]) == ("bytearray" not in source)


def test_an_answer_that_ends_or_hangs_does_not_stop_the_next(monkeypatch):
    monkeypatch.setattr(remote, "SECONDS", 1.0)
    stem = "04_closures"
    solved = nbformat.reads((PROJECT / "solutions" / stem / f"{stem}.ipynb").read_text("utf-8"), as_version=4)
    solved.cells.append(nbformat.v4.new_code_cell("def reduce_mean(X):\n    while True: pass"))
    solved.cells.append(nbformat.v4.new_code_cell("import os\ndef scale(gain, dgain):\n    os._exit(0)"))
    result = grade(nbformat.writes(solved).encode(), stem, 0)
    said = {row["name"].partition(".")[2]: (row["status"], row["sentence"]) for row in result["exercises"]}
    assert said["reduce_mean"] == ("failed", "reduce_mean: one call takes longer than 10 seconds")
    assert said["scale"][0] == "failed" and "ended Python" in said["scale"][1]
    assert [said[name][0] for name in ("three_calls", "two_layers", "Linear")] == ["passed"] * 3


def test_when_the_time_of_a_notebook_is_over_the_rest_fails_with_that_reason(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    _, row = centre(CENTRE)
    assert row["status"] == "failed" and "its time is over" in row["sentence"]


def test_a_sandbox_that_is_not_there_is_a_fault_and_no_mark(monkeypatch):
    def missing(unsafe):
        raise GradingFault("not graded, because of this test.")

    monkeypatch.setattr(module, "level", missing)
    result, row = centre(CENTRE)
    assert result["fault"] == row["sentence"] == "not graded, because of this test."
    assert result["points"] is None and row["points"] is None and row["status"] == "not graded"


def test_a_fault_in_the_middle_is_no_mark(monkeypatch):
    def broken(exercise, run, seed):
        raise GradingFault("not graded, because of this test.")

    monkeypatch.setattr(Exercise, "judge", lambda *args, **kwargs: 1 / 0)
    monkeypatch.setattr(module, "works", lambda exercise: True)
    result, row = centre(CENTRE)
    assert row["status"] == "not graded" and "ZeroDivisionError" in result["fault"]
    monkeypatch.setattr(module, "works", broken)
    assert centre(CENTRE)[1]["status"] == "not graded"


def an_exercise(check):
    """Return an exercise with a wrong answer."""
    exercise = Exercise("99_test.f", title="f", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))
    exercise.check(check)
    exercise.mistake("Wrong.")(lambda: 2)
    return exercise


def refuse(answer, rng):
    raise CheckFailed("no")


def test_a_check_that_does_not_know_right_from_wrong_gives_no_marks(monkeypatch):
    def right(answer, rng):
        if answer() != 1:
            raise CheckFailed("no")

    def raises_for_the_wrong_one(answer, rng):
        if answer() != 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "solved", lambda chapter: {"f": lambda: 1})
    assert works(an_exercise(right))
    assert not works(an_exercise(refuse)) and not works(an_exercise(lambda answer, rng: None))
    assert not works(an_exercise(None))
    monkeypatch.setattr(Exercise, "judge", lambda self, answer: None if answer() == 1 else 1 / 0)
    assert not works(an_exercise(right))
    monkeypatch.setattr(module, "exercises", lambda: [an_exercise(lambda answer, rng: None)])
    monkeypatch.setattr(module, "folder", lambda chapter: Path())
    result = grade(notebook("f = lambda: 1"), "99_test", 0)
    assert result["fault"].startswith("not graded, because its own check") and result["points"] is None


def test_without_a_sandbox_it_says_so():
    assert centre(CENTRE, unsafe=True)[0]["level"] == "rlimits"


def test_texts_hold_nothing_that_a_page_cannot_show_and_nothing_of_one_run():
    assert clean("a\x1b[31m\n<f at 0x7f00Ab>") == "a [31m <f>"
