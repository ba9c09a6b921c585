"""Figures of chapter 14: accuracy by place and by size, a kernel on an image, where a network looks.

What is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from course.colours import FIELD, INK, ON_COLOUR, ON_PALE, PALETTE, SIGNED_FIELD
from course.figures import Figure


def places(shares, pixels):
    """Draw how many images are read at each place to which they were moved, as a field with its numbers.

    Parameters
    ----------
    shares : array (rows, columns)
        Right answers, from 0 to 1.
    pixels : sequence of int
        By how many pixels the images were moved, for rows (down) and columns (right) alike; contains 0.

    Returns
    -------
    Figure
    """
    shares, pixels = np.asarray(shares, dtype=float), list(pixels)
    ax = plt.subplots(figsize=(5.6, 4.6), layout="compressed")[1]
    image = ax.imshow(shares, cmap=FIELD, vmin=0, vmax=1)
    for (row, column), share in np.ndenumerate(shares):
        colour = ON_PALE if share > 0.5 else ON_COLOUR
        number = f"{100 * share:.0f}"
        ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
    ax.set_xticks(range(len(pixels)), pixels)
    ax.set_yticks(range(len(pixels)), pixels)
    ax.set(xlabel="moved right by (pixels)", ylabel="moved down by (pixels)")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("right answers")
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1))
    centre = pixels.index(0)
    across, down = (
        ", ".join(f"{share:.0%}" for share in line) for line in (shares[centre], shares[:, centre])
    )
    return Figure(
        ax,
        f"{shares[centre, centre]:.0%} are read where they were learned, {shares.mean():.0%} over all places",
        "Each square is a place to which the test digits were moved, and its number is the percentage of "
        "right answers there. At 0, 0 the digits stand where they stood in training.",
        f"A field of {len(pixels)} by {len(pixels)} shares, for digits moved by {pixels[0]} to {pixels[-1]} "
        f"pixels, to the right and down. Along the middle row, from left to right: {across}. Along the "
        f"middle column, from top to bottom: {down}. The mean over all places is {shares.mean():.0%}.",
    )


def convolved(image, kernel, answers, name, reach=None):
    """Draw an image, a kernel with its numbers, and what the kernel answers at each place.

    Parameters
    ----------
    image : array (rows, columns)
        Ink from 0 to 1.
    kernel : array (kernel rows, kernel columns)
    answers : array (rows, columns)
    name : str
        What the kernel is called.
    reach : float, optional
        The colours of the answers go from -reach to reach; fixed on a slider, the largest answer otherwise.

    Returns
    -------
    Figure
    """
    image, kernel, answers = [np.asarray(panel, dtype=float) for panel in (image, kernel, answers)]
    reach = reach or np.abs(answers).max() or 1.0
    figure = plt.figure(figsize=(6.6, 2.6), layout="none")  # one place for all, also on a slider
    boxes = (0.05, 0.1, 0.32, 0.86), (0.42, 0.24, 0.19, 0.52), (0.64, 0.1, 0.28, 0.86)
    axes = [figure.add_axes(box) for box in boxes]
    axes[0].imshow(image, cmap="gray_r", vmin=0, vmax=1)
    most = np.abs(kernel).max() or 1.0
    _signed(axes[1], kernel, most)
    for (row, column), weight in np.ndenumerate(kernel):
        colour = ON_COLOUR if abs(weight) > 0.6 * most else ON_PALE
        axes[1].text(column, row, f"{weight:.2g}", ha="center", va="center", color=colour, fontsize=8)
    shown = _signed(axes[2], answers, reach)
    bar = figure.add_axes((0.935, 0.17, 0.014, 0.72))
    figure.colorbar(shown, cax=bar, ticks=(-reach, 0, reach), format="%.2g")
    for ax, label in zip(axes, ("image", "kernel", "answers"), strict=True):
        _frame(ax)
        ax.set_xlabel(label)
    axes[0].set_ylabel(f"{image.shape[0]} by {image.shape[1]} pixels")
    weights = "; ".join(" ".join(f"{weight:.2g}" for weight in row) for row in kernel)
    positive, negative = np.sum(answers > 0), np.sum(answers < 0)
    return Figure(
        figure,
        f"One kernel, at every place: {name}",
        "On the left an image; in the middle the kernel, with its numbers; on the right its answer at each "
        "place. Blue is positive, red is negative, and the palest grey is 0.",
        f"An image of {image.shape[0]} by {image.shape[1]} pixels, the kernel {name} with the rows "
        f"{weights}, and its {answers.shape[0]} by {answers.shape[1]} answers: {positive} are positive, "
        f"up to {answers.max():.2g}, {negative} are negative, down to {answers.min():.2g}, and "
        f"{answers.size - positive - negative} are 0.",
    )


def sizes(shares_by_kind):
    """Draw the share of right answers against the number of parameters, with the error over the seeds.

    Parameters
    ----------
    shares_by_kind : dict of str to dict of int to array (seeds,)
        For each kind of network and each number of parameters the shares, from 0 to 1; two seeds or more.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.6, 4.0))[1]
    best, lines = {}, []
    for index, (kind, networks) in enumerate(shares_by_kind.items()):
        counts = sorted(networks)
        means = [np.mean(networks[count]) for count in counts]
        bars = [np.std(networks[count], ddof=1) / np.sqrt(len(networks[count])) for count in counts]
        look = {"linestyle": ("-", "--", ":")[index], "marker": "os^"[index], "color": PALETTE[index]}
        ax.errorbar(counts, means, yerr=bars, capsize=3, **look)
        for count, mean in zip(counts, means, strict=True):
            _label(ax, f"{count:,}", (count, mean), (0, 11), fontsize=8)
        _label(ax, kind, (counts[-1], means[-1]), (0, -22), color=PALETTE[index])
        best[kind] = max(zip(means, counts, strict=True))
        points = ", ".join(f"{mean:.0%} with {count:,}" for mean, count in zip(means, counts, strict=True))
        lines.append(f"{kind}: {points}")
    ax.margins(x=0.14)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="parameters (numbers that learn)", ylabel="right answers")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    first, second = sorted(best, key=best.get, reverse=True)[:2]
    return Figure(
        ax,
        f"{first[0].upper()}{first[1:]}: {best[first][0]:.0%} read with {best[first][1]:,} numbers; "
        f"{second}: at best {best[second][0]:.0%}, with {best[second][1]:,}",
        "Each point is a network, labelled with how many numbers it learns; the horizontal scale is "
        "logarithmic. The bars are standard errors over the seeds.",
        f"Right answers against the number of parameters. {'; '.join(lines)} numbers that learn.",
    )


def moved(rows_by_name, title):
    """Draw images in frames, a row of them for each name, so that one sees where in it something stands.

    Parameters
    ----------
    rows_by_name : dict of str to array (examples, rows, columns)
        Two names, with as many images each; ink from 0 to 1.
    title : str
        What the second row shows of the first.

    Returns
    -------
    Figure
    """
    count = len(next(iter(rows_by_name.values())))
    axes = _frames(rows_by_name, count)
    for row, images in zip(axes, rows_by_name.values(), strict=True):
        for ax, image in zip(row, images, strict=True):
            ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    axes[0][0].set_xlabel(f"{np.shape(images)[2]} pixels")
    above, below = rows_by_name
    pixels = " by ".join(map(str, np.shape(rows_by_name[above])[1:]))
    spans = "; ".join(f"{name}, {_span(images)}" for name, images in rows_by_name.items())
    return Figure(
        axes[0][0].figure,
        title,
        f"Each frame has {pixels} pixels. In each column, the picture called {below} has the same ink as "
        f"the one called {above} above it.",
        f"Two rows of {count} images in frames of {pixels} pixels. Where the ink lies, counted from 0 "
        f"at the top left: {spans}.",
    )


def saliency(images, gradients_by_name, labels):
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
    Figure
    """
    axes = _frames(("image", *gradients_by_name), len(images))
    for ax, image, label in zip(axes[0], images, labels, strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set_xlabel(f"score of {label}")
    spread = {}
    for row, (name, gradients) in zip(axes[1:], gradients_by_name.items(), strict=True):
        large = []
        for ax, image, gradient in zip(row, images, gradients, strict=True):
            reach = np.abs(gradient).max() or 1.0
            _signed(ax, gradient, reach)
            ink = np.argwhere(np.asarray(image) > 0.5)
            ax.plot(ink[:, 1], ink[:, 0], ".", color=INK, markersize=2, rasterized=True)  # dark by night too
            large.append(np.mean(np.abs(gradient) > reach / 10))
        spread[name] = np.mean(large)
    share_of_each = "; ".join(f"{name}, {share:.0%}" for name, share in spread.items())
    return Figure(
        axes[0][0].figure,
        "More ink at a blue pixel would raise the right score",
        "Below each image stands the slope of its right score with each pixel, a row for each network. Red: "
        "more ink would lower the score; the palest grey: it would change nothing. Dots mark the ink.",
        f"{len(labels)} images of {', '.join(map(str, labels))}, and below each the slope of its right score "
        "with each of its pixels. The share of a picture that has more than a tenth of the picture's largest "
        f"slope, on average: {share_of_each}.",
    )


def _span(images):
    """Say in which rows and columns of its frames a row of images has ink."""
    ink = np.any(np.asarray(images) > 0, axis=0)
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return "nowhere"
    return f"in rows {rows[0]} to {rows[-1]} and columns {columns[0]} to {columns[-1]}"


def _label(ax, words, place, offset, **look):
    """Write words at so many points from a place."""
    ax.annotate(words, place, offset, textcoords="offset points", ha="center", va="center", **look)


def _frames(names, columns):
    """Return axes for a row of framed images for each name, with the name on the left."""
    rows = len(names)
    size = (1.25 * columns + 0.3, 1.35 * rows + 0.15)
    _, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="compressed")
    for row, name in zip(axes, names, strict=True):
        row[0].set_ylabel(name)
        for ax in row:
            _frame(ax)
    return axes


def _signed(ax, field, reach):
    """Draw a field in colours around 0."""
    return ax.imshow(field, cmap=SIGNED_FIELD, vmin=-reach, vmax=reach)


def _frame(ax):
    """Draw the four edges of an image; what the style leaves to axes are the two of a diagram."""
    ax.set_xticks([]), ax.set_yticks([])
    ax.spines[:].set_visible(False)
    look = {"edgecolor": plt.rcParams["axes.edgecolor"], "linewidth": 0.8, "clip_on": False, "fill": False}
    ax.add_patch(plt.Rectangle((0, 0), 1, 1, transform=ax.transAxes, zorder=3, **look))
