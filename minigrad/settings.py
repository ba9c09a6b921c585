"""Checks of arguments: sizes, rates, functions, dtypes and seeds.

Checks of arrays are in shapes.py, names from other libraries in foreign_names.py. Built in chapter 12.
"""

import math

import numpy as np


def require_integer(name, value, least=1):
    """Return a size or a count; raise an error unless it is an integer, and at least `least` if not None.

    Examples
    --------
    >>> require_integer("n_in of Linear", 2.5)
    Traceback (most recent call last):
        ...
    TypeError: n_in of Linear must be an integer of at least 1, got 2.5.
    """
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if is_integer and (least is None or value >= least):
        return value
    limit = "" if least is None else f" of at least {least}"
    kind = ValueError if is_integer else TypeError
    raise kind(f"{name} must be an integer{limit}, got {_short(value)}.")


def require_number(  # noqa: PLR0913  one argument per kind of limit
    name, value, least=-math.inf, above=-math.inf, most=math.inf, below=math.inf
):
    """Return a number; raise an error unless it is finite and within the limits.

    Examples
    --------
    >>> require_number("momentum", 1.5, least=0, below=1)
    Traceback (most recent call last):
        ...
    ValueError: momentum must be a finite number of at least 0 and below 1, got 1.5.
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if is_number and least <= value <= most and above < value < below:  # false for nan and inf
        return value
    limits = {"of at least": least, "above": above, "at most": most, "below": below}
    said = " and".join(f" {word} {limit}" for word, limit in limits.items() if math.isfinite(limit))
    kind = ValueError if is_number else TypeError
    raise kind(f"{name} must be a finite number{said}, got {_short(value)}.")


def require_function(name, value, call):
    """Return a function; raise TypeError for anything else, such as a name in quotes or a class.

    Examples
    --------
    >>> require_function("init of Linear", "he", "(shape, rng) -> array")
    Traceback (most recent call last):
        ...
    TypeError: init of Linear must be a function, (shape, rng) -> array; got 'he': write the \
function itself, without quotes.
    """
    if not callable(value) or isinstance(value, type):
        advice = f": call it first, {value.__name__}(...)" if isinstance(value, type) else ""
        advice = ": write the function itself, without quotes" if isinstance(value, str) else advice
        raise TypeError(f"{name} must be a function, {call}; got {_short(value)}{advice}.")
    return value


def require_float_type(dtype):
    """Return the dtype float32 or float64; raise TypeError for any other.

    Examples
    --------
    >>> require_float_type("float32")
    dtype('float32')
    """
    try:
        dtype = np.dtype("none" if dtype is None else dtype)  # NumPy would read None as float64
    except TypeError:
        advice = 'write np.float32 or np.float64; to_device(model, "gpu") moves a model'
        raise TypeError(f"{_short(dtype)} is not a dtype: {advice}.") from None
    if dtype not in (np.float32, np.float64):
        wanted = "networks train in np.float32 or np.float64"
        raise TypeError(f"{wanted}, not in {dtype}: convert to one of them.")
    return dtype


def as_generator(rng):
    """Return a random Generator: the given one, or a new one from a seed.

    Examples
    --------
    >>> as_generator("seed")
    Traceback (most recent call last):
        ...
    TypeError: rng must be a seed, an integer of at least 0, or a numpy.random.Generator; got 'seed'.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        wanted = "a seed, an integer of at least 0, or a numpy.random.Generator"
        raise type(error)(f"rng must be {wanted}; got {_short(rng)}.") from None


def _short(value):
    """Return the repr of a value on one line of at most 70 characters."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 70 else f"{shown[:67]}..."
