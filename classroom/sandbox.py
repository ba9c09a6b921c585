"""The sandbox in which a learner's code runs.

The child sees the interpreter's libraries, the system's shared libraries, NumPy, and one edition folder, all
read-only, and two small folders in memory. It has no network, no home folder, none of our environment
variables, and sees no other process. `wire` and `remote` communicate with the child over its pipes; `escape`
tests the sandbox on this machine.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from classroom.faults import GradingFault

LIMITS = {  # of each process of the child; bubblewrap's own process counts among the four, and so do threads
    "RLIMIT_AS": 1 << 30,
    "RLIMIT_FSIZE": 16 << 20,
    "RLIMIT_NPROC": 4,
    "RLIMIT_CORE": 0,
    "RLIMIT_CPU": 900,  # for processes that escape; the grader counts the seconds of an answer
    "RLIMIT_NOFILE": 64,  # files in memory count as files, not as memory
}
MEMORY_FOLDERS = {"/tmp": 32 << 20, "/dev/shm": 16 << 20}
TEXT_KEPT = 64 << 10
NOBODY = "65534"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
# PYTHONHASHSEED: sets are iterated in the same order each time a submission is graded
ENVIRONMENT = {"HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"} | dict.fromkeys(THREADS, "1")
# -I would be -E -P -s, and -E would drop PYTHONHASHSEED; the environment is ours alone.
# -S: no .pth files, and 5 ms saved
OPTIONS = ("-P", "-s", "-S", "-B", "-X", "utf8")

# The first lines that run in the child: limits, then the signal that it has started, then child.py.
START = """
import json, sys
edition, packages, limits = sys.argv[1:]
for name, most in json.loads(limits).items():
    import resource  # which Windows does not have
    hard = resource.getrlimit(getattr(resource, name))[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(getattr(resource, name), (most, most))
sys.path[:0] = [edition, packages]
sys.argv = [edition + "/child.py"]
with open(sys.argv[0], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[0], "exec")
sys.stdout.buffer.raw.write(b"!")
exec(code, {"__name__": "__main__", "__file__": sys.argv[0]})
"""


def level(unsafe=False):
    """Return the level at which submissions would run here; there is no fallback from one to the other.

    Parameters
    ----------
    unsafe : bool
        Ask for limits alone, without bubblewrap.

    Returns
    -------
    level : str, "bubblewrap" or "rlimits"

    Raises
    ------
    GradingFault
        If bubblewrap is not installed and `unsafe` is False.

    Examples
    --------
    >>> level(unsafe=True)
    'rlimits'
    """
    if unsafe:
        return "rlimits"
    needed = ("bwrap", "setpriv") if os.name == "posix" and os.geteuid() == 0 else ("bwrap",)
    for program in needed:
        if shutil.which(program) is None:
            raise GradingFault(
                f"not graded, because the program {program} is not installed: install bubblewrap 0.8 or "
                "newer (Debian, Ubuntu, Fedora: the package bubblewrap) and util-linux, or use --unsafe, "
                "which runs submissions without a sandbox."
            )
    return "bubblewrap"


def _libraries():
    """List the folders of shared libraries and of Python's own modules."""
    folders = [Path(prefix, name) for prefix in ("/usr", "/", sys.base_prefix) for name in ("lib", "lib64")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def sources():
    """List the paths of this machine that the child needs for Python and NumPy; it sees them unchanged."""
    numpy = Path(np.__file__).parent
    needed = [Path("/etc/ld.so.cache"), Path("/etc/alternatives"), _python(), numpy, Path(f"{numpy}.libs")]
    return _libraries() + [path for path in needed if path.exists()]


def _python():
    """Find the interpreter itself, behind a virtual environment's link."""
    return Path(sys._base_executable).resolve()


def _show(sources):
    """List bubblewrap's arguments that show each source, read-only, in folders accessible to all users."""
    arguments, libraries = [], _libraries()
    for source in sources:
        for folder in list(reversed(source.parents))[1:]:
            arguments += ["--dir", folder]
        # careful: if /lib is a link to /usr/lib, binding it would show hidden folders again
        is_link = source in libraries and source.is_symlink()
        arguments += ["--symlink", os.readlink(source), source] if is_link else ["--ro-bind", source, source]
    return arguments


def _bubblewrap(edition):
    """Build the command that runs the child's command in the sandbox.

    The kernel does not limit the number of root's processes. So when root grades, an outer bubblewrap shows
    the sources to an inner one that runs as nobody, and only the inner one is the sandbox.
    """
    shown = sources()
    packages = Path(np.__file__).parents[1]
    numpy = [source for source in shown if source.parent == packages]
    # hide all installed packages but NumPy; this course may be among them
    bare = [packages, *(found for folder in _libraries() for found in folder.glob("python3*/*-packages"))]
    bare = list(dict.fromkeys(folder.resolve() for folder in bare))
    bwrap = shutil.which("bwrap")
    command = [bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    command += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--proc", "/proc"]
    for folder, size in MEMORY_FOLDERS.items():
        command += ["--size", size, "--tmpfs", folder]
    command += _show(source for source in shown if source not in numpy)
    for folder in bare:
        command += ["--tmpfs", folder]
    command += [*_show(numpy), "--ro-bind", edition, "/sandbox"]
    command += ["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"]
    for folder in ("/", *bare):
        command += ["--remount-ro", folder]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    command += ["--chdir", "/tmp"]
    if os.geteuid() == 0:
        for path in (edition, *edition.rglob("*")):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        setpriv = shutil.which("setpriv")
        outer = [bwrap, "--die-with-parent", *_show([*shown, edition, Path(bwrap), Path(setpriv)])]
        outer += ["--dev-bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
        outer += ["--cap-add", "cap_setuid", "--cap-add", "cap_setgid"]
        command = [*outer, setpriv, "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", *command]
    return command


class Sandbox:
    """A sandboxed child that runs a folder's child.py; leaving the `with` block kills it and its processes.

    Parameters
    ----------
    edition : path
        The folder of child.py and its modules; the child sees it, read-only, as /sandbox. When root grades,
        its files are made readable by everyone, because the child then runs as nobody.
    unsafe : bool
        Run the child without bubblewrap, for macOS and Windows. Then it is an ordinary process of this user,
        which can read this user's files, use the network, start any number of processes, and leave those in
        a new session running. Memory (on Linux), file sizes and CPU seconds are still limited, except on
        Windows.

    Attributes
    ----------
    stdin : raw file
        For requests.
    stdout : raw file
        For replies.
    process : subprocess.Popen

    Raises
    ------
    GradingFault
        If the child did not start, with the reason.

    Notes
    -----
    The thread that enters the block must live as long as the block: the sandbox ends when the thread does.
    """

    def __init__(self, edition, unsafe=False):
        self.edition, self.level = Path(edition).resolve(), level(unsafe)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Start the child and wait for its first byte; the caller must call `close`."""
        if self.level == "bubblewrap":
            command, place, limits, environment = _bubblewrap(self.edition), "/sandbox", dict(LIMITS), {}
        else:
            # NPROC would count all processes of this user; macOS takes no AS; Windows has no limits at all
            left_out = {"linux": {"RLIMIT_NPROC"}, "win32": set(LIMITS)}
            left_out = left_out.get(sys.platform, {"RLIMIT_NPROC", "RLIMIT_AS"})
            limits = {name: most for name, most in LIMITS.items() if name not in left_out}
            needed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # Windows
            command, place, environment = [], self.edition, ENVIRONMENT | needed
        command += [_python(), *OPTIONS, "-c", START, place, Path(np.__file__).parents[1], json.dumps(limits)]
        options = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        options |= {"bufsize": 0, "env": environment, "start_new_session": True}
        try:
            self.process = subprocess.Popen([str(word) for word in command], **options)
        except OSError as error:
            raise GradingFault(f"not graded, because the sandbox did not start: {error}") from error
        self.stdin, self.stdout, self._kept = self.process.stdin, self.process.stdout, bytearray()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if self.stdout.read(1) != b"!":
            self.close()
            lines = self.text().strip().splitlines() or ["it printed nothing"]
            raise GradingFault(f"not graded, because the sandbox did not start: {lines[-1]}")

    def _listen(self):
        """Keep the beginning of the child's output and discard the rest, so that the child never blocks."""
        while printed := self.process.stderr.read(1 << 16):
            self._kept += printed[: TEXT_KEPT - len(self._kept)]

    def text(self):
        """Return the first 64 KB of the child's output."""
        return self._kept.decode("utf-8", "replace")

    def kill(self):
        """Kill the child and its processes, from any thread; a thread that waits for a pipe wakes up."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # all gone; macOS raises the second
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()

    def close(self):
        """Kill the child, and close the pipes."""
        self.kill()
        self.process.wait()
        self._listener.join(timeout=1)
        self.stdin.close()
        self.stdout.close()
        if not self._listener.is_alive():  # else a process that escaped the level rlimits still has it
            self.process.stderr.close()
