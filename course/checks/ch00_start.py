"""The warm-up exercise of chapter 00."""

import numpy as np

from course.checks.exercise import Exercise
from course.checks.questions import BATCH, N_IN, N_OUT, drawn_sizes, expect_function

centre = Exercise(
    "00_start.centre",
    title="Centre each example",
    points=1,
    kind="fill",
    minutes=5,
    hints=(
        "`X.mean(axis=1)` is one average for each row. Look at its shape beside the shape of `X`.",
        "Shapes (5, 3) and (5,) do not fit, (5, 3) and (5, 1) do. `mean` can keep the axis, with length 1.",
        "The argument that keeps it is called `keepdims`. Subtract, and return what you get.",
    ),
)


@centre.check
def _(answer, rng):
    batch, *widths = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    whole = rng.integers(10, size=(batch, 2))
    for X in (*(rng.normal(size=(batch, n_in)) for n_in in widths), whole):
        expect_function(answer, lambda X: np.stack([row - sum(row) / len(row) for row in X]), X=X)
    return "two random batches of 5, row by row, and X unchanged"


@centre.probe
def _(answer, rng):
    return answer(rng.normal(size=(BATCH, N_IN))), answer(rng.normal(size=(BATCH, N_OUT)))


for sentence, wrong in {
    "You took the average of each column, over axis 0: average over axis 1.": lambda X: X - X.mean(axis=0),
    "One average per row has shape (5,); to subtract it from (5, 3) it must be a column, (5, 1).": (
        lambda X: X - X.mean(axis=1)
    ),
    "You took one average of the whole batch: give the axis to average over.": lambda X: X - X.mean(),
    "You always divide by 3; a row has X.shape[1] numbers.": lambda X: X - X.sum(axis=1, keepdims=True) / 3,
    "The sign is flipped: subtract the mean from each number, not the other way round.": (
        lambda X: X.mean(axis=1, keepdims=True) - X
    ),
    "You added the mean of the row: subtract it.": lambda X: X + X.mean(axis=1, keepdims=True),
    "You returned only the means: subtract them from X.": lambda X: X.mean(axis=1, keepdims=True),
    "You divided by the number of rows: a row has X.shape[1] numbers.": (
        lambda X: X - X.sum(axis=1, keepdims=True) / len(X)
    ),
    "You divided by the standard deviation, too: subtracting the mean is enough.": (
        lambda X: (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    ),
    "You subtracted the sum of the row, not its mean.": lambda X: X - X.sum(axis=1, keepdims=True),
}.items():
    centre.mistake(sentence)(wrong)
