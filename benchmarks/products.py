"""The matrix products of a step alone: a lower bound for its time.

A linear layer has one product in the forward pass and two in the backward pass; the first layer has only
one there, since its dX is not needed. An LSTM has those of a linear layer for the inputs of all steps, one
per step and pass for the states, and one for the gradient of U. A convolution has those of a linear layer
for each row of Y, whose windows, side by side, are a matrix.
"""

import numpy as np

from benchmarks import gpt
from benchmarks.workloads import start


def factors(workload):
    """Return the pairs of matrices that a step multiplies, in order, transposed as in the step.

    Examples
    --------
    >>> from benchmarks.workloads import WORKLOADS
    >>> [(A.shape, B.shape) for A, B in factors(WORKLOADS["W2 SGD"])]  # doctest: +NORMALIZE_WHITESPACE
    [((64, 64), (64, 128)), ((64, 128), (128, 10)),
     ((128, 64), (64, 10)), ((64, 10), (10, 128)), ((64, 64), (64, 128))]
    """
    if workload.heads:
        return gpt.factors(workload)
    X, _, weights = start(workload)
    rng = np.random.default_rng(1)
    forward, backward = [], []

    def draw(rows, columns):
        return rng.standard_normal((rows, columns)).astype(workload.dtype)

    side = workload.side
    for place, (W, _, *U) in enumerate(weights):
        if W.ndim == 4:
            side = side - W.shape[-1] + 1
            kernels = W.reshape(len(W), -1)
            windows, dY = draw(kernels.shape[1], side * workload.batch), draw(len(W), side * workload.batch)
            forward += [(kernels, windows)] * side
            to_X = [(kernels.T, dY)] * side if place else []
            backward = [(windows, dY.T)] * side + to_X + backward
            side = side // 2
            continue
        n_in, n_out = W.shape
        A = X.reshape(-1, n_in) if place == 0 else draw(workload.batch, n_in)
        dY = draw(len(A) if place == 0 else workload.batch, n_out)
        forward.append((A, W))
        backward = [(A.T, dY), *([(dY, W.T)] if place else []), *backward]
        for U_state in U:
            H = draw(workload.steps * workload.batch, len(U_state))
            forward += [(H[: workload.batch], U_state)] * workload.steps
            backward = [(dY[: workload.batch], U_state.T)] * workload.steps + [(H.T, dY), *backward]
    return forward + backward


def step(workload):
    """Return a function that computes the products of one step into preallocated arrays."""
    products = [(A, B, A @ B) for A, B in factors(workload)]
    multiply = np.matmul if workload.heads else np.dot  # attention multiplies stacks of matrices

    def take():
        for A, B, out in products:
            multiply(A, B, out=out)

    return take
