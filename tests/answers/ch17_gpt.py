"""Answers to the exercises of chapter 17: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch17_gpt import (
    Tied,
    asks,
    behind,
    by_table,
    cut,
    in_front,
    kept_with,
    looks_ahead,
    move,
    nucleus,
    sizes,
    true_nucleus,
    true_text,
    write_on,
)
from course.checks.questions import NOT_ADDED
from minigrad.layer import Layer
from minigrad.parameter import Parameter
from tests.answers import refused, refused_values, right

# 1. how many numbers learn


@right(sizes)
def by_formula():
    block = 12 * 16**2 + 13 * 16
    return block, block, block + 16 * (10 + 6 + 2 + 10) + 10


right(sizes)(lambda: np.array([3280, 3280, 3738]))


@refused(sizes, "each head has its part of the same matrices, so more heads add no numbers")
def heads_have_matrices_of_their_own():
    block = 12 * 16**2 + 13 * 16
    return block, block + 4 * (16**2 + 16), block + 458


@refused(sizes, "it is 144 short, as much as all biases of the block hold")
def without_biases():
    biases = 4 * 16 + 64 + 16
    return 3280 - biases, 3280 - biases, 3738 - biases - 10


refused_values(
    sizes,
    {
        (3280, 2 * 3280, 3738): "each head has its part of the same matrices, so more heads add no numbers",
        (3280 - 64, 3280 - 64, 3738 - 96): (
            "it is 64 short, as much as two LayerNorms hold, or the four biases of attention"
        ),
        (3280, 3280, 3738 - 32): "it is 32 short, as much as one LayerNorm holds",
        (3280, 3280, 3738 - 10): "it is 10 short, as much as the bias of the last layer holds",
        (64, 64, 96): "the library's other layers draw their numbers only with `rng=`, or in `initialize`",
    },
)


# 2. a long text in pieces


@right(cut)
def row_by_row(text, steps):
    starts = range(0, len(text) - steps, steps)
    X = np.array([text[start : start + steps] for start in starts], dtype=int).reshape(-1, steps)
    T = np.array([text[start + 1 : start + steps + 1] for start in starts], dtype=int).reshape(-1, steps)
    return X, T


@right(cut)
def by_places(text, steps):
    places = np.arange((len(text) - 1) // steps)[:, None] * steps + np.arange(steps)
    return text[places], text[places + 1]


@right(cut)
def without_a_kind(text, steps):
    rows = (len(text) - 1) // steps  # no row: np.array([]) is of floats, and holds none
    parts = ([text[row * steps + i :][:steps] for row in range(rows)] for i in (0, 1))
    return tuple(np.array(part).reshape(rows, steps) for part in parts)


@refused(cut, "a token picks a row of an Embedding, so it must stay an integer")
def fills_zeros(text, steps):
    rows = (len(text) - 1) // steps
    X, T = np.zeros((rows, steps)), np.zeros((rows, steps))
    for row in range(rows):
        X[row] = text[row * steps : (row + 1) * steps]
        T[row] = text[row * steps + 1 : (row + 1) * steps + 1]
    return X, T


@refused(cut, "for 8 characters and 3 steps, X[")
def in_bytes(text, steps):
    return tuple(part.astype(np.uint8) for part in by_places(text, steps))


@refused(cut, "with tokens 0, 1 and 2, T[")
def by_a_table_of_the_next(text, steps):
    X, _ = by_places(text, steps)
    following = dict(zip(text[:-1].tolist(), text[1:].tolist(), strict=True))
    return X, np.array([[following[token] for token in row] for row in X.tolist()], dtype=int).reshape(
        X.shape
    )


@refused(cut, "with tokens 0, 1 and 2, X has shape (0, 3); it must have shape (2, 3)")
def zeros_are_no_text(text, steps):
    padded = np.append(text, np.zeros(steps, dtype=int))
    X, T = by_places(padded, steps)
    full = (T != 0).all(axis=1)
    return X[full], T[full]


@refused(cut, "it must return X and T, but returned one array")
def one_array(text, steps):
    rows = (len(text) - 1) // steps
    return text[: rows * steps].reshape(rows, steps)


# 3. a nucleus


@right(nucleus)
def character_by_character(P, share):
    kept = np.zeros_like(P)
    for row in range(len(P)):
        left = share
        for character in P[row].argsort()[::-1]:
            if left > 0:
                kept[row, character] = P[row, character]
            left -= P[row, character]
    return kept / kept.sum(axis=1)[:, None]


@right(nucleus)
def by_what_is_likelier(P, share):
    likelier = P[:, None, :] > P[:, :, None]  # (batch, characters, characters)
    before = (likelier * P[:, None, :]).sum(axis=-1)
    kept = P * (before < share)
    return kept / kept.sum(axis=-1, keepdims=True)


@right(nucleus)
def counts_from_the_sum(P, share):
    order = np.argsort(-P, axis=1)
    many = (np.take_along_axis(P, order, axis=1).cumsum(axis=1) < share).sum(axis=1)
    smallest = P[np.arange(len(P)), order[np.arange(len(P)), many]]
    kept = np.where(P >= smallest[:, None], P, 0)
    return kept / kept.sum(axis=1, keepdims=True)


@right(nucleus)
def first_that_reaches(P, share):
    kept = np.zeros_like(P)
    for row, p in enumerate(P):
        order = p.argsort()[::-1]
        left = order[: (p[order].cumsum() >= share).argmax() + 1]
        kept[row, left] = p[left] / p[left].sum()
    return kept


@refused(nucleus, "with other numbers")
def of_the_first_twelve(P, share):
    order = np.argsort(-P, axis=1)
    P_few = np.where(order.argsort(axis=1) < 12, P, 0.0)
    kept = np.where(true_nucleus(P_few, share) > 0, P, 0.0)
    return kept / kept.sum(axis=1, keepdims=True)


def _nearly(P, share):
    return kept_with(lambda largest, share: largest.cumsum(axis=1) - largest < share - 1e-9)(P, share)


def _in_float32(P, share):
    return kept_with()(P.astype(np.float32), share)


def _about_as_likely(P, share):
    smallest = np.where(true_nucleus(P, share) > 0, P, 1.0).min(axis=1, keepdims=True)
    kept = np.where(P >= smallest - 1e-8, P, 0.0)
    return kept / kept.sum(axis=1, keepdims=True)


for _answer in (_nearly, _in_float32, _about_as_likely):
    refused(nucleus, "for rows where 1e-9 decides")(_answer)


@refused(nucleus, "a later call changes what an earlier one has returned")
def in_one_room(P, share, rooms={}):  # noqa: B006  the mistake
    room = rooms.setdefault(P.shape, np.zeros(P.shape))
    room[...] = kept_with()(P, share)
    return room


@refused(nucleus, "for a P in Fortran order")
def into_a_flat_copy(P, share):
    kept, inside = np.zeros_like(P), true_nucleus(P, share) > 0
    kept.ravel()[np.flatnonzero(inside)] = P[inside]
    with np.errstate(invalid="ignore"):
        return kept / kept.sum(axis=1, keepdims=True)


@refused(nucleus, "it changes P")
def in_place(P, share):
    P *= true_nucleus(P, share) > 0
    P /= P.sum(axis=1, keepdims=True)
    return P


# 4. a window


@right(write_on)
def with_two_arrays(model, X, count, n_steps):
    text = [column for column in X.T]
    for _ in range(count):
        read = np.stack(text[max(len(text) - n_steps, 0) :], axis=1)
        text.append(model.predict(read)[:, -1].argmax(axis=-1))
    return np.stack(text, axis=1)


@right(write_on)
def into_room(model, X, count, n_steps):
    steps = X.shape[1]
    text = np.zeros((len(X), steps + count), dtype=X.dtype)
    text[:, :steps] = X
    for place in range(steps, steps + count):
        Y, _ = model(text[:, max(0, place - n_steps) : place])
        text[:, place] = np.argmax(Y[:, -1], axis=1)
    return text


@refused(write_on, "It is that after the newest 3 alone")
def counts_from_the_end(model, X, count, n_steps):
    return true_text(model, X, count, n_steps, lambda X, n_steps: (X[:, X.shape[1] - n_steps :], -1))


@refused(write_on, "It is that after the newest 3 alone")
def moves_from_the_start(model, X, count, n_steps):
    return true_text(model, X, count, min(X.shape[1], n_steps))


@refused(write_on, "All texts get the character of the first")
def asks_the_first_text(model, X, count, n_steps):
    return np.hstack([X, np.tile(true_text(model, X[:1], count, n_steps)[:, X.shape[1] :], (len(X), 1))])


@refused(write_on, "For a count of 0, `[:, -count:]` takes all.")
def puts_the_text_in_front(model, X, count, n_steps):
    return np.hstack([X, true_text(model, X, count, n_steps)[:, -count:]])


@refused(write_on, "it gives a short text to the model filled up with 0 in front: give the text alone")
def fills_in_front(model, X, count, n_steps):
    return true_text(model, X, count, n_steps, in_front)


@refused(write_on, "it gives a short text to the model filled up with 0 at the end: give the text alone")
def fills_behind(model, X, count, n_steps):
    return true_text(model, X, count, n_steps, behind)


@refused(write_on, "the model has 7 positions, but got 8 characters")
def as_it_was(model, X, count, n_steps):
    for _ in range(count):
        X = np.concatenate([X, model.predict(X)[:, -1].argmax(axis=1)[:, None]], axis=1)
    return X


# 5. who looks ahead


@right(looks_ahead)
def with_ones(layer, X):
    Y = layer(X)[0]
    for step in range(X.shape[1]):
        later = (np.arange(X.shape[1]) > step)[None, :, None]
        if not np.allclose(layer(np.where(later, np.sin(7 * X) + 1, X))[0][:, step], Y[:, step]):
            return step


@right(looks_ahead)
def from_the_end(layer, X):
    Y, first = layer(X)[0], None
    for step in reversed(range(X.shape[1] - 1)):
        other = np.concatenate([X[:, : step + 1], 1 + X[::-1, step + 1 :] ** 2], axis=1)
        if not np.allclose(layer(other)[0][:, step], Y[:, step]):
            first = step
    return first


@right(looks_ahead)
def one_later_step_at_a_time(layer, X):
    Y, found, rng = layer(X)[0], [], np.random.default_rng(1)
    for later in range(1, X.shape[1]):
        other = X.copy()
        other[:, later] = rng.normal(size=other[:, later].shape)
        alike = [np.allclose(layer(other)[0][:, step], Y[:, step]) for step in range(later)]
        if not all(alike):
            found.append(alike.index(False))
    return min(found, default=None)


@refused(looks_ahead, "change the later steps, do not cut them off")
def cuts_off(layer, X):
    Y = layer(X)[0]
    for step in range(X.shape[1] - 1):
        if not np.allclose(layer(X[:, : step + 1])[0][:, step], Y[:, step]):
            return step
    return None


@refused(looks_ahead, "call only forward: a step may be used even if a slope is 0")
def by_slopes(layer, X):
    Y, backward = layer(X)
    for step in range(X.shape[1] - 1):
        dY = np.zeros_like(Y)
        dY[:, step] = np.random.default_rng(3).normal(size=Y[:, step].shape)
        if not np.allclose(backward(dY)[:, step + 1 :], 0):
            return step
    return None


@refused(looks_ahead, "it must return an int or None, but returned a bool")
def says_whether(layer, X):
    return asks(move(lambda step: slice(step + 1, None)))(layer, X) is not None


@refused(looks_ahead, "it changes X")
def in_place_too(layer, X):
    Y, first = layer(X)[0], None
    for step in reversed(range(X.shape[1] - 1)):
        X[:, step + 1 :] += 1.0
        if not np.allclose(layer(X)[0][:, step], Y[:, step]):
            first = step
    return first


# 6. a tied output


@right(by_table)
class WithEinsum(Tied):
    pass


@right(by_table)
class ThroughTheEmbedding(Layer):
    def __init__(self, embedding):
        self.table = embedding

    def forward(self, X):
        width = self.table.W.data.shape[1]

        def backward(dY):
            total = sum(one.T @ row for one, row in zip(dY, X, strict=True))
            self.table.W.grad = self.table.W.grad + total / np.sqrt(width)
            return np.matmul(dY, self.table.W.data) / np.sqrt(width)

        return np.matmul(X, np.transpose(self.table.W.data)) / np.sqrt(width), backward


@refused(by_table, NOT_ADDED)
class Assigns(Tied):
    def back(self, X, dY):
        self.W.grad[...] = self.scale(X) * np.einsum("bts,btw->sw", dY, X)
        return self.scale(X) * (dY @ self.W.data)


@refused(by_table, "besides embedding.W the layer has another Parameter")
class HasABias(Tied):
    def __init__(self, embedding):
        self.W, self.b = embedding.W, Parameter(np.zeros(embedding.W.shape[0]))


@refused(cut, "Along axis 0 there is one too few")
def drops_a_row(text, steps):
    rows = max((len(text) - 1) // steps - 1, 0)
    return tuple(text[i : i + rows * steps].reshape(rows, steps) for i in (0, 1))
