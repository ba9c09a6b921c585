"""The exercises of chapter 03: build parts of a checker, read its report, and fool weaker ones.

The wrong layers are in ``course/examples/bugs.py``.
"""

from contextlib import suppress
from operator import index

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    BATCH,
    N_IN,
    drawn_sizes,
    expect_guesses,
    expect_several,
    expect_shape,
    untouched,
)
from course.examples import bugs
from minigrad.check.numerical import numerical_gradient

SHAPES = (7,), (BATCH, N_IN), (2, N_IN, BATCH)


def drawn(rng, shape=(BATCH, N_IN)):
    """Return numbers of both signs, none of them near 0."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2.0, shape)


# 1. relative errors, and the position of the largest

worst_entry = Exercise(
    "03_gradcheck.worst_entry",
    title="The worst entry",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "First an array of sizes: entry by entry, the larger of |actual| and |expected|. Then the floor.",
        "The divisor is np.maximum(sizes, floor). `np.argmax` gives the place as one number, counted through "
        "all axes; `np.unravel_index(number, shape)` makes a tuple of it.",
        "Add 1e-300 to the floor, against 0 / 0. `np.fmax` is `np.maximum`, but leaves nan out where it can; "
        "set the errors to np.inf where `np.isnan(actual)`.",
    ),
)


def _worst_cases(rng):
    """Yield actual, expected, the worst position, its error, and a description of each case."""
    for shape in SHAPES:
        expected = drawn(rng, shape)
        place = tuple(int(rng.integers(length)) for length in shape)
        found = expected * (1 + 1e-4 * rng.uniform(-1, 1, shape))
        found[place] = expected[place] * 1.25
        yield found, expected, place, 0.2, "one entry is a quarter too large, so the larger size is actual's"
        found[place] = -expected[place]
        yield found, expected, place, 2.0, "the sign of one entry is flipped"
        other = tuple((i + 1) % length for i, length in zip(place, shape, strict=True))
        expected[place] = 0.0
        found = expected.copy()
        found[place] = 0.001 * np.abs(expected).max()
        found[other] = expected[other] * 0.99
        about = "one entry should be 0 and is a thousandth of the largest (so divide it by the floor)"
        yield found, expected, place, 0.1, about
        yield np.zeros(shape), np.zeros(shape), None, 0.0, "both arrays are all zero"
        found = expected.copy()
        found[other] = np.nan
        found[place] = expected[place] + 0.3
        yield found, expected, other, np.inf, "one entry of actual is nan"
    large, small = np.array([-100.0, 0.5]), np.array([-1.0, 0.0])
    yield large, small, (0,), 0.99, "the largest size is in actual"
    yield small, large, (0,), 0.99, "the largest size is in expected"
    for scale in (1e-100, 1e100):
        yield scale * small, scale * large, (0,), 0.99, f"the floor is {scale:.0e}"
    yield np.zeros(3), np.array([1.0, 0.0, 0.0]), (0,), 1.0, "actual is all zero and expected is not"
    yield np.array([0.0, 2.0, 0.0]), np.zeros(3), (1,), 1.0, "expected is all zero and actual is not"
    yield np.full(3, np.nan), np.array([1.0, 0.0, -2.0]), None, np.inf, "every entry of actual is nan"


@worst_entry.check
def _(answer, rng):
    for found, expected, place, error, case in _worst_cases(rng):
        with np.errstate(invalid="ignore", divide="ignore"), untouched(actual=found, expected=expected):
            yours, value = expect_several(answer(found, expected), "place", "error")
        if isinstance(value, tuple) and np.shape(yours) == ():
            raise CheckFailed("return the place first and then the error, not the other way round")
        about = f"for arrays of shape {found.shape}, where {case}"
        index = _as_index(yours)
        if index is None or len(index) != found.ndim:
            raise CheckFailed(
                f"place must be a tuple of whole numbers, one index for each axis of actual, here "
                f"{found.ndim} (np.unravel_index makes it of a flat position), but is {yours!r}"
            )
        expect_shape("error", value, "a number", 0.0)
        if not (value == error or np.isclose(value, error, rtol=1e-6)):
            raise CheckFailed(f"{about}, the error is {error:.4g}, but yours is {value:.4g}")
        if place is not None and index != place:
            raise CheckFailed(f"{about}, the worst place is {place}, but yours is {index}")
    return "arrays of one, two and three axes; zeros, and nan"


def _as_index(place):
    """Return a tuple of whole numbers as a tuple of int, or None for anything else."""
    with suppress(TypeError):
        return tuple(map(index, place)) if isinstance(place, tuple) else None


@worst_entry.probe
def _(answer, rng):
    with np.errstate(invalid="ignore", divide="ignore"):
        return [  # how zeros, nan and tiny numbers are treated hides no other mistake
            answer(found, expected)[1]
            for found, expected, *_ in _worst_cases(rng)
            if found.any() and expected.any() and 0.1 < np.abs(found + expected).max() < 1e3
        ]


def worst_place(errors):
    """Return the place of the largest error, and the error."""
    place = np.unravel_index(np.argmax(errors), errors.shape)
    return place, errors[place]


def worst_with(
    size=np.fmax,
    floor=None,
    divisor=np.maximum,
    difference=lambda a, e: np.abs(a - e),
    worst=lambda errors, differences: errors,
):
    """Return a worst_entry with some parts changed; size and floor get absolute values without nan."""

    def worst_entry(found, expected):
        a, e, differences = np.abs(np.nan_to_num(found)), np.abs(expected), difference(found, expected)
        sizes = size(a, e)
        errors = differences / divisor(sizes, (floor(a, e) if floor else 0.01 * sizes.max()) + 1e-300)
        errors = np.where(np.isnan(found), np.inf, errors)
        place, _ = worst_place(worst(errors, differences))
        return place, errors[place]

    return worst_entry


for sentence, parts in {
    "You divided by the size of expected; the larger of the two sizes is wanted.": dict(size=lambda a, e: e),
    "You divided by the size of actual; the larger of the two sizes is wanted.": dict(size=lambda a, e: a),
    "You divided by the sum of both sizes; the larger of the two is wanted.": dict(size=np.add),
    "You divided by the mean of both sizes; the larger is wanted.": dict(size=lambda a, e: (a + e) / 2),
    "You divided by the smaller of the two sizes; the larger is wanted.": dict(size=np.fmin),
    "The difference keeps its sign: below zero it never is the largest. Take np.abs of it.": (
        dict(difference=np.subtract)
    ),
    "You squared the difference; take np.abs of it.": dict(difference=lambda a, e: (a - e) ** 2),
    "The floor uses only expected; the largest size may be in actual.": (
        dict(floor=lambda a, e: 0.01 * e.max())
    ),
    "The floor uses only actual; the largest size may be in expected.": (
        dict(floor=lambda a, e: 0.01 * a.max())
    ),
    "Each row has a floor of its own; there is one, of the largest size in both arrays.": (
        dict(floor=lambda a, e: 0.01 * np.fmax(a, e).max(axis=-1, keepdims=True))
    ),
    "Each column has a floor of its own; there is one, of the largest size in both arrays.": (
        dict(floor=lambda a, e: 0.01 * np.fmax(a, e).max(axis=0))
    ),
    "The floor is a hundredth of the largest size, not of the mean size.": (
        dict(floor=lambda a, e: 0.01 * np.fmax(a, e).mean())
    ),
    "You divide every entry by the largest size; only a hundredth of it is the floor.": (
        dict(floor=lambda a, e: np.fmax(a, e).max())
    ),
    "You add the floor to each size; it only replaces those that are smaller.": dict(divisor=np.add),
    "That is the difference; it is not yet divided by a size.": dict(divisor=lambda sizes, floor: 1.0),
    "You look for the largest difference; divide first, and then look for the largest.": (
        dict(worst=lambda errors, differences: differences)
    ),
    "That is the smallest error.": dict(worst=lambda errors, differences: -errors),
}.items():
    worst_entry.mistake(sentence)(worst_with(**parts))


# 2. what all ones see of softmax

softmax_on_paper = Exercise(
    "03_gradcheck.softmax_on_paper",
    title="Blind",
    points=2,
    kind="predict",
    minutes=8,
    hints=(
        "The shares sum to 1. So what is the sum of dY * Y when every entry of dY is 1?",
        "For [4, 0, 2], right: 4 · 0.5 + 0 · 0.25 + 2 · 0.25. Subtract this from the first entry of dY.",
        "For [4, 0, 2], wrong: the mean of the three is 2. In both cases the last step is: times 0.5.",
    ),
)


@softmax_on_paper.check
def _(answer, rng):
    Y = np.array([[0.5, 0.25, 0.25]])
    logits, truths = np.log(Y), {}
    for shown, dY in {"[1, 1, 1]": [[1.0, 1.0, 1.0]], "[4, 0, 2]": [[4.0, 0.0, 2.0]]}.items():
        for word, layer in {"right": bugs.Softmax(), "wrong": bugs.SoftmaxTakesThePlainMean()}.items():
            truths[f"the {word} one for {shown}"] = layer.backward(logits, np.array(dY))[0, 0]
    guesses = answer()
    expect_guesses(guesses, truths)
    return "compared with a run"


for sentence, numbers in {
    "You left out the factor Y in front of the bracket.": (0.0, 0.0, 1.5, 2.0),
    "With ones, the bracket is 1 minus 1 in both.": (0.5, 0.5, 2.0, 2.0),
    "You have right and wrong the other way round: right subtracts the weighted sum.": (0.0, 0.0, 1.0, 0.75),
    "You subtract the mean both times; the correct backward pass subtracts the sum of dY * Y.": (
        (0.0, 0.0, 1.0, 1.0)
    ),
    "That is Y (1 - Y): the part of an output with itself, without the other two.": (0.25, 0.0, 1.0, 1.0),
}.items():
    softmax_on_paper.mistake(sentence)(lambda numbers=numbers: numbers)


# 3. wrong, and right for ones

wrong_backward = Exercise(
    "03_gradcheck.wrong_backward",
    title="It passes with ones",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "Keep 2 * X, and replace dY by something that is 1 if dY is all ones.",
        "What can be done to an array of ones that leaves it an array of ones? Moving entries is one way.",
        "The mean of ones is 1. A shift, a flip along an axis, and a mean over one axis work, too.",
    ),
)


@wrong_backward.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    for shape in ((batch, n_in), (2, 7)):
        X, dY, other = drawn(rng, shape), rng.normal(size=shape), rng.normal(size=shape)
        ones = np.ones(shape)
        by_ones = numerical_gradient(np.square, X, ones)
        truth = numerical_gradient(np.square, X, dY)
        with untouched(X=X, dY=dY, other=other):
            with_ones, mine, third = (np.array(answer(X, sent)) for sent in (ones, dY, other))
            twice, both = (np.array(answer(X, sent)) for sent in (2 * dY, dY + other))
        expect_shape("dX", with_ones, "X", X)
        expect_shape("dX", mine, "X", X)
        off = np.abs(with_ones - by_ones)
        if not off.max() <= 1e-6 * np.abs(by_ones).max():
            place = tuple(map(int, np.unravel_index(np.nanargmax(off), shape)))
            raise CheckFailed(
                f"with dY all ones, dX{list(place)} is off by {off[place]:.2g} where nudging says "
                f"{by_ones[place]:.4g}: a check with ones catches yours"
            )
        scale = max(np.abs(mine).max(), np.abs(third).max())
        if not np.abs(twice - 2 * mine).max() <= 1e-9 * scale:
            raise CheckFailed("for twice the dY it does not return twice the dX: yours is not linear in dY")
        if not np.abs(both - mine - third).max() <= 1e-9 * scale:
            raise CheckFailed("for the sum of two dY it does not return the sum: yours is not linear in dY")
        wrong = np.abs(mine - truth).max() / np.abs(mine).max()
        if not wrong >= 0.1:
            raise CheckFailed(
                f"with a random dY the error is {wrong:.2g} of its largest entry; make it a tenth at least"
            )
    return "right for ones, linear, and wrong"


@wrong_backward.probe
def _(answer, rng):
    return answer(drawn(rng), rng.normal(size=(BATCH, N_IN)))


@wrong_backward.mistake("That is the correct backward pass; a wrong one is wanted.")
def right_after_all(X, dY):
    return 2 * X * dY


@wrong_backward.mistake("A sum of ones is their number: take a mean.")
def with_a_sum(X, dY):
    return 2 * X * dY.sum(axis=0)


# 4. eight broken gradients

name_the_bugs = Exercise(
    "03_gradcheck.name_the_bugs",
    title="Name the bug",
    points=4,
    kind="predict",
    minutes=12,
    hints=(
        "Begin with shapes. Then divide found by expected, entry by entry: is the ratio the same everywhere?",
        "If the ratio is not the same, look for the expected numbers elsewhere in the array, or in dY.",
        "A ratio of -1 is a sign; 1/5 comes from the 5 rows. Where something was run a second time, look for "
        "what should have changed and has not.",
    ),
)


@name_the_bugs.check
def _(answer, rng):
    truths = {letter: name for letter, (name, _) in bugs.broken_gradients(rng=3).items()}
    names = answer()
    if not isinstance(names, dict) or set(names) != set(truths):
        raise CheckFailed(f"it must return a dictionary with the keys {', '.join(truths)}")
    unknown = [name for name in names.values() if name not in bugs.NAMES]
    if unknown:
        raise CheckFailed(f"{unknown[0]!r} is not one of the ten names: {', '.join(bugs.NAMES)}")
    wrong = [letter for letter in truths if names[letter] != truths[letter]]
    if wrong:
        letter = wrong[0]
        raise CheckFailed(
            f"{len(truths) - len(wrong)} of {len(truths)} are right; {letter} is not {names[letter]!r}"
        )
    return "all eight"


def truly():
    """Return the true names of the puzzles."""
    return {letter: name for letter, (name, _) in bugs.broken_gradients(rng=3).items()}


for sentence, changes in {
    "Five times too small, with 5 rows: this factor has its own name.": (
        {"mean where a sum belongs": "factor missing"}
    ),
    "You have confused two: one is mirrored across the diagonal, the other from end to end.": (
        {"wrong places": "transposed", "transposed": "wrong places"}
    ),
    "You have confused two: where found is dY itself, dY was used, and nothing else.": (
        {"own slope missing": "dY not used", "dY not used": "own slope missing"}
    ),
    "After a second backward, W's gradient should have doubled; there was no other forward in between.": (
        {"overwritten": "last call remembered"}
    ),
    "One row for each example: nothing was added up yet.": {
        "not summed over the batch": "mean where a sum belongs",
        "mean where a sum belongs": "factor missing",
    },
}.items():
    name_the_bugs.mistake(sentence)(
        lambda changes=changes: {letter: changes.get(name, name) for letter, name in truly().items()}
    )


# 5. which method has changed which array

who_changed = Exercise(
    "03_gradcheck.who_changed",
    title="Who was it?",
    points=2,
    kind="fill",
    minutes=8,
    hints=(
        "Lend out copies, and compare each with the original after each of the two calls.",
        "After forward: if the lent X differs, note it, and make a new copy before backward gets it.",
        "`np.array_equal(lent, X)` compares. There are three comparisons: X after forward, then X and dY "
        "after backward.",
    ),
)
SENTENCES = "forward changed X", "backward changed X", "backward changed dY"


def _in_the_last_digit(number):
    return np.nextafter(number, np.inf)


def _by_one(number):
    return number + 1


class _Culprit:
    """A layer that changes chosen arrays in one entry each: by default the last digit, up or down."""

    def __init__(self, *sentences, changed=_in_the_last_digit):
        self.sentences, self.changed, self.calls, self.seen = sentences, changed, [], []

    def forward(self, X):
        self.calls.append("forward")
        if SENTENCES[0] in self.sentences:
            X[1, 1] = self.changed(X[1, 1])
        return 2 * X

    def backward(self, X, dY):
        self.calls.append("backward")
        self.seen.append(X.copy())
        if SENTENCES[1] in self.sentences:
            X[-1, 1] = -self.changed(-X[-1, 1])
        if SENTENCES[2] in self.sentences:
            dY[2, 0] = -self.changed(-dY[2, 0])
        return 2 * dY


@who_changed.check
def _(answer, rng):
    X, dY = drawn(rng), drawn(rng)
    for number in range(8):
        sentences = [sentence for place, sentence in enumerate(SENTENCES) if number >> place & 1]
        layer = _Culprit(*sentences)
        with untouched(X=X, dY=dY):
            found = answer(layer, X, dY)
        if layer.calls != ["forward", "backward"]:
            raise CheckFailed(f"forward and then backward must run, once each; yours ran {layer.calls}")
        if not isinstance(found, list):
            raise CheckFailed(f"it must return a list of sentences, but returned {found!r}")
        if found != sentences:
            why = _if_forgiving(answer, sentences, found, X, dY)
            raise CheckFailed(f"the true answer is {sentences}, but yours is {found}{why}")
        if not np.array_equal(layer.seen[0], X):
            raise CheckFailed("backward got the X that forward had changed: give it a fresh copy")
    return "all eight combinations of the three"


def _if_forgiving(answer, sentences, found, X, dY):
    """Explain missing sentences, if all of them appear when the change is large."""
    missing = [sentence for sentence in sentences if sentence not in found]
    if missing:
        large = answer(_Culprit(*sentences, changed=_by_one), X.copy(), dY.copy())
        if all(sentence in large for sentence in missing):
            return ": a change of the last digit counts, too; compare with np.array_equal"
    return ""


@who_changed.probe
def _(answer, rng):
    X, dY = drawn(rng), drawn(rng)
    return [", ".join(answer(_Culprit(word), X.copy(), dY.copy())) for word in SENTENCES]


@who_changed.mistake("A line like `before = X` makes no copy: both names refer to one array.")
def a_second_name_for_the_same_array(layer, X, dY):
    lent_X, lent_dY = X.copy(), dY.copy()
    before_X, before_dY = lent_X, lent_dY
    layer.forward(lent_X)
    found = ["forward changed X"] if np.any(lent_X != before_X) else []
    layer.backward(X.copy(), lent_dY)
    return found + (["backward changed dY"] if np.any(lent_dY != before_dY) else [])


@who_changed.mistake("Only forward changed X; compare X after each call, and give backward a new copy.")
def compared_at_the_end(layer, X, dY):
    lent_X, lent_dY = X.copy(), dY.copy()
    layer.forward(lent_X)
    first = not np.array_equal(lent_X, X)
    layer.backward(lent_X, lent_dY)
    second, third = not np.array_equal(lent_X, X), not np.array_equal(lent_dY, dY)
    return [word for word, happened in zip(SENTENCES, (first, second, third), strict=True) if happened]


@who_changed.mistake("You look at X only; dY is lent out, too.")
def X_alone(layer, X, dY):
    one, two = X.copy(), X.copy()
    layer.forward(one)
    layer.backward(two, dY.copy())
    return [word for word, now in zip(SENTENCES[:2], (one, two), strict=True) if np.any(now != X)]


# 6. two sloppy checkers, fooled at once

fooling_backward = Exercise(
    "03_gradcheck.fooling_backward",
    title="Test the tester",
    points=2,
    kind="fill",
    minutes=6,
    hints=(
        "Begin with the right dX, 3 * X**2 * dY. What can you change without the first checker noticing?",
        "Multiply by 1.002: the first is fooled. Which single entry must then be put right for the second?",
        "Compute the right dX, make 1.002 times that array, and copy the right [0, 0] into it.",
    ),
)


@fooling_backward.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    for shape in ((batch, n_in), (1, 2), (2, 1)):
        X, dY = drawn(rng, shape), drawn(rng, shape)
        truth = numerical_gradient(lambda X: X**3, X, dY)
        with untouched(X=X, dY=dY):
            dX = answer(X, dY)
        expect_shape("dX", dX, "X", X)
        errors = np.abs(dX - truth) / np.abs(truth)
        if not errors[0, 0] <= 1e-6:
            raise CheckFailed(
                f"the first entry has a relative error of {errors[0, 0]:.2g}: "
                "looks_at_one_entry refuses yours"
            )
        if not errors.max() <= 1e-2:
            raise CheckFailed(
                f"an entry has a relative error of {errors.max():.2g}: allows_one_percent refuses it"
            )
        if not errors.max() >= 1e-3 * (1 - 1e-4):  # nudging is right to far more digits than this
            raise CheckFailed(
                f"no relative error reaches 0.001; the largest is {errors.max():.1e}, "
                f"where X has shape {shape}"
            )
    return "both are fooled, on three shapes"


@fooling_backward.probe
def _(answer, rng):
    return answer(drawn(rng), drawn(rng))


@fooling_backward.mistake(
    "That is the correct backward pass; it must have a mistake that the check does not see."
)
def right_again(X, dY):
    return 3 * X**2 * dY


@fooling_backward.mistake(
    "With one row there are no other rows: change an entry, not the rows after the first."
)
def all_rows_but_the_first(X, dY):
    dX = 3 * X**2 * dY
    dX[1:] *= 1.002
    return dX
