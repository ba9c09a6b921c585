"""What an optimizer remembers belongs to it and to one parameter: every first step is a first step."""

import copy

import numpy as np
import pytest

from course import stand_in
from minigrad import SGD, Adam, AdamW, Learner, Linear, Parameter, RMSProp, Tanh, digits, mse, to_device

# A constant gradient of any size: the length of a first step is known by heart.
FIRST_STEP = {
    "SGD with momentum": (lambda: SGD(0.1, momentum=0.9), 0.1),
    "Nesterov": (lambda: SGD(0.1, momentum=0.9, nesterov=True), 0.19),  # gradient + 0.9 · velocity
    "RMSProp": (lambda: RMSProp(0.1, decay=0.75), 0.2),  # 1 / √0.25
    "Adam": (lambda: Adam(0.1), 0.1),
    "AdamW": (lambda: AdamW(0.1, weight_decay=0.0), 0.1),
}
KINDS = pytest.mark.parametrize(("make", "length"), FIRST_STEP.values(), ids=FIRST_STEP)


def step_length(optimizer, parameter):
    """Return how far a parameter moves in one step along a gradient of 1."""
    before = parameter.data.copy()
    parameter.grad[...] = 1.0
    optimizer.step([parameter])
    return float((before - parameter.data)[0])


def trained(steps=20, kind=Adam):
    """Return a parameter that another optimizer has changed many times."""
    parameter, optimizer = Parameter([3.0]), kind(0.01)
    for _ in range(steps):
        step_length(optimizer, parameter)
    return parameter


@KINDS
@pytest.mark.parametrize("other", [SGD, RMSProp, Adam, AdamW])
def test_a_fresh_optimizer_takes_a_first_step_whoever_trained_before(make, length, other):
    assert step_length(make(), trained(kind=other)) == pytest.approx(length, rel=1e-6)


@KINDS
def test_a_cell_that_makes_the_optimizer_again_begins_anew(make, length):
    parameter = Parameter([3.0])
    for _ in range(2):  # the cell, run twice
        optimizer = make()
        assert step_length(optimizer, parameter) == pytest.approx(length, rel=1e-6)
        for _ in range(10):
            step_length(optimizer, parameter)


@KINDS
def test_a_parameter_unfrozen_after_a_thousand_steps_takes_a_first_step(make, length):
    optimizer, always, later = make(), Parameter([3.0]), Parameter([3.0], trainable=False)
    for _ in range(1000):
        for parameter in (always, later):
            parameter.grad[...] = 1.0
        optimizer.step([always, later])
    assert later.data == 3.0 and later not in optimizer.memory
    later.trainable = True
    assert step_length(optimizer, later) == pytest.approx(length, rel=1e-6)


@KINDS
def test_two_optimizers_on_one_parameter_keep_their_memories_apart(make, length):
    gradients = np.random.default_rng(0).normal(size=(2, 30))
    together, apart = Parameter([3.0]), [Parameter([3.0]), Parameter([3.0])]
    sharing, alone = [make(), make()], [make(), make()]
    for both in gradients.T:
        moved = 0.0
        for place, gradient in enumerate(both):
            for optimizer, parameter in ((sharing[place], together), (alone[place], apart[place])):
                before = parameter.data.copy()
                parameter.grad[...] = gradient
                optimizer.step([parameter])
                moved += (parameter.data - before) * (1 if parameter is together else -1)
        assert np.abs(moved) < 1e-14  # each optimizer moved it as if it were alone
    assert together not in alone[0].memory and apart[0] not in sharing[0].memory


def learner(make, rng=0):
    return Learner(Linear(64, 5, rng=rng) >> Tanh() >> Linear(5, 64, rng=rng), mse, make())


@KINDS
def test_a_copy_of_a_learner_goes_on_alone_and_alike(make, length):
    X, _ = digits()
    first = learner(make)
    first.fit(X[:100], X[:100])
    second = copy.deepcopy(first)
    assert set(second.optimizer.memory) == set(second.model.parameters())
    for one in (first, second):
        one.fit(X[:100], X[:100], epochs=2)
    for p, q in zip(first.model.parameters(), second.model.parameters(), strict=True):
        np.testing.assert_array_equal(p.data, q.data)


@KINDS
def test_the_memory_follows_its_parameter_to_another_type(make, length):
    X, _ = digits()
    first = learner(make)
    first.fit(X[:100], X[:100], epochs=3)
    twin = copy.deepcopy(first)
    first.model.to(np.float32)
    first.fit(X[:100].astype(np.float32), X[:100].astype(np.float32))
    twin.fit(X[:100], X[:100])
    for p, q in zip(first.model.parameters(), twin.model.parameters(), strict=True):
        assert p.data.dtype == p.grad.dtype == np.float32
        np.testing.assert_allclose(p.data, q.data, atol=1e-4)  # and not as far as a first step: 0.1
        kept = first.optimizer.memory.get(p, {})
        assert {array.dtype for name, array in kept.items() if name != "steps"} <= {np.dtype(np.float32)}


@KINDS
def test_the_memory_follows_its_parameter_to_another_device(make, length):
    layer, optimizer = Linear(2, 1, rng=0), make()
    for _ in range(3):
        layer.W.grad[...] = 1.0
        optimizer.step([layer.W])
    twin, twins_optimizer = copy.deepcopy((layer, optimizer))
    with stand_in():
        to_device(layer, "gpu")
        for parameter, chosen in ((layer.W, optimizer), (twin.W, twins_optimizer)):
            parameter.grad[...] = 1.0
            chosen.step([parameter])
        to_device(layer, "cpu")
    np.testing.assert_array_equal(layer.W.data, twin.W.data)


@KINDS
def test_a_parameter_of_a_single_number_learns_too(make, length):
    row, number = Parameter([3.0]), Parameter(3.0)
    optimizer = make()
    for _ in range(3):
        for parameter in (row, number):
            parameter.grad[...] = 1.0
        optimizer.step([row, number])
    assert number.shape == () and number.data == row.data[0]


@KINDS
def test_each_parameter_counts_its_own_steps(make, length):
    optimizer, always, later = make(), Parameter([3.0]), Parameter([3.0], trainable=False)
    for trainable in (False, False, True):
        later.trainable = trainable
        optimizer.step([always, later])
    assert [optimizer.memory[parameter]["steps"] for parameter in (always, later)] == [3, 1]
