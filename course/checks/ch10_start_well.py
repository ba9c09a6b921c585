"""The exercises of chapter 10: initialization, two norms, running averages, and dropout."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    BATCH,
    LEFT_BEHIND,
    N_IN,
    N_OUT,
    OWN_MEMORY,
    also_drawn,
    because,
    drawn_sizes,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_shape,
    expect_values,
    untouched,
)
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import BatchNorm

# 1. a batch norm, twice

two_batches = Exercise(
    "10_start_well.two_batches",
    title="One example, two examples",
    points=2,
    kind="predict",
    minutes=8,
    hints=(
        "The mean of 2 and 6 is in the middle. How far is the 6 from it, and what is the root of "
        "the variance?",
        "An average moves by a tenth of the way: from 0 towards the mean, from 1 towards the "
        "variance for the averages, which divides the squared deviations by count - 1.",
        "The deviations are -2 and 2, so the norm divides by 2; for the averages the variance is "
        "(4 + 4) / 1. And a single example: what is its distance from its own mean?",
    ),
)


BY_THE_COUNT = "The norm itself divides the sum of squares by the count, 2, and not by count - 1"
NOT_THE_AVERAGES = "In training, the batch's own mean and variance are used, not the averages"
NINE_TENTHS = "A momentum of 0.1 keeps nine tenths of the old average, and takes one of the new"
ITS_OWN_MEAN = "A single example is its own mean, so its distance from the mean is 0"
BY_THE_AVERAGES = "That is (30 - 0.4) / √1.7, by the running averages: in training they are not used"
SLIPS = {
    "the result for the 6": {
        2.0: "That is the distance from the mean; divide it by the root of the variance",
        0.5: "The 4 is the variance; divide by its root",
        2 / 8**0.5: BY_THE_COUNT,
        0.7071: BY_THE_COUNT,
        -1.0: "That is the result for the 2",
        6.0: NOT_THE_AVERAGES,
    },
    "the running mean": {
        4.0: "That is the mean of the batch; the average moves only a tenth of the way to it, from 0",
        3.6: NINE_TENTHS,
    },
    "the running variance": {
        8.0: "That is the variance of the batch; the average moves only a tenth of the way to it, from 1",
        4.0: "That is the variance of the batch; the average moves only a tenth of the way to one, from 1",
        7.3: NINE_TENTHS,
        3.7: NINE_TENTHS,
        1.3: "For the averages, the squared deviations are divided by count - 1, which is 1 here",
        0.8: "The running variance began at 1, and nine tenths of that are left",
    },
    "the result for the 30": {
        30.0: ITS_OWN_MEAN,
        29.6: "That is the distance from the running mean: in training it is not used",
        (30 - 0.4) / 1.7**0.5: BY_THE_AVERAGES,
        22.7: BY_THE_AVERAGES,
    },
}


@two_batches.check
def _(answer, rng):
    norm = BatchNorm(1, eps=1e-12)
    Y, _ = norm(np.array([[2.0], [6.0]]), training=True)
    mean, variance = float(norm.running_mean.data[0]), float(norm.running_variance.data[0])
    alone, _ = norm(np.array([[30.0]]), training=True)
    expect_guesses(
        answer(),
        {
            "the result for the 6": float(Y[1, 0]),
            "the running mean": mean,
            "the running variance": variance,
            "the result for the 30": float(alone[0, 0]),
        },
        SLIPS,
    )
    return "compared with a run of the library's BatchNorm"


# 2. a start

leaky_start = Exercise(
    "10_start_well.leaky_start",
    title="A start for leaky slopes",
    points=2,
    kind="fill",
    minutes=8,
    hints=(
        "Follow the derivation of He's start: a number is positive in half of the draws. What becomes of its "
        "square then, and what in the other half?",
        "Half of the squares stay, half are multiplied by slope². What is the mean of 1 and slope²? "
        "The nonlinearity keeps only that share, and the weights must make up for it.",
        "The variance is 1 / (n_in · kept), with kept = (1 + slope²) / 2. `rng.normal` wants its root.",
    ),
)

MANY = 400  # inputs: the spread of as many draws is right to about 1 %
LOOSE = 0.05  # how far a mean square over so many random draws may lie from the truth


@leaky_start.check
def _(answer, rng):
    n_in, n_out = drawn_sizes(rng, N_IN, N_OUT)
    usual = ((MANY, 300), 0.0), ((MANY, 300), 1.0), ((150, MANY), 0.5), ((MANY, 150), 0.3)
    for shape, slope in also_drawn(usual, lambda: ((MANY, 300), rng.uniform(0.6, 0.9)), count=1):
        case = f"for shape {shape} and a slope of {slope:g}, "
        W = answer(shape, np.random.default_rng(int(rng.integers(1000))), slope)
        expect_shape("W", W, "the weights", np.empty(shape))
        if not np.ptp(W):
            raise CheckFailed(f"{case}all weights are equal; they must be drawn")
        if abs(np.mean(W)) > 5 * np.std(W) / np.sqrt(W.size):
            raise CheckFailed(f"{case}the mean of W is {np.mean(W):.2g}; it must be 0, but for chance")
        factor = np.mean(np.square(W)) * shape[0] * (1 + slope**2) / 2
        if not abs(factor - 1) < LOOSE:
            raise CheckFailed(
                f"{case}the mean square of a signal is multiplied by {factor:.2g} in each layer; it must stay"
            )
    draws = [answer((n_in, n_out), np.random.default_rng(seed), 0.2) for seed in (0, 0, 1)]
    if not np.array_equal(draws[0], draws[1]):
        raise CheckFailed("two equal generators give two different draws: draw with `rng` only")
    if np.array_equal(draws[0], draws[2]):
        raise CheckFailed("the draw does not depend on `rng`")
    _through_ten_layers(answer, rng)
    return "the mean square in one layer, for four slopes and shapes, and through ten"


def _through_ten_layers(answer, rng, slope=0.2):
    """Require that a signal keeps its size through ten layers, as the statement says."""
    A = rng.normal(size=(50, MANY))
    before = np.mean(A**2)
    for _ in range(10):
        layer = Linear(MANY, MANY, init=lambda shape, rng: answer(shape, rng, slope), rng=rng)
        Y, _ = layer(A)
        A = np.where(Y > 0, Y, slope * Y)
    grown = np.mean(A**2) / before
    if not 0.5 < grown < 2:
        raise CheckFailed(
            f"through ten layers with a slope of 0.2, the mean square is multiplied by {grown:.2g}"
        )


@leaky_start.probe
def _(answer, rng):
    return np.round([np.std(answer((MANY, 61), np.random.default_rng(0), slope)) for slope in (0.0, 0.6)], 2)


for sentence, spread in {
    "This is He's start, which does not use the slope.": lambda shape, slope: np.sqrt(2 / shape[0]),
    "Squares are multiplied by slope², not by slope.": (
        lambda shape, slope: np.sqrt(2 / ((1 + slope) * shape[0]))
    ),
    "You passed the variance where its root belongs: rng.normal takes the standard deviation.": (
        lambda shape, slope: 2 / ((1 + slope**2) * shape[0])
    ),
    "Each output is a sum over the inputs: n_in, and not n_out.": (
        lambda shape, slope: np.sqrt(2 / ((1 + slope**2) * shape[1]))
    ),
    "The nonlinearity keeps the mean of 1 and slope², which is (1 + slope²) / 2: the 2 is missing.": (
        lambda shape, slope: np.sqrt(1 / ((1 + slope**2) * shape[0]))
    ),
    "A variance with 2 - slope is right for the slopes 0 and 1, and for none between them.": (
        lambda shape, slope: np.sqrt((2 - slope) / shape[0])
    ),
}.items():
    leaky_start.mistake(sentence)(
        lambda shape, rng, slope, spread=spread: rng.normal(0.0, spread(shape, slope), shape)
    )


@leaky_start.mistake("The mean square of uniform numbers is limit² / 3: the limit needs a factor √3.")
def spread_for_limit(shape, rng, slope):
    limit = np.sqrt(2 / ((1 + slope**2) * shape[0]))
    return rng.uniform(-limit, limit, shape)


@leaky_start.mistake("Signs are missing: draw around 0, so that the mixed products cancel.")
def never_negative(shape, rng, slope):
    return rng.uniform(0.0, np.sqrt(6 / ((1 + slope**2) * shape[0])), shape)


# 3. a norm

rms_norm = Exercise(
    "10_start_well.rms_norm",
    title="No mean",
    points=3,
    kind="fill",
    minutes=20,
    hints=(
        "Write s for 1 / √(mean square + eps), so Y = X s. Nudge X_i by h: the mean square grows by "
        "2 X_i h / n_in. How does s change?",
        "s changes by -s³ X_i h / n_in, which is -s² Y_i h / n_in. So Y_j changes by s (if j = i), and by "
        "-X_j s² Y_i / n_in, which is -s Y_j Y_i / n_in.",
        "dX_i is the sum over j of dY_j times that. Compare with the chapter: mean(dN) is gone, "
        "and Y takes the place of N. Means run over the last axis, with keepdims=True.",
    ),
)


@rms_norm.check
def _(answer, rng):
    rows, narrow, wide = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    shapes = (0.3, rows, narrow), (1e-5, rows, wide), (0.0, 1, 2), (0.2, narrow, narrow), (0.5, rows, 1)
    for eps, batch, n_in in shapes:
        X, dY = rng.normal(size=(batch, n_in)) + 0.5, rng.normal(size=(batch, n_in))
        try:
            expect_layer(lambda X, eps=eps: answer(X, eps), lambda X, eps=eps: _over_rms(X, eps), dY, X=X)
        except CheckFailed as no:  # the rule has no mean of X, so none can be missing
            words = no.sentence.replace(MEAN_MISSING, "the error is the same in all numbers of a row")
            raise CheckFailed(words, report=no.report) from no
    return "Y, and dX against nudging, for five shapes, with another forward pass in between"


MEAN_MISSING = "the gradient through each row's mean is missing or wrong"


def _over_rms(X, eps):
    """Return each row over the root of the mean of its squares."""
    return X / np.sqrt(np.mean(X * X, axis=1, keepdims=True) + eps)


def by_row(A):
    """Return the mean of each row, as a column."""
    return A.mean(axis=-1, keepdims=True)


def rms_with(root=lambda X, eps: np.sqrt(by_row(X * X) + eps), last=lambda dY, X, Y: Y * by_row(dY * Y)):
    """Return an rms_norm with another divisor, or another last term of dX."""

    def rms_norm(X, eps=1e-5):
        scale = 1 / root(X, eps)
        Y = X * scale
        return Y, lambda dY: (dY - last(dY, X, Y)) * scale

    return rms_norm


with_the_mean_of_dY = rms_with(last=lambda dY, X, Y: by_row(dY) + Y * by_row(dY * Y))
rms_norm.mistake(
    "Leave out mean(dY): it comes from subtracting the mean of a row, and here none is subtracted."
)(with_the_mean_of_dY)
rms_norm.mistake("You subtracted the mean, as layer norm does; this norm does not.")(
    lambda X, eps=1e-5: with_the_mean_of_dY(X - by_row(X), eps)
)
for sentence, last in {
    "You treated the spread as a constant: each number of a row changes it, and so all others.": (
        lambda dY, X, Y: 0
    ),
    "The last term is a mean over the row, and not a sum.": (
        lambda dY, X, Y: Y * (dY * Y).sum(axis=-1, keepdims=True)
    ),
    "The last term is added; it must be subtracted, since a larger spread makes Y smaller.": (
        lambda dY, X, Y: -Y * by_row(dY * Y)
    ),
    "In backward, a mean without axis runs over the whole batch; each row has its own.": (
        lambda dY, X, Y: Y * (dY * Y).mean()
    ),
}.items():
    rms_norm.mistake(sentence)(rms_with(last=last))
for last in (
    lambda dY, X, Y: X * by_row(dY * Y),
    lambda dY, X, Y: Y * by_row(dY * X),
    lambda dY, X, Y: X * by_row(dY * X),
):
    rms_norm.mistake("The last term has X where Y belongs: before the mean, or inside it, or both.")(
        rms_with(last=last)
    )

for sentence, root in {
    "The variance subtracts the mean of the row before it squares; take the mean of X².": (
        lambda X, eps: np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    ),
    "You added the squares of a row; take their mean.": (
        lambda X, eps: np.sqrt((X * X).sum(axis=-1, keepdims=True) + eps)
    ),
    "The eps is left out: it is added to the mean square, before the root.": (
        lambda X, eps: np.sqrt(by_row(X * X))
    ),
}.items():
    rms_norm.mistake(sentence)(rms_with(root=root))
for sentence, axis in {
    "A mean without axis runs over the whole batch; each row has its own: axis=-1, keepdims=True.": None,
    "The columns were normalized: the mean square is that of a row, axis -1.": 0,
}.items():
    rms_norm.mistake(sentence)(
        rms_with(
            root=lambda X, eps, axis=axis: np.sqrt((X * X).mean(axis) + eps),
            last=lambda dY, X, Y, axis=axis: Y * (dY * Y).mean(axis),
        )
    )
EPS_OUTSIDE = rms_norm.mistake("The eps is outside the root; it is added to the mean square.")
EPS_OUTSIDE(rms_with(root=lambda X, eps: np.sqrt(by_row(X * X)) + eps))
EPS_OUTSIDE(rms_with(root=lambda X, eps: 1 / (1 / np.sqrt(by_row(X * X)) + eps)))
EPS_OUTSIDE(
    rms_with(
        root=lambda X, eps: np.sqrt(by_row(X * X)) + eps,
        last=lambda dY, X, Y: Y * by_row(dY * X) / np.sqrt(by_row(X * X)),
    )
)


# 4. a running average

corrected_averages = Exercise(
    "10_start_well.corrected_averages",
    title="An average that begins well",
    points=3,
    kind="repair",
    minutes=10,
    hints=(
        "After one value the 0 has the weight 1 - momentum. After two values? After t values?",
        "Keep `running` as it is. Beside it, keep the weight of the 0: it begins at 1, and each "
        "value multiplies it by 1 - momentum.",
        "All weights together are 1, so the values have 1 minus the weight of the 0. Append running "
        "divided by that; do not assign it to running.",
    ),
)


@corrected_averages.check
def _(answer, rng):
    (count,) = drawn_sizes(rng, 11)
    for momentum in (0.5, 0.1, rng.uniform(0.2, 0.4), 1.0, 0.001):
        for values in ([10, 10, 3, 0, 7], rng.normal(3.0, 2.0, size=count).tolist()):
            with untouched(values=values):
                averages = answer(values, momentum)
            averages = list(averages) if isinstance(averages, np.ndarray) else averages
            expect_several(averages, *(f"average {place}" for place in range(1, len(values) + 1)))
            for place, average in enumerate(averages, start=1):
                weights = momentum * (1 - momentum) ** np.arange(place)[::-1]  # the last value counts most
                truth = float(weights @ values[:place] / weights.sum())
                try:
                    expect_values(f"the average after {place} value{'s' * (place > 1)}", average, truth)
                except CheckFailed as no:
                    raise CheckFailed(
                        f"for a momentum of {momentum:.3g}, {no.sentence}", name=no.name
                    ) from no
    return "whole numbers and others, five momenta"


@corrected_averages.probe
def _(answer, rng):
    return tuple(answer([2.0, 5.0, 11.0, 3.0], 0.3))


def averages_with(weight=lambda momentum, steps: 1 - (1 - momentum) ** steps, begin=lambda values: 0.0):
    """Return a corrected_averages with another weight of the values so far, or another begin."""

    def corrected_averages(values, momentum):
        running, averages = begin(values), []
        for steps, value in enumerate(values, start=1):
            running = (1 - momentum) * running + momentum * value
            averages.append(running / weight(momentum, steps))
        return averages

    return corrected_averages


for sentence, parts in {
    "Nothing is corrected: divide each average by the weight of the values so far.": (
        dict(weight=lambda momentum, steps: 1)
    ),
    "The 0 counts with 1 - momentum to the number of values, not momentum to it.": (
        dict(weight=lambda momentum, steps: 1 - momentum**steps if momentum < 1 else 1)
    ),
    "The correction stays the same for all; the weight of the 0 shrinks with each value.": (
        dict(weight=lambda momentum, steps: momentum)
    ),
    "It begins with the first value; that gives the first value too much weight.": (
        dict(weight=lambda momentum, steps: 1, begin=lambda values: values[0])
    ),
    "An average that begins with a value has no 0 to correct for: begin at 0, or do not divide.": (
        dict(begin=lambda values: values[0])
    ),
    "The exponent is one too large: after the first value the 0 has been multiplied once.": (
        dict(weight=lambda momentum, steps: 1 - (1 - momentum) ** (steps + 1))
    ),
    "The exponent is one too small: it begins at 0, so the first weight is 1 - 1, which is 0.": (
        dict(weight=lambda momentum, steps: 1 - (1 - momentum) ** (steps - 1))
    ),
    "You divided by the weight of the 0; the values have the rest, 1 minus that.": (
        dict(weight=lambda momentum, steps: (1 - momentum) ** steps)
    ),
}.items():
    corrected_averages.mistake(sentence)(averages_with(**parts))


@corrected_averages.mistake("You continued with the corrected average; divide only the value you append.")
def corrected_goes_on(values, momentum):
    running, averages = 0.0, []
    for steps, value in enumerate(values, start=1):
        running = (1 - momentum) * running + momentum * value
        running /= 1 - (1 - momentum) ** steps
        averages.append(running)
    return averages


@corrected_averages.mistake("This is the plain mean of all values; the newer ones must count more.")
def plain_mean(values, momentum):
    return [sum(values[:place]) / place for place in range(1, len(values) + 1)]


# 5. two modes

center = Exercise(
    "10_start_well.center",
    title="Two modes",
    points=2,
    kind="repair",
    minutes=6,
    changes=True,
    hints=(
        "Which lines of the broken function run in both modes? Which of them belong to training only?",
        "A prediction must not change anything: `running_mean` may change only `if training`.",
        "Without training, return X minus running_mean at once. The two other lines come after it.",
    ),
)


@center.check
def _(answer, rng):
    rows, narrow, wide = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for batch, n_in in ((rows, narrow), (1, wide)):
        X, running = rng.normal(3.0, 2.0, size=(batch, n_in)), rng.normal(size=n_in)
        old = running.copy()
        with untouched(X=X):
            first = answer(X, running)
        if not np.array_equal(running, old):
            raise CheckFailed("running_mean has changed after a prediction; only training may change it")
        expect_values("without training, the result", first, X - old)
        mean = X.mean(axis=0)
        with untouched(X=X):
            trained = answer(X, running, training=True)
        if not isinstance(trained, np.ndarray) or trained is X:
            raise CheckFailed("while training, it must return a new array")
        if batch == 1 and np.allclose(trained, X - running):
            raise CheckFailed("while training, the batch's own mean must be subtracted, not the running one")
        expect_values("while training, the result", trained, X - mean)
        if np.array_equal(running, old):
            raise CheckFailed(
                "running_mean is the same after training; it must move a tenth of the way to the mean of the "
                "batch, and in place: `running_mean = ...` only makes a new array"
            )
        expect_values("after training, running_mean", running, old + 0.1 * (mean - old))
    return "both modes, and what each leaves in running_mean, for two shapes"


@center.probe
def _(answer, rng):
    X, running = rng.normal(3.0, 2.0, size=(BATCH, N_IN)), rng.normal(size=N_IN)
    return answer(X, running, training=True), running.copy(), answer(X, running), running


@center.mistake("While training, subtract the mean of the batch; the average is only updated.")
def always_the_average(X, running_mean, training=False):
    if training:
        running_mean += 0.1 * (X.mean(axis=0) - running_mean)
    return X - running_mean


@center.mistake("A prediction must use the running mean: a batch may be a single example.")
def always_the_batch(X, running_mean, training=False):
    mean = X.mean(axis=0)
    if training:
        running_mean += 0.1 * (mean - running_mean)
    return X - mean


@center.mistake("That is one mean for the whole batch: each column has a mean of its own, axis=0.")
def one_mean_for_all(X, running_mean, training=False):
    mean = X.mean() if training else running_mean
    if training:
        running_mean += 0.1 * (mean - running_mean)
    return X - mean


@center.mistake("The shares are exchanged: 0.9 of the old mean stays, and 0.1 of the new one comes in.")
def momentum_exchanged(X, running_mean, training=False):
    if not training:
        return X - running_mean
    mean = X.mean(axis=0)
    running_mean += 0.9 * (mean - running_mean)
    return X - mean


# 6. dropout

dropout = Exercise(
    "10_start_well.dropout",
    title="Thinned out",
    points=3,
    kind="repair",
    minutes=8,
    hints=(
        "How often is `rng.random` called in one forward and backward pass? How often should it be?",
        "Draw the mask once, outside of `backward`, and let both directions multiply by it. Then: "
        "what share of a row of ones is left on average?",
        "1 - rate is left, so divide the mask by 1 - rate; then both directions are scaled.",
    ),
)


@dropout.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    usual = (0.4, (200, 50)), (0.75, (60, 40, 4)), (0.0, (batch, n_in))
    for rate, shape in also_drawn(usual, lambda: (rng.uniform(0.2, 0.7), (200, 50)), count=1):
        X, dY = rng.normal(3.0, 1.0, size=(2, *shape))
        generator, once, same_again = map(np.random.default_rng, [int(rng.integers(1000))] * 3)
        with untouched(X=X, dY=dY):
            same, backward = expect_several(answer(X, rate, generator), "Y", "backward")
            expect_values("without training, Y", same, X)
            expect_values("without training, dX", backward(dY), dY)
        if _state(generator) != _state(once):
            raise CheckFailed("without training it draws from rng; where nothing is dropped, draw nothing")
        with untouched(X=X, dY=dY):
            Y, backward = expect_several(answer(X, rate, generator, training=True), "Y", "backward")
            drawn = _state(generator)
            first = backward(dY)
        expect_shape("Y", Y, "X", X)
        expect_shape("dX", first, "X", X)
        if rate and drawn == _state(once):
            raise CheckFailed("in training, nothing is drawn from rng: use the generator that you are given")
        if _state(generator) != drawn:
            raise CheckFailed("backward draws from rng, too: draw the mask once, in the forward pass")
        once.random(shape)
        if rate and drawn != _state(once):
            raise CheckFailed("it must draw by one call of rng.random for a whole X, and by no other")
        mask, dX = Y / X, np.copy(first)
        _expect_a_mask(mask, rate)
        if not np.array_equal(dX == 0, Y == 0):
            raise CheckFailed("the forward and the backward pass drop different entries")
        expect_values("dX", dX, dY * mask, "with the mask of the forward pass it must be")
        with because(LEFT_BEHIND):
            expect_values("in a second call of backward, with 2 dY, dX", backward(2 * dY), 2 * dX)
        with because(OWN_MEMORY):
            answer(X, rate, once, training=True)
            expect_values("after another pass, dX", backward(dY), dX, "before it was")
        with because("What is dropped depends on the draw alone, and a number that is kept may be 0"):
            thin = np.maximum(X - 3, 0)  # as a ReLU returns it
            Y, backward = answer(thin, rate, same_again, training=True)
            expect_values("for an X with zeros, and the same draw, Y", Y, thin * mask)
            expect_values("for an X with zeros, and the same draw, dX", backward(dY), dX)
    return "both modes, the share, the stretch, one mask for both directions, and an X with zeros"


def _state(rng):
    """Return the state of a generator."""
    return rng.bit_generator.state


def _expect_a_mask(mask, rate):
    """Require that a mask keeps the right share, scaled by the right factor."""
    share, bar = np.mean(mask != 0), np.sqrt(rate * (1 - rate) / mask.size)
    if abs(share - (1 - rate)) > 5 * bar:
        why = ": keep where the random number is rate or more" if abs(share - rate) < 5 * bar else ""
        raise CheckFailed(
            f"with a rate of {rate:g}, {share:.0%} of the numbers are kept; it must be {1 - rate:.0%}{why}"
        )
    stretched = mask[mask != 0]
    if not np.allclose(stretched, stretched[0]):
        raise CheckFailed("the kept numbers are not all scaled by the same factor")
    if not np.isclose(stretched[0], 1 / (1 - rate)):
        raise CheckFailed(
            f"with a rate of {rate:g}, what is kept must be multiplied by {1 / (1 - rate):.4g}, so that the "
            f"mean stays the same on average; yours is multiplied by {stretched[0]:.4g}"
        )


@dropout.probe
def _(answer, rng):
    X = np.arange(1.0, 61.0)
    Y, backward = answer(X, 0.4, np.random.default_rng(3), training=True)
    return Y, backward(X)


@dropout.mistake("The 1 - rate is kept, so divide by 1 - rate, not by rate.")
def divided_by_the_rate(X, rate, rng, training=False):
    if not training or rate == 0:
        return X, lambda dY: dY
    kept = (rng.random(X.shape) >= rate) / rate
    return X * kept, lambda dY: dY * kept


@dropout.mistake("The rate is the share that is dropped; here it is the share that is kept.")
def rate_is_kept(X, rate, rng, training=False):
    if not training or rate == 0:
        return X, lambda dY: dY
    kept = (rng.random(X.shape) < rate) / rate
    return X * kept, lambda dY: dY * kept


@dropout.mistake("The numbers are scaled in training, so a prediction returns X unchanged.")
def shrunk_when_predicting(X, rate, rng, training=False):
    if not training:
        return X * (1 - rate), lambda dY: dY * (1 - rate)
    kept = (rng.random(X.shape) >= rate) / (1 - rate)
    return X * kept, lambda dY: dY * kept


@dropout.mistake("Outside training nothing is dropped or scaled.")
def always_on(X, rate, rng, training=False):
    kept = (rng.random(X.shape) >= rate) / (1 - rate)
    return X * kept, lambda dY: dY * kept
