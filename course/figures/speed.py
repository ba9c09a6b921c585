"""Figures of chapter 20: parts of a step, the roofline, a layer beside its floor, walks, beside PyTorch.

Seconds, operations and bytes come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, INK, PALETTE, TRUTH
from course.figures import Figure

LOOKS = {"forward": (FORWARD, ""), "back": (BACKWARD, "//"), "neither": (CONTEXT, "..")}
GAP = 0.17  # of a decade: labels that are closer lie on each other


def parts_of_step(parts, pair=None):
    """Draw how long each part of a step takes, as bars, in the order in which they run.

    Parameters
    ----------
    parts : list of (str, str, float)
        What runs, its direction ("forward", "back" or "neither"), and its seconds.
    pair : (int, int), optional
        The places of two parts of one direction that the title compares; without it the title says how much
        of the step the longest part is.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the two of a pair run in two directions.
    """
    if pair and parts[pair[0]][1] != parts[pair[1]][1]:
        raise ValueError(f"a pair runs in one direction, got {parts[pair[0]]} and {parts[pair[1]]}.")
    ax = plt.subplots(figsize=(6.4, max(2.6, 0.9 + 0.36 * len(parts))))[1]
    times = np.array([1e3 * seconds for *_, seconds in parts])
    for direction, (colour, hatch) in LOOKS.items():
        places = [place for place, part in enumerate(parts) if part[1] == direction]
        if places:
            label = {"back": "backward", "neither": "loss and update"}.get(direction, direction)
            bars = ax.barh(places, times[places], color=colour, hatch=hatch, edgecolor=GROUND, label=label)
            ax.bar_label(bars, [f"{time:.2g}" for time in times[places]], padding=3, fontsize=9)
    ax.set_yticks(range(len(parts)), [name for name, *_ in parts])
    ax.invert_yaxis()
    ax.set(xlabel="milliseconds", ylabel="from the first to the last", xlim=(0, 1.45 * times.max()))
    ax.legend(loc="center right")
    if pair:
        (one, direction, _), (other, *_) = (parts[place] for place in pair)
        ratio = times[pair[0]] / times[pair[1]]
        title = f"{direction.capitalize()}: {one} takes {ratio:.2g} times as long as {other}"
    else:
        title = f"{_named(*parts[int(times.argmax())][:2])} takes {times.max() / times.sum():.0%} of the step"
    bars = ", ".join(f"{_named(*part[:2])} {time:.2g}" for part, time in zip(parts, times, strict=True))
    return Figure(
        ax,
        title,
        "The parts of one step of training, from top to bottom in the order in which they run. Bars "
        "of the backward pass are hatched.",
        f"Bars of milliseconds, in the order of the step: {bars}.",
    )


def _named(name, direction):
    """Return what a part of a step is called in a sentence."""
    way = {"forward": " forward", "back": " backward", "neither": ""}[direction]
    return f"{name[:1].upper()}{name[1:]}{way}"


def roofline(climb, peaks, bandwidths, apart=None):
    """Draw programs by what they reach, under the two limits of a machine: its peak and its bandwidth.

    Parameters
    ----------
    climb : dict of str to (float, float)
        For each program, in their order: operations per byte, and operations per second. One or two values
        of operations per byte occur: the labels of the smaller stand to the left.
    peaks : dict of str to float
        Operations per second, at most, by the kind of number; one or two.
    bandwidths : dict of str to float
        Bytes per second, at most, by where they come from; one or two.
    apart : dict of str to (float, float), optional
        Programs that are no part of the climb.

    Returns
    -------
    Figure
    """
    apart = apart or {}
    ax = plt.subplots(figsize=(6.4, 5.0))[1]
    intensities, rates = np.array(list(climb.values())).T
    highest, reach = max(peaks.values()), np.array([0.1, 100.0])
    for (name, peak), style in zip(peaks.items(), ("-", "--"), strict=False):
        ax.axhline(peak / 1e9, color=TRUTH, linestyle=style, linewidth=1.5, marker="", label=f"peak, {name}")
    for (name, bytes_per_second), style in zip(bandwidths.items(), (":", "-."), strict=False):
        ends = np.array([reach[0], highest / bytes_per_second])
        ax.plot(ends, ends * bytes_per_second / 1e9, color=CONTEXT, linestyle=style, marker="", label=name)
    ax.plot(intensities, rates / 1e9, color=FORWARD, marker="o", linestyle="-", linewidth=1)
    for name, (intensity, rate) in apart.items():
        ax.plot(intensity, rate / 1e9, color=BACKWARD, marker="s", linestyle="")
        place = {"xytext": (0, -9), "textcoords": "offset points", "ha": "center", "va": "top"}
        ax.annotate(name, (intensity, rate / 1e9), fontsize=9, color=INK, **place)
    left = intensities.min() if intensities.min() < intensities.max() else 0.0
    for side in (True, False):
        height = -np.inf
        for place in np.argsort(rates):
            if (intensities[place] == left) == side:
                height = max(np.log10(rates[place] / 1e9), height + GAP)
                ax.annotate(
                    list(climb)[place],
                    (intensities[place], 10**height),
                    xytext=(-9 if side else 9, 0),
                    textcoords="offset points",
                    ha="right" if side else "left",
                    va="center",
                    fontsize=9,
                    color=INK,
                    bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.5},
                )
    ax.set(xscale="log", yscale="log", xlim=reach, ylim=(0.3 * rates.min() / 1e9, 9 * highest / 1e9))
    ax.set(xlabel="operations per byte that must be moved", ylabel="billion operations per second")
    ax.legend(loc="lower right")
    factor, share = rates[-1] / rates[0], rates[-1] / highest
    every = ", ".join(f"{name} {rate / 1e9:.2g}" for name, (_, rate) in {**climb, **apart}.items())
    limits = ", ".join(f"{name} {peak / 1e9:.3g}" for name, peak in peaks.items())
    return Figure(
        ax,
        f"{float(f'{factor:.2g}'):,.0f} times faster, and {share:.0%} of the peak",
        "Each dot is a program for the same step. No dot can pass the roof, nor the slope of the memory that "
        "it reads from. Both axes are logarithmic."
        + " The squares are parts of a step on their own."
        * bool(apart),
        "A roofline: billions of operations per second against operations per byte, on logarithmic axes. The "
        f"peaks are {limits}. The programs reach: {every}.",
    )


def above_floor(widths, seconds, floors, width, name, limits):  # noqa: PLR0913  a slider fixes the axes
    """Draw the time of a layer against its width, beside the least that the machine's limits allow.

    Parameters
    ----------
    widths : list of int
    seconds, floors : array (widths,)
    width : int
        Which of the widths to point at.
    name : str
    limits : (float, float)
        The ends of the vertical axis in seconds, the same at every stop of a slider.

    Returns
    -------
    Figure
    """
    widths, both = list(widths), np.array([seconds, floors], dtype=float)
    ax = plt.subplots(figsize=(6.4, 3.6))[1]
    place, micro = widths.index(width), 1e6 * both
    ax.plot(widths, micro[0], color=FORWARD, marker="o", linestyle="-", label=f"{name}, measured")
    ax.plot(widths, micro[1], color=TRUTH, marker="s", linestyle="--", label="floor")
    ax.plot([width] * 2, micro[:, place], color=BACKWARD, linestyle=":", marker="", linewidth=3, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="width", ylabel="microseconds, forward and backward")
    ax.set_xticks(widths, widths)
    ax.minorticks_off()
    ax.set_ylim(1e6 * limits[0], 1e6 * limits[1])
    ax.legend(loc="upper left")
    ratio = micro[0, place] / micro[1, place]
    times = f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"
    measured = ", ".join(
        f"{float(f'{one:.3g}'):,g} at {where}" for one, where in zip(micro[0], widths, strict=True)
    )
    return Figure(
        ax,
        f"{name}, width {width}: {times} times its floor",
        "The dotted line is the distance between measurement and floor at the width of the slider. On "
        "logarithmic axes, equal distances are equal factors.",
        f"Microseconds against width for {name}, forward and backward: {measured}. At width {width} the "
        f"floor is {micro[1, place]:.3g}.",
    )


def walks(places_by_walk, line):
    """Draw the places in memory that walks through one array visit, one after the other.

    Parameters
    ----------
    places_by_walk : dict of str to array (steps,)
        One or two walks; places count numbers from the array's first.
    line : int
        How many numbers the processor fetches together: a stripe each.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.4))[1]
    end = max(np.max(places) for places in places_by_walk.values()) + 1
    for start in range(0, end, 2 * line):
        ax.axhspan(start - 0.5, start + line - 0.5, color=CONTEXT, alpha=0.15, linewidth=0)
    fetched = {}
    for (name, places), colour, mark in zip(
        places_by_walk.items(), (FORWARD, PALETTE[3]), ("o-", "s:"), strict=False
    ):
        stripes = np.asarray(places) // line
        fetched[name] = 1 + int((np.diff(stripes) != 0).sum())
        label = f"{name}: enters a stripe {fetched[name]} times"
        ax.plot(np.arange(1, len(places) + 1), places, mark, color=colour, markersize=5, label=label)
    ax.set(xlabel="step of the walk", ylabel="place in memory", ylim=(-1, 1.45 * end))
    ax.legend(loc="upper left")
    counts = ", ".join(f"{name} {count} times" for name, count in fetched.items())
    most = max(fetched.values())
    return Figure(
        ax,
        f"The same {end} numbers, and stripes are entered {min(fetched.values())} or {most} times"
        if len(fetched) > 1
        else f"A walk through {end} numbers enters stripes {most} times",
        f"Each stripe is {line} numbers, which the processor fetches together. A walk that leaves a stripe "
        "may have to fetch it again.",
        f"Places in memory against the step of the walk, over stripes of {line}. They are entered: {counts}.",
    )


def beside_others(ranges_by_workload):
    """Draw how long a step takes beside others, as ratios with their ranges, and a line at 1.

    Parameters
    ----------
    ranges_by_workload : dict of str to dict of str to (float, float, float)
        For each workload, by the name of the other (one or two, the same for all): the lowest, the median
        and the highest ratio of the rounds.

    Returns
    -------
    Figure
    """
    (names,) = {tuple(ranges) for ranges in ranges_by_workload.values()}
    ratios = np.array(
        [[ranges[name] for name in names] for ranges in ranges_by_workload.values()], dtype=float
    )
    ax = plt.subplots(figsize=(6.4, 1.2 + 0.42 * len(ratios)))[1]
    places = np.arange(len(ratios))
    for number, (name, colour, mark) in enumerate(zip(names, (FORWARD, PALETTE[3]), "os", strict=False)):
        low, middle, high = ratios[:, number].T
        heights = places + (0.38 * number - 0.19 if len(names) > 1 else 0)
        reach, look = np.array([middle - low, high - middle]), {"fmt": mark, "markersize": 5, "capsize": 3}
        ax.errorbar(middle, heights, xerr=reach, color=colour, label=f"beside {name}", **look)
        for end, height, ratio in zip(high, heights, middle, strict=True):
            ax.annotate(
                f"{ratio:.2f}",
                (end, height),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 0.5},
            )
    ax.axvline(1, color=TRUTH, linewidth=1, linestyle="-", marker="", zorder=0)
    ax.set(ylabel="workload", xlabel="time of a step, in the other's steps")
    ax.set(ylim=(places[-1] + 0.6, -0.6), xlim=(0, 1.15 * max(1.0, ratios.max())))
    ax.set_yticks(places, list(ranges_by_workload))
    ax.legend(loc="best")
    least, most = (float(f"{end:.2g}") for end in (ratios[..., 1].min(), ratios[..., 1].max()))
    medians = "; ".join(
        f"{workload} " + ", ".join(f"{ranges[name][1]:.2f} beside {name}" for name in names)
        for workload, ranges in ranges_by_workload.items()
    )
    return Figure(
        ax,
        f"A step of minigrad takes from {least:g} to {most:g} steps of the other",
        "Marks are medians, and bars reach from the lowest to the highest of the rounds. Left of the line at "
        "1 minigrad takes less time.",
        f"Ratios of times with their ranges, a line at 1. Medians: {medians}.",
    )
