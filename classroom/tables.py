"""Tables that spreadsheets write and read: rows by the names of their columns, and back.

Holds `read_rows` and `as_csv`. Leaves out what stands in them.
Not taught in a chapter: it belongs to the classroom.
"""

import csv
import io

from classroom.faults import GradingFault

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes what begins with these


def read_rows(path, columns):
    """Return the rows of a table, with commas, semicolons or tabs between its columns.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        That must be there.

    Returns
    -------
    list of (int, dict of str to str)
        The number of its line, and what stands in each column.

    Raises
    ------
    GradingFault
        If a column is missing.
    """
    text = _decoded(path.read_bytes())
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    missing = [name for name in columns if name not in (rows.fieldnames or ())]
    if missing:
        raise GradingFault(f"{path.name} has no column {' and no column '.join(missing)}")
    return [(rows.line_num, _texts(row)) for row in rows]


def _texts(row):
    """Return a row of texts: empty where a cell is missing, without the mark of what looks like a formula."""
    named = {name: text if isinstance(text, str) else "" for name, text in row.items() if name}
    return {
        name: text[1:] if text[:1] == "'" and text[1:2] in FORMULA else text for name, text in named.items()
    }


def _decoded(data):
    """Return the text of a file that a spreadsheet wrote."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def as_csv(lines):
    """Return lines as a file for spreadsheets, which learn its encoding and take no text for a formula.

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
