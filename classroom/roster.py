"""The table of a class as a platform exports it, with points filled in: what Canvas and Moodle import.

Holds `Roster`. It may be the gradebook of Canvas or Moodle, Moodle's grading worksheet, or a teacher's own
table. All other cells, the columns and their order stay as they are.
"""

import csv
import io
import re
from contextlib import suppress
from unicodedata import normalize

from classroom.faults import GradingFault
from classroom.tables import read_lines

NAMES = ("student", "name", "fullname", "studentname")
FIRST, LAST = ("firstname",), ("lastname", "surname")
IDS = ("id", "idnumber", "identifier")  # the first of them is shown in a term's totals
OTHERS = ("sisuserid", "sisloginid", "integrationid", "emailaddress", "email", "username")
NOT_A_STUDENT = ("pointspossible", "studenttest", "teststudent")  # Canvas
NUMBERED = re.compile(r"(.+?)_(\d+)(?:_assignsubmission_file_?)?")  # a folder or file: Canvas, Moodle
NOT_POINTS = re.compile(r"\((Percentage|Letter|Feedback)\)$|^Feedback:")  # Moodle, beside "(Real)"


def plain(text):
    """Return the letters and digits of a text, without case and accents.

    Examples
    --------
    >>> plain("Zoë O'Neil"), plain("Points Possible")
    ('zoeoneil', 'pointspossible')
    """
    return "".join(one for one in normalize("NFKD", text).casefold() if one.isalnum())


class Roster:
    """The table of a class.

    Parameters
    ----------
    path : Path
        A CSV file with columns for each student's name or number, such as ``student``, ``Full name``,
        ``First name`` and ``Last name``, ``ID``, ``SIS Login ID``, or ``Email address``.

    Raises
    ------
    GradingFault
        If it has no such column.
    """

    def __init__(self, path):
        self.path = path
        self.lines, self.separator, self.mark = read_lines(path)
        self.head = [plain(name) for name in self.lines[0]] if self.lines else []
        if not set(self.head) & {*NAMES, *LAST, *IDS, *OTHERS}:
            raise GradingFault(
                f"{path.name} has no column for the students, such as student, Full name or ID."
            )
        # the number that Canvas and the worksheet put into a hand-in's name is in these tables
        is_canvas = self.head[:2] == ["student", "id"] and "section" in self.head
        self.numbers = ("identifier",) if "identifier" in self.head else ("id",) * is_canvas
        self.keys = {place: self._keys(line) for place, line in enumerate(self.lines) if place}
        self.students = [place for place, keys in self.keys.items() if keys and not keys & {*NOT_A_STUDENT}]

    def _cells(self, line, names):
        """Return the filled cells of a line in the columns with these names, in the order of the names."""
        found = dict(
            zip(reversed(self.head), map(str.strip, reversed(line)), strict=True)
        )  # the first counts
        return [found[name] for name in names if found.get(name)]

    def _keys(self, line):
        """Return what a student may be called in a line."""
        names = self._cells(line, NAMES)
        names += [" ".join(self._cells(line, FIRST) + self._cells(line, LAST))]
        parts = [re.split(r"\s*,\s*", name) if "," in name else name.rsplit(None, 1) for name in names]
        cells = [*names, *map(" ".join, map(reversed, parts)), *self._cells(line, IDS + OTHERS)]
        return {plain(text) for cell in cells for text in (cell, cell.partition("@")[0])} - {""}

    def name(self, place):
        """Return the name of the student in a line."""
        line = self.lines[place]
        whole = " ".join(self._cells(line, FIRST) + self._cells(line, LAST))
        return next(filter(None, [*self._cells(line, NAMES), whole, *self._cells(line, IDS + OTHERS)]))

    def number(self, place):
        """Return the platform's number of the student in a line, or ""."""
        return next(iter(self._cells(self.lines[place], IDS)), "")

    def match(self, handed_in):
        """Find the lines of students, by their names or numbers, which may be others in each chapter.

        Parameters
        ----------
        handed_in : dict of str to collection of str
            Chapter to folders' names, such as ``adaking``, ``kingada_1234`` or
            ``Ada King_123_assignsubmission_file_``.

        Returns
        -------
        found : dict of str to dict of str to int
            Chapter to student to the place of the line; without students that fit none, or more than one,
            and without a line that two students of one chapter fit.
        problems : list of str
            A sentence for each student who is left out.
        others : list of int
            The lines that no student fits.
        """
        found, of_line, problems, others = {}, {}, [], set(self.students)
        for chapter, students in handed_in.items():
            found[chapter] = {}
            for student in sorted(students):
                places = self._fits(student)
                others.difference_update(places)
                if len(places) == 1:
                    of_line.setdefault(places[0], []).append((chapter, student))
                else:
                    why = "fits more than one line of the roster" if places else "is not on the roster"
                    problems.append(f"{student} has handed in, but {why}.")
        for place, fits in of_line.items():
            if len(dict(fits)) < len(fits):
                names = " and ".join(dict.fromkeys(student for _, student in fits))
                problems.append(f"{names} fit one line of the roster: {self.name(place)}.")
            else:
                for chapter, student in fits:
                    found[chapter][student] = place
        return found, list(dict.fromkeys(problems)), sorted(others)

    def _fits(self, student):
        """Return the places of the lines that a student fits."""
        found = NUMBERED.fullmatch(student)
        places = [place for place in self.students if plain(student) in self.keys[place]]
        if found and not places:
            places = [place for place in self.students if plain(found[1]) in self.keys[place]]
            if self.numbers:
                ends = re.compile(rf"(?<!\d){found[2]}$")
                known = {place: self._cells(self.lines[place], self.numbers) for place in places}
                places = [place for place in places if any(map(ends.search, known[place]))]
        return places

    def filled(self, marks, out_of):
        """Return the table with the points of chapters.

        Parameters
        ----------
        marks : dict of str to dict of str to (float or None)
            Chapter to student to points. The cell of a student without points stays as it is.
        out_of : dict of str to int
            Chapter to its points.

        Returns
        -------
        text : str
        problems : list of str
            Students who are left out, and columns that are out of other points.
        absent : list of (str, str)
            Students on the roster without any hand-in, and their numbers.
        """
        places, problems, others = self.match(marks)
        lines, columns = [list(line) for line in self.lines], []
        for chapter, points in marks.items():
            column = self._column(chapter)
            if column is not None and column in columns:
                raise GradingFault(f"{self.path.name} has a single column, Grade: it is for one chapter.")
            columns.append(column)
            if column is None:
                self._add_column(lines, chapter, out_of[chapter])
                column = -1
            elif other := self._differs(column, out_of[chapter]):
                problems.append(
                    f"{self.path.name}: {self.lines[0][column]} is out of {other}, and {chapter} is out of "
                    f"{out_of[chapter]}: change it on the platform."
                )
            for student, number in points.items():
                if number is not None and student in places[chapter]:
                    lines[places[chapter][student]][column] = number
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.separator).writerows(lines)
        return self.mark + text.getvalue(), problems, [(self.name(p), self.number(p)) for p in others]

    def _column(self, chapter):
        """Return the place of a chapter's column, or None if there is none."""
        titles = self.lines[0]
        fits = [place for place, name in enumerate(self.head) if plain(chapter) in name]
        fits = [place for place in fits if not NOT_POINTS.search(titles[place])]
        if len(fits) > 1:
            several = " and ".join(titles[place] for place in fits)
            raise GradingFault(
                f"{self.path.name} has several columns for {chapter}: {several}; keep one of them."
            )
        if not fits and "identifier" in self.head and "grade" in self.head:
            return self.head.index("grade")  # of the worksheet
        return fits[0] if fits else None

    def _add_column(self, lines, chapter, out_of):
        """Add a chapter's column at the end."""
        lines[0].append(chapter)
        for place, line in enumerate(lines[1:], 1):
            line.append(out_of if "pointspossible" in self.keys[place] else "")

    def _differs(self, column, out_of):
        """Return the points that a column is out of, if they are known and others; else ""."""
        said = [
            line[column]
            for place, line in enumerate(self.lines)
            if "pointspossible" in self.keys.get(place, ())
        ]
        if "maximumgrade" in self.head and self.students:
            said.append(self.lines[self.students[0]][self.head.index("maximumgrade")])
        for text in said:
            with suppress(ValueError):
                if float(text.replace(",", ".")) != out_of:
                    return text.strip()
        return ""
