"""Layers that read a sequence step by step and keep a state: RNN and LSTM.

Sequences of different lengths form one batch, padded by `pad`, together with their lengths. Both layers call
one function at every step, with the same weights; their common code is in a base class. Built in chapter 15,
where GRU is an exercise.
"""

import numpy as np

from minigrad.backend import array_module
from minigrad.initializers import lecun, orthogonal
from minigrad.layers.linear import Linear
from minigrad.parameter import Parameter
from minigrad.shapes import ShapeError, shape_of, with_lengths


class _Recurrent(Linear):
    """A linear layer applied to all steps at once, and then a subclass's loop, `through_time`."""

    weights, shown = ("W", "U", "b"), {"last": False}
    b_start = (0.0,)  # the initial bias of each block of n_out columns

    def __init__(  # noqa: PLR0913  settings
        self, n_in=None, n_out=None, *, last=False, init=lecun, init_U=orthogonal, rng=None
    ):
        self.last, self.init_U = last, init_U
        super().__init__(n_in, n_out, init=init, rng=rng)

    def forward(self, X, need_dX=True):
        """Run through time; return all states, or the last of each sequence, and the backward function."""
        X, lengths = with_lengths(self, X)
        X, U = X.swapaxes(0, 1), self.U  # (steps, batch, n_in): steps come first
        Z, backward_of_inputs = super().forward(X.reshape(-1, X.shape[-1]), need_dX)  # (steps · batch, ...)
        H, backward_through_time = self.through_time(Z.reshape(*X.shape[:2], -1), U.data)
        Y, backward_of_ends = _at_the_ends(H[1:], lengths, self.last)

        def backward(dY):
            dZ = backward_through_time(backward_of_ends(dY)).reshape(Z.shape)
            U.grad += H[:-1].reshape(-1, H.shape[-1]).T.dot(dZ)  # dL/dU = sum of Hₜ₋₁ᵀ dZₜ over the steps
            dX = backward_of_inputs(dZ)
            dX = dX.reshape(X.shape).swapaxes(0, 1) if need_dX else None
            return dX if lengths is None else (dX, None)

        return Y, backward

    def take_sizes(self, X, Y):
        """Take missing sizes from the samples."""
        super().take_sizes(with_lengths(self, X)[0], Y)

    def draw(self, rng):
        """Draw W and U block by block."""
        self.W = Parameter(np.hstack([self.init((self.n_in, self.n_out), rng) for _ in self.b_start]))
        self.U = Parameter(np.hstack([self.init_U((self.n_out, self.n_out), rng) for _ in self.b_start]))
        self.b = Parameter(np.repeat(self.b_start, self.n_out))

    def check_input(self, X):
        """Raise ShapeError for a wrong shape or lengths, and ValueError without weights."""
        X, _ = with_lengths(self, X)
        shape = shape_of(X)
        if len(shape) != 3 or 0 in shape:
            what = "write X[None] for one sequence; none may be empty"
            raise ShapeError(f"{self} expects X of shape (batch, steps, n_in), got {shape}: {what}.")
        super().check_input(X)


def _at_the_ends(H, lengths, last):
    """Select the layer's output from all states (steps, batch, n_out); return it and its backward function.

    The states after the end of a sequence do not affect the states before it, and get no gradient. So only
    Y needs a mask, not every step.
    """
    xp, (steps, batch, _) = array_module(H), H.shape
    if last:
        ends = (steps if lengths is None else lengths) - 1, xp.arange(batch)

        def backward(dY):
            dH = np.zeros_like(H)
            dH[ends] = dY
            return dH

        return H[ends], backward
    if lengths is None:
        return H.swapaxes(0, 1), lambda dY: dY.swapaxes(0, 1)
    before_the_end = (xp.arange(steps)[:, None] < lengths)[:, :, None]  # (steps, batch, 1)
    return (H * before_the_end).swapaxes(0, 1), lambda dY: dY.swapaxes(0, 1) * before_the_end


class RNN(_Recurrent):
    """Read a sequence step by step; each state is a tanh of the input and the previous state.

    Parameters
    ----------
    n_in, n_out : int, optional
        Widths of X and of the state; a missing size is taken from the sample given to `initialize`.
    last : bool
        True returns only the state at the end of each sequence, Y (batch, n_out).
    init, init_U : function, (shape, rng) -> array
        Initial values of W and U; b starts at zero. An orthogonal U preserves the length of a small state.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_in, n_out)
        The weights of the input.
    U : Parameter (n_out, n_out)
        The weights of the previous state.
    b : Parameter (n_out,)

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_in), or is empty; if lengths are not one integer from 1 to steps for each
        sequence; if a size is missing.
    ValueError
        If the layer has no weights yet.

    Notes
    -----
    X is (batch, steps, n_in), or a tuple (X, lengths) of padded sequences and integers (batch,), for which
    backward returns (dX, None). Y is (batch, steps, n_out), zero after a sequence's end.
    H₀ = 0, Hₜ = tanh(Xₜ W + Hₜ₋₁ U + b), Yₜ = Hₜ.
    dHₜ = dYₜ + dZₜ₊₁ Uᵀ, dZₜ = dHₜ (1 - Hₜ²), dXₜ = dZₜ Wᵀ: a state is used twice, by Y and by the next step.
    dW = Σₜ Xₜᵀ dZₜ, dU = Σₜ Hₜ₋₁ᵀ dZₜ, db = Σₜ dZₜ summed over the batch.

    References
    ----------
    Elman, "Finding structure in time" (1990); Werbos, "Backpropagation through time: what it does and how to
    do it" (1990). Chapter 15.

    Examples
    --------
    >>> layer = RNN(1, 1, last=True, rng=0)
    >>> layer.W.data[...], layer.U.data[...] = 3.0, 2.0
    >>> Y, backward = layer(np.zeros((1, 2, 1)))  # tanh(0) = 0, with slope 1
    >>> Y, backward(np.array([[1.0]])).ravel()
    (array([[0.]]), array([6., 3.]))
    """

    def through_time(self, Z, U):
        """Compute the states, starting from zero, and a function from their gradients to dZ."""
        steps, batch, n_out = Z.shape
        H = np.zeros_like(Z, shape=(steps + 1, batch, n_out))
        for t in range(steps):
            H[t + 1] = np.tanh(Z[t] + H[t] @ U)

        def backward(dH):
            dZ = 1.0 - H[1:] * H[1:]  # initially the slopes of tanh at all steps
            from_later = 0.0
            for t in reversed(range(steps)):
                dZ[t] *= dH[t] + from_later
                from_later = dZ[t] @ U.T
            return dZ

        return H, backward


class LSTM(_Recurrent):
    """Read a sequence step by step, with a memory that three gates write to, clear and read.

    Parameters
    ----------
    n_in, n_out : int, optional
        Widths of X and of the state; a missing size is taken from the sample given to `initialize`.
    last : bool
        True returns only the state at the end of each sequence, Y (batch, n_out).
    init, init_U : function, (shape, rng) -> array
        Initial values of each of the four blocks of W and U.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_in, 4 n_out)
        The input weights of input gate, forget gate, candidate and output gate, side by side.
    U : Parameter (n_out, 4 n_out)
        The weights of the previous state.
    b : Parameter (4 n_out,)
        Initially zero, but 1 for the forget gate, which then keeps 0.73 of the memory at each step instead of
        a half; so gradients reach far enough back for the layer to learn what to keep.

    Raises
    ------
    ShapeError
        If X is not (batch, steps, n_in), or is empty; if lengths are not one integer from 1 to steps for each
        sequence; if a size is missing.
    ValueError
        If the layer has no weights yet.

    Notes
    -----
    X is (batch, steps, n_in), or a tuple (X, lengths) of padded sequences and integers (batch,), for which
    backward returns (dX, None). Y is (batch, steps, n_out), zero after a sequence's end.
    Zₜ = Xₜ W + Hₜ₋₁ U + b in four blocks; i, f, o = sigmoid of their blocks, g = tanh of its block;
    H₀ = C₀ = 0, Cₜ = f Cₜ₋₁ + i g, Yₜ = Hₜ = o tanh(Cₜ).
    dHₜ = dYₜ + dZₜ₊₁ Uᵀ, dCₜ = fₜ₊₁ dCₜ₊₁ + dHₜ o (1 - tanh(Cₜ)²): along C there are only products.
    dZₜ = [dC g | dC Cₜ₋₁ | dC i | dH tanh(Cₜ)] times the slopes s (1 - s) of the gates and 1 - g²; the rest
    is as for RNN. All four use one tanh, since sigmoid(z) = (1 + tanh(z / 2)) / 2.

    References
    ----------
    Hochreiter, Schmidhuber, "Long short-term memory" (1997); Gers, Schmidhuber, Cummins, "Learning to forget"
    (2000), for the forget gate; Jozefowicz, Zaremba, Sutskever, "An empirical exploration of recurrent
    network architectures" (2015), for its bias of 1. Chapter 15.

    Examples
    --------
    >>> layer = LSTM(1, 1, last=True, rng=0)
    >>> layer.W.data[...], layer.U.data[...] = [[0.0, 0.0, 4.0, 0.0]], 0.0
    >>> Y, backward = layer(np.zeros((1, 2, 1)))  # input and output gate are 1/2, the forget gate 0.73
    >>> Y, backward(np.array([[1.0]])).ravel().round(2)
    (array([[0.]]), array([0.73, 1.  ]))
    """

    b_start = (0.0, 1.0, 0.0, 0.0)  # 1 for the forget gate

    def through_time(self, Z, U):
        """Compute the states, as RNN does, and also the memory C."""
        steps, batch, n_out = *Z.shape[:2], Z.shape[2] // 4
        H = np.zeros_like(Z, shape=(steps + 1, batch, n_out))
        C, tanh_C, gates = np.zeros_like(H), np.empty_like(H[1:]), np.empty_like(Z)
        half = np.full_like(Z, 0.5, shape=4 * n_out)  # sigmoid(z) = 0.5 + 0.5 tanh(0.5 z)
        half[2 * n_out : 3 * n_out] = 1.0  # and the candidate's tanh is 0 + 1 tanh(1 z)
        input_, forget, candidate, output = np.split(gates, 4, axis=-1)  # views, which the loop fills
        for t in range(steps):
            gates[t] = half * np.tanh(half * (Z[t] + H[t] @ U)) + (1.0 - half)
            C[t + 1] = forget[t] * C[t] + input_[t] * candidate[t]
            tanh_C[t] = np.tanh(C[t + 1])
            H[t + 1] = output[t] * tanh_C[t]

        def backward(dH):
            dZ = gates * (1.0 - gates)  # initially the slopes of the sigmoids at all steps
            d_input, d_forget, d_candidate, d_output = np.split(dZ, 4, axis=-1)
            d_candidate[...] = 1.0 - candidate * candidate  # and the slopes of tanh
            d_input *= candidate
            d_forget *= C[:-1]
            d_candidate *= input_
            d_output *= tanh_C
            dC_by_dH = output * (1.0 - tanh_C * tanh_C)
            of_memory = dZ.reshape(steps, batch, 4, n_out)[:, :, :3]  # the three blocks that depend on dC
            dC = from_later = 0.0
            for t in reversed(range(steps)):
                dH_t = dH[t] + from_later
                dC = dC + dH_t * dC_by_dH[t]
                of_memory[t] *= dC[:, None]
                d_output[t] *= dH_t
                from_later = dZ[t] @ U.T
                dC = dC * forget[t]
            return dZ

        return H, backward
