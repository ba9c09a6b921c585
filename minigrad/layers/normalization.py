"""Layers that keep signals in shape: dropout, and two norms.

All three draw or measure in the pass itself, and two behave differently while training. Leaves out the
sibling that an exercise asks for (RMSNorm). Built in chapter 10.
"""

import numpy as np

from minigrad.backend import array_module
from minigrad.layer import Layer
from minigrad.parameter import Buffer, Parameter
from minigrad.shapes import ShapeError, shape_of


class Dropout(Layer):
    """While training, set a random share of the numbers to zero, and stretch the others to make up for it.

    Parameters
    ----------
    rate : float
        The share that is dropped, from 0 to below 1.
    rng : int or numpy.random.Generator, optional
        Where the layer's own Generator comes from; without it `initialize` gives one.

    Raises
    ------
    ValueError
        If rate is out of its range, or the layer trains without a Generator.

    Notes
    -----
    Y = X mask / (1 - rate), with a mask of zeros and ones, so that the mean of Y is X. Else Y = X.
    dX = dY mask / (1 - rate).
    The mask is drawn by NumPy, and so is the same on a GPU. The Generator is saved with the model.

    References
    ----------
    Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout" (2014). Chapter 10.

    Examples
    --------
    >>> X = np.ones(4)
    >>> Dropout(0.5, rng=0)(X)[0]
    array([1., 1., 1., 1.])
    >>> Dropout(0.5, rng=0)(X, training=True)[0]
    array([2., 0., 0., 0.])
    """

    def __init__(self, rate=0.5, rng=None):
        if not 0 <= rate < 1:
            raise ValueError(f"the rate of a Dropout is from 0 to below 1, got {rate}.")
        self.rate = rate
        self.rng = None if rng is None else _own(rng)

    def forward(self, X, training=False):
        """Return X, thinned out while training, and the way back."""
        if not training or self.rate == 0:
            return X, lambda dY: dY
        if self.rng is None:
            raise ValueError(
                f"{self} draws while training: give it rng=0, or call model.initialize(X, rng=0)."
            )
        kept = (self.rng.random(shape_of(X)) >= self.rate) / (1.0 - self.rate)
        mask = array_module(X).asarray(kept, dtype=X.dtype)
        return X * mask, lambda dY: dY * mask

    def open(self, X, Y, rng):
        """Take a Generator from the one that initializes the model, unless the layer has its own."""
        if self.rng is None and rng is not None:
            self.rng = _own(rng)

    def __repr__(self):
        return f"Dropout({self.rate})"


def _own(rng):
    """Return a Generator of the layer's own: of a seed the first, of a Generator a child."""
    return rng.spawn(1)[0] if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


class LayerNorm(Layer):
    """Give each row (last axis) mean 0 and variance 1, then a gain and a shift of its own to each column.

    Parameters
    ----------
    n_in : int, optional
        The width of a row; what is left open is taken from the sample given to `initialize`.
    eps : float
        Added to the variance, so that a row of equal numbers divides by something.
    dtype : numpy dtype, optional
        float64 unless given here or by the sample.

    Attributes
    ----------
    gain, shift : Parameter (n_in,)

    Raises
    ------
    ShapeError
        If the last axis of X is not n_in, or the width is still unknown.

    Notes
    -----
    N = (X - mean) / √(variance + eps), Y = N gain + shift.
    dX = (dN - mean(dN) - N mean(dN N)) / √(variance + eps) with dN = dY gain: mean and variance depend on
    every number of the row.

    References
    ----------
    Ba, Kiros, Hinton, "Layer normalization" (2016). Chapter 10.

    Examples
    --------
    >>> Y, backward = LayerNorm(2, eps=1e-12)(np.array([[3.0, 5.0]]))
    >>> Y.round(6), backward(np.array([[1.0, 1.0]])).round(6) + 0.0
    (array([[-1.,  1.]]), array([[0., 0.]]))
    """

    def __init__(self, n_in=None, eps=1e-5, dtype=None):
        self.n_in, self.eps, self.dtype = n_in, eps, dtype
        self.gain = self.shift = None
        if n_in is not None:
            self.gain, self.shift = _gain_and_shift(n_in, dtype or np.float64, np)

    def forward(self, X):
        """Return the normalized rows and the way back."""
        N = X - X.mean(axis=-1, keepdims=True)
        return _normalize(N, (N * N).mean(axis=-1, keepdims=True), self, axis=-1, measured=(-1,))

    def open(self, X, Y, rng):
        """Take the width from the sample."""
        if self.gain is None:
            self.n_in = shape_of(X)[-1]
            self.gain, self.shift = _gain_and_shift(self.n_in, self.dtype or _float_type(X), array_module(X))

    def check_input(self, X):
        """Refuse a wrong width, and a layer that does not know its own."""
        super().check_input(X)
        _require_width(self, X)

    def __repr__(self):
        return f"LayerNorm({'?' if self.n_in is None else self.n_in})"


class BatchNorm(Layer):
    """Give each column mean 0 and variance 1 over the batch, then a gain and a shift of its own.

    Parameters
    ----------
    n_in : int, optional
        How many columns there are; what is left open is taken from the sample given to `initialize`.
    axis : int
        Where they stand: 1, as of (batch, n_in) and of images (batch, channels, rows, columns).
    momentum : float
        How much a batch moves the running averages, above 0 to 1.
    eps : float
        Added to the variance.
    dtype : numpy dtype, optional
        float64 unless given here or by the sample.

    Attributes
    ----------
    gain, shift : Parameter (n_in,)
    running_mean, running_variance : Buffer (n_in,)
        Averages over the batches seen in training: saved, never trained, used where nothing is trained.

    Raises
    ------
    ShapeError
        If X has not n_in columns, or their number is still unknown.
    ValueError
        If momentum is out of its range.

    Notes
    -----
    N = (X - mean) / √(variance + eps), Y = N gain + shift; in training with the batch's mean and variance,
    else with the running ones.
    In training dX = (dN - mean(dN) - N mean(dN N)) / √(variance + eps) with dN = dY gain, else
    dX = dN / √(variance + eps). A batch of one example is its own mean: N is 0.
    running ← (1 - momentum) running + momentum batch, with the variance of the batch's `count - 1`.

    References
    ----------
    Ioffe, Szegedy, "Batch normalization" (2015), algorithms 1 and 2. Chapter 10.

    Examples
    --------
    >>> Y, backward = BatchNorm(1, eps=1e-12)(np.array([[3.0], [5.0]]), training=True)
    >>> Y.ravel().round(6), backward(np.array([[1.0], [1.0]])).ravel().round(6) + 0.0
    (array([-1.,  1.]), array([0., 0.]))
    """

    def __init__(self, n_in=None, axis=1, momentum=0.1, eps=1e-5, dtype=None):
        if not 0 < momentum <= 1:
            raise ValueError(f"the momentum of a BatchNorm is above 0, to 1, got {momentum}.")
        self.width, self.axis, self.momentum, self.eps, self.dtype = n_in, axis, momentum, eps, dtype
        self.gain = self.shift = self.running_mean = self.running_variance = None
        if n_in is not None:
            self._make(dtype or np.float64, np)

    def forward(self, X, training=False):
        """Return the normalized columns and the way back."""
        batch = _all_but(self.axis, X)
        if not training:
            like = [1 if place in batch else size for place, size in enumerate(X.shape)]
            mean, variance = (part.data.reshape(like) for part in (self.running_mean, self.running_variance))
            return _normalize(X - mean, variance, self, self.axis)
        N = X - (mean := X.mean(axis=batch, keepdims=True))
        variance = (N * N).mean(axis=batch, keepdims=True)
        count = X.size // self.width
        unbiased = variance * (count / max(count - 1, 1))
        for running, new in (self.running_mean, mean), (self.running_variance, unbiased):
            running.data += self.momentum * (new.reshape(-1) - running.data)
        return _normalize(N, variance, self, self.axis, measured=batch)

    def open(self, X, Y, rng):
        """Take the number of columns from the sample."""
        if self.gain is None:
            self.width = shape_of(X)[self.axis]
            self._make(self.dtype or _float_type(X), array_module(X))

    def _make(self, dtype, xp):
        """Make the parameters, and the running averages of a signal that has mean 0 and variance 1."""
        self.gain, self.shift = _gain_and_shift(self.width, dtype, xp)
        self.running_mean, self.running_variance = Buffer(self.shift.data), Buffer(self.gain.data)

    def check_input(self, X):
        """Refuse a wrong number of columns, and a layer that does not know its own."""
        _require_width(self, X)
        if len(shape_of(X)) < 2 or shape_of(X)[self.axis] != self.width:
            raise ShapeError(
                f"{self} expects {self.width} in axis {self.axis}, got X of shape {shape_of(X)}."
            )

    def __repr__(self):
        return f"BatchNorm({'?' if self.width is None else self.width})"


def _gain_and_shift(width, dtype, xp):
    """Return a gain of ones and a shift of zeros, which change nothing."""
    return Parameter(xp.ones(width, dtype=dtype)), Parameter(xp.zeros(width, dtype=dtype))


def _require_width(layer, X):
    """Refuse to run a layer that has not been given its width."""
    if layer.gain is None:
        raise ShapeError(f"{layer} does not know its width: write it, or call model.initialize(X).")


def _normalize(N, variance, layer, axis, measured=()):
    """Return N = X - mean, in place, over the root of variance, with gains and shifts; and the way back.

    A gain and a shift belong to each entry of an axis. The way back goes through mean and variance as well,
    if they were measured on this X, over these axes.
    """
    gain, shift = layer.gain, layer.shift
    others = _all_but(axis, N)
    like = [1 if place in others else size for place, size in enumerate(N.shape)]
    scale = 1.0 / np.sqrt(variance + layer.eps)
    N *= scale

    def backward(dY):
        gain.grad += (dY * N).sum(axis=others)
        shift.grad += dY.sum(axis=others)
        dN = dY * gain.data.reshape(like)
        if measured:  # each number moves the mean and the variance, and with them all others
            dN = dN - dN.mean(axis=measured, keepdims=True) - N * (dN * N).mean(axis=measured, keepdims=True)
        return dN * scale

    return N * gain.data.reshape(like) + shift.data.reshape(like), backward


def _all_but(axis, X):
    """Return all axes of X but one."""
    return tuple(place for place in range(X.ndim) if place != axis % X.ndim)


def _float_type(X):
    """Return the float type that X asks for."""
    return X.dtype if X.dtype.kind == "f" else np.float64
