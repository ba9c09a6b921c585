"""The exercises of chapter 01: slopes found by nudging, and two that need none.

Leaves out the answers, which stand in ``solutions/01_slope``.
"""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import expect_several, expect_shape
from minigrad.gradcheck import STEP, numerical_gradient


def expect_number(name, value):
    """Ask whether a value is one real number, and return it as a float."""
    if value is None:
        raise CheckFailed(f"{name} is None: is a `return` missing?")
    if np.shape(value) != () or np.asarray(value).dtype.kind not in "iuf":
        raise CheckFailed(f"{name} must be one real number, and is {value!r}")
    return float(value)


def expect_close(name, value, truth, tolerance, source):
    """Ask whether numbers agree with the truth, as a share of its largest entry; name the worst of them."""
    value, truth = np.asarray(value), np.asarray(truth)
    if value.dtype.kind not in "iuf":
        raise CheckFailed(f"{name} must hold real numbers, and is of type {value.dtype}")
    off = np.abs(value - truth)
    if not off.max() <= tolerance * max(np.abs(truth).max(), 1e-300):
        at = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), truth.shape)
        entry = f"{name}[{', '.join(map(str, at))}]" if at else name
        raise CheckFailed(f"{entry} is {value[at]:.4g}, {source} {truth[at]:.4g}")


def digits(value, truth):
    """Return how many digits of a value agree with the truth."""
    return int(-np.log10(abs(value / truth - 1)))


def counting(f):
    """Return a program that does what f does, and the list that grows by one at each run."""
    runs = []

    def counted(X):
        runs.append(1)
        return f(X)

    return counted, runs


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
        "Two forward differences: one with a step to the right, one with a step to the left.",
        "A step to the left is a step of -h. What is the run of that step, and what is its sign?",
        "Left: from x - h to x, the change of f over h. Right: from x to x + h, the same. Take h = 1e-8.",
    ),
)


@one_sided_slopes.check
def _(answer, rng):
    for kink in (0.0, rng.uniform(1, 2)):
        slopes = {"left": rng.uniform(-3, -1), "right": rng.uniform(1, 3)}

        def f(x, kink=kink, slopes=slopes):
            side = slopes["left"] if x < kink else slopes["right"]
            return side * (x - kink) + (x - kink) ** 2 + 1

        returned = expect_several(answer(f, kink), "left", "right")
        for (name, truth), value in zip(slopes.items(), returned, strict=True):
            # a forward difference of any step from 1e-10 to 1e-5 is good to 1e-4
            expect_close(name, expect_number(name, value), truth, 1e-4, "and on that side the slope is")
    return "a kink at 0, a kink elsewhere"


@one_sided_slopes.right
def with_one_helper(f, x):
    def forward(h):
        return (f(x + h) - f(x)) / h

    return forward(-1e-7), forward(1e-7)


@one_sided_slopes.right
def with_arrays(f, x):
    h = 1e-8 * max(1.0, abs(x)) * np.array([-1.0, 1.0])
    return tuple((f(x + step) - f(x)) / step for step in h)


@one_sided_slopes.mistake("A step to the left runs by -h, not by h")
def left_with_the_wrong_sign(f, x, h=1e-8):
    return (f(x - h) - f(x)) / h, (f(x + h) - f(x)) / h


@one_sided_slopes.mistake("Left and right are swapped")
def swapped(f, x, h=1e-8):
    return (f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h


@one_sided_slopes.mistake("That is the mean of both sides")
def central_twice(f, x, h=1e-8):
    both = (f(x + h) - f(x - h)) / (2 * h)
    return both, both


@one_sided_slopes.mistake("A step of 1e-16 drowns in rounding: the chapter's V says which step does not")
def drowned(f, x, h=1e-16):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


@one_sided_slopes.mistake("A step that long sees the bend, not the slope: take a far shorter one")
def much_too_long(f, x, h=1.0):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


@one_sided_slopes.mistake("Such a short step is rounded off")
def rounded_off(f, x, h=1e-17):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


# 2. running sums

forward_gradient = Exercise(
    "01_slope.forward_gradient",
    title="Running sums",
    points=2,
    kind="repair",
    minutes=5,
    hints=(
        "Call broken_gradient on a program with three inputs, and print X inside the loop.",
        "When the second entry is nudged, where does the first one stand?",
        "Make a fresh copy of X for each entry and nudge that: all others then stand where they stood.",
    ),
)


@forward_gradient.check
def _(answer, rng):
    X, f = rng.normal(size=(3, 2)), bowl(rng)
    given, (counted, runs) = X.copy(), counting(f)
    dX = answer(counted, given)
    if not np.array_equal(given, X):
        raise CheckFailed("X came back changed: nudge a copy, this array belongs to your caller")
    expect_shape("dX", dX, "X", X)
    # h = 1e-7 times half the bend, a few units: far below 1e-4
    expect_close("dX", dX, numerical_gradient(f, X), 1e-4, "nudging that entry alone says")
    if len(runs) > X.size + 1:
        raise CheckFailed(
            f"f ran {len(runs)} times for {X.size} entries; {X.size + 1} are enough, "
            "since f(X) without a nudge is the same for all"
        )
    return "values, runs, and X left alone"


@forward_gradient.right
def on_fresh_copies(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        nudged = X.copy()
        nudged[index] += h
        dX[index] = (f(nudged) - before) / h
    return dX


@forward_gradient.right
def with_one_hot_nudges(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before = f(X)
    nudges = h * np.eye(X.size).reshape(X.size, *X.shape)
    return np.array([(f(X + nudge) - before) / h for nudge in nudges]).reshape(X.shape)


@forward_gradient.mistake("An entry that was nudged stays nudged")
def not_repaired(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
    return dX


@forward_gradient.mistake("Put back what stood there, and not a 0")
def back_to_zero(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
        X[index] = 0
    return dX


@forward_gradient.mistake("7 are enough")
def asks_again_for_each_entry(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    dX = np.zeros_like(X)
    for index in np.ndindex(X.shape):
        before = f(X)
        X[index] += h
        dX[index] = (f(X) - before) / h
    return dX


@forward_gradient.mistake("X came back changed")
def in_the_callers_array(f, X, h=1e-7):
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        X[index] += h
        dX[index] = (f(X) - before) / h
    return dX


# 3. one direction

directional_slope = Exercise(
    "01_slope.directional_slope",
    title="One direction",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "Think of a walk: at time t you stand at X + t * direction. How does f change with t, at t = 0?",
        "That is a program of one number, t. You know how to find its slope with two runs.",
        "A central difference, between the places X + h * direction and X - h * direction.",
    ),
)


@directional_slope.check
def _(answer, rng):
    X, direction, f = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), bowl(rng)
    given, along, (counted, runs) = X.copy(), direction.copy(), counting(f)
    slope = expect_number("the slope", answer(counted, given, along))
    truth = np.sum(numerical_gradient(f, X) * direction)
    # a central difference of any step from 1e-8 to 1e-3 is good to 1e-5
    source = "and the gradient, weighted with the direction and added up, says"
    expect_close("the slope", slope, truth, 1e-5, source)
    if not (np.array_equal(given, X) and np.array_equal(along, direction)):
        raise CheckFailed("X or direction came back changed: make new arrays, these belong to your caller")
    if len(runs) > 2:
        raise CheckFailed(f"f ran {len(runs)} times; along one direction two runs are enough")
    return "against the gradient, in two runs"


@directional_slope.right
def as_a_program_of_time(f, X, direction):
    def walk(t):
        return f(X + t * direction)

    return (walk(1e-6) - walk(-1e-6)) / 2e-6


@directional_slope.right
def with_a_step_that_fits(f, X, direction):
    h = STEP * max(1.0, np.abs(X).max()) / max(1.0, np.abs(direction).max())
    change = f(X + h * direction) - f(X - h * direction)
    return float(change) / (2 * h)


@directional_slope.mistake("You divided by the length of the direction")
def per_unit_of_length(f, X, direction, h=1e-6):
    length = np.sqrt(np.sum(direction**2))
    return (f(X + h * direction / length) - f(X - h * direction / length)) / (2 * h)


@directional_slope.mistake("Every entry moved by the same h")
def all_entries_alike(f, X, direction, h=1e-6):
    return (f(X + h) - f(X - h)) / (2 * h)


@directional_slope.mistake("From X - h to X + h it is 2 h")
def twice_too_large(f, X, direction, h=1e-6):
    return (f(X + h * direction) - f(X - h * direction)) / h


@directional_slope.mistake("two runs are enough")
def through_the_whole_gradient(f, X, direction):
    return np.sum(numerical_gradient(f, X) * direction)


# 4. a step to the side

complex_slope = Exercise(
    "01_slope.complex_slope",
    title="A step to the side",
    points=2,
    kind="fill",
    minutes=5,
    hints=(
        "f(x + 1j * h) has two parts. Which of them holds the slope, and times what?",
        "The part is .imag, and it is h times the slope. Nothing is subtracted, so how short may h be?",
        "Take the imaginary part and divide it by h; h = 1e-100 is short enough.",
    ),
)


@complex_slope.check
def _(answer, rng):
    coefficients = rng.normal(size=7)

    def polynomial(x):
        y = 0.0
        for coefficient in coefficients:
            y = y * x + coefficient
        return y

    x = rng.uniform(1, 2)
    for f, truth in (
        (np.exp, np.exp(x)),
        (np.sin, np.cos(x)),
        (polynomial, np.polyval(np.polyder(coefficients), x)),
    ):
        slope = expect_number("the slope", answer(f, x))
        # a step to the side leaves the rounding of one run: some eps
        if abs(slope - truth) > 1e-3 * abs(truth):
            raise CheckFailed(f"the slope is {slope:.4g}, and calculus says {truth:.4g}")
        if abs(slope - truth) > 1e-12 * max(abs(truth), 1.0):
            raise CheckFailed(
                f"the slope is right to {digits(slope, truth)} digits only, and 14 are to be had"
            )
    return "to 12 digits and more, on three programs"


@complex_slope.right
def with_a_complex_number(f, x):
    return np.imag(f(complex(x, 1e-200))) / 1e-200


@complex_slope.right
def with_a_step_that_is_merely_short(f, x):
    h = 1e-20
    return float((f(x + h * 1j) / h).imag)


@complex_slope.mistake("Divide by the step")
def not_divided(f, x, h=1e-100):
    return f(x + 1j * h).imag


@complex_slope.mistake("The real part is the value of f")
def real_part(f, x, h=1e-100):
    return f(x + 1j * h).real


@complex_slope.mistake("Nothing is subtracted here, so the step may be far shorter")
def too_long(f, x, h=1e-4):
    return f(x + 1j * h).imag / h


@complex_slope.mistake("must be one real number")
def still_a_difference(f, x, h=1e-8):
    return (f(x + 1j * h) - f(x)) / (1j * h)


# 5. the slope of the slope

curvature = Exercise(
    "01_slope.curvature",
    title="The bend",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Slope right of x, minus slope left of x, divided by the distance between the two.",
        "That is (f(x + h) - 2 f(x) + f(x - h)) / h². Now its V: print the error for np.exp, from 1 to 1e-8.",
        "Rounding costs eps / h² now, and the bend still h²: they balance at the fourth root of eps, 1e-4.",
    ),
)


@curvature.check
def _(answer, rng):
    def cube(x):
        return x * x * x

    for f, slope in ((cube, lambda x: 3 * x * x), (np.exp, np.exp), (np.sin, np.cos)):
        xs = rng.uniform(1, 1.5, size=7)
        bends = np.array([expect_number("the curvature", answer(f, x)) for x in xs])
        truths = numerical_gradient(slope, xs, np.ones(7))
        expect_close("the curvature", bends[0], truths[0], 1e-2, "and the slope of the slope is")
        off = np.abs(bends / truths - 1).max()
        # steps from 5e-5 to 1.5e-3 pass; the chapter's step, too short for this, leaves 4e-7 or more
        if off > 2e-7:
            raise CheckFailed(
                f"the curvature is off by up to {off:.0e} of itself, and a better step wins more digits"
            )
    return "three curves, to six digits and more"


@curvature.right
def with_three_points(f, x):
    h = np.finfo(float).eps ** 0.25 * max(1.0, abs(x))
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


@curvature.right
def with_the_slope_twice(f, x, h=2e-4):
    def slope(x):
        return (f(x + h) - f(x - h)) / (2 * h)

    return (slope(x + h) - slope(x - h)) / (2 * h)


@curvature.mistake("That step was the best for a slope")
def with_the_step_of_the_chapter(f, x):
    return (f(x + STEP) - 2 * f(x) + f(x - STEP)) / STEP**2


@curvature.mistake("Nudging what was nudged: the inner rounding is divided by a short step again")
def the_gradient_of_the_gradient(f, x):
    return float(numerical_gradient(lambda y: numerical_gradient(f, y), x))


@curvature.mistake("That step is long")
def with_a_long_step(f, x, h=0.05):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


@curvature.mistake(
    "Twice that is right: from the middle of one side to the middle of the other it is h, not 2 h"
)
def half_as_far(f, x, h=1e-4):
    right, left = (f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h
    return (right - left) / (2 * h)


@curvature.mistake("Divide by h twice")
def divided_once(f, x, h=1e-4):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h


@curvature.mistake("That is the slope itself")
def the_slope(f, x, h=1e-4):
    return (f(x + h) - f(x - h)) / (2 * h)


# 6. the slope carried through a loop

debt_with_slope = Exercise(
    "01_slope.debt_with_slope",
    title="A debt",
    points=4,
    kind="derive",
    minutes=12,
    hints=(
        "Keep two numbers, owed and slope. Before the first year, how does owed change with the rate?",
        "A year multiplies owed by 1 + rate / 100. Both change with the rate: use the product rule.",
        "Interest: slope times 1 + rate / 100, plus last year's owed / 100. Surcharge: 1.02 times that.",
    ),
)


def debt(rate, years):
    """Return what is owed; a complex rate goes through too."""
    owed = 100000.0
    for _ in range(years):
        owed = owed * (1 + rate / 100) - 6000
        if owed.real > 90000:
            owed = owed + 0.02 * (owed - 90000)
    return owed


@debt_with_slope.check
def _(answer, rng):
    for years in (0, 1, 2, 7, 15):
        rate = rng.uniform(2, 5)
        owed, slope = expect_several(answer(rate, years), "owed", "slope")
        owed, slope = expect_number("owed", owed), expect_number("slope", slope)
        expect_close(f"owed after {years} years", owed, debt(rate, years), 1e-9, "and the program says")
        truth = debt(rate + 1e-100j, years).imag / 1e-100 if years else 0.0
        expect_close(f"slope after {years} years", slope, truth, 1e-6, "and nudging says")
        if abs(slope - truth) > 1e-12 * abs(truth):
            raise CheckFailed(
                f"slope after {years} years is right to {digits(slope, truth)} digits, like a slope "
                "found by nudging; carried through the loop it has all sixteen"
            )
    return "five lengths, to the last digits"


@debt_with_slope.probe
def _(answer, rng):
    return answer(rng.uniform(2, 5), 7)


@debt_with_slope.right
def in_factors(rate, years):
    owed, slope, growth = 100000.0, 0.0, 1 + rate / 100
    for _ in range(years):
        slope = growth * slope + owed / 100
        owed = growth * owed - 6000
        factor = 1.02 if owed > 90000 else 1.0
        owed, slope = factor * (owed - 90000) + 90000, factor * slope
    return owed, slope


@debt_with_slope.right
def with_pairs(rate, years):
    def year(owed, slope):
        owed, slope = owed * (1 + rate / 100) - 6000, slope * (1 + rate / 100) + owed * 0.01
        return (owed + 0.02 * (owed - 90000), slope + 0.02 * slope) if owed > 90000 else (owed, slope)

    pair = 100000.0, 0.0
    for _ in range(years):
        pair = year(*pair)
    return pair


@debt_with_slope.mistake("The slope of a year needs the debt before that year")
def with_the_new_debt(rate, years):
    owed, slope = 100000.0, 0.0
    for _ in range(years):
        owed = owed * (1 + rate / 100) - 6000
        slope = slope * (1 + rate / 100) + owed / 100
        if owed > 90000:
            owed, slope = owed + 0.02 * (owed - 90000), 1.02 * slope
    return owed, slope


@debt_with_slope.mistake("The surcharge changes the slope, too")
def without_the_surcharge(rate, years):
    owed, slope = 100000.0, 0.0
    for _ in range(years):
        owed, slope = owed * (1 + rate / 100) - 6000, slope * (1 + rate / 100) + owed / 100
        if owed > 90000:
            owed = owed + 0.02 * (owed - 90000)
    return owed, slope


@debt_with_slope.mistake("Yesterday's slope earns interest, too")
def without_the_product_rule(rate, years):
    owed, slope = 100000.0, 0.0
    for _ in range(years):
        owed, slope = owed * (1 + rate / 100) - 6000, slope + owed / 100
        if owed > 90000:
            owed, slope = owed + 0.02 * (owed - 90000), 1.02 * slope
    return owed, slope


@debt_with_slope.mistake("The rate is in percent")
def per_one_instead_of_per_cent(rate, years):
    owed, slope = 100000.0, 0.0
    for _ in range(years):
        owed, slope = owed * (1 + rate / 100) - 6000, slope * (1 + rate / 100) + owed
        if owed > 90000:
            owed, slope = owed + 0.02 * (owed - 90000), 1.02 * slope
    return owed, slope


@debt_with_slope.mistake("carried through the loop it has all sixteen")
def by_nudging(rate, years):
    return debt(rate, years), (debt(rate + STEP, years) - debt(rate - STEP, years)) / (2 * STEP)
