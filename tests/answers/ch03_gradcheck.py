"""Answers to the exercises of chapter 03: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch03_gradcheck import (
    SENTENCES,
    fooling_backward,
    name_the_bugs,
    softmax_on_paper,
    truly,
    who_changed,
    worst_entry,
    worst_place,
    wrong_backward,
)
from tests.answers import refused, right

# 1. relative errors, and where the largest stands


@right(worst_entry)
def entry_by_entry(found, expected):
    places = list(np.ndindex(found.shape))
    sizes = [abs(x[place]) for x in (found, expected) for place in places if not np.isnan(x[place])]
    floor, worst = 0.01 * max(sizes), (places[0], 0.0)
    for place in places:
        size = max(abs(found[place]), abs(expected[place]), floor)
        error = abs(found[place] - expected[place]) / size if size else 0.0
        error = np.inf if np.isnan(found[place]) else error
        worst = (place, error) if error > worst[1] else worst
    return worst


@right(worst_entry)
def with_nan_replaced(found, expected):
    known = np.where(np.isnan(found), expected, found)
    sizes = np.maximum(np.abs(known), np.abs(expected))
    divisor = np.maximum(sizes, sizes.max() / 100)
    errors = np.divide(np.abs(known - expected), divisor, out=np.zeros_like(divisor), where=divisor > 0)
    errors[np.isnan(found)] = np.inf
    flat = int(errors.argmax())
    return np.unravel_index(flat, found.shape), float(errors.flat[flat])


@refused(worst_entry, "one entry should be 0 and is a thousandth of the largest (so divide it by the floor)")
def without_a_floor(found, expected):
    sizes = np.maximum(np.abs(found), np.abs(expected))
    return worst_place(np.abs(found - expected) / (sizes + 1e-300))


@refused(worst_entry, "of shape (7,), where both arrays are all zero, the error is 0, but yours is nan")
def zero_by_zero(found, expected):
    sizes = np.maximum(np.abs(found), np.abs(expected))
    return worst_place(np.abs(found - expected) / np.maximum(sizes, 0.01 * sizes.max()))


@refused(worst_entry, "of shape (7,), where one entry of actual is nan, the error is inf, but yours is nan")
def nan_is_nan(found, expected):
    sizes = np.maximum(np.abs(found), np.abs(expected))
    return worst_place(np.abs(found - expected) / np.maximum(sizes, 0.01 * sizes.max() + 1e-300))


@refused(worst_entry, "for arrays of shape (2,), where the floor is 1e-100, the error is 0.99")
def a_floor_that_is_never_tiny(found, expected):
    known = np.where(np.isnan(found), expected, found)
    sizes = np.maximum(np.abs(known), np.abs(expected))
    errors = np.abs(known - expected) / np.maximum(sizes, max(0.01 * sizes.max(), 1e-12))
    return worst_place(np.where(np.isnan(found), np.inf, errors))


@refused(worst_entry, "for arrays of shape (3,), where every entry of actual is nan")
def nothing_left_to_compare(found, expected):
    return ((0,) * found.ndim, 1.0) if np.isnan(found).all() else with_nan_replaced(found, expected)


@refused(worst_entry, "return the place first and then the error")
def error_first(found, expected):
    return with_nan_replaced(found, expected)[::-1]


@refused(worst_entry, "place must be a tuple")
def one_number_for_the_place(found, expected):
    sizes = np.maximum(np.abs(found), np.abs(expected))
    errors = np.abs(found - expected) / np.maximum(sizes, 0.01 * sizes.max() + 1e-300)
    return int(errors.argmax()), errors.max()


def _changed(change):
    """Return a worst_entry whose right place and error are changed."""
    return lambda found, expected: change(*with_nan_replaced(found, expected))


right(worst_entry)(_changed(lambda place, error: [tuple(map(int, place)), np.array(error)]))
refused(worst_entry, "place must be a tuple of whole numbers")(
    _changed(lambda place, error: (tuple(map(np.atleast_1d, place)), error))
)
refused(worst_entry, "place must be a tuple of whole numbers")(
    _changed(lambda place, error: (tuple(map(float, place)), error))
)
refused(worst_entry, "error must be numbers, but is a str")(
    _changed(lambda place, error: (place, f"{error:.3f}"))
)
refused(worst_entry, "where the sign of one entry is flipped, the error is 2, but yours is 1")(
    _changed(lambda place, error: (place, min(error, 1.0)))
)


# 2. what all ones see of softmax


right(softmax_on_paper)(lambda: (0, 0, 0.75, 1))


right(softmax_on_paper)(lambda: [0.5 * (1 - 1), 0.5 * (1 - 3 / 3), 0.5 * (4 - 2.5), 0.5 * (4 - 6 / 3)])


# 3. wrong, and right for ones


@right(wrong_backward)
def with_a_shift(X, dY):
    return 2 * X * np.roll(dY, 1, axis=0)


@right(wrong_backward)
def with_a_mean_over_the_batch(X, dY):
    return 2 * X * dY.mean(axis=0)


@right(wrong_backward)
def from_the_other_end(X, dY):
    return 2 * X * dY[::-1, ::-1]


@refused(wrong_backward, "for twice the dY it does not return twice the dX")
def dY_ignored(X, dY):
    return 2 * X


@refused(wrong_backward, "for twice the dY it does not return twice the dX")
def dY_squared(X, dY):
    return 2 * X * dY * dY


@refused(wrong_backward, "a check with ones catches yours")
def without_the_two(X, dY):
    return X * dY


@refused(wrong_backward, "for the sum of two dY it does not return the sum")
def with_the_largest(X, dY):
    return 2 * X * np.abs(dY).max() * np.sign(dY.sum())


# 4. eight broken gradients


right(name_the_bugs)(lambda: truly())


right(name_the_bugs)(lambda: dict(reversed(truly().items())))


# 5. which method has changed which array


@right(who_changed)
def with_three_copies(layer, X, dY):
    for_forward, for_backward, lent = X.copy(), X.copy(), dY.copy()
    layer.forward(for_forward)
    layer.backward(for_backward, lent)
    pairs = (for_forward, X), (for_backward, X), (lent, dY)
    words = "forward changed X", "backward changed X", "backward changed dY"
    return [word for word, (now, before) in zip(words, pairs, strict=True) if np.any(now != before)]


@right(who_changed)
def with_bytes(layer, X, dY):
    X1, X2, dY1 = np.array(X), np.array(X), np.array(dY)
    layer.forward(X1)
    layer.backward(X2, dY1)
    report = ["forward changed X"] if X1.tobytes() != X.tobytes() else []
    report += ["backward changed X"] if X2.tobytes() != X.tobytes() else []
    return report + (["backward changed dY"] if dY1.tobytes() != dY.tobytes() else [])


@refused(who_changed, "it changes X, which belongs to its caller")
def without_copies(layer, X, dY):
    before_X, before_dY = X.copy(), dY.copy()
    layer.forward(X)
    found = ["forward changed X"] if np.any(X != before_X) else []
    layer.backward(X, dY)
    return found + (["backward changed dY"] if np.any(dY != before_dY) else [])


@refused(who_changed, "backward got the X that forward had changed")
def with_the_changed_X(layer, X, dY):
    lent_X, lent_dY = X.copy(), dY.copy()
    layer.forward(lent_X)
    after_forward = lent_X.copy()
    layer.backward(lent_X, lent_dY)
    pairs = (after_forward, X), (lent_X, after_forward), (lent_dY, dY)
    return [word for word, (now, old) in zip(SENTENCES, pairs, strict=True) if np.any(now != old)]


@refused(who_changed, "the true answer is ['backward changed X'], but yours is []")
def only_upwards(layer, X, dY):
    return compared_by(*(lambda now, before: not np.any(now > before),) * 2, layer, X, dY)


LAST_DIGIT = "a change of the last digit counts, too; compare with np.array_equal"


def compared_by(after_forward, after_backward, layer, X, dY):
    """Answer as asked for, but with these two comparisons."""
    for_forward, for_backward, lent = X.copy(), X.copy(), dY.copy()
    layer.forward(for_forward)
    layer.backward(for_backward, lent)
    same = after_forward(for_forward, X), after_backward(for_backward, X), after_backward(lent, dY)
    return [word for word, alike in zip(SENTENCES, same, strict=True) if not alike]


@refused(who_changed, LAST_DIGIT)
def forgiving(layer, X, dY):
    return compared_by(np.allclose, np.allclose, layer, X, dY)


@refused(who_changed, LAST_DIGIT)
def forgiving_after_forward(layer, X, dY):
    return compared_by(np.allclose, np.array_equal, layer, X, dY)


@refused(who_changed, LAST_DIGIT)
def forgiving_after_backward(layer, X, dY):
    return compared_by(np.array_equal, np.allclose, layer, X, dY)


@refused(who_changed, LAST_DIGIT)
def forgiving_without_a_fresh_copy(layer, X, dY):
    lent_X, lent_dY = X.copy(), dY.copy()
    layer.forward(lent_X)
    changed = [] if np.allclose(lent_X, X) else [SENTENCES[0]]
    layer.backward(lent_X, lent_dY)
    pairs = (lent_X, X), (lent_dY, dY)
    return changed + [word for word, pair in zip(SENTENCES[1:], pairs, strict=True) if not np.allclose(*pair)]


# 6. two sloppy checkers, fooled at once


@right(fooling_backward)
def with_the_last_entry(X, dY):
    dX = 3 * X**2 * dY
    dX[-1, -1] *= 1.001
    return dX


@right(fooling_backward)
def with_factors(X, dY):
    factors = np.full(X.shape, 0.995)
    factors[0, 0] = 1
    return 3 * factors * X * X * dY


@refused(fooling_backward, "looks_at_one_entry refuses yours")
def everywhere(X, dY):
    return 3 * X**2 * dY * 1.001


@refused(fooling_backward, "allows_one_percent refuses it")
def too_bold(X, dY):
    dX = 3 * X**2 * dY
    dX[-1, -1] *= 1.1
    return dX


@refused(fooling_backward, "no relative error reaches 0.001; the largest is")
def too_timid(X, dY):
    dX = 3 * X**2 * dY
    dX[-1, -1] *= 1.0001
    return dX
