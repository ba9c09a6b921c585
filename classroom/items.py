"""Item analysis of the exercises of one or more terms: how hard they were, and what went wrong.

Holds `Item`, `items`, `tries`, `items_table` and `items_page`. The students' reports are in
``classroom.reports``.
"""

from dataclasses import astuple, dataclass, fields

import numpy as np

from classroom.feedback_pages import SENTENCES, is_read, most_said
from classroom.pages import element, page
from classroom.result import Status, exercises_of

FEW = 5  # students: with fewer, no correlation is shown
COLUMNS = "Exercise", "Students", "Solved", "Reached", "Tries", "Not tried", "Discrimination"
FORMS = "{:,}", "{:.0%}", "{:.0%}", "{:.1f}", "{:.0%}", "{:.2f}"  # of the numbers in these columns
UNWRITTEN = (Status.MISSING, Status.NOT_WRITTEN)
NOTES = {  # hints for the teacher; the first that applies is shown
    "no student tried it": lambda item: item.students > 0 and item.unwritten == 1,
    "all students have it right": lambda item: item.students >= FEW and item.share == 1,
    "hardly any student has it right": lambda item: item.students >= FEW and item.share < 0.2,
    "better students do worse on it: is its statement or its check misleading?": lambda item: (
        item.discrimination is not None and item.discrimination < 0
    ),
    "many do not try it: is it too long, or at the end?": lambda item: item.unwritten > 0.3,
}


@dataclass(frozen=True)
class Item:
    """One exercise in a class.

    Attributes
    ----------
    exercise : str
    kind : str
    minutes : int
    points : int
    students : int
        Number of students whose answer has a mark, without those with 0 points because of the form.
    solved : float or None
        The share of them with all of its points; None, as those below, while an answer waits for a mark.
    share : float or None
        The class's mean share of the exercise's points.
    tries : float or None
        Mean number of graded hand-ins until it was solved, of those who solved it.
    unwritten : float
        The share of students whose answer is missing or not written.
    discrimination : float or None
        Correlation of the exercise's points with the same student's other points, from -1 to 1.
    mistakes : str
        The most frequent mistakes or messages of the failed checks, each with how often it occurred.
    """

    exercise: str
    kind: str
    minutes: int
    points: int
    students: int
    solved: float | None
    share: float | None
    tries: float | None
    unwritten: float
    discrimination: float | None
    mistakes: str

    @property
    def note(self):
        """A hint for the teacher; empty if nothing is unusual."""
        return next((words for words, holds in NOTES.items() if holds(self)), "")


def items(graded, tried=None):
    """Analyse the exercises of several chapters, in order.

    Parameters
    ----------
    graded : dict of str to list of Row
        Chapter to rows.
    tried : dict of (str, str) to int, optional
        What `tries` returns.

    Returns
    -------
    list of Item
    """
    totals = {}  # student to points over all chapters
    for row in (row for rows in graded.values() for row in rows):
        totals[row.student] = totals.get(row.student, 0) + sum(part.points or 0 for part in row.parts)
    found = []
    for stem, rows in graded.items():
        for exercise in exercises_of(stem):
            parts = [(row, part) for row in rows for part in row.parts if part.name == exercise.name]
            found.append(_item(exercise, [pair for pair in parts if is_read(*pair)], totals, tried or {}))
    return found


def tries(queue):
    """Count the hand-ins that each student needed to solve each exercise.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    dict of (str, str) to int
        (student, exercise) to the number of the first graded hand-in with all points from the check.
    """
    found = {}
    for student, results in queue.attempts(None).items():
        read = [result for result in results if result.refused is None and result.fault is None]
        latest = {result.submission: result for result in read}  # in the order of the hand-ins
        for number, result in enumerate(latest.values(), 1):
            for part in result.exercises:
                if part.status is Status.PASSED:
                    found.setdefault((student, part.name), number)
    return found


def _item(exercise, parts, totals, tried):
    """Analyse one exercise from (Row, ExerciseResult) pairs; while answers wait, its points are unknown."""
    waits = any(part.status is Status.BY_HAND for _, part in parts)
    marked = [(row, part) for row, part in parts if part.points is not None]
    reached = np.array([part.points for _, part in marked], dtype=float)
    others = np.array([totals[row.student] - part.points for row, part in marked], dtype=float)
    unwritten = sum(part.status in UNWRITTEN for _, part in parts) / max(len(parts), 1)
    groups = most_said(exercise, parts)[:SENTENCES]
    mistakes = "; ".join(f"{known or said} ({len(rows)})" for known, said, rows in groups)
    shares = [part.points / part.out_of for _, part in marked if part.out_of]
    solved = [share == 1 for share in shares]
    needed = [tried[row.student, part.name] for row, part in marked if (row.student, part.name) in tried]
    means = [float(np.mean(some)) if some and not waits else None for some in (solved, shares, needed)]
    related = None if waits else correlation(reached, others)
    names = exercise.name, exercise.kind, exercise.minutes, exercise.points
    return Item(*names, len(marked), *means, unwritten, related, mistakes)


def correlation(one, other):
    """Return Pearson's correlation; None for fewer than five students, or if one array is constant.

    Parameters
    ----------
    one, other : array (students,)

    Returns
    -------
    float or None

    Examples
    --------
    >>> round(correlation(np.arange(5.0), np.array([0.0, 2, 4, 6, 8])), 6)
    1.0
    >>> correlation(np.ones(5), np.arange(5.0)) is None
    True
    """
    if len(one) < FEW or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def items_table(terms):
    """Return the lines of a table, one for each exercise of each term.

    Parameters
    ----------
    terms : dict of str to list of Item
    """
    head = ["term", *(field.name for field in fields(Item)), "note"]
    found = [(term, item) for term, items in terms.items() for item in items]
    return [head, *([term, *map(_rounded, astuple(item)), item.note] for term, item in found)]


def _rounded(value):
    return round(value, 3) if isinstance(value, float) else value


def items_page(terms):
    """Return the page on the exercises of one or more terms.

    Parameters
    ----------
    terms : dict of str to list of Item

    Returns
    -------
    str
    """
    body = [
        element("h1", "The exercises"),
        element(
            "p",
            "Students: how many have a mark in it. Solved: the share of them with all points. Reached: their "
            "mean share of the points. Tries: how many hand-ins it took those who solved it. Not tried: the "
            "share of readable notebooks without an answer. Discrimination: the correlation with the same "
            "student's other exercises, from -1 to 1. While answers wait for you, all but two are empty.",
            of="faint",
        ),
    ]
    names = dict.fromkeys(item.exercise for items in terms.values() for item in items)
    for stem in dict.fromkeys(name.partition(".")[0] for name in names):
        lines = [element("tr", *(element("th", word, scope="col") for word in COLUMNS))]
        for name in (name for name in names if name.startswith(f"{stem}.")):
            for term, items in terms.items():
                called = name.partition(".")[2] + f", {term}" * (len(terms) > 1)
                lines += [line for item in items if item.exercise == name for line in _lines(called, item)]
        body += [element("h2", stem.replace("_", " "), of="part"), element("table", *lines, of="students")]
    return page("The exercises", body)


def _lines(called, item):
    """Return the rows of one exercise: its numbers, and the words on it, if any."""
    numbers = zip(
        (item.students, item.solved, item.share, item.tries, item.unwritten, item.discrimination),
        FORMS,
        strict=True,
    )
    cells = [
        element("td", "" if number is None else form.format(number), of="points") for number, form in numbers
    ]
    words = ". ".join(text for text in (item.note, item.mistakes) if text)
    said = [element("tr", element("td", words, of="faint", colspan=str(len(COLUMNS))))] if words else []
    return [element("tr", element("td", called), *cells), *said]
