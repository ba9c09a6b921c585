"""Workers are started, agree, and are ended: with MPI's own processes, and with the stand-in alike."""

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course.stand_ins import mpi
from minigrad import SGD, Learner, Linear, Tanh, average_gradients, broadcast, mse

FACTOR = 3
TABLE = np.ones(3)

processes = pytest.mark.skipif(not mpi.real(), reason=mpi.find_mpi()[1])
BOTH = [pytest.param(False, marks=processes, id="processes"), pytest.param(True, id="stand-in")]


# what the workers do


def ring(world, mine):
    total, count, rank = mine.copy(), world.size, world.rank
    pieces, sent = np.array_split(total, count), []
    for step in range(2 * (count - 1)):
        out, into = pieces[(rank - step) % count], pieces[(rank - step - 1) % count]
        came = np.empty_like(into)
        world.Sendrecv(out, dest=(rank + 1) % count, recvbuf=came, source=(rank - 1) % count)
        sent.append(out.nbytes)
        into[...] = into + came if step < count - 1 else came
    return total, sent


def both_sums(world, size=7, dtype="float64"):
    mine = np.random.default_rng(world.rank).normal(size=size).astype(dtype)
    total = np.empty_like(mine)
    world.Allreduce(mine, total)
    return ring(world, mine), total


def trained(world, dtype="float64", cuts=None):
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(11, 3)).astype(dtype), rng.normal(size=(11, 2)).astype(dtype)
    model = Linear(3, 5, rng=world.rank) >> Tanh() >> Linear(5, 2, rng=world.rank)
    broadcast(model, world)
    model.to(dtype)
    X, T = (np.split(part, cuts or _even(11, world.size))[world.rank] for part in (X, T))
    learner = Learner(model, mse, SGD(learning_rate=0.1))
    learner.before_step = lambda parameters: average_gradients(parameters, world, len(X))
    losses = [learner.fit_batch(X, T) * len(X) / 11 for _ in range(5)]
    return np.array(losses), model.layers[0].W.data


def _even(count, size):
    return [count * part // size for part in range(1, size)]


def words(world, factor=FACTOR, name="ada"):
    data = np.array([world.rank * 10.0 + 7])
    world.Bcast(data, root=1)
    world.Barrier()
    return {"rank": world.rank, "size": world.size, "got": data, "said": (name, factor, math.floor(2.5))}


def send_first(world, size=8):
    mine, came = np.full(size, float(world.rank)), np.empty(size)
    world.Send(mine, dest=(world.rank + 1) % world.size)
    world.Recv(came, source=(world.rank - 1) % world.size)
    return came[0]


def breaks(world):
    if world.rank == 2:
        raise ValueError("this share cannot be read")
    world.Barrier()


def ends_python(world):
    if world.rank == 1:
        os._exit(3)
    world.Barrier()


def needs_a_table(world):
    return TABLE[world.rank]


def waits(world):
    return waits.__name__, folder(world)


def folder(world):
    return 5


def rank_of(world):
    return world.rank, world.T if hasattr(world, "T") else None


# run


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert list(tmp_path.iterdir()) == []
    assert _running_in(tmp_path) == set()


def _running_in(folder):
    """Return the processes whose command line names a folder, where the system tells."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                found.add(path.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("pretend", BOTH)
def test_every_worker_knows_its_rank_and_gets_what_the_root_sends(pretend):
    found = mpi.run(words, workers=4, pretend=pretend, name="eve")
    assert [worker["rank"] for worker in found] == [0, 1, 2, 3]
    assert {worker["size"] for worker in found} == {4}
    assert [worker["got"].item() for worker in found] == [17.0] * 4
    assert {worker["said"] for worker in found} == {("eve", 3, 2)}


@pytest.mark.parametrize("pretend", BOTH)
@pytest.mark.parametrize(("workers", "size"), [(1, 7), (2, 7), (3, 2), (4, 7), (4, 40)])
def test_the_ring_agrees_with_the_sum_and_sends_less_than_two_arrays(workers, size, pretend):
    found = mpi.run(both_sums, workers=workers, size=size, pretend=pretend)
    truth = sum(np.random.default_rng(rank).normal(size=size) for rank in range(workers))
    for (total, sent), theirs in found:
        np.testing.assert_allclose(total, truth, rtol=1e-12, atol=1e-14)  # sums in another order
        np.testing.assert_allclose(theirs, truth, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(total, found[0][0][0])  # added up once, and copied
        assert len(sent) == 2 * (workers - 1)
        if size % workers == 0:
            assert sum(sent) == 2 * (workers - 1) * total.nbytes // workers


@pytest.mark.parametrize("pretend", BOTH)
def test_one_two_and_four_workers_have_the_same_losses(pretend):
    alone, W = mpi.run(trained, workers=1, pretend=True)[0]
    for workers in (2, 4):
        found = mpi.run(trained, workers=workers, pretend=pretend)
        np.testing.assert_allclose(sum(part for part, _ in found), alone, rtol=1e-12)
        for _, theirs in found:
            np.testing.assert_allclose(theirs, W, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("pretend", BOTH)
def test_uneven_shares_have_the_losses_of_the_whole(pretend):
    alone, _ = mpi.run(trained, workers=1, pretend=True)[0]
    found = mpi.run(trained, workers=4, cuts=(6, 9, 10), pretend=pretend)
    np.testing.assert_allclose(sum(part for part, _ in found), alone, rtol=1e-12)


@processes
def test_the_stand_in_finds_what_processes_find():
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-4)):
        real, pretended = (mpi.run(trained, workers=3, dtype=dtype, pretend=p) for p in (False, True))
        for (losses, W), (other_losses, other_W) in zip(real, pretended, strict=True):
            np.testing.assert_allclose(losses, other_losses, rtol=tolerance)
            np.testing.assert_allclose(W, other_W, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("pretend", BOTH)
def test_small_messages_are_stored(pretend):
    assert mpi.run(send_first, workers=4, pretend=pretend) == [3, 0, 1, 2]


@pytest.mark.parametrize("pretend", BOTH)
def test_a_deadlock_is_ended_and_told_worker_by_worker(pretend):
    with pytest.raises(mpi.WorkersFailed) as caught:
        mpi.run(send_first, workers=4, size=1_000_000, seconds=1, pretend=pretend)
    lines = str(caught.value).splitlines()
    assert ("Deadlock: each worker waits" if pretend else "Stopped after 1 seconds, still") in lines[0]
    assert [line.partition(" waits")[0] for line in lines[1:]] == [f"worker {rank}" for rank in range(4)]
    where = "to send to" if pretend else "world.Send(mine, dest="
    assert all(where in line for line in lines[1:])


@pytest.mark.parametrize("pretend", BOTH)
def test_who_fails_is_named_with_its_own_line_and_the_others_are_ended(pretend):
    with pytest.raises(mpi.WorkersFailed) as caught:
        mpi.run(breaks, workers=4, pretend=pretend)
    said = str(caught.value)
    assert said.startswith("Worker 2 failed. The others were stopped.")
    assert 'raise ValueError("this share cannot be read")' in said
    assert said.endswith("ValueError: this share cannot be read")
    assert "workers-" not in said and "mpi.py" not in said  # of no folder, and not of our own code


@processes
def test_a_worker_that_ends_without_a_word_is_noticed():
    with pytest.raises(mpi.WorkersFailed, match="no result from worker"):
        mpi.run(ends_python, workers=3, seconds=5)


def test_workers_of_the_stand_in_that_call_different_things_are_told():
    def work(world):
        world.Barrier() if world.rank else world.Bcast(np.ones(1))

    with pytest.raises(
        mpi.WorkersFailed, match="this worker calls Barrier, while another has called Bcast of 0"
    ):
        mpi.run(work, workers=2, pretend=True)


# the file


def test_the_file_holds_what_the_work_needs_and_nothing_else():
    text = mpi.text(words)
    assert text.startswith("import math\nimport numpy as np\n\nFACTOR = 3\n\n\ndef words(world, ")
    text = mpi.text(trained)
    assert "from minigrad import Learner\n" in text and "def _even(count, size):" in text
    assert "TABLE" not in text and "def ring" not in text


def test_the_file_is_python_that_runs_by_itself():
    scope = {}
    exec(compile(mpi.text(both_sums), "work.py", "exec"), scope)
    (total, _), theirs = mpi.run(both_sums, workers=1, pretend=True)[0]
    np.testing.assert_array_equal(total, theirs)
    assert callable(scope["ring"])


@processes
def test_a_function_may_have_any_name():
    assert mpi.run(waits, workers=1) == [("waits", 5)]


def test_an_attribute_is_no_name():
    assert "import" not in mpi.text(rank_of)


@pytest.mark.parametrize(
    ("work", "arguments", "sentence"),
    [
        (needs_a_table, {}, r"needs_a_table uses TABLE, of type ndarray, which the workers do not have"),
        (words, {"name": np.ones(2)}, "name is of type ndarray, which cannot be written"),
        (lambda world: 0, {}, "a function defined with def"),
        (3, {}, "a function defined with def, got 3"),
    ],
)
def test_what_cannot_be_written_down_is_refused(work, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        mpi.text(work, **arguments)


def test_a_closure_is_refused():
    kept = 5

    def work(world):
        return kept

    with pytest.raises(ValueError, match="work uses kept of its outer function"):
        mpi.text(work)


# where there is no MPI


@pytest.mark.parametrize(
    ("platform", "spec", "mpiexec", "said"),
    [
        ("emscripten", object(), "mpiexec", mpi.NO_PROCESSES),
        ("linux", None, "mpiexec", mpi.NO_MPI4PY),
        ("linux", object(), None, mpi.NO_MPIEXEC),
    ],
)
def test_what_is_missing_is_said_once_and_the_stand_in_works(
    platform, spec, mpiexec, said, monkeypatch, capsys
):
    monkeypatch.setattr(mpi, "sys", SimpleNamespace(platform=platform, executable=sys.executable))
    monkeypatch.setattr(mpi, "find_spec", lambda name: spec)
    monkeypatch.setattr(mpi, "shutil", SimpleNamespace(which=lambda name, path=None: mpiexec))
    monkeypatch.setattr(mpi, "_told", set())
    assert not mpi.real()
    assert mpi.run(send_first, workers=3) == mpi.run(send_first, workers=3) == [2, 0, 1]
    (line,) = capsys.readouterr().out.splitlines()
    assert "simulated" in line and said in line


def test_threads_take_turns_where_there_are_none(monkeypatch, capsys):
    with mpi.threads(3) as pool:
        assert list(pool.map(pow, [2, 3], [3, 2])) == [8, 9]
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(mpi, "sys", SimpleNamespace(platform="emscripten"))
    monkeypatch.setattr(mpi, "_told", set())
    for _ in range(2):
        with mpi.threads(3) as pool:
            assert list(pool.map(pow, [2, 3], [3, 2])) == [8, 9]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_open_mpi_is_allowed_more_workers_than_cores(monkeypatch):
    said = {"mpich": "HYDRA build details", "openmpi": "mpiexec (Open MPI) 5.0"}
    for name, version in said.items():
        monkeypatch.setattr(
            mpi.subprocess, "run", lambda *a, version=version, **k: SimpleNamespace(stdout=version)
        )
        command = mpi._oversubscribed([name, "-n", "4"])
        assert ("--oversubscribe" in command) == (name == "openmpi")
    assert subprocess is mpi.subprocess
