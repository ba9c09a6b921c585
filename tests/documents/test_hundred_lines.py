"""The post that builds a framework in a hundred lines: its experiments, optimizer and loss in our names."""

import re

import numpy as np
import pytest

from minigrad import SGD, Learner, Linear, Sequential, Sigmoid, mse


def data():
    """Return X and T of the post's first experiment: y = X w + b."""
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(100, 10)), rng.normal(size=(10, 1)), rng.normal(size=1)
    return X, X @ w + b, w, b


def test_the_first_experiment_needs_no_seed_and_no_sizes():
    X, Y, w, b = data()
    model = Linear(10, 1)
    learner = Learner(model, mse, SGD(0.05))
    history = learner.fit(X, Y, epochs=10, batch_size=10)
    assert history["loss"][-1] < history["loss"][0] / 1000
    assert np.linalg.norm(model.W.data - w) < 0.02
    again = Linear()
    Learner(again, mse, SGD(0.05)).fit(X, Y, epochs=10, batch_size=10)
    np.testing.assert_array_equal(again.W.data, model.W.data)  # the Learner's rng is 0 unless it is given


def test_the_second_experiment():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    Y = (X[:, 0] * X[:, 1])[:, None]
    losses = []
    for model, rate in ((Linear(2, 1), 0.01), (Sequential(Linear(2, 10), Sigmoid(), Linear(10, 1)), 0.3)):
        history = Learner(model, mse, SGD(rate)).fit(X, Y, epochs=50, batch_size=50)
        losses.append(history["loss"][-1])
    assert losses[1] < 0.6 * losses[0]


class SGDOptimizer:
    """The post's optimizer, with our names for a parameter's arrays: it is given one parameter at a time."""

    def __init__(self, lr=0.1):
        self.lr = lr

    def update(self, param):
        param.data -= self.lr * param.grad
        param.grad.fill(0)


def mse_loss(Yp, Yt):
    """The post's loss, which returns the gradient itself, with the factor that it leaves out."""
    diff = Yp - Yt
    return np.square(diff).mean(), 2 * diff / diff.size


def test_an_optimizer_with_update_is_answered_with_what_to_write():
    sentence = "optimizer of Learner must be an object with a method step(parameters), as SGD(0.1) is"
    with pytest.raises(TypeError, match=re.escape(sentence)):
        Learner(Linear(10, 1), mse, SGDOptimizer(lr=0.05))

    class Stepping(SGDOptimizer):
        def step(self, parameters):
            for parameter in parameters:
                self.update(parameter)

    X, Y, w, _ = data()
    model = Linear(10, 1)
    Learner(model, mse, Stepping(lr=0.05)).fit(X, Y, epochs=10, batch_size=10)
    assert np.linalg.norm(model.W.data - w) < 0.02


def test_a_loss_that_returns_its_gradient_is_answered_with_what_to_write():
    X, Y, w, _ = data()
    sentence = "mse_loss must return a pair (L, backward), got 2 values: float64, ndarray"
    with pytest.raises(TypeError, match=re.escape(sentence)):
        Learner(Linear(10, 1), mse_loss, SGD(0.05)).fit(X, Y)

    def with_a_way_back(Yp, Yt):
        L, D = mse_loss(Yp, Yt)
        return L, lambda dL=1.0: dL * D

    model = Linear(10, 1)
    Learner(model, with_a_way_back, SGD(0.05)).fit(X, Y, epochs=10, batch_size=10)
    assert np.linalg.norm(model.W.data - w) < 0.02
