"""Checks of a layer under other conditions, after it has passed at X.

Each check returns a line of the report, and a complaint or "". The nine rules are in rules.py. Introduced
in chapter 03.
"""

import numpy as np

from minigrad.check.harness import is_of_the_library
from minigrad.check.nudging import EPS32, shifted
from minigrad.check.numerical import EPS
from minigrad.check.report import Report
from minigrad.check.rules import examine, in_words
from minigrad.layer import Function


def check_again(trial, report):
    """Check a layer under other conditions; stop at the first check that it fails."""
    with np.errstate(all="ignore"):
        for check in CIRCUMSTANCES:
            line, complaint = check(trial)
            if complaint:
                report.rules[line] = complaint
                return


def _finds_every_parameter(trial):
    owner = trial.layer.__wrapped__ if isinstance(trial.layer, Function) else trial.layer
    lost = [f"a Parameter of shape {holder.data.shape}" for holder in trial.got_hidden]
    if hasattr(owner, "parameters"):
        known = {id(parameter) for parameter in owner.parameters()}
        used = [name for name in trial.weights if trial.first[name].any()]
        lost += [name for name in used if id(trial.holders[name]) not in known]
    complaint = f"{', '.join(lost)}: not found, make it an attribute of the layer" if lost else ""
    return "parameters() finds every parameter", complaint


def _without_dX(trial):
    line = "the same holds with need_dX=False"
    if "need_dX" not in trial.layer._options:
        return line, ""
    found = _attempt(trial.under(need_dX=False), trial.dY)
    usual = {name: trial.first[name] for name in trial.weights}
    return line, _difference(trial, usual, found, "a different gradient, but only dX may be left out")


def _with_training_toggled(trial):
    training = not trial.options["training"]
    line = f"the same holds with training={training}"
    layers = trial.layer.named_layers().values()
    if not any("training" in layer._options and not _only_passes_on(layer) for layer in layers):
        return line, ""
    return line, _first_problem(trial.under(training=training))


def _only_passes_on(layer):
    """Return whether a layer is a combinator of the library."""
    is_ours = is_of_the_library(type(layer)) and not isinstance(layer, Function)
    return is_ours and len(layer.named_layers()) > 1


def _for_another_batch(trial):
    """Check a batch of one example; of two, if X has only one."""
    batch = len(trial.values[trial.inputs[0]])
    line = "the same holds for a batch of one" if batch > 1 else "the same holds for a batch of two"
    rows = [-1] if batch > 1 else [0, 0]
    if trial.form is not None or trial.Y.shape[:1] != (batch,):
        return line, ""  # a loss: the length of its target is fixed
    other = trial.under({name: trial.values[name][rows] for name in trial.inputs})
    try:
        Y = other.pack(other.forward()[0])
    except Exception:
        return line, ""  # it raises an error for any other batch
    if Y.shape != (len(rows), *trial.Y.shape[1:]) or not np.isfinite(Y).all():
        return line, ""
    return line, _first_problem(other)


def _first_problem(trial):
    """Examine a trial quickly; return the first problem, or ""."""
    report = Report("")
    try:
        examine(trial, report, quick=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return next(iter(report.problems), "")


def _after_another_X(trial):
    flipped = {name: np.flip(trial.values[name]).copy() for name in trial.inputs}
    return "the same holds after another X", _kept_from_before(trial, flipped, in_place=True)


def _after_another_shape(trial):
    alone = {name: trial.values[name][-1:] for name in trial.inputs}
    return "the same holds after an X of another shape", _kept_from_before(trial, alone)


def _after_a_step(trial):
    stepped = {name: 0.75 * trial.values[name] + 0.125 for name in trial.weights}
    return "the same holds after an optimizer's step", _kept_from_before(trial, stepped, in_place=True)


def _kept_from_before(trial, changed, in_place=False):
    """Compare a fresh layer with one used before, to find values that it reuses from an earlier call."""
    other = trial.under(changed)
    trial.forget()
    fresh = _attempt(other)
    trial.forget()
    before = trial.under()
    before.run(trial.dY)
    used = _attempt(before, write=changed) if in_place else _attempt(other)
    trial.forget()
    if isinstance(fresh, str):
        return ""  # it raises an error for this
    return _difference(trial, fresh, used, "a value from the previous call is reused")


def _attempt(trial, dY=None, write=None):
    """Return Y and all gradients by name, or the error; `write` overwrites the arrays of the previous run."""
    try:
        if write is None:
            Y, backward = trial.forward()
        else:
            for name, array in write.items():
                trial.lent[name][...] = array
            for name in trial.buffers:  # running averages may have changed
                trial.holders[name].data = trial.values[name].copy()
            trial.memory.rewind()
            Y, backward = trial.call()
        packed = trial.pack(Y)
        dY = np.cos(np.arange(1.0, packed.size + 1)).reshape(packed.shape) if dY is None else dY
        found = {"Y": packed} | trial.back(backward, dY)
        trial.raw["Y"] = Y
        return found
    except Exception as error:
        return in_words(error)


def _difference(trial, usual, found, words, at_X=False):
    """Return a complaint if the outcome is an error or its values differ, or ""."""
    if isinstance(found, str):
        return found
    names = trial.unlike(usual, found, at_X)
    return f"{', '.join(names)}: {words}" if names else ""


def _in_Fortran_order(trial):
    return "the same holds for X in Fortran order", _relaid(trial, "X")


def _for_a_transposed_dY(trial):
    return "the same holds for a transposed dY", _relaid(trial, "dY")


def _relaid(trial, what):
    """Compare with a run in which X or dY has another memory layout."""
    other = trial.under()
    other.relaid = what
    words = "the values depend on the memory layout, but must not"
    return _difference(trial, {"Y": trial.Y} | trial.first, _attempt(other, trial.dY), words, at_X=True)


def _in_float32(trial):
    """Compare with float32, at X and weights scaled to at most 10; if they differ, again at nearby values.

    Near a kink, a rounding error of float32 may change the result, but hardly at four points in a row.
    """
    line, size = "the same holds in float32", {name: np.abs(a).max() for name, a in trial.values.items()}
    small = trial.under({name: trial.values[name] / max(1.0, size[name] / 10) for name in trial.nudged})
    for place in range(4):
        values = small.values | (shifted(small, 1e-2) if place else {})
        single = {name: a.astype(np.float32) for name, a in values.items() if a.dtype.kind == "f"}
        in_64 = trial.under({name: a.astype(float) for name, a in single.items()})
        exact, in_32 = _attempt(in_64, trial.dY), trial.under(single)
        found = _attempt(in_32, np.asarray(trial.dY, dtype=np.float32)[()])
        if isinstance(exact, str):
            return line, ""  # it raises an error for smaller values
        if isinstance(found, str):
            return line, found
        Y = in_32.raw["Y"]
        if any(np.asarray(entry).dtype == np.float64 for entry in (Y if isinstance(Y, tuple) else (Y,))):
            return line, ""  # it has float64 constants
        wide = [name for name in trial.nudged if getattr(in_32.raw[name], "dtype", None) == np.float64]
        if wide:
            complaint = f"{', '.join(wide)}: got float64, make arrays with dtype=X.dtype"
            return "float32 in gives float32 back", complaint
        off = _off(found, exact)
        off = off and _off(found, exact, 30 * EPS32 / EPS * in_64.spread()["Y"])
        if not off:
            return line, ""
    return line, f"{', '.join(off)}: the values differ from those in float64"


def _off(found, exact, rounding=0.0):
    """Return the names of arrays that are off by more than a thousandth of the largest entry."""
    names = [name for name in exact if exact[name] is not None and found[name] is not None]
    largest = {name: np.abs(exact[name]).max() for name in names}
    room = {name: 1e-3 * largest[name] + 1e-4 * max(largest.values()) + 1e-30 for name in names}
    room["Y"] += rounding
    return [name for name in names if not np.all(np.abs(found[name] - exact[name]) <= room[name])]


CIRCUMSTANCES = (
    _finds_every_parameter,
    _without_dX,
    _with_training_toggled,
    _after_another_X,
    _after_another_shape,
    _after_a_step,
    _for_another_batch,
    _in_Fortran_order,
    _for_a_transposed_dY,
    _in_float32,
)
