"""The exercises of chapter 18: values, returns, exploration, a replay memory, targets, a policy loss."""

from contextlib import nullcontext
from itertools import product

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_OUT,
    OWN_MEMORY,
    also_drawn,
    because,
    drawn_sizes,
    expect_gradcheck,
    expect_gradients,
    expect_guesses,
    expect_several,
    expect_shape,
    expect_values,
    untouched,
)

# 1. values where each step costs something

with_a_toll = Exercise(
    "18_acting.with_a_toll",
    title="A toll",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "Begin at the end: cell 4 is worth -1. What is cell 3 worth, if one pays there and then is in 4?",
        "A move is worth -1 plus the discount times the *best* value of the cell to which it leads. Into "
        "the wall, that is the cell itself.",
        "Without a discount the cells are worth -5, -4, -3, -2 and -1; with one half, cell 3 has "
        "-1 - 1/2. Forever: if v is the value, then v is -1 plus half of v.",
    ),
)


def _corridor(discount):
    """Return the values (5 cells, left and right) of the corridor with a toll."""
    Q = np.zeros((5, 2))
    for _ in range(60):
        best = [*Q.max(axis=1), 0.0]  # after the last cell there is nothing to pay
        for cell in range(5):
            Q[cell] = -1 + discount * best[max(cell - 1, 0)], -1 + discount * best[cell + 1]
    return Q


INSTEAD = {  # explanations of likely wrong numbers
    "the best value of cell 0": {-4.0: "The last move, from cell 4, costs 1 as well"},
    "the move left in cell 2": {
        -4.0: "The move itself costs 1; add the value of cell 1",
        -3.0: "After it you are in cell 1, with four moves ahead, not in cell 3",
    },
    "the move left in cell 0": {-5.0: "The wall refunds nothing: you pay 1, and stay where you are"},
    "the move right in cell 2 with one half": {
        -1.5: "The walk takes three moves, and the last one, from cell 4, costs 1 as well",
        -0.875: "The toll of the move itself is not discounted: only what comes after it is",
        -3.0: "One half is the discount of each step: later tolls count less, they are not all whole",
    },
    "going left forever": {
        -np.inf: "Each toll counts half as much as the one before, and such a sum is finite",
        -1.0: "The first move alone costs 1, and that toll is not discounted; all later ones add to it",
    },
}


ABOVE = "The toll is a reward of -1, so no value here is above 0"


@with_a_toll.check
def _(answer, rng):
    whole, half = _corridor(1.0), _corridor(0.5)
    numbers = {
        "the best value of cell 0": whole[0].max(),
        "the move left in cell 2": whole[2, 0],
        "the move left in cell 0": whole[0, 0],
        "the move right in cell 2 with one half": half[2, 1],
        "going left forever": -sum(0.5**step for step in range(60)),
    }
    slips = {}
    for what, number in numbers.items():
        slips[what] = INSTEAD[what] | {-wrong: ABOVE for wrong in (number, *INSTEAD[what])}
    expect_guesses(answer(), numbers, slips)
    return "five values, each found by going over the corridor sixty times"


# 2. the returns of a walk

returns = Exercise(
    "18_acting.returns",
    title="What was it worth?",
    points=2,
    kind="fill",
    minutes=8,
    hints=(
        "What is the last step worth? And the last but one, given the value of the last?",
        "Go backwards. Each step is worth its reward plus `discount` times what the next one is worth.",
        "Keep one number, `later`, 0 at first. Step by step, the last one first, it becomes the step's "
        "reward plus `discount` times itself. Write it into `np.zeros(len(rewards))`, which holds floats.",
    ),
)


def discounted_sums(rewards, discount):
    """Return the discounted sums, from a table of all discounts."""
    ahead = np.subtract.outer(np.arange(len(rewards)), np.arange(len(rewards))).T  # later minus now
    return np.where(ahead >= 0, float(discount) ** np.maximum(ahead, 0), 0.0) @ rewards


def _some_zeros(rng, steps):
    """Return rewards of which every third is 0, the second first."""
    return rng.normal(size=steps) * (np.arange(steps) % 3 != 1)


def _expect_floats(found):
    """Require floats for rewards that are whole numbers."""
    if np.asarray(found).dtype.kind in "iu":
        raise CheckFailed(
            f"for rewards that are whole numbers it returns {np.asarray(found).dtype}, and whole numbers "
            "have no room for a half: the result must be floats"
        )


LONG = 600  # steps, so many that 0.25 to that power is 0 for a computer


@returns.check
def _(answer, rng):
    batch, n_out = drawn_sizes(rng, BATCH, N_OUT)
    for discount in also_drawn((0.5, 0.9, 1.0, 0.0), lambda: rng.uniform(0.1, 0.9)):
        rewards = _some_zeros(rng, n_out)
        with untouched(rewards=rewards):
            worth = answer(rewards, discount)
        if isinstance(worth, list | tuple):
            raise CheckFailed(f"it must return an array, but returned {described(worth)}")
        expect_shape("what it returns", worth, "rewards", rewards)
        if getattr(worth, "dtype", None) in (np.float32, np.float16):
            raise CheckFailed(f"it returns {worth.dtype}, which has too few digits: it must be float64")
        expect_values(f"with the discount {discount:g}, worth", worth, discounted_sums(rewards, discount))
    whole = rng.integers(1, 9, size=batch)
    worth = answer(whole, 0.3)
    _expect_floats(worth)
    expect_values("with rewards that are whole numbers, worth", worth, discounted_sums(whole, 0.3))
    expect_values("for a walk of one step, worth", answer(np.array([3.0]), 0.9), np.array([3.0]))
    exact = whole.astype(np.float32)  # and halves of them are, too
    worth = np.asarray(answer(exact, 0.5))
    if worth.dtype != np.float64:
        raise CheckFailed(f"for rewards of float32 it returns {worth.dtype}: it must always be float64")
    expect_values("with rewards of float32, worth", worth, discounted_sums(exact.astype(float), 0.5))
    for discount in (0.25, 1.0):
        rewards = rng.normal(size=LONG)
        what = f"in a walk of {LONG} steps with the discount {discount:g}, worth"
        expect_values(what, answer(rewards, discount), discounted_sums(rewards, discount))
    return "four discounts, whole numbers, float32, and walks of one step and of many"


@returns.probe
def _(answer, rng):
    return answer(_some_zeros(rng, N_OUT), 0.5), answer(rng.integers(1, 9, size=BATCH), 0.3)


def summed(turn=lambda rewards: rewards[::-1], kept=lambda reward: True, dtype=float):
    """Return a function that adds up rewards in some order, for the mistakes.

    Where `kept(reward)` is False, the sum begins anew.
    """

    def returns(rewards, discount):
        sums, later = [], 0.0
        for reward in turn(rewards):
            later = reward + discount * later * kept(reward)
            sums.append(later)
        return np.array(turn(sums), dtype=rewards.dtype if dtype is None else dtype)

    return returns


def _powers(rewards, discount):
    """Return the discount of each step, counted from the first one."""
    return float(discount) ** np.arange(len(rewards))


def discounted_from_the_start(rewards, discount):
    """Return the sums of what follows each step, all of it discounted from the first step."""
    return np.cumsum((rewards * _powers(rewards, discount))[::-1])[::-1]


for sentence, wrong in {
    "You add up the rewards before a step; its return is the sum of those after it: go backwards.": (
        summed(lambda rewards: rewards)
    ),
    "A step's own reward is not discounted: only what comes later is.": (
        lambda rewards, discount: discount * discounted_sums(rewards, discount)
    ),
    "A step's own reward belongs to its return.": (
        lambda rewards, discount: discounted_sums(rewards, discount) - rewards
    ),
    "You discount nothing.": lambda rewards, discount: discounted_sums(rewards, 1),
    "All later rewards are discounted once; it must be once for each step in between.": (
        lambda rewards, discount: rewards + discount * (discounted_sums(rewards, 1) - rewards)
    ),
    "The sum begins anew at each reward that is not 0: it must go on to the end.": (
        summed(kept=lambda reward: not reward)
    ),
    "The last reward is counted twice: nothing comes after the last step.": (
        lambda rewards, discount: discounted_sums(np.append(rewards, rewards[-1]), discount)[:-1]
    ),
    "This is the return of the first step alone; each step has one.": (
        lambda rewards, discount: discounted_sums(rewards, discount)[0]
    ),
    "You count only the next reward, not those after it.": (
        lambda rewards, discount: rewards + discount * np.append(rewards[1:], 0.0)
    ),
    "The sums are in the order in which they were made: reverse them.": (
        lambda rewards, discount: discounted_sums(rewards, discount)[::-1]
    ),
    "You add up from the first step to each step; the return of a step is the sum after it.": (
        lambda rewards, discount: np.cumsum(rewards * _powers(rewards, discount))
    ),
    "You add up the rewards before a step, without a discount.": (
        lambda rewards, discount: np.cumsum(rewards.astype(float))
    ),
    "You discount all rewards from the first step; the discount must start again at each step.": (
        discounted_from_the_start
    ),
    "You discount the early rewards and not the last: it is the other way round.": (
        lambda rewards, discount: np.cumsum(rewards[::-1] * _powers(rewards, discount))[::-1]
    ),
}.items():
    returns.mistake(sentence)(wrong)


@returns.mistake("Dividing by powers of the discount is 0/0 where it is 0: go backwards, without dividing.")
def divides(rewards, discount):
    with np.errstate(all="ignore"):
        return discounted_from_the_start(rewards, discount) / _powers(rewards, discount)


@returns.mistake(
    "In a long walk the powers of the discount become 0, and nothing can be divided by them: go backwards, "
    "without dividing."
)
def divides_unless_it_is_0(rewards, discount):
    return divides(rewards, discount) if discount else rewards.astype(float)


# 3. exploring, for a batch

MANY = 3000  # rows: a share of them has a standard deviation below 0.01
FAR = 0.05  # five of these, so that a right answer is never refused

choose_moves = Exercise(
    "18_acting.choose_moves",
    title="A batch of choices",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Three things are drawn: whether a row explores, which move it makes then, and which of the best it "
        "makes otherwise. Each of them needs one number for every row.",
        "`rng.random(batch) < epsilon` says which rows explore, `rng.integers(n_moves, size=batch)` what "
        "they do, and `np.where` joins both. `argmax` always takes the first of a tie; chance must decide.",
        "Draw a number for each entry, `rng.random(Y.shape)`, set it to -1 where Y is below the maximum of "
        "its row, and take the argmax of these numbers. (Or a loop over the rows with `rng.choice`.)",
    ),
)


def _expect_shares(when, moves, wanted):
    """Require shares within the range of chance."""
    found = np.bincount(moves, minlength=len(wanted)) / len(moves)
    move = np.abs(found - wanted).argmax()
    if abs(found[move] - wanted[move]) > FAR:
        raise CheckFailed(
            f"{when}, move {move} is made in {found[move]:.0%} of {len(moves)} rows, but must be in "
            f"about {wanted[move]:.0%}"
        )


def _moves(answer, Y, epsilon, rng):
    """Return an answer's moves; require one valid move for each row."""
    moves = answer(Y, epsilon, rng)
    if not isinstance(moves, np.ndarray) or moves.dtype.kind not in "iu":
        kind = f" of {moves.dtype}" if isinstance(moves, np.ndarray) else ""
        raise CheckFailed(f"it must return an array of whole numbers, but returned {described(moves)}{kind}")
    if moves.shape != (len(Y),):
        raise CheckFailed(f"its moves have shape {moves.shape}; {len(Y)} rows need shape ({len(Y)},)")
    if moves.min() < 0 or moves.max() >= Y.shape[1]:
        raise CheckFailed(f"there are the moves 0 to {Y.shape[1] - 1}, and it made {moves.max()}")
    return moves


def _expect_the_best(answer, Y, what, seed=0):
    """Require the single best move if nothing is explored."""
    moves, best = _moves(answer, Y, 0.0, np.random.default_rng(seed)), Y.argmax(axis=1)
    if np.array_equal(moves, best):
        return
    row = np.flatnonzero(moves != best)[0]
    said = (
        f"with epsilon 0{what}, row {row} makes move {moves[row]} of value {Y[row, moves[row]]:.6g}, and its "
        f"best is move {best[row]} with {Y[row, best[row]]:.6g}"
    )
    if np.array_equal(_moves(answer, Y, 1.0, np.random.default_rng(seed)), best):
        said += "; with epsilon 1 it makes the best ones: the comparison is reversed"
    elif np.array_equal(moves, np.where(Y == Y.max(axis=1, keepdims=True), Y, 0.0).argmax(axis=1)):
        said += "; a 0 where a move is not the best is more than any value below 0"
    elif "close" in what:
        said += "; close is not equal"
    raise CheckFailed(said)


def _expect_all_moves(answer, Y):
    """Require all moves with epsilon 1."""
    once, again = (_moves(answer, Y, 0.6, np.random.default_rng(1)) for _ in range(2))
    if not np.array_equal(once, again):
        raise CheckFailed("two generators of one seed give different moves: draw all chance from rng")
    first, second = (_moves(answer, Y, 1.0, np.random.default_rng(seed)) for seed in (1, 2))
    best, n_moves = Y.argmax(axis=1), Y.shape[1]
    if np.array_equal(first, best) and np.array_equal(second, best):
        raise CheckFailed("with epsilon 1, each row makes its best move: it never explores")
    if len(set(first.tolist())) == len(set(second.tolist())) == 1:
        raise CheckFailed(
            f"with epsilon 1, all {len(Y)} rows make one move, {first[0]}: each needs a draw of its own, "
            "`size=batch`"
        )
    if np.array_equal(first, second):
        raise CheckFailed("whatever the generator, it makes the same moves: draw them from rng")
    if not (first == best).any() and not (second == best).any():
        raise CheckFailed(
            f"with epsilon 1, none of {len(Y)} rows makes its best move: exploring may make any move, the "
            "best one too"
        )
    missing = sorted(set(range(n_moves)) - {*first.tolist(), *second.tolist()})
    if missing:
        last = " (`integers` leaves out the end that it is given)" if missing == [n_moves - 1] else ""
        raise CheckFailed(f"with epsilon 1, move {missing[0]} of 0 to {n_moves - 1} is never made{last}")


def _expect_coins(answer, rng):
    """Require that the share of explored moves is right."""
    alike = np.tile([0.0, 1.0, 3.0, 2.0], (MANY, 1))
    _expect_shares("with epsilon 1", _moves(answer, alike, 1.0, rng), np.full(4, 0.25))
    moves = _moves(answer, alike, 0.4, rng)
    try:
        _expect_shares("with epsilon 0.4", moves, np.array([0.1, 0.1, 0.7, 0.1]))
    except CheckFailed as no:
        calls = [_moves(answer, alike[:200], 0.4, np.random.default_rng(seed)) for seed in range(20)]
        shares = np.array([np.mean(call == 2) for call in calls])
        if (shares == 1).any() and (shares < 0.5).any() and ((shares == 1) | (shares < 0.5)).all():
            known = "in some calls all rows explore, and in others none: each row needs its own random number"
        elif np.abs(np.bincount(moves, minlength=4) / MANY - [0.25, 0.15, 0.6, 0]).max() < FAR:
            known = (
                "do not use the number that decides whether to explore for the move, too: there it is "
                "below epsilon"
            )
        else:
            raise
        raise CheckFailed(f"{no.sentence}; {known}") from None


def _expect_lots(answer, best, others, rng):
    """Require that several best moves are made equally often."""
    Y = np.tile([best, others[0], best, best, others[1]], (MANY, 1))
    when = f"with epsilon 0 and three best moves of value {best:g}"
    calls = [_moves(answer, Y[:20], 0.0, np.random.default_rng(seed)) for seed in range(8)]
    made = [set(call.tolist()) for call in calls]
    if all(moves == {0} for moves in made):
        why = "the argmax is the first of several that are equally good"
        why = why if best > 0 else "those of value 2 it draws"
        raise CheckFailed(f"{when}, it always makes move 0, and never the others: {why}")
    if all(len(moves) == 1 for moves in made):
        raise CheckFailed(f"{when}, all rows make the same one: each needs its own random number")
    _expect_shares(when, _moves(answer, Y, 0.0, rng), np.array([1, 0, 1, 1, 0]) / 3)


@choose_moves.check
def _(answer, rng):
    batch, n_out = drawn_sizes(rng, BATCH, N_OUT)
    ranks = rng.permuted(np.tile(np.arange(float(n_out)), (batch, 1)), axis=1)
    with untouched(Y=ranks):
        _moves(answer, ranks, 0.0, np.random.default_rng(0))
    _expect_the_best(answer, ranks, "")
    _expect_the_best(
        answer, np.tile([[-3.0, -1.0, -2.0], [-1.0, -2.0, -3.0]], (10, 1)), " and values below 0"
    )
    _expect_the_best(answer, np.tile([0.5, 0.5001, 0.2], (50, 1)), " and two values that are close")
    _expect_all_moves(answer, rng.normal(size=(200, n_out)))
    _expect_coins(answer, rng)
    for best, others in ((2.0, (0.0, -1.0)), (0.0, (-1.0, -2.0)), (-1.0, (-4.0, -2.0))):
        _expect_lots(answer, best, others, rng)
    return f"shapes, seeds, values below 0, and the shares of {MANY} rows with and without ties"


# 4. a memory that forgets the oldest

CAPACITY = 5
DRAWS = 4000
CALLS = 200  # of sample(rng, 2), 3 steps: a right answer misses a pair once in a thousand million checks

ring = Exercise(
    "18_acting.Ring",
    title="A ring",
    points=4,
    kind="fill",
    minutes=15,
    answer="class",
    hints=(
        "A list of steps is enough. What must `add` do if it is full: which place holds the oldest step?",
        "Count all steps ever added. Step number n belongs into place n % capacity; a list that is not full "
        "yet is appended to. Keep copies: `np.array(part)` makes one.",
        "`parts` is `[np.array(column) for column in zip(*self.steps)]`. For `sample`, draw places once, "
        "`rng.integers(len(self.steps), size=size)`, and take the same ones from each part.",
    ),
)


def _step(rng, number):
    """Return a step of three parts, each containing its number."""
    return number + np.array([0.25, 0.5]), number, 10.0 * number


def _three(when, columns):
    """Require a list of three parts, and return it."""
    if not isinstance(columns, list | tuple):
        raise CheckFailed(f"{when} must return a list of arrays, but returned {described(columns)}")
    if len(columns) != 3:
        raise CheckFailed(f"{when} must return an array for each of 3 parts, but returned {len(columns)}")
    return columns


def _columns(when, columns, count):
    """Require three arrays of `count` entries, and return them."""
    columns = _three(when, columns)
    for place, (column, shape) in enumerate(zip(columns, ((count, 2), (count,), (count,)), strict=True)):
        if not isinstance(column, np.ndarray) or column.shape != shape:
            raise CheckFailed(f"part {place} of {when} must have shape {shape}, but is {described(column)}")
    _expect_kinds(when, columns, ("f", "iu", "f"))
    return columns


def _expect_kinds(when, columns, kinds):
    """Require that each part keeps its kind of numbers."""
    words = {"f": "floats", "iu": "whole numbers", "b": "truth values"}
    for place, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        if column.dtype.kind not in kind:
            raise CheckFailed(
                f"part {place} of {when} was given as {words[kind]}, but is {column.dtype}: each part keeps "
                "its type"
            )


def _expect_one_order(when, X, numbers, tens):
    """Require that every drawn step was added, with parts that belong together."""
    if (~X.any(axis=1) & (numbers == 0) & (tens == 0)).any():
        raise CheckFailed(
            f"{when} holds a step of zeros that was never added: places that were never filled hold no steps"
        )
    if not (np.array_equal(10 * numbers, tens) and np.array_equal(X[:, 0], numbers + 0.25)):
        raise CheckFailed(f"in {when} parts of different steps are combined: use one order for all")


def _sample(memory, rng, size, left):
    """Return the drawn steps; require that some are drawn twice."""
    twice = f"{size} steps are drawn from {left}, so the same one may come also twice"
    try:
        columns = memory.sample(rng, size)
    except ValueError as error:
        if "larger sample" in str(error):
            raise CheckFailed(f"{twice}: leave out `replace=False`") from error
        raise
    if size != left and {np.shape(column)[:1] for column in columns} == {(left,)}:
        raise CheckFailed(f"{twice}, and sample gives each only once")
    return columns


def _filled(answer, rng, count, capacity=CAPACITY):
    """Return an answer's ring after `count` steps."""
    memory = answer(capacity)
    for number in range(count):
        memory.add(*_step(rng, number))
    return memory


def _expect_independent(answer, rng):
    """Require that steps are drawn independently."""
    n, pairs = 3, set()
    memory = _filled(answer, rng, 2 * n + 1, n)
    for _ in range(CALLS):
        pairs.add(tuple(memory.sample(rng, 2)[1].tolist()))
    apart = {(second - first) % n for first, second in pairs}
    if len(pairs) == n * n:
        return
    said = f"in {CALLS} calls of sample(rng, 2) on {n} steps, "
    if apart == {0}:
        raise CheckFailed(
            f"{said}both are always the same one: each must be drawn independently of the others"
        )
    if len(apart) == 1:
        raise CheckFailed(
            f"{said}the first determines the second, as if in sequence: each must be drawn "
            "independently of the others"
        )
    if 0 not in apart:
        raise CheckFailed(f"{said}both are never the same one: a step that was drawn can be drawn again")
    missing = min(set(product(range(n + 1, 2 * n + 1), repeat=2)) - pairs)
    raise CheckFailed(
        f"{said}numbers {missing[0]} and {missing[1]} never come in this order: each must be drawn "
        "independently of the others"
    )


@ring.check
def _(answer, rng):
    _expect_a_list_of_its_own(answer)
    for count in (3, CAPACITY, CAPACITY + 1, 3 * CAPACITY + 2):
        memory, left = _filled(answer, rng, count), min(count, CAPACITY)
        when = f"parts() after {count} steps in a Ring({CAPACITY})"
        X, numbers, tens = _columns(when, memory.parts(), left)
        wanted = list(range(count - left, count))
        if sorted(numbers.tolist()) != wanted:
            raise CheckFailed(f"{when} holds steps {sorted(numbers.tolist())}, but must hold {wanted}")
        _expect_one_order(when, X, numbers, tens)
        when = f"sample after {count} steps"
        X, numbers, tens = _columns(when, _sample(memory, rng, DRAWS, left), DRAWS)
        _expect_one_order(when, X, numbers, tens)
        missing = sorted(set(wanted) - set(numbers.tolist()))
        if missing:
            raise CheckFailed(f"among {DRAWS} steps drawn from {left}, number {missing[0]} never comes")
        share = max(np.mean(numbers == number) for number in wanted)
        if share > 1 / left + 0.06:  # eight standard deviations
            raise CheckFailed(f"one step of {left} makes {share:.0%} of those drawn: all are equally likely")
    first, second, third = (memory.sample(np.random.default_rng(seed), 20)[1] for seed in (3, 3, 4))
    if not np.array_equal(first, second) or np.array_equal(first, third):
        raise CheckFailed("what sample draws does not come from the rng that it is given")
    _expect_independent(answer, rng)
    memory = answer(CAPACITY)
    memory.add(1.0, 2, True)
    _expect_kinds("parts()", _three("parts()", memory.parts()), ("f", "iu", "b"))
    return "not full, full, round and round; draws, copies, and two rings"


def _expect_a_list_of_its_own(answer):
    """Require that each of two rings keeps its own steps, as copies of arrays."""
    mine, rings = np.ones(2), []
    for number in (1, 2):
        rings.append(answer(CAPACITY))
        rings[-1].add(mine, number, 1.0)
        if number == 1:
            before = np.array(_three("parts() of a first Ring", rings[0].parts())[1])
    if not np.array_equal(before, rings[0].parts()[1]):
        raise CheckFailed(
            "what is added to a second Ring changes the first: each needs a list of its own, made in __init__"
        )
    for memory in rings:
        count = len(memory.parts()[0])
        if count != 1:
            empty = ": places that were never filled hold no steps" if count == CAPACITY else ""
            raise CheckFailed(f"a Ring({CAPACITY}), to which one step was added, holds {count}{empty}")
    mine += 7
    expect_values("after a change of the array that was added, it", memory.parts()[0], np.ones((1, 2)))


@ring.probe
def _(answer, rng):
    memory = _filled(answer, rng, 12)
    mine, one = np.ones(2), answer(CAPACITY)
    one.add(mine, 1, 1.0)
    mine += 7
    kept = [np.sort(part, axis=0) for part in memory.parts()]
    return kept, one.parts()[0], np.sort(memory.sample(rng, 4)[1])


class List:
    """A correct memory, of which the mistakes change one part each."""

    def __init__(self, capacity):
        self.capacity, self.steps = capacity, []

    def add(self, *parts):
        self.steps = self.left(tuple(np.array(part) for part in parts))

    def left(self, step):
        return [*self.steps, step][-self.capacity :]

    def parts(self):
        return [np.stack(column) for column in zip(*self.steps, strict=True)]

    def places(self, rng, size):
        return rng.integers(len(self.steps), size=size)

    def sample(self, rng, size):
        places = self.places(rng, size)
        return [column[places] for column in self.parts()]


for sentence, part in {
    "It forgets nothing: a full memory must drop its oldest step.": (
        dict(left=lambda self, step: [*self.steps, step])
    ),
    "A full memory takes no new steps: drop the oldest one.": (
        dict(left=lambda self, step: [*self.steps, step][: self.capacity])
    ),
    "You overwrite the newest step: drop the oldest one.": (
        dict(left=lambda self, step: [*self.steps[: self.capacity - 1], step])
    ),
    "When the memory is full, you drop all steps, not one.": (
        dict(left=lambda self, step: [*self.steps[: len(self.steps) % self.capacity], step])
    ),
    "It is one step too small: drop a step only if there are `capacity` already.": (
        dict(left=lambda self, step: [*self.steps, step][1 - self.capacity :])
    ),
    "It is one step too large: drop a step as soon as there are `capacity` already.": (
        dict(left=lambda self, step: [*self.steps, step][-1 - self.capacity :])
    ),
    "The last place is never drawn: the end that `integers` is given is left out already.": (
        dict(places=lambda self, rng, size: rng.integers(len(self.steps) - 1, size=size))
    ),
    "You draw empty positions: a memory that is not full has fewer steps.": (
        dict(places=lambda self, rng, size: rng.integers(self.capacity, size=size))
    ),
}.items():
    ring.mistake(sentence)(type("Ring", (List,), part))


@ring.mistake("You draw positions again for each part: draw them once, and take the same from each.")
class EachForItself(List):
    def sample(self, rng, size):
        return [column[rng.integers(len(column), size=size)] for column in self.parts()]


@ring.mistake("You draw of all that were ever added, modulo capacity: draw of those that are stored.")
class DrawsOfAllEverAdded(List):
    added = 0

    def add(self, *parts):
        place, self.added = self.added % self.capacity, self.added + 1
        self.steps[place : place + 1] = [tuple(np.array(part) for part in parts)]

    def places(self, rng, size):
        return rng.integers(self.added, size=size) % self.capacity


@ring.mistake("It keeps the array itself, and not its numbers: `np.array` makes a copy.")
class KeepsTheArray(List):
    def add(self, *parts):
        self.steps = self.left(parts)


# 5. cut is not done

targets = Exercise(
    "18_acting.targets",
    title="Cut is not done",
    points=2,
    kind="repair",
    minutes=10,
    hints=(
        "Go through the small example with the broken code: which of its two targets are wrong, and why?",
        "After a cut there was a next state, worth something. Only `done` says that nothing follows.",
        "The discount applies only to the future: `rewards + discount * future`, with the future 0 where "
        "`done`. `cut` is not needed at all.",
    ),
)


@targets.check
def _(answer, rng):
    cases = (8, 0.75, float), (4, 0.75, float), (8, 0.75, int), (8, 0.0, float)
    for batch, discount, kind in also_drawn(cases, lambda: (8, rng.uniform(0.3, 0.7), float)):
        n_moves = 4  # as many as rows, too: then a wrong axis raises no error
        rewards, Y_new = rng.normal(0, 3, size=batch).astype(kind), rng.normal(size=(batch, n_moves)) - 1.0
        Y_new[::2] -= 3  # where the best move is worth less than 0
        done, cut = np.arange(batch) % 2 == 1, np.arange(batch) % 4 >= 2
        with untouched(rewards=rewards, Y_new=Y_new, done=done, cut=cut):
            found = answer(rewards, Y_new, done, cut, discount)
        expect_shape("what it returns", found, "rewards", rewards)
        _expect_floats(found)
        truth = rewards + ~done * discount * Y_new.max(axis=1)
        kinds = (
            ("neither done nor cut", ~done & ~cut),
            ("done", done & ~cut),
            ("cut", cut & ~done),
            ("done and cut", done & cut),
        )
        for kind, rows in kinds:
            expect_values(f"where a step is {kind}, the target", found[rows][0], truth[rows][0])
        expect_values("targets", found, truth)
    return "steps that are done, cut, both and neither, and rewards that are whole numbers"


@targets.probe
def _(answer, rng):
    done, cut = np.arange(16) % 2 == 1, np.arange(16) % 4 >= 2
    return answer(rng.normal(size=16), rng.normal(size=(16, 16)) - 1.5, done, cut, 0.75)


def _aims(over, future=lambda Y_new: Y_new.max(axis=1), join=None, at_end=np.copy):
    """Return targets with one change, for the mistakes."""
    join = join or (lambda rewards, future, discount: rewards + discount * future)

    def targets(rewards, Y_new, done, cut, discount):
        return np.where(over(done, cut), at_end(rewards), join(rewards, future(Y_new), discount))

    return targets


def _all_discounted(rewards, future, discount):
    return discount * (rewards + future)


def _done(done, cut):
    return done


AT_ONCE = "The reward is immediate: the discount applies only to the future."


targets.mistake(AT_ONCE)(_aims(lambda done, cut: done | cut, join=_all_discounted))
targets.mistake(AT_ONCE)(_aims(_done, join=_all_discounted))
targets.mistake("A step that was cut has a next state, and that is worth something: only `done` is an end.")(
    _aims(lambda done, cut: done | cut)
)
targets.mistake("Both at once is an end: the walk reached it just when time was over.")(
    _aims(lambda done, cut: done & ~cut)
)
targets.mistake("Now no walk ever ends: after `done` nothing follows.")(
    _aims(lambda done, cut: np.zeros_like(done))
)
targets.mistake("Done and cut are exchanged.")(_aims(lambda done, cut: cut))
targets.mistake("The mean over the moves is the value of random moves: the best move has the maximum.")(
    _aims(_done, lambda Y_new: Y_new.mean(axis=1))
)
targets.mistake("That is the best of the whole batch: each row has a maximum of its own, `axis=1`.")(
    _aims(_done, lambda Y_new: Y_new.max())
)
targets.mistake("You do not discount the future.")(
    _aims(_done, join=lambda rewards, future, discount: rewards + future)
)
targets.mistake("The last reward counts, too: after `done` only the future is 0.")(
    _aims(_done, at_end=np.zeros_like)
)
targets.mistake("That is the number of the best move; the target needs its value.")(
    _aims(_done, lambda Y_new: Y_new.argmax(axis=1))
)
targets.mistake("The best value may be below 0; yours never is.")(
    _aims(_done, lambda Y_new: Y_new.max(axis=1, initial=0.0))
)
targets.mistake("The best move has the largest value, with its sign.")(
    _aims(_done, lambda Y_new: np.abs(Y_new).max(axis=1))
)


# 6. a policy gradient

loss_of_policy = Exercise(
    "18_acting.loss_of_policy",
    title="The move you made",
    points=4,
    kind="fill",
    minutes=15,
    hints=(
        "For returns of 1 this is the cross-entropy of logits and labels. What is its dY? And what does a "
        "factor in front of a row's loss do to that row's gradient?",
        "The logarithm of the softmax without overflow: subtract the row's maximum, and then the logarithm "
        "of the sum of the exponentials.",
        "dY is P with 1 subtracted at each row's move, times `returns[:, None]`, divided by the batch. All "
        "columns of a row get something, for the probabilities share a sum of 1.",
    ),
)


def log_softmax(Y):
    """Return the logarithm of the softmax of rows."""
    shifted = Y - Y.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _expect_loss(Y, moves, worth, L):
    """Require the right loss; explain a known wrong one."""
    log_P, rows = log_softmax(Y), np.arange(len(Y))
    chosen = log_P[rows, moves]
    truth = -(worth * chosen).mean()
    instead = (
        (truth * len(Y), "L is a mean over the batch, but yours is the sum"),
        (-truth, "the sign is flipped: good moves should become more probable"),
        (-truth * len(Y), "L is *minus* the *mean*, but yours is the sum"),
        (-chosen.mean(), "the returns are missing"),
        (
            -((worth - worth.mean()) * chosen).mean(),
            "the mean return was subtracted: this loss takes the returns as they are",
        ),
        (-(worth * np.exp(chosen)).mean(), "the logarithm is missing"),
        (
            -(worth * chosen).sum() / worth.sum(),
            "you divide by the sum of the returns, and a mean by the batch",
        ),
        (truth / Y.shape[1], "the mean is over the batch, and yours over all entries"),
        (-worth.mean() * chosen.mean(), "each return belongs to its own row: multiply before the mean"),
        (-(np.maximum(worth, 0) * chosen).mean(), "a return below 0 counts, too"),
        (-(np.abs(worth) * chosen).mean(), "a return below 0 keeps its sign"),
        *(
            (
                -(factor * log_P[:, moves]).mean(),
                "`[:, moves]` pairs every row with every move: write `[rows, moves]`",
            )
            for factor in (worth, worth[:, None])
        ),
    )
    for value, words in instead:
        if np.shape(L) == () and len(Y) > 1 and np.isclose(L, value) and not np.isclose(value, truth):
            raise CheckFailed(f"L is {L:.4g}, it must be {truth:.4g}; {words}")
    expect_values("L", L, truth)


def _expect_steep_back(answer, back):
    """Require that backward neither overflows nor divides by a P of 0."""
    low, one = np.array([[0.0, -1000.0]]), np.ones(1)  # exp overflows nowhere, and the second P is 0
    with np.errstate(all="ignore"):
        lows = [answer(low, (np.array([move]), one))[1]() for move in (0, 1)]
        dY = back()
    for move, found in enumerate(lows):
        if not np.isfinite(found).all():
            raise CheckFailed(
                f"with the logits [0, -1000] and move {move}, dY is not finite; one P is rounded "
                "to 0 there, and you divide by P, or take its logarithm: find dY without dividing by P"
            )
    when = "with the logits [1000, 0] and move 1"
    if not np.isfinite(dY).all():
        raise CheckFailed(
            f"{when}, L is right, but dY is not finite; exp(1000) overflows: subtract each row's maximum "
            "from the logits in backward, too"
        )
    if np.shape(dY) == (1, 2) and not np.any(dY):
        raise CheckFailed(
            f"{when}, dY is 0, it must be [[1, -1]]; P is rounded to 0 there, and a gradient by way of "
            "it is lost: find dY from log P"
        )
    expect_values(f"{when}, dY", dY, np.array([[1.0, -1.0]]))


def _expect_steep(answer):
    """Require no overflow with logits of 1,000, alone or beside ordinary ones."""
    large, one = np.array([[1000.0, 0.0]]), np.ones(1)
    with np.errstate(all="ignore"):
        (easy, _), (hard, back) = (answer(large, (np.array([move]), one)) for move in (0, 1))
        mixed = np.array([[1000.0, 0.0], [0.0, 0.0]]), (np.array([1, 1]), np.array([1.0, 2.0]))
        L, backward = answer(*mixed)
        dY = backward()
    if not np.isfinite(easy):
        raise CheckFailed(
            f"with the logits [1000, 0] and move 0, L is {easy}, it must be 0; exp(1000) overflows: subtract "
            "each row's maximum from the logits first"
        )
    expect_values("with the logits [1000, 0] and move 0, L", easy, 0.0)
    if not np.isfinite(hard):
        raise CheckFailed(
            f"with the logits [1000, 0] and move 1, L is {hard}, it must be 1000; P is rounded to 0 there, "
            "and has no logarithm: compute log P without P"
        )
    expect_values("with the logits [1000, 0] and move 1, L", hard, 1000.0)
    _expect_steep_back(answer, back)
    if not (np.isfinite(L) and np.isfinite(dY).all()):
        raise CheckFailed(
            "each of the logits [1000, 0] and [0, 0] alone is fine, but in one batch L or dY is not finite: "
            "each row needs its own maximum, `Y.max(axis=1, keepdims=True)`"
        )
    expect_values("with the logits [1000, 0] and [0, 0] in one batch, L", L, 500 + np.log(2))
    expect_values("with these logits, dY", dY, np.array([[0.5, -0.5], [0.5, -0.5]]))


WHOLE = "Here the logits and the returns are whole numbers, and what is computed from them is not."


def _expect_loss_and_back(answer, Y, moves, worth, dL, kind):  # noqa: PLR0913  all that is drawn
    """Require the right loss and gradient for a batch of floats, given as floats or whole numbers."""
    logits, T, rows = Y.astype(kind), (moves, worth.astype(kind)), np.arange(len(Y))
    with untouched(Y=logits, moves=moves, returns=T[1]):
        L, backward = expect_several(answer(logits, T), "L", "backward")
        _expect_loss(Y, moves, worth, L)
        dY = np.array(backward(dL))
    expect_gradients(lambda Y: -(worth * log_softmax(Y)[rows, moves]).mean(), {"Y": Y}, dL, {"Y": dY})
    if not np.allclose(backward(dL), dY):
        raise CheckFailed("called again, backward returns another dY: it changes what it keeps, such as P")
    expect_values("called without dL, dY", backward(), dY / dL)
    answer(logits[::-1].copy(), (moves, -T[1]))
    with because(OWN_MEMORY):
        expect_values("after another pass, dY", backward(dL), dY, "before it was")


@loss_of_policy.check
def _(answer, rng):
    rows, n_out = drawn_sizes(rng, BATCH, N_OUT)
    for batch, kind in ((rows, float), (n_out, float), (1, float), (rows, int)):  # a square Y, too
        Y, dL = rng.normal(size=(batch, n_out)), np.float64(rng.uniform(0.5, 2))
        moves, worth = rng.integers(n_out, size=batch), rng.normal(size=batch) + 0.5
        if kind is int:
            Y, worth = (3 * Y).round(), np.arange(batch) - 1.0  # one of them is 0
        with because(WHOLE) if kind is int else nullcontext():
            _expect_loss_and_back(answer, Y, moves, worth, dL, kind)
    expect_gradcheck(lambda Y: answer(Y, (moves, worth)), Y)
    _expect_steep(answer)
    return "values and gradients of four batches, some returns below 0, and logits of 1,000"


@loss_of_policy.probe
def _(answer, rng):
    Y, moves, worth = rng.normal(size=(N_OUT, N_OUT)), rng.integers(N_OUT, size=N_OUT), rng.normal(size=N_OUT)
    L, backward = answer(Y, (moves, worth))
    with np.errstate(all="ignore"):
        steep = answer(np.array([[1000.0, 0.0]]), (np.array([1]), np.array([1.0])))[0]
    return L, backward(2.0), steep


def policy(back, value=None):
    """Return a policy loss with this backward function, for the mistakes."""

    def loss_of_policy(Y, T):
        moves, worth = T
        log_P = log_softmax(Y)
        rows, chosen = np.arange(len(Y)), np.eye(Y.shape[1])[moves]
        L = -(worth * log_P[rows, moves]).mean() if value is None else value(log_P, moves, worth)
        return L, lambda dL=1.0: back(np.exp(log_P), chosen, worth, dL) / len(Y)

    return loss_of_policy


def _at(P, places):
    """Return an array like P with 1 there, and else 0."""
    ones = np.zeros_like(P)
    ones[places] = 1.0
    return ones


def right_back(P, chosen, worth, dL):
    return dL * worth[:, None] * (P - chosen)


loss_of_policy.mistake("That is the gradient of cross-entropy: each row's must be multiplied by its return.")(
    policy(lambda P, chosen, worth, dL: dL * (P - chosen))
)
loss_of_policy.mistake(
    "The loss uses one move, but all logits share one softmax: each column of the row gets a gradient."
)(policy(lambda P, chosen, worth, dL: dL * worth[:, None] * (P - chosen) * chosen))
loss_of_policy.mistake("That is the gradient for P: it still has to pass backward through softmax.")(
    policy(lambda P, chosen, worth, dL: -dL * worth[:, None] * chosen / P)
)
loss_of_policy.mistake(
    "That is the gradient for log P: it still has to pass backward through the logarithm of softmax."
)(policy(lambda P, chosen, worth, dL: -dL * worth[:, None] * chosen))
loss_of_policy.mistake("Where the move was made, 1 is subtracted from P: you left it out.")(
    policy(lambda P, chosen, worth, dL: dL * worth[:, None] * P)
)
loss_of_policy.mistake("The return is a factor of the whole row, P included.")(
    policy(lambda P, chosen, worth, dL: dL * (P - worth[:, None] * chosen))
)
loss_of_policy.mistake("The backward pass is given dL, and must multiply by it.")(
    policy(lambda P, chosen, worth, dL: worth[:, None] * (P - chosen))
)
loss_of_policy.mistake("The mean return is subtracted in the backward pass, but not in the loss.")(
    policy(lambda P, chosen, worth, dL: dL * (worth - worth.mean())[:, None] * (P - chosen))
)
loss_of_policy.mistake("You multiply by dL twice.")(policy(lambda *given: given[-1] * right_back(*given)))
loss_of_policy.mistake("With `P[moves]` you take whole rows of P: write `P[rows, moves]`.")(
    policy(lambda P, chosen, worth, dL: dL * worth[:, None] * (P - _at(P, chosen.argmax(axis=1))))
)
loss_of_policy.mistake("With `P[:, moves]` you take each move in every row: write `P[rows, moves]`.")(
    policy(lambda P, chosen, worth, dL: dL * worth[:, None] * (P - chosen.any(axis=0)))
)
for _back in (lambda G, worth: worth * G, lambda G, worth: G * worth):
    loss_of_policy.mistake("Each row has a return, so they must be a column: `returns[:, None]`.")(
        policy(lambda P, chosen, worth, dL, back=_back: dL * back(P - chosen, worth))
    )


def log_of(P):
    """Return a policy loss with this logarithm of P, for the mistakes."""

    def loss_of_policy(Y, T):
        moves, worth = T
        return -(worth * P(Y)[np.arange(len(Y)), moves]).mean(), policy(right_back)(Y, T)[1]

    return loss_of_policy


def softmax(Y):
    return np.exp(log_softmax(Y))


loss_of_policy.mistake("A small number added inside the logarithm hides the 0: compute log P without P.")(
    log_of(lambda Y: np.log(softmax(Y) + 1e-12))
)
