"""Answers to the exercises of chapter 11: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch11_graphs import (
    anew,
    as_loss,
    as_number,
    children_first,
    concatenate,
    count_calls,
    fit,
    loss_with,
    operator,
    side_by_side,
    split_columns,
    three_walks,
    train_steps,
)
from minigrad.beyond.graph import CrossEntropy, Multiply, Variable
from tests.answers import refused, right

# 1. three walks over one graph


@right(three_walks)
def as_a_list():
    return [7.0, 3.0, 5.0]


@right(three_walks)
def as_sums():
    return np.array([2 * 1 + 2 * 2 + 1, 2 * 1 + 1, 2 * 2 + 1])


# 2. a topological order


@right(children_first)
def by_counting_children(parents):
    waiting = {name: sum(names.count(name) for names in parents.values()) for name in parents}
    ready, order = [name for name, children in waiting.items() if children == 0], []
    while ready:
        order.append(ready.pop())
        for parent in parents[order[-1]]:
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)
    return order


@right(children_first)
def depth_first_and_reversed(parents):
    order, seen = [], set()

    def visit(name):
        if name not in seen:
            seen.add(name)
            for parent in parents[name]:
                visit(parent)
            order.append(name)

    for name in parents:
        visit(name)
    return order[::-1]


@refused(children_first, "is there twice")
def once_for_each_path(parents):
    order = []

    def visit(name):
        order.append(name)
        for parent in parents[name]:
            visit(parent)

    visit(next(name for name in parents if not any(name in names for names in parents.values())))
    return order


@refused(children_first, "is missing")
def without_the_variables(parents):
    return [name for name in depth_first_and_reversed(parents) if parents[name]]


@refused(children_first, "it changes the dict or a list in it")
def takes_the_dict_apart(parents):
    order = []
    while parents:
        claimed = {parent for names in parents.values() for parent in names}
        order += [name for name in parents if name not in claimed]
        for name in order:
            parents.pop(name, None)
    return order


# 3. an operator


@right(concatenate)
class WithSplit(Variable):
    def __init__(self, x, z):
        super().__init__(np.hstack([x.data, z.data]), x, z)
        self.width = x.data.shape[1]

    def _back(self):
        for parent, part in zip(self.parents, np.split(self.g, [self.width], axis=1), strict=True):
            parent.g += part


@right(concatenate)
class WithMatrices(Variable):
    def __init__(self, x, z):
        n_x, n_z = x.data.shape[1], z.data.shape[1]
        self.left, self.right = np.eye(n_x, n_x + n_z), np.eye(n_z, n_x + n_z, k=n_x)
        super().__init__(x.data @ self.left + z.data @ self.right, x, z)

    def _back(self):
        x, z = self.parents
        x.g = x.g + self.g @ self.left.T
        z.g = z.g + self.g @ self.right.T


refused(concatenate, "the node's parents must be x and z, in this order, but it has 0")(
    operator(side_by_side, lambda node: None, lambda x, z: ())
)
refused(concatenate, "the node's parents must be x and z, in this order, but it has 1")(
    operator(side_by_side, lambda node, x: None, lambda x, z: (x,))
)
refused(
    concatenate, "the node's parents must be x and z, in this order, but it has one tuple or list of both"
)(operator(side_by_side, lambda node, both: split_columns(node, *both), lambda x, z: ((x, z),)))


@refused(concatenate, "pass them to super().__init__(data, x, z)")
class ForgetsTheParents(Variable):
    def __init__(self, x, z):
        super().__init__(side_by_side(x.data, z.data))

    def _back(self):
        x, z = self.parents
        split_columns(self, x, z)


@refused(concatenate, "one tuple or list of both: pass them to super().__init__(data, x, z)")
class PacksTheParents(Variable):
    def __init__(self, x, z):
        super().__init__(side_by_side(x.data, z.data), (x, z))

    def _back(self):
        x, z = self.parents
        split_columns(self, x, z)


@refused(concatenate, "after another node was made, back raises ValueError")
class RemembersOnTheClass(Variable):
    def __init__(self, x, z):
        type(self).cut = x.data.shape[1]
        super().__init__(side_by_side(x.data, z.data), x, z)

    def _back(self):
        x, z = self.parents
        x.g += self.g[:, : self.cut]
        z.g += self.g[:, self.cut :]


@refused(concatenate, "Concatenate must be a subclass of Variable")
class NoVariable:
    def __init__(self, x, z):
        self.data, self.parents = side_by_side(x.data, z.data), (x, z)


# 4. a loss made of a graph


@right(as_loss)
def with_a_copy(build):
    def loss(Y, T):
        y = Variable(Y)
        node = build(y, T)

        def backward(dL=1.0):
            y.zero_grad()
            node.back()
            return dL * y.g

        return float(node.data), backward

    return loss


@right(as_loss)
def anew_each_time(build):
    def loss(Y, T):
        def backward(dL=1.0):
            y = Variable(Y)
            build(y, T).back(dL)
            return y.g

        return np.sum(build(Variable(Y), T).data), backward

    return loss


def _in_place(y, node, dL):
    y.g[...] = 0.0
    node.back(dL)
    return y.g


def _returns_nothing(y, node, dL):
    anew(y, node, dL)


refused(as_loss, "L is a node, and it must be a plain number")(loss_with(lambda node: node, anew))
refused(as_loss, "L is an array, and it must be a plain number")(loss_with(lambda node: node.data, anew))
refused(as_loss, "the dY of the first backward() was changed by a later one")(loss_with(as_number, _in_place))
refused(as_loss, "backward returns nothing: return dY")(loss_with(as_number, _returns_nothing))


@refused(as_loss, "backward must be a function")
def goes_back_at_once(build):
    def loss(Y, T):
        y = Variable(Y)
        node = build(y, T)
        node.back()
        return node.item(), y.g

    return loss


# 5. calls


@right(count_calls)
def from_the_oldest(node):
    calls = {}
    for one in node.graph()[::-1]:
        calls[one] = 1 + sum(calls[parent] for parent in one.parents)
    return calls[node]


@right(count_calls)
def with_a_memory(node, counted=None):
    counted = {} if counted is None else counted
    if node not in counted:
        counted[node] = 1 + sum(with_a_memory(parent, counted) for parent in node.parents)
    return counted[node]


@refused(count_calls, "do not make the calls in order to count them")
def naively(node):
    return 1 + sum(naively(parent) for parent in node.parents)


# 6. a training loop


@right(fit)
def with_the_data_set(X, T, w, learning_rate, steps):
    x = Variable(X)
    scores, losses = Multiply(x, w), []
    for _ in range(steps):
        scores.data = x.data @ w.data
        loss = CrossEntropy(scores, T)
        w.zero_grad()
        loss.back()
        losses.append(loss.item())
        w.data = w.data - learning_rate * w.g
    return losses


@right(fit)
def with_a_new_w_in_each_pass(X, T, w, learning_rate, steps):
    losses = []
    for _ in range(steps):
        fresh = Variable(w.data)
        loss = CrossEntropy(Variable(X) @ fresh, T)
        loss.back()
        losses.append(loss.item())
        w.data = w.data - learning_rate * fresh.g
    return losses


@refused(fit, "the w that it is given keeps its old data")
def without_a_way_back(X, T, w, learning_rate, steps):
    losses = []
    for _ in range(steps):
        w.zero_grad()
        losses.append(CrossEntropy(Variable(X) @ w, T).item())
        w.data = w.data - learning_rate * w.g
    return losses


@refused(fit, "the losses are nodes, each with its whole graph")
def keeps_the_nodes(X, T, w, learning_rate, steps):
    losses = []
    for _ in range(steps):
        losses.append(CrossEntropy(Variable(X) @ w, T))
        w.zero_grad()
        losses[-1].back()
        w.data -= learning_rate * w.g
    return losses


@refused(fit, "with 7 steps it must return 7 losses")
def only_the_last(X, T, w, learning_rate, steps):
    return train_steps()(X, T, w, learning_rate, steps)[-1]


@refused(fit, "the w that it is given keeps its old data")
def a_w_of_its_own(X, T, w, learning_rate, steps):
    return train_steps()(X, T, Variable(w.data), learning_rate, steps)
