"""Answers to the exercises of chapter 00: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch00_start import centre
from tests.answers import refused, right


@right(centre)
def one_row_at_a_time(X):
    return np.array([row - row.mean() for row in X])


@right(centre)
def turned_over(X):
    return (X.T - X.mean(axis=1)).T


@right(centre)
def by_sums(X):
    return X - np.sum(X, axis=1)[:, None] / X.shape[1]


@refused(centre, "it changes X, which belongs to its caller")
def in_place(X):
    X -= X.mean(axis=1, keepdims=True)
    return X


@refused(centre, "with one row, the result has shape (3,)")
def without_axes_of_one(X):
    return np.squeeze(X - X.mean(axis=1, keepdims=True))


@refused(centre, "with zeros in X, the result")
def of_what_is_not_zero(X):
    return X - X.sum(axis=1, keepdims=True) / np.maximum((X != 0).sum(axis=1, keepdims=True), 1)


@refused(centre, "the result[")
def of_the_type_of_X(X):
    return (X - X.mean(axis=1, keepdims=True)).astype(X.dtype)
