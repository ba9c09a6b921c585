"""Reading a submission: from its bytes to the sources of its code cells.

An honest but damaged notebook is still read: everything but the sources is ignored, and only a file that has
none is refused. nbformat is not used, since it accepts only valid notebooks. Nothing is compiled or run here;
``classroom.child`` runs the cells.
"""

import json
import re
import warnings

from classroom.faults import GradingFault, Refused
from classroom.outputs import require_size, without_outputs

CELLS = 500
WORK = 200_000  # characters for IPython to read in total; it reads a cell again for each command
# lines that IPython does not read, as it takes long, and the name that it reads in their place
LONG, NAME = re.compile(r"^([ \t]*+)(.{1000,})", re.MULTILINE), "a_long_line_"
COMMAND = re.compile(r"^[ \t]*(?:[%!?,;/]|>>>|In \[)|\?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)
ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # line ends for str and IPython, but not for Python
HIDDEN = {ord(end): chr(0xFDD0 + place) for place, end in enumerate(ENDS)}  # characters that no text contains
SHOWN = {ord(hidden): chr(end) for end, hidden in HIDDEN.items()}
CELL_COMMAND = re.compile(r"\s*%%(\S*)[ \t]*(.*)\n?")
NOT_PYTHON = "bash sh script html javascript js latex markdown svg perl ruby cmd system sx python pypy"


def read_file(path):
    """Read the bytes of a submission, without following a link; those of a large one without outputs.

    Parameters
    ----------
    path : Path

    Raises
    ------
    Refused
        If it is a link, not a regular file, or too large.
    GradingFault
        If it cannot be read.
    """
    try:
        if path.is_symlink():
            raise Refused("the file is a link; hand in the notebook itself.")
        if not path.is_file():
            raise Refused("it is not a regular file.")
        require_size(path.stat().st_size)
        return without_outputs(path.read_bytes())
    except OSError as error:
        raise GradingFault(f"not graded, because the file cannot be read: {error.strerror}.") from error


def read(data):
    r"""Read the sources of a notebook's code cells, in order, as Python.

    Parameters
    ----------
    data : bytes
        The file as handed in.

    Returns
    -------
    list of str
        IPython's commands are converted to calls of `get_ipython()`, as by IPython; cell commands such as
        %%time are removed, and a cell in another language or process is empty.

    Raises
    ------
    Refused
        If it is too large, not a notebook, or has too many cells.

    Examples
    --------
    >>> read(b'{"cells": [{"cell_type": "code", "source": ["X = 1\\n", "%pwd"]}]}')
    ["X = 1\nget_ipython().run_line_magic('pwd', '')\n"]
    """
    cells = cells_of(notebook_of(data))
    if len(cells) > CELLS:
        raise Refused(f"the notebook has {len(cells)} cells, and the limit is {CELLS}.")
    sources, work = [], WORK
    for source in (source_of(cell) for cell in cells if _is_code(cell)):
        source = _without_cell_commands(source)
        if COMMAND.search(source) or source[:1].isspace():
            work -= len(source) * (1 + len(COMMAND.findall(source)))
            source = _without_commands(source) if work >= 0 else source
        sources.append(source)
    return sources


def notebook_of(data):
    """Parse the bytes as JSON."""
    try:
        return json.loads(_text(without_outputs(data)))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}: {error.msg}"
        raise Refused(f"the file is not a notebook: it is not JSON ({where}).") from error
    except (ValueError, RecursionError) as error:
        what = "its JSON is nested too deeply, or a number in it is too long"
        raise Refused(f"the file is not a notebook: {what}.") from error


def _text(data):
    """Decode the bytes, trying several encodings."""
    for encoding in (json.detect_encoding(data), "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def cells_of(notebook):
    """Return the cells of a notebook, which older formats have in worksheets."""
    if not isinstance(notebook, dict):
        raise Refused("the file is JSON, but not a notebook.")
    sheets = notebook.get("worksheets")
    sheets = [notebook] if not isinstance(sheets, list) or "cells" in notebook else sheets
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    cells = [cell for some in lists if isinstance(some, list) for cell in some if isinstance(cell, dict)]
    if not cells:
        raise Refused("the file is JSON, but not a notebook with cells.")
    return cells


def _is_code(cell):
    """Report whether a cell is a code cell; one without a type counts as code if it has outputs."""
    return cell.get("cell_type", "code" if "outputs" in cell else "") == "code"


def source_of(cell):
    """Return a cell's source, stored as one string or as lines, perhaps without line ends."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        source = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines).removesuffix("\n")
    source = source if isinstance(source, str) else ""
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return source.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent


def _without_cell_commands(source):
    """Remove the cell commands (%%time) above a cell; return "" if its language is not Python."""
    begin = 0
    while command := CELL_COMMAND.match(source, begin):
        if command[1] in ("writefile", "file"):
            return f"get_ipython().run_cell_magic('writefile', {command[2]!r}, {source[command.end() :]!r})"
        if command[1].lower().rstrip("23") in NOT_PYTHON.split():
            return ""
        begin = command.end()
    return source[begin:]


def _without_commands(source):
    """Convert a cell's IPython commands to Python, as IPython does."""
    from IPython.core.inputtransformer2 import TransformerManager

    with warnings.catch_warnings(action="ignore"):  # about characters that only str treats as line ends
        try:
            hidden = re.sub(
                rf"(?<=[^\n])[{ENDS}]", lambda end: end[0].translate(HIDDEN), LONG.sub(NAME, source)
            )
            shown, long = TransformerManager().transform_cell(hidden).translate(SHOWN), LONG.finditer(source)
            return re.sub(NAME, lambda _: next(long)[0], shown)
        except Exception:  # the cell is not Python, and will raise when it runs
            return source
