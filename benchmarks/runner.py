"""Control a child process: send the number of steps, receive their cost.

Holds Runner. The child's code is in child.py, and the schedule in rounds.py.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Runner:
    """A child process that takes the steps of one target; use it in a with statement.

    Parameters
    ----------
    target : str
        "module:function" inside benchmarks, which makes the step.
    arguments : dict
        Arguments of that function.
    threads : int
        Number of threads for the child.
    first : dict, optional
        Arguments of a step that is made and taken before memory is measured.

    Raises
    ------
    RuntimeError
        From `run`, if the child has ended; its messages go to this process's stderr.
    """

    def __init__(self, target, arguments, threads=1, first=None):
        self.target = target
        environment = os.environ | dict.fromkeys(THREADS, str(threads))
        command = [sys.executable, "-m", "benchmarks.child"]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
        )
        self._send(json.dumps({"target": target, "arguments": arguments, "first": first}))

    def run(self, count):
        """Take steps, and return their cost: cpu and wall (seconds), last (a loss), bytes (peak)."""
        self._send(str(count))
        answer = self.child.stdout.readline()
        if not answer:
            raise RuntimeError(f"the child that runs {self.target} ended early; see its error above.")
        return json.loads(answer)

    def _send(self, line):
        """Send a line; if the child has ended, `run` raises because of the missing answer."""
        try:
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.child.communicate()  # closes its stdin, so that it ends
