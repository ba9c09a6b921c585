"""An appeal: the check is put to the student's answer once more, and beside it to the chapter's own.

Holds `appeal`. It reads the marks and changes none; a mark is settled with `settle` (``classroom.by_hand``).
Not taught in a chapter: it belongs to the classroom.
"""

import textwrap

from classroom.answers import code_of
from classroom.edition import folder
from classroom.faults import GradingFault, Refused
from classroom.grade import Run, grade_exercise
from classroom.result import exercises_of
from classroom.seeds import secret, seed
from classroom.similar import solution_of
from classroom.submission import read

WIDTH = 58  # characters of a column


def appeal(queue, student, name, unsafe=False):
    """Return, in two columns, what was handed in and the solution, each with what the check says of it now.

    Parameters
    ----------
    queue : Queue
    student : str
    name : str
        The exercise, with its chapter or without.
    unsafe : bool

    Returns
    -------
    str

    Raises
    ------
    GradingFault
        If there is no such student, exercise or hand-in that can be read.
    """
    results = queue.results(queue.accepted)
    asked = {one.short: one for one in exercises_of(queue.chapter)}
    exercise = asked.get(name.rpartition(".")[2])
    if results.get(student) is None or exercise is None:
        what = f"student {student!r} with a result" if exercise else f"exercise {name!r}"
        raise GradingFault(f"there is no {what} in {queue.folder}.")
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
    """Return what the check says of a notebook now, with the same numbers, and the answer itself."""
    try:
        with Run(read(data), folder(exercise.stem), unsafe) as run:
            part = grade_exercise(exercise, run, drawn, {exercise.name})
    except Refused as refused:
        return [f"now: {refused}", ""]
    return [f"now: {part.status}: {part.sentence}", code_of(data, exercise.short)]


def _beside(one, other):
    """Return two columns of texts as lines."""
    lines = []
    for left, right in zip(one, other, strict=True):
        halves = [_wrapped(text) for text in (left, right)]
        for place in range(max(map(len, halves))):
            here, there = (half[place] if place < len(half) else "" for half in halves)
            lines.append(f"{here:{WIDTH}}  {there}".rstrip())
        lines.append("")
    return "\n".join(lines)


def _wrapped(text):
    """Return a text in lines that a column holds; of code each line keeps its indent."""
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=indent + "    ", drop_whitespace=False) or [""]
    return ["".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines]
