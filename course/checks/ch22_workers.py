"""The exercises of chapter 22: moments from shares, a weighted mean, different starts, doubling, hand in."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    expect_guesses,
    expect_several,
    expect_values,
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


@batch_norm_in_pieces.check
def _(answer, rng):
    share_of, moments = expect_several(answer(), "share_of", "moments")
    for name, function in (("share_of", share_of), ("moments", moments)):
        if not callable(function):
            raise CheckFailed(f"{name} must be a function, and is {described(function)}")
    for counts in ((4, 4), (1,), (7, 2, 1), (3, 0, 5)):
        X = rng.normal(size=(sum(counts), N_IN)) * [1.0, 3.0, 0.5] + [0.0, 2.0, -1.0]
        parts = np.split(X, np.cumsum(counts)[:-1])
        with untouched(X=X):
            sent = [share_of(part) for part in parts]
        shapes = {np.shape(share) for share in sent}
        case = f"with shares of {', '.join(map(str, counts))} rows"
        if len(shapes) > 1:
            raise CheckFailed(f"{case}, the arrays sent have shapes {sorted(shapes)}, and cannot be added up")
        for part, share in zip(parts, sent, strict=True):
            if not len(part) and np.isnan(np.asarray(share, dtype=float)).any():
                raise CheckFailed(
                    f"{case}, the worker without rows sends a nan: a mean of no rows is 0 / 0; send sums"
                )
        if np.size(sent[0]) > 2 * N_IN + 1:
            raise CheckFailed(
                f"for n_in = {N_IN} it sends {np.size(sent[0])} numbers; {2 * N_IN + 1} are enough"
            )
        mean, variance = expect_several(moments(sum(map(np.asarray, sent))), "mean", "variance")
        _refuse_known_mean(case, mean, X, parts)
        expect_values(f"{case}, the mean", mean, X.mean(axis=0))
        wrong = _known_variance(variance, X, parts)
        if wrong:
            raise CheckFailed(f"{case}, {wrong}")
        expect_values(f"{case}, the variance", variance, X.var(axis=0))
    return "equal shares, one worker, uneven shares, a share without rows"


def _refuse_known_mean(case, mean, X, parts):
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
        "the mean is that of the shares' means, in which each worker counts alike": np.mean(heard, axis=0),
        "the mean is a sum that was not divided": sums,
    }
    for words, value in named.items():
        if np.allclose(mean, value) and not np.allclose(value, truth):
            raise CheckFailed(f"{case}, {words}")


def _known_variance(variance, X, parts):
    """Return what is wrong with a variance, where it has a name."""
    if np.shape(variance) != X.shape[1:] or len(X) < 2:
        return None
    means = np.array([part.mean(axis=0) for part in parts if len(part)])
    squares = (X * X).mean(axis=0)
    named = {
        "the variance is that inside the shares only: that the shares have different means belongs to it": (
            sum(len(part) * part.var(axis=0) for part in parts if len(part)) / len(X)
        ),
        "that is the mean of the squares: the square of the mean is still in it": squares,
        "that is the standard deviation, the root of the variance": X.std(axis=0),
        "it divides by one less than the number of rows; np.var divides by the number": X.var(axis=0, ddof=1),
        "the square of the mean is added, and not taken away": squares + X.mean(axis=0) ** 2,
        "it takes away the square of the mean of the means, in which each worker counts alike": (
            squares - means.mean(axis=0) ** 2
        ),
    }
    for words, value in named.items():
        if np.allclose(variance, value, rtol=1e-7) and not np.allclose(value, X.var(axis=0), rtol=1e-4):
            return words
    return None


@batch_norm_in_pieces.probe
def _(answer, rng):
    share_of, moments = answer()
    X = rng.normal(size=(BATCH, N_IN))
    return moments(share_of(X[:2]) + share_of(X[2:]))


@batch_norm_in_pieces.right
def as_rows():
    def share_of(X):
        rows = [(*x, *(x * x), 1.0) for x in X]
        return np.sum(rows, axis=0) if rows else np.zeros(2 * X.shape[1] + 1)

    def moments(total):
        *sums, n = total
        first, second = np.reshape(sums, (2, -1)) / n
        return first, second - first * first

    return share_of, moments


def _ones_and(X):
    """Return rows of a one and X, so that a product brings all sums."""
    return np.column_stack([np.ones(len(X)), X])


@batch_norm_in_pieces.right
def by_products():
    def share_of(X):
        ones = np.ones(len(X))
        return np.hstack([ones @ _ones_and(X), ones @ (X**2)])

    def moments(total):
        half = len(total) // 2 + 1
        mean = total[1:half] / total[0]
        return mean, total[half:] / total[0] - mean**2

    return share_of, moments


def _pieces(share_of, moments):
    """Return an answer of two functions, for the mistakes."""
    return lambda: (share_of, moments)


def _sums(X):
    return np.concatenate([X.sum(axis=0), (X * X).sum(axis=0), [len(X)]])


def _read(total):
    first, second = np.split(total[:-1], 2)
    return first / total[-1], second / total[-1]


@batch_norm_in_pieces.mistake("the variance is that inside the shares only")
def mean_of_variances():
    def share_of(X):
        variance = X.var(axis=0) if len(X) else np.zeros(X.shape[1])
        return np.concatenate([X.sum(axis=0), len(X) * variance, [len(X)]])

    return share_of, _read


batch_norm_in_pieces.mistake("the square of the mean is still in it")(_pieces(_sums, _read))


@batch_norm_in_pieces.mistake("that is the standard deviation, the root of the variance")
def takes_the_root():
    return _sums, lambda total: (_read(total)[0], np.sqrt(_read(total)[1] - _read(total)[0] ** 2))


@batch_norm_in_pieces.mistake("it divides by one less than the number of rows")
def divides_by_one_less():
    def moments(total):
        mean, squares = _read(total)
        n = total[-1]
        return mean, (squares - mean**2) * n / max(n - 1, 1)

    return _sums, moments


@batch_norm_in_pieces.mistake("the square of the mean is added, and not taken away")
def adds_the_square():
    return _sums, lambda total: (_read(total)[0], _read(total)[1] + _read(total)[0] ** 2)


@batch_norm_in_pieces.mistake("with shares of 7, 2, 1 rows, the mean is that of the shares' means")
def mean_of_means():
    def share_of(X):
        return np.concatenate([X.mean(axis=0), (X * X).mean(axis=0), [1]])

    def moments(total):
        mean, squares = _read(total)
        return mean, squares - mean**2

    return share_of, moments


@batch_norm_in_pieces.mistake("the sums are divided by 2, the number of workers, and not by the 8 rows")
def counts_workers():
    return lambda X: np.append(_sums(X)[:-1], 1), _read


@batch_norm_in_pieces.mistake("the sums are divided by 24, the count of all numbers, and not by the 8 rows")
def counts_numbers():
    return lambda X: np.append(_sums(X)[:-1], X.size), _read


@batch_norm_in_pieces.mistake("with shares of 3, 0, 5 rows, the worker without rows sends a nan")
def weights_the_means():
    def share_of(X):
        with np.errstate(invalid="ignore"):
            means = _sums(X)[:-1] / len(X)
        return np.append(len(X) * means, len(X))

    return share_of, lambda total: (_read(total)[0], _read(total)[1] - _read(total)[0] ** 2)


@batch_norm_in_pieces.mistake("the mean is a sum that was not divided")
def forgets_to_divide():
    return _sums, lambda total: (total[:N_IN], total[N_IN:-1])


@batch_norm_in_pieces.mistake("for n_in = 3 it sends 12 numbers; 7 are enough")
def sends_everything():
    return lambda X: X, lambda total: (total.mean(axis=0), total.var(axis=0))


@batch_norm_in_pieces.mistake("share_of must be a function, and is one array of shape (7,)")
def returns_numbers():
    return np.ones(7), np.ones(3)


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
    for shape in ((N_IN,), (N_IN, 2)):
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
    gradients = [rng.normal(size=N_IN), rng.normal(size=N_IN), np.full(N_IN, np.nan)]
    gradients[1][0] = np.nan
    found = answer(gradients, [2, 1, 0])
    if np.shape(found) == (N_IN,) and np.isfinite(found[0]):
        raise CheckFailed(
            f"with counts 2, 1, 0, worker 1 has an example, and a nan in its gradient; the result has "
            f"{found[0]:.4g} there, and hides the nan: leave out only who had 0 examples"
        )
    try:
        found = answer([np.full(N_IN, np.nan)] * 2, [0, 0])
    except ValueError:
        return (
            "equal counts, uneven ones, workers without examples, nobody with any, and a nan that must stay"
        )
    except (ArithmeticError, LookupError) as error:
        found = error
    raise CheckFailed(f"if nobody had an example, a ValueError is wanted, and {described(found)} came")


def _name_a_wrong_mean(case, found, heard, counts, truth):
    """Refuse a mean that is wrong in a way that has a name."""
    if np.isnan(found).any():
        raise CheckFailed(f"{case}, it is nan: who had 0 examples must be left out, since 0 times nan is nan")
    plain = np.mean([gradient for gradient, _ in heard], axis=0)
    weighted = sum(count * gradient for gradient, count in heard)
    named = {
        "each worker counts alike: it must count by its examples": plain,
        "the sum over all examples is right; divide it by their number": weighted,
        "the sum is divided by the number of workers, and not of examples": weighted / len(counts),
        "the gradients are added up, and not weighted": plain * len(heard),
        "each worker counts alike, also in the number of workers by which you divide": (
            plain * len(heard) / len(counts)
        ),
    }
    for words, value in named.items():
        if np.allclose(found, value) and not np.allclose(value, truth):
            raise CheckFailed(f"{case}, {words}")


@agreed_gradient.probe
def _(answer, rng):
    gradients = [rng.normal(size=N_IN), np.full(N_IN, np.nan), rng.normal(size=N_IN)]
    return answer(gradients, [2, 0, 1])


@agreed_gradient.right
def with_average(gradients, counts):
    counts = np.asarray(counts)
    if not counts.any():
        raise ValueError("nobody had an example")
    return np.average(np.array(gradients)[counts > 0], axis=0, weights=counts[counts > 0])


@agreed_gradient.right
def in_a_loop(gradients, counts):
    total, examples = np.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        if count:
            total += gradient * count
            examples += count
    if examples == 0:
        raise ValueError("no examples at all")
    return total / examples


@agreed_gradient.mistake("each worker counts alike: it must count by its examples")
def not_repaired(gradients, counts):
    total = np.zeros_like(gradients[0])
    for gradient in gradients:
        total += gradient
    return total / len(gradients)


@agreed_gradient.mistake("0 times nan is nan")
def multiplies_by_zero(gradients, counts):
    return sum(count * gradient for gradient, count in zip(gradients, counts, strict=True)) / sum(counts)


@agreed_gradient.mistake("each worker counts alike: it must count by its examples")
def leaves_out_and_no_more(gradients, counts):
    return np.mean([gradient for gradient, count in zip(gradients, counts, strict=True) if count], axis=0)


@agreed_gradient.mistake("the sum over all examples is right; divide it by their number")
def does_not_divide(gradients, counts):
    return sum(count * gradient for gradient, count in zip(gradients, counts, strict=True) if count)


@agreed_gradient.mistake("the sum is divided by the number of workers, and not of examples")
def divides_by_workers(gradients, counts):
    return does_not_divide(gradients, counts) / len(counts)


@agreed_gradient.mistake("if nobody had an example, a ValueError is wanted")
def says_nothing(gradients, counts):
    if sum(counts) == 0:
        return np.zeros_like(gradients[0])
    return does_not_divide(gradients, counts) / sum(counts)


@agreed_gradient.mistake("a ValueError is wanted, and a ZeroDivisionError came")
def divides_by_nobody(gradients, counts):
    return does_not_divide(gradients, counts) / sum(counts)


@agreed_gradient.mistake("and hides the nan: leave out only who had 0 examples")
def replaces_nan(gradients, counts):
    gradients = [count * np.nan_to_num(gradient) for gradient, count in zip(gradients, counts, strict=True)]
    return sum(gradients) / sum(counts)


@agreed_gradient.mistake("and hides the nan: leave out only who had 0 examples")
def leaves_out_who_has_nan(gradients, counts):
    pairs = [(g, n) for g, n in zip(gradients, counts, strict=True) if not np.isnan(g).any()]
    return sum(n * gradient for gradient, n in pairs) / sum(n for _, n in pairs)


@agreed_gradient.mistake("it changes gradients[0], which belongs to its caller")
def weights_in_place(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        gradient *= count
    return sum(gradient for gradient, count in zip(gradients, counts, strict=True) if count) / sum(counts)


# 3. where workers go

different_starts = Exercise(
    "22_workers.different_starts",
    title="Different starts",
    points=3,
    kind="predict",
    minutes=10,
    hints=(
        "The three gradients at 0, 3 and 9 are -10, -4 and 8. All take the same step.",
        "Who takes the same steps keeps the distance. And where is the mean of the weights, when the mean "
        "gradient is 0?",
        "The mean begins at 4 and goes to 5. Worker 2 is 5 above the mean at the start, and so for ever.",
    ),
)
STARTS = (0, 3, 9)


def _walk(weights, steps):
    """Return the weights after so many steps with the mean gradient of (w - 5)² and rate 0.25."""
    weights = np.array(weights, dtype=float)
    for _ in range(steps):
        weights -= 0.25 * np.mean(2 * (weights - 5))
    return weights


SLIPS = {
    "worker 0's weight after one step": {
        2.5: "That is a step against its own gradient; all step against the mean of the three",
        0.25: "The gradient of (w - 5)² has the factor 2",
        1.5: "That is a step against the sum of the three gradients; their mean is wanted",
        2: "That takes the whole mean gradient, without the learning rate",
        -0.5: "That is a step uphill: it goes against the gradient, and -2 taken away makes more",
        0: "That is where it began; the mean of the three gradients is not 0",
    },
    "the largest weight minus the smallest, after 100 steps": {
        0: "All take the same step, so nobody comes nearer to anybody",
        -9: "The largest minus the smallest is positive",
        5: "That is the largest minus the mean",
    },
    "the mean of the weights, after 100 steps": {
        4: "That is the mean at the start, where the mean gradient is still -2",
        4.5: "That is the mean after one step",
    },
    "worker 2's weight, after 100 steps": {
        5: "That is where the mean of the weights goes; worker 2 keeps its distance from it",
        9: "That is where it began; it takes the same steps as the others",
        9.5: "That is its weight after one step",
    },
    "worker 0's weight after the broadcast and a step": {
        3.5: "That is 3 and the step of before; the gradients are found at the new weights",
        0.5: "That is without the broadcast, which makes all three weights 3",
        3: "That is the weight that was broadcast; a step follows",
        2.5: "That is a step from 0; worker 1 has broadcast, and its weight is 3",
        6: "That is a step against the sum of the three gradients; their mean is wanted",
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
            always = "All take the same step, so each keeps its distance from each" if "minus" in what else ""
            words = SLIPS[what].get(float(guess), always) if known else ""
            raise CheckFailed(f"{no.sentence}. {words}" if words else no.sentence) from None
    return "three workers, walked a hundred steps"


@different_starts.right
def as_an_array():
    return np.array([0.5, 9.0, 5.0, 10.0, 4.0])


@different_starts.right
def by_walking():
    w = np.array([0.0, 3.0, 9.0])
    ends = w + 5 - w.mean()
    return [w[0] + 0.25 * 2, ends.max() - ends.min(), ends.mean(), ends[2], 3 + 0.25 * 4]


@different_starts.mistake("That is a step against its own gradient; all step against the mean of the three")
def own_gradient():
    return 2.5, 0, 5, 5, 4


@different_starts.mistake("That is a step against the sum of the three gradients; their mean is wanted")
def sum_of_gradients():
    return 1.5, 9, 5, 10, 6


@different_starts.mistake("The gradient of (w - 5)² has the factor 2")
def forgets_the_factor():
    return 0.25, 9, 5, 10, 3.5


@different_starts.mistake("without the learning rate")
def whole_gradient():
    return 2, 9, 5, 10, 7


@different_starts.mistake("That is a step uphill")
def uphill():
    return -0.5, 9, 5, 10, 2


@different_starts.mistake("All take the same step, so nobody comes nearer to anybody")
def they_meet():
    return 0.5, 0, 5, 5, 4


@different_starts.mistake("All take the same step, so each keeps its distance from each")
def they_come_nearer():
    return 0.5, 4.5, 5, 10, 4


@different_starts.mistake("That is the mean at the start, where the mean gradient is still -2")
def mean_stays():
    return 0.5, 9, 4, 9, 4


@different_starts.mistake("worker 2 keeps its distance from it")
def only_one_arrives():
    return 0.5, 9, 5, 5, 4


@different_starts.mistake("it takes the same steps as the others")
def worker_2_stays():
    return 0.5, 9, 5, 9, 4


@different_starts.mistake("That is without the broadcast, which makes all three weights 3")
def forgets_the_broadcast():
    return 0.5, 9, 5, 10, 0.5


@different_starts.mistake("the gradients are found at the new weights")
def takes_the_old_gradients():
    return 0.5, 9, 5, 10, 3.5


# 4. doubling

doubling = Exercise(
    "22_workers.doubling",
    title="Doubling instead of a ring",
    points=4,
    kind="fill",
    minutes=14,
    hints=(
        "Who is the partner of worker 5 at distance 1, 2 and 4? 4, 7 and 1. Look at these numbers in binary.",
        "`rank ^ distance` flips one binary digit: that is the partner. Make a new list in each step: nobody "
        "shall add what has been changed already.",
        "For each distance append to states a list with `held[rank] + held[rank ^ distance]` for every rank, "
        "where held is `states[-1]`; distance is 1, 2, 4 … while smaller than the number of workers.",
    ),
)


@doubling.check
def _(answer, rng):
    for count in (2, 4, 8, 16):
        arrays = [rng.normal(size=(N_IN, N_OUT)) for _ in range(count)]  # more numbers than workers
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
    """Ask whether there is a list of all workers' arrays for each step, and for the beginning."""
    if not isinstance(states, list | tuple | np.ndarray):
        raise CheckFailed(f"{case}, states must be a list of lists of arrays, and is {described(states)}")
    for step, state in enumerate(states):
        if not isinstance(state, list | tuple | np.ndarray) or len(state) != count:
            size = f" of {len(state)}" if isinstance(state, list | tuple) else ""
            raise CheckFailed(
                f"{case}, states[{step}] must be a list of their arrays, and is {described(state)}{size}"
            )
    if len(states) != steps + 1:
        distances = ", ".join(str(2**k) for k in range(steps))
        raise CheckFailed(
            f"{case}, states has {len(states)} entr{'y' if len(states) == 1 else 'ies'}; it must have "
            f"{steps + 1}, for before the first step and after the step at distance {distances}"
        )
    if isinstance(states, list) and len({id(state) for state in states}) < len(states):
        raise CheckFailed(f"{case}, the same list stands in states more than once: note a new one each time")


def _expect_held(case, step, rank, held, arrays):
    """Ask whether a worker holds the sum of the arrays that have come to it; if not, say which it holds."""
    group = [other for other in range(len(arrays)) if other >> step == rank >> step]
    truth = sum(arrays[other] for other in group)
    when = f"after step {step}" if step else "before the first step"
    if np.shape(held) == truth.shape and not np.allclose(held, truth):
        if np.allclose(held, truth / len(group)):
            raise CheckFailed(f"{case}, {when}, worker {rank} holds a mean: the sum is wanted")
        rows = np.reshape(arrays, (len(arrays), -1))
        parts = np.linalg.lstsq(rows.T, np.ravel(held), rcond=None)[0]
        whole = np.round(parts).astype(int)
        if np.allclose(whole @ rows, np.ravel(held)) and whole.min() >= 0 and whole.any():
            said = [f"{r}" + (f" ({n} times)" if n > 1 else "") for r, n in enumerate(whole) if n]
            wanted = ", ".join(map(str, group))
            partner = ""
            if step and whole.max() == 1 and whole[rank] and whole.sum() == len(group):
                distance = 2 ** (step - 1)
                partner = f" (its partner at distance {distance} is worker {rank ^ distance})"
            raise CheckFailed(
                f"{case}, {when}, worker {rank} holds the sum of what worker {', '.join(said)} brought; "
                f"that of worker {wanted} is wanted{partner}"
            )
    expect_values(f"{case}, {when}, what worker {rank} holds", held, truth)


@doubling.probe
def _(answer, rng):
    states, copies = answer([rng.normal(size=N_IN) for _ in range(4)])
    return *(np.array(state) for state in states), copies


@doubling.right
def with_array(arrays):
    states, ranks = [np.array(arrays)], np.arange(len(arrays))
    while 2 ** (len(states) - 1) < len(arrays):
        states.append(states[-1] + states[-1][ranks ^ 2 ** (len(states) - 1)])
    return np.array(states), len(states) - 1


@doubling.right
def with_groups(arrays):
    held, distance, copies = list(arrays), 1, 0
    states = [tuple(held)]
    while distance < len(arrays):
        before = list(held)
        for rank in range(len(held)):
            partner = rank + distance if rank // distance % 2 == 0 else rank - distance
            held[rank] = before[rank] + before[partner]
        states.append(tuple(held))
        distance *= 2
        copies += 1
    return tuple(states), float(copies)


@doubling.right
def asks_after_the_exchange(arrays):
    states, distance = [arrays], 1
    while True:
        states.append([states[-1][rank] + states[-1][rank ^ distance] for rank in range(len(arrays))])
        distance *= 2
        if distance >= len(arrays):
            return states, len(states) - 1


def _doubled(partner, distances=None):
    """Return an answer whose partners, or distances, are others."""

    def answer(arrays):
        count, states = len(arrays), [list(arrays)]
        for distance in distances(count) if distances else _powers(count):
            held = states[-1]
            states.append([own + held[partner(rank, distance, count)] for rank, own in enumerate(held)])
        return states, len(states) - 1

    return answer


def _powers(count):
    return [2**k for k in range(count.bit_length() - 1)]


@doubling.mistake("after step 1, worker 1 holds the sum of what worker 0, 1 (2 times) brought")
def adds_what_is_changed(arrays):
    states, distance = [list(arrays)], 1
    while distance < len(arrays):
        held = list(states[-1])
        for rank in range(len(held)):
            held[rank] = held[rank] + held[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


@doubling.mistake("it changes arrays[0], which belongs to its caller")
def adds_in_place(arrays):
    states, distance = [list(arrays)], 1
    while distance < len(arrays):
        held, before = list(states[-1]), [array.copy() for array in states[-1]]
        for rank in range(len(held)):
            held[rank] += before[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


@doubling.mistake("the same list stands in states more than once")
def notes_one_list(arrays):
    held, distance, states = list(arrays), 1, []
    states.append(held)
    while distance < len(held):
        before = list(held)
        for rank in range(len(held)):
            held[rank] = before[rank] + before[rank ^ distance]
        states.append(held)
        distance *= 2
    return states, len(states) - 1


doubling.mistake(
    "worker 1 holds the sum of what worker 1, 2 brought; that of worker 0, 1 is wanted (its partner"
)(_doubled(lambda rank, distance, count: (rank + distance) % count))
doubling.mistake("of 4 workers, after step 1, worker 0 holds the sum of what worker 0, 2 brought")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: _powers(count)[::-1])
)
doubling.mistake("of 4 workers, states has 4 entries; it must have 3")(
    _doubled(lambda rank, distance, count: (rank + distance) % count, lambda count: range(1, count))
)
doubling.mistake("of 4 workers, states has 2 entries; it must have 3")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: [1] * (count > 1))
)
doubling.mistake("of 8 workers, states has 3 entries; it must have 4")(
    _doubled(lambda rank, distance, count: rank ^ distance, lambda count: _powers(count)[:2])
)


@doubling.mistake("worker 0 holds the sum of what worker 0, 1, 2, 3 brought; that of worker 0, 1 is wanted")
def adds_up_at_once(arrays):
    steps = len(arrays).bit_length() - 1
    return [list(arrays), *([sum(arrays)] * len(arrays) for _ in range(steps))], steps


@doubling.mistake("copies is 1.5; each worker sends one copy in each step, which makes 2")
def copies_of_a_ring(arrays):
    return with_array(arrays)[0], 2 * (len(arrays) - 1) / len(arrays)


@doubling.mistake("of 2 workers, copies is 2; each worker sends one copy in each step, which makes 1")
def copies_of_all(arrays):
    states, steps = with_array(arrays)
    return states, len(arrays) * steps


@doubling.mistake("worker 0 holds a mean: the sum is wanted")
def takes_the_mean(arrays):
    states, steps = with_array(arrays)
    return [[array / 2**step for array in state] for step, state in enumerate(states)], steps


@doubling.mistake("it must return states and copies, and returned a list of 3")
def returns_states_alone(arrays):
    return list(with_array([*arrays, *arrays])[0])


@doubling.mistake("states[0] must be a list of their arrays, and is one array of shape (3, 7)")
def returns_the_end_alone(arrays):
    states, steps = with_array(arrays)
    return states[-1], steps


# 5. a concurrent optimizer

concurrent = Exercise(
    "22_workers.Concurrent",
    title="Hand in your gradients",
    points=4,
    kind="fill",
    minutes=14,
    changes=True,
    hints=(
        "Keep for each round who has handed in, a sum of `examples * gradient`, and a sum of examples.",
        "`examples * gradient` is a new array, and may be kept. `W -= …` changes the array that all share; "
        "`W = W - …` makes another one.",
        "Refuse first, then note, then ask whether all are there. After the step set the sums, and the list "
        "of who came, back to nothing.",
    ),
)


@concurrent.check
def _(answer, rng):
    for workers in (1, 2, 4):
        W, rate = rng.normal(size=N_IN), 0.25
        expected, machine = W.copy(), answer(W, workers, rate)
        for turn in range(3):
            examples = [int(n) for n in rng.permutation([1, 2, 5, 9])[:workers]]
            gradients = [rng.normal(size=N_IN) for _ in range(workers)]
            order = [int(rank) for rank in rng.permutation(workers)]
            case = f"with {workers} worker{'s' * (workers > 1)}, in round {turn + 1}"
            refused = turn == 2 and workers > 1  # not sooner: so that what it does to a round is seen
            for place, rank in enumerate(order, start=1):
                room = gradients[rank].copy()
                after = AFTER if refused and place > 1 else ""
                returned = _handed_in(case, machine, rank, room, examples[rank], turn, after)
                if not np.array_equal(room, gradients[rank]):
                    raise CheckFailed(
                        "it changes the gradient, which belongs to the worker: make a new array"
                    )
                room[...] = 1000.0  # the worker uses it again
                if place < workers:
                    _expect_waiting(case, place, workers, returned, W, expected, after)
                    if place == 1 and refused:
                        _expect_refusal(case, machine, rank, W, expected)
            truth = expected - rate * np.average(gradients, axis=0, weights=examples)
            if refused and not (np.allclose(W, truth) and returned):
                raise CheckFailed(f"{case}, {AFTER}")
            if not isinstance(returned, bool | np.bool_):
                raise CheckFailed(f"{case}, the last one must be told True, and {described(returned)} came")
            if not returned:
                raise CheckFailed(f"{case}, all are there, and it says that no step was taken")
            _expect_step(case, W, expected, gradients, examples, rate, order)
            expected = W.copy()
    _expect_two_apart(answer, rng)
    return "1, 2 and 4 workers in three rounds, in any order, who comes twice, and two optimizers in turn"


AFTER = (
    "one came twice and was refused, and the round goes wrong after that, as none did before: a call that is "
    "refused must change nothing"
)


def _expect_two_apart(answer, rng):
    """Ask whether two optimizers, each of which is right alone, are so when they take turns."""
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


def _handed_in(case, machine, rank, gradient, examples, turn, after):
    """Hand in a gradient; who is refused, and was not in the first round, has not been forgotten since."""
    try:
        return machine.hand_in(rank, gradient, examples)
    except ValueError as error:
        if turn == 0:
            raise
        words = after or (
            f"worker {rank} comes for the first time, and gets a ValueError ({error}): begin a round with "
            "nothing, also in the list of who has come"
        )
        raise CheckFailed(f"{case}, {words}") from error


def _expect_waiting(case, place, workers, returned, W, expected, after):
    """Ask whether nothing has happened yet."""
    if after and (returned or not np.array_equal(W, expected)):
        raise CheckFailed(f"{case}, {after}")
    if not np.array_equal(W, expected):
        raise CheckFailed(f"{case}, W changes after {place} of {workers} gradients: wait for all")
    if returned is None:
        raise CheckFailed(f"{case}, hand_in must return False while others are missing, and returned nothing")
    if returned:
        raise CheckFailed(f"{case}, it says that a step was taken, after {place} of {workers} gradients")


def _expect_refusal(case, machine, rank, W, expected):
    """Ask whether the same worker is refused in the same round."""
    try:
        machine.hand_in(rank, np.ones(N_IN), 3)
    except ValueError:
        if np.array_equal(W, expected):
            return
        raise CheckFailed(f"{case}, a worker who comes twice is refused, but W has changed") from None
    raise CheckFailed(f"{case}, worker {rank} hands in twice, and no ValueError comes")


def _expect_step(case, W, before, gradients, examples, rate, order):
    """Ask whether the step is that of the gradient of all examples."""
    if np.array_equal(W, before):
        raise CheckFailed(
            f"{case}, the array W is not changed: W -= … changes it, W = W - … makes another one"
        )
    step, sizes = before - W, np.array(examples)[:, None]
    weighted, plain = (sizes * gradients).sum(axis=0), np.sum(gradients, axis=0)
    truth = rate * weighted / sizes.sum()
    named = {
        "each worker counts alike: it must count by its examples": rate * plain / len(gradients),
        "the gradients are added up, and not divided": rate * plain,
        "the step is that of the sum over all examples: divide by their number": rate * weighted,
        "the sum is divided by the number of workers, and not of examples": rate * weighted / len(gradients),
        "the step goes uphill": -truth,
        "only the gradient of the one who came last is in the step": rate * gradients[order[-1]],
        "only the gradient of the one who came first is in the step": rate * gradients[order[0]],
        "the sum is only what the last one brought, divided by the number of all examples": (
            rate * examples[order[-1]] * gradients[order[-1]] / sizes.sum()
        ),
        "the learning rate is missing in the step": weighted / sizes.sum(),
    }
    for words, value in named.items():
        if np.allclose(step, value) and not np.allclose(value, truth):
            raise CheckFailed(f"{case}, {words}")
    if np.abs(step).max() > 20:
        raise CheckFailed(
            f"{case}, the step takes what stands in a worker's array now: note a copy when it hands in"
        )
    if not case.endswith("round 1") and not np.allclose(step, truth):
        raise CheckFailed(
            f"{case}, the step is wrong, and in round 1 it was right: begin a round with nothing"
        )
    expect_values(f"{case}, W", W, before - truth)


@concurrent.probe
def _(answer, rng):
    W = rng.normal(size=N_IN)
    machine = answer(W, 2, 0.5)
    return machine.hand_in(1, rng.normal(size=N_IN), 2), machine.hand_in(0, rng.normal(size=N_IN), 1), W


class _Noting:
    """A right optimizer, of which the mistakes change one part each."""

    def __init__(self, W, workers, learning_rate):
        self.W, self.workers, self.rate = W, workers, learning_rate
        self.begin()

    def begin(self):
        self.came, self.total, self.examples = set(), np.zeros_like(self.W), 0

    def hand_in(self, rank, gradient, examples):
        if rank in self.came:
            raise ValueError(f"worker {rank} was here")
        self.came.add(rank)
        self.note(gradient, examples)
        self.examples += examples
        if len(self.came) < self.workers:
            return False
        self.step()
        self.begin()
        return True

    def note(self, gradient, examples):
        self.total += gradient * examples

    def step(self):
        self.W -= self.rate * self.total / self.examples


@concurrent.right
class WithSums(_Noting):
    def step(self):
        np.subtract(self.W, self.rate / self.examples * self.total, out=self.W)


@concurrent.right
class WithALedger:
    def __init__(self, W, workers, learning_rate):
        self.W, self.learning_rate = W, learning_rate
        self.ledger = [None] * workers

    def hand_in(self, rank, gradient, examples):
        if self.ledger[rank] is not None:
            raise ValueError("twice")
        self.ledger[rank] = gradient.copy(), examples
        done = None not in self.ledger
        if done:
            gradients, counts = zip(*self.ledger, strict=True)
            self.W[...] = self.W - self.learning_rate * np.average(gradients, axis=0, weights=counts)
            self.ledger = [None] * len(self.ledger)
        return done


@concurrent.mistake("each worker counts alike: it must count by its examples")
class CountsAlike(_Noting):
    def note(self, gradient, examples):
        self.total += gradient

    def step(self):
        self.W -= self.rate * self.total / self.workers


@concurrent.mistake("the step is that of the sum over all examples: divide by their number")
class TakesTheSum(_Noting):
    def step(self):
        self.W -= self.rate * self.total


@concurrent.mistake("only the gradient of the one who came last is in the step")
class TakesTheLast(_Noting):
    def note(self, gradient, examples):
        self.total, self.examples = gradient * examples, 0


@concurrent.mistake("the sum is only what the last one brought, divided by the number of all examples")
class OverwritesTheSum(_Noting):
    def note(self, gradient, examples):
        self.total = gradient * examples


@concurrent.mistake("of two that take turns one disturbs the other")
class SharesTheRound(_Noting):
    noted = {}  # noqa: RUF012

    def begin(self):
        self.noted.clear()

    def hand_in(self, rank, gradient, examples):
        if rank in self.noted:
            raise ValueError("twice")
        self.noted[rank] = gradient * examples, examples
        done = len(self.noted) == self.workers
        if done:
            sums, counts = zip(*self.noted.values(), strict=True)
            self.W -= self.rate * sum(sums) / sum(counts)
            self.begin()
        return done


@concurrent.mistake("the array W is not changed")
class MakesAnotherW(_Noting):
    def step(self):
        self.W = self.W - self.rate * self.total / self.examples


@concurrent.mistake("the array W is not changed")
class CopiesW(_Noting):
    def __init__(self, W, workers, learning_rate):
        super().__init__(W.copy(), workers, learning_rate)


@concurrent.mistake("W changes after 1 of 2 gradients: wait for all")
class StepsAtOnce:
    def __init__(self, W, workers, learning_rate):
        self.W, self.rate = W, learning_rate

    def hand_in(self, rank, gradient, examples):
        self.W -= self.rate * gradient
        return True


@concurrent.mistake("hands in twice, and no ValueError comes")
class CountsCalls(_Noting):
    def hand_in(self, rank, gradient, examples):
        return super().hand_in(len(self.came), gradient, examples)


@concurrent.mistake("begin a round with nothing")
class NeverForgets(_Noting):
    def begin(self):
        self.came = set()
        if not hasattr(self, "total"):
            self.total, self.examples = np.zeros_like(self.W), 0


@concurrent.mistake("begin a round with nothing, also in the list of who has come")
class NeverForgetsWhoCame(_Noting):
    def __init__(self, W, workers, learning_rate):
        super().__init__(W, workers, learning_rate)
        self.ever = set()

    def hand_in(self, rank, gradient, examples):
        if rank in self.ever:
            raise ValueError(f"worker {rank} was here")
        self.ever.add(rank)
        return super().hand_in(rank, gradient, examples)


@concurrent.mistake("a call that is refused must change nothing")
class NotesAndRefuses(_Noting):
    def hand_in(self, rank, gradient, examples):
        if rank in self.came:
            self.note(gradient, examples)
            self.examples += examples
        return super().hand_in(rank, gradient, examples)


@concurrent.mistake("a call that is refused must change nothing")
class CountsAndRefuses(_Noting):
    def begin(self):
        super().begin()
        self.calls = 0

    def hand_in(self, rank, gradient, examples):
        self.calls += 1
        if rank in self.came:
            raise ValueError("twice")
        self.came.add(rank)
        self.note(gradient, examples)
        self.examples += examples
        if self.calls < self.workers:
            return False
        self.step()
        self.begin()
        return True


@concurrent.mistake("note a copy when it hands in")
class KeepsTheArray(_Noting):
    def begin(self):
        self.came, self.noted, self.examples = set(), [], 0

    def note(self, gradient, examples):
        self.noted.append((gradient, examples))

    def step(self):
        self.W -= self.rate * sum(n * gradient for gradient, n in self.noted) / self.examples


@concurrent.mistake("hand_in must return False while others are missing, and returned nothing")
class ReturnsNothing(_Noting):
    def hand_in(self, rank, gradient, examples):
        if super().hand_in(rank, gradient, examples):
            return True
        return None


@concurrent.mistake("the step goes uphill")
class GoesUphill(_Noting):
    def step(self):
        self.W += self.rate * self.total / self.examples


@concurrent.mistake("it changes the gradient, which belongs to the worker")
class WeightsInPlace(_Noting):
    def note(self, gradient, examples):
        gradient *= examples
        self.total += gradient
