"""Is this gradient right? An instrument that finds out by nudging.

Holds numerical_gradient, the slope of any function along every entry of an array, and gradcheck, which puts a
layer through nine rules of behaviour and then compares each of its gradients with nudging. Leaves out the
words for what is wrong (diagnosis.py) and the picture of a report (course.figures). Built in chapters 01
(numerical_gradient) and 03 (gradcheck).
"""

import copy
import inspect
from itertools import chain

import numpy as np

from minigrad.diagnosis import Report, Row, diagnose, explain
from minigrad.shapes import ShapeError, require_batch, shape_of

EPS, EPS32 = np.finfo(np.float64).eps, np.finfo(np.float32).eps
NUDGE = np.cbrt(EPS)  # 6e-6: a larger nudge leaves the straight part of f, a smaller one drowns in rounding


def numerical_gradient(f, array, dY=None):
    """Find the slope of a function along every entry of an array, by nudging one entry after the other.

    Parameters
    ----------
    f : function, array -> number, or array -> array of dY's shape
        It is given nudged copies; your array is never touched.
    array : array of any shape
        Where the slope is wanted. The work is done in float64, whatever the array's own type.
    dY : array of the shape of f's result, optional
        How much each entry of the result counts. Needed if f returns an array.

    Returns
    -------
    array of array's shape
        The slope of f, or of Σ dY · f, along every entry.

    Raises
    ------
    ShapeError
        If f's result has another shape than dY, or is an array where no dY is given.

    Notes
    -----
    slope = (f(x + h) - f(x - h)) / 2h, with h = ∛eps · max(1, |x|).
    Its error grows with h², its rounding with eps / h; this h makes their sum smallest.

    References
    ----------
    Chapter 01.

    Examples
    --------
    >>> numerical_gradient(lambda x: (x * x).sum(), np.array([1.0, -3.0])).round(6)
    array([ 2., -6.])
    """
    x = np.array(array, dtype=np.float64)
    weight = np.ones(()) if dY is None else np.asarray(dY)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        right, left = x.copy(), x.copy()
        right[index] += NUDGE * max(1.0, abs(x[index]))
        left[index] -= NUDGE * max(1.0, abs(x[index]))
        distance = right[index] - left[index]  # the one really stored
        difference = np.asarray(f(right)) - f(left)  # subtract first, then weight: less is lost to rounding
        if difference.shape != weight.shape:
            raise ShapeError(f"f returned shape {difference.shape}: dY needs it too, got {weight.shape}.")
        gradient[index] = np.sum(weight * difference) / distance
    return gradient


def gradcheck(layer, X, *, training=False, tol=1e-6, max_entries=300, rng=0):
    """Check a layer: nine rules of behaviour first, then each gradient against nudging, then what is wrong.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
        A Layer, a plain function, or a loss with its target fixed: `lambda Y: mse(Y, T)`. It is left bit for
        bit as it was.
    X : array (batch, ...) or tuple of arrays
        Floats are nudged; integers and booleans have no gradient, and backward returns None for them.
    training : bool
        Passed to a layer that declares it.
    tol : float
        The largest relative error that passes.
    max_entries : int
        Of a larger array only so many entries are nudged, drawn at random, and then three random directions
        through all of them. Nor are Jacobians computed for more outputs.
    rng : int or numpy.random.Generator
        Draws dY and the sample.

    Returns
    -------
    Report

    Raises
    ------
    TypeError
        If X holds no numbers, or integers for which the layer has a gradient.
    ShapeError
        If X is empty or has no batch axis.
    ValueError
        If X or Y holds nan or infinity.

    Notes
    -----
    error = |yours - nudged| / max(|yours|, |nudged|, 1 % of the largest entry, uncertainty / tol).
    The uncertainty is ten times the change from step h to h/2, plus rounding: 8 eps |dY| (|Y| + scale) / h.
    All in float64, with a random dY. At a kink any value between the two one-sided slopes passes.

    References
    ----------
    Chapter 03.

    Examples
    --------
    >>> def square(X):
    ...     return X * X, lambda dY: X * dY
    >>> gradcheck(square, np.array([[1.0, -2.0, 3.0]])).problems
    ['input X: 2 times too small']
    """
    require_batch("X", X)
    report = Report(f"gradcheck {getattr(layer, '__name__', type(layer).__name__)}  X {shape_of(X)}")
    rng = np.random.default_rng(rng)
    trial = _Trial(layer, X, training)
    try:
        for rule, names, complaint in _rules(trial, rng):
            report.rules[rule] = f"{', '.join(names)}: {complaint}" if names else ""
            trial.tainted.update(names)
        if trial.gradients:
            _compare(trial, report, tol, max_entries, rng)
    finally:
        trial.restore()
    return report


class _Trial:
    """A layer as a function of named float64 arrays: every run starts from the same state."""

    def __init__(self, layer, X, training):
        self.layer, self.many = copy.deepcopy(layer), isinstance(X, tuple)
        self.options = {"training": training} if "training" in inspect.signature(layer).parameters else {}
        inputs = {f"input X[{i}]": entry for i, entry in enumerate(X)} if self.many else {"input X": X}
        found = dict(_within(self.layer, "", {}))
        words = [(thing, word) for thing in found.values() for word in ("data", "grad", "state")]
        self.own = [(thing, word, getattr(thing, word)) for thing, word in words if hasattr(thing, word)]
        self.holders = {name: thing for name, thing in found.items() if hasattr(thing, "data")}
        arrays = inputs | {name: holder.data for name, holder in self.holders.items()}
        self.values = {name: a.astype(float) if a.dtype.kind == "f" else a for name, a in arrays.items()}
        self.inputs, self.weights = list(inputs), [name for name in found if hasattr(found[name], "grad")]
        self.nudged = [name for name in inputs if arrays[name].dtype.kind == "f"] + self.weights
        self.gradients, self.tainted = {}, set()

    def restore(self):
        """Give the layer back its own arrays, and its random generators the state they had."""
        for thing, word, value in self.own:
            setattr(thing, word, value)

    def forward(self, changed=None, restore=True):
        """Run forward on copies of all arrays, some of them changed."""
        if restore:
            self.restore()
        self.lent = {name: array.copy() for name, array in (self.values | (changed or {})).items()}
        for name, holder in self.holders.items():
            holder.data = self.lent[name]
        X = tuple(self.lent[name] for name in self.inputs)
        return self.layer(X if self.many else X[0], **self.options)

    def back(self, backward, dY, already=0.0):
        """Run backward on a copy of dY; return the gradients by name, on top of what was there already."""
        for name in self.weights:
            self.holders[name].grad = np.full(self.values[name].shape, already)
        self.sent = dY.copy()
        dX = backward(self.sent)
        if isinstance(dX, tuple) != self.many:
            raise TypeError(f"it returned {type(dX).__name__}, but dX is a tuple exactly when X is one")
        gradients = dict(zip(self.inputs, dX if self.many else (dX,), strict=True))
        gradients |= {name: self.holders[name].grad for name in self.weights}
        return {name: None if g is None else np.array(g, dtype=float) for name, g in gradients.items()}

    def run(self, dY, already=0.0):
        """Run forward and backward; return the gradients by name."""
        return self.back(self.forward()[1], dY, already)

    def moved(self):
        """Return the names of the inputs and weights that are no longer what forward was given."""
        now = self.lent | {name: self.holders[name].data for name in self.weights}
        return [key for key in self.inputs + self.weights if not np.array_equal(now[key], self.values[key])]


def _within(thing, name, seen):
    """Yield (name, thing) for the Parameters, Buffers and random bits within reach of a layer or function."""
    thing = getattr(thing, "__self__", thing)  # what a method is bound to
    if id(thing) in seen or inspect.isclass(thing) or inspect.ismodule(thing):
        return
    seen[id(thing)] = thing
    parts = thing if isinstance(thing, dict) else {}
    if isinstance(thing, np.random.Generator):
        yield name, thing.bit_generator
    elif isinstance(getattr(thing, "data", None), np.ndarray):
        yield name, thing
    elif isinstance(thing, (list, tuple)):
        parts = dict(enumerate(thing))
    elif inspect.isfunction(thing):
        parts = inspect.getclosurevars(thing).globals | inspect.getclosurevars(thing).nonlocals
    elif callable(thing):
        named = getattr(thing, "named_parameters", dict)()  # its own names come first
        parts = dict(named) | getattr(thing, "__dict__", {})  # a PyTorch module returns an iterator
    for key, part in parts.items():
        yield from _within(part, f"{name}.{key}".lstrip("."), seen)


def _unlike(some, others):
    """Return the names of the gradients that differ by more than rounding."""
    pairs = [(name, mine, others[name]) for name, mine in some.items() if mine is not None]
    floor = 1e-12 + 1e-10 * max((np.abs(b).max() for _, _, b in pairs), default=0.0)
    return [name for name, a, b in pairs if np.any(np.abs(a - b) > 1e-5 * np.abs(b).max() + floor)]


def _rules(trial, rng):
    """Yield each rule, what breaks it, and how; stop where nothing more can be judged."""
    result = trial.forward()
    is_pair = isinstance(result, tuple) and len(result) == 2 and callable(result[1])
    other = [] if is_pair and not isinstance(result[0], tuple) else [type(result).__name__]
    yield "forward returns (Y, backward)", other, "not an array and a function, end with `return Y, backward`"
    if other:
        return
    trial.Y = np.array(result[0], dtype=float)
    trial.dY = rng.choice([-1.0, 1.0], trial.Y.shape) * rng.uniform(0.5, 1.5, trial.Y.shape)
    largest = max((np.abs(trial.values[name]).max() for name in trial.nudged), default=0.0)
    trial.rounding = 8 * np.linalg.norm(trial.dY * (np.abs(trial.Y) + np.abs(trial.Y).mean() + largest + 1))
    require_batch("Y", np.atleast_1d(trial.Y))
    moved = trial.moved()
    yield "forward leaves X and the weights alone", moved, "changed, work on a copy"

    Y, backward = trial.forward()
    unsteady = [] if np.allclose(Y, trial.Y, 0, 1e-9 * np.abs(trial.Y).max()) else ["Y"]
    yield "the same X gives the same Y", unsteady, "it differs, draw from a Generator that the layer holds"
    if unsteady:
        return

    try:
        first, second = (trial.back(backward, trial.dY) for _ in range(2))
    except Exception as error:
        yield "backward runs", [type(error).__name__], explain(error)
        return
    yield "backward runs", [], ""
    if integers := [name for name in first if name not in trial.nudged and first[name] is not None]:
        raise TypeError(f"{integers[0]} holds integers: return None for it, or check it with .astype(float).")
    trial.gradients = first
    sent = [] if np.array_equal(trial.sent, trial.dY) else ["dY"]
    yield "backward leaves dY alone", sent, "changed, work on a copy"
    moved = [name for name in trial.moved() if name not in moved] + ["Y"] * (not np.array_equal(Y, trial.Y))
    yield "backward leaves X, Y and the weights alone", moved, "changed, work on a copy"

    lost = _unlike({name: first[name] + 1e6 for name in trial.weights}, trial.run(trial.dY, already=1e6))
    yield "backward adds to the gradients", lost, "overwritten, use += instead of ="

    trial.forward({name: np.flip(trial.values[name]) for name in trial.inputs}, restore=False)
    spoiled, how = _unlike(second, first), "a second call gave another answer: it spoils what it keeps"
    if not spoiled:
        spoiled = _unlike(trial.back(backward, trial.dY), first)
        how = "a later forward changed its answer: keep X in the closure, not on self"
    yield "backward remembers its own forward", [] if moved else spoiled, how

    dY, other_dY = rng.standard_normal((2, *trial.Y.shape))
    one, two, both, tiny = (trial.run(sent) for sent in (dY, other_dY, 2 * dY - 3 * other_dY, 1e-6 * dY))
    bent = _unlike(both, {name: 2 * one[name] - 3 * two[name] for name in both if both[name] is not None})
    how = "not proportional to dY: is there a clip, a sign, an abs?"
    if any(np.abs(tiny[name]).max() > 1e-3 * np.abs(one[name]).max() for name in bent):
        how = "does not vanish with dY: a factor dY is missing"
    yield "backward is linear in dY", bent, how


def _compare(trial, report, tol, max_entries, rng):
    """Compare each gradient with nudging, and have the wrong ones diagnosed."""
    backward, units = trial.forward()[1], np.eye(trial.Y.size if trial.Y.size <= max_entries else 0)
    runs = [trial.back(backward, unit.reshape(trial.Y.shape)) for unit in units]
    found = {name: _judge(trial, name, tol, max_entries, rng) for name in trial.nudged}
    true = {name: gradient for name, (_, gradient, _) in found.items()}
    for name, (row, _, jacobian) in found.items():
        if runs and row.size <= max_entries and trial.gradients[name] is not None:
            report.jacobians[name] = jacobian, np.array([run[name].ravel() for run in runs])
        if row.verdict == "WRONG":
            seen = trial.values, trial.gradients, true, trial.Y, trial.dY, report.jacobians.get(name)
            told = name in trial.tainted
            row = row._replace(verdict="see rules") if told else row._replace(sentence=diagnose(name, *seen))
        report.rows.append(row)


def _judge(trial, name, tol, max_entries, rng, eps=EPS):
    """Nudge each entry of an array, or a sample of them and three random directions through all.

    Returns a Row, not diagnosed yet; the nudged gradient; and, if it is small, the nudged Jacobian.
    """
    value, yours = trial.values[name], trial.gradients[name]
    yours = yours if np.shape(yours) == value.shape else np.full(value.shape, np.nan)
    entries = np.sort(rng.permutation(value.size)[:max_entries])
    sampled = len(entries) < value.size
    ways = (np.eye(1, value.size, entry).reshape(value.shape) for entry in entries)
    through = (rng.standard_normal(value.shape) / np.sqrt(value.size) for _ in range(3 * sampled))
    found = [_nudge(trial, name, way, yours, eps) for way in chain(ways, through)]
    mine, slope, low, high, change, noise, rounding = np.array([numbers for numbers, _ in found]).T
    blur = 10 * (change + noise) + rounding
    size = np.maximum.reduce([np.abs(mine), np.abs(slope), blur / tol])
    error = np.abs(mine - slope) / np.maximum(size, np.nanmax(np.abs(slope)) / 100 + 1e-300)
    crossed = (np.arange(len(slope)) >= len(entries)) & (high - low > blur)  # several kinks at once
    kinks = (error > tol) & (crossed | (low - blur <= mine) & (mine <= high + blur))
    error[kinks | np.isnan(slope)] = 0.0
    # Noise far above float64's rounding, as of float32: once more, with the step and the tolerance for that.
    noisy = noise > np.maximum(change, 1e3 * rounding + 1e-7 * np.abs(slope).max())
    if eps == EPS and (noisy.mean() > 0.5 or noisy.any() and error.max() > tol):
        return _judge(trial, name, max(tol, 1e-3), max_entries, rng, EPS32)
    verdict, sentence = "ok", f"{kinks.sum()} at a kink" if kinks.any() else ""
    if eps == EPS32 or np.isnan(slope).any():
        verdict, sentence = "suspicious", "nudging is rough here: float32 inside, or X at an edge?"
    verdict = verdict if error.max() <= tol else "WRONG"
    gradient = np.full(value.shape, np.nan)
    gradient.flat[entries] = slope[: len(entries)]
    row = Row(name, value.shape, len(entries), value.size, error.max(), verdict, sentence)
    return row, gradient, np.array([slopes.ravel()[:max_entries] for _, slopes in found]).T


def _nudge(trial, name, way, yours, eps):
    """Nudge an array one way; return seven numbers about the slope of Σ dY · Y, and the slopes of all Y.

    The numbers: the slope by backward, by nudging, the least and the greatest at a kink; and three doubts:
    how much it changes with the step, its noise, and float64's rounding.
    """
    here = trial.values[name]
    h = np.cbrt(eps) * max(1.0, np.abs(here * way).max())

    def side(there):
        Y, _ = trial.forward({name: there})
        return (Y - trial.Y) * np.vdot(way, way) / np.vdot(there - here, way)  # the step really stored

    right, left, near_right, near_left = (side(here + step * way) for step in (h, -h, h / 2, -h / 2))
    slopes, near_slopes = (right + left) / 2, (near_right + near_left) / 2
    # Right and left differ by h times the curvature, half as much at half the step: but not at a kink.
    jump, near_jump = right - left, near_right - near_left
    kink = np.abs(near_jump - jump) < 0.25 * np.abs(jump)
    doubts = slopes - near_slopes, np.where(kink, 0.0, jump - 2 * near_jump)
    change, noise = (np.abs(np.sum(trial.dY * doubt)) for doubt in doubts)
    low, high = np.sort(trial.dY * np.where(kink, [near_right, near_left], slopes), axis=0)
    known = np.vdot(yours, way), np.sum(trial.dY * slopes), low.sum(), high.sum()
    return (*known, change, noise, trial.rounding * eps / h), slopes
