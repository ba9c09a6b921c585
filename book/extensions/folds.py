"""Fold proofs, the answers to guesses, and long imports.

JupyterLab shows the first line of a folded cell, so that line does not reveal the answer: ``# what happens``,
or ``# proof`` above a line such as ``# three of five ways fail``. In the book a cell tagged `proof` is folded
under *Proof*, and shows its claim when opened. Neighbouring cells tagged `answer` are folded under one line,
with their outputs; an answer in Markdown is ``<details class="answer">`` in the notebook, too. A cell of more
than eight lines that has only imports is folded to one small line. In the PDF and the EPUB nothing is
folded. The switch that shows all answers is in chapter_tools.py and _static/book.js.
"""

import ast
import re
from itertools import groupby

import nbformat
from nbformat.v4 import new_markdown_cell
from sphinx.errors import ExtensionError

PAPER = ("latex", "epub")
SUMMARY = "Show what happens"
OPENING = f'<details class="answer">\n<summary>{SUMMARY}</summary>'
CLOSING = "</details>"
FOLDED = re.compile(
    r'\A\s*<details class="answer">\s*<summary>[^<]*</summary>\n\s*\n(.*?)\n\s*\n</details>\s*\Z', re.DOTALL
)
PROOF = re.compile(r"\A# proof\n# (.+)\n+")
HAPPENS = "# what happens\n"
MOST = 8  # lines of imports that are not folded
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} .*", re.MULTILINE)


def with_folds(notebook, on_paper=False):
    """Fold the proofs and answers of a notebook, or unfold them for paper.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.
    on_paper : bool

    Returns
    -------
    NotebookNode

    Raises
    ------
    ExtensionError
        If a cell tagged `proof` has no claim, or an answer has a heading.
    """
    cells = []
    for is_answer, group in groupby(notebook.cells, _is_answer):
        group = [cell for one in group for cell in _cells(one, on_paper)]
        if is_answer:
            group = [_without_own_fold(cell) for cell in group]
        if is_answer and not on_paper:
            group = [new_markdown_cell(OPENING), *group, new_markdown_cell(CLOSING)]
        cells += group
    return type(notebook)({**notebook, "cells": cells})


def is_long_import(source):
    """Report whether code has only imports, in more than eight lines.

    Parameters
    ----------
    source : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_long_import("import os\\n"), is_long_import("import os\\n" * 9), is_long_import("x = 1\\n" * 9)
    (False, True, False)
    """
    if len(source.strip().splitlines()) <= MOST:
        return False
    try:
        lines = ast.parse(source).body
    except SyntaxError:  # a magic command, or an unfinished line
        return False
    return all(isinstance(line, ast.Import | ast.ImportFrom) for line in lines)


def _is_answer(cell):
    """Report whether a cell is tagged as an answer."""
    return "answer" in cell.metadata.get("tags", [])


def _cells(cell, on_paper):
    """Yield a cell for the book: without its line for JupyterLab and, on paper, with the proof's claim."""
    if cell.cell_type == "code":
        cell.source = cell.source.removeprefix(HAPPENS)
        if not on_paper and is_long_import(cell.source):
            label = f"Imports: {len(cell.source.strip().splitlines())} lines"
            cell.metadata.setdefault("tags", []).extend(["hide-input", "imports"])
            cell.metadata.mystnb = {"code_prompt_show": label, "code_prompt_hide": label}
    if cell.cell_type == "code" and "proof" in cell.metadata.get("tags", []):
        claim = PROOF.match(cell.source)
        if not claim:
            raise ExtensionError(
                "a cell tagged proof must begin with the line `# proof`, followed by a line such as "
                f"`# three of five ways fail`, got:\n{cell.source[:200]}"
            )
        cell.source = cell.source[claim.end() :]
        if on_paper:
            yield new_markdown_cell(f"*Proof:* {claim[1]}", metadata={"tags": cell.metadata.tags})
        else:
            cell.metadata.tags.append("hide-cell")
            cell.metadata.mystnb = {"code_prompt_show": "Proof", "code_prompt_hide": f"Proof: {claim[1]}"}
    yield cell


def _without_own_fold(cell):
    """Remove the answer's own fold, since in the book one fold contains all neighbouring answers."""
    if cell.cell_type == "markdown":
        if folded := FOLDED.match(cell.source):
            cell.source = folded[1]
        if heading := HEADING.search(FENCED.sub("", cell.source)):
            raise ExtensionError(
                f"an answer must not have a heading, since a fold cannot close a section: {heading[0]!r}. "
                "Move the heading out of the cells tagged answer."
            )
    return cell


def _on_reading(app, page, source):
    """Fold a notebook after exercise_boxes adds the hints, and before on_paper unfolds everything."""
    if page.startswith(("notebooks/", "exercises/")):
        notebook = nbformat.reads(source[0], as_version=4)
        source[0] = nbformat.writes(with_folds(notebook, on_paper=app.builder.name in PAPER))


def setup(app):
    """Connect the folding to Sphinx."""
    app.connect("source-read", _on_reading, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
