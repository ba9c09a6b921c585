"""Figures of chapter 02: tables of slopes, the two ways to multiply them, and the passes that each way takes.

The tables drawn here come from the chapter, from an answer, or from a check.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from course.colours import BACKWARD, CONTEXT, FORWARD, INK, ON_COLOUR, ON_PALE, SIGNED_FIELD
from course.figures import Figure

READABLE = 12  # rows or columns; in larger tables the numbers would not be readable
NAMED = 30  # slopes that an alternative text names one by one
READ = "Each row is an output, each column an input; an empty square is a slope of 0."
COLOURS = " Blue slopes are positive, red ones negative."
ZERO = 1e-9  # nudging finds about 1e-11 where the slope is 0


def table(slopes, name, shape=None):
    """Draw a table of slopes: a square for each, with its number unless that is 0.

    Parameters
    ----------
    slopes : array (n_out, n_in)
    name : str
        Whose slopes these are.
    shape : (int, int), optional
        How many rows and columns the picture has room for. Give it where the figure moves.

    Returns
    -------
    Figure
    """
    slopes = np.asarray(slopes, dtype=float)
    ax = plt.subplots()[1]
    _draw_squares(slopes, ax)
    rows, columns = shape or slopes.shape
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    count = np.sum(np.abs(slopes) > ZERO)
    return Figure(
        ax,
        f"{name}: {count} of {slopes.size} slopes {'is' if count == 1 else 'are'} not 0",
        f"{READ}{COLOURS if np.any(slopes < -ZERO) else ''}",
        f"The slopes of {name}, {_in_words(slopes)}",
    )


def two_tables(yours, true):
    """Draw an answer's table of slopes beside the true one, with a frame around each slope that is wrong.

    Parameters
    ----------
    yours : array of two axes
    true : array (n_out, n_in)

    Returns
    -------
    Figure
    """
    yours, true = np.asarray(yours, dtype=float), np.asarray(true, dtype=float)
    rows, columns = np.maximum(yours.shape, true.shape)
    figure, axes = plt.subplots(1, 2, layout="compressed")  # the squares leave room unused
    for ax, table, name in zip(axes, (yours, true), ("yours", "true"), strict=True):
        _draw_squares(table, ax)
        ax.set(xlim=(0, columns), ylim=(rows, 0), xlabel=f"inputs\n{name}, shape {table.shape}")
    title = "Yours has another shape than the true table"
    if yours.shape == true.shape:
        wrong = ~np.isclose(yours, true, rtol=1e-6, atol=ZERO)
        for row, column in np.argwhere(wrong):
            frame = Rectangle((column, row), 1, 1, fill=False, edgecolor=BACKWARD, linewidth=2.5)
            axes[0].add_patch(frame).set_clip_on(False)
        title = f"{wrong.sum()} of {wrong.size} slopes differ from the true table"
    return Figure(
        figure,
        title,
        f"{READ} A frame marks a slope that is wrong.",
        f"Your table of slopes, {_in_words(yours)} The true one, {_in_words(true)}",
    )


def _in_words(table):
    """Say in words what stands in a table."""
    size = f"{table.shape[0]} by {table.shape[1]}"
    filled = np.abs(table) > ZERO
    if filled.sum() > NAMED:
        span = f"from {table.min():.2g} to {table.max():.2g}"
        return f"{size}: {filled.sum()} of {table.size} squares are filled, {span}."
    rows = [
        f"row {row} holds "
        + ", ".join(f"{table[row, column]:.2g} in column {column}" for column in np.flatnonzero(filled[row]))
        for row in np.flatnonzero(filled.any(axis=1))
    ]
    return f"{size}: {'; '.join(rows) or 'all squares are empty'}."


def _draw_squares(table, ax):
    """Draw a table as coloured squares, the first row on top."""
    limit = np.abs(np.nan_to_num(table)).max() or 1.0
    squares = ax.pcolormesh(
        table, cmap=SIGNED_FIELD, vmin=-limit, vmax=limit, edgecolors="#BFBFBF", linewidth=0.5
    )
    squares.set_rasterized(max(table.shape) > READABLE)
    ax.set(aspect="equal", xlabel="inputs", ylabel="outputs", ylim=(len(table), 0))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if max(table.shape) > READABLE:
        ax.figure.colorbar(squares, ax=ax, label="slope")
        return
    for set_ticks, count in ((ax.set_xticks, table.shape[1]), (ax.set_yticks, table.shape[0])):
        set_ticks(np.arange(count) + 0.5, np.arange(count))
    for (row, column), slope in np.ndenumerate(table):
        if not abs(slope) <= ZERO:
            color = ON_COLOUR if abs(slope) > 0.6 * limit else ON_PALE
            words = f"{slope:.2g}" if abs(slope) < 100 else f"{slope:.0f}"
            ax.text(column + 0.5, row + 0.5, words, ha="center", va="center", color=color, fontsize=8.5)


def brackets(shapes):
    """Draw the product of three tables twice, to scale: multiplied from the left, and from the right.

    Parameters
    ----------
    shapes : three pairs of int
        Rows and columns of each table; each has as many rows as the one before it has columns.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If they cannot be multiplied.
    """
    (rows, first), (middle, second), (last, columns) = shapes
    if (first, second) != (middle, last):
        raise ValueError(f"each table has as many rows as the one before has columns, got {shapes}.")
    from_left = [(shapes[0], shapes[1], (rows, second)), ((rows, second), shapes[2], (rows, columns))]
    from_right = [(shapes[1], shapes[2], (first, columns)), (shapes[0], (first, columns), (rows, columns))]
    ax = plt.subplots(figsize=(6.4, 3.0))[1]
    tall, y, totals = max(rows, first, second), 0.0, []
    width = max(1.4 * (first + second + 2 * columns), 17 * tall)  # of the whole picture, words and all
    gap = 0.042 * width
    for way, products in (("from the left", from_left), ("from the right", from_right)):
        works = [left[0] * left[1] * right[1] for left, right, _ in products]
        totals.append(sum(works))
        ax.text(0, y - 0.55 * tall, f"{way}: {totals[-1]:,} multiplications", weight="bold", va="bottom")
        for (left, right, result), work in zip(products, works, strict=True):
            words = f"{result[0]} × {result[1]}, in {work:,}"
            _draw_product(ax, (left, right, result), y + tall / 2, gap, words)
            y += 1.45 * tall
        y += 1.1 * tall
    ax.set(xlim=(-1, width), ylim=(y - 1.1 * tall, -1.1 * tall))
    ax.set(aspect="equal")
    ax.axis("off")
    less = "left" if totals[0] < totals[1] else "right"
    sizes = " @ ".join(f"({rows}, {columns})" for rows, columns in shapes)
    counted = f"from the left {totals[0]:,}, from the right {totals[1]:,} multiplications"
    return Figure(
        ax,
        f"The same product; from the {less} it is less work",
        f"The two ways to multiply {sizes}, drawn to scale; a result stands after each equals sign.",
        f"The product {sizes} as rectangles, two products for each way: {counted}. From the left the first "
        f"result is {rows} by {second}; from the right it is {first} by {columns}.",
    )


def _draw_product(ax, shapes, middle, gap, words):
    """Draw one product of two tables, its result filled, with words beside it."""
    x = 0.0
    for (rows, columns), sign in zip(shapes, ("@", "=", words), strict=True):
        filled = sign == words
        box = Rectangle((x, middle - rows / 2), columns, rows, facecolor=BACKWARD if filled else "none")
        box.set(edgecolor=BACKWARD if filled else FORWARD, linewidth=1.2)
        ax.add_patch(box)
        x += columns + gap / 2
        side = "left" if filled else "center"
        ax.text(x, middle, sign, ha=side, va="center", color=CONTEXT if not filled else INK)
        x += gap / 2


def passes(weights, passes_by_way):
    """Draw how many passes a gradient takes against the number of weights, both on a logarithmic scale.

    Parameters
    ----------
    weights : array (sizes,)
    passes_by_way : dict of str to array (sizes,)
        Up to five ways, each with what was counted.

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    for name, counts in passes_by_way.items():
        ax.plot(weights, counts)
        ax.annotate(
            f"{name}: {counts[-1]:,}",
            (weights[-1], counts[-1]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set(xscale="log", yscale="log", xlabel="number of weights", ylabel="passes for one gradient")
    ax.set_xlim(right=max(weights) * 8)  # room for the labels
    flat = [name for name, counts in passes_by_way.items() if len(set(counts)) == 1]
    at_the_end = ", ".join(f"{name} {counts[-1]:,}" for name, counts in passes_by_way.items())
    return Figure(
        ax,
        f"{flat[0].capitalize()} takes as many passes for many weights as for one"
        if flat
        else "More weights take more passes",
        "Both scales are logarithmic: where ten times the weights take ten times the passes, the line climbs "
        "by one mark for each mark to the right. "
        f"At {weights[-1]:,} weights: {at_the_end}.",
        f"Passes for one gradient against the number of weights, from {weights[0]:,} to {weights[-1]:,}, "
        f"both on logarithmic scales, with a line for each way. At the right end: {at_the_end}.",
    )
