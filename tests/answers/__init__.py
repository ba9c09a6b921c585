"""Answers to every exercise, by which its check is tried: a file a chapter, as in `course.checks`.

A right answer has another style than the solution's. A wrong one stands here if the check itself says what is
wrong, and in `course.checks` if its sentence is added to the check's: only the latter is run for a learner.
"""

from importlib import import_module
from typing import NamedTuple

_RIGHT, _REFUSED = {}, {}  # by the exercise's name: what stands in the files


class Answers(NamedTuple):
    """The answers to one exercise.

    Parameters
    ----------
    right : list of (function or class)
    refused : list of (str, function or class)
        Words that the check must say, and the answer of which it must say them.
    """

    right: list
    refused: list


def right(exercise):
    """Attach a right answer to an exercise.

    Parameters
    ----------
    exercise : Exercise
    """

    def attach(answer):
        _RIGHT.setdefault(exercise.name, []).append(answer)
        return answer

    return attach


def refused(exercise, words):
    """Attach a wrong answer to an exercise, with words of the check's own that must refuse it.

    Parameters
    ----------
    exercise : Exercise
    words : str
        Such as ``"5 times too small"``.
    """

    def attach(answer):
        _REFUSED.setdefault(exercise.name, []).append((words, answer))
        return answer

    return attach


def refused_values(exercise, table):
    """Attach wrong predictions, each with words of the check's own that must refuse it.

    Parameters
    ----------
    exercise : Exercise
    table : dict of object to str
        What the answer returns, and the words.
    """
    for returned, words in table.items():
        refused(exercise, words)(lambda returned=returned: returned)


def answers_to(exercise):
    """Return the answers to an exercise; those that its check names are among the wrong ones.

    Parameters
    ----------
    exercise : Exercise

    Returns
    -------
    Answers

    Raises
    ------
    ModuleNotFoundError
        If its chapter has no file of answers.
    """
    import_module(f"{__name__}.ch{exercise.stem}")
    name = exercise.name
    return Answers(_RIGHT.get(name, []), exercise.mistakes + _REFUSED.get(name, []))
