"""Figures of chapter 19: how much is alive at each moment of a pass, how many blocks, memory against time.

Moments, peaks and counts come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, PALETTE, TRUTH
from course.figures import Figure

LOOKS = (
    ("forward", FORWARD, "o"),
    ("forward again", PALETTE[4], "^"),
    ("backward", BACKWARD, "s"),
)


def one_pass(moments, all_kept=None, calls=None):
    """Draw how many arrays are alive at each moment of a pass: forward, forward again, backward.

    Parameters
    ----------
    moments : list of (str, float)
        The direction of a call, "forward" or "backward", and how many arrays are alive at it. There are as
        many first forward calls as calls backward; the others are run again.
    all_kept : float, optional
        How many are alive at most where nothing is forgotten: a line, and the height of the axis.
    calls : float, optional
        Where the other axis ends; a slider needs both to stay.

    Returns
    -------
    Figure
    """
    directions = [direction for direction, _ in moments]
    layers, forwards = directions.count("backward"), directions.count("forward")
    ax = plt.subplots(figsize=(6.4, 3.4))[1]
    places, alive = np.arange(1, len(moments) + 1), np.array([arrays for _, arrays in moments])
    back = np.array([direction == "backward" for direction in directions])
    first = ~back & (np.cumsum(~back) <= layers)
    ax.plot(places, alive, color=CONTEXT, linestyle="-", linewidth=1, marker="", zorder=1)
    groups = first, ~back & ~first, back
    for (name, colour, marker), chosen in zip(LOOKS, groups, strict=True):
        if chosen.any():
            ax.plot(
                places[chosen], alive[chosen], color=colour, marker=marker, ms=4, linestyle="", label=name
            )
    if all_kept is not None:
        ax.axhline(
            all_kept, color=CONTEXT, linewidth=1.5, linestyle="--", marker="", label="all kept", zorder=0
        )
    ax.set(xlim=(0, (calls or len(moments)) + 1), ylim=(0, 1.3 * max(alive.max(), all_kept or 0)))
    ax.set(xlabel="calls, one after the other", ylabel="arrays alive")
    ax.legend(loc="upper left", ncols=4, columnspacing=1.4, handletextpad=0.4)
    calls_of = {name: alive[chosen] for (name, *_), chosen in zip(LOOKS, groups, strict=True) if chosen.any()}
    again = forwards - layers
    heights = ", ".join(
        f"{name} {len(heights)} calls with {heights.min():.0f} to {heights.max():.0f} arrays alive"
        for name, heights in calls_of.items()
    )
    runs = f"{again} of {layers} layers run forward again" if again <= layers else f"{again} calls run again"
    return Figure(
        ax,
        f"At most {alive.max():.0f} arrays are alive, and {runs if again else 'no layer runs twice'}",
        "Each point is a call of a layer, and its height is the number of arrays alive at that moment."
        + " A triangle is a call that runs forward again during the backward pass." * bool(again)
        + " The dashed line is the peak where everything is kept." * (all_kept is not None),
        f"Arrays alive against {len(moments)} calls, one after the other: {heights}."
        + (f" A dashed line at {all_kept:.0f}: all kept." if all_kept is not None else ""),
    )


def peak_by_blocks(peaks, layers):
    """Draw the peak of memory against the number of blocks, beside the count of what is kept.

    Parameters
    ----------
    peaks : dict of int to float
        How many blocks, and how many arrays were alive at most.
    layers : int

    Returns
    -------
    Figure
    """
    blocks = np.array(list(peaks), dtype=float)
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    most, fine = np.array(list(peaks.values())), np.geomspace(blocks.min(), blocks.max(), 101)
    ax.plot(fine, fine + layers / fine, color=TRUTH, linestyle="-", marker="", label="inputs + one block")
    ax.plot(fine, fine, color=FORWARD, linestyle=":", marker="", label="inputs of the blocks")
    ax.plot(fine, layers / fine, color=PALETTE[4], linestyle="--", marker="", label="the inside of one block")
    ax.plot(blocks, most, color=BACKWARD, linestyle="", marker="o", label="measured")
    for block, peak in zip(blocks, most, strict=True):
        ax.annotate(f"{peak:.0f}", (block, peak), xytext=(0, 6), textcoords="offset points", ha="center")
    ax.set_xscale("log")
    ax.set_xticks(blocks, [f"{block:g}" for block in blocks])
    ax.minorticks_off()
    ax.set(xlabel=f"blocks, of {layers} layers in all", ylabel="arrays alive at most")
    ax.set_ylim(0, 1.2 * max(most.max(), (fine + layers / fine).max()))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    above = most - (blocks + layers / blocks)
    return Figure(
        ax,
        f"{layers} layers need the least memory in {blocks[most.argmin()]:g} blocks",
        "The solid curve counts what is kept: what enters each block, and the inside of one. The measured "
        f"peaks differ from it by {above.min():.1f} to {above.max():.1f} arrays.",
        f"Arrays alive at most against the number of blocks, for {layers} layers. Measured: "
        + ", ".join(f"{peak:.0f} in {block:g}" for block, peak in zip(blocks, most, strict=True))
        + ". Of the two parts that are counted, the inputs grow with the number of blocks, and the inside of "
        "one block shrinks.",
    )


def memory_and_time(ways, layers):
    """Draw memory against time: a point for each way to remember, both axes logarithmic.

    Parameters
    ----------
    ways : dict of str to (float, float)
        For each way, how often a layer runs forward, and how many arrays were alive at most.
    layers : int

    Returns
    -------
    Figure
    """
    points = np.array(list(ways.values()), dtype=float)
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    order = points[:, 0].argsort()
    ax.plot(*points[order].T, color=CONTEXT, linestyle=":", marker="", linewidth=1)
    ax.plot(*points.T, color=BACKWARD, linestyle="", marker="o", markersize=8)
    for place, index in enumerate(order):  # inside, every other name stands below: neighbours have room
        name, (runs, arrays) = list(ways.items())[index]
        below = place % 2 == 0 and 0 < place < len(points) - 1
        shift, va = ((-4, -9), "top") if below else ((8, 4), "bottom")
        text = f"{name}: {arrays:.0f}"
        ax.annotate(text, (runs, arrays), xytext=shift, textcoords="offset points", va=va)
    ax.set_xscale("log"), ax.set_yscale("log")
    for axis, values in ((ax.xaxis, points[:, 0]), (ax.yaxis, points[:, 1])):
        ends = values.min(), values.max()
        axis.set_ticks([tick for tick in 2.0 ** np.arange(-2, 16) if ends[0] / 2 <= tick <= 2 * ends[1]])
        axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    ax.minorticks_off()
    ax.set_xlim(0.8 * points[:, 0].min(), 4 * points[:, 0].max())
    ax.set_ylim(0.7 * points[:, 1].min(), 1.6 * points[:, 1].max())
    ax.set(xlabel="how often each layer runs forward", ylabel="arrays alive at most")
    (once, most), (more, least) = points[order[:2]]
    extra = "one more forward" if more - once == 1 else f"{more - once:.1f} more forwards"
    points_told = "; ".join(f"{name}, {runs:g} and {arrays:.0f}" for name, (runs, arrays) in ways.items())
    return Figure(
        ax,
        f"{layers} layers: {most:.0f} arrays become {least:.0f} for {extra}",
        "Each point is a way to remember. Further to the left is less work, and further down is less memory.",
        f"Arrays alive at most against how often each of {layers} layers runs forward, on logarithmic axes: "
        f"{points_told}.",
    )
