"""Linear: Y = X W + b."""

import re

import numpy as np
import pytest

from minigrad import Linear, Parameter, ShapeError, numerical_gradient, orthogonal

RNG = np.random.default_rng(0)
X, dY = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 7))


def test_three_numbers_on_paper():
    layer = Linear(2, 1, rng=0)
    layer.W.data[...], layer.b.data[...] = [[3.0], [5.0]], [7.0]
    Y, backward = layer(np.array([[1.0, 2.0]]))
    assert Y == 1 * 3 + 2 * 5 + 7
    np.testing.assert_array_equal(backward(np.array([[10.0]])), [[30.0, 50.0]])
    np.testing.assert_array_equal(layer.W.grad, [[10.0], [20.0]])
    assert layer.b.grad == 10.0


def test_bias_gradient_is_summed_over_the_batch():
    layer = Linear(3, 7, rng=0)
    layer(X)[1](dY)
    np.testing.assert_allclose(layer.b.grad, dY.sum(axis=0), rtol=1e-12)  # rounding of five numbers


def test_gradients_agree_with_nudging():
    layer = Linear(3, 7, rng=0)
    layer(X)[1](dY)

    def nudged(W):
        return X @ W + layer.b.data

    found = numerical_gradient(nudged, layer.W.data, dY)
    np.testing.assert_allclose(layer.W.grad, found, rtol=1e-6, atol=1e-8)  # what a central difference can do


def test_axes_before_the_last_are_one_batch():
    layer, flat = Linear(3, 7, rng=0), Linear(3, 7, rng=0)
    steps = np.random.default_rng(1).normal(size=(5, 11, 3))
    Y, backward = layer(steps)
    Y_flat, backward_flat = flat(steps.reshape(55, 3))
    np.testing.assert_array_equal(Y.reshape(55, 7), Y_flat)
    np.testing.assert_array_equal(backward(Y).reshape(55, 3), backward_flat(Y_flat))
    np.testing.assert_array_equal(layer.W.grad, flat.W.grad)


def test_one_example_without_a_batch_axis_works_too():
    layer = Linear(3, 7, rng=0)
    Y, backward = layer(X[0])
    assert Y.shape == (7,)
    assert backward(Y).shape == (3,)


def test_without_bias_there_is_no_b():
    layer = Linear(3, 7, bias=False, rng=0)
    assert layer.b is None
    assert list(layer.named_parameters()) == ["W"]
    np.testing.assert_array_equal(layer.predict(X), X @ layer.W.data)


def test_dX_is_left_out_where_nobody_wants_it():
    layer, usual = Linear(3, 7, rng=0), Linear(3, 7, rng=0)
    assert layer(X, need_dX=False)[1](dY) is None
    _, backward = usual.forward(X)
    np.testing.assert_allclose(backward(dY), dY @ usual.W.data.T, rtol=1e-12)  # rounding
    np.testing.assert_array_equal(layer.W.grad, usual.W.grad)


def test_weights_come_from_the_seed():
    np.testing.assert_array_equal(Linear(3, 7, rng=1).W.data, Linear(3, 7, rng=1).W.data)
    assert (Linear(3, 7, rng=1).W.data != Linear(3, 7, rng=2).W.data).all()


def test_a_generator_goes_on_from_layer_to_layer():
    rng = np.random.default_rng(0)
    assert (Linear(3, 7, rng=rng).W.data != Linear(3, 7, rng=rng).W.data).all()


def test_weights_start_with_variance_one_over_n_in_and_b_at_zero():
    layer = Linear(400, 100, rng=0)
    assert abs(layer.W.data.std() * 20 - 1) < 0.02  # 40,000 draws: the standard deviation is known to 0.35 %
    assert not layer.b.data.any()


def test_init_and_type_are_ours_to_choose():
    layer = Linear(7, 3, init=orthogonal, rng=0).to(np.float32)
    assert layer.W.data.dtype == layer.b.data.dtype == np.float32
    np.testing.assert_allclose(layer.W.data.T @ layer.W.data, np.eye(3), atol=1e-6)  # float32


def test_a_wrong_width_is_refused():
    with pytest.raises(ShapeError) as caught:
        Linear(3, 7, rng=0)(np.zeros((5, 4)))
    assert str(caught.value) == "Linear(3, 7) expects 3 inputs in the last axis, got X of shape (5, 4)."


def test_an_unknown_number_of_outputs_is_refused():
    with pytest.raises(ShapeError) as caught:
        Linear(3)(X)
    assert str(caught.value) == (
        "Linear(3, ?) has no n_out yet: pass it, or call model.initialize(X, Y), "
        "where the last layer takes it from Y."
    )


def test_missing_weights_are_refused():
    with pytest.raises(ValueError, match=re.escape("Linear(3, 7) has no weights: give it rng=0, or call")):
        Linear(3, 7)(X)
    with pytest.raises(ShapeError, match=re.escape("Linear(?, 7) has no n_in yet: pass it, or call")):
        Linear(n_out=7, rng=0)(X)


def test_a_tuple_and_a_list_are_refused():
    with pytest.raises(TypeError, match="expects an array of numbers, got a tuple of 2: pass one array"):
        Linear(3, 7, rng=0)((X, X))
    with pytest.raises(TypeError, match="got list"):
        Linear(3, 7, rng=0)([[1.0, 2.0, 3.0]])


def test_weights_may_be_replaced():
    layer = Linear(3, 7, rng=0)
    layer.W = Parameter(np.ones((3, 7)))
    np.testing.assert_array_equal(layer.predict(np.ones((1, 3))), np.full((1, 7), 3.0))
