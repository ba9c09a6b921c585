"""Recompute forgets all but its input, and nobody can tell from the numbers."""

import numpy as np
import pytest

from course import xray
from minigrad import BatchNorm, Dropout, Linear, Recompute, ReLU, Sequential, Tanh, gradcheck, mse, replica


def tower(rng, *more):
    return Linear(3, 7, rng=rng) >> Tanh() >> Sequential(*more) >> Linear(7, 7, rng=rng) >> ReLU()


def pair(*make_more):
    """Return the same layers twice, the second time inside Recompute, and a sample."""
    layers, again = (tower(np.random.default_rng(2), *(make() for make in make_more)) for _ in range(2))
    return layers, Recompute(again), np.random.default_rng(3).normal(size=(5, 3))


def there_and_back(layer, X, dY, training=True):
    layer.zero_grad()
    Y, backward = layer(X, training=training)
    return [Y, backward(dY), *(parameter.grad.copy() for parameter in layer.parameters())]


MORE = {
    "plain": [],
    "with dropout": [lambda: Dropout(0.4, rng=5)],
    "with a batch norm": [lambda: BatchNorm(7)],
    "with both": [lambda: BatchNorm(7), lambda: Dropout(0.4, rng=5)],
}


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
@pytest.mark.parametrize("training", [False, True])
def test_it_gives_the_same_to_the_last_bit_step_after_step(more, training):
    layers, recompute, X = pair(*more)
    dY = np.random.default_rng(4).normal(size=(5, 7))
    for _ in range(3):
        for ours, theirs in zip(
            there_and_back(recompute, X, dY, training), there_and_back(layers, X, dY, training), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(recompute.buffers(), layers.buffers(), strict=True):
        np.testing.assert_array_equal(ours.data, theirs.data)


def test_it_keeps_its_input_and_nothing_else():
    layers, recompute, X = pair()
    kept = {tuple(row.shape) for row in xray(recompute(X)[1]).rows if not row.shared}
    assert kept == {X.shape}
    assert len({tuple(row.shape) for row in xray(layers(X)[1]).rows if not row.shared}) > 1


def test_a_later_forward_does_not_change_an_earlier_way_back():
    layers, recompute, X = pair(*MORE["with both"])
    dY = np.ones((5, 7))
    found = []
    for layer in layers, recompute:
        _, backward = layer(X, training=True)
        layer(X[::-1] + 1, training=True)
        found.append(backward(dY))
    np.testing.assert_array_equal(*found)


def test_each_way_back_costs_one_more_forward():
    calls = []

    def square(X):
        calls.append(1)
        return X * X, lambda dY: 2 * X * dY

    _, backward = Recompute(square)(np.array([3.0]))
    backward(np.array([1.0]))
    backward(np.array([1.0]))
    assert len(calls) == 3


def test_generators_are_put_back_when_the_second_forward_fails():
    dropout = Dropout(0.5, rng=1)
    fails = []

    def once(X):
        if fails:
            raise FloatingPointError("the second time")
        fails.append(1)
        return X, lambda dY: dY

    _, backward = Recompute(Sequential(dropout, once))(np.ones((2, 3)), training=True)
    state = dropout.rng.bit_generator.state
    with pytest.raises(FloatingPointError):
        backward(np.ones((2, 3)))
    assert dropout.rng.bit_generator.state == state


def test_it_passes_gradcheck_while_training_and_initializes_what_is_inside():
    model = Recompute(Linear(n_out=7) >> Dropout(0.3)) >> Recompute(Linear())
    X, T = np.random.default_rng(0).normal(size=(5, 3)), np.zeros((5, 2))
    model.initialize(X, T, rng=0)
    assert model(X)[0].shape == (5, 2)
    assert gradcheck(model, X, training=True).ok
    assert "Recompute(Linear(7, 2))" in repr(model)


def test_it_stacks_shares_and_learns():
    layers, recompute, X = pair()
    twin = replica(Recompute(recompute))
    L, backward = mse(twin(X)[0], np.zeros((5, 7)))
    assert L > 0
    assert backward().shape == (5, 7)
    assert [p.data is q.data for p, q in zip(twin.parameters(), recompute.parameters(), strict=True)]
