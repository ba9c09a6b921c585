"""What gave a wrong result without a word, and now gives the right one, or an error."""

import re
import tracemalloc
from functools import partial

import numpy as np
import pytest

from minigrad import (
    GELU,
    LSTM,
    RNN,
    SGD,
    Adam,
    Add,
    BatchNorm,
    CheckpointError,
    Dropout,
    Embedding,
    Layer,
    LayerNorm,
    Learner,
    Linear,
    Max,
    MaxPool2d,
    MultiHeadAttention,
    Parallel,
    ReLU,
    Residual,
    ShapeError,
    Sigmoid,
    Softmax,
    Tanh,
    Twin,
    bce_with_logits,
    cosine_distance,
    cross_entropy,
    load,
    mse,
    one_hot,
    save,
)
from minigrad.beyond.graph import Variable

RNG = np.random.default_rng(0)


class Root(Layer):
    """The square root, whose slope at 0 is infinite."""

    def forward(self, X):
        Y = np.sqrt(X)
        return Y, lambda dY: dY / (2 * Y)


# Steps along what is not finite


@pytest.mark.parametrize(("start", "batch"), [(0.0, "this batch"), (0.0, "batch 1 of epoch 1")])
def test_no_step_is_taken_along_a_gradient_that_is_not_finite(start, batch):
    model = Linear(3, 1, rng=0) >> Root()
    inside, _ = model.layers
    inside.W.data[...], inside.b.data[...] = start, start
    learner = Learner(model, mse, SGD(0.1))
    X, T = np.ones((5, 3)), np.ones((5, 1))
    fit = learner.fit_batch if batch == "this batch" else learner.fit
    sentence = f"the gradient of layers.0.b is not finite in {batch}, so no step was taken"
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=re.escape(sentence)):
        fit(X, T)
    assert (inside.W.data == start).all() and learner.optimizer.steps == 0


def test_gradients_whose_squares_overflow_are_stepped_along():
    layer = Linear(1, 1, bias=False, rng=0).to(np.float32)
    layer.W.data[...] = 1.0
    learner = Learner(layer, lambda Y, T: (np.float32(0), lambda: np.full_like(Y, 1e25)), SGD(1e-25))
    learner.fit_batch(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
    assert np.allclose(layer.W.data, 0, atol=1e-6)  # float32


def test_the_gradient_of_what_is_frozen_may_be_infinite():
    model = Linear(3, 1, rng=0).freeze() >> Root() >> Linear(1, 1, rng=0)
    model.layers[0].W.data[...] = 0.0
    learner = Learner(model, mse, SGD(0.1))
    with np.errstate(divide="ignore"):
        learner.fit_batch(np.ones((5, 3)), np.ones((5, 1)))
    assert learner.optimizer.steps == 1


def test_what_before_step_makes_finite_is_stepped_along():
    def clip(parameters):
        for parameter in parameters:
            np.clip(parameter.grad, -1, 1, out=parameter.grad)

    model = Linear(3, 1, rng=0) >> Root()
    model.layers[0].W.data[...] = 0.0
    with np.errstate(divide="ignore"):
        Learner(model, mse, SGD(0.1), before_step=clip).fit_batch(np.ones((5, 3)), np.ones((5, 1)))
    assert np.allclose(model.layers[0].W.data, 0.1)


# Memory and time that grow with the number of classes


def peak(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_hot_needs_memory_for_its_rows_alone():
    rows = []
    assert peak(lambda: rows.append(one_hot(np.array([[7, 49_999]]), 50_000))) < 3 * 2 * 50_000 * 8
    assert rows[0].shape == (1, 2, 50_000) and rows[0].sum() == 2 and rows[0][0, [0, 1], [7, 49_999]].all()


def test_the_gradient_of_an_embedding_needs_no_row_for_each_pair_of_token_and_place():
    layer, X = Embedding(5003, 3, rng=0), RNG.integers(5003, size=(7, 1009))
    Y, backward = layer(X)
    dY = RNG.normal(size=Y.shape)
    assert peak(lambda: backward(dY)) < 2_000_000  # a bool for each pair would be 18 MB
    expected = np.zeros((5003, 3))
    for token, row in zip(X.ravel(), dY.reshape(-1, 3), strict=True):
        expected[token] += row
    np.testing.assert_allclose(layer.W.grad, expected, rtol=1e-12)  # a few sums in another order


# Small integers and float16


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, bool])
@pytest.mark.parametrize(
    "layer", [ReLU(), Sigmoid(), Tanh(), GELU(), Softmax(), Dropout(0.5, rng=0), Max()], ids=repr
)
def test_integers_are_computed_with_as_float64(layer, kind):
    X = np.array([[1, 0, 1], [100, 1, 100]]).astype(kind)
    (Y, backward), (expected, back) = layer(X), layer(X.astype(float))
    dY = RNG.normal(size=Y.shape)
    np.testing.assert_array_equal(Y, expected)
    np.testing.assert_array_equal(backward(dY), back(dY))
    assert backward(dY).dtype == np.float64


@pytest.mark.parametrize("loss", [mse, bce_with_logits, cosine_distance])
def test_a_loss_of_small_integers_is_that_of_floats(loss):
    Y, T = np.array([[200, 100], [1, 0]], np.uint8), np.array([[1, 1], [0, 1]], np.uint8)
    assert loss(Y, T)[0] == loss(Y.astype(float), T.astype(float))[0]


@pytest.mark.parametrize(
    "call",
    [ReLU(), Softmax(), Tanh(), lambda X: mse(X, X)],
    ids=("ReLU", "Softmax", "Tanh", "mse"),
)
def test_float16_is_refused(call):
    with pytest.raises(TypeError, match="an array of float16: convert it with .astype"):
        call(np.ones((5, 3), np.float16))


# One array under two names


def test_what_dropout_returns_may_be_changed_in_place():
    X, dY = np.ones((5, 3)), np.ones((5, 3))
    Y, backward = Dropout(0.5)(X)
    np.testing.assert_array_equal(Y, X)
    Y *= 0
    dX = backward(dY)
    dX *= 0
    assert X.all() and dY.all()


# Softmax twice


@pytest.mark.parametrize(
    ("loss", "layer"),
    [(cross_entropy, Softmax()), (partial(cross_entropy), Softmax()), (bce_with_logits, Sigmoid())],
)
def test_a_layer_that_the_loss_applies_too_is_warned_of(loss, layer):
    sentence = f"takes logits and applies {type(layer).__name__} itself: leave"
    with pytest.warns(UserWarning, match=sentence) as caught:
        Learner(Linear(3, 2, rng=0) >> layer, loss, SGD(0.1))
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize(("loss", "layer"), [(mse, Sigmoid()), (bce_with_logits, Tanh())])
def test_other_layers_before_a_loss_are_not_warned_of(loss, layer):
    Learner(Linear(3, 2, rng=0) >> layer, loss, SGD(0.1))  # a warning would be an error
    Learner(Linear(3, 2, rng=0) >> Softmax() >> Linear(2, 2, rng=0), cross_entropy, SGD(0.1))
    Learner(Linear(3, 2, rng=0) >> Residual(Linear(2, 2, rng=0) >> Softmax()), cross_entropy, SGD(0.1))


# Frozen layers that hold others


class Noisy(Layer):
    """A layer of your own that holds others, and draws while training."""

    def __init__(self):
        self.inside, self.dropout = Linear(3, 3, rng=0), Dropout(0.5, rng=1)
        self.rng = np.random.default_rng(2)

    def forward(self, X, training=False):
        Y, backward = self.inside(X, training=training)
        Y, back = self.dropout(Y, training=training)
        noise = self.rng.normal(size=Y.shape) if training else 0.0
        return Y + noise, lambda dY: backward(back(dY))


def test_a_frozen_layer_of_your_own_runs_as_outside_training():
    layer, X = Noisy().freeze(), RNG.normal(size=(5, 3))
    np.testing.assert_array_equal(layer(X, training=True)[0], layer(X)[0])
    layer.unfreeze()
    assert (layer(X, training=True)[0] != layer(X)[0]).all()


def test_a_layer_is_frozen_by_its_method_alone():
    layer = Linear(3, 1, rng=0)
    with pytest.raises(AttributeError, match="frozen"):
        layer.frozen = True
    assert not layer.frozen and layer.freeze().frozen


def test_a_part_that_is_unfrozen_runs_as_in_training_and_the_rest_does_not():
    X = RNG.normal(size=(5, 3))
    model = (Noisy() >> BatchNorm(3)).initialize(X).freeze()
    body, head = model.layers
    head.unfreeze()
    Y, _ = model(X, training=True)
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-12)  # rounding
    np.testing.assert_array_equal(body(X, training=True)[0], body(X)[0])
    assert model.layers[0].frozen and not head.frozen and not model.frozen


# Settings and sums without an effect, or with another one


def keep(X):
    return X, lambda dY: dY


@pytest.mark.parametrize(
    ("layer", "sentence"),
    [
        (Residual(Twin(keep)), "expects an array of numbers, got a tuple of 2: pass one array."),
        (Add(Twin(keep), Twin(keep)), "needs results of one shape, got shapes ((5, 3), (5, 3))"),
    ],
)
def test_tuples_are_not_joined_where_arrays_are_added(layer, sentence):
    X = np.ones((5, 3))
    with pytest.raises((TypeError, ShapeError), match=re.escape(sentence)):
        layer((X, X))


# Checkpoints that lose something


class Warmed:
    """An optimizer that holds another."""

    def __init__(self, inside):
        self.inside = inside

    def step(self, parameters):
        self.inside.step(parameters)


def fitted(optimizer, note=None):
    learner = Learner(Linear(3, 1, rng=0), mse, optimizer)
    learner.fit(
        RNG.normal(size=(5, 3)), RNG.normal(size=(5, 1)), callbacks=lambda _, row: row.update(note=note)
    )
    return learner


def test_an_optimizer_inside_another_is_not_saved_without_its_memory(tmp_path):
    learner = fitted(Warmed(Adam(0.1)), note=1.0)
    with pytest.raises(TypeError, match="Warmed holds an optimizer, whose memory would be lost"):
        save(tmp_path / "run.npz", learner)
    assert not any(tmp_path.iterdir())


def test_text_in_a_history_is_loaded_again(tmp_path):
    learner = fitted(SGD(0.1), note="restarted")
    save(tmp_path / "run.npz", learner)
    assert load(tmp_path / "run.npz", fitted(SGD(0.1), 0.0)).history == learner.history


def test_a_history_that_could_not_be_loaded_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"may hold only numbers and strings; got \[.*'note': \[1, 2\]"):
        save(tmp_path / "run.npz", fitted(SGD(0.1), note=[1, 2]))
    assert not any(tmp_path.iterdir())


def test_a_model_that_serves_holds_no_gradients(tmp_path):
    X = np.ones((1, 503))
    save(tmp_path / "net.npz", Linear(503, 1009, rng=0))
    held = []

    def serve():
        held.append(load(tmp_path / "net.npz", Linear(503, 1009, rng=1).to(np.float64)))
        held.append(held[0].predict(X))

    tracemalloc.start()
    serve()
    assert tracemalloc.get_traced_memory()[0] < 1.5 * 503 * 1009 * 8
    tracemalloc.stop()
    assert (held[0].W.grad == 0).all() and held[0].W.grad.shape == (503, 1009)


# What is not there


@pytest.mark.parametrize(
    "layer", [RNN(1, 3, rng=0), LSTM(1, 3, rng=0), MultiHeadAttention(1, rng=0)], ids=repr
)
def test_what_stands_behind_the_end_of_a_sequence_does_not_matter(layer):
    X, lengths = RNG.normal(size=(2, 5, 1)), np.array([5, 3])
    Y, backward = layer((X, lengths))
    dY = RNG.normal(size=Y.shape)
    dX, _ = backward(dY)
    layer.zero_grad()
    other = X.copy()
    other[1, 3:] = np.nan
    Y_other, backward_other = layer((other, lengths))
    dX_other, _ = backward_other(dY)
    np.testing.assert_array_equal(Y_other, Y)
    np.testing.assert_array_equal(dX_other, dX)
    assert all(np.isfinite(parameter.grad).all() for parameter in layer.parameters())
    assert np.isnan(other[1, 3:]).all()  # X itself stays


def test_a_masked_array_is_no_batch():
    X = np.ma.masked_equal(np.array([[1.0, 2.0], [9.0, 1.0]]), 9.0)
    with pytest.raises(TypeError, match=re.escape("X is a masked array: write X.filled(0)")):
        Linear(2, 1, rng=0).predict(X)


@pytest.mark.parametrize("call", [lambda A, b: np.dot(A, b), lambda A, b: np.where(True, b, b)])
def test_functions_of_numpy_make_no_array_of_nodes(call):
    with pytest.raises(TypeError, match="takes arrays, not nodes: write A @ B, exp"):
        call(np.ones((2, 2)), Variable(np.ones((2, 2))))


def test_fewer_epochs_than_none_are_refused():
    X, T = np.ones((5, 3)), np.ones((5, 1))
    with pytest.raises(ValueError, match="epochs must be an integer of at least 0, got -1"):
        Learner(Linear(3, 1, rng=0), mse, SGD(0.1)).fit(X, T, epochs=-1)


def test_running_averages_stay_where_a_batch_is_empty():
    layer = BatchNorm(3)
    with pytest.raises(ShapeError, match="a batch that is not empty"):
        layer(np.zeros((0, 3)), training=True)
    assert np.array_equal(layer.running_mean.data, np.zeros(3))


def test_trainable_on_a_layer_of_ones_own_says_what_freezes_it():
    with pytest.raises(AttributeError, match=r"layer\.freeze\(\), freezes it"):
        Root().trainable = False


def test_a_branch_without_a_gradient_takes_none_from_the_others():
    def first(X):
        return X[0], lambda dY: (dY, None)

    def product(X):
        return X[0] * X[1], lambda dY: (dY * X[1], dY * X[0])

    two, one = np.array([[2.0]]), np.array([[1.0]])
    for model in Add(first, product), Add(product, first):
        Y, backward = model((two, two))
        dA, dB = backward(one)
        assert Y == 6 and dA == 3 and dB == 2


def test_weights_that_are_not_trained_do_not_stop_batch_norm():
    layer, X = BatchNorm(2), RNG.normal(10, 3, size=(8, 2))
    layer.gain.trainable = layer.shift.trainable = False
    np.testing.assert_allclose(layer(X, training=True)[0].mean(axis=0), 0, atol=1e-12)
    assert (layer.running_mean.data > 0.5).all()


def test_small_integers_do_not_overflow_in_a_sum_of_branches():
    images = np.full((1, 1, 2, 2), 200, dtype=np.uint8)
    keep = Add(lambda X: (X, lambda dY: dY), lambda X: (X, lambda dY: dY))
    assert Add(MaxPool2d(2), MaxPool2d(2))(images)[0] == 400 and (keep(images)[0] == 400).all()
    assert (Residual(lambda X: (X, lambda dY: dY))(images)[0] == 400).all()


def test_a_checkpoint_of_another_axis_or_eps_does_not_fit(tmp_path):
    for here, there in (BatchNorm(3), BatchNorm(3, axis=-1)), (LayerNorm(2), LayerNorm(2, eps=1.0)):
        save(tmp_path / "norm.npz", here)
        with pytest.raises(CheckpointError, match=r"eps=1.0\) here|axis=-1\) here"):
            load(tmp_path / "norm.npz", there)
    assert repr(Parallel(Tanh(), ReLU(), axis=1)) == "Parallel(Tanh(), ReLU(), axis=1)"
