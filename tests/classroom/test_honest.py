"""Right answers of unusual form, which Python allows, reach the check unchanged.

A form is here if the wire must do something for it: describe a function, show an object's attributes, or
carry a result. What only Python does, such as a loop or a closure, is the same in the other process.
"""

import numpy as np
import pytest

from classroom.wire import WireError
from course.checks import find
from minigrad import Layer, gradcheck

X = np.arange(6.0).reshape(2, 3) + 0.5
START = """
import enum, warnings
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import InitVar, dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial, partialmethod, singledispatch, wraps
from typing import Generic, NamedTuple, TypeVar
import numpy as np
from minigrad import Layer, Parameter
"""


def doubles(f):
    """Ask whether a function gives twice what it is given."""
    return np.array_equal(np.asarray(f(X.copy()), dtype=float), 2 * X)


FUNCTIONS = {  # the source of f: twice what it is given
    "a partial": "f = partial(np.multiply, 2.0)",
    "a vectorized function": "f = np.vectorize(lambda x: 2 * x)",
    "a lambda with any arguments": "f = lambda *Xs, **options: 2 * Xs[0]",
    "an argument by position alone": "def f(X, /, factor=2): return factor * X",
    "a keyword alone": "def f(X, *, factor=2, **options): return factor * X",
    "names of another alphabet": "def f(Ξ):\n    δ = 2\n    return δ * Ξ",
    "a wrapped function": "g = lambda X: 2 * X\n@wraps(g)\ndef f(*args): return g(*args)",
    "a single dispatch": """
@singledispatch
def f(X): raise TypeError(type(X))
@f.register
def _(X: np.ndarray): return 2 * X
""",
    "annotations of the future": """
from __future__ import annotations
def f(X: NotHere) -> NorThis: return 2 * X
""",
    "a method of a built-in": "f = np.array(2.0).__mul__",
    "a static method": "class F:\n    @staticmethod\n    def go(X): return 2 * X\nf = F.go",
    "a class method": "class F:\n    @classmethod\n    def go(cls, X): return 2 * X\nf = F.go",
    "a bound method": "class F:\n    def go(self, X): return 2 * X\nf = F().go",
    "a partial method": """
class F:
    def times(self, k, X): return k * X
    go = partialmethod(times, 2)
f = F().go
""",
    "a decorated bound method": """
def d(m):
    def w(*args, **options): return m(*args, **options)
    return w
class F:
    @d
    def go(self, X): return 2 * X
f = F().go
""",
    "a counter on the function": """
def f(X):
    f.calls = getattr(f, 'calls', 0) + 1
    return 2 * X
""",
    "a long name": "f = lambda X: 2 * X\nf.__name__ = 'a' * 200",
    "a name of two lines": "f = lambda X: 2 * X\nf.__name__ = 'a\\nb'",
    "a long cell": "x = 1\n" * 3000 + "f = lambda X: 2 * X",
    "a generic class": """
T = TypeVar('T')
class F(Generic[T]):
    def __call__(self, X): return 2 * X
f = F[int]()
""",
    "an abstract class": """
class A(ABC):
    @abstractmethod
    def k(self): ...
class F(A):
    def k(self): return 2
    def __call__(self, X): return self.k() * X
f = F()
""",
    "a class with a metaclass": """
class F(metaclass=type('Meta', (type,), {})):
    def __call__(self, X): return 2 * X
f = F()
""",
    "a class made by hand": "f = type('F', (), {'__call__': lambda self, X: 2 * X})()",
    "a dataclass with a default": """
@dataclass
class F:
    k: float = 2.0
    def __call__(self, X): return self.k * X
f = F()
""",
    "a namedtuple that can be called": """
class F(NamedTuple):
    k: float = 2.0
    def __call__(self, X): return self.k * X
f = lambda X, F=F(): F(X)
""",
    "printing": "def f(X):\n    print('hello', X)\n    return 2 * X",
    "a warning": """
def f(X):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter('always')
        warnings.warn('twice')
    return 2 * X
""",
}
OBJECTS = {  # the lines of a class whose objects are called with X, and what such a call returns
    "slots": ("__slots__ = ('k',)\ndef __init__(self): self.k = 2", "self.k * X"),
    "a property": ("k = property(lambda self: 2)", "self.k * X"),
    "a cached property": ("@cached_property\ndef k(self): return 2", "self.k * X"),
    "a class attribute set on it": ("k = None\ndef __init__(self): self.k = 2", "self.k * X"),
    "a method replaced on it": (
        "def g(self, X): pass\ndef __init__(self): self.g = lambda X: 2 * X",
        "self.g(X)",
    ),
    "a ufunc on it": ("def __init__(self): self.g = np.multiply", "self.g(2, X)"),
    "a module on it": ("def __init__(self): self.np = np", "self.np.add(X, X)"),
    "a big dict on it": ("def __init__(self): self.d = dict.fromkeys(range(5000), 2)", "self.d[7] * X"),
    "a big array on it": ("def __init__(self): self.big = np.full(2_600_000, 2.0)", "self.big[0] * X"),
    "a deep list on it": (
        "def __init__(self):\n    self.deep = []\n    for _ in range(50): self.deep = [self.deep]",
        "2 * X",
    ),
    "itself on it": ("def __init__(self): self.me = self", "2 * X"),
    "an enumeration on it": (
        "def __init__(self): self.k = enum.Enum('E', [('TWO', 2)]).TWO",
        "self.k.value * X",
    ),
    "equality of its own": ("__hash__ = object.__hash__\ndef __eq__(self, other): return False", "2 * X"),
    "a length of 0": ("def __len__(self): return 0", "2 * X"),
    "a way to show itself": ("def __repr__(self): return 'twice'", "2 * X"),
    "attributes made when asked for": (
        "def __getattr__(self, name):\n    if name == 'k': return 2\n    raise AttributeError(name)",
        "self.k * X",
    ),
    "an eye on its attributes": (
        "def __setattr__(self, name, value): object.__setattr__(self, name, value)\n"
        "def __init__(self): self.k = 2",
        "self.k * X",
    ),
    "a descriptor": ("k = type('Two', (), {'__get__': lambda *asked: 2})()", "self.k * X"),
    "a private name": ("def __init__(self): self.__k = 2", "self.__k * X"),
}
RESULTS = {  # what a function of X returns
    "a matrix": "np.matrix(2 * X)",
    "a masked array": "np.ma.masked_array(2 * X)",
    "a masked array that masks nothing": "np.ma.masked_less(2 * X, -1)",
    "an array of another byte order": "(2 * X).astype('>f8')",
    "an array of a class of its own": "(2 * X).view(type('A', (np.ndarray,), {}))",
    "half precision": "(2 * X).astype('f2')",
    "more than double precision": "2 * X.astype(np.longdouble)",
    "lists": "(2 * X).tolist()",
    "a list of rows": "[2 * row for row in X]",
    "numbers of NumPy in tuples": "tuple(tuple(2 * x for x in row) for row in X)",
    "a view with steps": "np.repeat(2 * X, 2, axis=1)[:, ::2]",
    "a view that is turned round": "(2 * X)[::-1, ::-1][::-1, ::-1]",
    "Fortran order": "np.asfortranarray(2 * X)",
    "a broadcast view": "np.broadcast_arrays(2 * X, np.zeros((1, 1)))[0]",
    "a view of a structure": "np.ascontiguousarray(2 * X).view([('x', float)])['x'].reshape(X.shape)",
    "a read-only array": "[Y := 2 * X, Y.setflags(write=False)][0]",
}
VALUES = {  # a value of a class that does not travel, and what the check finds
    "namedtuple('P', 'a b')(1, 2.5)": (1, 2.5),
    "OrderedDict(a=1)": {"a": 1},
    "defaultdict(list, a=[1])": {"a": [1]},
    "Counter('aab')": {"a": 2, "b": 1},
    "type('D', (dict,), {})(a=1)": {"a": 1},
    "type('L', (list,), {})([1, 2])": [1, 2],
    "type('P', (tuple,), {})((1, 2))": (1, 2),
    "type('S', (str,), {})('abc')": "abc",
    "type('N', (float,), {})(1.5)": 1.5,
    "enum.IntEnum('K', [('A', 7)]).A": 7,
    "enum.Enum('K', [('A', 'a')], type=str).A": "a",
    "frozenset([1, 2])": {1, 2},
    "np.int8(-3)": -3,
    "np.longdouble(0.5)": 0.5,
    "Fraction(1, 4)": 0.25,
    "Decimal('0.5')": 0.5,
}
FORWARD = """
    def forward(self, X):
        def backward(dY):
            self.W.grad += (dY * X).sum(axis=0)
            return dY * self.W.data
        return X * self.W.data, backward
"""
LAYERS = {  # the lines of a class whose objects are right layers; FORWARD follows, unless they have their own
    "a class attribute set on the object": """
    W = None
    def __init__(self): self.W = Parameter(np.ones(3))
""",
    "backward kept on the object": """
    def forward(self, X):
        self.last = lambda dY: 2 * dY
        return 2 * X, self.last
""",
    "forward set on the object": """
    def __init__(self): self.forward = lambda X: (2 * X, lambda dY: 2 * dY)
""",
    "a name of its own": """
    name = property(lambda self: 'mine')
    def forward(self, X): return 2 * X, lambda dY: 2 * dY
""",
    "parameters in a namedtuple": """
    def __init__(self): self.p = namedtuple('P', 'W b')(Parameter(np.ones(3)), Parameter(np.zeros(3)))
    def forward(self, X):
        W, b = self.p
        def backward(dY):
            W.grad += (dY * X).sum(axis=0)
            b.grad += dY.sum(axis=0)
            return dY * W.data
        return X * W.data + b.data, backward
""",
    "parameters in a dict": """
    def __init__(self): self.p = {'W': Parameter(np.ones(3))}
    W = property(lambda self: self.p['W'])
""",
    "parameters in a list": """
    def __init__(self): self.all = [Parameter(np.ones(3))]
    W = property(lambda self: self.all[0])
""",
    "a layer inside": f"""
    class Inner(Layer):
        def __init__(self): self.W = Parameter(np.ones(3))
{FORWARD.replace("    ", "        ")}
    def __init__(self): self.inner = self.Inner()
    def forward(self, X):
        Y, backward = self.inner(X)
        return 2 * Y, lambda dY: backward(2 * dY)
""",
    "an option": """
    def forward(self, X, training=False): return 2 * X, lambda dY: 2 * dY
""",
    "a counter": """
    calls = 0
    def forward(self, X):
        f.calls += 1
        return 2 * X, lambda dY: 2 * dY
""",
    "an object for backward": """
    def forward(self, X): return 2 * X, type('Back', (), {'__call__': lambda self, dY: 2 * dY})()
""",
    "a partial for backward": """
    def forward(self, X): return X * X, partial(np.multiply, 2 * X)
""",
    "a copy of its weights": """
    def __init__(self): self.W = Parameter(np.ones(3))
    def forward(self, X):
        W = self.W.data.copy()
        def backward(dY):
            self.W.grad = self.W.grad + (dY * X).sum(axis=0)
            return dY * W
        return X * W, backward
""",
}
ANSWERS = {  # the source of an answer, under the name of its exercise
    "a namedtuple of guesses": (
        "04_closures.three_calls",
        "three_calls = lambda: namedtuple('Guess', 'first second third')(12, 3, 30)",
    ),
    "guesses in an array": (
        "04_closures.three_calls",
        "three_calls = lambda: np.array([12.0, 3.0, 30.0])",
    ),
    "guesses of NumPy's own kinds": (
        "04_closures.three_calls",
        "three_calls = lambda: (np.int64(12), np.float32(3), np.array(30.0))",
    ),
    "an object for a layer": (
        "04_closures.reduce_mean",
        """
class Mean:
    def __call__(self, X):
        steps = X.shape[1]
        return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, steps, axis=1)
reduce_mean = Mean()
""",
    ),
    "an object for a way back": (
        "04_closures.reduce_mean",
        """
@dataclass(frozen=True)
class Back:
    steps: int
    def __call__(self, dY):
        return np.broadcast_to(dY[:, None] / self.steps, (len(dY), self.steps, dY.shape[1]))
def reduce_mean(X): return np.add.reduce(X, axis=1) / X.shape[1], Back(X.shape[1])
""",
    ),
    "gradients in a namedtuple": (
        "04_closures.two_layers",
        """
Gradients = namedtuple('Gradients', 'dW1 dW2 dX')
def two_layers(W1, W2, X, T):
    with warnings.catch_warnings(action='ignore'):
        W1, W2, X, T = map(np.asmatrix, (W1, W2, X, T))
        H = X * W1
        dY = (H * W2 - T) / len(X)
        dH = dY * W2.T
        return Gradients(X.T * dH, H.T * dY, dH * W1.T)
""",
    ),
    "a class that scales": (
        "04_closures.scale",
        """
class scale:
    def __init__(self, gain, dgain): self.gain, self.dgain = gain, dgain
    def __call__(self, X):
        def backward(dY):
            self.dgain += (X * dY).sum(axis=0)
            return self.gain * dY
        return self.gain * X, backward
""",
    ),
    "a decorated dataclass for a layer": (
        "04_closures.Linear",
        """
def known(cls):
    cls.known = True
    return cls
@known
@dataclass(eq=False)
class Linear(Layer):
    n_in: int
    n_out: int
    rng: InitVar[object] = None
    def __post_init__(self, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(self.n_out, self.n_in)) / self.n_in**0.5)
        self.b = Parameter(np.zeros(self.n_out))
    def forward(self, X):
        def backward(dY):
            self.W.grad += dY.T @ X
            self.b.grad += dY.sum(axis=0)
            return dY @ self.W.data
        return X @ self.W.data.T + self.b.data, backward
""",
    ),
    "what a check's layer changes is put back": (
        "03_gradcheck.who_changed",
        """
def who_changed(layer, X, dY):
    before, dY_before, found = X.copy(), dY.copy(), []
    layer.forward(X)
    found += ["forward changed X"] * bool(np.any(X != before))
    X[...] = before
    layer.backward(X, dY)
    found += ["backward changed X"] * bool(np.any(X != before))
    found += ["backward changed dY"] * bool(np.any(dY != dY_before))
    X[...], dY[...] = before, dY_before
    return found
""",
    ),
    "an OrderedDict for a snapshot": (
        "08_digits.snapshot",
        """
from copy import deepcopy
def snapshot(run):
    return OrderedDict(W=run['W'].copy(), b=run['b'].copy(), rng=deepcopy(run['rng'].bit_generator.state))
""",
    ),
}


@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_of_any_form_is_called(end, source):
    assert doubles(end.find("f", START + source))


@pytest.mark.parametrize(("lines", "result"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_with_anything_on_it_is_called(end, lines, result):
    body = f"{lines}\ndef __call__(self, X): return {result}".replace("\n", "\n    ")
    assert doubles(end.find("f", f"{START}class F:\n    {body}\nf = F()"))


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_of_any_form_arrives(end, result):
    quiet = "with warnings.catch_warnings(action='ignore')"  # a matrix is deprecated
    assert doubles(end.find("f", f"{START}def f(X):\n    {quiet}:\n        return {result}"))


@pytest.mark.parametrize(("source", "value"), VALUES.items(), ids=VALUES)
def test_a_value_of_a_class_of_its_own_arrives_as_a_plain_one(end, source, value):
    arrived = end.find("f", f"{START}f = lambda: {source}")()
    assert arrived == value and isinstance(arrived, type(value) | np.generic)


@pytest.mark.parametrize("lines", LAYERS.values(), ids=LAYERS)
def test_a_layer_of_any_form_passes(end, lines):
    cls = end.find("f", f"{START}class f(Layer):{lines}{'' if 'forward' in lines else FORWARD}")
    assert gradcheck(cls(), X).ok


@pytest.mark.parametrize(("name", "source"), ANSWERS.values(), ids=ANSWERS)
def test_a_right_answer_of_any_form_passes_its_check_across_the_pipe(end, name, source):
    exercise = find(name)
    exercise.judge(end.find(exercise.short, START + source))
    assert exercise.changes or not end.remote.touched


def test_a_masked_entry_is_not_a_number(end):
    masked = end.find("f", START + "def f(X):\n    return np.ma.masked_less(X, 1)")(X)
    assert np.isnan(masked[0, 0]) and masked[1, 2] == X[1, 2]


def test_a_result_that_repeats_itself_is_refused_in_a_neutral_message(end):
    end.run("def f(X):\n    deep = X\n    for _ in range(30):\n        deep = [deep]\n    return deep")
    with pytest.raises(ValueError, match="cannot be sent to the check: a value that is nested"):
        end.find("f")(X)


def test_a_defaultdict_on_an_object_is_seen_as_it_changes(end):
    body = "def __init__(self): self.d = defaultdict(list)\n    def __call__(self, X): self.d['a'].append(X)"
    f = end.find("f", f"{START}class f:\n    {body}")()
    f(1)
    f(2)
    assert f.d == {"a": [1, 2]}


ASKS = """
def asks(object):
    try:
        object.nowhere
    except AttributeError:
        return hasattr(object, 'nowhere'), getattr(object, 'nowhere', 7), hasattr(object, 'forward')
"""


def test_an_answer_may_ask_whether_a_check_s_object_has_an_attribute(end):
    class Checks(Layer):
        def forward(self, X):
            return X, lambda dY: dY

    for held in (Checks(), lambda X: X):
        assert end.find("asks", ASKS)(held) == (False, 7, isinstance(held, Layer))


def test_an_exception_of_a_check_s_function_keeps_its_class(end):
    def f(error):
        raise {"key": KeyError("a"), "float": FloatingPointError("b"), "own": WireError("c")}[error]

    catches = "def catches(f, e):\n    try: f(e)\n    except Exception as error: return type(error).__name__"
    caught = end.find("catches", catches)
    assert [caught(f, e) for e in ("key", "float", "own")] == [
        "KeyError",
        "FloatingPointError",
        "RuntimeError",
    ]
