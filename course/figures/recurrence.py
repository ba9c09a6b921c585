"""Figures of chapter 15: a layer unrolled, one step of an LSTM, how far gradients reach, padded words, bits.

Sizes, slopes and losses come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, GRID, GROUND, INK, PALETTE, TRUTH
from course.figures import Figure

STYLES, MARKERS = ("-", "--", "-.", ":", "-"), ("o", "s", "^", "D", "v")
FLOOR, CEILING = 1e-3, 1e2  # gradients beyond are drawn as thin and as thick as these


def unrolled(sizes, slopes):
    """Draw one layer at every step, with its states going on and gradients coming back.

    Parameters
    ----------
    sizes : array (steps,)
        The length of the gradient that arrives at each state, first step first.
    slopes : array (steps,)
        The mean slope of tanh at each step, from 0 to 1; darker where it is flat.

    Returns
    -------
    Figure
    """
    sizes, slopes = np.asarray(sizes, dtype=float), np.asarray(slopes, dtype=float)
    ax = plt.subplots(figsize=(7.0, 2.6))[1]
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
    return Figure(
        ax,
        f"Of a gradient of {sizes[-1]:.3g}, the first step gets {sizes[0]:.2g}",
        "Blue arrows carry the state forward, vermillion ones the gradient back: the thicker, the larger. "
        "Each box holds the mean slope of tanh at its step, and is darker where tanh is flat.",
        f"One layer drawn {len(sizes)} times in a row. The gradients at its states, first step first: "
        f"{', '.join(f'{size:.2g}' for size in sizes)}. The mean slopes of tanh: "
        f"{', '.join(f'{slope:.2f}' for slope in slopes)}.",
    )


def lstm_step(C, i, f, g, o):
    """Draw what one step of an LSTM does with one entry of its memory, with the numbers on the way.

    Parameters
    ----------
    C : float
        The entry before the step.
    i, f, g, o : float
        The gates from 0 to 1, and the candidate g from -1 to 1.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a gate is not from 0 to 1, or the candidate not from -1 to 1.
    """
    if not (all(0 <= gate <= 1 for gate in (i, f, o)) and -1 <= g <= 1):
        raise ValueError(f"gates lie from 0 to 1, the candidate from -1 to 1; got {i}, {f}, {o} and {g}.")
    C_new = f * C + i * g
    H_new = o * np.tanh(C_new)
    ax = plt.subplots(figsize=(6.8, 4.0))[1]

    def arrow(start, end, colour=FORWARD, line="-"):
        look = {"arrowstyle": "->", "color": colour, "linewidth": 1.4, "linestyle": line}
        ax.annotate("", end, start, arrowprops=look | {"shrinkA": 0, "shrinkB": 0})

    def node(place, sign):
        ax.add_patch(plt.Circle(place, 0.3, facecolor=GROUND, edgecolor=INK, linewidth=1.0, zorder=3))
        ax.text(*place, sign, ha="center", va="center", zorder=4)

    def box(place, words):
        ax.text(*place, words, ha="center", va="center", fontsize=9, zorder=4, linespacing=1.3).set_bbox(
            {"boxstyle": "round,pad=0.35", "facecolor": GROUND, "edgecolor": INK, "linewidth": 1.0}
        )

    keep, add, write, shown = (2.2, 5.0), (5.2, 5.0), (5.2, 3.3), (8.2, 2.4)
    arrow((0.9, 5.0), (1.9, 5.0)), arrow((2.5, 5.0), (4.9, 5.0)), arrow((5.5, 5.0), (10.0, 5.0))
    arrow((write[0], 3.6), (add[0], 4.7))
    for gate, words, end in (
        (2.2, f"f = {f:.2f}", (2.2, 4.7)),
        (4.3, f"i = {i:.2f}", (4.98, 3.09)),
        (6.1, f"g = {g:+.2f}", (5.42, 3.09)),
        (8.2, f"o = {o:.2f}", (8.2, 2.1)),
    ):
        arrow((gate, 1.4), end)
        arrow((gate, 0.0), (gate, 0.65))
        box((gate, 1.05), f"{'tanh' if words[0] == 'g' else 'sigmoid'}\n{words}")
    ax.plot([1.0, 8.2], [0.0, 0.0], color=FORWARD, linewidth=1.4, linestyle="-", marker="")
    arrow((8.2, 5.0), (8.2, 2.7)), arrow((8.5, 2.4), (10.0, 2.4))
    box((8.2, 3.75), "tanh")
    for place, sign in ((keep, "×"), (add, "+"), (write, "×"), (shown, "×")):
        node(place, sign)
    arrow((10.0, 5.65), (0.9, 5.65), BACKWARD, "--")
    ax.text(3.7, 5.75, "back along C: times f, and nothing else", color=BACKWARD, va="bottom", fontsize=9)
    ax.text(0.8, 5.0, f"$C_{{t-1}}$ = {C:.2f}", ha="right", va="center")
    ax.text(10.1, 5.0, f"$C_t$ = {C_new:.2f}", ha="left", va="center")
    ax.text(10.1, 2.4, f"$H_t$ = {H_new:.2f}", ha="left", va="center")
    ax.text(0.9, 0.0, "$X_t$ and $H_{t-1}$", ha="right", va="center")
    ax.text(3.6, 4.85, f"{f * C:.2f}", ha="center", va="top", fontsize=9)
    ax.text(5.35, 4.1, f"{i * g:+.2f}", ha="left", va="center", fontsize=9)
    ax.set(xlim=(-1.3, 11.7), ylim=(-0.4, 6.2), aspect="equal")
    ax.set_axis_off()
    return Figure(
        ax,
        f"The memory keeps {f:.0%} of {C:.2f}, and {i * g:+.2f} is written to it",
        "One step of an LSTM for one entry of its memory. Along the upper line C is only multiplied and "
        "added to; the four boxes are computed from the letter and the state.",
        f"A line leads from the old memory, {C:.2f}, to the new one, {C_new:.2f}. On it stand a product with "
        f"f = {f:.2f} and a sum, to which i times g, {i:.2f} times {g:+.2f}, is led from below. From the new "
        f"memory a branch goes through tanh and a product with o = {o:.2f} to the state, {H_new:.2f}. All "
        "four numbers come from the letter and the old state. A dashed arrow goes back along the line.",
    )


def reach(sizes_by_name, limits, bounds=None):
    """Draw how large a gradient is that comes back over many steps: a line for each name, its median.

    Parameters
    ----------
    sizes_by_name : dict of str to array (seeds, distances)
        Positive; the first column is at distance 0.
    limits : (float, float)
        The ends of the vertical axis, which is logarithmic.
    bounds : dict of str to array (distances,), optional
        For some of the names a second line, dotted and grey: the size without tanh.

    Returns
    -------
    Figure
    """
    tables = {name: np.asarray(table, dtype=float) for name, table in sizes_by_name.items()}
    ax = plt.subplots(figsize=(7.4, 3.8))[1]
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
    order = sorted(range(len(far)), key=lambda place: -far[labels[place]])  # as the lines end
    handles, labels = [handles[place] for place in order], [labels[place] for place in order]
    if bounds:
        handles.append(plt.Line2D([], [], color=CONTEXT, linestyle=":", linewidth=1, marker=""))
        labels.append("limit without tanh")
    ax.legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5))
    written = {name: f"{size:.0f}" if 10 <= size < 1e5 else f"{size:.2g}" for name, size in far.items()}
    least, most = written[min(far, key=far.get)], written[max(far, key=far.get)]
    reached = most if len(far) == 1 else f"between {least} and {most}"
    return Figure(
        ax,
        f"{distances[-1]} steps back, what is left of a gradient of 1 is {reached}",
        "Each line is the median over several layers, and the band around it holds 80% of them."
        + (" The dotted lines are the limits that the scale of U sets." if bounds else ""),
        f"The size of the gradient on a logarithmic axis, against the steps back. After {distances[-1]}: "
        + ", ".join(f"{size} for {name}" for name, size in written.items())
        + ".",
    )


def padded(words, letters):
    """Draw words as rows of letters, and what pads the shorter ones as empty grey cells.

    Parameters
    ----------
    words : list of str
    letters : int
        Columns; no word is longer.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(max(0.5 + 0.42 * letters, 3.0), 1.0 + 0.36 * len(words)))[1]
    for row, word in enumerate(words):
        for column in range(letters):
            real = column < len(word)
            look = {"facecolor": GROUND if real else GRID, "edgecolor": INK, "linewidth": 0.6}
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
    return Figure(
        ax,
        f"Of {len(words) * letters} cells, {padding} are padding",
        "Each row is a word. The grey cells past its end hold rows of zeros.",
        f"Rows of {letters} cells, one for each of {', '.join(words)}; {padding} cells past the ends of "
        "shorter words are grey and empty.",
    )


def bits(learn, validation, baselines):
    """Draw bits per character against epochs, and baselines as horizontal lines.

    Parameters
    ----------
    learn, validation : array (epochs,)
        On the words that are learned from, and on others.
    baselines : dict of str to float

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.6))[1]
    epochs = np.arange(1, len(learn) + 1)
    for name, bits in baselines.items():
        ax.axhline(bits, color=CONTEXT, linestyle="--", linewidth=1)
        ax.text(epochs[-1], bits, f"{name}: {bits:.2f}", ha="right", va="bottom", color=INK, fontsize=9)
    ax.plot(epochs, learn, color=FORWARD, label="words to learn from")
    ax.plot(epochs, validation, color=TRUTH, linestyle="--", marker="s", label="other words")
    ax.set(xlabel="epoch", ylabel="bits per character")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower left")
    best = int(np.argmin(validation))
    return Figure(
        ax,
        f"A letter of an unknown word costs {validation[best]:.2f} bits, in epoch {best + 1}",
        "Lower is better. The gap between the two lines shows the overfitting"
        + ("; the dashed grey lines are the tables." if baselines else "."),
        f"Bits per character in {len(learn)} epochs. Words to learn from: {learn[0]:.2f} to {learn[-1]:.2f}."
        f" Other words: {validation[0]:.2f} to {validation[-1]:.2f}. "
        + " ".join(f"The line of {name} lies at {bits:.2f}." for name, bits in baselines.items()),
    )


def recalled(shares_by_name, guessing, beaten):
    """Draw a share for each run, a row for each name, and how many runs of each beat guessing.

    Parameters
    ----------
    shares_by_name : dict of str to array (runs,)
        From 0 to 1.
    guessing, beaten : float
        The share that guessing gets, and the larger one from which on a run counts as better.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If guessing is not below beaten.
    """
    if guessing >= beaten:
        raise ValueError(f"guessing must be below beaten, got {guessing} and {beaten}.")
    ax = plt.subplots(figsize=(6.4, 1.1 + 0.5 * len(shares_by_name)))[1]
    counts = {}
    for place, (name, shares) in enumerate(shares_by_name.items()):
        shares = np.asarray(shares, dtype=float)
        ax.plot(shares, np.full(shares.size, place), color=FORWARD, marker="o", linestyle="", alpha=0.6)
        counts[name] = f"{(shares > beaten).sum()} of {shares.size}"
        ax.text(1.05, place, counts[name], va="center", color=INK)
    ax.axvline(guessing, color=CONTEXT, linestyle="--", linewidth=1, zorder=0)
    ax.text(guessing, -0.6, "guessing", ha="center", va="bottom", color=INK, fontsize=9)
    ax.set_yticks(range(len(shares_by_name)), list(shares_by_name))
    ax.set(xlim=(-0.03, 1.03), ylim=(len(shares_by_name) - 0.5, -0.6))
    ax.set(xlabel="share recalled", ylabel="layer")
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    return Figure(
        ax,
        "Runs that beat guessing: " + "; ".join(f"{count} ({name})" for name, count in counts.items()),
        f"Each dot is one run. A run beats guessing, which recalls {guessing:.0%}, if it recalls more than "
        f"{beaten:.0%}.",
        # How much a run recalls differs from processor to processor; whether it beats guessing does not.
        "A dot for each run, a row for each layer, and a line at guessing. Beyond it: "
        + "; ".join(f"{name}, {count}" for name, count in counts.items())
        + ".",
    )
