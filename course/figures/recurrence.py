"""Figures of chapter 15: a layer unrolled in time, how far gradients reach, padded words, bits per letter.

Leaves out running the layers: sizes, slopes and losses come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course.style import BACKWARD, CONTEXT, FORWARD, INK, PALETTE, TRUTH

STYLES, MARKERS = ("-", "--", "-.", ":", "-"), ("o", "s", "^", "D", "v")
FLOOR, CEILING = 1e-3, 1e2  # gradients beyond are drawn as thin and as thick as these


def draw_unrolled(sizes, slopes, ax=None):
    """Draw one layer at every step, with its states going on and gradients coming back.

    Parameters
    ----------
    sizes : array (steps,)
        The length of the gradient that arrives at each state, first step first.
    slopes : array (steps,)
        The mean slope of tanh at each step, from 0 to 1; darker where it is flat.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are fewer than two steps, or not a size and a slope from 0 to 1 for each.
    """
    sizes, slopes = np.asarray(sizes, dtype=float), np.asarray(slopes, dtype=float)
    right = sizes.ndim == 1 and sizes.size > 1 and sizes.shape == slopes.shape
    if not right or (sizes < 0).any() or not (0 <= slopes.min() and slopes.max() <= 1):
        raise ValueError(
            "two steps or more are wanted, each with a size and a slope from 0 to 1, got shapes "
            f"{sizes.shape} and {slopes.shape}."
        )
    ax = ax or plt.subplots(figsize=(7.0, 2.6))[1]
    steps = np.arange(1, len(sizes) + 1)
    colours = plt.get_cmap("Greys")(0.65 * (1 - slopes))
    ax.bar(steps, 0.8, bottom=-0.4, width=0.56, color=colours, edgecolor=INK, linewidth=0.8)
    for step, slope, size in zip(steps, slopes, sizes, strict=True):
        ax.text(step, 0, f"{slope:.2f}", ha="center", va="center", fontsize=8, color=INK)
        ax.text(step, -1.15, f"{size:.2g}", ha="center", fontsize=8)
        if step < len(sizes):
            forward = {"arrowstyle": "->", "color": FORWARD, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (step + 0.72, 0.2), (step + 0.28, 0.2), arrowprops=forward)
            part = np.log(np.clip(size, FLOOR, CEILING) / FLOOR) / np.log(CEILING / FLOOR)
            back = forward | {"color": BACKWARD, "linewidth": 0.4 + 6 * part}
            ax.annotate("", (step + 0.28, -0.2), (step + 0.72, -0.2), arrowprops=back)
    ax.set(xlim=(0.5, len(sizes) + 0.5), ylim=(-1.35, 0.6), yticks=[0, -1.1])
    ax.set(xlabel="step", ylabel="at each step")
    ax.set_yticklabels(["slope of tanh", "gradient"])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(left=False)
    ax.spines["left"].set_visible(False)
    ax.set_title(f"Of a gradient of {sizes[-1]:.3g}, the first step gets {sizes[0]:.2g}")
    return ax


def draw_reach(sizes_by_name, limits, bounds=None, ax=None):
    """Draw how large a gradient is that comes back over many steps: a line for each name, its median.

    Parameters
    ----------
    sizes_by_name : dict of str to array (seeds, distances)
        Positive; the first column is at distance 0.
    limits : (float, float)
        The ends of the vertical axis, which is logarithmic.
    bounds : dict of str to array (distances,), optional
        For some of the names a second line, dotted and grey: the size without tanh.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no name or more than five, or sizes are not positive or not of one length.
    """
    tables = {name: np.asarray(table, dtype=float) for name, table in sizes_by_name.items()}
    if not 1 <= len(tables) <= len(PALETTE):
        raise ValueError(f"one to {len(PALETTE)} names are wanted, got {len(tables)}.")
    for name, table in tables.items():
        if table.ndim != 2 or table.shape[1] < 2 or not (table > 0).all():
            raise ValueError(
                f"{name} needs positive sizes of shape (seeds, distances), got shape {table.shape}."
            )
    if len({table.shape[1] for table in tables.values()}) > 1:
        raise ValueError("all names need the same distances.")
    ax = ax or plt.subplots(figsize=(7.4, 3.8))[1]
    far = {}
    for place, (name, table) in enumerate(tables.items()):
        distances, median = np.arange(table.shape[1]), np.median(table, axis=0)
        low, high = np.quantile(table, (0.1, 0.9), axis=0)
        colour = PALETTE[place]
        ax.fill_between(distances, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(
            distances,
            median,
            color=colour,
            linestyle=STYLES[place],
            marker=MARKERS[place],
            markevery=3,
            label=name,
        )
        far[name] = median[-1]
        if bounds and name in bounds:
            ax.plot(distances, bounds[name], color=CONTEXT, linestyle=":", linewidth=1, marker="", zorder=0)
    ax.set(yscale="log", ylim=limits, xlabel="steps back", ylabel="size of the gradient")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(
        range(len(far)), key=lambda place: -far[labels[place]]
    )  # as the lines end, the highest first
    handles, labels = [handles[place] for place in order], [labels[place] for place in order]
    if bounds:
        handles.append(plt.Line2D([], [], color=CONTEXT, linestyle=":", linewidth=1, marker=""))
        labels.append("without tanh")
    ax.legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5))
    least, most = min(far.values()), max(far.values())
    large = f"{most:.0f}" if 10 <= most < 1e5 else f"{most:.2g}"
    reached = large if len(far) == 1 else f"from {least:.2g} to {large}"
    ax.set_title(f"{distances[-1]} steps back: {reached}")
    return ax


def draw_padded(words, letters, ax=None):
    """Draw words as rows of letters, and what pads the shorter ones as empty grey cells.

    Parameters
    ----------
    words : list of str
    letters : int
        Columns; no word is longer.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no word, or one is longer than the row.
    """
    if not words or max(map(len, words)) > letters:
        raise ValueError(f"words of at most {letters} letters are wanted, got {words}.")
    ax = ax or plt.subplots(figsize=(max(0.5 + 0.42 * letters, 3.0), 1.0 + 0.36 * len(words)))[1]
    for row, word in enumerate(words):
        for column in range(letters):
            real = column < len(word)
            look = {"facecolor": "white" if real else "#d9d9d9", "edgecolor": INK, "linewidth": 0.6}
            ax.add_patch(plt.Rectangle((column + 0.5, row - 0.5), 1, 1, **look))
            if real:
                ax.text(column + 1, row, word[column], ha="center", va="center", color=INK)
    padding = len(words) * letters - sum(map(len, words))
    ax.set(xlim=(0.45, letters + 0.55), ylim=(len(words) - 0.45, -0.55), xlabel="step", ylabel="word")
    ax.set_xticks(range(1, letters + 1))
    ax.set_yticks(range(len(words)))
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.set_title(f"{padding} of {len(words) * letters} cells are padding")
    return ax


def draw_bits(learn, validation, baselines, ax=None):
    """Draw bits per character against epochs, and baselines as horizontal lines.

    Parameters
    ----------
    learn, validation : array (epochs,)
        On the words that are learned from, and on others.
    baselines : dict of str to float
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the two are empty or of different lengths.
    """
    if len(learn) != len(validation) or not len(learn):
        raise ValueError(f"a value for each epoch is wanted, got {len(learn)} and {len(validation)}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.6))[1]
    epochs = np.arange(1, len(learn) + 1)
    for name, bits in baselines.items():
        ax.axhline(bits, color=CONTEXT, linestyle="--", linewidth=1)
        ax.text(epochs[-1], bits, f"{name}: {bits:.2f}", ha="right", va="bottom", color=INK, fontsize=9)
    ax.plot(epochs, learn, color=FORWARD, label="words to learn from")
    ax.plot(epochs, validation, color=TRUTH, linestyle="--", marker="s", label="other words")
    ax.set(xlabel="epoch", ylabel="bits per character")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower left")
    ax.set_title(f"Other words: {min(validation):.2f} bits at best, in epoch {np.argmin(validation) + 1}")
    return ax


def draw_recalled(shares_by_name, guessing, beaten, ax=None):
    """Draw a share for each run, a row for each name, and how many runs of each beat guessing.

    Parameters
    ----------
    shares_by_name : dict of str to array (runs,)
        From 0 to 1.
    guessing, beaten : float
        The share that guessing gets, and the larger one from which on a run counts as better.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no name, one is without shares from 0 to 1, or guessing is not below beaten.
    """
    if not shares_by_name or not 0 <= guessing < beaten <= 1:
        raise ValueError(
            f"shares are wanted, and guessing below beaten, got {list(shares_by_name)}, {guessing}, {beaten}."
        )
    ax = ax or plt.subplots(figsize=(6.4, 1.1 + 0.5 * len(shares_by_name)))[1]
    counts = {}
    for place, (name, shares) in enumerate(shares_by_name.items()):
        shares = np.asarray(shares, dtype=float)
        if not shares.size or not (0 <= shares.min() and shares.max() <= 1):
            raise ValueError(f"{name} needs shares from 0 to 1, one for each run.")
        ax.plot(shares, np.full(shares.size, place), color=PALETTE[0], marker="o", linestyle="", alpha=0.6)
        counts[name] = f"{(shares > beaten).sum()} of {shares.size}"
        ax.text(1.05, place, counts[name], va="center", color=INK)
    ax.axvline(guessing, color=CONTEXT, linestyle="--", linewidth=1, zorder=0)
    ax.text(guessing, -0.6, "guessing", ha="center", va="bottom", color=INK, fontsize=9)
    ax.set_yticks(range(len(shares_by_name)), list(shares_by_name))
    ax.set(xlim=(-0.03, 1.03), ylim=(len(shares_by_name) - 0.5, -0.6))
    ax.set(xlabel="share recalled", ylabel="layer")
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_title("Runs that beat guessing: " + ", ".join(counts.values()), pad=18)
    return ax
