"""Right answers of unusual form: what Python lets a learner write reaches the check as it is."""

import numpy as np
import pytest

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


def test_what_is_masked_is_no_number(end):
    masked = end.find("f", START + "def f(X):\n    return np.ma.masked_less(X, 1)")(X)
    assert np.isnan(masked[0, 0]) and masked[1, 2] == X[1, 2]


def test_a_result_that_repeats_itself_is_refused_in_words_that_blame_nobody(end):
    end.run("def f(X):\n    deep = X\n    for _ in range(30):\n        deep = [deep]\n    return deep")
    with pytest.raises(ValueError, match="cannot be sent to the check: a value that is nested"):
        end.find("f")(X)
