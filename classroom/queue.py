"""Submissions and their results in one SQLite file, so that a run can be stopped and resumed at any moment.

Holds `Queue`, the file. ``classroom.folders`` finds the submissions, ``classroom.crew`` grades them, and
``classroom.reports`` writes the reports.
"""

import json
import os
import sqlite3
from contextlib import contextmanager
from hashlib import sha256

from classroom.faults import GradingFault, Refused
from classroom.folders import handed_in, namesakes, own_name
from classroom.result import NotAResult, Result

FILE = "queue.sqlite"
ACCEPTED = "released"  # the accepted version's name in the file
KEPT_LATER = "Everything graded so far is kept: fix that, and run the same command again."
SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS students (student TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submissions (digest TEXT PRIMARY KEY, data BLOB, refused TEXT, fault TEXT);
CREATE TABLE IF NOT EXISTS files (
    student TEXT, digest TEXT, name TEXT NOT NULL, PRIMARY KEY (student, digest)
);
CREATE TABLE IF NOT EXISTS results (
    student TEXT, digest TEXT, version TEXT, result TEXT NOT NULL, open INTEGER NOT NULL,
    PRIMARY KEY (student, digest, version)
);
"""


class Queue:
    """The file of submissions and results.

    Parameters
    ----------
    folder : Path
        The folder for the marks; created if it does not exist and `chapter` is given.
    chapter : str, optional
        Not needed for an existing folder.

    Raises
    ------
    GradingFault
        If the file does not exist, or belongs to another chapter.

    Notes
    -----
    A result is written once, in its own transaction. Its key is the student, the submission's hash, and the
    version of checks and grader. A result is replaced only if a fault of the grader has left it open.
    """

    def __init__(self, folder, chapter=None):
        self.folder, path = folder, folder / FILE
        if chapter is None and not path.exists():
            raise GradingFault(f"there are no marks in {folder}: run `grade` first.")
        if chapter is None and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
            self.file = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)
            self.chapter = self._setting("chapter")
            return
        with kept_on_disk(folder):
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
                f"{folder} has the marks of {self.chapter}; give {chapter} a folder of its own."
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def _setting(self, name):
        """Return a setting, or None."""
        found = self.file.execute("SELECT value FROM settings WHERE name = ?", [name]).fetchone()
        return found and found[0]

    @property
    def accepted(self):
        """The version whose results are the marks; None before there is one."""
        return self._setting(ACCEPTED)

    def accept(self, version):
        """Make the results of a version the marks."""
        with kept_on_disk(self.folder):
            self.file.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", [ACCEPTED, version])

    def take_in(self, folder, read):
        """Store the submissions in a folder; those stored earlier are kept.

        Parameters
        ----------
        folder : Path
        read : function, Path -> bytes
            Raises Refused or GradingFault.

        Returns
        -------
        count : int
            Number of students in the folder.
        problems : list of str
            A sentence for each hand-in that is not taken in: it came before, or its student is in doubt.
        """
        known, problems = dict(self.file.execute("SELECT student, digest FROM students")), []
        found = list(handed_in(folder, self.chapter))
        others = namesakes({*known, *(student for student, _ in found)})
        for student, what in found:
            if student in others and student not in known:
                problems.append(_doubt(student, others[student]))
                continue
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
                if fault is None and self._came_before(student, digest, known.get(student)):
                    problems.append(
                        f"{student}: this file was handed in before, and another one after it: that one "
                        "counts."
                    )
                    continue
                with self._transaction():
                    row = [digest, data, refused, fault]
                    self.file.execute("INSERT OR IGNORE INTO submissions VALUES (?, ?, ?, ?)", row)
                    self.file.execute("INSERT OR REPLACE INTO students VALUES (?, ?)", [student, digest])
                    if data is not None:
                        row = [student, digest, own_name(what)]
                        self.file.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", row)
        earlier = {student: others[student] for student in sorted(others.keys() & known)}
        return len(found), problems + self._joined(earlier)

    def _joined(self, others):
        """Remove each student whose latest hand-in a namesake has; return a sentence for each of the rest."""
        latest, problems = dict(self.file.execute("SELECT student, digest FROM students")), []
        for student, several in others.items():
            if latest[student] in map(latest.get, several):
                with self._transaction():
                    self.file.execute("DELETE FROM students WHERE student = ?", [student])
            else:
                problems.append(_doubt(student, several))
        return problems

    def _came_before(self, student, digest, latest):
        """Report whether a hand-in was graded before the latest one, which can be read."""
        query = "SELECT 1 FROM results WHERE student = ? AND digest = ? AND NOT open"
        graded = self.file.execute(query, [student, digest]).fetchone()
        return graded is not None and self.submission(latest)[0] is not None

    def open(self, version):
        """List the submissions that have no result, or one that a fault has left open.

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

    def files(self):
        """Map each student whose latest hand-in can be read to the name of its file."""
        return dict(self.file.execute("SELECT student, name FROM students NATURAL JOIN files"))

    def submission(self, digest):
        """Return a submission's bytes, the reason why it was refused, and the fault; two of them are None."""
        row = self.file.execute("SELECT data, refused, fault FROM submissions WHERE digest = ?", [digest])
        return row.fetchone()

    def store(self, student, digest, version, result):
        """Write a result, unless there is a final one."""
        row = [student, digest, version, json.dumps(result.plain()), result.fault is not None]
        with kept_on_disk(self.folder):
            self.file.execute(
                "INSERT INTO results VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET result = excluded.result, open = excluded.open WHERE results.open",
                row,
            )

    def results(self, version):
        """Return the result of each student's latest hand-in.

        Parameters
        ----------
        version : str or None

        Returns
        -------
        dict of str to (Result or None)
            Student to result, in alphabetical order; None for a student without a result.

        Raises
        ------
        GradingFault
            If a stored value is not a result.
        """
        rows = self.file.execute(
            "SELECT students.student, result FROM students LEFT JOIN results"
            " ON results.student = students.student AND results.digest = students.digest AND version = ?"
            " ORDER BY students.student",
            [version],
        )
        try:
            return {student: text and Result.from_plain(json.loads(text)) for student, text in rows}
        except NotAResult as error:
            raise GradingFault(f"{self.folder / FILE} is damaged: {error}") from error

    def attempts(self, version):
        """Return all results of each student, in the order of grading: of earlier hand-ins and the latest.

        Parameters
        ----------
        version : str or None
            None for all versions.

        Returns
        -------
        dict of str to list of Result
        """
        found = {}
        query = "SELECT student, result FROM results WHERE ?1 IN (version, '') ORDER BY student, rowid"
        for student, text in self.file.execute(query, [version or ""]):
            found.setdefault(student, []).append(Result.from_plain(json.loads(text)))
        return found

    @contextmanager
    def _transaction(self):
        """Write all changes of a block, or none."""
        with kept_on_disk(self.folder):
            self.file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.file.execute("COMMIT")
            except BaseException:
                if self.file.in_transaction:
                    self.file.execute("ROLLBACK")
                raise


def _doubt(student, others):
    """Ask whether a student is another one with a platform's number, and say what to do."""
    return (
        f"{student}: is this {' or '.join(others)}? Then give its folder that name; if it is somebody else, "
        "a name that differs."
    )


@contextmanager
def kept_on_disk(folder):
    """Turn an error of SQLite or the disk into a fault."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GradingFault(f"the marks cannot be stored in {folder}: {reason}. {KEPT_LATER}") from error
