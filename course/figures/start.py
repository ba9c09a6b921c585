"""The map of the course, for chapter 00. Leaves out everything about a single chapter."""

from textwrap import wrap

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from course.figures import Figure
from course.style import CONTEXT, FORWARD, INK, ON_COLOUR

CONTENTS = {
    "Part I: Slopes": {
        "00_start": "Start here",
        "01_slope": "The slope of a program",
        "02_jacobian": "Which way to multiply",
        "03_gradcheck": "A grader of your own",
    },
    "Part II: A library in a hundred lines": {
        "04_closures": "Functions that remember",
        "05_chains": "Chains",
        "06_losses": "How wrong are we?",
        "07_learning": "Learning",
        "08_digits": "Reading digits",
    },
    "Part III: Making it work": {
        "09_optimizers": "Better steps",
        "10_start_well": "Starting well",
        "11_graphs": "A graph instead",
        "12_shapes": "Shapes before numbers",
        "13_sharing": "Sharing",
    },
    "Part IV: Machines that see, remember and speak": {
        "14_seeing": "Seeing",
        "15_time": "Remembering in time",
        "16_attention": "Attention",
        "17_gpt": "A tiny GPT",
        "18_acting": "Acting",
    },
    "Part V: One library, many machines": {
        "19_memory": "Forgetting on purpose",
        "20_speed": "The speed of NumPy",
        "21_gpu": "The same code on a GPU",
        "22_workers": "Many workers",
        "23_serving": "Serving from threads",
        "24_capstone": "Your own layer",
    },
}
COLUMNS = 6
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
    titles = {stem[:2]: title for part in CONTENTS.values() for stem, title in part.items()}
    if missing := sorted(set(route) - set(titles)):
        raise ValueError(f"there is no chapter {', '.join(missing)}; the chapters are {', '.join(titles)}.")
    ax = plt.subplots(figsize=(6.4, 5.0))[1]
    for row, (part, chapters) in enumerate(CONTENTS.items()):
        ax.text(0, -row - 0.06, part, fontsize=9.5, weight="bold", va="bottom")
        for column, (stem, title) in enumerate(chapters.items()):
            _draw_box(ax, column, -row - 0.1 - BOX[1], stem[:2], title, stem[:2] in route)
    ax.set(xlim=(-0.05, COLUMNS), ylim=(-len(CONTENTS) + 0.2, 0.2))
    ax.set_axis_off()

    on_the_way = [number for number in titles if number in route]
    return Figure(
        ax,
        f"The course has {len(titles)} chapters in {len(CONTENTS)} parts, and many ways through",
        f"Each row is a part and each box a chapter. The {len(on_the_way)} filled boxes are one way through.",
        f"A map of {len(CONTENTS)} rows of boxes: {'; '.join(CONTENTS)}. Filled are the chapters "
        f"{', '.join(f'{number} {titles[number]}' for number in on_the_way)}.",
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
