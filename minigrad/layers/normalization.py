"""Dropout, LayerNorm and BatchNorm.

Dropout draws random masks, and the norms compute statistics of X. Dropout and BatchNorm behave differently
in training. Built in chapter 10, where RMSNorm is an exercise.
"""

import threading

import numpy as np

from minigrad.backend import array_module
from minigrad.layer import Layer
from minigrad.layers.weighted import Weighted
from minigrad.parameter import Buffer, Parameter
from minigrad.settings import as_generator, require_number
from minigrad.shapes import ShapeError, as_floats, require_axis, require_width, shape_of

_moving = threading.Lock()  # replicas share their running averages: one thread at a time updates them


class Dropout(Layer):
    """Set a random share of the entries to zero in training, and scale up the others to compensate.

    Parameters
    ----------
    rate : float
        The share of entries that are dropped, at least 0 and below 1.
    rng : int or numpy.random.Generator, optional
        The source of the layer's own Generator; if missing, `initialize` provides one.

    Raises
    ------
    ValueError
        If rate is out of its range, or the layer trains without a Generator.

    Notes
    -----
    Y = X mask / (1 - rate), with a mask of zeros and ones, so that the mean of Y is X. In evaluation Y = X.
    dX = dY mask / (1 - rate).
    The mask is drawn by NumPy, so it is the same on a GPU. The Generator is saved with the model.

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

    check_input = as_floats

    def __init__(self, rate=0.5, rng=None):
        self.rate = require_number("rate of Dropout", rate, least=0, below=1)
        self.rng = None if rng is None else _own(rng)

    def forward(self, X, training=False):
        """Return X, masked in training, and the backward function."""
        mask = 1.0
        if training and self.rate:
            if self.rng is None:
                raise self.missing()
            kept = self.rng.random(X.shape) >= self.rate
            mask = array_module(X).asarray(kept / (1.0 - self.rate), dtype=X.dtype)
        return X * mask, lambda dY: dY * mask

    def missing(self):
        """Return the error for a missing Generator, or None."""
        if self.rng is not None or self.rate == 0:
            return None
        return ValueError(f"{self} draws random masks: give it rng=0, or call model.initialize(X, rng=0).")

    def open(self, X, Y, rng):
        """Take a Generator from the one that initializes the model, unless the layer has its own."""
        if self.rng is None and rng is not None:
            self.rng = _own(rng)

    def __repr__(self):
        return f"Dropout({self.rate})"


def _own(rng):
    """Return a Generator for one layer: from a seed, or as a child of a Generator."""
    return rng.spawn(1)[0] if isinstance(rng, np.random.Generator) else as_generator(rng)


class _Norm(Weighted):
    """The base class of the norms: a gain and a shift for each column, initially 1 and 0."""

    has_width = False
    sizes, weights, shown = ("n_in",), ("gain", "shift"), {"eps": 1e-5}

    def __init__(self):
        super().__init__(rng=0)  # no random numbers are drawn

    def draw(self, rng):
        """Create gains of 1 and shifts of 0."""
        self.gain, self.shift = Parameter(np.ones(self.n_in)), Parameter(np.zeros(self.n_in))


class LayerNorm(_Norm):
    """Give each row (last axis) mean 0 and variance 1, then apply a gain and a shift per column.

    Parameters
    ----------
    n_in : int, optional
        The width of a row; if missing, it is taken from the sample given to `initialize`.
    eps : float
        Added to the variance, which avoids a division by zero in a row of equal numbers.

    Attributes
    ----------
    gain, shift : Parameter (n_in,)

    Raises
    ------
    ShapeError
        If the last axis of X does not have n_in entries, or the width is missing.

    Notes
    -----
    N = (X - mean) / √(variance + eps), Y = N gain + shift.
    dX = (dN - mean(dN) - N mean(dN N)) / √(variance + eps) with dN = dY gain: mean and variance depend on
    every entry of the row.

    References
    ----------
    Ba, Kiros, Hinton, "Layer normalization" (2016). Chapter 10.

    Examples
    --------
    >>> Y, backward = LayerNorm(2, eps=1e-12)(np.array([[3.0, 5.0]]))
    >>> Y.round(6), backward(np.array([[1.0, 1.0]])).round(6) + 0.0
    (array([[-1.,  1.]]), array([[0., 0.]]))
    """

    def __init__(self, n_in=None, eps=1e-5):
        self.n_in, self.eps = n_in, eps
        super().__init__()

    def forward(self, X):
        """Return the normalized rows and the backward function."""
        N = X - X.mean(axis=-1, keepdims=True)
        return _normalize(N, (N * N).mean(axis=-1, keepdims=True), self, axis=-1, measured=(-1,))

    def take_sizes(self, X, Y):
        """Take the width from the sample."""
        self.n_in = shape_of(X)[-1]

    def check_input(self, X):
        """Raise ShapeError for a wrong or missing width."""
        super().check_input(X)
        require_width(self, X)


class BatchNorm(_Norm):
    """Give each column mean 0 and variance 1 over the batch, then apply a gain and a shift.

    Parameters
    ----------
    n_in : int, optional
        The number of columns; if missing, it is taken from the sample given to `initialize`.
    axis : int
        The axis of the columns: 1 for (batch, n_in) and for images (batch, channels, rows, columns).
    momentum : float
        The weight of a batch in the running averages, above 0 and at most 1.
    eps : float
        Added to the variance.

    Attributes
    ----------
    gain, shift : Parameter (n_in,)
    running_mean, running_variance : Buffer (n_in,)
        Averages over the training batches: saved, not trained, and used in evaluation.

    Raises
    ------
    ShapeError
        If X does not have n_in columns, or their number is missing.
    ValueError
        If momentum is out of its range.

    Notes
    -----
    N = (X - mean) / √(variance + eps), Y = N gain + shift; in training with the batch's mean and variance,
    otherwise with the running averages.
    In training dX = (dN - mean(dN) - N mean(dN N)) / √(variance + eps) with dN = dY gain, otherwise
    dX = dN / √(variance + eps). For a batch of one example, N is 0.
    running ← (1 - momentum) running + momentum batch, with the batch's variance divided by count - 1.

    References
    ----------
    Ioffe, Szegedy, "Batch normalization" (2015), algorithms 1 and 2. Chapter 10.

    Examples
    --------
    >>> Y, backward = BatchNorm(1, eps=1e-12)(np.array([[3.0], [5.0]]), training=True)
    >>> Y.ravel().round(6), backward(np.array([[1.0], [1.0]])).ravel().round(6) + 0.0
    (array([-1.,  1.]), array([0., 0.]))
    """

    shown = {"axis": 1, "eps": 1e-5}

    def __init__(self, n_in=None, axis=1, momentum=0.1, eps=1e-5):
        self.n_in, self.axis = n_in, axis
        self.momentum = require_number("momentum of BatchNorm", momentum, above=0, most=1)
        self.eps = eps
        super().__init__()

    def forward(self, X, training=False):
        """Return the normalized columns and the backward function."""
        batch, like = _all_but(self.axis, X)
        if not training:
            mean, variance = (part.data.reshape(like) for part in (self.running_mean, self.running_variance))
            return _normalize(X - mean, variance, self, self.axis)
        mean = X.mean(axis=batch, keepdims=True)
        N = X - mean
        variance = (N * N).mean(axis=batch, keepdims=True)
        self._remember(mean.reshape(-1), variance.reshape(-1), X.size // self.n_in)
        return _normalize(N, variance, self, self.axis, measured=batch)

    def _remember(self, mean, variance, count):
        """Move the running averages towards those of a batch with `count` entries per column."""
        with _moving:
            self.running_mean.data += self.momentum * (mean - self.running_mean.data)
            if count > 1:  # a single number has no variance
                unbiased = variance * (count / (count - 1))
                self.running_variance.data += self.momentum * (unbiased - self.running_variance.data)

    def take_sizes(self, X, Y):
        """Take the number of columns from the sample."""
        self.n_in = require_axis(self, X, self.axis)[self.axis]

    def draw(self, rng):
        """Create gains and shifts, and running averages of mean 0 and variance 1."""
        super().draw(rng)
        self.running_mean, self.running_variance = Buffer(self.shift.data), Buffer(self.gain.data)

    def check_input(self, X):
        """Raise ShapeError for a wrong number of columns, or an empty batch."""
        super().check_input(X)
        shape = require_axis(self, X, self.axis)
        if shape[self.axis] != self.n_in or 0 in shape:
            wanted = f"{self.n_in} in axis {self.axis} and a batch that is not empty"
            raise ShapeError(f"{self} expects {wanted}, got X of shape {shape}.")


def _normalize(N, variance, layer, axis, measured=()):
    """Divide N = X - mean by the root of variance, in place; apply gains and shifts. Return (Y, backward).

    There is one gain and one shift per index of an axis. The backward pass includes mean and variance if they
    were computed from this X; `measured` lists their axes.
    """
    gain, shift = layer.gain, layer.shift
    others, like = _all_but(axis, N)
    scale = 1.0 / np.sqrt(variance + layer.eps)
    N *= scale

    def backward(dY):
        gain.grad += (dY * N).sum(axis=others)
        shift.grad += dY.sum(axis=others)
        dN = dY * gain.data.reshape(like)
        if measured:  # each entry changes mean and variance, and so all others
            along_N = (dN * N).mean(axis=measured, keepdims=True)
            dN -= dN.mean(axis=measured, keepdims=True)
            dN -= N * along_N
        return dN * scale

    return N * gain.data.reshape(like) + shift.data.reshape(like), backward


def _all_but(axis, X):
    """Return all axes of X but one, and the shape in which values along that axis broadcast against X."""
    others = tuple(place for place in range(X.ndim) if place != axis % X.ndim)
    return others, [1 if place in others else size for place, size in enumerate(X.shape)]
