"""Figures of Part I: curves, secants, the error of a slope against the nudge, a kink, a descent.

Leaves out computing slopes: the numbers drawn here come from the chapter, or are read off the function drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.style import BACKWARD, CONTEXT, FORWARD, TRUTH

POINTS = 401  # enough for a smooth curve at the size of a page
LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}  # the ground behind words


def _curve(f, x_range, ax):
    """Draw f over a range in blue and return the values, from which the picture takes its height."""
    low, high = x_range
    if not low < high:
        raise ValueError(f"x_range goes from low to high, got {x_range}.")
    xs = np.linspace(low, high, POINTS)
    ys = np.array([f(x) for x in xs], dtype=float)
    ax.plot(xs, ys, color=FORWARD, linestyle="-", marker="")
    height = np.ptp(ys) or 1.0
    ax.set(xlim=(low, high), ylim=(ys.min() - 0.12 * height, ys.max() + 0.12 * height))
    ax.set(xlabel="input x", ylabel="output f(x)")
    return ys


def _number(value):
    """Return a number in four digits, or whole if it is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def draw_secant(
    f, x, h, x_range=None, central=False, true_slope=None, names=("input x", "output f(x)"), unit="", ax=None
):
    """Draw a curve, two points on it, and the line through them.

    Parameters
    ----------
    f : function, float -> float
    x : float
        The point.
    h : float
        The nudge, not 0.
    x_range : (float, float), optional
        What part of the curve is shown; two to each side of x unless given. Give it where the figure moves.
    central : bool
        The points are x - h and x + h, instead of x and x + h.
    true_slope : float, optional
        Draws the tangent too, and says by how much the secant is too steep or too flat.
    names : (str, str)
        What goes in and what comes out, with units.
    unit : str
        In what slopes are measured: ``"euros per percent"``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If h is 0: one point has no secant.
    """
    if h == 0:
        raise ValueError("the nudge h is 0, and a line needs two points; take a small h such as 1e-3.")
    ax = ax or plt.subplots()[1]
    low, high = x_range or (x - 2, x + 2)
    _curve(f, (low, high), ax)
    left, right = (x - h, x + h) if central else (x, x + h)
    slope = (f(right) - f(left)) / (right - left)
    ends = np.array([low, high])
    if true_slope is not None:
        ax.plot(ends, f(x) + true_slope * (ends - x), color=TRUTH, linestyle="-.", marker="", linewidth=1.5)
    ax.plot(ends, f(left) + slope * (ends - left), color=BACKWARD, linestyle="--", marker="")
    ax.plot(
        [left, right, right],
        [f(left), f(left), f(right)],
        color=CONTEXT,
        linestyle="-",
        marker="",
        linewidth=1,
    )
    ax.plot([left, right], [f(left), f(right)], color=BACKWARD, linestyle="", marker="o", markersize=8)
    lines = [f"nudge h = {h:g}", f"secant: slope {_number(slope)} {unit}".rstrip()]
    if true_slope is not None:
        lines += [f"curve: slope {_number(true_slope)}", _excess(slope, true_slope)]
    ax.text(0.03, 0.97, "\n".join(lines), transform=ax.transAxes, va="top", bbox=LABEL, linespacing=1.5)
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_title("The secant's slope is rise over run between two points")
    return ax


def _excess(slope, true_slope):
    """Say by how much a secant is steeper or flatter than the curve."""
    excess = slope - true_slope
    return f"too {'flat' if excess * true_slope < 0 else 'steep'} by {_number(abs(excess))}"


def draw_v(nudges, errors_by_method, ax=None):
    """Draw the error of a slope against the nudge, both on a logarithmic scale.

    Parameters
    ----------
    nudges : array (nudges,)
        Positive.
    errors_by_method : dict of str to array (nudges,)
        Up to five methods; an error of exactly 0 leaves a gap.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a nudge is not positive, or a method has not one error for each nudge.
    """
    nudges = np.asarray(nudges, dtype=float)
    if nudges.min() <= 0:
        raise ValueError(f"nudges on a logarithmic scale are positive, got {nudges.min()}.")
    ax = ax or plt.subplots()[1]
    for index, (name, errors) in enumerate(errors_by_method.items()):
        errors = np.asarray(errors, dtype=float)
        if errors.shape != nudges.shape:
            raise ValueError(f"{name} has errors of shape {errors.shape} for nudges of shape {nudges.shape}.")
        errors = np.where(errors > 0, errors, np.nan)
        ax.plot(nudges, errors, markevery=2)
        _label_right_branch(ax, name, nudges, errors, above=index == 0)
    ax.set(xscale="log", yscale="log", xlabel="nudge h", ylabel="error of the slope")
    ax.set_ylim(bottom=ax.get_ylim()[0] / 30)  # room for two remarks
    for x, side, text in (
        (0.02, "left", "rounding wins"),
        (0.98, "right", "the curve's bend wins"),
    ):
        ax.text(x, 0.03, text, transform=ax.transAxes, ha=side, color=CONTEXT, style="italic")
    ax.set_title("Smaller nudges help, until rounding wins")
    return ax


def _label_right_branch(ax, name, nudges, errors, above):
    """Write a method's name beside the branch where its error grows with the nudge."""
    middle = np.sqrt(nudges[np.nanargmin(errors)] * nudges.max())
    place = np.nanargmin(np.where(np.isnan(errors), np.nan, np.abs(np.log(nudges / middle))))
    offset, ha, va = ((-8, 2), "right", "bottom") if above else ((8, -2), "left", "top")
    ax.annotate(
        name,
        (nudges[place], errors[place]),
        xytext=offset,
        textcoords="offset points",
        ha=ha,
        va=va,
        bbox=LABEL,
    )


def draw_kink(f, x, h, x_range=None, ax=None):
    """Draw a curve with a kink, its two one-sided slopes, and what the central difference makes of them.

    Parameters
    ----------
    f : function, float -> float
    x : float
        Where the kink is.
    h : float
        The nudge of all three differences, positive.
    x_range : (float, float), optional
        What part of the curve is shown; four nudges to each side of x unless given.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If h is not positive.
    """
    if h <= 0:
        raise ValueError(f"left and right are told apart by a positive nudge h, got {h}.")
    ax = ax or plt.subplots()[1]
    low, high = x_range or (x - 4 * h, x + 4 * h)
    _curve(f, (low, high), ax)
    slopes = ((f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h, (f(x + h) - f(x - h)) / (2 * h))
    styles = ((BACKWARD, "--"), (BACKWARD, ":"), (CONTEXT, "-."))
    names = ("slope from the left", "slope from the right", "central difference")
    ends = np.array([low, high])
    for name, slope, (color, linestyle) in zip(names, slopes, styles, strict=True):
        label = f"{name}: {slope:.4g}"
        ax.plot(ends, f(x) + slope * (ends - x), color=color, linestyle=linestyle, marker="", label=label)
    ax.plot([x], [f(x)], color=TRUTH, marker="o", markersize=7)
    ax.legend(loc="best", handlelength=3)
    ax.set_title("At a kink there are two slopes, and any answer between them")
    return ax


def draw_descent(f, path, x_range, y_range, names=("first entry", "second entry", "output f"), ax=None):
    """Draw a function of two numbers from above, and a walk down into it.

    Parameters
    ----------
    f : function, array (2,) -> float
        Nowhere negative: its heights are drawn at squares of equal steps, close together where it is low.
    path : array (steps + 1, 2)
        Where the walk stood, from its start on.
    x_range, y_range : (float, float)
        What part is shown, along the first entry and along the second.
    names : (str, str, str)
        What the two entries and the function's value are, with units.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If path is not made of rows of two.
    """
    path = np.asarray(path, dtype=float)
    if path.ndim != 2 or path.shape[1] != 2:
        raise ValueError(f"path has a row of two numbers for each place of the walk, got shape {path.shape}.")
    ax = ax or plt.subplots()[1]
    xs, ys = np.linspace(*x_range, 101), np.linspace(*y_range, 101)
    heights = np.array([[f(np.array([x, y])) for x in xs] for y in ys])
    low, high = np.sqrt(heights.min()), np.sqrt(heights.max())
    field = ax.contourf(xs, ys, heights, levels=np.linspace(low, high, 13) ** 2)
    ax.figure.colorbar(field, ax=ax, label=names[2], format="%.2g", shrink=0.85)
    ax.plot(*path.T, color="white", linestyle="-", marker="o", markevery=1, markersize=6, linewidth=3.5)
    ax.plot(*path.T, color=BACKWARD, linestyle="-", marker="o", markevery=1, markersize=4)
    for (x, y), text in ((path[0], "start"), (path[-1], f"after {len(path) - 1} steps")):
        ax.annotate(text, (x, y), xytext=(8, 8), textcoords="offset points", bbox=LABEL)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=x_range, ylim=y_range, aspect="equal")
    ax.set_title("Long steps on steep ground, short ones where it is flat")
    return ax
