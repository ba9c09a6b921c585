"""Layers that change the shape: by hand, and with an X that they cannot take."""

import re

import numpy as np
import pytest

from minigrad import Flatten, Max, Mean, ReLU, Reshape, ShapeError, Sum, chain

X = np.arange(66.0).reshape(2, 11, 3)


def test_the_worked_example_of_the_concept_page():
    X = np.random.default_rng(0).normal(size=(2, 10, 6))
    Z, backward = chain(Sum(), ReLU())(X)
    dX = backward(np.ones((2, 6)))
    assert Z.shape == (2, 6)
    assert dX.shape == X.shape
    positive = X.sum(axis=1, keepdims=True) > 0
    np.testing.assert_array_equal(dX, np.broadcast_to(positive, X.shape))


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_reductions_agree_with_numpy(axis):
    np.testing.assert_array_equal(Sum(axis).predict(X), X.sum(axis))
    np.testing.assert_array_equal(Mean(axis).predict(X), X.mean(axis))
    np.testing.assert_array_equal(Max(axis).predict(X), X.max(axis))


def test_mean_divides_by_the_length_of_the_axis():
    _, backward = Mean()(X)
    np.testing.assert_array_equal(backward(np.full((2, 3), 11.0)), np.ones_like(X))


def test_equal_largest_entries_share_the_gradient():
    Y, backward = Max()(np.array([[7.0, 1.0, 7.0], [3.0, 3.0, 3.0]]))
    np.testing.assert_array_equal(Y, [7.0, 3.0])
    np.testing.assert_array_equal(backward(np.array([6.0, 9.0])), [[3.0, 0.0, 3.0], [3.0, 3.0, 3.0]])


@pytest.mark.parametrize("cls", [Sum, Mean, Max])
@pytest.mark.parametrize("axis", [0, 3, -3, -4])
def test_an_axis_that_x_does_not_have_and_the_batch_are_refused(cls, axis):
    with pytest.raises(ShapeError) as caught:
        cls(axis)(X)
    assert str(caught.value) == (
        f"{cls.__name__}(axis={axis}) needs an axis {axis} that is not the batch axis 0, "
        "got X of shape (2, 11, 3)."
    )


def test_a_number_has_no_axis_to_reduce():
    with pytest.raises(ShapeError, match=re.escape("got X of shape ()")):
        Sum()(np.array(3.0))


def test_what_was_reduced_can_be_written_to():
    _, backward = Sum()(X)
    dX = backward(np.ones((2, 3)))
    dX[0, 0, 0] = 5.0
    assert dX.sum() == 66 + 4.0  # one entry changed, and no other


@pytest.mark.parametrize("shape", [(4, 4), (7, -1)])
def test_reshape_refuses_an_example_of_another_size(shape):
    with pytest.raises(ValueError, match="cannot reshape array of size 66"):
        Reshape(*shape)(X)


def test_flatten_keeps_the_order():
    np.testing.assert_array_equal(Flatten().predict(X)[1], np.arange(33.0, 66.0))
    assert repr(Flatten()) == "Flatten()"
