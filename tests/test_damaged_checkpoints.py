"""Damaged, foreign and forged checkpoints, by the thousand: each loads what was saved, or nothing."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from minigrad import Adam, CheckpointError, Learner, Linear, cross_entropy, load, save
from tests.test_checkpoint import Forgets, T, X, everything, untouched


def members_of(content):
    """Return the members of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members):
    """Return the bytes of an archive, whose own checksums are right."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(array):
    """Return an array as bytes."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def with_header(content, change):
    """Return a checkpoint in which a function has changed the header."""
    members = members_of(content)
    header = json.loads(np.load(io.BytesIO(members["header.npy"])).item())
    members["header.npy"] = npy(np.array(json.dumps(change(header)).encode()))
    return archive_of(members)


def flipped(content, rng):
    """Flip one bit."""
    damaged = bytearray(content)
    damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
    return bytes(damaged)


def cut(content, rng):
    """Lose what comes behind some place, or before it."""
    place = rng.integers(len(content))
    return content[:place] if rng.random() < 0.5 else content[place:]


def scrambled(content, rng):
    """Write zeros, or random bytes, over a stretch."""
    start, length = rng.integers(len(content)), rng.integers(1, 99)
    return content[:start] + rng.bytes(length) * (rng.random() < 0.5) + content[start + length :]


def swapped(content, rng):
    """Exchange the contents of two members."""
    members = members_of(content)
    one, other = rng.choice(list(members), 2, replace=False)
    return archive_of(members | {one: members[other], other: members[one]})


def without(content, rng):
    """Leave out a member, or call it something else."""
    members = members_of(content)
    name = rng.choice(list(members))
    part = members.pop(name)
    return archive_of(members if rng.random() < 0.5 else members | {"of-another": part})


def places_in(tree):
    """Return the (container, key) pairs of everything in a tree of dicts and lists."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [pair for key in keys for pair in [(tree, key), *places_in(tree[key])]]


WRONG = (None, True, -1, 3, 2.5, "text", [], {}, [1, 2], {"a": 1}, 1e400, 2**200)


def with_wrong_field(content, rng):
    """Give a field of the header another value, of any type, or leave it out."""

    def change(header):
        places = places_in(header)
        container, key = places[rng.integers(len(places))]
        if rng.random() < 0.3:
            del container[key]
        else:
            container[key] = WRONG[rng.integers(len(WRONG))]
        return header

    return with_header(content, change)


def with_wrong_array(content, rng):
    """Put another array, of any type, in the place of one; or a pickle."""
    members = members_of(content)
    name = rng.choice([name for name in members if name.startswith(("data", "memory"))])
    array = np.load(io.BytesIO(members[name]))
    kind = rng.choice(["float32", "int64", "complex128", "U8", "object", "reshaped", "pickle"])
    if kind == "pickle":
        return archive_of(members | {name: pickle.dumps(array)})
    other = array[None] if kind == "reshaped" else (array + 1).astype(kind)
    return archive_of(members | {name: npy(other)})


def foreign(content, rng):
    """Something else altogether."""
    kinds = [b"", b"epoch,loss\n1,0.5\n", pickle.dumps({"W": [1.0]}), rng.bytes(300), b"PK" + rng.bytes(99)]
    return kinds[rng.integers(len(kinds))]


DAMAGES = [flipped, cut, scrambled, foreign]
FORGERIES = [swapped, without, with_wrong_field, with_wrong_array]  # with the archive's checksums made anew


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Return the bytes of a small checkpoint of a learner."""
    thing = small()
    thing.fit(X, T, batch_size=20)
    path = tmp_path_factory.mktemp("fuzz") / "run.npz"
    save(path, thing)
    return path.read_bytes()


def small(seed=0):
    return Learner(Linear(2, 2, rng=seed) >> Forgets(seed), cross_entropy, Adam(0.1), rng=seed)


def refuses(damaged, whole, victim, before):
    """Load a damaged file: tell whether it was refused. Nothing was changed then, else all is what it was."""
    try:
        load(io.BytesIO(damaged), victim)
    except CheckpointError:
        assert everything(victim) == before
        return True
    assert everything(victim) == whole
    return False


@pytest.mark.parametrize("count", [50, pytest.param(2500, marks=pytest.mark.long)])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_loads_the_same_numbers_or_nothing(checkpoint, damage, count):
    rng = np.random.default_rng(DAMAGES.index(damage))
    whole, victim = everything(load(io.BytesIO(checkpoint), small(1))), small(2)
    before, refused = everything(victim), 0
    for _ in range(count):
        if refuses(damage(checkpoint, rng), whole, victim, before):
            refused += 1
        else:
            victim = small(2)
    assert refused > 0.6 * count


@pytest.mark.parametrize("count", [100, pytest.param(2500, marks=pytest.mark.long)])
@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_file_is_refused_or_can_be(checkpoint, forge, count):
    rng, victim, refused = np.random.default_rng(9), small(2), 0
    before = everything(victim)
    for _ in range(count):
        try:
            load(io.BytesIO(forge(checkpoint, rng)), victim)
            victim = small(2)
        except CheckpointError:
            refused += 1
            assert everything(victim) == before
    assert refused > 0.25 * count  # an array may be left out of a memory, say


def test_every_bit_of_a_small_file_may_flip(tmp_path):
    """As above, without choosing: a model of three numbers."""
    save(tmp_path / "model.npz", Linear(2, 1, rng=0))
    content = (tmp_path / "model.npz").read_bytes()
    whole, before = everything(Linear(2, 1, rng=0)), everything(Linear(2, 1, rng=1))
    for place in range(0, 8 * len(content), 41):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        refuses(bytes(damaged), whole, Linear(2, 1, rng=1), before)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["states", "(learner)"], -1),
        (["states", "(learner)"], True),
        (["states", "(optimizer)"], 2.0),
        (["states", "layers.0.W"], 1),
        (["states", "layers.1"], "no"),
        (["states", "layers.1.rng"], {"bit_generator": "PCG64"}),
        (["states", "(shuffle)", "state", "inc"], "many"),
        (["facts"], []),
        (["states"], {}),
        (["facts", "layers.0.W"], 3),
    ],
    ids=str,
)
def test_a_header_with_a_wrong_field_changes_nothing(checkpoint, place, value):
    def change(header):
        container = header
        for key in place[:-1]:
            container = container[key]
        container[place[-1]] = value
        return header

    untouched(CheckpointError, "damaged|does not fit", io.BytesIO(with_header(checkpoint, change)), small(1))


@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "bool", "complex128", "U8", "another shape"])
@pytest.mark.parametrize(
    "name", ["data/layers.0.W", "memory/(optimizer)/layers.0.W/mean", "data/layers.1.batches"]
)
def test_an_array_of_another_kind_changes_nothing(checkpoint, name, kind):
    members = members_of(checkpoint)
    array = np.load(io.BytesIO(members[f"{name}.npy"]))
    members[f"{name}.npy"] = npy(array[None] if kind == "another shape" else array.astype(kind))
    if name.startswith("memory") and kind == "float32":
        return  # a model that was converted has such a memory until its next step
    untouched(CheckpointError, "damaged", io.BytesIO(archive_of(members)), small(1))


def test_a_memory_of_a_parameter_that_nobody_knows_changes_nothing(checkpoint):
    members = members_of(checkpoint)
    members["memory/(optimizer)/layers.7.W/mean.npy"] = npy(np.zeros((2, 2)))
    untouched(CheckpointError, "layers.7.W", io.BytesIO(archive_of(members)), small(1))
