"""The learner's work folder: copies of chapters, exercises and pages that keep the learner's changes.

Holds `copy_to_work`, and `written`, the sources of a notebook's cells. ``course.store`` has its path.
"""

import json
import re
from hashlib import sha256
from pathlib import PurePosixPath

import nbformat

from authoring.notebooks import BuildError, without_outputs
from course import store
from course.curriculum import exercises_path

PAGES = (
    "documents.md",
    "glossary.md",
    "notation.md",
    "references.*",
    "sources.md",
    "speed.md",
    "_static/speed_*.png",
)
COPIED = {"notebooks": ("**/*",), "exercises": ("**/*",), "book": PAGES}  # globs; chapters link to the pages


def copy_to_work(project=store.PROJECT):
    """Copy chapters, exercises and book pages to the work folder, but keep files that the learner changed.

    Parameters
    ----------
    project : Path

    Returns
    -------
    dict of str to dict of str to list of str
        For "notebooks", "exercises" and "book": the files that are "new", "refreshed", "unchanged", or
        "yours", and those that had an older name, "renamed".

    Raises
    ------
    BuildError
        If storing is off.

    Notes
    -----
    A file counts as changed as soon as it differs from the last copy, whose hash is in ``.copied.json``. Of a
    notebook only the sources of its cells count, since opening it changes the rest. Notebooks are copied
    without their outputs, which would give away the answers. Exercises that still have their chapter's name,
    ``04_closures.ipynb``, are renamed, unless a file already has the new name.
    """
    work = store.folder()
    if work is None:
        raise BuildError(f"There is no folder to copy to: storing is off ({store.VARIABLE} is empty).")
    record = work / ".copied.json"
    last = _hashes(record)
    report = {
        kind: {"new": [], "refreshed": [], "unchanged": [], "yours": [], "renamed": []} for kind in COPIED
    }
    for source in (path for kind, names in COPIED.items() for path in _files(project / kind, names)):
        name, content = source.relative_to(project).as_posix(), _for_the_learner(source)
        if before := _renamed(work, name):
            last[name] = last.pop(before, None)
            report["exercises"]["renamed"].append(source.name)
        current = (work / name).read_bytes() if (work / name).exists() else None
        if current is None:
            found = "new"
        elif written(current) == written(content):
            found = "unchanged"
        else:
            known = last.get(name) in (_hash(written(current)), _hash(current))
            found = "refreshed" if known else "yours"
        if found in ("new", "refreshed"):
            store.write(work / name, content)
        if found != "yours":
            last[name] = _hash(written(content))
        report[source.relative_to(project).parts[0]][found].append(source.name)
    store.write(record, json.dumps(last, indent=1, sort_keys=True) + "\n")
    return report


def _renamed(work, name):
    """Rename a learner's copy that still has its chapter's name; return the old name, or None."""
    stem = PurePosixPath(name).parent.name
    before = f"exercises/{stem}/{stem}.ipynb"
    if name != f"exercises/{exercises_path(stem)}" or not (work / before).exists() or (work / name).exists():
        return None
    (work / before).rename(work / name)
    return before


def _for_the_learner(source):
    """Return the learner's copy of a file: a notebook without outputs, a page in plain Markdown."""
    if source.suffix == ".ipynb":
        return without_outputs(nbformat.read(source, as_version=4))
    if source.suffix == ".md":
        return _plain(source.read_text("utf-8")).encode()
    return source.read_bytes()


def _plain(page):
    """Convert a page to Markdown for JupyterLab: headings for terms, keys for citations."""

    def headed(glossary):
        return re.sub(r"^(?=\S)", "#### ", glossary[1], flags=re.MULTILINE)

    page = re.sub(r"^```\{glossary\}\n(.*?)^```$", headed, page, flags=re.MULTILINE | re.DOTALL)
    figure = r"^```\{figure\} (\S+)\n:alt: (.*)\n(?::.*\n)*\n((?s:.*?))\n```$"
    page = re.sub(figure, r"![\2](\1)\n\n\3", page, flags=re.MULTILINE)
    page = re.sub(r"\{cite:\w+\}`([^`]+)`", r"(\1)", page)
    return page.replace("```{bibliography}\n```", "The list is the file [references.bib](references.bib).")


def _files(folder, names):
    """List the files in a folder that match globs, except hidden ones."""
    paths = sorted(path for name in names for path in folder.glob(name) if path.is_file())
    return [
        path
        for path in paths
        if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    ]


def _hashes(record):
    """Read the hashes of the last copies; {} if they are lost, so that no file is overwritten."""
    try:
        return dict(json.loads(record.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def written(content):
    """Return the sources of a notebook's cells; return any other content unchanged."""
    try:
        cells = json.loads(content)["cells"]
        return json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells]).encode()
    except (ValueError, KeyError, TypeError):
        return content


def _hash(content):
    """Return the hash of a file's content."""
    return sha256(content).hexdigest()
