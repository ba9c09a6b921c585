"""Make the exercise notebooks from the solutions, with nbgrader's own preprocessors.

Holds `mark_cells`, which adds nbgrader's metadata to the cells of a solutions notebook; `learners_copy`,
which removes the answers; and `make_exercises`, which does both for all notebooks.
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
    """A cell of a solutions notebook that is missing, duplicated, or belongs to no exercise."""


def mark_cells(notebook, stem):
    """Mark the cells of a solutions notebook as statements, answers and checks, for nbgrader.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.
    stem : str
        The chapter of the exercises.

    Raises
    ------
    UnmarkedCell
        If an exercise does not have one statement, one check and one answer, or an answer belongs to no
        exercise.

    Notes
    -----
    A statement is the Markdown cell whose heading is the exercise's title. A check is the code cell that
    calls ``check`` with the exercise's name, and the answer is the nearest cell above it with a solution. An
    exercise marked by hand has no check: its answer is the nearest such cell below the statement.
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
            raise UnmarkedCell(f"no cell with {BEGIN} belongs to {exercise.name}.")
        answers.remove(answer)
        mark(answer, exercise.short, solution=True, **graded)
    if answers:
        raise UnmarkedCell(f"cell {answers[0] + 1} has {BEGIN}, but belongs to no exercise of {stem}.")


def learners_copy(solutions):
    """Make the learner's copy of a solutions notebook: stubs for answers, and no outputs.

    Parameters
    ----------
    solutions : NotebookNode
        Not changed; its cells are marked.

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
        The written files; with `check`, those out of date. Exercises without a solution are among them.
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
    """Return the index of the only source that matches a pattern."""
    found = [place for place, source in enumerate(sources) if re.search(pattern, source, re.MULTILINE)]
    if len(found) != 1:
        raise UnmarkedCell(f"the {what} must be in exactly one cell, and was found in {len(found)}.")
    return found[0]
