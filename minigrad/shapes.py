"""Checks of shapes and arrays, and their error messages.

Holds ShapeError and the checks that layers, losses and learners share (one array, the same shape, a finite
batch). The checks of a single layer's sizes are in the layer. Each message states what was expected, what
was passed, and how to correct it. Built in chapter 12.
"""

import numpy as np

from minigrad.backend import array_module
from minigrad.settings import require_float_type


class ShapeError(ValueError):
    """Raised for shapes that do not fit together; the message states them, and how to correct them."""


def shape_of(X):
    """Return the shape of an array or a number, or a tuple of shapes for a tuple of arrays.

    Parameters
    ----------
    X : array, number, or tuple of arrays

    Returns
    -------
    tuple

    Raises
    ------
    TypeError
        If X is something else, for example a list.

    Examples
    --------
    >>> shape_of(np.zeros((2, 3)))
    (2, 3)
    >>> shape_of((np.zeros((2, 3)), np.zeros(2)))
    ((2, 3), (2,))
    """
    if hasattr(X, "dtype"):
        return X.shape
    if isinstance(X, tuple):
        return tuple(map(shape_of, X))
    if isinstance(X, (int, float)):
        return ()
    raise TypeError(f"expected an array, got {type(X).__name__}: write np.array(...) around it.")


def require_array(name, X):
    """Raise TypeError unless X is one array of numbers, in any type but float16.

    Parameters
    ----------
    name : str or Layer
        The caller's name, for the message.
    X : array

    Returns
    -------
    tuple
        The shape of X.

    Examples
    --------
    >>> require_array("mse", [1.0, 2.0])
    Traceback (most recent call last):
        ...
    TypeError: mse expects an array of numbers, got list: write np.array(...) around it.
    """
    if hasattr(X, "dtype") and X.dtype.kind in "fiub" and X.dtype.char != "e":  # e is float16
        return X.shape
    got, advice = type(X).__name__, "write np.array(...) around it"
    if isinstance(X, tuple):
        got, advice = f"a tuple of {len(X)}", "pass one array"
    if hasattr(X, "dtype"):
        got, advice = f"an array of {X.dtype}", "convert it with .astype(float)"
    elif hasattr(getattr(X, "data", None), "dtype"):  # a Parameter, a node
        advice = "pass the array inside it, .data"
    raise TypeError(f"{name} expects an array of numbers, got {got}: {advice}.")


def as_floats(name, X):
    """Convert an array of integers to float64 and keep floats; raise TypeError for anything else.

    Examples
    --------
    >>> as_floats("Tanh", np.array([1, 2], dtype=np.int8))
    array([1., 2.])
    """
    require_array(name, X)
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def require_two(name, X):
    """Raise TypeError unless X is a tuple of two.

    Examples
    --------
    >>> require_two("Twin", np.zeros(2))
    Traceback (most recent call last):
        ...
    TypeError: Twin takes a pair X = (A, B), got ndarray.
    """
    if not isinstance(X, tuple) or len(X) != 2:
        raise TypeError(f"{name} takes a pair X = (A, B), got {type(X).__name__}.")


def require_axis(name, X, axis):
    """Return the shape of an array; raise ShapeError if it lacks the axis, or the axis is the batch axis 0.

    Examples
    --------
    >>> require_axis("Sum(axis=2)", np.zeros((5, 3)), 2)
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: Sum(axis=2) needs an axis 2 that is not the batch axis 0, got X \
of shape (5, 3).
    """
    shape = require_array(name, X)
    if not -len(shape) <= axis < len(shape) or axis % len(shape) == 0:
        raise ShapeError(f"{name} needs an axis {axis} that is not the batch axis 0, got X of shape {shape}.")
    return shape


def require_width(layer, X):
    """Raise ShapeError unless the last axis of X has a layer's n_in entries.

    Examples
    --------
    >>> from minigrad import LayerNorm
    >>> LayerNorm(3)(np.zeros((5, 2)))
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: LayerNorm(3) expects 3 inputs in the last axis, got X of shape (5, 2).
    """
    if require_array(layer, X)[-1:] != (layer.n_in,):
        raise ShapeError(f"{layer} expects {layer.n_in} inputs in the last axis, got X of shape {X.shape}.")


def require_labels(name, T):
    """Return the shape of an array of integer labels; raise TypeError for anything else.

    Examples
    --------
    >>> require_labels("accuracy", np.array([0.0, 1.0]))
    Traceback (most recent call last):
        ...
    TypeError: accuracy: labels must be integers, got float64: convert them with T.astype(int).
    """
    shape = require_array(name, T)
    if T.dtype.kind not in "iu":
        raise TypeError(f"{name}: labels must be integers, got {T.dtype}: convert them with T.astype(int).")
    return shape


def fits(gradient, shape):
    """Report whether a gradient has the given shape; None (no gradient) fits every shape.

    Examples
    --------
    >>> fits((np.zeros(2), None), ((2,), (5, 3)))
    True
    """
    if getattr(gradient, "shape", None) == shape:
        return True
    if isinstance(gradient, tuple) and isinstance(shape, tuple):
        return len(gradient) == len(shape) and all(map(fits, gradient, shape))
    return isinstance(shape, tuple) and (gradient is None or shape_of(gradient) == shape)


def require_same_shape(name, Y, T):
    """Return prediction and target as floats of one type; raise ShapeError if NumPy would broadcast them.

    Parameters
    ----------
    name : str
        The caller's name, for the message.
    Y, T : array
        Prediction and target.

    Raises
    ------
    ShapeError
        If the shapes differ, or there is no example.

    Examples
    --------
    >>> require_same_shape("mse", np.zeros((50, 1)), np.zeros(50))
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: mse compares Y of shape (50, 1) with T of shape (50,). NumPy would pair \
every prediction with every target; write T[:, None].
    """
    Y_shape, T_shape = require_array(name, Y), require_array(name, T)
    if Y_shape != T_shape:
        advice = "They must be equal."
        if len(T_shape) == 1 and Y_shape == (*T_shape, 1):
            advice = "NumPy would pair every prediction with every target; write T[:, None]."
        elif len(Y_shape) == 1 and T_shape == (*Y_shape, 1):
            advice = "NumPy would pair every prediction with every target; write T[:, 0]."
        raise ShapeError(f"{name} compares Y of shape {Y_shape} with T of shape {T_shape}. {advice}")
    require_rows(name, Y_shape)
    Y = as_floats(name, Y)
    return Y, T.astype(Y.dtype, copy=False)


def require_rows(name, shape):
    """Raise ShapeError for an empty batch, which has no mean.

    Examples
    --------
    >>> require_rows("accuracy", (0, 3))
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: accuracy is a mean, and Y of shape (0, 3) is empty: give at least one example.
    """
    if 0 in shape:
        raise ShapeError(f"{name} is a mean, and Y of shape {shape} is empty: give at least one example.")


def count_examples(X, T):
    """Count the examples; raise ShapeError if X (or an entry of a tuple X) and T have different numbers.

    Examples
    --------
    >>> count_examples(np.zeros((5, 3)), np.zeros(4))
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: X holds 5 examples and T holds 4; every example needs one target.
    """
    examples = _length("T", T)
    for length in [_length("X", array) for array in arrays_of(X)]:
        if length != examples:
            got = f"X holds {length} examples and T holds {examples}"
            raise ShapeError(f"{got}; every example needs one target.")
    return examples


def _length(name, array):
    """Count the examples in one array, of numbers or of strings."""
    if shape_of(array) == ():
        raise ShapeError(f"{name} has no batch axis: for one example, write {name}[None].")
    return len(array)


def arrays_of(X):
    """Return the arrays of a tuple, or a single array, as a tuple.

    Examples
    --------
    >>> arrays_of(np.array([1, 2]))
    (array([1, 2]),)
    """
    return X if isinstance(X, tuple) else (X,)


def take(X, rows):
    """Select some examples of an array, or of every array in a tuple.

    Examples
    --------
    >>> take((np.array([1, 2, 3]), np.array([4, 5, 6])), slice(2))
    (array([1, 2]), array([4, 5]))
    """
    return tuple(entry[rows] for entry in X) if isinstance(X, tuple) else X[rows]


def join(parts):
    """Concatenate batches, of arrays or of tuples of arrays: the opposite of `take`.

    Examples
    --------
    >>> join([np.array([1, 2]), np.array([3])])
    array([1, 2, 3])
    """
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(map(join, zip(*parts, strict=True)))
    return np.concatenate(parts)


def require_batch(name, X):
    """Count the examples of a batch; raise an error unless it is an array of finite numbers.

    Called once per fit, evaluate, predict and gradcheck, never per layer.

    Parameters
    ----------
    name : str
        The array's name, for the message.
    X : array (batch, ...) or tuple of such arrays

    Returns
    -------
    int
        The number of examples.

    Raises
    ------
    TypeError
        If X is not an array of numbers.
    ShapeError
        If X has no batch axis, is empty, or the entries of a tuple differ in their number of examples.
    ValueError
        If an entry is nan or infinite.

    Examples
    --------
    >>> require_batch("X", np.ones((5, 3)))
    5
    >>> require_batch("X", np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
        ...
    ValueError: X is not finite in 1 of its 2 entries, the first at [0, 1]: nan. Remove or replace it first.
    """
    if isinstance(X, tuple):
        sizes = [require_batch(f"{name}[{i}]", entry) for i, entry in enumerate(X)]
        if len(set(sizes)) != 1:
            raise ShapeError(f"the entries of {name} hold {sizes} examples; all must hold the same number.")
        return sizes[0]
    _length(name, X)
    if hasattr(X, "mask"):
        raise TypeError(f"{name} is a masked array: write {name}.filled(0), or leave those examples out.")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {X.dtype}, not numbers: convert it with {name}.astype(float).")
    if X.dtype.kind == "f":
        require_float_type(X.dtype)
    shape = shape_of(X)
    if 0 in shape:
        raise ShapeError(f"{name} of shape {shape} is empty: give at least one example.")
    wrong = ~np.isfinite(X)
    if wrong.any():
        first = [int(i) for i in np.argwhere(wrong)[0]]
        got = f"{int(wrong.sum())} of its {X.size} entries, the first at {first}: {X[tuple(first)]}"
        raise ValueError(f"{name} is not finite in {got}. Remove or replace it first.")
    return shape[0]


def with_lengths(name, X):
    """Split a tuple (X, lengths) of padded sequences; raise ShapeError for lengths that do not fit.

    Parameters
    ----------
    name : str
        The caller's name, for the message.
    X : array (batch, steps, ...) or tuple of such an array and integers (batch,), as `pad` returns them

    Returns
    -------
    X : array (batch, steps, ...)
        Zero after the end of each sequence.
    lengths : array of integers (batch,), or None if all sequences have full length

    Examples
    --------
    >>> with_lengths("RNN(1, 1)", (np.zeros((2, 3, 1)), np.array([3, 4])))
    Traceback (most recent call last):
        ...
    minigrad.shapes.ShapeError: RNN(1, 1) expects lengths as pad returns them, 2 integers from 1 to 3, got \
int64 of shape (2,): [3 4].
    """
    if not isinstance(X, tuple):
        return X, None
    if len(X) != 2 or not all(hasattr(part, "dtype") for part in X):
        got = ", ".join(type(part).__name__ for part in X)
        wanted = "a tuple of two arrays (X, lengths), as pad returns it"
        raise TypeError(f"{name} expects {wanted}; got ({got}).")
    X, lengths = X
    batch, steps, *_ = (*shape_of(X), 0, 0)
    integers = lengths.dtype.kind in "iu" and shape_of(lengths) == (batch,)
    if not (integers and 1 <= lengths.min() and lengths.max() <= steps):
        wanted = f"lengths as pad returns them, {batch} integers from 1 to {steps}"
        got = f"{lengths.dtype} of shape {shape_of(lengths)}: {lengths}"
        raise ShapeError(f"{name} expects {wanted}, got {got}.")
    X = X.copy()
    X[array_module(X).arange(steps) >= lengths[:, None]] = 0  # a nan would pass through any later mask
    return X, lengths
