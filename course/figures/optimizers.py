"""Figures of chapter 09: paths through a valley, a schedule, lengths of steps, and losses by learning rate.

The numbers drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from matplotlib.ticker import NullFormatter

from course.colours import CONTEXT, PALETTE, TRUTH
from course.figures import Figure
from course.figures.moving import Moving

MARKERS = "os^Dv"
LINES = "-", "--", "-.", ":", "-"
LAST = 5  # steps, of which the largest loss counts: a lucky landing does not win


def race(valley, paths_by_name, steps, rates=None, momentum=0.6):
    """Draw a valley and the paths of optimizers in it; on a screen, ball, valley and rates can be moved.

    Parameters
    ----------
    valley : array (2, 2)
        Diagonal: its curvatures, along the floor and across; the loss at w is half of w · valley · w.
    paths_by_name : dict of str to array (at least steps + 1, 2)
        Of ``"plain"``, ``"momentum"``, ``"RMSProp"`` and ``"Adam"`` the first few; where each stood, from one
        start on.
    steps : int
        How many steps are shown, on a screen at first.
    rates : dict of str to float, optional
        The learning rate of each; unless given, the page finds the best of a hundred for each, as often as
        something is moved.
    momentum : float
        The share that momentum keeps.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a path has fewer steps.
    """
    ax = plt.subplots(figsize=(6.0, 5.4))[1]
    late = _paths_on(ax, valley, paths_by_name, steps, reach=5.0)
    best = rates is None
    counted = "1 step" if steps == 1 else f"{steps} steps"
    losses = ", ".join(f"{name} {loss:.2g}" for name, loss in late.items())
    return Figure(
        ax,
        f"A race down a valley, each optimizer {'at its best learning rate' if best else 'at its own rate'}",
        "The valley from above: each ellipse is a line of equal loss, the cross is the lowest point, each "
        f"mark a step. From the start in the chapter, the largest loss in the last {LAST} of {counted}: "
        f"{losses}.",
        f"Ellipses around (0, 0) in the plane of two parameters, and on them the paths of {counted} from "
        f"{_place(paths_by_name)}. {_ends(late, paths_by_name, steps)}",
        moving=Moving(
            "valley",
            curvatures=np.diag(valley).tolist(),
            start=np.asarray(next(iter(paths_by_name.values()))[0]).tolist(),
            runners=list(paths_by_name),
            rates=[] if best else [rates[name] for name in paths_by_name],
            momentum=momentum,
            best=best,
            judged=steps if best else 0,
            turns=best,
            step=steps,
            steps=min(60, *(len(path) - 1 for path in paths_by_name.values())),
        ),
    )


def two_valleys(valleys_by_name, paths_by_valley, steps):
    """Draw the same race in two valleys, side by side.

    Parameters
    ----------
    valleys_by_name : dict of str to array (2, 2)
    paths_by_valley : dict of str to paths, as for `race`, of any optimizers
        By the same names.
    steps : int

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a path has fewer steps.
    """
    drawing, axes = plt.subplots(1, len(valleys_by_name), figsize=(9.6, 6.4))
    winners, told = [], []
    for ax, (name, valley) in zip(np.atleast_1d(axes), valleys_by_name.items(), strict=True):
        late = _paths_on(ax, valley, paths_by_valley[name], steps, reach=5.0, name=name)
        winners.append(f"{name}, {min(late, key=late.get)} has the lowest loss")
        told.append(f"{_sentence(name)}: {_ends(late, paths_by_valley[name], steps)}")
    return Figure(
        drawing,
        _sentence("; ".join(winners)),
        f"One race of {steps} steps in each valley. The legends give the largest loss in the last {LAST} "
        "places.",
        f"Valleys from above, with paths of {steps} steps. {' '.join(told)}",
    )


def schedule(rates, name):
    """Draw the learning rate by step.

    Parameters
    ----------
    rates : sequence of float
        The learning rate for each step.
    name : str
        How the schedule is written.

    Returns
    -------
    Figure
    """
    ax = _by_step({name: rates}, "learning rate")
    highest = int(np.argmax(rates))
    return Figure(
        ax,
        f"The learning rate reaches {rates[highest]:.3g} at step {highest + 1} and ends at {rates[-1]:.3g}",
        "The learning rate that each step takes, by the number of the step.",
        f"The learning rate over {len(rates)} steps for {name}: {rates[0]:.3g} at the first step, "
        f"{rates[highest]:.3g} at step {highest + 1}, and {rates[-1]:.3g} at the last.",
    )


def step_lengths(lengths_by_name):
    """Draw how long each step is, in learning rates, on a logarithmic axis of steps.

    Parameters
    ----------
    lengths_by_name : dict of str to sequence of float
        Up to five optimizers, and for each the length of every step divided by its learning rate.

    Returns
    -------
    Figure
    """
    ax = _by_step(lengths_by_name, "length of the step / learning rate")
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    longest = {name: int(np.argmax(np.round(lengths, 6))) for name, lengths in lengths_by_name.items()}
    worst = max(longest, key=lambda name: lengths_by_name[name][longest[name]])
    peak = lengths_by_name[worst][longest[worst]]
    told = "; ".join(
        f"{name} begins at {lengths[0]:.2g}, is longest at step {longest[name] + 1} with "
        f"{lengths[longest[name]]:.2g}, and ends at {lengths[-1]:.2g}"
        for name, lengths in lengths_by_name.items()
    )
    return Figure(
        ax,
        f"{_sentence(worst)}, a step is up to {peak:.2g} learning rates long",
        "The axis of the steps is logarithmic, so that the first ones can be seen. A length of 1 is a step "
        "of one learning rate.",
        f"The length of steps in learning rates, by step: {told}.",
    )


def rates(tried, ylabel, top):
    """Draw the mean loss against the learning rate for several optimizers; bars: its error over the seeds.

    Parameters
    ----------
    tried : dict of str to (array (rates,), array (seeds, rates))
        Up to five optimizers, each with its own positive rates and the losses that came of them.
    ylabel : str
    top : float
        The upper edge of the picture; higher losses are not drawn.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.8, 4.2))[1]
    best = {}
    for index, (name, (learning_rates, losses)) in enumerate(tried.items()):
        losses = np.asarray(losses, dtype=float)
        mean, bar = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
        look = {"color": PALETTE[index], "marker": MARKERS[index], "linestyle": LINES[index]}
        ax.errorbar(learning_rates, mean, yerr=bar, **look, capsize=3, label=name)
        best[name] = learning_rates[np.nanargmin(mean)], np.nanmin(mean)
    ax.set(xscale="log", yscale="log", xlabel="learning rate", ylabel=ylabel)
    ax.set_ylim(top=top)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())
    drawing = ax.figure
    drawing.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(tried))
    told = "; ".join(f"{name} at {rate:.2g}, with {loss:.2g}" for name, (rate, loss) in best.items())
    return Figure(
        ax,
        "The best learning rates: " + ", ".join(f"{name} at {rate:.2g}" for name, (rate, _) in best.items()),
        f"Each mark is the mean of {len(losses)} seeds, and its bar the standard error. Both axes are "
        f"logarithmic; losses above {top:g} are not drawn.",
        f"{ylabel.capitalize()} over the learning rate, both logarithmic, a line for each optimizer. Each "
        f"is lowest: {told}.",
    )


def _paths_on(ax, valley, paths_by_name, steps, reach, name=None):  # noqa: PLR0913  where it stands, and how it looks
    """Draw a valley and the paths in it, and return the largest late loss of each."""
    valley = np.asarray(valley, dtype=float)
    curvatures, axes = np.linalg.eigh(valley)
    angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    for height in np.geomspace(0.3, 1200, 10):
        width, breadth = 2 * np.sqrt(2 * height / curvatures)
        ax.add_patch(
            Ellipse((0, 0), width, breadth, angle=angle, fill=False, edgecolor=CONTEXT, linewidth=0.6)
        )
    late = {}
    for index, (optimizer, path) in enumerate(paths_by_name.items()):
        path = np.asarray(path, dtype=float)
        if len(path) < steps + 1:
            raise ValueError(f"the path of {optimizer} has {len(path) - 1} steps, to be drawn are {steps}.")
        path = path[: steps + 1]
        late[optimizer] = max(0.5 * w @ valley @ w for w in path[-LAST:])
        look = {"color": PALETTE[index], "marker": MARKERS[index], "linestyle": LINES[index]}
        ax.plot(*path.T, **look, markersize=3.5, linewidth=1.2, label=f"{optimizer}: {late[optimizer]:.2g}")
    ax.plot(0, 0, color=TRUTH, marker="+", markersize=12, linestyle="")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="first parameter", ylabel="second parameter")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, title=name)
    return late


def _by_step(values_by_name, ylabel):
    """Draw numbers by step, each series as a line, and return the axes."""
    ax = plt.subplots()[1]
    for index, (name, values) in enumerate(values_by_name.items()):
        look = {"color": PALETTE[index], "linestyle": LINES[index]}
        ax.plot(np.arange(1, len(values) + 1), values, **look, marker="", label=name)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="step", ylabel=ylabel)
    ax.legend(loc="best")
    return ax


def _place(paths_by_name):
    """Say where the first path starts."""
    x, y = next(iter(paths_by_name.values()))[0]
    return f"({x:.2g}, {y:.2g})"


def _ends(late, paths_by_name, steps):
    """Say where each path ends, and its largest late loss."""
    return (
        "; ".join(
            f"{name} ends at ({paths_by_name[name][steps][0]:.2g}, {paths_by_name[name][steps][1]:.2g}), its "
            f"largest loss in the last places is {loss:.2g}"
            for name, loss in late.items()
        )
        + "."
    )


def _sentence(text):
    """Return a text with a capital letter at its beginning, and the others as they are."""
    return text[0].upper() + text[1:]
