"""The linear layer, Y = X W + b. Built in chapter 04."""

import numpy as np
from numpy import ndarray

from minigrad.initializers import lecun
from minigrad.layers.weighted import Weighted
from minigrad.parameter import Parameter
from minigrad.shapes import ShapeError, require_width, shape_of


class Linear(Weighted):
    """Multiply by a matrix and add a bias: Y = X W + b.

    Parameters
    ----------
    n_in, n_out : int, optional
        Widths of X and Y; a missing size is taken from the sample given to `initialize`.
    bias : bool
        False omits b.
    init : function, (shape, rng) -> array
        Initial values of W; b starts at zero.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_in, n_out)
    b : Parameter (n_out,), or None

    Raises
    ------
    ShapeError
        If the last axis of X does not have n_in entries, or a size is missing.

    Notes
    -----
    Y = X W + b.
    dX = dY Wᵀ, dW = Xᵀ dY, db = sum of dY over the batch. All axes before the last belong to the batch.

    References
    ----------
    Chapter 04.

    Examples
    --------
    >>> layer = Linear(2, 1, rng=0)
    >>> layer.W.data[...] = [[3.0], [5.0]]
    >>> Y, backward = layer(np.array([[1.0, 2.0]]))
    >>> Y, backward(np.array([[1.0]])), layer.W.grad.ravel(), layer.b.grad
    (array([[13.]]), array([[3., 5.]]), array([1., 2.]), array([1.]))
    """

    def __init__(self, n_in=None, n_out=None, *, bias=True, init=lecun, rng=None):
        self.n_in, self.n_out, self.bias, self.init = n_in, n_out, bias, init
        super().__init__(rng)

    def forward(self, X, need_dX=True):
        """Return X W + b and the backward function; every axis of X but the last belongs to the batch."""
        W, b = self.W, self.b
        rows = X.reshape(-1, X.shape[-1])
        Y = rows @ W.data  # (batch, n_in) @ (n_in, n_out)
        if b is not None:
            Y += b.data

        def backward(dY):
            d_rows = dY.reshape(len(rows), -1)  # careful: len(Y) would keep Y alive
            W.grad += rows.T @ d_rows  # (n_in, batch) @ (batch, n_out)
            if b is not None:
                b.grad += d_rows.sum(axis=0)
            return (d_rows @ W.data.T).reshape(X.shape) if need_dX else None

        return Y.reshape(*X.shape[:-1], W.shape[1]), backward

    def take_sizes(self, X, Y):
        """Take missing sizes from the samples."""
        if self.n_in is None:
            self.n_in = shape_of(X)[-1]
        if self.n_out is None and Y is not None:
            self.n_out = self._width(X, Y)

    def _width(self, X, Y):
        """Return the number of outputs that the targets require."""
        if Y.dtype.kind in "iu" and len(shape_of(Y)) < len(shape_of(X)):
            return int(Y.max()) + 1  # careful: these are labels of classes, not rows of outputs
        if len(shape_of(Y)) < 2:
            raise ShapeError(f"{self} takes n_out from rows of Y, got shape {shape_of(Y)}: write Y[:, None].")
        return shape_of(Y)[-1]

    def draw(self, rng):
        """Draw W, and set b to zero."""
        self.W = Parameter(self.init((self.n_in, self.n_out), rng))
        self.b = Parameter(np.zeros(self.n_out)) if self.bias else None

    def check_input(self, X):
        """Raise ShapeError for a wrong width, and ValueError without weights."""
        is_array = type(X) is ndarray and X.dtype.kind in "fiub" and X.ndim
        if is_array and X.shape[-1] == self.n_in and "W" in self.__dict__:
            return  # the usual case; otherwise raise the right error
        super().check_input(X)
        require_width(self, X)
