"""A layer as a function of named arrays, which starts every run from the same state.

Holds Trial, which runs a layer forward and backward with other values, and a record of every object that
the layer can reach, which restores the objects that a run has changed. The rules are in rules.py, and the
nudging is in nudging.py. Introduced in chapter 03.
"""

import copy
import types
from functools import partial

import numpy as np

from minigrad.check.numerical import EPS
from minigrad.layer import Function
from minigrad.parts import attributes, is_array_holder, named_parts


class Trial:
    """A layer as a function of named float64 arrays: every run starts from the same state.

    The results of a rule (Y, dY, the first gradients) are stored here, for the rules after it.
    """

    def __init__(self, layer, X, training, tol, max_entries, rng):  # noqa: PLR0913  as of gradcheck
        try:
            self.layer = copy.deepcopy(layer)
        except TypeError:  # something in it cannot be copied
            self.layer = layer
        self.many, self.tol, self.max_entries = isinstance(X, tuple), tol, max_entries
        self.rng, self.extra_rng = rng, np.random.default_rng(1)
        self.options = {"training": training}
        self.memory = _Memory(self.layer)
        inputs = {f"input X[{i}]": entry for i, entry in enumerate(X)} if self.many else {"input X": X}
        parts = named_parts(self.layer)
        self.holders = {name: part for name, part in parts if is_array_holder(part)}
        arrays = inputs | {name: holder.data for name, holder in self.holders.items()}
        self.values = {name: a.astype(float) if a.dtype.kind == "f" else a for name, a in arrays.items()}
        self.inputs = list(inputs)
        self.weights = [name for name, holder in self.holders.items() if hasattr(holder, "grad")]
        self.buffers = [name for name in self.holders if name not in self.weights]
        self.nudged = [name for name in inputs if arrays[name].dtype.kind == "f"] + self.weights
        seen = {id(part) for _, part in parts}
        self.hidden = [
            holder for holder in self.memory.holders if id(holder) not in seen and hasattr(holder, "grad")
        ]
        self._begin()

    def _begin(self):
        """Reset all measurements made at other values."""
        self.tainted, self.relaid = set(), ""
        self.nearby, self.wobble, self.scans = None, {}, 4

    def under(self, values=(), **options):
        """Make a trial of the same layer, with other values or options."""
        other = copy.copy(self)
        other.values, other.options = self.values | _as_arrays(values), self.options | options
        other.rng = self.extra_rng
        other._begin()
        return other

    def forget(self):
        """Restore the initial state of the layer and of every object that it can reach."""
        self.memory.restore()

    def forward(self, changed=(), restore=True):
        """Run forward on copies of all arrays, some of them changed."""
        if restore:
            self.memory.restore_parts()
            self.memory.rewind()
        values = self.values | _as_arrays(changed)
        self.lent = {name: array.copy() for name, array in values.items()}
        for name, holder in self.holders.items():
            holder.data = self.lent[name]
        return self.call()

    def call(self):
        """Run forward on the arrays already lent to the layer."""
        X = tuple(_relaid(self.lent[name]) if self.relaid == "X" else self.lent[name] for name in self.inputs)
        X = X if self.many else X[0]
        if not isinstance(self.layer, Function):
            return self.layer(X, **self.options)
        # Called without the shape checks of Layer: wrong shapes are diagnosed here.
        options = {key: self.options[key] for key in self.layer._options if key in self.options}
        return self.layer.forward(X, **options)

    def back(self, backward, dY, already=0.0):
        """Run backward on a copy of dY; return the gradients by name, added to their previous values."""
        for name in self.weights:
            data = self.holders[name].data
            self.holders[name].grad = np.full(data.shape, already, dtype=data.dtype)
        self.sent = _relaid(dY.copy()) if self.relaid == "dY" else dY.copy()
        dX = backward(self.unpack(self.sent))
        if isinstance(dX, tuple) != self.many:
            raise TypeError(f"it returned {type(dX).__name__}, but dX is a tuple exactly when X is one")
        self.raw = dict(zip(self.inputs, dX if self.many else (dX,), strict=True))
        self.raw |= {name: self.holders[name].grad for name in self.weights}
        return {name: None if g is None else np.array(g, dtype=float) for name, g in self.raw.items()}

    def run(self, dY, already=0.0):
        """Run forward and backward; return the gradients by name."""
        return self.back(self.forward()[1], dY, already)

    def outcome(self, changed=(), dY=None):
        """Return Y and the gradients by name, of a layer in its initial state."""
        self.forget()
        Y, backward = self.forward(changed)
        return {"Y": self.pack(Y)} | self.back(backward, self.dY if dY is None else dY)

    def pack(self, Y):
        """Return Y as one float64 array: itself, or the floats of all entries of a tuple."""
        if not isinstance(Y, tuple):
            return np.array(Y, dtype=float)
        floats = [np.asarray(entry) for entry in Y if np.asarray(entry).dtype.kind == "f"]
        return np.concatenate([entry.astype(float).ravel() for entry in floats])

    def unpack(self, flat):
        """Return dY in the structure of Y: None for entries of a tuple that are not floats."""
        if self.form is None:
            return flat
        entries, start = [], 0
        for shape, is_float in self.form:
            size = int(np.prod(shape)) if is_float else 0
            entries.append(flat[start : start + size].reshape(shape) if is_float else None)
            start += size
        return tuple(entries)

    def moved(self):
        """Return the names of inputs and weights that changed since forward."""
        now = self.lent | {name: self.holders[name].data for name in self.weights}
        return [key for key in self.inputs + self.weights if not np.array_equal(now[key], self.values[key])]

    def unlike(self, some, others, at_X=False):
        """Return the names of arrays that differ by more than rounding."""
        pairs = [(name, mine, others[name]) for name, mine in some.items()]
        pairs = [pair for pair in pairs if pair[1] is not None and pair[2] is not None]
        small = 1e-12 * min(1.0, np.abs(self.Y).max())
        small += 1e-10 * max((np.abs(b).max() for _, _, b in pairs), default=0.0)
        far = [pair for pair in pairs if not _is_close(*pair[1:], small)]
        return [name for name, a, b in far if not _is_close(a, b, small + 300 * self.spread(at_X)[name])]

    def spread(self, at_X=False):
        """Return how much Y and each gradient change when all values change in their last digits.

        Each draw has its own dY: a gradient that consists of rounding errors alone is exactly 0 for some.
        Each is taken near X: near enough for similar rounding, too far for a last digit to cross a kink.
        """
        if at_X not in self.wobble:
            most = dict.fromkeys(["Y", *self.first], 0.0)
            for _ in range(24):
                dY = self.extra_rng.standard_normal(self.Y.shape)
                here = {name: self.shaken(self.values[name], 0 if at_X else EPS**0.5) for name in self.nudged}
                there = {name: self.shaken(array, 4 * EPS) for name, array in here.items()}
                exact, other = self.outcome(here, dY), self.outcome(there, self.shaken(dY, 4 * EPS))
                for name in most:
                    if exact[name] is not None:
                        most[name] = np.fmax(most[name], np.abs(other[name] - exact[name]).max())
            self.wobble[at_X] = most
        return self.wobble[at_X]

    def shaken(self, array, far):
        """Return an array with each entry changed by a random fraction of itself, up to `far`."""
        return array * (1 + far * self.extra_rng.uniform(-1, 1, array.shape))

    def blame(self, names, words, taints=None):
        """Return a complaint about some arrays, or "" if there are none."""
        if not names:
            return ""
        self.tainted.update(names if taints is None else taints)
        return f"{', '.join(names)}: {words}"


def _as_arrays(values):
    """Return values by name as arrays: NumPy turns arrays without axes into scalars."""
    return {name: np.asarray(value) for name, value in dict(values).items()}


def _is_close(some, others, small):
    """Return whether two arrays differ by no more than rounding."""
    if some.shape != others.shape:
        return False
    return not np.any(np.abs(some - others) > 1e-5 * np.abs(others).max() + small)


def _relaid(array):
    """Return a copy with another memory layout."""
    if array.ndim >= 2:
        return np.ascontiguousarray(array.T).T
    return np.repeat(array, 2)[::2] if array.ndim else array


LIMIT = 10_000  # on the objects visited: a global variable may lead anywhere
PYTHON = (types.ModuleType, types.CodeType, types.BuiltinFunctionType)
SIMPLE = (int, float, complex, str, bytes, type(None), np.generic, np.ufunc, *PYTHON)
EMPTY = types.CellType()  # an unset variable of a closure; all such cells are equal


class _Memory:
    """A record of the state of every object that a layer can reach.

    Unlike named_parts, it also records class attributes and globals, since mistakes hide there.
    """

    def __init__(self, layer):
        self.holders, self.own, self.states, self.undo = [], [], [], []
        seen, waiting = {}, [layer]
        while waiting and len(seen) < LIMIT:
            thing = waiting.pop()
            if id(thing) not in seen and not isinstance(thing, SIMPLE):
                seen[id(thing)] = thing
                waiting.extend(self._note(thing))

    def _note(self, thing):  # noqa: PLR0911, PLR0912  one case for each kind of thing
        """Record how to restore one object, and return the objects inside it."""
        match thing:
            case np.random.Generator():
                self.states.append((thing.bit_generator, thing.bit_generator.state))
                return ()
            case np.ndarray():
                if thing.dtype == object:
                    return thing.ravel().tolist()
                if thing.size <= 1_000_000 and thing.flags.writeable:
                    self.undo.append(partial(np.copyto, thing, thing.copy()))
                return ()
            case dict():
                self.undo.append(partial(_refill, thing, dict(thing)))
                return thing.values()
            case list() | set():
                self.undo.append(partial(_refill, thing, list(thing)))
                return thing
            case tuple() | frozenset():
                return thing
            case partial():
                return thing.func, thing.args, thing.keywords
            case types.MethodType():
                return thing.__self__, thing.__func__
            case types.FunctionType():
                return self._note_function(thing)
            case type():
                return self._note_class(thing)
        if is_array_holder(thing):
            self.holders.append(thing)
            own = [(thing, word, getattr(thing, word)) for word in ("data", "grad") if hasattr(thing, word)]
            self.own += own
            return [array for _, _, array in own]
        inside = [] if is_of_the_library(type(thing)) else [type(thing)]
        return [*inside, getattr(thing, "__dict__", None), *(value for _, value in attributes(thing))]

    def _note_function(self, function):
        """Record a function's attributes, its closure, and the global variables that its code names."""
        inside = [vars(function), function.__defaults__, function.__kwdefaults__]
        for cell in function.__closure__ or ():
            if cell != EMPTY:
                self.undo.append(partial(setattr, cell, "cell_contents", cell.cell_contents))
                inside.append(cell.cell_contents)
        known = function.__globals__
        for name in () if is_of_the_library(function) else _names_in(function.__code__):
            if name not in known:
                self.undo.append(partial(known.pop, name, None))
                continue
            value = known[name]
            if not isinstance(value, (types.ModuleType, types.FunctionType, type)):
                self.undo.append(partial(known.__setitem__, name, value))
            if getattr(value, "__globals__", known) is known:
                inside.append(value)
        return inside

    def _note_class(self, kind):
        """Record the attributes of a reader's class."""
        if is_of_the_library(kind):
            return ()
        plain = {key: value for key, value in vars(kind).items() if key[:2] != "__" or key == "__call__"}
        self.undo += [
            partial(_reset, kind, key, value) for key, value in plain.items() if not callable(value)
        ]
        return [*plain.values(), *kind.__bases__]

    def restore_parts(self):
        """Restore the arrays of Parameters and Buffers."""
        for holder, word, array in self.own:
            setattr(holder, word, array)

    def rewind(self):
        """Restore the states of random Generators."""
        for generator, state in self.states:
            generator.state = state

    def restore(self):
        """Restore everything."""
        for put_back in self.undo:
            put_back()
        self.restore_parts()
        self.rewind()


def _refill(container, before):
    """Restore the contents of a dict, a list or a set, if they have changed."""
    if isinstance(container, dict) and container.keys() == before.keys():
        if all(container[key] is value for key, value in before.items()):
            return
    container.clear()
    container.extend(before) if isinstance(container, list) else container.update(before)


def _reset(kind, name, value):
    """Restore an attribute of a class, if it has changed."""
    if vars(kind).get(name) is not value:
        setattr(kind, name, value)


def is_of_the_library(thing):
    """Return whether a class or a function belongs to Python, NumPy or minigrad."""
    module = getattr(thing, "__module__", None) or "builtins"
    return module.partition(".")[0] in ("minigrad", "numpy", "builtins", "functools")


def _names_in(code):
    """Return the names in the code of a function and of its inner functions."""
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names_in(part)]
    return {*code.co_names, *inner}
