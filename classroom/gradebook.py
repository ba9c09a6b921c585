"""Marks to and from nbgrader's gradebook, for teachers who mark by hand in its formgrader.

Holds `give`, which writes a class's marks into ``gradebook.db`` of an nbgrader course and makes the pages for
the formgrader; and `take`, which reads the marks given there. Both use nbgrader's own interfaces, and run no
code of a submission. The exchange is nbgrader's.
"""

import csv
import io
import logging
import warnings
from contextlib import chdir, suppress
from hashlib import sha256
from pathlib import Path

from classroom.by_hand import COLUMNS, FORMGRADER
from classroom.faults import GradingFault
from classroom.reports import rows
from classroom.result import Status, exercises_of
from course import store
from course.curriculum import exercises_name

MISSING = (
    "the gradebook needs nbgrader, which is not installed: install the course's extra `dev` "
    "(in the course's folder, `python -m pip install --editable .[dev]`)."
)
KEPT = "submission.sha256"  # next to the formgrader's page: its submission's hash


class Course:
    """An nbgrader course, with its own configuration, and one assignment in it.

    Parameters
    ----------
    folder : Path
        The folder of ``nbgrader_config.py`` and ``gradebook.db``.
    chapter : str
        The assignment: ``"04_closures"``. Its notebook is ``04_closures_exercises``, or, in older nbgrader
        courses, ``04_closures``.

    Raises
    ------
    GradingFault
        If nbgrader is not installed, or the course's assignment does not match the checks.
    """

    def __init__(self, folder, chapter):
        try:
            from nbgrader.api import Gradebook, MissingEntry
            from nbgrader.apps import NbGrader
            from nbgrader.apps.api import NbGraderAPI
            from sqlalchemy import make_url
            from sqlalchemy.exc import SAWarning, SQLAlchemyError
        except ImportError as error:
            raise GradingFault(MISSING) from error
        if not folder.is_dir():
            raise GradingFault(f"there is no folder {folder}.")
        self.folder, self.chapter = folder.resolve(), chapter
        self.missing, self.warning = MissingEntry, SAWarning
        with chdir(folder):  # nbgrader reads its configuration and course from the current folder
            app = NbGrader()
            app.log_level = logging.CRITICAL
            app.load_config_file()
            app.config.Execute.enabled = False  # submissions run in the sandbox only
            app.config.SaveAutoGrades.enabled = False  # points come from our checks
            self.api = NbGraderAPI(config=app.config)
            self.api.log_level = logging.CRITICAL
            self.places = self.api.coursedir
            self.places.root = str(self.folder)
            url = make_url(self.places.db_url)
            if url.drivername == "sqlite" and not Path(url.database).exists():
                raise self._no_assignment()
            try:
                self.book = Gradebook(self.places.db_url, self.places.course_id)
            except SQLAlchemyError as error:
                raise GradingFault(f"the gradebook {self.places.db_url} cannot be opened: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.book.close()

    def cells(self):
        """Map each exercise to the cell that has its points: the check's, or the answer in words."""
        asked = exercises_of(self.chapter)
        names = {e.name: e.short if e.by_hand else f"check_{e.short}" for e in asked}
        known = {cell.name: cell.max_score for cell in self._notebook().grade_cells}
        wanted = {names[exercise.name]: exercise.points for exercise in asked}
        if known != wanted:
            differ = ", ".join(sorted(name for name, _ in known.items() ^ wanted.items()))
            raise GradingFault(
                f"the cells of {self.chapter} in the gradebook do not match the checks ({differ}): "
                f"put this version of the notebook into the course, and generate the assignment again."
            )
        return names

    def _notebook(self):
        """Find the assignment's notebook in the gradebook, and store its name."""
        for name in (exercises_name(self.chapter), self.chapter):
            with suppress(self.missing):
                notebook, self.notebook = self.book.find_notebook(name, self.chapter), name
                return notebook
        raise self._no_assignment()

    def _no_assignment(self):
        """Make the GradingFault for a course without the assignment."""
        return GradingFault(
            f"the nbgrader course in {self.folder} has no assignment {self.chapter}: "
            f"run `nbgrader generate_assignment {self.chapter}` there first."
        )

    def place(self, pattern, student, name):
        """Return the path of a student's file in the nbgrader course."""
        return Path(self.places.format_path(pattern, student, self.chapter), name)

    def page(self, student):
        """Let nbgrader make the page for its formgrader; return the reason for a failure, or None."""
        with chdir(self.folder):
            made = self.api.autograde(self.chapter, student, force=True)
        if made["success"]:
            return None
        lines = [line for line in made["error"].splitlines() if line.strip()]
        logged = made.get("log", "").splitlines()
        messages = [line for line in logged if line and not line.startswith((" ", "["))]
        return (messages or lines)[-1]


def give(queue, folder):
    """Put the marks into the gradebook; marks given there by hand are kept.

    Parameters
    ----------
    queue : Queue
    folder : Path
        The nbgrader course.

    Returns
    -------
    count : int
        Number of students whose marks are in the gradebook now.
    problems : list of str
        A sentence for each student whose marks are missing, or whose notebook the formgrader cannot show.

    Raises
    ------
    GradingFault
        If the course cannot be used.
    """
    found, problems = rows(queue)
    with Course(folder, queue.chapter) as course:
        cells, count = course.cells(), 0
        for row in found:
            problem, given = _given(row, queue, course, cells)
            count += given
            problems += [f"{row.student}: {problem}"] if problem else []
    return count, problems


def _given(row, queue, course, cells):
    """Put one student's marks into the gradebook; return a problem, or None, and whether they are in."""
    if row.points is None:
        return row.reason, False
    digest = row.result.submission
    data = queue.submission(digest)[0]
    submitted = course.place(course.places.submitted_directory, row.student, f"{course.notebook}.ipynb")
    kept = course.place(course.places.autograded_directory, row.student, KEPT)
    if data is not None:
        if not submitted.exists():
            store.write(submitted, data)
        elif sha256(submitted.read_bytes()).hexdigest() != digest:
            return f"{submitted} is not the notebook that was graded: grade again first.", False
    page_of = kept.read_text().strip() if kept.exists() else None
    with warnings.catch_warnings(category=course.warning, action="ignore"):  # raised as nbgrader adds a row
        course.book.update_or_create_student(row.student)
        course.book.update_or_create_submission(course.chapter, row.student)
    anew = page_of not in (None, digest)
    changed = [_write_points(part, cells[part.name], row, course, anew) for part in row.parts]
    course.book.db.commit()
    if data is None or (page_of == digest and not any(changed)):
        return None, True
    problem = course.page(row.student)
    if problem:
        return f"the marks are in the gradebook; the formgrader cannot show the notebook: {problem}", True
    store.write(kept, f"{digest}\n")
    return None, True


def _write_points(part, cell, row, course, anew):
    """Write the points and the message of one exercise; return whether the points have changed."""
    grade = course.book.find_grade(cell, course.notebook, course.chapter, row.student)
    comment = course.book.find_comment(part.short, course.notebook, course.chapter, row.student)
    result = next(one for one in row.result.exercises if one.name == part.name)
    by_hand = result.status is Status.BY_HAND
    points = None if by_hand else float(result.points)
    changed = grade.auto_score != points
    grade.auto_score = points
    comment.auto_comment = None if by_hand else result.sentence or None
    if grade.manual_score is None:
        if part.status is Status.MARKED:
            grade.manual_score, changed = float(part.points), True
            comment.manual_comment = comment.manual_comment or part.comment or None
        grade.needs_manual_grade = by_hand and grade.manual_score is None
    elif changed or anew:
        grade.needs_manual_grade = True  # an earlier answer was marked by hand: mark again
    return changed


def take(queue, folder):
    """Read the marks given in the formgrader into a file next to the marks.

    Parameters
    ----------
    queue : Queue
    folder : Path
        The nbgrader course.

    Returns
    -------
    int
        Number of marks read; they count from now on, unless ``marks.csv`` overrides them.

    Raises
    ------
    GradingFault
        If the course cannot be used.
    """
    text, count = io.StringIO(newline=""), 0
    table = csv.writer(text)
    table.writerow(COLUMNS)
    with Course(folder, queue.chapter) as course:
        cells, students = course.cells(), queue.results(queue.accepted)
        for student in students:
            try:
                course.book.find_submission(course.chapter, student)
            except course.missing:
                continue
            for name, cell in cells.items():
                grade = course.book.find_grade(cell, course.notebook, course.chapter, student)
                if grade.manual_score is None and not grade.extra_credit:
                    continue
                short = name.partition(".")[2]
                comment = course.book.find_comment(short, course.notebook, course.chapter, student)
                table.writerow([student, name, f"{grade.score:g}", comment.manual_comment or ""])
                count += 1
    store.write(queue.folder / FORMGRADER, "\ufeff" + text.getvalue())
    return count
