"""Figures of chapter 20: parts of a step, the roofline, a layer beside its floor, walks, beside PyTorch.

Leaves out measuring and counting: seconds, operations and bytes come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE, TRUTH

LOOKS = {"forward": (FORWARD, ""), "back": (BACKWARD, "//"), "neither": (CONTEXT, "..")}
GAP = 0.17  # of a decade: labels that are closer lie on each other


def draw_parts(parts, pair=None, ax=None):
    """Draw how long each part of a step takes, as bars, in the order in which they run.

    Parameters
    ----------
    parts : list of (str, str, float)
        What runs, its direction ("forward", "back" or "neither"), and its seconds.
    pair : (int, int), optional
        The places of two parts of one direction that the title compares; without it the title says how much
        of the step the longest part is.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no part, a direction is none of the three, a time is not positive, or the two of a pair
        run in two directions.
    """
    if not parts or not min(seconds for *_, seconds in parts) > 0:
        raise ValueError(f"parts with a positive time each are wanted, got {parts}.")
    unknown = {direction for _, direction, _ in parts} - set(LOOKS)
    if unknown:
        raise ValueError(f"a direction is one of {', '.join(LOOKS)}, got {', '.join(sorted(unknown))}.")
    if pair and parts[pair[0]][1] != parts[pair[1]][1]:
        raise ValueError(f"a pair runs in one direction, got {parts[pair[0]]} and {parts[pair[1]]}.")
    ax = ax or plt.subplots(figsize=(6.4, max(2.6, 0.9 + 0.36 * len(parts))))[1]
    times = np.array([1e3 * seconds for *_, seconds in parts])
    for direction, (colour, hatch) in LOOKS.items():
        places = [place for place, part in enumerate(parts) if part[1] == direction]
        if places:
            label = {"back": "way back", "neither": "loss and update"}.get(direction, direction)
            bars = ax.barh(places, times[places], color=colour, hatch=hatch, edgecolor="white", label=label)
            ax.bar_label(bars, [f"{time:.2g}" for time in times[places]], padding=3, fontsize=9)
    ax.set_yticks(range(len(parts)), [name for name, *_ in parts])
    ax.invert_yaxis()
    ax.set(xlabel="milliseconds", ylabel="from the first to the last", xlim=(0, 1.45 * times.max()))
    ax.legend(loc="center right")
    name, direction, _ = parts[int(times.argmax())]
    way = "" if direction == "neither" else f" on the way {'back' if direction == 'back' else 'forward'}"
    title = f"{name[:1].upper()}{name[1:]}{way} takes {times.max() / times.sum():.0%} of the step"
    if pair:
        (one, direction, _), (other, *_) = (parts[place] for place in pair)
        title = (
            f"{direction.capitalize()}: {one} {times[pair[0]] / times[pair[1]]:.2g} times as long as {other}"
        )
    ax.set_title(title)
    return ax


def draw_roofline(climb, peaks, bandwidths, apart=None, ax=None):
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
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two programs, no limit, or a number is not positive.
    """
    apart = apart or {}
    numbers = [*np.ravel([*climb.values(), *apart.values()]), *peaks.values(), *bandwidths.values()]
    if len(climb) < 2 or not peaks or not bandwidths or not min(numbers) > 0:
        raise ValueError("two programs or more, a peak, a bandwidth, and positive numbers are wanted.")
    ax = ax or plt.subplots(figsize=(6.4, 5.0))[1]
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
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                )
    ax.set(xscale="log", yscale="log", xlim=reach, ylim=(0.3 * rates.min() / 1e9, 9 * highest / 1e9))
    ax.set(xlabel="operations per byte that must be moved", ylabel="billion operations per second")
    ax.legend(loc="lower right")
    factor, share = rates[-1] / rates[0], rates[-1] / highest
    ax.set_title(f"{float(f'{factor:.2g}'):,.0f} times faster, and {share:.0%} of the peak")
    return ax


def draw_floor(widths, seconds, floors, width, name, limits, ax=None):
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
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a width has no positive time and floor, or the one to point at is missing.
    """
    widths, both = list(widths), np.array([seconds, floors], dtype=float)
    if both.shape != (2, len(widths)) or not both.min() > 0 or width not in widths:
        raise ValueError(f"each of the widths {widths} needs a positive time and floor, and {width} is one.")
    ax = ax or plt.subplots(figsize=(6.4, 3.6))[1]
    place, micro = widths.index(width), 1e6 * both
    ax.plot(widths, micro[0], color=FORWARD, marker="o", linestyle="-", label=f"{name}, measured")
    ax.plot(widths, micro[1], color=TRUTH, marker="s", linestyle="--", label="floor")
    ax.plot([width] * 2, micro[:, place], color=BACKWARD, linestyle=":", marker="", linewidth=3, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="width", ylabel="microseconds, there and back")
    ax.set_xticks(widths, widths)
    ax.minorticks_off()
    ax.set_ylim(1e6 * limits[0], 1e6 * limits[1])
    ax.legend(loc="upper left")
    ratio = micro[0, place] / micro[1, place]
    said = f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"
    ax.set_title(f"{name}, width {width}: {said} times its floor")
    return ax


def draw_walks(places_by_walk, line, ax=None):
    """Draw the places in memory that walks through one array visit, one after the other.

    Parameters
    ----------
    places_by_walk : dict of str to array (steps,)
        One or two walks; places count numbers from the array's first.
    line : int
        How many numbers the processor fetches together: a stripe each.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no walk, or walks differ in length.
    """
    if len({len(places) for places in places_by_walk.values()}) != 1:
        raise ValueError(f"walks of one length are wanted, got {list(places_by_walk)}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.4))[1]
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
    ax.set_title(f"One array, {min(fetched.values())} or {max(fetched.values())} stripes entered")
    return ax


def draw_beside(ranges_by_workload, ax=None):
    """Draw how long a step takes beside others, as ratios with their ranges, and a line at 1.

    Parameters
    ----------
    ranges_by_workload : dict of str to dict of str to (float, float, float)
        For each workload, by the name of the other (one or two, the same for all): the lowest, the median
        and the highest ratio of the rounds.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no workload, workloads are beside different others, or three numbers do not rise from
        above zero.
    """
    names = {tuple(ranges) for ranges in ranges_by_workload.values()}
    if len(names) != 1 or not next(iter(names)):
        raise ValueError(f"workloads beside the same others are wanted, got {list(ranges_by_workload)}.")
    (names,) = names
    ratios = np.array(
        [[ranges[name] for name in names] for ranges in ranges_by_workload.values()], dtype=float
    )
    if not ratios.min() > 0 or not (np.diff(ratios) >= 0).all():
        raise ValueError("a lowest, a median and a highest ratio above zero are wanted, in this order.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
    places = np.arange(len(ratios))
    looks = zip(names, (FORWARD, PALETTE[3]), "os", (-1, 1), strict=False)
    for number, (name, colour, mark, side) in enumerate(looks):
        low, middle, high = ratios[:, number].T
        where = places + (0.09 * side if len(names) > 1 else 0)
        reach = np.array([middle - low, high - middle])
        ax.errorbar(
            where, middle, reach, fmt=mark, color=colour, markersize=5, capsize=3, label=f"beside {name}"
        )
        for place, ratio in zip(where, middle, strict=True):
            around = {"xytext": (6 * side, 0), "textcoords": "offset points", "va": "center"}
            around["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            ax.annotate(
                f"{ratio:.2f}", (place, ratio), fontsize=7.5, ha="right" if side < 0 else "left", **around
            )
    ax.axhline(1, color=TRUTH, linewidth=1, linestyle="-", marker="", zorder=0)
    ax.set(xlabel="workload", ylabel="time of a step, in the other's steps")
    ax.set(xlim=(-0.6, places[-1] + 0.6), ylim=(0, 1.35 * max(1.0, ratios.max())))
    ax.set_xticks(places, list(ranges_by_workload))
    ax.legend(loc="upper left", ncols=3)
    least, most = (float(f"{end:.2g}") for end in (ratios[..., 1].min(), ratios[..., 1].max()))
    ax.set_title(f"A step of minigrad takes from {least:g} to {most:g} steps of the other")
    return ax
