"""The result of a submission, exercise by exercise, as one validated value.

Holds `Status`, `ExerciseResult` and `Result`; `unchecked`, the result of a submission without a verdict; and
`exercises_of`, a chapter's exercises. An inconsistent result cannot be made, wherever its values come from.
``classroom.grade`` grades, and ``classroom.by_hand`` reads the teacher's marks.
"""

import math
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from classroom.faults import GradingFault
from course.checks import exercises


class Status(StrEnum):
    """The status of a student's answer to one exercise."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_WRITTEN = "not written"
    MISSING = "missing"
    MARKED = "marked"  # by a person; never set by the grader
    BY_HAND = "by hand"  # to be marked by a person
    NOT_GRADED = "not graded"


class NotAResult(ValueError):
    """The reason why values are not the result of a submission."""


def _require(condition, why):
    """Raise NotAResult unless a condition holds."""
    if not condition:
        raise NotAResult(f"this is not a result: {why}.")


@dataclass(frozen=True)
class ExerciseResult:
    """The result of one exercise of one student.

    Parameters
    ----------
    name, title, kind : str
    out_of : int
    points : float or None
        None without a mark: the exercise is not graded, or is to be marked by hand.
    status : Status or str
    sentence : str
        The check's message, or the reason why there is no mark.
    comment : str
        The teacher's comment on a mark given by hand.

    Raises
    ------
    NotAResult
        If a type is wrong, the status is unknown, or the points do not fit the status.
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
        _require(all(isinstance(text, str) for text in texts), "name, title, kind or sentence is not text")
        _require(type(self.out_of) is int and self.out_of >= 0, f"{self.name} is out of {self.out_of!r}")
        try:
            object.__setattr__(self, "status", Status(self.status))
        except ValueError as error:
            raise NotAResult(f"this is not a result: {self.name} has the status {self.status!r}.") from error
        points = f"{self.points!r} of {self.out_of} points"
        _require(self._fits(), f"{self.name} is {self.status} and has {points}")

    def _fits(self):
        """Report whether the points fit the status; only a check or a person gives points."""
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
        """Return the same exercise with a mark given by hand."""
        return replace(self, points=points, status=Status.MARKED, comment=comment)


@dataclass(frozen=True)
class Result:
    """The result of a submission.

    Parameters
    ----------
    chapter : str
    submission : str
        The hash of its bytes.
    level : str or None
        The sandbox level: ``"bubblewrap"`` or ``"rlimits"``; None if it has not run.
    refused : str or None
        The reason why it cannot be read; then it has not been checked, and has no points.
    exercises : tuple of ExerciseResult
        The result of every exercise of the chapter, in order.
    notes : tuple of str
        Notes on how the notebook ran.

    Raises
    ------
    NotAResult
        If a type is wrong, or a refused submission has points.
    """

    chapter: str
    submission: str
    level: str | None
    refused: str | None
    exercises: tuple[ExerciseResult, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        texts = self.chapter, self.submission, *self.notes
        _require(all(isinstance(text, str) for text in texts), "chapter, submission or a note is not text")
        optional = self.level, self.refused
        _require(all(isinstance(text, str | None) for text in optional), "level or refused is not text")
        statuses = {part.status for part in self.exercises}
        _require(Status.MARKED not in statuses, "the grader gives no marks by hand")
        _require(self.refused is None or statuses <= {Status.MISSING}, "a refused submission has been graded")

    @property
    def fault(self):
        """The grader's fault, or None; with a fault, there is no mark."""
        faults = (part.sentence for part in self.exercises if part.status is Status.NOT_GRADED)
        return next(faults, None)

    @property
    def points(self):
        """The sum of the checks' points; None with a fault."""
        return None if self.fault is not None else sum(part.points or 0 for part in self.exercises)

    @property
    def out_of(self):
        """The points that the checks can give."""
        return sum(part.out_of for part in self.exercises if part.status is not Status.BY_HAND)

    @property
    def by_hand(self):
        """The points of the exercises to mark by hand."""
        return sum(part.out_of for part in self.exercises if part.status is Status.BY_HAND)

    def require_of(self, chapter, submission):
        """Raise NotAResult unless this is a submission's result, with all of the chapter's exercises."""
        mine, theirs = (self.chapter, self.submission), (chapter, submission)
        _require(mine == theirs, f"it belongs to {mine}, but {theirs} was graded")
        asked = [(exercise.name, exercise.points) for exercise in exercises_of(chapter)]
        names = [(part.name, part.out_of) for part in self.exercises]
        _require(names == asked, f"its exercises are not those of {chapter}")

    def plain(self):
        """Convert the result to plain values for JSON, for storage and other processes."""
        rows = [asdict(part) for part in self.exercises]
        for row in rows:
            del row["comment"]  # never set by the grader
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
        """Make a result from the plain values that ``plain`` returns.

        Parameters
        ----------
        plain : object
            Untrusted.

        Raises
        ------
        NotAResult
            If the values are not a result, or the sums are not those of the exercises.
        """
        try:
            given = {name: plain[name] for name in ("chapter", "submission", "level", "refused")}
            parts, notes = tuple(ExerciseResult(**row) for row in plain["exercises"]), tuple(plain["notes"])
        except (TypeError, LookupError) as error:
            raise NotAResult(f"this is not a result: {type(error).__name__}: {error}.") from error
        result = cls(**given, exercises=parts, notes=notes)
        _require(result.plain() == plain, "its sums are not those of its exercises, or it has unknown keys")
        return result


def unchecked(chapter, digest, refused=None, fault=None, level=None):
    """Make the result of a submission that was not checked.

    Parameters
    ----------
    chapter : str
    digest : str
        The submission's hash.
    refused : str, optional
        The reason why it cannot be read: 0 points.
    fault : str, optional
        The grader's fault: no mark at all.
    level : str, optional

    Returns
    -------
    Result
    """
    points, status = (0, Status.MISSING) if fault is None else (None, Status.NOT_GRADED)
    parts = (exercise_result(one, points, status, refused or fault) for one in exercises_of(chapter))
    return Result(chapter, digest, level, refused if fault is None else None, tuple(parts))


def exercise_result(exercise, points, status, sentence):
    """Make the result of an exercise.

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
    """Return the exercises of a chapter; raise GradingFault if there are none.

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
        raise GradingFault(
            f"there is no chapter {chapter} with exercises; the chapters are: {', '.join(stems)}."
        )
    return asked
