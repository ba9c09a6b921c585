"""NumPy or CuPy: arrays decide. That every layer computes the same on both is law 12 of test_contract.py."""

import sys
from copy import deepcopy

import numpy as np
import pytest

from minigrad import (
    SGD,
    Adam,
    Buffer,
    Learner,
    Linear,
    ReLU,
    Residual,
    RMSProp,
    Sequential,
    accuracy,
    array_module,
    cross_entropy,
    load,
    moons,
    save,
    to_device,
    to_numpy,
)
from tests.devices import TRAINED, assert_agree

X, T = moons(53)


def learner(optimizer=None):
    rng = np.random.default_rng(0)
    model = Linear(2, 7, rng=rng) >> ReLU() >> Residual(Linear(7, 7, rng=rng)) >> Linear(7, 2, rng=rng)
    optimizer = optimizer or SGD(0.1, momentum=0.9, weight_decay=0.01)
    return Learner(model, cross_entropy, optimizer, [accuracy], rng=0)


def arrays(model):
    """Return every array of a model: data, buffers, gradients."""
    found = [part.data for part in [*model.parameters(), *model.buffers()]]
    return found + [parameter.grad for parameter in model.parameters()]


def remembered(runner):
    """Return every array that a learner's optimizer remembers, in the order of the parameters."""
    memories = [runner.optimizer.memory[parameter] for parameter in runner.model.parameters()]
    return [array for memory in memories for name, array in memory.items() if name != "steps"]


def test_arrays_decide(cupy):
    here, there = np.zeros(3), cupy.asarray(np.zeros(3))
    assert array_module(here) is array_module() is np
    assert array_module(there) is array_module(here, there) is cupy


def test_to_numpy_brings_an_array_back(cupy):
    here = np.array([1.0, 2.0])
    assert to_numpy(here) is here
    back = to_numpy(cupy.asarray(here))
    assert isinstance(back, np.ndarray) and back is not here
    np.testing.assert_array_equal(back, here)


def test_a_model_moves_with_all_it_has_and_comes_back(cupy):
    runner = learner()
    runner.model.seen = Buffer([7.0])
    runner.fit(X, T)
    before = [array.copy() for array in arrays(runner.model)]
    assert to_device(runner.model, "gpu") is runner.model
    assert {type(array) for array in arrays(runner.model)} == {cupy.ndarray}
    to_device(runner.model, "cpu")
    for array, old in zip(arrays(runner.model), before, strict=True):
        np.testing.assert_array_equal(array, old, strict=True)


def test_moving_to_where_it_is_changes_nothing(cupy):
    layer = Linear(2, 7, rng=0)
    data = layer.W.data
    assert to_device(layer, "cpu").W.data is data


def test_a_whole_run_gives_the_same_numbers(cupy):
    here, there = learner(), learner()
    to_device(there.model, "gpu")
    X_there, T_there = cupy.asarray(X), cupy.asarray(T)
    validation = (X_there[:11], T_there[:11])
    history = here.fit(X, T, epochs=3, validation=(X[:11], T[:11]))
    found = there.fit(X_there, T_there, epochs=3, validation=validation)
    for row, expected in zip(found, history, strict=True):
        assert list(row) == list(expected)
        assert_agree(cupy, map(np.asarray, row.values()), expected.values(), TRAINED)
    assert_agree(cupy, arrays(there.model), arrays(here.model), TRAINED)
    assert_agree(cupy, [there.predict(X_there)], [here.predict(X)], TRAINED)


def test_a_model_sized_by_a_sample_lives_where_the_sample_does(cupy):
    def model():
        return Linear(n_out=7) >> ReLU() >> Sequential(Residual(Linear(n_out=7)), Linear())

    there = model().initialize(cupy.asarray(X), cupy.asarray(T), rng=0)
    here = model().initialize(X, T, rng=0)
    assert {type(array) for array in arrays(there)} == {cupy.ndarray}
    for array, expected in zip(arrays(there), arrays(here), strict=True):
        np.testing.assert_array_equal(to_numpy(array), expected)


def test_a_checkpoint_does_not_care_where_the_model_lives(cupy, tmp_path):
    there = learner()
    to_device(there.model, "gpu")
    there.fit(cupy.asarray(X), cupy.asarray(T))
    save(tmp_path / "run.npz", there)

    here = load(tmp_path / "run.npz", learner())
    assert {type(array) for array in arrays(here.model)} == {np.ndarray}
    back = learner()
    to_device(back.model, "gpu")
    load(tmp_path / "run.npz", back)
    assert {type(array) for array in arrays(back.model)} == {cupy.ndarray}
    for array, expected in zip(arrays(back.model), arrays(here.model), strict=True):
        np.testing.assert_array_equal(to_numpy(array), expected)  # a file does not compute


@pytest.mark.parametrize(
    "optimizer", [None, *(optimizer(0.01) for optimizer in (Adam, RMSProp))], ids=["SGD", "Adam", "RMSProp"]
)
def test_a_model_moved_there_and_back_goes_on_as_if_nothing_had_happened(cupy, optimizer):
    stays, travels = learner(deepcopy(optimizer)), learner(deepcopy(optimizer))
    for runner in (stays, travels):
        runner.fit(X, T, epochs=2)
    to_device(travels.model, "gpu")
    travels.fit(cupy.asarray(X), cupy.asarray(T))
    to_device(travels.model, "cpu")
    stays.fit(X, T)
    for runner in (stays, travels):
        runner.fit(X, T, epochs=2)
    assert {type(array) for array in arrays(travels.model) + remembered(travels)} == {np.ndarray}
    assert_agree(cupy, arrays(travels.model), arrays(stays.model), TRAINED)
    assert_agree(cupy, remembered(travels), remembered(stays), TRAINED)


def test_an_optimizers_memory_follows_its_parameter_at_the_next_step(cupy):
    runner = learner()
    runner.fit(X, T)
    to_device(runner.model, "gpu")
    assert {type(array) for array in remembered(runner)} == {np.ndarray}
    runner.fit(cupy.asarray(X), cupy.asarray(T))
    assert {type(array) for array in remembered(runner)} == {cupy.ndarray}


def test_bad_numbers_and_labels_are_found_there_too(cupy):
    runner = learner()
    to_device(runner.model, "gpu")
    bad = X.copy()
    bad[5, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"X is not finite in 1 of its 106 entries, the first at \[5, 1\]: nan"
    ):
        runner.fit(cupy.asarray(bad), cupy.asarray(T))
    with pytest.raises(ValueError, match="T holds the label 2 at"):
        runner.fit(cupy.asarray(X), cupy.asarray(T + 1))


def test_an_unknown_device_is_refused():
    with pytest.raises(ValueError, match='a device is "cpu" or "gpu", got \'cuda\''):
        to_device(Linear(2, 7, rng=0), "cuda")


def test_without_cupy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # as if it were not installed
    with pytest.raises(ImportError, match="needs CuPy: install cupy-cuda12x"):
        to_device(Linear(2, 7, rng=0), "gpu")
