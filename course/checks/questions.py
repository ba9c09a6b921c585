"""The requirements that checks share: returned objects, shapes, values, gradients, unchanged arguments.

Each `expect_` function raises CheckFailed with one sentence if its requirement is not met. The usual sizes
are distinct primes, so that a wrong factor can be identified. Exercises call these functions in their own
order.
"""

import re
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from numbers import Real
from operator import eq

import numpy as np

from course.checks.calls import A_SECOND, NEW_ARRAY, PAST, apart, asking
from course.checks.exercise import (
    CheckFailed,
    Shown,
    are_numbers_other,
    described,
    is_first_round,
    is_only_shown,
)
from course.checks.hard import hard_arguments, is_smooth
from course.checks.relations import NEAR, TOLERANCE, elsewhere, relation, relation_of_shapes
from minigrad.check.checker import gradcheck
from minigrad.check.compare import AT_AN_EDGE
from minigrad.check.diagnosis import GENERAL, diagnose
from minigrad.check.numerical import NUDGE, numerical_gradient
from minigrad.layer import Layer
from minigrad.parameter import Parameter

BATCH, N_IN, N_OUT = 5, 3, 7
ZERO = (
    1e-4  # smaller values are compared as if they had this size: nudging finds about 1e-11 if the slope is 0
)


def drawn_sizes(rng, *usual, most=13):
    """Return the sizes for this round: the usual ones, or new ones in the round with other numbers.

    An answer with a hard-coded size is therefore right in the first round only.

    Parameters
    ----------
    rng : numpy.random.Generator
    *usual : int
        All different; they appear in the statement and the messages.
    most : int
        The largest size that is drawn; the smallest is 2.

    Returns
    -------
    list of int
        As many sizes, all different; a drawn size differs from the usual one at its position.

    Examples
    --------
    >>> drawn_sizes(np.random.default_rng(0), BATCH, N_IN)
    [5, 3]
    """
    drawn = list(usual)
    while are_numbers_other() and any(map(eq, drawn, usual)):
        drawn = (rng.permutation(most - 1)[: len(usual)] + 2).tolist()
    return drawn


def also_drawn(usual, draw, count=2):
    """Return the cases for this round: the usual ones, and more in the round with other numbers.

    An answer with a hard-coded rate, discount or count is therefore right in the first round only.

    Parameters
    ----------
    usual : sequence
        Cases that may appear in the statement and the messages.
    draw : function, () -> case
        Draws a new case.
    count : int
        The number of cases to draw.

    Returns
    -------
    list

    Examples
    --------
    >>> also_drawn((0.5, 0.9), lambda: np.random.default_rng(0).uniform())
    [0.5, 0.9]
    """
    return [*usual, *(draw() for _ in range(count))] if are_numbers_other() else list(usual)


def expect_several(returned, *names):
    """Require that an answer has returned a tuple of objects with these names, and return it.

    Parameters
    ----------
    returned : object
    *names : str
        ``"Y", "backward"``; an object called backward must be a function.

    Returns
    -------
    tuple

    Examples
    --------
    >>> Y, backward = expect_several((4.0, lambda dY: dY), "Y", "backward")
    >>> expect_several(4.0, "Y", "backward")
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: it must return Y and backward, but returned a float.
    """
    wanted = f"{', '.join(names[:-1])} and {names[-1]}"
    if not isinstance(returned, tuple | list) or len(returned) != len(names):
        count = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
        raise CheckFailed(f"it must return {wanted}, but returned {described(returned)}{count}")
    for name, thing in zip(names, returned, strict=True):
        if name == "backward" and not callable(thing):
            raise CheckFailed(f"backward must be a function, but is {described(thing)}")
    return tuple(returned)


def expect_shape(name, value, like, original):
    """Require that a value has the shape of another array.

    Parameters
    ----------
    name : str
        The value's name in the message: ``"dW"``.
    value : array
    like : str
        The other array's name: ``"W"``.
    original : array

    Examples
    --------
    >>> expect_shape("dW", np.ones((7, 3)), "W", np.ones((3, 7)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: dW has shape (7, 3); it must have W's shape, (3, 7). ...
    """
    shape, wanted = _numbers(name, value).shape, np.shape(original)
    if shape != wanted:
        said = f"{name} has shape {shape}; it must have {like}'s shape, {wanted}"
        raise CheckFailed(said, name=relation_of_shapes(shape, wanted))


def expect_values(name, value, truth, source="it must be"):
    """Require that every entry of a value agrees with the truth.

    Parameters
    ----------
    name : str
        The value's name in the message: ``"Y"``.
    value : array or number
    truth : array or number, of the same shape
    source : str
        The words before the true value: ``"nudging that entry says"``.

    Examples
    --------
    >>> expect_values("Y", np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: Y[1] is 2, it must be 4.
    """
    shape, wanted = _numbers(name, value).shape, np.shape(truth)
    if shape != wanted:
        what = f"have shape {wanted}" if wanted else "be one number"
        words = f"{name} has shape {shape}; it must {what}"
        raise CheckFailed(words, name=relation_of_shapes(shape, wanted), found=(name, value, truth))
    place = _worst(value, truth)
    if place is not None:
        found, words = (name, value, truth), _entry(name, value, truth, source, place)
        raise CheckFailed(words, name=relation(value, truth), found=found)
    PAST.get().append((name, truth))


def expect_gradients(f, arrays, dY, gradients):
    """Require that gradients have the right shapes and agree with nudging; diagnose them if not.

    Parameters
    ----------
    f : function
        Takes the arrays in their order and returns Y.
    arrays : dict of str to array
        The arrays that the gradients belong to, ``X`` (or a loss's ``Y``) first: ``{"X": X, "W": W}``.
    dY : array of Y's shape
    gradients : dict of str to array
        The gradients from the answer: ``{"X": dX, "W": dW}``.

    Examples
    --------
    >>> X, dY = np.array([[1.0]]), np.array([[4.0]])
    >>> expect_gradients(lambda X: 3 * X, {"X": X}, dY, {"X": -3 * dY})
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: dX[0, 0] is -12, nudging that entry says 12; the sign is flipped.
    >>> Y = np.ones((2, 3))  # of a loss
    >>> expect_gradients(np.mean, {"Y": Y}, np.array(1.0), {"Y": Y})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: dY[...] is 1, nudging ... 6 times too large: 6 is the size of Y.
    """
    Y, truths = np.asarray(f(*arrays.values())), {}
    for name, array in arrays.items():
        truths[name] = numerical_gradient(lambda X, name=name: f(*(arrays | {name: X}).values()), array, dY)
    for name, gradient in gradients.items():
        with _shape_explained(gradient, truths[name]):
            expect_shape(f"d{name}", gradient, name, arrays[name])
    yours = {name: np.asarray(gradient, dtype=float) for name, gradient in gradients.items()}
    for name, gradient in yours.items():
        place = _worst(gradient, truths[name])
        if place is not None:
            said = _entry(f"d{name}", gradient, truths[name], "nudging that entry says", place)
            words = diagnose(name, arrays, yours, truths, Y, dY).replace("of X", f"of {next(iter(arrays))}")
            found = (f"d{name}", gradient, truths[name])
            if words != GENERAL and not words.startswith(VAGUE):
                raise CheckFailed(f"{said}; {words}", found=(f"d{name}", None, None))
            more = _elsewhere(f, arrays, dY, name, gradient) or relation(gradient, truths[name], **arrays)
            more = more if words == GENERAL or "Only" not in more or " times " in more else ""
            raise CheckFailed(said if words == GENERAL else f"{said}; {words}", name=more, found=found)


VAGUE = "wrong only at", "each row", "each column", "nan"  # diagnoses that say where, and not why


def _elsewhere(f, arrays, dY, name, gradient):
    """Return for which arrays or dY a wrong gradient would be right, asked along three random directions."""
    rng, x = np.random.default_rng(0), arrays[name]
    directions = rng.normal(size=(3, *x.shape))

    def slopes(at):
        at, weight = {key: at[key] for key in arrays}, at[" dY"]
        ends = [
            [f(*(at | {name: at[name] + by * NUDGE * way}).values()) for by in (1, -1)] for way in directions
        ]
        return np.array([np.sum(weight * (up - down)) / (2 * NUDGE) for up, down in ends])

    mine = np.array([np.sum(gradient * way) for way in directions])
    if x.shape == np.shape(dY) and np.allclose(
        gradient, dY * numerical_gradient(lambda X: f(*(arrays | {name: X}).values()), x, np.ones_like(dY))
    ):
        return "It is the gradient for a dY of ones, multiplied by dY at the end: begin with dY."
    words = elsewhere(mine, slopes, {" dY": dY, **arrays}).replace("if  dY", "if dY")
    return words.replace("dY were all ones", "dY were all ones: dY is not used")


@contextmanager
def _shape_explained(gradient, truth):
    """Add to a failure inside what a gradient of a wrong shape has in common with the truth."""
    try:
        yield
    except CheckFailed as no:
        if " has shape " not in no.sentence:  # no numbers at all
            raise
        gradient, name = np.asarray(gradient), ""
        if gradient.T.shape == truth.shape and np.allclose(gradient.T, truth):
            name = "It is transposed."
        elif gradient.shape[1:] == truth.shape and np.allclose(gradient.sum(axis=0), truth):
            name = "It is not summed over the batch: add .sum(axis=0)."
        elif gradient.size == truth.size and np.allclose(gradient.ravel(), truth.ravel()):
            name = "These are the right numbers in a wrong shape."
        raise CheckFailed(no.sentence, name=name or no.name, found=no.found) from None


def expect_made(layer, name, *parameters):
    """Require that an object is a Layer with Parameters under these names.

    Parameters
    ----------
    layer : object
    name : str
        The name of the required class.
    *parameters : str

    Returns
    -------
    list of Parameter
        In the order of their names.

    Examples
    --------
    >>> expect_made(np.ones(3), "Gate", "w")
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: Gate must be a subclass of Layer.
    """
    if not isinstance(layer, Layer):
        raise CheckFailed(f"{name} must be a subclass of Layer")
    found = {parameter: getattr(layer, parameter, None) for parameter in parameters}
    for parameter, thing in found.items():
        if not isinstance(thing, Parameter):
            raise CheckFailed(f"its {parameter} must be a Parameter, but is {described(thing)}")
    return list(found.values())


LEFT_BEHIND = (
    "A call of `backward` must not affect the next one: start each sum inside `backward`, and do not change "
    "what the forward pass stored"
)
BACK_INTO_RESULT = "`backward` must not change what the forward pass returned: make a new array"
A_NEW_ARRAY = "An array that `backward` has returned belongs to its caller: make a new one in each call"
NOT_ADDED = "Each call of `backward` must add to `grad` with `+=`; `=` overwrites the earlier gradient"
SLOPE_ALONE = "You return only the slope: the chain rule multiplies it by dY."
OWN_MEMORY = (
    "Each call must create its own backward, which keeps what it needs in local variables of that call "
    "(chapter 04)"
)


def expect_layer(  # noqa: PLR0913  each is one thing that a layer is compared with
    layer, f, dY, *, parameters=None, slips=None, case="", result="Y", **arrays
):
    """Require that a layer's forward and backward pass agree with f, and change no argument.

    Its values are compared with f's and its gradients with nudging. Another pass in between must not matter,
    a second call of backward must return the same values, and gradients of parameters must accumulate.

    Parameters
    ----------
    layer : function, (*arrays) -> (Y, backward)
    f : function, (*arrays, *parameters) -> Y
    dY : array of Y's shape
    parameters : dict of str to Parameter, optional
        Parameters whose gradients are checked.
    slips : dict of str to iterable of (str, array), or function that returns one, optional
        Likely wrong values of Y and of gradients, as for `explained`.
    case : str
        The beginning of each message: ``"with one layer, "``.
    result : str
        The name of the layer's Y.
    **arrays : array
        The layer's arguments, in this order. Integer arrays have no gradient.

    Examples
    --------
    >>> twice = lambda X: (2 * X, lambda dY: dY)
    >>> expect_layer(twice, lambda X: 2 * X, np.array([4.0]), X=np.array([1.0]))
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: dX[0] is 4, nudging that entry says 8; 2 times too small.
    """
    parameters, slips = parameters or {}, slips or {}
    if is_only_shown():
        raise Shown(*both_ways(layer, dY, *arrays.values(), parameters=parameters.values()))
    # copies, so that an answer that changes its arguments does not change the truth
    given = arrays | {name: parameter.data.copy() for name, parameter in parameters.items()}
    data = {f"{name}.data": parameter.data for name, parameter in parameters.items()}
    numbers = {name: array for name, array in given.items() if array.dtype.kind == "f"}
    named = [name for name in arrays if name in numbers]
    d_result = f"d_{result}" if result.islower() else f"d{result}"
    with untouched(**arrays, **data), _in(case):
        Y, backward = expect_several(layer(*arrays.values()), result, "backward")
    with explained({result: Y}, slips), _right_elsewhere(lambda at: f(*at.values()), given):
        expect_values(f"{case}{result}", Y, f(*given.values()))
    pass_back, kept = partial(_gradients, backward, named, parameters), np.copy(Y)
    with untouched(**arrays, **data, **{d_result: dY}):
        with _in(case):
            first = pass_back(dY)
        with asking(case + A_SECOND, LEFT_BEHIND):
            second = pass_back(dY)
            backward(dY)  # adds to the gradients
        added = {name: parameter.grad.copy() for name, parameter in parameters.items()}
    _expect_kept(f"{case}after backward, ", BACK_INTO_RESULT, **{result: (Y, kept)})
    with explained({f"d{name}": gradient for name, gradient in first.items()}, slips), _in(case):

        def truly(*values):
            return f(*(given | dict(zip(numbers, values, strict=True))).values())

        expect_gradients(truly, numbers, dY, first)
    pairs = {f"d{name}": (second[name], gradient) for name, gradient in first.items()}
    _expect_kept(f"{case}in a second call of backward, ", LEFT_BEHIND, "in the first it was", **pairs)
    for name, grad in added.items():
        with explained({f"{name}.grad": grad}, {f"{name}.grad": [(NOT_ADDED, second[name])]}):
            expect_values(f"{case}after a second call of backward, {name}.grad", grad, 2 * second[name])
    _pass_others(layer, arrays.values())
    _expect_kept(f"{case}after another pass, ", NEW_ARRAY, **{result: (Y, kept)})
    with asking(f"{case}after another pass, ", OWN_MEMORY):
        later = pass_back(dY)
    pairs = {f"d{name}": (later[name], gradient) for name, gradient in first.items()}
    _expect_kept(f"{case}after another pass, ", OWN_MEMORY, **pairs)
    _expect_own(case, named, backward, dY)

    PAST.get().extend((f"{case}d{name}", gradient) for name, gradient in first.items())
    with _in(case):
        _expect_everywhere(layer, f, dY, arrays, parameters, result)


def _expect_everywhere(layer, f, dY, arrays, parameters, result):  # noqa: PLR0913  of expect_layer
    """Require gradients by a formula; and Y, and gradients where it is smooth, for hard arguments, too."""
    weights = [parameter.data.copy() for parameter in parameters.values()]
    numbers = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}
    expect_formula(
        lambda *moved: layer(*(arrays | dict(zip(numbers, moved, strict=True))).values())[1](dY),
        *numbers.values(),
    )
    for words, changed, truth in hard_arguments(f, arrays, weights) if is_first_round() else ():
        words = f"in another pass, {words}"
        with asking(words), _in(words):
            Y, backward = expect_several(layer(*map(np.copy, changed.values())), result, "backward")
            expect_values(result, Y, truth)
            dY = np.cos(np.arange(1.0, truth.size + 1)).reshape(truth.shape)
            numbers = {name: array for name, array in changed.items() if array.dtype.kind == "f"}

            def alone(*values, changed=changed, numbers=numbers):
                return f(*(changed | dict(zip(numbers, values, strict=True))).values(), *weights)

            if numbers and is_smooth(alone, numbers, dY):
                expect_gradients(alone, numbers, dY, _gradients(backward, list(numbers), {}, dY))


def expect_function(answer, f, *, result="the result", slips=None, **arrays):
    """Require that a function returns what f does, also for hard arguments, and changes none of them.

    Parameters
    ----------
    answer : function, (*arrays) -> Y
    f : function, (*arrays) -> Y
    result : str
        The name of Y in messages.
    slips : dict of str to iterable of (str, array), or function that returns one, optional
        Likely wrong values, as for `explained`.
    **arrays : array
        The arguments, in this order.

    Examples
    --------
    >>> expect_function(np.squeeze, np.copy, X=np.ones((2, 3)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: with one row, the result has shape (3,); it ...
    """
    with untouched(**arrays):
        Y = answer(*arrays.values())
    with explained({result: Y}, slips or {}):
        expect_values(result, Y, f(*arrays.values()))
    for words, changed, truth in hard_arguments(f, arrays) if is_first_round() else ():
        with asking(words), _in(words):
            expect_values(result, answer(*map(np.copy, changed.values())), truth)


@contextmanager
def _right_elsewhere(truth_at, given):
    """Say of a wrong value inside for which arguments it would be right, if for any."""
    try:
        yield
    except CheckFailed as no:
        words = elsewhere(no.found[1], truth_at, given, PAST.get()) if no.found else ""
        raise CheckFailed(
            no.sentence, name=no.name if no.name == NEAR else words or no.name, found=no.found
        ) from None


NOISE = 1e-12  # of the gradients' size: a formula's jump by 1e-14, nudged ones by 1e-11


def expect_formula(gradients, *arrays):
    """Require gradients that are steady from one float to the next, as nudged ones are not.

    It is asked in the first round only.

    Parameters
    ----------
    gradients : function, (*arrays) -> array, or tuple of arrays
    *arrays : array of float

    Examples
    --------
    >>> X = np.array([0.3, 0.7, 2.0])
    >>> expect_formula(np.exp, X)
    >>> expect_formula(lambda X: numerical_gradient(np.exp, X, np.ones(3)), X)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: from one float to the next its slopes jump by ...
    """
    if not arrays or not is_first_round():
        return

    def at(steps):
        found = gradients(*(array * (1 + steps * np.finfo(float).eps) for array in arrays))
        found = found if isinstance(found, tuple) else [found]
        return np.concatenate([np.ravel(part).astype(float) for part in found if part is not None])

    here = at(0)
    near, far = (max(np.abs(at(steps) - here).max() for steps in pair) for pair in ((1, 2), (63, 64)))
    size = max(np.abs(here).max(), 0.1)  # what is 0 by a formula has an error of rounding
    if near > NOISE * size and far < 10 * near:  # a sensitive formula's grow with the distance
        raise CheckFailed(
            f"from one float to the next its slopes jump by {near / size:.0e} of their size: they are "
            "found by nudging, and a formula is asked for"
        )


def _expect_kept(when, reason, was="before it was", **pairs):
    """Require that values are what they were: each name has the value now, and the one before."""
    for name, (now, before) in pairs.items():
        with because(reason):
            expect_values(f"{when}{name}", now, before, was)


def _expect_own(case, names, backward, dY):
    """Require that a returned gradient is the caller's: no later call changes it, and it changes none."""
    returned = _by_name(backward(dY.copy()), names)
    before = deepcopy(returned)
    doubled = _by_name(backward(2 * dY), names)
    twice = {name: (doubled[name], 2 * before[name]) for name in before}
    _expect_kept(f"{case}for twice dY, ", LEFT_BEHIND, "twice the first is", **twice)
    now = {name: (returned[name], before[name]) for name in before}
    _expect_kept(f"{case}after one more call of backward, the first ", A_NEW_ARRAY, **now)
    for gradient in returned.values():
        if isinstance(gradient, np.ndarray) and gradient.flags.writeable:
            gradient[...] = np.nan
    for name, again in _by_name(backward(dY.copy()), names).items():
        when = f"{case}after somebody has written into the first {name}, the next "
        _expect_kept(when, A_NEW_ARRAY, **{name: (again, before[name])})


def _by_name(returned, names):
    """Return the gradients that a backward has returned, by name: one alone, or a tuple."""
    returned = expect_several(returned, *[f"d{name}" for name in names]) if len(names) > 1 else [returned]
    return {f"d{name}": gradient for name, gradient in zip(names, returned, strict=False)}


def _gradients(backward, names, parameters, dY):
    """Return copies of all gradients of a backward pass by the names of their arrays."""
    for parameter in parameters.values():
        parameter.zero_grad()
    found = {name[1:]: gradient for name, gradient in _by_name(backward(dY), names).items()}
    return deepcopy(found | {name: parameter.grad for name, parameter in parameters.items()})


def _pass_others(layer, arrays):
    """Run two other forward passes: with the arrays reversed, and with smaller ones."""
    layer(*(array[::-1].copy() for array in arrays))
    smaller = [array[tuple(slice(max(1, size - 1)) for size in array.shape)] for array in arrays]
    with suppress(Exception):  # not every layer takes other sizes
        layer(*map(np.copy, smaller))


def both_ways(layer, dY, *arrays, parameters=()):
    """Return a layer's Y, its gradients, and those of its parameters, for a probe.

    Parameters
    ----------
    layer : function, (*arrays) -> (Y, backward)
    dY : array
    *arrays : array
    parameters : sequence of Parameter

    Returns
    -------
    tuple
    """
    Y, backward = layer(*arrays)
    gradients = backward(dY)
    gradients = gradients if isinstance(gradients, tuple | list) else [gradients]
    return Y, *gradients, *(parameter.grad for parameter in parameters)


@contextmanager
def _in(case):
    """Put the case in front of the message of a failure or an exception inside."""
    try:
        with asking(case):
            yield
    except CheckFailed as no:
        raise no.after(case) from no.__cause__


@contextmanager
def because(reason):
    """Add the reason to the message of a failure inside.

    Parameters
    ----------
    reason : str

    Examples
    --------
    >>> with because("A mean divides."):
    ...     expect_values("Y", 6.0, 3.0)
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: Y is 6, it must be 3. A mean divides.
    """
    try:
        yield
    except CheckFailed as no:
        raise CheckFailed(f"{no.sentence}. {reason}") from no


def by_nudging(f, *arrays):
    """Return f(*arrays), and a backward function that nudges each entry of the arrays.

    A typical mistake has one wrong part; this computes the other parts without giving away the answer.

    Parameters
    ----------
    f : function, (*arrays) -> Y
    *arrays : array

    Returns
    -------
    Y : array
    backward : function, dY -> dX, or a tuple with one gradient for each array

    Examples
    --------
    >>> Y, backward = by_nudging(lambda X: 3 * X, np.ones(2))
    >>> Y, backward(np.array([1.0, 2.0])).round(6)
    (array([3., 3.]), array([3., 6.]))
    """

    def backward(dY):
        gradients = []
        for place, array in enumerate(arrays):
            before, after = arrays[:place], arrays[place + 1 :]
            gradients.append(numerical_gradient(lambda X, b=before, a=after: f(*b, X, *a), array, dY))
        return gradients[0] if len(arrays) == 1 else tuple(gradients)

    return f(*arrays), backward


OF_WIDTH = "float32 in gives float32 back"  # gradcheck's words; only chapter 24 requires it


def expect_gradcheck(layer, X):
    """Require that a layer runs, keeps the rules of a layer, and has gradients that agree with nudging.

    The gradients are compared with the layer's own values; `expect_layer` compares the values with the truth.
    This is slow, so it runs in the first round only.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
    X : array (batch, ...) or tuple of arrays
    """
    if not is_first_round():
        return
    Y, backward = expect_several(deepcopy(layer)(X), "Y", "backward")
    backward(np.ones_like(Y))  # an exception here has a line number, unlike a report
    # three directions through each array: far fewer calls; all entries only if this finds something
    quick = gradcheck(layer, X, tol=1e-8, max_entries=0)
    if not _problems(quick) and not any(row.sentence for row in quick.rows):
        return
    report = gradcheck(layer, X)
    if problems := _problems(report):
        raise CheckFailed(problems[0], report=report)


def _problems(report):
    """Return the problems that fail an answer, and the rows in which nudging leads out of the domain."""
    broken = {rule: found for rule, found in report.rules.items() if found and rule != OF_WIDTH}
    problems = [f'{found.removesuffix(".")}; this breaks the rule "{rule}"' for rule, found in broken.items()]
    wrong = [row for row in report.rows if row.verdict == "WRONG" or row.sentence == AT_AN_EDGE]
    return problems + [f"{row.name}: {row.sentence}" for row in wrong]


POINTS = 16  # of Gauss-Legendre quadrature: exact to rounding along a path where a layer is smooth


def gap_along_a_way(layer, start, end, dY, rng):
    """Compare a layer's gradients with its values along the path from one X to another.

    The integral of the slope along the path is the difference between its ends. The layer is called once per
    point, in random order, with no two points close together, so an answer cannot recognise a nudge. Use this
    for layers whose Y is free; if Y is known, `expect_layer` checks more.

    Parameters
    ----------
    layer : callable, X -> (Y, backward)
    start, end : array (batch, ...)
    dY : array of Y's shape
    rng : numpy.random.Generator

    Returns
    -------
    float
        The gap, divided by the total rise and fall along the path; nan or infinite if the values are.

    Examples
    --------
    >>> square = lambda X: (X * X, lambda dY: X * dY)
    >>> X, dY, rng = np.zeros(2), np.ones(2), np.random.default_rng(0)
    >>> round(gap_along_a_way(square, X, X + 1, dY, rng), 3)
    0.5
    """
    places, weights = np.polynomial.legendre.leggauss(POINTS)
    places, weights = np.append((places + 1) / 2, [0.0, 1.0]), np.append(weights / 2, [0.0, 0.0])
    slopes, values = np.zeros(POINTS + 2), np.zeros(POINTS + 2)
    for place in rng.permutation(POINTS + 2):
        X = start + places[place] * (end - start)
        Y, backward = expect_several(layer(X), "Y", "backward")
        expect_shape("Y", Y, "dY", dY)
        values[place] = np.sum(dY * Y)
        dX = backward(dY.copy())
        expect_shape("dX", dX, "X", X)
        slopes[place] = np.sum((end - start) * dX)
    rise = values[-1] - values[-2]
    up_and_down = max(abs(rise), weights @ np.abs(slopes), np.finfo(float).tiny)
    return float(abs(rise - weights @ slopes) / up_and_down)


@contextmanager
def untouched(**arrays):
    """Require that a call inside this context does not change arrays.

    Parameters
    ----------
    **arrays : array, or list or tuple of arrays and other things
        By their names in the message.

    Examples
    --------
    >>> X = np.ones(3)
    >>> with untouched(X=X):
    ...     X *= 2
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: it changes X, which belongs to its caller: make a new array.
    """
    before = {name: _copied(array) for name, array in arrays.items()}
    yield
    for name, array in arrays.items():
        if not _is_as_before(array, before[name]):
            kind = type(array).__name__ if isinstance(array, list | tuple) else "array"
            raise CheckFailed(f"it changes {name}, which belongs to its caller: make a new {kind}")


def _copied(thing):
    """Return a copy of an array, a list of copies for a list, or any other object itself."""
    if isinstance(thing, list | tuple):
        return [_copied(item) for item in thing]
    return np.copy(thing) if isinstance(thing, np.ndarray) else thing


def _is_as_before(thing, before):
    """Return whether an array, or each array in a list, equals its copy."""
    if isinstance(thing, list | tuple):
        return len(thing) == len(before) and all(map(_is_as_before, thing, before))
    if isinstance(thing, np.ndarray):
        return np.array_equal(before, thing, equal_nan=thing.dtype.kind == "f")
    return thing is before


def expect_step(what, parameter, array, gradient, step):  # noqa: PLR0913
    """Require that an optimizer's step has changed only a parameter's data, correctly and in place.

    Parameters
    ----------
    what : str
        The name of the data in the message: ``"after a step, data"``.
    parameter : Parameter
    array : array
        The array that was its data before the step.
    gradient : array
        A copy of its gradient before the step.
    step : tuple of (array, array)
        A copy of the data before the step, and the right change.
    """
    start, move = step
    if not np.array_equal(parameter.grad, gradient):
        raise CheckFailed("it changes the gradients; they must stay the same")
    try:
        expect_values(what, parameter.data, start + move)
    except CheckFailed as no:
        told = (
            relation(parameter.data - start, move, slope=gradient) if no.found[1].shape == move.shape else ""
        )
        raise CheckFailed(no.sentence, name=told and f"Of its steps: {told}", found=no.found) from None
    if parameter.data is not array:
        raise CheckFailed("data is another array after the step; change the existing array in place, with -=")


def expect_guesses(guesses, truths, slips=None, atol=5e-4):
    """Require that predicted numbers are right; the message names the wrong one without the solution.

    Parameters
    ----------
    guesses : tuple, list or array of float
    truths : dict of str to float
        The quantities in words, each with its true value.
    slips : dict of str to dict of float to str, optional
        For each quantity, likely wrong numbers, each with a sentence that explains it.
    atol : float
        The absolute tolerance, for numbers near 0.

    Examples
    --------
    >>> expect_guesses((6, 6), {"the first slope": 6.0, "the second slope": 10.0})
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: the second slope is not 6.
    """
    guesses = tuple(guesses) if isinstance(guesses, np.ndarray) else guesses
    guesses = expect_several(guesses, *truths) if len(truths) > 1 else [guesses]
    for guess, (what, truth) in zip(guesses, truths.items(), strict=True):
        if _numbers(what, guess).shape != ():
            raise CheckFailed(f"{what} is not {_number(guess)}")
        if not np.isclose(guess, truth, rtol=1e-3, atol=atol):
            reasons = (slips or {}).get(what, {})
            known = [why for number, why in reasons.items() if np.isclose(guess, number, atol=0)]
            raise CheckFailed(". ".join([f"{what} is not {_number(guess)}", *known[:1]]))


def first_wrong(guesses, truths):
    """Return the index of the first wrong number and that number, or None.

    Parameters
    ----------
    guesses : sequence of float
    truths : dict of str to float
        As for `expect_guesses`.

    Returns
    -------
    tuple of (int, float), or None
    """
    pairs = enumerate(zip(guesses, truths.values(), strict=True))
    return next(((place, guess) for place, (guess, truth) in pairs if guess != truth), None)


@contextmanager
def explained(found, slips):
    """Add an explanation to the message of a failure inside, if the value is a likely wrong one.

    Parameters
    ----------
    found : dict of str to array
        The values from the answer, by their names in the message: ``{"dX": dX}``.
    slips : dict of str to iterable of (str, array), or function that returns one
        For each name, sentences, each with the wrong value that it explains. A function is called only after
        a failure.

    Examples
    --------
    >>> dX, slips = np.ones(3), {"dX": [("The slope of 3 X is 3.", np.ones(3))]}
    >>> with explained({"dX": dX}, slips):
    ...     expect_values("dX", dX, np.full(3, 3.0))
    Traceback (most recent call last):
    course.checks.exercise.CheckFailed: dX[0] is 1, it must be 3. The slope of 3 X is 3.
    """
    try:
        yield
    except CheckFailed as no:
        name = re.split(r" is | has shape |\[", no.sentence, maxsplit=1)[0].rpartition(" ")[2]
        for sentence, slip in (slips() if callable(slips) else slips).get(name, ()):
            value = np.asarray(found[name])
            if value.shape == np.shape(slip) and value.dtype.kind in "biuf" and np.allclose(value, slip):
                raise CheckFailed(f"{no.sentence}. {sentence}") from no
        raise


def _numbers(name, value):
    """Return a value as an array; raise CheckFailed if it is not real numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of unequal length
        array = np.array(None)
    if array.dtype == object and all(isinstance(part, Real) for part in array.flat):
        array = array.astype(float)  # fractions
    if array.dtype.kind not in "biufc":
        raise CheckFailed(f"{name} must be numbers, but is {described(value)}")
    if array.imag.any():  # a comparison of floats would drop it
        raise CheckFailed(f"{name} must be real numbers, but has imaginary parts that are not 0")
    return array


def _worst(value, truth):
    """Return the index of the entry with the largest relative error, or None if all agree."""
    value, truth = np.asarray(value, dtype=float), np.asarray(truth, dtype=float)
    if not value.size:
        return None
    size = np.maximum(np.abs(value), np.abs(truth))
    with np.errstate(all="ignore"):  # a wrong value may be infinite
        error = np.abs(value - truth) / np.maximum(size, max(0.01 * np.abs(truth).max(), ZERO))
    error = np.where(np.isnan(error), np.inf, error)
    return np.unravel_index(error.argmax(), error.shape) if error.max() > TOLERANCE else None


def _entry(name, value, truth, source, place):
    """Describe one entry and its true value."""
    index = f"[{', '.join(map(str, place))}]" if place else ""
    shown, correct = apart(np.asarray(value)[place], np.asarray(truth)[place])
    return f"{name}{index} is {shown}, {source} {correct}"


def _number(value):
    """Return a number as a str with four digits, or all digits if it is whole."""
    if np.shape(value) != ():
        return str(value)
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
