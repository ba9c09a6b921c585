"""Self-attention, in which every position takes a weighted mean of all positions; and the transformer block.

There is no cross-attention, and no cache of keys and values, which would make generation cheaper. Built in
chapters 16 (MultiHeadAttention) and 17 (TransformerBlock).
"""

import numpy as np

from minigrad.backend import array_module
from minigrad.layer import Layer
from minigrad.layers.activations import GELU
from minigrad.layers.combinators import Residual
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import Dropout, LayerNorm
from minigrad.settings import as_generator, require_integer
from minigrad.shapes import ShapeError, shape_of, with_lengths


class MultiHeadAttention(Layer):
    """Give each step of a sequence a mean of all values, weighted by how well their keys fit its query.

    Parameters
    ----------
    n_in : int, optional
        The width of X and of Y; if missing, it is taken from the sample given to `initialize`.
    heads : int
        The number of heads, each with n_in / heads channels.
    causal : bool
        True lets a step attend only to itself and to earlier steps.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    queries, keys, values, output : Linear (n_in, n_in)

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_in), or empty, a length is not from 1 to steps, n_in is not a multiple of
        heads, or n_in is missing.

    Notes
    -----
    X (batch, steps, n_in) -> Y of X's shape. With Q, K, V the three projections of X, split into heads:
    A = softmax(Q Kᵀ / √width) row by row, Y = (A V, heads side by side) W + b.
    dV = Aᵀ dH, dA = dH Vᵀ, dS = A (dA - rowsum(dA A)) / √width, dQ = dS K, dK = dSᵀ Q; dX is the sum of the
    gradients through queries, keys and values.
    The keys' bias adds one number to a row of Q Kᵀ, which does not change softmax, so its gradient is 0.
    X may be a tuple (X, lengths) of padded sequences: steps after the end get no attention, their Y is 0,
    and backward returns (dX, None).

    References
    ----------
    Vaswani and others, "Attention is all you need" (2017), equation 1 and section 3.2.2. Chapter 16.

    Examples
    --------
    >>> layer = MultiHeadAttention(1, rng=0)
    >>> for part in layer.queries, layer.keys, layer.values, layer.output:
    ...     part.W.data[...] = 1.0
    >>> X = np.array([[[0.0], [np.log(3.0)]]])  # the first query is 0, and its result is the mean
    >>> layer.weights(X)[0, 0, 0]
    array([0.5, 0.5])
    >>> Y, backward = layer(X)
    >>> bool(np.isclose(Y[0, 0, 0], np.log(3.0) / 2))
    True
    """

    def __init__(self, n_in=None, heads=1, causal=False, *, rng=None):
        require_integer("heads of MultiHeadAttention", heads)
        if n_in is not None:
            require_integer("n_in of MultiHeadAttention", n_in)
        rng = None if rng is None else as_generator(rng)  # the four layers draw in order
        parts = [Linear(n_in, n_in, rng=rng) for _ in range(4)]
        self.queries, self.keys, self.values, self.output = parts
        self.n_in, self.heads, self.causal = n_in, heads, causal

    def forward(self, X):
        """Return the values mixed by attention, and the backward function."""
        X, lengths = with_lengths(self, X)
        (Q, back_Q), (K, back_K), (V, back_V) = self.queries(X), self.keys(X), self.values(X)
        Q, K, V = map(self._split, (Q, K, V))  # (batch, steps, n_in) -> (batch, heads, steps, width)
        A, scale = self._look(Q, K, lengths), Q.shape[-1] ** -0.5  # (batch, heads, steps, steps), 1 / √width
        Y, back_Y = self.output(H := _merge(A @ V))  # (batch, heads, steps, width) -> (batch, steps, n_in)
        if lengths is not None:  # Y is 0 after the end of a sequence
            Y *= (real := array_module(X).arange(X.shape[1])[:, None] < lengths[:, None, None])

        def backward(dY):
            dH = back_Y(dY if lengths is None else dY * real)
            dH, dH_H = self._split(dH), self._split(dH * H)
            dV, dS = _turn(A) @ dH, _turn(V @ _turn(dH))  # H = A V; dS is still dA, and transposed like A
            dS -= dH_H.sum(axis=-1, keepdims=True)  # careful: equals rowsum(dA A), with less work
            dS *= A  # A = softmax(S)
            dQ, dK = scale * (dS @ K), scale * (_turn(dS) @ Q)  # S = scale Q Kᵀ
            dX = back_Q(_merge(dQ)) + back_K(_merge(dK)) + back_V(_merge(dV))  # X was used three times
            return dX if lengths is None else (dX, None)

        return Y, backward

    def weights(self, X):
        """Return the attention weights A (batch, heads, steps, steps), whose rows sum to 1."""
        self.check_input(X)
        X, lengths = with_lengths(self, X)
        return self._look(self._split(self.queries(X)[0]), self._split(self.keys(X)[0]), lengths)

    def _look(self, Q, K, lengths):
        """Return softmax(Q Kᵀ / √width), zero at masked positions."""
        positions = array_module(Q).arange(Q.shape[2])[:, None]
        # careful: A is computed transposed, with a column per query: sums are twice as fast
        A = K @ _turn(Q.shape[-1] ** -0.5 * Q)
        if self.causal:
            A += _mask(positions > positions.T, A)  # (steps, steps)
        if lengths is not None:
            A += _mask(positions >= lengths[:, None, None, None], A)  # after the end of a sequence
        A -= A.max(axis=-2, keepdims=True)
        np.exp(A, out=A)
        return _turn(A / A.sum(axis=-2, keepdims=True))

    def _split(self, X):
        """Split the last axis into heads: (batch, steps, n_in) -> (batch, heads, steps, width)."""
        return X.reshape(*X.shape[:2], self.heads, -1).swapaxes(1, 2)

    def open(self, X, Y, rng):
        """Take the width from the sample; the four linear layers then draw their weights."""
        if self.n_in is None and X is not None:
            self.n_in = shape_of(with_lengths(self, X)[0])[-1]
            for part in self.queries, self.keys, self.values, self.output:
                part.n_in = part.n_out = self.n_in

    def check_input(self, X):
        """Raise ShapeError unless X is a batch of sequences of width n_in, with lengths that fit."""
        X, _ = with_lengths(self, X)
        shape = shape_of(X)
        if self.n_in is None:
            raise ShapeError(f"{self} has no n_in yet: pass it, or call model.initialize(X).")
        if self.n_in % self.heads:
            raise ShapeError(f"{self} splits n_in into equal heads: n_in must be a multiple of heads.")
        if len(shape) != 3 or shape[2] != self.n_in or 0 in shape:
            raise ShapeError(f"{self} expects X (batch, steps, {self.n_in}), not empty; got {shape}.")

    def __repr__(self):
        return f"MultiHeadAttention({self.n_in or '?'}, heads={self.heads}, causal={self.causal})"


def _mask(hidden, S):
    """Create a mask to add to S: -inf at hidden positions, 0 elsewhere."""
    return np.where(hidden, -np.inf, 0.0).astype(S.dtype)


def _turn(A):
    """Return the transposes of the matrices in the last two axes."""
    return A.swapaxes(-1, -2)


def _merge(H):
    """Concatenate the heads: (batch, heads, steps, width) -> (batch, steps, heads · width)."""
    return H.swapaxes(1, 2).reshape(H.shape[0], H.shape[2], -1)


class TransformerBlock(Layer):
    """A transformer block: attention, then two linear layers, each with a residual connection.

    Parameters
    ----------
    n_in : int, optional
        The width of X and of Y; if missing, it is taken from the sample given to `initialize`.
    heads, causal
        As for MultiHeadAttention.
    dropout : float
        The dropout rate of both residual branches in training.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    block : Sequential
        The two residual layers.
    wide : Linear (n_in, 4 n_in)

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_in), or empty, n_in is not a multiple of heads, or n_in is missing.

    Notes
    -----
    H = X + attention(norm(X)), Y = H + W₂ GELU(W₁ norm(H)), with 4 n_in hidden units.
    dX is composed of the backward passes of the parts. The norms come before the layers ("pre-norm"), so that
    the gradient has a direct path from Y to X.
    Padded sequences need no lengths if causal is True, since no step attends to later ones.

    References
    ----------
    Vaswani and others, "Attention is all you need" (2017), section 3.1; Radford and others, "Language models
    are unsupervised multitask learners" (2019), section 2.3, for the place of the norms. Chapter 17.

    Examples
    --------
    >>> block = TransformerBlock(2, rng=0)
    >>> block
    TransformerBlock(2, heads=1, causal=False)
    >>> for parameter in block.parameters():
    ...     parameter.data[...] = 0.0
    >>> block.predict(np.array([[[3.0, 5.0]]]))  # both branches add 0
    array([[[3., 5.]]])
    """

    def __init__(self, n_in=None, heads=1, causal=False, *, dropout=0.0, rng=None):
        rng = None if rng is None else as_generator(rng)  # the parts draw in order
        self.n_in, self.heads, self.causal, self.dropout = n_in, heads, causal, dropout
        attention = MultiHeadAttention(n_in, heads, causal, rng=rng)
        wide, narrow = Linear(n_in, n_in and 4 * n_in, rng=rng), Linear(n_in and 4 * n_in, n_in, rng=rng)
        look = Residual(LayerNorm(n_in) >> attention >> Dropout(dropout, rng))
        think = Residual(LayerNorm(n_in) >> wide >> GELU() >> narrow >> Dropout(dropout, rng))
        self.block, self.wide = look >> think, wide

    def forward(self, X, training=False):
        """Add both branches to X; return the sum and the backward function."""
        return self.block(X, training=training)

    def open(self, X, Y, rng):
        """Take the width from the sample; the parts then take their own."""
        if self.n_in is None and X is not None:
            self.n_in = shape_of(X)[-1]
            self.wide.n_out = 4 * self.n_in

    def __repr__(self):
        return f"TransformerBlock({self.n_in or '?'}, heads={self.heads}, causal={self.causal})"
