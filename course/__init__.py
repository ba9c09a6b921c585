"""Checks, hints, the learner's own library and widgets for the notebooks; minigrad never imports it.

Holds the words that learners call. `curriculum` is the table of chapters, `guesses` asks a chapter's guesses,
`store` knows the work folder, `xray` shows what a closure keeps, `colours` says what each colour means.
Folders: `checks` for exercises; `figures`, with their style, sliders and moving pictures; `kept`, the
learner's own code; `examples`, layers and models that a chapter gets ready-made; `stand_ins` for CuPy, MPI
and threads; `static`, what a page loads.
"""

import sys
from importlib import import_module

from course.checks import check, hint, progress, solution
from course.kept.gather import gather
from course.kept.keep import keep, mine
from course.stand_ins.gpu import gpu, stand_in
from course.xray import xray

if sys.platform == "emscripten":
    import_module("course.stand_ins.browser").install()

# Imported on first use, since they import Matplotlib.
ON_DEMAND = dict.fromkeys(("explore", "Slider", "live"), "course.figures.widgets")

__all__ = ["check", "hint", "solution", "progress", "keep", "mine", "gather", "xray", "gpu", "stand_in"]
__all__ += ON_DEMAND


def __getattr__(name):
    """Import one of the names in ON_DEMAND on first use."""
    if name not in ON_DEMAND:
        raise AttributeError(f"course has no {name!r}; it has {', '.join(sorted(__all__))}.")
    globals()[name] = getattr(import_module(ON_DEMAND[name]), name)
    return globals()[name]


def __dir__():
    return sorted([*globals(), *__all__])
