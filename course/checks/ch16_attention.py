"""The exercises of chapter 16: attention by hand, a running mean, a mask, distances, one query, biases."""

from contextlib import contextmanager, nullcontext

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    because,
    drawn_sizes,
    expect_gradcheck,
    expect_guesses,
    expect_layer,
    expect_made,
    expect_several,
    expect_shape,
    expect_values,
    explained,
    untouched,
)
from minigrad.layer import Layer
from minigrad.layers.activations import Softmax
from minigrad.layers.attention import MultiHeadAttention
from minigrad.parameter import Parameter

STEPS = N_OUT  # a prime that is neither the batch nor the width


@contextmanager
def _rounded(guess, truth):
    """Ask for more decimals in the message, if a guess is near a truth that needs them."""
    try:
        yield
    except CheckFailed as no:
        if round(truth, 1) != truth and np.shape(guess) == () and abs(guess - truth) < 0.05 * abs(truth):
            raise CheckFailed(f"{no.sentence}. It is close: give a fraction, or three decimals") from no
        raise


# 1. soft answers

soft_answers = Exercise(
    "16_attention.soft_answers",
    title="Soft answers",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "What is e to the power of 0, of log 2, of log 5? And their sum?",
        "The weights are 1/8, 2/8 and 5/8. A mask makes the third 0, and the other two must again sum to 1.",
        "dS is A (dA - the weighted mean of dA), and dA holds the values. A table of weights has a number "
        "for each pair of steps.",
    ),
)


@soft_answers.check
def _(answer, rng):
    S, values = np.log([1.0, 2.0, 5.0]), np.array([16.0, 8.0, 0.0])
    A, backward = Softmax()(S)
    masked, _ = Softmax()(np.array([S[0], S[1], -np.inf]))
    table = MultiHeadAttention(4, heads=4, rng=rng).weights(rng.normal(size=(2, 10, 4)))
    truths = {
        "the third weight": A[2],
        "the answer": A @ values,
        "the answer with scores grown by 7": Softmax().predict(S + 7) @ values,
        "the answer with the mask": masked @ values,
        "the first number of dS": backward(values)[0],
        "the count of numbers in A": table.size,
    }
    guesses = answer()
    guesses = tuple(guesses) if isinstance(guesses, np.ndarray) else guesses
    for guess, (what, truth) in zip(expect_several(guesses, *truths), truths.items(), strict=True):
        with _rounded(guess, float(truth)):
            expect_guesses(guess, {what: float(truth)}, SLIPS)
    return "six numbers, compared with a run"


SLIPS = {  # explanations of typical wrong numbers, by question
    "the third weight": {
        np.log(5) / np.log(10): "Take powers of e first: shares of the powers, not of the scores",
        5 / 7: "e^0 is 1, not 0: the first key is part of the sum, too",
        5: "That is the power e^S: divide it by the sum of all three",
        1 / 8: "That is the weight of the first key; the third has the score log 5",
        2 / 8: "That is the weight of the second key; the third has the score log 5",
    },
    "the answer": {
        8: "Every value counts with its weight; that is the plain mean of the three",
        0: "That is the value of the largest weight: the answer is soft, all values count",
    },
    "the answer with scores grown by 7": {
        11: "Softmax sees differences only, and these have not changed",
    },
    "the answer with the mask": {
        4: "The mask comes before softmax, so the two other weights sum to 1 again",
        12: "Two weights remain, in the ratio 1 to 2",
    },
    "the first number of dS": {
        2: "That is A dA. Subtract the weighted mean of dA first: the cross terms",
        1.75: "That is dA A (1 - A), as if a weight depended on its own score alone",
        12: "That is dA minus its weighted mean; the factor A is missing",
        16 / 9: "That is the one with the mask; use all three keys",
        -1.5: "16 is above the mean of the values: a larger weight on it raises the answer",
        16: "That is dA. It still has to pass backward through softmax",
    },
    "the count of numbers in A": {
        80: "Each step has a weight for each step: 10 times 10 in every table",
        200: "Each head has a table of its own",
        400: "Each sequence of the batch has its own tables",
        100: "That is one table: each head has its own, for each sequence",
    },
}


# 2. a mean without questions

mean_so_far = Exercise(
    "16_attention.mean_so_far",
    title="The mean so far",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "`np.cumsum(X, axis=1)` adds up the steps so far. By what is each of these sums divided?",
        "`X[:, s]` is in `Y[:, s]` and in all later ones, in `Y[:, t]` with the factor 1 / (t + 1).",
        "Divide dY by the counts, then add up from the end: reverse the steps with `[:, ::-1]`, take "
        "cumsum, and reverse them again.",
    ),
)


def means(X):
    """Return the mean of all steps so far."""
    return np.cumsum(X, axis=1) / np.arange(1, X.shape[1] + 1)[:, None]


@mean_so_far.check
def _(answer, rng):
    batch, n_in, steps = drawn_sizes(rng, BATCH, N_IN, STEPS)
    X, dY = rng.normal(size=(2, batch, steps, n_in))
    slips = {"Y": _wrong_means(X).items(), "dX": _wrong_ways_back(dY).items()}
    expect_layer(answer, means, dY, slips=slips, X=X)
    whole = rng.integers(0, 9, size=(2, 30, n_in))  # some of them 0
    Y, backward = answer(whole)
    truths = {"Y": (Y, means(whole)), "dX": (backward(whole), from_the_end(whole / counts_so_far(whole)))}
    for name, (found, truth) in truths.items():
        with because(CUT_OFF) if np.asarray(found).dtype.kind in "iu" else nullcontext():
            expect_values(f"for 30 steps of whole numbers {name}", found, truth)
    expect_gradcheck(answer, X)
    return "values, gradients, sequences of one step and of 30, and whole numbers"


CUT_OFF = "It holds whole numbers, but a mean and a share can be fractions: make it of floats"


OVER_EXAMPLES = "That adds up over axis 0, the examples; the steps are axis 1"


def _wrong_means(X):
    """Return the wrong values of likely mistakes, by their sentences."""
    sums, counts = np.cumsum(X, axis=1), counts_so_far(X)
    return {
        "Step t has seen t + 1 rows: divide its sum by t + 1, not by all steps": sums / X.shape[1],
        "Divided by one too many: step t has seen t + 1 rows, and the first step one": sums / (counts + 1),
        "Divided by one too few: step t has seen t + 1 rows, not t": over(sums, counts - 1),
        "Divided by one too few from step 1 on: step t has seen t + 1 rows, not t": sums
        / np.maximum(counts - 1, 1),
        "The new row weighs 1 / (t + 1), and not 1/2: all rows count the same": halves(X),
        "The row of step t itself belongs to its mean, too": (sums - X) / counts,
        "That is the mean over all steps: the first step has seen only itself": np.broadcast_to(
            X.mean(axis=1, keepdims=True), X.shape
        ),
        "These are the sums so far; a mean divides by how many there are": sums,
        OVER_EXAMPLES: np.cumsum(X, axis=0) / counts,
        "That is the mean over axis 0, the examples so far; the steps are axis 1": np.cumsum(X, axis=0)
        / np.arange(1, len(X) + 1)[:, None, None],
        "That adds up over axis 2, the columns; the steps are axis 1": np.cumsum(X, axis=2) / counts,
    }


def halves(X):
    """Return at each step the mean of two: what the step before it returned, and its own row."""
    Y = X.copy()
    for t in range(1, X.shape[1]):
        Y[:, t] = (Y[:, t - 1] + X[:, t]) / 2
    return Y


def over(sums, counts):
    """Divide, also by 0."""
    with np.errstate(all="ignore"):
        return sums / counts


def _wrong_ways_back(dY):
    """Return the wrong values of likely mistakes, by their sentences."""
    counts = counts_so_far(dY)
    parts = dY / counts
    return {
        "Backward, a step gets gradients from itself and *later* ones: add up from the end": np.cumsum(
            parts, axis=1
        ),
        "Divide dY by the counts first: the factor belongs to the step that took the mean": from_the_end(dY)
        / counts,
        "That takes the mean so far of dY. Backward, a step gets gradients from itself and *later* ones, "
        "each dY divided by its own count": np.cumsum(dY, axis=1) / counts,
        "A row is in all later means too, not only in its own": parts,
        "A row is in its own mean, too, not only in later ones": from_the_end(parts) - parts,
        "The sum from the end is right; each dY must be divided by its count": from_the_end(dY),
        OVER_EXAMPLES: np.cumsum(parts[::-1], axis=0)[::-1],
        "The sum from the end is in reverse order: reverse it": np.cumsum(parts[:, ::-1], axis=1),
    }


def counts_so_far(X):
    return np.arange(1, X.shape[1] + 1)[:, None]


def from_the_end(parts):
    return np.cumsum(parts[:, ::-1], axis=1)[:, ::-1]


@mean_so_far.mistake("An array (steps,) meets the columns: give the counts a second axis, `[:, None]`.")
def counts_of_one_axis(X):
    return np.cumsum(X, axis=1) / np.arange(1, X.shape[1] + 1), None


# 3. a mask that leaks

causal_weights = Exercise(
    "16_attention.causal_weights",
    title="Two leaks",
    points=3,
    kind="repair",
    minutes=10,
    hints=(
        "Print `np.tri(3, k=1)`. What may step 0 look at?",
        "The other leak is in the first line. For the row [0, 5000] of step 0: what is its maximum, and what "
        "is left of the 0?",
        "Mask the scores first, with `np.where(..., S, -np.inf)`; then take the maximum and the softmax.",
    ),
)


@causal_weights.check
def _(answer, rng):
    batch, steps = drawn_sizes(rng, BATCH, STEPS)
    S = rng.normal(size=(batch, steps, steps))
    with np.errstate(all="ignore"):  # overflow is reported below
        with untouched(S=S):
            A = _called(answer, S)
        expect_shape("the table", A, "S", S)
        if np.isnan(A).any():
            raise CheckFailed("the weights hold nan")
        _refuse_looking_ahead(A)
        sums = np.sum(A, axis=-1)
        if not np.allclose(sums, 1):
            raise CheckFailed(f"a row sums to {sums.flat[np.abs(sums - 1).argmax()]:.3g}, and not to 1")
        expect_values("A", A, _softmax_so_far(S))
        _refuse_leaks(answer, S, A, rng.normal(size=S.shape))
        late = np.full(S.shape, 5000.0)
        _refuse_leaks(answer, S, A, late, " of 5000")
        for size in (5000, -5000):
            A = answer(S + size)
            _refuse_looking_ahead(A, f"with all scores near {size} ")
            expect_values(f"with all scores near {size} A", A, _softmax_so_far(S + size))
        _refuse_other_rows(answer, S)
    return "zeros, sums, futures, and large scores of both signs"


def _called(answer, S):
    """Call an answer with S; if `predict` refuses minus infinity, the message says what to call."""
    try:
        return answer(S)
    except ValueError as error:
        if "is not finite" in str(error) and ": -inf." in str(error):
            raise CheckFailed(
                "`predict` refuses scores of minus infinity: call the layer, `Softmax()(...)[0]`"
            ) from error
        raise


def _softmax_so_far(S):
    """Return causal weights, row by row."""
    A = np.zeros_like(S)
    for step in range(S.shape[-1]):
        A[..., step, : step + 1] = Softmax().predict(S[..., step, : step + 1])
    return A


def _refuse_looking_ahead(A, when=""):
    """Require that all weights right of the diagonal are 0."""
    ahead = np.argwhere(np.triu(np.abs(A).sum(axis=0), k=1) > 0)
    if len(ahead):
        step, seen = ahead[0]
        low = ": the value for a forbidden score must be lower than all others" if when else ""
        raise CheckFailed(f"{when}step {step} looks at step {seen}, which is in the future{low}")


def _refuse_other_rows(answer, S):
    """Require that one large allowed score in the last row does not change the weights of other rows."""
    before, seen = np.asarray(answer(S)), np.asarray(answer(_with_a_large_score(S)))
    if np.isnan(seen[:, :-1]).any():
        raise CheckFailed("a score of 5000 in the last row turns weights of other rows into nan")
    if not np.allclose(seen[:, :-1], before[:, :-1]):
        raise CheckFailed("a score of 5000 in the last row changes weights of other rows")
    expect_values("with a score of 5000 in the last row, A", seen, _softmax_so_far(_with_a_large_score(S)))


def _with_a_large_score(S):
    """Return a copy of S whose last row holds one score of 5000, not at one place in all examples."""
    S = S.copy()
    S[::2, -1, 0] = S[1::2, -1, S.shape[-1] // 2] = 5000.0
    return S


def _refuse_leaks(answer, S, A, future, size=""):
    """Require that other scores right of the diagonal change no bit."""
    other = np.where(np.tri(S.shape[-1], dtype=bool), S, future)
    seen = np.asarray(answer(other))
    if np.isnan(seen).any():
        raise CheckFailed(f"with scores{size} in the future, weights become nan: the future leaks in")
    changed = np.argwhere(seen != A)
    if len(changed):
        bits = np.abs(seen - A).max() < 1e-9
        how = "in the last bits" if bits else f"by up to {np.abs(seen - A).max():.2g}"
        raise CheckFailed(f"other scores{size} in the future change weights of the past, {how}")
    expect_values(f"with other scores{size} in the future, A", seen, _softmax_so_far(S))


@causal_weights.probe
def _(answer, rng):
    S = rng.normal(size=(2, STEPS, STEPS))
    future = np.where(np.tri(STEPS, dtype=bool), S, 5000.0)
    with np.errstate(all="ignore"):
        return tuple(answer(scores) for scores in (S, future, S + 5000, S - 5000, _with_a_large_score(S)))


def highest(scores, axis=-1):
    """Return the highest scores along an axis, as a column or a row."""
    return scores.max(axis=axis, keepdims=True)


def weights_with(less=lambda S, masked: highest(masked), k=0, late=False, axis=-1):
    """Return a causal_weights that subtracts less, masks other places or the powers, or sums another axis."""

    def causal_weights(S):
        allowed = np.tri(S.shape[-1], k=k) > 0
        masked = np.where(allowed, S, -np.inf)
        E = np.exp((S if late else masked) - less(S, masked)) * (allowed if late else 1)
        return E / E.sum(axis=axis, keepdims=True)

    return causal_weights


def of_the_row(S, masked):
    """Return the highest scores of whole rows, future and all."""
    return highest(S)


NOT_THE_POWERS = causal_weights.mistake("Infinity times 0 is nan: mask the scores, not the powers.")
NOT_THE_POWERS(weights_with(lambda S, masked: 0, late=True))
NOT_THE_POWERS(weights_with(late=True))
for late in (False, True):
    causal_weights.mistake(
        "A step's own score need not be the largest: subtract the maximum of the allowed ones."
    )(weights_with(lambda S, masked: S.diagonal(axis1=1, axis2=2)[..., None], late=late))
for sentence, parts in {
    "Leave out k: with k=1, `np.tri` is True one place too far.": dict(less=of_the_row, late=True, k=1),
    "The mask is right, but the maximum is that of the whole row, and so depends on the future.": (
        dict(less=of_the_row, late=True)
    ),
    "With k=-1 a step may not look at itself, and the first has nothing to look at.": (
        dict(less=of_the_row, late=True, k=-1)
    ),
    "Without subtracting a maximum, e^5000 is infinite: subtract that of the allowed.": (
        dict(less=lambda S, masked: 0)
    ),
    "A row far below the maximum of the whole array becomes zeros: each row needs its own maximum.": (
        dict(less=lambda S, masked: masked.max())
    ),
    "The maximum is that of the whole array, future and all: mask first, and take each row's.": (
        dict(less=lambda S, masked: S.max(), late=True)
    ),
    "Subtracting a maximum per column changes a row's weights: take one per row.": (
        dict(less=lambda S, masked: highest(masked, axis=1))
    ),
    "The zeros of the mask take part in the maximum: forbidden scores are minus infinity.": (
        dict(less=lambda S, masked: highest(np.where(np.isinf(masked), 0, S)))
    ),
    "The first score of a row need not be the largest: subtract the maximum.": (
        dict(less=lambda S, masked: S[..., :1])
    ),
    "That sums over axis 1, the queries: the scores of one row are along axis -1.": dict(axis=1),
    "That sums over axis 0, the examples: the scores of one row are along axis -1.": dict(axis=0),
}.items():
    causal_weights.mistake(sentence)(weights_with(**parts))

for sentence, weights in {  # of S, and of True where a step may look
    "A score of 0 is a score like others, e^0 = 1: use minus infinity.": (
        lambda S, allowed: Softmax().predict(S * allowed)
    ),
    "You applied the mask after softmax: the remaining weights do not sum to 1, and depend on the others.": (
        lambda S, allowed: Softmax().predict(S) * allowed
    ),
    "The mask is flipped: each step looks at the future, not at the past.": (
        lambda S, allowed: Softmax()(np.where(allowed.T, S, -np.inf))[0]
    ),
    "The mask is inverted: where `np.tri` is True, the scores must stay.": (
        lambda S, allowed: Softmax()(np.where(allowed, -np.inf, S))[0]
    ),
    "That is a softmax over axis 1, the queries: it goes along axis -1.": (
        lambda S, allowed: Softmax()(np.where(allowed, S, -np.inf).swapaxes(1, 2))[0].swapaxes(1, 2)
    ),
}.items():
    causal_weights.mistake(sentence)(lambda S, weights=weights: weights(S, np.tri(S.shape[-1], dtype=bool)))


# 4. distances

distances = Exercise(
    "16_attention.Distances",
    title="How far apart",
    points=4,
    kind="fill",
    minutes=12,
    answer="class",
    hints=(
        "For three steps, write down the table of i - j + 2. What do its diagonals hold? A column of places "
        "minus a row of places makes it at once.",
        "Let `table` be `np.arange(steps)[:, None] - np.arange(steps) + steps - 1`. `b.data[table]` is added "
        "to every example. So its gradient is summed over the batch, and over each diagonal.",
        "`b.grad[table] += ...` keeps one visit of several; `np.add.at(b.grad, table, dY.sum(axis=0))` adds "
        "them all.",
    ),
)


OTHER_WAY = "The distance is i - j, the query's step minus the key's step."
SIGN_COUNTS = "The sign counts: i - j, and not abs(i - j)."
NO_OFFSET = "Without `steps - 1` a negative distance counts from the end of b."
NOT_READ = "b is not added: it changes in training, so read b.data in each forward pass."
ONE_VISIT = "With a table of places, `+=` keeps one visit of several: `np.add.at` adds them all."
ONE_PLACE = "Each number of b is added on a whole diagonal: sum all its places, not only the first."
NOT_A_MEAN = "Each number of b is added on a whole diagonal: its gradient is the sum there, not the mean."
FIRST_ONLY = "The same b was added to every example; that is only the first one's gradient."
TURNED_GRADIENT = "That is the gradient for j - i: backward needs the same table as forward."
OF_ITS_OWN = "Each layer keeps its own table and its own b, on self: a class has only one for all."


def places_of_pairs(steps):
    """Return the index in b for each pair of steps."""
    places = np.arange(steps)
    return places[:, None] - places + steps - 1


def _added(S, b):
    """Return the true Y."""
    return S + b[places_of_pairs(S.shape[-1])]


def _summed(table, dY):
    """Return the sum of dY (steps, steps) for each place in b."""
    return np.bincount(table.ravel(), weights=dY.ravel())


def _other_distances(S, b, dY):
    """Return likely wrong values and gradients, with the sentence that each deserves."""
    middle = S.shape[-1] - 1
    table = places_of_pairs(middle + 1)
    away, total, visit = np.abs(table - middle), dY.sum(axis=0), np.zeros_like(b)
    visit[table] += total
    db = _summed(table, total)
    return {
        "Y": [
            (OTHER_WAY, S + b[table.T]),
            (SIGN_COUNTS, S + b[away]),
            (SIGN_COUNTS, S + b[away + middle]),
            (NO_OFFSET, S + b[table - middle]),
            (NOT_READ, S),
        ],
        "db": [
            (ONE_VISIT, visit),
            (ONE_PLACE, total.ravel()[np.unique(table, return_index=True)[1]]),
            (NOT_A_MEAN, db / np.bincount(table.ravel())),
            (FIRST_ONLY, _summed(table, dY[0])),
            (TURNED_GRADIENT, db[::-1]),
        ],
    }


@contextmanager
def _when(case, reason=""):
    """Put the case in front of the message of a failure or an exception inside, and a reason behind it."""
    try:
        yield
    except Exception as error:
        raised = f"it raises {type(error).__name__}: {error}"
        said = error.sentence if isinstance(error, CheckFailed) else raised
        raise CheckFailed(f"{case}{said}. {reason}".removesuffix(". ")) from error


@distances.check
def _(answer, rng):
    batch, steps = drawn_sizes(rng, BATCH, STEPS)
    layer = answer(steps)
    (b,) = expect_made(layer, "Distances", "b")
    expect_values("at first b", b.data, np.zeros(2 * steps - 1))
    b.data += rng.normal(size=b.shape)
    S, dY = rng.normal(size=(2, batch, steps, steps))
    slips = _other_distances(S, b.data, dY)
    expect_layer(layer, _added, dY, parameters={"b": b}, slips=slips, S=S)
    expect_gradcheck(layer, S[:2])
    with _when("after another layer, of one step, was made, ", OF_ITS_OWN):
        other = answer(1)
        expect_values("Y", layer(S)[0], _added(S, b.data))
    with _when("for one step and one example, "):
        (b,) = expect_made(other, "Distances", "b")
        expect_values("at first b", b.data, np.zeros(1))
        expect_layer(other, _added, np.ones((1, 1, 1)), parameters={"b": b}, S=S[:1, :1, :1])
    return "values, both gradients, and two backward passes"


class Distances(Layer):
    """A correct Distances, whose positions and backward pass the mistakes change."""

    def __init__(self, steps):
        self.table, self.b = self.places(steps), Parameter(np.zeros(self.count(steps)))

    def count(self, steps):
        return 2 * steps - 1

    def places(self, steps):
        return places_of_pairs(steps)

    def add(self, b, dY):
        np.add.at(b.grad, self.table, dY.sum(axis=0))

    def forward(self, S):
        def backward(dY):
            self.add(self.b, dY)
            return dY

        return S + self.b.data[self.table], backward


@distances.mistake("A number is added for each pair of steps: sum dY over the batch, and only over it.")
class WholeBatch(Distances):
    def add(self, b, dY):
        np.add.at(b.grad, self.table, dY)


# 5. one question

ask = Exercise(
    "16_attention.Ask",
    title="One learned question",
    points=4,
    kind="fill",
    minutes=15,
    answer="class",
    hints=(
        "Forward: `X @ q` has shape (batch, steps). Softmax works on that last axis. To weigh the rows of X, "
        "the weights need one more axis: `A[..., None]`.",
        "dA is, for each step, the product of its row of X with dY. Then back through softmax and the scale.",
        "X is used twice. As values it gets `A[..., None] * dY[:, None]`, as keys `dS[..., None] * q`; add "
        "both. q gets the rows of X, weighted by dS, over all steps and examples.",
    ),
)


def _asked(X, q):
    """Return the attention output of the query q over X."""
    A = Softmax().predict(X @ q / np.sqrt(len(q)))
    return (A[..., None] * X).sum(axis=1)


@ask.check
def _(answer, rng):
    layer = answer(N_IN, rng=3)
    (q,) = expect_made(layer, "Ask", "q")
    if q.shape != (N_IN,):
        raise CheckFailed(f"q has shape {q.shape}, but must have one number for each column: {(N_IN,)}")
    if np.array_equal(q.data, answer(N_IN, rng=4).q.data):
        raise CheckFailed("two seeds draw the same q: draw it with np.random.default_rng(rng)")
    if not np.array_equal(q.data, answer(N_IN, rng=3).q.data):
        raise CheckFailed("the same seed draws another q each time: draw it with np.random.default_rng(rng)")
    drawn = np.random.default_rng(3).normal(size=N_IN)
    with explained({"q": q.data}, {"q": [("The root divides the scores, not q", drawn / np.sqrt(N_IN))]}):
        expect_values("q", q.data, drawn, "np.random.default_rng(rng).normal(size=n_in) draws")
    generator = np.random.default_rng(3)
    expect_values("with a Generator as rng q", answer(N_IN, rng=generator).q.data, drawn)
    if generator.random() == np.random.default_rng(3).random():
        raise CheckFailed("a Generator is as it was: draw q from it, and not from a copy")
    expect_values("with rng=0 q", answer(N_IN, rng=0).q.data, np.random.default_rng(0).normal(size=N_IN))
    q.data[...] = rng.normal(size=N_IN)
    X, dY = rng.normal(size=(BATCH, STEPS, N_IN)), rng.normal(size=(BATCH, N_IN))
    ways = _wrong_ways_to_q(X, q.data, dY).items()
    slips = {name: [(words, way[name]) for words, way in ways] for name in ("dX", "dq")}
    slips["Y"] = _wrong_sums(X, q.data).items()
    expect_layer(layer, _asked, dY, parameters={"q": q}, slips=slips, X=X)
    expect_gradcheck(layer, X)
    expect_layer(layer, _asked, dY, parameters={"q": q}, X=X[:, :1])
    q.data *= 2000
    expect_layer(layer, _asked, dY, parameters={"q": q}, X=X)
    return "values, both gradients, two backward passes, one step alone, and large scores"


def _wrong_sums(X, q):
    """Return the wrong values of likely mistakes, by their sentences."""
    S = X @ q
    steps, width = X.shape[1:]

    def weighed(A):
        return (A[..., None] * X).sum(axis=1)

    softmax = Softmax().predict
    return {
        "The scores are divided by the root of n_in": weighed(softmax(S)),
        "The scores are divided by the *root* of n_in": weighed(softmax(S / width)),
        "That divides by the root of the steps. A score adds up n_in products": weighed(
            softmax(S / np.sqrt(steps))
        ),
        "Softmax goes over the steps of one sequence, axis 1 of S; that was over the examples": weighed(
            softmax(S.T / np.sqrt(width)).T
        ),
        "Here every weight is 1, the softmax over an axis of length 1: S has two axes": X.sum(axis=1),
        "Here all steps have equal weights: q is not used": X.mean(axis=1),
    }


def _wrong_ways_to_q(X, q, dY):
    """Return the dq and dX of mistakes before the scores, by their sentences."""
    scale = 1 / np.sqrt(len(q))
    A, back = Softmax()(scale * X @ q)
    dA = (X * dY[:, None]).sum(axis=-1)
    cross = "A weight depends on all scores of its sequence; the cross terms are missing"
    softmax = "The backward pass of softmax is missing: dA is the gradient of the weights, not of the scores"
    ways = {
        "The scale is missing in the backward pass: S is X q times it, and so are dq and dX": back(dA),
        "The scale is applied twice in the backward pass": scale**2 * back(dA),
        cross: scale * A * dA,
        f"{cross}: dS is A (dA - the weighted mean of dA)": scale * A * (1 - A) * dA,
        f"{cross}, and so is the scale": A * dA,
        softmax: scale * dA,
        f"{softmax}, and so is the scale": dA,
    }

    def arrive(dS):
        dX = A[..., None] * dY[:, None] + dS[..., None] * q
        return {"dX": dX, "dq": (dS[..., None] * X).sum(axis=(0, 1))}

    return {words: arrive(dS) for words, dS in ways.items()}


class Ask(Layer):
    """A correct Ask in another style, whose parts the mistakes change."""

    def __init__(self, n_in, rng=None):
        self.q = Parameter(np.random.default_rng(rng).normal(size=n_in))
        self.scale = n_in**-0.5

    def weigh(self, S):
        E = np.exp(S - S.max(axis=1, keepdims=True))
        return E / E.sum(axis=1, keepdims=True)

    def forward(self, X):
        A = self.weigh(self.scale * X @ self.q.data)

        def backward(dY):
            dS = self.back(A, np.einsum("bsn,bn->bs", X, dY)) * self.scale
            self.add(np.einsum("bs,bsn->n", dS, X))
            return self.dX(np.einsum("bs,bn->bsn", A, dY), np.einsum("bs,n->bsn", dS, self.q.data))

        return np.einsum("bs,bsn->bn", A, X), backward

    def back(self, A, dA):
        return A * (dA - (A * dA).sum(axis=1, keepdims=True))

    def add(self, dq):
        self.q.grad += dq

    def dX(self, as_values, as_keys):
        return as_values + as_keys


@ask.mistake("X is read as keys, too: a change of X changes the weights.")
class ValuesOnly(Ask):
    def dX(self, as_values, as_keys):
        return as_values


@ask.mistake("X is read as values, too: a change of X changes what is weighed.")
class KeysOnly(Ask):
    def dX(self, as_values, as_keys):
        return as_keys


@ask.mistake("A seed is a number: `np.random.default_rng(rng)` turns it into a generator.")
class SeedAsGenerator(Ask):
    def __init__(self, n_in, rng=None):
        self.q, self.scale = Parameter(rng.normal(size=n_in)), n_in**-0.5


# 6. biases

fold = Exercise(
    "16_attention.fold",
    title="Biases that do nothing",
    points=3,
    kind="derive",
    minutes=10,
    changes=True,
    hints=(
        "Write v for the row of values.b. A step's sum of values is a₁(V₁ + v) + a₂(V₂ + v) + … How often is "
        "v in it?",
        "Once, since the weights sum to 1. Then that sum goes through output.W. What becomes of v there?",
        "Add `values.b.data @ output.W.data` to output.b, *before* you set values.b to 0.",
    ),
)


def _drawn(rng, heads, causal, dtype="d"):
    """Return an attention layer whose biases are drawn, too."""
    layer = MultiHeadAttention(6, heads, causal, rng=rng)
    for parameter in layer.parameters():
        parameter.data = rng.normal(size=parameter.shape).astype(dtype)
    return layer


@fold.check
def _(answer, rng):
    for heads, causal, dtype in ((1, False, "d"), (3, False, "d"), (2, True, "d"), (2, True, "f")):
        layer, X = _drawn(rng, heads, causal, dtype), rng.normal(size=(BATCH, STEPS, 6)).astype(dtype)
        before, Y = {name: p.data.copy() for name, p in layer.named_parameters().items()}, layer.predict(X)
        answer(layer)
        for name, old in before.items():
            part, letter = name.split(".")
            _refuse_another_kind(name, getattr(getattr(layer, part), letter, None), old)
        if layer.keys.b is layer.values.b:
            raise CheckFailed("keys.b and values.b are one Parameter now: each layer must keep its own")
        for name, parameter in layer.named_parameters().items():
            if name in ("keys.b", "values.b"):
                if np.any(parameter.data):
                    raise CheckFailed(f"{name} must hold zeros, but {_what(parameter.data, before[name])}")
            elif name != "output.b" and not np.array_equal(parameter.data, before[name]):
                raise CheckFailed(f"{name} has changed: only three biases may change")
        rounding = 1e-7 if dtype == "d" else 1e-3
        if not np.allclose(layer.predict(X), Y, rtol=rounding, atol=0.01 * rounding):
            arrived = before["values.b"] @ before["output.W"]
            each = "Each head has its own part of values.b: it is added once, not once for each head"
            slips = {"output.b": [(each, before["output.b"] + heads * arrived)]}
            with explained({"output.b": layer.output.b.data}, slips):
                expect_values("output.b", layer.output.b.data, before["output.b"] + arrived)
    return "one head and several, with a mask and without: the same Y for other biases"


def _refuse_another_kind(name, now, old):
    """Require that a part of a layer still is a Parameter of the same shape."""
    write = f"write into `{name}.data[...]`"
    if not isinstance(now, Parameter):
        raise CheckFailed(f"{name} must stay a Parameter, but is {_kind(now)}: {write}")
    for what, is_now, was in (
        ("shape", np.shape(now.data), old.shape),
        ("type", now.data.dtype.name, old.dtype.name),
    ):
        if is_now != was:
            raise CheckFailed(f"{name} must keep its {what} {was}, but has {is_now}: {write}")


def _kind(thing):
    """Describe an object; None is not a missing return here."""
    return "None" if thing is None else described(thing)


def _what(now, before):
    """Return whether an array is unchanged."""
    return "is unchanged" if np.array_equal(now, before) else "holds other numbers"


@fold.probe
def _(answer, rng):
    layer = _drawn(rng, 2, False)
    answer(layer)
    return tuple(parameter.data for parameter in layer.parameters())


def set_to_zero(*parts):
    for part in parts:
        part.b.data[...] = 0.0


for sentence, moved in {
    "You added nothing of values.b to output.b. (Or did you set it to 0 first?)": lambda v, W, b: b,
    "On its way to Y the bias of the values goes through output.W.": lambda v, W, b: b + v,
    "A row times a matrix: `values.b @ W`, and not with its transpose.": lambda v, W, b: b + W @ v,
    "You overwrite output.b: add to it.": lambda v, W, b: v @ W,
}.items():

    @fold.mistake(sentence)
    def with_another_bias(attention, moved=moved):
        v, W, b = attention.values.b.data, attention.output.W.data, attention.output.b.data
        b[...] = moved(v, W, b)
        set_to_zero(attention.keys, attention.values)


@fold.mistake("The bias of the keys does not affect Y; add nothing of it to output.b.")
def keys_as_well(attention):
    both = attention.values.b.data + attention.keys.b.data
    attention.output.b.data += both @ attention.output.W.data
    set_to_zero(attention.keys, attention.values)
