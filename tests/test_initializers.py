"""Where weights start: the right size, from the right numbers."""

import numpy as np
import pytest

from minigrad import glorot, he, lecun, orthogonal, zeros

ALL = [glorot, he, lecun, orthogonal, zeros]


@pytest.mark.parametrize("initializer", ALL)
@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (2, 3, 5), (7,)])
def test_the_shape_is_as_asked_and_the_numbers_are_float64(initializer, shape):
    found = initializer(shape, np.random.default_rng(0))
    assert found.shape == shape
    assert found.dtype == np.float64


@pytest.mark.parametrize("initializer", [glorot, he, lecun, orthogonal])
def test_numbers_come_from_the_generator_alone(initializer):
    first, again, other = (initializer((3, 7), np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize(
    "initializer, variance",
    [(lecun, 1 / 300), (he, 2 / 300), (glorot, 2 / (300 + 101)), (orthogonal, 1 / 300)],
)
@pytest.mark.parametrize("shape", [(300, 101), (3, 100, 101)])
def test_the_variance_is_as_documented(initializer, variance, shape):
    W = initializer(shape, np.random.default_rng(0))
    assert abs(W.mean()) < 4 * np.sqrt(variance / W.size)  # four standard errors
    assert abs(W.var() / variance - 1) < 4 * np.sqrt(2 / W.size)


def test_glorot_is_uniform_and_keeps_within_its_limit():
    W = glorot((101, 53), np.random.default_rng(0))
    limit = np.sqrt(6 / (101 + 53))
    assert 0.99 * limit < np.abs(W).max() <= limit
    assert abs((np.abs(W) < limit / 2).mean() - 0.5) < 0.03  # four standard errors of 5,353 draws


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (2, 3, 5)])
def test_orthogonal_has_an_orthonormal_shorter_side(shape):
    W = orthogonal(shape, np.random.default_rng(0)).reshape(-1, shape[-1])
    product = W.T @ W if len(W) >= W.shape[1] else W @ W.T
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-12)  # rounding


def test_orthogonal_draws_mirrors_and_rotations_alike():
    rng = np.random.default_rng(0)
    signs = [np.sign(np.linalg.det(orthogonal((3, 3), rng))) for _ in range(101)]
    assert 30 < signs.count(1.0) < 71  # four standard errors around half of 101


def test_zeros_are_zeros():
    assert not zeros((3, 7)).any()
