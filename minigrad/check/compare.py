"""Is this gradient right? An instrument that finds out by nudging.

Holds gradcheck, which puts a layer through nine rules of behaviour, compares each of its gradients with
nudging, and then asks the same under other circumstances. Leaves out the words for what is wrong
(diagnosis.py) and the picture of a report (course.figures). Built in chapter 03.
"""

import inspect
from typing import NamedTuple

import numpy as np

from minigrad.check.diagnosis import Report, Row, diagnose, explain
from minigrad.check.harness import Trial, is_of_the_library
from minigrad.check.numerical import EPS, NUDGE
from minigrad.layer import Function, as_layer
from minigrad.settings import require_integer, require_number
from minigrad.shapes import require_batch, shape_of

EPS32 = np.finfo(np.float32).eps
AT_AN_EDGE = "nudged, Y is nan: is X at an edge of what the layer takes?"
ONLY_SAMPLED = "right where sampled, wrong elsewhere: raise max_entries"
AT_A_TIE = "right entry by entry, wrong where several move together: does each entry of a tie get all of dY?"
AT_KINKS = "all at a kink, where nothing can be compared; a little beside: "


def gradcheck(layer, X, *, training=False, tol=1e-6, max_entries=300, rng=0):  # noqa: PLR0913  settings
    """Check a layer: nine rules of behaviour first, then each gradient against nudging, then what is wrong.

    Where all is right, the same is asked again under other circumstances: with training the other way round
    (if a layer declares it), for a batch of one, in float32, after another X, after an optimizer's step, for
    a transposed X and dY, without dX. Only what is then wrong has a line in the report.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
        A Layer, a plain function, or a loss with its target fixed: `lambda Y: mse(Y, T)`. It is left bit for
        bit as it was. Y may be a tuple of arrays.
    X : array (batch, ...) or tuple of arrays
        Floats are nudged; integers and booleans have no gradient, and backward returns None for them.
    training : bool
        Passed to a layer that declares it.
    tol : float
        The largest relative error that passes, above 0 and below 1.
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
        If layer cannot be called with X alone, X holds no numbers, or integers for which the layer has a
        gradient.
    ShapeError
        If X is empty or has no batch axis.
    ValueError
        If X or Y holds nan or infinity, or tol is not between 0 and 1.

    Notes
    -----
    error = |yours - nudged| / max(|yours|, |nudged|, 1 % of the largest entry, uncertainty / tol).
    The uncertainty is ten times the change from step h to h/2, plus rounding: 8 eps |dY| (|Y| + noise) / h,
    where the noise of Y is measured; where the change is large, a shorter step is taken. All in float64,
    with a random dY. At a kink any value between the one-sided slopes passes; where several kinks hide behind
    one Y, any value that their sides can make.

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
    require_number("tol", tol, above=0, below=1)
    require_integer("max_entries", max_entries, least=0)
    name = getattr(layer, "__name__", type(layer).__name__)
    given = as_layer(layer)
    _require_one_argument(layer, name)
    require_batch("X", X)
    report = Report(f"gradcheck {name}  X {shape_of(X)}")
    trial = Trial(given, X, training, tol, max_entries, np.random.default_rng(rng))
    try:
        _examine(trial, report)
        if report.ok:
            _ask_again(trial, report)
    finally:
        trial.forget()
    return report


def _require_one_argument(layer, name):
    """Refuse what cannot be called with X alone, a loss without its target for example."""
    try:
        declared = inspect.signature(layer).parameters.values()
    except (TypeError, ValueError):  # of some functions written in C Python knows no signature
        return
    if not any(parameter.kind is not parameter.KEYWORD_ONLY for parameter in declared):
        raise TypeError(
            f"gradcheck gives {name} an X, and {name}() takes none: a layer is X -> (Y, backward)."
        )
    anything = [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    needed = [p.name for p in declared if p.default is p.empty and p.kind not in anything]
    if len(needed) > 1:
        call = f"{name}({', '.join(needed)})"
        raise TypeError(
            f"gradcheck gives X alone, and {call} needs more: fix the rest, lambda {needed[0]}: {call}."
        )


def _examine(trial, report, quick=False):
    """Ask the nine rules and compare the gradients; if quick, along one direction, unless that is wrong."""
    for rule, ask in RULES.items():
        report.rules[rule] = ask(trial)
        if report.rules[rule] and ask in DECISIVE:
            return
    if not quick or not _right_along_one_direction(trial):
        _compare(trial, report)


# The nine rules: each asks one thing, and returns what it has to complain of, or "" ----------------------


def _returns_a_pair(trial):
    result = trial.forward()
    is_pair = isinstance(result, tuple) and len(result) == 2 and callable(result[1])
    Y = result[0] if is_pair else ()
    entries = Y if isinstance(Y, tuple) else (Y,)
    if not entries or not all(_is_numeric(entry) for entry in entries):
        return f"{type(result).__name__}: not an array and a function, end with `return Y, backward`"
    trial.form = None
    if isinstance(Y, tuple):
        trial.form = [(np.shape(entry), np.asarray(entry).dtype.kind == "f") for entry in Y]
    trial.Y = trial.pack(Y)
    require_batch("Y", np.atleast_1d(trial.Y))
    trial.dY = trial.rng.choice([-1.0, 1.0], trial.Y.shape) * trial.rng.uniform(0.5, 1.5, trial.Y.shape)
    trial.already_moved = trial.moved()
    trial.stirred = [
        name for name in trial.buffers if not _equal(trial.holders[name].data, trial.values[name])
    ]
    return ""


def _is_numeric(entry):
    """Tell whether something is a number or an array of numbers."""
    return getattr(entry, "dtype", np.dtype(object)).kind in "fiub" or isinstance(entry, (int, float))


def _leaves_its_inputs_alone(trial):
    if complaint := trial.blame(trial.already_moved, "changed, work on a copy"):
        return complaint
    if trial.options["training"]:
        return ""
    return trial.blame(trial.stirred, "changed outside training, where a Buffer holds still")


def _is_steady(trial):
    again = trial.pack(trial.forward()[0])
    trial.last_Y, trial.backward = trial.forward()
    for Y in (again, trial.pack(trial.last_Y)):  # twice: a random mask may well be the same once
        if Y.shape != trial.Y.shape or not np.allclose(Y, trial.Y, 0, 1e-9 * np.abs(trial.Y).max()):
            return "Y: it differs, draw from a Generator that the layer holds"
    return ""


def _runs_backward(trial):
    trial.hidden_before = [np.array(holder.grad) for holder in trial.hidden]
    try:
        trial.first = trial.back(trial.backward, trial.dY)
    except Exception as error:
        return f"{type(error).__name__}: {explain(error)}"
    trial.got_hidden = [
        holder
        for holder, before in zip(trial.hidden, trial.hidden_before, strict=True)
        if not _equal(holder.grad, before)
    ]
    trial.first_raw, trial.is_sent_changed = trial.raw, not np.array_equal(trial.sent, trial.dY)
    try:
        trial.second = trial.back(trial.backward, trial.dY)
    except Exception as error:
        return f"the second call failed: {type(error).__name__}: {explain(error)}"
    integers = [name for name in trial.first if name not in trial.nudged and trial.first[name] is not None]
    if integers:
        raise TypeError(f"{integers[0]} holds integers: return None for it, or check it with .astype(float).")
    return ""


def _leaves_dY_alone(trial):
    return trial.blame(
        ["dY"] if trial.is_sent_changed else [], "changed, work on a copy", taints=trial.nudged
    )


def _leaves_everything_alone(trial):
    trial.spoilt = [name for name in trial.moved() if name not in trial.already_moved]
    trial.spoilt += ["Y"] * (not np.array_equal(trial.pack(trial.last_Y), trial.Y, equal_nan=True))
    is_still = not (trial.spoilt or trial.already_moved or trial.is_sent_changed)
    trial.reuses_arrays = is_still and not trial.buffers  # which may move later
    return trial.blame(trial.spoilt, "changed, work on a copy", taints=trial.nudged)


def _adds_to_gradients(trial):
    on_top = trial.run(trial.dY, already=1e6)
    lost = trial.unlike({name: trial.first[name] + 1e6 for name in trial.weights}, on_top)
    return trial.blame(lost, "overwritten, use += instead of =")


def _remembers_its_own_forward(trial):
    if trial.spoilt or trial.is_sent_changed:
        return ""  # a consequence
    if spoiled := trial.unlike(trial.second, trial.first):
        return trial.blame(
            spoiled, "a second call gave another answer: use what forward kept, and leave it as it is"
        )
    Y, backward = trial.forward()
    before = trial.pack(Y)
    first = trial.back(backward, trial.dY)
    raw = {name: trial.raw[name] for name in trial.inputs}
    trial.back(backward, 2 * trial.dY + 1)
    shared = [name for name, dX in raw.items() if dX is not None and not _equal(dX, first[name])]
    if shared:
        return trial.blame(shared, "a second call wrote into the first one's answer: return a new array")
    trial.forward({name: np.flip(trial.values[name]) for name in trial.inputs}, restore=False)
    if not _equal(trial.pack(Y), before):
        return trial.blame(["Y"], "a later forward wrote into it: return a new array", taints=trial.nudged)
    spoiled = trial.unlike(trial.back(backward, trial.dY), trial.first)
    return trial.blame(spoiled, "a later forward changed its answer: keep X in the closure, not on self")


def _is_linear(trial):
    dY, other_dY = trial.rng.standard_normal((2, *trial.Y.shape))
    if trial.spoilt or trial.is_sent_changed:
        return ""  # a consequence
    sent = dY, other_dY, 2 * dY - 3 * other_dY, 1e-9 * dY, 1e9 * dY
    one, two, both, tiny, large = (trial.run(some) for some in sent)
    names = [name for name in both if both[name] is not None]
    bent = trial.unlike(
        {name: both[name] for name in names}, {name: 2 * one[name] - 3 * two[name] for name in names}
    )
    bent += [
        name for name in trial.unlike({name: tiny[name] * 1e9 for name in names}, one) if name not in bent
    ]
    bent += [
        name for name in trial.unlike({name: large[name] * 1e-9 for name in names}, one) if name not in bent
    ]
    how = "not proportional to dY: is there a clip, a sign, an abs?"
    if any(np.abs(tiny[name]).max() > 1e-8 * np.abs(one[name]).max() for name in bent):
        how = "does not vanish with dY: a factor dY is missing"
    return trial.blame(bent, how)


RULES = {
    "forward returns (Y, backward)": _returns_a_pair,
    "forward leaves X and the weights alone": _leaves_its_inputs_alone,
    "the same X gives the same Y": _is_steady,
    "backward runs": _runs_backward,
    "backward leaves dY alone": _leaves_dY_alone,
    "backward leaves X, Y and the weights alone": _leaves_everything_alone,
    "backward adds to the gradients": _adds_to_gradients,
    "backward remembers its own forward": _remembers_its_own_forward,
    "backward is linear in dY": _is_linear,
}
DECISIVE = _returns_a_pair, _is_steady, _runs_backward  # if these are broken, nothing more can be judged


def _equal(some, others):
    """Tell whether two arrays hold the same numbers, bit for bit or nearly."""
    return np.array_equal(np.asarray(some, dtype=float), np.asarray(others, dtype=float), equal_nan=True)


# The same under other circumstances: each yields a line and a complaint, where there is one --------------


def _ask_again(trial, report):
    """Ask a layer that is right so far under other circumstances; stop at the first one that it fails."""
    with np.errstate(all="ignore"):
        for ask in CIRCUMSTANCES:
            line, complaint = ask(trial)
            if complaint:
                report.rules[line] = complaint
                return


def _finds_every_parameter(trial):
    line = "parameters() finds what learns"
    owner = trial.layer.__wrapped__ if isinstance(trial.layer, Function) else trial.layer
    lost = [f"a Parameter of shape {holder.data.shape}" for holder in trial.got_hidden]
    listed = getattr(owner, "parameters", None)
    if not lost and callable(listed):
        try:
            known = {id(parameter) for parameter in listed()}
            lost = [
                name
                for name in trial.weights
                if id(trial.holders[name]) not in known and trial.first[name].any()
            ]
        except Exception as error:
            return line, f"{type(error).__name__}: {error}"
    return line, f"{', '.join(lost)}: hidden from it, make it an attribute of the layer" if lost else ""


def _without_dX(trial):
    line = "the same holds with need_dX=False"
    if "need_dX" not in trial.layer._options:
        return line, ""
    try:
        found = trial.under(need_dX=False).run(trial.dY)
    except Exception as error:
        return line, f"{type(error).__name__}: {explain(error)}"
    lost = trial.unlike({name: trial.first[name] for name in trial.weights}, found)
    return line, f"{', '.join(lost)}: another gradient, only dX may be left out" if lost else ""


def _with_training_turned(trial):
    training = not trial.options["training"]
    line = f"the same holds with training={training}"
    layers = trial.layer.named_layers().values()
    if not any("training" in layer._options and not _only_passes_on(layer) for layer in layers):
        return line, ""
    return line, _first_problem(trial.under(training=training))


def _only_passes_on(layer):
    """Tell whether a layer is one of the library's that are made of layers."""
    return (
        is_of_the_library(type(layer)) and not isinstance(layer, Function) and len(layer.named_layers()) > 1
    )


def _for_another_batch(trial):
    """One example alone; if there is only one, then two."""
    batch = len(trial.values[trial.inputs[0]])
    line = "the same holds for a batch of one" if batch > 1 else "the same holds for a batch of two"
    rows = [-1] if batch > 1 else [0, 0]
    if trial.form is not None or trial.Y.shape[:1] != (batch,):
        return line, ""  # a loss: its target has its own length
    other = trial.under({name: trial.values[name][rows] for name in trial.inputs})
    try:
        Y = other.pack(other.forward()[0])
    except Exception:
        return line, ""  # it says itself that it takes no other batch
    if Y.shape != (len(rows), *trial.Y.shape[1:]) or not np.isfinite(Y).all():
        return line, ""
    return line, _first_problem(other)


def _first_problem(trial):
    """Examine a trial quickly, and return the first problem found, or ""."""
    report = Report("")
    try:
        _examine(trial, report, quick=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return next(iter(report.problems), "")


def _after_other_calls(trial):
    """Compare a layer just as it came with one that was used before: on other numbers, another shape."""
    batch = len(trial.values[trial.inputs[0]])
    turned = {name: np.flip(trial.values[name]).copy() for name in trial.inputs}
    line = "the same holds after another X"
    complaint = _kept_from_before(trial, turned, in_place=True)
    if complaint or batch == 1:
        return line, complaint
    line = "the same holds after an X of another shape"
    return line, _kept_from_before(trial, {name: trial.values[name][-1:] for name in trial.inputs})


def _after_a_step(trial):
    """Compare a layer just as it came with one that was used before an optimizer changed its weights."""
    stepped = {name: 0.75 * trial.values[name] + 0.125 for name in trial.weights}
    complaint = _kept_from_before(trial, stepped, in_place=True) if stepped else ""
    return "the same holds after an optimizer's step", complaint


def _kept_from_before(trial, changed, in_place=False):
    """Say what a call leaves behind that a later one, with other values, should not see."""
    other = trial.under(changed)
    trial.forget()
    fresh = _outcome(other)
    trial.forget()
    before = trial.under()
    before.run(trial.dY)
    used = _outcome(before, changed) if in_place else _outcome(other)
    trial.forget()
    if isinstance(fresh, str):
        return ""  # it says itself that it does not take this
    if isinstance(used, str):
        return used
    names = trial.unlike(fresh, used)
    return f"{', '.join(names)}: something was kept from the call before" if names else ""


def _outcome(trial, write=None):
    """Return Y and all gradients by name, or the error; `write` fills the arrays of the run before."""
    try:
        if write:
            for name, array in write.items():
                trial.lent[name][...] = array
            for name in trial.buffers:  # running averages may well have moved
                trial.holders[name].data = trial.values[name].copy()
            trial.memory.rewind()
            Y, backward = trial.call()
        else:
            Y, backward = trial.forward()
        Y = trial.pack(Y)
        gradients = trial.back(backward, np.cos(np.arange(1.0, Y.size + 1)).reshape(Y.shape))
    except Exception as error:
        return f"{type(error).__name__}: {explain(error)}"
    return {"Y": Y} | gradients


def _in_float32(trial):
    """At X and the weights, made smaller if they are beyond 10, where float32 itself is too coarse."""
    line = "the same holds in float32"
    floats = {name: a for name, a in trial.values.items() if a.dtype.kind == "f"}
    floats |= {name: floats[name] / max(1.0, np.abs(floats[name]).max() / 10) for name in trial.nudged}
    single = {name: a.astype(np.float32) for name, a in floats.items()}
    double = trial.under({name: a.astype(float) for name, a in single.items()})
    dY = np.asarray(trial.dY, dtype=np.float32)[()]
    try:
        exact = double.outcome()
    except Exception:
        return line, ""  # it says itself that it takes no smaller numbers
    try:
        trial_in_32 = trial.under(single)
        Y, backward = trial_in_32.forward()
        if any(np.asarray(entry).dtype == np.float64 for entry in (Y if isinstance(Y, tuple) else (Y,))):
            return line, ""  # it holds float64 numbers of its own
        found = {"Y": trial.pack(Y)} | trial_in_32.back(backward, dY)
    except Exception as error:
        return line, f"{type(error).__name__}: {explain(error)}"
    wide = [name for name in trial.nudged if getattr(trial_in_32.raw[name], "dtype", None) == np.float64]
    if wide:
        return (
            "float32 in gives float32 back",
            f"{', '.join(wide)}: float64 came, make arrays with dtype=X.dtype",
        )
    off = _off(found, exact, {})
    if not off:
        return line, ""
    # Near a kink, a rounding error of float32 may turn the answer: how far, is seen in float64.
    spread = dict.fromkeys(exact, 0.0) | {"Y": 10 * EPS32 / EPS * double.spread()["Y"]}
    for size in np.repeat(10.0 ** np.arange(-7, -3), 3):
        noisy = {
            name: a + size * np.abs(a).max() * trial.extra_rng.uniform(-1, 1, a.shape)
            for name, a in double.values.items()
            if name in floats
        }
        for name, array in double.outcome(noisy).items():
            if array is not None:
                spread[name] = np.fmax(spread[name], np.abs(array - exact[name]).max())
    off = _off(found, exact, spread)
    return line, f"{', '.join(off)}: other numbers than in float64" if off else ""


def _off(found, exact, spread):
    """Return the names of what is off by more than a thousandth of the largest number, and the spread."""
    names = [name for name in exact if exact[name] is not None and found[name] is not None]
    largest = {name: np.abs(exact[name]).max() for name in names}
    room = {name: 1e-3 * largest[name] + 1e-4 * max(largest.values()) + 1e-30 for name in names}
    room = {name: room[name] + 3 * spread.get(name, 0.0) for name in names}
    return [name for name in names if not np.all(np.abs(found[name] - exact[name]) <= room[name])]


def _in_another_order(trial):
    """X in Fortran order, and a dY that is the transpose of an array."""
    lines = {
        "the same holds for X in Fortran order": ("X",),
        "the same holds for a transposed dY": ("dY",),
    }
    usual = {"Y": trial.Y} | trial.first
    for line, relaid in lines.items():
        other = trial.under()
        other.relaid = relaid
        try:
            Y, backward = other.forward()
            found = {"Y": other.pack(Y)} | other.back(backward, trial.dY)
        except Exception as error:
            return line, f"{type(error).__name__}: {explain(error)}"
        names = trial.unlike(usual, found, at_X=True)
        if names:
            return line, f"{', '.join(names)}: other numbers: what stands where in memory must not matter"
    return line, ""


CIRCUMSTANCES = (
    _finds_every_parameter,
    _without_dX,
    _with_training_turned,
    _after_other_calls,
    _after_a_step,
    _for_another_batch,
    _in_another_order,
    _in_float32,
)


# Gradients against nudging -------------------------------------------------------------------------------


class _Slope(NamedTuple):
    """The slope of Σ dY · Y along one way: by backward, by nudging, and the least and greatest at a kink.

    Three doubts: how much it changes with the step, its noise, and float64's rounding. And the step, and the
    slope of each Y along that way.
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
        """How far off nudging may be."""
        return 10 * (self.change + self.noise) + self.rounding

    def agrees(self, tol, least=0.0):
        """Tell whether backward and nudging say the same, or backward lies between both sides of a kink."""
        size = max(abs(self.mine), abs(self.slope), least)
        near = abs(self.mine - self.slope) <= tol * size + self.blur
        return near or self.low - self.blur <= self.mine <= self.high + self.blur


def _compare(trial, report):
    """Compare each gradient with nudging, and have the wrong ones diagnosed."""
    _measure_noise(trial)
    backward = trial.forward()[1]
    units = np.eye(trial.Y.size if trial.Y.size <= trial.max_entries else 0)
    runs = [trial.back(backward, unit.reshape(trial.Y.shape)) for unit in units]
    judged = {name: _judge(trial, name) for name in trial.nudged}
    if any(row.verdict == "suspicious" for row, *_ in judged.values()):  # what is rough is so for all
        wrong = [name for name, (row, *_) in judged.items() if row.verdict == "WRONG"]
        judged |= {name: _judge(trial, name, EPS32) for name in wrong}
    true = {name: gradient for name, (_, gradient, *_) in judged.items()}
    for name, (row, _, jacobian, is_blind) in judged.items():
        if runs and row.size <= trial.max_entries and trial.first[name] is not None:
            report.jacobians[name] = jacobian, np.array([run[name].ravel() for run in runs])
        if is_blind:
            row = _judged_beside(trial, row)
        elif row.verdict == "WRONG" and name in trial.tainted:
            row = row._replace(verdict="see rules", sentence="")
        elif row.verdict == "WRONG" and not row.sentence:
            seen = trial.values, trial.first, true, trial.Y, trial.dY, report.jacobians.get(name)
            row = row._replace(sentence=diagnose(name, *seen))
        report.rows.append(row)


def _judged_beside(trial, row):
    """Judge an array that is at a kink in every entry where its numbers, and all others, are a little off."""
    beside = _elsewhere(trial, _shifted(trial, 1e-2, [-1, 1]))
    there, true, *_ = _judge(beside, row.name)
    if there.verdict != "WRONG":
        return row._replace(sentence=f"{row.sentence}, compared a little beside")
    truths = {name: np.full(value.shape, np.nan) for name, value in beside.values.items()} | {row.name: true}
    words = there.sentence or diagnose(row.name, beside.values, beside.first, truths, beside.Y, beside.dY)
    return there._replace(sentence=AT_KINKS + words)


def _right_along_one_direction(trial):
    """Tell whether each gradient agrees with nudging along one random direction through all its entries."""
    _measure_noise(trial)
    for name in trial.nudged:
        value = trial.values[name]
        if np.shape(trial.first[name]) != value.shape:
            return False
        way = trial.rng.standard_normal(value.shape) / np.sqrt(value.size)
        found = _nudge(trial, name, way)
        if not abs(found.mine - found.slope) <= trial.tol * abs(found.slope) + found.blur:
            return False
    return True


def _measure_noise(trial):
    """Measure the rounding noise of each Y: what is left of its second difference over the smallest steps."""
    sizes = {name: np.maximum(1.0, np.abs(trial.values[name])) for name in trial.nudged}
    ways = [
        {name: size * trial.extra_rng.uniform(0.5, 1, size.shape) for name, size in sizes.items()}
        for _ in range(4)
    ]
    base = {name: trial.values[name] + NUDGE * way for name, way in ways[0].items()}  # off a kink at X

    def beside(way, far):
        return trial.pack(trial.forward({name: base[name] + far * way[name] for name in base})[0])

    middle, noise = beside(ways[0], 0.0), np.zeros_like(trial.Y)
    for way in ways[1:]:
        noise = np.fmax(noise, np.abs(beside(way, 1e-12) - 2 * middle + beside(way, -1e-12)))
    Y, largest = np.abs(trial.Y), max((np.abs(trial.values[name]).max() for name in sizes), default=0.0)
    scales = {EPS: EPS * Y + noise, EPS32: EPS32 * (Y + 1 + Y.mean() + largest) + noise}
    trial.noise, trial.rounding = noise, {eps: 8 * _length(trial.dY * scale) for eps, scale in scales.items()}
    trial.least_step = 8 * EPS * _length(trial.dY * (Y + 1 + largest))  # what may drown inside, unseen


def _length(array):
    """Return the root of the sum of squares."""
    return np.linalg.norm(np.asarray(array).ravel())


def _judge(trial, name, eps=EPS):  # noqa: PLR0912, PLR0915  becomes two
    """Nudge each entry of an array, or a sample; where entries are left out or at kinks, all together too.

    Returns a Row, not diagnosed yet; the nudged gradient; if it is small, the nudged Jacobian; and whether
    every nudge met a kink, so that nothing was compared.
    """
    value, tol = trial.values[name], trial.tol if eps == EPS else max(trial.tol, 1e-3)
    entries = np.sort(trial.rng.permutation(value.size)[: trial.max_entries])
    ways = [np.eye(1, value.size, entry).reshape(value.shape) for entry in entries]
    found = [_nudge(trial, name, way, np.cbrt(eps), eps) for way in ways]
    if len(entries) < value.size or sum(one.low < one.high for one in found) > 1:
        # Three random directions, and that of ones, along which the entries of a tie stay equal.
        random = [trial.rng.standard_normal(value.shape) for _ in range(3)]
        directions = [way / np.sqrt(value.size) for way in [*random, np.ones_like(value)]]
        ways += directions
        found += [_nudge(trial, name, way, np.cbrt(eps), eps) for way in directions]
    least = max((abs(one.slope) for one in found if not np.isnan(one.slope)), default=0.0) / 100 + 1e-300
    if eps == EPS:
        # Noise far above float64's rounding, as of float32: once more, with the step and tolerance for that.
        noisy = [one.noise - max(one.change, 1e3 * one.rounding + 1e-7 * 100 * least) for one in found]
        if np.fmax.reduce(noisy) > 0 and _is_a_staircase(trial, name, ways[np.nanargmax(noisy)]):
            return _judge(trial, name, EPS32)
        found = [_sharpened(trial, name, way, one, least) for way, one in zip(ways, found, strict=True)]
    mine, slope, low, high, change, noise, rounding = np.array([numbers[:7] for numbers in found]).T
    known = ~np.isnan(slope)
    steady = np.median(noise[known]) if known.any() else 0.0
    blur = 10 * (change + np.maximum(noise, steady)) + rounding
    size = np.maximum.reduce([np.abs(mine), np.abs(slope), blur / tol, np.full_like(slope, least)])
    error = np.abs(mine - slope) / size
    is_entry = np.arange(len(slope)) < len(entries)
    kinks = (error > tol) & is_entry & (low - blur <= mine) & (mine <= high + blur)
    error[kinks | ~known] = 0.0
    for worst in np.argsort(-error):
        if not error[worst] > tol:
            break
        excuse = _excuse(trial, name, ways[worst], found[worst], least)
        if excuse:
            error[worst], kinks[worst] = 0.0, excuse == "a kink"
        elif is_entry[worst]:
            break
    verdict, sentence = "ok", f"{kinks[is_entry].sum()} at a kink" if kinks.any() else ""
    if not known.all():
        verdict, sentence = "suspicious", AT_AN_EDGE
    elif eps == EPS32:
        verdict, sentence = "suspicious", "nudging is rough here: float32 inside?"
    if not error.max() <= tol:
        verdict, sentence = "WRONG", ""
        if is_entry.any() and np.isfinite(error).all() and error[is_entry].max() <= tol:
            sentence = AT_A_TIE if kinks.any() else ONLY_SAMPLED
    gradient = np.full(value.shape, np.nan)
    gradient.flat[entries] = slope[: len(entries)]
    row = Row(name, value.shape, len(entries), value.size, error.max(), verdict, sentence)
    each_Y = np.array([one.of_each_Y.ravel()[: trial.max_entries] for one in found[: len(entries)]]).T
    return row, gradient, each_Y, verdict == "ok" and kinks[is_entry].all() and kinks.any()


def _nudge(trial, name, way, step=NUDGE, eps=EPS):
    """Nudge an array one way, to both sides, a whole step and half a step; return its _Slope."""
    here, yours = trial.values[name], trial.first[name]
    h = step * max(1.0, np.abs(here * way).max())
    length = np.vdot(way, way)

    def side(far):
        there = here + far * way
        Y = trial.pack(trial.forward({name: there})[0])
        return (Y - trial.Y) * (length / np.vdot(there - here, way))  # the step really stored

    dY = trial.dY
    right, left, near_right, near_left = side(h), side(-h), side(h / 2), side(-h / 2)
    slopes, near_slopes = (right + left) / 2, (near_right + near_left) / 2
    by_nudging = low = high = (dY * slopes).sum()
    # Right and left differ by h times the curvature, half as much at half the step: but not at a kink.
    jump, near_jump = right - left, near_right - near_left
    bend = jump - 2 * near_jump
    kink = np.abs(near_jump - jump) < 0.25 * np.abs(jump)
    if kink.any():
        bend = np.where(kink, 0.0, bend)
        low, high = np.sort(dY * np.where(kink, [near_right, near_left], slopes), axis=0)
        low, high = low.sum(), high.sum()
    change, noise = abs((dY * (slopes - near_slopes)).sum()), abs((dY * bend).sum())
    moves = slopes.any() or near_slopes.any()
    mine = np.vdot(yours, way) if np.shape(yours) == here.shape else np.nan
    rounding = (trial.rounding[eps] if moves else trial.least_step) / h
    return _Slope(mine, by_nudging, low, high, change, noise, rounding, step, slopes)


def _sharpened(trial, name, way, found, least):
    """Return the slope along one way, by a shorter step, or one of X's size, where that is far surer."""
    own = np.abs(trial.values[name]).max()
    sizes = (1 / 30, 1 / 1000, own) if 0 < own < 0.1 or own > 10 else (1 / 30, 1 / 1000)
    for step in NUDGE * np.array(sizes):
        if 10 * (found.change + found.noise) <= trial.tol * max(abs(found.slope), least):
            break
        closer = _nudge(trial, name, way, step)
        if closer.blur < 0.1 * found.blur:
            found = closer
    return found


def _is_a_staircase(trial, name, way):
    """Tell whether Y stands still for a tiny step, as with float32 inside, although it moves on both sides.

    Where a kink has a flat side, Y stands still too, but then on one side for longer than a tiny step.
    """
    here, length = trial.values[name], max(1.0, np.abs(trial.values[name] * way).max())

    def Y_at(far):
        return trial.pack(trial.forward({name: here + far * length * way})[0])

    places = np.linspace(-NUDGE, NUDGE, 9)
    Ys = np.array([Y_at(far) for far in places])
    moves = np.abs(np.diff(Ys, axis=0)) / np.diff(places).reshape(-1, *[1] * Ys[0].ndim)
    tiny, drowns = 1e-9, 100 * EPS * (np.abs(Ys[1:-1]) + 1 + np.abs(here).max())
    ought_to_move = np.minimum(moves[:-1], moves[1:]) * tiny > drowns
    stands = np.array([Y_at(far + tiny) for far in places[1:-1]]) == Ys[1:-1]
    return ought_to_move.any() and np.mean(stands[ought_to_move]) > 0.5


# Where nudging and backward disagree, and the layer may yet be right -------------------------------------


def _excuse(trial, name, way, found, least):
    """Say why a right layer may differ from nudging here, or "": rounding, hidden kinks."""
    if name in trial.tainted:
        return ""  # a rule says already what is wrong: the search would take seconds, and add nothing
    is_entry = np.count_nonzero(way) == 1  # and else a direction through all entries
    gap, count = abs(found.mine - found.slope), 1 if is_entry else way.size
    if gap <= 10 * np.sqrt(count) * trial.spread()[name]:
        return "rounding"
    if gap <= trial.least_step / found.step and _moves_in_jumps(trial, name, way, found.step):
        return "rounding"
    if not _is_right_nearby(trial, name, way, found, least):
        return ""
    if is_entry:
        trial.scans -= 1
        if trial.scans < 0:
            return "a kink"  # the worst entries have been looked at; the others lie beside them
    return "a kink" if _is_between_kinks(trial, name, way, found.mine) else ""


def _moves_in_jumps(trial, name, way, step):
    """Tell whether some Y stands still and moves by turns, as if made of larger numbers, a sigmoid's 1."""
    here = trial.values[name]
    for reach in (step, step / 10, step / 100):
        places = [{name: here + far * way} for far in np.linspace(-reach, reach, 33)]
        moves = np.diff([trial.pack(trial.forward(place)[0]) for place in places], axis=0) != 0
        if ((moves[1:] != moves[:-1]).sum(axis=0) >= 2).any():  # at a kink it changes once
            return True
    return False


def _is_right_nearby(trial, name, way, found, least):
    """Tell whether backward and nudging agree a little beside, off a kink, where such a gap would show."""
    if trial.nearby is None:
        trial.nearby = _elsewhere(trial, _shifted(trial, 1e-2))
    there = _nudge(trial.nearby, name, way)
    there = _sharpened(trial.nearby, name, way, there, least)
    grows = max(1.0, abs(there.slope) / max(abs(found.mine), abs(found.slope)))
    would_show = there.blur < 0.1 * grows * abs(found.mine - found.slope) or there.mine == there.slope == 0
    return there.agrees(trial.tol, least) and would_show


def _elsewhere(trial, values):
    """Return a trial of the same layer with other values, and what is needed to judge it."""
    other = trial.under(values)
    Y, backward = other.forward()
    other.Y = other.pack(Y)
    other.first = other.back(backward, trial.dY)
    _measure_noise(other)
    return other


def _is_between_kinks(trial, name, way, mine):
    """Tell whether a slope can be made of the sides of all kinks near an entry, however they hide each other.

    All other numbers are moved by a millionth, so that the kinks come apart, and the entry is moved past all
    of them, once more in short steps where there is one: each kink adds what it bends up to the greatest
    slope, and what it bends down to the least.
    """
    far = np.logspace(-8, -2, 30) * max(1.0, np.abs(trial.values[name] * way).max())
    far = np.concatenate([-far[::-1], [0.0], far])
    low = high = np.nan
    for signs in 8 * ([1], [-1, 1]):  # upwards, where an edge of the domain is safe, and either way
        base = _shifted(trial, 1e-5, signs)
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
    """Return the slope of each Y between places along one way, and how much it bends at each inner place."""
    places = [{name: base[name] + t * way} for t in far]
    Y = np.array([trial.pack(trial.forward(base | place)[0]).ravel() for place in places])
    slopes = np.diff(Y, axis=0) / np.diff(far)[:, None]
    return slopes, np.diff(slopes, axis=0)


def _shifted(trial, how_far, signs=(1,)):
    """Return all floats of a trial, each moved a little in the direction of a sign, no two by the same."""
    rng, shifted = trial.extra_rng, {}
    for name in trial.nudged:
        value = trial.values[name]
        part = rng.choice(signs, value.shape) * 10 ** rng.uniform(-2, 0, value.shape)
        shifted[name] = value + how_far * np.maximum(1.0, np.abs(value)) * part
    return shifted
