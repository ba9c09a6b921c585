"""Twelve wrong layers and their correct originals, for chapter 03; broken gradients for its exercise 4.

Each layer is a small class of two methods, forward(X) -> Y and backward(X, dY) -> dX; a layer with weights
keeps them in W.data and adds their gradient to W.grad. A wrong layer differs from its original by one
mistake. The larger collection that tests the library's checker is in `tests/planted_bugs.py`.
"""
# ruff: noqa: D102 (forward and backward are the same two methods everywhere, and readers see their source)

import numpy as np

from minigrad.parameter import Parameter

GRAMS, MILLIGRAMS = 1e6, 1e9  # per tonne


class Suspect:
    """A layer of two methods; calling it returns (Y, backward), the form of chapter 04."""

    def __call__(self, X):
        """Return Y and a function, dY -> dX."""
        return self.forward(X), lambda dY: self.backward(X, dY)


# The correct originals.


class Square(Suspect):
    """Square each number."""

    def forward(self, X):
        return X * X

    def backward(self, X, dY):
        return 2 * X * dY


class Circle(Suspect):
    """Radius in, area out."""

    def forward(self, X):
        return np.pi * X * X

    def backward(self, X, dY):
        return 2 * np.pi * X * dY


class Mean(Suspect):
    """The mean of each row, (batch, n_in) -> (batch, 1)."""

    def forward(self, X):
        return X.mean(axis=1, keepdims=True)

    def backward(self, X, dY):
        return np.repeat(dY, X.shape[1], axis=1) / X.shape[1]


class Sigmoid(Suspect):
    """Map each number to one between 0 and 1."""

    def forward(self, X):
        return 1 / (1 + np.exp(-X))

    def backward(self, X, dY):
        Y = self.forward(X)
        return Y * (1 - Y) * dY


class Softmax(Suspect):
    """Turn each row into shares that sum to 1."""

    def forward(self, X):
        E = np.exp(X)
        return E / E.sum(axis=1, keepdims=True)

    def backward(self, X, dY):
        Y = self.forward(X)
        return Y * (dY - (dY * Y).sum(axis=1, keepdims=True))


class Shift(Suspect):
    """Move every column one place to the right; the last one becomes the first."""

    def forward(self, X):
        return np.roll(X, 1, axis=1)

    def backward(self, X, dY):
        return np.roll(dY, -1, axis=1)


class ToTonnes(Suspect):
    """Grams in, tonnes out: tiny slopes."""

    def forward(self, X):
        return X / GRAMS

    def backward(self, X, dY):
        return dY / GRAMS


class ToMilligrams(Suspect):
    """Tonnes in, milligrams out: huge slopes."""

    def forward(self, X):
        return X * MILLIGRAMS

    def backward(self, X, dY):
        return dY * MILLIGRAMS


class Gain(Suspect):
    """Each column times its own weight."""

    def __init__(self):
        self.W = Parameter([0.5, -1.5, 2.0])  # (n_in,)

    def forward(self, X):
        return X * self.W.data

    def backward(self, X, dY):
        self.W.grad += (X * dY).sum(axis=0)
        return self.W.data * dY


class Tanh(Suspect):
    """Map each number to one between -1 and 1."""

    def forward(self, X):
        return np.tanh(X)

    def backward(self, X, dY):
        return (1 - np.tanh(X) ** 2) * dY


class Relu(Suspect):
    """Keep what is positive; the rest becomes 0."""

    def forward(self, X):
        return np.maximum(X, 0)

    def backward(self, X, dY):
        return (X > 0) * dY


# The wrong layers: each method below differs from its original by one mistake.


class MeanKeepsItsAxis(Mean):
    """The gradient of a row is not repeated for its entries."""

    def backward(self, X, dY):
        return dY / X.shape[1]


class SquareForgetsTheTwo(Square):
    """A factor is missing."""

    def backward(self, X, dY):
        return X * dY


class CircleRoundsPi(Circle):
    """The backward pass has fewer digits than the forward pass."""

    def backward(self, X, dY):
        return 2 * 3.14 * X * dY


class SigmoidForgetsDY(Sigmoid):
    """dY is not used."""

    def backward(self, X, dY):
        Y = self.forward(X)
        return Y * (1 - Y)


class SoftmaxTakesThePlainMean(Softmax):
    """The mean of dY is not weighted by Y."""

    def backward(self, X, dY):
        Y = self.forward(X)
        return Y * (dY - dY.mean(axis=1, keepdims=True))


class ShiftGoesOn(Shift):
    """The backward pass moves the columns to the right, too."""

    def backward(self, X, dY):
        return np.roll(dY, 1, axis=1)


class ToTonnesTwice(ToTonnes):
    """The backward pass divides once too often."""

    def backward(self, X, dY):
        return dY / GRAMS / GRAMS


class GainTakesTheMean(Gain):
    """The weights' gradient is a mean over the batch where a sum belongs."""

    def backward(self, X, dY):
        self.W.grad += (X * dY).mean(axis=0)
        return self.W.data * dY


class GainOverwrites(Gain):
    """The weights' gradient is replaced, not added to."""

    def backward(self, X, dY):
        self.W.grad = (X * dY).sum(axis=0)
        return self.W.data * dY


class TanhOnSelf(Tanh):
    """The backward pass uses the result of the last call, from wherever."""

    def forward(self, X):
        self.Y = np.tanh(X)
        return self.Y

    def backward(self, X, dY):
        return (1 - self.Y**2) * dY


class ReluWritesIntoX(Relu):
    """The forward pass changes its caller's array."""

    def forward(self, X):
        X[X < 0] = 0
        return X.copy()


class ReluWritesIntoDY(Relu):
    """The backward pass changes its caller's array."""

    def backward(self, X, dY):
        dY *= X > 0
        return dY


RIGHT = (
    *(Square, Circle, Mean, Sigmoid, Softmax, Shift),
    *(ToTonnes, ToMilligrams, Gain, Tanh, Relu),
)
A_AND_B = Softmax, SoftmaxTakesThePlainMean  # the chapter's first puzzle: which of the two is wrong
WRONG = (
    *(MeanKeepsItsAxis, SquareForgetsTheTwo, CircleRoundsPi),
    *(SigmoidForgetsDY, ShiftGoesOn, SoftmaxTakesThePlainMean, ToTonnesTwice),
    *(GainTakesTheMean, GainOverwrites, TanhOnSelf, ReluWritesIntoX, ReluWritesIntoDY),
)


# Broken gradients to be named, each with the expected one.

NAMES = (
    *("factor missing", "sign flipped", "mean where a sum belongs", "transposed", "dY not used"),
    *(
        "not summed over the batch",
        "own slope missing",
        "overwritten",
        "wrong places",
        "last call remembered",
    ),
)


def broken_gradients(rng):
    """Draw one broken gradient for each of eight names, in random order.

    Parameters
    ----------
    rng : int or numpy.random.Generator

    Returns
    -------
    dict of str to (str, dict of str to array)
        By letter: the name of the bug, and the arrays that show it.
    """
    rng = np.random.default_rng(rng)
    X, dY, W = rng.uniform(1, 3, size=(5, 2)), rng.uniform(1, 3, size=(5, 2)), rng.uniform(1, 3, size=(2, 2))
    dW, db = X.T @ dY, dY.sum(axis=0)
    cases = {
        "sign flipped": {"expected dX": dY @ W.T, "found dX": -dY @ W.T},
        "mean where a sum belongs": {"expected dW": dW, "found dW": dW / len(X)},
        "transposed": {"expected dW": dW, "found dW": dW.T},
        "dY not used": {"expected dX": 2 * X * dY, "found dX": 2 * X, "found dX, with 10 dY for dY": 2 * X},
        "not summed over the batch": {"expected db": db, "found db": dY},
        "own slope missing": {"dY": dY, "expected dX": 2 * X * dY, "found dX": dY},
        "overwritten": {"expected dW": dW, "found dW": dW, "found dW, after a second backward": dW},
        "wrong places": {"expected dX": 3 * dY, "found dX": 3 * dY[::-1]},
    }
    order = rng.permutation(list(cases))
    return {letter: (str(name), cases[str(name)]) for letter, name in zip("ABCDEFGH", order, strict=True)}
