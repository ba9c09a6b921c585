"""Shapes, and the sentences about them."""

import re

import numpy as np
import pytest

from minigrad import ShapeError
from minigrad.shapes import count_examples, fits, require_batch, require_same_shape, shape_of


class Table:
    """Something with rows and columns that is no array, as data frames are."""

    shape = (5, 3)


def test_a_shape_error_is_a_value_error():
    assert issubclass(ShapeError, ValueError)


def test_a_tuple_of_arrays_has_a_tuple_of_shapes():
    assert shape_of((np.zeros((5, 3)), (np.zeros(5), 2.0))) == ((5, 3), ((5,), ()))


@pytest.mark.parametrize("thing", [[1.0, 2.0], "text", None, Table()])
def test_what_is_no_array_is_refused_with_the_way_out(thing):
    with pytest.raises(TypeError, match=rf"got {type(thing).__name__}: write np.array\(...\) around it"):
        shape_of(thing)


@pytest.mark.parametrize(
    "gradient, shape, fit",
    [
        (np.zeros((5, 3)), (5, 3), True),
        (np.zeros((3, 5)), (5, 3), False),
        (2.0, (), True),
        (None, (5, 3), True),
        ((np.zeros(5), None), ((5,), (5, 3)), True),
        ((np.zeros(5), np.zeros(3)), ((5,), (5, 3)), False),
        ((np.zeros(5),), ((5,), (5, 3)), False),
        (np.zeros((5, 3)), ((5,), (3,)), False),
        ((np.zeros(5), np.zeros(3)), (5, 3), False),
        ((None, None), (5, 3), False),
    ],
)
def test_a_gradient_fits_the_shape_of_what_it_belongs_to(gradient, shape, fit):
    assert fits(gradient, shape) is fit


@pytest.mark.parametrize(
    "Y_shape, T_shape, sentence",
    [
        (
            (50, 1),
            (50,),
            "mse compares Y of shape (50, 1) with T of shape (50,). "
            "NumPy would pair every prediction with every target; write T[:, None].",
        ),
        (
            (50,),
            (50, 1),
            "mse compares Y of shape (50,) with T of shape (50, 1). "
            "NumPy would pair every prediction with every target; write T[:, 0].",
        ),
        ((5, 3), (5, 7), "mse compares Y of shape (5, 3) with T of shape (5, 7). They must be equal."),
        ((5, 3, 1), (5, 3), "mse compares Y of shape (5, 3, 1) with T of shape (5, 3). They must be equal."),
        ((5, 3), (5, 3, 1), "mse compares Y of shape (5, 3) with T of shape (5, 3, 1). They must be equal."),
        ((5,), (7,), "mse compares Y of shape (5,) with T of shape (7,). They must be equal."),
        ((5, 1), (7,), "mse compares Y of shape (5, 1) with T of shape (7,). They must be equal."),
        ((0, 3), (0, 3), "mse is a mean, and Y of shape (0, 3) is empty: give at least one example."),
    ],
)
def test_unequal_or_empty_shapes_are_refused(Y_shape, T_shape, sentence):
    with pytest.raises(ShapeError) as caught:
        require_same_shape("mse", np.zeros(Y_shape), np.zeros(T_shape))
    assert str(caught.value) == sentence


def test_equal_shapes_pass():
    require_same_shape("mse", np.zeros((5, 3)), np.zeros((5, 3)))


@pytest.mark.parametrize(
    "X, error, sentence",
    [
        ([[1.0]], TypeError, "expected an array, got list: write np.array(...) around it."),
        (np.array([["a"]]), TypeError, "X holds <U1, not numbers: convert it with X.astype(float)."),
        (np.array([[None]]), TypeError, "X holds object, not numbers: convert it with X.astype(float)."),
        (np.array([[1j]]), TypeError, "X holds complex128, not numbers: convert it with X.astype(float)."),
        (np.array(1.0), ShapeError, "X has no batch axis: for one example, write X[None]."),
        (2.0, ShapeError, "X has no batch axis: for one example, write X[None]."),
        (np.zeros((0, 3)), ShapeError, "X of shape (0, 3) is empty: give at least one example."),
        (np.zeros((5, 0)), ShapeError, "X of shape (5, 0) is empty: give at least one example."),
        (
            np.array([[1.0, 2.0], [-np.inf, np.nan]]),
            ValueError,
            "X is not finite in 2 of its 4 entries, the first at [1, 0]: -inf. Remove or replace it first.",
        ),
        (
            (np.ones(5), np.ones(3)),
            ShapeError,
            "the entries of X hold [5, 3] examples; all must hold the same number.",
        ),
        (
            (np.ones(1), np.array([np.nan])),
            ValueError,
            "X[1] is not finite in 1 of its 1 entries, the first at [0]: nan. Remove or replace it first.",
        ),
    ],
)
def test_what_cannot_be_a_batch_is_refused(X, error, sentence):
    with pytest.raises(error) as caught:
        require_batch("X", X)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool])
def test_a_batch_of_numbers_passes(dtype):
    assert require_batch("X", np.ones((5, 3), dtype=dtype)) == 5


def test_a_tuple_of_batches_passes():
    assert require_batch("X", (np.ones((5, 3)), np.ones(5, dtype=int))) == 5


def test_every_example_needs_one_target():
    assert count_examples((np.zeros((5, 3)), np.zeros(5)), np.zeros(5)) == 5
    for X in (np.zeros((5, 3)), (np.zeros(3), np.zeros(5))):
        with pytest.raises(ShapeError, match=re.escape("X holds 5 examples and T holds 3; every example")):
            count_examples(X, np.zeros(3))
