"""What is wrong with a gradient, in words: a ladder of guesses.

A guess is a pair of arrays that agree only if one certain mistake was made, and the sentence that names it.
The first guess that fits wins, so sharp ones stand above blunt ones. Leaves out how a wrong gradient is found
(gradcheck.py). Met in chapter 03.
"""

import re
from dataclasses import dataclass
from itertools import chain, permutations

import numpy as np


@dataclass
class Case:
    """One wrong gradient, and everything that may explain it.

    Parameters
    ----------
    name : str
        Whose gradient it is.
    value, true : array of one shape
        What was nudged, and the gradient found by nudging; nan where it was not measured.
    yours : array or None
        The gradient that backward gave.
    X, Y, dY : array
        The layer's first input, its output, and the gradient that was sent back.
    others : dict of name to array
        The true gradients of the other inputs and parameters.
    weights : dict of name to array
        The parameters.
    jacobians : pair of arrays (Y.size, value.size), or None
        The true one and yours, if they are small.
    """

    name: str
    value: np.ndarray
    true: np.ndarray
    yours: np.ndarray | None
    X: np.ndarray
    Y: np.ndarray
    dY: np.ndarray
    others: dict
    weights: dict
    jacobians: tuple | None = None


def diagnose(case):
    """Say what is wrong with a gradient.

    Parameters
    ----------
    case : Case

    Returns
    -------
    str
        The sentence of the first guess that fits.

    References
    ----------
    Chapter 03.

    Examples
    --------
    >>> ones, true = np.ones((5, 3)), np.arange(15.0).reshape(5, 3)
    >>> diagnose(Case("input X", ones, true, true / 5, ones, ones, ones, others={}, weights={}))
    '5 times too small: 5 is the batch size'
    """
    if case.yours is None:
        return "backward returned None: is a `return` missing?"
    if not np.isfinite(case.yours).all():
        return f"nan or infinity in {np.sum(~np.isfinite(case.yours))} of {case.yours.size} entries"
    rungs = (_slips, _factors, _places, _statistics, _couplings)
    ladder = rungs if case.yours.shape == case.true.shape else (_shapes,)
    guesses = chain.from_iterable(rung(case) for rung in ladder)
    return next((sentence for a, b, sentence in guesses if same(a, b)), None) or _in_general(case)


def same(a, b, digits=5):
    """Tell whether two arrays agree to so many digits of the largest number; nan in b fits anything."""
    known = ~np.isnan(b)
    if a.shape != b.shape or not known.any():
        return False
    return bool((np.abs(a - b)[known] <= 10.0**-digits * np.abs(b[known]).max()).all())


def _shapes(case):
    """Guess how a gradient came to another shape than its array's."""
    yours, true = case.yours, case.true
    shapes = f"shape {yours.shape} instead of {true.shape}"
    extra = tuple(range(yours.ndim - true.ndim))
    yield yours, true.T, f"transposed: {shapes}"
    yield yours.sum(axis=extra), true, f"not summed over the batch: add .sum(axis=0), {shapes}"
    yield yours.ravel(), true.ravel(), f"right numbers in a wrong shape: {shapes}"
    yield yours.ravel(), true.sum(keepdims=True).ravel(), f"summed over every axis: {shapes}"
    yield true, true, f"{shapes}: a gradient has the shape of its array"


def _slips(case):
    """Guess slips of the pen: nothing added, a sum too many, the gradient of something else."""
    yours, true, dY = case.yours, case.true, case.dY
    zero = np.zeros_like(true)
    yield yours, zero, f"all zero: nothing is {'added' if case.name in case.weights else 'sent back'} here"
    if np.nanmax(np.abs(true)) < 1e-7 * np.abs(yours).max():
        yield zero, zero, "the output does not depend on this, so its gradient is zero"
    if same(yours, true, digits=4):
        yield zero, zero, "nearly right: a small term is missing, or an approximation is inside"
    yield yours, true.T, "transposed"
    for name, other in case.others.items():
        yield yours, other, f"this is the gradient of {name}"
    for axis in (None, *range(true.ndim)):
        along = "every axis" if axis is None else f"axis {axis}"
        yield yours, true.sum(axis, keepdims=True) + 0 * true, f"summed over {along}"
        yield yours, true.mean(axis, keepdims=True) + 0 * true, f"averaged over {along}"
    if dY.shape == true.shape:
        yield yours, dY, "dY came back unchanged: the layer's own slope is missing"
        yield yours, true - dY, "the path around the layer is missing: add dY"
        yield yours, true + dY, "dY is added on top: there is no such path, or it is counted twice"


def _factors(case):
    """Guess a wrong factor: one number, or an array that was forgotten or is too much."""
    yours, true = case.yours, case.true
    known = ~np.isnan(true)
    ratio = np.vdot(yours[known], true[known]) / np.vdot(true[known], true[known])
    if ratio:
        yield yours, ratio * true, _times(ratio, case)
    yield np.abs(yours), np.abs(true), f"right sizes, but {np.sum(yours * true < 0)} of {true.size} signs flipped"
    for name, factor in _suspects(case):
        if factor.shape == true.shape[true.ndim - factor.ndim :]:
            yield yours * factor, true, f"a missing factor {name}, element by element"
            yield yours, true * factor, f"a factor {name} too much, element by element"
    for axis, line in enumerate(("column", "row") if true.ndim == 2 and min(true.shape) > 2 else ()):
        ratios = (yours * true).sum(axis, keepdims=True) / (yours * yours).sum(axis, keepdims=True).clip(1e-300)
        yield yours * ratios, true, f"each {line} is off by its own factor"


def _suspects(case):
    """Return the arrays that are easily forgotten in a product, by name."""
    X, Y = case.value, case.Y
    slopes = {"1 - Y²": 1 - Y * Y, "Y (1 - Y)": Y * (1 - Y), "1 - Y": 1 - Y, "1 + Y": 1 + Y, "Y": Y, "X": X}
    return (slopes | case.weights).items()


def _times(ratio, case):
    """Say how many times too large or too small, and which size, or pair of sizes, that number is."""
    sign = "the sign is flipped" if ratio < 0 else ""
    number = max(abs(ratio), 1 / abs(ratio))
    if abs(number - 1) < 1e-4:
        return sign
    words = next((words for value, words in _numbers(case) if abs(value - number) < 1e-4 * number), "")
    size = f"{number:.4g} times too {'large' if abs(ratio) > 1 else 'small'}"
    size += f": {number:.4g} is {words}" if words else ""
    return f"{sign}, and it is {size}" if sign else size


def _numbers(case):
    """Yield the numbers that a wrong factor may be, each with what it is."""
    X, Y = case.X, case.Y
    sizes = {"the batch size": len(X), "the number of inputs": X.shape[-1], "the number of outputs": (1, *Y.shape)[-1]}
    sizes |= {f"the length of axis {axis} of X": length for axis, length in enumerate(X.shape) if axis}
    sizes |= {"the number of entries in Y": Y.size, "the number of entries in X": X.size}
    yield from ((size, name) for name, size in sizes.items())
    yield 2, ""
    for name, size in sizes.items():
        yield size - 1, f"{name} minus 1"
        yield size**0.5, f"the square root of {name}"
    for (name, size), (other, another) in permutations([*sizes.items(), ("2", 2)], 2):
        yield size * another, f"{name} times {other}"
        yield size / another, f"{name} divided by {other}"
        yield size + another, f"{name} plus {other}"


def _places(case):
    """Guess where the mistake sits: right numbers in wrong places, or wrong numbers in a few places."""
    yours, true, x = case.yours, case.true, case.value
    for axis in range(true.ndim):
        yield yours, np.flip(true, axis), f"right numbers, wrong places: reversed along axis {axis}"
        yield yours, np.roll(true, 1, axis), f"right numbers, wrong places: shifted along axis {axis}"
        yield yours, np.roll(true, -1, axis), f"right numbers, wrong places: shifted along axis {axis}"
    undone = "right numbers, wrong places: a transpose, reshape or flip is not undone"
    yield np.sort(yours, axis=None), np.sort(true, axis=None), undone

    wrong = np.abs(yours - true) > 1e-5 * np.nanmax(np.abs(true))
    name = case.name.removeprefix("input ")
    regions = {f"where {name} is negative": x < 0, f"where {name} is positive": x > 0}
    regions |= {f"where {name} is 0": x == 0, f"where {name} is beyond 1": np.abs(x) > 1}
    twice = np.unique(case.X, return_counts=True)
    for axis in range(true.ndim):
        hit = wrong.any(axis=tuple({*range(true.ndim)} - {axis}), keepdims=True)
        where = f"at index {', '.join(map(str, np.flatnonzero(hit)))} of axis {axis}"
        if case.X.dtype.kind in "iu" and np.isin(np.flatnonzero(hit), twice[0][twice[1] > 1]).all():
            where += ", named twice in X: `+=` counts that once, np.add.at every time"
        regions[where] = hit | np.zeros_like(wrong)
    for where, region in regions.items():
        if region.any() and wrong[region].mean() > 0.5 and region.mean() < 0.7:
            yield yours, np.where(region, yours, true), f"wrong only {where}"


def _statistics(case):
    """Guess a mean, a variance, a sum or a norm that was taken for a constant."""
    X, missed = case.value, case.true - case.yours
    for axis, line in (-1, "row"), (0, "column"):
        if case.name in case.weights or X.ndim < 2 or X.shape[axis] < 3:
            continue
        traces = {"mean": np.ones_like(X), "variance": X - X.mean(axis, keepdims=True), "norm": X}
        traces |= {"sum": case.Y} if case.Y.shape == X.shape else {}
        through = {
            name: trace * (trace * missed).sum(axis, keepdims=True) / (trace * trace).sum(axis, keepdims=True)
            for name, trace in traces.items()
        }
        through["mean and variance"] = through["mean"] + through["variance"]
        for name, part in through.items():
            yield part, missed, f"the gradient through each {line}'s {name} is missing"


def _couplings(case):
    """Guess from the whole Jacobian: a row for each output, a column for each input."""
    if case.jacobians is None:
        return
    true, yours = case.jacobians
    true = np.where(np.abs(true) < 1e-7 * np.abs(true).max(), 0.0, true)
    batch, outputs = len(case.X), case.Y.shape[-1:]
    if true.shape[0] == true.shape[1] and np.any(true != np.diag(np.diag(true))):
        alone = "each output is treated as if it depended on one input only"
        yield yours, np.diag(np.diag(true)), f"{alone} (that part is right): the cross terms are missing"
        yield yours, np.diag(np.diag(yours)), f"{alone} (and that part is wrong): the cross terms are missing"
        yield yours, true.T, "the whole Jacobian is transposed: a matrix inside is"
    if case.Y.shape[:1] == case.value.shape[:1] == (batch,) and batch > 1:
        own = np.kron(np.eye(batch), np.ones((len(true) // batch, true.shape[1] // batch)))
        yield yours, true * own, "this layer mixes the examples of the batch, and that part is missing"
        yield yours * own, true, "the examples of the batch leak into each other"
    speaks = yours.reshape(-1, *outputs, true.shape[1]).any(axis=(0, 2))
    silent = ", ".join(map(str, np.flatnonzero(~speaks)))
    yield yours, true * np.resize(speaks, len(true))[:, None], f"output column {silent} sends no gradient back: a branch is forgotten"
    missing = np.sum((true != 0) & (yours == 0))
    yield yours, true * (yours != 0), f"{missing} of {np.sum(true != 0)} couplings between outputs and inputs are missing, the rest is right"
    if (np.count_nonzero(true, axis=1) > 1).any():
        ratios = (yours * true).sum(axis=1) / (yours * yours).sum(axis=1).clip(1e-300)
        shaped = np.where(true.any(axis=1), ratios, np.nan).reshape(case.Y.shape)
        names = [name for name, factor in _suspects(case) if same(factor + 0 * case.Y, shaped)]
        yield yours * ratios[:, None], true, "each output is off by its own factor" + (f", and that factor is {names[0]}" if names else "")
    yield np.sort(yours, axis=None), np.sort(true, axis=None), "right numbers, wrong places"


def _in_general(case):
    """Say how far the direction is right."""
    known = ~np.isnan(case.true)
    yours, true = case.yours[known], case.true[known]
    cosine = np.vdot(yours, true) / (np.linalg.norm(yours) * np.linalg.norm(true))
    how = "roughly the right direction, but wrong values" if cosine > 0.5 else "unrelated to the true gradient"
    return f"{how} (cosine {cosine:.2f})"


def explain(error):
    """Say why backward could not run, and what the shapes in the message suggest."""
    shapes = [tuple(map(int, re.findall(r"\d+", text))) for text in re.findall(r"\(\d[\d, ]*\)", str(error))]
    hint = ""
    for one, other in permutations(shapes, 2):
        if one != other and one == other[::-1]:
            hint = " (two of these shapes are each other's transpose)"
        elif other and one[1:] == other:
            hint = " (not summed over the batch? add .sum(axis=0))"
    return f"{type(error).__name__}: {error}{hint}"
