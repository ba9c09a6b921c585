"""The map of the course, for chapter 00. Leaves out everything about a single chapter."""

from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from course.curriculum import CHAPTERS, PARTS
from course.style import CONTEXT, FORWARD, INK

ROWS = PARTS[1:-1]  # what comes before the first part and after the last stands in their rows
BOX = (0.92, 0.62)  # width and height; a box takes one unit of the plane


def draw_map(chapters, ax=None):
    """Draw the course: a row for each part, a box for each chapter, filled if the chapter stands.

    Parameters
    ----------
    chapters : sequence of str
        The stems of the chapters that stand today, such as "04_closures".
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a chapter is not in the table of contents.
    """
    known = [chapter.stem for chapter in CHAPTERS]
    if unknown := sorted(set(chapters) - set(known)):
        raise ValueError(f"no chapter is called {', '.join(unknown)}; the chapters are {', '.join(known)}.")
    ax = ax or plt.subplots(figsize=(6.4, 5.0))[1]
    columns = [0] * len(ROWS)
    for row, part in enumerate(ROWS):
        ax.text(0, -row - 0.06, f"Part {part}", fontsize=9.5, weight="bold", va="bottom")
    for chapter in CHAPTERS:
        row = min(max(PARTS.index(chapter.part) - 1, 0), len(ROWS) - 1)
        title, stands = chapter.title, chapter.stem in chapters
        _draw_box(ax, columns[row], -row - 0.1 - BOX[1], chapter.stem[:2], title, stands)
        columns[row] += 1
    ax.set(xlim=(-0.05, max(columns)), ylim=(-len(ROWS) + 0.2, 0.2))
    ax.set_axis_off()
    ax.set_title(f"{len(known)} chapters in five parts; the filled ones can be opened today")
    return ax


def _draw_box(ax, x, y, number, title, stands):
    """Draw one chapter."""
    face, edge, ink = (FORWARD, FORWARD, "white") if stands else ("white", CONTEXT, INK)
    box = FancyBboxPatch(
        (x, y), *BOX, boxstyle="round,pad=0,rounding_size=0.06", facecolor=face, edgecolor=edge
    )
    ax.add_patch(box)
    top = y + BOX[1]
    ax.text(x + 0.07, top - 0.17, number, color=ink, fontsize=9, weight="bold")
    for index, line in enumerate(wrap(title, 13)):
        ax.text(x + 0.07, top - 0.35 - 0.15 * index, line, color=ink, fontsize=7.8)
