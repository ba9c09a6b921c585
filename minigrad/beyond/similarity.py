"""How alike two arrays are, row by row, with a way back to both.

Holds CosineSimilarity. Leaves out the loss for a target that stands still (minigrad.cosine_distance). Built
in chapter 13, as an exercise.
"""

import numpy as np  # noqa: F401  for the examples

from minigrad.layer import Layer
from minigrad.losses import directions
from minigrad.shapes import ShapeError, require_array, require_two


class CosineSimilarity(Layer):
    """The cosine of the angle between each row of A and the same row of B, for X = (A, B).

    Raises
    ------
    ShapeError
        If A and B are not rows of one shape.
    ValueError
        If a row is all zeros: it has no direction.

    Notes
    -----
    Y = u·v for the rows u = a/|a| and v = b/|b|, from -1 to 1; A and B are (batch, …, width), Y (batch, …).
    dA = dY (v - Y u) / |a| and dB = dY (u - Y v) / |b|: along itself a row may grow without turning.

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
        """Return the cosines and the backward function to both inputs."""
        (U, back_to_A), (V, back_to_B) = map(directions, X)

        def backward(dY):
            dY = dY[..., None]  # a column, so that it meets the rows
            return back_to_A(dY * V), back_to_B(dY * U)

        return (U * V).sum(axis=-1), backward

    def check_input(self, X):
        """Refuse what is not a pair of rows of one shape."""
        require_two(self, X)
        A, B = (require_array(self, part) for part in X)  # their shapes
        if A != B:
            raise ShapeError(f"{self} compares A of shape {A} with B of shape {B}: make them equal.")
