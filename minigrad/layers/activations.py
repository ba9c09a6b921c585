"""Activations: functions applied entry by entry, and softmax, which couples the entries of a row.

The Jacobian of an entrywise function is diagonal, so its backward is an entrywise product. Built in chapter
05, where LeakyReLU and SiLU are exercises.
"""

import math

import numpy as np

from minigrad.layer import Layer
from minigrad.shapes import as_floats


class ReLU(Layer):
    """Set negative entries to zero: Y = max(X, 0).

    Notes
    -----
    Y = max(X, 0).
    dX = dY where X > 0, else 0. At 0, any slope from 0 to 1 is a subgradient; here it is 0.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = ReLU()(np.array([-1.0, 0.0, 2.0]))
    >>> Y, backward(np.array([5.0, 5.0, 5.0]))
    (array([0., 0., 2.]), array([0., 0., 5.]))
    """

    check_input = as_floats

    def forward(self, X):
        """Return max(X, 0) and the backward function."""
        return np.maximum(X, 0), lambda dY: dY * (X > 0)


class Sigmoid(Layer):
    """Map every number to between 0 and 1: Y = 1 / (1 + exp(-X)).

    Notes
    -----
    Y = 1 / (1 + exp(-X)), computed as (1 + tanh(X / 2)) / 2, which cannot overflow.
    dX = dY Y (1 - Y).

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Sigmoid()(np.array([-1000.0, 0.0, 1000.0]))
    >>> Y, backward(np.array([1.0, 1.0, 1.0]))
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 0.  ]))
    """

    check_input = as_floats

    def forward(self, X):
        """Return the sigmoid of X and the backward function."""
        Y = 0.5 + 0.5 * np.tanh(0.5 * X)
        return Y, lambda dY: dY * (Y * (1.0 - Y))


class Tanh(Layer):
    """Map every number to between -1 and 1: Y = tanh(X).

    Notes
    -----
    Y = tanh(X).
    dX = dY (1 - Y²).

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Tanh()(np.array([0.0]))
    >>> Y, backward(np.array([2.0]))
    (array([0.]), array([2.]))
    """

    check_input = as_floats

    def forward(self, X):
        """Return tanh(X) and the backward function."""
        Y = np.tanh(X)
        return Y, lambda dY: dY * (1.0 - Y * Y)


class GELU(Layer):
    """A smooth ReLU: X times (nearly) the probability that a standard normal variable is below X.

    Notes
    -----
    Y = X (1 + tanh(u)) / 2 with u = √(2/π) (X + 0.044715 X³): the tanh form, at most 5e-4 from the exact one.
    dX = dY ((1 + tanh(u)) / 2 + X (1 - tanh(u)²) u' / 2).

    References
    ----------
    Hendrycks, Gimpel, "Gaussian error linear units" (2016), section 2. Chapter 16.

    Examples
    --------
    >>> Y, backward = GELU()(np.array([0.0]))
    >>> Y, backward(np.array([2.0]))
    (array([0.]), array([1.]))
    """

    check_input = as_floats

    def forward(self, X):
        """Return GELU of X, in its tanh form, and the backward function."""
        scale = math.sqrt(2.0 / math.pi)
        slope = 0.044715 * X * X  # careful: X**3 is many times slower than X * X * X
        half = np.tanh(scale * X * (1.0 + slope))
        half += 1.0
        half *= 0.5  # (1 + tanh(u)) / 2, whose slope is 2 half (1 - half) u'
        Y = X * half
        slope *= 6.0 * scale  # careful: in place, since these are the largest arrays of a network
        slope += 2.0 * scale
        slope *= Y
        slope *= 1.0 - half
        slope += half
        return Y, lambda dY: dY * slope


class Softmax(Layer):
    """Turn each row of scores (last axis) into probabilities.

    Notes
    -----
    Yᵢ = exp(Xᵢ) / Σⱼ exp(Xⱼ), computed from X minus its maximum, which gives the same Y and cannot overflow.
    dX = Y (dY - Σⱼ dYⱼ Yⱼ): every output depends on every input of its row.

    References
    ----------
    Chapter 06.

    Examples
    --------
    >>> Y, backward = Softmax()(np.array([[0.0, 0.0]]))
    >>> Y, backward(np.array([[1.0, 0.0]]))
    (array([[0.5, 0.5]]), array([[ 0.25, -0.25]]))
    """

    check_input = as_floats

    def forward(self, X):
        """Return the softmax of each row and the backward function."""
        E = np.exp(X - X.max(axis=-1, keepdims=True))
        Y = E / E.sum(axis=-1, keepdims=True)
        return Y, lambda dY: Y * (dY - (dY * Y).sum(axis=-1, keepdims=True))
