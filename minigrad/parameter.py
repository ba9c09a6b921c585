"""What a model remembers between two passes: parameters and buffers.

Holds Parameter, an array with its gradient, and Buffer, an array that is saved and never trained. Leaves out
how they are found inside a model (parts.py) and how they are changed (optimizers.py). Built in chapter 04.
"""

import numpy as np

from minigrad.habits import Answering
from minigrad.settings import require_float_type
from minigrad.shapes import ShapeError


def _as_floats(data):
    """Return a copy of data as an array of floats; a copy, since training changes it in place."""
    try:
        array = data if hasattr(data, "__array_function__") else np.asarray(data)
    except ValueError:
        raise ShapeError("a parameter is an array: write rows of one length, these differ.") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a parameter holds numbers, got an array of {array.dtype}.")
    return array.astype(require_float_type(array.dtype) if array.dtype.kind == "f" else float)


class _Holder:
    """What a Parameter and a Buffer share: an array."""

    __slots__ = ("data", "__weakref__")

    def __init__(self, data):
        self.data = _as_floats(data)

    @property
    def shape(self):
        """The shape of data."""
        return self.data.shape

    def convert(self, function):
        """Replace data by function(data): another type, another device."""
        self.data = function(self.data)

    def __repr__(self):
        return f"{type(self).__name__}{self.shape}"


class Parameter(_Holder, Answering, habits="requires_grad requires_grad_ backward detach numpy", strict=True):
    """An array that learns, together with the gradient of the loss with respect to it.

    Parameters
    ----------
    data : array or nested list
        The values. Integers become float64; float32 stays float32.
    trainable : bool
        False freezes it: gradients still arrive, optimizers pass it by.

    Attributes
    ----------
    data : array
        The values, changed in place by optimizers.
    grad : array of data's shape
        Sum of the gradients since the last zero_grad; backward functions add to it.
    trainable : bool

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

    __slots__ = ("_grad", "_is_lent", "trainable")  # a misspelt attribute is an error

    def __init__(self, data, trainable=True):
        super().__init__(data)
        self._grad = np.zeros_like(self.data)  # None stands for zero
        self._is_lent = False  # True once somebody may hold it
        self.trainable = trainable

    @property
    def grad(self):
        """Sum of the gradients since the last zero_grad: an array, and the same one from now on."""
        self._is_lent = True
        return self.peek()

    @grad.setter
    def grad(self, array):
        if getattr(array, "shape", None) != self.data.shape:
            came = getattr(array, "shape", array)
            raise ShapeError(f"grad has the shape of data, {self.data.shape}; got {came}.")
        self._grad, self._is_lent = array, True

    def peek(self):
        """Return grad to look at and not to keep: who keeps it asks for `grad`."""
        if self._grad is None:
            self._grad = np.zeros_like(self.data)
        return self._grad

    def add(self, gradient):
        """Do `grad += gradient` with an array made for this call, which becomes grad itself if that is zero.

        Examples
        --------
        >>> b = Parameter([1.0, 2.0])
        >>> b.add(np.array([3.0, 5.0]))
        >>> b.grad
        array([3., 5.])
        """
        grad, data = self._grad, self.data
        if grad is not None:
            grad += gradient
        elif type(gradient) is type(data) and gradient.shape == data.shape and gradient.dtype == data.dtype:
            self._grad = gradient
        else:
            self._grad = np.zeros_like(data)
            self._grad += gradient

    def __array_ufunc__(self, *arguments, **settings):
        """Say that NumPy computes with the array inside."""
        raise TypeError("a Parameter is no array: write parameter.data.")

    def zero_grad(self):
        """Set the gradient to zero, in place wherever somebody may see it."""
        if self._is_lent:
            self._grad.fill(0.0)
        else:
            self._grad = None

    def convert(self, function):
        """Replace data and grad by function(data) and function(grad): another type, another device."""
        super().convert(function)
        if self._grad is not None:
            self._grad = function(self._grad)


class Buffer(_Holder):
    """An array that belongs to a model, is saved with it, and is never trained: a running average, say.

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
