"""The slope of a layer's Y along one direction, by nudging, with an estimate of its error.

Holds nudge, which finds both one-sided slopes and bounds on their error, and sharpened, which takes a shorter
step if that is more accurate. Directions and tolerances are chosen in compare.py.
Introduced in chapter 03.
"""

from typing import NamedTuple

import numpy as np

from minigrad.check.numerical import EPS, NUDGE

EPS32 = np.finfo(np.float32).eps


class Slope(NamedTuple):
    """The slope of Σ dY · Y along one direction: by backward, by nudging, the least and greatest at a kink.

    Three parts of its error: the change with the step, the noise, and float64's rounding. Then the step, and
    the slope of each Y along that direction.
    """

    mine: float
    slope: float
    low: float
    high: float
    change: float
    noise: float
    rounding: float
    step: float
    of_each_Y: object

    @property
    def blur(self):
        """The possible error of nudging."""
        return 10 * (self.change + self.noise) + self.rounding


def nudge(trial, name, way, step=None):
    """Nudge an array along a direction, both ways, by a whole step and half a step; return its Slope."""
    here, yours, dY = trial.values[name], trial.first[name], trial.dY
    step = np.cbrt(trial.eps) if step is None else step
    h = step * max(1.0, np.abs(here * way).max())
    length = np.vdot(way, way)

    def side(far):
        there = here + far * way
        Y = trial.pack(trial.forward({name: there})[0])
        return (Y - trial.Y) * (length / np.vdot(there - here, way))  # the step after rounding

    right, left, near_right, near_left = side(h), side(-h), side(h / 2), side(-h / 2)
    slopes, near_slopes = (right + left) / 2, (near_right + near_left) / 2
    # Right and left differ by h times the curvature, half as much at half the step, except at a kink.
    jump, near_jump = right - left, near_right - near_left
    kink = np.abs(near_jump - jump) < 0.25 * np.abs(jump)
    low, high = np.sort(dY * np.where(kink, [near_right, near_left], slopes), axis=0)
    change = abs((dY * (slopes - near_slopes)).sum())
    noise = abs((dY * np.where(kink, 0.0, jump - 2 * near_jump)).sum())
    moves = slopes.any() or near_slopes.any()
    mine = np.vdot(yours, way) if np.shape(yours) == here.shape else np.nan
    rounding = (trial.rounding if moves else trial.least_step) / h
    return Slope(mine, (dY * slopes).sum(), low.sum(), high.sum(), change, noise, rounding, step, slopes)


def sharpened(trial, name, way, found, least):
    """Return the slope along a direction, by a shorter step or one of X's size if that is more accurate."""
    own = np.abs(trial.values[name]).max()
    sizes = (1 / 30, 1 / 1000, own) if 0 < own < 0.1 or own > 10 else (1 / 30, 1 / 1000)
    for step in NUDGE * np.array(sizes):
        if 10 * (found.change + found.noise) <= trial.tol * max(abs(found.slope), least):
            break
        closer = nudge(trial, name, way, step)
        if closer.blur < 0.1 * found.blur:
            found = closer
    return found


def elsewhere(trial, how_far, signs=(1,)):
    """Return a trial with all floats moved slightly, with Y and the gradients at the new values."""
    other = trial.under(shifted(trial, how_far, signs))
    Y, backward = other.forward()
    other.Y = other.pack(Y)
    other.first = other.back(backward, trial.dY)
    measure_noise(other)
    return other


def shifted(trial, how_far, signs=(1,)):
    """Return all floats of a trial, each moved slightly by its own amount in the direction of a sign."""
    rng, moved = trial.extra_rng, {}
    for name in trial.nudged:
        value = trial.values[name]
        part = rng.choice(signs, value.shape) * 10 ** rng.uniform(-2, 0, value.shape)
        moved[name] = value + how_far * np.maximum(1.0, np.abs(value)) * part
    return moved


def measure_noise(trial):
    """Measure the rounding noise of each Y: its second difference over the smallest steps."""
    sizes = {name: np.maximum(1.0, np.abs(trial.values[name])) for name in trial.nudged}
    ways = [
        {name: size * trial.extra_rng.uniform(0.5, 1, size.shape) for name, size in sizes.items()}
        for _ in range(4)
    ]
    base = {name: trial.values[name] + NUDGE * way for name, way in ways[0].items()}  # away from a kink at X

    def beside(way, far):
        return trial.pack(trial.forward({name: base[name] + far * way[name] for name in base})[0])

    middle, noise = beside(ways[0], 0.0), np.zeros_like(trial.Y)
    for way in ways[1:]:
        noise = np.fmax(noise, np.abs(beside(way, 1e-12) - 2 * middle + beside(way, -1e-12)))
    trial.eps = EPS32 if _is_of_float32(middle, trial.Y) else EPS
    Y, largest = np.abs(trial.Y), max((np.abs(trial.values[name]).max() for name in sizes), default=0.0)
    scale = EPS * Y if trial.eps == EPS else EPS32 * (Y + 1 + Y.mean() + largest)
    trial.rounding = 8 * _length(trial.dY * (scale + noise))
    trial.least_step = 8 * EPS * _length(trial.dY * (Y + 1 + largest))  # rounding inside may hide it


def _is_of_float32(Y, before):
    """Return whether the changed values have the precision of float32, as if computed in it."""
    moved = (Y != before) & (Y % 1 != 0) & (np.abs(Y) > 16 * EPS / EPS32)  # 1 - c near 0 has few digits, too
    with np.errstate(over="ignore"):
        return moved.mean() > 0.5 and np.array_equal(Y[moved], Y[moved].astype(np.float32))


def _length(array):
    """Return the square root of the sum of squares."""
    return np.linalg.norm(np.asarray(array).ravel())
