"""The exercises of chapter 05: layers made of layers, the order of the two passes, and a stable softplus."""

from copy import deepcopy
from functools import reduce

import numpy as np

from course.checks.calls import asking
from course.checks.exercise import CheckFailed, Exercise
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    SLOPE_ALONE,
    because,
    drawn_sizes,
    expect_gradcheck,
    expect_guesses,
    expect_layer,
    expect_several,
    expect_values,
)
from minigrad.check.numerical import numerical_gradient
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import Sigmoid, Tanh
from minigrad.layers.combinators import chain
from minigrad.layers.linear import Linear

HIDDEN = 2


def _predict(layers, X):
    """Return the output of layers in a row."""
    for layer in layers:
        X = layer(X)[0]
    return X


def _square_layers(rng, width=N_IN):
    """Return layers of one width, so that shapes do not reveal their order."""
    return [Linear(width, width, rng=rng), Tanh(), Linear(width, width, rng=rng)]


def _draw(rng, *shape):
    return rng.normal(size=shape)


one_layer_two_places = Exercise(
    "05_chains.one_layer_two_places",
    title="One layer, two places",
    points=1,
    kind="predict",
    minutes=4,
    hints=(
        "Write down both passes: the input of each of the two places, and the gradient that returns to each.",
        "Place one sees X = 2 and returns 6; place two sees 6. In the backward pass place two is called "
        "first.",
        "Each place adds to the weight's gradient its input times the gradient that it receives: "
        "`X * dY`. Add the two parts; place one's `dY` is 3.",
    ),
)


@one_layer_two_places.check
def _(answer, rng):
    def twice(w, X):
        return w * (w * X)

    slopes = numerical_gradient(lambda both: twice(*both), np.array([3.0, 2.0]))
    expect_guesses(answer(), {"Y": twice(3.0, 2.0), "dX": slopes[1], "dw": slopes[0]})
    return "compared with nudging"


for sentence, numbers in {
    "That is what one of the two places adds; the other adds a part too.": (18.0, 9.0, 6.0),
    "Place two sees 6, not 2; and place one is given dY = 3, not 1. One of them is lost.": (18.0, 9.0, 8.0),
    "These are the numbers of a single Scale; here X passes it twice.": (6.0, 3.0, 2.0),
    "Two layers in a row multiply the slopes, 3 · 3; they do not add them.": (18.0, 6.0, 12.0),
    "The two parts are added, not multiplied.": (18.0, 9.0, 36.0),
}.items():
    one_layer_two_places.mistake(sentence)(lambda numbers=numbers: numbers)


row = Exercise(
    "05_chains.row",
    title="Reverse the list",
    points=2,
    kind="repair",
    minutes=6,
    hints=(
        "What does the list `backwards` look like after the first call of `backward`? Print it.",
        "`some_list.reverse()` reverses the list itself, for good. The second call reverses it again.",
        "`reversed(some_list)` walks through a list from its end and leaves it as it is.",
    ),
)


@row.check
def _(answer, rng):
    (batch,) = drawn_sizes(rng, BATCH)
    layers = [*_square_layers(rng), Sigmoid(), *_square_layers(rng)]  # longer than any in the chapter
    given, X, dY = list(layers), _draw(rng, batch, N_IN), _draw(rng, batch, N_IN)
    forward = answer(layers)
    if not callable(forward):
        raise CheckFailed("row must return a layer, a function X -> (Y, backward)")
    expect_layer(forward, lambda X: _predict(given, X), dY, X=X)
    if layers != given:
        raise CheckFailed("it changes the list layers, which belongs to its caller")
    narrow = [Linear(N_IN, HIDDEN, rng=rng), Tanh(), Linear(HIDDEN, N_OUT, rng=rng)]
    for some in (narrow, narrow[:1]):
        expect_gradcheck(answer(some), X)
    return "values, nudging, a second call of backward, and a call after another forward"


@row.probe
def _(answer, rng):
    Y, backward = answer(_square_layers(rng))(_draw(rng, BATCH, N_IN))
    dY = _draw(rng, BATCH, N_IN)
    return Y, backward(dY), backward(dY)


def through(backwards, dY):
    """Return dY after these functions, called in this order."""
    for backward in backwards:
        dY = backward(dY)
    return dY


def row_with(back):
    """Return a row whose backward is `back(backwards, dY)`."""

    def row(layers):
        def forward(X):
            backwards = []
            for layer in layers:
                X, layer_backward = layer(X)
                backwards.append(layer_backward)
            return X, lambda dY: back(backwards, dY)

        return forward

    return row


NOT_TURNED = "The backward functions are called in the order of the forward pass; call the last one first."
for sentence, back in {
    "Turning the list round inside backward turns it back at the next call": (
        lambda backwards, dY: backwards.reverse() or through(backwards, dY)
    ),
    NOT_TURNED: through,
    "The first call uses the functions up: pop() takes them out of their list, and an "
    "iterator such as reversed(…) is walked only once.": (
        lambda backwards, dY: through([backwards.pop() for _ in backwards[:]], dY)
    ),
    "The method reverse() turns a list round and returns None; reversed() returns what you want.": (
        lambda backwards, dY: through(backwards.reverse(), dY)
    ),
}.items():
    row.mistake(sentence)(row_with(back))

chain_all = Exercise(
    "05_chains.chain_all",
    title="Chain them all",
    points=2,
    kind="fill",
    minutes=6,
    hints=(
        "A chain is a layer, so it can be the first of the two layers in the next `chain`.",
        "Begin with a layer that changes nothing, and chain one layer after the other to it, in a loop.",
        "The layer that changes nothing returns `X, lambda dY: dY`. In the loop: the new whole is "
        "`chain(…, …)` of the old whole and the next layer.",
    ),
)


ONES = "A layer that changes nothing passes dY on as it is: dX is not all ones."


@chain_all.check
def _(answer, rng):
    X, square = _draw(rng, BATCH, N_IN), _square_layers(rng)
    layers = [*square, Sigmoid(), *square[:2], Linear(N_IN, N_OUT, rng=rng)]  # two layers are used twice
    for count in (2, 3, 7, 1, 0):
        some = layers[-count:] if count > 3 else layers[:count]
        what = {0: "without any layer, ", 1: "with one layer, "}.get(count, f"with {count} layers, ")
        with asking(what):
            whole = answer(*some)
            if not callable(whole):
                raise CheckFailed(f"{what}chain_all must return a layer, a function X -> (Y, backward)")
            returned = whole(X)
        try:
            expect_several(returned, "Y", "backward")
        except CheckFailed as no:
            raise CheckFailed(what + no.sentence) from no
        dY = _draw(rng, *_predict(some, X).shape)
        slips = {"dX": [(ONES, np.ones_like(X))]}
        expect_layer(whole, lambda X, some=some: _predict(some, X), dY, slips=slips, case=what, X=X)
    expect_gradcheck(answer(*layers), X)
    return "none, one, two, three and seven layers, their order, and nudging"


@chain_all.probe
def _(answer, rng):
    X, layers = _draw(rng, BATCH, N_IN), [*_square_layers(rng), Sigmoid()]  # with three, two mistakes agree
    Y, backward = answer(*layers)(X)
    return Y, backward(Y)


def identity(X):
    """Change nothing."""
    return X, lambda dY: dY


def last_two(*layers):
    whole = before = identity
    for layer in layers:
        whole, before = chain(before, layer), layer
    return whole


def walked_once(*layers):
    rest = iter(layers)
    return lambda X: reduce(chain, rest, identity)(X)


def growing_list(*layers):
    backwards = []

    def forward(X):
        for layer in layers:
            X, layer_backward = layer(X)
            backwards.append(layer_backward)
        return X, lambda dY: through(reversed(backwards), dY)

    return forward


def last_of_each(*layers):
    """Return a chain that keeps one backward function for each layer, however often it is used."""

    def forward(X):
        backwards = {}
        for layer in layers:
            X, backwards[layer] = layer(X)
        return X, lambda dY: through([backwards[layer] for layer in reversed(layers)], dY)

    return forward


for sentence, wrong in {
    "The layers run in the wrong order, the last one first.": (
        lambda *layers: reduce(chain, reversed(layers), identity)
    ),
    NOT_TURNED: lambda *layers: row_with(through)(layers),
    "Only the backward function of the last layer is called; dY must go through all of them.": (
        lambda *layers: row_with(lambda backwards, dY: backwards[-1](dY))(layers)
    ),
    "One of the layers is left out.": lambda *layers: reduce(chain, layers[1:], identity),
    "Only the first and the last layer are in the chain.": lambda *layers: chain(layers[0], layers[-1]),
    "Only the first two layers are in the chain; there may be any number of them.": (
        lambda *layers: reduce(chain, layers[:2], identity)
    ),
    "Only the last two layers are in the chain: chain the next one to the whole, not to one layer.": last_two,
    "A chain of one layer must do what that layer does; yours changes nothing.": (
        lambda *layers: reduce(chain, layers) if len(layers) > 1 else identity
    ),
    "The first call uses the layers up: an iterator is walked only once.": walked_once,
    "The list of backward functions keeps those of earlier calls: begin with a new one.": growing_list,
    "A layer used twice has two backward functions, one for each place; you keep one.": last_of_each,
}.items():
    chain_all.mistake(sentence)(wrong)


gate = Exercise(
    "05_chains.Gate",
    title="A gate",
    points=3,
    kind="fill",
    minutes=9,
    answer="class",
    hints=(
        "Both factors of Y = X · F depend on X. A product has two slopes, one for each of its factors.",
        "One part of dX goes past the layer: dY times the other factor. The other part reaches F first; what "
        "is F's gradient, in terms of dY and X?",
        "F's gradient is `dY * X`: send that through the layer's own backward, and add the part that goes "
        "past the layer.",
    ),
)


@gate.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    X, dY = _draw(rng, batch, n_in), _draw(rng, batch, n_in)
    inside = Sequential(Linear(n_in, n_in, rng=rng), Sigmoid())
    X[0, 0] = X[-1, -1] = 0.0
    X[0, 1] = 1.0  # where the plain function below is 0
    plain = lambda X: (X * X - 1, lambda dY: 2 * X * dY)  # noqa: E731
    expect_layer(answer(inside), lambda X: X * inside(X)[0], dY, X=X)
    one, _ = answer(inside), answer(Linear(n_in, n_in, rng=rng))
    with because("Each gate must keep its own layer: in an attribute of self, not of the class"):
        expect_values("after a second gate is made, the first gate's Y", one(X)[0], X * inside(X)[0])
    expect_layer(answer(plain), lambda X: X * plain(X)[0], dY, case="with a plain function inside, ", X=X)
    _expect_one_call(answer, X, dY, rng)
    for layer in (inside, plain, lambda X: (X + 1, lambda dY: dY)):
        expect_gradcheck(answer(layer), X)
    if [id(p) for p in answer(inside).parameters()] != [id(p) for p in inside.parameters()]:
        raise CheckFailed(
            "parameters() does not find those of the layer inside: keep the layer itself as an attribute"
        )
    return "values, nudging, the nine rules of a layer, and the parameters inside"


def _expect_one_call(answer, X, dY, rng):
    """Require one call of the inner layer, which is random, and one of its backward, when dY arrives."""
    drawn, arrived = [], []

    def noisy(X):
        drawn.append(rng.normal(size=X.shape))
        factors = drawn[-1]
        return X * factors, lambda dY: arrived.append(1) or dY * factors

    Y, backward = answer(noisy)(X)
    what = "for a layer that draws random numbers in each call,"
    expect_values(f"{what} Y", Y, X * X * drawn[0])
    if arrived:
        raise CheckFailed("forward calls the layer's backward, which adds to its gradients: wait for a dY")
    expect_values(f"{what} dX", backward(dY), 2 * X * drawn[0] * dY, "from the call that made Y it must be")
    if len(arrived) > 1:
        raise CheckFailed(
            f"backward calls the layer's backward {len(arrived)} times: the parameters inside get their "
            "gradient as often"
        )


class Gate(Layer):
    """The correct constructor and forward that the mistakes share."""

    def __init__(self, layer):
        self.layer = layer

    def forward(self, X):
        F, backward_F = self.layer(X)
        return X * F, lambda dY: self.back(X, F, dY, backward_F)


PAST = "What goes past the layer must be dY times the other factor, F."
THROUGH = "F was multiplied by X, so F's gradient, which its backward gets, is dY * X."
OF_THE_LAYER = "F belongs to the layer, whose backward may need it: multiply into a new array."
for way, sentence in {
    lambda _, X, F, dY, back: dY * F: "The part that goes through the layer is missing.",
    lambda _, X, F, dY, back: back(dY * X): "The part that goes past the layer is missing.",
    lambda _, X, F, dY, back: F + back(dY * X): "The part past the layer lacks dY.",
    lambda _, X, F, dY, back: dY * F + back(X): "The part through the layer lacks dY.",
    lambda _, X, F, dY, back: F + back(X): SLOPE_ALONE,
    lambda _, X, F, dY, back: dY * X + back(dY * X): PAST,
    lambda _, X, F, dY, back: dY + back(dY * X): PAST,
    lambda _, X, F, dY, back: dY * F + back(dY): THROUGH,
    lambda _, X, F, dY, back: dY * F + back(dY * F): THROUGH,
    lambda _, X, F, dY, back: dY * (F + back(X)): (
        "You multiply by dY after the layer's backward; F's gradient must contain dY before."
    ),
    lambda _, X, F, dY, back: dY * F + X * back(dY): (
        "X is multiplied after the layer's backward; F's gradient must be dY * X before it."
    ),
    lambda _, X, F, dY, back: dY + back(dY): (
        "This is the backward pass of Residual; a product needs the other factor."
    ),
    lambda _, X, F, dY, back: dY * X + back(dY * F): (
        "The two factors are exchanged: F's gradient is dY * X, and what goes past the layer is dY * F."
    ),
    lambda _, X, F, dY, back: np.multiply(F, dY, out=F) + back(dY * X): OF_THE_LAYER,
}.items():
    gate.mistake(sentence)(type("Gate", (Gate,), {"back": way}))


@gate.mistake("This is X + layer(X), a Residual; the gate multiplies.")
class AddsInstead(Gate):
    def forward(self, X):
        F, backward_F = self.layer(X)
        return X + F, lambda dY: dY + backward_F(dY)


@gate.mistake("A call of the layer returns two things, F and its backward: give each a name.")
class TakesThePairForF(Gate):
    def forward(self, X):
        F = self.layer(X)
        return X * F, lambda dY: dY * F


@gate.mistake("You run a copy of the layer: the gradients never reach the layer's own parameters.")
class RunsACopy(Gate):
    def forward(self, X):
        F, backward_F = deepcopy(self.layer)(X)
        return X * F, lambda dY: dY * F + backward_F(dY * X)


@gate.mistake(OF_THE_LAYER)
class TakesTheProductForF(Gate):
    def forward(self, X):
        F, backward_F = self.layer(X)
        F *= X
        return F, lambda dY: dY * F + backward_F(dY * X)


sandwich = Exercise(
    "05_chains.sandwich",
    title="The sandwich",
    points=3,
    kind="repair",
    minutes=10,
    hints=(
        "How many closures does `forward` make, and how many names does it have for them?",
        "The second `backward_bread = …` gives the name a new value. Which call of bread does it remember?",
        "Three closures need three names. The one made last is called first, and the one made first is "
        "called last.",
    ),
)


@sandwich.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    X, dY = _draw(rng, batch, n_in), _draw(rng, batch, n_in)
    bread = Sequential(Linear(n_in, n_in, rng=rng), Tanh())
    filling = Linear(n_in, n_in, rng=rng)
    inside = bread.layers[0]

    def both_slices(X, W, b):
        H = np.tanh(X @ W + b)
        return np.tanh(_predict([filling], H) @ W + b)

    expect_layer(answer(bread, filling), both_slices, dY, parameters={"W": inside.W, "b": inside.b}, X=X)
    expect_gradcheck(answer(bread, filling), X)
    runs = []
    _, backward = answer(lambda X: runs.append(1) or bread(X), filling)(X)
    backward(dY)
    if len(runs) != 2:
        raise CheckFailed(
            f"bread ran {len(runs)} times in one pass: run it once for each slice, and keep both results; a "
            "random layer returns something else each time"
        )
    return "values, nudging, and the gradients of the parameters inside"


def _sandwich_with(back):
    """Return a sandwich whose backward is `back(back_1, back_2, back_3)(dY)`."""

    def sandwich(bread, filling):
        def forward(X):
            H, back_1 = bread(X)
            A, back_2 = filling(H)
            Y, back_3 = bread(A)
            return Y, lambda dY: back(back_1, back_2, back_3, dY)

        return forward

    return sandwich


for sentence, back in {
    "You call the second bread's closure in both places: each call of bread has a closure of its own.": (
        lambda one, two, three, dY: three(two(three(dY)))
    ),
    "You call the first bread's closure in both places: each call of bread has a closure of its own.": (
        lambda one, two, three, dY: one(two(one(dY)))
    ),
    "The closures are called in the order of the forward pass; call the last one first.": (
        lambda one, two, three, dY: three(two(one(dY)))
    ),
    "You add up the results of the backward functions; pass each result to the next one.": (
        lambda one, two, three, dY: one(dY) + two(dY) + three(dY)
    ),
    "The filling is missing in the backward pass.": lambda one, two, three, dY: one(three(dY)),
    "The first slice of bread is missing in the backward pass.": lambda one, two, three, dY: two(three(dY)),
    "The filling comes second in the backward pass too, between the two slices.": (
        lambda one, two, three, dY: two(one(three(dY)))
    ),
}.items():
    sandwich.mistake(sentence)(_sandwich_with(back))


@sandwich.mistake("You run filling, bread, filling; the bread is outside.")
def bread_inside(bread, filling):
    return chain(filling, bread, filling)


@sandwich.mistake("The second slice gets the first slice's result; it must get the filling's result.")
def filling_passed_by(bread, filling):
    def forward(X):
        H, back_1 = bread(X)
        _, back_2 = filling(H)
        Y, back_3 = bread(H)
        return Y, lambda dY: back_1(back_2(back_3(dY)))

    return forward


@sandwich.mistake(
    "The second slice is a copy, and so are its parameters; their gradients must meet in bread."
)
def with_a_copy(bread, filling):
    return chain(bread, filling, deepcopy(bread))


softplus = Exercise(
    "05_chains.softplus",
    title="A soft ReLU",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "The slope e^X / (1 + e^X) is the sigmoid; the chapter has a form of it that is safe for any number.",
        "For X > 0 take e^X out of the bracket: log(e^X · (e^-X + 1)) = X + log(1 + e^-X). For X < 0 the "
        "formula is safe as it is. In both cases the exponent is -|X|; and np.where computes both sides.",
        "So it is `np.maximum(X, 0)` plus a logarithm of 1 plus `np.exp` of minus `np.abs(X)`. Multiply the "
        "slope by dY.",
    ),
)


@softplus.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    X, dY = 3 * _draw(rng, batch, n_in), _draw(rng, batch, n_in)
    X[0, 0] = 0.0
    expect_layer(answer, lambda X: np.log(1 + np.exp(X)), dY, X=X)
    alone = [[x] for x in (40.0, -40.0, 200.0, -200.0, 1000.0, -1000.0)]
    for X_row in (*alone, [0.0, 1000.0, -1000.0, 2.0], [7.0, -7.0, 14.0, -14.0]):
        case, x = f"for X = [{', '.join(f'{x:g}' for x in X_row)}]", np.array(X_row)
        Y, slope = _without_overflow(answer, x, case)
        expect_values(f"{case}, Y", Y, np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))
        expect_values(f"{case} and dY of ones, dX", slope, sigmoid(x))
    expect_gradcheck(answer, X)
    return "values and slopes near 0 and up to ±1000, nudging, and the rules of a layer"


def _without_overflow(answer, X, case):
    """Return an answer's Y, and its dX for a dY of ones; fail if NumPy would warn."""
    with np.errstate(over="raise", invalid="raise", divide="raise", under="ignore"):
        half = "forward"
        try:
            Y, backward = answer(X)
            half = "backward"
            return Y, backward(np.ones_like(X))
        except FloatingPointError as error:
            raise CheckFailed(
                f"{case} NumPy would warn in the {half} pass: {error}; which exponent is so "
                "large? If you use np.where: it computes both of its sides, and only then chooses"
            ) from error


def sigmoid(X):
    """Return the sigmoid of X, safely."""
    return 0.5 + 0.5 * np.tanh(0.5 * X)


@softplus.mistake("Y (1 - Y) is the slope of the sigmoid, and Y must then be the sigmoid's.")
def slope_from_its_own_Y(X):
    Y = np.logaddexp(0, X)
    return Y, lambda dY: dY * Y * (1 - Y)


for sentence, slope in {
    "This is the slope of the sigmoid; the slope of softplus is the sigmoid itself.": (
        lambda X, dY: dY * sigmoid(X) * sigmoid(-X)
    ),
    "This is the sigmoid of -X: look at the sign of the exponent.": lambda X, dY: dY * sigmoid(-X),
    "The sigmoid is half of a tanh of X / 2, not of X, shifted by a half.": lambda X, dY: dY * sigmoid(2 * X),
    "This is the slope of ReLU; softplus is round at 0.": lambda X, dY: dY * (X > 0),
    SLOPE_ALONE: lambda X, dY: sigmoid(X),
}.items():
    softplus.mistake(sentence)(lambda X, slope=slope: (np.logaddexp(0, X), lambda dY: slope(X, dY)))
