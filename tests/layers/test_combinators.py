"""Layers made of layers."""

import numpy as np
import pytest

from minigrad import (
    RNN,
    Add,
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
    pad,
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


def test_parallel_joins_channels():
    X = np.random.default_rng(0).normal(size=(5, 2, 7, 3))
    layer = Parallel(double, lambda X: (X[:, :1], lambda dY: np.concatenate([dY, 0 * dY], axis=1)), axis=1)
    Y, backward = layer(X)
    np.testing.assert_array_equal(Y, np.concatenate([2 * X, X[:, :1]], axis=1))
    dY = np.random.default_rng(1).normal(size=Y.shape)
    expected = 2 * dY[:, :2]
    expected[:, :1] += dY[:, 2:]
    np.testing.assert_array_equal(backward(dY), expected)


def test_add_sums_the_branches_and_the_ways_back():
    X = np.random.default_rng(0).normal(size=(5, 3))
    first, second = Linear(3, 7, rng=0), Linear(3, 7, rng=1)
    Y, backward = Add(first, second)(X)
    np.testing.assert_array_equal(Y, first(X)[0] + second(X)[0])
    dY = np.random.default_rng(1).normal(size=Y.shape)
    np.testing.assert_allclose(backward(dY), dY @ (first.W.data + second.W.data).T, rtol=1e-12)  # rounding
    np.testing.assert_array_equal(first.W.grad, second.W.grad)


def test_a_residual_is_a_sum_with_nothing_done():
    X, dY = np.random.default_rng(0).normal(size=(2, 5, 3))
    nothing = Sequential()
    (Y, backward), (R, backward_of_R) = (cls(X) for cls in (Add(nothing, double), Residual(double)))
    np.testing.assert_array_equal(Y, R)
    np.testing.assert_array_equal(backward(dY), backward_of_R(dY))


def test_branches_of_sequences_with_lengths_add_up_their_gradients():
    (X, lengths), dY = pad([np.ones((2, 3)), np.ones((5, 3))]), np.ones((2, 5, 4))
    layer = Add(RNN(3, 4, rng=0), RNN(3, 4, rng=1))
    dX, none = layer((X, lengths))[1](dY)
    parts = [branch((X, lengths))[1](dY)[0] for branch in layer.layers]
    np.testing.assert_array_equal(dX, parts[0] + parts[1])
    assert none is None


def test_an_open_branch_takes_its_inputs_from_the_sample():
    model = Add(Linear(n_out=4), Linear(n_out=4)).initialize(np.ones((5, 3)), rng=0)
    assert str(model) == "Add(Linear(3, 4), Linear(3, 4))"


@pytest.mark.parametrize("shape, other", [((5, 3), (2, 3)), ((5, 11, 3), (5, 2, 3))])
def test_parallel_refuses_results_that_cannot_stand_side_by_side(shape, other):
    def shorter(X):
        return np.zeros(other), lambda dY: dY

    with pytest.raises(ShapeError) as caught:
        Parallel(double, shorter)(np.zeros(shape))
    assert str(caught.value) == (
        f"Parallel(double, shorter) needs results that differ only in axis -1, got shapes {shape}, {other}."
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
