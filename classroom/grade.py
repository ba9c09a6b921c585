"""Grade one submission: a pure function from its bytes to its result.

The same bytes, chapter and seed give the same result on any machine; it contains no time, path or address.
Only a check gives a mark; a fault of the grader gives none, not even a zero. Students and files are handled
in ``classroom.queue``.
"""

import hashlib
import re
from functools import cache

import numpy as np

from classroom.clock import Clock
from classroom.edition import folder
from classroom.explain import explained
from classroom.faults import GradingFault, Refused
from classroom.limits import ALL, CELLS, EXERCISE, SECONDS
from classroom.remote import GARBLED, Answered, Ended, Remote
from classroom.result import Result, Status, exercise_result, exercises_of, unchecked
from classroom.sandbox import Sandbox, level
from classroom.submission import read
from classroom.unanswered import missing
from course import curriculum, store
from course.checks.exercise import CheckFailed

CELLS_OVER = "the cells take longer than {:g} seconds in all"
BY_HAND = "a person reads this answer"
TOO_LATE = "the notebook takes longer than {:g} seconds in all"
ENDLESS = "Python ended {} times while the cells ran, whichever were skipped: run them all in a new Python"
NOTES, NOTE, SENTENCE = 20, 300, 2000  # limits: number of notes, characters of a note, of a sentence


class Run:
    """A submission in a sandbox: runs all its cells in order, then serves its answers.

    After a crash or a timeout, the next request starts a new process and skips the statement that caused it.
    The cells, each exercise, and the whole submission have separate time limits.

    Parameters
    ----------
    sources : list of str
        The cells' sources.
    folder : Path
        The folder that the sandbox sees.
    unsafe : bool
    seconds : float
        Time limit for one call, or one statement of a cell.
    """

    def __init__(self, sources, folder, unsafe, seconds=SECONDS):
        self.sources, self.folder, self.unsafe, self.seconds = sources, folder, unsafe, seconds
        self.clock, self.sandbox, self.remote = Clock(), None, None
        # a note for each place that is skipped, and for each cell that raised; from `stop` on, all is skipped
        self.notes, self.stop, self.last, self.ends = {}, (len(sources) + 1, -1), (0, 0), 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the process, if there is one."""
        if self.sandbox is not None:
            self.clock.release()
            self.sandbox.close()
            self.sandbox = None

    def answer(self, name, kind="function"):
        """Return the function or class of a name after the last cell; raises NameError."""
        while self.sandbox is None:
            self._start()
        self._limit(EXERCISE, "its calls take longer than {:g} seconds in all")
        self._reset()
        return self.remote.ask("find", name=name, value=kind)

    def _reset(self):
        """Forget all shared objects, at both ends; raises Ended if the process does not answer."""
        self.remote.ask("reset")
        self.remote.reset()

    def _limit(self, times, why):
        """Set the deadline of the next requests, and the message for missing it."""
        end, all_seconds = self.clock.now() + times * self.seconds, ALL * self.seconds
        self.remote.end, self.remote.why = end, why.format(times * self.seconds)
        if all_seconds <= end:
            self.remote.end, self.remote.why = all_seconds, TOO_LATE.format(all_seconds)

    def _start(self):
        """Start a process and run the cells; a statement that ends the process is skipped the next time."""
        if self.clock.now() > ALL * self.seconds:
            raise Ended(TOO_LATE.format(ALL * self.seconds))
        if self.ends > 2 * NOTES:
            raise Ended(ENDLESS.format(self.ends))
        sandbox, self.last = Sandbox(self.folder, self.unsafe), (0, 0)
        self.clock.start()  # a restart takes of the notebook's time
        sandbox.start()
        self.clock.stop()
        self.sandbox = sandbox
        self.clock.watch(sandbox.process.pid)
        pipes = sandbox.stdout.fileno(), sandbox.stdin.fileno()
        self.remote = Remote(*pipes, self.clock, self.seconds)
        self._require_answers()
        self._limit(CELLS, CELLS_OVER)
        for number, source in enumerate([*self.sources, ""], start=1):
            self._run_cell(number, source)
            if self.sandbox is None:
                return

    def _run_cell(self, number, source):
        """Run a cell, and note its first exception. If the process ends, close it."""
        place = -1
        try:
            source = "" if self._is_skipped((number, place)) else source
            count = self.remote.ask("read", name=number, value=source)
            if type(count) is not int:
                raise Ended(GARBLED)
            for place in range(count):
                if self._is_skipped((number, place)):
                    self._reset()
                    continue
                try:
                    self.remote.ask("run", name=place)
                except MemoryError as error:
                    raise Ended("it used up the memory") from error
                except Exception as error:
                    self._note(number, error)
                self.last = number, place
        except Ended as error:
            self._leave_out((number, place), str(error))
        except Exception as error:  # a cell that is not Python
            self._note(number, error)

    def _note(self, number, error):
        """Note the first exception of a cell."""
        self.notes.setdefault(number, f"code cell {number} raised {type(error).__name__}: {error}")

    def _is_skipped(self, place):
        """Report whether a statement, or an unreadable cell, is skipped."""
        return place in self.notes or place >= self.stop

    def _leave_out(self, place, why):
        """End the process, and skip from now on the statement, or the unreadable cell, that ended it."""
        if self._is_skipped(place):  # it is innocent: the statement that ran before it ended the process
            self.notes.pop(place if place < self.stop else None, None)
            place = self.last
        number, statement = place
        what = f"{'' if statement < 0 else 'a statement of '}code cell {number} was skipped"
        self.ends += 1
        if self.remote.end <= self.clock.now() or self.ends > NOTES:
            self.stop = place
            what = f"the rest of code cell {number} and all later cells were skipped"
        self.notes[place] = f"{what}: {why}"
        self.close()

    def _require_answers(self):
        """Test the sandbox with a known answer before the submission runs, so that a failure is our fault."""
        X = np.arange(3.0)
        try:
            for source in ("import minigrad\ndef canary(X):\n    return 2 * X", "del minigrad, canary"):
                for place in range(self.remote.ask("read", name=0, value=source)):
                    self.remote.ask("run", name=place)
                if source.startswith("import"):
                    right = np.array_equal(self.remote.ask("find", name="canary")(X), 2 * X)
        except (Exception, Ended) as error:
            raise GradingFault(f"not graded, because the sandbox does not answer: {error}") from error
        if not right:
            raise GradingFault("not graded, because the sandbox gives wrong answers.")


def grade(data, chapter, seed, unsafe=False, seconds=SECONDS):
    """Grade a submission.

    Parameters
    ----------
    data : bytes
        The notebook, as handed in.
    chapter : str
        ``"04_closures"``.
    seed : int
        Seed of the checks' data, at least 0.
    unsafe : bool
        Run with limits but without bubblewrap.
    seconds : float
        Time limit for one call of an answer, or one statement of a cell. The limit is twelve times as long
        for an exercise, six times for all cells, and 30 times for the whole submission.

    Returns
    -------
    Result
        The points and the message of each exercise.

    Raises
    ------
    GradingFault
        If the chapter has no exercises.
    """
    asked, digest, where = exercises_of(chapter), hashlib.sha256(data).hexdigest(), None
    try:
        where = level(unsafe)
        sources = read(data)
        checked = working(chapter, unsafe)
        with Run(sources, folder(chapter), unsafe, seconds) as run:
            found = [grade_exercise(exercise, run, seed, checked) for exercise in asked]
            parts = tuple(explained(part, data, run) for part in found)
            notes = tuple(clean(note)[:NOTE] for note in dict.fromkeys(run.notes.values()))[:NOTES]
        return Result(chapter, digest, where, None, parts, notes)
    except Refused as refusal:
        return unchecked(chapter, digest, refused=clean(str(refusal)), level=where)
    except GradingFault as fault:
        return unchecked(chapter, digest, fault=clean(str(fault)), level=where)
    except Exception as error:
        fault = clean(f"not graded, because of {type(error).__name__}: {error}")
        return unchecked(chapter, digest, fault=fault, level=where)


def grade_exercise(exercise, run, seed, checked):
    """Grade one exercise; `checked` has the names of the exercises whose checks work here."""
    if exercise.by_hand:
        return _result_of(exercise, Status.BY_HAND, BY_HAND)
    if exercise.remote and exercise.name not in checked:
        return _result_of(exercise, Status.NOT_GRADED, "not graded, because its check does not work here.")
    result = _checked(exercise, run, seed)
    absent = result.status in (Status.MISSING, Status.NOT_WRITTEN)
    return result if exercise.remote or absent else _result_of(exercise, Status.BY_HAND, BY_HAND)


def _checked(exercise, run, seed):
    """Run an exercise's check, and return the result."""
    short = exercise.short
    try:
        return _result_of(exercise, Status.PASSED, judged(exercise, run, seed))
    except CheckFailed as no:
        unwritten = isinstance(no.__cause__, NotImplementedError)
        return _result_of(exercise, Status.NOT_WRITTEN if unwritten else Status.FAILED, str(no))
    except Answered:
        return _result_of(exercise, Status.BY_HAND, BY_HAND)
    except NameError:
        return _result_of(exercise, Status.MISSING, missing(short, run.sources, list(run.notes.values())))
    except Ended as ended:
        run.close()
        return _result_of(exercise, Status.FAILED, f"{short}: {ended}")
    except GradingFault as fault:
        return _result_of(exercise, Status.NOT_GRADED, str(fault))
    except Exception as error:
        if hasattr(error, "place"):  # raised in the submission's process
            return _result_of(exercise, Status.FAILED, f"{short}: it raises {type(error).__name__}: {error}")
        fault = f"not graded, because the grader itself raised {type(error).__name__}"
        return _result_of(exercise, Status.NOT_GRADED, fault)


def judged(exercise, run, seed):
    """Return the message of a passed check; raises CheckFailed if it fails.

    Some checks need objects that cannot be sent. Such a check calls the answer once, to find out whether it
    is written, and Answered is raised.
    """
    answer = run.answer(exercise.short, exercise.answer)
    run.remote.is_enough = not exercise.remote
    verified = exercise.judge(answer, attempt=seed)
    if run.remote.touched and not exercise.changes:
        raise CheckFailed(f"{exercise.short}: it changes its caller's data: make a new array")
    return verified


def _result_of(exercise, status, sentence):
    """Make the result of an exercise, with its message cleaned and cut to length."""
    points = {Status.PASSED: exercise.points, Status.BY_HAND: None, Status.NOT_GRADED: None}.get(status, 0)
    return exercise_result(exercise, points, status, clean(sentence)[:SENTENCE])


@cache
def working(chapter, unsafe=False):
    """Return the names of the exercises whose checks work here, tested once before the first submission.

    Each check must pass the chapter's own solution, run in a sandbox like a submission, and reject a typical
    mistake.

    Parameters
    ----------
    chapter : str
    unsafe : bool

    Returns
    -------
    frozenset of str

    Raises
    ------
    GradingFault
        If the solutions are missing, or the sandbox does not answer.
    """
    path = store.PROJECT / "solutions" / curriculum.exercises_path(chapter)
    if not path.exists():
        raise GradingFault(
            f"not graded, because {path.relative_to(store.PROJECT)} is missing: every check must pass it "
            "before a class is graded. Put this version's folder solutions beside the folder course."
        )
    with Run(read(path.read_bytes()), folder(chapter), unsafe) as run:
        asked = [exercise for exercise in exercises_of(chapter) if exercise.remote and not exercise.by_hand]
        return frozenset(one.name for one in asked if _passes_solution(one, run) and _refuses_mistake(one))


def _passes_solution(exercise, run):
    """Report whether a check passes the chapter's own solution."""
    result = _checked(exercise, run, seed=0)
    if result.status is Status.NOT_GRADED:
        raise GradingFault(result.sentence)
    return result.status is Status.PASSED


def _refuses_mistake(exercise):
    """Report whether a check rejects a known mistake or, if it has none, an answer that returns None."""
    mistakes = [answer for _, answer in exercise.mistakes] or [lambda *args, **kwargs: None]
    try:
        exercise.judge(mistakes[0])
    except CheckFailed:
        return True
    return False


def clean(text):
    """Remove unprintable characters, and memory addresses, which differ from run to run."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", shown)
