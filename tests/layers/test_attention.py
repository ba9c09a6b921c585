"""MultiHeadAttention: who looks at whom, and what comes back. TransformerBlock: what it is made of."""

import numpy as np
import pytest

from minigrad import (
    Adam,
    Embedding,
    Learner,
    Linear,
    MultiHeadAttention,
    Positions,
    ShapeError,
    Softmax,
    TransformerBlock,
    accuracy,
    cross_entropy,
    gradcheck,
    load,
    save,
)

RNG = np.random.default_rng(0)
X, dY = RNG.normal(size=(2, 5, 7, 6))
LENGTHS = np.array([7, 1, 3, 5, 2])
CAUSAL = pytest.mark.parametrize("causal", [False, True], ids=["everywhere", "causal"])


def attention(heads=2, causal=False):
    """Return a layer whose biases are drawn, too."""
    layer = MultiHeadAttention(6, heads, causal, rng=0)
    for parameter in layer.parameters():
        parameter.data[...] = np.random.default_rng(1).normal(size=parameter.shape)
    return layer


def test_one_step_at_a_time_on_paper():
    layer = attention(heads=3)
    Q, K, V = (part.predict(X) for part in (layer.queries, layer.keys, layer.values))
    Y = np.zeros_like(X)
    for example in range(5):
        for step in range(7):
            for mine in (slice(0, 2), slice(2, 4), slice(4, 6)):  # the numbers of a head
                scores = K[example, :, mine] @ Q[example, step, mine] / np.sqrt(2)
                Y[example, step, mine] = Softmax().predict(scores) @ V[example, :, mine]
    np.testing.assert_allclose(layer.predict(X), layer.output.predict(Y), rtol=1e-12, atol=1e-12)


@CAUSAL
def test_the_gradient_of_the_keys_bias_is_zero_but_for_rounding(causal):
    layer = attention(causal=causal)
    layer(X)[1](dY)
    others = [np.abs(part.b.grad).max() for part in (layer.queries, layer.values, layer.output)]
    assert np.abs(layer.keys.b.grad).max() < 1e-13 * max(others)  # sums of 35 numbers that cancel
    layer.keys.b.data += 3.0
    moved = layer.weights(X)
    layer.keys.b.data -= 3.0
    np.testing.assert_allclose(moved, layer.weights(X), rtol=1e-9)  # softmax is blind to it
    report = gradcheck(layer, X)
    assert report.ok and "keys.b" in {row.name for row in report.rows}, str(report)


def test_what_a_row_looks_at_sums_to_one():
    weights = attention(heads=3).weights((X, LENGTHS))
    assert weights.shape == (5, 3, 7, 7)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)


def test_a_causal_layer_does_not_look_ahead():
    layer = attention(causal=True)
    assert not np.triu(layer.weights(X), k=1).any()
    assert np.tril(layer.weights(X)).sum() == pytest.approx(layer.weights(X).sum())


@pytest.mark.parametrize(
    "make",
    [lambda: attention(causal=True), lambda: TransformerBlock(6, 2, causal=True, rng=0)],
    ids=["attention", "block"],
)
def test_another_future_changes_nothing_before_it(make):
    layer = make()
    for now in range(7):
        other = X.copy()
        other[:, now + 1 :] = RNG.normal(size=other[:, now + 1 :].shape)
        np.testing.assert_array_equal(layer.predict(other)[:, : now + 1], layer.predict(X)[:, : now + 1])
        early = dY.copy()
        early[:, now + 1 :] = 0.0  # nobody asks about the future
        dX = layer(X)[1](early)
        assert not dX[:, now + 1 :].any() and dX[:, : now + 1].any()


def test_without_a_mask_the_future_does_change_what_is_before_it():
    other = X.copy()
    other[:, -1] += 1.0
    assert (attention().predict(other) != attention().predict(X)).all()


@CAUSAL
def test_padded_sequences_give_the_same_as_one_by_one(causal):
    padded, alone = attention(causal=causal), attention(causal=causal)
    Y, backward = padded((X, LENGTHS))
    dX, none = backward(dY)
    assert none is None
    for example, length in enumerate(LENGTHS):
        one = np.s_[example : example + 1, :length]
        Y_one, backward_one = alone(X[one])
        np.testing.assert_allclose(Y[one], Y_one, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dX[one], backward_one(dY[one]), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(padded.parameters(), alone.parameters(), strict=True):
        np.testing.assert_allclose(ours.grad, theirs.grad, rtol=1e-11, atol=1e-11)


@CAUSAL
def test_what_stands_behind_the_end_is_neither_looked_at_nor_written(causal):
    layer, behind = attention(causal=causal), np.arange(7) >= LENGTHS[:, None]
    Y, backward = layer((X, LENGTHS))
    dX, _ = backward(dY)
    assert not Y[behind].any() and not dX[behind].any()
    assert not (layer.weights((X, LENGTHS)) * behind[:, None, None]).any()
    other_X, other_dY = X.copy(), dY.copy()
    other_X[behind], other_dY[behind] = RNG.normal(size=(2, behind.sum(), 6))
    other_Y, other_backward = layer((other_X, LENGTHS))
    np.testing.assert_array_equal(other_Y, Y)
    np.testing.assert_array_equal(other_backward(other_dY)[0], dX)


def test_full_lengths_change_nothing():
    layer = attention()
    np.testing.assert_array_equal(layer((X, np.full(5, 7)))[0], layer(X)[0])


def test_without_positions_attention_does_not_know_the_order():
    layer, order = attention(heads=3), RNG.permutation(7)
    np.testing.assert_allclose(layer.predict(X[:, order]), layer.predict(X)[:, order], rtol=1e-10, atol=1e-12)


def test_large_scores_do_not_overflow():
    Y, backward = attention()(1e4 * X)
    assert np.isfinite(Y).all() and np.isfinite(backward(dY)).all()


def test_the_width_and_the_type_are_taken_from_a_sample():
    for sample in (X.astype(np.float32), (X.astype(np.float32), LENGTHS)):
        layer = MultiHeadAttention(heads=3).initialize(sample, rng=0)
        assert str(layer) == "MultiHeadAttention(6, heads=3, causal=False)"
        assert [part.shape for part in layer.parameters()] == 4 * [(6, 6), (6,)]
        assert layer(sample)[0].dtype == np.float32


def test_a_seed_draws_four_different_matrices():
    layer = MultiHeadAttention(6, rng=0)
    parts = [part.W.data for part in (layer.queries, layer.keys, layer.values, layer.output)]
    assert len({part[0, 0] for part in parts}) == 4


def test_it_learns_to_reverse_and_its_weights_are_the_anti_diagonal():
    rng = np.random.default_rng(0)
    words = rng.integers(11, size=(256, 7))
    model = Embedding(11, 29) >> Positions(7, 29) >> MultiHeadAttention(29) >> Linear(29, 11)
    model.initialize(words, rng=rng)
    Learner(model, cross_entropy, Adam(0.01), rng=0).fit(words, words[:, ::-1], epochs=20)
    unseen = rng.integers(11, size=(101, 7))
    assert accuracy(model.predict(unseen), unseen[:, ::-1]) > 0.95
    embedding, positions, layer, _ = model.layers
    looks = layer.weights(positions.predict(embedding.predict(unseen))).mean(axis=(0, 1))
    np.testing.assert_array_equal(looks.argmax(axis=1), np.arange(7)[::-1])


@pytest.mark.parametrize(
    "layer, inputs, sentence",
    [
        (attention(), X[0], r"expects X \(batch, steps, 6\), not empty; got \(7, 6\)"),
        (attention(), X[:, :, :5], r"expects X \(batch, steps, 6\), not empty; got \(5, 7, 5\)"),
        (attention(), X[:0], r"not empty; got \(0, 7, 6\)"),
        (attention(), X[:, :0], r"not empty; got \(5, 0, 6\)"),
        (
            MultiHeadAttention(),
            X,
            r"MultiHeadAttention\(\?, heads=1, .*\) has no n_in yet: pass it, or",
        ),
        (MultiHeadAttention(6, 5, rng=0), X, r"\(6, heads=5, .*: n_in must be a multiple of heads"),
        (attention(), (X, LENGTHS[:3]), r"5 integers from 1 to 7, got int64 of shape \(3,\): \[7 1 3\]"),
        (attention(), (X, LENGTHS - 1), r"5 integers from 1 to 7, got int64 of shape \(5,\): \[6 0 2 4 1\]"),
        (attention(), (X, LENGTHS + 1), r"5 integers from 1 to 7, got int64 of shape \(5,\): \[8 2 4 6 3\]"),
        (attention(), (X, LENGTHS / 1), r"5 integers from 1 to 7, got float64 of .*: \[7. 1. 3. 5. 2.\]"),
    ],
)
def test_what_does_not_fit_is_refused(layer, inputs, sentence):
    with pytest.raises(ShapeError, match=sentence):
        layer(inputs)
    if layer.queries.is_drawn:
        with pytest.raises(ShapeError, match=sentence):
            layer.weights(inputs)


def test_missing_weights_are_refused():
    with pytest.raises(ValueError, match=r"Linear\(6, 6\) has no weights: give it rng=0"):
        MultiHeadAttention(6)(X)


# the block


def test_a_block_is_two_additions():
    block = TransformerBlock(6, 2, rng=0)
    look, think = (residual.layer for residual in block.block.layers)
    H = X + look.predict(X)
    np.testing.assert_array_equal(block.predict(X), H + think.predict(H))
    assert str(look.layers[:2]) == "[LayerNorm(6), MultiHeadAttention(6, heads=2, causal=False)]"
    assert str(think.layers[:4]) == "[LayerNorm(6), Linear(6, 24), GELU(), Linear(24, 6)]"


def test_blocks_take_their_width_from_a_sample_and_stay_whole():
    model = TransformerBlock(heads=2) >> TransformerBlock(heads=3, causal=True) >> Linear(n_out=11)
    model.initialize(X.astype(np.float32), rng=0)
    assert str(model) == (
        "Sequential(TransformerBlock(6, heads=2, causal=False), TransformerBlock(6, heads=3, causal=True), "
        "Linear(6, 11))"
    )
    assert {parameter.data.dtype for parameter in model.parameters()} == {np.dtype(np.float32)}
    assert model(X.astype(np.float32))[0].dtype == np.float32
    same = TransformerBlock(6, 2, rng=0).named_parameters()
    shapes = {name: part.shape for name, part in same.items()}
    assert shapes == {name: part.shape for name, part in model.layers[0].named_parameters().items()}


def test_a_block_can_be_the_last_layer():
    block = TransformerBlock(heads=2).initialize(X, np.zeros((5, 7, 6)), rng=0)
    assert block.predict(X).shape == X.shape


def test_dropout_thins_out_what_is_added_while_training_alone():
    block, plain = TransformerBlock(6, 2, dropout=0.5, rng=0), TransformerBlock(6, 2, rng=0)
    np.testing.assert_array_equal(block.predict(X), plain.predict(X))
    one, other = (block(X, training=True)[0] for _ in range(2))
    assert (one != other).any()
    report = gradcheck(block, X[:2, :3], training=True)
    assert report.ok, str(report)


def test_a_run_of_a_block_goes_on_from_a_file_as_if_nothing_had_happened(tmp_path):
    T = RNG.integers(6, size=(5, 7))

    def learner(seed):
        return Learner(TransformerBlock(6, 2, dropout=0.3, rng=seed), cross_entropy, Adam(0.01), rng=seed)

    unbroken, broken = learner(0), learner(0)
    losses = unbroken.fit(X, T, epochs=4, batch_size=2)["loss"]
    broken.fit(X, T, epochs=2, batch_size=2)
    save(tmp_path / "run.npz", broken)
    resumed = load(tmp_path / "run.npz", learner(9))
    assert resumed.fit(X, T, epochs=2, batch_size=2)["loss"] == losses[2:]
