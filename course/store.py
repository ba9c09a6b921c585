"""Where the learner's own things are kept, and how a file is written whole or not at all.

Holds `folder`, the work folder, and `write`, which replaces a file in one step. Leaves out what is stored
there: the record of what is done (``course.checks.record``), the learner's library (``course.keep``), copies
(``authoring.work``).
"""

import os
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VARIABLE = "MINIGRAD_WORK"
DRIVE = Path("/drive")


def folder():
    """Return the folder of the learner's own files, or None where storing is off.

    Returns
    -------
    Path or None
        ``work`` in the project; or what the environment variable MINIGRAD_WORK names, where it is set. Set
        and empty, it switches storing off. In a browser, the drive that JupyterLite keeps there.
    """
    named = os.environ.get(VARIABLE)
    if named is None and sys.platform == "emscripten":
        return DRIVE
    if named is None:
        home = PROJECT if (PROJECT / "pyproject.toml").exists() else Path.home() / "minigrad-course"
        return home / "work"
    return Path(named).expanduser().resolve() if named else None


def write(path, content):
    """Write a file whole: under a passing name first, then put in its place.

    Parameters
    ----------
    path : Path
        Folders above it are made.
    content : str or bytes
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        passing.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(passing, path)
    finally:
        passing.unlink(missing_ok=True)
