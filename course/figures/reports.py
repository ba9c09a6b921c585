"""Figures of gradient checks: Jacobians side by side, two arrays that ought to agree, bugs by kinds of check.

The report itself is in `minigrad.check`.
"""

import matplotlib.pyplot as plt
import numpy as np

from course.colours import BACKWARD, CONTEXT, INK, SIGNED_FIELD, TRUTH
from course.figures import Figure


def three_jacobians(report, name=None):
    """Draw the Jacobian of one array three times: by nudging, by backward, and the difference.

    Parameters
    ----------
    report : Report
        What gradcheck returned for a small layer.
    name : str, optional
        Whose Jacobian, as the report names it: "input X", "W". The first that is wrong unless given, or else
        the first.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the report holds no such Jacobian.

    Notes
    -----
    A row for each entry of Y, a column for each entry of the array; all three squares share one scale.
    """
    wrong = [row.name for row in report.rows if row.verdict != "ok" and row.name in report.jacobians]
    name = name or next(iter([*wrong, *report.jacobians]), "any array")
    if name not in report.jacobians:
        held = ", ".join(report.jacobians) or "none; give gradcheck a smaller X"
        raise ValueError(f"the report holds no Jacobian of {name}. It holds: {held}.")
    (row,) = [row for row in report.rows if row.name == name]
    nudged, yours = report.jacobians[name]
    limit = max(np.abs(nudged).max(), np.abs(yours).max()) or 1.0

    figure, axes = plt.subplots(1, 3, figsize=(6.4, 2.5))
    squares = {"by nudging": nudged, "by backward": yours, "the difference": yours - nudged}
    for ax, (caption, jacobian) in zip(axes, squares.items(), strict=True):
        image = ax.imshow(jacobian, SIGNED_FIELD, aspect="auto", vmin=-limit, vmax=limit)
        ax.set(box_aspect=1, xticks=[], yticks=[], xlabel=f"entries of {name}")
        ax.spines[:].set(visible=True, color=CONTEXT, linewidth=0.5)
        ax.text(0, 1.03, caption, transform=ax.transAxes, va="bottom")
    axes[0].set_ylabel("entries of Y")
    figure.colorbar(image, ax=axes, shrink=0.75, aspect=20, pad=0.02, label=f"slope of Y along {name}")
    sentence = row.sentence if row.verdict != "ok" else "backward and nudging agree in every entry"
    apart = np.abs(yours - nudged).max()
    return Figure(
        figure,
        f"{name}: {sentence}".rstrip("."),
        f"A row for each entry of Y, a column for each entry of {name}. All three squares share one scale; "
        "what is empty in the third agrees in the first two.",
        f"Three squares of {nudged.shape[0]} rows and {nudged.shape[1]} columns: the Jacobian by nudging, by "
        f"backward, and their difference. The largest slope is {limit:.2g} in size, the largest difference "
        f"{apart:.2g}; {np.sum(np.abs(yours - nudged) > 1e-6 * limit)} of {nudged.size} slopes differ.",
    )


def descents(losses_by_name):
    """Draw how the losses of several descents fall, each as a share of its own first value.

    Parameters
    ----------
    losses_by_name : dict of str to sequence of float
        From one to five descents of at least two steps; the first loss is not 0.

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    for name, losses in losses_by_name.items():
        ax.plot(np.array(losses) / losses[0], label=name, markevery=max(1, len(losses) // 6))
    fallen = sum(losses[-1] < losses[0] for losses in losses_by_name.values())
    ax.set(xlabel="step", ylabel="loss (share of the first)", ylim=(0, None))
    ax.legend()
    ends = ", ".join(f"{name} {losses[-1] / losses[0]:.1%}" for name, losses in losses_by_name.items())
    return Figure(
        ax,
        f"The loss falls in {fallen} of {len(losses_by_name)} descents",
        f"Each loss is drawn as a share of its own first value. What is left at the end: {ends}.",
        f"{len(losses_by_name)} losses over {max(map(len, losses_by_name.values())) - 1:,} steps, each as a "
        f"share of its own first value. At the end: {ends}.",
    )


def agreement(found, expected, sentence):
    """Draw two arrays that ought to agree, entry against entry: what agrees lies on the line.

    Parameters
    ----------
    found, expected : array
        Of one shape, or of shapes that NumPy can pair.
    sentence : str
        What a check says about them; the title.

    Returns
    -------
    Figure

    Notes
    -----
    Both axes are shares of the largest expected entry and stay where they are, from -1.6 to 1.6; entries
    beyond are drawn at the edge, nan is left out. Where everything expected is below 1e-8, it counts as 0.
    """
    found, expected = np.broadcast_arrays(found, expected)
    ax = plt.subplots(figsize=(4.7, 4.4))[1]
    largest = np.abs(expected).max()
    scale, edge = largest if largest > 1e-8 else 1.0, 1.6
    ax.plot([-edge, edge], [-edge, edge], color=TRUTH, linestyle="-.", marker="", linewidth=1.5)
    x, y = (np.clip(array.ravel() / scale, -edge, edge) for array in (expected, found))
    ax.plot(x, y, color=BACKWARD, linestyle="", marker="o", markersize=8, alpha=0.7, clip_on=False)
    ax.text(1.0, 1.2, "they agree", ha="right", color=INK)
    ax.set(xlim=(-edge, edge), ylim=(-edge, edge), box_aspect=1)
    ax.set(xlabel="expected (share of the largest)", ylabel="found (share of the largest)")
    drawn = np.isfinite(x) & np.isfinite(y)
    count = f"{np.sum(np.isclose(x, y, rtol=1e-6, atol=1e-6) & drawn)} of {drawn.sum()} points"
    return Figure(
        ax,
        sentence.strip().rstrip("."),
        "One point for each entry, both as shares of the largest expected one. On the dash-dotted line "
        "the two arrays agree; what is far off is drawn at the edge.",
        f"What was found, upward, against what was expected, to the right. The check says: "
        f"{sentence.strip().rstrip('.')}. {count} lie on the line of agreement.",
    )


def bug_grid(caught, checks, accused):
    """Draw which check catches which planted bug, and how many right layers each check accuses.

    Parameters
    ----------
    caught : dict of str to sequence of bool
        For each bug, whether each check caught it.
    checks : sequence of str
        The checks, in order.
    accused : sequence of int
        For each check, how many right layers it called wrong.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(7.6, 4.9))[1]
    grid = np.array(list(caught.values()), dtype=bool)
    for (row, column), hit in np.ndenumerate(grid):
        color, face = (BACKWARD, BACKWARD) if hit else (CONTEXT, "none")
        ax.plot(
            column, row, marker="s", markersize=13, color=color, markerfacecolor=face, markeredgewidth=0.7
        )
    totals = grid.sum(axis=0)
    for column, (total, wronged) in enumerate(zip(totals, accused, strict=True)):
        ax.text(column, len(grid), str(total), ha="center", va="center", weight="bold", color=INK)
        ax.text(column, len(grid) + 1, str(wronged), ha="center", va="center", color=INK)
    ax.set_yticks(range(len(grid) + 2), [*caught, "bugs caught", "accused (zeros too)"])
    ax.set_xticks(range(len(checks)), checks, rotation=40, ha="left", rotation_mode="anchor")
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.5, len(checks) - 0.5), ylim=(len(grid) + 1.5, -0.5))
    ax.set(xlabel="kind of check", ylabel="planted bug")
    ax.grid(False)
    return Figure(
        ax,
        f"Of {len(grid)} planted bugs the first check catches {totals[0]}, the last one {totals[-1]}",
        "A filled square is a bug caught. Below stand the bugs that each check catches, and how many right "
        "layers it accuses.",
        f"A grid of {len(grid)} bugs and {len(checks)} checks. Bugs caught, and right layers accused: "
        + "; ".join(
            f"{check}, {total} and {wronged}"
            for check, total, wronged in zip(checks, totals, accused, strict=True)
        )
        + ".",
    )
