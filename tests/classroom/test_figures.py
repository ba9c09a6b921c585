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
from course.checks import exercise as exercise_module
from course.checks import find
from course.curriculum import exercises_path
from tests.classroom.damaged import DAMAGES, STEMS, damaged
from tests.classroom.hostile.submission import CENTRE, notebook

ROOT = Path(__file__).parents[2]
SEED = 1
CHAPTERS = ("00_start", "02_jacobian", "04_closures", "05_chains", "09_optimizers")
RIGHTS = notebook(
    "from minigrad import numerical_gradient, Layer\n" + CENTRE,
    "def three_calls():\n    return 12, 3, 30",
    "def two_layers(W1, W2, X, T):\n    return W1, W2, X",
)


def solution(chapter):
    """Return the notebook with the solutions of a chapter."""
    return json.loads((ROOT / "solutions" / exercises_path(chapter)).read_text("utf-8"))


# ten deliberate breakages of our own parts: no mark is given, and no zero


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


def no_program(monkeypatch, folder):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)


def program_that_fails(monkeypatch, folder):
    program = folder / "bwrap"
    program.write_text("#!/bin/sh\necho 'no permission' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(program))


def child_that_is_no_python(monkeypatch, folder):
    broken_part(monkeypatch, folder, "child.py", "def def")


def child_that_ends(monkeypatch, folder):
    broken_part(monkeypatch, folder, "child.py", "raise SystemExit(1)")


def child_without_its_wire(monkeypatch, folder):
    broken_part(monkeypatch, folder, "wire.py", "import nothing_of_this_name")


def broken_part(monkeypatch, folder, name, source):
    """Break one of the sandbox's files."""
    for part in ("child.py", "wire.py", "stand_ins.py"):
        folder.joinpath(part).write_text((edition.HERE / part).read_text("utf-8"))
    folder.joinpath(name).write_text(source)
    monkeypatch.setattr(edition, "HERE", folder)


def decoder_that_raises(monkeypatch, folder):
    monkeypatch.setattr(wire.Peer, "decode", raising(ZeroDivisionError("broken")))


def decoder_that_refuses(monkeypatch, folder):
    monkeypatch.setattr(wire.Peer, "decode", raising(wire.WireError("broken")))


def decoder_that_turns_numbers(monkeypatch, folder):
    honest = wire.Peer._array
    monkeypatch.setattr(wire.Peer, "_array", lambda *told: honest(*told) + 1)


def check_that_always_passes(monkeypatch, folder):
    monkeypatch.setattr(find("04_closures.three_calls"), "_check", lambda answer, rng: "right")


def check_that_always_fails(monkeypatch, folder):
    no = checks.CheckFailed("no")
    monkeypatch.setattr(find("04_closures.three_calls"), "_check", raising(no))


def check_that_raises(monkeypatch, folder):
    monkeypatch.setattr(find("04_closures.three_calls"), "_check", raising(KeyError("broken")))


def judge_that_breaks(monkeypatch, folder):
    monkeypatch.setattr(exercise_module.Exercise, "judge", raising(TypeError("broken")))


def edition_without_a_file(monkeypatch, folder):
    honest = edition.files
    files = {name: text for name, text in honest(4).items() if name != "check/numerical.py"}
    monkeypatch.setattr(edition, "files", lambda chapter: files)


def full_disk(monkeypatch, folder):
    monkeypatch.setattr(edition, "write", raising(OSError(ENOSPC, "No space left on device")))


def reader_that_raises(monkeypatch, folder):
    monkeypatch.setattr(module, "read", raising(RuntimeError("broken")))


def too_little_memory(monkeypatch, folder):
    monkeypatch.setattr(sandbox, "LIMITS", sandbox.LIMITS | {"RLIMIT_AS": 60 << 20})


def check_that_says_no_text(monkeypatch, folder):
    honest = find("04_closures.three_calls")._check
    monkeypatch.setattr(find("04_closures.three_calls"), "_check", lambda *both: (honest(*both), object()))


BREAKAGES = {
    function.__name__.replace("_", " "): function
    for function in (
        no_program,
        program_that_fails,
        child_that_is_no_python,
        child_that_ends,
        child_without_its_wire,
        decoder_that_raises,
        decoder_that_refuses,
        decoder_that_turns_numbers,
        check_that_always_passes,
        check_that_always_fails,
        check_that_raises,
        judge_that_breaks,
        edition_without_a_file,
        full_disk,
        reader_that_raises,
        too_little_memory,
        check_that_says_no_text,
    )
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_part_of_the_grader_gives_no_mark(fresh, monkeypatch, tmp_path, name):
    BREAKAGES[name](monkeypatch, tmp_path)
    answer = write_answer(grade, (RIGHTS, "04_closures", SEED, False))
    result = read_answer(answer, "04_closures", sha256(RIGHTS).hexdigest())
    assert result.fault is not None, [(part.status, part.sentence) for part in result.exercises]
    assert result.fault.startswith("not graded, because") and result.points is None
    assert (result.exercises[0].status, result.exercises[0].points) == ("not graded", None)


def test_there_are_ten_breakages():
    assert len(BREAKAGES) >= 10


# right but damaged notebooks: no false zero


def hurt(stem):
    """Return the rows of the damaged notebooks of a chapter that lost points, though all are right."""
    found = {name: grade(damaged(name, stem), stem, SEED) for name in DAMAGES}
    return {name: r.exercises for name, r in found.items() if r.points != r.out_of}


def test_damages_cost_nothing_in_a_short_notebook():
    assert len(DAMAGES) >= 50 and hurt("00_start") == {}


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
