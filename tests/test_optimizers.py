"""SGD: on paper, and against the other way to write momentum."""

import math

import numpy as np
import pytest

from minigrad import SGD, Parameter


def path(optimizer, gradient=lambda x: 10.0, steps=3, start=3.0):
    """Return where a single number goes: the data after each step."""
    parameter = Parameter([start])
    found = []
    for _ in range(steps):
        parameter.zero_grad()
        parameter.grad += gradient(parameter.data)
        optimizer.step([parameter])
        found.append(float(parameter.data[0]))
    return found


CLOSE = {"rtol": 1e-12}  # rounding of a few steps


def test_plain_steps_on_paper():
    np.testing.assert_allclose(path(SGD(0.1)), [2.0, 1.0, 0.0], atol=1e-15)


def test_momentum_on_paper():
    # v: 10, 0.5 · 10 + 10 = 15, 0.5 · 15 + 10 = 17.5
    np.testing.assert_allclose(path(SGD(0.1, momentum=0.5)), [2.0, 0.5, -1.25], **CLOSE)


def test_nesterov_on_paper():
    # grad + 0.5 v: 10 + 5, 10 + 7.5, 10 + 8.75
    np.testing.assert_allclose(path(SGD(0.1, momentum=0.5, nesterov=True)), [1.5, -0.25, -2.125], **CLOSE)


def test_weight_decay_on_paper():
    # 10 + 2 · 3 = 16, then 10 + 2 · 1.4 = 12.8
    np.testing.assert_allclose(path(SGD(0.1, weight_decay=2.0), steps=2), [1.4, 0.12], **CLOSE)


def test_weight_decay_joins_the_velocity():
    # v: 16, 0.5 · 16 + 10 + 2 · 1.4 = 20.8
    found = path(SGD(0.1, momentum=0.5, weight_decay=2.0), steps=2)
    np.testing.assert_allclose(found, [1.4, -0.68], **CLOSE)


def test_weight_decay_leaves_the_gradient_alone():
    parameter = Parameter([3.0])
    parameter.grad += 10.0
    SGD(0.1, weight_decay=2.0).step([parameter])
    assert parameter.grad == 10.0


@pytest.mark.parametrize("momentum", [0.5, 0.9, 0.99])
def test_momentum_is_the_moving_average_up_to_a_factor_of_the_learning_rate(momentum):
    def bowl(x):
        return 2.0 * x + 1.0

    data, average, averaged = 3.0, 0.0, []
    for _ in range(20):
        average = momentum * average + (1 - momentum) * bowl(data)
        data -= 0.05 / (1 - momentum) * average
        averaged.append(data)
    found = path(SGD(0.05, momentum=momentum), gradient=bowl, steps=20)
    np.testing.assert_allclose(found, averaged, rtol=1e-9)  # twenty steps of rounding, on a curve that swings


def test_a_schedule_is_a_function_of_the_steps_taken():
    asked = []

    def schedule(step):
        asked.append(step)
        return 0.1 / (1 + step)

    optimizer = SGD(schedule)
    np.testing.assert_allclose(path(optimizer), [2.0, 1.5, 1.5 - 1 / 3], **CLOSE)
    assert asked == [0, 1, 2]
    assert optimizer.steps == 3


def test_a_step_counts_once_however_many_parameters_there_are():
    optimizer = SGD(0.1)
    optimizer.step([Parameter([1.0]), Parameter([1.0])])
    assert optimizer.steps == 1


def test_parameters_are_changed_in_place():
    parameter = Parameter(np.ones((3, 7)))
    data = parameter.data
    parameter.grad += 1.0
    SGD(0.5, momentum=0.9).step([parameter])
    assert parameter.data is data
    assert (data == 0.5).all()


def test_each_parameter_has_its_own_velocity():
    one, other = Parameter([0.0]), Parameter([0.0])
    one.grad += 1.0
    SGD(0.1, momentum=0.9).step([one, other])
    assert one.state["velocity"] == 1.0
    assert other.state["velocity"] == 0.0


@pytest.mark.parametrize("learning_rate", [0.1, np.float64(0.1), lambda step: np.float64(0.1)])
def test_float32_stays_float32(learning_rate):
    parameter = Parameter(np.ones(3, dtype=np.float32))
    parameter.grad += 1.0
    SGD(learning_rate, momentum=0.9, nesterov=True, weight_decay=0.1).step([parameter])
    assert parameter.data.dtype == parameter.state["velocity"].dtype == np.float32


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"learning_rate": 0.0}, "learning_rate must be positive, or a function of steps; got 0.0"),
        ({"learning_rate": -1.0}, "learning_rate must be positive"),
        ({"learning_rate": math.nan}, "learning_rate must be positive"),
        ({"momentum": 1.0}, "momentum must be from 0 to below 1, got 1.0"),
        ({"momentum": -0.1}, "momentum must be from 0 to below 1"),
        ({"momentum": math.nan}, "momentum must be from 0 to below 1"),
        ({"nesterov": True}, "nesterov looks ahead along the velocity, so it needs a momentum above 0"),
        ({"weight_decay": -0.1}, "weight_decay must not be negative, got -0.1"),
        ({"weight_decay": math.nan}, "weight_decay must not be negative"),
    ],
)
def test_settings_out_of_range_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        SGD(**settings)
