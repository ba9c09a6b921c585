"""Cosine similarity of two arrays, row by row.

Holds CosineSimilarity. The loss for a fixed target is minigrad.cosine_distance. Built in chapter 13,
as an exercise.
"""

import numpy as np

from minigrad.layer import Layer
from minigrad.shapes import ShapeError, require_array, require_two


class CosineSimilarity(Layer):
    """The cosine of the angle between each row of A and the same row of B, for X = (A, B).

    Raises
    ------
    ShapeError
        If A and B differ in shape.
    ValueError
        If a row is all zeros, and so has no direction.

    Notes
    -----
    Y = u·v for the rows u = a/|a| and v = b/|b|, from -1 to 1; A and B are (batch, …, width), Y (batch, …).
    dA = dY (v - Y u) / |a| and dB = dY (u - Y v) / |b|: a change of a row along itself has no effect.

    References
    ----------
    PaddlePaddle, API design ("semantic projection"). Chapter 13.

    Examples
    --------
    >>> Y, backward = CosineSimilarity()((np.array([[2.0, 0.0]]), np.array([[0.0, 4.0]])))
    >>> Y, backward(np.array([1.0]))
    (array([0.]), (array([[0. , 0.5]]), array([[0.25, 0.  ]])))
    """

    def forward(self, X):
        """Return the cosines, and a backward function that returns (dA, dB)."""
        lengths_A, lengths_B = (np.sqrt((rows * rows).sum(axis=-1, keepdims=True)) for rows in X)
        if not (lengths_A.all() and lengths_B.all()):
            raise ValueError(f"{self}: a row of zeros has no direction; leave such rows out.")
        U, V = X[0] / lengths_A, X[1] / lengths_B
        cosines = (U * V).sum(axis=-1, keepdims=True)

        def backward(dY):
            dY = dY[..., None]  # a column, to be broadcast over the rows
            return dY * (V - cosines * U) / lengths_A, dY * (U - cosines * V) / lengths_B

        return cosines[..., 0], backward

    def check_input(self, X):
        """Raise an error unless X is a pair of arrays of the same shape, with rows."""
        require_two(self, X)
        A, B = (require_array(self, part) for part in X)  # their shapes
        if A != B:
            raise ShapeError(f"{self} compares A of shape {A} with B of shape {B}: make them equal.")
        if A == ():
            raise ShapeError(f"{self} compares rows, got shape (): one row is a batch of one, A[None].")
