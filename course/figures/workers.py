"""Figures of chapter 22: what workers agree on, a ring that adds, a deadlock, bytes and seconds of messages.

What is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, Rectangle

from course.colours import BACKWARD, CONTEXT, FORWARD, GRID, GROUND, INK, PALETTE, TRUTH
from course.figures import Figure
from course.figures.moving import Moving

PINK, GREEN = PALETTE[3:]  # for what has no meaning of its own: ways to send, dtypes, parts of a time
LOOKS = ((PINK, "--", "s"), (GREEN, "-.", "D"), (CONTEXT, ":", "^"), (INK, (0, (5, 1, 1, 1)), "v"))
COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def agreed(whole, agreed_by_case):
    """Draw what workers agree on against the gradient of the whole batch: a panel a case, a dot a number.

    Parameters
    ----------
    whole : array (numbers,)
    agreed_by_case : dict of str to dict of str to array (numbers,)
        For each case the rules by which they agreed.

    Returns
    -------
    Figure
    """
    whole = np.asarray(whole, dtype=float)
    count = len(agreed_by_case)
    size = (max(6.4, 0.9 + 2.9 * count), 3.9)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    reach = max(np.abs(g).max() for gradients in agreed_by_case.values() for g in gradients.values())
    reach = 1.08 * max(1e-12, reach, np.abs(whole).max())
    looks = ((BACKWARD, "x", 6), (GREEN, "o", 9), (PINK, "s", 7))
    for ax, (case, gradients) in zip(axes[0], agreed_by_case.items(), strict=True):
        ends = [-reach, reach]
        ax.plot(ends, ends, color=TRUTH, linestyle="-", linewidth=1, marker="", label="equal")
        for (rule, gradient), (colour, marker, wide) in zip(gradients.items(), looks, strict=False):
            look = {"color": colour, "marker": marker, "markersize": wide, "markerfacecolor": "none"}
            ax.plot(whole, gradient, **look, markeredgewidth=1.5, linestyle="", label=rule)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.set_xlabel(f"gradient of the whole batch\n{case}")
    axes[0][0].set_ylabel("what the workers agree on")
    axes[0][0].legend(loc="upper left", fontsize=8)

    on_line = {
        f"{case}, {rule}": int(np.isclose(gradient, whole).sum())
        for case, gradients in agreed_by_case.items()
        for rule, gradient in gradients.items()
    }
    right = sum(numbers == len(whole) for numbers in on_line.values())
    told = "; ".join(f"{name}: {numbers}" for name, numbers in on_line.items())
    return Figure(
        figure,
        f"{_word(right).capitalize()} of {_word(len(on_line))} ways to agree give the whole batch's gradient",
        "Each mark is one number of the gradient. On the diagonal, the workers together find what one "
        "worker finds on the whole batch.",
        f"Panels of agreed numbers against the {len(whole)} numbers of the whole batch's gradient, with a "
        f"diagonal where both are equal. Marks on the diagonal, for {told}.",
    )


def _word(number):
    """Return a small number as a word."""
    return COUNTS[number] if number < len(COUNTS) else str(number)


def ring(tables, step):
    """Draw what each worker holds after a step of the ring; on a screen, its pieces walk and workers stop.

    Parameters
    ----------
    tables : list of array (workers, workers)
        After 0, 1, 2 … steps: a row a worker, a column a piece. On a screen, each worker brings its power of
        ten in each piece.
    step : int
        How many steps have been taken in the still picture; on a screen, the ring begins at 0.

    Returns
    -------
    Figure
    """
    table = np.asarray(tables[step])
    complete = table == np.asarray(tables[-1])
    count = len(table)
    ax = plt.subplots(figsize=(6.4, 1.2 + 0.62 * count))[1]
    for rank, piece in np.ndindex(table.shape):
        came = step > 0 and piece == (rank - step) % count
        _box(ax, rank, piece, f"{table[rank, piece]:g}", complete[rank, piece], came)
        if came:
            _arrow(ax, rank, piece)
    ax.set(xlim=(0, count), ylim=(count, -0.35))
    ax.set_xticks(np.arange(count) + 0.5, np.arange(count))
    ax.set_yticks(np.arange(count) + 0.46, np.arange(count))
    ax.tick_params(length=0)
    ax.set(xlabel="piece", ylabel="worker")

    rows = "; ".join(
        f"worker {rank} holds {', '.join(f'{n:g}' for n in row)}" for rank, row in enumerate(table)
    )
    return Figure(
        ax,
        "In each step, a worker hands one piece to the next",
        "Each worker has a box for each piece, with piece 0 on the left. The digits of a sum show whose "
        "numbers are in it; complete sums are bold. A frame in orange marks what has just come from the "
        "worker before; into worker 0 it comes from the last one.",
        f"A table of {count} workers and {count} pieces after {step} steps: {rows}.",
        moving=Moving("ring", workers=count),
    )


def _box(ax, rank, piece, text, complete, came):  # noqa: PLR0913  where it stands, and how it looks
    """Draw one piece of one worker."""
    edge, width = (BACKWARD, 3) if came else (INK, 1) if complete else (CONTEXT, 1)
    look = {"facecolor": GRID if complete else GROUND, "edgecolor": edge, "linewidth": width}
    ax.add_patch(Rectangle((piece + 0.08, rank + 0.1), 0.84, 0.72, **look))
    weight = "bold" if complete else "normal"
    ax.text(piece + 0.5, rank + 0.46, text, ha="center", va="center", color=INK, fontweight=weight)


def _arrow(ax, rank, piece):
    """Draw how a piece came to a worker from the one before, or from the last, over the upper edge."""
    start, end = (piece + 0.84, rank - (0.42 if rank else 0.3)), (piece + 0.84, rank + 0.2)
    look = {"arrowstyle": "-|>", "mutation_scale": 14, "color": BACKWARD, "linewidth": 1.8, "zorder": 4}
    ax.add_patch(FancyArrowPatch(start, end, **look))


def traffic(workers, sent_by_way):
    """Draw how much the busiest worker sends, in copies of the array, against the number of workers.

    Parameters
    ----------
    workers : sequence of int
    sent_by_way : dict of str to sequence of float
        For each way one number for each number of workers.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.4))[1]
    for (way, sent), (colour, style, marker) in zip(sent_by_way.items(), LOOKS, strict=False):
        ax.plot(workers, sent, color=colour, linestyle=style, marker=marker)
        ax.annotate(way, (workers[-1], sent[-1]), (8, 0), textcoords="offset points", va="center", color=INK)
    ax.hlines(2, workers[0], workers[-1], color=CONTEXT, linewidth=1, linestyle=":")
    ax.text(max(workers), 2.1, "2 copies", ha="right", va="bottom", color=INK, fontsize=9)
    ax.set(xlabel="workers", ylabel="busiest worker sends,\nin copies of the array")
    ax.set_xticks(workers)
    ax.set_ylim(0, 1.1 * max(2.2, *(max(sent) for sent in sent_by_way.values())))

    last = " and ".join(f"{sent[-1]:.3g} copies {way}" for way, sent in sent_by_way.items())
    told = "; ".join(f"{way}: {', '.join(f'{n:.3g}' for n in sent)}" for way, sent in sent_by_way.items())
    return Figure(
        ax,
        f"With {workers[-1]} workers, the busiest sends {last}",
        "The copies are counted message by message. The dotted line marks two of them.",
        f"Copies of the array that the busiest of {', '.join(map(str, workers))} workers sends. {told}.",
    )


def waits(first_to_receive, count):
    """Draw which worker of a ring waits for which, where each sends to the next and receives from the last.

    Parameters
    ----------
    first_to_receive : dict of str to collection of int
        For each program, the workers that receive before they send; all others send first.
    count : int
        The workers, from two to six. A message passes only when one worker sends and the other receives it.

    Returns
    -------
    Figure
    """
    width = max(4.65, 0.2 + 3.2 * len(first_to_receive))
    figure, axes = plt.subplots(1, len(first_to_receive), figsize=(width, 3.3), squeeze=False)
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    told, stuck = [], []
    for ax, (program, receivers) in zip(axes[0], first_to_receive.items(), strict=True):
        passed = _messages_passed(receivers, count)
        now = passed[0] if passed else []
        for rank, place in enumerate(places):
            receives = rank in receivers
            other = (rank - 1) % count if receives else (rank + 1) % count
            if (rank, other) in now:
                _curve(ax, place, places[other], FORWARD, 3.5)
            elif (other, rank) not in now:
                _curve(ax, place, places[other], CONTEXT if passed else BACKWARD, 1.8)
            look = {"boxstyle": "round,pad=0.35", "facecolor": GROUND, "edgecolor": INK}
            words = f"worker {rank}\n{'receives' if receives else 'sends'}"
            ax.text(*place, words, ha="center", va="center", fontsize=9, bbox=look)
        ends = f"done after\n{len(passed)} rounds" if passed else "deadlock"
        ax.text(0, 0, ends, ha="center", va="center", fontsize=9.5, color=INK if passed else BACKWARD)
        ax.text(0, -1.62, program, ha="center", va="center", fontsize=10)
        ax.set(xlim=(-1.62, 1.62), ylim=(-1.75, 1.35))
        ax.set_axis_off()
        rounds = "; ".join(", ".join(f"{a} to {b}" for a, b in messages) for messages in passed)
        told.append(
            f"{program}: " + (f"messages pass in {len(passed)} rounds, {rounds}" if passed else "none")
        )
        stuck += [] if passed else [program]
    return Figure(
        figure,
        "In a deadlock, the workers wait for each other in a cycle" if stuck else "No worker waits forever",
        "An arrow leads from a worker to the one that it waits for. Where the arrows close into a cycle, in "
        "vermillion, no worker can ever go on. A blue arrow is a message that passes at once; after it, the "
        "workers that wait in grey follow one by one.",
        f"Rings of {count} workers, each of which sends to the next and receives from the one before. "
        f"Messages that pass, for {'. For '.join(told)}.",
    )


def _messages_passed(receivers, count):
    """Return the messages of a ring, (from, to), round by round, until all are done or none can pass."""
    left = {rank: ["receive", "send"] if rank in receivers else ["send", "receive"] for rank in range(count)}
    rounds = []
    while any(left.values()):
        now = [
            (rank, after)
            for rank, after in ((rank, (rank + 1) % count) for rank in range(count))
            if left[rank][:1] == ["send"] and left[after][:1] == ["receive"]
        ]
        if not now:
            return rounds
        for message in now:
            for rank in message:
                left[rank].pop(0)
        rounds.append(now)
    return rounds


def _curve(ax, start, end, colour, width):
    """Draw an arrow from one worker of a ring to another."""
    look = {"arrowstyle": "-|>", "mutation_scale": 15, "color": colour, "linewidth": width}
    bent = {"connectionstyle": "arc3,rad=-0.3", "shrinkA": 29, "shrinkB": 29}
    ax.add_patch(FancyArrowPatch(start, end, **look, **bent))


def apart(apart_by_workers):
    """Draw how far the losses of several workers are from those of one, step by step: a panel a case.

    Parameters
    ----------
    apart_by_workers : dict of str to dict of str to sequence of float
        For each case and each dtype distances, not negative; those of exactly 0 lie in a band below the
        logarithmic scale, a row for each dtype.

    Returns
    -------
    Figure
    """
    series = [distances for case in apart_by_workers.values() for distances in case.values()]
    count = len(apart_by_workers)
    figure, axes = plt.subplots(1, count, figsize=(7.2, 3.4), sharey=True, squeeze=False)
    for ax, (case, by_dtype) in zip(axes[0], apart_by_workers.items(), strict=True):
        for row, ((dtype, distances), look) in enumerate(zip(by_dtype.items(), LOOKS, strict=False)):
            colour, _, marker = look
            distances = np.asarray(distances, dtype=float)
            heights = np.where(distances > 0, distances, 10.0 ** (-17.6 - 0.9 * row))
            steps = np.arange(1, len(distances) + 1)
            dots = {"color": colour, "marker": marker, "markersize": 4, "linestyle": ""}
            ax.plot(steps, heights, **dots, label=dtype)
        ax.axhline(10.0**-17.1, color=CONTEXT, linewidth=1, linestyle="-", marker="")
        ax.set(yscale="log", ylim=(10.0**-19.4, 1e-4), xlabel=f"step\n{case}")
        ax.set_yticks([10.0**-18.05, 1e-15, 1e-11, 1e-7], ["exactly 0", "1e-15", "1e-11", "1e-7"])
        ax.minorticks_off()
    axes[0][0].set_ylabel("distance of the losses")
    axes[0][0].legend(loc="upper right", ncols=2, fontsize=9)

    dtypes = list(dict.fromkeys(dtype for by_dtype in apart_by_workers.values() for dtype in by_dtype))
    bounds = [_bound([c[dtype] for c in apart_by_workers.values() if dtype in c]) for dtype in dtypes]
    steps = len(series[0])
    return Figure(
        figure,
        "The losses stay " + " and ".join(f"{b} apart in {d}" for d, b in zip(dtypes, bounds, strict=True)),
        "Each mark is one step: how far the loss is from that of a single worker. Below the line, the losses "
        "agree to the last bit.",
        f"Distances from the losses of one worker, on a log scale, at {steps} step{'s' * (steps > 1)}, by "
        f"{' and '.join(apart_by_workers)}: "
        + "; ".join(f"in {d} {b}" for d, b in zip(dtypes, bounds, strict=True))
        + ".",
    )


def _bound(distances):
    """Return in words a power of ten that all distances stay below."""
    largest = max(np.max(part) for part in distances)
    return "exactly 0" if largest == 0 else f"less than 1e{int(np.floor(np.log10(largest))) + 1}"


def messages(sizes, seconds, start, per_byte):
    """Draw measured times of messages against their bytes, and the two-number model beside them.

    Parameters
    ----------
    sizes : sequence of float
        Bytes.
    seconds : sequence of float
        Measured, positive.
    start, per_byte : float
        The model: start + per_byte · bytes.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.4))[1]
    line = np.geomspace(min(sizes), max(sizes), 50)
    model = {"color": FORWARD, "linestyle": "-", "marker": "", "label": "start + bytes · time per byte"}
    ax.plot(line, 1e6 * (start + per_byte * line), **model)
    ax.plot(sizes, 1e6 * np.asarray(seconds), color=TRUTH, marker="o", linestyle="", label="measured")
    ax.set(xscale="log", yscale="log", xlabel="bytes of a message", ylabel="microseconds")
    ends = np.log10([1e6 * min(seconds), 1e6 * max(seconds)])
    powers = 10.0 ** np.arange(np.floor(ends[0] - 0.1), np.ceil(ends[1] + 0.1) + 1)
    ax.set_yticks(powers, [f"{power:g}" for power in powers])
    ax.set_ylim(powers[0], powers[-1])
    ax.minorticks_off()
    ax.legend(loc="upper left")

    times = [f"{1e6 * time:,.3g}" for time in seconds]
    told = "; ".join(f"{size:,} bytes: {time}" for size, time in zip(sizes, times, strict=True))
    return Figure(
        ax,
        f"{sizes[0]:,} bytes take {times[0]} microseconds, {sizes[-1]:,} take {times[-1]}",
        "The curve is a model of two numbers, which goes through the first and the last dot. Each dot is the "
        "fastest of many tries.",
        f"Microseconds of a message against its bytes, both on log scales. {told}. A curve follows roughly.",
    )


def costs(workers, seconds_by_part):
    """Draw the parts of a step's time against the number of workers, both on log scales, with their sum.

    Parameters
    ----------
    workers : sequence of int
    seconds_by_part : dict of str to sequence of float
        Not negative; 0 is left out.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    total = np.sum([np.asarray(seconds, dtype=float) for seconds in seconds_by_part.values()], axis=0)
    together = {"color": TRUTH, "linestyle": "-", "linewidth": 2.5, "marker": "", "label": "the whole step"}
    ax.plot(workers, 1000 * total, **together)
    for (part, seconds), (colour, style, marker) in zip(seconds_by_part.items(), LOOKS, strict=False):
        seconds = np.where(np.asarray(seconds, dtype=float) > 0, seconds, np.nan)
        look = {"color": colour, "linestyle": style, "marker": marker, "markevery": 0.12}
        ax.plot(workers, 1000 * seconds, **look, label=part)
    best = int(np.argmin(total))
    ax.plot(workers[best], 1000 * total[best], color=TRUTH, marker="o", markersize=8, linestyle="")
    ax.set(xscale="log", yscale="log", xlabel="workers", ylabel="milliseconds of a step")
    ax.minorticks_off()
    ax.legend(fontsize=8)

    ends = best == len(workers) - 1
    title = f"A step takes the least time with {workers[best]:,} workers"
    if ends:
        title = f"Up to {workers[best]:,} workers, more of them make a step faster"
    parts = "; ".join(
        f"{part} from {1000 * seconds[0]:,.4g} to {1000 * seconds[-1]:,.4g}"
        for part, seconds in seconds_by_part.items()
    )
    return Figure(
        ax,
        title,
        "Both scales are logarithmic. The line with the dot is the sum of the others; the dot is the fastest "
        "step.",
        f"Milliseconds of a step against {workers[0]:,} to {workers[-1]:,} workers. {parts}. Together they "
        f"are least, {1000 * total[best]:.3g}, with {workers[best]:,} workers.",
    )
