"""Thinc, "Concept and Design": what its page shows, in the fewest lines of minigrad that do it."""

import re

import numpy as np
import pytest

from minigrad import (
    Layer,
    Linear,
    Parameter,
    ReLU,
    ShapeError,
    Sum,
    chain,
    gradcheck,
    numerical_gradient,
)

RNG = np.random.default_rng(0)
X, T = RNG.normal(size=(128, 16)), RNG.normal(size=(128, 10))


def reduce_sum(X):
    def backward(dY):
        return np.repeat(dY[:, None], X.shape[1], axis=1)

    return X.sum(axis=1), backward


def relu(X):
    return X * (X >= 0), lambda dY: dY * (X >= 0)


def test_reduce_sum_and_relu_in_a_chain():
    Y, backward = chain(reduce_sum, relu)(np.ones((2, 10, 6)))
    dX = backward(np.ones((2, 6)))
    assert Y.shape == (2, 6) and dX.shape == (2, 10, 6)
    library, _ = chain(Sum(), ReLU())(np.ones((2, 10, 6)))
    np.testing.assert_array_equal(Y, library)


def test_the_goal_only_the_hidden_width_is_written_down():
    model = chain(Linear(n_out=32), ReLU(), Linear()).initialize(X, T, rng=0)
    assert repr(model) == "Sequential(Linear(16, 32), ReLU(), Linear(32, 10))"
    assert gradcheck(model, X[:5]).ok


class Model(Layer):
    """Thinc's `Model`: composition instead of inheritance. `init` and `forward` are given the model."""

    has_width = True

    def __init__(self, forward, init, dims, params):
        self.run, self.init, self.dims, self.params = forward, init, dims, params

    def forward(self, X):
        return self.run(self, X)

    def open(self, X, Y, rng):
        self.init(self, X, Y, rng)


def linear(n_out=None, n_in=None):
    def init(model, X, Y, rng):
        model.dims["nI"] = model.dims["nI"] or X.shape[-1]
        model.dims["nO"] = model.dims["nO"] or Y.shape[-1]
        limit = np.sqrt(6 / (model.dims["nI"] + model.dims["nO"]))
        model.params["W"] = Parameter(rng.uniform(-limit, limit, size=(model.dims["nO"], model.dims["nI"])))
        model.params["b"] = Parameter(np.zeros(model.dims["nO"]))

    def forward(model, X):
        W, b = model.params["W"], model.params["b"]

        def backward(dY):
            W.grad += dY.T @ X
            b.grad += dY.sum(axis=0)
            return dY @ W.data

        return X @ W.data.T + b.data, backward

    return Model(forward, init, {"nO": n_out, "nI": n_in}, {"W": None, "b": None})


def test_composition_instead_of_inheritance_initializes_and_passes_gradcheck():
    model = chain(linear(n_out=32), relu, linear()).initialize(X, T, rng=0)
    assert [tuple(layer.dims.values()) for layer in (model.layers[0], model.layers[2])] == [
        (32, 16),
        (10, 32),
    ]
    report = gradcheck(chain(linear(n_out=5), linear()).initialize(X, T, rng=0), X[:3])
    assert report.ok and len(report.rows) == 5, report


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (
            lambda layer: setattr(layer.W, "grad", np.zeros((10, 16))),
            "grad must be an array of floats of shape (16, 10), got (10, 16).",
        ),
        (lambda layer: layer(X[:, :3]), "Linear(16, 10) expects 16 inputs in the last axis"),
    ],
    ids=["dW", "X"],
)
def test_sizes_that_contradict_each_other_are_refused(mistake, sentence):
    with pytest.raises(ShapeError, match=re.escape(sentence)):
        mistake(Linear(16, 10, rng=0))


class UncomposableModel:
    """The page's first model: one method predicts, and one does all the rest. W is (n_out, n_in)."""

    def __init__(self, W):
        self.W = W

    def predict(self, X):
        return X @ self.W.T

    def update(self, X, T, learning_rate=0.001):
        dY = (self.predict(X) - T) / len(X)
        dX = dY @ self.W
        self.W = self.W - learning_rate * dY.T @ X
        return dX


def half_squared_error(Y, T):
    return 0.5 * np.sum((Y - T) ** 2) / len(Y)


def test_the_uncomposable_model_learns_and_returns_the_gradient_of_half_the_squared_error():
    model, first = UncomposableModel(RNG.normal(size=(10, 16))), X[:5]
    before, loss = model.W, half_squared_error(model.predict(X), T)
    nudged = numerical_gradient(lambda X: half_squared_error(X @ before.T, T[:5]), first)
    np.testing.assert_allclose(model.update(first, T[:5], learning_rate=0.01), nudged, atol=1e-7)
    assert not np.array_equal(model.W, before)
    for _ in range(20):
        model.update(X, T)
    assert half_squared_error(model.predict(X), T) < loss


def test_one_uncomposable_model_behind_another_leaves_the_inner_one_without_a_target():
    inner, outer = UncomposableModel(RNG.normal(size=(32, 16))), UncomposableModel(RNG.normal(size=(10, 32)))
    with pytest.raises(ValueError, match="broadcast"):
        inner.update(X, T)
    H = inner.predict(X)
    dH = outer.update(H, T, learning_rate=0.0)
    forged = H - len(X) * dH  # a target that is made of the gradient
    layers = chain(Linear(16, 32, bias=False, rng=0), Linear(32, 10, bias=False, rng=0))
    layers.layers[0].W, layers.layers[1].W = Parameter(inner.W.T), Parameter(outer.W.T)
    Y, backward = layers(X)
    np.testing.assert_allclose(inner.update(X, forged), backward((Y - T) / len(X)))


def backprop_two_layers(W1, W2, X, T):
    """The page's way back by hand, with its two weight products the right way round."""
    H = X @ W1.T
    dY = (H @ W2.T - T) / len(X)
    dH = dY @ W2
    return dH.T @ X, dY.T @ H, dH @ W1


def test_two_layers_by_hand_and_the_shapes_that_find_a_transposed_product():
    W1, W2, few = RNG.normal(size=(32, 16)), RNG.normal(size=(10, 32)), (X[:5], T[:5])
    given = [W1, W2, few[0]]
    for place, gradient in enumerate(backprop_two_layers(W1, W2, *few)):

        def loss(array, place=place):
            W1, W2, X = [*given[:place], array, *given[place + 1 :]]
            return half_squared_error(X @ W1.T @ W2.T, few[1])

        np.testing.assert_allclose(gradient, numerical_gradient(loss, given[place]), atol=1e-6)
    H = few[0] @ W1.T
    with pytest.raises(ValueError, match="mismatch"):
        (H @ W2.T - few[1]) @ H.T  # dW2 as it is printed
