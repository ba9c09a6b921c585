"""Figures of chapter 08: digits, the losses of a training, mistakes, weights and dX as pictures, a spread.

The losses, counts, weights and probabilities drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, GRID, INK, SIGNED_FIELD, TRUTH
from course.figures import Figure
from course.figures.moving import Moving

FEW = 12  # epochs, each of which gets a marker
LEAST = 0.08  # of a pixel: the radius of the smallest spot that is drawn
TOLD = 12  # mistakes, each of which is named in words
WIDE, HIGH = 1.15, 1.4  # the room that an image of size 1 by 1 takes in a grid


def sheet(images, labels=None, predictions=None, columns=None):
    """Draw small images in a grid; mistakes are framed, and say what was taken for what.

    Parameters
    ----------
    images : array (examples, height, width), or (examples, pixels) for square images
    labels : array of integers (examples,), optional
        The truth, written below each image.
    predictions : array of integers (examples,), optional
        Where the two differ, the image is framed in vermillion and says "read 9, is 5".
    columns : int, optional
        Ten, or eight with predictions, unless given: what is written below a mistake needs room.

    Returns
    -------
    Figure
    """
    images = np.asarray(images, dtype=float)
    if images.ndim == 2:
        side = round(images.shape[1] ** 0.5)
        images = images.reshape(-1, side, side)
    columns = columns or (10 if predictions is None else 8)
    answers = labels if predictions is None else predictions
    rows = -(-len(images) // columns)
    ax = plt.subplots(figsize=(6.4, 0.45 + 6.4 / (columns * WIDE) * rows * HIGH))[1]
    corners = _draw_tiles(ax, images, columns, cmap="gray_r", vmin=0, vmax=images.max())
    alt = f"{len(images)} small grey pictures in a grid of {columns} columns."
    title = f"{len(images)} digits, {images.shape[1]} by {images.shape[2]} numbers each"
    caption = "The darker a square, the larger its number."
    if labels is None:
        return Figure(ax, title, caption, alt)
    mistakes = []
    for (x, y), label, answer in zip(corners, labels, answers, strict=True):
        text = f"{label}" if answer == label else f"read {answer}, is {label}"
        ax.text(x + 0.5, y - 0.06, text, ha="center", va="top", fontsize=8.2)
        if answer != label:
            mistakes.append(text)
            ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=BACKWARD, linewidth=2.5))
    if predictions is None:
        told = " ".join(map(str, labels))
        return Figure(
            ax,
            title,
            f"{caption} The label of each digit is below it.",
            f"{alt} Row by row they are labelled {told}.",
        )
    title = f"{len(mistakes)} of {len(images)} digits are misread"
    if len(mistakes) == len(images):
        title = f"These {len(images)} digits were misread"
    told = "; ".join(mistakes[:TOLD])
    more = f"; and {len(mistakes) - TOLD} more" if len(mistakes) > TOLD else ""
    return Figure(
        ax,
        title,
        "Below each misread digit, which has a frame, stand the answer and the truth.",
        f"{alt} Misread are, in order: {told}{more}." if mistakes else f"{alt} None of them is misread.",
    )


def _draw_tiles(ax, images, columns, **look):
    """Draw images in a grid, with room for words below each, and return their lower left corners."""
    corners = [(index % columns * WIDE, -(index // columns) * HIGH) for index in range(len(images))]
    for image, (x, y) in zip(images, corners, strict=True):
        ax.imshow(image, extent=(x, x + 1, y, y + 1), **look)
    ax.set(xlim=(1 - WIDE, columns * WIDE), ylim=(corners[-1][1] + 1 - HIGH, 1.05))
    ax.set_axis_off()
    return corners


def weights(start, end, units=range(8), shape=(8, 8)):
    """Draw weights as they started, as training left them, and what training added: a row each.

    Parameters
    ----------
    start, end : array (n_in, n_out)
    units : sequence of int
        The columns to draw.
    shape : (int, int)
        Height and width of the images that are the layer's input; their product is n_in.

    Returns
    -------
    Figure
    """
    start, end, units = np.asarray(start), np.asarray(end), list(units)
    rows = {"at the start": start, "trained": end, "the change": end - start}
    images = np.concatenate([W.T[units].reshape(-1, *shape) for W in rows.values()])
    ax = plt.subplots(figsize=(6.4, 2.6))[1]
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
    moved = [str(unit) for unit in units if np.any(start[:, unit] != end[:, unit])]
    sizes = ", ".join(f"{name} {np.abs(W[:, units]).mean():.2g}" for name, W in rows.items())
    return Figure(
        ax,
        f"{len(moved)} of these {len(units)} units have moved away from their start",
        "A column is a unit, and a square is its weight for one pixel: blue is positive, red is negative. "
        "The middle row is the sum of the other two.",
        f"Three rows of small pictures, a column for each of {len(units)} units: weights at the start, "
        f"trained weights, and the change. Their mean size: {sizes}. Changed are units "
        f"{', '.join(moved) or 'none'}.",
    )


def confusion(matrix, names=None):
    """Draw a confusion matrix; right answers are grey, so that the mistakes stand out.

    Parameters
    ----------
    matrix : array of integers (n_classes, n_classes)
        Row: the truth; column: the prediction.
    names : list of str, optional
        Of the classes; their numbers unless given.

    Returns
    -------
    Figure
    """
    matrix = np.asarray(matrix)
    ax = plt.subplots(figsize=(5.6, 4.6))[1]
    classes = range(len(matrix))
    names = names or classes
    mistakes = matrix - np.diag(np.diag(matrix))
    for (truth, prediction), count in np.ndenumerate(matrix):
        look = {"facecolor": GRID}
        if truth != prediction:
            look = {"facecolor": BACKWARD, "alpha": 0.75 * count / max(mistakes.max(), 1)}
        if count:
            ax.add_patch(Rectangle((prediction - 0.5, truth - 0.5), 1, 1, linewidth=0, **look))
            ax.text(prediction, truth, str(count), ha="center", va="center", fontsize=9.5)
    ax.set(xlim=(-0.5, len(matrix) - 0.5), ylim=(len(matrix) - 0.5, -0.5), aspect="equal")
    ax.set_xticks(classes, names)
    ax.set_yticks(classes, names)
    ax.tick_params(length=0)
    ax.set(xlabel="predicted class", ylabel="true class")
    title = f"{mistakes.sum()} of {matrix.sum():,} are wrong"
    worst = int(mistakes.sum(axis=1).argmax())
    hardest = "No class is misread."
    if mistakes.any():
        truth, prediction = np.unravel_index(mistakes.argmax(), mistakes.shape)
        title += f"; most often {names[truth]} is taken for {names[prediction]}"
        hardest = f"Class {names[worst]} is misread most often, {mistakes[worst].sum()} times."
    right = ", ".join(f"{names[place]}: {matrix[place, place]}" for place in classes)
    return Figure(
        ax,
        title,
        "A row for each true class, a column for each answer. Right answers are grey. The more often a "
        "mistake was made, the darker it is.",
        f"A table of {len(matrix)} by {len(matrix)} counts. Right answers, by class: {right}. {hardest}",
    )


def history(rows, unit="nats"):
    """Draw the loss of each epoch, on the training data and on the validation data.

    Parameters
    ----------
    rows : History, or list of dict
        A row for each epoch, with "epoch", "loss" and, if there was validation, "validation_loss".
    unit : str
        Of the loss.

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    first, last = rows[0], rows[-1]
    epochs = [row["epoch"] for row in rows]
    lines = {"loss": ("training", FORWARD, "-", "o"), "validation_loss": ("validation", TRUTH, "--", "s")}
    ends = {key: last[key] for key in lines if key in last}
    told = []
    for key, end in ends.items():
        name, color, linestyle, marker = lines[key]
        losses = [row[key] for row in rows]
        marker = marker if len(epochs) <= FEW else ""  # on some of many epochs they would look like the data
        ax.plot(epochs, losses, color=color, linestyle=linestyle, marker=marker, markevery=1)
        side = "bottom" if end == max(ends.values()) else "top"  # the names stay apart where the lines meet
        ax.annotate(name, (epochs[-1], end), va=side, xytext=(8, 0), textcoords="offset points")
        low, high = epochs[int(np.argmin(losses))], epochs[int(np.argmax(losses))]
        told.append(
            f"the {name} loss ends at {end:.2g}; it is highest, {max(losses):.2g}, in epoch {high} and "
            f"lowest, {min(losses):.2g}, in epoch {low}"
        )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set(xlabel="epoch", ylabel=f"loss in {unit}")
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    count = f"{len(epochs)} epochs" if len(epochs) > 1 else "1 epoch"
    caption = "The training loss is the mean over an epoch, while the network was learning."
    if "validation_loss" in ends:
        caption += " The validation loss is measured at the end of the epoch."
    return Figure(
        ax,
        f"In {count} the training loss goes from {first['loss']:.2g} to {last['loss']:.2g}",
        caption,
        f"Loss in {unit} over {count}: {'; '.join(told)}.",
    )


def verdict(image, probabilities, truth=None):
    """Draw an image, and beside it the probability of each class.

    Parameters
    ----------
    image : array (height, width), or (pixels,) for a square image
    probabilities : array (n_classes,)
    truth : int, optional
        The right class; it is marked.

    Returns
    -------
    Figure
    """
    image, probabilities = np.asarray(image, dtype=float), np.asarray(probabilities, dtype=float)
    side = round(image.size**0.5)
    figure, (bars, picture) = plt.subplots(1, 2, figsize=(6.4, 3.0), width_ratios=(1.5, 1))
    picture.imshow(image if image.ndim == 2 else image.reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
    picture.set(xticks=[], yticks=[])
    picture.spines[:].set(visible=True, color=CONTEXT, linewidth=0.5)  # an edge shows a shift
    classes = range(len(probabilities))
    edges = [TRUTH if name == truth else FORWARD for name in classes]
    drawn = bars.barh(classes, probabilities, color=FORWARD, edgecolor=edges, linewidth=2, height=0.65)
    bars.bar_label(drawn, [f"{p:.1%}" for p in probabilities], padding=4, color=INK)
    bars.set_yticks(classes, [f"truth: {name}" if name == truth else str(name) for name in classes])
    bars.invert_yaxis()
    bars.set(xlim=(0, 1.18), xlabel="probability", ylabel="class")
    best = int(probabilities.argmax())
    told = ", ".join(f"{name}: {p:.1%}" for name, p in enumerate(probabilities))
    right = "" if truth is None else f" The truth is {truth}."
    return Figure(
        figure,
        f"The network reads {best}, with a probability of {probabilities[best]:.1%}",
        f"Right, the picture that the network is given; left, how probable each class is to it.{right}",
        f"Bars for the probabilities of {len(probabilities)} classes, beside a picture of {side} by {side} "
        f"pixels. {told}.{right}",
    )


def looked_at(image, probabilities, dX):
    """Draw an image with dX of the loss on its pixels, and beside it the probability of each class.

    On a screen, the reader of digits takes the drawing's place, and one draws digits of one's own.

    Parameters
    ----------
    image : array (pixels,)
        Square.
    probabilities : array (n_classes,)
    dX : array (pixels,)

    Returns
    -------
    Figure
    """
    image, dX = np.asarray(image, dtype=float), np.asarray(dX, dtype=float)
    probabilities = np.asarray(probabilities, dtype=float)
    side = round(image.size**0.5)
    figure, (picture, bars) = plt.subplots(1, 2, figsize=(6.4, 3.0), width_ratios=(1, 1.3))
    picture.imshow(image.reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
    for (y, x), slope in np.ndenumerate(dX.reshape(side, side)):
        radius = 0.42 * np.sqrt(abs(slope) / max(np.abs(dX).max(), 1e-12))
        if radius > LEAST:
            fill = BACKWARD if slope < 0 else "none"
            picture.add_patch(Circle((x, y), radius, facecolor=fill, edgecolor=BACKWARD, linewidth=1.2))
    picture.set_axis_off()
    classes = range(len(probabilities))
    drawn = bars.barh(classes, probabilities, color=FORWARD, height=0.65)
    bars.bar_label(drawn, [f"{p:.0%}" for p in probabilities], padding=4, color=INK)
    bars.set_yticks(classes)
    bars.invert_yaxis()
    bars.set(xlim=(0, 1.18), xlabel="probability", ylabel="class")
    best, most = int(probabilities.argmax()), divmod(int(dX.argmax()), side)
    told = ", ".join(f"{name}: {p:.0%}" for name, p in enumerate(probabilities))
    return Figure(
        figure,
        "dX says where ink would change what the network reads",
        "More ink on a filled spot would lower the loss, and more ink on a ring would raise it. The first "
        f"picture is read as {best}; on a screen, you draw digits of your own.",
        f"A picture of {side} by {side} pixels with spots and rings on them, beside bars for the "
        f"probabilities of {len(probabilities)} classes. The largest ring is in row {most[0]}, column "
        f"{most[1]}, counted from 0. {told}.",
        moving=Moving("digit", first=[round(float(ink), 4) for ink in image]),
    )


def spread(shares, standard_error):
    """Draw the accuracy of each part, dealt out in several ways, on a band of two standard errors.

    Parts that are as good as each other are stacked.

    Parameters
    ----------
    shares : dict of str to array (parts,)
        The accuracy of each part, by the name of the dealing.
    standard_error : dict of str to float
        Of one part, by the same names; the band is two of them on either side of the mean, up to 100 %.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 1.3 + 0.75 * len(shares)))[1]
    width = 0.015 * np.ptp(np.concatenate(list(shares.values())))  # of a dot
    told, astray = [], {}
    for place, (name, accuracies) in enumerate(shares.items()):
        accuracies = np.sort(accuracies)
        mean, error = accuracies.mean(), standard_error[name]
        low, high = max(mean - 2 * error, 0), min(mean + 2 * error, 1)
        ax.add_patch(Rectangle((low, place - 0.32), high - low, 0.64, facecolor=GRID))
        ax.plot([mean, mean], [place - 0.32, place + 0.32], color=TRUTH, linestyle="-", marker="")
        for stack in np.split(accuracies, 1 + np.flatnonzero(np.diff(accuracies) > width)):
            heights = place + 0.13 * (np.arange(len(stack)) - (len(stack) - 1) / 2)
            ax.plot(stack, heights, color=FORWARD, linestyle="", marker="o", markevery=1)
        ax.annotate(
            f"mean {mean:.1%}", (mean, place - 0.34), ha="center", va="bottom", xytext=(0, 2),
            textcoords="offset points",
        )  # fmt: skip
        astray[name] = int(np.sum((accuracies < low) | (accuracies > high)))
        told.append(
            f"{name}, mean {mean:.1%}, from {accuracies[0]:.1%} to {accuracies[-1]:.1%}, {astray[name]} of "
            f"{len(accuracies)} outside the band"
        )
    ax.set_yticks(range(len(shares)), shares)
    ax.set_ylim(len(shares) - 0.5, -0.75)
    ax.set(xlabel="share of right answers in each part", ylabel="dealt out")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    name = max(astray, key=astray.get)
    title = "Every part lies within two standard errors of its mean"
    if astray[name]:
        title = f"Dealt out {name}, {astray[name]} of {len(shares[name])} parts lie outside the band"
    return Figure(
        ax,
        title,
        "Each dot is the accuracy on one part, and the line is their mean. The grey band reaches two "
        "standard errors to either side of it.",
        f"Accuracies of parts on a band of two standard errors around their mean. {'; '.join(told)}.",
    )
