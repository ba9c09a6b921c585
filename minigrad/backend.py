"""NumPy or CuPy, as the arrays require; layers are written in plain NumPy and run where their data is.

Holds the functions that depend on an array's device. There is no switch and no global state.
Built in chapter 21.
"""

import sys

import numpy as np

# careful: glibc returns large freed arrays to the kernel, and gets them back page by page in each step,
# which can double its time. Freeing one array of nearly 32 MB, here, makes it keep them.
np.empty(2**25 - 2**16, dtype=np.uint8)


def array_module(*arrays):
    """Return numpy, or cupy if any of the arrays is on a GPU; CuPy is never imported here.

    Examples
    --------
    >>> array_module(np.zeros(3)).__name__
    'numpy'
    """
    on_gpu = any(type(array).__module__.partition(".")[0] == "cupy" for array in arrays)
    return sys.modules["cupy"] if on_gpu else np


def to_numpy(array):
    """Return the array as a NumPy array, copied from the GPU if it is there.

    Examples
    --------
    >>> to_numpy(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    return np.asarray(array) if array_module(array) is np else array.get()


def float_type_of(X):
    """Return the float type for computations with X: its own, or float64 for integers.

    Examples
    --------
    >>> float_type_of(np.zeros(3, np.float32)), float_type_of(np.zeros(3, int))
    (dtype('float32'), dtype('float64'))
    """
    return X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)


def like(array, X):
    """Return an array of numbers in the float type of X, on the device of X.

    Examples
    --------
    >>> like(np.array([1.0]), np.zeros(3, np.float32)).dtype
    dtype('float32')
    """
    if array_module(array) is not array_module(X):
        array = array_module(X).asarray(to_numpy(array))
    return array.astype(float_type_of(X), copy=False)


def to_device(model, device):
    """Move a model's data, gradients and buffers to "cpu" or "gpu", and return the model.

    Parameters
    ----------
    model : Layer
    device : str
        "cpu", or "gpu" (needs CuPy and a CUDA device).

    Raises
    ------
    ValueError
        If the device is neither "cpu" nor "gpu".
    ImportError
        If CuPy is not installed.

    References
    ----------
    Chapter 21.

    Examples
    --------
    >>> from minigrad import Linear
    >>> to_device(Linear(3, 7, rng=0), "cpu")
    Linear(3, 7)
    """
    if device not in ("cpu", "gpu"):
        raise ValueError(f'a device is "cpu" or "gpu", got {device!r}.')
    convert = to_numpy
    if device == "gpu":
        try:
            import cupy
        except ImportError as error:
            raise ImportError(
                'to_device(model, "gpu") needs CuPy: install cupy-cuda12x or cupy-cuda13x.'
            ) from error
        convert = cupy.asarray
    for part in [*model.parameters(), *model.buffers()]:
        part.convert(convert)
    return model
