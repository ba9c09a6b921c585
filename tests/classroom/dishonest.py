"""Wrappers that make an answer dishonest: they count, remember, recognise, return nan, replay.

Each wraps a right answer, and lies in calls that it takes for unchecked. A lie has the right form and no
content: zeros, a `backward` that returns zeros, a step that changes nothing.
"""

import functools
import inspect
from copy import deepcopy

import numpy as np

from minigrad import Layer
from minigrad.check.harness import is_of_the_library

NEAR = 0.1  # an array that is no further from one that was asked before is taken for a nudged one
SPECIAL = ("__call__", "__iter__", "__next__", "__len__", "__getitem__", "__enter__", "__exit__")
SCALARS = (bool, int, float, np.generic)


class Liar:
    """The shared state of a dishonest answer's copies: its calls, and its number of lies.

    Parameters
    ----------
    level : int
        0 lies in what the answer returns; 1 in what the functions return that it has returned, and so on.
    """

    def __init__(self, level=0):
        self.level, self.lies, self.asked, self.told = level, 0, [], None

    def answers(self, question):
        """Return the answer to one question."""
        raise NotImplementedError

    def lie(self, question, fill=0.0):
        """Return a lie with the form of the honest answer, which changes nothing, and count it."""
        honest = question.aside()
        false = filled(honest, fill)
        self.lies += honest is None or not same(false, honest)
        return false

    def wrapped(self, answer, level=0):
        """Return an answer, function or class, whose results at the liar's level are the liar's."""
        if isinstance(answer, type):
            return self._class(answer, level)

        @functools.wraps(answer)
        def asked(*args, **kwargs):
            question = Question(answer, args, kwargs)
            if level == self.level:
                return self.answers(question)
            return self._inside(question.honest(), level + 1)

        asked.__signature__ = signature(answer)
        return asked

    def _inside(self, result, level):
        """Return a result whose functions and layers are wrapped, too."""
        if isinstance(result, tuple | list) and type(result) in (tuple, list):
            return type(result)(self._inside(part, level) for part in result)
        if isinstance(result, Layer) and not is_of_the_library(type(result)):
            result.__class__ = self._class(type(result), level)
        return self.wrapped(result, level) if inspect.isfunction(result) else result

    def _class(self, cls, level):
        """Return a class derived from the answer, whose methods are wrapped."""
        own = [base for base in cls.__mro__ if not is_of_the_library(base)]
        names = {name: thing for base in reversed(own) for name, thing in vars(base).items()}
        methods = {
            name: self.wrapped(thing, level)
            for name, thing in names.items()
            if inspect.isfunction(thing) and (name[0] != "_" or name in SPECIAL)
        }
        return type(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": cls.__doc__} | methods)


class Question:
    """One call of an answer: its function and its arguments."""

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.numbers = deepcopy(numbers_in([args, kwargs]))

    def honest(self):
        """Return the honest answer."""
        return self.function(*self.args, **self.kwargs)

    def aside(self):
        """Return the honest answer, without changing the arguments."""
        args, kwargs = deepcopy((self.args, self.kwargs))
        return self.function(*args, **kwargs)


class Counts(Liar):
    """Right in its first call only."""

    def answers(self, question):
        self.asked.append(1)
        return question.honest() if len(self.asked) == 1 else self.lie(question)


class Remembers(Liar):
    """Right for new arguments, wrong for repeated ones."""

    def answers(self, question):
        known = any(same(question.numbers, before) for before in self.asked)
        self.asked.append(question.numbers)
        return self.lie(question) if known else question.honest()


class Recognises(Liar):
    """Constant for nudged arguments, so that finite differences agree with a `backward` of zeros."""

    def answers(self, question):
        for before, told in self.asked:
            if is_nudged(question.numbers, before):
                return self.nudged(question, told)
        honest = question.honest()
        if gives_a_way_back(honest):
            self.lies += 1
            honest = honest[0], filled(honest[1], 0.0)
        self.asked.append((question.numbers, honest))
        return honest

    def nudged(self, question, told):
        """Return the answer to a question that nearly repeats an earlier one."""
        self.lies += not same(told, question.aside())
        return told


class SaysNan(Recognises):
    """Returns nan for nudged arguments, and has a `backward` that returns zeros."""

    def nudged(self, question, told):
        return self.lie(question, np.nan)


class Replays(Liar):
    """Returns its first right result for ever."""

    def answers(self, question):
        honest = question.honest()
        if self.told is None:
            self.told = honest
        self.lies += bool(question.numbers) and not same(self.told, honest)
        return self.told


class ReplaysShapes(Liar):
    """Returns its first right result for each shape, whatever the numbers are."""

    def answers(self, question):
        key = [list(np.shape(number)) for number in question.numbers]
        honest = question.honest()
        for before, told in self.asked:
            if question.numbers and key == before:
                self.lies += not same(told, honest)
                return told
        self.asked.append((key, honest))
        return honest


def gives_a_way_back(result):
    """Report whether a result has the form of a layer's."""
    return isinstance(result, tuple) and len(result) == 2 and callable(result[1])


def filled(honest, fill):
    """Return a copy of a result with its numbers replaced."""
    if isinstance(honest, np.ndarray):
        return np.full_like(honest, fill if honest.dtype.kind in "fc" else 0)
    if isinstance(honest, SCALARS):
        return type(honest)(fill if isinstance(honest, float) else 0)
    if isinstance(honest, tuple) and hasattr(honest, "_fields"):
        return type(honest)(*(filled(part, fill) for part in honest))
    if isinstance(honest, tuple | list):
        return type(honest)(filled(part, fill) for part in honest)
    if isinstance(honest, dict):
        return {name: filled(part, fill) for name, part in honest.items()}
    if inspect.isfunction(honest):
        return lambda *args, **kwargs: filled(honest(*deepcopy(args), **kwargs), fill)
    return honest


def same(some, others):
    """Report whether two results have the same numbers, up to rounding; functions are never the same."""
    if isinstance(some, tuple | list) and isinstance(others, tuple | list):
        return len(some) == len(others) and all(map(same, some, others))
    if isinstance(some, dict) and isinstance(others, dict):
        return some.keys() == others.keys() and all(same(some[name], others[name]) for name in some)
    if some is others:
        return True
    if callable(some) or callable(others):
        return False
    if np.shape(some) != np.shape(others):
        return False
    try:
        return bool(np.allclose(some, others, rtol=1e-9, atol=1e-12, equal_nan=True))
    except TypeError:  # no numbers
        return bool(np.all(np.equal(some, others, dtype=object)))


def numbers_in(thing):
    """Return the arrays and numbers in a value, in order, by which a question is recognised."""
    if isinstance(thing, np.ndarray | int | float | np.generic | str):
        return [thing]
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, tuple | list):
        return [number for part in thing for number in numbers_in(part)]
    return []


def is_nudged(numbers, before):
    """Report whether a question repeats an earlier one, up to a nudge."""
    if len(numbers) != len(before) or same(numbers, before):
        return False
    return all(map(is_near, numbers, before))


def is_near(one, other):
    """Report whether two arrays are nearly equal."""
    if np.shape(one) != np.shape(other):
        return False
    if getattr(one, "dtype", np.dtype(type(one))).kind != "f":
        return same(one, other)
    return bool(np.all(np.abs(np.subtract(one, other, dtype=float)) <= NEAR))


def signature(answer):
    """Return the signature of an answer, or None."""
    try:
        return inspect.signature(answer)
    except (TypeError, ValueError):
        return None


class Knows(Liar):
    """Right where it is asked what it has been asked in another run, and nothing elsewhere: a table.

    Parameters
    ----------
    asked : list, optional
        What another one has been asked.
    """

    def __init__(self, asked=None):
        super().__init__()
        self.table = asked

    def answers(self, question):
        key = self.key(question.numbers)
        self.asked.append(key)
        known = self.table is None or any(same(key, before) for before in self.table)
        return question.honest() if known else self.lie(question)

    def key(self, numbers):
        """Return the key of a question: all its numbers."""
        return numbers


class KnowsSizes(Knows):
    """Right for sizes that it has been asked in another run, and nothing elsewhere: its sizes are fixed."""

    def key(self, numbers):
        """Return the key of a question: its shapes."""
        return [list(np.shape(number)) for number in numbers]


KINDS = Counts, Remembers, Recognises, SaysNan, Replays, ReplaysShapes
