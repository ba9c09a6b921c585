"""The map of the course, for chapter 00."""

from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from course import curriculum
from course.colours import CONTEXT, FORWARD, INK, ON_COLOUR
from course.curriculum import CHAPTERS, PARTS
from course.figures import Figure

ROWS = PARTS[1:-1]  # what comes before the first part and after the last stands in their rows
BOX = (0.92, 0.62)  # width and height; a box takes one unit of the plane


def course_map(route):
    """Draw the course: a row for each part, a box for each chapter, filled where a route leads through.

    Parameters
    ----------
    route : {"weekend", "semester", "gpt", "systems"}

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such route; the message lists those that there are.
    """
    way = curriculum.route(route)
    filled = {chapter.number for chapter in way.chapters}
    ax = plt.subplots(figsize=(6.4, 5.0))[1]
    columns = [0] * len(ROWS)
    for row, part in enumerate(ROWS):
        ax.text(0, -row - 0.06, f"Part {part}", fontsize=9.5, weight="bold", va="bottom")
    for chapter in CHAPTERS:
        row = min(max(PARTS.index(chapter.part) - 1, 0), len(ROWS) - 1)
        corner = columns[row], -row - 0.1 - BOX[1]
        _draw_box(ax, *corner, chapter.stem[:2], chapter.title, chapter.number in filled)
        columns[row] += 1
    ax.set(xlim=(-0.05, max(columns)), ylim=(-len(ROWS) + 0.2, 0.2))
    ax.set_axis_off()

    return Figure(
        ax,
        f"{way.title} leads through {len(filled)} of {len(CHAPTERS)} chapters",
        f"{way.aim} The filled boxes take about {round(way.minutes / 60)} hours, without exercises. Each row "
        "is a part of the course, and each box a chapter.",
        f"A map of {len(ROWS)} rows of boxes: {'; '.join(f'Part {part}' for part in ROWS)}. Filled are "
        f"the chapters {', '.join(f'{chapter.stem[:2]} {chapter.title}' for chapter in way.chapters)}.",
    )


def _draw_box(ax, x, y, number, title, filled):  # noqa: PLR0913  where it stands, and how it looks
    """Draw one chapter."""
    face, edge, ink = (FORWARD, FORWARD, ON_COLOUR) if filled else ("none", CONTEXT, INK)
    box = FancyBboxPatch(
        (x, y), *BOX, boxstyle="round,pad=0,rounding_size=0.06", facecolor=face, edgecolor=edge
    )
    ax.add_patch(box)
    top = y + BOX[1]
    ax.text(x + 0.07, top - 0.17, number, color=ink, fontsize=9, weight="bold")
    for index, line in enumerate(wrap(title, 13)):
        ax.text(x + 0.07, top - 0.35 - 0.15 * index, line, color=ink, fontsize=7.8)
