"""Whole models in files: made again from the file alone, with the reader's own layers handed in."""

import io
import json

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    CheckpointError,
    Conv2d,
    Dropout,
    Embedding,
    Layer,
    LayerNorm,
    Learner,
    Linear,
    MultiHeadAttention,
    Parallel,
    Parameter,
    Recompute,
    ReLU,
    Residual,
    Sequential,
    Tanh,
    TransformerBlock,
    Watch,
    load,
    load_model,
    mse,
    save,
    save_model,
)
from minigrad.layer import Function, as_layer
from tests.contract import ROWS
from tests.test_checkpoint import everything, model
from tests.test_contract import arrays, draw
from tests.test_damaged_checkpoints import WRONG, places_in, with_header

X = np.random.default_rng(0).normal(size=(5, 3))
LAYERS = [row for row in ROWS if 11 not in row.exempt]


def functions_in(layer):
    """Return the plain functions in a model by their names."""
    inside = [part.__wrapped__ for part in layer.named_layers().values() if isinstance(part, Function)]
    return {function.__name__: function for function in inside}


def passes(layer, X):
    """Return Y, dX and all gradients of a layer."""
    Y, backward = layer(X)
    return [Y, *arrays(backward(draw(Y))), *(parameter.grad for parameter in layer.parameters())]


def again(tmp_path, layer, layers=None):
    """Return a model that was saved and made again."""
    save_model(tmp_path / "model.npz", layer)
    return load_model(tmp_path / "model.npz", layers)


# Every layer of the library


@pytest.mark.parametrize("row", LAYERS, ids=str)
def test_every_layer_of_the_library_is_made_again(row, tmp_path):
    layer = as_layer(row.layer())
    if row.note == "nested, with functions" or row.name.endswith(("Watch", "FunctionalLayer", "GraphLayer")):
        said = "two different things are called forward|has no name|use save and load"
        with pytest.raises(TypeError, match=said):
            save_model(tmp_path / "model.npz", layer)
        return
    copy = again(tmp_path, layer, functions_in(as_layer(row.layer(rng=7))))
    assert repr(copy) == repr(layer) and copy is not layer
    assert list(copy.named_parameters()) == list(layer.named_parameters())
    for found, expected in zip(passes(copy, row.sample()), passes(layer, row.sample()), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def everything_in_one():
    """Return a model with every combinator, a shared layer, and layers that draw."""
    rng = np.random.default_rng(0)
    shared = Linear(3, 3, rng=rng)
    branches = Parallel(
        Linear(3, 2, rng=rng), Residual(shared >> Tanh()) >> Linear(3, 5, bias=False, rng=rng)
    )
    return Sequential(
        shared, Recompute(shared >> BatchNorm(3)), branches, Dropout(0.3, rng), LayerNorm(7, 1e-3)
    )


def test_a_nested_model_trains_on_like_the_one_that_was_saved(tmp_path):
    first = everything_in_one()
    first(X, training=True)
    second = again(tmp_path, first)
    assert everything(second) == everything(first)
    both = [Learner(part, mse, SGD(0.1)) for part in (first, second)]
    losses = [one.fit(X, np.ones((5, 7)), epochs=3, batch_size=2)["loss"] for one in both]
    assert losses[0] == losses[1] and everything(second) == everything(first)


def test_a_shared_layer_stays_one(tmp_path):
    copy = again(tmp_path, everything_in_one())
    shared = copy.layers[0]
    assert copy.layers[1].layer.layers[0] is shared
    assert copy.layers[2].layers[1].layers[0].layer.layers[0] is shared


def test_tied_parameters_stay_tied(tmp_path):
    first, second = Linear(3, 3, rng=0), Linear(3, 3, bias=False, rng=1)
    second.W = first.W
    attention = MultiHeadAttention(4, 2, rng=0)
    attention.keys = attention.queries
    copy = again(tmp_path, first >> second >> Linear(3, 4, rng=0))
    assert copy.layers[1].W is copy.layers[0].W
    copy = again(tmp_path, attention)
    assert copy.keys is copy.queries and len(copy.parameters()) == 6


def test_a_shared_generator_stays_one(tmp_path):
    rng = np.random.Generator(np.random.Philox(5))
    first, second = Dropout(0.5, rng), Dropout(0.2, rng)
    second.rng = first.rng
    copy = again(tmp_path, first >> second)
    assert copy.layers[0].rng is copy.layers[1].rng
    assert type(copy.layers[0].rng.bit_generator) is np.random.Philox


def test_what_is_frozen_in_float32_and_still_open_stays_so(tmp_path):
    layer = (Linear(3, 7, rng=0).freeze() >> BatchNorm(7) >> Dropout(0.1)).to(np.float32)
    copy = again(tmp_path, layer)
    assert {part.data.dtype for part in copy.parameters() + copy.buffers()} == {np.dtype(np.float32)}
    assert copy.layers[0].frozen and not copy.layers[0].W.trainable and copy.layers[1].gain.trainable
    assert copy.layers[2].rng is None
    opened = again(tmp_path, Linear(n_out=7) >> Conv2d(n_out=2, padding="same"))
    assert repr(opened) == repr(Linear(n_out=7) >> Conv2d(n_out=2, padding="same"))
    assert not opened.layers[0].is_drawn


def test_a_layer_that_was_opened_by_a_sample_is_made_with_its_sizes(tmp_path):
    layer = (Linear(n_out=6) >> LayerNorm() >> Linear()).initialize(X, X, rng=0)
    assert repr(again(tmp_path, layer)) == repr(layer)
    tokens = np.random.default_rng(0).integers(5, size=(2, 4))
    text = (Embedding(n_out=6) >> TransformerBlock(heads=2, dropout=0.1) >> Linear(n_out=5)).initialize(
        tokens, rng=0
    )
    np.testing.assert_array_equal(again(tmp_path, text).predict(tokens), text.predict(tokens))


# Layers and functions of one's own


class Swish(Layer):
    """X sigmoid(slope X), with a slope and a list of settings."""

    def __init__(self, slope=1.0, settings=(1, "a", None), names=()):
        self.slope, self.settings, self.names = slope, settings, names
        self.gain = Parameter([slope])

    def forward(self, X):
        S = 1 / (1 + np.exp(-self.slope * X))
        return self.gain.data * X * S, lambda dY: dY * self.gain.data * (S + self.slope * X * S * (1 - S))


class Around(Layer):
    """A layer inside another, with something to do before it."""

    def __init__(self, inner, *, before, rng):
        self.inner, self.before = inner, before
        self.rng = np.random.default_rng(rng)

    def forward(self, X, training=False):
        return self.inner(self.before(X), training=training)


def double(X):
    """A plain function."""
    return 2 * X, lambda dY: 2 * dY


def halve(X):
    """What Around does first."""
    return X / 2


def test_own_layers_and_functions_are_handed_in_by_name(tmp_path):
    swish = Swish(np.float32(2.5), [1, (np.int64(2), "b")], ["c"])
    swish.gain.data[...] = 3.0
    first = Around(Sequential(double, swish), before=halve, rng=3) >> double
    first.layers[0].rng.random(5)
    own = {"Swish": Swish, "Around": Around, "double": double, "halve": halve, "more": print}
    copy = again(tmp_path, first, own)
    np.testing.assert_array_equal(copy.predict(X), first.predict(X))
    assert copy.layers[0].inner.layers[1].settings == [1, (2, "b")]
    assert copy.layers[0].rng.random() == first.layers[0].rng.random()
    del own["double"], own["Swish"]
    sentence = r'needs? double, Swish|load_model\(.*, \{"double": double, "Swish": Swish\}\)'
    with pytest.raises(CheckpointError, match=sentence):
        load_model(tmp_path / "model.npz", own)
    with pytest.raises(CheckpointError, match="load_model"):
        load_model(tmp_path / "model.npz")


def test_a_function_that_is_handed_in_keeps_its_own_parameters(tmp_path):
    def scaled(number):
        W = Parameter([number])

        def scale(X):
            return W.data * X, lambda dY: W.data * dY

        return scale

    other = scaled(7.0)
    copies = [again(tmp_path, Sequential(scaled(number)), {"scale": other}) for number in (2.0, 3.0)]
    found = [float(part.predict(np.ones((1, 1)))[0, 0]) for part in (*copies, Sequential(other))]
    assert found == [2.0, 3.0, 7.0]


class Forgets(Layer):
    """Does not keep what it was made with."""

    def __init__(self, width):
        self.W = Parameter(np.ones(width))


class Changes(Layer):
    """Keeps something else than it was made with."""

    def __init__(self, width):
        self.width = 2 * width


def changed_later():
    layer = TransformerBlock(6, 2, rng=0)
    layer.block.layers[0] = Tanh()
    return layer


def of_the_same_name():
    def double(X):
        return X, lambda dY: dY

    return Sequential(double, globals()["double"])


REFUSED = {
    "a lambda": (lambda: Sequential(lambda X: (X, lambda dY: dY)), "has no name, .* define it with def"),
    "a lambda inside": (lambda: Watch(lambda *see: None), "has no name, .* define it with def"),
    "two names": (of_the_same_name, "two different things are called double"),
    "no attribute": (lambda: Forgets(3), r"takes width, but does not store it: write self.width = width"),
    "another attribute": (lambda: Changes(3), "differs in itself"),
    "changed later": (changed_later, "differs in .*changes after __init__"),
    "an array": (lambda: Swish(settings=np.zeros(3)), "is made with .* which is not a number, str, layer"),
    "a Learner": (lambda: Learner(Linear(2, 1, rng=0), mse, SGD(0.1)), "write learner.model"),
    "nothing": (lambda: None, "save_model takes a model, got None"),
}


@pytest.mark.parametrize(("make", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_down_is_said(make, sentence, tmp_path):
    with pytest.raises(TypeError, match=sentence):
        save_model(tmp_path / "model.npz", make())
    assert list(tmp_path.iterdir()) == []


# The file


def test_the_file_is_a_checkpoint_as_well(tmp_path):
    first = model()
    save_model(tmp_path / "model.npz", first.layers[0] >> ReLU())
    other = load(tmp_path / "model.npz", model(seed=1).layers[0] >> ReLU())
    assert everything(other) == everything(first.layers[0] >> ReLU())


def test_a_checkpoint_is_no_model(tmp_path):
    save(tmp_path / "run.npz", model())
    with pytest.raises(CheckpointError, match="contains no model: create the model yourself"):
        load_model(tmp_path / "run.npz")


def test_the_file_holds_names_and_arguments_and_no_code(tmp_path):
    save_model(tmp_path / "model.npz", Linear(3, 7, rng=0))
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        plan = json.loads(file["header"].item())["plan"]
    arguments = {"n_in": 3, "n_out": 7, "bias": True}
    assert plan["layers"] == {"": {"class": "minigrad.Linear", "rng": "PCG64", "arguments": arguments}}


def test_another_class_under_the_name_is_refused(tmp_path):
    class Other(Layer):
        def __init__(self, slope=2.0):
            self.slope = slope

    save_model(tmp_path / "model.npz", Swish(3.0))
    with pytest.raises(CheckpointError, match="does not fit"):
        load_model(tmp_path / "model.npz", {"Swish": Other})
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        load_model(tmp_path / "model.npz", {"Swish": double})


@pytest.mark.parametrize("damage", ["text", "half"])
def test_a_damaged_file_makes_no_model(tmp_path, damage):
    path = tmp_path / "model.npz"
    save_model(path, model().layers[0])
    path.write_bytes(b"epoch,loss" if damage == "text" else path.read_bytes()[:300])
    with pytest.raises(CheckpointError, match="is not a checkpoint, or is damaged"):
        load_model(path)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_model(tmp_path)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_a_forged_plan_makes_a_model_or_is_refused(tmp_path, count):
    save_model(tmp_path / "model.npz", everything_in_one())
    content, rng, refused = (tmp_path / "model.npz").read_bytes(), np.random.default_rng(0), 0

    def change(header):
        places = places_in(header["plan"])
        container, key = places[rng.integers(len(places))]
        container[key] = WRONG[rng.integers(len(WRONG))]
        return header

    for _ in range(count):
        try:
            load_model(io.BytesIO(with_header(content, change)))
        except CheckpointError:
            refused += 1
    assert refused > 0.6 * count
