"""From the bytes of a submission to the sources of its code cells.

An honest notebook that was damaged on its way is read all the same: whatever is not a source is passed over,
and only what holds no sources is refused. For that reason nbformat is not asked: it wants a notebook whole,
and warns. Nothing is compiled or run here. Leaves out running the cells (``classroom.child``).
"""

import json
import re
import warnings

from classroom.faults import GradingFault, Refused

BYTES = 5_000_000
CELLS = 500
WORK = 200_000  # characters that IPython may read: each of its commands makes it read the cell again
LINE = 1_000  # characters of a line that may be a command
COMMAND = re.compile(r"^[ \t]*(?:[%!?,;/]|>>>|In \[)|\?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)
ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # of lines, for str and IPython; not for Python
HIDDEN = {ord(end): chr(0xFDD0 + place) for place, end in enumerate(ENDS)}  # letters that no text has
SHOWN = {ord(hidden): chr(end) for end, hidden in HIDDEN.items()}
CELL_COMMAND = re.compile(r"\s*%%(\S*).*\n?")
NOT_PYTHON = (
    "bash sh script html HTML javascript js latex markdown svg writefile file perl ruby cmd system sx"
)


def read_file(path):
    """Return the bytes of a submission, without following a link.

    Parameters
    ----------
    path : Path

    Raises
    ------
    Refused
        If it is a link, no ordinary file, or too large.
    GradingFault
        If it cannot be read.
    """
    try:
        if path.is_symlink():
            raise Refused("the file is a link to another place; hand in the notebook itself.")
        if not path.is_file():
            raise Refused("there is no ordinary file of this name.")
        _require_size(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise GradingFault(f"not graded, because the file cannot be read: {error.strerror}.") from error


def read(data):
    r"""Return the sources of a notebook's code cells, in order, as Python.

    Parameters
    ----------
    data : bytes
        The file as it was handed in.

    Returns
    -------
    list of str
        IPython's commands are calls of `get_ipython()` by now, as IPython makes them; a cell command
        such as %%time is gone, and a cell in another language is empty.

    Raises
    ------
    Refused
        If it is too large, no notebook, or has too many cells.

    Examples
    --------
    >>> read(b'{"cells": [{"cell_type": "code", "source": ["X = 1\\n", "%pwd"]}]}')
    ["X = 1\nget_ipython().run_line_magic('pwd', '')\n"]
    """
    _require_size(len(data))
    cells = _cells(_json(data))
    if len(cells) > CELLS:
        raise Refused(f"the notebook has {len(cells)} cells; the grader reads at most {CELLS}.")
    sources, work = [], WORK
    for source in (_source(cell) for cell in cells if _is_code(cell)):
        source = _without_cell_commands(source)
        if COMMAND.search(source) or source[:1].isspace():
            work -= len(source) * (1 + len(COMMAND.findall(source)))
            if work >= 0 and max(map(len, source.split("\n"))) <= LINE:
                source = _without_commands(source)
        sources.append(source)
    return sources


def _require_size(size):
    """Refuse a file that is too large."""
    if size > BYTES:
        raise Refused(f"the file has {size / 1e6:.1f} MB; the grader reads at most {BYTES / 1e6:.0f} MB.")


def _json(data):
    """Return what the bytes say."""
    try:
        return json.loads(_text(data))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}: {error.msg}"
        raise Refused(f"the file is no notebook: it is not JSON ({where}).") from error
    except (ValueError, RecursionError) as error:
        what = "its JSON is nested too deep, or a number in it is too long"
        raise Refused(f"the file is no notebook: {what}.") from error


def _text(data):
    """Return the bytes as text, in whatever encoding they are."""
    for encoding in (json.detect_encoding(data), "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _cells(notebook):
    """Return the cells of a notebook of format 4, or of an older one, which has them in worksheets."""
    if not isinstance(notebook, dict):
        raise Refused("the file is JSON, but no notebook.")
    sheets = notebook.get("worksheets")
    sheets = [notebook] if not isinstance(sheets, list) or "cells" in notebook else sheets
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    cells = [cell for some in lists if isinstance(some, list) for cell in some if isinstance(cell, dict)]
    if not cells:
        raise Refused("the file is JSON, but no notebook with cells.")
    return cells


def _is_code(cell):
    """Tell whether a cell holds code; one that has lost its type does if it may have outputs."""
    return cell.get("cell_type", "code" if "outputs" in cell else "") == "code"


def _source(cell):
    """Return the source of a cell: one text, or lines that may have lost their ends."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        source = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines).removesuffix("\n")
    source = source if isinstance(source, str) else ""
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return source.encode("utf-8", "replace").decode()  # half a surrogate pair cannot travel


def _without_cell_commands(source):
    """Return a cell without the commands above it (%%time); nothing, where its language is another."""
    begin = 0
    while command := CELL_COMMAND.match(source, begin):
        if command[1] in NOT_PYTHON.split():
            return ""
        begin = command.end()
    return source[begin:]


def _without_commands(source):
    """Return a cell as IPython gives it to Python."""
    from IPython.core.inputtransformer2 import TransformerManager

    with warnings.catch_warnings(action="ignore"):  # it wonders at characters that end a line for str alone
        try:
            hidden = re.sub(rf"(?<=[^\n])[{ENDS}]", lambda end: end[0].translate(HIDDEN), source)
            return TransformerManager().transform_cell(hidden).translate(SHOWN)
        except Exception:  # of a cell that is no Python: it will say so where it runs
            return source
