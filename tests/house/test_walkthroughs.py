"""The book's walk-throughs, followed file by file and command by command in a copy of the project.

A page's code blocks have a file in their caption, and a place in it; its console blocks have commands. A
table at the end of a page lists the tests that fail if the blocks of a file, or a command, are left out.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.house.test_names import files

ROOT = Path(__file__).parents[2]
# The added files, and the number of files changed.
TOUCHED = {"a-layer": 6, "a-chapter": 7, "an-exercise": 3}
WALKS = [ROOT / "book" / "contributing" / f"{name}.md" for name in TOUCHED]

BLOCK = re.compile(
    r"^(?P<fence>```+)\{code-block\} \w+\n:caption: ([^\n]+)\n\n(.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)
CAPTION = re.compile(
    r"(?P<file>[\w./-]+)"
    r"(?:, (?P<how>at the end|(?:below|above|before the cell|instead of(?: the cell)?) `(?P<where>.+)`))?"
)
METADATA = re.compile(r"%%% (\{.*\})\n")
COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)
FORGOTTEN = re.compile(r"^\| `([^`]+)` \| `([^`]+)`(?: `([^`]+)`)? \|$", re.MULTILINE)
EXERCISES = ".venv/bin/python -m authoring exercises"
MAKE = ["make", "-o", ".venv/ready", f"BIN={Path(sys.executable).parent}"]  # with this Python


def steps(page):
    """Return (file, how, where, text) for each block of a page, in order."""
    found = []
    for _, caption, text in BLOCK.findall(page):
        parts = CAPTION.fullmatch(caption)
        assert parts, f"a caption is a file and a place in it, got {caption!r}"
        found.append((parts["file"], (parts["how"] or "").partition(" `")[0], parts["where"], text))
    return found


def cells(text):
    """Return the cells of a notebook: each begins with `%% kind, tag, tag`; its metadata may follow."""
    found = []
    for head, source in re.findall(r"^%% ([^\n]+)\n(.*?)(?=^%% |\Z)", text, re.MULTILINE | re.DOTALL):
        kind, *tags = head.split(", ")
        given = METADATA.match(source)
        more = json.loads(given[1]) if given else {}
        source = source[given.end() :] if given else source
        new = {"markdown": new_markdown_cell, "code": new_code_cell}[kind]
        name = {"id": more.pop("id")} if "id" in more else {}
        metadata = more | ({"tags": tags} if tags else {})
        if "proof" in tags:
            metadata["jupyter"] = {"source_hidden": True}  # JupyterLab's "collapse selected code"
        found.append(new(source.strip("\n"), metadata=metadata, **name))
    return found


def the_one(what, found, where):
    """Return the only match; raise if there is not exactly one."""
    assert len(found) == 1, f"{where!r} should begin one {what}, and begins {len(found)}"
    return found[0]


def write(project, file, how, where, text):
    """Apply one step of a page to a copy of the project."""
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4) if how else new_notebook()
        if how:
            starts = [place for place, cell in enumerate(notebook.cells) if cell.source.startswith(where)]
            place = the_one(f"cell of {file}", starts, where)
            notebook.cells[place : place + how.startswith("instead of")] = cells(text)
        else:
            notebook.cells = cells(text)
        nbformat.write(notebook, path)
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if how else []
    if where:
        starts = [place for place, line in enumerate(lines) if line.startswith(where)]
        place = the_one(f"line of {file}", starts, where)
        there = lines[place]
        lines[place] = {"below": there + text, "above": text + there, "instead of": text}[how]
    else:
        gap = "\n\n" if how and path.suffix == ".py" else ""
        lines += [gap, text]
    path.write_text("".join(lines), encoding="utf-8")


def copied(project):
    """Copy the project."""
    for path in files():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, project / path)
    return project


def run(command, project):
    """Run a command of a page in a copy of the project, with this Python."""
    program, *rest = shlex.split(command) if isinstance(command, str) else command
    start = MAKE if program == "make" else [sys.executable]
    assert program in ("make", ".venv/bin/python"), command
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(project), "MINIGRAD_WORK": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*start, *rest], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def passes(command, project):
    status, said = run(command, project)
    assert status == 0, f"$ {command}\n{said[-5000:]}"


def fails(what, project):
    """Assert that a test of the copy, or a command, fails with a message; return its output."""
    is_test = what.startswith("tests/")
    status, said = run([".venv/bin/python", "-m", "pytest", "-q", what] if is_test else what, project)
    assert status == 1, said[-5000:]
    assert not is_test or re.search(r"^(FAILED|ERROR) ", said, re.MULTILINE), said[-5000:]
    return said


def written(path, project, leaving_out=None):
    """Copy the project, and apply a page's steps to it, except for one file; return the copy."""
    copied(project)
    for file, *how_where_text in steps(path.read_text(encoding="utf-8")):
        if file != leaving_out:
            write(project, file, *how_where_text)
    return project


def commands(path):
    """Return the commands of a page that take seconds, and the others, which take minutes."""
    found = COMMAND.findall(path.read_text(encoding="utf-8"))
    return [[one for one in found if one.startswith("make ") == slow] for slow in (False, True)]


def forgotten(path):
    """Return a page's table: the file or command left out, and the test or command that fails."""
    rows = FORGOTTEN.findall(path.read_text(encoding="utf-8"))
    return [(left_out, f"{fails}::{test}" if test else fails) for left_out, fails, test in rows]


def stands(file, text):
    """Report whether a file already has the text that a page writes into it."""
    path = ROOT / file
    if path.suffix != ".ipynb" or not path.exists():
        return path.exists() and text.strip() in path.read_text(encoding="utf-8")
    there = {cell.source for cell in nbformat.read(path, as_version=4).cells}
    return {cell.source for cell in cells(text)} <= there


def followed(path):
    """Return a page as a parameter, skipped if all of its steps have been applied."""
    taken = all(stands(file, text) for file, _, _, text in steps(path.read_text(encoding="utf-8")))
    mark = pytest.mark.skipif(taken, reason=f"the steps of {path.name} are taken here already")
    return pytest.param(path, id=path.stem, marks=mark)


each_page = pytest.mark.parametrize("path", [followed(path) for path in WALKS])
with_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@each_page
def test_a_walk_through_leads_to_passing_tests(path, tmp_path):
    project = written(path, tmp_path)
    quick, slow = commands(path)
    assert quick and slow[-1] == "make check"
    files_written = {file for file, *_ in steps(path.read_text(encoding="utf-8")) if not file.endswith(".md")}
    for command in ("ruff check", "ruff format --check"):  # make check begins with them
        passes([".venv/bin/python", "-m", *command.split(), *files_written], project)
    for command in quick:
        passes(command, project)


@pytest.mark.parametrize("path", WALKS, ids=lambda path: path.stem)
def test_a_walk_through_changes_few_files(path):
    assert len({file for file, *_ in steps(path.read_text(encoding="utf-8"))}) == TOUCHED[path.stem]


@pytest.mark.parametrize("path", [followed(WALKS[0])])
def test_a_layer_without_its_row_in_the_contract_is_named(path, tmp_path):
    ((file, test),) = (row for row in forgotten(path) if row[0] == "tests/contract.py")
    assert "minigrad.layers.prelu.PReLU" in fails(test, written(path, tmp_path, leaving_out=file))


@each_page
def test_a_page_whose_steps_are_applied_is_recognized(path, tmp_path, monkeypatch):
    written(path, tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (mark,) = followed(path).marks
    assert mark.args == (True,)
    monkeypatch.undo()
    (mark,) = followed(path).marks
    assert mark.args == (False,)


@pytest.mark.long
@with_make
@each_page
def test_a_walk_through_leads_to_a_passing_make_check(path, tmp_path):
    project = written(path, tmp_path)
    for command in [*commands(path)[0], *commands(path)[1]]:
        passes(command, project)


@pytest.mark.long
@with_make
@each_page
def test_every_step_left_out_fails_the_test_that_the_page_names(path, tmp_path):
    assert len(forgotten(path)) >= 3
    for number, (step, what) in enumerate(forgotten(path)):
        project = written(path, tmp_path / str(number), leaving_out=step)
        if what.startswith("tests/"):
            left_out = {step, EXERCISES} if step.startswith("make ") else {step}
            for command in dict.fromkeys([*commands(path)[0], EXERCISES]):
                if "-m authoring" in command and command not in left_out:
                    run(command, project)  # may fail, too, since something is missing
        fails(what, project)


def test_a_missing_place_is_named(tmp_path):
    (tmp_path / "a.py").write_text("one = 1\n", encoding="utf-8")
    write(tmp_path, "a.py", "below", "one", "two = 2\n")
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "one = 1\ntwo = 2\n"
    with pytest.raises(AssertionError, match="'three' should begin one line of a.py, and begins 0"):
        write(tmp_path, "a.py", "instead of", "three", "four = 4\n")
