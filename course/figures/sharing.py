"""Figures of chapter 13: what each use of a shared matrix brings, words beside words, shares, points.

What is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, ON_COLOUR, ON_PALE, PALETTE, SIGNED_FIELD, TRUTH
from course.figures import Figure

LOOKS = (("first", PALETTE[3], "--", "s"), ("second", PALETTE[4], ":", "^"), ("both", BACKWARD, "-", "o"))
NUDGE = 1e-5  # far enough for the slope of a loss to five digits


def gradients(first, second, shared, nudged):
    """Draw the gradients of a matrix that is used twice, in one colour scale around 0, with their numbers.

    Parameters
    ----------
    first, second : array (rows, columns)
        Of the first use and of the second, taken apart.
    shared : array (rows, columns)
        Of the matrix that stands in both places.
    nudged : array (rows, columns)
        What nudging gives for that matrix.

    Returns
    -------
    Figure
    """
    names = ("first use", "second use", "layer.W.grad", "nudging")
    fields = [np.asarray(field, dtype=float) for field in (first, second, shared, nudged)]
    reach = max(np.abs(field).max() for field in fields) or 1.0
    figure, axes = plt.subplots(1, 4, figsize=(8.4, 2.6), layout="compressed")
    for ax, field, name in zip(axes, fields, names, strict=True):
        ax.imshow(field, cmap=SIGNED_FIELD, vmin=-reach, vmax=reach)
        for row, column in np.ndindex(field.shape):
            colour = ON_COLOUR if abs(field[row, column]) > 0.6 * reach else ON_PALE
            number = f"{round(field[row, column], 2) + 0.0:.2f}"  # never -0.00
            ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
        ax.set_xticks([]), ax.set_yticks([])
        ax.set_xlabel(name)
    axes[0].set_ylabel("inputs, outputs to the right")
    gap = np.abs(fields[2] - fields[0] - fields[1]).max()
    if np.allclose(fields[2], fields[0] + fields[1]):
        title = "The gradient of the shared matrix is the sum of those of its two uses"
    else:
        title = f"The gradient of the shared matrix differs from the sum of the two by up to {gap:.2g}"
    corners = ", ".join(f"{name} {field[0, 0] + 0.0:.2f}" for name, field in zip(names, fields, strict=True))
    return Figure(
        figure,
        title,
        "Each field is the slope of the loss with respect to one weight, rounded: blue is positive, red "
        "negative, and all matrices have one colour scale.",
        f"Four matrices of {len(fields[0])} by {len(fields[0].T)} numbers in one colour scale. Their entries "
        f"at the upper left: {corners}.",
    )


def uses(loss_of, W, entry, tied=True, limits=None, reach=1.5):  # noqa: PLR0913  a slider fixes the axes
    """Draw the loss against one entry of a matrix that is changed in the first use, the second, or both.

    Parameters
    ----------
    loss_of : function
        The matrix of the first use, the matrix of the second -> the loss.
    W : array (rows, columns)
        The matrix as it is, where all curves meet.
    entry : (int, int)
        Its row and its column.
    tied : bool
        Whether both uses can be changed at once; separate matrices have no such curve.
    limits : (float, float), optional
        The ends of the vertical axis, the same at every stop of a slider.
    reach : float
        How far the curves go to either side.

    Returns
    -------
    Figure
    """
    W, entry = np.array(W, dtype=float), tuple(entry)

    def with_entry(value):
        changed = W.copy()
        changed[entry] = value
        return changed

    losses_by_use = {
        "first": lambda value: loss_of(with_entry(value), W),
        "second": lambda value: loss_of(W, with_entry(value)),
    }
    if tied:
        losses_by_use["both"] = lambda value: loss_of(with_entry(value), with_entry(value))
    here, slopes = W[entry], {}
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    values = np.linspace(here - reach, here + reach, 41)
    for name, colour, style, marker in LOOKS[: len(losses_by_use)]:
        loss = losses_by_use[name]
        slopes[name] = (loss(here + NUDGE) - loss(here - NUDGE)) / (2 * NUDGE)
        label = f"changed in {'both uses' if name == 'both' else f'the {name} use'}: {slopes[name]:+.2f}"
        losses = [loss(value) for value in values]
        ax.plot(values, losses, color=colour, linestyle=style, marker=marker, markevery=8, label=label)
    ax.plot(here, loss_of(W, W), color=TRUTH, marker="o", linestyle="", markersize=9, zorder=5)
    ax.axvline(here, ymax=0.6, color=CONTEXT, linewidth=1, linestyle="-", zorder=0)
    ax.set(xlabel=f"value of the entry {entry[0]}, {entry[1]}", ylabel="loss", ylim=limits)
    ax.legend(title="slope at the dot", loc="upper center")
    signed = f"{slopes['first']:+.2f} and {slopes['second']:+.2f}"
    if tied:
        title = f"One shared entry: the slopes {signed} become {slopes['both']:+.2f}"
        caption = "All three curves pass through the dot, the entry as it is, each with its own slope."
    else:
        title = f"Two separate entries: each keeps its own slope, {signed}"
        caption = "Both curves pass through the dot; nothing ties the two entries to each other."
    return Figure(
        ax,
        title,
        caption,
        f"The loss against the entry {entry[0]}, {entry[1]}, which is {here:.2f}. The curves meet there at a "
        f"loss of {loss_of(W, W):.2f}; their slopes: "
        + ", ".join(f"{slope:+.2f} if changed in {name}" for name, slope in slopes.items())
        + ".",
    )


def cosines(cosines_by_name, words_A, words_B):
    """Draw tables of cosines, a row for each text A and a column for each text B, partners on the diagonal.

    Parameters
    ----------
    cosines_by_name : dict of str to array (words, words)
        From -1 to 1; the title speaks of the last.
    words_A, words_B : list of str
        Two or more, partners at the same place.

    Returns
    -------
    Figure
    """
    count, own = len(cosines_by_name), np.eye(len(words_A), dtype=bool)
    size = (1.4 + 2.3 * count, 3.4)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    means = {}
    for ax, (name, table) in zip(axes[0], cosines_by_name.items(), strict=True):
        image = ax.imshow(table, cmap=SIGNED_FIELD, vmin=-1, vmax=1)
        ax.set_xticks(range(len(words_B)), words_B, rotation=90, fontsize=7)
        ax.set_yticks(range(len(words_A)), words_A, fontsize=7)
        ax.set_xlabel(f"text B\n{name}")
        means[name] = np.mean(np.asarray(table)[own]), np.mean(np.asarray(table)[~own])
    figure.colorbar(image, ax=axes, label="cosine", shrink=0.7)
    axes[0][0].set_ylabel("text A")
    return Figure(
        figure,
        f"{name.capitalize()}: partners have a mean cosine of {means[name][0]:.2f}, strangers of "
        f"{means[name][1] + 0.0:.2f}",
        "Partners stand on the diagonal, strangers everywhere else. Blue is a cosine near 1, red near -1, "
        f"and a pale field is near 0. Both means are over these {len(words_A)} words.",
        f"Tables of cosines of {len(words_A)} words with {len(words_B)} others. "
        + " ".join(
            f"{name.capitalize()}: partners {partners:.2f} on average, strangers {strangers + 0.0:.2f}."
            for name, (partners, strangers) in means.items()
        ),
    )


def runs(shares_by_name, xlabel, ylabel):
    """Draw a share for each seed, a row for each name, with the mean of each row as a line.

    Parameters
    ----------
    shares_by_name : dict of str to array (seeds,)
        From 0 to 1.
    xlabel, ylabel : str
        What the shares are of, and what the names are.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 0.9 + 0.5 * len(shares_by_name)))[1]
    for place, shares in enumerate(shares_by_name.values()):
        shares = np.asarray(shares, dtype=float)
        ax.plot(shares, np.full(len(shares), place), color=FORWARD, marker="o", linestyle="", alpha=0.6)
        ax.vlines(shares.mean(), place - 0.3, place + 0.3, color=TRUTH, linestyle="-")
    ax.set_yticks(range(len(shares_by_name)), list(shares_by_name))
    ax.set(xlim=(-0.03, 1.03), ylim=(len(shares_by_name) - 0.5, -0.5), xlabel=xlabel, ylabel=ylabel)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    means = {name: np.mean(shares) for name, shares in shares_by_name.items()}
    *_, second, best = sorted(means, key=means.get)
    lead = 100 * (means[best] - means[second])
    return Figure(
        ax,
        f'{best.capitalize()}: {means[best]:.1%} on average, {lead:.1f} points above "{second}"',
        "Each dot is one seed, and each line the mean of its row.",
        f"Shares of {xlabel}, a dot for each seed. "
        + " ".join(
            f"{name.capitalize()}: {np.min(shares):.1%} to {np.max(shares):.1%}, mean {means[name]:.1%}."
            for name, shares in shares_by_name.items()
        ),
    )


def points(points_by_name, radius, near=0.3):
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
    Figure
    """
    reach = 1.08 * max(1.25 * radius, *(np.abs(places).max() for places in points_by_name.values()))
    count = len(points_by_name)
    size = (1.2 + 2.2 * count, 3.1)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharex=True, sharey=True)
    on_ring = {}
    for ax, (name, places) in zip(axes, points_by_name.items(), strict=True):
        for angle in np.arange(4) * np.pi / 4:
            toward = (np.cos(angle), np.sin(angle))
            ax.axline((0, 0), toward, color=CONTEXT, linewidth=0.6, linestyle=":", marker="", zorder=0)
        x, y = np.transpose(places)
        dots = {"marker": ".", "linestyle": "", "markersize": 4, "markeredgewidth": 0, "alpha": 0.5}
        ax.plot(x, y, color=FORWARD, **dots, rasterized=True)  # not a thousand elements
        ax.add_patch(plt.Circle((0, 0), radius, fill=False, edgecolor=TRUTH, linestyle="--", zorder=1))
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel=f"first number\n{name}")
        on_ring[name] = np.mean(np.abs(np.hypot(x, y) - radius) < near)
    axes[0].set_ylabel("second number")
    return Figure(
        figure,
        f"{name.capitalize()}, {on_ring[name]:.0%} of the points lie within {near:g} of the ring",
        "Each dot is a point that was made. The dashed ring is where the real points lie, and the dotted "
        "lines cut the plane into eight sectors.",
        f"Points beside a ring of radius {radius:g}. Near the ring: "
        + ", ".join(f"{share:.0%} {name}" for name, share in on_ring.items())
        + ".",
    )
