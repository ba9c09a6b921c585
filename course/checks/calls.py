"""What is asked of every function, whatever its exercise: results stay, and the same call returns the same.

An Exercise watches its answer's calls while its check runs, and asks afterwards. The functions here return
the sentence of a failure, or an empty str.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from itertools import count
from typing import NamedTuple

import numpy as np

from minigrad.layer import Layer

WATCHED, LAST = 10, 4  # the first calls of a round and the last; nudging makes thousands
TOKENS = count()
# calls, steps and place of each Watched: no attributes, which gradcheck looks into, and a check may weigh
KNOWN = ContextVar("known", default={})  # noqa: B039  one for all
NUMBERS = (np.ndarray, np.generic, int, float, complex, str, type(None))
NEW_ARRAY = "An array that it has returned belongs to its caller: make a new one in each call"
A_SECOND = "in a second call of backward, "
NO_MEMORY = "What one call stores must not affect another"
PAST = ContextVar("past", default=[])  # noqa: B039  each check sets its own; the names and values that a check has compared, and found right


class Call(NamedTuple):
    """One call of an answer, or of a function that it has returned.

    Parameters
    ----------
    steps : tuple of Step
        The calls that lead to this one, and this one; None in the place of one that cannot be repeated.
    arrays : list of array
        Those that it returned, without those that share memory with an argument.
    copies : list of array
    leaves : list of (str, object)
        Of a copy of what it returned.
    """

    steps: tuple
    arrays: list
    copies: list
    leaves: list


class Step(NamedTuple):
    """A function, found at a place of the result before, and copies of the arguments it was given."""

    place: str
    function: object
    args: tuple
    kwargs: dict


class Watched:
    """A function that remembers its first calls of each round, and those of the functions it returns.

    An exception in it says how it was called: whether it is a backward function that was called before.

    Parameters
    ----------
    function : function
    calls : list of Call
        Where its calls are noted.
    steps : tuple of Step
        The calls that returned it.
    place : str
        Its indices in what they returned.
    """

    __slots__ = ("__wrapped__", "_before", "_token")

    def __init__(self, function, calls, steps=(), place=""):
        self.__wrapped__, self._before, self._token = function, "", next(TOKENS)
        KNOWN.get()[self._token] = calls, steps, place

    def __del__(self, known=KNOWN.get()):  # noqa: B008  at Python's end this module has lost its names
        """Forget what is known."""
        known.pop(self._token, None)

    def __call__(self, *args, **kwargs):
        """Call the function."""
        calls, came, place = KNOWN.get()[self._token]
        before, self._before = self._before, A_SECOND if place == "[1]" else ""
        lent = [leaf for _, leaf in leaves([args, kwargs])]
        is_plain = all(isinstance(leaf, (*NUMBERS, Layer)) for leaf in lent)
        step = Step(place, self.__wrapped__, *deepcopy((args, kwargs))) if is_plain else None
        steps = (*came, step)
        with asking(before, steps=steps):
            result = self.__wrapped__(*args, **kwargs)
        lent = [leaf for leaf in lent if isinstance(leaf, np.ndarray)]
        arrays = [leaf for _, leaf in leaves(result) if isinstance(leaf, np.ndarray)]
        arrays = arrays if len(steps) == 1 else []  # a check may ask whether a layer's are let go
        arrays = [array for array in arrays if not any(np.may_share_memory(array, other) for other in lent)]
        copied = [(place, copy(leaf)) for place, leaf in leaves(result)]
        calls.append(Call(steps, arrays, list(map(copy, arrays)), copied))
        alike = [place for place, call in enumerate(calls) if len(call.steps) == len(steps)]
        if len(alike) > WATCHED + LAST:
            del calls[alike[WATCHED]]
        return _watched(result, calls, steps)

    def __deepcopy__(self, memo):
        """Return the same: a function is not copied either."""
        return self

    def __getattr__(self, name):
        """Return an attribute of the function, such as its name."""
        return getattr(self.__wrapped__, name)


def _watched(result, calls, steps):
    """Return a result whose functions are watched, too: alone, or as the second of a pair."""
    if type(result).__name__ == "function":
        return Watched(result, calls, steps)
    if isinstance(result, tuple) and len(result) == 2 and type(result[1]).__name__ == "function":
        return result[0], Watched(result[1], calls, steps, "[1]")
    return result


def again(steps, lend=deepcopy):
    """Return the leaves of what calls return when they are made again.

    Parameters
    ----------
    steps : tuple of Step
    lend : function
        Makes what is handed over of the arguments: copies.

    Returns
    -------
    list of (str, object)
    """
    (_, thing, *_), *_ = steps
    with np.errstate(all="ignore"):  # the check may have asked so
        for step in steps:
            thing = thing[1] if step.place else thing
            thing = thing(*lend(step.args), **lend(step.kwargs))
    return list(leaves(thing))


def shown(steps):
    """Return the numbers and texts that functions were given, in words, or an empty str.

    Parameters
    ----------
    steps : tuple of Step

    Returns
    -------
    str
    """
    words = []
    for step in filter(None, steps):
        given = [leaf for _, leaf in leaves([step.args, step.kwargs])]
        if not given or not all(isinstance(leaf, int | float | str) for leaf in given):
            return ""
        said = [f"{leaf:.4g}" if isinstance(leaf, float) else repr(leaf) for leaf in given]
        words.append(f"({', '.join(said)})")
    words = ", then ".join(words)
    return f"called with {words}, " if 0 < len(words) < 60 else ""


@contextmanager
def asking(what, reason="", steps=()):
    """Add to an exception inside what was asked, and why it may be raised only then.

    Parameters
    ----------
    what : str
        The beginning of the message: ``"in a second call of backward, "``.
    reason : str
        A sentence behind it.
    steps : tuple of Step
        How the function was called, which is said if nothing else is asked.
    """
    try:
        yield
    except Exception as error:
        error.steps = getattr(error, "steps", ()) or steps
        asked, known = getattr(error, "asked", ""), getattr(error, "reason", "")
        error.asked, error.reason = what if asked in what else what + asked, known or reason
        raise


def changed(calls):
    """Return the sentence on a result that a later call has changed.

    Parameters
    ----------
    calls : list of Call

    Returns
    -------
    str

    Examples
    --------
    >>> room = np.zeros(2)
    >>> calls = []
    >>> double = Watched(lambda X: np.multiply(2.0, X, out=room), calls)
    >>> _ = double(np.ones(2)), double(np.full(2, 5.0))
    >>> changed(calls)
    'a later call changes what an earlier one has returned: [0] was 2, and is 10. ...'
    """
    for call in calls:
        for array, before in zip(call.arrays, call.copies, strict=True):
            if found := difference(leaves(array), leaves(before)):
                place, now, was = found
                where = f"{place or 'it'} was {was}, and is {now}"
                return f"a later call changes what an earlier one has returned: {where}. {NEW_ARRAY}"
    return ""


def unrepeated(calls):
    """Return the sentence on a call that returns something else when it is made again.

    The first and the last remembered call are made again, twice with the same objects. A check asks it in
    its first round only: its other rounds find later memory, and an answer may be slow.

    Parameters
    ----------
    calls : list of Call

    Returns
    -------
    str

    Examples
    --------
    >>> calls, seen = [], []
    >>> def counted(X):
    ...     seen.append(X)
    ...     return len(seen)
    >>> Watched(counted, calls)(3.0)
    1
    >>> unrepeated(calls)
    'called again with the same arguments, it returns 2; the first time it was 1. ...'
    """
    for call in [call for call in (*calls[:1], *calls[1:][-1:]) if None not in call.steps]:
        for _ in range(2):
            if found := difference(again(call.steps, lambda given: given), call.leaves):
                place, now, before = found
                where = f"{place} is {now}" if place else f"it returns {now}"
                return (
                    f"called again with the same arguments, {where}; the first time it was {before}. "
                    f"{NO_MEMORY}"
                )
    return ""


def difference(now, before):
    """Return where two results differ first, and both values in words.

    Parameters
    ----------
    now, before : iterable of (str, object)
        From `leaves`. What is not numbers, str or None, such as a function, is not compared.

    Returns
    -------
    tuple of (str, str, str), or None

    Examples
    --------
    >>> difference(leaves((1.0, np.array([2.0, 3.0]))), leaves((1.0, np.array([2.0, 4.0]))))
    ('[1][1]', '3', '4')
    >>> difference(leaves({"a": 1.0}), leaves({"a": 1.0 + 1e-15}))
    """
    now, before = list(now), list(before)
    if [place for place, _ in now] != [place for place, _ in before]:
        return "", "a result of another form", "another one"
    for (place, new), (_, old) in zip(now, before, strict=True):
        if not (isinstance(new, NUMBERS) and isinstance(old, NUMBERS)) or same(new, old):
            continue
        if np.shape(new) != np.shape(old):
            return place, f"an array of shape {np.shape(new)}", f"one of shape {np.shape(old)}"
        new, old = np.asarray(new), np.asarray(old)
        entry = next(entry for entry in np.ndindex(new.shape) if not same(new[entry], old[entry]))
        index = f"[{', '.join(map(str, entry))}]" if entry else ""
        new, old = new[entry], old[entry]
        return f"{place}{index}", *(apart(new, old) if new.dtype.kind in "iuf" else (f"{new}", f"{old}"))
    return None


def copy(thing):
    """Return a copy of an array, or any other object itself.

    Parameters
    ----------
    thing : object

    Returns
    -------
    object
    """
    return thing.copy() if isinstance(thing, np.ndarray) else thing


def leaves(thing, place=""):
    """Yield what is in a result, with the indices that lead to it.

    Parameters
    ----------
    thing : object
        Tuples, lists and dicts are opened.
    place : str
        The indices that lead to it.

    Yields
    ------
    tuple of (str, object)

    Examples
    --------
    >>> list(leaves((1, {"a": [2]})))
    [('[0]', 1), ("[1]['a'][0]", 2)]
    """
    if isinstance(thing, tuple | list):
        thing = dict(enumerate(thing))
    if not isinstance(thing, dict):
        yield place, thing
        return
    for key, part in thing.items():
        yield from leaves(part, f"{place}[{key!r}]")


def same(one, other):
    """Return whether two results are equal up to rounding.

    Parameters
    ----------
    one, other : object

    Returns
    -------
    bool
    """
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        one, other = np.asarray(one), np.asarray(other)
    except ValueError:  # a tuple of arrays of several shapes, compared with something else
        return False
    if one.dtype.kind in "biufc" and other.dtype.kind in "biufc":
        return one.shape == other.shape and np.allclose(one, other, equal_nan=True)
    return np.array_equal(one, other)


def apart(value, truth):
    """Return two unequal numbers as strings, with enough digits to differ, at least four.

    Parameters
    ----------
    value, truth : float

    Returns
    -------
    tuple of two str

    Examples
    --------
    >>> apart(0.14467, 0.14469)
    ('0.14467', '0.14469')
    """
    pairs = ((f"{value:.{digits}g}", f"{truth:.{digits}g}") for digits in range(4, 18))
    return next(pair for pair in pairs if pair[0] != pair[1])
