"""Loss functions: `L, backward = mse(Y, T)`, then `dY = backward()`.

A loss is one number. Value and gradient are averaged over the same count, and unequal shapes raise an error
instead of being broadcast. With T fixed, a loss is a layer like any other and passes gradcheck. Built in
chapter 06, where huber is an exercise.
"""

import numpy as np

from minigrad.backend import array_module
from minigrad.layers.activations import Sigmoid
from minigrad.shapes import ShapeError, as_floats, require_array, require_rows, require_same_shape


def mse(Y, T):
    """Compute the mean squared error.

    Parameters
    ----------
    Y, T : array of equal shape
        Prediction and target.

    Returns
    -------
    L : number
        Mean of (Y - T)² over all entries, in the squared unit of Y.
    backward : function, dL=1.0 -> dY

    Raises
    ------
    ShapeError
        If the shapes differ, or there is no example.

    Notes
    -----
    L = Σ (Y - T)² / size.
    dY = 2 (Y - T) / size.

    References
    ----------
    Chapter 06.

    Examples
    --------
    >>> L, backward = mse(np.array([[1.0, 4.0]]), np.array([[1.0, 2.0]]))
    >>> float(L), backward()
    (2.0, array([[0., 2.]]))
    """
    Y, T = require_same_shape("mse", Y, T)
    difference = Y - T
    L = np.mean(difference**2)
    return L, lambda dL=1.0: dL * 2 * difference / difference.size


def bce_with_logits(Y, T):
    """Compute the binary cross-entropy of logits Y and targets T from 0 to 1.

    Parameters
    ----------
    Y : array
        Logits: log(p / (1 - p)) of the predicted probability p.
    T : array of Y's shape
        Targets: 0, 1, or probabilities in between.

    Returns
    -------
    L : number
        Mean over all entries, in nats.
    backward : function, dL=1.0 -> dY

    Raises
    ------
    ShapeError
        If the shapes differ, or there is no example.
    ValueError
        If a target is below 0 or above 1.

    Notes
    -----
    L = Σ (log(1 + exp(Y)) - T Y) / size, which cannot overflow.
    dY = (sigmoid(Y) - T) / size.

    References
    ----------
    Chapter 06.

    Examples
    --------
    >>> L, backward = bce_with_logits(np.array([0.0]), np.array([1.0]))
    >>> round(float(L), 4), backward()  # log 2
    (0.6931, array([-0.5]))
    """
    Y, T = require_same_shape("bce_with_logits", Y, T)
    _require_probabilities(T)
    P = Sigmoid()(Y)[0]
    L = np.mean(np.logaddexp(0, Y) - T * Y)
    return L, lambda dL=1.0: dL * (P - T) / Y.size


def _require_probabilities(T):
    """Raise ValueError unless all targets are probabilities."""
    if not (T.min() >= 0 and T.max() <= 1):
        raise ValueError(
            f"bce_with_logits: targets run from {T.min()} to {T.max()}; they must be probabilities, 0 to 1. "
            "Write the two classes as 0 and 1."
        )


def cross_entropy(Y, T):
    """Compute the cross-entropy of logits and labels: softmax and negative log-likelihood in one.

    Parameters
    ----------
    Y : array (batch, …, n_classes)
        Logits: any numbers; -inf makes a class impossible.
    T : array of integers (batch, …), or of probabilities (batch, …, n_classes)
        The right class of each row, or the probability of each class.

    Returns
    -------
    L : number
        Mean over the rows, in nats.
    backward : function, dL=1.0 -> dY

    Raises
    ------
    ShapeError
        If T fits neither form, or there is no example.
    ValueError
        If a label is not a class, or a row of T is not a distribution.

    Notes
    -----
    L = -Σ log P[row, T[row]] / rows, with P the softmax of Y, computed from Y minus its maximum.
    dY = (P - one_hot(T)) / rows.

    References
    ----------
    Chapter 06.

    Examples
    --------
    >>> L, backward = cross_entropy(np.array([[0.0, 0.0]]), np.array([1]))
    >>> round(float(L), 4), backward()  # log 2
    (0.6931, array([[ 0.5, -0.5]]))
    """
    Y = as_floats("cross_entropy", Y)
    right = _targets(Y, T)  # (batch, …, n_classes): the probability of each class
    rows = Y.size / Y.shape[-1]
    shifted = Y - Y.max(axis=-1, keepdims=True)
    log_P = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    L = -np.sum(right * np.where(right, log_P, 0)) / rows  # careful: 0 times -inf would be nan
    return L, lambda dL=1.0: dL * (np.exp(log_P) - right) / rows


def _targets(Y, T):
    """Return the probability of each class, in Y's shape: T itself, or True for the right class of a row."""
    require_array("cross_entropy", T)
    require_rows("cross_entropy", Y.shape)
    if T.shape == Y.shape and T.dtype.kind == "f":
        sums = T.sum(axis=-1)
        are_near_1 = abs(sums - 1.0) <= 1e-3  # allows for the rounding of float32 sums
        if array_module(T) is np and not (T.min() >= 0 and are_near_1.all()):  # skipped on GPU: slow
            raise ValueError(
                f"cross_entropy: rows of T must be probabilities, at least 0, with sum 1; got {T.min()} to "
                f"{T.max()}, and sums from {sums.min()} to {sums.max()}."
            )
        return T.astype(Y.dtype, copy=False)
    if T.dtype.kind not in "iu" or T.shape != Y.shape[:-1]:
        raise ShapeError(
            f"cross_entropy compares Y of shape {Y.shape} with T of shape {T.shape}, type {T.dtype}: "
            f"give integer labels of shape {Y.shape[:-1]}, or probabilities (floats) of Y's shape."
        )
    n_classes = Y.shape[-1]
    if not ((T >= 0) & (T < n_classes)).all():
        wrong = np.argwhere((T < 0) | (T >= n_classes))[0]
        raise ValueError(
            f"cross_entropy: T holds the label {T[tuple(wrong)]} at {[int(i) for i in wrong]}; "
            f"Y has {n_classes} classes, so labels must be 0 to {n_classes - 1}."
        )
    return T[..., None] == array_module(Y).arange(n_classes)


def cosine_distance(Y, T):
    """Compute one minus the cosine of the angle between each row of Y and of T.

    Parameters
    ----------
    Y, T : array (batch, …, width) of equal shape
        No row may be all zeros: it has no direction.

    Returns
    -------
    L : number
        Mean over the rows, from 0 (same direction) to 2 (opposite).
    backward : function, dL=1.0 -> dY

    Raises
    ------
    ShapeError
        If the shapes differ, or there is no example.
    ValueError
        If a row is all zeros.

    Notes
    -----
    L = Σ (1 - c) / rows with c = y·t / (|y| |t|).
    dY = -(t/|t| - c y/|y|) / |y| / rows.

    References
    ----------
    PaddlePaddle, API design ("semantic projection"). Chapter 13.

    Examples
    --------
    >>> L, backward = cosine_distance(np.array([[2.0, 0.0]]), np.array([[0.0, 3.0]]))
    >>> float(L), backward()
    (1.0, array([[ 0. , -0.5]]))
    """
    Y, T = require_same_shape("cosine_distance", Y, T)
    lengths_Y, lengths_T = (np.sqrt((A * A).sum(axis=-1, keepdims=True)) for A in (Y, T))
    if not (lengths_Y.all() and lengths_T.all()):
        raise ValueError("cosine_distance: a row of zeros, in Y or T, has no direction; leave such rows out.")
    units_Y, units_T = Y / lengths_Y, T / lengths_T
    cosines = (units_Y * units_T).sum(axis=-1, keepdims=True)

    def backward(dL=1.0):
        return (dL / cosines.size) * (cosines * units_Y - units_T) / lengths_Y

    return (1.0 - cosines).mean(), backward
