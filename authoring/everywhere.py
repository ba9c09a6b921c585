"""The notebooks and the tests, run as on other processors: what is stored must hold there, too.

Holds `ways`, the other kinds of arithmetic that this machine can do, `require_effect`, and `run_everywhere`.
Some ways choose another kernel of OpenBLAS and take NumPy's newer instructions away, so that sums are rounded
otherwise; two move every number that a Generator draws by one unit in its last place
(``authoring/arithmetic/sitecustomize.py``). Leaves out the comparison: pytest and nbval make it, and say
which cell differs, and how.
"""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).with_name("arithmetic")
KERNELS = {  # of OpenBLAS, by machine; the first keeps what NumPy has for processors before AVX-512
    "x86_64": ("Haswell", "Sandybridge", "Nehalem"),
    "amd64": ("Haswell", "Sandybridge", "Nehalem"),
    "aarch64": ("NEOVERSEN1", "ARMV8"),
}
NOTEBOOKS = ("--nbval", "-n", "2", "--dist", "loadfile")
CHECK = ("-n", "2", "--dist", "worksteal", "--ignore", "tests/classroom")
STATED = """
import numpy as np
from threadpoolctl import threadpool_info
kernels = [pool.get("architecture", "") for pool in threadpool_info() if pool["internal_api"] == "openblas"]
print(type(np.random.default_rng(0)).__module__, *kernels)
"""


def ways():
    """Return the environments of the other kinds of arithmetic.

    Returns
    -------
    dict of str to dict of str to str
        Name to variables. Without OpenBLAS, as on a Mac, only the moved numbers are left.
    """
    found = {
        name: {"PYTHONPATH": str(FOLDER), "MINIGRAD_LAST_PLACE": places}
        for name, places in (("up", "1"), ("down", "-1"))
    }
    if _stated({})[1:]:
        from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

        newer = [feature for feature in __cpu_dispatch__ if __cpu_features__[feature]]
        newest = [feature for feature in newer if "AVX512" in feature or "V4" in feature]
        for place, kernel in enumerate(KERNELS.get(platform.machine().lower(), ())):
            features = newer if place else newest
            found[kernel] = {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": " ".join(features)}
    return found


def run_everywhere(names=(), paths=()):
    """Run notebooks and solutions in each way, and the tests in the last of them.

    Parameters
    ----------
    names : sequence of str
        Of `ways`, or "tests"; all of them unless given.
    paths : sequence of str
        What pytest is given in place of all notebooks and solutions.

    Returns
    -------
    int
        How many of the runs failed.

    Raises
    ------
    ValueError
        If there is no way of a name, or this machine computes otherwise than it was told.
    """
    found, failed, lines = ways(), 0, []
    runs = {name: (name, (*NOTEBOOKS, *(paths or ("notebooks", "solutions")))) for name in found}
    runs["tests"] = (list(found)[-1], CHECK)
    for name in names or runs:
        if name not in runs:
            raise ValueError(f"there is no way {name!r}; there are {', '.join(runs)}.")
        way, arguments = runs[name]
        require_effect(way, found[way])
        settings = " ".join(f"{key}={value}" for key, value in found[way].items() if key != "PYTHONPATH")
        print(f"== {name}: pytest {' '.join(arguments)}, with {settings}", flush=True)
        start = time.monotonic()
        status = _python(found[way], "-m", "pytest", *arguments).returncode
        failed += status != 0
        verdict = "failed: look above" if status else "the same"
        lines.append(f"   {name:<12} {verdict:<18} {time.monotonic() - start:5.0f} s")
    print("== Beside what is stored:", *lines, sep="\n")
    return failed


def require_effect(name, way):
    """Raise ValueError if Python, in a way of this name, does not compute as the way says.

    Parameters
    ----------
    name : str
        For the message.
    way : dict of str to str
    """
    module, *kernels = _stated(way)
    moved = module == "sitecustomize"
    if moved != ("MINIGRAD_LAST_PLACE" in way) or way.get("OPENBLAS_CORETYPE") not in (None, *kernels):
        raise ValueError(f"{name} has no effect here: Generators are from {module}, kernels {kernels}.")


def _stated(way):
    """Return where Generators come from, and the kernels of OpenBLAS, in a Python of its own."""
    return _python(way, "-c", STATED, capture_output=True, text=True, check=True).stdout.split()


def _python(way, *arguments, **settings):
    """Run Python in a way, on one thread as `make test` does."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **way}
    return subprocess.run([sys.executable, *arguments], env=environment, **settings)
