"""The reports: a table of marks, a page and a Gradescope file for each student, and a class page.

Holds `rows`, which combines results and the teacher's marks; `write_reports`; and `differences`, between the
results of two versions. Reports are made from the queue and marks.csv alone, and the same input gives the
same bytes. ``classroom.feedback_pages`` makes the pages.
"""

import json
import re
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from classroom.by_hand import COLUMNS, DIGITS, SUBMISSION, read_marks
from classroom.feedback_pages import class_page, student_page
from classroom.folders import shown_names
from classroom.result import ExerciseResult, Result, Status, exercises_of
from classroom.tables import as_csv
from course import store

NOTHING_OF_IT = "has almost none of the exercises: is it the wrong notebook, or the chapter itself?"


@dataclass(frozen=True)
class Row:
    """One student's result, combined with the teacher's marks."""

    student: str
    chapter: str
    result: Result | None
    parts: tuple[ExerciseResult, ...]
    points: float | None  # None while an exercise has no mark, since it is not graded or cannot be read
    out_of: int
    to_mark: int  # points of the exercises that the teacher must still mark
    reason: str  # a sentence for the teacher
    file: str = ""  # the name of the file that was handed in, if it is known

    @property
    def is_another(self):
        """Whether the hand-in seems to be the wrong notebook, or the chapter itself."""
        return NOTHING_OF_IT in self.reason

    @property
    def is_unwritten(self):
        """Whether the notebook is as it was handed out."""
        unwritten = {part.status for part in self.parts} <= {Status.NOT_WRITTEN, Status.MISSING}
        return unwritten and self.zero == "work"

    @property
    def is_unreadable(self):
        """Whether there is no mark because the hand-in cannot be read."""
        return self.points is None and self.result is not None and self.result.refused is not None

    @property
    def zero(self):
        """The cause of 0 points: "form" if no answer was found, else "work"; "" if there are points."""
        if self.points is None or self.points > 0 or self.to_mark:
            return ""
        unseen = {part.status for part in self.parts} <= {Status.MISSING}
        return "form" if self.is_another or unseen else "work"


def rows(queue):
    """Return a row for every student, and the problems in the teacher's marks.

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
    files = queue.files()
    found = [row_of(s, queue.chapter, result, marks, files.get(s, "")) for s, result in results.items()]
    return found, problems


def row_of(student, chapter, result, marks, file=""):
    """Return a student's row.

    Parameters
    ----------
    student, chapter : str
    result : Result or None
    marks : dict of (student, exercise) to (points, comment)
        The teacher's marks.
    file : str
        The name of the file that was handed in, if it is known.
    """
    if result is None:
        return Row(student, chapter, None, (), None, 0, 0, "not graded yet", file)
    parts = tuple(_part(part, result, marks.get((student, part.name))) for part in result.exercises)
    to_mark = sum(part.out_of for part in parts if part.status is Status.BY_HAND)
    is_open = any(part.status is Status.NOT_GRADED for part in parts)
    points = None if is_open else sum(part.points or 0 for part in parts)
    out_of = sum(part.out_of for part in parts)
    reason = _in_words(result, parts, to_mark, file)
    return Row(student, chapter, result, parts, points, out_of, to_mark, reason, file)


def _part(part, result, mark):
    """Return an exercise with the teacher's mark, if any, or without points if nothing was graded."""
    if mark is not None:
        marked = part.marked(*mark)
        return (
            marked if part.status is Status.FAILED and mark[0] < part.out_of else replace(marked, sentence="")
        )
    if (result.fault is not None or result.refused is not None) and part.points is not None:
        return replace(part, points=None, status=Status.NOT_GRADED)
    return part


def _in_words(result, parts, to_mark, file):
    """Summarize the outcome of a submission."""
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
        # even if some names exist, since a chapter may define names of its exercises
        return f"{file or 'this notebook'} {NOTHING_OF_IT}"
    reasons = [f"{words}: {', '.join(shorts)}" for words, shorts in names.items() if shorts]
    reasons += [f"{to_mark} to mark by hand"] if to_mark else []
    marked = [part.short for part in parts if part.status is Status.MARKED]
    reasons += [f"marked by hand: {', '.join(marked)}"] if marked else []
    return "; ".join(reasons) or "all passed"


def page_name(student):
    """Return a student's file name, safe on every system and unique to the student, whatever its case.

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
    may_be_made = re.search(r"-[0-9a-f]{8}$", student)  # could equal another student's file name
    # on macOS and Windows, names that differ in case alone are one file
    return plain if plain == student.lower() and not may_be_made else f"{plain}-{suffix}".lstrip("-")


def write_reports(queue):
    """Write every report into the queue's folder, each first under a temporary name.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    rows : list of Row
    problems : list of str
        Problems in the teacher's marks.
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
    called = shown_names([row.student for row in found])
    for row in found:
        name = page_name(row.student)
        files[f"feedback/{name}.html"] = student_page(row, called[row.student])
        files[f"feedback/{name}.json"] = _json(asdict(row) | {"result": row.result and _run_of(row.result)})
        files[f"gradescope/{name}/results.json"] = _json(gradescope(row))
    for name, text in files.items():
        path, data = queue.folder / name, text.encode()
        if not (path.exists() and path.read_bytes() == data):
            store.write(path, data)
    return found, problems


def _run_of(result):
    """Return how a submission ran; its points are those of the row, with the teacher's marks."""
    return {name: result.plain()[name] for name in ("submission", "level", "fault", "refused", "notes")}


def _grades(found, exercises):
    """Make the table of marks."""
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
    """Make the list of answers to mark, with the columns of marks.csv."""
    lines = [[*COLUMNS, "out of", "title", SUBMISSION]]
    for row in found:
        for part in row.parts:
            if part.status is Status.BY_HAND:
                digits = row.result.submission[:DIGITS]
                lines.append([row.student, part.name, None, None, part.out_of, part.title, digits])
    return as_csv(lines)


def gradescope(row):
    """Make a student's results.json for Gradescope.

    Parameters
    ----------
    row : Row

    Returns
    -------
    dict
        It has no score while an exercise has no mark. Exercises to mark by hand are left out.
    """
    if row.points is None:
        return {"output": _unquoted(row.reason), "output_format": "text", "tests": []}
    tests = [
        {
            "name": part.title,
            "score": part.points or 0,
            "max_score": part.out_of,
            "status": "passed" if part.points == part.out_of else "failed",
            "output": "\n".join(filter(None, (part.comment, _unquoted(part.sentence)))),
            "output_format": "text",
            "visibility": "visible",
        }
        for part in row.parts
        if part.status is not Status.BY_HAND
    ]
    said = _unquoted(row.reason)
    return {"score": row.points, "output": said, "output_format": "text", "tests": tests}


def _unquoted(text):
    """Remove the backticks around code, which plain text shows."""
    return text.replace("`", "")


def differences(before, after):
    """List the changes between the results of two versions.

    Parameters
    ----------
    before, after : dict of str to (Result or None)
        Student to result.

    Returns
    -------
    list of str
        A line for each student and exercise with different points or status.
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
    """Return the parts of an exercise's result that count as a change."""
    return part and (part.points, part.out_of, part.status)


def _short(part):
    """Summarize an exercise's result: its points and status."""
    if part is None:
        return "no result"
    return part.status if part.points is None else f"{part.points} of {part.out_of} ({part.status})"


def _json(thing):
    """Serialize data as a JSON file."""
    return json.dumps(thing, indent=1) + "\n"
