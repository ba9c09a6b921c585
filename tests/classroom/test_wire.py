"""Values on the wire: they arrive unchanged, stay shared, and anything invalid is refused."""

import json
import math
import random
import struct

import numpy as np
import pytest

from classroom.remote import Remote
from classroom.wire import DEPTH, LIMIT, PARTS, Peer, WireError, pack, unpack
from minigrad import Buffer, Parameter

HEADER = dict.fromkeys(PARTS) | {"do": "return", "kwargs": ["p", []], "news": [], "gone": []}


def reader(data):
    """Return a function that returns the next `count` bytes, like the pipe."""
    place = 0

    def read(count):
        nonlocal place
        place += count
        return data[place - count : place].ljust(count, b"\0")

    return read


class Alone(Remote):
    """The grader's end without a pipe, with the bytes to read as an argument."""

    def __init__(self, data=b""):
        super().__init__(0, 0)
        self.read, self.write = reader(data), lambda frame: None


VALUES = [
    *(None, True, -3, 2**100, 0.1, "αβγ\n", math.inf, -math.inf, {1, 2}, {"a": 1, (2, 3): [4]}),
    *((1, (2.0, "three"), ()), [1, [2]]),
    *(np.float32(0.5), np.int64(-7), np.bool_(True), np.complex128(1 + 2j)),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_unchanged(end, value):
    back = end.find("echo", "def echo(X):\n    return X")(value)
    assert back == value and type(back) is type(value)


def test_nan_and_complex_numbers_come_back(end):
    echo = end.find("echo", "def echo(X):\n    return X")
    assert math.isnan(echo(math.nan))
    assert echo(1 + 2j) == 1 + 2j


@pytest.mark.parametrize("dtype", "bool int8 uint8 int64 float16 float32 float64 complex64 U3".split())
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 5), (2, 3, 5)])
def test_an_array_comes_back_unchanged(end, dtype, shape):
    X = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    same, copied = end.find("twice", "def twice(X):\n    return X, X.copy()")(X)
    assert same is X  # it is the caller's own
    np.testing.assert_array_equal(copied, X)
    assert copied.dtype == X.dtype and copied.shape == shape


@pytest.mark.parametrize(
    ("make", "flags"),
    [(lambda X: X, (True, False)), (lambda X: X.T, (False, True)), (lambda X: X[:, ::2], (False, False))],
    ids=["rows", "columns", "neither"],
)
def test_the_layout_of_an_array_is_preserved(end, make, flags):
    look = end.find("look", "def look(X):\n    return X.flags.c_contiguous, X.flags.f_contiguous, X.sum()")
    X = make(np.arange(30.0).reshape(5, 6))
    assert look(X) == (*flags, X.sum())


def test_a_read_only_array_is_read_only_at_the_other_end(end):
    write = end.find("write", "def write(X):\n    X[0] = 1.0")
    X = np.zeros(3)
    X.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        write(X)


def test_changes_at_the_other_end_reach_this_one(end):
    end.run("def change(X, things, table):\n    X[0] = 7\n    things.append(X)\n    table['b'] = 2")
    X, things, table = np.zeros(3), [1], {"a": 1}
    end.find("change")(X, things, table)
    assert X[0] == 7 and things[1] is X and table == {"a": 1, "b": 2}


def test_changes_at_this_end_reach_the_other_one_even_inside_a_closure(end):
    X = np.zeros(3)
    total = end.find("keep", "def keep(X):\n    return lambda: X.sum()")(X)
    assert total() == 0
    X[...] = [1, 2, 3]
    assert total() == 6


def test_a_closure_writes_into_the_callers_array_long_after_the_call(end):
    X = np.zeros(3)
    add = end.find("keep", "def keep(X):\n    def add(Y):\n        X.__iadd__(Y)\n    return add")(X)
    add(np.ones(3))
    add(np.ones(3))
    np.testing.assert_array_equal(X, [2, 2, 2])


def test_a_generator_is_shared(end):
    draw = end.find("draw", "def draw(rng):\n    return rng.normal()")
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    assert [draw(rng), rng.normal(), draw(rng)] == list(same.normal(size=3))


def test_a_parameter_is_shared_with_all_that_hangs_on_it(end):
    update = "p.grad += 1\n    p.data = p.data - 3 * p.grad\n    p.trainable = False\n    p.data += p.grad"
    end.run(f"def train(p):\n    {update}")
    parameter = Parameter([1.0, 2.0])
    end.find("train")(parameter)
    np.testing.assert_array_equal(parameter.data, [-1, 0])
    np.testing.assert_array_equal(parameter.grad, [1, 1])
    assert parameter.trainable is False


def test_unused_things_are_dropped_at_both_ends(end):
    make = end.find("make", "def make(X):\n    return X + 1, lambda: X")
    for _ in range(20):
        make(np.zeros(3))
    end.run("pass")
    assert len(end.remote.shared) < 10 and len(end.child.shared) < 10


def test_a_value_nested_too_deeply_is_refused_by_the_sender(end):
    deep = end.find("deep", "def deep():\n    X = 1\n    for _ in range(50):\n        X = (X,)\n    return X")
    with pytest.raises(Exception, match="nested too deeply"):
        deep()
    with pytest.raises(WireError, match="nested too deeply"):
        Peer(None, None).encode(nested(DEPTH + 2), [])
    assert end.find("X", "X = 5") == 5  # the wire is as it was


def test_after_a_value_that_cannot_be_sent_its_parts_can(end):
    end.run("A = [1.0]\ndef deep():\n    X = A\n    for _ in range(50):\n        X = (A, X)\n    return X")
    with pytest.raises(Exception, match="nested too deeply"):
        end.find("deep")()
    assert end.find("A") == [1.0]


FUNCTION = {"kind": "function", "name": "f", "names": ["X"], "counts": [1, 0], "bases": []}
WRONG = {
    "no kind": [],
    "an unknown kind": ["q", 1],
    "a kind that is none": [[], 1],
    "an object": {"a": 1},
    "too few parts": ["a", "c1"],
    "too many parts": ["f", "nan", "nan"],
    "a number that is none": ["i", "zz"],
    "a number too long": ["i", "1" * 6000],
    "a special number that is none": ["f", "1e5"],
    "a buffer that is not there": ["a", "c1", "<f8", [1], 3, "C", True],
    "a buffer of another size": ["a", "c1", "<f8", [2], 0, "C", True],
    "a buffer from the end": ["n", "<f8", -1],
    "a shape that is none": ["a", "c1", "<f8", [-1], 0, "C", True],
    "a shape of floats": ["a", "c1", "<f8", [1.0], 0, "C", True],
    "objects in an array": ["a", "c1", "|O", [1], 0, "C", True],
    "a type that is none": ["a", "c1", "f", [1], 0, "C", True],
    "a handle with this end's prefix": ["l", "p1", []],
    "a handle that is none": ["l", 5, []],
    "a handle given twice": ["t", [["l", "c1", []], ["l", "c1", []]]],
    "a handle nobody has given": ["h", "c9"],
    "a class that does not travel": ["o", "c1", "os.path", []],
    "a layer, which stays at home": ["o", "c1", "minigrad.layers.linear.Linear", []],
    "a name of a module": ["m", "os", "system"],
    "an attribute that hides a method": ["o", "c1", "minigrad.parameter.Parameter", [["zero_grad", 1]]],
    "a key that cannot be one": ["d", "c1", [[["l", "c2", []], 1]]],
    "nothing described": ["x", "c1", None, []],
    "a proxy of no kind": ["x", "c1", {"kind": "ghost", "name": "f", "bases": []}, []],
    "a name that is none": ["x", "c1", {"kind": "class", "name": "\n", "bases": []}, []],
    "a base that is none": ["x", "c1", {"kind": "class", "name": "A", "bases": [5]}, []],
    "names that are none": ["x", "c1", {"kind": "function", "name": "f", "bases": [], "names": ["a b"]}, []],
    "attributes of a class": ["x", "c1", {"kind": "class", "name": "A", "bases": []}, [["a", 1]]],
    "attributes of a function": ["x", "c1", FUNCTION, [["a", 1]]],
}


def nested(depth, wrap=lambda inner: (inner,)):
    """Return nothing, wrapped many times."""
    inner = None
    for _ in range(depth):
        inner = wrap(inner)
    return inner


WRONG["too deep"] = nested(DEPTH + 2, lambda inner: ["t", [inner]])


@pytest.mark.parametrize("node", WRONG.values(), ids=WRONG)
def test_invalid_values_are_refused(node):
    with pytest.raises(WireError):
        Alone(pack(HEADER | {"value": node}, [b"12345678"])).receive()


FRAMES = {
    "too long": struct.pack("<I", LIMIT + 1),
    "no JSON": struct.pack("<I", 3) + b"abc",
    "empty": struct.pack("<I", 2) + b"[]",
    "other parts": pack({"do": "return"}, []),
    "no header": struct.pack("<I", 6) + b"[1, 2]",
    "no text": struct.pack("<I", 4) + b"\xff\xff\xff\xff",
    "nested": struct.pack("<I", 20_000) + b"[" * 20_000,
}


@pytest.mark.parametrize("data", FRAMES.values(), ids=FRAMES)
def test_an_invalid_frame_is_refused(data):
    with pytest.raises(WireError):
        unpack(reader(data))


@pytest.mark.parametrize("sizes", [[-1], [True], [LIMIT], ["1"], 5])
def test_invalid_sizes_are_refused(sizes):
    text = json.dumps([HEADER, sizes]).encode()
    with pytest.raises(WireError):
        unpack(reader(struct.pack("<I", len(text)) + text))


def test_a_frame_that_is_too_large_is_refused_by_the_sender():
    with pytest.raises(WireError, match="too large"):
        pack(HEADER, [bytes(LIMIT)])


def test_the_graders_objects_cannot_be_changed_by_the_other_end():
    ours = Alone()
    ours.encode(test_an_invalid_frame_is_refused, [])
    (handle,) = ours.home
    with pytest.raises(WireError, match="a change to a local object"):
        ours.apply([[handle, "d", []]], [], [])


@pytest.mark.parametrize(
    ("thing", "kind", "told"),
    [
        (np.zeros(3), "a", ["<f4", [3], 0]),
        (np.zeros(3), "l", [1, 2, 3, 4]),
        (np.zeros(3), "g", "{}"),
        (np.random.default_rng(0), "g", "{}"),
        ([1], "d", [["a", 1]]),
        (Buffer([1.0]), "d", [["shape", 1]]),
        (Buffer([1.0]), "l", []),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_impossible_change_is_refused(thing, kind, told):
    ours = Alone()
    ours.share(thing, "p0")
    with pytest.raises(WireError):
        ours.apply([["p0", kind, told]], [], [bytes(12)])


def test_changes_that_cannot_be_read_are_refused():
    with pytest.raises(WireError):
        Alone().apply(5, [], [])


def test_a_change_of_a_dropped_thing_is_still_read():
    ours = Alone()
    told = [["p7", "d", [["a", ["l", "c1", []]]]], ["p8", "l", [["l", "c2", []]]], ["p9", "g", "{}"]]
    ours.apply(told, [], [])
    ours.apply([["p7", "a", ["<f8", [1], 0]]], [], [bytes(8)])
    assert {"c1", "c2"} <= ours.shared.keys()


def mutated(data, rng):
    """Return bytes with a few of them changed, lost, doubled or exchanged for others."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(4, len(data))
        how = rng.randrange(5)
        if how == 0:
            data[place] = rng.randrange(256)
        elif how == 1:
            del data[place : place + rng.randint(1, 9)]
        elif how == 2:
            data[place:place] = data[place : place + rng.randint(1, 9)]
        elif how == 3:
            data[place:place] = rng.choice(b"""[ ] null -1 "h" "x" 1e999 NaN {}""".split())
        else:
            other = rng.randrange(4, len(data))
            data[place : place + 3] = data[other : other + 3]
        if len(data) < 40:
            break
    return struct.pack("<I", max(0, len(data) - 4 - rng.choice([0, 0, 8, 24]))) + bytes(data[4:])


def fuzz(count, seed=0):
    """Read `count` damaged frames; return how many were refused and how many were read."""
    rng, made = random.Random(seed), []
    values = 3, [1.0, (2, "x")], np.arange(3.0), {"a": Parameter([1.0])}, np.random.default_rng(0), fuzz
    for value in values:
        frames = []
        peer = Peer(None, frames.append)
        peer.prefix = "c"
        peer.named, peer.travels = lambda value: None, lambda name: name.startswith("minigrad.parameter")
        peer.describe, peer.attributes = lambda value: FUNCTION, lambda value: {}
        peer.send("return", value)
        made += frames
    refused = 0
    for _ in range(count):
        try:
            Alone(mutated(rng.choice(made), rng)).receive()
        except WireError:
            refused += 1
    return refused


def test_damaged_frames_are_refused_or_read_and_nothing_else_happens():
    refused = fuzz(50_000)
    assert 25_000 < refused < 50_000  # some damage is none: a number for another


@pytest.mark.long
def test_a_million_damaged_frames_are_refused_or_read_and_nothing_else_happens():
    assert 500_000 < fuzz(1_000_000, seed=1) < 1_000_000
