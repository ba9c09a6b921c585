"""A replica: the same weights, gradients of its own."""

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


def test_a_replica_begins_with_zero_gradients_and_without_an_optimizers_memory():
    original = model()
    gradients(original, X, T)
    SGD(0.5, momentum=0.9).step(original.parameters())
    for parameter in replica(original).parameters():
        assert not parameter.grad.any() and parameter.state == {}
    assert all("velocity" in parameter.state for parameter in original.parameters())


def test_what_is_shared_in_the_model_is_shared_in_the_replica():
    layer = Linear(2, 2, rng=0)
    copied = replica(layer >> ReLU() >> layer)
    assert copied.layers[0] is copied.layers[2] and len(copied.parameters()) == 2


def test_what_is_frozen_stays_frozen():
    original = model()
    original.layers[0].W.trainable = False
    assert [parameter.trainable for parameter in replica(original).parameters()] == [False, True, True, True]


def test_buffers_are_copies():
    original = Sequential(BatchNorm(2))
    copied = replica(original)
    copied(X, training=True)
    for ours, theirs in zip(original.buffers(), copied.buffers(), strict=True):
        assert np.abs(theirs.data - ours.data).max() > 1e-3


def test_replicas_draw_different_numbers_and_the_same_ones_again_from_the_same_seed():
    def masks():
        original = Dropout(0.5, rng=0)
        layers = [original, replica(original), replica(original)]
        return [layer(np.ones((1, 101)), training=True)[0] for layer in layers]

    first, second, third = masks()
    assert (first != second).any() and (second != third).any() and (first != third).any()
    np.testing.assert_array_equal(masks(), [first, second, third])


def test_a_parameter_in_the_closure_of_a_function_is_refused():
    def scale(W):
        return lambda X: (X * W.data, lambda dY: dY * W.data)

    with pytest.raises(TypeError, match=r"layers.1.W stands in a function, .* write it as a Layer"):
        replica(Linear(2, 2, rng=0) >> scale(Parameter([1.0, 2.0])))
