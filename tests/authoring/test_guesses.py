"""The answers to a chapter's guesses are computed in its own run, stored, and compared when it runs again."""

import json
import re
import subprocess
import sys
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authoring.chapters import run
from authoring.guesses import HOST, WrongGuess, settle, with_probes
from authoring.notebooks import KERNELSPEC, BuildError
from course import store

NUMBER, TEXT, ANY_NUMBER = {"kind": "number"}, {"kind": "text"}, {"from": "x / 2", "is": 3}
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def asking(name, *fields):
    """A cell that asks for a guess."""
    return new_markdown_cell(f"Guess.{HOST.format(name)}", id=name, metadata={"guess": list(fields)})


def answering(cell, **right):
    """A cell with the answers to guesses, by their ids."""
    cell.metadata.right = nbformat.from_dict(right)
    return cell


def chapter():
    """A notebook with three guesses, the answers to two of them in one cell."""
    return new_notebook(
        cells=[
            asking("half", NUMBER, TEXT),
            asking("pair", {"kind": "shape"}),
            asking("why", TEXT),
            new_code_cell("x = 6", id="x"),
            answering(
                new_code_cell("x / 2", id="halved"),
                half=[{"from": "x / 2", "is": 3}, {}],
                pair=[{"from": "(x, 1)", "is": [6, 1]}],
            ),
            answering(new_markdown_cell("So.", id="so"), why=[{}]),
            new_code_cell("def f():\n    1 / 0", id="f"),
            answering(new_markdown_cell("", id="more")),
            new_code_cell("f()", id="fails", metadata={"tags": ["raises-exception"]}),
        ]
    )


def is_probe(cell):
    return "probe" in cell.metadata.get("tags", ())


def with_values(notebook, *values):
    """A notebook with probes that a kernel has run: the probes have printed these values, cell by cell."""
    probed, waiting = with_probes(notebook), list(values)
    for count, cell in enumerate((cell for cell in probed.cells if cell.cell_type == "code"), 1):
        cell.execution_count = count
        if is_probe(cell):
            cell.outputs[0].text = json.dumps(waiting.pop(0)) + "\n"
    assert waiting == []
    return probed


def right(notebook):
    """The answers of a notebook, by the ids of the guesses."""
    return {name: group for cell in notebook.cells for name, group in cell.metadata.get("right", {}).items()}


def problems(*cells, values=()):
    """What is said about these cells once they have run."""
    with pytest.raises(WrongGuess) as caught:
        settle(with_values(new_notebook(cells=list(cells)), *values))
    return sorted(str(caught.value).splitlines())


def problem(field, value, expression="x"):
    """What is said about one field, and the value of its answer."""
    answers = answering(new_markdown_cell(""), a=[{"from": expression}])
    (said,) = problems(asking("a", field), answers, values=[[value]])
    return said


# probes


def test_a_probe_follows_each_cell_whose_answers_are_computed():
    notebook = chapter()
    before = deepcopy(notebook)
    probed = with_probes(notebook)
    assert notebook == before
    assert [cell for cell in probed.cells if not is_probe(cell)] == notebook.cells
    assert [
        cell.id for cell, after in zip(probed.cells, probed.cells[1:], strict=False) if is_probe(after)
    ] == ["halved"]
    nbformat.validate(probed)


def test_a_probe_prints_what_is_stored(capsys):
    (probe,) = filter(is_probe, with_probes(chapter()).cells)
    exec(probe.source, {"x": 6})
    (stored,) = probe.outputs
    assert (stored.output_type, stored.name) == ("stream", "stdout")
    assert capsys.readouterr().out == stored.text == "[3, [6, 1]]\n"
    assert probe.execution_count  # or nbval leaves the cell out


def test_an_answer_that_was_never_computed_is_empty_in_the_probe():
    notebook = chapter()
    del right(notebook)["half"][0]["is"]
    (probe,) = filter(is_probe, with_probes(notebook).cells)
    assert probe.outputs[0].text == "[null, [6, 1]]\n"


# storing


def test_the_values_of_the_run_are_stored():
    notebook = chapter()
    settle(with_values(notebook, [2.5, [5, 1]]))
    assert right(notebook) == {
        "half": [{"from": "x / 2", "is": 2.5}, {}],
        "pair": [{"from": "(x, 1)", "is": [5, 1]}],
        "why": [{}],
    }


def test_the_cells_are_numbered_as_if_there_were_no_probes():
    notebook = chapter()
    probed = with_values(notebook, [3, [6, 1]])
    by_id = {cell.id: cell for cell in notebook.cells}
    by_id["halved"].outputs = [new_output("execute_result", {"text/plain": "3.0"}, execution_count=2)]
    trace = ["Traceback", "Cell \x1b[32mIn[5]\x1b[39m, line 1\n", "Cell In[4], line 2, in f()"]
    by_id["fails"].outputs = [new_output("error", ename="E", evalue="", traceback=trace)]
    assert by_id["fails"].execution_count == 5
    settle(probed)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == [1, 2, 3, 4]
    assert by_id["halved"].outputs[0].execution_count == 2
    assert by_id["fails"].outputs[0].traceback == [
        "Traceback",
        "Cell \x1b[32mIn[4]\x1b[39m, line 1\n",
        "Cell In[3], line 2, in f()",
    ]


@pytest.mark.parametrize("end", ["", HOST.format("half"), HOST.format("older") + "\n"])
def test_a_guess_ends_with_the_place_of_its_fields(end):
    notebook = chapter()
    notebook.cells[0].source = "Guess." + end
    settle(with_values(notebook, [3, [6, 1]]))
    assert notebook.cells[0].source == 'Guess.\n\n<div class="guess guess-half"></div>'


# answers that do not fit


@pytest.mark.parametrize(
    ("field", "values"),
    [
        (NUMBER, [0, -1.5]),
        ({"kind": "numbers"}, [[1], [1, 2.5], [[1, 2], [3, 4]]]),
        ({"kind": "shape"}, [[], [3], [3, 7]]),
        ({"kind": "choice", "options": ["a", "b", "c"]}, [0, 2]),
        ({"kind": "choices", "options": ["a", "b", "c"]}, [[], [1], [0, 1, 2]]),
        ({"kind": "order", "options": ["a", "b", "c"]}, [[0, 1, 2], [2, 0, 1]]),
    ],
)
def test_an_answer_that_fits_its_field_is_stored(field, values):
    for value in values:
        answers = answering(new_markdown_cell(""), a=[{"from": "x"}])
        settle(with_values(new_notebook(cells=[asking("a", field), answers]), [value]))
        assert answers.metadata.right.a[0]["is"] == value


@pytest.mark.parametrize(
    ("field", "values"),
    [
        (TEXT, [3]),
        (NUMBER, [[1], []]),
        ({"kind": "numbers"}, [1, []]),
        ({"kind": "shape"}, [3, [2.5], [[3]]]),
        ({"kind": "choice", "options": ["a", "b", "c"]}, [3, -1, 0.5, [0]]),
        ({"kind": "choices", "options": ["a", "b", "c"]}, [0, [3], [0, -1], [[0]]]),
        (
            {"kind": "order", "options": ["a", "b", "c"]},
            [0, [0, 1], [0, 1, 1], [1, 2, 3], [0, 1, 2, 2], [[0]]],
        ),
    ],
)
def test_an_answer_that_does_not_fit_its_field_is_refused(field, values):
    for value in values:
        assert problem(field, value) == (
            f"a, field 1: x is {value!r}, which does not fit the kind {field['kind']}."
        )


def test_a_kind_that_does_not_exist_is_refused():
    assert problem({"kind": "digit"}, 3) == "a, field 1: no kind is called 'digit'."


def test_a_field_to_be_judged_needs_an_expression():
    said = problems(asking("a", NUMBER), answering(new_markdown_cell(""), a=[{"is": 3}]))
    assert said == ['a, field 1: a field of kind number needs an expression for its answer, under "from".']


def test_all_problems_are_listed():
    answers = {
        "b": [ANY_NUMBER, {"from": "y"}],
        "c": [ANY_NUMBER],
        "e": [{}],
    }
    said = problems(
        asking("a", TEXT),
        asking("b", NUMBER, NUMBER),
        asking("c", NUMBER, TEXT),
        answering(new_markdown_cell(""), **answers),
        asking("d", {"kind": "choice", "options": ["yes", "no"]}),
        answering(new_markdown_cell(""), d=[{"from": "z"}]),
        values=[[[3], {"raised": "NameError: y"}, 3], [2]],
    )
    assert said == [
        "a: a guess without an answer.",
        "b, field 1: x / 2 is [3], which does not fit the kind number.",
        "b, field 2: y raised NameError: y",
        "c: each field needs an answer; got 1 for 2.",
        "d, field 1: z is 2, which does not fit the kind choice.",
        "e: there is no guess with this id.",
    ]


# a run


def stored(path, notebook):
    store.write(path, nbformat.writes(notebook))
    return path


def test_a_run_computes_the_answers_and_stores_them(tmp_path):
    notebook = chapter()
    notebook.cells[3].source = "x = 5"
    notebook.cells[-1].metadata.right = {}
    path = stored(tmp_path / "notebooks" / "91_demo.ipynb", notebook)
    run("91", tmp_path)
    after = nbformat.read(path, as_version=4)
    assert right(after) == {
        "half": [{"from": "x / 2", "is": 2.5}, {}],
        "pair": [{"from": "(x, 1)", "is": [5, 1]}],
        "why": [{}],
    }
    assert [cell.id for cell in after.cells] == [cell.id for cell in notebook.cells]
    code = [cell for cell in after.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    (error,) = code[-1].outputs
    assert re.findall(r"In\[(\d)\], line \d", COLOUR.sub("", "".join(error.traceback))) == ["4", "3"]


def test_a_chapter_whose_answer_cannot_be_computed_is_left_as_it_was(tmp_path):
    notebook = chapter()
    right(notebook)["half"][0]["from"] = "x / 0"
    right(notebook)["pair"][0]["from"] = "y"
    path = stored(tmp_path / "notebooks" / "91_demo.ipynb", notebook)
    before = path.read_bytes()
    with pytest.raises(BuildError) as caught:
        run("91", tmp_path)
    assert str(caught.value).splitlines() == [
        "91_demo.ipynb is unchanged. Its guesses:",
        "half, field 1: x / 0 raised ZeroDivisionError: division by zero",
        "pair, field 1: y raised NameError: name 'y' is not defined",
    ]
    assert path.read_bytes() == before


def test_nbval_compares_the_stored_answers_with_those_of_its_run(tmp_path):
    notebook = new_notebook(
        cells=[
            asking("half", NUMBER),
            asking("third", NUMBER),
            new_code_cell("x = 6", execution_count=1),
            answering(new_markdown_cell("It is three."), half=[ANY_NUMBER]),
            answering(new_markdown_cell("It is two."), third=[{"from": "x / 3", "is": 4}]),
        ]
    )
    notebook.metadata.kernelspec = KERNELSPEC
    path = stored(tmp_path / "demo.ipynb", notebook)
    options = ["-c", "pyproject.toml", "-p", "conftest", "-p", "no:cacheprovider", "-rA", "--nbval"]
    command = [sys.executable, "-m", "pytest", *options, path]
    done = subprocess.run(command, cwd=store.PROJECT, capture_output=True, text=True)
    said = COLOUR.sub("", done.stdout)
    results = re.findall(r"^(PASSED|FAILED) .*::Cell (\d)", said, re.MULTILINE)
    assert sorted(results) == [("FAILED", "2"), ("PASSED", "0"), ("PASSED", "1")], said + done.stderr
    assert "'[4]\\n' == '[2]\\n'" in said
