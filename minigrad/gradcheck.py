"""Is this gradient right? An instrument that finds out by nudging.

Holds numerical_gradient, the slope of any function along every entry of an array; gradcheck, which puts a layer
through nine rules of behaviour and then compares its gradients with nudging; and the Report of what was found.
Leaves out what is wrong with a gradient, in words (diagnosis.py), and the picture of a report (course.figures).
Built in chapters 01 (numerical_gradient) and 03 (gradcheck).
"""

import copy
import html
import inspect
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

import numpy as np

from minigrad.diagnosis import Case, diagnose, explain
from minigrad.shapes import ShapeError, require_batch, shape_of

EPS = np.finfo(np.float64).eps
EPS32 = np.finfo(np.float32).eps
SMALL = 100  # outputs: up to so many, the whole Jacobian is computed
STEP = np.cbrt(EPS)  # 6e-6: a larger step leaves the straight part of f, a smaller one drowns in rounding

RULES = (
    "forward returns (Y, backward)",
    "forward leaves X and the weights alone",
    "the same X gives the same Y",
    "backward runs",
    "backward leaves dY alone",
    "backward leaves X, Y and the weights alone",
    "backward adds to the gradients",
    "backward remembers its own forward",
    "backward is linear in dY",
)


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
    Its error grows with h² and its rounding with eps / h; this h makes their sum smallest.

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
        right[index] += STEP * max(1.0, abs(x[index]))
        left[index] -= STEP * max(1.0, abs(x[index]))
        step = right[index] - left[index]  # the step really stored
        difference = np.asarray(f(right)) - f(left)  # subtract first, then weight: less is lost to rounding
        if difference.shape != weight.shape:
            raise ShapeError(
                f"f returned shape {difference.shape}; give a dY of that shape, got {weight.shape}."
            )
        gradient[index] = np.sum(weight * difference) / step
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
        Of an array with more entries only so many are nudged, drawn at random, and then three random directions
        through all of them.
    rng : int or numpy.random.Generator
        Draws dY and the sample.

    Returns
    -------
    Report

    Raises
    ------
    TypeError
        If X holds no numbers, or only integers although the layer has a gradient for them.
    ShapeError
        If X is empty or has no batch axis.
    ValueError
        If X holds nan or infinity.

    Notes
    -----
    error = |yours - nudged| / max(|yours|, |nudged|, 1 % of the largest entry, uncertainty / tol).
    The uncertainty is ten times the change from step h to h/2, plus the rounding, 8 eps |dY| |Y| / h.
    All of it in float64, with a random dY. At a kink any value between the two one-sided slopes passes.

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
    rng = np.random.default_rng(rng)
    trial = _Trial(layer, X, training)
    name = getattr(layer, "__name__", type(layer).__name__).strip("<>")
    report = Report(f"gradcheck {name}  X {shape_of(X)}")
    try:
        report.rules = dict(zip(RULES, _complaints(trial, rng), strict=False))
        if trial.gradients:
            _compare(trial, report, tol, max_entries, rng)
    finally:
        trial.restore()
    return report


class Row(NamedTuple):
    """What was found about one array: how many entries were nudged, how far off the worst is, and the verdict."""

    name: str
    shape: tuple
    checked: int
    size: int
    error: float
    verdict: str  # ok, suspicious, WRONG, or see rules: a broken rule explains it
    sentence: str

    def words(self):
        """Return the row as it is printed, cell by cell."""
        checked = f"{self.checked}/{self.size}"
        return self.name, str(self.shape), checked, f"{self.error:.1e}", self.verdict, self.sentence


@dataclass
class Report:
    """What gradcheck found: print it, or let a notebook show it.

    Parameters
    ----------
    title : str
        Which layer, and X's shape.
    rules : dict of rule to complaint
        Empty for a rule that is kept; a rule that could not be judged is left out.
    rows : list of Row
        One for each input and parameter.
    jacobians : dict of name to pair of arrays (Y.size, size)
        By nudging and by backward, where they are small.
    """

    title: str
    rules: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    jacobians: dict = field(default_factory=dict)

    @property
    def problems(self):
        """One sentence for each broken rule and each wrong gradient."""
        broken = [f"{rule}: {complaint}" for rule, complaint in self.rules.items() if complaint]
        return broken + [f"{row.name}: {row.sentence}" for row in self.rows if row.verdict == "WRONG"]

    @property
    def ok(self):
        """True if there is no problem."""
        return not self.problems

    def _words(self):
        """Return the table, row by row, and the lines below it."""
        table = [
            ("gradient of", "shape", "checked", "worst error", "", ""),
            *(row.words() for row in self.rows),
        ]
        broken = [f"BROKEN {rule}: {complaint}" for rule, complaint in self.rules.items() if complaint]
        kept = f"{len(self.rules)} rules of a layer: all kept"
        return table, [
            *(broken or [kept]),
            "passed" if self.ok else f"FAILED: {len(self.problems)} problem(s)",
        ]

    def __str__(self):
        table, (*rules, result) = self._words()
        width = max(len(name) for name, *_ in table)
        lines = [
            f"  {name:<{width}}  {shape:<10}  {checked:>8}  {error:>11}  {verdict}  {sentence}".rstrip()
            for name, shape, checked, error, verdict, sentence in table
        ]
        return "\n".join([self.title, *lines, *(f"  {rule}" for rule in rules), result])

    def _repr_html_(self):
        table, notes = self._words()
        rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in cells) for cells in table]
        below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
        page = f"<b>{html.escape(self.title)}</b><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{below}"
        # A colour only underlines its word, which keeps the page's own colour: readable on any ground.
        for words, colour in (
            ("ok|passed", "#009E73"),
            ("WRONG|BROKEN|FAILED|suspicious|see rules", "#D55E00"),
        ):
            page = re.sub(f">({words})", rf"><b style='border-bottom: 3px solid {colour}'>\1</b>", page)
        return page


class _Trial:
    """A layer as a function of named float64 arrays: every run starts from the same state."""

    def __init__(self, layer, X, training):
        self.layer, self.is_tuple = copy.deepcopy(layer), isinstance(X, tuple)
        self.options = {"training": training} if "training" in inspect.signature(layer).parameters else {}
        inputs = {f"input X[{i}]": entry for i, entry in enumerate(X)} if self.is_tuple else {"input X": X}
        for name, entry in inputs.items():
            require_batch(name.removeprefix("input "), entry)
        found = dict(_within(self.layer))
        self.before = [
            (thing, word, getattr(thing, word))
            for thing in found.values()
            for word in ("data", "grad", "state")
            if hasattr(thing, word)
        ]
        self.holders = {name: thing for name, thing in found.items() if hasattr(thing, "data")}
        arrays = inputs | {name: holder.data for name, holder in self.holders.items()}
        self.values = {
            name: array.astype(np.float64 if array.dtype.kind == "f" else array.dtype)
            for name, array in arrays.items()
        }
        self.inputs = list(inputs)
        self.weights = [name for name, holder in self.holders.items() if hasattr(holder, "grad")]
        self.nudged = [name for name in inputs if self.values[name].dtype.kind == "f"] + self.weights
        self.gradients, self.tainted = {}, set()

    def restore(self):
        """Give back the layer's own arrays and the state of its random generators."""
        for thing, word, value in self.before:
            setattr(thing, word, value)

    def forward(self, changed=None, restore=True):
        """Run forward on copies of all arrays, some of them changed."""
        if restore:
            self.restore()
        self.arrays = {name: array.copy() for name, array in (self.values | (changed or {})).items()}
        for name, holder in self.holders.items():
            holder.data = self.arrays[name]
        X = tuple(self.arrays[name] for name in self.inputs)
        return self.layer(X if self.is_tuple else X[0], **self.options)

    def back(self, backward, dY, already=None):
        """Run backward on a copy of dY; return the gradients by name, on top of what was there already."""
        for name in self.weights:
            self.holders[name].grad = already[name].copy() if already else np.zeros_like(self.values[name])
        self.dY_sent = dY.copy()
        dX = backward(self.dY_sent)
        if isinstance(dX, tuple) != self.is_tuple:
            raise TypeError(
                f"backward returned {_kind(dX)}; X is {'a tuple' if self.is_tuple else 'one array'}, so is dX"
            )
        gradients = dict(zip(self.inputs, dX if self.is_tuple else (dX,), strict=True))
        gradients |= {name: self.holders[name].grad for name in self.weights}
        return {name: None if g is None else np.array(g, dtype=np.float64) for name, g in gradients.items()}

    def run(self, dY, already=None):
        """Run forward and backward; return the gradients by name."""
        return self.back(self.forward()[1], dY, already)

    def moved(self):
        """Return the names of the arrays that are no longer what forward was given."""
        now = self.arrays | {name: holder.data for name, holder in self.holders.items()}
        return [name for name, array in self.values.items() if not np.array_equal(now[name], array)]


def _within(thing, name="", seen=None):
    """Yield (name, thing) for the Parameters, Buffers and random bits that a layer holds or a function captured."""
    seen = {} if seen is None else seen
    if id(thing) in seen or isinstance(thing, (type, ModuleType)):
        return
    seen[id(thing)] = thing
    inside = {}
    if isinstance(thing, np.random.Generator):
        yield name, thing.bit_generator
    elif isinstance(getattr(thing, "data", None), np.ndarray):
        yield name, thing
    elif inspect.isfunction(thing):
        captured = inspect.getclosurevars(thing)
        inside = {**captured.globals, **captured.nonlocals}
    elif isinstance(thing, (list, tuple)):
        inside = dict(enumerate(thing))
    elif isinstance(thing, dict):
        inside = thing
    elif hasattr(thing, "named_parameters"):
        inside = {**thing.named_parameters(), **vars(thing)}  # its own names come first
    for key, part in inside.items():
        yield from _within(part, f"{name}.{key}" if name else str(key), seen)


def _kind(thing):
    """Say what something is, in a word."""
    kinds = ", ".join(type(part).__name__ for part in (thing if isinstance(thing, tuple) else (thing,)))
    return f"({kinds})" if isinstance(thing, tuple) else kinds


def _unlike(some, others):
    """Return the names of the gradients that differ by more than rounding."""
    names = [name for name in some if some[name] is not None]
    return [name for name in names if not _alike(some[name], others[name])]


def _alike(a, b):
    """Tell whether two arrays differ by rounding at most."""
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= 1e-6 * np.abs(b).max() + 1e-12))


def _changed(names):
    """Complain about arrays that should have been left alone."""
    return f"{', '.join(names)} changed: work on a copy" if names else ""


def _complaints(trial, rng):
    """Yield what is to be said about each of the RULES, "" if it is kept; stop when nothing more can be judged."""
    result = trial.forward()
    if not (isinstance(result, tuple) and len(result) == 2 and callable(result[1])):
        yield f"it returned {_kind(result)}: end it with `return Y, backward`"
        return
    trial.Y = np.array(result[0], dtype=np.float64)
    trial.dY = rng.choice([-1.0, 1.0], trial.Y.shape) * rng.uniform(0.5, 1.5, trial.Y.shape)
    if not np.isfinite(trial.Y).all():
        yield "Y holds nan or infinity for this X"
        return
    yield ""

    by_forward = trial.moved()
    yield _changed(by_forward)

    Y, backward = trial.forward()
    if not _alike(np.asarray(Y), trial.Y):
        yield "Y differs from run to run: draw from a np.random.Generator that the layer holds"
        return
    yield ""

    try:
        gradients = trial.back(backward, trial.dY)
    except Exception as error:
        yield explain(error)
        return
    integers = [name for name in trial.inputs if name not in trial.nudged and gradients[name] is not None]
    if integers and not trial.is_tuple:
        raise TypeError("X holds integers, and an integer cannot be nudged: write X.astype(float).")
    yield f"return None for {', '.join(integers)}: integers have no gradient" if integers else ""
    trial.gradients = gradients

    yield _changed([] if np.array_equal(trial.dY_sent, trial.dY) else ["dY"])
    by_backward = [name for name in trial.moved() if name not in by_forward]
    yield _changed(by_backward if np.array_equal(Y, trial.Y) else ["Y", *by_backward])

    already = {name: 1.0 + np.abs(gradients[name]) for name in trial.weights}
    on_top = trial.run(trial.dY, already)
    lost = [name for name in already if not _alike(on_top[name] - already[name], gradients[name])]
    yield f"{', '.join(lost)}: overwritten, use += instead of =" if lost else ""

    other = {name: np.roll(trial.values[name], 1, axis=0) for name in trial.inputs}
    other |= {name: 0.5 * trial.values[name] for name in trial.inputs if name in trial.nudged}
    try:
        second = trial.back(backward, trial.dY)
        trial.forward(other, restore=False)
        third = trial.back(backward, trial.dY)
    except Exception as error:
        yield f"a second call fails: {explain(error)}"
    else:
        later = "a later forward changed its answer: keep X in the closure, not on self"
        spoiled = "a second call gave another answer: backward changes what it remembers"
        yield spoiled if _unlike(second, gradients) else later if _unlike(third, second) else ""

    dY, other_dY = rng.standard_normal((2, *trial.Y.shape))
    one, two, both, none = (trial.run(sent) for sent in (dY, other_dY, 2 * dY - 3 * other_dY, 0 * dY))
    crooked = _unlike(both, {name: 2 * one[name] - 3 * two[name] for name in one if one[name] is not None})
    why = "not proportional to dY: is there an abs, a clip, a sign?"
    if any(none[name].any() for name in crooked):
        why = "not zero when dY is zero: a factor dY is missing"
    yield f"{', '.join(crooked)}: {why}" if crooked else ""
    trial.tainted = {*lost, *crooked, *(trial.nudged if by_backward else [])}


def _slope(trial, name, where, direction, eps):
    """Nudge one entry, or all along a direction.

    Returns the slope of Σ dY · Y, how much it depends on the step, its rounding, the lowest and the highest slope
    at a kink; and the slope of each entry of Y.
    """
    here = trial.values[name].ravel()
    h = np.cbrt(eps) * max(1.0, np.abs(here[where]).max())
    sides = []
    for step in (h, -h, h / 2, -h / 2):
        there = here.copy()
        there[where] += step * direction
        moved = np.vdot(there[where] - here[where], direction)  # the step really stored
        Y, _ = trial.forward({name: there.reshape(trial.values[name].shape)})
        sides.append((np.asarray(Y, dtype=np.float64) - trial.Y) / moved)
    right, left, near_right, near_left = sides
    slopes, near_slopes = (right + left) / 2, (near_right + near_left) / 2
    # Right and left slope differ by h times the curvature, half as much at half the step: but not at a kink.
    kink = np.abs(near_right - near_left) > 0.75 * np.abs(right - left)
    ends = trial.dY * np.where(kink, [near_right, near_left], slopes)
    change = np.abs(np.sum(trial.dY * (slopes - near_slopes)))
    rounding = 8 * eps / h * np.linalg.norm(trial.dY * (np.abs(trial.Y) + np.abs(trial.Y).mean()))
    return (
        np.sum(trial.dY * slopes),
        change,
        rounding,
        ends.min(axis=0).sum(),
        ends.max(axis=0).sum(),
    ), slopes


class _Nudged(NamedTuple):
    """What nudging found about one array: one entry for each way in which it was nudged."""

    ways: list
    slope: np.ndarray
    blur: np.ndarray
    low: np.ndarray
    high: np.ndarray
    jacobian: np.ndarray
    coarse: bool


def _nudge(trial, name, max_entries, rng):
    """Nudge each entry of an array, or a sample of them and three random directions through all."""
    size = trial.values[name].size
    ways = [(entry, 1.0) for entry in rng.permutation(size)[:max_entries]]
    if size > max_entries:
        ways += [(slice(None), rng.choice([-1.0, 1.0], size) / np.sqrt(size)) for _ in range(3)]
    for eps in (EPS, EPS32):
        numbers, slopes = zip(*(_slope(trial, name, *way, eps) for way in ways), strict=True)
        slope, change, rounding, low, high = np.array(numbers).T
        noise = np.median(change[change > 0]) if change.any() else 0.0
        # Noise above float64's rounding but not above float32's: go again with the step that suits float32.
        if not 1e-4 * np.abs(slope).max() < noise < np.median(rounding) * EPS32 / EPS:
            break
    return _Nudged(
        ways, slope, 10 * change + rounding, low, high, np.reshape(slopes, (len(ways), -1)).T, eps == EPS32
    )


def _judge(yours, found, tol):
    """Return the worst relative error of a gradient, the verdict, and a sentence if one is at hand."""
    if yours is None:
        return np.inf, "WRONG", "backward returned None: is a `return` missing?"
    mine = np.array([np.vdot(yours.ravel()[where], direction) for where, direction in found.ways])
    tol = max(tol, 1e-3) if found.coarse else tol
    largest = np.abs(found.slope).max()
    size = np.maximum.reduce([np.abs(mine), np.abs(found.slope), found.blur / tol])
    error = np.abs(mine - found.slope) / np.maximum(size, max(largest / 100, 1e-300))
    kinks = (error > tol) & (found.low - found.blur <= mine) & (mine <= found.high + found.blur)
    error[kinks] = 0.0
    if not error.max() <= tol:
        return error.max(), "WRONG", ""
    if found.coarse:
        return error.max(), "suspicious", "nudging is noisy here, as if forward computed in float32"
    return error.max(), "ok", f"{kinks.sum()} at a kink" if kinks.any() else ""


def _compare(trial, report, tol, max_entries, rng):
    """Compare each gradient with nudging, and have the wrong ones diagnosed."""
    nudged = {name: _nudge(trial, name, max_entries, rng) for name in trial.nudged}
    units = np.eye(trial.Y.size).reshape(-1, *trial.Y.shape) if trial.Y.size <= SMALL else ()
    runs = [trial.run(unit) for unit in units]
    true = {}
    for name, found in nudged.items():
        true[name] = np.full(trial.values[name].shape, np.nan)
        true[name].flat[[entry for entry, _ in found.ways[:max_entries]]] = found.slope[:max_entries]
        if runs and trial.gradients[name] is not None and true[name].size <= max_entries:
            numerical = found.jacobian[:, np.argsort([entry for entry, _ in found.ways])]
            report.jacobians[name] = numerical, np.array([run[name].ravel() for run in runs])
    for name, found in nudged.items():
        value, yours = trial.values[name], trial.gradients[name]
        error, verdict, sentence = _judge(yours, found, tol)
        if verdict == "WRONG" and name in trial.tainted:
            verdict = "see rules"
        elif verdict == "WRONG" and not sentence:
            others = {other: gradient for other, gradient in true.items() if other != name}
            weights = {weight: trial.values[weight] for weight in trial.weights}
            X, jacobians = trial.values[trial.inputs[0]], report.jacobians.get(name)
            case = Case(name, value, true[name], yours, X, trial.Y, trial.dY, others, weights, jacobians)
            sentence = diagnose(case)
        checked = min(value.size, max_entries)
        report.rows.append(Row(name, value.shape, checked, value.size, error, verdict, sentence))
