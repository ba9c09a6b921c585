"""The exercises of chapter 23: memories, orders, a counterexample, a racy layer, a new model, batches."""

import copy
import inspect
import threading
import time
from itertools import permutations
from math import comb, factorial

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.interrupt import WAITS, interrupted
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    drawn_sizes,
    expect_gradcheck,
    expect_gradients,
    expect_guesses,
    expect_made,
    expect_several,
    expect_shape,
    expect_values,
    untouched,
)
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import Tanh
from minigrad.layers.combinators import Watch
from minigrad.layers.linear import Linear
from minigrad.layers.normalization import BatchNorm
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import named_parts

# 1. which callers get a wrong dX

who_is_wrong = Exercise(
    "23_serving.who_is_wrong",
    title="Stack, queue, self",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "Write the memory as a row of letters, and walk through the order: the first time a letter is added, "
        "the second time one is taken.",
        "A gradient is wrong if the letter that is taken is not the one that comes back. On self there is "
        "only one place, and nothing is taken out of it.",
        "A stack, ABACBC: A, AB, then A takes B; AC, then B takes C; then C takes A. A queue takes from the "
        "other end.",
    ),
)


def _wrong(take, order):
    """Return how many of A, B, C take another caller's entry from a memory."""
    kept, wrong, met = [], 0, set()
    for name in order:
        if name in met:
            wrong += take(kept) != name
        else:
            kept.append(name)
            met.add(name)
    return float(wrong)


@who_is_wrong.check
def _(answer, rng):
    truths = {
        "the count on self": _wrong(lambda kept: kept[-1], "ABACBC"),
        "the count of the stack in ABCCBA": _wrong(lambda kept: kept.pop(), "ABCCBA"),
        "the count of the stack in ABACBC": _wrong(lambda kept: kept.pop(), "ABACBC"),
        "the count of the queue in ABACBC": _wrong(lambda kept: kept.pop(0), "ABACBC"),
        "the count of the queue in ABCCBA": _wrong(lambda kept: kept.pop(0), "ABCCBA"),
    }
    expect_guesses(answer(), truths)
    return "five orders, simulated"


who_is_wrong.slips(
    {
        (3, 0, 3, 0, 2): "C went forward last and comes back last: one of the three is right.",
        (1, 0, 3, 0, 2): "B comes back after C went forward, and C has written over B's input.",
        (2, 2, 3, 0, 2): "The last to arrive goes first: that is the order for which a stack is made.",
        (2, 0, 2, 0, 2): "What A took was B's, so A's own input stays in the stack, and meets C in the end.",
        (2, 0, 3, 2, 2): (
            "A, B, C go forward in this order, and come back in the same order: a queue is made for that."
        ),
        (2, 0, 3, 0, 3): "B is in the middle from both ends, so B gets its own.",
        (1, 3, 0, 3, 1): "These five numbers count the right results; count the others.",
    }
)


# 2. how many orders

count_orders = Exercise(
    "23_serving.count_orders",
    title="All the orders",
    points=2,
    kind="derive",
    minutes=8,
    hints=(
        "Write all steps in a row, as if they were 2n different ones. How many rows are there? How many of "
        "them are forbidden, since a backward comes before its forward?",
        "(2n)! rows; for each caller, one half of them has the two steps in the wrong order. And where "
        "nobody meets, only who is first, who is second, ... can be chosen.",
        "All: (2n)! divided by 2 n times. Alone: n!. `math.factorial` has both.",
    ),
)


SLOW = 0.25  # seconds of CPU time; a formula needs almost none, listing all orders of five callers a second


@count_orders.check
def _(answer, rng):
    for n in (1, 2, 3, 4, 5, 6, 7, 10, int(rng.integers(11, 100))):
        start = time.process_time()
        counts = answer(n)
        if n in (5, 6) and (seconds := time.process_time() - start) > SLOW:
            raise CheckFailed(
                f"{n} callers take {seconds:.1f} seconds, and ten have more orders than can be written out: "
                "find the two formulas"
            )
        every, alone = expect_several(counts, "all orders", "those in which nobody meets")
        of = f"{n} caller{'s' * (n > 1)}"
        for what, count, truth in (
            (f"the number of all orders of {of}", every, factorial(2 * n) // 2**n),
            (f"the number of orders of {of} in which nobody meets", alone, factorial(n)),
        ):
            if np.shape(count) != () or count != truth:
                if np.shape(count) != ():
                    raise CheckFailed(f"{what} must be one")
                rounded = isinstance(count, float) and np.isclose(count, truth)
                why = ": a float keeps about 16 digits, so divide whole numbers with //" if rounded else ""
                raise CheckFailed(f"{what} is not {count}{why}")
    return "with one to seven callers, ten, and more"


@count_orders.probe
def _(answer, rng):
    return [tuple(answer(n)) for n in (1, 2, 3, 4)]


@count_orders.mistake("No backward comes before its forward: half of the rows drop out for each caller.")
def all_rows(n):
    return factorial(2 * n), factorial(n)


@count_orders.mistake("Half of the rows drop out for each caller, not once for all.")
def half_of_the_rows(n):
    return factorial(2 * n) // 2, factorial(n)


@count_orders.mistake("That leaves open only which steps go forward, not whose they are.")
def only_directions(n):
    return comb(2 * n, n), factorial(n)


@count_orders.mistake("Where nobody meets, the callers may still come in any order, one after the other.")
def always_two(n):
    return factorial(2 * n) // 2**n, min(n, 2)


@count_orders.mistake("The first may be any of n, the second any of the rest, and so on: multiply.")
def only_who_is_first(n):
    return factorial(2 * n) // 2**n, n


@count_orders.mistake("These are the two counts in the other order: all orders come first.")
def swapped(n):
    return factorial(n), factorial(2 * n) // 2**n


# 3. a witness against a layer

witness = Exercise(
    "23_serving.witness",
    title="Make it fail",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "When does one caller overwrite what another one still needs? Which drawer does each of them use?",
        "Both go forward before one of them comes back, and both have the same number of rows.",
        "And what B has put there must give another gradient: 3 X X is the same for 1 and for -1.",
    ),
)


class _Desk(Layer):
    """The layer of the exercise."""

    def __init__(self):
        self.drawers = {}

    def forward(self, X):
        self.drawers[len(X)] = X
        return X * X * X, lambda dY: 3 * self.drawers[len(dY)] ** 2 * dY


@witness.check
def _(answer, rng):
    X_of_A, X_of_B, order = expect_several(answer(), "X_of_A", "X_of_B", "order")
    inputs = {"A": X_of_A, "B": X_of_B}
    for name, X in inputs.items():
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iuf" or not X.size:
            given, expected = described(X), "be an array (batch, width)"
            if isinstance(X, np.ndarray) and X.ndim == 2:
                given = f"an array of {X.dtype}" if X.size else f"empty: its shape is {X.shape}"
                expected = "hold numbers" if X.size else expected
            raise CheckFailed(f"X_of_{name} must {expected}, but is {given}")
        if not (np.abs(X) <= 10).all() or (X != np.round(X)).any():
            raise CheckFailed(f"X_of_{name} must hold whole numbers from -10 to 10")
    if not isinstance(order, str) or sorted(order) != list("AABB"):
        raise CheckFailed('the order must be a text with two A and two B, such as "ABAB"')
    desk, backwards, wrong = _Desk(), {}, []
    for name in order:
        X = inputs[name].astype(float)
        if name not in backwards:
            backwards[name] = desk(X)[1]
        elif (gone := _difference(backwards[name], X)) is not None:
            wrong.append(f"{name}'s dX is {gone}")
    if not wrong:
        why = _why_nobody(X_of_A, X_of_B, order)
        raise CheckFailed(f"this does not expose it: in {order} both get a right dX. {why}")
    return f"the layer is caught: {' and '.join(wrong)}"


def _why_nobody(X_of_A, X_of_B, order):
    """Explain why a Desk makes no mistake in this case."""
    if order in ("AABB", "BBAA"):
        return "One is done before the other begins: let both go forward before one comes back"
    if len(X_of_A) != len(X_of_B):
        return "They use two drawers: give both the same number of rows"
    if np.array_equal(X_of_A, X_of_B):
        return "Both bring the same, so whose input is taken back makes no difference"
    return "Their squares are equal, so the slope is the same for both: bring numbers of another size"


def _difference(backward, X):
    """Describe a wrong dX; return None if it is right."""
    try:
        dX = backward(np.ones_like(X))
    except ValueError:  # the other input has another width
        return "missing: the array in the drawer has another width, so backward fails"
    wrong = np.argwhere(dX != 3 * X * X)
    if not len(wrong):
        return None
    place = tuple(map(int, wrong[0]))
    return f"{dX[place]:g} instead of {3 * X[place] ** 2:g} at {list(place)}"


# 4. a layer with too many memories

gate = Exercise(
    "23_serving.Gate",
    title="A memory too many",
    points=3,
    kind="repair",
    minutes=10,
    answer="class",
    hints=(
        "Which things does a call write to that the next call writes to as well? There are two of them.",
        "Keep the sigmoid in a local variable, which the closure `backward` sees. And let the result be a "
        "new array for each call.",
        "`S = 1 / (1 + np.exp(-X))`, then `return S * self.w.data, backward`; in `backward` write `S` "
        "wherever `self.S` stood.",
    ),
)


def _sigmoid_times(X, w):
    return w / (1 + np.exp(-X))


@gate.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    layer = answer(n_in)
    (w,) = expect_made(layer, "Gate", "w")
    _expect_no_lock(layer)
    expect_values("at first w", w.data, np.ones(n_in))
    w.data *= rng.uniform(1, 3, size=n_in)
    X, dY = rng.normal(size=(2, batch, n_in))
    with untouched(X=X):
        Y, backward = expect_several(layer(X), "Y", "backward")
    expect_values("Y", Y, _sigmoid_times(X, w.data))
    layer.zero_grad()
    with untouched(X=X, dY=dY):
        dX = backward(dY)
    _expect_own_s(X, w, dY, dX)
    expect_gradients(_sigmoid_times, {"X": X, "w": w.data}, dY, {"X": dX, "w": w.grad})
    for order in sorted(set(map("".join, permutations("AABB")))):
        _expect_apart(layer, order, dict(zip("AB", rng.normal(size=(2, batch, n_in)), strict=True)))
    _expect_no_writing(answer(n_in), rng)
    _expect_one_sigmoid(layer, X)
    _expect_zero_weight(answer, X, dY)
    expect_gradcheck(layer, X)
    _expect_no_interference(answer, rng)
    return "alone, in all six orders of two callers, with a 0 in w, and that a call does not change the layer"


def _expect_own_s(X, w, dY, dX):
    """Require that backward uses S, not S times w."""
    Y = _sigmoid_times(X, w.data)
    if np.shape(dX) == X.shape and np.allclose(dX, dY * w.data * Y * (1 - Y)):
        raise CheckFailed(
            "the S of backward has w in it already: it is Y "
            "(after `Y = S` both are one array, and `Y *= w` changes both)"
        )


def _expect_zero_weight(answer, X, dY):
    """Require the right gradients where a weight is 0."""
    layer = answer(X.shape[1])
    layer.w.data[0] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        dX = layer(X)[1](dY)
    S = _sigmoid_times(X, 1.0)
    truths = {"dX": dY * layer.w.data * S * (1 - S), "w.grad": (dY * S).sum(axis=0)}
    for name, given in (("w.grad", layer.w.grad), ("dX", dX)):
        if not np.allclose(given, truths[name]):
            how = "wrong" if np.isfinite(given).all() else "not finite"
            raise CheckFailed(f"where w is 0, {name} is {how}")


def _expect_no_interference(answer, rng):
    """Run another call before each step of a call: first of the same layer, then of one like it."""
    X, other = rng.normal(size=(2, BATCH, N_IN))
    layer = answer(N_IN)
    for visitor, comes_back in ((layer, False), (answer(N_IN), True)):
        layer.zero_grad()
        (Y, backward), trouble = interrupted(layer, X, visitor, other, comes_back)
        visitor(other)
        dX, later = interrupted(backward, np.ones_like(X), visitor, other, comes_back)
        if WAITS in (trouble, later):
            raise CheckFailed("while one call runs, another one has to wait: no lock is needed")
        if trouble or later:
            raise CheckFailed("it keeps other callers out by means of Python's own tracing or frames")
        S = _sigmoid_times(X, 1.0)
        for name, given, truth in (
            ("Y", Y, S),
            ("dX", dX, S * (1 - S)),
            ("w.grad", layer.w.grad, S.sum(axis=0)),
        ):
            if not np.allclose(given, truth):
                raise CheckFailed(
                    f"a thread that comes in between two steps of another one changes its {name}: "
                    "something outside of the class is written to, which all calls share"
                )


def _expect_apart(layer, order, inputs):
    """Require that two callers keep their Y and get their own gradients, in this order."""
    w, Y_of, backwards, truths = layer.w.data, {}, {}, {}
    for name in order:
        if name not in backwards:
            Y_of[name], backwards[name] = layer(inputs[name])
            truths[name] = _sigmoid_times(inputs[name], w)
            continue
        layer.zero_grad()
        S, dX = truths[name] / w, backwards[name](np.ones_like(inputs[name]))
        if not np.allclose(dX, w * S * (1 - S)):
            raise CheckFailed(f"in the order {order} {name} gets a dX that is not {name}'s")
        if not np.allclose(layer.w.grad, S.sum(axis=0)):
            raise CheckFailed(f"in the order {order} {name} adds to w.grad what is not {name}'s")
    for name, Y in Y_of.items():
        if not np.allclose(Y, truths[name]):
            raise CheckFailed(f"in the order {order} the Y that {name} was given has changed")


UNCOPIED = {"lock": "a lock", "RLock": "a lock", "_local": "a memory for each thread"}


def _expect_no_lock(layer):
    """Require that a layer holds nothing that cannot be copied or could wait forever."""
    for name, part in vars(layer).items():
        found = {}
        _visible(part, found)
        for thing in found.values():
            if type(thing).__name__ in UNCOPIED:
                raise CheckFailed(
                    f"self.{name} holds {UNCOPIED[type(thing).__name__]}: none is needed here, and a layer "
                    "that holds one cannot be copied, as a shelf copies its model"
                )


def _expect_no_writing(layer, rng):
    """Require that a call does not change the layer, except for adding to gradients."""
    for _ in range(2):  # a first call may create what a second one fills
        before = _on_the_layer(layer)
        _, backward = layer(rng.normal(size=(BATCH, *layer.w.shape)))
        between = _on_the_layer(layer)
        backward(rng.normal(size=(BATCH, *layer.w.shape)))
        for way, one, other in (("forward", before, between), ("backward", between, _on_the_layer(layer))):
            written = [name for name in {**one, **other} if one.get(name) != other.get(name)]
            if written:
                raise CheckFailed(
                    f"{way} writes to {' and '.join(written)}, which all calls share: another thread can "
                    "come between that line and the next. Keep what belongs to one call in local variables"
                )


def _on_the_layer(layer):
    """Return the attributes of a layer and, except functions, of its class, by name."""
    found = {f"self.{name}": _visible(part, {}) for name, part in vars(layer).items()}
    own = [cls for cls in type(layer).__mro__ if not cls.__module__.startswith(("minigrad", "builtins"))]
    for name, part in [both for cls in own for both in vars(cls).items()]:
        if name.startswith("__") or inspect.ismemberdescriptor(part):  # a slot belongs to the instance
            continue
        if not callable(part := getattr(layer, name)):
            found.setdefault(f"self.{name}", _visible(part, {}))
    return found


def _visible(thing, found):
    """Return an object's visible state for a comparison; `found` collects containers by id."""
    if thing is None or isinstance(thing, bool | int | float | complex | str | np.generic):
        return repr(thing)
    if id(thing) in found:
        return "once more"
    found[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.dtype.str, thing.tobytes()
    if isinstance(thing, Parameter | Buffer):
        return _visible(thing.data, found)
    if isinstance(thing, np.random.Generator):
        return str(thing.bit_generator.state)
    if isinstance(thing, dict):
        return [(repr(key), _visible(part, found)) for key, part in thing.items()]
    if isinstance(thing, list | tuple | set | frozenset):
        return [_visible(part, found) for part in thing]
    closed = isinstance(thing, type) or type(thing).__name__ in ("function", "method", "module", *UNCOPIED)
    inside = {} if closed else getattr(thing, "__dict__", {})
    return [(name, _visible(part, found)) for name, part in inside.items()] or (repr(thing), [thing])


def _expect_one_sigmoid(layer, X):
    """Require that backward uses the sigmoid from the forward pass, by changing X in between."""
    mine = X.copy()
    truth = layer(X)[1](np.ones_like(X))
    _, backward = layer(mine)
    mine += 1.0
    if not np.allclose(backward(np.ones_like(X)), truth):
        raise CheckFailed("backward computes the sigmoid again from X: keep S from the forward pass")


@gate.probe
def _(answer, rng):
    layer = answer(N_IN)
    (X, other), dY = rng.normal(size=(2, BATCH, N_IN)), rng.normal(size=(BATCH, N_IN))
    Y, backward = layer(X)
    Y = Y.copy()
    Z, _ = layer(other)
    return Y, backward(dY), layer.w.grad.copy(), Z


class Gate(Layer):
    """A correct gate, of which the mistakes change one part each."""

    def __init__(self, width):
        self.w = Parameter(np.ones(width))

    def forward(self, X):
        S = 1 / (1 + np.exp(-X))
        return self.result(S), lambda dY: self.back(S, dY)

    def result(self, S):
        return S * self.w.data

    def back(self, S, dY):
        self.w.grad += (dY * S).sum(axis=0)
        return dY * self.w.data * S * (1 - S)


class WithRooms(Gate):
    """A gate that reuses the array of its result."""

    def __init__(self, width):
        super().__init__(width)
        self.rooms = {}

    def result(self, S):
        return np.multiply(S, self.w.data, out=self.rooms.setdefault(S.shape, np.zeros(S.shape)))


@gate.mistake("The memory is right now, but two calls return the same array.")
class RepairsTheMemory(WithRooms):
    pass


NOT_ITS_OWN = "The next call can overwrite S: keep it in a local variable."


@gate.mistake(NOT_ITS_OWN)
class RepairsTheResult(Gate):
    def forward(self, X):
        self.S = 1 / (1 + np.exp(-X))
        return self.S * self.w.data, lambda dY: self.back(self.S, dY)


@gate.mistake(NOT_ITS_OWN)
class ForEachThread(Gate):
    def forward(self, X):
        if not hasattr(self, "memory"):
            self.memory = {}
        self.memory[threading.get_ident()] = 1 / (1 + np.exp(-X))  # one thread may call twice
        S = self.memory[threading.get_ident()]
        return S * self.w.data, lambda dY: self.back(self.memory[threading.get_ident()], dY)


@gate.mistake(NOT_ITS_OWN)
class WithAStack(Gate):
    def forward(self, X):
        self.stack = [*getattr(self, "stack", []), 1 / (1 + np.exp(-X))]
        return self.stack[-1] * self.w.data, lambda dY: self.back(self.stack.pop(), dY)


@gate.mistake("The quotient Y / w is S only where w is not 0: keep S itself.")
class DividesByTheWeight(Gate):
    def forward(self, X):
        Y = self.w.data / (1 + np.exp(-X))
        return Y, lambda dY: self.back(Y / self.w.data, dY)


# 5. a whole new model

exchanged = Exercise(
    "23_serving.exchanged",
    title="A whole new model",
    points=4,
    kind="fill",
    minutes=12,
    hints=(
        "Make the new model first, out of sight: which function copies an object with all that is in it?",
        "`copy.deepcopy(model)`. Compare the names, and each shape, before you put anything in: NumPy would "
        "spread an array of shape (1,) over a whole row.",
        "A deep copy first, then all names and shapes, and only then, for each of the copy's Parameters, "
        "`.data = np.array(weights[name])`; `np.array` makes a copy.",
    ),
)


def _old_and_weights(rng):
    """Return a model with Buffers and a layer in two places, an input, and weights in another order."""
    twice = Linear(N_OUT, N_OUT, rng=rng)
    inside = [BatchNorm(N_OUT), twice, Tanh(), twice, *[Tanh() for _ in range(5)]]  # "layers.10" < "layers.2"
    model = Sequential(Linear(N_IN, N_OUT, rng=rng), *inside, Linear(N_OUT, 2, rng=rng))
    for buffer in model.buffers():
        buffer.data = rng.uniform(1, 2, size=buffer.shape)
    return model, rng.normal(size=(BATCH, N_IN)), _weights(model, rng)


def _weights(model, rng):
    """Return other weights for a model, in an order drawn at random."""
    parameters = model.named_parameters()
    return {name: rng.normal(size=parameters[name].shape) for name in rng.permutation([*parameters]).tolist()}


@exchanged.check
def _(answer, rng):
    model, X, weights = _old_and_weights(rng)
    before, parameters = model.predict(X), model.named_parameters()
    for part in parameters.values():
        part.grad[...] = rng.normal(size=part.shape)
    others = _weights(model, rng)
    given, gradients = copy.deepcopy((weights, {name: part.grad for name, part in parameters.items()}))
    truth = copy.deepcopy(model)
    for name, part in truth.named_parameters().items():
        part.data = given[name].copy()
    try:
        new, later = answer(model, weights), answer(model, others)
    except (KeyError, ValueError) as error:
        raise CheckFailed(
            f"the names and shapes fit, and it raises {type(error).__name__}: {str(error).rstrip('.')}; the "
            "dict may be in any order, and a layer in two places has one name"
        ) from error
    if not isinstance(new, Layer):
        raise CheckFailed(f"it must return a model, but returned {described(new)}")
    if new in (model, later):
        which = "the old model itself" if new is model else "the same new model in two exchanges of one model"
        raise CheckFailed(f"it returns {which}, which a call in progress may be using: make another one")
    owners = {"the old model's": model, "a later new model's": later}
    _expect_arrays_apart(new, {whose: _arrays(one) for whose, one in owners.items()} | {"the given": weights})
    if not np.allclose(model.predict(X), before):
        raise CheckFailed("the old model has changed: a call in progress gets a mixed answer")
    if any((part.grad != gradients[name]).any() for name, part in parameters.items()):
        raise CheckFailed("the old model's gradients have changed: it stays as it is")
    if weights.keys() != given.keys() or any((weights[name] != given[name]).any() for name in given):
        raise CheckFailed("it changes weights, which belongs to its caller: leave the dict as it is")
    _expect_taken(model, new, given)
    _expect_taken(model, later, others)
    expect_values("the new model's Y", new.predict(X), truth.predict(X))
    for part in (*new.parameters(), *later.parameters()):  # so that no later round can be given them again
        part.data += 1.0
    _expect_refusals(answer, rng)
    return "old and new apart, a layer in two places, two exchanges, eight refusals"


def _expect_taken(model, new, given):
    """Require that each Parameter has the numbers of its name, and each Buffer those of the old model."""
    for name, part in new.named_parameters().items():
        if name not in given:
            raise CheckFailed(
                f"the new model has a {name} of its own: a layer in two places must be one layer in the new "
                "model, too, so copy the model as a whole"
            )
        if not np.array_equal(part.data, given[name]):
            others = [other for other in given if np.array_equal(part.data, given[other])]
            instead = f"it is {others[0]}: the dict may be in any order" if others else "it has other numbers"
            raise CheckFailed(f"the new model's {name} is not the {name} of `weights`; {instead}")
    for mine, old in zip(new.buffers(), model.buffers(), strict=False):
        if not np.array_equal(mine.data, old.data):
            raise CheckFailed("a Buffer of the new model has other numbers: only the Parameters get new ones")


def _arrays(model):
    """Return the arrays of a model's Parameters and Buffers by name."""
    parts = [(name, part) for name, part in named_parts(model) if isinstance(part, Parameter | Buffer)]
    kinds = [(f"{name}.{kind}", part, kind) for name, part in parts for kind in ("data", "grad")]
    return {name: getattr(part, kind) for name, part, kind in kinds if hasattr(part, kind)}


def _expect_arrays_apart(new, owners):
    """Require that the arrays of a new model share no memory with arrays of others, nor with each other."""
    own = {}
    for name, array in _arrays(new).items():
        for whose, arrays in {**owners, "its own": own}.items():
            for other, theirs in arrays.items():
                if np.shares_memory(array, theirs):
                    raise CheckFailed(
                        f"the new model's {name} shares its memory with {whose} {other}: it needs one of its "
                        "own" + ("; a gradient is an array, too" if name.endswith("grad") else "")
                    )
        own[name] = array


def _expect_refusals(answer, rng):
    """Require an error for wrong names and shapes, without a change of the old model."""
    model, X, weights = _old_and_weights(rng)
    before = model.predict(X)
    for problem, others in (
        ("layers.10.b is missing", {"layers.10.b": None}),
        ("layers.0.W is missing", {"layers.0.W": None}),
        ("layers.4.W is not a Parameter of the model", {"layers.4.W": np.ones((2, 2))}),
        (
            "layers.10.b is missing and layers.10.c has come instead",
            {"layers.10.b": None, "layers.10.c": np.ones(2)},
        ),
        ("layers.0.b has shape (1,)", {"layers.0.b": np.ones(1)}),
        ("layers.0.W has shape (7, 3)", {"layers.0.W": np.ones((N_OUT, N_IN))}),
        ("layers.10.W has shape (2,)", {"layers.10.W": np.ones(2)}),
        ("layers.10.W has shape (7, 1)", {"layers.10.W": np.ones((N_OUT, 1))}),
    ):
        wrong = {key: array for key, array in (weights | others).items() if array is not None}
        try:
            answer(model, wrong)
        except ValueError as error:
            if not any(one in str(error) for one in others):
                raise CheckFailed(f"{problem}, and the message of the error does not name it") from error
        except (KeyError, AttributeError) as error:
            raise CheckFailed(
                f"{problem}: it must raise a ValueError, but raises {type(error).__name__}"
            ) from error
        else:
            raise CheckFailed(f"{problem}, and no ValueError is raised")
        if not np.allclose(model.predict(X), before):
            raise CheckFailed(f"{problem}: it is refused, but the old model has changed")


@exchanged.probe
def _(answer, rng):
    model, X, weights = _old_and_weights(rng)
    new = answer(model, weights)
    return new.predict(X), model.predict(X)


@exchanged.mistake("NumPy broadcasts it over the row without an error: compare the shapes.")
def by_broadcasting(model, weights):
    fresh = copy.deepcopy(model)
    parameters = fresh.named_parameters()
    if parameters.keys() != weights.keys():
        raise ValueError(f"{sorted(parameters.keys() ^ weights.keys())} do not fit")
    for name, part in parameters.items():
        part.data[...] = weights[name]
    return fresh


# 6. bundles

answer_all = Exercise(
    "23_serving.answer_all",
    title="Bundles",
    points=4,
    kind="fill",
    minutes=15,
    hints=(
        "Walk through the questions once, and keep a bundle that is open. When must it be closed? And what "
        "is open when the walk ends?",
        "Keep for each question its place in the list, so that its answer gets there, whatever was left out "
        "before it. A closed bundle is `np.concatenate` of its questions.",
        "`np.split(Y, np.cumsum(lengths)[:-1])` cuts the result into parts of these lengths. Close the "
        "bundle if its rows and those of the next question are more than `most`, and once more after the "
        "last one.",
    ),
)


def _bundles(lengths, most):
    """Return the number of rows of each bundle."""
    sizes = []
    for length in lengths:
        if sizes and sizes[-1] + length <= most:
            sizes[-1] += length
        else:
            sizes.append(length)
    return sizes


@answer_all.check
def _(answer, rng):
    layer = Linear(N_IN, N_OUT, rng=rng) >> Tanh()
    for lengths, most, spoiled in (
        ([2, 2, 1, 3], 4, ()),
        ([2, 2, 1, 3], 3, ()),
        ([1, 1, 1, 1, 1], 2, ()),
        ([5, 1, 4, 2, 2, 3], 5, ()),
        (list(rng.integers(1, 6, size=17)), 7, ()),
        ([2, 1, 2, 2, 1], 5, (1, 3)),
        ([1, 1], 4, (0, 1)),
        ([], 4, ()),
    ):
        questions = [rng.normal(size=(length, N_IN)) for length in lengths]
        for number, place in enumerate(spoiled):
            questions[place][-1, 0] = np.inf if number else np.nan
        good = [place for place in range(len(lengths)) if place not in spoiled]
        passed = []
        model = Watch(lambda direction, X, passed=passed: passed.append(X.copy())) >> layer
        case = (
            f"with questions of {', '.join(map(str, lengths))} rows and most={most}"
            if lengths
            else "with none"
        )
        answers = _answers(answer, model, questions, most, case if spoiled else "")
        if not isinstance(answers, list | tuple) or len(answers) != len(questions):
            count = f" of {len(answers)}" if isinstance(answers, list | tuple) else ""
            raise CheckFailed(
                f"{case} it must return a list of {len(questions)}, got {described(answers)}{count}"
            )
        for place, (question, given) in enumerate(zip(questions, answers, strict=True)):
            _expect_answer(f"{case} answer {place}", given, question, layer, place in good)
        _expect_order(case, passed, questions, good)
        sizes, expected = list(map(len, passed)), _bundles([lengths[place] for place in good], most)
        if sizes != expected:
            raise CheckFailed(
                f"{case} the model is called with {_rows(sizes)}, but must be called with {_rows(expected)}"
            )
    return "eight lists, two of them with questions that are not finite, one empty"


def _answers(answer, model, questions, most, case):
    """Return the answers; with a question that is not finite, require that the model does not get it."""
    try:
        return answer(model, questions, most)
    except ValueError as error:
        if case and "is not finite" in str(error):
            raise CheckFailed(
                f"{case} the model is given a question that is not finite, and refuses the whole bundle: "
                "leave it out"
            ) from error
        raise


def _expect_order(case, passed, questions, good):
    """Require that the rows of the batches are those of the requests, in order."""
    first_rows = [questions[place][0] for place in good]
    places = [
        good[k] for X in passed for row in X for k, first in enumerate(first_rows) if (row == first).all()
    ]
    for one, next_one in zip(places, places[1:], strict=False):
        if next_one < one:
            raise CheckFailed(
                f"{case} question {next_one} goes to the model after question {one}: bundles keep the order "
                "of the questions, and a closed bundle stays closed"
            )


def _rows(sizes):
    return (
        f"{len(sizes)} bundle{'s' * (len(sizes) > 1)} of {', '.join(map(str, sizes))} rows"
        if sizes
        else "no bundle"
    )


def _expect_answer(name, given, question, layer, good):
    """Require that each reply is the model's result for its request, or None for an invalid one."""
    if not good:
        if given is not None:
            raise CheckFailed(f"{name} belongs to a question that is not finite: it must be None")
        return
    if given is None:
        raise CheckFailed(f"{name} is None, but its question is fine")
    truth = layer.predict(question)
    expect_shape(name, given, "the model's Y", truth)
    expect_values(name, given, truth)


@answer_all.probe
def _(answer, rng):
    layer = Linear(N_IN, 1, rng=rng)
    questions = [rng.normal(size=(length, N_IN)) for length in (2, 2, 1, 3)]
    passed = []
    answers = answer(Watch(lambda direction, X: passed.append(len(X))) >> layer, questions, 3)
    return [np.array(passed), *answers]


def in_bundles(model, questions, room, end=(None,)):
    """Answer questions, closing a bundle where `room(rows, next)` says no, and at the None of the end."""
    answers, bundle = [], []
    for question in [*questions, *end]:
        rows = sum(map(len, bundle))
        if bundle and (question is None or not room(rows, len(question))):
            ends = np.cumsum([len(part) for part in bundle])[:-1]
            answers += np.split(model.predict(np.concatenate(bundle)), ends)
            bundle = []
        if question is not None:
            bundle.append(question)
    return answers


def sorting_out(way):
    """Return an answer_all that leaves out questions that are not finite."""

    def answer(model, questions, most):
        good = [question for question in questions if np.isfinite(question).all()]
        answers = iter(way(model, good, most))
        return [next(answers, None) if np.isfinite(question).all() else None for question in questions]

    answer.__name__ = way.__name__
    return answer


@answer_all.mistake("A bundle has an upper limit: close it before it has more rows than `most`.")
@sorting_out
def all_in_one(model, questions, most):
    return in_bundles(model, questions, lambda rows, more: True)


@answer_all.mistake("A bundle may have `most` rows: so close it only if it would have more.")
@sorting_out
def never_quite_full(model, questions, most):
    return in_bundles(model, questions, lambda rows, more: rows + more < most)


@answer_all.mistake("A question that is not finite goes into no bundle, and does not close the open one.")
def closes_at_the_spoiled(model, questions, most):
    answers, good = [], []
    for question in [*questions, None]:
        if question is not None and np.isfinite(question).all():
            good.append(question)
            continue
        answers += in_bundles(model, good, lambda rows, more: rows + more <= most)
        answers += [None] * (question is not None)
        good = []
    return answers


@answer_all.mistake("Count the rows *with* the next question, before you add it.")
@sorting_out
def too_late(model, questions, most):
    return in_bundles(model, questions, lambda rows, more: rows < most)


@answer_all.mistake("The limit `most` counts rows, not questions.")
@sorting_out
def counts_questions(model, questions, most):
    answers = []
    for start in range(0, len(questions), most):
        bundle = questions[start : start + most]
        ends = np.cumsum([len(part) for part in bundle])[:-1]
        answers += np.split(model.predict(np.concatenate(bundle)), ends)
    return answers


@answer_all.mistake("The last bundle is never closed: after the walk one is still open.")
@sorting_out
def forgets_the_last(model, questions, most):
    return in_bundles(model, questions, lambda rows, more: rows + more <= most, end=())
