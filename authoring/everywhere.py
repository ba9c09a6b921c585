"""Run notebooks and tests as on other processors, where the stored outputs must be right, too.

Holds `ways`, the variants of arithmetic that this machine can imitate, `require_effect` and `run_everywhere`.
Some variants choose another kernel of OpenBLAS and disable NumPy's newer instructions, so that sums are
rounded differently; two shift every random number from a Generator by one unit in the last place
(``authoring/arithmetic/sitecustomize.py``). pytest and nbval compare the outputs and report differences.
"""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).with_name("arithmetic")
KERNELS = {  # of OpenBLAS, by machine; with the first, NumPy uses all instructions older than AVX-512
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
    """Return the environment variables of each variant of arithmetic.

    Returns
    -------
    dict of str to dict of str to str
        Name to variables. Without OpenBLAS, as on a Mac, only the two shifts remain.
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
    """Run notebooks and solutions in each variant, and the tests in the last one.

    Parameters
    ----------
    names : sequence of str
        Keys of `ways`, or "tests"; by default all.
    paths : sequence of str
        Arguments for pytest instead of all notebooks and solutions.

    Returns
    -------
    int
        Number of failed runs.

    Raises
    ------
    ValueError
        If a name is unknown, or a variant has no effect on this machine.
    """
    found, failed, lines = ways(), 0, []
    runs = {name: (name, (*NOTEBOOKS, *(paths or ("notebooks", "solutions")))) for name in found}
    runs["tests"] = (list(found)[-1], CHECK)
    for name in names or runs:
        if name not in runs:
            raise ValueError(f"there is no variant {name!r}; there are {', '.join(runs)}.")
        way, arguments = runs[name]
        require_effect(way, found[way])
        settings = " ".join(f"{key}={value}" for key, value in found[way].items() if key != "PYTHONPATH")
        print(f"== {name}: pytest {' '.join(arguments)}, with {settings}", flush=True)
        start = time.monotonic()
        status = _python(found[way], "-m", "pytest", *arguments).returncode
        failed += status != 0
        verdict = "failed: see above" if status else "the same"
        lines.append(f"   {name:<12} {verdict:<18} {time.monotonic() - start:5.0f} s")
    print("== Compared with the stored outputs:", *lines, sep="\n")
    return failed


def require_effect(name, way):
    """Raise ValueError if a variant has no effect on Python's arithmetic.

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
    """Return the module of Generators and the kernels of OpenBLAS in a new Python process."""
    return _python(way, "-c", STATED, capture_output=True, text=True, check=True).stdout.split()


def _python(way, *arguments, **settings):
    """Run Python in a variant, on one thread as `make test` does."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **way}
    return subprocess.run([sys.executable, *arguments], env=environment, **settings)
