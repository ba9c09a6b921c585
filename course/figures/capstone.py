"""Figures of chapter 24: an activation, models beyond their data, who notices what, paired differences.

What is drawn here comes from the chapter, or from a learner's own layer.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import BACKWARD, CONTEXT, FORWARD, GRID, INK, ON_COLOUR, PALETTE, TRUTH
from course.figures import Figure

STYLES = ((FORWARD, "-", "o"), (PALETTE[3], "--", "s"), (PALETTE[4], "-.", "^"))  # all are predictions
EDGE = 1e-4  # points nearer than this to the end of the data stand inside it
POINTS = 201  # of a curve


def bend(X, Y, slope, points=()):
    """Draw an activation function and its slope, with the points that were computed by hand.

    Parameters
    ----------
    X, Y, slope : array (n,)
    points : array (k, 3)
        A row of x, y and slope for each point.

    Returns
    -------
    Figure
    """
    X, Y, slope = (np.asarray(array, dtype=float) for array in (X, Y, slope))
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    ax.plot(X, Y, color=FORWARD, linestyle="-", marker="", label="Y")
    ax.plot(X, slope, color=BACKWARD, linestyle="--", marker="", label="slope of Y")
    for x, y, steep in points:
        ax.plot(x, y, color=FORWARD, marker="o", linestyle="", markersize=8)
        ax.plot(x, steep, color=BACKWARD, marker="s", linestyle="", markersize=8)
    ax.set(xlabel="X", ylabel="Y, and its slope")
    ax.legend(loc="upper left")
    never_falls = "never falls" if slope.min() > -1e-9 else "falls in places"
    lowest, highest = np.round([slope.min(), slope.max()], 1) + 0.0  # never -0.0
    marked = ", ".join(f"({x:.2f}, {y:.2f}) with slope {steep:.2f}" for x, y, steep in points)
    return Figure(
        ax,
        f"The function {never_falls}: its slope goes from {lowest:.1f} to {highest:.1f}",
        "The solid line is Y, the dashed line its slope; the marks are the points computed by hand.",
        f"Two curves over X from {X[0]:g} to {X[-1]:g}. Y goes from {Y[0]:.1f} to {Y[-1]:.1f} and "
        f"{never_falls}; its slope stays between {lowest:.1f} and {highest:.1f}."
        + (f" Marked points: {marked}." if marked else ""),
    )


def _turns(Y):
    """Return how often a curve turns from rising to falling, or back."""
    steps = np.sign(np.diff(Y))
    return int((steps[1:] * steps[:-1] < 0).sum())


def beyond(models, truth, inside=(-5, 5), limits=(-7, 8)):
    """Draw what models predict beyond the range of their data, over the truth.

    Parameters
    ----------
    models : dict of str to Layer
        From one to three, of one input and one output.
    truth : function
        X (n, 1) -> Y (n, 1).
    inside : (float, float)
        The range that held data; it is shaded, and half as much is drawn to either side of it.
    limits : (float, float)
        The ends of the vertical axis.

    Returns
    -------
    Figure
    """
    reach = (inside[1] - inside[0]) / 2
    X = np.linspace(inside[0] - reach, inside[1] + reach, POINTS)[:, None]
    predictions = {name: model.predict(X) for name, model in models.items()}
    x, right = X[:, 0], truth(X)[:, 0]
    below, above = x < inside[0] - EDGE, x > inside[1] + EDGE

    ax = plt.subplots(figsize=(7.0, 3.8))[1]
    ax.axvspan(*inside, color=CONTEXT, alpha=0.15, linewidth=0)
    ax.plot(x, right, color=TRUTH, linestyle="-", marker="", linewidth=3, alpha=0.35, label="truth")
    errors = {}
    for (name, Y), (colour, line, marker) in zip(predictions.items(), STYLES, strict=False):
        errors[name] = np.sqrt(np.mean((Y[:, 0] - right)[below | above] ** 2))
        label = f"{name}: {errors[name]:.2f}"
        ax.plot(x, Y, color=colour, linestyle=line, marker=marker, markevery=25, markersize=5, label=label)
    ax.text(np.mean(inside), limits[0], "data only here", ha="center", va="bottom", fontsize=9)
    ax.set(xlabel="X", ylabel="Y", ylim=limits)
    ax.legend(title="error outside", loc="upper left", fontsize=9)

    turns_outside = {name: _turns(Y[below, 0]) + _turns(Y[above, 0]) for name, Y in predictions.items()}
    turns_of_truth = _turns(right[below]) + _turns(right[above])
    if max(turns_outside.values()) < turns_of_truth / 2:
        title = "Outside the data the truth goes on waving, and no model does"
    else:
        closest = min(errors, key=errors.get)
        verdict = "is closer to the truth" if len(errors) == 2 else f"has an error of {errors[closest]:.2f}"
        title = f"Outside the data, {closest} {verdict}"
    by_model = "; ".join(
        f"{name} turns {turns_outside[name]} times there, and has an error of {errors[name]:.2f}"
        for name in models
    )
    return Figure(
        ax,
        title,
        "The wide grey line is the truth. The data lay in the shaded range; the error is the root mean "
        "square outside it.",
        f"Curves over X from {x[0]:g} to {x[-1]:g}, with data from {inside[0]:g} to {inside[1]:g}. Outside, "
        f"the truth turns {turns_of_truth} times, and runs from {right[0]:.1f} at the left end to "
        f"{right[-1]:.1f} at the right; {by_model}.",
    )


def notices(noticed):
    """Draw a table of which test notices which wrong version.

    Parameters
    ----------
    noticed : dict of str to dict of str to bool
        For each version, a column: for each test, a row, whether it notices.

    Returns
    -------
    Figure
    """
    columns = list(noticed)
    tests = list(noticed[columns[0]])
    ax = plt.subplots(figsize=(1.6 + 1.45 * len(columns), 0.9 + 0.5 * len(tests)))[1]
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(tests) - 0.5, -0.5))
    for column, name in enumerate(columns):
        for row, test in enumerate(tests):
            notices_it = noticed[name][test]
            box = FORWARD if notices_it else GRID
            ax.add_patch(plt.Rectangle((column - 0.46, row - 0.42), 0.92, 0.84, color=box, linewidth=0))
            word, colour = ("notices", ON_COLOUR) if notices_it else ("passes it", INK)
            ax.text(column, row, word, ha="center", va="center", color=colour, fontsize=9)
    ax.set_xticks(range(len(columns)), [name.replace(" ", "\n", 1) for name in columns], fontsize=9)
    ax.set_yticks(range(len(tests)), tests)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set(xlabel="version", ylabel="test")
    noticing_all = [test for test in tests if all(met[test] for met in noticed.values())]
    if noticing_all:
        title = f"{noticing_all[0]} alone notices all versions"
    else:
        title = f"None of {len(tests)} tests alone notices all versions"
    by_version = "; ".join(
        f"{name} is noticed by {', '.join(test for test in tests if met[test]) or 'none'}"
        for name, met in noticed.items()
    )
    return Figure(
        ax,
        title,
        "Each column is a wrong version, each row a test; a blue box means that the test notices it.",
        f"A table of {len(columns)} wrong versions and {len(tests)} tests: {by_version}.",
    )


def differences(differences_by_name, lower_is_better=True, title=None):
    """Draw paired differences, a dot for each seed, with their mean and two standard errors to either side.

    Parameters
    ----------
    differences_by_name : dict of str to array (seeds,)
        The first minus the second, both from one seed.
    lower_is_better : bool
        True for errors, False for scores.
    title : str, optional
        The message; otherwise, in how many rows the first is better, and in how many worse.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a name has fewer than two seeds.

    Notes
    -----
    A row counts as better or worse only when its bar does not cross 0.
    """
    rows = {name: np.asarray(values, dtype=float) for name, values in differences_by_name.items()}
    if any(np.size(values) < 2 for values in rows.values()):
        raise ValueError("give differences of two or more seeds.")
    ax = plt.subplots(figsize=(6.8, 1.3 + 0.6 * len(rows)))[1]
    ax.axvline(0, color=CONTEXT, linestyle="-", linewidth=1)
    better = worse = 0
    lines = []
    for place, (name, values) in enumerate(rows.items()):
        mean, bar = values.mean(), 2 * values.std(ddof=1) / np.sqrt(len(values))
        ax.plot(
            values, np.full(len(values), place - 0.18), color=FORWARD, marker="o", linestyle="", alpha=0.6
        )
        ax.errorbar(mean, place + 0.15, xerr=bar, color=TRUTH, marker="D", capsize=5, linestyle="")
        if abs(mean) > bar:
            better += (mean < 0) == lower_is_better
            worse += (mean < 0) != lower_is_better
        lines.append(f"{name} {mean:.2f} ± {bar:.2f}, {(values < 0).sum()} of {len(values)} seeds below 0")
    side, measure = ("left", "errors") if lower_is_better else ("right", "scores")
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel=f"difference of {measure} ({side} of 0: the first is better)", ylabel="comparison")
    ax.set(ylim=(len(rows) - 0.5, -0.5))
    unclear = len(rows) - better - worse
    crossing = "No bar crosses 0"
    if unclear:
        bars = "1 bar crosses" if unclear == 1 else f"{unclear} bars cross"
        crossing = f"{bars} 0: no difference is seen there"
    if len(rows) > 1:
        message = f"The first is better in {better} of {len(rows)} comparisons, and worse in {worse}"
    else:
        verdict = "is better" if better else "is worse" if worse else "shows no difference"
        message = f"The first {verdict}, on average over {values.size} seeds"
    return Figure(
        ax,
        title or message,
        "Each dot is the difference in one seed; the mark with a bar is their mean, and the bar two standard "
        f"errors to either side. {crossing}.",
        "Rows of dots, one for each seed, with a mean and a bar: " + "; ".join(lines) + ".",
    )
