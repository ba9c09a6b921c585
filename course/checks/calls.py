"""What is asked of every function, whatever its exercise: results stay, and the same call returns the same.

An Exercise watches its answer's calls while its check runs, and asks afterwards. The functions here return
the sentence of a failure, or an empty str.
"""

from contextlib import contextmanager
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from minigrad.layer import Layer

WATCHED = 10  # calls of a round; nudging makes thousands
NUMBERS = (np.ndarray, np.generic, int, float, complex, str, type(None))
NEW_ARRAY = "An array that it has returned belongs to its caller: make a new one in each call"
A_SECOND = "in a second call of backward, "
NO_MEMORY = "What one call stores must not affect another"


class Call(NamedTuple):
    """One call of an answer.

    Parameters
    ----------
    args, kwargs : tuple and dict, or None
        Copies of the arguments from before the call; None if the call cannot be repeated.
    arrays : list of array
        Those that it returned, without those that share memory with an argument.
    copies : list of array
    leaves : list of (str, object)
        Of a copy of what it returned.
    """

    args: tuple
    kwargs: dict
    arrays: list
    copies: list
    leaves: list


class Watched:
    """An answer that remembers the first calls of each round.

    Parameters
    ----------
    answer : function

    Attributes
    ----------
    calls : list of Call
    began : int
        The number of calls before this round.
    """

    __slots__ = ("__wrapped__", "began", "calls")
    not_parts = ("calls",)  # for `minigrad.parts`

    def __init__(self, answer):
        self.__wrapped__, self.calls, self.began = answer, [], 0

    def __call__(self, *args, **kwargs):
        """Call the answer."""
        if len(self.calls) - self.began == WATCHED:
            return with_backward(self.__wrapped__(*args, **kwargs))
        lent = [leaf for _, leaf in leaves([args, kwargs])]
        is_plain = all(isinstance(leaf, (*NUMBERS, Layer)) for leaf in lent)
        given = deepcopy((args, kwargs)) if is_plain else (None, None)
        result = self.__wrapped__(*args, **kwargs)
        lent = [leaf for leaf in lent if isinstance(leaf, np.ndarray)]
        arrays = [leaf for _, leaf in leaves(result) if isinstance(leaf, np.ndarray)]
        arrays = [array for array in arrays if not any(np.may_share_memory(array, other) for other in lent)]
        copied = [(place, copy(leaf)) for place, leaf in leaves(result)]
        self.calls.append(Call(*given, arrays, list(map(copy, arrays)), copied))
        return with_backward(result)

    def __deepcopy__(self, memo):
        """Return the same: a function is not copied either."""
        return self


class Backward:
    """A backward function that says of an exception whether it has been called before.

    Parameters
    ----------
    backward : function
    """

    __slots__ = ("__wrapped__", "_before")

    def __init__(self, backward):
        self.__wrapped__, self._before = backward, ""

    def __call__(self, *args, **kwargs):
        """Call the backward function."""
        before, self._before = self._before, A_SECOND
        with asking(before):
            return self.__wrapped__(*args, **kwargs)


def with_backward(result):
    """Return a result ``(Y, backward)`` with a Backward, or any other result itself.

    Parameters
    ----------
    result : object

    Returns
    -------
    object
    """
    if isinstance(result, tuple) and len(result) == 2 and type(result[1]).__name__ == "function":
        return result[0], Backward(result[1])
    return result


@contextmanager
def asking(what, reason=""):
    """Add to an exception inside what was asked, and why it may be raised only then.

    Parameters
    ----------
    what : str
        The beginning of the message: ``"in a second call of backward, "``.
    reason : str
        A sentence behind it.
    """
    try:
        yield
    except Exception as error:
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
    >>> double = Watched(lambda X: np.multiply(2.0, X, out=room))
    >>> _ = double(np.ones(2)), double(np.full(2, 5.0))
    >>> changed(double.calls)
    'a later call changes what an earlier one has returned: [0] was 2, and is 10. ...'
    """
    for call in calls:
        for array, before in zip(call.arrays, call.copies, strict=True):
            if found := difference(leaves(array), leaves(before)):
                place, now, was = found
                where = f"{place or 'it'} was {was}, and is {now}"
                return f"a later call changes what an earlier one has returned: {where}. {NEW_ARRAY}"
    return ""


def unrepeated(watched):
    """Return the sentence on a call that returns something else when it is made again.

    The first and the last remembered call of the round are made again, twice with the same objects. A check
    asks it in its first round only: its other rounds find later memory, and an answer may be slow.

    Parameters
    ----------
    watched : Watched

    Returns
    -------
    str

    Examples
    --------
    >>> seen = []
    >>> def count(X):
    ...     seen.append(X)
    ...     return len(seen)
    >>> count = Watched(count)
    >>> count(3.0)
    1
    >>> unrepeated(count)
    'called again with the same arguments, it returns 2; the first time it was 1. ...'
    """
    answer, calls = watched.__wrapped__, watched.calls[watched.began :]
    for call in [call for call in (*calls[:1], *calls[1:][-1:]) if call.args is not None]:
        for _ in range(2):
            if found := difference(leaves(answer(*call.args, **call.kwargs)), call.leaves):
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
