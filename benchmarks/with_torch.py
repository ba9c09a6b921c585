"""The step in PyTorch: eager, as in its tutorials; and at its best on a CPU.

At its best means options that need no change to the model: the fused optimizer (one pass over the memory; on
CPUs since PyTorch 2.4, for SGD and Adam), gradients set to None instead of zero (the default since 2.0, so
eager does it, too), an allocator that keeps freed memory, and for images `channels_last`, which makes the
channels of a pixel contiguous. torch.compile is not used: it is not eager, and needs a C++ compiler. PyTorch
is imported only when needed.
"""

import os

import numpy as np

from benchmarks import gpt
from benchmarks.workloads import start


def _torch():
    """Import PyTorch, and set its number of threads to that of this process."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return torch


def _linear(torch, W, b):
    """Make a linear layer with copies of the weights."""
    linear = torch.nn.Linear(*W.shape, dtype=torch.from_numpy(W).dtype)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(W.T))
        linear.bias.copy_(torch.from_numpy(b))
    return linear


def _convolution(torch, W, b):
    """Make a convolution with copies of the weights."""
    n_out, n_in, *kernel = W.shape
    convolution = torch.nn.Conv2d(n_in, n_out, kernel, dtype=torch.from_numpy(W).dtype)
    with torch.no_grad():
        convolution.weight.copy_(torch.from_numpy(W))
        convolution.bias.copy_(torch.from_numpy(b))
    return convolution


def _lstm(torch, W, b, U):
    """Make an LSTM with copies of the weights, and a module that returns its last state.

    On most processors (those that oneDNN supports), PyTorch runs all steps as one compiled operation.
    """

    class LastState(torch.nn.Module):
        def forward(self, states):
            return states[0][:, -1]

    lstm = torch.nn.LSTM(len(W), len(U), batch_first=True, dtype=torch.from_numpy(W).dtype)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(torch.from_numpy(W.T))
        lstm.weight_hh_l0.copy_(torch.from_numpy(U.T))
        lstm.bias_ih_l0.copy_(torch.from_numpy(b))
        lstm.bias_hh_l0.zero_()
    lstm.bias_hh_l0.requires_grad_(False)  # its second bias is redundant
    return lstm, LastState()


def _layers(torch, workload, weights):
    """Make a workload's Sequential, with copies of the given weights."""
    layers = []
    for W, b, *U in weights:
        if layers and workload.activation:
            layers.append(getattr(torch.nn, workload.activation)())
        if layers and workload.side:
            layers.append(torch.nn.MaxPool2d(2))
        if W.ndim == 4:
            layers.append(_convolution(torch, W, b))
        else:
            layers += [torch.nn.Flatten()] if workload.side else []
            layers += _lstm(torch, W, b, *U) if U else [_linear(torch, W, b)]
    return torch.nn.Sequential(*layers)


def _trained(torch, workload, weights, layout="contiguous_format", **options):
    """Return a function (X, T) -> loss that takes one step; the weights have the given memory layout."""
    model = (gpt.torch_model if workload.heads else _layers)(torch, workload, weights)
    model = model.to(memory_format=getattr(torch, layout))
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


def eager(workload, layout="contiguous_format", **options):
    """Return a function that takes one step with PyTorch's defaults and returns the loss."""
    torch = _torch()
    X, T, weights = start(workload)
    take = _trained(torch, workload, weights, layout, **options)
    X, T = torch.from_numpy(X), torch.from_numpy(T)
    if workload.heads:
        T = T.flatten()  # a GPT's logits are rows
    if workload.side:
        X = X.contiguous(memory_format=getattr(torch, layout))
    return lambda: take(X, T)


def best(workload):
    """Return a function that takes one step with PyTorch at its best and returns the loss."""
    np.empty(
        31 * 2**20, dtype=np.uint8
    )  # freed at once: glibc keeps freed blocks up to this size from now on
    return eager(workload, layout="channels_last", fused=True)


def epoch(workload, examples):
    """Return a function that trains for an epoch, in shuffled batches, and returns a loss."""
    torch = _torch()
    X, T, weights = start(workload, examples)
    take = _trained(torch, workload, weights)
    X, T = torch.from_numpy(X), torch.from_numpy(T)

    def through():
        for rows in torch.randperm(examples).split(workload.batch):
            L = take(X[rows], T[rows])
        return L

    return through
