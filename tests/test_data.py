"""Data: what the shipped and made sets hold, and that no example is lost or seen twice."""

import re

import numpy as np
import pytest

from minigrad import ShapeError, batches, digits, moons, one_hot, pad, spirals, split

X = np.arange(14.0).reshape(7, 2)
T = np.arange(7)


@pytest.mark.parametrize("batch_size, lengths", [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (11, [7])])
@pytest.mark.parametrize("rng", [None, 0])
def test_batches_lose_no_example_and_repeat_none(batch_size, lengths, rng):
    found = list(batches(X, T, batch_size, rng))
    assert [len(T_batch) for _, T_batch in found] == lengths
    assert sorted(np.concatenate([T_batch for _, T_batch in found])) == list(T)
    for X_batch, T_batch in found:
        np.testing.assert_array_equal(X_batch, X[T_batch])  # each with its own target


def test_batches_keep_the_order_unless_there_is_an_rng():
    in_order = np.concatenate([T_batch for _, T_batch in batches(X, T, 3)])
    shuffled = np.concatenate([T_batch for _, T_batch in batches(X, T, 3, rng=0)])
    again = np.concatenate([T_batch for _, T_batch in batches(X, T, 3, rng=0)])
    assert list(in_order) == list(T)
    assert list(shuffled) == list(again) != list(T)


def test_a_generator_shuffles_anew_each_time():
    rng = np.random.default_rng(0)
    first, second = (next(batches(X, T, 7, rng))[1] for _ in range(2))
    assert list(first) != list(second)


def test_a_batch_of_a_tuple_is_a_tuple():
    for (left, right), T_batch in batches((X, -X), T, 3, rng=0):
        np.testing.assert_array_equal(left, X[T_batch])
        np.testing.assert_array_equal(right, -X[T_batch])


def test_batches_and_split_refuse_data_that_disagree():
    for call in (lambda X: list(batches(X, T)), lambda X: split(X, T)):
        for wrong in (X[:5], (X, X[:5])):
            with pytest.raises(ShapeError, match="X holds 5 examples and T holds 7"):
                call(wrong)


@pytest.mark.parametrize("shares", [(0.7, 0.15, 0.15), (0.5, 0.5), (1.0,)])
def test_split_deals_each_example_once(shares):
    parts = split(np.arange(101.0)[:, None], np.arange(101), shares)
    assert sorted(np.concatenate([T_part for _, T_part in parts])) == list(range(101))
    for (X_part, T_part), share in zip(parts, shares, strict=True):
        assert abs(len(T_part) - 101 * share) < 1
        np.testing.assert_array_equal(X_part[:, 0], T_part)


def test_split_is_decided_by_its_seed():
    first, again, other = (split(X, T, (0.5, 0.5), rng=seed)[0][1].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_split_deals_tuples_and_text():
    words = np.array(list("abcdefg"))
    for (left, right), T_part in split((X, words), words, (0.5, 0.5)):
        np.testing.assert_array_equal(right, T_part)
        np.testing.assert_array_equal(left[:, 0] / 2, [ord(word) - ord("a") for word in T_part])


def test_split_refuses_shares_that_are_no_shares():
    with pytest.raises(ValueError, match=re.escape("shares must be above 0 and sum to 1, got (0.5, 0.4)")):
        split(X, T, (0.5, 0.4))
    with pytest.raises(
        ValueError, match=re.escape("7 examples in shares of (0.99, 0.01) leave a part empty")
    ):
        split(X, T, (0.99, 0.01))


def test_one_hot_rows_hold_a_single_1():
    np.testing.assert_array_equal(one_hot(np.array([[2, 0]]), 3), [[[0, 0, 1], [1, 0, 0]]])


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0]])
def test_one_hot_refuses_what_is_no_class(labels):
    sentence = f"labels run from {min(labels)} to {max(labels)}; they must be 0 to 2."
    with pytest.raises(ValueError, match=re.escape(sentence)):
        one_hot(np.array(labels), 3)


@pytest.mark.parametrize("dtype", [bool, float])
def test_one_hot_refuses_what_is_no_label(dtype):
    with pytest.raises(TypeError, match=f"labels must be integers, got {np.dtype(dtype)}"):
        one_hot(np.array([0, 1], dtype=dtype), 2)


def test_pad_puts_zeros_at_the_end():
    X, lengths = pad([np.ones((2, 3)), np.ones((5, 3)), np.ones((0, 3))])
    assert X.shape == (3, 5, 3)
    assert lengths.tolist() == [2, 5, 0]
    assert X.sum(axis=(1, 2)).tolist() == [6, 15, 0]
    assert not X[0, 2:].any()


def test_pad_takes_the_wider_type():
    X, _ = pad([np.array([1, 2]), np.array([0.5])])
    np.testing.assert_array_equal(X, [[1, 2], [0.5, 0]])


def test_pad_wants_arrays_that_differ_in_their_steps_alone():
    for wrong in ([np.ones((2, 3)), np.ones((2, 5))], [np.ones(2), np.ones((2, 1))], [np.array(1.0)]):
        with pytest.raises(ShapeError, match="differ only in their steps, got shapes"):
            pad(wrong)


@pytest.mark.parametrize("make", [moons, spirals])
def test_made_data_is_decided_by_its_seed(make):
    for (a, b), (a_too, b_too) in [(make(101, rng=1), make(101, rng=1))]:
        np.testing.assert_array_equal(a, a_too)
        np.testing.assert_array_equal(b, b_too)
    assert (make(101, rng=1)[0] != make(101, rng=2)[0]).all()


def test_moons_lie_on_two_half_circles():
    X, T = moons(101, noise=0.0)
    assert np.bincount(T).tolist() == [50, 51]
    middles = np.array([[0.0, 0.0], [1.0, 0.5]])[T]
    np.testing.assert_allclose(np.linalg.norm(X - middles, axis=1), 1.0, rtol=1e-12)  # rounding
    assert (X[T == 0, 1] >= 0).all() and (X[T == 1, 1] <= 0.5).all()


def test_spirals_have_an_arm_for_each_class():
    X, T = spirals(105, n_classes=7, noise=0.0)
    assert np.bincount(T).tolist() == [15] * 7
    radius, angle = np.linalg.norm(X, axis=1), np.arctan2(X[:, 1], X[:, 0])
    assert radius.max() <= 1
    turns = (angle - 4 * radius - 2 * np.pi * T / 7) / (2 * np.pi)
    np.testing.assert_allclose(turns, turns.round(), atol=1e-12)  # rounding: whole turns


def test_the_digits_are_those_of_the_source():
    X, T = digits()
    assert X.shape == (1797, 64) and X.dtype == np.float64
    assert np.bincount(T).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (X.min(), X.max()) == (0.0, 1.0)
    ink = X * 16
    np.testing.assert_array_equal(ink, ink.round())
    assert ink.sum() == 561718
    assert T[0] == 0 and ink[0, :8].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_the_digits_are_given_anew_each_time():
    X, T = digits()
    X[:], T[:] = 0, 0
    assert digits()[0].any() and digits()[1].any()
