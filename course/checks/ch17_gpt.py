"""The exercises of chapter 17: counts, a text in rows, nucleus sampling, a window, a leak, tied weights."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    also_drawn,
    drawn_sizes,
    expect_gradcheck,
    expect_guesses,
    expect_layer,
    expect_made,
    expect_several,
    expect_shape,
    expect_values,
    untouched,
)
from minigrad.layer import Layer, Sequential
from minigrad.layers.attention import MultiHeadAttention, TransformerBlock
from minigrad.layers.embedding import Embedding, Positions
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import LayerNorm
from minigrad.parameter import Parameter
from minigrad.parts import named_parts

# 1. how many numbers learn

sizes = Exercise(
    "17_gpt.sizes",
    title="Three sizes",
    points=3,
    kind="predict",
    minutes=10,
    hints=(
        "Go through a block part by part: norm, queries, keys, values, output, norm, and two linear layers.",
        "`Linear(n_in, n_out)` has n_in · n_out + n_out numbers, a LayerNorm two rows. Heads split existing "
        "arrays: which array would get larger with more of them?",
        "Four times 16 · 16 + 16, then 16 · 64 + 64, then 64 · 16 + 16, and two norms of 32. The GPT adds "
        "10 rows and 6 rows of 16, a norm, and a last layer of 16 · 10 + 10.",
    ),
)


def _unused(dY):
    raise CheckFailed("nothing is trained here: do not call backward")


def _count(model):
    return float(sum(parameter.data.size for parameter in model.parameters()))


def _gpt(rng, characters, n_steps, width, heads=2):
    """Return a GPT of one block."""
    return Sequential(
        Embedding(characters, width, rng=rng),
        Positions(n_steps, width, rng=rng),
        TransformerBlock(width, heads, causal=True, rng=rng),
        LayerNorm(width),
        Linear(width, characters, rng=rng),
    )


@sizes.check
def _(answer, rng):
    numbers = {
        f"the count of the block with {heads} heads": _count(TransformerBlock(16, heads, True, rng=rng))
        for heads in (2, 4)
    }
    numbers["the count of the GPT"] = _count(_gpt(rng, 10, 6, 16))
    guesses = answer()
    guesses = expect_several(tuple(guesses) if isinstance(guesses, np.ndarray) else guesses, *numbers)
    for guess, (what, truth) in zip(guesses, numbers.items(), strict=True):
        try:
            expect_guesses(guess, {what: truth})
        except CheckFailed as no:
            about = _about(guess, truth, 96 if "GPT" in what else 64)
            raise CheckFailed(no.sentence + (HEADS if "4 heads" in what else about)) from None
    return "two blocks and a GPT, made and counted"


def _about(guess, truth, norms):
    """Explain a wrong count, if a known mistake gives it."""
    if not isinstance(guess, int | float | np.number):
        return ""
    if guess == norms:
        return (
            f": {norms} is what LayerNorms hold; the library's other layers draw their numbers only with "
            "`rng=`, or in `initialize`"
        )
    held = SHORT.get(float(truth - guess), "")
    return f": it is {truth - guess:g} short, as much as {held}" if held else ""


# for any second count that differs from the first, right one
HEADS = ": each head has its part of the same matrices, so more heads add no numbers"

SHORT = {  # there may be more than one reason
    32.0: "one LayerNorm holds",
    64.0: "two LayerNorms hold, or the four biases of attention",
    144.0: "all biases of the block hold",
    154.0: "all biases of the block and of the last layer hold",
    208.0: "all biases and both LayerNorms of the block hold",
    10.0: "the bias of the last layer holds",
}


@sizes.mistake("The two linear layers are four times as wide in the middle.")
def narrow():
    block = 6 * (16 * 16 + 16) + 64
    return block, block, block + 458


sizes.slips(
    {
        (12 * 16**2, 12 * 16**2, 12 * 16**2 + 16 * (10 + 6 + 10)): (
            "That leaves out the biases and the norms: each is a row or two of its own."
        ),
        (3280 - 32, 3280 - 32, 3738 - 32): "A block has two norms, one in front of each of its parts.",
        (3280 - 32, 3280 - 32, 3738 - 48): "A LayerNorm has a gain and a shift: two rows.",
        (3280 - 64, 3280 - 64, 3738 - 64): "The four products of attention have biases too.",
        (3280, 3280, 3738 - 6 * 16): "The positions have rows, too: six more rows of 16.",
    }
)


# 2. a long text in pieces

cut = Exercise(
    "17_gpt.cut",
    title="One long text",
    points=3,
    kind="fill",
    minutes=8,
    hints=(
        "How many characters does a text need for one row of 3 steps? The last character of X must have a "
        "target too.",
        "With `rows` rows, X is the first `rows * steps` characters, and T as many, beginning one later.",
        "There are as many `rows` as `steps` goes into `len(text) - 1`; then two slices, each with "
        "`.reshape(rows, steps)`.",
    ),
)


@cut.check
def _(answer, rng):
    usual = (8, 3), (7, 3), (6, 3), (31, 5), (30, 5), (2, 1), (4, 7)
    for characters, steps in also_drawn(usual, lambda: (int(rng.integers(40, 90)), int(rng.integers(2, 9)))):
        places = rng.permutation(characters)
        case = f"for {characters} characters and {steps} steps"
        _expect_cut(answer, places + 1000, steps, case)  # each token once; too large for a byte
        _expect_cut(answer, places % 3, steps, f"{case}, with tokens 0, 1 and 2")
    return "texts that fit, that leave something over, and one that is too short for a row"


def _expect_cut(answer, text, steps, case):
    """Require the right rows of tokens, as arrays of integers."""
    rows = (len(text) - 1) // steps
    with untouched(text=text):
        X, T = expect_several(answer(text, steps), "X", "T")
    for name, array, start in (("X", X, 0), ("T", T, 1)):
        truth = text[start : start + rows * steps].reshape(rows, steps)
        if not isinstance(array, np.ndarray):
            raise CheckFailed(f"{case}, {name} must be an array, but is {described(array)}")
        expect_values(f"{case}, {name}", array, truth)
        if array.size and array.dtype.kind not in "iu":
            raise CheckFailed(
                f"{case}, {name} holds {array.dtype} numbers: a token picks a row of an Embedding, so it "
                "must stay an integer, as in the text"
            )


@cut.probe
def _(answer, rng):
    return [np.asarray(part) for part in answer(np.arange(12) ** 2, 5)]


@cut.mistake("The last row has no target for its last character: it needs one character more than its steps.")
def rolls(text, steps):
    rows = len(text) // steps
    return tuple(part[: rows * steps].reshape(rows, steps) for part in (text, np.roll(text, -1)))


@cut.mistake("The last row has no target for its last character: it needs one character more than its steps.")
def counts_whole_rows_of_X(text, steps):
    rows = len(text) // steps
    return tuple(text[i : i + rows * steps].reshape(rows, steps) for i in (0, 1))


@cut.mistake("The last target of a row is the first character of the next row, not of its own.")
def rolls_each_row(text, steps):
    rows = (len(text) - 1) // steps
    X = text[: rows * steps].reshape(rows, steps)
    return X, np.roll(X, -1, axis=1)


@cut.mistake("Rows must not overlap: each begins where the one before ended.")
def overlaps(text, steps):
    starts = range(max(len(text) - steps, 0))
    X = np.array([text[start : start + steps] for start in starts], dtype=int).reshape(-1, steps)
    T = np.array([text[start + 1 : start + steps + 1] for start in starts], dtype=int).reshape(-1, steps)
    return X, T


@cut.mistake("T is the input: the target is the next character.")
def same_text(text, steps):
    rows = (len(text) - 1) // steps
    X = text[: rows * steps].reshape(rows, steps)
    return X, X.copy()


@cut.mistake("X and T are exchanged: first the input, then what follows it.")
def exchanged(text, steps):
    rows = (len(text) - 1) // steps
    return tuple(text[i : i + rows * steps].reshape(rows, steps) for i in (1, 0))


@cut.mistake("A character was skipped: the last target of a row is also the first that the next row reads.")
def skips_a_character(text, steps):
    rows = len(text) // (steps + 1)
    both = text[: rows * (steps + 1)].reshape(rows, steps + 1)
    return both[:, :-1], both[:, 1:]


@cut.mistake("Without a row, `np.array([])` has one axis: `.reshape(-1, steps)` gives it both.")
def one_axis_when_empty(text, steps):
    starts = range(0, len(text) - steps, steps)
    return tuple(
        np.array([text[start + i : start + i + steps] for start in starts], dtype=int) for i in (0, 1)
    )


@cut.mistake("The rows run down the columns: reshape to (rows, steps).")
def turned(text, steps):
    rows = (len(text) - 1) // steps
    return tuple(text[i : i + rows * steps].reshape(steps, rows).T for i in (0, 1))


# 3. a nucleus

nucleus = Exercise(
    "17_gpt.nucleus",
    title="As many as it takes",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Sort a row, the likeliest first, and add up. Where does the sum reach the share? That character is "
        "in.",
        "A character stays if the likelier ones *before* it have less than the share together: "
        "`largest.cumsum(axis=1) - largest < share`.",
        "Each row then has a smallest probability that stays. In P itself keep what is at least that, so "
        "nothing need be sorted back; then divide by the row's sum.",
    ),
)

SHARES = (0.3, 0.5, 0.8, 0.95, 0.99)  # not 1: a sum of floats may end at 0.9999999


def true_nucleus(P, share):
    """Return the nucleus, character by character."""
    kept = np.zeros_like(P)
    for row, probabilities in enumerate(P):
        total = 0.0
        for character in np.argsort(-probabilities):
            if total >= share:
                break
            kept[row, character] = probabilities[character]
            total += probabilities[character]
    return kept / kept.sum(axis=1, keepdims=True)


@nucleus.check
def _(answer, rng):
    small = np.array([[0.15, 0.5, 0.05, 0.3]])
    _expect_nucleus(answer, small, 0.7, "for the row of the statement and a share of 0.7")
    exact = np.array([[0.1875, 0.5, 0.3125]])  # halves of halves: these sums are exact in binary
    _expect_nucleus(answer, exact, 0.5, "for 0.1875, 0.5, 0.3125 and a share of 0.5")
    for share in also_drawn(SHARES, rng.random):
        P = _probabilities(rng, *drawn_sizes(rng, BATCH, 11, most=60))
        _expect_nucleus(answer, P, share, f"for a share of {share:g}")
    _expect_nucleus(answer, np.asfortranarray(P), share, "for a P in Fortran order, as a transpose is")
    tiny = 2.0**-30
    near = np.array([[0.25 - tiny, 0.5, 0.1875, 0.0625 + tiny], [0.25 - tiny, 0.25 + tiny, 0.5, 0.0]])
    _expect_nucleus(answer, near, 0.75, "for rows where 1e-9 decides, and a share of 0.75")
    return f"the row of the statement, exact and near hits, and random rows for {len(SHARES)} shares"


def _probabilities(rng, rows, characters):
    """Return rows whose sums are exactly 1 in any order, so that no right answer fails by rounding."""
    P = np.floor(rng.dirichlet(np.full(characters, 0.7), size=rows) * 2**40) / 2**40
    P[np.arange(rows), P.argmax(axis=1)] += 1 - P.sum(axis=1)
    return P


def _expect_nucleus(answer, P, share, case):
    """Require the right shape, kept characters, sum, and values."""
    with untouched(P=P):
        found = answer(P, share)
    expect_shape("the result", found, "P", P)
    found, truth = np.asarray(found, dtype=float), true_nucleus(P, share)
    if not np.isfinite(found).all():
        bad = ~np.isfinite(found)
        row = int(bad.any(axis=1).argmax())
        why = ": nothing was kept, and 0 was divided by a sum of 0" if bad[row].all() else ""
        raise CheckFailed(f"{case}, row {row} holds {found[row][bad[row]][0]}{why}")
    for row, (is_left, should) in enumerate(
        zip((found != 0).sum(axis=1), (truth != 0).sum(axis=1), strict=True)
    ):
        if is_left != should:
            characters = "character" if is_left == 1 else "characters"
            raise CheckFailed(f"{case}, row {row} keeps {is_left} {characters}, but must keep {should}")
    if ((found != 0) != (truth != 0)).any():
        row = int(((found != 0) != (truth != 0)).any(axis=1).argmax())
        raise CheckFailed(f"{case}, row {row} keeps the right number of characters, but not the most likely")
    total = found.sum(axis=1)
    if not np.allclose(total, 1):
        worst = int(np.abs(total - 1).argmax())
        raise CheckFailed(f"{case}, row {worst} sums to {total[worst]:.4g}, but must sum to 1")
    expect_values(f"{case}, the result", found, truth)


@nucleus.probe
def _(answer, rng):
    exact = np.array([[0.5, 0.3125, 0.1875], [0.25, 0.625, 0.125]])
    return [answer(_probabilities(rng, BATCH, 7), share) for share in (0.4, 0.6, 0.9)] + [answer(exact, 0.5)]


def _divided(kept, share=None):
    """Divide each row by its sum; an empty row gives nan."""
    with np.errstate(invalid="ignore"):
        return kept / kept.sum(axis=1, keepdims=True)


def _guarded(kept, share=None):
    """Divide each row by its sum; an empty row gives 0."""
    return kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-300)


def _before(largest):
    return largest.cumsum(axis=1) - largest


def _inside(largest, share):
    return _before(largest) < share


def kept_with(stays=_inside, divided=_divided):
    """Return a nucleus with this rule for the characters to keep, likeliest first, and this last step."""

    def nucleus(P, share):
        order = P.argsort(axis=1)[:, ::-1]
        largest = np.take_along_axis(P, order, axis=1)
        kept = np.zeros(P.shape)
        np.put_along_axis(kept, order, largest * stays(largest, share), axis=1)
        return divided(kept, share)

    return nucleus


for _last_step in (_divided, _guarded):
    for _sentence, _stays in {
        "The character with which the share is reached stays too: without it there is too little.": (
            lambda largest, share: largest.cumsum(axis=1) <= share
        ),
        "The character with which the share is reached stays too, also if it is the first.": (
            lambda largest, share: largest.cumsum(axis=1) < share
        ),
        "You compare each probability with the whole share: add them up, most likely first.": (
            lambda largest, share: largest >= share
        ),
    }.items():
        nucleus.mistake(_sentence)(kept_with(_stays, _last_step))
    nucleus.mistake("You add up in the order of the alphabet: sort first, most likely first.")(
        lambda P, share, last_step=_last_step: last_step(np.where(_inside(P, share), P, 0.0))
    )
for _sentence, _stays in {
    "The share is reached exactly, and that is enough: a character after it is one too many.": (
        lambda largest, share: _before(largest) <= share
    ),
    "That compares single probabilities with the share: add them up, the likeliest first.": (
        lambda largest, share: largest >= 1 - share
    ),
    "Every row has its own number of characters; yours takes that of the first row for all.": (
        lambda largest, share: _inside(largest, share)[:1]
    ),
    "Every row has its own number of characters; yours takes the largest number for all.": (
        lambda largest, share: _inside(largest, share).any(axis=0)
    ),
    "You use the share of the example, not `share`.": lambda largest, share: _inside(largest, 0.7),
    "One character may be enough; yours keeps at least two.": (
        lambda largest, share: _inside(largest, share) | (np.arange(largest.shape[1]) < 2)
    ),
    "The sum goes down a column: add up along a row, with `axis=1`.": (
        lambda largest, share: largest.cumsum(axis=0) - largest < share
    ),
    "Without an axis, cumsum makes one long row of all: add up along each row, with `axis=1`.": (
        lambda largest, share: largest.cumsum() - largest < share
    ),
}.items():
    nucleus.mistake(_sentence)(kept_with(_stays))
OWN_SUM = "Each row sums to 1 for itself: divide by its own sum, with `axis=1, keepdims=True`."


def _by_columns(kept, share):
    with np.errstate(invalid="ignore"):
        return kept / kept.sum(axis=0)


for _sentence, _last_step in (
    ("Divide the remaining probabilities by their sum.", lambda kept, share: kept),
    (
        "What is left is more than the share: divide by the sum of what is left.",
        lambda kept, share: kept / share,
    ),
    (OWN_SUM, lambda kept, share: kept / kept.sum()),
    (OWN_SUM, lambda kept, share: kept / kept.sum(axis=1)),
    (OWN_SUM, _by_columns),
):
    nucleus.mistake(_sentence)(kept_with(divided=_last_step))


@nucleus.mistake(
    "The result of argsort is the character at each position, not the position of each character: put "
    "back with `np.put_along_axis`, or with the argsort of it."
)
def takes_the_order_for_its_inverse(P, share):
    order = P.argsort(axis=1)[:, ::-1]
    inside = _inside(np.take_along_axis(P, order, axis=1), share)
    return _divided(np.where(np.take_along_axis(inside, order, axis=1), P, 0.0))


def _goes_on_adding(at_least):
    """Return a nucleus whose sum goes on from row to row, and which keeps so many characters at least."""

    def nucleus(P, share):
        kept, total = np.zeros_like(P), 0.0
        for row, probabilities in enumerate(P):
            for place, character in enumerate(np.argsort(-probabilities)):
                if total < share or place < at_least:
                    kept[row, character] = probabilities[character]
                    total += probabilities[character]
        return _divided(kept)

    return nucleus


for _at_least in (0, 1):
    nucleus.mistake("The sum goes on from row to row: let it begin at 0 in each.")(_goes_on_adding(_at_least))


@nucleus.mistake("The result is in sorted order: a probability must stay with its character.")
def not_sorted_back(P, share):
    largest = np.sort(P, axis=1)[:, ::-1]
    kept = np.where(_inside(largest, share), largest, 0.0)
    return _divided(kept)


@nucleus.mistake("You add up from the least likely character: sort the other way round.")
def from_below(P, share):
    order = P.argsort(axis=1)
    inside = _inside(np.take_along_axis(P, order, axis=1), share)
    return _divided(P * np.take_along_axis(inside, order.argsort(axis=1), axis=1))


# 4. a window

write_on = Exercise(
    "17_gpt.write_on",
    title="Beyond the last place",
    points=2,
    kind="repair",
    minutes=8,
    hints=(
        "What the model reads and what you return need not be the same array.",
        "Give the model the last n_steps columns of X. If there are fewer, a slice takes them all.",
        "Only one line changes: `model.predict(X[:, -n_steps:])`.",
    ),
)


class _Reader(Layer):
    """A model whose most likely character depends on each character it reads and on its position."""

    def __init__(self, characters, n_steps):
        self.characters, self.n_steps = characters, n_steps

    def forward(self, X):
        steps = X.shape[1]
        if steps > self.n_steps:
            raise ValueError(f"the model has {self.n_steps} positions, but got {steps} characters")
        # each position has its own factor, the newest the smallest; characters is a prime
        sums = ((X + 1) * np.arange(steps, 0, -1)).cumsum(axis=1) + steps
        return np.eye(self.characters)[sums % self.characters], _unused


def _as_it_is(X, n_steps):
    """Return the model's input, and the step to read its output at."""
    return X[:, -n_steps:], -1


def in_front(X, n_steps):
    """Return a text filled up with 0 in front, and the last step."""
    return np.pad(X, ((0, 0), (max(n_steps - X.shape[1], 0), 0)))[:, -n_steps:], -1


def behind(X, n_steps):
    """Return a text filled up with 0 at the end, and the step of its last character."""
    read = X[:, -n_steps:]
    return np.pad(read, ((0, 0), (0, n_steps - read.shape[1]))), read.shape[1] - 1


def true_text(model, X, count, n_steps, fill=_as_it_is):
    for _ in range(count):
        read, step = fill(X, n_steps)
        X = np.hstack([X, model.predict(read)[:, step].argmax(axis=1)[:, None]])
    return X


def _cause(model, text, found, truth):
    """Return the sentence on what the wrong next characters of a text are, or an empty str."""
    if (found == truth[0]).all():
        return "All texts get the character of the first: take the argmax of each, along the last axis."
    for newest in range(model.n_steps, 0, -1):
        if np.array_equal(model.predict(text[:, -newest:])[:, -1].argmax(axis=1), found):
            return f"It is that after the newest {newest} alone: which does the model read?"
    return ""


@write_on.check
def _(answer, rng):
    (batch, n_steps), characters = drawn_sizes(rng, BATCH, 7, most=10), 11
    model = _Reader(characters, n_steps)
    for steps, count in ((3, 4), (3, 13), (7, 3), (10, 5), (2, 0)):
        X = rng.integers(characters, size=(batch, steps))
        with untouched(X=X):
            found = answer(model, X, count, n_steps)
        case = f"for {steps} characters, {count} to be written and {n_steps} places"
        if not isinstance(found, np.ndarray) or found.shape != (batch, steps + count):
            is_now = f"of shape {found.shape}" if isinstance(found, np.ndarray) else described(found)
            is_twice = np.array_equal(found, np.hstack([X, X])) and not count
            raise CheckFailed(
                f"{case}, the text must be an array of shape {(batch, steps + count)}, but is {is_now}",
                name="For a count of 0, `[:, -count:]` takes all." if is_twice else "",
            )
        if not np.array_equal(found[:, :steps], X):
            raise CheckFailed(f"{case}, the beginning of the text has changed")
        truth = true_text(model, X, count, n_steps)
        if not np.array_equal(found, truth):
            place = int((found != truth).any(axis=0).argmax())
            text = f"the character at place {place} is not the likeliest after the newest {n_steps}"
            if place < n_steps:
                text = f"the character at position {place} is not the most likely one after those before it"
            name = _cause(model, found[:, :place], found[:, place], truth[:, place])
            for side, fill in (("in front", in_front), ("at the end", behind)):
                if np.array_equal(found, true_text(model, X, count, n_steps, fill)):
                    text = f"it gives a short text to the model filled up with 0 {side}: give the text alone"
                    name = ""
            raise CheckFailed(f"{case}, {text}", name=name)
    return "texts shorter than the places, longer ones, and nothing to write"


@write_on.probe
def _(answer, rng):
    model = _Reader(11, 7)
    return answer(model, rng.integers(11, size=(BATCH, 3)), 12, 7)


CUTS_THE_TEXT = "That cuts the text itself: give the model a part of it, and keep the whole."


@write_on.mistake(CUTS_THE_TEXT)
def forgets_the_beginning(model, X, count, n_steps):
    for _ in range(count):
        X = X[:, -n_steps:]
        X = np.concatenate([X, model.predict(X)[:, -1].argmax(axis=1)[:, None]], axis=1)
    return X


@write_on.mistake(CUTS_THE_TEXT)
def keeps_the_newest_alone(model, X, count, n_steps):
    for _ in range(count):
        Y = model.predict(X[:, -n_steps:])[:, -1]
        X = np.concatenate([X, Y.argmax(axis=1)[:, None]], axis=1)[:, -n_steps:]
    return X


@write_on.mistake("That reads the oldest characters: the newest are at the end, `X[:, -n_steps:]`.")
def reads_the_oldest(model, X, count, n_steps):
    for _ in range(count):
        Y = model.predict(X[:, :n_steps])[:, -1]
        X = np.concatenate([X, Y.argmax(axis=1)[:, None]], axis=1)
    return X


@write_on.mistake("These are the new characters alone: return the beginning, too.")
def returns_the_new_alone(model, X, count, n_steps):
    return true_text(model, X, count, n_steps)[:, X.shape[1] :]


@write_on.mistake("You stop at the last position; the text must go on.")
def stops(model, X, count, n_steps):
    for _ in range(count):
        if X.shape[1] == n_steps:
            break
        Y = model.predict(X[:, -n_steps:])[:, -1]
        X = np.concatenate([X, Y.argmax(axis=1)[:, None]], axis=1)
    return X


@write_on.mistake("One character is too little: give the model as many as it has positions.")
def reads_one(model, X, count, n_steps):
    for _ in range(count):
        X = np.concatenate([X, model.predict(X[:, -1:])[:, -1].argmax(axis=1)[:, None]], axis=1)
    return X


@write_on.mistake("There are n_steps positions; yours reads one character fewer.")
def reads_one_fewer(model, X, count, n_steps):
    for _ in range(count):
        Y = model.predict(X[:, -n_steps + 1 :])[:, -1]
        X = np.concatenate([X, Y.argmax(axis=1)[:, None]], axis=1)
    return X


# 5. which layer looks ahead

looks_ahead = Exercise(
    "17_gpt.looks_ahead",
    title="Who looks ahead?",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Compare two passes: one on X, one on a copy of X that differs at later steps alone.",
        "For each step: copy X, change everything after the step, and look at Y at that step. The last step "
        "has nothing after it.",
        "Copy X, add random numbers to the part `[:, step + 1:]` of the copy, and check "
        "`np.allclose(layer(copy)[0][:, step], Y[:, step])`.",
    ),
)


def _no_way_back(dY):
    raise CheckFailed("call only forward: a step may be used even if a slope is 0")


def _adds(ahead, since=0):
    """Return a layer without backward: from the step `since` on, Y adds X from `ahead` steps later."""

    def layer(X):
        Y = X.copy()
        for step in range(since, X.shape[1] - ahead):
            Y[:, step] += X[:, step + ahead]
        return Y, _no_way_back

    return layer


def _layers(rng):
    """Return layers by what they do, each with the first step that looks ahead."""
    causal = MultiHeadAttention(6, heads=2, causal=True, rng=rng)
    return {
        "attention that is causal": (causal, None),
        "a block that is not causal": (TransformerBlock(6, heads=2, rng=rng), 0),
        "a sum of all steps so far": (lambda X: (X.cumsum(axis=1), _no_way_back), None),
        "a layer whose step 3 alone reads the next one": (_adds(1, since=3), 3),
        "a layer in which each step reads the second one after it": (_adds(2), 0),
        "a layer that does so from step 1 on": (_adds(2, since=1), 1),
        "a layer whose step 0 reads step 4, and whose step 1 reads step 2": (_reads_far_and_near, 0),
        "a layer in which steps after 0 are spread around their common mean": (_spread, 1),
        "a layer whose first channel reads the last channel of the next step": (_one_channel(0, -1), 0),
        "a layer whose last channel reads the first channel of the next step": (_one_channel(-1, 0), 0),
        "a layer that adds the square of the next step": (_squares, 0),
    }


def _one_channel(to, source):
    """Return a layer that reads one channel of the next step."""

    def layer(X):
        Y = X.copy()
        Y[:, :-1, to] += X[:, 1:, source]
        return Y, _no_way_back

    return layer


def _squares(X):
    """Add the square of the next step, which a change of sign does not reveal."""
    Y = X.copy()
    Y[:, :-1] += X[:, 1:] ** 2
    return Y, _no_way_back


def _spread(X):
    """Subtract the mean of all steps from each step but the first."""
    Y = X.copy()
    Y[:, 1:] -= X.mean(axis=1, keepdims=True)
    return Y, _no_way_back


def _reads_far_and_near(X):
    """Give step 0 the fifth step, and step 1 the third."""
    if X.shape[1] < 5:
        raise CheckFailed(
            f"the layer was given {X.shape[1]} of 5 steps of X: change the later steps, do not cut them off"
        )
    Y = X.copy()
    Y[:, 0], Y[:, 1] = X[:, 4], X[:, 2]
    return Y, _no_way_back


def _only_last(X):
    """Return zeros, but for the last step."""
    Y = np.zeros_like(X)
    Y[:, -1] = X[:, -1]
    return Y, _no_way_back


def _next_instead(X):
    """Return the next step in the place of each, and in that of the last nothing."""
    Y = np.zeros_like(X)
    Y[:, :-1] = X[:, 1:]
    return Y, _no_way_back


@looks_ahead.check
def _(answer, rng):
    (batch,) = drawn_sizes(rng, BATCH)
    zeros = "a layer in which each step reads the next, and an X that is 0 from step 1 on"
    for what, (layer, truth) in (_layers(rng) | {zeros: (_adds(1), 0)}).items():
        X = rng.normal(size=(batch, 5, 6))
        if what == zeros:
            X[:, 1:] = 0.0
        with untouched(X=X):
            found = answer(layer, X)
        if isinstance(found, bool | np.bool_) or not (found is None or isinstance(found, int | np.integer)):
            raise CheckFailed(f"it must return an int or None, but returned {described(found)} for {what}")
        if found != truth:
            said = "returns None" if found is None else f"says step {found}"
            fact = "no step looks ahead" if truth is None else f"step {truth} is the first that looks ahead"
            raise CheckFailed(f"for {what}, it {said}, but {fact}")
    return "twelve layers, two of which are honest"


@looks_ahead.probe
def _(answer, rng):
    X = rng.normal(size=(BATCH, 5, 6))
    layers = [layer for layer, _ in _layers(rng).values()] + [_only_last, _next_instead]
    found = [answer(layer, X.copy()) for layer in layers]
    return [-1.0 if step is None else float(step) for step in found]


def asks(change, compare=lambda Y, Z, step: np.allclose(Y[:, step], Z[:, step])):
    """Return a looks_ahead with this change or comparison, for the mistakes."""

    def looks_ahead(layer, X):
        Y, _ = layer(X)
        for step in range(X.shape[1] - 1):
            changed = X.copy()
            change(changed, step)
            if not compare(layer(changed)[0], Y, step):
                return step
        return None

    return looks_ahead


def move(places):
    """Return a change of the steps that `places(step)` slices; by other numbers in each place."""

    def change(X, step):
        X[:, places(step)] += np.random.default_rng(3).normal(size=X[:, places(step)].shape)

    return change


def _numbers(X, step):
    """Return a random number for each later step."""
    return np.random.default_rng(3).normal(size=X[:, step + 1 :, 0].shape)


looks_ahead.mistake(
    "You changed the step itself, too, so each layer seems to look ahead: start at step + 1."
)(asks(move(lambda step: slice(step, None))))
looks_ahead.mistake("Only the next step was changed: a layer may look further than that.")(
    asks(move(lambda step: slice(step + 1, step + 2)))
)
looks_ahead.mistake("Later steps may change when later steps change: compare Y at this one alone.")(
    asks(
        move(lambda step: slice(step + 1, None)),
        compare=lambda Y, Z, step: np.allclose(Y, Z),
    )
)
looks_ahead.mistake("You changed the earlier steps, which a layer may use.")(
    asks(move(lambda step: slice(None, step + 1)))
)


looks_ahead.mistake("A LayerNorm ignores a number added to all of a step: add random numbers.")(
    asks(lambda X, step: np.add(X[:, step + 1 :], 1.0, out=X[:, step + 1 :]))
)


looks_ahead.mistake("Only the first channel was changed: a layer may read another one.")(
    asks(lambda X, step: np.add(X[:, step + 1 :, 0], _numbers(X, step), out=X[:, step + 1 :, 0]))
)
looks_ahead.mistake("Only the last channel was changed: a layer may read another one.")(
    asks(lambda X, step: np.add(X[:, step + 1 :, -1], _numbers(X, step), out=X[:, step + 1 :, -1]))
)
looks_ahead.mistake("A square ignores a sign: take new random numbers.")(
    asks(lambda X, step: np.negative(X[:, step + 1 :], out=X[:, step + 1 :]))
)
looks_ahead.mistake("What is 0 stays 0 when it is set to 0 or multiplied: add random numbers.")(
    asks(lambda X, step: X[:, step + 1 :].fill(0.0))
)


@looks_ahead.mistake("That is where the first leak arrives: a step after it may reach further back.")
def first_leak(layer, X):
    Y = layer(X)[0]
    for later in range(1, X.shape[1]):
        other = X.copy()
        other[:, later] += np.random.default_rng(3).normal(size=other[:, later].shape)
        alike = [np.allclose(layer(other)[0][:, step], Y[:, step]) for step in range(later)]
        if not all(alike):
            return alike.index(False)
    return None


@looks_ahead.mistake("You tested only step 0; others may look ahead.")
def asks_step_0(layer, X):
    changed = X.copy()
    changed[:, 1:] += np.random.default_rng(3).normal(size=X[:, 1:].shape)
    return None if np.allclose(layer(changed)[0][:, 0], layer(X)[0][:, 0]) else 0


@looks_ahead.mistake("Step 0 is a step, but `or None` turns it into None.")
def loses_step_0(layer, X):
    return asks(move(lambda step: slice(step + 1, None)))(layer, X) or None


# 6. a tied output

by_table = Exercise(
    "17_gpt.ByTable",
    title="In and out by one table",
    points=3,
    kind="fill",
    minutes=12,
    answer="class",
    hints=(
        "Keep the embedding, or its Parameter `W`, and not the array in it. The product is `X @ W.data.T`.",
        "W's gradient must have the shape (characters, width), and sum over batch and steps: reshape dY to "
        "(batch · steps, characters) and X to (batch · steps, width).",
        "Call 1 / √width the scale: W's gradient grows by the scale times `dY_rows.T @ X_rows`, and dX is "
        "the scale times `dY @ W.data`.",
    ),
)

CHARACTERS, STEPS, WIDTH = 7, 3, 5


def _by_table(X, W):
    """Return the logits of all characters after X, by the table W."""
    return X @ W.T / np.sqrt(W.shape[1])


@by_table.check
def _(answer, rng):
    embedding = Embedding(CHARACTERS, WIDTH, rng=rng)
    layer = answer(embedding)
    expect_made(layer, "ByTable")
    parts = [part for _, part in named_parts(layer) if isinstance(part, Parameter)]
    if not any(part is embedding.W for part in parts):
        raise CheckFailed(
            "the layer does not hold embedding.W itself: another Parameter has a gradient of its own"
        )
    if len({id(part) for part in parts}) > 1:
        raise CheckFailed("besides embedding.W the layer has another Parameter; it needs none")
    X, dY = rng.normal(size=(2, STEPS, WIDTH)), rng.normal(size=(2, STEPS, CHARACTERS))
    expect_layer(layer, _by_table, dY, parameters={"W": embedding.W}, X=X)
    truth = _by_table(X, embedding.W.data)
    embedding.W.data *= 2.0
    expect_values("after a step of the embedding, Y", layer(X)[0], 2 * truth)
    embedding.W.data = embedding.W.data * 1.5  # as `to` does: a new array in the same Parameter
    expect_values("with a new array in embedding.W, Y", layer(X)[0], 3 * truth)
    tokens = rng.integers(CHARACTERS, size=(2, STEPS))
    expect_gradcheck(Sequential(embedding, LayerNorm(WIDTH), layer), tokens)
    return "alone, after a step, and in a model, where W has gradients from both ends"


@by_table.probe
def _(answer, rng):
    embedding = Embedding(CHARACTERS, WIDTH, rng=rng)
    layer = answer(embedding)
    embedding.W.grad[...] = 1.0
    X, dY = rng.normal(size=(2, STEPS, WIDTH)), rng.normal(size=(2, STEPS, CHARACTERS))
    Y, backward = layer(X)
    dX = backward(dY)
    embedding.W.data *= 2.0
    return Y, dX, embedding.W.grad, layer(X)[0]


class Tied(Layer):
    """A correct layer, of which the mistakes change one part each."""

    def __init__(self, embedding):
        self.W = embedding.W

    def scale(self, X):
        return X.shape[-1] ** -0.5

    def forward(self, X):
        return self.scale(X) * (X @ self.W.data.T), lambda dY: self.back(X, dY)

    def back(self, X, dY):
        self.W.grad += self.scale(X) * np.einsum("bts,btw->sw", dY, X)
        return self.scale(X) * (dY @ self.W.data)


@by_table.mistake("Parameter(...) copies the numbers, and a step of the embedding does not change a copy.")
class CopiesW(Tied):
    def __init__(self, embedding):
        self.W = Parameter(embedding.W.data.copy())


@by_table.mistake("Keep the Parameter, not its array: a change of the model's dtype replaces the array.")
class KeepsTheArray(Tied):
    def __init__(self, embedding):
        self.W, self.array = embedding.W, embedding.W.data

    def forward(self, X):
        return self.scale(X) * (X @ self.array.T), lambda dY: self.back(X, dY)


@by_table.mistake("Divide the logits by √width.")
class WithoutScale(Tied):
    def scale(self, X):
        return 1.0


@by_table.mistake("The logits are divided by √width, and not by the width.")
class DividesByWidth(Tied):
    def scale(self, X):
        return 1 / X.shape[-1]


@by_table.mistake(
    "The scale depends on the width, over which each product sums, not on the number of characters."
)
class DividesByTheCharacters(Tied):
    def scale(self, X):
        return len(self.W.data) ** -0.5


@by_table.mistake("The scale belongs to both gradients too.")
class ForgetsTheScaleOnTheWayBack(Tied):
    def back(self, X, dY):
        self.W.grad += np.einsum("bts,btw->sw", dY, X)
        return dY @ self.W.data


@by_table.mistake("W's gradient has the shape (characters, width): dY is on the left, transposed.")
class TurnsTheGradient(Tied):
    def back(self, X, dY):
        self.W.grad = self.W.grad.T + self.scale(X) * np.einsum("bts,btw->ws", dY, X)
        return self.scale(X) * (dY @ self.W.data)
