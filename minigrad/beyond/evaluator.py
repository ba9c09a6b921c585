"""Evaluator, which runs a model forward and keeps the activations of every layer, by name.

Holds Evaluator. It computes no gradients, since serving needs none: see `minigrad.replica` for those, and
`minigrad.learner` for training. Built in chapter 23.
"""

from minigrad.layer import as_layer, observed
from minigrad.learner import Learner
from minigrad.optimizers import SGD


class _Activations(dict):
    """Activations by name; the last part of a name is enough if it is unique."""

    def __missing__(self, name):
        ending = [full for full in self if full.rpartition(".")[2] == name]
        if len(ending) == 1:
            return self[ending[0]]
        known = f"there are {', '.join(map(repr, self))}" if self else "call forward(X) first"
        if ending:
            known = f"{' and '.join(map(repr, ending))} end so: write one of them"
        raise KeyError(f"no activations of a layer {name!r}: {known}")


class Evaluator:
    """Run a model forward and keep its activations: one Evaluator per thread, one model for all.

    Parameters
    ----------
    model : Layer or function
        Its Parameters and Buffers are used, not copied: later training of it takes effect here at once.

    Attributes
    ----------
    activations : dict of str to array
        The result of each layer in the last `forward`, under the names of `model.named_layers()`; "" is the
        model itself. For a layer used twice, it is the last result.

    Raises
    ------
    TypeError
        If the model cannot be called.

    Notes
    -----
    Nothing is copied or changed: the layers are observed only in the thread that calls `forward`, and only
    while it runs (minigrad.layer.observed). So several Evaluators may run at the same time.

    References
    ----------
    PaddlePaddle, API design ("Evaluator"). Chapter 23.

    Examples
    --------
    >>> import numpy as np
    >>> from minigrad import Linear, ReLU
    >>> model = Linear(1, 2, rng=0) >> ReLU()
    >>> model.layers[0].W.data[...] = [[3.0, -3.0]]
    >>> evaluator = Evaluator(model)
    >>> evaluator.forward(np.array([[1.0]]))
    array([[3., 0.]])
    >>> evaluator.activations["layers.0"]
    array([[ 3., -3.]])
    """

    def __init__(self, model):
        self.model = as_layer(model)
        self.activations = _Activations()

    def forward(self, X):
        """Return the model's Y for X, as in evaluation, and keep the result of each layer."""
        names = {layer: name for name, layer in self.model.named_layers().items()}
        self.activations = _Activations()  # so that a failed pass leaves no old results
        activations = _Activations()

        def keep(layer, Y):
            if layer in names:
                activations[names[layer]] = Y

        with observed(after=keep):
            Y = self.model.predict(X)
        self.activations = activations
        return Y

    def activation(self, layer):
        """Return the activations of one layer in the last `forward`.

        Parameters
        ----------
        layer : str
            Its name, or the last part of its name if that is unique.

        Returns
        -------
        array

        Raises
        ------
        KeyError
            If no layer has this name, or several have; the message lists the names.

        Examples
        --------
        >>> import numpy as np
        >>> from minigrad import Linear, ReLU, Sequential
        >>> evaluator = Evaluator(Sequential({"hidden": ReLU(), "output": Linear(1, 2, rng=0)}))
        >>> Y = evaluator.forward(np.array([[-1.0]]))
        >>> evaluator.activation(layer="hidden")
        array([[0.]])
        """
        return self.activations[layer]

    def test(self, X, T, loss, metrics=(), batch_size=1024):
        """Compute the loss and the metrics of a test set, as in evaluation; return a dict.

        Another thread may train the model meanwhile: each batch sees the weights as they are then.

        Parameters
        ----------
        X : array (examples, …) or tuple of arrays
        T : array (examples, …)
        loss : function, (Y, T) -> (L, backward)
        metrics : function or sequence of functions, (Y, T) -> float
        batch_size : int
            Examples per forward pass; the loss and the metrics are computed on the whole Y at once.

        Returns
        -------
        dict of str to float
        """
        return Learner(self.model, loss, SGD(), metrics).evaluate(X, T, batch_size)
