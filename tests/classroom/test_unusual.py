"""Right notebooks of an unusual kind keep every point: names used again, stubs left over, other imports.

A row changes the solutions of chapter 04, which are graded in the sandbox. What one answer returns is in
``test_honest``, and what happens to a notebook on its way is in ``damaged``.
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
