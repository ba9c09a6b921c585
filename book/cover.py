"""The cover of the PDF and the EPUB: values go forward above a line, and gradients backward below it.

The extension ``on_paper`` and ``conf.py`` use it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from book.fonts import as_truetype
from course.colours import BACKWARD, FORWARD, INK

PAPER, VIOLET, PALE, QUIET = "#FBFAF6", "#63399B", "#D8C6F4", "#5F5A66"
STOPS = np.array([0.0, 1.0, 1.8, 2.9, 3.6, 4.7, 6.0])  # positions of the values between layers
STEPS = np.linspace(0, np.pi, 60)


def draw(path, inches, subtitle):
    """Write the cover to a file.

    Parameters
    ----------
    path : Path
        A file name that ends with ``.pdf`` or ``.png``.
    inches : tuple of (float, float)
        Its width and height.
    subtitle : str
        Two lines.
    """
    figure = Figure(figsize=inches, facecolor=PAPER)
    with TemporaryDirectory() as folder:
        serif, strong, code = _faces(folder)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, inches[0]), ylim=(0, inches[1]))
        ax.set_axis_off()
        unit = inches[0] / 100
        margin, top = 11 * unit, inches[1]
        _draw_mark(ax, margin, top - 25 * unit, 12 * unit)
        ax.text(margin, top - 44 * unit, "minigrad", font=strong, fontsize=720 * unit, color=INK)
        ax.text(
            margin,
            top - 49 * unit,
            subtitle,
            font=serif,
            fontsize=300 * unit,
            color=INK,
            va="top",
            linespacing=1.15,
        )
        _draw_way(ax, margin, inches[1] * 0.36, 78 * unit / STOPS[-1])
        lines = "Y, backward = layer(X)\ndX = backward(dY)"
        ax.text(margin, 15 * unit, lines, font=code, fontsize=210 * unit, color=VIOLET, linespacing=1.35)
        ax.text(margin, 8 * unit, "the minigrad authors", font=serif, fontsize=165 * unit, color=QUIET)
        figure.savefig(
            path, dpi=200, facecolor=PAPER, metadata={"CreationDate": None} if path.suffix == ".pdf" else None
        )


def _faces(folder):
    """Return the fonts of text, titles and code, read from the book's own files."""
    as_truetype(Path(folder))
    names = ("text-regular", "text-semibold", "code-regular")
    return [font_manager.FontProperties(fname=str(Path(folder) / f"{name}.ttf")) for name in names]


def _draw_mark(ax, x, y, size):
    """Draw the mark of the course, as in ``_static/mark.svg``."""
    corners = f"round,pad=0,rounding_size={size * 0.23}"
    ax.add_patch(FancyBboxPatch((x, y), size, size, boxstyle=corners, facecolor=VIOLET, edgecolor="none"))
    line = {"linewidth": size * 7, "solid_capstyle": "round", "solid_joinstyle": "round"}
    for height, direction, colour in ((0.64, 1, "white"), (0.31, -1, PALE)):
        tip = 0.5 + direction * 0.29
        ax.plot(
            x + size * np.array([1 - tip, tip]), y + size * np.array([height, height]), color=colour, **line
        )
        barb = tip - direction * 0.16
        ax.plot(
            x + size * np.array([barb, tip, barb]),
            y + size * np.array([height + 0.15, height, height - 0.15]),
            color=colour,
            **line,
        )


def _draw_way(ax, x, y, scale):
    """Draw arcs from stop to stop: forward above a line, and backward below it."""
    for start, end in zip(STOPS[:-1], STOPS[1:], strict=True):
        middle, radius = (start + end) / 2, (end - start) / 2
        across, up = middle - radius * np.cos(STEPS), radius * np.sin(STEPS)
        ax.plot(x + scale * across, y + scale * up, color=FORWARD, linewidth=scale * 2.6)
        ax.plot(x + scale * across, y - scale * up, color=BACKWARD, linewidth=scale * 2.6)
        keep = {"color": QUIET, "linewidth": scale * 0.9, "linestyle": (0, (1, 2))}
        ax.plot([x + scale * middle] * 2, [y + scale * radius, y - scale * radius], **keep)
    ax.plot(x + scale * STOPS, np.full(len(STOPS), y), "o", color=INK, markersize=scale * 7)
