"""The learner's copies, made from the solutions: up to date, without answers and outputs."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.nbgraderformat import MetadataValidator

from authoring.exercises import make_exercises

PROJECT = Path(__file__).resolve().parents[2]
SOLUTIONS = sorted(PROJECT.glob("solutions/*/*.ipynb"))
TELLING = 15  # characters: a shorter line of an answer gives nothing away
PROTOCOL = ("defbackward(dY):", "returnY,backward")  # lines that every layer has


def squeezed(text):
    return "".join(text.split())


def answer_lines(solutions):
    """The lines between the marks of a solutions notebook, without blanks, that would give an answer away.

    A line that also occurs in the exercise's own code, to be repaired or used, gives nothing away.
    """
    lines, given = [], set()
    for cell in solutions.cells:
        inside = False
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("statement_"):
            given = set()
        for line in cell.source.splitlines():
            if "SOLUTION" in line:
                inside = "BEGIN SOLUTION" in line
            elif inside and len(squeezed(line)) > TELLING:
                lines += [squeezed(line)] if squeezed(line) not in given.union(PROTOCOL) else []
            elif not inside and cell.cell_type == "code":
                given.add(squeezed(line))
    return lines


def leaks(solutions, exercises):
    """List the leaks of a learner's copy: lines of answers, marks, outputs, counts."""
    text = squeezed("".join(cell.source for cell in exercises.cells))
    found = [line for line in answer_lines(solutions) if line in text]
    found += [mark for mark in ("BEGINSOLUTION", "ENDSOLUTION", "HIDDENTESTS") if mark in text]
    for cell in exercises.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            found.append(f"an output of {cell.source.partition(chr(10))[0]}")
    return found


def copy_of(path):
    return PROJECT / "exercises" / path.parent.name / path.name


def test_there_are_solutions():
    assert SOLUTIONS


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_no_answer_and_no_output_is_in_the_learners_copy(path):
    solutions, exercises = (nbformat.read(where, as_version=4) for where in (path, copy_of(path)))
    assert answer_lines(solutions)
    assert leaks(solutions, exercises) == []


def test_the_learners_copies_are_up_to_date():
    assert make_exercises(PROJECT, check=True) == []


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_nbgrader_accepts_the_marks(path):
    for where in (path, copy_of(path)):
        notebook = nbformat.read(where, as_version=4)
        MetadataValidator().validate_nb(notebook)
        assert any(cell.metadata.get("nbgrader", {}).get("grade") for cell in notebook.cells)


# testing the tester

ANSWER = new_notebook(
    cells=[
        new_code_cell(
            "def f(x):\n    ### BEGIN SOLUTION\n    return 3 * x + x ** 2 - 7\n    ### END SOLUTION"
        )
    ]
)


GIVEN = new_code_cell("def broken(x):\n    y = 3 * x\n    return y + x ** 2 + 7 * x")
REPAIR = new_code_cell("### BEGIN SOLUTION\n    return y + x ** 2 + 7 * x\n    ### END SOLUTION")


def test_a_line_of_the_exercise_s_own_code_is_not_a_leak_but_one_of_another_exercise_is():
    statement = new_markdown_cell("### 2. Next", metadata={"nbgrader": {"grade_id": "statement_next"}})
    assert leaks(new_notebook(cells=[GIVEN, REPAIR]), new_notebook(cells=[GIVEN])) == []
    assert leaks(new_notebook(cells=[GIVEN, statement, REPAIR]), new_notebook(cells=[GIVEN])) != []


@pytest.mark.parametrize(
    "leak",
    [
        new_markdown_cell("Write `return 3*x + x**2 - 7`."),
        new_code_cell("def f(x):\n    return 3 * x + x**2 - 7"),
        new_code_cell("def f(x):\n    ### BEGIN SOLUTION"),
        new_code_cell("f(3)", outputs=[new_output("stream", name="stdout", text="11")]),
        new_code_cell("f(3)", execution_count=1),
    ],
)
def test_a_leak_is_found(leak):
    stub = new_code_cell("def f(x):\n    raise NotImplementedError")
    assert leaks(ANSWER, new_notebook(cells=[stub])) == []
    assert leaks(ANSWER, new_notebook(cells=[stub, leak])) != []
