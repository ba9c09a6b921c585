"""Answers to the exercises of chapter 02: right ones, and those that a check refuses in its own words."""

from functools import reduce
from itertools import accumulate

import numpy as np

from course.checks.ch02_jacobian import (
    absolute,
    differences,
    largest,
    mean,
    mirror,
    outer,
    passes,
    repeat,
    running_mean_vjp,
    scale,
    shift,
    suffix_sums,
    way_back,
)
from tests.answers import refused, right

# 1 to 10. the ladder

right(scale)(lambda X, A: A * np.eye(X.size))
right(scale)(lambda X, A: np.array([[A[o] if o == i else 0.0 for i in range(len(X))] for o in range(len(X))]))
refused(scale, "the table has shape (5,); it must have shape (5, 5)")(lambda X, A: A)
right(mean)(lambda X: np.full((1, X.size), 1 / X.size))
right(mean)(lambda X: np.full_like(X, 1 / len(X))[None, :])
refused(mean, "it is the transpose of the true table")(lambda X: np.full((X.size, 1), 1 / X.size))
refused(mean, "it must have shape (1, 5). One row is still a table: use two brackets.")(
    lambda X: np.ones(X.size) / X.size
)
right(shift)(lambda X: np.diag(np.ones(X.size - 1), -1))
right(shift)(lambda X: np.vstack([np.zeros(X.size), np.eye(X.size)[:-1]]))
right(shift)(lambda X: np.eye(X.size, k=-1, dtype=bool))
refused(shift, "it is the transpose of the true table")(lambda X: np.eye(X.size, k=1))
refused(shift, "it is the transpose of the true table")(lambda X: np.eye(X.size, k=1, dtype=bool))
right(mirror)(lambda X: np.fliplr(np.eye(X.size)))
right(mirror)(lambda X: np.eye(X.size)[:, ::-1])
right(repeat)(lambda X: np.kron(np.eye(X.size), np.ones((2, 1))))
right(repeat)(lambda X: np.eye(X.size)[np.arange(2 * X.size) // 2])
refused(repeat, "it is the transpose of the true table")(lambda X: np.repeat(np.eye(X.size), 2, axis=1))
right(absolute)(lambda X: np.diag(np.where(X > 0, 1.0, -1.0)))
right(absolute)(lambda X: np.sign(X) * np.eye(X.size))
refused(absolute, "the table has shape (5,); it must have shape (5, 5)")(lambda X: np.sign(X))
right(suffix_sums)(lambda X: np.tril(np.ones((X.size, X.size))).T)
right(suffix_sums)(lambda X: 1.0 * (np.arange(X.size) >= np.arange(X.size)[:, None]))
refused(suffix_sums, "it is the transpose of the true table")(lambda X: np.tril(np.ones((X.size, X.size))))
right(differences)(lambda X: np.diff(np.eye(X.size), axis=0))
right(differences)(lambda X: (np.eye(X.size, k=1) - np.eye(X.size))[:-1])
right(largest)(lambda X: (X.max() == X)[None, :] * 1.0)
right(largest)(lambda X: np.eye(X.size)[np.argmax(X)].reshape(1, -1))
refused(largest, "it must have shape (1, 5). One row is still a table: use two brackets.")(
    lambda X: np.eye(X.size)[X.argmax()]
)
right(outer)(lambda X, A: np.einsum("ik,j->ijk", np.eye(X.size), A).reshape(-1, X.size))
right(outer)(lambda X, A: np.repeat(np.eye(X.size), A.size, axis=0) * np.tile(A, X.size)[:, None])
refused(outer, "on other axes: reshape it")(lambda X, A: np.eye(X.size)[:, None, :] * A[None, :, None])
refused(outer, "the right numbers in the wrong places")(
    lambda X, A: np.tile(np.eye(X.size), (A.size, 1)) * np.tile(A, X.size)[:, None]
)
refused(outer, "The fractions are cut off")(lambda X, A: np.kron(np.eye(X.size), A[:, None]).astype(int))
refused(outer, "with a 0 in X, ")(lambda X, A: np.kron(np.eye(X.size), A[:, None]) * (X / X))
refused(outer, "it is the transpose of the true table")(lambda X, A: np.kron(np.eye(X.size), A[None, :]))


# 11. how many passes


@right(passes)
def from_the_shapes():
    recipe, orbit = (3, 300), (700, 2)
    return (*recipe[::-1], *orbit[::-1])


right(passes)(lambda: [300.0, 3.0, 2.0, 700.0])


refused(passes, "orbit forward, orbit reverse; it returned a tuple of 3.")(lambda: (300, 3, 2))


refused(passes, "return four numbers: recipe forward, recipe reverse,")(lambda: {300, 3, 2, 700})


# 12. shapes decide the order


@right(way_back)
def in_one_line(dY, tables):
    return reduce(np.matmul, tables[::-1], dY)


@right(way_back)
def with_columns(dY, tables):
    for place in range(len(tables) - 1, -1, -1):
        dY = tables[place].T @ dY
    return dY


@refused(way_back, "is a table multiplied by a table?")
def the_whole_table_first(dY, tables):
    return dY @ reduce(np.matmul, tables[::-1])


@refused(way_back, "dX has shape (1, 3); it must have X's shape, (3,)")
def with_an_axis_too_many(dY, tables):
    return reduce(np.matmul, tables[::-1], dY[None, :])


@refused(way_back, "it changes tables, which belongs to its caller")
def turned_round_in_place(dY, tables):
    tables.reverse()
    return reduce(np.matmul, tables, dY)


@refused(way_back, "it changes tables, which belongs to its caller")
def taken_off_the_list(dY, tables):
    while tables:
        dY = dY @ tables.pop()
    return dY


@refused(way_back, "it raises ValueError: the product does not have the length of the row it is written into")
def into_the_same_row(dY, tables):
    for table in reversed(tables):
        dY @= table
    return dY


@refused(way_back, "dX has shape (5,); it must have X's shape, (3,)")
def four_steps_at_most(dY, tables):
    return reduce(np.matmul, tables[::-1][:4], dY)


@refused(way_back, "dX has shape (); it must have X's shape, (1,)")
def squeezed(dY, tables):
    return reduce(np.matmul, tables[::-1], dY[None, :]).squeeze()


# 13. without the table


@right(running_mean_vjp)
def with_a_loop(dY):
    dX, arrived = np.zeros(dY.size), 0.0
    for place in range(dY.size - 1, -1, -1):
        arrived += dY[place] / (place + 1)
        dX[place] = arrived
    return dX


@right(running_mean_vjp)
def with_a_total(dY):
    shares = dY / (1 + np.arange(dY.size))
    return shares.sum() - np.cumsum(shares) + shares


@refused(running_mean_vjp, "a later call changes what an earlier one has returned")
def in_one_room(dY, room=np.zeros(100_000)):  # noqa: B008  the mistake
    dX = room[: dY.size]
    dX[:] = np.cumsum((dY / np.arange(1, dY.size + 1))[::-1])[::-1]
    return dX


@refused(running_mean_vjp, "is there a table of 2000 × 2000 slopes in it?")
def with_the_table(dY):
    counts = np.arange(1, dY.size + 1)
    return dY @ (np.tril(np.ones((dY.size, dY.size))) / counts[:, None])


@right(running_mean_vjp)
def accumulated(dY):
    shares = [arrived / count for count, arrived in enumerate(dY, 1)]
    return np.array(list(accumulate(shares[::-1]))[::-1])


def _divided_by(counts):
    """Return a running_mean_vjp that divides by counts(n)."""
    return lambda dY: np.cumsum((dY / counts(dY.size))[::-1])[::-1]


FIRST_COUNTS = np.arange(1, 6)
refused(running_mean_vjp, "for n = 3 after n = 5: take every length from this call's dY")(
    _divided_by(lambda n: FIRST_COUNTS)
)
refused(running_mean_vjp, "for n = 200 after n = 1: take every length from this call's dY")(
    _divided_by(lambda n: np.arange(1, 101)[:n])
)
refused(running_mean_vjp, "for n = 200, dX[")(_divided_by(lambda n: np.arange(1, n + 1, dtype=np.int8)))
refused(running_mean_vjp, "for n = 1, dX[0] is")(_divided_by(lambda n: np.arange(1, n + 1) + (n == 1)))
