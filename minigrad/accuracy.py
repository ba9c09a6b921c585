"""Accuracy: how often the right class has the largest score.

Holds accuracy, which a Learner accepts as a metric. Its slope is zero or undefined, so it cannot be a loss.
Built in chapter 07.
"""

import numpy as np

from minigrad.shapes import ShapeError, require_array, require_labels, require_rows


def accuracy(Y, T):
    """Compute the share of rows whose largest entry is the right class.

    Parameters
    ----------
    Y : array (batch, …, n_classes)
    T : array of integers (batch, …)

    Returns
    -------
    float, from 0 to 1

    Raises
    ------
    ShapeError
        If the labels do not match the rows, or if there is no row or no second column.
    TypeError
        If the labels are not integers.
    ValueError
        If a score is nan: then no score is the largest.

    Examples
    --------
    >>> accuracy(np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1]))
    0.5
    """
    shape, T_shape = require_array("accuracy", Y), require_array("accuracy", T)
    if len(shape) == 0 or shape[-1] == 1:
        advice = "for one logit per row, use ((Y[:, 0] > 0) == T).mean()"
        raise ShapeError(f"accuracy needs a column for each class, got Y of shape {shape}; {advice}.")
    if shape[:-1] != T_shape:
        wanted = f"rows of Y, shape {shape}, with labels T of shape {shape[:-1]}"
        raise ShapeError(f"accuracy compares {wanted}; got T of shape {T_shape}.")
    require_rows("accuracy", shape)
    require_labels("accuracy", T)
    if np.isnan(Y).any():
        raise ValueError(f"accuracy: {int(np.isnan(Y).sum())} of {Y.size} scores are nan: none is largest.")
    return float((Y.argmax(axis=-1) == T).mean())
