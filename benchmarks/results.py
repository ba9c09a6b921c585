"""Save and load the results, in one small JSON file, with a general description of the machine.

table.py and page.py show the results.
"""

import importlib.metadata
import json
import os
import platform
from pathlib import Path

import numpy as np

from course import store

PATH = Path(__file__).with_name("results.json")
DIGITS = 4  # significant digits; more would be noise


def machine():
    """Describe the machine: processor, cores, system, versions; no names and no paths.

    Returns
    -------
    dict of str to str, int or None
    """
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "torch": _version("torch"),
    }


def _processor():
    """Return the name of the processor model."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(distribution):
    """Return the version of a package without its local part, or None."""
    try:
        return importlib.metadata.version(distribution).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def rounded(thing):
    """Round every float of a result to a few significant digits.

    Examples
    --------
    >>> rounded({"microseconds": [123.456, None]})
    {'microseconds': [123.5, None]}
    """
    if isinstance(thing, dict):
        return {name: rounded(value) for name, value in thing.items()}
    if isinstance(thing, list):
        return [rounded(value) for value in thing]
    return float(f"{thing:.{DIGITS}g}") if isinstance(thing, float) else thing


def load(path=PATH):
    """Read the saved results; {} if there are none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(part, value, path=PATH):
    """Save one part of the results, with a description of this machine.

    Parameters
    ----------
    part : str
        "table" or "scaling".
    value : dict
    path : Path
    """
    results = load(path) | {part: {"machine": machine(), **rounded(value)}}
    store.write(path, json.dumps(results, indent=1) + "\n")
