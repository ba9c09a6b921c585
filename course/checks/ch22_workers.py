"""The exercises of chapter 22: moments from shares, a weighted mean, different starts, doubling, hand in."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import BATCH, N_IN, expect_guesses, expect_several, expect_values, untouched

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
        "of X * X, and the number of rows.",
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
        if np.size(sent[0]) > 2 * N_IN + 1:
            raise CheckFailed(
                f"for n_in = {N_IN} it sends {np.size(sent[0])} numbers; {2 * N_IN + 1} are enough"
            )
        mean, variance = expect_several(moments(sum(map(np.asarray, sent))), "mean", "variance")
        expect_values(f"{case}, the mean", mean, X.mean(axis=0))
        wrong = _known_variance(variance, X, parts)
        if wrong:
            raise CheckFailed(f"{case}, {wrong}")
        expect_values(f"{case}, the variance", variance, X.var(axis=0))
    return "equal shares, one worker, uneven shares, a share without rows"


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


@batch_norm_in_pieces.mistake("with shares of 7, 2, 1 rows, the mean[")
def mean_of_means():
    def share_of(X):
        return np.concatenate([X.mean(axis=0), (X * X).mean(axis=0), [1]])

    def moments(total):
        mean, squares = _read(total)
        return mean, squares - mean**2

    return share_of, moments


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
    try:
        found = answer([np.full(N_IN, np.nan)] * 2, [0, 0])
    except ValueError:
        return "equal counts, uneven ones, workers without examples, and nobody with any"
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
        "The three gradients at 1, 3 and 5 are -8, -4 and 0. All take the same step.",
        "Who takes the same steps keeps the distance. And where is the mean of the weights, when the mean "
        "gradient is 0?",
        "The mean begins at 3 and goes to 5. Worker 2 is 2 above the mean at the start, and so for ever.",
    ),
)


def _walk(weights, steps):
    """Return the weights after so many steps with the mean gradient of (w - 5)² and rate 0.25."""
    weights = np.array(weights, dtype=float)
    for _ in range(steps):
        weights -= 0.25 * np.mean(2 * (weights - 5))
    return weights


@different_starts.check
def _(answer, rng):
    late = _walk([1, 3, 5], 100)
    truths = {
        "worker 0's weight after one step": _walk([1, 3, 5], 1)[0],
        "the distance of the largest and the smallest": np.ptp(late),
        "the mean of the weights in the end": late.mean(),
        "worker 2's weight in the end": late[2],
        "worker 0's weight after the broadcast and a step": _walk([3, 3, 3], 1)[0],
    }
    expect_guesses(answer(), truths)
    return "three workers, walked a hundred steps"


@different_starts.right
def as_an_array():
    return np.array([2.0, 4.0, 5.0, 7.0, 4.0])


@different_starts.right
def by_walking():
    w = np.array([1.0, 3.0, 5.0])
    ends = w + 5 - w.mean()
    return [w[0] + 0.25 * 4, ends.max() - ends.min(), ends.mean(), ends[2], 3 + 0.25 * 4]


@different_starts.mistake("The step is the mean of all three gradients, not worker 0's own.")
def own_gradient():
    return 3, 4, 5, 7, 4


@different_starts.mistake("The step is the mean of the three gradients, not their sum.")
def sum_of_gradients():
    return 4, 4, 5, 7, 6


@different_starts.mistake("A step goes against the gradient.")
def uphill():
    return 0, 4, 5, 7, 2


@different_starts.mistake("All take the same step, so nobody comes nearer to anybody.")
def they_meet():
    return 2, 0, 5, 5, 4


@different_starts.mistake("The mean gradient is 0 where the mean of the weights has the lowest loss.")
def mean_stays():
    return 2, 4, 3, 5, 4


@different_starts.mistake("Worker 2 keeps its distance from the mean, which moves.")
def only_one_arrives():
    return 2, 4, 5, 5, 4


@different_starts.mistake("A broadcast gives all the same weight: begin the step at 3.")
def forgets_the_broadcast():
    return 2, 4, 5, 7, 2


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
        "`held = [held[rank] + held[rank ^ distance] for rank in range(len(held))]`, with distance 1, 2, 4 … "
        "while it is smaller than the number of workers.",
    ),
)


@doubling.check
def _(answer, rng):
    for count in (2, 4, 8, 1, 16):
        arrays = [rng.normal(size=(2, N_IN)) for _ in range(count)]
        with untouched(**{f"arrays[{rank}]": array for rank, array in enumerate(arrays)}):
            held, steps, copies = expect_several(answer(list(arrays)), "held", "steps", "copies")
        if not isinstance(held, list | tuple | np.ndarray) or len(held) != count:
            raise CheckFailed(f"of {count} workers, held must be a list of {count} arrays")
        wanted = int(np.log2(count))
        for rank, array in enumerate(held):
            _expect_sum(f"what worker {rank} of {count} holds", array, arrays, rank)
        for name, found in (("steps", steps), ("copies", copies)):
            if isinstance(found, bool) or np.ndim(found) or not np.isclose(found, wanted):
                raise CheckFailed(f"of {count} workers, {name} is {_said(found)}, and must be {wanted}")
    return "from 1 worker to 16: sums, steps and copies"


def _said(found):
    return f"{found:g}" if isinstance(found, int | float | np.number) else described(found)


def _expect_sum(name, array, arrays, rank):
    """Refuse what is not the sum of all, and say what is known of it."""
    total, count = sum(arrays), len(arrays)
    if np.shape(array) == total.shape and count > 1 and not np.allclose(array, total):
        named = {
            "its own array: nothing has come": arrays[rank],
            "the mean of all: the sum is wanted": total / count,
            "only the sum with its neighbour: go on at distance 2, then 4": arrays[rank] + arrays[rank ^ 1],
        }
        for words, value in named.items():
            if np.allclose(array, value):
                raise CheckFailed(f"{name} is {words}")
        parts = np.linalg.lstsq(np.reshape(arrays, (count, -1)).T, np.ravel(array), rcond=None)[0]
        whole = np.round(parts)
        again = np.allclose(whole @ np.reshape(arrays, (count, -1)), np.ravel(array))
        if count <= 4 and again and np.allclose(parts, whole, atol=1e-6):
            said = ", ".join(f"{part:g}" for part in whole)
            raise CheckFailed(
                f"in {name}, the arrays of worker 0, 1 … stand {said} times; once each is wanted"
            )
    expect_values(name, array, total)


@doubling.probe
def _(answer, rng):
    held, steps, copies = answer([rng.normal(size=N_IN) for _ in range(4)])
    return *held, steps, copies


@doubling.right
def with_array(arrays):
    held, ranks, steps = np.array(arrays), np.arange(len(arrays)), 0
    while 2**steps < len(arrays):
        held = held + held[ranks ^ 2**steps]
        steps += 1
    return list(held), steps, steps


@doubling.right
def with_groups(arrays):
    held, distance, copies = list(arrays), 1, 0
    while distance < len(arrays):
        before = list(held)
        for rank in range(len(held)):
            partner = rank + distance if rank // distance % 2 == 0 else rank - distance
            held[rank] = before[rank] + before[partner]
        distance *= 2
        copies += 1
    return tuple(held), copies, float(copies)


@doubling.mistake("times; once each is wanted")
def adds_what_is_changed(arrays):
    held, distance, steps = list(arrays), 1, 0
    while distance < len(held):
        for rank in range(len(held)):
            held[rank] = held[rank] + held[rank ^ distance]
        distance, steps = 2 * distance, steps + 1
    return held, steps, steps


@doubling.mistake("it changes arrays[0], which belongs to its caller")
def adds_in_place(arrays):
    held, distance, steps = list(arrays), 1, 0
    while distance < len(held):
        before = [array.copy() for array in held]
        for rank in range(len(held)):
            held[rank] += before[rank ^ distance]
        distance, steps = 2 * distance, steps + 1
    return held, steps, steps


@doubling.mistake("is only the sum with its neighbour: go on at distance 2, then 4")
def one_step(arrays):
    return [own + arrays[rank ^ 1] for rank, own in enumerate(arrays)] if arrays[1:] else arrays, 1, 1


@doubling.mistake("times; once each is wanted")
def distance_grows_by_one(arrays):
    held, steps = list(arrays), 0
    for distance in range(1, len(held)):
        held = [own + held[(rank + distance) % len(held)] for rank, own in enumerate(held)]
        steps += 1
    return held, steps, steps


@doubling.mistake("copies is 1.5, and must be 2")
def copies_of_a_ring(arrays):
    held, steps, _ = with_array(arrays)
    return held, steps, 1 if len(arrays) == 2 else 2 * (len(arrays) - 1) / len(arrays)


@doubling.mistake("steps is 6, and must be 2")
def steps_of_a_ring(arrays):
    held, steps, copies = with_array(arrays)
    return held, 1 if len(arrays) == 2 else 2 * (len(arrays) - 1), copies


@doubling.mistake("of 2 workers, copies is 2, and must be 1")
def copies_of_all(arrays):
    held, steps, _ = with_array(arrays)
    return held, steps, len(arrays) * steps


@doubling.mistake("is the mean of all: the sum is wanted")
def takes_the_mean(arrays):
    held, steps, copies = with_array(arrays)
    return [array / len(arrays) for array in held], steps, copies


@doubling.mistake("it must return held, steps and copies, and returned a list of 2")
def returns_held_alone(arrays):
    return with_array(arrays)[0]


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
            for place, rank in enumerate(order, start=1):
                room = gradients[rank].copy()
                returned = machine.hand_in(rank, room, examples[rank])
                if not np.array_equal(room, gradients[rank]):
                    raise CheckFailed(
                        "it changes the gradient, which belongs to the worker: make a new array"
                    )
                room[...] = 1000.0  # the worker uses it again
                if place < workers:
                    _expect_waiting(case, place, workers, returned, W, expected)
                    if place == 1:
                        _expect_refusal(case, machine, rank, W, expected)
            if not isinstance(returned, bool | np.bool_):
                raise CheckFailed(f"{case}, the last one must be told True, and {described(returned)} came")
            if not returned:
                raise CheckFailed(f"{case}, all are there, and it says that no step was taken")
            _expect_step(case, W, expected, gradients, examples, rate)
            expected = W.copy()
    return "1, 2 and 4 workers in three rounds, in any order, and who comes twice"


def _expect_waiting(case, place, workers, returned, W, expected):
    """Ask whether nothing has happened yet."""
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


def _expect_step(case, W, before, gradients, examples, rate):
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
