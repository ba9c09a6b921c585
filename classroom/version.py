"""The grader's version: a hash of everything that affects a mark, so that old and new marks are not mixed.

Holds `version`, and its two steps: `fingerprint`, of the files, and `version_of`.
"""

import ast
from hashlib import sha256
from pathlib import Path

from classroom.limits import SECONDS
from course import store

# The modules between a submission's bytes and its result; those that store or show marks do not count.
GRADER = "grade unanswered submission sandbox remote wire child stand_ins edition result clock limits".split()


def version(chapter, unsafe=False, seconds=SECONDS):
    """Return a hash of everything that affects a mark: checks, grader, library, level and limits.

    Parameters
    ----------
    chapter : str
    unsafe : bool
    seconds : float
        Time limit for one call of an answer.

    Returns
    -------
    str
    """
    return version_of(fingerprint(chapter), unsafe, seconds)


def version_of(files, unsafe, seconds):
    """Combine the fingerprint of files, the level and the limits into a version."""
    return sha256(f"{files} {'unsafe' if unsafe else 'sandbox'} {seconds:g}".encode()).hexdigest()


def fingerprint(chapter):
    """Return a hash of the files that affect a mark: a chapter's checks, the grader, the library.

    Parameters
    ----------
    chapter : str

    Returns
    -------
    str

    Notes
    -----
    Of the course's files, it covers the chapter's checks and their imports.
    """
    project = Path(store.__file__).parents[1]
    files = {*project.glob("minigrad/**/*.py"), *project.glob("course/term.txt")}
    waiting = [project / f"classroom/{name}.py" for name in GRADER]
    waiting += [project / f"course/checks/{name}.py" for name in ("exercise", f"ch{chapter}")]
    while waiting:
        path = waiting.pop()
        if path.is_file() and path not in files:
            files.add(path)
            waiting += _imports(path, project)
    whole = sha256()
    for path in sorted(files):
        whole.update(f"{path.relative_to(project).as_posix()} ".encode() + sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _imports(path, project):
    """Yield the course's files that a file may import: ``from course.checks import questions``."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{name}" for name in names)]
        for name in names:
            if name.startswith("course."):
                yield project.joinpath(*name.split(".")).with_suffix(".py")
