"""The checks are checked: what a learner sees, and each exercise with its answers, right and wrong."""

import ast
import json
import re
import sys
import tokenize
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np
import pytest

import minigrad
from course import checks, guesses, store
from course.checks import (
    CheckFailed,
    Exercise,
    check,
    exercises,
    find,
    hint,
    progress,
    questions,
    record,
    solution,
)
from course.curriculum import exercises_path, route
from tests.answers import answers_to

PROJECT = Path(__file__).resolve().parents[2]
EXERCISES = exercises()
CHECKED = [exercise for exercise in EXERCISES if not exercise.by_hand]
ATTEMPTS = range(3)  # each draws other data

DEMO = """
import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import expect_guesses, expect_several, expect_values

HINTS = ("Think of a half.", "Divide.", "Divide by two.")

halve = Exercise("90_demo.halve", title="Half", points=3, kind="fill", minutes=2, hints=HINTS)


@halve.check
def _(answer, rng):
    X = rng.normal(size=(5, 3))
    expect_values("Y", answer(X), X / 2, "half of it is")
    return "a batch of 5"


@halve.mistake("You doubled it.")
def doubled(X):
    return 2 * X


@halve.mistake("The name has no value yet.")
def unbound(X):
    Y /= 2  # noqa: F821
    return Y


guess = Exercise("90_demo.guess", title="Guess", points=1, kind="predict", minutes=1, hints=HINTS)


@guess.check
def _(answer, rng):
    expect_guesses(answer(), {"the slope": 10.0})


@guess.mistake("You gave the value, not the slope.")
def value():
    return 25


@guess.mistake("The sign is the other one.")
def minus_ten():
    return -10


@guess.mistake("A slope of nothing is nothing, but this is something.")
def nothing():
    return 0


essay = Exercise("90_demo.essay", title="Why", points=2, kind="explain", minutes=5, hints=HINTS)
"""


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """A chapter of three made-up exercises, and a work folder of its own."""
    (tmp_path / "ch90_demo.py").write_text(DEMO)
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path)])
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "work"))
    yield tmp_path
    sys.modules.pop("course.checks.ch90_demo", None)


def said(name, answer):
    """What check says of a wrong answer."""
    with pytest.raises(CheckFailed) as caught:
        check(name, answer)
    return str(caught.value)


# check


def test_a_right_answer_gets_a_card(demo, capsys):
    check("90_demo.halve", lambda X: X / 2)
    assert capsys.readouterr().out == "✓ halve: right. 3 points.\nChecked: a batch of 5.\n"


def test_a_wrong_answer_gets_one_sentence_and_what_to_do_next(demo):
    with pytest.raises(CheckFailed) as caught:
        check("90_demo.halve", lambda X: 3 * X)
    assert str(caught.value).startswith("halve: Y[")
    shown = "\n".join(caught.value._render_traceback_())
    assert str(caught.value) in shown.replace("\x1b[0m", "").replace("\n", " ")
    assert 'Stuck? hint("90_demo.halve") shows hint 1 of 3.' in shown


def test_a_second_try_has_other_data_and_the_same_try_the_same(demo):
    halve = find("90_demo.halve")
    tries = []
    for attempt in (0, 0, 1):
        with pytest.raises(CheckFailed) as caught:
            halve.judge(lambda X: 3 * X, attempt)
        tries.append(str(caught.value))
    assert tries[0] == tries[1] != tries[2]
    first, second = said("90_demo.halve", lambda X: 3 * X), said("90_demo.halve", lambda X: 3 * X)
    assert (first, second) == (tries[0], tries[2])


def test_a_stub_is_not_written_yet(demo):
    def halve(X):
        raise NotImplementedError

    assert said("90_demo.halve", halve) == (
        "halve is not written yet: replace `raise NotImplementedError` with your code."
    )


def test_an_exception_is_one_sentence_with_the_line_and_keeps_its_traceback(demo):
    cell, scope = demo / "cell.py", {}
    cell.write_text("def halve(X):\n    two = 0\n    return X.reshape(4, 4) / two\n")
    exec(compile(cell.read_text(), str(cell), "exec"), scope)
    with pytest.raises(CheckFailed) as caught:
        check("90_demo.halve", scope["halve"])
    assert str(caught.value).startswith(
        "halve: it raises ValueError: cannot reshape array of size 15 into shape (4,4)"
    )
    assert " (your line 3: `return X.reshape(4, 4) / two`). That shape has 16 places" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_product_of_matrices_that_do_not_fit_is_told_in_rows_and_columns(demo):
    sentence = said("90_demo.halve", lambda X: X @ np.ones((7, 2)))
    assert "the left factor of @ has 3 columns, and the right one 7 rows" in sentence


def test_a_missing_key_and_an_unpacking_are_told_by_what_they_lack(demo):
    sentence = said("90_demo.halve", lambda X: {}["mean"])
    assert ': `lambda X: {}["mean"])`)' in sentence  # and nothing of what stands before it
    assert sentence.endswith("before one is stored: `setdefault` stores the first.")

    def unpacked(X):
        one, two = X
        return one

    assert said("90_demo.halve", unpacked).endswith("on the right of `=` are not equally many.")


def test_shapes_that_do_not_fit_are_told_by_what_they_lack(demo):
    sentence = said("90_demo.halve", lambda X: X / X.sum(axis=1))
    assert sentence.endswith(
        "One number for each row must be a column, (5, 1): keepdims=True or [:, None] makes one."
    )
    assert not said("90_demo.halve", lambda X: X / np.ones((4, 3))).endswith("makes one.")

    def added_in_place(X):
        Y = np.zeros(3)
        Y += X
        return Y

    assert said("90_demo.halve", added_in_place).endswith(
        "The value has one axis more, of length 5: sum over it, axis 0."
    )
    assert "need one truth value" in said("90_demo.halve", lambda X: X / 2 if X > 0 else X)


# what is asked of every function


def in_one_array():
    room = np.zeros(1000)

    def halve(X):
        Y = room[: X.size].reshape(X.shape)
        Y[...] = X / 2
        return Y

    return halve


def remembering(change):
    """Return a halve that changes its results by the arguments it has seen."""
    seen = []

    def halve(X):
        seen.append(np.array(X))
        return change(X / 2, [np.array_equal(X, other) for other in seen[:-1]])

    return halve


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (in_one_array(), r"a later call changes what an earlier one has returned: \[0, 0\] was .*, and is"),
        (
            remembering(lambda Y, equal: Y if not any(equal) else Y + 1),
            r"called again with the same arguments, \[0, 0\] is .*; the first time it was",
        ),
        (
            remembering(lambda Y, equal: Y if sum(equal) < 2 else "twice"),
            r"it returns an array of shape \(\); the first time it was one of shape \(5, 3\)",
        ),
    ],
)
def test_a_function_is_asked_whether_its_results_stay_and_repeat(demo, answer, words):
    with pytest.raises(CheckFailed, match=words):
        find("90_demo.halve").judge(answer)


def test_an_exception_in_a_later_call_says_when(demo):
    def once(X, seen=[]):  # noqa: B006  the mistake
        seen.append(1)
        return X / 2 if len(seen) < 3 else X / seen.clear()

    assert "halve: called again with the same arguments, it raises TypeError" in said("90_demo.halve", once)


def test_stopping_by_hand_passes_through(demo):
    def halve(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("90_demo.halve", halve)


@pytest.mark.parametrize("answer", [np.ones(3), (1.0, 2.0), None, 3.0])
def test_a_result_instead_of_the_function_is_refused(demo, answer):
    assert "check needs the function itself, but got " in said("90_demo.halve", answer)


def test_a_layer_instead_of_its_class_is_refused():
    fields = dict(title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"), answer="class")
    layered = Exercise("90_demo.layered", **fields)
    layered.check(lambda answer, rng: "")

    class Right:
        def __call__(self, X):
            return X

    assert layered.judge(Right) == ""
    with pytest.raises(CheckFailed, match=r"check needs the class itself, but got a Right: "):
        layered.judge(Right())


def test_what_a_person_marks_is_not_run(demo, capsys):
    check("90_demo.essay", None)
    assert "this answer is graded by a person" in capsys.readouterr().out


def test_an_answer_that_prints_is_cut_short(demo, capsys):
    def halve(X):
        for line in range(1000):
            print("line", line)
        return X / 2

    check("90_demo.halve", halve)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "line 0"
    assert shown[checks.LINES_PRINTED] == "... and 980 more lines, printed while your code was checked"


# known mistakes


def test_a_known_mistake_is_named_also_in_other_words(demo):
    assert said("90_demo.halve", lambda X: X + X).endswith(" You doubled it.")
    assert "doubled" not in said("90_demo.halve", lambda X: 3 * X)


def test_a_name_without_value_is_recognised_whatever_the_name(demo):
    def halve(X):
        result += X  # noqa: F821, F841
        return result

    assert said("90_demo.halve", halve).endswith("The name has no value yet.")


def test_a_layer_s_mistake_is_recognised_whatever_its_class_is_called():
    fields = dict(title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"), answer="class")
    first = Exercise("90_demo.first", **fields)

    @first.check
    def _(answer, rng):
        X = rng.normal(size=(3, 2))
        answer()(X)[1](X[:, :1])

    def cut(self, X):
        return X[:, :1], lambda dY: X[:, :1]

    wrong, same = (type(name, (minigrad.Layer,), {"forward": cut}) for name in ("Cuts", "First"))
    first.mistake("What was cut off is missing in dX.")(wrong)
    with pytest.raises(CheckFailed, match=r"ShapeError: First\(\).* What was cut off is missing in dX\.$"):
        first.judge(same)


def test_guesses_that_fail_in_the_same_words_are_told_apart(demo):
    assert (
        said("90_demo.guess", lambda: 25.0)
        == "guess: the slope is not 25. You gave the value, not the slope."
    )
    assert said("90_demo.guess", lambda: 24.0) == "guess: the slope is not 24."


def test_words_of_the_check_itself_are_never_added(demo):
    find("90_demo.halve").mistake("Y has shape (5,)")(lambda X: X[:, 0])
    assert said("90_demo.halve", lambda X: X[:, 0]).count("Y has shape (5,)") == 1


def test_a_name_is_a_whole_sentence(demo):
    with pytest.raises(ValueError, match="a mistake needs a whole sentence, got '2 times too large'"):
        find("90_demo.halve").mistake("2 times too large")


def test_a_probe_tells_apart_what_the_check_says_the_same_of():
    sign = Exercise("90_demo.sign", title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))

    @sign.check
    def _(answer, rng):
        if answer(3.0) != 1:
            raise CheckFailed("a positive number has sign 1")

    sign.mistake("You gave the number itself.")(lambda x: x)
    with pytest.raises(CheckFailed, match="itself"):
        sign.judge(lambda x: -1.0)
    sign.probe(lambda answer, rng: (answer(3.0), [answer(-2.0), answer(np.ones(2))]))
    with pytest.raises(CheckFailed) as caught:
        sign.judge(lambda x: -1.0)
    assert str(caught.value) == "sign: a positive number has sign 1."
    with pytest.raises(CheckFailed, match="itself"):
        sign.judge(lambda x: x + 0.0)


def test_without_a_probe_what_the_first_layer_gives_tells_answers_apart():
    triple = Exercise("90_demo.triple", title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))
    asked = []

    @triple.check
    def _(answer, rng):
        X = rng.normal(size=2)
        questions.expect_layer(answer, lambda X: 3 * X, np.ones(2), X=X)
        asked.append(answer)

    def with_slopes(*slopes):
        return lambda X: (3 * X, lambda dY: dY * slopes)

    triple.mistake("The first slope is too small.")(with_slopes(1, 2))
    said = []
    for slopes in ((1, 2), (1, 2.5)):
        with pytest.raises(CheckFailed) as caught:
            triple.judge(with_slopes(*slopes))
        said.append(str(caught.value))
    assert said == [f"{said[1]} The first slope is too small.", said[1]]
    assert triple._seen(with_slopes(3, 3), 0) is not None and not asked, "it asks on behind the first layer"


def test_a_mistake_is_named_whichever_entry_is_called_the_worst():
    half = Exercise("90_demo.half", title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))
    entries = iter(range(10))

    @half.check
    def _(answer, rng):
        raise CheckFailed(f"Y[{next(entries)}] is {answer(3.0)}, it must be 1.5")

    half.mistake("You gave the number itself.")(lambda x: x)
    with pytest.raises(CheckFailed) as caught:
        half.judge(lambda x: x)
    assert str(caught.value) == "half: Y[0] is 3.0, it must be 1.5."
    half.probe(lambda answer, rng: answer(3.0))
    with pytest.raises(CheckFailed, match=r"You gave the number itself\.$"):
        half.judge(lambda x: x)
    with pytest.raises(CheckFailed, match=r"1\.5\.$"):
        half.judge(lambda x: -x)


# the shared questions


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "Y must be numbers, but is nothing (is a `return` missing?)."),
        ("text", "Y must be numbers, but is a str."),
        ([[1.0, 2.0], [3.0]], "Y must be numbers, but is a list."),
        ((np.ones(2), max), "Y must be numbers, but is a tuple."),
        ([1.0, 2.0], "Y has shape (2,); it must have shape (3,). Along axis 0 there is one too few."),
        ([1.0, np.nan, 1e-5], "Y[1] is nan, it must be 0. It is wrong exactly where the right number is 0."),
        ([1.0, 0.0, 1.1e-5], "Y[2] is 1.1e-05, it must be 1e-05. The other entries are right."),
        ([1.0 + 2e-6, 0.0, 1e-5], "Y[0] is 1.000002, it must be 1. The other entries are right."),
    ],
)
def test_values_that_are_no_numbers_or_wrong_are_refused(value, said):
    with pytest.raises(CheckFailed) as caught:
        questions.expect_values("Y", value, np.array([1.0, 0.0, 1e-5]))
    assert str(caught.value) == said


TRUTH = np.array([[1.0, 2.5, -3.0, 1.5], [0.5, 2.0, 4.0, -1.0], [0.25, -7.0, 6.0, 5.0]])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-TRUTH, "The sign is flipped."),
        (np.abs(TRUTH), "3 of 12 signs are flipped."),
        (5 * TRUTH, "Every entry is 5 times too large."),
        (TRUTH / 3, "Every entry is 3 times too small."),
        (TRUTH + 0.5, "Every entry is 0.5 too large."),
        (TRUTH - 2, "Every entry is 2 too small."),
        (TRUTH[:, ::-1], "It is reversed along axis 1."),
        (TRUTH[[1, 2, 0]][:, ::-1], "These are the right numbers in the wrong places."),
        (TRUTH.T.reshape(3, 4), "It is transposed, but for its shape."),
        (np.roll(TRUTH, 1), "The values come 1 place too late, read row by row."),
        (np.roll(TRUTH, -1, axis=1), "The values come 1 place too early, along axis 1."),
        (np.trunc(TRUTH), "an array made like one of whole numbers holds whole numbers."),
        (TRUTH + 1e-5 * np.cos(TRUTH), "or a number has too few digits."),
        (TRUTH.cumsum(axis=0), "It is added up along axis 0: the right one is not."),
        (np.diff(TRUTH, axis=0, prepend=0), "It is not added up along axis 0, as it must be."),
        (TRUTH.sum(axis=1, keepdims=True) + 0 * TRUTH, "It is summed along axis 1, then repeated."),
        (TRUTH.mean(axis=0) + 0 * TRUTH, "It is averaged along axis 0, then repeated."),
        (
            TRUTH + [0.5, 0.25, -1, 3],
            "All rows are off by the same numbers: something constant is added, or is missing.",
        ),
        (TRUTH * [[1.5], [2.5], [0.5]], "Each row is off by a factor of its own."),
        (
            TRUTH + [[1, 2, -3, 0], [1, 0, 0, 0], [0, 0, 0, -1]],
            "the numbers are spread over the wrong entries.",
        ),
        (TRUTH * [[1], [1.5], [3]], "Only row 0 is right."),
        (np.where(TRUTH < 0, 0, TRUTH), "It is wrong exactly where the right number is negative."),
        (np.minimum(TRUTH, 3.5), "Each wrong entry is 3.5, the largest of yours."),
        (0 * TRUTH, "Every entry is 0."),
        (TRUTH * [[1], [1.5], [1]], "Only row 1 is wrong, 1.5 times too large."),
        (TRUTH + [[0], [1], [0]] * TRUTH**2, "Only row 1 is wrong."),
        (TRUTH * [1, 1, 1, 1.5], "Only column 3 is wrong, 1.5 times too large."),
        (1.2 * TRUTH, "Every entry is 1.2 times too large."),
        (np.tanh(TRUTH), "it must be -7."),
        (np.full_like(TRUTH, np.nan), "it must be 1."),
    ],
)
def test_what_a_wrong_value_has_in_common_with_the_right_one_is_said(value, said):
    with pytest.raises(CheckFailed) as caught:
        questions.expect_values("Y", value, TRUTH)
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(
    ("gradient", "said"),
    [
        (lambda X, dY: X.T @ dY, "dW has shape (3, 7); it must have W's shape, (7, 3). It is transposed."),
        (
            lambda X, dY: dY[:, :, None] * X[:, None, :],
            "dW has shape (5, 7, 3); it must have W's shape, (7, 3). "
            "It is not summed over the batch: add .sum(axis=0).",
        ),
        (
            lambda X, dY: (dY.T @ X).ravel(),
            "dW has shape (21,); it must have W's shape, (7, 3). "
            "These are the right numbers in a wrong shape.",
        ),
        (lambda X, dY: X, "dW has shape (5, 3); it must have W's shape, (7, 3)."),
        (lambda X, dY: [[1.0, 2.0], [3.0]], "dW must be numbers, but is a list."),
    ],
)
def test_a_gradient_of_a_wrong_shape_is_explained_by_its_numbers(gradient, said):
    rng = np.random.default_rng(0)
    X, W, dY = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(5, 7))
    with pytest.raises(CheckFailed) as caught:
        questions.expect_gradients(
            lambda X, W: X @ W.T, {"X": X, "W": W}, dY, {"X": dY @ W, "W": gradient(X, dY)}
        )
    assert str(caught.value) == said


def test_rounding_and_the_noise_of_nudging_are_forgiven():
    questions.expect_values("Y", [1 + 1e-7, 0, 1e-5], np.array([1.0, 1e-11, 1e-5]))
    questions.expect_values("Y", np.zeros(3), np.full(3, 1e-11))
    questions.expect_values("Y", np.zeros((0, 3)), np.zeros((0, 3)))
    questions.expect_values("L", 2, 2.0)


def test_a_wrong_gradient_is_told_with_its_size():
    rng = np.random.default_rng(0)
    X, W, b, dY = (rng.normal(size=size) for size in ((5, 3), (3, 7), (7,), (5, 7)))
    arrays, right = {"X": X, "W": W, "b": b}, {"X": dY @ W.T, "W": X.T @ dY, "b": dY.sum(axis=0)}
    questions.expect_gradients(lambda X, W, b: X @ W + b, arrays, dY, right)
    for name, wrong, said in (
        ("b", dY.mean(axis=0), "nudging that entry says .*; 5 times too small: 5 is the batch size"),
        ("W", dY.T @ X, r"dW has shape \(7, 3\); it must have W's shape, \(3, 7\)"),
        ("X", -dY @ W.T, r"dX\[\d, \d\] is .*; the sign is flipped"),
    ):
        with pytest.raises(CheckFailed, match=said):
            questions.expect_gradients(lambda X, W, b: X @ W + b, arrays, dY, right | {name: wrong})


def test_a_layer_that_breaks_a_rule_brings_its_report():
    W = minigrad.Parameter(np.ones((3, 7)))

    def overwrites(X):
        def backward(dY):
            W.grad = X.T @ dY
            return dY @ W.data.T

        return X @ W.data, backward

    with pytest.raises(CheckFailed, match=r"use \+= instead of =") as caught:
        questions.expect_gradcheck(overwrites, np.random.default_rng(0).normal(size=(5, 3)))
    assert not caught.value.report.ok


def test_a_wrong_jacobian_is_drawn_beside_the_true_one(capsys):
    with pytest.raises(CheckFailed, match="it is the transpose of the true table") as caught:
        find("02_jacobian.jacobian_of_shift").judge(lambda X: np.eye(X.size, k=1))
    tables = caught.value.report
    np.testing.assert_allclose(tables.true, np.eye(5, k=-1), atol=1e-9)
    assert '<img alt="Your table of slopes, ' in tables._repr_html_()
    checks.cards.report(tables)
    assert capsys.readouterr().out.startswith("yours:\n[[0. 1. 0.")


@pytest.mark.parametrize("answer", [lambda X: None, lambda X: X, lambda X: [[1.0], [2.0, 3.0]], lambda X: []])
def test_what_is_no_table_is_refused_without_a_picture(answer):
    with pytest.raises(CheckFailed, match="the table") as caught:
        find("02_jacobian.jacobian_of_mean").judge(answer)
    assert caught.value.report is None


def test_arrays_that_are_changed_are_named():
    X, labels = np.array([1.0, np.nan]), np.array([1, 2])
    with questions.untouched(X=X, labels=labels):
        pass
    with pytest.raises(CheckFailed, match="it changes labels"), questions.untouched(X=X, labels=labels):
        labels[0] = 7


# hint, solution, progress


def test_hints_come_one_at_a_time_and_are_remembered(demo, capsys):
    for _ in range(4):
        hint("90_demo.halve")
    shown = capsys.readouterr().out
    assert [f"Hint {number} of 3" in shown for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert 'Divide by two. This is the last hint; `solution("90_demo.halve")` now shows' in shown
    assert shown.count("Think of a half.") == 2  # alone, then among all three
    assert [line[:3] for line in shown.splitlines() if line.startswith("(")] == ["(1)", "(2)", "(3)"]
    assert json.loads((demo / "work" / "progress.json").read_text())["90_demo.halve"]["hints"] == 3


def test_the_next_step_follows_the_hints(demo, capsys):
    steps = []
    for _ in range(4):
        with pytest.raises(CheckFailed) as caught:
            check("90_demo.halve", lambda X: 3 * X)
        steps.append(caught.value.next_step)
        hint("90_demo.halve")
    assert ["hint 1", "hint 2", "hint 3"] == [step[-12:-6] for step in steps[:3]]
    assert steps[3] == 'You have seen all hints: solution("90_demo.halve") shows a worked solution.'


def test_the_solution_opens_after_the_last_hint_or_a_pass(demo, capsys, monkeypatch):
    monkeypatch.setattr(store, "PROJECT", demo)
    cell = nbformat.v4.new_code_cell(
        "def halve(X):\n    ### BEGIN SOLUTION\n    return X / 2\n    ### END SOLUTION",
        metadata={"nbgrader": {"grade_id": "halve"}},
    )
    solution("90_demo.halve")
    assert "You have seen 0 of 3 hints" in capsys.readouterr().out
    check("90_demo.halve", lambda X: X / 2)
    solution("90_demo.halve")
    place = "solutions/90_demo/90_demo_exercises.ipynb"
    assert (
        f"not on this machine.\nYou find it in the course's repository, in `{place}`"
        in capsys.readouterr().out
    )
    store.write(demo / place, nbformat.writes(nbformat.v4.new_notebook(cells=[cell])))
    solution("90_demo.halve")
    assert "```python\ndef halve(X):\n    return X / 2\n```" in capsys.readouterr().out
    for _ in range(3):
        hint("90_demo.guess")
    with pytest.raises(LookupError, match="no cell with the grade_id"):
        solution("90_demo.guess")


def test_progress_shows_what_is_done_and_a_later_failure_takes_nothing_back(demo, capsys):
    check("90_demo.halve", lambda X: X / 2)
    said("90_demo.halve", lambda X: X)
    capsys.readouterr()
    progress()
    shown = capsys.readouterr().out
    assert "✓\xa0halve, –\xa0guess" in shown  # a mark stays beside its name
    shown = shown.replace("\xa0", " ")
    row, whole, _ = shown.splitlines()  # one chapter is opened
    assert row.split(None, 2) == [
        "90_demo",
        "########..",
        "3 of 4 points  ✓ halve, – guess, essay (graded by a person)",
    ]
    by_machine = sum(exercise.points for exercise in checks.exercises() if not exercise.by_hand)
    assert whole.startswith("The course") and whole.endswith(f"3 of {by_machine} points")


def test_progress_shows_the_chapters_that_were_opened_by_a_check_or_a_hint(demo, capsys):
    progress()
    assert "You have not started any exercise yet" in capsys.readouterr().out
    check("90_demo.essay", "half a page")
    hint("01_slope.curvature")
    capsys.readouterr()
    progress()
    shown = capsys.readouterr().out.replace("\xa0", " ").splitlines()
    assert [line.split()[0] for line in shown[:-2]] == ["01_slope", "90_demo"]
    assert "… curvature" in shown[0] and "– one_sided_slopes" in shown[0]


GUESSES = {
    "a": {"said": [6], "held": True},
    "b": {"said": [6], "held": False},
    "c": {"said": ["so"], "held": None},
    "d": {"shown": True},
}


def test_progress_shows_the_guesses_of_each_chapter_and_of_the_course(demo, capsys):
    guesses.note("01_slope", GUESSES)
    guesses.note("90_demo", {"a": {"said": [6], "held": True}})
    progress()
    first, last, whole, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("01_slope") and "points  3 made, 1 of 2 held (guesses)  – one_sided" in (
        first.replace("\xa0", " ")
    )
    assert last.startswith("90_demo") and "  1 made, 1 of 1 held (guesses)  " in last
    assert whole.startswith("The course") and whole.endswith(" points  4 made, 2 of 3 held (guesses)")


def test_progress_does_not_judge_what_is_only_text(demo, capsys):
    guesses.note("01_slope", {"c": GUESSES["c"]})
    progress()
    assert "points  1 made (guesses)  " in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize("said", [{}, {"d": GUESSES["d"]}])
def test_a_chapter_is_not_started_by_answers_that_were_only_shown(demo, capsys, said):
    guesses.note("01_slope", GUESSES)
    guesses.note("01_slope", said)
    progress()
    assert "You have not started any exercise yet" in capsys.readouterr().out


def test_progress_shows_the_chapters_of_a_route_with_their_minutes(demo, capsys):
    check("90_demo.halve", lambda X: X / 2)
    hint("01_slope.curvature")
    capsys.readouterr()
    progress("weekend")
    *rows, whole, _ = capsys.readouterr().out.replace("\xa0", " ").splitlines()
    chapters = route("weekend").chapters
    assert [line.split()[:3] for line in rows] == [[c.stem, str(c.minutes), "min"] for c in chapters]
    assert [line.endswith("not started yet") for line in rows] == [c.stem != "01_slope" for c in chapters]
    assert "… curvature" in rows[1]
    assert whole.split()[:3] == ["A", "weekend", str(route("weekend").minutes)]


def test_a_route_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no route is called 'week'; the routes are 'weekend'"):
        progress("week")


def test_progress_is_a_table_in_a_notebook(demo, monkeypatch):
    bundles = []
    monkeypatch.setattr(checks.cards, "_show", bundles.append)
    guesses.note("01_slope", GUESSES)
    progress("weekend")
    (html,) = (bundle["text/html"] for bundle in bundles)
    assert html.count("<tr>") == len(route("weekend").chapters) + 2  # a head and a sum
    assert 'aria-label="01_slope"' in html
    cells = [re.findall("<t[hd].*?>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", html)]
    place = cells[0].index("guesses")
    assert {len(row) for row in cells} == {len(cells[0])}
    assert {row[0]: row[place] for row in cells[1:] if row[place]} == {
        "01_slope": "3 made, 1 of 2 held",
        route("weekend").title: "3 made, 1 of 2 held",
    }


@pytest.mark.parametrize(
    "content", ["{not json", "[1, 2]", '{"a": 3}', '{"a": {"tries": "x"}}', '{"a": {"b": 1}}', "\xff"]
)
def test_a_corrupt_record_is_kept_aside_and_said(demo, capsys, content):
    store.write(demo / "work" / "progress.json", content.encode("latin-1"))
    check("90_demo.halve", lambda X: X / 2)
    shown = capsys.readouterr().out
    assert "It has been renamed to progress.json.broken" in shown and "right. 3 points." in shown
    assert (demo / "work" / "progress.json.broken").read_bytes() == content.encode("latin-1")
    assert record.entry("90_demo.halve") == record.Entry(tries=1, passed=True)
    assert sorted(path.name for path in (demo / "work").iterdir()) == [
        "progress.json",
        "progress.json.broken",
    ]


def test_a_work_folder_that_cannot_be_written_does_not_stop_a_check(demo, capsys):
    (demo / "work").write_text("a file where a folder should be")
    check("90_demo.halve", lambda X: X / 2)
    shown = capsys.readouterr().out
    assert "could not be stored" in shown and "right. 3 points." in shown


def test_progress_that_may_not_be_read_is_not_written_over(demo, capsys, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    check("90_demo.halve", lambda X: X / 2)
    with monkeypatch.context() as patch:
        patch.setattr(type(demo), "read_text", denied)
        record.note("90_demo.other", tries=1)
    assert "could not be stored (Permission denied)" in capsys.readouterr().out
    assert set(record.entries()) == {"90_demo.halve"}


def test_with_storing_off_the_record_lives_in_memory(demo, capsys, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "")
    monkeypatch.setattr(record, "_memory", {})
    hint("90_demo.halve")
    hint("90_demo.halve")
    assert "Hint 2 of 3" in capsys.readouterr().out
    assert not (demo / "work").exists()


# names


def test_an_unknown_name_is_told_with_the_nearest_ones(demo):
    with pytest.raises(
        LookupError, match='There is no exercise "90_demo.halv". Did you mean "90_demo.halve"'
    ):
        find("90_demo.halv")
    with pytest.raises(LookupError, match='"90_demo.halve"'):
        check("halve", lambda X: X)
    with pytest.raises(LookupError, match='^There is no exercise "zzzzzzzz".$'):
        hint("zzzzzzzz")
    with pytest.raises(TypeError, match="the exercise.s name, a str"):
        check(lambda X: X, "90_demo.halve")
    with pytest.raises(TypeError, match="the exercise.s name, a str"):
        check(lambda X: X)
    with pytest.raises(TypeError, match=r'write check\("90_demo.halve", halve\)'):
        check("90_demo.halve")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "halve"}, "has a name like"),
        ({"kind": "quiz"}, "kind must be one of"),
        ({"hints": ("one", "two")}, "hints must be three"),
        ({"hints": ("one", "two", "")}, "hints must be three"),
        ({"keeps": "halve"}, "give both keeps and ours"),
        ({"answer": "object"}, 'must be "function" or "class", got \'object\''),
    ],
)
def test_an_exercise_that_is_not_whole_is_refused(change, complaint):
    fields = dict(name="90_demo.halve", title="t", points=1, kind="fill", minutes=1, hints=("a", "b", "c"))
    with pytest.raises(ValueError, match=complaint):
        fields |= change
        Exercise(fields.pop("name"), **fields)


# every exercise of the course


def notebook(folder, stem):
    return nbformat.read(PROJECT / folder / exercises_path(stem), as_version=4)


def cell_of(notebook, grade_id):
    (cell,) = (
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )
    return cell


def answer_in(check_cell, scope):
    """What a check cell hands to check, in the namespace of its notebook."""
    call = ast.parse(check_cell.source).body[0].value
    return eval(ast.unparse(call.args[1]), scope)


@cache
def answers(stem):
    """Run a solutions notebook; return each exercise's answer, its stub, and the text of its solution."""
    solved, released, found, scope = notebook("solutions", stem), notebook("exercises", stem), {}, {}
    waiting = {exercise.short: exercise for exercise in CHECKED if exercise.stem == stem}
    with redirect_stdout(StringIO()):
        for cell in solved.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and marks.get("grade_id") in waiting:
                stubbed = dict(scope)
                exec(cell_of(released, marks["grade_id"]).source, stubbed)
            if cell.cell_type == "code" and marks.get("grade"):
                short = marks["grade_id"].removeprefix("check_")
                found[short] = answer_in(cell, scope), answer_in(cell, stubbed), cell_of(solved, short).source
            if cell.cell_type == "code":
                run_cell(cell, scope)
    return found


def answered(exercise):
    found = answers(exercise.stem)
    assert exercise.short in found, f"no marked cell: run `python -m authoring run {exercise.stem[:2]}`"
    return found[exercise.short]


def run_cell(cell, scope):
    """Run a code cell; one that is tagged to raise may raise."""
    try:
        exec(compile(cell.source, "<cell>", "exec"), scope)
    except Exception:
        if "raises-exception" not in cell.metadata.get("tags", []):
            raise


def solution_lines(source):
    """The lines between the marks, without comments and blanks; what brackets hold together is one line."""
    inside, lines, parts = False, [], []
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            inside = inside if "SOLUTION" not in token.string else "BEGIN" in token.string
        elif token.type == tokenize.NEWLINE:
            lines += ["".join(parts)] if inside else []
            parts = []
        else:
            parts += token.string.split()
    return lines


def test_there_are_exercises_with_names_of_their_own():
    assert len(CHECKED) >= 16
    for names in ([e.name for e in EXERCISES], [e.keeps for e in EXERCISES if e.keeps]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_the_solution_passes(exercise):
    answer, _, _ = answered(exercise)
    for attempt in ATTEMPTS:
        exercise.judge(answer, attempt)


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_the_stub_raises_and_the_check_says_so(exercise):
    _, stub, _ = answered(exercise)
    with pytest.raises(CheckFailed, match="is not written yet: replace") as caught:
        exercise.judge(stub)
    assert isinstance(caught.value.__cause__, NotImplementedError)


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_right_answers_of_other_styles_pass(exercise):
    rights = answers_to(exercise).right
    assert len(rights) >= 2
    for right in rights:
        for attempt in ATTEMPTS:
            exercise.judge(right, attempt)


@pytest.mark.parametrize("exercise", [e for e in CHECKED if e.kind != "explain"], ids=str)
def test_typical_mistakes_fail_each_with_its_own_sentence(exercise):
    refused = answers_to(exercise).refused
    assert len({sentence for sentence, _ in refused}) >= 3
    for sentence, mistake in refused:
        for attempt in ATTEMPTS:
            with pytest.raises(CheckFailed) as caught:
                exercise.judge(mistake, attempt)
            assert sentence in str(caught.value)
            others = [name for name, _ in exercise.mistakes if name != sentence]
            assert not any(str(caught.value).endswith(other) for other in others)


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_a_mistake_is_named_only_where_the_check_does_not_say_it(exercise):
    for sentence, mistake in exercise.mistakes:
        with pytest.raises(CheckFailed) as caught:
            exercise._ask(mistake, 0)
        assert sentence not in str(caught.value), "its place is tests/answers, with @refused"


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_no_hint_is_the_answer(exercise):
    lines = [line for line in solution_lines(answered(exercise)[2]) if len(line) > 15]
    hints = "".join("".join(exercise.hints).split())
    assert [line for line in lines if line in hints] == []


@pytest.mark.parametrize("stem", sorted({exercise.stem for exercise in EXERCISES}))
def test_exercises_and_cells_belong_to_each_other(stem):
    ours = [exercise for exercise in EXERCISES if exercise.stem == stem]
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook("solutions", stem).cells]
    assert [mark["grade_id"] for mark in marks if mark.get("solution")] == [
        exercise.short for exercise in ours
    ]
    assert sum(mark.get("points", 0) for mark in marks) == sum(exercise.points for exercise in ours)


@pytest.mark.parametrize("exercise", EXERCISES, ids=str)
def test_the_statement_gives_title_points_and_minutes(exercise):
    heading = cell_of(notebook("solutions", exercise.stem), f"statement_{exercise.short}").source.partition(
        "\n"
    )[0]
    place = [e.name for e in EXERCISES if e.stem == exercise.stem].index(exercise.name) + 1
    points = "1 point" if exercise.points == 1 else f"{exercise.points} points"
    assert heading == f"### {place}. {exercise.title} ({points}, {exercise.minutes} minutes)"
