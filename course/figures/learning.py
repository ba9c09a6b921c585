"""Figures of chapter 07: a walk in a bowl, losses by epoch, the cliff, a fitted curve, a growing boundary.

Leaves out training: the numbers drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.figures.library import draw_boundary
from course.figures.slopes import walk_on
from course.style import CONTEXT, FORWARD, PALETTE, TRUTH

COLORS = (TRUTH, FORWARD, *PALETTE[3:])  # of models whose final losses are compared


def draw_bowl(curvatures, path, x_range=(-5, 5), y_range=(-2.4, 2.4), ax=None):
    """Draw a bowl with its axes along the two parameters, and a walk in it.

    Parameters
    ----------
    curvatures : (float, float)
        Positive: the loss is half of curvature times square, added up.
    path : array (steps + 1, 2)
        Where the walk stood, from its start on; what lies outside the ranges is not drawn.
    x_range, y_range : (float, float)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a curvature is not positive, or path is not made of rows of two.
    """
    curvatures, path = np.asarray(curvatures, dtype=float), np.asarray(path, dtype=float)
    if not (curvatures > 0).all():
        raise ValueError(f"a bowl bends upwards in both directions, got curvatures {curvatures.tolist()}.")

    def loss(W):
        return 0.5 * float(np.sum(curvatures * W * W))

    ax = ax or plt.subplots()[1]
    path = walk_on(ax, loss, path, x_range, y_range, ("first parameter", "second parameter", "loss"))
    ax.set_title(f"In {len(path) - 1} steps the loss goes from {loss(path[0]):.3g} to {loss(path[-1]):.3g}")
    return ax


def draw_epochs(losses_by_name, level=None, counted="epoch", ax=None):
    """Draw the loss of each epoch, or of each step, for several models, on a logarithmic scale.

    Parameters
    ----------
    losses_by_name : dict of str to sequence of float
        From one to five models; positive losses.
    level : (str, float), optional
        What a loss to compare with is called, and the loss.
    counted : str
        What the losses are counted by.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a loss is not positive.
    """
    for name, losses in losses_by_name.items():
        if not np.min(losses) > 0:
            raise ValueError(f"losses on a logarithmic scale are positive; {name} has {np.min(losses)}.")
    ax = ax or plt.subplots()[1]
    longest = max(map(len, losses_by_name.values()))
    for name, losses in losses_by_name.items():
        ax.plot(np.arange(1, len(losses) + 1), losses, label=name, markevery=max(1, longest // 6))
    if level is not None:
        name, loss = level
        ax.axhline(loss, color=CONTEXT, linestyle="-", linewidth=1)
        ax.annotate(
            name, (longest, loss), xytext=(0, 6), textcoords="offset points", ha="right", color=CONTEXT
        )
    ax.set(xlabel=counted, ylabel="loss", yscale="log")
    ax.legend(loc="best")
    ends = [f"{name} at {losses[-1]:.2g}" for name, losses in losses_by_name.items()]
    ax.set_title(f"After {longest} {counted}s: {', '.join(ends)}")
    return ax


def draw_cliff(rates, losses_by_name, limits, top=10.0, ax=None):
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
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a model has not one loss for each rate.
    """
    rates = np.asarray(rates, dtype=float)
    ax = ax or plt.subplots(figsize=(6.4, 4.0))[1]
    last = max(limits, key=limits.get)
    for index, (name, losses) in enumerate(losses_by_name.items()):
        losses, color, marker = np.asarray(losses, dtype=float), COLORS[index], "os^D"[index]
        if losses.shape[-1] != len(rates):
            raise ValueError(f"{name} has losses of shape {losses.shape} for {len(rates)} learning rates.")
        inside = losses < top  # False for nan
        every = np.broadcast_to(rates, losses.shape)
        ax.plot(
            every[inside], losses[inside], color=color, linestyle="", marker=marker, alpha=0.5, label=name
        )
        edge = np.full((~inside).sum(), top * 0.8**index)  # each model's crosses in a row of their own
        ax.plot(every[~inside], edge, color=color, linestyle="", marker="x", clip_on=False)
        whole = inside.all(axis=0)
        ax.plot(rates[whole], np.median(losses[:, whole], axis=0), color=color, linestyle="-", marker="")
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
    ax.set(xscale="log", yscale="log", xlabel="learning rate", ylabel="final loss (share of the variance)")
    ax.set_ylim(top=top)
    ax.legend(loc="lower left")
    ax.set_title("Too small is slow; too large is a cliff")
    return ax


def draw_fit(X, T, predict, ax=None):
    """Draw points and the curve that was learned from them.

    Parameters
    ----------
    X, T : array (examples, 1)
    predict : function, X (batch, 1) -> Y (batch, 1)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If X has more than one column.
    """
    if X.ndim != 2 or X.shape[1] != 1:
        raise ValueError(f"a curve has one input, so X has one column; got X of shape {X.shape}.")
    ax = ax or plt.subplots()[1]
    across = np.linspace(X.min(), X.max(), 200)[:, None]
    ax.plot(X[:, 0], T[:, 0], color=TRUTH, linestyle="", marker=".", alpha=0.6, label="examples")
    ax.plot(across[:, 0], predict(across)[:, 0], color=FORWARD, linestyle="-", marker="", label="prediction")
    miss = np.sqrt(np.mean((predict(X) - T) ** 2))
    ax.set(xlabel="input", ylabel="output")
    ax.legend(loc="best")
    ax.set_title(f"The curve misses the points by {miss:.2g}, root mean square")
    return ax


def draw_learned(predict, X, T, epoch, loss, ax=None):
    """Draw how a classifier divides the plane after some epochs.

    Parameters
    ----------
    predict, X, T
        As for `course.figures.library.draw_boundary`.
    epoch : int
    loss : float
        At that time.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the points are not in the plane.
    """
    ax = draw_boundary(predict, X, T, ax)
    ax.set_title(f"After {epoch} {'epoch' if epoch == 1 else 'epochs'} the loss is {loss:.3f}")
    return ax
