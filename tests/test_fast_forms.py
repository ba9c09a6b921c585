"""Gradients add up, optimizers change each Parameter by itself, and what is quick gives the same."""

from copy import deepcopy

import numpy as np
import pytest

from minigrad import LSTM, SGD, Adam, AdamW, Conv2d, Learner, Linear, Parameter, RMSProp, mse


def filled(shape=(3, 5), rng=0):
    return np.random.default_rng(rng).normal(size=shape)


KINDS = {
    "SGD": lambda: SGD(0.1),
    "momentum": lambda: SGD(0.1, momentum=0.9, weight_decay=0.1),
    "decay": lambda: SGD(0.1, weight_decay=0.1),
    "nesterov": lambda: SGD(0.1, momentum=0.9, nesterov=True),
    "RMSProp": lambda: RMSProp(0.1),
    "Adam": lambda: Adam(0.1),
    "AdamW": lambda: AdamW(0.1),
}
EVERY_KIND = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@pytest.mark.parametrize(
    ("layer", "X"),
    [
        (Linear(4, 3, rng=0), filled((5, 4))),
        (Conv2d(2, 3, 2, rng=0), filled((3, 2, 4, 5))),
        (LSTM(4, 3, rng=0), filled((2, 5, 4))),
    ],
    ids=str,
)
def test_two_passes_add_up(layer, X):
    Y, backward = layer(X)
    backward(np.ones_like(Y))
    once = [parameter.grad.copy() for parameter in layer.parameters()]
    backward(np.ones_like(Y))
    for parameter, gradient in zip(layer.parameters(), once, strict=True):
        np.testing.assert_array_equal(parameter.grad, 2 * gradient)


def small_parameters():
    """Parameters of several shapes, types and layouts."""
    arrays = [
        filled((3, 5)),
        filled((7,), rng=1),
        filled((), rng=2),
        np.asfortranarray(filled((2, 3), rng=3)),
    ]
    return [Parameter(array) for array in [*arrays, *(array.astype(np.float32) for array in arrays)]]


def step_each(optimizers, parameters, step):
    """Give every parameter the gradient of this step, and take one step with each pair."""
    for place, parameter in enumerate(parameters):
        parameter.grad[...] = filled(parameter.shape, rng=100 * step + place)
    for optimizer, own in optimizers:
        optimizer.step(own)


def assert_same(ours, theirs):
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(p.data, q.data, strict=True)


@EVERY_KIND
def test_parameters_learn_together_as_each_would_alone(make):
    together, alone = small_parameters(), small_parameters()
    optimizer, own = make(), [(make(), [parameter]) for parameter in alone]
    for step in range(3):
        step_each([(optimizer, together)], together, step)
        step_each(own, alone, step)
    assert_same(together, alone)
    for parameter, (other, (lone,)) in zip(together, own, strict=True):
        ours, theirs = optimizer.memory[parameter], other.memory[lone]
        assert ours.keys() == theirs.keys() and ours["steps"] == 3
        for name in ours.keys() - {"steps"}:
            np.testing.assert_array_equal(ours[name], theirs[name], strict=True)


@EVERY_KIND
def test_a_copy_of_an_optimizer_leaves_the_first_as_it_was(make):
    parameters, optimizer = small_parameters(), make()
    step_each([(optimizer, parameters)], parameters, 0)
    twins, twin = deepcopy((parameters, optimizer))
    before = deepcopy(optimizer.memory[parameters[0]])
    step_each([(twin, twins)], twins, 1)
    for name, array in before.items():
        np.testing.assert_array_equal(optimizer.memory[parameters[0]][name], array)
    step_each([(optimizer, parameters)], parameters, 1)
    assert_same(parameters, twins)


def test_parameters_that_share_their_numbers_both_change_them():
    one, other = Parameter([3.0]), Parameter([3.0])
    other.data = one.data[:]
    one.grad += 1.0
    other.grad += 2.0
    SGD(0.5).step([one, other, Parameter([1.0])])
    assert one.data == other.data == 1.5


def test_a_copied_learner_goes_on_by_itself():
    X = filled((8, 3))
    ours = Learner(Linear(3, 1, rng=0), mse, Adam(0.1))
    ours.fit_batch(X, X[:, :1])
    theirs = deepcopy(ours)
    losses = [[learner.fit_batch(X, X[:, :1]) for _ in range(3)] for learner in (ours, theirs)]
    assert losses[0] == losses[1]
