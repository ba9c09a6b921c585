"""What a class has handed in: a folder a student, or a file a student, or a zip that holds either.

Holds `unpacked`, which opens a zip; `handed_in`, a notebook for each student; and `left_out`, what is
nobody's. Leaves out reading a notebook (``classroom.submission``).
Not taught in a chapter: it belongs to the classroom.
"""

import os
import re
import stat
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from classroom.faults import GradingFault, Refused
from classroom.submission import BYTES
from course.curriculum import exercises_name

SYSTEM = ("__MACOSX", "Thumbs.db", "desktop.ini")  # what a system leaves in folders and zips
NUMBERED = re.compile(r"(.+?)(?:_LATE)?_(\d+)_\d{3,}")  # Canvas: a number of the student, one of the hand-in
MOST, UNPACKED = 20_000, 2**31  # entries of a zip, and bytes of what is read of it


def handed_in(folder, chapter):
    """Return what each student has handed in.

    Parameters
    ----------
    folder : Path
        One folder a student, and in it ``04_closures_exercises.ipynb``, perhaps in a folder
        ``04_closures``, or any one notebook. Or one notebook a student, whose name begins with the student's:
        a learning platform exports ``adaking_1234_5678_04_closures_exercises.ipynb``, or
        ``adaking_LATE_1234_6789_04_closures_exercises.ipynb``. The older name, without ``_exercises``, does
        as well where the newer is not there.
    chapter : str
        Its stem: ``"04_closures"``.

    Yields
    ------
    student : str
        The folder's name; of a file the part before the chapter's, without the number that another hand-in
        changes: ``adaking_1234`` of both.
    what : Path, Refused or GradingFault
        The notebook; or why there is none.
    """
    of_student = {}
    for student, place in places(folder, chapter):
        of_student.setdefault(student, []).append(place)
    for student, found in of_student.items():
        try:
            if len(found) > 1:
                names = " and ".join(_shown(place) for place in found)
                raise Refused(f"{names} have the same student's name; leave one of them there.")
            is_folder = found[0].is_symlink() or found[0].is_dir()
            yield student, _notebook(found[0], chapter) if is_folder else found[0]
        except Refused as refused:
            yield student, refused
        except OSError as error:
            why = error.strerror or error
            yield student, GradingFault(f"not graded, because the folder cannot be read: {why}.")


def places(folder, chapter):
    """Return what in a folder is whose, in alphabetical order.

    Parameters
    ----------
    folder : Path
    chapter : str

    Returns
    -------
    list of (str, Path)
        Student, and the folder or file.
    """
    named = [(_student(place, chapter), place) for place in sorted(folder.iterdir())]
    return [(student, place) for student, place in named if student]


def left_out(folder, chapter):
    """Return what lies beside the students' folders and is nobody's, each with the reason.

    Parameters
    ----------
    folder : Path
    chapter : str

    Returns
    -------
    list of str
    """
    found = []
    for place in sorted(folder.iterdir()):
        if not _student(place, chapter) and not place.name.startswith(SYSTEM):
            found.append(f"{_shown(place)}: {_why_left_out(place, chapter)}")
        elif place.is_dir() and not place.is_symlink():
            with suppress(OSError):  # its row says so
                found += _beside(place, chapter)
    return found


def _names(chapter):
    """Return what the notebook that is handed in may be called: its name, and the one that it had before."""
    return f"{exercises_name(chapter)}.ipynb", f"{chapter}.ipynb"


def _beside(place, chapter):
    """Return the notebooks beside one of the expected name, which is graded; each with the reason."""
    name = next((name for name in _names(chapter) if (place / name).is_file()), None)
    if name is None:
        return []
    others = sorted(path for path in place.glob("*.ipynb") if path.name != name)
    why = f"{name} is there, and is what counts; if this one is newer, delete that one"
    return [f"{_shown(place)}/{_shown(path)}: {why}" for path in others]


@contextmanager
def unpacked(path):
    """Give the folder of submissions: the path itself, or what the notebooks of a zip are unpacked into.

    Parameters
    ----------
    path : Path

    Raises
    ------
    GradingFault
        If there is neither, or the zip cannot be read.
    """
    if path.is_dir():
        yield path
        return
    if not zipfile.is_zipfile(path):
        raise GradingFault(f"there is no folder {path}, and no zip.")
    with TemporaryDirectory(prefix="handed-in-") as temporary:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(temporary))
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, ValueError) as error:
            raise GradingFault(f"{path} cannot be read: {error}.") from error
        inside = [place for place in Path(temporary).iterdir() if not place.name.startswith(SYSTEM)]
        alone = inside[0] if len(inside) == 1 and inside[0].is_dir() else None
        # a folder around all the others is not a student's
        around = alone and not any(place.suffix == ".ipynb" for place in alone.iterdir())
        around = around and any(place.is_dir() for place in alone.iterdir())
        yield alone if around else Path(temporary)


def _unpack(archive, folder):
    """Write the notebooks of a zip, each under its own name inside the folder; nothing else is written."""
    entries = archive.infolist()
    if len(entries) > MOST:
        raise GradingFault(f"the zip holds {len(entries):,} files; at most {MOST:,} are read.")
    left = UNPACKED
    for entry in entries:
        parts = PurePosixPath(entry.filename.replace("\\", "/").lstrip("/")).parts
        if not parts or any(part.startswith((".", SYSTEM[0])) for part in parts):  # ".." among them
            continue
        place = folder.joinpath(*parts)
        if entry.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        # careful: what the zip says of a size is not believed; what is too large is refused where it is read
        with archive.open(entry) as packed:
            data = packed.read(BYTES + 1) if place.suffix.lower() == ".ipynb" else b""
        if (left := left - len(data)) < 0:
            raise GradingFault(f"the zip holds more than {UNPACKED >> 30} GB of notebooks.")
        place.write_bytes(data)


def _student(place, chapter):
    """Return whose a folder or file is; nothing for what is nobody's."""
    if place.name.startswith((".", *SYSTEM)):
        return ""
    if place.is_symlink() or place.is_dir():
        return _shown(place)
    if place.suffix != ".ipynb":
        return ""
    before, _, after = place.stem.rpartition(chapter)
    before = before.strip("_- ")
    if numbered := NUMBERED.fullmatch(before):
        before = f"{numbered[1]}_{numbered[2]}"
    return before if re.fullmatch(r"(_exercises)?(-\d+| ?\(\d+\)|-Copy\d+)?", after) else ""


def _why_left_out(place, chapter):
    """Return why something is nobody's."""
    if place.is_dir():
        return "its name begins with a point"
    if place.suffix == ".ipynb":
        return f"it lies in no student's folder, and its name is not like NAME_{_names(chapter)[0]}"
    if zipfile.is_zipfile(place):
        return "a zip beside the folders is not opened: unpack it, or give the zip alone"
    return "a file beside the folders"


def _what_else(place, chapter):
    """Return what a folder without a notebook holds instead, and what to do; nothing if it holds nothing."""
    zipped = ""
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in _names(chapter):
            if name in names:
                return f": {name} lies deeper inside; hand in the file alone"
        zips = sorted(name for name in names if name.lower().endswith(".zip"))
        if zips and not zipped:
            zipped = f": {_shown(Path(folder, zips[0]))} is not opened; hand in the notebook itself"
    return zipped


def _shown(place):
    """Return a name as text; bytes that are none are written out."""
    return os.fsencode(place.name).decode("utf-8", "backslashreplace")


def _notebook(place, chapter):
    """Return the notebook in a student's folder, or raise Refused."""
    inner = place / chapter
    for folder in (place, inner):
        if folder.is_symlink():
            raise Refused(f"the folder {folder.name} is a link to another place; hand in the folder itself.")
    for name in _names(chapter):
        named = [path for path in (place / name, inner / name) if os.path.lexists(path)]
        if len(named) > 1:
            raise Refused(f"there are two notebooks, {name} and {chapter}/{name}; hand in one of them.")
        if named:
            break
    found = named or [
        path
        for folder in (place, inner)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.suffix.lower() == ".ipynb" and not path.name.startswith(".")
    ]
    if not found:
        raise Refused(f"there is no notebook in the folder{_what_else(place, chapter)}.")
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:5]) + (", ..." if len(found) > 5 else "")
        wanted = _names(chapter)[0]
        raise Refused(f"there are {len(found)} notebooks, and none of them is called {wanted}: {names}.")
    mode = found[0].lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):  # a link is refused by who reads the file
        raise Refused(f"{found[0].name} is not a file.")
    return found[0]
