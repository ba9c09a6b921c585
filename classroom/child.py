"""Runs a submission inside the sandbox, and answers what the grader asks about it.

Nothing here is trusted: the submission's code shares this process and may change all of it. Whether its
answers are right is judged at the other end, from numbers alone.
"""

import __future__

import ast
import dis
import importlib
import inspect
import linecache
import os
import traceback
from contextlib import suppress
from inspect import getattr_static
from types import ModuleType

import numpy as np

if __name__ == "__main__":  # in the sandbox, where these lie beside this file and the course is not
    import inert
    import interrupt
    import wire
else:
    from classroom import inert, wire
    from course import interrupt

# plain classes, and what makes a plain value of one of a class derived from them
PLAIN = [(bool, bool), (int, int), (float, float), (str, str.__str__), (complex, complex), (tuple, tuple)]
PLAIN += [(list, list), (dict, dict), (set, set), (frozenset, frozenset)]
MIRRORED, DEPTH = 2**21, 8  # bytes of an array, depth of a list, that are told as an attribute
HELD = ("minigrad.parameter.Parameter", "minigrad.parameter.Buffer", "minigrad.layer.Layer")
CELL = "<cell {}>"


def inherited(cls):
    """Return the dotted names of a class and its bases, the nearest first."""
    return [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__]


def global_names(code):
    """Return the names of global variables in a function's code, and in the functions written inside it."""
    own = [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    inner = [name for part in code.co_consts if inspect.iscode(part) for name in global_names(part)]
    return list(dict.fromkeys([*own, *inner]))


def _name(thing):
    """Return the name of a function or class, as the grader's end takes it."""
    return "".join(letter for letter in str(thing.__name__) if letter.isprintable())[:99]


def _is_free(cls, name):
    """Say whether an attribute hides nothing of the library's own."""
    held = getattr_static(cls, name, None)
    ours = (base for base in cls.__mro__ if base.__module__.startswith(("minigrad.", "builtins")))
    is_slot = inspect.ismemberdescriptor(held)
    return is_slot or not any(name in vars(base) for base in ours)


def _is_small(part, depth=0):
    """Say whether a value can be mirrored in every frame."""
    if isinstance(part, np.ndarray):
        return part.nbytes <= MIRRORED
    if isinstance(part, dict):
        part = [*part.keys(), *part.values()]
    if isinstance(part, list | tuple | set | frozenset):
        return len(part) <= wire.KEYS and depth < DEPTH and all(_is_small(item, depth + 1) for item in part)
    return not isinstance(part, ModuleType)


class Callback:
    """A function or an object of the grader's: calling it, or reading an attribute, asks the grader."""

    __slots__ = ("__name__", "__signature__", "__weakref__", "_asked")
    __slotnames__ = []  # what Python shows of its slots: whoever looks into it does not find the peer
    mirrored = False

    def __init__(self, peer, handle, described):
        self._asked, self.__name__ = (peer, handle), described["name"]
        options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in described["options"]]
        self.__signature__ = inspect.Signature(options)

    def __call__(self, *args, **kwargs):
        """Ask the grader to call it."""
        peer, handle = self._asked
        return peer.ask("call", handle, value=args, kwargs=kwargs)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        peer, handle = self._asked
        return peer.ask("get", handle, name)

    def __deepcopy__(self, memo):
        return self


class Child(wire.Peer):
    """The end at which a submission runs."""

    prefix = "c"

    def __init__(self, read, write):
        self.names = {"__name__": "__main__", "__builtins__": __builtins__}
        self.file, self.statements, self.features = "", [], 0
        super().__init__(read, write)

    # what the grader asks for

    def serve(self, do, target, name, value, kwargs, errors, **_):  # noqa: PLR0913  the parts of a frame
        """Do what the grader asks for, with floating-point errors taken as its check takes them."""
        with np.errstate(**errors):
            return getattr(self, f"_{do}")(self.home.get(target), name, value, kwargs)

    def _read(self, thing, number, source, kwargs):
        """Take in a cell; return how many statements it has.

        They run one by one, so that one that raises or hangs does not cost the answers below it.
        """
        self.file = CELL.format(number)
        linecache.cache[self.file] = (len(source), None, source.splitlines(keepends=True), self.file)
        self.statements = ast.parse(source, self.file).body
        return len(self.statements)

    def _run(self, thing, place, value, kwargs):
        """Run one statement of the cell; what the notebook asks of __future__ holds from there on."""
        statement = self.statements[place]
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                self.features |= getattr(__future__, alias.name).compiler_flag
        module = ast.Module([statement], [])
        try:
            exec(compile(module, self.file, "exec", self.features, dont_inherit=True), self.names)
        except Exception:
            raise
        except BaseException as error:  # SystemExit, too
            raise RuntimeError(type(error).__name__) from error

    def _find(self, thing, name, value, kwargs):
        if name not in self.names:
            raise NameError(name)
        return self.names[name]

    def _call(self, thing, name, value, kwargs):
        return thing(*value, **kwargs)

    def _interrupted(self, thing, name, value, kwargs):
        return interrupt.here(thing, *value)

    def _get(self, thing, name, value, kwargs):
        return getattr(thing, name)

    def _special(self, thing, name, value, kwargs):
        return getattr(type(thing), name)(thing, *value)

    def _held(self, thing, name, value, kwargs):
        return self._inside(thing, 4)

    # what travels

    def named(self, value):
        """Nothing travels to the grader by name."""

    def travels(self, name):
        """Say whether objects of a class are sent whole."""
        return name in HELD[:2]

    def comes(self, name):
        """Say whether objects of a class are taken whole."""
        return True

    def holds(self, thing):
        """Hold all but what stands for something of the grader's, who keeps that until this is gone."""
        return not isinstance(thing, Callback)

    def proxy(self, handle, described):
        """Return what stands here for something of the grader's."""
        return Callback(self, handle, described)

    def _import(self, buffers, depth, module, name):
        return getattr(importlib.import_module(module), name)

    kinds = wire.Peer.kinds | {"m": _import}

    def describe(self, value):
        """Return what the grader is told about a function, a class or an object."""
        if isinstance(value, type):
            own = [cls for cls in inherited(value) if cls.startswith("minigrad.")]
            return {"kind": "class", "name": _name(value), "bases": own}
        if inspect.isroutine(value):
            code, bound = getattr(value, "__code__", None), inspect.ismethod(value)
            # careful: a bound method of (*args) has no first argument that a name stands for
            first = 1 if bound and code and code.co_argcount else 0
            counts = [code.co_argcount - first, code.co_kwonlyargcount] if code else [0, 0]
            names = list(code.co_varnames[first : sum(counts) + first]) if code else []
            told = {"kind": "function", "name": _name(value), "names": names, "counts": counts, "bases": []}
            return told | {"options": wire.options_of(value)}
        own = [cls for cls in type(value).__mro__[:-1] if not cls.__module__.startswith("minigrad")]
        names = sorted({name for cls in own for name in vars(cls)})
        bases = [name for name in inherited(type(value)) if name.startswith("minigrad.")]
        told = {"kind": "instance", "name": _name(type(value)), "bases": bases, "names": names}
        return told | {
            "callable": callable(value),
            "options": wire.options_of(value) if callable(value) else [],
        }

    def simplified(self, value):
        """Return a plain value for one of a class that is a plain one and more: a namedtuple, a matrix."""
        if isinstance(value, np.generic):
            return value
        for kind, plain in PLAIN:
            if isinstance(value, kind):
                return value if type(value) is kind else plain(value)
        if not isinstance(value, np.ndarray):
            return value
        if isinstance(value, np.ma.MaskedArray):
            return value.filled(np.nan) if value.mask.any() and value.dtype.kind == "f" else value.data
        native = value.dtype.newbyteorder("=")
        return value if type(value) is np.ndarray and value.dtype == native else np.asarray(value, native)

    def attributes(self, value):
        """Return what is mirrored of a thing: an object's attributes; None for a class and a function.

        Left out is what the grader's end could not take: what would hide something of ours, what Python asks
        for by itself, what is too large, and all that objects of other libraries have.
        """
        if isinstance(value, type) or inspect.isroutine(value):
            return None
        if not any(base.__module__.startswith(("__main__", "minigrad.")) for base in type(value).__mro__):
            return {}
        entry = self.keys.get(id(value))
        sent = (entry.seen if entry is not None and entry.refer() is value else None) or {}
        return {
            name: part
            for name, part in wire.attributes(value).items()
            if type(name) is str
            and not wire.is_special(name)
            and (sent.get(name, sent) is part or (_is_free(type(value), name) and _is_small(part)))
        }

    def _inside(self, function, depth):
        """Return, by name, the Parameters, layers and generators that a function holds."""
        function = getattr(function, "__func__", function)
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        found = {}
        if code is not None:
            given = inspect.signature(function, follow_wrapped=False).parameters.values()
            found = {argument.name: argument.default for argument in given}
            for name, cell in zip(code.co_freevars, cells, strict=True):
                with suppress(ValueError):  # not assigned yet
                    found[name] = cell.cell_contents
            known = function.__globals__
            found |= {name: known[name] for name in global_names(code) if name in known and name not in found}
        return {name: part for name, part in found.items() if self._holds(part, depth)}

    def _holds(self, part, depth):
        """Say whether the grader must know of something that a function holds."""
        if depth == 0 or isinstance(part, type):
            return False
        if isinstance(part, np.random.Generator) or any(name in HELD for name in inherited(type(part))):
            return True
        if isinstance(part, list | tuple):
            return any(self._holds(item, depth - 1) for item in part)
        if isinstance(part, dict):
            return any(self._holds(item, depth - 1) for item in part.values())
        return inspect.isroutine(part) and bool(self._inside(part, depth - 1))

    def error(self, told):
        """Return an exception that the grader has told of."""
        error = RuntimeError(": ".join(told[:2]))
        error.told = told
        return error

    def words(self, error):
        """Return what the grader is told about an exception: its kind, what it says, and where."""
        if hasattr(error, "told"):
            return error.told
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell ")]
        place = f"(your line {frames[-1].lineno}: `{frames[-1].line}`)" if frames else ""
        if isinstance(error, wire.WireError):
            return "ValueError", f"what it gives back cannot be sent to the check: {error}", place[:500]
        message = ""
        with suppress(Exception):  # of an exception whose text raises another
            message = str(error)[:500]
        return type(error).__name__, message, place[:500]


def main():
    """Take the two pipes away from the submission's own reading and printing, and answer until the end."""
    source, target = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    reading, writing = os.fdopen(source, "rb"), os.fdopen(target, "wb", buffering=0)
    answering = os.getpid()

    def read(count):
        part = reading.read(count)
        if len(part) < count:
            os._exit(0)  # the grader is done
        return part

    def write(frame):
        if os.getpid() != answering:
            os._exit(0)  # a copy that a submission's fork has left: one answer to a question is enough
        view = memoryview(frame)
        while view:
            view = view[writing.write(view) :]

    inert.install()
    interrupt.watch()
    child = Child(read, write)
    while True:
        header = child.receive()
        if header["do"] == "reset":
            child.send("return")
            child.reset()
        else:
            child.answer(header)


if __name__ == "__main__":
    main()
