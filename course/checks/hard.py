"""Arguments that hide few mistakes: one row, one column, zeros.

`expect_layer` and `expect_function` ask an answer again with these. An answer is asked only where its truth
is known: the right function must take the arguments, without a warning of NumPy's.
"""

import numpy as np

from minigrad.check.numerical import numerical_gradient

SHORT = {0: "with one row, ", -1: "with one column, "}
NEARBY = 1e-4  # steps to where a smooth function has nearly the same slopes


def hard_arguments(f, arrays, others=()):
    """Find variants of the arguments of a function that it takes.

    Parameters
    ----------
    f : function, (*arrays, *others) -> Y
    arrays : dict of str to array
    others : sequence of array
        Arguments that stay as they are.

    Returns
    -------
    list of (str, dict of str to array, Y)
        The beginning of a message, the arguments, and the function's result.

    Examples
    --------
    >>> for words, arrays, Y in hard_arguments(np.square, {"X": np.array([[1.0, 2.0, 3.0], [4, 5, 6]])}):
    ...     print(words, *Y.tolist())
    with one row,  [1.0, 4.0, 9.0]
    with one column,  [1.0] [16.0]
    with zeros in X,  [0.0, 4.0, 9.0] [0.0, 25.0, 36.0]
    """
    first, found, variants = next(iter(arrays.values())), [], {}
    is_free = not others and all(array.dtype.kind == "f" for array in arrays.values())
    # 0 for the rows, and from the end for the others, which weights and lengths must fit
    for axis in [0, *range(1 - first.ndim, 0)][: None if is_free else 1] if first.ndim else []:
        words = SHORT.get(axis, f"with axis {axis % first.ndim} of length 1, ")
        variants[words] = {name: _cut(array, axis, first.shape[axis]) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind == "f" and array.ndim:
            variants[f"with zeros in {name}, "] = arrays | {name: _with_zeros(array)}
    for words, changed in variants.items():
        try:
            with np.errstate(all="raise"):
                Y = np.asarray(f(*(array.copy() for array in changed.values()), *others))
        except (ArithmeticError, ValueError, IndexError, TypeError):
            continue  # the right function does not take this
        if Y.size and np.isfinite(Y).all():
            found.append((words, changed, Y))
    return found


def _cut(array, axis, size):
    """Return the first entry along an axis, if the axis has that size."""
    fits = array.ndim >= max(1, -axis) and array.shape[axis] == size
    return np.take(array, [0], axis) if fits else array


def _with_zeros(array):
    """Return a copy of an array in which every third number is 0."""
    changed = array.copy()
    changed.flat[::3] = 0.0
    return changed


def is_smooth(f, arrays, dY):
    """Report whether a function has nearly the same slopes at the arrays and beside them.

    Parameters
    ----------
    f : function, (*arrays) -> Y
    arrays : dict of str to array
    dY : array of Y's shape

    Examples
    --------
    >>> X, dY = np.array([0.0, 1.0]), np.ones(2)
    >>> is_smooth(np.sin, {"X": X}, dY), is_smooth(np.abs, {"X": X}, dY)
    (True, False)
    """
    for name, array in arrays.items():

        def along(X, name=name):
            return f(*(arrays | {name: X}).values())

        steps = NEARBY * np.cos(np.arange(array.size)).reshape(array.shape)
        here, there = (numerical_gradient(along, place, dY) for place in (array, array + steps))
        if not np.allclose(here, there, rtol=0.01, atol=0.01 * np.abs(here).max()):
            return False
    return True
