"""Compare each gradient with the slopes that nudging finds: of all entries, a sample, or random directions.

Slopes are computed in nudging.py, kinks are handled in kinks.py, and messages are written in diagnosis.py.
Introduced in chapter 03.
"""

from typing import NamedTuple

import numpy as np

from minigrad.check.diagnosis import diagnose
from minigrad.check.kinks import accept
from minigrad.check.nudging import elsewhere, measure_noise, nudge, sharpened
from minigrad.check.numerical import EPS
from minigrad.check.report import Row

AT_AN_EDGE = "Y is nan after a nudge: is X at the edge of the layer's domain?"
AT_A_TIE = "right for single entries, wrong when several change: does each entry of a tie get the whole dY?"
AT_KINKS = "all entries are at a kink, where no comparison is possible; at nearby values: "
FLOAT32 = "nudging is inaccurate here: is float32 used inside?"
ONLY_SAMPLED = "right where sampled, wrong elsewhere: raise max_entries"


class Judged(NamedTuple):
    """A row before diagnosis, the gradient and Jacobian by nudging, and whether all entries are at a kink."""

    row: Row
    gradient: np.ndarray
    jacobian: np.ndarray
    is_blind: bool


def compare(trial, report):
    """Compare each gradient with its numerical gradient, and diagnose the wrong ones."""
    measure_noise(trial)
    backward = trial.forward()[1]
    units = np.eye(trial.Y.size if trial.Y.size <= trial.max_entries else 0)
    runs = [trial.back(backward, unit.reshape(trial.Y.shape)) for unit in units]
    judged = {name: _judge(trial, name) for name in trial.nudged}
    true = {name: found.gradient for name, found in judged.items()}
    for name, (row, _, jacobian, is_blind) in judged.items():
        if runs and row.size <= trial.max_entries and trial.first[name] is not None:
            report.jacobians[name] = jacobian, np.array([run[name].ravel() for run in runs])
        if is_blind:
            row = _judged_nearby(trial, row)
        elif row.verdict == "WRONG" and name in trial.tainted:
            row = row._replace(verdict="see rules", sentence="")
        elif row.verdict == "WRONG" and not row.sentence:
            seen = trial.values, trial.first, true, trial.Y, trial.dY, report.jacobians.get(name)
            row = row._replace(sentence=diagnose(name, *seen))
        report.rows.append(row)


def is_right_along_one_direction(trial):
    """Return whether each gradient agrees with the slope along one random direction."""
    measure_noise(trial)
    for name in trial.nudged:
        found = nudge(trial, name, _direction(trial, name))
        if not abs(found.mine - found.slope) <= trial.tol * abs(found.slope) + found.blur:
            return False
    return True


def _direction(trial, name):
    """Draw a random direction that changes every entry of an array."""
    value = trial.values[name]
    return trial.rng.standard_normal(value.shape) / np.sqrt(value.size)


def _judge(trial, name):
    """Nudge each entry of an array, or a sample of them; if necessary, also along random directions."""
    value = trial.values[name]
    entries = np.sort(trial.rng.permutation(value.size)[: trial.max_entries])
    ways = [np.eye(1, value.size, entry).reshape(value.shape) for entry in entries]
    found = [nudge(trial, name, way) for way in ways]
    if len(entries) < value.size or sum(one.low < one.high for one in found) > 1:
        # Three random directions, and the direction of all ones, along which tied entries stay equal.
        together = [_direction(trial, name) for _ in range(3)] + [np.ones_like(value) / np.sqrt(value.size)]
        ways, found = ways + together, found + [nudge(trial, name, way) for way in together]
    least = max((abs(one.slope) for one in found if not np.isnan(one.slope)), default=0.0) / 100 + 1e-300
    if trial.eps == EPS:
        found = [sharpened(trial, name, way, one, least) for way, one in zip(ways, found, strict=True)]
    error, kinks = _errors(trial, name, ways, found, least)
    slope, is_entry = np.array([one.slope for one in found]), np.arange(len(ways)) < len(entries)
    verdict, sentence = "ok", f"{kinks[is_entry].sum()} at a kink" if kinks[is_entry].any() else ""
    if np.isnan(slope).any() or trial.eps != EPS:
        verdict, sentence = "suspicious", AT_AN_EDGE if np.isnan(slope).any() else FLOAT32
    if not error.max() <= _tolerance(trial):
        verdict, sentence = "WRONG", ""
        if is_entry.any() and np.isfinite(error).all() and error[is_entry].max() <= _tolerance(trial):
            sentence = AT_A_TIE if kinks.any() else ONLY_SAMPLED
    row = Row(name, value.shape, len(entries), value.size, error.max(), verdict, sentence)
    gradient = np.full(value.shape, np.nan)
    gradient.flat[entries] = slope[is_entry]
    jacobian = np.array([one.of_each_Y.ravel()[: trial.max_entries] for one in found[: len(entries)]]).T
    return Judged(row, gradient, jacobian, verdict == "ok" and kinks.any() and kinks[is_entry].all())


def _tolerance(trial):
    """Return the largest relative error that passes; float32 is accurate to a thousandth."""
    return trial.tol if trial.eps == EPS else max(trial.tol, 1e-3)


def _errors(trial, name, ways, found, least):
    """Return the relative error along each direction, 0 if accepted, and whether a kink explains it."""
    tol, is_entry = _tolerance(trial), np.array([np.count_nonzero(way) == 1 for way in ways])
    mine, slope, low, high, change, noise, rounding = np.array([one[:7] for one in found]).T
    known = ~np.isnan(slope)
    steady = np.median(noise[known]) if known.any() else 0.0
    blur = 10 * (change + np.maximum(noise, steady)) + rounding
    size = np.maximum.reduce([np.abs(mine), np.abs(slope), blur / tol, np.full_like(slope, least)])
    error = np.abs(mine - slope) / size
    kinks = (error > tol) & is_entry & (low - blur <= mine) & (mine <= high + blur)
    error[kinks | ~known] = 0.0
    for worst in np.argsort(-error):
        if not error[worst] > tol:
            break
        if why := accept(trial, name, ways[worst], found[worst], least):
            error[worst], kinks[worst] = 0.0, why == "a kink"
        elif is_entry[worst]:
            break
    return error, kinks


def _judged_nearby(trial, row):
    """Check, at nearby values, a gradient whose entries are all at a kink."""
    nearby = elsewhere(trial, 1e-2, [-1, 1])
    there, true, *_ = _judge(nearby, row.name)
    if there.verdict != "WRONG":
        return row._replace(sentence=f"{row.sentence or 'at a kink'}, compared at nearby values")
    truths = {name: np.full(value.shape, np.nan) for name, value in nearby.values.items()} | {row.name: true}
    words = there.sentence or diagnose(row.name, nearby.values, nearby.first, truths, nearby.Y, nearby.dY)
    return there._replace(sentence=AT_KINKS + words)
