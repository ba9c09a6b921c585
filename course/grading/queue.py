"""What was handed in and what came of it, in one SQLite file: end the run at any moment, and start it again.

Holds `find`, which says what a folder of submissions holds; `Queue`, the file; `version`, which names the
checks and the grader; `secret` and `seed`, from which a submission's data are drawn; and `unmarked`, the
result of what was not graded. Leaves out the processes that grade (``course.grading.crew``), and what is made
of the results (``course.grading.reports``).
"""

import hmac
import json
import os
import secrets
import sqlite3
import stat
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from course import store
from course.grading.faults import GradingFault, Refused

FILE, SECRET = "queue.sqlite", "course-secret"
APART = set(  # files that decide no mark
    "__main__.py cluster.py crew.py gradebook.py marks.py pages.py queue.py reports.py".split()
)
KEPT_LATER = "Everything graded so far is kept: put that right, and run the same command again."
SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS students (student TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submissions (digest TEXT PRIMARY KEY, data BLOB, refused TEXT, fault TEXT);
CREATE TABLE IF NOT EXISTS results (
    student TEXT, digest TEXT, version TEXT, result TEXT NOT NULL, open INTEGER NOT NULL,
    PRIMARY KEY (student, digest, version)
);
"""


def find(folder, chapter):
    """Return what each student has handed in.

    Parameters
    ----------
    folder : Path
        One folder a student. In it ``04_closures.ipynb``, or ``04_closures/04_closures.ipynb``, or any one
        notebook.
    chapter : str
        Its stem: ``"04_closures"``.

    Yields
    ------
    student : str
        The folder's name.
    what : Path, Refused or GradingFault
        The notebook; or why there is none.
    """
    for place in sorted(folder.iterdir()):
        if place.name.startswith((".", "__MACOSX")) or not (place.is_symlink() or place.is_dir()):
            continue
        student = os.fsencode(place.name).decode("utf-8", "backslashreplace")
        try:
            yield student, _notebook(place, chapter)
        except Refused as refused:
            yield student, refused
        except OSError as error:
            why = error.strerror or error
            yield student, GradingFault(f"not graded, because the folder cannot be read: {why}.")


def _notebook(place, chapter):
    """Return the notebook in a student's folder, or raise Refused."""
    inner, name = place / chapter, f"{chapter}.ipynb"
    for folder in (place, inner):
        if folder.is_symlink():
            raise Refused(f"the folder {folder.name} is a link to another place; hand in the folder itself.")
    named = [path for path in (place / name, inner / name) if os.path.lexists(path)]
    if len(named) > 1:
        raise Refused(f"there are two notebooks, {name} and {chapter}/{name}; hand in one of them.")
    found = named or [
        path
        for folder in (place, inner)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix.lower() == ".ipynb" and not path.name.startswith(".")
    ]
    if not found:
        raise Refused("there is no notebook in the folder.")
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:5]) + (", ..." if len(found) > 5 else "")
        raise Refused(f"there are {len(found)} notebooks, and none of them is called {name}: {names}.")
    mode = found[0].lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):  # a link is refused by who reads the file
        raise Refused(f"{found[0].name} is not a file.")
    return found[0]


def version(chapter, unsafe=False):
    """Return a hash of all that decides a mark: the checks of a chapter, the grader, the library, the level.

    Parameters
    ----------
    chapter : str
    unsafe : bool

    Returns
    -------
    str
    """
    project = Path(store.__file__).parents[1]
    files = [
        *project.glob("course/*.py"),
        *project.glob("course/term.txt"),
        *project.glob("minigrad/**/*.py"),
    ]
    files += [path for path in project.glob("course/grading/*.py") if path.name not in APART]
    files += [
        path
        for path in project.glob("course/checks/*.py")
        if not path.stem.startswith("ch") or path.stem == f"ch{chapter}"
    ]
    whole = sha256(b"unsafe" if unsafe else b"")
    for path in sorted(files):
        whole.update(f"{path.relative_to(project).as_posix()} ".encode() + sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def secret(folder):
    """Return the course secret, a file that the teacher keeps; it is made on first use.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bytes

    Raises
    ------
    GradingFault
        If the file is there and holds no secret.
    """
    path = folder / SECRET
    if not path.exists():
        passing = path.with_name(f".{SECRET}.{os.getpid()}")
        with _kept_on_disk():
            try:
                with open(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    file.write(secrets.token_hex(32) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(passing, path)
            finally:
                passing.unlink(missing_ok=True)
    found = path.read_bytes().strip()
    if len(found) < 64:
        raise GradingFault(f"not graded, because {path} is damaged: put your copy back, or delete the file.")
    return found


def seed(key, digest):
    """Return the seed of a submission: repeatable with the course secret, not guessable without.

    Parameters
    ----------
    key : bytes
        The course secret.
    digest : str
        The submission's hash.

    Returns
    -------
    int
    """
    return int.from_bytes(hmac.digest(key, digest.encode(), "sha256")[:8])


def unmarked(chapter, digest, refused=None, fault=None):
    """Return the result of a submission that no check has seen.

    Parameters
    ----------
    chapter : str
    digest : str
    refused : str, optional
        Why it cannot be read: no points.
    fault : str, optional
        What went wrong on our side: no mark at all.

    Returns
    -------
    dict
    """
    asked = exercises_of(chapter)
    points, status = (0, "missing") if fault is None else (None, "not graded")
    return {
        "chapter": chapter,
        "submission": digest,
        "level": None,
        "fault": fault,
        "refused": refused,
        "points": points,
        "out_of": sum(exercise.points for exercise in asked),
        "by_hand": 0,
        "exercises": [
            {
                "name": exercise.name,
                "title": exercise.title,
                "kind": exercise.kind,
                "out_of": exercise.points,
                "points": points,
                "status": status,
                "sentence": refused or fault,
            }
            for exercise in asked
        ],
        "notes": [],
    }


def exercises_of(chapter):
    """Return the exercises of a chapter, or raise GradingFault where there are none.

    Parameters
    ----------
    chapter : str

    Returns
    -------
    list of Exercise
    """
    from course.checks import exercises

    known = exercises()
    found = [exercise for exercise in known if exercise.stem == chapter]
    if not found:
        stems = ", ".join(dict.fromkeys(exercise.stem for exercise in known))
        raise GradingFault(f"there are no exercises of a chapter {chapter}; these have some: {stems}.")
    return found


class Queue:
    """The file that holds what was handed in, and every result.

    Parameters
    ----------
    folder : Path
        Where the marks go; made with `chapter` if it is not there.
    chapter : str, optional
        Left out for a folder that is there already.

    Raises
    ------
    GradingFault
        If there is no such file, or it belongs to another chapter.

    Notes
    -----
    A result is written once, in a transaction of its own, under student, hash of the submission, and version
    of checks and grader. Only a result that is still open, because of a fault of ours, is ever replaced.
    """

    def __init__(self, folder, chapter=None):
        self.folder, path = folder, folder / FILE
        if chapter is None and not path.exists():
            raise GradingFault(f"there are no marks in {folder}: `grade` makes them.")
        with _kept_on_disk():
            folder.mkdir(parents=True, exist_ok=True)
            self.file = sqlite3.connect(path, timeout=30, isolation_level=None)
            try:
                self.file.execute("PRAGMA journal_mode = WAL")
                self.file.execute("PRAGMA synchronous = FULL")
                self.file.executescript(SCHEMA)
                if chapter:
                    self.file.execute("INSERT OR IGNORE INTO settings VALUES ('chapter', ?)", [chapter])
                self.chapter = self._setting("chapter")
            except sqlite3.Error:
                self.file.close()
                raise
        if chapter not in (None, self.chapter):
            self.file.close()
            raise GradingFault(
                f"{folder} holds the marks of {self.chapter}; give {chapter} a folder of its own."
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def _setting(self, name):
        """Return what is set under a name, or None."""
        found = self.file.execute("SELECT value FROM settings WHERE name = ?", [name]).fetchone()
        return found and found[0]

    @property
    def released(self):
        """The version whose results are the marks; None before there is one."""
        return self._setting("released")

    def release(self, version):
        """Make the results of a version the marks."""
        with _kept_on_disk():
            self.file.execute("INSERT OR REPLACE INTO settings VALUES ('released', ?)", [version])

    def take_in(self, folder, read):
        """Store what stands in a folder of submissions; what was there before stays.

        Parameters
        ----------
        folder : Path
        read : function, Path -> bytes
            Raises Refused or GradingFault.

        Returns
        -------
        int
            How many students have a folder there.
        """
        known, count = dict(self.file.execute("SELECT student, digest FROM students")), 0
        for student, what in find(folder, self.chapter):
            count += 1
            data = refused = fault = None
            try:
                if isinstance(what, Exception):
                    raise what
                data = read(what)
            except Refused as reason:
                refused = str(reason)
            except GradingFault as reason:
                fault = str(reason)
            digest = sha256(data if data is not None else (refused or fault).encode()).hexdigest()
            if known.get(student) != digest:
                with self._transaction():
                    row = [digest, data, refused, fault]
                    self.file.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?, ?, ?)", row)
                    self.file.execute("INSERT OR REPLACE INTO students VALUES (?, ?)", [student, digest])
        return count

    def open(self, version):
        """Return what has no result yet, or one that is open because of a fault.

        Parameters
        ----------
        version : str

        Returns
        -------
        list of (str, str)
            Student and hash of the submission.
        """
        return self.file.execute(
            "SELECT student, digest FROM students WHERE NOT EXISTS (SELECT 1 FROM results WHERE"
            " results.student = students.student AND results.digest = students.digest"
            " AND version = ? AND NOT open) ORDER BY student",
            [version],
        ).fetchall()

    def submission(self, digest):
        """Return the bytes of a submission; else why it is refused; else what went wrong on our side."""
        row = self.file.execute("SELECT data, refused, fault FROM submissions WHERE digest = ?", [digest])
        return row.fetchone()

    def store(self, student, digest, version, result):
        """Write a result, unless there is one that stands."""
        row = [student, digest, version, json.dumps(result), result["fault"] is not None]
        with _kept_on_disk():
            self.file.execute(
                "INSERT INTO results VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET result = excluded.result, open = excluded.open WHERE results.open",
                row,
            )

    def results(self, version):
        """Return the result of what each student has handed in last.

        Parameters
        ----------
        version : str or None

        Returns
        -------
        dict of str to (dict or None)
            Student to result, in alphabetical order; None where there is no result yet.
        """
        rows = self.file.execute(
            "SELECT students.student, result FROM students LEFT JOIN results"
            " ON results.student = students.student AND results.digest = students.digest AND version = ?"
            " ORDER BY students.student",
            [version],
        )
        return {student: text and json.loads(text) for student, text in rows}

    @contextmanager
    def _transaction(self):
        """Write all that is done inside, or nothing of it."""
        with _kept_on_disk():
            self.file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.file.execute("COMMIT")
            except BaseException:
                if self.file.in_transaction:
                    self.file.execute("ROLLBACK")
                raise


@contextmanager
def _kept_on_disk():
    """Turn what SQLite or the disk says into a fault; what is written inside is written whole or not."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GradingFault(f"the marks cannot be stored: {reason}. {KEPT_LATER}") from error
