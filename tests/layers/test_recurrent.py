"""RNN and LSTM: each formula step by step, sequences of different lengths, and what is refused."""

import numpy as np
import pytest

from minigrad import LSTM, RNN, Adam, Learner, Linear, Sequential, ShapeError, accuracy, cross_entropy, pad

BOTH = pytest.mark.parametrize("cls", [RNN, LSTM])
EITHER = pytest.mark.parametrize("last", [False, True], ids=["all states", "last state"])
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}  # sums of a few dozen products of numbers near 1
LENGTHS = (11, 2, 1, 7, 11)


def drawn(cls, **settings):
    """Return a layer in which every number counts, biases too."""
    rng = np.random.default_rng(0)
    layer = cls(3, 7, rng=0, **settings)
    for parameter in layer.parameters():
        parameter.data[...] = rng.normal(size=parameter.shape)
    return layer


def sequences():
    rng = np.random.default_rng(1)
    return [rng.normal(size=(length, 3)) for length in LENGTHS]


def upstream(Y):
    return np.random.default_rng(2).normal(size=Y.shape)


# The formulas


def test_a_state_of_an_RNN_is_a_tanh_of_the_input_and_the_state_before():
    layer, X = drawn(RNN), np.random.default_rng(1).normal(size=(5, 11, 3))
    Y, _ = layer(X)
    H = np.zeros((5, 7))
    for t in range(11):
        H = np.tanh(X[:, t] @ layer.W.data + H @ layer.U.data + layer.b.data)
        np.testing.assert_allclose(Y[:, t], H, **ROUNDING)


def test_an_LSTM_writes_to_its_memory_clears_and_reads_it():
    layer, X = drawn(LSTM), np.random.default_rng(1).normal(size=(5, 11, 3))
    Y, _ = layer(X)
    H, C = np.zeros((5, 7)), np.zeros((5, 7))
    for t in range(11):
        Z = X[:, t] @ layer.W.data + H @ layer.U.data + layer.b.data
        write, keep, candidate, read = np.split(Z, 4, axis=1)
        write, keep, read = (1 / (1 + np.exp(-gate)) for gate in (write, keep, read))
        C = keep * C + write * np.tanh(candidate)
        H = read * np.tanh(C)
        np.testing.assert_allclose(Y[:, t], H, **ROUNDING)


def test_a_memory_that_forgets_nothing_lets_the_gradient_through_unchanged():
    layer = LSTM(3, 7, last=True, rng=0)
    layer.b.data[7:14] = 100.0  # the forget gate is 1
    layer.U.data[...] = 0.0
    Y, backward = layer(np.zeros((5, 11, 3)))
    dX = backward(upstream(Y))
    assert np.abs(dX[:, -1]).min() > 0
    np.testing.assert_allclose(dX, np.broadcast_to(dX[:, -1:], dX.shape), **ROUNDING)


def test_the_forget_gate_s_bias_starts_at_one_and_everything_else_at_zero():
    assert LSTM(3, 2, rng=0).b.data.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert RNN(3, 2, rng=0).b.data.tolist() == [0, 0]


@BOTH
def test_every_block_of_U_starts_orthogonal(cls):
    U = cls(3, 7, rng=0).U.data
    blocks = np.split(U, U.shape[1] // 7, axis=1)
    for block in blocks:
        np.testing.assert_allclose(block @ block.T, np.eye(7), atol=1e-12)
    assert all(np.abs(block - blocks[0]).max() > 0.1 for block in blocks[1:])


# Lengths


@BOTH
@EITHER
def test_sequences_of_different_lengths_give_what_each_gives_alone(cls, last):
    layer = drawn(cls, last=last)
    Y, backward = layer(pad(sequences()))
    dY = upstream(Y)
    dX, nothing = backward(dY)
    assert nothing is None
    together = [parameter.grad.copy() for parameter in layer.parameters()]

    layer.zero_grad()
    for i, X in enumerate(sequences()):
        Y_alone, backward_alone = layer(X[None])
        own = i if last else (i, slice(len(X)))
        np.testing.assert_allclose(Y_alone[0], Y[own], **ROUNDING)
        np.testing.assert_allclose(backward_alone(dY[own][None])[0], dX[i, : len(X)], **ROUNDING)
    for found, parameter in zip(together, layer.parameters(), strict=True):
        np.testing.assert_allclose(found, parameter.grad, **ROUNDING)


@BOTH
def test_behind_its_end_a_sequence_has_neither_state_nor_gradient(cls):
    layer = drawn(cls)
    X, lengths = pad(sequences())
    behind = np.arange(11) >= lengths[:, None]
    Y, backward = layer((X, lengths))
    dX, _ = backward(upstream(Y))
    assert np.all(Y[behind] == 0) and np.all(Y[~behind] != 0)
    assert np.all(dX[behind] == 0) and np.all(dX[~behind] != 0)


@BOTH
@EITHER
def test_what_stands_behind_an_end_does_not_matter(cls, last):
    layer = drawn(cls, last=last)
    X, lengths = pad(sequences())
    results = []
    for filling in (0.0, 1e6):
        X[np.arange(11) >= lengths[:, None]] = filling
        layer.zero_grad()
        Y, backward = layer((X, lengths))
        dY = upstream(Y)
        if not last:
            dY[np.arange(11) >= lengths[:, None]] = filling
        results.append([Y, backward(dY)[0], *(parameter.grad.copy() for parameter in layer.parameters())])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@BOTH
def test_the_last_state_is_the_one_at_each_sequence_s_own_end(cls):
    X, lengths = pad(sequences())
    Y, _ = drawn(cls)((X, lengths))
    Y_last, _ = drawn(cls, last=True)((X, lengths))
    np.testing.assert_array_equal(Y_last, Y[np.arange(5), lengths - 1])
    np.testing.assert_array_equal(drawn(cls, last=True)(X)[0], drawn(cls)(X)[0][:, -1])


@BOTH
def test_full_lengths_are_the_same_as_none(cls):
    layer, X = drawn(cls), np.random.default_rng(1).normal(size=(5, 11, 3))
    Y, backward = layer(X)
    Y_full, backward_full = layer((X, np.full(5, 11, dtype=np.uint8)))
    np.testing.assert_array_equal(Y, Y_full)
    np.testing.assert_array_equal(backward(upstream(Y)), backward_full(upstream(Y))[0])


@BOTH
def test_without_need_for_dX_the_weights_still_learn(cls):
    layer, other = drawn(cls), drawn(cls)
    X, lengths = pad(sequences())
    Y, backward = layer(X, need_dX=False)
    assert backward(upstream(Y)) is None
    other(X)[1](upstream(Y))
    for one, same in zip(layer.parameters(), other.parameters(), strict=True):
        np.testing.assert_array_equal(one.grad, same.grad)
    assert layer((X, lengths), need_dX=False)[1](upstream(Y)) == (None, None)


@BOTH
def test_a_model_learns_what_came_first_in_sequences_of_different_lengths(cls):
    rng = np.random.default_rng(0)
    X, lengths = pad([rng.choice([-1.0, 1.0], size=(length, 1)) for length in rng.integers(1, 6, size=211)])
    T = (X[:, 0, 0] > 0).astype(int)
    model = Sequential(cls(n_out=13, last=True), Linear()).initialize((X, lengths), T, rng=0)
    learner = Learner(model, cross_entropy, Adam(0.03), metrics=[accuracy])
    learner.fit((X, lengths), T, epochs=15)
    assert learner.evaluate((X, lengths), T)["accuracy"] == 1.0


# Sizes, and what is refused


@BOTH
def test_sizes_left_open_are_taken_from_the_samples(cls):
    X, lengths = pad(sequences())
    layer = cls().initialize((X.astype(np.float32), lengths), np.zeros((5, 11, 7)), rng=0)
    assert (layer.n_in, layer.n_out) == (3, 7)
    assert {parameter.data.dtype for parameter in layer.parameters()} == {np.dtype(np.float32)}
    assert repr(layer) == f"{cls.__name__}(3, 7)" and repr(cls()) == f"{cls.__name__}(?, ?)"


@BOTH
def test_a_layer_that_is_not_whole_says_what_it_needs(cls):
    X = np.zeros((5, 11, 3))
    with pytest.raises(ShapeError, match=rf"{cls.__name__}\(3, \?\) has no n_out yet: pass it"):
        cls(3)(X)
    with pytest.raises(ValueError, match=rf"{cls.__name__}\(3, 7\) has no weights: give it rng=0"):
        cls(3, 7)(X)


@BOTH
@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((11, 3), r"expects X of shape \(batch, steps, n_in\), got \(11, 3\): write X\[None\] for"),
        ((0, 11, 3), r"got \(0, 11, 3\): .* none may be empty"),
        ((5, 0, 3), r"got \(5, 0, 3\): .* none may be empty"),
        ((5, 11, 2), r"expects 3 inputs in the last axis, got X of shape \(5, 11, 2\)"),
    ],
)
def test_what_is_no_batch_of_sequences_is_refused(cls, shape, sentence):
    with pytest.raises(ShapeError, match=sentence):
        cls(3, 7, rng=0)(np.zeros(shape))


@BOTH
@pytest.mark.parametrize(
    ("lengths", "came"),
    [
        ([1, 2, 3], r"int\d\d of shape \(3,\)"),
        ([[1], [2], [3], [4], [5]], r"int\d\d of shape \(5, 1\)"),
        ([1, 2, 0, 4, 5], r"\[1 2 0 4 5\]"),
        ([1, 2, 3, 4, 12], r"\[ 1  2  3  4 12\]"),
        ([1.0, 2.0, 3.0, 4.0, 5.0], r"float64 of shape \(5,\)"),
        ([True, True, True, True, True], r"bool of shape \(5,\)"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(cls, lengths, came):
    sentence = rf"{cls.__name__}\(3, 7\) expects lengths .* 5 integers from 1 to 11, got .*{came}"
    with pytest.raises(ShapeError, match=sentence):
        cls(3, 7, rng=0)((np.zeros((5, 11, 3)), np.array(lengths)))
