"""Figures of chapter 16: tables of weights, one step that looks, what wide scores do, accuracy over seeds.

Leaves out running the layers: weights, shares and accuracies come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from course.style import CONTEXT, FIELD, FORWARD, INK, PALETTE, TRUTH

STYLES, MARKERS = ("-", "--", ":", "-.", "-"), ("o", "s", "^", "D", "v")
ROUNDING = 1e-6  # how far the weights of a row may be from a sum of 1


def draw_weights(weights_by_name):
    """Draw tables of weights side by side: a row for each step that looks, a column for each that is seen.

    Parameters
    ----------
    weights_by_name : dict of str to array (steps, steps)
        From 0 to 1.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no table, one is not square, or holds what is no weight.
    """
    if not weights_by_name:
        raise ValueError("no table of weights to draw.")
    for name, weights in weights_by_name.items():
        shape = np.shape(weights)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"{name} must be a table (steps, steps), got shape {shape}.")
        if not (np.min(weights) >= 0 and np.max(weights) <= 1 + ROUNDING):
            raise ValueError(f"{name} must hold weights from 0 to 1.")
    count = len(weights_by_name)
    figure, axes = plt.subplots(
        1, count, figsize=(max(5, 1.2 + 2.1 * count), 2.9), layout="compressed", squeeze=False
    )
    for ax, (name, weights) in zip(axes[0], weights_by_name.items(), strict=True):
        image = ax.imshow(weights, cmap=FIELD, vmin=0, vmax=1)
        places = range(len(weights))
        ax.set_xticks(places), ax.set_yticks(places)
        ax.tick_params(labelsize=7)
        ax.set_xlabel(f"step looked at\n{name}")
    figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    axes[0][0].set_title("Each row says where one step looks")
    axes[0][0].set_ylabel("step that looks")
    return figure


def draw_look(tokens, weights, place, ax=None):
    """Draw how much one step looks at each step of a sequence, as bars over its tokens.

    Parameters
    ----------
    tokens : array (steps,)
        What stands at each step.
    weights : array (steps,)
        One row of the table of weights.
    place : int
        The step that looks.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is not one weight for each token, the weights do not sum to 1, or place is none of the steps.
    """
    steps = len(tokens)
    if np.shape(weights) != (steps,) or not 0 <= place < steps:
        raise ValueError(
            f"{steps} weights and a place among them are wanted, got {np.shape(weights)}, {place}."
        )
    if abs(np.sum(weights) - 1) > ROUNDING:
        raise ValueError(f"the weights of a step sum to 1, got {np.sum(weights):.4g}.")
    ax = ax or plt.subplots(figsize=(5.6, 2.9))[1]
    ax.bar(range(steps), weights, color=FORWARD, width=0.7)
    ax.set_xticks(range(steps), [f"{token}\nstep {step}" for step, token in enumerate(tokens)])
    ax.tick_params(axis="x", length=0, pad=7)
    asker = ax.get_xticklabels()[place]
    asker.set(fontweight="bold", bbox={"facecolor": "white", "edgecolor": TRUTH, "pad": 2})
    ax.set(
        ylim=(0, 1.05), xlabel="token, and where it stands; the step that looks is framed", ylabel="weight"
    )
    most = int(np.argmax(weights))
    ax.set_title(f"Step {place} looks most at step {most}, with weight {weights[most]:.2f}")
    return ax


def draw_widths(widths, shares_by_name, ax=None):
    """Draw the largest of the weights that softmax makes, against the width of queries and keys.

    Parameters
    ----------
    widths : array (settings,)
        Positive.
    shares_by_name : dict of str to array (settings,)
        From 0 to 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If widths are not positive, or something is not a share for each width.
    """
    if not len(widths) or np.min(widths) <= 0:
        raise ValueError(f"widths must be positive, got {list(widths)}.")
    for name, shares in shares_by_name.items():
        if np.shape(shares) != np.shape(widths) or not (0 <= np.min(shares) and np.max(shares) <= 1):
            raise ValueError(f"{name} needs a share from 0 to 1 for each of {len(widths)} widths.")
    ax = ax or plt.subplots(figsize=(6.4, 3.6))[1]
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
    ax.set_title(f"At width {widths[-1]:g} the largest weight is {ends}")
    return ax


def draw_seeds(updates, accuracies, goal, ax=None):
    """Draw the accuracy of several runs against the updates, with the goal as a line.

    Parameters
    ----------
    updates : array (times,)
    accuracies : array (seeds, times)
        From 0 to 1.
    goal : float
        The accuracy that counts as done.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is not one accuracy from 0 to 1 for each seed and time, or a run never reaches the goal.
    """
    accuracies = np.asarray(accuracies, dtype=float)
    if accuracies.ndim != 2 or accuracies.shape[1] != len(updates):
        raise ValueError(f"accuracies (seeds, {len(updates)}) are wanted, got shape {accuracies.shape}.")
    if not (0 <= accuracies.min() and accuracies.max(axis=1).min() >= goal and accuracies.max() <= 1):
        raise ValueError(f"accuracies are from 0 to 1, and each run is to reach {goal:g}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.6))[1]
    for run in accuracies:
        ax.plot(updates, run, color=FORWARD, linestyle="-", marker="", alpha=0.6)
    ax.axhline(goal, color=CONTEXT, linestyle="--", linewidth=1)
    ax.text(0, goal, f"{goal:.0%}", va="bottom", color=INK)
    ax.set(ylim=(0, 1.08), xlabel="updates", ylabel="tokens in the right place")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    first = np.asarray(updates)[(accuracies >= goal).argmax(axis=1)]
    ax.set_title(f"{len(accuracies)} seeds reach {goal:.0%} after {first.min()} to {first.max()} updates")
    return ax
