"""Right answers of unusual form, which Python allows, reach the check unchanged."""

import numpy as np
import pytest

from course.checks import find
from minigrad import gradcheck

X = np.arange(6.0).reshape(2, 3) + 0.5


def doubles(f):
    """Ask whether a function gives twice what it is given."""
    return np.array_equal(np.asarray(f(X.copy()), dtype=float), 2 * X)


def passes(cls):
    """Ask whether the layer that a class makes is right."""
    return gradcheck(cls(), X).ok


LAYER = """
    def forward(self, X):
        def backward(dY):
            self.W.grad += (dY * X).sum(axis=0)
            return dY * self.W.data
        return X * self.W.data, backward
"""
FUNCTIONS = {  # the source of f: twice what it is given
    "a partial": """
from functools import partial
f = partial(np.multiply, 2.0)
""",
    "a vectorized function": "f = np.vectorize(lambda x: 2 * x)",
    "a lambda with any arguments": "f = lambda *Xs, **options: 2 * Xs[0]",
    "an argument by position alone": """
def f(X, /, factor=2):
    return factor * X
""",
    "a keyword alone": """
def f(X, *, factor=2, **options):
    return factor * X
""",
    "an object that can be called": """
class F:
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "an object with slots": """
class F:
    __slots__ = ('k',)
    def __init__(self):
        self.k = 2
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a dataclass with a default": """
from dataclasses import dataclass
@dataclass
class F:
    k: float = 2.0
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a static method": """
class F:
    @staticmethod
    def go(X):
        return 2 * X
f = F.go
""",
    "a class method": """
class F:
    @classmethod
    def go(cls, X):
        return 2 * X
f = F.go
""",
    "a bound method": """
class F:
    def go(self, X):
        return 2 * X
f = F().go
""",
    "a decorated bound method": """
def d(m):
    def w(*args, **options):
        return m(*args, **options)
    return w
class F:
    @d
    def go(self, X):
        return 2 * X
f = F().go
""",
    "a wrapped function": """
from functools import wraps
def g(X):
    return 2 * X
@wraps(g)
def f(*args):
    return g(*args)
""",
    "annotations of the future": """
from __future__ import annotations
def f(X: NotHere) -> NorThis:
    return 2 * X
""",
    "a property": """
class F:
    k = property(lambda self: 2)
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a cached property": """
from functools import cached_property
class F:
    @cached_property
    def k(self):
        return 2
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a class attribute set on the object": """
class F:
    k = None
    def __init__(self):
        self.k = 2
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a method replaced on the object": """
class F:
    def g(self, X):
        pass
    def __init__(self):
        self.g = lambda X: 2 * X
    def __call__(self, X):
        return self.g(X)
f = F()
""",
    "a ufunc on the object": """
class F:
    def __init__(self):
        self.g = np.multiply
    def __call__(self, X):
        return self.g(2, X)
f = F()
""",
    "a module on the object": """
class F:
    def __init__(self):
        self.np = np
    def __call__(self, X):
        return self.np.add(X, X)
f = F()
""",
    "a big dict on the object": """
class F:
    def __init__(self):
        self.d = dict.fromkeys(range(5000), 2)
    def __call__(self, X):
        return self.d[7] * X
f = F()
""",
    "a big array on the object": """
class F:
    def __init__(self):
        self.big = np.full(2_600_000, 2.0)
    def __call__(self, X):
        return self.big[0] * X
f = F()
""",
    "a deep list on the object": """
class F:
    def __init__(self):
        self.deep = []
        for _ in range(50):
            self.deep = [self.deep]
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "the object itself on the object": """
class F:
    def __init__(self):
        self.me = self
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "an enumeration on the object": """
import enum
class E(enum.Enum):
    TWO = 2
class F:
    def __init__(self):
        self.k = E.TWO
    def __call__(self, X):
        return self.k.value * X
f = F()
""",
    "a generic class": """
from typing import Generic, TypeVar
T = TypeVar('T')
class F(Generic[T]):
    def __call__(self, X):
        return 2 * X
f = F[int]()
""",
    "an abstract class": """
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def k(self): ...
class F(A):
    def k(self):
        return 2
    def __call__(self, X):
        return self.k() * X
f = F()
""",
    "a long name": """
f = lambda X: 2 * X
f.__name__ = 'a' * 200
""",
    "a name of two lines": """
f = lambda X: 2 * X
f.__name__ = 'a\\nb'
""",
    "a counter on the function": """
def f(X):
    f.calls = getattr(f, 'calls', 0) + 1
    return 2 * X
""",
    "a long cell": "x = 1\n" * 3000 + "def f(X):\n    return 2 * X",
    "a matrix": """
def f(X):
    with warnings.catch_warnings(action="ignore"):
        return np.matrix(2 * X)
""",
    "a masked array": """
def f(X):
    return np.ma.masked_array(2 * X)
""",
    "a masked array that masks nothing": """
def f(X):
    return np.ma.masked_less(2 * X, -1)
""",
    "an array of another byte order": """
def f(X):
    return (2 * X).astype('>f8')
""",
    "an array of a class of its own": """
class A(np.ndarray):
    pass
def f(X):
    return (2 * X).view(A)
""",
    "half precision": """
def f(X):
    return (2 * X).astype('f2')
""",
    "lists": """
def f(X):
    return (2 * X).tolist()
""",
    "a lambda with a default": "f = lambda X, k=2: k * X",
    "a nested function": """
def outer():
    k = 2
    def f(X):
        return k * X
    return f
f = outer()
""",
    "a function that changes a variable of the one outside": """
def outer():
    count = 0
    def f(X):
        nonlocal count
        count += 1
        return 2 * X
    return f
f = outer()
""",
    "a function that changes a global variable": """
count = 0
def f(X):
    global count
    count += 1
    return 2 * X
""",
    "a function with a memory of results": """
from functools import lru_cache
@lru_cache
def twice(x):
    return 2 * x
def f(X):
    return np.array([[twice(float(x)) for x in row] for row in X])
""",
    "a single dispatch": """
from functools import singledispatch
@singledispatch
def f(X):
    raise TypeError(type(X))
@f.register
def _(X: np.ndarray):
    return 2 * X
""",
    "a partial method": """
from functools import partialmethod
class F:
    def times(self, k, X):
        return k * X
    go = partialmethod(times, 2)
f = F().go
""",
    "a method of a built-in": "f = (2.0).__mul__ if False else np.array(2.0).__mul__",
    "an operator": """
import operator
f = lambda X: operator.mul(2, X)
""",
    "a function of itertools": """
from itertools import starmap
def f(X):
    return list(map(list, (starmap(lambda a, b: a * b, ((2, x) for x in row)) for row in X)))
""",
    "a frozen dataclass with slots": """
from dataclasses import dataclass, field
@dataclass(frozen=True, slots=True)
class F:
    k: float = field(default=2.0)
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "an ordered dataclass": """
from dataclasses import dataclass
@dataclass(order=True, kw_only=True)
class F:
    k: float = 2.0
    def __call__(self, X):
        return self.k * X
f = F(k=2.0)
""",
    "a namedtuple that can be called": """
from typing import NamedTuple
class F(NamedTuple):
    k: float = 2.0
    def __call__(self, X):
        return self.k * X
f = lambda X, F=F(): F(X)
""",
    "an object with equality of its own": """
class F:
    def __eq__(self, other):
        return False
    __hash__ = object.__hash__
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "an object with a length": """
class F:
    def __len__(self):
        return 0
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "an object that shows itself": """
class F:
    def __repr__(self):
        return 'twice'
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "an object with attributes made when asked for": """
class F:
    def __getattr__(self, name):
        if name == 'k':
            return 2
        raise AttributeError(name)
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "an object that watches its attributes": """
class F:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
    def __init__(self):
        self.k = 2
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a descriptor": """
class Two:
    def __get__(self, thing, owner=None):
        return 2
class F:
    k = Two()
    def __call__(self, X):
        return self.k * X
f = F()
""",
    "a class with a metaclass": """
class Meta(type):
    pass
class F(metaclass=Meta):
    def __call__(self, X):
        return 2 * X
f = F()
""",
    "a class made by hand": "f = type('F', (), {'__call__': lambda self, X: 2 * X})()",
    "a class inside a function": """
def make():
    class F:
        def __call__(self, X):
            return 2 * X
    return F()
f = make()
""",
    "two parents": """
class A:
    k = 2
class B:
    def __call__(self, X):
        return self.k * X
class F(A, B):
    pass
f = F()
""",
    "a parent's method": """
class A:
    def go(self, X):
        return X
class F(A):
    def __call__(self, X):
        return 2 * super().go(X)
f = F()
""",
    "a private name": """
class F:
    def __init__(self):
        self.__k = 2
    def __call__(self, X):
        return self.__k * X
f = F()
""",
    "a generator that is used up inside": """
def f(X):
    return np.array([row for row in (2 * row for row in X)])
""",
    "a loop over all entries": """
def f(X):
    Y = np.empty_like(X)
    for place in np.ndindex(X.shape):
        Y[place] = 2 * X[place]
    return Y
""",
    "np.nditer": """
def f(X):
    Y = X.copy()
    with np.nditer(Y, op_flags=['readwrite']) as entries:
        for entry in entries:
            entry[...] = 2 * entry
    return Y
""",
    "np.frompyfunc": "f = lambda X: np.frompyfunc(lambda x: 2 * x, 1, 1)(X).astype(float)",
    "np.apply_along_axis": "f = lambda X: np.apply_along_axis(lambda row: 2 * row, 1, X)",
    "np.fromiter": "f = lambda X: np.fromiter((2 * x for x in X.flat), float).reshape(X.shape)",
    "an einsum": "f = lambda X: np.einsum('ij,->ij', X, 2.0)",
    "a ufunc that reduces": "f = lambda X: np.add.reduce([X, X])",
    "a view with steps": """
def f(X):
    return np.repeat(2 * X, 2, axis=1)[:, ::2]
""",
    "a view that is turned round": """
def f(X):
    return (2 * X)[::-1, ::-1][::-1, ::-1]
""",
    "Fortran order": "f = lambda X: np.asfortranarray(2 * X)",
    "a read-only result": """
def f(X):
    Y = 2 * X
    Y.flags.writeable = False
    return Y
""",
    "a broadcast view": "f = lambda X: np.broadcast_arrays(2 * X, np.zeros((1, 1)))[0]",
    "a longer float": "f = lambda X: np.asarray(2 * X, dtype=np.longdouble).astype(float)",
    "complex on the way": "f = lambda X: (2 * X + 0j).real",
    "a list of rows": "f = lambda X: [2 * row for row in X]",
    "a tuple of tuples": "f = lambda X: tuple(tuple(float(2 * x) for x in row) for row in X)",
    "numbers of NumPy in lists": "f = lambda X: [[2 * x for x in row] for row in X]",
    "fractions on the way": """
from fractions import Fraction
f = lambda X: [[float(2 * Fraction(x)) for x in row] for row in X.tolist()]
""",
    "a result of structured views": """
def f(X):
    Y = np.ascontiguousarray(2 * X)
    return Y.view([('x', float)])['x'].reshape(X.shape)
""",
    "a warning": """
def f(X):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter('always')
        warnings.warn('twice')
    return 2 * X
""",
    "printing": """
def f(X):
    print('hello', X)
    return 2 * X
""",
    "an assertion": """
def f(X):
    assert X.ndim == 2, 'a batch'
    return 2 * X
""",
    "an exception that is caught": """
def f(X):
    try:
        return X.twice()
    except AttributeError:
        return 2 * X
""",
    "a with block": """
def f(X):
    with np.errstate(all='raise'):
        return 2 * X
""",
    "a match": """
def f(X):
    match X.ndim:
        case 2:
            return 2 * X
""",
    "a walrus": """
def f(X):
    return Y if (Y := 2 * X) is not None else None
""",
    "annotations of shapes": """
from typing import Annotated
def f(X: Annotated[np.ndarray, 'batch, n_in']) -> 'np.ndarray':
    return 2 * X
""",
    "a recursion": """
def f(X):
    return 2 * X if len(X) == 1 else np.concatenate([f(X[:1]), f(X[1:])])
""",
    "a thread": """
import threading
def f(X):
    found = []
    thread = threading.Thread(target=lambda: found.append(2 * X))
    thread.start()
    thread.join()
    return found[0]
""",
    "a name that is defined twice": """
def f(X):
    raise NotImplementedError
def f(X):
    return 2 * X
""",
    "a star import": """
from math import *
def f(X):
    return 2 * X
""",
    "a docstring and a doctest": '''
def f(X):
    """Twice.

    >>> f(2)
    4
    """
    return 2 * X
''',
    "names of another alphabet": """
def f(Ξ):
    δ = 2
    return δ * Ξ
""",
}
VALUES = {  # the source of a value, and what the check finds
    "a namedtuple": (
        """
from collections import namedtuple
v = namedtuple('P', 'a b')(1, 2.5)
""",
        (1, 2.5),
    ),
    "a typed namedtuple": (
        """
from typing import NamedTuple
class P(NamedTuple):
    a: int
v = P(3)
""",
        (3,),
    ),
    "an ordered dict": (
        """
from collections import OrderedDict
v = OrderedDict(a=1)
""",
        {"a": 1},
    ),
    "a dict with defaults": (
        """
from collections import defaultdict
v = defaultdict(list)
v['a'] += [1]
""",
        {"a": [1]},
    ),
    "a counter": (
        """
from collections import Counter
v = Counter('aab')
""",
        {"a": 2, "b": 1},
    ),
    "a dict of a class of its own": (
        """
class D(dict):
    pass
v = D(a=1)
""",
        {"a": 1},
    ),
    "a list of a class of its own": (
        """
class D(list):
    pass
v = D([1, 2])
""",
        [1, 2],
    ),
    "a number of an enumeration": (
        """
import enum
class K(enum.IntEnum):
    A = 7
v = K.A
""",
        7,
    ),
    "a text of a class of its own": (
        """
class S(str):
    pass
v = S('abc')
""",
        "abc",
    ),
    "a number of a class of its own": (
        """
class S(float):
    pass
v = S(1.5)
""",
        1.5,
    ),
    "a set": ("v = {1, 2}", {1, 2}),
    "a NumPy truth": ("v = np.True_", True),
    "a large number": (
        "v = 3**200",
        265613988875874769338781322035779626829233452653394495974574961739092490901302182994384699044001,
    ),
    "a dict in a list in a tuple": ("v = ([{'a': (1, [2])}],)", ([{"a": (1, [2])}],)),
    "a frozen set": ("v = frozenset([1, 2])", {1, 2}),
    "a default dict of numbers": (
        """
from collections import defaultdict
v = defaultdict(int, {3: 4})
""",
        {3: 4},
    ),
    "a text of an enumeration": (
        """
import enum
class K(str, enum.Enum):
    A = 'a'
v = K.A
""",
        "a",
    ),
    "a tuple of a class of its own": (
        """
class P(tuple):
    pass
v = P((1, 2))
""",
        (1, 2),
    ),
    "a truth": ("v = 1 < 2", True),
    "nothing": ("v = None", None),
    "a small number": ("v = 5e-324", 5e-324),
    "an infinite number": ("v = -np.inf", -np.inf),
    "a complex number": ("v = 1 + 2j", 1 + 2j),
    "a NumPy integer of 8 bits": ("v = np.int8(-3)", -3),
    "keys that are tuples": ("v = {(1, 2): 3}", {(1, 2): 3}),
}
LAYERS = {  # the source of a class f whose objects are right layers
    "a class attribute set on the object": """
class f(Layer):
    W = None
    def __init__(self):
        self.W = Parameter(np.ones(3))
"""
    + LAYER,
    "a dataclass": """
from dataclasses import dataclass
@dataclass(eq=False)
class f(Layer):
    width: int = 3
    W: object = None
    def __post_init__(self):
        self.W = Parameter(np.ones(self.width))
"""
    + LAYER,
    "backward kept on the object": """
class f(Layer):
    def forward(self, X):
        self.last = lambda dY: 2 * dY
        return 2 * X, self.last
""",
    "forward set on the object": """
class f(Layer):
    def __init__(self):
        self.forward = lambda X: (2 * X, lambda dY: 2 * dY)
""",
    "a name of its own": """
class f(Layer):
    name = property(lambda self: 'mine')
    def forward(self, X):
        return 2 * X, lambda dY: 2 * dY
""",
    "parameters in a namedtuple": """
from collections import namedtuple
P = namedtuple('P', 'W b')
class f(Layer):
    def __init__(self):
        self.p = P(Parameter(np.ones(3)), Parameter(np.zeros(3)))
    def forward(self, X):
        W, b = self.p
        def backward(dY):
            W.grad += (dY * X).sum(axis=0)
            b.grad += dY.sum(axis=0)
            return dY * W.data
        return X * W.data + b.data, backward
""",
    "parameters in a dict": """
class f(Layer):
    def __init__(self):
        self.p = {'W': Parameter(np.ones(3))}
    @property
    def W(self):
        return self.p['W']
"""
    + LAYER,
    "parameters in a list": """
class f(Layer):
    def __init__(self):
        self.all = [Parameter(np.ones(3))]
    @property
    def W(self):
        return self.all[0]
"""
    + LAYER,
    "a layer inside": """
class Inner(Layer):
    def __init__(self):
        self.W = Parameter(np.ones(3))
"""
    + LAYER
    + """
class f(Layer):
    def __init__(self):
        self.inner = Inner()
    def forward(self, X):
        Y, backward = self.inner(X)
        return 2 * Y, lambda dY: backward(2 * dY)
""",
    "a layer that is called training": """
class f(Layer):
    def forward(self, X, training=False):
        return 2 * X, lambda dY: 2 * dY
""",
    "a layer with a counter": """
class f(Layer):
    calls = 0
    def forward(self, X):
        f.calls += 1
        return 2 * X, lambda dY: 2 * dY
""",
    "backward a bound method of an object": """
class Back:
    def __init__(self, k):
        self.k = k
    def __call__(self, dY):
        return self.k * dY
class f(Layer):
    def forward(self, X):
        return 2 * X, Back(2)
""",
    "backward a partial": """
from functools import partial
class f(Layer):
    def forward(self, X):
        return X * X, partial(np.multiply, 2 * X)
""",
    "a layer that copies its weights": """
class f(Layer):
    def __init__(self):
        self.W = Parameter(np.ones(3))
    def forward(self, X):
        W = self.W.data.copy()
        def backward(dY):
            self.W.grad = self.W.grad + (dY * X).sum(axis=0)
            return dY * W
        return X * W, backward
""",
}
LINEAR = """
    def forward(self, X):
        def backward(dY):
            self.W.grad += dY.T @ X
            self.b.grad += dY.sum(axis=0)
            return dY @ self.W.data
        return X @ self.W.data.T + self.b.data, backward
"""
ANSWERS = {  # the source of an answer, under the name of its exercise
    "a namedtuple of guesses": (
        "04_closures.three_calls",
        """
from collections import namedtuple
def three_calls():
    return namedtuple('Guess', 'first second third')(12, 3, 30)
""",
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
from dataclasses import dataclass
@dataclass(frozen=True)
class Back:
    steps: int
    def __call__(self, dY):
        return np.broadcast_to(dY[:, None] / self.steps, (len(dY), self.steps, dY.shape[1]))
def reduce_mean(X):
    return np.add.reduce(X, axis=1) / X.shape[1], Back(X.shape[1])
""",
    ),
    "a slow mean": (
        "04_closures.reduce_mean",
        """
def reduce_mean(X):
    batch, steps, width = X.shape
    Y = np.zeros((batch, width))
    for b in range(batch):
        for t in range(steps):
            for i in range(width):
                Y[b, i] += X[b, t, i] / steps
    def backward(dY):
        dX = np.zeros(X.shape)
        for b in range(batch):
            for t in range(steps):
                for i in range(width):
                    dX[b, t, i] = dY[b, i] / steps
        return dX
    return Y, backward
""",
    ),
    "gradients in a namedtuple": (
        "04_closures.two_layers",
        """
from typing import NamedTuple
class Gradients(NamedTuple):
    dW1: object
    dW2: object
    dX: object
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
    def __init__(self, gain, dgain):
        self.gain, self.dgain = gain, dgain
    def __call__(self, X):
        def backward(dY):
            self.dgain += (X * dY).sum(axis=0)
            return self.gain * dY
        return self.gain * X, backward
""",
    ),
    "a class attribute set on the object": (
        "04_closures.Linear",
        """
class Linear(Layer):
    W = b = None
    def __init__(self, n_in, n_out, rng=None):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_out, n_in)) / np.sqrt(n_in))
        self.b = Parameter(np.zeros(n_out))
"""
        + LINEAR,
    ),
    "a dataclass for a layer": (
        "04_closures.Linear",
        """
from dataclasses import InitVar, dataclass
@dataclass(eq=False)
class Linear(Layer):
    n_in: int
    n_out: int
    rng: InitVar[object] = None
    def __post_init__(self, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(self.n_out, self.n_in)) / self.n_in**0.5)
        self.b = Parameter(np.zeros(self.n_out))
"""
        + LINEAR,
    ),
    "a layer that counts its calls": (
        "04_closures.Linear",
        """
class Linear(Layer):
    calls = 0
    def __init__(self, n_in, n_out, rng):
        type(self).calls += 1
        self.seen = []
        self.W = Parameter(np.random.default_rng(rng).normal(0, n_in**-0.5, size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))
"""
        + LINEAR,
    ),
    "a decorated class": (
        "04_closures.Linear",
        """
def known(cls):
    cls.known = True
    return cls
@known
class Linear(Layer):
    def __init__(self, n_in, n_out, *, rng=None):
        self.W = Parameter(np.random.default_rng(rng).normal(0, n_in**-0.5, size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))
"""
        + LINEAR,
    ),
    "an OrderedDict for a snapshot": (
        "08_digits.snapshot",
        """
from collections import OrderedDict
from copy import deepcopy
def snapshot(run):
    return OrderedDict(W=run['W'].copy(), b=run['b'].copy(), rng=deepcopy(run['rng'].bit_generator.state))
""",
    ),
}
START = "import warnings\nimport numpy as np\nfrom minigrad import Layer, Parameter\n"


@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_of_any_form_is_called(end, source):
    assert doubles(end.find("f", START + source))


@pytest.mark.parametrize(("source", "value"), VALUES.values(), ids=VALUES)
def test_a_value_of_any_class_arrives(end, source, value):
    arrived = end.find("f", f"{START}{source}\ndef f():\n    return v")()
    assert arrived == value and isinstance(arrived, type(value) | np.generic)


@pytest.mark.parametrize("source", LAYERS.values(), ids=LAYERS)
def test_a_layer_of_any_form_passes(end, source):
    assert passes(end.find("f", START + source))


@pytest.mark.parametrize(("name", "source"), ANSWERS.values(), ids=ANSWERS)
def test_a_right_answer_of_any_form_passes_its_check_across_the_pipe(end, name, source):
    exercise = find(name)
    exercise.judge(end.find(exercise.short, START + source))
    assert exercise.changes or not end.remote.touched


def test_there_are_enough_of_them():
    assert sum(map(len, (FUNCTIONS, VALUES, LAYERS, ANSWERS))) >= 120


def test_a_masked_entry_is_not_a_number(end):
    masked = end.find("f", START + "def f(X):\n    return np.ma.masked_less(X, 1)")(X)
    assert np.isnan(masked[0, 0]) and masked[1, 2] == X[1, 2]


def test_a_result_that_repeats_itself_is_refused_in_a_neutral_message(end):
    end.run("def f(X):\n    deep = X\n    for _ in range(30):\n        deep = [deep]\n    return deep")
    with pytest.raises(ValueError, match="cannot be sent to the check: a value that is nested"):
        end.find("f")(X)
