"""Layers for images, (batch, channels, rows, columns): convolution and max pooling.

Both slide a small window over the image. Inside a convolution arrays have the order (rows, channels, columns,
batch), so that a matrix product reads contiguous memory; Y is a view of such an array. There is no average
pooling, no dilation and no groups. Built in chapter 14.
"""

import numpy as np

from minigrad.initializers import lecun
from minigrad.layer import Layer
from minigrad.layers.weighted import Weighted
from minigrad.parameter import Parameter
from minigrad.settings import require_integer
from minigrad.shapes import ShapeError, as_floats, require_array, shape_of


class Conv2d(Weighted):
    """Slide kernels over an image: each entry of Y is one kernel times one window, plus a bias.

    Parameters
    ----------
    n_in, n_out : int, optional
        Channels of X and Y; a missing n_in is taken from the sample given to `initialize`.
    kernel : int or pair of int
        Rows and columns of a window.
    stride : int
        The distance between neighbouring windows, in rows and in columns.
    padding : int or "same"
        The number of rows and columns of zeros on each side; "same" adds kernel - 1 in total, so that at
        stride 1 Y has the rows and columns of X (an odd one is added at the right and at the bottom).
    bias : bool
        False omits b.
    init : function, (shape, rng) -> array
        Initial values of W, with kernel rows · kernel columns · n_in inputs; b starts at zero.
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Attributes
    ----------
    W : Parameter (n_out, n_in, kernel rows, kernel columns)
    b : Parameter (n_out,), or None

    Raises
    ------
    ShapeError
        If X is not a batch of images with n_in channels, or smaller than a window; if a size is unknown.
    ValueError
        If kernel, stride or padding is invalid.

    Notes
    -----
    Y[:, o, r, c] = b[o] + Σ W[o, p, i, j] X[:, p, r stride + i, c stride + j] over p, i, j, where X is
    padded with zeros. No kernel is flipped: strictly, this is a cross-correlation.
    dX[:, p, r stride + i, c stride + j] += dY[:, o, r, c] W[o, p, i, j],
    dW[o, p, i, j] = Σ dY[:, o, r, c] X[:, p, r stride + i, c stride + j], db = sum of dY over all but o.
    The windows of a row of Y lie side by side in a matrix, which multiplies all kernels at once. Neighbouring
    rows share most of it, so X is copied once for each column of the kernel, and not for each row.

    References
    ----------
    LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition" (1998),
    section II. Cho, Brand, "MEC: memory-efficient convolution for deep neural network" (2017), for the
    matrix. Chapter 14.

    Examples
    --------
    >>> layer = Conv2d(1, 1, kernel=(1, 2), rng=0)
    >>> layer.W.data[...] = [[[[3.0, 5.0]]]]
    >>> Y, backward = layer(np.array([[[[1.0, 2.0, 4.0]]]]))
    >>> Y.ravel(), backward(np.array([[[[1.0, 10.0]]]])).ravel(), layer.W.grad.ravel(), layer.b.grad
    (array([13., 26.]), array([ 3., 35., 50.]), array([21., 42.]), array([11.]))
    """

    def __init__(self, n_in=None, n_out=None, kernel=3, stride=1, padding=0,  # noqa: PLR0913  settings
                 *, bias=True, init=lecun, rng=None):  # fmt: skip
        rows, columns = kernel if isinstance(kernel, (tuple, list)) and len(kernel) == 2 else (kernel, kernel)
        for name, size in ("kernel", rows), ("kernel", columns), ("stride", stride):
            require_integer(f"{name} of Conv2d", size)
        if isinstance(padding, str) and padding != "same":
            wanted = 'an integer, 0 for none, or "same"'
            raise ValueError(f"padding of Conv2d must be {wanted}; got {padding!r}.")
        if padding != "same":
            require_integer("padding of Conv2d", padding, least=0)
        self.zeros = (rows - 1, columns - 1) if padding == "same" else (2 * padding, 2 * padding)
        self.n_in, self.n_out, self.kernel, self.stride = n_in, n_out, (rows, columns), stride
        self.padding, self.bias, self.init = padding, bias, init
        super().__init__(rng)

    def forward(self, X, need_dX=True):
        """Multiply every kernel by every window; return the images and the backward function."""
        W, b, (k_rows, k_columns) = self.W, self.b, self.kernel
        batch, n_in, rows, columns = X.shape
        top, left = (zeros // 2 for zeros in self.zeros)
        inside = np.s_[top : top + rows, :, left : left + columns]
        shape = (rows + self.zeros[0], n_in, columns + self.zeros[1], batch)  # of X with its padding
        padded = np.zeros_like(X, shape=shape, order="C")
        padded[inside] = X.transpose(2, 1, 3, 0)

        shifts = [np.s_[:, :, offset] for offset in _offsets(shape[2], k_columns, self.stride)]
        strips = np.stack([padded[shift] for shift in shifts], axis=2)  # a copy for each column of a kernel

        def windows_of(strips):  # one view for each row of Y: its windows side by side
            starts = range(0, len(strips) - k_rows + 1, self.stride)
            return [strips[row : row + k_rows].reshape(n_in * k_rows * k_columns, -1) for row in starts]

        windows = windows_of(strips)
        kernels = W.data.transpose(0, 2, 1, 3).reshape(len(W.data), -1)  # rows in the order of a window
        Y = np.stack([kernels @ window for window in windows])
        if b is not None:
            Y += b.data[:, None]

        def backward(dY):
            dY = dY.transpose(2, 1, 3, 0).reshape(len(windows), len(kernels), -1)
            d_kernels = sum(window @ row.T for window, row in zip(windows, dY, strict=True))
            W.grad += d_kernels.T.reshape(-1, k_rows, n_in, k_columns).transpose(0, 2, 1, 3)
            if b is not None:
                b.grad += dY.sum(axis=(0, 2))  # b was added at every position
            if not need_dX:
                return None
            d_strips = np.zeros_like(strips, dtype=dY.dtype)
            for d_window, row in zip(windows_of(d_strips), dY, strict=True):
                d_window += kernels.T @ row  # windows overlap: their gradients add up
            d_padded = np.zeros_like(d_strips, shape=shape)
            for j, shift in enumerate(shifts):
                d_padded[shift] += d_strips[:, :, j]  # and so do strips
            return d_padded[inside].transpose(3, 1, 0, 2)

        return Y.reshape(len(Y), len(kernels), -1, batch).transpose(3, 1, 0, 2), backward

    def take_sizes(self, X, Y):
        """Take a missing n_in from the sample."""
        _require_images(self, X, self.kernel, self.zeros)
        self.n_in = shape_of(X)[1] if self.n_in is None else self.n_in

    def draw(self, rng):
        """Draw W, and set b to zero."""
        W = self.init((self.n_in, *self.kernel, self.n_out), rng)
        self.W = Parameter(np.ascontiguousarray(np.moveaxis(W, -1, 0)))
        self.b = Parameter(np.zeros(self.n_out)) if self.bias else None

    def check_input(self, X):
        """Raise ShapeError unless X is a batch of images with n_in channels, ValueError without weights."""
        _require_images(self, X, self.kernel, self.zeros)
        super().check_input(X)
        if self.n_in != shape_of(X)[1]:
            raise ShapeError(f"{self} expects {self.n_in} channels in axis 1, got X of shape {shape_of(X)}.")

    def __repr__(self):
        stride = f", stride={self.stride}" if self.stride != 1 else ""
        padding = f", padding={self.padding!r}" if self.padding != 0 else ""
        return f"Conv2d({self.n_in or '?'}, {self.n_out or '?'}, {self.kernel}{stride}{padding})"


class MaxPool2d(Layer):
    """Slide a window over each channel of an image, and keep the largest entry.

    Parameters
    ----------
    size : int
        Rows and columns of a window.
    stride : int, optional
        The distance between neighbouring windows; by default `size`, so that windows do not overlap.

    Raises
    ------
    ShapeError
        If X is not a batch of images, or smaller than a window.
    ValueError
        If size or stride is below 1.

    Notes
    -----
    Y[..., r, c] = max X[..., r stride + i, c stride + j] over i, j. A window that would be cut off at the
    edge is dropped.
    dX[..., r stride + i, c stride + j] += dY[..., r, c] at the largest entry, 0 elsewhere. If
    several are equal, the first in reading order gets it; any other share would also be a subgradient.

    References
    ----------
    Ranzato, Huang, Boureau, LeCun, "Unsupervised learning of invariant feature hierarchies with applications
    to object recognition" (2007). Chapter 14.

    Examples
    --------
    >>> Y, backward = MaxPool2d(2)(np.array([[[[1.0, 7.0, 9.0], [7.0, 3.0, 9.0]]]]))
    >>> Y.ravel(), backward(np.array([[[[5.0]]]])).tolist()
    (array([7.]), [[[[0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]]])
    """

    def __init__(self, size=2, stride=None):
        self.size = require_integer("size of MaxPool2d", size)
        self.stride = require_integer("stride of MaxPool2d", size if stride is None else stride)

    def forward(self, X):
        """Take the largest entry of each window; return the images and the backward function."""
        rows, columns = (_offsets(length, self.size, self.stride) for length in X.shape[2:])
        first, *others = [np.s_[:, :, row, column] for row in rows for column in columns]
        Y, overtaken = X[first], []
        for offset in others:
            overtaken.append(X[offset] > Y)  # larger than all earlier ones
            Y = np.maximum(Y, X[offset])

        def backward(dY):
            dX, rest = np.zeros_like(X, dtype=dY.dtype), np.empty_like(Y, dtype=dY.dtype)
            rest[...] = dY  # in the memory order of X and Y, which may differ from that of dY
            for offset, larger in zip(others[::-1], overtaken[::-1], strict=True):
                share = rest * larger  # the last larger entry gets it
                dX[offset] += share
                rest -= share
            dX[first] += rest
            return dX

        return Y, backward

    def check_input(self, X):
        """Return X as floats; raise ShapeError unless it is images, each at least as large as a window."""
        _require_images(self, X, (self.size, self.size))
        return as_floats(self, X)

    def __repr__(self):
        return f"MaxPool2d({self.size}, {self.stride})"


def _offsets(length, size, stride):
    """List a slice for each offset in a window: the entries of all windows at that offset."""
    count = (length - size) // stride + 1
    return [slice(start, start + stride * (count - 1) + 1, stride) for start in range(size)]


def _require_images(layer, X, window, zeros=(0, 0)):
    """Raise ShapeError unless X is a batch of images at least as large as a window, with padding."""
    shape = require_array(layer, X)
    if len(shape) != 4 or 0 in shape or any(np.add(shape[2:], zeros) < window):
        wanted = f"images (batch, channels, rows, columns), not empty, for windows of {window}"
        raise ShapeError(f"{layer} expects {wanted}, got X of shape {shape}.")
