"""gradcheck never cries wolf: of two thousand checks of right layers, none says wrong or suspicious."""

import numpy as np
import pytest

from minigrad.gradcheck import gradcheck
from minigrad.layers.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from minigrad.layers.combinators import Parallel, Residual
from minigrad.layers.linear import Linear
from minigrad.layers.reductions import Flatten, Max, Mean, Sum
from minigrad.losses import bce_with_logits, cosine_distance, cross_entropy, mse
from minigrad.parameter import Parameter

CHECKS = 2000


def layer_norm(rng):
    """Return layer norm with a gain and a bias."""
    gain, bias = Parameter(rng.normal(size=3)), Parameter(rng.normal(size=3))

    def layer(X):
        sigma = np.sqrt(X.var(axis=-1, keepdims=True) + 1e-5)
        Z = (X - X.mean(axis=-1, keepdims=True)) / sigma

        def backward(dY):
            gain.grad += (dY * Z).sum(axis=0)
            bias.grad += dY.sum(axis=0)
            D = dY * gain.data
            return (D - D.mean(axis=-1, keepdims=True) - Z * (D * Z).mean(axis=-1, keepdims=True)) / sigma

        return Z * gain.data + bias.data, backward

    return layer


def batch_norm(rng):
    """Return batch norm, which couples the examples of a batch."""

    def layer(X):
        sigma = np.sqrt(X.var(axis=0) + 1e-5)
        Z = (X - X.mean(axis=0)) / sigma
        return Z, lambda dY: (dY - dY.mean(axis=0) - Z * (dY * Z).mean(axis=0)) / sigma

    return layer


def attention(rng):
    """Return self-attention, whose bias of the keys has a gradient of exactly zero."""
    W_query, W_key, W_value = (Parameter(rng.normal(size=(3, 2))) for _ in range(3))
    b_key = Parameter(rng.normal(size=2))

    def layer(X):
        Q, K, V = X @ W_query.data, X @ W_key.data + b_key.data, X @ W_value.data
        S = Q @ K.T / np.sqrt(2)
        P = np.exp(S - S.max(axis=-1, keepdims=True))
        P /= P.sum(axis=-1, keepdims=True)

        def backward(dY):
            dP = dY @ V.T
            dS = P * (dP - (dP * P).sum(axis=-1, keepdims=True)) / np.sqrt(2)
            dQ, dK, dV = dS @ K, dS.T @ Q, P.T @ dY
            W_query.grad += X.T @ dQ
            W_key.grad += X.T @ dK
            W_value.grad += X.T @ dV
            b_key.grad += dK.sum(axis=0)
            return dQ @ W_query.data.T + dK @ W_key.data.T + dV @ W_value.data.T

        return P @ V, backward

    return layer


def dead_start(rng):
    """Return a network whose hidden units all stand exactly at the kink."""
    hidden = Linear(3, 4, rng=rng)
    hidden.W.data[...] = 0.0
    return hidden >> ReLU() >> Linear(4, 2, rng=rng)


LAYERS = {
    "Linear": lambda rng: Linear(3, 2, rng=rng),
    "ReLU": lambda rng: ReLU(),
    "Tanh": lambda rng: Tanh(),
    "Sigmoid": lambda rng: Sigmoid(),
    "GELU": lambda rng: GELU(),
    "Softmax": lambda rng: Softmax(),
    "Sum": lambda rng: Sum(),
    "Mean": lambda rng: Mean(),
    "Max": lambda rng: Max(),
    "Flatten": lambda rng: Flatten(),
    "Residual": lambda rng: Residual(Tanh()),
    "Parallel": lambda rng: Parallel(Tanh(), ReLU()),
    "ReLU network": lambda rng: Linear(3, 5, rng=rng) >> ReLU() >> Linear(5, 2, rng=rng),
    "Softmax network": lambda rng: Linear(3, 5, rng=rng) >> Tanh() >> Linear(5, 2, rng=rng) >> Softmax(),
    "dead start": dead_start,
    "layer norm": layer_norm,
    "batch norm": batch_norm,
    "attention": attention,
    "mse": lambda rng: lambda Y: mse(Y, np.full_like(Y, 0.3)),
    "cross_entropy": lambda rng: lambda Y: cross_entropy(Y, np.arange(len(Y)) % 3),
    "bce_with_logits": lambda rng: lambda Y: bce_with_logits(Y, np.full_like(Y, 0.3)),
    "cosine_distance": lambda rng: lambda Y: cosine_distance(Y, np.full_like(Y, 0.3) * [1, 2, 3]),
}


@pytest.mark.parametrize("first", range(len(LAYERS)), ids=list(LAYERS))
def test_right_layers_of_every_scale_and_batch_are_called_right(first):
    make = list(LAYERS.values())[first]
    for number in range(first, CHECKS, len(LAYERS)):
        rng = np.random.default_rng(number)
        scale, batch = 10 ** rng.uniform(-3, 2), rng.integers(1, 17)
        X = scale * rng.normal(size=(batch, 3))
        report = gradcheck(make(rng), X, rng=rng, max_entries=rng.choice([6, 12, 300]))
        assert {row.verdict for row in report.rows} == {"ok"} and report.ok, (
            f"scale {scale}, batch {batch}\n{report}"
        )
