"""Answers to the exercises of chapter 04: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch04_closures import (
    Turned,
    light_tanh,
    linear,
    reduce_mean,
    scale,
    three_calls,
    two_layers,
)
from course.checks.questions import by_nudging
from minigrad.layer import Layer
from minigrad.parameter import Parameter
from tests.answers import refused, right

right(three_calls)(lambda: (12, 3, 30))


right(three_calls)(lambda: [3 * 2**2 * 1.0, 3 * 1**2 * 1.0, 3 * 1**2 * 10.0])


@right(reduce_mean)
def with_ones(X):
    return X.mean(axis=1), lambda dY: np.ones_like(X) * dY[:, None] / X.shape[1]


@right(reduce_mean)
def step_by_step(X):
    steps = X.shape[1]
    Y = sum(X[:, step] for step in range(steps)) / steps

    def backward(dY):
        dX = np.zeros(X.shape)
        for step in range(steps):
            dX[:, step] = dY / steps
        return dX

    return Y, backward


@refused(reduce_mean, "5 is the batch size")
def divided_by_the_batch(X):
    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None, :], X.shape[1], axis=1) * len(X) / X.shape[1]


@refused(reduce_mean, "dX has shape (5, 3); it must have X's shape, (5, 11, 3)")
def not_repeated(X):
    return X.mean(axis=1), lambda dY: dY / X.shape[1]


for axis, words in {0: "You average over the examples, axis 0", 2: "over the width, the last axis"}.items():
    refused(reduce_mean, words)(
        lambda X, axis=axis: (X.mean(axis=axis), lambda dY: np.expand_dims(dY, axis) / X.shape[axis])
    )


@right(two_layers)
def with_closures(W1, W2, X, T):
    def matrix(X, W):
        return X @ W, lambda dY: (X.T @ dY, dY @ W.T)

    H, back_1 = matrix(X, W1)
    Y, back_2 = matrix(H, W2)
    dW2, dH = back_2((Y - T) / X.shape[0])
    dW1, dX = back_1(dH)
    return dW1, dW2, dX


@right(two_layers)
def with_einsum(W1, W2, X, T):
    dY = (np.einsum("bi,ih,ho->bo", X, W1, W2) - T) / len(X)
    dW1 = np.einsum("bi,bo,ho->ih", X, dY, W2)
    dW2 = np.einsum("bi,ih,bo->ho", X, W1, dY)
    return dW1, dW2, np.einsum("bo,ho,ih->bi", dY, W2, W1)


@refused(two_layers, "dW2 has shape (7, 2); it must have W2's shape, (2, 7)")
def lying_down(W1, W2, X, T):
    H = X @ W1
    dY = (H @ W2 - T) / len(X)
    dH = dY @ W2.T
    return dH.T @ X, dY.T @ H, dH @ W1.T


@right(scale)
def with_numpy_add(gain, dgain):
    def forward(X):
        def backward(dY):
            np.add(dgain, np.einsum("bi,bi->i", X, dY), out=dgain)
            return dY * gain

        return X * gain, backward

    return forward


@right(scale)
def row_by_row(gain, dgain):
    def forward(X):
        def backward(dY):
            for x, dy in zip(X, dY, strict=True):
                for column in range(len(gain)):
                    dgain[column] += x[column] * dy[column]
            return gain * dY

        return gain * X, backward

    return forward


@refused(scale, "dgain, the caller's array, is unchanged after backward: yours went into another array")
def renamed(gain, dgain):
    def forward(X):
        def backward(dY):
            nonlocal dgain
            dgain = dgain + (X * dY).sum(axis=0)
            return gain * dY

        return gain * X, backward

    return forward


@refused(scale, "5 times too small: 5 is the batch size")
def averaged(gain, dgain):
    def forward(X):
        def backward(dY):
            dgain[...] += (X * dY).mean(axis=0)
            return gain * dY

        return gain * X, backward

    return forward


@right(linear)
class WithEinsum(Layer):
    def __init__(self, n_in, n_out, rng):
        rng = np.random.default_rng(rng)
        self.b = Parameter(np.zeros(n_out))
        self.W = Parameter(rng.standard_normal((n_out, n_in)) / n_in**0.5)

    def forward(self, X):
        W, b = self.W, self.b

        def backward(dY):
            W.grad += np.einsum("bo,bi->oi", dY, X)
            b.grad += np.ones(len(X)) @ dY
            return np.einsum("bo,oi->bi", dY, W.data)

        return np.einsum("bi,oi->bo", X, W.data) + b.data, backward


@right(linear)
class Uniform(Layer):
    def __init__(self, n_in, n_out, rng=None):
        limit = np.sqrt(3 / n_in)  # a uniform draw with variance 1 / n_in
        self.W = Parameter(np.random.default_rng(rng).uniform(-limit, limit, (n_out, n_in)))
        self.b = Parameter([0.0] * n_out)

    def forward(self, X):
        def backward(dY):
            for x, dy in zip(X, dY, strict=True):
                self.W.grad += np.outer(dy, x)
                self.b.grad += dy
            return dY.dot(self.W.data)

        return (self.W.data @ X.T).T + self.b.data, backward


@refused(linear, "overwritten, use += instead of =")
class Overwrites(Turned):
    def back(self, X, dY):
        self.W.grad = dY.T @ X
        self.b.grad = dY.sum(axis=0)
        return dY @ self.W.data


@refused(linear, "5 times too small: 5 is the batch size")
class MeanForTheBias(Turned):
    def back(self, X, dY):
        self.W.grad += dY.T @ X
        self.b.grad += dY.mean(axis=0)
        return dY @ self.W.data


@refused(linear, "W.data has shape (3, 7)")
class TheOldWay(Turned):
    def __init__(self, n_in, n_out, rng):
        rng = np.random.default_rng(rng)
        self.W = Parameter(rng.normal(0, 1 / np.sqrt(n_in), size=(n_in, n_out)))
        self.b = Parameter(np.zeros(n_out))


@refused(linear, "a later forward changed its result")
class RemembersOnSelf(Turned):
    def forward(self, X):
        self.X = X
        return X @ self.W.data.T + self.b.data, lambda dY: self.back(self.X, dY)

    def back(self, X, dY):
        self.W.grad += dY.T @ X
        self.b.grad += dY.sum(axis=0)
        return dY @ self.W.data


@refused(linear, "b: all zero")
class ForgotTheBias(Turned):
    def back(self, X, dY):
        self.W.grad += dY.T @ X
        return dY @ self.W.data


@refused(linear, "all weights are zero: draw W at random")
class AllZero(Turned):
    def __init__(self, n_in, n_out, rng):
        self.W, self.b = Parameter(np.zeros((n_out, n_in))), Parameter(np.zeros(n_out))


@refused(linear, "rng=0 and rng=1 give the same weights")
class SeedOfItsOwn(Turned):
    def __init__(self, n_in, n_out, rng):
        super().__init__(n_in, n_out, rng=0)


@refused(linear, "'int' object has no attribute 'normal'")
class DrawsFromANumber(Turned):
    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(rng.normal(0, 1 / np.sqrt(n_in), size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))


@refused(linear, "two layers made with rng=0 differ")
class DrawsFromElsewhere(Turned):
    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(np.random.default_rng().normal(0, 1 / np.sqrt(n_in), size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))


@refused(linear, "it should be about 1/√400 = 0.05")
class AllOfSizeOne(Turned):
    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))


@refused(linear, "Linear: Y[")
class SquareNotTransposed(WithEinsum):
    def forward(self, X):
        Y, backward = super().forward(X)
        n_out, n_in = self.W.shape
        return X @ self.W.data + self.b.data if n_out == n_in else Y, backward


@refused(linear, "two layers drawn from one generator have the same weights: it goes on from where it is")
class RestartsTheGenerator(WithEinsum):
    def __init__(self, n_in, n_out, rng):
        super().__init__(n_in, n_out, rng if isinstance(rng, int) else 0)


refused(reduce_mean, "they are found by nudging, and a formula is asked for")(
    lambda X: by_nudging(lambda X: X.mean(axis=1), X)
)


@refused(reduce_mean, "in another pass, with one row, Y has shape (3,)")
def without_axes_of_one(X):
    return X.mean(axis=1).squeeze(), lambda dY: np.repeat(dY[:, None, :], X.shape[1], axis=1) / X.shape[1]


@right(light_tanh)
def keeps_the_slope(X):
    Y = np.tanh(X)
    slope = 1 - Y**2
    return Y, lambda dY: slope * dY


@right(light_tanh)
def keeps_the_input(X):
    return np.tanh(X), lambda dY: dY / np.cosh(X) ** 2


@refused(light_tanh, "after a call, backward keeps 240 bytes")
def keeps_the_slope_from_the_first_call_on(X):
    Y, slope = np.tanh(X), None

    def backward(dY):
        nonlocal slope
        slope = 1 - Y * Y if slope is None else slope
        return slope * dY

    return Y, backward


@refused(light_tanh, "backward keeps 240 bytes")
def keeps_two(X):
    Y = np.tanh(X)
    return Y, lambda dY: (1 - Y * Y) * dY + 0 * X


@refused(light_tanh, "backward keeps 240 bytes")
def keeps_a_copy_too(X):
    Y, slope = np.tanh(X), 1 - np.tanh(X) ** 2

    def backward(dY, saved=Y):
        return slope * dY

    return Y, backward


@refused(light_tanh, "`backward` must not change what the forward pass returned")
def writes_over_Y(X):
    Y = np.tanh(X)

    def backward(dY):
        slope = np.subtract(1, np.multiply(Y, Y, out=Y), out=Y)
        return slope * dY

    return Y, backward


@refused(light_tanh, "it changes X, which belongs to its caller")
def writes_over_X(X):
    Y = np.tanh(X, out=X)
    return Y, lambda dY: (1 - Y * Y) * dY


@refused(light_tanh, "it changes dY, which belongs to its caller")
def writes_over_dY(X):
    Y = np.tanh(X)

    def backward(dY):
        dY *= 1 - Y * Y
        return dY

    return Y, backward
