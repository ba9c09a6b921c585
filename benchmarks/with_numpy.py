"""The step in raw NumPy, optimized by hand: no layers, no checks, and every array allocated once.

Each network has its own loop. All weights are in one row, and all gradients in another, so that an optimizer
updates one array; each operation writes into a preallocated array; data have the memory layout that is best
for the products; and memory allocation is tuned as in minigrad. This is the lower bound: NumPy when only
speed counts. Only the GPT is not optimized by hand. Unlike with a library, every network needs its own loop.
"""

import numpy as np

from benchmarks import gpt
from benchmarks.workloads import start

CHUNK = 2**15  # chunk size: five arrays fit in the cache


def side_by_side(arrays):
    """Concatenate arrays; return the row, a row for gradients, and views of both in the arrays' shapes."""
    row = np.concatenate(arrays, axis=None)
    gradient = np.zeros_like(row)
    ends = np.cumsum([array.size for array in arrays])
    cuts = [
        [part.reshape(array.shape) for part, array in zip(np.split(whole, ends), arrays, strict=False)]
        for whole in (row, gradient)
    ]
    return row, gradient, *cuts


def chunks(array):
    """Split an array into flat views small enough for the processor's cache."""
    flat = array.reshape(-1)
    return [flat[start : start + CHUNK] for start in range(0, flat.size, CHUNK)]


def sgd(arrays, learning_rate):
    """Return a function of the gradients that takes a step of gradient descent, and overwrites them."""
    rate = np.array(learning_rate, arrays[0].dtype)

    def update(gradients):
        for array, gradient in zip(arrays, gradients, strict=True):
            for a, g in zip(chunks(array), chunks(gradient), strict=True):
                g *= rate
                a -= g

    return update


def adam(arrays, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    """Return a function of the gradients that takes a step of Adam.

    The running means are stored without the factors 1 - beta, which saves two passes over the arrays.
    """
    kept = [(chunks(a), chunks(np.zeros_like(a)), chunks(np.zeros_like(a))) for a in arrays]
    scratch = np.empty(CHUNK, arrays[0].dtype)
    steps = 0

    def update(gradients):
        nonlocal steps
        steps += 1
        root = ((1 - beta2) / (1 - beta2**steps)) ** 0.5
        rate = learning_rate * (1 - beta1) / (1 - beta1**steps) / root
        for of_array, gradient in zip(kept, gradients, strict=True):
            for a, mean, square, g in zip(*of_array, chunks(gradient), strict=True):
                change = scratch[: a.size]
                mean *= beta1
                mean += g
                np.multiply(g, g, out=change)
                square *= beta2
                square += change
                np.sqrt(square, out=change)
                change += eps / root
                np.divide(mean, change, out=change)
                change *= rate
                a -= change

    return update


OPTIMIZERS = {"SGD": sgd, "Adam": adam}


def mse(T):
    """Return a function of Y that returns the mean squared error, and overwrites Y with its gradient."""

    def loss(Y):
        np.subtract(Y, T, out=Y)
        L = np.vdot(Y, Y) / Y.size
        Y *= 2 / Y.size
        return L

    return loss


def cross_entropy(T):
    """Return a function of logits (labels, examples) that returns the loss and overwrites them with dY."""
    count = len(T)
    columns = np.arange(count)

    def loss(Y):
        Y -= Y.max(axis=0)
        right = Y[T, columns].sum()
        np.exp(Y, out=Y)
        sums = Y.sum(axis=0)
        L = (np.log(sums).sum() - right) / count
        sums *= count
        Y /= sums
        Y[T, columns] -= 1 / count
        return L

    return loss


LOSSES = {"mse": mse, "cross_entropy": cross_entropy}


def tanh(H, slope):
    """Replace H by its tanh, and store the derivative in `slope`."""
    np.tanh(H, out=H)
    np.multiply(H, H, out=slope)
    np.subtract(1, slope, out=slope)


def relu(H, slope):
    """Replace H by its ReLU, and store the derivative in `slope`."""
    np.maximum(H, 0, out=H)
    np.greater(H, 0, out=slope)


ACTIVATIONS = {"Tanh": tanh, "ReLU": relu}


def linear_step(workload):
    """Make the step of a network of linear layers.

    Examples are columns, with a row of ones below them: the bias is then another column of the weights.
    """
    X, T, weights = start(workload)
    row, gradient, matrices, d_matrices = side_by_side([np.vstack([W, b]).T for W, b in weights])
    update = OPTIMIZERS[workload.optimizer]([row], workload.learning_rate)
    loss, activate = LOSSES[workload.loss](T.T), ACTIVATIONS[workload.activation]
    inputs = [np.ones((W.shape[1], len(X)), row.dtype) for W in matrices]
    states = [H[:-1] for H in inputs]
    slopes, d_states = ([np.empty_like(H) for H in states] for _ in range(2))
    X_T, Y = np.ascontiguousarray(X.T), np.empty((len(matrices[-1]), len(X)), row.dtype)

    def take():
        states[0][...] = X_T
        for W, H, next_H, slope in zip(matrices[:-1], inputs, states[1:], slopes[1:], strict=False):
            np.dot(W, H, out=next_H)
            activate(next_H, slope)
        np.dot(matrices[-1], inputs[-1], out=Y)
        L, dY = loss(Y), Y
        for place in reversed(range(len(matrices))):
            np.dot(dY, inputs[place].T, out=d_matrices[place])
            if place:
                dH = d_states[place]
                np.dot(matrices[place][:, :-1].T, dY, out=dH)
                dH *= slopes[place]
                dY = dH
        update([gradient])
        return L

    return take


def recurrent_step(workload):  # noqa: PLR0915  one step with its buffers, which all its parts share
    """Make the step of a network of an LSTM and a linear layer.

    The factor `half`, 0.5 in the gates' columns and 1 in the candidate's, turns tanh into the gates'
    sigmoids.
    """
    X, T, ((W, b, U), (V, c)) = start(workload)
    row, gradient, (W, b, U, V, c), (dW, db, dU, dV, dc) = side_by_side([W, b, U, V, c])
    update = OPTIMIZERS[workload.optimizer]([row], workload.learning_rate)
    loss = LOSSES[workload.loss](T)
    (batch, steps, n_in), n_out, dtype = X.shape, len(U), row.dtype
    X = X.swapaxes(0, 1).reshape(-1, n_in)  # the entries of a step are contiguous
    half = np.full((batch, 4 * n_out), 0.5, dtype)
    half[:, 2 * n_out : 3 * n_out] = 1
    rest, ones = 1 - half, np.ones(steps * batch, dtype)
    half_W, half_b, half_U, U_T = (
        np.empty_like(W),
        np.empty_like(b),
        np.empty_like(U),
        np.empty_like(U.T, order="C"),
    )
    H, C = (np.zeros((steps + 1, batch, n_out), dtype) for _ in range(2))
    tanh_C, reach, scratch, dH_all = (np.empty_like(H[1:]) for _ in range(4))
    gates, dZ = (np.empty((steps, batch, 4 * n_out), dtype) for _ in range(2))
    from_state, part, dC = np.empty_like(gates[0]), np.empty_like(H[0]), np.empty_like(H[0])
    let_in, keep, new, let_out = np.split(gates, 4, axis=-1)
    d_in, d_keep, d_new, d_out = np.split(dZ, 4, axis=-1)
    d_three = dZ.reshape(steps, batch, 4, n_out)[:, :, :3]
    # all views that the loops need, one tuple per step
    steps_forward = list(zip(gates, H, H[1:], C, C[1:], let_in, keep, new, let_out, tanh_C, strict=False))
    steps_back = list(zip(dZ, d_three, d_out, reach, keep, strict=True))[::-1]

    def slope(gate, kept, out):
        """Store gate (1 - gate) times the values that the gate multiplied, in `out`."""
        np.subtract(1, gate, out=scratch)
        np.multiply(scratch, gate, out=scratch)
        np.multiply(scratch, kept, out=out)

    def take():
        for array, halved in ((W, half_W), (b, half_b), (U, half_U)):
            np.multiply(array, half[0], out=halved)
        np.dot(X, half_W, out=gates.reshape(-1, 4 * n_out))
        np.add(gates, half_b, out=gates)
        for gate, h, next_h, c_before, c_now, i, f, g, o, tanh_c in steps_forward:
            np.dot(h, half_U, out=from_state)
            np.add(gate, from_state, out=gate)
            np.tanh(gate, out=gate)
            np.multiply(gate, half, out=gate)
            np.add(gate, rest, out=gate)
            np.multiply(f, c_before, out=c_now)
            np.multiply(i, g, out=part)
            np.add(c_now, part, out=c_now)
            np.tanh(c_now, out=tanh_c)
            np.multiply(o, tanh_c, out=next_h)
        Y = H[-1] @ V
        Y += c
        L = loss(Y.T)
        np.dot(H[-1].T, Y, out=dV)
        np.dot(ones[:batch], Y, out=dc)

        slope(let_in, new, d_in)
        slope(keep, C[:-1], d_keep)
        slope(let_out, tanh_C, d_out)
        for array, factor, out in ((new, let_in, d_new), (tanh_C, let_out, reach)):  # tanh' = 1 - tanh²
            np.multiply(array, array, out=scratch)
            np.subtract(1, scratch, out=scratch)
            np.multiply(scratch, factor, out=out)
        dH, dC[...], U_T[...] = Y @ V.T, 0, U.T
        for dz, three, last, reached, f in steps_back:
            np.multiply(dH, reached, out=part)
            np.add(dC, part, out=dC)
            np.multiply(three, dC[:, None], out=three)
            np.multiply(last, dH, out=last)
            np.dot(dz, U_T, out=dH)
            np.multiply(dC, f, out=dC)
        rows = dZ.reshape(-1, 4 * n_out)
        np.dot(X.T, rows, out=dW)
        np.dot(H[:-1].reshape(-1, n_out).T, rows, out=dU)
        np.dot(ones, rows, out=db)
        update([gradient])
        return L

    return take


def windows_of(strips, n_rows):
    """Return a view for each row of windows; it has a column for each window and image."""
    size = n_rows * strips[0, :, :, 0, 0].size
    return [strips[row : row + n_rows].reshape(size, -1) for row in range(len(strips) - n_rows + 1)]


def convolution(H, dH, W, b, dW, db):  # noqa: PLR0913  three arrays, each with its gradient
    """Return arrays for Y and dY, (rows, n_out, columns, batch), and the functions forward and backward.

    H is (rows, n_in, columns, batch); dH, its gradient, is None for the first layer.
    """
    _, n_in, columns, batch = H.shape
    n_out, _, n_rows, n_columns = W.shape
    columns = columns - n_columns + 1
    strips = np.empty((len(H), n_in, n_columns, columns, batch), H.dtype)
    windows = windows_of(strips, n_rows)
    kernels = np.empty((n_out, n_rows, n_in, n_columns), H.dtype)
    flat_kernels = kernels.reshape(n_out, -1)
    d_kernels, share = (np.empty_like(flat_kernels.T, order="C") for _ in range(2))
    Y, dY = (np.empty((len(windows), n_out, columns * batch), H.dtype) for _ in range(2))
    ones = np.ones(columns * batch, H.dtype)
    d_strips = None if dH is None else np.empty_like(strips)
    d_windows = [] if dH is None else windows_of(d_strips, n_rows)
    d_window = None if dH is None else np.empty_like(windows[0])

    def forward():
        for j in range(n_columns):
            strips[:, :, j] = H[:, :, j : j + columns]
        kernels[...] = W.transpose(0, 2, 1, 3)
        for row, window in zip(Y, windows, strict=True):
            np.dot(flat_kernels, window, out=row)
            row += b[:, None]

    def backward():
        d_kernels.fill(0)
        for row, window in zip(dY, windows, strict=True):
            np.dot(window, row.T, out=share)
            np.add(d_kernels, share, out=d_kernels)
        dW[...] = d_kernels.T.reshape(kernels.shape).transpose(0, 2, 1, 3)
        db[...] = dY.dot(ones).sum(axis=0)
        if dH is None:
            return
        d_strips.fill(0)
        for row, place in zip(dY, d_windows, strict=True):
            np.dot(flat_kernels.T, row, out=d_window)
            place += d_window
        dH.fill(0)
        for j in range(n_columns):
            dH[:, :, j : j + columns] += d_strips[:, :, j]

    shape = (len(Y), n_out, columns, batch)
    return Y.reshape(shape), dY.reshape(shape), forward, backward


QUARTERS = [np.s_[i::2, :, j::2] for i in (0, 1) for j in (0, 1)]  # entries of 2 × 2 windows


def pooled_relu(Y, dY):
    """Return arrays for P and dP, and the functions forward and backward; ReLU follows the pooling."""
    first, *others = quarters = [Y[quarter] for quarter in QUARTERS]
    P, dP, largest, slope = (np.empty_like(first) for _ in range(4))
    here = np.empty(P.shape, bool)

    def forward():
        largest[...] = first
        for quarter in others:
            np.maximum(largest, quarter, out=largest)
        np.maximum(largest, 0, out=P)

    def backward():
        np.greater(P, 0, out=slope)
        np.multiply(dP, slope, out=dP)
        for quarter, place in zip(quarters, QUARTERS, strict=True):
            np.equal(quarter, largest, out=here)
            np.multiply(dP, here, out=dY[place])

    return P, dP, forward, backward


def image_step(workload):
    """Make the step of a network of convolutions, ReLU, max pools and a linear layer; sides must be even."""
    X, T, weights = start(workload)
    row, gradient, arrays, d_arrays = side_by_side([array for pair in weights for array in pair])
    update = OPTIMIZERS[workload.optimizer]([row], workload.learning_rate)
    loss = LOSSES[workload.loss](T)
    images = X.transpose(2, 1, 3, 0).copy()  # (rows, channels, columns, batch)
    H, dH, forwards, backwards = images, None, [], []
    for place in range(0, len(arrays) - 2, 2):
        Y, dY, *passes = convolution(H, dH, *arrays[place : place + 2], *d_arrays[place : place + 2])
        H, dH, *pool_passes = pooled_relu(Y, dY)
        forwards += [passes[0], pool_passes[0]]
        backwards = [pool_passes[1], passes[1], *backwards]
    V, c, dV, dc = *arrays[-2:], *d_arrays[-2:]
    by_example, ones = np.empty(H.transpose(3, 1, 0, 2).shape, row.dtype), np.ones(len(X), row.dtype)
    F, dF = by_example.reshape(len(X), -1), np.empty((len(X), len(V)), row.dtype)

    def take():
        for forward in forwards:
            forward()
        by_example[...] = H.transpose(3, 1, 0, 2)
        Y = F @ V
        Y += c
        L = loss(Y.T)
        np.dot(F.T, Y, out=dV)
        np.dot(ones, Y, out=dc)
        np.dot(Y, V.T, out=dF)
        dH[...] = dF.reshape(by_example.shape).transpose(2, 1, 3, 0)
        for backward in backwards:
            backward()
        update([gradient])
        return L

    return take


def step(workload):
    """Return a function that takes one step with NumPy alone and returns the loss before it."""
    np.empty(2**25 - 2**16, dtype=np.uint8)  # freed at once: see minigrad/backend.py
    if workload.heads:
        return gpt.numpy_step(workload, *start(workload), cross_entropy, OPTIMIZERS[workload.optimizer])
    kind = recurrent_step if workload.steps else image_step if workload.side else linear_step
    return kind(workload)
