"""Parameters and buffers, the arrays that a model keeps from one pass to the next.

Holds Parameter, an array with its gradient, and Buffer, an array that is saved and never trained. The search
for them inside a model is in parts.py, their updates are in optimizers.py. Built in chapter 04.
"""

import numpy as np

from minigrad.foreign_names import Answering
from minigrad.settings import require_float_type
from minigrad.shapes import ShapeError


def _as_floats(data):
    """Copy data to a new array of floats, since training changes the array in place."""
    try:
        array = data if hasattr(data, "__array_function__") else np.asarray(data)
    except ValueError:
        raise ShapeError("a parameter must be an array: all rows must have the same length.") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a parameter must hold numbers, got an array of {array.dtype}.")
    return array.astype(require_float_type(array.dtype) if array.dtype.kind == "f" else float)


class _Holder:
    """The base class of Parameter and Buffer: an array that keeps its shape."""

    __slots__ = ("__weakref__", "_data")
    __array_ufunc__ = None  # NumPy raises an error for a Parameter: use parameter.data

    def __init__(self, data):
        self._data = _as_floats(data)

    @property
    def data(self):
        """The array; a newly assigned array must have the same shape."""
        return self._data

    @data.setter
    def data(self, array):
        self._data = self._require_shape("data", array)

    def _require_shape(self, name, array):
        """Return the array; raise ShapeError unless it holds floats and has the shape of data."""
        is_float = getattr(getattr(array, "dtype", None), "kind", "") == "f"
        if not is_float or array.shape != self.data.shape:
            got = array.shape if is_float else f"{type(array).__name__}: write {name}[...] = numbers"
            raise ShapeError(f"{name} must be an array of floats of shape {self.data.shape}, got {got}.")
        return array

    @property
    def shape(self):
        """The shape of data."""
        return self.data.shape

    def convert(self, function):
        """Replace data by function(data), for another type or device."""
        self.data = function(self.data)

    def __repr__(self):
        return f"{type(self).__name__}{self.shape}"


class Parameter(_Holder, Answering):
    """An array that is trained, with the gradient of the loss with respect to it.

    Parameters
    ----------
    data : array or nested list
        The values. Integers become float64; float32 stays float32.
    trainable : bool
        False freezes the parameter: gradients are still added, but optimizers skip it.

    Attributes
    ----------
    data : array
        The values, which optimizers change in place.
    grad : array of data's shape
        The sum of the gradients since the last zero_grad; backward functions add to it.
    trainable : bool

    Raises
    ------
    TypeError
        If data holds anything but real numbers.
    ShapeError
        If data is a ragged list, or an array of another shape is assigned to data or grad.

    References
    ----------
    Chapter 04.

    Examples
    --------
    >>> b = Parameter([1.0, 2.0])
    >>> b.grad += 3.0
    >>> b.grad
    array([3., 3.])
    """

    __slots__ = ("_grad", "trainable")  # a misspelt attribute is an error

    def __init__(self, data, trainable=True):
        super().__init__(data)
        self._grad, self.trainable = None, trainable

    @property
    def grad(self):
        """The sum of the gradients since the last zero_grad; created when first used."""
        if self._grad is None:
            self._grad = np.zeros_like(self.data)
        return self._grad

    @grad.setter
    def grad(self, array):
        self._grad = self._require_shape("grad", array)

    def zero_grad(self):
        """Set the gradient to zero, in place."""
        self.grad[...] = 0.0

    def convert(self, function):
        """Replace data and grad by function(data) and function(grad), for another type or device."""
        super().convert(function)
        if self._grad is not None:
            self.grad = function(self.grad)


class Buffer(_Holder):
    """An array that is part of a model and saved with it, but not trained, such as a running average.

    Parameters
    ----------
    data : array or nested list

    References
    ----------
    Chapter 10.

    Examples
    --------
    >>> Buffer([0.0, 0.0])
    Buffer(2,)
    """

    __slots__ = ()
