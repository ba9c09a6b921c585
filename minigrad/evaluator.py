"""Someone who only looks: a model run forward, with what came out of every layer, by name.

Holds Evaluator. Leaves out gradients, since serving needs none (`minigrad.replica` has them), and the loop
that trains (`minigrad.learner`). Built in chapter 23.
"""

from minigrad.layer import as_layer, observed


class _Activations(dict):
    """What came out of the layers, by name; a name that is missing is answered with those that are not."""

    def __missing__(self, name):
        known = f"there are {', '.join(map(repr, self))}" if self else "call forward(X) first"
        raise KeyError(f"no activations of a layer {name!r}: {known}")


class Evaluator:
    """Run a model forward, and keep what its layers return: one Evaluator a thread, one model for all.

    Parameters
    ----------
    model : Layer or function
        Its Parameters and Buffers are used, not copied: what it learns later is seen here at once.

    Attributes
    ----------
    activations : dict of str to array
        What each layer returned in the last `forward`, under the names that `model.named_layers()` gives; ""
        is the model itself. A layer that was used twice shows its last result.

    Raises
    ------
    TypeError
        If the model cannot be called.

    Notes
    -----
    Nothing is copied and nothing is changed: the layers are observed, in the thread that calls `forward` and
    while it runs (minigrad.layer.observed). So several of them may run at the same time.

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
        """Return the model's Y for X, as outside training, and keep what its layers returned."""
        names = {layer: name for name, layer in self.model.named_layers().items()}
        activations = _Activations()

        def keep(layer, Y):
            if layer in names:
                activations[names[layer]] = Y

        with observed(after=keep):
            Y = self.model.predict(X)
        self.activations = activations
        return Y
