"""The exercises of chapter 15: counts, a leaky bucket, a mean of real steps, one gate, pieces."""

from copy import deepcopy
from functools import partial

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    BATCH,
    LEFT_BEHIND,
    N_IN,
    N_OUT,
    also_drawn,
    because,
    drawn_sizes,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_shape,
    expect_values,
    explained,
    untouched,
)
from minigrad.check.numerical import numerical_gradient
from minigrad.layers.activations import Sigmoid, Tanh
from minigrad.layers.linear import Linear
from minigrad.layers.recurrent import LSTM, RNN

STEPS = 11


# 1. counts and slopes

in_steps = Exercise(
    "15_time.in_steps",
    title="Counted in steps",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "A step takes the whole batch at once. The same three Parameters serve at every step.",
        "W is (27, 10), U is (10, 10), b is (10,); an LSTM has four of each, side by side. From step 2 to "
        "step 5 a slope passes w three times.",
        "With a single 1 at the start, y_5 is w to the power of 4; its slope is 4 times w to the power of 3.",
    ),
)


NO_U = "Beside W and b there is U, from each number of the state to each."
NO_b = "Beside W and U there is b, a number for each column."
ONE_STEP = "A call of step takes the row of every word at once, and there is a call for each letter."
PARTS = "Three gates and a candidate: each has a part of its own in W, in U and in b."
LASTING = "The same Parameters serve at every step, and count once."
ROWS = "Each step brings a row for every word of the batch."
ARROWS = "From step 2 to step 5 there are as many w as there are arrows from y_2 to y_5."
NUMBERS = "W has 27 rows, and a row of X 27 numbers; count the rows of X, from all steps together."
FOUR = (
    "The first step has no use for w, since y_0 is 0: y_5 is w to the power of 4. What is the slope of that?"
)
ODD = "An odd number of factors -2 is negative."
USES = "Each of the four later steps uses w once more, and each use brings its part."
REASONS = {  # of each number in turn: what is said of a typical wrong one
    "the count of closures": {
        35: ONE_STEP,
        5: ONE_STEP,
        6: "The first of seven steps makes a closure as well; only the state before it is given.",
        8: "There is a step for each letter, and none for the state before the first, which is given.",
        1: "The loop calls step once for each letter, and every call returns a closure of its own.",
    },
    "the count for RNN(27, 10)": {
        7 * 380: LASTING,
        280: NO_U,
        270: "Beside W there are U, from each number of the state to each, and b.",
        370: NO_b,
        5 * 380: "The words of a batch share the Parameters.",
    },
    "the count for LSTM(27, 10)": {
        7 * 1520: LASTING,
        1120: NO_U,
        1480: NO_b,
        380: PARTS,
        760: PARTS,
        1140: PARTS,
        1190: PARTS,
        1490: PARTS,
    },
    "the count of rows for W.grad": {
        7: ROWS,
        5: "Every step brings its rows, and not the last one alone.",
        35 * 27: NUMBERS,
        7 * 27: NUMBERS,
        27: NUMBERS,
    },
    "the slope with respect to x_2": {16: ARROWS, 4: ARROWS, -32: ARROWS, 8: ODD},
    "the slope with respect to w": {
        16: "That is y_5 itself; give its slope.",
        32: ODD,
        -8: USES,
        -80: FOUR,
        80: FOUR,
        -40: FOUR,
        0: "y_5 is w to the power of 4 here, and that depends on w.",
    },
}


def _last_y(x, w):
    """Return the last state of the memory of one number."""
    y = 0.0
    for x_t in x:
        y = w * y + x_t
    return y


@in_steps.check
def _(answer, rng):
    calls, sizes = 7, [sum(p.data.size for p in cls(27, 10, rng=rng).parameters()) for cls in (RNN, LSTM)]
    numbers = {
        "the count of closures": calls,
        "the count for RNN(27, 10)": sizes[0],
        "the count for LSTM(27, 10)": sizes[1],
        "the count of rows for W.grad": 5 * calls,
        "the slope with respect to x_2": numerical_gradient(lambda x: _last_y(x, -2.0), np.zeros(5))[1],
        "the slope with respect to w": numerical_gradient(lambda w: _last_y(np.eye(5)[0], w), -2.0),
    }
    expect_guesses(answer(), numbers, REASONS)
    return "six numbers, counted and nudged"


# 2. a leaky bucket

bucket = Exercise(
    "15_time.bucket",
    title="A leaky bucket",
    points=4,
    kind="fill",
    minutes=14,
    hints=(
        "Keep all states Y: in the backward pass you need the one before each step. Walk from the last step "
        "to the first, and carry along what comes from later.",
        "The state after step t gets `dY[:, t] + from_later`. Of that, X gets the share 1 - a, and the state "
        "before gets the share a, which is the next `from_later`.",
        "a's part of a step is `(before - X[:, t]) * dstate`, summed over the batch, where `before` is "
        "`Y[:, t - 1]`, and 0 at the first step: `Y[:, -1]` would be the *last* state.",
    ),
)


IN_PLACE = (
    "Every step holds the last state: `H *= a` changes the array that you have kept, and `H = a * H + ...` "
    "makes a new one."
)
ONE_BACK = (
    "That reaches back one step only: the share that a state passes on is a share of all it got, not of "
    "`dY[:, t]` alone."
)
LATE = "Y is a step late: `Y[:, t]` is the state after step t, not the one before it."
FROM_0 = "The bucket is empty at the start: before the first step the state is 0."
EACH_ROW = "All sequences share a: sum its parts over the batch as well."
EACH_STEP = "All steps share a: sum its parts over the steps as well."
EACH_COLUMN = "Each column has an a of its own: sum its parts over the batch and the steps alone."
DIRECT = "A state's a gets all that comes to the state, also what comes from later, not `dY[:, t]` alone."


def filled(X, a):
    """Return the states of a leaky bucket."""
    Y, state = np.zeros(X.shape), 0.0
    for t in range(X.shape[1]):
        state = a * state + (1 - a) * X[:, t]
        Y[:, t] = state
    return Y


def _other_buckets(X, a, dY):
    """Return likely wrong states and gradients, with the sentence that each deserves."""
    Y, dX, carried = filled(X, a), np.zeros_like(X), 0.0
    before = np.concatenate([np.zeros_like(Y[:, :1]), Y[:, :-1]], axis=1)
    for t in range(X.shape[1]):
        carried = dY[:, t] + a * carried
        dX[:, t] = (1 - a) * carried
    d = filled(dY[:, ::-1] / (1 - a), a)[:, ::-1]  # what each state gets: the same loop from the end
    parts = (before - X) * d
    first = a ** np.arange(1, X.shape[1] + 1)[:, None]  # what is left of a state before the first step
    one_back = dY + a * np.concatenate([dY[:, 1:], np.zeros_like(dY[:, :1])], axis=1)
    return {
        "Y": [
            ("X comes in with the share 1 - a, not whole.", Y / (1 - a)),
            ("The shares are exchanged: a keeps the old state, and 1 - a takes the new.", filled(X, 1 - a)),
            (IN_PLACE, np.broadcast_to(Y[:, -1:], Y.shape)),
            (LATE, before),
            (FROM_0, Y + first * X[:, :1]),
            (FROM_0, Y + first),
        ],
        "dX": [
            ("The steps are walked from the first to the last: what comes from later comes first.", dX),
            ("A state is read twice: what comes back from the next step is missing.", (1 - a) * dY),
            (ONE_BACK, (1 - a) * one_back),
            ("X entered with the factor 1 - a, and its gradient has the same factor.", d),
        ],
        "da": [
            (DIRECT, ((before - X) * dY).sum(axis=(0, 1))),
            (
                "The first step is left out: its X has a part as well, with a 0 before it.",
                parts[:, 1:].sum((0, 1)),
            ),
            (
                "There is an a in 1 - a, too: each step has a part with minus X.",
                (before * d).sum(axis=(0, 1)),
            ),
            (IN_PLACE, ((Y[:, -1:] - X) * d).sum(axis=(0, 1))),
            (EACH_ROW, parts.sum(axis=1)),
            (EACH_STEP, parts.sum(axis=0)),
            (EACH_COLUMN, parts.sum()),
        ],
    }


@bucket.check
def _(answer, rng):
    rows, n_in, several = drawn_sizes(rng, BATCH, N_IN, STEPS)
    for batch, steps in ((rows, several), (1, 2), (2, 1)):
        X, dY = rng.normal(size=(2, batch, steps, n_in))
        a = rng.uniform(0.3, 0.9, size=n_in)
        expect_layer(answer, filled, dY, slips=partial(_other_buckets, X, a, dY), X=X, a=a)
    expect_values("in a second pass, Y", answer(X, a)[0], filled(X, a))
    X, dY = rng.normal(size=(2, rows, several, n_in))
    a = np.array([0.0, 1.0, *rng.uniform(0.3, 0.9, size=n_in - 2)])
    expect_layer(answer, filled, dY, case="where a is 0 in one column and 1 in another, ", X=X, a=a)
    example = np.array([[[4], [2], [1]]])  # the statement's
    _expect_fractions(
        answer, example, np.array([0.5]), dY=1 * (example == 1), Y=[2, 2, 1.5], dX=[0.125, 0.25, 0.5]
    )
    return "states, dX and da, for eleven steps, two, and one, and for whole numbers"


def _expect_fractions(answer, *given, dY, **truths):
    """Require that the results of whole numbers are floats, Y first, and then those of backward."""
    Y, backward = expect_several(answer(*given), "Y", "backward")
    gradients = backward(dY)
    found = [Y, *(gradients if isinstance(gradients, tuple | list) else [gradients])]
    for (name, truth), value in zip(truths.items(), found, strict=False):
        dtype = np.asarray(value).dtype
        if dtype.kind in "iu":
            raise CheckFailed(
                f"for whole numbers, {name} has dtype {dtype}, so its fractions are lost; it must hold floats"
            )
        expect_values(f"for whole numbers, {name}", np.ravel(value), truth)


def bucket_with(back=None, share=None, before=None, part=None, total=None):
    """Return a bucket with this backward function, for the mistakes."""
    back = back or (lambda a, d: a * d)
    share = share or (lambda a: 1 - a)
    before = before or (lambda Y, t: Y[:, t - 1] if t else 0.0 * Y[:, 0])
    part = part or (lambda H, x: H - x)
    total = total or (lambda da, new: da + new)

    def bucket(X, a):
        Y = filled(X, a)

        def backward(dY):
            dX, da, later = np.zeros(X.shape), np.zeros(a.shape), 0.0
            for t in reversed(range(X.shape[1])):
                d = dY[:, t] + later
                dX[:, t] = share(a) * d
                da = total(da, (part(before(Y, t), X[:, t]) * d).sum(axis=0))
                later = back(a, d)
            return dX, da

        return Y, backward

    return bucket


def _other_share(a, d):
    return (1 - a) * d


def _all_of_it(a, d):
    return d


def _same_state(Y, t):
    return Y[:, t]


def _wraps_around(Y, t):
    return Y[:, t - 1]


def _turned(H, x):
    return x - H


def _replaced(da, new):
    return new


bucket.mistake("The share 1 - a belongs to X; the state before gets the share a.")(bucket_with(_other_share))
bucket.mistake(
    "The bucket leaks in the backward pass as well: the state before gets a times the gradient, not all."
)(bucket_with(_all_of_it))
bucket.mistake("The factor a belongs to the state *before* the step.")(bucket_with(before=_same_state))
bucket.mistake("At the first step Y[:, t - 1] is Y[:, -1], the last state; before it there is 0.")(
    bucket_with(before=_wraps_around)
)
bucket.mistake("More a keeps more of the old state, and takes less of X.")(bucket_with(part=_turned))
bucket.mistake("Each step uses a: add its parts, do not replace them.")(bucket_with(total=_replaced))


# 3. a mean of real steps

mean_of_real = Exercise(
    "15_time.mean_of_real",
    title="Past the end",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "`np.arange(steps) < lengths[:, None]` is a mask (batch, steps): True at the real steps.",
        "The mean is a sum over the real steps, divided by how many there are in *this* sequence. In the "
        "backward pass each of these steps gets that share of dY.",
        "Make `weights = mask / lengths[:, None]` and give it a third axis. Y is then the sum of "
        "`weights * H` over axis 1, and dH is `weights * dY[:, None, :]`.",
    ),
)


ONE_MORE = "One step too many: a sequence of length 2 has the steps 0 and 1."
END = "That is the state at the end, not the mean of all states up to there."
BY_SUM = "Divide by each sequence's own length, and not by the sum of all."
BY_MEAN = "Divide by each sequence's own length, and not by the mean of all."
PAST = "No gradient goes past the end: the values there change nothing."
ONE_DIVISOR = "Yours divides the dY of all sequences by the same number: each has a length of its own."
SHARE = "Each of n real steps has 1/n of the mean, and gets 1/n of dY."
ALL_TO_END = "The whole of dY goes to the end: each real step has its share."
THIRD_AXIS = "An array (batch, steps) meets one (batch, steps, width): it needs a third axis, `[:, :, None]`."
LENGTHS = "Only the lengths tell which states are real: a real state may be 0, and one past the end anything."


def _sum(H, real):
    """Return the sum over the steps where a mask (batch, steps) says True."""
    return (real[:, :, None] * H).sum(axis=1)


def _mean(H, lengths):
    """Return the mean of each sequence's real steps."""
    return np.array([row[:length].mean(axis=0) for row, length in zip(H, lengths, strict=True)])


def _other_means(H, lengths):
    """Return wrong means, each with a sentence that explains it."""
    real, one_more = (np.arange(H.shape[1]) < (lengths + extra)[:, None] for extra in (0, 1))
    nonzero = (H != 0).any(axis=2)
    sums, steps = _sum(H, one_more), one_more.sum(axis=1)[:, None]
    return {
        "Y": [
            ("That is the mean over all steps, the ones past the end among them.", H.mean(axis=1)),
            (ONE_MORE, sums / lengths[:, None]),
            (ONE_MORE, sums / steps),
            (LENGTHS, _sum(H, nonzero) / np.maximum(nonzero.sum(axis=1), 1)[:, None]),
            (
                "Divide by each sequence's own length, and not by the number of columns.",
                _sum(H, real) / H.shape[1],
            ),
            (BY_SUM, _sum(H, real) / lengths.sum()),
            (BY_MEAN, _sum(H, real) / lengths.mean()),
            (END, H[np.arange(len(H)), lengths - 1]),
        ]
    }


def _other_shares(H, lengths, dY):
    """Return wrong gradients of the mean, each with a sentence that explains it."""
    place, ends, dY = np.arange(H.shape[1]), lengths[:, None], dY[:, None, :]
    shares = [
        (SHARE, place < ends),
        (ALL_TO_END, place == ends - 1),
        (PAST, np.ones(H.shape[:2]) / ends),
        (PAST, np.ones(H.shape[:2]) / H.shape[1]),
        (PAST, (place <= ends) / ends),
        *((ONE_DIVISOR, (place < ends) / n) for n in (H.shape[1], lengths.sum(), lengths.mean(), *lengths)),
    ]
    return {"dH": [(sentence, share[:, :, None] * dY) for sentence, share in shares]}


def _other_means_and_shares(H, lengths, dY):
    """Return both."""
    return _other_means(H, lengths) | _other_shares(H, lengths, dY)


@mean_of_real.check
def _(answer, rng):
    n_in, steps = drawn_sizes(rng, N_IN, STEPS)
    for lengths in ((steps, 2, 1, 7, steps), (3, 3), (1,)):
        lengths = rng.permutation(lengths)
        H = rng.normal(size=(len(lengths), max(steps, lengths.max()), n_in))
        H[0, 0] = 0.0  # a real state may be zero, and those past an end need not be
        dY = rng.normal(size=(len(lengths), n_in))
        slips = partial(_other_means_and_shares, H, lengths, dY)
        expect_layer(answer, _mean, dY, slips=slips, H=H, lengths=lengths)
        H[np.arange(H.shape[1]) >= lengths[:, None]] = 1e30
        expect_values("with numbers of 1e30 past the ends, Y", answer(H, lengths)[0], _mean(H, lengths))
    _expect_fractions(
        answer, np.array([[[2], [5], [9]]]), np.array([2]), dY=np.array([[1]]), Y=[3.5], dH=[0.5, 0.5, 0.0]
    )
    return "means and gradients, with other numbers past the ends, and whole numbers"


def weighted(weights_of, back_of=None):
    """Return a mean with these weights in the forward and the backward pass, for the mistakes."""

    def mean(H, lengths):
        weights = weights_of(H, lengths)[:, :, None]
        back = (back_of or weights_of)(H, lengths)[:, :, None]
        return (weights * H).sum(axis=1), lambda dY: back * dY[:, None, :]

    return mean


def all_by_length(H, lengths):
    return np.ones(H.shape[:2]) / lengths[:, None]


mean_of_real.mistake("The sum must leave out the states past the end; they need not be zero.")(
    weighted(all_by_length)
)


@mean_of_real.mistake("An array (batch,) meets one (batch, width): it needs a second axis, `[:, None]`.")
def lengths_of_one_axis(H, lengths):
    return H.sum(axis=1) / lengths, None


@mean_of_real.mistake(THIRD_AXIS)
def mask_of_two_axes(H, lengths):
    return H * (np.arange(H.shape[1]) < lengths[:, None]), None


@mean_of_real.mistake(THIRD_AXIS)
def mask_of_two_axes_in_front(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) * H, None


@mean_of_real.mistake(
    "An array (batch, width) meets one (batch, steps, 1): it needs an axis in between, `[:, None, :]`."
)
def dY_of_two_axes(H, lengths):
    weights = ((np.arange(H.shape[1]) < lengths[:, None]) / lengths[:, None])[:, :, None]
    return (weights * H).sum(axis=1), lambda dY: weights * dY


@mean_of_real.mistake("An array (steps,) meets one (batch,): give the second a second axis, `[:, None]`.")
def compares_without_a_second_axis(H, lengths):
    return np.arange(H.shape[1]) < lengths, None


@mean_of_real.mistake("A real state may hold a 0: the lengths say what is real, and not the numbers.")
def zeros_are_padding(H, lengths):
    real = (np.arange(H.shape[1]) < lengths[:, None])[:, :, None] & (H != 0)
    count = np.maximum(real.sum(axis=1), 1)
    return (H * real).sum(axis=1) / count, lambda dY: real * (dY / count)[:, None, :]


# 4. one gate

gated_step = Exercise(
    "15_time.gated_step",
    title="One gate",
    points=5,
    kind="fill",
    minutes=15,
    hints=(
        "The new state is `G * H + (1 - G) * N`: a sum of products, and each factor gets the other one. What "
        "does G get, which is in both?",
        "G gets `dH_new * (H - N)`, N gets `dH_new * (1 - G)`. Pass each to its own backward function; both "
        "return a gradient of `np.hstack([X, H])`, and these two add up.",
        "Cut the sum after the columns of X: the first part is dX. The second is H's share of the inputs; "
        "H gets `dH_new * G` besides.",
    ),
)


def _two_layers(rng, n_in, n_out):
    """Return a gate and a candidate, and the Parameter of each."""
    sizes = {"n_in": n_in + n_out, "n_out": n_out, "bias": False}
    W, V = (Linear(**sizes, init=lambda shape, rng: rng.normal(size=shape), rng=rng) for _ in range(2))
    return W >> Sigmoid(), V >> Tanh(), {"W_gate": W.W, "W_candidate": V.W}


def _gate_and_candidate(X, H, W, V):
    """Return the input of gate and candidate, and their results."""
    inputs = np.hstack([X, H])
    return inputs, 1 / (1 + np.exp(-(inputs @ W))), np.tanh(inputs @ V)


def _gated(X, H, W, V):
    """Return the new state."""
    _, G, N = _gate_and_candidate(X, H, W, V)
    return G * H + (1 - G) * N


OTHER_WAY_ROUND = "G keeps the old state, and 1 - G takes the candidate; yours is the other way round."
NO_1_MINUS_G = (
    "N was multiplied by 1 - G, and its gradient is too: the gradient for the candidate lacks that factor."
)
NO_GATE = "Nothing comes back through the gate: what G is depends on X and on H. Add what both ways give."
NO_CANDIDATE = (
    "Nothing comes back through the candidate: what N is depends on X and on H. Add what both ways give."
)
SLOPE_AGAIN = "The backward function of gate includes the sigmoid's slope already: no second G * (1 - G)."
BEND_AGAIN = "The backward function of candidate includes the slope of tanh already: no second 1 - N * N."
BOTH_AGAIN = (
    "The backward functions of both layers include their nonlinearities' slopes already: no second ones."
)
IN_PLACE = "You write into N, which the candidate's backward function needs as it is: make a new array."
ONE_FOR_BOTH = (
    "Both go through one layer's backward function: a lambda in a loop sees the last value of a name."
)
STATE_FIRST = "The layers want X on the left and H on the right."
CALLED_TWICE = "Call each backward function once: every call adds to the weights' gradients."
_SIGNS_OF_G = "G has a plus with H, and a minus with N: H - N."
_FIRST_COLUMNS = "What gate and candidate give back has X's columns first, X.shape[1] of them, and then H's."


def _other_steps(X, H, W, V, d):
    """Return likely wrong new states and gradients, each with a sentence that explains it."""
    inputs, G, N = _gate_and_candidate(X, H, W, V)
    slope, bend, n, H_new = G * (1 - G), 1 - N * N, X.shape[1], G * H + (1 - G) * N
    to_G, to_N, both_to_one = d * (H - N) * slope, d * (1 - G) * bend, d * (H - N + 1 - G)
    _, G_turned, N_turned = _gate_and_candidate(H, X, W, V)
    N_gated = np.tanh(np.hstack([X, G * H]) @ V)
    slips = [
        (NO_1_MINUS_G, to_G @ W.T + (d * bend) @ V.T),
        (NO_GATE, to_N @ V.T),
        (NO_CANDIDATE, to_G @ W.T),
        (SLOPE_AGAIN, (to_G * slope) @ W.T + to_N @ V.T),
        (BEND_AGAIN, to_G @ W.T + (to_N * bend) @ V.T),
        (BOTH_AGAIN, (to_G * slope) @ W.T + (to_N * bend) @ V.T),
        (IN_PLACE, to_G @ W.T + (d * (1 - G) * (1 - H_new**2)) @ V.T),
        (ONE_FOR_BOTH, (both_to_one * slope) @ W.T),
        (ONE_FOR_BOTH, (both_to_one * bend) @ V.T),
    ]
    return {
        "H_new": [
            (OTHER_WAY_ROUND, (1 - G) * H + G * N),
            ("The candidate's share is 1 - G.", G * H + N),
            (STATE_FIRST, G_turned * H + (1 - G_turned) * N_turned),
            ("The candidate reads H itself here, not G * H.", G * H + (1 - G) * N_gated),
        ],
        "dX": [(sentence, both[:, :n]) for sentence, both in slips],
        "dH": [(sentence, both[:, n:] + d * G) for sentence, both in slips],
        "dW_gate": [(CALLED_TWICE, 2 * inputs.T @ to_G)],
        "dW_candidate": [(CALLED_TWICE, 2 * inputs.T @ to_N)],
    }


@gated_step.check
def _(answer, rng):
    sizes = drawn_sizes(rng, BATCH, 4, N_IN)
    for batch, n_in, n_out in (sizes, (1, 3, 3)):  # also where X and H are of one width
        gate, candidate, parameters = _two_layers(rng, n_in, n_out)
        X, (H, dH_new) = rng.normal(size=(batch, n_in)), 2 * rng.normal(size=(2, batch, n_out))
        given = X, H, *(parameter.data for parameter in parameters.values())
        expect_layer(
            lambda X, H, gate=gate, candidate=candidate: answer(X, H, gate, candidate),
            _gated,
            dH_new,
            parameters=parameters,
            slips=partial(_other_steps, *given, dH_new),
            result="H_new",
            X=X,
            H=H,
        )
    return "values, three paths back to the state, and the gradients of both layers' weights"


def step_with(
    gate_gets=lambda H, N: H - N,
    candidate_gets=lambda G: 1 - G,
    state_gets=lambda G: G,
    cut=lambda X, H: [X.shape[1]],
    keeps=lambda G: G,
):
    """Return a gated step of which a mistake changes a factor of dH_new, the cut, or what G keeps."""

    def step(X, H, gate, candidate):
        inputs = np.hstack([X, H])
        (G, back_G), (N, back_N) = gate(inputs), candidate(inputs)

        def backward(d):
            total = back_G(d * gate_gets(H, N)) + back_N(d * candidate_gets(G))
            dX, dH = np.split(total, cut(X, H), axis=1)
            return dX, dH + state_gets(G) * d

        return keeps(G) * H + (1 - keeps(G)) * N, backward

    return step


for sentence, parts in [
    (
        "The third path is missing: the old state is also multiplied by G itself.",
        dict(state_gets=lambda G: 0.0),
    ),
    ("G occurs twice: once times H, and once, with a minus, times N.", dict(gate_gets=lambda H, N: H)),
    (_SIGNS_OF_G, dict(gate_gets=lambda H, N: N - H)),
    (_SIGNS_OF_G, dict(gate_gets=lambda H, N: H + N)),
    ("N was multiplied by 1 - G, and its gradient is too.", dict(candidate_gets=lambda G: G)),
    ("The direct path passes the gate: its factor is G.", dict(state_gets=lambda G: 1.0)),
    (_FIRST_COLUMNS, dict(cut=lambda X, H: 2)),
    (_FIRST_COLUMNS, dict(cut=lambda X, H: [(X.shape[1] + H.shape[1]) // 2])),
    (_FIRST_COLUMNS, dict(cut=lambda X, H: [H.shape[1]])),
]:
    gated_step.mistake(sentence)(step_with(**parts))


@gated_step.mistake("That is only the direct path; gate and candidate have read the old state as well.")
def only_the_direct_way(X, H, gate, candidate):
    G, (H_new, backward) = gate(np.hstack([X, H]))[0], step_with()(X, H, gate, candidate)
    return H_new, lambda d: (backward(d)[0], G * d)


# 5. in pieces

in_pieces = Exercise(
    "15_time.in_pieces",
    title="In pieces",
    points=3,
    kind="fill",
    minutes=13,
    hints=(
        "The forward pass is that of `through_time`. Only `from_later` must be forgotten, now and then.",
        "Counted from 0, a piece of `size` steps ends at t = size - 1, 2 size - 1, ... What does such a step "
        "get from the step after it?",
        "Before `backs[t]` is called, ask whether `(t + 1) % size` is 0. There `from_later` becomes 0.0.",
    ),
)


def _stepper(rng, n_in, n_out):
    """Return the step of a small RNN, and a list that holds how often a closure was called."""
    W, U = rng.normal(size=(n_in, n_out)), rng.normal(size=(n_out, n_out))
    called = [0]

    def step(X, H):
        H_new = np.tanh(X @ W + H @ U)

        def back(dH):
            called[0] += 1
            dZ = dH * (1 - H_new * H_new)
            return dZ @ W.T, dZ @ U.T

        return H_new, back

    return step, called


def whole_piece(step, X, H):
    """Return all states and the backward function of one chunk, with the state at its end."""
    states, backs = [], []
    for X_t in X.swapaxes(0, 1):
        H, back = step(X_t, H)
        states.append(H)
        backs.append(back)

    def backward(dY):
        dX, from_later = np.zeros_like(X), 0.0
        for t in reversed(range(len(backs))):
            dX[:, t], from_later = backs[t](dY[:, t] + from_later)
        return dX

    return np.stack(states, axis=1), backward


def in_pieces_with(step, X, H, size):
    """Compute the chunks one by one, as an answer must."""
    parts, backs = [], []
    for start in range(0, X.shape[1], size):
        Y, back = whole_piece(step, X[:, start : start + size], H)
        parts.append(Y)
        backs.append(back)
        H = Y[:, -1]

    def backward(dY):
        cut = np.split(dY, range(size, dY.shape[1], size), axis=1)
        return np.concatenate([back(part) for back, part in zip(backs, cut, strict=True)], axis=1)

    return np.concatenate(parts, axis=1), backward


EMPTY = "Each chunk starts with an empty state: the state continues, and only the gradient stops."
ANEW = "Each chunk starts with the first H again: pass on the state of the chunk before."
NO_H = "The first step must start with the given H; yours starts at 0."
NO_dY = (
    "At a boundary only the gradient from later is dropped: a chunk's last state still has its `dY[:, t]`."
)
LAST_Y = "Those are the states of the last piece alone: Y holds the states of all pieces."
LAST_dX = "Only the last piece gets a gradient: walk back through every piece, each from its own end."
TURNED = "The steps of dX are in reverse order: the closure called first belongs at the end."


def _other_walks(step, X, H, size):
    """Return likely wrong states, each with a sentence that explains it."""
    starts, nothing = range(0, X.shape[1], size), np.zeros_like(H)

    def anew(first, others):
        parts = [whole_piece(step, X[:, t : t + size], others if t else first)[0] for t in starts]
        return np.concatenate(parts, axis=1)

    from_nothing = whole_piece(step, X, nothing)[0]
    walks = [
        (NO_H, from_nothing),
        (EMPTY, anew(H, nothing)),
        (EMPTY, anew(nothing, nothing)),
        (ANEW, anew(H, H)),
        (LAST_Y, whole_piece(step, X, H)[0][:, starts[-1] :]),
    ]
    return {"Y": walks}


def _other_cuts(back, dY, size):
    """Return likely wrong gradients, each with an explanation; `back` returns the right one."""
    right, (ends, inner) = back(dY), np.zeros((2, dY.shape[1]), dtype=bool)
    ends[size - 1 :: size] = inner[size - 1 : -1 : size] = True
    cuts = [(NO_dY, back(np.where(lost[:, None], 0.0, dY))) for lost in (ends, inner)]
    only = right.copy()
    only[:, : (dY.shape[1] - 1) // size * size] = 0.0
    return {"dX": [*cuts, (TURNED, right[:, ::-1]), (LAST_dX, only)]}


@in_pieces.check
def _(answer, rng):
    n_in, n_out = drawn_sizes(rng, N_IN, N_OUT)
    usual = (10, 4), (6, 2), (5, 1), (5, 5), (5, 8)
    for steps, size in also_drawn(usual, lambda: (int(rng.integers(11, 17)), int(rng.integers(2, 6)))):
        what = f"for {steps} steps in pieces of {size},"
        step, called = _stepper(rng, n_in, n_out)
        batch = 1 if size == 1 else 2
        X, H = rng.normal(size=(batch, steps, n_in)), rng.normal(size=(batch, n_out))
        dY = rng.normal(size=(batch, steps, n_out))
        truth, back = in_pieces_with(step, X, H, size)
        cut_dX = back(dY)
        slips = _other_walks(step, X, H, size) | _other_cuts(back, dY, size)
        with untouched(X=X, H=H, dY=dY):
            Y, backward = expect_several(answer(step, X, H, size), "Y", "backward")
            with explained({"Y": Y}, slips):
                expect_shape(f"{what} Y", Y, "the states of one pass", truth)
                expect_values(f"{what} Y", Y, truth)
            called[0] = 0
            dX = deepcopy(backward(dY))
        calls = called[0]
        with explained({"dX": dX}, slips):
            expect_values(f"{what} dX", dX, cut_dX)
        if calls != steps:
            raise CheckFailed(
                f"{what} {calls} closures were called in the backward pass: each of the {steps} adds to the "
                "weights, and is called once"
            )
        with because(LEFT_BEHIND):
            expect_values("in a second call of backward, dX", backward(dY), dX, "in the first it was")
    return "states, gradients and calls, for five ways to cut"


@in_pieces.probe
def _(answer, rng):
    step, called = _stepper(rng, N_IN, N_OUT)
    X, H, dY = rng.normal(size=(2, 10, N_IN)), rng.normal(size=(2, N_OUT)), rng.normal(size=(2, 10, N_OUT))
    Y, backward = answer(step, X, H, 4)
    return Y, backward(dY), called[0]


def _cut_where(seam):
    """Return a walk that forgets what comes from later where seam(t, size, steps) says so."""

    def walk(step, X, H, size):
        states, backs = [], []
        for X_t in X.swapaxes(0, 1):
            H, back = step(X_t, H)
            states.append(H)
            backs.append(back)

        def backward(dY):
            dX, later = np.zeros_like(X), 0.0
            for t in reversed(range(len(backs))):
                later = 0.0 if seam(t, size, len(backs)) else later
                dX[:, t], later = backs[t](dY[:, t] + later)
            return dX

        return np.stack(states, axis=1), backward

    return walk


def _nowhere(t, size, steps):
    return False


def _everywhere(t, size, steps):
    return True


def _a_step_early(t, size, steps):
    return t % size == 0


def _from_the_end(t, size, steps):
    return (steps - 1 - t) % size == 0


def _a_step_late(t, size, steps):
    return (t + 2) % size == 0


in_pieces.mistake("That is the whole backward pass: the gradient must stop at each boundary.")(
    _cut_where(_nowhere)
)
in_pieces.mistake("That stops at every step; inside a chunk the gradient continues.")(_cut_where(_everywhere))
for _seam in (_a_step_early, _a_step_late):
    in_pieces.mistake(
        "The cut is a step off: drop the gradient that comes to the *last* step of a piece, with t + 1 "
        "divisible by size."
    )(_cut_where(_seam))
in_pieces.mistake("The pieces are counted from the front: the last one may be shorter, not the first.")(
    _cut_where(_from_the_end)
)


@in_pieces.mistake("The closures are walked from the first to the last: what comes from later comes first.")
def forwards(step, X, H, size):
    Y, _ = in_pieces_with(step, X, H, size)
    backs = []
    for X_t in X.swapaxes(0, 1):
        H, back = step(X_t, H)
        backs.append(back)

    def backward(dY):
        dX, later = np.zeros_like(X), 0.0
        for t, back in enumerate(backs):
            later = 0.0 if t % size == 0 else later
            dX[:, t], later = back(dY[:, t] + later)
        return dX

    return Y, backward


@in_pieces.mistake("The short piece at the end is missing: range stops before it.")
def without_the_rest(step, X, H, size):
    whole = max(X.shape[1] // size, 1) * size
    return in_pieces_with(step, X[:, :whole], H, size)
