"""Figures of chapter 01: a secant, errors against the nudge, a kink, routes that add up, a descent.

The numbers drawn here come from the chapter, or are read off the function drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import BACKWARD, CONTEXT, FORWARD, GROUND, ON_COLOUR, TRUTH
from course.figures import Figure, make_bitmap
from course.figures.moving import Moving

POINTS = 401  # enough for a smooth curve at the size of a page
LABEL = {"facecolor": GROUND, "edgecolor": "none", "alpha": 0.85, "pad": 2}  # the ground behind words
COUNTED = {2: "twice", 3: "three times", 4: "four times"}


def secant(  # noqa: PLR0913  three numbers make the picture; the rest are its words
    f, x, h, x_range=None, true_slope=None, names=("input x", "output f(x)"), unit=""
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
    true_slope : float, optional
        Draws the tangent too, and says by how much the secant is too steep or too flat.
    names : (str, str)
        What goes in and what comes out, with units.
    unit : str
        In what slopes are measured: ``"euros per percent"``.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If h is 0: one point has no secant.
    """
    if h == 0:
        raise ValueError("the nudge h is 0, and a line needs two points; take a small h such as 1e-3.")
    ax = plt.subplots()[1]
    low, high = x_range or (x - 2, x + 2)
    _curve(f, (low, high), ax)
    run, rise = np.array([x, x + h]), np.array([f(x), f(x + h)])
    slope = (rise[1] - rise[0]) / h
    ends = np.array([low, high])
    if true_slope is not None:
        ax.plot(ends, f(x) + true_slope * (ends - x), color=TRUTH, linestyle="-.", marker="", linewidth=1.5)
    ax.plot(ends, f(x) + slope * (ends - x), color=BACKWARD, linestyle="--", marker="")
    ax.plot([*run, x + h], [f(x), f(x), f(x + h)], color=CONTEXT, linestyle="-", marker="", linewidth=1)
    ax.plot(run, rise, color=BACKWARD, linestyle="", marker="o", markersize=8)
    lines = [f"nudge h = {h:g}", f"secant: slope {_number(slope)} {unit}".rstrip()]
    if true_slope is not None:
        lines.append(f"curve: slope {_number(true_slope)}")
    ax.text(0.03, 0.97, "\n".join(lines), transform=ax.transAxes, va="top", bbox=LABEL, linespacing=1.5)
    ax.set(xlabel=names[0], ylabel=names[1])

    caption = "The thin lines are run and rise: how far the input moves, and how far the output follows."
    alt = (
        f"A curve of {names[1]} over {names[0]}. A dashed line cuts it at {x:g} and at {x + h:g}, with slope "
        f"{_number(slope)}."
    )
    if true_slope is None:
        return Figure(ax, "The secant's slope is rise over run between two points", caption, alt)
    return Figure(
        ax,
        f"With a nudge of {h:g}, the secant is {_excess(slope, true_slope)} {unit}".rstrip(),
        f"{caption} The tangent, a line of dashes and dots, has the curve's slope at the left point.",
        f"{alt} A tangent touches the curve at {x:g}, with slope {_number(true_slope)}.",
    )


def savings_secant(savings, rate, h):
    """Draw the savings over the interest rate, with a secant; on a screen, its two points can be dragged.

    Parameters
    ----------
    savings : function, float -> float
        Interest rate in percent to euros.
    rate, h : float
        The left point and the nudge, in percent.

    Returns
    -------
    Figure
    """
    settled = (savings(rate + 1e-6) - savings(rate)) / 1e-6
    names = "rate x (percent)", "savings f(x) (euros)"
    figure = secant(savings, rate, h, (-0.5, 9.5), settled, names, "euros per percent")
    figure.title = "The secant goes through two points of the curve, the tangent touches it at one"
    figure.moving = Moving("secant", f="savings", x=rate, h=h)
    return figure


def errors_by_nudge(nudges, errors_by_method, cube_at=None):
    """Draw the error of a slope against the nudge, both on a logarithmic scale.

    Parameters
    ----------
    nudges : array (nudges,)
        Positive.
    errors_by_method : dict of str to array (nudges,)
        Up to five methods; an error of exactly 0 leaves a gap.
    cube_at : float, optional
        If the errors are those of the cube's slope at this place, both differences of it can be looked at on
        a screen, with the nudge as long as one likes.

    Returns
    -------
    Figure
    """
    nudges = np.asarray(nudges, dtype=float)
    ax = plt.subplots()[1]
    best = {}
    for index, (name, errors) in enumerate(errors_by_method.items()):
        errors = np.asarray(errors, dtype=float)
        errors = np.where(errors > 0, errors, np.nan)
        ax.plot(nudges, errors, markevery=2)
        _label_right_branch(ax, name, nudges, errors, above=index == 0)
        best[name] = nudges[np.nanargmin(errors)], np.nanmin(errors)
    ax.set(xscale="log", yscale="log", xlabel="nudge h", ylabel="error of the slope")
    ax.set_ylim(bottom=ax.get_ylim()[0] / 30)  # room for two remarks
    for x, side, text in (
        (0.02, "left", "rounding wins"),
        (0.98, "right", "the curve's bend wins"),
    ):
        ax.text(x, 0.03, text, transform=ax.transAxes, ha=side, color=CONTEXT, style="italic")

    tips = "; ".join(f"{name}, {error:.0e} at h = {nudge:.0e}" for name, (nudge, error) in best.items())
    return Figure(
        ax,
        "Smaller nudges help, until rounding wins",
        "Both scales are logarithmic. Over all nudges each line is a V, and its tip is the best its method "
        f"can do: {tips}.",
        f"The error of a slope against the nudge, both on logarithmic scales: {len(best)} lines in the shape "
        "of a V, which fall from the right, reach a lowest point, and climb again to the left. The lowest "
        f"errors: {tips}.",
        moving=None if cube_at is None else Moving("secant", f="cube", x=cube_at, h=nudges.max(), near=True),
    )


def kink(f, x, h):
    """Draw a curve with a kink, the two nudged points beside it, and the line through these.

    Parameters
    ----------
    f : function, float -> float
    x : float
        Where the kink is.
    h : float
        The nudge, positive.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If h is not positive.
    """
    if h <= 0:
        raise ValueError(f"left and right are told apart by a positive nudge h, got {h}.")
    ax = plt.subplots()[1]
    _curve(f, (x - 4 * h, x + 4 * h), ax)
    from_left, from_right = (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h
    between = (f(x + h) - f(x - h)) / (2 * h)
    ends = np.array([x - 3 * h, x + 3 * h])
    ax.plot(ends, f(x - h) + between * (ends - x + h), color=BACKWARD, linestyle="--", marker="")
    ax.plot([x - h, x + h], [f(x - h), f(x + h)], color=BACKWARD, linestyle="", marker="o", markersize=8)
    away = {"textcoords": "offset points"}
    name = "" if x == 0 else "x "
    ax.annotate(f"{name}−h", (x - h, f(x - h)), xytext=(-2, 8), ha="center", color=BACKWARD, **away)
    ax.annotate(f"{name}+h", (x + h, f(x + h)), xytext=(6, -8), va="top", color=BACKWARD, **away)
    for place, slope, ha in ((x - 3.6 * h, from_left, "left"), (x + 3.2 * h, from_right, "right")):
        offset = (4 if ha == "left" else -10, 6)
        ax.annotate(f"slope {slope:.4g}", (place, f(place)), xytext=offset, ha=ha, color=FORWARD, **away)
    end, ha = (ends[0], "left") if between >= 0 else (ends[1], "right")  # where the line is lowest
    ax.annotate(
        f"central difference:\nslope {between:.4g}",
        (end, f(x - h) + between * (end - x + h)),
        xytext=(10 if ha == "left" else -10, -4),
        ha=ha,
        va="top",
        color=BACKWARD,
        **away,
    )
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, f(x - h) - 3.6 * abs(between) * h), high)

    slopes = f"{from_left:.4g} on the left and {from_right:.4g} on the right"
    return Figure(
        ax,
        "At a kink there are two slopes, and nudging answers with their mean",
        f"The curve has slope {slopes}. The dashed line through the two nudged points, at a distance of "
        f"h = {h:g} from the kink, has slope {between:.4g} and lies along neither branch.",
        f"A curve with a kink at {x:g}: slope {slopes}. Two points on it, at {x - h:g} and at {x + h:g}, and "
        f"a dashed line through both, of slope {between:.4g}, which follows neither branch of the curve.",
    )


def fan_out(slopes, dY):
    """Draw one input that is used for several outputs, and how its slope adds up along the routes.

    Parameters
    ----------
    slopes : array (outputs,)
        How steep each output is along the input; from two to four.
    dY : array (outputs,)
        How much the end result changes with each output.

    Returns
    -------
    Figure
    """
    slopes, dY = np.asarray(slopes), np.asarray(dY)
    count, parts = len(slopes), slopes * dY
    ax = plt.subplots(figsize=(3.25, 1.0 + 0.7 * count))[1]
    look = {"ha": "center", "va": "center"}
    box = {"boxstyle": "round,pad=0.4", "facecolor": GROUND, "linewidth": 2}
    for place, (slope, weight, part) in enumerate(zip(slopes, dY, parts, strict=True)):
        y = (count - 1) / 2 - place
        side = 1 if y >= 0 else -1
        for start, end, color, words in (
            ((0, 0), (1.3, y), FORWARD, f"slope {slope:g}"),
            ((1.3, y), (2.5, 0.2 * y), BACKWARD, f"$dY_{place}$ = {weight:g}"),
        ):
            arrow = {"arrowstyle": "-|>", "mutation_scale": 14, "color": color, "linewidth": 2}
            ax.annotate(
                "", end, start, arrowprops=arrow | {"shrinkA": 16, "shrinkB": 18 - 12 * (start[0] > 0)}
            )
            aside = -0.35 if start[0] == 0 else 0.42, 0.26 * side
            ax.text(*np.add(np.add(start, end) / 2, aside), words, **look, color=color, fontsize=9.5)
        ax.text(1.3, y, f"$Y_{place}$", **look, fontsize=11, bbox=box | {"edgecolor": FORWARD})
        ax.text(1.3, y + 0.47 * side, f"{slope:g} · {weight:g} = {part:g}", **look)
    ax.text(0, 0, "x", **look, fontsize=11, bbox=box | {"edgecolor": FORWARD})
    total = f"{' + '.join(f'{part:g}' for part in parts)} = {parts.sum():g}".replace("+ -", "- ")
    ax.text(3, 0, f"end result\n{total}", **look, fontsize=9.5, bbox=box | {"edgecolor": BACKWARD})
    ax.set(xlim=(-0.25, 3.6), ylim=(-count / 2 - 0.15, count / 2 + 0.15))
    ax.set_axis_off()
    routes = "; ".join(
        f"slope {slope:g} to Y{place}, and dY {weight:g} from there, together {part:g}"
        for place, (slope, weight, part) in enumerate(zip(slopes, dY, parts, strict=True))
    )
    return Figure(
        ax,
        f"One input, used {COUNTED[count]}: its slopes along the routes add up to {parts.sum():g}",
        "Along a route the slopes multiply. Where the routes meet again, their products are added.",
        f"Arrows lead from x to {count} outputs, and on from each output to the end result. The routes: "
        f"{routes}. The sum is {total}.",
    )


def descent(f, path, x_range, y_range, names=("first entry", "second entry", "output f")):
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

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    path = walk_on(ax, f, path, x_range, y_range, names)
    steps = len(path) - 1
    fallen = np.array([f(place) for place in path])
    early = int(np.argmax(fallen <= fallen[-1] + (fallen[0] - fallen[-1]) / 10))
    x, y, height = (name.partition(" (")[0] for name in names)
    start, end = (f"({place[0]:.3g}, {place[1]:.3g})" for place in (path[0], path[-1]))
    return Figure(
        ax,
        "Long steps on steep ground, short ones where it is flat",
        f"The {height} over the {x} and the {y}, seen from above; dark is low. Each dot is one step of the "
        f"descent. Nine tenths of the way down are done after {early} of {steps} steps.",
        f"The {height} as a field of colours over the {x} and the {y}. A path of {steps} steps leads from "
        f"{start}, where the {height} is {fallen[0]:.3g}, down to {end}, where it is {fallen[-1]:.3g}.",
    )


def walk_on(ax, f, path, x_range, y_range, names):  # noqa: PLR0913  where it stands, and how it looks
    """Draw a function of two numbers from above, and a walk, on axes; what `descent` takes, it takes.

    Returns
    -------
    array (steps + 1, 2)
        The path.
    """
    path = np.asarray(path, dtype=float)
    xs, ys = np.linspace(*x_range, 101), np.linspace(*y_range, 101)
    heights = np.array([[f(np.array([x, y])) for x in xs] for y in ys])
    low, high = np.sqrt(heights.min()), np.sqrt(heights.max())
    field = ax.contourf(xs, ys, heights, levels=np.linspace(low, high, 13) ** 2)
    make_bitmap(field)
    ax.figure.colorbar(field, ax=ax, label=names[2], format="%.2g", shrink=0.85)
    ax.plot(*path.T, color=ON_COLOUR, linestyle="-", marker="o", markevery=1, markersize=6, linewidth=3.5)
    ax.plot(*path.T, color=BACKWARD, linestyle="-", marker="o", markevery=1, markersize=4)
    for (x, y), text in ((path[0], "start"), (path[-1], f"after {len(path) - 1} steps")):
        ax.annotate(text, (x, y), xytext=(8, 8), textcoords="offset points", bbox=LABEL)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=x_range, ylim=y_range, aspect="equal")
    return path


def _curve(f, x_range, ax):
    """Draw f over a range in blue, with some room above and below."""
    low, high = x_range
    xs = np.linspace(low, high, POINTS)
    ys = np.array([f(x) for x in xs], dtype=float)
    ax.plot(xs, ys, color=FORWARD, linestyle="-", marker="")
    height = np.ptp(ys) or 1.0
    ax.set(xlim=(low, high), ylim=(ys.min() - 0.12 * height, ys.max() + 0.12 * height))
    ax.set(xlabel="input x", ylabel="output f(x)")


def _number(value):
    """Return a number in four digits, or whole if it is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _excess(slope, true_slope):
    """Say by how much a secant is steeper or flatter than the curve."""
    excess = slope - true_slope
    return f"too {'flat' if excess * true_slope < 0 else 'steep'} by {_number(abs(excess))}"


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
