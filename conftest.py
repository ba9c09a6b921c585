"""Configuration of pytest for every test, doctest and notebook."""

import itertools
import os
import sys
import tempfile

import matplotlib
import nbval.kernel
from jupyter_client.manager import KernelManager


def pytest_configure(config):
    """Turn off the learner's work folder, also for kernels, and draw without a window."""
    os.environ["MINIGRAD_WORK"] = ""
    matplotlib.use("Agg")
    if sys.platform != "win32":
        folder = tempfile.TemporaryDirectory(prefix="kernels-")
        config.add_cleanup(folder.cleanup)
        nbval.kernel.KernelManager = through_files(folder.name)


def through_files(folder):
    """Return a factory of nbval's kernel managers that communicate through socket files.

    A kernel on TCP gets ports that were free a moment ago. A kernel of another worker may get the same ports,
    and then one of the two dies.
    """
    numbers = itertools.count()
    return lambda **given: KernelManager(transport="ipc", ip=f"{folder}/{next(numbers)}", **given)
