"""Answers to the exercises of chapter 06: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch06_losses import (
    _how_many_known,
    _masked,
    huber,
    log_softmax,
    masked_mse,
    mean_huber,
    missing_axis,
    three_losses,
    weighted_cross_entropy,
)
from course.checks.questions import LEFT_BEHIND
from minigrad.layers.activations import Softmax
from minigrad.losses import cross_entropy
from tests.answers import refused, right

right(three_losses)(lambda: (1.6094, 20, 0.3466))


right(three_losses)(
    lambda: [-np.log(1 / 5), -np.log(1 / (1 + np.exp(20))), 0.5 * (-np.log(0.5) + np.log(1 + np.exp(-50)))]
)


right(missing_axis)(lambda: [3, 3, 4 / 3, 2])


@right(missing_axis)
def by_counting():
    squares = [(y - t) ** 2 for y in (1, 2, 3) for t in (1, 2, 3)]
    return 3.0, 3.0, sum(squares) / len(squares), sum((1, 2, 3)) / 3


@right(masked_mse)
def by_selecting(Y, T, known):
    difference = Y[known] - T[known]

    def backward(dL=1.0):
        dY = np.zeros_like(Y)
        dY[known] = dL * 2 * difference / len(difference)
        return dY

    return np.mean(difference**2), backward


@right(masked_mse)
def with_shares(Y, T, known):
    share = known / np.count_nonzero(known)
    difference = Y - np.where(known, T, Y)
    return (share * difference * difference).sum(), lambda dL=1.0: 2.0 * dL * share * difference


@refused(masked_mse, "backward() must work without an argument: give dL the default 1.0")
def without_a_default(Y, T, known):
    L, backward = by_selecting(Y, T, known)
    return L, lambda dL: backward(dL)


@refused(masked_mse, "backward(3.0) is not 3 times backward(): multiply by dL")
def without_dL(Y, T, known):
    L, backward = by_selecting(Y, T, known)
    return L, lambda dL=1.0: backward()


@refused(masked_mse, "backward(3.0) must work as well: give backward one argument, dL=1.0")
def without_an_argument(Y, T, known):
    L, backward = by_selecting(Y, T, known)
    return L, lambda: backward()


@right(huber)
def with_a_clipped_difference(Y, T):
    difference = Y - T
    near = np.clip(difference, -1, 1)
    return np.mean(near * (difference - 0.5 * near)), lambda dL=1.0: dL * near / near.size


@right(huber)
def with_a_mask(Y, T):
    difference = Y - T
    small = np.abs(difference) < 1
    L = (np.sum(difference[small] ** 2 / 2) + np.sum(np.abs(difference[~small]) - 0.5)) / difference.size

    def backward(dL=1.0):
        dY = np.sign(difference)
        dY[small] = difference[small]
        return dL / difference.size * dY

    return L, backward


@refused(huber, "after somebody has written into dY, the next[0, 0] is nan")
def lends_its_own_array(Y, T):
    slope = np.clip(Y - T, -1, 1) / Y.size
    return mean_huber(Y - T), lambda dL=1.0: slope if dL == 1.0 else dL * slope


@refused(huber, "for differences of 1e+200, 0.5, -1e+200, L is nan")
def adds_both_formulas(Y, T):
    d = Y - T
    small, size = np.abs(d) <= 1, np.abs(d)
    with np.errstate(all="ignore"):
        return np.mean(
            small * (d * d) / 2 + ~small * (size - 0.5)
        ), lambda dL=1.0: dL * np.clip(d, -1, 1) / d.size


@refused(huber, "backward(-2.0) is not -2 times backward(): multiply by dL")
def the_size_of_dL(Y, T):
    difference = Y - T
    return mean_huber(difference), lambda dL=1.0: abs(dL) * np.clip(difference, -1, 1) / Y.size


@refused(huber, "backward(3.0) is not 3 times backward(): multiply by dL")
def dL_forgotten(Y, T):
    return mean_huber(Y - T), lambda dL=1.0: np.clip(Y - T, -1, 1) / Y.size


@refused(huber, "for differences of 1, -1, 0, dY[")
def flat_at_1(Y, T):
    near = np.where(np.abs(Y - T) == 1, 0.0, np.clip(Y - T, -1, 1))
    return mean_huber(Y - T), lambda dL=1.0: dL * near / near.size


@refused(huber, "for differences of 1, -1, 0, L is")
def neither_at_1(Y, T):
    size = np.abs(Y - T)
    L = np.mean((size < 1) * size**2 / 2 + (size > 1) * (size - 0.5))
    return L, lambda dL=1.0: dL * np.clip(Y - T, -1, 1) / size.size


@right(log_softmax)
def with_logaddexp(X):
    Y = X - np.logaddexp.reduce(X, axis=-1)[:, None]

    def backward(dY):
        return dY - np.exp(Y) * np.sum(dY, axis=-1)[:, None]

    return Y, backward


@right(log_softmax)
def row_by_row(X):
    Y = np.zeros_like(X)
    for i, row in enumerate(X):
        shifted = row - max(row)
        Y[i] = shifted - np.log(sum(np.exp(shifted)))

    def backward(dY):
        P, _ = Softmax()(X)
        return np.array([d - p * sum(d) for d, p in zip(dY, P, strict=True)])

    return Y, backward


@refused(log_softmax, "NumPy would warn: divide by zero encountered in log")
def logarithm_of_softmax(X):
    P, backward_P = Softmax()(X)
    return np.log(P), lambda dY: backward_P(dY / P)


@refused(log_softmax, "NumPy would warn: overflow encountered in exp")
def straight_from_the_formula(X):
    Y = X - np.log(np.exp(X).sum(axis=1, keepdims=True))
    return Y, lambda dY: dY - np.exp(Y) * dY.sum(axis=1, keepdims=True)


@refused(log_softmax, "NumPy would warn: overflow encountered in exp")
def shifted_by_the_first(X):
    shifted = X - X[:, :1]
    Y = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return Y, lambda dY: dY - np.exp(Y) * dY.sum(axis=1, keepdims=True)


@refused(log_softmax, "NumPy would warn: divide by zero encountered in log")
def largest_of_the_whole_batch(X):
    shifted = X - X.max()
    Y = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return Y, lambda dY: dY - np.exp(Y) * dY.sum(axis=1, keepdims=True)


@right(log_softmax)
def in_steps_of_their_own(X):
    top = np.amax(X, -1, keepdims=True)
    exps = np.exp(X - top)
    sums = exps @ np.ones((X.shape[1], 1))
    return X - (top + np.log(sums)), lambda dY: dY - np.einsum("bi,bj->bi", exps / sums, dY)


CUT_OFF = "Within a row, Y must differ as X does: no clip, and no logarithm of a number rounded to 0."


@refused(log_softmax, "in a second call of backward, it raises")
def once_only(X):
    Y = X - np.log(np.exp(X - X.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
    Y -= X.max(axis=1, keepdims=True)
    P = iter([np.exp(Y)])
    return Y, lambda dY: dY - next(P) * dY.sum(axis=1, keepdims=True)


@refused(log_softmax, CUT_OFF)
def logarithm_of_nearly_0(X):
    P = np.exp(with_logaddexp(X)[0])
    return np.log(P + 1e-300), lambda dY: dY - P * dY.sum(axis=1, keepdims=True)


@refused(log_softmax, CUT_OFF)
def clipped_logits(X):
    return with_logaddexp(np.clip(X, -500, 500))


@refused(log_softmax, "for one row, Y has shape (3,)")
def squeezed(X):
    Y, backward = with_logaddexp(X)
    return (Y[0] if len(Y) == 1 else Y), backward


@refused(log_softmax, "for one class, Y[")
def one_class_passes_through(X):
    return with_logaddexp(X) if X.shape[1] > 1 else (X, lambda dY: dY)


@refused(log_softmax, "with more classes, dX[")
def as_many_classes_as_examples(X):
    Y, backward = with_logaddexp(X)
    return Y, lambda dY: backward(dY) * (np.arange(X.shape[1]) < max(3, len(X)))


@right(weighted_cross_entropy)
def class_by_class(Y, T, weights):
    total, L, dY = weights[T].sum(), 0.0, np.zeros_like(Y)
    for label in np.unique(T):
        rows = T == label
        paid, backward = cross_entropy(Y[rows], T[rows])
        share = weights[label] * rows.sum() / total
        L += share * paid
        dY[rows] = share * backward()
    return L, lambda dL=1.0: dL * dY


@right(weighted_cross_entropy)
def example_by_example(Y, T, weights):
    total, L, dY = sum(weights[t] for t in T), 0.0, np.zeros_like(Y)
    for i, t in enumerate(T):
        paid, backward = cross_entropy(Y[i : i + 1], T[i : i + 1])
        L += weights[t] / total * paid
        dY[i] = weights[t] / total * backward()[0]
    return L, lambda dL=1.0: dL * dY


@refused(weighted_cross_entropy, LEFT_BEHIND)
def subtracts_at_every_call(Y, T, weights):
    L = class_by_class(Y, T, weights)[0]
    P, share = Softmax()(Y)[0], weights[T] / weights[T].sum()

    def backward(dL=1.0):
        P[np.arange(len(T)), T] -= 1
        return dL * share[:, None] * P

    return L, backward


@refused(weighted_cross_entropy, "NumPy would warn: overflow encountered in exp")
def softmax_from_the_formula(Y, T, weights):
    P = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
    share = weights[T] / weights[T].sum()
    L = -(share * np.log(P[np.arange(len(Y)), T])).sum()
    return L, lambda dL=1.0: dL * share[:, None] * (P - (T[:, None] == np.arange(Y.shape[1])))


@refused(weighted_cross_entropy, "NumPy would warn: divide by zero encountered in log")
def logarithm_of_probabilities(Y, T, weights):
    P, share = Softmax()(Y)[0], weights[T] / weights[T].sum()
    L = -(share * np.log(P[np.arange(len(Y)), T])).sum()
    return L, lambda dL=1.0: dL * share[:, None] * (P - (T[:, None] == np.arange(Y.shape[1])))


@refused(weighted_cross_entropy, "nudging that entry says")
def one_example_keeps_its_weight(Y, T, weights):
    L, backward = class_by_class(Y, T, weights)
    factor = weights[T[0]] if len(Y) == 1 else 1.0
    return L, lambda dL=1.0: factor * backward(dL)


@refused(masked_mse, "times too large")
def gradient_by_rows(Y, T, known):
    return _masked(_how_many_known, lambda difference, known: len(difference))(Y, T, known)


@refused(masked_mse, "2 times too small")
def without_the_two(Y, T, known):
    return _masked(_how_many_known, _how_many_known, factor=1)(Y, T, known)
