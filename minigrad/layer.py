"""The contract of a layer, and layers one after the other.

A layer is anything callable that returns its result and a function that knows how to go back:
`Y, backward = layer(X)`, then `dX = backward(dY)`. Holds Layer, the base class that adds shape checks in both
directions, names, and the search for parameters; and Sequential, which `>>` makes. Plain functions are layers
too: their parameters are found in their closures. Leaves out all mathematics: that stands in the layers.
Built in chapters 04 (Layer) and 05 (Sequential).
"""

import functools

import numpy as np

from minigrad.parameter import Buffer, Parameter
from minigrad.shapes import ShapeError, fits, require_batch, shape_of


@functools.cache
def _options(code, training, need_dX):
    """Return a dict of the options that a function's code declares as arguments."""
    declared = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    options = {"training": training, "need_dX": need_dX}
    return {name: value for name, value in options.items() if name in declared}


def run(layer, X, training=False, need_dX=True):
    """Call a Layer or a plain function, with the options that it declares, and see that it returns a pair.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
    X : array or tuple of arrays
    training : bool
        True while fitting: layers such as Dropout behave differently then.
    need_dX : bool
        False if nobody will read dX, so that the layer may save itself the work and return None.

    Returns
    -------
    Y : array
    backward : function, dY -> dX

    Raises
    ------
    TypeError
        If something else came back.

    Examples
    --------
    >>> Y, backward = run(lambda X: (2 * X, lambda dY: 2 * dY), np.array([1.0, 4.0]), training=True)
    >>> backward(np.array([1.0, 1.0]))
    array([2., 2.])
    """
    if isinstance(layer, Layer):
        return layer(X, training, need_dX)  # which checks more
    code = getattr(layer, "__code__", None) or getattr(type(layer).__call__, "__code__", None)
    result = layer(X, **_options(code, training, need_dX))
    if not (isinstance(result, tuple) and len(result) == 2 and callable(result[1])):
        name = getattr(layer, "__qualname__", layer)
        raise TypeError(f"{name} must return a pair (Y, backward), got {type(result).__name__}.")
    return result


def name_of(layer):
    """Return what to call a layer inside another: a Layer as it prints itself, a function by its name."""
    return getattr(layer, "__name__", None) or repr(layer)


def _inside(thing):
    """Return the (name, part) pairs one step inside a container or a callable: attributes, closure."""
    if isinstance(thing, dict):
        return thing.items()
    if isinstance(thing, (list, tuple)):
        return enumerate(thing)
    if isinstance(thing, type) or not callable(thing):
        return ()
    attributes, cells = getattr(thing, "__dict__", {}), getattr(thing, "__closure__", None)
    if not cells:
        return attributes.items()
    closure = zip(thing.__code__.co_freevars, (cell.cell_contents for cell in cells), strict=True)
    return [*attributes.items(), *closure]


def walk(thing):
    """Return (name, part) for everything inside a layer or function, in attribute order, each object once.

    Parts are layers, functions, Parameters, Buffers and random Generators; attributes, closures, lists,
    tuples and dicts are looked into. An object met twice is shared, and has the name of the first meeting.

    Parameters
    ----------
    thing : Layer, function, or container of such

    Returns
    -------
    list of (str, object)
        The thing itself comes first, if it is a part, under the name "".

    Examples
    --------
    >>> def scale(W):
    ...     return lambda X: (X * W.data, lambda dY: dY * W.data)
    >>> walk(scale(Parameter([2.0])))[1:]
    [('W', Parameter(1,))]
    """
    found = []
    _visit("", thing, found, {})
    return found


def _visit(name, thing, found, seen):
    """Add a thing to what was found, if it is a part, and then what is inside it; but nothing twice."""
    if id(thing) not in seen:
        seen[id(thing)] = thing
        if callable(thing) or isinstance(thing, (Parameter, Buffer, np.random.Generator)):
            found.append((name, thing))
        for key, part in _inside(thing):
            _visit(f"{name}.{key}" if name else str(key), part, found, seen)


class Layer:
    """A layer: `Y, backward = layer(X)`, and `backward(dY)` returns dX and adds to the parameters' gradients.

    Subclasses write `forward(self, X)`, which returns `(Y, backward)`; a forward that declares `training` or
    `need_dX` is given them. Whatever the way back needs stays in the closure `backward`, nothing of a pass is
    stored on the layer, so one layer may be used twice in one pass, or by many threads at once.

    Notes
    -----
    The input of forward and the output of backward match in shape, and so do the output of forward and the
    input of backward. Calling a layer checks both.

    References
    ----------
    Thinc, "Concept and Design". Chapter 04.

    Examples
    --------
    >>> class Double(Layer):
    ...     def forward(self, X):
    ...         return 2 * X, lambda dY: 2 * dY
    >>> Y, backward = Double()(np.array([1.0, 4.0]))
    >>> Y, backward(np.array([1.0, 1.0]))
    (array([2., 8.]), array([2., 2.]))
    """

    opening = None  # (Y, rng) while `initialize` runs a sample through, for the layers that are still open

    def forward(self, X):
        """Return (Y, backward): the result and the way back. Every layer writes its own."""
        raise NotImplementedError(f"{self} needs a method forward(self, X) that returns (Y, backward).")

    def __call__(self, X, training=False, need_dX=True):
        """Run forward on a batch, checking shapes both ways.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays
        training : bool
            Passed to a forward that declares it.
        need_dX : bool
            Passed to a forward that declares it; False lets backward return None.

        Returns
        -------
        Y : array
        backward : function, dY of Y's shape -> dX of X's shape; adds to the parameters' gradients

        Raises
        ------
        ShapeError
            If X does not fit the layer, dY does not fit Y, or dX does not fit X.
        TypeError
            If forward does not return a pair.
        """
        if self.opening:
            self.open(X, *self.opening)
        self.check_input(X)
        Y, backward = run(self.forward, X, training, need_dX)
        X_shape, Y_shape = shape_of(X), shape_of(Y)

        def checked_backward(dY):
            if dY is None or not fits(dY, Y_shape):
                came = None if dY is None else shape_of(dY)
                raise ShapeError(f"{self}: backward expects dY of Y's shape {Y_shape}, got {came}.")
            dX = backward(dY)
            if not fits(dX, X_shape):
                came = shape_of(dX)
                raise ShapeError(f"{self}: backward must return dX of X's shape {X_shape}, got {came}.")
            return dX

        return Y, checked_backward

    def check_input(self, X):
        """Refuse an X that this layer cannot take; layers with `n_in` want it in the last axis."""
        n_in = getattr(self, "n_in", None)
        if n_in is not None and shape_of(X)[-1:] != (n_in,):
            raise ShapeError(f"{self} expects {n_in} inputs in the last axis, got X of shape {shape_of(X)}.")

    def initialize(self, X, Y=None, rng=None):
        """Run a sample through, and let every layer that is still open draw its parameters on the way.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays
            A sample; each layer takes its missing sizes from what reaches it.
        Y : array, optional
            A sample of targets; the last layer that has a width takes it from them, if it is open.
        rng : int or numpy.random.Generator, optional
            What the layers draw from, one after the other, unless they have their own.

        Returns
        -------
        self
        """
        layers = [layer for _, layer in self.walk()]
        sized = [layer for layer in layers if hasattr(layer, "n_out")]
        rng = None if rng is None else np.random.default_rng(rng)
        for layer in layers:
            layer.opening = (Y if layer in sized[-1:] else None, rng)
        try:
            self(X)
        finally:
            for layer in layers:
                vars(layer).pop("opening", None)
        return self

    def open(self, X, Y, rng):
        """Take missing sizes from a sample and draw what is missing; a layer with parameters writes it."""

    def walk(self):
        """Return (name, layer) for this layer and those inside it, in attribute order, each once."""
        return [(name, part) for name, part in walk(self) if isinstance(part, Layer)]

    def named_parameters(self):
        """Return a dict of names to Parameters, found now, each object once, in attribute order."""
        return {name: part for name, part in walk(self) if isinstance(part, Parameter)}

    def parameters(self):
        """Return the list of Parameters, found now, each object once, in attribute order."""
        return [part for _, part in walk(self) if isinstance(part, Parameter)]

    def buffers(self):
        """Return the list of Buffers, found now, each object once, in attribute order."""
        return [part for _, part in walk(self) if isinstance(part, Buffer)]

    def zero_grad(self):
        """Set the gradients of all parameters to zero."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def predict(self, X):
        """Return Y alone, as outside training, after one check that X is a finite batch.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays

        Returns
        -------
        Y : array (batch, ...)
        """
        require_batch("X", X)
        return self(X)[0]

    def to(self, dtype):
        """Convert parameters, gradients, buffers and optimizer state to a float dtype; return self.

        Examples
        --------
        >>> from minigrad import Linear
        >>> Linear(3, 7, rng=0).to(np.float32).W.data.dtype
        dtype('float32')
        """
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"parameters are floats, not {np.dtype(dtype)}: write np.float32 or np.float64.")
        for _, part in walk(self):
            if isinstance(part, (Parameter, Buffer)):
                part.data = part.data.astype(dtype)
            if isinstance(part, Parameter):
                part.grad = part.grad.astype(dtype)
                part.state = {name: value.astype(dtype) for name, value in part.state.items()}
        return self

    def summary(self):
        """Return a table of the parameters, one line each: name, shape, how many numbers; and their sum."""
        rows = [(name, str(p.shape), p.data.size) for name, p in self.named_parameters().items()]
        rows.append(("total", "", sum(size for _, _, size in rows)))
        width = max(len(name) for name, _, _ in rows)
        return "\n".join(f"{name:<{width}}  {shape:<12} {size:>9,}" for name, shape, size in rows)

    def __rshift__(self, other):
        return Sequential(self, other)

    def __rrshift__(self, other):
        return Sequential(other, self)

    def __repr__(self):
        return f"{type(self).__name__}()"


class Sequential(Layer):
    """Layers one after the other: forward in order, backward in reverse.

    Parameters
    ----------
    *layers : Layer or function, X -> (Y, backward)

    Notes
    -----
    Y = fₙ(… f₂(f₁(X))); dX = b₁(b₂(… bₙ(dY))), where bᵢ is the backward that fᵢ returned.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> double = lambda X: (2 * X, lambda dY: 2 * dY)
    >>> Y, backward = Sequential(double, double)(np.array([1.0]))
    >>> Y, backward(np.array([1.0]))
    (array([4.]), array([4.]))
    """

    def __init__(self, *layers):
        for layer in layers:
            if not callable(layer):
                raise TypeError(f"a layer is something to call, X -> (Y, backward); got {layer!r}.")
        self.layers = list(layers)

    def forward(self, X, training=False, need_dX=True):
        """Run the layers in order; the way back plays their backward functions in reverse."""
        backwards = []
        for layer in self.layers:
            X, backward = run(layer, X, training, need_dX)
            backwards.append(backward)
            need_dX = True  # from the second layer on, the layer before wants it

        def backward(dY):
            for layer_backward in reversed(backwards):
                dY = layer_backward(dY)
            return dY

        return X, backward

    def __rshift__(self, other):
        return Sequential(*self.layers, other)

    def __repr__(self):
        return f"Sequential({', '.join(map(name_of, self.layers))})"
