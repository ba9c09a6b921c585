"""Let a chapter's page ask for the guesses, and print their answers at the end of a chapter on paper.

A guess's Markdown ends with an empty <div class="guess guess-ID">. In HTML pages _static/guesses.js fills it
with the fields that the notebook's metadata describes (``course.guesses``); the page carries these and their
answers as JSON. In the PDF and the EPUB each field is a line to write on, and the answers are in a section
of their own, with links to and fro.
"""

import json
import re
from pathlib import Path

import nbformat
from figure_numbers import FIGURE
from nbformat.v4 import new_markdown_cell
from sphinx.errors import ExtensionError

from course import curriculum
from course.guesses import questions

PAPER = ("latex", "epub")
HOST = re.compile(r'\n*<div class="guess guess-([\w-]+)"></div>\s*\Z')
GUESS = "\n\n(guess-{0})=\n**Guess {1}**"
TO_ANSWER = " ([answer](#answer-{0}))"
SHORT, LONG = r"\_" * 12, r"\_" * 36  # lines to write on
SHORT_KINDS = ("number", "shape", "choice")
ANSWERS = "## Answers to the guesses"
ANSWER = "(answer-{0})=\n**Guess {1}** ([question](#guess-{0}))"
PAGE = '<script type="application/json" class="guesses" data-chapter="{}">{}</script>'
COURSE = '<div class="where-you-are"></div>'


def with_answers_last(notebook, chapter):
    """Move the answers of a chapter's guesses to its end, with their proofs.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place. Its figures keep the numbers of their places before the move.
    chapter : str
        Its number, for the links: ``"04"``.

    Returns
    -------
    NotebookNode

    Raises
    ------
    ExtensionError
        If an answer stands before the first guess.
    """
    _number_figures(notebook)
    cells, guesses, answers = [], [], {}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "guess" in tags:
            guesses.append(cell)
        follows = "proof" in tags and cells and cells[-1] is None
        if "answer" not in tags and not follows:
            cells.append(cell)
            continue
        if not guesses:
            raise ExtensionError(f"chapter {chapter} answers before its first guess: {cell.source[:60]!r}")
        answers.setdefault(len(guesses), []).append(cell)
        cells.append(None)
    notebook.cells = [cell for cell in cells if cell is not None]
    for number, cell in enumerate(guesses, 1):
        name = f"{chapter}-{number}"
        link = TO_ANSWER.format(name) if number in answers else ""  # others are answered in the text
        lines = [GUESS.format(name, number) + link, *map(_line, cell.metadata.get("guess", [{}]))]
        cell.source = HOST.sub("", cell.source) + "\\\n".join(lines)
    if answers:
        notebook.cells.append(new_markdown_cell(ANSWERS))
    for number, group in answers.items():
        notebook.cells.append(new_markdown_cell(ANSWER.format(f"{chapter}-{number}", number)))
        notebook.cells += group
    return notebook


def _line(field):
    """Return the line to write on of a field, after its label and its options."""
    options = f" ({' / '.join(field['options'])})" if "options" in field else ""
    line = SHORT if field.get("kind") in SHORT_KINDS else LONG
    return f"{field.get('label', 'My guess')}{options}: {line} {field.get('unit', '')}".rstrip()


def _number_figures(notebook):
    """Write the place of each figure among a chapter's figures into its HTML."""
    place = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            if FIGURE.search(html):
                place += 1
                output.data["text/html"] = html.replace("<figure ", f'<figure data-place="{place}" ', 1)


def _on_reading(app, page, source):
    """Move the answers of a chapter for paper, before folds.py looks at them."""
    if app.builder.name in PAPER and page.startswith("notebooks/"):
        notebook = nbformat.reads(source[0], as_version=4)
        source[0] = nbformat.writes(with_answers_last(notebook, page.removeprefix("notebooks/")[:2]))


def _asked(app, stem):
    """Return the questions of a chapter, as its notebook asks them."""
    path = Path(app.env.doc2path(f"notebooks/{stem}"))
    return questions(json.loads(path.read_text("utf-8")))


def _add_questions(app, page, template, context, doctree):
    """Put the questions of a chapter into its page, and those of all chapters into Where you are."""
    if app.builder.name != "html" or doctree is None:
        return
    if page.startswith("notebooks/") and (asked := _asked(app, stem := page.removeprefix("notebooks/"))):
        context["body"] += PAGE.format(stem, _as_json(asked))
    elif COURSE in context.get("body", ""):
        chapters = [
            {
                "chapter": chapter.stem,
                "title": f"{chapter.number:02} {chapter.title}",
                "page": f"notebooks/{chapter.stem}.html",
                "asked": [guess["id"] for guess in _asked(app, chapter.stem)],
            }
            for chapter in curriculum.CHAPTERS
            if f"notebooks/{chapter.stem}" in app.env.found_docs
        ]
        context["body"] += PAGE.format("", _as_json(chapters))


def _as_json(thing):
    """Return a thing as JSON that may stand in a page."""
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def setup(app):
    """Connect the fields and the printed answers to Sphinx."""
    app.connect("source-read", _on_reading, priority=750)
    app.connect("html-page-context", _add_questions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
