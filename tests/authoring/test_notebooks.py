"""Making notebooks: run and store, exercises from solutions, copies for the learner."""

import json
import os
import re
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.nbgraderformat import MetadataValidator

from authoring.__main__ import main
from authoring.chapters import run, try_all
from authoring.exercises import UnmarkedCell, learners_copy, make_exercises, mark_cells
from authoring.notebooks import KERNELSPEC, BuildError, tidy
from authoring.work import copy_to_work
from course import checks, store

DEMO = """
from course.checks.exercise import Exercise

HINTS = ("a", "b", "c")
halve = Exercise("90_demo.halve", title="Half (of it)", points=3, kind="fill", minutes=2, hints=HINTS)
halve.check(lambda answer, rng: "" if answer(4.0) == 2.0 else 1 / 0)
essay = Exercise("90_demo.essay", title="Why", points=2, kind="explain", minutes=5, hints=HINTS)
"""

ANSWER = "def halve(X):\n    ### BEGIN SOLUTION\n    half = X / 2\n    return half\n    ### END SOLUTION"


def solutions():
    """A solutions notebook as an author writes it: without any marks."""
    return new_notebook(
        cells=[
            new_markdown_cell("# 90 Demo: exercises"),
            new_code_cell("from course import check"),
            new_markdown_cell("### 1. Half (of it) (3 points, 2 minutes)\n\nDivide."),
            new_code_cell(ANSWER),
            new_code_cell('check("90_demo.halve", halve)\n# stuck?  hint("90_demo.halve")'),
            new_markdown_cell("### 2. Why (2 points, 5 minutes)"),
            new_markdown_cell("### BEGIN SOLUTION\nBecause.\n### END SOLUTION"),
        ]
    )


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project with one chapter, and its exercises registered."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "ch90_demo.py").write_text(DEMO)
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path / "checks")])
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "work"))
    notebook = solutions()
    path = f"import course.checks\ncourse.checks.__path__.append({str(tmp_path / 'checks')!r})"
    notebook.cells[1].source = f"{path}\n{notebook.cells[1].source}"
    save(tmp_path / "solutions" / "90_demo" / "90_demo_exercises.ipynb", notebook)
    chapter = new_notebook(cells=[new_markdown_cell("# 90 Demo"), new_code_cell("1 + 1")])
    save(tmp_path / "notebooks" / "90_demo.ipynb", chapter)
    yield tmp_path
    sys.modules.pop("course.checks.ch90_demo", None)


def save(path, notebook):
    store.write(path, nbformat.writes(notebook))


def read(path):
    return nbformat.read(path, as_version=4)


def marks(notebook):
    return [dict(cell.metadata.get("nbgrader", {})) for cell in notebook.cells]


# run


CHAPTER = [
    new_markdown_cell("# 91 Demo"),
    new_code_cell(
        "import os\nfrom pathlib import Path\nprint(repr(os.environ['MINIGRAD_WORK']), Path.cwd().name)"
    ),
    new_code_cell("print('a')\nprint('b')\nhash('the same in every run')"),
    new_code_cell(
        "from minigrad import Linear\nLinear(3, 7)([1.0])", metadata={"tags": ["raises-exception"]}
    ),
    new_code_cell(
        "import ipywidgets\nipywidgets.IntSlider()", metadata={"collapsed": True, "ExecuteTime": {"a": 1}}
    ),
]


def test_a_chapter_is_run_from_clean_and_stored_the_same_every_time(tmp_path):
    path = tmp_path / "notebooks" / "91_demo.ipynb"
    chapter = new_notebook(cells=CHAPTER, metadata={"author": "Ada"})
    chapter.cells[1].outputs, chapter.cells[1].execution_count = [new_output("stream", text="stale")], 77
    save(path, chapter)
    run("91", tmp_path)
    first = path.read_bytes()
    stored = read(path)
    code = stored.cells[1:]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    assert [cell.id for cell in stored.cells] == [cell.id for cell in chapter.cells]
    assert code[0].outputs[0].text == "'' notebooks\n"
    assert code[1].outputs[0].text == "a\nb\n"
    assert code[2].outputs[0].output_type == "error"
    assert not re.search(r"File |site-packages|/minigrad/", "".join(code[2].outputs[0].traceback))
    assert "In[3]" in re.sub(r"\x1b\[[\d;]*m", "", "".join(code[2].outputs[0].traceback))
    assert [list(output.data) for output in code[3].outputs] == [["text/plain"]]
    assert dict(code[3].metadata) == {} and code[2].metadata.tags == ["raises-exception"]
    assert dict(stored.metadata) == {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    run("91", tmp_path)
    assert path.read_bytes() == first
    assert [entry.name for entry in path.parent.iterdir()] == ["91_demo.ipynb"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("1 / 0", "Cell 2, `1 / 0`, failed: ZeroDivisionError: division by zero"),
        ("import os\nos._exit(1)", "died"),
    ],
)
def test_a_notebook_that_breaks_is_left_as_it_was(tmp_path, source, said):
    path = tmp_path / "notebooks" / "91_demo.ipynb"
    save(path, new_notebook(cells=[new_markdown_cell("# 91"), new_code_cell(source), new_code_cell("2")]))
    before = path.read_bytes()
    with pytest.raises(BuildError, match="91_demo.ipynb is unchanged") as caught:
        run("91", tmp_path)
    assert said in str(caught.value)
    assert path.read_bytes() == before


def test_chapters_are_tried_and_nothing_is_stored(project):
    path = project / "notebooks" / "90_demo.ipynb"
    before = path.read_bytes()
    try_all(project)
    assert path.read_bytes() == before
    save(project / "notebooks" / "91_demo.ipynb", new_notebook(cells=[new_code_cell("1 / 0")]))
    with pytest.raises(BuildError, match="91_demo.ipynb .* Cell 1, `1 / 0`, failed: ZeroDivisionError"):
        try_all(project)


def test_a_chapter_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BuildError, match="neither notebooks/77_"):
        run("77", tmp_path)


def test_cells_without_an_id_get_one_that_does_not_change():
    notebook = new_notebook(cells=[new_code_cell("1"), new_code_cell("1"), new_markdown_cell("1")])
    for cell in notebook.cells[:2]:
        del cell["id"]
    once, again = tidy(notebook), tidy(notebook)
    assert [cell.id for cell in once.cells] == [cell.id for cell in again.cells]
    assert len({cell.id for cell in once.cells}) == 3 and once.cells[2].id == notebook.cells[2].id
    nbformat.validate(once)


# exercises


def test_an_author_writes_no_marks(project):
    notebook = solutions()
    mark_cells(notebook, "90_demo")
    MetadataValidator().validate_nb(notebook)
    always = {"schema_version": 3}
    assert marks(notebook) == [
        {},
        {},
        {"grade_id": "statement_halve", "grade": False, "solution": False, "locked": True, **always},
        {"grade_id": "halve", "grade": False, "solution": True, "locked": False, **always},
        {"grade_id": "check_halve", "grade": True, "solution": False, "locked": True, "points": 3, **always},
        {"grade_id": "statement_essay", "grade": False, "solution": False, "locked": True, **always},
        {"grade_id": "essay", "grade": True, "solution": True, "locked": False, "points": 2, **always},
    ]
    again = nbformat.from_dict(json.loads(json.dumps(notebook)))
    mark_cells(again, "90_demo")
    assert again == notebook


@pytest.mark.parametrize(
    ("place", "source", "said"),
    [
        (
            2,
            "### 1. A half (3 points, 2 minutes)",
            "the statement of 90_demo.halve must be in exactly one cell",
        ),
        (
            4,
            "check('90_demo.half', halve)",
            "the check of 90_demo.halve must be in exactly one cell, and was found in 0",
        ),
        (0, 'check("90_demo.halve", halve)', "was found in 2"),
        (3, "halve = 2", "no cell with ### BEGIN SOLUTION belongs to 90_demo.halve"),
        (6, "Because.", "no cell with ### BEGIN SOLUTION belongs to 90_demo.essay"),
        (0, ANSWER, "cell 1 has ### BEGIN SOLUTION, but belongs to no exercise of 90_demo"),
    ],
)
def test_a_cell_that_is_missing_or_too_much_is_said(project, place, source, said):
    notebook = solutions()
    notebook.cells[place].source = source
    with pytest.raises(UnmarkedCell, match=re.escape(said)):
        mark_cells(notebook, "90_demo")


def test_the_learners_copy_has_stubs_and_no_outputs(project):
    notebook = solutions()
    notebook.cells[4].outputs, notebook.cells[4].execution_count = [new_output("stream", text="right")], 3
    mark_cells(notebook, "90_demo")
    copy = learners_copy(notebook)
    assert copy.cells[3].source == "def halve(X):\n    raise NotImplementedError"
    assert copy.cells[6].source == "*Your answer:*"
    assert copy.cells[4].outputs == [] and copy.cells[4].execution_count is None
    assert notebook.cells[3].source == ANSWER and notebook.cells[4].outputs


def test_exercises_are_made_the_same_every_time_and_checked(project, monkeypatch, capsys):
    target = project / "exercises" / "90_demo" / "90_demo_exercises.ipynb"
    assert make_exercises(project, check=True) == [target] and not target.exists()
    assert make_exercises(project) == [target]
    first = target.read_bytes()
    assert make_exercises(project, check=True) == make_exercises(project) == []
    target.unlink()
    make_exercises(project)
    assert target.read_bytes() == first
    stale = project / "exercises" / "91_gone" / "91_gone_exercises.ipynb"
    store.write(stale, "{}")
    assert make_exercises(project, check=True) == [stale] and stale.exists()
    assert make_exercises(project) == [stale] and not stale.exists()


def test_the_command_line_fails_when_exercises_are_out_of_date(monkeypatch, capsys, tmp_path):
    outdated = [tmp_path / "04_closures.ipynb"]
    monkeypatch.setattr("authoring.__main__.make_exercises", lambda check: outdated)
    assert main(["exercises", "--check"]) == 1
    assert "out of date (04_closures): run `python -m authoring exercises`" in capsys.readouterr().err
    assert main(["exercises"]) == 0
    assert capsys.readouterr().out == "exercises: 1 made (04_closures)\n"
    outdated.clear()
    assert main(["exercises", "--check"]) == 0
    assert main(["run", "77"]) == 1
    assert "neither notebooks/77_" in capsys.readouterr().err


def test_run_marks_and_executes_the_solutions_too(project):
    (project / "notebooks" / "90_demo.ipynb").unlink()
    run("90", project)
    stored = read(project / "solutions" / "90_demo" / "90_demo_exercises.ipynb")
    assert [mark.get("grade_id") for mark in marks(stored)][2:5] == [
        "statement_halve",
        "halve",
        "check_halve",
    ]
    assert [cell.execution_count for cell in stored.cells if cell.cell_type == "code"] == [1, 2, 3]


# work


def copied(project):
    return {
        kind: {found: names for found, names in files.items() if names}
        for kind, files in copy_to_work(project).items()
    }


def test_work_gets_new_and_newer_files_and_keeps_what_the_learner_changed(project):
    make_exercises(project)
    source, copy = (project / where / "notebooks" / "90_demo.ipynb" for where in (".", "work"))
    store.write(project / "book" / "notation.md", "# Notation")
    store.write(project / "book" / "_static" / "book.css", "not for the lab")
    assert copied(project) == {
        "notebooks": {"new": ["90_demo.ipynb"]},
        "exercises": {"new": ["90_demo_exercises.ipynb"]},
        "book": {"new": ["notation.md"]},
    }
    assert first_line(copy) == first_line(source) == "# 90 Demo"
    assert (project / "work" / "exercises" / "90_demo" / "90_demo_exercises.ipynb").exists()
    assert copied(project)["notebooks"] == {"unchanged": ["90_demo.ipynb"]}
    save(source, new_notebook(cells=[new_markdown_cell("# newer")]))
    assert copied(project)["notebooks"] == {"refreshed": ["90_demo.ipynb"]}
    assert first_line(copy) == "# newer"
    copy.write_text("the learner's")
    assert copied(project)["notebooks"] == {"yours": ["90_demo.ipynb"]}
    save(source, new_notebook(cells=[new_markdown_cell("# newest")]))
    assert copied(project)["notebooks"] == {"yours": ["90_demo.ipynb"]}
    assert copy.read_text() == "the learner's"
    copy.unlink()
    assert copied(project)["notebooks"] == {"new": ["90_demo.ipynb"]}
    assert first_line(copy) == "# newest"


@pytest.mark.parametrize("mine", [False, True])
def test_exercises_under_their_chapters_name_get_the_new_one_and_keep_what_was_written(project, mine):
    make_exercises(project)
    copied(project)
    folder, record = project / "work" / "exercises" / "90_demo", project / "work" / ".copied.json"
    before, now = folder / "90_demo.ipynb", folder / "90_demo_exercises.ipynb"
    now.rename(before)
    record.write_text(record.read_text().replace("90_demo_exercises", "90_demo"))
    if mine:
        before.write_text("the learner's")
    source = project / "exercises" / "90_demo" / "90_demo_exercises.ipynb"
    save(source, new_notebook(cells=[new_markdown_cell("# newer")]))
    found = {"yours" if mine else "refreshed": [now.name], "renamed": [now.name]}
    assert copied(project)["exercises"] == found
    assert os.listdir(folder) == [now.name]
    assert now.read_text() == "the learner's" if mine else first_line(now) == "# newer"
    assert copied(project)["exercises"] == {"yours" if mine else "unchanged": [now.name]}


def test_exercises_under_both_names_are_left_alone(project):
    make_exercises(project)
    copied(project)
    folder = project / "work" / "exercises" / "90_demo"
    (folder / "90_demo.ipynb").write_text("the learner's")
    assert copied(project)["exercises"] == {"unchanged": ["90_demo_exercises.ipynb"]}
    assert (folder / "90_demo.ipynb").read_text() == "the learner's"


def test_a_notebook_that_was_only_opened_and_run_is_still_refreshed(project):
    copied(project)
    source, copy = (project / where / "notebooks" / "90_demo.ipynb" for where in (".", "work"))
    opened = nbformat.read(copy, as_version=4)
    opened.metadata["language_info"] = {"name": "python", "version": "3.13.0"}
    opened.cells[1].outputs = [new_output("execute_result", {"text/plain": "2"}, execution_count=1)]
    save(copy, opened)
    assert copied(project)["notebooks"] == {"unchanged": ["90_demo.ipynb"]}
    assert nbformat.read(copy, as_version=4).cells[1].outputs  # nothing new, so what was run stays
    save(source, new_notebook(cells=[new_markdown_cell("# newer")]))
    assert copied(project)["notebooks"] == {"refreshed": ["90_demo.ipynb"]}
    opened = nbformat.read(copy, as_version=4)
    opened.cells[0].source += "!"
    save(copy, opened)
    save(source, new_notebook(cells=[new_markdown_cell("# newest")]))
    assert copied(project)["notebooks"] == {"yours": ["90_demo.ipynb"]}


def first_line(path):
    return nbformat.read(path, as_version=4).cells[0].source.partition("\n")[0]


def test_pages_of_the_book_are_copied_in_the_markdown_that_the_lab_shows(project):
    for name in ("glossary.md", "references.md", "references.bib", "notation.md", "speed.md", "index.md"):
        store.write(project / "book" / name, (store.PROJECT / "book" / name).read_bytes())
    copied(project)
    pages = {path.name: path.read_text("utf-8") for path in (project / "work" / "book").glob("*.*")}
    assert set(pages) == {"glossary.md", "references.md", "references.bib", "notation.md", "speed.md"}
    assert not [name for name, text in pages.items() if re.search(r"```\{|\{\w+(:\w+)?\}`", text)]
    assert re.search(
        r"^!\[Bars: .*\]\(_static/speed_ratios\.png\)\n\n\*\*Figure 1\*\*", pages["speed.md"], re.MULTILINE
    )
    assert "\n#### accuracy\n  The share of examples" in pages["glossary.md"]
    key = re.search(r"\((harris\w+)\)", pages["references.md"])[1]
    assert f"{{{key}," in pages["references.bib"] and "(references.bib)" in pages["references.md"]


def test_the_learners_copy_of_a_chapter_answers_no_guess(project):
    cell = new_code_cell("1 + 1", execution_count=1)
    cell.outputs = [new_output("execute_result", {"text/plain": "2"}, execution_count=1)]
    save(project / "notebooks" / "90_demo.ipynb", new_notebook(cells=[cell]))
    copied(project)
    (copy,) = nbformat.read(project / "work" / "notebooks" / "90_demo.ipynb", as_version=4).cells
    assert (copy.source, copy.outputs, copy.execution_count) == ("1 + 1", [], None)


def test_without_its_record_of_copies_work_overwrites_nothing(project):
    copied(project)
    (project / "work" / ".copied.json").write_text("{broken")
    save(project / "notebooks" / "90_demo.ipynb", new_notebook(cells=[new_markdown_cell("# newer")]))
    assert copied(project)["notebooks"] == {"yours": ["90_demo.ipynb"]}


def test_work_leaves_out_what_editors_hide_and_tells_one_line_a_kind(project, capsys, monkeypatch):
    store.write(project / "notebooks" / ".ipynb_checkpoints" / "90_demo-checkpoint.ipynb", "old")
    store.write(project / "work" / "notebooks" / "90_demo.ipynb", "mine already")
    store.write(project / "exercises" / "90_demo" / "90_demo_exercises.ipynb", "new")
    store.write(project / "work" / "exercises" / "90_demo" / "90_demo.ipynb", "mine already")
    monkeypatch.setattr("authoring.__main__.copy_to_work", lambda: copy_to_work(project))
    monkeypatch.setattr("authoring.work._for_the_learner", lambda path: path.read_bytes())
    assert main(["work"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "notebooks: nothing copied; 1 not copied, because you changed them: 90_demo.ipynb",
        "exercises: nothing copied; 1 not copied, because you changed them: 90_demo_exercises.ipynb"
        "; 1 renamed, to 90_demo_exercises.ipynb",
        "book: nothing copied",
    ]
    assert os.listdir(project / "work" / "notebooks") == ["90_demo.ipynb"]


def test_with_storing_off_there_is_nowhere_to_copy_to(project, monkeypatch, capsys):
    monkeypatch.setenv(store.VARIABLE, "")
    assert main(["work"]) == 1
    assert "storing is off" in capsys.readouterr().err


# store


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "file.txt"
    store.write(path, "first")

    def broken(*paths):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        store.write(path, "second")
    assert path.read_text() == "first" and os.listdir(path.parent) == ["file.txt"]


def test_the_work_folder_follows_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv(store.VARIABLE)
    assert store.folder() == store.PROJECT / "work"
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    assert store.folder() == tmp_path
    monkeypatch.setenv(store.VARIABLE, "")
    assert store.folder() is None
    monkeypatch.delenv(store.VARIABLE)
    monkeypatch.setattr(store, "PROJECT", tmp_path)  # installed without the project around it
    assert store.folder().parts[-2:] == ("minigrad-course", "work")
