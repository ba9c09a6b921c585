"""Figures of chapter 18: news of a reward that travels back, policies on a grid, errors while learning.

Leaves out walking and learning: the values that are drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import StrMethodFormatter

from course.style import FIELD, INK, PALETTE

LOOKS = ((PALETTE[0], "-", "o"), (PALETTE[1], "--", "s"), (PALETTE[3], ":", "^"), (PALETTE[4], "-.", "D"))
ARROWS = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # up, right, down, left, on axes that grow downwards
TIE = 1e-6  # moves whose values differ by less are equally good


def draw_news(values):
    """Draw what each cell of a corridor was worth after each walk, a row for a walk, with the numbers.

    Parameters
    ----------
    values : array (walks, cells)
        The first row before any walk; all from 0 on.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If it is no table, or its last row leaves a cell that has heard of nothing.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or not (values[-1] > 0).all():
        raise ValueError("values must be a table in whose last row every cell is worth more than 0.")
    ax = plt.subplots(figsize=(5.4, 3.6))[1]
    image = ax.imshow(values, cmap=FIELD, vmin=0, vmax=values.max(), aspect="auto")
    for walk, cell in np.ndindex(values.shape):
        value = values[walk, cell]
        ax.text(cell, walk, f"{value:.2f}", ha="center", va="center", color=_ink(value, values.max()))
    ax.set_xticks(range(values.shape[1]))
    ax.set_yticks(range(len(values)))
    ax.set(xlabel="cell (the reward lies to the right of the last one)", ylabel="walks made")
    ax.figure.colorbar(image, label="worth", shrink=0.9)
    ax.set_title(f"The first cell hears of the reward in walk {1 + np.argmax(values[1:, 0] > 0)}")
    return ax


def _ink(value, most):
    """Return the colour of a number that stands on a value's colour."""
    return INK if value > 0.6 * most else "white"


def draw_policies(rows, tables_by_name, title, numbers=False):
    """Draw grids side by side: the worth of each cell as a colour, its best moves as arrows.

    Parameters
    ----------
    rows : list of str
        The grid: ``#`` is a wall, a digit pays that much and ends the walk, all else is
        free; a letter is written into its corner.
    tables_by_name : dict of str to array (cells, 4)
        The values of the moves up, right, down, left in each cell, counted row by row. A cell of which all
        are 0 has heard of no reward: it stays white. Moves that are equally good get an arrow each.
    title : str
    numbers : bool
        Whether the best value of each cell is written into it.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no table, or one does not fit the grid.
    """
    letters = np.array([list(row) for row in rows])
    tables = {name: np.asarray(table, dtype=float) for name, table in tables_by_name.items()}
    for name, table in tables.items():
        if table.shape != (letters.size, 4):
            raise ValueError(
                f"{name} must be a table of {letters.size} cells and 4 moves, got shape {table.shape}."
            )
    if not tables:
        raise ValueError("no table of values to draw.")
    free = (letters != "#") & ~np.char.isdigit(letters)
    known = {name: free & (table != 0).any(axis=1).reshape(free.shape) for name, table in tables.items()}
    worth = {name: table.max(axis=1).reshape(free.shape) for name, table in tables.items()}
    most = max([worth[name][known[name]].max() for name in tables if known[name].any()] or [1.0])
    columns = min(2, len(tables))
    lines = -(-len(tables) // columns)
    width = 3.1 if columns > 1 else 4.4
    shape = np.subtract(free.shape, 1.4)  # most of the outer wall is left out
    size = (width * columns + 0.9, 0.4 + lines * (0.35 + width * shape[0] / shape[1]))
    figure, axes = plt.subplots(lines, columns, figsize=size, layout="compressed", squeeze=False)
    for ax, name in zip(axes.flat, tables, strict=False):
        field = np.where(known[name], worth[name], np.nan)
        image = ax.imshow(field, cmap=FIELD, vmin=0, vmax=most)
        ax.imshow(np.where(letters == "#", 1.0, np.nan), cmap="Greys", vmin=0, vmax=1.6)
        _draw_moves(ax, tables[name].reshape(*free.shape, 4), known[name], most, numbers)
        for row, column in np.argwhere(np.char.isdigit(letters)):
            ax.text(column, row, f"+{letters[row, column]}", ha="center", va="center", fontweight="bold")
        for row, column in np.argwhere(np.char.isalpha(letters)):
            ink = _ink(field[row, column], most) if known[name][row, column] else INK
            ax.text(
                column - 0.26,
                row - 0.33,
                letters[row, column],
                ha="center",
                va="center",
                color=ink,
                fontsize=8,
            )
        ax.set(xlim=(0.2, shape[1] + 0.2), ylim=(shape[0] + 0.2, 0.2), xticks=[], yticks=[], xlabel=name)
    for ax in list(axes.flat)[len(tables) :]:
        ax.set_axis_off()
    figure.colorbar(image, ax=axes, label="value of the best move", shrink=0.8)
    for ax in axes[:, 0]:
        ax.set_ylabel("seen from above")
    axes[0, 0].set_title(title)
    return figure


def _draw_moves(ax, moves, known, most, numbers):
    """Draw an arrow for each best move of the cells that know one, and the value below it."""
    for row, column in np.argwhere(known):
        values = moves[row, column]
        ink, lift = _ink(values.max(), most), 0.14 if numbers else 0.0
        best = ARROWS[values > values.max() - TIE]
        for step in best:
            tail = (column, row - lift) - (0.25 if len(best) == 1 else 0.0) * step  # several start together
            head = (column, row - lift) + 0.3 * step
            arrow = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", head, tail, arrowprops=arrow | {"mutation_scale": 7})
        if numbers:
            ax.text(
                column, row + 0.3, f"{values.max():.2f}", ha="center", va="center", color=ink, fontsize=6.5
            )


def draw_errors(steps, errors_by_name):
    """Draw the worst error of a cell's value while the learner walks: a line a seed, the median bold.

    Parameters
    ----------
    steps : array (moments,)
        Steps of the walker.
    errors_by_name : dict of str to array (seeds, moments)
        At least two and at most four, all above 0.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are too few or too many, or one does not fit the steps.
    """
    if not 2 <= len(errors_by_name) <= len(LOOKS):
        raise ValueError(f"2 to {len(LOOKS)} ways to learn are compared, got {len(errors_by_name)}.")
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    ends = {}
    for (name, errors), (colour, style, marker) in zip(errors_by_name.items(), LOOKS, strict=False):
        errors = np.asarray(errors, dtype=float)
        if errors.ndim != 2 or errors.shape[1] != len(steps) or not (errors > 0).all():
            raise ValueError(f"{name} needs errors above 0, for each seed one at each of {len(steps)} steps.")
        for line in errors:
            ax.plot(steps, line, color=colour, linestyle="-", marker="", linewidth=0.7, alpha=0.4)
        middle = np.median(errors, axis=0)
        ax.plot(steps, middle, color=colour, linestyle=style, marker=marker, markevery=3, label=name)
        ends[name] = middle[-1]
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.grid(axis="y")
    ax.set(xlabel="steps walked", ylabel="worst error of a cell's value")
    ax.legend(title="bold: the median", loc="lower left")
    ax.set_title(f"Least wrong at the end: {min(ends, key=ends.get)}")
    return ax
