"""Figures of chapter 10: signals through a deep network, what a norm measures, a lagging average, shares.

The spreads, averages and shares drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from course.colours import BACKWARD, CONTEXT, FORWARD, ON_PALE, PALETTE, TRUTH
from course.figures import Figure

ORDER = (CONTEXT, *PALETTE[2:], FORWARD)  # of models whose shares are compared


def spreads(there, back, limits=(1e-11, 1e10)):
    """Draw the spread of the signal and of the gradient at each place of one deep network, on a fixed axis.

    Parameters
    ----------
    there, back : array (layers + 1,)
        Positive spreads, both listed from the input of the network to its output.
    limits : (float, float)
        The ends of the vertical axis, the same at every stop of a slider.

    Returns
    -------
    Figure
    """
    there, back = np.asarray(there, dtype=float), np.asarray(back, dtype=float)
    ax = plt.subplots()[1]
    ax.axhline(1, color=CONTEXT, linestyle="-", linewidth=1)
    ax.plot(there, color=FORWARD, linestyle="-", marker="o", markevery=3, label="signal, forward →")
    ax.plot(back, color=BACKWARD, linestyle="--", marker="s", markevery=(1, 3), label="gradient, backward ←")
    ax.set(yscale="log", ylim=limits, xlabel="layers between the input and here", ylabel="spread")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower center")
    return Figure(
        ax,
        f"The signal ends at {there[-1]:.3g}, and the gradient arrives at {back[0]:.3g}",
        "The signal, in blue, runs from left to right; the gradient, in vermillion, from right to left. The "
        "grey line is a spread of 1, and a straight line is the same loss, or gain, in every layer.",
        f"Two lines of spreads on a logarithmic axis over {len(there) - 1} layers. The signal goes in at "
        f"{there[0]:.3g} on the left and comes out at {there[-1]:.3g} on the right; the gradient starts at "
        f"{back[-1]:.3g} on the right and arrives at {back[0]:.3g} on the left.",
    )


def groups(batch, n_in):
    """Draw which numbers of a batch are normalized together: those of a row, or those of a column.

    Parameters
    ----------
    batch, n_in : int
        The shape of the batch.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.9))
    by_row, by_column = np.indices((batch, n_in))
    for ax, members, name in ((axes[0], by_row, "LayerNorm"), (axes[1], by_column, "BatchNorm")):
        ax.imshow(members % 2, cmap="Greys", vmin=-0.6, vmax=3)
        for example, number in np.ndindex(batch, n_in):
            ax.text(
                number, example, f"{members[example, number] + 1}", ha="center", va="center", color=ON_PALE
            )
        ax.set_xticks([]), ax.set_yticks([])
        ax.set(xlabel=f"{name}: {n_in} numbers", ylabel=f"{batch} examples")
    return Figure(
        figure,
        "A LayerNorm measures each row, a BatchNorm each column",
        "Squares with the same number share a mean and a variance.",
        f"Two tables of {batch} by {n_in} squares, an example in each row. On the left, for LayerNorm, all "
        f"squares of a row bear the same number, from 1 to {batch}. On the right, for BatchNorm, all squares "
        f"of a column do, from 1 to {n_in}.",
    )


def lag(batch_means, running_means):
    """Draw the mean of each batch, and the running average that follows it.

    Parameters
    ----------
    batch_means, running_means : array (steps,)

    Returns
    -------
    Figure
    """
    ax = plt.subplots()[1]
    ax.plot(batch_means, color=TRUTH, linestyle="", marker=".", label="mean of the batch")
    ax.plot(running_means, color=FORWARD, linestyle="-", marker="", label="running average")
    ax.set(xlabel="batch", ylabel="mean of the column")
    ax.legend(loc="upper left")
    behind = np.subtract(batch_means, running_means)
    return Figure(
        ax,
        f"In the end the average is {behind[-1]:.2g} behind its batch",
        "Each dot is the mean of one batch; the line is the running average just after it.",
        f"The means of {len(behind)} batches go from {batch_means[0]:.2g} to {batch_means[-1]:.2g}. The "
        f"running average goes from {running_means[0]:.2g} to {running_means[-1]:.2g}; it is "
        f"{behind[0]:.2g} behind at the first batch and {behind[-1]:.2g} at the last.",
    )


def shares(values, shares_by_name, setting, logarithmic=False):
    """Draw the share of right answers against a setting, with an error bar over the seeds.

    Parameters
    ----------
    values : sequence of float (settings,)
    shares_by_name : dict of str to array (seeds, settings)
        At least two seeds, from one to five models.
    setting : str
        What the values are.
    logarithmic : bool
        Whether the setting is drawn on a logarithmic axis.

    Returns
    -------
    Figure
    """
    ax = plt.subplots(figsize=(6.4, 3.8))[1]
    for index, (name, rows) in enumerate(shares_by_name.items()):
        rows = np.asarray(rows, dtype=float)
        ax.errorbar(
            values,
            rows.mean(axis=0),
            rows.std(axis=0, ddof=1) / np.sqrt(len(rows)),
            color=ORDER[index],
            linestyle=("-", "--", ":", "-.", "-")[index],
            marker="os^Dv"[index],
            capsize=3,
            label=name,
        )
    if logarithmic:
        ax.set_xscale("log")
    ax.set_xticks(values)
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set(xlabel=setting, ylabel="right answers")
    if len(shares_by_name) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    # Single means differ from processor to processor: told are the order of the best, and the tens it passes.
    best = {name: np.mean(rows, axis=0).max() for name, rows in shares_by_name.items()}
    order = sorted(best, key=best.get)
    passed = np.floor(10 * best[order[-1]]) / 10
    return Figure(
        ax,
        f"At best, at least {passed:.0%} are right: {order[-1]}",
        "Each marker is the mean over the seeds, and its bar reaches one standard error to either side.",
        f"Right answers against the {setting}, from {min(values):g} to {max(values):g}, with error bars. By "
        f"the best mean of each, from low to high: {'; '.join(order)}.",
    )
