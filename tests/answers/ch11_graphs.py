"""Answers to the exercises of chapter 11: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch11_graphs import (
    FIRST_LOST,
    NOT_THROUGH,
    SECOND_LOST,
    as_loss,
    children_first,
    concatenate,
    count_calls,
    fit,
    operator,
    side_by_side,
    split_columns,
    three_walks,
    train_steps,
)
from course.checks.questions import OWN_MEMORY
from minigrad.beyond.graph import CrossEntropy, Multiply, Variable
from tests.answers import refused, right

# 1. three walks over one graph


right(three_walks)(lambda: [7.0, 3.0, 5.0])


right(three_walks)(lambda: np.array([2 * 1 + 2 * 2 + 1, 2 * 1 + 1, 2 * 2 + 1]))


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


def _first_lost(node, x, z):
    left, right = np.split(node.g, [x.data.shape[1]], axis=1)
    x.g, z.g = x.g + left, z.g + right


def _to_trainable(node, x, z):
    for parent, part in zip((x, z), np.split(node.g, [x.data.shape[1]], axis=1), strict=True):
        parent.g += parent.trainable * part


refused(concatenate, FIRST_LOST)(operator(side_by_side, _first_lost))
refused(concatenate, NOT_THROUGH)(operator(side_by_side, _to_trainable))


@refused(concatenate, SECOND_LOST)
class OneOfTwoEqual(Variable):
    def __init__(self, x, z):
        super().__init__(side_by_side(x.data, z.data), *dict.fromkeys([x, z]))

    def _back(self):
        if len(self.parents) == 2:
            return split_columns(self, *self.parents)
        self.parents[0].g += self.g[:, : self.g.shape[1] // 2]


@refused(concatenate, NOT_THROUGH)
class KeepsTheGradientsOfParents(Variable):
    def __init__(self, x, z):
        super().__init__(side_by_side(x.data, z.data), x, z)
        self.to_x, self.to_z = x.g, z.g

    def _back(self):
        self.to_x += self.g[:, : self.to_x.shape[1]]
        self.to_z += self.g[:, self.to_x.shape[1] :]


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
def by_the_difference(build):
    def loss(Y, T):
        y = Variable(Y)
        node = build(y, T)

        def backward(dL=1.0):
            before = y.g.copy()
            node.back(dL)
            return y.g - before

        return float(node), backward

    return loss


@right(as_loss)
class InAClass:
    def __init__(self, build):
        self.build = build

    def __call__(self, Y, T):
        y = Variable(Y)
        node = self.build(y, T)
        node.back()
        dY = y.g.copy()
        return node.item(), lambda dL=1.0: dL * dY


def loss_with(back, value=Variable.item, memory=None):
    """Return an as_loss with this backward function and this value, and a memory for a pass or for all."""

    def as_loss(build):
        def loss(Y, T):
            mine = {} if memory is None else memory
            y = mine["y"] = Variable(Y)
            node = mine["node"] = build(y, T)
            return value(node), lambda dL=1.0: back(mine["y"], mine["node"], dL)

        return loss

    return as_loss


def anew(y, node, dL):
    y.g = np.zeros_like(y.data)
    node.back(dL)
    return y.g


def _in_place(y, node, dL):
    y.g[...] = 0.0
    node.back(dL)
    return y.g


def _added_up(y, node, dL):
    node.back(dL)
    return y.g.copy()


def _added_up_in_place(y, node, dL):
    node.back(dL)
    return y.g


def _once(y, node, dL):
    if not y.g.any():
        node.back(dL)
    return y.g.copy()


def _zeroed_after(y, node, dL):
    node.back(dL)
    dY = y.g
    y.zero_grad()
    return dY


def _one_level(y, node, dL):
    y.zero_grad()
    node.g = np.array(dL)
    node._back()
    return y.g.copy()


for words, back in {
    "the dY of backward(3.0) was changed by a later call": _in_place,
    "Gradients of variables add up: begin with zeros in each backward": _added_up,
    "begin with zeros in each backward": _added_up_in_place,
    "The argument dL is not used: start the backward pass with it": lambda y, node, dL: anew(y, node, 1.0),
    "That is what the first call returned: begin anew": _once,
    "dY is 0 everywhere": _zeroed_after,
    "it must be the g of the Variable": _one_level,
    "5 times too small: 5 is the batch size": lambda y, node, dL: anew(y, node, dL) / len(y.data),
    "backward returns nothing: return dY": lambda y, node, dL: node.back(dL),
    "backward returns a node: return dY": lambda y, node, dL: y,
}.items():
    refused(as_loss, words)(loss_with(back))
refused(as_loss, "L is a node, and it must be a plain number")(loss_with(anew, lambda node: node))
refused(as_loss, "L is an array, and it must be a plain number")(loss_with(anew, lambda node: node.data))
refused(as_loss, OWN_MEMORY)(loss_with(anew, memory={}))


@refused(as_loss, OWN_MEMORY)
def with_the_last_variable(build):
    last = {}

    def loss(Y, T):
        last["y"] = Variable(Y)
        node = build(last["y"], T)
        return node.item(), lambda dL=1.0: anew(last["y"], node, dL)

    return loss


@refused(as_loss, "with another Y, L is")
def with_the_first_graph(build):
    first = []

    def loss(Y, T):
        if not first:
            y = Variable(Y)
            first.extend([y, build(y, T)])
        return first[1].item(), lambda dL=1.0: anew(*first, dL)

    return loss


@refused(as_loss, "That is the L of another build")
def with_the_last_build(build, memory={}):  # noqa: B006 (the mistake itself)
    memory["build"] = build
    return loss_with(anew)(lambda y, T: memory["build"](y, T))


@refused(as_loss, "in one pass, build is called 3 times")
def anew_each_time(build):
    def loss(Y, T):
        def backward(dL=1.0):
            y = Variable(Y)
            build(y, T).back(dL)
            return y.g

        return build(Variable(Y), T).item(), backward

    return loss


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
