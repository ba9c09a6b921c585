"""Figures of chapter 04: two visits of each layer, what a closure sees, three gradients, five memories.

The bytes and errors drawn here come from the chapter.
"""

import inspect
from textwrap import dedent

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.ticker import MaxNLocator

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, INK
from course.figures import Figure
from course.figures.moving import Moving

WRONG = 1e-6  # a relative error above this is not rounding: gradcheck's tolerance
CODE = {"family": ["DejaVu Sans Mono", "monospace"], "fontsize": 8.5}


def two_visits(names, letters):
    """Draw how each layer is visited in the forward and in the backward pass, and what is stored in between.

    Parameters
    ----------
    names : list of str
        The layers in the order of the forward pass; at most three.
    letters : sequence of str
        What passes before, between and after the layers: X first.

    Returns
    -------
    Figure
    """
    count = len(names)
    ax = plt.subplots(figsize=(6.4, 2.9))[1]
    visits = [(place + 1, 2 * count - place) for place in range(count)]
    for place, (name, (first, second)) in enumerate(zip(names, visits, strict=True)):
        x = 2 * place + 1
        station_on(ax, x, 1, f"{name}\nvisit {first}", FORWARD)
        station_on(ax, x, 0, f"{name}\nvisit {second}", BACKWARD)
        arrow_on(ax, (x, 0.75), (x, 0.25), CONTEXT, f"{letters[place]} waits")
    for place, letter in enumerate(letters):
        x = 2 * place
        ax.text(x, 1.1, letter, ha="center", va="bottom")
        ax.text(x, -0.1, f"d{letter}", ha="center", va="top")
        arrow_on(ax, (x - 0.38, 1), (x + 0.38, 1), FORWARD)
        arrow_on(ax, (x + 0.38, 0), (x - 0.38, 0), BACKWARD)
    end = 2 * count + 1
    station_on(ax, end, 0.5, "the loss", CONTEXT, height=1.44)
    ax.set(xlim=(-0.6, end + 0.7), ylim=(-0.4, 1.4))
    ax.set_axis_off()

    there, back = ", ".join(letters), ", ".join(f"d{letter}" for letter in reversed(letters))
    waits = ", ".join(
        f"{letter} from visit {first} to visit {second}"
        for letter, (first, second) in zip(letters, visits, strict=False)
    )
    return Figure(
        ax,
        "Every layer is visited twice, and what it needs is stored in between",
        f"Blue is the forward pass, vermillion the backward pass. Dotted arrows are what waits: {waits}.",
        f"Two lanes. Above, blue arrows carry {there} to the right through {_listed(names)}, to the loss. "
        f"Below, vermillion arrows carry {back} back to the left. A dotted arrow links the two visits of "
        f"each layer, for what waits: {waits}.",
    )


def one_memory_for_two(x):
    """Draw a layer that stands twice in a row and stores its input on itself, before the backward pass.

    Parameters
    ----------
    x : float
        What goes in; the layer squares it.

    Returns
    -------
    Figure
        On a screen it becomes the chain, which can be walked forward and back.
    """
    values = [x, x**2, x**4]
    ax = plt.subplots(figsize=(6.4, 2.5))[1]
    for place, value in enumerate(values):
        ax.text(2 * place, 1.1, f"{value:g}", ha="center", va="bottom")
        arrow_on(ax, (2 * place - 0.38, 1), (2 * place + 0.38, 1), FORWARD)
    for place, value in enumerate(values[:2]):
        station_on(ax, 2 * place + 1, 1, "square", FORWARD)
        arrow_on(ax, (2 * place + 1, 0.75), (1.8 + 0.4 * place, 0.25), CONTEXT)
        note, x_note, side = [("written over", 1.1, "right"), ("still there", 2.9, "left")][place]
        ax.text(x_note, 0.48, f"X = {value:g}, {note}", ha=side, va="center", fontsize=8.5, color=CONTEXT)
    station_on(ax, 2, 0, f"self.X = {values[1]:g}", BACKWARD)
    ax.set(xlim=(-0.6, 4.9), ylim=(-0.35, 1.4))
    ax.set_axis_off()
    return Figure(
        ax,
        "One layer is used in two places",
        "If the layer stores its input on itself, both calls write to one attribute, and both backward "
        "functions read it. On a screen, step forward and back, and then give each call its own closure.",
        f"A blue lane carries {values[0]:g} through square to {values[1]:g}, and through the same square to "
        f"{values[2]:g}. Grey arrows lead from both places to one box, self.X, which holds {values[1]:g}: "
        f"the {values[0]:g} of the first call was written over.",
        Moving("chain", names=["square", "square"], x=x, memory="layer", waits=True),
    )


def environments(functions):
    """Draw closures: by what name each is called, what it sees, and the code that it runs.

    Parameters
    ----------
    functions : dict of str to function
        One to three closures by the names that hold them; each was made inside another function.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 0.9 + 0.75 * len(functions)))[1]
    codes = list(dict.fromkeys(function.__code__ for function in functions.values()))
    kept = {name: _seen(function) for name, function in functions.items()}
    for place, (name, function) in enumerate(functions.items()):
        y, code = -place, codes.index(function.__code__)
        y_code = -(code + 0.5) * len(functions) / len(codes) + 0.5
        _label(ax, 0, y, f"{name} =", ha="left", edgecolor="none")
        _label(ax, 4.3, y, kept[name], edgecolor=FORWARD)
        arrow_on(ax, (2.6, y), (3.55, y), CONTEXT)
        ax.add_patch(
            FancyArrowPatch((5.05, y), (5.8, y_code), arrowstyle="-|>", mutation_scale=12, color=CONTEXT)
        )
        _label(ax, 6.0, y_code, _source(function), ha="left", edgecolor=BACKWARD)
    for x, head, ha in ((0, "name", "left"), (4.3, "what it sees", "center"), (6.0, "code", "left")):
        ax.text(x, 0.62, head, ha=ha, color=CONTEXT, style="italic", fontsize=9)
    ax.set(xlim=(-0.1, 9.6), ylim=(-len(functions) + 0.4, 0.9))
    ax.set_axis_off()

    seen = "; ".join(f"{name} sees {values}" for name, values in kept.items())
    pieces = "the same piece" if len(codes) == 1 else f"{len(codes)} pieces"
    return Figure(
        ax,
        f"The closures run {pieces} of code, and each has a memory of its own",
        "A closure is a pair: code, and the names from the call in which it was made. Each call of the outer "
        "function makes a new pair.",
        f"Rows with an arrow from a name to a box of what its function sees, and on to "
        f"{pieces} of code: {seen}.",
    )


def _seen(function):
    """Return the names that a closure sees and what they hold, as text."""
    pairs = zip(function.__code__.co_freevars, function.__closure__, strict=True)
    return ", ".join(f"{name} = {cell.cell_contents}" for name, cell in pairs)


def _source(function):
    """Return the code of a function, as text; where nobody kept it, its name and what it takes."""
    try:
        return dedent(inspect.getsource(function.__code__)).strip()
    except OSError:
        return f"{function.__name__}{inspect.signature(function)}"


def _label(ax, x, y, text, edgecolor, ha="center"):  # noqa: PLR0913  where it stands, and how it looks
    """Draw a piece of code in a box."""
    box = {"boxstyle": "round,pad=0.5", "facecolor": GROUND, "edgecolor": edgecolor, "linewidth": 1.8}
    text = text.replace("  ", "\u00a0\u00a0")  # careful: an SVG drops spaces at the start of a line
    ax.text(x, y, text, ha=ha, va="center", bbox=box, **CODE)


def three_gradients(batch, n_in, n_out):
    """Draw the shapes of a linear layer's three gradients, and of what they are made of.

    Parameters
    ----------
    batch, n_in, n_out : int
        The sizes, each at most 8: how many rows and columns the boxes have.

    Returns
    -------
    Figure
    """
    sizes = {"batch": batch, "n_in": n_in, "n_out": n_out}
    dY = ("dY", "batch", "n_out", BACKWARD)
    rows = [
        [("dX", "batch", "n_in", BACKWARD), "=", dY, "@", ("Wᵀ", "n_out", "n_in", FORWARD)],
        [("dW", "n_in", "n_out", BACKWARD), "=", ("Xᵀ", "n_in", "batch", FORWARD), "@", dY],
        [("db", None, "n_out", BACKWARD), "=", "sum of\nthe rows of", dY],
    ]
    ax = plt.subplots(figsize=(6.4, 5.0))[1]
    top, right = 0.0, 0.0
    for row in rows:
        height = max(sizes.get(part[1], 1) for part in row if not isinstance(part, str))
        middle, x = top - height / 2, 0.0
        for part in row:
            if isinstance(part, str):
                width = 3.6 if "\n" in part else 1.0
                ax.text(x + width / 2, middle, part, ha="center", va="center", linespacing=1.4)
            else:
                width = sizes[part[2]]
                _draw_matrix(ax, x, middle, sizes, *part)
            x += width + 1.6
        top, right = top - height - 2.0, max(right, x)
    ax.set(xlim=(-1.6, right - 1.2), ylim=(top + 1.6, 1.2), aspect="equal")
    ax.set_axis_off()
    labels = [f"{name} {size}" for name, size in sizes.items()]
    return Figure(
        ax,
        "Each gradient has the shape of what it belongs to",
        "All three are made from the same dY. Where two boxes meet at an @, the sizes that touch are equal, "
        "and they vanish: n_out in dX, the batch in dW. In db the batch vanishes in the sum.",
        f"Boxes drawn to scale, with {', '.join(labels)}. dX, {batch} by {n_in}, is dY, {batch} by {n_out}, "
        f"times W transposed, {n_out} by {n_in}. dW, {n_in} by {n_out}, is X transposed, {n_in} by {batch}, "
        f"times dY. And db, of length {n_out}, is the sum of the {batch} rows of dY.",
    )


def _draw_matrix(ax, x, middle, sizes, name, rows, columns, color):  # noqa: PLR0913  where it stands, and how it looks
    """Draw one array as a grid of its entries, with its name inside and its sizes beside it."""
    height, width = sizes.get(rows, 1), sizes[columns]
    bottom = middle - height / 2
    for row in range(height):
        for column in range(width):
            ax.add_patch(
                Rectangle((x + column, bottom + row), 1, 1, facecolor="none", edgecolor=color, linewidth=0.5)
            )
    ax.add_patch(Rectangle((x, bottom), width, height, facecolor="none", edgecolor=color, linewidth=2))
    box = {"facecolor": GROUND, "edgecolor": "none", "pad": 1.5}
    ax.text(x + width / 2, middle, name, ha="center", va="center", weight="bold", color=color, bbox=box)
    ax.text(x + width / 2, bottom + height + 0.15, columns, ha="center", va="bottom", fontsize=8)
    if rows:
        ax.text(x - 0.15, middle, rows, ha="right", va="center", fontsize=8, rotation=90)


def kept_alive(rows, most=None):
    """Draw what a backward function keeps alive: a bar for each array.

    Parameters
    ----------
    rows : list of course.xray.Row
        Rows that are shared with the model are drawn empty, since they cost nothing extra.
    most : float, optional
        Where the axis ends; a slider needs it to stay.

    Returns
    -------
    Figure
    """
    ax = kept_on(plt.subplots(figsize=(6.4, 1.4 + 0.32 * len(rows)))[1], rows, most)
    bars = "; ".join(
        f"{row.bytes:,} bytes for {row.name} of shape {row.shape}, kept by {row.holder}"
        + ", shared with the model" * row.shared
        for row in rows
    )
    total = sum(row.bytes for row in rows if not row.shared)
    return Figure(
        ax,
        f"{total:,} bytes are stored for the backward pass",
        "Each bar is an array that the backward pass will need, under the name that it has in its layer.",
        f"Bars of memory: {bars}.",
    )


def kept_on(ax, rows, most=None):
    """Draw the bars of `kept_alive` on axes, and return the axes."""
    names = [f"{row.holder}: {row.name} {row.shape}" for row in rows]
    colors = [GROUND if row.shared else BACKWARD for row in rows]
    edges = [CONTEXT if row.shared else BACKWARD for row in rows]
    bars = ax.barh(range(len(rows)), [row.bytes for row in rows], color=colors, edgecolor=edges, height=0.65)
    ax.bar_label(bars, [f"{row.bytes:,}" + ", shared" * row.shared for row in rows], padding=4, color=INK)
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.margins(x=0.3)
    if most is not None:
        ax.set_xlim(0, 1.3 * most)  # room for the number at the end of a bar
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel="memory in bytes", ylabel="kept by")
    return ax


def five_ways(errors, tests):
    """Draw how wrong the gradient is for several ways to remember, on several tests.

    Parameters
    ----------
    errors : dict of str to list of float
        For each way, its relative error on each test, 0 or larger. What is mere rounding has no bar.
    tests : list of str
        What the tests are called.

    Returns
    -------
    Figure
    """
    values = np.array(list(errors.values()), dtype=float)
    ax = plt.subplots(figsize=(6.4, 0.9 + 0.28 * values.size))[1]
    wrong, height = values > WRONG, 0.8 / len(tests)
    for column, test in enumerate(tests):
        places = np.arange(len(values)) + height * (column - (len(tests) - 1) / 2)
        shown = np.where(wrong[:, column], 100 * values[:, column], 0)
        bars = ax.barh(places, shown, color=BACKWARD, edgecolor=GROUND, hatch="//", height=height)
        labels = [f"{test}: {_in_words(value)}" for value in values[:, column]]
        for text, bad in zip(ax.bar_label(bars, labels, padding=4), wrong[:, column], strict=True):
            text.set_color(INK if bad else FORWARD)
    ax.set_yticks(range(len(values)), errors)
    ax.set(xlim=(0, 150 * values.max()), ylim=(len(values) - 0.5, -0.5))
    ax.set(xlabel="error of the gradient, in percent of its largest entry", ylabel="way to remember")

    rows = zip(errors, values, strict=True)
    results = "; ".join(
        f"{way}, " + ", ".join(f"{test} {_in_words(value)}" for test, value in zip(tests, row, strict=True))
        for way, row in rows
    )
    return Figure(
        ax,
        f"{wrong.any(axis=1).sum()} of {len(values)} ways to remember fail",
        "A bar for each way and test: how far the worse of its two gradients is off. "
        "A right gradient agrees with nudging.",
        f"Errors of {len(values)} ways to remember on {len(tests)} tests: {results}.",
    )


def _in_words(error):
    """Return a relative error in words."""
    return f"{error:.0%} wrong" if error > WRONG else "right"


def _listed(names):
    """Return names as a sentence lists them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def station_on(ax, x, y, name, color, height=0.44):  # noqa: PLR0913  where it stands, and how it looks
    """Draw one box of a lane, with a name in it."""
    corners = "round,pad=0,rounding_size=0.08"
    box = FancyBboxPatch(
        (x - 0.58, y - height / 2), 1.16, height, boxstyle=corners, facecolor=GROUND, edgecolor=color
    )
    box.set_linewidth(2)
    ax.add_patch(box)
    ax.text(x, y, name, ha="center", va="center", fontsize=8.5)


def arrow_on(ax, start, end, color, text=""):
    """Draw an arrow; with a remark beside it, it is dotted."""
    style = ":" if text else "-"
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=color, linestyle=style)
    )
    ax.text(start[0] + 0.08, (start[1] + end[1]) / 2, text, va="center", fontsize=8.5, color=CONTEXT)
