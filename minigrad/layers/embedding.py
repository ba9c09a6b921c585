"""Tables of learned rows: one row for each token, one for each position in a sequence.

Sinusoidal positions, which are not learned, are not included. Built in chapter 16.
"""

import numpy as np

from minigrad.layers.weighted import Weighted
from minigrad.parameter import Parameter
from minigrad.shapes import ShapeError, require_array, shape_of


def _normal(shape, rng):
    """Draw standard normal numbers: a row is looked up and not summed, so it needs no scale."""
    return rng.normal(size=shape)


class Embedding(Weighted):
    """Look up a row of W for each token: Y = W[X].

    Parameters
    ----------
    n_tokens : int, optional
        The size of the vocabulary; by default, one more than the largest token in the sample given to
        `initialize`.
    n_out : int
        The width of a row.
    init : function, (shape, rng) -> array
        Initial values of the rows, by default standard normal.
    rng : int or numpy.random.Generator, optional
        Draws the initial rows; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_tokens, n_out)

    Raises
    ------
    TypeError
        If X does not hold integers.
    ValueError
        If a token is not from 0 to n_tokens - 1.
    ShapeError
        If X is empty, or a size is missing.

    Notes
    -----
    X (batch, steps) -> Y (batch, steps, n_out).
    Y = W[X], which is one_hot(X) W without the product.
    dX is None: integers have no gradient. dW = one_hot(X)ᵀ dY: a row gets the sum of dY over
    the positions of its token.

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

    sizes, weights = ("n_tokens", "n_out"), ("W",)

    def __init__(self, n_tokens=None, n_out=None, *, init=_normal, rng=None):
        self.n_tokens, self.n_out, self.init = n_tokens, n_out, init
        super().__init__(rng)

    def forward(self, X):
        """Return the row of each token and the backward function."""
        W = self.W
        # careful: W.grad[X] += dY would add only one dY of a token that occurs several times
        return W.data[X], lambda dY: np.add.at(W.grad, X, dY)  # returns None: integers have no gradient

    def take_sizes(self, X, Y):
        """Take the number of tokens from the sample."""
        self._require_tokens(X)
        if self.n_tokens is None:
            self.n_tokens = int(X.max()) + 1

    def draw(self, rng):
        """Draw a row for each token."""
        self.W = Parameter(self.init((self.n_tokens, self.n_out), rng))

    def check_input(self, X):
        """Raise an error unless X holds tokens and the layer has weights."""
        super().check_input(X)
        self._require_tokens(X)
        if X.min() < 0 or X.max() >= self.n_tokens:
            got = f"{X.min()} to {X.max()}"
            raise ValueError(f"{self}: tokens must be 0 to {self.n_tokens - 1}, got {got}.")

    def _require_tokens(self, X):
        """Raise an error unless X holds integers and is not empty."""
        require_array(self, X)
        if 0 in shape_of(X):
            raise ShapeError(f"{self} got an empty X, of shape {shape_of(X)}: give at least one step.")
        if X.dtype.kind not in "iu":
            raise TypeError(f"{self} expects integers, got {X.dtype}: convert with X.astype(int).")


class Positions(Weighted):
    """Add to each step a row of W for its position: Y = X + W[:steps].

    Parameters
    ----------
    n_steps, n_out : int, optional
        The longest sequence, and the width of X; a missing size is taken from the sample given to
        `initialize`.
    init : function, (shape, rng) -> array
        Initial values of the rows, by default standard normal.
    rng : int or numpy.random.Generator, optional
        Draws the initial rows; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_steps, n_out)

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_out), or empty, has more steps than n_steps, or a size is missing.

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

    sizes, weights = ("n_steps", "n_out"), ("W",)

    def __init__(self, n_steps=None, n_out=None, *, init=_normal, rng=None):
        self.n_steps, self.n_out, self.init = n_steps, n_out, init
        super().__init__(rng)

    def forward(self, X):
        """Return X plus the rows, and the backward function."""
        W, steps = self.W, X.shape[1]

        def backward(dY):
            W.grad[:steps] += dY.sum(axis=0)  # dL/dW: the same rows were added to every example
            return dY  # dL/dX = dY

        return X + W.data[:steps], backward

    def take_sizes(self, X, Y):
        """Take the number of steps and the width from the sample."""
        if len(shape_of(X)) == 3:
            self.n_steps, self.n_out = self.n_steps or shape_of(X)[1], self.n_out or shape_of(X)[2]

    def draw(self, rng):
        """Draw a row for each position."""
        self.W = Parameter(self.init((self.n_steps, self.n_out), rng))

    def check_input(self, X):
        """Raise an error for a wrong width, a sequence that is too long, and if there are no weights."""
        super().check_input(X)
        if len(shape_of(X)) != 3 or 0 in shape_of(X) or shape_of(X)[2] != self.n_out:
            raise ShapeError(f"{self} expects X of shape (batch, steps, {self.n_out}), got {shape_of(X)}.")
        steps = X.shape[1]
        if steps > self.n_steps:
            raise ShapeError(f"{self} has rows for {self.n_steps} steps, got {steps}: shorten the input.")
