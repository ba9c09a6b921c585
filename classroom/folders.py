"""The submissions of a class: one folder or file per student, or a zip of these.

Holds `unpacked`, which opens a zip; `handed_in`, which finds each student's notebook; and `left_out`, which
lists files that belong to no student. ``classroom.submission`` reads the notebooks.
"""

import errno
import os
import re
import stat
import zipfile
from collections import Counter
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from unicodedata import normalize

from classroom.faults import GradingFault, Refused
from classroom.outputs import BYTES
from course.curriculum import CHAPTERS, exercises_name

SYSTEM = ("__MACOSX", "Thumbs.db", "desktop.ini")  # files of the operating system in folders and zips
NUMBERED = re.compile(r"(.+?)(?:_LATE)?_(\d+)_\d{4,}")  # Canvas: the student's number, the hand-in's
ATTEMPT = r"_attempt_\d{4}(?:-\d\d){5}"  # Blackboard
DATED = re.compile(rf"(?<=.)(?:{ATTEMPT}| - [^-]*\b20\d\d \d{{3,4}}(?: [AP]M)?)$")  # or Brightspace
PLATFORM = re.compile(  # what precedes the name that a file had: Canvas, Moodle, Blackboard
    rf"({NUMBERED.pattern}(?=_)|.+?_assignsubmission_(?:file|onlinetext)(?=_)|.+?{ATTEMPT})"
)
COPY = re.compile(  # Google Drive, Windows, Jupyter
    r"(?:(?:Copy of|Kopie von|Copie de|Copia de)[ _]+)+"
    r"|(?: - (?:Copy|Kopie|Copie|Copia)(?: \(\d+\))?|-Copy\d+)$"
)
OURS = {"guesses", *(name for c in CHAPTERS for name in (c.stem, exercises_name(c.stem)))}  # in any hand-in
TABLES = (".csv", ".tsv", ".xlsx", ".ods")  # the teacher's own, beside the hand-ins
MOST, UNPACKED = 20_000, 2**31  # limits of a zip: its entries, and the bytes read from it
LONGEST = 255  # bytes of a file's name


def handed_in(folder, chapter):
    """Yield each student's notebook, or the reason why there is none.

    Parameters
    ----------
    folder : Path
        Either one folder per student, with ``04_closures_exercises.ipynb`` in it or in its subfolder
        ``04_closures``, or with any single notebook. Or one notebook per student, whose name begins with the
        student's: a learning platform exports ``adaking_1234_5678_04_closures_exercises.ipynb``, or
        ``adaking_LATE_1234_6789_04_closures_exercises.ipynb``. The older name, without ``_exercises``, is
        accepted if there is no file with the newer one. Without any folder, ``dora.ipynb`` is Dora's. A file
        of another kind is a student's, too, if the chapter's name or a platform's numbers follow the
        student's.
    chapter : str
        Its stem: ``"04_closures"``.

    Yields
    ------
    student : str
        The folder's name; for a file, the part before the chapter's name, without the number of the hand-in:
        ``adaking_1234`` for both. The date of a hand-in is left out, too; letters are in Unicode's form NFC.
    what : Path, Refused or GradingFault
        The notebook, or the reason why there is none.
    """
    for student, found in _kept(folder, chapter).items():
        try:
            if len(found) > 1:
                names = " and ".join(_shown(place) for place in found)
                raise Refused(f"{names} belong to the same student; keep only one of them.")
            yield student, _notebook(found[0], chapter)
        except Refused as refused:
            yield student, refused
        except OSError as error:
            why = error.strerror or error
            yield student, GradingFault(f"not graded, because the folder cannot be read: {why}.")


def _kept(folder, chapter):
    """Map each student to the folders and files with a notebook, or to the first if none has one."""
    of_student = {}
    for student, place in places(folder, chapter):
        of_student.setdefault(student, []).append((_rank(place, chapter), place))
    for student, found in of_student.items():
        best = min(rank for rank, _ in found)
        kept = [place for rank, place in found if rank == best]
        of_student[student] = kept[:1] if best >= 2 else kept
    return of_student


def _rank(place, chapter):
    """Return 0 for a notebook or its folder, 1 for an odd name, 2 for anything else, 3 for a platform's."""
    if place.is_symlink() or place.is_dir():
        with suppress(OSError, Refused):  # reported in the student's row
            return 0 if _notebooks(place, chapter) else 2 + _is_platforms(place)
        return 0
    if place.suffix.lower() != ".ipynb":
        return 2 + _is_platforms(place)
    after = place.stem.rpartition(chapter)[2]
    return 0 if re.fullmatch(r"(_exercises)?(-\d+| ?\(\d+\)|-Copy\d+)?", after) else 1


def _is_platforms(place):
    """Report whether a folder or file is what a platform puts beside a student's: a text, its own list."""
    return "_onlinetext" in place.name or (place.suffix == ".txt" and bool(DATED.search(place.stem)))


def places(folder, chapter):
    """List the folders and files that belong to a student, in alphabetical order.

    Parameters
    ----------
    folder : Path
    chapter : str

    Returns
    -------
    list of (str, Path)
        Each student with the folder or file.
    """
    found = [place for place in sorted(folder.iterdir()) if not _shown(place).startswith((".", *SYSTEM))]
    flat = not any(place.is_dir() for place in found)
    named = [(_student(place, chapter, flat), place) for place in found]
    named = [(student, place) for student, place in named if student]
    alike = Counter(_unnumbered(place.name) for _, place in named)
    for number, (student, place) in enumerate(named):
        found = NUMBERED.fullmatch(student)
        # files that differ in this number alone are those of several students: s_2024_1001, s_2024_1002
        if found and place.is_file() and alike[_unnumbered(place.name)] == 1:
            named[number] = f"{found[1]}_{found[2]}", place
    return named


def namesakes(students):
    """Map each name without a platform's number to the students who have it with a number, if there are any.

    Parameters
    ----------
    students : collection of str

    Examples
    --------
    >>> namesakes({"Fatima Khan", "Fatima Khan_22_assignsubmission_file_", "Ben"})
    {'Fatima Khan': ['Fatima Khan_22_assignsubmission_file_']}
    """
    of_name = {}
    for student in sorted(students):
        if (name := person(student)) != student:
            of_name.setdefault(name.casefold(), []).append(student)
    return {
        student: of_name[student.casefold()]
        for student in students
        if student.casefold() in of_name and person(student) == student
    }


def person(student):
    """Return a student's name without what a platform adds.

    Examples
    --------
    >>> person("Wei Chen_2203422_assignsubmission_file_"), person("adaking_1234"), person("s_7")
    ('Wei Chen', 'adaking', 's_7')
    """
    return re.sub(r"_(\d+_assignsubmission_file_?|\d{4,})$", "", student)


def own_name(place):
    """Return the name that a student gave a file, without what a platform puts before it."""
    platform = PLATFORM.match(name := _shown(place))
    return name[platform.end() :].lstrip("_") if platform else name


def shown_names(students):
    """Map each student to the name that a page for students shows: without a number, if that is enough.

    Parameters
    ----------
    students : collection of str

    Examples
    --------
    >>> shown_names(["Wei Chen_22_assignsubmission_file_", "Jo_1_assignsubmission_file_", "Jo"]).values()
    dict_values(['Wei Chen', 'Jo_1', 'Jo'])
    """
    several = Counter(person(student).casefold() for student in students)
    return {
        student: name
        if several[(name := person(student)).casefold()] == 1
        else student.partition("_assign")[0]
        for student in students
    }


def suggested(name, students):
    """Return a question that names the students who may be meant by a name; "" if there are none."""
    fits = sorted(student for student in students if person(student).casefold() == name.casefold())
    return f"; is it {' or '.join(map(repr, fits))}?" if fits else ""


def _unnumbered(name):
    """Return a file's name without the number of the hand-in."""
    return re.sub(r"_(\d+)_\d{4,}(?=_)", r"_\1", name, count=1)


def left_out(folder, chapter):
    """List the folders and files that belong to no student, each with the reason.

    Parameters
    ----------
    folder : Path
    chapter : str

    Returns
    -------
    list of str
    """
    found, kept = [], _kept(folder, chapter)
    students = {place: student for student, place in places(folder, chapter)}
    for place in sorted(folder.iterdir()):
        counts = kept.get(students.get(place), [])
        if place not in students and not place.name.startswith(SYSTEM):
            found.append(f"{_shown(place)}: {_why_left_out(place, chapter)}")
        elif counts and place not in counts:
            if not _is_platforms(place):
                found.append(f"{_shown(place)}: {_shown(counts[0])} is taken instead")
        elif place.is_dir() and not place.is_symlink():
            with suppress(OSError):  # reported in the student's row
                found += _beside(place, chapter)
    return found


def _names(chapter):
    """Return the accepted names of the notebook: the current one and the older one."""
    return f"{exercises_name(chapter)}.ipynb", f"{chapter}.ipynb"


def _beside(place, chapter):
    """List the other notebooks in a student's folder, each with the reason why it is not graded."""
    name = next((name for name in _names(chapter) if (place / name).is_file()), None)
    if name is None:
        return []
    others = sorted(path for path in place.glob("*.ipynb") if path.name != name)
    why = f"{name} is graded instead; if this one is newer, delete {name}"
    return [f"{_shown(place)}/{_shown(path)}: {why}" for path in others]


@contextmanager
def unpacked(path, suffix=".ipynb"):
    """Provide the folder of submissions: the path itself, or a temporary folder with a zip's files.

    Parameters
    ----------
    path : Path
    suffix : str
        Of the files to unpack; all others are empty.

    Yields
    ------
    folder : Path
    damaged : dict of Path to str
        Why an entry of the zip cannot be unpacked; its file is empty or, if its name is not allowed, missing.

    Raises
    ------
    GradingFault
        If the path is neither a folder nor a zip, or the zip cannot be read.
    """
    if path.is_dir():
        yield path, {}
        return
    if not zipfile.is_zipfile(path):
        raise GradingFault(f"there is no folder or zip file {path}.")
    with TemporaryDirectory(prefix="handed-in-") as temporary:
        try:
            with zipfile.ZipFile(path) as archive:
                damaged = _unpack(archive, Path(temporary), suffix)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise GradingFault(f"{path} cannot be read: {error}.") from error
        inside = [place for place in Path(temporary).iterdir() if not place.name.startswith(SYSTEM)]
        alone = inside[0] if len(inside) == 1 and inside[0].is_dir() else None
        yield alone if alone and _is_around(alone, suffix) else Path(temporary), damaged


def _is_around(folder, suffix):
    """Report whether a zip's only folder has a class in it, and does not belong to one student."""
    inside = list(folder.iterdir())
    stems = [place.stem for place in inside if place.suffix == suffix]
    return not OURS.intersection(stems) if len(stems) > 1 else not stems and any(map(Path.is_dir, inside))


def _unpack(archive, folder, suffix):
    """Write a zip's files with the suffix into the folder, and nothing outside it; others become empty.

    Return the reason for each entry that cannot be unpacked.
    """
    damaged, entries = {}, archive.infolist()
    if len(entries) > MOST:
        raise GradingFault(f"the zip has {len(entries):,} files, and the limit is {MOST:,}.")
    left = UNPACKED
    # files with the suffix come first, in case another one has the name of a folder
    for entry in sorted(entries, key=lambda entry: not _name(entry).lower().endswith(suffix)):
        parts = PurePosixPath(_name(entry).replace("\\", "/").lstrip("/")).parts
        if not parts or any(part.startswith((".", SYSTEM[0])) for part in parts):  # ".." among them
            continue
        place = folder.joinpath(*map(_fitting, parts))
        data, why = b"", None
        if place.suffix.lower() == suffix and not entry.is_dir():
            try:
                # careful: the sizes in a zip may be wrong; a file that is too large is refused when read
                with archive.open(entry) as packed:
                    data = packed.read(BYTES + 1)
            except Exception as error:  # of the zip, or of any kind of compression
                why = str(error) or type(error).__name__
        if (left := left - len(data)) < 0:
            raise GradingFault(f"the zip has more than {UNPACKED >> 30} GB of {suffix} files.")
        try:
            (place if entry.is_dir() else place.parent).mkdir(parents=True, exist_ok=True)
            if not entry.is_dir():
                place.write_bytes(data)
        except OSError as error:  # the name is too long, or that of another entry
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            why = error.strerror
        if why:
            damaged[place] = (
                f"{_name(entry):.100} in the zip cannot be unpacked: {why}; ask the student for the file, "
                "or export the zip again."
            )
    return damaged


def _fitting(name):
    """Return a name, or the beginning and the end of one that is too long for a file."""
    data = os.fsencode(name)
    if len(data) <= LONGEST:
        return name
    begin, end = data[:120].decode("utf-8", "ignore"), data[-80:].decode("utf-8", "ignore")
    return f"{begin}-{sha256(data).hexdigest()[:8]}-{end}"


def _name(entry):
    """Return the name of a zip's entry; macOS writes UTF-8 without its flag."""
    if not entry.flag_bits & 0x800:
        with suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def _student(place, chapter, flat):
    """Return the student to whom a folder or file belongs, with a file's numbers; "" if there is none."""
    name = _shown(place)
    if place.is_symlink() or place.is_dir():
        name = COPY.sub("", name, count=1)
    else:
        platform = PLATFORM.match(name)
        alone = flat and place.suffix.lower() == ".ipynb" and place.stem not in OURS
        if platform or chapter in name:
            name = platform[1] if platform else name.rpartition(chapter)[0]
        else:
            name = _shown(Path(place.stem)) if alone else ""
        name = "" if place.suffix.lower() in TABLES else COPY.sub("", name, count=1).strip("_- ")
    name = name.replace("_assignsubmission_onlinetext", "_assignsubmission_file")  # Moodle: beside the files
    return normalize("NFC", DATED.sub("", name))


def _why_left_out(place, chapter):
    """Explain why a folder or file belongs to no student."""
    if place.is_dir():
        return "its name begins with a dot"
    if place.suffix.lower() == ".ipynb":
        return f"it is not in a student's folder, and its name is not like NAME_{_names(chapter)[0]}"
    if place.suffix.lower() == ".zip":
        return "a zip beside the folders is not opened: unpack it, or grade the zip by itself"
    return "a file beside the folders"


def _what_else(place, chapter):
    """Describe what a folder has instead of a notebook, and what to do."""
    found = []
    for _, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if not name.startswith((".", SYSTEM[0])))
        found += sorted(name for name in names if not name.startswith((".", *SYSTEM)))
    for suffix in (".ipynb", ".zip", ".ipynb.txt", ".json", ""):  # the one most like a notebook
        for name in found:
            if name.lower().endswith(suffix):
                return _instead(Path(name), chapter)
    return f"nothing was handed in; hand in {_names(chapter)[0]}"


def _instead(place, chapter):
    """Describe a file that came instead of a notebook, and what to do."""
    name, wanted = _shown(place), _names(chapter)[0]
    lower = name.lower()
    if lower.endswith(".ipynb"):
        return f"{name} is in a subfolder; hand in the file alone"
    if lower.endswith(".zip"):
        return f"{name} was handed in, and is not opened; hand in {wanted} itself"
    if lower.endswith((".ipynb.txt", ".json")):
        return f"{name} has another ending; rename it to {wanted}, and hand that in"
    return f"{name} is not a notebook; hand in {wanted}"


def _shown(place):
    """Return a file's name as text, with undecodable bytes escaped."""
    return os.fsencode(place.name).decode("utf-8", "backslashreplace")


def _notebook(place, chapter):
    """Return the notebook that a student's folder or file is, or raise Refused."""
    if not (place.is_symlink() or place.is_dir()):
        if place.suffix.lower() == ".ipynb":
            return place
        raise Refused(f"there is no notebook: {_instead(place, chapter)}.")
    found = _notebooks(place, chapter)
    if not found:
        raise Refused(f"there is no notebook: {_what_else(place, chapter)}.")
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:5]) + (", ..." if len(found) > 5 else "")
        wanted = _names(chapter)[0]
        raise Refused(f"there are {len(found)} notebooks, but none is called {wanted}: {names}.")
    mode = found[0].lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):  # `read_file` refuses a link
        raise Refused(f"{found[0].name} is not a file.")
    return found[0]


def _notebooks(place, chapter):
    """List the notebooks in a student's folder, or only the one with the accepted name; refuse a link."""
    inner = place / chapter
    for folder in (place, inner):
        if folder.is_symlink():
            raise Refused(f"the folder {folder.name} is a link; hand in the folder itself.")
    for name in _names(chapter):
        named = [path for path in (place / name, inner / name) if os.path.lexists(path)]
        if len(named) > 1:
            raise Refused(f"there are two notebooks, {name} and {chapter}/{name}; hand in one of them.")
        if named:
            break
    return named or [
        path
        for folder in (place, inner)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix.lower() == ".ipynb" and not path.name.startswith(".")
    ]
