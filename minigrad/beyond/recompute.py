"""Recompute, a layer that stores only its input and computes the rest again in the backward pass.

Holds Recompute, which trades time for memory. Where to cut a model into such layers is the user's choice.
Built in chapter 19.
"""

import contextlib
import threading

import numpy as np

from minigrad.layer import Layer, as_layer
from minigrad.parameter import Buffer
from minigrad.parts import named_parts

_turns = threading.RLock()  # one thread at a time, since replicas share Buffers


class Recompute(Layer):
    """Run a layer and store only its input; run it once more in the backward pass.

    Parameters
    ----------
    layer : Layer or function, X -> (Y, backward)
        Most memory is saved if it contains several layers: only the input of the first is stored.

    Notes
    -----
    Y, dX and the gradients of the weights equal those of the layer, to the last bit.
    The second run starts with the random Generators and the Buffers in the state before the first, so that a
    Dropout drops the same entries; afterwards both are restored: a BatchNorm's running averages count
    each batch once.
    Time: one more forward pass. Memory: X, and during the backward pass also the layer's stored activations.

    References
    ----------
    Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
    differentiation" (1992); Chen, Xu, Zhang, Guestrin, "Training deep nets with sublinear memory cost"
    (2016), section 3. Chapter 19.

    Examples
    --------
    >>> calls = []
    >>> def square(X):
    ...     calls.append("forward")
    ...     return X * X, lambda dY: 2 * X * dY
    >>> Y, backward = Recompute(square)(np.array([3.0]))
    >>> Y, backward(np.array([1.0])), calls
    (array([9.]), array([6.]), ['forward', 'forward'])
    """

    def __init__(self, layer):
        self.layer = as_layer(layer)

    def forward(self, X, training=False, need_dX=True):
        """Return the layer's result, and a backward function that starts with a second forward pass."""
        as_before = _bookmark(self.layer)
        Y, _ = self.layer(X, training=training, need_dX=need_dX)  # its backward function is dropped

        def backward(dY):
            with _turns if self.layer.buffers() else contextlib.nullcontext():
                as_now = _bookmark(self.layer)
                as_before()
                try:
                    # this second Y is not kept
                    layer_backward = self.layer(X, training=training, need_dX=need_dX)[1]
                finally:
                    as_now()
            return layer_backward(dY)

        return Y, backward

    def __repr__(self):
        return f"Recompute({self.layer})"


def _bookmark(layer):
    """Return a function that restores the current state of a layer's Generators and Buffers."""
    parts = [part for _, part in named_parts(layer)]
    generators = [part.bit_generator for part in parts if isinstance(part, np.random.Generator)]
    states = [generator.state for generator in generators]
    buffers = [(part, part.data.copy()) for part in parts if isinstance(part, Buffer)]

    def put_back():
        for generator, state in zip(generators, states, strict=True):
            generator.state = state
        for buffer, data in buffers:
            buffer.data[...] = data

    return put_back
