"""The exercises of chapter 01: slopes found by nudging, and two exact ones."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import also_drawn, apart, expect_several, expect_shape
from minigrad.check.numerical import EPS, numerical_gradient


def expect_number(name, value):
    """Require that a value is one real number, and return it as a float."""
    if value is None:
        raise CheckFailed(f"{name} is None: is a `return` missing?")
    if np.shape(value) != () or np.asarray(value).dtype.kind not in "iuf":
        raise CheckFailed(f"{name} must be one real number, but is {value!r}")
    return float(value)


def expect_close(name, value, truth, tolerance, source, why=""):  # noqa: PLR0913  the parts of its message
    """Require that the error, relative to the largest true entry, is within the tolerance."""
    value, truth = np.asarray(value), np.asarray(truth)
    if value.dtype.kind not in "iuf":
        raise CheckFailed(f"{name} must hold real numbers, but is of type {value.dtype}")
    off = np.abs(value - truth)
    if not off.max() <= tolerance * max(np.abs(truth).max(), 1e-300):
        at = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), truth.shape)
        entry = f"{name}[{', '.join(map(str, at))}]" if at else name
        shown, correct = apart(value[at], truth[at])
        found = None if why else (name, value, truth)
        raise CheckFailed(
            f"{entry} is {shown}, {source} {correct}" + (f": {why}" if why else ""), found=found
        )


def digits(value, truth):
    """Return how many digits of a value agree with the truth."""
    return int(-np.log10(abs(value / truth - 1)))


def recording(f):
    """Return a copy of the program f, and the list of the points where it is called."""
    places = []

    def recorded(X):
        places.append(np.copy(X))
        return f(X)

    return recorded, places


def which_arm(off, distances, power, roundings, bends):
    """Explain whether a nudge h is too short or too long, if that accounts for an error of this size.

    Rounding accounts for up to roundings · eps / h ** power, curvature for up to bends · h ** power.
    """
    if not distances:
        return ""
    h = max(distances)
    if h == 0:
        return "f was called only at x: is your nudge so short that it is lost to rounding?"
    called, cost = f"f was called {h:.1g} from x, and", EPS / h**power
    if off <= roundings * cost:
        formula = "eps / h²" if power == 2 else "eps / h"
        return f"the nudge is too short, {called} rounding leaves an error of about {formula}, {cost:.0e}"
    return f"the nudge is too long, {called} the curve bends on the way" if off <= bends * h**power else ""


def bowl(rng):
    """Return a program of a (3, 2) array: a bowl whose slopes depend on all entries."""
    A, B = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    return lambda X: np.sum(A * X) ** 2 + np.sum(B * X * X)


# 1. both slopes at a kink

one_sided_slopes = Exercise(
    "01_slope.one_sided_slopes",
    title="Two sides",
    points=2,
    kind="fill",
    minutes=5,
    hints=(
        "Two forward differences: one with a nudge to the right, one with a nudge to the left.",
        "A nudge to the left is a nudge of -h. What is the run then, and what is its sign?",
        "Left: from x - h to x, the change of f over h. Right: from x to x + h, the same. Take h = 1e-8.",
    ),
)


@one_sided_slopes.check
def _(answer, rng):
    for kink in (0.0, *rng.uniform(1, 2, size=3)):
        slopes = {"left": rng.uniform(-3, -1), "right": rng.uniform(1, 3)}

        def f(x, kink=kink, slopes=slopes):
            side = slopes["left"] if x < kink else slopes["right"]
            return side * (x - kink) + (x - kink) ** 2 + 1

        recorded, places = recording(f)
        returned = expect_several(answer(recorded, kink), "left", "right")
        distances = [np.abs(place - kink).max() for place in places]
        for (name, truth), value in zip(slopes.items(), returned, strict=True):
            value = expect_number(name, value)
            # x, f(x) and both slopes are at most 3, and the curvature adds h²
            arm = which_arm(abs(value - truth), distances, 1, 10, 1.1)
            # a forward difference of any nudge from 1e-11 to 1e-5 is good to 1e-4
            expect_close(name, value, truth, 1e-4, "and on that side the slope is", arm)
    return "a kink at 0, three elsewhere"


@one_sided_slopes.mistake("To the left the run is -h, not h.")
def left_with_the_wrong_sign(f, x, h=1e-8):
    return (f(x - h) - f(x)) / h, (f(x + h) - f(x)) / h


@one_sided_slopes.mistake("Left and right are swapped.")
def swapped(f, x, h=1e-8):
    return (f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h


@one_sided_slopes.mistake("That is the mean of both sides.")
def central_twice(f, x, h=1e-8):
    both = (f(x + h) - f(x - h)) / (2 * h)
    return both, both


# 2. one bug

forward_gradient = Exercise(
    "01_slope.forward_gradient",
    title="One bug",
    points=2,
    kind="repair",
    minutes=5,
    hints=(
        "Call broken_gradient on a program with three inputs, and print X inside the loop.",
        "When the second entry is nudged, what value does the first one have?",
        "Make a new copy of X for each entry and nudge that: all other entries then keep their values.",
    ),
)


@forward_gradient.check
def _(answer, rng):
    f, of_floats, of_integers = bowl(rng), rng.normal(size=(3, 2)), rng.integers(1, 5, size=(3, 2))
    sentence = (
        "X holds integers here, and an integer keeps no nudge and no fraction: make X's copy and dX float64"
    )
    for X, why in ((of_floats, ""), (of_integers, sentence)):
        X.flags.writeable = False  # writing into the caller's array raises at that line
        recorded, places = recording(f)
        dX = answer(recorded, X)
        expect_shape("dX", dX, "X", X)
        # h = 1e-7 times half the curvature, a few units: far below 1e-4
        expect_close("dX", dX, numerical_gradient(f, X), 1e-4, "nudging that entry alone says", why)
        if len(places) > X.size + 1:
            raise CheckFailed(
                f"f ran {len(places)} times for {X.size} entries; {X.size + 1} are enough, "
                "since f(X) without a nudge is the same for all"
            )
    _expect_any_shape(answer, rng)
    return "X of floats and of integers, both unchanged; the number of runs, other shapes, and a long nudge"


def _expect_any_shape(answer, rng):
    """Require the right gradient for X of other shapes, with a nudge long enough to show in it."""

    def squares(X):
        return float(np.sum(np.arange(1, X.size + 1).reshape(X.shape) * X * X))

    turned = rng.normal(size=(2, 3)).T  # its columns are contiguous in memory
    solid = rng.normal(size=(2, 3, 2))
    solid[0, 1, 0] = 0.0
    number = np.array(rng.normal())
    for X in (turned, solid, number, np.zeros((2, 2))):
        h = rng.uniform(0.3, 0.6)
        dX = answer(squares, X, h)
        where = f"for an X of shape {X.shape}, dX"
        expect_shape(where, dX, "X", X)
        weights = np.arange(1, X.size + 1).reshape(X.shape)
        truth = weights * (2 * X + h)  # the exact forward difference of squares: curvature adds h
        expect_close(where, dX, truth, 1e-6, f"a forward difference with h = {h:.2f} says")


@forward_gradient.mistake("A nudged entry stays nudged: restore its old value.")
def not_repaired(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
    return dX


@forward_gradient.mistake("Restore the old value of the entry, not 0.")
def back_to_zero(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
        X[index] = 0
    return dX


CALLERS_X = "X belongs to your caller, and is locked here: copy it, and nudge the copy."


@forward_gradient.mistake(CALLERS_X)
def in_the_callers_array(f, X, h=1e-7):
    before, dX = f(X), np.zeros(X.shape)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
        X[index] -= h
    return dX


@forward_gradient.mistake(CALLERS_X)
def the_whole_array_at_once(f, X, h=1e-7):
    before, dX = f(X), np.zeros(X.shape)
    for index, nudge in enumerate(h * np.eye(X.size).reshape(X.size, *X.shape)):
        X += nudge
        dX.flat[index] = (f(X) - before) / h
        X -= nudge
    return dX


# 3. one direction

directional_slope = Exercise(
    "01_slope.directional_slope",
    title="One direction",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "Think of a walk: at time t you are at X + t * direction. How does f change with t, at t = 0?",
        "That is a program of one number, t. You know how to find its slope with two runs.",
        "A central difference, between the points X + h * direction and X - h * direction.",
    ),
)


@directional_slope.check
def _(answer, rng):
    for name, f, X, direction, tolerance in _walks(rng):
        given, along, (recorded, places) = X.copy(), direction.copy(), recording(f)
        slope = expect_number(name, answer(recorded, given, along))
        truth = np.sum(numerical_gradient(f, X) * direction)
        source = "and the gradient, weighted with the direction and added up, says"
        why = _why_off((f, X, direction), places, slope, truth)
        expect_close(name, slope, truth, tolerance, source, why)
        if not (np.array_equal(given, X) and np.array_equal(along, direction)):
            raise CheckFailed("it changes X or direction, which belong to your caller: make new arrays")
        if len(places) > 2:
            raise CheckFailed(f"f ran {len(places)} times; along one direction two runs are enough")
    return "compared with the gradient, in two runs"


def _walks(rng):
    """Return for each case its name, f, X, a direction, and the tolerance."""
    X, direction, f = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), bowl(rng)
    faster, upward = -3 * direction[::-1], 2 * np.abs(direction)
    return (
        # a central difference of any nudge from 1e-8 to 1e-3 is good to 1e-5
        ("the slope", f, X, direction, 1e-5),
        ("from the same X in another direction, the slope", f, X, faster, 1e-5),
        # the bowl forgives long nudges; the curvature of exp grows, and 1e-2 is good to 1e-3 there
        ("of the sum of np.exp(X), the slope", lambda X: np.sum(np.exp(X)), X, upward, 1e-3),
        ("in a direction of zeros, the slope", f, X, np.zeros((3, 2)), 1e-5),
        ("from an X of zeros, the slope", f, np.zeros((3, 2)), direction, 1e-5),
        ("from an X of whole numbers, the slope", f, rng.integers(1, 9, size=(3, 2)), direction, 1e-5),
    )


def _why_off(walk, places, slope, truth):
    """Explain a wrong slope, if the two points where f was called account for it."""
    f, X, direction = walk
    if len(places) != 2 or not direction.any():
        return ""
    times = [np.sum((place - X) * direction) / np.sum(direction**2) for place in places]
    between = abs(times[1] - times[0])
    if np.isclose(slope, truth * between, rtol=1e-3, atol=0):
        return "that is the change of f between your two points; divide it by the time between them"
    bend = (f(X + 1e-3 * direction) - 2 * f(X) + f(X - 1e-3 * direction)) / 1e-6
    if 0 in times and np.isclose(abs(slope - truth), abs(bend) * between / 2, rtol=0.1, atol=0):
        return "one of your two points is X itself; with one on each side of X, the errors nearly cancel"
    return ""


@directional_slope.probe
def _(answer, rng):
    return [answer(f, X.copy(), direction.copy()) for _, f, X, direction, _ in _walks(rng)]


H = 1e-6
for sentence, slope in {
    "The sign is flipped: f ahead of X, minus f behind X.": lambda at: (at(-H) - at(H)) / (2 * H),
    "The size is right but the sign is lost: along some directions f falls.": (
        lambda at: abs(at(H) - at(-H)) / (2 * H)
    ),
    "The nudge h = 0.1 is too long: the slope changes within it. Try 1e-6.": (
        lambda at: (at(0.1) - at(-0.1)) / 0.2
    ),
    "The distance from X - h to X + h is 2 h.": lambda at: (at(H) - at(-H)) / H,
}.items():
    directional_slope.mistake(sentence)(
        lambda f, X, direction, slope=slope: slope(lambda time: f(X + time * direction))
    )


@directional_slope.mistake("You divided by the length of the direction.")
def per_unit_of_length(f, X, direction, h=1e-6):
    length = np.sqrt(np.sum(direction**2))
    return (f(X + h * direction / length) - f(X - h * direction / length)) / (2 * h)


@directional_slope.mistake("You moved every entry by the same h: move X along the direction.")
def all_entries_alike(f, X, direction, h=1e-6):
    return (f(X + h) - f(X - h)) / (2 * h)


# 4. a nudge to the side

complex_slope = Exercise(
    "01_slope.complex_slope",
    title="A nudge to the side",
    points=2,
    kind="fill",
    minutes=5,
    hints=(
        "f(x + 1j * h) has two parts. Which of them holds the slope, and times what?",
        "It is .imag, which is h times the slope. Nothing is subtracted, so how short may h be?",
        "Take the imaginary part and divide it by h; h = 1e-100 is short enough.",
    ),
)


@complex_slope.check
def _(answer, rng):
    coefficients = rng.uniform(1, 2, size=7)  # all positive: nothing cancels, so all digits are possible

    def polynomial(x):
        y = 0.0
        for coefficient in coefficients:
            y = y * x + coefficient
        return y

    place = rng.uniform(1, 2)
    for f, x, truth in (
        (np.exp, place, np.exp(place)),
        (np.cos, place, -np.sin(place)),
        (polynomial, 0.0, coefficients[-2]),
    ):
        recorded, places = recording(f)
        slope = answer(recorded, x)
        if np.iscomplexobj(slope) and np.size(slope) == 1:
            raise CheckFailed(
                "you returned a complex number; the slope is in one of its two parts, .real or .imag"
            )
        slope = expect_number("the slope", slope)
        if places and not any(map(np.iscomplexobj, places)):
            raise CheckFailed("f was called with real numbers only: to the side of x means x + 1j * h")
        h = max((np.abs(place.imag).max() for place in places), default=0.0)
        why = sideways_reason(slope, truth, f(x), h)
        expect_close("the slope", slope, truth, 1e-3, "and calculus says", why)
        if len(places) > 1:
            raise CheckFailed(f"f ran {len(places)} times; a nudge to the side needs one run")
        if abs(slope - truth) > 1e-14 * abs(truth):  # the rounding of one run is a few eps
            raise CheckFailed(
                f"the slope is right to only {digits(slope, truth)} digits, and 14 are possible"
                f"{why and ': '}{why}"
            )
    return "three programs, in one run each, to 14 digits"


def sideways_reason(slope, truth, value, h):
    """Explain an error after a nudge to the side, if h accounts for it."""
    if h > 0 and np.isclose(slope * h, value, rtol=1e-3, atol=0):
        return "that is the real part, divided by h: it holds the value of f, not the slope"
    if np.isclose(slope, truth * h, rtol=1e-3, atol=0):
        return "the imaginary part is h times the slope: divide it by h"
    off = abs(slope - truth)
    if off <= 10 * h**2 * abs(truth):  # the third derivatives are at most 30 times the first, over 6
        return f"f was called {h:.1g} beside x; nothing is subtracted here, so h may be far shorter"
    if h > 0 and off * h <= 1e-321:  # a few hundred times the smallest positive number
        return f"f was called {h:.1g} beside x, and below 1e-308 numbers lose their digits: take a longer h"
    return ""


for sentence, slope in {
    "The real part is the value of f.": lambda f, x, h: f(x + 1j * h).real,
    "A slope may be negative: keep its sign.": lambda f, x, h: abs(f(x + 1j * h).imag) / h,
}.items():
    complex_slope.mistake(sentence)(lambda f, x, slope=slope: slope(f, x, 1e-100))


@complex_slope.mistake("Your h is 0 where x is 0: it must not depend on x.")
def relative(f, x, h=1e-100):
    return f(x + 1j * h * x).imag / (h * x)


# 5. the slope of the slope

curvature = Exercise(
    "01_slope.curvature",
    title="Curvature",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Slope right of x, minus slope left of x, divided by the distance between the two.",
        "That is (f(x + h) - 2 f(x) + f(x - h)) / h². Now its V: print the error for np.exp, from 1 to 1e-8.",
        "The error is now eps / h² from rounding and h² from curvature: they balance at eps ** (1/4), 1e-4.",
    ),
)


@curvature.check
def _(answer, rng):
    def cube(x):
        return x * x * x

    def mixed():  # not in a table of known curves
        a, b = rng.uniform(0.5, 2.0, size=2)
        return (lambda x: a * x**3 + b * np.exp(x)), (lambda x: 3 * a * x * x + b * np.exp(x))

    curves = (cube, lambda x: 3 * x * x), (np.exp, np.exp), (np.sin, np.cos)
    for f, slope in also_drawn(curves, mixed):
        xs, bends, distances = rng.uniform(1, 1.5, size=7), [], []
        for x in xs:
            recorded, places = recording(f)
            bends.append(expect_number("the curvature", answer(recorded, x)))
            distances += [np.abs(place - x).max() for place in places]
        bends, truths = np.array(bends), numerical_gradient(slope, xs, np.ones(7))
        off = np.abs(bends / truths - 1).max()
        why = curvature_reason(bends, truths, slope(xs), distances, off)
        expect_close("the curvature", bends[0], truths[0], 1e-2, "and the slope of the slope is", why)
        # nudges from 5e-5 to 1.5e-3 pass; the chapter's, too short for this, leaves 4e-7 or more
        if off > 2e-7:
            why = why or "look equally far to both sides, and try another h"
            raise CheckFailed(f"the relative error of the curvature is up to {off:.0e}: {why}")
    return "three curves, to six digits and more"


def curvature_reason(bends, truths, slopes, distances, off):
    """Explain wrong curvatures, if the largest nudge accounts for them."""
    h = max(distances, default=0.0)
    if h and np.allclose(bends * h, 2 * slopes, rtol=0.02):
        return "you added the two slopes: is the run to the left -h, and a minus between them?"
    if 0 < h < 0.5 and np.allclose(bends, truths * h, rtol=0.02, atol=0):
        return "that is h times the curvature: divide by h once more"
    # f and x f' are at most twice the curvature, and four roundings of them are divided by h²
    arm = which_arm(off, distances, 2, 40, 1 / 6)
    four_runs = len(distances) > 3 * len(bends)  # the cost of a slope of a slope
    if four_runs and "too short" in arm:
        arm += "; if you took a slope of a slope, both nudges must be longer"
    return arm


@curvature.mistake("Twice that is right: the distance between the middles of the two sides is h, not 2 h.")
def half_as_far(f, x, h=1e-4):
    right, left = (f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h
    return (right - left) / (2 * h)


@curvature.mistake("That is the slope itself.")
def the_slope(f, x, h=1e-4):
    return (f(x + h) - f(x - h)) / (2 * h)


# 6. the slope carried through a loop

debt_with_slope = Exercise(
    "01_slope.debt_with_slope",
    title="A debt",
    points=4,
    kind="fill",
    minutes=12,
    hints=(
        "Keep two numbers, owed and slope. Before the first year, how does owed change with the rate?",
        "A year multiplies owed by 1 + rate / 100. Both change with the rate: use the product rule.",
        "The product rule gives two terms; one holds slope, the other owed. 6,000 and 90,000 are constants.",
    ),
)


def debt(rate, years):
    """Return the debt after some years; the rate may be complex."""
    owed = 100000.0
    for _ in range(years):
        owed = owed * (1 + rate / 100) - 6000
        if owed.real > 90000:
            owed = owed + 0.02 * (owed - 90000)
    return owed


@debt_with_slope.check
def _(answer, rng):
    for years in (0, 1, 2, 7, 15):
        after = f"after {years} year{'' if years == 1 else 's'}"
        rate = rng.uniform(2, 5)
        owed, slope = expect_several(answer(rate, years), "owed", "slope")
        owed, slope = expect_number("owed", owed), expect_number("slope", slope)
        expect_close(f"owed {after}", owed, debt(rate, years), 1e-9, "and the program says")
        truth = debt(rate + 1e-100j, years).imag / 1e-100 if years else 0.0
        expect_close(f"slope {after}", slope, truth, 1e-6, "and nudging says")
        if abs(slope - truth) > 1e-12 * abs(truth):
            raise CheckFailed(
                f"slope {after} is right to {digits(slope, truth)} digits, like a slope "
                "found by nudging; carried through the loop it would have all sixteen"
            )
    return "five lengths, to the last digits"


@debt_with_slope.probe
def _(answer, rng):
    return answer(rng.uniform(2, 5), 7)


def debt_with(
    year=lambda slope, rate, before, owed: slope * (1 + rate / 100) + before / 100,
    fee=lambda slope: 1.02 * slope,
):
    """Return a debt_with_slope with another slope of a year, or another change of the slope by the fee."""

    def debt_with_slope(rate, years):
        owed, slope = 100000.0, 0.0
        for _ in range(years):
            before, owed = owed, owed * (1 + rate / 100) - 6000
            slope = year(slope, rate, before, owed)
            if owed > 90000:
                owed, slope = owed + 0.02 * (owed - 90000), fee(slope)
        return owed, slope

    return debt_with_slope


for sentence, year in {
    "The slope of a year needs the debt before that year.": (
        lambda slope, rate, before, owed: slope * (1 + rate / 100) + owed / 100
    ),
    "Last year's slope grows with interest, too.": lambda slope, rate, before, owed: slope + before / 100,
    "The slope of the earlier years is lost: it carries over, with interest.": (
        lambda slope, rate, before, owed: before / 100
    ),
    "A constant has slope 0: take the 6,000 off owed, not off slope.": (
        lambda slope, rate, before, owed: slope * (1 + rate / 100) + before / 100 - 6000
    ),
    "The rate is in percent.": lambda slope, rate, before, owed: slope * (1 + rate / 100) + before,
}.items():
    debt_with_slope.mistake(sentence)(debt_with(year))
for sentence, fee in {
    "The fee changes the slope, too.": lambda slope: slope,
    "A constant has slope 0: take the 90,000 off owed, not off slope.": (
        lambda slope: slope + 0.02 * (slope - 90000)
    ),
    "The fee is added to what is owed: its 0.02 comes on top of the 1.": lambda slope: 0.02 * slope,
}.items():
    debt_with_slope.mistake(sentence)(debt_with(fee=fee))
