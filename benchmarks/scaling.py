"""Measure how costs scale with batch, width, depth; and a layer, a gradient check, an epoch, an import.

All costs are CPU time on one thread. course.figures.benchmarks draws the results, and page.py describes them.
"""

import re
import statistics
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace

from benchmarks.comparison import contestants
from benchmarks.rounds import interleave, steps_for
from benchmarks.runner import ROOT, Runner
from benchmarks.workloads import WORKLOADS

BASE = replace(WORKLOADS["W2 SGD"], name="base", goal_numpy=None, goal_products=None)  # 64-128-10, batch 64
EPOCH = replace(BASE, name="epoch", sizes=(784, 128, 10), batch=128, optimizer="Adam", learning_rate=1e-4)
EXAMPLES = 60_000  # the size of MNIST's training set
GROWTH = {
    "batch": {batch: replace(BASE, batch=batch) for batch in (1, 4, 16, 64, 256, 1024)},
    "width": {width: replace(BASE, sizes=(64, width, 10)) for width in (16, 64, 256, 1024)},
    "depth": {depth: replace(BASE, sizes=(64, *[64] * depth, 10)) for depth in (1, 4, 16, 64)},
}
LAYERS = (1, 101)  # two depths, whose difference in time is the cost of 100 layers
WIDTHS = (3, 7, 17, 31, 61, 127)  # of the layers for gradcheck
PARTS = (*GROWTH, "layer", "gradcheck", "epoch", "import")


def growth(workloads, rounds, seconds):
    """Measure the microseconds per step of each workload; minigrad and PyTorch take turns.

    Parameters
    ----------
    workloads : dict of int to Workload
    rounds : int
    seconds : float
        Duration of a turn.

    Returns
    -------
    dict
        values, the keys of `workloads`; and contestant to list of microseconds.
    """
    targets = {name: target for name, target in contestants().items() if name in ("minigrad", "torch")}
    found = {"values": list(workloads), **{name: [] for name in targets}}
    for workload in workloads.values():
        with ExitStack() as stack:
            runners = {
                name: stack.enter_context(Runner(target, {"workload": asdict(workload)}))
                for name, target in targets.items()
            }
            for name, times in interleave(runners, rounds, seconds).items():
                found[name].append(1e6 * statistics.median(times))
    return found


def layer_cost(rounds, seconds):
    """Measure the microseconds of an identity layer, forward and backward, for each kind of layer."""
    found = {}
    for kind in ("function", "Layer"):
        with ExitStack() as stack:
            runners = {
                depth: stack.enter_context(Runner("small_costs:closures", {"kind": kind, "depth": depth}))
                for depth in LAYERS
            }
            times = interleave(runners, rounds, seconds)
        few, many = LAYERS
        differences = [more - less for more, less in zip(times[many], times[few], strict=True)]
        found[kind] = 1e6 * statistics.median(differences) / (many - few)
    return found


def gradcheck_cost(rounds, seconds):
    """Measure the milliseconds of gradcheck on linear layers, and count their parameters."""
    found = {"parameters": [width * width + width for width in WIDTHS], "milliseconds": []}
    for width in WIDTHS:
        with Runner("small_costs:check", {"width": width}) as runner:
            count = steps_for(runner, seconds)
            times = [runner.run(count)["cpu"] / count for _ in range(rounds)]
        found["milliseconds"].append(1e3 * statistics.median(times))
    return found


def epoch_cost(rounds, examples=EXAMPLES):
    """Measure the seconds of an epoch over data of MNIST's size, for minigrad and PyTorch."""
    targets = {"minigrad": "with_minigrad:epoch", "torch": "with_torch:epoch"}
    arguments = {"workload": asdict(EPOCH), "examples": examples}
    with ExitStack() as stack:
        runners = {
            name: stack.enter_context(Runner(target, arguments))
            for name, target in targets.items()
            if name in contestants()
        }
        times = {name: [] for name in runners}
        for runner in runners.values():
            runner.run(1)  # warm-up
        for _ in range(rounds):
            for name, runner in runners.items():
                times[name].append(runner.run(1)["cpu"])
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def import_cost(rounds):
    """Measure the fewest milliseconds of `import numpy`, and those that `import minigrad` adds."""
    found = {"numpy": [], "minigrad": []}
    for _ in range(rounds):
        command = [sys.executable, "-X", "importtime", "-c", "import numpy, minigrad"]
        output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stderr
        for name, milliseconds in found.items():
            (cumulative,) = re.findall(rf"\|\s*(\d+) \| {name}$", output, re.MULTILINE)
            milliseconds.append(int(cumulative) / 1000)
    return {name: min(milliseconds) for name, milliseconds in found.items()}


def scale(parts, rounds, seconds):
    """Measure all parts.

    Parameters
    ----------
    parts : iterable of str
        PARTS, or a progress bar that yields them.
    rounds : int
    seconds : float
        Duration of a turn.

    Returns
    -------
    dict of str to dict
        Part to results.
    """
    measure = {
        **{part: lambda part=part: growth(GROWTH[part], rounds, seconds) for part in GROWTH},
        "layer": lambda: layer_cost(rounds, seconds),
        "gradcheck": lambda: gradcheck_cost(rounds, seconds),
        "epoch": lambda: epoch_cost(min(rounds, 3)),
        "import": lambda: import_cost(rounds),
    }
    return {part: measure[part]() for part in parts}
