"""The nine rules of a layer: each checks one thing, and returns its complaint, or "".

Holds examine, which checks all of them and then compares the gradients. Checks under other conditions
are in circumstances.py. Introduced in chapter 03.
"""

import numpy as np

from minigrad.check.compare import compare, is_right_along_one_direction
from minigrad.check.diagnosis import explain
from minigrad.shapes import require_batch


def examine(trial, report, quick=False):
    """Check the nine rules and compare the gradients; if quick, along one direction first."""
    for rule, check in RULES.items():
        report.rules[rule] = check(trial)
        if report.rules[rule] and check in DECISIVE:
            return
    if not quick or not is_right_along_one_direction(trial):
        compare(trial, report)


def in_words(error):
    """Return an error's name and message, with the cause that its shapes suggest."""
    return f"{type(error).__name__}: {explain(error)}"


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
    """Return whether something is a number or an array of numbers."""
    return getattr(entry, "dtype", np.dtype(object)).kind in "fiub" or isinstance(entry, (int, float))


def _leaves_its_inputs_alone(trial):
    if complaint := trial.blame(trial.already_moved, "changed, work on a copy"):
        return complaint
    if trial.options["training"]:
        return ""
    return trial.blame(trial.stirred, "changed outside training, where a Buffer must stay the same")


def _is_steady(trial):
    again = trial.pack(trial.forward()[0])
    trial.last_Y, trial.backward = trial.forward()
    for Y in (again, trial.pack(trial.last_Y)):  # twice: a random mask may be the same by chance
        if Y.shape != trial.Y.shape or not np.allclose(Y, trial.Y, 0, 1e-9 * np.abs(trial.Y).max()):
            return "Y: it differs, draw random numbers from the layer's own Generator"
    return ""


def _runs_backward(trial):
    before = [np.array(holder.grad) for holder in trial.hidden]
    try:
        trial.first = trial.back(trial.backward, trial.dY)
    except Exception as error:
        return in_words(error)
    hidden = zip(trial.hidden, before, strict=True)
    trial.got_hidden = [holder for holder, grad in hidden if not _equal(holder.grad, grad)]
    trial.is_sent_changed = not np.array_equal(trial.sent, trial.dY)
    try:
        trial.second = trial.back(trial.backward, trial.dY)
    except Exception as error:
        return f"the second call failed: {in_words(error)}"
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
            spoiled, "a second call gave another result: use what forward stored, and do not change it"
        )
    Y, backward = trial.forward()
    before = trial.pack(Y)
    first = trial.back(backward, trial.dY)
    raw = {name: trial.raw[name] for name in trial.inputs}
    trial.back(backward, 2 * trial.dY + 1)
    shared = [name for name, dX in raw.items() if dX is not None and not _equal(dX, first[name])]
    if shared:
        return trial.blame(shared, "a second call overwrote the first one's result: return a new array")
    trial.forward({name: np.flip(trial.values[name]) for name in trial.inputs}, restore=False)
    if not _equal(trial.pack(Y), before):
        return trial.blame(["Y"], "a later forward overwrote it: return a new array", taints=trial.nudged)
    spoiled = trial.unlike(trial.back(backward, trial.dY), trial.first)
    return trial.blame(spoiled, "a later forward changed its result: keep X in the closure, not on self")


def _is_linear(trial):
    if trial.spoilt or trial.is_sent_changed:
        return ""  # a consequence
    dY, other_dY = trial.rng.standard_normal((2, *trial.Y.shape))
    one, two = trial.run(dY), trial.run(other_dY)
    names, wrong, how = [name for name in one if one[name] is not None], {}, "not proportional to dY"
    for a, b in (2, -3), (1e-9, 0), (1e9, 0):
        both = trial.run(a * dY + b * other_dY)
        found = {name: both[name] / a for name in names}
        wrong |= dict.fromkeys(trial.unlike(found, {name: one[name] + b / a * two[name] for name in names}))
        if a < 1 and any(np.abs(found[name]).max() > 10 * np.abs(one[name]).max() for name in wrong):
            how = "does not vanish with dY: a factor dY is missing"
    return trial.blame(wrong, how if "vanish" in how else f"{how}: is there a clip, a sign, an abs?")


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
    """Return whether two arrays hold the same values; nan equals nan."""
    return np.array_equal(np.asarray(some, dtype=float), np.asarray(others, dtype=float), equal_nan=True)
