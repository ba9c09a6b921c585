"""CSV tables, written for spreadsheets and read from them.

Holds `read_rows`, `read_lines` and `as_csv`.
"""

import csv
import io
from codecs import BOM_UTF8
from unicodedata import normalize

from classroom.faults import GradingFault

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes cells that begin with these


def read_rows(path, columns):
    """Read the rows of a table whose columns are separated by commas, semicolons or tabs.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        The required columns.

    Returns
    -------
    list of (int, dict of str to str)
        The line number, and the row as a dict from column to text.

    Raises
    ------
    GradingFault
        If a column is missing.
    """
    text, separator = _separated(path)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    missing = [name for name in columns if name not in (rows.fieldnames or ())]
    if missing:
        raise GradingFault(f"{path.name} has no column {' and no column '.join(missing)}")
    return [(rows.line_num, _texts(row)) for row in rows]


def read_lines(path):
    """Read a table as it is, to be written again with the same separator.

    Parameters
    ----------
    path : Path

    Returns
    -------
    lines : list of list of str
        All of the same length; empty lines are left out.
    separator : str
    mark : str
        The byte order mark, or "".
    """
    text, separator = _separated(path)
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if line]
    width = max(map(len, lines), default=0)
    mark = "\ufeff" if path.read_bytes().startswith(BOM_UTF8) else ""
    return [line + [""] * (width - len(line)) for line in lines], separator, mark


def _separated(path):
    """Return a table's text and the separator of its columns."""
    text = _decoded(path.read_bytes())
    return text, max(",;\t", key=text.partition("\n")[0].count)


def _texts(row):
    """Return a row as strings: "" for a missing cell, no quote before formula-like text, a name in NFC."""
    named = {name: text if isinstance(text, str) else "" for name, text in row.items() if name}
    named |= {name: normalize("NFC", named[name]) for name in named if name == "student"}
    return {
        name: text[1:] if text[:1] == "'" and text[1:2] in FORMULA else text for name, text in named.items()
    }


def _decoded(data):
    """Decode a file written by a spreadsheet."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def as_csv(lines):
    """Write lines as CSV, with a byte order mark for its encoding and a quote before formula-like text.

    Parameters
    ----------
    lines : list of list

    Returns
    -------
    str
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for line in lines:
        guarded = [
            f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in line
        ]
        writer.writerow(guarded)
    return "\ufeff" + text.getvalue().encode("utf-8", "backslashreplace").decode()
