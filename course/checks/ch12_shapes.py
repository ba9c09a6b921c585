"""The exercises of chapter 12: free widths, shape inference, an error, costs, split keys, a missing width."""

import math
import re
from functools import cache

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    drawn_sizes,
    expect_guesses,
    expect_made,
    expect_several,
    expect_values,
    first_wrong,
    untouched,
)
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import ReLU, Tanh
from minigrad.layers.combinators import Parallel, Residual
from minigrad.layers.linear import Linear
from minigrad.layers.reductions import Flatten, Mean
from minigrad.parameter import Parameter
from minigrad.shapes import ShapeError

# 1. how many sizes are choices

choices = Exercise(
    "12_shapes.choices",
    title="How many choices?",
    points=2,
    kind="predict",
    minutes=7,
    hints=(
        "Go from left to right. For each Linear: which layer gives it its inputs, and does anything fix its "
        "number of outputs?",
        "A residual adds its branch to X: so the branch ends with X's width. A Parallel puts its branches "
        "side by side, however wide they are.",
        "The first has one choice per hidden layer. In the second, the branch ends as wide as X. In the "
        "third, nothing fixes the width of a branch.",
    ),
)
MODELS = {  # the sizes that are left out are None; each list of n_out makes a model
    "the row of four": (4, lambda sizes: Sequential(*(Linear(n_out=size) for size in sizes))),
    "the model with a residual": (
        3,
        lambda sizes: Sequential(
            Residual(Sequential(Linear(n_out=sizes[0]), Tanh(), Linear(n_out=sizes[1]))),
            Linear(n_out=sizes[2]),
        ),
    ),
    "the model with two branches": (
        3,
        lambda sizes: Sequential(
            Parallel(Linear(n_out=sizes[0]), Linear(n_out=sizes[1])), Linear(n_out=sizes[2])
        ),
    ),
}


def _fewest(count, build):
    """Return the number of output widths that must be given, found by trying every choice."""
    X, Y = np.ones((BATCH, N_IN)), np.ones((BATCH, 2 * N_IN))
    works = []
    for chosen in range(2**count):
        given = [bool(chosen >> place & 1) for place in range(count)]
        try:
            build([N_IN if typed else None for typed in given]).initialize(X, Y, rng=0)
            works.append(sum(given))
        except ShapeError:
            continue
    return min(works)


@cache
def _truths():
    """Return the number of free widths of each model."""
    return {f"the number of choices in {name}": _fewest(*model) for name, model in MODELS.items()}


@choices.check
def _(answer, rng):
    expect_guesses(answer(), _truths())
    return "every choice of sizes, tried with initialize"


@choices.probe
def _(answer, rng):
    return first_wrong(answer(), _truths())


choices.slips(
    {
        (4, 1, 2): "The last Linear takes its width from the targets.",
        (2, 1, 2): "Nothing in X or in the targets fixes the width of a hidden Linear.",
        (3, 2, 2): "A branch that is added to X must end as wide as X.",
        (3, 3, 2): (
            "Two of its widths follow: the branch ends as wide as X, and the model as wide as the targets."
        ),
        (3, 0, 2): "Nothing says how wide the first Linear of the branch is.",
        (3, 1, 1): "Two branches side by side are two choices: their widths need not be equal.",
        (3, 1, 3): "After the two branches, the last Linear takes its width from the targets.",
        (3, 1, 0): (
            "Nothing fixes the width of a branch of the Parallel, so the widths of its branches are choices."
        ),
        (7, 1, 2): "Each number counts widths, and a number of inputs is never a choice.",
    }
)


# 2. a shape for a shape

spec = Exercise(
    "12_shapes.spec",
    title="A shape for a shape",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Write one `if isinstance(layer, …)` per kind. Two kinds hold other layers: call `spec` again.",
        "Linear changes the last entry alone. Flatten keeps the first entry and multiplies the others: "
        "`math.prod(shape[1:])`. Mean takes the entry at `layer.axis` out.",
        "Sequential: pass the shape from one part to the next. Parallel: the parts' shapes agree except in "
        "the last entry: keep the others of the first part, and add up the last ones.",
    ),
)


def _cases(rng):
    """Return (description, layer, shape of X) of each case, with random sizes."""
    n_in, n_out, other = (int(size) for size in rng.choice([2, 3, 5, 7, 11], 3, replace=False))
    linear = Linear(n_in, n_out, rng=0)
    nested = Sequential(Flatten(), Parallel(Linear(n_in * other, n_out, rng=0), ReLU()), Tanh())
    return [
        ("Linear", linear, (BATCH, n_in)),
        ("Linear, on an X of three axes,", linear, (BATCH, other, n_in)),
        ("ReLU", ReLU(), (BATCH, n_in, other)),
        ("Flatten", Flatten(), (BATCH, n_in, other, 2)),
        ("Flatten, on an X of one axis,", Flatten(), (BATCH,)),
        ("Mean(axis=1)", Mean(axis=1), (BATCH, n_in, other)),
        ("Mean(axis=2)", Mean(axis=2), (BATCH, n_in, other, 2)),
        ("Sequential", Sequential(linear, ReLU(), Linear(n_out, other, rng=0)), (BATCH, n_in)),
        ("Parallel", Parallel(linear, ReLU(), Linear(n_in, other, rng=0)), (BATCH, n_in)),
        ("layers in layers", nested, (BATCH, n_in, other)),
        ("a Parallel of two means", Parallel(Mean(axis=1), Mean(axis=1)), (BATCH, n_in, other)),
    ]


@spec.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for what, layer, shape in _cases(rng):
        found, truth = answer(layer, shape), layer(np.zeros(shape))[0].shape
        if not isinstance(found, tuple):
            raise CheckFailed(f"for {what} it must return a tuple, but returned {described(found)}")
        if found != truth:
            raise CheckFailed(f"{what} makes {truth} of {shape}, but yours returns {found}")
    wide = (int(rng.integers(1000, 2000)) * 10**12, batch, n_in)  # no array of that size could be made
    linear = Linear(n_in, n_out, rng=0)
    for layer in (
        linear,
        ReLU(),
        Flatten(),
        Mean(axis=2),
        Sequential(linear, Tanh()),
        Parallel(linear, ReLU()),
    ):
        try:
            found, truth = answer(layer, wide), spec_with()(layer, wide)
        except MemoryError:
            raise CheckFailed(
                f"compute shapes only: yours makes an array, and one of shape {wide} fits into no computer"
            ) from None
        if found != truth:
            raise CheckFailed(f"{layer} makes {truth} of {wide}, but yours returns {found}")
    for shape in ((batch, n_out), (batch, n_in, n_out), (n_out,)):
        try:
            answer(Linear(n_in, n_out, rng=0), shape)
        except ShapeError:
            continue
        except ValueError:
            raise CheckFailed(
                f"Linear({n_in}, {n_out}) cannot take {shape}: yours raises a ValueError; raise a ShapeError"
            ) from None
        raise CheckFailed(f"Linear({n_in}, {n_out}) cannot take {shape}: raise a ShapeError")
    return "eleven layers compared with a run, a shape too large to run, and three that do not fit"


@spec.probe
def _(answer, rng):
    return [str(answer(layer, shape)) for _, layer, shape in _cases(rng)[:2]]


def spec_with(
    linear=lambda layer, shape: (*shape[:-1], layer.n_out),
    flatten=lambda shape: (shape[0], math.prod(shape[1:])),
    mean=lambda layer, shape: shape[: layer.axis] + shape[layer.axis + 1 :],
    join=lambda shape, parts: (*parts[0][:-1], sum(part[-1] for part in parts)),
    refuse=ShapeError,
):
    """Return an answer with these rules."""

    def answer(layer, shape):
        if isinstance(layer, Linear):
            if refuse and shape[-1] != layer.n_in:
                raise refuse(f"{layer} expects {layer.n_in}, got {shape}.")
            return linear(layer, shape)
        if isinstance(layer, Flatten):
            return flatten(shape)
        if isinstance(layer, Mean):
            return mean(layer, shape)
        if isinstance(layer, Parallel):
            return join(shape, [answer(part, shape) for part in layer.layers])
        if isinstance(layer, Sequential):
            for part in layer.layers:
                shape = answer(part, shape)
        return shape

    return answer


spec.mistake("Axes between the first and the last stay as they are.")(
    spec_with(linear=lambda layer, shape: (shape[0], layer.n_out))
)
spec.mistake("The axes before the last are those of the parts' results, not of X.")(
    spec_with(join=lambda shape, parts: (*shape[:-1], sum(part[-1] for part in parts)))
)


# 3. a sentence that helps

scale = Exercise(
    "12_shapes.Scale",
    title="A sentence that helps",
    points=3,
    kind="fill",
    minutes=10,
    answer="class",
    hints=(
        "When is X right? If it has two axes, and as many columns as s has entries. Refuse all else.",
        "`X.shape` and `self.s.shape` are tuples; in an f-string they appear as `(5, 4)` and `(3,)`.",
        "Compare all of X.shape behind the batch, `X.shape[1:]`, with the shape of s. If they differ, raise "
        'a ShapeError that is given one f-string, f"… {X.shape} … : give …", with both shapes.',
    ),
)
VERBS = ("give", "make", "use", "write")


@scale.check
def _(answer, rng):
    batch, n_in = drawn_sizes(rng, BATCH, N_IN)
    for width in (n_in, 1):
        s = rng.normal(size=width) + 2.0
        layer = answer(s.copy())
        expect_made(layer, "Scale")
        expect_values("s.data", layer.s.data, s, "Scale was made with")
        X = rng.normal(size=(batch, width))
        try:
            Y, backward = expect_several(layer(X), "Y", "backward")
        except ShapeError as error:
            raise CheckFailed(
                f"an X of shape {X.shape} fits an s of shape {(width,)}, and must pass; yours raises: {error}"
            ) from error
        expect_values("Y", Y, X * s)
        dY = rng.normal(size=Y.shape)
        with untouched(**{"s.data": layer.s.data, "X": X, "dY": dY}):
            expect_values("dX", backward(dY), dY * s)
        expect_values("in a second call, Y", layer(X)[0], X * s)
    for width, shape in ((N_IN, (BATCH, N_OUT)), (N_IN, (BATCH, 1)), (1, (BATCH, N_IN)), (N_IN, (N_IN,))):
        _require_sentence(answer(np.ones(width)), np.ones(shape), (width,))
    _require_sentence(answer(np.ones(N_IN)), np.ones((BATCH, N_OUT, N_IN)), (N_IN,))
    return "two that fit, and five that do not, three of which NumPy would repeat"


def _require_sentence(layer, X, shape_of_s):
    """Require that a layer refuses a wrong X, with both shapes and what to do."""
    case = f"for an X of shape {X.shape} and an s of shape {shape_of_s}"
    try:
        layer(X)
    except ShapeError as error:
        message = str(error)
    except Exception as error:
        raised = f"{case} it raises {type(error).__name__}, and not ShapeError: {str(error).strip()}"
        if "broadcast" in str(error):
            raised += "; that is NumPy's own message, and check_input has to refuse this X before forward"
        raise CheckFailed(raised) from error
    else:
        raise CheckFailed(f"{case} it computes a result; it must raise a ShapeError")
    for name, shape in (("X", X.shape), ("s", shape_of_s)):
        if str(shape) not in message:
            raise CheckFailed(f"{case} the message does not contain the shape of {name}: {message!r}")
    if not re.search(rf"\b({'|'.join(VERBS)})\b", message.lower()):
        raise CheckFailed(
            f"{case} the message does not say what to do, with one of the words {', '.join(VERBS)}: "
            f"{message!r}"
        )


@scale.probe
def _(answer, rng):
    layer = answer(np.array([2.0, 3.0, 5.0]))
    return layer(np.ones((BATCH, N_IN)))[0]


def scale_with(refuse):
    """Return an answer that refuses in this way."""

    class Scale(Layer):
        def __init__(self, s):
            self.s = Parameter(s)

        def check_input(self, X):
            refuse(X.shape, self.s.shape)

        def forward(self, X):
            s = self.s

            def backward(dY):
                s.grad += (dY * X).sum(axis=0)
                return dY * s.data

            return X * s.data, backward

    return Scale


def raise_with(sentence, wrong=lambda X, s: X[1:] != s, kind=ShapeError):
    """Return a refusal with a sentence, a rule and a kind of error."""

    def refuse(X, s):
        if wrong(X, s):
            raise kind(sentence.format(X=X, s=s))

    return refuse


WHOLE = "Scale expects rows as wide as s of shape {s}, got X of shape {X}: give an X of two axes."
scale.mistake("NumPy repeats a column, or s, of length 1: compare the shapes yourself.")(
    scale_with(raise_with(WHOLE, lambda X, s: len(X) != 2 or (X[-1] != s[0] and 1 not in (X[-1], s[0]))))
)
scale.mistake("The last axis fits, but X must have two axes.")(
    scale_with(raise_with(WHOLE, lambda X, s: len(X) == 1 or X[-1] != s[0]))
)
scale.mistake("X has one axis more than s, the batch: compare the axes after it.")(
    scale_with(raise_with(WHOLE, lambda X, s: X != s))
)


# 4. work before work

work = Exercise(
    "12_shapes.work",
    title="Work before work",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "Two numbers, two questions. For the multiplications, each *use* of a Linear counts. For the "
        "parameters, each Linear *object* counts once.",
        "Write a small function that returns a list of all uses of Linear layers; for layers in layers "
        "it calls itself. Which of these uses are the same object?",
        "`uses` may hold a layer twice. For parameters go through "
        "`{id(layer): layer for layer in uses}.values()`, and mind `layer.bias`.",
    ),
)


# 10**14 numbers fit into no computer; a browser, which counts in 32 bits, has no room for 10**9
SIDE = 10**7 if np.dtype(int).itemsize == 8 else 40_000
HUGE = f"a Linear of {SIDE:,} x {SIDE:,}"


def _models(rng):
    """Return (description, model) of each case, without weights."""
    a, b, c = (int(size) for size in rng.choice([3, 5, 7, 11, 13], 3, replace=False))
    shared, outer, block = Linear(a, a), Linear(a, a), Sequential(Linear(a, b), ReLU(), Linear(b, a))
    return [
        ("one Linear", Sequential(Linear(a, b))),
        ("a row", Sequential(Linear(a, b), ReLU(), Linear(b, c))),
        ("a Linear without bias", Sequential(Linear(a, b, bias=False), Tanh())),
        ("a row of two layers of one size", Sequential(Linear(b, b), ReLU(), Linear(b, b))),
        ("a row in a row", Sequential(Sequential(Linear(a, b), ReLU()), Linear(b, a))),
        ("a residual", Sequential(Residual(Sequential(Linear(a, b), ReLU(), Linear(b, a))), Linear(a, c))),
        ("a residual around one Linear", Sequential(Residual(Linear(b, b)), Linear(b, c))),
        (
            "a row in a row in a residual",
            Sequential(Residual(Sequential(Sequential(Linear(a, a)))), Linear(a, b)),
        ),
        ("a layer that is used twice", Sequential(shared, ReLU(), Residual(shared), Linear(a, b))),
        ("a layer used twice, with another between,", Sequential(outer, Linear(a, a), outer)),
        ("a row that is used twice", Sequential(block, Residual(block))),
        (HUGE, Sequential(Linear(SIDE, SIDE))),
    ]


class _Counted(np.ndarray):
    """An array that counts the multiplications of its matrix products, and passes that on."""

    multiplications = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(value) for value in inputs]
        if ufunc is np.matmul:
            _Counted.multiplications += plain[0].size * plain[1].shape[-1]
        options["out"] = tuple(map(np.asarray, options["out"])) if "out" in options else None
        return getattr(ufunc, method)(*plain, **options).view(_Counted)

    def dot(self, W):
        _Counted.multiplications += self.size * W.shape[-1]
        return np.asarray(self).dot(W).view(_Counted)


def run(model):
    """Return the number of parameters and of multiplications for one example, by drawing and running."""
    first = next(layer for layer in model.named_layers().values() if isinstance(layer, Linear))
    X = np.ones((1, first.n_in))
    model.initialize(X, rng=0)
    _Counted.multiplications = 0
    model(X.view(_Counted))
    return sum(parameter.data.size for parameter in model.parameters()), _Counted.multiplications


def _parts(model):
    """Return what each layer of a model holds, with copies of the lists."""
    return [
        {name: list(part) if isinstance(part, list) else part for name, part in vars(layer).items()}
        for layer in model.named_layers().values()
    ]


@work.check
def _(answer, rng):
    for what, model in _models(rng):
        before = _parts(model)
        try:
            found = answer(model)
        except MemoryError:
            raise CheckFailed(
                f"it makes an array as large as W, and for {what} that fits into no computer: "
                "count with n_in and n_out alone"
            ) from None
        if any(layer.is_drawn for layer in model.named_layers().values() if isinstance(layer, Linear)):
            raise CheckFailed("it draws the weights: count with n_in and n_out alone")
        if _parts(model) != before:
            raise CheckFailed(
                "it changes the model, which belongs to its caller: make a list of your own, and set "
                "nothing in a layer"
            )
        names, truth = ("parameters", "multiplications"), (work_with() if what == HUGE else run)(model)
        for name, yours, true in zip(names, expect_several(found, *names), truth, strict=True):
            if np.ndim(yours) or yours != true:
                none_yet = (
                    ": no weights exist yet, so there is nothing in model.parameters(); count with n_in and "
                    "n_out"
                )
                is_none = name == "parameters" and np.array_equal(yours, 0)
                raise CheckFailed(
                    f"{what} has {true} {name}, but yours says {yours}{none_yet if is_none else ''}"
                )
    return "twelve models, eleven of them compared with drawing them and counting in a run"


@work.probe
def _(answer, rng):
    return [tuple(answer(model)) for _, model in _models(rng)[:2]]


def parts_of(layer):
    """Return the layers that a layer holds."""
    return [layer.layer] if isinstance(layer, Residual) else getattr(layer, "layers", [])


def uses_of(layer, parts=parts_of):
    """Return every use of a Linear inside a layer, in order."""
    if isinstance(layer, Linear):
        return [layer]
    return [use for part in parts(layer) for use in uses_of(part, parts)]


def matrix(layer):
    """Return the size of a Linear's W."""
    return layer.n_in * layer.n_out


def with_bias(layer):
    """Return the number of parameters of a Linear."""
    return matrix(layer) + layer.bias * layer.n_out


def work_with(uses=uses_of, once=set, again=list, size=with_bias, product=matrix):
    """Return an answer that counts these uses, the size of some and the product of some."""

    def answer(model):
        every = uses(model)
        return sum(map(size, once(every))), sum(map(product, again(every)))

    return answer


def _new_in_the_row(every):
    """Return the uses that differ from the one before."""
    return [use for place, use in enumerate(every) if not place or use is not every[place - 1]]


def _each_part_once(model):
    """Return the uses of Linear layers, but go into each other layer only once."""
    seen = []

    def parts(layer):
        seen.append(layer)
        return [part for part in parts_of(layer) if isinstance(part, Linear) or part not in seen]

    return uses_of(model, parts)


for _sentence, _changed in {
    "A layer that is used twice has its parameters once.": dict(once=list),
    "Equal sizes do not make two layers one: test whether it is the same object.": dict(
        once=lambda every: {(layer.n_in, layer.n_out): layer for layer in every}.values()
    ),
    "Compare a layer with all before it, not only with the last one.": dict(once=_new_in_the_row),
    "Each use of a layer multiplies, also the second one.": dict(again=set),
    "A row that is used twice multiplies twice: yours goes into it only once.": dict(uses=_each_part_once),
    "A layer with bias=False has no b.": dict(size=lambda layer: (layer.n_in + 1) * layer.n_out),
    "A bias has parameters as well, one for each output.": dict(size=matrix),
    "Each output has a number in b, not each input.": dict(
        size=lambda layer: (layer.n_out + layer.bias) * layer.n_in
    ),
    "Adding b multiplies nothing: it counts among the parameters alone.": dict(product=with_bias),
    "The two numbers are exchanged: the parameters come first.": dict(size=matrix, product=with_bias),
    "No weights exist yet, so there is no W: count with n_in and n_out.": dict(
        once=list, size=lambda layer: layer.W.data.size
    ),
    "A Residual has one layer inside, called `layer`; it has no list `layers`.": dict(
        uses=lambda model: uses_of(model, lambda layer: getattr(layer, "layers", []))
    ),
    "Layers inside layers are missing.": dict(
        uses=lambda model: [layer for layer in model.layers if isinstance(layer, Linear)]
    ),
}.items():
    work.mistake(_sentence)(work_with(**_changed))


# 5. a key for each branch

side_by_side = Exercise(
    "12_shapes.side_by_side",
    title="Side by side, from one key",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "It returns a function `init(key, n_in)`, whose closure holds the recipes. How many "
        "children does the key need?",
        "`for child, recipe in zip(split(key, len(recipes)), recipes):` gives each recipe its own child. "
        "All of them get the same n_in.",
        "Add up the widths in a number, and join the lists of weights with `+=`; then return both.",
    ),
)


def split(key, count):
    """Return children of a key; the same key has the same children."""
    return [np.random.SeedSequence(key.entropy, spawn_key=(*key.spawn_key, place)) for place in range(count)]


def _dense(n_out):
    """Return a recipe that draws one matrix."""

    def init(key, n_in):
        return n_out, [np.random.default_rng(key).normal(size=(n_in, n_out))]

    return init


def _made(recipe, key, n_in):
    """Return the width and the weights that a recipe makes; require the right types."""
    if not callable(recipe):
        raise CheckFailed(f"it must return a function init(key, n_in), but returned {described(recipe)}")
    n_out, weights = expect_several(recipe(key, n_in), "n_out", "a list of weights")
    if not isinstance(weights, list) or not all(isinstance(W, np.ndarray) for W in weights):
        raise CheckFailed("init must return one list of arrays second: join the lists")
    return n_out, weights


@side_by_side.check
def _(answer, rng):
    key = np.random.SeedSequence(int(rng.integers(10**6)))
    for widths in ((N_OUT,), (2, N_OUT), (N_OUT, N_OUT, 2)):
        recipe = answer(*map(_dense, widths))
        n_out, weights = _made(recipe, key, N_IN)
        one, several = f"one part, of width {widths[0]},", f"parts of widths {', '.join(map(str, widths))}"
        case = f"for {one if len(widths) == 1 else several}"
        if n_out != sum(widths):
            raise CheckFailed(f"{case} n_out must be {sum(widths)}, but is {n_out}")
        shapes, expected = [W.shape for W in weights], [(N_IN, width) for width in widths]
        if shapes != expected:
            raise CheckFailed(f"{case} the weights must have the shapes {expected}, and have {shapes}")
        for W, again in zip(weights, _made(recipe, key, N_IN)[1], strict=True):
            if not np.array_equal(W, again):
                raise CheckFailed(f"{case} the same key makes other weights at the second call")
        if len(weights) == 3:
            _require_unlike(case, weights)
        other = _made(recipe, np.random.SeedSequence(int(rng.integers(10**6)) + 10**6), N_IN)[1]
        if any(np.array_equal(W, again) for W, again in zip(weights, other, strict=True)):
            raise CheckFailed(f"{case} another key makes the same weights")
    half = answer(_dense(2), _dense(2))
    n_out, weights = _made(answer(half, half), key, N_IN)
    expect_values("for two halves of two parts each, n_out", n_out, 8)
    if len(weights) != 4:
        raise CheckFailed(f"two halves of two parts each have 4 weights, and yours has {len(weights)}")
    _require_unlike("for two halves of two parts each", weights)
    return "one, two and three parts, halves of halves, the same key twice, and another key"


def _require_unlike(case, weights):
    """Require that no two weights are equal."""
    for place, W in enumerate(weights):
        for later, other in enumerate(weights[place + 1 :], place + 1):
            if np.array_equal(W, other):
                raise CheckFailed(f"{case} the weights of part {place + 1} and of part {later + 1} are equal")


@side_by_side.probe
def _(answer, rng):
    n_out, weights = answer(_dense(2), _dense(3))(np.random.SeedSequence(5), 7)
    return [n_out, *(size for W in weights for size in W.shape), *(W[0, 0] for W in weights)]


def joined(keys, widths=sum):
    """Return an answer that makes the parts' keys in this way."""

    def answer(*recipes):
        def init(key, n_in):
            made = [recipe(k, n_in) for k, recipe in zip(keys(key, len(recipes)), recipes, strict=True)]
            return widths(n_out for n_out, _ in made), [W for _, weights in made for W in weights]

        return init

    return answer


side_by_side.mistake("Each part needs a child of its own.")(joined(lambda key, count: [key] * count))
side_by_side.mistake("One child key for all is not a split.")(
    joined(lambda key, count: split(key, 1) * count)
)
side_by_side.mistake("A key counts its children: a second `spawn` returns others. Use split.")(
    joined(lambda key, count: key.spawn(count))
)
side_by_side.mistake("Numbers made from the key alone ignore its position in the tree.")(
    joined(lambda key, count: [np.random.SeedSequence(key.entropy + place) for place in range(count)])
)
side_by_side.mistake("You dropped the parent's spawn_key: a child's is the parent's plus one number.")(
    joined(
        lambda key, count: [np.random.SeedSequence(key.entropy, spawn_key=(i,)) for i in range(count)],
    )
)


@side_by_side.mistake("Side by side, all parts get the n_in of the whole; yours are in sequence.")
def one_behind_the_other(*recipes):
    def init(key, n_in):
        total, found = 0, []
        for child, recipe in zip(split(key, len(recipes)), recipes, strict=True):
            n_in, weights = recipe(child, n_in)
            total, found = total + n_in, found + weights
        return total, found

    return init


# 6. a width that was not chosen

fill_sizes = Exercise(
    "12_shapes.fill_sizes",
    title="A width that nobody chose",
    points=2,
    kind="repair",
    minutes=7,
    hints=(
        "Run `broken_fill_sizes` by hand on `[None, 5, None]`. What does the first layer get, and where "
        "does it come from? And what is in the list afterwards?",
        "The targets may set the width of one layer only. Which position has it? And who needs to remember "
        "its width, the list or `sizes`?",
        "Inside the loop: if n_out is None, then either `place == len(widths) - 1`, and it takes width_of_T; "
        "or raise ValueError, with a sentence.",
    ),
)


@fill_sizes.check
def _(answer, rng):
    n_X, first, second, n_T = (int(size) for size in rng.choice([2, 3, 5, 7, 11], 4, replace=False))
    equal = (first, first, n_X, first, None)
    for widths in ((None,), (first, None), (first, second, None), (first, second), equal):
        outs = [n_T if n_out is None else n_out for n_out in widths]
        given, truth = list(widths), list(zip([n_X, *outs], outs, strict=False))
        found = answer(given, n_X, n_T)
        if given != list(widths):
            raise CheckFailed("it changes the list of widths, which belongs to its caller")
        case = f"for widths {given}, an X of {n_X} columns and a T of {n_T}"
        pairs = [tuple(pair) for pair in found if np.ndim(pair)] if isinstance(found, list | tuple) else []
        if pairs != truth or len(found) != len(truth):
            yours = found if isinstance(found, list | tuple) else described(found)
            raise CheckFailed(f"{case} the sizes must be {truth}, and yours are {yours}")
    for widths in ([None, first, None], [first, None, None], [None, first], [first, None, second]):
        given = list(widths)
        try:
            found = answer(given, n_X, n_T)
        except ValueError as error:
            if given != widths:
                raise CheckFailed("it changes the list of widths before it raises its ValueError") from None
            if not str(error).strip():
                raise CheckFailed(
                    "its ValueError has no message: tell the user who left out a width what to do"
                ) from None
            continue
        except AssertionError:
            raise CheckFailed(
                "it raises an AssertionError, which Python omits when it runs with -O: "
                "write `if …: raise ValueError(…)` instead of assert"
            ) from None
        if isinstance(found, Exception):
            raise CheckFailed(f"it returns a {type(found).__name__}, so the program goes on: write raise")
        raise CheckFailed(
            f"for widths {widths} it must raise a ValueError, since nothing says how wide a hidden layer is; "
            f"yours returns {found}"
        )
    return "five lists that can be filled, and four that cannot"


@fill_sizes.probe
def _(answer, rng):
    return [tuple(pair) for pair in answer([3, None], 2, 5)]


def filled(from_T, refuse=True):
    """Return an answer that uses the targets' width where from_T says so."""

    def answer(widths, width_of_X, width_of_T):
        sizes, n_in = [], width_of_X
        for place, n_out in enumerate(widths):
            if n_out is None:
                if from_T(place, widths):
                    n_out = width_of_T
                elif refuse:
                    raise ValueError(f"layer {place} needs a width.")
                else:
                    n_out = n_in
            sizes.append((n_in, n_out))
            n_in = n_out
        return sizes

    return answer


def is_last(place, widths):
    """Return whether a position is the last."""
    return place == len(widths) - 1


fill_sizes.mistake("As before: the targets set the width of every layer without one.")(
    filled(lambda place, widths: True)
)
fill_sizes.mistake("A hidden layer does not get the width of its input, either.")(
    filled(is_last, refuse=False)
)


@fill_sizes.mistake("A given width stays: the targets only fill in that of a last layer without one.")
def the_targets_overrule(widths, width_of_X, width_of_T):
    return filled(is_last)([*widths[:-1], width_of_T], width_of_X, width_of_T)


fill_sizes.mistake("The targets set the width of the last layer, not of the last one without a width.")(
    filled(lambda place, widths: None not in widths[place + 1 :])
)
