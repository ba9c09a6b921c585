"""The machines that grade: the same function as in the local crew, handed to Dask distributed.

Holds `grade_all`, which promises what the crew's does. Dask is given as many submissions at a time as it has
workers: so a class never lies whole in its memory, and a submission that ends a worker is the only one there.
Leaves out how a worker is started (``book/grading.md``), and the crew of one machine
(``classroom.crew``).
"""

import gc
import os
import threading
import time
import traceback
from functools import cache
from queue import Empty, SimpleQueue

from classroom.crew import LARGEST, PATIENCE, read_answer, take_unread, write_answer
from classroom.faults import GradingFault
from classroom.queue import KEPT_LATER
from classroom.result import unchecked
from classroom.version import fingerprint, version_of
from course.checks import exercises

MISSING = (
    "--scheduler needs Dask distributed, which is not installed: it is the extra `cluster` of the course "
    "(in the course's folder, `python -m pip install --editable .[cluster]`)."
)
TO_CONNECT = 10  # seconds
TO_COME_BACK = 60  # seconds, for workers when there are none: a nanny starts one again in a few
LOOK = 1  # seconds between two looks whether scheduler and workers are still there


def grade_all(queue, grader, address, patience=TO_COME_BACK):
    """Grade what has no result yet on the workers of a scheduler, and store each result as it comes.

    Parameters
    ----------
    queue : Queue
    grader : Grader
        Its function stands in a module that the workers have too, and its version is theirs.
    address : str
        Of the scheduler: ``"tcp://10.0.0.5:8786"``.
    patience : float
        Seconds without a worker, after which the run ends.

    Yields
    ------
    student : str
    result : Result
        As it was stored.

    Raises
    ------
    GradingFault
        If results cannot be stored, the scheduler or all workers are gone, or a worker is not of this version
        of the course; what was stored before stays.
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
    """Return a client of the scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise GradingFault(MISSING) from error
    if not address.strip():
        raise GradingFault("--scheduler wants an address, such as tcp://10.0.0.5:8786, and got none.")
    try:
        return Client(address, timeout=TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        traceback.clear_frames(error.__traceback__)  # they hold a client that is half made, and that must
        gc.collect()  # close here: later it would wait for a lock that is held while another one starts
        raise GradingFault(f"the scheduler {address} cannot be reached: {why}. {KEPT_LATER}") from error


def _workers(client):
    """Return how many workers the scheduler has, as it last said."""
    if client.status in ("closing", "closed"):
        return 0
    return len(client.scheduler_info(n_workers=-1).get("workers", ()))  # none while it looks for a lost one


def _answer(future, chapter, digest, address):
    """Return the result of a submission that a worker is done with."""
    from distributed import KilledWorker

    if future.status == "cancelled":
        raise GradingFault(f"the scheduler {address} was lost. {KEPT_LATER}")
    error = future.exception()
    if isinstance(error, KilledWorker):
        deaths = error.allowed_failures + 1
        fault = f"not graded, because {deaths} processes that graded it ended, one after the other."
        return unchecked(chapter, digest, fault=fault)
    if error is not None:
        raise GradingFault(
            f"a worker cannot grade: {type(error).__name__}: {error}. Has it the course? {KEPT_LATER}"
        ) from error
    unfit, text = future.result()
    if unfit:
        raise GradingFault(f"{unfit} {KEPT_LATER}")
    if len(text) > LARGEST:
        return unchecked(chapter, digest, fault="not graded, because its result is too long.")
    return read_answer(text, chapter, digest)


# What runs on a worker


def _serve(grade, job, version):
    """Return why this worker may not grade, or None; and the crew's answer, as JSON."""
    try:
        _, chapter, _, unsafe, seconds = job
        _require_fit(chapter, unsafe, seconds, version)
    except GradingFault as fault:
        return str(fault), None
    # a worker that hangs ends itself: then Dask hands the submission to another one
    watch = threading.Timer(PATIENCE, os._exit, [1])
    watch.daemon = True
    watch.start()
    try:
        return None, write_answer(grade, job)
    finally:
        watch.cancel()


@cache
def _require_fit(chapter, unsafe, seconds, version):
    """Raise GradingFault where this worker may not grade; what it has passed once is not asked again."""
    from distributed import get_worker

    from classroom.escape import try_to_escape
    from classroom.sandbox import level

    worker = get_worker()
    here = version_of(_fingerprints()[chapter], unsafe, seconds)
    if here != version:
        raise GradingFault(
            f"the worker {worker.address} has another version of the course: its checks and grader are "
            f"{here[:12]}, and here they are {version[:12]}. Bring it to the same version and start it again."
        )
    if worker.state.nthreads != 1:
        raise GradingFault(
            f"the worker {worker.address} has {worker.state.nthreads} threads, and must have one: "
            "start it with --nthreads 1 --nworkers -1, which is one process for each core."
        )
    try:
        level(unsafe)
        try_to_escape(unsafe)
    except GradingFault as fault:
        raise GradingFault(f"the worker {worker.address} cannot grade: {fault}") from fault


@cache
def _fingerprints():
    """Return the fingerprint of every chapter, as it was when this process loaded the course."""
    return {stem: fingerprint(stem) for stem in {exercise.stem for exercise in exercises()}}
