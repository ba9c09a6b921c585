"""Someone who only looks: a model run forward, with what came out of every layer, by name.

Holds Evaluator. Leaves out gradients, since serving needs none (`minigrad.replica` has them), and the loop
that trains (`minigrad.learner`). Built in chapter 23.
"""

import copy

from minigrad.layer import Layer, walk
from minigrad.parameter import Buffer, Parameter


class Evaluator:
    """Run a model forward, and keep what its layers return: one Evaluator a thread, one model for all.

    Parameters
    ----------
    model : Layer
        Its Parameters and Buffers are used, not copied: what it learns later is seen here at once.

    Attributes
    ----------
    activations : dict of str to array
        What each layer returned in the last `forward`, under the names that `model.walk()` gives; "" is the
        model itself. A layer that was used twice shows its last result.

    Raises
    ------
    TypeError
        If the model is no Layer.

    Notes
    -----
    The layers are copied, which costs next to nothing: their weights are not. So an Evaluator never touches
    the model, and several of them may run at the same time.

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
        if not isinstance(model, Layer):
            came = type(model).__name__
            raise TypeError(f"an Evaluator runs a Layer, got {came}: put it into Sequential(...).")
        shared = {id(part): part for _, part in walk(model) if isinstance(part, (Parameter, Buffer))}
        self.activations = {}
        self.model = copy.deepcopy(model, shared)
        for name, layer in self.model.walk():
            layer.forward = self._watched(name, layer.forward)

    def forward(self, X):
        """Return the model's Y for X, as outside training, and keep what its layers returned."""
        self.activations.clear()
        return self.model.predict(X)

    def _watched(self, name, forward):
        """Return a forward that leaves its result among the activations."""

        def watched(X):
            Y, backward = forward(X)
            self.activations[name] = Y
            return Y, backward

        return watched
