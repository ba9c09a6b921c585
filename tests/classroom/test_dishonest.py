"""Dishonest wrappers earn no points that the wrapped answer does not earn, in all exercises.

Here answer and check share one process; the grader runs the same checks across a pipe.
"""

import warnings

import numpy as np
import pytest

import minigrad
from course.checks import CheckFailed, Exercise
from course.checks.questions import expect_several, expect_values
from course.curriculum import BUILT
from minigrad.check.numerical import numerical_gradient
from tests.answers import answers_to
from tests.classroom.dishonest import (
    KINDS,
    Counts,
    Knows,
    KnowsSizes,
    Recognises,
    Remembers,
    Replays,
    SaysNan,
)
from tests.course.test_checks import CHECKED, answered

LEVELS = range(3)  # the answer, what it returns, and what that returns
MAY_BE_CALLED = {  # the library's own, which does what the exercise asks for
    "05_chains.chain_all": {"Sequential", "chain"},
    "09_optimizers.clip_length": {"clip_grad_norm"},
}
WRITTEN = [exercise for exercise in CHECKED if exercise.kind != "predict"]  # more than a few numbers


@pytest.fixture(autouse=True)
def quiet():
    """Silence divisions by zero of wrong answers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def passes(exercise, answer, attempts=(0,)):
    """Report whether an answer passes its check in all attempts."""
    try:
        for attempt in attempts:
            exercise.judge(answer, attempt)
    except CheckFailed:
        return False
    return True


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_a_wrapper_that_lies_in_unchecked_calls_earns_nothing(exercise):
    answer, _, _ = answered(exercise)
    unearned = []
    for kind in KINDS:
        for level in LEVELS:
            liar = kind(level)
            if passes(exercise, liar.wrapped(answer)) and liar.lies:
                unearned.append((kind.__name__, level, liar.lies))
    assert unearned == []


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_no_wrapper_makes_a_wrong_answer_right(exercise):
    wrong = answers_to(exercise).refused
    assert wrong or exercise.kind in ("derive", "explain")
    unearned = [
        (kind.__name__, answer)
        for _, answer in wrong
        for kind in KINDS
        if passes(exercise, kind().wrapped(answer))
    ]
    assert unearned == []


@pytest.mark.parametrize("exercise", CHECKED, ids=str)
def test_the_library_s_own_function_is_not_an_answer(exercise):
    offered = [name for name in minigrad.__all__ if BUILT.get(name, 99) <= int(exercise.stem[:2])]
    passing = {name for name in offered if passes(exercise, getattr(minigrad, name))}
    assert passing == MAY_BE_CALLED.get(exercise.name, set())


@pytest.mark.parametrize("kind", [Knows, KnowsSizes])
@pytest.mark.parametrize("exercise", WRITTEN, ids=str)
def test_a_memorized_answer_earns_nothing(exercise, kind):
    answer, _, _ = answered(exercise)
    heard = kind()
    passes(exercise, heard.wrapped(answer), attempts=range(3))
    liar = kind(heard.asked)
    assert not (passes(exercise, liar.wrapped(answer), attempts=(7, 8, 9)) and liar.lies)


# the wrappers themselves: what they earn where a check is naive

HINTS = ("Double it.", "Go back.", "Twice.")
X = np.array([[1.0, -2.0, 3.0]])


def double(X):
    return 2 * X, lambda dY: 2 * dY


def naive(ask):
    """Return an exercise whose check tests a function that doubles X, and its `backward`, in a naive way."""
    exercise = Exercise("90_demo.double", title="Double", points=1, kind="fill", minutes=1, hints=HINTS)
    exercise.check(ask)
    # one round
    exercise._ask = lambda answer, attempt, calls=None: exercise._check(answer, exercise._rng(attempt))
    return exercise


def asks_once(answer, rng):
    Y, backward = expect_several(answer(X), "Y", "backward")
    expect_values("Y", Y, 2 * X)
    for _ in range(3):  # asked, and not looked at
        answer(X)


def asks_by_nudging(answer, rng):
    Y, backward = expect_several(answer(X), "Y", "backward")
    expect_values("Y", Y, 2 * X)
    truth = numerical_gradient(lambda X: answer(X)[0], X, np.ones_like(X))
    if np.abs(backward(np.ones_like(X)) - truth).max() > 1e-6:
        raise CheckFailed("dX is wrong")


def asks_the_same(answer, rng):
    for _ in range(2):
        expect_values("Y", answer(X)[0], 2 * X)


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Counts, asks_once),
        (Remembers, asks_once),
        (Recognises, asks_by_nudging),
        (SaysNan, asks_by_nudging),
        (Knows, asks_the_same),
        (KnowsSizes, asks_the_same),
    ],
)
def test_a_naive_check_is_cheated(kind, check):
    exercise = naive(check)
    liar = kind([]) if kind in (Knows, KnowsSizes) else kind()
    if kind in (Knows, KnowsSizes):
        heard = kind()
        assert passes(exercise, heard.wrapped(double))
        liar = kind(heard.asked)
        assert passes(exercise, liar.wrapped(double))
        liar.wrapped(double)(np.ones((2, 2)))
    else:
        assert passes(exercise, liar.wrapped(double))
    assert liar.lies


def test_a_replay_lies_where_it_is_asked_something_else():
    liar = Replays()
    told = liar.wrapped(lambda X: X)
    assert told(np.ones(2)) is told(np.zeros(2)) and liar.lies == 1
