"""Figures of chapter 17: the lessons in a name, likely letters, written names, learning to write and to add.

Leaves out models and what they write: texts, probabilities, weights and shares come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from course.style import BACKWARD, CONTEXT, FIELD, FORWARD, INK, PALETTE, TRUTH

PALE = "#CFE3F1"  # blue, light enough to write on
MONO = {"family": "monospace", "fontsize": 8.5}
CLIPPED = 46  # signs of a line of text that fit


def draw_lessons(name, end="end", ax=None):
    """Draw a name as the examples that it holds: what is read, in blue, and the target behind it, framed.

    Parameters
    ----------
    name : str
        Two letters or more.
    end : str
        What stands for the sign in front of a name and behind it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the name is shorter.
    """
    if len(name) < 2:
        raise ValueError(f"a name of two letters or more is wanted, got {name!r}.")
    signs = [end, *name, end]
    ax = ax or plt.subplots(figsize=(max(0.72 * len(signs) + 1.2, 6.2), 0.42 * len(signs) + 0.7))[1]
    for row in range(len(signs) - 1):
        for column, sign in enumerate(signs[: row + 2]):
            target = column == row + 1
            face, edge = ("white", TRUTH) if target else (PALE, "white")
            ax.add_patch(Rectangle((column, row), 0.94, 0.88, facecolor=face, edgecolor=edge, linewidth=1.2))
            weight = "bold" if target else "normal"
            size = 8 if sign == end else 11
            ax.text(column + 0.47, row + 0.46, sign, ha="center", va="center", weight=weight, fontsize=size)
    ax.set(xlim=(-0.1, len(signs) + 0.1), ylim=(len(signs) - 0.9, -0.1), xticks=[])
    ax.set(xlabel="what stands in the text, sign by sign", ylabel="step")
    ax.set_yticks([row + 0.46 for row in range(len(signs) - 1)], range(len(signs) - 1))
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_title(f"{name} is {len(signs) - 1} examples: what is read, and its target (framed)")
    return ax


def draw_next(signs, probabilities_by_name, prompt):
    """Draw how likely signs are to come next, a panel for each way to ask.

    Parameters
    ----------
    signs : sequence of str
        Those to draw, in the order of the bars.
    probabilities_by_name : dict of str to array (signs,)
        From 0 to 1.
    prompt : str
        What has been read.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is nothing to draw, or not one probability for each sign.
    """
    if not probabilities_by_name:
        raise ValueError("no probabilities to draw.")
    for name, probabilities in probabilities_by_name.items():
        right = np.shape(probabilities) == (len(signs),)
        if not right or not (np.min(probabilities) >= 0 and np.max(probabilities) <= 1):
            raise ValueError(f"{name} needs a probability from 0 to 1 for each of {len(signs)} signs.")
    count = len(probabilities_by_name)
    size = (max(0.8 + 2.2 * count, 4.6), 2.6)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    for ax, (name, probabilities) in zip(axes[0], probabilities_by_name.items(), strict=True):
        ax.bar(range(len(signs)), probabilities, color=FORWARD, width=0.75)
        ax.set_xticks(range(len(signs)), signs, fontsize=8)
        ax.tick_params(axis="x", length=0)
        ax.set_xlabel(name)
        top = float(np.max(probabilities))
        ax.annotate(f"{top:.2f}", (int(np.argmax(probabilities)), top), ha="center", va="bottom", fontsize=8)
    axes[0][0].set(ylabel="probability", ylim=(0, 1.08))
    axes[0][0].set_title(f"Which letter comes behind “{prompt}”?", loc="left")
    return figure


def draw_names(kinds_by_name, shares, setting, ax=None):
    """Draw names that were written, each with its kind, and how often each kind came in a larger number.

    Parameters
    ----------
    kinds_by_name : list of (str, str)
        Names, and what each of them is.
    shares : dict of str to float
        How often each kind came, from 0 to 1.
    setting : str
        How they were written.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no name, or the shares do not sum to 1.
    """
    if not kinds_by_name or abs(sum(shares.values()) - 1) > 1e-6:
        total = sum(shares.values())
        raise ValueError(
            f"names, and shares that sum to 1, are wanted; got {kinds_by_name}, sum {total:.4g}."
        )
    ax = ax or plt.subplots(figsize=(6.4, 0.75 + 0.23 * len(kinds_by_name)))[1]
    for row, (name, kind) in enumerate(kinds_by_name):
        shown = name if len(name) <= CLIPPED else f"{name[: CLIPPED - 1]}…"
        ax.text(0, row, shown or "(nothing)", va="center", color=INK, **MONO)
        ax.text(1, row, kind, va="center", ha="right", color=CONTEXT, fontsize=8.5)
    ax.set(xlim=(0, 1), ylim=(len(kinds_by_name) - 0.4, -0.7))
    ax.axis("off")
    said = ", ".join(f"{kind} {share:.0%}" for kind, share in shares.items())
    ax.set_title(f"{setting}\n{said}", loc="left", fontsize=9.5)
    return ax


def draw_learning(updates, bits, tables, names_by_update):
    """Draw bits per character against the updates, tables as lines, and names that were written on the way.

    Parameters
    ----------
    updates : array (times,)
    bits : array (times,)
        On names that are not learned from.
    tables : dict of str to float
        Bits of what the model is compared with.
    names_by_update : dict of int to list of str

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is not one number of bits for each time, or no names for a time among them.
    """
    missing = sorted(set(names_by_update) - set(updates))
    if len(bits) != len(updates) or missing or not names_by_update:
        found = f"{len(bits)} bits for {len(updates)} times, names at {missing} which are none of them"
        raise ValueError(f"bits for each time and names at some of them are wanted, got {found}.")
    lines = max(map(len, names_by_update.values()))
    texts = len(names_by_update)
    size = (7.6, 2.9 + 0.21 * (lines + 1.5) * texts)
    ratios = [2.9, *[0.21 * (lines + 1.5)] * texts]
    figure, axes = plt.subplots(1 + texts, 1, figsize=size, layout="compressed", height_ratios=ratios)
    ax = axes[0]
    ax.plot(updates, bits, color=FORWARD, marker="o", linestyle="-")
    for name, height in tables.items():
        ax.axhline(height, color=CONTEXT, linestyle="--", linewidth=1)
        ax.annotate(
            name, (1, height), (4, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=8.5
        )
    ax.set(xlabel="updates", ylabel="bits per character", ylim=(0, max(*bits, *tables.values()) * 1.08))
    ax.set_title(f"From {bits[0]:.1f} bits per character to {bits[-1]:.1f}")
    for ax, (update, names) in zip(axes[1:], names_by_update.items(), strict=True):
        at = bits[list(updates).index(update)]
        ax.text(
            0, 1, f"after {update} updates ({at:.1f} bits)", va="top", color=INK, fontsize=9, weight="bold"
        )
        for row, name in enumerate(names):
            height = 1 - (row + 1.3) / (lines + 1.5)
            ax.text(0.02, height, name or "(nothing)", va="top", color=INK, **MONO)
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.axis("off")
    return figure


def draw_orders(updates, shares_by_order, ax=None):
    """Draw the share of right sums against the updates, a line for each run, a look for each order.

    Parameters
    ----------
    updates : array (times,)
    shares_by_order : dict of str to array (runs, times)
        From 0 to 1.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If an order has not one share from 0 to 1 for each time.
    """
    for order, shares in shares_by_order.items():
        shares = np.asarray(shares, dtype=float)
        if shares.ndim != 2 or shares.shape[1] != len(updates) or shares.min() < 0 or shares.max() > 1:
            raise ValueError(f"{order} needs shares from 0 to 1, of shape (runs, {len(updates)}).")
    ax = ax or plt.subplots(figsize=(6.4, 3.5))[1]
    looks = ((FORWARD, "-", "o"), (BACKWARD, "--", "s"), (PALETTE[3], ":", "^"))
    for (order, shares), (colour, style, marker) in zip(shares_by_order.items(), looks, strict=False):
        for run, share in enumerate(shares):
            label = None if run else order
            ax.plot(updates, share, color=colour, linestyle=style, marker=marker, markersize=4, label=label)
    ax.set(ylim=(-0.03, 1.05), xlabel="updates", ylabel="held-out sums that are right")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(title="result written", loc="lower right")
    half = {order: _time_of_half(updates, shares) for order, shares in shares_by_order.items()}
    ax.set_title("Half right after " + " against ".join(half.values()) + " updates")
    return ax


def _time_of_half(updates, shares):
    """Return in words when the runs first had half of the sums right."""
    shares = np.asarray(shares)
    times = [int(np.asarray(updates)[run >= 0.5][0]) for run in shares if run.max() >= 0.5]
    if not times:
        return "never"
    return f"{min(times)}" if min(times) == max(times) else f"{min(times)} to {max(times)}"


def draw_columns(weights, looking, seen, ax=None):
    """Draw how much some steps look at each step, as a table with its numbers.

    Parameters
    ----------
    weights : array (looking, seen)
        From 0 to 1.
    looking, seen : sequence of str
        What the steps are called.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the table does not fit the names, or holds what is no weight.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(looking), len(seen)) or weights.min() < 0 or weights.max() > 1 + 1e-6:
        raise ValueError(
            f"weights from 0 to 1, ({len(looking)}, {len(seen)}), are wanted, got {weights.shape}."
        )
    ax = ax or plt.subplots(figsize=(max(1.9 + 0.66 * len(seen), 5.0), 1.1 + 0.52 * len(looking)))[1]
    ax.imshow(weights, cmap=FIELD, vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(weights.shape):
        colour = INK if weights[row, column] > 0.6 else "white"
        number = f"{weights[row, column]:.2f}"
        ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
    ax.set_xticks(range(len(seen)), seen, fontsize=8)
    ax.set_yticks(range(len(looking)), looking, fontsize=8)
    ax.set(xlabel="step that is looked at", ylabel="step that writes")
    ax.set_title("Where a step looks that writes a digit")
    return ax
