"""Lay out pages of exercises: each exercise in a box, with folded hints; folded answers at the end.

The learner's notebook has neither: a call shows the hints, and the learner writes the answers. A page cannot
call functions. So when Sphinx reads a page of exercises, the hints from `course.checks` are added below each
check, and the answers from solutions/ at the end; the notebook for download is unchanged. In the list of
pages, exercises are below their chapter; in the PDF they are a separate part, as the first page lists
them.
"""

import re
from html import escape
from pathlib import Path

import nbformat
from docutils import nodes
from nbformat.v4 import new_markdown_cell
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from authoring.exercises import BEGIN
from course.checks import exercises
from course.curriculum import exercises_name, exercises_path

FOLDER = "exercises/"
CHAPTERS = "notebooks/"
LISTED = re.compile(r"```\{toctree\}\n:hidden:\n:caption: Exercises\n.*?```\n", re.DOTALL)
UNDER_A_CHAPTER = "```{{toctree}}\n:hidden:\n\nExercises <../{0}>\n```"
WORTH = re.compile(r" ?\(\d+ points?, \d+ minutes\)$")
STATEMENT = re.compile(r"^### (?=\d+\. )", re.MULTILINE)
MARKERS = re.compile(rf"^[ \t]*({re.escape(BEGIN)}|### END SOLUTION)\n?", re.MULTILINE)


def with_hints_and_answers(notebook, solutions, asked):
    """Add folded hints to a notebook of exercises, and the folded answers at its end.

    Parameters
    ----------
    notebook : NotebookNode
        The learner's copy.
    solutions : NotebookNode
        The notebook from which it was made.
    asked : sequence of Exercise

    Returns
    -------
    NotebookNode

    Raises
    ------
    ExtensionError
        If the solutions have no answer to one of the exercises.
    """
    answers = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in solutions.cells}
    cells, folded = [], []
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if cell.cell_type == "markdown":
            cell.source = STATEMENT.sub("## ", cell.source)  # a page must not skip a level of headings
        cells.append(cell)
        for number, exercise in enumerate(asked, 1):
            if grade_id == (exercise.short if exercise.by_hand else f"check_{exercise.short}"):
                cells.append(new_markdown_cell("\n\n".join(_hints(exercise))))
                if exercise.short not in answers:
                    raise ExtensionError(
                        f"{exercise.name} has no marked answer: make chapter N={exercise.stem[:2]}"
                    )
                folded.append(_fold(f"{number}. {exercise.title}", _answer(answers[exercise.short])))
    if folded:
        cells.append(new_markdown_cell("## Answers\n\n" + "\n\n".join(folded)))
    return type(notebook)({**notebook, "cells": cells})


def _hints(exercise):
    """Yield the exercise's hints, each folded."""
    for number, hint in enumerate(exercise.hints, 1):
        yield _fold(f"Hint {number}", hint)


def _answer(cell):
    """Return, in Markdown, the answer in a cell of the solutions."""
    text = MARKERS.sub("", cell.source).strip()
    return f"```python\n{text}\n```" if cell.cell_type == "code" else text


def _fold(title, text):
    """Return a fold in Markdown, in the form that the chapters use."""
    return f"<details>\n<summary>{escape(title)}</summary>\n\n{text}\n\n</details>"


def _on_reading(app, page, source):
    """Complete the pages of exercises, and list them under their chapters."""
    if app.builder.name == "html" and page == app.config.root_doc:
        source[0] = LISTED.sub("", source[0])
    stem = page.removeprefix(CHAPTERS)
    its_exercises = f"{FOLDER}{stem}/{exercises_name(stem)}"
    if app.builder.name == "html" and page != stem and its_exercises in app.env.found_docs:
        notebook = nbformat.reads(source[0], as_version=4)
        notebook.cells.append(new_markdown_cell(UNDER_A_CHAPTER.format(its_exercises)))
        source[0] = nbformat.writes(notebook)
    if page.startswith(FOLDER):
        stem = page.split("/")[-2]
        solutions = Path(app.srcdir).parent / "solutions" / exercises_path(stem)
        if solutions.exists():
            app.env.note_dependency(solutions)
            notebook = nbformat.reads(source[0], as_version=4)
            asked = [exercise for exercise in exercises() if exercise.stem == stem]
            whole = with_hints_and_answers(notebook, nbformat.read(solutions, as_version=4), asked)
            source[0] = nbformat.writes(whole)


class Boxes(SphinxTransform):
    """Mark the sections that are exercises; the style sheet draws the boxes."""

    default_priority = 700

    def apply(self, **kwargs):
        """Find exercises by number, and separate the points and minutes from the titles."""
        if self.env.docname.startswith(FOLDER):
            for section in self.document.findall(nodes.section):
                if re.match(r"\d+\. ", section[0].astext()):
                    section["classes"].append("exercise")
                    text = section[0][-1]
                    if isinstance(text, nodes.Text) and (worth := WORTH.search(text)):
                        quiet = nodes.inline("", worth[0].strip(), classes=["worth"])
                        section[0][-1:] = [nodes.Text(text[: worth.start()] + " "), quiet]


def _list_by_titles(app, doctree):
    """Remove the points and minutes from a page's table of contents."""
    if app.env.docname.startswith(FOLDER):
        for worth in list(app.env.tocs[app.env.docname].findall(nodes.inline)):
            if "worth" in worth["classes"]:
                worth.parent.remove(worth)


def setup(app):
    """Connect the steps to Sphinx."""
    app.connect("source-read", _on_reading)
    app.connect("doctree-read", _list_by_titles, priority=600)  # after Sphinx has collected the titles
    app.add_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
