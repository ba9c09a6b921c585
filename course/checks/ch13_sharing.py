"""The exercises of chapter 13: counts, a tied autoencoder, a cosine, a trap, freezing, parts."""

import copy
from functools import partial

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    by_nudging,
    drawn_sizes,
    expect_gradcheck,
    expect_guesses,
    expect_layer,
    expect_made,
    expect_several,
    expect_shape,
    expect_values,
    first_wrong,
    gap_along_a_way,
    untouched,
)
from minigrad.beyond.sharing import replica
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import ReLU, Tanh
from minigrad.layers.linear import Linear
from minigrad.losses import cross_entropy, mse
from minigrad.parameter import Parameter
from minigrad.parts import named_parts

# 1. how many numbers learn

how_many = Exercise(
    "13_sharing.how_many",
    title="Shared or not",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "For each model ask how many *different* Parameter objects it holds, whatever numbers they hold.",
        "`[layer] * 4` calls Linear once, the comprehension four times. `other` brings a bias of its own.",
        "`deepcopy` remembers what it has copied, so one object in two places stays one. A replica has new "
        "Parameter objects, and these are in the model beside those of `layer`.",
    ),
)


def _half_shared(layer):
    """Return a model of two layers that share W, and not b."""
    other = Linear(3, 3, rng=1)
    other.W = layer.W
    return layer >> ReLU() >> other


def _truths(rng):
    """Return the number of trained numbers of each model."""
    layer = Linear(3, 3, rng=rng)
    models = {
        "the count of [layer] * 4": Sequential(*[layer] * 4),
        "the count of the comprehension": Sequential(*[Linear(3, 3, rng=rng) for _ in range(4)]),
        "the count of the two layers with one W": _half_shared(layer),
        "the count of the deepcopy": copy.deepcopy(layer >> ReLU() >> layer),
        "the count of the model with a replica inside": layer >> ReLU() >> replica(layer),
    }
    return {
        what: float(sum(parameter.data.size for parameter in model.parameters()))
        for what, model in models.items()
    }


@how_many.check
def _(answer, rng):
    expect_guesses(answer(), _truths(rng))
    return "five models, made and counted"


@how_many.probe
def _(answer, rng):
    return first_wrong(answer(), _truths(rng))


PARAMETERS = "You count Parameters, not the numbers in them."


how_many.slips(
    {
        (48, 48, 15, 12, 24): "The list holds one object four times, and it is found once.",
        (12, 12, 15, 12, 24): "Each call of Linear makes new Parameters.",
        (12, 48, 12, 12, 24): "Only W is shared: there is a second bias.",
        (12, 48, 24, 12, 24): "W is one object, and its 9 numbers count once.",
        (12, 48, 15, 24, 24): (
            "Inside a deep copy, one object in two places is again one object in two places."
        ),
        (12, 48, 21, 12, 24): "That shares the biases, not the matrix: W is the one object.",
        (2, 8, 3, 2, 4): PARAMETERS,
        (12, 48, 15, 12, 12): "A replica shares arrays, but its Parameters are objects of their own.",
    }
)


# 2. a tied decoder

transposed = Exercise(
    "13_sharing.Transposed",
    title="There and back with one matrix",
    points=4,
    kind="fill",
    minutes=12,
    answer="class",
    hints=(
        "Keep `linear`, or its Parameter `W`, and not the array in it: `to` puts another array there.",
        "Z (batch, n_out) times the transpose of W, (n_out, n_in), plus a row. W's gradient must have the "
        "shape (n_in, n_out): which product of dY (batch, n_in) and Z has it?",
        "dZ is `dY @ W.data`, W's gradient grows by `dY.T @ Z`, and b's by the sum of dY over the batch.",
    ),
)


def _encoder(rng, n_in=N_IN, n_out=N_OUT):
    """Return a Linear whose bias is not 0, unlike the decoder's."""
    linear = Linear(n_in, n_out, rng=rng)
    linear.b.data += rng.normal(size=n_out)
    return linear


@transposed.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    linear = _encoder(rng, n_in, n_out)
    decoder = answer(linear)
    (b,) = expect_made(decoder, "Transposed", "b")
    expect_values("at first b", b.data, np.zeros(n_in))
    found = [part for _, part in named_parts(decoder) if isinstance(part, Parameter)]
    if not any(part is linear.W for part in found):
        raise CheckFailed(
            "the decoder does not hold linear.W itself: another Parameter has a gradient of its own"
        )
    if set(map(id, found)) - {id(linear.W), id(linear.b), id(b)}:
        raise CheckFailed(
            "besides linear's Parameters and its b the decoder has another one: its matrix must be "
            "linear.W itself"
        )
    b.data += rng.normal(size=n_in)
    Z, dY = rng.normal(size=(batch, n_out)), rng.normal(size=(batch, n_in))
    expect_layer(decoder, lambda Z, W, b: Z @ W.T + b, dY, parameters={"W": linear.W, "b": b}, Z=Z)
    linear.W.data *= 2.0
    expect_values("after a step of linear, Y", decoder(Z)[0], Z @ linear.W.data.T + b.data)
    linear.W.data = linear.W.data / 3  # as `to` does: a new array in the same Parameter
    expect_values("with a new array in linear.W, Y", decoder(Z)[0], Z @ linear.W.data.T + b.data)
    expect_gradcheck(linear >> Tanh() >> decoder, rng.normal(size=(batch, n_in)))
    return "alone, after a step, and in an autoencoder, where W has gradients from both ends"


@transposed.probe
def _(answer, rng):
    linear = _encoder(rng)
    decoder = answer(linear)
    Z, dY = rng.normal(size=(BATCH, N_OUT)), rng.normal(size=(BATCH, N_IN))
    Y, backward = decoder(Z)
    dZ = backward(dY)
    linear.W.data *= 2.0  # a step, which does not change a copy
    return Y, dZ, linear.W.grad, linear.b.grad, decoder(Z)[0]


class Decoder(Layer):
    """A correct decoder, of which the mistakes change one part each."""

    def __init__(self, linear):
        self.W, self.b = linear.W, Parameter(np.zeros(linear.n_in))

    def forward(self, Z):
        return Z @ self.W.data.T + self.b.data, lambda dY: self.back(Z, dY)

    def back(self, Z, dY):
        self.W.grad += dY.T @ Z
        self.b.grad += dY.sum(axis=0)
        return dY @ self.W.data


COPIED = (
    "Parameter(...) and deepcopy copy the numbers, and a step of linear does not change a copy: keep "
    "linear.W."
)


@transposed.mistake(COPIED)
class CopiesW(Decoder):
    def __init__(self, linear):
        self.W, self.b = copy.deepcopy(linear.W), Parameter(np.zeros(linear.n_in))


@transposed.mistake(COPIED)
class TransposesAtOnce(Decoder):
    def __init__(self, linear):
        self.W, self.b = Parameter(linear.W.data.T), Parameter(np.zeros(linear.n_in))

    def forward(self, Z):
        return Z @ self.W.data + self.b.data, lambda dY: self.back(Z, dY)

    def back(self, Z, dY):
        self.W.grad += Z.T @ dY
        self.b.grad += dY.sum(axis=0)
        return dY @ self.W.data.T


@transposed.mistake("What you add has the shape of W's transpose, (n_out, n_in): exchange dY and Z.")
class AddsTheTranspose(Decoder):
    def back(self, Z, dY):
        self.W.grad += Z.T @ dY
        return dY @ self.W.data


@transposed.mistake("Z has n_out columns, and W has n_in rows: the decoder needs W transposed.")
class WithoutTransposing(Decoder):
    def forward(self, Z):
        return Z @ self.W.data + self.b.data, lambda dY: self.back(Z, dY)


@transposed.mistake("In the backward pass W is not transposed: dY has n_in columns, and W has n_in rows.")
class TransposesTwice(Decoder):
    def back(self, Z, dY):
        super().back(Z, dY)
        return dY @ self.W.data.T


@transposed.mistake("The bias is added to Y, which has n_in columns.")
class BiasOfTheEncoder(Decoder):
    def __init__(self, linear):
        self.W, self.b = linear.W, Parameter(np.zeros(linear.n_out))


# 3. the cosine of partners

cosine_of_partners = Exercise(
    "13_sharing.cosine_of_partners",
    title="Row by row",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Divide the rows of A and of B by their lengths: U and V. The cosine of a row is the sum of U * V.",
        "Nudge a row of A along B's direction V: only the part of V at right angles to U turns "
        "A. That part is V - C U.",
        "dA is `dC * (V - C * U) / lengths_A`, with dC, C and the lengths as columns, `[:, None]` or "
        "`keepdims=True`. For dB exchange the roles.",
    ),
)


def _cosines(A, B):
    """Return the cosines of rows."""
    return (A * B).sum(axis=1) / np.sqrt((A * A).sum(axis=1) * (B * B).sum(axis=1))


@cosine_of_partners.check
def _(answer, rng):
    rows, n_in = drawn_sizes(rng, BATCH, N_IN)
    for batch in (rows, 1, n_in):  # also as many rows as columns, where a missing axis is not noticed
        A, B = rng.normal(size=(2, batch, n_in)) * [[[2.0]], [[5.0]]]
        dC = rng.normal(size=batch)
        expect_layer(lambda A, B: answer((A, B)), _cosines, dC, result="C", A=A, B=B)
    expect_gradcheck(answer, (A, B))
    return "values and both gradients, in three batches"


def cosine_with(turn):
    """Return a cosine with this backward function, for the mistakes.

    The gradient of a row is dC times ``turn(U, V, C, length, length_of_V)``: U is the row's direction, V
    that of its partner.
    """

    def cosine(X):
        a, b = (np.sqrt((rows * rows).sum(axis=1, keepdims=True)) for rows in X)
        U, V = X[0] / a, X[1] / b
        C = (U * V).sum(axis=1, keepdims=True)
        return C[:, 0], lambda dC: (dC[:, None] * turn(U, V, C, a, b), dC[:, None] * turn(V, U, C, b, a))

    return cosine


def _turn(U, V, C, a, b):
    """Return the gradient that turns A: the part of V perpendicular to U, divided by the length of A."""
    return (V - C * U) / a


cosine_of_partners.mistake("The part along the row itself is still in it: a longer A has the same cosine.")(
    cosine_with(lambda U, V, C, a, b: V / a)
)
cosine_of_partners.mistake(
    "Two things are missing: taking away the part along the row itself, and the division by its length."
)(cosine_with(lambda U, V, C, a, b: V))
cosine_of_partners.mistake(
    "That is the backward pass of a plain product: use directions, and then two more steps."
)(cosine_with(lambda U, V, C, a, b: b * V))
cosine_of_partners.mistake(
    "That keeps the part of V along U; what turns A is the rest, V without that part."
)(cosine_with(lambda U, V, C, a, b: C * U / a))
cosine_of_partners.mistake(
    "That keeps the part of V along U, which must be removed; and the lengths are missing."
)(cosine_with(lambda U, V, C, a, b: C * U))
cosine_of_partners.mistake("The part along the row itself must be subtracted, not added.")(
    cosine_with(lambda U, V, C, a, b: (V + C * U) / a)
)
cosine_of_partners.mistake("What turns A is B's direction, V, and not B itself; for dB, U and not A.")(
    cosine_with(lambda U, V, C, a, b: (b * V - C * U) / a)
)
cosine_of_partners.mistake(
    "The division by the lengths is missing: a long row turns less for the same nudge."
)(cosine_with(lambda U, V, C, a, b: V - C * U))
cosine_of_partners.mistake("The lengths are exchanged: dA is divided by A's length, and dB by B's.")(
    cosine_with(lambda U, V, C, a, b: (V - C * U) / b)
)


@cosine_of_partners.mistake("B is not a target here: it needs its gradient, too.")
def of_A_alone(X):
    C, backward = cosine_with(_turn)(X)
    return C, lambda dC: (backward(dC)[0], np.zeros_like(X[1]))


@cosine_of_partners.mistake(
    "There is one number in dC for each row: as a column, `dC[:, None]`, it multiplies whole rows."
)
def dC_without_an_axis(X):
    A, B = X
    C = _cosines(A, B)
    a, b = np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1)
    U, V = A / a[:, None], B / b[:, None]
    return C, lambda dC: (
        dC * (V - C[:, None] * U) / a[:, None],
        dC * (U - C[:, None] * V) / b[:, None],
    )


@cosine_of_partners.mistake("That is one length for all rows: with axis=1 each row has its own.")
def one_length_for_all(X):
    a, b = map(np.linalg.norm, X)
    U, V = X[0] / a, X[1] / b
    C = (U * V).sum(axis=1, keepdims=True)
    return C[:, 0], lambda dC: (dC[:, None] * (V - C * U) / a, dC[:, None] * (U - C * V) / b)


@cosine_of_partners.mistake("That is the table of all pairs; here each row is paired only with its partner.")
def a_table(X):
    A, B = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in X)
    return A @ B.T, by_nudging(_cosines, *X)[1]


@cosine_of_partners.mistake("That is the cosine without the lengths: a plain product.")
def plain_product(X):
    A, B = X
    return (A * B).sum(axis=1), lambda dC: (B * dC[:, None], A * dC[:, None])


# 4. a trap

trap = Exercise(
    "13_sharing.trap",
    title="Caught",
    points=2,
    kind="fill",
    minutes=6,
    hints=(
        "The memory holds one result. When does a second result come before the first was needed?",
        "Call the layer twice, and run the backward passes only then. One after the other is enough, and so "
        "is side by side with another X.",
        "Give the first call's result to the second call, and keep both backward functions. Your own "
        "`backward` calls "
        "the second one with dY, and the first one with what that returns.",
    ),
)


def _on_self():
    """Return a tanh that keeps its result in one place for all calls."""
    memory = {}

    def layer(X):
        memory["Y"] = np.tanh(X)
        return memory["Y"], lambda dY: dY * (1 - memory["Y"] ** 2)

    return layer


def _in_closure(X):
    """Compute a tanh that keeps its result in its closure."""
    Y = np.tanh(X)
    return Y, lambda dY: dY * (1 - Y**2)


def _error(layer, X, rng):
    """Return the relative error of dX, by the values of Y."""
    Y, backward = expect_several(layer(X), "Y", "backward")
    dY = rng.normal(size=np.shape(Y))
    dX = backward(dY)
    if np.shape(dX) != np.shape(X):
        raise CheckFailed(f"dX has shape {np.shape(dX)}; it must have X's shape, {np.shape(X)}")
    ends = X + rng.uniform(-0.5, 0.5, size=(3, *X.shape))  # on one way alone, errors may cancel
    gap = np.max([gap_along_a_way(layer, X, end, dY, rng) for end in ends])
    if not np.isfinite(gap):
        raise CheckFailed("Y or dX holds nan or infinity")
    return gap


@trap.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    X = rng.normal(size=(batch, n_in))
    errors = []
    for layer in (_in_closure, _on_self()):
        made = answer(layer)
        if not callable(made):
            raise CheckFailed(f"trap must return a layer, X -> (Y, backward), but returned {described(made)}")
        errors.append(_error(made, X, rng))
    if errors[0] > 1e-6:
        raise CheckFailed(f"with the closure dX must be right, but it is wrong by {errors[0]:.0%}")
    if errors[1] < 0.01:
        raise CheckFailed(
            f"this does not expose it: with the memory on self, dX is wrong by {errors[1]:.1%}, and it "
            "must be wrong by more than 1%"
        )
    return f"with the closure right, with one memory wrong by {errors[1]:.0%}"


@trap.probe
def _(answer, rng):
    X = rng.normal(size=(BATCH, N_IN))
    Y, backward = answer(_in_closure)(X)
    return Y, backward(rng.normal(size=np.shape(Y)))


@trap.mistake(
    "In the backward pass the memory still holds what is needed: no other X passed through the layer in "
    "between."
)
def once(layer):
    return layer


def trap_with(model):
    """Return a trap whose layer is `model`, a function of the layer in question and X."""
    return lambda layer: lambda X: model(layer, X)


def side_by_side(layer, X, factor):
    """Return the sum of two calls, the second with another X; its backward pass forgets the factor."""
    (Y, backward), (Z, other_backward) = layer(X), layer(factor * X)
    return Y + Z, lambda dY: backward(dY) + other_backward(dY)


for sentence, factor in {
    "Both calls get the same X, so the one memory is right for both: give one of them another X.": 1,
    "The second call got 2 * X: its gradient must be multiplied by 2 as well.": 2,
}.items():
    trap.mistake(sentence)(trap_with(partial(side_by_side, factor=factor)))


@trap.mistake("The first backward is called before the second call, while the memory still holds its input.")
@trap_with
def back_too_early(layer, X):
    A, backward = layer(X)
    slope = backward(np.ones_like(X))
    Y, other = layer(A)
    return Y, lambda dY: slope * other(dY)


@trap.mistake("The two calls are in sequence, so the backward functions must be, too; you add their results.")
@trap_with
def adds_the_ways_back(layer, X):
    A, first = layer(X)
    Y, second = layer(A)
    return Y, lambda dY: first(dY) + second(dY)


@trap.mistake("Only the second call has a backward pass; the first one is missing.")
@trap_with
def forgets_the_first(layer, X):
    return layer(layer(X)[0])


# 5. freezing

freeze = Exercise(
    "13_sharing.freeze",
    title="Frozen by name",
    points=2,
    kind="fill",
    minutes=10,
    changes=True,
    hints=(
        "Collect first which names fit, then see if there is any, then change `trainable`, then count.",
        "A name matches if it is the prefix, or if it starts with the prefix and a dot: "
        "`name.startswith(...)`.",
        'The test is `name == prefix or name.startswith(f"{prefix}.")`. Count `parameter.data.size` of all '
        "that are still trainable, not only of those you did not touch.",
    ),
)


def _deep(rng):
    """Return a model of twelve small layers, so that there are names with 1 and with 10 and 11."""
    return Sequential(*[Linear(N_IN, N_IN, rng=rng) for _ in range(12)])


def _trainable(model):
    """Return the names of the trainable Parameters."""
    return [name for name, parameter in model.named_parameters().items() if parameter.trainable]


@freeze.check
def _(answer, rng):
    one = N_IN * N_IN + N_IN
    model = _deep(rng)
    model.layers[5].b.trainable = False  # already frozen
    data = [parameter.data.copy() for parameter in model.parameters()]
    left = 12 * one - N_IN
    for prefix, frozen in (("layers.1", one), ("layers.3.W", N_IN * N_IN), ("layers.5", N_IN * N_IN)):
        left -= frozen
        before = _trainable(model)
        fits = [name for name in before if name == prefix or name.startswith(f"{prefix}.")]
        try:
            found = answer(model, prefix)
        except ValueError as error:
            raise CheckFailed(f'with prefix "{prefix}" a ValueError comes, and {fits[0]} fits') from error
        still_learn = [name for name in before if name not in fits]
        for name in sorted(set(_trainable(model)) ^ set(still_learn)):
            state = "still learns" if name in fits else "is changed"
            raise CheckFailed(f'with prefix "{prefix}", {name} {state}, but must {_must(name, fits)}')
        _expect_count(f'with prefix "{prefix}"', found, left)
        _expect_count(f'called again with "{prefix}"', answer(model, prefix), left)
    for parameter, old in zip(model.parameters(), data, strict=True):
        if not np.array_equal(parameter.data, old):
            raise CheckFailed("it changes the data of a Parameter: only `trainable` may change")
    if answer(model, "layers") != 0:
        raise CheckFailed('with prefix "layers" every name fits, and nothing is left to train')
    _expect_refusal(answer, _deep(rng))
    shared = Linear(N_IN, N_IN, rng=rng)
    _expect_count("for a layer in two places", answer(shared >> ReLU() >> shared, "layers.0.b"), N_IN**2)
    return "parts, single Parameters, names with 1 and 10, a second call, and names that do not exist"


def _must(name, fits):
    """Describe the correct change of a Parameter."""
    return "be frozen" if name in fits else "not change"


def _expect_count(when, found, truth):
    """Require the true count."""
    if isinstance(found, bool) or not isinstance(found, int | np.integer):
        raise CheckFailed(f"{when}, it must return an int, but returned {described(found)}")
    if found != truth:
        raise CheckFailed(f"{when}, it returns {found}, but {truth} numbers are trainable")


def _expect_refusal(answer, model):
    """Require that unknown prefixes raise an error with a helpful message."""
    for prefix in ("head", "layer", "layers.1."):
        try:
            answer(model, prefix)
        except ValueError as error:
            missing = [name for name in (prefix, *model.named_parameters()) if name not in str(error)]
            if missing:
                raise CheckFailed(
                    f'for the unknown prefix "{prefix}" the message does not hold {missing[0]}'
                ) from error
        except LookupError as error:
            raise CheckFailed(
                f'for the unknown prefix "{prefix}" it raises a {type(error).__name__}; raise a ValueError'
            ) from error
        else:
            raise CheckFailed(f'nothing is called "{prefix}", and no ValueError says so')
        if len(_trainable(model)) < 24:
            raise CheckFailed(f'the unknown prefix "{prefix}" froze something before it was refused')


@freeze.probe
def _(answer, rng):
    model = _deep(rng)
    left = answer(model, "layers.1")
    return [left, *(parameter.trainable for parameter in model.parameters())]


def freezes(fits, count=None, refuse=True, reset=False):
    """Return a freeze with a test and a count of its own, for the mistakes."""

    def freeze(model, prefix):
        parameters = model.named_parameters()
        names = [name for name in parameters if fits(name, prefix)]
        if refuse and not names:
            raise ValueError(f"{prefix}: {', '.join(parameters)}")
        for name, parameter in parameters.items():
            if reset or name in names:
                parameter.trainable = name not in names
        if count:
            return count(parameters, names)
        return sum(p.data.size for p in parameters.values() if p.trainable)

    return freeze


def right_fit(name, prefix):
    return name == prefix or name.startswith(f"{prefix}.")


freeze.mistake("The name only starts with the same digit: a dot must follow the prefix.")(
    freezes(str.startswith)
)
freeze.mistake("An exact name must match too, without a dot after it.")(
    freezes(lambda name, prefix: name.startswith(f"{prefix}."), refuse=False)
)
freeze.mistake("The whole name of a Parameter is a prefix too: nothing follows it, not even a dot.")(
    freezes(lambda name, prefix: name.startswith(f"{prefix}."))
)
freeze.mistake("It was frozen before: do not change a Parameter that does not match.")(
    freezes(right_fit, reset=True)
)
freeze.mistake("That counts the numbers you have just frozen.")(
    freezes(right_fit, lambda parameters, names: sum(parameters[name].data.size for name in names))
)
freeze.mistake(PARAMETERS)(
    freezes(right_fit, lambda parameters, names: sum(p.trainable for p in parameters.values()))
)
freeze.mistake("Parameters frozen before are not trainable, but are still in your count.")(
    freezes(
        right_fit,
        lambda parameters, names: sum(p.data.size for name, p in parameters.items() if name not in names),
    )
)


# 6. replicas that share the work

share_work = Exercise(
    "13_sharing.share_work",
    title="Unequal parts",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "What is the mean of all examples, given the means and sizes of the parts?",
        "For each part: a replica, forward, loss, backward. Its share is the number of its examples divided "
        "by that of all.",
        "In each pair of Parameters the model's `grad` grows by the share times the replica's, and the loss "
        "by the share times L. Both happen inside the loop over the parts.",
    ),
)


def _parts(rng, sizes, labels):
    """Return batches of these sizes for a model of N_IN inputs and N_OUT outputs."""
    return [
        (
            rng.normal(size=(size, N_IN)),
            rng.integers(N_OUT, size=size) if labels else rng.normal(size=(size, N_OUT)),
        )
        for size in sizes
    ]


def _small(rng):
    """Return a model in which one layer occurs twice, with nonzero gradients; one Parameter is frozen."""
    middle = Linear(N_IN, N_IN, rng=rng)
    model = middle >> Tanh() >> middle >> Linear(N_IN, N_OUT, rng=rng)
    for parameter in model.parameters():
        parameter.grad += rng.normal(size=parameter.shape)
    middle.W.trainable = False
    return model


@share_work.check
def _(answer, rng):
    for loss, sizes in ((mse, (4,)), (mse, (2, 7, 1)), (cross_entropy, (5, 3)), (mse, (3, 3, 2, 3))):
        model, parts = _small(rng), _parts(rng, sizes, labels=loss is cross_entropy)
        X, T = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        whole = copy.deepcopy(model)
        Y, backward = whole(X)
        L, loss_backward = loss(Y, T)
        backward(loss_backward())
        data, start = ([getattr(p, what).copy() for p in model.parameters()] for what in ("data", "grad"))
        with untouched(parts=parts):
            found, workers = expect_several(answer(model, loss, parts), "L", "workers")
        for parameter, old in zip(model.parameters(), data, strict=True):
            if not np.array_equal(parameter.data, old):
                raise CheckFailed("it changes the model's data: only the gradients may grow")
        _expect_workers(workers, model, parts)
        case = f"for parts of {' and '.join(map(str, sizes))}, "
        expect_values(f"{case}L", found, L)
        names = model.named_parameters()
        for (name, parameter), true, old in zip(names.items(), whole.parameters(), start, strict=True):
            expect_shape(f"the gradient of {name}", parameter.grad, name, parameter.data)
            grown = parameter.grad - old
            expect_values(f"{case}the growth of {name}.grad", grown, true.grad - old)
    return "one part, unequal parts, two losses, a layer in two places"


def _expect_workers(workers, model, parts):
    """Require that each part had a replica of its own."""
    if not isinstance(workers, list | tuple) or len(workers) != len(parts):
        count = f" of {len(workers)}" if isinstance(workers, list | tuple) else ""
        raise CheckFailed(
            f"workers must be a list of the replicas, one for each of {len(parts)} parts, but is "
            f"{described(workers)}{count}"
        )
    for worker in workers:
        if worker is model:
            raise CheckFailed("a part went through the model itself, which changed its gradients")
        if not isinstance(worker, Layer):
            raise CheckFailed(f"each worker must be a replica of the model, and one is {described(worker)}")
        for ours, theirs in zip(model.parameters(), worker.parameters(), strict=True):
            if theirs.data is not ours.data:
                raise CheckFailed(
                    "a worker has arrays of its own, which a step of the model would not change"
                )
    if len({id(worker) for worker in workers}) < len(workers):
        raise CheckFailed(
            "one replica is used for several parts: two workers would share a grad at the same time"
        )


@share_work.probe
def _(answer, rng):
    model = _small(rng)
    found, _ = answer(model, mse, _parts(rng, (2, 7, 1), labels=False))
    return found, *(parameter.grad for parameter in model.parameters())


def worked(worker, part, loss):
    """Go through a worker and back; return the loss of its part."""
    Y, backward = worker(part[0])
    L, loss_backward = loss(Y, part[1])
    backward(loss_backward())
    return L


def assign(grad, grown):
    return grown


def shared_out(weigh, weigh_loss=None, grow=np.add, hire=replica, skips_frozen=False):
    """Return a share_work with weights of its own for the sizes of the parts, for the mistakes."""

    def share_work(model, loss, parts):
        sizes = np.array([len(X) for X, _ in parts])
        workers = [hire(model) for _ in parts]
        losses = [worked(worker, part, loss) for worker, part in zip(workers, parts, strict=True)]
        for parameter, *theirs in zip(*(layer.parameters() for layer in (model, *workers)), strict=True):
            if parameter.trainable or not skips_frozen:
                grown = sum(s * p.grad for s, p in zip(weigh(sizes), theirs, strict=True))
                parameter.grad = grow(parameter.grad, grown)
        return np.sum((weigh_loss or weigh)(sizes) * losses), workers

    return share_work


def share(sizes):
    return sizes / sizes.sum()


def last_alone(sizes):
    """Return the share of the last part, and 0 for the others."""
    return share(sizes) * (np.arange(len(sizes)) == len(sizes) - 1)


for sentence, parts in {
    "Each part counts alike, whatever its size.": dict(weigh=lambda sizes: 1 / len(sizes) + 0 * sizes),
    "The parts are added up, and not weighted by their share.": dict(weigh=np.ones_like),
    "The loss is right; the gradients of the parts must be weighted too.": (
        dict(weigh=np.ones_like, weigh_loss=share)
    ),
    "The gradients are right; the losses of the parts must be weighted too.": (
        dict(weigh=share, weigh_loss=lambda sizes: 1 / len(sizes) + 0 * sizes)
    ),
    "The loss is right; the gradients are multiplied by their share twice.": (
        dict(weigh=lambda sizes: share(sizes) ** 2, weigh_loss=share)
    ),
    "The share is that of all examples, not of those up to this part.": (
        dict(weigh=lambda sizes: sizes / np.cumsum(sizes), weigh_loss=share)
    ),
    "Only the last part's backward runs, each time: a lambda in a loop sees the last value of a name.": (
        dict(weigh=lambda sizes: len(sizes) * last_alone(sizes), weigh_loss=share)
    ),
    "A frozen Parameter gets its gradient, too: only an optimizer skips it.": (
        dict(weigh=share, skips_frozen=True)
    ),
    "You overwrite earlier gradients: add to them.": dict(weigh=share, grow=assign),
    "Each part is weighted by its number of examples: divide by that of all.": dict(
        weigh=lambda sizes: sizes
    ),
    "The replicas have the gradients, but you do not add them to the model's.": (
        dict(weigh=share, grow=lambda grad, grown: grad)
    ),
    "An `=` replaces the content of `grad`, from before and from the other parts: write `+=`.": (
        dict(weigh=last_alone, weigh_loss=share, grow=assign)
    ),
    "A deepcopy copies the weights and the gradients; a replica does neither.": (
        dict(weigh=share, hire=copy.deepcopy)
    ),
}.items():
    share_work.mistake(sentence)(shared_out(**parts))
