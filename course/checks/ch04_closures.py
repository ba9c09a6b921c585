"""The exercises of chapter 04: closures that remember, written, repaired and weighed."""

import numpy as np

from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    SLOPE_ALONE,
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
from course.xray import xray
from minigrad.check.numerical import numerical_gradient
from minigrad.layer import Layer
from minigrad.parameter import Parameter

STEPS, HIDDEN = 11, 2

three_calls = Exercise(
    "04_closures.three_calls",
    title="Three calls",
    points=1,
    kind="predict",
    minutes=3,
    hints=(
        "Each call of `cube` makes a new `backward`, which sees the `X` of its own call.",
        "`back_from_2` was made where `X` is 2. Put 2 and the argument into `3 * X * X * dY`.",
        "`back_from_1` may be called twice: it sees `X` = 1 both times, and only `dY` differs.",
    ),
)


@three_calls.check
def _(answer, rng):
    def cube(X):
        return X * X * X, lambda dY: 3 * X * X * dY

    (_, back_from_1), (_, back_from_2) = cube(1.0), cube(2.0)
    truths = {"first": back_from_2(1.0), "second": back_from_1(1.0), "third": back_from_1(10.0)}
    guesses = answer()
    expect_guesses(guesses, truths)
    return "compared with a run"


three_calls.slips(
    {
        (12.0, 12.0, 120.0): "You let both functions use the X of the last call; each uses its own.",
        (8.0, 1.0, 1.0): (
            "These are the results of cube itself, X³; the backward pass needs its slope, times dY."
        ),
        (8.0, 1.0, 10.0): (
            "These are X³ times dY; the backward pass takes the slope of X³, which is 3 X², times dY."
        ),
        (12.0, 3.0, 300.0): (
            "Only dY is 10 in the third call: X is still 1, so there is nothing to square there."
        ),
        (3.0, 12.0, 30.0): "The first call takes X = 2, the second X = 1: you have them the other way round.",
        (6.0, 3.0, 30.0): "These are 3 X, but the slope of X³ is 3 X².",
        (12.0, 3.0, 3.0): "You left dY out: the third call passes 10, not 1.",
        (3.0, 12.0, 120.0): (
            "These are the results of the backward functions in the order of the calls of cube: "
            "look which one is called first."
        ),
    }
)


reduce_mean = Exercise(
    "04_closures.reduce_mean",
    title="The mean of a sequence",
    points=2,
    kind="fill",
    minutes=6,
    hints=(
        "A mean is a sum divided by the number of steps. Start from `reduce_sum` in the chapter.",
        "Forward, each entry is multiplied by 1 / steps. So how much of dY does each entry get back?",
        "Each step receives `dY / steps`. Give dY a new axis in the middle and repeat it along that axis.",
    ),
)


@reduce_mean.check
def _(answer, rng):
    batch, n_in, steps = drawn_sizes(rng, BATCH, N_IN, STEPS)
    X, dY = rng.normal(size=(batch, steps, n_in)), rng.normal(size=(batch, n_in))
    others = {"You average over the examples, axis 0": 0, "You average over the width, the last axis": 2}
    slips = {"Y": [(f"{said}: the steps are axis 1.", X.mean(axis=axis)) for said, axis in others.items()]}
    expect_layer(answer, lambda X: X.mean(axis=1), dY, slips=slips, X=X)
    expect_gradcheck(answer, X)
    return "shapes, values, nudging, and the rules of a layer"


for sentence, back in {
    "A mean gives each step only its share: divide by the number of steps.": (
        lambda X, dY: np.repeat(dY[:, None, :], X.shape[1], axis=1)
    ),
    "The mean goes over the steps, axis 1, and you divide dY by the number of examples.": (
        lambda X, dY: np.repeat(dY[:, None, :] / len(X), X.shape[1], axis=1)
    ),
    "The mean goes over the steps, axis 1, and you divide dY by the width.": (
        lambda X, dY: np.repeat(dY[:, None, :] / X.shape[2], X.shape[1], axis=1)
    ),
    "Give dY a new axis for the steps first, dY[:, None, :], and repeat it along that one.": (
        lambda X, dY: np.repeat(dY / X.shape[1], X.shape[1], axis=1)
    ),
}.items():
    reduce_mean.mistake(sentence)(lambda X, back=back: (X.mean(axis=1), lambda dY: back(X, dY)))


@reduce_mean.mistake("This is the sum over the steps; the mean is the sum divided by their number.")
def result_of_the_sum(X):
    return X.sum(axis=1), lambda dY: np.repeat(dY[:, None, :] / X.shape[1], X.shape[1], axis=1)


@reduce_mean.mistake("Only the first step gets a gradient here; every step has a share in the mean.")
def first_step_only(X):
    def backward(dY):
        dX = np.zeros_like(X)
        dX[:, 0] = dY / X.shape[1]
        return dX

    return X.mean(axis=1), backward


two_layers = Exercise(
    "04_closures.two_layers",
    title="Two layers by hand",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Forward first, keeping `H`. Then dY, the gradient of the loss, as in the chapter's `update`: "
        "the error, divided by the batch.",
        "The second matrix gets `H` forward and `dY` backward; the first gets `X` forward and `dH` backward. "
        "For both, the rule of `Linear` holds: the input, transposed, times the incoming gradient.",
        "Let the shapes decide: dW2 must be (n_hidden, n_out), H is (batch, n_hidden), dY is (batch, n_out): "
        "only one product of the two fits. dH is dY times W2, transposed.",
    ),
)


@two_layers.check
def _(answer, rng):
    W1, W2, X, T = _two_layers_data(rng)
    with untouched(W1=W1, W2=W2, X=X, T=T):
        dW1, dW2, dX = expect_several(answer(W1, W2, X, T), "dW1", "dW2", "dX")

    dY = numerical_gradient(lambda Y: 0.5 * np.sum((Y - T) ** 2) / len(Y), X @ W1 @ W2)
    gradients = {"W2": dW2, "W1": dW1, "X": dX}  # in the order of the backward pass
    expect_gradients(lambda X, W1, W2: X @ W1 @ W2, {"X": X, "W1": W1, "W2": W2}, dY, gradients)
    expect_formula(lambda X: answer(W1, W2, X, T), X)
    return "all three gradients agree with nudging"


@two_layers.probe
def _(answer, rng):
    return answer(*_two_layers_data(rng))


def _two_layers_data(rng):
    """Return W1, W2, X, T with all sizes different."""
    batch, n_in, hidden, n_out = drawn_sizes(rng, BATCH, N_IN, HIDDEN, N_OUT)
    shapes = (n_in, hidden), (hidden, n_out), (batch, n_in), (batch, n_out)
    return [rng.normal(size=shape) for shape in shapes]


@two_layers.mistake(
    "The two shapes in your line do not fit: a .T is missing or on the wrong factor, or the gradient is "
    "not the one that this matrix is given (the first gets dH, not dY)."
)
def as_on_the_page(W1, W2, X, T):
    H = X @ W1
    dY = (H @ W2 - T) / len(X)
    dW2 = dY @ H.T
    dH = dY @ W2.T
    dW1 = dH @ X.T
    return dW1, dW2, dH @ W1.T


def two_layers_with(slope=lambda error: error / len(error), returned=lambda dW1, dW2, dX, dH: (dW1, dW2, dX)):
    """Return a two_layers with another slope of the loss, or that returns something else."""

    def two_layers(W1, W2, X, T):
        H = X @ W1
        dY = slope(H @ W2 - T)
        dH = dY @ W2.T
        return returned(X.T @ dH, H.T @ dY, dH @ W1.T, dH)

    return two_layers


for sentence, parts in {
    "You divided by all entries; this loss is summed over the outputs, and averaged over the batch only.": (
        dict(slope=lambda error: error / error.size)
    ),
    "This loss is averaged over the batch: divide the error by the number of examples.": (
        dict(slope=lambda error: error)
    ),
    "This loss is half the squared error: its slope is the error, and not twice the error.": (
        dict(slope=lambda error: 2 * error / len(error))
    ),
    "The order is dW1, dW2, dX: what you return first is another one.": (
        dict(returned=lambda dW1, dW2, dX, dH: (dX, dW1, dW2))
    ),
    "This is dH, which still has to pass the first matrix to become dX.": (
        dict(returned=lambda dW1, dW2, dX, dH: (dW1, dW2, dH))
    ),
}.items():
    two_layers.mistake(sentence)(two_layers_with(**parts))


scale = Exercise(
    "04_closures.scale",
    title="A name that went missing",
    points=2,
    kind="repair",
    minutes=6,
    changes=True,
    hints=(
        "Run `broken_scale` and read the last line of the error: which name has no value? Where is it "
        "assigned?",
        "A function that assigns to a name owns it. Change the *content* of the array instead, without "
        "giving the name a new value.",
        "`some_array[...] = …` writes into an array that is already there. Remember to add, not to replace.",
    ),
)


@scale.check
def _(answer, rng):
    gain, dgain, X, dY = _scale_data(rng)
    parameter = Parameter(gain)
    parameter.grad += dgain
    with untouched(gain=parameter.data):
        with untouched(dgain=parameter.grad):
            forward = answer(parameter.data, parameter.grad)
            _, backward = expect_several(forward(X), "Y", "backward")
        backward(dY.copy())
    if np.array_equal(parameter.grad, dgain):
        raise CheckFailed(
            "dgain, the caller's array, is unchanged after backward: yours went into another array"
        )
    if np.allclose(parameter.grad, numerical_gradient(lambda gain: gain * X, gain, dY)):
        raise CheckFailed("dgain holds the gradient, but its earlier content is lost")
    expect_layer(forward, lambda X, gain: gain * X, dY, parameters={"gain": parameter}, X=X)
    return "values, nudging, and dgain after two calls of backward"


@scale.probe
def _(answer, rng):
    gain, dgain, X, dY = _scale_data(rng)
    Y, backward = answer(gain, dgain)(X)
    return Y, backward(dY), dgain, backward(dY), dgain


def _scale_data(rng):
    """Return gain, dgain, X, dY; dgain is not zero, so that a forgotten + shows."""
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    gain, *others = (rng.normal(size=shape) for shape in [(n_in,), (n_in,), (batch, n_in), (batch, n_in)])
    gain[0] = 0.0
    return [gain, *others]


def scale_with(added):
    """Return a scale that adds `added(X, dY)` to dgain."""

    def scale(gain, dgain):
        def forward(X):
            def backward(dY):
                dgain[...] += added(X, dY)
                return gain * dY

            return gain * X, backward

        return forward

    return scale


@scale.mistake("The name dgain is still assigned to inside backward: write into the array instead.")
def still_missing(gain, dgain):
    def forward(X):
        def backward(dY):
            dgain += (X * dY).sum(axis=0)  # noqa: F821, F841 (the mistake itself)
            return gain * dY

        return gain * X, backward

    return forward


@scale.mistake("You replace the content of dgain; backward must add to it.")
def replaced(gain, dgain):
    def forward(X):
        def backward(dY):
            dgain[...] = (X * dY).sum(axis=0)
            return gain * dY

        return gain * X, backward

    return forward


for sentence, added in {
    "X is missing: Y = gain * X, so the slope along gain is X.": lambda X, dY: dY.sum(axis=0),
    "Add up over the examples, axis 0: dgain has one entry for each column.": (
        lambda X, dY: (X * dY).sum(axis=1)
    ),
    "Add up over the batch first: dgain has one entry for each column.": lambda X, dY: X * dY,
}.items():
    scale.mistake(sentence)(scale_with(added))


linear = Exercise(
    "04_closures.Linear",
    title="Linear, the other way round",
    points=4,
    kind="fill",
    minutes=12,
    answer="class",
    keeps="linear",
    ours="minigrad.Linear",
    hints=(
        "Take the chapter's `Linear` and transpose W: wherever it had `W.data` you now want `W.data.T`, and "
        "the other way round.",
        "X is (batch, n_in) and W is (n_out, n_in): forward needs `X @ W.data.T`. For dX, (batch, n_in), the "
        "shapes leave one product of dY and W.",
        "`W.grad` is (n_out, n_in), dY is (batch, n_out), X is (batch, n_in). Transpose dY. Add, with +=.",
    ),
)


@linear.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    layer = answer(n_in, n_out, rng=np.random.default_rng(rng.integers(1000)))
    for name, shape in {"W": (n_out, n_in), "b": (n_out,)}.items():
        parameter = getattr(layer, name, None)
        if not isinstance(parameter, Parameter):
            raise CheckFailed(
                f"the layer has no Parameter {name}: set self.{name} = Parameter(...) in __init__"
            )
        if parameter.shape != shape:
            raise CheckFailed(
                f"{name}.data has shape {parameter.shape}; {n_in} inputs and {n_out} outputs need {shape}"
            )
    expect_values("b.data", layer.b.data, np.zeros(n_out))
    _expect_drawn_by_rng(answer)
    X = rng.normal(size=(batch, n_in))
    W, b = rng.normal(size=(n_out, n_in)), rng.normal(size=n_out)
    layer.W.data[...], layer.b.data[...] = W, b
    Y, _ = expect_several(layer(X), "Y", "backward")
    expect_values("Y", Y, X @ W.T + b)
    expect_gradcheck(layer, X)
    square, dY = answer(n_in, n_in, rng=1), rng.normal(size=(batch, n_in))
    parameters = {"W": square.W, "b": square.b}
    expect_layer(square, lambda X, W, b: X @ W.T + b, dY, parameters=parameters, X=X)
    parameters, dY = {"W": layer.W, "b": layer.b}, rng.normal(size=(batch, n_out))
    expect_layer(layer, lambda X, W, b: X @ W.T + b, dY, parameters=parameters, X=X)
    return "shapes, values, nudging, and the nine rules of a layer"


def _expect_drawn_by_rng(answer):
    """Require that weights are drawn from rng, an int or a generator, with spread 1 / √n_in."""
    try:
        one, same = answer(400, 11, rng=0).W.data, answer(400, 11, rng=0).W.data
    except AttributeError as error:
        raise CheckFailed(
            f"with rng=0 it raises {error}: rng may be a number or a generator, and "
            "np.random.default_rng(rng) turns either into a generator"
        ) from error
    if not one.any():
        raise CheckFailed("all weights are zero: draw W at random, with np.random.default_rng(rng)")
    if not np.array_equal(one, same):
        raise CheckFailed(
            "two layers made with rng=0 differ: draw W from np.random.default_rng(rng), not from elsewhere"
        )
    if np.array_equal(one, answer(400, 11, rng=1).W.data):
        raise CheckFailed("rng=0 and rng=1 give the same weights: pass your rng to default_rng")
    spread = one.std()
    if not 0.04 < spread < 0.06:
        raise CheckFailed(
            f"with 400 inputs the weights spread by {spread:.2g}; it should be about 1/√400 = 0.05: "
            "draw them with a standard deviation of 1 / np.sqrt(n_in)"
        )
    generator = np.random.default_rng(0)
    if np.array_equal(answer(N_IN, N_OUT, rng=generator).W.data, answer(N_IN, N_OUT, rng=generator).W.data):
        raise CheckFailed(
            "two layers drawn from one generator have the same weights: it goes on from where it is, "
            "and np.random.default_rng(rng) returns it unchanged"
        )


class Turned(Layer):
    """The correct constructor and forward that the mistakes share."""

    def __init__(self, n_in, n_out, rng):
        rng = np.random.default_rng(rng)
        self.W = Parameter(rng.normal(0, 1 / np.sqrt(n_in), size=(n_out, n_in)))
        self.b = Parameter(np.zeros(n_out))

    def forward(self, X):
        return X @ self.W.data.T + self.b.data, lambda dY: self.back(X, dY)


@linear.mistake("A row of dY for each example, and one row b for all of them: add up over the examples.")
class BiasNotSummed(Turned):
    def back(self, X, dY):
        self.W.grad += dY.T @ X
        self.b.grad += dY
        return dY @ self.W.data


@linear.mistake("In b there is one entry for each output: add up dY over the examples, axis 0.")
class BiasSummedOverTheOutputs(Turned):
    def back(self, X, dY):
        self.W.grad += dY.T @ X
        self.b.grad += dY.sum(axis=1)
        return dY @ self.W.data


@linear.mistake("Add the gradient to W.grad; W.data is changed only by an optimizer, later.")
class ChangesTheWeights(Turned):
    def back(self, X, dY):
        self.W.data += dY.T @ X
        self.b.data += dY.sum(axis=0)
        return dY @ self.W.data


@linear.mistake("W is a Parameter: its numbers are in W.data.")
class ForgotData(Turned):
    def forward(self, X):
        return X @ self.W.T + self.b, lambda dY: self.back(X, dY)


@linear.mistake("Transpose the other one: dY.T @ X has the shape of W, (n_out, n_in).")
class TransposedGradient(Turned):
    def back(self, X, dY):
        self.W.grad += X.T @ dY
        self.b.grad += dY.sum(axis=0)
        return dY @ self.W.data


light_tanh = Exercise(
    "04_closures.light_tanh",
    title="Travel light",
    points=2,
    kind="fill",
    minutes=8,
    remote=False,  # it measures memory, in the process where the answer runs
    hints=(
        "Which of the three arrays X, Y and slope does the backward pass really need? Any of them is enough.",
        "A closure keeps what `backward` mentions. Mention one array, and compute the rest in the backward "
        "pass.",
        "The slope is 1 − Y². Compute it inside `backward`, from Y.",
    ),
)


@light_tanh.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    X, dY = rng.normal(size=(batch, n_in)), rng.normal(size=(batch, n_in))
    expect_layer(answer, np.tanh, dY, X=X)
    backward = answer(X)[1]
    for when in ("", "after a call, "):
        kept = xray(backward)
        if kept.total > X.nbytes:
            names = ", ".join(row.name for row in kept.rows)
            raise CheckFailed(
                f"{when}backward keeps {kept.total} bytes ({names}); one array like X has {X.nbytes}"
            )
        backward(dY)
    expect_gradcheck(answer, X)
    return "values, nudging, and an X-ray: one array kept"


for sentence, back in {
    "This is 1 − Y; the slope of tanh is 1 − Y².": lambda X, Y, dY: (1 - Y) * dY,
    "Y (1 − Y) is the slope of the sigmoid; that of tanh is 1 − Y².": lambda X, Y, dY: Y * (1 - Y) * dY,
    "Y is the tanh already: no second one is needed in the backward pass.": (
        lambda X, Y, dY: (1 - np.tanh(Y) ** 2) * dY
    ),
    "The slope is computed from Y, the result; this is 1 − X².": lambda X, Y, dY: (1 - X * X) * dY,
    "Brackets: 1 - Y * Y * dY takes the product away from 1; the slope is (1 - Y * Y).": (
        lambda X, Y, dY: 1 - Y * Y * dY
    ),
    SLOPE_ALONE: lambda X, Y, dY: 1 - Y * Y,
}.items():
    light_tanh.mistake(sentence)(lambda X, back=back: ((Y := np.tanh(X)), lambda dY: back(X, Y, dY)))
