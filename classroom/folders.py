"""What a class has handed in: a folder a student, and in it a notebook.

Holds `handed_in`. Leaves out reading a notebook (``classroom.submission``).
Not taught in a chapter: it belongs to the classroom.
"""

import os
import stat

from classroom.faults import GradingFault, Refused


def handed_in(folder, chapter):
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
