"""Answers to the exercises of chapter 07: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch07_learning import (
    Optimizer,
    big_step,
    epoch,
    full_batches,
    one_each,
    product,
    right_share,
    run_epoch,
    sign_sgd,
    stepped,
    three_learning_rates,
)
from minigrad.data import batches
from tests.answers import refused, right

# 1. steps in a bowl of one parameter


@right(three_learning_rates)
def by_the_curvature():
    curvature = 2 * np.mean(np.square([1, 3]))
    return np.array([1 / curvature, 2 / curvature, 2 + (1 - 0.25 * curvature) * (3 - 2)])


right(three_learning_rates)(lambda: [1 / 10, 1 / 5, 1 / 2])


# 2. an optimizer


@right(sign_sgd)
class WithWhere(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            up, down = parameter.grad > 0, parameter.grad < 0
            parameter.data[...] = np.where(
                up,
                parameter.data - self.learning_rate,
                np.where(down, parameter.data + self.learning_rate, parameter.data),
            )


@right(sign_sgd)
class WithMasks(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            parameter.data[parameter.grad > 0] -= self.learning_rate
            parameter.data[parameter.grad < 0] += self.learning_rate


@refused(sign_sgd, "data is another array after the step")
class MakesANewArray(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            parameter.data = parameter.data - self.learning_rate * np.sign(parameter.grad)


@refused(sign_sgd, "it changes the gradients; they must stay the same")
class ZeroesToo(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            parameter.data -= self.learning_rate * np.sign(parameter.grad)
            parameter.zero_grad()


# 3. batches


@right(full_batches)
def with_resize(X, T, batch_size, rng):
    count = int(np.ceil(len(X) / batch_size))
    for rows in np.resize(rng.permutation(len(X)), (count, batch_size)):
        yield X[rows], T[rows]


@right(full_batches)
def as_a_list(X, T, batch_size, rng):
    order, found = list(rng.permutation(len(X))), []
    for start in range(0, len(X), batch_size):
        rows = order[start : start + batch_size]
        rows += order[: batch_size - len(rows)]
        found.append((X[rows], T[rows]))
    return found


@right(full_batches)
def with_a_remainder(X, T, batch_size, rng):
    order = rng.permutation(len(X))
    for start in range(0, len(X), batch_size):
        rows = order[np.arange(start, start + batch_size) % len(X)]
        yield X[rows], T[rows]


@refused(full_batches, "their sizes are 5, 5, 3; there must be 3 of 5")
def short_last(X, T, batch_size, rng):
    yield from batches(X, T, batch_size, rng)


@refused(full_batches, "their sizes are 5, 5; there must be 3 of 5")
def short_one_dropped(X, T, batch_size, rng):
    order = rng.permutation(len(X))
    for start in range(0, len(X) - batch_size + 1, batch_size):
        rows = order[start : start + batch_size]
        yield X[rows], T[rows]


@refused(full_batches, "15 examples in batches of 5: their sizes are 5, 5, 5, 5; there must be 3 of 5")
def one_batch_too_many(X, T, batch_size, rng):
    order = rng.permutation(len(X))
    order = np.concatenate([order, order[: batch_size - len(X) % batch_size]])
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        yield X[rows], T[rows]


@refused(full_batches, "filled up from the start of the order, it must hold")
def the_last_ones_again(X, T, batch_size, rng):
    order = rng.permutation(len(X))
    for start in range(0, len(X), batch_size):
        rows = order[min(start, len(X) - batch_size) :][:batch_size]
        yield X[rows], T[rows]


@refused(full_batches, "filled up from the start of the order, it must hold")
def filled_from_the_unshuffled(X, T, batch_size, rng):
    order = np.concatenate([rng.permutation(len(X)), np.arange(-len(X) % batch_size)])
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        yield X[rows], T[rows]


@refused(full_batches, "X and T are shuffled apart")
def shuffled_apart(X, T, batch_size, rng):
    X, T = X[rng.permutation(len(X))], T[rng.permutation(len(T))]
    for start in range(0, len(X), batch_size):
        rows = np.arange(start, start + batch_size) % len(X)
        yield X[rows], T[rows]


@refused(full_batches, "they are not shuffled")
def in_the_order_of_the_file(X, T, batch_size, rng):
    for start in range(0, len(X), batch_size):
        rows = np.arange(start, start + batch_size) % len(X)
        yield X[rows], T[rows]


@refused(full_batches, "it changes X, which belongs to its caller")
def shuffles_the_callers_arrays(X, T, batch_size, rng):
    order = rng.permutation(len(X))
    X[...], T[...] = X[order], T[order]
    for start in range(0, len(X), batch_size):
        rows = np.arange(start, start + batch_size) % len(X)
        yield X[rows], T[rows]


@refused(full_batches, "it ends with its first batch: use `yield`, which goes on afterwards")
def returns_the_first_batch(X, T, batch_size, rng):
    rows = rng.permutation(len(X))[:batch_size]
    return X[rows], T[rows]


@refused(full_batches, "it returns nothing: `yield` each batch")
def nothing_handed_out(X, T, batch_size, rng):
    rng.permutation(len(X))


# 4. an epoch


@right(epoch)
def with_batches(learner, X, T, batch_size, rng):
    found = [(learner.fit_batch(*batch), len(batch[0])) for batch in batches(X, T, batch_size, rng)]
    return sum(loss * size for loss, size in found) / len(X)


@right(epoch)
def both_turned_at_once(learner, X, T, batch_size, rng):
    order = np.arange(len(X))
    rng.shuffle(order)
    X, T, total = X[order], T[order], 0.0
    while len(X):
        total += learner.fit_batch(X[:batch_size], T[:batch_size]) * len(X[:batch_size])
        X, T = X[batch_size:], T[batch_size:]
    return total / len(order)


def _mean_in(order, learner, X, T, batch_size):
    """Return the mean loss over the examples of an epoch in this order."""
    losses, sizes = run_epoch(learner, X, T, batch_size, order)
    return losses @ sizes / sizes.sum()


@refused(epoch, "call learner.fit_batch for each batch")
def with_fit(learner, X, T, batch_size, rng):
    return learner.fit(X, T, epochs=1, batch_size=batch_size)


@refused(epoch, "X and T are shuffled apart")
def as_given(learner, X, T, batch_size, rng):
    X, T = X[rng.permutation(len(X))], T[rng.permutation(len(T))]
    return _mean_in(np.arange(len(X)), learner, X, T, batch_size)


@refused(epoch, "shuffle them, with rng")
def without_shuffling(learner, X, T, batch_size, rng):
    return _mean_in(np.arange(len(X)), learner, X, T, batch_size)


@refused(epoch, "the order must come from rng")
def with_a_seed_of_its_own(learner, X, T, batch_size, rng):
    order = np.random.default_rng(0).permutation(len(X))
    return _mean_in(order, learner, X, T, batch_size)


@refused(epoch, "it changes X, which belongs to its caller")
def shuffled_in_place(learner, X, T, batch_size, rng):
    order = rng.permutation(len(X))
    X[...], T[...] = X[order], T[order]
    return _mean_in(np.arange(len(X)), learner, X, T, batch_size)


@refused(epoch, "the learner never sees the examples")
def short_batch_lost(learner, X, T, batch_size, rng):
    order = rng.permutation(len(X))[: len(X) // batch_size * batch_size]
    return _mean_in(order, learner, X, T, batch_size)


@refused(epoch, "of 11 examples in batches of 5, the learner never sees the examples [")
def single_example_lost(learner, X, T, batch_size, rng):
    order = rng.permutation(len(X))
    return _mean_in(order[: len(X) - (len(X) % batch_size == 1)], learner, X, T, batch_size)


@refused(epoch, "the mean loss over the examples must be numbers, but is nothing")
def returns_nothing(learner, X, T, batch_size, rng):
    _mean_in(rng.permutation(len(X)), learner, X, T, batch_size)


# 5. one step from many batches


@right(big_step)
def with_slices(model, loss, optimizer, X, T, batch_size):
    model.zero_grad()
    losses = []
    for start in range(0, len(X), batch_size):
        part = slice(start, start + batch_size)
        Y, backward = model(X[part])
        L, loss_backward = loss(Y, T[part])
        backward(loss_backward(len(Y) / len(X)))
        losses.append(L * len(Y) / len(X))
    optimizer.step(model.parameters())
    return sum(losses)


@right(big_step)
def divided_in_the_end(model, loss, optimizer, X, T, batch_size):
    parameters, total = model.parameters(), 0.0
    for parameter in parameters:
        parameter.grad[...] = 0.0
    for X_batch, T_batch in batches(X, T, batch_size):
        Y, backward = model(X_batch)
        L, loss_backward = loss(Y, T_batch)
        backward(len(X_batch) * loss_backward())
        total += len(X_batch) * L
    for parameter in parameters:
        parameter.grad /= len(X)
    optimizer.step(parameters)
    return total / len(X)


refused(big_step, "optimizer.step is called 3 times; call it once")(stepped(right_share, step="each"))
refused(big_step, "optimizer.step is called 0 times; call it once")(stepped(right_share, step="never"))


@refused(big_step, "the model is never called: pass it one batch after the other")
def does_nothing(model, loss, optimizer, X, T, batch_size):
    return None


@refused(big_step, "the model is given 13 at a time")
def all_at_once(model, loss, optimizer, X, T, batch_size):
    return stepped(one_each)(model, loss, optimizer, X, T, len(X))


@refused(big_step, "the model is not given the examples in their order")
def shuffled_first(model, loss, optimizer, X, T, batch_size):
    order = np.random.default_rng(0).permutation(len(X))
    return stepped(right_share)(model, loss, optimizer, X[order], T[order], batch_size)


refused(big_step, "13 examples in batches of 16: the gradient of layers.0.W[")(
    stepped(lambda size, examples, full: size / max(examples, full))
)


# 6. weights chosen by hand


@right(product)
def with_halves():
    W1 = np.array([[0.5, -0.5], [0.5, 0.5]])
    return W1, np.zeros(2), np.array([[1.0], [-1.0]]), np.zeros(1)


right(product)(lambda: ([[2, 4], [-2, 4]], [0, 0], [[-1 / 16], [1 / 64]], [0]))


refused(product, "W2 must have shape (2, 1), but is of shape (2,)")(
    lambda: (np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2), np.array([0.25, -0.25]), np.zeros(1))
)
