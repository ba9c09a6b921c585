"""The figure of chapter 10 that compares deep networks.

Leaves out measuring: the norms drawn here come from the chapter.
"""

import matplotlib.pyplot as plt

from course.figures.chains import sizes_on


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
