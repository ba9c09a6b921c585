"""From solutions/ to exercises/: the learner's copies, made with nbgrader's own preprocessors.

Holds `mark_cells`, which tells nbgrader what each cell of a solutions notebook is; `learners_copy`, which
takes the answers out; and `make_exercises`, which does it for all. Leaves out running notebooks
(``authoring.chapters``).
"""

import re
from copy import deepcopy

import nbformat

from authoring.notebooks import as_text, tidy
from course import store
from course.checks import exercises

BEGIN = "### BEGIN SOLUTION"
STUB = "raise NotImplementedError"
WRITTEN_STUB = "*Your answer:*"


class UnmarkedCell(Exception):
    """A cell of a solutions notebook that is missing, there twice, or belongs to no exercise."""


def mark_cells(notebook, stem):
    """Tell nbgrader which cells of a solutions notebook are statements, answers and checks.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.
    stem : str
        The chapter, whose exercises say what is asked, and for how many points.

    Raises
    ------
    UnmarkedCell
        If an exercise has not one statement, one check and an answer there, or an answer belongs to no
        exercise.

    Notes
    -----
    A statement is the Markdown cell whose heading is the exercise's title. A check is the code cell that
    calls ``check`` with the exercise's name, and the answer is the nearest cell above it with a solution
    inside. What a person marks has no check: its answer is the nearest such cell below the statement.
    """
    sources = [cell.source for cell in notebook.cells]
    answers = [place for place, source in enumerate(sources) if BEGIN in source]
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)

    def mark(place, grade_id, **fields):
        marks = {"grade": False, "solution": False, "locked": False, **fields}
        notebook.cells[place].metadata["nbgrader"] = {"grade_id": grade_id, "schema_version": 3, **marks}

    for exercise in (exercise for exercise in exercises() if exercise.stem == stem):
        statement = _place(
            sources, rf"^### \d+\. {re.escape(exercise.title)} \(", f"statement of {exercise.name}"
        )
        mark(statement, f"statement_{exercise.short}", locked=True)
        if exercise.by_hand:
            answer = min((place for place in answers if place > statement), default=None)
            graded = {"grade": True, "points": exercise.points}
        else:
            check = _place(sources, rf'^check\("{exercise.name}"', f"check of {exercise.name}")
            mark(check, f"check_{exercise.short}", grade=True, points=exercise.points, locked=True)
            answer = max((place for place in answers if place < check), default=None)
            graded = {}
        if answer not in answers:
            raise UnmarkedCell(f"no cell with {BEGIN} answers {exercise.name}.")
        answers.remove(answer)
        mark(answer, exercise.short, solution=True, **graded)
    if answers:
        raise UnmarkedCell(f"cell {answers[0] + 1} has {BEGIN}, and no exercise of {stem} asks for it.")


def learners_copy(solutions):
    """Return the learner's copy of a solutions notebook: stubs for answers, and no outputs.

    Parameters
    ----------
    solutions : NotebookNode
        Left as it is; its cells are marked.

    Returns
    -------
    NotebookNode
    """
    from nbgrader.preprocessors import ClearOutput, ClearSolutions

    stubs = ClearSolutions(code_stub={"python": STUB}, text_stub=WRITTEN_STUB)
    notebook, resources = deepcopy(solutions), {}
    for step in (stubs, ClearOutput()):
        notebook, resources = step.preprocess(notebook, resources)
    return notebook


def make_exercises(project=store.PROJECT, check=False):
    """Make exercises/ from solutions/.

    Parameters
    ----------
    project : Path
    check : bool
        Write nothing.

    Returns
    -------
    list of Path
        What was written; with `check`, what is out of date. An exercise without a solution is among them.
    """
    changed, wanted = [], set()
    for path in sorted(project.glob("solutions/*/*.ipynb")):
        notebook = tidy(nbformat.read(path, as_version=4))
        mark_cells(notebook, path.parent.name)
        text, target = (
            as_text(learners_copy(notebook)),
            project / "exercises" / path.relative_to(project / "solutions"),
        )
        wanted.add(target)
        if not target.exists() or target.read_text("utf-8") != text:
            changed.append(target)
            if not check:
                store.write(target, text)
    for stale in sorted(set(project.glob("exercises/*/*.ipynb")) - wanted):
        changed.append(stale)
        if not check:
            stale.unlink()
    return changed


def _place(sources, pattern, what):
    """Return the place of the one source that a pattern is found in."""
    found = [place for place, source in enumerate(sources) if re.search(pattern, source, re.MULTILINE)]
    if len(found) != 1:
        raise UnmarkedCell(f"the {what} should stand in one cell, and was found in {len(found)}.")
    return found[0]
