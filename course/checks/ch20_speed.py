"""The exercises of chapter 20: costs, strides, dtypes, powers, chunks, and an update without new arrays.

No check reads a clock: they use counts, dtypes, bytes and values.
"""

import math
import tracemalloc

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    also_drawn,
    drawn_sizes,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_shape,
    expect_values,
    untouched,
)

# 1. what lines must cost

costs = Exercise(
    "20_speed.costs",
    title="What it must cost",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "For each line write down which arrays are read and which is written, with how many numbers each.",
        "An entry of `X @ W` is a sum of twenty products: twenty multiplications, and (as in the chapter) as "
        "many additions. `Y += b` reads Y, and writes it again.",
        "The bytes are four times (200 + 600 + 300), (200 + 200), (300 + 30 + 300) and (300 + 30). The sum "
        "has nine operations for each of thirty columns.",
    ),
)

NUMBERS, WIDE = (
    "That counts numbers, and in float32 each has 4 bytes",
    "That would be float64, and these are float32",
)
WRITTEN = "Its result is written too"
COSTS = {
    "the count of operations of X @ W": {
        6000: "Each of the products is also added to a sum, and that is an operation too",
        11700: "As in the chapter, a sum of twenty products counts as forty operations",
    },
    "the count of bytes of X @ W": {1100: NUMBERS, 8800: WIDE, 3200: WRITTEN},
    "the count of operations of np.maximum(X, 0)": {
        400: "Each entry is compared with 0, once, and nothing else is computed",
    },
    "the count of bytes of np.maximum(X, 0)": {
        400: NUMBERS,
        3200: WIDE,
        800: "X is read, and a result of its size is written",
    },
    "the count of bytes of Y += b": {
        630: NUMBERS,
        5040: WIDE,
        1320: "Y is read and written, so it is moved twice",
        2400: "The row b is read too",
        3600: "The row b is read once, 30 numbers, however many rows it is added to",
    },
    "the count of operations of Y.sum(axis=0)": {
        300: "Ten numbers have nine additions between them",
        9: "That is one column, and there are thirty",
        19: "Each of the thirty columns is a sum of its own",
    },
    "the count of bytes of Y.sum(axis=0)": {330: NUMBERS, 2640: WIDE, 1200: WRITTEN},
}


@costs.check
def _(answer, rng):
    X, W, Y, b = (np.ones(shape, dtype=np.float32) for shape in ((10, 20), (20, 30), (10, 30), 30))
    numbers = {
        "the count of operations of X @ W": 2.0 * len(X) * W.size,
        "the count of bytes of X @ W": X.nbytes + W.nbytes + (X @ W).nbytes,
        "the count of operations of np.maximum(X, 0)": X.size,
        "the count of bytes of np.maximum(X, 0)": 2 * X.nbytes,
        "the count of operations of Y += b": Y.size,
        "the count of bytes of Y += b": 2 * Y.nbytes + b.nbytes,
        "the count of operations of Y.sum(axis=0)": Y.size - len(b),
        "the count of bytes of Y.sum(axis=0)": Y.nbytes + b.nbytes,
    }
    found = answer()
    if isinstance(found, tuple | list | np.ndarray) and np.size(found) != len(numbers):
        raise CheckFailed(f"it must return eight numbers, two for each line, but returned {np.size(found)}")
    expect_guesses(found, numbers, COSTS)
    return "four lines, operations and bytes"


# 2. strides

apart = Exercise(
    "20_speed.apart",
    title="Where is it?",
    points=2,
    kind="predict",
    minutes=6,
    hints=(
        "A's rows follow each other, each of ten numbers of 4 bytes. Slicing and `.T` move nothing in "
        "memory: they only change the strides.",
        "A transposed array exchanges the two numbers. A slice with a step multiplies one of them.",
        "The copy has a new layout: its shape is (10, 6), so its rows have six numbers.",
    ),
)
ARRAYS = ("A", "A.T", "A[::3]", "A[:, ::2]", "the contiguous copy")
ORDER = "The first number of a pair belongs to the first axis, and the last to the last"
TURNED = "It is A's own memory, with A's two strides exchanged"
COPIED = "The copy has a new layout: ten rows of six numbers, one after the other"
STEPS = {  # explanations of likely wrong numbers, by array and axis
    "A": ({4: ORDER}, {40: ORDER}),
    "A.T": ({40: TURNED, 24: TURNED}, {4: TURNED}),
    "A[::3]": (
        {40: "The step of 3 is along the first axis, so it passes three rows of A", 4: ORDER},
        {12: "The step of 3 is along the first axis; along the last each number is taken", 120: ORDER},
    ),
    "A[:, ::2]": (
        {
            20: "A slice copies nothing, so the numbers that it leaves out still lie between",
            80: "The step of 2 is along the last axis; along the first each row is taken",
            8: ORDER,
        },
        {4: "The step of 2 is along the last axis, so it passes two numbers of A", 40: ORDER},
    ),
    "the contiguous copy": ({40: COPIED, 4: COPIED}, {40: COPIED, 24: COPIED}),
}


@apart.check
def _(answer, rng):
    A = np.zeros((6, 10), dtype=np.float32)
    found, arrays = answer(), (A, A.T, A[::3], A[:, ::2], np.ascontiguousarray(A.T))
    try:
        shape = np.shape(found)
    except ValueError:  # pairs and other things
        shape = None
    if shape != (5, 2):
        raise CheckFailed(f"it must return five pairs of numbers, but returned {described(found)}")
    for pair, array, name in zip(found, arrays, ARRAYS, strict=True):
        truths = zip(("first", "last"), array.strides, strict=True)
        words = {f"the way along the {axis} axis of {name}": float(stride) for axis, stride in truths}
        reasons = {
            what: {stride / 4: NUMBERS, 2 * stride: WIDE} | why
            for (what, stride), why in zip(words.items(), STEPS[name], strict=True)
        }
        expect_guesses(tuple(pair), words, reasons)
    return "five arrays of one memory, and of a copy"


# 3. types

tight = Exercise(
    "20_speed.tight",
    title="A leak of digits",
    points=3,
    kind="repair",
    minutes=8,
    hints=(
        "Two lines of `leaking` bring a float64 into play. Print `.dtype` of `mask` and `type(scale)`.",
        "`np.zeros` makes float64 unless you give it a `dtype`, and a NumPy number has a type of its own. "
        "What adapts to the array beside it?",
        "A boolean mask, `X > 0`, does not change the dtype; `math.sqrt` returns a Python number.",
    ),
)
ROOT = math.sqrt(2.0)


@tight.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for dtype in (np.float64, np.float32, np.float32):
        for shape in ((batch, n_in), (83, n_out)):
            X, dY = rng.normal(size=(2, *shape)).astype(dtype)
            name = np.dtype(dtype).name
            with untouched(X=X, dY=dY):
                Y, backward = expect_several(answer(X), "Y", "backward")
                dX = backward(dY)
            for what, value, given in (("Y", Y, "X"), ("dX", dX, "dY")):
                expect_shape(what, value, given, X)
                if np.asarray(value).dtype != dtype:
                    got = np.asarray(value).dtype.name
                    raise CheckFailed(f"for {given} of {name}, {what} is {got}")
            if dtype == np.float64:
                _expect_all_digits(X, dY, Y, dX)
                expect_layer(answer, lambda X: ROOT * np.maximum(X, 0), dY, X=X)
            elif not all(
                np.allclose(value, ROOT * given.astype(np.float64) * (X > 0), rtol=1e-5, atol=1e-6)
                for value, given in ((Y, X), (dX, dY))
            ):
                raise CheckFailed("in float32 the numbers are not those of `leaking`, rounded")
            elif len(X) > batch:
                _expect_no_detour(Y, X, dX, dY)
    _expect_slope_at_zero(answer, rng)
    return "two types, both ways, 0 itself, and no way round by float64"


def _expect_slope_at_zero(answer, rng):
    """Require a gradient of 0 where X is exactly 0."""
    X, dY = rng.uniform(1, 2, size=(2, BATCH, N_IN))
    X[:, 1] = 0
    dX = np.asarray(answer(X)[1](dY))
    if np.allclose(dX[:, 1], ROOT * dY[:, 1]):
        raise CheckFailed(
            "where X is exactly 0, dY passes, but in `leaking` it does not: its mask is 1 for X > 0, not "
            "for X >= 0"
        )
    expect_values("where X is exactly 0, dX", dX[:, 1], np.zeros(BATCH))


def _expect_all_digits(X, dY, Y, dX):
    """Require float64 numbers that are right in all digits."""
    for what, value, given in (("Y", Y, X), ("dX", dX, dY)):
        truth = ROOT * given * (X > 0)
        if np.allclose(value, truth, rtol=1e-3) and not np.allclose(value, truth, rtol=1e-12, atol=0):
            off = np.abs(np.asarray(value) - truth).max() / np.abs(truth).max()
            raise CheckFailed(
                f"in float64 {what} is right in its first digits only (off by {off:.0e} "
                "of its size): a number on the way has too few, as one typed by hand, or a float32"
            )


def _expect_no_detour(Y, X, dX, dY):
    """Require numbers computed in float32: rounded float64 numbers have better last bits."""
    for what, value, given in (("Y", Y, X), ("dX", dX, dY)):
        wide = (ROOT * given.astype(np.float64) * (X > 0)).astype(np.float32)
        if np.array_equal(value, wide):  # among so many entries, float32 rounding differs somewhere
            raise CheckFailed(
                f"{what} has the right type, but its last bits say that it was computed in float64 and then "
                "rounded; `*= np.sqrt(2.0)` does that too, and `math.sqrt` does not"
            )


@tight.probe
def _(answer, rng):
    X, dY = rng.normal(size=(2, BATCH, N_IN)).astype(np.float32)
    Y, backward = answer(X)
    dX = backward(dY)
    return Y, dX, Y.dtype.itemsize, dX.dtype.itemsize


@tight.mistake("A mask of `np.zeros` or a NumPy number is float64, and turns its results into float64.")
def both_leaks(X):
    mask, scale = np.zeros(X.shape), np.sqrt(2.0)
    mask[X > 0] = 1
    return scale * X * mask, lambda dY: scale * dY * mask


WAY_BACK = (
    "Look at what the backward pass multiplies by: a mask of `np.zeros`, and a NumPy number, are float64."
)


@tight.mistake(WAY_BACK)
def mask_leaks(X):
    mask = np.zeros(X.shape)
    mask[X > 0] = 1
    return ROOT * X * (X > 0), lambda dY: ROOT * dY * mask


@tight.mistake(WAY_BACK)
def only_forward(X):
    return ROOT * X * (X > 0), lambda dY: np.sqrt(2.0) * dY * (X > 0)


@tight.mistake("The factor, the root of 2, is missing: in `leaking` only its type was wrong.")
def without_the_root(X):
    return X * (X > 0), lambda dY: dY * (X > 0)


# 4. powers

power = Exercise(
    "20_speed.power",
    title="Seldom multiplied",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "If you have X to the 7, how do you get X to the 14, and to the 15?",
        "Call `power` inside `power`, with n // 2, and square what it returns. An odd n needs one product "
        "more.",
        "Where n is 1, return X. Otherwise square the power of n // 2, once; if `n % 2` is 1, multiply "
        "by X too.",
    ),
)


@power.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    called, made, strangers = [0], [], []

    def times(A, B):
        called[0] += 1
        if np.shape(A) != np.shape(B):
            raise CheckFailed(f"times was given shapes {np.shape(A)} and {np.shape(B)}; X's is wanted twice")
        for name, array in (("first", A), ("second", B)):
            if not any(np.array_equal(array, known) for known in made):
                strangers.append(name)
        made.append(np.asarray(A) * np.asarray(B))
        return made[-1].copy()

    for n in also_drawn((1, 2, 3, 4, 5, 15, 16, 22), lambda: int(rng.integers(23, 64))):
        X = rng.uniform(0.5, 1.5, size=(batch, n_in)) * rng.choice([-1.0, 1.0], size=(batch, n_in))
        called[0], made[:], strangers[:] = 0, [X], []
        allowed, truth = 2 * (n.bit_length() - 1), X**n
        with untouched(X=X):
            found = answer(X, n, times)
        expect_values(f"for n = {n}, the power", found, truth)
        if n > 1 and not called[0]:
            raise CheckFailed(f"for n = {n} it never calls times: no other way of multiplying was allowed")
        if called[0] > allowed:
            twice = len({array.tobytes() for array in made[1:]}) < called[0]
            why = ". It makes a product again that it has made before: keep it in a name" if twice else ""
            enough = f"{allowed} calls are enough" if allowed else "no call is needed"
            raise CheckFailed(f"for n = {n} it calls times {called[0]} times, and {enough}{why}")
        if strangers:
            raise CheckFailed(
                f"for n = {n} times is given, as its {strangers[0]} array, one that is neither X nor what it "
                "has returned: no other way of multiplying was allowed"
            )
        if not any(np.array_equal(found, known) for known in made):
            raise CheckFailed(
                f"for n = {n} the power is right, but times has not returned it: no other way of multiplying "
                "was allowed"
            )
    return "eight powers, with their products counted"


@power.probe
def _(answer, rng):
    X, squares = rng.uniform(0.5, 1.5, size=N_IN), []

    def times(A, B):
        squares.append(np.array_equal(A, B))
        return A * B

    powers = [answer(X, n, times) for n in (2, 3, 15)]
    return *powers, np.array(squares)


@power.mistake("You take one factor at a time: a product of the result with itself doubles the power.")
def one_by_one(X, n, times):
    result = X
    for _ in range(n - 1):
        result = times(result, X)
    return result


@power.mistake("An odd n lost its last factor: n // 2 rounds down.")
def odd_ones_lost(X, n, times):
    if n == 1:
        return X
    root = odd_ones_lost(X, n // 2, times)
    return times(root, root)


@power.mistake("Begin with X, and not with ones: a product with ones is a product.")
def from_ones(X, n, times):
    result = np.ones_like(X)
    for bit in format(n, "b"):
        result = times(result, result)
        if bit == "1":
            result = times(result, X)
    return result


@power.mistake("Begin with X, and not with ones, and square no further than is needed: each is a product.")
def from_ones_and_the_lowest_bit(X, n, times):
    result = np.ones_like(X)
    while n:
        if n % 2:
            result = times(result, X)
        X, n = times(X, X), n // 2
    return result


# 5. pieces

in_pieces = Exercise(
    "20_speed.in_pieces",
    title="Piece by piece",
    points=3,
    kind="fill",
    minutes=8,
    changes=True,
    hints=(
        "First make one row of numbers of X and of out; that needs no copy where an array is contiguous.",
        "`reshape(-1)` of a contiguous array is a view: writing into it writes into the array. `flatten` "
        "always copies.",
        "For each start of `range(0, X.size, size)` take the slice from start to start + size of both rows. "
        "A slice beyond the end is simply shorter.",
    ),
)


@in_pieces.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for shape, size in (((batch, n_in), 4), ((batch, n_in, n_out), 11), ((n_in, n_out), 7), ((n_out,), 100)):
        X, out, given = rng.normal(size=shape), np.full(shape, np.nan), []

        def f(row, given=given):
            given.append(np.array(row))
            return 2 * np.array(row) + 1

        case = f"X of shape {shape}, size {size}"
        before = X.copy()
        returned = answer(f, X, out, size)
        if not np.array_equal(X, before):
            raise CheckFailed(f"{case}: it changes X; what f returns belongs into out")
        _expect_pieces(case, given, X, size)
        if returned is not None:
            raise CheckFailed(f"{case}: it must write into out and return nothing")
        if np.isnan(out).any():
            raise CheckFailed(
                f"{case}: f was called, but entries of out were not written: do you write into a copy, "
                "or into another array?"
            )
        expect_values(f"{case}: out", out, 2 * X + 1)
        if not np.array_equal(out, 2 * X + 1):
            raise CheckFailed(f"{case}: out holds what f returns in fewer digits: write it as it is")
    return "four shapes, last pieces that are shorter, and a piece larger than X"


def _expect_pieces(case, given, X, size):
    """Require that f gets all entries of X, in order, in as few chunks of at most size as possible."""
    for row in given:
        if row.ndim != 1:
            raise CheckFailed(f"{case}: f is given {row.ndim} axes; a row of numbers has one")
        if len(row) > size:
            raise CheckFailed(f"{case}: f is given {len(row)} entries at once, but {size} is the most")
        if not len(row):
            raise CheckFailed(f"{case}: f is given a row without entries; such a call makes nothing")
    seen = np.concatenate(given) if given else np.zeros(0)
    if len(seen) != X.size:
        raise CheckFailed(f"{case}: f got {len(seen)} entries, but X has {X.size}")
    if not np.array_equal(seen, X.ravel()) and np.array_equal(np.sort(seen), np.sort(X, axis=None)):
        raise CheckFailed(f"{case}: f got all entries, but not in order, from X's first to its last")
    expect_values(f"{case}: the input of f", seen, X.ravel())
    fewest = -(-X.size // size)
    if len(given) != fewest:
        raise CheckFailed(f"{case}: f is called {len(given)} times, but {fewest} are enough")


@in_pieces.probe
def _(answer, rng):
    X, shapes = rng.normal(size=(BATCH, N_IN)), []
    out = np.zeros_like(X)

    def f(row):
        shapes.append(np.shape(row))
        return 2 * np.array(row) + 1

    for size in (4, 7):
        answer(f, X, out, size)
        shapes.append(())
    return out, str(shapes)


@in_pieces.mistake("The last piece is missing: it may be shorter than the others.")
def whole_pieces_only(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for place in range(row.size // size):
        piece = slice(place * size, (place + 1) * size)
        results[piece] = f(row[piece])


@in_pieces.mistake("A slice of X takes rows: put all its numbers in one row first, `X.reshape(-1)`.")
def pieces_of_rows(f, X, out, size):
    for start in range(0, len(X), size):
        out[start : start + size] = f(X[start : start + size])


@in_pieces.mistake("A chunk continues past the end of a row of X: put all in one row first, `X.reshape(-1)`.")
def row_by_row(f, X, out, size):
    for row, results in zip(X, out, strict=True):
        for start in range(0, len(row), size):
            results[start : start + size] = f(row[start : start + size])


@in_pieces.mistake("A piece has at most `size` entries; yours makes `size` pieces.")
def size_pieces(f, X, out, size):
    pieces = np.array_split(X.reshape(-1), size), np.array_split(out.reshape(-1), size)
    for row, results in zip(*pieces, strict=True):
        results[...] = f(row)


@in_pieces.mistake("The pieces have 4 entries, as in the example, whatever `size` says.")
def fours(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for start in range(0, row.size, 4):
        results[start : start + 4] = f(row[start : start + 4])


@in_pieces.mistake("You go entry by entry in a Python loop: that is the slowest way.")
def one_at_a_time(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for place in range(row.size):
        results[place : place + 1] = f(row[place : place + 1])


# 6. Adam without new arrays

update = Exercise(
    "20_speed.update",
    title="Nothing new",
    points=4,
    kind="fill",
    minutes=15,
    remote=False,  # it measures memory, in the process where the answer runs
    changes=True,
    hints=(
        "`mean *= beta1` makes no array. `(1 - beta1) * grad` does: let it be written into scratch, with "
        "`np.multiply(…, out=scratch)`.",
        "scratch is free again as soon as it has been added to mean. Use it next for grad², then for what "
        "is below the fraction bar, and write the quotient over that.",
        "The last part, in order: square divided by c2, its root, plus eps, mean divided by that (all "
        "into scratch), times learning_rate / c1; then data minus scratch, in place.",
    ),
)
SETTINGS = ({"beta1": 0.5, "beta2": 0.75, "eps": 0.1}, {})  # an eps that shows comes first


def step(  # noqa: PLR0913  the letters of the statement's formula
    data, grad, mean, square, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8
):
    """Return data, mean and square after a step of Adam, as the statement writes it."""
    mean = beta1 * mean + (1 - beta1) * grad
    square = beta2 * square + (1 - beta2) * grad**2
    root = np.sqrt(square / (1 - beta2**steps))
    return data - learning_rate * (mean / (1 - beta1**steps)) / (root + eps), mean, square


@update.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for shape in ((batch, n_in), (n_out,)):
        for settings in SETTINGS:
            data, mean, square = rng.normal(size=shape), np.zeros(shape), np.zeros(shape)
            truths = data.copy(), mean.copy(), square.copy()
            for steps in (1, 2, 3):
                grad, rate = rng.normal(size=shape), rng.uniform(0.05, 0.2)
                truths = step(truths[0], grad, *truths[1:], steps, rate, **settings)
                before, was = grad.copy(), {"mean": mean.copy(), "square": square.copy(), "data": data.copy()}
                with np.errstate(all="ignore"):
                    scratch = np.full(shape, np.nan)
                    returned = answer(data, grad, mean, square, scratch, steps, rate, **settings)
                if not np.array_equal(grad, before):
                    raise CheckFailed("it changes grad, which must stay as it is: write into scratch")
                found = {"mean": mean, "square": square, "data": data}
                _expect_in_place(found, was, truths, 1 - settings.get("beta1", 0.9) ** steps)
                for (name, value), truth in zip(found.items(), (*truths[1:], truths[0]), strict=True):
                    expect_values(f"after step {steps}, {name}", value, truth)
                if returned is not None:
                    raise CheckFailed(
                        "the numbers are right, but it must return nothing: data changes in place"
                    )
    arrays = rng.normal(size=(5, 251, 127))
    arrays[3] **= 2
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer(*arrays, 7, 0.1)
        most = (tracemalloc.get_traced_memory()[1] - before) / arrays[0].nbytes
    finally:
        tracemalloc.stop()
    if most > 0.3:
        raise CheckFailed(
            f"the numbers are right, but on the way new arrays were made: {most:.2f} times the size of "
            "data at one time; a quarter is allowed"
        )
    return "three steps with two settings, and no new array of any size that counts"


def _expect_in_place(found, was, truths, c1):
    """Require that the arrays change, and that the means are stored without correction."""
    for name, value in found.items():
        if np.array_equal(value, was[name]):
            raise CheckFailed(
                f"{name} is as it was before the step: a line `{name} = …` gives the name to a new array, "
                "and the one that was given stays as it is"
            )
    if np.allclose(found["mean"], truths[1] / c1) and not np.allclose(found["mean"], truths[1]):
        raise CheckFailed(
            "mean is divided by c1 for good, and the next step needs it as it was: what is divided belongs "
            "into scratch"
        )


@update.probe
def _(answer, rng):
    data, grad, mean, square = rng.uniform(1, 2, size=(4, N_OUT))
    for steps in (1, 2):
        answer(data, grad, mean, square, np.zeros(N_OUT), steps, 0.1, 0.5, 0.75, 0.1)
    return data, grad, mean, square


class Adam:
    """A correct update, of which the mistakes change one part each."""

    c1, c2 = (
        staticmethod(lambda beta, steps: 1 - beta**steps),
        staticmethod(lambda beta, steps: 1 - beta**steps),
    )

    def __call__(  # noqa: PLR0913  as the exercise has it
        self, data, grad, mean, square, scratch, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8
    ):
        self.remember(grad, mean, square, beta1, beta2)
        below = self.below(square, self.c2(beta2, steps), eps)
        data -= learning_rate * (mean / self.c1(beta1, steps)) / below

    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        square[...] = beta2 * square + (1 - beta2) * grad * grad

    def below(self, square, c2, eps):
        return np.sqrt(square / c2) + eps


class _WithoutCorrection(Adam):
    c1 = c2 = staticmethod(lambda beta, steps: 1.0)


class _EpsInside(Adam):
    def below(self, square, c2, eps):
        return np.sqrt(square / c2 + eps)


class _CorrectsForGood(Adam):
    def below(self, square, c2, eps):
        square /= c2
        return np.sqrt(square) + eps


class _WithoutC1(Adam):
    c1 = staticmethod(lambda beta, steps: 1.0)


class _WithoutC2(Adam):
    c2 = staticmethod(lambda beta, steps: 1.0)


class _WithoutEps(Adam):
    def below(self, square, c2, eps):
        return np.sqrt(square / c2)


class _EpsBeforeC2(Adam):
    def below(self, square, c2, eps):
        return np.sqrt((square + eps) / c2)


class _EpsOverC2(Adam):
    def below(self, square, c2, eps):
        return (np.sqrt(square) + eps) / np.sqrt(c2)


class _WithoutRoot(Adam):
    def below(self, square, c2, eps):
        return square / c2 + eps


class _PlainGrad(Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        square[...] = beta2 * square + (1 - beta2) * grad


def function(wrong):
    """Return a function that calls an object, since a check needs functions."""

    def update(*arguments, **settings):
        return wrong(*arguments, **settings)

    return update


update.mistake("Without c1 and c2 the first steps are wrong: both means began at zero.")(
    function(_WithoutCorrection())
)
update.mistake("The mean is not divided by c1.")(function(_WithoutC1()))
update.mistake("The number under the root is not divided by c2.")(function(_WithoutC2()))
update.mistake("The eps in the denominator is missing.")(function(_WithoutEps()))
update.mistake("The eps is added to the root, and not under it.")(function(_EpsInside()))
update.mistake("The eps is added last, to the root, and c2 does not divide it.")(function(_EpsBeforeC2()))
update.mistake("The eps is added after the root of square divided by c2, and c2 does not divide it.")(
    function(_EpsOverC2())
)
update.mistake("The division by c2 changes square for good: what is divided belongs into scratch.")(
    function(_CorrectsForGood())
)
update.mistake("The root is missing.")(function(_WithoutRoot()))
update.mistake("The array square must be a mean of grad²; yours is a mean of grad.")(function(_PlainGrad()))
