"""The other end of a child process: say how many steps, hear what they cost.

Holds Runner. Leaves out what happens in the child (child.py) and when whose turn it is (rounds.py).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Runner:
    """A child process that can take the steps of one target; use it in a with statement.

    Parameters
    ----------
    target : str
        "module:function" inside benchmarks, which makes the step.
    arguments : dict
        Of that function.
    threads : int
        How many threads the child may compute with.
    first : dict, optional
        Other arguments, to make and take one step of before the memory is looked at.

    Raises
    ------
    RuntimeError
        From `run`, if the child has ended; what it said went to this process's stderr.
    """

    def __init__(self, target, arguments, threads=1, first=None):
        self.target = target
        environment = os.environ | dict.fromkeys(THREADS, str(threads))
        command = [sys.executable, "-m", "benchmarks.child"]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
        )
        self._say(json.dumps({"target": target, "arguments": arguments, "first": first}))

    def run(self, count):
        """Take steps, and return what they cost: cpu and wall (seconds), last (a loss), bytes (peak)."""
        self._say(str(count))
        answer = self.child.stdout.readline()
        if not answer:
            raise RuntimeError(f"the child that runs {self.target} ended early; its own words stand above.")
        return json.loads(answer)

    def _say(self, line):
        """Send a line; a child that has ended is noticed when its answer does not come."""
        try:
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.child.communicate()  # closes its stdin, upon which it ends
