"""Item analysis of a term's exercises, difficulty and discrimination: a page and a table.

Holds `Item`, `items`, `items_table` and `items_page`. The students' reports are in ``classroom.reports``.
"""

from dataclasses import astuple, dataclass, fields

import numpy as np

from classroom.feedback_pages import most_said
from classroom.pages import element, page
from classroom.result import Status, exercises_of

FEW = 5  # students: with fewer, no correlation is shown
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
    share : float or None
        The class's mean share of the exercise's points.
    unwritten : float
        The share of students whose answer is missing or not written.
    discrimination : float or None
        Correlation of the exercise's points with the same student's other points, from -1 to 1.
    message : str
        The most frequent message of the failed checks, and how often it occurred.
    """

    exercise: str
    kind: str
    minutes: int
    points: int
    students: int
    share: float | None
    unwritten: float
    discrimination: float | None
    message: str

    @property
    def note(self):
        """A hint for the teacher; empty if nothing is unusual."""
        return next((words for words, holds in NOTES.items() if holds(self)), "")


def items(graded):
    """Analyse the exercises of several chapters, in order.

    Parameters
    ----------
    graded : dict of str to list of Row
        Chapter to rows.

    Returns
    -------
    list of Item
    """
    totals = {}  # student to points over all chapters
    for row in (row for rows in graded.values() for row in rows):
        totals[row.student] = totals.get(row.student, 0) + sum(part.points or 0 for part in row.parts)
    found = []
    for stem, rows in graded.items():
        for place, exercise in enumerate(exercises_of(stem)):
            parts = [(row, row.parts[place]) for row in rows if row.parts]
            found.append(_item(exercise, [pair for pair in parts if _is_read(*pair)], totals))
    return found


def _is_read(row, part):
    """Report whether an answer was looked at: unreadable work says nothing about an exercise."""
    return part.status is Status.MARKED or (row.zero != "form" and row.result.refused is None)


def _item(exercise, parts, totals):
    """Analyse one exercise from (Row, ExerciseResult) pairs."""
    marked = [(row, part) for row, part in parts if part.points is not None]
    reached = np.array([part.points for _, part in marked], dtype=float)
    others = np.array([totals[row.student] - part.points for row, part in marked], dtype=float)
    unwritten = sum(part.status in UNWRITTEN for _, part in parts) / max(len(parts), 1)
    groups = most_said(exercise, parts)
    message = f"{groups[0][0] or groups[0][1]} ({len(groups[0][2])})" if groups else ""
    share = float(reached.mean() / exercise.points) if len(reached) and exercise.points else None
    names = exercise.name, exercise.kind, exercise.minutes, exercise.points
    return Item(*names, len(marked), share, unwritten, correlation(reached, others), message)


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


def items_table(graded):
    """Return the lines of a table, one for each exercise.

    Parameters
    ----------
    graded : dict of str to list of Row
    """
    head = [*(field.name for field in fields(Item)), "note"]
    return [head, *([*map(_rounded, astuple(item)), item.note] for item in items(graded))]


def _rounded(value):
    return round(value, 3) if isinstance(value, float) else value


def items_page(graded):
    """Return the page on the exercises of several chapters.

    Parameters
    ----------
    graded : dict of str to list of Row

    Returns
    -------
    str
    """
    found = items(graded)
    body = [
        element("h1", "The exercises of the term"),
        element(
            "p",
            "Reached: the class's mean share of the points. Not tried: the share without an answer. "
            "Discrimination: the correlation with the same student's other exercises, from -1 to 1.",
            of="faint",
        ),
    ]
    for stem in graded:
        lines = [
            element(
                "tr",
                *(
                    element("th", w, scope="col")
                    for w in ("Exercise", "Reached", "Not tried", "Discrimination")
                ),
            )
        ]
        for item in (item for item in found if item.exercise.startswith(f"{stem}.")):
            cells = [item.share, item.unwritten]
            numbers = [element("td", "" if cell is None else f"{cell:.0%}", of="points") for cell in cells]
            numbers.append(
                element(
                    "td", "" if item.discrimination is None else f"{item.discrimination:.2f}", of="points"
                )
            )
            lines.append(element("tr", element("td", item.exercise.partition(".")[2]), *numbers))
            words = [text for text in (item.note, item.message) if text]
            if words:
                lines.append(element("tr", element("td", ". ".join(words), of="faint", colspan="4")))
        body += [element("h2", stem.replace("_", " "), of="part"), element("table", *lines, of="students")]
    return page("The exercises of the term", body)
