"""Tables of learned rows: one row for each token, one for each place in a sequence.

Leaves out positions made of sines, which learn nothing. Built in chapter 16.
"""

import numpy as np

from minigrad.layers.linear import Linear
from minigrad.shapes import ShapeError, shape_of


def _normal(shape, rng):
    """Draw standard normal numbers: a row that is looked up is no sum of many, so it needs no scale."""
    return rng.normal(size=shape)


class _Table(Linear):
    """A linear layer of one-hot rows that are not written out: the product picks rows of W."""

    def check_input(self, X):
        """Refuse an empty X, and a table without rows."""
        if 0 in shape_of(X):
            raise ShapeError(f"{self} got an empty X, of shape {shape_of(X)}: give at least one step.")
        if self.W is None:
            raise ShapeError(f"{self} has no rows: give both sizes and rng=0, or call initialize(X, rng=0).")


class Embedding(_Table):
    """Look up a row of numbers for each token: Y = W[X].

    Parameters
    ----------
    n_tokens : int, optional
        How many tokens there are; left open, one more than the largest of the sample given to `initialize`.
    n_out : int
        How many numbers stand for a token.
    init : function, (shape, rng) -> array
        Where the rows start: standard normal numbers.
    rng : int or numpy.random.Generator, optional
        Where the rows are drawn from; without it they are drawn by `initialize`.
    dtype : numpy dtype, optional
        float64 unless given here: tokens are integers, and do not tell.

    Attributes
    ----------
    W : Parameter (n_tokens, n_out)

    Raises
    ------
    TypeError
        If X holds no integers.
    ValueError
        If a token is not one of the n_tokens.
    ShapeError
        If X is empty, or a size is still unknown.

    Notes
    -----
    X (batch, steps) -> Y (batch, steps, n_out).
    Y = W[X], which is one_hot(X) W without the product.
    dX is None: there is nothing between two integers. dW = one_hot(X)ᵀ dY: a row gets the sum of dY over
    the places of its token. One-hot rows are made for the tokens that occur, and no others.

    References
    ----------
    Bengio, Ducharme, Vincent, Jauvin, "A neural probabilistic language model" (2003), section 2. Chapter 16.

    Examples
    --------
    >>> layer = Embedding(3, 2, rng=0)
    >>> layer.W.data[...] = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> Y, backward = layer(np.array([[2, 0, 2]]))
    >>> Y
    array([[[5., 6.],
            [1., 2.],
            [5., 6.]]])
    >>> backward(np.ones((1, 3, 2)))
    >>> layer.W.grad
    array([[1., 1.],
           [0., 0.],
           [2., 2.]])
    """

    def __init__(self, n_tokens=None, n_out=None, *, init=_normal, rng=None, dtype=None):
        super().__init__(n_tokens, n_out, bias=False, init=init, rng=rng, dtype=dtype)

    def forward(self, X):
        """Return the row of each token and the way back."""
        W = self.W

        def backward(dY):
            places, tokens = X.reshape(-1), np.unique(X)
            # careful: W.grad[X] += dY would keep one dY of a token that stands in several places
            one_hot = (tokens[:, None] == places).astype(dY.dtype)  # (tokens that occur, batch · steps)
            W.grad[tokens] += one_hot @ dY.reshape(len(places), -1)  # dL/dW = one_hot(X)ᵀ dY

        return W.data[X], backward

    def open(self, X, Y, rng):
        """Take the number of tokens from the sample and draw the rows."""
        if self.n_in is None and 0 not in shape_of(X):
            self.n_in = int(X.max()) + 1
        super().open(X, Y, rng)

    def check_input(self, X):
        """Refuse what is not a token."""
        super().check_input(X)
        if X.dtype.kind not in "iu":
            raise TypeError(f"{self} looks up integers, got {X.dtype}: convert with X.astype(int).")
        if X.min() < 0 or X.max() >= self.n_in:
            raise ValueError(f"{self} knows tokens from 0 to {self.n_in - 1}, got {X.min()} to {X.max()}.")


class Positions(_Table):
    """Add to each step a row of numbers that says where it stands: Y = X + W[:steps].

    Parameters
    ----------
    n_steps, n_out : int, optional
        The longest sequence, and the width of X; what is left open is taken from the sample given to
        `initialize`.
    init : function, (shape, rng) -> array
        Where the rows start: standard normal numbers.
    rng : int or numpy.random.Generator, optional
        Where the rows are drawn from; without it they are drawn by `initialize`.
    dtype : numpy dtype, optional
        float64 unless given here or by the sample.

    Attributes
    ----------
    W : Parameter (n_steps, n_out)

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_out), or empty, has more steps than n_steps, or a size is still unknown.

    Notes
    -----
    Y = X + W[:steps].
    dX = dY, dW[:steps] = sum of dY over the batch.

    References
    ----------
    Gehring, Auli, Grangier, Yarats, Dauphin, "Convolutional sequence to sequence learning" (2017), section
    3.1. Chapter 16.

    Examples
    --------
    >>> layer = Positions(3, 1, rng=0)
    >>> layer.W.data[...] = [[10.0], [20.0], [30.0]]
    >>> Y, backward = layer(np.array([[[1.0], [2.0]]]))
    >>> Y.ravel(), backward(Y).ravel(), layer.W.grad.ravel()
    (array([11., 22.]), array([11., 22.]), array([11., 22.,  0.]))
    """

    def __init__(self, n_steps=None, n_out=None, *, init=_normal, rng=None, dtype=None):
        super().__init__(n_steps, n_out, bias=False, init=init, rng=rng, dtype=dtype)

    def forward(self, X):
        """Return X with the rows added, and the way back."""
        W, steps = self.W, X.shape[1]

        def backward(dY):
            W.grad[:steps] += dY.sum(axis=0)  # dL/dW: the same rows were added to every example
            return dY  # dL/dX = dY

        return X + W.data[:steps], backward

    def open(self, X, Y, rng):
        """Take the number of steps and the width from the sample and draw the rows."""
        if len(shape_of(X)) == 3:
            self.n_in, self.n_out = self.n_in or shape_of(X)[1], self.n_out or shape_of(X)[2]
        super().open(X, None, rng)

    def check_input(self, X):
        """Refuse a sequence of another width, or one that is too long."""
        super().check_input(X)
        if len(shape_of(X)) != 3 or shape_of(X)[2] != self.n_out:
            raise ShapeError(f"{self} expects X of shape (batch, steps, {self.n_out}), got {shape_of(X)}.")
        if X.shape[1] > self.n_in:
            raise ShapeError(f"{self} has rows for {self.n_in} steps, got {X.shape[1]}: cut the sequences.")
