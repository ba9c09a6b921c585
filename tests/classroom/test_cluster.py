"""The cluster: the same marks as on one machine, even if workers or the scheduler fail."""

import asyncio
import json
import os
import signal
import sys
import time

import pytest
from distributed import LocalCluster

from classroom import __main__ as command
from classroom import cluster, crew, demo
from classroom.crew import Grader
from classroom.faults import GradingFault
from classroom.grade import grade
from classroom.queue import Queue
from classroom.submission import read_file
from classroom.version import version, version_of
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER, notebook
from tests.classroom.test_queue import KEY, RIGHT, given, hand_in, stored

NOW = version(CHAPTER)


@pytest.fixture(scope="module")
def workers():
    """Two workers on this machine, each a process of one thread; after one death a submission is given up."""
    import dask

    quick = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.deploy.lost-worker-timeout": "120s",  # on a busy machine a worker starts slowly
    }
    with dask.config.set(quick), _local(2, processes=True) as workers:
        yield workers


def _local(count, **options):
    return LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        dashboard_address=":0",
        host="127.0.0.1",
        protocol="tcp",
        **options,
    )


def run(queue, workers, grade=stand_ins.grade, now=NOW, **options):
    """Grade on the workers; return student to result."""
    return dict(cluster.grade_all(queue, Grader(grade, now, KEY), workers.scheduler_address, **options))


def pids(workers):
    return [nanny.pid for nanny in workers.workers.values()]


def test_a_class_has_the_same_marks_as_on_one_machine_though_a_worker_is_killed(tmp_path, workers):
    demo.make_class(tmp_path / "in", students=12)
    with Queue(tmp_path / "here", CHAPTER) as here, Queue(tmp_path / "there", CHAPTER) as there:
        for queue in (here, there):
            queue.take_in(tmp_path / "in", read_file)
        start = time.perf_counter()
        assert len(dict(crew.grade_all(here, Grader(grade, NOW, KEY), workers=2))) == 12
        alone = time.perf_counter() - start
        start, came = time.perf_counter(), []
        for student, _ in cluster.grade_all(there, Grader(grade, NOW, KEY), workers.scheduler_address):
            came.append(student)
            if len(came) == 3:
                os.kill(pids(workers)[0], signal.SIGKILL)
        print(f"12 submissions: {alone:.1f} s here, {time.perf_counter() - start:.1f} s on the cluster")
    assert sorted(came) == sorted(set(came)) and len(came) == 12
    assert stored(tmp_path / "here") == stored(tmp_path / "there")


def test_the_command_grades_on_the_workers_and_again_is_a_no_op(tmp_path, workers, monkeypatch, capsys):
    monkeypatch.setattr("classroom.grade.grade", stand_ins.grade)
    for student in ("anna", "ben"):
        hand_in(tmp_path / "in", student, right=["scale"])
    (tmp_path / "in" / "cleo").mkdir()
    arguments = ["grade", str(tmp_path / "in"), "--chapter", CHAPTER, "--out", str(tmp_path / "out")]
    arguments += ["--scheduler", workers.scheduler_address]
    assert command.main(arguments) == 0
    printed = capsys.readouterr()
    assert "Students: 3, with a mark: 2." in printed.out and "3/3" in printed.err  # the bar
    before = stored(tmp_path / "out")
    monkeypatch.setattr(cluster, "_connected", None)  # no worker is needed any more
    assert command.main(arguments) == 0 and stored(tmp_path / "out") == before


def test_a_submission_that_ends_its_workers_is_not_graded_and_the_others_are(queue, workers):
    given(queue, anna=RIGHT, ben={"do": "die"}, cleo=RIGHT)
    results = run(queue, workers)
    assert [results[name].points for name in ("anna", "ben", "cleo")] == [2, None, 2]
    fault = "not graded, because 2 grading processes died on it, one after the other."
    assert results["ben"].fault == fault
    assert [student for student, _ in queue.open(NOW)] == ["ben"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"do": "raise"}, "the grader raised ValueError: a fault of the grader"),
        ({"do": "fault"}, "the sandbox does not start"),
        ({"do": "rubbish", "rubbish": {"points": 14}}, "this is not a result"),
    ],
)
def test_a_fault_on_a_worker_is_no_mark(queue, workers, told, words):
    given(queue, ben=told)
    (result,) = run(queue, workers).values()
    assert result.points is None and words in result.fault


def test_a_worker_of_another_version_is_refused_and_both_are_named(queue, workers):
    given(queue, anna={})
    other = "0123456789abcdef" * 4
    with pytest.raises(GradingFault) as refused:
        run(queue, workers, now=other)
    assert other[:12] in str(refused.value) and NOW[:12] in str(refused.value)
    assert any(address in str(refused.value) for address in workers.scheduler_info["workers"])
    assert stored(queue.folder) == []


class Worker:
    """A worker's description of itself."""

    address = "tcp://10.0.0.7:40001"

    def __init__(self, threads):
        self.state = type("State", (), {"nthreads": threads})


@pytest.mark.parametrize(
    ("threads", "open_door", "words"),
    [
        (4, None, "must have one thread, and has 4: start it with --nthreads 1"),
        (1, GradingFault("not graded, because the program bwrap is not here."), "bwrap is not here"),
        (1, None, None),
    ],
)
def test_a_worker_must_have_one_thread_and_a_sandbox(monkeypatch, threads, open_door, words):
    def look(unsafe):
        if open_door:
            raise open_door

    monkeypatch.setattr("distributed.get_worker", lambda: Worker(threads))
    monkeypatch.setattr("classroom.escape.try_to_escape", look)
    cluster._require_fit.cache_clear()
    unfit, answer = cluster._serve(stand_ins.grade, (notebook(), CHAPTER, 1, False, 10.0), NOW)
    assert (answer is None) == (words is not None)
    assert unfit is None if words is None else words in unfit and Worker.address in unfit
    cluster._require_fit.cache_clear()


def test_a_worker_is_of_the_version_that_it_has_loaded(monkeypatch):
    loaded = cluster._fingerprints()[CHAPTER]
    monkeypatch.setattr(cluster, "fingerprint", lambda *_: "of the files as they are by now")
    assert cluster._fingerprints()[CHAPTER] == loaded
    assert version_of(loaded, False, 10.0) == NOW != version_of(loaded, True, 10.0)


def test_a_worker_that_hangs_ends_itself(monkeypatch):
    ended = []
    monkeypatch.setattr(cluster, "longest", lambda seconds: 0.05)
    monkeypatch.setattr(cluster, "_require_fit", lambda *_: None)
    monkeypatch.setattr(cluster.os, "_exit", ended.append)
    slow = notebook(seconds=1, right=["scale"])
    cluster._serve(stand_ins.grade, (slow, CHAPTER, 1, False, 10.0), NOW)
    assert ended == [1]
    monkeypatch.setattr(cluster, "longest", lambda seconds: 30)
    assert json.loads(cluster._serve(stand_ins.grade, (slow, CHAPTER, 1, False, 10.0), NOW)[1])[0] is None
    assert ended == [1]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:1", "the scheduler tcp://127.0.0.1:1 cannot be reached: Timed out"),
        ("nonsense", "the scheduler nonsense cannot be reached: missing port"),
        ("", "needs an address"),
    ],
)
def test_a_scheduler_that_cannot_be_reached_is_reported(queue, monkeypatch, address, words):
    monkeypatch.setattr(cluster, "TO_CONNECT", 1)
    (queue.source / "empty").mkdir()
    given(queue, anna={})
    with pytest.raises(GradingFault, match=words):
        dict(cluster.grade_all(queue, Grader(stand_ins.grade, NOW, KEY), address))
    assert len(stored(queue.folder)) == 1  # what needed no worker


def test_without_workers_the_run_ends_with_a_message(queue):
    given(queue, anna={})
    with _local(0, processes=False) as nobody, pytest.raises(GradingFault, match="has no workers"):
        run(queue, nobody, patience=0.2)


def test_a_scheduler_that_goes_away_leaves_what_is_graded(queue):
    given(queue, anna=RIGHT, ben={"seconds": 30})
    with _local(1, processes=False) as going:
        outcomes = cluster.grade_all(queue, Grader(stand_ins.grade, NOW, KEY), going.scheduler_address, 2)
        assert next(outcomes)[0] == "anna"
        asyncio.run_coroutine_threadsafe(going.scheduler.close(), going.loop.asyncio_loop).result(30)
        with pytest.raises(GradingFault, match="Everything graded so far is kept"):
            next(outcomes)
    assert [row[0] for row in stored(queue.folder)] == ["anna"]


def test_without_dask_the_command_says_what_to_install(queue, monkeypatch):
    given(queue, anna={})
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(GradingFault, match="extra `cluster`") as told:
        dict(cluster.grade_all(queue, Grader(stand_ins.grade, NOW, KEY), "tcp://127.0.0.1:1"))
    assert "install minigrad" not in str(told.value)


def test_a_worker_without_the_course_ends_the_run_and_is_no_students_fault():
    class Failed:
        status = "error"

        def exception(self):
            return ModuleNotFoundError("No module named 'course'")

    why = "ModuleNotFoundError: No module named 'course'. Is the course installed"
    with pytest.raises(GradingFault, match=why):
        cluster._answer(Failed(), CHAPTER, "0" * 64, "tcp://10.0.0.5:8786")
