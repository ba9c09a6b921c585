"""Steps whose cost is not a training step's: a closure of a layer, and a gradient check."""

import numpy as np

from minigrad import Layer, Linear, Sequential, gradcheck


def same(X):
    """Return X, and a way back that returns dY: a layer that costs nothing but being one."""
    return X, lambda dY: dY


class Same(Layer):
    """The same as a Layer, with shapes checked both ways."""

    def forward(self, X):
        """Return X, and a way back that returns dY."""
        return same(X)


def closures(kind, depth):
    """Return a function that goes forward and back through that many layers that do nothing.

    Parameters
    ----------
    kind : str
        "function" or "Layer".
    depth : int
    """
    model = Sequential(*({"function": lambda: same, "Layer": Same}[kind]() for _ in range(depth)))
    X = np.ones((5, 3), dtype=np.float32)

    def take():
        Y, backward = model(X)
        backward(Y)

    return take


def check(width):
    """Return a function that checks the gradients of a linear layer of that width, both ways."""
    layer, X = Linear(width, width, rng=0), np.random.default_rng(1).standard_normal((5, width))
    return lambda: float(not gradcheck(layer, X).ok)
