"""The exercises of chapter 22: batch norm from shares, a weighted mean, broadcast, doubling, an optimizer."""

from dataclasses import dataclass

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    drawn_sizes,
    expect_guesses,
    expect_several,
    expect_values,
    explained,
    untouched,
)

# 1. batch norm in pieces

batch_norm_in_pieces = Exercise(
    "22_workers.batch_norm_in_pieces",
    title="Batch norm in pieces",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Which sums over the rows, divided once at the end, give a mean? And which a mean of squares?",
        "The variance is the mean of the squares minus the square of the mean. So send the sums of X, those "
        "of X * X, and the number of rows. (In float32, far from 0, that loses digits.)",
        "`np.concatenate([X.sum(axis=0), (X * X).sum(axis=0), [len(X)]])`; then total[-1] is the number of "
        "all rows.",
    ),
)


ALL_COLUMNS = "You add up all columns together: sum only over the rows, with `axis=0`."


@batch_norm_in_pieces.check
def _(answer, rng):
    (n_in,) = drawn_sizes(rng, N_IN)
    share_of, moments = expect_several(answer(), "share_of", "moments")
    for name, function in (("share_of", share_of), ("moments", moments)):
        if not callable(function):
            raise CheckFailed(f"{name} must be a function, but is {described(function)}")
    asked = 0  # rows so far, in this call of the answer
    for counts in ((4, 4), (1,), (7, 2, 1), (3, 0, 5)):
        spread, middle = np.resize([1.0, 3.0, 0.5], n_in), np.resize([0.0, 2.0, -1.0], n_in)
        X = rng.normal(size=(sum(counts), n_in)) * spread + middle
        parts = np.split(X, np.cumsum(counts)[:-1])
        with untouched(X=X):
            sent = [share_of(part) for part in parts]
        case = f"with shares of {', '.join(map(str, counts))} rows"
        for share in sent:
            if isinstance(share, list | tuple) and len({np.shape(part) for part in share}) > 1:
                raise CheckFailed(
                    f"{case}, share_of must return one array, but returned {described(share)} of arrays of "
                    "several shapes: put them in one row with np.concatenate"
                )
        shapes = {np.shape(share) for share in sent}
        if len(shapes) > 1:
            raise CheckFailed(
                f"{case}, the arrays sent have shapes {sorted(shapes)}, which cannot be added up"
            )
        for part, share in zip(parts, sent, strict=True):
            if not len(part) and np.isnan(np.asarray(share, dtype=float)).any():
                raise CheckFailed(
                    f"{case}, the worker without rows sends a nan: a mean of no rows is 0 / 0; send sums"
                )
        if np.size(sent[0]) > 2 * n_in + 1:
            raise CheckFailed(
                f"for n_in = {n_in} it sends {np.size(sent[0])} numbers; {2 * n_in + 1} are enough"
            )
        total, asked = sum(map(np.asarray, sent)), asked + len(X)
        with untouched(total=total):
            mean, variance = expect_several(moments(total), "mean", "variance")
        _refuse_known_mean(case, mean, X, parts, asked)
        with explained({"mean": mean}, {"mean": [(ALL_COLUMNS, X.sum() / len(X))]}):
            expect_values(f"{case}, the mean", mean, X.mean(axis=0))
        _refuse_known_variance(case, variance, X, parts)
        expect_values(f"{case}, the variance", variance, X.var(axis=0))
    return "equal shares, one worker, uneven shares, a share without rows"


def _refuse_known_mean(case, mean, X, parts, asked):
    """Refuse a mean that is wrong in a way that has a name."""
    sums, truth = X.sum(axis=0), X.mean(axis=0)
    if np.shape(mean) != truth.shape:
        return
    heard = [part.mean(axis=0) for part in parts if len(part)]
    named = {
        f"the sums are divided by {len(parts)}, the number of workers, and not by the {len(X)} rows": (
            sums / len(parts)
        ),
        f"the sums are divided by {X.size}, the count of all numbers, and not by the {len(X)} rows": (
            sums / X.size
        ),
        "the mean is that of the shares' means, in which every worker counts the same": np.mean(
            heard, axis=0
        ),
        "the mean is a sum that was not divided": sums,
        f"the sums are divided by {asked}, with the rows of earlier batches: send the number of rows, too": (
            sums / asked
        ),
        f"the sums are divided by {len(parts[-1])}, the rows of one worker, and not by all {len(X)}": (
            sums / len(parts[-1])
        ),
    }
    _refuse_known(case, mean, truth, named)


def _refuse_known(case, found, truth, named):
    """Raise CheckFailed with the explanation of a known wrong value."""
    for words, value in named.items():
        if np.allclose(found, value, rtol=1e-7) and not np.allclose(value, truth, rtol=1e-4):
            raise CheckFailed(f"{case}, {words}")


def _refuse_known_variance(case, variance, X, parts):
    """Raise CheckFailed with the explanation of a known wrong variance."""
    if np.shape(variance) != X.shape[1:] or len(X) < 2:
        return
    means = np.array([part.mean(axis=0) for part in parts if len(part)])
    squares = (X * X).mean(axis=0)
    named = {
        "the variance is only that inside the shares: the distances between their means belong to it, too": (
            sum(len(part) * part.var(axis=0) for part in parts if len(part)) / len(X)
        ),
        "that is the mean of the squares: subtract the square of the mean": squares,
        "that is the standard deviation, the root of the variance": X.std(axis=0),
        "it divides by one less than the number of rows; np.var divides by the number": X.var(axis=0, ddof=1),
        "the square of the mean is added, not subtracted": squares + X.mean(axis=0) ** 2,
        "that is the square of the mean minus the mean of the squares: reverse it": -X.var(axis=0),
        "the sums of the shares are squared; square each number of X, and then add up": (
            sum(part.sum(axis=0) ** 2 for part in parts) / len(X) - X.mean(axis=0) ** 2
        ),
        "it subtracts the square of the mean of the means, in which every worker counts the same": (
            squares - means.mean(axis=0) ** 2
        ),
    }
    _refuse_known(case, variance, X.var(axis=0), named)


@batch_norm_in_pieces.probe
def _(answer, rng):
    share_of, moments = answer()
    X = rng.normal(size=(BATCH, N_IN))
    return moments(share_of(X[:2]) + share_of(X[2:]))


# 2. repair an average

agreed_gradient = Exercise(
    "22_workers.agreed_gradient",
    title="Nothing to say",
    points=3,
    kind="repair",
    minutes=8,
    hints=(
        "Multiply each gradient by its count: that is a sum over examples. What do you divide by, once?",
        "A worker without examples must not enter the sum at all: 0 times nan is nan.",
        "Add up `count * gradient` over the pairs with `count > 0`, and divide by `sum(counts)`; if that is "
        "0, raise a ValueError.",
    ),
)


@agreed_gradient.check
def _(answer, rng):
    (n_in,) = drawn_sizes(rng, N_IN)
    for shape in ((n_in,), (n_in, 2)):
        for counts in ((4, 4), (1,), (6, 3, 2, 1), (2, 0, 1), (0, 5)):
            gradients = [rng.normal(size=shape) for _ in counts]
            for gradient, count in zip(gradients, counts, strict=True):
                gradient[...] = gradient if count else np.nan
            heard = [(gradient, count) for gradient, count in zip(gradients, counts, strict=True) if count]
            truth = sum(count * gradient for gradient, count in heard) / sum(counts)
            with untouched(**{f"gradients[{rank}]": gradient for rank, gradient in enumerate(gradients)}):
                found = answer(list(gradients), list(counts))
            case = f"with counts {', '.join(map(str, counts))}"
            if np.shape(found) == shape:
                _name_a_wrong_mean(case, np.asarray(found), heard, counts, truth)
            expect_values(f"{case}, it", found, truth)
    gradients = [rng.normal(size=n_in), rng.normal(size=n_in), np.full(n_in, np.nan)]
    gradients[1][0] = np.nan
    found = answer(gradients, [2, 1, 0])
    if np.shape(found) == (n_in,) and np.isfinite(found[0]):
        raise CheckFailed(
            f"with counts 2, 1, 0, worker 1 has an example, and a nan in its gradient; the result has "
            f"{found[0]:.4g} there, and hides the nan: leave out only the workers with 0 examples"
        )
    try:
        found = answer([np.full(n_in, np.nan)] * 2, [0, 0])
    except ValueError:
        return (
            "equal counts, uneven ones, workers without examples, no examples at all, and a nan that must "
            "stay"
        )
    except (ArithmeticError, LookupError) as error:
        found = error
    raise CheckFailed(
        f"without any examples it must raise a ValueError, but the outcome is {described(found)}"
    )


COUNTS_ALIKE = "every worker counts the same: let each count by its examples"
BY_WORKERS = "the sum is divided by the number of workers, and not of examples"


def _name_a_wrong_mean(case, found, heard, counts, truth):
    """Refuse a mean that is wrong in a way that has a name."""
    if np.isnan(found).any():
        raise CheckFailed(f"{case}, it is nan: leave out workers with 0 examples, since 0 times nan is nan")
    plain = np.mean([gradient for gradient, _ in heard], axis=0)
    weighted = sum(count * gradient for gradient, count in heard)
    named = {
        COUNTS_ALIKE: plain,
        "the sum over all examples is right; divide it by their number": weighted,
        BY_WORKERS: weighted / len(counts),
        "the gradients are added up, and not weighted": plain * len(heard),
        "every worker counts the same, also in the number of workers by which you divide": (
            plain * len(heard) / len(counts)
        ),
    }
    _refuse_known(case, found, truth, named)


@agreed_gradient.probe
def _(answer, rng):
    gradients = [rng.normal(size=N_IN), np.full(N_IN, np.nan), rng.normal(size=N_IN)]
    return answer(gradients, [2, 0, 1])


# 3. where workers go

different_starts = Exercise(
    "22_workers.different_starts",
    title="Different starts",
    points=3,
    kind="predict",
    minutes=10,
    hints=(
        "The three gradients at 0, 3 and 9 are -10, -4 and 8. All take the same step.",
        "Workers that take the same steps keep their distance. And where is the mean of the weights, when "
        "the mean gradient is 0?",
        "The mean begins at 4 and goes to 5. Worker 2 begins 5 above the mean, and stays 5 above it.",
    ),
)
STARTS = (0, 3, 9)


def _walk(weights, steps):
    """Return the weights after this many steps with the mean gradient of (w - 5)² and rate 0.25."""
    weights = np.array(weights, dtype=float)
    for _ in range(steps):
        weights -= 0.25 * np.mean(2 * (weights - 5))
    return weights


AGAINST_THE_SUM = "That is a step against the sum of the three gradients, and not against their mean"
SLIPS = {
    "worker 0's weight after one step": {
        2.5: "That is a step against its own gradient; all step against the mean of the three",
        0.25: "The gradient of (w - 5)² has the factor 2",
        1.5: AGAINST_THE_SUM,
        2: "That takes the whole mean gradient, without the learning rate",
        -0.5: "That is a step uphill: go against the gradient; subtracting -2 increases the weight",
        0: "That is its start; the mean of the three gradients is not 0",
    },
    "the largest weight minus the smallest after 100 steps": {
        0: "All take the same step, so no worker comes closer to another",
        -9: "The largest minus the smallest is positive",
        5: "That is the largest minus the mean",
    },
    "the mean of the weights after 100 steps": {
        4: "That is the mean at the start, where the mean gradient is still -2",
        4.5: "That is the mean after one step",
    },
    "worker 2's weight after 100 steps": {
        5: "That is the limit of the mean weight; worker 2 keeps its distance from it",
        9: "That is its start; it takes the same steps as the others",
        9.5: "That is its weight after one step",
    },
    "worker 0's weight after the broadcast and a step": {
        3.5: "That is the earlier step, taken from 3; after the broadcast the gradients are taken at 3, too",
        0.5: "That is without the broadcast, which makes all three weights 3",
        3: "That is the weight that was broadcast; a step follows",
        2.5: "That is a step from 0; worker 1 has broadcast, and its weight is 3",
        6: AGAINST_THE_SUM,
        2: "That is a step uphill: it goes against the gradient",
    },
}


@different_starts.check
def _(answer, rng):
    late, guesses = _walk(STARTS, 100), answer()
    numbers = (_walk(STARTS, 1)[0], np.ptp(late), late.mean(), late[2], _walk([3, 3, 3], 1)[0])
    guesses = tuple(guesses) if isinstance(guesses, np.ndarray) else guesses
    for guess, what, truth in zip(expect_several(guesses, *SLIPS), SLIPS, numbers, strict=True):
        try:
            expect_guesses(guess, {what: truth})
        except CheckFailed as no:
            known = isinstance(guess, int | float | np.number) and not isinstance(guess, bool)
            always = "All take the same step, so all distances stay the same" if "minus" in what else ""
            words = SLIPS[what].get(float(guess), always) if known else ""
            raise CheckFailed(f"{no.sentence}. {words}" if words else no.sentence) from None
    return "three workers, walked a hundred steps"


# 4. doubling

doubling = Exercise(
    "22_workers.doubling",
    title="Doubling instead of a ring",
    points=4,
    kind="fill",
    minutes=14,
    hints=(
        "The partners of worker 5 at distance 1, 2 and 4 are 4, 7 and 1. Look at these numbers in binary.",
        "`rank ^ distance` flips one binary digit: that is the partner. Make a new list in each step, so "
        "that no worker adds an array that has already changed.",
        "For each distance append to states a list with `held[rank] + held[rank ^ distance]` for every rank, "
        "where held is `states[-1]`; distance is 1, 2, 4 … while smaller than the number of workers.",
    ),
)


@doubling.check
def _(answer, rng):
    n_in, n_out = drawn_sizes(rng, N_IN, N_OUT)
    for count in (2, 4, 8, 16):
        arrays = [rng.normal(size=(n_in, n_out)) for _ in range(count)]  # more numbers than workers
        with untouched(**{f"arrays[{rank}]": array for rank, array in enumerate(arrays)}):
            states, copies = expect_several(answer(list(arrays)), "states", "copies")
        steps, case = int(np.log2(count)), f"of {count} workers"
        _expect_lists(case, states, steps, count)
        for step, state in enumerate(states):
            for rank, held in enumerate(state):
                _expect_held(case, step, rank, held, arrays)
        if isinstance(copies, bool) or np.ndim(copies) or not np.isclose(copies, steps):
            said = f"{copies:g}" if isinstance(copies, int | float | np.number) else described(copies)
            raise CheckFailed(
                f"{case}, copies is {said}; each worker sends one copy in each step, which makes {steps}"
            )
    return "2, 4, 8 and 16 workers: what each holds after each step, and copies"


def _expect_lists(case, states, steps, count):
    """Require a list of all workers' arrays for the beginning and after each step."""
    if not isinstance(states, list | tuple | np.ndarray):
        raise CheckFailed(f"{case}, states must be a list of lists of arrays, but is {described(states)}")
    for step, state in enumerate(states):
        if not isinstance(state, list | tuple | np.ndarray) or len(state) != count:
            size = f" of {len(state)}" if isinstance(state, list | tuple) else ""
            raise CheckFailed(
                f"{case}, states[{step}] must be a list of their arrays, but is {described(state)}{size}"
            )
    if len(states) != steps + 1:
        distances = ", ".join(str(2**k) for k in range(steps))
        raise CheckFailed(
            f"{case}, states has {len(states)} entr{'y' if len(states) == 1 else 'ies'}; it must have "
            f"{steps + 1}, for before the first step and after the step at distance {distances}"
        )
    if isinstance(states, list) and len({id(state) for state in states}) < len(states):
        raise CheckFailed(f"{case}, states contains the same list more than once: append a new one each time")


def _expect_held(case, step, rank, held, arrays):
    """Require that a worker holds the sum of the arrays it has received; describe another sum."""
    group = [other for other in range(len(arrays)) if other >> step == rank >> step]
    truth = sum(arrays[other] for other in group)
    when = f"after step {step}" if step else "before the first step"
    if np.shape(held) == truth.shape and not np.allclose(held, truth):
        if np.allclose(held, truth / len(group)):
            raise CheckFailed(f"{case}, {when}, worker {rank} holds a mean, not the sum")
        rows = np.reshape(arrays, (len(arrays), -1))
        parts = np.linalg.lstsq(rows.T, np.ravel(held), rcond=None)[0]
        whole = np.round(parts).astype(int)
        if np.allclose(whole @ rows, np.ravel(held)) and whole.min() >= 0 and whole.any():
            said = [f"{r}" + (f" ({n} times)" if n > 1 else "") for r, n in enumerate(whole) if n]
            partner = ""
            if step and whole.max() > 1:
                partner = "; add what the partner held before the step, not what it holds already"
            if step and whole.max() == 1 and whole[rank] and whole.sum() == len(group):
                distance = 2 ** (step - 1)
                partner = f" (its partner at distance {distance} is worker {rank ^ distance})"
            raise CheckFailed(
                f"{case}, {when}, worker {rank} holds the sum of what worker {', '.join(said)} brought; "
                f"it must hold that of worker {', '.join(map(str, group))}{partner}"
            )
    expect_values(f"{case}, {when}, what worker {rank} holds", held, truth)


@doubling.probe
def _(answer, rng):
    states, copies = answer([rng.normal(size=N_IN) for _ in range(4)])
    return *(np.array(state) for state in states), copies


# 5. a concurrent optimizer

concurrent = Exercise(
    "22_workers.Concurrent",
    title="Hand in your gradients",
    points=4,
    kind="fill",
    minutes=14,
    answer="class",
    changes=True,
    hints=(
        "Keep for each round the ranks that have handed in, a sum of `examples * gradient`, and a sum of "
        "examples.",
        "`examples * gradient` is a new array, and may be kept. `W -= …` changes the array that all share; "
        "`W = W - …` makes another one.",
        "Refuse first, then note, then ask whether all are there. After the step set the sums, and the list "
        "of ranks, to nothing.",
    ),
)


@concurrent.check
def _(answer, rng):
    for workers in (1, 2, 4):
        W, rate = rng.normal(size=N_IN), 0.25
        expected, machine = W.copy(), answer(W, workers, rate)
        for turn in range(3):
            gradients, zeros = list(rng.normal(size=(workers, N_IN))), ""
            if turn == 1 and workers > 1:
                gradients[0], zeros = np.zeros(N_IN), ", where one gradient is all zeros"
            meeting = _Round(
                f"with {workers} worker{'s' * (workers > 1)}, in round {turn + 1}{zeros}",
                machine,
                (W, expected, rate),
                gradients,
                [int(n) for n in rng.permutation([1, 2, 5, 9])[:workers]],
                [int(rank) for rank in rng.permutation(workers)],
            )
            # only now, so that its effect on a round shows
            meeting.hold(with_refusals=turn == 2 and workers > 1, is_first=turn == 0)
            expected = W.copy()
    _expect_two_apart(answer, rng)
    return "1, 2 and 4 workers in three rounds, in any order, a rank twice, and two optimizers in turn"


AFTER = (
    "a rank came twice and was refused, and then the round goes wrong, as none did before: a call that is "
    "refused must change nothing"
)


def _expect_two_apart(answer, rng):
    """Require that two optimizers, each right alone, are right when used in turn."""
    Ws, gradients = rng.normal(size=(2, N_IN)), rng.normal(size=(2, 2, N_IN))
    examples = (2, 5)
    truths = Ws - np.average(gradients, axis=0, weights=examples)
    arrays = [W.copy() for W in Ws]
    machines = [answer(W, 2, 1.0) for W in arrays]
    try:
        for rank in (0, 1):
            for machine, gradient in zip(machines, gradients[rank], strict=True):
                machine.hand_in(rank, gradient.copy(), examples[rank])
        apart = np.allclose(arrays, truths)
    except ValueError:
        apart = False
    if not apart:
        raise CheckFailed(
            "one optimizer alone is right, but of two that take turns one disturbs the other: each must keep "
            "its own round, on self, and begin it in __init__"
        )


@dataclass(frozen=True)
class _Round:
    """One round of an optimizer whose workers hand in gradients, one after the other.

    Parameters
    ----------
    case : str
        The beginning of each message.
    machine : object
        The optimizer from the answer.
    step : tuple of (array, array, float)
        Its array W, a copy of it from before the round, and the learning rate.
    gradients, examples : list
        Those of each worker.
    order : list of int
        The ranks, in the order of their calls.
    """

    case: str
    machine: object
    step: tuple
    gradients: list
    examples: list
    order: list

    def hold(self, with_refusals, is_first):
        """Let all ranks hand in; check each result and the step; optionally a rank calls again."""
        W, before, rate = self.step
        for place, rank in enumerate(self.order, start=1):
            room = self.gradients[rank].copy()
            after = AFTER if with_refusals and place > 1 else ""
            returned = self.hand_in(rank, room, after, is_first)
            if not np.array_equal(room, self.gradients[rank]):
                raise CheckFailed("it changes the gradient, which belongs to the worker: make a new array")
            room[...] = 1000.0  # the worker uses it again
            if place < len(self.order):
                self.expect_waiting(place, returned, after)
                for early in self.order[:place] if with_refusals else ():  # not the last one alone
                    self.expect_refusal(early)
        truth = before - rate * np.average(self.gradients, axis=0, weights=self.examples)
        if with_refusals and not (np.allclose(W, truth) and returned):
            raise CheckFailed(f"{self.case}, {AFTER}")
        if not isinstance(returned, bool | np.bool_):
            raise CheckFailed(
                f"{self.case}, the last call must return True, but returned {described(returned)}"
            )
        if not returned:
            raise CheckFailed(f"{self.case}, all gradients are there, but it reports no step")
        self.expect_step(is_first)

    def hand_in(self, rank, gradient, after, is_first):
        """Hand in a gradient; a refusal after the first round means that ranks were not cleared."""
        try:
            return self.machine.hand_in(rank, gradient, self.examples[rank])
        except ValueError as error:
            if is_first:
                raise
            words = after or (
                f"worker {rank} comes for the first time, and gets a ValueError ({error}): begin a round "
                "with nothing, also in the list of ranks"
            )
            raise CheckFailed(f"{self.case}, {words}") from error

    def expect_waiting(self, place, returned, after):
        """Require that nothing has changed yet."""
        W, before, _ = self.step
        if after and (returned or not np.array_equal(W, before)):
            raise CheckFailed(f"{self.case}, {after}")
        got = f"{place} of {len(self.order)} gradients"
        if not np.array_equal(W, before):
            raise CheckFailed(f"{self.case}, W changes after {got}: wait for all")
        if returned is None:
            raise CheckFailed(
                f"{self.case}, hand_in must return False while others are missing, but returned nothing"
            )
        if returned:
            raise CheckFailed(f"{self.case}, it reports a step after {got}")

    def expect_refusal(self, rank):
        """Require that the same worker is refused in the same round."""
        W, before, _ = self.step
        try:
            self.machine.hand_in(rank, np.ones(N_IN), 3)
        except ValueError:
            if np.array_equal(W, before):
                return
            raise CheckFailed(
                f"{self.case}, a worker that comes twice is refused, but W has changed"
            ) from None
        raise CheckFailed(f"{self.case}, worker {rank} hands in twice, but no ValueError is raised")

    def expect_step(self, is_first):
        """Require the step of the gradient over all examples."""
        case, (W, before, rate) = self.case, self.step
        if np.array_equal(W, before):
            raise CheckFailed(
                f"{case}, the array W is not changed: keep the array itself, not a copy, and change it by "
                "W -= …, since W = W - … makes another one"
            )
        brought = np.array(self.gradients)
        step, sizes = before - W, np.array(self.examples)[:, None]
        plain, weighted = rate * brought.sum(axis=0), rate * (sizes * brought).sum(axis=0)
        truth, first, last = weighted / sizes.sum(), self.order[0], self.order[-1]
        named = {
            COUNTS_ALIKE: plain / len(brought),
            "the gradients are added up, not divided": plain,
            "the step is that of the sum over all examples: divide by their number": weighted,
            BY_WORKERS: weighted / len(brought),
            "the step goes uphill": -truth,
            "only the last gradient is in the step": rate * brought[last],
            "only the first gradient is in the step": rate * brought[first],
            "the sum is only the last gradient, divided by the number of all examples": (
                rate * sizes[last] * brought[last] / sizes.sum()
            ),
            "the learning rate is missing in the step": truth / rate,
        }
        _refuse_known(case, step, truth, named)
        if np.abs(step).max() > 20:
            raise CheckFailed(
                f"{case}, the step uses the current content of a worker's array: keep a copy when it hands in"
            )
        if not is_first and not np.allclose(step, truth):
            raise CheckFailed(
                f"{case}, the step is wrong, but in round 1 it was right: clear all sums between rounds"
            )
        expect_values(f"{case}, W", W, before - truth)


@concurrent.probe
def _(answer, rng):
    W = rng.normal(size=N_IN)
    machine = answer(W, 2, 0.5)
    return machine.hand_in(1, rng.normal(size=N_IN), 2), machine.hand_in(0, rng.normal(size=N_IN), 1), W
