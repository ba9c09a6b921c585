"""Figures of chapter 21: timelines, transfers of an epoch, where a GPU overtakes a processor, work by call.

The numbers drawn here come from the chapter.
"""

from itertools import cycle, pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, INK, ON_COLOUR, ON_PALE, PALETTE
from course.figures import Figure

HIDDEN = "////"
PINK, GREEN = PALETTE[3:]  # for what has no meaning of its own: here the device


def timelines(plans):
    """Draw what Python does and what the device does, microsecond by microsecond, for several plans.

    Parameters
    ----------
    plans : dict of str to (launches, works)
        Two lists of (start, end) in microseconds, one pair for each call: Python hands it over, and the
        device works on it.

    Returns
    -------
    Figure
    """
    _, ax = plt.subplots(figsize=(6.4, 1.0 + 1.3 * len(plans)))
    ends = {name: works[-1][1] for name, (_, works) in plans.items()}
    places, labels = [], []
    for row, (name, (launches, works)) in enumerate(plans.items()):
        top = -2.8 * row
        for index, (launch, work) in enumerate(zip(launches, works, strict=True)):
            _block(ax, launch, top, CONTEXT, ON_COLOUR, index + 1)
            _block(ax, work, top - 1, GREEN, ON_PALE, index + 1)
        ax.plot(
            [ends[name]] * 2, [top - 1.5, top + 0.5], color=CONTEXT, linestyle=":", marker="", linewidth=1
        )
        ax.annotate(name, (0, top + 0.55), va="bottom", weight="bold", fontsize=9)
        places += [top, top - 1]
        labels += ["Python", "device"]
    ax.set(xlabel="time (microseconds, assumed)", ylabel="who works", yticks=places, yticklabels=labels)
    ax.set(xlim=(0, 1.03 * max(ends.values())), ylim=(places[-1] - 0.7, 1.4))
    lanes = []
    for name, (launches, works) in plans.items():
        idle = sum(later[0] - earlier[1] for earlier, later in pairwise(works))
        lanes.append(
            f"With {name}, Python hands over {len(launches)} calls until {launches[-1][1]:g}, and the device "
            f"works until {ends[name]:g} and stands still for {idle:g} in between."
        )
    return Figure(
        ax,
        f"Done after {' or '.join(f'{end:g} µs with {name}' for name, end in ends.items())}",
        "Python hands over numbered calls (grey), and the device works on them in order (green). Look for "
        "gaps in the lane of the device.",
        f"Pairs of lanes against microseconds, Python above the device. {' '.join(lanes)}",
    )


def _block(ax, span, y, color, ink, number):  # noqa: PLR0913  where it stands, and how it looks
    """Draw one call in one lane, with its number."""
    start, end = span
    ax.barh(y, end - start, left=start, height=0.8, color=color, edgecolor=GROUND, linewidth=1)
    ax.text((start + end) / 2, y, str(number), color=ink, ha="center", va="center", fontsize=8)


def transfers(transfers_by_name):
    """Draw how many times data went to the device and back, openly and hidden, a bar for each program.

    Parameters
    ----------
    transfers_by_name : dict of str to list
        Transfers, each with `direction`, ``"to"`` or ``"back"``, and `hidden`.

    Returns
    -------
    Figure
    """
    _, ax = plt.subplots(figsize=(6.4, 1.6 + 0.6 * len(transfers_by_name)))
    counts = {name: len(transfers) for name, transfers in transfers_by_name.items()}
    parts_by_name = {}
    for row, (name, transfers) in enumerate(transfers_by_name.items()):
        left, parts_by_name[name] = 0, []
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
                    edgecolor=ON_COLOUR,
                    linewidth=0,
                )
                left += width
                parts_by_name[name].append(f"{width} {'hidden' if hidden else 'open'} {direction}")
        ax.annotate(str(left), (left, row), xytext=(5, 0), textcoords="offset points", va="center", color=INK)
    ax.set(yticks=range(len(counts)), yticklabels=counts, xlabel="transfers in one epoch", ylabel="program")
    ax.set(ylim=(len(counts) - 0.4, -0.6), xlim=(0, 1.12 * max(1, *counts.values())))
    ax.legend(
        handles=[
            Patch(facecolor=FORWARD, label="to the device"),
            Patch(facecolor=BACKWARD, label="back"),
            Patch(facecolor=GROUND, edgecolor=CONTEXT, hatch=HIDDEN, label="hidden"),
        ],
        loc="lower right",
    )
    (first, before), *_, (_, after) = [*counts.items(), *counts.items()]
    if len(counts) == 1:
        title = f'The program "{first}" makes {before} transfers in one epoch'
    else:
        title = f"Transfers in one epoch: {before} at first, {after} in the end"
    bars = "; ".join(f"{name}: {', '.join(parts)}" for name, parts in parts_by_name.items())
    return Figure(
        ax,
        title,
        "Each bar counts the transfers of one program. In the hatched parts the line of code does not say "
        "that anything moves.",
        f"A bar of transfers in one epoch for each program, in four parts. {bars}.",
    )


def crossover(widths, cpu, device, what):
    """Draw how long one step takes against the width of the layers, for a processor and for a device.

    Parameters
    ----------
    widths : array (widths,)
        Growing.
    cpu, device : array (widths,)
        Seconds, from a model or a measurement.
    what : str
        What the times are: stands on the axis.

    Returns
    -------
    Figure
    """
    widths, cpu, device = (np.asarray(array, dtype=float) for array in (widths, cpu, device))
    _, ax = plt.subplots()
    ax.plot(widths, 1e6 * cpu, color=CONTEXT, linestyle="--", marker="", label="processor")
    ax.plot(widths, 1e6 * device, color=GREEN, linestyle="-", marker="", label="device")
    faster = np.flatnonzero(device < cpu)
    if len(faster):
        ax.plot(widths[faster[0]], 1e6 * device[faster[0]], color=GREEN, marker="o", linestyle="")
        width = float(f"{widths[faster[0]]:.2g}")  # two digits are more than enough
        title = f"The device overtakes at a width of about {width:,g}"
    else:
        title = "The processor is faster at every width drawn here"
    ax.set(xscale="log", yscale="log", xlabel="width of the layers", ylabel=f"microseconds ({what})")
    ax.set(xlim=(widths[0], widths[-1]), ylim=(1, 1e7))
    ax.xaxis.set_minor_formatter("")
    ax.legend(loc="upper left")
    ends = [
        f"the {name} takes from {_short(1e6 * times[0])} to {_short(1e6 * times[-1])} microseconds"
        for name, times in (("processor", cpu), ("device", device))
    ]
    return Figure(
        ax,
        title,
        "Both axes are logarithmic. Where a line is flat, a wider layer costs nothing more; the dot marks "
        "the first width at which the device is faster.",
        f"Time of a step ({what}) against the width of the layers, from {widths[0]:g} to {widths[-1]:,g}: "
        f"{', and '.join(ends)}. {title}.",
    )


def work(counted, least):
    """Draw how many operations networks do in how many calls, and from where on a call is worth handing over.

    Parameters
    ----------
    counted : dict of str to list of (width, calls, operations)
        A line for each kind of network.
    least : float
        Operations of an average call that takes as long here as it takes to hand it over.

    Returns
    -------
    Figure
    """
    _, ax = plt.subplots(figsize=(6.4, 4.0))
    pays = [work > least * calls for rows in counted.values() for _, calls, work in rows]
    for (name, rows), color, marker in zip(
        counted.items(), cycle((GREEN, PINK, CONTEXT)), cycle("osD"), strict=False
    ):
        _, calls, work = zip(*rows, strict=True)
        ax.plot(calls, work, color=color, marker=marker, linestyle=":", label=name)
        for width, x, y in rows:
            behind = {"facecolor": GROUND, "edgecolor": "none", "pad": 0.5}
            ax.annotate(f"{width:,}", (x, y), (7, -3), textcoords="offset points", fontsize=8, bbox=behind)
    calls = [row[1] for rows in counted.values() for row in rows]
    ends = np.array([min(calls) / 2, max(calls) * 3])
    ax.plot(ends, least * ends, color=INK, linestyle="-", marker="", label=f"{least:,.0f} operations a call")
    ax.set(xscale="log", yscale="log", xlabel="calls, forward and backward", ylabel="operations", xlim=ends)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.legend(loc="lower right", fontsize=8)
    points = []
    for name, rows in counted.items():
        marks = (
            f"{_short(work / 1e6)} million in {calls:,} at width {width:,}" for width, calls, work in rows
        )
        points.append(f"{name}: {', '.join(marks)}")
    return Figure(
        ax,
        f"{sum(pays)} of {len(calls)} networks {'is' if sum(pays) == 1 else 'are'} worth sending",
        "The number beside a mark is the width. Above the line, an average call does enough work to be worth "
        "handing over.",
        f"Operations against calls, both logarithmic, and a line at {least:,.0f} operations a call. "
        f"{'; '.join(points)}.",
    )


def _short(number):
    """Return a number with two digits that count."""
    return f"{float(f'{number:.2g}'):,g}"
