"""A replica: the same weights, gradients of its own."""

import functools
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Dropout,
    Linear,
    Parameter,
    ReLU,
    Sequential,
    accuracy,
    batches,
    cross_entropy,
    moons,
    replica,
)

X, T = moons(53)


def model():
    rng = np.random.default_rng(0)
    return Linear(2, 7, rng=rng) >> ReLU() >> Linear(7, 2, rng=rng)


def gradients(model, X, T):
    """Return the gradients of the mean loss over the examples, as copies."""
    model.zero_grad()
    Y, backward = model(X)
    backward(cross_entropy(Y, T)[1]())
    return [parameter.grad.copy() for parameter in model.parameters()]


def test_the_weights_are_the_same_arrays_and_the_gradients_are_not():
    original = model()
    copied = replica(original)
    assert list(copied.named_parameters()) == list(original.named_parameters())
    for ours, theirs in zip(original.parameters(), copied.parameters(), strict=True):
        assert theirs.data is ours.data
        assert theirs is not ours and not np.shares_memory(theirs.grad, ours.grad)


def test_gradients_of_unequal_shards_weighted_by_their_share_make_that_of_the_whole():
    original = model()
    whole = gradients(original, X, T)
    first, second = replica(original), replica(original)
    parts = zip(gradients(first, X[:17], T[:17]), gradients(second, X[17:], T[17:]), strict=True)
    for gradient, (a, b) in zip(whole, parts, strict=True):
        np.testing.assert_allclose(17 / 53 * a + 36 / 53 * b, gradient, atol=1e-14)  # rounding of float64
    for parameter, gradient in zip(original.parameters(), whole, strict=True):
        np.testing.assert_array_equal(parameter.grad, gradient)  # no replica has touched it


def test_a_step_on_the_model_is_seen_by_its_replicas():
    original = model()
    copied = replica(original)
    before = copied.predict(X)
    gradients(original, X, T)
    SGD(0.5, momentum=0.9).step(original.parameters())
    assert np.abs(copied.predict(X) - before).max() > 0.01
    np.testing.assert_array_equal(copied.predict(X), original.predict(X))


def test_a_replica_begins_with_zero_gradients_and_with_no_optimizers_memory():
    original, optimizer = model(), SGD(0.5, momentum=0.9)
    gradients(original, X, T)
    optimizer.step(original.parameters())
    copied = replica(original)
    assert not any(parameter.grad.any() for parameter in copied.parameters())
    assert all(parameter not in optimizer.memory for parameter in copied.parameters())
    assert list(optimizer.memory) == original.parameters()


def test_what_is_shared_in_the_model_is_shared_in_the_replica():
    layer = Linear(2, 2, rng=0)
    copied = replica(layer >> ReLU() >> layer)
    assert copied.layers[0] is copied.layers[2] and len(copied.parameters()) == 2


def test_what_is_frozen_stays_frozen():
    original = model()
    original.layers[0].W.trainable = False
    assert [parameter.trainable for parameter in replica(original).parameters()] == [False, True, True, True]


def test_buffers_are_shared():
    original = Sequential(BatchNorm(2))
    copied = replica(original)
    assert copied.buffers() == original.buffers()
    copied(X, training=True)
    assert np.abs(original.layers[0].running_mean.data).max() > 1e-3  # as if the model had seen the batch


def test_replicas_draw_different_numbers_and_the_same_ones_again_from_the_same_seed():
    def masks():
        original = Dropout(0.5, rng=0)
        layers = [original, replica(original), replica(original)]
        return [layer(np.ones((1, 101)), training=True)[0] for layer in layers]

    first, second, third = masks()
    assert (first != second).any() and (second != third).any() and (first != third).any()
    np.testing.assert_array_equal(masks(), [first, second, third])


def by_closure(W):
    return lambda X: (X * W.data, lambda dY: dY * W.data)


def by_partial(W):
    return functools.partial(lambda W, X: (X * W.data, lambda dY: dY * W.data), W)


@pytest.mark.parametrize("hold", [by_closure, by_partial])
def test_a_function_is_copied_with_what_it_holds(hold):
    W = Parameter([1.0, 2.0])
    copied = replica(Linear(2, 2, rng=0) >> hold(W)).parameters()[-1]
    assert copied is not W and copied.data is W.data and copied.grad is not W.grad


COMMON = Parameter([1.0, 2.0])


def normed():
    rng = np.random.default_rng(0)
    return Linear(2, 16, rng=rng) >> BatchNorm(16) >> ReLU() >> Linear(16, 2, rng=rng)


def trained(threads, X, T):
    """Return a model with batch norm, trained by replicas in threads, each with its share of every batch."""
    whole, optimizer, rng = normed(), SGD(0.2), np.random.default_rng(1)
    machines = [replica(whole) for _ in range(threads)]

    def gradient_of(machine, X, T):
        machine.zero_grad()
        Y, backward = machine(X, training=True)
        backward(cross_entropy(Y, T)[1]())

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(30):
            for X_batch, T_batch in batches(X, T, 64, rng):
                shares = (np.array_split(part, threads) for part in (X_batch, T_batch))
                list(pool.map(gradient_of, machines, *shares))
                for ours, *theirs in zip(*(m.parameters() for m in (whole, *machines)), strict=True):
                    ours.grad[...] = np.mean([their.grad for their in theirs], axis=0)
                optimizer.step(whole.parameters())
    return whole


def test_four_threads_with_batch_norm_end_where_one_ends():
    (X, T), (X_new, T_new) = moons(512, noise=0.1, rng=0), moons(512, noise=0.1, rng=1)
    one, four = (accuracy(trained(threads, X, T).predict(X_new), T_new) for threads in (1, 4))
    assert one > 0.95 and abs(one - four) < 0.02


class Slow(np.ndarray):
    """An array that lets other threads go on while somebody has read it, and not yet written."""

    def __rsub__(self, other):
        difference = other - np.asarray(self)
        time.sleep(1e-3)
        return difference


def test_no_update_of_a_running_average_is_lost():
    original = Sequential(BatchNorm(1, momentum=0.1))
    original.layers[0].running_mean.data = np.zeros(1).view(Slow)
    batch = np.array([[0.0], [2.0]])  # its mean is 1
    machines = [replica(original) for _ in range(4)]

    def run_often(machine):
        for _ in range(5):
            machine(batch, training=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run_often, machines))
    np.testing.assert_allclose(original.layers[0].running_mean.data, 1 - 0.9**20, rtol=1e-9)
