"""Figures of chapter 17: the lessons in a name, a block, a whole GPT, learning, likely letters, a name, sums.

Texts, probabilities, weights and shares come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from course.colours import CONTEXT, FIELD, FORWARD, ON_COLOUR, ON_PALE, PALETTE, TRUTH
from course.figures import Figure
from course.figures.moving import Moving

MONO = {"family": "monospace", "fontsize": 8.5}
SURE = 0.9  # the probability above which a letter is called clear
ROUNDING = 1e-6  # a smaller difference between two outputs is none


def lessons(name, end="end"):
    """Draw a name as the examples that it holds: what is read, in blue, and the target behind it, framed.

    Parameters
    ----------
    name : str
        Two letters or more.
    end : str
        What stands for the character in front of a name and behind it.

    Returns
    -------
    Figure
    """
    text = [end, *name, end]
    steps = len(text) - 1
    ax = plt.subplots(figsize=(max(0.72 * len(text) + 1.2, 6.2), 0.4 * len(text) + 0.4))[1]
    for row in range(steps):
        for column, character in enumerate(text[: row + 2]):
            is_target = column == row + 1
            if not is_target:
                ax.add_patch(_cell(column, row, facecolor=FORWARD, alpha=0.2, linewidth=0))
            else:
                ax.add_patch(_cell(column, row, facecolor="none", edgecolor=TRUTH, linewidth=1.2))
            weight, size = "bold" if is_target else "normal", 8 if character == end else 11
            place = column + 0.47, row + 0.46
            ax.text(*place, character, ha="center", va="center", weight=weight, fontsize=size)
    ax.set(xlim=(-0.1, len(text) + 0.1), ylim=(steps + 0.1, -0.1), xticks=[])
    ax.set(xlabel="what stands in the text, character by character", ylabel="step")
    ax.set_yticks([row + 0.46 for row in range(steps)], range(steps))
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    return Figure(
        ax,
        f"{name} is {steps} examples at once",
        "Each row is one example: what has been read, in blue, and the character that comes next, framed.",
        f"A staircase of {steps} rows. Row by row one more character of {name} has been read, and the one "
        f"that follows is framed: {', '.join(text[1:])}.",
    )


def _cell(x, y, **looks):
    """Return a cell of a table that leaves a gap to its neighbours."""
    return Rectangle((x, y), 0.94, 0.88, **looks)


def block(width):
    """Draw a transformer block: a straight way through, and two detours that are added to it.

    Parameters
    ----------
    width : int
        How many numbers a step has.

    Returns
    -------
    Figure
    """
    detours = [
        ("look around", ["LayerNorm", "attention"]),
        (
            "think it over",
            ["LayerNorm", f"Linear\n{width} → {4 * width}", "GELU", f"Linear\n{4 * width} → {width}"],
        ),
    ]
    ax = plt.subplots(figsize=(6.8, 2.1))[1]
    x = 0.6
    ax.text(0, 0, "X", ha="center", va="center", fontsize=12)
    for words, boxes in detours:
        start = x
        x += 0.3
        ends = [start]
        for box in boxes:
            face = Rectangle((x, -1.45), 1.25, 0.8, facecolor=FORWARD, alpha=0.18, linewidth=0)
            ax.add_patch(face)
            ax.text(x + 0.625, -1.05, box, ha="center", va="center", fontsize=8)
            _arrow(ax, [(ends[-1], -1.05), (x, -1.05)])
            x += 1.25
            ends.append(x)
            x += 0.3
        ax.plot([start, start], [0, -1.05], color=FORWARD, linestyle="-", marker="", linewidth=1.4)
        ax.plot([ends[-1], x], [-1.05, -1.05], color=FORWARD, linestyle="-", marker="", linewidth=1.4)
        _arrow(ax, [(x, -1.05), (x, -0.17)])
        _arrow(ax, [(start - 0.35, 0), (x - 0.17, 0)])
        ax.text(x, 0, "+", ha="center", va="center", fontsize=12)
        ax.text((start + x) / 2, 0.16, words, ha="center", va="bottom", color=CONTEXT, style="italic")
        x += 0.55
    _arrow(ax, [(x - 0.38, 0), (x - 0.05, 0)])
    ax.text(x + 0.12, 0, "Y", ha="center", va="center", fontsize=12)
    ax.set(xlim=(-0.25, x + 0.35), ylim=(-1.6, 0.6))
    ax.set_axis_off()
    holds = [f"{words}: {', '.join(boxes)}".replace("\n", " ") for words, boxes in detours]
    return Figure(
        ax,
        "A block is a straight way through, with two detours added to it",
        f"Rows of {width} numbers come in and go out. Only attention carries anything from step to step; all "
        "other boxes work at each step alone.",
        "A straight line leads from X to Y. Two branches leave it and come back to it where they are added. "
        f"They hold, {'; '.join(holds)}.",
    )


def _arrow(ax, ends):
    """Draw an arrow from one place to another."""
    looks = {"arrowstyle": "-|>", "color": FORWARD, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", ends[1], ends[0], arrowprops=looks | {"mutation_scale": 9})


def whole(model, characters, X):
    """Draw a GPT from characters to logits: a lane for each step, and the shapes between the layers.

    Parameters
    ----------
    model : Sequential
        Its first layer takes tokens.
    characters : sequence of str (steps + 1,)
        What is read, and the target of the last step.
    X : array of integers (1, steps)
        The tokens of what is read.

    Returns
    -------
    Figure
        Inside a layer, lines join the steps of its input to those steps of its output that depend on them.
    """
    X = np.asarray(X)
    steps = X.shape[-1]
    ax = plt.subplots(figsize=(0.31 * (steps + 4.4), 1.3 + 0.55 * len(model.layers)))[1]
    shapes, mixing, y = [X.shape], {}, 0.5
    for layer in model.layers:
        links, name = _links(layer, X), type(layer).__name__
        mixes = any(start != end for start, end in links)
        height = 1.5 if mixes else 0.5
        _lanes(ax, y, steps, f"{X.shape}" + ": tokens" * (y == 0.5))
        y += 0.5
        ax.add_patch(Rectangle((0, y), steps, height, facecolor=FORWARD, alpha=0.18, linewidth=0))
        if mixes:
            mixing[name] = len(links)
            for start, end in links:
                ends = [start + 0.5, end + 0.5], [y, y + height - 0.45]
                ax.plot(*ends, color=FORWARD, linewidth=0.8, linestyle="-", marker="")
        ax.text(steps / 2, y + height - 0.25, name, ha="center", va="center", fontsize=9)
        y += height
        X = layer.predict(X)
        shapes.append(X.shape)
    _lanes(ax, y, steps, f"{X.shape}: logits")
    y += 0.5
    for row, words, looks in (
        (0, characters[:-1], {"facecolor": FORWARD, "alpha": 0.2, "linewidth": 0}),
        (y, characters[1:], {"facecolor": "none", "edgecolor": TRUTH, "linewidth": 1.2}),
    ):
        for column, word in enumerate(words):
            ax.add_patch(Rectangle((column + 0.08, row), 0.84, 0.5, **looks))
            size = 10 if len(word) == 1 else 8
            ax.text(column + 0.5, row + 0.26, word, ha="center", va="center", fontsize=size)
        ax.text(steps + 0.2, row + 0.25, ("targets" if row else "characters"), va="center", fontsize=9)
    ax.set(xlim=(-0.1, steps + 4.3), ylim=(y + 0.6, -0.1))
    ax.set_axis_off()
    meet = " and ".join(mixing)
    lines = "; ".join(f"in each {name}, {count} lines" for name, count in mixing.items())
    layers = ", ".join(type(layer).__name__ for layer in model.layers)
    return Figure(
        ax,
        f"{steps} characters become {steps} rows of logits",
        "Each step has a lane of its own, and predicts the framed character at its end. The shapes are those "
        "of the arrays between the layers."
        + (
            f" The lanes meet only in {meet}, where lines lead from a step to all that depend on it."
            * bool(meet)
        ),
        f"{steps} lanes lead from the characters {', '.join(characters[:-1])} down through {layers}, to the "
        f"targets {', '.join(characters[1:])}. The shapes on the way are {', '.join(map(str, shapes))}. "
        f"Lines that join steps: {lines or 'none'}.",
    )


def _links(layer, X):
    """Find which steps of a layer's output change when a step of its input is cleared."""
    Y, links = layer.predict(X), []
    for start in range(X.shape[1]):
        cleared = X.copy()
        cleared[:, start] = X[:, start] == 0
        differs = np.abs(layer.predict(cleared) - Y).max(axis=(0, 2)) > ROUNDING
        links += [(start, int(end)) for end in np.nonzero(differs)[0]]
    return links


def _lanes(ax, y, steps, shape):
    """Draw an arrow down for each step, and beside them the shape of the array."""
    for step in range(steps):
        _arrow(ax, [(step + 0.5, y), (step + 0.5, y + 0.5)])
    ax.text(steps + 0.2, y + 0.25, shape, va="center", fontsize=9)


def likely_next(characters, probabilities_by_name, prompt):
    """Draw how likely characters are to come next, a panel for each way to ask.

    Parameters
    ----------
    characters : sequence of str
        Those to draw, in the order of the bars.
    probabilities_by_name : dict of str to array (characters,)
        From 0 to 1.
    prompt : str
        What has been read.

    Returns
    -------
    Figure
    """
    count = len(probabilities_by_name)
    size = (max(0.8 + 2.2 * count, 4.6), 2.4)
    figure, axes = plt.subplots(1, count, figsize=size, layout="compressed", sharey=True, squeeze=False)
    tops = {}
    for ax, (name, probabilities) in zip(axes[0], probabilities_by_name.items(), strict=True):
        ax.bar(range(len(characters)), probabilities, color=FORWARD, width=0.75)
        ax.set_xticks(range(len(characters)), characters, fontsize=8)
        ax.tick_params(axis="x", length=0)
        ax.set_xlabel(name)
        place, top = int(np.argmax(probabilities)), float(np.max(probabilities))
        tops[name] = f"{characters[place]} with {top:.2f}"
        ax.annotate(f"{top:.2f}", (place, top), ha="center", va="bottom", fontsize=8)
    axes[0][0].set(ylabel="probability", ylim=(0, 1.08))
    return Figure(
        figure,
        f"Which letter comes after “{prompt}”?",
        f"The {len(characters)} likeliest letters; the number stands on the likeliest.",
        f"Bars for the letters {', '.join(characters)}. The likeliest: "
        f"{'; '.join(f'{name}, {top}' for name, top in tops.items())}.",
    )


def letter_by_letter(name, probabilities):
    """Draw how likely each letter of a name was to a model that had read those before it.

    On a screen, the tiny GPT of chapter 17 takes the drawing's place and writes.

    Parameters
    ----------
    name : str
    probabilities : array (letters,)
        Of each letter of the name, from 0 to 1.

    Returns
    -------
    Figure
    """
    probabilities = np.asarray(probabilities, dtype=float)
    ax = plt.subplots(figsize=(6.8, 2.3))[1]
    ax.bar(range(len(name)), probabilities, color=FORWARD, width=0.75)
    ax.set_xticks(range(len(name)), list(name.replace(" ", "␣")), **MONO)
    ax.tick_params(axis="x", length=0)
    ax.set(ylim=(0, 1.05), ylabel="probability", xlabel="a name, letter by letter")
    sure = int((probabilities > SURE).sum())
    spoken = ["the space" if letter == " " else letter for letter in name]
    doubts = [f"{spoken[place]} with {probabilities[place]:.2f}" for place in np.argsort(probabilities)[:3]]
    return Figure(
        ax,
        "How likely each letter of a name is, given those before it",
        f"Of the {len(name)} letters of {name}, {sure} were clear from those before them: more than "
        f"{SURE:.0%}. On a screen, you type a beginning and the model writes the rest.",
        f"Bars over the letters of {name}. {sure} of {len(name)} letters had a probability above {SURE:.0%}. "
        f"The least likely: {', '.join(doubts)}.",
        moving=Moving("gpt"),
    )


def learning(updates, bits_by_name, tables):
    """Draw bits per character against the updates, and tables as lines.

    Parameters
    ----------
    updates : array (times,)
    bits_by_name : dict of str to array (times,)
        One or two: on which names.
    tables : dict of str to float
        Bits of what the model is compared with.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.8, 3.2))[1]
    looks = ((FORWARD, "-", "o"), (PALETTE[4], "--", "s"))
    for (name, bits), (colour, style, marker) in zip(bits_by_name.items(), looks, strict=False):
        ax.plot(updates, bits, color=colour, linestyle=style, marker=marker, label=name)
    for name, height in tables.items():
        ax.axhline(height, color=CONTEXT, linestyle="--", linewidth=1)
        ax.annotate(
            name, (1, height), (4, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=8.5
        )
    most = max(max(bits) for bits in [*bits_by_name.values(), [*tables.values(), 0.0]])
    ax.set(xlabel="updates", ylabel="bits per character", ylim=(0, most * 1.08))
    ax.legend(loc="upper right")
    first, bits = next(iter(bits_by_name.items()))
    beaten = [name for name, height in tables.items() if height > bits[-1]]
    courses = "; ".join(f"{name}: {bits[0]:.2f}, then {bits[-1]:.2f}" for name, bits in bits_by_name.items())
    return Figure(
        ax,
        f"On {first}, the model ends below {len(beaten)} of {len(tables)} tables",
        "Lower is better. The dashed grey lines are the tables.",
        f"Bits per character against the updates, {updates[0]} to {updates[-1]}: {courses}. Lines for "
        f"{', '.join(f'the {name} at {height:.2f}' for name, height in tables.items())}.",
    )


def orders(updates, shares_by_order):
    """Draw the share of right sums against the updates, a line for each run, a look for each order.

    Parameters
    ----------
    updates : array (times,)
    shares_by_order : dict of str to array (runs, times)
        From 0 to 1; three orders at most.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.2))[1]
    looks = ((FORWARD, "-", "o"), (PALETTE[4], "--", "s"), (PALETTE[3], ":", "^"))
    for (order, shares), (colour, style, marker) in zip(shares_by_order.items(), looks, strict=False):
        for run, share in enumerate(shares):
            label = None if run else order
            ax.plot(updates, share, color=colour, linestyle=style, marker=marker, markersize=4, label=label)
    ax.set(ylim=(-0.03, 1.05), xlabel="updates", ylabel="held-out sums that are right")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(title="result written", loc="lower right")
    half = {order: _time_of_half(updates, shares) for order, shares in shares_by_order.items()}
    ends = {order: np.asarray(shares)[:, -1] for order, shares in shares_by_order.items()}
    return Figure(
        ax,
        "Half of the sums are right after "
        + ", ".join(f"{times} updates ({order})" for order, times in half.items()),
        "Each line is one run on sums that it has not learned from.",
        "The share of right sums against the updates. "
        + " ".join(
            f"Written {order}: {len(shares)} runs, half right after {half[order]}, at the end from "
            f"{shares.min():.1%} to {shares.max():.1%}."
            for order, shares in ends.items()
        ),
    )


def _time_of_half(updates, shares):
    """Return in words when the runs first had half of the sums right."""
    shares = np.asarray(shares)
    times = [int(np.asarray(updates)[run >= 0.5][0]) for run in shares if run.max() >= 0.5]
    if not times:
        return "never"
    return f"{min(times)}" if min(times) == max(times) else f"{min(times)} to {max(times)}"


def columns(weights, looking, seen):
    """Draw how much some steps look at each step, as a table with its numbers.

    Parameters
    ----------
    weights : array (looking, seen)
        From 0 to 1.
    looking, seen : sequence of str
        What the steps are called.

    Returns
    -------
    Figure
    """
    weights = np.asarray(weights, dtype=float)
    ax = plt.subplots(figsize=(max(1.9 + 0.66 * len(seen), 5.0), 1.1 + 0.52 * len(looking)))[1]
    ax.imshow(weights, cmap=FIELD, vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(weights.shape):
        colour = ON_PALE if weights[row, column] > 0.6 else ON_COLOUR
        number = f"{weights[row, column]:.2f}"
        ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=8)
    ax.set_xticks(range(len(seen)), seen, fontsize=8)
    ax.set_yticks(range(len(looking)), looking, fontsize=8)
    ax.set(xlabel="step that is looked at", ylabel="step that writes")
    aims = [seen[place].replace("\n", " ") for place in weights.argmax(axis=1)]
    pairs = [f"The {name} look most at the {aim}." for name, aim in zip(looking, aims, strict=True)]
    return Figure(
        ax,
        f"The {looking[0]} look most at the {aims[0]}",
        "A row for each step that writes a digit; its weights sum to 1.",
        f"A table of weights from 0 to 1. {' '.join(pairs)}",
    )
