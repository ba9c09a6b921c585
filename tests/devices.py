"""What the tests let `import cupy` find: the stand-in and, marked gpu, CuPy itself where there is a GPU."""

import numpy as np
import pytest

from course.stand_ins import cupy as cupy_stand_in
from course.stand_ins.gpu import find_cupy
from minigrad import to_numpy

CUPY, _ = find_cupy()
DEVICES = [pytest.param(cupy_stand_in, id="stand-in")]
DEVICES += [pytest.param(CUPY, id="cupy", marks=pytest.mark.gpu)] if CUPY else []

EXACT = {"rtol": 0, "atol": 0}  # NumPy works behind the stand-in, so not one bit may differ
ONE_PASS = {"rtol": 1e-12, "atol": 1e-12}  # a GPU adds a few hundred numbers near 1 in another order
TRAINED = {"rtol": 1e-9, "atol": 1e-9}  # and some steps, each from where the one before led


def assert_agree(cupy, found, expected, tolerance=ONE_PASS):
    """Compare arrays of the device with arrays of NumPy."""
    tolerance = EXACT if cupy is cupy_stand_in else tolerance
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(a), b, **tolerance)
