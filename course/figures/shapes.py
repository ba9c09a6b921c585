"""Figures of chapter 12: shapes on their way through a row of layers, and open layers that get their sizes.

The layers come from the chapter.
"""

from copy import deepcopy

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, INK
from course.figures import Figure
from minigrad import ShapeError


def row(model, X):
    """Draw layers in a row with the shapes between them, as far as a pass gets.

    Parameters
    ----------
    model : Sequential
        Its layers have weights; one of them may refuse what comes.
    X : array (batch, n_in)

    Returns
    -------
    Figure
    """
    shapes, refusal = _pass(model, X)
    layers, reached = model.layers, len(shapes) - 1  # layers that have computed
    ax = plt.subplots(figsize=(7.2, 1.35))[1]
    _row_on(ax, layers, shapes, reached if refusal else None)
    ax.set(xlim=(-0.5, len(layers) + 0.5), ylim=(-0.65, 0.85))
    ax.set_axis_off()
    names = ", ".join(map(repr, layers))
    passed = ", ".join(shapes)
    if refusal:
        return Figure(
            ax,
            f"Layer {reached + 1} of {len(layers)} cannot take what comes",
            f"Its error: “{refusal}” What lies behind it is never computed.",
            f"A row of {len(layers)} boxes with arrows between them: {names}. The shapes on the arrows are "
            f"{passed}; the last of them and the box {layers[reached]!r} behind it are orange, and all later "
            "shapes are question marks.",
        )
    return Figure(
        ax,
        f"All {len(layers)} layers fit together",
        f"Blue shapes were computed: {passed}.",
        f"A row of {len(layers)} blue boxes with arrows between them: {names}. The shapes on the arrows are "
        f"{passed}.",
    )


def sweep(model, X, T, passed):
    """Draw how `initialize` opens a row of layers, when the sample has passed some of them.

    Parameters
    ----------
    model : Sequential
        Some of its layers are open; it stays as it is.
    X : array (batch, n_in)
        The sample.
    T : array (batch,) of integers, or (batch, n_out)
        Its targets.
    passed : int
        How many layers the sample has passed.

    Returns
    -------
    Figure
    """
    count = len(model.layers)
    opened = deepcopy(model).initialize(X, T, rng=0)
    layers = [*opened.layers[:passed], *model.layers[passed:]]
    shapes = _pass(opened, X)[0][: passed + 1]
    sizes = {place: layer.W.shape for place, layer in enumerate(opened.layers) if layer.parameters()}
    unit = 1 / max(map(max, sizes.values()))
    ax = plt.subplots(figsize=(7.2, 2.1))[1]
    _row_on(ax, layers, shapes)
    for place, (n_in, n_out) in sizes.items():
        if place < passed:
            height, width = 1.08 * n_in * unit, 0.6 * n_out * unit  # a square looks square
            corner = place + 0.5 - width / 2, -0.8 - height
            ax.add_patch(Rectangle(corner, width, height, facecolor=FORWARD, alpha=0.3, linewidth=0))
            words = f"W ({n_in}, {n_out})"
            ax.text(place + 0.5, corner[1] - 0.12, words, ha="center", va="top", fontsize=9, color=INK)
    ax.set(xlim=(-0.5, count + 0.5), ylim=(-2.3, 0.85))
    ax.set_axis_off()
    drawn = [f"W {size} of layer {place + 1}" for place, size in sizes.items() if place < passed]
    missing = sum(repr(layer).count("?") for layer in layers)
    return Figure(
        ax,
        f"After {passed} of {count} layers, {missing or 'no'} size{'s' * (missing != 1)} missing",
        "Each layer takes its number of inputs from the sample when the sample arrives, draws its weights "
        "and computes. The last one takes its number of outputs from the targets. Below each layer that "
        "has computed are its weights, to scale.",
        f"A row of {count} boxes with arrows between them: {', '.join(map(repr, layers))}. The shapes on the "
        f"arrows are {', '.join(shapes)}. Weights drawn so far: {', '.join(drawn) or 'none'}.",
    )


def _row_on(ax, layers, shapes, wrong=None):
    """Draw layers in a row, with the shapes that are known; `wrong` is the place of one that refuses X."""
    reached = len(shapes) - 1  # layers that have computed
    for place in range(len(layers) + 1):
        color = CONTEXT if place > reached else BACKWARD if place == wrong else FORWARD
        line = ":" if place > reached else "-"
        ax.annotate(
            "",
            (place + 0.18, 0),
            (place - 0.18, 0),
            arrowprops={"arrowstyle": "->", "color": color, "linestyle": line},
        )
        ax.text(place, 0.5, shapes[place] if place <= reached else "?", ha="center", fontsize=9, color=color)
    for place, layer in enumerate(layers):
        edge = FORWARD if place < reached else BACKWARD if place == wrong else CONTEXT
        width = 1 if edge == CONTEXT else 2
        box = {"boxstyle": "round,pad=0.4", "facecolor": GROUND, "edgecolor": edge, "linewidth": width}
        label = repr(layer).replace("(", "\n(", 1) if len(repr(layer)) > 8 else repr(layer)
        ax.text(place + 0.5, 0, label, ha="center", va="center", fontsize=9, color=INK, bbox=box, zorder=3)


def _pass(model, X):
    """Return the shapes on the way through a model, as text, and the error that ended it, or None."""
    shapes = [str(X.shape)]
    for layer in model.layers:
        try:
            X, _ = layer(X)
        except ShapeError as error:
            return shapes, str(error)
        shapes.append(str(X.shape))
    return shapes, None
