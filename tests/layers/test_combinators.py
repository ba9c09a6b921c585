"""Layers made of layers."""

import numpy as np
import pytest

from minigrad import (
    Layer,
    Linear,
    Parallel,
    ReLU,
    Residual,
    Sequential,
    ShapeError,
    Watch,
    chain,
    gradcheck,
)

X = np.random.default_rng(1).normal(size=(5, 3))


def double(X):
    return 2 * X, lambda dY: 2 * dY


class Listens(Layer):
    """Hears whether it is called in training."""

    def forward(self, X, training=False):
        return X * (7 if training else 1), lambda dY: dY * (7 if training else 1)


def linears(count):
    rng = np.random.default_rng(0)
    return [Linear(3, 3, rng=rng) for _ in range(count)]


def test_chain_is_sequential_of_two():
    first, second = linears(2)
    Y, backward = chain(first, second)(X)
    Y_too, backward_too = Sequential(first, second)(X)
    np.testing.assert_array_equal(Y, Y_too)
    np.testing.assert_array_equal(backward(Y), backward_too(Y))


def test_chains_nest_either_way():
    first, second, third = linears(3)
    left, right = chain(chain(first, second), third), chain(first, chain(second, third))
    Y, backward = left(X)
    Y_too, backward_too = right(X)
    np.testing.assert_array_equal(Y, Y_too)
    np.testing.assert_array_equal(backward(Y), backward_too(Y))


def test_a_chain_is_a_layer_like_any_other():
    first, second = linears(2)
    model = chain(first, ReLU()) >> second
    assert gradcheck(model, X).ok
    assert [id(p) for p in model.parameters()] == [id(p) for p in (first.W, first.b, second.W, second.b)]


def test_residual_around_nothing_doubles():
    Y, backward = Residual(Sequential())(X)
    np.testing.assert_array_equal(Y, 2 * X)
    np.testing.assert_array_equal(backward(X), 2 * X)


def test_residual_refuses_a_layer_that_changes_the_shape():
    with pytest.raises(ShapeError) as caught:
        Residual(Linear(3, 7, rng=0))(X)
    assert str(caught.value) == (
        "Residual(Linear(3, 7)) adds X of shape (5, 3) and F(X) of shape (5, 7): "
        "let the layer inside end with X's shape, of width 3."
    )


def test_parallel_adds_up_what_comes_back():
    Y, backward = Parallel(double, Sequential(), double)(X)
    np.testing.assert_array_equal(Y, np.concatenate([2 * X, X, 2 * X], axis=1))
    np.testing.assert_array_equal(backward(np.ones((5, 9))), np.full((5, 3), 5.0))


def test_parallel_splits_at_the_widths_of_its_branches():
    first, second = Linear(3, 7, rng=0), Linear(3, 2, rng=1)
    _, backward = Parallel(first, second)(X)
    dY = np.random.default_rng(2).normal(size=(5, 9))
    backward(dY)
    np.testing.assert_allclose(first.W.grad, X.T @ dY[:, :7], rtol=1e-12)  # rounding
    np.testing.assert_allclose(second.W.grad, X.T @ dY[:, 7:], rtol=1e-12)


@pytest.mark.parametrize("shape, other", [((5, 3), (2, 3)), ((5, 11, 3), (5, 2, 3))])
def test_parallel_refuses_results_that_cannot_stand_side_by_side(shape, other):
    def shorter(X):
        return np.zeros(other), lambda dY: dY

    with pytest.raises(ShapeError) as caught:
        Parallel(double, shorter)(np.zeros(shape))
    assert str(caught.value) == (
        f"Parallel(double, shorter) needs results that differ in axis -1 alone, got shapes {shape}, {other}."
    )


def test_parallel_of_integers_has_no_dX():
    def look_up(ids):
        return np.eye(7)[ids], lambda dY: None

    Y, backward = Parallel(look_up, look_up)(np.array([0, 2, 3]))
    assert Y.shape == (3, 14)
    assert backward(Y) is None


def test_watch_sees_the_very_arrays_and_changes_nothing():
    seen = []
    Y, backward = Watch(lambda direction, array: seen.append((direction, array)))(X)
    dY = np.ones((5, 3))
    assert backward(dY) is dY
    assert Y is X
    assert [(direction, id(array)) for direction, array in seen] == [("forward", id(X)), ("backward", id(dY))]


@pytest.mark.parametrize(
    "model",
    [
        Sequential(Listens()),
        chain(Listens(), Sequential()),
        chain(Sequential(), Listens()),
        Sequential(chain(Sequential(Listens()), double)),
        Parallel(Listens()),
        Residual(Parallel(Listens())),
    ],
)
def test_training_reaches_the_layers_inside(model):
    trained, usual = model(X, training=True)[0], model(X)[0]
    assert not np.array_equal(trained, usual)


def test_they_print_what_they_hold():
    model = Linear(3, 7, rng=0) >> Residual(ReLU()) >> Parallel(double, Sequential(ReLU()))
    assert repr(model) == ("Sequential(Linear(3, 7), Residual(ReLU()), Parallel(double, Sequential(ReLU())))")
