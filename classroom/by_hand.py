"""The marks that a person gives: a file of the teacher's, read here and never written.

Holds `read_marks`, and `settle`, which adds to a log of its own. What was marked in nbgrader's formgrader
stands in a second file, which is ours (``classroom.gradebook``); where both have a mark, the teacher's file
counts. Leaves out the list of what is still to be marked (``classroom.reports``), which is made in the same
form, so that it can be filled in and become this file.
"""

from datetime import datetime

from classroom.faults import GradingFault
from classroom.result import exercises_of
from classroom.tables import as_csv, read_rows
from course import store

FILE, FORMGRADER, SETTLED = "marks.csv", "formgrader.csv", "settled.csv"
COLUMNS = ("student", "exercise", "points", "comment")
WHEN = "when"
SUBMISSION, DIGITS = "submission", 12  # for which a mark was given: the first digits of its hash


def read_marks(folder, students, exercises):
    """Return the teacher's marks.

    Parameters
    ----------
    folder : Path
        Where ``marks.csv`` stands, with the columns student, exercise, points, comment; from a spreadsheet,
        with commas or semicolons. A mark counts before what a check said. Where a column submission names
        another hand-in than the last one, the mark does not count. ``formgrader.csv`` has the same
        form, and a mark of ``marks.csv`` counts before one of it. ``settled.csv`` counts before both: it is
        the log of `settle`, and the last of its rows on a student and an exercise counts.
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
    for name in (FORMGRADER, FILE, SETTLED):
        given, wrong = _read(folder / name, students, exercises)
        marks |= given
        problems += wrong
    return marks, problems


def _read(path, students, exercises):
    """Return the marks of one file, and its problems."""
    if not path.exists():
        return {}, []
    try:
        rows = read_rows(path, COLUMNS[:3])
    except GradingFault as fault:
        return {}, [f"{fault}: none of its marks counts."]
    out_of = {exercise.name: exercise.points for exercise in exercises}
    marks, problems = {}, []
    for number, row in rows:
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
        if not problem and (student, exercise) in marks and path.name != SETTLED:
            problem = "this student and exercise stand there twice; the first mark counts"
        if problem:
            problems.append(f"{path.name}, line {number}: {problem}.")
        else:
            marks[student, exercise] = (_number(points), (row.get("comment") or "").strip())
    return marks, problems


def settle(queue, student, exercise, points, reason):
    """Settle one exercise of one student: add a row to the log, which stays over every regrade.

    Parameters
    ----------
    queue : Queue
    student, exercise : str
        The exercise with its chapter or without.
    points : str
    reason : str
        Stands on the student's page.

    Returns
    -------
    str
        What was settled, in words.

    Raises
    ------
    GradingFault
        If there is no such student or exercise, the points do not fit, or the reason is empty.
    """
    results, exercises = queue.results(queue.accepted), exercises_of(queue.chapter)
    whole = exercise if "." in exercise else f"{queue.chapter}.{exercise}"
    problem = _problem(student, whole, points, results, {one.name: one.points for one in exercises})
    if problem or not reason.strip():
        raise GradingFault(f"{problem or 'a reason is missing: --reason TEXT'}. Nothing was settled.")
    result, path = results[student], queue.folder / SETTLED
    digits = result.submission[:DIGITS] if result else ""
    before = path.read_text("utf-8-sig") if path.exists() else ",".join((*COLUMNS, SUBMISSION, WHEN)) + "\n"
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    line = as_csv([[student, whole, _number(points), reason.strip(), digits, when]]).removeprefix("\ufeff")
    store.write(path, "\ufeff" + before + line.replace("\r\n", "\n"))
    return f"{student}, {whole}: {_number(points):g} points, because {reason.strip()}"


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
