"""Optimizers: on paper, and against other ways to write the same."""

import math

import numpy as np
import pytest

from course import stand_in
from minigrad import (
    SGD,
    Adam,
    AdamW,
    Learner,
    Linear,
    Parameter,
    RMSProp,
    clip_grad_norm,
    cosine,
    load,
    mse,
    save,
    to_device,
)


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
    found = path(SGD(0.05 / (1 - momentum), momentum=momentum, average=True), gradient=bowl, steps=20)
    np.testing.assert_allclose(found, averaged, rtol=1e-9)


@pytest.mark.parametrize("nesterov", [False, True])
def test_the_average_takes_a_share_of_the_gradient_and_of_the_pull_towards_zero(nesterov):
    settings = {"momentum": 0.5, "nesterov": nesterov, "weight_decay": 0.1}
    as_sum, as_average = path(SGD(0.1, **settings)), path(SGD(0.2, average=True, **settings))
    np.testing.assert_allclose(as_average, as_sum, **CLOSE)


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


def test_rmsprop_on_paper():
    # squares 0.75 · 16 = 12, 0.25 · 12 + 0.75 · 4 = 6
    slopes = iter([4.0, 2.0])
    found = path(RMSProp(0.1, decay=0.25, eps=1e-12), gradient=lambda x: next(slopes), steps=2)
    first = 3.0 - 0.1 * 4.0 / math.sqrt(12.0)
    np.testing.assert_allclose(found, [first, first - 0.1 * 2.0 / math.sqrt(6.0)], rtol=1e-9)  # eps


def test_adam_without_its_first_mean_is_rmsprop_up_to_the_correction():
    def corrected(step):
        return 0.01 * math.sqrt(1.0 - 0.9 ** (step + 1))  # √(square / c2) is √square / √c2

    def bowl(x):
        return 2.0 * x + 1.0

    adam = path(Adam(0.01, beta1=0.0, beta2=0.9, eps=1e-15), gradient=bowl, steps=20)
    rmsprop = path(RMSProp(corrected, decay=0.9, eps=1e-15), gradient=bowl, steps=20)
    np.testing.assert_allclose(adam, rmsprop, rtol=1e-10)
    assert not np.allclose(adam, path(RMSProp(0.01, decay=0.9, eps=1e-15), gradient=bowl, steps=20))


def test_adamw_decays_weights_whatever_their_slope():
    # without a gradient 3, 3 · 0.95, 3 · 0.95²; and beside a gradient the decay does not go through the means
    np.testing.assert_allclose(
        path(AdamW(0.1, weight_decay=0.5), gradient=lambda x: 0.0, steps=2), [2.85, 2.7075], **CLOSE
    )
    (found,) = path(AdamW(0.1, weight_decay=0.5), steps=1)
    np.testing.assert_allclose(found, 2.85 - 0.1, rtol=1e-7)
    assert path(AdamW(0.1, weight_decay=0.0)) == path(Adam(0.1))


def test_adamw_asks_a_schedule_for_the_rate_of_the_same_step():
    found = path(AdamW(lambda step: (0.1, 0.2)[step], weight_decay=0.5), gradient=lambda x: 0.0, steps=2)
    np.testing.assert_allclose(found, [2.85, 2.85 * 0.9], **CLOSE)


def test_clipping_keeps_the_direction_and_a_short_gradient():
    W, b = Parameter(np.zeros((2, 2))), Parameter(np.zeros(2))
    for parameter in (W, b):
        parameter.grad += 3.0
    length = math.sqrt(6 * 9.0)
    assert clip_grad_norm([W, b], 100.0) == pytest.approx(length) and (W.grad == 3.0).all()
    assert clip_grad_norm([W, b], 1.0) == pytest.approx(length)
    np.testing.assert_allclose(np.concatenate([W.grad.ravel(), b.grad]), 1 / math.sqrt(6.0), **CLOSE)


def test_clipping_passes_frozen_parameters_by():
    W, frozen = Parameter([0.0]), Parameter([0.0], trainable=False)
    W.grad += 2.0
    frozen.grad += 100.0
    assert clip_grad_norm([W, frozen], 1.0) == 2.0
    assert W.grad == 1.0 and frozen.grad == 100.0


def test_a_momentum_that_is_set_later_is_remembered_from_then_on():
    later, always = Parameter([3.0]), Parameter([3.0])
    optimizer, other = SGD(0.1), SGD(0.1, momentum=0.5)
    optimizer.momentum = 0.5
    for parameter, chosen in ((later, optimizer), (always, other)):
        parameter.grad += 1.0
        chosen.step([parameter])
        chosen.step([parameter])
    assert later.data == always.data


def test_clipping_refuses_what_cannot_be_clipped():
    W = Parameter([1.0])
    with pytest.raises(ValueError, match="max_norm must be a finite number above 0, got 0"):
        clip_grad_norm([W], 0)
    W.grad += math.nan
    with pytest.raises(ValueError, match="the norm of the gradients is nan: look for nan"):
        clip_grad_norm([W], 1.0)


def test_cosine_rises_falls_and_stays():
    schedule = cosine(2.0, steps=8, warmup=4)
    np.testing.assert_allclose([schedule(step) for step in range(5)], [0.5, 1.0, 1.5, 2.0, 2.0], **CLOSE)
    assert schedule(6) == pytest.approx(1.0) and schedule(8) == schedule(100) == 0.0
    with pytest.raises(ValueError, match="warmup of cosine must be below steps, got 8 and 8"):
        cosine(2.0, steps=8, warmup=8)


@pytest.mark.parametrize("make", [Adam, AdamW, RMSProp])
def test_a_run_goes_on_from_a_file_as_if_nothing_had_happened(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))

    def learner(seed=0):
        return Learner(Linear(3, 2, rng=seed), mse, make(0.05), rng=seed)

    unbroken, broken = learner(), learner()
    losses = unbroken.fit(X, X[:, :2] ** 2, epochs=6)["loss"]
    broken.fit(X, X[:, :2] ** 2, epochs=3)
    save(tmp_path / "run.npz", broken)
    resumed = load(tmp_path / "run.npz", learner(seed=9))
    assert resumed.fit(X, X[:, :2] ** 2, epochs=3)["loss"] == losses[3:]


@pytest.mark.parametrize("make", [SGD, Adam, AdamW, RMSProp])
def test_what_is_frozen_is_passed_by(make):
    frozen = Parameter([1.0], trainable=False)
    frozen.grad += 1.0
    optimizer = make(0.1)
    optimizer.step([frozen])
    assert frozen.data == 1.0 and optimizer.memory == {}


def test_a_schedule_is_a_function_of_the_steps_taken():
    asked = []

    def schedule(step):
        asked.append(step)
        return 0.1 / (1 + step)

    optimizer = SGD(schedule)
    np.testing.assert_allclose(path(optimizer), [2.0, 1.5, 1.5 - 1 / 3], **CLOSE)
    assert asked == [0, 1, 2]
    assert optimizer.steps == 3


@pytest.mark.parametrize("make", [SGD, Adam, AdamW, RMSProp])
def test_a_step_counts_once_however_many_parameters_there_are(make):
    optimizer = make(0.1)
    optimizer.step([Parameter([1.0]), Parameter([1.0])])
    assert optimizer.steps == 1


@pytest.mark.parametrize("optimizer", [SGD(0.5, momentum=0.9), Adam(0.5), RMSProp(0.5, decay=0.0)])
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
    optimizer = SGD(0.1, momentum=0.9)
    optimizer.step([one, other])
    assert optimizer.memory[one]["velocity"] == 1.0
    assert optimizer.memory[other]["velocity"] == 0.0


@pytest.mark.parametrize("learning_rate", [0.1, np.float64(0.1), lambda step: np.float64(0.1)])
def test_float32_stays_float32(learning_rate):
    parameter = Parameter(np.ones(3, dtype=np.float32))
    parameter.grad += 1.0
    optimizers = [SGD(learning_rate, momentum=0.9, nesterov=True, weight_decay=0.1)]
    optimizers += [make(learning_rate) for make in (Adam, AdamW, RMSProp)]
    remembered = {}
    for optimizer in optimizers:
        optimizer.step([parameter])
        remembered |= optimizer.memory[parameter]
    clip_grad_norm([parameter], 0.1)
    del remembered["steps"]
    kept = [parameter.grad, parameter.data, *remembered.values()]
    assert {array.dtype for array in kept} == {np.dtype(np.float32)}
    assert set(remembered) == {"velocity", "mean", "square"}


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"learning_rate": 0.0}, "learning_rate must be a finite number above 0, got 0.0"),
        ({"learning_rate": -1.0}, "learning_rate must be a finite number above 0, got"),
        ({"learning_rate": math.nan}, "learning_rate must be a finite number above 0, got"),
        ({"momentum": 1.0}, "momentum must be a finite number of at least 0 and below 1, got 1.0"),
        ({"momentum": -0.1}, "momentum must be a finite number of at least 0 and below 1, got"),
        ({"momentum": math.nan}, "momentum must be a finite number of at least 0 and below 1, got"),
        ({"nesterov": True}, "nesterov and average need a velocity: set momentum above 0"),
        ({"average": True}, "nesterov and average need a velocity: set momentum above 0"),
        ({"weight_decay": -0.1}, "weight_decay must be a finite number of at least 0, got -0.1"),
        ({"weight_decay": math.nan}, "weight_decay must be a finite number of at least 0, got"),
    ],
)
def test_settings_out_of_range_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        SGD(**settings)


@pytest.mark.parametrize(
    "make, settings, sentence",
    [
        (Adam, {"learning_rate": 0.0}, "learning_rate must be a finite number above 0, got"),
        (Adam, {"beta1": 1.0}, "beta1 must be a finite number of at least 0 and below 1, got 1.0"),
        (Adam, {"beta2": -0.1}, "beta2 must be a finite number of at least 0 and below 1, got -0.1"),
        (Adam, {"beta2": math.nan}, "beta2 must be a finite number of at least 0 and below 1, got nan"),
        (Adam, {"eps": 0.0}, "eps must be a finite number above 0, got 0.0"),
        (AdamW, {"weight_decay": -0.1}, "weight_decay must be a finite number of at least 0, got -0.1"),
        (AdamW, {"beta1": 1.0}, "beta1 must be a finite number of at least 0 and below 1, got 1.0"),
        (RMSProp, {"learning_rate": -1.0}, "learning_rate must be a finite number above 0, got"),
        (RMSProp, {"decay": 1.0}, "decay must be a finite number of at least 0 and below 1, got 1.0"),
        (RMSProp, {"eps": math.nan}, "eps must be a finite number above 0, got nan"),
    ],
)
def test_settings_out_of_range_are_refused_by_all(make, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**settings)


@pytest.mark.parametrize("make", [SGD, Adam, AdamW, RMSProp])
def test_a_parameter_that_is_listed_twice_is_changed_once(make):
    once, twice = Parameter([3.0]), Parameter([3.0])
    for parameter, listed in ((once, [once]), (twice, [twice, twice])):
        parameter.grad += 1.0
        make(0.5).step(listed)
    assert once.data == twice.data
    assert clip_grad_norm([once, once], 5.0) == 1.0


CALLS_OF_A_STEP = [(SGD, 4), (Adam, 30)]


@pytest.mark.parametrize(("make", "most"), CALLS_OF_A_STEP)
def test_a_step_makes_few_calls_on_a_device(make, most):
    layer, optimizer = Linear(2048, 2048, rng=0), make(0.1)
    with stand_in() as cupy:
        to_device(layer, "gpu")
        optimizer.step(layer.parameters())  # the first makes its memory
        cupy.calls.clear()
        optimizer.step(layer.parameters())
        assert 0 < cupy.calls.total() <= most


@pytest.mark.parametrize("rate", [-1.0, 0.0, math.nan, "fast"])
def test_a_learning_rate_that_is_set_later_is_asked_at_the_next_step(rate):
    W, optimizer = Parameter([1.0]), SGD(0.1)
    optimizer.learning_rate = rate
    with pytest.raises((ValueError, TypeError), match="learning_rate must be a finite number above 0, got"):
        optimizer.step([W])
