"""`import minigrad` loads few modules, and takes little time compared with NumPy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHARE = 1 / 4  # the goal, as a share of numpy's time in the same process
STANDARD = "copy, dataclasses, json, threading, zlib"  # all besides numpy that may be imported


@pytest.fixture
def python(tmp_path):
    """A function that runs Python code in a new process, with its own folder for compiled files."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path)}

    def run(code, *options):
        command = [sys.executable, *options, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


def test_import_loads_few_modules(python):
    code = f"""
import sys, numpy, {STANDARD}
before = set(sys.modules)
import minigrad
print(*sorted(set(sys.modules) - before))
"""
    brought = python(code).stdout.split()
    assert "minigrad.layer" in brought and [name for name in brought if not name.startswith("minigrad")] == []


def test_import_is_not_an_order_of_magnitude_too_slow(python):
    def share():
        # the package's cumulative time, with all imports that numpy did not make, and numpy's
        lines = python("import numpy, minigrad", "-X", "importtime").stderr
        times = dict(
            reversed(line) for line in re.findall(r"\|\s*(\d+) \| (numpy|minigrad)$", lines, re.MULTILINE)
        )
        return int(times["minigrad"]) / int(times["numpy"])

    share()  # compiles the files
    assert min(share() for _ in range(5)) <= 10 * SHARE
