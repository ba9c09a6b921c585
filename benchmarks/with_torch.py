"""PyTorch takes the step: eager, as its tutorials write it; and at its best on a CPU.

At its best means what a user can choose without changing the model: the fused optimizer (one pass over the
memory; PyTorch 2.4 and newer have it on CPUs, for SGD and Adam), gradients dropped instead of zeroed
(`set_to_none`, the default since 2.0, so eager has it too), and an allocator that keeps freed memory. Leaves
out torch.compile, which is no longer eager and needs a C++ compiler. PyTorch is imported when asked for.
"""

import os

import numpy as np

from benchmarks.workloads import start


def _torch():
    """Return PyTorch, told to use as many threads as this process may."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return torch


def _trained(torch, workload, weights, **options):
    """Return a function (X, T) -> loss that takes one step."""
    layers = []
    for W, b in weights:
        linear = torch.nn.Linear(*W.shape, dtype=getattr(torch, workload.dtype))
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(W.T))
            linear.bias.copy_(torch.from_numpy(b))
        layers += [linear, getattr(torch.nn, workload.activation)()]
    model = torch.nn.Sequential(*layers[:-1])
    loss = {"mse": torch.nn.MSELoss, "cross_entropy": torch.nn.CrossEntropyLoss}[workload.loss]()
    make = getattr(torch.optim, workload.optimizer)
    optimizer = make(model.parameters(), lr=workload.learning_rate, **options)

    def take(X, T):
        optimizer.zero_grad()
        L = loss(model(X), T)
        L.backward()
        optimizer.step()
        return L

    return take


def eager(workload, **options):
    """Return a function that takes one step with PyTorch, its defaults unchanged; it returns the loss."""
    torch = _torch()
    X, T, weights = start(workload)
    take = _trained(torch, workload, weights, **options)
    X, T = torch.from_numpy(X), torch.from_numpy(T)
    return lambda: take(X, T)


def best(workload):
    """Return a function that takes one step with PyTorch at its best; it returns the loss."""
    np.empty(
        31 * 2**20, dtype=np.uint8
    )  # freed at once: glibc keeps freed blocks up to this size from now on
    return eager(workload, fused=True)


def epoch(workload, examples):
    """Return a function that goes through the examples once, in shuffled batches; it returns a loss."""
    torch = _torch()
    X, T, weights = start(workload, examples)
    take = _trained(torch, workload, weights)
    X, T = torch.from_numpy(X), torch.from_numpy(T)

    def through():
        for rows in torch.randperm(examples).split(workload.batch):
            L = take(X[rows], T[rows])
        return L

    return through
