"""Initial values of weights: pure functions of a shape and a random Generator.

The last axis of a shape counts the outputs, all axes before it the inputs. Values are drawn in float64. A
layer's argument `init` selects one of these functions. Built in chapter 10.
"""

import math

import numpy as np


def _fans(shape):
    """Count the inputs and the outputs of a weight array."""
    return math.prod(shape[:-1]), shape[-1]


def zeros(shape, rng=None):
    """Return zeros: suitable for biases, but not for weights, since all units would stay equal.

    Examples
    --------
    >>> zeros((2,))
    array([0., 0.])
    """
    return np.zeros(shape)


def lecun(shape, rng):
    """Draw from a normal distribution with variance 1 / n_in, which preserves variance in a linear layer.

    References
    ----------
    LeCun, Bottou, Orr, Müller, "Efficient BackProp" (1998), equation 16. Chapter 10.

    Examples
    --------
    >>> lecun((400, 100), np.random.default_rng(0)).std().round(2)  # 1 / sqrt(400)
    np.float64(0.05)
    """
    n_in, _ = _fans(shape)
    return rng.normal(0.0, math.sqrt(1.0 / n_in), shape)


def glorot(shape, rng):
    """Draw uniformly with variance 2 / (n_in + n_out), a compromise between both passes.

    References
    ----------
    Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010),
    equation 16. Chapter 10.

    Examples
    --------
    >>> bool(np.abs(glorot((3, 3), np.random.default_rng(0))).max() <= 1.0)  # sqrt(6 / (3 + 3))
    True
    """
    limit = math.sqrt(6.0 / sum(_fans(shape)))
    return rng.uniform(-limit, limit, shape)


def he(shape, rng):
    """Draw from a normal distribution with variance 2 / n_in, since ReLU sets half of its inputs to zero.

    References
    ----------
    He, Zhang, Ren, Sun, "Delving deep into rectifiers" (2015), equation 10. Chapter 10.

    Examples
    --------
    >>> he((800, 100), np.random.default_rng(0)).std().round(2)  # sqrt(2 / 800)
    np.float64(0.05)
    """
    n_in, _ = _fans(shape)
    return rng.normal(0.0, math.sqrt(2.0 / n_in), shape)


def orthogonal(shape, rng):
    """Draw a random matrix whose shorter side is orthonormal, so that it preserves lengths.

    References
    ----------
    Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear neural
    networks" (2014). Chapter 10.

    Examples
    --------
    >>> W = orthogonal((5, 3), np.random.default_rng(0))
    >>> bool(np.allclose(W.T @ W, np.eye(3)))
    True
    """
    n_in, n_out = _fans(shape)
    Q, R = np.linalg.qr(rng.normal(size=(max(n_in, n_out), min(n_in, n_out))))
    Q *= np.sign(np.diag(R))  # makes the distribution uniform over all orthogonal matrices
    return (Q if n_in >= n_out else Q.T).reshape(shape)
