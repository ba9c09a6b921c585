"""The bundles of a course: one zip file for the students and one for the teacher.

Holds `make_student` and `make_teacher`. The students' bundle has the chapters without outputs, the exercises,
the library and the checks, but no answers; the teacher's has everything. ``classroom.bundle.leaks`` searches
the students' bundle for answers.
"""

import io
import re
import tomllib
import zipfile
from pathlib import Path

import nbformat

from authoring.notebooks import without_outputs
from authoring.work import PAGES
from classroom import edition
from classroom.bundle.leaks import leaks
from course import store
from course.checks.exercise import TERM

HERE = Path(__file__).parent
LEFT_OUT = (
    "work",
    "dist",
    "book/_build",
    "book/notebooks",
    "book/exercises",
    "book/reference",
    "tests/browser/node_modules",
)
TOLD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
MADE = (2000, 1, 1, 0, 0, 0)  # the time of every file, so that the same course gives the same bytes


class BundleError(Exception):
    """The reason why a bundle cannot be made."""


def make_student(out, term="", last=None, project=store.PROJECT):
    """Write the students' zip file.

    Parameters
    ----------
    out : Path
        The folder of the zip file.
    term : str
        The term's name: ``"2027-spring"``. The checks draw different data in each term.
    last : str, optional
        The last chapter, ``"08"``: later chapters are left out, with everything they add to the library.
    project : Path

    Returns
    -------
    Path

    Raises
    ------
    BundleError
        If the term or the chapter is not valid, or the bundle would contain an answer; nothing is written.
    """
    notebooks = [path for path in sorted(project.glob("notebooks/*.ipynb")) if _wanted(path, last)]
    if not notebooks or (last and not notebooks[-1].name.startswith(f"{last}_")):
        raise BundleError(f'there is no chapter {last!r}: give the number of the last one, such as "08".')
    exercises = [path for path in sorted(project.glob("exercises/*/*.ipynb")) if _wanted(path, last)]
    files = {_place(path, project): without_outputs(nbformat.read(path, 4)) for path in notebooks + exercises}
    for name in ("LICENSE", "LICENSE-text", "pyproject.toml", "requirements.lock"):
        files[name] = (project / name).read_bytes()
    for path in (path for name in PAGES for path in project.glob(f"book/{name}")):
        files[_place(path, project)] = path.read_bytes()
    for path in (path for folder in ("course", "authoring") for path in _files(project / folder)):
        place = _place(path, project)
        if not place.startswith("course/checks/ch") or _wanted(path, last):
            files[place] = path.read_bytes()
    files |= {f"minigrad/{place}": content for place, content in _library(last).items()}
    for name, place in (("student.md", "README.md"), ("student.mk", "Makefile")):
        files[place] = (HERE / name).read_bytes()
    if found := leaks(files, project):
        raise BundleError(f"no bundle was written, because it would contain answers: {'; '.join(found)}")
    return _write(out, "student", term, files, project)


def make_teacher(out, term="", project=store.PROJECT):
    """Write the teacher's zip file: the whole project, with answers, grader and guide.

    Parameters
    ----------
    out : Path
        The folder of the zip file.
    term : str
        The same as for the students' bundle.
    project : Path

    Returns
    -------
    Path

    Raises
    ------
    BundleError
        If the term is not valid.
    """
    paths = [path for path in _files(project) if not _place(path, project).startswith(LEFT_OUT)]
    files = {_place(path, project): path.read_bytes() for path in paths}
    return _write(out, "teacher", term, files, project)


def _wanted(path, last):
    """Report whether a file such as ``ch04_closures.py`` belongs to the last chapter or an earlier one."""
    return last is None or path.name.removeprefix("ch")[:2] <= last


def _library(last):
    """Return the files of the library, as built up to a chapter."""
    if last is not None:
        cut = edition.files(int(last))
        return {place: text.encode() if isinstance(text, str) else text for place, text in cut.items()}
    paths = _files(edition.LIBRARY)
    return {path.relative_to(edition.LIBRARY).as_posix(): path.read_bytes() for path in paths}


def _files(folder):
    """List the files in a folder, except hidden files and Python's caches."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and not any(part.startswith((".", "__pyc")) for part in path.relative_to(folder).parts)
    )


def _place(path, project):
    return path.relative_to(project).as_posix()


def _write(out, whose, term, files, project):
    """Write a complete zip file, and return its path."""
    if term and not TOLD.fullmatch(term):
        raise BundleError(
            f'a term must have letters, digits and "-_." only, such as 2027-spring; got {term!r}.'
        )
    version = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    name = "-".join(filter(None, ("minigrad-course", version, whose, term)))
    if term:
        files = files | {TERM.relative_to(store.PROJECT).as_posix(): f"{term}\n".encode()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{name}/{place}", MADE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    store.write(out / f"{name}.zip", packed.getvalue())
    return out / f"{name}.zip"
