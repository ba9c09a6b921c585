"""A stand-in for CuPy, to prove without a GPU that the library computes where its data is.

Poses as the module `cupy`: its arrays wrap NumPy's, answer to NumPy's functions through the same two
protocols, and refuse what CuPy refuses: to become a NumPy array unasked, and to be mixed with one. As with
CuPy, NumPy arrays may be indices, and what a reduction returns is an array with no axes. Arrays go over with
`asarray`, and come back with `get`.
"""

import numpy as np


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that pretends to live on a GPU."""

    __module__ = "cupy"

    def __init__(self, array):
        self._array = array

    def get(self):
        """Return a copy as a NumPy array: the one way back."""
        return self._array.copy()

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if out is None:
            return _wrap(getattr(ufunc, method)(*_unwrap(inputs), **_unwrap(kwargs)))
        getattr(ufunc, method)(*_unwrap(inputs), out=_unwrap(out), **_unwrap(kwargs))
        return out[0]

    def __array_function__(self, function, types, args, kwargs):
        return _wrap(function(*_unwrap(args), **_unwrap(kwargs)))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # NumPy would find its way to the memory through such names
        value = getattr(self._array, name)
        if not callable(value):
            return _wrap(value)
        return lambda *args, **kwargs: _wrap(value(*_unwrap(args), **_unwrap(kwargs)))

    def __getitem__(self, index):
        return _wrap(self._array[_unwrap(index, refuse=())])

    def __setitem__(self, index, value):
        self._array[_unwrap(index, refuse=())] = _unwrap(value)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self._array)

    def __int__(self):
        return int(self._array)

    def __float__(self):
        return float(self._array)

    def __str__(self):
        return str(self._array)


def asarray(array):
    """Copy an array over; one that is there already stays as it is."""
    return array if isinstance(array, ndarray) else ndarray(np.array(array))


def arange(stop):
    """Return 0, 1, 2, … on the pretended GPU."""
    return ndarray(np.arange(stop))


def _unwrap(value, refuse=np.ndarray):
    """Return what the arrays inside a value wrap, and refuse an array that never went over."""
    if isinstance(value, ndarray):
        return value._array
    if isinstance(value, refuse):
        raise TypeError(f"Unsupported type {type(value)}: a NumPy array among those of CuPy.")
    if isinstance(value, (list, tuple)):
        return type(value)(_unwrap(entry, refuse) for entry in value)
    if isinstance(value, dict):
        return {key: _unwrap(entry, refuse) for key, entry in value.items()}
    return value


def _wrap(value):
    """Return the value with its NumPy arrays, and numbers of NumPy, as arrays of the pretended GPU."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, (list, tuple)) and any(isinstance(entry, np.ndarray) for entry in value):
        return type(value)(map(_wrap, value))
    return value
