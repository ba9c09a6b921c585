"""Answers to the exercises of chapter 21: right ones, and those that a check refuses in its own words."""

import sys

import numpy as np

from course.checks.ch21_gpu import (
    TIMES,
    drop_columns,
    dropping,
    first_word,
    has_shape,
    libraries,
    library_of,
    pick,
    sent,
    share_right,
    stopwatch,
    with_ones,
)
from minigrad.backend import array_module, to_numpy
from tests.answers import refused, right

# 1. honest times


@right(stopwatch)
def step_by_step():
    first = 5 + 30
    second = first + 2
    return np.array([4 * 5, second + 2 + 40, second + 5 + 5 + 40])


right(stopwatch)(lambda: [20.0, 5 + 30 + 2 + 2 + 40, 79 + 8])


def _guess(place, number):
    """Return an answer in which one of the times is another, for the mistakes."""
    return lambda: [number if here == place else truth for here, truth in enumerate((20, 79, 87))]


for _place, _slips in enumerate(TIMES.values()):
    for _number, _words in _slips.items():
        refused(stopwatch, _words)(_guess(_place, _number))


# 2. hidden transfers


@right(share_right)
def answers_kept_in_a_list(model, X, T, batch_size):
    right = []
    for start in range(0, len(X), batch_size):
        Y, _ = model(X[start : start + batch_size])
        right.append(Y.argmax(axis=1) == T[start : start + batch_size])
    return float(np.concatenate(right).mean())


@right(share_right)
def predictions_first(model, X, T, batch_size):
    labels = np.zeros_like(T)
    for start in range(0, len(X), batch_size):
        labels[start : start + batch_size] = model(X[start : start + batch_size])[0].argmax(axis=1)
    return (labels == T).mean().item()


@refused(share_right, "3 in `if wrong.any():` (in `model.predict`, which asks whether X is finite")
def with_predict(model, X, T, batch_size):
    right = 0
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        right = right + (model.predict(X[rows]).argmax(axis=1) == T[rows]).sum()
    return float(right) / len(X)


@refused(share_right, "the model is given 13 rows at a time")
def all_at_once(model, X, T, batch_size):
    return float((model(X)[0].argmax(axis=1) == T).mean())


@refused(share_right, "its result is still on the device: make a float of it")
def stays_there(model, X, T, batch_size):
    right = 0
    for start in range(0, len(X), batch_size):
        Y, _ = model(X[start : start + batch_size])
        right = right + (Y.argmax(axis=1) == T[start : start + batch_size]).sum()
    return right / len(X)


# 3. the arrays decide


@right(library_of)
def with_a_loop(*arrays):
    found = None
    for array in arrays:
        name = type(array).__module__.partition(".")[0]
        if not hasattr(array, "shape") or name == "numpy":
            continue
        if found not in (None, name):
            raise TypeError(f"cannot mix {found} with {name}")
        found = name
    return sys.modules[found or "numpy"]


@right(library_of)
def with_a_list(*arrays):
    names = [
        type(array).__module__.split(".", 1)[0]
        for array in arrays
        if getattr(array, "shape", None) is not None
    ]
    names = [name for name in names if name != "numpy"] or ["numpy"]
    if any(name != names[0] for name in names):
        raise TypeError("two libraries: " + ", ".join(names))
    return sys.modules[names[0]]


@refused(library_of, "it must raise a TypeError")
def refuses_nothing(*arrays):
    return libraries(arrays, first_word, has_shape, lambda name: name == "numpy")


@refused(library_of, "for arrays of toy and brick it raises ValueError; it must be a TypeError")
def with_a_value_error(*arrays):
    names = {first_word(type(array).__module__) for array in arrays if has_shape(array)} - {"numpy"}
    if len(names) > 1:
        raise ValueError(f"arrays of {' and '.join(sorted(names))}")
    return sys.modules[names.pop()] if names else np


@refused(library_of, "only arrays of two libraries other than NumPy are refused")
def refuses_numpy_too(*arrays):
    names = {first_word(type(array).__module__) for array in arrays if has_shape(array)}
    if len(names) > 1:
        raise TypeError(f"arrays of {' and '.join(sorted(names))}")
    return sys.modules[names.pop()] if names else np


@refused(library_of, "the TypeError for arrays of toy and brick must name both")
def names_nobody(*arrays):
    names = {first_word(type(array).__module__) for array in arrays if has_shape(array)} - {"numpy"}
    if len(names) > 1:
        raise TypeError("cannot mix")
    return sys.modules[names.pop()] if names else np


# 4. drawn here, used there


@right(drop_columns)
def with_where(rate, rng):
    def layer(X):
        xp = array_module(X)
        drawn = xp.asarray(rng.random(X.shape[-1]), dtype=float)

        def switch(A):
            return xp.where(drawn < rate, xp.zeros_like(A), A / (1 - rate))

        return switch(X), switch

    return layer


@right(drop_columns)
def in_a_class(rate, rng):
    class Layer:
        def __call__(self, X):
            scale = np.zeros(X.shape[1], dtype=X.dtype)
            scale[rng.random(X.shape[1]) >= rate] = 1 / (1 - rate)
            scale = array_module(X).array(scale)
            return scale * X, lambda dY: scale * dY

    return Layer()


@refused(
    drop_columns, "numbers drawn so far: 11, calls of rng.random: 11; one number for each column, all in one"
)
def one_call_a_column(rate, rng):
    return dropping(rate, rng, row=lambda X: np.array([rng.random() >= rate for _ in X[0]]) / (1 - rate))


@refused(drop_columns, "numbers drawn so far: 0, calls of rng.random: 0")
def no_draw_without_a_rate(rate, rng):
    return dropping(rate, rng) if rate else lambda X: (X, lambda dY: dY)


@refused(drop_columns, "with CuPy loaded and X in main memory, Y is on the device")
def there_wherever_it_is_loaded(rate, rng):
    def layer(X):
        xp = sys.modules.get("cupy", np)
        mask = xp.asarray((rng.random(X.shape[1]) >= rate) / (1 - rate), dtype=X.dtype)
        X = X if array_module(X) is xp else xp.asarray(X)
        return X * mask, lambda dY: (dY if array_module(dY) is xp else xp.asarray(dY)) * mask

    return layer


@refused(drop_columns, "it changes dY, which belongs to its caller")
def on_dY_itself(rate, rng):
    def layer(X):
        row = array_module(X).asarray((rng.random(X.shape[1]) >= rate) / (1 - rate), dtype=X.dtype)

        def backward(dY):
            dY *= row
            return dY

        return X * row, backward

    return layer


@refused(drop_columns, "Y is float64 for X of float32")
def forgets_the_dtype(rate, rng):
    return dropping(rate, rng, send=lambda row, X: array_module(X).asarray(row))


def _row_of(kept, divisor=lambda rate, keep: 1 - rate, size=lambda X: X.shape[1]):
    """Return an answer with this rule for the columns that are kept, and this divisor."""

    def answer(rate, rng):
        def row(X):
            keep = kept(rng.random(size(X)), rate)
            return keep / divisor(rate, keep)

        return dropping(rate, rng, row=row)

    return answer


@right(drop_columns)
def by_a_list(rate, rng):
    def layer(X):
        row = [[0.0 if number < rate else 1 / (1 - rate) for number in rng.random(X.shape[1]).tolist()]]
        row = array_module(X).array(row, dtype=X.dtype)
        return np.multiply(X, row), row.__mul__

    return layer


for _words, _wrong in {
    "one that equals it does not": _row_of(np.greater),
    "just below the rate switches a column off: compare the numbers": _row_of(
        lambda drawn, rate: (drawn >= rate) | np.isclose(drawn, rate)
    ),
    "*below* the rate switch a column off; you keep those columns": _row_of(np.less),
    "divide them by 1 - rate": _row_of(np.greater_equal, lambda rate, keep: 1),
    "You divide by the rate": _row_of(np.greater_equal, lambda rate, keep: rate or 1),
    "the share that this draw keeps": _row_of(np.greater_equal, lambda rate, keep: max(keep.mean(), 0.01)),
    "numbers drawn so far: 55, calls of rng.random: 1": _row_of(
        np.greater_equal, size=lambda X: (len(X), X.shape[1])
    ),
}.items():
    refused(drop_columns, _words)(_wrong)
for _words, _back in {
    "All of dY passes": lambda dY, X, mask: dY * 1,
    "stay as they are; divide them by 1 - rate, too": lambda dY, X, mask: dY * (mask > 0),
    "You divide twice": lambda dY, X, mask: dY * mask * mask,
    "use the drawn numbers to decide which columns": lambda dY, X, mask: dY * mask * (X * mask != 0),
    "A 0 in Y may be a 0 of X": lambda dY, X, mask: dY * mask * (X * mask != 0).any(axis=0),
}.items():
    refused(drop_columns, _words)(lambda rate, rng, back=_back: dropping(rate, rng, back=back))


@refused(drop_columns, "is right to about 8 digits only, those of float32; X is float64")
def always_in_float32(rate, rng):
    return dropping(rate, rng, send=lambda row, X: array_module(X).asarray(row, dtype=np.float32))


@refused(drop_columns, "first call, backward: numbers drawn so far: 33, calls of rng.random: 3")
def draws_on_the_way_back(rate, rng):
    def row(X):
        return (rng.random(X.shape[1]) >= rate) / (1 - rate)

    return dropping(rate, rng, back=lambda dY, X, mask: dY * sent(row(X), X))


@refused(drop_columns, "second call: numbers drawn so far: 11, calls of rng.random: 1")
def drawn_once_for_a_width(rate, rng):
    rows = {}

    def row(X):
        if X.shape[1] not in rows:
            rows[X.shape[1]] = (rng.random(X.shape[1]) >= rate) / (1 - rate)
        return rows[X.shape[1]]

    return dropping(rate, rng, row=row)


@refused(drop_columns, "The row of the latest call is used: let `backward` keep that of its own call")
def one_row_for_all_calls(rate, rng):
    rows = {}

    def layer(X):
        rows["latest"] = sent((rng.random(X.shape[1]) >= rate) / (1 - rate), X)
        return X * rows["latest"], lambda dY: dY * rows["latest"]

    return layer


@refused(drop_columns, "rate 0.5, first call, looked at later: Y")
def one_room_for_all_calls(rate, rng):
    layer, room = dropping(rate, rng), []

    def in_a_room(X):
        Y, backward = layer(X)
        room[:] = [room[0] if room and room[0].shape == Y.shape and room[0].dtype == Y.dtype else Y]
        room[0][...] = Y
        return room[0], backward

    return in_a_room


@refused(drop_columns, "rate 0.5, first call, backward again: dX")
def multiplies_its_row_by_dY(rate, rng):
    def layer(X):
        row = sent((rng.random(X.shape[1]) >= rate) / (1 - rate), X)
        kept = [row]

        def backward(dY):
            kept[0] = kept[0] * dY
            return kept[0]

        return X * row, backward

    return layer


@refused(drop_columns, "rate 0.35, first call: Y has shape (11,)")
def squeezes(rate, rng):
    layer = dropping(rate, rng)

    def without_axes_of_1(X):
        Y, backward = layer(X)
        return np.squeeze(Y), backward

    return without_axes_of_1


# 5. scatter-add


@right(pick)
def with_a_matrix(ids):
    def layer(X):
        places = (array_module(X).arange(len(X))[:, None] == ids).astype(X.dtype)  # (rows, picks)
        return X[ids], lambda dY: places @ dY

    return layer


@right(pick)
def column_by_column(ids):
    def layer(X):
        def backward(dY):
            columns = [np.bincount(ids, weights=dY[:, i], minlength=len(X)) for i in range(X.shape[1])]
            return np.stack(columns, axis=1).astype(X.dtype)

        return X[ids], backward

    return layer


@refused(pick, "dX has shape (5, 3); it must have X's shape, (7, 3)")
def rows_of_dY(ids):
    def layer(X):
        return X[ids], lambda dY: dY

    return layer


@refused(pick, "in a second call of backward")
def zeros_made_once(ids):
    def layer(X):
        dX = np.zeros_like(X)

        def backward(dY):
            np.add.at(dX, ids, dY)
            return dX

        return X[ids], backward

    return layer


# 6. a leak


@right(with_ones)
def ones_of_the_module(X):
    ones = array_module(X).ones((len(X), 1), dtype=X.dtype)
    return np.hstack([X, ones]), lambda dY: dY[:, : dY.shape[1] - 1]


@right(with_ones)
def zeros_and_one(X):
    return np.concatenate([X, 0 * X[:, -1:] + 1], axis=-1), lambda dY: dY[:, :-1]


@refused(with_ones, "Y is float64 for X of float32")
def another_dtype(X):
    return np.concatenate([X, array_module(X).ones((len(X), 1))], axis=1), lambda dY: dY[:, :-1]


@refused(with_ones, "invalid value encountered in divide")
def divided_by_itself(X):
    return np.concatenate([X, X[:, -1:] / X[:, -1:]], axis=1), lambda dY: dY[:, :-1]


@refused(with_ones, "Y must be on the device, as X is")
def computed_here(X):
    X = to_numpy(X)
    return np.concatenate([X, np.ones_like(X[:, :1])], axis=1), lambda dY: dY[:, :-1]


@refused(with_ones, "Along axis 1 there is one too many")
def whole_dY(X):
    return np.concatenate([X, np.ones_like(X[:, :1])], axis=1), lambda dY: dY
