"""Gradients of several workers become the gradient of one that has seen all the examples."""

import copy
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from minigrad import (
    SGD,
    Adam,
    BatchNorm,
    Buffer,
    ConcurrentLearner,
    Dropout,
    Layer,
    Learner,
    Linear,
    Recompute,
    Tanh,
    average_gradients,
    broadcast,
    load,
    mse,
    replica,
    save,
)


class Team:
    """Workers in threads with MPI's two words: what each of them sends is there for all, in order of rank."""

    def __init__(self, size):
        self.barrier, self.sent = threading.Barrier(size, timeout=20), [None] * size

    def member(self, rank):
        return Member(self, rank)


class Member:
    def __init__(self, team, rank):
        self.team, self.rank, self.messages = team, rank, 0

    def _all(self, mine):
        self.messages += 1
        self.team.sent[self.rank] = mine.copy()
        self.team.barrier.wait()
        found = list(self.team.sent)
        self.team.barrier.wait()
        return found

    def Allreduce(self, mine, total):
        total[...] = sum(self._all(mine))

    def Bcast(self, data, root):
        data[...] = self._all(data)[root]


def together(size, work):
    """Run work(communicator, rank) on so many workers and return what each returned."""
    team = Team(size)
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: work(team.member(rank), rank), range(size)))


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    return Linear(3, 7, rng=rng) >> Tanh() >> Linear(7, 2, rng=rng)


rng = np.random.default_rng(1)
X, T = rng.normal(size=(11, 3)), rng.normal(size=(11, 2))


def gradients(model, X, T):
    model.zero_grad()
    if len(X):
        Y, backward = model(X)
        backward(mse(Y, T)[1]())
    return [parameter.grad.copy() for parameter in model.parameters()]


@pytest.mark.parametrize("ends", [[4, 8], [1, 2], [11, 11], [2]], ids=str)
def test_uneven_shares_give_the_gradient_of_the_whole(model, ends):
    whole = gradients(model, X, T)
    shards = list(zip(np.split(X, ends), np.split(T, ends), strict=True))

    def work(communicator, rank):
        mine = replica(model)
        gradients(mine, *shards[rank])
        average_gradients(mine.parameters(), communicator, len(shards[rank][0]))
        return [parameter.grad for parameter in mine.parameters()], communicator.messages

    for found, messages in together(len(shards), work):
        assert messages == 1
        for ours, expected in zip(found, whole, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)  # sums in another order


def test_a_plain_mean_of_uneven_shares_is_something_else(model):
    parts = [gradients(model, X[:1], T[:1])[0], gradients(model, X[1:], T[1:])[0]]
    assert np.abs(sum(parts) / 2 - gradients(model, X, T)[0]).max() > 0.01


def test_float32_travels_as_float32(model):
    model.to(np.float32)
    sent = []

    class Alone:
        def Allreduce(self, mine, total):
            sent.append(mine.dtype)
            total[...] = mine

    before = gradients(model, X.astype(np.float32), T.astype(np.float32))
    average_gradients(model.parameters(), Alone(), 11)
    assert sent == [np.float32]
    for parameter, gradient in zip(model.parameters(), before, strict=True):
        assert parameter.grad.dtype == np.float32
        np.testing.assert_allclose(parameter.grad, gradient, rtol=1e-6)


def test_who_had_no_examples_does_not_count_even_with_nan(model):
    whole = gradients(model, X, T)

    def work(communicator, rank):
        mine = replica(model)
        gradients(mine, X, T)
        if rank == 1:
            for parameter in mine.parameters():
                parameter.grad[...] = np.nan
        average_gradients(mine.parameters(), communicator, len(X) if rank != 1 else 0)
        return [parameter.grad for parameter in mine.parameters()]

    for found in together(3, work):
        for ours, expected in zip(found, whole, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_nan_of_who_had_examples_is_seen_by_all(model):
    def work(communicator, rank):
        mine = replica(model)
        mine.parameters()[0].grad[0, 0] = np.nan if rank == 1 else 0
        average_gradients(mine.parameters(), communicator, 5)
        return mine.parameters()[0].grad

    for found in together(3, work):
        assert np.isnan(found[0, 0]) and np.isfinite(found.ravel()[1:]).all()


def test_no_examples_at_all_is_refused(model):
    with pytest.raises(ValueError, match="no worker had an example"):
        together(
            2, lambda communicator, rank: average_gradients(replica(model).parameters(), communicator, 0)
        )


def test_all_begin_with_the_numbers_of_one():
    def work(communicator, rank):
        mine = Linear(3, 7, rng=rank) >> BatchNorm(7)
        mine.buffers()[0].data[...] = rank
        broadcast(mine, communicator, root=1)
        return [part.data for part in [*mine.parameters(), *mine.buffers()]]

    first, *others = together(3, work)
    assert (first[-2] == 1).all()
    np.testing.assert_array_equal(first[0], Linear(3, 7, rng=1).W.data)
    for other in others:
        for ours, theirs in zip(first, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("workers", [1, 2, 3, 50])
def test_threads_take_the_steps_of_one_learner(workers):
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    one = Linear(3, 7, rng=0) >> Tanh() >> Linear(7, 2, rng=1)
    many = copy.deepcopy(one)
    histories = [
        Learner(one, mse, Adam(0.01)).fit(X, T, epochs=3, batch_size=7),
        ConcurrentLearner(many, mse, Adam(0.01), workers=workers).fit(X, T, epochs=3, batch_size=7),
    ]
    np.testing.assert_allclose(*(history["loss"] for history in histories), rtol=1e-9)
    for ours, theirs in zip(one.parameters(), many.parameters(), strict=True):
        np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-9, atol=1e-12)  # another order of a sum


def test_threads_stop_at_a_loss_that_is_not_finite_before_the_step():
    def infinite(Y, T):
        return np.inf, lambda dL=1.0: Y

    model = Linear(3, 2, rng=0)
    before = model.W.data.copy()
    with pytest.raises(ValueError, match="the loss is inf in this batch"):
        ConcurrentLearner(model, infinite, SGD(0.1), workers=2).fit_batch(np.ones((4, 3)), np.ones((4, 2)))
    np.testing.assert_array_equal(model.W.data, before)


def test_before_step_sees_the_gradient_of_the_whole_batch():
    X, T = np.arange(9.0).reshape(3, 3), np.ones((3, 2))
    model, seen = Linear(3, 2, rng=0), []
    learner = ConcurrentLearner(
        model, mse, SGD(0.1), before_step=lambda parameters: seen.append(parameters[0].grad.copy()), workers=2
    )
    Y, backward = model(X)
    backward(mse(Y, T)[1]())
    expected = model.W.grad.copy()
    learner.fit_batch(X, T)
    np.testing.assert_allclose(seen[0], expected)


def test_the_number_of_workers_is_at_least_1():
    with pytest.raises(
        ValueError, match="workers of ConcurrentLearner must be an integer of at least 1, got 0"
    ):
        ConcurrentLearner(Linear(3, 2, rng=0), mse, SGD(0.1), workers=0)


def test_a_run_whose_layers_draw_is_resumed_bit_for_bit(tmp_path):
    def run():
        model = Linear(3, 7, rng=0) >> Dropout(0.5, rng=1) >> Linear(7, 2, rng=2)
        return ConcurrentLearner(model, mse, SGD(0.1), workers=3)

    unbroken, broken, resumed = run(), run(), run()
    unbroken.fit(X, T, epochs=4)
    broken.fit(X, T, epochs=2)
    save(tmp_path / "run.npz", broken)
    load(tmp_path / "run.npz", resumed)
    resumed.fit(X, T, epochs=2)
    assert resumed.history == unbroken.history
    for found, expected in zip(resumed.model.parameters(), unbroken.model.parameters(), strict=True):
        np.testing.assert_array_equal(found.data, expected.data)


class Counting(Layer):
    """Counts in a Buffer, as a BatchNorm keeps its averages, how often it ran; for long enough to be met."""

    def __init__(self):
        self.runs = Buffer([0.0])

    def forward(self, X):
        self.runs.data += 1
        time.sleep(0.01)
        return X, lambda dY: dY


def test_workers_that_recompute_leave_the_buffers_as_the_first_run_did():
    counting = Counting()
    learner = ConcurrentLearner(Linear(3, 2, rng=0) >> Recompute(counting), mse, SGD(0.1), workers=5)
    learner.fit(X, T, epochs=3, batch_size=11)
    assert counting.runs.data == [3 * 5]
