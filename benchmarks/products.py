"""The matrix products of a step alone: what is left of it if everything else costs nothing.

Forward, one product a linear layer; backward two, but one for the first layer, since nobody reads its dX.
"""

import numpy as np

from benchmarks.workloads import start


def factors(workload):
    """Return the pairs of matrices that a step multiplies, in its order, transposed as the step has them.

    Examples
    --------
    >>> from benchmarks.workloads import WORKLOADS
    >>> [(A.shape, B.shape) for A, B in factors(WORKLOADS["W2 SGD"])]  # doctest: +NORMALIZE_WHITESPACE
    [((64, 64), (64, 128)), ((64, 128), (128, 10)),
     ((128, 64), (64, 10)), ((64, 10), (10, 128)), ((64, 64), (64, 128))]
    """
    X, _, weights = start(workload)
    rng = np.random.default_rng(1)
    forward, backward = [], []
    for place, (W, _) in enumerate(weights):
        n_in, n_out = W.shape
        A = X if place == 0 else rng.standard_normal((workload.batch, n_in)).astype(workload.dtype)
        dY = rng.standard_normal((workload.batch, n_out)).astype(workload.dtype)
        forward.append((A, W))
        backward = [(A.T, dY), *([(dY, W.T)] if place else []), *backward]
    return forward + backward


def step(workload):
    """Return a function that computes the products of one step, into arrays made beforehand."""
    products = [(A, B, A @ B) for A, B in factors(workload)]

    def take():
        for A, B, out in products:
            np.dot(A, B, out=out)

    return take
