"""A whole term: due dates, late penalties, best or last hand-in, totals, and tables for a platform's import.

Holds `Chapter`, `read_term` and `write_term`. The teacher's folder has ``term.csv``, with a row per chapter;
``roster.csv``, the platform's table of the class; and ``hand-ins.csv``, the times of hand-ins. These files
are only read. ``classroom.items`` analyses the exercises, and ``classroom.roster`` fills in the points.
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import NamedTuple

from classroom.by_hand import read_marks
from classroom.faults import GradingFault
from classroom.folders import person
from classroom.items import items, items_page, items_table, tries
from classroom.queue import Queue
from classroom.reports import Row, row_of, rows
from classroom.result import exercises_of
from classroom.roster import Roster, plain
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
        The penalty for each day begun, as a share of the points reached, such as 0.1.
    days : int or None
        Hand-ins later than this many days get no points.
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
        """Return the share of its points that a hand-in keeps.

        Parameters
        ----------
        when : datetime or None
            The time of the hand-in; None, if unknown, counts as on time.

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


class Student(NamedTuple):
    """A student of a term, whose hand-ins may have another name in each chapter."""

    name: str
    number: str = ""  # the platform's
    place: int = 0  # of the roster's line; 0 without one


def read_term(folder):
    """Read the chapters of a term, its roster, and the times of hand-ins.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    chapters : list of Chapter
    roster : Roster or None
        None without ``roster.csv``.
    hand_ins : dict of (str, str) to datetime
        (student, chapter) to the time of the hand-in that counts; empty without ``hand-ins.csv``.

    Raises
    ------
    GradingFault
        If a table is missing or cannot be read; names the line.
    """
    path = folder / "term.csv"
    if not path.exists():
        raise GradingFault(
            f"there is no {path}: it needs a row for each chapter, with the columns chapter and marks."
        )
    chapters = [
        _chapter(folder, f"term.csv, line {line}", row) for line, row in read_rows(path, ("chapter", "marks"))
    ]
    roster = Roster(folder / "roster.csv") if (folder / "roster.csv").exists() else None
    hand_ins = {}
    if (folder / "hand-ins.csv").exists():
        for line, row in read_rows(folder / "hand-ins.csv", ("student", "chapter", "when")):
            when = _time(f"hand-ins.csv, line {line}", row["when"])
            key = student, stem = row["student"].strip(), row["chapter"].strip()
            if key in hand_ins:
                raise GradingFault(
                    f"hand-ins.csv, line {line}: {student} has a row for {stem} already: keep the one of the "
                    "hand-in that counts."
                )
            hand_ins[key] = when
    return chapters, roster, hand_ins


def _chapter(folder, place, row):
    """Make a chapter from a row of ``term.csv``."""
    given = {name: text.strip() for name, text in row.items()}
    keep, late, days = given.get("keep") or "last", given.get("late") or "0", given.get("days") or None
    if keep not in ("last", "best"):
        raise GradingFault(f"{place}: keep must be last or best, got {keep!r}.")
    try:
        share = float(late.removesuffix("%").replace(",", ".")) / 100
        most = None if days is None else int(days)
    except ValueError as error:
        raise GradingFault(
            f"{place}: late must be percent per day, and days a whole number: {error}."
        ) from error
    if not 0 <= share <= 1:
        raise GradingFault(f"{place}: late must be 0 to 100 percent per day, got {late!r}.")
    due = _time(place, given["due"]) if given.get("due") else None
    if due and ":" not in given["due"]:  # a day: to its end
        due = due.replace(hour=23, minute=59)
    return Chapter(given["chapter"], folder / given["marks"], due, share, most, keep)


def _time(place, text):
    """Parse a time; without a time zone, it is in this machine's."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except ValueError as error:
        raise GradingFault(f"{place}: a time must be like 2026-10-12 23:59, got {text!r}.") from error


def write_term(folder, earlier=()):
    """Write the tables and the page of a term.

    Parameters
    ----------
    folder : Path
        ``totals.csv`` has a row for each student with everything that counts towards the total;
        ``import.csv`` is the roster with the points filled in; ``items.csv`` and ``items.html`` analyse the
        exercises.
    earlier : sequence of Path
        Folders of other terms, whose exercises are analysed beside these.

    Returns
    -------
    problems : list of str
        Problems to fix, such as students with marks who are not on the roster.
    absent : list of (str, str)
        Students on the roster without any hand-in, and their numbers.
    provisional : int
        Number of students who can still get points by hand.
    """
    chapters, roster, hand_ins = read_term(folder)
    graded, who, problems, found = _graded(chapters, roster)
    terms = {str(folder): found} | {str(term): _graded(*read_term(term)[:2])[-1] for term in earlier}
    asked = {stem: sum(exercise.points for exercise in exercises_of(stem)) for stem in graded}
    times = {}
    for (student, stem), when in hand_ins.items():
        names = _meant(student, who.get(stem, {}), roster)
        if len(names) == 1:
            times[stem, names[0]] = when
        elif names:
            problems.append(f"hand-ins.csv: {student} may be each of {' and '.join(names)} in {stem}.")
        else:
            problems.append(
                f"hand-ins.csv: {student} has no marks in {stem}: is that the name of the hand-in?"
            )
    head = ["student", "id", "total", "out of"]
    head += [f"{stem} {what}" for stem in graded for what in ("points", "of its own", "share", "in words")]
    named = {(stem, student): name for stem, found in who.items() for name, student in found.items()}
    totals, marks = [], {stem: {} for stem in graded}
    for student in sorted({student for _, student in named}):
        cells, kept = [], []
        for chapter in chapters:
            name = named.get((chapter.stem, student))
            share = chapter.share(times.get((chapter.stem, name)))
            points, own, said = _points(graded[chapter.stem].get(name), share)
            kept.append(points)
            cells += [points, own, share, said]
            if name is not None:
                marks[chapter.stem][name] = points
        total = None if None in kept else _number(sum(kept))
        totals.append([student.name, student.number, total, sum(asked.values()), *cells])
    files, absent = {}, []
    if roster:
        files["import.csv"], wrong, absent = roster.filled(marks, asked)
        problems += wrong
        nothing = [0, 0, 1.0, "nothing handed in"] * len(chapters)
        totals += [[*student, 0, sum(asked.values()), *nothing] for student in absent]
    files["totals.csv"] = as_csv([head, *sorted(totals, key=lambda line: line[0])])
    files |= {"items.csv": as_csv(items_table(terms)), "items.html": items_page(terms)}
    for name, text in files.items():
        store.write(folder / name, text)
    waiting = {who[stem][row.student] for stem in who for row in graded[stem].values() if row.to_mark}
    return problems, absent, len(waiting)


def _graded(chapters, roster):
    """Return each chapter's rows and students by the hand-in's name, the problems, and the term's items."""
    graded, problems, tried = {}, [], {}
    for chapter in chapters:
        with Queue(chapter.marks) as queue:
            if queue.chapter != chapter.stem:
                raise GradingFault(
                    f"{chapter.marks} has the marks of {queue.chapter}, not of {chapter.stem}."
                )
            graded[chapter.stem], wrong = counted(queue, chapter.keep)
            problems += [f"{chapter.stem}: {problem}" for problem in wrong]
            tried[chapter.stem] = tries(queue)
    who, wrong = _students(graded, roster)
    by_student = {
        stem: [replace(row, student=who[stem][name]) for name, row in found.items()]
        for stem, found in graded.items()
    }
    needed = {
        (who[stem][name], exercise): number
        for stem, found in tried.items()
        for (name, exercise), number in found.items()
        if name in who[stem]  # a namesake without a number may have been removed
    }
    return graded, who, problems + wrong, items(by_student, needed)


def _students(graded, roster):
    """Return each chapter's students by the hand-in's name, and a problem for a name that several have.

    Moodle draws the number in a hand-in's name anew for each chapter.
    """
    if roster:
        places = roster.match(graded)[0]
        lines = {place: Student(roster.name(place), roster.number(place), place) for place in roster.students}
        return {
            stem: {name: lines.get(places[stem].get(name), Student(name)) for name in found}
            for stem, found in graded.items()
        }, []
    called = {
        stem: {name: person(name) if "_assignsubmission_" in name else name for name in found}
        for stem, found in graded.items()
    }
    several = {
        name for found in called.values() for name, count in Counter(found.values()).items() if count > 1
    }
    who = {
        stem: {name: Student(name if short in several else short) for name, short in found.items()}
        for stem, found in called.items()
    }
    why = "is the name of several students: each of their hand-ins has a row of its own."
    return who, [f"{name} {why}" for name in sorted(several) if len(graded) > 1]


def _meant(text, who, roster):
    """List the hand-ins of a chapter whose student may be called so."""
    return (
        [text]
        if text in who
        else [
            name
            for name, student in who.items()
            if text in (student.name, person(name), name.partition("_assign")[0])
            or (student.place and plain(text) in roster.keys[student.place])
        ]
    )


def _number(points):
    """Round points to two decimals, and to an int if they are whole."""
    return int(points) if float(points).is_integer() else round(points, 2)


def _points(row, share):
    """Return the points that count, the points reached, and the reason; both are 0 without a hand-in."""
    if row is None:
        return 0, 0, "nothing handed in"
    if row.points is None:
        return None, None, row.reason
    zero = {"form": "0 because of the form: ", "work": "0 because of the work: "}.get(row.zero, "")
    late = "" if share == 1 else f"late, {share:.0%} of the points count; " if share else "too late; "
    return _number(row.points * share), row.points, late + zero + row.reason


def counted(queue, keep):
    """Return the row that counts for each student, and the problems in the teacher's marks.

    Parameters
    ----------
    queue : Queue
    keep : str
        ``"last"``, or ``"best"`` for the hand-in with most points.

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
            better = [one for one in (row, *others) if one is not None and one.points is not None]
            if row is not None and better and (row.points is not None or row.is_unreadable):
                found[student] = max(better, key=lambda one: one.points)
    return found, problems
