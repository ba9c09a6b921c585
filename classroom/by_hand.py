"""The marks that a person gives: a file of the teacher's, read here and never written.

Holds `read_marks`. What was marked in nbgrader's formgrader stands in a second file, which is ours
(``classroom.gradebook``); where both have a mark, the teacher's file counts. Leaves out the list of what
is still to be marked (``classroom.reports``), which is made in the same form, so that it can be filled
in and become this file.
"""

import csv
import io

FILE, FORMGRADER = "marks.csv", "formgrader.csv"
COLUMNS = ("student", "exercise", "points", "comment")
SUBMISSION, DIGITS = "submission", 12  # for which a mark was given: the first digits of its hash


def read_marks(folder, students, exercises):
    """Return the teacher's marks.

    Parameters
    ----------
    folder : Path
        Where ``marks.csv`` stands, with the columns student, exercise, points, comment; from a spreadsheet,
        with commas or semicolons. A mark counts before what a check said. Where a column submission names
        another hand-in than the last one, the mark does not count. ``formgrader.csv`` has the same
        form, and a mark of ``marks.csv`` counts before one of it.
    students : dict of str to (Result or None), or collection of str
    exercises : list of Exercise

    Returns
    -------
    marks : dict of (student, exercise) to (points, comment)
        Without rows whose points are empty.
    problems : list of str
        Rows that cannot be used, a sentence each.

    Examples
    --------
    >>> from pathlib import Path
    >>> read_marks(Path("no such folder"), [], [])
    ({}, [])
    """
    marks, problems = {}, []
    for name in (FORMGRADER, FILE):
        given, wrong = _read(folder / name, students, exercises)
        marks |= given
        problems += wrong
    return marks, problems


def _read(path, students, exercises):
    """Return the marks of one file, and its problems."""
    if not path.exists():
        return {}, []
    text = _decoded(path.read_bytes())
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    missing = [name for name in COLUMNS[:3] if name not in (rows.fieldnames or ())]
    if missing:
        return {}, [f"{path.name} has no column {' and no column '.join(missing)}: none of its marks counts."]
    out_of = {exercise.name: exercise.points for exercise in exercises}
    marks, problems = {}, []
    for row in rows:
        row = {name: text if isinstance(text, str) else "" for name, text in row.items() if name}
        student, exercise, points = (row[name] for name in COLUMNS[:3])
        exercise, points = exercise.strip(), points.strip()
        if not points:
            continue
        if student not in students:
            student = student.strip().removeprefix("'")  # which reports put before what looks like a formula
        problem = _problem(student, exercise, points, students, out_of)
        if not problem and _is_for_another(students, student, row.get(SUBMISSION, "").strip()):
            problem = (
                f"{student} has handed in again since {exercise} was marked; look at the answer of now, and "
                f"take its number in the column {SUBMISSION} from to_mark.csv, or leave that column empty"
            )
        if not problem and (student, exercise) in marks:
            problem = "this student and exercise stand there twice; the first mark counts"
        if problem:
            problems.append(f"{path.name}, line {rows.line_num}: {problem}.")
        else:
            marks[student, exercise] = (_number(points), (row.get("comment") or "").strip())
    return marks, problems


def _is_for_another(results, student, submission):
    """Say whether a mark was given for another submission than the last one."""
    result = results[student] if isinstance(results, dict) else None
    return bool(submission and result is not None and not result.submission.startswith(submission))


def _problem(student, exercise, points, students, out_of):
    """Return why a row cannot be used, or None."""
    if student not in students:
        return f"there is no student {student!r}"
    if exercise not in out_of:
        whole = [name for name in out_of if name.endswith(f".{exercise}")]
        return f"there is no exercise {exercise!r}" + (f"; write {whole[0]}" if whole else "")
    number = _number(points)
    if number is None or not 0 <= number <= out_of[exercise]:
        return f"{exercise} gives 0 to {out_of[exercise]} points, got {points!r}"
    return None


def _number(points):
    """Return a number that a person wrote, perhaps with a decimal comma; None where it is none."""
    try:
        number = float(points.replace(",", "."))
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _decoded(data):
    """Return the text of a file that a spreadsheet wrote."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
