"""Directives for the teacher's guide: content from the course itself, which is never out of date.

In a page teaching/NN_stem.md, `{at-a-glance}` makes the minutes and the table of exercises; `{mistakes}`
lists each exercise's known mistakes. Both use the notebook and `course.checks`.
"""

import re
from pathlib import Path

import nbformat
from sphinx.util.docutils import SphinxDirective

from course.checks import exercises
from course.curriculum import exercises_path

MINUTES = re.compile(r"\b(\d+) minutes\b")


def at_a_glance(stem, notebook):
    """Return, in Markdown, the minutes of a chapter and its exercises, and the table of its exercises.

    Parameters
    ----------
    stem : str
        The chapter.
    notebook : NotebookNode
        Its notebook, whose first cell has the minutes.

    Returns
    -------
    str
    """
    asked = [exercise for exercise in exercises() if exercise.stem == stem]
    chapter, whole = MINUTES.search(notebook.cells[0].source)[1], sum(e.minutes for e in asked)
    points = sum(e.points for e in asked)
    links = f"[The chapter](../notebooks/{stem}.ipynb) takes {chapter} minutes, "
    links += f"[its exercises](../exercises/{exercises_path(stem)}) {whole}, for "
    links += f"{points} point{'s' * (points != 1)}."
    rows = ["| Exercise | Kind | Points | Minutes | Marked by |", "|---|---|---|---|---|"]
    for number, e in enumerate(asked, 1):
        who = "a person" if e.by_hand else "the grader" if e.remote else "the notebook's check, and a person"
        rows.append(f"| {number}. {e.title} | {e.kind} | {e.points} | {e.minutes} | {who} |")
    return "\n".join([links, "", *rows])


def mistakes(stem):
    """Return, in Markdown, the known mistakes of a chapter's checks, folded by exercise.

    Parameters
    ----------
    stem : str

    Returns
    -------
    str
    """
    folds = []
    for exercise in (exercise for exercise in exercises() if exercise.stem == stem and exercise.mistakes):
        sentences = dict.fromkeys(sentence.replace("\n", " ") for sentence, _ in exercise.mistakes)
        listed = "\n".join(f"- {_quoted(sentence)}" for sentence in sentences)
        folds.append(f"<details>\n<summary>{exercise.title}</summary>\n\n{listed}\n\n</details>")
    return "\n\n".join(folds)


def _quoted(sentence):
    """Escape a sentence for Markdown."""
    return re.sub(r"(?<!`)([*_<$\\])(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"\\\1", sentence)


class FromTheCourse(SphinxDirective):
    """Generate text for the page's chapter."""

    def run(self):
        """Generate the text."""
        stem = Path(self.env.docname).name
        path = Path(self.env.srcdir).parent / "notebooks" / f"{stem}.ipynb"
        self.env.note_dependency(path)
        text = at_a_glance(stem, nbformat.read(path, 4)) if self.name == "at-a-glance" else mistakes(stem)
        return self.parse_text_to_nodes(text, allow_section_headings=False)


def setup(app):
    """Add the two directives to Sphinx."""
    app.add_directive("at-a-glance", FromTheCourse)
    app.add_directive("mistakes", FromTheCourse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
