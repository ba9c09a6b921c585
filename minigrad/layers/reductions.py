"""Layers without parameters that change the shape: Sum, Mean, Max, Flatten, Reshape.

A sum in the forward pass is a repetition in the backward pass. Axis 0, the batch, is never reduced. Pooling
over windows is in convolution.py. Sum is built in chapter 04, the rest in chapter 05.
"""

import numpy as np

from minigrad.backend import float_type_of
from minigrad.layer import Layer
from minigrad.shapes import require_axis


class _Reduction(Layer):
    """The base class of Sum, Mean and Max: the axis that is reduced."""

    def __init__(self, axis=1):
        self.axis = axis

    def check_input(self, X):
        """Raise ShapeError for the batch axis, and for an axis that X does not have."""
        require_axis(self, X, self.axis)

    def __repr__(self):
        return f"{type(self).__name__}(axis={self.axis})"


class Sum(_Reduction):
    """Sum along one axis.

    Parameters
    ----------
    axis : int
        The axis to reduce; not the batch axis.

    Notes
    -----
    Y = Σ X along the axis.
    dX = dY repeated along the axis.

    References
    ----------
    Thinc, "Concept and Design" (reduce_sum). Chapter 04.

    Examples
    --------
    >>> Y, backward = Sum()(np.array([[1.0, 2.0, 3.0]]))
    >>> Y, backward(np.array([5.0]))
    (array([6.]), array([[5., 5., 5.]]))
    """

    def forward(self, X):
        """Return the sum along the axis and the backward function."""
        shape, axis = X.shape, self.axis
        return X.sum(axis=axis), lambda dY: np.broadcast_to(np.expand_dims(dY, axis), shape).copy()


class Mean(_Reduction):
    """Average along one axis.

    Parameters
    ----------
    axis : int
        The axis to reduce; not the batch axis.

    Notes
    -----
    Y = Σ X / size along the axis.
    dX = dY / size, repeated along the axis.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Mean()(np.array([[1.0, 2.0, 3.0]]))
    >>> Y, backward(np.array([6.0]))
    (array([2.]), array([[2., 2., 2.]]))
    """

    def forward(self, X):
        """Return the mean along the axis and the backward function."""
        Y, backward = Sum.forward(self, X)
        size = X.shape[self.axis]
        return Y / size, lambda dY: backward(dY / size)


class Max(_Reduction):
    """Take the largest entry along one axis.

    Parameters
    ----------
    axis : int
        The axis to reduce; not the batch axis.

    Notes
    -----
    Y = max X along the axis.
    dX = dY at the largest entry, 0 elsewhere; equal largest entries share it.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Max()(np.array([[1.0, 7.0, 3.0]]))
    >>> Y, backward(np.array([5.0]))
    (array([7.]), array([[0., 5., 0.]]))
    """

    def forward(self, X):
        """Return the maximum along the axis and the backward function."""
        axis = self.axis
        Y = X.max(axis=axis)
        largest = np.expand_dims(Y, axis) == X
        share = largest / largest.sum(axis=axis, keepdims=True).astype(float_type_of(X))
        return Y, lambda dY: np.expand_dims(dY, axis) * share


class Reshape(Layer):
    """Give every example a new shape.

    Parameters
    ----------
    *shape : int
        The new axes after the batch; one may be -1, which is inferred.

    Notes
    -----
    Y = X with other axes.
    dX = dY with X's axes.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Reshape(2, 2)(np.zeros((5, 4)))
    >>> Y.shape, backward(Y).shape
    ((5, 2, 2), (5, 4))
    """

    def __init__(self, *shape):
        self.shape = shape

    def forward(self, X):
        """Return X with other axes and the backward function."""
        shape = X.shape
        return X.reshape(shape[0], *self.shape), lambda dY: dY.reshape(shape)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(str, self.shape))})"


class Flatten(Reshape):
    """Make each example one row: (batch, …) -> (batch, entries).

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Flatten()(np.zeros((5, 8, 8)))[0].shape
    (5, 64)
    """

    def __init__(self):
        super().__init__(-1)

    def __repr__(self):
        return "Flatten()"
