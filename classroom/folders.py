"""The submissions of a class: one folder or file per student, or a zip of these.

Holds `unpacked`, which opens a zip; `handed_in`, which finds each student's notebook; and `left_out`, which
lists files that belong to no student. ``classroom.submission`` reads the notebooks.
"""

import os
import re
import stat
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from classroom.faults import GradingFault, Refused
from classroom.outputs import BYTES
from course.curriculum import exercises_name

SYSTEM = ("__MACOSX", "Thumbs.db", "desktop.ini")  # files of the operating system in folders and zips
NUMBERED = re.compile(r"(.+?)(?:_LATE)?_(\d+)_\d{3,}")  # Canvas: the student's number, the hand-in's
MOST, UNPACKED = 20_000, 2**31  # limits of a zip: its entries, and the bytes read from it


def handed_in(folder, chapter):
    """Yield each student's notebook, or the reason why there is none.

    Parameters
    ----------
    folder : Path
        Either one folder per student, with ``04_closures_exercises.ipynb`` in it or in its subfolder
        ``04_closures``, or with any single notebook. Or one notebook per student, whose name begins with the
        student's: a learning platform exports ``adaking_1234_5678_04_closures_exercises.ipynb``, or
        ``adaking_LATE_1234_6789_04_closures_exercises.ipynb``. The older name, without ``_exercises``, is
        accepted if there is no file with the newer one.
    chapter : str
        Its stem: ``"04_closures"``.

    Yields
    ------
    student : str
        The folder's name; for a file, the part before the chapter's name, without the number of the hand-in:
        ``adaking_1234`` for both.
    what : Path, Refused or GradingFault
        The notebook, or the reason why there is none.
    """
    of_student = {}
    for student, place in places(folder, chapter):
        of_student.setdefault(student, []).append(place)
    for student, found in of_student.items():
        try:
            if len(found) > 1:
                names = " and ".join(_shown(place) for place in found)
                raise Refused(f"{names} belong to the same student; keep only one of them.")
            is_folder = found[0].is_symlink() or found[0].is_dir()
            yield student, _notebook(found[0], chapter) if is_folder else found[0]
        except Refused as refused:
            yield student, refused
        except OSError as error:
            why = error.strerror or error
            yield student, GradingFault(f"not graded, because the folder cannot be read: {why}.")


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
    named = [(_student(place, chapter), place) for place in sorted(folder.iterdir())]
    return [(student, place) for student, place in named if student]


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
    found = []
    for place in sorted(folder.iterdir()):
        if not _student(place, chapter) and not place.name.startswith(SYSTEM):
            found.append(f"{_shown(place)}: {_why_left_out(place, chapter)}")
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

    Raises
    ------
    GradingFault
        If the path is neither a folder nor a zip, or the zip cannot be read.
    """
    if path.is_dir():
        yield path
        return
    if not zipfile.is_zipfile(path):
        raise GradingFault(f"there is no folder or zip file {path}.")
    with TemporaryDirectory(prefix="handed-in-") as temporary:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(temporary), suffix)
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, ValueError) as error:
            raise GradingFault(f"{path} cannot be read: {error}.") from error
        inside = [place for place in Path(temporary).iterdir() if not place.name.startswith(SYSTEM)]
        alone = inside[0] if len(inside) == 1 and inside[0].is_dir() else None
        # a single folder around all others does not belong to a student
        around = alone and not any(place.suffix == suffix for place in alone.iterdir())
        around = around and any(place.is_dir() for place in alone.iterdir())
        yield alone if around else Path(temporary)


def _unpack(archive, folder, suffix):
    """Write a zip's files with the suffix into the folder, and nothing outside it; others become empty."""
    entries = archive.infolist()
    if len(entries) > MOST:
        raise GradingFault(f"the zip has {len(entries):,} files, and the limit is {MOST:,}.")
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
        # careful: the sizes given in a zip may be wrong; a file that is too large is refused when read
        with archive.open(entry) as packed:
            data = packed.read(BYTES + 1) if place.suffix.lower() == suffix else b""
        if (left := left - len(data)) < 0:
            raise GradingFault(f"the zip has more than {UNPACKED >> 30} GB of {suffix} files.")
        place.write_bytes(data)


def _student(place, chapter):
    """Return the student to whom a folder or file belongs; "" if there is none."""
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
    """Explain why a folder or file belongs to no student."""
    if place.is_dir():
        return "its name begins with a dot"
    if place.suffix == ".ipynb":
        return f"it is not in a student's folder, and its name is not like NAME_{_names(chapter)[0]}"
    if zipfile.is_zipfile(place):
        return "a zip beside the folders is not opened: unpack it, or grade the zip by itself"
    return "a file beside the folders"


def _what_else(place, chapter):
    """Describe what a folder has instead of a notebook, and what to do; "" if it is empty."""
    zipped = ""
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in _names(chapter):
            if name in names:
                return f": {name} is in a subfolder; hand in the file alone"
        zips = sorted(name for name in names if name.lower().endswith(".zip"))
        if zips and not zipped:
            zipped = f": {_shown(Path(folder, zips[0]))} is not opened; hand in the notebook itself"
    return zipped


def _shown(place):
    """Return a file's name as text, with undecodable bytes escaped."""
    return os.fsencode(place.name).decode("utf-8", "backslashreplace")


def _notebook(place, chapter):
    """Return the notebook in a student's folder, or raise Refused."""
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
        raise Refused(f"there are {len(found)} notebooks, but none is called {wanted}: {names}.")
    mode = found[0].lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):  # `read_file` refuses a link
        raise Refused(f"{found[0].name} is not a file.")
    return found[0]
