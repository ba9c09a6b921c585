"""Find, name and copy the parts of a layer or a function: Parameters, Buffers, Generators, layers.

A plain function can be a layer, with weights in its closure. Holds named_parts, which searches attributes,
containers and closures, and copied, which copies functions with the contents of their closures, as Python's
own deepcopy does not. Global variables and default arguments are not searched. Built in chapters 05 and 13.
"""

import copy
import functools
import types
from collections import deque

import numpy as np

# Types without contents; skipped.
PLAIN = (str, int, float, type(None), np.ndarray, type, types.ModuleType, types.BuiltinFunctionType, np.ufunc)
NO_VALUE = types.CellType()  # an unset variable of a closure; all such cells are equal
NOT_COPIED = (tuple, set, frozenset, types.SimpleNamespace)  # containers whose parts `copied` does not copy


def named_parts(thing):
    """List (name, part) for every part of a layer or a function, each object once.

    Parts are Parameters, Buffers, random Generators and callables, above all layers. The search covers
    attributes and slots, the cells of a closure, the arguments of a partial, the object of a bound method,
    lists, tuples and dicts. An object that is found twice is shared, and keeps its first name.

    Parameters
    ----------
    thing : Layer, function, or container of these

    Returns
    -------
    list of (str, object)
        First the thing itself, if it is callable, under the name "".

    Raises
    ------
    ValueError
        If a set, a namedtuple or a namespace contains parts, since `copied` would not copy them.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> def scale(W):
    ...     return lambda X: (X * W.data, lambda dY: dY * W.data)
    >>> named_parts(scale(Parameter([2.0])))[1:]
    [('W', Parameter(1,))]
    """
    found = []
    _visit("", thing, found, {})
    return found


def is_array_holder(part):
    """Report whether a part has an array in `data`, like a Parameter, a Buffer, or a reader's own version.

    Examples
    --------
    >>> from minigrad import Buffer
    >>> is_array_holder(Buffer([0.0])), is_array_holder(np.zeros(1))
    (True, False)
    """
    return not callable(part) and hasattr(getattr(part, "data", None), "__array_function__")


def _visit(name, thing, found, seen):
    """Append a thing to `found` if it is a part, and then the parts inside it, each once."""
    if isinstance(thing, PLAIN) or id(thing) in seen:
        return
    seen[id(thing)] = thing
    if callable(thing):
        found.append((name, thing))
    elif isinstance(thing, np.random.Generator) or is_array_holder(thing):
        found.append((name, thing))
        return
    count = len(found)
    for key, part in _inside(thing):
        key = "" if key == "__wrapped__" else key  # a wrapper has no name of its own
        _visit(f"{name}.{key}" if name and key != "" else f"{name}{key}", part, found, seen)
    if isinstance(thing, NOT_COPIED) and type(thing) is not tuple and len(found) > count:
        raise ValueError(f"{name or 'a layer'} is a {type(thing).__name__} of parts: write a list or a dict.")


def _inside(thing):
    """List the (name, part) pairs one level inside a thing; the name of a single part may be empty."""
    if isinstance(thing, dict):
        return thing.items()
    if isinstance(thing, (list, tuple, deque)):
        return enumerate(thing)
    if isinstance(thing, (set, frozenset)):
        return [("", part) for part in thing]
    if isinstance(thing, types.MethodType):
        return [("", thing.__self__)]
    if isinstance(thing, functools.partial):
        return [("", thing.func), *enumerate(thing.args), *thing.keywords.items()]
    if isinstance(thing, types.FunctionType):
        return [*vars(thing).items(), *_closure(thing)]
    if callable(thing) or hasattr(thing, "__module__") or isinstance(thing, types.SimpleNamespace):
        not_parts = getattr(type(thing), "not_parts", ())
        return [pair for pair in attributes(thing) if pair[0] not in not_parts]
    return ()


def attributes(thing):
    """List the (name, value) pairs of an object's attributes and slots.

    Examples
    --------
    >>> from minigrad import Buffer
    >>> dict(attributes(Buffer([0.0])))
    {'_data': array([0.])}
    """
    state = object.__getstate__(thing)  # a dict of attributes, or a pair with a second dict, of slots
    slots = state[1] if isinstance(state, tuple) else {}
    return [*getattr(thing, "__dict__", {}).items(), *slots.items()]


def _closure(function):
    """List the (name, value) pairs of the closure variables that have a value."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [(name, cell.cell_contents) for name, cell in cells if cell != NO_VALUE]


def copied(thing, memo):
    """Return a deep copy that also copies functions, with the contents of their closures.

    Parameters
    ----------
    thing : object
    memo : dict
        The copies made so far, by id, as for copy.deepcopy.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([2.0])
    >>> def scale(W):
    ...     return lambda X: (X * W.data, lambda dY: dY * W.data)
    >>> copied(scale(W), {}).__closure__[0].cell_contents is W
    False
    """
    if id(thing) in memo:
        return memo[id(thing)]
    if isinstance(thing, types.FunctionType):
        return _copied_function(thing, memo)
    if isinstance(thing, types.MethodType):
        return types.MethodType(thing.__func__, copied(thing.__self__, memo))
    if isinstance(thing, functools.partial):
        arguments = [copied(argument, memo) for argument in thing.args]
        return functools.partial(copied(thing.func, memo), *arguments, **copied(thing.keywords, memo))
    if type(thing) is tuple:
        return memo.setdefault(id(thing), tuple(copied(part, memo) for part in thing))
    if isinstance(thing, (list, deque, dict)):
        twin = memo[id(thing)] = copy.copy(thing)  # before its contents: a list may contain itself
        for key, part in _inside(thing):
            twin[key] = copied(part, memo)
        return twin
    return copy.deepcopy(thing, memo)


def _copied_function(function, memo):
    """Copy a function with the contents of its closure; return it uncopied if it has no state to copy."""
    held = [*vars(function).values(), *(part for _, part in _closure(function))]
    if not any(isinstance(part, np.ndarray) or _remembers(part) for part in held):
        return function
    cells = function.__closure__ or ()
    new_cells = tuple(memo.setdefault(id(cell), types.CellType()) for cell in cells)  # cells stay shared
    code, known = function.__code__, function.__globals__
    twin = types.FunctionType(code, known, function.__name__, closure=new_cells or None)
    memo[id(function)] = twin  # before its contents: a recursive function contains itself
    twin.__defaults__, twin.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    vars(twin).update(copied(vars(function), memo))
    for cell, new_cell in zip(cells, new_cells, strict=True):
        if cell != NO_VALUE and new_cell == NO_VALUE:
            new_cell.cell_contents = copied(cell.cell_contents, memo)
    return twin


def _remembers(thing):
    """Report whether a thing contains a Parameter, a Buffer or a Generator."""
    parts = named_parts(thing)
    return any(isinstance(part, np.random.Generator) or is_array_holder(part) for _, part in parts)
