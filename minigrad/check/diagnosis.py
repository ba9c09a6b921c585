"""Diagnoses of a wrong gradient: a list of hypotheses.

A hypothesis is a pair of arrays that agree only if a certain mistake was made, and the sentence that names
the mistake. The first that fits is used, so specific ones come before general ones. Wrong gradients are
found in compare.py. Introduced in chapter 03.
"""

import re
from dataclasses import dataclass
from itertools import permutations

import numpy as np

GENERAL = "wrong values"  # if no hypothesis fits


def diagnose(name, values, yours, true, Y, dY, jacobians=None):  # noqa: PLR0913  all that is known
    """Name the mistake in a wrong gradient.

    Parameters
    ----------
    name : str
        The array that the gradient belongs to.
    values, yours, true : dict of name to array
        For each input and parameter, the inputs first: the nudged array, its gradient by backward, and
        its gradient by nudging, nan for entries that were not measured.
    Y, dY : array
        The layer's output, and the gradient passed to backward.
    jacobians : pair of arrays (Y.size, size), optional
        The Jacobians by nudging and by backward.

    Returns
    -------
    str
        The sentence of the first hypothesis that fits.

    References
    ----------
    Chapter 03.

    Examples
    --------
    >>> X, dX = np.ones((5, 3)), np.arange(15.0).reshape(5, 3)
    >>> diagnose("input X", {"input X": X}, {"input X": dX / 5}, {"input X": dX}, Y=X, dY=X)
    '5 times too small: 5 is the batch size'
    """
    case = Case(name, values, yours, true, Y, dY, jacobians)
    guesses = (guess for hypothesis in HYPOTHESES for guess in hypothesis(case))
    return next((words for a, b, words in guesses if same(a, b)), GENERAL)


def same(a, b, tol=1e-5):
    """Return whether two arrays agree, relative to the largest entry; nan in b agrees with anything."""
    known = ~np.isnan(b)
    return a.shape == b.shape and known.any() and np.abs(a - b)[known].max() <= tol * np.abs(b[known]).max()


@dataclass(eq=False, repr=False)  # == of arrays is an array
class Case:
    """One wrong gradient, and everything known about it."""

    name: str
    values: dict
    gradients: dict
    true_gradients: dict
    Y: np.ndarray
    dY: np.ndarray
    jacobians: tuple

    def __post_init__(self):
        self.x, self.X = self.values[self.name], next(iter(self.values.values()))
        self.yours, self.true = self.gradients[self.name], self.true_gradients[self.name]
        self.known, Y = ~np.isnan(self.true), self.Y
        factors = {"1 - Y²": 1 - Y * Y, "1 - Y": 1 - Y, "1 + Y": 1 + Y, "Y": Y, "X": self.x}
        self.factors = factors | self.values

    @property
    def missing(self):
        """The difference between the right gradient and yours."""
        return self.true - self.yours


CERTAIN = np.zeros(1), np.zeros(1)  # two arrays that agree: a hypothesis that always fits
PLACES = "right numbers, wrong places: a transpose, reshape or flip is not undone"


def _nothing_to_compare(case):
    if case.yours is None:
        yield *CERTAIN, "backward returned None: is a `return` missing?"
    elif not np.isfinite(case.yours).all():
        wrong = np.sum(~np.isfinite(case.yours))
        yield *CERTAIN, f"nan or infinity in {wrong} of {case.yours.size} entries"


def _another_shape(case):
    yours, true = case.yours, case.true
    if yours.shape == true.shape:
        return
    shapes, extra = f"shape {yours.shape} instead of {true.shape}", tuple(range(yours.ndim - true.ndim))
    yield yours, true.T, f"transposed: {shapes}"
    yield yours.ravel(), true.ravel(), f"right numbers in a wrong shape: {shapes}"
    yield yours.sum(axis=extra), true, f"not summed over the batch: add .sum(axis=0), {shapes}"
    yield *CERTAIN, f"{shapes}: a gradient has the shape of its array"


def _nothing_or_nearly_right(case):
    yours, true, known = case.yours, case.true, case.known
    yield yours, 0 * yours, "all zero: no gradient arrives here"
    if not known.any():
        yield *CERTAIN, "right where sampled, wrong elsewhere: raise max_entries"
    if same(yours, true, tol=1e-4):
        yield *CERTAIN, "nearly right: a small term is missing, or an approximation is used"
    if np.abs(true[known]).max() < 1e-7 * np.abs(yours).max():
        yield *CERTAIN, "the output does not depend on this, so its gradient is zero"


def _a_factor_or_a_sign(case):
    yours, true, known = case.yours, case.true, case.known
    ratio = np.vdot(yours[known], true[known]) / np.vdot(true[known], true[known])
    yield yours, ratio * true, _times(ratio, case.X, case.Y)
    yield np.abs(yours), np.abs(true), f"{np.sum(yours * true < 0)} of {true.size} signs are flipped"


def _another_gradient(case):
    yield case.yours, case.true.T, "transposed"
    for other, gradient in case.true_gradients.items():
        yield case.yours, gradient, f"this is the gradient of {other}"


def _summed_or_averaged(case):
    yours, true = case.yours, case.true
    for axis in (None, *range(true.ndim)):
        along = "every axis" if axis is None else f"axis {axis}"
        yield yours, true.sum(axis, keepdims=True) + 0 * true, f"summed over {along}, then repeated"
        yield yours, true.mean(axis, keepdims=True) + 0 * true, f"averaged over {along}, then repeated"


def _dY_itself(case):
    yield case.yours, case.dY, "dY was returned unchanged: the layer's own slope is missing"
    yield case.missing, case.dY, "the path around the layer is missing: add dY"
    yield -case.missing, case.dY, "dY is added once too often: is there no path around the layer?"


def _a_factor_for_each_entry(case):
    yours, true = case.yours, case.true
    for factor, array in case.factors.items():
        if array.shape == true.shape[true.ndim - array.ndim :]:
            yield yours * array, true, f"a missing factor {factor}, element by element"
            yield yours, true * array, f"a factor {factor} too much, element by element"


def _wrong_places(case):
    yield np.sort(case.yours, axis=None), np.sort(case.true, axis=None), PLACES


def _wrong_in_some_places(case):
    x, yours, true, known, X = case.x, case.yours, case.true, case.known, case.X
    wrong = np.abs(case.missing) > 1e-5 * np.abs(true[known]).max()
    regions = {"where it is negative": x < 0, "where it is positive": x > 0, "beyond -1 and 1": np.abs(x) > 1}
    regions = regions if x.size > 9 else {}  # a few entries lie there by chance
    for axis in range(true.ndim):
        hit = wrong.any(axis=tuple({*range(true.ndim)} - {axis}), keepdims=True)
        regions[f"at index {', '.join(map(str, np.flatnonzero(hit)))} of axis {axis}"] = hit | (wrong & False)
    hint = ": repeated in X? use np.add.at" if X.dtype.kind in "iu" and len(np.unique(X)) < X.size else ""
    for where, region in regions.items():
        if (region & known).any() and wrong[region & known].mean() > 0.5 and region.mean() < 0.7:
            yield yours, np.where(region, yours, true), f"wrong only {where}{hint}"


def _missing_couplings(case):
    """Compare whole Jacobians: one row per output, one column per input."""
    if case.jacobians is None:
        return
    x, X, Y = case.x, case.X, case.Y
    J, mine = (np.where(np.abs(J) < 1e-7 * np.abs(case.jacobians[0]).max(), 0.0, J) for J in case.jacobians)
    if len(J) == len(J.T) and np.any(J != np.diag(np.diag(J))):
        alone = "each output is treated as if it depended on one input only"
        yield mine, np.diag(np.diag(J)), f"{alone} (that part is right): the cross terms are missing"
        yield mine, J.T, "the whole Jacobian is transposed: so is a matrix inside"
    if x.shape[:1] == Y.shape[:1] == X.shape[:1]:
        own = np.kron(np.eye(len(X)), np.ones((len(J) // len(X), x[0].size)))
        yield mine, J * own, "this layer mixes the examples of the batch, and that part is missing"
    yield from _silent_outputs(case, J, mine)
    yield mine, J * (mine != 0), f"right, but {np.sum((J != 0) & (mine == 0))} couplings are missing"
    yield np.sort(mine, axis=None), np.sort(J, axis=None), PLACES
    ratios = (mine * J).sum(axis=1) / (mine * mine).sum(axis=1).clip(1e-300)
    for factor, array in case.factors.items():
        if array.shape == Y.shape[Y.ndim - array.ndim :] and same(array + 0 * Y, ratios.reshape(Y.shape)):
            yield mine * ratios[:, None], J, f"each output's gradient lacks the factor {factor}"


def _silent_outputs(case, J, mine):
    """Name the outputs without a gradient: columns, examples, or single entries."""
    sends = mine.any(axis=1).reshape(case.Y.shape)
    hints = {
        -1: ("output column", "is a branch forgotten?"),
        0: ("example", "is a sum over the batch missing?"),
    }
    for axis, (what, hint) in hints.items():
        others = tuple({*range(sends.ndim)} - {axis % max(sends.ndim, 1)})
        silent = np.flatnonzero(~sends.any(axis=others)) if sends.ndim > 1 else ()
        if len(silent):
            verb = "sends" if len(silent) == 1 or axis else "send"
            numbers = ("s " if verb == "send" else " ") + ", ".join(map(str, silent))
            yield mine, J * sends.reshape(-1, 1), f"{what}{numbers} {verb} nothing back: {hint}"
    if not sends.all():
        yield mine, J * sends.reshape(-1, 1), f"{np.sum(~sends)} of {sends.size} outputs send nothing back"


def _a_statistic_taken_for_a_constant(case):
    x, X, Y, yours, true, missing = case.x, case.X, case.Y, case.yours, case.true, case.missing
    for axis, word in (-1, "row"), (0, "column"):
        if x.shape == X.shape and x.ndim > 1 and x.shape[axis] > 2:
            one, centred = np.ones_like(x), x - _mean(x, axis)
            parts = {"mean": [one], "variance": [centred], "norm": [x], "mean and variance": [one, centred]}
            parts |= {"sum": [Y]} if Y.shape == x.shape else {}
            for what, traces in parts.items():
                part = sum(t * _mean(t * missing, axis) / (_mean(t * t, axis) + 1e-300) for t in traces)
                yield part, missing, f"the gradient through each {word}'s {what} is missing or wrong"
            ratios = _mean(yours * true, axis) / (_mean(yours * yours, axis) + 1e-300)
            yield yours * ratios, true, f"each {word} is off by a different factor"


HYPOTHESES = (
    _nothing_to_compare,
    _another_shape,
    _nothing_or_nearly_right,
    _a_factor_or_a_sign,
    _another_gradient,
    _summed_or_averaged,
    _dY_itself,
    _a_factor_for_each_entry,
    _wrong_places,
    _wrong_in_some_places,
    _missing_couplings,
    _a_statistic_taken_for_a_constant,
)


def _mean(array, axis):
    """Return the mean along an axis, which is kept with length 1."""
    return array.mean(axis, keepdims=True)


def _times(ratio, X, Y):
    """Name the factor by which a gradient is off, and the size, or pair of sizes, that equals it."""
    last = "inputs" if Y.shape else "columns"  # of a loss, whose X is the output of a network
    sizes = {"the batch size": (*X.shape, 1)[0], f"the number of {last}": (1, *X.shape)[-1]}
    sizes.setdefault("the number of outputs", (1, *Y.shape)[-1])
    sizes |= {"the size of Y": Y.size, "the size of X": X.size}
    sizes |= {f"the length of axis {axis} of X": length for axis, length in enumerate(X.shape[1:-1], 1)}
    meanings = [(size, name) for name, size in sizes.items()] + [(2, "")]
    meanings += [(2 * size, f"{name} times 2") for name, size in sizes.items()]
    meanings += [(size**0.5, f"the square root of {name}") for name, size in sizes.items()]
    for (name, size), (other, another) in permutations(sizes.items(), 2):
        meanings += [
            (size * another, f"{name} times {other}"),
            (size / another, f"{name} divided by {other}"),
        ]
    number, how = max(abs(ratio), 1 / (abs(ratio) + 1e-300)), "large" if abs(ratio) > 1 else "small"
    name = next((name for value, name in meanings if np.isclose(value, number, 1e-4)), "")
    times = f"{number:.4g} times too {how}" + (f": {number:.4g} is {name}" if name else "")
    sign = "the sign is flipped" + ("" if np.isclose(number, 1, 1e-4) else f", and it is {times}")
    return times if ratio > 0 else sign


def explain(error):
    """Return an error's message, with the cause that its shapes suggest."""
    shapes = [re.findall(r"\d+", shape) for shape in re.findall(r"\(\d[\d, ]*\)", str(error))]
    for one, other in permutations(shapes, 2):
        if one == other[::-1] != other:
            return f"{error} (two of these shapes are each other's transpose)"
        came_short = ", got " in str(error) and shapes[-1] == other
        if one == ["1", *other] and other and not came_short:
            return f"{error} (an axis of length 1 too many: did a sum keep it? leave out keepdims=True)"
        if one[1:] == other != []:
            return f"{error} (not summed over the batch? add .sum(axis=0))"
    return f"{error}" + (" (is a .T missing, or one too many?)" if "matmul" in str(error) else "")
