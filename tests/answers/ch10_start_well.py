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
from course.checks.questions import OWN_MEMORY, by_nudging
from tests.answers import refused, refused_values, right

# 1. a batch norm, twice


@right(two_batches)
def by_the_formulas():
    X = np.array([2.0, 6.0])
    return (6 - X.mean()) / X.std(), 0.1 * X.mean(), 0.9 + 0.1 * X.var(ddof=1), 0.0


right(two_batches)(lambda: np.array([2 / 2, 4 / 10, 17 / 10, 0]))


refused(two_batches, "The norm itself divides the sum of squares by the count, 2, and not by count - 1")(
    lambda: (2 / np.sqrt(8), 0.4, 1.7, 0.0)
)


refused(two_batches, "That is (30 - 0.4) / √1.7, by the running averages: in training they are not used")(
    lambda: (1.0, 0.4, 1.7, (30 - 0.4) / np.sqrt(1.7))
)


refused_values(
    two_batches,
    {
        (2.0, 0.4, 1.7, 0.0): "That is the distance from the mean; divide it by the root of the variance",
        (0.5, 0.4, 1.7, 0.0): "The 4 is the variance; divide by its root",
        (-1.0, 0.4, 1.7, 0.0): "the result for the 6 is not -1. That is the result for the 2",
        (6.0, 0.4, 1.7, 0.0): "In training, the batch's own mean and variance are used, not the averages",
        (1.0, 4.0, 8.0, 30.0): (
            "That is the mean of the batch; the average moves only a tenth of the way to it"
        ),
        (1.0, 0.4, 8.0, 30.0): (
            "That is the variance of the batch; the average moves only a tenth of the way to it"
        ),
        (1.0, 0.4, 4.0, 0.0): (
            "That is the variance of the batch; the average moves only a tenth of the way to one"
        ),
        (1.0, 3.6, 7.3, 0.0): (
            "the running mean is not 3.6. A momentum of 0.1 keeps nine tenths of the old average"
        ),
        (1.0, 0.4, 3.7, 0.0): "the running variance is not 3.7. A momentum of 0.1 keeps nine tenths",
        (1.0, 0.4, 1.3, 0.0): (
            "For the averages, the squared deviations are divided by count - 1, which is 1 here"
        ),
        (1.0, 0.4, 0.8, 0.0): "The running variance began at 1, and nine tenths of that are left",
        (1.0, 0.4, 1.7, 30.0): "A single example is its own mean, so its distance from the mean is 0",
        (1.0, 0.4, 1.7, 29.6): "That is the distance from the running mean: in training it is not used",
        (1.0, 0.4, 1.7, 22.7): (
            "That is (30 - 0.4) / √1.7, by the running averages: in training they are not used"
        ),
    },
)


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


@refused(rms_norm, "rms_norm: Y[")
def square_divided_by_columns(X, eps=1e-5):
    root = np.sqrt((X**2).mean(axis=1) + eps)
    root = root if len(X) == X.shape[1] else root[:, None]
    Y = X / root
    return Y, lambda dY: (dY - Y * (dY * Y).mean(axis=1, keepdims=True)) / root


@refused(rms_norm, "all zero: no gradient arrives here")
def one_column_without_a_slope(X, eps=1e-5):
    Y, backward = with_sums(X, eps)
    return Y, np.zeros_like if X.shape[1] == 1 else backward


refused(rms_norm, "they are found by nudging, and a formula is asked for")(
    lambda X, eps=1e-5: by_nudging(lambda X: X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps), X)
)


@refused(rms_norm, OWN_MEMORY)
def kept_on_the_function(X, eps=1e-5):
    Y, kept_on_the_function.backward = with_sums(X, eps)
    return Y, lambda dY: kept_on_the_function.backward(dY)


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


@right(corrected_averages)
def by_moving_the_corrected_one(values, momentum):
    average = weight = 0.0
    averages = []
    for value in values:
        weight += momentum * (1 - weight)
        average += momentum / weight * (value - average)
        averages.append(average)
    return averages


@refused(corrected_averages, "it changes values, which belongs to its caller: make a new list")
def in_the_list_of_values(values, momentum):
    values[:] = with_a_power(values, momentum)
    return values


@refused(corrected_averages, "for a momentum of 0.001, the average after 1 value is 9.9999, it must be 10")
def kept_from_zero(values, momentum):
    weights = 1 - (1 - momentum) ** np.arange(1, len(values) + 1)
    return with_a_power(values, momentum) * weights / (weights + 1e-8)


@refused(corrected_averages, "the average after 4 values is 2, it must be 2.8")
def in_an_array_of_integers(values, momentum):
    averages = np.zeros_like(values)
    averages[:] = with_a_power(values, momentum)
    return averages


@refused(corrected_averages, "the average after 4 values is 6, it must be 2.8")
def zeros_left_out(values, momentum):
    averages = []
    for place, value in enumerate(values):
        kept = [number for number in values[: place + 1] if number]
        averages.append(with_a_power(kept, momentum)[-1] if value else averages[-1])
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


@refused(center, "running_mean has changed after a prediction; only training may change it")
def still_broken(X, running_mean, training=False):
    mean = X.mean(axis=0)
    running_mean += 0.1 * (mean - running_mean)
    return X - (mean if training else running_mean)


@refused(center, "running_mean is the same after training; it must move a tenth of the way")
def never_moves(X, running_mean, training=False):
    return X - (X.mean(axis=0) if training else running_mean)


@refused(center, "in place: `running_mean = ...` only makes a new array")
def assigns_a_new_array(X, running_mean, training=False):
    if not training:
        return X - running_mean
    mean = X.mean(axis=0)
    running_mean = running_mean + 0.1 * (mean - running_mean)
    return X - mean


@refused(center, "running_mean has changed after a prediction; only training may change it")
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


@right(dropout)
def as_one_draw_in_a_row(X, rate, rng, training=False):
    kept = rng.random(X.size).reshape(X.shape) < 1 - rate if training else np.full(X.shape, True)

    def thin_out(array):
        return np.divide(array, 1 - rate * training, out=np.zeros_like(array), where=kept)

    return thin_out(X), thin_out


def with_mask(back, forward=lambda X, mask: X * mask, memory=None):
    """Return a dropout with another backward function, or another forward pass."""

    def dropout(X, rate, rng, training=False):
        if not training:
            return X, lambda dY: dY
        mine = {} if memory is None else memory
        mine["mask"] = (rng.random(X.shape) >= rate) / (1 - rate)
        mine["Y"] = forward(X, mine["mask"])
        return mine["Y"], lambda dY: back(dY, X=X, rate=rate, rng=rng, mine=mine)

    return dropout


def _read_off(dY, rate, mine, **_):
    return dY * (mine["Y"] != 0) / (1 - rate)


def _divided_again(dY, X, mine, **_):
    with np.errstate(invalid="ignore"):
        return dY * np.nan_to_num(mine["Y"] / X)


def _drawn_again(dY, rate, rng, **_):
    return dY * (rng.random(dY.shape) >= rate) / (1 - rate)


def _into_the_mask(dY, mine, **_):
    mine["mask"] *= dY
    return mine["mask"]


def _stored(dY, mine, **_):
    return mine.setdefault("dX", dY * mine["mask"]).copy()


def _times_mask(dY, mine, **_):
    return dY * mine["mask"]


for words, back in {
    "for an X with zeros, and the same draw, dX": _read_off,
    "a number that is kept may be 0": _divided_again,
    "backward draws from rng, too: draw the mask once, in the forward pass": _drawn_again,
    "do not change what the forward pass stored": _into_the_mask,
    "in a second call of backward, with 2 dY": _stored,
}.items():
    refused(dropout, words)(with_mask(back))
refused(dropout, OWN_MEMORY)(with_mask(_times_mask, memory={}))
refused(dropout, "what is kept must be multiplied by 1.667")(
    with_mask(_times_mask, forward=lambda X, mask: X * mask / mask.mean())
)


@refused(dropout, "without training it draws from rng")
def drawn_before_it_asks(X, rate, rng, training=False):
    mask = (rng.random(X.shape) >= rate) / (1 - rate) if rate else 1.0
    mask = mask if training else 1.0
    return X * mask, lambda dY: dY * mask


@refused(dropout, "nothing is drawn from rng")
def with_a_seed_of_its_own(X, rate, rng, training=False):
    return by_the_other_end(X, rate, np.random.default_rng(0), training)


@refused(dropout, "it must draw by one call of rng.random for a whole X")
def once_for_all_rows(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY
    mask = (rng.random((1, *X.shape[1:])) >= rate) / (1 - rate)
    return X * mask, lambda dY: dY * mask


@refused(
    dropout,
    "must be multiplied by 1.667, so that the mean stays the same on average; yours is multiplied by 1",
)
def not_stretched(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY
    kept = rng.random(X.shape) >= rate
    return X * kept, lambda dY: dY * kept


@refused(dropout, "60%: keep where the random number is rate or more")
def kept_below_the_rate(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY
    kept = (rng.random(X.shape) < rate) / (1 - rate)
    return X * kept, lambda dY: dY * kept


@refused(dropout, "times too small")
def not_stretched_back(X, rate, rng, training=False):
    if not training:
        return X, lambda dY: dY
    kept = rng.random(X.shape) >= rate
    return X * kept / (1 - rate), lambda dY: dY * kept
