"""A callback that ends training when a figure no longer gets better."""

import numpy as np
import pytest

from minigrad import SGD, BatchNorm, EarlyStopping, Learner, Linear, load, mse, save

RNG = np.random.default_rng(0)
X, T = RNG.normal(size=(20, 3)), RNG.normal(size=(20, 2))


def learner(seed=0):
    return Learner(Linear(3, 3, rng=seed) >> BatchNorm(3) >> Linear(3, 2, rng=seed), mse, SGD(0.05), rng=seed)


def told(stop, values, runner=None):
    """Show figures one after the other, as fit would, and return what the callback says to each."""
    runner = runner or learner()
    return [stop(runner, {"epoch": epoch, "loss": value}) for epoch, value in enumerate(values, start=1)]


def test_it_waits_for_its_patience_and_no_longer():
    stop = EarlyStopping("loss", patience=2)
    assert told(stop, [3.0, 2.0, 2.5, 2.0]) == [False, False, False, True]
    assert (stop.best, stop.best_epoch, stop.waited) == (2.0, 2, 2)


def test_a_better_figure_begins_the_waiting_anew():
    assert told(EarlyStopping("loss", patience=2), [3.0, 4.0, 2.0, 4.0, 1.0, 4.0, 4.0]) == [False] * 6 + [
        True
    ]


def test_a_gain_below_min_delta_is_none():
    assert told(EarlyStopping("loss", patience=1, min_delta=0.5), [3.0, 2.4, 2.0]) == [False, False, True]


def test_the_most_may_be_the_best():
    stop = EarlyStopping("loss", patience=1, mode="max")
    assert told(stop, [0.5, 0.75, 0.7]) == [False, False, True] and stop.best == 0.75


def test_nan_is_never_better():
    assert told(EarlyStopping("loss", patience=2), [1.0, float("nan"), float("nan")]) == [False, False, True]


@pytest.mark.parametrize("mode", ["min", "max"])
def test_a_nan_in_the_first_epoch_is_beaten_by_any_number(mode):
    stop = EarlyStopping("loss", patience=2, mode=mode)
    assert told(stop, [float("nan"), 3.0, 3.0, 3.0]) == [False, False, False, True]
    assert (stop.best, stop.best_epoch) == (3.0, 2)


def test_nan_alone_ends_the_training_and_leaves_the_weights():
    runner, stop = learner(), EarlyStopping("loss", patience=2)
    before = runner.model.layers[0].W.data.copy()
    assert told(stop, [float("nan"), float("nan")], runner) == [False, True]
    np.testing.assert_array_equal(runner.model.layers[0].W.data, before)


def test_the_weights_and_averages_of_the_best_epoch_are_put_back():
    runner, stop = learner(), EarlyStopping(patience=2)
    seen = {}

    def note(learner, row):
        parts = [*learner.model.parameters(), *learner.model.buffers()]
        seen[row["epoch"]] = [part.data.copy() for part in parts]

    def worse_from_the_third(learner, row):
        row["validation_loss"] = abs(row["epoch"] - 3.0)

    runner.fit(X, T, epochs=100, callbacks=[note, worse_from_the_third, stop])
    assert (runner.epoch, stop.best_epoch) == (5, 3)
    parts = [*runner.model.parameters(), *runner.model.buffers()]
    for part, data in zip(parts, seen[3], strict=True):
        np.testing.assert_array_equal(part.data, data)
    parts[0].data += 1.0
    stop.restore(runner)
    np.testing.assert_array_equal(parts[0].data, seen[3][0])


def test_it_watches_the_validation_unless_told_otherwise():
    runner, stop = learner(), EarlyStopping(patience=3)
    history = runner.fit(X, T, epochs=400, validation=(X[:5], -T[:5]), callbacks=stop)
    assert len(history) < 400 and stop.waited == 3
    best = min(history["validation_loss"])
    assert stop.best == best and history["validation_loss"].index(best) + 1 == stop.best_epoch
    assert runner.evaluate(X[:5], -T[:5])["loss"] == best


def test_a_resumed_run_remembers_what_it_was_waiting_for(tmp_path):
    def run(seed=0):
        return {"learner": learner(seed), "stop": EarlyStopping(patience=4, min_delta=0.01)}

    def fit(learner, stop, epochs):
        return learner.fit(X, T, epochs, validation=(X[:5], -T[:5]), callbacks=stop)

    unbroken, broken, resumed = run(), run(), run(seed=9)
    fit(**unbroken, epochs=400)
    for pause in range(1, unbroken["learner"].epoch):
        fit(**broken, epochs=1)
        load(save_to(tmp_path / f"{pause}.npz", broken), resumed)
        assert resumed["stop"].progress == broken["stop"].progress
    assert resumed["stop"].waited == 3 and resumed["stop"].best_epoch < pause
    fit(**resumed, epochs=400)
    assert resumed["learner"].history == unbroken["learner"].history
    models = [one["learner"].model for one in (resumed, unbroken)]
    for found, expected in zip(*([*m.parameters(), *m.buffers()] for m in models), strict=True):
        np.testing.assert_array_equal(found.data, expected.data)


def save_to(path, thing):
    save(path, thing)
    return path


def test_progress_that_cannot_be_is_refused():
    stop = EarlyStopping("loss")
    stop.progress = {"best": None, "best_epoch": 3, "waited": 1}
    for wrong in ({"best": "1.0"}, {"best_epoch": -1}, {"waited": 2.5}):
        with pytest.raises((TypeError, ValueError), match=f"{list(wrong)[0]} of EarlyStopping must be"):
            stop.progress = stop.progress | wrong
    assert stop.progress == {"best": None, "best_epoch": 3, "waited": 1}
