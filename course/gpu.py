"""Where `cupy` comes from: CuPy itself where there is a GPU, and otherwise the stand-in.

Holds gpu, stand_in and find_cupy. Leaves out the stand-in itself (`course.cupy_stand_in`). Used in
chapter 21.
"""

import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder

from course import cupy_stand_in

NO_CUPY = (
    "CuPy is not installed. On a machine with an NVIDIA GPU: `pip install cupy-cuda12x`, or cupy-cuda13x "
    "for CUDA 13."
)
NO_DEVICE = "CuPy is installed, but finds no GPU: does `nvidia-smi` list one?"


def find_cupy():
    """Return CuPy and "", or None and a sentence that says what is missing.

    Returns
    -------
    cupy : module or None
    missing : str
    """
    if PathFinder.find_spec("cupy") is None:  # the one question that a stand-in cannot answer
        return None, NO_CUPY
    if sys.modules.get("cupy") is cupy_stand_in:
        del sys.modules["cupy"]
    cupy = import_module("cupy")
    return (cupy, "") if cupy.cuda.is_available() else (None, NO_DEVICE)


def gpu():
    """Return the module whose arrays live on a GPU, say which it is, and let `import cupy` find it.

    Returns
    -------
    module
        CuPy, where it is installed and finds a GPU; otherwise the stand-in, until Python ends.

    Examples
    --------
    >>> with stand_in():  # so that this example leaves nothing behind
    ...     cupy = gpu()  # doctest: +ELLIPSIS
    The GPU ...
    """
    cupy, _ = find_cupy()
    if cupy is None:
        print("The GPU is pretended: the stand-in counts transfers, and computes with NumPy.")
        cupy = cupy_stand_in
    else:
        print(f"The GPU is real: CuPy {cupy.__version__}.")
    sys.modules["cupy"] = cupy
    return cupy


@contextmanager
def stand_in():
    """Let the stand-in be what `import cupy` finds, inside a with block, and count its transfers from 0.

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
