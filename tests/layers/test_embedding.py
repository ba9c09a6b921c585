"""Embedding and Positions: rows that are looked up."""

import numpy as np
import pytest

from minigrad import Adam, Embedding, Learner, Linear, Mean, Positions, ShapeError, cross_entropy, one_hot

RNG = np.random.default_rng(0)
X, dY = RNG.integers(13, size=(5, 11)), RNG.normal(size=(5, 11, 7))


def test_looking_up_is_a_product_with_one_hot_rows():
    layer = Embedding(13, 7, rng=0)
    product = Linear(13, 7, bias=False, rng=0)
    product.W.data[...] = layer.W.data
    rows = one_hot(X.ravel(), 13).reshape(5, 11, 13)
    (Y, backward), (Y_product, backward_product) = layer(X), product(rows)
    np.testing.assert_allclose(Y, Y_product, rtol=1e-12)  # rounding
    backward(dY), backward_product(dY)
    np.testing.assert_allclose(layer.W.grad, product.W.grad, rtol=1e-12, atol=1e-12)


def test_a_token_that_stands_in_several_places_gets_the_sum_and_the_others_nothing():
    layer = Embedding(13, 1, rng=0)
    layer(np.array([[2, 5, 2], [2, 5, 11]]))[1](np.array([1.0, 2, 3, 4, 5, 6]).reshape(2, 3, 1))
    expected = np.zeros(13)
    expected[[2, 5, 11]] = 1 + 3 + 4, 2 + 5, 6
    np.testing.assert_array_equal(layer.W.grad.ravel(), expected)


def test_tokens_have_no_gradient():
    Y, backward = Embedding(13, 7, rng=0)(X)
    assert backward(dY) is None


def test_rows_are_copied_so_that_a_later_step_does_not_change_them():
    layer = Embedding(13, 7, rng=0)
    Y, _ = layer(X)
    before = Y.copy()
    layer.W.data += 1.0
    np.testing.assert_array_equal(Y, before)


def test_rows_start_as_standard_normal_numbers():
    W = Embedding(400, 100, rng=0).W.data
    assert abs(W.mean()) < 0.02 and abs(W.std() - 1.0) < 0.02  # of 40,000 draws: 0.005 and 0.0035


def test_the_number_of_tokens_is_taken_from_a_sample():
    model = Embedding(n_out=7) >> Mean() >> Linear(n_out=3)
    model.initialize(X, rng=0)
    assert str(model.layers[0]) == f"Embedding({X.max() + 1}, 7)"
    assert model.layers[0].W.data.dtype == float
    assert model.predict(X).shape == (5, 3)
    assert Embedding(n_out=7).initialize(X, rng=0).to(np.float32).W.data.dtype == np.float32


def test_words_are_learned():
    T = (X == 7).any(axis=1).astype(int)  # does the seventh token occur?
    model = (Embedding(13, 2) >> Mean() >> Linear(2, 2)).initialize(X, rng=0)
    history = Learner(model, cross_entropy, Adam(0.1)).fit(X, T, epochs=100)
    assert history["loss"][-1] < 0.1 < history["loss"][0]


@pytest.mark.parametrize("wrong", [-1, 13])
def test_a_token_out_of_range_is_refused(wrong):
    tokens = X.copy()
    tokens[2, 3] = wrong
    with pytest.raises(ValueError, match=rf"Embedding\(13, 7\): tokens must be 0 to 12, got .*{wrong}"):
        Embedding(13, 7, rng=0)(tokens)


def test_what_are_no_tokens_is_refused():
    with pytest.raises(TypeError, match=r"Embedding\(13, 7\) expects integers, got float64: convert"):
        Embedding(13, 7, rng=0)(X.astype(float))


@pytest.mark.parametrize("shape", [(0, 11), (5, 0)])
def test_an_empty_batch_and_an_empty_sequence_are_refused(shape):
    with pytest.raises(ShapeError, match=r"Embedding\(13, 7\) got an empty X"):
        Embedding(13, 7, rng=0)(np.zeros(shape, dtype=int))
    with pytest.raises(
        ShapeError, match=r"Positions\(11, 7\) expects X of shape \(batch, steps, 7\), got \("
    ):
        Positions(11, 7, rng=0)(np.zeros((*shape, 7)))
    with pytest.raises(ShapeError, match="got an empty X"):
        Embedding(n_out=7).initialize(np.zeros(shape, dtype=int), rng=0)


def test_missing_rows_are_refused():
    for layer, sample, sentence in (
        (Embedding(13, 7), X, r"Embedding\(13, 7\) has no weights: give it rng=0"),
        (
            Embedding(13),
            X,
            r"Embedding\(13, \?\) has no n_out yet: pass it",
        ),
        (Positions(n_out=7), dY, r"Positions\(\?, 7\) has no n_steps yet: pass it, or call"),
    ):
        with pytest.raises(ValueError, match=sentence):
            layer(sample)


# positions


def test_each_step_gets_its_own_row_and_all_examples_the_same():
    layer = Positions(11, 7, rng=0)
    Y, backward = layer(dY[:, :3])
    np.testing.assert_array_equal(Y, dY[:, :3] + layer.W.data[:3])
    np.testing.assert_array_equal(backward(dY[:, :3]), dY[:, :3])
    np.testing.assert_allclose(layer.W.grad[:3], dY[:, :3].sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(layer.W.grad[3:], 0.0)


def test_the_sizes_of_positions_are_taken_from_a_sample():
    layer = Positions().initialize(dY.astype(np.float32), rng=0)
    assert str(layer) == "Positions(11, 7)" and layer.W.data.dtype == np.float32
    assert str(Positions(101).initialize(dY, rng=0)) == "Positions(101, 7)"


@pytest.mark.parametrize(
    "shape, sentence",
    [
        ((5, 13, 7), r"Positions\(11, 7\) has rows for 11 steps, got 13: shorten the input"),
        ((5, 11, 3), r"Positions\(11, 7\) expects X of shape \(batch, steps, 7\), got \(5, 11, 3\)"),
        ((11, 7), r"Positions\(11, 7\) expects X of shape \(batch, steps, 7\), got \(11, 7\)"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(shape, sentence):
    with pytest.raises(ShapeError, match=sentence):
        Positions(11, 7, rng=0)(np.zeros(shape))
