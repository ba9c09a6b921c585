"""What came of a submission: its result, exercise by exercise, as one value that cannot hold nonsense.

Holds `Status`, `ExerciseResult` and `Result`; `unchecked`, the result of what no check has seen; and
`exercises_of`, which exercises a result is about. A result that breaks a rule cannot be made, wherever its
values come from. Leaves out grading (``classroom.grade``) and the marks of a person (``classroom.by_hand``).
"""

import math
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from classroom.faults import GradingFault
from course.checks import exercises


class Status(StrEnum):
    """What a student's answer to one exercise is."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_WRITTEN = "not written"
    MISSING = "missing"
    MARKED = "marked"  # by a person, and no grader says so
    BY_HAND = "by hand"  # a person has still to mark it
    NOT_GRADED = "not graded"


class NotAResult(ValueError):
    """Values that are not the result of a submission, and why."""


def _require(condition, why):
    """Raise NotAResult unless a condition holds."""
    if not condition:
        raise NotAResult(f"this is not a result: {why}.")


@dataclass(frozen=True)
class ExerciseResult:
    """What came of one exercise of one student.

    Parameters
    ----------
    name, title, kind : str
    out_of : int
    points : float or None
        None where there is no mark: it is not graded, or a person has still to give it.
    status : Status or str
    sentence : str
        What the check said, or why there is no mark.
    comment : str
        What the person who marked it wrote.

    Raises
    ------
    NotAResult
        If a type is wrong, the status is none, or the points do not belong to the status.
    """

    name: str
    title: str
    kind: str
    out_of: int
    points: float | None
    status: Status
    sentence: str
    comment: str = ""

    def __post_init__(self):
        texts = self.name, self.title, self.kind, self.sentence, self.comment
        _require(all(isinstance(text, str) for text in texts), "name, title, kind or sentence is not a text")
        _require(type(self.out_of) is int and self.out_of >= 0, f"{self.name} is out of {self.out_of!r}")
        try:
            object.__setattr__(self, "status", Status(self.status))
        except ValueError as error:
            raise NotAResult(f"this is not a result: {self.name} has the status {self.status!r}.") from error
        points = f"{self.points!r} of {self.out_of} points"
        _require(self._fits(), f"{self.name} is {self.status} and has {points}")

    def _fits(self):
        """Say whether the points belong to the status: they exist only where a check or a person said so."""
        if self.points is None:
            return self.status not in (Status.PASSED, Status.MARKED)
        if type(self.points) not in (int, float) or not math.isfinite(self.points):
            return False
        if self.status is Status.MARKED:
            return 0 <= self.points <= self.out_of
        if self.status in (Status.BY_HAND, Status.NOT_GRADED):
            return False
        return self.points == (self.out_of if self.status is Status.PASSED else 0)

    @property
    def short(self):
        """The name without the chapter: ``"scale"``."""
        return self.name.partition(".")[2]

    def marked(self, points, comment):
        """Return the same exercise with the mark of a person."""
        return replace(self, points=points, status=Status.MARKED, comment=comment)


@dataclass(frozen=True)
class Result:
    """What came of a submission.

    Parameters
    ----------
    chapter : str
    submission : str
        The hash of the bytes that were handed in.
    level : str or None
        How it was kept apart from the machine: ``"bubblewrap"`` or ``"rlimits"``; None if it has not run.
    refused : str or None
        Why it cannot be read; then no check has seen it, and it has no points.
    exercises : tuple of ExerciseResult
        Of every exercise of the chapter, in order.
    notes : tuple of str
        What was seen while the notebook ran.

    Raises
    ------
    NotAResult
        If a type is wrong, or something that was refused has points.
    """

    chapter: str
    submission: str
    level: str | None
    refused: str | None
    exercises: tuple[ExerciseResult, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        texts = self.chapter, self.submission, *self.notes
        _require(all(isinstance(text, str) for text in texts), "chapter, submission or a note is not a text")
        optional = self.level, self.refused
        _require(all(isinstance(text, str | None) for text in optional), "level or refused is not a text")
        statuses = {part.status for part in self.exercises}
        _require(Status.MARKED not in statuses, "a grader gives no mark of a person")
        _require(self.refused is None or statuses <= {Status.MISSING}, "what was refused has been graded")

    @property
    def fault(self):
        """What went wrong on our side, or None; where there is a fault, there is no mark."""
        faults = (part.sentence for part in self.exercises if part.status is Status.NOT_GRADED)
        return next(faults, None)

    @property
    def points(self):
        """The sum of what the checks gave; None where there is a fault."""
        return None if self.fault is not None else sum(part.points or 0 for part in self.exercises)

    @property
    def out_of(self):
        """The points that the checks can give."""
        return sum(part.out_of for part in self.exercises if part.status is not Status.BY_HAND)

    @property
    def by_hand(self):
        """The points that a person has still to give."""
        return sum(part.out_of for part in self.exercises if part.status is Status.BY_HAND)

    def require_of(self, chapter, submission):
        """Raise NotAResult unless it is the result of a submission, with the chapter's own exercises."""
        mine, theirs = (self.chapter, self.submission), (chapter, submission)
        _require(mine == theirs, f"it is about {mine}, and {theirs} was graded")
        asked = [(exercise.name, exercise.points) for exercise in exercises_of(chapter)]
        names = [(part.name, part.out_of) for part in self.exercises]
        _require(names == asked, f"its exercises are not those of {chapter}")

    def plain(self):
        """Return the result as plain values for JSON: what is stored, and what travels between processes."""
        rows = [asdict(part) for part in self.exercises]
        for row in rows:
            del row["comment"]  # which is never a grader's
        return {
            "chapter": self.chapter,
            "submission": self.submission,
            "level": self.level,
            "fault": self.fault,
            "refused": self.refused,
            "points": self.points,
            "out_of": self.out_of,
            "by_hand": self.by_hand,
            "exercises": rows,
            "notes": list(self.notes),
        }

    @classmethod
    def from_plain(cls, plain):
        """Return the result that plain values say; it is written by ``plain``.

        Parameters
        ----------
        plain : object
            Whatever was read.

        Raises
        ------
        NotAResult
            If that is not a result, or its sums are not those of its exercises.
        """
        try:
            given = {name: plain[name] for name in ("chapter", "submission", "level", "refused")}
            parts, notes = tuple(ExerciseResult(**row) for row in plain["exercises"]), tuple(plain["notes"])
        except (TypeError, LookupError) as error:
            raise NotAResult(f"this is not a result: {type(error).__name__}: {error}.") from error
        result = cls(**given, exercises=parts, notes=notes)
        _require(result.plain() == plain, "its sums are not those of its exercises, or it holds more")
        return result


def unchecked(chapter, digest, refused=None, fault=None, level=None):
    """Return the result of a submission that no check has seen.

    Parameters
    ----------
    chapter : str
    digest : str
        The submission's hash.
    refused : str, optional
        Why it cannot be read: no points.
    fault : str, optional
        What went wrong on our side: no mark at all.
    level : str, optional

    Returns
    -------
    Result
    """
    points, status = (0, Status.MISSING) if fault is None else (None, Status.NOT_GRADED)
    parts = (exercise_result(one, points, status, refused or fault) for one in exercises_of(chapter))
    return Result(chapter, digest, level, refused if fault is None else None, tuple(parts))


def exercise_result(exercise, points, status, sentence):
    """Return what came of an exercise.

    Parameters
    ----------
    exercise : Exercise
    points : int or None
    status : Status
    sentence : str

    Returns
    -------
    ExerciseResult
    """
    return ExerciseResult(
        exercise.name, exercise.title, exercise.kind, exercise.points, points, status, sentence
    )


def exercises_of(chapter):
    """Return the exercises of a chapter, or raise GradingFault where there are none.

    Parameters
    ----------
    chapter : str

    Returns
    -------
    list of Exercise
    """
    every = exercises()
    asked = [exercise for exercise in every if exercise.stem == chapter]
    if not asked:
        stems = list(dict.fromkeys(exercise.stem for exercise in every))
        near = [s for s in stems if chapter in (s[:2], s[3:])] + get_close_matches(chapter, stems, n=1)
        if near:
            raise GradingFault(f"there is no chapter {chapter} with exercises. Did you mean {near[0]}?")
        raise GradingFault(f"there is no chapter {chapter} with exercises; these are: {', '.join(stems)}.")
    return asked
