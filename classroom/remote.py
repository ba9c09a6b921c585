"""The grader's end: functions, classes and objects of a submission as things that a check can use.

A check calls them, reads their attributes, copies them, nudges their Parameters; whatever of theirs runs,
runs in the other process. What comes back are numbers, and proxies. Leaves out how that process is started
(`classroom.sandbox`).
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
from classroom.wire import Peer, WireError, attributes, is_special, options_of, require
from minigrad.parameter import Parameter

DEAD = "the code ended Python while it ran, or used too much memory"
GARBLED = "the check cannot read what comes back"
TOO_MUCH = f"the code sends more than {SENT >> 20} MB"
TEXT = 500  # characters of a message
AT_ONCE = 1e-3  # seconds, in which nobody asks who had the processor; looking that up takes a tenth of it
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64, the generator of default_rng
SPECIAL = ("__iter__", "__next__", "__repr__")  # none by which NumPy would make numbers of an object
TRAVEL = ("minigrad.parameter.Parameter", "minigrad.parameter.Buffer")

OPTIONS = ("training", "need_dX")  # that a layer is given, if it declares them

Code = namedtuple("Code", "co_varnames co_argcount co_kwonlyargcount co_filename")


class Ended(BaseException):
    """The process of a submission can no longer be asked, and why. No check can catch it by accident."""


class Answered(BaseException):
    """The submission has answered a call, and nobody wants to know more."""


class RemoteError(Exception):
    """Something that the submission's own code raised and that Python has no name for."""


class Function:
    """A function at home in the other process; its attributes are what it holds: Parameters, layers."""

    __slots__ = ("__weakref__", "_described", "_handle", "_held", "_peer")
    __slotnames__ = []  # what Python shows of its slots: whoever looks into it does not find the peer
    mirrored = False

    @property
    def __dict__(self):
        """What the function holds, asked for when somebody looks."""
        if not hasattr(self, "_held"):
            self._held = self._peer.ask("held", self._handle)
        return self._held

    def __call__(self, *args, **kwargs):
        """Call it where it is at home."""
        return self._peer.ask("call", self._handle, value=args, kwargs=kwargs)

    def __interrupted__(self, X, visitor, other, comes_back):
        """Call it as `course.interrupt.interrupted` does, where it is at home."""
        result = self._peer.ask("interrupted", self._handle, value=(X, visitor, other, comes_back))
        require(type(result) is tuple and len(result) == 2 and type(result[1]) is str, "no result of a call")
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


Function.__name__ = "function"  # what a message calls it


def _signature(described):
    """Return the signature of something of the submission's that can be called."""
    (first, rest), kind = described["counts"], inspect.Parameter
    kinds = [kind.POSITIONAL_OR_KEYWORD] * first + [kind.KEYWORD_ONLY] * rest
    named = [kind(*both) for both in zip(described["names"], kinds, strict=True)]
    options = [name for name in described.get("options", []) if name not in described["names"]]
    return inspect.Signature(named + [kind(name, kind.KEYWORD_ONLY, default=None) for name in options])


class Instance:
    """An object of a class of the submission's own; its attributes are mirrored."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._peer.ask("get", self._handle, name)

    def __deepcopy__(self, memo):
        """Return the object itself: a copy of the submission's own making could be another."""
        return self


class ClassOfInstances(type):
    """Makes instances in the other process."""

    def __call__(cls, *args, **kwargs):
        """Make an instance where the class is at home."""
        return cls.__peer__.ask("call", cls.__handle__, value=args, kwargs=kwargs)

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return cls.__peer__.ask("get", cls.__handle__, name)


def special(name):
    """Return a special method, such as `len` uses, that is asked for in the other process."""

    def method(self, *args):
        return self._peer.ask("special", self._handle, name, args)

    return method


class Attribute:
    """What a class of the submission's own defines, where the instance itself has nothing of that name."""

    theirs = True  # an object may have something else of this name

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return self if instance is None else instance._peer.ask("get", instance._handle, self.name)


class Remote(Peer):
    """Asks the process of a submission, and answers what it asks about the functions that it was given.

    Parameters
    ----------
    source, target : int
        File descriptors: where it writes, and where it reads.
    clock : Clock, optional
        Counts the time that its answers take.
    seconds : float
        For one call.

    Attributes
    ----------
    end : float
        When, by the clock, no more calls are waited for.
    why : str
        What is said then.
    is_enough : bool
        Whether one call that is answered is enough: then it raises Answered.
    """

    prefix = "p"
    yields = False
    list, dict = type("list", (list,), {}), type("dict", (dict,), {})  # of which weak references can be made

    def errors(self):
        """Return how the check wants floating-point errors to be taken."""
        return np.geterr()

    def __init__(self, source, target, clock=None, seconds=SECONDS):
        self.source, self.target, self.clock, self.seconds = source, target, clock or Clock(), seconds
        self.end, self.why, self.until, self.depth = float("inf"), "", 0.0, 0
        self.classes, self.raised, self.rest, self.taken = {}, {}, b"", 0
        os.set_blocking(target, False)  # whoever does not read must not keep us waiting
        super().__init__(self._read, self._write)

    # the pipe

    def _wait(self, reading, writing):
        """Wait until a pipe is ready, or raise Ended when the time of this call is over."""
        while (left := min(self.until, self.end) - self.clock.now()) > 0:
            began = time.monotonic()
            ready = any(select.select(reading, writing, [], min(left, AT_ONCE)))  # most answers come at once
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
            part = os.read(self.source, 2**16)  # as much as a pipe holds
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
        """Ask, and give the answer a limited time."""
        if not self.depth:
            self.until = self.clock.now() + self.seconds
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

    def reset(self):
        """Share nothing, and begin to see anew whether something of the check's is changed."""
        super().reset()
        self.is_enough, self.touched, self.taken, self.pointed_at, self.lent = False, False, 0, set(), {}

    def holds(self, thing):
        """Hold nothing: what the check no longer has, nobody asks about."""
        return False

    def share(self, thing, handle):
        """Note a thing under a handle; of a generator also the state in which it is handed over."""
        super().share(thing, handle)
        if isinstance(thing, np.random.Generator):
            self.lent[handle] = thing.bit_generator.state

    def _renew(self, handle, thing, kind, told, buffers):
        """Make a thing as the submission says that it is now, and see whether it was theirs to change.

        What a check hands over may not be changed, but for the gradients of its Parameters, which are there
        to be added to, and generators, which are there to be drawn from.
        """
        if thing is None or not handle.startswith(self.prefix):
            super()._renew(handle, thing, kind, told, buffers)
            return
        if kind == "g":
            require(isinstance(thing, np.random.Generator), "a change of what is no generator")
            before = thing.bit_generator.state
            super()._renew(handle, thing, kind, told, buffers)
            states = before, self.lent[handle]  # who draws the same once more goes back
            free = any(is_drawn_from(state, thing.bit_generator.state) for state in states)
        elif isinstance(thing, Parameter):
            before = attributes(thing)
            super()._renew(handle, thing, kind, told, buffers)
            now = attributes(thing)
            free = now.keys() == before.keys() and all(now[n] is before[n] for n in now if n != "_grad")
        else:
            free = handle not in self.pointed_at and any(thing is array for array in self._gradients())
            super()._renew(handle, thing, kind, told, buffers)
        self.touched = self.touched or not free

    def _gradients(self):
        """Return the gradients of Parameters, which an answer may change in place."""
        held = [attributes(thing) for thing in self.pinned.values() if isinstance(thing, Parameter)]
        return [attribute["_grad"] for attribute in held if "_grad" in attribute]

    def _fill(self, things, items):
        """Put the items into a list, unless it is too large as an array: it may repeat what it holds."""
        require(_expanded(items, {}) <= EXPANDED, "a list that is too large once it is written out")
        super()._fill(things, items)

    def _unpaired(self, buffers, depth, pairs, thing=None):
        """Return pairs as a dict; as attributes of a thing none that Python or NumPy asks for by itself.

        Of an object's own ``__array_interface__`` NumPy makes an array at any address of the grader's memory.
        """
        things = super()._unpaired(buffers, depth, pairs, thing)
        require(thing is None or not any(map(is_special, things)), "an attribute that Python asks for")
        return things

    def _keep(self, thing, pairs):
        """Take over the attributes of a thing; note which array of ours becomes the gradient of a Parameter.

        Such an array is what it was before: were it free to change now, anything of the check's would be.
        """
        before = attributes(thing).get("_grad") if isinstance(thing, Parameter) else None
        super()._keep(thing, pairs)
        now = attributes(thing).get("_grad") if isinstance(thing, Parameter) else None
        entry = self.keys.get(id(now))
        if now is not before and entry is not None and entry.refer() is now:
            self.pointed_at.add(entry.handle)

    # what travels

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
        """Say whether objects of a class are sent whole."""
        return name.startswith("minigrad.")

    def comes(self, name):
        """Say whether objects of a class are taken whole."""
        return name in TRAVEL

    def describe(self, value):
        """Return what the other process is told about something of the check's own."""
        name = str(getattr(value, "__name__", type(value).__name__))
        return {"name": name, "callable": callable(value), "options": options_of(value)}

    def attributes(self, value):
        """Return what is mirrored of something of the check's own: nothing."""

    def proxy(self, handle, described):
        """Return what stands here for something of the submission's."""
        require(type(described) is dict, "nothing described")
        name, bases = described["name"], described["bases"]
        require(type(name) is str and len(name) < 100 and name.isprintable(), "a name that is none")
        options = described.get("options", [])
        require(type(options) is list and all(o in OPTIONS for o in options), "options that are none")
        if described["kind"] == "function":
            wrong = [n for n in described["names"] if type(n) is not str or not n.isidentifier()]
            require(not wrong and len(described["names"]) == sum(described["counts"]), "names that are none")
            proxy = Function()
            proxy._peer, proxy._handle, proxy._described = self, handle, described
            return proxy
        known = [base for base in map(_base, bases) if base]
        if described["kind"] == "class":
            return ClassOfInstances(name, tuple(known[:1]), {"__peer__": self, "__handle__": handle})
        require(described["kind"] == "instance", "something of no known kind")
        methods = {n: special(n) for n in SPECIAL if n in described["names"]}
        methods |= {n: Attribute() for n in described["names"] if n.isidentifier() and not n.startswith("__")}
        if described["callable"]:
            methods |= {name: vars(Function)[name] for name in ("__call__", "__interrupted__")}
            methods["__signature__"] = _signature({"counts": (1, 0), "names": ("X",), "options": options})
        slots = {"__slots__": ("_handle", "_peer"), "__slotnames__": [], **methods}
        key = name, tuple(known), tuple(methods), tuple(options)
        if key not in self.classes:
            self.classes[key] = type(name, (Instance, *known[:1]), slots)
        proxy = self.classes[key].__new__(self.classes[key])
        object.__setattr__(proxy, "_peer", self)
        object.__setattr__(proxy, "_handle", handle)
        return proxy

    # what the other process may ask for

    def serve(self, do, target, name, value, kwargs, **_):
        """Call what the check has handed over, or read an attribute that the library's classes have, too.

        A check's objects stand for layers, models, optimizers, nodes; what else they hold is the check's own.
        """
        thing = self.home[target]
        if do == "call":
            return thing(*value, **kwargs)
        if do == "get" and name in _names_of_the_library() and not inspect.isroutine(thing):
            return getattr(thing, name)
        raise AttributeError(f"{name} is not for you")

    def words(self, error):
        """Return what the other process is told about an exception of the check's, and under which number."""
        number = f"raised {len(self.raised)}"
        self.raised[number] = error
        return type(error).__name__, str(error)[:TEXT], number

    def error(self, told):
        """Return an exception that the other process has told of; its `place` says that it is not ours."""
        require(type(told) is tuple and all(type(part) is str for part in told), "an exception that is none")
        require(len(told) == 3, "an exception that is none")
        name, message, place = (part[:TEXT] for part in told)
        if place in self.raised:  # the check's own, come back through the submission
            return self.raised[place]
        cls = getattr(builtins, name, None) or getattr(minigrad, name, None)
        if not (isinstance(cls, type) and issubclass(cls, Exception)):
            require(name.isidentifier(), "an exception without a name")
            cls = type(name, (RemoteError,), {})
        try:
            error = cls(message)
        except TypeError:  # UnicodeError and its like want more
            error = type(name, (RemoteError,), {})(message)
        error.place = place
        return error


@cache
def _names_of_the_library():
    """Return the public names of methods, properties and slots that classes of minigrad have."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "minigrad"]
    classes = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    ours = [vars(cls) for cls in classes if cls.__module__.startswith("minigrad.")]
    # Beside them those of a layer with two methods, and of an optimizer.
    return frozenset(("backward", "learning_rate")).union(n for held in ours for n in held if n[0] != "_")


def is_drawn_from(before, now):
    """Say whether a generator's state is what drawing makes of another one: nobody has set it.

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
    count = _draws(before["state"]["state"], now["state"]["state"], now["state"]["inc"])
    if count > DRAWS:
        return False
    replayed = np.random.PCG64()
    replayed.state = before
    drawn = replayed.random_raw(count)
    if replayed.state["state"] != now["state"]:
        return False
    # of 64 bits that were drawn, 32 may wait for the next who wants as many
    waits = now["has_uint32"], now["uinteger"]
    waited = not waits[0] or waits == (before["has_uint32"], before["uinteger"])
    return waited or bool((drawn >> np.uint64(32) == waits[1]).any())


def _expanded(thing, sizes):
    """Return how many bytes something would have as one array; `sizes` are those of lists that are known."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if not isinstance(thing, list | tuple):
        return NUMBER
    if id(thing) not in sizes:
        sizes[id(thing)] = NUMBER  # while it is measured: one that holds itself
        sizes[id(thing)] = NUMBER + sum(_expanded(item, sizes) for item in thing)
    return sizes[id(thing)]


def _draws(before, now, increment):
    """Return after how many draws a PCG64 comes from one state to another: its period is 2 to the 128.

    The lowest bits of the state repeat after 2, 4, 8 ... draws, so each bit of the count is found by itself.
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
