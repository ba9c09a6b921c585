"""Saving, loading, resuming; and files that are missing, damaged, foreign, or never finished."""

import functools
import json
import os
import re
import stat

import numpy as np
import pytest

from minigrad import (
    LSTM,
    SGD,
    Adam,
    AdamW,
    BatchNorm,
    Buffer,
    CheckpointError,
    Conv2d,
    Dropout,
    Layer,
    Learner,
    Linear,
    MultiHeadAttention,
    ReLU,
    RMSProp,
    Sequential,
    Tanh,
    TransformerBlock,
    chain,
    cross_entropy,
    load,
    moons,
    mse,
    replica,
    save,
)
from minigrad.parts import named_parts

X, T = moons(53)


class Forgets(Layer):
    """Drops each entry with a chance of one in five while training, and counts its batches."""

    def __init__(self, rng):
        self.rng = np.random.default_rng(rng)
        self.batches = Buffer([0.0])

    def forward(self, X, training=False):
        if not training:
            return X, lambda dY: dY
        self.batches.data += 1
        keep = (self.rng.random(X.shape) < 0.8) / 0.8
        return X * keep, lambda dY: dY * keep


class AdaGrad:
    """Another optimizer, which does not count its steps."""

    def __init__(self):
        self.memory = {}

    def step(self, parameters):
        for parameter in parameters:
            squares = self.memory.setdefault(parameter, {"squares": np.zeros_like(parameter.data)})["squares"]
            squares += parameter.grad * parameter.grad
            parameter.data -= 0.1 * parameter.grad / np.sqrt(squares + 1e-8)


def model(seed=0, hidden=7):
    rng = np.random.default_rng(seed)
    return Linear(2, hidden, rng=rng) >> ReLU() >> Forgets(rng) >> chain(Linear(hidden, 2, rng=rng), ReLU())


def learner(seed=0, optimizer=None):
    optimizer = optimizer or SGD(lambda step: 0.1 / (1 + 0.01 * step), momentum=0.9, nesterov=True)
    return Learner(model(seed), cross_entropy, optimizer, rng=seed)


def everything(thing):
    """Return all that a model or a learner has to remember, as text."""
    model, optimizer = getattr(thing, "model", thing), getattr(thing, "optimizer", None)
    memory = getattr(optimizer, "memory", {})
    parts = [part for _, part in named_parts(model) if isinstance(part, np.random.Generator)]
    parts += [thing.rng] if model is not thing else []
    values = {
        "data": [p.data.tolist() for p in [*model.parameters(), *model.buffers()]],
        "grad": [p.grad.tolist() for p in model.parameters()],
        "trainable": [p.trainable for p in model.parameters()],
        "frozen": {name: layer.frozen for name, layer in model.named_layers().items()},
        "memory": [memory.get(p, {}) for p in model.parameters()],
        "generators": [part.bit_generator.state for part in parts],
        "counts": [getattr(thing, "progress", None), getattr(optimizer, "steps", None)],
    }
    return json.dumps(values, default=np.ndarray.tolist)


@pytest.fixture
def trained(tmp_path):
    """Return a trained learner and the path of its checkpoint."""
    thing = learner()
    thing.fit(X, T, epochs=2)
    save(tmp_path / "run.npz", thing)
    return thing, tmp_path / "run.npz"


def untouched(error, sentence, path, thing):
    """Load what cannot be loaded: the error says so, and nothing has changed."""
    before = everything(thing)
    with pytest.raises(error, match=sentence):
        load(path, thing)
    assert everything(thing) == before


# Resuming


def test_a_resumed_run_equals_an_unbroken_one_bit_for_bit(tmp_path):
    unbroken = learner()
    losses = unbroken.fit(X, T, epochs=4, batch_size=11)["loss"]

    first = learner()
    first_losses = first.fit(X, T, epochs=2, batch_size=11)["loss"]
    save(tmp_path / "half.npz", first)
    second = load(tmp_path / "half.npz", learner(seed=1))
    second_losses = second.fit(X, T, epochs=2, batch_size=11)["loss"]

    assert first_losses + second_losses == losses
    assert everything(second) == everything(unbroken)
    assert second.epoch == 4
    assert second.history["epoch"] == [1, 2, 3, 4] and second.history == unbroken.history


def test_without_the_checkpoint_the_run_would_differ():
    first, second = learner(), learner(seed=1)
    assert first.fit(X, T, epochs=2)["loss"] != second.fit(X, T, epochs=2)["loss"]


@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM])
def test_any_generator_of_numpy_is_resumed(kind, tmp_path):
    def layer(seed):
        return Forgets(np.random.Generator(kind(seed)))

    first = layer(0)
    first.rng.random(7)
    save(tmp_path / "layer.npz", first)
    second = load(tmp_path / "layer.npz", layer(1))
    np.testing.assert_array_equal(first.rng.random(7), second.rng.random(7))


def test_an_optimizer_that_does_not_count_is_resumed_too(tmp_path):
    first = learner(optimizer=AdaGrad())
    first.fit(X, T)
    save(tmp_path / "run.npz", first)
    second = load(tmp_path / "run.npz", learner(seed=1, optimizer=AdaGrad()))
    assert first.fit(X, T)["loss"] == second.fit(X, T)["loss"]


def test_float32_stays_float32(tmp_path):
    first = Linear(2, 1, rng=0).to(np.float32)
    save(tmp_path / "layer.npz", first)
    second = load(tmp_path / "layer.npz", Linear(2, 1, rng=1).to(np.float32))
    np.testing.assert_array_equal(second.W.data, first.W.data, strict=True)
    assert second.W.grad.dtype == np.float32


# A model alone


def test_a_model_is_loaded_from_a_model(tmp_path):
    first = model()
    save(tmp_path / "model.npz", first)
    second = load(tmp_path / "model.npz", model(seed=1))
    np.testing.assert_array_equal(second.predict(X), first.predict(X))


def test_a_model_is_loaded_from_a_learner(trained):
    thing, path = trained
    fresh = load(path, model(seed=1))
    np.testing.assert_array_equal(fresh.predict(X), thing.predict(X))


def test_a_learner_is_not_loaded_from_a_model(tmp_path):
    save(tmp_path / "model.npz", model())
    sentence = re.escape("(learner): nothing in the file, Learner here")
    untouched(CheckpointError, sentence, tmp_path / "model.npz", learner())


def test_a_plain_function_is_saved_by_what_its_closure_holds(tmp_path):
    first, second = (chain(Linear(2, 7, rng=seed), ReLU()) for seed in (0, 1))
    save(tmp_path / "chain.npz", first)
    load(tmp_path / "chain.npz", second)
    np.testing.assert_array_equal(first(X)[0], second(X)[0])


def test_a_layer_with_an_attribute_called_model_is_a_layer(tmp_path):
    class Wraps(Layer):
        def __init__(self, seed):
            self.model = Linear(2, 1, rng=seed)
            self.scale = Linear(1, 1, rng=seed)

    first = Wraps(0)
    save(tmp_path / "layer.npz", first)
    second = load(tmp_path / "layer.npz", Wraps(1))
    assert second.scale.W.data == first.scale.W.data


def test_loading_zeroes_the_gradients_and_forgets_the_old_memory(trained):
    thing, path = trained
    other = learner(seed=1)
    other.fit(X, T)
    parameters = other.model.parameters()
    other.optimizer.memory[parameters[0]]["of another"] = np.ones(3)
    load(path, other)
    assert not any(p.grad.any() for p in parameters)
    assert [list(other.optimizer.memory[p]) for p in parameters] == [["steps", "velocity"]] * 4
    assert not any(hasattr(buffer, "grad") for buffer in other.model.buffers())


# The file


def test_a_checkpoint_holds_arrays_and_json_and_no_code(trained):
    _, path = trained
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].item())
        names = set(file.files)
    assert (header["format"], header["states"]["(learner)"]["epoch"]) == (3, 2)
    assert header["facts"]["(optimizer)"] == "SGD"
    assert {"data/layers.0.W", "memory/(optimizer)/layers.0.W/velocity", "data/layers.2.batches"} < names


def test_folders_are_made_and_the_name_is_kept(tmp_path):
    save(str(tmp_path / "new" / "folder" / "run"), Linear(2, 1, rng=0))
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["run"]


def test_a_checkpoint_may_be_read_by_whoever_may_read_your_files(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    save(tmp_path / "run.npz", Linear(2, 1, rng=0))
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "run.npz")]
    assert modes[0] == modes[1]


def fails_halfway(error):
    """Return a savez that writes some bytes and then fails."""

    def savez(file, **arrays):
        file.write(b"PK half a checkpoint")
        raise error

    return savez


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_write_that_fails_leaves_the_old_checkpoint_whole(trained, monkeypatch, error):
    thing, path = trained
    before = path.read_bytes()
    thing.fit(X, T)
    monkeypatch.setattr(np, "savez", fails_halfway(error))
    with pytest.raises(type(error)):
        save(path, thing)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["run.npz"]


def test_a_write_that_fails_leaves_no_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("Read-only file system")))
    with pytest.raises(OSError, match="Read-only"):
        save(tmp_path / "run.npz", Linear(2, 1, rng=0))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_is_an_error(tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("minigrad.checkpoint.open", refuse, raising=False)
    with pytest.raises(PermissionError, match="run.npz"):
        save(tmp_path / "run.npz", Linear(2, 1, rng=0))
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(OSError, match="file"):
        save(tmp_path / "file" / "run.npz", Linear(2, 1, rng=0))
    assert (tmp_path / "file").read_text() == "text"


# What cannot be loaded


def test_a_missing_checkpoint_is_named(tmp_path):
    sentence = re.escape(f"there is no checkpoint {tmp_path / 'no.npz'}: check the path, or save one first.")
    untouched(CheckpointError, sentence, tmp_path / "no.npz", learner())


def test_a_folder_is_no_checkpoint_and_becomes_none(tmp_path):
    untouched(CheckpointError, f"there is no checkpoint {tmp_path}", tmp_path, learner())
    with pytest.raises(CheckpointError, match=r"is a folder: name a file in it, such as .*run\.npz"):
        save(tmp_path, learner())


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_loads_nothing(trained, share):
    _, path = trained
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    untouched(CheckpointError, "is not a checkpoint, or is damaged", path, learner(seed=1))


def test_a_flipped_byte_loads_nothing_or_changes_nothing(tmp_path):
    path, first = tmp_path / "layer.npz", Linear(2, 1, rng=0)
    save(path, first)
    whole = path.read_bytes()
    refused = 0
    for i in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[i] ^= 0xFF
        path.write_bytes(damaged)
        second = Linear(2, 1, rng=1)
        before = second.W.data.copy()
        try:
            load(path, second)
        except CheckpointError:
            refused += 1
            np.testing.assert_array_equal(second.W.data, before)
        else:  # a byte that says nothing about the numbers, such as a date
            np.testing.assert_array_equal(second.W.data, first.W.data)
    assert refused > len(whole) / 7 / 2


@pytest.mark.parametrize("content", ["text", "array", "archive", "archive with a header", "pickle"])
def test_a_foreign_file_is_no_checkpoint(tmp_path, content):
    path = tmp_path / "foreign.npz"
    with open(path, "wb") as file:
        if content == "text":
            file.write(b"epoch,loss\n1,0.5\n")
        elif content == "array":
            np.save(file, np.zeros(3))
        elif content == "archive":
            np.savez(file, W=np.zeros((2, 7)))
        elif content == "archive with a header":
            np.savez(file, header=np.zeros(3))
        else:
            np.savez(file, header=np.array([{"format": 1}], dtype=object))
    untouched(CheckpointError, "is not a checkpoint, or is damaged .*: use another", path, learner())


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_a_foreign_file_runs_no_code(tmp_path):
    path, folder = tmp_path / "trap.npz", tmp_path / "sprung"
    header = np.array(json.dumps({"format": 1}))
    np.savez(path, header=header, trap=np.array([Trap(folder)], dtype=object))
    untouched(CheckpointError, "is not a checkpoint, or is damaged", path, learner())
    assert not folder.exists()
    np.load(path, allow_pickle=True)["trap"]
    assert folder.exists()  # so would it have gone


def test_a_checkpoint_of_a_later_format_is_refused(tmp_path):
    path = tmp_path / "later.npz"
    np.savez(path, header=np.array(json.dumps({"format": 4})))
    untouched(CheckpointError, "its format is 4, and this version reads 3", path, learner())


def test_a_checkpoint_of_another_model_says_what_differs(trained):
    _, path = trained
    other = Learner(model(hidden=11), cross_entropy, SGD(0.1, momentum=0.9))
    sentence = re.escape(
        "layers.0.W: float64 (2, 7) in the file, float64 (2, 11) here; layers.0.b: float64 (7,) in"
    )
    untouched(CheckpointError, sentence, path, other)


def test_a_checkpoint_with_more_or_fewer_parameters_says_which(trained):
    _, path = trained
    longer = learner()
    longer.model.layers.append(Linear(2, 2, rng=0))
    untouched(
        CheckpointError, re.escape("layers.4.W: nothing in the file, float64 (2, 2) here"), path, longer
    )
    shorter = learner()
    del shorter.model.layers[3]
    sentence = re.escape("layers.3.layers.0.W: float64 (7, 2) in the file, nothing here")
    untouched(CheckpointError, sentence, path, shorter)


def test_a_checkpoint_of_another_optimizer_is_refused(trained):
    _, path = trained
    thing = learner(optimizer=AdaGrad())
    thing.optimizer.steps = 0
    sentence = r"\(optimizer\): SGD in the file, AdaGrad here"
    untouched(CheckpointError, sentence, path, thing)


def test_a_checkpoint_with_another_kind_of_generator_is_refused(trained):
    _, path = trained
    thing = learner()
    thing.model.layers[2].rng = np.random.Generator(np.random.MT19937(0))
    untouched(CheckpointError, "layers.2.rng: PCG64 in the file, MT19937 here", path, thing)


def test_a_checkpoint_without_a_generator_is_refused(trained, tmp_path):
    thing = learner()
    del thing.model.layers[2].rng
    save(tmp_path / "less.npz", thing)
    untouched(
        CheckpointError,
        "layers.2.rng: nothing in the file, PCG64 here",
        tmp_path / "less.npz",
        learner(),
    )


def test_a_shared_layer_is_stored_once(tmp_path):
    shared = Linear(2, 2, rng=0)
    save(tmp_path / "shared.npz", shared >> ReLU() >> shared)
    with np.load(tmp_path / "shared.npz") as file:
        assert sorted(file.files) == ["data/layers.0.W", "data/layers.0.b", "header"]
    other = Linear(2, 2, rng=1)
    load(tmp_path / "shared.npz", other >> ReLU() >> other)
    np.testing.assert_array_equal(other.W.data, shared.W.data)


def test_training_goes_on_after_loading(trained):
    _, path = trained
    thing = load(path, learner(seed=1))
    assert thing.fit(X, T)["epoch"] == [3]
    assert mse(thing.predict(X), np.zeros((53, 2)))[0] > 0


# Everything that a run remembers


OPTIMIZERS = {
    "SGD": lambda: SGD(0.1, momentum=0.9),
    "Adam": lambda: Adam(0.05),
    "AdamW": lambda: AdamW(0.05),
    "RMSProp": lambda: RMSProp(0.01),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_run_with_a_layer_that_was_frozen_for_a_while_goes_on_bit_for_bit(make, tmp_path):
    def until(epoch, thing):
        while thing.epoch < epoch:
            thing.model.layers[0].freeze(
                thing.epoch in (1, 2)
            )  # frozen when the file is written, and later not
            thing.fit(X, T, batch_size=11)
        return thing

    unbroken = until(5, learner(optimizer=make()))
    for pause in (1, 2, 3, 4):
        save(tmp_path / "run.npz", until(pause, learner(optimizer=make())))
        resumed = load(tmp_path / "run.npz", learner(seed=9, optimizer=make()))
        assert everything(until(5, resumed)) == everything(unbroken)


def test_what_is_frozen_is_frozen_after_loading(tmp_path):
    first = BatchNorm(2) >> Linear(2, 7, rng=0) >> Forgets(0) >> Linear(7, 2, rng=0)
    first.layers[0].freeze()
    first.layers[2].freeze()
    first.layers[3].b.trainable = False
    save(tmp_path / "model.npz", first)
    second = BatchNorm(2) >> Linear(2, 7, rng=1) >> Forgets(1) >> Linear(7, 2, rng=1)
    second.layers[1].freeze()
    load(tmp_path / "model.npz", second)
    assert everything(second) == everything(first)
    assert [p.trainable for p in second.parameters()] == [False, False, True, True, True, False]


def test_a_model_is_saved_without_the_memory_of_an_optimizer(trained, tmp_path):
    thing, _ = trained
    save(tmp_path / "model.npz", thing.model)
    with np.load(tmp_path / "model.npz") as file:
        assert not [name for name in file.files if name.startswith("memory/")]


def test_the_memory_of_a_parameter_that_the_model_has_no_longer_is_left_out(trained, tmp_path):
    thing, _ = trained
    thing.model.layers[3] = chain(Linear(7, 2, rng=5), ReLU())
    save(tmp_path / "other.npz", thing)
    resumed = load(tmp_path / "other.npz", learner(seed=1))
    assert len(thing.optimizer.memory) == 4 and len(resumed.optimizer.memory) == 2


def test_the_settings_of_an_optimizer_are_yours(tmp_path):
    save(tmp_path / "run.npz", learner(optimizer=Adam(0.1)))
    loaded = load(tmp_path / "run.npz", learner(optimizer=Adam(0.2, beta1=0.8))).optimizer
    assert (loaded.learning_rate, loaded.beta1) == (0.2, 0.8)


def test_another_model_of_the_same_shapes_is_refused(tmp_path):
    def net(bend, rate=0.1):
        return Linear(2, 7, rng=0) >> Dropout(rate, rng=0) >> bend

    path = tmp_path / "model.npz"
    save(path, net(ReLU()))
    sentence = "^[^;]* nothing was loaded. layers.2: ReLU() in the file, Tanh() here.$"
    untouched(CheckpointError, sentence.replace("(", r"\(").replace(")", r"\)"), path, net(Tanh()))
    untouched(CheckpointError, r"layers\.1: Dropout\(0\.1\) .* Dropout\(0\.2\)", path, net(ReLU(), 0.2))
    save(path, Sequential(np.tanh))
    untouched(CheckpointError, "layers.0: tanh in the file, sin here", path, Sequential(np.sin))


def conv(**settings):
    return Conv2d(3, 3, kernel=3, **settings, rng=0)


SAME_SHAPES = {
    "stride": (conv(), conv(stride=2)),
    "padding": (conv(), conv(padding="same")),
    "the states that leave": (LSTM(3, 5, rng=0), LSTM(3, 5, last=True, rng=0)),
    "heads": (MultiHeadAttention(6, 2, rng=0), MultiHeadAttention(6, 3, rng=0)),
    "causal": (TransformerBlock(6, 2, rng=0), TransformerBlock(6, 2, causal=True, rng=0)),
}


@pytest.mark.parametrize(("saved", "other"), SAME_SHAPES.values(), ids=SAME_SHAPES)
def test_a_setting_that_changes_results_is_compared(saved, other, tmp_path):
    save(tmp_path / "model.npz", saved)
    untouched(CheckpointError, "does not fit", tmp_path / "model.npz", other)


class Scale:
    """Not a Layer, and without a __repr__ or a name: Python shows its address."""

    def __call__(self, X):
        return 2 * X, lambda dY: 2 * dY


def test_an_address_is_not_compared(tmp_path):
    saved, other = (Sequential(Scale(), functools.partial(Scale())) for _ in range(2))
    assert repr(saved) != repr(other)
    save(tmp_path / "model.npz", saved)
    load(tmp_path / "model.npz", other)


def test_a_float_type_is_not_converted_in_silence(tmp_path):
    path = tmp_path / "model.npz"
    save(path, model().to(np.float32))
    sentence = re.escape("layers.0.W: float32 (2, 7) in the file, float64 (2, 7) here")
    untouched(CheckpointError, sentence, path, model(1))
    assert load(path, model(1).to(np.float32)).layers[0].W.data.dtype == np.float32


def test_many_differences_are_counted(tmp_path):
    save(tmp_path / "model.npz", chain(*(Linear(2, 2, rng=0) for _ in range(5))))
    other = chain(*(Linear(3, 3, rng=0) for _ in range(5)))
    untouched(CheckpointError, "; and 5 more.$", tmp_path / "model.npz", other)


def test_loading_reaches_the_replicas(tmp_path):
    here = model()
    twin = replica(here)
    save(tmp_path / "model.npz", model(seed=1))
    load(tmp_path / "model.npz", here)
    np.testing.assert_array_equal(twin.predict(X), model(seed=1).predict(X))


def test_a_memory_that_no_file_can_hold_is_refused_when_it_is_written(tmp_path):
    thing = learner(optimizer=AdaGrad())
    thing.optimizer.memory = {thing.model.parameters()[0]: {"row": np.ones(7)}}
    with pytest.raises(
        ValueError, match=r"layers\.0\.W/row is neither a count nor like its parameter, but float64"
    ):
        save(tmp_path / "run.npz", thing)
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_a_layer_calls_data_is_no_parameter(tmp_path):
    class Table(Layer):
        def __init__(self, numbers):
            self.data = np.array(numbers)

    save(tmp_path / "model.npz", Table([1, 2]).freeze())
    other = load(tmp_path / "model.npz", Table([3, 4, 5]))
    assert other.data.tolist() == [3, 4, 5] and other.frozen is True


# Several things in one file, and a part of them


def gan(seed=0):
    """Return two learners that train against each other; the first one's model runs through the second's."""
    rng = np.random.default_rng(seed)
    judge = Linear(2, 5, rng=rng) >> Tanh() >> Linear(5, 1, rng=rng)
    forger = Linear(2, 3, rng=rng) >> Tanh() >> Linear(3, 2, rng=rng)
    return {
        "generator": Learner(Sequential(forger, judge), mse, Adam(0.01), rng=seed),
        "discriminator": Learner(judge, mse, RMSProp(0.01), rng=seed + 1),
    }


def test_two_learners_go_on_from_one_file_bit_for_bit(tmp_path):
    def train(learners):
        for one in learners.values():
            one.fit(X, X[:, :1], batch_size=11)

    unbroken, broken = gan(), gan()
    for learners in (unbroken, unbroken, broken):
        train(learners)
    save(tmp_path / "gan.npz", broken)
    resumed = gan(seed=7)
    assert load(tmp_path / "gan.npz", resumed) is resumed
    train(resumed)
    for name, one in unbroken.items():
        assert everything(resumed[name]) == everything(one)


def test_models_and_optimizers_may_stand_side_by_side(tmp_path):
    thing = learner(0, Adam(0.1))
    thing.fit(X, T)
    thing.model.zero_grad()
    save(tmp_path / "run.npz", {"model": thing.model, "adam": thing.optimizer})
    other = learner(1, Adam(0.1))
    load(tmp_path / "run.npz", {"model": other.model, "adam": other.optimizer})
    other.progress, other.rng = thing.progress, thing.rng
    assert everything(other) == everything(thing)


# What is no model, and no path


class Nothing:
    """Something that can be neither called nor trained."""


@pytest.mark.parametrize(
    "thing",
    [None, [model()], "model.npz", 3, Nothing(), {"model": None}, {"a": {"b": model()}}],
    ids=["None", "list", "text", "number", "object", "dict with None", "dict of dicts"],
)
def test_what_is_no_model_is_neither_saved_nor_loaded(trained, tmp_path, thing):
    _, path = trained
    for attempt in (lambda: save(tmp_path / "new.npz", thing), lambda: load(path, thing)):
        with pytest.raises(TypeError, match="expected a model, a Learner, or a dict of these"):
            attempt()
    assert not (tmp_path / "new.npz").exists()


@pytest.mark.parametrize(
    "thing", [SGD(0.1), {"optimizer": Adam(0.1)}, {}], ids=["optimizer", "in a dict", "nothing"]
)
def test_an_optimizer_alone_is_not_saved(tmp_path, thing):
    with pytest.raises(TypeError, match="there is no model: an optimizer's memory belongs to Parameters"):
        save(tmp_path / "new.npz", thing)


def test_a_class_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="create one, "):
        save(tmp_path / "new.npz", ReLU)


def test_arguments_in_the_wrong_order_are_refused(trained):
    thing, path = trained
    for attempt in (
        lambda: save(thing.model, path),
        lambda: load(thing.model, path),
        lambda: load(None, thing),
    ):
        with pytest.raises(TypeError, match="PathLike|expected a model"):
            attempt()


def test_a_text_is_not_said_to_be_loaded_unsafely(tmp_path):
    (tmp_path / "notes.txt").write_text("epoch,loss\n1,0.5\n")
    with pytest.raises(CheckpointError) as error:
        load(tmp_path / "notes.txt", model())
    assert "is not a checkpoint" in str(error.value) and "safe" not in str(error.value)
