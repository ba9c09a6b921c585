"""The exercises of chapter 09: momentum, bias correction, Lion, clipping, a schedule, shared parameters."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    N_IN,
    N_OUT,
    also_drawn,
    expect_guesses,
    expect_shape,
    expect_step,
    expect_values,
    untouched,
)
from minigrad.optimizers import SGD
from minigrad.parameter import Parameter

# 1. what momentum makes of slopes

three_velocities = Exercise(
    "09_optimizers.three_velocities",
    title="Three velocities",
    points=2,
    kind="predict",
    minutes=8,
    hints=(
        "The average is the velocity times 1 - β. A velocity that no longer changes is v = 0.8 v + slope.",
        "The learning rate is α times 1 - β. On a constant slope the velocity ends at slope / 0.2, "
        "and a step is the learning rate times the velocity.",
        "A velocity that alternates keeps its size: size = -0.8 size + 9. Bring 0.8 size to the other side.",
    ),
)


def _velocities(slopes, momentum):
    """Return the velocity after each of many slopes."""
    W, optimizer, velocities = Parameter(0.0), SGD(learning_rate=1.0, momentum=momentum), []
    for slope in slopes:
        before = W.data.copy()
        W.grad[...] = slope
        optimizer.step([W])
        velocities.append(float(before - W.data))
    return velocities


@three_velocities.check
def _(answer, rng):
    average, slopes = 0.0, rng.normal(size=50)
    for slope in slopes:
        average = 0.8 * average + (1 - 0.8) * slope
    expect_guesses(
        answer(),
        {
            "the learning rate": 0.5 * average / _velocities(slopes, 0.8)[-1],
            "the length of a step on the constant slope": 0.1 * _velocities([3.0] * 200, 0.8)[-1],
            "the size of the swinging velocity": abs(_velocities([9.0, -9.0] * 100, 0.8)[-1]),
        },
    )
    return "compared with walks of 200 steps"


three_velocities.slips(
    {
        (2.5, 1.5, 5.0): "The average is the smaller of the two, so its α is the larger: multiply by 1 - β.",
        (0.4, 1.5, 5.0): (
            "That is α β; the factor between the two forms is the weight of a new gradient, 1 - β."
        ),
        (0.5, 1.5, 5.0): (
            "With α the factor is on an average, in our form on a sum, which is longer: the two differ."
        ),
        (0.1, 15.0, 5.0): "That is the velocity; a step is the learning rate times the velocity.",
        (0.1, 0.3, 5.0): "That is a plain step: on a constant slope the velocity grows beyond the slope.",
        (0.1, 0.375, 5.0): "The velocity ends at slope / (1 - β): divide by 0.2, not by 0.8.",
        (0.1, 0.06, 5.0): "That holds for an average; ours is a sum, which ends at slope / (1 - momentum).",
        (0.1, 1.5, 45.0): "That is for a constant slope; with a swinging one size = -0.8 size + 9.",
        (0.1, 1.5, 1.0): "That is what an average would end at; ours is a sum.",
        (0.1, 1.5, 9.0): (
            "With alternating slopes the velocity is smaller than the slope: each works against the last."
        ),
        (0.1, 1.5, -5.0): "The size has no sign.",
        (0.1, 1.5, 9 * 1.8): "From size = -0.8 size + 9 comes 1.8 size = 9: divide.",
        (0.1, 1.5, 0.5): (
            "No learning rate is given for the swinging slopes; the question is the velocity, not a step."
        ),
        (0.3, 1.5, 5.0): "The 0.3 is the answer of the chapter's small example, with other numbers.",
    }
)


# 2. a corrected mean

smoothed = Exercise(
    "09_optimizers.smoothed",
    title="A smooth curve",
    points=2,
    kind="fill",
    minutes=8,
    hints=(
        "Keep the uncorrected mean in one variable, and put a corrected copy of it into the list each time.",
        "After one value the mean is too small by the factor 1 - beta, after two by 1 - beta**2.",
        "`for steps, value in enumerate(values, start=1)`: the mean as stated, then append mean divided by …",
    ),
)


def _corrected(values, beta):
    """Return the mean of the values so far, weighted by age."""
    means = []
    for count in range(1, len(values) + 1):
        shares = float(beta) ** np.arange(count)[::-1]
        means.append(np.sum(shares * values[:count]) / np.sum(shares))
    return np.array(means)


@smoothed.check
def _(answer, rng):
    cases = [np.full(5, 3.0), np.array([8.0, 4.0]), rng.normal(size=11) + 2, rng.normal(size=1)]
    for values, beta in zip(cases, (0.9, 0.5, rng.uniform(0.6, 0.95), 0.7), strict=True):
        case = f"for {np.round(values, 2).tolist()} and a beta of {beta:.3g}, "
        with untouched(values=values):
            returned = answer(values, beta)
        if returned is None or np.ndim(returned) != 1:
            raise CheckFailed(f"it must return one number for each value, but returned {described(returned)}")
        if len(returned) != len(values):
            raise CheckFailed(f"{case}it returns {len(returned)} numbers; it must return {len(values)}")
        if not np.all(np.isfinite(returned)):
            raise CheckFailed(f"{case}it returns {np.round(returned, 2).tolist()}: is there a division by 0?")
        expect_values(f"{case}the result", np.asarray(returned), _corrected(values, beta))
    values = rng.normal(size=7)
    expect_values(
        "with a beta of 0, which forgets at once, the result", np.asarray(answer(values, 0.0)), values
    )
    expect_values(
        "for a plain list, the result", np.asarray(answer([8.0, 4.0], 0.5)), _corrected([8, 4], 0.5)
    )
    whole = np.array([8, 4, 1])
    expect_values("for whole numbers, the result", np.asarray(answer(whole, 0.5)), _corrected(whole, 0.5))
    expect_values(
        "for a beta of 0.99999, the result", np.asarray(answer(values, 0.99999)), _corrected(values, 0.99999)
    )
    return "a constant, random values, a single one, and a beta of 0"


@smoothed.probe
def _(answer, rng):
    return np.asarray(answer(rng.normal(size=11) + 2, 0.8), dtype=float)


def moving_means(values, beta, start=0.0, correct=lambda mean, steps: mean):
    """Return moving averages with a start and a correction, for the mistakes."""
    mean, means = start, []
    for steps, value in enumerate(values, start=1):
        mean = beta * mean + (1 - beta) * value
        means.append(correct(mean, steps))
    return means


@smoothed.mistake("This is the mean without the correction; it began at 0.")
def uncorrected(values, beta):
    return moving_means(values, beta)


@smoothed.mistake("The mean must begin at 0; beginning at the first value gives that one too large a share.")
def begins_at_the_first(values, beta):
    return moving_means(values, beta, start=values[0])


@smoothed.mistake("The correction is the same for all steps; after the second it is 1 - beta**2, and so on.")
def one_correction(values, beta):
    return moving_means(values, beta, correct=lambda mean, steps: mean / (1 - beta))


@smoothed.mistake("You write the corrected mean into the running one, which is then corrected twice.")
def corrected_in_place(values, beta):
    mean, means = 0.0, []
    for steps, value in enumerate(values, start=1):
        mean = (beta * mean + (1 - beta) * value) / (1 - beta**steps)
        means.append(mean)
    return means


@smoothed.mistake("The power is one too high: after the first value it is beta to the power 1.")
def one_too_many(values, beta):
    return moving_means(values, beta, correct=lambda mean, steps: mean / (1 - beta ** (steps + 1)))


@smoothed.mistake("The count begins at 0, and 1 - beta**0 is 0: enumerate(values, start=1).")
def counted_from_zero(values, beta):
    with np.errstate(divide="ignore"):
        return moving_means(values, beta, correct=lambda mean, steps: mean / (1 - beta ** (steps - 1)))


@smoothed.mistake(
    "The count begins at 0, so the first mean is divided by 1 - beta**0, which is 0: count from 1."
)
def counted_from_zero_with_floats(values, beta):
    return counted_from_zero([float(value) for value in values], beta)


@smoothed.mistake("The correction divides; this one multiplies.")
def multiplies(values, beta):
    return moving_means(values, beta, correct=lambda mean, steps: mean * (1 - beta**steps))


# 3. a sibling of Adam

lion = Exercise(
    "09_optimizers.Lion",
    title="The lion",
    points=3,
    kind="fill",
    minutes=10,
    answer="class",
    changes=True,
    hints=(
        "Take `Adam` from the chapter: one dictionary instead of three, for the means.",
        "The order matters: the step uses the old mean, mixed with beta1; then beta2 updates the mean.",
        "`mean = self.means.setdefault(parameter, …)`, as in `Adam`; the step, with `np.sign(…)`; then "
        "the two shares of the mean, in place.",
    ),
)


def _parameters(rng):
    """Return parameters of several shapes, without gradients yet."""
    return [Parameter(rng.normal(size=shape)) for shape in ((N_IN, N_OUT), (N_IN, N_OUT), (N_OUT,), ())]


def _truth(gradients, learning_rate, beta1, beta2):
    """Return the moves and the last mean that the statement's two lines make of a row of gradients."""
    mean, move = 0.0, 0.0
    for gradient in gradients:
        move = move - learning_rate * np.sign(beta1 * mean + (1 - beta1) * gradient)
        mean = beta2 * mean + (1 - beta2) * gradient
    return move, mean


@lion.check
def _(answer, rng):
    for beta1, beta2 in ((0.5, 0.75), (0.9, 0.99), (0.0, 0.5)):
        run = _Run(answer, _parameters(rng), (rng.uniform(0.05, 0.2), beta1, beta2))
        for step in range(1, 7):
            gradients = []
            for parameter in run.parameters:
                # in the fifth step it is flat, and the mean still steps
                size = 10 ** rng.uniform(-2, 2) if step != 5 else 0.0
                gradients.append(rng.normal(size=parameter.shape) * size)
            run.step(gradients, turned=step > 3)  # the memory must not go by place
            turned = ", with the list given in reverse," if step > 3 else ","
            run.expect(f"after step {step}{turned} ")
        _expect_first_step(answer(run.settings[0], 0.9, beta2), run.parameters, run.settings[0])
    _expect_a_late_parameter(answer, rng)
    run = _Run(lambda *settings: answer(), [Parameter(rng.normal(size=4))], (1e-3, 0.9, 0.99))
    for factor in (1.0, -0.05):  # the second sign depends on both shares
        run.step([factor * rng.uniform(0.5, 2.0, size=4)])
    run.expect("with the three numbers of its signature, ")
    zero = Parameter([3.0])
    answer(0.1, 0.9, 0.99).step([zero])
    expect_values("data where the slope is always 0", zero.data, np.array([3.0]))
    return (
        "six steps with three pairs of shares, four shapes, a reversed list, a new optimizer, "
        "and a slope of 0"
    )


class _Run:
    """An optimizer at its parameters, with what these began with and each gradient that they were given."""

    def __init__(self, answer, parameters, settings):
        self.optimizer, self.parameters, self.settings = answer(*settings), parameters, settings
        self.arrays = [parameter.data for parameter in parameters]
        self.starts = [parameter.data.copy() for parameter in parameters]
        self.past = [[] for _ in parameters]

    def step(self, gradients, turned=False):
        """Take a step on the parameters that have a gradient, in the given or the reverse order."""
        given = []
        for parameter, past, gradient in zip(self.parameters, self.past, gradients, strict=True):
            if gradient is not None:
                past.append(gradient)
                parameter.grad[...] = gradient
                given.append(parameter)
        self.optimizer.step(given[:: -1 if turned else 1])

    def expect(self, case):
        """Require that data, means and gradients follow the two formulas."""
        for place, parameter in enumerate(self.parameters):
            past = self.past[place]
            move, mean = _truth(past, *self.settings)
            what = f"{case}parameters[{place}].data"
            expect_step(what, parameter, self.arrays[place], past[-1], (self.starts[place], move))
            means = getattr(self.optimizer, "means", None)
            if not isinstance(means, dict):
                raise CheckFailed("the means must be kept in a dictionary, self.means")
            if parameter not in means:
                kinds = " and ".join(sorted({described(key) for key in means})) or "none"
                raise CheckFailed(
                    f"self.means must have the parameters themselves as its keys, but has {kinds}"
                )
            expect_shape("the mean", means[parameter], "data", parameter.data)
            expect_values(f"{case}means[parameters[{place}]]", means[parameter], mean)


def _expect_a_late_parameter(answer, rng):
    """Require a separate mean for a parameter that joins at the second step."""
    run = _Run(answer, _parameters(rng)[:2], (0.1, 0.5, 0.75))
    first, late = (parameter.shape for parameter in run.parameters)
    run.step([rng.normal(size=first), None])
    run.step([None, rng.normal(size=late)])
    run.step([rng.normal(size=first), rng.normal(size=late)], turned=True)
    run.expect("with a parameter that comes at the second step, ")


def _expect_first_step(optimizer, parameters, rate):
    """Require that two optimizers do not share their means."""
    starts = [parameter.data.copy() for parameter in parameters]
    for parameter in parameters:
        parameter.grad *= -1e-9  # too small to turn a mean round that is there already
    optimizer.step(parameters)
    for place, (parameter, start) in enumerate(zip(parameters, starts, strict=True)):
        what = f"after the first step of a new optimizer, parameters[{place}].data"
        expect_values(what, parameter.data, start - rate * np.sign(parameter.grad))


@lion.probe
def _(answer, rng):
    parameters, optimizer = _parameters(rng), answer(0.1, 0.6, 0.8)
    for step in range(5):
        for parameter in parameters:
            parameter.grad[...] = rng.normal(size=parameter.shape) * (step != 3)  # flat
        optimizer.step(parameters)
    return tuple(parameter.data for parameter in parameters)


class Optimizer:
    """The constructor that correct and wrong optimizers share."""

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.99):
        self.learning_rate, self.beta1, self.beta2 = learning_rate, beta1, beta2
        self.means = {}

    def step(self, parameters):
        for parameter in parameters:
            self._one(parameter, self.means.setdefault(parameter, np.zeros_like(parameter.data)))

    def _mix(self, mean, gradient):
        return self.beta1 * mean + (1 - self.beta1) * gradient

    def _update(self, mean, gradient):
        mean[...] = self.beta2 * mean + (1 - self.beta2) * gradient


@lion.mistake("The mean is updated before the step; the step uses the old one.")
class RenewsFirst(Optimizer):
    def _one(self, parameter, mean):
        self._update(mean, parameter.grad)
        parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))


@lion.mistake("The step uses only the mean; mix it with the gradient by beta1.")
class StepsByTheMean(Optimizer):
    def _one(self, parameter, mean):
        self._update(mean, parameter.grad)
        parameter.data -= self.learning_rate * np.sign(mean)


@lion.mistake("The sign is left out: all steps must have the same length.")
class WithoutTheSign(Optimizer):
    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * self._mix(mean, parameter.grad)
        self._update(mean, parameter.grad)


@lion.mistake("This is the sign of the old mean alone; the new gradient belongs in it too.")
class WithoutTheGradient(Optimizer):
    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * np.sign(mean)
        self._update(mean, parameter.grad)


@lion.mistake("This is the sign of the gradient alone; the mean belongs in it too.")
class WithoutTheMean(Optimizer):
    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * np.sign(parameter.grad)
        self._update(mean, parameter.grad)


@lion.mistake("The mean is a sum here: the gradient enters it with the share 1 - beta2.")
class MeanIsASum(Optimizer):
    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))
        mean[...] = self.beta2 * mean + parameter.grad


@lion.mistake("The shares are exchanged: beta1 mixes for the step, beta2 updates the mean.")
class SharesExchanged(Optimizer):
    def _one(self, parameter, mean):
        mixed = self.beta2 * mean + (1 - self.beta2) * parameter.grad
        parameter.data -= self.learning_rate * np.sign(mixed)
        mean[...] = self._mix(mean, parameter.grad)


@lion.mistake("One mixture is not enough: beta1 mixes for the step, and beta2 updates the mean.")
class OneMixture(Optimizer):
    def _one(self, parameter, mean):
        mean[...] = self._mix(mean, parameter.grad)
        parameter.data -= self.learning_rate * np.sign(mean)


def _of_sign(sign):
    """Return a Lion with another function for the sign."""

    class Lion(Optimizer):
        def _one(self, parameter, mean):
            parameter.data -= self.learning_rate * sign(self._mix(mean, parameter.grad))
            self._update(mean, parameter.grad)

    return Lion


for _sentence, _sign in (
    ("The sign of 0 is 0: what has no gradient and no mean stays.", lambda u: np.where(u >= 0, 1.0, -1.0)),
    ("The sign of 0 is 0: what has no gradient and no mean stays.", lambda u: np.where(u > 0, 1.0, -1.0)),
    ("The smallest slope makes a whole step: add nothing to what divides.", lambda u: u / (abs(u) + 1e-8)),
):
    lion.mistake(_sentence)(_of_sign(_sign))


@lion.mistake("The mean begins at the first gradient: it begins at zeros.")
class BeginsAtTheGradient(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            mean = self.means.setdefault(parameter, parameter.grad.copy())
            parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))
            self._update(mean, parameter.grad)


@lion.mistake("The mixture for the step is made in the mean itself: make a new array.")
class MixesInTheMean(Optimizer):
    def _one(self, parameter, mean):
        mean[...] = self._mix(mean, parameter.grad)
        parameter.data -= self.learning_rate * np.sign(mean)
        self._update(mean, parameter.grad)


@lion.mistake("One mean for all parameters has one shape: keep one for each parameter.")
class OneMeanForAll(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            mean, gradient = getattr(self, "mean", 0.0), parameter.grad
            parameter.data -= self.learning_rate * np.sign(self._mix(mean, gradient))
            self.mean = self.beta2 * mean + (1 - self.beta2) * gradient


@lion.mistake("A Parameter has only data and a gradient; an optimizer stores its own state.")
class OnTheParameter(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            if not hasattr(parameter, "mean"):
                parameter.mean = np.zeros_like(parameter.data)
            self._one(parameter, parameter.mean)


@lion.mistake("All optimizers share one dictionary: make one for each in `__init__`.")
class OneDictionaryForAll(Optimizer):
    means = {}

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.99):
        self.learning_rate, self.beta1, self.beta2 = learning_rate, beta1, beta2

    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))
        self._update(mean, parameter.grad)


@lion.mistake("The mean is never updated, so it stays at zeros.")
class NeverRenews(Optimizer):
    def _one(self, parameter, mean):
        parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))


# 4. a clipping that keeps the direction

clip_length = Exercise(
    "09_optimizers.clip_length",
    title="Shortened, not turned",
    points=2,
    kind="repair",
    minutes=6,
    hints=(
        "You need two loops over the parameters: one to measure all together, one to multiply.",
        "The length of a long row is the root of the sum of all its squares; `np.sum(parameter.grad**2)` is "
        "one parameter's share of that sum.",
        "If `length > longest`, multiply each `parameter.grad`, in place, by `longest / length`.",
    ),
)


SHAPES = (N_IN, N_OUT), (N_OUT,)


def _with_gradients(rng, length, shapes=SHAPES, order="C"):
    """Return parameters of several shapes whose gradients have a length together."""
    parameters = [Parameter(np.ones(shape, order=order)) for shape in shapes]
    for parameter in parameters:
        parameter.grad += rng.normal(size=parameter.shape)
    factor = length / gradient_length(parameters)
    for parameter in parameters:
        parameter.grad *= factor
    return parameters


def _row(parameters):
    """Return all gradients as one row."""
    return np.concatenate([parameter.grad.ravel() for parameter in parameters])


def gradient_length(parameters):
    """Return the length of all gradients as one row."""
    return np.linalg.norm(_row(parameters))


@clip_length.check
def _(answer, rng):
    usual = (7.0, 1.0), (2.0, 1.9), (2.0, 0.5), (300.0, 5.0), (0.5, 1.0), (3.0, 5.0), (0.0, 1.0), (3e-9, 1e-9)
    for length, longest in also_drawn(usual, lambda: (rng.uniform(2, 9), rng.uniform(0.5, 1.5))):
        _expect_shortened(answer, _with_gradients(rng, length), length, longest)
    structures = {
        "one parameter": ([(N_IN,)], "C"),
        "four parameters": ([(N_IN,), (1, N_OUT), (2,), (N_OUT, 1)], "C"),
        "a transposed array": (SHAPES, "F"),
        "a parameter of one number": ([(2,), ()], "C"),
    }
    for name, structure in structures.items():
        _expect_shortened(answer, _with_gradients(rng, 7.0, *structure), 7.0, 1.0, f"with {name}, ")
    return "rows that are too long, that are short enough, and of zeros, over one to four parameters"


def _expect_shortened(answer, parameters, length, longest, case=""):
    """Require that gradients of a length are scaled in place, and nothing else is changed."""
    arrays, before = [parameter.grad for parameter in parameters], [p.grad.copy() for p in parameters]
    answer(parameters, longest)
    after = gradient_length(parameters)
    case = f"{case}a length of {length:g}, at most {longest:g}, afterwards {after:.4g}: parameters"
    must = "it must be" if length > longest else "it is short enough, and must stay"
    for place, parameter in enumerate(parameters):
        truth = before[place] * min(1.0, longest / (length or longest))
        unit, name = (longest, ".grad / longest") if longest < 1e-6 else (1.0, ".grad")
        expect_values(f"{case}[{place}]{name}", parameter.grad / unit, truth / unit, must)
    if any(parameter.grad is not array for parameter, array in zip(parameters, arrays, strict=True)):
        raise CheckFailed("grad is another array afterwards; change the one that is there, with *=")
    if any(np.any(parameter.data != 1) for parameter in parameters):
        raise CheckFailed("it changes data; only the gradients are to be shortened")


@clip_length.probe
def _(answer, rng):
    gradients = []
    for length in (7.0, 0.5):
        parameters = _with_gradients(rng, length)
        answer(parameters, 1.0)
        gradients += [parameter.grad for parameter in parameters]
    return tuple(gradients)


def clipping(length=gradient_length, factor=lambda longest, length: longest / length):
    """Return a clip_length with another length, or another factor, for the mistakes."""

    def clip_length(parameters, longest):
        found = length(parameters)
        if found > longest:
            for parameter in parameters:
                parameter.grad *= factor(longest, found)

    return clip_length


LENGTHS = {
    "The root is missing: the length is the root of the sum of squares.": lambda ps: _row(ps) @ _row(ps),
    "The largest entry is not the length; it is the root of the sum of squares.": lambda ps: max(
        abs(_row(ps))
    ),
    "The sum of the sizes is not the length; it is the root of the sum of squares.": lambda ps: sum(
        abs(_row(ps))
    ),
    "You take a mean of the squares; the length has their sum.": lambda ps: np.mean(_row(ps) ** 2) ** 0.5,
    "The lengths of the parameters do not add up; add their squares, and take the root.": lambda ps: sum(
        gradient_length([p]) for p in ps
    ),
    "That is the length of the longest parameter; measure all of them together.": lambda ps: max(
        gradient_length([p]) for p in ps
    ),
    "You square the sums; square each entry first, and then add.": lambda ps: np.linalg.norm(
        [p.grad.sum() for p in ps]
    ),
    "You measure data; it is the gradients whose length counts.": lambda ps: _row(ps).size ** 0.5,
    "Gradients of several shapes do not join: make a row of each first, with ravel.": lambda ps: (
        np.concatenate([p.grad for p in ps])
    ),
    "An if needs one number; yours compares an array.": lambda ps: ps[0].grad,
}
for sentence, length in LENGTHS.items():
    clip_length.mistake(sentence)(clipping(length))
clip_length.mistake("A row that is too long is divided by its length, and so has the length 1, not longest.")(
    clipping(factor=lambda longest, length: 1 / length)
)
for small in (1e-6, 1e-8, 1e-12):
    clip_length.mistake("A small number is added to the length: tiny gradients become too short.")(
        clipping(factor=lambda longest, length, small=small: longest / (length + small))
    )


@clip_length.mistake("Each entry is cut separately, as in the broken one: the direction changes.")
def entry_by_entry(parameters, longest):
    for parameter in parameters:
        np.clip(parameter.grad, -longest, longest, out=parameter.grad)


@clip_length.mistake("Each parameter is cut by itself: measure all of them together, as one row.")
def parameter_by_parameter(parameters, longest):
    for parameter in parameters:
        clipping()([parameter], longest)


@clip_length.mistake("The gradients are as they were: change each grad in place, with *=.")
def returned_instead(parameters, longest):
    return None


@clip_length.mistake("This grad is as it was: a row made from a transposed array is a copy.")
def in_rows(parameters, longest):
    length = gradient_length(parameters)
    if length > longest:
        for parameter in parameters:
            row = parameter.grad.ravel()
            row *= longest / length


@clip_length.mistake(
    "You measure the length again for each parameter, when the ones before are already shortened."
)
def measured_anew(parameters, longest):
    for parameter in parameters:
        clipping(lambda _: gradient_length(parameters))([parameter], longest)


# 5. a schedule

up_then_root = Exercise(
    "09_optimizers.up_then_root",
    title="Up, and slowly down",
    points=2,
    kind="fill",
    minutes=6,
    hints=(
        "Write a function inside the function, and return it without calling it. It remembers "
        "`learning_rate` and `warmup`.",
        "The inner one has an `if` for the line up, and otherwise the root; `** 0.5` is a root.",
        "Inside: `if step < warmup: return …`, the line; and below it `return …`, with the root.",
    ),
)


def _root_truth(rate, warmup, step):
    """Return the smaller of the line and the root: where one ends, the other begins."""
    return rate * min((step + 1) / warmup, np.sqrt(warmup / (step + 1)))


@up_then_root.check
def _(answer, rng):
    cases = [
        (rng.uniform(0.1, 3.0), int(rng.integers(5, 50))),
        (0.8, 4),
        (rng.uniform(0.1, 3.0), 1),
        (1e-6, 3),
    ]
    schedules = [answer(*case) for case in cases]  # all at once: none may change another
    for (rate, warmup), schedule in zip(cases, schedules, strict=True):
        if not callable(schedule):
            raise CheckFailed(f"it must return a function of step, but returned {described(schedule)}")
        steps = [0, 15, warmup - 1, warmup, warmup + 1, 3 * warmup, 1000, 0]  # in no order: it may not count
        for step in steps:
            name = f"up_then_root({rate:.3g}, {warmup}) at step {step}{', over its rate,' * (rate < 1e-3)}"
            unit = rate if rate < 1e-3 else 1.0
            expect_values(name, schedule(step) / unit, _root_truth(rate, warmup, step) / unit)
    return "the line, the top, the root, for three warmups, in any order"


@up_then_root.probe
def _(answer, rng):
    return tuple(answer(0.7, 5)(step) for step in (0, 1, 4, 5, 6, 30))


@up_then_root.mistake("It begins at 0: the first step, number 0, has (0 + 1) / warmup of the rate.")
def begins_at_zero(learning_rate, warmup):
    def schedule(step):
        return learning_rate * (step / warmup if step < warmup else (warmup / (step + 1)) ** 0.5)

    return schedule


@up_then_root.mistake("The + 1 is missing, on the way up and under the root: step 0 is the first step.")
def without_any_one(learning_rate, warmup):
    def schedule(step):
        return learning_rate * (step / warmup if step < warmup else (warmup / step) ** 0.5)

    return schedule


@up_then_root.mistake("At step warmup the way down has begun: the line is for step < warmup, without the =.")
def up_for_one_more(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) / warmup if step <= warmup else (warmup / (step + 1)) ** 0.5)

    return schedule


@up_then_root.mistake("A division by // drops the fraction: divide by /.")
def divided_without_a_rest(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) // warmup if step < warmup else (warmup / (step + 1)) ** 0.5)

    return schedule


@up_then_root.mistake("A division by // drops the fraction: divide by / here.")
def the_product_divided_without_a_rest(learning_rate, warmup):
    def schedule(step):
        if step < warmup:
            return learning_rate * (step + 1) // warmup
        return learning_rate * (warmup / (step + 1)) ** 0.5

    return schedule


@up_then_root.mistake(
    "Only warmup / (step + 1) belongs under the root; multiply that root by the learning rate."
)
def rate_under_the_root(learning_rate, warmup):
    return lambda step: (
        learning_rate * (step + 1) / warmup if step < warmup else (learning_rate * warmup / (step + 1)) ** 0.5
    )


@up_then_root.mistake("The root is missing: the way down is too steep.")
def without_the_root_on_the_way_down(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) / warmup if step < warmup else warmup / (step + 1))

    return schedule


@up_then_root.mistake(
    "The way down must begin at the top: the root is of warmup / (step + 1), not of 1 / (step + 1)."
)
def without_warmup_under_the_root(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) / warmup if step < warmup else (step + 1) ** -0.5)

    return schedule


@up_then_root.mistake("The way down counts from the end of the warmup; it must count from the start.")
def counted_from_the_top(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) / warmup if step < warmup else (step - warmup + 2) ** -0.5)

    return schedule


# 6. a list in which none comes twice

each_once = Exercise(
    "09_optimizers.each_once",
    title="Each one once",
    points=2,
    kind="repair",
    minutes=5,
    hints=(
        "The two biases hold zeros, so their numbers are equal. Are they the same object?",
        "Python asks for the same object with `is`.",
        "Replace `np.array_equal(W.data, other.data)` by a comparison of the two objects with `is`.",
    ),
)


def _lists(rng):
    """Return lists of parameters, with words for each."""
    W, V = Parameter(rng.normal(size=(N_IN, N_OUT))), Parameter(rng.normal(size=(N_IN, N_OUT)))
    a, b, c = (Parameter(np.zeros(N_OUT), trainable=trainable) for trainable in (True, True, False))
    same_array = Parameter(W.data)
    same_array.data = W.data
    return {
        "[W, b, W]": [W, a, W],
        "two zero biases": [W, a, V, b],
        "a layer used three times": [V, a, W, b, V, a, V, a],
        "two parameters with one array": [W, same_array, W],
        "parameters made in another order, one of them frozen": [c, W, b, V, a, c, W],
        "an empty list": [],
    }


@each_once.check
def _(answer, rng):
    for case, given in _lists(rng).items():
        before, expected = list(given), list({id(parameter): parameter for parameter in given}.values())
        kept = answer(given)
        if len(given) != len(before) or any(a is not b for a, b in zip(given, before, strict=True)):
            raise CheckFailed("it changes the list that it is given; make a new one")
        if not isinstance(kept, list):
            raise CheckFailed(f"it must return a list of parameters, but returned {described(kept)}")
        if any(all(parameter is not other for other in given) for parameter in kept):
            raise CheckFailed(f"{case}: what it returns is not the same objects; do not copy them")
        if len({id(parameter) for parameter in kept}) < len(kept):
            raise CheckFailed(f"{case}: one parameter is still there twice")
        if len(kept) < len(expected):
            verb = "is" if len(kept) == 1 else "are"
            raise CheckFailed(f"{case}: of {len(expected)} parameters only {len(kept)} {verb} left")
        if any(a is not b for a, b in zip(kept, expected, strict=True)):
            raise CheckFailed(f"{case}: the order of first appearance is not kept")
    return "five lists: equal numbers, shared layers, their order, and nothing at all"


@each_once.probe
def _(answer, rng):
    places = []
    for given in _lists(rng).values():
        places += [[other is parameter for other in given].index(True) for parameter in answer(list(given))]
    return places


@each_once.mistake("Equal numbers do not make two parameters one: test whether it is the same object.")
def by_their_numbers(parameters):
    kept = []
    for parameter in parameters:
        if not any(np.array_equal(parameter.data, other.data) for other in kept):
            kept.append(parameter)
    return kept


@each_once.mistake("Equal shapes do not make two parameters one: test whether it is the same object.")
def by_their_shapes(parameters):
    return list({parameter.shape: parameter for parameter in reversed(parameters)}.values())[::-1]
