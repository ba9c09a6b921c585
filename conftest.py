"""What holds for every test, doctest and notebook that pytest runs."""

import os

import matplotlib


def pytest_configure(config):
    """Read and write nothing in a learner's folder (kernels inherit this), and draw without a window."""
    os.environ["MINIGRAD_WORK"] = ""
    matplotlib.use("Agg")
