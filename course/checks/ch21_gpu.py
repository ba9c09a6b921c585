"""The exercises of chapter 21: timing, counted transfers, and layers for both devices."""

import sys
from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    drawn_sizes,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_values,
    explained,
    untouched,
)
from course.stand_ins.gpu import stand_in
from minigrad.backend import array_module, to_device, to_numpy
from minigrad.layer import Sequential
from minigrad.layers.linear import Linear

EXAMPLES, SIZE = 13, 5  # two whole batches and a short one of three


def _live_there(name, value, cupy):
    """Require an array on X's device."""
    if not isinstance(value, cupy.ndarray):
        raise CheckFailed(f"{name} must be on the device, as X is, but is {described(value)}")


def _same_dtype(name, value, X):
    """Require X's dtype."""
    if value.dtype != X.dtype:
        raise CheckFailed(f"{name} is {value.dtype} for X of {X.dtype}; it must keep X's dtype")


def _expect_transfers(cupy, most, during, origins=None):
    """Require at most this many transfers since the counter was cleared; explain known lines."""
    if len(cupy.transfers) > most:
        enough = "one transfer is enough" if most else "none is needed"
        times = "once" if len(cupy.transfers) == 1 else f"{len(cupy.transfers)} times"
        lines = Counter(one.line for one in cupy.transfers)
        origins = origins or {}
        where = ", ".join(f"{count} in `{line}`{origins.get(line, '')}" for line, count in lines.items())
        raise CheckFailed(f"{during} moves data {times}: {where}; {enough}")


def _expect_the_same_there(make, X, dY, most=0):
    """Run a layer on both devices, in X's dtype and float32; compare, and count transfers.

    ``make(send)`` returns a new layer; ``send`` moves a NumPy array to the layer's device.
    """
    for dtype in (np.float64, np.float32):
        X_small, dY_small = X.astype(dtype), dY.astype(dtype)
        with stand_in() as cupy:  # CuPy being loaded does not mean that X is on the device
            Y, backward = expect_several(make(np.asarray)(X_small), "Y", "backward")
            dX = backward(dY_small)
            _same_dtype("Y", Y, X_small)
            _same_dtype("dX", dX, X_small)
            for name, array in (("Y", Y), ("dX", dX)):
                if isinstance(array, cupy.ndarray):
                    raise CheckFailed(
                        f"with CuPy loaded and X in main memory, {name} is on the device; it must be where "
                        "X is"
                    )
            layer, X_there, dY_there = make(cupy.asarray), cupy.asarray(X_small), cupy.asarray(dY_small)
            cupy.transfers.clear()
            Y_there, backward = expect_several(layer(X_there), "Y", "backward")
            _live_there("Y", Y_there, cupy)
            _expect_transfers(cupy, most, "there, a call")
            cupy.transfers.clear()
            dX_there = backward(dY_there)
            _expect_transfers(cupy, 0, "there, backward")
            _live_there("dX", dX_there, cupy)
            for name, value, truth in (("Y", Y_there, Y), ("dX", dX_there, dX)):
                expect_values(f"there {name}", value.get(), truth, source="and here it is")


# 1. honest times

stopwatch = Exercise(
    "21_gpu.stopwatch",
    title="The stopwatch",
    points=2,
    kind="predict",
    minutes=6,
    hints=(
        "Draw two timelines, Python above the device, as in the chapter's figure.",
        "Python is free again after 5, 10, 15 and 20 µs, whatever the device does. The device starts the "
        "first call at 5 and is done with it at 35; by then all others are waiting.",
        "For the third number: the second call is done at 37. Only then does Python hand over the third, "
        "which takes 5 µs, and behind it the fourth; the third is done before the fourth arrives.",
    ),
)


def _all_done(works, launch, wait_after=None):
    """Return when Python has handed over all calls, and when the device is done with the last."""
    now = free = 0
    for number, work in enumerate(works, start=1):
        now += launch
        free = max(now, free) + work
        now = free if number == wait_after else now
    return now, free


RETURNS = "A call returns before it is done: the watch sees only the handing over"
MINIATURE = "That is the answer of the chapter's small example, with two calls"
TIMES = {
    "what the stopwatch shows": {79: RETURNS, 74: RETURNS, 5: "There are four calls, 5 each", 10: MINIATURE},
    "when all is done": {
        20: "That is when all are handed over; the device still works",
        74: "The device cannot begin before the first call is handed over, which takes 5",
        94: "Handing over goes on while the device works: only the first one is waited for",
        35: MINIATURE,
    },
    "when all is done with the wait": {
        79: "While Python waits it hands nothing over; the third call has to be handed over after 37",
        82: "The fourth call is handed over too, after the third, and cannot begin before 47",
        84: "The fourth call is handed over after the third, at 47, and cannot begin before",
        94: "Python waits once, after the second call; the fourth is handed over right after the third",
        40: MINIATURE,
    },
}


@stopwatch.check
def _(answer, rng):
    works, launch = (30, 2, 2, 40), 5
    times = *_all_done(works, launch), _all_done(works, launch, wait_after=2)[1]
    expect_guesses(answer(), dict(zip(TIMES, times, strict=True)), TIMES)
    return "compared with a simulation, call by call"


# 2. hidden transfers

share_right = Exercise(
    "21_gpu.share_right",
    title="A transfer for each example",
    points=2,
    kind="repair",
    minutes=10,
    remote=False,  # it counts the transfers of the stand-in, in the process where the answer runs
    hints=(
        "An `if` needs True or False here: one wait for each example. Compare whole batches instead, and add "
        "up what is True. And `model.predict` checks in each call whether X is finite; where is that?",
        "`(Y.argmax(axis=1) == T_batch).sum()` is an array without axes that stays there, and such arrays "
        "can be added up. Make a float of the sum once, at the end.",
        "Call the model itself, `Y, _ = model(...)`, in place of `model.predict`, which looks at X in each "
        "call; and keep the count as an array until the end.",
    ),
)


def _share_by_loop(model, X, T):
    """Return the share of right rows, computed in main memory, row by row."""
    Y, _ = model(X)
    return sum(int(np.argmax(row) == label) for row, label in zip(Y, T, strict=True)) / len(X)


def _sized(rng):
    """Return a model, a list of its batch sizes, X, and T with some right answers."""
    sizes = []

    def watch(X):
        sizes.append(len(X))
        return X, lambda dY: dY

    model = Sequential(watch, Linear(N_IN, N_OUT, rng=rng))
    X = rng.normal(size=(EXAMPLES, N_IN))
    T = model(X)[0].argmax(axis=1)
    T[rng.permutation(EXAMPLES)[:4]] += 1  # four are wrong, at least one of them in the short last batch
    T[-1] += N_OUT
    return model, sizes, X, T % (2 * N_OUT)


@share_right.check
def _(answer, rng):
    model, sizes, X, T = _sized(rng)
    truth = _share_by_loop(model, X, T)
    sizes.clear()
    with untouched(X=X, T=T):
        found = answer(model, X, T, SIZE)
    expect_values("the share, here,", found, truth)
    if max(sizes, default=0) > SIZE:
        raise CheckFailed(f"the model is given {max(sizes)} rows at a time; the most is {SIZE}")
    here = truth
    while truth == here:  # other numbers there, of which what was found here is not the share
        model, _, X, T = _sized(rng)
        truth = _share_by_loop(model, X, T)
    with stand_in() as cupy:
        to_device(model, "gpu")
        X_there, T_there = cupy.asarray(X), cupy.asarray(T)
        cupy.transfers.clear()
        model.predict(X_there)
        finite = " (in `model.predict`, which asks whether X is finite: call the model itself)"
        origins = {one.line: finite for one in cupy.transfers}
        cupy.transfers.clear()
        found = answer(model, X_there, T_there, SIZE)
        _expect_transfers(cupy, 1, f"there, {EXAMPLES} examples in batches of {SIZE}: it", origins)
        if isinstance(found, cupy.ndarray):
            raise CheckFailed("its result is still on the device: make a float of it, once, at the end")
        expect_values("the share, there,", found, truth)
    return "here and there, with a short last batch, and its transfers counted"


@share_right.probe
def _(answer, rng):
    model, _, X, T = _sized(rng)
    return answer(model, X, T, SIZE)


def _shares(model, X, T, batch_size, count):
    """Add up `count` of each batch's outputs."""
    right = 0
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        right = right + count(model(X[rows])[0].argmax(axis=1) == T[rows])
    return float(right) / len(X)


@share_right.mistake("A float for each batch is a wait for each batch.")
def a_float_for_each_batch(model, X, T, batch_size):
    return _shares(model, X, T, batch_size, lambda right: float(right.sum()))


@share_right.mistake("With `to_numpy` all answers of a batch come back; add up where they are.")
def brings_answers_back(model, X, T, batch_size):
    return _shares(model, X, T, batch_size, lambda right: to_numpy(right).sum())


@share_right.mistake("A mean of the batches' means gives the short last batch too much weight.")
def mean_of_means(model, X, T, batch_size):
    means = []
    for start in range(0, len(X), batch_size):
        Y, _ = model(X[start : start + batch_size])
        means.append((Y.argmax(axis=1) == T[start : start + batch_size]).mean())
    return float(sum(means) / len(means))


@share_right.mistake("A count that NumPy makes from a shape is in main memory: start with the number 0.")
def counts_here(model, X, T, batch_size):
    right = np.zeros(())
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        right += (model(X[rows])[0].argmax(axis=1) == T[rows]).sum()
    return float(right) / len(X)


@share_right.mistake("The last batch, which is short, was left out.")
def last_batch_left_out(model, X, T, batch_size):
    right = 0
    for start in range(0, len(X) - batch_size + 1, batch_size):
        rows = slice(start, start + batch_size)
        right = right + (model(X[rows])[0].argmax(axis=1) == T[rows]).sum()
    return float(right) / len(X)


# 3. the arrays decide

library_of = Exercise(
    "21_gpu.library_of",
    title="Any kind of array",
    points=3,
    kind="fill",
    minutes=8,
    remote=False,  # it counts the transfers of the stand-in, in the process where the answer runs
    hints=(
        'Collect the names of the libraries in a set; `hasattr(array, "shape")` tells arrays from numbers.',
        'The first word: `type(array).__module__.split(".")[0]`. Take `"numpy"` out of the set. What do no '
        "name, one name and two names mean?",
        "No name: `np`. One name: `sys.modules[name]`. Two: `raise TypeError(...)`, with both names in the "
        "text.",
    ),
)


def _array_of(module):
    """Return an array of a library that exists only in this check."""
    return type("Array", (), {"__module__": module, "shape": (2, 3)})()


@library_of.check
def _(answer, rng):
    modules = {name: SimpleNamespace(__name__=name) for name in ("toy", "toy.core", "numpylike", "brick")}
    here, toy, brick = np.ones((5, 3)), _array_of("toy.core"), _array_of("brick")
    alike, plain = _array_of("numpylike.arrays"), _array_of("toy")
    cases = {
        "no argument": ((), np),
        "two arrays of NumPy": ((here, np.ones(3)), np),
        "numbers and a list": ((1.0, 2, [3.0]), np),
        "an array of toy, whose type comes from toy.core": ((toy,), modules["toy"]),
        "an array of toy, whose type comes from toy": ((plain,), modules["toy"]),
        "an array of toy after one of NumPy and a number": ((here, 2.0, toy), modules["toy"]),
        "an array of toy before one of NumPy": ((toy, here), modules["toy"]),
        "two arrays of toy": ((toy, plain), modules["toy"]),
        "an array of numpylike": ((alike,), modules["numpylike"]),
        "an array of brick and a NumPy number": ((np.float64(1.0), brick), modules["brick"]),
    }
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        for case, (arrays, module) in cases.items():
            _expect_module(case, answer, arrays, module)
        for arrays in ((toy, brick), (brick, here, toy)):
            _expect_refusal(answer, arrays)
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            if module is not None:
                sys.modules[name] = module
    return "ten mixtures, and two that must be refused"


def _expect_module(case, answer, arrays, module):
    """Require the right module, without an error."""
    try:
        found = answer(*arrays)
    except TypeError as error:
        raise CheckFailed(
            f"for {case} it raises TypeError: {error}; only arrays of two libraries other than "
            "NumPy are refused"
        ) from error
    if found is not module:
        what = getattr(found, "__name__", described(found))
        raise CheckFailed(f"for {case} it returns {what}; it must return the module {module.__name__}")


def _expect_refusal(answer, arrays):
    """Require an error for a mixture of two libraries, with both names."""
    try:
        found = answer(*arrays)
    except TypeError as error:
        if "toy" in str(error) and "brick" in str(error):
            return
        raise CheckFailed(
            f"the TypeError for arrays of toy and brick must name both, and says {str(error)!r}"
        ) from error
    except Exception as error:
        raise CheckFailed(
            f"for arrays of toy and brick it raises {type(error).__name__}; it must be a TypeError"
        ) from error
    what = getattr(found, "__name__", described(found))
    raise CheckFailed(f"for arrays of toy and brick it returns {what}; it must raise a TypeError")


def libraries(arrays, name, counts, is_numpy):
    """Return the module that these rules find, without refusing anything."""
    names = [name(type(array).__module__) for array in arrays if counts(array)]
    others = [name for name in names if not is_numpy(name)]
    return sys.modules[others[0]] if others else np


def first_word(module):
    return module.split(".")[0]


def has_shape(array):
    return hasattr(array, "shape")


@library_of.mistake("A library is the first word: for toy.core it is toy.")
def whole_name(*arrays):
    return libraries(arrays, lambda module: module, has_shape, lambda name: name == "numpy")


@library_of.mistake("The name of another library may begin with numpy: compare the whole first word.")
def begins_with_numpy(*arrays):
    return libraries(arrays, first_word, has_shape, lambda name: name.startswith("numpy"))


@library_of.mistake("Numbers and lists are not arrays: they have no shape, and do not count.")
def numbers_count(*arrays):
    return libraries(arrays, first_word, lambda array: True, lambda name: name == "numpy")


@library_of.mistake("This uses CuPy's name, as `array_module` does; any library should work.")
def knows_cupy_only(*arrays):
    return array_module(*arrays)


@library_of.mistake("You look only at the first argument; any of them may decide.")
def asks_the_first(*arrays):
    return libraries(arrays[:1], first_word, has_shape, lambda name: name == "numpy")


# 4. drawn on one device, used on the other

drop_columns = Exercise(
    "21_gpu.drop_columns",
    title="Columns that are switched off",
    points=3,
    kind="fill",
    minutes=12,
    remote=False,  # it counts the transfers of the stand-in, in the process where the answer runs
    hints=(
        "Look at `noise` in the chapter: draw in the call, send with `array_module(X).asarray`, use there.",
        "What `rng.random(X.shape[1])` draws, compared with the rate, is one True or False for each column; "
        "divided by 1 - rate it is the row that X is multiplied by. `backward` uses the same row.",
        "`mask = array_module(X).asarray(..., dtype=X.dtype)`, then `return X * mask, lambda dY: ...`, all "
        "inside the function that is the layer.",
    ),
)


class Ties(np.random.Generator):
    """A generator whose `random` often draws the rate or the number just below it, and counts its draws."""

    def __init__(self, seed, rate):
        super().__init__(np.random.PCG64(seed))
        self.often, self.sizes = [rate, np.nextafter(rate, 0)], []

    def random(self, *args, **settings):
        """Return a quarter of each of the two, and other numbers from 0 to 1."""
        drawn = np.asarray(super().random(*args, **settings))
        self.sizes.append(drawn.size)
        return np.select([drawn < 0.25, drawn < 0.5], self.often, 2 * drawn - 1)[()]


def _expect_draws(when, rng, truly):
    """Require that one number for each column was drawn in each call, at once."""
    if rng.sizes != truly.sizes:
        raise CheckFailed(
            f"{when}: numbers drawn so far: {sum(rng.sizes)}, calls of rng.random: {len(rng.sizes)}; one "
            f"number for each column, all in one call, makes {sum(truly.sizes)} and {len(truly.sizes)}"
        )


def _expect_product(when, name, value, X, row, slips):  # noqa: PLR0913  what is compared, and its slips
    """Require X times a row of float64, to all its digits; slips are pairs of a sentence and another row."""
    with explained({name: value}, {name: [(sentence, X * other) for sentence, other in slips]}):
        expect_values(f"{when}: {name}", value, X * row)
    if not np.allclose(value, X * row, rtol=1e-12, atol=0):
        raise CheckFailed(
            f"{when}: {name} is right to about 8 digits only, those of float32; X is float64, so "
            "the row must be, too"
        )


@drop_columns.check
def _(answer, rng):
    (batch,), columns = drawn_sizes(rng, BATCH), 11
    for rate, rows in ((0.5, batch), (0.35, 1), (0.0, batch)):
        seed = int(rng.integers(1000))
        X, dY = rng.uniform(1, 2, size=(2, rows, columns))  # nothing negative, so no -0 among the zeros
        X[0, ::2] = X[:, 3] = 0  # a number, or all, may be 0 in a column that is kept
        its_draws, draws = Ties(seed, rate), Ties(seed, rate)
        layer, calls = answer(rate, its_draws), []
        for number in ("first", "second"):
            when, drawn = f"rate {rate}, {number} call", draws.random(columns)
            keep = drawn >= rate
            with untouched(X=X):
                Y, backward = expect_several(layer(X), "Y", "backward")
            _expect_draws(when, its_draws, draws)
            _expect_product(when, "Y", Y, X, keep / (1 - rate), _rows(drawn, rate))
            calls.append((when, Y, backward, keep / (1 - rate)))
        latest = calls[-1][-1]
        for again, (when, Y, backward, row) in product(("backward", "backward again"), calls):
            expect_values(f"{when}, looked at later: Y", Y, X * row, "it was")
            with untouched(dY=dY):
                dX = backward(dY)
            _expect_draws(f"{when}, {again}", its_draws, draws)
            _expect_product(f"{when}, {again}", "dX", dX, dY, row, _rows_back(X, row, latest))
    _expect_the_same_there(lambda send: answer(0.5, np.random.default_rng(seed)), X, dY, most=1)
    return "three rates, two calls each, here and there, with float32, and transfers counted"


def _rows(drawn, rate):
    """Return sentences with likely wrong rows for X."""
    keep, about = drawn >= rate, np.isclose(drawn, rate)
    return (
        (
            "Only numbers *below* the rate switch a column off: one that equals it does not.",
            (drawn > rate) / (1 - rate),
        ),
        (
            "A number just below the rate switches a column off: compare the numbers as they are.",
            (keep | about) / (1 - rate),
        ),
        ("Numbers *below* the rate switch a column off; you keep those columns.", ~keep / (1 - rate)),
        ("The kept columns stay as they are in X: divide them by 1 - rate.", keep),
        ("You divide by the rate; divide by 1 - rate, the share that stays.", keep / (rate or np.inf)),
        ("You divide by the share that this draw keeps; divide by 1 - rate.", keep / max(keep.mean(), 0.01)),
    )


def _rows_back(X, row, latest):
    """Return sentences with likely wrong rows for dY."""
    zero = "A 0 in Y may be a 0 of X: use the drawn numbers to decide which columns are kept."
    return (
        ("All of dY passes: multiply it by the row that X was multiplied by.", 1),
        ("The kept columns of dY stay as they are; divide them by 1 - rate, too.", row > 0),
        ("You divide twice by 1 - rate.", row * row),
        (zero, row * (X != 0)),
        (zero, row * (X != 0).any(axis=0)),
        (
            "The row of the latest call is used: let `backward` keep that of its own call in a variable.",
            latest,
        ),
    )


def sent(row, X):
    """Return a row drawn in main memory, on X's device and in X's dtype."""
    return array_module(X).asarray(row, dtype=X.dtype)


def dropping(rate, rng, row=None, send=sent, back=lambda dY, X, mask: dY * mask):
    """Return a layer that switches columns off, with one change."""
    row = row or (lambda X: (rng.random(X.shape[1]) >= rate) / (1 - rate))

    def layer(X):
        mask = send(row(X), X)
        return X * mask, lambda dY: back(dY, X, mask)

    return layer


@drop_columns.mistake("These are as many numbers as rows; a number for each column makes `X.shape[1]`.")
def one_for_each_row(rate, rng):
    return dropping(rate, rng, row=lambda X: (rng.random(len(X)) >= rate) / (1 - rate))


@drop_columns.mistake("The row is still here when it meets X: send it with `array_module(X).asarray`.")
def never_sent(rate, rng):
    return dropping(rate, rng, send=lambda row, X: row.astype(X.dtype))


# 5. scatter-add

pick = Exercise(
    "21_gpu.pick",
    title="Picked rows",
    points=3,
    kind="fill",
    minutes=10,
    remote=False,  # it counts the transfers of the stand-in, in the process where the answer runs
    hints=(
        "A row that is picked twice gets two parts of the gradient, and they add up. A row that is never "
        "picked gets 0.",
        "Start with zeros on X's device, `np.zeros_like(X)`, and add each row of dY where it "
        "belongs: which function of NumPy does not lose repeats?",
        "`np.add.at` takes the array that is changed, the numbers of the rows, and what is added to them; it "
        "changes its first argument in place, and returns nothing.",
    ),
)


@pick.check
def _(answer, rng):
    (n_in,) = drawn_sizes(rng, N_IN)
    X, several = rng.normal(size=(N_OUT, n_in)), rng.integers(N_OUT, size=rng.integers(6, 12))
    for ids in (np.array([2, 0, 2, 6, 2]), rng.permutation(N_OUT)[:BATCH], np.zeros(BATCH, int), several):
        dY = rng.normal(size=(len(ids), n_in))
        with untouched(ids=ids):
            expect_layer(answer(ids), lambda X, ids=ids: X[ids], dY, case=f"ids {ids.tolist()}: ", X=X)
    ids = np.array([2, 0, 2, 6, 2])
    _expect_the_same_there(lambda send: answer(send(ids)), X, rng.normal(size=(BATCH, n_in)))
    return "ids with and without repeats, compared with nudging, here and there, and nothing moved"


@pick.probe
def _(answer, rng):
    X, ids = rng.normal(size=(N_OUT, N_IN)), np.array([2, 0, 2])
    _, backward = answer(ids)(X)
    return np.array(backward(np.arange(9.0).reshape(3, 3) + 1))


WRITTEN_ONCE = "Assigning to `dX[ids]` writes each row once: of repeated ids only the last share is kept."


@pick.mistake(WRITTEN_ONCE)
def in_place_by_index(ids):
    def layer(X):
        def backward(dY):
            dX = np.zeros_like(X)
            dX[ids] += dY
            return dX

        return X[ids], backward

    return layer


@pick.mistake(WRITTEN_ONCE)
def assigned_by_index(ids):
    def layer(X):
        def backward(dY):
            dX = np.zeros_like(X)
            dX[ids] = dY
            return dX

        return X[ids], backward

    return layer


@pick.mistake("Each number that you take out of `ids` with int is a transfer; use one function for all rows.")
def a_loop_over_the_rows(ids):
    def layer(X):
        def backward(dY):
            dX = np.zeros_like(X)
            for i in range(len(ids)):
                dX[int(ids[i])] += dY[i]
            return dX

        return X[ids], backward

    return layer


@pick.mistake(
    "In the backward pass, row i of dY belongs to row ids[i] of dX: `dY[ids]` picks rows of dY instead."
)
def picks_rows_of_dY(ids):
    return lambda X: (X[ids], lambda dY: dY[ids])


@pick.mistake("The zeros have dY's rows; dX has a row for each row of X: make them like X.")
def zeros_like_dY(ids):
    def layer(X):
        def backward(dY):
            dX = np.zeros_like(dY)
            np.add.at(dX, ids, dY)
            return dX

        return X[ids], backward

    return layer


@pick.mistake("An array that NumPy makes from a shape or a number is in main memory: make it where X is.")
def zeros_from_a_shape(ids):
    def layer(X):
        def backward(dY):
            dX = np.zeros(X.shape, dtype=X.dtype)
            np.add.at(dX, ids, dY)
            return dX

        return X[ids], backward

    return layer


# 6. a leak

with_ones = Exercise(
    "21_gpu.with_ones",
    title="A column of ones",
    points=2,
    kind="repair",
    minutes=5,
    remote=False,  # it counts the transfers of the stand-in, in the process where the answer runs
    hints=(
        "`np.ones` gets a shape, and a shape is on no device. Which similar function takes an array?",
        "`np.ones_like` makes ones on its argument's device, of its shape and dtype. Which part of "
        "X has the shape of the column?",
        "The first column of X, with its axis kept, is `X[:, :1]`, of shape (batch, 1).",
    ),
)


@with_ones.check
def _(answer, rng):
    rows, narrow, wide = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for batch, n_in in ((rows, narrow), (1, wide)):
        X, dY = rng.normal(size=(batch, n_in)), rng.normal(size=(batch, n_in + 1))
        X[0, [0, -1]] = 0
        with untouched(X=X, dY=dY):
            Y, backward = expect_several(answer(X), "Y", "backward")
            expect_values("Y", Y, np.column_stack([X, np.ones(batch)]))
            expect_values("dX", backward(dY), dY[:, :-1])
        _expect_the_same_there(lambda send: answer, X, dY)
    return "two shapes and two dtypes, here and there, and nothing moved"


@with_ones.probe
def _(answer, rng):
    X = rng.normal(size=(BATCH, N_IN))
    with stand_in() as cupy:
        X_there = cupy.asarray(X)
        cupy.transfers.clear()
        Y = answer(X_there)[0]
        return answer(X)[0], isinstance(Y, cupy.ndarray), len(cupy.transfers)


@with_ones.mistake("The column of `np.ones` is made here: make one that is like a column of X.")
def ones_from_a_shape(X):
    ones = np.ones((len(X), 1), dtype=X.dtype)
    return np.concatenate([X, ones], axis=1), lambda dY: dY[:, :-1]


@with_ones.mistake("Ones that are made here and sent cost a transfer in each call; make them on the device.")
def sent_over(X):
    ones = array_module(X).asarray(np.ones((len(X), 1)), dtype=X.dtype)
    return np.concatenate([X, ones], axis=1), lambda dY: dY[:, :-1]


@with_ones.mistake("That column is as long as X is wide: it needs a 1 for each row, like `X[:, :1]`.")
def as_long_as_a_row(X):
    return np.concatenate([X, np.ones_like(X[0])[:, None]], axis=1), lambda dY: dY[:, :-1]


@with_ones.mistake("Only one column of ones is wanted: like `X[:, :1]`, not like X.")
def too_many_ones(X):
    return np.concatenate([X, np.ones_like(X)], axis=1), lambda dY: dY[:, : X.shape[1]]


@with_ones.mistake("The ones are in front of X; they belong after its last column.")
def ones_in_front(X):
    return np.concatenate([np.ones_like(X[:, :1]), X], axis=1), lambda dY: dY[:, 1:]
