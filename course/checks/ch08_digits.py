"""The exercises of chapter 08: error bars, a split by writer, mistakes, early stopping, checkpoints."""

from operator import itemgetter
from types import SimpleNamespace

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described, is_first_round
from course.checks.questions import because, expect_guesses, expect_several, expect_values, untouched
from minigrad import History

# 1. the bar and its square root

three_bars = Exercise(
    "08_digits.three_bars",
    title="How long is the bar?",
    points=1,
    kind="predict",
    minutes=3,
    hints=(
        "Write the formula down once and put the numbers in: √(p (1 − p) / count).",
        "Nine times the digits: count is under a root, so the bar shrinks by √9. And p (1 − p) is 0.09 "
        "at 0.9; what is it at one half?",
        "For the third: a bar ten times shorter needs ten times ten times the digits.",
    ),
)


def _bar(right, count):
    """Return the standard error of a share, from the ones and zeros themselves."""
    return np.repeat([1.0, 0.0], [right, count - right]).std() / count**0.5


def _other_units(bar):
    """Return the bar without its root, and in percent, each with a sentence that explains it."""
    return {
        bar**2: "That is the square of the bar; take the root",
        100 * bar: "That is in percent; write it as a share",
    }


@three_bars.check
def _(answer, rng):
    of_100, of_900, of_half = _bar(90, 100), _bar(810, 900), _bar(50, 100)
    truths = {
        "the bar for 810 of 900": of_900,
        "the bar for 50 of 100": of_half,
        "the number of digits": 100 * (of_100 / 0.003) ** 2,
    }
    by_count = "Count is under the root, so nine times the digits shorten the bar by √9, not by 9"
    slips = {
        "the bar for 810 of 900": {
            of_100: "That is the bar of 90 of 100; count has grown, and the bar shrinks with its root",
            of_100 / 9: by_count,
            round(of_100 / 9, 4): by_count,
        }
        | _other_units(of_900),
        "the bar for 50 of 100": {
            of_100: "The bar is longest for a share of one half: p (1 − p) is 0.25 there, not 0.09"
        }
        | _other_units(of_half),
        "the number of digits": {1000: "A bar ten times shorter needs a hundred times the digits"},
    }
    expect_guesses(answer(), truths, slips, atol=1e-8)
    return "compared with the formula"


# 2. an interval that survives 20 right of 20

interval = Exercise(
    "08_digits.interval",
    title="All right, and not certain",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "At the two ends the distance is exactly two bars. Square it, so that the root goes away: "
        "(p − q)² = 4 q (1 − q) / count. That is a quadratic equation for q.",
        "Sorted by powers of q: (1 + 4 / count) q² − (2 p + 4 / count) q + p² = 0.",
        "Solve it as at school, or with np.roots, which takes the three numbers. The smaller root is low.",
    ),
)


@interval.check
def _(answer, rng):
    many = int(rng.integers(1000, 100_000))
    drawn = (int(rng.integers(2, 30)), 31), (int(rng.integers(many)), many), (many, many)
    cases = [(15, 20), (261, 270), (20, 20), (0, 20), *drawn, (2, 2)]
    for right, count in cases:
        ends = answer(right, count)
        ends = tuple(ends) if isinstance(ends, np.ndarray) and ends.shape == (2,) else ends
        low, high = (float(end) for end in expect_several(ends, "low", "high"))
        p, case = right / count, f"for {right} of {count}"
        for name, q in {"low": low, "high": high}.items():
            if not -1e-9 <= q <= 1 + 1e-9:
                raise CheckFailed(f"{case}, {name} is {q:.4g}, but an accuracy is between 0 and 1")
            bar = np.sqrt(max(q * (1 - q), 0) / count)
            if abs((p - q) ** 2 - 4 * bar**2) > 1e-9:
                away = _away(abs(p - q) / bar if bar > 1e-6 else np.inf)
                raise CheckFailed(
                    f"{case}, {name} is {q:.4g}: seen from there, the observed {p:.4g} is {away}"
                )
        if abs(high - low) < 1e-6:
            raise CheckFailed(
                f"{case}, both ends are {low:.4g}, and they must differ: a second accuracy has the observed "
                "share exactly two of its bars away"
            )
        if low > high:
            raise CheckFailed(f"{case}, low is {low:.4g} and high is {high:.4g}: low must be below high")
    at_least = min(answer(20, 20))
    return (
        "the ends are two bars away, also for none right and for all; "
        f"20 of 20 are no surprise for an accuracy of {at_least:.0%} or more"
    )


def _away(bars):
    """Describe how many bars away an end is, if not two."""
    if bars == np.inf:
        return "out of reach"
    error = abs(bars - 2)
    number = f"{bars:.{3 if error > 0.005 else 5 if error > 1e-4 else 12}g}"
    too_coarse = "; if you tried out values of q, solve the equation instead" if error < 0.02 else ""
    return f"{number} bar{'s' * (number != '1')} away; the statement wants exactly 2{too_coarse}"


@interval.probe
def _(answer, rng):
    return [answer(15, 20), answer(19, 20)]


def around(more, low, high):
    """Return an interval around the share with `more` right and wrong ones, cut off at two ends."""

    def interval(right, count):
        middle, count = (right + more) / (count + 2 * more), count + 2 * more
        bar = np.sqrt(middle * (1 - middle) / count)
        return max(middle - 2 * bar, low), min(middle + 2 * bar, high)

    return interval


def solved(right, count, squared):
    """Return the two q at which (p - q)² is squared · q (1 - q)."""
    p = right / count
    return tuple(np.sort(np.roots([1 + squared, -2 * p - squared, p * p])))


def as_far_above(right, count):
    low, _ = solved(right, count, 4 / count)
    return low, min(2 * right / count - low, 1.0)


def in_percents(right, count):
    q = np.linspace(0, 1, 101)
    near = q[abs(right / count - q) <= 2 * np.sqrt(q * (1 - q) / count)]
    return near.min(), near.max()


for more, sentence in {
    0: "This is the bar of p itself; the bar belongs to the accuracy that you start from.",
    2: "This is one bar for both ends, that of the middle; each end has a bar of its own.",
}.items():
    for ends in ((-np.inf, np.inf), (0.0, 1.0)):
        interval.mistake(sentence)(around(more, *ends))
for sentence, wrong in {
    "When you square two bars, the 2 becomes a 4.": lambda right, count: solved(right, count, 2 / count),
    "The division by count is missing under the root.": lambda right, count: solved(right, count, 4),
    "The ends are not equally far from p: their bars differ.": as_far_above,
    "Whole percents are too coarse: solve the equation for q.": in_percents,
}.items():
    interval.mistake(sentence)(wrong)


# 3. a split that keeps writers whole

split_by_writer = Exercise(
    "08_digits.split_by_writer",
    title="Keep a hand together",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Shuffle and cut the list of *writers*, each once, as `split` does with rows. Then find the rows.",
        "`np.unique(writers)` gives each writer once, and `rng.permutation` shuffles them.",
        "`np.isin(writers, chosen)` is True in the rows whose writer was chosen.",
    ),
)


@split_by_writer.check
def _(answer, rng):
    names = np.array("Ann Anna Bo Bob Cy Dan Dana Eve Jo Jon Kim".split())
    rows = np.repeat(np.arange(11), [31, 2, 7, 3, 5, 11, 13, 2, 17, 3, 5])
    writers, share = names[rng.permutation(rows)], 0.3
    for labels in (writers, 10 * np.searchsorted(names, writers) + 4, np.sort(writers)):
        for seed in rng.integers(1000, size=5):
            one, other = (_held_out(answer, labels, share, np.random.default_rng(seed)) for _ in range(2))
            if one != other:
                raise CheckFailed(
                    "with two generators in the same state, other writers are held out: use rng, which you "
                    "are given, for all that is drawn"
                )
    if is_first_round():
        _expect_even_draws(answer, names, writers, share, rng)
    return "no writer in both parts, and every writer equally likely"


def _expect_even_draws(answer, names, writers, share, rng):
    """Require the same number of writers in each of 400 draws, and each writer equally often."""
    seeds = rng.integers(2**40, size=400)
    draws = [_held_out(answer, writers, share, np.random.default_rng(seed)) for seed in seeds]
    for place in rng.permutation(400)[:40]:
        if _held_out(answer, writers, share, np.random.default_rng(seeds[place])) != draws[place]:
            raise CheckFailed("called again with a generator in the same state, it holds out other writers")
    of_rows = len(_held_out(answer, writers, 0.05, rng))
    if of_rows == round(0.05 * len(writers)):
        raise CheckFailed(
            f"of {len(writers)} rows by {len(names)} writers, at a share of 0.05, {of_rows} writers are held "
            "out: that is the share of the rows; the statement has round(share * number of writers)"
        )
    if all(draw == draws[0] for draw in draws):
        raise CheckFailed(
            f"in 400 calls the same writers are held out, {', '.join(draws[0])}: draw new ones in each "
            "call, with the rng you are given and with no seed of your own"
        )
    if all("Ann" in draw for draw in draws if "Anna" in draw):
        raise CheckFailed("whenever Anna is held out, Ann is, too: compare whole names, not parts of them")
    _expect_count(sorted({len(draw) for draw in draws}), share, len(names))
    for few, some in (("abbcdd", 2 / 3), ("abbcdd", 0.1), ("dabcdd", 0.0), ("badcce", 0.5)):
        _expect_count([len(_held_out(answer, np.array([*few]), some, rng))], some, len(set(few)))
    _expect_count([len(_held_out(answer, writers, 1.0, rng))], 1.0, len(names))
    before = rng.bit_generator.state
    _held_out(answer, writers, share, rng)
    if rng.bit_generator.state == before:
        raise CheckFailed("nothing is drawn from rng: use the generator that you are given")
    often = {str(name): sum(name in draw for draw in draws) for name in names}
    (rare, seldom), *_, (common, most) = sorted(often.items(), key=itemgetter(1))
    if most > 2 * max(seldom, 1):  # by chance alone, 109 ± 9 each
        raise CheckFailed(
            f"in 400 draws writer {rare} was held out {seldom} times and writer {common} {most} times; "
            "every writer should be as likely as any other"
        )


def _held_out(answer, writers, share, rng):
    """Return the writers that an answer holds out; require that each is held out whole."""
    with untouched(writers=writers):
        returned = answer(writers, share, rng)
    held_out, is_array = np.asarray(returned), isinstance(returned, np.ndarray)
    if not is_array or held_out.shape != writers.shape or held_out.dtype != bool:
        seen = f"has shape {held_out.shape} and holds {held_out.dtype}"
        raise CheckFailed(
            f"held_out must be an array of True or False, one for each of the {len(writers)} rows; yours "
            f"{seen if is_array else f'is {described(returned)}'}"
        )
    if torn := _in_both_parts(writers, held_out):
        in_order = (
            ""
            if _in_both_parts(np.sort(writers), held_out)
            else ("; that would be right for sorted rows, but they come in any order")
        )
        raise CheckFailed(f"writer {torn}{in_order}")
    return np.unique(writers[held_out]).tolist()


def _in_both_parts(writers, held_out):
    """Return words about a writer with only some rows held out, or None."""
    for name in np.unique(writers):
        count, inside = np.sum(writers == name), held_out[writers == name].sum()
        if 0 < inside < count:
            return f"{name} is in both parts: {inside} of {count} rows are held out"
    return None


def _expect_count(counts, share, writers):
    """Require that every draw holds out the right number of writers."""
    expected = round(share * writers)
    if counts == [expected]:
        return
    several = len(counts) > 1
    yours = f"{counts[0]} to {counts[-1]}, from draw to draw" if several else f"{counts[0]}"
    why = ""
    if several and counts[-1] <= expected:
        why = (
            "; a writer drawn twice counts only once, so draw without replacement, and from a list that has "
            "each writer once"
        )
    elif several:
        why = "; the number must be the same in every draw"
    elif abs(counts[0] - expected) == 1:
        why = "; the statement has round(share * number of writers)"
    elif not expected:
        why = "; look at what your code does with the number 0"
    elif counts[0] == writers - expected:
        why = "; you returned the training writers"
    raise CheckFailed(
        f"at a share of {share:.2g}, {expected} of {writers} writers were to be held out, and yours are "
        f"{yours}{why}"
    )


@split_by_writer.probe
def _(answer, rng):
    writers = np.repeat(np.arange(11), [31, 2, 7, 3, 5, 11, 13, 2, 17, 3, 5])
    return [np.asarray(answer(writers, 0.3, np.random.default_rng(seed))).sum() for seed in range(20)]


@split_by_writer.mistake(
    "You draw from the rows, so a writer with more rows is drawn more often. Draw writers."
)
def drawn_from_the_rows(writers, share, rng):
    names = list(dict.fromkeys(rng.permutation(writers).tolist()))
    return np.isin(writers, names[: round(share * len(set(names)))])


# 4. the mistakes worth looking at first

surest_mistakes = Exercise(
    "08_digits.surest_mistakes",
    title="Wrong, and sure of it",
    points=2,
    kind="fill",
    minutes=7,
    hints=(
        "First the rows that are wrong: where is the largest probability not at T? `np.flatnonzero` gives "
        "their numbers.",
        "How sure it was in these rows is `P[wrong].max(axis=1)`. `np.argsort` sorts upwards.",
        "argsort gives places in the list of wrong rows; `wrong[places]` turns them into rows again.",
    ),
)


@surest_mistakes.check
def _(answer, rng):
    for examples, count in ((40, 5), (13, 30), (7, 1), (14, 9), (9, 0)):
        P, T = _answers(rng, examples)
        if count == 9:  # each row comes twice, and so is as sure as another
            P, T = np.tile(P[:7], (2, 1)), np.tile((P[:7].argmax(axis=1) + 1) % 3, 2)
        if count == 1:
            T = P.argmax(axis=1)  # nothing is wrong
        if count == 30:  # few are wrong, and not sorted by sureness
            order = np.roll(np.argsort(P.max(axis=1)), 4)
            P, T = P[order], (P.argmax(axis=1)[order] + np.arange(examples) % 2) % 3
        _expect_rows(answer, P, T, count)
    return "also with fewer mistakes than requested, and with none"


def _answers(rng, examples):
    """Return probabilities of 3 classes, and labels, about half of them predicted."""
    P = rng.dirichlet(np.ones(3), size=examples)
    return P, np.where(rng.random(examples) < 0.5, P.argmax(axis=1), rng.integers(3, size=examples))


def _expect_rows(answer, P, T, count):
    """Require that an answer lists the surest mistakes."""
    with untouched(P=P, T=T):
        rows = np.asarray(answer(P, T, count))
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise CheckFailed(
            f"it must return row numbers, but returned an array of {rows.dtype}, shape {rows.shape}"
        )
    sure, wrong = P.max(axis=1), P.argmax(axis=1) != T
    best = sorted(np.flatnonzero(wrong).tolist(), key=lambda row: -sure[row])[:count]
    for row in rows:
        if not 0 <= row < len(P):
            raise CheckFailed(f"there is no row {row}: there are {len(P)}, counted from 0")
        if not wrong[row]:
            filled = f"only {wrong.sum()} rows are wrong, and you filled up to {count}"
            same = f"its largest probability is at {T[row]}, which is T"
            why = filled if rows[: len(best)].tolist() == best else same
            raise CheckFailed(f"row {row} is not a mistake: {why}")
    if len(rows) != len(best):
        ties = ", some of them equally sure" if len(set(sure[wrong])) < wrong.sum() else ""
        raise CheckFailed(
            f"count is {count}, and {wrong.sum()} are wrong{ties}: return {len(best)} rows, not {len(rows)}"
        )
    if len(best) > 1 and rows.tolist() == best[::-1]:
        raise CheckFailed("these are the right rows, but the least sure comes first: reverse them")
    if len(set(rows.tolist())) < len(rows):
        raise CheckFailed("a row is listed twice")
    for place, (row, better) in enumerate(zip(rows, best, strict=True)):
        if sure[row] != sure[better]:
            raise CheckFailed(
                f"place {place} is row {row}, {sure[row]:.2f} sure; row {better} is wrong too, and "
                f"{sure[better]:.2f} sure"
            )


@surest_mistakes.probe
def _(answer, rng):
    return np.asarray(answer(*_answers(rng, 40), 5))


for sentence, rows in {
    "These are positions in the list of wrong rows, not rows of P.": (
        lambda wrong, sure, truth: np.argsort(-sure[wrong])
    ),
    "You sort in ascending order: these are the least sure mistakes.": (
        lambda wrong, sure, truth: wrong[np.argsort(sure[wrong])]
    ),
    "These are the surest answers, right or wrong.": lambda wrong, sure, truth: np.argsort(-sure),
    "You sort by the probability of the truth; how sure it was is the largest probability.": (
        lambda wrong, sure, truth: wrong[np.argsort(truth[wrong])]
    ),
}.items():
    surest_mistakes.mistake(sentence)(
        lambda P, T, count, rows=rows: rows(
            np.flatnonzero(P.argmax(axis=1) != T), P.max(axis=1), P[np.arange(len(T)), T]
        )[:count]
    )


@surest_mistakes.mistake("These are the first of the mistakes; sort all of them before you cut.")
def cut_before_sorting(P, T, count):
    wrong = np.flatnonzero(P.argmax(axis=1) != T)[:count]
    return wrong[np.argsort(-P[wrong].max(axis=1))]


# 5. a callback that remembers

BEGINS_LOW = 'The first loss is the lowest so far, however large: begin with `float("inf")`.'

stop_early = Exercise(
    "08_digits.stop_early",
    title="When to stop",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "A function inside a function, as in chapter 04. What must it remember from epoch to epoch? "
        "Two numbers are enough.",
        "Remember the best loss so far, and how many epochs ago it was. A closure may change what it "
        "captured, but to give a captured name a new value it needs `nonlocal`; or keep a list.",
        "On a new best: store it and set the age to 0. Otherwise add 1 to the age. Return whether the age "
        "has reached patience.",
    ),
)


def _new_learner(epoch=0):
    """Return a learner's state before an epoch, for a callback."""
    return SimpleNamespace(epoch=epoch, history=History())


def _end_epoch(learner, callback, loss, rng, power=-1.0):
    """Call a callback as fit does, and return whether it stops; the training loss falls, or rises."""
    learner.epoch += 1
    row = {"epoch": learner.epoch, "loss": learner.epoch**power}
    row |= {"validation_loss": loss, "validation_accuracy": rng.random()}
    learner.history.append(row)
    return bool(callback(learner, row))


@stop_early.check
def _(answer, rng):
    _expect_own_memory(answer, rng)
    for patience in (2, 1, 3, 5):
        for _ in range(8):
            losses = rng.permutation(np.linspace(0.2, 2.6, 13)).round(2)
            _expect_stop(answer(patience), losses, patience, rng)
    for _ in range(20):
        _expect_stop(answer(2), rng.choice([0.3, 0.4, 0.5, 0.6], 13), 2, rng)
    _expect_stop(answer(2), 0.5 - 1e-5 * np.arange(5), 2, rng)
    _expect_stop(answer(2), 1e9 * np.arange(5, 0, -1), 2, rng)
    _expect_stop(answer(2), np.array([0.3, 0.0, 0.5, 0.4]), 2, rng)
    with because('The learner has trained before: row["epoch"] need not begin at 1.'):
        _expect_stop(answer(2), np.array([0.5, 0.4, 0.3, 0.4, 0.5]), 2, rng, trained=4)
    return "random losses, some of them equal, four values of patience, and two callbacks at once"


def _expect_own_memory(answer, rng):
    """Require that each callback stores only what it has seen itself."""
    falling = (0.9, 0.8, 0.7)
    alone = _stops(answer(2), falling, rng)
    if alone[0]:
        raise CheckFailed(
            "with patience 2, a new callback stops after the first epoch, whose loss is the lowest so far: "
            "is something the wrong way round, or are another callback's losses still in there?"
        )
    first, second = answer(2), answer(2)
    _stops(first, (0.5, 0.6), rng)
    if _stops(second, falling, rng) != alone:
        raise CheckFailed(
            "after one callback has seen 0.50, 0.60, a second one treats 0.90, 0.80, 0.70 differently "
            "than it does alone: another callback's losses are in its memory; give each callback its own"
        )


def _stops(callback, losses, rng, power=-1.0):
    """Return whether a callback stops after each of some losses."""
    if not callable(callback):
        raise CheckFailed(
            f"stop_early(patience) must return a function, the callback, but returned {described(callback)}"
        )
    learner = _new_learner()
    return [_end_epoch(learner, callback, loss, rng, power) for loss in losses]


def _expect_stop(callback, losses, patience, rng, trained=0):
    """Require that a callback stops at the first epoch whose best is patience epochs old."""
    learner = _new_learner(trained)
    for epoch in range(1, len(losses) + 1):
        seen = losses[:epoch]
        age = epoch - 1 - int(seen.argmin())
        stops = _end_epoch(learner, callback, float(seen[-1]), rng)
        if stops != (age >= patience):
            what = "stops" if stops else "goes on"
            raise CheckFailed(
                f"with patience {patience} and losses {', '.join(f'{loss:.6g}' for loss in seen)} it {what} "
                f"after epoch {epoch}; the best, {seen.min():.6g}, is {age} epoch{'s' * (age != 1)} old"
            )
        if stops:
            return


@stop_early.probe
def _(answer, rng):
    stopped = []
    for patience in (0, 1, 2, 3):  # a callback that returns nothing does not stop for 0, either
        stopped.append(_stops(answer(patience), rng.permutation(np.linspace(0.2, 0.9, 13)), rng, 1.0))
    return stopped


def stopping(  # noqa: PLR0913  each is one way to be wrong
    of="validation_loss",
    lower=lambda loss, best: loss < best,
    begin=float("inf"),
    late=0,
    keeps_last=False,
    counts_all=False,
    anew=False,
):
    """Return a stop_early that looks elsewhere, compares or begins otherwise, or remembers other things."""

    def stop_early(patience):
        best, age = begin, 0

        def callback(learner, row):
            nonlocal best, age
            best, age = (begin, 0) if anew else (best, age)
            is_new = lower(row[of], best)
            best = row[of] if is_new or keeps_last else best
            age = age * counts_all if is_new else age + 1
            return age >= patience + late

        return callback

    return stop_early


for sentence, parts in (
    ("You compare with the epoch before; compare with the best of all epochs.", dict(keeps_last=True)),
    ("You stop one epoch late: when the age reaches patience, it is time.", dict(late=1)),
    ("A new best makes you patient again: set the age back to 0.", dict(counts_all=True)),
    (
        'This is the training loss, which falls to the end; look at row["validation_loss"].',
        dict(of="loss"),
    ),
    ("What it remembers is made anew in each call: make it once, outside of the callback.", dict(anew=True)),
    (
        "An equal loss is not a new lowest: compare with <, not with <=.",
        dict(lower=lambda loss, best: loss <= best),
    ),
    (
        "A loss of 0 counts as false, and is taken for missing: ask `is None`.",
        dict(lower=lambda loss, best: not best or loss < best),
    ),
    (
        "Every lower loss is a new lowest, by however little: leave out the margin.",
        dict(lower=lambda loss, best: loss < best - 1e-3),
    ),
    *((BEGINS_LOW, dict(begin=number)) for number in (1.0, 100.0)),
):
    stop_early.mistake(sentence)(stopping(**parts))


@stop_early.mistake(
    "A name that a function assigns is local; if it belongs to the outer function, declare it `nonlocal`."
)
def without_nonlocal(patience):
    best, age = float("inf"), 0  # noqa: F841 (the mistake itself)

    def callback(learner, row):
        if row["validation_loss"] < best:
            best, age = row["validation_loss"], 0  # noqa: F841
        else:
            age += 1
        return age >= patience

    return callback


# 6. a checkpoint that holds still

snapshot = Exercise(
    "08_digits.snapshot",
    title="The snapshot that moved",
    points=2,
    kind="repair",
    minutes=8,
    hints=(
        'Take a snapshot, print `saved["W"]`, train on, and print it again.',
        "`-=` changes an array in place. Where else is that same array used?",
        "A snapshot needs arrays of its own: `.copy()`.",
    ),
)


def _train(run, steps):
    """Take some steps, changing the arrays in place, as the exercise's `train` does."""
    for _ in range(steps):
        X = run["rng"].normal(size=(5, 3))
        error = X @ run["W"] + run["b"] - X[:, 0]
        run["W"] -= 0.1 * X.T @ error
        run["b"] -= 0.1 * error.sum()


def _restore(saved):
    """Make a run out of a snapshot, as the exercise's `restore` does."""
    rng = np.random.default_rng()
    rng.bit_generator.state = saved["rng"]
    return {"W": saved["W"].copy(), "b": saved["b"].copy(), "rng": rng}


@snapshot.check
def _(answer, rng):
    run = {"W": rng.normal(size=3), "b": rng.normal(size=1), "rng": np.random.default_rng(rng.integers(1000))}
    _train(run, 3)
    then = {"W": run["W"].copy(), "b": run["b"].copy()}
    state = run["rng"].bit_generator.state
    upcoming = _restore({**then, "rng": state})["rng"].normal(size=4)
    saved = answer(run)
    if run["rng"].bit_generator.state != state:
        raise CheckFailed("taking a snapshot draws from the run's generator: read only its state")
    _expect_a_snapshot(saved, run, then)
    if not np.array_equal(_restore(saved)["rng"].normal(size=4), upcoming):
        raise CheckFailed("the restored generator draws other numbers than the run would have drawn")
    _train(run, 4)
    later = answer(run)  # a second snapshot must not change the first
    for name in then:
        expect_values(f"{name} in a second snapshot", later[name], run[name], "the run's is now")
    for name, array in then.items():
        if not np.array_equal(saved[name], array):
            raise CheckFailed(
                f"{name} in the snapshot has changed while the run went on: it is the run's own array"
            )
    again = _restore(saved)
    _train(again, 4)
    for name in then:
        if not np.array_equal(again[name], run[name]):
            raise CheckFailed(f"after resuming, {name} is not that of the uninterrupted run, to the last bit")
    return "a resumed run equals the unbroken one, to the last bit"


def _expect_a_snapshot(saved, run, then):
    """Require that a snapshot holds the run's state, and does not change the run."""
    if not isinstance(saved, dict) or set(saved) != {"W", "b", "rng"}:
        raise CheckFailed(f'the snapshot must be a dict with "W", "b" and "rng", but is {_sketch(saved)}')
    if not isinstance(saved["rng"], dict):
        raise CheckFailed(
            f'saved["rng"] must be the generator\'s state, a dict, but is a {type(saved["rng"]).__name__}: '
            "a generator moves on with its run"
        )
    for name, array in then.items():
        if not np.array_equal(run[name], array):
            raise CheckFailed(f"taking a snapshot has changed the run's {name}")
        if not np.array_equal(saved[name], array):
            raise CheckFailed(f"{name} in the snapshot is not the run's {name} to the last bit")


def _sketch(saved):
    """Describe in a few words an object that is not a snapshot."""
    return (
        f"a dict with {', '.join(map(str, saved))}"
        if isinstance(saved, dict)
        else f"a {type(saved).__name__}"
    )
