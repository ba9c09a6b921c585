"""An appeal: run the check again on the student's answer and on the chapter's solution.

Holds `appeal`, which changes no mark; `settle` in ``classroom.by_hand`` does.
"""

import textwrap

from classroom.answers import code_of
from classroom.edition import folder
from classroom.faults import GradingFault, Refused
from classroom.folders import suggested
from classroom.grade import Run, grade_exercise
from classroom.result import exercises_of
from classroom.seeds import secret, seed
from classroom.similar import solution_of
from classroom.submission import read

WIDTH = 58  # characters of a column


def appeal(queue, student, name, unsafe=False):
    """Show the student's answer and the solution in two columns, each with the check's current verdict.

    Parameters
    ----------
    queue : Queue
    student : str
    name : str
        The exercise, with or without its chapter.
    unsafe : bool

    Returns
    -------
    str

    Raises
    ------
    GradingFault
        If there is no such student or exercise, or the hand-in cannot be read.
    """
    results = queue.results(queue.accepted)
    asked = {one.short: one for one in exercises_of(queue.chapter)}
    exercise = asked.get(name.rpartition(".")[2])
    if results.get(student) is None or exercise is None:
        what = f"student {student!r} with a result" if exercise else f"exercise {name!r}"
        raise GradingFault(f"there is no {what} in {queue.folder}{suggested(student, results) or '.'}")
    result = results[student]
    data, refused, fault = queue.submission(result.submission)
    if data is None:
        raise GradingFault(f"{student}: {refused or fault}")
    drawn = seed(secret(queue.folder), result.submission)
    (stored,) = (part for part in result.exercises if part.name == exercise.name)
    columns = [
        [student, f"stored: {stored.status}: {stored.sentence}", *_now(data, exercise, drawn, unsafe)],
        ["the solution", "", *_now(solution_of(queue.chapter), exercise, drawn, unsafe)],
    ]
    return _beside(*columns)


def _now(data, exercise, drawn, unsafe):
    """Return the check's current verdict on a notebook, from data of the same seed, and the answer."""
    try:
        with Run(read(data), folder(exercise.stem), unsafe) as run:
            part = grade_exercise(exercise, run, drawn, {exercise.name})
    except Refused as refused:
        return [f"now: {refused}", ""]
    return [f"now: {part.status}: {part.sentence}", code_of(data, exercise.short)]


def _beside(one, other):
    """Lay out two lists of strings in two columns."""
    lines = []
    for row in zip(one, other, strict=True):
        halves = [_wrapped(text) for text in row]
        for place in range(max(map(len, halves))):
            left, right = (half[place] if place < len(half) else "" for half in halves)
            lines.append(f"{left:{WIDTH}}  {right}".rstrip())
        lines.append("")
    return "\n".join(lines)


def _wrapped(text):
    """Wrap a string to the width of a column; continuation lines keep their line's indent."""
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=indent + "    ", drop_whitespace=False) or [""]
    return ["".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines]
