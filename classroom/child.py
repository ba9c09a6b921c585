"""The sandbox's end: runs a submission, and answers the grader's requests.

Nothing in this process is trusted, since the submission's code can change all of it. The grader's process
judges the answers, from numbers alone.
"""

import __future__

import ast
import builtins
import dis
import importlib
import inspect
import linecache
import os
import sys
import traceback
from contextlib import suppress
from inspect import getattr_static
from numbers import Number
from types import ModuleType

import numpy as np

if __name__ == "__main__":  # in the sandbox: these files are next to this one, without the course
    import interrupt
    import stand_ins
    import wire
else:
    from classroom import stand_ins, wire
    from course.checks import interrupt

# plain classes, and the function that converts a value of a derived class to the plain one
PLAIN = [(bool, bool), (int, int), (float, float), (str, str.__str__), (complex, complex), (tuple, tuple)]
PLAIN += [(set, set), (frozenset, frozenset)]
PLAIN_DTYPES = {"g": np.dtype("f8"), "G": np.dtype("c16")}  # for np.longdouble, which cannot be sent
MIRRORED, DEPTH = 2**21, 8  # limits of a mirrored attribute: bytes of an array, depth of a list
HELD = ("minigrad.parameter.Parameter", "minigrad.parameter.Buffer", "minigrad.layer.Layer")
CELL = "<cell {}>"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def inherited(cls):
    """List the dotted names of a class and its bases, the nearest first."""
    return [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__]


def global_names(code):
    """List the global variables that a function's code uses, nested functions included."""
    own = [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    inner = [name for part in code.co_consts if inspect.iscode(part) for name in global_names(part)]
    return list(dict.fromkeys([*own, *inner]))


def _name(thing):
    """Return the name of a function or class, printable and short, as the grader requires."""
    return "".join(letter for letter in str(thing.__name__) if letter.isprintable())[:99]


def _parts(statement):
    """Split an import of several names, so that one that is missing does not lose the others."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return [statement]
    fields = dict(ast.iter_fields(statement))
    return [
        ast.copy_location(type(statement)(**fields | {"names": [name]}), statement)
        for name in statement.names
    ]


def _is_stub(statement):
    """Report whether a definition, or a method, returns nothing and ends in ``raise NotImplementedError``."""
    inner = statement.body if isinstance(statement, ast.ClassDef) else [statement]
    parts = [part for part in inner if isinstance(part, DEFINITIONS[:2])]
    ends = [part for part in parts if ast.unparse(part.body[-1]).rstrip("()") == "raise NotImplementedError"]
    return any(not any(isinstance(line, ast.Return) for line in ast.walk(part)) for part in ends)


def _wrapped(cls):
    """Wrap a class of lists, dicts or tuples, since its objects would be sent without their methods."""
    if not issubclass(cls, list | dict | tuple):
        return cls

    class Wrapped:
        __module__, __slots__ = "", ("_object",)  # of no module, so that nothing is mirrored

        def __init__(self, *args, **kwargs):
            self._object = cls(*args, **kwargs)

        def __getattr__(self, name):
            return getattr(self._object, name)

    Wrapped.__name__ = cls.__name__
    return Wrapped


def _fits(found, defined, kind):
    """Report whether a value is of the kind asked for, and takes the arguments of its name's definition."""
    if found is defined or kind == "class":
        return found is defined or isinstance(found, type)
    try:
        declared = inspect.signature(defined).parameters.values()
        needed = [part for part in declared if part.default is part.empty]
        inspect.signature(found).bind(*(part for part in needed if part.kind <= part.POSITIONAL_OR_KEYWORD))
    except TypeError:  # not callable, or too few or too many arguments
        return False
    except ValueError:  # some functions written in C have no signature
        pass
    return True


def _is_free(cls, name):
    """Report whether an attribute hides none of the library's own."""
    held = getattr_static(cls, name, None)
    ours = (base for base in cls.__mro__ if base.__module__.startswith(("minigrad.", "builtins")))
    is_slot = inspect.ismemberdescriptor(held)
    return is_slot or not any(name in vars(base) for base in ours)


def _is_small(part, depth=0):
    """Report whether a value is small enough to be mirrored in every frame."""
    if isinstance(part, np.ndarray):
        return part.nbytes <= MIRRORED
    if isinstance(part, dict):
        part = [*part.keys(), *part.values()]
    if isinstance(part, list | tuple | set | frozenset):
        return len(part) <= wire.KEYS and depth < DEPTH and all(_is_small(item, depth + 1) for item in part)
    return not isinstance(part, ModuleType)


class Callback:
    """Proxy of a grader's function or object: calls and attributes are forwarded to the grader."""

    __slots__ = ("__name__", "__signature__", "__weakref__", "_asked")
    __slotnames__ = []  # shown by Python as its slots: hides the peer from introspection
    mirrored = False

    def __init__(self, peer, handle, described):
        self._asked, self.__name__ = (peer, handle), described["name"]
        options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in described["options"]]
        self.__signature__ = inspect.Signature(options)

    def __call__(self, *args, **kwargs):
        """Call the function in the grader's process."""
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
    """The sandbox's end of the wire."""

    prefix = "c"

    def __init__(self, read, write):
        self.notebook = ModuleType("__main__")  # dataclasses and pickle look a class up in its module
        self.names = vars(self.notebook)
        self.names["__builtins__"] = __builtins__
        self.file, self.statements, self.features = "", [], 0
        self.defined = {}  # the last function or class that each name was defined as
        self.early = []  # definitions that use names of cells below them
        super().__init__(read, write)

    # requests of the grader

    def serve(self, do, target, name, value, kwargs, errors, **_):  # noqa: PLR0913  the parts of a frame
        """Serve a request, handling floating-point errors as the grader's check does."""
        with np.errstate(**errors):
            return getattr(self, f"_{do}")(self.home.get(target), name, value, kwargs)

    def _read(self, thing, number, source, kwargs):
        """Parse a cell; return how many statements it has.

        Statements run one by one, and imports name by name: if one raises or hangs, the answers below it
        still count.
        """
        self.file = CELL.format(number)
        linecache.cache[self.file] = (len(source), None, source.splitlines(keepends=True), self.file)
        self.statements = [part for whole in ast.parse(source, self.file).body for part in _parts(whole)]
        return len(self.statements)

    def _run(self, thing, place, value, kwargs):
        """Run one statement of the cell; imports from __future__ apply to all later ones.

        A stub below a definition of the same name is not run: it was pasted, or left over.
        """
        statement = self.statements[place]
        named = statement.name if isinstance(statement, DEFINITIONS) else None
        if named in self.defined and _is_stub(statement):
            return
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                self.features |= getattr(__future__, alias.name).compiler_flag
        try:
            self._execute(statement, self.file)
        except NameError:
            self.early += [(statement, self.file)] if named else []
            raise
        except Exception:
            raise
        except BaseException as error:  # such as SystemExit
            raise RuntimeError(type(error).__name__) from error

    def _execute(self, statement, file):
        """Run a statement, and note what it defines."""
        flags = self.features | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(ast.Module([statement], []), file, "exec", flags, dont_inherit=True)
        awaited = eval(code, self.names)  # None, unless the statement awaits, as IPython allows
        if awaited is not None:
            importlib.import_module("asyncio").run(awaited)
        if isinstance(statement, DEFINITIONS) and not _is_stub(statement):
            self.defined[statement.name] = self.names.get(statement.name)

    def _run_early(self):
        """Run again the definitions that came too early, of names that nothing else has defined since."""
        early, self.early = self.early, []
        for statement, file in early:
            if statement.name not in self.names:
                try:
                    self._execute(statement, file)
                except Exception:
                    self.early.append((statement, file))
        if len(self.early) < len(early):  # one may need another
            self._run_early()

    def _find(self, thing, name, kind, kwargs):
        """Return a name's value; its last definition if the value does not fit.

        ``three_calls = three_calls()`` or ``scale = scale(gain, dgain)`` below a right answer costs nothing.
        """
        self._run_early()
        if name not in self.names:
            raise NameError(name)
        found = self.names[name]
        defined = self.defined.get(name, found)
        found = found if _fits(found, defined, kind) else defined
        return _wrapped(found) if kind == "class" and isinstance(found, type) else found

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

    # sent values

    def named(self, value):
        """Send nothing to the grader by name."""

    def travels(self, name):
        """Report whether objects of a class are sent whole."""
        return name in HELD[:2]

    def comes(self, name):
        """Report whether objects of a class are received whole."""
        return True

    def holds(self, thing):
        """Hold everything but proxies: the grader keeps their objects until the proxies are gone."""
        return not isinstance(thing, Callback)

    def proxy(self, handle, described):
        """Make the local proxy of one of the grader's objects."""
        return Callback(self, handle, described)

    def _import(self, buffers, depth, module, name):
        return getattr(importlib.import_module(module), name)

    kinds = wire.Peer.kinds | {"m": _import}

    def describe(self, value):
        """Describe a function, a class or an object to the grader."""
        if isinstance(value, type):
            own = [cls for cls in inherited(value) if cls.startswith("minigrad.")]
            return {"kind": "class", "name": _name(value), "bases": own}
        if inspect.isroutine(value):
            code, bound = getattr(value, "__code__", None), inspect.ismethod(value)
            # careful: a bound method of (*args) has no named first argument
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
        """Convert a value of a derived class to the plain class: a namedtuple to a tuple, for example."""
        if isinstance(value, np.generic):
            kind = PLAIN_DTYPES.get(value.dtype.char)
            return value if kind is None else value.astype(kind)
        for kind, plain in PLAIN:
            if isinstance(value, kind):
                return value if type(value) is kind else plain(value)
        if not isinstance(value, np.ndarray):
            return float(value) if isinstance(value, Number) else value  # a Fraction, for example
        if value.dtype == object:
            with suppress(ValueError):  # arrays of several shapes
                value = np.array(value.tolist())
        if isinstance(value, np.ma.MaskedArray):
            return value.filled(np.nan) if value.mask.any() and value.dtype.kind == "f" else value.data
        native = PLAIN_DTYPES.get(value.dtype.char, value.dtype.newbyteorder("="))
        return value if type(value) is np.ndarray and value.dtype == native else np.asarray(value, native)

    def attributes(self, value):
        """Return an object's mirrored attributes; None for a class or a function.

        Attributes that the grader refuses are left out: those that would hide one of the library's, special
        names, large values, and all attributes of other libraries' objects.
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
        """Find the Parameters, layers and generators that a function holds, by name."""
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
        """Report whether a value is, or contains, a Parameter, a layer or a generator."""
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
        """Make an exception from the grader's description: an AttributeError for `hasattr`, for example."""
        cls = vars(builtins).get(told[0])
        try:
            error = cls(told[1]) if issubclass(cls, Exception) else RuntimeError(": ".join(told[:2]))
        except TypeError:  # not a built-in class, or one that needs more arguments
            error = RuntimeError(": ".join(told[:2]))
        error.told = told
        return error

    def words(self, error):
        """Describe an exception to the grader: its class, its message, and its line."""
        if hasattr(error, "told"):
            return error.told
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell ")]
        place = f"(your line {frames[-1].lineno}: `{frames[-1].line}`)" if frames else ""
        if isinstance(error, wire.WireError):
            return "ValueError", f"its return value cannot be sent to the check: {error}", place[:500]
        message = ""
        with suppress(Exception):  # the exception's own __str__ may raise
            message = str(error)[:500]
        known = next(
            cls for cls in type(error).__mro__ if cls.__module__.startswith(("builtins", "minigrad."))
        )
        base = "" if known in (type(error), Exception) else f".{known.__name__}"
        return f"{type(error).__name__}{base}", message, place[:500]


def main():
    """Keep the two pipes out of the submission's reach, and serve requests until the grader is done."""
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
            os._exit(0)  # in a fork of the submission's: only the original process may answer
        view = memoryview(frame)
        while view:
            view = view[writing.write(view) :]

    stand_ins.install()
    interrupt.watch()
    child = Child(read, write)
    sys.modules["__main__"] = child.notebook
    while True:
        header = child.receive()
        if header["do"] == "reset":
            child.send("return")
            child.reset()
        else:
            child.answer(header)


if __name__ == "__main__":
    main()
