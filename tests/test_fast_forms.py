"""What is quick must still be right: gradients taken instead of added, optimizers that go piece by piece."""

from copy import deepcopy

import numpy as np
import pytest

from minigrad import LSTM, SGD, Adam, AdamW, Conv2d, Learner, Linear, Parameter, RMSProp, mse
from minigrad.backend import sum_of_rows, zeros_like
from minigrad.optimizers import PIECE, clip_grad_norm, in_pieces


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


def test_an_array_added_to_a_zero_gradient_becomes_the_gradient():
    parameter, first, second = Parameter(filled()), filled(rng=1), filled(rng=2)
    expected = first + second
    parameter.zero_grad()
    parameter.add(first)
    parameter.add(second)
    assert parameter.grad is first
    np.testing.assert_array_equal(parameter.grad, expected)


@pytest.mark.parametrize(
    "gradient",
    [filled(rng=1).astype(np.float32), filled((1, 5), rng=1), np.float64(3.0), np.arange(5)],
    ids=["another type", "a row", "a number", "integers"],
)
def test_what_is_no_array_like_the_data_is_added(gradient):
    parameter = Parameter(filled())
    parameter.zero_grad()
    parameter.add(gradient)
    np.testing.assert_array_equal(parameter.grad, np.zeros((3, 5)) + gradient, strict=True)


def test_a_gradient_that_somebody_holds_stays_the_same_array():
    parameter = Parameter(filled())
    held = parameter.grad
    parameter.zero_grad()
    parameter.add(filled(rng=1))
    assert parameter.grad is held
    np.testing.assert_array_equal(held, filled(rng=1))
    parameter.zero_grad()
    assert not held.any()


def test_what_is_written_into_a_gradient_that_somebody_holds_is_not_lost():
    parameter = Parameter(filled())
    parameter.add(filled(rng=1))
    held = parameter.grad
    parameter.zero_grad()
    held += 3.0
    parameter.add(filled(rng=2))
    np.testing.assert_array_equal(parameter.grad, 3.0 + filled(rng=2))


def test_a_gradient_that_was_put_there_is_added_to_and_zeroed_in_place():
    parameter, mine = Parameter(filled()), np.ones((3, 5))
    parameter.zero_grad()
    parameter.grad = mine
    parameter.add(filled(rng=1))
    np.testing.assert_array_equal(mine, 1.0 + filled(rng=1))
    parameter.zero_grad()
    assert parameter.grad is mine and not mine.any()


def test_a_gradient_reads_as_zero_between_zeroing_and_the_way_back():
    layer = Linear(3, 2, rng=0)
    for _ in range(2):
        Y, backward = layer(filled((5, 3)))
        backward(Y)
        layer.zero_grad()
        SGD(0.1, momentum=0.9).step(layer.parameters())  # looks, and holds nothing
        assert clip_grad_norm(layer.parameters(), 1.0) == 0.0
    assert not layer.W.grad.any() and layer.W.grad.shape == (3, 2)


def test_a_copy_of_a_parameter_has_its_own_gradient():
    parameter = Parameter(filled())
    parameter.add(filled(rng=1))
    twin = deepcopy(parameter)
    twin.grad += 1.0
    np.testing.assert_array_equal(parameter.grad, filled(rng=1))


@pytest.mark.parametrize(
    ("layer", "X"),
    [
        (Linear(4, 3, rng=0), filled((5, 4))),
        (Conv2d(2, 3, 2, rng=0), filled((3, 2, 4, 5))),
        (LSTM(4, 3, rng=0), filled((2, 5, 4))),
    ],
    ids=str,
)
def test_two_passes_add_up_whether_or_not_somebody_holds_the_gradients(layer, X):
    held = deepcopy(layer)
    for parameter in held.parameters():
        parameter.grad  # noqa: B018  asking is enough
    for model in (layer, held):
        for _ in range(2):
            Y, backward = model(X)
            backward(np.ones_like(Y))
    for ours, theirs in zip(layer.parameters(), held.parameters(), strict=True):
        np.testing.assert_array_equal(ours.grad, theirs.grad)


@pytest.mark.parametrize("shape", [(3, PIECE - 1), (2 * PIECE + 1,), (1, 2 * PIECE), (PIECE, 2, 2)])
def test_pieces_cover_the_arrays_once_and_are_views(shape):
    A, B = np.zeros(shape), np.zeros(shape, np.float32)
    pieces = in_pieces(A, B)
    for a, b in pieces:
        assert a.shape == b.shape
        a += 1.0
        b += 2.0
    assert (A == 1.0).all() and (B == 2.0).all()
    assert len(pieces) > 1 or len(A) == 1


@pytest.mark.parametrize("layout", ["by rows", "by columns"])
@EVERY_KIND
def test_a_large_parameter_learns_as_its_rows_would(make, layout):
    data, gradients = filled((400, 300)), [filled((400, 300), rng=1), filled((400, 300), rng=2)]
    assert data.size > PIECE
    large = Parameter(data if layout == "by rows" else np.asfortranarray(data))
    rows, one, many = [Parameter(row) for row in data], make(), make()
    for gradient in gradients:
        large.grad[...] = gradient
        for parameter, row in zip(rows, gradient, strict=True):
            parameter.grad[...] = row
        one.step([large])
        many.step(rows)
    np.testing.assert_array_equal(large.data, [row.data for row in rows])


def small_parameters():
    """Parameters of several shapes, types and layouts, which an optimizer puts side by side."""
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
def test_small_parameters_side_by_side_learn_as_each_would_alone(make):
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


def exchange_data(optimizer, parameters):
    parameters[0].data = 2 * parameters[0].data


def exchange_type(optimizer, parameters):
    parameters[1].convert(lambda array: array.astype(np.float32))


def freeze(optimizer, parameters):
    parameters[2].trainable = not parameters[2].trainable


def forget_all(optimizer, parameters):
    optimizer.memory = {}


def forget_one(optimizer, parameters):
    del optimizer.memory[parameters[3]]


def exchange_memory(optimizer, parameters):
    own = optimizer.memory[parameters[0]]
    own |= {name: own[name] / 2 for name in own.keys() - {"steps"}}


def set_steps(optimizer, parameters):
    optimizer.memory[parameters[0]]["steps"] = 7


def turn_round(optimizer, parameters):
    parameters.reverse()


CHANGES = [exchange_data, exchange_type, freeze, forget_all, forget_one]
CHANGES += [exchange_memory, set_steps, turn_round]


@EVERY_KIND
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_changes_between_two_steps_is_noticed(make, change):
    together, apart = small_parameters(), small_parameters()
    optimizer, plain = make(), make()
    plain.small = 0  # one after the other
    for step in range(6):
        for one, parameters in ((optimizer, together), (plain, apart)):
            if step in (2, 4):
                change(one, parameters)
            step_each([(one, parameters)], parameters, step)
    assert_same(together, apart)


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


def test_a_parameter_listed_twice_takes_two_steps():
    W = Parameter([3.0])
    W.grad += 1.0
    SGD(0.5).step([W, W])
    assert W.data == 2.0


def test_an_update_of_ones_own_sees_one_parameter_at_a_time():
    shapes = []

    class Normalized(SGD):
        def update(self, parameter, learning_rate, memory):
            shapes.append(parameter.data.shape)
            super().update(parameter, learning_rate / np.linalg.norm(parameter.peek()), memory)

    parameters = small_parameters()
    step_each([(Normalized(0.1), parameters)], parameters, 0)
    assert shapes == [parameter.shape for parameter in parameters]


def test_zeros_like_an_array_have_its_type_and_its_layout():
    A = np.arange(12.0).reshape(3, 4)
    for array in (A, A.astype(np.float32), np.asfortranarray(A), A[:, ::2], A[:0], np.float64(3.0)):
        np.testing.assert_array_equal(zeros_like(array), np.zeros_like(array), strict=True)
    assert zeros_like(A.T).flags.f_contiguous


def test_the_sum_of_rows_is_one_for_any_type_and_layout():
    A = np.arange(12.0).reshape(3, 4)
    for array in (A, A.astype(np.float32), np.asfortranarray(A), A[:, ::2], A[:0]):
        np.testing.assert_array_equal(sum_of_rows(array), array.sum(axis=0), strict=True)


def test_a_copied_learner_goes_on_by_itself():
    X = filled((8, 3))
    ours = Learner(Linear(3, 1, rng=0), mse, Adam(0.1))
    ours.fit_batch(X, X[:, :1])
    theirs = deepcopy(ours)
    losses = [[learner.fit_batch(X, X[:, :1]) for _ in range(3)] for learner in (ours, theirs)]
    assert losses[0] == losses[1]
