"""Answers to the exercises of chapter 19: right ones, and those that a check refuses in its own words."""

from itertools import combinations

import numpy as np

from course.checks.ch19_memory import (
    SLIPS,
    back_through,
    best_cuts,
    chain_of_blocks,
    counted,
    deepest,
    draw_before,
    forgetting,
    forward_through,
    gains,
    go_and_return,
    go_and_stay,
    layer_with,
    peak_of,
    repeatable,
)
from course.xray import xray
from minigrad.beyond.recompute import Recompute
from minigrad.layer import Sequential
from tests.answers import refused, right

# 1. counts, before anything runs


right(counted)(lambda: np.array([4.0, 32, 28, 11, 48]))


@right(counted)
def as_sums():
    once = 16
    return [4, once + once, once + 12, (3 + 4) + 4, 3 * once]


def _guess(place, number):
    """Return an answer in which one of the numbers is another, for the mistakes."""
    return lambda: [number if here == place else truth for here, truth in enumerate((4, 32, 28, 11, 48))]


for _place, _slips in enumerate(SLIPS):
    for _number, _words in _slips.items():
        refused(counted, _words)(_guess(_place, _number))
refused(counted, "the peak with four plain layers is not 28")(_guess(3, 28))
refused(counted, "it must return")(lambda: 4)


# 2. a chain that forgets


@right(forgetting)
def one_block_at_a_time(functions, size):
    def block(part):
        def layer(X):
            return forward_through(part, X)[0], lambda dY: back_through(forward_through(part, X)[1], dY)

        return layer

    blocks = [block(functions[start : start + size]) for start in range(0, len(functions), size)]

    def chained(X):
        X, backs = forward_through(blocks, X)
        return X, lambda dY: back_through(backs, dY)

    return chained


@right(forgetting)
def by_recursion(functions, size):
    def chained(X):
        H = X
        for function in functions[:size]:
            H = function(H)[0]
        Y, rest = forgetting_rest(H) if len(functions) > size else (H, lambda dY: dY)
        return Y, lambda dY: again(X, rest(dY))

    def again(X, dY):
        return back_through(forward_through(functions[:size], X)[1], dY)

    def forgetting_rest(H):
        return by_recursion(functions[size:], size)(H)

    return chained


@refused(
    forgetting, "in the backward pass nothing runs forward again, so what the functions returned was kept"
)
def forgets_nothing(functions, size):
    def chained(X):
        Y, backs = forward_through(functions, X)
        return Y, lambda dY: back_through(backs, dY)

    return chained


@refused(forgetting, "in the backward pass all of them run forward before the first backward")
def all_again_at_once(functions, size):
    def chained(X):
        return forward_through(functions, X)[0], lambda dY: back_through(forward_through(functions, X)[1], dY)

    return chained


@refused(forgetting, "once for each is enough, if a block begins with what entered it")
def each_block_from_the_start(functions, size):
    def chained(X):
        def backward(dY):
            for start in reversed(range(0, len(functions), size)):
                dY = back_through(forward_through(functions[: start + size], X)[1][start:], dY)
            return dY

        return forward_through(functions, X)[0], backward

    return chained


@refused(forgetting, "after another pass, dX")
def with_one_list_for_all_passes(functions, size):
    parts = [functions[start : start + size] for start in range(0, len(functions), size)]
    inputs = [None] * len(parts)

    def chained(X):
        for i, part in enumerate(parts):
            inputs[i] = X
            X = forward_through(part, X)[0]

        def backward(dY):
            for part, entered in zip(reversed(parts), reversed(inputs), strict=True):
                dY = back_through(forward_through(part, entered)[1], dY)
            return dY

        return X, backward

    return chained


@refused(forgetting, "it changes the list of functions")
def turns_the_list_round(functions, size):
    chained = chain_of_blocks(list(functions), size)
    functions.reverse()
    return chained


@refused(forgetting, "on a second call of backward, dX")
def empties_its_list(functions, size):
    return chain_of_blocks(functions, size, pops=True)


@refused(forgetting, "on a second call of backward it raises IndexError: pop from empty list")
def pops_too_often(functions, size):
    def chained(X):
        starts, inputs = range(0, len(functions), size), []
        for start in starts:
            inputs.append(X)
            X = forward_through(functions[start : start + size], X)[0]

        def backward(dY):
            for start in reversed(starts):
                dY = back_through(forward_through(functions[start : start + size], inputs.pop())[1], dY)
            return dY

        return X, backward

    return chained


def _holding(keep):
    """Return an answer that runs each block again, and holds more than it should, for the mistakes."""

    def answer(functions, size):
        starts = range(0, len(functions), size)

        def chained(X):
            inputs, backs = [X], []
            for function in functions:
                X, back = function(X)
                inputs.append(X), backs.append(back)
            noted, held = inputs[:-1:size], keep(inputs, backs, size)
            del inputs, backs

            def backward(dY):
                inside = held  # noqa: F841  (the closure holds it)
                for start, entered in zip(reversed(starts), reversed(noted), strict=True):
                    dY = back_through(forward_through(functions[start : start + size], entered)[1], dY)
                return dY

            return X, backward

        return chained

    return answer


refused(forgetting, "the backward functions of a, b, c, d, e, f, g are still there")(
    _holding(lambda inputs, backs, size: backs)
)
refused(forgetting, "the backward functions of g are still there")(
    _holding(lambda inputs, backs, size: backs[-1])
)
refused(forgetting, "your backward pass still holds 7 arrays; 3 enter blocks")(
    _holding(lambda inputs, backs, size: inputs[:-1])
)
refused(forgetting, "4 arrays; 3 enter blocks, and one of yours is Y, which leaves the last")(
    _holding(lambda inputs, backs, size: inputs[-1])
)


def _gathering(of_a_block):
    """Return an answer that gathers something of each block in the backward pass, for the mistakes."""

    def answer(functions, size):
        starts = range(0, len(functions), size)

        def chained(X):
            inputs = []
            for start in starts:
                inputs.append(X)
                X = forward_through(functions[start : start + size], X)[0]

            def backward(dY):
                gathered = []
                for start, X in zip(reversed(starts), reversed(inputs), strict=True):
                    results, backs = [X], []
                    for function in functions[start : start + size]:
                        Y, back = function(results[-1])
                        results.append(Y), backs.append(back)
                    gathered += of_a_block(results[1:], backs)
                    dY = back_through(backs, dY)
                return dY

            return X, backward

        return chained

    return answer


right(forgetting)(_gathering(lambda results, backs: []))
refused(forgetting, "when a runs again, the backward functions of d, e, f, g are still there")(
    _gathering(lambda results, backs: backs)
)
refused(forgetting, "when a runs again, the backward functions of d, f, g are still there")(
    _gathering(lambda results, backs: backs[:1])
)
refused(forgetting, "when a runs again, the results of d, f, g are still there")(
    _gathering(lambda results, backs: results[:1])
)
refused(forgetting, "when a runs again, the results of d, e, f, g are still there")(
    _gathering(lambda results, backs: results)
)


@right(forgetting)
def with_names_that_stay(functions, size):
    """The names of its loops hold two ways back of a block until the next one runs: that much may be."""
    starts = range(0, len(functions), size)

    def chained(X):
        inputs = []
        for start in starts:
            inputs.append(X.copy())
            for function in functions[start : start + size]:
                X, back = function(X)

        def backward(dY):
            for start, H in zip(reversed(starts), reversed(inputs), strict=True):
                backs = []
                for function in functions[start : start + size]:
                    H, back = function(H)
                    backs.append(back)
                for one in reversed(backs):
                    dY = one(dY)
            return dY

        return X, backward

    return chained


@right(forgetting)
def with_del(functions, size):
    starts = range(0, len(functions), size)

    def chained(X):
        inputs = []
        for start in starts:
            inputs.append(X)
            X, ways = forward_through(functions[start : start + size], X)
            del ways

        def backward(dY):
            for start, entered in zip(reversed(starts), reversed(inputs), strict=True):
                ways = forward_through(functions[start : start + size], entered)[1]
                while ways:
                    dY = ways.pop()(dY)
            return dY

        return X, backward

    return chained


@refused(
    forgetting, "in the backward pass, when a runs again, the backward functions of d, e, f are still there"
)
def a_name_holds_the_old_block(functions, size):
    starts = range(0, len(functions), size)

    def chained(X):
        inputs = []
        for start in starts:
            inputs.append(X)
            X = forward_through(functions[start : start + size], X)[0]

        def backward(dY):
            for start, entered in zip(reversed(starts), reversed(inputs), strict=True):
                ways = forward_through(functions[start : start + size], entered)[1]
                for way in reversed(ways):
                    dY = way(dY)
            return dY

        return X, backward

    return chained


@refused(forgetting, "in the forward pass, when d runs, the backward functions of a, b, c are still there")
def all_in_a_list_until_it_returns(functions, size):
    blocks = [functions[start : start + size] for start in range(0, len(functions), size)]

    def chained(X):
        inputs, ways = [], []
        for block in blocks:
            inputs.append(X)
            for function in block:
                X, way = function(X)
                ways.append(way)

        def backward(dY):
            for block, entered in zip(blocks[::-1], inputs[::-1], strict=True):
                dY = back_through(forward_through(block, entered)[1], dY)
            return dY

        return X, backward

    return chained


@refused(forgetting, "in the forward pass, when d runs, the backward functions of a, b, c are still there")
def a_name_holds_them_forward(functions, size):
    blocks = [functions[start : start + size] for start in range(0, len(functions), size)]

    def chained(X):
        inputs = []
        for block in blocks:
            inputs.append(X)
            X, ways = forward_through(block, X)

        def backward(dY):
            for block, entered in zip(blocks[::-1], inputs[::-1], strict=True):
                dY = back_through(forward_through(block, entered)[1], dY)
            return dY

        return X, backward

    return chained


class _Chained:
    """A chain as an object."""

    def __init__(self, functions, size):
        self.blocks = [functions[start : start + size] for start in range(0, len(functions), size)]

    def __call__(self, X):
        inputs = [X]
        for block in self.blocks:
            inputs.append(forward_through(block, inputs[-1])[0])
        Y = inputs.pop()
        return Y, lambda dY: self.back(inputs, dY)

    def back(self, inputs, dY):
        for block, entered in zip(self.blocks[::-1], inputs[::-1], strict=True):
            dY = back_through(forward_through(block, entered)[1], dY)
        return dY


@right(forgetting)
def with_an_object(functions, size):
    return _Chained(functions, size)


@refused(forgetting, "it must return a function")
def returns_the_blocks(functions, size):
    return [functions[start : start + size] for start in range(0, len(functions), size)]


# 3. where to cut


@right(best_cuts)
def with_a_loop(inside, enters, k):
    n, best, least = len(inside), None, np.inf
    for cuts in combinations(range(1, n), k - 1):
        blocks = np.split(np.asarray(inside), cuts)
        peak = enters[0] + sum(enters[cut] for cut in cuts) + max(block.sum() for block in blocks)
        if peak < least:
            best, least = cuts, peak
    return best


@right(best_cuts)
def from_the_last(inside, enters, k):
    n = len(inside)
    whole = [0, *np.cumsum(inside)]

    def peak(cuts):  # what enters the first block is always kept, and so may be left out
        ends = [0, *cuts, n]
        return sum(enters[cut] for cut in cuts) + max(
            whole[b] - whole[a] for a, b in zip(ends[:-1], ends[1:], strict=True)
        )

    return min(sorted(combinations(range(1, n), k - 1), reverse=True), key=peak)


@refused(best_cuts, "one cut less than blocks")
def as_many_cuts_as_blocks(inside, enters, k):
    return min(
        combinations(range(len(inside)), k), key=lambda cuts: peak_of(inside, enters, [c for c in cuts if c])
    )


@refused(best_cuts, "it must return a tuple of cuts")
def the_peak_itself(inside, enters, k):
    return min(peak_of(inside, enters, cuts) for cuts in combinations(range(1, len(inside)), k - 1))


@right(best_cuts)
def with_argmin(inside, enters, k):
    ways = np.array(list(combinations(range(1, len(inside)), k - 1)), dtype=int)
    return ways[np.argmin([peak_of(inside, enters, cuts.tolist()) for cuts in ways])]


@refused(best_cuts, "000000], k=4: it must return a tuple of cuts, but returned nothing")
def nothing_is_above_a_million(inside, enters, k):
    best, least = None, 10**6
    for cuts in combinations(range(1, len(inside)), k - 1):
        if peak_of(inside, enters, cuts) < least:
            best, least = cuts, peak_of(inside, enters, cuts)
    return best


@refused(best_cuts, "inside=[8, 9, 3, 1, 7], enters=[1, 6, 3, 1, 2], k=3: your cuts (1, 2) have the peak 21")
def one_cut_after_the_other(inside, enters, k):
    cuts = ()
    while len(cuts) < k - 1:
        more = [tuple(sorted((*cuts, cut))) for cut in range(1, len(inside)) if cut not in cuts]
        cuts = min(more, key=lambda cuts: peak_of(inside, enters, cuts))
    return cuts


@refused(best_cuts, "one cut less than blocks")
def fewer_cuts_where_they_are_better(inside, enters, k):
    ways = [cuts for cut in range(k) for cuts in combinations(range(1, len(inside)), cut)]
    return min(ways, key=lambda cuts: peak_of(inside, enters, cuts))


# 4. noise, twice the same


@right(repeatable)
def with_try(draws, rng):
    bits = rng.bit_generator

    def layer(X):
        before = bits.state

        def backward(dY):
            now, bits.state = bits.state, before
            try:
                return draws(X, rng)[1](dY)
            finally:
                bits.state = now

        return draws(X, rng)[0], backward

    return layer


@right(repeatable)
def with_a_generator_of_its_own(draws, rng):
    def layer(X):
        before = rng.bit_generator.state
        Y = draws(X, rng)[0]

        def backward(dY):
            own = np.random.default_rng()
            own.bit_generator.state = before
            return draws(X, own)[1](dY)

        return Y, backward

    return layer


refused(
    repeatable, "each forward: note its state when the backward pass begins, and put it back there at the end"
)(layer_with(draw_before, go_and_stay))


@refused(
    repeatable,
    "after two forwards, another draw, and a backward pass the generator is not in the state",
)
def as_now_at_the_end_of_the_forward(draws, rng):
    def layer(X):
        Y, state = draw_before(draws, X, rng)
        now = rng.bit_generator.state

        def backward(dY):
            dX = go_and_stay(draws, X, rng, state, dY)
            rng.bit_generator.state = now
            return dX

        return Y, backward

    return layer


@refused(
    repeatable, "in the backward pass `draws` does not run again: what the first run remembered was kept"
)
def nothing_is_recomputed(draws, rng):
    return lambda X: draws(X, rng)


@refused(repeatable, "but then the first run's backward is called: it was kept")
def runs_again_for_nothing(draws, rng):
    def layer(X):
        state = rng.bit_generator.state
        Y, first = draws(X, rng)

        def backward(dY):
            now = rng.bit_generator.state
            rng.bit_generator.state = state
            draws(X, rng)
            rng.bit_generator.state = now
            return first(dY)

        return Y, backward

    return layer


@refused(repeatable, "in one backward pass `draws` runs 2 times; once is enough")
def once_too_often(draws, rng):
    def twice(draws, X, rng, state, dY):
        go_and_return(draws, X, rng, state, dY)
        return go_and_return(draws, X, rng, state, dY)

    return layer_with(draw_before, twice)(draws, rng)


@refused(repeatable, "in a second call, Y")
def one_state_for_ever(draws, rng):
    start = rng.bit_generator.state

    def layer(X):
        rng.bit_generator.state = start
        return draws(X, rng)[0], lambda dY: go_and_return(draws, X, rng, start, dY)

    return layer


# 5. what is worth forgetting


@right(gains)
def by_trying_it(layers, X):
    gained = []
    for layer in layers:
        Y, backward = layer(X)
        gained.append(xray(backward).total - xray(Recompute(layer)(X)[1]).total)
        X = Y
    return gained


@right(gains)
def from_the_rows(layers, X):
    inputs, kept = [X], []
    for layer in layers:
        Y, backward = layer(inputs[-1])
        inputs.append(Y)
        kept.append(sum(row.bytes for row in xray(backward).rows))
    return [now - entered.nbytes for now, entered in zip(kept, inputs, strict=False)]


@refused(gains, "it must return a list with a number for each layer")
def all_together(layers, X):
    return sum(by_trying_it(layers, X))


@right(gains)
def layer_after_layer(layers, X):
    if not layers:
        return []
    Y, backward = layers[0](X)
    return [xray(backward).total - X.size * X.itemsize, *layer_after_layer(layers[1:], Y)]


@refused(gains, "Layers 1 and 3 are one layer, but each place has its own gain")
def by_layer(layers, X):
    found = {}
    for layer in layers:
        Y, backward = layer(X)
        found[layer] = xray(backward).total - X.nbytes
        X = Y
    return [found[layer] for layer in layers]


@refused(gains, "4 in all, but returned a list of 3")
def in_a_dict(layers, X):
    return list(dict(zip(layers, by_trying_it(layers, X), strict=True)).values())


@refused(gains, "it changes layers, which belongs to its caller: make a new list")
def takes_the_layers_out(layers, X):
    gained = []
    while layers:
        Y, backward = layers.pop(0)(X)
        gained.append(xray(backward).total - X.nbytes)
        X = Y
    return gained


@refused(gains, "of float32, the gain of layer")
def in_float64(layers, X):
    return from_the_rows(layers, X.astype(float))


@refused(gains, "of float32, the gain of layer 2 is")
def as_parts_of_the_whole(layers, X):
    wholes = [xray(Sequential(*layers[:n])(X)[1]).total if n else 0 for n in range(len(layers) + 1)]
    gained = []
    for layer, before, after in zip(layers, wholes, wholes[1:], strict=False):
        gained.append(after - before - X.nbytes)
        X = layer(X)[0]
    return gained


# 6. plateau or mountain


@right(deepest)
def by_formulas(arrays):
    return arrays**2 // 4, arrays * (arrays - 1) // 2


@right(deepest)
def block_by_block(arrays):
    plateau, mountain = 0, 0
    for block in range(1, arrays):
        plateau = max(plateau, block * (arrays - block))
        mountain += arrays - block
    return np.array([plateau, mountain]).tolist()
