"""Figures of chapter 12: shapes on their way through a row of layers.

Leaves out the layers themselves, which come from the chapter.
"""

import matplotlib.pyplot as plt

from course.figures import Figure
from course.style import BACKWARD, CONTEXT, FORWARD, GROUND, INK
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
    for place in range(len(layers) + 1):
        color = CONTEXT if place > reached else BACKWARD if refusal and place == reached else FORWARD
        line = ":" if place > reached else "-"
        ax.annotate(
            "",
            (place + 0.18, 0),
            (place - 0.18, 0),
            arrowprops={"arrowstyle": "->", "color": color, "linestyle": line},
        )
        ax.text(place, 0.5, shapes[place] if place <= reached else "?", ha="center", fontsize=9, color=color)
    for place, layer in enumerate(layers):
        edge = FORWARD if place < reached else BACKWARD if place == reached else CONTEXT
        width = 2 if place <= reached else 1
        box = {"boxstyle": "round,pad=0.4", "facecolor": GROUND, "edgecolor": edge, "linewidth": width}
        label = repr(layer).replace("(", "\n(", 1) if len(repr(layer)) > 8 else repr(layer)
        ax.text(place + 0.5, 0, label, ha="center", va="center", fontsize=9, color=INK, bbox=box, zorder=3)
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
