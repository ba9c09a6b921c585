"""The command line: `python -m benchmarks`, `python -m benchmarks scaling`, `python -m benchmarks draw`."""

import argparse
import sys

from tqdm import tqdm

from benchmarks import page, results, table
from benchmarks.comparison import Disagreement, compare, contestants
from benchmarks.scaling import PARTS, scale
from benchmarks.workloads import WORKLOADS

NO_TORCH = (
    "PyTorch is not installed here, so the ratios to it are missing. To add it to .venv:\n"
    '    .venv/bin/uv pip install --python .venv/bin/python --editable ".[bench]"'
)
THREADS = (1, 2)
ROUNDS = 7  # with fewer, the median is unreliable


def _short(name):
    """Return a workload's name on the command line: W2 for both of its optimizers."""
    return name.split()[0]


def run_table(chosen):
    """Measure the table, print it, and save it if requested."""
    rounds, seconds = (3, 0.03) if chosen.quick else (chosen.rounds, 0.2)
    workloads = [workload for workload in WORKLOADS.values() if _short(workload.name) in chosen.workloads]
    turns = len(workloads) * len(THREADS) * rounds * len(contestants())
    rows = []
    with tqdm(total=turns, unit=" turns") as bar:
        for threads in THREADS:
            for workload in workloads:
                bar.set_description(f"{workload.name}, threads: {threads}")
                rows.append(compare(workload, threads, rounds, seconds, bar.update))
    print(table.text(rows))
    print(f"All compute in float32. A goal counts as met up to {table.SLACK - 1:.0%} above it.")
    for threads in THREADS:
        noise = table.spread([row for row in rows if row["threads"] == threads])
        print(f"Threads: {threads}. The ratio of a single round is within {noise:.0%} of its median.")
    if "torch" not in contestants():
        print(NO_TORCH)
    if chosen.save:
        results.save("table", {"rounds": rounds, "rows": rows})


def run_scaling(chosen):
    """Measure how costs grow, print this, and save it if requested."""
    rounds, seconds = (1, 0.01) if chosen.quick else (chosen.rounds, 0.1)
    with tqdm(PARTS, unit=" parts") as bar:
        found = scale(bar, rounds, seconds)
    print("\n\n".join(page.scaling_text(found)))
    if "torch" not in contestants():
        print(NO_TORCH)
    if chosen.save:
        results.save("scaling", {"rounds": rounds, **found})


def draw(_):
    """Update the book's page and its figures from the saved results."""
    page.refresh(results.load())


def arguments_of(words=None):
    """Parse the command line; exit with an error message if it is invalid."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    add, shorts = parser.add_argument, list(dict.fromkeys(map(_short, WORKLOADS)))
    add("what", nargs="?", choices=("table", "scaling", "draw"), default="table", help="(table)")
    add("--workloads", nargs="+", choices=shorts, default=shorts, help="rows of the table (all)")
    add("--rounds", type=int, default=ROUNDS, help=f"turns of each contestant ({ROUNDS})")
    add("--quick", action="store_true", help="a short run, too noisy to save")
    add("--save", action="store_true", help="save the results in benchmarks/results.json")
    chosen = parser.parse_args(words)
    if chosen.rounds < 1:
        parser.error(f"--rounds: at least 1, got {chosen.rounds}.")
    if chosen.save and (chosen.quick or chosen.rounds < ROUNDS or chosen.workloads != shorts):
        parser.error(f"--save needs whole results: all workloads, {ROUNDS} rounds or more, not --quick.")
    return chosen


def main(words=None):
    """Run one command, and return its exit status."""
    chosen = arguments_of(words)
    try:
        {"table": run_table, "scaling": run_scaling, "draw": draw}[chosen.what](chosen)
    except (Disagreement, page.Unfinished) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
