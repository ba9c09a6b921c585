"""A stand-in for CuPy that shows, without a GPU, where code computes and which data it transfers.

It acts as the module `cupy`: its arrays wrap NumPy's, support NumPy's functions through the same two
protocols, and refuse what CuPy refuses: implicit conversion to a NumPy array, and operations that mix the
two. As in CuPy, NumPy arrays may be indices, and a reduction returns an array with no axes. All functions in
NumPy's top-level namespace are available. Every transfer between the two memories is recorded in `transfers`;
calls that compute are counted in `calls`, their arithmetic in `operations`; clear all three to start counting
again. Speed is that of NumPy. Used in chapter 21.
"""

import linecache
import sys
from collections import Counter
from dataclasses import dataclass
from types import ModuleType

import numpy as np

ASKED_FOR = ("array", "asarray", "asnumpy", "get")  # explicit transfers; all others are hidden
PASSED_ON = ("to_numpy", "to_device")  # these transfer for their callers

VIEWS = ("reshape", "transpose", "ravel", "squeeze", "swapaxes", "broadcast_to")  # these do not compute

transfers = []
calls = Counter()
operations = Counter()


@dataclass(frozen=True)
class Transfer:
    """A transfer of data from one memory to the other.

    Attributes
    ----------
    direction : {"to", "back"}
        To the device, or back. A transfer back makes the program wait.
    way : str
        The function that moved it: ``asarray``, ``array`` or ``index`` to the device; back ``get``,
        ``asnumpy``, ``float``, ``int``, ``bool``, ``item``, ``tolist`` or ``print``.
    bytes : int
    line : str
        The line of source that caused it.
    """

    direction: str
    way: str
    bytes: int
    line: str

    @property
    def hidden(self):
        """Whether the line does not show that it moves data."""
        return self.way not in ASKED_FOR


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that acts as if it were on a GPU."""

    __module__ = "cupy"

    def __init__(self, array):
        self._array = array

    def get(self):
        """Return a copy as a NumPy array."""
        return self._back("get").copy()

    def item(self, *place):
        """Return one entry as a Python number."""
        return self._back("item").item(*place)

    def tolist(self):
        """Return the entries as Python numbers in lists."""
        return self._back("tolist").tolist()

    def dot(self, other):
        """Return the product, like `@`, and count it the same."""
        return self @ other

    def _back(self, way):
        """Return the wrapped array, and record the transfer back."""
        _note("back", way, self._array)
        return self._array

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        kwargs = kwargs if out is None else {**kwargs, "out": out}
        result = getattr(ufunc, method)(*_unwrap(inputs), **_unwrap(kwargs))
        _count(ufunc.__name__, [*_unwrap(inputs), result])
        return _wrap(result) if out is None else out[0]

    def __array_function__(self, function, types, args, kwargs):
        return _compute(function, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # NumPy would reach the memory through such names
        value = getattr(self._array, name)
        if not callable(value):
            return _wrap(value)
        return lambda *args, **kwargs: _compute(value, args, kwargs)

    def __getitem__(self, index):
        return _wrap(self._array[_as_index(index)])

    def __setitem__(self, index, value):
        self._array[_as_index(index)] = _unwrap(value)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self._back("bool"))

    def __int__(self):
        return int(self._back("int"))

    def __float__(self):
        return float(self._back("float"))

    def __str__(self):
        return str(self._back("print"))

    def __repr__(self):
        return repr(self._back("print"))


def asarray(array, dtype=None):
    """Copy an array to the device; an array already there is returned unchanged."""
    return _over("asarray", array, dtype) if not isinstance(array, ndarray) or dtype else array


def array(array, dtype=None):
    """Copy an array to the device, even one already there."""
    return _over("array", array, dtype)


def asnumpy(array):
    """Return a copy as a NumPy array; other arrays are returned unchanged."""
    return array._back("asnumpy").copy() if isinstance(array, ndarray) else np.asarray(array)


def __getattr__(name):
    """Return NumPy's function of this name, for arrays of this module."""
    value = None if name.startswith("_") else getattr(np, name, None)
    if value is None or isinstance(value, ModuleType):
        raise AttributeError(f"the stand-in for CuPy has no {name}.")
    if isinstance(value, type) or not callable(value):
        return value  # a dtype or a constant
    return lambda *args, **kwargs: _compute(value, args, kwargs)


def _note(direction, way, array):
    """Record a transfer, and the line of source that caused it."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") == __name__ or frame.f_code.co_name in PASSED_ON:
        frame = frame.f_back
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    width = 8 if array.dtype == np.intp else array.itemsize  # an index, which would have 4 bytes in a browser
    transfers.append(Transfer(direction, way, array.size * width, line))


def _count(name, arrays):
    """Count a call, and its operations: an entry of its largest array is one, a term of an `@` is two."""
    calls[name] += 1
    sizes = [array.size for array in arrays if isinstance(array, (np.ndarray, np.generic))]
    operations[name] += 2 * sizes[-1] * arrays[0].shape[-1] if name == "matmul" else max(sizes, default=0)


def _over(way, value, dtype):
    """Return a copy on the device; record a transfer if the value was not there."""
    if isinstance(value, ndarray):
        return ndarray(np.array(value._array, dtype=dtype))
    copy = np.array(value, dtype=dtype)
    _note("to", way, copy)
    return ndarray(copy)


def _compute(function, args, kwargs):
    """Call a NumPy function on arrays of the device; its result stays on the device."""
    result = function(*_unwrap(args), **_unwrap(kwargs))
    if function.__name__ not in VIEWS:
        _count(function.__name__, [*_unwrap(args), getattr(function, "__self__", None), result])
    return _wrap(np.asarray(result) if function is np.count_nonzero else result)  # a number, not an array


def _as_index(index):
    """Return an index for the wrapped array; a NumPy array in it is a transfer."""
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, np.ndarray):
            _note("to", "index", part)
    return _unwrap(index, refuse=())


def _unwrap(value, refuse=np.ndarray):
    """Return a value with its arrays unwrapped; raise TypeError for a NumPy array in it."""
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
    """Return the value with its NumPy arrays and scalars wrapped."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, (list, tuple)) and any(isinstance(entry, np.ndarray) for entry in value):
        return type(value)(map(_wrap, value))
    return value
