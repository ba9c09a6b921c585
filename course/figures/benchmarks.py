"""Figures of the book's page on speed: ratios to PyTorch, and how the cost of a step grows.

The numbers drawn here are in benchmarks/results.json.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

from course.colours import CONTEXT, FORWARD, TRUTH

COLORS = (FORWARD, CONTEXT, TRUTH)
LOOKS = (("-", "o"), ("--", "s"), ("-.", "^"))


def draw_ratios(workloads, ratios_by_contestant, ax=None):
    """Draw, for each workload, how long a step takes in steps of PyTorch eager, with a line at 1.

    Parameters
    ----------
    workloads : list of str
    ratios_by_contestant : dict of str to array (workloads,)
        From one to three contestants; the title says how often the first is quicker than PyTorch.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = ax or plt.subplots(figsize=(6.4, 1.4 + 0.55 * len(workloads)))[1]
    places = np.arange(len(workloads))
    width = 0.8 / len(ratios_by_contestant)
    for number, (name, ratios) in enumerate(ratios_by_contestant.items()):
        shift = (number - (len(ratios_by_contestant) - 1) / 2) * width
        bars = ax.barh(places + shift, ratios, 0.92 * width, color=COLORS[number], label=name)
        for text in ax.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=2, fontsize=8):
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # over the line at 1
    ax.axvline(1, color=TRUTH, linewidth=1, linestyle="-", marker="")
    right = 1.15 * max(1, *(np.max(ratios) for ratios in ratios_by_contestant.values()))
    ax.set(xlabel="time of a step / PyTorch eager", ylabel="workload", xlim=(0, right))
    ax.set_ylim(places[-1] + 0.6, -0.6)  # the first workload on top
    ax.set_yticks(places, workloads)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    (first, mine), *others = ratios_by_contestant.items()
    title = f"{first} is quicker than PyTorch eager in {_count_below(mine, 1)} of {len(workloads)} workloads"
    for name, ratios in others:
        if "PyTorch" in name:
            title += f",\nand quicker than {name} in {_count_below(mine, ratios)}"
    ax.set_title(title, pad=28)
    return ax


def _count_below(ratios, limits):
    """Return how many numbers are below their limits."""
    return int(np.sum(np.less(ratios, limits)))


def draw_growth(panels):
    """Draw how the cost of a step grows, a panel for each thing that grows, on logarithmic scales.

    Parameters
    ----------
    panels : dict of str to (array (values,), dict of str to array (values,))
        By the name of what grows: its values, and the microseconds of a step for up to three contestants.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(6.4, 3.2), sharey=True, squeeze=False)
    for ax, (what, (values, lines)) in zip(axes[0], panels.items(), strict=True):
        looks = zip(lines.items(), COLORS, LOOKS, strict=False)
        for (name, microseconds), color, (linestyle, marker) in looks:
            ax.plot(values, microseconds, color=color, linestyle=linestyle, marker=marker, label=name)
        ax.set(xscale="log", yscale="log", xlabel=what)
        ax.set_xticks(values, values, fontsize=8)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_minor_formatter(NullFormatter())
    axes[0, 0].set_ylabel("microseconds a step")
    axes[0, -1].legend(loc="upper left")
    growth = [f"{values[-1] / values[0]:,.0f} times the {what}" for what, (values, _) in panels.items()]
    longest = [next(iter(lines.values())) for _, lines in panels.values()]
    factors = [microseconds[-1] / microseconds[0] for microseconds in longest]
    place = int(np.argmax(factors))
    axes[0, 0].set_title(f"{growth[place]} costs {factors[place]:,.0f} times as much")
    return figure
