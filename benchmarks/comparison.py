"""One row of the table: all contestants on one workload and number of threads, from the same start.

The contestants must first agree on the loss after twenty steps; then they take turns. A single thread is
timed by its process's CPU time, which other programs disturb least; several threads, by wall-clock time,
since waiting is part of their work.
"""

import importlib.util
import statistics
from contextlib import ExitStack
from dataclasses import asdict

from benchmarks.rounds import interleave, ratio
from benchmarks.runner import Runner
from benchmarks.workloads import WORKLOADS

CONTESTANTS = {
    "minigrad": "with_minigrad:step",
    "numpy": "with_numpy:step",
    "torch": "with_torch:eager",
    "torch_best": "with_torch:best",
    "products": "products:step",
}
STEPS = 20  # after which the losses are compared
# Relative to the change of the loss. In float32 the contestants differed by up to 1e-4: they add in different
# orders, and Adam divides small gradients by small numbers. A learning rate that is wrong by 1% causes a
# difference ten times as large as the tolerance.
TOLERANCE = 1e-3
PAUSE = 0.05  # seconds; threads that wait for more work spin for about that long


class Disagreement(AssertionError):
    """Two contestants compute different results, so their times must not be compared."""


def contestants():
    """List the contestants available here; without PyTorch, these are three of the five."""
    has_torch = importlib.util.find_spec("torch") is not None
    return {name: target for name, target in CONTESTANTS.items() if has_torch or "torch" not in name}


def require_agreement(first, last):
    """Raise Disagreement if the contestants' losses differ.

    Parameters
    ----------
    first, last : dict of str to float or None
        The losses of each contestant at the start and after the same steps; None for one without a loss.

    Raises
    ------
    Disagreement
        If one differs from raw NumPy, at the start or at the end, or the loss has hardly changed.
    """
    change = abs(last["numpy"] - first["numpy"])
    if not change > 1e-3 * abs(first["numpy"]):  # float32 resolves a ten-thousandth of this
        raise Disagreement(f"the loss has hardly moved, from {first['numpy']} to {last['numpy']}.")
    for when, losses in (("at the start", first), (f"after {STEPS} steps", last)):
        for name, loss in losses.items():
            if loss is not None and not abs(loss - losses["numpy"]) <= TOLERANCE * change:
                raise Disagreement(
                    f"{when} the loss of {name} is {loss}, but raw NumPy's is {losses['numpy']}: they do "
                    "not take the same step, so their times cannot be compared."
                )


def compare(workload, threads=1, rounds=7, seconds=0.2, after_turn=lambda: None):
    """Time a step of every contestant, and return a row of the table.

    Parameters
    ----------
    workload : Workload
    threads : int
    rounds : int
    seconds : float
        Duration of a contestant's turn.
    after_turn : function
        Called after each turn.

    Returns
    -------
    dict
        workload, threads; microseconds of a step of minigrad; to_torch, to_torch_best, to_numpy: lowest,
        median and highest ratio of minigrad's time to theirs; products: the share of minigrad's time that
        the matrix products alone take; bytes, torch_bytes: growth of the peak memory. PyTorch's values are
        None without it.

    Raises
    ------
    Disagreement
        If the contestants' results differ.
    """
    clock, pause = ("cpu", 0.0) if threads == 1 else ("wall", PAUSE)
    smallest = asdict(WORKLOADS["W1"])
    with ExitStack() as stack:
        runners = {
            name: stack.enter_context(
                Runner(target, {"workload": asdict(workload)}, threads, {"workload": smallest})
            )
            for name, target in contestants().items()
        }
        first = {name: runner.run(1) for name, runner in runners.items()}
        then = {name: runner.run(STEPS) for name, runner in runners.items()}
        require_agreement(*({name: cost["last"] for name, cost in costs.items()} for costs in (first, then)))
        times = interleave(runners, rounds, seconds, clock, pause, after_turn)
    row = {
        "workload": workload.name,
        "threads": threads,
        "microseconds": 1e6 * statistics.median(times["minigrad"]),
        "products": ratio(times["products"], times["minigrad"])[1],
        "bytes": then["minigrad"]["bytes"],
        "torch_bytes": then["torch"]["bytes"] if "torch" in then else None,
    }
    for other in ("torch", "torch_best", "numpy"):
        row[f"to_{other}"] = ratio(times["minigrad"], times[other]) if other in times else None
    return row
