"""The exercises of chapter 06: which mean a loss takes, value and gradient that agree, and large logits."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    A_NEW_ARRAY,
    BATCH,
    LEFT_BEHIND,
    N_IN,
    N_OUT,
    because,
    drawn_sizes,
    expect_formula,
    expect_gradcheck,
    expect_gradients,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_values,
    untouched,
)
from minigrad.losses import cross_entropy


def _quietly(call):
    """Return call(); raise CheckFailed if NumPy would warn."""
    with np.errstate(over="raise", invalid="raise", divide="raise", under="ignore"):
        try:
            return call()
        except FloatingPointError as error:
            raise CheckFailed(
                f"NumPy would warn: {error}; logits were up to 1000. Subtract each row's largest before any "
                "exp, and take the logarithm of the sum, not of a probability"
            ) from error


def _ask_loss(loss, f, Y, **given):
    """Require that loss(Y) has f's value and gradient, with and without dL, and does not change `given`."""
    truth = f(Y)
    with untouched(Y=Y, **given):
        L, backward = expect_several(loss(Y), "L", "backward")
        expect_values("L", L, truth)
        try:
            dY = backward()
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            raise CheckFailed("backward() must work without an argument: give dL the default 1.0") from error
    expect_gradients(f, {"Y": Y}, np.array(1.0), {"Y": dY})
    first = np.array(dY)
    with because(LEFT_BEHIND):
        expect_values("in a second call of backward, dY", backward(), first, "in the first it was")
    if isinstance(dY, np.ndarray) and dY.flags.writeable:
        dY[...] = np.nan
        with because(A_NEW_ARRAY):
            expect_values("after somebody has written into dY, the next", backward(), first, "before it was")
    for factor in (3.0, -2.0, 0.0):
        try:
            scaled = backward(factor)
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            raise CheckFailed(
                "backward(3.0) must work as well: give backward one argument, dL=1.0"
            ) from error
        if not np.allclose(scaled, factor * first):
            why = "multiply by dL" if factor else "a dL of 0 is not a missing one: ask `is None`"
            raise CheckFailed(f"backward({factor}) is not {factor:g} times backward(): {why}")
    expect_gradcheck(loss, Y)
    expect_formula(lambda Y: loss(Y)[1](), Y)


def _seen_of_loss(loss, Y):
    """Return a loss's value and gradient, for a probe."""
    L, backward = loss(Y)
    return L, backward(), backward(3.0)


three_losses = Exercise(
    "06_losses.three_losses",
    title="Three losses without a computer",
    points=1,
    kind="predict",
    minutes=4,
    hints=(
        "Cross-entropy is minus the logarithm of the right class's probability.",
        "Equal logits give equal probabilities, whatever they are. In the second, the right class has nearly "
        "no probability: use log(sum of e^Y) minus the right logit.",
        "The first is the logarithm of the number of classes. In the second, log(1 + e^20) is very nearly "
        "the exponent. The third is a mean of two numbers, and one of them is nearly 0.",
    ),
)


@three_losses.check
def _(answer, rng):
    batches = (
        (np.full((1, 5), 3.0), np.array([2])),
        (np.array([[0.0, 20.0]]), np.array([0])),
        (np.array([[0.0, 0.0], [50.0, 0.0]]), np.array([0, 0])),
    )
    names = ("the first loss", "the second loss", "the third loss")
    expect_guesses(answer(), {name: cross_entropy(*b)[0] for name, b in zip(names, batches, strict=True)})
    return "compared with a run"


for sentence, numbers in {
    "A probability is below 1, so its logarithm is negative; the loss is minus that.": (
        (np.log(1 / 5), 20.0, np.log(2) / 2)
    ),
    "That would be right if class 1 were right; here the other class has the logit 20.": (
        (np.log(5), 0.0, np.log(2) / 2)
    ),
    "That is the sum of the two examples; the loss of a batch is their mean.": (np.log(5), 20.0, np.log(2)),
    "Adding the same number to all logits changes nothing; only how many there are matters.": (
        (3.0, 20.0, np.log(2) / 2)
    ),
    "The logarithm here is the natural one, np.log, not that to base 10.": (
        (np.log10(5), 20 * np.log10(np.e), np.log10(2) / 2)
    ),
    "The logarithm here is the natural one, and the unit is nats.": (np.log2(5), 20 / np.log(2), 0.5),
}.items():
    three_losses.mistake(sentence)(lambda numbers=numbers: numbers)


missing_axis = Exercise(
    "06_losses.missing_axis",
    title="Every pair",
    points=1,
    kind="predict",
    minutes=5,
    hints=(
        "NumPy writes (3,) as a row, (1, 3), and then repeats both arrays until they fit.",
        "Write down all nine differences, square them, add them up, divide by nine.",
        "The differences are 0 on the diagonal, ±1 beside it, ±2 in two corners. The best common answer to "
        "several targets, in squares, is their mean.",
    ),
)


@missing_axis.check
def _(answer, rng):
    Y, T = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    difference = Y - T
    answers = np.linspace(0, 4, 401)
    best = answers[np.argmin([np.mean((np.full((3, 1), one) - T) ** 2) for one in answers])]
    truths = dict(zip(("the number of rows", "the number of columns"), difference.shape, strict=True))
    expect_guesses(answer(), truths | {"the loss": np.mean(difference**2), "the best answer": best})
    return "compared with a run"


for sentence, numbers in {
    "The row of T is repeated for each row of Y: three columns, not one.": (3, 1, 0.0, 2.0),
    "A perfect prediction is compared with the other targets, too.": (3, 3, 0.0, 2.0),
    "The sum of the squares is 12; the mean divides it by nine entries.": (3, 3, 12 / 3, 2.0),
    "That is the sum of the nine squares, and the loss is their mean.": (3, 3, 12.0, 2.0),
    "That is half of it: each prediction meets each target, 1 meets 3 as well as 3 meets 1.": (
        (3, 3, 2 / 3, 2.0)
    ),
}.items():
    missing_axis.mistake(sentence)(lambda numbers=numbers: numbers)


masked_mse = Exercise(
    "06_losses.masked_mse",
    title="Missing targets",
    points=2,
    kind="repair",
    minutes=7,
    hints=(
        "Value and gradient must agree. By which number is the value divided, and by which the gradient?",
        "The value is divided by how many targets are known, the gradient by how many entries there are.",
        "Give `np.sum(known)` a name, and divide both by it.",
    ),
)


def _known(rng, *shape):
    """Draw a mask of known targets: about two in three, at least one."""
    known = rng.random(size=shape) < 0.65
    known.flat[0], known.flat[-1] = True, False
    return known


@masked_mse.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for shape in ((batch, n_in), (batch, n_out), (n_out,)):
        known = _known(rng, *shape)
        Y, T = rng.normal(size=shape), rng.normal(size=shape)
        for T_held in (T, np.where(known, T, np.nan), np.where(known, T, 1e9), np.where(known, T, np.inf)):

            def loss(Y, T=T_held, known=known):
                return answer(Y, T, known)

            def f(Y, T=T, known=known):
                return np.mean((Y[known] - T[known]) ** 2)

            _ask_loss(loss, f, Y, T=T_held, known=known)
    return "values and nudging in three shapes, with nan in the gaps, and dL"


@masked_mse.probe
def _(answer, rng):
    known = _known(rng, BATCH, N_IN)
    Y, T = rng.normal(size=(2, BATCH, N_IN))
    return _seen_of_loss(lambda Y: answer(Y, T, known), Y)


def _masked(value_count, gradient_count, factor=2):
    """Return a masked_mse that divides its value and its gradient by these counts."""

    def masked_mse(Y, T, known):
        difference = np.where(known, Y - T, 0.0)
        return (
            np.sum(difference**2) / value_count(difference, known),
            lambda dL=1.0: dL * factor * difference / gradient_count(difference, known),
        )

    return masked_mse


def _entries(difference, known):
    """Count all entries."""
    return difference.size


def _how_many_known(difference, known):
    """Count the known entries."""
    return np.sum(known)


def _examples(difference, known):
    """Count the examples."""
    return len(difference)


for sentence, counts in {
    "The gradient still divides by all entries, and the value by the known ones.": (
        _how_many_known,
        _entries,
    ),
    "Now the two agree, but the mean goes over the known entries: the value was right.": (_entries, _entries),
    "The gradient divides by the number of examples; the value counts known entries.": (
        (_how_many_known, _examples)
    ),
    "Both are divided by the number of examples; the mean is over the known entries.": (_examples, _examples),
    "The 2 of the square's slope is missing.": (_how_many_known, _how_many_known, 1),
}.items():
    masked_mse.mistake(sentence)(_masked(*counts))


@masked_mse.mistake("An entry without a target does not enter the value, so its gradient is 0.")
def gaps_in_the_gradient(Y, T, known):
    difference, count = Y - T, np.sum(known)
    return np.sum(difference[known] ** 2) / count, lambda dL=1.0: dL * 2 * difference / count


@masked_mse.mistake("Zero times nan is nan: use np.where for the gaps, not a product.")
def times_known(Y, T, known):
    difference, count = (Y - T) * known, np.sum(known)
    return np.sum(difference**2) / count, lambda dL=1.0: dL * 2 * difference / count


huber = Exercise(
    "06_losses.huber",
    title="Huber",
    points=3,
    kind="fill",
    minutes=9,
    hints=(
        "Begin with `difference = Y - T`. np.where chooses between the two formulas, entry by entry.",
        "The slope of d²/2 is d. The slope of |d| is 1 on the right and -1 on the left. And a mean divides.",
        "Both slopes in one: d, but no larger than 1 and no smaller than -1. NumPy calls that `np.clip`. "
        "Value and gradient are divided by the number of entries.",
    ),
)


def mean_huber(difference):
    """Return the mean Huber loss of differences."""
    return np.mean(np.where(np.abs(difference) <= 1, difference * difference / 2, np.abs(difference) - 0.5))


@huber.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for shape in ((batch, n_in), (batch, 1), (1, n_out), (batch, 2, n_in)):
        Y, T = 2 * rng.normal(size=(2, *shape))
        Y.flat[0] = T.flat[0] + 0.3  # one of each kind, and both signs
        Y.flat[1], Y.flat[-1] = T.flat[1] - 2.5, T.flat[-1] + 4.0
        _ask_loss(lambda Y, T=T: answer(Y, T), lambda Y, T=T: mean_huber(Y - T), Y, T=T)
    for Y, T, L, dY in (
        ([[3, 1, 2]], [[2, 2, 2]], 1 / 3, [[1.0, -1.0, 0.0]]),  # whole numbers
        ([[1e200, 0.5, -1e200]], [[0.0, 0.0, 0.0]], 2e200 / 3, [[1.0, 0.5, -1.0]]),
    ):
        differences = f"for differences of {', '.join(f'{d:g}' for d in np.subtract(Y, T)[0])}, "
        with np.errstate(over="ignore"):  # of the square that np.where does not take
            found, backward = answer(np.array(Y), np.array(T))
            found_dY = backward()
        expect_values(f"{differences}L", found, L)
        expect_values(f"{differences}dY", found_dY, np.array(dY) / 3)
    return "values and nudging in four shapes, small and large errors of both signs, and dL"


@huber.probe
def _(answer, rng):
    Y, T = 2 * rng.normal(size=(2, BATCH, N_IN))
    return _seen_of_loss(lambda Y: answer(Y, T), Y)


def huber_with(
    small=lambda d: d * d / 2,
    large=lambda d: np.abs(d) - 0.5,
    slopes=lambda d: np.clip(d, -1, 1),
    count=np.size,
    slope_count=np.size,
):
    """Return a Huber loss of the difference d with some parts changed."""

    def huber(Y, T):
        d = Y - T
        L = np.sum(np.where(np.abs(d) <= 1, small(d), large(d))) / count(d)
        return L, lambda dL=1.0: dL * slopes(d) / slope_count(d)

    return huber


def one(d):
    """Return 1, a divisor that leaves a sum as it is."""
    return 1


for sentence, parts in {
    "The gradient of large errors still grows with the error; beyond 1 the slope is 1 or -1.": (
        dict(slopes=lambda d: d)
    ),
    "The half in front of the square cancels the 2: the slope of a small error is d itself.": (
        dict(slopes=lambda d: np.where(np.abs(d) <= 1, 2 * d, np.sign(d)))
    ),
    "Beyond 1 the sign is lost: the slope of |d| is -1 on the left.": (
        dict(slopes=lambda d: np.where(np.abs(d) <= 1, d, 1.0))
    ),
    "Small means -1 to 1: use the absolute value of the difference.": (
        dict(large=lambda d: np.where(d < 0, d * d / 2, d - 0.5), slopes=lambda d: np.minimum(d, 1.0))
    ),
    "Beyond 1 the loss still grows, along a straight line: its slope is 1 or -1, not 0.": (
        dict(slopes=lambda d: np.where(np.abs(d) <= 1, d, 0.0))
    ),
    "The loss of a small error is half of its square.": dict(small=np.square),
    "The value is the sum over all entries, and the gradient is that of their mean; L is the mean.": (
        dict(count=one)
    ),
    "This is the sum over all entries; L is their mean.": dict(count=one, slope_count=one),
    "The value is a mean over all entries, so its gradient is divided by their number as well.": (
        dict(slope_count=one)
    ),
    "The value is a mean over all entries, and the gradient is divided by the batch only.": (
        dict(slope_count=len)
    ),
    "Both are divided by the batch only; L is a mean over all entries.": dict(count=len, slope_count=len),
    "The ½ to subtract for large errors is missing: the two formulas must agree at 1.": dict(large=np.abs),
    "The loss of a small error is half of its square, whose slope is the error itself.": (
        dict(small=np.square, slopes=lambda d: np.where(np.abs(d) <= 1, 2 * d, np.sign(d)))
    ),
    "The entry pays |d| beyond 1, and |d| is -d on the left.": dict(large=lambda d: d - 0.5),
}.items():
    huber.mistake(sentence)(huber_with(**parts))


@huber.mistake("An `if` wants one truth value; np.where chooses entry by entry.")
def with_an_if(Y, T):
    return huber_with()(Y, T) if np.abs(Y - T) <= 1 else None


log_softmax = Exercise(
    "06_losses.log_softmax",
    title="The logarithm of softmax",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "For Y: subtract each row's largest entry first; the formula on paper then has no large exponent.",
        "For dX: output i depends on X_i directly, with slope 1, and on every X_j through the sum, with "
        "slope -P_j. Which dY_i reach X_j, and through what?",
        "All outputs of a row share the sum, so X_j gets dY_j minus P_j times the sum of the row of dY. And "
        "P is the exponential of Y.",
    ),
)


def _log_softmax(X):
    """Return the logarithm of the softmax of each row, without overflow."""
    return X - np.logaddexp.reduce(X, axis=1, keepdims=True)


@log_softmax.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    shapes = {"": (batch, n_in), "with more classes, ": (batch, n_out)}
    for case, shape in shapes.items():
        X, dY = rng.normal(size=(2, *shape))
        expect_layer(answer, _log_softmax, dY, case=case, X=X)
    expect_gradcheck(answer, rng.normal(size=(batch, n_out)))
    X = np.array([[1000, 0, -1000], [-1000, -1000, -999], [1000, 1000, 1000], [-1000, 0, 1000.0]])
    dY = rng.normal(size=X.shape)
    Y, backward = _quietly(lambda: answer(X))
    dX = _quietly(lambda: backward(dY))
    with because("Within a row, Y must differ as X does: no clip, and no logarithm of a number rounded to 0"):
        expect_values("for logits up to 1000, Y", Y, _log_softmax(X))
    P = np.exp(_log_softmax(X))
    expect_values("for logits up to 1000, dX", dX, dY - P * dY.sum(axis=1, keepdims=True))
    return "values, nudging, the rules of a layer, and logits up to 1000"


@log_softmax.probe
def _(answer, rng):
    X, dY = rng.normal(size=(2, BATCH, N_IN))
    Y, backward = answer(X)
    return (Y, backward(dY)) if np.allclose(Y, _log_softmax(X)) else Y


def by_row(A):
    """Return the sum of each row, as a column."""
    return A.sum(axis=1, keepdims=True)


for sentence, way in {  # of dY, and of the right Y and P
    "The cross terms are left out: every dY of the row reaches each X through the sum.": (
        lambda dY, Y, P: dY * (1 - P)
    ),
    "P is multiplied by the sum of the row of dY; only if that is 1 is it P alone.": lambda dY, Y, P: dY - P,
    "P is missing: X_j gets dY_j minus P_j times the sum of the row of dY.": (
        lambda dY, Y, P: dY - by_row(dY)
    ),
    "The sum of the row of dY is shared out evenly; the share of X_j is P_j.": (
        lambda dY, Y, P: dY - dY.mean(axis=1, keepdims=True)
    ),
    "P is multiplied by the sum of the row of dY, not by its mean.": (
        lambda dY, Y, P: dY - P * dY.mean(axis=1, keepdims=True)
    ),
    "The sum of dY is that of each row, axis=1, not of the whole array.": lambda dY, Y, P: dY - P * dY.sum(),
    "The sum of dY runs over the classes of a row, axis 1, not over the batch.": (
        lambda dY, Y, P: dY - P * dY.sum(axis=0)
    ),
    "This is the backward pass of softmax itself; yours ends in a logarithm.": (
        lambda dY, Y, P: P * (dY - by_row(dY * P))
    ),
    "Y holds logarithms; the slope of the sum needs the probabilities, exp(Y).": (
        lambda dY, Y, P: dY - Y * by_row(dY)
    ),
    "P is outside the sum: X_j gets P_j times the sum of dY, not the sum of P times dY.": (
        lambda dY, Y, P: dY - by_row(P * dY)
    ),
    "P appears twice: X_j gets P_j times the sum of dY, not of P times dY.": (
        lambda dY, Y, P: dY - P * by_row(P * dY)
    ),
    "The logarithm of the sum is subtracted: mind the sign.": lambda dY, Y, P: dY + P * by_row(dY),
    "These are the slopes for a dY of ones: dY is not used.": lambda dY, Y, P: 1 - P * P.shape[1],
    "P must sum to 1 over the classes of a row, not over the batch.": (
        lambda dY, Y, P: dY - P / P.sum(axis=0) * by_row(dY)
    ),
}.items():
    log_softmax.mistake(sentence)(
        lambda X, way=way: ((Y := _log_softmax(X)), lambda dY: way(dY, Y, np.exp(Y)))
    )
KEEPDIMS = (
    "A sum or maximum over axis 1 has shape (batch,), a row for NumPy; keepdims=True keeps it a column."
)
log_softmax.mistake(KEEPDIMS)(lambda X: X - X.max(axis=1))
log_softmax.mistake(KEEPDIMS)(lambda X: X.max(axis=1) - X)  # NumPy names the shapes in this order
log_softmax.mistake("P is the exponential of Y; that of X does not sum to 1.")(
    lambda X: (_log_softmax(X), lambda dY: dY - np.exp(X) * by_row(dY))
)

for sentence, value in {  # of X, and of X without the largest of each row
    "You subtract the largest inside the logarithm but not in front: subtract it in both.": (
        lambda X, shifted: X - np.log(by_row(np.exp(shifted)))
    ),
    "You subtract the largest in front but not inside the logarithm: subtract it in both.": (
        lambda X, shifted: shifted - np.log(by_row(np.exp(X)))
    ),
    "The logarithm is of the sum of each row, not of the whole array.": (
        lambda X, shifted: shifted - np.log(np.exp(shifted).sum())
    ),
    "The largest is that of each row, axis 1, not of each column.": (
        lambda X, shifted: _log_softmax(X - X.max(axis=0))
    ),
    "This is the softmax itself; Y is its logarithm.": lambda X, shifted: np.exp(_log_softmax(X)),
    "The sign is that of a loss; Y is the logarithm itself.": lambda X, shifted: -_log_softmax(X),
    "The sum has no 1 of its own: np.log, not np.log1p.": (
        lambda X, shifted: shifted - np.log1p(by_row(np.exp(shifted)))
    ),
    "The softmax runs over the classes of a row, axis 1, not over the batch.": (
        lambda X, shifted: _log_softmax(X.T).T
    ),
}.items():
    log_softmax.mistake(sentence)(
        lambda X, value=value: (value(X, X - X.max(axis=1, keepdims=True)), lambda dY: dY)
    )


weighted_cross_entropy = Exercise(
    "06_losses.weighted_cross_entropy",
    title="Classes that count more",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "`weights[T]` gives each example its weight, (batch,). Divide these by their sum: shares, which add "
        "up to 1, and take the place of 1 / batch.",
        "The value is the sum of share times cross-entropy of the example. For the gradient, P minus the "
        "target of each row is multiplied by that row's share.",
        "Take the chapter's `cross_entropy`: `right`, `shifted` and `log_P` stay as they are. Multiply by "
        "`share` in the value, and by `share[:, None]` in the gradient, and drop the division by `T.size`.",
    ),
)


def _weighted(Y, T, weights):
    """Return the weighted mean of the cross-entropy."""
    paid = -_log_softmax(Y)[np.arange(len(Y)), T]
    return np.sum(weights[T] * paid) / np.sum(weights[T])


def _classes(rng, n_classes, batch=BATCH):
    """Return labels of a batch, in which class 1 does not occur, and a weight for each class."""
    T = rng.choice([0, *range(2, n_classes)], size=batch)
    T[:2] = 0, n_classes - 1
    return T, rng.uniform(0.5, 4, size=n_classes)


@weighted_cross_entropy.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for n_classes, count in ((n_in, batch), (n_out, batch), (n_in, 1)):
        Y = rng.normal(size=(count, n_classes))
        T, weights = _classes(rng, n_classes, batch)
        T = T[:count]

        def loss(Y, T=T, weights=weights):
            return answer(Y, T, weights)

        _ask_loss(loss, lambda Y, T=T, w=weights: _weighted(Y, T, w), Y, T=T, weights=weights)
    Y, T, weights = np.array([[1000.0, 0.0], [-1000.0, 0.0]]), np.array([1, 1]), np.array([1.0, 2.0])
    L, backward = _quietly(lambda: answer(Y, T, weights))
    dY = _quietly(backward)
    expect_values("for logits of ±1000, L", L, _weighted(Y, T, weights))
    expect_values("for logits of ±1000, dY", dY, np.array([[0.5, -0.5], [0.0, 0.0]]))
    return "values and nudging with three and seven classes, logits up to 1000, and dL"


@weighted_cross_entropy.probe
def _(answer, rng):
    T, weights = _classes(rng, N_OUT)
    return _seen_of_loss(lambda Y: answer(Y, T, weights), rng.normal(size=(BATCH, N_OUT)))


def weighted_with(
    rows=lambda w, P, right, weights: w * (P - right),
    total=lambda w, weights: w.sum(),
    total_of_rows=None,
):
    """Return a weighted_cross_entropy with some parts changed; w is a column, and right is True at T."""

    def weighted_cross_entropy(Y, T, weights):
        log_P, w, right = _log_softmax(Y), weights[T][:, None], T[:, None] == np.arange(Y.shape[1])
        dY = rows(w, np.exp(log_P), right, weights) / (total_of_rows or total)(w, weights)
        return -np.sum(w * right * log_P) / total(w, weights), lambda dL=1.0: dL * dY

    return weighted_cross_entropy


def batch_of(w, weights):
    """Return the number of examples, to divide by."""
    return len(w)


for sentence, parts in {
    "Both divide by the number of examples; a weighted mean divides by the sum of the weights.": (
        dict(total=batch_of)
    ),
    "The value is a weighted mean, and the gradient divides by the batch.": dict(total_of_rows=batch_of),
    "The gradient forgets the weights: it is that of the plain cross-entropy.": (
        dict(rows=lambda w, P, right, weights: P - right, total_of_rows=batch_of)
    ),
    "The weights are only in the divisor of the gradient; each row is multiplied by its example's weight.": (
        dict(rows=lambda w, P, right, weights: P - right)
    ),
    "The gradient multiplies each column by its class's weight; a whole row takes that of its right class.": (
        dict(rows=lambda w, P, right, weights: weights * (P - right))
    ),
    "You divide by the sum of all classes' weights; it must be the sum over the examples, weights[T].": (
        dict(total=lambda w, weights: weights.sum())
    ),
    "Each class that occurs is counted once in the divisor; it must be as often as it occurs.": (
        dict(total=lambda w, weights: np.unique(w).sum())
    ),
    "The weight multiplies the whole row of P minus the target, not only the target.": (
        dict(rows=lambda w, P, right, weights: P - w * right)
    ),
    "Only the right entry of each row has its weight; the whole row takes it.": (
        dict(rows=lambda w, P, right, weights: np.where(right, w, 1) * (P - right))
    ),
}.items():
    weighted_cross_entropy.mistake(sentence)(weighted_with(**parts))


@weighted_cross_entropy.mistake("The weights are not used: this is the plain cross-entropy.")
def without_weights(Y, T, weights):
    return cross_entropy(Y, T)
