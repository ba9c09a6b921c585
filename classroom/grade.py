"""From the bytes of a submission to its result: a pure function.

The same bytes, chapter and seed give the same result, on any machine: nothing of the clock, of a path or of
an address stands in it. A mark exists only where a check said so; a fault of ours is no mark, and no zero.
Leaves out files, students and queues (`classroom.queue`).
"""

import hashlib
import re
from functools import cache

import numpy as np

from classroom.absent import missing
from classroom.clock import Clock
from classroom.edition import folder
from classroom.faults import GradingFault, Refused
from classroom.limits import ALL, CELLS, EXERCISE, SECONDS
from classroom.remote import GARBLED, Answered, Ended, Remote
from classroom.result import Result, Status, exercise_result, exercises_of, unchecked
from classroom.sandbox import Sandbox, level
from classroom.submission import read
from course import curriculum, store
from course.checks.exercise import CheckFailed

CELLS_OVER = "the cells take longer than {:g} seconds in all"
BY_HAND = "a person reads this answer"
TOO_LATE = "the notebook takes too long: its {:g} seconds are over"
NOTES, NOTE, SENTENCE = 20, 300, 2000  # at most so many, of so many characters


class Run:
    """A submission that runs in a sandbox: its cells from the first to the last, then whatever is asked.

    When the process ends or hangs, the next question finds a new one, without the statement that was to
    blame. The cells, each exercise, and everything together have their own time.

    Parameters
    ----------
    sources : list of str
        Of the cells.
    folder : Path
        What the sandbox shows.
    unsafe : bool
    seconds : float
        For one call, or one statement of a cell.
    """

    def __init__(self, sources, folder, unsafe, seconds=SECONDS):
        self.sources, self.folder, self.unsafe, self.seconds = sources, folder, unsafe, seconds
        self.texts = tuple(sources)  # of the cells as they were handed in
        self.clock, self.sandbox, self.remote = Clock(), None, None
        self.skipped, self.stop, self.notes = set(), (len(sources) + 1, 0), []

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

    def answer(self, name):
        """Return what stands under a name after the last cell; raises NameError."""
        while self.sandbox is None:
            self._start()
        self._limit(EXERCISE, "its calls take longer than {:g} seconds in all")
        self.remote.ask("reset")
        self.remote.reset()
        return self.remote.ask("find", name=name)

    def _limit(self, times, why):
        """Say until when the process is asked, and what is said when that time is over."""
        end, all_seconds = self.clock.now() + times * self.seconds, ALL * self.seconds
        self.remote.end, self.remote.why = end, why.format(times * self.seconds)
        if all_seconds <= end:
            self.remote.end, self.remote.why = all_seconds, TOO_LATE.format(all_seconds)

    def _start(self):
        """Start a process and run the cells; if one ends it, leave the statement out the next time."""
        if self.clock.now() > ALL * self.seconds:
            raise Ended(TOO_LATE.format(ALL * self.seconds))
        sandbox, notes = Sandbox(self.folder, self.unsafe), []
        sandbox.start()
        self.sandbox = sandbox
        self.clock.watch(sandbox.process.pid)
        pipes = sandbox.stdout.fileno(), sandbox.stdin.fileno()
        self.remote = Remote(*pipes, self.clock, self.seconds)
        self._require_answers()
        self._limit(CELLS, CELLS_OVER)
        for number, source in enumerate(self.sources, start=1):
            if number > self.stop[0]:
                break
            note = self._run_cell(number, source)
            if self.sandbox is None:
                return
            notes += [note] if note else []
        self.notes += notes

    def _run_cell(self, number, source):
        """Run a cell; return a note on the first exception. Where it ends the process, close that."""
        place, note = -1, None
        try:
            count = self.remote.ask("read", name=number, value=source)
            if type(count) is not int:
                raise Ended(GARBLED)
            for place in range(count):
                if (number, place) in self.skipped or (number, place) >= self.stop:
                    continue
                try:
                    self.remote.ask("run", name=place)
                except MemoryError as error:
                    raise Ended("it used up the memory") from error
                except Exception as error:
                    note = note or f"code cell {number} raised {type(error).__name__}: {error}"
        except Ended as error:
            self._leave_out(number, place, source, str(error))
        except Exception as error:  # a cell that is not Python
            note = f"code cell {number} raised {type(error).__name__}: {error}"
        return note

    def _leave_out(self, number, place, source, why):
        """End the process, and leave out what was to blame: a statement, or a cell that cannot be read."""
        what = f"code cell {number} was left out"
        if self.remote.end <= self.clock.now() or len(self.notes) >= NOTES:
            self.stop = (number, place)
            what = f"what follows in code cell {number} and below it was left out"
        elif place < 0:
            self.sources[number - 1] = ""
        else:
            self.skipped.add((number, place))
            what = f"a statement of code cell {number} was left out"
        self.notes.append(f"{what}: {why}")
        self.close()

    def _require_answers(self):
        """Ask something whose answer is certain, before the submission runs: what fails is our fault."""
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
        A notebook, as it was handed in.
    chapter : str
        ``"04_closures"``.
    seed : int
        Draws what the checks ask; from 0 on.
    unsafe : bool
        Run it with limits only, where bubblewrap is missing.
    seconds : float
        For one call of an answer, or one statement of a cell; an exercise has twelve times as long, all cells
        six times, and everything together 30 times.

    Returns
    -------
    Result
        What was reached, exercise by exercise, each with its sentence.

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
            parts = tuple(grade_exercise(exercise, run, seed, checked) for exercise in asked)
            notes = tuple(clean(note)[:NOTE] for note in dict.fromkeys(run.notes))[:NOTES]
        return Result(chapter, digest, where, None, parts, notes)
    except Refused as refusal:
        return unchecked(chapter, digest, refused=clean(str(refusal)), level=where)
    except GradingFault as fault:
        return unchecked(chapter, digest, fault=clean(str(fault)), level=where)
    except Exception as error:
        fault = clean(f"not graded, because of {type(error).__name__}: {error}")
        return unchecked(chapter, digest, fault=fault, level=where)


def grade_exercise(exercise, run, seed, checked):
    """Return the result of one exercise; `checked` are the names of those whose check works here."""
    if exercise.by_hand:
        return _told(exercise, Status.BY_HAND, BY_HAND)
    if exercise.remote and exercise.name not in checked:
        return _told(exercise, Status.NOT_GRADED, "not graded, because its own check does not work here.")
    told = _asked(exercise, run, seed)
    absent = told.status in (Status.MISSING, Status.NOT_WRITTEN)
    return told if exercise.remote or absent else _told(exercise, Status.BY_HAND, BY_HAND)


def _asked(exercise, run, seed):
    """Return the result of an exercise as its check says it."""
    short = exercise.short
    try:
        return _told(exercise, Status.PASSED, judged(exercise, run, seed))
    except CheckFailed as no:
        unwritten = isinstance(no.__cause__, NotImplementedError)
        return _told(exercise, Status.NOT_WRITTEN if unwritten else Status.FAILED, str(no))
    except Answered:
        return _told(exercise, Status.BY_HAND, BY_HAND)
    except NameError:
        return _told(exercise, Status.MISSING, missing(short, run.texts, run.notes))
    except Ended as ended:
        run.close()
        return _told(exercise, Status.FAILED, f"{short}: {ended}")
    except GradingFault as fault:
        return _told(exercise, Status.NOT_GRADED, str(fault))
    except Exception as error:
        if hasattr(error, "place"):  # it came up in the other process
            return _told(exercise, Status.FAILED, f"{short}: it raises {type(error).__name__}: {error}")
        fault = f"not graded, because the grader itself raised {type(error).__name__}"
        return _told(exercise, Status.NOT_GRADED, fault)


def judged(exercise, run, seed):
    """Return what the check of an exercise says yes with; raises CheckFailed where it says no.

    Across the pipe not every check can look at all that it wants to see. Such a one calls the answer once, to
    learn whether it is written, and Answered is raised.
    """
    answer = run.answer(exercise.short)
    run.remote.is_enough = not exercise.remote
    verified = exercise.judge(answer, attempt=seed)
    if run.remote.touched and not exercise.changes:
        raise CheckFailed(f"{exercise.short}: it changes what belongs to its caller: make a new array")
    return verified


def _told(exercise, status, sentence):
    """Return the result of an exercise with its sentence, which is cut and cleaned."""
    points = {Status.PASSED: exercise.points, Status.BY_HAND: None, Status.NOT_GRADED: None}.get(status, 0)
    return exercise_result(exercise, points, status, clean(sentence)[:SENTENCE])


@cache
def working(chapter, unsafe=False):
    """Return the names of the exercises whose checks work here, tried once before the first submission.

    Each one has to pass the chapter's own solution, which is asked through a sandbox as a submission is, and
    to refuse a typical mistake.

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
        The solutions are not here, or the sandbox does not answer.
    """
    path = store.PROJECT / "solutions" / curriculum.exercises_path(chapter)
    if not path.exists():
        raise GradingFault(
            f"not graded, because {path.relative_to(store.PROJECT)} is not beside the folder course: every "
            "check has to pass it before a class is graded. Put the folder solutions of this version there."
        )
    with Run(read(path.read_bytes()), folder(chapter), unsafe) as run:
        asked = [exercise for exercise in exercises_of(chapter) if exercise.remote and not exercise.by_hand]
        return frozenset(one.name for one in asked if _passes_solution(one, run) and _refuses_mistake(one))


def _passes_solution(exercise, run):
    """Say whether a check passes the chapter's own solution."""
    try:
        judged(exercise, run, seed=0)
    except GradingFault:
        raise
    except Ended:
        run.close()
        return False
    except Exception:
        return False
    return True


def _refuses_mistake(exercise):
    """Say whether a check refuses a mistake of the exercise; without one, what returns nothing."""
    mistakes = [answer for _, answer in exercise.mistakes] or [lambda *args, **kwargs: None]
    try:
        exercise.judge(mistakes[0])
    except CheckFailed:
        return True
    except Exception:
        return False
    return False


def clean(text):
    """Return a text without what a page cannot show, and without addresses, which differ from run to run."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", shown)
