"""Figures of chapter 11: a graph of nodes, step by step, and what walks over graphs cost.

Nodes and counts come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, INK, PALETTE
from course.figures import Figure


def walk(nodes, places, moment, order=None):
    """Draw a graph of nodes that hold one number each, at one moment of its forward and backward pass.

    Parameters
    ----------
    nodes : dict of str to Variable
        In the order in which they were made; the backward pass begins at the last. Their gradients stay as
        they are.
    places : dict of str to (float, float)
        Where each node stands, in columns and rows.
    moment : int
        From 1 to the number of nodes: so many values are computed. Then comes a 1 at the last node, and then
        one turn of a node that has parents at each moment.
    order : sequence of str, optional
        The nodes with parents in the order of their turns; the youngest first unless given.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If `order` does not have each node with parents once.
    """
    operators = [name for name, node in nodes.items() if node.parents]
    order = operators[::-1] if order is None else [*order]
    if sorted(order) != sorted(operators):
        raise ValueError(f"each of {', '.join(operators)} has one turn, got {', '.join(order)}.")
    passed = order[: max(0, moment - len(nodes) - 1)]
    values = {name: node.data.item() for name, node in list(nodes.items())[:moment]}
    gradients = _arrived(nodes, passed) if moment > len(nodes) else {}
    names = {id(node): name for name, node in nodes.items()}
    parents = {name: [names[id(parent)] for parent in nodes[name].parents] for name in operators}
    ax = _draw_graph({name: places[name] for name in nodes}, parents, values, gradients, passed)
    made = "; ".join(f"{name} of {' and '.join(of)}" for name, of in parents.items())
    alt = f"{len(nodes)} nodes, {', '.join(nodes)}, with an arrow from each parent to its child: {made}. "
    alt += f"Values in blue: {_listed(values)}."
    if not gradients:
        return Figure(
            ax,
            f"Forward pass: {len(values)} of {len(nodes)} values are computed",
            "The number in blue is the value of a node. An arrow leads from each parent to its child, and is "
            "grey as long as the child has no value.",
            alt,
        )
    return Figure(
        ax,
        f"Backward pass: {len(passed)} of {len(operators)} operators have had their turn",
        "Blue is the value of a node, orange what has arrived of its gradient. A node with an orange edge "
        "has had its turn: an orange arrow leads from it to each of its parents.",
        f"{alt} Gradients so far in orange: {_listed(gradients)}. "
        f"Turns: {', '.join(passed) if passed else 'none yet'}.",
    )


def _listed(numbers):
    """Return numbers by name as words."""
    return ", ".join(f"{name} {number:.4g}" for name, number in numbers.items())


def _arrived(nodes, passed):
    """Return what has arrived at each node after the turns of some; nodes with nothing are left out."""
    before = {name: node.g.copy() for name, node in nodes.items()}
    for node in nodes.values():
        node.g[...] = 0
    nodes[list(nodes)[-1]].g[...] = 1
    for name in passed:
        nodes[name]._back()
    arrived = {name: node.g.item() for name, node in nodes.items() if node.g}
    for name, node in nodes.items():
        node.g[...] = before[name]
    return arrived


def _draw_graph(places, parents, values, gradients, passed):
    """Draw nodes at their places with arrows from parents to children, and back after a turn."""
    across, up = np.array(list(places.values()), dtype=float).T
    ax = plt.subplots(figsize=(6.4, 1.7 + 1.2 * (up.max() - up.min())))[1]
    for child, names in parents.items():
        color = FORWARD if child in values else CONTEXT
        for place, name in enumerate(names):
            there, back = (0.0, 0.25) if names.count(name) == 1 else (0.12, 0.42)
            side = -1 if name in names[:place] else 1  # the second arrow to one parent bends the other way
            _draw_arrow(ax, places[name], places[child], color, side * there)
            if child in passed:
                _draw_arrow(ax, places[child], places[name], BACKWARD, side * back)
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
    return ax


def _draw_arrow(ax, start, end, color, bend):
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
    """
    ax = plt.subplots()[1]
    colors = PALETTE[::-1]  # the first ones mean forward and backward
    for color, (name, counts) in zip(colors, calls_by_walk.items(), strict=False):
        ax.plot(levels, counts, color=color)
        end, aside = (levels[-1], counts[-1]), {"xytext": (7, 0), "textcoords": "offset points"}
        ax.annotate(f"{name}\n{counts[-1]:,}", end, va="center", color=INK, **aside)
    ax.set(xlabel="levels, each the sum of the one below with itself", ylabel="nodes visited", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    pairs = calls_by_walk.items()
    ends = " and ".join(f"{visits[-1]:,} visits ({name})" for name, visits in pairs)
    ranges = "; ".join(f"{name} from {visits[0]:,} to {visits[-1]:,}" for name, visits in pairs)
    return Figure(
        ax,
        f"For {levels[-1]} levels: {ends}",
        "The axis upward is logarithmic, so a count that doubles with each level climbs in a straight line.",
        f"Nodes visited, on a logarithmic axis, against {levels[0]} to {levels[-1]} levels. Walks: {ranges}.",
    )
