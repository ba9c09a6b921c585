"""Dropout and the norms: what they do while training, and what they keep."""

import copy

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Dropout,
    LayerNorm,
    Learner,
    Linear,
    Residual,
    Sequential,
    ShapeError,
    gradcheck,
    load,
    mse,
    save,
)

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, size=(53, 7))


def norms(**axis):
    return LayerNorm(7), BatchNorm(7, **axis)


# Dropout


def test_dropout_drops_about_its_rate_and_keeps_the_mean():
    Y, _ = Dropout(0.3, rng=0)(np.ones((1000, 10)), training=True)
    assert set(np.unique(Y)) == {0.0, 1.0 / 0.7}
    assert abs((Y == 0).mean() - 0.3) < 0.02 and abs(Y.mean() - 1.0) < 0.03  # 10,000 throws: 0.005, 0.007


def test_dropout_lets_the_gradient_through_where_it_let_the_signal_through():
    Y, backward = Dropout(0.3, rng=0)(X, training=True)
    np.testing.assert_array_equal(backward(np.ones_like(X)) == 0, Y == 0)


def test_each_pass_draws_anew_and_remembers_its_own_mask():
    layer = Dropout(0.5, rng=0)
    one, backward = layer(X, training=True)
    other, _ = layer(X, training=True)
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(backward(np.ones_like(X)) == 0, one == 0)


def test_outside_training_dropout_does_nothing():
    Y, backward = Dropout(0.5)(X)
    np.testing.assert_array_equal(Y, X)
    np.testing.assert_array_equal(backward(X), X)


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_dropout_passes_the_checker_while_training(rate):
    report = gradcheck(Dropout(rate, rng=0), X[:5], training=True)
    assert report.ok, str(report)


def test_two_dropouts_from_one_generator_draw_different_masks():
    rng = np.random.default_rng(0)
    masks = [Dropout(0.5, rng=rng)(X, training=True)[0] == 0 for _ in range(2)]
    assert not np.array_equal(*masks)


def test_initialize_gives_a_dropout_its_generator():
    model = Dropout(0.5) >> Linear(7, 2, rng=0)
    one, other = (copy.deepcopy(model).initialize(X, rng=seed)(X, training=True)[0] for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_a_run_with_dropout_goes_on_from_a_file_as_if_nothing_had_happened(tmp_path):
    def learner(seed):
        rng = np.random.default_rng(seed)
        model = Linear(7, 7, rng=rng) >> BatchNorm(7) >> Dropout(0.5, rng=rng) >> Linear(7, 1, rng=rng)
        return Learner(model, mse, SGD(0.01), rng=seed)

    unbroken, broken = learner(0), learner(0)
    losses = unbroken.fit(X, X[:, :1], epochs=4)["loss"]
    broken.fit(X, X[:, :1], epochs=2)
    save(tmp_path / "run.npz", broken)
    resumed = load(tmp_path / "run.npz", learner(9))
    assert resumed.fit(X, X[:, :1], epochs=2)["loss"] == losses[2:]
    np.testing.assert_array_equal(resumed.predict(X), unbroken.predict(X))


def test_integers_are_thinned_out_and_stretched_like_other_numbers():
    whole = np.full((53, 7), 3)
    Y = Dropout(0.3, rng=0)(whole, training=True)[0]
    np.testing.assert_array_equal(Y, Dropout(0.3, rng=0)(whole.astype(float), training=True)[0])
    assert Y.dtype == np.float64 and set(np.unique(Y)) == {0.0, 3 / 0.7}


def test_a_frozen_norm_keeps_its_averages_and_uses_them():
    layer = BatchNorm(7)
    layer(X, training=True)
    before = [part.data.copy() for part in layer.buffers()]
    layer.freeze()
    np.testing.assert_array_equal(layer(5 * X, training=True)[0], layer(5 * X)[0])
    for part, data in zip(layer.buffers(), before, strict=True):
        np.testing.assert_array_equal(part.data, data)
    layer.unfreeze()(5 * X, training=True)
    assert not np.array_equal(layer.buffers()[1].data, before[1])


def test_a_batch_of_one_does_not_move_the_running_variance():
    layer = BatchNorm(7)
    layer(X, training=True)
    mean, variance = (part.data.copy() for part in layer.buffers())
    layer(X[:1], training=True)
    np.testing.assert_array_equal(layer.running_variance.data, variance)
    np.testing.assert_allclose(layer.running_mean.data, 0.9 * mean + 0.1 * X[0], rtol=1e-12)  # rounding


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(
        ValueError, match="rate of Dropout must be a finite number of at least 0 and below 1, got"
    ):
        Dropout(rate)


def test_a_dropout_without_a_generator_refuses_to_train():
    with pytest.raises(ValueError, match=r"Dropout\(0.5\) draws random masks: give it rng=0"):
        Dropout(0.5)(X, training=True)


# the norms


@pytest.mark.parametrize("layer, axis", [(LayerNorm(7), 1), (BatchNorm(7), 0)], ids=str)
def test_a_norm_gives_mean_0_and_variance_1(layer, axis):
    Y, _ = layer(X, training=True)
    np.testing.assert_allclose(Y.mean(axis=axis), 0.0, atol=1e-12)
    np.testing.assert_allclose(Y.var(axis=axis), 1.0, rtol=1e-4)  # eps beside the variance


@pytest.mark.parametrize("shape, axis", [((5, 7), 1), ((5, 7, 3, 2), 1), ((5, 3, 7), -1)])
def test_a_batch_norm_passes_the_checker_while_training(shape, axis):
    layer = BatchNorm(7, axis=axis)
    layer.gain.data[...], layer.shift.data[...] = RNG.normal(size=(2, 7))
    before = [buffer.data.copy() for buffer in layer.buffers()]
    report = gradcheck(layer, RNG.normal(size=shape), training=True)
    assert report.ok and {row.name for row in report.rows} == {"input X", "gain", "shift"}, str(report)
    for buffer, old in zip(layer.buffers(), before, strict=True):  # a Buffer has no gradient, and is left
        np.testing.assert_array_equal(buffer.data, old)


def test_a_norm_is_blind_to_the_size_and_the_place_of_what_it_gets():
    for layer in norms():
        one, other = (layer(inputs, training=True)[0] for inputs in (X, 100.0 * X + 7.0))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)  # eps beside the variance


def test_batch_norm_makes_zeros_of_examples_that_come_one_at_a_time():
    Y = np.concatenate([BatchNorm(7)(row[None], training=True)[0] for row in X])
    np.testing.assert_array_equal(Y, 0.0)


def test_running_averages_follow_the_batches_and_serve_afterwards():
    layer = BatchNorm(7, momentum=0.5)
    batches = X[:20], X[20:50]
    mean, variance = np.zeros(7), np.ones(7)
    for batch in batches:
        layer(batch, training=True)
        mean = 0.5 * mean + 0.5 * batch.mean(axis=0)
        variance = 0.5 * variance + 0.5 * batch.var(axis=0, ddof=1)
    np.testing.assert_allclose(layer.running_mean.data, mean, rtol=1e-12)
    np.testing.assert_allclose(layer.running_variance.data, variance, rtol=1e-12)
    np.testing.assert_allclose(layer.predict(X), (X - mean) / np.sqrt(variance + 1e-5), rtol=1e-10)
    np.testing.assert_array_equal(layer.predict(X[:1]), layer.predict(X)[:1])


def test_a_look_without_training_moves_no_average():
    layer = BatchNorm(7)
    layer(X)
    assert (layer.running_mean.data == 0).all() and (layer.running_variance.data == 1).all()


def test_running_averages_are_saved_and_never_trained(tmp_path):
    layer = BatchNorm(7)
    Learner(Sequential(layer, Linear(7, 1, rng=0)), mse, SGD(0.1)).fit(X, X[:, :1], epochs=2)
    assert [part.shape for part in layer.parameters()] == [(7,), (7,)] and len(layer.buffers()) == 2
    save(tmp_path / "norm.npz", layer)
    np.testing.assert_array_equal(load(tmp_path / "norm.npz", BatchNorm(7)).predict(X), layer.predict(X))


def test_widths_and_types_are_taken_from_a_sample():
    model = Sequential(LayerNorm(), Residual(BatchNorm()), Linear(n_out=2))
    model.initialize(X.astype(np.float32), rng=0)
    assert str(model) == "Sequential(LayerNorm(7), Residual(BatchNorm(7)), Linear(7, 2))"
    assert {part.data.dtype for part in [*model.parameters(), *model.buffers()]} == {np.dtype(np.float32)}
    assert model(X.astype(np.float32), training=True)[0].dtype == np.float32


@pytest.mark.parametrize(
    "layer, inputs, sentence",
    [
        (LayerNorm(3), X, r"LayerNorm\(3\) expects 3 inputs in the last axis, got X of shape \(53, 7\)"),
        (
            BatchNorm(3),
            X,
            r"BatchNorm\(3\) expects 3 in axis 1 and a batch that is not empty, got X of shape \(53, 7\)",
        ),
        (
            BatchNorm(3),
            X[0],
            r"BatchNorm\(3\) needs an axis 1 that is not the batch .*, got X of shape \(7,\)",
        ),
        (LayerNorm(), X, r"LayerNorm\(\?\) has no n_in yet: pass it, or call model.initialize"),
        (BatchNorm(), X, r"BatchNorm\(\?\) has no n_in yet"),
    ],
)
def test_a_wrong_width_is_refused(layer, inputs, sentence):
    with pytest.raises(ShapeError, match=sentence):
        layer(inputs)


@pytest.mark.parametrize("momentum", [0.0, 1.1, float("nan")])
def test_a_momentum_out_of_range_is_refused(momentum):
    with pytest.raises(
        ValueError, match="momentum of BatchNorm must be a finite number above 0 and at most 1, got"
    ):
        BatchNorm(7, momentum=momentum)
