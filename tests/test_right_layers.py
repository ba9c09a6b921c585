"""gradcheck never cries wolf: of many checks of right layers, none says wrong or suspicious.

The tests make some thousand checks; `python -m tests.test_right_layers 20000` makes as many as it is told,
each with other numbers, prints what is called wrong, and how many that are.
"""

import sys

import numpy as np
import pytest

from minigrad.check.checker import gradcheck
from minigrad.layer import as_layer
from minigrad.layers.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from minigrad.layers.attention import MultiHeadAttention
from minigrad.layers.combinators import Parallel, Residual
from minigrad.layers.convolution import Conv2d, MaxPool2d
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import BatchNorm, Dropout, LayerNorm
from minigrad.layers.reductions import Flatten, Max, Mean, Reshape, Sum
from minigrad.losses import bce_with_logits, cosine_distance, cross_entropy, mse
from minigrad.parameter import Parameter
from tests.contract import ROWS

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


def small_conv_net(rng):
    """Return a network for images of 5 by 5, whose empty regions are ties and kinks."""
    conv = Reshape(1, 5, 5) >> Conv2d(1, 2, padding="same", rng=rng) >> ReLU()
    return conv >> MaxPool2d(2) >> Flatten() >> Linear(8, 3, rng=rng)


# Beside the table: how X is drawn, and what is made for it. Each is tried on every kind of numbers.
OTHERS = {
    "deep ReLU network": (
        3,
        lambda rng: (
            Linear(3, 4, rng=rng) >> ReLU() >> Linear(4, 4, rng=rng) >> ReLU() >> Linear(4, 2, rng=rng)
        ),
    ),
    "ReLU without bias": (
        3,
        lambda rng: Linear(3, 4, bias=False, rng=rng) >> ReLU() >> Linear(4, 2, rng=rng),
    ),
    "convolutional network": (25, small_conv_net),
    "layer norm and ReLU": (3, lambda rng: Linear(3, 4, rng=rng) >> LayerNorm(4) >> ReLU()),
    "batch norm and ReLU": (3, lambda rng: Linear(3, 4, rng=rng) >> BatchNorm(4) >> ReLU()),
    "Dropout network": (
        3,
        lambda rng: Linear(3, 4, rng=rng) >> ReLU() >> Dropout(0.3, rng=rng) >> Linear(4, 2, rng=rng),
    ),
    "heads": (12, lambda rng: Reshape(3, 4) >> MultiHeadAttention(4, 2, rng=rng) >> Flatten()),
}

NUMBERS = {
    "ordinary": lambda X, rng: 10 ** rng.uniform(-3, 2) * X,
    "with zeros": lambda X, rng: X * (rng.uniform(size=X.shape) < 0.4),
    "digits": lambda X, rng: np.clip(np.round(4 * X), 0, 16) / 16,
    "nothing": lambda X, rng: 0 * X,
    "large": lambda X, rng: 10 ** rng.uniform(3, 4) * X,
    "tiny": lambda X, rng: 10 ** rng.uniform(-9, -6) * X,
}


KINDS = [*LAYERS, *OTHERS, *ROWS]


def drawn(number, kind=None, words=None):
    """Return one check: what it is called, a right layer, X, and how many entries are looked at."""
    rng = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)] if kind is None else next(k for k in KINDS if str(k) == kind)
    words = words or list(NUMBERS)[number // len(KINDS) % len(NUMBERS)]
    if isinstance(kind, str):
        width, make = OTHERS.get(kind) or (3, LAYERS[kind])
        X, layer = rng.normal(size=(rng.integers(1, 17 if width == 3 else 3), width)), make(rng)
    else:
        X, layer = kind.sample(number), kind.layer(number)
    many = X if isinstance(X, tuple) else (X,)
    many = tuple(NUMBERS[words](x, rng).astype(x.dtype) if x.dtype.kind == "f" else x for x in many)
    X = many if isinstance(X, tuple) else many[0]
    return f"{kind}, {words}, number {number}", layer, X, int(rng.choice([3, 6, 12, 40]))


def judged(number, kind=None, words=None):
    """Return what gradcheck says of one right layer, if that is not what it ought to say, or ""."""
    words, layer, X, max_entries = drawn(number, kind, words)
    try:
        as_layer(layer)(X)
    except ValueError:
        return ""  # cosine_distance wants no rows of zeros, and says so
    report = gradcheck(layer, X, rng=number, max_entries=max_entries)
    is_fine = report.ok and {row.verdict for row in report.rows} <= {"ok"}
    return "" if is_fine else f"{words}, max_entries {max_entries}\n{report}"


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_right_layers_of_every_kind_pass_on_every_kind_of_numbers(first):
    assert [words for number in range(first, first + 100) if (words := judged(number))] == []


# Where nudging says least: saturated attention, kinks behind kinks, numbers far below the step.
HARD = [
    ("cosine_distance", "ordinary", 761),
    ("cosine_distance", "large", 2643),
    ("ReLU without bias", "digits", 1619),
    ("cosine_distance", "large", 1851),
    ("cosine_distance", "large", 1919),
    ("cosine_distance", "ordinary", 2145),
    ("cosine_distance", "ordinary", 18417),
    ("MultiHeadAttention with lengths", "large", 3788),
    ("dead start", "large", 3856),
    ("Max", "tiny", 3823),
    ("dead start", "tiny", 4483),
    ("MultiHeadAttention causal, with lengths", "large", 5097),
    ("ReLU without bias", "digits", 5473),
    ("deep ReLU network", "tiny", 5799),
    ("MultiHeadAttention of one step", "large", 7060),
    ("RNN to each end", "large", 7696),
    ("dead start", "large", 12670),
    ("deep ReLU network", "tiny", 13647),
    ("deep ReLU network", "tiny", 14301),
    ("LSTM of one step", "large", 15550),
    ("dead start", "tiny", 15601),
]


@pytest.mark.parametrize("kind, words, number", HARD)
def test_right_layers_pass_where_nudging_says_least(kind, words, number):
    assert judged(number, kind, words) == ""


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


if __name__ == "__main__":
    first, last = (0, int(sys.argv[1])) if len(sys.argv) == 2 else map(int, sys.argv[1:])
    false_alarms = 0
    for number in range(first, last):
        if words := judged(number):
            false_alarms += 1
            print(words, flush=True)
    print(f"{false_alarms} false alarms in {last - first} checks of right layers")
