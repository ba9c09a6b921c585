"""Promises of the grader that no other file tests: faults, damaged notebooks, reproducibility, speed."""

import json
import os
import statistics
import subprocess
import sys
import time
from errno import ENOSPC
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from classroom import edition, sandbox, wire
from classroom import grade as module
from classroom.crew import read_answer, write_answer
from classroom.grade import grade
from classroom.sandbox import Sandbox
from course import checks
from course.checks import find
from course.curriculum import exercises_path
from tests.classroom.damaged import DAMAGES, STEMS, damaged
from tests.classroom.hostile.submission import CENTRE, notebook

ROOT = Path(__file__).parents[2]
SEED = 1
RIGHTS = notebook(
    "from minigrad import numerical_gradient, Layer\n" + CENTRE,
    "def three_calls():\n    return 12, 3, 30",
    "def two_layers(W1, W2, X, T):\n    return W1, W2, X",
)


def solution(chapter):
    """Return the notebook with the solutions of a chapter."""
    return json.loads((ROOT / "solutions" / exercises_path(chapter)).read_text("utf-8"))


# deliberate breakages of our own parts: no mark is given, and no zero


@pytest.fixture
def fresh(monkeypatch):
    """Clear the caches before and after a test."""
    made = []

    @cache
    def temporary(chapter):
        made.append(honest(chapter))
        return made[-1]

    honest = edition._temporary.__wrapped__
    monkeypatch.setattr(edition, "_temporary", temporary)
    monkeypatch.setattr(module, "working", cache(module.working.__wrapped__))
    yield
    for folder in made:
        folder.cleanup()


def raising(error):
    """Return a function that raises."""

    def function(*args, **kwargs):
        raise error

    return function


ASKED = find("04_closures.three_calls")
CHECK, ARRAY, FILES = ASKED._check, wire.Peer._array, edition.files
BREAKAGES = {  # what is replaced, and by what; test_grade.py and test_sandbox.py have more
    "a program that fails": (sandbox.shutil, "which", lambda name: "/bin/false"),
    "a decoder that raises": (wire.Peer, "decode", raising(ZeroDivisionError("broken"))),
    "a decoder that refuses": (wire.Peer, "decode", raising(wire.WireError("broken"))),
    "a decoder that turns numbers": (wire.Peer, "_array", lambda *told: ARRAY(*told) + 1),
    "a check that says no text": (ASKED, "_check", lambda *both: (CHECK(*both), object())),
    "an edition without a file": (
        edition,
        "files",
        lambda chapter: {name: text for name, text in FILES(4).items() if name != "check/numerical.py"},
    ),
    "a full disk": (edition, "write", raising(OSError(ENOSPC, "No space left on device"))),
    "a reader that raises": (module, "read", raising(RuntimeError("broken"))),
    "too little memory": (sandbox, "LIMITS", sandbox.LIMITS | {"RLIMIT_AS": 60 << 20}),
}
PARTS = {  # the sandbox's files that are broken, and what they hold instead
    "a child that is no Python": ("child.py", "def def"),
    "a child that ends": ("child.py", "raise SystemExit(1)"),
    "a child without its wire": ("wire.py", "import nothing_of_this_name"),
}


def has_no_mark():
    """Grade right answers, and assert that our fault costs no points."""
    answer = write_answer(grade, (RIGHTS, "04_closures", SEED, False))
    result = read_answer(answer, "04_closures", sha256(RIGHTS).hexdigest())
    assert result.fault is not None, [(part.status, part.sentence) for part in result.exercises]
    assert result.fault.startswith("not graded, because") and result.points is None
    assert (result.exercises[0].status, result.exercises[0].points) == ("not graded", None)


@pytest.mark.parametrize("broken", BREAKAGES.values(), ids=BREAKAGES)
def test_a_broken_part_of_the_grader_gives_no_mark(fresh, monkeypatch, broken):
    monkeypatch.setattr(*broken)
    has_no_mark()


@pytest.mark.parametrize(("name", "source"), PARTS.values(), ids=PARTS)
def test_a_broken_file_of_the_sandbox_gives_no_mark(fresh, monkeypatch, tmp_path, name, source):
    for part in ("child.py", "wire.py", "stand_ins.py"):
        tmp_path.joinpath(part).write_bytes(edition.HERE.joinpath(part).read_bytes())
    tmp_path.joinpath(name).write_text(source)
    monkeypatch.setattr(edition, "HERE", tmp_path)
    has_no_mark()


# right but damaged notebooks: no false zero


def hurt(stem):
    """Return the rows of the damaged notebooks of a chapter that lost points, though all are right."""
    found = {name: grade(damaged(name, stem), stem, SEED) for name in DAMAGES}
    return {name: r.exercises for name, r in found.items() if r.points != r.out_of}


def test_damages_cost_nothing_in_a_short_notebook():
    assert hurt("00_start") == {}


@pytest.mark.long
@pytest.mark.parametrize("stem", STEMS)
def test_damages_cost_nothing(stem):
    assert hurt(stem) == {}


# the same submission, chapter and seed: the same bytes

REGRADE = """
import json, sys
from classroom.grade import grade
data, chapter, times = open(sys.argv[1], "rb").read(), sys.argv[2], int(sys.argv[3])
for _ in range(times):
    print(json.dumps(grade(data, chapter, 5).plain()))
"""


def regrades(path, chapter, times, threads):
    """Return what a grader with so many BLAS threads says, a line for each time."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    paths = {"PYTHONPATH": str(ROOT), "MINIGRAD_WORK": ""}
    environment = os.environ | dict.fromkeys(names, str(threads)) | paths
    command = [sys.executable, "-c", REGRADE, str(path), chapter, str(times)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def mixed(chapter):
    """Return a notebook in which some answers are right, one is wrong, and one raises."""
    cells = solution(chapter)["cells"]
    wrong = [
        "def scale(gain, dgain):\n    return lambda X: (X, lambda dY: dY)",
        "print(object())\n{}.missing",
    ]
    raises = ["def reduce_mean(X):\n    raise ValueError(f'{X} at {object()}, {set(\"abcdef\")}, {id(X)}')"]
    return notebook(*("".join(c["source"]) for c in cells if c["cell_type"] == "code"), *wrong, *raises)


@pytest.mark.parametrize("times", [5, pytest.param(50, marks=pytest.mark.long)])
def test_regrades_are_the_same_bytes_with_one_thread_and_with_four(tmp_path, times):
    path = tmp_path / "04_closures.ipynb"
    path.write_bytes(mixed("04_closures"))
    lines = [*regrades(path, "04_closures", times, 1), *regrades(path, "04_closures", times, 4)]
    assert len(lines) == 2 * times
    assert len(set(lines)) == 1, sorted(set(lines))[:2]
    assert '"passed"' in lines[0] and '"failed"' in lines[0]


# speed, printed; judged against what a sandbox costs at the same moment


@pytest.mark.long
def test_speed(capsys):
    """A class hands in every chapter equally often."""
    chapters = sorted({exercise.stem for exercise in checks.exercises()})
    data = {chapter: json.dumps(solution(chapter)).encode() for chapter in chapters}
    for chapter in chapters:
        grade(data[chapter], chapter, SEED)  # the edition is written, and the checks have proved themselves
    bare, whole = [], {chapter: [] for chapter in chapters}
    for seed in range(10):
        for chapter in chapters:
            start = time.perf_counter()
            with Sandbox(module.folder(chapter)):
                bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            assert grade(data[chapter], chapter, seed).fault is None
            whole[chapter].append(time.perf_counter() - start)
    seconds = sorted(second for found in whole.values() for second in found)
    middle, worst = statistics.median(seconds), seconds[int(0.95 * len(seconds))]
    medians = {chapter: statistics.median(found) for chapter, found in whole.items()}
    slowest = max(medians, key=medians.get)
    with capsys.disabled():
        print(f"\n{len(chapters)} chapters: median {middle:.3f} s, p95 {worst:.3f} s; 1,000 on 2 cores in")
        print(f"about {500 * statistics.mean(seconds):.0f} s; slowest {slowest} {medians[slowest]:.3f} s;")
        print(f"a bare sandbox: median {statistics.median(bare):.3f} s")
    assert middle / statistics.median(bare) < 30
    assert medians["04_closures"] / statistics.median(bare) < 60
