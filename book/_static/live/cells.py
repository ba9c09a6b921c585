"""Runs the cells of a page one after the other, as a notebook's kernel would, without IPython's 7 megabytes.

Holds `run`, and `kept` and `keep`, the learner's own files. All that a cell shows goes to `tell`, a function
of the page's worker, as JSON. Leaves out magics and widgets that need a kernel: sliders have another face.
"""

import builtins
import json
import linecache
import os
import pprint
import sys
import textwrap
import traceback
from base64 import b64encode
from io import BytesIO, TextIOBase
from pathlib import Path

from pyodide.code import eval_code_async

DRIVE = Path("/drive")  # where the course keeps the learner's things in a browser
REPRESENTATIONS = {
    "text/html": "_repr_html_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "text/latex": "_repr_latex_",
}
WIDTH = 79  # columns

tell = None  # set by the worker


class Stream(TextIOBase):
    """What a cell prints, on its way to the page."""

    def __init__(self, name):
        self.name = name

    def writable(self):
        """Return True."""
        return True

    def write(self, text):
        """Send a text."""
        if text:
            _tell("stream", name=self.name, text=str(text))
        return len(text)


def _tell(kind, **what):
    """Send something to the page."""
    tell(json.dumps({"kind": kind, **what}))


def display(*things, raw=False):
    """Show things below the cell that runs; with `raw`, bundles of their faces by MIME type."""
    for thing in things:
        _tell("display", data=thing if raw else faces(thing), themed=_themed())


def faces(thing):
    """Return the faces of a thing by their MIME types, as JSON can hold them."""
    bundle = {}
    if hasattr(thing, "_repr_mimebundle_") and not isinstance(thing, type):
        bundle = thing._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    elif not isinstance(thing, type):
        methods = {kind: getattr(thing, name, None) for kind, name in REPRESENTATIONS.items()}
        bundle = {kind: method() for kind, method in methods.items() if method is not None}
    bundle = {kind: face for kind, face in bundle.items() if face is not None}
    bundle.setdefault("text/plain", _plain(thing))
    return {
        kind: b64encode(face).decode() if isinstance(face, bytes) else face for kind, face in bundle.items()
    }


def _plain(thing):
    """Return a thing as text, a long list or dict with an item in each line."""
    if isinstance(thing, dict | list | tuple | set | frozenset):
        return pprint.pformat(thing, width=WIDTH, sort_dicts=False)
    return repr(thing)


def _themed():
    """Return which colours of a drawing have another value at night, if anything has been drawn."""
    return getattr(sys.modules.get("course.style"), "THEMED", {})


def _show_open_figures():
    """Show what Matplotlib still holds, as a notebook does at the end of a cell."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        file = BytesIO()
        pyplot.figure(number).savefig(file, format="png", dpi=160, bbox_inches="tight")
        pyplot.close(number)
        display({"image/png": b64encode(file.getvalue()).decode()}, raw=True)


def _why(error):
    """Return an error as text: where in the cells it came from, where it was raised, and what it says."""
    if hasattr(error, "_render_traceback_"):
        return "\n".join(error._render_traceback_())
    told = traceback.TracebackException.from_exception(error)
    part = told
    while part is not None:
        own = [place for place, frame in enumerate(part.stack) if frame.filename.startswith("cell ")]
        if own:
            inside = part.stack[own[0] :]
            part.stack = traceback.StackSummary.from_list(
                [frame for frame in inside if frame.filename.startswith("cell ") or frame is inside[-1]]
            )
        else:
            part.stack = traceback.StackSummary.from_list([])
        part = part.__cause__ or (None if part.__suppress_context__ else part.__context__)
    return textwrap.dedent("".join(told.format())).strip()


async def run(source, number):
    """Run a cell, show what it shows, and return whether it came to its end.

    Parameters
    ----------
    source : str
    number : int
        Its place in the page, for the lines of an error.

    Returns
    -------
    bool
    """
    name = f"cell {number}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        value = await eval_code_async(source, sys.modules["__main__"].__dict__, filename=name)
        if value is not None:
            display(value)
        _show_open_figures()
    except BaseException as error:
        _tell("error", text=_why(error))
        return False
    return True


def kept():
    """Return the learner's own files, which outlive the page: what they have done, and their library."""
    files = [DRIVE / "progress.json", *DRIVE.glob("library/*.py")]
    return json.dumps({str(path): path.read_text("utf-8") for path in files if path.exists()})


def keep(files):
    """Put the learner's own files back."""
    DRIVE.mkdir(exist_ok=True)
    for name, text in json.loads(files).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")


os.environ["MPLBACKEND"] = "agg"
builtins.display = display
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
