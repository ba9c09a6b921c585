"""The exercises of chapter 24: a warm-up, and the learner's own layer, whatever it may be.

No check here knows the layer that it is given: each asks for laws, for agreement between parts that the
learner wrote separately, and whether the learner's own test notices what is spoiled on purpose. Holds also
three whole works, by which the checks are tried: a squash without parameters (a class), distances to trained
centres (a function), and a Linear of cosines.
"""

import inspect
import re
import types
from functools import partial
from itertools import permutations

import numpy as np

import minigrad
from course.checks.exercise import CheckFailed, Exercise, described, is_first_round
from course.checks.questions import (
    BATCH,
    N_IN,
    expect_gradcheck,
    expect_guesses,
    expect_several,
    expect_shape,
    expect_values,
    gap_along_a_way,
    untouched,
)
from minigrad.check.checker import gradcheck
from minigrad.check.numerical import numerical_gradient
from minigrad.layer import Layer, Sequential, as_layer

MOST = 100  # entries of X: each is nudged many times
AT_KINKS = 0.5  # tolerance of the gap along a path: at kinks and jumps, slopes miss a part of the rise


# 1. four tests in a row

first_notices = Exercise(
    "24_capstone.first_notices",
    title="Four tests in a row",
    points=2,
    kind="predict",
    minutes=6,
    hints=(
        "For each version first ask whether Y is right. If it is not, does its backward fit *its own* Y?",
        "The second test has one example, and a dY of ones: what can one example, and what can ones hide?",
        "With one example, dividing by the batch size changes nothing; with a dY of ones, neither does "
        "forgetting dY. Which third mistake shows?",
    ),
)

SLIPS = ("the sum", "the mean", "the other power", "the forgotten dY", "the wrong factor")


def slipped(slip):
    """Return the layer of the warm-up, X² with one mistake."""

    def layer(X):
        ways = {
            "the sum": lambda dY: (2 * X * dY).sum(axis=0),
            "the mean": lambda dY: 2 * X * dY / len(X),
            "the other power": lambda dY: 3 * X**2 * dY,
            "the forgotten dY": lambda dY: 2 * X,
            "the wrong factor": lambda dY: 3 * X * dY,
        }
        return (X**3 if slip == "the other power" else X**2), ways[slip]

    return layer


def notices(layer, X):
    """Return the number of the first test that fails, or 0."""
    Y, backward = layer(X)
    if Y.shape != X.shape or np.shape(backward(np.ones_like(Y))) != X.shape:
        return 1
    dX = layer(X[:1])[1](np.ones_like(X[:1]))
    if not np.allclose(dX, numerical_gradient(lambda X: layer(X)[0].sum(), X[:1]), rtol=1e-4):
        return 2
    if not gradcheck(layer, X).ok:
        return 3
    return 4 if not np.allclose(Y, X * X) else 0


FITS_ITS_OWN = "Its backward fits its own Y, and nudging tests only that"
BLIND = {  # why an earlier test does not fail
    ("the mean", 2): "With a batch of one, a division by the batch size divides by 1",
    ("the other power", 2): FITS_ITS_OWN,
    ("the other power", 3): FITS_ITS_OWN,
    ("the forgotten dY", 2): "The dY of the second test is all ones, so a missing factor dY does not show",
}
EARLIER = {  # why an earlier test fails
    "the sum": "a sum over the batch takes an axis away",
    "the mean": "with five examples, a division by five shows",
    "the forgotten dY": "its dY is not all ones",
    "the wrong factor": "three instead of two shows with one example and ones, too",
}


def why_not(slip, truth):
    """Return for each wrong number why it is wrong."""
    before = {number: BLIND.get((slip, number), "Both shapes are right") for number in range(1, truth)}
    behind = {number: f"An earlier test notices it: {EARLIER[slip]}" for number in range(truth + 1, 5)}
    return {0: "One of the four notices it"} | before | behind


@first_notices.check
def _(answer, rng):
    X = rng.uniform(0.5, 2, size=(BATCH, N_IN))
    truths = {slip: notices(slipped(slip), X) for slip in SLIPS}
    expect_guesses(
        answer(),
        {f"the number for {slip}": truth for slip, truth in truths.items()},
        {f"the number for {slip}": why_not(slip, truth) for slip, truth in truths.items()},
    )
    return "five versions, each put to four tests"


# 2. the layer

my_layer = Exercise(
    "24_capstone.my_layer",
    title="The layer",
    points=4,
    kind="fill",
    minutes=45,
    hints=(
        "Begin on paper, with three small numbers. Let the first layer be small: one formula, at most two "
        "Parameters. Chapter 03's `gradcheck` prints more than this check does: call it yourself.",
        "Everything random comes from the `rng` you are given, the Parameters and X alike, and is made again "
        "in each call. What backward needs stays in the closure; gradients of Parameters grow by `+=`.",
        "If 32-bit numbers become 64-bit ones, look for an array that you made without saying its dtype: "
        "`np.zeros_like(X)` and `X * 2` keep it, `np.zeros(X.shape)` does not.",
    ),
)


@my_layer.check
def _(answer, rng):
    layer, X = handed_over(answer, rng)
    Y, backward = expect_several(run_once(layer, X), "Y", "backward")
    expect_result(Y, X)
    with untouched(X=X):
        dX = backward(np.ones_like(Y))
    expect_shape("dX", dX, "X", X)
    expect_own(layer, X, np.asarray(Y))
    expect_gradcheck(layer, X)
    for part, what in ((X[:1], "one example"), (np.concatenate([X, X[::-1]]), "twice as many examples")):
        size = len(expect_several(run_once(layer, part), "Y", "backward")[0])
        if size != len(part):
            raise CheckFailed(f"given {what}, Y has {size} rows and X has {len(part)}")
    try:
        expect_gradcheck(layer, X[:1])
    except CheckFailed as no:
        raise CheckFailed(f"with one example, {no.sentence}", report=no.report) from no
    expect_gradcheck_elsewhere(layer, X, rng)
    expect_effect(layer, X)
    gap = gap_along_a_way(layer, X, X * rng.uniform(0.8, 1.2, X.shape), rng.normal(size=Y.shape), rng)
    if not gap < AT_KINKS:
        raise CheckFailed("from your X to one beside it, the change of Y is not the integral of dX")
    expect_fresh(answer, layer, X)
    expect_32_bits(*handed_over(answer, rng))
    return "nine rules, gradients, one example and many, a new one for each rng, 32 bits; not the library's"


def handed_over(answer, rng, names=("layer", "X")):
    """Return an answer's parts; check the layer and X."""
    layer, X, *others = things = expect_several(answer(rng), *names)
    if not callable(layer):
        raise CheckFailed(f"the layer must be callable, but is {described(layer)}")
    if isinstance(layer, type):
        raise CheckFailed("that is the class: return a layer, made by calling it")
    if not isinstance(X, np.ndarray) or X.dtype != np.float64:
        kind = f"an array of {X.dtype}" if isinstance(X, np.ndarray) else described(X)
        raise CheckFailed(f"X must be an array of float64, but is {kind}")
    if X.ndim < 2 or len(X) < 3 or X.size > MOST:
        raise CheckFailed(
            f"X must be a batch of 3 examples or more and at most {MOST} numbers, but has shape {X.shape}"
        )
    if not np.isfinite(X).all():
        raise CheckFailed("X holds nan or infinity")
    return things if others else (layer, X)


def run_once(layer, X):
    """Call a layer or a function; describe the returned shapes of a function."""
    try:
        result = layer(X)
    except TypeError as error:
        if "must return a pair" not in str(error):
            raise
        result = None
    if not isinstance(result, tuple) or len(result) != 2:
        raise CheckFailed("calling the layer must return a pair: Y, and the function backward")
    return result


def expect_result(Y, X):
    """Require that Y is a batch of finite numbers."""
    if not isinstance(Y, np.ndarray) or Y.dtype.kind != "f":
        raise CheckFailed(f"Y must be an array of floats, but is {described(Y)}")
    if Y.ndim < 1 or len(Y) != len(X):
        raise CheckFailed(f"Y has shape {Y.shape}; its first axis must count the {len(X)} examples of X")
    if not np.isfinite(Y).all():
        raise CheckFailed("Y holds nan or infinity")


def weights_of(layer):
    """Return the Parameters of a layer or function, in order."""
    return as_layer(layer).parameters()


def expect_own(layer, X, Y):
    """Require that a layer is new: not in the library or the chapter, and not just a scale."""
    name = type(layer).__name__
    if isinstance(layer, Layer) and name in minigrad.__all__:
        raise CheckFailed(
            f"this is a layer called {name}, as one of minigrad's: return one of yours, under another name"
        )
    if not np.ptp(X, axis=0).any():
        raise CheckFailed(
            "all examples of X are equal, and a test there is blind to much: draw them from the rng that you "
            "are given"
        )
    parameters = weights_of(layer)
    known = known_as(X, Y, [parameter.data for parameter in parameters])
    if not known:
        return
    weights, rng = [parameter.data.copy() for parameter in parameters], np.random.default_rng(7)
    set_weights(parameters, [weight + rng.uniform(0.3, 0.6, weight.shape) for weight in weights])
    at_start_only = is_unknown(layer, X)
    set_weights(parameters, weights)
    if at_start_only:
        raise CheckFailed(
            f"at its start your layer is nothing new (Y is {known}), and a test there is blind to much: "
            "begin with other numbers in its Parameters"
        )
    if is_unknown(layer, rng.normal(scale=2 * np.abs(X).max(), size=X.shape)):
        raise CheckFailed(
            f"on your X, Y is {known}; elsewhere your layer is something else: choose an X that shows it"
        )
    raise CheckFailed(f"on your X, Y is {known}: choose a layer that the course has not built")


def is_unknown(layer, X):
    """Return whether a layer's Y is finite and not that of a known layer."""
    try:
        with np.errstate(all="ignore"):
            Y = np.asarray(as_layer(layer)(X)[0])
    except Exception:  # not every layer takes every X
        return False
    finite = Y.shape[:1] == X.shape[:1] and Y.dtype.kind == "f" and np.isfinite(Y).all()
    return finite and not known_as(X, Y, [parameter.data for parameter in weights_of(layer)])


def known_as(X, Y, weights):
    """Name the known layer that makes this Y of X, if any."""
    if Y.shape == X.shape:
        if np.allclose(Y, X):
            return "X itself"
        slope, offset = np.polyfit(X.ravel(), Y.ravel(), 1)
        if np.allclose(Y, slope * X + offset):
            return "X scaled and shifted, the same for all entries"
    if np.ptp(Y, axis=0).max() < 1e-12 * max(1.0, np.abs(Y).max()):
        return "the same for each example"
    return _known_layer(X, Y) or _known_with(X, Y, weights)


def _known_layer(X, Y):
    """Name the minigrad layer without weights that makes this Y of X, if any."""
    for make in (
        minigrad.ReLU,
        minigrad.Sigmoid,
        minigrad.Tanh,
        minigrad.GELU,
        minigrad.Softmax,
        minigrad.Flatten,
        minigrad.Sum,
        minigrad.Mean,
        minigrad.Max,
        lambda: minigrad.LayerNorm(X.shape[-1]),
    ):
        layer = make()
        theirs = layer(X)[0]
        if theirs.shape == Y.shape and np.allclose(Y, theirs):
            return f"what minigrad's {type(layer).__name__} returns"
    return ""


def _known_with(X, Y, weights):
    """Name the layer that makes this Y of X with one of these weights, if any."""
    for W in weights:
        if W.ndim == 2 and W.shape == (X.shape[-1], Y.shape[-1]):
            rest = Y - X @ W
            if np.allclose(rest, rest[:1]):
                return "what minigrad's Linear returns"
        if np.broadcast_shapes(W.shape, (1,)) in ((1,), X.shape[-1:]) and np.all(W):
            if Y.shape == X.shape and np.allclose(Y, X + np.sin(W * X) ** 2 / W):
                return "what the chapter's Snake returns"
    return ""


def expect_gradcheck_elsewhere(layer, X, rng):
    """Require that gradients agree with nudging for other weights: a weight of 1 hides a missing factor.

    The other weights are smaller with the same signs, so thresholds stay above 0, and numbers below 1 stay
    below.
    """
    parameters = weights_of(layer)
    weights = [parameter.data.copy() for parameter in parameters]
    set_weights(parameters, [weight * rng.uniform(0.7, 0.9, weight.shape) for weight in weights])
    try:
        expect_gradcheck(layer, X)
    except CheckFailed as no:
        raise CheckFailed(
            f"with other numbers in its Parameters, {no.sentence}; the ones that it starts with hide this",
            report=no.report,
        ) from no
    finally:
        set_weights(parameters, weights)


def expect_effect(layer, X):
    """Require that each Parameter affects Y: that other numbers in it change Y."""
    rng = np.random.default_rng(11)
    Y = np.array(as_layer(layer)(X)[0])
    for name, parameter in as_layer(layer).named_parameters().items():
        kept = parameter.data.copy()
        tries = [kept + scale * rng.normal(size=kept.shape) for scale in (0.1, 1.0, 5.0, 5.0)]
        moved = any(moves(layer, X, Y, parameter, data) for data in tries)
        set_weights([parameter], [kept])
        if not moved:
            raise CheckFailed(
                f"on your X, the Parameter {name} has no effect on Y: nudging it moves nothing, so its "
                "gradient is 0 in every draw and a wrong one cannot be noticed; use it, or leave it out"
            )


def moves(layer, X, Y, parameter, data):
    """Return whether other data in a Parameter changes Y; an error or overflow counts as a change."""
    set_weights([parameter], [data])
    try:
        with np.errstate(all="ignore"):
            other = np.asarray(as_layer(layer)(X)[0])
    except Exception:  # not every layer takes every number
        return True
    return other.shape != Y.shape or not np.allclose(other, Y, rtol=1e-12, atol=1e-14)


def expect_fresh(answer, layer, X):
    """Require that each call makes a new layer and a new X, from its rng only."""
    (one, X_one), (two, X_two) = (handed_over(answer, np.random.default_rng(3)) for _ in range(2))
    Y_one, Y_two = as_layer(one)(X_one)[0], as_layer(two)(X_two)[0]
    if not np.array_equal(X_one, X_two) or not np.array_equal(Y_one, Y_two):
        raise CheckFailed("two calls with the same seed give different numbers: draw from rng alone")
    if np.array_equal(X, X_one):
        raise CheckFailed("X is the same for every rng: draw it from the rng that you are given")
    ids_one, ids_two = ({id(parameter) for parameter in weights_of(made)} for made in (one, two))
    if ids_one & ids_two:
        raise CheckFailed("two calls return the same Parameters: make new ones in each call")


def expect_32_bits(layer, X):
    """Require that float32 stays float32, forward and backward."""
    as_layer(layer).to(np.float32)
    wide = wide_results(layer, X)
    if not wide:
        return
    name, dtype = wide[0]
    said = f"given 32-bit numbers, {name} comes as {dtype}"
    if plain := plain_arrays(layer):
        for _, array, put in plain:
            put(array.astype(np.float32))
        if not wide_results(layer, X):
            raise CheckFailed(
                f"{said}, since {plain[0][0]} is a plain array of 64 bits: an array that is not trained "
                "belongs in a Buffer (chapter 10), a trained one in a Parameter"
            )
    raise CheckFailed(
        f"{said}: make no arrays or numbers of 64 bits on the way, and keep what the layer holds in a "
        "Parameter, or, if it is not trained, in a Buffer (chapter 10)"
    )


def wide_results(layer, X):
    """Return the names and types of what a layer of 32 bits returns, and adds, with other bits."""
    Y, backward = as_layer(layer)(X.astype(np.float32))
    found = {"Y": Y, "dX": backward(np.ones_like(Y))}
    for name, parameter in as_layer(layer).named_parameters().items():
        found[f"the gradient of {name}"] = parameter.grad
    return [(name, array.dtype) for name, array in found.items() if np.asarray(array).dtype != np.float32]


def plain_arrays(layer):
    """Return name, array and what puts another in its place, for the 64-bit arrays that a layer just holds.

    A layer in another process is skipped.
    """
    if isinstance(layer, types.FunctionType):
        cells = zip(layer.__code__.co_freevars, layer.__closure__ or (), strict=True)
        held = [(name, cell.cell_contents, partial(setattr, cell, "cell_contents")) for name, cell in cells]
    elif isinstance(layer, Layer):
        held = [(name, value, partial(setattr, layer, name)) for name, value in vars(layer).items()]
    else:
        held = []
    return [thing for thing in held if isinstance(thing[1], np.ndarray) and thing[1].dtype == np.float64]


# 3. the formula

my_formula = Exercise(
    "24_capstone.my_formula",
    title="The formula",
    points=2,
    kind="fill",
    minutes=15,
    hints=(
        "Write it as if you had to explain it on paper: loops over examples and columns, `math`, no tricks.",
        "Print `list(Sequential(layer).named_parameters())`: the arrays come in this order.",
        "Use the arguments only: X, and the arrays that come after it. The layer's own Parameters, its "
        "forward, and its closure must not be used here.",
    ),
)


@my_formula.check
def _(answer, rng):
    layer, X, formula = whole(answer, rng, ("layer", "X", "formula"))
    parameters = weights_of(layer)
    weights = [parameter.data.copy() for parameter in parameters]
    others = [weight * rng.uniform(0.8, 1.2, weight.shape) for weight in weights]
    expect_order(formula, layer, X, weights)
    cases = {
        "your X": X,
        "your X in another order": X[::-1].copy(),
        "one example": X[:1],
        "another X": X * rng.uniform(0.8, 1.2, X.shape),
    }
    for case, those in cases.items():
        expect_agreement(case, formula, layer, those, weights)
    set_weights(parameters, others)
    Y = np.array(as_layer(layer)(X)[0])
    set_weights(parameters, weights)
    if weights:
        found = np.asarray(formula(X, *others))
        if np.array_equal(found, formula(X, *weights)) or not np.allclose(found, Y, rtol=1e-6, atol=1e-9):
            raise CheckFailed(
                "given other arrays for the weights, the formula does not do what the layer does with those: "
                "it must compute with the arrays that it is given, and with no others"
            )
    named = {"X": X} | {f"weight {number}": weight for number, weight in enumerate(weights)}
    with untouched(**named):
        formula(X, *weights)
    Y, backward = as_layer(layer)(X)
    dY = rng.normal(size=Y.shape)
    truth = numerical_gradient(lambda X: formula(X, *weights), X, dY)
    expect_values("the layer's dX", backward(dY), truth, "nudging the formula says")
    kinds = "other weights, " if weights else ""
    return f"another X, another order, one example, {kinds}and dX by nudging the formula"


def whole(answer, rng, names):
    """Return an answer's parts; require that the formula is callable."""
    things = handed_over(answer, rng, names)
    if not callable(things[2]):
        raise CheckFailed(f"the formula must be a function, but is {described(things[2])}")
    return things


def set_weights(parameters, arrays):
    """Change the numbers of Parameters in place."""
    for parameter, array in zip(parameters, arrays, strict=True):
        parameter.data[...] = array


def in_order(layer):
    """Return the names and shapes of a layer's Parameters, in the order in which a formula is given them."""
    named = as_layer(layer).named_parameters().items()
    return ", ".join(f"{name} {parameter.data.shape}" for name, parameter in named)


def expect_order(formula, layer, X, weights):
    """Check whether a wrong formula is right with the weights in another order."""
    if not 2 <= len(weights) <= 4:
        return
    Y = np.asarray(as_layer(layer)(X)[0])
    if agrees(formula, X, weights, Y):
        return
    for others in permutations(weights):
        if agrees(formula, X, others, Y):
            raise CheckFailed(
                f"the formula takes the weights in another order than they come; they come as "
                f"{in_order(layer)}, after X"
            )


def agrees(formula, X, weights, Y):
    """Return whether a formula returns a Y."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(formula(X.copy(), *weights))
    except Exception:  # arrays that do not fit
        return False
    return found.shape == Y.shape and found.dtype.kind in "iuf" and np.allclose(found, Y)


def expect_agreement(case, formula, layer, X, weights):
    """Require that formula and layer agree."""
    Y = np.asarray(as_layer(layer)(X)[0])
    try:
        found = formula(X, *weights)
    except Exception as error:  # keeps the line for the message
        if not isinstance(error, NotImplementedError):
            given = f"X {X.shape}" + (f", {in_order(layer)}" if weights else "")
            error.args = (f"{error}; the formula was given {case}: {given}",)
        raise
    shape = np.shape(found)
    if shape != Y.shape:
        raise CheckFailed(f"given {case}, the formula returns shape {shape}, but the layer's Y has {Y.shape}")
    expect_values(f"given {case}, the formula's Y", found, Y, "the layer says")


# 4. three wrong versions

wrong_versions = Exercise(
    "24_capstone.wrong_versions",
    title="Three wrong versions",
    points=3,
    kind="fill",
    minutes=25,
    hints=(
        "What did you nearly get wrong yourself? A term of a product rule, a sum over the batch, a sign, a "
        "`+=`, something kept on `self`.",
        "A wrong version may wrap the right layer: call it, and change what comes back. One may have another "
        "formula, with a backward that fits it.",
        "`print(gradcheck(wrong, X).problems)` for each: the three lists must be different. With Parameters, "
        "let one have the right dX and spoil the gradient of a Parameter only.",
    ),
)


def problems_of(layer, X, formula):
    """Return gradcheck's problems with a layer, and whether its Y differs from the formula's."""
    found = list(gradcheck(layer, X).problems)
    Y = as_layer(layer)(X)[0]
    truth = formula(X, *[parameter.data for parameter in weights_of(layer)])
    if np.shape(Y) != np.shape(truth) or not np.allclose(Y, truth, rtol=1e-6, atol=1e-9):
        found.append("another Y than the formula's")
    return found


@wrong_versions.check
def _(answer, rng):
    layer, X, formula, wrongs = whole(answer, rng, ("layer", "X", "formula", "wrongs"))
    if found := problems_of(layer, X, formula):
        raise CheckFailed(f"the right layer has a problem itself: {found[0]}")
    if not isinstance(wrongs, list | tuple) or len(wrongs) != 3 or not all(map(callable, wrongs)):
        count = f" of {len(wrongs)}" if isinstance(wrongs, list | tuple) else ""
        raise CheckFailed(f"wrongs must be a list of three layers, but is {described(wrongs)}{count}")
    right_Y, said = np.asarray(as_layer(layer)(X)[0]), []
    for number, wrong in enumerate(wrongs, 1):
        expect_runs(f"wrong version {number}", wrong, X, right_Y)
        said.append(problems_of(wrong, X, formula) or [*filter(None, [wide_only(answer, rng, number)])])
        if not said[-1]:
            raise CheckFailed(
                f"in wrong version {number} nothing is wrong: gradcheck finds nothing, Y is the formula's, "
                "and 32-bit numbers stay so"
            )
    other_Y = [number for number, found in enumerate(said, 1) if found[-1].startswith("another Y")]
    if len(other_Y) > 1:
        raise CheckFailed(
            f"wrong versions {' and '.join(map(str, other_Y))} have another Y than the formula's: at most "
            "one may, since a mistake in the backward pass is harder to see"
        )
    _expect_three_ways(layer, X, wrongs, said)
    elsewhere = "another Y", "too many bits"  # neither is a gradient of a Parameter
    in_dX = ["input X" in " ".join(found) or any(words in found[-1] for words in elsewhere) for found in said]
    if weights_of(layer) and all(in_dX):
        raise CheckFailed(
            "in all three dX or Y is wrong, or the bits: let one be right there, and wrong in a Parameter's "
            "gradient"
        )
    return "each runs, has the right shapes, and is wrong in its own way"


def _expect_three_ways(layer, X, wrongs, said):
    """Require that the sentences about three wrong versions differ in more than a factor."""
    kinds = [{re.sub(r"[\d.e+-]+", "", sentence) for sentence in found} for found in said]
    for one, two in ((0, 1), (0, 2), (1, 2)):
        factors = [times(wrong, layer, X) for wrong in (wrongs[one], wrongs[two])]
        if None not in factors:
            raise CheckFailed(
                f"wrong versions {one + 1} and {two + 1} are wrong in the same way: the right dX times "
                f"{factors[0]:.3g}, and times {factors[1]:.3g}; make another mistake"
            )
        if kinds[one] == kinds[two]:
            raise CheckFailed(
                f"wrong versions {one + 1} and {two + 1} are wrong in the same way ({said[one][0]}): find "
                "another slip"
            )


def wide_only(answer, rng, number):
    """Name the arrays that are wider in a wrong version than in the right layer, given float32, if any."""
    layer, X, _, wrongs = handed_over(answer, rng, ("layer", "X", "formula", "wrongs"))
    found = []
    for made in (layer, wrongs[number - 1]):
        as_layer(made).to(np.float32)
        found.append(wide_results(made, X))
    return "" if found[0] or not found[1] else f"{found[1][0][0]} comes with too many bits"


def times(wrong, layer, X):
    """Return the one factor by which all of a wrong dX differs; None if there is none, or more is wrong."""
    factors = []
    for part in (X, X[:2]):
        (Y, back), (right_Y, right_back) = as_layer(wrong)(part.copy()), as_layer(layer)(part.copy())
        dY = np.random.default_rng(5).normal(size=right_Y.shape)
        dX, truth = back(dY.copy()), right_back(dY.copy())
        if not np.allclose(Y, right_Y) or not truth.any():
            return None
        factors.append((dX * truth).sum() / (truth * truth).sum())
        if not np.allclose(dX, factors[-1] * truth):
            return None
    same = np.isclose(*factors) and not np.isclose(factors[0], 1)
    return factors[0] if same else None


def expect_runs(name, wrong, X, right_Y):
    """Require that a wrong version has the right shapes."""
    try:
        Y, backward = expect_several(run_once(wrong, X.copy()), "Y", "backward")
        dX = backward(np.ones(np.shape(Y)))
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed(
            f"{name} raises {type(error).__name__}: {error}: an error is too easy to notice"
        ) from error
    for what, value, like in (("Y", Y, right_Y), ("dX", dX, X)):
        if np.shape(value) != like.shape:
            raise CheckFailed(
                f"{name} is too easy to notice: {what} has shape {np.shape(value)}, not {like.shape}"
            )
        if not np.isfinite(np.asarray(value, dtype=float)).all():
            raise CheckFailed(f"{name} is too easy to notice: {what} has entries that are not finite")


# 5. the test

my_test = Exercise(
    "24_capstone.my_test",
    title="The test",
    points=3,
    kind="fill",
    minutes=25,
    hints=(
        "The chapter's `find_problems` asks gradcheck and the formula. Which of the spoiled layers would "
        "pass the first, and which the second?",
        "Take `list(gradcheck(layer, X).problems)`, and add a sentence of your own when Y is not your "
        "formula's. The weights are `[p.data for p in layer.parameters()]`.",
        "Ask the layer that you are given, whatever its type, with the X that you are given: your own right "
        "layer comes in a Sequential, too, and must get an empty list.",
    ),
)


class Turn:
    """A layer of a chain that changes X or dY; it stays in the grader's process."""

    data = None  # gradcheck reads this attribute

    def __init__(self, forth, back):
        self.forth, self.back = forth, back

    def __call__(self, X):
        """Return the changed array, and the backward function."""
        return self.forth(X), self.back

    def named_parameters(self):
        """Return no Parameters, in a dict."""
        return {}


def same(X):
    """Return X."""
    return X


def twice(X):
    """Return 2 X."""
    return 2 * X


def half(X):
    """Return X / 2."""
    return X / 2


def larger(X):
    """Return 1.1 X."""
    return 1.1 * X


def off_in_one(dX):
    """Return X with its largest entry one per cent larger."""
    dX = np.array(dX)
    dX.flat[np.abs(dX).argmax()] *= 1.01
    return dX


def spoils(X):
    """Return a copy, and change X."""
    kept = X.copy()
    X *= 1.1
    return kept


def shared(dX):
    """Return X divided by the batch size."""
    return dX / len(dX)


def later_rows(Y):
    """Return Y's flat indices after the first row, sorted by value."""
    first = Y[0].size
    return first + np.argsort(Y.ravel()[first:], kind="stable")


def exchanged(Y):
    """Return a layer that exchanges two entries in later rows, or None if all are equal."""
    low, *_, high = later_rows(Y)
    if np.isclose(Y.flat[low], Y.flat[high]):
        return None

    def exchange(A):
        A = np.array(A)
        if A.shape == Y.shape:  # another batch passes as it is
            A.flat[[low, high]] = A.flat[[high, low]]
        return A

    return Turn(exchange, exchange)


def a_per_cent(Y):
    """Return a layer that adds one per cent to one entry of a later row, forward and backward."""
    places = later_rows(Y)
    place = places[np.abs(Y.ravel()[places]).argmax()]

    def enlarge(A):
        A = np.array(A)
        if A.shape == Y.shape:
            A.flat[place] *= 1.01
        return A

    return Turn(enlarge, enlarge) if Y.flat[place] else None


class Overwrites(Layer):
    """A wrapper of a layer whose gradients overwrite earlier ones."""

    def __init__(self, layer):
        self.layer = layer

    def forward(self, X):
        """Return Y, and a backward that forgets."""
        Y, back = as_layer(self.layer)(X)

        def backward(dY):
            self.zero_grad()
            return back(dY)

        return Y, backward


class Latest(Overwrites):
    """A wrapper of a layer whose backward belongs to the latest forward."""

    def forward(self, X):
        """Return Y, and store the backward function on self."""
        Y, self.back = as_layer(self.layer)(X)
        return Y, lambda dY: self.back(dY)


def spoiled(layer, X, near):
    """Return several wrong versions of a layer, by their descriptions.

    Two need a new function for each forward, and to be copied with the layer: they are left out where
    the layer is in another process (not near).
    """
    ways = {
        "whose dX is twice as large": Sequential(Turn(same, twice), layer),
        "in whose dX a single entry is off by one per cent": Sequential(Turn(same, off_in_one), layer),
        "that changes X": Sequential(Turn(spoils, same), layer),
        "that changes dY": Sequential(layer, Turn(same, spoils)),
        "whose Y is a tenth too large, with a backward that fits": Sequential(layer, Turn(larger, larger)),
    }
    ways["whose dX is divided by the batch size"] = Sequential(Turn(same, shared), layer)
    Y = np.array(as_layer(layer)(X)[0])
    if turn := exchanged(Y):
        ways["in whose Y two entries behind the first row are exchanged"] = Sequential(layer, turn)
    if turn := a_per_cent(Y):
        ways["in whose Y one entry, behind the first row, is off by one per cent"] = Sequential(layer, turn)
    if weights_of(layer):
        doubled = Sequential(Turn(same, half), layer, Turn(same, twice))
        ways["that adds the gradients of its Parameters twice"] = doubled
    if near and weights_of(layer):
        ways["that overwrites the gradients of its Parameters"] = Overwrites(layer)
    latest = Latest(layer)
    if near and not gradcheck(latest, X).ok:  # else its backward pass does not depend on X
        ways["whose backward follows the latest forward, not its own"] = latest
    return ways


@my_test.check
def _(answer, rng):
    layer, X, wrongs, find_problems = handed_over(answer, rng, ("layer", "X", "wrongs", "find_problems"))
    if not callable(find_problems):
        raise CheckFailed(f"find_problems must be a function, but is {described(find_problems)}")
    if not isinstance(wrongs, list | tuple) or not wrongs:
        raise CheckFailed(f"wrongs must be your list of wrong versions, but is {described(wrongs)}")
    weights = [parameter.data.copy() for parameter in weights_of(layer)]
    if found := told(find_problems, Sequential(layer), X):
        raise CheckFailed(f'of your right layer, alone in a Sequential, it says "{found[0]}"')
    if any(not np.array_equal(p.data, w) for p, w in zip(weights_of(layer), weights, strict=True)):
        raise CheckFailed(
            "it changes the data of your layer's Parameters: leave them as they were (`.to` rounds, and a "
            "closure cannot be copied: save the data and put it back)"
        )
    _expect_to_notice(find_problems, wrongs, X)
    other_layer, other_X, *_ = handed_over(answer, rng, ("layer", "X", "wrongs", "find_problems"))
    if found := told(find_problems, Sequential(other_layer), other_X):
        raise CheckFailed(f'of a second right layer, with other numbers, it says "{found[0]}"')
    if not is_first_round():
        return None
    for words, wrong in spoiled(layer, X, near=inspect.isroutine(find_problems)).items():
        if not told(find_problems, wrong, X):
            raise CheckFailed(f"it finds nothing wrong with a version of your layer {words}")
    return "silent about the right layer; your wrong versions and ours are noticed"


def _expect_to_notice(find_problems, wrongs, X):
    """Require that a learner's test finds each wrong version, with a sentence."""
    said = []
    for number, wrong in enumerate(wrongs, 1):
        said += (found := told(find_problems, Sequential(wrong), X))[:1]
        if not found:
            raise CheckFailed(f"it finds nothing wrong with your wrong version {number}")
        for sentence in found:
            if len(sentence.split()) < 2:
                raise CheckFailed(
                    f'of your wrong version {number} it says "{sentence}": say in a sentence what is wrong'
                )
    if len(wrongs) > 1 and len(set(said)) == 1:
        raise CheckFailed(f'it says the same of all wrong versions, "{said[0]}": say what is wrong')


def told(find_problems, layer, X):
    """Return the sentences of a learner's test about a layer."""
    try:
        found = find_problems(layer, X.copy())
    except TypeError as error:
        if "'Parameter'" in str(error):
            error.args = (f"{error}; a Parameter is not an array: pass its `.data`",)
        raise
    if not isinstance(found, list | tuple) or not all(isinstance(sentence, str) for sentence in found):
        raise CheckFailed(
            f"find_problems must return a list of sentences, empty if all is well, but returned "
            f"{described(found)}"
        )
    return list(found)


# 6. the experiment

my_experiment = Exercise(
    "24_capstone.my_experiment",
    title="The experiment",
    points=2,
    kind="fill",
    minutes=40,
    remote=False,  # only the person who reads the half page sees whether there was a race
    hints=(
        "Write the question down first: which number, of which model, on which data, against which rival?",
        "Both sides get the same data, steps and tuning. Draw data and weights from "
        "`np.random.default_rng(seed)`, and give the Learner an `rng`, too.",
        "Small is enough: a few hundred examples of `moons`, `spirals` or a formula of yours, a few hundred "
        "steps. Score on data that was not used for learning.",
    ),
)


@my_experiment.check
def _(answer, rng):
    seed = int(rng.integers(100))
    first, again, other = (scores(answer, s) for s in (seed, seed, seed + 1))
    if any(one == two for one, two in zip(first, other, strict=True)):  # two accuracies may agree by chance
        other = scores(answer, seed + 2)
    for name, one, two, three in zip(
        ("the baseline's score", "your score"), first, again, other, strict=True
    ):
        if one != two:
            raise CheckFailed(
                f"{name} for seed {seed} is {one:.6g}, and {two:.6g} in a second run with that seed: what is "
                "drawn without the seed?"
            )
        if one == three:
            raise CheckFailed(
                f"{name} is {one:.6g} for several seeds: does it depend on the seed? Or does it take only a "
                "few values, as an accuracy on few examples does?"
            )
    if first == first[::-1] and other == other[::-1]:
        raise CheckFailed("both scores are equal for two seeds: is one model measured twice?")
    return "repeatable, and another seed is another run"


def scores(answer, seed):
    """Return the two scores of a seed."""
    found = answer(seed)
    found = list(found) if isinstance(found, np.ndarray) and found.ndim else found
    found = expect_several(found, "baseline", "mine")
    for name, score in zip(("baseline", "mine"), found, strict=True):
        if (
            isinstance(score, bool)
            or not isinstance(score, int | float | np.number)
            or not np.isfinite(score)
        ):
            what = f"{score}" if isinstance(score, float) else described(score)
            raise CheckFailed(f"{name} must be one finite number, but is {what}")
    return tuple(map(float, found))


# 7. what a person reads

my_page = Exercise(
    "24_capstone.my_page",
    title="Half a page, with a figure",
    points=4,
    kind="explain",
    minutes=40,
    hints=(
        "What should one look at the figure show? Write that sentence first: it is the title, "
        "and the result on your page.",
        "Six sentences: question, layer, how checked, how compared, result, what it does not show.",
        "Give the mean difference with its two standard errors and the number of seeds. What did you choose "
        "by looking at results? Say it.",
    ),
)
