"""Cases in which nudging and backward disagree although the layer is right: rounding, and hidden kinks.

Holds excuse. Leaves out the kinks that a single nudge shows (nudging.py). Met in chapter 03.
"""

import itertools

import numpy as np

from minigrad.check.nudging import elsewhere, nudge, sharpened, shifted


def excuse(trial, name, way, found, least):
    """Return why a right layer may differ from nudging here: "rounding", "a kink", or ""."""
    if name in trial.tainted:
        return ""  # a broken rule explains it already: the search would take seconds and add nothing
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
    """Return whether some Y changes in jumps, as if rounded next to larger numbers, such as a sigmoid's 1."""
    here = trial.values[name]
    for reach in (step, step / 10, step / 100):
        places = [{name: here + far * way} for far in np.linspace(-reach, reach, 33)]
        moves = np.diff([trial.pack(trial.forward(place)[0]) for place in places], axis=0) != 0
        if ((moves[1:] != moves[:-1]).sum(axis=0) >= 2).any():  # at a kink it changes once
            return True
    return False


def _is_right_nearby(trial, name, way, found, least):
    """Return whether backward and nudging agree nearby, off the kink, where such a gap would show."""
    if trial.nearby is None:
        trial.nearby = elsewhere(trial, 1e-2)
    there = sharpened(trial.nearby, name, way, nudge(trial.nearby, name, way), least)
    agree = abs(there.mine - there.slope) <= trial.tol * max(abs(there.slope), least) + there.blur
    grows = max(1.0, abs(there.slope) / max(abs(found.mine), abs(found.slope)))
    would_show = there.blur < 0.1 * grows * abs(found.mine - found.slope) or there.mine == there.slope == 0
    return agree and would_show


def _is_between_kinks(trial, name, way, mine):
    """Return whether a slope is between the one-sided slopes of all kinks near an entry, even hidden ones.

    All other numbers are moved a little, so that the kinks come apart, and the entry is moved past all
    of them, once more in short steps near each: every kink adds its upward bend to the greatest slope and
    its downward bend to the least.
    """
    far = np.logspace(-8, -2, 30) * max(1.0, np.abs(trial.values[name] * way).max())
    far = np.concatenate([-far[::-1], [0.0], far])
    low = high = np.nan
    # Upwards, where an edge of the domain is safe, and either way; less where a large X carries kinks away.
    for how_far, signs in itertools.product((1e-5, 1e-7), 8 * ([1], [-1, 1])):
        base = shifted(trial, how_far, signs)
        bends = np.abs(_slopes_and_bends(trial, name, base, far, way)[1]).max(axis=1)
        near = np.flatnonzero(bends > 1e-6 * bends.max())
        finer = np.linspace(far[near], far[near + 2], 30)
        slopes, bends = _slopes_and_bends(trial, name, base, np.union1d(far, finer), way)
        sides = [slopes[0] + np.minimum(bends, 0).sum(axis=0), slopes[0] + np.maximum(bends, 0).sum(axis=0)]
        least, greatest = np.sort(trial.dY.ravel() * sides, axis=0)
        low, high = np.fmin(low, least), np.fmax(high, greatest)  # of each Y
        slack = 1e-4 * (abs(low.sum()) + abs(high.sum()))
        if low.sum() - slack <= mine <= high.sum() + slack:
            return True
    return False


def _slopes_and_bends(trial, name, base, far, way):
    """Return the slope of each Y between points along one way, and its change at each inner point."""
    places = [{name: base[name] + t * way} for t in far]
    Y = np.array([trial.pack(trial.forward(base | place)[0]).ravel() for place in places])
    slopes = np.diff(Y, axis=0) / np.diff(far)[:, None]
    return slopes, np.diff(slopes, axis=0)
