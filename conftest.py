"""Configuration of pytest for every test, doctest and notebook."""

import itertools
import os
import sys
import tempfile
from types import SimpleNamespace

import matplotlib
import nbformat
import nbval.kernel
import nbval.plugin
from jupyter_client.manager import KernelManager

from authoring.guesses import with_probes


def pytest_configure(config):
    """Turn off the learner's work folder, also for kernels, and draw without a window."""
    os.environ["MINIGRAD_WORK"] = ""
    matplotlib.use("Agg")
    nbval.plugin.nbformat = SimpleNamespace(read=_read, from_dict=nbformat.from_dict)
    if sys.platform != "win32":
        folder = tempfile.TemporaryDirectory(prefix="kernels-")
        config.add_cleanup(folder.cleanup)
        nbval.kernel.KernelManager = through_files(folder.name)


def _read(path, **given):
    """Read a notebook for nbval, with the cells that compute the answers to its guesses."""
    return with_probes(nbformat.read(path, **given))


def through_files(folder):
    """Return a factory of nbval's kernel managers that communicate through socket files.

    A kernel on TCP gets ports that were free a moment ago. A kernel of another worker may get the same ports,
    and then one of the two dies.
    """
    numbers = itertools.count()
    return lambda **given: KernelManager(transport="ipc", ip=f"{folder}/{next(numbers)}", **given)
