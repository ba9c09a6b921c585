"""Figures of chapter 12: shapes on their way through a row of layers, and three designs side by side.

Leaves out the layers and the errors themselves: shapes, sentences and verdicts come from the chapter.
"""

import textwrap

import matplotlib.pyplot as plt

from course.style import BACKWARD, CONTEXT, FORWARD, INK

VERDICTS = {
    "done": (FORWARD, "✓ "),
    "yours": (CONTEXT, "yours: "),
    "wrong": (BACKWARD, "✗ "),
    "told": (INK, ""),
}
LETTERS = 96  # of a sentence under a row of layers, in one line


def draw_row(names, shapes, said=None, ax=None):
    """Draw layers in a row with the shapes between them, as far as a pass has come.

    Parameters
    ----------
    names : sequence of str
        What each layer is called.
    shapes : sequence of tuple of int
        Of what enters the first layer, then of what leaves each; one that is missing was never computed, and
        the layer that ought to have made it is the one that refuses.
    said : dict of str to str, optional
        Who says what about it, written below.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are more shapes than places, or none.
    """
    if not 1 <= len(shapes) <= len(names) + 1:
        raise ValueError(f"{len(names)} layers have 1 to {len(names) + 1} shapes, got {len(shapes)}.")
    said = {who: textwrap.wrap(text, LETTERS) for who, text in (said or {}).items()}
    height = 1.45 + sum(0.26 + 0.19 * len(lines) for lines in said.values())
    ax = ax or plt.subplots(figsize=(7.2, height))[1]
    refusing = len(shapes) - 1 if len(shapes) <= len(names) else None
    for place in range(len(names) + 1):
        reached = place < len(shapes)
        color = BACKWARD if place == refusing else FORWARD if reached else "#d0d0d0"
        _draw_arrow(ax, place, color)
        text = str(shapes[place]) if reached else "?"
        ax.text(place, 0.5, text, ha="center", fontsize=9, color=color if reached else CONTEXT)
    for place, name in enumerate(names):
        edge = BACKWARD if place == refusing else FORWARD if place < len(shapes) - 1 else "#d0d0d0"
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": edge, "linewidth": 2}
        label = name.replace("(", "\n(", 1) if len(name) > 8 else name
        ax.text(place + 0.5, 0, label, ha="center", va="center", fontsize=9, color=INK, bbox=box, zorder=3)
    down = -0.9
    for who, lines in said.items():
        ax.text(-0.4, down, who, va="top", fontsize=9, weight="bold", color=INK)
        ax.text(-0.4, down - 0.35, "\n".join(lines), va="top", fontsize=9, color=INK)
        down -= 0.55 + 0.37 * len(lines)
    ax.set(xlim=(-0.5, len(names) + 0.5), ylim=(min(down + 0.2, -0.6), 0.9))
    ax.set_axis_off()
    fine = f"All {len(names)} layers fit: the shapes run through"
    ax.set_title(fine if refusing is None else f"Layer {refusing + 1} of {len(names)} cannot take what comes")
    return ax


def _draw_arrow(ax, place, color):
    """Draw the arrow from the layer before a place to the layer behind it."""
    ax.annotate("", (place + 0.18, 0), (place - 0.18, 0), arrowprops={"arrowstyle": "->", "color": color})


def draw_designs(designs, answers, ax=None):
    """Draw a table: what each design does with each problem.

    Parameters
    ----------
    designs : sequence of str
    answers : dict of str to sequence of (str, str)
        For each problem, and each design in it: ``"done"``, ``"yours"`` (you write it), ``"wrong"``, or
        ``"told"`` where none is better; and a few words.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a problem has not one answer for each design, or an unknown verdict.
    """
    for problem, row in answers.items():
        if len(row) != len(designs) or any(verdict not in VERDICTS for verdict, _ in row):
            known = ", ".join(VERDICTS)
            raise ValueError(f"{problem!r} needs a verdict ({known}) for each of {len(designs)} designs.")
    ax = ax or plt.subplots(figsize=(7.4, 0.8 + 0.62 * len(answers)))[1]
    for column, design in enumerate(designs):
        ax.text(column + 1, -0.75, design, fontsize=9.5, weight="bold", color=INK, va="center")
    for line, (problem, row) in enumerate(answers.items()):
        ax.axhline(line - 0.5, color="#d0d0d0", linewidth=0.8)
        ax.text(0, line, textwrap.fill(problem, 22), fontsize=9, color=INK, va="center")
        for column, (verdict, words) in enumerate(row):
            color, mark = VERDICTS[verdict]
            words = textwrap.fill(mark + words, 25)
            ax.text(column + 1, line, words, fontsize=9, color=color, va="center")
    ax.set(xlim=(-0.03, len(designs) + 1), ylim=(len(answers) - 0.5, -1.05))
    ax.set_axis_off()
    rows = [row for row in answers.values() if any(verdict != "told" for verdict, _ in row)]
    counts = [sum(row[place][0] == "done" for row in rows) for place in range(len(designs))]
    by_itself = ", ".join(f"{design} {count}" for design, count in zip(designs, counts, strict=True))
    ax.set_title(f"Right by itself, of {len(rows)} problems: {by_itself}")
    return ax
