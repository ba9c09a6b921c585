"""The stand-in for CuPy notes what goes to and fro, lets pass what CuPy lets pass, leaves nothing behind."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import SimpleNamespace

import numpy as np
import pytest

from course import gpu, stand_in
from course.stand_ins import cupy as cupy_stand_in
from course.stand_ins.gpu import NO_CUPY, NO_DEVICE, find_cupy
from minigrad import Linear, to_device, to_numpy

X = np.ones((5, 3))


def moved(work):
    """Return direction, way and bytes of what some work moves, given an array of the device."""
    with stand_in() as cupy:
        there = cupy.asarray(X)
        cupy.transfers.clear()
        work(cupy, there)
    return [(transfer.direction, transfer.way, transfer.bytes) for transfer in cupy.transfers]


ROWS = np.array([2, 0])
MOVES = {
    "asarray": (lambda cupy, there: cupy.asarray(X), [("to", "asarray", 120)]),
    "asarray to another dtype": (lambda cupy, there: cupy.asarray(X, "f4"), [("to", "asarray", 60)]),
    "array": (lambda cupy, there: cupy.array([1.0, 2.0]), [("to", "array", 16)]),
    "get": (lambda cupy, there: there.get(), [("back", "get", 120)]),
    "asnumpy": (lambda cupy, there: cupy.asnumpy(there), [("back", "asnumpy", 120)]),
    "float": (lambda cupy, there: float(there.sum()), [("back", "float", 8)]),
    "int": (lambda cupy, there: int(there.argmax()), [("back", "int", 8)]),
    "bool": (lambda cupy, there: bool((there > 0).all()), [("back", "bool", 1)]),
    "if": (lambda cupy, there: 1 if there.min() < 0 else 2, [("back", "bool", 1)]),
    "a count": (lambda cupy, there: np.count_nonzero(there) < 7, []),
    "a count that is asked": (lambda cupy, there: int(np.count_nonzero(there)), [("back", "int", 8)]),
    "item": (lambda cupy, there: there[0, 0].item(), [("back", "item", 8)]),
    "tolist": (lambda cupy, there: there.tolist(), [("back", "tolist", 120)]),
    "print": (lambda cupy, there: (str(there), repr(there)), [("back", "print", 120)] * 2),
    "NumPy's row numbers": (lambda cupy, there: there[ROWS], [("to", "index", 16)]),
    "NumPy's row numbers, writing": (
        lambda cupy, there: there.__setitem__((ROWS, slice(1)), 0.0),
        [("to", "index", 16)],
    ),
}
STAYS = {
    "arithmetic": lambda cupy, there: 2 * there + there @ there.T[:, :3],
    "functions of NumPy": lambda cupy, there: np.maximum(there, 0).sum(axis=0),
    "functions of CuPy": lambda cupy, there: cupy.where(there > cupy.zeros(3), there, cupy.pi),
    "a dtype": lambda cupy, there: there.astype(cupy.float32),
    "rows chosen there": lambda cupy, there: there[cupy.arange(2)][1:],
    "what is there already": lambda cupy, there: cupy.asarray(there),
    "a copy": lambda cupy, there: cupy.array(there),
    "what is not there": lambda cupy, there: cupy.asnumpy(X),
    "a shape": lambda cupy, there: (there.shape, there.size, len(there), there.dtype),
}


@pytest.mark.parametrize(("work", "expected"), MOVES.values(), ids=MOVES)
def test_what_moves_is_noted(work, expected):
    assert moved(work) == expected


@pytest.mark.parametrize("work", STAYS.values(), ids=STAYS)
def test_what_stays_is_not(work):
    assert moved(work) == []


def test_a_transfer_names_its_line_and_whether_the_line_says_so():
    with stand_in() as cupy:
        model = to_device(Linear(3, 7, rng=0), "gpu")
        Y = model.predict(cupy.asarray(X))
        cupy.transfers.clear()
        to_numpy(Y)
        total = float(Y.sum())
    assert total == pytest.approx(model.predict(cupy.asarray(X)).get().sum(), rel=1e-15)
    assert [(transfer.line, transfer.hidden) for transfer in cupy.transfers[:2]] == [
        ("to_numpy(Y)", False),
        ("total = float(Y.sum())", True),
    ]


def test_the_stand_in_counts_anew_and_leaves_the_modules_as_they_were(monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with stand_in() as cupy:
        cupy.asarray(X)
        assert sys.modules["cupy"] is cupy is cupy_stand_in
    assert "cupy" not in sys.modules
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(KeyError), stand_in():
        assert cupy.transfers == []
        raise KeyError
    assert sys.modules["cupy"] is None


def test_calls_are_counted_and_views_are_none():
    with stand_in() as cupy:
        there = cupy.asarray(X)
        np.maximum(there @ there.T, 0).sum(axis=0)
        there.reshape(3, 5).T[1:] += 1.0
    assert cupy.calls == {"matmul": 1, "maximum": 1, "sum": 1, "add": 1}
    with stand_in() as cupy:
        assert not cupy.calls and not cupy.operations


def test_operations_are_counted_by_entries_and_by_terms():
    with stand_in() as cupy:
        there = cupy.asarray(np.ones((5, 3)))
        np.maximum(there @ there.T, 0).sum(axis=0)  # (5, 3) @ (3, 5): 25 sums of 3 terms
        np.exp(there, out=there)
        there.mean()
    assert cupy.operations == {"matmul": 2 * 25 * 3, "maximum": 25, "sum": 25, "exp": 15, "mean": 15}


def test_the_stand_in_has_the_functions_of_numpy_and_not_its_modules():
    assert cupy_stand_in.zeros((5, 3)).shape == (5, 3)
    assert isinstance(cupy_stand_in.linspace(0, 1, 5), cupy_stand_in.ndarray)
    for name in ("random", "cuda", "_core", "zeroes"):
        with pytest.raises(AttributeError, match=f"has no {name}"):
            getattr(cupy_stand_in, name)
    with pytest.raises(TypeError, match="Unsupported type"):
        cupy_stand_in.maximum(X, 0)


def test_the_stand_in_lets_pass_what_cupy_lets_pass():
    A = cupy_stand_in.asarray(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert float((2 * A)[np.array([1, 0])][0, 1]) == 8.0  # NumPy arrays may be indices
    total = A.sum()
    assert isinstance(total, cupy_stand_in.ndarray) and total.shape == ()
    A += np.float64(1.0)  # a number is no array
    np.testing.assert_array_equal(A.get(), [[2.0, 3.0], [4.0, 5.0]])


def test_without_cupy_gpu_gives_the_stand_in_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with stand_in():
        assert gpu() is cupy_stand_in
    assert "simulated" in capsys.readouterr().out
    assert find_cupy() == (None, NO_CUPY)


@pytest.mark.parametrize("device", [True, False])
def test_with_cupy_it_depends_on_the_device(device, monkeypatch, capsys):
    cuda = SimpleNamespace(is_available=lambda: device)
    real = SimpleNamespace(__version__="14.0.0", cuda=cuda)
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: "found")
    with stand_in():
        monkeypatch.setattr(import_module("course.stand_ins.gpu"), "import_module", lambda name: real)
        assert find_cupy() == ((real, "") if device else (None, NO_DEVICE))
        assert gpu() is (real if device else cupy_stand_in)
        assert sys.modules["cupy"] is (real if device else cupy_stand_in)
    said = capsys.readouterr().out
    assert ("real: CuPy 14.0.0" if device else "simulated") in said
