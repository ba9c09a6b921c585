"""From bytes to marks: right answers get points, wrong ones a reason, and a fault gives no mark."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from classroom import grade as module
from classroom.faults import GradingFault
from classroom.grade import clean, grade
from classroom.unanswered import missing
from course.checks import exercises
from course.checks.exercise import CheckFailed, Exercise
from course.curriculum import exercises_path
from tests.classroom.hostile.submission import CENTRE, notebook

PROJECT = Path(__file__).resolve().parents[2]
STEMS = sorted({exercise.stem for exercise in exercises()})


def centre(*sources, **options):
    """Return the result of these cells in chapter 00, and the row of its first exercise."""
    result = grade(notebook(*sources), "00_start", 5, **options)
    part, *others = result.exercises
    assert part.name == "00_start.centre" and all(not other.points for other in others)
    return result, part


@pytest.mark.parametrize("stem", STEMS)
def test_a_solution_gets_every_point_and_a_stub_none(stem):
    for folder, points in (("solutions", None), ("exercises", 0)):
        data = (PROJECT / folder / exercises_path(stem)).read_bytes()
        result = grade(data, stem, 5)
        asked = [exercise for exercise in exercises() if exercise.stem == stem]
        assert [part.name for part in result.exercises] == [exercise.name for exercise in asked]
        assert result.fault is None and result.refused is None and result.notes == ()
        status = {"passed", "by hand"} if points is None else {"not written", "by hand"}
        assert [part for part in result.exercises if part.status not in status] == []
        assert result.points == (result.out_of if points is None else points)
        assert result.out_of + result.by_hand == sum(exercise.points for exercise in asked)
        assert result.submission == hashlib.sha256(data).hexdigest()


def test_the_same_bytes_and_seed_give_the_same_result_and_another_seed_asks_something_else():
    wrong = notebook(CENTRE.replace(".mean", ".max"))
    one, same, other = (grade(wrong, "00_start", seed) for seed in (5, 5, 6))
    assert one == same and one.exercises != other.exercises


def test_a_chapter_without_exercises_is_refused():
    with pytest.raises(GradingFault, match="04_closures"):
        grade(b"", "99_nothing", 0)


def test_an_unreadable_notebook_has_its_reason_in_every_exercise():
    result = grade(b"no notebook", "04_closures", 0)
    assert result.refused.startswith("the file is not a notebook") and result.points == 0
    assert {part.status for part in result.exercises} == {"missing"}


def test_an_answer_without_its_name_is_missing():
    result, row = centre("X = 1")
    assert (row.status, row.sentence, result.points) == ("missing", "the notebook has no centre", 0)


def test_a_cell_that_raises_is_noted_and_cells_below_it_are_graded():
    result, row = centre("1 / 0", CENTRE, "raise SystemExit", "def def")
    assert row.status == "passed"
    assert result.notes[0] == "code cell 1 raised ZeroDivisionError: division by zero"
    raised = [note.split()[4] for note in result.notes]
    assert raised == ["ZeroDivisionError:", "RuntimeError:", "SyntaxError:"]


def test_notes_are_few_and_short():
    result, _ = centre(*[f"raise ValueError('{number}' * 1000)" for number in range(30)])
    assert len(result.notes) == module.NOTES and max(map(len, result.notes)) <= module.NOTE


@pytest.mark.parametrize(
    "source",
    ["while True: pass", "import os; os._exit(0)", "import time; time.sleep(60)", "X = [1]\nwhile 1: X += X"],
)
def test_a_statement_that_ends_or_hangs_is_left_out_and_the_rest_is_graded(source):
    result, row = centre(f"{CENTRE}\n{source}\ncentre = centre", seconds=1.0)
    assert row.status == "passed" and len(result.notes) == 1
    assert result.notes[0].startswith("a statement of code cell 1 was skipped: ")


@pytest.mark.parametrize("rest", [["x = 1"], ["", "x ="], []])
def test_a_statement_after_which_nothing_is_answered_is_left_out_and_no_other(rest):
    result, row = centre(CENTRE, "import json\njson.loads = lambda *a, **k: None", *rest)
    assert row.status == "passed"
    assert result.notes[0].startswith("a statement of code cell 2 was skipped: the code ended Python")
    assert [note.split()[4] for note in result.notes[1:]] == ["SyntaxError:"] * ("x =" in rest)


def test_a_process_that_ends_whatever_is_skipped_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "NOTES", 0)
    _, row = centre(CENTRE, "import os; os._exit(0)")
    assert row.status == "failed" and row.sentence.startswith("centre: Python ended 1 times")


def test_restarts_take_of_the_time_of_a_notebook(monkeypatch):
    module.working("00_start")
    monkeypatch.setattr(module, "ALL", 1)
    result, row = centre(CENTRE, "import os\n" + "os._exit(0)\n" * 15, seconds=0.3)
    assert row.sentence == "centre: the notebook takes longer than 0.3 seconds in all"
    assert len(result.notes) < 15


def test_memory_that_a_cell_has_used_up_is_not_missing_below_it():
    greedy = "X = [1]\nwhile True:\n    X += X"
    _, row = centre(greedy, CENTRE.replace("return", "bytearray(300_000_000)\n    return"))
    assert row.status == "passed"


def test_slow_cells_do_not_lose_the_answers_in_them():
    slow = "import time\ntime.sleep(0.6)"
    endless = "import time\nwhile True: time.sleep(1)"
    result, row = centre(f"{CENTRE}\n{slow}", slow, slow, slow, endless, seconds=2.0)
    assert row.status == "passed"
    assert result.notes == ("a statement of code cell 5 was skipped: one call takes longer than 2 seconds",)


def test_when_all_cells_together_take_too_long_earlier_definitions_are_graded(monkeypatch):
    monkeypatch.setattr(module, "CELLS", 2)
    slow = "import time\n" + "time.sleep(0.3)\n" * 30
    result, row = centre(CENTRE, slow, "centre = None", seconds=1.5)
    assert row.status == "passed"
    skipped = "the rest of code cell 2 and all later cells were skipped"
    assert result.notes == (f"{skipped}: the cells take longer than 3 seconds in all",)


def test_an_answer_that_ends_or_hangs_does_not_stop_the_next():
    stem = "04_closures"
    solved = nbformat.reads((PROJECT / "solutions" / exercises_path(stem)).read_text("utf-8"), as_version=4)
    hangs, ends = (
        "def reduce_mean(X):\n    while True: pass",
        "import os\ndef scale(gain, dgain):\n    os._exit(0)",
    )
    solved.cells += map(nbformat.v4.new_code_cell, (hangs, ends))
    result = grade(nbformat.writes(solved).encode(), stem, 0, seconds=1.0)
    got = {part.short: (part.status, part.sentence) for part in result.exercises}
    late = "reduce_mean: one call takes longer than 1 seconds. Checked: the last of its 2 definitions, "
    assert got["reduce_mean"] == ("failed", f"{late}in code cell 18.")
    assert got["scale"][0] == "failed" and "ended Python" in got["scale"][1]
    assert [got[name][0] for name in ("three_calls", "two_layers", "Linear")] == ["passed"] * 3


def test_an_exercise_has_its_own_time(monkeypatch):
    monkeypatch.setattr(module, "EXERCISE", 1)
    slowly = "time.sleep(0.5)\n    return"
    _, row = centre("import time\n" + CENTRE.replace("return", slowly), seconds=1.5)
    assert row.status == "failed"
    assert row.sentence == "centre: its calls take longer than 1.5 seconds in all"


def test_when_the_time_of_a_notebook_is_over_the_rest_fails_with_that_reason(monkeypatch):
    module.working("00_start")
    monkeypatch.setattr(module, "ALL", 0.0)
    _, row = centre(CENTRE)
    assert row.status == "failed" and row.sentence.endswith("takes longer than 0 seconds in all")


def test_a_busy_machine_costs_no_points():
    """An answer that computes for half of its time, where it has a quarter of a processor."""
    busy = "end = time.process_time() + 0.5\n    while time.process_time() < end: pass\n    return"
    source = "import time\n" + CENTRE.replace("return", busy)
    spin = [sys.executable, "-c", "while True: pass"]
    neighbours = [subprocess.Popen(spin) for _ in range(3 * os.cpu_count())]
    try:
        _, row = centre(source, seconds=1.0)
    finally:
        for process in neighbours:
            process.kill()
            process.wait()
    assert row.status == "passed", row.sentence


def test_a_sandbox_that_is_not_there_is_a_fault_and_no_mark(monkeypatch):
    def missing(unsafe):
        raise GradingFault("not graded, because of this test.")

    monkeypatch.setattr(module, "level", missing)
    result, row = centre(CENTRE)
    assert result.fault == row.sentence == "not graded, because of this test."
    assert result.points is None and row.points is None and row.status == "not graded"


def test_a_fault_in_the_middle_is_no_mark(monkeypatch):
    module.working("00_start")
    monkeypatch.setattr(Exercise, "judge", lambda *args, **kwargs: 1 / 0)
    result, row = centre(CENTRE)
    assert row.status == "not graded" and "ZeroDivisionError" in result.fault


ODD = {  # sources that Python allows and few expect
    "a list that holds itself": "odd = [1.0]\nodd.append(odd)",
    "a dict that holds itself": "odd = {}\nodd['a'] = odd",
    "a repr that raises": "class P:\n    def __repr__(self): raise ValueError\nodd = P()",
    "a tuple whose items raise": "class P(tuple):\n    def __iter__(self): raise ValueError\nodd = P((1, 2))",
    "attributes that raise": "class P:\n    def __getattribute__(self, name): raise ValueError\nodd = P()",
    "a class that raises": "class P:\n    __class__ = property(lambda self: 1 / 0)\nodd = P()",
    "a name that raises": "class M(type):\n    __name__ = property(lambda self: 1 / 0)\n"
    "class odd(metaclass=M): pass",
    "keys that raise": "class P:\n    __hash__ = lambda self: 1\n    __eq__ = lambda self, other: 1 / 0\n"
    "odd = {P(): 1}",
    "a number that raises": "class P(float):\n    __float__ = lambda self: 1 / 0\nodd = P(2)",
    "a reference to what is gone": "import weakref\nclass K: pass\nodd = weakref.proxy(K())",
    "a list of lists of lists": "odd = [1.0] * 10\nfor _ in range(8): odd = [odd] * 10",
}


@pytest.mark.parametrize("source", ODD.values(), ids=ODD)
def test_nothing_that_a_submission_makes_is_a_fault_of_ours_or_ends_its_process(source):
    uses = "centre = odd", "def centre(X): return odd", "def centre(X): raise ValueError(odd)"
    for use in uses:
        result, row = centre(f"{source}\n{use}")
        assert (row.status, row.points, result.fault) == ("failed", 0, None)
        assert "ended" not in row.sentence, row.sentence


# The checks are tried before a submission is

ANSWER = "f = lambda: 1"


def an_exercise(check):
    """Return an exercise with a wrong answer; the right one returns 1."""
    exercise = Exercise("99_test.f", title="f", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))
    exercise.check(check)
    exercise.mistake("It is 1.")(lambda: 2)
    return exercise


def right(answer, rng):
    if answer() != 1:
        raise CheckFailed("no")


def refuse(answer, rng):
    raise CheckFailed("no")


@pytest.fixture
def solved(monkeypatch, tmp_path):
    """Return a function that grades a chapter of one exercise, whose solution is given."""
    place = tmp_path / "solutions" / exercises_path("99_test")

    def graded(check, *solution):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(notebook(*solution))
        monkeypatch.setattr("classroom.result.exercises", lambda: [an_exercise(check)])
        module.working.cache_clear()
        return grade(notebook(ANSWER), "99_test", 0)

    monkeypatch.setattr(module.store, "PROJECT", tmp_path)
    yield graded
    module.working.cache_clear()


def test_a_check_that_passes_the_solution_and_refuses_a_mistake_gives_marks(solved):
    assert solved(right, ANSWER).points == 1


@pytest.mark.parametrize("check", [refuse, lambda answer, rng: None, lambda answer, rng: 1 / 0])
def test_a_check_that_passes_a_mistake_gives_no_marks(solved, check):
    result = solved(check, ANSWER)
    assert result.fault.startswith("not graded, because its check") and result.points is None


@pytest.mark.parametrize("solution", ["f = lambda: 2", "g = 3", "import os\ndef f():\n    os._exit(0)"])
def test_a_check_whose_solution_does_not_pass_gives_no_marks(solved, solution):
    assert solved(right, solution).fault.startswith("not graded, because its check does not work here")


def test_missing_solutions_are_reported_and_nothing_is_graded(monkeypatch, tmp_path):
    monkeypatch.setattr(module.store, "PROJECT", tmp_path)
    module.working.cache_clear()
    result, _ = centre(CENTRE)
    assert result.points is None
    assert "solutions/00_start/00_start_exercises.ipynb is missing" in result.fault
    monkeypatch.undo()
    assert centre(CENTRE)[0].points  # it is looked for again


def test_a_process_without_statistics_has_waited_for_nothing():
    clock = module.Clock()
    clock.watch(2**22)  # larger than any process's number
    clock.start()
    clock.stop()
    clock.release()
    assert 0 <= clock.now() < 60


def test_the_solutions_take_nothing_of_the_time_of_a_submission(monkeypatch):
    """Its clock begins when they are done."""
    honest, order = module._refuses_mistake, []

    def noted(exercise):
        order.append("solution")
        return honest(exercise)

    class Noted(module.Clock):
        def __init__(self):
            order.append("clock")
            super().__init__()

    module.working.cache_clear()
    monkeypatch.setattr(module, "_refuses_mistake", noted)
    monkeypatch.setattr(module, "Clock", Noted)
    assert centre(CENTRE)[1].status == "passed"
    assert order[-2:] == ["solution", "clock"]
    assert order.count("clock") == 2  # the solutions have one of their own


def test_without_a_sandbox_the_result_has_that_level():
    assert centre(CENTRE, unsafe=True)[0].level == "rlimits"


def test_texts_have_no_unprintable_characters_and_no_addresses():
    assert clean("a\x1b[31m\n<f at 0x7f00Ab>") == "a [31m <f>"


def answer_to(short, *sources, seconds=10.0):
    """Return the result of one exercise of a notebook of chapter 04."""
    result = grade(notebook(*sources), "04_closures", 1, seconds=seconds)
    return next(row for row in result.exercises if row.short == short)


BROKEN = ": the cell that defines it does not run (code cell 1 raised"


@pytest.mark.parametrize(
    ("short", "cell", "said"),
    [
        ("Linear", "class Linear(Layer)\n    pass", f"{BROKEN} Syn"),
        ("Linear", "class Linear(NotThere): pass", f"{BROKEN} NameError: name 'NotThere' is not defined)"),
        ("two_layers", "def twoLayers(X): return 1", ", but it has twoLayers: rename it to two_layers"),
    ],
)
def test_why_an_answer_is_missing_is_said(short, cell, said):
    row = answer_to(short, cell)
    assert row.status == "missing" and row.sentence.startswith(f"the notebook has no {short}{said}")


def test_empty_lines_cost_no_time():
    began = time.process_time()
    assert missing("centre", ["\n" * 100_000, "\n  def centres(): 1"], []).endswith("rename it to centre")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("X = 1", "missing"),
        ("def light_tanh(X):\n    raise NotImplementedError", "not written"),
        ("def light_tanh(X):\n    return X", "by hand"),
        ("def light_tanh(X):\n    Y = np.tanh(X)\n    return Y, lambda dY: dY * (1 - Y * Y)", "by hand"),
        ("def light_tanh(X):\n    while True: pass", "by hand"),
        ("light_tanh = np.tanh", "by hand"),
    ],
)
def test_a_person_marks_only_answers_that_are_written(source, status):
    row = answer_to("light_tanh", "import numpy as np", source, seconds=1.0)
    assert (row.status, row.points) == (status, None if status == "by hand" else 0)
