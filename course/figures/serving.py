"""Figures of chapter 23: callers in every order, counts of what went wrong, and what a server was asked.

What is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, INK, ON_COLOUR
from course.figures import Figure


def orders(gradients_by_order, truths):
    """Draw callers of one layer in several orders, a row for each: who goes forward when, who comes back.

    Parameters
    ----------
    gradients_by_order : dict of str to dict of str to float
        For each order, such as "ABBA", the gradient that each caller came back with. The first place of a
        letter is its forward pass, the second its backward pass.
    truths : dict of str to float
        The right gradient of each caller.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 1.0 + 0.42 * len(gradients_by_order)))[1]
    results = {}
    for row, (order, gradients) in enumerate(gradients_by_order.items()):
        for place, name in enumerate(order):
            forward = name not in order[:place]
            colour = FORWARD if forward else BACKWARD
            ax.add_patch(Rectangle((place + 0.04, row - 0.36), 0.92, 0.72, color=colour))
            step = f"{name} {'forward' if forward else 'back'}"
            ax.text(place + 0.5, row, step, ha="center", va="center", color=ON_COLOUR, fontsize=9)
        wrong = [name for name in truths if gradients[name] != truths[name]]
        results[order] = ", ".join(f"{name} {gradients[name]:g}" for name in truths)
        results[order] += f": {' and '.join(wrong)} wrong" if wrong else ""
        weight = "bold" if wrong else "normal"
        ax.text(len(order) + 0.25, row, results[order], va="center", color=INK, fontsize=9, weight=weight)
    steps = len(next(iter(gradients_by_order)))
    ax.set(xlim=(0, 1.75 * steps), ylim=(len(gradients_by_order) - 0.5, -0.5))
    ax.set_xticks(np.arange(steps) + 0.5, np.arange(1, steps + 1))
    ax.set_yticks(range(len(gradients_by_order)), list(gradients_by_order))
    ax.set(ylabel="order")
    ax.set_xlabel("step, and the gradients that came back", loc="left")

    spoiled = sum(gradients != truths for gradients in gradients_by_order.values())
    right = " and ".join(f"{name} {truth:g}" for name, truth in truths.items())
    return Figure(
        ax,
        f"{spoiled} of {len(gradients_by_order)} orders give somebody a wrong gradient",
        f"Each row is one order of the steps, with the gradients that came back. The right ones are {right}.",
        f"Rows of {steps} steps, forward or back, of {' and '.join(truths)}. "
        + "; ".join(f"{order} gives {result}" for order, result in results.items())
        + ".",
    )


def wrong(wrong_by_test, total):
    """Draw how many gradients were wrong in several tests, out of a common total.

    Parameters
    ----------
    wrong_by_test : dict of str to int
        From 0 to `total`.
    total : int

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 1.2 + 0.42 * len(wrong_by_test)))[1]
    told = _bars(ax, wrong_by_test, total, BACKWARD)
    ax.set(xlabel=f"wrong gradients, of {total:,} that came back", ylabel="memory")
    worst = max(wrong_by_test, key=wrong_by_test.get)
    title = f"Not one of {total:,} gradients is wrong"
    if wrong_by_test[worst]:
        title = f"{worst.capitalize()}, {wrong_by_test[worst]:,} of {total:,} gradients are wrong"
    return Figure(
        ax,
        title,
        "Each bar counts the wrong gradients in one test. A test without a bar found none.",
        f"Bars of wrong gradients, out of {total:,}: {told}.",
    )


def read_right(right_by_weights, total):
    """Draw how many digits are classified correctly with several weights, out of a common total.

    Parameters
    ----------
    right_by_weights : dict of str to int
        From 0 to `total`.
    total : int

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 1.2 + 0.42 * len(right_by_weights)))[1]
    told = _bars(ax, right_by_weights, total, FORWARD)
    ax.set(xlabel=f"test digits classified correctly, of {total:,}", ylabel="pass with")
    worst = min(right_by_weights, key=right_by_weights.get)
    return Figure(
        ax,
        f"With {worst}, {right_by_weights[worst]:,} of {total:,} digits are classified correctly",
        "Each bar is one pass over the test digits. The dashed line marks all of them.",
        f"Bars of test digits classified correctly, out of {total:,}: {told}.",
    )


def _bars(ax, counts_by_name, total, colour):
    """Draw counts as bars, each with its number, and tell them; a bar of 0 is drawn as a line."""
    counts = list(counts_by_name.values())
    ax.barh(range(len(counts)), counts, color=colour, edgecolor=colour, height=0.6)
    for place, count in enumerate(counts):
        inside = count > 0.2 * total  # so that no number meets the line of the total
        look = {"ha": "right", "color": ON_COLOUR} if inside else {"ha": "left", "color": INK}
        ax.text(count + (-0.015 if inside else 0.015) * total, place, f"{count:,}", va="center", **look)
    ax.axvline(total, color=CONTEXT, linestyle="--", linewidth=1)
    ax.text(total, 1.03, f"all {total:,}", transform=ax.get_xaxis_transform(), ha="center", fontsize=9)
    ax.set_yticks(range(len(counts)), list(counts_by_name))
    ax.set(xlim=(0, 1.04 * total), ylim=(len(counts) - 0.5, -0.5))
    return "; ".join(f"{name}: {count:,}" for name, count in counts_by_name.items())


def asked(image, activations, probabilities, reach=None):
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
    Figure
    """
    image, activations, probabilities = map(np.asarray, (image, activations, probabilities))
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.0, 2.5), width_ratios=(1, 1.2, 1.3))
    left.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    left.set_axis_off()
    height, width = image.shape
    left.add_patch(Rectangle((-0.5, -0.5), width, height, fill=False, edgecolor=CONTEXT, clip_on=False))
    left.text(width / 2 - 0.5, height, "what was sent", ha="center", va="top", color=INK)
    middle.bar(range(len(activations)), activations, color=CONTEXT)
    top = reach or 1.05 * activations.max() or 1.0
    middle.set(xlabel="unit of the layer", ylabel="activation", ylim=(0, top))
    best = int(probabilities.argmax())
    colours = [FORWARD if label == best else CONTEXT for label in range(len(probabilities))]
    right.bar(range(len(probabilities)), probabilities, color=colours)
    right.set(xlabel="digit", ylabel="probability", ylim=(0, 1.05), xticks=range(len(probabilities)))
    right.tick_params(axis="x", labelsize=8)
    right.yaxis.set_major_formatter(PercentFormatter(1))

    active = int(np.count_nonzero(activations))
    written = int(image.any(axis=1).nonzero()[0].max(initial=-1)) + 1
    return Figure(
        figure,
        f"The server says {best}, with {probabilities[best]:.0%}",
        "Left: the image that was sent. Middle: what the hidden units returned. Right: the "
        "probabilities of the answer.",
        f"An image with ink down to row {written} of {len(image)}. Bars: {active} of the "
        f"{len(activations)} hidden units are above 0. More bars: probabilities, the largest "
        f"{probabilities[best]:.0%} for {best}.",
    )
