"""The suspects of chapter 03: each wrong one has one slip, which the library's checker finds and names."""

import numpy as np
import pytest

from course.examples import bugs
from minigrad import gradcheck

X = np.random.default_rng(3).normal(size=(5, 3))
WITH_ZEROS = np.where(np.arange(5)[:, None] == 1, 0.0, X)
WORDS = {
    bugs.MeanKeepsItsAxis: "shape (5, 1) instead of (5, 3)",
    bugs.SquareForgetsTheTwo: "2 times too small",
    bugs.CircleRoundsPi: "1.001 times too small",
    bugs.SigmoidForgetsDY: "a factor dY is missing",
    bugs.ShiftGoesOn: "right numbers, wrong places",
    bugs.SoftmaxTakesThePlainMean: "the gradient through each row's sum is missing or wrong",
    bugs.ToTonnesTwice: "1e+06 times too small",
    bugs.GainTakesTheMean: "W: 5 times too small: 5 is the batch size",
    bugs.GainOverwrites: "W: overwritten, use += instead of =",
    bugs.TanhOnSelf: "a later forward changed its result",
    bugs.ReluWritesIntoX: "forward leaves X and the weights alone: input X: changed",
    bugs.ReluWritesIntoDY: "backward leaves dY alone: dY: changed",
}


@pytest.mark.parametrize("make", bugs.RIGHT, ids=lambda make: make.__name__)
@pytest.mark.parametrize("X", [X, WITH_ZEROS], ids=["drawn", "with zeros"])
def test_a_right_layer_passes(make, X):
    assert gradcheck(make(), X).problems == []


@pytest.mark.parametrize("make", bugs.WRONG, ids=lambda make: make.__name__)
def test_a_wrong_layer_is_caught_and_named(make):
    (problem,) = gradcheck(make(), X).problems
    assert WORDS[make] in problem


@pytest.mark.parametrize("make", bugs.WRONG, ids=lambda make: make.__name__)
def test_a_wrong_layer_differs_from_its_original_in_one_method(make):
    (original,) = make.__bases__
    assert original in bugs.RIGHT
    changed = [name for name in ("forward", "backward") if name in vars(make)]
    assert len(changed) == 1 or make is bugs.TanhOnSelf  # it keeps in one what it uses in the other
    np.testing.assert_array_equal(make().forward(X.copy()), original().forward(X))


@pytest.mark.parametrize("seed", range(5))
def test_broken_gradients_have_eight_different_names_of_the_ten(seed):
    puzzles = bugs.broken_gradients(seed)
    names = [name for name, _ in puzzles.values()]
    assert list(puzzles) == list("ABCDEFGH")
    assert len(set(names)) == 8 and set(names) < set(bugs.NAMES)


def test_the_same_seed_breaks_gradients_in_the_same_order():
    one, same = bugs.broken_gradients(3), bugs.broken_gradients(3)
    assert [name for name, _ in one.values()] == [name for name, _ in same.values()]
    orders = {tuple(name for name, _ in bugs.broken_gradients(seed).values()) for seed in range(5)}
    assert len(orders) > 1
