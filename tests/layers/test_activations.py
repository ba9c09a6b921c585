"""Activations at the places where they break: zero, infinity, and numbers too large for exp."""

import math

import numpy as np
import pytest

from minigrad import GELU, ReLU, Sigmoid, Softmax, Tanh

LARGE = np.array([-np.inf, -1e308, -1000.0, 0.0, 1000.0, 1e308, np.inf])


def slope(layer, X):
    return layer(X)[1](np.ones_like(X))


def test_the_slope_of_relu_at_zero_is_zero():
    np.testing.assert_array_equal(slope(ReLU(), np.array([-1.0, 0.0, 2.0])), [0.0, 0.0, 1.0])


def test_relu_of_minus_infinity_is_zero():
    Y, backward = ReLU()(LARGE)
    np.testing.assert_array_equal(Y, [0, 0, 0, 0, 1000.0, 1e308, np.inf])
    np.testing.assert_array_equal(backward(np.ones(7)), [0, 0, 0, 0, 1, 1, 1])


def test_sigmoid_never_overflows():
    Y, backward = Sigmoid()(LARGE)
    np.testing.assert_array_equal(Y, [0, 0, 0, 0.5, 1, 1, 1])
    np.testing.assert_array_equal(backward(np.ones(7)), [0, 0, 0, 0.25, 0, 0, 0])


def test_sigmoid_is_what_its_formula_says():
    X = np.linspace(-7.0, 7.0, 13)
    np.testing.assert_allclose(Sigmoid().predict(X), 1 / (1 + np.exp(-X)), rtol=1e-12)  # tanh form, rounding


def test_tanh_never_overflows():
    Y, backward = Tanh()(LARGE)
    np.testing.assert_array_equal(Y, [-1, -1, -1, 0, 1, 1, 1])
    np.testing.assert_array_equal(backward(np.ones(7)), [0, 0, 0, 1, 0, 0, 0])


def test_gelu_is_close_to_its_exact_form():
    X = np.linspace(-5.0, 5.0, 101)
    exact = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in X])
    assert np.abs(GELU().predict(X) - exact).max() < 5e-4  # as its docstring promises


def test_softmax_gives_probabilities_whatever_the_scores():
    scores = np.array([[1000.0, 1000.0, -1000.0], [0.0, -1e300, 1e300]])
    np.testing.assert_allclose(Softmax().predict(scores), [[0.5, 0.5, 0], [0, 0, 1]], atol=1e-15)  # rounding


def test_softmax_does_not_see_what_is_added_to_a_row():
    X = np.random.default_rng(0).normal(size=(5, 7))
    shifted = Softmax().predict(X + 3.0)
    np.testing.assert_allclose(shifted, Softmax().predict(X), rtol=1e-12)  # rounding of the sum


@pytest.mark.parametrize("dY", [1.0, 3.0])
def test_softmax_sends_nothing_back_for_equal_gradients(dY):
    X = np.random.default_rng(0).normal(size=(5, 7))
    _, backward = Softmax()(X)
    np.testing.assert_allclose(backward(np.full((5, 7), dY)), 0.0, atol=1e-15)  # probabilities sum to 1
