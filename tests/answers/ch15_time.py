"""Answers to the exercises of chapter 15: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch15_time import (
    ALL_TO_END,
    ANEW,
    ARROWS,
    BEND_AGAIN,
    BOTH_AGAIN,
    BY_MEAN,
    BY_SUM,
    CALLED_TWICE,
    DIRECT,
    EACH_COLUMN,
    EACH_ROW,
    EACH_STEP,
    EMPTY,
    END,
    FOUR,
    FROM_0,
    IN_PLACE,
    LAST_Y,
    LASTING,
    LATE,
    LENGTHS,
    NO_1_MINUS_G,
    NO_CANDIDATE,
    NO_GATE,
    NO_H,
    NUMBERS,
    ODD,
    ONE_BACK,
    ONE_DIVISOR,
    ONE_FOR_BOTH,
    ONE_MORE,
    ONE_STEP,
    OTHER_WAY_ROUND,
    PARTS,
    PAST,
    ROWS,
    SHARE,
    SLOPE_AGAIN,
    STATE_FIRST,
    TURNED,
    USES,
    LAST_dX,
    NO_dY,
    all_by_length,
    bucket,
    bucket_with,
    filled,
    gated_step,
    in_pieces,
    in_pieces_with,
    in_steps,
    mean_of_real,
    step_with,
    weighted,
    whole_piece,
)
from course.checks.questions import LEFT_BEHIND
from tests.answers import refused, refused_values, right

# 1. counts and slopes


right(in_steps)(lambda: np.array([7, 380, 1520, 35, -8, -32]))


@right(in_steps)
def as_products():
    one = (27 + 10 + 1) * 10
    return [7, one, 4 * one, 7 * 5, (-2) ** 3, -2 * 16]


refused_values(
    in_steps,
    {
        (35, 380, 1520, 35, -8, -32): ONE_STEP,
        (6, 380, 1520, 35, -8, -32): (
            "The first of seven steps makes a closure as well; only the state before it is given."
        ),
        (7, 2660, 10640, 35, -8, -32): LASTING,
        (7, 280, 1120, 35, -8, -32): "Beside W and b there is U, from each number of the state to each.",
        (7, 380, 1140, 35, -8, -32): PARTS,
        (7, 380, 1190, 35, -8, -32): PARTS,
        (7, 380, 1520, 7, -8, -32): ROWS,
        (7, 380, 1520, 35, 16, -32): ARROWS,
        (7, 380, 1520, 35, 8, 32): ODD,
        (7, 380, 1520, 35, -8, 16): "That is y_5 itself; give its slope.",
        (7, 380, 1520, 35, -8, -8): USES,
        (5, 370, 1480, 7, 16, -8): ONE_STEP,
        (7, 370, 1480, 35, -8, -32): "Beside W and U there is b, a number for each column.",
        (7, 380, 760, 35, -8, -32): PARTS,
        (7, 380, 1490, 35, -8, -32): PARTS,
        (7, 380, 1520, 35, 4, -32): ARROWS,
        (8, 380, 1520, 35, -8, -32): (
            "There is a step for each letter, and none for the state before the first"
        ),
        (1, 380, 1520, 35, -8, -32): "The loop calls step once for each letter",
        (7, 380, 1520, 945, -8, -32): NUMBERS,
        (7, 380, 1520, 35, -8, -80): FOUR,
    },
)


# 2. a leaky bucket


@right(bucket)
def with_a_closure_for_each_step(X, a):
    states, backs, state = [], [], np.zeros_like(X[:, 0])

    def step(x, before):
        return a * before + (1 - a) * x, lambda d: ((1 - a) * d, a * d, ((before - x) * d).sum(axis=0))

    for x in X.swapaxes(0, 1):
        state, back = step(x, state)
        states.append(state)
        backs.append(back)

    def backward(dY):
        dX, parts, later = [], [], 0.0
        for back, d in zip(backs[::-1], dY.swapaxes(0, 1)[::-1], strict=True):
            dx, later, part = back(d + later)
            dX.insert(0, dx)
            parts.append(part)
        return np.stack(dX, axis=1), sum(parts)

    return np.stack(states, axis=1), backward


@right(bucket)
def with_a_table_of_powers(X, a):
    steps = X.shape[1]
    apart = np.arange(steps)[:, None] - np.arange(steps)  # (to, from)
    powers = np.where(apart[..., None] >= 0, a ** np.maximum(apart, 0)[..., None], 0.0)
    Y = np.einsum("tsw,bsw->btw", powers, (1 - a) * X)

    def backward(dY):
        dstates = np.einsum("tsw,btw->bsw", powers, dY)
        before = np.concatenate([np.zeros_like(Y[:, :1]), Y[:, :-1]], axis=1)
        return (1 - a) * dstates, ((before - X) * dstates).sum(axis=(0, 1))

    return Y, backward


def _no_later(a, d):
    return 0.0


def _one(a):
    return 1.0


def _without_X(H, x):
    return H


refused(bucket, "A state is read twice: what comes back from the next step is missing.")(
    bucket_with(_no_later)
)
refused(bucket, "X entered with the factor 1 - a, and its gradient has the same factor.")(
    bucket_with(share=_one)
)
refused(bucket, "There is an a in 1 - a, too: each step has a part with minus X.")(
    bucket_with(part=_without_X)
)


@refused(bucket, ONE_BACK)
def one_step_back(X, a):
    Y = filled(X, a)

    def backward(dY):
        dX, da, later = np.zeros_like(X), np.zeros_like(a), 0.0
        for t in reversed(range(X.shape[1])):
            d = dY[:, t] + later
            dX[:, t] = (1 - a) * d
            da += (((Y[:, t - 1] if t else 0.0) - X[:, t]) * d).sum(axis=0)
            later = dY[:, t] * a
        return dX, da

    return Y, backward


@refused(bucket, LATE)
def a_step_late(X, a):
    Y, backward = with_a_closure_for_each_step(X, a)
    return np.concatenate([np.zeros_like(Y[:, :1]), Y[:, :-1]], axis=1), backward


@refused(bucket, "X comes in with the share 1 - a, not whole.")
def X_comes_in_whole(X, a):
    return filled(X, a) / (1 - a), with_a_closure_for_each_step(X, a)[1]


@refused(bucket, IN_PLACE)
def changes_what_it_keeps(X, a):
    state, states = np.zeros(X[:, 0].shape), []
    for t in range(X.shape[1]):
        state *= a
        state += (1 - a) * X[:, t]
        states.append(state)
    return np.stack(states, axis=1), lambda dY: (dY * (1 - a), (dY * X).sum(axis=(0, 1)))


@refused(bucket, "The steps are walked from the first to the last: what comes from later comes first.")
def walks_forwards(X, a):
    def backward(dY):
        d, dX, da = 0.0, np.zeros_like(X), np.zeros_like(a)
        for t in range(X.shape[1]):
            d = dY[:, t] + a * d
            dX[:, t] = (1 - a) * d
            da += (d * ((Y[:, t - 1] if t else 0.0) - X[:, t])).sum(axis=0)
        return dX, da

    Y = filled(X, a)
    return Y, backward


def _own_da(da_of):
    """Return a bucket with a da of its own, for the mistakes."""

    def bucket(X, a):
        Y, backward = with_a_closure_for_each_step(X, a)
        before = np.concatenate([np.zeros_like(Y[:, :1]), Y[:, :-1]], axis=1)

        def own(dY):
            dX = backward(dY)[0]
            return dX, da_of(before - X, dX / (1 - a), dY)

        return Y, own

    return bucket


def _directly(part, d, dY):
    return (part * dY).sum(axis=(0, 1))


def _from_the_second_step(part, d, dY):
    return (part * d)[:, 1:].sum(axis=(0, 1))


refused(bucket, DIRECT)(_own_da(_directly))
refused(bucket, "The first step is left out")(_own_da(_from_the_second_step))


@refused(bucket, LEFT_BEHIND)
def collects_over_calls(X, a):
    Y, backward = with_a_closure_for_each_step(X, a)
    da = np.zeros_like(a)

    def own(dY):
        nonlocal da
        dX, more = backward(dY)
        da += more
        return dX, da

    return Y, own


for _sentence, _axes in {EACH_ROW: 1, EACH_STEP: 0, EACH_COLUMN: None}.items():
    refused(bucket, _sentence)(_own_da(lambda part, d, dY, axes=_axes: (part * d).sum(axis=axes)))


def _starts(state_of, made=np.zeros_like):
    """Return a bucket with this state before the first step, and arrays made in this way."""

    def bucket(X, a):
        Y, state = made(X), state_of(X)
        for t in range(X.shape[1]):
            Y[:, t] = state = a * state + (1 - a) * X[:, t]
        backward = with_a_closure_for_each_step(X, a)[1]
        return Y, backward

    return bucket


refused(bucket, FROM_0)(_starts(lambda X: X[:, 0]))
refused(bucket, FROM_0)(_starts(lambda X: 1.0))
refused(bucket, "Y has dtype int64, so its fractions are lost")(_starts(lambda X: 0.0))


@refused(bucket, "dX has dtype int64, so its fractions are lost")
def dX_as_dY(X, a):
    Y, backward = with_a_closure_for_each_step(X, a)

    def own(dY):
        dX = np.empty_like(dY)
        dX[...], da = backward(dY)
        return dX, da

    return Y, own


@refused(bucket, "with zeros in a, Y")
def divides_by_powers(X, a):
    powers = a ** np.arange(X.shape[1])[:, None]
    with np.errstate(all="ignore"):
        Y = ((1 - a) * X / powers).cumsum(axis=1) * powers
    return Y, with_a_closure_for_each_step(X, a)[1]


@refused(bucket, "where a is 0 in one column and 1 in another, da")
def divides_by_the_share(X, a):
    Y, backward = with_a_closure_for_each_step(X, a)
    before = np.concatenate([np.zeros_like(Y[:, :1]), Y[:, :-1]], axis=1)

    def own(dY):
        dX = backward(dY)[0]
        with np.errstate(invalid="ignore"):
            return dX, ((before - X) * dX / (1 - a)).sum(axis=(0, 1))

    return Y, own


@refused(bucket, "The shares are exchanged: a keeps the old state, and 1 - a takes the new.")
def shares_exchanged(X, a):
    return with_a_closure_for_each_step(X, 1 - a)


# 3. a mean of real steps


@right(mean_of_real)
def one_by_one(H, lengths):
    Y = np.zeros((len(H), H.shape[2]))
    for i, length in enumerate(lengths):
        Y[i] = H[i, :length].sum(axis=0) / length

    def backward(dY):
        dH = np.zeros(H.shape)
        for i, length in enumerate(lengths):
            dH[i, :length] = dY[i] / length
        return dH

    return Y, backward


@right(mean_of_real)
def from_running_sums(H, lengths):
    rows = np.arange(len(H))
    sums = np.cumsum(H, axis=1)[rows, lengths - 1]

    def backward(dY):
        parts = np.zeros((H.shape[0], H.shape[1] + 1, H.shape[2]))
        parts[:, 0] += dY / lengths[:, None]
        parts[rows, lengths] -= dY / lengths[:, None]
        return np.cumsum(parts, axis=1)[:, :-1]

    return sums / lengths[:, None], backward


@right(mean_of_real)
def with_einsum(H, lengths):
    weights = (np.arange(H.shape[1]) < lengths[:, None]) / lengths[:, None]
    return np.einsum("bt,btw->bw", weights, H), lambda dY: np.einsum("bt,bw->btw", weights, dY)


def _right_weights(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) / lengths[:, None]


def _all_steps(H, lengths):
    return np.ones(H.shape[:2]) / H.shape[1]


def _divided_by_steps(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) / H.shape[1]


def _one_more(H, lengths):
    return (np.arange(H.shape[1]) <= lengths[:, None]) / lengths[:, None]


def _mean_of_one_more(H, lengths):
    real = np.arange(H.shape[1]) <= lengths[:, None]
    return real / real.sum(axis=1, keepdims=True)


def _where_not_zero(H, lengths):
    real = (H != 0).any(axis=2)
    return real / np.maximum(real.sum(axis=1, keepdims=True), 1)


def _divided_by_batch(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) / lengths.sum()


def _divided_by_the_mean(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) / lengths.mean()


def _divided_by_the_last(H, lengths):
    last = max(lengths[-1], 2)  # not by 1: that is named otherwise
    return (np.arange(H.shape[1]) < lengths[:, None]) / last


def _ones(H, lengths):
    return (np.arange(H.shape[1]) < lengths[:, None]) * 1.0


def _only_the_end(H, lengths):
    return (np.arange(H.shape[1]) == lengths[:, None] - 1) * 1.0


refused(mean_of_real, "That is the mean over all steps, the ones past the end among them.")(
    weighted(_all_steps)
)
refused(mean_of_real, "Divide by each sequence's own length, and not by the number of columns.")(
    weighted(_divided_by_steps)
)
refused(mean_of_real, ONE_MORE)(weighted(_one_more))
refused(mean_of_real, ONE_MORE)(weighted(_mean_of_one_more))
refused(mean_of_real, LENGTHS)(weighted(_where_not_zero))
refused(mean_of_real, BY_SUM)(weighted(_divided_by_batch))
refused(mean_of_real, BY_MEAN)(weighted(_divided_by_the_mean))
refused(mean_of_real, END)(weighted(_only_the_end))
refused(mean_of_real, END)(weighted(_only_the_end, _right_weights))
refused(mean_of_real, PAST)(weighted(_right_weights, all_by_length))
refused(mean_of_real, PAST)(weighted(_right_weights, _one_more))
refused(mean_of_real, SHARE)(weighted(_right_weights, _ones))
for _divided in (_divided_by_steps, _divided_by_the_mean, _divided_by_the_last):
    refused(mean_of_real, ONE_DIVISOR)(weighted(_right_weights, _divided))
refused(mean_of_real, ALL_TO_END)(weighted(_right_weights, _only_the_end))


@refused(mean_of_real, "with numbers of 1e30 past the ends, Y[")
def all_minus_the_padding(H, lengths):
    past = (np.arange(H.shape[1]) >= lengths[:, None])[:, :, None]
    Y = (H.sum(axis=1) - (H * past).sum(axis=1)) / lengths[:, None]
    return Y, lambda dY: (dY / lengths[:, None])[:, None, :] * ~past


@refused(mean_of_real, "Y has dtype int64, so its fractions are lost")
def Y_like_H(H, lengths):
    Y = np.zeros_like(H[:, 0])
    Y[...], backward = one_by_one(H, lengths)
    return Y, backward


@refused(mean_of_real, "dH has dtype int64, so its fractions are lost")
def dH_like_H(H, lengths):
    Y, backward = one_by_one(H, lengths)
    return Y, lambda dY: backward(dY).astype(H.dtype)


@refused(mean_of_real, LEFT_BEHIND)
def collects_in_one_array(H, lengths):
    Y, backward = one_by_one(H, lengths)
    dH = np.zeros_like(H)

    def own(dY):
        nonlocal dH
        dH += backward(dY)
        return dH

    return Y, own


# 4. one gate


@right(gated_step)
def with_split(X, H, gate, candidate):
    inputs = np.concatenate([X, H], axis=1)
    (G, back_G), (N, back_N) = gate(inputs), candidate(inputs)

    def backward(d):
        total = back_G((H - N) * d)
        total = total + back_N(d - G * d)
        dX, dH = np.split(total, [X.shape[1]], axis=1)
        return dX, dH + G * d

    return N + G * (H - N), backward


@right(gated_step)
def way_by_way(X, H, gate, candidate):
    both = np.hstack([X, H])
    G, back_of_gate = gate(both)
    N, back_of_candidate = candidate(both)

    def backward(dH_new):
        dH = G * dH_new
        dX = np.zeros_like(X)
        for back, d in ((back_of_candidate, (1 - G) * dH_new), (back_of_gate, dH_new * H - dH_new * N)):
            d_both = back(d)
            dX = dX + d_both[:, : X.shape[1]]
            dH = dH + d_both[:, X.shape[1] :]
        return dX, dH

    return G * H + (1 - G) * N, backward


def _joined(join):
    """Return a gated step with this rule to combine its two backward functions."""

    def step(X, H, gate, candidate):
        G, back_G = gate(np.hstack([X, H]))
        N, back_N = candidate(np.hstack([X, H]))

        def backward(d):
            total = join(back_G, d * (H - N), back_N, d * (1 - G))
            return total[:, : X.shape[1]], total[:, X.shape[1] :] + G * d

        return G * H + (1 - G) * N, backward

    return step


def _overwrites(back_G, to_G, back_N, to_N):
    total = back_G(to_G)
    total = back_N(to_N)
    return total


def _calls_twice(back_G, to_G, back_N, to_N):
    back_G(to_G), back_N(to_N)
    return back_G(to_G) + back_N(to_N)


def _with_slopes(of_gate, of_candidate):
    """Return a gated step that multiplies by these slopes of G and of N, once more."""

    def step(X, H, gate, candidate):
        def bent(layer, slope):
            def again(inputs):
                Y, back = layer(inputs)
                return Y, lambda dY: back(dY * slope(Y))

            return again

        return with_split(X, H, bent(gate, of_gate), bent(candidate, of_candidate))

    return step


def _sigmoid_slope(G):
    return G * (1 - G)


def _tanh_slope(N):
    return 1 - N * N


refused(gated_step, NO_GATE)(_joined(lambda back_G, to_G, back_N, to_N: back_N(to_N)))
refused(gated_step, NO_CANDIDATE)(_joined(lambda back_G, to_G, back_N, to_N: back_G(to_G)))
refused(gated_step, NO_GATE)(_joined(_overwrites))
refused(gated_step, CALLED_TWICE)(_joined(_calls_twice))
refused(gated_step, SLOPE_AGAIN)(_with_slopes(_sigmoid_slope, np.ones_like))
refused(gated_step, BEND_AGAIN)(_with_slopes(np.ones_like, _tanh_slope))
refused(gated_step, BOTH_AGAIN)(_with_slopes(_sigmoid_slope, _tanh_slope))
refused(gated_step, NO_1_MINUS_G)(step_with(candidate_gets=np.ones_like))
refused(gated_step, OTHER_WAY_ROUND)(step_with(keeps=lambda G: 1 - G))


for words, inputs_of in {
    STATE_FIRST: lambda X, H, G: (np.hstack([H, X]), np.hstack([H, X])),
    "The candidate reads H itself here, not G * H.": lambda X, H, G: (
        np.hstack([X, H]),
        np.hstack([X, G * H]),
    ),
}.items():

    @refused(gated_step, words)
    def reads_other_inputs(X, H, gate, candidate, inputs_of=inputs_of):
        G = gate(np.hstack([X, H]))[0]
        to_gate, to_candidate = inputs_of(X, H, G)
        G, N = gate(to_gate)[0], candidate(to_candidate)[0]
        return G * H + (1 - G) * N, lambda d: (np.zeros_like(X), d)


@refused(gated_step, IN_PLACE)
def mixed_into_the_candidate(X, H, gate, candidate):
    def mixing(inputs):
        N, back = candidate(inputs)
        kept, before = N.copy(), gate(inputs)[0]
        return kept, lambda dN: (np.copyto(N, before * H + (1 - before) * kept), back(dN))[1]

    return with_split(X, H, gate, mixing)


@refused(gated_step, ONE_FOR_BOTH)
def one_backward_for_both(X, H, gate, candidate):
    inputs = np.hstack([X, H])
    return with_split(X, H, gate, lambda both: (candidate(inputs)[0], gate(inputs)[1]))


@refused(gated_step, ONE_FOR_BOTH)
def the_candidate_s_for_both(X, H, gate, candidate):
    inputs = np.hstack([X, H])
    return with_split(X, H, lambda both: (gate(inputs)[0], candidate(inputs)[1]), candidate)


@refused(gated_step, "dX has shape (5, 3)")
def exchanged(X, H, gate, candidate):
    H_new, backward = with_split(X, H, gate, candidate)
    return H_new, lambda d: backward(d)[::-1]


@refused(gated_step, OTHER_WAY_ROUND)
def with_the_other_gate(X, H, gate, candidate):
    def other(inputs):
        G, back = gate(inputs)
        return 1 - G, lambda dG: back(-dG)

    return with_split(X, H, other, candidate)


# 5. in pieces


@right(in_pieces)
def piece_by_piece(step, X, H, size):
    pieces, Y = [], []
    for start in range(0, X.shape[1], size):
        backs = []
        for t in range(start, min(start + size, X.shape[1])):
            H, back = step(X[:, t], H)
            Y.append(H)
            backs.append((t, back))
        pieces.append(backs)

    def backward(dY):
        dX = np.zeros_like(X)
        for backs in pieces:
            later = 0.0
            for t, back in backs[::-1]:
                dX[:, t], later = back(dY[:, t] + later)
        return dX

    return np.stack(Y, axis=1), backward


@right(in_pieces)
def with_a_step_that_cuts(step, X, H, size):
    def cutting(t, H):
        H_new, back = step(X[:, t], H)

        def cut_back(dH):
            dX, dH_before = back(dH)
            return dX, np.zeros_like(dH_before) if t % size == 0 else dH_before

        return H_new, cut_back

    states, backs = [], []
    for t in range(X.shape[1]):
        H, back = cutting(t, H)
        states.append(H)
        backs.append(back)

    def backward(dY):
        dX, later = [], np.zeros_like(states[0])
        for back, d in zip(reversed(backs), reversed(list(dY.swapaxes(0, 1))), strict=True):
            dX_t, later = back(d + later)
            dX.append(dX_t)
        return np.stack(dX[::-1], axis=1)

    return np.stack(states, axis=1), backward


@refused(in_pieces, EMPTY)
def state_is_cut_too(step, X, H, size):
    parts = []
    for start in range(0, X.shape[1], size):
        first = H if start == 0 else np.zeros_like(H)
        parts.append(whole_piece(step, X[:, start : start + size], first))

    def backward(dY):
        cut = np.split(dY, range(size, dY.shape[1], size), axis=1)
        return np.concatenate([back(d) for (_, back), d in zip(parts, cut, strict=True)], axis=1)

    return np.concatenate([Y for Y, _ in parts], axis=1), backward


@refused(in_pieces, ANEW)
def begins_again(step, X, H, size):
    parts = [whole_piece(step, X[:, start : start + size], H) for start in range(0, X.shape[1], size)]

    def backward(dY):
        cut = np.split(dY, range(size, dY.shape[1], size), axis=1)
        return np.concatenate([back(d) for (_, back), d in zip(parts, cut, strict=True)], axis=1)

    return np.concatenate([Y for Y, _ in parts], axis=1), backward


@refused(in_pieces, "closures were called in the backward pass")
def twice(step, X, H, size):
    Y, backward = in_pieces_with(step, X, H, size)

    def again(dY):
        backward(dY)
        return backward(dY)

    return Y, again


@refused(in_pieces, EMPTY)
def begins_empty_each_time(step, X, H, size):
    parts = [
        whole_piece(step, X[:, start : start + size], np.zeros_like(H))
        for start in range(0, X.shape[1], size)
    ]

    def backward(dY):
        cut = np.split(dY, range(size, dY.shape[1], size), axis=1)
        return np.concatenate([back(d) for (_, back), d in zip(parts, cut, strict=True)], axis=1)

    return np.concatenate([Y for Y, _ in parts], axis=1), backward


@refused(in_pieces, NO_H)
def leaves_out_the_first_state(step, X, H, size):
    return in_pieces_with(step, X, np.zeros_like(H), size)


@refused(in_pieces, NO_dY)
def loses_what_comes_from_outside(step, X, H, size):
    Y, backward = in_pieces_with(step, X, H, size)

    def losing(dY):
        dY = dY.copy()
        dY[:, size - 1 : -1 : size] = 0.0
        return backward(dY)

    return Y, losing


@refused(in_pieces, LAST_Y)
def states_of_the_last_piece(step, X, H, size):
    Y, backward = in_pieces_with(step, X, H, size)
    return Y[:, (X.shape[1] - 1) // size * size :], backward


@refused(in_pieces, LAST_dX)
def only_the_last_piece(step, X, H, size):
    Y, _ = in_pieces_with(step, X, H, size)
    for start in range(0, X.shape[1], size):
        piece, back = whole_piece(step, X[:, start : start + size], H)
        H = piece[:, -1]

    def backward(dY):
        dX = np.zeros_like(X)
        dX[:, start:] = back(dY[:, start:])
        return dX

    return Y, backward


@refused(in_pieces, TURNED)
def in_reverse(step, X, H, size):
    Y, backward = in_pieces_with(step, X, H, size)
    return Y, lambda dY: backward(dY)[:, ::-1]


@refused(in_pieces, "for 5 steps in pieces of 1, Y has shape (5, 7)")
def one_example_without_its_axis(step, X, H, size):
    Y, backward = in_pieces_with(step, X, H, size)
    return Y[0] if len(Y) == 1 else Y, backward


@refused(in_pieces, LEFT_BEHIND)
def carries_over_calls(step, X, H, size):
    states, backs, later = [], [], 0.0
    for X_t in X.swapaxes(0, 1):
        H, back = step(X_t, H)
        states.append(H)
        backs.append(back)

    def backward(dY):
        nonlocal later
        dX = np.zeros_like(X)
        for t in reversed(range(len(backs))):
            if (t + 1) % size == 0 and t + 1 < len(backs):
                later = 0.0
            dX[:, t], later = backs[t](dY[:, t] + later)
        return dX

    return np.stack(states, axis=1), backward
