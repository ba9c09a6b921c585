"""gradcheck, which checks whether a gradient is right.

Holds gradcheck, which checks nine rules of a layer, compares each of its gradients with nudging, and then
repeats the comparison under other conditions. Leaves out the words for what is wrong
(diagnosis.py) and the picture of a report (course.figures). Built in chapter 03.
"""

import numpy as np

from minigrad.check.circumstances import ask_again
from minigrad.check.harness import Trial
from minigrad.check.report import Report
from minigrad.check.rules import examine
from minigrad.layer import as_layer
from minigrad.settings import require_integer, require_number
from minigrad.shapes import require_batch, shape_of


def gradcheck(layer, X, *, training=False, tol=1e-6, max_entries=300, rng=0):  # noqa: PLR0913  settings
    """Check a layer: nine rules of behaviour first, then each gradient against nudging, then what is wrong.

    Where all is right, the same is asked again under other circumstances: with training the other way round
    (if a layer declares it), for a batch of one, in float32, after another X, after an optimizer's step, for
    a transposed X and dY, without dX. Only what is then wrong has a line in the report.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
        A Layer, a plain function, or a loss with its target fixed: `lambda Y: mse(Y, T)`. It is left bit for
        bit as it was. Y may be a tuple of arrays.
    X : array (batch, ...) or tuple of arrays
        Floats are nudged; integers and booleans have no gradient, and backward returns None for them.
    training : bool
        Passed to a layer that declares it.
    tol : float
        The largest relative error that passes, above 0 and below 1.
    max_entries : int
        Of a larger array only so many entries are nudged, drawn at random, and then all of them together, in
        four directions. Nor are Jacobians computed for more outputs.
    rng : int or numpy.random.Generator
        Draws dY and the sample.

    Returns
    -------
    Report

    Raises
    ------
    TypeError
        If layer cannot be called with X alone, X holds no numbers, or integers for which the layer has a
        gradient.
    ShapeError
        If X is empty or has no batch axis.
    ValueError
        If X or Y holds nan or infinity, or tol is not between 0 and 1.

    Notes
    -----
    error = |yours - nudged| / max(|yours|, |nudged|, 1 % of the largest entry, uncertainty / tol).
    The uncertainty is ten times the change from step h to h/2, plus rounding: 8 eps |dY| (|Y| + noise) / h,
    where the noise of Y is measured; where the change is large, a shorter step is taken. All in float64,
    with a random dY. At a kink any value between the one-sided slopes passes; where several kinks hide behind
    one Y, any value that their sides can make. Where several entries are at kinks, as in a tie, they are
    also nudged together; where every entry is, the comparison is made a little beside X.

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
            ask_again(trial, report)
    finally:
        trial.forget()
    return report
