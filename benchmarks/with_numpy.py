"""A raw NumPy loop takes the step: no layers, no checks, as a good NumPy programmer writes it by hand.

Its only tricks are to work in place where an array is its own, and minigrad's line for the allocator, so
that the ratio to it says what a library costs. Leaves out what makes minigrad a library: any other network
needs another loop.
"""

import numpy as np

from benchmarks import gpt
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


LOSSES = {"mse": mse, "cross_entropy": cross_entropy}
OPTIMIZERS = {"SGD": sgd, "Adam": adam}


def lstm(X, W, b, U, half):
    """Return the states of an LSTM, zero before the first step, and what its gradients need.

    A factor of half, 0.5 in the columns of the gates and 1 in those of the candidate, makes sigmoids of tanh.
    """
    steps, batch, n_in = X.shape
    gates = X.reshape(-1, n_in) @ W
    gates += b
    gates *= half
    gates = gates.reshape(steps, batch, -1)
    let_in, keep, new, let_out = np.split(gates, 4, axis=-1)
    H = np.zeros((steps + 1, batch, len(U)), X.dtype)
    C, bent = np.zeros_like(H), np.empty_like(H[1:])
    half_U, rest = half * U, 1 - half
    for t in range(steps):
        gates[t] += H[t] @ half_U
        np.tanh(gates[t], out=gates[t])
        gates[t] *= half
        gates[t] += rest
        np.multiply(keep[t], C[t], out=C[t + 1])
        C[t + 1] += let_in[t] * new[t]
        np.tanh(C[t + 1], out=bent[t])
        np.multiply(let_out[t], bent[t], out=H[t + 1])
    return H, (C, bent, gates)


def lstm_gradients(X, U, H, kept, dH):
    """Return the gradients of W, b and U, for that of the last state."""
    C, bent, gates = kept
    let_in, keep, new, let_out = np.split(gates, 4, axis=-1)
    dZ = 1 - gates
    dZ *= gates
    d_in, d_keep, d_new, d_out = np.split(dZ, 4, axis=-1)
    d_new[...] = 1 - new * new
    d_in *= new
    d_keep *= C[:-1]
    d_new *= let_in
    d_out *= bent
    reach = let_out * (1 - bent * bent)
    dC = np.zeros_like(dH)
    for t in reversed(range(len(X))):
        dC += dH * reach[t]
        d_in[t] *= dC
        d_keep[t] *= dC
        d_new[t] *= dC
        d_out[t] *= dH
        dC *= keep[t]
        dH = dZ[t] @ U.T
    dZ = dZ.reshape(-1, dZ.shape[-1])
    return [X.reshape(-1, X.shape[-1]).T @ dZ, dZ.sum(axis=0), H[:-1].reshape(-1, len(U)).T @ dZ]


def recurrent_step(workload):
    """Return the step of a network of an LSTM and a linear layer."""
    X, T, ((W, b, U), (V, c)) = start(workload)
    update = OPTIMIZERS[workload.optimizer]([W, b, U, V, c], workload.learning_rate)
    half = np.full_like(b, 0.5)
    half[2 * len(U) : 3 * len(U)] = 1

    def take():
        by_step = np.ascontiguousarray(X.swapaxes(0, 1))
        H, kept = lstm(by_step, W, b, U, half)
        L, dY = LOSSES[workload.loss](H[-1] @ V + c, T)
        update([*lstm_gradients(by_step, U, H, kept, dY @ V.T), H[-1].T @ dY, dY.sum(axis=0)])
        return L

    return take


def windows_of(strips, n_rows):
    """Return a view for each row of windows: a window's numbers down, the row's windows and images across."""
    size = n_rows * strips[0, :, :, 0, 0].size
    return [strips[row : row + n_rows].reshape(size, -1) for row in range(len(strips) - n_rows + 1)]


def convolve(H, W, b):
    """Return kernels times windows, as (rows, n_out, columns, batch), and what the gradients need."""
    _, _, columns, batch = H.shape
    n_out, _, n_rows, n_columns = W.shape
    columns = columns - n_columns + 1
    strips = np.stack([H[:, :, j : j + columns] for j in range(n_columns)], axis=2)
    windows = windows_of(strips, n_rows)
    kernels = W.transpose(0, 2, 1, 3).reshape(n_out, -1)
    Y = np.empty((len(windows), n_out, columns * batch), H.dtype)
    for row, window in zip(Y, windows, strict=True):
        np.dot(kernels, window, out=row)
        row += b[:, None]
    return Y.reshape(len(Y), n_out, columns, batch), (strips, windows, kernels)


def convolution_gradients(H, W, kept, dY, first):
    """Return the gradients of H (None for the first layer), W and b."""
    strips, windows, kernels = kept
    n_out, n_in, n_rows, n_columns = W.shape
    columns = dY.shape[2]
    rows = dY.reshape(len(dY), n_out, -1)
    d_kernels = np.zeros_like(kernels.T)
    for window, row in zip(windows, rows, strict=True):
        d_kernels += window @ row.T
    dW = d_kernels.T.reshape(n_out, n_rows, n_in, n_columns).transpose(0, 2, 1, 3)
    db = rows.sum(axis=(0, 2))
    if first:
        return None, dW, db
    d_strips, dH = np.zeros_like(strips), np.zeros_like(H)
    for d_window, row in zip(windows_of(d_strips, n_rows), rows, strict=True):
        d_window += kernels.T @ row
    for j in range(n_columns):
        dH[:, :, j : j + columns] += d_strips[:, :, j]
    return dH, dW, db


QUARTERS = [np.s_[i::2, :, j::2] for i in (0, 1) for j in (0, 1)]  # of windows of 2 × 2


def pool(Y):
    """Return the largest of each window, and where later quarters were larger than all before."""
    P, larger = Y[QUARTERS[0]], []
    for quarter in QUARTERS[1:]:
        larger.append(Y[quarter] > P)
        P = np.maximum(P, Y[quarter])
    return P, larger


def pool_gradient(Y, larger, dP):
    """Return the gradient of Y; that of the pool is used up."""
    dY = np.empty_like(Y)
    for quarter, here in zip(QUARTERS[:0:-1], larger[::-1], strict=True):
        np.multiply(dP, here, out=dY[quarter])
        dP -= dY[quarter]
    dY[QUARTERS[0]] = dP
    return dY


def image_step(workload):
    """Return the step of a network of convolutions, ReLU, pools and a linear layer, for sides that halve."""
    X, T, (*convolutions, (V, c)) = start(workload)
    arrays = [array for pair in convolutions for array in pair] + [V, c]
    update = OPTIMIZERS[workload.optimizer](arrays, workload.learning_rate)

    def take():
        passed, H = [], X.transpose(2, 1, 3, 0).copy()  # (rows, channels, columns, batch)
        for W, b in convolutions:
            Y, kept = convolve(H, W, b)
            np.maximum(Y, 0, out=Y)
            P, larger = pool(Y)
            passed.append((H, Y, kept, larger))
            H = P
        F = H.transpose(3, 1, 0, 2).reshape(len(X), -1)
        L, dY = LOSSES[workload.loss](F @ V + c, T)
        gradients = [dY.sum(axis=0), F.T @ dY]  # from the end: b before W
        rows, channels, columns, batch = H.shape
        dH = (dY @ V.T).reshape(batch, channels, rows, columns).transpose(2, 1, 3, 0).copy()
        for place in reversed(range(len(convolutions))):
            H, Y, kept, larger = passed[place]
            dY = pool_gradient(Y, larger, dH)
            dY *= Y > 0
            dH, dW, db = convolution_gradients(H, convolutions[place][0], kept, dY, first=place == 0)
            gradients += [db, dW]
        update(gradients[::-1])
        return L

    return take


def step(workload):
    """Return a function that takes one step with NumPy alone and returns the loss before it."""
    np.empty(2**25 - 2**16, dtype=np.uint8)  # freed at once: see minigrad/backend.py
    if workload.heads:
        loss, optimizer = LOSSES[workload.loss], OPTIMIZERS[workload.optimizer]
        return gpt.numpy_step(workload, *start(workload), loss, optimizer)
    kind = recurrent_step if workload.steps else image_step if workload.side else linear_step
    return kind(workload)


def linear_step(workload):
    """Return the step of a network of linear layers."""
    X, T, weights = start(workload)
    loss = LOSSES[workload.loss]
    activate, slope = ACTIVATIONS[workload.activation], SLOPES[workload.activation]
    arrays = [array for pair in weights for array in pair]
    update = OPTIMIZERS[workload.optimizer](arrays, workload.learning_rate)

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
