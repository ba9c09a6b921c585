"""Grading on one machine with a few worker processes; if one dies or hangs, only its submission suffers.

Holds `grade_all`; `take_unread`, which stores results for unreadable submissions; and `write_answer` and
`read_answer`, the format of a result between processes. The grading function is an argument, results are
kept by ``classroom.queue``, and ``classroom.cluster`` uses other machines.
"""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection

from classroom.clock import STRETCH
from classroom.faults import GradingFault
from classroom.limits import ALL
from classroom.limits import SECONDS as CALL
from classroom.result import NotAResult, Result, unchecked
from classroom.seeds import seed

TO_BEGIN = 60  # seconds
TO_TIDY_UP = 5  # seconds
LARGEST = 1 << 24  # bytes of a result
MEMORY = 2 << 30  # bytes of a grading process


@dataclass(frozen=True)
class Grader:
    """The grading function and its settings, the same for every submission and machine.

    Parameters
    ----------
    grade : function, (bytes, chapter, seed, unsafe, seconds) -> Result
        Defined at module level, so that another process can import it.
    version : str
        The version under which results are stored.
    key : bytes
        The course secret; it is not sent to other processes.
    unsafe : bool
    seconds : float
        Time limit for one call of an answer.
    """

    grade: Callable
    version: str
    key: bytes
    unsafe: bool = False
    seconds: float = CALL

    def job(self, queue, digest):
        """Return the arguments of `grade` for a submission."""
        data = queue.submission(digest)[0]
        return data, queue.chapter, seed(self.key, digest), self.unsafe, self.seconds


def longest(seconds):
    """Return after how many seconds a grading process hangs, given the limit of a call.

    On the busiest machine, the chapter's solutions and a submission take that long before they are ended.

    Examples
    --------
    >>> longest(10.0)
    3660.0
    """
    return TO_BEGIN + STRETCH * ALL * (CALL + seconds)


def grade_all(queue, grader, workers=None, patience=None):
    """Grade the waiting submissions, and store each result as it arrives.

    Parameters
    ----------
    queue : Queue
    grader : Grader
    workers : int, optional
        Number of processes; by default one per core.
    patience : float, optional
        Seconds after which a process without an answer is killed; by default `longest`.

    Yields
    ------
    student : str
    result : Result

    Raises
    ------
    GradingFault
        If results cannot be stored, or the processes do not start; results stored earlier are kept.
    """
    waiting, unread = take_unread(queue, grader.version)
    yield from unread
    count, patience = min(workers or os.cpu_count() or 1, len(waiting)), patience or longest(grader.seconds)
    crew = []
    try:
        crew += [_Worker(grader.grade, patience) for _ in range(count)]
        while waiting or any(worker.task for worker in crew):
            for worker in crew:
                if waiting and worker.ready and not worker.task:
                    student, digest = waiting.popleft()
                    worker.give((student, digest), grader.job(queue, digest), patience)
            for place, worker in _with_news(crew):
                result = worker.answer(queue.chapter)
                if result is not None:
                    student, digest = worker.task
                    worker.task = None
                    queue.store(student, digest, grader.version, result)
                    yield student, result
                if worker.gone:
                    worker.end()
                    crew[place] = _Worker(grader.grade, patience)
    finally:
        for worker in crew:
            worker.end()


def take_unread(queue, version):
    """Store a result for each submission that could not be read.

    Parameters
    ----------
    queue : Queue
    version : str

    Returns
    -------
    waiting : deque of (str, str)
        Student and hash of each submission to grade.
    unread : list of (str, Result)
        Student and result of each submission that could not be read.
    """
    waiting, unread = deque(), []
    for student, digest in queue.open(version):
        data, refused, fault = queue.submission(digest)
        if data is not None:
            waiting.append((student, digest))
            continue
        result = unchecked(queue.chapter, digest, refused, fault)
        queue.store(student, digest, version, result)
        unread.append((student, result))
    return waiting, unread


def _with_news(crew):
    """Wait until a worker has answered, ended or timed out; return all such workers."""
    first = min(worker.deadline for worker in crew)
    heard = connection.wait([worker.pipe for worker in crew], max(0.0, first - time.monotonic()))
    now = time.monotonic()
    return [(n, worker) for n, worker in enumerate(crew) if worker.pipe in heard or now >= worker.deadline]


class _Worker:
    """A grading process and its current submission."""

    def __init__(self, grade, patience):
        context = multiprocessing.get_context("spawn")
        self.pipe, its_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(its_end, grade), daemon=True)
        self.process.start()
        its_end.close()
        self.task, self.ready, self.gone = None, False, False
        self.deadline = time.monotonic() + patience

    def give(self, task, job, patience):
        """Send a submission to the process."""
        self.task, self.deadline = task, time.monotonic() + patience
        try:
            self.pipe.send(job)
        except OSError:
            pass  # the process has ended, which `answer` reports

    def answer(self, chapter):
        """Return the result of the worker's submission; None if it had no submission."""
        late = not self.pipe.poll()
        try:
            text = None if late else self.pipe.recv_bytes(LARGEST)
        except (EOFError, OSError):
            text = None
        self.deadline = float("inf")
        if text is None:
            self.gone = True
            self.process.kill()
            self.process.join()
            how = "took too long" if late else f"ended (exit code {self.process.exitcode})"
            if not self.ready:
                raise GradingFault(f"not graded, because a grading process {how} before it began.")
            fault = f"not graded, because its grading process {how}."
        elif not self.ready:
            self.ready = True
            return None
        else:
            return read_answer(text, chapter, self.task[1])
        return self.task and unchecked(chapter, self.task[1], fault=fault)

    def end(self):
        """End the process: an idle one exits by itself and cleans up; a busy one is killed."""
        self.pipe.close()
        if self.ready and not self.task:
            self.process.join(TO_TIDY_UP)
        self.process.kill()
        self.process.join()


def _serve(pipe, grade):
    """Grade the submissions from a pipe until it is closed; called in a separate process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    _limit_memory()
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    pipe.send_bytes(b"ready")
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        pipe.send_bytes(write_answer(grade, job))


def _limit_memory():
    """Limit the memory of this process, so that data from a submission cannot use up the machine's."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard))


def write_answer(grade, job):
    """Grade a submission; return, as JSON, a fault and a result's plain values, one of them None."""
    try:
        return json.dumps((None, grade(*job).plain()), allow_nan=False).encode()
    except GradingFault as error:
        fault = str(error)
    except Exception as error:
        fault = f"not graded, because the grader raised {type(error).__name__}: {str(error)[:300]}"
    return json.dumps((fault, None)).encode()


def read_answer(text, chapter, digest):
    """Read a process's result; return a fault if it is not a result of that submission.

    Parameters
    ----------
    text : bytes
        From ``write_answer``.
    chapter, digest : str
        The graded submission.

    Returns
    -------
    Result
    """
    fault, plain = json.loads(text)
    if fault is None:
        try:
            result = Result.from_plain(plain)
            result.require_of(chapter, digest)
            return result
        except NotAResult as error:
            fault = f"not graded, because of what the grader returned: {error}"
    return unchecked(chapter, digest, fault=fault)


def _end_with_the_parent():
    """Wait until the parent process is gone, and exit."""
    multiprocessing.parent_process().join()
    os._exit(1)
