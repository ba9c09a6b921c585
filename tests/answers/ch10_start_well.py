"""Answers to the exercises of chapter 10: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch10_start_well import (
    center,
    corrected_averages,
    dropout,
    leaky_start,
    rms_norm,
    two_batches,
)
from tests.answers import refused, right

# 1. a batch norm, twice


@right(two_batches)
def by_the_formulas():
    X = np.array([2.0, 6.0])
    return (6 - X.mean()) / X.std(), 0.1 * X.mean(), 0.9 + 0.1 * X.var(ddof=1), 0.0


@right(two_batches)
def as_fractions():
    return np.array([2 / 2, 4 / 10, 17 / 10, 0])


# 2. a start


@right(leaky_start)
def uniform(shape, rng, slope):
    limit = np.sqrt(6 / ((1 + slope * slope) * shape[0]))
    return rng.uniform(-limit, limit, size=shape)


@right(leaky_start)
def by_signs(shape, rng, slope):
    return rng.choice([-1.0, 1.0], size=shape) * np.sqrt(2 / (shape[0] * (1 + slope**2)))


@refused(leaky_start, "the draw does not depend on `rng`")
def own_generator(shape, rng, slope):
    return np.random.default_rng(0).normal(0.0, np.sqrt(2 / ((1 + slope**2) * shape[0])), shape)


# 3. a norm


@right(rms_norm)
def with_sums(X, eps=1e-5):
    n_in = X.shape[1]
    squares = np.sum(X * X, axis=1, keepdims=True) / n_in + eps

    def backward(dY):
        inner = np.sum(X * dY, axis=1, keepdims=True)
        return dY / np.sqrt(squares) - X * inner / (n_in * squares**1.5)

    return X / np.sqrt(squares), backward


@right(rms_norm)
def row_by_row(X, eps=1e-5):
    size = np.array([np.sqrt(np.mean(row**2) + eps) for row in X])

    def jacobian(row, size):
        return np.eye(len(row)) / size - np.outer(row, row) / (len(row) * size**3)

    def backward(dY):
        return np.stack([dy @ jacobian(x, s) for dy, x, s in zip(dY, X, size, strict=True)])

    return X / size[:, None], backward


# 4. a running average


@right(corrected_averages)
def with_a_power(values, momentum):
    running, averages = 0.0, []
    for steps, value in enumerate(values, start=1):
        running += momentum * (value - running)
        averages.append(running / (1 - (1 - momentum) ** steps))
    return averages


@right(corrected_averages)
def with_all_weights(values, momentum):
    averages = []
    for place in range(1, len(values) + 1):
        weights = np.array([(1 - momentum) ** age for age in reversed(range(place))])
        averages.append(float(np.dot(weights, values[:place]) / weights.sum()))
    return averages


# 5. two modes


@right(center)
def with_else(X, running_mean, training=False):
    if training:
        mean = X.sum(axis=0) / len(X)
        running_mean[...] = 0.9 * running_mean + 0.1 * mean
    else:
        mean = running_mean
    return X - mean


@right(center)
def with_multiply(X, running_mean, training=False):
    mean = np.mean(X, axis=0) if training else running_mean.copy()
    if training:
        running_mean *= 0.9
        running_mean += 0.1 * mean
    return X - mean


@refused(center, "running_mean is another after a prediction; only training may change it")
def still_broken(X, running_mean, training=False):
    mean = X.mean(axis=0)
    running_mean += 0.1 * (mean - running_mean)
    return X - (mean if training else running_mean)


@refused(center, "running_mean is the same after training; it must move by a tenth of the way")
def never_moves(X, running_mean, training=False):
    return X - (X.mean(axis=0) if training else running_mean)


@refused(center, "for `running_mean = ...` only makes a new array")
def assigns_a_new_array(X, running_mean, training=False):
    if not training:
        return X - running_mean
    mean = X.mean(axis=0)
    running_mean = running_mean + 0.1 * (mean - running_mean)
    return X - mean


@refused(center, "running_mean is another after a prediction; only training may change it")
def modes_exchanged(X, running_mean, training=False):
    if training:
        return X - running_mean
    mean = X.mean(axis=0)
    running_mean += 0.1 * (mean - running_mean)
    return X - mean


# 6. dropout


@right(dropout)
def with_where(X, rate, rng, training=False):
    if not training:
        return X.copy(), lambda dY: dY
    dropped = rng.random(X.shape) < rate

    def thin_out(array):
        return np.where(dropped, 0.0, array / (1 - rate))

    return thin_out(X), thin_out


@right(dropout)
def by_the_other_end(X, rate, rng, training=False):
    mask = np.ones_like(X)
    if training:
        mask = np.floor(rng.random(X.shape) + (1 - rate)) / (1 - rate)
    return mask * X, lambda dY: mask * dY


@refused(dropout, "and the mean becomes 0.6 times what it was; it must stay")
def not_stretched(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY
    kept = rng.random(X.shape) >= rate
    return X * kept, lambda dY: dY * kept


@refused(dropout, "draw the mask once, on the way there")
def drawn_again(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY

    def thin_out(array):
        return array * (rng.random(array.shape) >= rate) / (1 - rate)

    return thin_out(X), thin_out
