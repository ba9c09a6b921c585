"""An attempt to escape from the sandbox (``classroom.sandbox``), made once before a class is graded."""

import json
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from classroom.faults import GradingFault
from classroom.sandbox import ENVIRONMENT, LIMITS, Sandbox, sources

# Runs in place of child.py; tests files by opening them, and forks by forking.
ATTEMPT = """
import glob, json, os, socket, sys
asked = json.loads(sys.stdin.readline())
def attempt(action, *arguments):
    try:
        return action(*arguments)
    except (OSError, AttributeError):
        return None
def opens(path):
    with open(path, "rb") as file:
        return file.read()
facts = {
    "numpy": attempt(opens, asked["numpy"]) is not None,
    "network": attempt(socket.create_connection, ("127.0.0.1", asked["port"]), 0.2) is not None,
    "files": [path for path in asked["files"] if attempt(opens, path) is not None],
    "home": attempt(os.listdir, asked["home"]) or [],
    "processes": len(glob.glob("/proc/[0-9]*")),
    "environment": sorted({line.split(b"=")[0].decode() for path in glob.glob("/proc/[0-9]*/environ")
                           for line in (attempt(opens, path) or b"").split(bytes(1)) if line}),
    "forks": 0,
}
while facts["forks"] < 8 and attempt(lambda: os.fork() or os._exit(0)):
    facts["forks"] += 1
print(json.dumps(facts), flush=True)
"""


def try_to_escape(unsafe=False):
    """Try to escape from a sandbox, once before a class is graded.

    Parameters
    ----------
    unsafe : bool
        Try at the level rlimits, which does not prevent an escape, so nothing is raised.

    Returns
    -------
    facts : dict
        The level; whether the child found `numpy`; whether it reached the `network`; which of our `files` it
        read (a canary, the grader's source, the password files); what it saw in our `home`; how many
        `processes` it saw; the names in their `environment`; and how many `forks` it could make at once.

    Raises
    ------
    GradingFault
        If the child could escape at the level bubblewrap, or the sandbox did not start.
    """
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        edition, canary = Path(folder, "edition"), Path(folder, "canary")
        edition.mkdir()
        edition.joinpath("child.py").write_text(ATTEMPT, encoding="utf-8")
        canary.write_text("unread", encoding="utf-8")
        files = [str(path) for path in (canary, Path(__file__), Path("/etc/passwd"), Path("/etc/shadow"))]
        asked = {"files": files, "home": str(Path.home()), "numpy": np.__file__}
        asked["port"] = server.getsockname()[1]
        with Sandbox(edition, unsafe) as sandbox:
            with suppress(BrokenPipeError):  # the child has ended; its missing answer is reported below
                sandbox.stdin.write(json.dumps(asked).encode() + b"\n")
            answer = sandbox.stdout.readline()
        if not answer:
            printed = sandbox.text()[-500:]
            raise GradingFault(f"not graded, because the attempt to escape gave no answer: {printed}")
    facts = {"level": sandbox.level} | json.loads(answer)
    if not unsafe:
        _require_closed(facts)
    return facts


def _require_closed(facts):
    """Raise GradingFault if there is a way out of the sandbox; name the first."""
    needed = {
        path.relative_to(Path.home()).parts[0] for path in sources() if path.is_relative_to(Path.home())
    }
    known = {*ENVIRONMENT, "PWD", "LC_CTYPE"}
    failures = {
        "it cannot read NumPy": not facts["numpy"],
        "it can reach the network": facts["network"],
        "it can read our files": facts["files"],
        "it can look into our home": set(facts["home"]) - needed,
        "it can see our processes": facts["processes"] > LIMITS["RLIMIT_NPROC"],
        "it can see our environment": set(facts["environment"]) - known,
        "it can start processes without end": facts["forks"] >= LIMITS["RLIMIT_NPROC"],
    }
    for failure, has_happened in failures.items():
        if has_happened:
            raise GradingFault(f"not graded, because the sandbox on this machine is not safe: {failure}.")
