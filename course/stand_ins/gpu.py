"""The choice of `cupy`: CuPy itself if there is a GPU, otherwise the stand-in, `course.stand_ins.cupy`.

Used in chapter 21.
"""

import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder

from course.stand_ins import cupy as cupy_stand_in

NO_CUPY = (
    "CuPy is not installed. On a machine with an NVIDIA GPU: `pip install cupy-cuda12x`, or cupy-cuda13x "
    "for CUDA 13."
)
NO_DEVICE = "CuPy is installed, but finds no GPU: does `nvidia-smi` list one?"


def find_cupy():
    """Return CuPy and "", or None and a sentence that names what is missing.

    Returns
    -------
    cupy : module or None
    missing : str
    """
    if PathFinder.find_spec("cupy") is None:  # not deceived by a stand-in in sys.modules
        return None, NO_CUPY
    if sys.modules.get("cupy") is cupy_stand_in:
        del sys.modules["cupy"]
    cupy = import_module("cupy")
    return (cupy, "") if cupy.cuda.is_available() else (None, NO_DEVICE)


def gpu():
    """Return CuPy or its stand-in, print which one it is, and make `import cupy` find it.

    Returns
    -------
    module
        CuPy, if it is installed and finds a GPU; otherwise the stand-in, until Python ends.

    Examples
    --------
    >>> with stand_in():  # restores `cupy` after this example
    ...     cupy = gpu()  # doctest: +ELLIPSIS
    The GPU ...
    """
    cupy, _ = find_cupy()
    if cupy is None:
        print("The GPU is simulated: the stand-in counts transfers and computes with NumPy.")
        cupy = cupy_stand_in
    else:
        print(f"The GPU is real: CuPy {cupy.__version__}.")
    sys.modules["cupy"] = cupy
    return cupy


@contextmanager
def stand_in():
    """Make `import cupy` find the stand-in inside a with block, with its counters set to 0.

    Examples
    --------
    >>> import numpy as np
    >>> with stand_in() as cupy:
    ...     total = float(cupy.asarray(np.ones(3)).sum())
    >>> [(transfer.direction, transfer.way, transfer.bytes) for transfer in cupy.transfers]
    [('to', 'asarray', 24), ('back', 'float', 8)]
    """
    before = {"cupy": sys.modules["cupy"]} if "cupy" in sys.modules else {}
    sys.modules["cupy"] = cupy_stand_in
    cupy_stand_in.transfers.clear()
    cupy_stand_in.calls.clear()
    cupy_stand_in.operations.clear()
    try:
        yield cupy_stand_in
    finally:
        del sys.modules["cupy"]
        sys.modules.update(before)
