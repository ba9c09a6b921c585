"""Run one function in several processes that exchange messages by MPI, or in a stand-in for them.

`run` starts the processes, `text` returns the Python file that each process runs, and `threads` makes a pool
of threads. Without mpiexec, or without processes, the workers take turns in this process, with a notice.
Used in chapter 22.
"""

import ast
import builtins
import dis
import inspect
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np

NO_PROCESSES = "there are no processes in a browser"
NO_MPI4PY = "mpi4py is missing: `pip install mpi4py`"
NO_MPIEXEC = "mpiexec is missing: `pip install mpich`, or the system's own MPI"
STARTING = 60.0  # seconds that processes may take to start, on a busy machine
OWN = ("in <module>", "in _begin_", "in _work_")  # traceback lines of our own part of the file
BUFFERED = 2**14  # bytes; the stand-in sends messages up to this size without waiting for a receiver

START = """

def _begin_(name={folder!r}):  # each of the {workers} processes starts here
    import faulthandler, os, pickle, threading, traceback
    from pathlib import Path

    from mpi4py import MPI

    world = MPI.COMM_WORLD
    mine = Path(name) / str(world.rank)
    mine.with_suffix(".pid").write_text(str(os.getpid()))
    waits = mine.with_suffix(".waits").open("w")
    faulthandler.dump_traceback_later({seconds}, file=waits)
    alarm = threading.Timer({seconds} + {starting}, os._exit, [1])
    alarm.daemon = True
    alarm.start()
    try:
        said, suffix = pickle.dumps(_work_(world)), ".returned"
    except BaseException:
        said, suffix = traceback.format_exc().encode(), ".failed"
    mine.with_suffix(".part").write_bytes(said)
    mine.with_suffix(".part").rename(mine.with_suffix(suffix))  # atomic: no reader sees half a file
    if suffix == ".failed":
        world.Abort(1)
    faulthandler.cancel_dump_traceback_later()


def _work_(world):
    return {call}


if __name__ == "__main__":
    _begin_()
"""


class WorkersFailed(Exception):
    """The workers did not finish: one of them failed, or each waits for another.

    Parameters
    ----------
    sentence : str
        May have several lines.
    """

    def _render_traceback_(self):
        """Return the lines a notebook shows instead of a traceback."""
        return [line for part in str(self).splitlines() for line in textwrap.wrap(part, 96) or [""]]


class Stopped(BaseException):
    """Raised by a call of the stand-in that must wait; `except Exception` does not catch it."""


_told = set()


def find_mpi():
    """Return the command that starts processes and "", or None and what is missing.

    Returns
    -------
    mpiexec : str or None
    missing : str
    """
    if sys.platform == "emscripten":
        return None, NO_PROCESSES
    if find_spec("mpi4py") is None:
        return None, NO_MPI4PY
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    mpiexec = beside or shutil.which("mpiexec")
    return (mpiexec, "") if mpiexec else (None, NO_MPIEXEC)


def real():
    """Return whether `run` starts real processes here."""
    return find_mpi()[0] is not None


def run(work, workers=4, seconds=60.0, pretend=False, **arguments):
    """Run `work(world, **arguments)` in several processes, and return their results in order of rank.

    Parameters
    ----------
    work : function
        Its first argument is the communicator of all workers: `MPI.COMM_WORLD`, or the stand-in's.
    workers : int
    seconds : float
        Workers that still wait after this time are stopped.
    pretend : bool
        Use the stand-in, even if MPI is available.
    **arguments
        Written into the file: numbers, str, or tuples of these.

    Returns
    -------
    list
        One result per worker: numbers, arrays, tuples, dicts.

    Raises
    ------
    WorkersFailed
        If a worker raises an exception, or some wait forever.
    ValueError
        If `work` needs an object that cannot be written into a file.

    Notes
    -----
    A process has only the contents of its file, which `text` returns. The file is removed afterwards.

    Examples
    --------
    >>> def square(world):
    ...     return world.rank**2
    >>> run(square, workers=3, pretend=True)
    [0, 1, 4]
    """
    mpiexec, missing = find_mpi()
    if mpiexec and not pretend:
        source = text(work, **arguments)
        return _run_processes(mpiexec, source, _call(work, arguments), workers, seconds)
    if not pretend and missing not in _told:
        _told.add(missing)
        print(f"The workers are simulated: they take turns in one process, since {missing}.")
    return _take_turns(work, workers, arguments)


def threads(count):
    """Return a pool of threads; if there are none, print a message, and return one whose `map` is sequential.

    Examples
    --------
    >>> with threads(2) as pool:
    ...     list(pool.map(abs, [-1, -2]))
    [1, 2]
    """
    if sys.platform != "emscripten":
        return ThreadPoolExecutor(count)
    if "threads" not in _told:
        _told.add("threads")
        print("The threads are simulated: a browser has none, so the workers take turns.")
    return Turns()


class Turns:
    """Replaces a pool of threads if there are none."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def map(self, function, *items):
        """Apply the function to the items, one after the other."""
        return iter(list(map(function, *items)))


# the file of a worker


def text(work, **arguments):
    """Return the Python file that each worker gets: imports, every function that `work` needs, and `work`.

    Parameters
    ----------
    work : function
    **arguments
        As given to `run`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If an object that `work` needs cannot be written into the file.
    """
    _call(work, arguments)
    program = _Program(work.__module__)
    program.add(work)
    return program.text()


def _import_order(line):
    return line.startswith("from "), line


def _call(work, arguments):
    """Return the line that calls the work."""
    if not isinstance(work, FunctionType) or work.__name__ == "<lambda>":
        raise ValueError(f"work must be a function defined with def, got {work!r}.")
    for name, value in arguments.items():
        if not _plain(value):
            raise ValueError(
                f"{name} is of type {type(value).__name__}, which cannot be written into the workers' file: "
                "pass numbers and str, and create the rest inside the function."
            )
    given = ["world", *(f"{name}={value!r}" for name, value in arguments.items())]
    return f"{work.__name__}({', '.join(given)})"


def _plain(value):
    """Return whether the repr of a value is a Python expression for it."""
    if isinstance(value, tuple | list):
        return all(map(_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _names(code):
    """Return the global names that a code object and those nested in it may use."""
    names = [
        line.argval for line in dis.get_instructions(code) if line.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names += _names(constant)
    return names


class _Program:
    """The contents of a file in which a function can run: imports, constants, and functions in order."""

    def __init__(self, home):
        self.home = home  # the module whose functions are copied, not imported
        self.lines, self.functions = {}, {}

    def text(self):
        """Return the file."""
        imports = sorted((line for line in self.lines.values() if " = " not in line), key=_import_order)
        constants = [line for line in self.lines.values() if " = " in line]
        head = "\n\n".join("\n".join(part) for part in (imports, constants) if part)
        return "\n\n\n".join(filter(None, [head, *self.functions.values()])) + "\n"

    def add(self, function):
        """Add a function after everything it needs; names from other modules become imports."""
        name = function.__name__
        if name in self.functions:
            return
        source = _source(function)
        self.functions[name] = ""  # so that functions may call each other
        (head,) = ast.parse(source).body
        outside = [part for part in (*head.decorator_list, head.args, head.returns) if part is not None]
        used = [node.id for part in outside for node in ast.walk(part) if isinstance(node, ast.Name)]
        for used_name in used + _names(function.__code__):
            if used_name in function.__globals__:
                self.add_used(used_name, function.__globals__[used_name], user=name)
        self.functions[name] = self.functions.pop(name) + source.rstrip()

    def add_used(self, name, thing, user):
        """Add an object that a function uses: as an import, a constant, or a function."""
        if hasattr(builtins, name) and getattr(builtins, name) is thing:
            return
        if isinstance(thing, FunctionType) and thing.__module__ == self.home:
            self.add(thing)
        elif _plain(thing):
            self.lines[name] = f"{name} = {thing!r}"
        elif (line := _import_of(name, thing)) and getattr(thing, "__module__", None) != self.home:
            self.lines[name] = line
        else:
            raise ValueError(
                f"{user} uses {name}, of type {type(thing).__name__}, which the workers do not have: a "
                "process has only its file. Create it inside the function."
            )


def _source(function):
    """Return the source of a function; raise ValueError if it cannot run alone in a file."""
    name = function.__name__
    if function.__closure__:
        kept = ", ".join(function.__code__.co_freevars)
        raise ValueError(
            f"{name} uses {kept} of its outer function, which cannot be written to a file: pass it in."
        )
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise ValueError(f"the source of {name} cannot be found: define it in a cell or a file.") from error


def _import_of(name, thing):
    """Return the line that imports an object under a name, from its package if possible, or None."""
    if isinstance(thing, ModuleType):
        return f"import {thing.__name__}" + (f" as {name}" if name != thing.__name__ else "")
    module, its_name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    for source in (module.partition(".")[0], module) if module else ():
        if getattr(import_module(source), its_name, None) is thing:
            return f"from {source} import {its_name}" + (f" as {name}" if name != its_name else "")
    return None


# processes


def _run_processes(mpiexec, source, call, workers, seconds):
    """Start the processes, wait for them, and return their results."""
    with tempfile.TemporaryDirectory(prefix="workers-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        start = START.format(
            workers=workers, folder=str(folder), seconds=float(seconds), starting=STARTING, call=call
        )
        (folder / "work.py").write_text(source + start, encoding="utf-8")
        command = [mpiexec, "-n", str(workers), sys.executable, str(folder / "work.py")]
        with (folder / "said").open("w+b") as said:
            process = subprocess.Popen(
                _oversubscribed(command),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=os.environ | _environment(folder),
            )
            try:
                hang = _wait(process, folder, workers, seconds)
            finally:
                _end(process, folder)
            said.seek(0)
            words = said.read().decode("utf-8", errors="replace")
        _refuse_failed(folder, workers)
        missing = [rank for rank in range(workers) if not (folder / f"{rank}.returned").exists()]
        if hang:
            where = [f"worker {rank} waits in{_place(_said_where(folder, rank), folder)}" for rank in missing]
            raise WorkersFailed("\n".join([f"Stopped after {seconds:g} seconds, still waiting:", *where]))
        if missing or process.returncode:
            lost = f", with no result from worker {', '.join(map(str, missing))}" if missing else ""
            ended = f"mpiexec ended with code {process.returncode}{lost}."
            raise WorkersFailed("\n".join([ended, *words.strip().splitlines()[-8:]]))
        return [pickle.loads((folder / f"{rank}.returned").read_bytes()) for rank in range(workers)]


def _oversubscribed(command):
    """Return the command, allowed to start more processes than there are cores."""
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=False).stdout
    return [command[0], "--oversubscribe", *command[1:]] if "Open MPI" in version else command


def _environment(folder):
    """Return additions to the processes' environment: one thread each, our path."""
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in ["", *sys.path])
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return one | {"PYTHONPATH": path, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def _wait(process, folder, workers, seconds):
    """Wait until each process is done or has reported where it waits; return True if any hangs."""
    end = time.monotonic() + seconds + STARTING
    while process.poll() is None:
        done = [(folder / f"{rank}.returned").exists() for rank in range(workers)]
        waiting = [_said_where(folder, rank) for rank in range(workers)]
        if not all(done) and all(d or w for d, w in zip(done, waiting, strict=True)):
            return True
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False


def _said_where(folder, rank):
    """Return the traceback in which a process has reported where it waits, or an empty str."""
    path = folder / f"{rank}.waits"
    return path.read_text("utf-8", errors="replace").strip() if path.exists() else ""


def _end(process, folder):
    """End mpiexec and the processes that it started, and wait until they are gone."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for path in folder.glob("*.pid"):
        _gone(path.read_text(), folder)


def _gone(pid, folder, seconds=5.0):
    """Wait until a worker's process is gone, and kill it after some time, unless its number is reused."""
    command = Path("/proc") / pid / "cmdline"  # empty for one that has ended
    end = time.monotonic() + seconds
    while pid and str(folder).encode() in _read(command):
        if time.monotonic() > end:
            os.kill(int(pid), signal.SIGKILL)
            end += seconds
        time.sleep(0.005)


def _read(path):
    """Return the bytes of a file, or none if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _refuse_failed(folder, workers):
    """Raise WorkersFailed if a worker failed."""
    for rank in range(workers):
        path = folder / f"{rank}.failed"
        if path.exists():
            raise WorkersFailed(_failed(rank, path.read_text("utf-8"), workers))


def _failed(rank, traced, workers):
    """Return the message about a failed worker: its traceback from its own file on, without the folder."""
    lines = re.sub(r'"[^"]*work\.py"', "work.py", traced).strip().splitlines()
    own = [place for place, line in enumerate(lines) if "File work.py" in line and not line.endswith(OWN)]
    others = "" if workers == 1 else " The others were stopped."
    return "\n".join([f"Worker {rank} failed.{others}", *lines[own[0] if own else 1 :]])


def _place(said, folder):
    """Return the line of its file at which a worker waits."""
    for line in said.splitlines():
        if "work.py" in line and "line " in line and not line.endswith(OWN):
            number = int(line.split("line ")[1].split()[0].rstrip(","))
            return f" {(folder / 'work.py').read_text('utf-8').splitlines()[number - 1].strip()}"
    return " an unknown place"


# the stand-in: workers that take turns


class Post:
    """The state shared by all workers of the stand-in: messages in transit, and answers to each worker."""

    def __init__(self, workers):
        self.workers = workers
        self.answers = [[] for _ in range(workers)]  # in each rerun, a worker gets the same answers
        self.posted = [set() for _ in range(workers)]
        self.open = [None] * workers  # the last message of each worker, while it waits
        self.letters = {(a, b): deque() for a in range(workers) for b in range(workers)}
        self.meetings = []
        self.moves = 0


class Letter:
    """A message in transit."""

    def __init__(self, data):
        self.data, self.taken = np.array(data, copy=True), False


class PretendedWorld:
    """The communicator of one worker that takes turns with the others.

    It has the methods of mpi4py's communicator that chapter 22 uses. A call that must wait stops the worker,
    which later starts again and gets the same answers as before: work must be deterministic.
    """

    def __init__(self, post, rank):
        self.post, self.rank, self.size = post, rank, post.workers
        self.calls = self.meeting = 0

    def Send(self, data, dest):
        """Send an array; a large one waits until it is received."""
        self._answer(lambda key: self._sent(data, dest, key), f"to send to {dest}")

    def Recv(self, into, source):
        """Receive an array of the same size into another."""
        into[...] = self._answer(lambda key: self._taken(source), f"for a message from {source}").reshape(
            into.shape
        )

    def Sendrecv(self, data, dest, recvbuf, source):
        """Send and receive at once."""

        def both(key):
            self._sent(data, dest, key, always=True)
            return self._taken(source)

        recvbuf[...] = self._answer(both, f"for a message from {source}").reshape(recvbuf.shape)

    def Allreduce(self, mine, total):
        """Give all workers the sum of all arrays, added in order of rank."""
        total[...] = self._meet("Allreduce", mine, lambda arrays: sum(arrays[1:], arrays[0]))

    def Bcast(self, data, root=0):
        """Give all workers the array of the root."""
        data[...] = self._meet(f"Bcast of {root}", data, lambda arrays: arrays[root])

    def Barrier(self):
        """Wait until all workers have called this."""
        self._meet("Barrier", np.zeros(0), lambda arrays: arrays[0])

    # how calls are answered

    def _answer(self, attempt, waits):
        answers, call = self.post.answers[self.rank], self.calls
        self.calls += 1
        if call == len(answers):
            self.waits = waits
            answers.append(attempt(call))  # or raises Stopped
            self.post.moves += 1
        answer = answers[call]
        return None if answer is None else answer.copy()

    def _sent(self, data, dest, key, always=False):
        posted = self.post.posted[self.rank]
        if key not in posted:
            posted.add(key)
            self.post.open[self.rank] = Letter(data)
            self.post.letters[self.rank, dest].append(self.post.open[self.rank])
            self.post.moves += 1
        letter = self.post.open[self.rank]
        if not always and letter.data.nbytes > BUFFERED and not letter.taken:
            raise Stopped

    def _taken(self, source):
        letters = self.post.letters[source, self.rank]
        if not letters:
            raise Stopped
        letter = letters.popleft()
        letter.taken = True
        return letter.data

    def _meet(self, name, mine, combine):
        place, self.meeting = self.meeting, self.meeting + 1
        meetings = self.post.meetings

        def attempt(key):
            if place == len(meetings):
                meetings.append((name, {}))
            called, arrays = meetings[place]
            if called != name:
                raise RuntimeError(f"this worker calls {name}, while another has called {called}.")
            if self.rank not in arrays:
                arrays[self.rank] = np.array(mine, copy=True)
                self.post.moves += 1
            if len(arrays) < self.size:
                raise Stopped
            return combine([arrays[rank] for rank in range(self.size)])

        return self._answer(attempt, f"for the others in {name}")


def _take_turns(work, workers, arguments):
    """Run all workers in this process, each in turn until it must wait; repeat until all are done."""
    post, returned, waits = Post(workers), {}, {}
    while len(returned) < workers:
        before = post.moves
        for rank in (rank for rank in range(workers) if rank not in returned):
            world = PretendedWorld(post, rank)
            try:
                returned[rank] = work(world, **arguments)
                post.moves += 1
            except Stopped:
                waits[rank] = world.waits
            except Exception as error:
                own = traceback.extract_tb(error.__traceback__)[1:]
                own = [frame for frame in own if frame.filename != __file__]
                lines = [f"  line {frame.lineno}, in {frame.name}\n    {frame.line}" for frame in own]
                said = "\n".join([*lines, f"{type(error).__name__}: {error}"])
                others = "" if workers == 1 else " The others were stopped."
                raise WorkersFailed(f"Worker {rank} failed.{others}\n{said}") from error
        if post.moves == before:
            where = [f"worker {rank} waits {waits[rank]}" for rank in range(workers) if rank not in returned]
            raise WorkersFailed("\n".join(["Deadlock: each worker waits for another:", *where]))
    return [returned[rank] for rank in range(workers)]
