"""Figures of chapter 11: a graph of nodes, step by step, and what walks over graphs cost.

Leaves out the nodes themselves: values, gradients and counts come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.style import BACKWARD, CONTEXT, FORWARD, INK


def draw_graph(places, parents, values, gradients=None, passed=(), ax=None):
    """Draw a graph of nodes that hold one number each, as far as a pass has come.

    Parameters
    ----------
    places : dict of str to (float, float)
        Where each node stands, in columns and rows.
    parents : dict of str to sequence of str
        What each node was made from; a variable may be left out.
    values : dict of str to float
        Of the nodes that are computed already.
    gradients : dict of str to float, optional
        What has arrived at each node so far; nodes where nothing has arrived are left out.
    passed : sequence of str
        The nodes that have passed on their gradient.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a parent, a value or a gradient belongs to a node without a place.
    """
    gradients = gradients or {}
    named = {*parents, *values, *gradients, *passed, *(name for names in parents.values() for name in names)}
    if named - set(places):
        raise ValueError(f"these nodes have no place: {', '.join(sorted(named - set(places)))}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.2))[1]
    across, up = np.array(list(places.values()), dtype=float).T
    for child, names in parents.items():
        for name in names:
            _draw_arrow(ax, places[name], places[child], FORWARD if child in values else "#d0d0d0")
            if child in passed:
                _draw_arrow(ax, places[child], places[name], BACKWARD, bend=0.25)
    for name, (x, y) in places.items():
        known, has_passed = name in values, name in passed
        edge = BACKWARD if has_passed else FORWARD if known else CONTEXT
        box = {"boxstyle": "circle,pad=0.45", "facecolor": "white", "edgecolor": edge, "linewidth": 2}
        ax.text(x, y, name, ha="center", va="center", color=INK, bbox=box, zorder=3)
        side = 1 if y > up.mean() else -1  # the upper ones are written above, the lower ones below
        line = {"va": "bottom" if side > 0 else "top"}
        if known:
            ax.text(x - 0.03, y + 0.22 * side, f"{values[name]:.4g}", ha="right", color=FORWARD, **line)
        if name in gradients:
            ax.text(x + 0.03, y + 0.22 * side, f"{gradients[name]:.4g}", ha="left", color=BACKWARD, **line)
    ax.set(xlim=(across.min() - 0.5, across.max() + 0.5), ylim=(up.min() - 0.6, up.max() + 0.6))
    ax.set_axis_off()
    there = f"On the way there: {len(values)} of {len(places)} values are known"
    back = f"On the way back: {len(passed)} of {len(places)} nodes have had their turn"
    ax.set_title(back if gradients else there, color=BACKWARD if gradients else FORWARD)
    return ax


def _draw_arrow(ax, start, end, color, bend=0.0):
    """Draw an arrow between two places, short of the nodes that stand there."""
    look = {
        "arrowstyle": "->",
        "color": color,
        "linewidth": 1.6,
        "shrinkA": 15,
        "shrinkB": 15,
        "connectionstyle": f"arc3,rad={bend}",
    }
    ax.annotate("", end, start, arrowprops=look)


def draw_calls(levels, calls_by_walk, ax=None):
    """Draw how many nodes a walk visits, against the number of levels, on a logarithmic scale.

    Parameters
    ----------
    levels : sequence of int
    calls_by_walk : dict of str to sequence of int
        One positive count for each number of levels; up to five walks.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a walk has not one positive count for each number of levels.
    """
    for name, calls in calls_by_walk.items():
        if len(calls) != len(levels) or not np.min(calls) > 0:
            raise ValueError(f"{name} needs a positive count for each of {len(levels)} numbers of levels.")
    ax = ax or plt.subplots()[1]
    for name, calls in calls_by_walk.items():
        ax.plot(levels, calls, label=name)
    ax.set(xlabel="levels, each the sum of the one below with itself", ylabel="calls", yscale="log")
    ax.legend(loc="upper left")
    ends = ", ".join(f"{name} {calls[-1]:,}" for name, calls in calls_by_walk.items())
    ax.set_title(f"Calls at {levels[-1]} levels: {ends}")
    return ax
