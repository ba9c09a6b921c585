"""One thing to time in a process of its own: `python -m benchmarks.child`, driven by benchmarks.runner.

Alone in its process it shares neither an allocator nor threads with another contestant, and its peak memory
is its own. The first line that it reads says what to make; each further line says how many steps to take,
and is answered with what they cost. Leaves out the other end of the line: that is runner.py.
"""

import importlib
import json
import sys
import time

from benchmarks.workloads import Workload


def make(target, arguments):
    """Return the step that a target makes.

    Parameters
    ----------
    target : str
        "module:function", the module inside benchmarks.
    arguments : dict
        Of the function; a dict called workload becomes a Workload.

    Returns
    -------
    function, () -> loss or None
    """
    module, function = target.split(":")
    if "workload" in arguments:
        arguments = {**arguments, "workload": Workload(**arguments["workload"])}
    return getattr(importlib.import_module(f"benchmarks.{module}"), function)(**arguments)


def peak_bytes():
    """Return the most memory that this process has held so far; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def burst(step, count, cpu_clock=time.process_time, wall_clock=time.perf_counter):
    """Take steps, and return what they cost.

    Parameters
    ----------
    step : function, () -> loss or None
    count : int
    cpu_clock, wall_clock : function, () -> float
        In seconds.

    Returns
    -------
    dict
        cpu and wall, in seconds; last, what the last step returned, as a float or None.
    """
    wall, cpu = wall_clock(), cpu_clock()
    for _ in range(count):
        last = step()
    cpu, wall = cpu_clock() - cpu, wall_clock() - wall
    if hasattr(last, "item"):  # an array or a tensor of one number
        last = last.item()
    return {"cpu": cpu, "wall": wall, "last": last}


def main(lines, say):
    """Make what the first line asks for, then answer each further line.

    Parameters
    ----------
    lines : iterator of str
    say : function of str
        Sends a line back.
    """
    order = json.loads(next(lines))
    if order["first"] is not None:  # what a library loads at its first use is not the workload's memory
        make(order["target"], order["first"])()
    before = peak_bytes()
    step = make(order["target"], order["arguments"])
    for line in lines:
        say(json.dumps({**burst(step, int(line)), "bytes": peak_bytes() - before}))


if __name__ == "__main__":
    main(iter(sys.stdin.readline, ""), lambda line: print(line, flush=True))
