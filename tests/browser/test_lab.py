"""JupyterLab itself: pictures that move, and the fields of guesses, also when a notebook is opened again."""

import json
import os
import re
import subprocess
import sys
from time import monotonic, sleep

import nbformat
import pytest
from nbconvert.preprocessors import ClearOutputPreprocessor

from authoring.notebooks import KERNELSPEC
from course.figures.widgets import AGAIN
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
    places["MINIGRAD_WORK"] = str(folder / "work")
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


@pytest.fixture(scope="module")
def guessed(lab, node, chromium):
    """What a reader met who guessed in chapter 04, and what was stored."""
    needed((HERE / "node_modules" / "playwright-core").exists(), f"tests/browser/node_modules/ {FETCHED}")
    folder, address = lab
    notebook = nbformat.read(PROJECT / "notebooks/04_closures.ipynb", as_version=4)
    nbformat.write(ClearOutputPreprocessor().preprocess(notebook, {})[0], folder / "04_closures.ipynb")
    (line,) = answers([node, HERE / "guesses_in_lab.mjs", chromium, address], timeout=600)
    return line, json.loads((folder / "work/guesses.json").read_text("utf-8"))


def test_a_field_takes_letters_and_double_clicks_from_jupyterlab(guessed):
    found, _ = guessed
    assert found["typed"] == "add a bmx map, zoo"
    assert found["before"] == found["after"]
    assert found["entered"] == ["You said “add a bmx map, zoo”. Compare it with the answer below."]
    assert found["clicked"] == [4, True]
    assert found["arrows"] == ["1", True, True]
    assert found["fold"]
    assert found["problems"] == []


def test_a_guess_in_jupyterlab_is_stored_beside_the_progress(guessed):
    assert guessed[1] == {
        "04_closures": {
            "a620fa7c-1": {"said": ["add a bmx map, zoo"], "held": None},
            "c3ea0cf3-1": {"said": [12, 10], "held": False},
            "0434f4c7-1": {"said": [0, 3], "held": True},
        }
    }


def test_a_guess_is_still_there_when_its_notebook_is_opened_again(guessed):
    found, _ = guessed
    two = [
        "≠ back_from_3(1.0): you said 12. It is 6; your guess is twice as large.",
        "✓ back_from_5(1.0): you said 10. It is 10.",
    ]
    assert found["compared"] == found["opened again"] == found["run again"] == two
    assert found["without a kernel"] == 0  # nobody could store a guess


def test_the_fields_have_no_barrier_in_either_theme_of_jupyterlab(guessed):
    assert guessed[0]["barriers"] == {"Light": [], "Dark": []}
