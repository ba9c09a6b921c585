"""Figures of Part II that later chapters use: what a closure keeps, depth, and a classifier of the plane.

Leaves out measuring: the bytes and norms drawn here come from the chapter.
"""

import matplotlib.pyplot as plt

from course.figures.chains import regions_on, sizes_on
from course.figures.closures import kept_on


def draw_xray(rows, kilobytes=None, ax=None):
    """Draw what a backward function keeps alive: a bar for each array.

    Parameters
    ----------
    rows : list of course.xray.Row
        Rows that are shared with the model are drawn empty, since they cost nothing extra.
    kilobytes : float, optional
        Where the axis ends; a slider needs it to stay.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no rows.
    """
    if not rows:
        raise ValueError("this backward function keeps no array alive: there is nothing to draw.")
    ax = ax or plt.subplots(figsize=(6.4, 1.4 + 0.32 * len(rows)))[1]
    kept_on(ax, rows, kilobytes)
    ax.set_title(f"{sum(row.bytes for row in rows if not row.shared):,} bytes wait for the way back")
    return ax


def draw_depth(norms):
    """Draw the size of what passes between the layers of deep networks, there and back.

    Parameters
    ----------
    norms : dict of str to (array (layers + 1,), array (layers + 1,))
        For each network its norms on the way there and those on the way back, both listed from the input of
        the network to its output; at most five networks of equal depth.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a norm is not positive, since the axis is logarithmic, or the networks differ in depth.
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    last = sizes_on(axes, norms).shape[-1] - 1
    axes[0].set_title(f"Through {last} layers, there (blue) and back (vermillion)")
    return figure


def draw_boundary(predict, X, T, ax=None):
    """Draw where a classifier of points in the plane changes its mind.

    Parameters
    ----------
    predict : function, X (batch, 2) -> Y (batch, n_classes) or (batch, 1)
        The largest entry of a row is the class; a single entry says class 1 where it is positive.
    X : array (examples, 2)
    T : array of integers (examples,) or (examples, 1)
        Classes, at most five.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the points are not in the plane, or there are more than five classes.
    """
    ax = ax or plt.subplots(figsize=(5.4, 4.0))[1]
    regions_on(ax, predict, X, T)
    ax.set_title("The plane is cut into regions, one for each class")
    return ax
