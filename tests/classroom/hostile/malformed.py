"""Submissions that are not a notebook, or a strange one, with the expected verdict of each.

Here a case has the bytes of the file. Damaged notebooks with right answers are in `test_figures.py`.
"""

import json
import zlib

from tests.classroom.hostile.submission import CENTRE, Case, notebook

CODE = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
MISSING, RIGHT, WRONG = {}, {"centre": "passed"}, {"centre": "failed"}


def cells(*some, **more):
    """Return the bytes of a notebook with the given cells, unchanged."""
    return json.dumps(
        {"cells": list(some), "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | more
    ).encode()


def broken(data, verdict=MISSING, refused=True):
    """Return a case; `refused` is whether the whole file is refused."""
    return Case("00_start", verdict, data), refused


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
    "cells of no code": broken(cells({"cell_type": "markdown", "source": CENTRE}), refused=False),
    "a source that is a number": broken(cells(CODE | {"source": 1}), refused=False),
    "a source that is an object": broken(cells(CODE | {"source": {"a": CENTRE}}), refused=False),
    "a source of strange lines": broken(cells(CODE | {"source": [1, None, ["x"], {}, CENTRE]}), RIGHT, False),
    "a cell type that is a list": broken(
        cells(CODE | {"cell_type": ["code"], "source": CENTRE}), refused=False
    ),
    "half a surrogate pair": broken(
        cells(CODE | {"source": "x = '\ud800'"}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "a zero byte in a cell": broken(
        cells(CODE | {"source": "x = '\0'"}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "a cell that is no Python": broken(
        cells(CODE | {"source": "def def ("}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "brackets in a cell, 10,000 deep": broken(
        cells(CODE | {"source": "(" * 10_000 + ")" * 10_000}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "minus signs in a cell, 100,000 deep": broken(
        cells(CODE | {"source": "-" * 100_000 + "1"}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "10,000 commands in a cell": broken(
        cells(CODE | {"source": "%time 1\n" * 10_000}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "a cell of 4 MB": broken(
        cells(CODE | {"source": "x = 1\n" * 650_000}, CODE | {"source": CENTRE}), RIGHT, False
    ),
    "500 cells": broken(cells(*[CODE | {"source": "x = 1"}] * 499, CODE | {"source": CENTRE}), RIGHT, False),
    "names twice in an object": broken(
        notebook(CENTRE).replace(b'"metadata": {}, "nbformat"', b'"cells": [], "nbformat"'), refused=True
    ),
    "another format": broken(cells(CODE | {"source": CENTRE}, nbformat="seven"), RIGHT, False),
    "worksheets in worksheets": broken(
        json.dumps({"worksheets": [{"worksheets": [{"cells": [CODE | {"source": CENTRE}]}]}]}).encode()
    ),
    "an answer in a language that is not Python": broken(
        cells(CODE | {"source": "%%bash\nrm -rf /\n" + CENTRE}), refused=False
    ),
    "the stub, as it was handed out": broken(
        cells(CODE | {"source": "def centre(X):\n    raise NotImplementedError"}),
        {"centre": "not written"},
        False,
    ),
    "an answer with its indent lost": broken(
        cells(CODE | {"source": "def centre(X):\nreturn X"}), refused=False
    ),
    "a wrong answer under the right one": broken(
        cells(CODE | {"source": CENTRE}, CODE | {"source": "def centre(X):\n    return X"}), WRONG, False
    ),
    "the answer deleted again": broken(
        cells(CODE | {"source": CENTRE}, CODE | {"source": "del centre"}), MISSING, False
    ),
    "the answer under another name": broken(
        cells(CODE | {"source": CENTRE.replace("centre", "center")}), MISSING, False
    ),
}
