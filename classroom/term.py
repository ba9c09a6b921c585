"""A whole term: due dates, late rules, best or last hand-in, totals, and the tables that a platform imports.

Holds `Chapter`, `read_term` and `write_term`. A folder of the teacher's holds ``term.csv``, a row a chapter;
``roster.csv``, who is in the course and under which number; and ``hand-ins.csv``, who handed in when. They
are read, and never written. Leaves out grading a chapter (``classroom.queue``) and how hard its exercises are
(``classroom.items``).
Not taught in a chapter: it belongs to the classroom.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path

from classroom.by_hand import read_marks
from classroom.faults import GradingFault
from classroom.items import items_page, items_table
from classroom.queue import Queue
from classroom.reports import Row, row_of, rows
from classroom.result import exercises_of
from classroom.tables import as_csv, read_rows
from course import store

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Chapter:
    """One row of ``term.csv``.

    Parameters
    ----------
    stem : str
        ``"04_closures"``.
    marks : Path
        The folder of its marks.
    due : datetime or None
    late : float
        The share that each day begun costs, of the points that were reached: 0.1.
    days : int or None
        After so many days late nothing counts.
    keep : str
        Which hand-in counts: ``"last"`` or ``"best"``.
    """

    stem: str
    marks: Path
    due: datetime | None = None
    late: float = 0.0
    days: int | None = None
    keep: str = "last"

    def share(self, when):
        """Return which share of its points a hand-in keeps.

        Parameters
        ----------
        when : datetime or None
            When it came; None where nobody says so, and then it was in time.

        Returns
        -------
        float

        Examples
        --------
        >>> noon = datetime(2026, 10, 12, 12)
        >>> chapter = Chapter("04_closures", Path("marks"), due=noon, late=0.1, days=3)
        >>> [chapter.share(noon + hours * timedelta(hours=1)) for hours in (0, 1, 24, 25, 73)]
        [1.0, 0.9, 0.9, 0.8, 0.0]
        """
        if self.due is None or when is None or when <= self.due:
            return 1.0
        days = ceil((when - self.due) / DAY)
        return 0.0 if self.days is not None and days > self.days else max(0.0, 1.0 - self.late * days)


def read_term(folder):
    """Return the chapters of a term, its roster, and when was handed in.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    chapters : list of Chapter
    roster : dict of str to str
        Student to the number under which a platform knows them; empty without ``roster.csv``.
    hand_ins : dict of (str, str) to datetime
        Student and chapter to the time of the last hand-in; empty without ``hand-ins.csv``.

    Raises
    ------
    GradingFault
        If a table is missing or cannot be read; with its line.
    """
    path = folder / "term.csv"
    if not path.exists():
        raise GradingFault(f"there is no {path}: a row for each chapter, with the columns chapter and marks.")
    chapters = [
        _chapter(folder, f"term.csv, line {line}", row) for line, row in read_rows(path, ("chapter", "marks"))
    ]
    roster, hand_ins = {}, {}
    if (folder / "roster.csv").exists():
        listed = read_rows(folder / "roster.csv", ("student", "id"))
        roster = {row["student"].strip(): row["id"].strip() for _, row in listed}
    if (folder / "hand-ins.csv").exists():
        for line, row in read_rows(folder / "hand-ins.csv", ("student", "chapter", "when")):
            when = _time(f"hand-ins.csv, line {line}", row["when"])
            hand_ins[row["student"].strip(), row["chapter"].strip()] = when
    return chapters, roster, hand_ins


def _chapter(folder, place, row):
    """Return a row of ``term.csv`` as a chapter."""
    given = {name: text.strip() for name, text in row.items()}
    keep, late, days = given.get("keep") or "last", given.get("late") or "0", given.get("days") or None
    if keep not in ("last", "best"):
        raise GradingFault(f"{place}: keep is last or best, got {keep!r}.")
    try:
        share = float(late.removesuffix("%").replace(",", ".")) / 100
        most = None if days is None else int(days)
    except ValueError as error:
        raise GradingFault(f"{place}: late is percent for each day, days a whole number: {error}.") from error
    if not 0 <= share <= 1:
        raise GradingFault(f"{place}: late is from 0 to 100 percent for each day, got {late!r}.")
    due = _time(place, given["due"]) if given.get("due") else None
    return Chapter(given["chapter"], folder / given["marks"], due, share, most, keep)


def _time(place, text):
    """Return a time that a person or a platform has written; without a zone it is that of this machine."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except ValueError as error:
        raise GradingFault(f"{place}: a time is like 2026-10-12 23:59, got {text!r}.") from error


def write_term(folder):
    """Write the tables and the page of a term.

    Parameters
    ----------
    folder : Path
        ``totals.csv`` has a row for each student with all that decides it; ``by-id.csv`` the points alone,
        under the numbers of the roster; ``items.csv`` and ``items.html`` are about the exercises.

    Returns
    -------
    list of str
        What is to be put right: who is in the marks and not on the roster, whose mark is missing.
    """
    chapters, roster, hand_ins = read_term(folder)
    graded, problems, asked = {}, [], {}
    for chapter in chapters:
        with Queue(chapter.marks) as queue:
            if queue.chapter != chapter.stem:
                raise GradingFault(
                    f"{chapter.marks} holds the marks of {queue.chapter}, not of {chapter.stem}."
                )
            found, wrong = counted(queue, chapter.keep)
        graded[chapter.stem], asked[chapter.stem] = found, exercises_of(chapter.stem)
        problems += [f"{chapter.stem}: {problem}" for problem in wrong]
    students = sorted({*roster, *(student for found in graded.values() for student in found)})
    head = ["student", "id", "total", "out of"]
    head += [f"{stem} {what}" for stem in graded for what in ("points", "of its own", "share", "in words")]
    totals, by_id = [head], [["id", *graded, "total"]]
    for student in students:
        cells, kept, out_of = [], [], 0
        for chapter in chapters:
            row = graded[chapter.stem].get(student)
            share = chapter.share(hand_ins.get((student, chapter.stem)))
            points, own, said = _points(row, share)
            kept.append(points)
            out_of += sum(exercise.points for exercise in asked[chapter.stem])
            cells += [points, own, share, said]
        total = None if None in kept else _number(sum(kept))
        totals.append([student, roster.get(student), total, out_of, *cells])
        if student in roster:
            by_id.append([roster[student], *kept, total])
        elif roster:
            problems.append(f"{student} has marks, and is not on the roster.")
    every = {stem: list(found.values()) for stem, found in graded.items()}
    files = {"totals.csv": as_csv(totals), "by-id.csv": as_csv(by_id)}
    files |= {"items.csv": as_csv(items_table(every)), "items.html": items_page(every)}
    for name, text in files.items():
        store.write(folder / name, text)
    return problems


def _number(points):
    """Return points with two decimals at most, and none where they are whole."""
    return int(points) if float(points).is_integer() else round(points, 2)


def _points(row, share):
    """Return what counts of a row, its own points, and why; a student who handed in nothing has 0."""
    if row is None:
        return 0, 0, "nothing handed in"
    if row.points is None:
        return None, None, row.reason
    zero = {"form": "0 because of the form: ", "work": "0 because of the work: "}.get(row.zero, "")
    late = "" if share == 1 else f"late, {share:.0%} count; "
    return _number(row.points * share), row.points, late + zero + row.reason


def counted(queue, keep):
    """Return the row of each student that counts, and what is to be put right in the teacher's marks.

    Parameters
    ----------
    queue : Queue
    keep : str
        ``"last"``; or ``"best"``, for the hand-in with most points.

    Returns
    -------
    rows : dict of str to Row
    problems : list of str
    """
    last, problems = rows(queue)
    found: dict[str, Row] = {row.student: row for row in last}
    if keep == "best":
        earlier = queue.attempts(queue.accepted)
        marks, _ = read_marks(queue.folder, found.keys(), exercises_of(queue.chapter))
        for student, results in earlier.items():
            row = found.get(student)
            others = [row_of(student, queue.chapter, result, marks) for result in results]
            better = [other for other in others if other.points is not None]
            if row is not None and row.points is not None and better:
                found[student] = max([row, *better], key=lambda one: one.points)
    return found, problems
