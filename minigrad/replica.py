"""Several users of one set of weights.

Holds replica: a model with the same weights and gradients of its own, so that gradients of several batches,
or of several threads, do not mix. Leaves out who adds them up. Built in chapter 13.
"""

import copy

import numpy as np

from minigrad.layer import walk
from minigrad.parameter import Parameter


def replica(model):
    """Return a copy of a model that shares the arrays of its weights and has gradients of its own.

    Parameters
    ----------
    model : Layer

    Returns
    -------
    Layer
        Its Parameters are new, with zero gradients and nothing remembered; their data are the model's own
        arrays, so a step on the model, which changes them in place, is seen by every replica. Buffers are
        copies; a random Generator is a child of the model's, so that replicas draw different numbers.

    Raises
    ------
    TypeError
        If a Parameter stands in the closure of a plain function, which Python cannot copy apart.

    Notes
    -----
    What gives the model new arrays ends the sharing: `to`, `to_device`.

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
    parts = dict(walk(model))
    kept = {id(part.data): part.data for part in parts.values() if isinstance(part, Parameter)}
    drawn = {id(part): part.spawn(1)[0] for part in parts.values() if isinstance(part, np.random.Generator)}
    twin = copy.deepcopy(model, kept | drawn)
    for name, part in walk(twin):
        if isinstance(part, Parameter):
            if part is parts[name]:
                raise TypeError(f"{name} stands in a function, which cannot be copied: write it as a Layer.")
            part.grad, part.state = np.zeros_like(part.data), {}
    return twin
