"""Figures of chapter 24: a bend and its slope, curves beyond their data, who notices what, differences.

Leaves out fitting and checking: what is drawn here comes from the chapter, or from a learner's own layer.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from course.style import BACKWARD, CONTEXT, FORWARD, PALETTE, TRUTH

STYLES = ((FORWARD, "-", "o"), (BACKWARD, "--", "s"), (PALETTE[4], "-.", "^"), (PALETTE[3], ":", "v"))
WIDTH = 44  # letters of a title
EDGE = 1e-4  # points nearer than this to the end of the data stand inside it


def draw_bend(X, Y, slope, points=(), ax=None):
    """Draw a bend and its slope, with the points that were computed by hand.

    Parameters
    ----------
    X, Y, slope : array (n,)
    points : array (k, 3)
        A row of x, y and slope for each point.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If X, Y and slope have not one shape.
    """
    X, Y, slope = (np.asarray(array, dtype=float) for array in (X, Y, slope))
    if not X.shape == Y.shape == slope.shape or X.ndim != 1:
        raise ValueError(f"X, Y and slope must have one shape (n,), got {X.shape}, {Y.shape}, {slope.shape}.")
    ax = ax or plt.subplots(figsize=(6.4, 3.8))[1]
    ax.plot(X, Y, color=FORWARD, linestyle="-", marker="", label="Y")
    ax.plot(X, slope, color=BACKWARD, linestyle="--", marker="", label="slope of Y")
    for x, y, steep in points:
        ax.plot(x, y, color=FORWARD, marker="o", linestyle="", markersize=8)
        ax.plot(x, steep, color=BACKWARD, marker="s", linestyle="", markersize=8)
    flat = "never falls" if slope.min() > -1e-9 else "falls in places"
    ax.set(title=f"The bend {flat}: its slope goes from {slope.min():.1f} to {slope.max():.1f}")
    ax.set(xlabel="X", ylabel="Y, and its slope")
    ax.legend(loc="upper left")
    return ax


def draw_beyond(X, truth, predictions_by_name, inside, limits, title=None, ax=None):
    """Draw what models predict beyond the range of their data, over the truth.

    Parameters
    ----------
    X, truth : array (n,)
    predictions_by_name : dict of str to array (n,)
    inside : (float, float)
        The range that held data; it is shaded.
    limits : (float, float)
        The ends of the vertical axis.
    title : str, optional
        The message; otherwise, who is nearest to the truth.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is nothing to compare, too much of it, or a prediction has another shape than X.
    """
    if not 1 <= len(predictions_by_name) <= len(STYLES):
        raise ValueError(
            f"one to {len(STYLES)} predictions can be told apart, got {len(predictions_by_name)}."
        )
    for name, Y in predictions_by_name.items():
        if np.shape(Y) != np.shape(X):
            raise ValueError(f"{name} has shape {np.shape(Y)}; it must have X's, {np.shape(X)}.")
    ax = ax or plt.subplots(figsize=(7.0, 3.8))[1]
    X, outside = np.asarray(X), (np.asarray(X) < inside[0] - EDGE) | (np.asarray(X) > inside[1] + EDGE)
    ax.axvspan(*inside, color=CONTEXT, alpha=0.15, linewidth=0)
    ax.plot(X, truth, color=TRUTH, linestyle="-", marker="", linewidth=3, alpha=0.35, label="truth")
    errors = {}
    for (name, Y), (colour, line, marker) in zip(predictions_by_name.items(), STYLES, strict=False):
        errors[name] = np.sqrt(np.mean((np.asarray(Y) - truth)[outside] ** 2))
        label = f"{name}: {errors[name]:.2f}"
        ax.plot(X, Y, color=colour, linestyle=line, marker=marker, markevery=25, markersize=5, label=label)
    ax.text(np.mean(inside), limits[0], "data only here", ha="center", va="bottom", fontsize=9)
    best = min(errors, key=errors.get)
    ax.set(title=title or f"Outside its data, {best} is nearest to the truth")
    ax.set(xlabel="X", ylabel="Y", ylim=limits)
    ax.legend(title="error outside", loc="upper left", fontsize=9)
    return ax


def draw_notices(notices, ax=None):
    """Draw a table of which test notices which wrong version.

    Parameters
    ----------
    notices : dict of str to dict of str to bool
        For each version, a column: for each test, a row, whether it notices.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is no version, or the versions have not met the same tests.
    """
    columns = list(notices)
    tests = list(notices[columns[0]]) if columns else []
    if not tests or any(list(met) != tests for met in notices.values()):
        raise ValueError("every version must meet the same tests, one or more, in the same order.")
    ax = ax or plt.subplots(figsize=(1.6 + 1.45 * len(columns), 0.9 + 0.5 * len(tests)))[1]
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(tests) - 0.5, -0.5))
    for column, name in enumerate(columns):
        for row, test in enumerate(tests):
            found = notices[name][test]
            corner = column - 0.46, row - 0.42
            ax.add_patch(
                plt.Rectangle(corner, 0.92, 0.84, color=FORWARD if found else "#E8E8E8", linewidth=0)
            )
            word, colour = ("notices", "white") if found else ("passes it", "#262626")
            ax.text(column, row, word, ha="center", va="center", color=colour, fontsize=9)
    ax.set_xticks(range(len(columns)), [name.replace(" ", "\n", 1) for name in columns], fontsize=9)
    ax.set_yticks(range(len(tests)), tests)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    whole = [test for test in tests if all(met[test] for met in notices.values())]
    title = (
        f"{whole[0]} alone notices all" if whole else f"None of {len(tests)} tests alone notices all versions"
    )
    ax.set(title=title, xlabel="version", ylabel="test")
    return ax


def draw_differences(differences_by_name, xlabel, title=None, ax=None):
    """Draw paired differences, a dot for each seed, with their mean and two standard errors to either side.

    Parameters
    ----------
    differences_by_name : dict of str to array (seeds,)
        Mine minus the baseline, both from one seed.
    xlabel : str
        What the difference is of, and which side is good.
    title : str, optional
        The message; otherwise, how many bars reach over 0.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is nothing to draw, or a name has fewer than two seeds.
    """
    if not differences_by_name or any(np.size(found) < 2 for found in differences_by_name.values()):
        raise ValueError("differences of two or more seeds are wanted, under one name or more.")
    ax = ax or plt.subplots(figsize=(6.8, 1.3 + 0.6 * len(differences_by_name)))[1]
    ax.axvline(0, color=CONTEXT, linestyle="-", linewidth=1)
    unclear = 0
    for place, found in enumerate(differences_by_name.values()):
        found = np.asarray(found, dtype=float)
        mean, error = found.mean(), found.std(ddof=1) / np.sqrt(len(found))
        unclear += abs(mean) <= 2 * error
        ax.plot(found, np.full(len(found), place - 0.18), color=FORWARD, marker="o", linestyle="", alpha=0.6)
        ax.errorbar(mean, place + 0.15, xerr=2 * error, color=TRUTH, marker="D", capsize=5, linestyle="")
    count = len(differences_by_name)
    ax.set_yticks(range(count), list(differences_by_name))
    ax.set(xlabel=xlabel, ylabel="comparison", ylim=(count - 0.5, -0.5))
    title = title or f"Bars that reach over 0, where no difference is seen: {unclear} of {count}"
    ax.set_title(textwrap.fill(title, WIDTH))
    return ax
