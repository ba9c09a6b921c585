"""Figures of chapter 22: what workers agree on, a ring that adds, bytes and seconds of messages.

Leaves out computing gradients and sending messages: what is drawn here comes from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, Rectangle

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE, TRUTH

MARKERS = "osD^v"
STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1)))


def draw_agreed(whole, agreed_by_case):
    """Draw what workers agree on against the gradient of the whole batch: a panel a case, a dot a number.

    Parameters
    ----------
    whole : array (numbers,)
    agreed_by_case : dict of str to dict of str to array (numbers,)
        For each case the rules by which they agreed.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no case, or a gradient is not as long as the whole one.
    """
    whole = np.asarray(whole, dtype=float)
    for case, agreed in agreed_by_case.items():
        for rule, gradient in agreed.items():
            if np.shape(gradient) != whole.shape:
                raise ValueError(
                    f"{case}, {rule}: shape {np.shape(gradient)}, and the whole gradient has {whole.shape}."
                )
    if not agreed_by_case:
        raise ValueError("no case to draw.")
    count = len(agreed_by_case)
    size = (max(6.4, 0.9 + 2.9 * count), 3.9)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    reach = max([1e-12, *(np.abs(g).max() for agreed in agreed_by_case.values() for g in agreed.values())])
    reach = 1.08 * max(reach, np.abs(whole).max())
    looks = ((BACKWARD, "x", 6, "none"), (FORWARD, "o", 7, "none"), (PALETTE[3], "s", 6, "none"))
    for ax, (case, agreed) in zip(axes[0], agreed_by_case.items(), strict=True):
        ax.plot(
            [-reach, reach],
            [-reach, reach],
            color=TRUTH,
            linestyle="-",
            linewidth=1,
            marker="",
            label="equal",
        )
        for (rule, gradient), (colour, marker, size, fill) in zip(agreed.items(), looks, strict=False):
            ax.plot(
                whole,
                gradient,
                color=colour,
                marker=marker,
                markersize=size,
                markerfacecolor=fill,
                markeredgewidth=1.5,
                linestyle="",
                label=rule,
            )
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.set_xlabel(f"gradient of the whole batch\n{case}")
    axes[0][0].set_ylabel("what the workers agree on")
    axes[0][0].set_title("Uneven shares need weights")
    axes[0][0].legend(loc="upper left", fontsize=8)
    return figure


def draw_ring(tables, step, ax=None):
    """Draw what each worker holds after a step of the ring, and what has just travelled.

    Parameters
    ----------
    tables : list of array (workers, workers)
        After 0, 1, 2 … steps: a row a worker, a column a piece.
    step : int
        How many steps have been taken.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the step is not among the tables.
    """
    if not 0 <= step < len(tables):
        raise ValueError(f"the tables are those after 0 to {len(tables) - 1} steps, got step {step}.")
    table, whole = np.asarray(tables[step]), np.asarray(tables[-1])
    count = len(table)
    ax = ax or plt.subplots(figsize=(6.4, 1.5 + 0.7 * count))[1]
    for rank, piece in np.ndindex(table.shape):
        ready = table[rank, piece] == whole[rank, piece]
        came = step > 0 and piece == (rank - step) % count
        ax.add_patch(
            Rectangle(
                (piece + 0.08, rank + 0.1),
                0.84,
                0.72,
                facecolor=FORWARD if ready else "white",
                edgecolor=BACKWARD if came else CONTEXT,
                linewidth=3 if came else 1,
            )
        )
        colour = "white" if ready else INK
        ax.text(piece + 0.5, rank + 0.46, f"{table[rank, piece]:g}", ha="center", va="center", color=colour)
        if came:
            ax.add_patch(
                FancyArrowPatch(
                    (piece + 0.8, rank - (0.42 if rank else 0.3)),
                    (piece + 0.8, rank + 0.2),
                    arrowstyle="-|>",
                    mutation_scale=14,
                    color=BACKWARD,
                    linewidth=1.8,
                    zorder=4,
                )
            )
    ax.set(xlim=(0, count), ylim=(count, -0.35))
    ax.set_xticks(np.arange(count) + 0.5, np.arange(count))
    ax.set_yticks(np.arange(count) + 0.46, np.arange(count))
    ax.tick_params(length=0)
    ax.set(xlabel="piece (filled: everyone's part is in it)", ylabel="worker")
    lap = "add" if step < count else "hand on"
    said = (
        "Each holds only its own" if step == 0 else f"Step {step} of {len(tables) - 1}: {lap} one piece each"
    )
    ax.set_title("All have the whole sum" if step == len(tables) - 1 and step else said)
    return ax


def draw_traffic(workers, sent_by_way, ax=None):
    """Draw how much the busiest worker sends, in copies of the array, against the number of workers.

    Parameters
    ----------
    workers : sequence of int
    sent_by_way : dict of str to sequence of float
        For each way one number for each number of workers.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a way has not one number for each number of workers.
    """
    for way, sent in sent_by_way.items():
        if len(sent) != len(workers):
            raise ValueError(f"{way} has {len(sent)} numbers for {len(workers)} numbers of workers.")
    ax = ax or plt.subplots(figsize=(6.4, 3.6))[1]
    for place, (way, sent) in enumerate(sent_by_way.items()):
        ax.plot(
            workers, sent, color=PALETTE[1 - place], linestyle=STYLES[place], marker=MARKERS[place], label=way
        )
    ax.axhline(2, color=CONTEXT, linewidth=1, linestyle=":")
    ax.text(max(workers), 2.1, "2 copies", ha="right", va="bottom", color=INK, fontsize=9)
    ax.set(xlabel="workers", ylabel="busiest worker sends,\nin copies of the array")
    ax.set_xticks(workers)
    ax.set_ylim(bottom=0)
    ax.legend()
    ax.set_title("In a ring nobody sends more than two copies")
    return ax


def draw_apart(apart_by_name, ax=None):
    """Draw how far the losses of several workers are from those of one, step by step, on a log scale.

    Parameters
    ----------
    apart_by_name : dict of str to sequence of float
        Distances, not negative; 0 is drawn at the lower edge.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is none, or one is negative.
    """
    if not apart_by_name or min(np.min(apart) for apart in apart_by_name.values()) < 0:
        raise ValueError("distances, none of them negative, are wanted for one name or more.")
    ax = ax or plt.subplots(figsize=(6.4, 3.4))[1]
    for place, (name, apart) in enumerate(apart_by_name.items()):
        apart = np.maximum(np.asarray(apart, dtype=float), 1e-17)
        steps = np.arange(1, len(apart) + 1)
        look = {"color": PALETTE[place % 5], "marker": MARKERS[place % 5], "markersize": 5, "linestyle": ""}
        ax.plot(steps, apart, **look, label=name)
    ax.set(yscale="log", ylim=(5e-18, 1e-3), xlabel="step", ylabel="distance of the losses")
    ax.set_yticks([1e-17, 1e-13, 1e-9, 1e-5], ["0", "1e-13", "1e-9", "1e-5"])
    ax.minorticks_off()
    ax.legend(ncols=2, loc="upper right")
    ax.set_title("Apart by rounding, and by no more")
    return ax


def draw_messages(sizes, seconds, start, per_byte, ax=None):
    """Draw measured times of messages against their bytes, and the two-number model beside them.

    Parameters
    ----------
    sizes : sequence of float
        Bytes.
    seconds : sequence of float
        Measured, positive.
    start, per_byte : float
        The model: start + per_byte · bytes.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a size has no positive time.
    """
    if len(sizes) != len(seconds) or min(seconds) <= 0:
        raise ValueError(f"each of {len(sizes)} sizes needs a positive time, got {list(seconds)}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.4))[1]
    line = np.geomspace(min(sizes), max(sizes), 50)
    model = {"color": FORWARD, "linestyle": "-", "marker": "", "label": "start + bytes · per byte"}
    ax.plot(line, 1e6 * (start + per_byte * line), **model)
    ax.plot(sizes, 1e6 * np.asarray(seconds), color=TRUTH, marker="o", linestyle="", label="measured")
    ax.set(xscale="log", yscale="log", xlabel="bytes of a message", ylabel="microseconds")
    ends = np.log10([1e6 * min(seconds), 1e6 * max(seconds)])
    powers = 10.0 ** np.arange(np.floor(ends[0] - 0.1), np.ceil(ends[1] + 0.1) + 1)
    ax.set_yticks(powers, [f"{power:g}" for power in powers])
    ax.set_ylim(powers[0], powers[-1])
    ax.minorticks_off()
    ax.legend(loc="upper left")
    ax.set_title("A small message costs its start, a large one its bytes")
    return ax


def draw_costs(workers, seconds_by_part, ax=None):
    """Draw the parts of a step's time against the number of workers, both on log scales, with their sum.

    Parameters
    ----------
    workers : sequence of int
    seconds_by_part : dict of str to sequence of float
        Not negative; 0 is left out.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a part has not one number for each number of workers.
    """
    for part, seconds in seconds_by_part.items():
        if len(seconds) != len(workers):
            raise ValueError(f"{part} has {len(seconds)} times for {len(workers)} numbers of workers.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
    total = np.sum([np.asarray(seconds, dtype=float) for seconds in seconds_by_part.values()], axis=0)
    together = {"color": TRUTH, "linestyle": "-", "linewidth": 2.5, "marker": "", "label": "a step, together"}
    ax.plot(workers, 1000 * total, **together)
    looks = zip((FORWARD, BACKWARD, PALETTE[3], PALETTE[4]), STYLES[1:], MARKERS, strict=False)
    for (part, seconds), (colour, style, marker) in zip(seconds_by_part.items(), looks, strict=False):
        seconds = np.where(np.asarray(seconds, dtype=float) > 0, seconds, np.nan)
        look = {"color": colour, "linestyle": style, "marker": marker, "markevery": 0.12}
        ax.plot(workers, 1000 * seconds, **look, label=part)
    best = int(np.argmin(total))
    ax.plot(workers[best], 1000 * total[best], color=TRUTH, marker="o", linestyle="")
    ax.set(xscale="log", yscale="log", xlabel="workers", ylabel="milliseconds of a step")
    ax.minorticks_off()
    ax.legend(fontsize=8)
    ends = best == len(workers) - 1
    where, how = ("Up to", "faster") if ends else ("Beyond", "slower")
    ax.set_title(f"{where} {workers[best]:g} workers, more of them make it {how}")
    return ax
