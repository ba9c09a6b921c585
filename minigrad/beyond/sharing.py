"""Replicas, which share one set of weights.

Holds replica, which copies a model so that it shares the weights and has its own gradients: those of several
batches or threads then do not mix. They are added up in parallel.py. Built in chapter 13.
"""

import copy

import numpy as np

from minigrad.layer import as_layer
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import named_parts


def replica(model):
    """Return a copy of a model that shares the arrays of its weights and has its own gradients.

    Parameters
    ----------
    model : Layer

    Returns
    -------
    Layer
        Its Parameters are new, with zero gradients; their data are the model's own arrays, so a step on the
        model, which changes them in place, also changes every replica. Its Buffers are the model's own. The
        replica's Generators get seeds from the model's, so that replicas draw different random numbers.

    Notes
    -----
    Methods that give the model new arrays end the sharing: `to`, `to_device`.

    References
    ----------
    PaddlePaddle, API design ("GradientMachine"). Chapter 13.

    Examples
    --------
    >>> from minigrad import Linear
    >>> model = Linear(2, 3, rng=0)
    >>> twin = replica(model)
    >>> twin.W.data is model.W.data, twin.W.grad is model.W.grad
    (True, False)
    """
    parts = [part for _, part in named_parts(as_layer(model))]
    shared = [part.data for part in parts if isinstance(part, Parameter)]
    shared += [part for part in parts if isinstance(part, Buffer)]
    kept = {id(thing): thing for thing in shared}
    generators = [part for part in parts if isinstance(part, np.random.Generator)]
    drawn = {id(each): np.random.default_rng(each.integers(2**63)) for each in generators}
    twin = copy.deepcopy(as_layer(model), kept | drawn)
    for parameter in twin.parameters():
        parameter.grad = np.zeros_like(parameter.data)
    return twin
