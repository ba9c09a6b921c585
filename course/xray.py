"""xray: report the arrays that a backward function keeps alive through its closure, in bytes.

The figure of such a report is `course.figures.closures.kept_alive`. Used in chapters 04 and 19.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from inspect import signature
from types import FunctionType, MethodType, ModuleType

import numpy as np

from minigrad.layer import Layer
from minigrad.parameter import Buffer
from minigrad.parts import attributes

HEAD = ("held by", "name", "shape", "dtype", "bytes")


@dataclass(frozen=True)
class Row:
    """One array that a backward function keeps alive.

    Attributes
    ----------
    holder : str
        The layer or function whose call keeps it.
    name : str
        The name under which it is kept.
    shape : tuple of int
    dtype : str
    bytes : int
        Memory of the array; of the whole array behind it, if this one is a view.
    whole : tuple of int
        Shape of that whole array.
    shared : bool
        True for Parameters and Buffers, which the model stores anyway.
    """

    holder: str
    name: str
    shape: tuple
    dtype: str
    bytes: int
    whole: tuple
    shared: bool = False

    def cells(self):
        """Return the row as text: held by, name, shape, dtype, bytes."""
        is_part = np.prod(self.shape, dtype=int) != np.prod(self.whole, dtype=int)
        shape = f"{self.shape} of {self.whole}" if is_part else str(self.shape)
        count = "shared, not counted" if self.shared else f"{self.bytes:,}"
        return self.holder, self.name, shape, self.dtype, count


class Xray:
    """The report of xray.

    Attributes
    ----------
    rows : list of Row
        Arrays kept alive by this pass alone, in the order of the calls, each array once.
    weights : list of Row
        Parameters and Buffers, which are shared with the model and not counted.
    total : int
        Bytes of `rows`.
    """

    def __init__(self, rows, weights):
        self.rows, self.weights = rows, weights
        self.total = sum(row.bytes for row in rows)

    def _lines(self):
        """Return the table as lines of five strings each."""
        rows = [row.cells() for row in self.rows + self.weights]
        return [HEAD, *rows, ("kept alive", "", "", "", f"{self.total:,}")]

    def __repr__(self):
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([*map(str.ljust, line[:-1], widths), line[-1].rjust(widths[-1])]) for line in lines
        )

    def _repr_html_(self):
        """Return the same table for a notebook."""
        head, *body = self._lines()
        head = "".join(f'<th scope="col">{cell}</th>' for cell in head)
        body = "</tr><tr>".join("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in body)
        return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table>"


def _is_array(thing):
    """Return whether an object is an array, in main memory or on a GPU."""
    return isinstance(thing, np.ndarray) or hasattr(thing, "__cuda_array_interface__")


def _is_parameter(thing):
    """Return whether an object is a Buffer, a Parameter, or a reader's own Parameter."""
    return isinstance(thing, Buffer) or (hasattr(thing, "data") and hasattr(thing, "grad"))


def _owner(array):
    """Return the array that owns this one's memory: itself, unless it is a view."""
    while _is_array(getattr(array, "base", None)):
        array = array.base
    return array


def _row(holder, name, array, shared=False):
    """Return the report's line about one array."""
    owner = _owner(array)
    return Row(holder, name, array.shape, str(array.dtype), owner.nbytes, owner.shape, shared)


def _cells(function):
    """Yield (name, value) for each variable in a function's closure and each default argument."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a cell without a value yet
            yield name, cell.cell_contents
    for name, parameter in signature(function, follow_wrapped=False).parameters.items():
        yield name, parameter.default


def _inside(name, thing):
    """Return the (name, part) pairs one step inside a function, a container, or an object."""
    if isinstance(thing, FunctionType):
        return _cells(thing)
    if isinstance(thing, MethodType):
        return [("self", thing.__self__), (name, thing.__func__)]
    if isinstance(thing, partial):
        return [(name, thing.func), (name, thing.args), (name, thing.keywords)]
    if isinstance(thing, dict):
        return [(f"{name}[{key!r}]", part) for key, part in thing.items()]
    if isinstance(thing, (list, tuple)):
        return [(f"{name}[{index}]", part) for index, part in enumerate(thing)]
    if isinstance(thing, (type, ModuleType)):
        return []
    return [(f"{name}.{key}", part) for key, part in attributes(thing)]


def _holder(function, holder):
    """Return the name of a function's creator: the layer in its closure, or the enclosing function."""
    layer = dict(_cells(function)).get("self")
    if isinstance(layer, Layer):
        return repr(layer)
    makers = function.__qualname__.split(".<locals>.")
    maker = makers[-2] if len(makers) > 1 else makers[-1]
    return holder if holder.startswith(f"{maker.split('.')[0]}(") else maker


def xray(backward):
    """Find the arrays that a backward function keeps alive.

    Parameters
    ----------
    backward : function
        The function that a layer returned with Y. Closures inside it, default arguments, lists, tuples,
        dicts, bound methods and the attributes of objects are searched.

    Returns
    -------
    Xray
        Each array once; a view counts the bytes of the array that owns its memory. Parameters and Buffers
        are listed separately, since the model stores them anyway.

    Raises
    ------
    TypeError
        If `backward` is not callable, for example the whole pair (Y, backward).

    References
    ----------
    Chapter 04.

    Examples
    --------
    >>> def square(X):
    ...     return X * X, lambda dY: 2 * X * dY
    >>> Y, backward = square(np.ones((5, 3)))
    >>> xray(backward)
    held by     name  shape   dtype    bytes
    square      X     (5, 3)  float64    120
    kept alive                           120
    """
    if not callable(backward):
        raise TypeError(f"xray needs the backward of Y, backward = layer(X), got {type(backward).__name__}.")
    seen, kept, weights, shared = {}, {}, [], set()

    def look(name, thing, holder):
        if id(thing) in seen:
            return
        seen[id(thing)] = thing
        if _is_parameter(thing):
            weights.append(_row(holder, name, thing.data, shared=True))
            shared.update(id(_owner(array)) for _, array in attributes(thing) if _is_array(array))
        elif _is_array(thing):
            kept.setdefault(id(_owner(thing)), _row(holder, name, thing))
        else:
            function = getattr(thing, "__func__", thing)
            holder = _holder(function, holder) if isinstance(function, FunctionType) else holder
            for key, part in _inside(name, thing):
                look(key, part, holder)

    look("backward", backward, "")
    return Xray([row for owner, row in kept.items() if owner not in shared], weights)
