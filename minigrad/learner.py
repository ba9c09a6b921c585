"""The training loop: five lines for a batch, a few more for an epoch.

Holds Learner, History and accuracy. Nothing here prints or draws; callbacks do. Leaves out saving
(checkpoint.py) and everything about a particular layer. Built in chapter 07.
"""

import numpy as np

from minigrad.data import batches
from minigrad.layer import as_layer
from minigrad.shapes import ShapeError, count_examples, require_batch, shape_of


def accuracy(Y, T):
    """Return the share of rows whose largest entry is the right class.

    Parameters
    ----------
    Y : array (batch, …, n_classes)
    T : array of integers (batch, …)

    Returns
    -------
    float, from 0 to 1

    Examples
    --------
    >>> accuracy(np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1]))
    0.5
    """
    labels = Y.argmax(axis=-1)
    if shape_of(labels) != shape_of(T):
        raise ShapeError(
            f"accuracy compares rows of Y, shape {shape_of(Y)}, with labels T of shape {shape_of(labels)}; "
            f"got T of shape {shape_of(T)}."
        )
    return float((labels == T).mean())


class History(list):
    """What happened in each epoch: a list of dicts; `history["loss"]` is a column of it.

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history["loss"]
    [0.5, 0.25]
    """

    def __getitem__(self, key):
        """Return a column for a name, a row for a number."""
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)


class Learner:
    """A model, a loss and an optimizer, and the loop that brings them together.

    Parameters
    ----------
    model : Layer or function, X -> (Y, backward)
    loss : function, (Y, T) -> (L, backward)
    optimizer : object with step(parameters)
    metrics : sequence of functions, (Y, T) -> float
        Reported by evaluate, under their names, which must differ.
    before_step : function of the list of parameters, optional
        Runs between backward and step: clipping, or averaging over workers.
    rng : int or numpy.random.Generator
        Shuffles the batches.

    Attributes
    ----------
    epoch : int
        Epochs done so far, also across several calls of fit.

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

    def __init__(self, model, loss, optimizer, metrics=(), before_step=None, rng=0):
        self.model = as_layer(model)
        self.loss, self.optimizer, self.metrics, self.before_step = loss, optimizer, metrics, before_step
        self.rng = np.random.default_rng(rng)
        self.epoch = 0
        names = ["loss", *(metric.__name__ for metric in metrics)]
        if len(set(names)) < len(names):
            raise ValueError(f"metrics are reported by name, but two are called the same: {names}.")

    def fit_batch(self, X, T, parameters=None):
        """Take one step on one batch and return its loss; who takes many looks up the parameters once."""
        parameters = self.model.parameters() if parameters is None else parameters
        for parameter in parameters:
            parameter.zero_grad()
        Y, backward = self.model(X, training=True, need_dX=False)
        L, loss_backward = self.loss(Y, T)
        backward(loss_backward())
        if self.before_step:
            self.before_step(parameters)
        self.optimizer.step(parameters)
        return float(L)

    def fit(self, X, T, epochs=1, batch_size=32, validation=None, callbacks=()):
        """Go through the data several times, in shuffled batches.

        Parameters
        ----------
        X : array (examples, …) or tuple of such arrays
        T : array (examples, …)
        epochs : int
            How often every example is seen.
        batch_size : int
        validation : (X, T), optional
            Evaluated after each epoch, under names that begin with `validation_`.
        callbacks : sequence of functions, (learner, row) -> bool or None
            Called after each epoch with that epoch's row of the history; True ends the training.

        Returns
        -------
        History
            One row an epoch: epoch, loss (mean over the examples), and the validation's figures.

        Raises
        ------
        ValueError, TypeError
            If the data are empty, not numbers or not finite, or X and T disagree on the number of examples.
        """
        examples = _require_pairs(X, T)
        if validation is not None:
            _require_pairs(*validation)
        history = History()
        for _ in range(epochs):
            total, parameters = 0.0, self.model.parameters()
            for X_batch, T_batch in batches(X, T, batch_size, self.rng):
                loss = self.fit_batch(X_batch, T_batch, parameters)
                total += loss * len(T_batch)  # a short last batch counts less
            self.epoch += 1
            row = {"epoch": self.epoch, "loss": total / examples}
            if validation is not None:
                row |= {f"validation_{name}": value for name, value in self._measure(*validation).items()}
            history.append(row)
            if any([callback(self, row) for callback in callbacks]):
                break
        return history

    def evaluate(self, X, T):
        """Return a dict of the loss and the metrics, means over all examples, as outside training."""
        _require_pairs(X, T)
        return self._measure(X, T)

    def predict(self, X):
        """Return the model's Y for X, as outside training."""
        return self.model.predict(X)

    def _measure(self, X, T, batch_size=1024):
        """Return loss and metrics over batches, so that a large set needs little memory."""
        totals = dict.fromkeys(["loss", *(metric.__name__ for metric in self.metrics)], 0.0)
        for X_batch, T_batch in batches(X, T, batch_size):
            Y, _ = self.model(X_batch)
            totals["loss"] += float(self.loss(Y, T_batch)[0]) * len(T_batch)
            for metric in self.metrics:
                totals[metric.__name__] += float(metric(Y, T_batch)) * len(T_batch)
        return {name: total / len(T) for name, total in totals.items()}


def _require_pairs(X, T):
    """Return the number of examples, refusing data that cannot be fitted."""
    require_batch("X", X)
    require_batch("T", T)
    return count_examples(X, T)
