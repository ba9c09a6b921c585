"""The exercises of chapter 07: learning rates, an optimizer, batches, epochs, one step from many."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    N_IN,
    N_OUT,
    expect_guesses,
    expect_several,
    expect_shape,
    expect_step,
    expect_values,
    untouched,
)
from minigrad.check.numerical import numerical_gradient
from minigrad.data import batches
from minigrad.layer import Sequential
from minigrad.layers.activations import Tanh
from minigrad.layers.linear import Linear
from minigrad.losses import cross_entropy, mse
from minigrad.parameter import Parameter

EXAMPLES, SIZE = 13, 5  # two whole batches and a short one of three


# 1. steps in a bowl of one parameter

three_learning_rates = Exercise(
    "07_learning.three_learning_rates",
    title="Three learning rates",
    points=2,
    kind="predict",
    minutes=6,
    hints=(
        "The curvature is how fast the slope changes with w. One step multiplies the distance from 2 by "
        "1 - learning rate · curvature.",
        "To land at once, that factor must be 0. The walk comes no closer when the factor is -1: it jumps to "
        "and fro.",
        "The curvature is the number in front of (w - 2). For the third: the new w is w minus learning rate "
        "times slope, with w = 3.",
    ),
)


@three_learning_rates.check
def _(answer, rng):
    X, T = np.array([[1.0], [3.0]]), np.array([[2.0], [6.0]])

    def slope(w):
        return numerical_gradient(lambda w: np.mean((w * X - T) ** 2), w)

    curvature = float(slope(3.0) - slope(2.0))  # per unit of w
    expect_guesses(
        answer(),
        {
            "the learning rate that lands at once": 1 / curvature,
            "the smallest learning rate that comes no closer": 2 / curvature,
            "the w after one step from 3": 3 - 0.25 * float(slope(3.0)),
        },
    )
    return "compared with nudging, twice"


three_learning_rates.slips(
    {
        (0.1, 0.2, 5.5): "A step goes against the slope: subtract it.",
        (0.1, 0.2, -1.5): "That is the distance of w from 2; give w itself.",
        (0.1, 0.2, 2.5): "That is the whole step, 0.25 · 10; subtract it from 3.",
        (0.1, 0.1, 0.5): "At that rate the walk lands at once; it comes closer up to twice that rate.",
        (0.2, 0.4, 0.5): "The curvature is the number before the bracket in the slope, 10 (w - 2).",
        (0.5, 1.0, 2.5): "These are the numbers of the miniature, which has one example.",
        (10.0, 0.2, 0.5): "The curvature is 10; the rate that lands at once is one divided by it.",
        (0.1, 0.21, 0.5): "On the slider 0.21 was a stop; the limit itself is 2 / curvature.",
        (0.2, 0.1, 0.5): "The first two are exchanged: the rate that lands is the smaller one.",
    }
)


# 2. an optimizer

sign_sgd = Exercise(
    "07_learning.SignSGD",
    title="Only the sign",
    points=2,
    kind="fill",
    minutes=5,
    answer="class",
    changes=True,
    hints=(
        "Look at `SGD.step` in the chapter: which factor of the step has to go, and what takes its place?",
        "NumPy has a function that makes -1, 0 or 1 of every entry: `np.sign`.",
        "In the loop over the parameters: `parameter.data -= …`, the learning rate times the sign of "
        "`parameter.grad`.",
    ),
)


def _parameters(rng):
    """Return parameters of several shapes, with gradients of all sizes, among them a slope of 0."""
    parameters = [Parameter(rng.normal(size=shape)) for shape in ((N_IN, N_OUT), (N_OUT,), ())]
    for parameter in parameters:
        parameter.grad += rng.normal(size=parameter.shape) * 10 ** rng.uniform(-3, 3, size=parameter.shape)
    parameters[0].grad[0, 1:4] = 0.0, 1e-200, -1e200
    return parameters


@sign_sgd.check
def _(answer, rng):
    for learning_rate in (0.1, rng.uniform(0.5, 2.0)):
        parameters = _parameters(rng)
        optimizer = answer(learning_rate)
        for step in ("after a step, ", "after another optimizer is made and a second step, "):
            arrays = [parameter.data for parameter in parameters]
            steps = [(p.data.copy(), -learning_rate * np.sign(p.grad)) for p in parameters]
            gradients = [parameter.grad.copy() for parameter in parameters]
            with np.errstate(all="ignore"), untouched(parameters=parameters):
                optimizer.step(parameters)
            before = zip(parameters, arrays, gradients, steps, strict=True)
            for place, (parameter, *others) in enumerate(before):
                expect_step(f"{step}data of parameter {place}", parameter, *others)
            answer(3 * learning_rate)  # must not change the first
    return "three shapes, slopes of all sizes and of 0, two learning rates, and that nothing else is changed"


@sign_sgd.probe
def _(answer, rng):
    parameters = _parameters(rng)
    answer(0.5).step(parameters)
    return tuple(parameter.data for parameter in parameters)


class Optimizer:
    """The constructor that correct and wrong optimizers share."""

    def __init__(self, learning_rate=0.1):
        self.learning_rate = learning_rate


def stepping(change):
    """Return an optimizer whose step subtracts `change(slopes, learning_rate)` from each parameter."""

    class SignSGD(Optimizer):
        def step(self, parameters):
            for parameter in parameters:
                parameter.data -= change(parameter.grad, self.learning_rate)

    return SignSGD


for sentence, change in {  # of the slopes and the learning rate
    "These are the steps of SGD: they grow with the slope.": lambda slopes, rate: rate * slopes,
    "You go uphill: subtract, to go against the sign.": lambda slopes, rate: -rate * np.sign(slopes),
    "Dividing by the size makes nan of a slope of 0.": lambda slopes, rate: rate * slopes / np.abs(slopes),
    "Where the slope is 0 the entry must not change.": (
        lambda slopes, rate: rate * np.where(slopes > 0, 1.0, -1.0)
    ),
    "The step is always 0.1: take the learning rate that the constructor is given.": (
        lambda slopes, rate: 0.1 * np.sign(slopes)
    ),
    "A step written into a new array changes no parameter: change `parameter.data` in place.": (
        lambda slopes, rate: 0.0
    ),
    "You divide by the length of the whole gradient; take the sign of each entry instead.": (
        lambda slopes, rate: rate * slopes / np.linalg.norm(slopes)
    ),
    "The learning rate is left out.": lambda slopes, rate: np.sign(slopes),
}.items():
    sign_sgd.mistake(sentence)(stepping(change))


# 3. batches

full_batches = Exercise(
    "07_learning.full_batches",
    title="No short batch",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Work on the order, not on X and T: which numbers must be appended to it, and how many?",
        "Make `order = rng.permutation(…)` longer by its own first entries, until batch_size divides its "
        "length; `np.concatenate` joins arrays. Then go on as `batches` does.",
        "How many are missing: `-len(X) % batch_size`, which is 0 if nothing is. (In Python, -5 % 2 is 1.)",
    ),
)


def _numbered(rng, examples):
    """Return examples with their number in the first column of X and T; the rest is noise."""
    places = np.arange(examples, dtype=float)
    X = np.column_stack([places, rng.normal(size=(examples, N_IN - 1))])
    return X, np.column_stack([places, rng.normal(size=(examples, 1))])


def _rows(X_batch, T_batch):
    """Return the numbers of a batch's examples; fail if it is not a batch, or if X and T do not match."""
    if np.ndim(X_batch) != 2 or np.shape(X_batch)[1] != N_IN or np.ndim(T_batch) != 2:
        raise CheckFailed(
            f"a batch must be rows of X and rows of T; got shapes {np.shape(X_batch)} and {np.shape(T_batch)}"
        )
    rows = np.asarray(X_batch)[:, 0].astype(int)
    if len(rows) != len(T_batch) or (rows != np.asarray(T_batch)[:, 0]).any():
        raise CheckFailed(f"X and T are shuffled apart: {rows} of X meet {T_batch[:, 0].astype(int)} of T")
    return rows.tolist()


@full_batches.check
def _(answer, rng):
    for examples, size in ((EXAMPLES, SIZE), (15, SIZE), (7, 7), (11, 7), (7, 1)):
        seed, (X, T) = int(rng.integers(1000)), _numbered(rng, examples)
        case = f"{examples} examples in batches of {size}: "
        with untouched(X=X, T=T):
            given = answer(X, T, size, np.random.default_rng(seed))
            if given is None:
                raise CheckFailed("it returns nothing: `yield` each batch")
            if isinstance(given, tuple) and given and isinstance(given[0], np.ndarray):
                raise CheckFailed("it ends with its first batch: use `yield`, which goes on afterwards")
            found = [expect_several(batch, "X_batch", "T_batch") for batch in given]
        try:
            found = [_rows(*batch) for batch in found]
        except CheckFailed as no:
            raise CheckFailed(case + no.sentence, name=no.name) from no
        count = -(-examples // size)
        if len(found) != count or {len(rows) for rows in found} != {size}:
            sizes = ", ".join(str(len(rows)) for rows in found)
            raise CheckFailed(f"{case}their sizes are {sizes or 'none'}; there must be {count} of {size}")
        order, rows = np.random.default_rng(seed).permutation(examples).tolist(), sum(found, [])
        whole = examples // size * size  # the full batches before the last
        if rows[:whole] != order[:whole]:
            said = "are not shuffled" if rows[:whole] == list(range(whole)) else "come in another order"
            raise CheckFailed(f"{case}they {said}; one call of rng.permutation must give the order")
        if rows[whole:] != (wanted := (order + order)[whole : len(rows)]):
            raise CheckFailed(
                f"{case}the last one holds {rows[whole:]}; filled up from the start of the order, it must "
                f"hold {wanted}"
            )
    return "sizes, pairs, order and filling, with and without missing examples"


@full_batches.probe
def _(answer, rng):
    X, T = _numbered(rng, EXAMPLES)
    given = list(answer(X, T, SIZE, np.random.default_rng(1)))
    return tuple(X_batch[:, 0] for X_batch, _ in given)


# 4. an epoch

epoch = Exercise(
    "07_learning.epoch",
    title="Shuffled apart",
    points=2,
    kind="repair",
    minutes=6,
    hints=(
        "What does the target of the first example become, and what its X? Print a few rows of both.",
        "Each call of `rng.permutation` draws a new order. How many orders are there in `broken_epoch`?",
        "Draw one order before the loop, and take the same rows of it from X and from T.",
    ),
)


def _watched_epoch(answer, X, T, rng):
    """Run an answer with a learner that records its batches; return the rows of each, and the result."""
    seen = []

    def fit_batch(X_batch, T_batch):
        seen.append((np.copy(X_batch), np.copy(T_batch)))
        return float(np.mean(T_batch**2))

    def fit(*data, **options):
        raise CheckFailed("call learner.fit_batch for each batch; learner.fit goes through all by itself")

    with untouched(X=X, T=T):
        returned = answer(SimpleNamespace(fit_batch=fit_batch, fit=fit), X, T, SIZE, rng)
    return [_rows(*batch) for batch in seen], returned


@epoch.check
def _(answer, rng):
    for last in (3, 1):  # examples in the last batch
        X, T = _numbered(rng, count := 2 * SIZE + last)
        found, returned = _watched_epoch(answer, X, T, np.random.default_rng(1))
        rows, case = sum(found, []), f"{count} examples in batches of {SIZE}"
        if sorted(rows) != list(range(count)):
            lost = sorted(set(range(count)) - set(rows))
            said = f"never sees the examples {lost}" if lost else "sees examples twice"
            raise CheckFailed(f"of {case}, the learner {said}")
        if [len(batch) for batch in found] != [SIZE, SIZE, last]:
            sizes = ", ".join(str(len(batch)) for batch in found)
            raise CheckFailed(f"{case} make {SIZE}, {SIZE}, {last}; here {sizes}")
        if rows == sorted(rows):
            raise CheckFailed(
                "the examples come in the order in which they were given; shuffle them, with rng"
            )
        expect_values("the mean loss over the examples", returned, np.mean(T**2))
    seeds = rng.permutation(np.repeat(rng.integers(2**40, size=5), 3)).tolist()
    orders = [sum(_watched_epoch(answer, X, T, np.random.default_rng(seed))[0], []) for seed in seeds]
    by_seed = {(seed, *order) for seed, order in zip(seeds, orders, strict=True)}
    if len(by_seed) != len(set(seeds)) or len({tuple(order) for order in orders}) == 1:
        raise CheckFailed("the order must come from rng: the same seed the same order, another seed another")
    return "pairs, every example once, a short last batch, the seed, and the mean over the examples"


@epoch.probe
def _(answer, rng):
    X, T = _numbered(rng, EXAMPLES)
    return _watched_epoch(answer, X, T, np.random.default_rng(1))[1]


def run_epoch(learner, X, T, batch_size, order):
    """Return the losses of an epoch's batches, in this order of the examples, and their sizes."""
    losses, sizes = [], []
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        losses.append(learner.fit_batch(X[rows], T[rows]))
        sizes.append(len(rows))
    return np.array(losses), np.array(sizes)


def scored(score):
    """Return an epoch whose result is score(losses, sizes, full size)."""

    def epoch(learner, X, T, batch_size, rng):
        return score(*run_epoch(learner, X, T, batch_size, rng.permutation(len(X))), batch_size)

    return epoch


for sentence, score in {
    "This is the sum over all examples; divide it by their number.": lambda losses, sizes, full: (
        losses @ sizes
    ),
    "This is the sum of the batches' losses; weight each by its size, and divide by all examples.": (
        lambda losses, sizes, full: losses.sum()
    ),
    "The short last batch is weighted by batch_size; weight it by the examples that it has.": (
        lambda losses, sizes, full: full * losses.sum() / sizes.sum()
    ),
    "The short last batch counts as much as the others; weight each batch by its size.": (
        lambda losses, sizes, full: losses.mean()
    ),
}.items():
    epoch.mistake(sentence)(scored(score))


# 5. one step from many batches

big_step = Exercise(
    "07_learning.big_step",
    title="Many small batches, one step",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Which of the five steps of `fit_batch` belong before the loop over the batches, which inside it, "
        "and which after it?",
        "The mean over all is the sum of the batches' means, each times its share: its own size divided by "
        "the number of all examples.",
        "In the loop: forward, loss, and back with `loss_backward(…)`, whose argument is the share; and add "
        "share times L to a total.",
    ),
)


class _Watched:
    """A model that records its inputs."""

    def __init__(self, model):
        self.model, self.batches, self.sizes = model, [], []

    def __call__(self, X):
        self.batches.append(np.array(X))
        self.sizes.append(len(X))
        return self.model(X)

    def parameters(self):
        return self.model.parameters()

    def zero_grad(self):
        self.model.zero_grad()


class _Recorder:
    """An optimizer that records the gradients of each step, and steps by them."""

    def __init__(self):
        self.steps = []

    def step(self, parameters):
        self.steps.append([parameter.grad.copy() for parameter in parameters])
        for parameter in parameters:
            parameter.data -= 0.1 * parameter.grad


def _task(rng, loss):
    """Return a model with old gradients, X and T."""
    n_out = 2 if loss is mse else 3
    model = Sequential(Linear(N_IN, 4, rng=rng), Tanh(), Linear(4, n_out, rng=rng))
    for parameter in model.parameters():
        parameter.grad += rng.normal(size=parameter.shape)
    labels = rng.integers(n_out, size=EXAMPLES)
    return (
        model,
        rng.normal(size=(EXAMPLES, N_IN)),
        labels if loss is cross_entropy else rng.normal(size=(EXAMPLES, n_out)),
    )


def _whole(model, loss, X, T):
    """Return the loss and the gradients of one pass with all examples."""
    model = deepcopy(model)
    model.zero_grad()
    Y, backward = model(X)
    L, loss_backward = loss(Y, T)
    backward(loss_backward())
    return L, [parameter.grad for parameter in model.parameters()]


@big_step.check
def _(answer, rng):
    for loss, size in ((mse, SIZE), (mse, EXAMPLES), (cross_entropy, 4), (mse, 1), (mse, EXAMPLES + 3)):
        model, X, T = _task(rng, loss)
        L, gradients = _whole(model, loss, X, T)
        watched, optimizer = _Watched(model), _Recorder()
        case = f"{EXAMPLES} examples in batches of {size}: "
        with untouched(X=X, T=T):
            returned = answer(watched, loss, optimizer, X, T, size)
        if not watched.sizes:
            raise CheckFailed(f"{case}the model is never called: pass it one batch after the other")
        if sum(watched.sizes) != EXAMPLES or max(watched.sizes) > size:
            raise CheckFailed(f"{case}the model is given {', '.join(map(str, watched.sizes))} at a time")
        if not np.array_equal(np.concatenate(watched.batches), X):
            raise CheckFailed(f"{case}the model is not given the examples in their order")
        if len(optimizer.steps) != 1:
            raise CheckFailed(f"{case}optimizer.step is called {len(optimizer.steps)} times; call it once")
        if len(optimizer.steps[0]) != len(gradients):
            raise CheckFailed(f"{case}optimizer.step must be given model.parameters()")
        for name, found, truth in zip(model.named_parameters(), optimizer.steps[0], gradients, strict=True):
            try:
                expect_values(f"the gradient of {name}", found, truth, "one pass with all says")
            except CheckFailed as no:
                raise CheckFailed(f"{case}{no.sentence}", name=no.name) from no
        expect_values(f"{case}the loss", returned, L, "one pass with all says")
    return "gradients, loss and one step, as in a single pass, for two losses and four ways to cut"


@big_step.probe
def _(answer, rng):
    model, X, T = _task(rng, mse)
    optimizer, truths = _Recorder(), _whole(model, mse, X, T)[1]
    returned = answer(_Watched(model), mse, optimizer, X, T, SIZE)
    gradients = tuple(gradient for step in optimizer.steps for gradient in step)
    right = len(gradients) == len(truths) and all(map(np.allclose, gradients, truths))
    return gradients, returned if right else None  # compare the loss only if the gradients are right


def stepped(share, zero="first", step="last", value=None):
    """Return an answer that weights a batch by share(its size, count of all examples, size of a full one).

    It may set gradients to zero or step at the wrong time, and weights the loss by `value`, if given.
    """

    def big_step(model, loss, optimizer, X, T, batch_size):  # noqa: PLR0913  as the exercise has it
        total = 0.0
        if zero == "first":
            model.zero_grad()
        for X_batch, T_batch in batches(X, T, batch_size):
            if zero == "each":
                model.zero_grad()
            Y, backward = model(X_batch)
            L, loss_backward = loss(Y, T_batch)
            sizes = len(Y), len(X), batch_size
            backward(loss_backward(share(*sizes)))
            total += L * (value or share)(*sizes)
            if step == "each":
                optimizer.step(model.parameters())
        if step == "last":
            optimizer.step(model.parameters())
        return total

    return big_step


def right_share(size, examples, full):
    return size / examples


def one_each(size, examples, full):
    return 1.0


def _equal(size, examples, full):
    return 1 / -(-examples // full)


big_step.mistake("The batches' gradients are added without their shares, as if each were the whole.")(
    stepped(one_each)
)
big_step.mistake("All batches count alike, also the short last one: weight each by its size.")(
    stepped(_equal)
)
big_step.mistake("The share is that of a full batch, so the short last one counts too much.")(
    stepped(lambda size, examples, full: full / examples)
)
big_step.mistake("The gradients are right; the loss is a plain mean over batches, and one is short.")(
    stepped(right_share, value=_equal)
)
big_step.mistake(
    "A share is the batch's size divided by the number of all examples; the division is missing."
)(stepped(lambda size, examples, full: size))
big_step.mistake("The gradients are not zero before the first backward pass, so old ones are in the sum.")(
    stepped(right_share, zero="never")
)
big_step.mistake("The gradients are set to zero before each batch, so only the last one is left.")(
    stepped(right_share, zero="each")
)
big_step.mistake(
    "The gradients are right; the loss is the sum of the batches' losses, without their shares."
)(stepped(right_share, value=one_each))


# 6. weights chosen by hand

product = Exercise(
    "07_learning.product",
    title="A product from squares",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "(a + b)² = a² + 2ab + b², and (a - b)² = a² - 2ab + b². Subtract the second from the first.",
        "So a b is a quarter of (a + b)² - (a - b)². One unit makes a + b, the other a - b: which columns of "
        "W1 do that?",
        "A column of W1 is a unit: 1 and 1 for a + b; 1 and -1 for a - b. W2 takes the first square times a "
        "quarter, and the second one times what? The biases are not needed.",
    ),
)


@product.check
def _(answer, rng):
    names = ("W1", "b1", "W2", "b2")
    arrays = expect_several(answer(), *names)
    for name, array, shape in zip(names, arrays, ((2, 2), (2,), (2, 1), (1,)), strict=True):
        if np.shape(array) != shape:
            raise CheckFailed(f"{name} must have shape {shape}, but is {_described(array)}")
    W1, b1, W2, b2 = (np.asarray(array, dtype=float) for array in arrays)
    X = np.vstack([[3.0, 5.0], rng.normal(size=(SIZE, 2)), 10 * rng.normal(size=(SIZE, 2)), [0.0, 0.0]])
    Y = np.square(X @ W1 + b1) @ W2 + b2
    for row, found in zip(X, Y, strict=True):
        expect_shape("Y", found, "b2", b2)
        try:
            expect_values("Y", found, row[:1] * row[1:])
        except CheckFailed as no:
            raise CheckFailed(f"for the row [{row[0]:.3g}, {row[1]:.3g}], {no.sentence}") from no
    return "a dozen rows, small and large"


def _described(array):
    """Describe an array with its shape."""
    return f"of shape {np.shape(array)}" if np.size(array) > 1 else described(array)


@product.probe
def _(answer, rng):
    X = rng.normal(size=(SIZE, 2))
    W1, b1, W2, b2 = answer()
    return np.square(X @ W1 + b1) @ W2 + b2


SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])
for sentence, (W1, *W2) in {
    "The squares of a and b alone hold no product: the units must make a + b and a - b.": (
        (np.eye(2), 0.25, -0.25)
    ),
    "The quarter is missing: the difference of the two squares is 4 a b.": (SUM_AND_DIFFERENCE, 1.0, -1.0),
    "The difference of the two squares is 4 a b, not 2 a b.": (SUM_AND_DIFFERENCE, 0.5, -0.5),
    "The two squares are added: that leaves a² and b², and a b cancels.": (SUM_AND_DIFFERENCE, 0.25, 0.25),
    "The quarter is inside the square, where it becomes a sixteenth.": (SUM_AND_DIFFERENCE / 4, 1.0, -1.0),
    "The sign is flipped: the square of a + b has a plus.": (SUM_AND_DIFFERENCE, -0.25, 0.25),
}.items():
    product.mistake(sentence)(lambda W1=W1, W2=W2: (W1, np.zeros(2), np.array(W2)[:, None], np.zeros(1)))
