"""Answers to the exercises of chapter 20: right ones, and those that a check refuses in its own words."""

import math

import numpy as np

from course.checks.ch20_speed import ROOT, Adam, apart, costs, function, in_pieces, power, step, tight, update
from tests.answers import refused, right

# 1. what lines must cost


right(costs)(lambda: np.array([12000, 4400, 200, 1600, 300, 2520, 270, 1320]))


@right(costs)
def from_sizes():
    X, W, Y, b = 10 * 20, 20 * 30, 10 * 30, 30
    moved = [4 * (X + W + Y), 4 * 2 * X, 4 * (2 * Y + b), 4 * (Y + b)]
    done = [2 * 10 * W, X, Y, 9 * b]
    return [number for pair in zip(done, moved, strict=True) for number in pair]


def _guess(*numbers):
    """Return an answer with these numbers, for the mistakes."""
    return lambda: numbers


refused(costs, "Each of the products is also added to a sum")(
    _guess(6000, 4400, 200, 1600, 300, 2520, 270, 1320)
)
refused(costs, "a sum of twenty products counts as forty operations")(
    _guess(11700, 4400, 200, 1600, 300, 2520, 270, 1320)
)
refused(costs, "it must return eight numbers, two for each line, but returned 4")(
    _guess(12000, 200, 300, 270)
)
refused(costs, "That counts numbers")(_guess(12000, 1100, 200, 400, 300, 630, 270, 330))
refused(costs, "That would be float64")(_guess(12000, 8800, 200, 3200, 300, 5040, 270, 2640))
refused(costs, "Its result is written too")(_guess(12000, 3200, 200, 800, 300, 1320, 270, 1200))
refused(costs, "X is read, and a result of its size is written")(
    _guess(12000, 4400, 200, 800, 300, 2520, 270, 1320)
)
refused(costs, "Y is read and written, so it is moved twice")(
    _guess(12000, 4400, 200, 1600, 300, 1320, 270, 1320)
)
refused(costs, "b is read once, 30 numbers")(_guess(12000, 4400, 200, 1600, 300, 3600, 270, 1320))
refused(costs, "Ten numbers have nine additions between them")(
    _guess(12000, 4400, 200, 1600, 300, 2520, 300, 1320)
)


# 2. strides


@right(apart)
def asked_of_numpy():
    A = np.ones((6, 10), dtype=np.float32)
    return [array.strides for array in (A, A.T, A[::3], A[:, ::2], A.T.copy())]


right(apart)(lambda: 4 * np.array([[10, 1], [1, 10], [30, 1], [10, 2], [6, 1]]))


refused(apart, "That counts numbers, and in float32 each has 4 bytes")(
    lambda: [(10, 1), (1, 10), (30, 1), (10, 2), (6, 1)]
)


refused(apart, "It is A's own memory, with A's two strides exchanged")(
    lambda: [(40, 4), (24, 4), (120, 4), (40, 8), (24, 4)]
)


refused(apart, "The step of 3 is along the first axis, so it passes three rows of A")(
    lambda: [(40, 4), (4, 40), (40, 4), (20, 4), (24, 4)]
)


refused(apart, "The step of 3 is along the first axis; along the last each number is taken")(
    lambda: [(40, 4), (4, 40), (120, 12), (40, 8), (24, 4)]
)


refused(apart, "A slice copies nothing, so the numbers that it leaves out still lie between")(
    lambda: [(40, 4), (4, 40), (120, 4), (20, 8), (24, 4)]
)


refused(apart, "The step of 2 is along the last axis, so it passes two numbers of A")(
    lambda: [(40, 4), (4, 40), (120, 4), (40, 4), (24, 4)]
)


refused(apart, "The copy has a new layout: ten rows of six numbers, one after the other")(
    lambda: [(40, 4), (4, 40), (120, 4), (40, 8), (40, 4)]
)


refused(apart, "The first number of a pair belongs to the first axis, and the last to the last")(
    lambda: [(4, 40), (40, 4), (4, 120), (8, 40), (4, 24)]
)


refused(apart, "it must return five pairs of numbers")(lambda: [40, 4, 120, 40, 24])


# 3. types


@right(tight)
def with_zeros_like(X):
    mask, scale = np.zeros_like(X), X.dtype.type(2.0) ** X.dtype.type(0.5)
    mask[X > 0] = scale
    return X * mask, lambda dY: dY * mask


@right(tight)
def with_maximum(X):
    scale = np.sqrt(2.0).astype(X.dtype)
    return np.maximum(scale * X, 0), lambda dY: np.where(X > 0, scale * dY, 0)


@refused(tight, "for X of float64, Y is float32")
def always_small(X):
    X = X.astype(np.float32)
    return ROOT * X * (X > 0), lambda dY: ROOT * dY.astype(np.float32) * (X > 0)


@refused(tight, "where X is exactly 0, dY passes")
def lets_zero_pass(X):
    return ROOT * np.maximum(X, 0), lambda dY: ROOT * dY * (X >= 0)


@refused(tight, "computed in float64 and then rounded; `*= np.sqrt(2.0)` does that too")
def scales_in_place(X):
    Y = np.maximum(X, 0)
    Y *= np.sqrt(2.0)
    return Y, lambda dY: ROOT * dY * (X > 0)


@refused(tight, "computed in float64 and then rounded")
def converts_at_the_end(X):
    scale = np.sqrt(2.0)
    return (scale * X * (X > 0)).astype(X.dtype), lambda dY: (scale * dY * (X > 0)).astype(dY.dtype)


@refused(tight, "in float64 Y is right in its first digits only")
def a_short_root(X):
    scale = np.float32(ROOT)
    return scale * X * (X > 0), lambda dY: scale * dY * (X > 0)


@refused(tight, "in float64 Y is right in its first digits only")
def typed_by_hand(X):
    return 1.4142136 * X * (X > 0), lambda dY: 1.4142136 * dY * (X > 0)


@refused(tight, "in float64 dX is right in its first digits only")
def typed_on_the_way_back(X):
    return ROOT * X * (X > 0), lambda dY: 1.414 * dY * (X > 0)


# 4. powers


@right(power)
def from_the_last_bit(X, n, times):
    result = None
    while n:
        if n % 2:
            result = X if result is None else times(result, X)
        n //= 2
        if n:
            X = times(X, X)
    return result


@right(power)
def from_the_first_bit(X, n, times):
    result = X
    for bit in format(n, "b")[1:]:
        result = times(result, result)
        if bit == "1":
            result = times(result, X)
    return result


@refused(power, "it never calls times")
def as_a_power(X, n, times):
    return X**n


@refused(power, "It makes a product again")
def both_halves(X, n, times):
    if n == 1:
        return X
    square = times(both_halves(X, n // 2, times), both_halves(X, n // 2, times))
    return times(square, X) if n % 2 else square


@refused(power, "It makes a product again")
def unequal_halves(X, n, times):
    if n == 1:
        return X
    return times(unequal_halves(X, n // 2, times), unequal_halves(X, n - n // 2, times))


@refused(power, "but times has not returned it")
def odd_ones_beside(X, n, times):
    if n == 1:
        return X
    root = odd_ones_beside(X, n // 2, times)
    square = times(root, root)
    return square * X if n % 2 else square


@refused(power, "one that is neither X nor what it has returned")
def squares_beside(X, n, times):
    if n == 1:
        return X
    root = squares_beside(X, n // 2, times)
    return times(root * root, X) if n % 2 else times(root, root)


@refused(power, "it changes X, which belongs to its caller")
def into_X(X, n, times):
    start = X.copy()
    for bit in format(n, "b")[1:]:
        X[...] = times(X, X)
        if bit == "1":
            X[...] = times(X, start)
    return X.copy()


# 5. pieces


@right(in_pieces)
def with_ravel(f, X, out, size):
    row, results, start = X.ravel(), out.ravel(), 0
    while start < row.size:
        piece = slice(start, min(start + size, row.size))
        np.copyto(results[piece], f(row[piece]))
        start += size


@right(in_pieces)
def with_split(f, X, out, size):
    cuts = range(size, X.size, size)
    pairs = zip(np.split(X.reshape(-1), cuts), np.split(out.reshape(-1), cuts), strict=True)
    for piece, place in pairs:
        place[...] = f(piece)


@refused(in_pieces, "f got all entries, but not in order")
def from_the_end(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for start in reversed(range(0, row.size, size)):
        results[start : start + size] = f(row[start : start + size])


@refused(in_pieces, "entries at once")
def all_at_once(f, X, out, size):
    out[...] = f(X.reshape(-1)).reshape(X.shape)


@refused(in_pieces, "do you write into a copy")
def into_a_copy(f, X, out, size):
    row, results = X.flatten(), out.flatten()
    for start in range(0, row.size, size):
        results[start : start + size] = f(row[start : start + size])


@refused(in_pieces, "it changes X; what f returns belongs into out")
def into_its_input(f, X, out, size):
    row = X.reshape(-1)
    for start in range(0, row.size, size):
        row[start : start + size] = f(row[start : start + size])
    out[...] = X


@refused(in_pieces, "do you write into a copy")
def a_new_array(f, X, out, size):
    row = X.reshape(-1)
    pieces = [f(row[start : start + size]) for start in range(0, row.size, size)]
    out = np.concatenate(pieces).reshape(X.shape)  # noqa: F841


@refused(in_pieces, "f is given 2 axes; a row of numbers has one.")
def a_row_of_one_row(f, X, out, size):
    row, results = X.reshape(1, -1), out.reshape(1, -1)
    for start in range(0, X.size, size):
        results[:, start : start + size] = f(row[:, start : start + size])


@refused(in_pieces, "f is given a row without entries; such a call makes nothing")
def one_more_where_size_divides(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for place in range(row.size // size + 1):
        piece = slice(place * size, (place + 1) * size)
        results[piece] = f(row[piece])


@refused(in_pieces, "out holds what f returns in fewer digits")
def through_float32(f, X, out, size):
    row, results = X.reshape(-1), np.zeros(X.size, dtype=np.float32)
    for start in range(0, row.size, size):
        results[start : start + size] = f(row[start : start + size])
    out[...] = results.reshape(X.shape)


@refused(in_pieces, "it must write into out and return nothing")
def returns_a_new_array(f, X, out, size):
    row = X.reshape(-1)
    return np.concatenate([f(row[start : start + size]) for start in range(0, row.size, size)])


# 6. Adam without new arrays


@right(update)
def with_functions(data, grad, mean, square, scratch, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    np.subtract(grad, mean, scratch)
    np.multiply(scratch, 1 - beta1, scratch)
    np.add(mean, scratch, mean)
    np.square(grad, scratch)
    np.subtract(scratch, square, scratch)
    np.multiply(scratch, 1 - beta2, scratch)
    np.add(square, scratch, square)
    np.sqrt(square, scratch)
    np.divide(scratch, math.sqrt(1 - beta2**steps), scratch)
    np.add(scratch, eps, scratch)
    np.divide(mean, scratch, scratch)
    np.multiply(scratch, learning_rate / (1 - beta1**steps), scratch)
    np.subtract(data, scratch, data)


@right(update)
def in_small_pieces(data, grad, mean, square, scratch, steps, learning_rate, *settings, **named):
    rows = [array.reshape(-1) for array in (data, mean, square, grad)]
    for start in range(0, data.size, 512):
        d, m, s, g = (row[start : start + 512] for row in rows)
        d[...], m[...], s[...] = step(d, g, m, s, steps, learning_rate, *settings, **named)


class _SpoilsGrad(Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        np.multiply(grad, grad, out=grad)
        square[...] = beta2 * square + (1 - beta2) * grad


class _ForgetsSquare(Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        square = beta2 * square + (1 - beta2) * grad * grad


class _CorrectsTheMean(Adam):
    def __call__(
        self, data, grad, mean, square, scratch, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8
    ):
        super().__call__(data, grad, mean, square, scratch, steps, learning_rate, beta1, beta2, eps)
        mean /= self.c1(beta1, steps)


class _Forgets(Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean = beta1 * mean + (1 - beta1) * grad
        square = beta2 * square + (1 - beta2) * grad * grad


refused(update, "on the way new arrays were made")(function(Adam()))
refused(update, "it changes grad, which must stay as it is: write into scratch")(function(_SpoilsGrad()))
refused(update, "mean is as it was before the step: a line `mean = …`")(function(_Forgets()))
refused(update, "square is as it was before the step: a line `square = …`")(function(_ForgetsSquare()))
refused(update, "mean is divided by c1 for good")(function(_CorrectsTheMean()))


@refused(update, "the numbers are right, but it must return nothing")
def returns_data(data, grad, mean, square, scratch, *others, **named):
    with_functions(data, grad, mean, square, scratch, *others, **named)
    return data


@refused(update, "data is as it was before the step: a line `data = …`")
def a_new_name(data, grad, mean, square, scratch, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    np.multiply(grad, 1 - beta1, out=scratch)
    mean *= beta1
    mean += scratch
    np.multiply(grad, grad, out=scratch)
    scratch *= 1 - beta2
    square *= beta2
    square += scratch
    root = np.sqrt(square / (1 - beta2**steps))
    data = data - learning_rate * (mean / (1 - beta1**steps)) / (root + eps)
