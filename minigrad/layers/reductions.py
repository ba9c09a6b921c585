"""Layers without parameters that change the shape: Sum, Mean, Max, Flatten, Reshape.

What was summed forward is repeated backward. Axes count from the batch, which is axis 0 and stays. Leaves out
pooling over windows (convolution.py). Sum is built in chapter 04, the rest in chapter 05.
"""

import math

import numpy as np

from minigrad.backend import float_type_of
from minigrad.layer import Layer
from minigrad.settings import require_integer
from minigrad.shapes import ShapeError, require_array, require_axis


class _Reduction(Layer):
    """What Sum, Mean and Max share: the axis that disappears."""

    def __init__(self, axis=1):
        self.axis = require_integer(f"axis of {type(self).__name__}", axis, least=None)

    def check_input(self, X):
        """Refuse an axis that X does not have, the batch axis, and an axis with nothing in it."""
        shape = require_axis(self, X, self.axis)
        if shape[self.axis] == 0:
            raise ShapeError(f"{self} needs at least one number in that axis, got X of shape {shape}.")

    def __repr__(self):
        return f"{type(self).__name__}(axis={self.axis})"


class Sum(_Reduction):
    """Add up along one axis.

    Parameters
    ----------
    axis : int
        The axis that disappears; not the batch.

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
        """Return the sum along the axis and the way back."""
        shape, axis = X.shape, self.axis
        return X.sum(axis=axis), lambda dY: np.broadcast_to(np.expand_dims(dY, axis), shape).copy()


class Mean(_Reduction):
    """Average along one axis.

    Parameters
    ----------
    axis : int
        The axis that disappears; not the batch.

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
        """Return the mean along the axis and the way back."""
        Y, backward = Sum.forward(self, X)
        size = X.shape[self.axis]
        return Y / size, lambda dY: backward(dY / size)


class Max(_Reduction):
    """Take the largest entry along one axis.

    Parameters
    ----------
    axis : int
        The axis that disappears; not the batch.

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
        """Return the maximum along the axis and the way back."""
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
        The new axes after the batch; one may be -1, to be worked out.

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
        for size in shape:
            require_integer("each size of Reshape", size, least=-1)
        if 0 in shape or shape.count(-1) > 1:
            wanted = "at least 1, and one of them may be -1"
            raise ValueError(f"the sizes of a Reshape are {wanted}; got {shape}.")
        self.shape = shape

    def check_input(self, X):
        """Refuse an example that does not have as many entries as the new shape."""
        shape = require_array(self, X)
        size, wanted = math.prod(shape[1:]), abs(math.prod(self.shape))
        if len(shape) == 0 or 0 in shape or (size % wanted if -1 in self.shape else size != wanted):
            raise ShapeError(f"{self} cannot hold the {size} entries of an example: X has shape {shape}.")

    def forward(self, X):
        """Return X with other axes and the way back."""
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
