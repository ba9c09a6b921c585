"""Submissions that are not a notebook, or a strange one, with the expected verdict of each.

Here a case has the bytes of the file. Damaged notebooks with right answers are in `test_figures.py`.
"""

import json
import zlib

from tests.classroom.hostile.submission import CENTRE, Case, notebook

CODE = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
MISSING, RIGHT, WRONG = {}, {"centre": "passed"}, {"centre": "failed"}
ZEROS = "import numpy as np\ndef centre(X):\n    return np.zeros(X.shape)"
OUTPUT = {"output_type": "stream", "name": "stdout", "text": "✓ centre: right. 1 point."}
ATTACHED = {"answer.py": {"text/x-python": "def centre(X): return X - X.mean(1)"}}
LOCKED = {"nbgrader": {"grade": True, "grade_id": "check_centre", "points": 1}}
CLAIMS = {"grading": {"00_start.centre": 1}, "kernelspec": {"name": "solution", "language": "R"}}


def cells(*some, **more):
    """Return the bytes of a notebook with the given cells, unchanged."""
    whole = {"cells": list(some), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole | more).encode()


def broken(data, verdict=MISSING, refused=True):
    """Return a case; `refused` is whether the whole file is refused."""
    return Case("00_start", verdict, data), refused


def strange(verdict, *sources, **cell):
    """Return a case that is read: code cells, with other keys."""
    return broken(cells(*(CODE | {"source": source} | cell for source in sources)), verdict, False)


CASES = {
    "nothing": broken(b""),
    "blanks": broken(b" \r\n\t" * 100),
    "a byte order mark alone": broken(b"\xef\xbb\xbf"),
    "zeros": broken(bytes(1000)),
    "all bytes there are": broken(bytes(range(256)) * 10),
    "a picture": broken(b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "a zip file": broken(b"PK\x03\x04" + bytes(100)),
    "a packed notebook": broken(zlib.compress(notebook(CENTRE))),
    "a page of a web site": broken(b"<!DOCTYPE html><html><body>Log in first</body></html>"),
    "a Python file": broken(CENTRE.encode()),
    "a truncated notebook": broken(notebook(CENTRE)[:-20]),
    "a notebook with a tail": broken(notebook(CENTRE) + b"}"),
    "two notebooks in one file": broken(notebook(CENTRE) * 2),
    "a merge conflict": broken(notebook(CENTRE).replace(b'"cells"', b"<<<<<<< HEAD\n", 1)),
    "a notebook in UTF-7": broken(b"+AHsAIg-cells" + notebook(CENTRE)[8:]),
    "a number": broken(b"1"),
    "nan": broken(b"NaN"),
    "a text": broken(b'"cells"'),
    "a list": broken(b"[]"),
    "an empty object": broken(b"{}"),
    "cells that are null": broken(b'{"cells": null}'),
    "cells that are a text": broken(b'{"cells": "code"}'),
    "cells that are an object": broken(b'{"cells": {"0": {"cell_type": "code"}}}'),
    "cells that are numbers": broken(b'{"cells": [1, 2, 3]}'),
    "no cells": broken(cells()),
    "brackets, 100,000 deep": broken(b"[" * 100_000),
    "objects, 100,000 deep": broken(b'{"cells":' * 100_000),
    "a number of 100,000 digits": broken(b'{"nbformat": ' + b"1" * 100_000 + b', "cells": []}'),
    "501 cells": broken(cells(*[CODE | {"source": ""}] * 501)),
    "more than 5 MB": broken(notebook(CENTRE + "\n# " + "a" * 5_000_000)),
    "cells of no code": strange(MISSING, CENTRE, cell_type="markdown"),
    "a source that is a number": strange(MISSING, 1),
    "a source that is an object": strange(MISSING, {"a": CENTRE}),
    "a source of strange lines": strange(RIGHT, [1, None, ["x"], {}, CENTRE]),
    "a cell type that is a list": strange(MISSING, CENTRE, cell_type=["code"]),
    "half a surrogate pair": strange(RIGHT, "x = '\ud800'", CENTRE),
    "a zero byte in a cell": strange(RIGHT, "x = '\0'", CENTRE),
    "a cell that is no Python": strange(RIGHT, "def def (", CENTRE),
    "brackets in a cell, 10,000 deep": strange(RIGHT, "(" * 10_000 + ")" * 10_000, CENTRE),
    "minus signs in a cell, 100,000 deep": strange(RIGHT, "-" * 100_000 + "1", CENTRE),
    "10,000 commands in a cell": strange(RIGHT, "%time 1\n" * 10_000, CENTRE),
    "a cell of 4 MB": strange(RIGHT, "x = 1\n" * 650_000, CENTRE),
    "500 cells": strange(RIGHT, *["x = 1"] * 499, CENTRE),
    "names twice in an object": broken(
        notebook(CENTRE).replace(b'"metadata": {}, "nbformat"', b'"cells": [], "nbformat"')
    ),
    "another format": broken(cells(CODE | {"source": CENTRE}, nbformat="seven"), RIGHT, False),
    "worksheets in worksheets": broken(
        json.dumps({"worksheets": [{"worksheets": [{"cells": [CODE | {"source": CENTRE}]}]}]}).encode()
    ),
    "an answer in a language that is not Python": strange(MISSING, "%%bash\nrm -rf /\n" + CENTRE),
    "the stub, as it was handed out": strange(
        {"centre": "not written"}, "def centre(X):\n    raise NotImplementedError"
    ),
    "an answer with its indent lost": strange(MISSING, "def centre(X):\nreturn X"),
    "a wrong answer under the right one": strange(WRONG, CENTRE, "def centre(X):\n    return X"),
    "the answer deleted again": strange(MISSING, CENTRE, "del centre"),
    "the answer under another name": strange(MISSING, CENTRE.replace("centre", "center")),
    # what a notebook says of itself gives no points
    "points in the metadata": broken(cells(CODE | {"source": ZEROS}, metadata=CLAIMS), WRONG, False),
    "an output that says passed": strange(WRONG, ZEROS, outputs=[OUTPUT]),
    "an attachment with the answer": strange(WRONG, ZEROS, attachments=ATTACHED),
    "a cell that nbgrader has locked": strange(WRONG, ZEROS, metadata=LOCKED),
}
