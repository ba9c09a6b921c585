"""The training loop: what happens in which order, what is reported, and the runs that chapters rely on."""

import copy
import functools
import math
import re
import statistics
import tracemalloc

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Conv2d,
    Dropout,
    Flatten,
    History,
    Layer,
    Learner,
    Linear,
    Parameter,
    ReLU,
    ShapeError,
    Sigmoid,
    accuracy,
    bce_with_logits,
    cross_entropy,
    digits,
    mse,
    numerical_gradient,
    split,
)

RNG = np.random.default_rng(0)
X, T = RNG.normal(size=(7, 3)), RNG.normal(size=(7, 2))
LABELS = np.array([0, 1, 2, 2, 1, 0, 0])


class Still:
    """An optimizer that leaves everything where it is."""

    def step(self, parameters):
        pass


def learner(**settings):
    return Learner(Linear(3, 2, rng=0), mse, settings.pop("optimizer", SGD(0.1)), **settings)


# One step


def test_the_worked_trace_on_paper():
    def loss_after_one_step(learning_rate):
        model = Linear(2, 3, rng=0) >> ReLU() >> Linear(3, 1, rng=0)
        first, _, second = model.layers
        first.W.data[...], first.b.data[...] = [[1, -1, 0], [0, 1, 2]], [0, 0, -1]
        second.W.data[...], second.b.data[...] = [[1], [2], [-1]], [0.5]
        X, T = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[0.0], [3.0]])
        trace = Learner(model, mse, SGD(learning_rate))
        assert trace.fit_batch(X, T) == 0.25
        return trace.evaluate(X, T)["loss"]

    assert round(loss_after_one_step(0.1), 2) == 2.54
    assert round(loss_after_one_step(0.05), 3) == 0.358
    assert round(loss_after_one_step(0.01), 3) == 0.094


def test_the_phases_come_in_order():
    happened = []

    class Loud(Layer):
        def __init__(self):
            self.b = Parameter([0.0])

        def forward(self, X, training=False, need_dX=True):
            happened.append(f"forward, training {training}, dX wanted {need_dX}")
            return X, lambda dY: happened.append("backward") or dY

    def loss(Y, T):
        happened.append("loss")
        return 7.0, lambda: np.ones_like(Y)

    class LoudSGD(SGD):
        def step(self, parameters):
            happened.append("step")
            super().step(parameters)

    loud = Learner(Loud(), loss, LoudSGD(0.1), before_step=lambda parameters: happened.append("before step"))
    assert loud.fit_batch(X, T) == 7.0
    assert happened == [
        "forward, training True, dX wanted False",
        "loss",
        "backward",
        "before step",
        "step",
    ]


def test_weights_change_only_after_all_gradients_are_there():
    shared = Linear(3, 3, bias=False, rng=0)
    start = shared.W.data.copy()
    target = RNG.normal(size=(7, 3))
    gradient = numerical_gradient(lambda W: mse(X @ W @ W, target)[0], start)
    Learner(shared >> shared, mse, SGD(0.1)).fit_batch(X, target)
    # a central difference is good for eight digits
    np.testing.assert_allclose(shared.W.data, start - 0.1 * gradient, rtol=1e-7, atol=1e-8)


def test_gradients_do_not_leak_from_step_to_step():
    runner = learner(optimizer=Still())
    runner.fit_batch(X, T)
    first = runner.model.W.grad.copy()
    runner.fit_batch(X, T)
    np.testing.assert_array_equal(runner.model.W.grad, first)


def test_before_step_sees_the_gradients_and_may_change_them():
    def clip(parameters):
        for parameter in parameters:
            np.clip(parameter.grad, -1e-3, 1e-3, out=parameter.grad)

    clipped = learner(before_step=clip)
    before = clipped.model.W.data.copy()
    clipped.fit_batch(X, 100 * T)
    np.testing.assert_allclose(np.abs(clipped.model.W.data - before), 1e-4, rtol=1e-9)  # a difference


def test_a_plain_function_may_be_the_model():
    layer = Linear(3, 2, rng=0)

    def model(X):
        return layer(X)

    history = Learner(model, mse, SGD(0.1)).fit(X, T, epochs=5)
    assert history == learner().fit(X, T, epochs=5)


# An epoch


def test_the_loss_of_an_epoch_is_the_mean_over_examples_with_a_short_last_batch():
    still = learner(optimizer=Still())
    (row,) = still.fit(X, T, batch_size=5)  # 5 examples, then 2
    assert math.isclose(row["loss"], mse(still.predict(X), T)[0], rel_tol=1e-12)  # rounding


def test_every_example_is_seen_once_an_epoch_in_a_new_order():
    seen = []

    unused = Parameter([0.0])  # so that there is something to train

    def remember(X):
        seen.append(X[:, 0])
        return X, lambda dY: dY * (1.0 + unused.grad)

    examples = np.arange(7.0)[:, None]
    Learner(remember, mse, Still(), rng=0).fit(examples, examples, epochs=2, batch_size=3)
    assert [len(batch) for batch in seen] == [3, 3, 1, 3, 3, 1]
    first, second = np.concatenate(seen[:3]), np.concatenate(seen[3:])
    assert sorted(first) == sorted(second) == list(range(7))
    assert list(first) != list(second) != list(range(7))


def test_the_seed_decides_the_run():
    losses = [learner(rng=seed).fit(X, T, epochs=3, batch_size=2)["loss"] for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]


def test_epochs_are_counted_on_from_fit_to_fit():
    runner = learner()
    assert runner.fit(X, T, epochs=2)["epoch"] == [1, 2]
    assert runner.fit(X, T, epochs=3)["epoch"] == [3, 4, 5]
    assert runner.epoch == 5
    assert runner.fit(X, T, epochs=0) == []


def test_validation_is_reported_after_each_epoch_as_evaluate_finds_it():
    def largest_error(Y, T):
        return np.abs(Y - T).max()

    runner = learner(metrics=[largest_error])
    history = runner.fit(X, T, epochs=2, validation=(X[:5], T[:5]))
    assert list(history[0]) == ["epoch", "loss", "validation_loss", "validation_largest_error"]
    found = runner.evaluate(X[:5], T[:5])
    assert found == {name: history[-1][f"validation_{name}"] for name in ("loss", "largest_error")}


def test_callbacks_get_each_row_and_true_ends_the_training():
    calls = []

    def stop_at_two(runner, row):
        return row["epoch"] == 2

    def note(runner, row):
        calls.append((runner.epoch, row["loss"]))

    runner = learner()
    history = runner.fit(X, T, epochs=7, callbacks=[stop_at_two, note])
    assert calls == [(1, history[0]["loss"]), (2, history[1]["loss"])]  # who comes later is asked too
    assert runner.epoch == 2


def test_history_gives_columns_and_rows():
    history = learner().fit(X, T, epochs=3)
    assert isinstance(history, History)
    assert history["loss"] == [row["loss"] for row in history]
    assert history[0]["epoch"] == 1
    assert [row["epoch"] for row in history[1:]] == [2, 3]


# Evaluation


def test_evaluate_is_the_mean_over_all_examples_however_many():
    def distance(Y, T):
        return np.abs(Y - T).mean()

    many, targets = RNG.normal(size=(2053, 3)), RNG.normal(size=(2053, 2))  # two full pieces and a short one
    runner = learner(metrics=[distance])
    found, Y = runner.evaluate(many, targets), runner.predict(many)
    assert math.isclose(found["loss"], mse(Y, targets)[0], rel_tol=1e-12)  # rounding
    assert math.isclose(found["distance"], distance(Y, targets), rel_tol=1e-12)


def test_evaluate_and_predict_are_outside_training():
    class Listens(Layer):
        def forward(self, X, training=False):
            assert not training
            return X, lambda dY: dY

    runner = Learner(Listens(), mse, Still())
    assert runner.evaluate(X, X) == {"loss": 0.0}
    assert runner.predict(X) is X


def test_accuracy_is_the_share_of_right_rows():
    Y = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    assert accuracy(Y, np.array([1, 1, 1])) == 2 / 3
    assert accuracy(Y[None], np.array([[1, 0, 1]])) == 1.0  # over steps


def rmse(Y, T):
    return np.sqrt(((Y - T) ** 2).mean())


def test_a_metric_sees_all_examples_at_once():
    many = np.concatenate([np.zeros((1024, 3)), np.ones((1024, 3))])
    runner = learner(metrics=rmse)
    found = runner.evaluate(many, np.zeros((2048, 2)), batch_size=1024)
    assert found["rmse"] == rmse(runner.predict(many), 0.0)
    halves = [rmse(runner.predict(half), 0.0) for half in np.split(many, 2)]
    assert not math.isclose(found["rmse"], sum(halves) / 2)  # the mean of the batches' figures is another


@pytest.mark.parametrize("batch_size", [1, 2, 7, 11])
def test_the_size_of_a_batch_changes_nothing_that_is_predicted_or_evaluated(batch_size):
    runner = learner(metrics=rmse)
    Y, figures = runner.predict(X), runner.evaluate(X, T)
    np.testing.assert_allclose(runner.predict(X, batch_size), Y, rtol=1e-12)  # rounding
    np.testing.assert_allclose(runner.model.predict(X, batch_size=batch_size), Y, rtol=1e-12)
    again = runner.evaluate(X, T, batch_size=batch_size)
    assert list(again) == ["loss", "rmse"]
    np.testing.assert_allclose(list(again.values()), list(figures.values()), rtol=1e-12)


def test_tuples_are_predicted_in_batches_too():
    def swapped(X):
        left, right = X
        return (right, left), lambda dY: dY[::-1]

    left, right = Learner(swapped, mse, Still()).predict((X, T), batch_size=3)
    np.testing.assert_array_equal(left, T)
    np.testing.assert_array_equal(right, X)


def peak(call):
    """Return how many bytes a call needs at most beside those that were there before."""
    call()  # what is made once
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_that_of_a_batch_and_not_that_of_all_examples():
    images, labels = np.zeros((400, 1, 12, 12)), np.zeros(400, dtype=int)
    model = Conv2d(1, 8, padding="same", rng=0) >> ReLU() >> Flatten() >> Linear(8 * 12 * 12, 3, rng=0)
    runner = Learner(model, cross_entropy, SGD(0.1))
    one_batch, whole = peak(lambda: runner.predict(images[:20])), peak(lambda: runner.predict(images))
    assert whole > 10 * one_batch
    assert peak(lambda: runner.predict(images, batch_size=20)) < 2 * one_batch
    assert peak(lambda: runner.evaluate(images, labels, batch_size=20)) < 2 * one_batch


def test_a_metric_may_be_a_partial_or_an_object():
    class Largest:
        def __call__(self, Y, T):
            return Y.max()

    def share_below(Y, T, limit):
        return (np.abs(Y - T) < limit).mean()

    runner = learner(metrics=[functools.partial(share_below, limit=1e9), Largest()])
    assert list(runner.evaluate(X, T)) == ["loss", "share_below", "Largest"]
    assert runner.evaluate(X, T)["share_below"] == 1.0


@pytest.mark.parametrize("T", [np.zeros((5, 3)), np.zeros((5, 1)), np.zeros(4)])
def test_accuracy_wants_one_label_a_row(T):
    with pytest.raises(ShapeError) as caught:
        accuracy(np.zeros((5, 3)), T)
    assert str(caught.value) == (
        f"accuracy compares rows of Y, shape (5, 3), with labels T of shape (5,); got T of shape {T.shape}."
    )


def test_metrics_of_the_same_name_are_refused():
    for metrics in ([accuracy, accuracy], [lambda Y, T: 0, lambda Y, T: 1], [lambda Y, T: 0, mse, mse]):
        with pytest.raises(ValueError, match="two have the same name"):
            learner(metrics=metrics)

    def loss(Y, T):
        return 0.0

    with pytest.raises(ValueError, match="two have the same name"):
        learner(metrics=[loss])


# Bad data


@pytest.mark.parametrize(
    "X, T, error, sentence",
    [
        (X.tolist(), T, TypeError, "expected an array, got list: write np.array(...) around it."),
        (X, T.tolist(), TypeError, "expected an array, got list: write np.array(...) around it."),
        (X.astype(str), T, TypeError, "X holds <U32, not numbers: convert it with X.astype(float)."),
        (X.astype(object), T, TypeError, "X holds object, not numbers: convert it with X.astype(float)."),
        (X, T.astype(object), TypeError, "T holds object, not numbers: convert it with T.astype(float)."),
        (X[:0], T[:0], ShapeError, "X of shape (0, 3) is empty: give at least one example."),
        (X, T[:5], ShapeError, "X holds 7 examples and T holds 5; every example needs one target."),
        (X[0, 0], T, ShapeError, "X has no batch axis: for one example, write X[None]."),
    ],
)
def test_data_that_cannot_be_fitted_are_refused_before_anything_is_changed(X, T, error, sentence):
    good = np.ones((5, 3)), np.ones((5, 2))
    for call in (
        lambda runner: runner.fit(X, T),
        lambda runner: runner.fit(*good, validation=(X, T)),
        lambda runner: runner.evaluate(X, T),
    ):
        runner = learner()
        W, state = runner.model.W.data.copy(), runner.rng.bit_generator.state
        with pytest.raises(error) as caught:
            call(runner)
        assert str(caught.value) == sentence
        np.testing.assert_array_equal(runner.model.W.data, W)
        assert (runner.epoch, runner.optimizer.steps, runner.rng.bit_generator.state) == (0, 0, state)


def test_predict_asks_too():
    with pytest.raises(TypeError, match="expected an array, got list"):
        learner().predict(X.tolist())


@pytest.mark.parametrize("name", ["X", "T"])
def test_nan_is_named_with_its_place(name):
    data = {"X": X.copy(), "T": T.copy()}
    data[name][5, 1] = np.nan
    with pytest.raises(ValueError, match=rf"{name} is not finite in 1 .* the first at \[5, 1\]: nan"):
        learner().fit(**data)


def test_numbers_are_checked_once_a_fit_and_not_once_a_batch(monkeypatch):
    calls = []
    isfinite = np.isfinite
    monkeypatch.setattr(np, "isfinite", lambda *arrays: calls.append(1) or isfinite(*arrays))
    learner().fit(X, T, epochs=3, batch_size=2, validation=(X[:5], T[:5]))
    assert len(calls) == 4  # X and T, and those of the validation
    calls.clear()
    learner().evaluate(X, T)
    assert len(calls) == 2
    calls.clear()
    learner().predict(X, batch_size=2)
    assert len(calls) == 1


def test_a_wrong_label_stops_before_its_step():
    model = Linear(3, 3, rng=0)
    runner = Learner(model, cross_entropy, SGD(0.1), rng=0)
    before = model.W.data.copy()
    with pytest.raises(ValueError, match=re.escape("the label 3 at [")):
        runner.fit(X, LABELS + 1)
    np.testing.assert_array_equal(model.W.data, before)
    assert (runner.epoch, runner.optimizer.steps) == (0, 0)


def test_targets_of_the_wrong_shape_are_refused_by_the_loss():
    with pytest.raises(ShapeError, match=re.escape("mse compares Y of shape (7, 1) with T of shape (7,)")):
        Learner(Linear(3, 1, rng=0), mse, SGD(0.1)).fit(X, T[:, 0])


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_holds_at_least_one_example(batch_size):
    with pytest.raises(ValueError, match=f"batch_size must be an integer of at least 1, got {batch_size}"):
        learner().fit(X, T, batch_size=batch_size)


def test_what_cannot_be_called_is_no_model():
    with pytest.raises(TypeError, match="a layer must be callable"):
        Learner(3, mse, SGD(0.1))


# What stops a fit


def test_a_loss_that_is_not_finite_stops_the_fit_and_names_the_batch():
    runner = Learner(Linear(4, 4, rng=0), mse, SGD(50.0))
    data = np.random.default_rng(0).normal(size=(40, 4))
    with np.errstate(all="ignore"), pytest.raises(ValueError) as caught:
        runner.fit(data, data, epochs=150)
    said = re.fullmatch(
        r"the loss is inf in batch (\d) of epoch (\d+), so no step was taken: lower the learning rate, or .*",
        str(caught.value),
    )
    assert said and int(said[2]) == runner.epoch + 1 < 150
    assert np.isfinite(runner.model.W.data).all() and len(runner.history) == runner.epoch


def test_fit_batch_stops_before_a_step_on_nan():
    runner = learner()
    W, wrong = runner.model.W.data.copy(), np.where(X == X[5, 1], np.nan, X)
    with pytest.raises(ValueError, match="the loss is nan in this batch, so no step was taken"):
        runner.fit_batch(wrong, T)
    runner.model.W.data[...] = np.nan
    with pytest.raises(ValueError, match="the loss is nan in this batch"):
        runner.fit_batch(X, T)
    runner.model.W.data[...] = W
    runner.fit_batch(X, T)
    assert runner.optimizer.steps == 1


class Own:
    """A parameter of a reader's own make."""

    def __init__(self, data):
        self.data, self.grad, self.trainable = np.array(data), np.zeros(len(data)), True


def scaled_by(W):
    return lambda X: (X * W.data, lambda dY: dY)


@pytest.mark.parametrize("model", [Linear(3, 2, rng=0).freeze(), ReLU(), scaled_by(Own([2.0]))])
def test_a_model_that_has_nothing_to_train_is_refused(model):
    with pytest.raises(ValueError, match="has no Parameter to train: keep Parameters as attributes"):
        Learner(model, mse, SGD(0.1)).fit(X, X)


def test_a_half_frozen_model_is_trained():
    model = Linear(3, 3, rng=0).freeze() >> Linear(3, 2, rng=0)
    assert Learner(model, mse, SGD(0.1)).fit(X, T, epochs=20)["loss"][-1] < mse(T, 0 * T)[0] * 2


def test_what_is_frozen_stays_as_it_was_while_the_rest_learns():
    body = Linear(3, 5, rng=0) >> BatchNorm(5) >> Dropout(0.5, rng=0)
    runner = Learner(body.freeze() >> Linear(5, 2, rng=0), mse, SGD(0.1))
    parts = [*body.parameters(), *body.buffers()]
    before, features = [part.data.copy() for part in parts], body(X)[0]
    runner.fit(X, T, epochs=3, batch_size=2)
    for part, data in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.data, data)
    np.testing.assert_array_equal(body(X, training=True)[0], features)  # and its Dropout does not draw


# Settings that are right in more than one form


def test_one_metric_and_one_callback_need_no_list():
    rows = []
    runner = learner(metrics=rmse)
    runner.fit(X, T, epochs=2, callbacks=lambda learner, row: rows.append(row["epoch"]))
    assert rows == [1, 2] and list(runner.evaluate(X, T)) == ["loss", "rmse"]


def test_the_history_goes_on_over_several_fits():
    runner = learner()
    first, second = runner.fit(X, T, epochs=2), runner.fit(X, T, epochs=3)
    assert runner.history == [*first, *second] and runner.history["epoch"] == [1, 2, 3, 4, 5]
    twin = copy.deepcopy(runner)
    twin.fit(X, T)
    assert (len(twin.history), len(runner.history)) == (6, 5)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="the history has no column accuracy: it has epoch, loss"):
        learner().fit(X, T)["accuracy"]


# The runs of the seed documents


def test_a_line_in_ten_dimensions_is_recovered():
    def error_of_the_weights(seed):
        rng = np.random.default_rng(seed)
        X, w = rng.normal(size=(100, 10)), rng.normal(size=(10, 1))
        model = Linear(10, 1, rng=rng)
        Learner(model, mse, SGD(0.05), rng=rng).fit(X, X @ w + 0.5, epochs=20, batch_size=10)
        return np.abs(model.W.data - w).max()

    errors = [error_of_the_weights(seed) for seed in range(11)]
    assert 1e-6 < statistics.median(errors) < 1e-4  # measured: 1e-5


def test_a_product_needs_a_bend():
    def final_loss(model, learning_rate, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 2))
        model.initialize(X, rng=rng)
        T = X[:, :1] * X[:, 1:]
        history = Learner(model, mse, SGD(learning_rate), rng=rng).fit(X, T, epochs=50, batch_size=50)
        return history["loss"][-1] / T.var()

    for seed in range(2):
        assert final_loss(Linear(n_out=1), 0.01, seed) > 0.95  # a plane explains nothing
        assert final_loss(Linear(n_out=10) >> Sigmoid() >> Linear(n_out=1), 0.3, seed) < 0.05


def test_xor_is_learned():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    T = (X[:, :1] != X[:, 1:]).astype(float)
    model = Linear(2, 7, rng=0) >> ReLU() >> Linear(7, 1, rng=0)
    Learner(model, bce_with_logits, SGD(0.5), rng=0).fit(X, T, epochs=300)
    np.testing.assert_array_equal(model.predict(X) > 0, T == 1)


def test_a_layer_exchanged_between_epochs_is_trained_from_then_on():
    fresh = Linear(2, 2, rng=1)
    before = fresh.W.data.copy()

    def exchange(learner, row):
        learner.model.layers[0] = fresh

    runner = Learner(Linear(2, 2, rng=0) >> Linear(2, 1, rng=0), mse, SGD(0.1))
    runner.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, callbacks=[exchange])
    assert not np.array_equal(fresh.W.data, before)


def test_digits_are_read():
    (X, T), validation, (X_test, T_test) = split(*digits(), rng=0)
    model = Linear(64, 128, rng=0) >> ReLU() >> Linear(128, 10, rng=1)
    reader = Learner(model, cross_entropy, SGD(0.1, momentum=0.9), [accuracy], rng=0)
    history = reader.fit(X, T, epochs=20, validation=validation)
    assert history["validation_accuracy"][-1] > 0.96
    assert reader.evaluate(X_test, T_test)["accuracy"] > 0.96  # 270 images: one standard error is 0.01


def test_fit_draws_the_weights_that_nobody_has_drawn_from_a_child_of_its_own_generator():
    X, T = np.random.default_rng(0).normal(size=(20, 3)), np.random.default_rng(1).normal(size=(20, 2))
    model = Linear(n_out=7) >> Dropout(0.5) >> Linear()
    learner = Learner(model, mse, SGD(0.1), rng=5)
    learner.fit(X, T, epochs=3)
    drawn = (Linear(n_out=7) >> Dropout(0.5) >> Linear()).initialize(
        X, T, np.random.default_rng(5).spawn(1)[0]
    )
    by_hand = Learner(drawn, mse, SGD(0.1), rng=5)
    by_hand.fit(X, T, epochs=3)
    for one, other in zip(model.parameters(), drawn.parameters(), strict=True):
        np.testing.assert_array_equal(one.data, other.data)


def test_fit_leaves_weights_that_were_drawn():
    given = Linear(3, 7, rng=0)
    before = given.W.data.copy()
    X, labels = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 4
    model = given >> Linear()
    Learner(model, cross_entropy, SGD(0.1)).fit(X, labels, epochs=0)
    np.testing.assert_array_equal(given.W.data, before)
    assert repr(model.layers[1]) == "Linear(7, 4)"
