"""The slope of any function along every entry of an array, by nudging one entry at a time.

Built in chapter 01; gradcheck (compare.py) does the same for a whole layer.
"""

import numpy as np

from minigrad.shapes import ShapeError

EPS = np.finfo(np.float64).eps
NUDGE = np.cbrt(EPS)  # 6e-6: for a larger nudge f is not linear, a smaller one is lost in rounding


def numerical_gradient(f, array, dY=None):
    """Find the slope of a function along every entry of an array, by nudging one entry at a time.

    Parameters
    ----------
    f : function, array -> number, or array -> array of dY's shape
        It is given nudged copies; your array is never changed.
    array : array of any shape
        The point at which to find the slope. The computation is in float64, whatever the array's type.
    dY : array of the shape of f's result, optional
        The weight of each entry of the result. Needed if f returns an array.

    Returns
    -------
    array of array's shape
        The slope of f, or of Σ dY · f, along every entry.

    Raises
    ------
    ShapeError
        If f's result has another shape than dY, or is an array and no dY is given.

    Notes
    -----
    slope = (f(x + h) - f(x - h)) / 2h, with h = ∛eps · max(1, |x|).
    Its error grows with h², its rounding error with eps / h; this h makes their sum smallest.

    References
    ----------
    Chapter 01.

    Examples
    --------
    >>> numerical_gradient(lambda x: (x * x).sum(), np.array([1.0, -3.0])).round(6)
    array([ 2., -6.])
    """
    x = np.array(array, dtype=np.float64)
    weight = np.ones(()) if dY is None else np.asarray(dY)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        right, left = x.copy(), x.copy()
        right[index] += NUDGE * max(1.0, abs(x[index]))
        left[index] -= NUDGE * max(1.0, abs(x[index]))
        distance = right[index] - left[index]  # after rounding
        difference = np.asarray(f(right)) - f(left)  # subtract before weighting: less is lost to rounding
        if difference.shape != weight.shape:
            raise ShapeError(f"f returned shape {difference.shape}: dY must have it too, got {weight.shape}.")
        gradient[index] = np.sum(weight * difference) / distance
    return gradient
