"""The contestants take the same step; whoever does not is found before anything is timed."""

import importlib.util
from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks import comparison, with_numpy
from benchmarks.child import burst, make
from benchmarks.workloads import WORKLOADS, start

# Three workloads are narrowed here: their twenty steps take seconds, and the benchmark itself asserts them.
NARROW = {
    **WORKLOADS,
    "W4": replace(WORKLOADS["W4"], sizes=(67, 257, 61), batch=31),
    "W5": replace(WORKLOADS["W5"], sizes=(2, 3, 5, 7), batch=11),
    "W6": replace(WORKLOADS["W6"], sizes=(61, 48, 48, 61), batch=5, steps=17, heads=3),
}
DOUBTERS = {"minigrad": "with_minigrad:step", "torch": "with_torch:eager", "torch_best": "with_torch:best"}


def losses(step):
    """Return the losses before the first step, and after twenty."""
    return burst(step, 1)["last"], burst(step, comparison.STEPS)["last"]


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("doubter", DOUBTERS)
def test_the_losses_agree_after_twenty_steps(name, doubter):
    if "torch" in doubter and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: it belongs to the extra bench, which no test needs")
    arguments = {"workload": asdict(NARROW[name])}
    told = {
        "numpy": losses(make("with_numpy:step", arguments)),
        doubter: losses(make(DOUBTERS[doubter], arguments)),
    }
    first, last = ({who: pair[place] for who, pair in told.items()} for place in (0, 1))
    comparison.require_agreement(first, last)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_learning_rate_that_is_wrong_by_one_percent_is_found(name):
    workload = NARROW[name]
    wrong = replace(workload, learning_rate=1.01 * workload.learning_rate)
    told = {"numpy": losses(with_numpy.step(workload)), "minigrad": losses(with_numpy.step(wrong))}
    first, last = ({who: pair[place] for who, pair in told.items()} for place in (0, 1))
    with pytest.raises(comparison.Disagreement, match="after 20 steps the loss of minigrad"):
        comparison.require_agreement(first, last)


def test_other_first_weights_are_found():
    with pytest.raises(comparison.Disagreement, match="at the start the loss of torch is 2.5"):
        comparison.require_agreement({"numpy": 2.0, "torch": 2.5}, {"numpy": 1.0, "torch": 1.0})


@pytest.mark.parametrize("last", [2.0, np.nan])
def test_a_loss_that_does_not_move_proves_nothing(last):
    with pytest.raises(comparison.Disagreement, match="hardly moved"):
        comparison.require_agreement({"numpy": 2.0, "products": None}, {"numpy": last, "products": None})


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_contestant_is_given_the_same_start_in_the_workload_s_type(name):
    (X, T, weights), again = start(NARROW[name]), start(NARROW[name])
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(T, again[1])
    for arrays, same in zip(weights, again[2], strict=True):
        for W, same_W in zip(arrays, same, strict=True):
            np.testing.assert_array_equal(W, same_W)
            assert W.dtype == NARROW[name].dtype and X.dtype in (W.dtype, int)  # tokens are integers
            assert W is not same_W


def test_raw_numpy_stays_in_the_type_of_its_weights():
    workload = WORKLOADS["W2 Adam"]
    assert with_numpy.step(workload)().dtype == np.float32
    assert with_numpy.step(replace(workload, dtype="float64"))().dtype == np.float64


def test_an_epoch_sees_every_example_once():
    workload = replace(WORKLOADS["W2 SGD"], batch=7)
    go = make("with_minigrad:epoch", {"workload": asdict(workload), "examples": 23})
    assert go() > go() > 0
