"""One table of every public layer and loss, and what each is tried on; tests/test_contract.py holds the laws.

A row makes a layer out of `cls`, the class or function that the library has under the row's name, so that
another form of it can be put in its place. Sizes are distinct primes: a wrong factor names itself.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import minigrad
from minigrad import (
    BatchNorm,
    Conv2d,
    Layer,
    Linear,
    Parameter,
    ReLU,
    Sequential,
    Sigmoid,
    Tanh,
    functional,
    values_of,
)
from minigrad.beyond import graph
from minigrad.layers.weighted import Weighted

LOSS = {7: "a loss is one number for the whole batch", 11: "a loss has nothing to save"}


@dataclass(frozen=True)
class Row:
    """One way to use a layer: its dotted name, how it is made, what it is tried on, what must come out."""

    name: str
    make: Callable  # (cls, rng) -> layer
    X: Callable  # (rng) -> input
    Y_shape: tuple
    note: str = ""
    exempt: dict = field(default_factory=dict)  # the number of a law -> why it does not hold here

    def __str__(self):
        return f"{self.name.rpartition('.')[2]} {self.note}".strip()

    def layer(self, rng=0):
        """Return a new layer, of the library's own make."""
        module, _, name = self.name.rpartition(".")
        return self.make(getattr(importlib.import_module(module), name), np.random.default_rng(rng))

    def sample(self, rng=1):
        """Return a new input."""
        return self.X(np.random.default_rng(rng))


def normal(*shape):
    """Return a function that draws an array of this shape."""
    return lambda rng: rng.normal(size=shape)


def pair(*widths):
    """Return a function that draws a pair of arrays with five rows each."""
    return lambda rng: tuple(rng.normal(size=(5, width)) for width in widths)


def side_by_side(X):
    """Put two arrays side by side: a layer that is a plain function."""
    widths = [part.shape[-1] for part in X]
    array_module = minigrad.array_module(X[0])
    return array_module.concatenate(X, axis=-1), lambda dY: (dY[..., : widths[0]], dY[..., widths[0] :])


def tokens(n_tokens, *shape):
    """Return a function that draws an array of tokens; some come more than once, and some not at all."""
    return lambda rng: rng.integers(n_tokens, size=shape)


def padded(*shape):
    """Return a function that draws sequences of different lengths, padded with zeros: (X, lengths)."""

    def draw(rng):
        batch, steps, *_ = shape
        lengths = rng.permutation(np.linspace(1, steps, batch).astype(int))  # from one step to all of them
        return minigrad.pad([rng.normal(size=(length, *shape[2:])) for length in lengths])

    return draw


def scale(width, rng):
    """Return a layer that is a plain function, with a parameter in its closure."""
    factor = Parameter(rng.normal(size=width))

    def forward(X):
        def backward(dY):
            factor.grad += (dY * X).reshape(-1, width).sum(axis=0)
            return dY * factor.data

        return X * factor.data, backward

    return forward


def scaling(cls, rng):
    """Return a layer of two pure functions: a scale for each column, drawn from a seed."""

    def init(seed, X):
        return {"scale": np.random.default_rng(seed).normal(size=X.shape[-1])}, {}

    def apply(params, state, X):
        def backward(dY):
            return dY * params["scale"], {"scale": (dY * X).sum(axis=0)}

        return X * params["scale"], backward, state

    return cls(init, apply).initialize(np.zeros((1, 3)), rng=rng)


def from_functional(cls, rng):
    """Return a layer of the pure function that was made of a model with running averages."""
    model = Linear(3, 7, rng=rng) >> uneven(BatchNorm(7), rng) >> Tanh()
    return cls(lambda seed, X: values_of(model), functional(model)).initialize(np.zeros((1, 3)), rng=rng)


def of_nodes(n_in, n_out, rng):
    """Return a function of nodes, with its weights in its closure."""
    W, b = graph.Variable(rng.normal(size=(n_in, n_out))), graph.Variable(rng.normal(size=n_out))
    return lambda x: graph.Softmax(x @ W + b)


def against(draw):
    """Return how a loss becomes a layer: its target is drawn once, and stays where Y is."""

    def make(loss, rng):
        T = draw(rng)
        T.setflags(write=False)  # a loss that writes into its target is stopped at the guilty line
        return lambda Y: loss(Y, minigrad.array_module(Y).asarray(T))

    return make


def plain(cls, rng):
    """Make a layer that has nothing to choose."""
    return cls()


def drawn(layer, rng):
    """Return a layer whose biases, gains and shifts are drawn too."""
    for part in layer.parameters():
        if len(part.shape) == 1:
            part.data[...] = rng.normal(size=part.shape)
    return layer


def uneven(layer, rng):
    """Return a norm whose gains, shifts and averages are drawn: ones and zeros would hide mistakes."""
    for part in layer.parameters():
        part.data[...] = rng.normal(size=part.shape)
    for part in layer.buffers():
        part.data[...] = rng.uniform(0.5, 2.0, size=part.shape)
    return layer


LINEAR = "minigrad.layers.linear.Linear"
ACTIVATIONS = "minigrad.layers.activations."
NORMALIZATION = "minigrad.layers.normalization."
CONVOLUTION = "minigrad.layers.convolution."
REDUCTIONS = "minigrad.layers.reductions."
RECURRENT = "minigrad.layers.recurrent."
EMBEDDING = "minigrad.layers.embedding."
ATTENTION = "minigrad.layers.attention."
RECOMPUTE = "minigrad.beyond.recompute.Recompute"
COMBINATORS = "minigrad.layers.combinators."
SEQUENTIAL = "minigrad.layer.Sequential"
LOSSES = "minigrad.losses."

ROWS = [
    Row(LINEAR, lambda cls, rng: cls(3, 7, rng=rng), normal(5, 3), (5, 7)),
    Row(LINEAR, lambda cls, rng: cls(3, 7, bias=False, rng=rng), normal(5, 3), (5, 7), "without bias"),
    Row(LINEAR, lambda cls, rng: cls(3, 7, rng=rng), normal(5, 11, 3), (5, 11, 7), "over steps"),
    Row(LINEAR, lambda cls, rng: cls(3, 7, rng=rng), normal(1, 3), (1, 7), "one example"),
    Row(ACTIVATIONS + "ReLU", plain, normal(5, 3), (5, 3)),
    Row(ACTIVATIONS + "Sigmoid", plain, normal(5, 3), (5, 3)),
    Row(ACTIVATIONS + "Tanh", plain, normal(5, 3), (5, 3)),
    Row(ACTIVATIONS + "GELU", plain, normal(5, 3), (5, 3)),
    Row(ACTIVATIONS + "Softmax", plain, normal(5, 3), (5, 3)),
    Row(ACTIVATIONS + "Softmax", plain, normal(5, 11, 3), (5, 11, 3), "over steps"),
    Row(NORMALIZATION + "Dropout", lambda cls, rng: cls(0.3, rng=rng), normal(5, 3), (5, 3)),
    Row(NORMALIZATION + "LayerNorm", lambda cls, rng: uneven(cls(3), rng), normal(5, 3), (5, 3)),
    Row(
        NORMALIZATION + "LayerNorm",
        lambda cls, rng: uneven(cls(3), rng),
        normal(5, 11, 3),
        (5, 11, 3),
        "over steps",
    ),
    Row(NORMALIZATION + "BatchNorm", lambda cls, rng: uneven(cls(3), rng), normal(5, 3), (5, 3)),
    Row(
        NORMALIZATION + "BatchNorm",
        lambda cls, rng: uneven(cls(3), rng),
        normal(5, 3, 7, 2),
        (5, 3, 7, 2),
        "of images",
    ),
    Row(
        NORMALIZATION + "BatchNorm",
        lambda cls, rng: uneven(cls(3, axis=-1), rng),
        normal(5, 11, 3),
        (5, 11, 3),
        "over steps",
    ),
    Row(
        CONVOLUTION + "Conv2d",
        lambda cls, rng: cls(3, 2, kernel=5, rng=rng),
        normal(5, 3, 7, 11),
        (5, 2, 3, 7),
    ),
    Row(
        CONVOLUTION + "Conv2d",
        lambda cls, rng: cls(3, 2, kernel=(2, 3), stride=2, padding=1, rng=rng),
        normal(5, 3, 7, 11),
        (5, 2, 4, 6),
        "with strides, zeros and an edge that no window reaches",
    ),
    Row(
        CONVOLUTION + "Conv2d",
        lambda cls, rng: cls(3, 2, kernel=(4, 3), padding="same", bias=False, rng=rng),
        normal(5, 3, 7, 11),
        (5, 2, 7, 11),
        "of the same size, without bias",
    ),
    Row(
        CONVOLUTION + "Conv2d",
        lambda cls, rng: cls(3, 2, kernel=1, stride=3, rng=rng),
        normal(1, 3, 7, 11),
        (1, 2, 3, 4),
        "of single places, one example",
    ),
    Row(CONVOLUTION + "MaxPool2d", plain, normal(5, 3, 7, 11), (5, 3, 3, 5)),
    Row(
        CONVOLUTION + "MaxPool2d",
        lambda cls, rng: cls(3, stride=2),
        normal(5, 2, 7, 11),
        (5, 2, 3, 5),
        "with windows that overlap",
    ),
    Row(
        CONVOLUTION + "MaxPool2d",
        lambda cls, rng: cls(2, stride=3),
        normal(1, 2, 7, 11),
        (1, 2, 2, 4),
        "with gaps, one example",
    ),
    Row(REDUCTIONS + "Sum", plain, normal(5, 11, 3), (5, 3)),
    Row(REDUCTIONS + "Sum", lambda cls, rng: cls(-1), normal(5, 11, 3), (5, 11), "of the last axis"),
    Row(REDUCTIONS + "Mean", plain, normal(5, 11, 3), (5, 3)),
    Row(REDUCTIONS + "Mean", lambda cls, rng: cls(axis=-1), normal(5, 11, 3), (5, 11), "of the last axis"),
    Row(REDUCTIONS + "Max", plain, normal(5, 11, 3), (5, 3)),
    Row(REDUCTIONS + "Max", lambda cls, rng: cls(axis=2), normal(5, 11, 3), (5, 11), "of the last axis"),
    Row(REDUCTIONS + "Flatten", plain, normal(5, 11, 3), (5, 33)),
    Row(REDUCTIONS + "Reshape", lambda cls, rng: cls(3, 11), normal(5, 11, 3), (5, 3, 11)),
    Row(
        REDUCTIONS + "Reshape", lambda cls, rng: cls(11, -1), normal(5, 33), (5, 11, 3), "with one size open"
    ),
    *(
        Row(RECURRENT + name, lambda cls, rng, last=last: cls(3, 7, last=last, rng=rng), X, Y_shape, note)
        for name in ("RNN", "LSTM")
        for X, last, Y_shape, note in (
            (normal(5, 11, 3), False, (5, 11, 7), ""),
            (padded(5, 11, 3), False, (5, 11, 7), "with lengths"),
            (normal(5, 11, 3), True, (5, 7), "to the end"),
            (padded(5, 11, 3), True, (5, 7), "to each end"),
            (normal(1, 1, 3), False, (1, 1, 7), "of one step"),
        )
    ),
    *(
        Row(
            EMBEDDING + "Embedding",
            lambda cls, rng: cls(13, 7, rng=rng),
            tokens(13, *shape),
            (*shape, 7),
            note,
        )
        for shape, note in (((5, 11), ""), ((1, 11), "of one example"), ((5, 1), "of one step"))
    ),
    *(
        Row(EMBEDDING + "Positions", lambda cls, rng: cls(11, 7, rng=rng), normal(*shape), shape, note)
        for shape, note in (
            ((5, 11, 7), ""),
            ((5, 3, 7), "of a shorter sequence"),
            ((1, 1, 7), "of one step"),
        )
    ),
    *(
        Row(
            ATTENTION + name,
            lambda cls, rng, heads=heads, causal=causal: drawn(cls(6, heads, causal, rng=rng), rng),
            X,
            shape,
            note,
        )
        for name, heads, causal, X, shape, note in (
            ("MultiHeadAttention", 1, False, normal(5, 7, 6), (5, 7, 6), ""),
            ("MultiHeadAttention", 3, False, normal(5, 7, 6), (5, 7, 6), "with three heads"),
            ("MultiHeadAttention", 2, True, normal(5, 7, 6), (5, 7, 6), "causal"),
            ("MultiHeadAttention", 2, False, padded(5, 7, 6), (5, 7, 6), "with lengths"),
            ("MultiHeadAttention", 2, True, padded(5, 7, 6), (5, 7, 6), "causal, with lengths"),
            ("MultiHeadAttention", 2, True, normal(1, 1, 6), (1, 1, 6), "of one step"),
            ("TransformerBlock", 2, False, normal(3, 5, 6), (3, 5, 6), ""),
            ("TransformerBlock", 3, True, normal(3, 5, 6), (3, 5, 6), "causal"),
        )
    ),
    Row(
        RECOMPUTE,
        lambda cls, rng: cls(Linear(3, 7, rng=rng) >> Tanh() >> Linear(7, 2, rng=rng)),
        normal(5, 3),
        (5, 2),
    ),
    Row(COMBINATORS + "chain", lambda cls, rng: cls(Linear(3, 7, rng=rng), ReLU()), normal(5, 3), (5, 7)),
    Row(
        COMBINATORS + "chain",
        lambda cls, rng: cls(cls(scale(3, rng), Tanh()), Linear(3, 7, rng=rng)),
        normal(5, 3),
        (5, 7),
        "of a chain, from a function",
    ),
    Row(COMBINATORS + "Residual", lambda cls, rng: cls(Linear(3, 3, rng=rng)), normal(5, 3), (5, 3)),
    Row(
        COMBINATORS + "Residual",
        lambda cls, rng: cls(scale(3, rng)),
        normal(5, 3),
        (5, 3),
        "around a function",
    ),
    Row(
        COMBINATORS + "Parallel",
        lambda cls, rng: cls(Linear(3, 7, rng=rng), Tanh(), Linear(3, 2, rng=rng)),
        normal(5, 3),
        (5, 12),
    ),
    Row(
        COMBINATORS + "Parallel",
        lambda cls, rng: cls(Linear(3, 7, rng=rng), scale(3, rng)),
        normal(5, 11, 3),
        (5, 11, 10),
        "over steps, with a function",
    ),
    Row(
        COMBINATORS + "Parallel",
        lambda cls, rng: cls(Conv2d(2, 3, 1, rng=rng), Tanh(), axis=1),
        normal(5, 2, 7, 3),
        (5, 5, 7, 3),
        "of channels",
    ),
    Row(
        COMBINATORS + "Add",
        lambda cls, rng: cls(Linear(3, 7, rng=rng), Linear(3, 7, rng=rng) >> Tanh()),
        normal(5, 3),
        (5, 7),
    ),
    Row(
        COMBINATORS + "Add",
        lambda cls, rng: cls(Sequential(), scale(3, rng), Tanh()),
        normal(5, 11, 3),
        (5, 11, 3),
        "over steps, with functions",
    ),
    Row(
        COMBINATORS + "Twin",
        lambda cls, rng: cls(Linear(3, 7, rng=rng)) >> side_by_side,
        pair(3, 3),
        (5, 14),
    ),
    Row(
        COMBINATORS + "Twin",
        lambda cls, rng: cls(Linear(3, 7, rng=rng), scale(2, rng)) >> side_by_side,
        pair(3, 2),
        (5, 9),
        "of two layers",
    ),
    Row(
        "minigrad.beyond.similarity.CosineSimilarity",
        plain,
        pair(3, 3),
        (5,),
    ),
    Row(COMBINATORS + "Watch", lambda cls, rng: cls(lambda direction, array: None), normal(5, 3), (5, 3)),
    Row("minigrad.beyond.pure.FunctionalLayer", scaling, normal(5, 3), (5, 3)),
    Row("minigrad.beyond.pure.FunctionalLayer", from_functional, normal(5, 3), (5, 7), "of a model"),
    Row("minigrad.beyond.graph.GraphLayer", lambda cls, rng: cls(of_nodes(3, 7, rng)), normal(5, 3), (5, 7)),
    Row("minigrad.layer.Function", lambda cls, rng: cls(scale(3, rng)), normal(5, 3), (5, 3)),
    Row(
        SEQUENTIAL,
        lambda cls, rng: cls(Linear(3, 11, rng=rng), Sigmoid(), Linear(11, 7, rng=rng)),
        normal(5, 3),
        (5, 7),
    ),
    Row(
        SEQUENTIAL,
        lambda cls, rng: cls(cls(scale(3, rng), Linear(3, 3, rng=rng)), Tanh(), cls(), scale(3, rng)),
        normal(5, 3),
        (5, 3),
        "nested, with functions",
    ),
    Row(
        SEQUENTIAL,
        lambda cls, rng: cls(*[Linear(3, 3, rng=rng), Tanh()] * 2),
        normal(5, 3),
        (5, 3),
        "with one Linear twice",
    ),
    Row(LOSSES + "mse", against(normal(5, 3)), normal(5, 3), (), exempt=LOSS),
    Row(LOSSES + "bce_with_logits", against(lambda rng: rng.random((5, 3))), normal(5, 3), (), exempt=LOSS),
    Row(
        LOSSES + "cross_entropy",
        against(lambda rng: rng.integers(7, size=5)),
        normal(5, 7),
        (),
        "labels",
        exempt=LOSS,
    ),
    Row(
        LOSSES + "cross_entropy",
        against(lambda rng: rng.integers(7, size=(5, 11))),
        normal(5, 11, 7),
        (),
        "labels over steps",
        exempt=LOSS,
    ),
    Row(
        LOSSES + "cross_entropy",
        against(lambda rng: rng.dirichlet(np.ones(7), size=5)),
        normal(5, 7),
        (),
        "probabilities",
        exempt=LOSS,
    ),
    Row(LOSSES + "cosine_distance", against(normal(5, 3)), normal(5, 3), (), exempt=LOSS),
    Row(
        LOSSES + "cosine_distance", against(normal(5, 11, 3)), normal(5, 11, 3), (), "over steps", exempt=LOSS
    ),
]


def public_layers():
    """Return the dotted names of the library's layers and losses, found by looking into its modules.

    A class is a layer if it derives from Layer; a function is one if it stands among layers or losses.
    """
    found = set()
    for module in pkgutil.walk_packages(minigrad.__path__, "minigrad."):
        functions = module.name.startswith("minigrad.layers.") or module.name == "minigrad.losses"
        for name, thing in vars(importlib.import_module(module.name)).items():
            is_class = inspect.isclass(thing) and issubclass(thing, Layer) and thing not in (Layer, Weighted)
            is_public = not name.startswith("_") and getattr(thing, "__module__", None) == module.name
            if is_public and (is_class or (functions and inspect.isfunction(thing))):
                found.add(f"{module.name}.{name}")
    return found
