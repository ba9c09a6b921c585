"""What holds for every test, doctest and notebook that pytest runs."""

import itertools
import os
import sys
import tempfile

import matplotlib
import nbval.kernel
from jupyter_client.manager import KernelManager


def pytest_configure(config):
    """Read and write nothing in a learner's folder (kernels inherit this), and draw without a window."""
    os.environ["MINIGRAD_WORK"] = ""
    matplotlib.use("Agg")
    if sys.platform != "win32":
        folder = tempfile.TemporaryDirectory(prefix="kernels-")
        config.add_cleanup(folder.cleanup)
        nbval.kernel.KernelManager = through_files(folder.name)


def through_files(folder):
    """Return what makes nbval's kernels, each spoken to through socket files of its own.

    A kernel that listens on TCP is told ports which were free a moment ago: one that another worker starts
    may have drawn the same, and then one of the two dies.
    """
    numbers = itertools.count()
    return lambda **given: KernelManager(transport="ipc", ip=f"{folder}/{next(numbers)}", **given)
