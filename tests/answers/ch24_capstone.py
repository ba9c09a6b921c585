"""Answers to the exercises of chapter 24: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch24_capstone import (
    first_notices,
    my_experiment,
    my_formula,
    my_layer,
    my_test,
    weights_of,
    wrong_versions,
)
from minigrad.check.checker import gradcheck
from minigrad.check.numerical import numerical_gradient
from minigrad.layer import Layer
from minigrad.layers.linear import Linear
from minigrad.parameter import Buffer, Parameter
from tests.answers import refused, refused_values, right

# 1. four tests in a row


right(first_notices)(lambda: [1, 3, 4, 3, 2])


right(first_notices)(lambda: np.array([1.0, 3, 4, 3, 2]))


refused_values(
    first_notices,
    {
        (3, 3, 4, 3, 2): "An earlier test notices it: a sum over the batch takes an axis away",
        (1, 2, 4, 3, 2): "With a batch of one, a division by the batch size divides by 1",
        (1, 3, 3, 3, 2): "Its backward fits its own Y, and nudging tests only that",
        (1, 3, 4, 2, 2): "The dY of the second test is all ones, so a missing factor dY does not show",
        (1, 3, 4, 3, 3): "three instead of two shows with one example and ones, too",
        (1, 3, 4, 3, 0): "the number for the wrong factor is not 0. One of the four notices it",
    },
)


# Three works by other hands, by which the checks are tried.


class Squash(Layer):
    """A row of length r gets length r² / (1 + r²)."""

    def forward(self, X):
        """Return rows shorter than 1, and the backward pass."""
        squares = (X * X).sum(axis=-1, keepdims=True)
        lengths = np.sqrt(squares)
        factor = lengths / (1 + squares)

        def backward(dY):
            along = (X * dY).sum(axis=-1, keepdims=True) / lengths
            return factor * dY + X * along * (1 - squares) / (1 + squares) ** 2

        return factor * X, backward


def squash_work(rng):
    """Return Squash, a batch and its formula."""

    def formula(X):
        rows = []
        for row in X:
            r = sum(x * x for x in row) ** 0.5
            rows.append([x / r * r**2 / (1 + r**2) for x in row])
        return np.array(rows)

    return Squash(), rng.normal(size=(4, 3)), formula


def squash_wrongs(rng):
    """Return the work with three wrong versions: functions around the right layer."""
    layer, X, formula = squash_work(rng)

    def length_is_a_constant(X):
        r = np.sqrt((X * X).sum(axis=-1, keepdims=True))
        return layer(X)[0], lambda dY: dY * r / (1 + r * r)

    def flipped(X):
        Y, back = layer(X)
        return Y, lambda dY: -back(dY)

    def without_the_one(X):
        r2 = (X * X).sum(axis=-1, keepdims=True)
        U = X / np.sqrt(r2)
        return U, lambda dY: (dY - U * (U * dY).sum(axis=-1, keepdims=True)) / np.sqrt(r2)

    return layer, X, formula, [length_is_a_constant, flipped, without_the_one]


def distances(centres, slip=""):
    """Return a layer, a function: the squared distance of each row to each centre."""

    def forward(X):
        ahead = X[:, None, :] - centres.data  # (batch, k, n)

        def backward(dY):
            back = 2 * ahead * dY[..., None]
            if slip == "assigns":
                centres.grad[...] = 0
            centres.grad -= back.mean(axis=0) if slip == "mean" else back.sum(axis=0)
            return back.sum(axis=1) / (2 if slip == "half" else 1)

        return (ahead * ahead).sum(axis=-1), backward

    return forward


def distances_work(rng):
    """Return the distances, a batch and their formula."""
    centres = Parameter(rng.normal(size=(2, 3)))

    def formula(X, C):
        return np.array([[np.linalg.norm(row - centre) ** 2 for centre in C] for row in X])

    return distances(centres), rng.normal(size=(5, 3)), formula


def distances_wrongs(rng):
    """Return the work with three wrong versions: the same function with a slip each."""
    layer, X, formula = distances_work(rng)
    (centres,) = weights_of(layer)
    slips = ("assigns", "mean", "half")
    return layer, X, formula, [distances(Parameter(centres.data.copy()), slip) for slip in slips]


class Cosines(Layer):
    """The cosine of each row with each column of W."""

    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(rng.normal(size=(n_in, n_out)))

    def forward(self, X):
        """Return all cosines, and the backward pass."""
        W = self.W.data
        r, s = np.linalg.norm(X, axis=1, keepdims=True), np.linalg.norm(W, axis=0, keepdims=True)
        U, V = X / r, W / s
        Y = U @ V

        def backward(dY):
            dV, dU = U.T @ dY, dY @ V.T
            self.W.grad += (dV - V * (V * dV).sum(axis=0)) / s
            return (dU - U * (U * dU).sum(axis=1, keepdims=True)) / r

        return Y, backward


def cosines_work(rng):
    """Return the cosines, a batch and their formula."""

    def formula(X, W):
        return X @ W / np.sqrt(np.outer((X**2).sum(axis=1), (W**2).sum(axis=0)))

    return Cosines(3, 2, rng), rng.normal(size=(5, 3)), formula


def by_both(formula):
    """Return a test that asks gradcheck and a formula."""

    def find_problems(layer, X):
        found = list(gradcheck(layer, X).problems)
        if not np.allclose(layer(X)[0], formula(X, *[p.data for p in layer.parameters()])):
            found.append("Y is not the formula's")
        return found

    return find_problems


# The works as answers, right ones and wrong ones.


@right(my_layer)
def a_class_without_parameters(rng):
    return squash_work(rng)[:2]


@right(my_layer)
def a_function_with_a_parameter(rng):
    return distances_work(rng)[:2]


@right(my_layer)
def a_class_with_a_parameter(rng):
    return cosines_work(rng)[:2]


def waves_of(W):
    """Return a layer, a function: the cosines of X W, where W is not trained."""

    def forward(X):
        Z = X @ W.data
        return np.cos(Z), lambda dY: -(dY * np.sin(Z)) @ W.data.T

    return forward


def swish(beta):
    """Return a layer, a function: x · sigmoid(βx)."""
    beta = Parameter([beta])

    def forward(X):
        S = 1 / (1 + np.exp(-beta.data * X))
        slope = X * S * (1 - S)

        def backward(dY):
            beta.grad += (dY * X * slope).sum()
            return dY * (S + beta.data * slope)

        return X * S, backward

    return forward


def soft_threshold(t):
    """Return a layer, a function: x moved towards 0 by t, one for each column."""
    t = Parameter(t)

    def forward(X):
        keeps = np.abs(X) > t.data
        sign = np.sign(X) * keeps

        def backward(dY):
            t.grad -= (dY * sign).sum(axis=0)
            return dY * keeps

        return sign * (np.abs(X) - t.data), backward

    return forward


@right(my_layer)
def with_a_buffer(rng):
    W = Buffer(rng.normal(size=(3, 4)))
    return waves_of(W), rng.normal(size=(5, 3))


@right(my_layer)
def swish_at_a_beta_of_one(rng):
    return swish(1.0), rng.normal(size=(5, 3))


@refused(my_layer, "with other numbers in its Parameters, input X: wrong values; the ones that it starts")
def a_factor_that_a_start_at_one_hides(rng):
    beta = Parameter(np.ones(3))

    def forward(X):
        S = 1 / (1 + np.exp(-beta.data * X))
        slope = X * S * (1 - S)

        def backward(dY):
            beta.grad += (dY * X * slope).sum(axis=0)
            return dY * (S + slope)  # the slope times beta

        return X * S, backward

    return forward, rng.normal(size=(5, 3))


@right(my_layer)
def soft_threshold_at_a_half(rng):
    return soft_threshold([0.4, 0.5, 0.6]), rng.normal(size=(5, 3))


def with_layer(layer, shape=(5, 3)):
    """Return an answer that hands over a layer made from rng, for the mistakes."""

    def my_layer(rng):
        return layer(rng), rng.normal(size=shape)

    return my_layer


refused(my_layer, "this is a layer called Linear, as one of minigrad's")(
    with_layer(lambda rng: Linear(3, 2, rng=rng))
)
refused(my_layer, "on your X, Y is X itself")(with_layer(lambda rng: lambda X: (X.copy(), lambda dY: dY)))
refused(my_layer, "on your X, Y is X scaled and shifted")(
    with_layer(lambda rng: lambda X: (3 * X, lambda dY: 3 * dY))
)
refused(my_layer, "on your X, Y is what minigrad's Tanh returns")(
    with_layer(lambda rng: lambda X: (np.tanh(X), lambda dY: dY * (1 - np.tanh(X) ** 2)))
)
refused(my_layer, "at its start your layer is nothing new (Y is X scaled and shifted")(
    with_layer(lambda rng: swish(0.0))
)
refused(my_layer, "at its start your layer is nothing new (Y is X itself)")(
    with_layer(lambda rng: soft_threshold([0.0, 0.0, 0.0]))
)
refused(my_layer, "W: overwritten, use += instead of =; this breaks the rule")(
    with_layer(lambda rng: Assigning(3, 2, rng))
)
refused(my_layer, "cross terms are missing")(
    with_layer(lambda rng: lambda X: (Squash()(X)[0], lambda dY: one_by_one(X) * dY))
)
refused(my_layer, "given 32-bit numbers, Y comes as float64")(with_layer(lambda rng: wide_sine))
refused(my_layer, "given one example, Y has 3 rows and X has 1")(
    with_layer(
        lambda rng: (
            lambda X: (
                (np.sin(X).squeeze(), lambda dY: dY.reshape(X.shape) * np.cos(X))
                if len(X) == 1
                else (np.sin(X), lambda dY: dY * np.cos(X))
            )
        )
    )
)
refused(my_layer, "that is the class: return a layer")(with_layer(lambda rng: Squash))
refused(my_layer, "calling the layer must return a pair")(with_layer(lambda rng: lambda X: np.sin(X)))


class Assigning(Cosines):
    """Cosines that overwrite the gradient of W."""

    def forward(self, X):
        """Return all cosines, and a backward pass that forgets."""
        Y, back = super().forward(X)

        def backward(dY):
            self.W.grad[...] = 0
            return back(dY)

        return Y, backward


def one_by_one(X):
    """Return the slope of each output of Squash by its own input."""
    squares = (X * X).sum(axis=-1, keepdims=True)
    lengths = np.sqrt(squares)
    return lengths / (1 + squares) + X * X / lengths * (1 - squares) / (1 + squares) ** 2


def wide_sine(X):
    """Return the sine of X as 64-bit numbers, whatever X is."""
    Y = np.zeros(X.shape)
    Y += np.sin(X)
    return Y, lambda dY: dY * np.cos(X)


KEPT = Parameter([[0.5, 1.0], [-1.0, 2.0], [0.3, 0.4]])


@refused(my_layer, "given 32-bit numbers, Y comes as float64")
def a_plain_matrix(rng):
    W = rng.normal(size=(3, 4))

    def forward(X):
        Z = X @ W
        return np.cos(Z), lambda dY: -(dY * np.sin(Z)) @ W.T

    return forward, rng.normal(size=(5, 3))


@refused(
    my_layer,
    "a Parameter of shape (3, 4): not found, make it an attribute of the layer; this breaks the rule",
)
def a_default_argument(rng):
    def forward(X, W=Parameter(rng.normal(size=(3, 4)))):  # noqa: B008
        Z = X @ W.data

        def backward(dY):
            dZ = -dY * np.sin(Z)
            W.grad += X.T @ dZ
            return dZ @ W.data.T

        return np.cos(Z), backward

    return forward, rng.normal(size=(5, 3))


@refused(my_layer, "the Parameter t has no effect on Y: nudging it moves nothing")
def a_parameter_without_a_say(rng):
    t = Parameter(np.ones(3))

    def forward(X):
        def backward(dY):
            t.grad += 0 * dY.sum(axis=0)
            return dY * np.cos(X)

        return np.sin(X), backward

    return forward, rng.normal(size=(5, 3))


@right(my_layer)
def humps_that_start_far_away(rng):
    c = Parameter(rng.uniform(2, 3, size=3))

    def forward(X):
        Z = X - c.data
        H = np.exp(-Z * Z / 2)

        def backward(dY):
            c.grad += (dY * H * Z).sum(axis=0)
            return -dY * H * Z

        return H, backward

    return forward, rng.normal(size=(5, 3))


@refused(my_layer, "all examples of X are equal")
def a_batch_of_ones(rng):
    return soft_threshold([0.4, 0.5, 0.6]), np.ones((5, 3))


@refused(my_layer, "elsewhere your layer is something else: choose an X that shows it")
def only_where_it_does_nothing(rng):
    def forward(X):
        return np.where(X < 0, np.sin(X), X), lambda dY: dY * np.where(X < 0, np.cos(X), 1)

    return forward, rng.uniform(0.5, 2, size=(5, 3))


@refused(my_layer, "two calls return the same Parameters")
def one_for_all_calls(rng):
    layer = Cosines(3, 2, rng)
    layer.W = KEPT
    return layer, rng.normal(size=(5, 3))


@refused(my_layer, "X is the same for every rng")
def a_fixed_batch(rng):
    return Cosines(3, 2, rng), np.linspace(-1, 1, 15).reshape(5, 3)


@refused(my_layer, "two calls with the same seed give different numbers")
def without_the_rng(rng):
    return Cosines(3, 2, np.random.default_rng()), rng.normal(size=(5, 3))


@refused(my_layer, "X must be a batch of 3 examples or more and at most 100 numbers")
def too_much(rng):
    return Cosines(30, 2, rng), rng.normal(size=(50, 30))


@refused(my_layer, "it must return layer and X, but returned a Squash")
def the_layer_alone(rng):
    return Squash()


@right(my_formula)
def squash_in_loops(rng):
    return squash_work(rng)


@right(my_formula)
def distances_in_one_line(rng):
    return distances_work(rng)


@right(my_formula)
def cosines_at_once(rng):
    return cosines_work(rng)


@refused(my_formula, "it must compute with the arrays that it is given, and with no others")
def asks_the_layer(rng):
    layer, X, _ = cosines_work(rng)
    return layer, X, lambda X, W: layer(X)[0]


@refused(my_formula, "it must compute with the arrays that it is given, and with no others")
def reads_the_layers_weights(rng):
    layer, X, formula = cosines_work(rng)
    return layer, X, lambda X, W: formula(X, layer.W.data)


@refused(my_formula, "the formula's Y[")
def forgets_the_lengths(rng):
    layer, X, _ = cosines_work(rng)
    return layer, X, lambda X, W: X @ W


@refused(my_formula, "given your X, the formula returns shape (5,), but the layer's Y has (5, 2)")
def one_centre_only(rng):
    layer, X, _ = distances_work(rng)
    return layer, X, lambda X, C: ((X - C[0]) ** 2).sum(axis=1)


def gain(W, s):
    """Return a layer that holds W (3, 4) and s (4,): the sine of X W, times s."""

    def forward(X):
        Z = X @ W.data

        def backward(dY):
            dZ = dY * s.data * np.cos(Z)
            W.grad += X.T @ dZ
            s.grad += (dY * np.sin(Z)).sum(axis=0)
            return dZ @ W.data.T

        return np.sin(Z) * s.data, backward

    return forward


def gain_work(rng):
    """Return a gain and a batch."""
    return gain(Parameter(rng.normal(size=(3, 4))), Parameter(rng.normal(size=4))), rng.normal(size=(5, 3))


@right(my_formula)
def two_weights(rng):
    return *gain_work(rng), lambda X, W, s: np.sin(X @ W) * s


@refused(my_formula, "in another order than they come; they come as W (3, 4), s (4,), after X")
def another_order(rng):
    return *gain_work(rng), lambda X, s, W: np.sin(X @ W) * s


@refused(my_formula, "the formula was given one example: X (1, 3)")
def always_five_rows(rng):
    layer, X, _ = distances_work(rng)

    def formula(X, C):
        return np.array([[((X[example] - c) ** 2).sum() for c in C] for example in range(5)])

    return layer, X, formula


@refused(my_formula, "it changes X, which belongs to its caller")
def in_place(rng):
    layer, X, _ = squash_work(rng)

    def formula(X):
        Y = layer(X)[0].copy()
        X *= 2
        return Y

    return layer, X, formula


@refused(my_formula, "the formula must be a function, but is one array of shape (5, 2)")
def already_computed(rng):
    layer, X, formula = distances_work(rng)
    return layer, X, formula(X, *[parameter.data for parameter in weights_of(layer)])


@right(wrong_versions)
def around_the_right_one(rng):
    return squash_wrongs(rng)


@right(wrong_versions)
def with_a_slip_each(rng):
    return distances_wrongs(rng)


def replaced(make):
    """Return a wrong_versions in which the three wrong versions are others, for the mistakes."""

    def wrong_versions(rng):
        layer, X, formula, wrongs = distances_wrongs(rng)
        return layer, X, formula, make(layer, wrongs)

    return wrong_versions


@right(wrong_versions)
def always_of_64_bits(rng):
    layer, X, formula, wrongs = distances_wrongs(rng)
    return layer, X, formula, [*wrongs[:2], wide(layer)]


@right(wrong_versions)
def a_mean_and_a_sign(rng):
    layer, X, formula, wrongs = distances_wrongs(rng)

    def share(X):
        Y, back = layer(X)
        return Y, lambda dY: back(dY) / len(X)

    return layer, X, formula, [wrongs[0], scaled(layer, -1.0), share]


def scaled(layer, factor):
    """Return a layer with dX times a factor."""

    def forward(X):
        Y, back = layer(X)
        return Y, lambda dY: factor * back(dY)

    return forward


def wide(layer):
    """Return a layer that returns 64-bit numbers, whatever X is."""

    def forward(X):
        Y, back = layer(X)
        return Y.astype(float), lambda dY: back(dY).astype(float)

    return forward


def entry_off(layer):
    """Return a layer in whose dX one column is twice too large."""

    def forward(X):
        Y, back = layer(X)
        return Y, lambda dY: back(dY) * np.array([2.0, 1.0, 1.0])

    return forward


def shifted(layer):
    """Return a layer to whose dX something is added that does not depend on dY."""

    def forward(X):
        Y, back = layer(X)
        return Y, lambda dY: back(dY) + 1

    return forward


refused(wrong_versions, "in wrong version 2 nothing is wrong")(
    replaced(lambda layer, wrongs: [wrongs[0], layer, wrongs[2]])
)
refused(wrong_versions, "wrong versions 1 and 3 are wrong in the same way")(
    replaced(lambda layer, wrongs: [wrongs[0], wrongs[1], wrongs[0]])
)
refused(wrong_versions, "wrong version 3 is too easy to notice: dX has shape (3,)")(
    replaced(lambda layer, wrongs: [*wrongs[:2], lambda X: (layer(X)[0], lambda dY: layer(X)[1](dY).sum(0))])
)
refused(wrong_versions, "in all three dX or Y is wrong, or the bits: let one")(
    replaced(lambda layer, wrongs: [entry_off(layer), scaled(layer, -1.0), shifted(layer)])
)
refused(wrong_versions, "in all three dX or Y is wrong, or the bits")(
    replaced(lambda layer, wrongs: [wide(layer), scaled(layer, -1.0), shifted(layer)])
)
refused(wrong_versions, "the right dX times -1, and times -2; make another mistake")(
    replaced(lambda layer, wrongs: [wrongs[0], scaled(layer, -1.0), scaled(layer, -2.0)])
)
refused(wrong_versions, "versions 1 and 2 have another Y than the formula's: at most one may")(
    replaced(
        lambda layer, wrongs: [
            lambda X: (2 * layer(X)[0], lambda dY: 2 * layer(X)[1](dY)),
            lambda X: (3 * layer(X)[0], lambda dY: 3 * layer(X)[1](dY)),
            wrongs[0],
        ]
    )
)
refused(wrong_versions, "have another Y than the formula's: at most one may")(
    replaced(
        lambda layer, wrongs: [
            wrongs[0],
            lambda X: (2 * layer(X)[0], lambda dY: 2 * layer(X)[1](dY)),
            lambda X: (2 * layer(X)[0], layer(X)[1]),
        ]
    )
)
refused(wrong_versions, "wrongs must be a list of three layers, but is a list of 2")(
    replaced(lambda layer, wrongs: wrongs[:2])
)


@refused(wrong_versions, "the right layer has a problem itself")
def wrong_from_the_start(rng):
    layer, X, formula, wrongs = distances_wrongs(rng)
    return wrongs[0], X, formula, wrongs


def tested(make_test, wrongs=distances_wrongs):
    """Return a my_test around a test that is made from the work, for rights and mistakes."""

    def my_test(rng):
        layer, X, formula, wrong = wrongs(rng)
        return layer, X, wrong, make_test(formula)

    return my_test


right(my_test)(tested(by_both))
right(my_test)(tested(by_both, squash_wrongs))


@right(my_test)
def in_sentences_of_its_own(rng):
    layer, X, formula, wrongs = distances_wrongs(rng)

    def find_problems(layer, X):
        report = gradcheck(layer, X)
        found = [f"broken: {rule}" for rule, complaint in report.rules.items() if complaint]
        found += [f"{row.name} {row.verdict}" for row in report.rows if row.verdict == "WRONG"]
        far = np.abs(layer(X)[0] - formula(X, *[p.data for p in layer.parameters()])).max()
        return (*found, f"Y is off by {far:.1e}") if far > 1e-9 else tuple(found)

    return layer, X, wrongs, find_problems


def by_gradcheck(formula):
    """Return a test that asks gradcheck only."""
    return lambda layer, X: gradcheck(layer, X).problems


def by_shapes(formula):
    """Return a test that looks at shapes only."""

    def find_problems(layer, X):
        Y, back = layer(X)
        return [] if back(Y).shape == X.shape else ["dX has the wrong shape"]

    return find_problems


def by_one_answer(formula):
    """Return a test that says whether, and not what."""

    def find_problems(layer, X):
        return ["something is wrong"] if by_both(formula)(layer, X) else []

    return find_problems


def by_truth(formula):
    """Return a test that answers with True and False."""
    return lambda layer, X: not by_both(formula)(layer, X)


def by_type(formula):
    """Return a test that looks who made the layer."""
    return lambda layer, X: [] if getattr(layer, "__name__", "") == "forward" else [f"who is {layer!r:.20}?"]


def by_nudging_once(formula):
    """Return a test of dX alone, with ones, to one part in fifty; and of the formula."""

    def find_problems(layer, X):
        Y, back = layer(X)
        dX = back(np.ones_like(Y))
        truth = numerical_gradient(lambda X: layer(X)[0].sum(), X)
        found = [] if np.allclose(dX, truth, rtol=0.02, atol=1e-6) else ["dX is not what nudging says"]
        weights = [parameter.data for parameter in layer.parameters()]
        return found if np.allclose(Y, formula(X, *weights)) else [*found, "Y is not the formula's"]

    return find_problems


def by_parts(rows=slice(None), look=lambda Y: Y, **close):
    """Return what makes a test of some rows, which compares what a look at Y shows, more or less closely."""

    def make(formula):
        def find_problems(layer, X):
            found = list(gradcheck(layer, X[rows]).problems)
            truth = formula(X[rows], *[p.data for p in layer.parameters()])
            if not np.allclose(look(layer(X[rows])[0]), look(truth), **close):
                found.append("Y is not the formula's")
            return found

        return find_problems

    return make


def by_letters(formula):
    """Return a test that gives each problem a letter."""
    return lambda layer, X: ["xyz"[len(found) % 3] for found in by_both(formula)(layer, X)]


def by_parameters(formula):
    """Return a test that gives the formula Parameters where it wants arrays."""

    def find_problems(layer, X):
        found = list(gradcheck(layer, X).problems)
        return found if np.allclose(layer(X)[0], formula(X, *layer.parameters())) else [*found, "Y is off"]

    return find_problems


def by_bits(puts_back):
    """Return what makes a test that asks for the bits, too, and puts the weights back as they were or not."""

    def make(formula):
        def find_problems(layer, X):
            found = by_both(formula)(layer, X)
            kept = [p.data.copy() for p in layer.parameters()]
            Y = layer.to(np.float32)(X.astype(np.float32))[0]
            layer.to(np.float64)
            if puts_back:
                for p, data in zip(layer.parameters(), kept, strict=True):
                    p.data[...] = data
            return found if Y.dtype == np.float32 else [*found, "Y comes with too many bits"]

        return find_problems

    return make


right(my_test)(tested(by_bits(puts_back=True)))
refused(my_test, "save the data and put it back")(tested(by_bits(puts_back=False)))
refused(my_test, "in whose Y two entries behind the first row are exchanged")(
    tested(by_parts(slice(1)), squash_wrongs)
)
refused(my_test, "in whose Y two entries behind the first row are exchanged")(
    tested(by_parts(look=lambda Y: Y[0, 0]), squash_wrongs)
)
refused(my_test, "in whose Y two entries behind the first row are exchanged")(
    tested(by_parts(look=lambda Y: Y.sum()), squash_wrongs)
)
refused(my_test, "in whose Y one entry, behind the first row, is off by one per cent")(
    tested(by_parts(atol=0.03), squash_wrongs)
)
refused(my_test, "say in a sentence what is wrong")(tested(by_letters))
refused(my_test, "a Parameter is not an array: pass its `.data`")(tested(by_parameters))
refused(my_test, "whose Y is a tenth too large, with a backward that fits")(tested(by_gradcheck))
refused(my_test, "it finds nothing wrong with your wrong version 1")(tested(by_shapes))
refused(my_test, 'it says the same of all wrong versions, "something is wrong"')(tested(by_one_answer))
refused(my_test, "find_problems must return a list of sentences, empty if all is well, but returned a bool")(
    tested(by_truth)
)
refused(my_test, "of your right layer, alone in a Sequential, it says")(tested(by_type))
refused(my_test, "in whose dX a single entry is off by one per cent")(tested(by_nudging_once, squash_wrongs))


def lenient(rng, seed):
    """Return a small run: means of what was drawn."""
    return rng.normal(size=20).mean(), rng.normal(size=20).mean() + seed % 3


@right(my_experiment)
def means_of_what_was_drawn(seed):
    return lenient(np.random.default_rng(seed), seed)


@right(my_experiment)
def a_line_and_distances(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    T = (X * X).sum(axis=1, keepdims=True)
    features = distances(Parameter(rng.normal(size=(4, 3))))(X)[0]
    found = []
    for F in (X, features):
        A = np.column_stack([F[:40], np.ones(40)])
        w = np.linalg.lstsq(A, T[:40], rcond=None)[0]
        found.append(np.mean((np.column_stack([F[40:], np.ones(20)]) @ w - T[40:]) ** 2))
    return found


@right(my_experiment)
def an_array_of_two(seed):
    return np.array(lenient(np.random.default_rng(seed), seed))


@refused(my_experiment, "does it depend on the seed")
def always_the_same(seed):
    return lenient(np.random.default_rng(0), 0)


@refused(my_experiment, "in a second run with that seed: what is drawn without the seed?")
def draws_without_the_seed(seed):
    return lenient(np.random.default_rng(), seed)


@refused(my_experiment, "both scores are equal for two seeds: is one model measured twice?")
def one_model_twice(seed):
    score = np.random.default_rng(seed).normal()
    return score, score


@refused(my_experiment, "mine must be one finite number, but is nan")
def ran_away(seed):
    return np.random.default_rng(seed).normal(), float("nan")


@refused(my_experiment, "baseline must be one finite number, but is one array of shape (5,)")
def all_seeds_at_once(seed):
    return np.random.default_rng(seed).normal(size=(2, 5))[0], 1.0


@refused(my_experiment, "it must return baseline and mine, but returned a float")
def the_difference_alone(seed):
    return np.random.default_rng(seed).normal()
