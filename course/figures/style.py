"""How every figure of the course looks, as settings of Matplotlib. The colours are in ``course.colours``."""

import matplotlib.pyplot as plt
from matplotlib import cycler

from course.colours import FIELD, GRID, INK, PALETTE, TICKS

LINES = ["-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1))]
STYLE = {
    **dict.fromkeys(("figure.facecolor", "savefig.facecolor", "axes.facecolor"), "white"),
    **dict.fromkeys(("text.color", "axes.titlecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), TICKS),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 9.5),
    "figure.figsize": (6.4, 3.6),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "savefig.dpi": "figure",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "axes.labelsize": 10.5,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": cycler(color=PALETTE, linestyle=LINES, marker=["o", "s", "^", "D", "v"]),
    "font.size": 10,
    # Verdana is as wide as DejaVu, and stands in where a reader has no DejaVu.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "lines.markersize": 5,
    "grid.color": GRID,
    "image.cmap": FIELD,
    "image.interpolation": "nearest",
    "svg.hashsalt": "minigrad",
    "svg.fonttype": "none",
}


def use():
    """Make this the style of every figure drawn from now on."""
    plt.style.use(STYLE)
