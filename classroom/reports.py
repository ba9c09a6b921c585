"""What comes out: the table of marks, a page and a file for each student, the class, and Gradescope's form.

Holds `rows`, which puts results and the teacher's marks together; `write_reports`; and `differences`, between
the results of two versions. Leaves out the pages themselves (``classroom.feedback_pages``). All
is made from the queue and from marks.csv, and can be made again: the same gives the same bytes.
"""

import json
import re
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from classroom.by_hand import COLUMNS, DIGITS, SUBMISSION, read_marks
from classroom.feedback_pages import class_page, student_page
from classroom.result import ExerciseResult, Result, Status, exercises_of
from classroom.tables import as_csv
from course import store

NOTHING_OF_IT = "hardly any of the exercises is in this notebook: is it another one, or the chapter itself?"


@dataclass(frozen=True)
class Row:
    """One student: the result, with the teacher's marks put in."""

    student: str
    chapter: str
    result: Result | None
    parts: tuple[ExerciseResult, ...]
    points: float | None  # None while something is not graded
    out_of: int
    to_mark: int  # points that the teacher has still to give
    reason: str  # in plain words

    @property
    def is_another(self):
        """Whether what was handed in seems to be another notebook, or the chapter itself."""
        return self.reason == NOTHING_OF_IT

    @property
    def zero(self):
        """Why there is no point: "form", where nothing was found to be read; "work"; empty with points."""
        if self.points is None or self.points > 0 or self.to_mark:
            return ""
        unseen = {part.status for part in self.parts} <= {Status.MISSING}
        return "form" if self.result.refused is not None or self.is_another or unseen else "work"


def rows(queue):
    """Return a row for every student, and what is to be put right in the teacher's marks.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    rows : list of Row
    problems : list of str
    """
    results, exercises = queue.results(queue.accepted), exercises_of(queue.chapter)
    marks, problems = read_marks(queue.folder, results, exercises)
    return [row_of(student, queue.chapter, result, marks) for student, result in results.items()], problems


def row_of(student, chapter, result, marks):
    """Return the row of a student.

    Parameters
    ----------
    student, chapter : str
    result : Result or None
    marks : dict of (student, exercise) to (points, comment)
        Of a person.
    """
    if result is None:
        return Row(student, chapter, None, (), None, 0, 0, "not graded yet")
    parts = tuple(_part(part, result, marks.get((student, part.name))) for part in result.exercises)
    to_mark = sum(part.out_of for part in parts if part.status is Status.BY_HAND)
    is_open = result.fault and any(part.status is Status.NOT_GRADED for part in parts)
    points = None if is_open else sum(part.points or 0 for part in parts)
    out_of = sum(part.out_of for part in parts)
    return Row(student, chapter, result, parts, points, out_of, to_mark, _in_words(result, parts, to_mark))


def _part(part, result, mark):
    """Return an exercise with the mark of a person, if there is one; without points beside a fault."""
    if mark is not None:
        return part.marked(*mark)
    if result.fault is not None and part.points is not None:
        return replace(part, points=None, status=Status.NOT_GRADED)
    return part


def _in_words(result, parts, to_mark):
    """Return what came of a submission, in plain words."""
    settled = all(part.status is Status.MARKED for part in parts)
    if not settled and (result.fault is not None or result.refused is not None):
        return result.fault or f"could not be read: {result.refused}"
    names = {
        "not yet": [part.short for part in parts if part.status is Status.FAILED],
        "not written": [part.short for part in parts if part.status is Status.NOT_WRITTEN],
        "not found": [part.short for part in parts if part.status is Status.MISSING],
    }
    checked = [part for part in parts if part.status not in (Status.BY_HAND, Status.MARKED)]
    passed = any(part.status is Status.PASSED for part in checked)
    if not passed and len(names["not found"]) > 0.5 * len(checked):
        return NOTHING_OF_IT  # a chapter may define a name that its exercises ask for, too
    reasons = [f"{words}: {', '.join(shorts)}" for words, shorts in names.items() if shorts]
    reasons += [f"{to_mark} to give by hand"] if to_mark else []
    marked = [part.short for part in parts if part.status is Status.MARKED]
    reasons += [f"marked by hand: {', '.join(marked)}"] if marked else []
    return "; ".join(reasons) or "all passed"


def page_name(student):
    """Return a file name for a student, safe on every system and different for different students.

    Parameters
    ----------
    student : str

    Returns
    -------
    str

    Examples
    --------
    >>> page_name("anna_b"), page_name("../Zoë")
    ('anna_b', 'Zo-8840d1f4')
    >>> page_name("Zo-8840d1f4") == page_name("../Zoë")
    False
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", student).strip("-.")[:60]
    suffix = sha256(student.encode()).hexdigest()[:8]
    may_be_made = re.search(r"-[0-9a-f]{8}$", student)  # like the name of another student's page
    return plain if plain == student and not may_be_made else f"{plain}-{suffix}".lstrip("-")


def write_reports(queue):
    """Write every report into the queue's folder, each under a passing name first.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    rows : list of Row
    problems : list of str
        What is to be put right in the teacher's marks.
    """
    found, problems = rows(queue)
    exercises = exercises_of(queue.chapter)
    files = {
        "grades.csv": _grades(found, exercises),
        "to_mark.csv": _to_mark(found),
        "class.html": class_page(
            queue.chapter, found, exercises, problems, lambda student: f"feedback/{page_name(student)}.html"
        ),
    }
    for row in found:
        name = page_name(row.student)
        files[f"feedback/{name}.html"] = student_page(row)
        files[f"feedback/{name}.json"] = _json(asdict(row) | {"result": row.result and row.result.plain()})
        files[f"gradescope/{name}/results.json"] = _json(gradescope(row))
    for name, text in files.items():
        path, data = queue.folder / name, text.encode()
        if not (path.exists() and path.read_bytes() == data):
            store.write(path, data)
    return found, problems


def _grades(found, exercises):
    """Return the table of marks."""
    head = ["student", "points", "out of", "to mark by hand", "in words", "zero because of"]
    head += ["level", "submission", "feedback"]
    lines = [head + [exercise.name for exercise in exercises]]
    for row in found:
        line = [row.student, row.points, row.out_of, row.to_mark, row.reason, row.zero]
        line += [row.result.level, row.result.submission] if row.result else [None, None]
        line.append(f"feedback/{page_name(row.student)}.html")
        lines.append(line + [part.points for part in row.parts])
    return as_csv(lines)


def _to_mark(found):
    """Return what waits for the teacher, in the form of marks.csv."""
    lines = [[*COLUMNS, "out of", "title", SUBMISSION]]
    for row in found:
        for part in row.parts:
            if part.status is Status.BY_HAND:
                digits = row.result.submission[:DIGITS]
                lines.append([row.student, part.name, None, None, part.out_of, part.title, digits])
    return as_csv(lines)


def gradescope(row):
    """Return what Gradescope reads of a student: its results.json.

    Parameters
    ----------
    row : Row

    Returns
    -------
    dict
        Without a score while something is not graded. What a person has still to mark is left out.
    """
    if row.points is None:
        return {"output": row.reason, "output_format": "text", "tests": []}
    tests = [
        {
            "name": part.title,
            "score": part.points or 0,
            "max_score": part.out_of,
            "status": "passed" if part.points == part.out_of else "failed",
            "output": part.comment or part.sentence,
            "output_format": "text",
            "visibility": "visible",
        }
        for part in row.parts
        if part.status is not Status.BY_HAND
    ]
    return {"score": row.points, "output": row.reason, "output_format": "text", "tests": tests}


def differences(before, after):
    """Return what changes from the results of one version to those of another.

    Parameters
    ----------
    before, after : dict of str to (Result or None)
        Student to result.

    Returns
    -------
    list of str
        A line for each exercise of a student whose points or status differ.
    """
    lines = []
    for student in after:
        was, now = (_by_name(results.get(student)) for results in (before, after))
        for name in dict.fromkeys([*was, *now]):
            one, other = was.get(name), now.get(name)
            if _gist(one) != _gist(other):
                sentence = f": {other.sentence}" if other and other.sentence else ""
                lines.append(f"{student}, {name}: {_short(one)} -> {_short(other)}{sentence}")
    return lines


def _by_name(result):
    """Return the exercises of a result by their names."""
    return {part.name: part for part in result.exercises} if result else {}


def _gist(part):
    """Return what of an exercise's result counts as a change."""
    return part and (part.points, part.out_of, part.status)


def _short(part):
    """Return points and status of an exercise's result in a few words."""
    if part is None:
        return "no result"
    return part.status if part.points is None else f"{part.points} of {part.out_of} ({part.status})"


def _json(thing):
    """Return data as a file."""
    return json.dumps(thing, indent=1) + "\n"
