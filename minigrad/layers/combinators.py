"""Layers made of layers: chain, Residual, Parallel, Watch.

Leaves out Sequential, which stands in layer.py. Built in chapter 05.
"""

import numpy as np

from minigrad.layer import Layer, Sequential, as_layer
from minigrad.shapes import ShapeError, shape_of


def chain(*layers):
    """Return the layer that runs all of them, one after the other: a Sequential under its first name.

    Parameters
    ----------
    *layers : Layer or function, X -> (Y, backward)
        At least one.

    Returns
    -------
    Sequential

    Raises
    ------
    TypeError
        If there is none, or something else is among them.

    Notes
    -----
    For two layers: Y = second(first(X)), dX = backward_first(backward_second(dY)): the chain rule, hence the
    name. Python has no `f >> g` for two plain functions; this is how to write it.

    References
    ----------
    Thinc, "Concept and Design". Chapter 05.

    Examples
    --------
    >>> double = lambda X: (2 * X, lambda dY: 2 * dY)
    >>> Y, backward = chain(double, double)(np.array([1.0]))
    >>> Y, backward(np.array([1.0]))
    (array([4.]), array([4.]))
    """
    if not layers:
        raise TypeError("chain needs at least one layer: write chain(first, second), or first >> second.")
    return Sequential(*layers)


class Residual(Layer):
    """Add a layer's result to its input: Y = X + layer(X).

    Parameters
    ----------
    layer : Layer or function whose Y has X's shape

    Raises
    ------
    ShapeError
        If the layer changes the shape.

    Notes
    -----
    Y = X + F(X).
    dX = dY + backward_F(dY): one path around the layer, one through it.

    References
    ----------
    He, Zhang, Ren, Sun, "Deep residual learning for image recognition" (2016). Chapter 05.

    Examples
    --------
    >>> Y, backward = Residual(lambda X: (2 * X, lambda dY: 2 * dY))(np.array([1.0]))
    >>> Y, backward(np.array([1.0]))
    (array([3.]), array([3.]))
    """

    def __init__(self, layer):
        self.layer = as_layer(layer)

    def forward(self, X, training=False):
        """Return X + F(X) and the way back."""
        F, backward_F = self.layer(X, training)
        if shape_of(F) != shape_of(X):
            end = f"let the layer inside end with X's shape, of width {shape_of(X)[-1]}."
            raise ShapeError(f"{self} adds X of shape {shape_of(X)} and F(X) of shape {shape_of(F)}: {end}")
        return X + F, lambda dY: dY + backward_F(dY)

    def open(self, X, Y, rng):
        """Initialize the layer inside: its width is that of X, to which it is added, and not that of Y."""
        self.layer.open_all(X, X, rng)

    def __repr__(self):
        return f"Residual({self.layer})"


class Parallel(Layer):
    """Give the same X to several layers and put their results side by side in the last axis.

    Parameters
    ----------
    *layers : Layer or function, all with equal axes but the last

    Notes
    -----
    Y = [F₁(X) | F₂(X) | …].
    dX = backward₁(dY₁) + backward₂(dY₂) + …: what is read in several places gets the sum of their gradients.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> double, keep = lambda X: (2 * X, lambda dY: 2 * dY), lambda X: (X, lambda dY: dY)
    >>> Y, backward = Parallel(double, keep)(np.array([[1.0, 3.0]]))
    >>> Y, backward(np.array([[1.0, 1.0, 10.0, 10.0]]))
    (array([[2., 6., 1., 3.]]), array([[12., 12.]]))
    """

    def __init__(self, *layers):
        self.layers = [as_layer(layer) for layer in layers]

    def forward(self, X, training=False):
        """Return the results side by side and the way back."""
        results, backwards = zip(*(layer(X, training) for layer in self.layers), strict=True)
        if len({shape_of(Y)[:-1] for Y in results}) > 1:
            shapes = ", ".join(str(shape_of(Y)) for Y in results)
            raise ShapeError(f"{self} needs results that differ in the last axis alone, got shapes {shapes}.")
        ends = np.cumsum([shape_of(Y)[-1] for Y in results])[:-1].tolist()

        def backward(dY):
            parts = zip(backwards, np.split(dY, ends, axis=-1), strict=True)
            first, *others = (layer_backward(part) for layer_backward, part in parts)
            return None if first is None else sum(others, first)  # an X of integers has no gradient

        return np.concatenate(results, axis=-1), backward

    def open(self, X, Y, rng):
        """Initialize every branch; none of them alone is as wide as Y, so each must know its width."""
        for layer in self.layers:
            layer.open_all(X, None, rng)

    def __repr__(self):
        return f"Parallel({', '.join(map(repr, self.layers))})"


class Watch(Layer):
    """Change nothing, and show what passes: calls see("forward", X), and later see("backward", dY).

    Parameters
    ----------
    see : function, (direction, array) -> None

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Watch(print)(np.array([1.0]))
    forward [1.]
    >>> dX = backward(np.array([2.0]))
    backward [2.]
    """

    def __init__(self, see):
        self.see = see

    def forward(self, X):
        """Return X itself and a way back that returns dY itself, showing both."""
        self.see("forward", X)

        def backward(dY):
            self.see("backward", dY)
            return dY

        return X, backward
