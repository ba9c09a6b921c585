"""The exercises of chapter 02: ten small Jacobians, counting passes, and vector-Jacobian products.

A failed check draws the answer's Jacobian beside the true one.
"""

import tracemalloc
from contextlib import contextmanager, suppress
from functools import reduce

import numpy as np

from course.checks.calls import asking
from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.hard import is_smooth
from course.checks.questions import (
    drawn_sizes,
    expect_formula,
    expect_gradients,
    expect_guesses,
    expect_shape,
    expect_values,
    untouched,
)
from minigrad.check.numerical import numerical_gradient

SIZES = (5, 3, 2)  # lengths of X to check; a failed check draws the first
LITTLE = 200_000  # bytes: enough for many rows of a few thousand numbers, not for a table


class Tables:
    """An answer's Jacobian beside the true one: a figure in a notebook, numbers elsewhere."""

    def __init__(self, yours, true):
        self.yours, self.true = yours, true

    def __str__(self):
        return f"yours:\n{self.yours.round(3)}\ntrue:\n{self.true.round(3)}"

    def _repr_html_(self):
        from course.figures.jacobians import two_tables  # imports Matplotlib, which most checks do not need

        return two_tables(self.yours, self.true).html


def nudged_jacobian(f, X):
    """Return the table of a function's slopes by nudging, one row per output and one column per input."""
    Y = np.asarray(f(X))
    rows = [numerical_gradient(f, X, dY.reshape(Y.shape)) for dY in np.eye(Y.size)]
    return np.reshape(rows, (Y.size, X.size))


def expect_jacobian(yours, true, case=""):
    """Require that a table is the true one; the error carries both for drawing."""
    with suppress(ValueError):  # rows of unequal length fail below
        if np.asarray(yours).dtype == bool:
            yours = np.asarray(yours, dtype=float)
    try:
        expect_values(f"{case}the table", yours, true, "nudging says")
    except CheckFailed as no:
        sentence, name, found = no.sentence.replace("the table[", "your table["), no.name, no.found
        table = yours if isinstance(yours, np.ndarray) else np.zeros(0)
        if "has shape" in sentence and (1, *np.shape(yours)) == true.shape:
            name = "One row is still a table: use two brackets."
        elif table.shape == true.T.shape and np.allclose(table.T, true):
            sentence = "it is the transpose of the true table: one row per output, one column per input"
            name, found = "", None
        is_drawn = table.ndim == 2 and table.size and table.dtype.kind in "biuf"
        raise CheckFailed(sentence, "", name, Tables(table, true) if is_drawn else None, found) from None


def peak(call):
    """Return the peak memory of a call, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# 1 to 10. the ladder

VALUES_OF_Y = "Your diagonal holds the values of Y: it must hold slopes."
ALL_STAY = "That table leaves every number in its place."
NOT_THE_NUMBERS = "A table holds slopes, not the numbers themselves."
OF_RELU = "That is the table of `relu`."


def mixed(rng, n_in):
    """Return numbers of both signs, none of them near 0."""
    return rng.permutation(np.resize([1.0, -1.0], n_in)) * rng.uniform(0.5, 2.0, size=n_in)


def puzzle(short, title, minutes, hints, constants=lambda rng, n_in: ()):
    """Return a decorator that makes an exercise about the Jacobian of f along its first argument."""
    exercise = Exercise(
        f"02_jacobian.{short}", title=title, points=1, kind="fill", minutes=minutes, hints=hints
    )

    @exercise.probe
    def _(answer, rng):
        return answer(mixed(rng, SIZES[0]), *constants(rng, SIZES[0]))

    def asked_about(f):
        @exercise.check
        def _(answer, rng):
            for n_in in drawn_sizes(rng, *SIZES, most=40):
                X, others = mixed(rng, n_in), constants(rng, n_in)
                with untouched(X=X):
                    yours = answer(X, *others)

                def along(X, others=others):
                    return f(X, *others)

                expect_jacobian(yours, nudged_jacobian(along, X))
                expect_formula(lambda X, others=others: answer(X, *others), X)
                X[0] = 0
                if is_smooth(along, {"X": X}, np.ones(np.shape(along(X)))):
                    with asking("with a 0 in X, "):
                        expect_jacobian(answer(X, *others), nudged_jacobian(along, X), "with a 0 in X, ")
            return "X of 5, 3 and 2 numbers, compared with nudging"

        return exercise

    return asked_about


scale = puzzle(
    "jacobian_of_scale",
    "Scale",
    2,
    (
        "Output 0 is made of input 0 alone. Which squares can be other than 0?",
        "The table is diagonal. How far does output 2 move if input 2 moves by 1?",
        "A is the diagonal; `np.diag` puts a row there.",
    ),
    lambda rng, n_in: (mixed(rng, n_in),),
)(lambda X, A: A * X)
scale.mistake("Those are the slopes along A; along X they are A.")(lambda X, A: np.diag(X))
scale.mistake(VALUES_OF_Y)(lambda X, A: np.diag(A * X))
scale.mistake("Output 0 is made of input 0 alone: the rest of its row is 0.")(
    lambda X, A: np.tile(A, (X.size, 1))
)

mean = puzzle(
    "jacobian_of_mean",
    "Mean",
    2,
    (
        "One output: how many rows? Five inputs: how many columns?",
        "One input of five moves by 1. How far does the mean move?",
        "One row, and each of its entries is 1 divided by the number of inputs. Mind the shape (1, n_in).",
    ),
)(np.mean)
mean.mistake("That is the table of the sum: the mean divides it by the number of inputs.")(
    lambda X: np.ones((1, X.size))
)
mean.mistake("The mean is one output, so its table has one row.")(
    lambda X: np.full((X.size, X.size), 1 / X.size)
)

shift = puzzle(
    "jacobian_of_shift",
    "Shift",
    2,
    (
        "Row 0 is the output that is always 0. What moves it?",
        "Output 1 is input 0, output 2 is input 1. Mark these squares on paper.",
        "A line of ones just below the diagonal. `np.eye` takes a `k` that moves its line; which sign?",
    ),
)(lambda X: np.concatenate([[0.0], X[:-1]]))
shift.mistake(ALL_STAY)(lambda X: np.eye(X.size, dtype=bool).tolist())
shift.mistake("That is the table of `rotate`: here the last number is lost, and row 0 is empty.")(
    lambda X: np.roll(np.eye(X.size), 1, axis=0)
)
shift.mistake(ALL_STAY)(lambda X: np.eye(X.size))
shift.mistake("The 0 at the front is an output too: give it a row.")(lambda X: np.eye(X.size)[:-1])

mirror = puzzle(
    "jacobian_of_mirror",
    "Mirror",
    2,
    (
        "Output 0 is the last input. Which square of row 0 holds a 1?",
        "The ones are on the other diagonal, from the lower left to the upper right.",
        "Take the identity, `np.eye`, and read its rows from the last to the first.",
    ),
)(lambda X: X[::-1])
mirror.mistake(ALL_STAY)(lambda X: np.eye(X.size))
mirror.mistake("That is the table of `rotate`.")(lambda X: np.roll(np.eye(X.size), 1, axis=0))
mirror.mistake(NOT_THE_NUMBERS)(lambda X: np.diag(X)[::-1])
mirror.mistake(NOT_THE_NUMBERS)(lambda X: np.diag(X[::-1]))
mirror.mistake("The numbers change places, not signs.")(lambda X: -np.eye(X.size))

repeat = puzzle(
    "jacobian_of_repeat",
    "Repeat",
    2,
    (
        "Outputs 0 and 1 are both input 0. What are the rows 0 and 1?",
        "Each row of the identity appears twice, one copy below the other.",
        "`np.repeat` can repeat rows of the identity as well as numbers; give it the axis.",
    ),
)(lambda X: np.repeat(X, 2))
repeat.mistake("That table repeats X as a whole: here each number is repeated in place.")(
    lambda X: np.tile(np.eye(X.size), (2, 1))
)
repeat.mistake("Without an axis, `np.repeat` makes one long row.")(lambda X: np.repeat(np.eye(X.size), 2))
repeat.mistake("There are twice as many outputs, and none of them is twice as large.")(
    lambda X: 2 * np.eye(X.size)
)

absolute = puzzle(
    "jacobian_of_abs",
    "Absolute value",
    2,
    (
        "An elementwise function. What does that say about its table?",
        "The slope is 1 where X is positive. And where it is negative?",
        "Put the signs of X on the diagonal; NumPy has `np.sign`.",
    ),
)(np.abs)
absolute.mistake("Left of 0 the absolute value falls: its slope is -1.")(lambda X: np.eye(X.size))
absolute.mistake(VALUES_OF_Y)(lambda X: np.diag(np.abs(X)))
absolute.mistake(OF_RELU)(lambda X: np.diag((X > 0) * 1.0))
absolute.mistake(OF_RELU)(lambda X: np.diag(X > 0))

suffix_sums = puzzle(
    "jacobian_of_suffix_sums",
    "Suffix sums",
    3,
    (
        "Output 0 is the sum of all inputs, and the last output is the last input. Draw these two rows.",
        "It is a triangle of ones, including the diagonal. Which half: above or below?",
        "`np.triu` keeps what is on and above the diagonal of a table; give it a table of ones.",
    ),
)(lambda X: np.cumsum(X[::-1])[::-1])
suffix_sums.mistake("Output 0 includes input 0, too: the diagonal belongs to the triangle.")(
    lambda X: np.triu(np.ones((X.size, X.size)), k=1)
)
suffix_sums.mistake("Only output 0 sums all inputs: the last output is just the last input.")(
    lambda X: np.ones((X.size, X.size))
)

differences = puzzle(
    "jacobian_of_diff",
    "Differences",
    3,
    (
        "Output 0 is X[1] - X[0]. Write down row 0.",
        "Each row holds a -1 and, right of it, a 1. How many rows are there?",
        "Two pieces of the identity: without its first row, and without its last. Subtract which from which?",
    ),
)(np.diff)
differences.mistake("The signs are flipped: subtract the number before.")(
    lambda X: np.eye(X.size)[:-1] - np.eye(X.size)[1:]
)
differences.mistake("The first number has no predecessor, so there is one row fewer.")(
    lambda X: np.eye(X.size) - np.eye(X.size, k=-1)
)
differences.mistake("The number before counts too, with -1.")(lambda X: np.eye(X.size)[1:])
differences.mistake("The number after counts too, with 1.")(lambda X: -np.eye(X.size)[:-1])

largest = puzzle(
    "jacobian_of_max",
    "The largest",
    3,
    (
        "One output, one row. Which input moves the largest number, if you nudge one input a little?",
        "One square holds a 1: that of the largest input. `np.argmax` says where it is.",
        "Row `np.argmax(X)` of the identity; keep two axes, so that the shape is (1, n_in).",
    ),
)(np.max)
largest.mistake("A table holds slopes, and this slope is 1, however large the number is.")(
    lambda X: (X.max() == X)[None, :] * X
)
largest.mistake("The largest number is one output, so its table has one row.")(
    lambda X: np.diag((X == X.max()) * 1.0)
)
largest.mistake("That is the smallest.")(lambda X: np.eye(X.size)[[X.argmin()]])
largest.mistake("Only one input moves the largest number; the slopes of the others are 0.")(
    lambda X: np.tile(1 / X.size, (1, X.size))
)
outer = puzzle(
    "jacobian_of_outer",
    "Outer product",
    4,
    (
        "The first len(A) outputs are all made of X[0]. Which column do they fill, and with what?",
        "The table is block diagonal. Each block is A as a column.",
        "`np.kron(P, Q)` puts P[i, j] * Q at each place of P. Which P, and what shape has Q?",
    ),
    lambda rng, n_in: (mixed(rng, 3 if n_in == 2 else 2),),
)(np.outer)
outer.mistake("Your outputs are counted column by column.")(lambda X, A: np.kron(A[:, None], np.eye(X.size)))
outer.mistake("Those are the slopes along A: along X there is a column for each entry of X.")(
    lambda X, A: np.kron(X[:, None], np.eye(A.size))
)
outer.mistake("That is Y: its Jacobian has a row for each entry of it.")(np.outer)
outer.mistake("An output X[i] * A[j] moves A[j] times as far as its input: X itself is not in the table.")(
    lambda X, A: np.kron(np.diag(X), A[:, None])
)


# 11. how many passes

passes = Exercise(
    "02_jacobian.passes",
    title="How many passes",
    points=2,
    kind="predict",
    minutes=5,
    hints=(
        "A forward pass follows one direction: one input nudged, all others fixed. What does it give?",
        "Forward, a pass gives one column; in reverse, one row. What is the shape of the whole table?",
        "Count inputs for forward mode and outputs for reverse mode; the numbers in between do not matter.",
    ),
)


@passes.check
def _(answer, rng):
    truths = {}
    for name, sizes in (("the recipe", (300, 40, 20, 3)), ("the orbit", (2, 50, 50, 700))):
        steps = [rng.normal(size=shape) / np.sqrt(shape[0]) for shape in zip(sizes, sizes[1:], strict=False)]
        X = rng.normal(size=sizes[0])
        Y = reduce(np.matmul, steps, X)
        truths |= {f"{name}, forward,": X.size, f"{name}, in reverse,": Y.size}
    guesses = answer()
    if not isinstance(guesses, tuple | list) or len(guesses) != len(truths):
        count = f" of {len(guesses)}" if isinstance(guesses, tuple | list | set) else ""
        raise CheckFailed(
            "return four numbers: recipe forward, recipe reverse, orbit forward, orbit reverse; "
            f"it returned {described(guesses)}{count}"
        )
    expect_guesses(guesses, truths)


for sentence, numbers in {
    "You exchanged forward and reverse: forward mode needs a direction for each input.": (3, 300, 700, 2),
    "One reverse pass is enough for one output; here there are more.": (300, 1, 2, 1),
    "Nudging takes two runs per weight; forward mode takes one pass.": (600, 3, 4, 700),
    "A pass goes through all steps: the numbers in between do not matter.": (360, 63, 102, 800),
}.items():
    passes.mistake(sentence)(lambda numbers=numbers: numbers)


# 12. shapes decide the order

way_back = Exercise(
    "02_jacobian.way_back",
    title="Shapes decide the order",
    points=3,
    kind="fill",
    minutes=8,
    remote=False,  # it measures memory, in the process where the answer runs
    hints=(
        "Write down the shape of each table. Which one does dY, with its n_out numbers, fit from the left?",
        "Multiply the row dY by the table of the last step first, then the result by the table before it.",
        "Loop over `reversed(tables)` and replace dY by dY @ the table.",
    ),
)


def tables_of(rng, sizes):
    """Return dY, and a table for each step of a program with these numbers of values."""
    shapes = zip(sizes[1:], sizes, strict=False)
    return rng.normal(size=sizes[-1]), [rng.normal(size=shape) for shape in shapes]


@way_back.check
def _(answer, rng):
    long = drawn_sizes(rng, 3, 2, 5, 2, 4, 3, 2)
    for sizes in (drawn_sizes(rng, 3, 5, 7, 2), (5, 2, 3), (2, 7), (1, 4, 1), long, (3, 3, 3), (2, 2, 2, 2)):
        dY, tables = tables_of(rng, sizes)
        handed, parts = list(tables), {f"tables[{place}]": table for place, table in enumerate(tables)}
        with untouched(dY=dY, **parts):
            dX = carried(answer, dY, handed)
        if list(map(id, handed)) != list(map(id, tables)):
            raise CheckFailed("it changes tables, which belongs to its caller: do not change the list")
        truth = numerical_gradient(lambda X, tables=tables: program(tables, X), np.zeros(sizes[0]), dY)
        expect_shape("dX", dX, "X", truth)
        square = " (square tables)" if len(set(sizes)) == 1 else ""
        expect_values("dX", dX, truth, f"nudging says{square}")
    dY, tables = tables_of(rng, (500, 2, 500, 2, 500))
    used = peak(lambda: answer(dY, tables))
    if used > LITTLE:
        raise CheckFailed(
            f"it takes {used:,} bytes where a row of 500 numbers takes 4,000: "
            "is a table multiplied by a table?"
        )
    return "oblong tables and square ones, and the memory"


@way_back.probe
def _(answer, rng):
    return answer(*tables_of(rng, (3, 3, 3))), _or_error(answer, *tables_of(rng, (3, 5, 7, 2)))


def _or_error(answer, dY, tables):
    """Return an answer's result for oblong tables, or None if they do not fit."""
    try:
        return answer(dY, tables)
    except ValueError:
        return None


def carried(answer, dY, tables):
    """Call an answer with dY; explain the error if a product does not fit into the row."""
    try:
        return answer(dY, tables)
    except ValueError as error:
        if "Output operand" not in str(error):
            raise
        words = "the product does not have the length of the row it is written into: make a new dY"
        raise ValueError(words).with_traceback(error.__traceback__) from None


def program(tables, X):
    """Run a program whose steps have these tables everywhere."""
    for table in tables:
        X = table @ X
    return X


way_back.mistake("Start from the end: multiply the row by the table of the last step first.")(
    lambda dY, tables: reduce(np.matmul, tables, dY)
)
way_back.mistake("The row belongs on the left of the table.")(
    lambda dY, tables: reduce(lambda dY, table: table @ dY, reversed(tables), dY)
)
for sentence, step in {
    "A Jacobian has one row per output already: multiply by it, not by its transpose.": (
        lambda dY, table: dY @ table.T
    ),
    "A square table fits on both sides: always put the row on its left.": (
        lambda dY, table: table @ dY if table.shape[1] == dY.size else dY @ table
    ),
}.items():
    way_back.mistake(sentence)(lambda dY, tables, step=step: reduce(step, reversed(tables), dY))


# 13. without the table

running_mean_vjp = Exercise(
    "02_jacobian.running_mean_vjp",
    title="Without the table",
    points=3,
    kind="fill",
    minutes=8,
    remote=False,  # it measures memory, in the process where the answer runs
    hints=(
        "Two steps in one: a running sum, then a division by 1, 2, 3 and so on. Go back through each.",
        "The division is elementwise. The running sum has a triangle: which outputs does input i move?",
        "Divide dY by 1, 2, 3 ... first. Then dX[i] is the sum of these shares from place i to the end: "
        "reverse them, take a running sum, and reverse that.",
    ),
)


def running_mean(X):
    """Return the mean of all numbers up to each place."""
    return np.cumsum(X) / np.arange(1, X.size + 1)


@running_mean_vjp.check
def _(answer, rng):
    before = None
    for size in (*drawn_sizes(rng, *SIZES, most=40), 1, 200):
        X, dY = rng.normal(size=size), 10 * rng.normal(size=size)
        dY[1:][-1:] = 0.0
        with after_another_length(size, before):
            with untouched(dY=dY):
                dX = answer(dY)
            expect_gradients(running_mean, {"X": X}, dY, {"X": dX})
            expect_formula(answer, dY)
        before = size
    dY = rng.normal(size=2000)
    with after_another_length(dY.size, before):
        used = peak(lambda: answer(dY))
    if used > LITTLE:
        raise CheckFailed(
            f"it takes {used:,} bytes for 2,000 numbers: is there a table of 2000 × 2000 slopes in it?"
        )
    return "compared with nudging, and the memory"


@contextmanager
def after_another_length(n, before):
    """Say how long dY is in a failure inside, and explain shapes that do not fit, if it is not the first."""
    try:
        yield
    except CheckFailed as no:
        raise CheckFailed(f"for n = {n}, {no.sentence}" if before else no.sentence, name=no.name) from no
    except ValueError as error:
        if not before:
            raise
        words = f"{str(error).strip()}, for n = {n} after n = {before}: take every length from this call's dY"
        raise ValueError(words).with_traceback(error.__traceback__) from None


@running_mean_vjp.probe
def _(answer, rng):
    return answer(10 * rng.normal(size=5))


def added(shares):
    """Return the sum of all shares from each place to the end."""
    return np.cumsum(shares[::-1])[::-1]


for sentence, vjp in {  # of dY and the counts 1, 2, 3 and so on
    "Input i moves the outputs from place i on: add from the end.": lambda dY, n: np.cumsum(dY / n),
    "Each output divides by its own count: divide before you add.": lambda dY, n: added(dY) / n,
    "Input i moves every output from place i on, and you counted one: add them up.": lambda dY, n: dY / n,
    "That is the backward pass of the running sum: the division is missing.": lambda dY, n: added(dY),
    "You ran `running_mean` forward, on dY.": lambda dY, n: np.cumsum(dY) / n,
    "The counts begin with 1: the first mean is of one number.": lambda dY, n: added(dY / (n + 1)),
    "The counts are the wrong way round: the last mean is of all numbers.": lambda dY, n: added(dY / n[::-1]),
    "Each output divides by its own count; only the last divides by all.": lambda dY, n: added(dY / n.size),
    "Output i includes input i: its own share is missing.": lambda dY, n: added(dY / n) - dY / n,
    "Turn the shares round before the sum as well as after it.": lambda dY, n: np.cumsum(dY / n)[::-1],
    "The first place is left out: `range(n - 1, 0, -1)` ends at 1.": lambda dY, n: added(dY / n) * (n > 1),
    "Your dX is cut to whole numbers: its array must hold floats.": lambda dY, n: np.trunc(added(dY / n)),
}.items():
    running_mean_vjp.mistake(sentence)(lambda dY, vjp=vjp: vjp(dY, np.arange(1, dY.size + 1)))
