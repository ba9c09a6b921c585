"""Figures of chapter 05: a pass along its lanes, activations, sizes through many layers, a plane in regions.

The arrays, slopes and sizes drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, PALETTE
from course.figures import Figure, make_bitmap
from course.figures.closures import arrow_on, station_on

LINES = tuple(zip(("-", "--", ":", "-.", "-"), "os^Dv", strict=True))  # a style and a marker for each network


def lanes(names, there, back, newest=None):
    """Draw a pass through layers in a row, with its numbers: forward in blue above, backward below.

    Parameters
    ----------
    names : list of str
        The layers in the order of the forward pass; at most four.
    there : dict of str to array
        What passed before, between and after the layers in the forward pass, by its letter: X first, Y last.
    back : dict of str to array
        The gradients of these, in the same order.
    newest : str, optional
        The array up to which the pass has come; to its end unless given. The picture has the same layout at
        every moment.

    Returns
    -------
    Figure
    """
    last = len(names)
    order = [*there, *reversed(back)]
    moment = len(order) if newest is None else 1 + order.index(newest)
    ax = plt.subplots(figsize=(6.4, 3.0))[1]
    waiting = 0
    for place, name in enumerate(names):
        x, born, called = 2 * place + 1, moment >= place + 2, moment >= 2 * last + 2 - place
        state = "was called" if called else "waits" if born else "not made yet"
        waiting += state == "waits"
        station_on(ax, x, 1, name, FORWARD if born else CONTEXT)
        station_on(ax, x, 0, f"backward$_{place + 1}$\n{state}", BACKWARD if born else CONTEXT)
        if born:
            arrow_on(ax, (x, 0.75), (x, 0.25), CONTEXT, "remembers")
    for place, (letter, array) in enumerate(there.items()):
        if moment > place:
            arrow_on(ax, (2 * place - 0.38, 1), (2 * place + 0.38, 1), FORWARD)
            ax.text(2 * place, 1.3, _letter_and_numbers(letter, array), ha="center", va="bottom")
    for place, (letter, array) in enumerate(reversed(back.items())):
        if moment > last + 1 + place:
            x = 2 * (last - place)
            arrow_on(ax, (x + 0.38, 0), (x - 0.38, 0), BACKWARD)
            ax.text(x, -0.3, _letter_and_numbers(letter, array), ha="center", va="top")
    ax.set(xlim=(-0.7, 2 * last + 0.7), ylim=(-0.8, 1.8))
    ax.set_axis_off()

    way = "Both passes done" if moment > 2 * last + 1 else "Backward pass"
    way = way if moment > last + 1 else "Forward pass"
    passed = list(({**there, **back}[letter], letter) for letter in order[:moment])
    numbers = "; ".join(_letter_and_numbers(letter, array).replace("\n", " ") for array, letter in passed)
    return Figure(
        ax,
        f"{way}: {waiting} of {last} backward functions wait to be called",
        "The upper row is the forward pass. The lower row is the backward pass, with each gradient below its "
        "array. A dotted arrow leads from a layer that has run to its backward function, which keeps "
        "what it will need.",
        f"Two lanes through {', '.join(names)}. The pass has come to {order[moment - 1]}. So far: {numbers}. "
        f"Of {last} backward functions, {waiting} wait to be called.",
    )


def _letter_and_numbers(letter, array):
    """Return a letter, and below it the numbers of an array, an example per line."""
    rows = np.atleast_2d(array)
    return "\n".join([letter, *(", ".join(f"{number:.3g}" for number in row) for row in rows)])


def bends(X, curves):
    """Draw activation functions, and beside each the slope that its backward returns for dY = 1.

    Parameters
    ----------
    X : array (points,)
        In ascending order.
    curves : dict of str to (array (points,), array (points,))
        Value and slope by the name of the function; at most five.

    Returns
    -------
    Figure
    """
    X = np.asarray(X)
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.0))
    for column, (ax, what) in enumerate(zip(axes, ("value Y", "slope of Y along X"), strict=True)):
        ax.axhline(0, color=CONTEXT, linewidth=0.8, linestyle="-", marker="")
        for name, curve in curves.items():
            ax.plot(X, curve[column], marker="", label=name)
        ax.set(xlabel="input X", ylabel=what)
    axes[0].legend(loc="upper left")
    words = "; ".join(
        f"{name} goes from {Y[0]:.2g} to {Y[-1]:.2g}, and its highest slope is {slopes.max():.2g}"
        for name, (Y, slopes) in curves.items()
    )
    return Figure(
        figure,
        f"What comes out of {', '.join(curves)}, and how steep it is",
        "Left, the values; right, the slopes, which are what comes back for a dY of ones.",
        f"Two panels over inputs from {X[0]:.2g} to {X[-1]:.2g}, the values and their slopes: {words}.",
    )


def depth(norms):
    """Draw the size of what passes between the layers of deep networks, forward and backward.

    Parameters
    ----------
    norms : dict of str to (array (layers + 1,), array (layers + 1,))
        For each network its norms in the forward and in the backward pass, both listed from the input
        of the network to its output; at most five networks of equal depth.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
    values = sizes_on(axes, norms)
    ends = "; ".join(
        f"{name}, {there[-1]:.2g} at the end of the forward pass and {back[0]:.2g} at the end of the backward"
        for name, (there, back) in zip(norms, values, strict=True)
    )
    return Figure(
        figure,
        f"What becomes of a signal, and of its gradient, in {values.shape[-1] - 1} layers",
        "Left, the forward pass, from left to right. Right, the backward pass, from right to left. "
        "The scale is logarithmic, so a straight line is the same loss, or gain, in every layer.",
        f"Two panels of sizes on a logarithmic scale, forward in blue and backward in vermillion: {ends}.",
    )


def sizes_on(axes, norms):
    """Draw the lines of `depth` on two axes, and return the norms, (networks, 2, layers + 1)."""
    values = np.array([[*ways] for ways in norms.values()], dtype=float)
    for column, (ax, color) in enumerate(zip(axes, (FORWARD, BACKWARD), strict=True)):
        for name, ways, (linestyle, marker) in zip(norms, values, LINES, strict=False):
            ax.plot(ways[column], color=color, linestyle=linestyle, marker=marker, markevery=4, label=name)
        ax.set_yscale("log")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        ax.set_xlabel(("layers passed forward →", "← layers still to pass backward")[column])
    axes[0].set_ylabel("size, compared with the start")
    axes[0].legend(loc="lower left")
    return values


def regions(predict, X, T):
    """Draw where a classifier of points in the plane changes its mind.

    Parameters
    ----------
    predict : function, X (batch, 2) -> Y (batch, n_classes) or (batch, 1)
        The largest entry of a row is the class; a single entry says class 1 where it is positive.
    X : array (examples, 2)
    T : array of integers (examples,) or (examples, 1)
        Classes, at most five.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there are more than five classes.
    """
    ax = plt.subplots(figsize=(5.4, 3.8))[1]
    shares = regions_on(ax, predict, X, T)
    right = int(np.sum(_classes(predict(np.asarray(X))) == np.asarray(T).ravel()))
    words = ", ".join(f"class {name} on {share:.0%}" for name, share in enumerate(shares))
    return Figure(
        ax,
        f"{right} of {len(X)} points lie in the region of their class",
        "The colour is the class that the network answers at a place; the marker is the class of a point.",
        f"The plane of the two inputs, coloured by the class that is answered there: {words} of it. On it "
        f"lie {len(X)} points of {len(shares)} classes, {right} of them in the region of their class.",
    )


def regions_on(ax, predict, X, T):
    """Draw the plane of `regions` on axes, and return the share of it that each class has."""
    X, T = np.asarray(X), np.asarray(T).ravel().astype(int)
    margin = 0.1 * np.ptp(X, axis=0)
    (left, bottom), (right, top) = X.min(axis=0) - margin, X.max(axis=0) + margin
    across, up = np.meshgrid(np.linspace(left, right, 200), np.linspace(bottom, top, 200))
    Y = predict(np.column_stack([across.ravel(), up.ravel()]))
    n_classes = max(Y.shape[1], 2)
    if n_classes > len(PALETTE):
        raise ValueError(f"the palette has {len(PALETTE)} colours, got {n_classes} classes.")
    classes = _classes(Y)
    levels = np.arange(n_classes + 1) - 0.5
    field = ax.contourf(
        across, up, classes.reshape(across.shape), levels, colors=PALETTE[:n_classes], alpha=0.18
    )
    make_bitmap(field)
    look = {"s": 22 if len(X) > 20 else 70, "edgecolor": GROUND}  # a few points may be large
    for name, color, marker in zip(range(n_classes), PALETTE, "os^Dv", strict=False):
        ax.scatter(*X[T == name].T, color=color, marker=marker, label=f"class {name}", **look)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.set(xlabel="first input", ylabel="second input")
    return np.bincount(classes, minlength=n_classes) / len(classes)


def _classes(Y):
    """Return the class that each row of a network's answers says."""
    return Y.argmax(axis=1) if Y.shape[1] > 1 else (Y[:, 0] > 0).astype(int)
