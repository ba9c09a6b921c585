"""Cases in which nudging and backward disagree although the layer is right: rounding, and hidden kinks.

Holds accept. Kinks that a single nudge shows are handled in nudging.py. Introduced in chapter 03.
"""

import itertools

import numpy as np

from minigrad.check.nudging import elsewhere, nudge, sharpened, shifted


def accept(trial, name, way, found, least):
    """Return why a right layer may differ from nudging here: "rounding", "a kink", or ""."""
    if name in trial.tainted:
        return ""  # a broken rule explains the difference: a search would take seconds and add nothing
    is_entry = np.count_nonzero(way) == 1  # otherwise a direction through all entries
    gap, count = abs(found.mine - found.slope), 1 if is_entry else way.size
    if gap <= 10 * np.sqrt(count) * trial.spread()[name]:
        return "rounding"
    if gap <= trial.least_step / found.step and _moves_in_jumps(trial, name, way, found.step):
        return "rounding"
    if not _is_right_nearby(trial, name, way, found, least):
        return ""
    trial.scans -= is_entry
    if trial.scans < 0 and is_entry:
        return "a kink"  # the worst entries have been examined
    return "a kink" if _is_between_kinks(trial, name, way, found.mine) else ""


def _moves_in_jumps(trial, name, way, step):
    """Return whether some Y changes in jumps, as if rounded in a sum with a larger number, such as 1."""
    here = trial.values[name]
    for reach in (step, step / 10, step / 100):
        places = [{name: here + far * way} for far in np.linspace(-reach, reach, 33)]
        moves = np.diff([trial.pack(trial.forward(place)[0]) for place in places], axis=0) != 0
        if ((moves[1:] != moves[:-1]).sum(axis=0) >= 2).any():  # at a kink, this changes once
            return True
    return False


def _is_right_nearby(trial, name, way, found, least):
    """Return whether backward and nudging agree at nearby values, where a wrong gradient would show."""
    if trial.nearby is None:
        trial.nearby = elsewhere(trial, 1e-2)
    there = sharpened(trial.nearby, name, way, nudge(trial.nearby, name, way), least)
    agree = abs(there.mine - there.slope) <= trial.tol * max(abs(there.slope), least) + there.blur
    grows = max(1.0, abs(there.slope) / max(abs(found.mine), abs(found.slope)))
    would_show = there.blur < 0.1 * grows * abs(found.mine - found.slope) or there.mine == there.slope == 0
    return agree and would_show


def _is_between_kinks(trial, name, way, mine):
    """Return whether a slope is between the one-sided slopes of all kinks near an entry, even hidden ones.

    All other entries are moved slightly, which separates the kinks, and the entry is moved past all of
    them, and then in short steps near each: every kink adds an increase of the slope to the largest slope,
    or a decrease to the smallest.
    """
    far = np.logspace(-8, -2, 30) * max(1.0, np.abs(trial.values[name] * way).max())
    far = np.concatenate([-far[::-1], [0.0], far])
    low = high = np.nan
    # Upwards, which is safe at an edge of the domain, and both ways; by less, in case X is large.
    for how_far, signs in itertools.product((1e-5, 1e-7), 8 * ([1], [-1, 1])):
        base = shifted(trial, how_far, signs)
        jumps = np.abs(_slopes_and_jumps(trial, name, base, far, way)[1]).max(axis=1)
        near = np.flatnonzero(jumps > 1e-6 * jumps.max())
        finer = np.linspace(far[near], far[near + 2], 30)
        slopes, jumps = _slopes_and_jumps(trial, name, base, np.union1d(far, finer), way)
        sides = [slopes[0] + np.minimum(jumps, 0).sum(axis=0), slopes[0] + np.maximum(jumps, 0).sum(axis=0)]
        least, greatest = np.sort(trial.dY.ravel() * sides, axis=0)
        low, high = np.fmin(low, least), np.fmax(high, greatest)  # of each Y
        slack = 1e-4 * (abs(low.sum()) + abs(high.sum()))
        if low.sum() - slack <= mine <= high.sum() + slack:
            return True
    return False


def _slopes_and_jumps(trial, name, base, far, way):
    """Return the slope of each Y between points along one direction, and its change at each inner point."""
    places = [{name: base[name] + t * way} for t in far]
    Y = np.array([trial.pack(trial.forward(base | place)[0]).ravel() for place in places])
    slopes = np.diff(Y, axis=0) / np.diff(far)[:, None]
    return slopes, np.diff(slopes, axis=0)
