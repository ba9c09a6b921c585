"""Figures of chapter 07: walks in a bowl, losses by epoch, the cliff, a fitted curve, a growing boundary.

The numbers drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import CONTEXT, FORWARD, GROUND, PALETTE, TRUTH
from course.figures import Figure
from course.figures.chains import regions_on
from course.figures.moving import Moving
from course.figures.slopes import walk_on

COLORS = (TRUTH, FORWARD, *PALETTE[3:])  # of models whose final losses are compared


def bowl(curvatures, path, learning_rate, x_range=(-5, 5), y_range=(-2.4, 2.4)):
    """Draw a bowl with its axes along the two parameters, and a walk in it; on a screen, it can be moved.

    Parameters
    ----------
    curvatures : (float, float)
        Positive: the loss is half of curvature times square, added up.
    path : array (steps + 1, 2)
        Where the walk stood, from its start on; what lies outside the ranges is not drawn.
    learning_rate : float
        Of the walk.
    x_range, y_range : (float, float)

    Returns
    -------
    Figure
    """
    curvatures, path = np.asarray(curvatures, dtype=float), np.asarray(path, dtype=float)

    def loss(W):
        return 0.5 * float(np.sum(curvatures * W * W))

    ax = plt.subplots()[1]
    path = walk_on(ax, loss, path, x_range, y_range, ("first parameter", "second parameter", "loss"))
    steps = _counted(len(path) - 1, "step")
    (low, high), (bottom, top) = x_range, y_range
    inside = (low <= path[:, 0]) & (path[:, 0] <= high) & (bottom <= path[:, 1]) & (path[:, 1] <= top)
    outside = len(path) - int(inside.sum())
    jumps = int(np.sum(path[1:, 1] * path[:-1, 1] < 0))
    changes = f"changes sides {_counted(jumps, 'time')}" if jumps else "never changes sides"
    start, end = (f"({place[0]:g}, {place[1]:g})" for place in path[[0, -1]].round(2) + 0.0)
    beyond = f" {_counted(outside, 'place')} of the walk lie outside the picture." if outside else ""
    return Figure(
        ax,
        "In one bowl, one direction is steep and the other gentle",
        "A bowl, seen from above; dark is low, and each dot is a step. With a learning rate of "
        f"{learning_rate:g}, {steps} from {start} take the loss from {loss(path[0]):.3g} to "
        f"{loss(path[-1]):.3g}.",
        "The loss as a field of colours over the two parameters: long ellipses around (0, 0). A walk of "
        f"{steps} leads from {start} to {end}, and {changes} along the second.{beyond}",
        moving=Moving(
            "valley",
            curvatures=curvatures.tolist(),
            start=path[0].tolist(),
            runners=["plain"],
            rates=[learning_rate],
            step=len(path) - 1,
            steps=len(path) - 1,
            judged=0,
            turns=False,
            range=[0.01, 0.3],
            lowest=-5,
        ),
    )


def rolling(curvature, places_by_name):
    """Draw the places of several walks along one parameter as balls in a bowl, a panel for each walk.

    Parameters
    ----------
    curvature : float
        Positive: the loss is half of it, times the square of the place.
    places_by_name : dict of str to array (steps + 1,)
        Two or more walks, from one start.

    Returns
    -------
    Figure
    """
    reach = 1.12 * max(np.abs(places).max() for places in places_by_name.values())
    line = np.linspace(-reach, reach, 101)
    count = len(places_by_name)
    figure, axes = plt.subplots(1, count, figsize=(max(6.4, 3.1 * count), 3.1), sharey=True)
    told = []
    for ax, color, (name, places) in zip(axes, COLORS, places_by_name.items(), strict=False):
        places = np.asarray(places, dtype=float)
        losses, last = 0.5 * curvature * places**2, len(places) - 1
        ax.plot(line, 0.5 * curvature * line**2, color=CONTEXT, linestyle="-", marker="", linewidth=1.5)
        for step, ball in enumerate(zip(places, losses, strict=True)):
            look = {"marker": "o", "linestyle": "", "markersize": 10}
            ax.plot(*ball, color=GROUND, **look)
            ax.plot(*ball, color=color, **look, alpha=0.3 + 0.7 * step / last)
            if step in (0, last):
                side = 1 if ball[0] < 0 else -1
                words = {"textcoords": "offset points", "ha": "left" if side > 0 else "right"}
                ax.annotate(f"step {step}", ball, (9 * side, 6), **words)
        ax.set(xlabel=f"the parameter\n{name}")
        crossed = np.nonzero(places[1:] * places[:-1] < 0)[0]
        where = f"across the lowest point in step {crossed[0] + 1}" if len(crossed) else "never across"
        ends = f"from {places[0]:.3g} to {places[-1]:.3g}"
        told.append(f"{name}, {ends} in {_counted(last, 'step')}, and {where}")
    axes[0].set_ylabel("loss")
    past = [name for name, places in places_by_name.items() if places[0] * places[-1] < 0]
    rolls = "the ball rolls past the lowest point and up the other side"
    ends = " and ".join(f"{places[-1]:.2f} ({name})" for name, places in places_by_name.items())
    return Figure(
        figure,
        f"{' and '.join(past).capitalize()}, {rolls}" if past else "No ball rolls past the lowest point",
        "A bowl seen from the side. Each ball is the parameter before a step; the later, the stronger the "
        f"colour. The last balls are at {ends}.",
        f"Balls in a bowl seen from the side. {'; '.join(told).capitalize()}.",
    )


def loss_curves(losses_by_name, level=None, counted="epoch"):
    """Draw the loss of each epoch, or of each step, for several models, on a logarithmic scale.

    Parameters
    ----------
    losses_by_name : dict of str to sequence of float
        From one to five models; positive losses.
    level : (str, float), optional
        What a loss to compare with is called, and the loss.
    counted : str
        What the losses are counted by.

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    longest = max(map(len, losses_by_name.values()))
    for name, losses in losses_by_name.items():
        ax.plot(np.arange(1, len(losses) + 1), losses, label=name, markevery=max(1, longest // 6))
    grey = ""
    if level is not None:
        name, loss = level
        ax.axhline(loss, color=CONTEXT, linestyle="-", linewidth=1)
        ax.annotate(
            name, (longest, loss), xytext=(0, 6), textcoords="offset points", ha="right", color=CONTEXT
        )
        grey = f" A grey line marks the {name}, {_short(loss)}."
    ax.set(xlabel=counted, ylabel="loss", yscale="log")
    ax.legend(loc="best")
    length = _counted(longest, counted)
    ends = [f"{name} at {_short(losses[-1])}" for name, losses in losses_by_name.items()]
    lows = [
        f"{name} from {_short(losses[0])} to {_short(losses[-1])}, never below {_short(min(losses))}"
        for name, losses in losses_by_name.items()
    ]
    return Figure(
        ax,
        f"After {length}: {', '.join(ends)}",
        f"The loss of each {counted}. The scale is logarithmic: equal distances are equal factors.{grey}",
        f"Loss over {length} on a logarithmic axis: {'; '.join(lows)}.{grey}",
    )


def cliff(rates, losses_by_name, limits, top=10.0):
    """Draw the final loss against the learning rate, both on a logarithmic scale, one dot for each run.

    Parameters
    ----------
    rates : array (rates,)
        Positive.
    losses_by_name : dict of str to array (seeds, rates)
        Of up to four models. What lies above `top`, also inf and nan, is drawn as crosses at the edge.
    limits : dict of str to float
        For each model, 2 / curvature.
    top : float
        The upper edge.

    Returns
    -------
    Figure
    """
    rates = np.asarray(rates, dtype=float)
    ax = plt.subplots(figsize=(6.4, 4.0))[1]
    last = max(limits, key=limits.get)
    summaries = []
    for index, (name, losses) in enumerate(losses_by_name.items()):
        losses, color, marker = np.asarray(losses, dtype=float), COLORS[index], "os^D"[index]
        inside = losses < top  # False for nan
        every = np.broadcast_to(rates, losses.shape)
        ax.plot(
            every[inside], losses[inside], color=color, linestyle="", marker=marker, alpha=0.5, label=name
        )
        edge = np.full((~inside).sum(), top * 0.8**index)  # each model's crosses in a row of their own
        ax.plot(every[~inside], edge, color=color, linestyle="", marker="x", clip_on=False)
        whole = inside.all(axis=0)
        median = np.median(losses[:, whole], axis=0)
        ax.plot(rates[whole], median, color=color, linestyle="-", marker="")
        ax.axvline(limits[name], color=color, linestyle="--", linewidth=1)
        ax.annotate(
            f"2 / curvature,\n{name}",
            (limits[name], 0.9),
            xycoords=("data", "axes fraction"),
            xytext=(5 if name == last else -5, 0),
            textcoords="offset points",
            ha="left" if name == last else "right",
            va="top",
        )
        start = (
            f"from {median[0]:.2g} at a learning rate of {rates[whole][0]:.2g}" if whole.any() else "no line"
        )
        summaries.append(
            f"{name}, {start}, with 2 / curvature at {limits[name]:.2g} and "
            f"{_counted(int((~inside).sum()), 'run')} above {top:g}"
        )
    ax.set(xscale="log", yscale="log", xlabel="learning rate", ylabel="final loss (share of the variance)")
    ax.set_ylim(top=top)
    ax.legend(loc="lower left")
    return Figure(
        ax,
        "Too small is slow, and too large is a cliff",
        "Each mark is one run. The lines join the medians, as far as all runs stayed in the picture. A cross "
        "at the upper edge is a run that did not: its loss lies above, or overflowed.",
        # Where a line is lowest differs from processor to processor, near the cliff: it is not told.
        f"Final loss over the learning rate, both on logarithmic scales, for {len(summaries)} models: "
        f"{'; '.join(summaries)}.",
    )


def fitted(X, T, predict):
    """Draw points and the curve that was learned from them.

    Parameters
    ----------
    X, T : array (examples, 1)
    predict : function, X (batch, 1) -> Y (batch, 1)

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    across = np.linspace(X.min(), X.max(), 200)[:, None]
    curve = predict(across)[:, 0]
    ax.plot(X[:, 0], T[:, 0], color=TRUTH, linestyle="", marker=".", alpha=0.6, label="examples")
    ax.plot(across[:, 0], curve, color=FORWARD, linestyle="-", marker="", label="prediction")
    miss = np.sqrt(np.mean((predict(X) - T) ** 2))
    ax.set(xlabel="input", ylabel="output")
    ax.legend(loc="best")
    return Figure(
        ax,
        f"The curve misses the points by {miss:.2g}, root mean square",
        "Each dot is an example; the blue line is what the network answers in between.",
        f"{len(X)} points over inputs from {X.min():.2g} to {X.max():.2g}, and a smooth curve among them. It "
        f"is lowest, {curve.min():.2g}, at {across[curve.argmin(), 0]:.2g} and highest, {curve.max():.2g}, "
        f"at {across[curve.argmax(), 0]:.2g}.",
    )


def border(predict, X, T, epoch, loss):
    """Draw how a classifier divides the plane after some epochs.

    Parameters
    ----------
    predict, X, T
        As for `course.figures.chains.regions`.
    epoch : int
    loss : float
        At that time.

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
    right = int(np.sum(predict(X).argmax(axis=1) == T))
    areas = ", ".join(f"class {name} on {share:.0%}" for name, share in enumerate(shares))
    return Figure(
        ax,
        f"After {_counted(epoch, 'epoch')} the loss is {loss:.3f}",
        f"The colour is the class that the network answers at a place. {right} of {len(X)} points lie in the "
        "region of their class.",
        f"The plane of the two inputs after {_counted(epoch, 'epoch')}, coloured by the class that is "
        f"answered there: {areas} of it. {right} of {len(X)} points lie on their own colour.",
    )


def _short(number):
    """Return a number with two digits that count: 0.014, 210, 1,200,000; as a power of ten far from 1."""
    return f"{number:.2g}" if not 1e-4 <= abs(number) < 1e9 else f"{float(f'{number:.2g}'):,.15g}"


def _counted(number, thing):
    """Return a number of things in words: 1 step, 20 steps."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
