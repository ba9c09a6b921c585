"""The work folder, which holds the learner's own files, and atomic writing of a file.

It stores the learner's progress (``course.checks.record``) and library (``course.kept.keep``), and copies
(``authoring.work``).
"""

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VARIABLE = "MINIGRAD_WORK"
DRIVE = Path("/drive")


def folder():
    """Return the folder of the learner's own files, or None if storing is off.

    Returns
    -------
    Path or None
        The environment variable MINIGRAD_WORK, if set; if it is empty, storing is off. Otherwise ``work`` in
        the project, or in a browser the drive of JupyterLite.
    """
    named = os.environ.get(VARIABLE)
    if named is None and sys.platform == "emscripten":
        return DRIVE
    if named is None:
        home = PROJECT if (PROJECT / "pyproject.toml").exists() else Path.home() / "minigrad-course"
        return home / "work"
    return Path(named).expanduser().resolve() if named else None


def write(path, content):
    """Write a file atomically: under a temporary name first, then renamed.

    Parameters
    ----------
    path : Path
        Its parent folders are created.
    content : str or bytes
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        passing.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(passing, path)
    finally:
        passing.unlink(missing_ok=True)
