"""The limits of a learner's code in the sandbox; without it, the same attempts succeed."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from classroom import sandbox as module
from classroom.escape import try_to_escape
from classroom.faults import GradingFault
from classroom.sandbox import LIMITS, Sandbox, level

CHILD = """
import json, os, sys
for line in sys.stdin:
    scope = {}
    try:
        exec(json.loads(line), scope)
        answer = scope["answer"]
    except BaseException as error:
        answer = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), flush=True)
"""
SECRET = "the word that nobody may read"
ROOT = Path(__file__).parents[2]


def write(folder, source=CHILD):
    """Make an edition folder whose child runs the source."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("child.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return folder


def answer(sandbox, source):
    """Let the child run the source, and return the value of its name `answer`."""
    sandbox.stdin.write(json.dumps(textwrap.dedent(source)).encode() + b"\n")
    ready, _, _ = select.select([sandbox.stdout], [], [], 20)
    assert ready, f"the child was silent for 20 s; it printed: {sandbox.text()}"
    line = sandbox.stdout.readline()
    assert line, f"the child is gone; it printed: {sandbox.text()}"
    return json.loads(line)


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    with Sandbox(write(tmp_path_factory.mktemp("closed") / "edition")) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def unsafe(tmp_path_factory):
    with Sandbox(write(tmp_path_factory.mktemp("open") / "edition"), unsafe=True) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory):
    """A teacher's folder: the course secret, two students, a gradebook."""
    folder = tmp_path_factory.mktemp("class")
    for name in ("secret", "students/ada/04.ipynb", "students/ben/04.ipynb", "grades/gradebook.sqlite"):
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(SECRET, encoding="utf-8")
    return folder


# canaries: each attempt fails inside, and succeeds at the level rlimits, which proves that it is an attempt


@pytest.mark.parametrize(
    "path",
    [  # of the class, of the course, and of the machine
        *("secret", "students/ada/04.ipynb", "grades/gradebook.sqlite"),
        ROOT / "course/checks/ch04_closures.py",
        ROOT / "classroom/sandbox.py",
        ROOT / "solutions/04_closures/04_closures_exercises.ipynb",
        ROOT / "minigrad/layers/linear.py",
        *("/etc/passwd", "/usr/bin/env"),
    ],
    ids=lambda path: Path(path).name,
)
def test_files_cannot_be_read(closed, unsafe, class_folder, path):
    path = class_folder / path
    attempt = f"answer = len(open({str(path)!r}, 'rb').read())"
    assert answer(closed, attempt).startswith("FileNotFoundError")
    assert answer(unsafe, attempt) == path.stat().st_size


def test_the_course_cannot_be_imported_from_what_is_installed(closed):
    assert answer(closed, "import course").startswith("ModuleNotFoundError")
    assert answer(closed, "import matplotlib").startswith("ModuleNotFoundError")
    listing = "import os, sys; answer = os.listdir([p for p in sys.path if p.endswith('-packages')][0])"
    assert set(answer(closed, listing)) <= {"numpy", "numpy.libs"}


def test_what_is_installed_beside_the_interpreter_and_in_the_system_is_hidden(closed):
    attempt = """
        import glob, sys
        roots = {sys.base_prefix, "/usr", ""}
        answer = [p for root in roots for p in glob.glob(root + "/lib*/python3*/*-packages/*")]
    """
    assert {Path(path).name for path in answer(closed, attempt)} <= {"numpy", "numpy.libs"}


def test_home_shows_only_the_path_to_the_interpreter(closed, unsafe):
    home = Path.home()
    attempt = f"import os; answer = os.listdir({str(home)!r})"
    needed = {path.relative_to(home).parts[0] for path in module.sources() if path.is_relative_to(home)}
    seen = answer(closed, attempt)
    assert isinstance(seen, str) or set(seen) <= needed
    assert set(answer(unsafe, attempt)) == set(os.listdir(home))


def test_the_graders_environment_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", SECRET)
    attempt = """
        import glob, os
        answer = repr(os.environ)
        for path in glob.glob("/proc/[0-9]*/environ"):
            answer += open(path).read()
    """
    with Sandbox(write(tmp_path / "edition")) as sandbox:
        assert SECRET not in answer(sandbox, attempt)
        names = answer(sandbox, "import os; answer = sorted(os.environ)")
        assert set(names) <= {*module.ENVIRONMENT, "PWD", "LC_CTYPE"}
    with Sandbox(tmp_path / "edition", unsafe=True) as sandbox:
        assert "COURSE_TOKEN" not in answer(sandbox, "import os; answer = sorted(os.environ)")


def test_the_hosts_processes_cannot_be_seen_or_signalled(closed, unsafe):
    attempt = "import os; answer = [int(name) for name in os.listdir('/proc') if name.isdigit()]"
    assert len(answer(closed, attempt)) == 2
    assert os.getpid() in answer(unsafe, attempt)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        kill = f"import os; os.kill({bystander.pid}, 9); answer = 'killed'"
        assert answer(closed, kill).startswith("ProcessLookupError")
        assert answer(unsafe, kill) == "killed"
        assert bystander.wait(timeout=60) == -signal.SIGKILL


def test_the_graders_memory_cannot_be_read(closed):
    assert answer(closed, f"answer = open('/proc/{os.getpid()}/mem', 'rb')").startswith("FileNotFoundError")
    attempt = f"""
        import glob, os
        word, answer = {SECRET[::-1]!r}[::-1].encode(), []
        for maps in glob.glob("/proc/[0-9]*/maps"):
            if maps.split("/")[2] == str(os.getpid()):
                continue
            try:
                regions = [line.split() for line in open(maps) if line.split()[1].startswith("rw")]
                memory = open(maps.replace("/maps", "/mem"), "rb", 0)
            except OSError:
                continue
            for start, end in ([int(place, 16) for place in region[0].split("-")] for region in regions):
                memory.seek(start)
                if word in memory.read(end - start):
                    answer.append(maps)
    """
    assert answer(closed, attempt) == []


def test_the_network_is_closed(closed, unsafe):
    with socket.create_server(("127.0.0.1", 0)) as server:
        attempt = f"""
            import socket
            with socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 1):
                answer = "connected"
        """
        assert "Error" in answer(closed, attempt)
        assert answer(unsafe, attempt) == "connected"
    assert answer(closed, "import socket; answer = [name for _, name in socket.if_nameindex()]") == ["lo"]


def test_no_pipe_or_file_of_the_grader_is_open_in_the_child(closed):
    with open(__file__) as file:
        os.set_inheritable(file.fileno(), True)
        assert set(answer(closed, "import os; answer = os.listdir('/proc/self/fd')")) == set("0123")


# rights


def test_the_child_has_no_rights_and_can_gain_none(closed):
    lines = answer(closed, "answer = open('/proc/self/status').read()").splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"
    for namespace in (0x10000000, 0x00020000):  # of users, of mounts
        attempt = f"import ctypes; answer = ctypes.CDLL(None).unshare({namespace})"
        assert answer(closed, attempt) == -1


def test_the_child_is_not_root_outside_even_when_root_grades(closed):
    uid = int(answer(closed, "answer = open('/proc/self/uid_map').read()").split()[1])
    assert uid == (int(module.NOBODY) if os.geteuid() == 0 else os.geteuid())


@pytest.mark.parametrize(
    "folder", ["/", "/sandbox", "/dev", "/usr/lib", os.path.dirname(os.__file__), "/proc/sys/kernel"]
)
def test_nothing_can_be_written_outside_the_folders_in_memory(closed, folder):
    seen = answer(closed, f"answer = open({folder + '/planted'!r}, 'w').write('x')")
    assert isinstance(seen, str) and "Error" in seen


def test_nothing_can_be_written_beside_numpy(closed):
    planted = Path(module.np.__file__).parents[1] / "planted.py"
    assert "Read-only file system" in answer(closed, f"answer = open({str(planted)!r}, 'w').write('x')")


# limits


def test_memory_is_limited_to_one_gigabyte(closed, unsafe):
    for sandbox in (closed, unsafe):
        assert answer(sandbox, "import mmap; answer = len(mmap.mmap(-1, 500 << 20))") == 500 << 20
        assert answer(sandbox, "answer = len(bytearray(1 << 30))").startswith("MemoryError")


def test_a_file_is_limited_to_16_megabytes_and_all_files_to_the_size_of_their_folder(closed):
    attempt = "answer = open('/tmp/large', 'wb').write(bytes({size} << 20))"
    assert answer(closed, attempt.format(size=16)) == 16 << 20
    larger = "open('/tmp/large', 'wb', 0).write(bytes(1)); " + attempt.format(size=17)
    assert "File too large" in answer(closed, larger)
    for folder, size in module.MEMORY_FOLDERS.items():
        fill = f"""
            answer = 0
            try:
                for number in range(200):
                    with open(f"{folder}/{{number}}", "wb", 0) as file:
                        answer += file.write(bytes(1 << 20))
            except OSError as error:
                assert error.errno == 28, error
        """
        assert size - (18 << 20) <= answer(closed, fill) <= size


def test_a_fork_bomb_and_a_thread_bomb_are_limited_to_four(closed):
    forks = """
        import os
        children = []
        try:
            while len(children) < 50:
                child = os.fork()
                if child == 0:
                    os.read(os.pipe()[0], 1)
                children.append(child)
        except BlockingIOError:
            pass
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        answer = len(children)
    """
    assert answer(closed, forks) < LIMITS["RLIMIT_NPROC"]
    threads = """
        import threading
        wait, begun = threading.Event(), []
        try:
            while len(begun) < 50:
                begun.append(threading.Thread(target=wait.wait, daemon=True))
                begun[-1].start()
        except RuntimeError:
            begun.pop()
        wait.set()
        [thread.join() for thread in begun]
        answer = len(begun)
    """
    assert answer(closed, threads) < LIMITS["RLIMIT_NPROC"]


def test_all_limits_are_hard(closed, unsafe):
    attempt = "import resource; answer = [resource.getrlimit(getattr(resource, name)) for name in {names}]"
    assert answer(closed, attempt.format(names=list(LIMITS))) == [[most, most] for most in LIMITS.values()]
    names = ["RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_CPU"]
    assert answer(unsafe, attempt.format(names=names)) == [[LIMITS[name]] * 2 for name in names]
    raised = "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); answer = 'raised'"
    assert answer(closed, raised).startswith("ValueError")


@pytest.mark.parametrize("is_unsafe", [False, True])
def test_much_text_neither_stops_the_child_nor_fills_our_memory(tmp_path, is_unsafe):
    with Sandbox(write(tmp_path / "edition"), is_unsafe) as sandbox:
        loud = "import sys; [sys.stderr.write('first ' + 'x' * (1 << 20)) for _ in range(100)]; answer = 1"
        assert answer(sandbox, loud) == 1
    assert sandbox.text().startswith("first x")
    assert len(sandbox.text()) == module.TEXT_KEPT


# the child's environment


@pytest.mark.parametrize("is_unsafe", [False, True])
def test_the_child_has_numpy_one_thread_and_its_edition(tmp_path, is_unsafe):
    edition = write(tmp_path / "edition")
    edition.joinpath("minigrad").mkdir(mode=0o700)
    edition.joinpath("minigrad/__init__.py").write_text("here = 'the edition'")
    edition.joinpath("minigrad/__init__.py").chmod(0o600)
    with Sandbox(edition, is_unsafe) as sandbox:
        assert answer(sandbox, "import minigrad; answer = minigrad.here") == "the edition"
        product = "import numpy as np; answer = float((np.ones((300, 300)) @ np.ones((300, 2))).sum())"
        assert answer(sandbox, product) == 180000
        assert answer(sandbox, "import os; answer = len(os.listdir('/proc/self/task'))") == 1
        assert answer(sandbox, "answer = [__import__('sys').argv[0][-9:], ascii(open('/tmp/ä', 'w').name)]")
        order = answer(sandbox, "answer = list({'one', 'two', 'three', 'four', 'five'})")
    with Sandbox(edition, is_unsafe) as sandbox:
        assert order == answer(sandbox, "answer = list({'one', 'two', 'three', 'four', 'five'})")


# processes left behind

STUBBORN = """
    import os, signal, time
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            for number in range(1, 32):
                if number not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(number, signal.SIG_IGN)
            time.sleep(600)
    answer = "forked"
"""


def processes_that_name(path):
    """The host's processes with the path in their command line, except our own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(path) in folder.joinpath("cmdline").read_text() and int(folder.name) != os.getpid():
                found.append(folder.name)
        except OSError:  # it ended meanwhile
            continue
    return found


GONE = 10.0  # seconds in which a submission disappears; it takes less than one where nothing else runs


def soon(condition, seconds=GONE):
    """Whether the condition comes true in the time that a submission has to disappear."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_nothing_runs_after_the_block(tmp_path):
    edition = write(tmp_path / "edition")
    with Sandbox(edition) as sandbox:
        assert answer(sandbox, STUBBORN) == "forked"
        assert processes_that_name(edition)
        held = os.dup(sandbox.stdout.fileno())  # each of the child's processes holds the other end
        assert not select.select([held], [], [], 0.1)[0]
    assert select.select([held], [], [], GONE)[0] and os.read(held, 1) == b""
    assert soon(lambda: not processes_that_name(edition))
    os.close(held)


def test_the_sandbox_dies_with_a_killed_grader(tmp_path):
    edition = write(tmp_path / "edition")
    grader = f"""
        from classroom.sandbox import Sandbox
        with Sandbox({str(edition)!r}):
            print("up", flush=True)
            input()
    """
    words, environment = (
        [sys.executable, "-c", textwrap.dedent(grader)],
        os.environ | {"PYTHONPATH": str(ROOT)},
    )
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen(words, cwd=ROOT, env=environment, **pipes) as process:
        assert process.stdout.readline() == b"up\n"
        assert len(processes_that_name(edition)) > 1
        process.kill()
    assert soon(lambda: not processes_that_name(edition))


@pytest.mark.parametrize("victim", ["os.getppid()", "1", "-1", "0"])
def test_a_child_that_kills_what_it_can_kills_only_its_sandbox(tmp_path, victim):
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with bystander, Sandbox(write(tmp_path / "edition")) as sandbox:
        attempt = f"import os; os.kill({victim}, 9); answer = 'alive'"
        sandbox.stdin.write(json.dumps(attempt).encode() + b"\n")
        gone = b'"ProcessLookupError: [Errno 3] No such process"\n'
        assert sandbox.stdout.readline() in (b"", b'"alive"\n', gone)
        bystander.communicate(b"\n")
        assert bystander.returncode == 0


def test_a_child_that_ended_or_closed_its_pipes_is_left_without_an_error(tmp_path):
    with Sandbox(write(tmp_path / "edition", "import os; os.closerange(0, 3); os._exit(3)")) as sandbox:
        assert sandbox.stdout.read(1) == b""
        assert sandbox.process.wait(timeout=60) == 3
    with Sandbox(write(tmp_path / "sleeper", "import time; time.sleep(600)")) as sandbox:
        begin = time.monotonic()
    assert time.monotonic() - begin < GONE


def test_another_thread_can_kill_the_child_and_wake_a_waiting_thread(tmp_path):
    with Sandbox(write(tmp_path / "edition", "import time; time.sleep(600)")) as sandbox:
        timer = threading.Timer(0.1, sandbox.kill)
        timer.start()
        assert sandbox.stdout.read(1) == b""
        with pytest.raises(BrokenPipeError):
            while True:  # the last process may still hold its end for a moment
                sandbox.stdin.write(bytes(1 << 20))
        timer.join()


def ended(pid):
    """Whether a process of the host is gone, or is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_at_the_level_rlimits_the_childs_group_is_killed_and_one_that_fled_delays_nobody(tmp_path):
    with Sandbox(write(tmp_path / "edition"), unsafe=True) as sandbox:
        child = answer(sandbox, "import os, time; answer = os.fork() or time.sleep(600)")
        flee = "import os, time\nanswer = os.fork()\nif not answer: os.setsid(); time.sleep(600)"
        fled = answer(sandbox, flee)
        assert soon(lambda: os.getsid(fled) == fled)  # it has fled
    assert soon(lambda: ended(child))
    assert sandbox._listener.is_alive()
    os.kill(fled, signal.SIGKILL)
    sandbox._listener.join(timeout=5)
    sandbox.process.stderr.close()


def test_where_groups_do_not_exist_the_child_itself_is_killed(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "killpg")
    with Sandbox(write(tmp_path / "edition"), unsafe=True) as sandbox:
        pass
    assert sandbox.process.returncode == -signal.SIGKILL


# the grader's faults


def test_without_bubblewrap_nothing_is_graded_unless_unsafe_is_asked_for(tmp_path, monkeypatch):
    assert level() == "bubblewrap", "install Debian's package bubblewrap: these tests need it"
    monkeypatch.setenv("PATH", str(tmp_path))
    told = "^not graded, because the program bwrap is not installed: install bubblewrap"
    for attempt in (level, try_to_escape, lambda: Sandbox(tmp_path)):
        with pytest.raises(GradingFault, match=told):
            attempt()
    assert level(unsafe=True) == "rlimits"


def test_root_needs_setpriv_too(tmp_path, monkeypatch):
    tmp_path.joinpath("bwrap").symlink_to(shutil.which("bwrap"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(GradingFault, match="the program setpriv is not installed"):
        level()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert level() == "bubblewrap"


@pytest.mark.parametrize(
    "script, sentence",
    [
        ("echo 'bwrap: Unknown option --disable-userns' >&2; exit 1", "Unknown option --disable-userns"),
        ("exit 1", "it printed nothing"),
        (None, "Exec format error"),
        ("exec sleep 0", "it printed nothing"),
    ],
)
def test_a_sandbox_that_does_not_start_is_our_fault(tmp_path, monkeypatch, script, sentence):
    source = f"#!/bin/sh\n{script}\n" if script else "neither script nor program"
    tmp_path.joinpath("bwrap").write_text(source)
    tmp_path.joinpath("bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(GradingFault, match=f"^not graded, because the sandbox did not start: .*{sentence}"):
        with Sandbox(write(tmp_path / "edition")):
            pass


@pytest.mark.parametrize("is_unsafe", [False, True])
def test_a_child_that_cannot_be_read_is_our_fault(tmp_path, is_unsafe):
    for source in ("def", None):
        edition = write(tmp_path / "edition", source or CHILD)
        if source is None:
            edition.joinpath("child.py").unlink()
        with pytest.raises(GradingFault, match="SyntaxError|FileNotFoundError"):
            with Sandbox(edition, is_unsafe):
                pass


def test_root_starts_the_sandbox_as_nobody_and_a_user_starts_it_alone(tmp_path, monkeypatch):
    edition = write(tmp_path / "edition")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert sum(str(word).endswith("bwrap") for word in module._bubblewrap(edition)) == 1
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    edition.chmod(0o700)
    command = module._bubblewrap(edition)
    assert command[command.index("--reuid") + 1] == module.NOBODY
    assert "--disable-userns" in command[command.index("--reuid") :]
    assert edition.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "platform, names",
    [
        ("darwin", {"FSIZE", "CORE", "CPU", "NOFILE"}),
        ("win32", set()),
        ("linux", {"AS", "FSIZE", "CORE", "CPU", "NOFILE"}),
    ],
)
def test_the_level_rlimits_sets_the_limits_that_the_system_supports(tmp_path, monkeypatch, platform, names):
    monkeypatch.setattr(module.sys, "platform", platform)
    monkeypatch.setenv("SYSTEMROOT", "C:/Windows")
    with Sandbox(write(tmp_path / "edition"), unsafe=True) as sandbox:
        limits = json.loads(sandbox.process.args[-1])
        assert answer(sandbox, "import os; answer = os.environ['SYSTEMROOT']") == "C:/Windows"
    assert set(limits) == {f"RLIMIT_{name}" for name in names}


def test_ten_sandboxes_at_once_each_have_their_own_limits(tmp_path):
    edition, answers = write(tmp_path / "edition"), []

    def fork():
        with Sandbox(edition) as sandbox:
            answers.append(answer(sandbox, "import os; answer = os.fork() > 0 or os._exit(0)"))

    threads = [threading.Thread(target=fork) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 10
