"""gradcheck, which checks whether a gradient is right.

Holds gradcheck, which checks nine rules of a layer, compares each of its gradients with nudging, and then
repeats the comparison under other conditions. The messages are in diagnosis.py, and the picture of a report
is in course.figures. Built in chapter 03.
"""

import numpy as np

from minigrad.check.circumstances import check_again
from minigrad.check.harness import Trial
from minigrad.check.report import Report
from minigrad.check.rules import examine
from minigrad.layer import as_layer
from minigrad.settings import require_integer, require_number
from minigrad.shapes import require_batch, shape_of


def gradcheck(layer, X, *, training=False, tol=1e-6, max_entries=300, rng=0):  # noqa: PLR0913  settings
    """Check a layer: first nine rules of behaviour, then each gradient against nudging.

    If all is right, the checks are repeated under other conditions: with the opposite value of training
    (if a layer declares it), for a batch of one, in float32, after another X, after an optimizer's step, for
    a transposed X and dY, without dX. The report lists only the repeated checks that fail.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
        A Layer, a plain function, or a loss with its target fixed: `lambda Y: mse(Y, T)`. Its state is
        restored bit for bit. Y may be a tuple of arrays.
    X : array (batch, ...) or tuple of arrays
        Floats are nudged; integers and booleans have no gradient, and backward returns None for them.
    training : bool
        Passed to a layer that declares it.
    tol : float
        The largest relative error that passes, above 0 and below 1.
    max_entries : int
        The number of entries nudged in a larger array; they are chosen at random, and then all entries are
        nudged at once, in four directions. Jacobians are computed only for at most this many outputs.
    rng : int or numpy.random.Generator
        Used to draw dY and to choose the entries.

    Returns
    -------
    Report

    Raises
    ------
    TypeError
        If layer cannot be called with X alone, or X is not numeric, or the layer returns a gradient for
        integers.
    ShapeError
        If X is empty or has no batch axis.
    ValueError
        If X or Y holds nan or infinity, or tol is not between 0 and 1.

    Notes
    -----
    error = |yours - nudged| / max(|yours|, |nudged|, 1 % of the largest entry, uncertainty / tol).
    The uncertainty is ten times the change from step h to h/2, plus rounding: 8 eps |dY| (|Y| + noise) / h,
    where the noise of Y is measured; if the change is large, a shorter step is taken. Computed in
    float64, with a random dY. At a kink any value between the one-sided slopes passes; if several kinks
    affect one Y, any combination of their sides. If several entries are at kinks, as in a tie, they are
    also nudged together; if all entries are, the comparison is made at values near X.

    References
    ----------
    Chapter 03.

    Examples
    --------
    >>> def square(X):
    ...     return X * X, lambda dY: X * dY
    >>> gradcheck(square, np.array([[1.0, -2.0, 3.0]])).problems
    ['input X: 2 times too small']
    """
    require_number("tol", tol, above=0, below=1)
    require_integer("max_entries", max_entries, least=0)
    name = getattr(layer, "__name__", type(layer).__name__)
    given = as_layer(layer)
    require_batch("X", X)
    report = Report(f"gradcheck {name}  X {shape_of(X)}")
    trial = Trial(given, X, training, tol, max_entries, np.random.default_rng(rng))
    try:
        examine(trial, report)
        if report.ok:
            check_again(trial, report)
    finally:
        trial.forget()
    return report
