"""The exercises of chapter 20: costs, strides, types, powers, pieces, and an update without new arrays.

No check reads a clock: they decide from counts, types, bytes and values.
"""

import math
import tracemalloc

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    expect_gradients,
    expect_guesses,
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
    expect_guesses(answer(), numbers)
    return "four lines, operations and bytes"


@costs.right
def as_an_array():
    return np.array([12000, 4400, 200, 1600, 300, 2520, 270, 1320])


@costs.right
def from_sizes():
    X, W, Y, b = 10 * 20, 20 * 30, 10 * 30, 30
    moved = [4 * (X + W + Y), 4 * 2 * X, 4 * (2 * Y + b), 4 * (Y + b)]
    done = [2 * 10 * W, X, Y, 9 * b]
    return [number for pair in zip(done, moved, strict=True) for number in pair]


def _guess(*numbers):
    """Return an answer with these numbers, for the mistakes."""
    return lambda: numbers


costs.mistake("Each product of two numbers is also added to a sum: that is two operations.")(
    _guess(6000, 4400, 200, 1600, 300, 2520, 270, 1320)
)
costs.mistake("Those are numbers: in float32 each has 4 bytes.")(
    _guess(12000, 1100, 200, 400, 300, 630, 270, 330)
)
costs.mistake("Those are the bytes of float64; these arrays are float32.")(
    _guess(12000, 8800, 200, 3200, 300, 5040, 270, 2640)
)
costs.mistake("The result is written too: its bytes are moved.")(
    _guess(12000, 3200, 200, 800, 300, 1320, 270, 1200)
)
costs.mistake("Y is read and written: it is moved twice.")(
    _guess(12000, 4400, 200, 1600, 300, 1320, 270, 1320)
)
costs.mistake("Ten numbers have nine additions between them, in each of the columns.")(
    _guess(12000, 4400, 200, 1600, 300, 2520, 300, 1320)
)


# 2. strides

apart = Exercise(
    "20_speed.apart",
    title="Where is it?",
    points=2,
    kind="predict",
    minutes=6,
    hints=(
        "A's rows lie one behind the other, each of ten numbers of 4 bytes. Slicing and `.T` move nothing in "
        "memory: they only count in another way.",
        "A transposed array exchanges the two numbers. A slice with a step multiplies one of them.",
        "The copy is laid out anew: its shape is (10, 6), so its rows have six numbers.",
    ),
)
ARRAYS = ("A", "A.T", "A[::3]", "A[:, ::2]", "the contiguous copy")


@apart.check
def _(answer, rng):
    A = np.zeros((6, 10), dtype=np.float32)
    found, arrays = answer(), (A, A.T, A[::3], A[:, ::2], np.ascontiguousarray(A.T))
    try:
        shape = np.shape(found)
    except ValueError:  # pairs and other things
        shape = None
    if shape != (5, 2):
        raise CheckFailed(f"it must return five pairs of numbers, and returned {described(found)}")
    for pair, array, name in zip(found, arrays, ARRAYS, strict=True):
        truths = zip(("first", "last"), array.strides, strict=True)
        words = {f"the way along the {axis} axis of {name}": float(stride) for axis, stride in truths}
        expect_guesses(tuple(pair), words)
    return "five arrays of one memory, and of a copy"


@apart.right
def asked_of_numpy():
    A = np.ones((6, 10), dtype=np.float32)
    return [array.strides for array in (A, A.T, A[::3], A[:, ::2], A.T.copy())]


@apart.right
def apart_as_an_array():
    return 4 * np.array([[10, 1], [1, 10], [30, 1], [10, 2], [6, 1]])


@apart.mistake("Those count numbers: bytes were asked for, four for each.")
def in_numbers():
    return [(10, 1), (1, 10), (30, 1), (10, 2), (6, 1)]


@apart.mistake("A transposed array is the same memory: only the two ways change places.")
def transposing_moves():
    return [(40, 4), (24, 4), (120, 4), (40, 8), (24, 4)]


@apart.mistake("A slice copies nothing: the rows between are still there, and are stepped over.")
def slicing_moves():
    return [(40, 4), (4, 40), (40, 4), (20, 4), (24, 4)]


@apart.mistake("The copy has ten rows of six numbers, one row behind the other.")
def a_copy_with_long_rows():
    return [(40, 4), (4, 40), (120, 4), (40, 8), (40, 4)]


@apart.mistake("The first number belongs to the first axis, from one row to the next.")
def exchanged():
    return [(4, 40), (40, 4), (4, 120), (8, 40), (4, 24)]


@apart.mistake("it must return five pairs of numbers")
def one_number_each():
    return [40, 4, 120, 40, 24]


# 3. types

tight = Exercise(
    "20_speed.tight",
    title="A leak of digits",
    points=3,
    kind="repair",
    minutes=8,
    hints=(
        "Two lines of `leaking` bring a float64 into play. Print `.dtype` of `mask` and `type(scale)`.",
        "`np.zeros` makes float64 unless it is told otherwise, and a number of NumPy's has a type. What "
        "adapts to the array beside it?",
        "A mask of truths, `X > 0`, has no float type to pass on; `math.sqrt` returns a number of Python's.",
    ),
)
ROOT = math.sqrt(2.0)


@tight.check
def _(answer, rng):
    for dtype in (np.float32, np.float64, np.float32):
        for shape in ((BATCH, N_IN), (83, N_OUT)):
            X, dY = rng.normal(size=(2, *shape)).astype(dtype)
            name = np.dtype(dtype).name
            with untouched(X=X, dY=dY):
                Y, backward = expect_several(answer(X), "Y", "backward")
                dX = backward(dY)
            for what, value, given in (("Y", Y, "X"), ("dX", dX, "dY")):
                expect_shape(what, value, given, X)
                if np.asarray(value).dtype != dtype:
                    came = np.asarray(value).dtype.name
                    raise CheckFailed(f"for {given} of {name}, {what} comes in {came}")
            if dtype == np.float64:
                expect_values("Y", Y, ROOT * np.maximum(X, 0))
                expect_gradients(lambda X: ROOT * np.maximum(X, 0), {"X": X}, dY, {"X": dX})
            elif not all(
                np.allclose(value, ROOT * given.astype(np.float64) * (X > 0), rtol=1e-5, atol=1e-6)
                for value, given in ((Y, X), (dX, dY))
            ):
                raise CheckFailed("in float32 the numbers are not those of `leaking`, rounded")
            elif len(X) > BATCH:
                _expect_no_detour(Y, X, dX, dY)
    return "two types, both ways, and no way round by float64"


def _expect_no_detour(Y, X, dX, dY):
    """Refuse numbers that were made in float64 and rounded at the end: their last bits are better."""
    for what, value, given in (("Y", Y, X), ("dX", dX, dY)):
        wide = (ROOT * given.astype(np.float64) * (X > 0)).astype(np.float32)
        if np.array_equal(value, wide):  # among so many entries, honest rounding differs somewhere
            raise CheckFailed(
                f"{what} has the right type, but its last bits say that it was made in float64 and converted "
                "at the end: arrays twice as large were made on the way"
            )


@tight.probe
def _(answer, rng):
    X, dY = rng.normal(size=(2, BATCH, N_IN)).astype(np.float32)
    Y, backward = answer(X)
    dX = backward(dY)
    return Y, dX, Y.dtype.itemsize, dX.dtype.itemsize


@tight.right
def with_zeros_like(X):
    mask, scale = np.zeros_like(X), X.dtype.type(2.0) ** X.dtype.type(0.5)
    mask[X > 0] = scale
    return X * mask, lambda dY: dY * mask


@tight.right
def with_maximum(X):
    scale = np.sqrt(2.0).astype(X.dtype)
    return np.maximum(scale * X, 0), lambda dY: np.where(X > 0, scale * dY, 0)


@tight.mistake("for X of float32, Y comes in float64")
def as_it_was(X):
    mask = np.zeros(X.shape)
    mask[X > 0] = 1
    return np.sqrt(2.0) * X * mask, lambda dY: np.sqrt(2.0) * dY * mask


@tight.mistake(
    "Look at what the way back multiplies by: a mask of `np.zeros`, and a number of NumPy's, are float64."
)
def mask_leaks(X):
    mask = np.zeros(X.shape)
    mask[X > 0] = 1
    return ROOT * X * (X > 0), lambda dY: ROOT * dY * mask


@tight.mistake(
    "Look at what the way back multiplies by: a mask of `np.zeros`, and a number of NumPy's, are float64."
)
def only_forward(X):
    return ROOT * X * (X > 0), lambda dY: np.sqrt(2.0) * dY * (X > 0)


@tight.mistake("for X of float64, Y comes in float32")
def always_small(X):
    X = X.astype(np.float32)
    return ROOT * X * (X > 0), lambda dY: ROOT * dY.astype(np.float32) * (X > 0)


@tight.mistake("made in float64 and converted at the end")
def converts_at_the_end(X):
    scale = np.sqrt(2.0)
    return (scale * X * (X > 0)).astype(X.dtype), lambda dY: (scale * dY * (X > 0)).astype(dY.dtype)


@tight.mistake("Without the root the numbers are others: only its type was wrong.")
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
        "Call `power` inside `power`, with n // 2, and square what comes. An odd n needs one product more.",
        "Where n is 1, return X. Otherwise square the power of n // 2, once; `n % 2` says whether times X.",
    ),
)


@power.check
def _(answer, rng):
    called = [0]

    def times(A, B):
        called[0] += 1
        if np.shape(A) != np.shape(B):
            raise CheckFailed(f"times was given shapes {np.shape(A)} and {np.shape(B)}; X's is wanted twice")
        return A * B

    for n in (1, 2, 3, 4, 5, 15, 16, 22):
        X = rng.uniform(0.5, 1.5, size=(BATCH, N_IN)) * rng.choice([-1.0, 1.0], size=(BATCH, N_IN))
        called[0], allowed, truth = 0, 2 * (n.bit_length() - 1), X**n
        with untouched(X=X):
            found = answer(X, n, times)
        expect_values(f"for n = {n}, the power", found, truth)
        if n > 1 and not called[0]:
            raise CheckFailed(f"for n = {n} it never calls times: no other way of multiplying was allowed")
        if called[0] > allowed:
            raise CheckFailed(
                f"for n = {n} it calls times {called[0]} times, and {allowed or 'none'} will do"
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


@power.right
def from_the_last_bit(X, n, times):
    result = None
    while n:
        if n % 2:
            result = X if result is None else times(result, X)
        n //= 2
        if n:
            X = times(X, X)
    return result


@power.right
def from_the_first_bit(X, n, times):
    result = X
    for bit in format(n, "b")[1:]:
        result = times(result, result)
        if bit == "1":
            result = times(result, X)
    return result


@power.mistake("times 14 times, and 6 will do")
def one_by_one(X, n, times):
    result = X
    for _ in range(n - 1):
        result = times(result, X)
    return result


@power.mistake("it never calls times")
def as_a_power(X, n, times):
    return X**n


@power.mistake("Both halves are computed: keep the power of n // 2 in a name, and use it twice.")
def both_halves(X, n, times):
    if n == 1:
        return X
    square = times(both_halves(X, n // 2, times), both_halves(X, n // 2, times))
    return times(square, X) if n % 2 else square


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


@power.mistake("it changes X, which belongs to its caller")
def into_X(X, n, times):
    start = X.copy()
    for bit in format(n, "b")[1:]:
        X[...] = times(X, X)
        if bit == "1":
            X[...] = times(X, start)
    return X.copy()


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
        "copies always.",
        "For each start of `range(0, X.size, size)` take the slice from start to start + size of both rows. "
        "A slice beyond the end is simply shorter.",
    ),
)


@in_pieces.check
def _(answer, rng):
    for shape, size in (((BATCH, N_IN), 4), ((BATCH, N_IN, N_OUT), 11), ((N_IN, N_OUT), 7), ((N_OUT,), 100)):
        X, out, given = rng.normal(size=shape), np.full(shape, np.nan), []

        def f(row, given=given):
            given.append(np.array(row))
            return 2 * np.array(row) + 1

        case = f"X of shape {shape}, size {size}"
        before = X.copy()
        returned = answer(f, X, out, size)
        if not np.array_equal(X, before):
            raise CheckFailed(f"{case}: it changes X; what f returns belongs into out")
        for row in given:
            if row.ndim != 1:
                raise CheckFailed(f"{case}: f is given {row.ndim} axes; a row of numbers has one")
            if len(row) > size:
                raise CheckFailed(f"{case}: f is given {len(row)} entries at once")
        seen = np.concatenate(given) if given else np.zeros(0)
        if len(seen) != X.size:
            raise CheckFailed(f"{case}: f has seen {len(seen)} entries, and X has {X.size}")
        expect_values(f"{case}: what f has seen", seen, X.ravel())
        fewest = -(-X.size // size)
        if len(given) != fewest:
            raise CheckFailed(f"{case}: f is called {len(given)} times, and {fewest} would do")
        if np.isnan(out).any():
            raise CheckFailed(
                f"{case}: f was asked, but entries of out were not written: is what you write into a copy, "
                "or another array?"
            )
        expect_values(f"{case}: out", out, 2 * X + 1)
        if returned is not None:
            raise CheckFailed(f"{case}: it shall write into out and return nothing")
    return "four shapes, last pieces that are shorter, and a piece larger than X"


@in_pieces.probe
def _(answer, rng):
    X, sizes = rng.normal(size=(N_IN, BATCH)), []
    out = np.zeros_like(X)

    def f(row):
        sizes.append(np.size(row))
        return 2 * np.array(row) + 1

    answer(f, X, out, 4)
    return out, np.array(sizes)


@in_pieces.right
def with_ravel(f, X, out, size):
    row, results, start = X.ravel(), out.ravel(), 0
    while start < row.size:
        piece = slice(start, min(start + size, row.size))
        np.copyto(results[piece], f(row[piece]))
        start += size


@in_pieces.right
def with_split(f, X, out, size):
    cuts = range(size, X.size, size)
    pairs = zip(np.split(X.reshape(-1), cuts), np.split(out.reshape(-1), cuts), strict=True)
    for piece, place in pairs:
        place[...] = f(piece)


@in_pieces.mistake("entries at once")
def all_at_once(f, X, out, size):
    out[...] = f(X.reshape(-1)).reshape(X.shape)


@in_pieces.mistake("is what you write into a copy")
def into_a_copy(f, X, out, size):
    row, results = X.flatten(), out.flatten()
    for start in range(0, row.size, size):
        results[start : start + size] = f(row[start : start + size])


@in_pieces.mistake("The last piece is missing: it may be shorter than the others.")
def whole_pieces_only(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for place in range(row.size // size):
        piece = slice(place * size, (place + 1) * size)
        results[piece] = f(row[piece])


@in_pieces.mistake("Entry by entry, in a loop of Python's: that is the slowest way.")
def one_at_a_time(f, X, out, size):
    row, results = X.reshape(-1), out.reshape(-1)
    for place in range(row.size):
        results[place : place + 1] = f(row[place : place + 1])


@in_pieces.mistake("it changes X; what f returns belongs into out")
def into_its_input(f, X, out, size):
    row = X.reshape(-1)
    for start in range(0, row.size, size):
        row[start : start + size] = f(row[start : start + size])
    out[...] = X


@in_pieces.mistake("is what you write into a copy")
def a_new_array(f, X, out, size):
    row = X.reshape(-1)
    pieces = [f(row[start : start + size]) for start in range(0, row.size, size)]
    out = np.concatenate(pieces).reshape(X.shape)  # noqa: F841


@in_pieces.mistake("a row of numbers has one")
def by_rows(f, X, out, size):
    for start in range(0, len(X), size):
        out[start : start + size] = f(X[start : start + size])


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
        "scratch is free again as soon as it was added to mean. Use it next for grad², then for what stands "
        "below the fraction bar, and let the quotient be written over that.",
        "The last part, in order: square divided by c2, its root, plus eps, mean divided by that (all "
        "into scratch), times learning_rate / c1; then data minus scratch, in place.",
    ),
)
SETTINGS = ({}, {"beta1": 0.5, "beta2": 0.75, "eps": 0.1})


def _step(data, grad, mean, square, steps, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    """Return data, mean and square after a step of Adam, as the statement writes it."""
    mean = beta1 * mean + (1 - beta1) * grad
    square = beta2 * square + (1 - beta2) * grad**2
    root = np.sqrt(square / (1 - beta2**steps))
    return data - learning_rate * (mean / (1 - beta1**steps)) / (root + eps), mean, square


@update.check
def _(answer, rng):
    for shape in ((BATCH, N_IN), (N_OUT,)):
        for settings in SETTINGS:
            data, mean, square = rng.normal(size=shape), np.zeros(shape), np.zeros(shape)
            truths = data.copy(), mean.copy(), square.copy()
            for steps in (1, 2, 3):
                grad, rate = rng.normal(size=shape), rng.uniform(0.05, 0.2)
                truths = _step(truths[0], grad, *truths[1:], steps, rate, **settings)
                before = grad.copy()
                with np.errstate(all="ignore"):
                    answer(data, grad, mean, square, np.full(shape, np.nan), steps, rate, **settings)
                if not np.array_equal(grad, before):
                    raise CheckFailed("it changes grad, which shall stay as it is: write into scratch")
                found = {"mean": mean, "square": square, "data": data}
                for (name, value), truth in zip(found.items(), (*truths[1:], truths[0]), strict=True):
                    expect_values(f"after step {steps}, {name}", value, truth)
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
            f"the numbers are right, but on the way new arrays were made: at most {most:.1f} times the size "
            "of data at once"
        )
    return "three steps with two settings, and no new array of any size that counts"


@update.probe
def _(answer, rng):
    data, grad, mean, square = rng.uniform(1, 2, size=(4, N_OUT))
    for steps in (1, 2):
        answer(data, grad, mean, square, np.zeros(N_OUT), steps, 0.1, 0.5, 0.75, 0.1)
    return data, grad, mean, square


@update.right
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


@update.right
def in_small_pieces(data, grad, mean, square, scratch, steps, learning_rate, *settings, **named):
    rows = [array.reshape(-1) for array in (data, mean, square, grad)]
    for start in range(0, data.size, 512):
        d, m, s, g = (row[start : start + 512] for row in rows)
        d[...], m[...], s[...] = _step(d, g, m, s, steps, learning_rate, *settings, **named)


class _Adam:
    """A right update, of which the mistakes change one part each."""

    c1, c2 = (
        staticmethod(lambda beta, steps: 1 - beta**steps),
        staticmethod(lambda beta, steps: 1 - beta**steps),
    )

    def __call__(
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


class _WithoutCorrection(_Adam):
    c1 = c2 = staticmethod(lambda beta, steps: 1.0)


class _EpsInside(_Adam):
    def below(self, square, c2, eps):
        return np.sqrt(square / c2 + eps)


class _CorrectsForGood(_Adam):
    def below(self, square, c2, eps):
        square /= c2
        return np.sqrt(square) + eps


class _WithoutRoot(_Adam):
    def below(self, square, c2, eps):
        return square / c2 + eps


class _SpoilsGrad(_Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        np.multiply(grad, grad, out=grad)
        square[...] = beta2 * square + (1 - beta2) * grad


class _PlainGrad(_Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean[...] = beta1 * mean + (1 - beta1) * grad
        square[...] = beta2 * square + (1 - beta2) * grad


class _Forgets(_Adam):
    def remember(self, grad, mean, square, beta1, beta2):
        mean = beta1 * mean + (1 - beta1) * grad
        square = beta2 * square + (1 - beta2) * grad * grad


def _function(wrong):
    """Return an object that is called as a function: a check asks functions."""

    def update(*arguments, **settings):
        return wrong(*arguments, **settings)

    return update


update.mistake("on the way new arrays were made")(_function(_Adam()))
update.mistake("Without c1 and c2 the first steps are wrong: both means began at zero.")(
    _function(_WithoutCorrection())
)
update.mistake("The eps is added to the root, and not under it.")(_function(_EpsInside()))
update.mistake("The division by c2 changes square for good: what is divided belongs into scratch.")(
    _function(_CorrectsForGood())
)
update.mistake("The root is missing.")(_function(_WithoutRoot()))
update.mistake("it changes grad, which shall stay as it is: write into scratch")(_function(_SpoilsGrad()))
update.mistake("The mean called square is one of grad², and this is one of grad.")(_function(_PlainGrad()))
update.mistake("A line `mean = …` gives the name to a new array; the one that was given stays as it was.")(
    _function(_Forgets())
)


@update.mistake("A line `data = …` gives the name to a new array; the one that was given stays as it was.")
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
