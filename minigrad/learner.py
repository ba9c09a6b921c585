"""The training loop: five lines for a batch, a few more for an epoch.

Holds Learner and History. Printing and plotting are left to callbacks. Saving is in checkpoint.py. Built in
chapter 07.
"""

import functools
import math
import warnings

import numpy as np

from minigrad.data import batches
from minigrad.foreign_names import Answering
from minigrad.layer import Sequential, as_layer, in_batches, require_pair
from minigrad.settings import as_generator, require_function, require_integer
from minigrad.shapes import ShapeError, count_examples, require_batch, shape_of, take

APPLIED_BY = {"cross_entropy": "Softmax", "bce_with_logits": "Sigmoid"}  # the layer that a loss applies to Y


class History(list):
    """A list with one dict of figures per epoch; `history["loss"]` is a column of it.

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history["loss"]
    [0.5, 0.25]
    """

    def __getitem__(self, key):
        """Return a column for a name, and a row for an index."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for row in self:
            if key not in row:
                raise KeyError(f"the history has no column {key}: it has {', '.join(row)}")
        return [row[key] for row in self]


class Learner(Answering):
    """Train a model with a loss and an optimizer.

    Parameters
    ----------
    model : Layer or function, X -> (Y, backward)
    loss : function, (Y, T) -> (L, backward)
    optimizer : object with step(parameters)
    metrics : function or sequence of functions, (Y, T) -> float
        Reported by evaluate under their names, which must differ. Each receives all examples at once.
    before_step : function of the list of parameters, optional
        Called between backward and step, for example to clip gradients, or to average them over ranks.
    rng : int or numpy.random.Generator
        Shuffles the batches; a child of it draws missing weights.

    Attributes
    ----------
    epoch : int
        Epochs completed so far, over all calls of fit.
    history : History
        One row per epoch, over all calls of fit.

    Raises
    ------
    TypeError
        If the model is not callable, or if loss, optimizer or a metric is a string or a class.
    ValueError
        If two metrics have the same name.

    References
    ----------
    Chapter 07.

    Examples
    --------
    >>> from minigrad import Linear, SGD, mse
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> learner = Learner(Linear(1, 1, rng=0), mse, SGD(0.1))
    >>> history = learner.fit(X, 3 * X + 1, epochs=400)
    >>> learner.predict(np.array([[10.0]])).round(2)
    array([[31.]])
    """

    def __init__(self, model, loss, optimizer, metrics=(), before_step=None, rng=0):  # noqa: PLR0913  settings
        self.loss = require_function("loss of Learner", loss, "(Y, T) -> (L, backward)")
        if isinstance(optimizer, type) or not hasattr(optimizer, "step"):
            wanted = "an object with a method step(parameters), as SGD(0.1) is"
            raise TypeError(f"optimizer of Learner must be {wanted}; got {optimizer!r}.")
        self.model, self.optimizer, self.before_step = as_layer(model), optimizer, before_step
        self.metrics = _several(metrics)
        last, name = type(_last_of(self.model)).__name__, _name_of(loss)
        if last == APPLIED_BY.get(name):
            advice = f"leave {last} out of the model; (model >> {last}()).predict(X) gives probabilities"
            warnings.warn(f"{name} takes logits and applies {last} itself: {advice}.", stacklevel=2)
        self.rng = as_generator(rng)
        self.epoch, self.history = 0, History()
        self._batch = 0  # the current batch of this epoch, for error messages
        names = ["loss", *map(_name_of, self.metrics)]
        if len(set(names)) < len(names):
            raise ValueError(f"metrics are reported by name, but two have the same name: {names}.")

    @property
    def progress(self):
        """The epoch and the history, as a dict, for a checkpoint."""
        return {"epoch": self.epoch, "history": list(self.history)}

    @progress.setter
    def progress(self, progress):
        epoch, history = progress["epoch"], History(progress["history"])
        is_plain = all(isinstance(value, int | float | str) for row in history for value in row.values())
        if type(epoch) is not int or epoch < 0 or not is_plain:
            raise ValueError(
                f"a history may hold only numbers and strings; got {history[-1:]} at epoch {epoch!r}."
            )
        self.epoch, self.history = epoch, history

    def fit_batch(self, X, T, parameters=None):
        """Take one step on one batch and return its loss.

        Parameters
        ----------
        X : array (batch, …) or tuple of such arrays
        T : array (batch, …)
        parameters : list of Parameter, optional
            The model's parameters; a caller that takes many steps looks them up once.

        Raises
        ------
        ValueError
            If the loss or a gradient is not finite; no step is taken.
        """
        parameters = self.model.parameters() if parameters is None else parameters
        for parameter in parameters:
            parameter.zero_grad()
        L, backward = self._forward(self.model, X, T)
        loss = float(L)
        if not math.isfinite(loss):
            raise self._stopped(f"the loss is {loss}")
        backward()
        if self.before_step:
            self.before_step(parameters)
        # check all gradients at once: a nan or an infinity makes the sum of squares not finite
        if not math.isfinite(sum(np.vdot(parameter.grad, parameter.grad) for parameter in parameters)):
            held = self.model.named_parameters().items()
            bad = [name for name, each in held if each.trainable and not np.isfinite(each.grad).all()]
            if bad:  # otherwise only the squares overflowed
                raise self._stopped(f"the gradient of {bad[-1]} is not finite")
        self.optimizer.step(parameters)
        return loss

    def fit(self, X, T, epochs=1, batch_size=32, validation=None, callbacks=()):  # noqa: PLR0913  settings
        """Train on the data for several epochs, in shuffled batches.

        Parameters
        ----------
        X : array (examples, …) or tuple of such arrays
        T : array (examples, …)
        epochs : int
            Passes over all examples.
        batch_size : int
            At least 1.
        validation : pair (X, T), optional
            Evaluated after each epoch; the names of its figures begin with `validation_`.
        callbacks : function or sequence of functions, (learner, row) -> bool or None
            Called after each epoch with that epoch's row of the history; training stops if one returns True,
            as EarlyStopping does.

        Returns
        -------
        History
            One row for each epoch of this call: epoch, loss (mean over the examples), and the validation
            figures. The learner's own `history` contains the rows of all calls.

        Raises
        ------
        ValueError, TypeError
            If the data are empty, not numbers or not finite, or X and T differ in the number of examples; if
            the model has no trainable Parameter; if a loss or a gradient is not finite, before the step.
        """
        require_integer("epochs", epochs, least=0)
        callbacks = _several(callbacks)
        examples = _require_pairs(X, T)
        if validation is not None:
            _require_pairs(*validation)
        self._open(X, T)
        history = History()
        for _ in range(epochs):
            total, parameters = 0.0, self.model.parameters()
            for batch, (X_batch, T_batch) in enumerate(batches(X, T, batch_size, self.rng), start=1):
                self._batch = batch
                loss = self.fit_batch(X_batch, T_batch, parameters)
                total += loss * len(T_batch)  # a smaller last batch has less weight
            self._batch = 0
            self.epoch += 1
            row = {"epoch": self.epoch, "loss": total / examples}
            if validation is not None:
                found = self._measure(*validation, batch_size=1024)
                row |= {f"validation_{name}": value for name, value in found.items()}
            history.append(row)
            self.history.append(row)
            if any([callback(self, row) for callback in callbacks]):
                break
        return history

    def evaluate(self, X, T, batch_size=1024):
        """Compute the loss and the metrics over all examples, with the model in evaluation; return a dict.

        The model receives batch_size examples at a time; loss and metrics receive its whole Y at once.
        """
        _require_pairs(X, T)
        return self._measure(X, T, batch_size)

    def predict(self, X, batch_size=None):
        """Return the model's Y for X, as in evaluation, in batches if batch_size is given."""
        return self.model.predict(X, batch_size)

    def _measure(self, X, T, batch_size):
        """Compute loss and metrics over all examples, with memory for Y and one batch."""
        Y = in_batches(self.model, X, batch_size)
        found = {"loss": float(self._loss(Y, T)[0])}
        return found | {_name_of(metric): float(metric(Y, T)) for metric in self.metrics}

    def _forward(self, model, X, T):
        """Run a batch in training; return its loss and the backward function through loss and model."""
        Y, backward = model(X, training=True, need_dX=False)
        L, loss_backward = self._loss(Y, T)
        return L, lambda: backward(loss_backward())

    def _loss(self, Y, T):
        """Return (L, backward) of the loss; raise an error unless L is one number."""
        L, backward = require_pair(_name_of(self.loss), self.loss(Y, T), first="L")
        if shape_of(L) != ():
            wanted = f"{_name_of(self.loss)} must return one number for the whole batch"
            raise ShapeError(f"{wanted}, got L of shape {shape_of(L)}: take the mean.")
        return L, backward

    def _stopped(self, reason):
        """Return the error that stops training before a step."""
        place = f"batch {self._batch} of epoch {self.epoch + 1}" if self._batch else "this batch"
        advice = "lower the learning rate, or look for nan and very large numbers in the data"
        return ValueError(f"{reason} in {place}, so no step was taken: {advice}.")

    def _open(self, X, T):
        """Initialize layers without weights; raise ValueError if no Parameter is trainable."""
        if self.model.is_open:
            self.model.open_all(take(X, slice(1)), T, self.rng.spawn(1)[0])
        if not any(parameter.trainable for parameter in self.model.parameters()):
            advice = "keep Parameters as attributes of a layer, or in the closure of a function"
            raise ValueError(f"{self.model} has no Parameter to train: {advice}, or unfreeze() the model.")


def _require_pairs(X, T):
    """Validate X and T, and return their number of examples."""
    require_batch("X", X)
    require_batch("T", T)
    return count_examples(X, T)


def _last_of(model):
    """Return the last layer of a model of nested Sequentials."""
    while isinstance(model, Sequential) and model.layers:
        layers = model.layers
        model = layers[-1] if isinstance(layers, list) else [*layers.values()][-1]
    return model


def _several(given):
    """Return one function, or a sequence of them, as a tuple."""
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _name_of(function):
    """Return the name of a function, of the function inside a partial, or of the class of an object."""
    if isinstance(function, functools.partial):
        return _name_of(function.func)
    return getattr(function, "__name__", None) or type(function).__name__
