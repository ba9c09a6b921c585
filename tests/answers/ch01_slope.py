"""Answers to the exercises of chapter 01: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch01_slope import (
    complex_slope,
    curvature,
    debt,
    debt_with_slope,
    directional_slope,
    forward_gradient,
    one_sided_slopes,
)
from minigrad.check.numerical import NUDGE, numerical_gradient
from tests.answers import refused, right

# 1. both slopes at a kink


@right(one_sided_slopes)
def with_one_helper(f, x):
    def forward(h):
        return (f(x + h) - f(x)) / h

    return forward(-1e-7), forward(1e-7)


@right(one_sided_slopes)
def with_arrays(f, x):
    h = 1e-8 * max(1.0, abs(x)) * np.array([-1.0, 1.0])
    return tuple((f(x + nudge) - f(x)) / nudge for nudge in h)


@refused(
    one_sided_slopes,
    "the nudge is too short, f was called 1e-13 from x, and rounding leaves an error of about eps / h, 2e-03",
)
def short(f, x, h=1e-13):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


@refused(one_sided_slopes, "the nudge is too short, f was called 1e-17 from x")
def rounded_off(f, x, h=1e-17):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


@refused(one_sided_slopes, "the nudge is too long, f was called 1 from x, and the curve bends on the way")
def much_too_long(f, x, h=1.0):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


@refused(one_sided_slopes, "the nudge is too long, f was called 0.001 from x")
def too_long_for_four_digits(f, x, h=1e-3):
    return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h


# 2. one bug


@right(forward_gradient)
def on_fresh_copies(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        nudged = X.copy()
        nudged[index] += h
        dX[index] = (f(nudged) - before) / h
    return dX


@right(forward_gradient)
def with_one_hot_nudges(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before = f(X)
    nudges = h * np.eye(X.size).reshape(X.size, *X.shape)
    return np.array([(f(X + nudge) - before) / h for nudge in nudges]).reshape(X.shape)


@right(forward_gradient)
def on_one_copy_put_back(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    before, dX = f(X), np.zeros_like(X)
    for index, value in np.ndenumerate(X.copy()):
        X[index] = value + h
        dX[index] = (f(X) - before) / h
        X[index] = value
    return dX


@refused(forward_gradient, "7 are enough")
def asks_again_for_each_entry(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    dX = np.zeros_like(X)
    for index in np.ndindex(X.shape):
        before = f(X)
        X[index] += h
        dX[index] = (f(X) - before) / h
    return dX


@refused(forward_gradient, "an integer keeps no nudge and no fraction: make X's copy and dX float64")
def into_integers(f, X, h=1e-7):
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        nudged = X.astype(np.float64)
        nudged[index] += h
        dX[index] = (f(nudged) - before) / h
    return dX


@refused(forward_gradient, "an integer keeps no nudge and no fraction: make X's copy and dX float64")
def on_copies_of_integers(f, X, h=1e-7):
    before, dX = f(X), np.zeros_like(X)
    for index in np.ndindex(X.shape):
        nudged = X.copy()
        nudged[index] += h
        dX[index] = (f(nudged) - before) / h
    return dX


@refused(forward_gradient, "a forward difference with h = 0.")
def with_a_nudge_of_its_own(f, X, h=1e-7):
    return on_fresh_copies(f, X)


@refused(forward_gradient, "for an X of shape (3, 2), dX[")
def in_the_order_of_memory(f, X, h=1e-7):
    return on_fresh_copies(f, X, h).ravel(order="K").reshape(X.shape)


FIRST_RUNS = {}


@refused(forward_gradient, "for an X of shape (2, 3, 2), dX[")
def before_kept_between_calls(f, X, h=1e-7):
    X = np.array(X, dtype=np.float64)
    if f not in FIRST_RUNS:
        FIRST_RUNS[f] = f(X)
    nudges = h * np.eye(X.size).reshape(X.size, *X.shape)
    return np.array([(f(X + nudge) - FIRST_RUNS[f]) / h for nudge in nudges]).reshape(X.shape)


@refused(forward_gradient, "for an X of shape (), dX has shape (1,); it must have X's shape, ()")
def a_row_at_least(f, X, h=1e-7):
    return np.atleast_1d(on_fresh_copies(f, X, h))


# 3. one direction


@right(directional_slope)
def as_a_program_of_time(f, X, direction):
    def walk(t):
        return f(X + t * direction)

    return (walk(1e-6) - walk(-1e-6)) / 2e-6


@right(directional_slope)
def with_a_nudge_that_fits(f, X, direction):
    h = NUDGE * max(1.0, np.abs(X).max()) / max(1.0, np.abs(direction).max())
    change = f(X + h * direction) - f(X - h * direction)
    return float(change) / (2 * h)


BEHIND = {}


@refused(directional_slope, "from the same X in another direction")
def first_run_remembered(f, X, direction, h=1e-6):
    behind = BEHIND.setdefault(X.tobytes(), f(X - h * direction))
    return (f(X + h * direction) - behind) / (2 * h)


@refused(directional_slope, "divide it by the time between them")
def only_the_change(f, X, direction, h=1e-5):
    return f(X + h * direction) - f(X - h * direction)


@refused(directional_slope, "one of your two points is X itself")
def ahead_only(f, X, direction, h=1e-3):
    return (f(X + h * direction) - f(X)) / h


@refused(directional_slope, "two runs are enough")
def through_the_whole_gradient(f, X, direction):
    return np.sum(numerical_gradient(f, X) * direction)


# 4. a nudge to the side


@right(complex_slope)
def with_a_complex_number(f, x):
    return np.imag(f(complex(x, 1e-200))) / 1e-200


@right(complex_slope)
def with_a_nudge_that_is_merely_short(f, x):
    h = 1e-20
    return float((f(x + h * 1j) / h).imag)


@refused(complex_slope, "the imaginary part is h times the slope: divide it by h")
def not_divided(f, x, h=1e-100):
    return f(x + 1j * h).imag


@refused(complex_slope, "f was called 0.0001 beside x; nothing is subtracted here, so h may be far shorter")
def too_long(f, x, h=1e-4):
    return f(x + 1j * h).imag / h


@refused(complex_slope, "below 1e-308 numbers lose their digits")
def too_short(f, x, h=1e-318):
    return f(x + 1j * h).imag / h


@refused(complex_slope, "f ran 2 times; a nudge to the side needs one run")
def to_both_sides(f, x, h=1e-7):
    return (f(x + 1j * h) - f(x - 1j * h)).imag / (2 * h)


@refused(complex_slope, "f was called with real numbers only")
def central_difference(f, x):
    return (f(x + NUDGE) - f(x - NUDGE)) / (2 * NUDGE)


@refused(complex_slope, "you returned a complex number; the slope is in one of its two parts")
def still_a_difference(f, x, h=1e-8):
    return (f(x + 1j * h) - f(x)) / (1j * h)


@refused(complex_slope, "you returned a complex number; the slope is in one of its two parts")
def both_parts(f, x, h=1e-100):
    return f(x + 1j * h) / h


@refused(complex_slope, "that is the real part, divided by h: it holds the value of f, not the slope")
def the_wrong_part(f, x, h=1e-6):
    return f(x + 1j * h).real / h


# 5. the slope of the slope


@right(curvature)
def with_three_points(f, x):
    h = np.finfo(float).eps ** 0.25 * max(1.0, abs(x))
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


@right(curvature)
def with_the_slope_twice(f, x, h=2e-4):
    def slope(x):
        return (f(x + h) - f(x - h)) / (2 * h)

    return (slope(x + h) - slope(x - h)) / (2 * h)


@refused(
    curvature,
    "the nudge is too short, f was called 6e-06 from x, "
    "and rounding leaves an error of about eps / h², 6e-06",
)
def with_the_nudge_of_the_chapter(f, x):
    return (f(x + NUDGE) - 2 * f(x) + f(x - NUDGE)) / NUDGE**2


@refused(curvature, "if you took a slope of a slope, both nudges must be longer")
def the_gradient_of_the_gradient(f, x):
    return float(numerical_gradient(lambda y: numerical_gradient(f, y), x))


@refused(curvature, "f was called only at x: is your nudge so short that it is lost to rounding?")
def rounded_off_altogether(f, x, h=1e-17):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


@refused(curvature, "the nudge is too long, f was called 0.05 from x, and the curve bends on the way")
def with_a_long_nudge(f, x, h=0.05):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


@refused(curvature, "is the run to the left -h, and a minus between them?")
def left_slope_with_the_wrong_sign(f, x, h=1e-3):
    right, left = (f(x + h) - f(x)) / h, (f(x - h) - f(x)) / h
    return (right - left) / h


@refused(curvature, "that is h times the curvature: divide by h once more")
def divided_once(f, x, h=1e-4):
    return (f(x + h) - 2 * f(x) + f(x - h)) / h


@refused(curvature, "look equally far to both sides, and try another h")
def to_one_side(f, x, h=3e-5):
    return (f(x + 2 * h) - 2 * f(x + h) + f(x)) / h**2


# 6. the slope carried through a loop


@right(debt_with_slope)
def in_factors(rate, years):
    owed, slope, growth = 100000.0, 0.0, 1 + rate / 100
    for _ in range(years):
        slope = growth * slope + owed / 100
        owed = growth * owed - 6000
        factor = 1.02 if owed > 90000 else 1.0
        owed, slope = factor * (owed - 90000) + 90000, factor * slope
    return owed, slope


@right(debt_with_slope)
def with_pairs(rate, years):
    def year(owed, slope):
        owed, slope = owed * (1 + rate / 100) - 6000, slope * (1 + rate / 100) + owed * 0.01
        return (owed + 0.02 * (owed - 90000), slope + 0.02 * slope) if owed > 90000 else (owed, slope)

    pair = 100000.0, 0.0
    for _ in range(years):
        pair = year(*pair)
    return pair


@refused(debt_with_slope, "carried through the loop it would have all sixteen")
def by_nudging(rate, years):
    return debt(rate, years), (debt(rate + NUDGE, years) - debt(rate - NUDGE, years)) / (2 * NUDGE)
