"""The exercises of chapter 19: counts, a recomputing chain, cuts, random layers, gains, two memory plans."""

import gc
import weakref
from contextlib import nullcontext
from itertools import combinations

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    OWN_MEMORY,
    because,
    drawn_sizes,
    expect_gradients,
    expect_guesses,
    expect_several,
    expect_values,
    untouched,
)
from course.xray import xray
from minigrad.beyond.recompute import Recompute
from minigrad.layer import Sequential, as_layer
from minigrad.layers.activations import GELU, ReLU, Tanh
from minigrad.layers.combinators import Residual, Watch
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import Dropout

# 1. counts, before anything runs

counted = Exercise(
    "19_memory.counted",
    title="Counted before it runs",
    points=3,
    kind="predict",
    minutes=10,
    hints=(
        "For the calls ask of one layer: how often does *it* run forward? Once, and once more for each "
        "Recompute that it is in.",
        "A layer outside a Recompute keeps its array from its forward on, and a Sequential frees nothing "
        "before the whole backward pass is over.",
        "The third arrangement reaches its peak in the backward pass through a forgotten block: the inputs "
        "of three blocks, the arrays of four plain layers, and the inside of one block.",
    ),
)


def _layers(rng, count=None):
    """Return sixteen layers of the chapter, before each of which a Watch may count the calls."""
    layers = [Residual(Tanh() >> Linear(N_IN, N_IN, rng=rng)) for _ in range(16)]
    return [Watch(count) >> layer for layer in layers] if count else layers


def _four(layers, way):
    """Return the four blocks of four, each made by `way`."""
    return [way(Sequential(*layers[start : start + 4])) for start in (0, 4, 8, 12)]


def _pairs(block):
    """Return a block in a Recompute, with two layers and two layers in one each."""
    return Recompute(Sequential(*[Recompute(Sequential(*block.layers[a : a + 2])) for a in (0, 2)]))


def _calls(arrange, rng):
    """Return the number of forward calls of a network's layers in a forward and backward pass."""
    seen = []
    Y, backward = Sequential(*arrange(_layers(rng, lambda way, _: seen.append(way))))(np.ones((BATCH, N_IN)))
    backward(Y)
    return float(seen.count("forward"))


def _last_plain(layers):
    """Return the first three blocks, each in a Recompute, and the last four layers unwrapped."""
    return [*_four(layers, Recompute)[:3], *layers[12:]]


TWO_LEVELS = (
    "Each of the two levels adds one forward, so each layer runs three times; backward calls do not count"
)
NOT_THE_WAYS_BACK = "Count only forward calls, not backward functions"
SLIPS = (
    {
        8: "The inside of a block exists only during its pass; after the forward there are only inputs",
        16: "That many are kept without Recompute",
        1: "Each block keeps what enters it, and there are four",
        3: "All four blocks are in a Recompute here, and each keeps what enters it, the last one too",
    },
    {
        16: "What is forgotten must be run again, so each layer runs twice",
        20: "Each layer of a block runs again, not only its first one",
        48: NOT_THE_WAYS_BACK,
        80: "Each layer runs again once, with its own block, and not once for every block",
    },
    {
        12: "The first forward is counted too",
        20: "The twelve layers in the three blocks run again, and not the plain ones",
        32: "Only the layers in the three blocks run again; the plain ones kept what they need",
        44: NOT_THE_WAYS_BACK,
    },
    {
        3: "The four plain layers keep an array each, and the backward pass adds the inside of a block",
        7: "The backward pass adds the inside of a block to 3 inputs and the plain layers' 4 arrays, "
        "since Sequential frees nothing before the end",
        8: "That is the peak with all four blocks in a Recompute; the plain layers keep 4 arrays and not an "
        "input",
        12: "What enters the plain layers is not kept besides their own arrays",
        19: "Only one block's inside is there at a time",
    },
    {
        32: "A layer in two Recomputes runs forward three times: first, with the outer, with the inner",
        40: "Each level runs all sixteen layers again, and so adds 16 calls to the first 16",
        64: TWO_LEVELS,
        96: TWO_LEVELS,
    },
)


@counted.check
def _(answer, rng):
    X = np.ones((BATCH, N_IN))
    kept = [
        xray(Sequential(*part)(X)[1]).total / X.nbytes
        for part in (_four(_layers(rng), Recompute), _last_plain(_layers(rng)), _layers(rng)[:4])
    ]
    truths = {
        "the arrays kept when the forward is over": kept[0],
        "the number of calls with each block in a Recompute": _calls(
            lambda these: _four(these, Recompute), rng
        ),
        "the number of calls with four plain layers": _calls(_last_plain, rng),
        "the peak with four plain layers": kept[1] + kept[2],
        "the number of calls with blocks in blocks": _calls(lambda these: _four(these, _pairs), rng),
    }
    expect_guesses(answer(), truths, dict(zip(truths, SLIPS, strict=True)))
    return "five counts, by running all the networks"


# 2. a chain that forgets

forgetting = Exercise(
    "19_memory.forgetting",
    title="A chain that forgets",
    points=4,
    kind="fill",
    minutes=12,
    remote=False,  # it asks what is still alive, in the process where the answer runs
    hints=(
        "Cut the list into blocks first: `functions[start : start + size]` for each start. A slice beyond "
        "the end is simply shorter.",
        "In the forward pass store the input of each block, and keep none of the backward functions. In the "
        "backward pass take blocks and inputs from the last to the first.",
        "For a block: run its functions on its input, collect their backward functions in a list, call these "
        "from the last to the first, and only then go to the block in front of it.",
    ),
)


def _function(place, log, made=None, size=1):
    """Return a layer, sin(X) + X / 4 and a bit, that records its forward and backward calls.

    `made` gets a row for each run forward: the place, its backward pass and its result as weak references,
    and, for the first of a block, what of the blocks before was alive when it began and should not have been.
    """

    def layer(X):
        log.append((place, "forward"))
        asked = made and place % size == 0 and not any(row[-1] for row in made)  # one finding is enough
        old = _left_over(made, place, size) if asked else ""
        slope = np.cos(X) + 0.25

        def backward(dY):
            log.append((place, "back"))
            return dY * slope

        Y = np.sin(X) + 0.25 * X + 0.1 * place
        if made is not None:
            made.append((place, weakref.ref(backward), weakref.ref(Y), old))
        return Y, backward

    return layer


SPARE = 2  # loop variables, which still refer to a backward function or a result after the loops


def _held(made, column):
    """Return the positions whose backward (column 1) or result (column 2) is still alive."""
    return sorted({row[0] for row in made if row[column]() is not None})


def _settled(look):
    """Return look(), after a garbage collection if it finds something: functions may form a cycle."""
    return look() and (gc.collect(), look())[1]


def _left_over(made, place, size):
    """Describe what should be freed when a block starts with the function at `place`, or return "".

    Names of loops may hold a little of the block just done, and nothing of any block before that.
    """
    goes_back, done = place < made[-1][0], made[-1][0] // size

    def left(column):
        held = _held(made, column)
        if column == 2 and not goes_back:
            held = [there for there in held if (there + 1) % size]  # what enters a block stays
        is_little = len(held) <= SPARE and all(there // size == done for there in held)
        return [] if is_little else held

    for column, name in ((1, "backward functions"), (2, "results")):
        if held := _settled(lambda column=column: left(column)):
            return f"the {name} of {_named(held)}"
    return ""


def _named(places):
    """Return places as names: a, b, c."""
    return ", ".join("abcdefghijk"[place] for place in places)


def _expect_forgotten(asked, blocks, made, backward, X):
    """Require that after the forward pass only the inputs of blocks are kept."""
    held = _settled(lambda: _held(made, 1))
    if held:
        raise CheckFailed(
            f"{asked}: when the forward is over, the backward functions of {_named(held)} are still there, "
            "with all that they store; keep only the input of each block"
        )
    arrays = max(round(xray(backward).total / X.nbytes), 1 + sum(Y() is not None for _, _, Y, _ in made))
    if arrays > blocks:
        enters = "1 enters the block" if blocks == 1 else f"{blocks} enter blocks"
        last = arrays == blocks + 1 and made[-1][2]() is not None
        raise CheckFailed(
            f"{asked}: when the forward is over, your backward pass still holds {arrays} arrays; {enters}"
            + (", and one of yours is Y, which leaves the last" if last else "")
        )


def _expect_one_inside(asked, when, runs):
    """Require that the inside of a block is freed before the next block runs."""
    for place, _, _, old in runs:
        if old:
            when = when.format(_named([place]))
            raise CheckFailed(
                f"{asked}: in the {when}, {old} are still there: let those "
                "of a block go when it is done (a name or a list holds them until it gets something else)"
            )


def _in_order(log):
    """Return a log in words: a, b, back b, back a."""
    return ", ".join(("back " if way == "back" else "") + "abcdefghijk"[place] for place, way in log)


def _expect_order(n, size, log):
    """Require that the functions ran in the right order in the backward pass."""
    wanted = []
    for start in reversed(range(0, n, size)):
        block = range(start, min(start + size, n))
        wanted += [(place, "forward") for place in block] + [(place, "back") for place in reversed(block)]
    again, asked = sum(way == "forward" for _, way in log), f"{n} functions in blocks of {size}"
    if not again:
        raise CheckFailed(
            f"{asked}: in the backward pass nothing runs forward again, so what the functions returned was "
            "kept"
        )
    if again > n:
        raise CheckFailed(
            f"{asked}: in the backward pass functions run forward {again} times; once for each is enough, if "
            "a block begins with what entered it"
        )
    if log[:n] == [(place, "forward") for place in range(n)] and size < n:
        raise CheckFailed(
            f"{asked}: in the backward pass all of them run forward before the first backward; then all that "
            "was forgotten is there at once"
        )
    if log != wanted:
        raise CheckFailed(f"{asked}: the backward pass goes {_in_order(log)}; it must go {_in_order(wanted)}")


@forgetting.check
def _(answer, rng):
    gc.freeze()  # what is older than the answer's arrays need not be looked through for rings
    try:
        return _expect_a_forgetful_chain(answer, rng)
    finally:
        gc.unfreeze()


def _expect_a_forgetful_chain(answer, rng):
    """Check all requirements of a chain that forgets; return what was verified."""
    for n, size in ((7, 3), (6, 2), (3, 5), (2, 1)):
        log, X, dY = [], rng.normal(size=(BATCH, N_IN)), rng.normal(size=(BATCH, N_IN))
        made, silent, asked = [], [], f"{n} functions in blocks of {size}"
        functions = [_function(place, log, made, size) for place in range(n)]
        as_given = list(functions)
        chained = answer(functions, size)
        if not callable(chained):
            raise CheckFailed(
                f"it must return a function, X -> (Y, backward), but returned {described(chained)}"
            )
        with untouched(X=X):
            Y, backward = expect_several(chained(X), "Y", "backward")
        if log != [(place, "forward") for place in range(n)]:
            raise CheckFailed(
                f"{asked}: going forward {_in_order(log) or 'none'} ran; each runs once, in order"
            )
        whole = Sequential(*[_function(place, silent) for place in range(n)])
        expect_values("Y", Y, whole(X)[0])
        del Y
        kept = None
        try:
            _expect_forgotten(asked, -(-n // size), made, backward, X)
        except CheckFailed as no:  # what is wrong with the backward pass itself is said before
            kept = no
        there = list(made)
        log.clear(), made.clear()
        with untouched(X=X, dY=dY):
            dX = backward(dY)
        order = list(log)
        expect_gradients(lambda X, whole=whole: whole(X)[0], {"X": X}, dY, {"X": dX})
        _expect_order(n, size, order)
        if kept:
            raise kept
        _expect_one_inside(asked, "forward pass, when {} runs", there)
        _expect_one_inside(asked, "backward pass, when {} runs again", made)
        _expect_the_same_again(backward, dY, dX)
        chained(X[::-1].copy())
        with because(OWN_MEMORY):
            expect_values("after another pass, dX", backward(dY), dX, "before it was")
        if functions != as_given:
            raise CheckFailed("it changes the list of functions, which belongs to its caller: copy it first")
    return "values, nudging, the order of all calls, and what is alive when the next block runs"


def _expect_the_same_again(backward, dY, dX):
    """Require that a second call of backward returns the same as the first."""
    try:
        again = backward(dY)
    except Exception as error:
        raise CheckFailed(
            f"on a second call of backward it raises {type(error).__name__}: {error}; the first call "
            "must keep everything that the second needs"
        ) from error
    expect_values(
        "on a second call of backward, dX",
        again,
        dX,
        "but the first, which must keep everything it used, gave",
    )


@forgetting.probe
def _(answer, rng):
    X, log = rng.normal(size=(BATCH, N_IN)), []
    Y, backward = answer([_function(place, log) for place in range(7)], 3)(X)
    return Y, backward(np.ones_like(X))


def forward_through(functions, X):
    """Return the result of functions in order, and their backward functions."""
    backs = []
    for function in functions:
        X, back = function(X)
        backs.append(back)
    return X, backs


def back_through(backs, dY):
    """Go back through all, the last first."""
    for back in reversed(backs):
        dY = back(dY)
    return dY


def chain_of_blocks(functions, size, enters=lambda X, entered, H: entered, pops=False, turned=False):
    """Return a chain whose backward uses a list of (block, input), for the mistakes."""

    def chained(X):
        noted, H = [], X
        for start in range(0, len(functions), size):
            entered, part = H, functions[start : start + size]
            H = forward_through(part, H)[0]
            noted.append((part, enters(X, entered, H)))

        def backward(dY):
            left = noted if pops else noted[:: -1 if turned else 1]
            while left:
                part, entered = left.pop()
                dY = back_through(forward_through(part, entered)[1], dY)
            return dY

        return H, backward

    return chained


for sentence, chain in {  # of the functions and the size
    "Every block got X, the input of the first one only: store the input of each.": (
        lambda functions, size: chain_of_blocks(functions, size, lambda X, entered, H: X)
    ),
    "That is the output of the block: store its input, before its functions run.": (
        lambda functions, size: chain_of_blocks(functions, size, lambda X, entered, H: H)
    ),
    "Here each layer is a block: store the input of each block of `size` functions.": (
        lambda functions, size: chain_of_blocks(functions, 1)
    ),
    "You go back through the blocks in the order of the forward pass: start with the last.": (
        lambda functions, size: chain_of_blocks(functions, size, turned=True)
    ),
    "A block has `size` functions; you make `size` blocks.": (
        lambda functions, size: chain_of_blocks(functions, -(-len(functions) // size))
    ),
    "The last block is shorter, but it belongs to the chain.": (
        lambda functions, size: chain_of_blocks(functions[: len(functions) // size * size], size)
    ),
}.items():
    forgetting.mistake(sentence)(chain)


@forgetting.mistake("The backward functions of a block are called from the last to the first.")
def back_in_the_order_of_forward(functions, size):
    def chained(X):
        noted = []
        for start in range(0, len(functions), size):
            noted.append((functions[start : start + size], X))
            X = forward_through(noted[-1][0], X)[0]

        def backward(dY):
            for part, entered in reversed(noted):
                for back in forward_through(part, entered)[1]:
                    dY = back(dY)
            return dY

        return X, backward

    return chained


# 3. where to cut

best_cuts = Exercise(
    "19_memory.best_cuts",
    title="Where to cut",
    points=4,
    kind="fill",
    minutes=12,
    hints=(
        "Write the peak of given cuts as a function of its own. `min(..., key=peak)` then finds the best.",
        "Put 0 in front of the cuts and n behind them: a block goes from one of these to the next. All but "
        "the last are where a block begins.",
        "Add up `enters[start]` over the beginnings of all blocks, and to that the largest "
        "`sum(inside[a:b])` of a block from a to b.",
    ),
)


def peak_of(inside, enters, cuts):
    """Return the peak of cuts."""
    ends = (0, *cuts, len(inside))
    largest = max(sum(inside[a:b]) for a, b in zip(ends, ends[1:], strict=False))
    return sum(enters[start] for start in ends[:-1]) + largest


def _expect_cuts(asked, cuts, n, k):
    """Require valid cuts."""
    cuts = tuple(cuts) if isinstance(cuts, list | np.ndarray) else cuts
    if not isinstance(cuts, tuple):
        raise CheckFailed(f"{asked}it must return a tuple of cuts, but returned {described(cuts)}")
    if len(cuts) != k - 1:
        raise CheckFailed(f"{asked}it returned a tuple of length {len(cuts)}; one cut less than blocks")
    if any(not isinstance(cut, int | np.integer) for cut in cuts):
        raise CheckFailed("each cut must be an int: the place of a layer")
    if any(not 0 < cut < n for cut in cuts) or list(cuts) != sorted(set(cuts)):
        raise CheckFailed(f"{asked}the cuts are {tuple(map(int, cuts))}; they must rise, from 1 to {n - 1}")
    return tuple(map(int, cuts))


NETWORKS = (  # in these two, hardly any wrong peak has the same best cuts
    (np.array([1, 1, 4]), np.array([1, 1, 1]), 2),
    (np.array([8, 9, 3, 1, 7]), np.array([1, 6, 3, 1, 2]), 3),
)


@best_cuts.check
def _(answer, rng):
    sizes = ((6, 1), (6, 3), (7, 4), (8, 2), (8, 3), (5, 5), (8, 4))
    drawn = [(rng.integers(0, 40, size=n), rng.integers(1, 20, size=n), k) for n, k in sizes]
    in_bytes = [(10**9 * inside, 10**9 * enters, k) for inside, enters, k in drawn[-1:]]
    for inside, enters, k in (*NETWORKS, *drawn, *in_bytes):
        inside, enters, n = inside.copy(), enters.copy(), len(inside)
        asked = f"inside={inside.tolist()}, enters={enters.tolist()}, k={k}: "
        with untouched(inside=inside, enters=enters):
            cuts = _expect_cuts(asked, answer(inside, enters, k), n, k)
        found = peak_of(inside, enters, cuts)
        least = min(peak_of(inside, enters, other) for other in combinations(range(1, n), k - 1))
        if found > least:
            raise CheckFailed(
                f"{asked}your cuts {cuts} have the peak {found}, and there are cuts with {least}"
            )
    return "ten networks, from one block to a block for each layer, and one that keeps gigabytes"


@best_cuts.probe
def _(answer, rng):
    return [
        tuple(answer(rng.integers(1, 40, size=7), rng.integers(1, most, size=7), k))
        for most in (60, 20, 4, 2)  # where all that enters is alike, the insides decide
        for k in (1, 2, 3, 4, 5)
    ]


def _by(peak=None, first=1, last=0):
    """Return an answer that minimizes another peak, or leaves cuts out, for the mistakes."""
    peak = peak or (lambda inside, enters, ends: peak_of(inside, enters, ends[1:-1]))

    def cuts_by(inside, enters, k):
        n = len(inside)
        places = range(first, n - last) if k - 1 <= n - last - first else range(1, n)
        return min(combinations(places, k - 1), key=lambda cuts: peak(inside, enters, (0, *cuts, n)))

    return cuts_by


def _blocks(ends):
    return list(zip(ends, ends[1:], strict=False))


def _enter(enters, ends):
    return sum(enters[start] for start in ends[:-1])


def _largest(inside, ends):
    return max(sum(inside[a:b]) for a, b in _blocks(ends))


@best_cuts.mistake("Blocks of equally many layers are best only where all layers are alike.")
def equally_many(inside, enters, k):
    n = len(inside)
    return tuple(round(n * place / k) for place in range(1, k))


best_cuts.mistake("What enters the blocks is missing in your peak: it differs from cut to cut.")(
    _by(lambda inside, enters, ends: _largest(inside, ends))
)
best_cuts.mistake(
    "Here what enters the blocks decides alone: the inside of the block that keeps most must count, too."
)(_by(lambda inside, enters, ends: _enter(enters, ends)))
best_cuts.mistake("The block that keeps most counts, not the one with the most layers.")(
    _by(lambda inside, enters, ends: _enter(enters, ends) + max(b - a for a, b in _blocks(ends)))
)
best_cuts.mistake("All inputs are kept at the same time: their sum counts, and not the largest.")(
    _by(lambda inside, enters, ends: max(enters[a] + sum(inside[a:b]) for a, b in _blocks(ends)))
)
best_cuts.mistake("All inputs stay to the end: those behind a block count for it, too.")(
    _by(
        lambda inside, enters, ends: max(
            sum(enters[s] for s in ends if s <= a) + sum(inside[a:b]) for a, b in _blocks(ends)
        )
    )
)
best_cuts.mistake("What enters a block counts once: you add it to all that enters, and to the block.")(
    _by(
        lambda inside, enters, ends: (
            _enter(enters, ends) + max(enters[a] + sum(inside[a:b]) for a, b in _blocks(ends))
        )
    )
)
best_cuts.mistake("The last block counts too: here each block is run again, and its inside is there then.")(
    _by(
        lambda inside, enters, ends: (
            _enter(enters, ends) + (_largest(inside, ends[:-1]) if len(ends) > 2 else 0)
        )
    )
)
best_cuts.mistake("The last layer of a block counts, too: `inside[a:b]` leaves out only b.")(
    _by(
        lambda inside, enters, ends: (
            _enter(enters, ends) + max(sum(inside[a : b - 1]) for a, b in _blocks(ends))
        )
    )
)
best_cuts.mistake("A cut c is in front of layer c, so `enters[c]` enters the block, not `enters[c - 1]`.")(
    _by(lambda inside, enters, ends: sum(enters[end - 1] for end in ends[1:-1]) + _largest(inside, ends))
)
best_cuts.mistake("That finds the worst cuts: find the lowest peak.")(
    _by(lambda inside, enters, ends: -_largest(inside, ends) - _enter(enters, ends))
)
best_cuts.mistake("You never cut behind the first layer: a block may have one layer.")(_by(first=2))
best_cuts.mistake("You never cut in front of the last layer: a block may have one layer.")(_by(last=1))


@best_cuts.mistake("These are the last layers of the blocks: a cut is in front of a layer, one further on.")
def counts_from_zero(inside, enters, k):
    places = combinations(range(1, len(inside)), k - 1)
    return tuple(cut - 1 for cut in min(places, key=lambda cuts: peak_of(inside, enters, cuts)))


# 4. noise, twice the same

repeatable = Exercise(
    "19_memory.repeatable",
    title="The same noise twice",
    points=3,
    kind="repair",
    minutes=10,
    hints=(
        "A state is a position in the sequence of all numbers that a generator draws. Which position is "
        "noted, and what is the generator's state after the backward pass?",
        "Note the state before `draws` runs for the first time. And before you go back to it, note the "
        "generator's present state.",
        "Four steps in `backward`: note the state, set the old one, run `draws` again, set the noted one.",
    ),
)


def _noise(X, rng):
    """Add noise that depends on X, and drop some of it: two draws in one layer."""
    mask = 2.0 * (rng.random(X.shape) < 0.5)
    stretch = 1.0 + rng.random(X.shape[-1])
    return np.sin(X) * mask * stretch, lambda dY: dY * np.cos(X) * mask * stretch


@repeatable.check
def _(answer, rng):
    seed = int(rng.integers(1000))
    generator, twin = np.random.default_rng(seed), np.random.default_rng(seed)
    X, other, dY = rng.normal(size=(3, BATCH, N_IN))
    runs, calls = [], []

    def draws(X, rng):
        """Run the noise, and note each run and each backward pass by its number."""
        number = len(runs)
        runs.append(number), calls.append(("forward", number))
        Y, noise_backward = _noise(X, rng)

        def backward(dY):
            calls.append(("back", number))
            return noise_backward(dY)

        return Y, backward

    layer = answer(draws, generator)
    if not callable(layer):
        raise CheckFailed(f"it must return a layer, X -> (Y, backward), but returned {described(layer)}")
    with untouched(X=X, dY=dY):
        Y, backward = expect_several(layer(X), "Y", "backward")
        true_Y, true_backward = _noise(X, twin)
        expect_values("Y", Y, true_Y, "one call of draws, with `rng`, gives")
        _expect_same_place(generator, twin, "after the forward")
        calls.clear()
        expect_values("dX", backward(dY), true_backward(dY), "with the numbers of the forward it is")
    _expect_same_place(generator, twin, "after a backward pass", BEGINS)
    _expect_a_second_run(calls)
    again, first_backward = layer(X)
    true_again, true_first = _noise(X, twin)
    expect_values("in a second call, Y", again, true_again, "a new draw gives")
    _, other_backward = layer(other)
    _, true_other = _noise(other, twin)
    generator.random(11), twin.random(11)  # other draws before the backward pass
    dX = first_backward(dY)
    _expect_same_place(generator, twin, "after two forwards, another draw, and a backward pass", BEGINS)
    expect_values("with another forward in between, dX", dX, true_first(dY))
    expect_values("of the later of two forwards, dX", other_backward(dY), true_other(dY))
    expect_values("in a second call, dX", backward(dY), true_backward(dY))
    return "values, gradients, and the generator's state, with other draws in between"


BEGINS = ": note its state when the backward pass begins, and put it back there at the end"


def _expect_same_place(generator, twin, when, advice=""):
    """Require that two generators have the same state."""
    if generator.bit_generator.state != twin.bit_generator.state:
        raise CheckFailed(
            f"{when} the generator is not in the state after one call of draws for each forward{advice}"
        )


def _expect_a_second_run(calls):
    """Require that backward runs draws once more, and uses that run's backward."""
    again = [number for way, number in calls if way == "forward"]
    if not again:
        raise CheckFailed(
            "the values are right, but in the backward pass `draws` does not run again: what the first run "
            "remembered was kept, and nothing is recomputed"
        )
    if len(again) > 1:
        raise CheckFailed(f"in one backward pass `draws` runs {len(again)} times; once is enough")
    if ("back", 0) in calls:
        raise CheckFailed(
            "`draws` runs again in the backward pass, but then the first run's backward is called: it was "
            "kept, and the second one is unused"
        )


@repeatable.probe
def _(answer, rng):
    generator, X = np.random.default_rng(3), rng.normal(size=(BATCH, N_IN))
    Y, backward = answer(_noise, generator)(X)
    generator.random(3)
    return Y, backward(np.ones_like(X)), generator.random(2)


def layer_with(forward, back):
    """Return an answer with this backward function, for the mistakes."""

    def made(draws, rng):
        def layer(X):
            Y, note = forward(draws, X, rng)
            return Y, lambda dY: back(draws, X, rng, note, dY)

        return layer

    return made


def draw_before(draws, X, rng):
    state = rng.bit_generator.state
    return draws(X, rng)[0], state


def _after(draws, X, rng):
    return draws(X, rng)[0], rng.bit_generator.state


def go_and_return(draws, X, rng, state, dY):
    now = rng.bit_generator.state
    rng.bit_generator.state = state
    backward = draws(X, rng)[1]
    rng.bit_generator.state = now
    return backward(dY)


def go_and_stay(draws, X, rng, state, dY):
    rng.bit_generator.state = state
    return draws(X, rng)[1](dY)


def _go_back_to_the_start(draws, X, rng, state, dY):
    rng.bit_generator.state = state
    backward = draws(X, rng)[1]
    rng.bit_generator.state = state
    return backward(dY)


repeatable.mistake("The state is noted too late: after the draw the generator is past its numbers.")(
    layer_with(_after, go_and_return)
)
repeatable.mistake("The state is noted too late, and the generator is left where the second draw ended.")(
    layer_with(_after, go_and_stay)
)
repeatable.mistake(
    "The generator is left at the beginning of the forward: the next call draws the same numbers once more."
)(layer_with(draw_before, _go_back_to_the_start))


@repeatable.mistake("You store no state, and a generator advances with every draw.")
def without_a_bookmark(draws, rng):
    return layer_with(draw_before, lambda draws, X, rng, state, dY: draws(X, rng)[1](dY))(draws, rng)


@repeatable.mistake("All calls share one stored state, which the last forward has overwritten.")
def one_note_for_all_calls(draws, rng):
    notes = {}

    def layer(X):
        notes["state"] = rng.bit_generator.state
        return draws(X, rng)[0], lambda dY: go_and_return(draws, X, rng, notes["state"], dY)

    return layer


# 5. what is worth forgetting

gains = Exercise(
    "19_memory.gains",
    title="What is worth forgetting",
    points=3,
    kind="fill",
    minutes=10,
    remote=False,  # it measures memory, in the process where the answer runs
    hints=(
        "Each layer has an input of its own: go through the row as a Sequential does.",
        "`xray(backward).total` is what a layer keeps now. A Recompute keeps the layer's input, `X.nbytes`.",
        "In a loop: call the layer on X, append the difference for its backward, and make its Y the next X. "
        "A difference may be negative.",
    ),
)


@gains.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    X, twice = rng.normal(size=(batch, n_in)), Tanh() >> Tanh()
    X_small = rng.normal(size=(batch, 2, n_in)).astype(np.float32)
    layers = [Linear(n_in, n_out, rng=rng), GELU(), Dropout(0.5, rng=0), Linear(n_out, 2, rng=rng), ReLU()]
    inner = Linear(n_out, 11, rng=rng) >> Tanh() >> GELU() >> Linear(11, n_out, rng=rng)
    there_again = [Dropout(0.5, rng=0), twice, Linear(n_in, n_out, rng=rng).to(np.float32), twice]
    rows = (layers[:1], layers[:2], [*layers[:2], Residual(inner), *layers[3:]], layers)
    for row, X in (*((row, X) for row in rows), (there_again, X_small)):
        truths, H = [], X
        for layer in row:
            Y, backward = layer(H)
            truths.append(float(xray(backward).total - H.nbytes))
            H = Y
        given, asked = list(row), f"in {row} with X {X.shape} of {X.dtype}"
        with untouched(layers=given, X=X):
            found = answer(given, X)
        found = list(found) if isinstance(found, tuple | np.ndarray) else found
        if not isinstance(found, list) or len(found) != len(row):
            count = f" of {len(found)}" if isinstance(found, list) else ""
            raise CheckFailed(
                f"it must return a list with a number for each layer, {len(row)} in all, but returned "
                f"{described(found)}{count}; {asked}"
            )
        alike = row is there_again and np.array_equal(found[1], found[3])
        with (
            because("Layers 1 and 3 are one layer, but each place has its own gain.")
            if alike
            else nullcontext()
        ):
            for place, (one, truth) in enumerate(zip(found, truths, strict=True)):
                expect_values(f"{asked}, the gain of layer {place}", one, truth)
    return "five rows, a layer that would lose, one in two places, and float32"


@gains.probe
def _(answer, rng):
    plain = as_layer(lambda X: (2 * X, lambda dY: 2 * dY))
    row = [GELU(), Linear(N_IN, N_OUT, rng=rng), plain, Dropout(0.5, rng=0), Tanh() >> Tanh()]
    X = rng.normal(size=(BATCH, N_IN))
    return np.array(answer(row, X)), np.array(answer([row[-1], plain, row[-1]], X.astype(np.float32)))


def _gains(gain, onward=True):
    """Return an answer with another gain, for the mistakes."""

    def found(layers, X):
        gained, first = [], X
        for layer in layers:
            Y, backward = layer(X)
            gained.append(gain(xray(backward), X, Y, first))
            X = Y if onward else X
        return gained

    return found


gains.mistake("That is all that is kept now: a Recompute still keeps the input.")(
    _gains(lambda seen, X, Y, first: seen.total)
)
gains.mistake("A Recompute keeps the input of its layer, not the output.")(
    _gains(lambda seen, X, Y, first: seen.total - Y.nbytes)
)
gains.mistake("That is the input of the first layer: each layer has an input of its own.")(
    _gains(lambda seen, X, Y, first: seen.total - first.nbytes)
)
gains.mistake("Each layer's input is the result of the one before it: X enters the first alone.")(
    _gains(lambda seen, X, Y, first: seen.total - X.nbytes, onward=False)
)
gains.mistake("A layer that keeps less than its input would lose: the difference may be negative.")(
    _gains(lambda seen, X, Y, first: max(0, seen.total - X.nbytes))
)
gains.mistake("The sign is the other way round: what is kept now, less what a Recompute keeps.")(
    _gains(lambda seen, X, Y, first: X.nbytes - seen.total)
)
gains.mistake("That counts numbers; the question is about bytes: a float64 has 8.")(
    _gains(lambda seen, X, Y, first: (seen.total - X.nbytes) // 8)
)
gains.mistake("A number of float32 has 4 bytes, and not 8: `X.nbytes` is right for both.")(
    _gains(lambda seen, X, Y, first: seen.total - 8 * X.size)
)
gains.mistake("X may have more axes than two: `X.nbytes` counts all of them.")(
    _gains(lambda seen, X, Y, first: seen.total - X.itemsize * X.shape[0] * X.shape[1])
)
gains.mistake("The input is counted in numbers, and the rest in bytes: `X.nbytes`, and not `X.size`.")(
    _gains(lambda seen, X, Y, first: seen.total - X.size)
)
gains.mistake(
    "The weights are counted too; a Recompute does not save them, for the model holds them anyway."
)(
    _gains(
        lambda seen, X, Y, first: seen.total - X.nbytes + sum(row.bytes for row in seen.weights),
    )
)


# 6. plateau or mountain

deepest = Exercise(
    "19_memory.deepest",
    title="Plateau or mountain",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "Plateau: with k blocks, k of the arrays are inputs. How many are left for the inside of a block? "
        "How many layers are that in k blocks? Try each k.",
        "Letting go: while block i is gone through, i inputs are there, its own among them. How large may it "
        "be?",
        "Plateau: the largest `k * (arrays - k)` of any k. Letting go: blocks of arrays - 1, arrays - 2, "
        "and so on to 1, all added up.",
    ),
)


def _deepest(arrays):
    """Return the correct answer."""
    return max(k * (arrays - k) for k in range(1, arrays)), sum(range(arrays))


@deepest.check
def _(answer, rng):
    for arrays in (4, 2, 3, int(rng.integers(5, 20)) * 2, int(rng.integers(5, 20)) * 2 + 1):
        found = expect_several(answer(arrays), "the plateau's layers", "the layers of the chain that lets go")
        for name, one, truth in zip(("the plateau", "letting go"), found, _deepest(arrays), strict=True):
            expect_values(f"with room for {arrays} arrays, {name}", one, float(truth), "and it must be")
    return "five sizes, odd and even"


@deepest.probe
def _(answer, rng):
    return [tuple(map(float, answer(arrays))) for arrays in (4, 7, 12)]


def first_to(count, arrays):
    """Return the layers of the first blocks of a chain that lets go."""
    return sum(arrays - block for block in range(1, count + 1))


STILL_ADDS = deepest.mistake(
    "Letting go has its own best number of blocks, and not the plateau's: a further one still adds."
)
STILL_ADDS(lambda arrays: (arrays**2 // 4, first_to(arrays // 2, arrays)))
STILL_ADDS(lambda arrays: (arrays**2 // 4, first_to((arrays + 1) // 2, arrays)))
for sentence, wrong in {  # of the number of arrays, and of the two right answers
    "Half of the room for inputs: with an odd number the other half is larger by one.": (
        lambda arrays, plateau, lets_go: ((arrays // 2) ** 2, lets_go)
    ),
    "There is no half array: with an odd number, inputs and inside differ by one.": (
        lambda arrays, plateau, lets_go: (arrays * arrays / 4, lets_go)
    ),
    "While block i is gone through, its own input is there too: it has room for arrays - i.": (
        lambda arrays, plateau, lets_go: (plateau, lets_go + arrays)
    ),
    "Letting go, the blocks may differ: the further in front, the larger.": (
        lambda arrays, plateau, lets_go: (plateau, plateau)
    ),
    "The two are in the other order.": lambda arrays, plateau, lets_go: (lets_go, plateau),
    "That is a single block, with one input: more blocks bring more layers.": (
        lambda arrays, plateau, lets_go: (arrays - 1, lets_go)
    ),
    "That is the room itself squared: inputs and inside share it.": (
        lambda arrays, plateau, lets_go: (arrays**2, lets_go)
    ),
}.items():
    deepest.mistake(sentence)(lambda arrays, wrong=wrong: wrong(arrays, *_deepest(arrays)))
