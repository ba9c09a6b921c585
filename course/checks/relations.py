"""What a wrong value has in common with the right one, in one sentence.

`relation` compares the two as they are, `relation_of_shapes` their shapes. `elsewhere` finds the arguments
for which a wrong value would be right. A relation is said only if every entry fits.
"""

import numpy as np

TOLERANCE = 1e-6  # relative, as in gradcheck: nudging in float64 is good to about 1e-9
NEARLY = 1e-3  # of the largest entry: a small term, or an approximation
NEAR = "It is nearly right: a small number is added somewhere, or a number has too few digits."
MOST = 3  # places along an axis that are listed


def relation(value, truth, **near):
    """Return the sentence on how a wrong value differs from the truth as a whole, or an empty str.

    Parameters
    ----------
    value, truth : array or number, of the same shape
    **near : array or number
        What the value was made from, by name: an argument.

    Returns
    -------
    str

    Examples
    --------
    >>> relation([6.0, 15.0, 24.0], [2.0, 5.0, 8.0])
    'Every entry is 3 times too large.'
    >>> relation([1.5, 3.0, 4.0, 5.0], [1.5, 2.0, 4.0, 8.0], X=np.array([1, -1, 1, -1]))
    'It is wrong exactly where X is negative.'
    """
    value, truth = np.asarray(value, dtype=float), np.asarray(truth, dtype=float)
    if not np.isfinite(truth).all():
        return ""
    size = np.abs(truth).max(initial=0.0)
    near = {name: np.asarray(array) for name, array in near.items()}
    near = {name: array for name, array in near.items() if array.dtype.kind in "iuf"}

    def same(one, other):
        return np.isclose(one, other, rtol=TOLERANCE, atol=0.01 * TOLERANCE * size)

    with np.errstate(all="ignore"):
        for hypotheses in _finite if np.isfinite(value).all() and size else _anywhere:
            if said := next(filter(None, hypotheses(value, truth, near, same)), ""):
                return said
    return ""


def _as_a_whole(value, truth, near, same):
    gap = value - truth
    if np.abs(gap).max() < NEARLY * np.abs(truth).max() and truth.size > 2:
        if np.mean(~same(value, truth)) > 0.5 and not same(gap, np.mean(gap)).all():
            yield NEAR
    if same(value, -truth).all():
        yield "The sign is flipped."
    for name, array in near.items():
        if array.shape == truth.shape and np.ptp(array) and truth.size > 2:
            by = np.mean(value - array)
            yield same(value, array).all() and f"This is {name} unchanged."
            yield same(value, array + by).all() and f"This is {name} {'+' if by > 0 else '-'} {abs(by):.4g}."
    if np.any(truth * 1e3 % 1):  # simple numbers agree by chance
        sizes = {f"the length of axis {axis} of {name}": length for name, array in near.items()
                 for axis, length in enumerate(array.shape) if length > 2}  # fmt: skip
        sizes |= {
            f"the size of {name}": array.size for name, array in near.items() if array.ndim > 1 and array.size
        }
        for name, length in sizes.items():
            for factor, words in ((length, "large"), (1 / length, "small")):
                yield (
                    same(value, factor * truth).all()
                    and f"It is {length} times too {words}: {length} is {name}."
                )
        for array in near.values():
            yield (
                array.ndim == 0
                and array
                and same(value * truth, array * array).all()
                and "A fraction is upside down."
            )
        for words, made in {
            "the squares of": truth * truth,
            "the roots of": np.sqrt(truth),
            "1 minus": 1 - truth,
            "1 divided by": 1 / truth,
            "the exponentials of": np.exp(truth),
            "the logarithms of": np.log(truth),
        }.items():
            which = "number" if truth.size == 1 else "numbers"
            yield same(value, made).all() and f"This is {words} the right {which}."


def _in_every_entry(value, truth, near, same):
    if truth.size < 3:  # so few numbers agree by chance
        return
    wrong, flipped = ~same(value, truth), same(value, -truth) & (truth != 0)
    factor, distance = np.vdot(truth, value) / np.vdot(truth, truth), np.mean(value - truth)
    yield not (wrong & ~flipped).any() and f"{flipped.sum()} of {truth.size} signs are flipped."
    yield not value.any() and "Every entry is 0."
    if (value % 1 == 0).all() and (truth % 1).any():
        for cut in (np.trunc, np.floor, np.round):
            yield (value == cut(truth)).all() and (
                "The fractions are cut off: an array made like one of whole numbers holds whole numbers."
            )
    if abs(factor - 1) > NEARLY and same(value, factor * truth).all():
        yield f"Every entry is {max(factor, 1 / factor):.4g} times too {'large' if factor > 1 else 'small'}."
    if np.ptp(truth) and same(value, truth + distance).all():
        yield f"Every entry is {abs(distance):.4g} too {'large' if distance > 0 else 'small'}."


def _in_other_places(value, truth, near, same):
    if truth.size < 3 or not np.ptp(truth):
        return
    along = {f"along axis {axis}": axis for axis in range(truth.ndim)} if truth.ndim > 1 else {"in order": 0}
    yield (
        truth.ndim > 1
        and same(value, np.resize(truth.T, truth.shape)).all()
        and ("It is transposed" + (", but for its shape." if truth.shape != truth.T.shape else "."))
    )
    for words, axis in along.items():
        yield same(value, np.flip(truth, axis)).all() and f"It is reversed {words}."
    flat = {"read row by row": (value.ravel(), truth.ravel())} if truth.ndim > 1 else {}
    moved = {
        words: (np.moveaxis(value, axis, 0), np.moveaxis(truth, axis, 0)) for words, axis in along.items()
    }
    for words, (mine, right) in (flat | moved).items():
        for by in range(1, min(4, len(right) - 1)):
            places = "place" if by == 1 else "places"
            for one, other, when in ((mine[by:], right[:-by], "late"), (mine[:-by], right[by:], "early")):
                most = max(3, 2 * one.size // 3)  # what comes at an end may be anything
                one, other = one.ravel()[:most], other.ravel()[:most]
                fits = len(one) == most and np.ptp(other) and same(one, other).all()
                yield fits and f"The values come {by} {places} too {when}, {words}."
    sort = np.sort
    yield same(sort(value, axis=None), sort(truth, axis=None)).all() and (
        "These are the right numbers in the wrong places."
    )
    for words, axis in along.items():
        total, mean = truth.sum(axis, keepdims=True), truth.mean(axis, keepdims=True)
        yield same(value, total + 0 * truth).all() and f"It is summed {words}, then repeated."
        yield same(value, mean + 0 * truth).all() and f"It is averaged {words}, then repeated."
        if truth.shape[axis] > 2:
            yield (
                same(value, np.cumsum(truth, axis)).all() and f"It is added up {words}: the right one is not."
            )
            yield same(np.cumsum(value, axis), truth).all() and f"It is not added up {words}, as it must be."


def _somewhere(value, truth, near, same):
    wrong = ~same(value, truth)
    if wrong.all() or truth.size < 3:
        return
    there = value[wrong]
    many = wrong.sum() > 1 and np.ptp(truth[wrong])
    what = " is wrong" if np.isfinite(value).all() else f" is {there[~np.isfinite(there)][:1].sum():.3g}"
    factors = there / truth[wrong]
    if many and np.ptp(there) == 0:
        what = f" is {there[0]:.4g}"
    elif many and factors.min() > 0 and np.ptp(factors) < TOLERANCE * factors[0]:
        factor = factors[0]
        what += f", {max(factor, 1 / factor):.4g} times too {'large' if factor > 1 else 'small'}"
    if many and np.ptp(there) == 0 and there[0] in (value.max(), value.min()) and there[0]:
        end = "largest" if there[0] == value.max() else "smallest"
        yield f"Each wrong entry is {there[0]:.4g}, the {end} of yours."
    for axis, length in enumerate(truth.shape):
        hit = wrong.any(axis=tuple({*range(truth.ndim)} - {axis}))
        where = f"index {{}} of axis {axis}" if truth.ndim > 2 else ("row {}", "column {}")[axis]
        places = np.flatnonzero(hit)
        if length > 2 and truth.ndim > 1 and len(places) == length - 1:
            yield f"Only {where.format(np.flatnonzero(~hit)[0])} is right."
        if length > 2 and truth.ndim > 1 and 0 < len(places) <= min(MOST, length // 2):
            yield f"Only {where.format(' and '.join(map(str, places)))}{what}."
    if wrong.sum() == 1:
        yield "The other entries are right."
    if wrong.sum() == wrong.size - 1:
        place = np.argwhere(~wrong)[0]
        yield f"Only entry {', '.join(map(str, place))} is right."
    if many and (np.ptp(there) == 0 or "times" in what):
        yield f"Each wrong entry{what}."
    yield wrong.sum() < wrong.size / 2 and f"{wrong.sum()} of {wrong.size} entries are wrong."


def _regions(value, truth, near, same):
    """Yield what holds exactly of the arguments, or of the truth, where the value is wrong."""
    wrong = ~same(value, truth)
    if wrong.size - wrong.sum() < 2:
        return
    for name, array in {**near, "the right number": truth}.items():
        axis = next((a for a in range(array.ndim, truth.ndim + 1)
                     if truth.shape[a - array.ndim : a] == array.shape), None)  # fmt: skip
        if axis is None or not array.ndim or array.dtype.kind == "b":
            continue
        others = tuple({*range(truth.ndim)} - {*range(axis - array.ndim, axis)})
        some, every = wrong.any(axis=others), wrong.all(axis=others)
        extremes = {
            f"{array.max():.4g}, its largest": array.max(),
            f"{array.min():.4g}, its smallest": array.min(),
        }
        words = {"0": array == 0, "not 0": array != 0, "negative": array < 0, "positive": array > 0}
        small, large = (array != 0) & (abs(array) < 1e-6), abs(array) > 1e6
        words |= {"very small": small, "very large": large, "very small or very large": small | large}
        words |= (
            {"beyond -1 and 1": abs(array) > 1, "a whole number": array % 1 == 0}
            if array.dtype.kind == "f"
            else {}
        )
        if array.ndim == 1 and array.dtype.kind != "f":
            words |= {said: array == number for said, number in extremes.items()}
        for said, region in words.items():
            if region.any() and not region.all() and (some == region).all() and every[region].mean() > 0.7:
                yield f"It is wrong exactly where {name} is {said}."


def _by_rows(value, truth, near, same):
    if truth.ndim < 2:
        return
    for axis, (one, where) in enumerate((("column", "rows"), ("row", "columns"))):
        if truth.shape[axis] < 3:
            continue
        gap, ratio = value - truth, value / truth
        if same(gap, gap.mean(axis, keepdims=True)).all():
            yield f"All {where} are off by the same numbers: something constant is added, or is missing."
        if (
            np.isfinite(ratio).all()
            and np.all(np.any(~same(value, truth), axis=axis))
            and same(value, truth * ratio.mean(axis, keepdims=True)).all()
        ):
            yield f"Each {one} is off by a factor of its own."
    sums = truth.reshape(len(truth), -1).sum(axis=1)
    if np.ptp(sums) > TOLERANCE * np.abs(sums).max() and same(value.sum(), truth.sum()):
        yield "They add up to the right total, but the numbers are spread over the wrong entries."


_anywhere = _regions, _somewhere
_finite = _as_a_whole, _in_every_entry, _in_other_places, _regions, _by_rows, _somewhere


def relation_of_shapes(shape, wanted):
    """Return the sentence on how a wrong shape differs from the right one, or an empty str.

    Parameters
    ----------
    shape, wanted : tuple of int

    Returns
    -------
    str

    Examples
    --------
    >>> relation_of_shapes((5, 1), (5,)), relation_of_shapes((3, 7), (7, 3))
    ('An axis of length 1 is too many.', 'The axes are exchanged.')
    """
    longer = len(shape) - len(wanted)
    if [length for length in shape if length != 1] == [length for length in wanted if length != 1] and longer:
        return f"An axis of length 1 is {'too many' if longer > 0 else 'missing'}."
    off = [axis for axis, (length, most) in enumerate(zip(shape, wanted, strict=False)) if length != most]
    if not longer and shape == wanted[::-1]:
        return "The axes are exchanged."
    if not longer and len(off) == 1:
        (axis,) = off
        by, like = shape[axis] - wanted[axis], [a for a in range(len(wanted)) if wanted[a] == shape[axis] > 1]
        if abs(by) == 1 and max(shape[axis], wanted[axis]) > 1:
            return f"Along axis {axis} there is one {'too many' if by > 0 else 'too few'}."
        if like:
            return f"Axis {axis} is as long as axis {like[0]}: a length is taken from the wrong axis."
    for axis in range(len(wanted)):
        if (longer, shape) == (-1, wanted[:axis] + wanted[axis + 1 :]):
            return f"Axis {axis}, of length {wanted[axis]}, is missing: is it summed or picked away?"
    for axis in range(len(shape)):
        if (longer, wanted) == (1, shape[:axis] + shape[axis + 1 :]):
            return f"Axis {axis}, of length {shape[axis]}, is too many: is a sum or a mean over it missing?"
    if len(shape) == 1 < len(wanted):
        same = shape[0] == np.prod(wanted)
        return "It is flattened." if same else "It has one axis only: picking with a mask flattens."
    many = np.prod(shape) == np.prod(wanted) > 1
    return "It has as many numbers as it must have, on other axes: reshape it." if many and longer else ""


def changes(thing):
    """Yield what an argument could be taken for: words, and the changed argument.

    Parameters
    ----------
    thing : array, number or list

    Yields
    ------
    tuple of (str, array, number or list)

    Examples
    --------
    >>> [words for words, _ in changes(3)], [words for words, _ in changes(0.25)]
    (['1 more', '1 less'], ['1 minus it', '1 divided by it', 'its negative'])
    """
    if isinstance(thing, list | tuple):
        yield from [("reversed", thing[::-1])] if len(thing) > 1 else []
    elif isinstance(thing, int | np.integer) and not isinstance(thing, bool):
        yield from (("1 more", thing + 1), ("1 less", thing - 1))
    elif isinstance(thing, float):
        ways = ("1 minus it", 1 - thing), ("1 divided by it", 1 / (thing or 1)), ("its negative", -thing)
        yield from ways
    elif isinstance(thing, np.ndarray) and thing.ndim:
        yield from _changes_of_an_array(thing)


def _changes_of_an_array(array):
    if array.dtype.kind == "b":
        yield from (("all True", np.ones_like(array)), ("turned round", ~array))
        return
    yield "all ones", np.ones_like(array)
    yield "all zeros", np.zeros_like(array)
    if array.dtype.kind in "iu" or array.ndim == 1:
        yield "its first entry everywhere", np.full_like(array, array.flat[0])
    if array.dtype.kind in "iu":
        yield from (("1 more everywhere", array + 1), ("1 less everywhere", array - 1))
    else:
        yield "its absolute value", np.abs(array)
        yield "its square", array * array
    for axis, length in enumerate(array.shape):
        if length < 2:
            continue
        along, index = f"along axis {axis}", np.arange(length).reshape(-1, *[1] * (array.ndim - axis - 1))
        yield f"reversed {along}", np.flip(array, axis)
        if array.dtype.kind == "f":
            yield f"summed {along}, then repeated", array.sum(axis, keepdims=True) + 0 * array
            yield f"averaged {along}, then repeated", array.mean(axis, keepdims=True) + 0 * array
            for place, name in ((0, "first"), (length - 1, "last")):
                yield f"0 but in its {name} place {along}", np.where(index == place, array, 0)
                yield f"0 in its {name} place {along}", np.where(index == place, 0, array)
            late, early = np.roll(array, 1, axis), np.roll(array, -1, axis)
            yield f"one place later {along}", np.where(index == 0, 0, late)
            yield f"one place earlier {along}", np.where(index == length - 1, 0, early)


def elsewhere(value, truth_at, arrays, past=()):
    """Return the sentence on the arguments for which a wrong value would be right, or an empty str.

    Parameters
    ----------
    value : array
    truth_at : function, dict of arrays -> array
    arrays : dict of str to array
    past : iterable of (str, array)
        What arrays were before.

    Returns
    -------
    str

    Examples
    --------
    >>> X, gain = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 2.0])
    >>> elsewhere(X * gain[0], lambda at: at["X"] * at["gain"], {"X": X, "gain": gain})
    'It would be right if gain were its first entry everywhere.'
    """
    value = np.asarray(value, dtype=float)
    if value.size < 2 or not np.isfinite(value).all() or not np.ptp(value):
        return ""
    for name, array in arrays.items():
        before = [("as it was before: something is computed once", was) for _, was in past
                  if array.ndim and np.shape(was) == array.shape]  # fmt: skip
        for words, changed in [*changes(array), *before]:
            try:
                with np.errstate(all="ignore"):
                    there, here = np.asarray(truth_at(arrays | {name: changed})), truth_at(arrays)
            except Exception:  # not every array may be changed so
                continue
            close = {"rtol": 1e-5, "atol": 1e-6 * np.abs(value).max()}
            if (
                there.shape == value.shape == np.shape(here)
                and np.allclose(there, value, **close)
                and (not np.allclose(there, here, **close))
            ):
                return f"It would be right if {name} were {words}."
    return ""
