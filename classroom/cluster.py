"""Grading on a cluster: the workers of Dask distributed run the same grading function.

Holds `grade_all`, with the interface of ``classroom.crew``, which grades on one machine. At any time Dask has
at most one submission per worker, so that it never holds a whole class in memory, and a submission that kills
its worker affects no other. ``book/grading.md`` explains how to start workers.
"""

import gc
import os
import threading
import time
import traceback
from functools import cache
from queue import Empty, SimpleQueue

from classroom.crew import LARGEST, longest, read_answer, take_unread, write_answer
from classroom.faults import GradingFault
from classroom.queue import KEPT_LATER
from classroom.result import unchecked
from classroom.version import fingerprint, version_of
from course.checks import exercises

MISSING = (
    "--scheduler needs Dask distributed, which is not installed: install the course's extra `cluster` "
    "(in the course's folder, `python -m pip install --editable .[cluster]`)."
)
TO_CONNECT = 10  # seconds
TO_COME_BACK = 60  # seconds without any worker; a nanny restarts one within a few
LOOK = 1  # seconds between two checks that scheduler and workers are alive


def grade_all(queue, grader, address, patience=TO_COME_BACK):
    """Grade the waiting submissions on a scheduler's workers, and store each result as it arrives.

    Parameters
    ----------
    queue : Queue
    grader : Grader
        Its function must be importable on the workers, which must have its version.
    address : str
        The scheduler's address: ``"tcp://10.0.0.5:8786"``.
    patience : float
        Seconds without any worker after which the run ends.

    Yields
    ------
    student : str
    result : Result

    Raises
    ------
    GradingFault
        If results cannot be stored, the scheduler or all workers are gone, or a worker has another version
        of the course; results stored earlier are kept.
    """
    waiting, unread = take_unread(queue, grader.version)
    yield from unread
    if not waiting:
        return
    with _connected(address) as client:
        done, running, seen = SimpleQueue(), {}, time.monotonic()
        while waiting or running:
            workers = _workers(client)
            seen = time.monotonic() if workers else seen
            if time.monotonic() - seen > patience:
                raise GradingFault(f"the scheduler {address} has no workers. {KEPT_LATER}")
            while waiting and len(running) < workers:
                student, digest = waiting.popleft()
                job = grader.job(queue, digest)
                future = client.submit(_serve, grader.grade, job, grader.version, pure=False)
                running[future.key] = student, digest, future
                future.add_done_callback(done.put)
            try:
                future = done.get(timeout=LOOK)
            except Empty:
                continue
            student, digest, _ = running.pop(future.key)
            result = _answer(future, queue.chapter, digest, address)
            queue.store(student, digest, grader.version, result)
            yield student, result


def _connected(address):
    """Connect to the scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise GradingFault(MISSING) from error
    if not address.strip():
        raise GradingFault("--scheduler needs an address, such as tcp://10.0.0.5:8786.")
    try:
        return Client(address, timeout=TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        traceback.clear_frames(error.__traceback__)  # the frames refer to a half-made client; it must be
        gc.collect()  # closed here: later, it would wait for a lock held by the next client's start
        raise GradingFault(f"the scheduler {address} cannot be reached: {why}. {KEPT_LATER}") from error


def _workers(client):
    """Return the last known number of workers."""
    if client.status in ("closing", "closed"):
        return 0
    return len(client.scheduler_info(n_workers=-1).get("workers", ()))  # none while it reconnects


def _answer(future, chapter, digest, address):
    """Read the result of a finished submission."""
    from distributed import KilledWorker

    if future.status == "cancelled":
        raise GradingFault(f"the scheduler {address} was lost. {KEPT_LATER}")
    error = future.exception()
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        fault = f"not graded, because {deaths} grading processes died on it, one after the other."
        return unchecked(chapter, digest, fault=fault)
    if error is not None:
        raise GradingFault(
            f"a worker cannot grade: {type(error).__name__}: {error}. Is the course installed? {KEPT_LATER}"
        ) from error
    unfit, text = future.result()
    if unfit:
        raise GradingFault(f"{unfit} {KEPT_LATER}")
    if len(text) > LARGEST:
        return unchecked(chapter, digest, fault="not graded, because its result is too long.")
    return read_answer(text, chapter, digest)


# Functions that run on a worker


def _serve(grade, job, version):
    """Return, as a pair, the reason why this worker may not grade, or None, and the result as JSON."""
    try:
        _, chapter, _, unsafe, seconds = job
        _require_fit(chapter, unsafe, seconds, version)
    except GradingFault as fault:
        return str(fault), None
    # a hanging worker kills itself, and Dask gives the submission to another one
    watch = threading.Timer(longest(seconds), os._exit, [1])
    watch.daemon = True
    watch.start()
    try:
        return None, write_answer(grade, job)
    finally:
        watch.cancel()


@cache
def _require_fit(chapter, unsafe, seconds, version):
    """Raise GradingFault if this worker may not grade; a worker that passes is not tested again."""
    from distributed import get_worker

    from classroom.escape import try_to_escape
    from classroom.sandbox import level

    worker = get_worker()
    here = version_of(_fingerprints()[chapter], unsafe, seconds)
    if here != version:
        raise GradingFault(
            f"the worker {worker.address} has another version of the course: its checks and grader are "
            f"{here[:12]}, and here they are {version[:12]}. Install the same version and restart the worker."
        )
    if worker.state.nthreads != 1:
        raise GradingFault(
            f"the worker {worker.address} must have one thread, and has {worker.state.nthreads}: "
            "start it with --nthreads 1 --nworkers -1, which gives one process per core."
        )
    try:
        level(unsafe)
        try_to_escape(unsafe)
    except GradingFault as fault:
        raise GradingFault(f"the worker {worker.address} cannot grade: {fault}") from fault


@cache
def _fingerprints():
    """Compute the fingerprint of every chapter, once, for the files that this process loaded."""
    return {stem: fingerprint(stem) for stem in {exercise.stem for exercise in exercises()}}
