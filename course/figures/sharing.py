"""Figures of chapter 13: what each use of a shared matrix brings, words beside words, shares, points.

Leaves out computing gradients, cosines and points: what is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE, SIGNED_FIELD, TRUTH

LOOKS = (("first", PALETTE[3], "--", "s"), ("second", PALETTE[4], ":", "^"), ("both", BACKWARD, "-", "o"))
NUDGE = 1e-5  # far enough for the slope of a loss to five digits


def draw_gradients(gradients_by_name):
    """Draw gradients of one matrix side by side, in one colour scale around 0, with their numbers.

    Parameters
    ----------
    gradients_by_name : dict of str to array (rows, columns)
        At least two, of one shape.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are fewer than two, or they differ in shape.
    """
    fields = [np.asarray(field, dtype=float) for field in gradients_by_name.values()]
    shapes = {field.shape for field in fields}
    if len(fields) < 2 or len(shapes) > 1 or len(min(shapes)) != 2:
        raise ValueError(f"two or more matrices of one shape are wanted, got shapes {sorted(shapes)}.")
    reach = max(np.abs(field).max() for field in fields) or 1.0
    figure, axes = plt.subplots(1, len(fields), figsize=(2.1 * len(fields), 2.8), layout="compressed")
    for ax, field, name in zip(axes, fields, gradients_by_name, strict=True):
        ax.imshow(field, cmap=SIGNED_FIELD, vmin=-reach, vmax=reach)
        for row, column in np.ndindex(field.shape):
            colour = "white" if abs(field[row, column]) > 0.6 * reach else INK
            number = f"{round(field[row, column], 2) + 0.0:.2f}"  # never -0.00
            ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
        ax.set_xticks([]), ax.set_yticks([])
        ax.set_xlabel(name)
    axes[0].set_title("Each use of W brings a gradient of its own")
    axes[0].set_ylabel("inputs, outputs to the right")
    return figure


def draw_uses(losses_by_use, here, limits, reach=1.5, ax=None):
    """Draw the loss against one weight that is changed in the first use, in the second, or in both.

    Parameters
    ----------
    losses_by_use : dict of str to function
        For one or more of "first", "second", "both": the weight's value -> the loss.
    here : float
        The weight as it is, where all curves meet.
    limits : (float, float)
        The ends of the vertical axis, the same at every stop of a slider.
    reach : float
        How far the curves go to either side.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a use is not one of the three, or the curves do not meet.
    """
    unknown = set(losses_by_use) - {name for name, *_ in LOOKS}
    if unknown or not losses_by_use:
        raise ValueError(f"uses are first, second or both, got {sorted(losses_by_use)}.")
    heights = [loss(here) for loss in losses_by_use.values()]
    if not np.allclose(heights, heights[0]):
        raise ValueError(f"at {here:.4g} all uses have one loss, got {np.round(heights, 4).tolist()}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
    values, slopes = np.linspace(here - reach, here + reach, 41), {}
    for name, colour, style, marker in LOOKS:
        if name not in losses_by_use:
            continue
        loss = losses_by_use[name]
        slopes[name] = (loss(here + NUDGE) - loss(here - NUDGE)) / (2 * NUDGE)
        label = f"changed in {'both uses' if name == 'both' else f'the {name} use'}: {slopes[name]:+.2f}"
        losses = [loss(value) for value in values]
        ax.plot(values, losses, color=colour, linestyle=style, marker=marker, markevery=8, label=label)
    ax.plot(here, heights[0], color=TRUTH, marker="o", linestyle="", markersize=9, zorder=5)
    ax.axvline(here, ymax=0.6, color=CONTEXT, linewidth=1, linestyle="-", zorder=0)
    ax.set(xlabel="value of the entry", ylabel="loss", ylim=limits)
    ax.legend(title="slope at the black dot", loc="upper center")
    signed = " + ".join(f"({slopes[name]:.2f})" for name in ("first", "second") if name in slopes)
    tied = f" = {slopes['both']:.2f}" if "both" in slopes else ": each slope belongs to a matrix of its own"
    ax.set_title(f"{signed}{tied}" if signed else f"The slope is{tied[2:]}")
    return ax


def draw_cosines(cosines_by_name, rows, columns):
    """Draw tables of cosines, a row for each text A and a column for each text B, partners on the diagonal.

    Parameters
    ----------
    cosines_by_name : dict of str to array (rows, columns)
        From -1 to 1.
    rows, columns : list of str

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a table does not fit the names, or there is none.
    """
    for name, table in cosines_by_name.items():
        if np.shape(table) != (len(rows), len(columns)):
            raise ValueError(
                f"{name} must be a table of {len(rows)} rows and {len(columns)} columns, got shape "
                f"{np.shape(table)}."
            )
    if not cosines_by_name:
        raise ValueError("no table of cosines to draw.")
    count = len(cosines_by_name)
    size = (1.4 + 2.3 * count, 3.6)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    for ax, (name, table) in zip(axes[0], cosines_by_name.items(), strict=True):
        image = ax.imshow(table, cmap=SIGNED_FIELD, vmin=-1, vmax=1)
        ax.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7)
        ax.set_yticks(range(len(rows)), rows, fontsize=7)
        ax.set_xlabel(f"text B\n{name}")
    figure.colorbar(image, ax=axes, label="cosine", shrink=0.7)
    axes[0][0].set_title("Partners stand on the diagonal")
    axes[0][0].set_ylabel("text A")
    return figure


def draw_runs(shares_by_name, xlabel, ylabel, ax=None):
    """Draw a share for each seed, a row for each name, with the mean of each row as a line.

    Parameters
    ----------
    shares_by_name : dict of str to array (seeds,)
        From 0 to 1.
    xlabel, ylabel : str
        What the shares are of, and what the names are.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two names, or one is without shares from 0 to 1.
    """
    if len(shares_by_name) < 2:
        raise ValueError(f"shares are compared: two names or more are wanted, got {list(shares_by_name)}.")
    ax = ax or plt.subplots(figsize=(6.4, 0.9 + 0.5 * len(shares_by_name)))[1]
    for place, (name, shares) in enumerate(shares_by_name.items()):
        shares = np.asarray(shares, dtype=float)
        if not shares.size or not (0 <= shares.min() and shares.max() <= 1):
            raise ValueError(f"{name} needs shares from 0 to 1, one for each seed.")
        ax.plot(shares, np.full(len(shares), place), color=PALETTE[0], marker="o", linestyle="", alpha=0.6)
        ax.vlines(shares.mean(), place - 0.3, place + 0.3, color=TRUTH, linestyle="-")
    ax.set_yticks(range(len(shares_by_name)), list(shares_by_name))
    ax.set(xlim=(-0.03, 1.03), ylim=(len(shares_by_name) - 0.5, -0.5), xlabel=xlabel, ylabel=ylabel)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    means = {name: np.mean(shares) for name, shares in shares_by_name.items()}
    *_, second, best = sorted(means, key=means.get)
    lead = 100 * (means[best] - means[second])
    ax.set_title(f"{best}: {means[best]:.1%}, ahead by {lead:.1f} points")
    return ax


def draw_points(points_by_name, radius, near=0.3):
    """Draw points beside a ring around 0, a panel for each name, with the borders of eight sectors.

    Parameters
    ----------
    points_by_name : dict of str to array (points, 2)
        Two or more, in the order of time; the title speaks of the last.
    radius : float
        Of the ring.
    near : float
        How far from the ring a point still counts as on it.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are fewer than two names, or one is without points in the plane.
    """
    if len(points_by_name) < 2:
        raise ValueError(f"points are compared: two names or more are wanted, got {list(points_by_name)}.")
    for name, points in points_by_name.items():
        if np.ndim(points) != 2 or np.shape(points)[1] != 2 or not len(points):
            raise ValueError(f"{name} must be points in the plane (points, 2), got shape {np.shape(points)}.")
    reach = 1.08 * max(1.25 * radius, *(np.abs(points).max() for points in points_by_name.values()))
    count = len(points_by_name)
    size = (1.2 + 2.2 * count, 3.4)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharex=True, sharey=True)
    for ax, (name, points) in zip(axes, points_by_name.items(), strict=True):
        for angle in np.arange(4) * np.pi / 4:
            toward = (np.cos(angle), np.sin(angle))
            ax.axline((0, 0), toward, color=CONTEXT, linewidth=0.6, linestyle=":", marker="", zorder=0)
        x, y = np.transpose(points)
        ax.plot(x, y, color=FORWARD, marker=".", linestyle="", markersize=4, markeredgewidth=0, alpha=0.5)
        ax.add_patch(plt.Circle((0, 0), radius, fill=False, edgecolor=TRUTH, linestyle="--", zorder=1))
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel=f"first number\n{name}")
    on_ring = np.mean(np.abs(np.hypot(x, y) - radius) < near)
    axes[0].set_title(f"{name.capitalize()}: {on_ring:.0%} lie within {near:g} of the ring")
    axes[0].set_ylabel("second number")
    return figure
