"""Marks given by hand, from the teacher's ``marks.csv`` and ``marks-2.csv``, which the grader never writes.

Holds `read_marks`, and `settle`, which adds to a log of its own. Marks from nbgrader's formgrader are in a
second file, which ``classroom.gradebook`` writes; if both have a mark, the teacher's file counts. The list
of answers to mark (``classroom.reports``) has the same columns, so that it can be filled in and saved as
``marks.csv``.
"""

import re
from datetime import datetime

from classroom.faults import GradingFault
from classroom.folders import suggested
from classroom.result import Status, exercises_of
from classroom.tables import as_csv, read_rows
from course import store

FORMGRADER, SETTLED = "formgrader.csv", "settled.csv"
OURS = re.compile(r"marks(-\d+)?\.csv", re.ASCII)
COLUMNS = ("student", "exercise", "points", "comment")
WHEN = "when"
SUBMISSION, DIGITS = "submission", 12  # the column of the marked hand-in: the first digits of its hash


def files_of(folder):
    """List the teacher's files, ``marks.csv``, ``marks-2.csv`` and so on, in the order of their numbers."""
    found = [
        (int("0" + path.stem[6:]), path) for path in folder.glob("marks*.csv") if OURS.fullmatch(path.name)
    ]
    return [path for _, path in sorted(found)]


def next_file(folder):
    """Return the name of the teacher's next file, which replaces none."""
    files = files_of(folder)
    return f"marks-{int(files[-1].stem[6:] or 1) + 1}.csv" if files else "marks.csv"


def read_marks(folder, students, exercises):
    """Read the marks given by hand.

    Parameters
    ----------
    folder : Path
        The folder of ``marks.csv``, a file with the columns student, exercise, points and comment, separated
        by commas or semicolons. A mark overrides the check's verdict. If the column submission names a
        hand-in other than the latest, the mark does not count. ``marks-2.csv`` overrides ``marks.csv``, and
        so on. ``formgrader.csv`` has the same columns, and all of these override it. ``settled.csv``, the log
        of `settle`, overrides them; its last row for a student and an exercise counts.
    students : dict of str to (Result or None), or collection of str
    exercises : list of Exercise

    Returns
    -------
    marks : dict of (student, exercise) to (points, comment)
        Rows without points are skipped.
    problems : list of str
        A sentence for each row that cannot be used, or that gives less than the check.

    Examples
    --------
    >>> from pathlib import Path
    >>> read_marks(Path("no such folder"), [], [])
    ({}, [])
    """
    marks, problems, old = {}, [], {}
    for path in (folder / SETTLED, *reversed(files_of(folder)), folder / FORMGRADER):
        given, wrong, replaced = _read(path, students, exercises, marks)
        marks = given | marks
        problems += wrong
        old = replaced | old
    return marks, problems + [problem for key, problem in old.items() if key not in marks]


def _read(path, students, exercises, stronger):
    """Read the marks and the problems of one file; the marks in `stronger` count before them.

    Return the problems of marks for an earlier hand-in by student and exercise.
    """
    if not path.exists():
        return {}, [], {}
    try:
        rows = read_rows(path, COLUMNS[:3])
    except GradingFault as fault:
        return {}, [f"{fault}: none of its marks count."], {}
    out_of = {exercise.name: exercise.points for exercise in exercises}
    marks, problems, old = {}, [], {}
    for number, row in rows:
        student, exercise, points = (row[name] for name in COLUMNS[:3])
        exercise, points = exercise.strip(), points.strip()
        if not points:
            continue
        if student not in students:
            student = student.strip().removeprefix("'")  # added by reports before formula-like text
        problem = _problem(student, exercise, points, students, out_of)
        result = students[student] if isinstance(students, dict) and not problem else None
        part = {part.name: part for part in result.exercises}[exercise] if result else None
        if result and not result.submission.startswith(row.get(SUBMISSION, "").strip()):
            old[student, exercise] = f"{path.name}, line {number}: {_again(student, part)}."
            continue
        if not problem and (student, exercise) in marks and path.name != SETTLED:
            problem = "this student and exercise occur twice; the first mark counts"
        if problem:
            problems.append(f"{path.name}, line {number}: {problem}.")
            continue
        marks[student, exercise] = (_number(points), (row.get("comment") or "").strip())
        checked = part.points if part else None
        bound = row.get(SUBMISSION, "").strip() or (student, exercise) in stronger
        if checked is not None and _number(points) < checked and not bound:
            problems.append(
                f"{path.name}, line {number}: {student} has {points} points in {exercise}, where the check "
                f"gives {checked}: delete the row or, if it is meant for this hand-in, write "
                f"{result.submission[:DIGITS]} into a column {SUBMISSION}."
            )
    return marks, problems, old


def _again(student, part):
    """Explain that a mark was given for an earlier hand-in, and what to do."""
    what = "mark the new answer, which is in to_mark.csv"
    if part.status is not Status.BY_HAND:
        what = "if the new answer needs a mark by hand, too, run settle again; if not, delete this row"
    return f"{student} has handed in again since {part.name} was marked, and this mark does not count: {what}"


def settle(queue, student, exercise, points, reason):
    """Set the points of one student's exercise by adding a row to the log; a regrade keeps it.

    Parameters
    ----------
    queue : Queue
    student, exercise : str
        The exercise with or without its chapter.
    points : str
    reason : str
        Shown on the student's page.

    Returns
    -------
    str
        A sentence with the student, the exercise, the points and the reason.

    Raises
    ------
    GradingFault
        If there is no such student or exercise, the points do not fit, or the reason is empty.
    """
    results, exercises = queue.results(queue.accepted), exercises_of(queue.chapter)
    whole = exercise if "." in exercise else f"{queue.chapter}.{exercise}"
    problem = _problem(student, whole, points, results, {one.name: one.points for one in exercises})
    if problem or not reason.strip():
        raise GradingFault(f"{problem or 'the reason is missing: --reason TEXT'}. Nothing was settled.")
    result, path = results[student], queue.folder / SETTLED
    digits = result.submission[:DIGITS] if result else ""
    before = path.read_text("utf-8-sig") if path.exists() else ",".join((*COLUMNS, SUBMISSION, WHEN)) + "\n"
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    line = as_csv([[student, whole, _number(points), reason.strip(), digits, when]]).removeprefix("\ufeff")
    store.write(path, "\ufeff" + before + line.replace("\r\n", "\n"))
    return f"{student}, {whole}: {_number(points):g} points, because {reason.strip()}"


def _problem(student, exercise, points, students, out_of):
    """Explain why a row cannot be used; None if it can."""
    if student not in students:
        return f"there is no student {student!r}{suggested(student, students)}"
    if exercise not in out_of:
        whole = [name for name in out_of if name.endswith(f".{exercise}")]
        return f"there is no exercise {exercise!r}" + (f"; write {whole[0]}" if whole else "")
    number = _number(points)
    if number is None or not 0 <= number <= out_of[exercise]:
        return f"{exercise} gives 0 to {out_of[exercise]} points, got {points!r}"
    return None


def _number(points):
    """Parse a number that may have a decimal comma; None if it is not a number."""
    try:
        number = float(points.replace(",", "."))
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
