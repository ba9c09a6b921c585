"""Figures of chapter 16: the shapes of attention, tables of weights, one step that looks, heads, and seeds.

Weights, shares and accuracies come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from course.colours import CONTEXT, FIELD, FORWARD, GROUND, INK, PALETTE, TRUTH
from course.figures import Figure
from course.figures.moving import Moving

STYLES, MARKERS = ("-", "--", ":", "-.", "-"), ("o", "s", "^", "D", "v")
HEADS = (FORWARD, PALETTE[4], PALETTE[3], TRUTH)
GAP = 2.2  # between two matrices of an equation, in cells


def shapes(steps, width, place):
    """Draw attention as two products of matrices, cell by cell, and what one step has to do with them.

    Parameters
    ----------
    steps, width : int
        Of queries, keys and values.
    place : int
        The step whose row is filled.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the place is not one of the steps.
    """
    if not 0 <= place < steps:
        raise ValueError(f"place is one of the steps 0 to {steps - 1}, got {place}.")
    long, square, turned = (steps, width), (steps, steps), (width, steps)
    scores = [("Q", long, "row"), ("·", None, ""), ("Kᵀ", turned, "all"), ("/ √width =", None, "")]
    answer = [("A", square, "row"), ("·", None, ""), ("V", long, "all"), ("=", None, "")]
    figure, axes = plt.subplots(2, 1, figsize=(6.6, 0.5 + 0.44 * (steps + 2)))
    for ax, equation in zip(
        axes, ([*scores, ("S", square, "row")], [*answer, ("Y", long, "row")]), strict=True
    ):
        _draw_equation(ax, equation, steps, place)
        ax.set_xlim(-0.2, width + 2 * steps + 3 * GAP + 0.2)  # the longer one fills the figure
    axes[1].text(0, steps + 0.9, "A is the softmax of each row of S", color=CONTEXT, va="top")
    return Figure(
        figure,
        f"Step {place} asks once: its row of Q becomes its row of S, of A and of Y",
        f"Attention over {steps} steps with rows of {width} numbers. The filled cells are all that the "
        f"answer for step {place} depends on: its own query, but the keys and the values of every step.",
        f"Two products drawn as grids. Above, Q of shape ({steps}, {width}) times K transposed, "
        f"({width}, {steps}), divided by the root of the width, is S, ({steps}, {steps}). Below, A, "
        f"({steps}, {steps}), times V, ({steps}, {width}), is Y, ({steps}, {width}). Row {place} of Q, S, A "
        "and Y is filled, and all of K and V.",
    )


def _draw_equation(ax, parts, height, place):
    """Draw matrices as grids in one line, with signs between them, each in the middle of a height."""
    x = 0.0
    for name, shape, filled in parts:
        if shape is None:
            x += GAP / 2 if len(name) == 1 else GAP
            ax.text(x, height / 2, name, ha="center", va="center", fontsize=11)
            x += GAP / 2 if len(name) == 1 else GAP
            continue
        rows, columns = shape
        top = (height - rows) / 2
        for row, column in np.ndindex(rows, columns):
            alpha = 0.45 if filled == "row" and row == place else 0.18 if filled == "all" else 0.0
            ax.add_patch(
                Rectangle((x + column, top + row), 1, 1, facecolor=FORWARD, alpha=alpha, linewidth=0)
            )
            ax.add_patch(
                Rectangle((x + column, top + row), 1, 1, facecolor="none", edgecolor=CONTEXT, linewidth=0.7)
            )
        ax.text(x + columns / 2, top - 0.3, f"{name} ({rows}, {columns})", ha="center", va="bottom")
        x += columns
    ax.set(ylim=(height + 1, -1.2), aspect="equal", anchor="W")
    ax.set_axis_off()


def tables(weights_by_name):
    """Draw tables of weights side by side: a row for each step that looks, a column for each that is seen.

    Parameters
    ----------
    weights_by_name : dict of str to array (steps, steps)
        From 0 to 1.

    Returns
    -------
    Figure
    """
    count = len(weights_by_name)
    figure, axes = plt.subplots(
        1, count, figsize=(max(5, 1.2 + 2.1 * count), 2.7), layout="compressed", squeeze=False
    )
    for ax, (name, weights) in zip(axes[0], weights_by_name.items(), strict=True):
        image = ax.imshow(weights, cmap=FIELD, vmin=0, vmax=1)
        places = range(len(weights))
        ax.set_xticks(places), ax.set_yticks(places)
        ax.tick_params(labelsize=8)
        ax.set_xlabel(f"step looked at\n{name}")
    figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    axes[0][0].set_ylabel("step that looks")
    decided = {name: int(np.sum(np.max(table, axis=1) > 0.5)) for name, table in weights_by_name.items()}
    aims = {name: np.argmax(table, axis=1).tolist() for name, table in weights_by_name.items()}
    last, steps = [*weights_by_name][-1], len(weights)
    return Figure(
        figure,
        f"{last.capitalize()}, {decided[last]} of {steps} steps look mostly at one step",
        "Each row says where one step looks, and sums to 1. A bright field is a weight near 1.",
        "Tables of weights, a row for each step that looks. "
        + " ".join(
            f"{name.capitalize()}: {decided[name]} of {steps} rows have a weight above one half, and the "
            f"steps look most at {', '.join(map(str, aims[name]))}."
            for name in weights_by_name
        ),
    )


def one_step(digits, weights, place, updates):
    """Draw how much one step of the reverser looks at each step of its list, as bars over the digits.

    On a screen, the reverser itself takes the drawing's place, and one taps its steps and trains it.

    Parameters
    ----------
    digits : array of integers (8,)
        What stands at each step.
    weights : array (8,)
        One row of the table of weights.
    place : int
        The step that looks.
    updates : int
        How many there were before: 0 to 40, and even.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(5.6, 2.7))[1]
    ax.bar(range(8), weights, color=FORWARD, width=0.7)
    ax.set_xticks(range(8), [f"{digit}\nstep {step}" for step, digit in enumerate(digits)])
    ax.tick_params(axis="x", length=0, pad=7)
    asker = ax.get_xticklabels()[place]
    asker.set(fontweight="bold", bbox={"facecolor": GROUND, "edgecolor": TRUTH, "pad": 2})
    ax.set(ylim=(0, 1.05), xlabel="digit, and the step where it stands", ylabel="weight")
    most = int(np.argmax(weights))
    moment = f"After {updates} updates" if updates else "Before training"
    return Figure(
        ax,
        "A step looks at all eight, with weights that sum to 1",
        f"The step that looks is framed. {moment}, step {place} looks most at step {most}, with weight "
        f"{weights[most]:.2f}. On a screen, you choose the step and the list, and train.",
        f"Bars over the digits {', '.join(map(str, digits))}. Step {place} looks at the steps 0 to 7 with "
        f"the weights {', '.join(f'{weight:.2f}' for weight in weights)}.",
        moving=Moving("attention", digits=[int(digit) for digit in digits], step=place, update=updates),
    )


def largest_weights(widths, shares_by_name):
    """Draw the largest of the weights that softmax makes, against the width of queries and keys.

    Parameters
    ----------
    widths : array (settings,)
        Positive.
    shares_by_name : dict of str to array (settings,)
        From 0 to 1.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.2))[1]
    looks = zip(shares_by_name.items(), PALETTE, STYLES, MARKERS, strict=False)
    for (name, shares), colour, style, marker in looks:
        ax.plot(widths, shares, color=colour, linestyle=style, marker=marker)
        ax.annotate(
            name, (widths[-1], shares[-1]), (8, 0), textcoords="offset points", va="center", color=INK
        )
    ax.set_xscale("log", base=2)
    ax.set_xticks(widths, [f"{width:g}" for width in widths])
    ax.set(ylim=(0, 1.05), xlabel="width of queries and keys", ylabel="largest weight of a row, mean")
    ends = ", ".join(f"{shares[-1]:.2f} {name}" for name, shares in shares_by_name.items())
    courses = "; ".join(
        f"{name}, from {shares[0]:.2f} to {shares[-1]:.2f}" for name, shares in shares_by_name.items()
    )
    return Figure(
        ax,
        f"At width {widths[-1]:g}, the largest weight of a row is {ends}",
        "The mean of the largest weight of a row, for random queries and keys of spread 1. A weight of 1 "
        "means that a step looks at one other step and at nothing else.",
        f"The largest weight of a row against the width of queries and keys, {widths[0]:g} to "
        f"{widths[-1]:g}: {courses}.",
    )


def cuts(steps, width, heads):
    """Draw the two ways to cut a table of numbers into heads: by columns, and in the order of memory.

    Parameters
    ----------
    steps, width : int
        Of the table.
    heads : int
        Into how many it is cut, from 2 to 4; divides the width.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the heads do not divide the width.
    """
    if width % heads:
        raise ValueError(f"the heads must divide the width {width}, got {heads}.")
    columns = np.tile(np.repeat(np.arange(heads), width // heads), (steps, 1))
    memory = (np.arange(steps * width) * heads // (steps * width)).reshape(steps, width)
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 0.9 + 0.3 * steps))
    for ax, owners, name in zip(axes, (columns, memory), ("split", "reshape alone"), strict=True):
        for row, column in np.ndindex(owners.shape):
            owner = owners[row, column]
            cell = Rectangle((column, row), 0.92, 0.9, facecolor=HEADS[owner], alpha=0.3, linewidth=0)
            ax.add_patch(cell)
            ax.text(column + 0.46, row + 0.46, owner, ha="center", va="center", fontsize=8)
        ax.set(xlim=(-0.1, width + 0.1), ylim=(steps, -0.1), xticks=[], xlabel=f"numbers of a step\n{name}")
        ax.set_yticks([row + 0.46 for row in range(steps)], range(steps))
        ax.tick_params(length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
    axes[0].set_ylabel("step")
    whole = steps // heads
    rest = " and a part of the next" if steps % heads else ""
    return Figure(
        figure,
        "A head gets some numbers of every step, or every number of some steps",
        f"The number in a cell is the head that gets it. Cutting the last axis gives each of {heads} heads "
        f"{width // heads} of the {width} numbers of every step. A reshape alone deals the numbers out in "
        "the order in which they lie in memory.",
        f"Two grids of {steps} rows and {width} columns. On the left, each head owns {width // heads} "
        f"neighbouring columns. On the right, head 0 owns the first {whole} rows{rest}, and so on.",
    )


def seeds(updates, accuracies, goal):
    """Draw the accuracy of several runs against the updates, with the goal as a line.

    Parameters
    ----------
    updates : array (times,)
    accuracies : array (seeds, times)
        From 0 to 1.
    goal : float
        The accuracy that counts as done.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a run never reaches the goal.
    """
    accuracies = np.asarray(accuracies, dtype=float)
    if accuracies.max(axis=1).min() < goal:
        raise ValueError(f"each run must reach {goal:g}, and one reaches {accuracies.max(axis=1).min():g}.")
    ax = plt.subplots(figsize=(6.4, 3.2))[1]
    for run in accuracies:
        ax.plot(updates, run, color=FORWARD, linestyle="-", marker="", alpha=0.5, linewidth=1.3)
    ax.axhline(goal, color=CONTEXT, linestyle="--", linewidth=1)
    ax.text(0, goal, f"{goal:.0%}", va="bottom", color=INK)
    ax.set(ylim=(0, 1.08), xlabel="updates", ylabel="tokens in the right place")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    first = np.asarray(updates)[(accuracies >= goal).argmax(axis=1)]
    return Figure(
        ax,
        f"{len(accuracies)} seeds reach {goal:.0%} after {first.min()} to {first.max()} updates",
        f"Each line is one run, with weights and examples of its own; the median needs {np.median(first):g} "
        "updates.",
        f"The share of tokens in the right place against the updates, {len(accuracies)} curves. They start "
        f"between {accuracies[:, 0].min():.0%} and {accuracies[:, 0].max():.0%}, and all reach {goal:.0%}, "
        f"the first after {first.min()} updates and the last after {first.max()}.",
    )
