"""Saving, loading, resuming; and files that are missing, damaged, foreign, or never finished."""

import json
import os
import re
import stat

import numpy as np
import pytest

from minigrad import (
    SGD,
    Buffer,
    CheckpointError,
    Layer,
    Learner,
    Linear,
    ReLU,
    chain,
    cross_entropy,
    load,
    moons,
    mse,
    save,
)

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

    def step(self, parameters):
        for parameter in parameters:
            squares = parameter.state.setdefault("squares", np.zeros_like(parameter.data))
            squares += parameter.grad * parameter.grad
            parameter.data -= 0.1 * parameter.grad / np.sqrt(squares + 1e-8)


def model(seed=0, hidden=7):
    rng = np.random.default_rng(seed)
    return Linear(2, hidden, rng=rng) >> ReLU() >> Forgets(rng) >> chain(Linear(hidden, 2, rng=rng), ReLU())


def learner(seed=0, optimizer=None):
    optimizer = optimizer or SGD(lambda step: 0.1 / (1 + 0.01 * step), momentum=0.9, nesterov=True)
    return Learner(model(seed), cross_entropy, optimizer, rng=seed)


def everything(thing):
    """Return all that a learner has to remember, as text."""
    parts = thing.model.parameters()
    values = {
        "data": [p.data.tolist() for p in [*parts, *thing.model.buffers()]],
        "grad": [p.grad.tolist() for p in parts],
        "state": [{name: array.tolist() for name, array in p.state.items()} for p in parts],
        "generators": [thing.rng.bit_generator.state, thing.model.layers[2].rng.bit_generator.state],
        "counts": (thing.epoch, thing.optimizer.steps),
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
    sentence = "optimizer: nothing in the file, SGD here"
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


def test_loading_zeroes_the_gradients_and_forgets_the_old_state(trained):
    _, path = trained
    other = learner(seed=1)
    other.fit(X, T)
    other.model.parameters()[0].state["of another"] = np.ones(3)
    load(path, other)
    assert not any(p.grad.any() for p in other.model.parameters())
    assert [list(p.state) for p in other.model.parameters()] == [["velocity"]] * 4
    assert not any(hasattr(buffer, "grad") for buffer in other.model.buffers())


# The file


def test_a_checkpoint_holds_arrays_and_json_and_no_code(trained):
    _, path = trained
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        names = set(file.files)
    assert (header["format"], header["epoch"], header["optimizer"]) == (1, 2, "SGD")
    assert {"data/layers.0.W", "state/layers.0.W/velocity", "data/layers.2.batches"} < names


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
    sentence = re.escape(
        f"there is no checkpoint {tmp_path / 'no.npz'}: look at the path, or save one first."
    )
    untouched(CheckpointError, sentence, tmp_path / "no.npz", learner())


def test_a_folder_is_no_checkpoint(tmp_path):
    untouched(OSError, tmp_path.name, tmp_path, learner())


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_checkpoint_loads_nothing(trained, share):
    _, path = trained
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    untouched(CheckpointError, "is no checkpoint, or a damaged one", path, learner(seed=1))


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
    untouched(CheckpointError, "is no checkpoint, or a damaged one .*: use another", path, learner())


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
    untouched(CheckpointError, "is no checkpoint, or a damaged one", path, learner())
    assert not folder.exists()
    np.load(path, allow_pickle=True)["trap"]
    assert folder.exists()  # so would it have gone


def test_a_checkpoint_of_a_later_format_is_refused(tmp_path):
    path = tmp_path / "later.npz"
    np.savez(path, header=np.array(json.dumps({"format": 2})))
    untouched(CheckpointError, "is a checkpoint of format 2; this version reads 1", path, learner())


def test_a_checkpoint_of_another_model_says_what_differs(trained):
    _, path = trained
    other = Learner(model(hidden=11), cross_entropy, SGD(0.1, momentum=0.9))
    sentence = re.escape(
        "layers.0.W: shape (2, 7) in the file, shape (2, 11) here; layers.0.b: shape (7,) in"
    )
    untouched(CheckpointError, sentence, path, other)


def test_a_checkpoint_with_more_or_fewer_parameters_says_which(trained):
    _, path = trained
    longer = learner()
    longer.model.layers.append(Linear(2, 2, rng=0))
    untouched(CheckpointError, re.escape("layers.4.W: nothing in the file, shape (2, 2) here"), path, longer)
    shorter = learner()
    del shorter.model.layers[3]
    sentence = re.escape("layers.3.first.W: shape (7, 2) in the file, nothing here")
    untouched(CheckpointError, sentence, path, shorter)


def test_a_checkpoint_of_another_optimizer_is_refused(trained):
    _, path = trained
    thing = learner(optimizer=AdaGrad())
    thing.optimizer.steps = 0
    untouched(CheckpointError, "optimizer: SGD in the file, AdaGrad here", path, thing)


def test_a_checkpoint_with_another_kind_of_generator_is_refused(trained):
    _, path = trained
    thing = learner()
    thing.model.layers[2].rng = np.random.Generator(np.random.MT19937(0))
    untouched(CheckpointError, "generator layers.2.rng: PCG64 in the file, MT19937 here", path, thing)


def test_a_checkpoint_without_a_generator_is_refused(trained, tmp_path):
    thing = learner()
    del thing.model.layers[2].rng
    save(tmp_path / "less.npz", thing)
    untouched(
        CheckpointError,
        "generator layers.2.rng: nothing in the file, PCG64 here",
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
