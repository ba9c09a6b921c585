"""Figures of chapter 18: news of a reward that travels back, grids of values, errors while learning.

The values that are drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import StrMethodFormatter

from course.colours import FIELD, INK, ON_COLOUR, ON_PALE, PALETTE
from course.figures import Figure

LOOKS = ((PALETTE[0], "-", "o"), (PALETTE[4], "--", "s"), (PALETTE[3], ":", "^"), (PALETTE[2], "-.", "D"))
ARROWS = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # up, right, down, left, on axes that grow downwards
TIE = 1e-6  # moves whose values differ by less are equally good


def news(values):
    """Draw what each cell of a corridor was worth after each walk, a row for a walk, with the numbers.

    Parameters
    ----------
    values : array (walks, cells)
        The first row before any walk; none below 0.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a cell of the last row is still worth nothing.
    """
    values = np.asarray(values, dtype=float)
    if not (values[-1] > 0).all():
        raise ValueError("in the last row every cell must be worth more than 0: make more walks.")
    ax = plt.subplots(figsize=(5.4, 3.6))[1]
    image = ax.imshow(values, cmap=FIELD, vmin=0, vmax=values.max(), aspect="auto")
    for walk, cell in np.ndindex(values.shape):
        value = values[walk, cell]
        ax.text(cell, walk, f"{value:.2f}", ha="center", va="center", color=_ink(value, values.max()))
    ax.set_xticks(range(values.shape[1]))
    ax.set_yticks(range(len(values)))
    ax.set(xlabel="cell (the reward lies to the right of the last one)", ylabel="walks made")
    ax.figure.colorbar(image, label="worth", shrink=0.9)
    heard = [int(np.argmax(values[:, cell] > 0)) for cell in range(values.shape[1])]
    return Figure(
        ax,
        f"The first cell hears of the reward in walk {heard[0]}",
        "A row for each walk, a column for each cell. The walker goes right, and the news goes left.",
        f"A table of {values.shape[1]} cells after 0 to {len(values) - 1} walks. The cells are first worth "
        f"more than 0 after {', '.join(map(str, heard))} walks. In the last row they are worth "
        f"{', '.join(f'{value:.2f}' for value in values[-1])}.",
    )


def _ink(value, most):
    """Return the colour of a number that stands on a value's colour."""
    return ON_PALE if value > 0.6 * most else ON_COLOUR


def spreading(rows, tables_by_moment):
    """Draw a grid at several moments of learning: which cells have heard of a reward, and their best moves.

    Parameters
    ----------
    rows : list of str
        The grid: ``#`` is a wall, a digit pays that much and ends the walk, all else is
        free; a letter is written into its corner.
    tables_by_moment : dict of str to array (cells, 4)
        The values of the moves up, right, down, left in each cell, counted row by row. A cell of which all
        are 0 has heard of no reward: it stays empty. Moves that are equally good get an arrow each.

    Returns
    -------
    Figure
    """
    figure, known = _draw_grids(rows, tables_by_moment)
    counts = [int(cells.sum()) for cells in known.values()]
    free = sum(letter != "#" and not letter.isdigit() for letter in "".join(rows))
    return Figure(
        figure,
        f"The news spreads from {counts[0]} to {counts[-1]} of {free} cells",
        "The colour of a cell is the value of its best move, and its arrows are the best moves. A cell "
        "without a colour has heard of no reward.",
        f"A grid of {free} free cells at {len(counts)} moments. Cells that have heard of the reward: "
        f"{'; '.join(f'{name}, {count}' for name, count in zip(known, counts, strict=True))}.",
    )


def walkers(rows, table, paid):
    """Draw what one walker has learned, and where all of them go.

    Parameters
    ----------
    rows : list of str
        The grid, as for `spreading`.
    table : array (cells, 4)
        The values of the first walker.
    paid : sequence of float
        What each walker is paid in the end when it follows its best moves; 0 if it never arrives.

    Returns
    -------
    Figure
    """
    figure, _ = _draw_grids(rows, {"what the first of them has learned": table}, numbers=True)
    rewards = sorted({float(letter) for letter in "".join(rows) if letter.isdigit()}, reverse=True)
    counts = {reward: sum(np.equal(paid, reward)) for reward in rewards}
    goes = ", ".join(f"{count} to the reward of {reward:g}" for reward, count in counts.items())
    lost = sum(np.equal(paid, 0))
    verb = "goes" if counts[rewards[0]] == 1 else "go"
    return Figure(
        figure,
        f"Of {len(paid)} walkers, {goes.replace(' to', f' {verb} to', 1)}"
        + (f"; {lost} arrive{'s' if lost == 1 else ''} nowhere" if lost else ""),
        "The arrows are the best moves of the first walker, and the numbers their values.",
        f"A grid with the values and the best moves of one walker. Of {len(paid)} walkers: {goes}, {lost} "
        f"nowhere. The best move of the first is worth at most {np.max(table):.2f}.",
    )


def beside_truth(rows, truth, learned, name):
    """Draw the true values of a grid beside those that were learned.

    Parameters
    ----------
    rows : list of str
        The grid, as for `spreading`.
    truth, learned : array (cells, 4)
    name : str
        Who has learned: ``"the network"``.

    Returns
    -------
    Figure
    """
    figure, known = _draw_grids(rows, {"the truth": truth, name: learned}, numbers=True)
    truth, learned = np.asarray(truth, dtype=float), np.asarray(learned, dtype=float)
    cells = np.flatnonzero(known["the truth"])
    right = sum(truth[cell, learned[cell].argmax()] > truth[cell].max() - TIE for cell in cells)
    off = learned[cells].max(axis=1) - truth[cells].max(axis=1)
    worst = off[np.abs(off).argmax()]
    return Figure(
        figure,
        f"{right} of {len(cells)} arrows are right, and the worst value is {abs(worst):.2g} too "
        f"{'large' if worst > 0 else 'small'}",
        "The arrows are the best moves, and the numbers their values. Where several moves are equally good, "
        "the truth shows an arrow for each.",
        f"A grid twice: the truth, and {name}. In {right} of {len(cells)} cells the learned arrow is a best "
        f"move. True values go from {truth[cells].max(axis=1).min():.2f} to {truth[cells].max():.2f}, "
        f"learned ones from {learned[cells].max(axis=1).min():.2f} to {learned[cells].max():.2f}.",
    )


def _draw_grids(rows, tables_by_name, numbers=False):
    """Draw grids side by side, and return the figure, and which cells of each know of a reward."""
    letters = np.array([list(row) for row in rows])
    tables = {name: np.asarray(table, dtype=float) for name, table in tables_by_name.items()}
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
    return figure, known


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
            ax.text(column, row + 0.3, f"{values.max():.2f}", ha="center", va="center", color=ink, fontsize=7)


def errors(steps, errors_by_name):
    """Draw the worst error of a cell's value while the learner walks: a line a seed, the median bold.

    Parameters
    ----------
    steps : array (moments,)
        Steps of the walker.
    errors_by_name : dict of str to array (seeds, moments)
        At least two and at most four, all above 0.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    ends = {}
    for (name, runs), (colour, style, marker) in zip(errors_by_name.items(), LOOKS, strict=False):
        runs = np.asarray(runs, dtype=float)
        for line in runs:
            ax.plot(steps, line, color=colour, linestyle="-", marker="", linewidth=0.7, alpha=0.4)
        middle = np.median(runs, axis=0)
        ax.plot(steps, middle, color=colour, linestyle=style, marker=marker, markevery=3, label=name)
        ends[name] = middle[-1]
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.grid(axis="y")
    ax.set(xlabel="steps walked", ylabel="worst error of a cell's value")
    ax.legend(title="bold: the median", loc="lower left")
    return Figure(
        ax,
        f"Least wrong at the end: {min(ends, key=ends.get)}",
        "The worst error over all cells, on a logarithmic scale. A thin line is one seed, a bold one the "
        "median of the seeds.",
        f"The worst error of a value against the steps walked, {steps[0]} to {steps[-1]}, on a logarithmic "
        f"scale. Medians at the end: {'; '.join(f'{name}, {end:.2g}' for name, end in ends.items())}.",
    )
