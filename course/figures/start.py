"""The map of the course, for chapter 00. Leaves out everything about a single chapter."""

from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from course.curriculum import CHAPTERS, PARTS
from course.figures import Figure
from course.style import CONTEXT, FORWARD, INK, ON_COLOUR

ROWS = PARTS[1:-1]  # what comes before the first part and after the last stands in their rows
BOX = (0.92, 0.62)  # width and height; a box takes one unit of the plane


def course_map(route):
    """Draw the course: a row for each part, a box for each chapter, filled where a route leads through.

    Parameters
    ----------
    route : sequence of str
        The numbers of chapters, such as "04".

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no chapter of such a number.
    """
    titles = {chapter.stem[:2]: chapter.title for chapter in CHAPTERS}
    if missing := sorted(set(route) - set(titles)):
        raise ValueError(f"there is no chapter {', '.join(missing)}; the chapters are {', '.join(titles)}.")
    ax = plt.subplots(figsize=(6.4, 5.0))[1]
    columns = [0] * len(ROWS)
    for row, part in enumerate(ROWS):
        ax.text(0, -row - 0.06, f"Part {part}", fontsize=9.5, weight="bold", va="bottom")
    for chapter in CHAPTERS:
        number, row = chapter.stem[:2], min(max(PARTS.index(chapter.part) - 1, 0), len(ROWS) - 1)
        _draw_box(ax, columns[row], -row - 0.1 - BOX[1], number, chapter.title, number in route)
        columns[row] += 1
    ax.set(xlim=(-0.05, max(columns)), ylim=(-len(ROWS) + 0.2, 0.2))
    ax.set_axis_off()

    on_the_way = [number for number in titles if number in route]
    return Figure(
        ax,
        f"The course has {len(titles)} chapters in {len(ROWS)} parts, and many ways through",
        f"Each row is a part and each box a chapter. The {len(on_the_way)} filled boxes are one way through.",
        f"A map of {len(ROWS)} rows of boxes: {'; '.join(f'Part {part}' for part in ROWS)}. Filled are "
        f"the chapters {', '.join(f'{number} {titles[number]}' for number in on_the_way)}.",
    )


def _draw_box(ax, x, y, number, title, filled):
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
