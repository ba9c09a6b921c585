"""Compute the answers of a chapter's guesses in its own run, and store them beside their expressions.

Holds `with_probes`, which adds the cells that compute them, and `settle`, which takes their outputs. nbval
runs the same cells and compares their outputs with what is stored (``conftest.py``).
"""

import json
import re

from nbformat.v4 import new_code_cell, new_output

from course.guesses import KINDS

PROBE = "__import__('course.guesses').guesses.tell({}, globals())"
HOST = '\n\n<div class="guess guess-{}"></div>'  # the place of the fields, which scripts fill
HOSTED = re.compile(r'\s*<div class="guess guess-[^"]*"></div>\s*\Z')


class WrongGuess(Exception):
    """Raised when a guess has no field, or an answer cannot be computed or does not fit its field."""


def with_probes(notebook):
    """Return a notebook with a cell that computes the answers after each cell that has their expressions.

    Parameters
    ----------
    notebook : NotebookNode
        Not changed; the new notebook has the same cells.

    Returns
    -------
    NotebookNode
        The new cells have the tag ``probe``, and as outputs what is stored.
    """
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if answers := _computed(cell):
            stored = json.dumps([answer.get("is") for answer in answers]) + "\n"
            cells.append(
                new_code_cell(
                    PROBE.format([answer["from"] for answer in answers]),
                    execution_count=1,  # or nbval would take it for a cell that never ran
                    metadata={"tags": ["probe"]},
                    outputs=[new_output("stream", name="stdout", text=stored)],
                )
            )
    return type(notebook)({**notebook, "cells": cells})


def settle(probed):
    """Store the answers that a notebook with probes has computed, and number its other cells.

    Each guess gets the place of its fields, at the end of its Markdown.

    Parameters
    ----------
    probed : NotebookNode
        Made by `with_probes`, and executed. Its cells are changed.

    Raises
    ------
    WrongGuess
        If an answer raised, or does not fit its field; the message lists all of them.
    """
    guesses = {cell.id: cell for cell in probed.cells if "guess" in cell.metadata}
    for name, cell in guesses.items():
        cell.source = HOSTED.sub("", cell.source) + HOST.format(name)
    counts = {}  # by those of the run, in which probes count, too
    for before, cell in zip([None, *probed.cells], probed.cells, strict=False):
        if "probe" in cell.metadata.get("tags", ()):
            values = json.loads("".join(output.text for output in cell.outputs))
            for answer, value in zip(_computed(before), values, strict=True):
                answer["is"] = value
        elif cell.cell_type == "code" and cell.source:
            counts[cell.execution_count] = len(counts) + 1
            _renumber(cell, counts)
    right = {}
    for cell in probed.cells:
        right |= cell.metadata.get("right", {})
    problems = [f"{name}: a guess without an answer." for name in guesses.keys() - right.keys()]
    for name, answers in right.items():
        problems += _problems(name, guesses.get(name), answers)
    if problems:
        raise WrongGuess("\n".join(problems))


def _renumber(cell, counts):
    """Replace the number of a cell, and those of all cells in its tracebacks: ``In[7]``."""
    cell.execution_count = counts[cell.execution_count]
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = cell.execution_count
        if "traceback" in output:
            output.traceback = [
                re.sub(r"(?<=In\[)\d+(?=\])", lambda found: str(counts[int(found[0])]), part)
                for part in output.traceback
            ]


def _computed(cell):
    """List the answers of a cell that have an expression."""
    answers = cell.metadata.get("right", {}).values()
    return [answer for group in answers for answer in group if "from" in answer]


def _problems(name, cell, answers):
    """List what is wrong with the fields and answers of one guess."""
    if cell is None:
        return [f"{name}: there is no guess with this id."]
    fields = cell.metadata.guess
    if len(fields) != len(answers):
        return [f"{name}: each field needs an answer; got {len(answers)} for {len(fields)}."]
    return [
        f"{name}, field {place}: {problem}"
        for place, (field, answer) in enumerate(zip(fields, answers, strict=True), 1)
        if (problem := _problem(field, answer))
    ]


def _problem(field, answer):
    """Return what is wrong with a field and its answer, or an empty text."""
    kind, value = field["kind"], answer.get("is")
    options = range(len(field.get("options", ())))
    if kind not in KINDS:
        return f"no kind is called {kind!r}."
    if kind != "text" and "from" not in answer:
        return f'a field of kind {kind} needs an expression for its answer, under "from".'
    if isinstance(value, dict):
        return f"{answer['from']} raised {value['raised']}"
    fits = {
        "number": lambda: isinstance(value, int | float),
        "numbers": lambda: isinstance(value, list) and value != [],
        "shape": lambda: isinstance(value, list) and all(isinstance(size, int) for size in value),
        "choice": lambda: value in options,
        "choices": lambda: isinstance(value, list) and all(place in options for place in value),
        "order": lambda: (
            isinstance(value, list)
            and len(value) == len(options)
            and all(place in value for place in options)
        ),
        "text": lambda: value is None,
    }
    return "" if fits[kind]() else f"{answer.get('from')} is {value!r}, which does not fit the kind {kind}."
