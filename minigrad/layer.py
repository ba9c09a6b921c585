"""Layer, the base class of all layers; plain functions as layers; and Sequential.

A layer is anything callable that returns its result and the function that runs backward:
`Y, backward = layer(X)`, then `dX = backward(dY)`. Holds Layer, the base class, with shape checks in both
directions, names, and the search for parameters; Function and as_layer, which turn a plain function into a
Layer; Sequential, which `>>` creates; and observed, which calls a function before or after each layer. The
mathematics is in minigrad/layers. Built in chapters 04 (Layer) and 05 (Sequential).
"""

import contextlib
import contextvars
import functools
import inspect

import numpy as np

from minigrad.foreign_names import Answering
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import attributes, copied, named_parts
from minigrad.settings import as_generator, require_float_type
from minigrad.shapes import ShapeError, arrays_of, fits, join, require_batch, shape_of, take

_observer = contextvars.ContextVar("observer", default=(None, None))


@contextlib.contextmanager
def observed(before=None, after=None):
    """Call a function before or after each layer that runs, only in this thread and inside this `with`.

    Parameters
    ----------
    before : function, (layer, X) -> None, optional
        Called before each layer checks its X.
    after : function, (layer, Y) -> None, optional
        Called with each layer's result.

    References
    ----------
    Chapters 12 and 23.

    Examples
    --------
    >>> double = as_layer(lambda X: (2 * X, lambda dY: 2 * dY))
    >>> with observed(after=lambda layer, Y: print(Y)):
    ...     Y, backward = (double >> double)(np.array([1.0]))
    [2.]
    [4.]
    [4.]
    """
    token = _observer.set((before, after))
    try:
        yield
    finally:
        _observer.reset(token)


def _options_of(function):
    """Return which of the options `training` and `need_dX` a function declares."""
    try:
        declared = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return set()
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    return {"training", "need_dX"} & declared.keys() - fixed.keys()


class Layer(Answering):
    """A layer: `Y, backward = layer(X)`, and `backward(dY)` returns dX and adds to the parameters' gradients.

    Subclasses write `forward(self, X)`, which returns `(Y, backward)`; a forward that declares `training` or
    `need_dX` receives them. The closure `backward` stores what the backward pass needs. A pass stores nothing
    on the layer, so a layer may be used twice in one pass, or by many threads at once.

    Attributes
    ----------
    frozen : bool
        True after `freeze`, while no Parameter inside is trainable. The layer then runs as in evaluation.

    Notes
    -----
    The input of forward and the output of backward match in shape, and so do the output of forward and the
    input of backward. Calling a layer checks both. Call backward before the next step, since it uses the
    current weights.

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

    _frozen = False
    not_parts = ()  # names of attributes that are not parts of the layer
    is_drawn = True  # False until the weights are initialized
    has_width = False  # True for layers with an n_out; the last one may take it from the targets
    _options = frozenset()

    def __init_subclass__(cls):
        cls._options = _options_of(cls.forward)

    def forward(self, X):
        """Return (Y, backward), the result and the backward function; subclasses must override it."""
        raise NotImplementedError(f"{self} needs a method forward(self, X) that returns (Y, backward).")

    def __call__(self, X, *, training=False, need_dX=True):
        """Run forward on a batch, and check shapes in both directions.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays
        training : bool
            Passed to a forward that declares it; layers such as Dropout behave differently in training.
        need_dX : bool
            Passed to a forward that declares it. If False, dX is not needed, and backward may return None.

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
        before, after = _observer.get()
        if before:
            before(self, X)
        if hasattr(floats := self.check_input(X), "dtype"):
            X = floats
        options = {"training": training and not self.frozen, "need_dX": need_dX}
        result = self.forward(X, **{name: options[name] for name in self._options})
        Y, backward = require_pair(self, result)
        X_shape, Y_shape = shape_of(X), shape_of(Y)
        has_dX = need_dX and getattr(X, "dtype", None) in (np.float32, np.float64)
        if after:
            after(self, Y)

        def checked_backward(dY=None):
            if dY is None or not fits(dY, Y_shape):
                got = "none: take it from the loss, dY = loss_backward()" if dY is None else shape_of(dY)
                raise ShapeError(f"{self}: backward expects dY of Y's shape {Y_shape}, got {got}.")
            dX = backward(dY)
            if not fits(dX, X_shape) or (dX is None and has_dX):
                got = "None" if dX is None else shape_of(dX)
                raise ShapeError(f"{self}: backward must return dX of X's shape {X_shape}, got {got}.")
            return dX

        return Y, checked_backward

    def check_input(self, X):
        """Raise an error if the weights are not initialized; subclasses add checks.

        If an array is returned, it replaces X (for example, integers converted to floats).
        """
        if not self.is_drawn:
            raise self.missing()

    def open(self, X, Y, rng):
        """Take missing sizes from a sample and draw missing weights; layers with weights override it."""

    def missing(self):
        """Return the error that names a missing size, weight or Generator, or None if nothing is missing."""

    @property
    def is_open(self):
        """True if this layer, or one inside it, is not fully initialized."""
        return any(layer.missing() for layer in self.named_layers().values())

    def initialize(self, X=None, Y=None, rng=None):
        """Run a sample through the model, and initialize each layer that has no weights yet.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays, optional
            A sample; each layer takes its missing sizes from its own input. Without a sample, every size
            must be given.
        Y : array, optional
            A sample of targets, which gives the n_out of the last layer if that is missing.
        rng : int or numpy.random.Generator, optional
            Used in order by the layers that have no generator of their own.

        Returns
        -------
        self

        Raises
        ------
        ShapeError
            If a size is missing.
        ValueError
            If there is no rng to draw weights from, or all layers are already initialized.

        Examples
        --------
        >>> from minigrad import Linear, ReLU
        >>> (Linear(n_out=5) >> ReLU() >> Linear(n_out=1)).initialize(np.zeros((1, 3)), rng=0)
        Sequential(Linear(3, 5), ReLU(), Linear(5, 1))
        """
        if rng is not None and self.parameters() and not self.is_open:
            raise ValueError(f"{self} is already initialized: make another model.")
        return self.open_all(X, Y, None if rng is None else as_generator(rng))

    def open_all(self, X, Y, rng):
        """Run a sample through, and initialize each layer when the sample reaches it; return self."""
        layers = list(self.named_layers().values())
        last = [layer for layer in layers if layer.has_width][-1:]

        def open_layer(layer, X):
            layer.open(X, Y if layer in last else None, rng)

        if X is not None:
            with observed(before=open_layer):
                self(X)
        else:  # without a sample
            for layer in layers:
                open_layer(layer, None)
            for layer in layers:
                if error := layer.missing():
                    raise error
        return self

    def named_layers(self):
        """Return a dict from names to layers: this one, under the name "", and those inside it, each once."""
        return {name: part for name, part in named_parts(self) if isinstance(part, Layer)}

    def named_parameters(self):
        """Return a dict from names to the current Parameters, each object once, in attribute order."""
        return {name: part for name, part in named_parts(self) if isinstance(part, Parameter)}

    def parameters(self):
        """Return the list of current Parameters, each object once, in attribute order."""
        return [part for _, part in named_parts(self) if isinstance(part, Parameter)]

    def buffers(self):
        """Return the list of current Buffers, each object once, in attribute order."""
        return [part for _, part in named_parts(self) if isinstance(part, Buffer)]

    def zero_grad(self):
        """Set the gradients of all parameters to zero."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def freeze(self, frozen=True):
        """Stop training this layer and all layers inside it, which then run as in evaluation; return self.

        Optimizers skip its Parameters, its running averages do not change, and Dropout inside it is
        inactive. Unfreezing any part of a layer makes it run as in training again.

        Examples
        --------
        >>> from minigrad import Linear
        >>> [parameter.trainable for parameter in Linear(3, 7, rng=0).freeze().parameters()]
        [False, False]
        """
        for parameter in require_drawn(self).parameters():
            parameter.trainable = not frozen
        for layer in self.named_layers().values():
            layer._frozen = frozen
        return self

    @property
    def frozen(self):
        """True after freeze, as long as no Parameter of the layer is trainable."""
        return self._frozen and not any(parameter.trainable for parameter in self.parameters())

    def unfreeze(self):
        """Train this layer and all layers inside it again; return self."""
        return self.freeze(False)

    def predict(self, X, batch_size=None):
        """Check that X is a finite batch, run as in evaluation, and return only Y.

        Parameters
        ----------
        X : array (batch, ...) or tuple of arrays
        batch_size : int, optional
            Examples per forward pass; by default, all of them. Smaller batches need less memory.

        Returns
        -------
        Y : array (batch, ...)
        """
        require_batch("X", X)
        if batch_size is None:
            return self(X)[0]
        return in_batches(self, X, batch_size)

    def to(self, dtype):
        """Convert parameters, gradients and buffers to a float dtype; return self.

        Examples
        --------
        >>> from minigrad import Linear
        >>> Linear(3, 7, rng=0).to(np.float32).W.data.dtype
        dtype('float32')
        """
        dtype = require_float_type(dtype)
        for part in [*require_drawn(self).parameters(), *self.buffers()]:
            part.convert(lambda array: array.astype(dtype))
        return self

    def summary(self):
        """Return a table with the name, shape and size of each parameter, and the total size.

        Examples
        --------
        >>> from minigrad import Linear
        >>> print(Linear(3, 7, bias=False, rng=0).freeze().summary())
        W      (3, 7)              21  frozen
        total                      21
        """
        named = self.named_parameters()
        rows = [(name, str(p.shape), p.data.size, p.trainable) for name, p in named.items()]
        rows.append(("total", "", sum(size for _, _, size, _ in rows), True))
        width = max(len(name) for name, *_ in rows)
        return "\n".join(
            f"{name:<{width}}  {shape:<12} {size:>9,}{'' if trainable else '  frozen'}"
            for name, shape, size, trainable in rows
        )

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = object.__new__(type(self))
        for name, value in attributes(self):
            setattr(twin, name, value if name in self.not_parts else copied(value, memo))
        return twin

    def __rshift__(self, other):
        return Sequential(self, other)

    def __rrshift__(self, other):
        return Sequential(other, self)

    def __repr__(self):
        return f"{type(self).__name__}()"


class Function(Layer):
    """A plain function, or any other callable, as a Layer; created by as_layer.

    Parameters
    ----------
    function : callable, X -> (Y, backward)
        Parameters in its closure or its attributes are found (minigrad.parts), and copied with it. It
        receives the options `training` and `need_dX` if it declares them.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> def double(X):
    ...     return 2 * X, lambda dY: 2 * dY
    >>> Function(double)
    double
    """

    def __init__(self, function):
        self.__wrapped__ = function  # the name that functools.wraps uses
        self._options = _options_of(function)

    def forward(self, X, **options):
        """Call the function."""
        return self.__wrapped__(X, **options)

    def __repr__(self):
        return getattr(self.__wrapped__, "__name__", None) or repr(self.__wrapped__)


def require_pair(name, result, first="Y"):
    """Return a pair (result, backward) of a layer or a loss; raise TypeError for anything else.

    Examples
    --------
    >>> require_pair("rmse", 0.5, first="L")
    Traceback (most recent call last):
        ...
    TypeError: rmse must return a pair (L, backward), got float alone: end with `return L, backward`.
    """
    if isinstance(result, tuple) and len(result) == 2 and callable(result[1]):
        return result
    got = f"{type(result).__name__} alone: end with `return {first}, backward`"
    if isinstance(result, tuple):
        got = f"{len(result)} values: {', '.join(type(part).__name__ for part in result)}"
    raise TypeError(f"{name} must return a pair ({first}, backward), got {got}.")


def as_layer(thing):
    """Return a Layer as it is, and any other callable as a Function.

    Called once by each function that accepts layers: combinators, Learner, gradcheck.

    Parameters
    ----------
    thing : Layer or callable, X -> (Y, backward)

    Returns
    -------
    Layer

    Raises
    ------
    TypeError
        If it is not callable, or is a Layer class instead of an instance.

    References
    ----------
    Chapter 05.

    Examples
    --------
    >>> as_layer(Layer)
    Traceback (most recent call last):
        ...
    TypeError: Layer is a class, not a layer: create one, Layer(...).
    """
    if isinstance(thing, Layer):
        return thing
    if isinstance(thing, type):
        raise TypeError(f"{thing.__name__} is a class, not a layer: create one, {thing.__name__}(...).")
    if not callable(thing):
        is_list = isinstance(thing, (list, tuple))
        advice = ": unpack a list with a star, Sequential(*layers)" if is_list else ""
        raise TypeError(f"a layer must be callable, X -> (Y, backward); got {thing!r}{advice}.")
    return Function(thing)


def require_drawn(model):
    """Return a model as a Layer; raise an error if a layer in it has no weights yet.

    Examples
    --------
    >>> from minigrad import Linear
    >>> require_drawn(Linear(3, 7))
    Traceback (most recent call last):
        ...
    ValueError: Linear(3, 7) has no weights: give it rng=0, or call model.initialize(X, rng=0).
    """
    model = as_layer(model)
    for layer in model.named_layers().values():
        if not layer.is_drawn:
            raise layer.missing()
    return model


def in_batches(layer, X, batch_size):
    """Compute a layer's Y for X, one batch at a time; this needs memory for Y and one batch.

    Parameters
    ----------
    layer : Layer
    X : array (examples, ...) or tuple of arrays
    batch_size : int

    Returns
    -------
    Y : array (examples, ...)

    Examples
    --------
    >>> in_batches(as_layer(lambda X: (2 * X, lambda dY: 2 * dY)), np.array([1.0, 4.0, 9.0]), batch_size=2)
    array([ 2.,  8., 18.])
    """
    starts = range(0, len(arrays_of(X)[0]), batch_size)
    return join([layer(take(X, slice(start, start + batch_size)))[0] for start in starts])


class Sequential(Layer):
    """Layers one after the other: forward in order, backward in reverse.

    Parameters
    ----------
    *layers : Layer or function, X -> (Y, backward); or one dict from names to layers
        If a dict is given, Evaluator, checkpoints and `summary` use its names instead of numbers.

    Attributes
    ----------
    layers : list of Layer, or dict of str to Layer

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
    >>> Sequential({"first": double, "output": double}).named_layers().keys()
    dict_keys(['', 'layers.first', 'layers.output'])
    """

    def __init__(self, *layers):
        named = layers[0] if len(layers) == 1 and isinstance(layers[0], dict) else None
        if named is None:
            self.layers = [as_layer(layer) for layer in layers]
        else:
            self.layers = {name: as_layer(layer) for name, layer in named.items()}

    def forward(self, X, training=False, need_dX=True):
        """Run the layers in order; backward calls their backward functions in reverse."""
        backwards, layers = [], self.layers
        for layer in layers if type(layers) is list else layers.values():
            X, backward = layer(X, training=training, need_dX=need_dX)
            backwards.append(backward)
            need_dX = True  # from the second layer on: the layer before needs it

        def backward(dY):
            for layer_backward in reversed(backwards):
                dY = layer_backward(dY)
            return dY

        return X, backward

    def __rshift__(self, other):
        is_plain = type(self) is Sequential and isinstance(self.layers, list)  # without names
        return Sequential(*(self.layers if is_plain else [self]), other)

    def __repr__(self):
        is_named = isinstance(self.layers, dict)
        return f"Sequential({self.layers if is_named else ', '.join(map(repr, self.layers))})"
