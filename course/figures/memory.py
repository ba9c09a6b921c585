"""Figures of chapter 19: how much is alive at each moment of a pass, how many blocks, memory against time.

Leaves out measuring: moments, peaks and counts come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter

from course.style import BACKWARD, CONTEXT, FORWARD, PALETTE, TRUTH

LOOKS = (
    ("forward", FORWARD, "o"),
    ("forward again", PALETTE[4], "^"),
    ("way back", BACKWARD, "s"),
)


def draw_pass(moments, all_kept=None, calls=None, ax=None):
    """Draw how many arrays are alive at each moment of a pass: forward, forward again, on the way back.

    Parameters
    ----------
    moments : list of (str, float)
        The direction of a call, "forward" or "backward", and how many arrays are alive at it. There are as
        many first forward calls as calls on the way back; the others are run again.
    all_kept : float, optional
        How many are alive at most where nothing is forgotten: a line, and the height of the axis.
    calls : float, optional
        Where the other axis ends; a slider needs both to stay.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no way back, or fewer calls forward than back.
    """
    directions = [direction for direction, _ in moments]
    layers, forwards = directions.count("backward"), directions.count("forward")
    if not layers or forwards < layers:
        raise ValueError(f"each layer goes forward and back, got {forwards} calls forward, {layers} back.")
    ax = ax or plt.subplots(figsize=(6.4, 3.4))[1]
    places, alive = np.arange(1, len(moments) + 1), np.array([arrays for _, arrays in moments])
    back = np.array([direction == "backward" for direction in directions])
    first = ~back & (np.cumsum(~back) <= layers)
    ax.plot(places, alive, color=CONTEXT, linestyle="-", linewidth=1, marker="", zorder=1)
    for (name, colour, marker), chosen in zip(LOOKS, (first, ~back & ~first, back), strict=True):
        if chosen.any():
            ax.plot(
                places[chosen], alive[chosen], color=colour, marker=marker, ms=4, linestyle="", label=name
            )
    if all_kept is not None:
        ax.axhline(
            all_kept, color=TRUTH, linewidth=1.5, linestyle="--", marker="", label="all kept", zorder=0
        )
    ax.set(xlim=(0, (calls or len(moments)) + 1), ylim=(0, 1.3 * max(alive.max(), all_kept or 0)))
    ax.set(xlabel="calls, one after the other", ylabel="arrays alive")
    ax.legend(loc="upper left", ncols=4, columnspacing=1.4, handletextpad=0.4)
    ax.set_title(f"At most {alive.max():.0f} arrays alive, {forwards} calls forward for {layers} layers")
    return ax


def draw_blocks(peaks_by_blocks, layers, ax=None):
    """Draw the peak of memory against the number of blocks, beside the count of what is kept.

    Parameters
    ----------
    peaks_by_blocks : dict of int to float
        How many blocks, and how many arrays were alive at most.
    layers : int
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two numbers of blocks, or one is not from 1 to `layers`.
    """
    blocks = np.array(list(peaks_by_blocks), dtype=float)
    if len(blocks) < 2 or blocks.min() < 1 or blocks.max() > layers:
        raise ValueError(f"two or more numbers of blocks, from 1 to {layers}, got {list(peaks_by_blocks)}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
    peaks, fine = np.array(list(peaks_by_blocks.values())), np.geomspace(blocks.min(), blocks.max(), 101)
    ax.plot(fine, fine + layers / fine, color=TRUTH, linestyle="-", marker="", label="inputs + one block")
    ax.plot(fine, fine, color=FORWARD, linestyle=":", marker="", label="inputs of the blocks")
    ax.plot(fine, layers / fine, color=PALETTE[4], linestyle="--", marker="", label="the inside of one block")
    ax.plot(blocks, peaks, color=BACKWARD, linestyle="", marker="o", label="measured")
    for block, peak in zip(blocks, peaks, strict=True):
        ax.annotate(f"{peak:.0f}", (block, peak), xytext=(0, 6), textcoords="offset points", ha="center")
    ax.set_xscale("log")
    ax.set_xticks(blocks, [f"{block:g}" for block in blocks])
    ax.minorticks_off()
    ax.set(xlabel=f"blocks, of {layers} layers in all", ylabel="arrays alive at most")
    ax.set_ylim(0, 1.2 * max(peaks.max(), (fine + layers / fine).max()))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.set_title(f"{blocks[peaks.argmin()]:g} blocks of {layers} layers need least: {peaks.min():.0f} arrays")
    return ax


def draw_trade(ways, layers, ax=None):
    """Draw memory against time: a point for each way to remember, both axes logarithmic.

    Parameters
    ----------
    ways : dict of str to (float, float)
        For each way, how often a layer runs forward, and how many arrays were alive at most.
    layers : int
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two ways, or a number is not positive.
    """
    points = np.array(list(ways.values()), dtype=float)
    if len(points) < 2 or not (points > 0).all():
        raise ValueError(f"two or more ways with positive numbers are wanted, got {dict(ways)}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
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
    ax.set_title(f"{layers} layers: {most:.0f} arrays become {least:.0f} for {extra}")
    return ax
