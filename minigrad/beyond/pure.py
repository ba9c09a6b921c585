"""Models as pure functions, which take all values as arguments and return the changed ones.

Holds functional, which turns any model into such a function; values_of and with_values, which read the values
of a model and put values into a copy of it; and FunctionalLayer, the reverse: a layer made of pure functions.
Optimizer steps are not included. Built in chapter 12.
"""

import copy
import functools
import inspect
import threading

import numpy as np

from minigrad.backend import like
from minigrad.layer import Function, Layer, as_layer, require_drawn
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import named_parts
from minigrad.settings import require_function
from minigrad.shapes import ShapeError, shape_of


def values_of(model):
    """Return copies of a model's values, by name: its parameters, and its buffers.

    Parameters
    ----------
    model : Layer or function, X -> (Y, backward)
        Initialized.

    Returns
    -------
    params : dict of str to array
        The data of its Parameters, under the names of `named_parameters()`; a shared one appears once.
    state : dict of str to array
        The data of its Buffers, such as the running averages of a BatchNorm.

    Raises
    ------
    ValueError
        If a layer has no weights yet.

    References
    ----------
    Oryx, "nn.base" (params, state and info). Chapter 12.

    Examples
    --------
    >>> from minigrad import BatchNorm, Linear
    >>> params, state = values_of(Linear(2, 3, rng=0) >> BatchNorm(3))
    >>> list(params)
    ['layers.0.W', 'layers.0.b', 'layers.1.gain', 'layers.1.shift']
    >>> list(state)
    ['layers.1.running_mean', 'layers.1.running_variance']
    """
    return tuple(
        {name: part.data.copy() for name, part in held.items()} for held in _held_by(require_drawn(model))
    )


def with_values(model, params, state):
    """Return a copy of a model with copies of these values; the model itself does not change.

    Parameters
    ----------
    model : Layer or function, X -> (Y, backward)
        Initialized.
    params, state : dict of str to array
        As values_of returns them: every name, in the shapes of the model.

    Returns
    -------
    Layer
        The copy has zero gradients, the same frozen layers, and random Generators in the same state.

    Raises
    ------
    TypeError
        If params or state is not a dict.
    ValueError
        If a name is missing, or unknown, or a layer has no weights yet.
    ShapeError
        If an array has another shape than the model's.

    References
    ----------
    Oryx, "nn.base" (a call returns a new layer). Chapter 12.

    Examples
    --------
    >>> from minigrad import Linear
    >>> model = Linear(1, 1, rng=0)
    >>> other = with_values(model, {"W": np.array([[3.0]]), "b": np.array([1.0])}, {})
    >>> other.predict(np.array([[10.0]]))
    array([[31.]])
    """
    model = require_drawn(model)
    return copy.deepcopy(model, _holders(*_held_by(model), params, state))


def functional(model):
    """Return a model as a pure function of all its values.

    Parameters
    ----------
    model : Layer or function, X -> (Y, backward)
        Initialized. Its layers and their settings are copied; of its values, only the shapes are used.

    Returns
    -------
    apply : function, (params, state, X, training=False, rng=None, **keywords) -> (Y, backward, new_state)
        params and state are dicts of names to arrays, as values_of returns them. new_state is the state after
        the call: in training, a BatchNorm's running averages have changed. `backward(dY)` returns
        `(dX, gradients)`, with the gradients by the names of params, and may be called at any time.
        rng is a seed or a key, numpy.random.SeedSequence, and needed only if random numbers are drawn. Any
        other keyword, such as `temperature=2.0`, goes to the layers whose forward declares it.

    Raises
    ------
    ValueError
        If a layer has no weights yet. From apply: if a name is missing or unknown, or the model draws random
        numbers and was given no rng.
    ShapeError
        From apply: if an array has another shape than the model's.
    TypeError
        From apply: if no layer declares a keyword, or rng is a Generator, which changes when it draws.

    Notes
    -----
    The same arguments always give the same results, bit for bit, and calls in several threads are
    independent: each uses its own copy of the layers, with copies of the values. That costs time for each
    layer, whatever its size.
    The key's i-th child replaces the model's i-th Generator, and the children after those go to the
    layers whose forward declares `rng`, so no two draw the same random numbers.
    A model that is not initialized is a recipe. Each `copy.deepcopy(recipe).initialize(X, rng=seed)` is
    another model, and the functions of all of them are the same.

    References
    ----------
    Oryx, "nn.base". Chapter 12.

    Examples
    --------
    >>> from minigrad import Linear
    >>> model = Linear(1, 1, rng=0)
    >>> apply = functional(model)
    >>> Y, backward, _ = apply({"W": np.array([[3.0]]), "b": np.array([1.0])}, {}, np.array([[10.0]]))
    >>> dX, gradients = backward(np.array([[1.0]]))
    >>> Y, dX, gradients
    (array([[31.]]), array([[3.]]), {'W': array([[10.]]), 'b': array([1.])})
    """
    copied = {}
    found = require_drawn(model).named_layers().values()
    model = copy.deepcopy(as_layer(model), copied)
    layers = [copied[id(layer)] for layer in found if id(layer) in copied]
    for layer in layers:
        if layer.missing():  # such as a Dropout that got no Generator from `initialize`
            layer.rng = np.random.default_rng(0)  # replaced by the one of each call
    declared = {layer: _own_keywords_of(layer) for layer in layers}
    drawing = [layer for layer in layers if "rng" in declared[layer]]
    parameters, buffers = _held_by(model)
    generators = [part for _, part in named_parts(model) if isinstance(part, np.random.Generator)]

    def apply(params, state, X, training=False, rng=None, **keywords):
        _require_declared(keywords, model, set().union(*declared.values()))
        copies = _holders(parameters, buffers, params, state)
        children = _children(rng, len(generators) + len(drawing))
        copies |= {id(generator): next(children) for generator in generators}
        twin = copy.deepcopy(model, copies)
        for layer, names in declared.items():
            given = {name: value for name, value in keywords.items() if name in names}
            if layer in drawing and rng is not None:
                given["rng"] = next(children)
            if given:
                copies[id(layer)].forward = functools.partial(copies[id(layer)].forward, **given)
        Y, layer_backward = twin(X, training=training)
        new_state = {name: copies[id(buffer)].data.copy() for name, buffer in buffers.items()}
        learning = {name: copies[id(parameter)] for name, parameter in parameters.items()}
        one_at_a_time = threading.Lock()  # since the gradients accumulate in the copies

        def backward(dY=None):
            with one_at_a_time:
                for parameter in learning.values():
                    parameter.grad = np.zeros_like(parameter.data)
                dX = layer_backward(dY)
                return dX, {name: parameter.grad for name, parameter in learning.items()}

        return Y, backward, new_state

    return apply


def _require_declared(keywords, model, known):
    """Raise TypeError for a keyword that no layer of a model declares."""
    if unknown := sorted(keywords.keys() - known):
        taken = ", ".join(sorted(known)) or "no keyword"
        raise TypeError(
            f"no layer of {model} takes {unknown[0]}; they take {taken}. "
            f"A layer takes the keywords of its forward: def forward(self, X, {unknown[0]}=...)."
        )


def _held_by(model):
    """Return the Parameters and the Buffers of a model, each a dict by name."""
    parts = named_parts(model)
    return tuple(
        {name: part for name, part in parts if isinstance(part, kind)} for kind in (Parameter, Buffer)
    )


def _holders(parameters, buffers, params, state):
    """Return new Parameters and Buffers with these values, by the id of those they replace."""
    _require_like("params", params, parameters)
    _require_like("state", state, buffers)
    copies = {}
    for name, part in parameters.items():
        twin = copies[id(part)] = type(part)(params[name])  # the same class, such as a node of a graph
        twin.trainable = part.trainable
    return copies | {id(part): Buffer(state[name]) for name, part in buffers.items()}


def _require_like(called, values, held):
    """Raise an error for anything but a dict of arrays with the names and shapes of the model's."""
    if not isinstance(values, dict):
        raise TypeError(f"{called} must be a dict of names to arrays, got {type(values).__name__}.")
    wrong = [f"{name} is missing" for name in held if name not in values]
    wrong += [f"{name} is unknown" for name in values if name not in held]
    if wrong:
        raise ValueError(f"{called} must hold {', '.join(held) or 'nothing'}: {wrong[0]}.")
    for name, part in held.items():
        if shape_of(values[name]) != part.shape:
            got = shape_of(values[name])
            raise ShapeError(f"{called}[{name!r}] must have shape {part.shape}, got {got}.")


class _NoGenerator:
    """A stand-in for a Generator where none is given: drawing raises an error."""

    def __getattr__(self, name):
        if hasattr(np.random.Generator, name):
            raise ValueError(
                "this model draws random numbers: pass a seed to the call, "
                "apply(params, state, X, training=True, rng=0)."
            )
        raise AttributeError(name)


def _children(rng, count):
    """Return an iterator of Generators, children of a key; without a key, of stand-ins that cannot draw."""
    if rng is None:
        return iter([_NoGenerator()] * count)
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        rng = np.random.SeedSequence(int(rng))
    if not isinstance(rng, np.random.SeedSequence):
        is_generator = isinstance(rng, np.random.Generator)
        got = "a Generator, which changes when it draws: write rng=rng.integers(2**63)"
        raise TypeError(
            "rng of a pure function must be a seed, an integer from 0, or a numpy.random.SeedSequence; "
            f"got {got if is_generator else repr(rng)}."
        )
    keys = [np.random.SeedSequence(rng.entropy, spawn_key=(*rng.spawn_key, i)) for i in range(count)]
    return map(np.random.default_rng, keys)


def _keywords_of(function):
    """Return the names of the keyword parameters of a function, except its first."""
    try:
        declared = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return set()
    fixed = function.keywords if isinstance(function, functools.partial) else ()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    _, *others = declared.values() or [None]
    return {part.name for part in others if part.kind in by_name and part.name not in fixed}


def _own_keywords_of(layer):
    """Return the keywords that a layer's forward declares, except training and need_dX."""
    function = layer.__wrapped__ if isinstance(layer, Function) else layer.forward
    return _keywords_of(function) - {"training", "need_dX"}


class FunctionalLayer(Layer):
    """A layer made of two pure functions; it stores their parameters and state.

    Parameters
    ----------
    init : function, (rng, X) -> (params, state)
        Creates the initial values, two dicts of names to arrays, from a seed and a sample; `initialize` calls
        it.
    apply : function, (params, state, X) -> (Y, backward, new_state)
        `backward(dY)` returns `(dX, gradients)`, with the gradients by the names of params. It is given
        `training` and `rng` if it declares them; rng is a new seed in each call while training, else None.

    Attributes
    ----------
    params : dict of str to Parameter
    state : dict of str to Buffer
        Replaced by new_state in training; unchanged outside training.

    Raises
    ------
    TypeError
        If init or apply is not a function, or returns something else.
    ValueError
        If the layer runs before it is initialized, or a name is missing or unknown.
    ShapeError
        If a gradient or a new state has another shape than what it belongs to.

    References
    ----------
    Oryx, "nn.base". Chapter 12.

    Examples
    --------
    >>> def init(rng, X):
    ...     return {"scale": np.ones(X.shape[1])}, {}
    >>> def apply(params, state, X):
    ...     def backward(dY):
    ...         return dY * params["scale"], {"scale": (dY * X).sum(axis=0)}
    ...     return X * params["scale"], backward, state
    >>> layer = FunctionalLayer(init, apply).initialize(np.ones((5, 2)), rng=0)
    >>> Y, backward = layer(np.array([[3.0, 5.0]]))
    >>> dX = backward(np.array([[1.0, 1.0]]))
    >>> layer.params["scale"].grad
    array([3., 5.])
    """

    not_parts = ("init", "apply")

    def __init__(self, init, apply):
        require_function("init of FunctionalLayer", init, "(rng, X) -> (params, state)")
        call = "(params, state, X) -> (Y, backward, new_state)"
        require_function("apply of FunctionalLayer", apply, call)
        self.init, self.apply = init, apply
        self.takes = [name for name in ("training", "rng") if name in _keywords_of(apply)]
        self.params, self.state, self.rng = {}, {}, None
        self.is_drawn = False

    def forward(self, X, training=False):
        """Return the result of apply on the layer's values, and the backward function."""
        params, state = (
            {name: part.data for name, part in held.items()} for held in (self.params, self.state)
        )
        options = {"training": training, "rng": None}
        if "rng" in self.takes and training:
            options["rng"] = int(self.rng.integers(2**63))
        result = self.apply(params, state, X, **{name: options[name] for name in self.takes})
        Y, apply_backward, new_state = self._require("apply", result, ("Y", "backward", "new_state"))
        if training:
            _require_like(f"new_state of {self}", new_state, self.state)
            for name, buffer in self.state.items():
                buffer.data[...] = new_state[name]

        def backward(dY):
            dX, gradients = self._require("backward", apply_backward(dY), ("dX", "gradients"))
            _require_like(f"gradients of {self}", gradients, self.params)
            for name, parameter in self.params.items():
                parameter.grad += gradients[name]
            return dX

        return Y, backward

    def _require(self, name, result, wanted):
        """Return the result of a function; raise TypeError if the number of values is wrong."""
        if isinstance(result, tuple) and len(result) == len(wanted):
            return result
        got = f"{len(result)} things" if isinstance(result, tuple) else f"{type(result).__name__} alone"
        raise TypeError(f"{name} of {self} must return ({', '.join(wanted)}), got {got}.")

    def missing(self):
        """Return an error if the layer is not initialized, otherwise None."""
        if self.is_drawn:
            return None
        return ValueError(f"{self} has no weights: call model.initialize(X, rng=0).")

    def open(self, X, Y, rng):
        """Create the initial values by init, in the type of X."""
        if rng is None or self.is_drawn:
            return
        result = self.init(int(rng.integers(2**63)), X)
        params, state = self._require("init", result, ("params", "state"))
        sample = X[0] if isinstance(X, tuple) else X
        self.params = {name: Parameter(like(array, sample)) for name, array in params.items()}
        self.state = {name: Buffer(like(array, sample)) for name, array in state.items()}
        self.rng, self.is_drawn = rng.spawn(1)[0], True

    def __repr__(self):
        return f"FunctionalLayer({getattr(self.apply, '__name__', self.apply)})"
