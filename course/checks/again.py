"""What a wrong answer is asked again, to say more of what is wrong: its last call, with other arguments."""

import inspect
import re
import warnings
from typing import NamedTuple

import numpy as np

from course.checks.calls import NO_MEMORY, PAST, again, same
from course.checks.relations import changes, relation
from minigrad.check.numerical import numerical_gradient

NEXT_TO_0 = 1e-300  # counts as true


def explained_by(answer, calls, no, ask):
    """Return the sentence that explains a wrong value best, or an empty str.

    Parameters
    ----------
    answer : function or class
    calls : list of Call
        Its last calls.
    no : CheckFailed
        With what was found, and the sentence that is known already, which a more specific one replaces.
    ask : function
        Runs the check again.

    Returns
    -------
    str
    """
    (what, value, truth), name = no.found, no.name
    if value is None:
        return name or _right_so_far(what)
    value, truth = np.asarray(value), np.asarray(truth)
    if value.shape == truth.shape:
        name = _by_its_call(calls, what, value, truth, name)
    files = [] if np.isfinite(value).all() else files_of(answer)
    if files or not name:
        name = f"{name} {_asked_once_more(ask, no.sentence, files)}".strip()
    return name if name and not name.startswith("Only") else f"{name} {_right_so_far(what)}".strip()


def files_of(answer):
    """Return the files with the code of a function or class.

    Parameters
    ----------
    answer : function or class

    Returns
    -------
    set of str
    """
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    codes = [getattr(inspect.unwrap(part), "__code__", None) for part in parts]
    return {code.co_filename for code in codes if code}


class Case(NamedTuple):
    """A wrong value, the right one, and the calls that returned it, with their arguments by name."""

    what: str
    value: np.ndarray
    truth: np.ndarray
    steps: tuple
    given: dict
    place: str

    def returns(self, wanted, **others):
        """Return whether the calls, with other arguments, return a value."""
        steps = self.steps
        for name, thing in others.items():
            steps = _with(steps, self.given, name, thing)
        return _at(steps, self.place, wanted)


def _by_its_call(calls, what, value, truth, name):
    """Return the sentence that the call which returned a value leads to, or the one known already."""
    places = ((call, _place_of(value, call.leaves)) for call in reversed(calls) if None not in call.steps)
    call, place = next(((call, place) for call, place in places if place is not None), (None, None))
    earlier = _was_right_for(value, truth)
    if call is None:
        return earlier or name
    case = Case(what, value, truth, call.steps, _arguments(call.steps), place)
    asked = _of_the_call(case) or _of_arguments(case) or earlier
    return asked or name or (_of_use(case) if np.isfinite(value).all() else "")


def _of_the_call(case):
    """Return the sentence on a call that is right alone, with 0 replaced or with floats, or an empty str."""
    if not case.returns(case.value):
        alone = f"Asked alone it {'is right' if case.returns(case.truth) else 'returns something else'}"
        return f"{alone}. {NO_MEMORY}."
    for key, (_, thing) in case.given.items():
        if isinstance(thing, int | float) and thing == 0 and case.returns(case.truth, **{key: NEXT_TO_0}):
            return f"Here {key} is 0, and is taken for missing: ask `is None`, since 0 counts as false."
    whole = {
        key: thing for key, (_, thing) in case.given.items() if _kind(thing) in ("i", "u") and np.ndim(thing)
    }
    if whole and case.returns(case.truth, **{key: thing.astype(float) for key, thing in whole.items()}):
        return "With floats it is right: an array made like one of whole numbers cuts off what it is given."
    return ""


def _of_arguments(case):
    """Return the sentence on how a value is related to arguments, or an empty str."""
    near = {key: thing for key, (_, thing) in case.given.items() if _kind(thing)}
    before = case.what.rpartition(", ")[0]
    pairs = ((*what.rpartition(", "), array) for what, array in PAST.get())
    near |= {short: array for other, _, short, array in pairs if other == before}
    told = relation(case.value, case.truth, **near)
    if told and told != relation(case.value, case.truth):
        return told
    if case.truth.size < 3 and not np.any(case.truth * 1e3 % 1):  # simple numbers agree by chance
        return ""
    for key, (_, thing) in case.given.items():
        for words, changed in changes(thing):
            if case.returns(case.truth, **{key: changed}):
                return f"It returns the right value if it is given {key} {words}."
    return ""


def _of_use(case):
    """Return the sentence on an argument that is not used, or for which lengths it is right."""
    steps, given = case.steps, case.given
    own = [key for key, (index, _) in given.items() if not steps[-1].place or index == len(steps) - 1]
    for key in own:
        thing = given[key][1]
        others = [other for other in _others(thing) if not np.array_equal(other, thing)]
        if others and all(case.returns(case.value, **{key: other}) for other in others):
            return f"It is the same for another {key}: is it used?"
    return _shorter(steps, given)


def _others(thing):
    """Return two other values of an argument, or none."""
    if not _kind(thing) or isinstance(thing, bool):
        return []
    if isinstance(thing, int):
        return [thing + 1, thing + 2]
    if _kind(thing) == "f":
        return [0.75 * thing + 0.01, 0.5 * thing + 0.02]
    return [~thing] if _kind(thing) == "b" else [np.flip(thing), np.full_like(thing, thing.flat[0])]


def _kind(thing):
    """Return the kind of numbers in an argument: "f", "i", "u", "b", or an empty str."""
    return np.asarray(thing).dtype.kind if isinstance(thing, np.ndarray | int | float) else ""


def _was_right_for(value, truth):
    """Return the sentence on a value that another question had to have, or an empty str."""
    if not np.isfinite(value).all() or (value.size > 1 and not np.ptp(value)):
        return ""
    if value.size < 3 and not np.any(value * 1e3 % 1):  # simple numbers agree by chance
        return ""
    past = [other for other, right in PAST.get() if same(value, right) and not same(truth, right)]
    return f"That was right for {past[-1]}." if past else ""


def _right_so_far(what):
    """Return the sentence on the cases in which a value was right, or an empty str."""
    case, _, short = what.rpartition(", ")
    cases = [other.rpartition(", ") for other, _ in PAST.get()]
    cases = list(
        dict.fromkeys(before for before, _, name in cases if before and ", " not in before and name == short)
    )
    return f"It is right {', and '.join(cases[-2:])}." if case and case not in cases and cases else ""


def _asked_once_more(ask, sentence, files):
    """Return NumPy's last warning of a line in the files, or if there are none, whether a value varies."""
    said = sentence
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ask()
        except Exception as no:
            said = getattr(no, "sentence", sentence)
    if files:
        told = [warning for warning in caught if warning.filename in files]
        return f"NumPy warns of your line {told[-1].lineno}: {told[-1].message}." if told else ""
    if said == sentence:
        return ""
    if re.sub(r"[-\d.,]+", "", said) != re.sub(r"[-\d.,]+", "", sentence):
        return "Checked again, it fails at another place: something is kept from one use to the next."
    return "It is another number each time: draw only from the generator, or by the seed, that is given."


def _shorter(steps, given):
    """Return for how much of its arguments the gradient of a layer is right, or an empty str."""
    if len(steps) < 2 or not steps[-1].place:
        return ""
    X = next(iter(steps[-2].args), None)
    for key, (_, thing) in given.items():
        if isinstance(thing, list):
            lengths = [(f"of the {key}", {key: [thing[:count] for count in range(1, len(thing) + 1)]})]
        elif thing is X and isinstance(X, np.ndarray):
            lengths = [
                (f"along axis {axis} of {key}", {key: [X.take(range(n), axis) for n in range(1, length + 1)]})
                for axis, length in enumerate(X.shape)
            ]
        else:
            continue
        for words, variants in lengths:
            found = [_gradient_of(_with(steps, given, key, thing)) for thing in variants[key]]
            count = next((count for count, said in enumerate(found) if said not in ("right", "")), 0)
            if found[:1] == ["dY itself"] and isinstance(thing, list):
                return f"For 1 {words} it is dY itself."
            if count and found[count - 1] == "right":
                return f"It is right for {count} {words}, wrong for {count + 1}."
    return ""


def _gradient_of(steps):
    """Return what the gradient of a layer is: "right", "wrong", "dY itself", or "" if it cannot be run."""
    X, rng = steps[-2].args[0], np.random.default_rng(0)

    def layer(X):
        return again((*steps[:-2], steps[-2]._replace(args=(X, *steps[-2].args[1:]))))

    try:
        (_, Y), (_, backward) = layer(X)
        dY = rng.normal(size=Y.shape)
        right, dX = numerical_gradient(lambda X: layer(X)[0][1], X, dY), backward(dY.copy())
        dX = np.asarray(dX[0] if isinstance(dX, tuple) else dX)
        is_right = dX.shape == right.shape and np.allclose(dX, right, atol=1e-6)
    except Exception:
        return ""
    return "right" if is_right else "dY itself" if same(dX, dY) else "wrong"


def _arguments(steps):
    """Return the arguments of calls and the parts of lists, by name: the index of a call, and the thing."""
    found = {}
    for index, step in enumerate(steps):
        try:
            names = list(inspect.signature(step.function).parameters)
        except (TypeError, ValueError):
            continue
        for name, thing in [*zip(names, step.args, strict=False), *step.kwargs.items()]:
            found[name] = index, thing
            if isinstance(thing, list | tuple):
                found |= {f"{name}[{place}]": (index, part) for place, part in enumerate(thing)}
    return found


def _with(steps, given, name, thing):
    """Return calls with another argument."""
    index, (name, _, place) = given[name][0], name.partition("[")
    step, parts = steps[index], given[name][1]
    if place:
        number = int(place[:-1])
        thing = [*parts[:number], thing, *parts[number + 1 :]]
    args, kwargs = list(step.args), dict(step.kwargs)
    if name in kwargs:
        kwargs[name] = thing
    else:
        args[list(inspect.signature(step.function).parameters).index(name)] = thing
    return (*steps[:index], step._replace(args=tuple(args), kwargs=kwargs), *steps[index + 1 :])


def _at(steps, place, wanted):
    """Return whether calls return a value at a place."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return same(dict(_levels(again(steps)))[place], wanted)
    except Exception:
        return False


def _levels(found):
    """Yield leaves, and the list that they form if all are single numbers."""
    yield from found
    if len(found) > 1 and all(np.ndim(leaf) == 0 and not callable(leaf) for _, leaf in found):
        yield "all", np.array([leaf for _, leaf in found])


def _place_of(value, found):
    """Return the place of a value among leaves, or None."""
    alike = (place for place, leaf in _levels(found) if not callable(leaf) and np.shape(leaf) == value.shape)
    return next((place for place in alike if same(dict(_levels(found))[place], value)), None)
