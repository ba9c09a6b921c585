"""Figures of losses: where logits are pushed, what stays finite, and which gradient vanishes.

The gradients and losses drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, TRUTH
from course.figures import Figure

ARROW = 2.5  # logits that an arrow is long for a gradient of 1
LOOKS = tuple(zip(("-", "--", ":"), "os^", strict=True))
COLORS = (FORWARD, BACKWARD, TRUTH)


def push(logits, probabilities, dY, truth, reach=6.0):
    """Draw logits with arrows against their gradient, and beside them the probabilities and the target.

    Parameters
    ----------
    logits, probabilities, dY : array (n_classes,)
        Of one example; an arrow is as long as the entry of dY is large.
    truth : int
        The right class.
    reach : float
        The largest logit, up or down, that the fixed axis has room for.

    Returns
    -------
    Figure
    """
    logits, probabilities, dY = (np.asarray(row, dtype=float) for row in (logits, probabilities, dY))
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5))
    classes = np.arange(len(logits))
    names = [f"{name}, right" if name == truth else f"{name}" for name in classes]
    for ax, heights in ((left, logits), (right, probabilities)):
        ax.bar(classes, heights, width=0.5, color=FORWARD, alpha=0.85)
        ax.set_xticks(classes, names)
        ax.set(xlabel="class", xlim=(-0.6, len(classes) - 0.2))
    left.axhline(0, color=CONTEXT, linewidth=0.8, linestyle="-", marker="")
    arrow = {"arrowstyle": "-|>", "color": BACKWARD, "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
    for name, start, slope in zip(classes, logits, dY, strict=True):
        if abs(ARROW * slope) > 0.1:  # a shorter arrow would be all head
            ends = {"xy": (name + 0.38, start - ARROW * slope), "xytext": (name + 0.38, start)}
            left.annotate("", **ends, arrowprops=arrow)
        number = f"{round(slope, 2) + 0.0:+.2f}"  # without the sign of a -0.0
        left.text(name, -reach - 2.0, number, ha="center", color=BACKWARD, weight="bold")
    left.text(-0.55, -reach - 1.1, f"dY (arrows {ARROW:g} times as long):", ha="left", color=BACKWARD)
    left.set(ylim=(-reach - 2.5, reach + 1.0), ylabel="logit")
    for name in classes:
        target = float(name == truth)
        right.plot(
            [name - 0.33, name + 0.33],
            [target, target],
            color=TRUTH,
            linestyle="-",
            marker="",
            label="target" if name == truth else None,
        )
        right.text(name, probabilities[name] + 0.025, f"{probabilities[name]:.2f}", ha="center")
    right.set(ylim=(-0.02, 1.12), ylabel="probability")
    right.legend(loc="lower right", bbox_to_anchor=(1.03, 1.0), borderpad=0)
    rows = (logits, np.round(dY, 2) + 0.0, probabilities)
    logit_list, dY_list, probability_list = (", ".join(f"{number:.3g}" for number in row) for row in rows)
    return Figure(
        figure,
        f"With probability {probabilities[truth]:.2f}, the right class is pulled up by {abs(dY[truth]):.2f}",
        "Left, the logits. Each arrow goes against the gradient, which is written below. Right, their "
        "probabilities; a line across marks the target.",
        f"Bars of the logits {logit_list}, with arrows against their gradients {dY_list}. Beside them bars "
        f"of the probabilities {probability_list}, with the target 1 at class {truth} and 0 elsewhere.",
    )


def ends(logits, losses, gradients):
    """Draw losses and gradients over a growing logit; a line ends where its numbers cease to be finite.

    Parameters
    ----------
    logits : array (points,)
        In ascending order.
    losses, gradients : dict of str to array (points,)
        By the name of the form, at most three; the first of each line is finite.

    Returns
    -------
    Figure
    """
    logits = np.asarray(logits)
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.5))
    panels = ((losses, "loss L in nats"), (gradients, "gradient of that logit"))
    survivors = [name for name in losses if np.isfinite([losses[name], gradients[name]]).all()]
    for ax, (lines, what) in zip(axes, panels, strict=True):
        for place, (name, line) in enumerate(lines.items()):
            color, (linestyle, marker) = COLORS[place], LOOKS[place]
            # careful: a number that is finite again behind a gap does not count
            count = np.argmin(np.append(np.isfinite(line), False))
            width = 2.0 + 2.5 * (len(lines) - 1 - place)  # lines on top of each other stay visible
            ax.plot(
                logits[:count], line[:count], color=color, linestyle=linestyle, linewidth=width, marker=""
            )
            size = 10 + 5 * (len(lines) - 1 - place)  # nor does a cross hide another one
            end = {"marker": "X", "markersize": size} if count < len(logits) else {"marker": marker}
            ax.plot(
                logits[count - 1], line[count - 1], color=color, linestyle=linestyle, linewidth=width,
                label=name, markeredgecolor=GROUND, **end,
            )  # fmt: skip
        ax.set(xlabel="logit of a wrong class", ylabel=what, xlim=(0, 1.06 * logits[-1]))
    axes[1].set_ylim(0, 1.5)
    axes[1].legend(loc="upper left", markerscale=0.45, handlelength=2.6)
    ended = len(losses) - len(survivors)
    reach = "; ".join(
        f"{name}, value {_end(logits, losses[name])}, gradient {_end(logits, gradients[name])}"
        for name in losses
    )
    return Figure(
        figure,
        f"{ended} of {len(losses)} forms end{'s' * (ended == 1)} before the logits do",
        "A cross marks the last finite number of a form. Forms that have not ended lie on one line.",
        f"Two panels over a logit from {logits[0]:g} to {logits[-1]:g}, the loss and the gradient: {reach}.",
    )


def _end(logits, line):
    """Say how far the numbers of a line are finite."""
    count = np.argmin(np.append(np.isfinite(line), False))
    return "to the end" if count == len(logits) else f"up to {logits[count - 1]:g}"


def two_losses(logits, curves):
    """Draw losses of one logit whose target is 1, and the size of their gradients.

    Parameters
    ----------
    logits : array (points,)
    curves : dict of str to (array (points,), array (points,))
        Value and gradient by the name of the loss, at most three.

    Returns
    -------
    Figure
    """
    logits = np.asarray(logits)
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.5))
    for column, (ax, what) in enumerate(zip(axes, ("loss L", "size of the gradient, |dY|"), strict=True)):
        for (name, curve), (linestyle, _), color in zip(curves.items(), LOOKS, COLORS, strict=False):
            line = np.abs(curve[column])
            ax.plot(logits, line, color=color, linestyle=linestyle, marker="", label=name)
        ax.set(xlabel="logit of what is true", ylabel=what, ylim=(0, None))
    axes[0].legend(loc="upper right")
    sizes = [f"{abs(gradient[0]):.1g} for the {name}" for name, (_, gradient) in curves.items()]
    return Figure(
        figure,
        f"At a logit of {logits[0]:g} the size of the gradient is {' and '.join(sizes)}",
        "Sure and wrong is on the left, sure and right on the right. Compare both panels on the left side.",
        f"Two panels over the logit of what is true, from {logits[0]:g} to {logits[-1]:g}: the losses, and "
        "the sizes of their gradients. "
        + " ".join(
            f"The {name} goes from {L[0]:.2g} to {L[-1]:.1g}, its gradient has its largest size "
            f"{np.abs(gradient).max():.2g} at {logits[np.abs(gradient).argmax()]:.2g}."
            for name, (L, gradient) in curves.items()
        ),
    )
