"""Run the cells of a page one by one, as a notebook's kernel would, without IPython's 7 megabytes.

Holds `run`, and `kept` and `keep`, for the learner's own files. A cell's outputs are passed as JSON to
`tell`, a function of the page's worker. Magics, and widgets that need a kernel, are not supported.
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

DRIVE = Path("/drive")  # the course's folder for the learner's files in a browser
REPRESENTATIONS = {
    "text/html": "_repr_html_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "text/latex": "_repr_latex_",
}
WIDTH = 79  # columns

tell = None  # set by the worker


class Stream(TextIOBase):
    """A stream that sends a cell's printed text to the page."""

    def __init__(self, name):
        self.name = name

    def writable(self):
        """Return True."""
        return True

    def write(self, text):
        """Send text to the page."""
        if text:
            _tell("stream", name=self.name, text=str(text))
        return len(text)


def _tell(kind, **what):
    """Send a message to the page."""
    tell(json.dumps({"kind": kind, **what}))


def display(*things, raw=False):
    """Show objects below the running cell; with `raw`, they are dicts of MIME type to representation."""
    for thing in things:
        _tell("display", data=thing if raw else faces(thing), themed=_themed())


def faces(thing):
    """Return an object's representations by MIME type, ready for JSON."""
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
    """Return an object as text, with one item per line if it is a long list or dict."""
    if isinstance(thing, dict | list | tuple | set | frozenset):
        return pprint.pformat(thing, width=WIDTH, sort_dicts=False)
    return repr(thing)


def _themed():
    """Return the drawing colours that change in dark mode; {} if nothing has been drawn."""
    return getattr(sys.modules.get("course.colours"), "THEMED", {})


def _show_open_figures():
    """Show Matplotlib's open figures, as a notebook does at the end of a cell."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        file = BytesIO()
        pyplot.figure(number).savefig(file, format="png", dpi=160, bbox_inches="tight")
        pyplot.close(number)
        display({"image/png": b64encode(file.getvalue()).decode()}, raw=True)


def _why(error):
    """Format an error: its frames in the cells, the frame that raised it, and its message."""
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
    """Run a cell, show its outputs, and return whether it succeeded.

    Parameters
    ----------
    source : str
    number : int
        Its number in the page, for tracebacks.

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
    """Return, as JSON, the learner's own files, which outlive the page: progress and library."""
    files = [DRIVE / "progress.json", *DRIVE.glob("library/*.py")]
    return json.dumps({str(path): path.read_text("utf-8") for path in files if path.exists()})


def keep(files):
    """Restore the learner's own files."""
    DRIVE.mkdir(exist_ok=True)
    for name, text in json.loads(files).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, "utf-8")


os.environ["MPLBACKEND"] = "agg"
builtins.display = display
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
