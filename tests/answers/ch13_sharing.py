"""Answers to the exercises of chapter 13: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch13_sharing import (
    Decoder,
    _turn,
    cosine_of_partners,
    cosine_with,
    freeze,
    freezes,
    how_many,
    right_fit,
    share,
    share_work,
    shared_out,
    transposed,
    trap,
    worked,
)
from course.checks.questions import NOT_ADDED
from minigrad.beyond.sharing import replica
from minigrad.layer import Layer, Sequential
from minigrad.parameter import Parameter
from tests.answers import refused, right

# 1. how many numbers learn


right(how_many)(lambda: np.array([12, 48, 15, 12, 24]))


@right(how_many)
def as_products():
    one = 3 * 3 + 3
    return [one, 4 * one, one + 3, one, 2 * one]


# 2. a tied decoder


@right(transposed)
class WithEinsum(Decoder):
    def forward(self, Z):
        return np.einsum("bo,io->bi", Z, self.W.data) + self.b.data, lambda dY: self.back(Z, dY)


@right(transposed)
class ThroughTheLayer(Layer):
    def __init__(self, linear):
        self.linear, self.b = linear, Parameter(np.zeros(len(linear.W.data)))

    def forward(self, Z):
        def backward(dY):
            self.linear.W.grad = self.linear.W.grad + (Z.T @ dY).T
            self.b.grad += np.ones(len(dY)) @ dY
            return dY @ self.linear.W.data

        return (self.linear.W.data @ Z.T).T + self.b.data, backward


@refused(transposed, "besides linear's Parameters and its b the decoder has another one")
class HasAMatrixOfItsOwn(Decoder):
    def __init__(self, linear):
        self.linear, self.W = linear, Parameter(linear.W.data)
        self.b = Parameter(np.zeros(linear.n_in))


@refused(transposed, "after a step of linear, Y")
class RemembersTheNumbers(Decoder):
    def __init__(self, linear):
        super().__init__(linear)
        self.start = linear.W.data.T.copy()

    def forward(self, Z):
        return Z @ self.start + self.b.data, lambda dY: self.back(Z, dY)


@refused(transposed, "with a new array in linear.W, Y")
class RemembersTheArray(Decoder):
    def __init__(self, linear):
        super().__init__(linear)
        self.start = linear.W.data.T

    def forward(self, Z):
        return Z @ self.start + self.b.data, lambda dY: self.back(Z, dY)


@refused(transposed, NOT_ADDED)
class Assigns(Decoder):
    def back(self, Z, dY):
        dZ = super().back(Z, dY)
        self.W.grad = dY.T @ Z
        return dZ


@refused(transposed, "its b must be a Parameter, but is nothing")
class WithoutBias(Decoder):
    def __init__(self, linear):
        self.W = linear.W


@refused(transposed, "5 times too small: 5 is the batch size")
class MeanOfTheBatch(Decoder):
    def back(self, Z, dY):
        self.W.grad += dY.T @ Z
        self.b.grad += dY.mean(axis=0)
        return dY @ self.W.data


# 3. the cosine of partners


@right(cosine_of_partners)
def with_one_quotient(X):
    A, B = X
    aa, bb, ab = ((P * Q).sum(axis=1, keepdims=True) for P, Q in ((A, A), (B, B), (A, B)))
    root = np.sqrt(aa * bb)

    def backward(dC):
        return (B - A * ab / aa) / root * dC[:, None], (A - B * ab / bb) / root * dC[:, None]

    return (ab / root)[:, 0], backward


@right(cosine_of_partners)
def with_einsum(X):
    U, V = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in X)
    C = np.einsum("bw,bw->b", U, V)

    def back(own, partner, rows, dC):
        part = partner - np.einsum("b,bw->bw", C, own)
        return np.einsum("b,bw->bw", dC / np.linalg.norm(rows, axis=1), part)

    return C, lambda dC: (back(U, V, X[0], dC), back(V, U, X[1], dC))


refused(cosine_of_partners, "this is the gradient of B")(cosine_with(lambda U, V, C, a, b: (U - C * V) / b))
refused(cosine_of_partners, "the sign is flipped")(cosine_with(lambda U, V, C, a, b: -(V - C * U) / a))


@refused(cosine_of_partners, "it must have shape (5,)")
def keeps_a_column(X):
    C, backward = with_one_quotient(X)
    return C[:, None], backward


# 4. a trap


@right(trap)
def with_sequential(layer):
    return Sequential(layer, layer)


@right(trap)
def side_by_side(layer):
    def both(X):
        Y, backward = layer(X)
        Z, other_backward = layer(-2 * X)
        return Y + Z, lambda dY: backward(dY) - 2 * other_backward(dY)

    return both


@refused(trap, "trap must return a layer")
def returns_numbers(layer):
    return np.ones(3)


# 5. freezing


@right(freeze)
def name_by_name(model, prefix):
    found, left, names = False, 0, []
    for name, parameter in model.named_parameters().items():
        names.append(name)
        if (name + ".").startswith(prefix + ".") and not prefix.endswith("."):
            found = True
            parameter.trainable = False
        left += parameter.trainable * parameter.data.size
    if not found:
        raise ValueError(f"{prefix}? {names}")
    return int(left)


@right(freeze)
def part_by_part(model, prefix):
    parts, parameters = prefix.split("."), model.named_parameters()
    fits = {name for name in parameters if name.split(".")[: len(parts)] == parts}
    if not fits:
        raise ValueError(f"no {prefix} in {list(parameters)}")
    for name, parameter in parameters.items():
        parameter.trainable = parameter.trainable and name not in fits
    return sum(int(np.prod(p.shape)) for p in parameters.values() if p.trainable)


refused(freeze, 'nothing is called "head", and no ValueError says so')(freezes(right_fit, refuse=False))


@refused(freeze, "the message does not hold layers.0.W")
def says_only_the_prefix(model, prefix):
    parameters = model.named_parameters()
    if not any(right_fit(name, prefix) for name in parameters):
        raise ValueError(f"nothing is called {prefix}")
    return freezes(right_fit)(model, prefix)


# 6. replicas that share the work


@right(share_work)
def seeded_with_the_share(model, loss, parts):
    examples = sum(len(T) for _, T in parts)
    losses, workers = [], [replica(model) for _ in parts]
    for worker, (X, T) in zip(workers, parts, strict=True):
        Y, backward = worker(X)
        L, loss_backward = loss(Y, T)
        backward(loss_backward(len(T) / examples))
        losses.append(L * len(T))
        for name, parameter in model.named_parameters().items():
            parameter.grad += worker.named_parameters()[name].grad
    return sum(losses) / examples, workers


@right(share_work)
def workers_first(model, loss, parts):
    workers = [replica(model) for _ in parts]
    sizes = np.array([len(X) for X, _ in parts])
    losses = np.array([worked(*work, loss) for work in zip(workers, parts, strict=True)])
    for group in zip(model.parameters(), *(worker.parameters() for worker in workers), strict=True):
        group[0].grad = group[0].grad + sum(
            w.grad * s for w, s in zip(group[1:], sizes / sizes.sum(), strict=True)
        )
    return np.average(losses, weights=sizes), tuple(workers)


@refused(share_work, "a part went through the model itself")
def without_replicas(model, loss, parts):
    examples = sum(len(X) for X, _ in parts)
    losses = []
    for X, T in parts:
        worker = model
        Y, backward = worker(X)
        L, loss_backward = loss(Y, T)
        backward(loss_backward(len(X) / examples))
        losses.append(len(X) / examples * L)
    return sum(losses), [model for _ in parts]


@refused(share_work, "one replica is used for several parts")
def one_replica_for_all(model, loss, parts):
    worker, total = replica(model), 0.0
    examples = sum(len(X) for X, _ in parts)
    for part in parts:
        worker.zero_grad()
        total += len(part[0]) / examples * worked(worker, part, loss)
        for ours, theirs in zip(model.parameters(), worker.parameters(), strict=True):
            ours.grad += len(part[0]) / examples * theirs.grad
    return total, [worker] * len(parts)


@refused(share_work, "it changes parts, which belongs to its caller: make a new list")
def empties_the_list_of_parts(model, loss, parts):
    shared = shared_out(share)(model, loss, list(parts))
    parts.clear()
    return shared


@refused(share_work, "it changes parts, which belongs to its caller: make a new list")
def doubles_an_input(model, loss, parts):
    shared = shared_out(share)(model, loss, parts)
    parts[0][0][...] *= 2
    return shared


@refused(share_work, "it must return L and workers, but returned a float")
def returns_the_loss_alone(model, loss, parts):
    return shared_out(share)(model, loss, parts)[0]


@refused(share_work, "it must return L and workers, but returned nothing")
def returns_nothing(model, loss, parts):
    shared_out(share)(model, loss, parts)


@refused(share_work, "for parts of 3 and 3 and 2 and 3, L is")
def equal_parts_counted_once(model, loss, parts):
    return shared_out(lambda sizes: sizes / sum(set(sizes.tolist())))(model, loss, parts)


@refused(transposed, "all zero: no gradient arrives here")
class OnlyTheEncoderLearns(Decoder):
    def back(self, Z, dY):
        self.b.grad += dY.sum(axis=0)
        return dY @ self.W.data


@refused(cosine_of_partners, "It would be right if dY were all ones: dY is not used")
def without_dC(X):
    C, backward = cosine_with(_turn)(X)
    return C, lambda dC: backward(np.ones_like(dC))
