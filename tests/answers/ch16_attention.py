"""Answers to the exercises of chapter 16: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch16_attention import (
    CUT_OFF,
    FIRST_ONLY,
    NO_OFFSET,
    NOT_A_MEAN,
    NOT_READ,
    OF_ITS_OWN,
    ONE_PLACE,
    ONE_VISIT,
    OTHER_WAY,
    SIGN_COUNTS,
    TURNED_GRADIENT,
    Ask,
    Distances,
    ask,
    causal_weights,
    counts_so_far,
    distances,
    fold,
    from_the_end,
    halves,
    mean_so_far,
    means,
    over,
    places_of_pairs,
    set_to_zero,
    soft_answers,
)
from course.checks.questions import NOT_ADDED
from minigrad.layer import Layer
from minigrad.layers.activations import Softmax
from minigrad.parameter import Parameter
from tests.answers import refused, refused_values, right

# 1. soft answers


right(soft_answers)(lambda: (0.625, 4.0, 4.0, 10.667, 1.5, 800))


@right(soft_answers)
def by_softmax():
    A = np.exp([0, np.log(2), np.log(5)])
    A, V = A / A.sum(), np.array([16, 8, 0])
    return A[2], A @ V, A @ V, A[:2] @ V[:2] / A[:2].sum(), A[0] * (V[0] - A @ V), 2 * 4 * 10**2


refused(soft_answers, "Take powers of e first")(lambda: (np.log(5) / np.log(10), 4, 4, 32 / 3, 1.5, 800))


refused_values(
    soft_answers,
    {
        (5 / 7, 4, 4, 32 / 3, 1.5, 800): "e^0 is 1, not 0: the first key is part of the sum, too",
        (5, 4, 4, 32 / 3, 1.5, 800): "That is the power e^S: divide it by the sum of all three",
        (0.125, 4, 4, 32 / 3, 2, 80): "That is the weight of the first key; the third has the score log 5",
        (0.625, 8, 8, 12, 1.5, 800): "that is the plain mean of the three",
        (0.625, 0, 0, 32 / 3, 1.5, 800): "the answer is soft, all values count",
        (0.62, 4, 4, 10.67, 1.5, 800): (
            "the third weight is not 0.62. It is close: give a fraction, or three decimals"
        ),
        (0.625, 4, 4, 10.7, 1.5, 800): (
            "the answer with the mask is not 10.7. It is close: give a fraction, or three decimals"
        ),
        (0.625, 4, 11, 32 / 3, 1.5, 800): "Softmax sees differences only, and these have not changed",
        (0.625, 4, 4, 4, 1.5, 800): "The mask comes before softmax, so the two other weights sum to 1 again",
        (0.625, 4, 4, 12, 1.5, 800): "Two weights remain, in the ratio 1 to 2",
        (0.625, 4, 4, 32 / 3, 2, 100): "Subtract the weighted mean of dA first: the cross terms",
        (0.625, 4, 4, 32 / 3, 1.75, 800): "as if a weight depended on its own score alone",
        (0.625, 4, 4, 32 / 3, 12, 800): "That is dA minus its weighted mean; the factor A is missing",
        (0.625, 4, 4, 32 / 3, 16 / 9, 800): "That is the one with the mask; use all three keys",
        (0.625, 4, 4, 32 / 3, -1.5, 800): "a larger weight on it raises the answer",
        (0.625, 4, 4, 32 / 3, 1.5, 80): "Each step has a weight for each step: 10 times 10 in every table",
        (0.625, 4, 4, 32 / 3, 1.5, 200): "Each head has a table of its own",
        (0.625, 4, 4, 32 / 3, 1.5, 400): "Each sequence of the batch has its own tables",
        (0.625, 4, 4, 32 / 3, 1.5, 100): "That is one table: each head has its own, for each sequence",
    },
)


# 2. a mean without questions


@right(mean_so_far)
def as_a_table(X):
    A = np.tri(X.shape[1]) / np.arange(1, X.shape[1] + 1)[:, None]
    return A @ X, lambda dY: A.T @ dY


@right(mean_so_far)
def step_by_step(X):
    steps = X.shape[1]
    Y = np.stack([X[:, : t + 1].mean(axis=1) for t in range(steps)], axis=1)

    def backward(dY):
        dX = np.zeros(X.shape)
        for t in range(steps):
            dX[:, : t + 1] += dY[:, t : t + 1] / (t + 1)
        return dX

    return Y, backward


refused(mean_so_far, "Step t has seen t + 1 rows: divide its sum by t + 1, not by all steps")(
    lambda X: (np.cumsum(X, axis=1) / X.shape[1], lambda dY: from_the_end(dY) / X.shape[1])
)
refused(mean_so_far, "That is the mean over all steps: the first step has seen only itself")(
    lambda X: (
        np.repeat(X.mean(axis=1, keepdims=True), X.shape[1], axis=1),
        lambda dY: np.repeat(dY.mean(axis=1, keepdims=True), X.shape[1], axis=1),
    )
)
refused(mean_so_far, "Divided by one too many: step t has seen t + 1 rows, and the first step one")(
    lambda X: (
        np.cumsum(X, axis=1) / (counts_so_far(X) + 1),
        lambda dY: from_the_end(dY / (counts_so_far(X) + 1)),
    )
)
refused(mean_so_far, "Divided by one too few: step t has seen t + 1 rows, not t")(
    lambda X: (over(np.cumsum(X, axis=1), counts_so_far(X) - 1), lambda dY: dY)
)
refused(mean_so_far, "Divided by one too few from step 1 on: step t has seen t + 1 rows, not t")(
    lambda X: (np.cumsum(X, axis=1) / np.maximum(counts_so_far(X) - 1, 1), lambda dY: dY)
)
refused(mean_so_far, "The new row weighs 1 / (t + 1), and not 1/2: all rows count the same")(
    lambda X: (halves(X), lambda dY: dY)
)
refused(mean_so_far, "The row of step t itself belongs to its mean, too")(
    lambda X: ((np.cumsum(X, axis=1) - X) / counts_so_far(X), lambda dY: dY)
)
refused(mean_so_far, "A row is in its own mean, too, not only in later ones")(
    lambda X: (means(X), lambda dY: from_the_end(dY / counts_so_far(X)) - dY / counts_so_far(X))
)
refused(mean_so_far, "These are the sums so far; a mean divides by how many there are")(
    lambda X: (np.cumsum(X, axis=1), from_the_end)
)
refused(mean_so_far, "That adds up over axis 0, the examples; the steps are axis 1")(
    lambda X: (np.cumsum(X, axis=0) / counts_so_far(X), lambda dY: from_the_end(dY / counts_so_far(X)))
)
refused(mean_so_far, "That is the mean over axis 0, the examples so far; the steps are axis 1")(
    lambda X: (np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None, None], lambda dY: dY)
)
refused(mean_so_far, "That adds up over axis 2, the columns; the steps are axis 1")(
    lambda X: (np.cumsum(X, axis=2) / counts_so_far(X), lambda dY: dY)
)
refused(
    mean_so_far,
    "Backward, a step gets gradients from itself and *later* ones: add up from the end",
)(lambda X: (means(X), lambda dY: np.cumsum(dY / counts_so_far(X), axis=1)))
refused(mean_so_far, "That takes the mean so far of dY. Backward, a step gets gradients from itself")(
    lambda X: (means(X), means)
)
refused(mean_so_far, "Divide dY by the counts first: the factor belongs to the step that took the mean")(
    lambda X: (means(X), lambda dY: from_the_end(dY) / counts_so_far(X))
)
refused(mean_so_far, "A row is in all later means too, not only in its own")(
    lambda X: (means(X), lambda dY: dY / counts_so_far(X))
)
refused(mean_so_far, "The sum from the end is right; each dY must be divided by its count")(
    lambda X: (means(X), from_the_end)
)
refused(mean_so_far, "That adds up over axis 0, the examples; the steps are axis 1")(
    lambda X: (means(X), lambda dY: np.cumsum((dY / counts_so_far(X))[::-1], axis=0)[::-1])
)
refused(mean_so_far, "The sum from the end is in reverse order: reverse it")(
    lambda X: (means(X), lambda dY: np.cumsum((dY / counts_so_far(X))[:, ::-1], axis=1))
)


@refused(mean_so_far, "it changes X, which belongs to its caller")
def in_place(X):
    for t in range(1, X.shape[1]):
        X[:, t] += X[:, t - 1]
    return X / counts_so_far(X), lambda dY: from_the_end(dY / counts_so_far(X))


@refused(mean_so_far, CUT_OFF)
def of_the_type_of_X(X):
    return means(X).astype(X.dtype), lambda dY: from_the_end(dY / counts_so_far(X))


@refused(mean_so_far, "with zeros in X, dX")
def no_gradient_at_zeros(X):
    return means(X), lambda dY: from_the_end(dY / counts_so_far(X)) * (X != 0)


@refused(mean_so_far, CUT_OFF)
def gradients_of_the_type_of_X(X):
    return means(X), lambda dY: from_the_end(dY / counts_so_far(X)).astype(X.dtype)


@refused(mean_so_far, "for 30 steps of whole numbers Y")
def of_ten_steps_at_most(X):
    A = np.tri(X.shape[1]) - np.tri(X.shape[1], k=-10)
    A = A / A.sum(axis=1, keepdims=True)
    return A @ X, lambda dY: A.T @ dY


@refused(mean_so_far, "it must return Y and backward, but returned one array")
def forward_only(X):
    return means(X)


# 3. a mask that leaks


@right(causal_weights)
def mask_then_softmax(S):
    return Softmax()(np.where(np.tri(S.shape[-1]) > 0, S, -np.inf))[0]


@right(causal_weights)
def row_by_row(S):
    A = np.zeros(S.shape)
    for step in range(S.shape[1]):
        seen = S[:, step, : step + 1]
        E = np.exp(seen - seen.max(axis=1, keepdims=True))
        A[:, step, : step + 1] = E / E.sum(axis=1, keepdims=True)
    return A


@right(causal_weights)
def a_very_low_score(S):
    S = S - 1e9 * np.triu(np.ones(S.shape[-2:]), k=1) - np.triu(S, k=1)
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@refused(causal_weights, "the value for a forbidden score must be lower than all others")
def not_low_enough(S):
    return Softmax()(np.where(np.tri(S.shape[-1]) > 0, S, -1000.0))[0]


@refused(causal_weights, "`predict` refuses scores of minus infinity: call the layer, `Softmax()(...)[0]`")
def predicted(S):
    return Softmax().predict(np.where(np.tri(S.shape[-1]) > 0, S, -np.inf))


@refused(causal_weights, "it changes S, which belongs to its caller")
def writes_into_S(S):
    S[:, np.triu(np.ones(S.shape[-2:]), k=1) > 0] = -np.inf
    return Softmax()(S)[0]


# 4. distances


@right(distances)
class DiagonalByDiagonal(Distances):
    def add(self, b, dY):
        steps = dY.shape[-1]
        for place in range(len(b.grad)):
            b.grad[place] += np.trace(dY, offset=steps - 1 - place, axis1=1, axis2=2).sum()


@right(distances)
class CountedTogether(Distances):
    def add(self, b, dY):
        total = dY.sum(axis=0)
        b.grad = b.grad + np.bincount(self.table.ravel(), weights=total.ravel(), minlength=len(b.grad))


def _with(**methods):
    """Return a Distances with other methods."""
    return type("Distances", (Distances,), methods)


def _without_sign(self, steps):
    return np.abs(places_of_pairs(steps) - steps + 1)


def _from_the_middle(self, steps):
    return _without_sign(self, steps) + steps - 1


def _one_visit(self, b, dY):
    b.grad[self.table] += dY.sum(axis=0)


def _first_place(self, b, dY):
    b.grad += dY.sum(axis=0).ravel()[np.unique(self.table, return_index=True)[1]]


def _mean(self, b, dY):
    b.grad += np.bincount(self.table.ravel(), weights=dY.sum(axis=0).ravel()) / np.bincount(
        self.table.ravel()
    )


for _sentence, _methods in [
    (OTHER_WAY, dict(places=lambda self, steps: places_of_pairs(steps).T)),
    (SIGN_COUNTS, dict(places=_without_sign)),
    (SIGN_COUNTS, dict(places=_from_the_middle)),
    (NO_OFFSET, dict(places=lambda self, steps: places_of_pairs(steps) - steps + 1)),
    (ONE_VISIT, dict(add=_one_visit)),
    (ONE_PLACE, dict(add=_first_place)),
    (NOT_A_MEAN, dict(add=_mean)),
    (FIRST_ONLY, dict(add=lambda self, b, dY: np.add.at(b.grad, self.table, dY[0]))),
    (TURNED_GRADIENT, dict(add=lambda self, b, dY: np.add.at(b.grad, self.table.T, dY.sum(axis=0)))),
]:
    refused(distances, _sentence)(_with(**_methods))


@refused(distances, NOT_READ)
class ReadOnce(Distances):
    def __init__(self, steps):
        super().__init__(steps)
        self.added = self.b.data[self.table]

    def forward(self, S):
        return S + self.added, super().forward(S)[1]


@refused(distances, OF_ITS_OWN)
class OneTableForAll(Distances):
    def places(self, steps):
        OneTableForAll.last = places_of_pairs(steps)

    def forward(self, S):
        self.table = self.last
        return super().forward(S)


@refused(distances, "for one step and one example, it raises")
class TableOfTheFirst(Distances):
    def places(self, steps):
        if steps > 1:
            TableOfTheFirst.first = places_of_pairs(steps)
        return self.first


@refused(distances, "at first b has shape")
class WithoutDirection(Distances):
    def count(self, steps):
        return steps

    def places(self, steps):
        return np.abs(places_of_pairs(steps) - steps + 1)


@refused(distances, NOT_ADDED)
class Assigned(Distances):
    def add(self, b, dY):
        b.grad = np.bincount(self.table.ravel(), weights=dY.sum(axis=0).ravel())


@refused(distances, "5 times too small: 5 is the batch size")
class MeanOverTheBatch(Distances):
    def add(self, b, dY):
        np.add.at(b.grad, self.table, dY.mean(axis=0))


@refused(distances, "its b must be a Parameter")
class PlainArray(Distances):
    def __init__(self, steps):
        self.table, self.b = places_of_pairs(steps), np.zeros(2 * steps - 1)


# 5. one question


@right(ask)
class ByEinsum(Ask):
    pass


@right(ask)
class ByMatrices(Layer):
    def __init__(self, n_in, rng=None):
        self.q = Parameter(np.random.default_rng(rng).normal(size=(n_in,)))

    def forward(self, X):
        q, root = self.q, np.sqrt(X.shape[2])
        A, back = Softmax()((X @ q.data[:, None]).swapaxes(1, 2) / root)  # (batch, 1, steps)

        def backward(dY):
            dY = dY[:, None]  # (batch, 1, n_in)
            dS = back(dY @ X.swapaxes(1, 2)) / root
            q.grad += (dS @ X).sum(axis=(0, 1))
            return A.swapaxes(1, 2) @ dY + dS.swapaxes(1, 2) @ q.data[None]

        return (A @ X)[:, 0], backward


@refused(ask, "The scores are divided by the root of n_in")
class NoRoot(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, rng)
        self.scale = 1.0


@refused(ask, "The scores are divided by the *root* of n_in")
class ByTheWidth(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, rng)
        self.scale = 1 / n_in


@refused(ask, "That divides by the root of the steps. A score adds up n_in products")
class RootOfTheSteps(Ask):
    def weigh(self, S):
        return super().weigh(S / self.scale / np.sqrt(S.shape[1]))


@refused(ask, "Here every weight is 1, the softmax over an axis of length 1: S has two axes")
class AnAxisOfOne(Ask):
    def weigh(self, S):
        return Softmax().predict(S[..., None])[..., 0]


@refused(ask, "Softmax goes over the steps of one sequence, axis 1 of S; that was over the examples")
class OverTheBatch(Ask):
    def weigh(self, S):
        return Softmax().predict(S.T).T


@refused(ask, "A weight depends on all scores of its sequence; the cross terms are missing")
class NoCrossTerms(Ask):
    def back(self, A, dA):
        return A * (1 - A) * dA


@refused(ask, "The backward pass of softmax is missing: dA is the gradient of the weights, not of the scores")
class NoSoftmaxBack(Ask):
    def back(self, A, dA):
        return dA


@refused(ask, "the cross terms are missing")
class WeightTimesSlope(Ask):
    def back(self, A, dA):
        return A * dA


@refused(ask, "The scale is missing in the backward pass: S is X q times it, and so are dq and dX")
class NoScaleBack(Ask):
    def back(self, A, dA):
        return super().back(A, dA) / self.scale


@refused(ask, "The scale is missing in the backward pass: S is X q times it, and so are dq and dX")
class NoScaleInDX(Ask):
    def dX(self, as_values, as_keys):
        return as_values + as_keys / self.scale


@refused(ask, "all zero: no gradient arrives here")
class ForgotQ(Ask):
    def add(self, dq):
        pass


@refused(ask, "the same seed draws another q each time")
class IgnoresRng(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, np.random.default_rng())


@refused(ask, "The root divides the scores, not q")
class SmallQ(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, rng)
        self.q.data /= np.sqrt(n_in)


@refused(ask, "np.random.default_rng(rng).normal(size=n_in) draws")
class Uniform(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, rng)
        self.q.data[...] = np.random.default_rng(rng).random(n_in)


@refused(ask, "two seeds draw the same q")
class AllZeros(Ask):
    def __init__(self, n_in, rng=None):
        super().__init__(n_in, rng)
        self.q = Parameter(np.zeros(n_in))


@refused(ask, "2 times too large")
class OneStepCountedTwice(Ask):
    def dX(self, as_values, as_keys):
        steps = as_values.shape[1]
        return as_values + as_keys + (as_values if steps == 1 else 0.0)


@refused(ask, "Ask: Y[")
class ClippedScores(Ask):
    def weigh(self, S):
        return super().weigh(np.clip(S, -20, 20))


@refused(ask, NOT_ADDED)
class AssignedQ(Ask):
    def add(self, dq):
        self.q.grad = dq


# 6. biases


@right(fold)
def by_the_output_layer(attention):
    attention.output.b.data[...] = attention.output.predict(attention.values.b.data[None])[0]
    for part in (attention.keys, attention.values):
        part.b.data *= 0.0


@right(fold)
def by_new_arrays(attention):
    v = attention.values.b.data
    attention.output.b.data = attention.output.b.data + attention.output.W.data.T @ v
    attention.values.b.data = np.zeros_like(v)
    attention.keys.b.data = np.zeros_like(attention.keys.b.data)


@right(fold)
def by_new_parameters(attention):
    zeros = np.zeros_like(attention.values.b.data)
    moved = attention.values.b.data @ attention.output.W.data
    attention.output.b = Parameter(attention.output.b.data + moved)
    attention.keys.b, attention.values.b = Parameter(zeros.copy()), Parameter(zeros.copy())


@refused(fold, "Each head has its own part of values.b: it is added once, not once for each head")
def times_the_heads(attention):
    attention.output.b.data += attention.heads * attention.values.b.data @ attention.output.W.data
    set_to_zero(attention.keys, attention.values)


def _moved(attention):
    attention.output.b.data += attention.values.b.data @ attention.output.W.data


@refused(fold, "keys.b must stay a Parameter, but is None: write into `keys.b.data[...]`")
def no_keys(attention):
    _moved(attention)
    set_to_zero(attention.values)
    attention.keys.b = None


@refused(fold, "values.b must stay a Parameter, but is None")
def no_values(attention):
    _moved(attention)
    set_to_zero(attention.keys)
    attention.values.b = None


@refused(fold, "b must be a Parameter: write layer.b.data[...] = array")
def plain_output(attention):
    attention.output.b = attention.output.b.data + attention.values.b.data @ attention.output.W.data
    set_to_zero(attention.keys, attention.values)


@refused(fold, "data must be an array of floats of shape (6,), got ()")
def one_zero(attention):
    _moved(attention)
    attention.keys.b.data[...] = 0.0
    attention.values.b.data = np.zeros(())


@refused(fold, "output.b must keep its type float32, but has float64: write into `output.b.data[...]`")
def in_float64(attention):
    attention.output.b.data = attention.output.b.data.astype(float)
    by_the_output_layer(attention)


@refused(fold, "keys.b and values.b are one Parameter now")
def one_for_both(attention):
    by_the_output_layer(attention)
    attention.keys.b = attention.values.b


@refused(fold, "queries.b has changed: only three biases may")
def queries_as_well(attention):
    by_the_output_layer(attention)
    set_to_zero(attention.queries)


@refused(fold, "keys.b must hold zeros, but is unchanged")
def forgets_the_keys(attention):
    attention.output.b.data += attention.values.b.data @ attention.output.W.data
    set_to_zero(attention.values)
