"""Optimizers: on paper, and against other ways to write the same."""

import math

import numpy as np
import pytest

from minigrad import SGD, Adam, Learner, Linear, Parameter, load, mse, save


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


def test_the_first_step_of_adam_has_the_length_of_the_learning_rate_whatever_the_slope():
    for slope in (10.0, -0.001):
        (found,) = path(Adam(0.1), gradient=lambda x, slope=slope: slope, steps=1)
        np.testing.assert_allclose(found, 3.0 - 0.1 * np.sign(slope), rtol=1e-6)  # eps beside the slope


def test_adam_on_paper():
    # slopes 4 and 1, betas 0.5: means 2, 1.5; squares 8, 4.5; c = 0.5, 0.75: 4 / 4, then 2 / √6
    slopes = iter([4.0, 1.0])
    found = path(Adam(0.1, beta1=0.5, beta2=0.5, eps=1e-12), gradient=lambda x: next(slopes), steps=2)
    np.testing.assert_allclose(found, [2.9, 2.9 - 0.1 * 2.0 / math.sqrt(6.0)], rtol=1e-9)  # eps


def test_adam_averages_all_gradients_with_fading_weights():
    rng, (beta1, beta2, eps) = np.random.default_rng(0), (0.9, 0.999, 1e-8)
    slopes, data, expected = rng.normal(size=30), 3.0, []
    for step in range(1, 31):
        ages = np.arange(step)[::-1]
        mean, square = (
            np.average(values[:step], weights=beta**ages)
            for values, beta in ((slopes, beta1), (slopes**2, beta2))
        )
        data -= 0.01 * mean / (np.sqrt(square) + eps)
        expected.append(data)
    given = iter(slopes)
    found = path(Adam(0.01, beta1, beta2, eps), gradient=lambda x: next(given), steps=30)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_adam_goes_on_from_a_file_as_if_nothing_had_happened(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))

    def learner(seed=0):
        return Learner(Linear(3, 2, rng=seed), mse, Adam(0.05), rng=seed)

    unbroken, broken = learner(), learner()
    losses = unbroken.fit(X, X[:, :2] ** 2, epochs=6)["loss"]
    broken.fit(X, X[:, :2] ** 2, epochs=3)
    save(tmp_path / "run.npz", broken)
    resumed = load(tmp_path / "run.npz", learner(seed=9))
    assert resumed.fit(X, X[:, :2] ** 2, epochs=3)["loss"] == losses[3:]


def test_adam_passes_by_what_is_frozen():
    frozen = Parameter([1.0], trainable=False)
    frozen.grad += 1.0
    Adam(0.1).step([frozen])
    assert frozen.data == 1.0 and frozen.state == {}


def test_a_schedule_is_a_function_of_the_steps_taken():
    asked = []

    def schedule(step):
        asked.append(step)
        return 0.1 / (1 + step)

    optimizer = SGD(schedule)
    np.testing.assert_allclose(path(optimizer), [2.0, 1.5, 1.5 - 1 / 3], **CLOSE)
    assert asked == [0, 1, 2]
    assert optimizer.steps == 3


@pytest.mark.parametrize("make", [SGD, Adam])
def test_a_step_counts_once_however_many_parameters_there_are(make):
    optimizer = make(0.1)
    optimizer.step([Parameter([1.0]), Parameter([1.0])])
    assert optimizer.steps == 1


@pytest.mark.parametrize("optimizer", [SGD(0.5, momentum=0.9), Adam(0.5)])
def test_parameters_are_changed_in_place_and_gradients_are_not(optimizer):
    parameter = Parameter(np.ones((3, 7)))
    data = parameter.data
    parameter.grad += 1.0
    optimizer.step([parameter])
    assert parameter.data is data and (parameter.grad == 1.0).all()
    np.testing.assert_allclose(data, 0.5, rtol=1e-7)  # Adam's eps


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
    Adam(learning_rate).step([parameter])
    assert {parameter.data.dtype, *(array.dtype for array in parameter.state.values())} == {
        np.dtype(np.float32)
    }
    assert set(parameter.state) == {"velocity", "mean", "square"}


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


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"beta1": 1.0}, "beta1 and beta2 must be from 0 to below 1, got 1.0 and 0.999"),
        ({"beta2": -0.1}, "beta1 and beta2 must be from 0 to below 1"),
        ({"beta2": math.nan}, "beta1 and beta2 must be from 0 to below 1"),
        ({"eps": 0.0}, "eps must be positive, got 0.0"),
    ],
)
def test_settings_of_adam_out_of_range_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Adam(**settings)
