"""Pictures that move in JupyterLab itself: still there, and true, when a notebook is opened again."""

import json
import os
import re
import subprocess
import sys
from time import monotonic, sleep

import nbformat
import pytest

from authoring.notebooks import KERNELSPEC
from course.widgets import AGAIN
from tests.browser.conftest import FETCHED, HERE, needed
from tests.browser.test_chapters import PROJECT, answers

pytestmark = pytest.mark.browser

STOPS = """
import course.figures.slopes as slopes
from course import Slider, explore

explore(lambda h: slopes.secant(abs, 1, h), h=Slider("nudge", (1, 2, 3), start=1))
"""
FREE = """
from course import live

live(lambda x: slopes.secant(abs, x, 1, (-3, 3)), x=(-2, 2))
"""
SECONDS = 120  # for JupyterLab to start on a busy machine


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The folder and the address of a JupyterLab that has seen nothing before."""
    folder, own = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("own")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in (STOPS, FREE)]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), folder / "run.ipynb"
    )
    places = {f"JUPYTER_{kind}_DIR": str(own / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    places |= {"JUPYTERLAB_SETTINGS_DIR": str(own / "settings"), "PYTHONPATH": str(PROJECT)}
    options = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        "--IdentityProvider.token=",
        "--expose-app-in-browser",
    ]
    with (own / "said").open("w") as said:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, "--port=0", f"--ServerApp.root_dir={folder}"],
            env=os.environ | places,
            stdout=said,
            stderr=said,
        )
    try:
        yield folder, _address(own, server)
    finally:
        server.kill()  # each visit has ended its kernel
        server.wait()


def _address(own, server):
    """Return where a server says that it is."""
    end = monotonic() + SECONDS
    while monotonic() < end and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:[1-9]\d*", (own / "said").read_text("utf-8")):
            return found[0]
        sleep(0.2)
    raise AssertionError((own / "said").read_text("utf-8"))


@pytest.fixture(scope="module")
def visit(lab, node, chromium):
    """Return a function that opens notebooks one after the other, and tells what each showed."""
    needed((HERE / "node_modules" / "playwright-core").exists(), f"tests/browser/node_modules/ {FETCHED}")

    def visit(*visits):
        return answers([node, HERE / "in_lab.mjs", chromium, lab[1], json.dumps(visits)], timeout=600)

    return visit


def test_a_picture_outlives_being_saved_closed_and_opened_twice(visit):
    ran, *later = visit(
        {"notebook": "run.ipynb", "run": True}, *[{"notebook": "run.ipynb", "run": False}] * 3
    )
    stops, free = ran
    assert (stops["pictures"], stops["moves"]) == (1, [True])
    assert (free["pictures"], free["moves"]) == (1, [True])
    for stops, free in later:
        assert (stops["pictures"], stops["moves"]) == (1, [True])
        assert (free["pictures"], free["moves"]) == (1, [])
        assert free["words"] == [["", f'"{AGAIN}"']]


def test_a_notebook_of_somebody_else_shows_its_pictures_and_says_how_they_move(visit, lab):
    folder, _ = lab
    text = (folder / "run.ipynb").read_text("utf-8")
    (folder / "theirs.ipynb").write_text(text.replace("explore(lambda", "explore( lambda"), "utf-8")
    ((stops, free),) = visit({"notebook": "theirs.ipynb", "run": False})
    assert stops["pictures"] == free["pictures"] == 1
    assert stops["moves"] == free["moves"] == []
    assert AGAIN in free["text"]
