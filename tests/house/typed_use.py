"""Typical uses of minigrad: a type checker reads them, and test_types.py runs them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import minigrad
from minigrad import (
    LSTM,
    SGD,
    Adam,
    Conv2d,
    Embedding,
    History,
    Layer,
    Learner,
    Linear,
    MultiHeadAttention,
    Parameter,
    ReLU,
    Residual,
    Sequential,
    accuracy,
    batches,
    chain,
    clip_grad_norm,
    cosine,
    cross_entropy,
    digits,
    gradcheck,
    load,
    moons,
    mse,
    one_hot,
    replica,
    save,
    split,
)
from minigrad.diagnosis import Report

if TYPE_CHECKING:
    from minigrad._types import Array, Backward, LossBackward, Result, TupleBackward
else:  # at run time there are no such names, and assert_type looks at none
    Array = Backward = LossBackward = Result = TupleBackward = object


# Plain functions are layers, with types of their own, or none.
def relu(X: Array) -> tuple[Array, Backward]:
    """Return what is positive and the way back."""
    return np.maximum(X, 0), lambda dY: dY * (X > 0)


def double(X):  # type: ignore[no-untyped-def]
    """Return X twice and the way back."""
    return 2 * X, lambda dY: 2 * dY


class Scale(Layer):
    """A layer of one's own."""

    def __init__(self, start: float) -> None:
        self.scale = Parameter([start])

    def forward(self, X: Array, training: bool = False) -> Result:
        """Return X times a number and the way back."""

        def backward(dY: Array) -> Array:
            self.scale.grad += (dY * X).sum()
            return dY * self.scale.data

        return X * self.scale.data, backward


def stop(learner: Learner, row: dict[str, float]) -> bool:
    """Tell whether it is enough."""
    return row["loss"] < 0.1


def layers() -> None:
    """Go forward and back through layers of each kind."""
    X: NDArray[np.float64] = np.ones((5, 3))
    layer = Linear(3, 7, rng=0)
    Y, backward = layer(X)
    assert_type(Y, Array)
    assert_type(backward, Backward)
    assert_type(backward(np.ones_like(Y)), Array)
    assert_type(layer.W, Parameter)
    layer.W.grad += 3.0

    # X may be a tuple: so is dX.
    padded, lengths = minigrad.pad([np.ones((2, 3)), np.ones((5, 3))])
    H, back_through_time = LSTM(3, 7, last=True, rng=0)((padded, lengths))
    assert_type(back_through_time, TupleBackward)
    d_padded, _ = back_through_time(H)
    assert d_padded.shape == padded.shape

    # Who reads no dX says so, and gets no promise; and tokens have none.
    _, careless = layer(X, training=True, need_dX=False)
    assert_type(careless, Callable[[Array], Any])
    _, back_to_tokens = Embedding(11, 3, rng=0)(np.array([[2, 3, 5]]))
    assert_type(back_to_tokens, Callable[[Array], None])

    model = Linear(n_out=7) >> relu >> ReLU() >> Residual(double) >> Linear(n_out=2)
    assert_type(model, Sequential)
    assert_type(model.initialize(X, rng=0), Sequential)
    assert_type(relu >> layer, Sequential)
    assert_type(chain(relu, layer)(X)[0], Array)
    Sequential(lambda X: (X, lambda dY: dY), relu, Conv2d(n_out=3, padding="same"))
    assert_type(Scale(2.0)(X)[1], Backward)
    assert_type(Scale(2.0).to(np.float32), Scale)

    L, loss_backward = mse(Y, Y)
    assert_type(L, np.floating[Any])
    assert_type(loss_backward, LossBackward)
    assert_type(loss_backward(), Array)
    assert_type(loss_backward(dL=0.5), Array)

    assert_type(gradcheck(model, X), Report)
    assert_type(gradcheck(lambda Y: mse(Y, X), X, tol=1e-5).problems, list[str])
    gradcheck(MultiHeadAttention(3, rng=0), (padded, lengths))


def learning(folder: Path) -> None:
    """Train, look, save and load."""
    X, T = moons(100, rng=np.random.default_rng(0))
    model = Linear(2, 7, rng=0) >> relu >> Linear(7, 2, rng=1)
    learner = Learner(model, cross_entropy, SGD(learning_rate=cosine(0.5, steps=100)), metrics=[accuracy])
    history = learner.fit(X, T, epochs=3, validation=moons(100), callbacks=[stop])
    assert_type(history, History)
    assert_type(history["loss"], list[float])
    assert_type(history[-1], dict[str, float])
    assert_type(learner.evaluate(X, T)["accuracy"], float)
    Learner(relu, mse, Adam(), before_step=lambda parameters: clip_grad_norm(parameters, 1.0))
    for X_batch, T_batch in batches(*digits(), batch_size=64, rng=0):
        assert_type(X_batch, Array)
        assert_type(one_hot(T_batch, 10), Array)
    X_part, _ = split((X, X), T)[0]
    assert_type(X_part, tuple[Array, ...])

    # What is given comes back, as the type that it has.
    save(folder / "learner.npz", learner)
    assert_type(load(folder / "learner.npz", learner), Learner)
    assert_type(load(str(folder / "learner.npz"), model), Sequential)
    assert_type(replica(Linear(2, 3, rng=0)), Linear)
    assert_type(minigrad.__version__, str)
