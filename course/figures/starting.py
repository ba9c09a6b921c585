"""Figures of chapter 10: signals through a deep network, what a norm measures, a lagging average, shares.

Leaves out running networks: the spreads, averages and shares drawn here come from the chapter.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from course.style import BACKWARD, CONTEXT, FORWARD, PALETTE, TRUTH

ORDER = (CONTEXT, *PALETTE[2:], FORWARD)  # of models whose shares are compared


def draw_spreads(there, back, limits=(1e-11, 1e10), ax=None):
    """Draw the spread of the signal and of the gradient at each place of one deep network, on a fixed axis.

    Parameters
    ----------
    there, back : array (layers + 1,)
        Positive spreads, both listed from the input of the network to its output.
    limits : (float, float)
        The ends of the vertical axis, the same at every stop of a slider.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a spread is not positive, or the two differ in length.
    """
    there, back = np.asarray(there, dtype=float), np.asarray(back, dtype=float)
    if there.shape != back.shape:
        raise ValueError(f"one spread for each place is wanted, got {there.shape} there, {back.shape} back.")
    if not min(there.min(), back.min()) > 0:
        raise ValueError("a spread must be positive to stand on a logarithmic axis.")
    ax = ax or plt.subplots()[1]
    ax.axhline(1, color=CONTEXT, linestyle="-", linewidth=1)
    ax.plot(there, color=FORWARD, linestyle="-", marker="o", markevery=3, label="signal, there →")
    ax.plot(back, color=BACKWARD, linestyle="--", marker="s", markevery=(1, 3), label="gradient, back ←")
    ax.set(yscale="log", ylim=limits, xlabel="layers between the input and here", ylabel="spread")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower center")
    ax.set_title(f"{there[-1]:.3g} arrives at the end, {back[0]:.3g} at the beginning")
    return ax


def draw_groups(batch, n_in):
    """Draw which numbers of a batch are normalized together: those of a row, or those of a column.

    Parameters
    ----------
    batch, n_in : int
        The shape of the batch.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If either is below 1.
    """
    if min(batch, n_in) < 1:
        raise ValueError(f"a batch has at least one row and one column, got shape ({batch}, {n_in}).")
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.9))
    by_row, by_column = np.indices((batch, n_in))
    for ax, groups, name in ((axes[0], by_row, "LayerNorm"), (axes[1], by_column, "BatchNorm")):
        ax.imshow(groups % 2, cmap="Greys", vmin=-0.6, vmax=3)
        for example, number in np.ndindex(batch, n_in):
            ax.text(number, example, f"{groups[example, number] + 1}", ha="center", va="center")
        ax.set_xticks([]), ax.set_yticks([])
        ax.set(xlabel=f"{name}: {n_in} numbers", ylabel=f"{batch} examples")
    axes[0].set_title("Squares of one number share a mean and a variance")
    return figure


def draw_lag(batch_means, running_means, ax=None):
    """Draw the mean of each batch, and the running average that follows it.

    Parameters
    ----------
    batch_means, running_means : array (steps,)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the two differ in length.
    """
    if np.shape(batch_means) != np.shape(running_means):
        raise ValueError(
            f"a running mean for each batch is wanted, got {np.size(running_means)} for "
            f"{np.size(batch_means)}."
        )
    ax = ax or plt.subplots()[1]
    ax.plot(batch_means, color=TRUTH, linestyle="", marker=".", label="mean of the batch")
    ax.plot(running_means, color=FORWARD, linestyle="-", marker="", label="running average")
    ax.set(xlabel="batch", ylabel="mean of the column")
    ax.legend(loc="upper left")
    ax.set_title(f"In the end the average is {batch_means[-1] - running_means[-1]:.2g} behind its batch")
    return ax


def draw_shares(values, shares_by_name, setting, logarithmic=False, ax=None):
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
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a model has not one share for each setting, or a single seed.
    """
    ax = ax or plt.subplots(figsize=(6.4, 4.0))[1]
    for index, (name, shares) in enumerate(shares_by_name.items()):
        shares = np.asarray(shares, dtype=float)
        if shares.ndim != 2 or len(shares) < 2 or shares.shape[1] != len(values):
            raise ValueError(
                f"{name} needs two seeds or more, a share each for {len(values)} settings; got "
                f"{shares.shape}."
            )
        ax.errorbar(
            values,
            shares.mean(axis=0),
            shares.std(axis=0, ddof=1) / np.sqrt(len(shares)),
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
    best = max(shares_by_name, key=lambda name: np.mean(shares_by_name[name], axis=0).max())
    ax.set_title(f"{best}: {np.mean(shares_by_name[best], axis=0).max():.1%} right at its best")
    return ax
