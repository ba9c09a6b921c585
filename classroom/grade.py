"""From the bytes of a submission to its marks: a pure function.

The same bytes, chapter and seed give the same marks, on any machine: nothing of the clock, of a path or of an
address stands in them. A mark exists only where a check said so; a fault of ours is no mark, and no zero.
Leaves out files, students and queues (`classroom.queue`).
"""

import hashlib
import re
import time
from compileall import compile_dir
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from io import StringIO
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import numpy as np

from classroom import edition
from classroom.faults import GradingFault, Refused
from classroom.remote import TOO_LATE, Ended, Remote
from classroom.sandbox import Sandbox, level
from classroom.submission import read, read_file
from course import store
from course.checks import exercises
from course.checks.exercise import CheckFailed

SECONDS = 60.0  # for a whole submission
NOTES, NOTE, SENTENCE = 20, 300, 2000  # at most so many, of so many characters
HERE = Path(__file__).parent


class Run:
    """A submission that runs in a sandbox: its cells from the first to the last, then whatever is asked.

    When the process ends or hangs, the next question finds a new one, without the cell that was to blame.
    """

    def __init__(self, sources, folder, unsafe):
        self.sources, self.folder, self.unsafe = sources, folder, unsafe
        self.end, self.skipped, self.notes, self.sandbox = time.monotonic() + SECONDS, set(), [], None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the process."""
        if self.sandbox is not None:
            self.sandbox.__exit__()
            self.sandbox = None

    def find(self, name):
        """Return what stands under a name after the last cell; raises NameError."""
        while self.sandbox is None:
            self._start()
        self.remote.ask("reset")
        self.remote.reset()
        return self.remote.ask("find", name=name)

    def _prove(self):
        """Ask something whose answer is known, before the submission runs: what fails is our fault."""
        X = np.arange(3.0)
        try:
            self.remote.ask("run", name=0, value="import minigrad\ndef canary(X):\n    return 2 * X")
            known = np.array_equal(self.remote.ask("find", name="canary")(X), 2 * X)
            self.remote.ask("run", name=0, value="del minigrad, canary")
        except (Exception, Ended) as error:
            raise GradingFault(f"not graded, because the sandbox does not answer: {error}") from error
        if not known:
            raise GradingFault("not graded, because the sandbox gives wrong answers.")

    def _start(self):
        """Start a process and run the cells; if one ends it, leave that one out the next time."""
        if time.monotonic() > self.end:
            raise Ended(TOO_LATE)
        self.sandbox, notes = Sandbox(self.folder, self.unsafe).__enter__(), []
        self.remote = Remote(self.sandbox.stdout.fileno(), self.sandbox.stdin.fileno(), self.end)
        self._prove()
        for number, source in enumerate(self.sources, start=1):
            try:
                if number not in self.skipped:
                    self.remote.ask("run", name=number, value=source)
            except Ended as error:
                self.skipped.add(number)
                self.notes.append(f"code cell {number} was left out: {error}")
                return self.__exit__()
            except Exception as error:
                notes.append(f"code cell {number} raised {type(error).__name__}: {error}")
        self.notes += notes


def grade(data, chapter, seed, unsafe=False):
    """Mark a submission.

    Parameters
    ----------
    data : bytes
        A notebook, as it was handed in.
    chapter : str
        ``"04_closures"``.
    seed : int
        Draws what the checks ask; from 0 on.
    unsafe : bool
        Run it with limits only, where bubblewrap is missing.

    Returns
    -------
    dict
        Plain values for JSON: what was reached, exercise by exercise, each with its sentence.

    Raises
    ------
    ValueError
        If the chapter has no exercises.
    """
    asked = [exercise for exercise in exercises() if exercise.stem == chapter]
    if not asked:
        raise ValueError(f"there are no exercises of a chapter {chapter!r}: write it as in 04_closures.")
    result = {"chapter": chapter, "submission": hashlib.sha256(data).hexdigest(), "level": None}
    result |= {"fault": None, "refused": None}
    notes = []
    try:
        result["level"] = level(unsafe)
        with Run(read(data), folder(chapter), unsafe) as run:
            rows = [mark(exercise, run, seed) for exercise in asked]
            notes = [clean(note)[:NOTE] for note in dict.fromkeys(run.notes)][:NOTES]
    except Refused as refusal:
        result["refused"] = str(refusal)
        rows = [row(exercise, "missing", 0, str(refusal)) for exercise in asked]
    except Exception as error:
        ours = isinstance(error, GradingFault)
        fault = error if ours else f"not graded, because of {type(error).__name__}: {error}"
        rows = [row(exercise, "not graded", None, str(fault)) for exercise in asked]
    ours = [one for one in rows if one["status"] != "by hand"]
    faults = [one["sentence"] for one in ours if one["status"] == "not graded"]
    return result | {
        "fault": faults[0] if faults else None,
        "points": None if faults else sum(one["points"] for one in ours),
        "out_of": sum(one["out_of"] for one in ours),
        "by_hand": sum(one["out_of"] for one in rows if one["status"] == "by hand"),
        "exercises": rows,
        "notes": notes,
    }


def row(exercise, status, points, sentence):
    """Return what is told about one exercise."""
    told = {"name": exercise.name, "title": exercise.title, "kind": exercise.kind, "out_of": exercise.points}
    return told | {"points": points, "status": status, "sentence": clean(sentence)[:SENTENCE]}


def mark(exercise, run, seed):
    """Return the row of one exercise."""
    if exercise.by_hand or not exercise.remote:
        return row(exercise, "by hand", None, "a person reads this answer")
    try:
        if not works(exercise):
            raise GradingFault("not graded, because its own check does not work here.")
        said = exercise.judge(run.find(exercise.short), attempt=seed)
        if run.remote.touched and not exercise.changes:
            raise CheckFailed(f"{exercise.short}: it changes what belongs to its caller: make a new array")
        return row(exercise, "passed", exercise.points, said)
    except CheckFailed as no:
        status = "not written" if isinstance(no.__cause__, NotImplementedError) else "failed"
        return row(exercise, status, 0, str(no))
    except NameError:
        return row(exercise, "missing", 0, f"there is no {exercise.short} in the notebook")
    except Ended as ended:
        run.__exit__()
        return row(exercise, "failed", 0, f"{exercise.short}: {ended}")
    except GradingFault as fault:
        return row(exercise, "not graded", None, str(fault))
    except Exception as error:
        fault = f"not graded, because the grader itself raised {type(error).__name__}"
        return row(exercise, "not graded", None, fault)


@cache
def works(exercise):
    """Say whether a check, in this process, takes the solution and refuses a typical mistake."""
    try:
        exercise.judge(solved(exercise.stem)[exercise.short])
    except Exception:
        return False
    try:
        exercise.judge(exercise.mistakes[0][1] if exercise.mistakes else NotWritten)
    except CheckFailed:
        return True
    except Exception:
        return False
    return False


class NotWritten:
    """An answer, function or class, that nobody has written yet."""

    def __init__(self, *arguments, **options):
        raise NotImplementedError


@cache
def solved(chapter):
    """Return the names of a chapter's solutions after its last cell, run in this process."""
    names = {}
    path = store.PROJECT / "solutions" / chapter / f"{chapter}.ipynb"
    for source in read(read_file(path)):
        if not source.startswith("check("):  # that would go into the record of whoever grades
            with suppress(Exception), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                exec(source, names)
    return names


@cache
def folder(chapter):
    """Return the folder that the sandbox shows: the child, and the library up to the chapter."""
    kept = TemporaryDirectory(prefix="edition-", ignore_cleanup_errors=True)
    place = Place(kept.name)
    try:
        edition.make(chapter, place)
        for name in ("child.py", "wire.py", "inert.py"):
            copy(HERE / name, place / name)
        compile_dir(place, quiet=2)  # once here, instead of at every start of a sandbox
    except BaseException:
        kept.cleanup()
        raise
    place.kept = kept
    return place


class Place(type(Path())):
    """A folder that is there as long as something refers to it."""


def clean(text):
    """Return a text without what a page cannot show, and without addresses, which differ from run to run."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", shown)
