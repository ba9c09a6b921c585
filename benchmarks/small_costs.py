"""Steps other than training steps: an identity layer, and a gradient check."""

import numpy as np

from minigrad import Layer, Linear, Sequential, gradcheck


def same(X):
    """Return X, and a `backward` that returns dY: a layer without any computation."""
    return X, lambda dY: dY


class Same(Layer):
    """The identity as a Layer, with shapes checked in both directions."""

    def forward(self, X):
        """Return X, and a `backward` that returns dY."""
        return same(X)


def closures(kind, depth):
    """Return a function that goes forward and backward through `depth` identity layers.

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
    """Return a function that checks all gradients of a linear layer of the given width."""
    layer, X = Linear(width, width, rng=0), np.random.default_rng(1).standard_normal((5, width))
    return lambda: float(not gradcheck(layer, X).ok)
