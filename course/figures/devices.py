"""Figures of chapter 21: timelines, transfers of an epoch, where a GPU overtakes a processor, work by call.

Leaves out counting and computing: the numbers drawn here come from the chapter.
"""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE

HIDDEN = "////"


def draw_timelines(plans, ax=None):
    """Draw what Python does and what the device does, microsecond by microsecond, for several plans.

    Parameters
    ----------
    plans : dict of str to (launches, works)
        Two lists of (start, end) in microseconds, one pair for each call: Python hands it over, and the
        device works on it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a plan has not one work for each launch, or works before it is launched.
    """
    for name, (launches, works) in plans.items():
        if len(launches) != len(works) or any(
            work[0] < launch[1] for launch, work in zip(launches, works, strict=True)
        ):
            raise ValueError(
                f"{name}: each call is launched, and then worked on; got {launches} and {works}."
            )
    ax = ax or plt.subplots(figsize=(6.4, 1.0 + 1.3 * len(plans)))[1]
    last = max(works[-1][1] for _, works in plans.values())
    places, labels = [], []
    for row, (name, (launches, works)) in enumerate(plans.items()):
        top = -2.8 * row
        for index, (launch, work) in enumerate(zip(launches, works, strict=True)):
            _draw_block(ax, launch, top, CONTEXT, index + 1)
            _draw_block(ax, work, top - 1, FORWARD, index + 1)
        ax.plot(
            [works[-1][1]] * 2, [top - 1.5, top + 0.5], color=CONTEXT, linestyle=":", marker="", linewidth=1
        )
        ax.annotate(name, (0, top + 0.55), va="bottom", weight="bold", fontsize=9)
        places += [top, top - 1]
        labels += ["Python", "device"]
    ax.set(xlabel="time (microseconds, assumed)", ylabel="who works", yticks=places, yticklabels=labels)
    ax.set(xlim=(0, 1.03 * last), ylim=(places[-1] - 0.7, 1.4))
    ends = [f"{name} {works[-1][1]:g}" for name, (_, works) in plans.items()]
    ax.set_title(f"Microseconds until all is done: {', '.join(ends)}")
    return ax


def _draw_block(ax, span, y, color, number):
    """Draw one call in one lane, with its number."""
    start, end = span
    ax.barh(y, end - start, left=start, height=0.8, color=color, edgecolor="white", linewidth=1)
    ax.text((start + end) / 2, y, str(number), color="white", ha="center", va="center", fontsize=8)


def draw_transfers(transfers_by_name, ax=None):
    """Draw how many times data went to the device and back, openly and hidden, a bar for each program.

    Parameters
    ----------
    transfers_by_name : dict of str to list
        Transfers, each with `direction`, ``"to"`` or ``"back"``, and `hidden`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no program.
    """
    if not transfers_by_name:
        raise ValueError("no program to draw: give a list of transfers for each name.")
    ax = ax or plt.subplots(figsize=(6.4, 1.6 + 0.6 * len(transfers_by_name)))[1]
    counts = {name: len(transfers) for name, transfers in transfers_by_name.items()}
    for row, transfers in enumerate(transfers_by_name.values()):
        left = 0
        for direction, color in (("to", FORWARD), ("back", BACKWARD)):
            for hidden in (False, True):
                width = sum(t.direction == direction and t.hidden == hidden for t in transfers)
                ax.barh(
                    row,
                    width,
                    left=left,
                    color=color,
                    alpha=0.6 if hidden else 1.0,
                    hatch=HIDDEN if hidden else None,
                    edgecolor="white",
                    linewidth=0,
                )
                left += width
        ax.annotate(str(left), (left, row), xytext=(5, 0), textcoords="offset points", va="center", color=INK)
    ax.set(yticks=range(len(counts)), yticklabels=counts, xlabel="transfers in one epoch", ylabel="program")
    ax.set(ylim=(len(counts) - 0.4, -0.6), xlim=(0, 1.12 * max(1, *counts.values())))
    ax.legend(
        handles=[
            Patch(facecolor=FORWARD, label="to the device"),
            Patch(facecolor=BACKWARD, label="back"),
            Patch(facecolor="white", edgecolor=CONTEXT, hatch=HIDDEN, label="hidden"),
        ],
        loc="lower right",
    )
    ax.set_title(f"Transfers in one epoch: from {next(iter(counts.values()))} to {list(counts.values())[-1]}")
    return ax


def draw_crossover(widths, cpu, device, what, ax=None):
    """Draw how long one step takes against the width of the layers, for a processor and for a device.

    Parameters
    ----------
    widths : array (widths,)
        Growing.
    cpu, device : array (widths,)
        Seconds, from a model or a measurement.
    what : str
        What the times are: stands on the axis.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is not one positive time for each width.
    """
    widths, cpu, device = (np.asarray(array, dtype=float) for array in (widths, cpu, device))
    if not widths.shape == cpu.shape == device.shape or not (cpu > 0).all() or not (device > 0).all():
        raise ValueError(
            f"{widths.size} widths need a positive time each, got {cpu.size} for the processor "
            f"and {device.size} for the device."
        )
    ax = ax or plt.subplots()[1]
    ax.plot(widths, 1e6 * cpu, color=CONTEXT, linestyle="--", marker="", label="processor")
    ax.plot(widths, 1e6 * device, color=FORWARD, linestyle="-", marker="", label="device")
    faster = np.flatnonzero(device < cpu)
    if len(faster):
        ax.plot(widths[faster[0]], 1e6 * device[faster[0]], color=FORWARD, marker="o", linestyle="")
        width = float(f"{widths[faster[0]]:.2g}")  # two digits are more than enough
        ax.set_title(f"The device overtakes at a width of about {width:g}")
    else:
        ax.set_title("The processor is faster at every width drawn here")
    ax.set(xscale="log", yscale="log", xlabel="width of the layers", ylabel=f"microseconds ({what})")
    ax.set(xlim=(widths[0], widths[-1]), ylim=(1, 1e7))
    ax.xaxis.set_minor_formatter("")
    ax.legend(loc="upper left")
    return ax


def draw_work(counted, least, ax=None):
    """Draw how many operations networks do in how many calls, and from where on a call is worth handing over.

    Parameters
    ----------
    counted : dict of str to list of (width, calls, operations)
        A line for each kind of network.
    least : float
        Operations of an average call that takes as long here as it takes to hand it over.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a kind has no network, or a network no calls.
    """
    if not all(rows and all(calls > 0 for _, calls, _ in rows) for rows in counted.values()):
        raise ValueError(f"each kind needs networks with calls, got {counted}.")
    ax = ax or plt.subplots(figsize=(6.4, 4.0))[1]
    pays = [work > least * calls for rows in counted.values() for _, calls, work in rows]
    for (name, rows), color, marker in zip(counted.items(), cycle(PALETTE), cycle("osD"), strict=False):
        _, calls, work = zip(*rows, strict=True)
        ax.plot(calls, work, color=color, marker=marker, linestyle=":", label=name)
        for width, x, y in rows:
            ax.annotate(f"{width:,}", (x, y), xytext=(7, -3), textcoords="offset points", fontsize=8)
    calls = [row[1] for rows in counted.values() for row in rows]
    ends = np.array([min(calls) / 2, max(calls) * 3])
    ax.plot(ends, least * ends, color=INK, linestyle="-", marker="", label=f"{least:,.0f} operations a call")
    ax.set(xscale="log", yscale="log", xlabel="calls, there and back", ylabel="operations", xlim=ends)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.legend(loc="lower right", fontsize=8)
    ax.set_title(f"Above the line, worth sending: {sum(pays)} of {len(calls)} networks")
    return ax
