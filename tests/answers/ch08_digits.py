"""Answers to the exercises of chapter 08: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch08_digits import (
    interval,
    snapshot,
    split_by_writer,
    stop_early,
    surest_mistakes,
    three_bars,
)
from tests.answers import refused, refused_values, right

# 1. the bar and its square root


@right(three_bars)
def with_the_formula():
    def bar(p, count):
        return (p * (1 - p) / count) ** 0.5

    return bar(0.9, 900), bar(0.5, 100), 0.9 * 0.1 / 0.003**2


right(three_bars)(lambda: [0.03 / 3, 0.5 / 10, 100 * 10**2])


refused_values(
    three_bars,
    {
        (0.03 / 9, 0.05, 10_000): "so nine times the digits shorten the bar by √9, not by 9",
        (0.0033, 0.03, 1000): "so nine times the digits shorten the bar by √9, not by 9",
        (0.01, 0.03, 10_000): "The bar is longest for a share of one half: p (1 − p) is 0.25 there, not 0.09",
        (0.03, 0.05, 10_000): "That is the bar of 90 of 100; count has grown",
        (0.01, 0.05, 1000): "A bar ten times shorter needs a hundred times the digits",
        (0.0001, 0.0025, 10_000): "That is the square of the bar; take the root",
        (1.0, 5.0, 10_000): "That is in percent; write it as a share",
        ("0.01", "0.05", "10000"): "the bar for 810 of 900 must be numbers, but is a str",
    },
)


# 2. an interval that survives 20 right of 20


@right(interval)
def with_the_formula_of_wilson(right, count):
    p, s = right / count, 4 / count
    half = 2 * np.sqrt(p * (1 - p) / count + 1 / count**2)
    return (p + s / 2 - half) / (1 + s), (p + s / 2 + half) / (1 + s)


@right(interval)
def by_halving(right, count):
    p = right / count

    def end(q):
        inside = p
        for _ in range(60):
            middle = (inside + q) / 2
            if (p - middle) ** 2 <= 4 * middle * (1 - middle) / count:
                inside = middle
            else:
                q = middle
        return inside

    low = end(0.0) if right < count else count / (count + 4)
    high = end(1.0) if right > 0 else 4 / (count + 4)
    return (0.0 if right == 0 else low), (1.0 if right == count else high)


@right(interval)
def as_an_array(right, count):
    p = right / count
    return np.sort(np.roots([1 + 4 / count, -2 * p - 4 / count, p * p]))


@refused(interval, "the statement wants exactly 2; if you tried out values of q, solve the equation")
def on_a_grid(right, count):
    q = np.linspace(0, 1, 1001)
    near = q[abs(right / count - q) <= 2 * np.sqrt(q * (1 - q) / count)]
    return near.min(), near.max()


@refused(interval, "is 1 bar away; the statement wants exactly 2")
def one_bar_only(right, count):
    p, s = right / count, 1 / count
    half = np.sqrt(p * (1 - p) / count + s**2 / 4)
    return (p + s / 2 - half) / (1 + s), (p + s / 2 + half) / (1 + s)


@refused(interval, "is 1.88 bars away; the statement wants exactly 2")
def rule_of_three(right, count):
    if right in (0, count):
        return (0.0, 3 / count) if right == 0 else (1 - 3 / count, 1.0)
    return with_the_formula_of_wilson(right, count)


@refused(interval, "both ends are 1, and they must differ")
def certain_when_all_are_right(right, count):
    return (1.0, 1.0) if right == count else with_the_formula_of_wilson(right, count)


@refused(interval, "low must be below high")
def high_first(right, count):
    p = right / count
    return tuple(np.sort(np.roots([1 + 4 / count, -2 * p - 4 / count, p * p]))[::-1])


# 3. a split that keeps writers whole


@right(split_by_writer)
def with_a_set(writers, share, rng):
    names = sorted(set(writers.tolist()))
    order = rng.permutation(len(names))[: round(share * len(names))]
    chosen = {names[place] for place in order}
    return np.array([writer in chosen for writer in writers.tolist()])


@right(split_by_writer)
def with_one_draw_a_writer(writers, share, rng):
    names, number = np.unique(writers, return_inverse=True)
    rank = rng.random(len(names)).argsort().argsort()
    return rank[number] < round(share * len(names))


@right(split_by_writer)
def with_numbers_in_order_of_appearance(writers, share, rng):
    numbers = {}
    codes = [numbers.setdefault(writer, len(numbers)) for writer in writers.tolist()]
    flags = np.arange(len(numbers)) < round(share * len(numbers))
    rng.shuffle(flags)
    return flags[codes]


@refused(split_by_writer, "is in both parts")
def rows_at_random(writers, share, rng):
    order = rng.permutation(len(writers))
    return order < round(share * len(writers))


@refused(split_by_writer, "is in both parts")
def cut_between_rows(writers, share, rng):
    held_out = np.zeros(len(writers), dtype=bool)
    held_out[np.argsort(writers, kind="stable")[: round(share * len(writers))]] = True
    return held_out


@refused(split_by_writer, "in 400 calls the same writers are held out, Ann, Anna, Bo")
def always_the_first(writers, share, rng):
    names = np.unique(writers)
    return np.isin(writers, names[: round(share * len(names))])


@refused(split_by_writer, "with no seed of your own")
def seeded_inside(writers, share, rng):
    names = np.random.default_rng(0).permutation(np.unique(writers))
    return np.isin(writers, names[: round(share * len(names))])


@refused(split_by_writer, "use rng, which you are given")
def with_the_global_generator(writers, share, rng):
    names = np.random.permutation(np.unique(writers))
    return np.isin(writers, names[: round(share * len(names))])


@refused(split_by_writer, "so draw without replacement")
def with_replacement(writers, share, rng):
    names = np.unique(writers)
    return np.isin(writers, rng.choice(names, round(share * len(names))))


@refused(split_by_writer, "and from a list that has each writer once")
def rows_drawn_by_choice(writers, share, rng):
    wanted = round(share * len(np.unique(writers)))
    return np.isin(writers, rng.choice(writers, wanted, replace=False))


@refused(split_by_writer, "the number must be the same in every draw")
def each_by_chance(writers, share, rng):
    names = np.unique(writers)
    return np.isin(writers, names[rng.random(len(names)) < share])


@refused(split_by_writer, "and yours are 8; you returned the training writers")
def the_other_part(writers, share, rng):
    names = rng.permutation(np.unique(writers))
    return ~np.isin(writers, names[: round(share * len(names))])


def taking(number):
    """Return an answer that takes another number of writers."""

    def split_by_writer(writers, share, rng):
        names = rng.permutation(np.unique(writers))
        return np.isin(writers, names[: number(share, len(names), len(writers))])

    return split_by_writer


for words, number in {
    "and yours are 2; the statement has round(share * number of writers)": lambda share, names, _: int(
        share * names
    ),
    "0 of 4 writers were to be held out, and yours are 1": lambda share, names, _: max(
        1, round(share * names)
    ),
    "that is the share of the rows": lambda share, _, rows: round(share * rows),
    "at a share of 0.5, 2 of 5 writers were to be held out, and yours are 3; the statement has round": (
        lambda share, names, _: int(share * names + 0.5)
    ),
    "look at what your code does with the number 0": lambda share, names, _: round(share * names) or None,
    "at a share of 0, 0 of 4 writers": lambda share, names, _: round((share or 0.2) * names),
}.items():
    refused(split_by_writer, words)(taking(number))


@refused(split_by_writer, "compare whole names, not parts of them")
def names_in_one_text(writers, share, rng):
    names = rng.permutation(np.unique(writers))
    chosen = " ".join(map(str, names[: round(share * len(names))]))
    return np.array([str(writer) in chosen for writer in writers])


@refused(split_by_writer, "that would be right for sorted rows, but they come in any order")
def in_the_order_of_names(writers, share, rng):
    names, counts = np.unique(writers, return_counts=True)
    return np.repeat(rng.permutation(len(names)) < round(share * len(names)), counts)


@refused(split_by_writer, "yours is a list")
def as_a_list(writers, share, rng):
    return with_a_set(writers, share, rng).tolist()


@refused(split_by_writer, "it changes writers, which belongs to its caller")
def sorted_in_place(writers, share, rng):
    held_out = with_a_set(writers, share, rng)
    writers.sort()
    return held_out


@refused(split_by_writer, "yours has shape (3,)")
def the_writers_themselves(writers, share, rng):
    names = np.unique(writers)
    return rng.permutation(names)[: round(share * len(names))]


# 4. the mistakes worth looking at first


@refused(surest_mistakes, "place 0 is row")
def sorted_only_if_there_are_too_many(P, T, count):
    wrong = np.flatnonzero(P.argmax(axis=1) != T)
    return wrong[np.argsort(-P[wrong].max(axis=1))][:count] if len(wrong) > count else wrong


@right(surest_mistakes)
def with_sorted(P, T, count):
    wrong = [row for row in range(len(P)) if P[row].argmax() != T[row]]
    return sorted(wrong, key=lambda row: P[row].max(), reverse=True)[:count]


@right(surest_mistakes)
def with_a_mask(P, T, count):
    answers = P.argmax(axis=1)
    sure = np.where(answers == T, -1.0, P.max(axis=1))
    return np.argsort(-sure)[: min(count, np.sum(answers != T))]


@refused(surest_mistakes, "but the least sure comes first: reverse them")
def the_last_ones(P, T, count):
    wrong = np.flatnonzero(P.argmax(axis=1) != T)
    return wrong[np.argsort(P[wrong].max(axis=1))][-count:]


@refused(surest_mistakes, "rows are wrong, and you filled up to 30")
def filled_up(P, T, count):
    sure = np.where(P.argmax(axis=1) != T, P.max(axis=1), -1.0)
    return np.argsort(-sure)[:count]


@right(surest_mistakes)
def with_lexsort(P, T, count):
    right = P.argmax(axis=1) == T
    return np.lexsort((-P.max(axis=1), right))[: min(count, np.sum(~right))].tolist()


@refused(surest_mistakes, "14 are wrong, some of them equally sure: return 9 rows, not 7")
def by_a_dictionary_of_sureness(P, T, count):
    rows = {P[row].max(): row for row in range(len(P)) if P[row].argmax() != T[row]}
    return [rows[sure] for sure in sorted(rows, reverse=True)][:count]


@refused(surest_mistakes, "return 0 rows, not")
def counted_from_the_end(P, T, count):
    wrong = np.flatnonzero(P.argmax(axis=1) != T)
    return wrong[np.argsort(P[wrong].max(axis=1))][-count:][::-1]


# 5. a callback that remembers


@right(stop_early)
def with_a_list(patience):
    losses = []

    def callback(learner, row):
        losses.append(row["validation_loss"])
        return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])

    return callback


@right(stop_early)
def with_nonlocal(patience):
    best, age = np.inf, 0

    def callback(learner, row):
        nonlocal best, age
        if row["validation_loss"] < best:
            best, age = row["validation_loss"], 0
        else:
            age += 1
        return True if age == patience else None

    return callback


@right(stop_early)
def with_the_epoch_of_the_learner(patience):
    best, best_epoch = np.inf, 0

    def callback(learner, row):
        nonlocal best, best_epoch
        if row["validation_loss"] < best:
            best, best_epoch = row["validation_loss"], learner.epoch
        return learner.epoch - best_epoch >= patience

    return callback


@refused(stop_early, "need not begin at 1")
def compares_its_own_count_with_the_epoch(patience):
    losses = []

    def callback(learner, row):
        losses.append(row["validation_loss"])
        return row["epoch"] - 1 - np.argmin(losses) >= patience

    return callback


@refused(stop_early, "another callback's losses")
def one_list_for_good(patience, losses=[]):  # noqa: B006 (the mistake itself)
    def callback(learner, row):
        losses.append(row["validation_loss"])
        return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])

    return callback


@refused(stop_early, "another callback's losses are in its memory")
def one_memory_for_all(patience, memory={}):  # noqa: B006 (the mistake itself)
    memory[patience] = [np.inf, 0]

    def callback(learner, row):
        best, age = memory[patience]
        better = row["validation_loss"] < best
        memory[patience] = [min(best, row["validation_loss"]), 0 if better else age + 1]
        return memory[patience][1] >= patience

    return callback


# 6. a checkpoint that holds still


@right(snapshot)
def with_np_array(run):
    return {"W": np.array(run["W"]), "b": np.array(run["b"]), "rng": run["rng"].bit_generator.state}


@right(snapshot)
def with_deepcopy(run):
    from copy import deepcopy

    copied = deepcopy(run)
    copied["rng"] = copied["rng"].bit_generator.state
    return copied


@refused(snapshot, "W in the snapshot has changed while the run went on")
def not_copied(run):
    return {"W": run["W"], "b": run["b"].copy(), "rng": run["rng"].bit_generator.state}


@refused(snapshot, "W in the snapshot has changed while the run went on")
def a_view_is_no_copy(run):
    return {"W": run["W"][:], "b": run["b"][:], "rng": run["rng"].bit_generator.state}


@refused(snapshot, "must be the generator's state")
def the_generator_itself(run):
    return {"W": run["W"].copy(), "b": run["b"].copy(), "rng": run["rng"]}


@refused(snapshot, "draws other numbers")
def a_generator_from_the_start(run):
    return {"W": run["W"].copy(), "b": run["b"].copy(), "rng": np.random.default_rng(0).bit_generator.state}


@refused(snapshot, "taking a snapshot draws from the run's generator")
def a_seed_from_the_run(run):
    rng = np.random.default_rng(run["rng"].integers(2**32))
    return {"W": run["W"].copy(), "b": run["b"].copy(), "rng": rng.bit_generator.state}


@refused(snapshot, "not the run's W to the last bit")
def as_short_text(run):
    return {"W": run["W"].round(6), "b": run["b"].round(6), "rng": run["rng"].bit_generator.state}
