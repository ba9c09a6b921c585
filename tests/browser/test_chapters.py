"""Every chapter runs to its end in the browser, and shows what it shows elsewhere."""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.browser

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
ALL = sorted(path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("notebooks/*.ipynb"))
WAITING = ["notebooks/23_serving.ipynb"]  # its threads wait, for which Node 20 has no JSPI: see test_site.py
SLOW = ("08", "09", "10", "13", "14", "15", "16", "17", "18", "20")  # half a minute or more
CHAPTERS = [
    pytest.param(path, marks=[pytest.mark.long] * Path(path).name.startswith(SLOW))
    for path in ALL
    if path not in WAITING
]
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def answers(command, **options):
    """Run a script in Node, and return what it printed, line by line."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, encoding="utf-8", check=False, **options
    )
    assert done.returncode == 0, done.stderr[-3000:] or done.stdout[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def shown(outputs):
    """Count what a cell showed, by kind: pages, pictures, other results; and whether it printed.

    A figure is a page with its drawing inside; what it brings along for paper is not made in a browser. A
    hidden widget shows nothing.
    """
    kinds = Counter()
    for output in outputs:
        if output["output_type"] == "stream":
            kinds[output["name"]] = 1
        elif output["output_type"] != "error":
            faces = [kind for kind in ("text/html", "image/png", "text/plain") if output["data"].get(kind)]
            kinds.update(faces[:1])
    return kinds


def as_outputs(said):
    """Return what Node's kernel was heard to say in the form of a notebook's outputs."""
    outputs = []
    for kind, *what in said:
        if kind == "stream":
            outputs.append({"output_type": "stream", "name": what[0]})
        elif kind in ("display", "result"):
            data = what[0] if kind == "display" else what[1]
            if data:  # the result of what shows itself is empty
                outputs.append({"output_type": "display_data", "data": data})
    return outputs


def as_elsewhere(chapter, outputs):
    """Assert that each cell of code of a chapter ran, raised if it is to raise, and showed what is stored.

    `outputs` are those of the cells, by their place in the notebook. More may be printed than elsewhere: that
    something is pretended.
    """
    cells = nbformat.read(PROJECT / chapter, as_version=4).cells
    for place, cell in enumerate(cells):
        if cell.cell_type != "code":
            continue
        where = f"cell {place} of {chapter}:\n{cell.source}\n"
        assert place in outputs, f"{where}did not run"
        errors = [output for output in outputs[place] if output["output_type"] == "error"]
        told = COLOUR.sub("", "\n".join("\n".join(error["traceback"]) for error in errors))
        assert bool(errors) == ("raises-exception" in cell.metadata.get("tags", [])), f"{where}{told}"
        if "exists()" in cell.source:
            continue  # what it shows lies in a file that a browser does not have
        here, elsewhere = shown(outputs[place]), shown(cell.outputs)
        here["stdout"] = max(here["stdout"] - 1, elsewhere["stdout"]) if here["stdout"] else 0
        assert here == elsewhere, f"{where}shows other things than elsewhere"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_runs_to_its_end_in_pyodide(chapter, node, pyodide, carried, drive):
    outputs = {}
    for line in answers([node, HERE / "in_node.mjs", pyodide, carried, drive, chapter], timeout=600):
        outputs[line["place"]] = as_outputs(line["said"])
        if line["status"] == "error":
            outputs[line["place"]].append({"output_type": "error", "traceback": line["traceback"]})
    as_elsewhere(chapter, outputs)


def test_every_right_answer_passes_its_check_in_pyodide(node, pyodide, carried, tmp_path):
    source = """
import sys
sys.path.insert(0, ".")
from course.checks import exercises
from course.checks.exercise import CheckFailed
from tests.answers import answers_to
passed, failed = 0, []
for exercise in exercises():
    for right in [] if exercise.by_hand else answers_to(exercise).right:
        try:
            exercise.judge(right)
            passed += 1
        except CheckFailed as no:
            failed.append(f"{exercise.name}: {no}")
print(passed, failed)
"""
    code = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(code, tmp_path / "answers.ipynb")
    shutil.copytree(PROJECT / "tests/answers", tmp_path / "tests/answers")
    (line,) = answers([node, HERE / "in_node.mjs", pyodide, carried, tmp_path, "answers.ipynb"], timeout=300)
    (said,) = ["".join(words[1] for kind, *words in line["said"] if kind == "stream")]
    assert line["status"] == "ok", line["traceback"]
    passed, failed = said.strip().splitlines()[-1].split(maxsplit=1)
    assert failed == "[]" and int(passed) >= 2 * 60
