"""Early stopping.

Holds EarlyStopping. A callback can be any function of (learner, row). Built in chapter
08.
"""

import math

from minigrad.backend import like
from minigrad.settings import require_integer, require_number


class EarlyStopping:
    """Stop training when a metric has not improved for some epochs, and restore the best weights.

    The running averages of the best epoch are restored with them. If `fit` ends before that, call
    `restore`.

    Parameters
    ----------
    monitor : str
        The name of the metric to monitor, in the rows of the history.
    patience : int
        The number of consecutive epochs without improvement after which training stops.
    min_delta : float
        The smallest change that counts as an improvement.
    mode : str
        "min" if lower is better, as for a loss; "max" if higher is better, as for an accuracy.

    Attributes
    ----------
    best : float or None
        The best value so far; None before the first. A nan is never better.
    best_epoch : int
        The epoch of that value; 0 before the first.
    waited : int
        The number of epochs since then.
    memory : dict
        The weights and running averages of the best epoch, by Parameter and Buffer, under "best". A
        checkpoint saves all four attributes: `save(path, {"learner": learner, "stop": stop})`.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or the rows do not contain the metric.

    References
    ----------
    Prechelt, "Early stopping: but when?" (1998). Chapter 08.

    Examples
    --------
    >>> import numpy as np
    >>> from minigrad import SGD, Learner, Linear, mse
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> T = (X[:, :1] != X[:, 1:]).astype(float)
    >>> learner, stop = Learner(Linear(2, 1, rng=0), mse, SGD(0.5)), EarlyStopping("loss", min_delta=1e-3)
    >>> history = learner.fit(X, T, epochs=1000, callbacks=stop)
    >>> len(history) - stop.best_epoch, stop.waited
    (5, 5)
    """

    def __init__(self, monitor="validation_loss", patience=5, min_delta=0.0, mode="min"):
        if not isinstance(monitor, str):
            wanted = 'monitor of EarlyStopping must be a name, such as "validation_loss"'
            raise TypeError(f"{wanted}; got {monitor!r}.")
        self.patience = require_integer("patience of EarlyStopping", patience)
        self.min_delta = require_number("min_delta of EarlyStopping", min_delta, least=0)
        if mode not in ("min", "max"):
            raise ValueError(f'mode of EarlyStopping must be "min" or "max", got {mode!r}.')
        self.monitor, self.mode = monitor, mode
        self.best, self.best_epoch, self.waited, self.memory = None, 0, 0, {}

    def __call__(self, learner, row):
        """Update the state from the row of an epoch; return True to stop training."""
        if self.monitor not in row:
            advice = "pass validation=(X, T) to fit, or monitor another"
            raise ValueError(f"EarlyStopping monitors {self.monitor!r}, but rows have {list(row)}: {advice}.")
        figure, sign = row[self.monitor], 1 if self.mode == "min" else -1
        first = self.best is None and not math.isnan(figure)
        if first or (self.best is not None and sign * (self.best - figure) > self.min_delta):
            self.best, self.best_epoch, self.waited = figure, row["epoch"], 0
            parts = [*learner.model.parameters(), *learner.model.buffers()]
            self.memory = {part: {"best": part.data.copy()} for part in parts}
            return False
        self.waited += 1
        if self.waited < self.patience:
            return False
        if self.memory:  # empty if each value was nan
            self.restore(learner)
        return True

    def restore(self, learner):
        """Restore the weights and running averages of the best epoch in the learner's model."""
        for part in [*learner.model.parameters(), *learner.model.buffers()]:
            part.data[...] = like(self.memory[part]["best"], part.data)  # a checkpoint restores it on the CPU

    @property
    def progress(self):
        """The current state for a checkpoint: best, best_epoch and waited."""
        return {"best": self.best, "best_epoch": self.best_epoch, "waited": self.waited}

    @progress.setter
    def progress(self, progress):
        best_epoch = require_integer("best_epoch of EarlyStopping", progress["best_epoch"], least=0)
        waited = require_integer("waited of EarlyStopping", progress["waited"], least=0)
        if not isinstance(progress["best"], (int, float, type(None))):
            raise TypeError(f"best of EarlyStopping must be a number or None, got {progress['best']!r}.")
        self.best, self.best_epoch, self.waited = progress["best"], best_epoch, waited
