"""Answers to the exercises of chapter 22: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch22_workers import (
    ALL_COLUMNS,
    agreed_gradient,
    batch_norm_in_pieces,
    concurrent,
    different_starts,
    doubling,
)
from course.checks.questions import (
    N_IN,
)
from tests.answers import refused, refused_values, right

# 1. batch norm in pieces


@right(batch_norm_in_pieces)
def as_rows():
    def share_of(X):
        rows = [(*x, *(x * x), 1.0) for x in X]
        return np.sum(rows, axis=0) if rows else np.zeros(2 * X.shape[1] + 1)

    def moments(total):
        *sums, n = total
        first, second = np.reshape(sums, (2, -1)) / n
        return first, second - first * first

    return share_of, moments


def _ones_and(X):
    """Return rows of a one and X, so that a product brings all sums."""
    return np.column_stack([np.ones(len(X)), X])


@right(batch_norm_in_pieces)
def by_products():
    def share_of(X):
        ones = np.ones(len(X))
        return np.hstack([ones @ _ones_and(X), ones @ (X**2)])

    def moments(total):
        half = len(total) // 2 + 1
        mean = total[1:half] / total[0]
        return mean, total[half:] / total[0] - mean**2

    return share_of, moments


def _pieces(share_of, moments):
    """Return an answer of two functions, for the mistakes."""
    return lambda: (share_of, moments)


def _sums(X):
    return np.concatenate([X.sum(axis=0), (X * X).sum(axis=0), [len(X)]])


def _read(total):
    first, second = np.split(total[:-1], 2)
    return first / total[-1], second / total[-1]


@refused(batch_norm_in_pieces, "the variance is only that inside the shares")
def mean_of_variances():
    def share_of(X):
        variance = X.var(axis=0) if len(X) else np.zeros(X.shape[1])
        return np.concatenate([X.sum(axis=0), len(X) * variance, [len(X)]])

    return share_of, _read


refused(batch_norm_in_pieces, "subtract the square of the mean")(_pieces(_sums, _read))


refused(batch_norm_in_pieces, "that is the standard deviation, the root of the variance")(
    lambda: (_sums, lambda total: (_read(total)[0], np.sqrt(_read(total)[1] - _read(total)[0] ** 2)))
)


@refused(batch_norm_in_pieces, "it divides by one less than the number of rows")
def divides_by_one_less():
    def moments(total):
        mean, squares = _read(total)
        n = total[-1]
        return mean, (squares - mean**2) * n / max(n - 1, 1)

    return _sums, moments


refused(batch_norm_in_pieces, "the square of the mean is added, not subtracted")(
    lambda: (_sums, lambda total: (_read(total)[0], _read(total)[1] + _read(total)[0] ** 2))
)


@refused(batch_norm_in_pieces, "with shares of 7, 2, 1 rows, the mean is that of the shares' means")
def mean_of_means():
    def share_of(X):
        return np.concatenate([X.mean(axis=0), (X * X).mean(axis=0), [1]])

    def moments(total):
        mean, squares = _read(total)
        return mean, squares - mean**2

    return share_of, moments


refused(batch_norm_in_pieces, "the sums are divided by 2, the number of workers, and not by the 8 rows")(
    lambda: (lambda X: np.append(_sums(X)[:-1], 1), _read)
)


refused(batch_norm_in_pieces, "the sums are divided by 24, the count of all numbers, and not by the 8 rows")(
    lambda: (lambda X: np.append(_sums(X)[:-1], X.size), _read)
)


@refused(batch_norm_in_pieces, "with shares of 3, 0, 5 rows, the worker without rows sends a nan")
def weights_the_means():
    def share_of(X):
        with np.errstate(invalid="ignore"):
            means = _sums(X)[:-1] / len(X)
        return np.append(len(X) * means, len(X))

    return share_of, lambda total: (_read(total)[0], _read(total)[1] - _read(total)[0] ** 2)


refused(batch_norm_in_pieces, ALL_COLUMNS)(
    lambda: (
        lambda X: np.array([X.sum(), (X * X).sum(), len(X)]),
        lambda total: (total[0] / total[2], total[1]),
    )
)


def _counted(count):
    """Return an answer that keeps a number of rows to itself, instead of sending it."""

    def answer():
        rows = 0

        def share_of(X):
            nonlocal rows
            rows = count(rows, X)
            return _sums(X)[:-1]

        def moments(total):
            mean, squares = np.split(total / rows, 2)
            return mean, squares - mean**2

        return share_of, moments

    return answer


refused(batch_norm_in_pieces, "with shares of 1 rows, the sums are divided by 9, with the rows of earlier")(
    _counted(lambda rows, X: rows + len(X))
)
refused(batch_norm_in_pieces, "the sums are divided by 4, the rows of one worker, and not by all 8")(
    _counted(lambda rows, X: len(X))
)
refused(batch_norm_in_pieces, "that is the square of the mean minus the mean of the squares: reverse it")(
    _pieces(_sums, lambda total: (_read(total)[0], _read(total)[0] ** 2 - _read(total)[1]))
)


@refused(batch_norm_in_pieces, "the sums of the shares are squared; square each number of X, and then add up")
def squares_the_sums():
    def share_of(X):
        return np.concatenate([X.sum(axis=0), X.sum(axis=0) ** 2, [len(X)]])

    return share_of, lambda total: (_read(total)[0], _read(total)[1] - _read(total)[0] ** 2)


@refused(batch_norm_in_pieces, "it changes total, which belongs to its caller")
def divides_in_place():
    def moments(total):
        total /= total[-1]
        mean, squares = np.split(total[:-1], 2)
        return mean, squares - mean**2

    return _sums, moments


refused(batch_norm_in_pieces, "the mean is a sum that was not divided")(
    lambda: (_sums, lambda total: (total[:N_IN], total[N_IN:-1]))
)


refused(batch_norm_in_pieces, "for n_in = 3 it sends 12 numbers; 7 are enough")(
    lambda: (lambda X: X, lambda total: (total.mean(axis=0), total.var(axis=0)))
)


refused(batch_norm_in_pieces, "share_of must be a function, but is one array of shape (7,)")(
    lambda: (np.ones(7), np.ones(3))
)


@refused(
    batch_norm_in_pieces, "share_of must return one array, but returned a list of arrays of several shapes"
)
def sends_a_list():
    def share_of(X):
        return [X.sum(axis=0), (X * X).sum(axis=0), len(X)]

    def moments(total):
        mean = total[0] / total[2]
        return mean, total[1] / total[2] - mean**2

    return share_of, moments


# 2. repair an average


@right(agreed_gradient)
def with_average(gradients, counts):
    counts = np.asarray(counts)
    if not counts.any():
        raise ValueError("nobody had an example")
    return np.average(np.array(gradients)[counts > 0], axis=0, weights=counts[counts > 0])


@right(agreed_gradient)
def in_a_loop(gradients, counts):
    total, examples = np.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        if count:
            total += gradient * count
            examples += count
    if examples == 0:
        raise ValueError("no examples at all")
    return total / examples


@refused(agreed_gradient, "every worker counts the same: let each count by its examples")
def not_repaired(gradients, counts):
    total = np.zeros_like(gradients[0])
    for gradient in gradients:
        total += gradient
    return total / len(gradients)


@refused(agreed_gradient, "0 times nan is nan")
def multiplies_by_zero(gradients, counts):
    return sum(count * gradient for gradient, count in zip(gradients, counts, strict=True)) / sum(counts)


@refused(agreed_gradient, "every worker counts the same: let each count by its examples")
def leaves_out_and_no_more(gradients, counts):
    return np.mean([gradient for gradient, count in zip(gradients, counts, strict=True) if count], axis=0)


@refused(agreed_gradient, "the sum over all examples is right; divide it by their number")
def does_not_divide(gradients, counts):
    return sum(count * gradient for gradient, count in zip(gradients, counts, strict=True) if count)


@refused(agreed_gradient, "the sum is divided by the number of workers, and not of examples")
def divides_by_workers(gradients, counts):
    return does_not_divide(gradients, counts) / len(counts)


@refused(agreed_gradient, "without any examples it must raise a ValueError")
def says_nothing(gradients, counts):
    if sum(counts) == 0:
        return np.zeros_like(gradients[0])
    return does_not_divide(gradients, counts) / sum(counts)


@refused(agreed_gradient, "it must raise a ValueError, but the outcome is a ZeroDivisionError")
def divides_by_nobody(gradients, counts):
    return does_not_divide(gradients, counts) / sum(counts)


@refused(agreed_gradient, "and hides the nan: leave out only the workers with 0 examples")
def replaces_nan(gradients, counts):
    gradients = [count * np.nan_to_num(gradient) for gradient, count in zip(gradients, counts, strict=True)]
    return sum(gradients) / sum(counts)


@refused(agreed_gradient, "and hides the nan: leave out only the workers with 0 examples")
def leaves_out_who_has_nan(gradients, counts):
    pairs = [(g, n) for g, n in zip(gradients, counts, strict=True) if not np.isnan(g).any()]
    return sum(n * gradient for gradient, n in pairs) / sum(n for _, n in pairs)


@refused(agreed_gradient, "it changes gradients[0], which belongs to its caller")
def weights_in_place(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        gradient *= count
    return sum(gradient for gradient, count in zip(gradients, counts, strict=True) if count) / sum(counts)


# 3. where workers go


right(different_starts)(lambda: np.array([0.5, 9.0, 5.0, 10.0, 4.0]))


@right(different_starts)
def by_walking():
    w = np.array([0.0, 3.0, 9.0])
    ends = w + 5 - w.mean()
    return [w[0] + 0.25 * 2, ends.max() - ends.min(), ends.mean(), ends[2], 3 + 0.25 * 4]


refused_values(
    different_starts,
    {
        (2.5, 0, 5, 5, 4): "That is a step against its own gradient; all step against the mean of the three",
        (1.5, 9, 5, 10, 6): (
            "That is a step against the sum of the three gradients, and not against their mean"
        ),
        (0.25, 9, 5, 10, 3.5): "The gradient of (w - 5)² has the factor 2",
        (2, 9, 5, 10, 7): "without the learning rate",
        (-0.5, 9, 5, 10, 2): "That is a step uphill",
        (0.5, 0, 5, 5, 4): "All take the same step, so no worker comes closer to another",
        (0.5, 4.5, 5, 10, 4): "All take the same step, so all distances stay the same",
        (0.5, 9, 4, 9, 4): "That is the mean at the start, where the mean gradient is still -2",
        (0.5, 9, 5, 5, 4): "worker 2 keeps its distance from it",
        (0.5, 9, 5, 9, 4): "it takes the same steps as the others",
        (0.5, 9, 5, 10, 0.5): "That is without the broadcast, which makes all three weights 3",
        (0.5, 9, 5, 10, 3.5): "after the broadcast the gradients are taken at 3, too",
    },
)


# 4. doubling


@right(doubling)
def with_array(arrays):
    states, ranks = [np.array(arrays)], np.arange(len(arrays))
    while 2 ** (len(states) - 1) < len(arrays):
        states.append(states[-1] + states[-1][ranks ^ 2 ** (len(states) - 1)])
    return np.array(states), len(states) - 1


@right(doubling)
def with_groups(arrays):
    held, distance, copies = list(arrays), 1, 0
    states = [tuple(held)]
    while distance < len(arrays):
        before = list(held)
        for rank in range(len(held)):
            partner = rank + distance if rank // distance % 2 == 0 else rank - distance
            held[rank] = before[rank] + before[partner]
        states.append(tuple(held))
        distance *= 2
        copies += 1
    return tuple(states), float(copies)


@right(doubling)
def asks_after_the_exchange(arrays):
    states, distance = [arrays], 1
    while True:
        states.append([states[-1][rank] + states[-1][rank ^ distance] for rank in range(len(arrays))])
        distance *= 2
        if distance >= len(arrays):
            return states, len(states) - 1


def _doubled(partner, distances=None):
    """Return an answer whose partners, or distances, are others."""

    def answer(arrays):
        count, states = len(arrays), [list(arrays)]
        for distance in distances(count) if distances else _powers(count):
            held = states[-1]
            states.append([own + held[partner(rank, distance, count)] for rank, own in enumerate(held)])
        return states, len(states) - 1

    return answer


def _powers(count):
    return [2**k for k in range(count.bit_length() - 1)]


@refused(
    doubling, "worker 0, 1 (2 times) brought; it must hold that of worker 0, 1; add what the partner held"
)
def adds_what_is_changed(arrays):
    states, distance = [list(arrays)], 1
    while distance < len(arrays):
        held = list(states[-1])
        for rank in range(len(held)):
            held[rank] = held[rank] + held[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


@refused(doubling, "it changes arrays[0], which belongs to its caller")
def adds_in_place(arrays):
    states, distance = [list(arrays)], 1
    while distance < len(arrays):
        held, before = list(states[-1]), [array.copy() for array in states[-1]]
        for rank in range(len(held)):
            held[rank] += before[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


@refused(doubling, "states contains the same list more than once")
def notes_one_list(arrays):
    held, distance, states = list(arrays), 1, []
    states.append(held)
    while distance < len(held):
        before = list(held)
        for rank in range(len(held)):
            held[rank] = before[rank] + before[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


refused(
    doubling,
    "worker 1 holds the sum of what worker 1, 2 brought; it must hold that of worker 0, 1 (its partner",
)(_doubled(lambda rank, distance, count: (rank + distance) % count))
refused(doubling, "of 4 workers, after step 1, worker 0 holds the sum of what worker 0, 2 brought")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: _powers(count)[::-1])
)
refused(doubling, "of 4 workers, states has 4 entries; it must have 3")(
    _doubled(lambda rank, distance, count: (rank + distance) % count, lambda count: range(1, count))
)
refused(doubling, "of 4 workers, states has 2 entries; it must have 3")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: [1] * (count > 1))
)
refused(doubling, "of 8 workers, states has 3 entries; it must have 4")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: _powers(count)[:2])
)


@refused(
    doubling, "worker 0 holds the sum of what worker 0, 1, 2, 3 brought; it must hold that of worker 0, 1"
)
def adds_up_at_once(arrays):
    steps = len(arrays).bit_length() - 1
    return [list(arrays), *([sum(arrays)] * len(arrays) for _ in range(steps))], steps


@refused(doubling, "copies is 1.5; each worker sends one copy in each step, which makes 2")
def copies_of_a_ring(arrays):
    return with_array(arrays)[0], 2 * (len(arrays) - 1) / len(arrays)


@refused(doubling, "of 2 workers, copies is 2; each worker sends one copy in each step, which makes 1")
def copies_of_all(arrays):
    states, steps = with_array(arrays)
    return states, len(arrays) * steps


@refused(doubling, "worker 0 holds a mean, not the sum")
def takes_the_mean(arrays):
    states, steps = with_array(arrays)
    return [[array / 2**step for array in state] for step, state in enumerate(states)], steps


@refused(doubling, "it must return states and copies, but returned a list of 3")
def returns_states_alone(arrays):
    return list(with_array([*arrays, *arrays])[0])


@refused(doubling, "states[0] must be a list of their arrays, but is one array of shape (3, 7)")
def returns_the_end_alone(arrays):
    states, steps = with_array(arrays)
    return states[-1], steps


# 5. a concurrent optimizer


class _Noting:
    """A right optimizer, of which the mistakes change one part each."""

    def __init__(self, W, workers, learning_rate):
        self.W, self.workers, self.rate = W, workers, learning_rate
        self.begin()

    def begin(self):
        self.came, self.total, self.examples = set(), np.zeros_like(self.W), 0

    def hand_in(self, rank, gradient, examples):
        if rank in self.came:
            raise ValueError(f"worker {rank} was here")
        self.came.add(rank)
        self.note(gradient, examples)
        self.examples += examples
        if len(self.came) < self.workers:
            return False
        self.step()
        self.begin()
        return True

    def note(self, gradient, examples):
        self.total += gradient * examples

    def step(self):
        self.W -= self.rate * self.total / self.examples


@right(concurrent)
class WithSums(_Noting):
    def step(self):
        np.subtract(self.W, self.rate / self.examples * self.total, out=self.W)


@right(concurrent)
class WithALedger:
    def __init__(self, W, workers, learning_rate):
        self.W, self.learning_rate = W, learning_rate
        self.ledger = [None] * workers

    def hand_in(self, rank, gradient, examples):
        if self.ledger[rank] is not None:
            raise ValueError("twice")
        self.ledger[rank] = gradient.copy(), examples
        done = None not in self.ledger
        if done:
            gradients, counts = zip(*self.ledger, strict=True)
            self.W[...] = self.W - self.learning_rate * np.average(gradients, axis=0, weights=counts)
            self.ledger = [None] * len(self.ledger)
        return done


@refused(concurrent, "every worker counts the same: let each count by its examples")
class CountsAlike(_Noting):
    def note(self, gradient, examples):
        self.total += gradient

    def step(self):
        self.W -= self.rate * self.total / self.workers


@refused(concurrent, "the step is that of the sum over all examples: divide by their number")
class TakesTheSum(_Noting):
    def step(self):
        self.W -= self.rate * self.total


@refused(concurrent, "only the last gradient is in the step")
class TakesTheLast(_Noting):
    def note(self, gradient, examples):
        self.total, self.examples = gradient * examples, 0


@refused(concurrent, "the sum is only the last gradient, divided by the number of all examples")
class OverwritesTheSum(_Noting):
    def note(self, gradient, examples):
        self.total = gradient * examples


@refused(concurrent, "of two that take turns one disturbs the other")
class SharesTheRound(_Noting):
    noted = {}  # noqa: RUF012

    def begin(self):
        self.noted.clear()

    def hand_in(self, rank, gradient, examples):
        if rank in self.noted:
            raise ValueError("twice")
        self.noted[rank] = gradient * examples, examples
        done = len(self.noted) == self.workers
        if done:
            sums, counts = zip(*self.noted.values(), strict=True)
            self.W -= self.rate * sum(sums) / sum(counts)
            self.begin()
        return done


@refused(concurrent, "the array W is not changed")
class MakesAnotherW(_Noting):
    def step(self):
        self.W = self.W - self.rate * self.total / self.examples


@refused(concurrent, "the array W is not changed")
class CopiesW(_Noting):
    def __init__(self, W, workers, learning_rate):
        super().__init__(W.copy(), workers, learning_rate)


@refused(concurrent, "where one gradient is all zeros, all gradients are there, but it reports no step")
class WaitsForOtherNumbers(_Noting):
    def hand_in(self, rank, gradient, examples):
        self.workers += not gradient.any()
        return super().hand_in(rank, gradient, examples)


@refused(concurrent, "W changes after 1 of 2 gradients: wait for all")
class StepsAtOnce:
    def __init__(self, W, workers, learning_rate):
        self.W, self.rate = W, learning_rate

    def hand_in(self, rank, gradient, examples):
        self.W -= self.rate * gradient
        return True


@refused(concurrent, "hands in twice, but no ValueError is raised")
class CountsCalls(_Noting):
    def hand_in(self, rank, gradient, examples):
        return super().hand_in(len(self.came), gradient, examples)


@refused(concurrent, "clear all sums between rounds")
class NeverForgets(_Noting):
    def begin(self):
        self.came = set()
        if not hasattr(self, "total"):
            self.total, self.examples = np.zeros_like(self.W), 0


@refused(concurrent, "begin a round with nothing, also in the list of ranks")
class NeverForgetsWhoCame(_Noting):
    def __init__(self, W, workers, learning_rate):
        super().__init__(W, workers, learning_rate)
        self.ever = set()

    def hand_in(self, rank, gradient, examples):
        if rank in self.ever:
            raise ValueError(f"worker {rank} was here")
        self.ever.add(rank)
        return super().hand_in(rank, gradient, examples)


@refused(concurrent, "a call that is refused must change nothing")
class NotesAndRefuses(_Noting):
    def hand_in(self, rank, gradient, examples):
        if rank in self.came:
            self.note(gradient, examples)
            self.examples += examples
        return super().hand_in(rank, gradient, examples)


@refused(concurrent, "a call that is refused must change nothing")
class CountsAndRefuses(_Noting):
    def begin(self):
        super().begin()
        self.calls = 0

    def hand_in(self, rank, gradient, examples):
        self.calls += 1
        if rank in self.came:
            raise ValueError("twice")
        self.came.add(rank)
        self.note(gradient, examples)
        self.examples += examples
        if self.calls < self.workers:
            return False
        self.step()
        self.begin()
        return True


@refused(concurrent, "keep a copy when it hands in")
class KeepsTheArray(_Noting):
    def begin(self):
        self.came, self.noted, self.examples = set(), [], 0

    def note(self, gradient, examples):
        self.noted.append((gradient, examples))

    def step(self):
        self.W -= self.rate * sum(n * gradient for gradient, n in self.noted) / self.examples


@refused(concurrent, "hand_in must return False while others are missing, but returned nothing")
class ReturnsNothing(_Noting):
    def hand_in(self, rank, gradient, examples):
        if super().hand_in(rank, gradient, examples):
            return True
        return None


@refused(concurrent, "the step goes uphill")
class GoesUphill(_Noting):
    def step(self):
        self.W += self.rate * self.total / self.examples


@refused(concurrent, "it changes the gradient, which belongs to the worker")
class WeightsInPlace(_Noting):
    def note(self, gradient, examples):
        gradient *= examples
        self.total += gradient
