"""Figures of chapter 14: accuracy by place and by size, a kernel on an image, where a network looks.

Leaves out computing any of it: what is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from course.style import FIELD, INK, PALETTE, SIGNED_FIELD


def draw_places(shares, pixels, ax=None):
    """Draw how many images are read at each place to which they were moved, as a field with its numbers.

    Parameters
    ----------
    shares : array (rows, columns)
        Right answers, from 0 to 1.
    pixels : sequence of int
        By how many pixels the images were moved, for rows (down) and columns (right) alike; contains 0.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is not one share for each pair of moves, or none for a move by 0.
    """
    shares, pixels = np.asarray(shares, dtype=float), list(pixels)
    if shares.shape != (len(pixels), len(pixels)) or 0 not in pixels:
        raise ValueError(f"{len(pixels)} moves, 0 among them, need a square of shares, got {shares.shape}.")
    ax = ax or plt.subplots(figsize=(5.6, 4.6), layout="compressed")[1]
    image = ax.imshow(shares, cmap=FIELD, vmin=0, vmax=1)
    for row, column in np.ndindex(shares.shape):
        colour = INK if shares[row, column] > 0.5 else "white"
        ax.text(
            column,
            row,
            f"{100 * shares[row, column]:.0f}",
            ha="center",
            va="center",
            color=colour,
            fontsize=8,
        )
    ax.set_xticks(range(len(pixels)), pixels)
    ax.set_yticks(range(len(pixels)), pixels)
    ax.set(xlabel="moved right by (pixels)", ylabel="moved down by (pixels)")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("right answers")
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1))
    middle = shares[pixels.index(0), pixels.index(0)]
    ax.set_title(f"{middle:.0%} right where they were learned, {shares.mean():.0%} over all places")
    return ax


def draw_kernel(image, kernel, answer, name, reach=None):
    """Draw an image, a kernel with its numbers, and what the kernel answers at each place.

    Parameters
    ----------
    image : array (rows, columns)
        Ink from 0 to 1.
    kernel : array (kernel rows, kernel columns)
    answer : array (rows, columns)
    name : str
        What the kernel is called.
    reach : float, optional
        The colours of the answers go from -reach to reach; fixed on a slider, the largest answer otherwise.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If one of the three is no matrix.
    """
    panels = [np.asarray(panel, dtype=float) for panel in (image, kernel, answer)]
    if any(panel.ndim != 2 for panel in panels):
        raise ValueError(f"image, kernel and answer are matrices, got {[panel.shape for panel in panels]}.")
    reach = reach or np.abs(panels[2]).max() or 1.0
    figure = plt.figure(figsize=(7.0, 2.9), layout="none")  # one place for all, also on a slider
    boxes = (0.05, 0.1, 0.3, 0.74), (0.4, 0.24, 0.19, 0.46), (0.62, 0.1, 0.3, 0.74)
    axes = [figure.add_axes(box) for box in boxes]
    axes[0].imshow(panels[0], cmap="gray_r", vmin=0, vmax=1)
    most = np.abs(panels[1]).max() or 1.0
    _signed(axes[1], panels[1], most)
    for row, column in np.ndindex(panels[1].shape):
        colour = "white" if abs(panels[1][row, column]) > 0.6 * most else INK
        number = f"{panels[1][row, column]:.2g}"
        axes[1].text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
    shown = _signed(axes[2], panels[2], reach)
    bar = figure.add_axes((0.935, 0.15, 0.014, 0.64))
    figure.colorbar(shown, cax=bar, ticks=(-reach, 0, reach), format="%.2g")
    for ax, label in zip(axes, ("image", "kernel", "answers"), strict=True):
        _frame(ax)
        ax.set_xlabel(label)
    axes[0].set_ylabel(f"{panels[0].shape[0]} by {panels[0].shape[1]} pixels")
    axes[0].set_title(f"One kernel, at every place: {name}")
    return figure


def draw_sizes(shares_by_kind, ax=None):
    """Draw the share of right answers against the number of parameters, with the error over the seeds.

    Parameters
    ----------
    shares_by_kind : dict of str to dict of int to array (seeds,)
        For each kind of network and each number of parameters the shares, from 0 to 1; two seeds or more.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two kinds, or a network has a single seed.
    """
    seeds = {np.size(shares) for kind in shares_by_kind.values() for shares in kind.values()}
    if len(shares_by_kind) < 2 or min(seeds) < 2:
        raise ValueError("two kinds of networks, of two seeds or more, are compared.")
    ax = ax or plt.subplots(figsize=(6.6, 4.0))[1]
    means = {}
    for index, (kind, networks) in enumerate(shares_by_kind.items()):
        sizes = sorted(networks)
        means[kind] = np.array([np.mean(networks[size]) for size in sizes])
        bars = [np.std(networks[size], ddof=1) / np.sqrt(len(networks[size])) for size in sizes]
        look = {"linestyle": ("-", "--", ":")[index], "marker": "os^"[index], "color": PALETTE[index]}
        ax.errorbar(sizes, means[kind], yerr=bars, capsize=3, label=kind, **look)
        for size, mean in zip(sizes, means[kind], strict=True):
            ax.annotate(
                f"{size:,}", (size, mean), (0, 9), textcoords="offset points", ha="center", fontsize=8
            )
    ax.margins(x=0.12)
    ax.set(xscale="log", ylim=(0, 1), xlabel="parameters (numbers that learn)", ylabel="right answers")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(loc="lower right")
    best = max(means, key=lambda kind: means[kind].max())
    others = {kind: mean.max() for kind, mean in means.items() if kind != best}
    second = max(others, key=others.get)
    size = sorted(shares_by_kind[best])[means[best].argmax()]
    found = f"{means[best].max():.0%}; {second}, at best: {others[second]:.0%}"
    ax.set_title(f"{best[0].upper()}{best[1:]}, {size:,} numbers: {found}")
    return ax


def draw_moved(rows_by_name, title):
    """Draw images in frames, a row of them for each name, so that one sees where in it something stands.

    Parameters
    ----------
    rows_by_name : dict of str to array (examples, rows, columns)
        Two names, with as many images each; ink from 0 to 1.
    title : str
        What the second row shows of the first.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are not two rows with as many images each.
    """
    lengths = [len(images) for images in rows_by_name.values()]
    if len(lengths) != 2 or lengths[0] != lengths[1] or not lengths[0]:
        raise ValueError(f"two rows of as many images each are wanted, got {lengths}.")
    axes = _frames(rows_by_name, lengths[0])
    for row, images in zip(axes, rows_by_name.values(), strict=True):
        for ax, image in zip(row, images, strict=True):
            ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    axes[0][0].set_title(title)
    axes[0][0].set_xlabel(f"{axes[0][0].images[0].get_array().shape[1]} pixels")
    return axes[0][0].figure


def draw_saliency(images, gradients_by_name, labels):
    """Draw images, and below each the gradients of a score with respect to its pixels, around 0.

    Parameters
    ----------
    images : array (examples, rows, columns)
        Ink from 0 to 1.
    gradients_by_name : dict of str to array (examples, rows, columns)
        For each model; each gradient is drawn in colours of its own reach.
    labels : sequence (examples,)
        Whose score it is.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If images, gradients and labels do not belong to each other.
    """
    shapes = [np.shape(images), *map(np.shape, gradients_by_name.values())]
    if len(set(shapes)) > 1 or len(shapes[0]) != 3 or len(labels) != len(images) or not gradients_by_name:
        raise ValueError(f"{len(labels)} labels need as many images and gradients of each, got {shapes}.")
    axes = _frames(("image", *gradients_by_name), len(images))
    for ax, image in zip(axes[0], images, strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    for row, gradients in zip(axes[1:], gradients_by_name.values(), strict=True):
        for ax, image, gradient in zip(row, images, gradients, strict=True):
            reach = np.abs(gradient).max() or 1.0
            _signed(ax, gradient, reach)
            for place in np.argwhere(np.asarray(image) > 0.5):
                ax.plot(*place[::-1], marker=".", color=INK, markersize=2)
    for ax, label in zip(axes[-1], labels, strict=True):
        ax.set_xlabel(f"score of {label}")
    axes[0][0].set_xlabel(" ")
    axes[0][0].set_title("The slope of the right score with each pixel; dots: ink")
    return axes[0][0].figure


def _frames(names, columns):
    """Return axes for a row of framed images for each name, with the name on the left."""
    rows = len(names)
    width, height = max(1.35 * columns + 0.5, 5.9), 1.5 * rows + 0.6  # wide enough for a title
    edges = {"left": 0.4 / width, "right": 1 - 0.1 / width, "bottom": 0.3 / height, "top": 1 - 0.35 / height}
    grid = edges | {"wspace": 0.08, "hspace": 0.2}  # by hand: a layout engine makes room for the long title
    _, axes = plt.subplots(
        rows, columns, figsize=(width, height), squeeze=False, layout="none", gridspec_kw=grid
    )
    for row, name in zip(axes, names, strict=True):
        row[0].set_ylabel(name)
        for ax in row:
            _frame(ax)
    return axes


def _signed(ax, field, reach):
    """Draw a field around 0; where it is exactly 0, the white of the paper shows."""
    return ax.imshow(np.ma.masked_equal(field, 0.0), cmap=SIGNED_FIELD, vmin=-reach, vmax=reach)


def _frame(ax):
    """Draw the four edges of an image; what the style leaves to axes are the two of a diagram."""
    ax.set_xticks([]), ax.set_yticks([])
    ax.spines[:].set_visible(False)
    look = {"edgecolor": plt.rcParams["axes.edgecolor"], "linewidth": 0.8, "clip_on": False, "fill": False}
    ax.add_patch(plt.Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=3, **look))
