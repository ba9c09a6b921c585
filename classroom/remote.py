"""The grader's end: proxies of a submission's functions, classes and objects, for use by a check.

A check calls them, reads their attributes, copies them, nudges their Parameters; the submission's code runs
in the other process, which returns numbers and proxies. ``classroom.sandbox`` starts that process.
"""

import builtins
import inspect
import os
import select
import sys
import time
from collections import namedtuple
from functools import cache

import numpy as np

import minigrad
from classroom.clock import Clock
from classroom.limits import DRAWS, EXPANDED, NUMBER, SECONDS, SENT
from classroom.wire import DEPTH, Peer, WireError, attributes, differs, is_special, look, options_of, require
from minigrad.parameter import Parameter

DEAD = "the code ended Python while it ran, or used too much memory"
GARBLED = "the check cannot read its return value"
TOO_MUCH = f"the code sends more than {SENT >> 20} MB"
TEXT = 500  # characters of a message
AT_ONCE = 1e-3  # seconds: shorter waits are counted whole, as reading the processor times takes 0.1 ms
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64, the generator of default_rng
SPECIAL = ("__iter__", "__next__", "__repr__")  # none with which NumPy converts an object to numbers
TRAVEL = ("minigrad.parameter.Parameter", "minigrad.parameter.Buffer")

OPTIONS = ("training", "need_dX")  # passed to a layer that declares them

Code = namedtuple("Code", "co_varnames co_argcount co_kwonlyargcount co_filename")


class Ended(BaseException):
    """The reason why a submission's process no longer answers; no check catches it by accident."""


class Answered(BaseException):
    """The submission has answered a call, and no further calls are needed."""


class RemoteError(Exception):
    """An exception of a class that the submission defines."""


class Function:
    """Proxy of a function in the other process; its attributes are the Parameters and layers it holds."""

    __slots__ = ("__weakref__", "_described", "_handle", "_held", "_peer")
    __slotnames__ = []  # shown by Python as its slots: hides the peer from introspection
    mirrored = False

    @property
    def __dict__(self):
        """The values that the function holds, fetched at the first access."""
        if not hasattr(self, "_held"):
            self._held = self._peer.ask("held", self._handle)
        return self._held

    def __call__(self, *args, **kwargs):
        """Call the function in the other process."""
        return self._peer.ask("call", self._handle, value=args, kwargs=kwargs)

    def __interrupted__(self, X, visitor, other, comes_back):
        """Run `course.checks.interrupt.interrupted` on the function in the other process."""
        result = self._peer.ask("interrupted", self._handle, value=(X, visitor, other, comes_back))
        require(type(result) is tuple and len(result) == 2 and type(result[1]) is str, "an invalid result")
        return result

    def __getattr__(self, name):
        if name in Function.__slots__:
            raise AttributeError(name)
        described = self._described
        if name in ("__name__", "__qualname__"):
            return described["name"]
        if name == "__code__":
            return Code(tuple(described["names"]), *described["counts"], "<submission>")
        if name == "__signature__":
            return _signature(described)
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__[name] if name in self.__dict__ else self._peer.ask("get", self._handle, name)

    def __deepcopy__(self, memo):
        return self


Function.__name__ = "function"  # its name in messages


def _signature(described):
    """Make the signature of one of the submission's callables."""
    (first, rest), kind = described["counts"], inspect.Parameter
    kinds = [kind.POSITIONAL_OR_KEYWORD] * first + [kind.KEYWORD_ONLY] * rest
    named = [kind(*both) for both in zip(described["names"], kinds, strict=True)]
    options = [name for name in described.get("options", []) if name not in described["names"]]
    return inspect.Signature(named + [kind(name, kind.KEYWORD_ONLY, default=None) for name in options])


class Instance:
    """Proxy of an object of a submission's class; its attributes are mirrored."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._peer.ask("get", self._handle, name)

    def __deepcopy__(self, memo):
        """Return the object itself, since a copy made by the submission could be a different object."""
        return self


class ClassOfInstances(type):
    """Proxy of a class: makes instances in the other process."""

    def __call__(cls, *args, **kwargs):
        """Make an instance in the other process."""
        return cls.__peer__.ask("call", cls.__handle__, value=args, kwargs=kwargs)

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return cls.__peer__.ask("get", cls.__handle__, name)


def special(name):
    """Make a special method that calls the original method in the other process."""

    def method(self, *args):
        return self._peer.ask("special", self._handle, name, args)

    return method


class Attribute:
    """A class attribute of the submission's, read if the instance has no attribute of that name."""

    theirs = True  # an instance may have another attribute of this name

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return self if instance is None else instance._peer.ask("get", instance._handle, self.name)


class Remote(Peer):
    """Send requests to a submission's process, and serve its requests to the check's functions.

    Parameters
    ----------
    source, target : int
        File descriptors to read from and to write to.
    clock : Clock, optional
        Counts the time of its answers.
    seconds : float
        Time limit for one call.

    Attributes
    ----------
    end : float
        The deadline, by the clock, of all calls.
    why : str
        The message for missing the deadline.
    is_enough : bool
        Whether to raise Answered after the first answered call.
    """

    prefix = "p"
    yields = False
    list, dict = type("list", (list,), {}), type("dict", (dict,), {})  # support weak references

    def errors(self):
        """Return the check's handling of floating-point errors."""
        return np.geterr()

    def __init__(self, source, target, clock=None, seconds=SECONDS):
        self.source, self.target, self.clock, self.seconds = source, target, clock or Clock(), seconds
        self.end, self.why, self.until, self.depth, self.rest = float("inf"), "", 0.0, 0, b""
        os.set_blocking(target, False)  # a process that does not read must not block us
        super().__init__(self._read, self._write)

    # the pipe

    def _wait(self, reading, writing):
        """Wait until a pipe is ready; raise Ended when the time of this call is over."""
        while (left := min(self.until, self.end) - self.clock.now()) > 0:
            began = time.monotonic()
            ready = any(select.select(reading, writing, [], min(left, AT_ONCE)))  # enough for most answers
            self.clock.add(min(time.monotonic() - began, AT_ONCE))
            if ready:
                return
            self.clock.start()
            ready = any(select.select(reading, writing, [], left))
            self.clock.stop()
            if ready:
                return
        late = f"one call takes longer than {self.seconds:g} seconds"
        raise Ended(late if self.until <= self.end else self.why)

    def _read(self, count):
        while len(self.rest) < count:
            self._wait([self.source], [])
            part = os.read(self.source, 2**16)  # the capacity of a pipe
            if not part:
                raise Ended(DEAD)
            self.rest, self.taken = self.rest + part, self.taken + len(part)
            if self.taken > SENT:
                raise Ended(TOO_MUCH)
        part, self.rest = self.rest[:count], self.rest[count:]
        return part

    def _write(self, frame):
        view = memoryview(frame)
        while view:
            try:
                view = view[os.write(self.target, view) :]
            except BlockingIOError:
                self._wait([], [self.target])
            except BrokenPipeError:
                raise Ended(DEAD) from None

    def ask(self, do, target=None, name=None, value=None, kwargs=None):
        """Send a request, and wait a limited time for the answer."""
        if not self.depth:
            self.until, self.before = self.clock.now() + self.seconds, {}
        self.depth += 1
        try:
            result = super().ask(do, target, name, value, kwargs)
            if self.is_enough and do == "call":
                raise Answered
            return result
        except WireError as error:
            raise Ended(f"{GARBLED}: {error}") from error
        finally:
            self.depth -= 1
            if not self.depth:
                last = [differs(look(thing), self.before[handle]) for handle, thing in self.changed.items()]
                self.touched, self.changed = self.touched or any(last), {}

    def reset(self):
        """Forget all shared objects, and every change to the check's data."""
        super().reset()
        self.is_enough, self.touched, self.filled, self.taken = False, False, False, 0
        self.raised, self.classes = {}, {}
        self.before, self.changed = {}, {}  # all objects before a call, and those that it changes

    def holds(self, thing):
        """Hold nothing: the check needs no object that it has dropped."""
        return False

    def share(self, thing, handle):
        """Register an object under a handle."""
        super().share(thing, handle)
        self.filled = self.filled or type(self.shared[handle].seen) in (list, dict)

    def _renew(self, handle, thing, kind, told, buffers):
        """Apply the submission's change to an object, and note whether that change is allowed.

        A check's data must not be changed, except that gradients are added to those of its Parameters, and
        random numbers are drawn from its generators. What is put back before the call returns is unchanged.
        """
        require(kind != "g" or isinstance(thing, np.random.Generator | None), "a change to no generator")
        self.filled, before = self.filled or kind in ("l", "d"), attributes(thing)
        super()._renew(handle, thing, kind, told, buffers)
        if thing is None or not handle.startswith(self.prefix):
            return
        if kind == "g":  # an answer may go back, to draw the same numbers again
            states = self.shared[handle].seen + self.shared[handle].first
            free = any(is_drawn_from(state, thing.bit_generator.state) for state in states)
        elif isinstance(thing, Parameter):
            now = attributes(thing)
            free = now.keys() == before.keys() and all(now[n] is before[n] for n in now if n != "_grad")
        else:
            free = any(thing is array for array in self._gradients())
        if not free:
            self.before.setdefault(handle, self.shared[handle].seen)
            self.changed[handle] = thing

    def changes(self, out):
        """Encode the check's own changes, after a look at the objects that a call is given."""
        news = super().changes(out)
        self.before = self.before or {handle: entry.seen for handle, entry in self.shared.items()}
        return news

    def _gradients(self):
        """Return the gradients of Parameters, which an answer may change in place."""
        held = [attributes(thing) for thing in self.pinned.values() if isinstance(thing, Parameter)]
        return [attribute["_grad"] for attribute in held if "_grad" in attribute]

    def receive(self):
        """Read a frame; refuse values that would be too large written out: a list may contain itself."""
        header, sizes = super().receive(), {}
        held = (entry.seen for entry in self.shared.values() if self.filled)
        for thing in (header["value"], header["kwargs"], *held):
            require(_expanded(thing, sizes) <= EXPANDED, "a value that is too large written out")
        self.filled = False
        return header

    def _unpaired(self, buffers, depth, pairs, thing=None):
        """Return pairs as a dict; refuse special names among the attributes of an object.

        From an ``__array_interface__`` NumPy would make an array at any address of the grader's memory.
        """
        things = super()._unpaired(buffers, depth, pairs, thing)
        require(thing is None or not any(map(is_special, things)), "a special attribute")
        return things

    def _keep(self, thing, pairs):
        """Set the attributes of an object, and note if a check's array becomes the gradient of a Parameter.

        Then the submission, or `zero_grad` of the check itself, could change any array of the check.
        """
        before = attributes(thing).get("_grad") if isinstance(thing, Parameter) else None
        super()._keep(thing, pairs)
        now = attributes(thing).get("_grad") if isinstance(thing, Parameter) else None
        entry = self.keys.get(id(now))
        if now is not before and entry is not None and entry.refer() is now:
            self.touched = self.touched or entry.handle.startswith(self.prefix)

    # sent values

    def named(self, value):
        """Return the module and name of a function or class of minigrad or NumPy, or None."""
        if not (callable(value) and hasattr(value, "__name__")):
            return None
        for name in ("numpy", getattr(value, "__module__", None) or ""):
            ours = name.partition(".")[0] in ("numpy", "minigrad")
            if ours and getattr(sys.modules.get(name), value.__name__, None) is value:
                return name, value.__name__
        return None

    def travels(self, name):
        """Report whether objects of a class are sent whole."""
        return name.startswith("minigrad.")

    def comes(self, name):
        """Report whether objects of a class are received whole."""
        return name in TRAVEL

    def describe(self, value):
        """Describe a check's object to the other process."""
        name = str(getattr(value, "__name__", type(value).__name__))
        return {"name": name, "callable": callable(value), "options": options_of(value)}

    def attributes(self, value):
        """Mirror no attributes of a check's objects."""

    def proxy(self, handle, described):
        """Make the local proxy of one of the submission's objects."""
        require(type(described) is dict, "an object without a description")
        name, bases = described["name"], described["bases"]
        require(type(name) is str and len(name) < 100 and name.isprintable(), "an invalid name")
        options = described.get("options", [])
        require(type(options) is list and all(o in OPTIONS for o in options), "invalid options")
        if described["kind"] == "function":
            wrong = [n for n in described["names"] if type(n) is not str or not n.isidentifier()]
            require(not wrong and len(described["names"]) == sum(described["counts"]), "invalid names")
            proxy = Function()
            proxy._peer, proxy._handle, proxy._described = self, handle, described
            return proxy
        known = [base for base in map(_base, bases) if base]
        if described["kind"] == "class":
            return ClassOfInstances(name, tuple(known[:1]), {"__peer__": self, "__handle__": handle})
        require(described["kind"] == "instance", "an object of an unknown kind")
        # the library's methods run in the other process, too, except those that every layer has
        more = [vars(c) for base in known[:1] for c in base.__mro__ if c not in minigrad.Layer.__mro__]
        names = [*described["names"], *(name for held in more for name in held if callable(held[name]))]
        methods = {n: special(n) for n in SPECIAL if n in names}
        methods |= {n: Attribute() for n in names if n.isidentifier() and not n.startswith("__")}
        if described["callable"] or "__call__" in names or issubclass((*known, object)[0], minigrad.Layer):
            methods |= {name: vars(Function)[name] for name in ("__call__", "__interrupted__")}
            methods["__signature__"] = _signature({"counts": (1, 0), "names": ("X",), "options": options})
        slots = {"__slots__": ("_handle", "_peer"), "__slotnames__": [], **methods}
        key = name, tuple(known), tuple(methods), tuple(options)
        cls = self.classes.get(key) or type(name, (Instance, *known[:1]), slots)
        self.classes[key], proxy = cls, cls.__new__(cls)
        object.__setattr__(proxy, "_peer", self)
        object.__setattr__(proxy, "_handle", handle)
        return proxy

    # requests of the other process

    def serve(self, do, target, name, value, kwargs, **_):
        """Call a check's function, or read an attribute that the library's classes have.

        A check's objects imitate layers, models, optimizers and nodes; their other attributes are private.
        """
        thing = self.home[target]
        if do == "call":
            return thing(*value, **kwargs)
        if do == "get" and name in _names_of_the_library() and not inspect.isroutine(thing):
            return getattr(thing, name)
        raise AttributeError(f"{name} is private")

    def words(self, error):
        """Describe a check's exception to the other process by its class, message and number."""
        number = f"raised {len(self.raised)}"
        self.raised[number] = error.with_traceback(None)  # its frames hold what was sent
        return type(error).__name__, str(error)[:TEXT], number

    def error(self, told):
        """Make an exception from the other process's description; its `place` marks it as foreign."""
        is_valid = type(told) is tuple and len(told) == 3 and all(type(part) is str for part in told)
        require(is_valid, "an invalid exception")
        name, message, place = (part[:TEXT] for part in told)
        if place in self.raised:  # the check's own, passed on by the submission
            return self.raised[place]
        name, _, base = name.partition(".")  # "SizeError.ValueError": a class of its own, and a known base
        cls = getattr(builtins, base or name, None) or getattr(minigrad, base or name, None)
        cls = cls if isinstance(cls, type) and issubclass(cls, Exception) else RemoteError
        require(name.isidentifier(), "an exception without a name")
        try:
            error = (cls if cls.__name__ == name else type(name, (cls,), {}))(message)
        except TypeError:  # UnicodeError, for example, needs more arguments
            error = type(name, (RemoteError,), {})(message)
        error.place = place
        return error


@cache
def _names_of_the_library():
    """Return the public names of methods, properties and slots of minigrad's classes."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "minigrad"]
    classes = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    ours = [vars(cls) for cls in classes if cls.__module__.startswith("minigrad.")]
    # also those of a layer with two methods, and of an optimizer
    return frozenset(("backward", "learning_rate")).union(n for held in ours for n in held if n[0] != "_")


def is_drawn_from(before, now):
    """Report whether drawing random numbers leads from one state of a generator to another.

    Parameters
    ----------
    before, now : dict
        States of a PCG64.

    Returns
    -------
    bool

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> before = rng.bit_generator.state
    >>> _ = rng.normal(size=100)
    >>> is_drawn_from(before, rng.bit_generator.state)
    True
    """
    if now["bit_generator"] != before["bit_generator"] or now["state"]["inc"] != before["state"]["inc"]:
        return False
    # careful: no number is drawn here, since an answer may advance the state by millions at once; so any bits
    # that wait for the next draw of 32 are allowed if there was a draw
    count = _draws(before["state"]["state"], now["state"]["state"], now["state"]["inc"])
    waits = [(state["has_uint32"], state["uinteger"]) for state in (before, now)]
    return count <= DRAWS and bool(count or not now["has_uint32"] or waits[0] == waits[1])


def _expanded(thing, sizes, depth=0):
    """Compute a value's size in bytes written out; `sizes` has the sizes of the parts seen so far."""
    if not isinstance(thing, list | tuple | dict):
        return thing.nbytes if isinstance(thing, np.ndarray) else NUMBER
    if id(thing) not in sizes:
        sizes[id(thing)] = float("inf")  # of a list that contains itself
        parts = thing.values() if isinstance(thing, dict) else thing
        if depth <= DEPTH:
            sizes[id(thing)] = NUMBER + sum(_expanded(part, sizes, depth + 1) for part in parts)
    return sizes[id(thing)]


def _draws(before, now, increment):
    """Return how many draws lead a PCG64, whose period is 2**128, from one state to another.

    The lowest bits of the state repeat after 2, 4, 8 ... draws, so the count is found bit by bit.
    """
    count, bit, factor = 0, 1, MULTIPLIER
    while before != now:
        if (before ^ now) & bit:
            before, count = (before * factor + increment) % 2**128, count | bit
        increment, factor, bit = (factor + 1) * increment % 2**128, factor * factor % 2**128, bit << 1
    return count


def _base(name):
    """Return a class of minigrad by its name, or None."""
    require(type(name) is str, "a class without a name")
    module, _, name = name.rpartition(".")
    cls = getattr(sys.modules.get(module), name, None) if module.startswith("minigrad") else None
    return cls if isinstance(cls, type) else None
