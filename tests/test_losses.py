"""Losses: by hand, at the edges, and with targets that do not belong to the predictions."""

import math
import re

import numpy as np
import pytest

from minigrad import ShapeError, bce_with_logits, cosine_distance, cross_entropy, mse

RNG = np.random.default_rng(0)
Y, T = RNG.normal(size=(5, 3)), RNG.random((5, 3))
LABELS = np.array([0, 2, 1, 1, 0])


def test_mse_on_paper():
    L, backward = mse(np.array([[1.0, 4.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [0.0, 2.0]]))
    assert L == (0 + 4 + 0 + 4) / 4
    np.testing.assert_array_equal(backward(), [[0.0, 1.0], [0.0, -1.0]])  # 2 · 2 / 4


@pytest.mark.parametrize(
    "loss, T",
    [(mse, T), (bce_with_logits, T), (cross_entropy, LABELS), (cosine_distance, T)],
    ids=lambda thing: getattr(thing, "__name__", ""),
)
class TestEveryLoss:
    def test_the_gradient_is_that_of_the_mean_and_not_of_the_sum(self, loss, T):
        # Twice the batch, every example twice: the same mean, and half the gradient for each.
        L, backward = loss(Y, T)
        L_twice, backward_twice = loss(np.concatenate([Y, Y]), np.concatenate([T, T]))
        assert math.isclose(L, L_twice, rel_tol=1e-12)  # rounding
        np.testing.assert_allclose(backward_twice()[:5], backward() / 2, rtol=1e-12)

    def test_dL_scales_the_gradient(self, loss, T):
        _, backward = loss(Y, T)
        np.testing.assert_allclose(backward(3.0), 3 * backward(), rtol=1e-12)  # rounding

    def test_an_empty_batch_is_refused(self, loss, T):
        with pytest.raises(ShapeError, match=re.escape("is a mean, and Y of shape (0, 3) is empty")):
            loss(Y[:0], T[:0])

    def test_a_list_is_refused(self, loss, T):
        with pytest.raises(TypeError, match="got list"):
            loss(Y, T.tolist())
        with pytest.raises(TypeError, match="got list"):
            loss(Y.tolist(), T)

    def test_targets_of_another_batch_are_refused(self, loss, T):
        with pytest.raises(ShapeError, match=re.escape("compares Y of shape (5, 3) with T of shape (4")):
            loss(Y, T[:4])

    def test_predictions_of_integers_do_not_round_the_targets(self, loss, T):
        counts = np.array([[1, 2, 3]] * 5)
        assert loss(counts, T)[0] == loss(counts.astype(float), T)[0]


def test_a_column_is_not_compared_with_a_row():
    with pytest.raises(ShapeError) as caught:
        mse(np.zeros((50, 1)), np.zeros(50))
    assert str(caught.value) == (
        "mse compares Y of shape (50, 1) with T of shape (50,). "
        "NumPy would pair every prediction with every target; write T[:, None]."
    )


def test_bce_is_the_mean_of_minus_log_p():
    P = 1 / (1 + np.exp(-Y))
    expected = -(T * np.log(P) + (1 - T) * np.log(1 - P)).mean()
    assert math.isclose(bce_with_logits(Y, T)[0], expected, rel_tol=1e-12)  # rounding


def test_bce_never_overflows():
    L, backward = bce_with_logits(np.array([-1e4, 1e4, 1e4]), np.array([0.0, 1.0, 0.0]))
    assert L == 1e4 / 3
    np.testing.assert_array_equal(backward(), [0, 0, 1 / 3])


@pytest.mark.parametrize("T", [np.array([-1.0, 1.0]), np.array([0.0, 2.0])])
def test_bce_refuses_targets_outside_0_to_1(T):
    with pytest.raises(ValueError, match=rf"targets run from {T.min()} to {T.max()}; .* as 0 and 1"):
        bce_with_logits(np.zeros(2), T)


def test_cross_entropy_is_minus_log_of_the_right_probability():
    P = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
    expected = -np.log(P[np.arange(5), LABELS]).mean()
    assert math.isclose(cross_entropy(Y, LABELS)[0], expected, rel_tol=1e-12)  # rounding


def test_cross_entropy_of_ignorance_is_log_of_the_number_of_classes():
    assert math.isclose(cross_entropy(np.zeros((5, 7)), LABELS)[0], math.log(7), rel_tol=1e-12)


def test_labels_and_their_one_hot_rows_are_the_same_target():
    L, backward = cross_entropy(Y, LABELS)
    L_rows, backward_rows = cross_entropy(Y, np.eye(3)[LABELS])
    assert L == L_rows
    np.testing.assert_array_equal(backward(), backward_rows())


def test_cross_entropy_never_overflows():
    L, backward = cross_entropy(np.array([[1e4, 0.0], [0.0, -1e4]]), np.array([0, 1]))
    assert L == 5e3
    np.testing.assert_array_equal(backward(), [[0, 0], [0.5, -0.5]])


@pytest.mark.parametrize(
    "T, where", [([0, 3, 1, 1, 0], "label 3 at [1]"), ([0, 2, 1, 1, -1], "label -1 at [4]")]
)
def test_a_wrong_label_is_named(T, where):
    with pytest.raises(ValueError) as caught:
        cross_entropy(Y, np.array(T))
    assert str(caught.value) == (
        f"cross_entropy: T holds the {where}; Y has 3 classes, so labels must be 0 to 2."
    )


def test_a_wrong_label_of_a_step_is_named():
    T = np.zeros((5, 11), dtype=int)
    T[3, 2] = 7
    with pytest.raises(ValueError, match=re.escape("label 7 at [3, 2]; Y has 7 classes")):
        cross_entropy(np.zeros((5, 11, 7)), T)


@pytest.mark.parametrize("T", [np.zeros(5), np.zeros((5, 1), dtype=int), np.zeros((5, 3), dtype=int)])
def test_labels_are_integers_of_one_axis_less(T):
    with pytest.raises(ShapeError) as caught:
        cross_entropy(Y, T)
    assert str(caught.value) == (
        f"cross_entropy compares Y of shape (5, 3) with T of shape {T.shape}, type {T.dtype}: "
        "give integer labels of shape (5,), or probabilities (floats) of Y's shape."
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_labels_of_any_integer_type_are_right(dtype):
    assert cross_entropy(Y, LABELS.astype(dtype))[0] == cross_entropy(Y, LABELS)[0]


def test_a_class_that_is_impossible_costs_nothing_unless_it_is_the_right_one():
    masked = np.array([[0.0, -np.inf], [2.0, 2.0]])
    L, backward = cross_entropy(masked, np.array([0, 1]))
    assert L == math.log(2) / 2
    np.testing.assert_array_equal(backward(), [[0.0, 0.0], [0.25, -0.25]])
    assert cross_entropy(masked, np.array([[1.0, 0.0], [0.5, 0.5]]))[0] == math.log(2) / 2
    assert cross_entropy(masked, np.array([1, 1]))[0] == math.inf


@pytest.mark.parametrize(
    "rows", [[[-0.5, 1.5, 0.0]], [[0.5, 0.4, 0.0]], [[0.0, 0.0, 0.0]], [[np.nan, 0.5, 0.5]]]
)
def test_rows_that_are_no_probabilities_are_refused(rows):
    with pytest.raises(ValueError, match="rows of T must be probabilities, at least 0, with sum 1; got"):
        cross_entropy(np.zeros((1, 3)), np.array(rows))


def test_probabilities_may_sum_to_one_within_the_rounding_of_float32():
    rows = np.random.default_rng(0).dirichlet(np.ones(1000), size=50).astype(np.float32)
    assert (rows.sum(axis=1) != 1.0).any()
    cross_entropy(np.zeros((50, 1000), dtype=np.float32), rows)


@pytest.mark.parametrize("loss", [mse, bce_with_logits, cosine_distance])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, int, bool])
def test_integers_are_computed_with_as_numbers(loss, dtype):
    Y, T = np.array([[0, 1], [1, 1]], dtype=dtype), np.array([[1, 0], [1, 0]], dtype=dtype)
    L, backward = loss(Y, T)
    expected, backward_of_floats = loss(Y.astype(float), T.astype(float))
    assert L == expected
    np.testing.assert_array_equal(backward(), backward_of_floats())


def test_the_largest_bytes_do_not_overflow():
    assert mse(np.array([[0, 255]], dtype=np.uint8), np.array([[255, 0]], dtype=np.uint8))[0] == 255.0**2
    Y = np.array([[0, 200]], dtype=np.uint8)
    assert cross_entropy(Y, np.array([0]))[0] == cross_entropy(Y.astype(float), np.array([0]))[0]


def test_cosine_distance_runs_from_0_to_2():
    rows = np.array([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    directions = np.array([[6.0, 8.0], [-4.0, 3.0], [-3.0, -4.0]])
    found = [float(cosine_distance(rows[[i]], directions[[i]])[0]) for i in range(3)]
    np.testing.assert_allclose(found, [0.0, 1.0, 2.0], atol=1e-15)  # rounding


def test_cosine_distance_refuses_a_row_without_direction():
    zeros = Y.copy()
    zeros[2] = 0.0
    for pair in ((zeros, T), (T, zeros)):
        with pytest.raises(ValueError, match="a row of zeros, in Y or T, has no direction"):
            cosine_distance(*pair)
