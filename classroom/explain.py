"""What the notebook itself tells of a failed answer: another definition, a text cell, or a newer Python."""

import re
import sys
from dataclasses import replace

from classroom.result import Status
from classroom.submission import cells_of, notebook_of, source_of

BLOCK = r"^(?:async +)?(?:def|class) +{}\b.*(?:\n(?:[ \t)].*)?)*"  # a definition, to the next line outside it
HERE = sys.version_info[:2]


def explained(part, data, run):
    """Return an exercise's result, with what the notebook tells of a failed or missing answer.

    Of several definitions, the message says which one was checked; of a missing answer, where it is.

    Parameters
    ----------
    part : ExerciseResult
    data : bytes
        The notebook, as handed in.
    run : Run
        Has the cells' sources, and the notes on cells that did not run to their end.

    Returns
    -------
    ExerciseResult
    """
    if part.status == Status.FAILED:
        cells = definitions(part.short, run.sources)
        noted = {place[0] if isinstance(place, tuple) else place for place in run.notes}
        if len(cells) > 1 and noted.isdisjoint(cells) and cells[-1] < run.stop[0]:
            said = part.sentence if part.sentence.endswith((".", "!", "?")) else f"{part.sentence}."
            which = f"Checked: the last of its {len(cells)} definitions, in code cell {cells[-1]}."
            return replace(part, sentence=f"{said} {which}")
    if part.status != Status.MISSING:
        return part
    notebook = notebook_of(data)
    for number, cell in enumerate(cells_of(notebook), start=1):
        kind = {"markdown": "a Markdown cell", "raw": "a raw cell"}.get(str(cell.get("cell_type")))
        if kind and re.search(rf"^(?:def|class) {part.short}\b", source_of(cell), re.MULTILINE):
            where = f"cell {number} has it, but is {kind}: make it a code cell (Esc, then Y)"
            return replace(part, sentence=f"{part.sentence}: {where}")
    newer = f": {python(notebook)}" if "SyntaxError" in part.sentence else ""
    return replace(part, sentence=part.sentence + newer)


def definitions(short, sources):
    r"""List the number of the code cell of each definition of a name, without stubs.

    Parameters
    ----------
    short : str
    sources : sequence of str

    Returns
    -------
    list of int

    Examples
    --------
    >>> stub = "def f(X):\n    raise NotImplementedError"
    >>> definitions("f", [stub, "def f(X):\n    return X", f"f(1)\ndef f(X): return 2 * X\n{stub}"])
    [2, 3]
    """
    found = [
        (number, block.rstrip().removesuffix("()"))
        for number, source in enumerate(sources, start=1)
        for block in re.findall(BLOCK.format(short), source, re.MULTILINE)
    ]
    return [number for number, block in found if not block.endswith("raise NotImplementedError")]


def python(notebook):
    """Compare the Python of a notebook with the one that grades it, and advise.

    Parameters
    ----------
    notebook : dict

    Returns
    -------
    str

    Examples
    --------
    >>> python({"metadata": {"language_info": {"version": "3.99.1"}}})[:43]
    'the notebook was written with Python 3.99, '
    """
    try:
        version = re.match(r"(\d{1,3})\.(\d{1,3})", notebook["metadata"]["language_info"]["version"])
        there = int(version[1]), int(version[2])
    except (KeyError, TypeError):  # not stored, or not as Jupyter does
        there = None
    here = "{}.{}".format(*HERE)
    if there and there <= HERE:
        return f"correct the syntax (it is graded with Python {here})"
    if there:
        return (
            f"the notebook was written with Python {there[0]}.{there[1]}, and is graded with {here}: "
            f"write it as Python {here} allows, or ask your teacher to grade with {there[0]}.{there[1]}"
        )
    return f"it is graded with Python {here}: if a newer one runs the cell, write it as {here} allows"
