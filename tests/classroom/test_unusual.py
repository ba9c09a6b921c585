"""Right notebooks of an unusual kind keep every point: names used again, stubs left over, other imports.

A row of NOTEBOOKS changes the solutions of chapter 04, which are graded in the sandbox; a row of ANSWERS is
one answer, judged across the pipe alone. What one answer returns is in ``test_honest``, and what happens to a
notebook on its way is in ``damaged``.
"""

import json
import re
import sys
from fractions import Fraction

import pytest

from classroom.grade import grade
from course.checks import find
from tests.classroom.damaged import answers, code, dumped, stored, text

STEM = "04_closures"
LINEAR = """
class Linear(Layer):
    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def forward(self, X):
        raise NotImplementedError
"""
BACKWARD = "lambda dY: np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)"


def graded(change):
    """Return the result of the solutions after a change."""
    notebook = json.loads(stored(STEM))
    change(notebook["cells"])
    return grade(dumped(notebook), STEM, 5)


def lost(result):
    """Return the exercises that do not pass, and what is said of them."""
    assert result.refused is None and result.fault is None
    return {
        part.short: part.sentence for part in result.exercises if part.status not in ("passed", "by hand")
    }


def place_of(cells, name):
    """Return the place of the cell that answers an exercise."""
    defines = re.compile(rf"^(def|class) {name}\b", re.MULTILINE)
    return next(place for place, cell in enumerate(cells) if answers(cell) and defines.search(text(cell)))


def above(*sources):
    return lambda cells: cells.__setitem__(slice(0, 0), code(*sources))


def below(*sources):
    return lambda cells: cells.extend(code(*sources))


def answer(name, source):
    return lambda cells: cells[place_of(cells, name)].update(source=source)


POOL = f"""
from concurrent.futures import {{0}}PoolExecutor
def mean(x):
    return x.mean(axis=0)
def reduce_mean(X):
    with {{0}}PoolExecutor({{1}}, initializer=np.seterr) as pool:
        Y = np.stack(list(pool.map(mean, X)))
        failed = pool.submit(mean, None)
    assert type(failed.exception()) is AttributeError
    return Y, {BACKWARD}
"""

NOTEBOOKS = {
    "a result in the place of its function": below("three_calls = three_calls()", "light_tanh, _ = 1, 2"),
    "a layer in the place of the function that makes it": below("scale = scale(np.ones(3), np.zeros(3))"),
    "a loop over the name of an answer": below("for scale in range(3): pass"),
    "an object in the place of its class": below("Linear = Linear(3, 2, 0)"),
    "a stub below the answer": below('def reduce_mean(X):\n    """Mean."""\n    raise NotImplementedError'),
    "a stub of a class below it": below(
        "class Linear(Layer):\n    def __init__(self, *sizes):\n        raise NotImplementedError()"
    ),
    "a dataclass with annotations of the future, and pickle": answer(
        "reduce_mean",
        """
from __future__ import annotations
import pickle, sys
from dataclasses import dataclass
from typing import ClassVar
@dataclass
class Back:
    calls: ClassVar[list] = []
    steps: int
    def __call__(self, dY):
        return np.repeat(dY[:, None] / self.steps, self.steps, axis=1)
def reduce_mean(X):
    assert sys.modules[__name__].reduce_mean is reduce_mean
    return X.mean(axis=1), pickle.loads(pickle.dumps(Back(X.shape[1])))
""",
    ),
    "an import of which one name is missing": answer(
        "reduce_mean",
        f"from numpy import nowhere, mean\nreduce_mean = lambda X: (mean(X, axis=1), {BACKWARD})",
    ),
    "an await": answer(
        "reduce_mean",
        f"import asyncio\nmean = await asyncio.sleep(0, np.mean)\n"
        f"reduce_mean = lambda X: (mean(X, axis=1), {BACKWARD})",
    ),
    "results of higher precision": answer(
        "reduce_mean", f"reduce_mean = lambda X: (X.astype(np.longdouble).mean(axis=1), {BACKWARD})"
    ),
    "a module written by a cell": lambda cells: cells.__setitem__(
        slice(place := place_of(cells, "reduce_mean"), place + 1),
        code(
            f"%%writefile means.py\nmean = lambda X: (X.mean(axis=1), {BACKWARD})\nimport numpy as np",
            "import means\nreduce_mean = means.mean",
        ),
    ),
    "a long line beside %timeit": answer(
        "reduce_mean",
        f"table = [{'1, ' * 1000}]\n%timeit -n 1 0\nreduce_mean = lambda X: (X.mean(axis=1), {BACKWARD})",
    ),
    "a file that is run, and one written in two cells": lambda cells: cells.__setitem__(
        slice(place := place_of(cells, "reduce_mean"), place + 1),
        code(
            f"%%writefile back.py\nback = lambda X: {BACKWARD}",
            "import numpy as np\n%run -i 'back.py'",
            "%%writefile means.py\nx = 0",
            "import means, importlib",
            "%%writefile -a means.py\nmean = lambda X: X.mean(axis=1)",
            "%%writefile more.py\nfrom means import *",
            "import more\nmean = importlib.reload(means).mean\nreduce_mean = lambda X: (mean(X), back(X))",
        ),
    ),
    "a last line of NotImplementedError, below a wrong try": lambda cells: cells.extend(
        code(
            "def reduce_mean(X): return X",
            f"def reduce_mean(X):\n    if X.ndim == 3:\n        return X.mean(axis=1), {BACKWARD}\n"
            "    raise NotImplementedError",
        )
    ),
    "cells of another process": below(
        "%%python3\ndef reduce_mean(X): return X",
        "%%SVG\n<svg/>",
        "%%script python\nreduce_mean = 0",
    ),
    "methods that later cells add to a class": lambda cells: cells.__setitem__(
        slice(place := place_of(cells, "Linear"), place + 1),
        code(
            LINEAR,
            "def added(cls): return lambda method: setattr(cls, method.__name__, method)",
            "@added(Linear)\ndef forward(self, X):\n"
            "    return X @ self.W.data.T + self.b.data, lambda dY: self.back(X, dY)",
            "class Linear(Linear):\n    def back(self, X, dY):\n        self.W.grad += dY.T @ X\n"
            "        self.b.grad += dY.sum(axis=0)\n        return dY @ self.W.data",
        ),
    ),
    "tests of its own": below(
        "import doctest, unittest\nclass Test(unittest.TestCase):\n"
        "    def test_it(self): self.assertEqual(three_calls()[0], 12)",
        "unittest.main(argv=[''], exit=False)\ndoctest.testmod(verbose=True)",
        "assert three_calls()[0] == 12, 'no'\nassert check('04_closures.scale', scale)",
    ),
    "settings at the top": above(
        "import logging, sys, warnings\nwarnings.filterwarnings('error')\nnp.seterr(all='raise')\n"
        "np.set_printoptions(precision=1)\nsys.setrecursionlimit(9**6)\nlogging.basicConfig(filename='log')"
    ),
    "answers behind a guard": lambda cells: [
        cell.update(source="if __name__ == '__main__':\n" + re.sub("(?m)^", "    ", text(cell)))
        for cell in filter(answers, cells)
    ],
    "%pylab": answer(
        "reduce_mean",
        f"%pylab inline\nreduce_mean = lambda X: (average(X, axis=1), {BACKWARD})",
    ),
    "no cell that imports": lambda cells: cells.__setitem__(
        slice(None), [cell for cell in cells if not text(cell).startswith("import numpy")]
    ),
    "cells from last to first": lambda cells: cells.reverse(),
    "a class above its base": lambda cells: cells.__setitem__(
        slice(None),
        [
            *code(text(cells[place_of(cells, "Linear")]).replace("(Layer)", "(Mine)")),
            *(cell for cell in cells if "class Linear" not in text(cell)),
            *code("class Mine(Layer): pass"),
        ],
    ),
    "a pool of threads": answer("reduce_mean", POOL.format("Thread", None)),
    "a pool of processes": answer("reduce_mean", POOL.format("Process", 8)),
    "more threads than the sandbox has": answer(
        "reduce_mean",
        f"""
from threading import Thread
from time import sleep
def reduce_mean(X):
    Y = np.empty((len(X), X.shape[2]))
    def work(i):
        sleep(0.01)  # the others start meanwhile
        X[i].mean(axis=0, out=Y[i])
    threads = [Thread(target=work, args=[i]) for i in range(len(X))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Y, {BACKWARD}
""",
    ),
    "a decorator that hides what it decorates": answer(
        "reduce_mean",
        f"""
def logged(function):
    return lambda *args, **kwargs: function(*args, **kwargs)
@logged
def reduce_mean(X):
    return X.mean(axis=1), {BACKWARD}
""",
    ),
    "large plots": lambda cells: [
        cell.update(outputs=[{"data": {"image/png": "a" * 1_000_000, "x": [["]"], {"y": '\\"]['}]}}])
        for cell in cells
        if cell["cell_type"] == "code"
    ],
}
ANSWERS = {  # the source of an answer, under the name of its exercise and its kind
    "dual numbers in a frozen dataclass": (
        "01_slope.debt_with_slope",
        """
from dataclasses import dataclass
@dataclass(frozen=True, slots=True)
class Dual:
    value: float
    slope: float = 0.0
    def __add__(self, other): return Dual(self.value + other.value, self.slope + other.slope)
    def __mul__(self, k): return Dual(self.value * k.value, self.slope * k.value + self.value * k.slope)
    def __gt__(self, other): return self.value > other.value
def debt_with_slope(rate, years):
    owed = Dual(100000.0)
    for _ in range(years):
        owed = owed * Dual(1 + rate / 100, 0.01) + Dual(-6000)
        if owed > Dual(90000):
            owed = owed * Dual(1.02) + Dual(-1800)
    return owed.value, owed.slope
""",
    ),
    "a cache around the check's function": (
        "01_slope.one_sided_slopes",
        """
import functools, inspect
def one_sided_slopes(f, x):
    inspect.signature(f), repr(f), f.__doc__, f.__name__
    f, h = functools.cache(f), 2.0**-26
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h
""",
    ),
    "iterators and operators": (
        "02_jacobian.jacobian_of_suffix_sums",
        """
import itertools, operator
def jacobian_of_suffix_sums(X):
    pairs = itertools.product(range(X.size), repeat=2)
    return np.fromiter(itertools.starmap(operator.le, pairs), float).reshape(X.size, -1)
""",
    ),
    "an array of objects": (
        "02_jacobian.jacobian_of_shift",
        """
def jacobian_of_shift(X):
    J = np.full((X.size, X.size), 0, dtype=object)
    J[range(1, X.size), range(X.size - 1)] = 1
    return J
""",
    ),
    "an enumeration of strings": (
        "03_gradcheck.name_the_bugs",
        """
from enum import StrEnum
Bug = StrEnum('Bug', [(c, c) for c in ('sign flipped', 'not summed over the batch', 'transposed',
    'dY not used', 'mean where a sum belongs', 'overwritten', 'own slope missing', 'wrong places')])
name_the_bugs = lambda: dict(zip('ABCDEFGH', Bug))
""",
    ),
    "a metaclass that returns a method": (
        "04_closures.scale",
        """
class Meta(type):
    def __call__(cls, *args):
        self = super().__call__()
        self.gain, self.dgain = args
        return self.forward
class scale(metaclass=Meta):
    def forward(self, X):
        def backward(dY):
            np.add(self.dgain, np.einsum('ij,ij->j', X, dY), out=self.dgain)
            return self.gain * dY
        return X * self.gain, backward
""",
    ),
    "an abstract, generic class with a protocol": (
        "05_chains.Gate",
        """
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar, runtime_checkable
T = TypeVar('T')
@runtime_checkable
class HasBack(Protocol):
    def back(self, X, F, back, dY): ...
class Base(Generic[T], Layer, ABC):
    def __init_subclass__(cls, tag='', **rest):
        super().__init_subclass__(**rest)
        cls.tag = tag
    @abstractmethod
    def back(self, X, F, back, dY): ...
class Gate(Base[np.ndarray], tag='gate'):
    __slots__ = ('layer',)
    def __init__(self, layer):
        self.layer = layer
        assert isinstance(self, HasBack)
    def back(self, X, F, back, dY): return dY * F + back(dY * X)
    def forward(self, X):
        F, back = self.layer.forward(X) if isinstance(self.layer, Layer) else self.layer(X)
        return X * F, lambda dY: self.back(X, F, back, dY)
""",
    ),
    "an exit stack": (
        "05_chains.row",
        """
from contextlib import ExitStack
def row(layers):
    def forward(X):
        backs = [(step := layer(X), X := step[0])[0][1] for layer in layers]
        def backward(dY):
            with ExitStack() as stack:
                for back in backs:
                    stack.callback(lambda back=back: got.append(back(got.pop())))
                got = [dY]
            return got[0]
        return X, backward
    return forward
""",
    ),
    "a namedtuple for an optimizer": (
        "07_learning.SignSGD",
        """
from typing import NamedTuple
class SignSGD(NamedTuple):
    learning_rate: float = 0.1
    def step(self, parameters):
        for p in parameters:
            p.data -= self.learning_rate * np.sign(p.grad)
""",
    ),
    "a generator expression for batches": (
        "07_learning.full_batches",
        """
def full_batches(X, T, batch_size, rng):
    order = np.resize(rng.permutation(len(X)), -(-len(X) // batch_size) * batch_size)
    return ((X[rows], T[rows]) for rows in order.reshape(-1, batch_size))
""",
    ),
    "an iterable object, and a progress bar": (
        "07_learning.full_batches",
        """
class full_batches:
    def __init__(self, X, T, batch_size, rng):
        order = [*rng.permutation(len(X))]
        self.X, self.T, self.size, self.order = X, T, batch_size, order + order[: -len(X) % batch_size]
    def __iter__(self):
        while self.order:
            yield self.X[self.order[: self.size]], self.T[self.order[: self.size]]
            del self.order[: self.size]
""",
    ),
    "a generator behind the callback": (
        "08_digits.stop_early",
        """
def stop_early(patience):
    def judge(best=np.inf, age=0, answer=None):
        while True:
            loss = yield answer
            best, age = (loss, 0) if loss < best else (best, age + 1)
            answer = age >= patience
    next(judging := judge())
    return lambda learner, row: judging.send(row['validation_loss'])
""",
    ),
    "a dict that makes what is missing": (
        "09_optimizers.Lion",
        """
class Means(dict):
    def __missing__(self, p): return self.setdefault(p, np.zeros_like(p.data))
class Lion:
    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.99):
        vars(self).update(learning_rate=learning_rate, beta1=beta1, beta2=beta2, means=Means())
    def step(self, parameters):
        for p in parameters:
            p.data -= self.learning_rate * np.sign(self.beta1 * self.means[p] + (1 - self.beta1) * p.grad)
            self.means[p] += (1 - self.beta2) * (p.grad - self.means[p])
""",
    ),
    "a bound generator in another Generator": (
        "10_start_well.dropout",
        """
def dropout(X, rate, rng, *, training=False):
    if not training:
        return X.copy(), np.copy
    kept = np.random.Generator(rng.bit_generator).binomial(1, 1 - rate, X.shape) / (1 - rate)
    return X * kept, kept.__mul__
""",
    ),
    "a sorter of the standard library": (
        "11_graphs.children_first",
        """
import graphlib
children_first = lambda parents: tuple(graphlib.TopologicalSorter(parents).static_order())[::-1]
""",
    ),
    "a single dispatch over layers": (
        "12_shapes.spec",
        """
from functools import reduce, singledispatch
@singledispatch
def spec(layer, shape): return shape
@spec.register
def _(layer: Linear, shape):
    if shape[-1] != layer.n_in: raise ShapeError(f'{layer} wants {layer.n_in}, got {shape}')
    return shape[:-1] + (layer.n_out,)
@spec.register(Flatten)
def _(layer, shape): return shape[0], int(np.prod(shape[1:]))
@spec.register(Mean)
def _(layer, shape): return tuple(n for i, n in enumerate(shape) if i != layer.axis % len(shape))
@spec.register(Sequential)
def _(layer, shape): return reduce(lambda s, part: spec(part, s), layer.layers, shape)
@spec.register(Parallel)
def _(layer, shape):
    parts = [spec(part, shape) for part in layer.layers]
    return (*parts[0][:-1], sum(part[-1] for part in parts))
""",
    ),
    "an exception of its own": (
        "12_shapes.fill_sizes",
        """
class SizeError(ValueError): pass
def fill_sizes(widths, width_of_X, width_of_T):
    *hidden, last = widths
    if None in hidden: raise SizeError(f'layer {hidden.index(None)} is hidden: give its width')
    sizes = [width_of_X, *hidden, width_of_T if last is None else last]
    return [*zip(sizes, sizes[1:])]
""",
    ),
    "counters and iterators on a layer": (
        "14_seeing.AveragePool2d",
        """
import itertools, logging
class AveragePool2d(Layer):
    def __init__(self, size):
        self.size, self.log = size, logging.getLogger('a')
        self.calls, self.spare = itertools.count(), iter([1])
    def forward(self, X):
        self.log.debug('call %d', next(self.calls))
        s, (r, c) = self.size, (n // self.size * self.size for n in X.shape[2:])
        def backward(dY):
            dX = np.zeros(X.shape)
            dX[:, :, :r, :c] = dY.repeat(s, 2).repeat(s, 3) / s**2
            return dX
        return sum(X[:, :, i:r:s, j:c:s] for i in range(s) for j in range(s)) / s**2, backward
""",
    ),
    "a list for a memory": (
        "18_acting.Ring",
        """
class Ring(list):
    def __init__(self, capacity): self.capacity = capacity
    def add(self, *parts):
        self.append([np.array(part) for part in parts])
        del self[: -self.capacity]
    def parts(self): return [np.array(column) for column in zip(*self)]
    def sample(self, rng, size):
        rows = rng.integers(len(self), size=size)
        return [column[rows] for column in self.parts()]
""",
    ),
    "a copy of the generator": (
        "19_memory.repeatable",
        """
from copy import deepcopy
def repeatable(draws, rng):
    def layer(X):
        twin = deepcopy(rng)
        return draws(X, rng)[0], lambda dY: draws(X, deepcopy(twin))[1](dY)
    return layer
""",
    ),
    "a lock and a defaultdict": (
        "22_workers.Concurrent",
        """
import threading
from collections import defaultdict
class Concurrent:
    def __init__(self, W, workers, learning_rate):
        self.W, self.workers, self.learning_rate = W, workers, learning_rate
        self.lock, self.round, self.rounds = threading.RLock(), 0, defaultdict(dict)
    def hand_in(self, rank, gradient, examples):
        with self.lock:
            now = self.rounds[self.round]
            if rank in now: raise ValueError(f'worker {rank} twice')
            now[rank] = examples, gradient.copy()
            if done := len(now) == self.workers:
                total = sum(n for n, _ in now.values())
                self.W -= self.learning_rate * sum(n * g for n, g in now.values()) / total
                self.round += 1
            return done
""",
    ),
    "a cache on the answer": (
        "23_serving.count_orders",
        """
from functools import cache
@cache
def count_orders(n):
    every, alone = count_orders(n - 1) if n else (1, 1)
    return (every * n * (2 * n - 1), alone * n) if n else (1, 1)
""",
    ),
}


@pytest.mark.parametrize(("name", "source"), ANSWERS.values(), ids=ANSWERS)
def test_a_right_answer_of_an_unusual_kind_passes_its_check_across_the_pipe(end, name, source):
    exercise = find(name)
    end.run("from minigrad import *\nimport numpy as np")
    exercise.judge(end.find(exercise.short, source, exercise.answer))
    assert exercise.changes or not end.remote.touched


@pytest.mark.parametrize("change", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_a_right_notebook_of_an_unusual_kind_keeps_every_point(change):
    assert lost(graded(change)) == {}


def test_a_stub_alone_is_not_written_and_a_wrong_function_below_a_right_one_counts():
    stub = answer("reduce_mean", "def reduce_mean(X):\n    raise NotImplementedError")
    assert "is not written yet" in lost(graded(stub))["reduce_mean"]
    assert list(lost(graded(below("reduce_mean = lambda X: X")))) == ["reduce_mean"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            below("def reduce_mean(X): return X", "def reduce_mean(X):\n    raise NotImplementedError"),
            "2 cell 18",
        ),
        (answer("reduce_mean", "def reduce_mean(X): return 1\ndef reduce_mean(X): return X"), "2 cell 5"),
        (below("def reduce_mean(X): return X\nraise ValueError"), None),
        (answer("reduce_mean", "def reduce_mean(X): return X"), None),
    ],
)
def test_a_wrong_definition_below_another_one_counts_and_is_said_to_be_checked(change, words):
    said = lost(graded(change))
    assert list(said) == ["reduce_mean"] and "it must return Y and backward" in said["reduce_mean"]
    count, _, cell = (words or "").partition(" ")
    told = f" Checked: the last of its {count} definitions, in code {cell}."
    assert said["reduce_mean"].endswith(told) if words else "Checked" not in said["reduce_mean"]


@pytest.mark.parametrize(("kind", "words"), [("markdown", "a Markdown cell"), ("raw", "a raw cell")])
def test_an_answer_in_a_text_cell_is_found_there(kind, words):
    def change(cells):
        cells[place_of(cells, "reduce_mean")]["cell_type"] = kind

    number = 1 + place_of(json.loads(stored(STEM))["cells"], "reduce_mean")
    assert f"cell {number} has it, but is {words}: make it a code cell" in lost(graded(change))["reduce_mean"]


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("3.99.1", "with Python 3.99, and is graded with {}: write it as Python {} allows"),
        ("{}.1", "correct the syntax (it is graded with Python {})"),
        (None, "graded with Python {}: if a newer one runs the cell"),
        ("new", "graded with Python {}: if a newer one runs the cell"),
    ],
)
def test_syntax_of_a_newer_python_is_explained(version, words):
    here = "{}.{}".format(*sys.version_info)
    notebook = json.loads(stored(STEM))
    notebook["metadata"] = {"language_info": {"version": version and version.format(here)}}
    answer("reduce_mean", "def reduce_mean(X) -> new syntax: return X")(notebook["cells"])
    assert words.format(here, here) in lost(grade(dumped(notebook), STEM, 5))["reduce_mean"]


def test_fractions_are_numbers_in_the_notebook_too():
    assert find("04_closures.three_calls").judge(lambda: tuple(map(Fraction, (12, 3, 30))))
