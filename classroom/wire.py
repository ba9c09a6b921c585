"""The protocol between the grader and the process of a submission: frames, and shared objects.

A frame is a length, a JSON header, and the raw bytes of its arrays. Numbers and strings are sent by value.
Arrays, lists, dicts, random generators and objects get a handle, and every frame lists the changes since the
last one, so that code at either end sees the same as in one process. Objects that cannot be sent (functions,
classes, instances of local classes) remain local, and the other end gets a proxy.

Both ends use this file. The grader's end does not trust what it reads: an invalid frame raises WireError.
The grader's proxies are in `classroom.remote`, the sandbox's in `classroom.child`.
"""

import importlib
import json
import math
import re
import struct
import sys
import weakref
from contextlib import suppress
from functools import lru_cache
from inspect import getattr_static, signature
from operator import is_
from types import MemberDescriptorType

import numpy as np

LIMIT, HEADER = 2**24, 2**22  # bytes of a frame, and of its header
DEPTH, KEYS = 20, 2000  # nesting of a value; entries of a dict or a set
DTYPES = {f"<{name}" for name in "i2 i4 i8 u2 u4 u8 f2 f4 f8 c8 c16".split()} | {"|b1", "|i1", "|u1"}
LENGTH = struct.Struct("<I")
PARTS = {"do", "target", "name", "value", "kwargs", "errors", "news", "gone"}


class WireError(Exception):
    """An invalid frame."""


def require(condition, sentence):
    """Raise WireError unless a condition holds."""
    if not condition:
        raise WireError(sentence)


def known(dtype):
    """Report whether arrays of a dtype can be sent: numbers, booleans and strings."""
    return dtype in DTYPES or re.fullmatch(r"<U\d{1,4}", dtype) is not None


def pack(header, buffers):
    """Serialize a frame."""
    text = json.dumps([header, [len(buffer) for buffer in buffers]], allow_nan=False).encode()
    frame = b"".join([LENGTH.pack(len(text)), text, *buffers])
    require(len(frame) <= LIMIT and len(text) <= HEADER, "a frame that is too large")
    return frame


def unpack(read):
    """Read the header and the buffers of a frame; `read(count)` returns exactly `count` bytes."""
    (length,) = LENGTH.unpack(read(LENGTH.size))
    require(length <= HEADER, "a header that is too long")
    try:
        header, sizes = json.loads(read(length))
        require(header.keys() == PARTS, "a frame with unknown parts")
        require(all(type(size) is int and size >= 0 for size in sizes), "invalid sizes")
        require(length + sum(sizes) <= LIMIT, "a frame that is too long")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise WireError("a header that cannot be read") from error
    return header, [read(size) for size in sizes]


def _scalar(value):
    """Encode None, a boolean, a string or a number as JSON."""
    if type(value) is int and abs(value) >= 2**63:
        return ["i", hex(value)]
    if type(value) is float and not math.isfinite(value):
        return ["f", str(value)]
    return value


def is_special(name):
    """Report whether a name is special to Python or NumPy; such attributes never reach a check.

    The exception is ``__wrapped__``, the function that the library's Function wraps.
    """
    return name.startswith("__") and name != "__wrapped__"


def _shows(thing):
    """Report whether an object's attributes are mirrored; those of a class or a function are not."""
    return not isinstance(thing, type) and getattr(type(thing), "mirrored", True)


def look(thing):
    """Take a snapshot of a shared object, to detect changes; None for one that is not mirrored.

    An array's snapshot is the tuple (shape, dtype, bytes); a generator's is the tuple (state,).
    """
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.dtype, thing.tobytes()
    if isinstance(thing, np.random.Generator):
        return (thing.bit_generator.state,)
    if isinstance(thing, list | dict):
        return list(thing) if isinstance(thing, list) else dict(thing)
    return attributes(thing) if _shows(thing) else None


def attributes(thing):
    """Return an object's attributes by name, including the slots of minigrad's classes and a notebook's."""
    found = {}
    for slot in _slots(type(thing)):
        with suppress(AttributeError):  # not set yet
            found[slot.__name__] = slot.__get__(thing, type(thing))
    return found | getattr(thing, "__dict__", {})


@lru_cache(256)  # called for every Parameter in every frame
def _slots(cls):
    """List a class's slots that minigrad's classes define, such as a Parameter's data, or a notebook's."""
    ours = (vars(base) for base in cls.__mro__ if base.__module__.startswith(("minigrad.", "__main__")))
    return [thing for held in ours for thing in held.values() if isinstance(thing, MemberDescriptorType)]


def _hides(thing, name):
    """Report whether an attribute would hide a method or a descriptor of its class.

    Attributes of a submission's own class may be hidden, as Python allows.
    """
    held = getattr_static(type(thing), name, None)
    more = callable(held) or hasattr(held, "__get__")
    return more and not getattr(held, "theirs", False) and held not in _slots(type(thing))


def differs(now, seen):
    """Report whether a shared object has changed; a list is unchanged if its items are the same objects."""
    if type(seen) is tuple:
        return now != seen
    if type(seen) is list:
        return len(now) != len(seen) or not all(map(is_, now, seen))
    # careful: keys are compared by identity, since a submission may define ==
    same = len(now) == len(seen) and all(map(is_, now, seen))
    return not same or not all(map(is_, now.values(), seen.values()))


def options_of(value):
    """List which options of a layer (training, need_dX) a callable declares, as `minigrad` does."""
    try:
        declared = signature(value).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return []
    fixed = getattr(value, "keywords", ())  # of a partial
    return [name for name in ("training", "need_dX") if name in declared and name not in fixed]


class Alone:
    """A substitute for a weak reference: refers to an object until there is no other reference to it.

    Plain lists and dicts and NumPy's generators do not support weak references. They cannot be kept until the
    exercise ends, since every frame compares all shared objects: a check that passes a new list in each of a
    thousand calls would cause a million comparisons.
    """

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing

    def count(self):
        """Return the object's reference count, which depends on the version of Python."""
        return sys.getrefcount(self.thing)

    def __call__(self):
        """Return the object, or None when it is gone."""
        if self.count() <= FEWEST:
            self.thing = None
        return self.thing


FEWEST = Alone([]).count()


class Shared:
    """An object with the same handle at both ends, its first snapshot, and the last one sent or received."""

    __slots__ = ("first", "handle", "key", "refer", "seen")

    def __init__(self, handle, thing, strong):
        self.handle, self.key = handle, id(thing)
        self.first = self.seen = look(thing)
        try:
            self.refer = (lambda: thing) if strong else weakref.ref(thing)
        except TypeError:  # a plain list or dict, or a generator
            self.refer = Alone(thing)


class Peer:
    """One end: encodes and decodes values, synchronizes shared objects, sends and serves requests.

    Subclasses decide which objects are sent by name, which remain local, how these are described, how proxies
    are made, and which requests are served. An object is shared until the grader's end drops it. The grader's
    own local objects are shared until their last proxy is gone.
    """

    prefix = ""  # of the handles that this end assigns
    yields = True  # whether the other end may change local objects
    list, dict = list, dict  # classes for the other end's lists and dicts

    def errors(self):
        """Return NumPy's floating-point error settings for the other end."""

    def __init__(self, read, write):
        self.read, self.write = read, write
        self.reset()

    def reset(self):
        """Forget all shared objects."""
        self.shared, self.keys, self.home, self.seeds, self.pinned, self.count = {}, {}, {}, {}, {}, 0

    # encoding

    def simplified(self, value):
        """Convert a value to one that can be sent; by default, return it unchanged."""
        return value

    def encode(self, value, out, depth=0):
        """Encode a value as JSON, and append the bytes of its arrays to `out`."""
        require(depth <= DEPTH, "a value that is nested too deeply")
        value = self.simplified(value)
        if value is None or type(value) in (bool, str, int, float):
            return _scalar(value)
        value = np.complex128(value) if type(value) is complex else value
        if isinstance(value, np.generic) and known(value.dtype.str):
            return ["n", value.dtype.str, self._put(value.tobytes(), out)]
        if isinstance(value, np.random.SeedSequence):
            return ["k", self.encode(value.entropy, out), list(value.spawn_key)]
        if type(value) in (tuple, set, frozenset):
            kind = "t" if type(value) is tuple else "e"
            return [kind, [self.encode(item, out, depth + 1) for item in value]]
        entry = self.keys.get(id(value))
        if entry is not None and entry.refer() is value:
            return ["h", entry.handle]
        named = self.named(value)
        return ["m", *named] if named else self._encode_new(value, out, depth)

    def _encode_new(self, value, out, depth):
        """Assign a handle to an object without one, and encode it as JSON."""
        handle = f"{self.prefix}{self.count}"
        self.count += 1
        if type(value) is np.ndarray and known(value.dtype.str):
            self.share(value, handle)
            order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "S"
            shape, free = list(value.shape), bool(value.flags.writeable)
            return ["a", handle, value.dtype.str, shape, self._put(value.tobytes(), out), order, free]
        if isinstance(value, np.random.Generator):
            self.share(value, handle)
            return ["g", handle, json.dumps(value.bit_generator.state)]
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(value, list) and not self.travels(name):
            self.share(value, handle)
            return ["l", handle, [self.encode(item, out, depth + 1) for item in value]]
        if isinstance(value, dict) and not self.travels(name):
            self.share(value, handle)
            return ["d", handle, self._pairs(value, out, depth)]
        if self.travels(name):
            self.share(value, handle)
            return ["o", handle, name, self._pairs(attributes(value), out, depth)]
        described, mirrored = self.describe(value), self.attributes(value)
        self.share(value, handle)
        self.home[handle] = value
        self.shared[handle].seen = mirrored
        return ["x", handle, described, self._pairs(self.shared[handle].seen or {}, out, depth)]

    def _pairs(self, things, out, depth):
        """Encode a dict as a list of pairs, in order."""
        both = self.encode, out, depth + 1
        return [[both[0](name, *both[1:]), both[0](thing, *both[1:])] for name, thing in things.items()]

    def _put(self, raw, out):
        out.append(raw)
        return len(out) - 1

    # decoding

    def decode(self, node, buffers, depth=0):
        """Decode a JSON node; raise WireError for anything that `encode` does not write."""
        require(depth <= DEPTH, "a value that is nested too deeply")
        if node is None or type(node) in (bool, int, float, str):
            return node
        try:
            kind, *parts = node
            return self.kinds[kind](self, buffers, depth + 1, *parts)
        except WireError:
            raise
        except Exception as error:  # too few parts, an unknown handle, not a number, ...
            raise WireError("a value that cannot be read") from error

    def _integer(self, buffers, depth, text):
        require(len(text) < 5000, "a number that is too long")
        return int(text, 16)

    def _special(self, buffers, depth, text):
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text]

    def _number(self, buffers, depth, dtype, place):
        return self._array(buffers, dtype, [], place)[()]

    def _key(self, buffers, depth, entropy, spawn_key):
        key = np.random.SeedSequence(self.decode(entropy, buffers, depth), spawn_key=tuple(spawn_key))
        return self.seeds.setdefault((key.entropy, key.spawn_key), key)  # reuse it: it counts its children

    def _tuple(self, buffers, depth, items):
        return tuple(self.decode(item, buffers, depth) for item in items)

    def _set(self, buffers, depth, items):
        require(len(items) <= KEYS, "a set that is too large")
        return {self.decode(item, buffers, depth) for item in items}

    def _known(self, buffers, depth, handle):
        return self.shared[handle].refer()

    def _new_array(self, buffers, depth, handle, dtype, shape, place, order, free):  # noqa: PLR0913  the parts of an array on the wire
        array = self._array(buffers, dtype, shape, place)
        if order == "F":
            array = np.asfortranarray(array)
        if order == "S":  # not contiguous: every second entry of a wider array
            wide = np.empty((*array.shape, 2), dtype=array.dtype)
            wide[..., 0] = array
            array = wide[..., 0]
        array.setflags(write=bool(free))
        return self.take(handle, array)

    def _array(self, buffers, dtype, shape, place):
        """Copy a buffer into a new array."""
        require(known(dtype) and len(shape) <= 16, "an array of an unknown dtype")
        require(all(type(size) is int and size >= 0 for size in [*shape, place]), "an invalid shape")
        raw, buffers[place] = buffers[place], None  # each buffer belongs to one array
        return np.frombuffer(raw, dtype).reshape(shape).copy()

    def _generator(self, buffers, depth, handle, state):
        generator = np.random.default_rng(0)
        generator.bit_generator.state = json.loads(state)
        return self.take(handle, generator)

    def _list(self, buffers, depth, handle, items):
        things = self.take(handle, self.list())
        things += [self.decode(item, buffers, depth) for item in items]
        self.shared[handle].seen = look(things)
        return things

    def _dict(self, buffers, depth, handle, pairs):
        things = self.take(handle, self.dict())
        things.update(self._unpaired(buffers, depth, pairs))
        self.shared[handle].seen = look(things)
        return things

    def _plain(self, buffers, depth, pairs):
        return self._unpaired(buffers, depth, pairs)

    def _object(self, buffers, depth, handle, name, pairs):
        require(self.comes(name), "an object of a class that cannot be sent")
        module, _, name = name.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        return self._filled(cls.__new__(cls), buffers, depth, handle, pairs)

    def _foreign(self, buffers, depth, handle, described, pairs):
        return self._filled(self.proxy(handle, described), buffers, depth, handle, pairs)

    def _filled(self, thing, buffers, depth, handle, pairs):
        self.take(handle, thing)
        if pairs:
            require(_shows(thing), "attributes of an object that is not mirrored")
            self._keep(thing, self._unpaired(buffers, depth, pairs, thing))
        self.shared[handle].seen = look(thing)
        return thing

    def _keep(self, thing, pairs):
        """Set the attributes of an object."""
        for key, value in pairs.items():
            object.__setattr__(thing, key, value)

    def _unpaired(self, buffers, depth, pairs, thing=None):
        """Decode pairs into a dict; attributes of an object must not hide those of its class."""
        require(len(pairs) <= KEYS, "a dict that is too large")
        things = {self.decode(k, buffers, depth): self.decode(v, buffers, depth) for k, v in pairs}
        if thing is not None:
            require(all(type(name) is str for name in things), "an attribute without a name")
            known = attributes(thing)
            hidden = [name for name in things if name not in known and _hides(thing, name)]
            require(not hidden, "an attribute that hides a method")
        return things

    kinds = {
        "i": _integer,
        "f": _special,
        "n": _number,
        "k": _key,
        "t": _tuple,
        "e": _set,
        "h": _known,
        "a": _new_array,
        "g": _generator,
        "l": _list,
        "d": _dict,
        "p": _plain,
        "o": _object,
        "x": _foreign,
    }

    # shared objects

    def holds(self, thing):
        """Report whether an object is kept alive until the other end drops it."""
        return True

    def share(self, thing, handle):
        """Register an object under a handle."""
        entry = Shared(handle, thing, self.holds(thing))
        self.shared[handle] = self.keys[entry.key] = entry

    def take(self, handle, thing):
        """Register an object under the other end's handle; return the object."""
        require(type(handle) is str and not handle.startswith(self.prefix), "a handle with this end's prefix")
        require(handle not in self.shared, "a handle given twice")
        self.share(thing, handle)
        return thing

    def drop(self, handle):
        """Forget a handle."""
        entry = self.shared.pop(handle, None)
        self.home.pop(handle, None)
        if entry is not None and self.keys.get(entry.key) is entry:
            del self.keys[entry.key]

    def changes(self, out):
        """Encode, as JSON, the changes since the last frame, and the handles no longer in use."""
        alive = {handle: entry.refer() for handle, entry in self.shared.items()}
        gone = [handle for handle, thing in alive.items() if thing is None]
        for handle in gone:
            self.drop(handle)
        self.pinned = alive  # until the answer is read, since it may refer to any of them
        news = []
        for handle, entry in list(self.shared.items()):
            if entry.seen is None:  # not mirrored
                continue
            thing, at_home = alive[handle], handle in self.home
            now = self.attributes(thing) if at_home else look(thing)
            if differs(now, entry.seen):
                entry.seen = now
                news.append([handle, *self._told(thing, now, out)])
        return news, gone

    def _told(self, thing, now, out):
        """Encode, as JSON, the kind of an object and its current snapshot."""
        if isinstance(thing, np.ndarray):
            shape, dtype, raw = now
            return "a", [dtype.str, list(shape), self._put(raw, out)]
        if isinstance(thing, np.random.Generator):
            return "g", json.dumps(*now)
        if isinstance(thing, list):
            return "l", [self.encode(item, out) for item in now]
        return "d", self._pairs(now, out, 0)

    def apply(self, news, gone, buffers):
        """Apply the other end's changes."""
        try:
            for handle, kind, told in news:
                require(self.yields or handle not in self.home, "a change to a local object")
                thing = self.shared[handle].refer() if handle in self.shared else None
                self._renew(handle, thing, kind, told, buffers)
                if thing is not None:
                    self.shared[handle].seen = self.attributes(thing) if handle in self.home else look(thing)
            for handle in gone:
                self.drop(handle)
        except WireError:
            raise
        except Exception as error:
            raise WireError("a change that cannot be read") from error

    def _renew(self, handle, thing, kind, told, buffers):
        """Apply the other end's change to an object; decode its parts even if the object is gone."""
        if kind == "a":
            array = self._array(buffers, *told)
            if thing is not None:
                fits = array.dtype == thing.dtype and thing.flags.writeable
                require(fits, "a change that does not fit the array")
                thing[...] = array.reshape(thing.shape)
        elif kind == "g":
            if thing is not None:
                thing.bit_generator.state = json.loads(told)
        elif kind == "l":
            items = [self.decode(item, buffers) for item in told]
            if thing is not None:
                thing[:] = items
        elif thing is None or isinstance(thing, dict):
            pairs = self._unpaired(buffers, 0, told)
            if thing is not None:
                thing.clear()
                thing.update(pairs)
        else:
            self._renew_attributes(thing, self._unpaired(buffers, 0, told, thing), self.shared[handle].seen)

    def _renew_attributes(self, thing, pairs, seen):
        """Set an object's attributes, and delete those that the other end has deleted."""
        held = getattr(thing, "__dict__", {})
        for name in [name for name in seen or () if name in held and name not in pairs]:
            del held[name]
        self._keep(thing, pairs)

    # requests and answers

    def send(self, do, value=None, target=None, name=None, kwargs=None):
        """Write a frame."""
        out, before = [], self.count
        try:
            header = {"do": do, "target": target, "name": name, "value": self.encode(value, out)}
            header |= {"kwargs": ["p", self._pairs(kwargs or {}, out, 0)], "errors": self.errors()}
            header["news"], header["gone"] = self.changes(out)
            frame = pack(header, out)
        except WireError:
            for number in range(before, self.count):  # the other end never received them
                self.drop(f"{self.prefix}{number}")
            raise
        self.write(frame)

    def receive(self):
        """Read a frame; return its header with the values decoded."""
        header, buffers = unpack(self.read)
        header["value"] = self.decode(header["value"], buffers)
        header["kwargs"] = self.decode(header["kwargs"], buffers)
        self.apply(header["news"], header["gone"], buffers)
        self.pinned = {}
        return header

    def ask(self, do, target=None, name=None, value=None, kwargs=None):
        """Send a request, and serve incoming ones until its answer; return that, or raise its error."""
        self.send(do, value, target, name, kwargs)
        while True:
            header = self.receive()
            if header["do"] == "return":
                return header["value"]
            if header["do"] == "raise":
                raise self.error(header["value"])
            self.answer(header)

    def answer(self, header):
        """Serve a request of the other end, and send the result."""
        try:
            self.send("return", self.serve(**header))
        except Exception as error:
            self.send("raise", self.words(error))
