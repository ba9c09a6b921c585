"""Figures of Part II: what closures keep, the two lanes, and a classifier seen from all sides.

Leaves out measuring: the bytes, errors, losses and probabilities drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course.figures.chains import regions_on, sizes_on
from course.style import BACKWARD, CONTEXT, FORWARD, INK, SIGNED_FIELD, TRUTH

FEW = 12  # epochs, each of which gets a marker
WIDE, HIGH = 1.15, 1.4  # the room that an image of size 1 by 1 takes in a grid
MISTAKES = LinearSegmentedColormap.from_list("mistakes", ["white", BACKWARD])


def draw_depth(norms):
    """Draw the size of what passes between the layers of deep networks, there and back.

    Parameters
    ----------
    norms : dict of str to (array (layers + 1,), array (layers + 1,))
        For each network its norms on the way there and those on the way back, both listed from the input of
        the network to its output; at most five networks of equal depth.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a norm is not positive, since the axis is logarithmic, or the networks differ in depth.
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    last = sizes_on(axes, norms).shape[-1] - 1
    axes[0].set_title(f"Through {last} layers, there (blue) and back (vermillion)")
    return figure


def _grid(count, columns):
    """Return new axes that fit so many images in so many columns."""
    rows = -(-count // columns)
    return plt.subplots(figsize=(6.4, 0.45 + 6.4 / (columns * WIDE) * rows * HIGH))[1]


def _draw_tiles(ax, images, columns, **look):
    """Draw images in a grid, with room for words below each, and return their lower left corners."""
    corners = [(index % columns * WIDE, -(index // columns) * HIGH) for index in range(len(images))]
    for image, (x, y) in zip(images, corners, strict=True):
        ax.imshow(image, extent=(x, x + 1, y, y + 1), **look)
    ax.set(xlim=(1 - WIDE, columns * WIDE), ylim=(corners[-1][1] + 1 - HIGH, 1.05))
    ax.set_axis_off()
    return corners


def draw_digits(images, labels=None, predictions=None, columns=None, ax=None):
    """Draw small images in a grid; mistakes are framed, and say what was taken for what.

    Parameters
    ----------
    images : array (examples, height, width), or (examples, pixels) for square images
    labels : array of integers (examples,), optional
        The truth, written below each image.
    predictions : array of integers (examples,), optional
        Needs labels; where the two differ, the image is framed in vermillion and says "read 9, is 5".
    columns : int, optional
        Ten, or eight with predictions, unless given: what is written below a mistake needs room.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no images, or labels and predictions are not one for each image.
    """
    images = np.asarray(images, dtype=float)
    if len(images) == 0:
        raise ValueError("there are no images to draw.")
    if images.ndim == 2:
        side = round(images.shape[1] ** 0.5)
        images = images.reshape(-1, side, side)
    if predictions is not None and labels is None:
        raise ValueError("predictions are compared with labels; give both.")
    for given in (labels, predictions):
        if given is not None and len(given) != len(images):
            raise ValueError(
                f"{len(images)} images need {len(images)} labels or predictions, got {len(given)}."
            )
    columns = columns or (10 if predictions is None else 8)
    ax = ax or _grid(len(images), columns)
    corners = _draw_tiles(ax, images, columns, cmap="gray_r", vmin=0, vmax=images.max())
    ax.set_title(f"{len(images)} digits, {images.shape[1]} by {images.shape[2]} numbers each")
    if labels is None:
        return ax
    answers = labels if predictions is None else predictions
    for (x, y), label, answer in zip(corners, labels, answers, strict=True):
        right = answer == label
        text = f"{label}" if right else f"read {answer}, is {label}"
        ax.text(x + 0.5, y - 0.06, text, ha="center", va="top", fontsize=8.2)
        if not right:
            ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=BACKWARD, linewidth=2.5))
    if predictions is not None:
        misread = np.not_equal(labels, predictions).sum()
        all_of_them = f"These {misread} digits were misread"
        ax.set_title(
            all_of_them if misread == len(images) else f"{misread} of {len(images)} digits are misread"
        )
    return ax


def draw_change(start, end, units=range(8), shape=(8, 8), ax=None):
    """Draw weights as they started, as training left them, and what training added: a row each.

    Parameters
    ----------
    start, end : array (n_in, n_out)
    units : sequence of int
        The columns to draw.
    shape : (int, int)
        Height and width of the images that are the layer's input; their product is n_in.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the two differ in shape, or n_in is not height times width.
    """
    start, end, units = np.asarray(start), np.asarray(end), list(units)
    if start.shape != end.shape or start.ndim != 2 or len(start) != shape[0] * shape[1]:
        raise ValueError(
            f"start {start.shape} and end {end.shape} have no columns of {shape[0]} by {shape[1]} pixels."
        )
    rows = {"at the start": start, "trained": end, "the change": end - start}
    images = np.concatenate([W.T[units].reshape(-1, *shape) for W in rows.values()])
    ax = ax or plt.subplots(figsize=(6.4, 2.7))[1]
    limit = np.abs(images).max()
    corners = _draw_tiles(ax, images, len(units), cmap=SIGNED_FIELD, vmin=-limit, vmax=limit)
    for place, (x, y) in enumerate(corners):
        ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=CONTEXT, linewidth=0.5))
        if place >= 2 * len(units):
            ax.text(
                x + 0.5, y - 0.06, f"unit {units[place % len(units)]}", ha="center", va="top", fontsize=8.2
            )
    for name, (x, y) in zip(rows, corners[:: len(units)], strict=True):
        ax.text(x - 0.12, y + 0.5, name, ha="right", va="center", rotation="vertical", fontsize=8.2)
    ax.set_xlim(left=corners[0][0] - 0.5)
    ax.figure.colorbar(ax.images[0], ax=ax, shrink=0.8, aspect=25, pad=0.02, label="weight")
    ax.set_title("Training writes over the noise; it does not wipe it off")
    return ax


def draw_confusion(matrix, names=None, ax=None):
    """Draw a confusion matrix; right answers are grey, so that the mistakes stand out.

    Parameters
    ----------
    matrix : array of integers (n_classes, n_classes)
        Row: the truth; column: the prediction.
    names : list of str, optional
        Of the classes; their numbers unless given.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the matrix is not square.
    """
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"a confusion matrix has a row and a column for each class; got shape {matrix.shape}."
        )
    ax = ax or plt.subplots(figsize=(5.6, 4.9))[1]
    classes = range(len(matrix))
    names = names or classes
    mistakes = matrix - np.diag(np.diag(matrix))
    ax.imshow(mistakes, cmap=MISTAKES, vmin=0, vmax=1.3 * max(mistakes.max(), 1))
    for (truth, prediction), count in np.ndenumerate(matrix):
        if truth == prediction:
            ax.add_patch(Rectangle((prediction - 0.5, truth - 0.5), 1, 1, facecolor="#E0E0E0"))
        if count:
            ax.text(prediction, truth, str(count), ha="center", va="center", fontsize=9.5)
    ax.set_xticks(classes, names)
    ax.set_yticks(classes, names)
    ax.tick_params(length=0)
    ax.set(xlabel="predicted class", ylabel="true class")
    title = f"{mistakes.sum()} of {matrix.sum()} are wrong"
    if mistakes.any():
        truth, prediction = np.unravel_index(mistakes.argmax(), mistakes.shape)
        title += f"; most often {names[truth]} is taken for {names[prediction]}"
    ax.set_title(title)
    return ax


def draw_history(history, unit="nats", ax=None):
    """Draw the loss of each epoch, on the training data and on the validation data.

    Parameters
    ----------
    history : History, or list of dict
        A row for each epoch, with "epoch", "loss" and, if there was validation, "validation_loss".
    unit : str
        Of the loss.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no epoch.
    """
    if not history:
        raise ValueError("this history has no epoch: call fit first.")
    ax = ax or plt.subplots()[1]
    first, last = history[0], history[-1]
    epochs = [row["epoch"] for row in history]
    lines = {"loss": ("training", FORWARD, "-", "o"), "validation_loss": ("validation", TRUTH, "--", "s")}
    ends = {key: last[key] for key in lines if key in last}
    for key, end in ends.items():
        name, color, linestyle, marker = lines[key]
        losses = [row[key] for row in history]
        marker = marker if len(epochs) <= FEW else ""  # on some of many epochs they would look like the data
        ax.plot(epochs, losses, color=color, linestyle=linestyle, marker=marker, markevery=1)
        side = "bottom" if end == max(ends.values()) else "top"  # the names stay apart where the lines meet
        ax.annotate(name, (epochs[-1], end), va=side, xytext=(8, 0), textcoords="offset points")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set(xlabel="epoch", ylabel=f"loss in {unit}")
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    epochs = f"{len(epochs)} epochs" if len(epochs) > 1 else "1 epoch"
    ax.set_title(f"In {epochs} the training loss goes from {first['loss']:.3g} to {last['loss']:.3g}")
    return ax


def draw_probabilities(probabilities, truth=None, ax=None):
    """Draw the probability of each class as a bar.

    Parameters
    ----------
    probabilities : array (n_classes,)
    truth : int, optional
        The right class; it is marked.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If they are negative or do not sum to 1.
    """
    probabilities = np.asarray(probabilities, dtype=float)
    if probabilities.min() < 0 or abs(probabilities.sum() - 1) > 1e-5:  # a sum in float32 may be off by 1e-6
        raise ValueError(
            f"probabilities are at least 0 and sum to 1; these sum to {probabilities.sum():.6g}."
        )
    ax = ax or plt.subplots()[1]
    classes = range(len(probabilities))
    edges = [TRUTH if name == truth else FORWARD for name in classes]
    bars = ax.barh(classes, probabilities, color=FORWARD, edgecolor=edges, linewidth=2, height=0.65)
    ax.bar_label(bars, [f"{p:.1%}" for p in probabilities], padding=4, color=INK)
    ax.set_yticks(classes, [f"truth: {name}" if name == truth else str(name) for name in classes])
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.12), xlabel="probability", ylabel="class")
    best = int(probabilities.argmax())
    ax.set_title(f"The network says {best}, {probabilities[best]:.1%} sure")
    return ax


def draw_reading(image, probabilities, truth=None):
    """Draw an image, and beside it the probability of each class.

    Parameters
    ----------
    image : array (height, width), or (pixels,) for a square image
    probabilities : array (n_classes,)
    truth : int, optional
        The right class; it is marked.

    Returns
    -------
    matplotlib Figure
    """
    image = np.asarray(image, dtype=float)
    side = round(image.size**0.5)
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.2), width_ratios=(1, 1.5))
    left.imshow(image if image.ndim == 2 else image.reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
    left.set(xticks=[], yticks=[])
    left.spines[["top", "right"]].set_visible(True)
    draw_probabilities(probabilities, truth, ax=right)
    return figure


def draw_spread(shares, standard_error, ax=None):
    """Draw the accuracy of each part, dealt out in several ways, on a band of two standard errors.

    Parts that are as good as each other are stacked.

    Parameters
    ----------
    shares : dict of str to array (parts,)
        The accuracy of each part, by the name of the dealing.
    standard_error : dict of str to float
        Of one part, by the same names; the band is two of them on either side of the mean, up to 100 %.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a dealing has no parts.
    """
    for name, accuracies in shares.items():
        if not len(accuracies):
            raise ValueError(f"{name}: there are no parts to draw.")
    ax = ax or plt.subplots(figsize=(6.4, 1.3 + 0.75 * len(shares)))[1]
    width = 0.015 * np.ptp(np.concatenate(list(shares.values())))  # of a dot
    for place, (name, accuracies) in enumerate(shares.items()):
        accuracies = np.sort(accuracies)
        mean, error = accuracies.mean(), standard_error[name]
        low, high = max(mean - 2 * error, 0), min(mean + 2 * error, 1)
        ax.add_patch(Rectangle((low, place - 0.32), high - low, 0.64, facecolor="#E0E0E0"))
        ax.plot([mean, mean], [place - 0.32, place + 0.32], color=TRUTH, linestyle="-", marker="")
        for stack in np.split(accuracies, 1 + np.flatnonzero(np.diff(accuracies) > width)):
            heights = place + 0.13 * (np.arange(len(stack)) - (len(stack) - 1) / 2)
            ax.plot(stack, heights, color=FORWARD, linestyle="", marker="o", markevery=1)
        ax.annotate(
            f"mean {mean:.1%}", (mean, place - 0.34), ha="center", va="bottom", xytext=(0, 2),
            textcoords="offset points",
        )  # fmt: skip
    ax.set_yticks(range(len(shares)), shares)
    ax.set_ylim(len(shares) - 0.5, -0.75)
    ax.set(xlabel="share of right answers in each part", ylabel="dealt out")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_title("Each dot is a part; grey: ±2 standard errors")
    return ax


def draw_boundary(predict, X, T, ax=None):
    """Draw where a classifier of points in the plane changes its mind.

    Parameters
    ----------
    predict : function, X (batch, 2) -> Y (batch, n_classes) or (batch, 1)
        The largest entry of a row is the class; a single entry says class 1 where it is positive.
    X : array (examples, 2)
    T : array of integers (examples,) or (examples, 1)
        Classes, at most five.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the points are not in the plane, or there are more than five classes.
    """
    ax = ax or plt.subplots(figsize=(5.4, 4.0))[1]
    regions_on(ax, predict, X, T)
    ax.set_title("The plane is cut into regions, one for each class")
    return ax
