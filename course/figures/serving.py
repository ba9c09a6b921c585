"""Figures of chapter 23: callers in every order, counts of what went wrong, and what a server was asked.

Leaves out playing the orders and asking the server: what is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE


def draw_orders(gradients_by_order, truths, ax=None):
    """Draw callers of one layer in several orders, a row for each: who goes forward when, who comes back.

    Parameters
    ----------
    gradients_by_order : dict of str to dict of str to float
        For each order, such as "ABBA", the gradient that each caller came back with. The first place of a
        letter is its way forward, the second its way back.
    truths : dict of str to float
        The right gradient of each caller.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If an order does not name each caller twice, or there is none.
    """
    for order in gradients_by_order:
        if sorted(order) != sorted(2 * list(truths)):
            raise ValueError(f"an order names each of {', '.join(truths)} twice, got {order!r}.")
    if not gradients_by_order:
        raise ValueError("no order to draw.")
    ax = ax or plt.subplots(figsize=(6.4, 1.0 + 0.42 * len(gradients_by_order)))[1]
    spoiled = 0
    for row, (order, gradients) in enumerate(gradients_by_order.items()):
        for place, name in enumerate(order):
            forward = name not in order[:place]
            colour = FORWARD if forward else BACKWARD
            ax.add_patch(Rectangle((place + 0.04, row - 0.36), 0.92, 0.72, color=colour))
            said = f"{name} {'forward' if forward else 'back'}"
            ax.text(place + 0.5, row, said, ha="center", va="center", color="white", fontsize=9)
        wrong = [name for name in truths if gradients[name] != truths[name]]
        spoiled += bool(wrong)
        came = ", ".join(f"{name} {gradients[name]:g}" for name in truths)
        said = f"{came}: {' and '.join(wrong)} wrong" if wrong else f"{came}"
        weight = "bold" if wrong else "normal"
        ax.text(len(order) + 0.25, row, said, va="center", color=INK, fontsize=9, weight=weight)
    steps = len(next(iter(gradients_by_order)))
    ax.set(xlim=(0, 1.75 * steps), ylim=(len(gradients_by_order) - 0.5, -0.5))
    ax.set_xticks(np.arange(steps) + 0.5, np.arange(1, steps + 1))
    ax.set_yticks(range(len(gradients_by_order)), list(gradients_by_order))
    ax.set(ylabel="order of steps")
    ax.set_xlabel("step, and what came back", loc="left")
    ax.set_title(f"{spoiled} of {len(gradients_by_order)} orders give somebody a wrong gradient")
    return ax


def draw_counts(counts_by_name, total, xlabel, title, ylabel="case", ax=None):
    """Draw counts out of a common total as bars, each with its number; a bar of 0 is drawn as a line.

    Parameters
    ----------
    counts_by_name : dict of str to int
        From 0 to `total`.
    total : int
    xlabel, title, ylabel : str
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no count, or one is not from 0 to the total.
    """
    counts = list(counts_by_name.values())
    if not counts or not all(0 <= count <= total for count in counts):
        raise ValueError(f"counts are from 0 to {total}, got {counts}.")
    ax = ax or plt.subplots(figsize=(6.4, 1.1 + 0.42 * len(counts)))[1]
    ax.barh(range(len(counts)), counts, color=FORWARD, edgecolor=FORWARD, height=0.6)
    for place, count in enumerate(counts):
        inside = count > 0.2 * total  # so that no number meets the line of the total
        look = {"ha": "right", "color": "white"} if inside else {"ha": "left", "color": INK}
        ax.text(count + (-0.015 if inside else 0.015) * total, place, f"{count:,}", va="center", **look)
    ax.axvline(total, color=CONTEXT, linestyle="--", linewidth=1)
    ax.text(total, 1.03, f"all {total:,}", transform=ax.get_xaxis_transform(), ha="center", fontsize=9)
    ax.set_yticks(range(len(counts)), list(counts_by_name))
    ax.set(xlim=(0, 1.04 * total), ylim=(len(counts) - 0.5, -0.5), xlabel=xlabel, title=title, ylabel=ylabel)
    return ax


def draw_asked(image, activations, probabilities, reach=None):
    """Draw an image that a server was asked about, what came out of a layer inside, and what it answered.

    Parameters
    ----------
    image : array (height, width)
    activations : array (units,)
        None negative.
    probabilities : array (n_classes,)
    reach : float, optional
        Where the axis of the activations ends; a slider needs it to stay.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the image is no matrix, an activation is negative, or the probabilities do not sum to 1.
    """
    image, activations, probabilities = map(np.asarray, (image, activations, probabilities))
    if image.ndim != 2 or activations.ndim != 1 or activations.min() < 0:
        raise ValueError("an image is a matrix, and activations are a row of numbers that are not negative.")
    if not np.isclose(probabilities.sum(), 1):
        raise ValueError(f"probabilities sum to 1, these sum to {probabilities.sum():.3g}.")
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.0, 2.7), width_ratios=(1, 1.2, 1.3))
    left.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    left.set(xticks=[], yticks=[], xlabel="what was sent")
    left.spines[["top", "right"]].set_visible(True)
    middle.bar(range(len(activations)), activations, color=CONTEXT)
    top = reach or 1.05 * activations.max() or 1.0
    middle.set(xlabel="unit of the layer", ylabel="activation", ylim=(0, top))
    best = probabilities.argmax()
    colours = [FORWARD if label == best else PALETTE[3] for label in range(len(probabilities))]
    right.bar(range(len(probabilities)), probabilities, color=colours)
    right.set(xlabel="digit", ylabel="probability", ylim=(0, 1.05), xticks=range(len(probabilities)))
    right.tick_params(axis="x", labelsize=8)
    right.yaxis.set_major_formatter(PercentFormatter(1))
    right.set_title(f"The server says {best}")
    return figure
