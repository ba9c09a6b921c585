"""The figure of a gradient check: the true Jacobian, yours, and what is left between them.

Leaves out the words of a report, which `print` and the notebook show by themselves (`minigrad.gradcheck`).
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from course.style import CONTEXT, SIGNED_FIELD


def draw_report(report, name=None):
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
    matplotlib Figure

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

    figure, axes = plt.subplots(1, 3, figsize=(6.4, 2.9))
    squares = {"by nudging": nudged, "by backward": yours, "the difference": yours - nudged}
    for ax, (caption, jacobian) in zip(axes, squares.items(), strict=True):
        image = ax.imshow(jacobian, SIGNED_FIELD, aspect="auto", vmin=-limit, vmax=limit)
        ax.set(box_aspect=1, xticks=[], yticks=[], xlabel=f"entries of {name}")
        ax.spines[:].set(visible=True, color=CONTEXT, linewidth=0.5)
        ax.text(0, 1.03, caption, transform=ax.transAxes, va="bottom")
    axes[0].set_ylabel("entries of Y")
    figure.colorbar(image, ax=axes, shrink=0.75, aspect=20, pad=0.02, label=f"slope of Y along {name}")
    said = row.sentence if row.verdict != "ok" else "backward and nudging agree in every entry"
    look = {"size": plt.rcParams["axes.titlesize"], "weight": plt.rcParams["axes.titleweight"]}
    figure.suptitle(fill(f"{name}: {said}", 70), x=0.01, ha="left", **look)
    return figure
