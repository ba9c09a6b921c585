"""Figures of chapter 11: a graph of nodes, step by step, and what walks over graphs cost.

Leaves out the nodes themselves: values, gradients and counts come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from course.figures import Figure
from course.style import BACKWARD, CONTEXT, FORWARD, GRID, GROUND, INK, PALETTE


def graph(places, parents, values, gradients=None, passed=()):
    """Draw a graph of nodes that hold one number each, as far as a pass has come.

    Parameters
    ----------
    places : dict of str to (float, float)
        Where each node stands, in columns and rows.
    parents : dict of str to sequence of str
        What each node was made from; a variable may be left out, and a parent may come twice.
    values : dict of str to float
        Of the nodes that are computed already.
    gradients : dict of str to float, optional
        What has arrived at each node so far; nodes where nothing has arrived are left out.
    passed : sequence of str
        The nodes that have passed on their gradient.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a parent, a value or a gradient belongs to a node without a place.
    """
    gradients = gradients or {}
    named = {*parents, *values, *gradients, *passed, *(name for names in parents.values() for name in names)}
    if named - set(places):
        raise ValueError(f"these nodes have no place: {', '.join(sorted(named - set(places)))}.")
    across, up = np.array(list(places.values()), dtype=float).T
    ax = plt.subplots(figsize=(6.4, 2.0 + 1.2 * (up.max() - up.min())))[1]
    for child, names in parents.items():
        for order, name in enumerate(names):
            there, back = (0.0, 0.25) if names.count(name) == 1 else (0.12, 0.42)
            side = -1 if order % 2 else 1
            color = FORWARD if child in values else GRID
            _arrow_on(ax, places[name], places[child], color, there * side)
            if child in passed:
                _arrow_on(ax, places[child], places[name], BACKWARD, back * side)
    for name, (x, y) in places.items():
        edge = BACKWARD if name in passed else FORWARD if name in values else CONTEXT
        box = {"boxstyle": "circle,pad=0.45", "facecolor": GROUND, "edgecolor": edge, "linewidth": 2}
        ax.text(x, y, name, ha="center", va="center", color=INK, bbox=box, zorder=3)
        side = 1 if y > up.mean() else -1  # the upper ones are written above, the lower ones below
        line = {"va": "bottom" if side > 0 else "top"}
        if name in values:
            ax.text(x - 0.03, y + 0.22 * side, f"{values[name]:.4g}", ha="right", color=FORWARD, **line)
        if name in gradients:
            ax.text(x + 0.03, y + 0.22 * side, f"{gradients[name]:.4g}", ha="left", color=BACKWARD, **line)
    ax.set(xlim=(across.min() - 0.5, across.max() + 0.5), ylim=(up.min() - 0.6, up.max() + 0.6))
    ax.set_axis_off()

    made = "; ".join(f"{child} is made from {' and '.join(names)}" for child, names in parents.items())
    sentences = [f"A graph of {len(places)} nodes, {', '.join(places)}: {made}."]
    for what, numbers in (("Values", values), ("Gradients that have arrived", gradients)):
        if numbers:
            sentences.append(
                f"{what}: {', '.join(f'{name} {number:.4g}' for name, number in numbers.items())}."
            )
    if passed:
        sentences.append(f"Passed on, with an orange arrow to each parent: {', '.join(passed)}.")
    if gradients:
        title = f"On the way back: {len(passed)} of {len(places)} nodes have had their turn"
        caption = (
            "The value of a node is blue, what has arrived of its gradient is orange. An orange arrow leads "
            "from a node that has had its turn to each of its parents."
        )
    else:
        title = f"On the way forward: {len(values)} of {len(places)} values are computed"
        caption = (
            "Blue arrows lead from parents to the nodes that were made from them; each node's value stands "
            "beside it. An arrow is grey until the value it leads to is computed."
        )
    return Figure(ax, title, caption, " ".join(sentences))


def moment_of_walk(places, nodes, moment):
    """Draw a graph at one moment of a pass: a value each, then 1 at the last node, then a turn each.

    Parameters
    ----------
    places : dict of str to (float, float)
        Where each node stands, in columns and rows.
    nodes : dict of str to Variable
        All nodes of the graph, of one number each, the oldest first; their gradients stay as they are.
    moment : int
        From 1, where the first value is computed.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a node has no place.
    """
    names, kept = {node: name for name, node in nodes.items()}, [node.g.copy() for node in nodes.values()]
    last = [*nodes.values()][-1]
    for node in nodes.values():
        node.g = np.zeros_like(node.data)
    last.g += moment > len(nodes)
    turns = [node for node in last.graph() if node.parents][: max(0, moment - len(nodes) - 1)]
    for node in turns:
        node._back()
    values = {name: node.data.item() for name, node in [*nodes.items()][:moment]}
    arrived = {name: node.g.item() for name, node in nodes.items() if node.g}
    for node, g in zip(nodes.values(), kept, strict=True):
        node.g = g
    parents = {
        name: [names[parent] for parent in node.parents] for name, node in nodes.items() if node.parents
    }
    return graph(places, parents, values, arrived, [names[node] for node in turns])


def _arrow_on(ax, start, end, color, bend):
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


def calls(levels, calls_by_walk):
    """Draw how many calls a walk makes, against the number of levels, on a logarithmic scale.

    Parameters
    ----------
    levels : sequence of int
    calls_by_walk : dict of str to sequence of int
        One positive count for each number of levels; up to five walks.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there are more than five walks, or one has not one positive count for each number of levels.
    """
    if len(calls_by_walk) > len(PALETTE):
        raise ValueError(f"there are colours for {len(PALETTE)} walks, got {len(calls_by_walk)}.")
    for name, counts in calls_by_walk.items():
        if len(counts) != len(levels) or not np.min(counts) > 0:
            raise ValueError(f"{name} needs a positive count for each of {len(levels)} numbers of levels.")
    ax = plt.subplots()[1]
    colors = PALETTE[::-1]  # the first ones mean forward and backward
    for color, (name, counts) in zip(colors, calls_by_walk.items(), strict=False):
        ax.plot(levels, counts, color=color)
        ax.annotate(
            f"{name}\n{counts[-1]:,}",
            (levels[-1], counts[-1]),
            (7, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
    ax.set(xlabel="levels, each the sum of the one below with itself", ylabel="calls", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ends = [f"{counts[-1]:,} for the {name} walk" for name, counts in calls_by_walk.items()]
    walks = "; ".join(
        f"the {name} walk makes {counts[0]:,} at {levels[0]} and {counts[-1]:,} at {levels[-1]}"
        for name, counts in calls_by_walk.items()
    )
    return Figure(
        ax,
        f"Calls at {levels[-1]} levels: {' and '.join(ends)}",
        "The axis of the calls is logarithmic: equal steps upwards multiply by the same number. A straight "
        "climb means that each level multiplies the calls.",
        f"Calls against levels, on a logarithmic axis: {walks}.",
    )
