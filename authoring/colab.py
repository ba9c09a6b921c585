"""Copies of the notebooks for Google Colab: a new first cell installs the course; links are rewritten.

Holds `repository`, the address of the repository; `on_colab` and `on_binder`, the URLs of a notebook in the
cloud; and the command line: ``python -m authoring.colab --out FOLDER``. ``.github/workflows/pages.yml``
pushes the copies to a branch, and the book's extension ``chapter_tools`` makes the buttons.
"""

import argparse
import posixpath
import re
import sys
import tomllib
from copy import deepcopy
from pathlib import Path
from urllib.parse import quote

import nbformat

from authoring.notebooks import without_outputs
from course import store

BRANCH = "colab"  # the repository's branch with the copies
ADDRESS = re.compile(r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)")
# Code such as `f[0](x)` looks like a link, so a link's target must be a file name.
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^()\s#]+\.(?:ipynb|md|py))(#[^()\s]*)?(?=\))")
WITH_MPI = re.compile(r"^from course.stand_ins import mpi\b", re.MULTILINE)
REQUIREMENT = "minigrad-course @ git+{address}"
FIRST_CELL = """\
# On Google Colab, this cell installs the course. Elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    import subprocess

    wanted = {wanted}
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *wanted], check=True)"""


def repository(project=store.PROJECT):
    """Return the address of the course's repository, or "" if it has none.

    Parameters
    ----------
    project : Path
        The address is ``repository`` in the table ``[tool.minigrad]`` of its ``pyproject.toml``.

    Returns
    -------
    str
        ``https://github.com/OWNER/NAME``.

    Raises
    ------
    ValueError
        If the address has another form.
    """
    try:
        settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    address = settings.get("tool", {}).get("minigrad", {}).get("repository", "")
    if address and not (
        isinstance(address, str) and ADDRESS.fullmatch(address) and not address.endswith(".git")
    ):
        raise ValueError(
            f"pyproject.toml has repository = {address!r} in [tool.minigrad]. Write "
            '"https://github.com/OWNER/NAME", without .git and without a final slash, or leave it empty.'
        )
    return address


def on_colab(address, path):
    """Return the URL at which Colab opens the copy of a notebook.

    Parameters
    ----------
    address : str
        Returned by `repository`.
    path : str
        The notebook's path in the project.

    Examples
    --------
    >>> on_colab("https://github.com/someone/course", "notebooks/04_closures.ipynb")
    'https://colab.research.google.com/github/someone/course/blob/colab/notebooks/04_closures.ipynb'
    """
    name = ADDRESS.fullmatch(address)[1]
    return f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{quote(path)}"


def on_binder(address, path):
    """Return the URL at which Binder opens the learner's copy of a notebook, made by ``postBuild``.

    Parameters
    ----------
    address : str
    path : str

    Examples
    --------
    >>> on_binder("https://github.com/someone/course", "notebooks/04_closures.ipynb")
    'https://mybinder.org/v2/gh/someone/course/HEAD?urlpath=lab/tree/work/notebooks/04_closures.ipynb'
    """
    name = ADDRESS.fullmatch(address)[1]
    return f"https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab/tree/work/{quote(path)}"


def colab_copy(notebook, path, address):
    """Make the copy of a notebook for Colab.

    Parameters
    ----------
    notebook : NotebookNode
        Not changed.
    path : str
        Its path in the project.
    address : str
        Returned by `repository`.

    Returns
    -------
    NotebookNode
        Its first cell installs the course; links between notebooks lead to their copies, and all other links
        into the project lead to the repository.
    """
    copy = deepcopy(notebook)
    wanted = [REQUIREMENT.format(address=address)]
    if any(WITH_MPI.search(cell.source) for cell in copy.cells if cell.cell_type == "code"):
        wanted += ["mpi4py", "mpich"]
    source = FIRST_CELL.format(wanted=repr(wanted).replace("'", '"'))
    copy.cells.insert(0, nbformat.v4.new_code_cell(source, id="colab"))
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: _elsewhere(*link.groups(""), path, address), cell.source)
    return copy


def write_copies(out, project=store.PROJECT):
    """Write copies of all chapters and exercises, without outputs, which would give away the answers.

    Parameters
    ----------
    out : Path
        The folder for the copies; outdated notebooks are removed from it.
    project : Path

    Returns
    -------
    list of Path

    Raises
    ------
    ValueError
        If the project has no valid address. Nothing is written then.
    """
    address = repository(project)
    if not address:
        raise ValueError(
            "Colab installs the course from its repository, and pyproject.toml has no address: write "
            'repository = "https://github.com/OWNER/NAME" into the table [tool.minigrad].'
        )
    written = []
    for path in sorted([*project.glob("notebooks/*.ipynb"), *project.glob("exercises/*/*.ipynb")]):
        place = path.relative_to(project).as_posix()
        copy = colab_copy(nbformat.read(path, as_version=4), place, address)
        written.append(out / place)
        store.write(out / place, without_outputs(copy))
    for stale in {*out.glob("notebooks/*.ipynb"), *out.glob("exercises/*/*.ipynb")} - {*written}:
        stale.unlink()
    return written


def _elsewhere(target, place, path, address):
    """Return the URL for a notebook's relative link, to a file and a fragment."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if found.startswith(("notebooks/", "exercises/")) and found.endswith(".ipynb"):
        return on_colab(address, found)  # careful: Colab does not support fragments
    return f"{address}/blob/HEAD/{found}{place}"


def main(arguments=None):
    """Write the copies, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m authoring.colab", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder for the copies")
    chosen = parser.parse_args(arguments)
    try:
        print(f"{len(write_copies(chosen.out))} notebooks for Colab are in {chosen.out}.")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
