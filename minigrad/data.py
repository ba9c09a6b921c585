"""Small data sets, computed or shipped with the library, and functions for any data set.

Holds moons, spirals and digits; batches, split, one_hot and pad. Built in chapters 07 and 08.
"""

import os

import numpy as np

from minigrad.settings import as_generator, require_integer
from minigrad.shapes import ShapeError, count_examples, require_labels, shape_of, take


def batches(X, T, batch_size=32, rng=None):
    """Yield (X, T) batch by batch; the last batch may be smaller.

    Parameters
    ----------
    X : array (examples, …) or tuple of such arrays
    T : array (examples, …)
    batch_size : int
        At least 1.
    rng : numpy.random.Generator or int, optional
        Shuffles the examples; without it, their order is kept.

    Yields
    ------
    (X_batch, T_batch)

    Examples
    --------
    >>> [T_batch.tolist() for _, T_batch in batches(np.zeros((5, 2)), np.arange(5), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """
    require_integer("batch_size", batch_size)
    examples = count_examples(X, T)
    order = np.arange(examples) if rng is None else as_generator(rng).permutation(examples)
    for start in range(0, examples, batch_size):
        rows = order[start : start + batch_size]
        yield take(X, rows), T[rows]


def split(X, T, shares=(0.7, 0.15, 0.15), rng=0):
    """Split the examples at random into parts.

    Parameters
    ----------
    X : array (examples, …) or tuple of such arrays
    T : array (examples, …)
    shares : sequence of float
        The share of each part; they sum to 1.
    rng : int or numpy.random.Generator

    Returns
    -------
    list of (X, T), one pair per share

    Raises
    ------
    ShapeError
        If X and T have different numbers of examples.
    ValueError
        If the shares do not sum to 1, or a part would be empty.

    Examples
    --------
    >>> parts = split(np.zeros((10, 2)), np.arange(10), shares=(0.8, 0.2))
    >>> [len(T) for X, T in parts]
    [8, 2]
    """
    examples = count_examples(X, T)
    if min(shares) <= 0 or abs(sum(shares) - 1.0) > 1e-9:
        raise ValueError(f"shares must be above 0 and sum to 1, got {tuple(shares)}.")
    ends = np.round(np.cumsum(shares) * examples).astype(int)
    parts = np.split(as_generator(rng).permutation(examples), ends[:-1])
    if not all(map(len, parts)):
        raise ValueError(f"{examples} examples in shares of {tuple(shares)} leave a part empty.")
    return [(take(X, rows), T[rows]) for rows in parts]


def one_hot(T, n_classes):
    """Turn each label into a row with a single 1.

    Parameters
    ----------
    T : array of integers (batch, …), from 0 to n_classes - 1
    n_classes : int

    Returns
    -------
    array (batch, …, n_classes)

    Examples
    --------
    >>> one_hot(np.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    require_labels("one_hot", T)
    if T.size and (T.min() < 0 or T.max() >= n_classes):
        raise ValueError(f"labels run from {T.min()} to {T.max()}; they must be 0 to {n_classes - 1}.")
    return (T[..., None] == np.arange(n_classes)).astype(float)


def pad(sequences):
    """Pad sequences of different lengths with zeros into one array; return it and their lengths.

    Parameters
    ----------
    sequences : list of arrays (steps, …)

    Returns
    -------
    X : array (batch, steps, …)
    lengths : array of integers (batch,)

    Examples
    --------
    >>> pad([np.array([1.0, 2.0]), np.array([3.0])])
    (array([[1., 2.],
           [3., 0.]]), array([2, 1]))
    """
    shapes = [shape_of(sequence) for sequence in sequences]
    if () in shapes or len({shape[1:] for shape in shapes}) > 1:
        wanted = "arrays (steps, …) that differ only in their steps"
        raise ShapeError(f"pad needs {wanted}, got shapes {shapes}.")
    lengths = np.array([len(sequence) for sequence in sequences])
    dtype = np.result_type(*sequences)
    X = np.zeros((len(sequences), lengths.max(), *sequences[0].shape[1:]), dtype=dtype)
    for row, sequence in zip(X, sequences, strict=True):
        row[: len(sequence)] = sequence
    return X, lengths


def moons(examples=200, noise=0.1, rng=0):
    """Draw two interleaved half-moons.

    Parameters
    ----------
    examples : int
    noise : float
        Standard deviation added to both coordinates; the moons have radius 1.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : array (examples, 2)
    T : array of integers (examples,), 0 or 1

    Examples
    --------
    >>> X, T = moons(6)
    >>> X.shape, T
    ((6, 2), array([0, 0, 0, 1, 1, 1]))
    """
    rng = as_generator(rng)
    T = (np.arange(examples) >= examples // 2).astype(int)
    angle = rng.uniform(0.0, np.pi, examples)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    return np.where(T[:, None] == 0, upper, lower) + rng.normal(0.0, noise, (examples, 2)), T


def spirals(examples=300, n_classes=3, noise=0.1, rng=0):
    """Draw the arms of a spiral, one class per arm.

    Parameters
    ----------
    examples, n_classes : int
    noise : float
        Standard deviation of the angle, in radians.
    rng : int or numpy.random.Generator

    Returns
    -------
    X : array (examples, 2), within the unit circle
    T : array of integers (examples,)

    Examples
    --------
    >>> X, T = spirals(6)
    >>> X.shape, T.tolist()
    ((6, 2), [0, 0, 1, 1, 2, 2])
    """
    rng = as_generator(rng)
    T = np.arange(examples) * n_classes // examples
    radius = np.sqrt(rng.uniform(0.0, 1.0, examples))
    angle = 2.0 * np.pi * T / n_classes + 4.0 * radius + rng.normal(0.0, noise, examples)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), T


def digits():
    """Load 1,797 handwritten digits as rows of 8 × 8 grey values.

    Returns
    -------
    X : array (1797, 64)
        Ink from 0 to 1, in steps of 1/16.
    T : array of integers (1797,)
        The digits, 0 to 9.

    References
    ----------
    Alpaydin, Kaynak, "Optical recognition of handwritten digits" (1998), UCI Machine Learning Repository,
    CC BY 4.0; its test set. Chapter 08.

    Examples
    --------
    >>> X, T = digits()
    >>> X.shape, T[:5]
    ((1797, 64), array([0, 1, 2, 3, 4]))
    """
    with np.load(os.path.join(os.path.dirname(__file__), "digits.npz")) as file:
        return file["images"] / 16.0, file["labels"].astype(int)
