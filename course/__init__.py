"""What the notebooks and the classroom need around the library; minigrad never imports it.

Holds the words a chapter uses: checks and hints, the learner's own library, figures and widgets. Leaves out
the style of the figures (`course.style`) and the drawing functions (`course.figures`, a file for each part).
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

# Imported when first asked for, since they bring Matplotlib.
ON_DEMAND = dict.fromkeys(("explore", "Slider", "live"), "course.widgets")

__all__ = ["check", "hint", "solution", "progress", "keep", "mine", "gather", "xray", "gpu", "stand_in"]
__all__ += ON_DEMAND


def __getattr__(name):
    """Import a name that is on demand, once."""
    if name not in ON_DEMAND:
        raise AttributeError(f"course has no {name!r}; it has {', '.join(sorted(__all__))}.")
    globals()[name] = getattr(import_module(ON_DEMAND[name]), name)
    return globals()[name]


def __dir__():
    return sorted([*globals(), *__all__])
