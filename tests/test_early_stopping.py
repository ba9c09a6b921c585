"""A callback that ends training when a figure no longer gets better."""

import numpy as np
import pytest

from minigrad import SGD, BatchNorm, EarlyStopping, Learner, Linear, mse

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


@pytest.mark.parametrize("restore", [True, False])
def test_the_weights_and_averages_of_the_best_epoch_are_put_back(restore):
    runner, stop = learner(), EarlyStopping(patience=2, restore_best_weights=restore)
    seen = {}

    def note(learner, row):
        parts = [*learner.model.parameters(), *learner.model.buffers()]
        seen[row["epoch"]] = [part.data.copy() for part in parts]

    def worse_from_the_third(learner, row):
        row["validation_loss"] = abs(row["epoch"] - 3.0)

    runner.fit(X, T, epochs=100, callbacks=[note, worse_from_the_third, stop])
    assert (runner.epoch, stop.best_epoch) == (5, 3)
    parts = [*runner.model.parameters(), *runner.model.buffers()]
    for part, data in zip(parts, seen[3 if restore else 5], strict=True):
        np.testing.assert_array_equal(part.data, data)
    stop.restore(runner)
    np.testing.assert_array_equal(parts[0].data, seen[3][0])


def test_it_watches_the_validation_unless_told_otherwise():
    runner, stop = learner(), EarlyStopping(patience=3)
    history = runner.fit(X, T, epochs=400, validation=(X[:5], -T[:5]), callbacks=stop)
    assert len(history) < 400 and stop.waited == 3
    best = min(history["validation_loss"])
    assert stop.best == best and history["validation_loss"].index(best) + 1 == stop.best_epoch
    assert runner.evaluate(X[:5], -T[:5])["loss"] == best


def test_its_state_goes_on_where_it_was():
    values = [3.0, 2.0, 2.5, 2.5, 2.5]
    unbroken, broken = EarlyStopping("loss", patience=3), EarlyStopping("loss", patience=3)
    told(broken, values[:3])
    resumed = EarlyStopping("loss", patience=3)
    resumed.state = broken.state
    runner = learner(seed=9)
    late = [resumed(runner, {"epoch": epoch, "loss": values[epoch - 1]}) for epoch in (4, 5)]
    assert [False] * 3 + late == told(unbroken, values)
    np.testing.assert_array_equal(runner.model.layers[0].W.data, learner().model.layers[0].W.data)
    assert {name: type(value) for name, value in broken.state.items()} == {
        "best": float, "best_epoch": int, "waited": int, "weights": list
    }  # fmt: skip
