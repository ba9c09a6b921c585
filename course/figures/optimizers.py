"""Figures of chapter 09: paths through a valley, numbers by step, and losses by learning rate.

Leaves out the steps themselves: the numbers drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

from course.style import CONTEXT, PALETTE, TRUTH

MARKERS = "os^Dv"
LINES = "-", "--", "-.", ":", "-"


def draw_paths(valley, paths_by_name, steps, reach=5.0, name="", ax=None):
    """Draw a valley from above and the paths of several optimizers in it, from the same start.

    Parameters
    ----------
    valley : array (2, 2)
        The loss at w is half of w · valley · w.
    paths_by_name : dict of str to array (at least steps + 1, 2)
        Up to five; where each stood, from its start on.
    steps : int
        How many steps to draw.
    reach : float
        How far to each side the picture goes; what lies outside is not drawn.
    name : str
        What the valley is called, above the names of the paths.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a path has fewer steps.
    """
    ax = ax or plt.subplots(figsize=(6.0, 5.0))[1]
    across = np.linspace(-reach, reach, 121)
    points = np.stack(np.meshgrid(across, across), axis=-1)
    height = 0.5 * np.einsum("...i,ij,...j", points, valley, points)
    ax.contour(across, across, height, levels=np.geomspace(0.3, 1200, 10), colors=CONTEXT, linewidths=0.6)
    for index, (optimizer, path) in enumerate(paths_by_name.items()):
        path = np.asarray(path, dtype=float)
        if len(path) < steps + 1:
            raise ValueError(f"the path of {optimizer} has {len(path) - 1} steps, to be drawn are {steps}.")
        loss = 0.5 * path[steps] @ valley @ path[steps]
        look = {"color": PALETTE[index], "marker": MARKERS[index], "linestyle": LINES[index]}
        label = f"{optimizer}: loss {loss:.1e}"
        ax.plot(*path[: steps + 1].T, **look, markersize=3.5, linewidth=1.2, label=label)
    ax.plot(0, 0, color=TRUTH, marker="+", markersize=12, linestyle="")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="first parameter", ylabel="second parameter")
    ax.legend(loc="upper right", title=name or None)
    ax.set_title(f"After {steps} {'step' if steps == 1 else 'steps'} in a valley")
    return ax


def draw_two_valleys(valleys_by_name, paths_by_valley, steps, title):
    """Draw the same race in two valleys, side by side.

    Parameters
    ----------
    valleys_by_name : dict of str to array (2, 2)
    paths_by_valley : dict of str to paths, as for `draw_paths`
        By the same names.
    steps : int
    title : str
        The message of both together.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the two are called differently.
    """
    if list(valleys_by_name) != list(paths_by_valley):
        raise ValueError(f"valleys {list(valleys_by_name)} and paths {list(paths_by_valley)} do not match.")
    figure, axes = plt.subplots(1, len(valleys_by_name), figsize=(9.6, 5.0))
    for ax, (name, valley) in zip(np.atleast_1d(axes), valleys_by_name.items(), strict=True):
        draw_paths(valley, paths_by_valley[name], steps, name=name, ax=ax).set_title("")
    figure.axes[0].set_title(title)
    return figure


def draw_by_step(values_by_name, ylabel, title, log=False, ax=None):
    """Draw how numbers change from step to step.

    Parameters
    ----------
    values_by_name : dict of str to sequence of float
        Up to five.
    ylabel, title : str
    log : bool
        Whether the axis of the steps is logarithmic.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is only one number, which makes no line.
    """
    ax = ax or plt.subplots()[1]
    for index, (name, values) in enumerate(values_by_name.items()):
        if len(values) < 2:
            raise ValueError(f"a line needs two numbers or more; {name} has {len(values)}.")
        steps = np.arange(1, len(values) + 1)
        look = {"color": PALETTE[index], "linestyle": LINES[index]}
        ax.plot(steps, values, **look, marker="", label=name)
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(bottom=0)
    ax.set(xlabel="step", ylabel=ylabel, title=title)
    ax.legend(loc="best")
    return ax


def draw_rates(tried, ylabel, title, top, ax=None):
    """Draw the mean loss against the learning rate for several optimizers; bars: its error over the seeds.

    Parameters
    ----------
    tried : dict of str to (array (rates,), array (seeds, rates))
        Up to five optimizers, each with its own positive rates and the losses found with them.
    ylabel, title : str
    top : float
        The upper edge of the picture; higher losses are not drawn.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If an optimizer has not one column of losses for each rate.
    """
    ax = ax or plt.subplots(figsize=(6.8, 4.2))[1]
    for index, (name, (rates, losses)) in enumerate(tried.items()):
        losses = np.asarray(losses, dtype=float)
        if losses.ndim != 2 or losses.shape[1] != len(rates):
            raise ValueError(f"{name} has losses of shape {losses.shape} for {len(rates)} learning rates.")
        middle, bar = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
        look = {"color": PALETTE[index], "marker": MARKERS[index], "linestyle": LINES[index]}
        ax.errorbar(rates, middle, yerr=bar, **look, capsize=3, label=name)
    ax.set(xscale="log", yscale="log", xlabel="learning rate", ylabel=ylabel, title=title)
    ax.set_ylim(top=top)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.legend(loc="best", title=f"mean of {len(losses)} seeds,\nbar: its standard error")
    return ax
