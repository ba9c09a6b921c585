"""Layers made of layers: chain, Residual, Parallel, Add, Twin, Watch.

Sequential is in layer.py. Built in chapter 05.
"""

import numpy as np

from minigrad.layer import Layer, Sequential, as_layer
from minigrad.shapes import ShapeError, as_floats, require_two, shape_of


def chain(*layers):
    """Run layers in order; the function form of Sequential.

    Parameters
    ----------
    *layers : Layer or function, X -> (Y, backward)
        At least one.

    Returns
    -------
    Sequential

    Raises
    ------
    TypeError
        If there is no layer, or one of them is not callable.

    Notes
    -----
    For two layers: Y = second(first(X)), dX = backward_first(backward_second(dY)): the chain rule, hence the
    name. Python has no `f >> g` for two plain functions; write chain(f, g).

    References
    ----------
    Thinc, "Concept and Design". Chapter 05.

    Examples
    --------
    >>> double = lambda X: (2 * X, lambda dY: 2 * dY)
    >>> Y, backward = chain(double, double)(np.array([1.0]))
    >>> Y, backward(np.array([1.0]))
    (array([4.]), array([4.]))
    """
    return Sequential(*layers)


class Residual(Layer):
    """Add a layer's result to its input: Y = X + layer(X).

    Parameters
    ----------
    layer : Layer or function whose Y has X's shape

    Raises
    ------
    ShapeError
        If the layer changes the shape.

    Notes
    -----
    Y = X + F(X).
    dX = dY + backward_F(dY): one path around the layer, one through it.

    References
    ----------
    He, Zhang, Ren, Sun, "Deep residual learning for image recognition" (2016). Chapter 05.

    Examples
    --------
    >>> Y, backward = Residual(lambda X: (2 * X, lambda dY: 2 * dY))(np.array([1.0]))
    >>> Y, backward(np.array([1.0]))
    (array([3.]), array([3.]))
    """

    def __init__(self, layer):
        self.layer = as_layer(layer)

    def forward(self, X, training=False):
        """Return X + F(X) and the backward function."""
        F, backward_F = self.layer(X, training=training)
        F = as_floats(self, F)  # two tuples would be concatenated
        if F.shape != shape_of(X):
            end = f"let the layer inside end with X's shape, of width {shape_of(X)[-1]}."
            raise ShapeError(f"{self} adds X of shape {shape_of(X)} and F(X) of shape {F.shape}: {end}")
        return X + F, lambda dY: dY + backward_F(dY)

    def open(self, X, Y, rng):
        """Initialize the inner layer; its result has the width of X, not of Y."""
        self.layer.open_all(X, X, rng)

    def __repr__(self):
        return f"Residual({self.layer})"


class _Branches(Layer):
    """The base class of Parallel and Add: several layers that receive the same X."""

    def __init__(self, *layers):
        self.layers = [as_layer(layer) for layer in layers]

    def _run(self, X, training):
        """Return the results of all layers, and the function from their gradients to the sum of their dX."""
        results, backwards = zip(*(layer(X, training=training) for layer in self.layers), strict=True)

        def backward(gradients):
            parts = zip(backwards, gradients, strict=True)
            return _total([layer_backward(part) for layer_backward, part in parts])

        return results, backward

    def open(self, X, Y, rng):
        """Initialize every branch; each needs its own n_out."""
        for layer in self.layers:
            layer.open_all(X, None, rng)

    def _refuse(self, results, wanted):
        """Raise ShapeError for results that do not fit together."""
        shapes = ", ".join(str(shape_of(Y)) for Y in results)
        raise ShapeError(f"{self} needs results {wanted}, got shapes {shapes}.")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.layers))})"


class Parallel(_Branches):
    """Give the same X to several layers and concatenate their results along one axis.

    Parameters
    ----------
    *layers : Layer or function, whose results differ at most in that axis
        At least one.
    axis : int
        The axis of concatenation: the last, or 1 for the channels of images; not the batch axis 0.

    Raises
    ------
    ShapeError
        If the results differ in another axis.

    Notes
    -----
    Y = [F₁(X) | F₂(X) | …].
    dX = backward₁(dY₁) + backward₂(dY₂) + …, the sum of the layers' gradients.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> double, keep = lambda X: (2 * X, lambda dY: 2 * dY), lambda X: (X, lambda dY: dY)
    >>> Y, backward = Parallel(double, keep)(np.array([[1.0, 3.0]]))
    >>> Y, backward(np.array([[1.0, 1.0, 10.0, 10.0]]))
    (array([[2., 6., 1., 3.]]), array([[12., 12.]]))
    """

    def __init__(self, *layers, axis=-1):
        super().__init__(*layers)
        self.axis = axis
        if axis == 0:
            advice = "-1 is the last, 1 the channels of images"
            raise ValueError(f"axis of Parallel must not be 0, the batch axis: {advice}.")

    def forward(self, X, training=False):
        """Return the concatenated results and the backward function."""
        results, backward = self._run(X, training)
        axis, shapes = self.axis, [shape_of(Y) for Y in results]
        fits = all(-len(shape) < axis < len(shape) for shape in shapes)
        if not fits or len({shape[:axis] + shape[axis:][1:] for shape in shapes}) > 1:  # all but that axis
            self._refuse(results, f"that differ only in axis {axis}")
        ends = np.cumsum([shape[axis] for shape in shapes])[:-1].tolist()
        return np.concatenate(results, axis=axis), lambda dY: backward(np.split(dY, ends, axis=axis))

    def __repr__(self):
        axis = "" if self.axis == -1 else f", axis={self.axis}"
        return f"{super().__repr__()[:-1]}{axis})"


def _total(gradients):
    """Return the sum of gradients (of tuples, entry by entry), or None if X holds integers."""
    first, *others = [gradient for gradient in gradients if gradient is not None] or [None]
    if isinstance(first, tuple):
        return tuple(map(_total, zip(first, *others, strict=True)))
    return sum(others, first) if others else first


class Add(_Branches):
    """Give the same X to several layers and add up their results.

    Parameters
    ----------
    *layers : Layer or function, all with results of one shape
        At least one.

    Raises
    ------
    ShapeError
        If the results differ in shape.

    Notes
    -----
    Y = F₁(X) + F₂(X) + …
    dX = backward₁(dY) + backward₂(dY) + …: each branch gets all of dY. Residual(F) is Add(F, identity).

    References
    ----------
    He, Zhang, Ren, Sun, "Deep residual learning for image recognition" (2016), section 3.3, for a branch that
    only changes the shape. Chapter 05.

    Examples
    --------
    >>> double, keep = lambda X: (2 * X, lambda dY: 2 * dY), lambda X: (X, lambda dY: dY)
    >>> Y, backward = Add(double, keep)(np.array([[1.0, 3.0]]))
    >>> Y, backward(np.array([[1.0, 10.0]]))
    (array([[3., 9.]]), array([[ 3., 30.]]))
    """

    def forward(self, X, training=False):
        """Return the sum of the results and the backward function."""
        results, backward = self._run(X, training)
        if len({shape_of(Y) for Y in results}) > 1 or isinstance(results[0], tuple):
            self._refuse(results, "of one shape")
        first, *others = [as_floats(self, Y) for Y in results]
        return sum(others, first), lambda dY: backward([dY] * len(results))


class Twin(Layer):
    """Send two inputs through one layer, or each through its own: Y = (F(A), G(B)) for X = (A, B).

    Parameters
    ----------
    layer : Layer or function, X -> (Y, backward)
    other : Layer or function, optional
        The layer for B; by default the same layer, whose parameters get the sum of both gradients.

    Raises
    ------
    TypeError
        If X is not a pair.

    Notes
    -----
    Y = (F(A), G(B)).
    dX = (backward_F(dU), backward_G(dV)) for dY = (dU, dV).

    References
    ----------
    PaddlePaddle, API design ("semantic projection"). Chapter 13.

    Examples
    --------
    >>> double = lambda X: (2 * X, lambda dY: 2 * dY)
    >>> Y, backward = Twin(double)((np.array([1.0]), np.array([3.0, 5.0])))
    >>> Y, backward((np.array([1.0]), np.array([1.0, 10.0])))
    ((array([2.]), array([ 6., 10.])), (array([2.]), array([ 2., 20.])))
    """

    def __init__(self, layer, other=None):
        self.layer = as_layer(layer)
        self.other = self.layer if other is None else as_layer(other)

    def forward(self, X, training=False):
        """Return both results and the backward function to both inputs."""
        A, B = X
        U, back_to_A = self.layer(A, training=training)
        V, back_to_B = self.other(B, training=training)

        def backward(dY):
            dU, dV = dY
            return back_to_A(dU), back_to_B(dV)

        return (U, V), backward

    def check_input(self, X):
        """Raise TypeError unless X is a pair."""
        require_two(self, X)

    def __repr__(self):
        others = "" if self.other is self.layer else f", {self.other}"
        return f"Twin({self.layer}{others})"


class Watch(Layer):
    """Pass X and dY on unchanged, and call see("forward", X) and see("backward", dY).

    Parameters
    ----------
    see : function, (direction, array) -> None

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> Y, backward = Watch(print)(np.array([1.0]))
    forward [1.]
    >>> dX = backward(np.array([2.0]))
    backward [2.]
    """

    not_parts = ("see",)

    def __init__(self, see):
        self.see = see

    def forward(self, X):
        """Return X and a backward function that returns dY; call see with both."""
        self.see("forward", X)

        def backward(dY):
            self.see("backward", dY)
            return dY

        return X, backward
