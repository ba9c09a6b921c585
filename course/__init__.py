"""Checks, hints, the learner's own library and widgets for the notebooks; minigrad never imports it.

The style of the figures is in `course.style`, the drawing functions are in `course.figures`, a file for each
part.
"""

import sys
from importlib import import_module

from course.checks import check, hint, progress, solution
from course.gather import gather
from course.gpu import gpu, stand_in
from course.keep import keep, mine
from course.xray import xray

if sys.platform == "emscripten":
    import_module("course.browser").install()

# Imported on first use, since they import Matplotlib.
ON_DEMAND = dict.fromkeys(("explore", "Slider", "live"), "course.widgets")

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
