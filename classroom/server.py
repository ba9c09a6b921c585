"""Server resources per learner: memory, processor and disk. Linux only, since it reads /proc.

`python -m classroom.server` measures and prints; `--save` writes book/teaching/where/measured.json and
the tables of book/teaching/where.md; `--draw` writes the tables again. Each number on that page is measured
here, or computed from the measurements by a formula that the page shows.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from unittest.mock import patch
from urllib.error import URLError
from urllib.request import Request, urlopen

import nbformat
from tqdm import tqdm

from authoring import notebooks
from authoring.work import copy_to_work
from benchmarks import results, table
from course import store

PAGE = store.PROJECT / "book/teaching/where.md"
MEASURED = PAGE.parent / "where/measured.json"
CHAPTERS = ("00", "04", "08", "14", "17", "22")
SERVERS = 5  # at once: they share their programs' memory pages, as learners on one machine do
SETTLED = 20  # seconds until an unused server has finished starting
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # as on a shared server
LOOKS = 0.1  # seconds between two readings of a kernel's memory
MB = 1e6
# The assumptions of the computed tables; the page names them all.
KERNELS = 2  # a chapter and its exercises, open side by side
MINUTES = 75  # a learner's time for a chapter; the chapters state 60 to 95
WAIT = 60  # seconds that the last learner waits when all run the longest cell at the same time
NODE_CORES, NODE_MEMORY = 16, 64_000  # a machine of a cluster; megabytes
RESERVED = 0.1  # of a machine's memory, for its system
STEP = 50  # megabytes: the guarantee is rounded up to a multiple; the limit, to a whole gigabyte
# number of learners: the share that works at the same time
AT_ONCE = {30: 1, 100: 1, 300: 0.5, 1000: 0.2, 3000: 0.2, 10_000: 0.2}
BLOCK = r"(<!-- measured: {} -->\n).*?(<!-- end -->)"


def memory(pid):
    """Return a process's memory in bytes: current share (PSS) and peak (RSS).

    Parameters
    ----------
    pid : int

    Returns
    -------
    tuple of (int, int)
        PSS divides a page equally among the processes that share it, so that sums are correct.
    """
    share = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    most = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return 1024 * int(share[1]), 1024 * int(most[1])


def family(pid):
    """Return the ids of a process and of its running descendants."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        for task in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            waiting += map(int, task.read_text().split())
    return found


def share_of(pid):
    """Return the memory (PSS) of a process and its descendants, in bytes."""
    total = 0
    for each in family(pid):
        try:
            total += memory(each)[0]
        except (OSError, TypeError):  # the process has ended in the meantime
            continue
    return total


def processor(pid):
    """Return the CPU seconds that a process and its ended children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def servers(count, folder=store.PROJECT / "notebooks"):
    """Start JupyterLab servers, open a page of each, and return their mean idle memory in bytes.

    Parameters
    ----------
    count : int
    folder : Path
        The folder that they serve.
    """
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ServerApp.port_retries=50"]
    command += [f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=classroom"]
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        started = []
        for number in range(count):
            own = {f"JUPYTER_{kind}_DIR": f"{place}/{number}" for kind in ("RUNTIME", "CONFIG", "DATA")}
            quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
            server = subprocess.Popen(command, env=os.environ | own, **quiet)
            stack.callback(server.wait)
            stack.callback(server.terminate)
            started.append((server, Path(place, str(number), f"jpserver-{server.pid}.json")))
        for server, said in started:
            while not said.exists():
                if server.poll() is not None:
                    raise RuntimeError("JupyterLab ended at once: try `python -m jupyterlab` by hand.")
                time.sleep(0.2)
            for page in ("api/kernelspecs", "api/contents", "lab"):
                _ask(json.loads(said.read_text())["url"] + page)
        time.sleep(SETTLED)
        return statistics.fmean(share_of(server.pid) for server, _ in started)


def _ask(address):
    """Read a page of a server, which may publish its address before it listens."""
    asked = Request(address, headers={"Authorization": "token classroom"})
    for patience in (0.2, 1, 5, 20, None):
        try:
            return urlopen(asked).read()
        except URLError:
            if patience is None:
                raise
            time.sleep(patience)


def chapter(number):
    """Run a chapter, and measure its kernel.

    Parameters
    ----------
    number : str
        ``"04"``.

    Returns
    -------
    dict
        Megabytes (PSS) of the kernel and its children after the last cell, and their peak: the larger of the
        system's value for the kernel and of the sum with its children, read ten times a second. CPU seconds
        of the whole chapter, with the start of its kernel, and of its longest cell.
    """
    from nbclient import NotebookClient

    (path,) = store.PROJECT.glob(f"notebooks/{number}_*.ipynb")
    seconds, shares, peaks, done = [], [], [], threading.Event()

    def look_after_a_cell(**_):
        pid = client.km.provisioner.pid
        seconds.append(processor(pid))
        shares.append(share_of(pid))
        peaks.append(memory(pid)[1])

    def look_all_the_time():
        while not done.wait(LOOKS):
            peaks.append(share_of(client.km.provisioner.pid))

    watcher = threading.Thread(target=look_all_the_time)
    client = NotebookClient(
        nbformat.read(path, as_version=4),
        resources={"metadata": {"path": str(path.parent)}},
        timeout=notebooks.SECONDS,
        on_notebook_start=lambda **_: watcher.start(),
        on_cell_executed=look_after_a_cell,
        on_notebook_complete=lambda **_: done.set(),
    )
    client.execute(env=os.environ | notebooks.ENVIRONMENT | ONE_THREAD)
    watcher.join()
    return {
        "chapter": path.stem,
        "after": shares[-1] / MB,
        "peak": max(peaks) / MB,
        "seconds": seconds[-1],
        "longest": max(later - earlier for earlier, later in itertools.pairwise(seconds)),
    }


def on_disk(folder):
    """Return the bytes that a folder's files take on disk, with hard links counted once."""
    files = {}
    for path in folder.rglob("*"):
        found = path.lstat()
        files[found.st_dev, found.st_ino] = 512 * found.st_blocks
    return sum(files.values())


def work_folder():
    """Return the bytes of a learner's work folder: as handed out, and with every output stored."""
    with tempfile.TemporaryDirectory() as place:
        with patch.dict(os.environ, {store.VARIABLE: place}):
            copy_to_work()
        given = on_disk(Path(place))
        bare = on_disk(Path(place, "notebooks"))
    return given, given - bare + on_disk(store.PROJECT / "notebooks")


def measure(chapters):
    """Measure everything: megabytes and CPU seconds.

    Parameters
    ----------
    chapters : sequence of str
    """
    given, full = work_folder()
    return {
        "server": {"at_once": SERVERS, "alone": servers(1) / MB, "each": servers(SERVERS) / MB},
        "chapters": [chapter(number) for number in tqdm(chapters, unit=" chapters")],
        "environment": {
            "size": on_disk(Path(sys.prefix)) / MB,
            "packages": len({found.name for found in importlib.metadata.distributions()}),
        },
        "work": {"given": given / MB, "with_outputs": full / MB},
    }


def guarantee(found):
    """Return the megabytes that each learner needs: a server, and kernels after the largest chapter."""
    needed = found["server"]["each"] + KERNELS * max(row["after"] for row in found["chapters"])
    return STEP * ceil(needed / STEP)


def limit(found):
    """Return the megabytes that each learner may use, with one kernel at its chapter's peak."""
    most = max(row["peak"] - row["after"] for row in found["chapters"])
    return 1000 * ceil((guarantee(found) + most) / 1000)


def size(found, learners):
    """Compute the resources for a number of learners.

    Parameters
    ----------
    found : dict
        Returned by `measure`.
    learners : int

    Returns
    -------
    dict
        Learners at work at the same time, megabytes, cores, machines of a cluster, megabytes of work folders.
    """
    working = ceil(AT_ONCE[learners] * learners)
    megabytes = working * guarantee(found) / (1 - RESERVED)
    cores = working * max(row["longest"] for row in found["chapters"]) / WAIT
    return {
        "working": working,
        "memory": megabytes,
        "cores": ceil(cores),
        "machines": max(ceil(megabytes / NODE_MEMORY), ceil(cores / NODE_CORES)),
        "work": learners * found["work"]["with_outputs"],
    }


def _gigabytes(megabytes):
    return f"{megabytes / 1000:,.{0 if megabytes >= 10_000 else 1}f} GB"


def _chapters_table(found):
    """Make the table of kernels, a row per chapter."""
    headings = ["Chapter", "memory afterwards", "peak memory", "CPU time", "longest cell"]
    form = "{chapter}|{after:.0f} MB|{peak:.0f} MB|{seconds:.0f} s|{longest:.1f} s"
    return table.markdown(headings, [form.format(**row).split("|") for row in found["chapters"]])


def _rest_table(found):
    """Make the table of the other measurements."""
    server, work, environment = found["server"], found["work"], found["environment"]
    lines = [
        ["a JupyterLab server alone on a machine", f"{server['alone']:.0f} MB of memory"],
        [f"the same, one of {server['at_once']} on a machine", f"{server['each']:.0f} MB of memory"],
        ["a work folder as handed out", f"{work['given']:.1f} MB on disk"],
        ["a work folder with the output of every chapter", f"{work['with_outputs']:.1f} MB on disk"],
    ]
    packages = f"the environment, {environment['packages']} packages, without Python itself"
    lines.append([packages, f"{environment['size']:.0f} MB on disk"])
    return table.markdown(["Item", "Size"], lines)


def _machine(found):
    """Describe the machine in a sentence."""
    machine = found["machine"]
    return (
        f"Measured on: {machine['processor']}, {machine['cores']} cores, {machine['system']}; "
        f"Python {machine['python']}, NumPy {machine['numpy']}."
    )


def _learner(found):
    """Write the formulas for one learner with their numbers."""
    after = max(row["after"] for row in found["chapters"])
    grown = max(row["peak"] - row["after"] for row in found["chapters"])
    used = max(row["seconds"] for row in found["chapters"])
    return (
        f"guarantee = {found['server']['each']:.0f} + {KERNELS} · {after:.0f} MB, up to the next {STEP}: "
        f"**{guarantee(found)} MB**. limit = {guarantee(found)} + {grown:.0f} MB, up to the next gigabyte: "
        f"**{_gigabytes(limit(found))}**. mean use of a core = {used:.0f} s / ({MINUTES} · 60 s) = "
        f"**{used / (60 * MINUTES):.3f}**. (computed)"
    )


def _sizes_table(found):
    """Make the table of class sizes, a row per size."""
    headings = ["Learners", "at once", "memory", "cores", "machines", "work folders"]
    form = "{learners:,}|{working:,}|{gigabytes}|{cores:,}|{machines:,}|{files}"
    needs = [size(found, learners) | {"learners": learners} for learners in AT_ONCE]
    for need in needs:
        need |= {"gigabytes": _gigabytes(need["memory"]), "files": _gigabytes(need["work"])}
    return table.markdown(headings, [form.format(**need).split("|") for need in needs])


BLOCKS = {
    "chapters": _chapters_table,
    "rest": _rest_table,
    "machine": _machine,
    "learner": _learner,
    "sizes": _sizes_table,
}


def filled(text, found):
    """Return the page with its blocks updated from the measurements.

    Parameters
    ----------
    text : str
    found : dict

    Raises
    ------
    ValueError
        If the page lacks a block.
    """
    for name, write in BLOCKS.items():
        parts = re.split(BLOCK.format(name), text, flags=re.DOTALL)
        if len(parts) != 4:
            raise ValueError(
                f'{PAGE.name} needs one block between "<!-- measured: {name} -->" and "<!-- end -->".'
            )
        before, start, end, after = parts
        text = f"{before}{start}\n{write(found)}\n\n{end}{after}"
    return text


def main(arguments=None):
    """Measure, or only update the page."""
    parser = argparse.ArgumentParser(prog="python -m classroom.server", description=__doc__.splitlines()[0])
    parser.add_argument("--chapters", nargs="+", default=CHAPTERS, help="their numbers")
    parser.add_argument("--save", action="store_true", help="write the results, and the page's tables")
    parser.add_argument("--draw", action="store_true", help="measure nothing, and write the page's tables")
    chosen = parser.parse_args(arguments)
    if not chosen.draw:
        found = measure(chosen.chapters)
        print(json.dumps(results.rounded(found), indent=1))
        if chosen.save:
            results.save("classroom", found, MEASURED)
    if chosen.save or chosen.draw:
        found = results.load(MEASURED)["classroom"]
        store.write(PAGE, filled(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()
