"""A raw NumPy loop takes the step: no layers, no checks, as a good NumPy programmer writes it by hand.

Its only tricks are to work in place where an array is its own, and minigrad's line for the allocator, so
that the ratio to it says what a library costs. Leaves out what makes minigrad a library: any other network
needs another loop.
"""

import numpy as np

from benchmarks.workloads import start

ACTIVATIONS = {"Tanh": np.tanh, "ReLU": lambda Y: np.maximum(Y, 0)}
SLOPES = {"Tanh": lambda A: 1 - A * A, "ReLU": lambda A: A > 0}  # out of what the activation returned


def mse(Y, T):
    """Return the mean squared error and its gradient."""
    difference = Y - T
    return (difference * difference).mean(), difference * (2 / difference.size)


def cross_entropy(Y, T):
    """Return the cross-entropy of logits and labels, and its gradient."""
    rows = np.arange(len(T))
    P = np.exp(Y - Y.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    L = -np.log(P[rows, T]).mean()
    P[rows, T] -= 1
    P /= len(T)
    return L, P


def sgd(arrays, learning_rate):
    """Return a function of the gradients that takes a step of gradient descent."""

    def update(gradients):
        for array, gradient in zip(arrays, gradients, strict=True):
            array -= learning_rate * gradient

    return update


def adam(arrays, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    """Return a function of the gradients that takes a step of Adam, as PyTorch writes it."""
    means = [np.zeros_like(array) for array in arrays]
    squares = [np.zeros_like(array) for array in arrays]
    steps = 0

    def update(gradients):
        nonlocal steps
        steps += 1
        rate = learning_rate / (1 - beta1**steps)
        scale = (1 - beta2**steps) ** 0.5
        for array, gradient, mean, square in zip(arrays, gradients, means, squares, strict=True):
            mean *= beta1
            mean += (1 - beta1) * gradient
            square *= beta2
            square += (1 - beta2) * gradient * gradient
            array -= rate * mean / (np.sqrt(square) / scale + eps)

    return update


def step(workload):
    """Return a function that takes one step with NumPy alone and returns the loss before it."""
    np.empty(2**25 - 2**16, dtype=np.uint8)  # freed at once: see minigrad/backend.py
    X, T, weights = start(workload)
    loss = {"mse": mse, "cross_entropy": cross_entropy}[workload.loss]
    activate, slope = ACTIVATIONS[workload.activation], SLOPES[workload.activation]
    arrays = [array for pair in weights for array in pair]
    update = {"SGD": sgd, "Adam": adam}[workload.optimizer](arrays, workload.learning_rate)

    def take():
        inputs, Y = [], X
        for place, (W, b) in enumerate(weights):
            if place:
                Y = activate(Y)
            inputs.append(Y)
            Y = Y @ W
            Y += b
        L, dY = loss(Y, T)
        gradients = []
        for place in reversed(range(len(weights))):
            gradients += [dY.sum(axis=0), inputs[place].T @ dY]  # from the end: b before W
            if place:
                dY = dY @ weights[place][0].T
                dY *= slope(inputs[place])
        update(gradients[::-1])
        return L

    return take
