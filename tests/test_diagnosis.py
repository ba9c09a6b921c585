"""A wrong gradient gets a sentence that says what is wrong with it, and every gradient gets a sentence."""

import numpy as np
import pytest

from minigrad.check.checker import gradcheck
from minigrad.check.diagnosis import GENERAL, diagnose, explain, same
from minigrad.check.report import Report, Row
from tests.planted_bugs import BUGS, entrywise, linear


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_each_planted_bug_is_caught_and_named(bug):
    problems = gradcheck(bug.build(), bug.X).problems
    causes = 2 if bug.name == "two_weights_get_each_others_gradient" else 1
    assert len(problems) == causes, problems  # one cause, one sentence
    if bug.words is None:
        assert GENERAL in problems[0]
    else:
        assert any(bug.words in problem for problem in problems), problems


def test_the_museum_is_large_and_most_of_it_gets_a_sentence_of_its_own():
    specific = [bug for bug in BUGS if bug.words is not None]
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 200
    assert len(specific) >= 0.9 * len(BUGS)
    assert not any(GENERAL in bug.words for bug in specific)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["linear_bias_gradient_is_a_mean", "softmax_takes_its_sum_for_a_constant"])
def test_the_sentence_does_not_hang_on_the_draw_of_dY(name, seed):
    (bug,) = [bug for bug in BUGS if bug.name == name]
    assert bug.words in gradcheck(bug.build(), bug.X, rng=seed).problems[0]


SHAPES = [
    ((), ()), ((3,), ()), ((3,), (3,)), ((1,), (1,)), ((5, 3), (5,)), ((5, 3), ()), ((5, 3), (5, 7)),
    ((1, 1), (1, 1)), ((1, 3), (1, 3)), ((5, 1), (5, 1)), ((2, 3), (2, 3)), ((5, 11, 3), (5, 3)),
    ((2, 3, 5, 7), (2, 7)),
]  # fmt: skip


@pytest.mark.parametrize("X_shape, Y_shape", SHAPES)
@pytest.mark.parametrize("with_jacobians", [False, True])
def test_every_gradient_of_every_shape_gets_a_sentence(X_shape, Y_shape, with_jacobians):
    rng = np.random.default_rng(0)
    X, Y, dY, true, other = (
        np.asarray(rng.normal(size=shape)) for shape in (X_shape, Y_shape, Y_shape, X_shape, X_shape)
    )
    jacobians = None
    if with_jacobians:
        jacobians = tuple(rng.normal(size=(2, Y.size, X.size)))
    sampled = np.where(np.arange(X.size).reshape(X_shape) % 2, np.nan, true)
    for truth in (true, 0 * true, sampled):
        for yours in (other, 0 * true, -true, true + 1e-5, true[None], np.full(X_shape, np.nan), None):
            given = {"X": yours, "b": np.ones(7)}
            sentence = diagnose(
                "X", {"X": X, "b": np.ones(7)}, given, {"X": truth, "b": dY}, Y, dY, jacobians
            )
            assert isinstance(sentence, str) and sentence


@pytest.mark.parametrize(
    "factor, words",
    [
        (5, "5 times too large: 5 is the batch size"),
        (1 / 3, "3 times too small: 3 is the number of inputs"),
        (7, "7 times too large: 7 is the number of outputs"),
        (-2, "the sign is flipped, and it is 2 times too large"),
        (2, "2 times too large"),
        (10, "10 times too large: 10 is the batch size times 2"),
        (1 / 2.5, "2.5 times too small"),
        (1 / 15, "15 times too small: 15 is the size of X"),
        (21, "21 times too large: 21 is the number of inputs times the number of outputs"),
        (7 / 3, "2.333 times too large: 2.333 is the number of outputs divided by the number of inputs"),
        (12, "12 times too large"),
        (7**-0.5, "2.646 times too small: 2.646 is the square root of the number of outputs"),
        (1.2345, "1.234 times too large"),
        (-1, "the sign is flipped"),
    ],
)
def test_a_constant_factor_is_said_once_and_named(factor, words):
    layer = linear(dX=lambda X, W, dY: factor * dY @ W.T)
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert gradcheck(layer, X).problems == [f"input X: {words}"]


def test_a_factor_may_be_the_length_of_an_axis_between():
    X = np.random.default_rng(0).normal(size=(5, 11, 3))
    steps = entrywise(np.square, lambda X, Y, dY: 2 * X * dY / 11)
    assert gradcheck(steps, X).problems == ["input X: 11 times too small: 11 is the length of axis 1 of X"]


def test_of_a_large_array_the_sample_is_enough_for_a_factor():
    X = np.random.default_rng(0).normal(size=(41, 29))
    report = gradcheck(entrywise(np.square, lambda X, Y, dY: X * dY), X, max_entries=11)
    assert report.problems == ["input X: 2 times too small"]


def test_of_a_large_array_the_sample_is_enough_for_a_region():
    X = np.random.default_rng(0).normal(size=(41, 29))
    leaky = entrywise(lambda X: np.where(X > 0, X, 0.1 * X), lambda X, Y, dY: dY * (X > 0))
    assert gradcheck(leaky, X, max_entries=23).problems == ["input X: wrong only where it is negative"]


def test_same_compares_with_the_largest_number_and_lets_nan_pass():
    assert same(np.array([1.0, 1e-7]), np.array([1.0, 0.0]))
    assert not same(np.array([1.0, 1e-4]), np.array([1.0, 0.0]))
    assert same(np.array([1.0, 9.0]), np.array([1.0, np.nan]))
    assert not same(np.array([1.0, 9.0]), np.array([np.nan, np.nan]))
    assert not same(np.ones(3), np.ones((1, 3)))


def test_an_error_keeps_its_message_and_says_what_its_shapes_suggest():
    def message(f):
        with pytest.raises(ValueError) as error:
            f()
        return explain(error.value)

    W, dW, b, dY = np.ones((3, 7)), np.ones((7, 3)), np.ones(7), np.ones((5, 7))
    assert message(lambda: W + dW).endswith(
        "shapes (3,7) (7,3)  (two of these shapes are each other's transpose)"
    )
    assert message(lambda: np.add(b, dY, out=b)).endswith("(not summed over the batch? add .sum(axis=0))")
    assert message(lambda: dY @ W).endswith("(is a .T missing, or one too many?)")
    assert explain(ValueError("shapes (3,3) and (3,3)")) == "shapes (3,3) and (3,3)"
    assert explain(KeyError("mask")) == "'mask'"


def test_a_report_is_what_its_rules_and_rows_say():
    right = Row("W", (3, 7), 21, 21, 1e-10, "ok", "")
    wrong = Row("b", (7,), 7, 7, 0.8, "WRONG", "transposed")
    told = Row("c", (7,), 7, 7, 0.8, "see rules", "")
    assert Report("title", {"a rule": ""}, [right, told]).problems == []
    assert Report("title", {"a rule": "W: broken"}, [right]).problems == ["a rule: W: broken"]
    assert Report("title", {"a rule": ""}, [right, wrong]).problems == ["b: transposed"]
    assert str(Report("title", {"a rule": ""}, [right])).splitlines()[-2:] == [
        "  1 rules of a layer: all kept",
        "passed",
    ]
