"""What the browser tests need, each made once for all of them; where a part is missing they are skipped."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from authoring import work
from book import lite
from tests.browser import distribution

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
KERNEL = Path(sys.prefix) / "share/jupyter/labextensions" / lite.KERNEL / "static/pypi"
BUSY = 10  # how many times the time that is right a test allows, since a machine may have other work
FETCHED = "is not there: `make browser-tools` fetches it from npm and PyPI."


def needed(found, sentence):
    """Skip the test, and say why, if something was not found; otherwise return it."""
    if not found:
        pytest.skip(sentence)
    return found


@pytest.fixture(scope="session")
def wheels():
    """Folders with wheels for Pyodide: the one that PYODIDE_WHEELS names, and what was fetched."""
    named = os.environ.get("PYODIDE_WHEELS")
    needed(named, "PYODIDE_WHEELS names no folder with NumPy's and Matplotlib's wheels for Pyodide.")
    assert list(Path(named).glob("numpy-*wasm32.whl")), f"PYODIDE_WHEELS is {named}, with no wheel of NumPy."
    needed(list(HERE.glob("wheels/micropip-*.whl")), f"tests/browser/wheels/ {FETCHED}")
    return [Path(named), HERE / "wheels"]


@pytest.fixture(scope="session")
def node():
    """The path of Node."""
    return needed(shutil.which("node"), "node is not installed.")


@pytest.fixture(scope="session")
def chromium():
    """The path of Chromium."""
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return needed(next(found, None), "chromium is not installed.")


@pytest.fixture(scope="session")
def pyodide(wheels, tmp_path_factory):
    """A folder with a distribution of Pyodide."""
    core = HERE / "node_modules" / "pyodide"
    needed(core.exists(), f"tests/browser/node_modules/ {FETCHED}")
    out = tmp_path_factory.mktemp("browser") / "pyodide"
    distribution.make(core, wheels, out)
    return out


@pytest.fixture(scope="session")
def carried(tmp_path_factory):
    """A folder with the wheels that the site carries, and those of JupyterLite's kernel."""
    needed(KERNEL.exists(), "jupyterlite-pyodide-kernel is not installed.")
    folder = tmp_path_factory.mktemp("carried")
    lite.write_wheels(folder)
    for wheel in KERNEL.glob("*kernel-*.whl"):
        shutil.copy(wheel, folder)
    return folder


@pytest.fixture(scope="session")
def drive(tmp_path_factory):
    """A folder with what lies in the browser's drive, the learner's copies."""
    folder = tmp_path_factory.mktemp("drive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINIGRAD_WORK", str(folder))
        work.copy_to_work()
    return folder


@pytest.fixture(scope="session")
def lab(pyodide, tmp_path_factory):
    """The folder of the site, with Pyodide in it."""
    needed(KERNEL.exists(), "jupyterlite-pyodide-kernel is not installed.")
    folder = tmp_path_factory.mktemp("site") / "lite"
    lite.build(folder, pyodide)
    return folder


@pytest.fixture(scope="session")
def site(lab):
    """The address of the site."""
    with served(lab) as address:
        yield address


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """The address of the book, built anew."""
    site = tmp_path_factory.mktemp("book") / "html"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "-q",
        "--builder",
        "html",
        "book",
        str(site),
    ]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with served(site) as address:
        yield address


def small_book(project, pages, copied):
    """Build a book of a few files of the course, and return the folder of its site.

    Parameters
    ----------
    project : Path
        A folder for the book's sources and, in ``site``, its pages.
    pages : dict of str to str
        The Markdown of pages of its own, by their names; one is ``index``.
    copied : list of str
        Files and folders of the course.
    """
    others = shutil.ignore_patterns("_build", "notebooks", "exercises", "teaching", "contributing", "*.md")
    shutil.copytree(PROJECT / "book", project / "book", ignore=others)
    for name, text in pages.items():
        (project / f"book/{name}.md").write_text(text, encoding="utf-8")
    for name in copied:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
        copy(PROJECT / name, project / name)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "book", "site"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return project / "site"


@contextmanager
def served(folder):
    """Serve a folder to this machine alone."""
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *words: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
