"""Answers to the exercises of chapter 18: right ones, and those that a check refuses in its own words."""

from collections import deque

import numpy as np

from course.checks.ch18_acting import (
    List,
    choose_moves,
    discounted_sums,
    log_of,
    log_softmax,
    loss_of_policy,
    policy,
    returns,
    right_back,
    ring,
    softmax,
    summed,
    targets,
    with_a_toll,
)
from minigrad import cross_entropy
from tests.answers import refused, refused_values, right

# 1. values where each step costs something


right(with_a_toll)(lambda: np.array([-5.0, -5.0, -6.0, -1.75, -2.0]))


@right(with_a_toll)
def as_sums():
    cells = [-distance for distance in (5, 4, 3, 2, 1)]
    return [cells[0], -1 + cells[1], -1 + cells[0], -1 - 1 / 2 - 1 / 4, -1 / (1 - 1 / 2)]


refused(with_a_toll, "Each toll counts half as much as the one before, and such a sum is finite")(
    lambda: (-5, -5, -6, -1.75, -np.inf)
)


refused_values(
    with_a_toll,
    {
        (-4, -4, -5, -1.5, -2): "The last move, from cell 4, costs 1 as well",
        (5, 5, 6, 1.75, 2): "The toll is a reward of -1, so no value here is above 0",
        (-5, -4, -6, -1.75, -2): "The move itself costs 1; add the value of cell 1",
        (-5, -3, -6, -1.75, -2): "After it you are in cell 1, with four moves ahead, not in cell 3",
        (-5, -5, -5, -1.75, -2): "The wall refunds nothing: you pay 1, and stay where you are",
        (-5, -5, -6, -0.875, -2): (
            "The toll of the move itself is not discounted: only what comes after it is"
        ),
        (-5, -5, -6, -3, -2): (
            "One half is the discount of each step: later tolls count less, they are not all whole"
        ),
        (-5, -5, -6, -1.75, -1): "The first move alone costs 1, and that toll is not discounted",
        (-5, -5, -6, -1.5, -2): "The walk takes three moves, and the last one, from cell 4, costs 1 as well",
    },
)


# 2. the returns of a walk


@right(returns)
def by_the_definition(rewards, discount):
    return np.array([
        sum(reward * discount**late for late, reward in enumerate(rewards[now:]))
        for now in range(len(rewards))
    ], dtype=np.float64)  # fmt: skip


@right(returns)
def on_a_copy(rewards, discount):
    worth = np.asarray(rewards, dtype=float).copy()
    for step in range(len(worth) - 2, -1, -1):
        worth[step] += discount * worth[step + 1]
    return worth


refused(returns, "have no room for a half: the result must be floats")(summed(dtype=None))


@refused(returns, "have no room for a half: the result must be floats")
def on_a_copy_of_its_type(rewards, discount):
    worth = rewards.copy()
    for step in range(len(worth) - 2, -1, -1):
        worth[step] += (discount * worth[step + 1]).astype(worth.dtype)
    return worth


@refused(returns, "it returns float32, which has too few digits: it must be float64")
def with_few_digits(rewards, discount):
    return discounted_sums(rewards, discount).astype(np.float32)


@refused(returns, "for rewards of float32 it returns float32: it must always be float64")
def in_the_type_of_floats(rewards, discount):
    return discounted_sums(rewards, discount).astype(rewards.dtype if rewards.dtype.kind == "f" else float)


@refused(returns, "in a walk of 600 steps with the discount 1, worth")
def a_hundred_steps_at_most(rewards, discount):
    return discounted_sums(rewards, discount) - np.append(
        discount**100 * discounted_sums(rewards, discount)[100:], np.zeros(min(100, len(rewards)))
    )


@refused(returns, "it must return an array, but returned a list")
def a_list(rewards, discount):
    return by_the_definition(rewards, discount).tolist()


@refused(returns, "it changes rewards, which belongs to its caller")
def in_place(rewards, discount):
    for step in reversed(range(len(rewards) - 1)):
        rewards[step] += discount * rewards[step + 1]
    return rewards


# 3. exploring, for a batch


@right(choose_moves)
def row_by_row(Y, epsilon, rng):
    moves = []
    for row in Y:
        best = np.flatnonzero(row == row.max())
        explores = rng.random() < epsilon
        moves.append(rng.integers(len(row)) if explores else best[rng.integers(len(best))])
    return np.array(moves)


@right(choose_moves)
def with_probabilities(Y, epsilon, rng):
    best = Y == Y.max(axis=1, keepdims=True)
    P = epsilon / Y.shape[1] + (1 - epsilon) * best / best.sum(axis=1, keepdims=True)
    return np.minimum((rng.random((len(Y), 1)) > P.cumsum(axis=1)).sum(axis=1), Y.shape[1] - 1)


def _draws(Y, rng):
    """Return the best move of each row, ties drawn."""
    return np.where(Y == Y.max(axis=1, keepdims=True), rng.random(Y.shape), -1.0).argmax(axis=1)


def _any(Y, rng):
    """Return any move for each row."""
    return rng.integers(Y.shape[1], size=len(Y))


@refused(choose_moves, "the argmax is the first of several that are equally good")
def first_of_the_best(Y, epsilon, rng):
    return np.where(rng.random(len(Y)) < epsilon, _any(Y, rng), Y.argmax(axis=1))


@refused(choose_moves, "with epsilon 1 it makes the best ones: the comparison is reversed")
def turned_round(Y, epsilon, rng):
    return np.where(rng.random(len(Y)) > epsilon, _any(Y, rng), _draws(Y, rng))


@refused(
    choose_moves, "in some calls all rows explore, and in others none: each row needs its own random number"
)
def one_coin(Y, epsilon, rng):
    return _any(Y, rng) if rng.random() < epsilon else _draws(Y, rng)


@refused(choose_moves, "each needs a draw of its own, `size=batch`")
def one_move(Y, epsilon, rng):
    return np.where(rng.random(len(Y)) < epsilon, rng.integers(Y.shape[1]), _draws(Y, rng))


@refused(choose_moves, "rows makes its best move: exploring may make any move, the best one too")
def never_the_best(Y, epsilon, rng):
    best, n_moves = _draws(Y, rng), Y.shape[1]
    other = (best + rng.integers(1, n_moves, size=len(Y))) % n_moves
    return np.where(rng.random(len(Y)) < epsilon, other, best)


@refused(choose_moves, "move 6 of 0 to 6 is never made (`integers` leaves out the end that it is given)")
def without_the_last(Y, epsilon, rng):
    n_moves = Y.shape[1]
    return np.where(rng.random(len(Y)) < epsilon, rng.integers(n_moves - 1, size=len(Y)), _draws(Y, rng))


@refused(choose_moves, "two generators of one seed give different moves: draw all chance from rng")
def from_elsewhere(Y, epsilon, rng):
    rng = np.random.default_rng()
    return np.where(rng.random(len(Y)) < epsilon, _any(Y, rng), _draws(Y, rng))


@refused(choose_moves, "whatever the generator, it makes the same moves: draw them from rng")
def a_seed_of_its_own(Y, epsilon, rng):
    rng = np.random.default_rng(0)
    return np.where(rng.random(len(Y)) < epsilon, _any(Y, rng), _draws(Y, rng))


@refused(choose_moves, "with epsilon 1, each row makes its best move: it never explores")
def never_explores(Y, epsilon, rng):
    return _draws(Y, rng)


@refused(choose_moves, "do not use the number that decides whether to explore for the move, too")
def coin_for_both(Y, epsilon, rng):
    coins = rng.random(len(Y))
    return np.where(coins < epsilon, (coins * Y.shape[1]).astype(int), _draws(Y, rng))


def _explores_else(best):
    """Return a choice that explores rightly, and has its own best moves, for the mistakes."""

    def choose_moves(Y, epsilon, rng):
        return np.where(rng.random(len(Y)) < epsilon, _any(Y, rng), best(Y, rng))

    return choose_moves


def _ties(Y):
    return Y == Y.max(axis=1, keepdims=True)


BELOW_0 = "a 0 where a move is not the best is more than any value below 0"
CLOSE = "; close is not equal"
refused(choose_moves, BELOW_0)(
    _explores_else(lambda Y, rng: (Y * _ties(Y) * (1 + rng.random(Y.shape))).argmax(1))
)
refused(choose_moves, BELOW_0)(
    _explores_else(lambda Y, rng: np.where(_ties(Y), Y + rng.random(Y.shape), 0).argmax(axis=1))
)
refused(choose_moves, "of value 0, it always makes move 0, and never the others: those of value 2 it draws")(
    _explores_else(lambda Y, rng: np.where(_ties(Y), Y * (1 + rng.random(Y.shape)), -np.inf).argmax(axis=1))
)
refused(choose_moves, CLOSE)(_explores_else(lambda Y, rng: (Y + 1e-3 * rng.random(Y.shape)).argmax(axis=1)))
refused(choose_moves, CLOSE)(
    _explores_else(
        lambda Y, rng: (rng.random(Y.shape) * np.isclose(Y, Y.max(axis=1, keepdims=True), atol=0.1)).argmax(
            axis=1
        )
    )
)
refused(choose_moves, "all rows make the same one: each needs its own random number")(
    _explores_else(lambda Y, rng: (_ties(Y) * rng.random(Y.shape[1])).argmax(axis=1))
)


@refused(choose_moves, "rows need shape (5,)")
def one_for_all(Y, epsilon, rng):
    return _draws(Y, rng)[:1]


@refused(choose_moves, "but returned a list")
def as_a_list(Y, epsilon, rng):
    return row_by_row(Y, epsilon, rng).tolist()


@refused(choose_moves, "it changes Y, which belongs to its caller")
def breaks_ties_in_Y(Y, epsilon, rng):
    Y += 1e-9 * rng.random(Y.shape)
    return np.where(rng.random(len(Y)) < epsilon, _any(Y, rng), Y.argmax(axis=1))


# 4. a memory that forgets the oldest


@right(ring)
class Queue(List):
    def __init__(self, capacity):
        self.steps = deque(maxlen=capacity)

    def add(self, *parts):
        self.steps.append([np.copy(part) for part in parts])


@right(ring)
class Arrays:
    def __init__(self, capacity):
        self.capacity, self.count, self.arrays = capacity, 0, None

    def add(self, *parts):
        if self.arrays is None:
            kinds = [np.asarray(part) for part in parts]
            self.arrays = [np.zeros((self.capacity, *kind.shape), kind.dtype) for kind in kinds]
        for array, part in zip(self.arrays, parts, strict=True):
            array[self.count % self.capacity] = part
        self.count += 1

    def parts(self):
        return [array[: self.count] for array in self.arrays]

    def sample(self, rng, size):
        places = rng.integers(min(self.count, self.capacity), size=size)
        return [array[places] for array in self.arrays]


@refused(ring, "what sample draws does not come from the rng that it is given")
class OtherChance(List):
    def sample(self, rng, size):
        return super().sample(np.random.default_rng(0), size)


@refused(ring, "must return an array for each of 3 parts")
class StepByStep(List):
    def parts(self):
        return list(map(list, self.steps))


@refused(ring, "so the same one may come also twice: leave out `replace=False`")
class NoneTwice(List):
    def places(self, rng, size):
        return rng.choice(len(self.steps), size=size, replace=False)


@refused(ring, "so the same one may come also twice, and sample gives each only once")
class Shuffled(List):
    def places(self, rng, size):
        return rng.permutation(len(self.steps))[:size]


@refused(ring, "the first determines the second, as if in sequence")
class InARow(List):
    def places(self, rng, size):
        n = len(self.steps)
        return (rng.integers(n) + np.arange(size)) % n


@refused(ring, "both are never the same one: a step that was drawn can be drawn again")
class ShuffledAgainAndAgain(List):
    def places(self, rng, size):
        return np.resize(rng.permutation(len(self.steps)), size)


@refused(ring, "never come in this order: each must be drawn independently of the others")
class Sorted(List):
    def places(self, rng, size):
        return np.sort(rng.integers(len(self.steps), size=size))


@refused(ring, "is float64: each part keeps its type")
class AllFloats(List):
    def add(self, *parts):
        super().add(*(np.array(part, dtype=float) for part in parts))


@refused(ring, "is int64: each part keeps its type")
class TruthAsNumber(List):
    def add(self, *parts):
        super().add(*(np.array(part) + 0 for part in parts))


@refused(ring, "places that were never filled hold no steps")
class AllPlaces(Arrays):
    def parts(self):
        return self.arrays


@refused(ring, "each needs a list of its own, made in __init__")
class OneForAll(List):
    steps = []  # of the class, and so of all its instances

    def __init__(self, capacity):
        self.capacity = capacity

    def add(self, *parts):
        self.steps.append([np.array(part) for part in parts])
        if len(self.steps) > self.capacity:
            self.steps.pop(0)


# 5. cut is not done


@right(targets)
def with_a_product(rewards, Y_new, done, cut, discount):
    return rewards + discount * (1 - done.astype(float)) * Y_new.max(axis=1)


@right(targets)
def in_two_steps(rewards, Y_new, done, cut, discount):
    found = rewards + discount * np.max(Y_new, axis=-1)
    found[done] = rewards[done]
    return found


@refused(targets, "it must have rewards's shape")
def over_the_wrong_axis(rewards, Y_new, done, cut, discount):
    return (rewards[:, None] + np.where(done[:, None], 0, discount * Y_new)).max(axis=0)


@right(targets)
def one_step_at_a_time(rewards, Y_new, done, cut, discount):
    steps = zip(rewards.tolist(), Y_new.tolist(), done.tolist(), strict=True)
    return np.array([float(reward) if over else reward + discount * max(row) for reward, row, over in steps])


@refused(targets, "for rewards that are whole numbers it returns int64")
def in_the_type_of_the_rewards(rewards, Y_new, done, cut, discount):
    found = np.zeros_like(rewards)
    found[...] = in_two_steps(rewards, Y_new, done, cut, discount)
    return found


@refused(targets, "where a step is neither done nor cut, the target is")
def takes_0_for_no_discount(rewards, Y_new, done, cut, discount):
    return in_two_steps(rewards, Y_new, done, cut, discount or 1.0)


@refused(targets, "it changes Y_new, which belongs to its caller")
def values_set_to_0(rewards, Y_new, done, cut, discount):
    Y_new[done] = 0.0
    return rewards + discount * Y_new.max(axis=1)


# 6. a policy gradient


@right(loss_of_policy)
def with_one_hot(Y, T):
    moves, worth = T
    chosen, log_P = np.eye(Y.shape[1])[moves] * worth[:, None], log_softmax(Y)

    def backward(dL=1.0):
        return (dL / len(Y)) * (np.exp(log_P) * worth[:, None] - chosen)

    return -(chosen * log_P).sum() / len(Y), backward


@right(loss_of_policy)
def with_logaddexp(Y, T):
    moves, worth = T
    rows = range(len(Y))
    whole = np.logaddexp.reduce(Y, axis=1)

    def backward(dL=1.0):
        dY = np.exp(Y - whole[:, None]) * worth[:, None]
        dY[rows, moves] -= worth
        return dY * dL / len(Y)

    return np.mean(worth * (whole - Y[rows, moves])), backward


@right(loss_of_policy)
def with_cross_entropy(Y, T):
    moves, worth = T
    rows = [cross_entropy(Y[i : i + 1], moves[i : i + 1]) for i in range(len(Y))]
    L = np.mean([value * row_L for value, (row_L, _) in zip(worth, rows, strict=True)])

    def backward(dL=1.0):
        parts = [back(dL * value / len(Y)) for value, (_, back) in zip(worth, rows, strict=True)]
        return np.concatenate(parts)

    return L, backward


refused(loss_of_policy, "the sign is flipped")(policy(lambda *given: -right_back(*given)))
refused(loss_of_policy, "5 times too large")(policy(lambda *given: len(given[0]) * right_back(*given)))
refused(loss_of_policy, "L is a mean over the batch, but yours is the sum")(
    policy(right_back, lambda log_P, moves, worth: -(worth * log_P[np.arange(len(moves)), moves]).sum())
)
refused(loss_of_policy, "the sign is flipped: good moves should become more probable")(
    policy(right_back, lambda log_P, moves, worth: (worth * log_P[np.arange(len(moves)), moves]).mean())
)
refused(loss_of_policy, "`[:, moves]` pairs every row with every move: write `[rows, moves]`")(
    policy(right_back, lambda log_P, moves, worth: -(worth[:, None] * log_P[:, moves]).mean())
)
refused(loss_of_policy, "`[:, moves]` pairs every row with every move: write `[rows, moves]`")(
    policy(right_back, lambda log_P, moves, worth: -(worth * log_P[:, moves]).mean())
)
for _words, _value in {
    "you divide by the sum of the returns": lambda chosen, worth: -(worth * chosen).sum() / worth.sum(),
    "each return belongs to its own row": lambda chosen, worth: -worth.mean() * chosen.mean(),
    "a return below 0 counts, too": lambda chosen, worth: -(np.maximum(worth, 0) * chosen).mean(),
    "a return below 0 keeps its sign": lambda chosen, worth: -(np.abs(worth) * chosen).mean(),
}.items():
    refused(loss_of_policy, _words)(
        policy(
            right_back,
            lambda log_P, moves, worth, value=_value: value(log_P[np.arange(len(moves)), moves], worth),
        )
    )
refused(loss_of_policy, "the mean is over the batch, and yours over all entries")(
    policy(
        right_back,
        lambda log_P, moves, worth: -np.mean(worth[:, None] * log_P * np.eye(log_P.shape[1])[moves]),
    )
)


def _in_the_type_of(which):
    """Return a policy loss whose dY has the type of the logits (0) or the returns (1)."""

    def answer(Y, T):
        L, backward = with_one_hot(Y, T)
        return L, lambda dL=1.0: backward(dL).astype((Y, T[1])[which].dtype)

    return answer


for _which in (0, 1):
    refused(loss_of_policy, "Here the logits and the returns are whole numbers")(_in_the_type_of(_which))


LATEST = {}


@refused(loss_of_policy, "Each call must create its own backward")
def with_the_latest_returns(Y, T):
    L, _ = with_one_hot(Y, T)
    LATEST["T"] = T
    return L, lambda dL=1.0: with_one_hot(Y, LATEST["T"])[1](dL)


refused(loss_of_policy, "the mean return was subtracted: this loss takes the returns as they are")(
    lambda Y, T: with_one_hot(Y, (T[0], T[1] - T[1].mean()))
)


def _by_the_jacobian(least):
    """Return a policy loss that is stable, and goes back by way of P, for the mistakes."""

    def loss_of_policy(Y, T):
        moves, worth = T
        P, G = np.exp(log_softmax(Y)), np.eye(Y.shape[1])[moves] * worth[:, None] / len(Y)

        def backward(dL=1.0):
            dP = -dL * G / (P + least)
            return P * (dP - (dP * P).sum(axis=1, keepdims=True))

        return with_one_hot(Y, T)[0], backward

    return loss_of_policy


def _overflows_back(Y, T):
    """Return the right loss, whose backward pass computes exp(1000)."""

    def backward(dL=1.0):
        P = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
        return dL * T[1][:, None] * (P - np.eye(Y.shape[1])[T[0]]) / len(Y)

    return with_one_hot(Y, T)[0], backward


refused(loss_of_policy, "and you divide by P, or take its logarithm")(_by_the_jacobian(0.0))
refused(loss_of_policy, "a gradient by way of it is lost: find dY from log P")(_by_the_jacobian(1e-15))
refused(loss_of_policy, "subtract each row's maximum from the logits in backward, too")(_overflows_back)
refused(loss_of_policy, "the returns are missing")(
    policy(
        lambda P, chosen, worth, dL: dL * (P - chosen),
        lambda log_P, moves, worth: -log_P[np.arange(len(moves)), moves].mean(),
    )
)


def _all_sums(Y, T):
    """Return the sum, with a backward pass that fits it."""
    L, backward = with_one_hot(Y, T)
    return L * len(Y), lambda dL=1.0: backward(dL) * len(Y)


refused(loss_of_policy, "L is a mean over the batch, but yours is the sum")(_all_sums)


@refused(loss_of_policy, "called again, backward returns another dY: it changes what it keeps, such as P")
def changes_its_P(Y, T):
    moves, worth = T
    rows, P = np.arange(len(Y)), np.exp(log_softmax(Y))

    def backward(dL=1.0):
        P[rows, moves] -= 1
        return dL * worth[:, None] * P / len(Y)

    return with_one_hot(Y, T)[0], backward


def _one_maximum(Y):
    shifted = Y - Y.max()
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


refused(loss_of_policy, "P is rounded to 0 there, and has no logarithm")(log_of(lambda Y: np.log(softmax(Y))))
refused(loss_of_policy, "each row needs its own maximum, `Y.max(axis=1, keepdims=True)`")(
    log_of(_one_maximum)
)
refused(loss_of_policy, "exp(1000) overflows: subtract each row's maximum")(
    log_of(lambda Y: Y - np.log(np.exp(Y).sum(axis=1, keepdims=True)))
)


@refused(loss_of_policy, "exp(1000) overflows: subtract each row's maximum")
def overflows(Y, T):
    P = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
    moves, worth = T
    rows = np.arange(len(Y))

    def backward(dL=1.0):
        return dL * worth[:, None] * (P - np.eye(Y.shape[1])[moves]) / len(Y)

    return -(worth * np.log(P[rows, moves])).mean(), backward


@refused(loss_of_policy, "it must return L and backward, but returned a float")
def only_the_loss(Y, T):
    return float(with_one_hot(Y, T)[0])
