"""One contestant's process: `python -m benchmarks.child`, controlled by benchmarks.runner.

In its own process a contestant shares neither an allocator nor threads with others, and its peak memory is
its own. The first input line names the step to make. Each further line is a number of steps to take; the
answer is their cost.
"""

import importlib
import json
import sys
import time

from benchmarks.workloads import Workload


def make(target, arguments):
    """Make the step of a target.

    Parameters
    ----------
    target : str
        "module:function", the module inside benchmarks.
    arguments : dict
        Arguments of the function; the dict workload is converted to a Workload.

    Returns
    -------
    function, () -> loss or None
    """
    module, function = target.split(":")
    if "workload" in arguments:
        arguments = {**arguments, "workload": Workload(**arguments["workload"])}
    return getattr(importlib.import_module(f"benchmarks.{module}"), function)(**arguments)


def peak_bytes():
    """Return the peak memory of this process in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def burst(step, count, cpu_clock=time.process_time, wall_clock=time.perf_counter):
    """Take steps, and return their cost.

    Parameters
    ----------
    step : function, () -> loss or None
    count : int
    cpu_clock, wall_clock : function, () -> float
        Clocks in seconds.

    Returns
    -------
    dict
        cpu and wall, in seconds; last, the last step's return value, as a float or None.
    """
    wall, cpu = wall_clock(), cpu_clock()
    for _ in range(count):
        last = step()
    cpu, wall = cpu_clock() - cpu, wall_clock() - wall
    if hasattr(last, "item"):  # an array or a tensor of one number
        last = last.item()
    return {"cpu": cpu, "wall": wall, "last": last}


def main(lines, say):
    """Make the step of the first line, then answer each further line.

    Parameters
    ----------
    lines : iterator of str
    say : function of str
        Sends a line back.
    """
    order = json.loads(next(lines))
    if order["first"] is not None:  # exclude memory that a library allocates at its first use
        make(order["target"], order["first"])()
    before = peak_bytes()
    step = make(order["target"], order["arguments"])
    for line in lines:
        say(json.dumps({**burst(step, int(line)), "bytes": peak_bytes() - before}))


if __name__ == "__main__":
    main(iter(sys.stdin.readline, ""), lambda line: print(line, flush=True))
