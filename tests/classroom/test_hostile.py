"""Hostile and broken submissions earn nothing, raise nothing in the grader, and leave no process running."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from classroom import grade as module
from classroom.grade import grade
from tests.classroom.hostile import access, cheating, lying, malformed, resources, without_work
from tests.classroom.hostile.submission import expected, found, notebook

SEED = 20_240_229
LONG = 600  # seconds after which a grader hangs, however busy the machine is with other things
SENTENCE = 5_000  # characters of a sentence
GROWTH = 240  # MB, on top of the 60 that a grader has before it reads its first submission
QUICK = 0.5  # seconds of a call; where the wait itself is asked about
CHEATING = cheating.CASES | lying.CASES | without_work.CASES


class Hangs(BaseException):
    """The grader does not come back."""


@contextmanager
def limited(seconds):
    """Raise Hangs in the grader, wherever it is, after some seconds."""

    def stop(*_):
        raise Hangs(f"no result after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def verdict(data, chapter, wanted, seconds=10.0):
    """Grade a submission and compare what it gets with the one verdict that is wanted."""
    module.working(chapter)  # once, before the first submission
    with limited(LONG):
        result = grade(data, chapter, SEED, seconds=seconds)
    marks = expected(chapter, wanted)
    assert found(result) == marks, [(part.status, part.sentence[:200]) for part in result.exercises]
    assert result.fault is None
    assert result.points == sum(points or 0 for _, points in marks.values())
    assert all(len(part.sentence) <= SENTENCE for part in result.exercises)
    assert len(result.notes) <= 20 and all(len(note) <= 300 for note in result.notes)
    json.dumps(result.plain(), allow_nan=False).encode("utf-8")
    return result


@contextmanager
def little_memory():
    """Ask whether the grader's memory stayed small (where Linux tells the peak of a while)."""
    status = Path("/proc/self/status")
    if not status.exists():
        yield
        return
    Path("/proc/self/clear_refs").write_text("5")
    before = kilobytes(status, "VmRSS")
    yield
    assert (kilobytes(status, "VmHWM") - before) / 1000 < GROWTH


def kilobytes(status, name):
    """Return one line of a process's status."""
    return int(next(line for line in status.read_text().splitlines() if line.startswith(name)).split()[1])


def processes(folder):
    """Return the numbers of the processes that this one has started, and of those that see an edition."""
    listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True)
    rows = (line.split(None, 2) for line in listing.stdout.splitlines()[1:])
    rows = [row for row in rows if len(row) == 3 and not row[2].startswith("ps ")]
    return {row[0] for row in rows if int(row[1]) == os.getpid() or str(folder) in row[2]}


def test_there_are_enough_of_them():
    tables = cheating, lying, without_work, resources, access, malformed
    assert min(len(table.CASES) for table in tables) >= 20
    assert sum(len(table.CASES) for table in tables) >= 210
    assert len(CHEATING) == sum(len(table.CASES) for table in tables[:3])


@pytest.mark.parametrize("name", CHEATING)
def test_cheating_earns_nothing(name):
    chapter, wanted, cells = CHEATING[name]
    verdict(notebook(*cells), chapter, wanted, seconds=4 * QUICK)  # no honest one here takes so long


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in resources.LONG else ())
        for name in resources.CASES
    ],
)
def test_using_up_resources_costs_the_exercise_itself_only(name):
    chapter, wanted, cells = resources.CASES[name]
    folder = module.folder(chapter)
    before = processes(folder)
    with little_memory():
        verdict(
            notebook(*(cell.replace("WAIT", str(QUICK)) for cell in cells)), chapter, wanted, seconds=QUICK
        )
    deadline = time.monotonic() + 10  # it takes less than one second where nothing else runs
    while processes(folder) - before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes(folder) - before


@pytest.mark.parametrize("name", access.CASES)
def test_files_outside_the_sandbox_are_not_found(name):
    chapter, wanted, cells = access.CASES[name]
    verdict(notebook(*cells), chapter, wanted)


@pytest.mark.parametrize("name", malformed.CASES)
def test_only_notebooks_are_read(name):
    (chapter, wanted, data), refused = malformed.CASES[name]
    result = verdict(data, chapter, wanted)
    assert bool(result.refused) == refused
    assert not refused or all(part.sentence == result.refused for part in result.exercises)
