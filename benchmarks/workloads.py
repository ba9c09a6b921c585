"""What is timed: one table of workloads, and the weights and data that every contestant starts from.

A step is forward, loss, backward and update. Everybody computes in float32, PyTorch's default, and is given
copies of the same arrays. Leaves out how a contestant takes the step: each has its file, `with_...`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Workload:
    """A network, its batch, and what a step does with them.

    Parameters
    ----------
    name : str
    sizes : sequence of int
        Widths from the input to the output.
    batch : int
        Rows of X.
    activation : str
        "Tanh" or "ReLU", between the linear layers.
    loss : str
        "mse" or "cross_entropy".
    optimizer : str
        "SGD" or "Adam".
    learning_rate : float
    goal_torch, goal_numpy : float, optional
        How long a step of minigrad may take on one thread, in steps of PyTorch eager and of raw NumPy.
    dtype : str
    """

    name: str
    sizes: tuple
    batch: int
    activation: str
    loss: str
    optimizer: str
    learning_rate: float
    goal_torch: float | None = None
    goal_numpy: float | None = None
    dtype: str = "float32"


# Every step is taken on the same batch. Adam's rate is small, so that after many thousand steps gradients are
# still ordinary numbers: those that underflow are slow, and would time the processor's rarest path.
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W1", (2, 16, 16, 1), 32, "Tanh", "mse", "SGD", 0.05, 0.10, 2.4),
        Workload("W2 SGD", (64, 128, 10), 64, "ReLU", "cross_entropy", "SGD", 0.05, 0.25, 1.15),
        Workload("W2 Adam", (64, 128, 10), 64, "ReLU", "cross_entropy", "Adam", 1e-5, 0.21, 1.15),
        Workload("W3", (784, 512, 512, 10), 128, "ReLU", "cross_entropy", "Adam", 1e-5, 0.88, 1.08),
        Workload("W4", (1024, 4096, 1024), 512, "ReLU", "mse", "SGD", 0.05, 0.97, 1.04),
    )
}


def start(workload, examples=None):
    """Draw the data and the first weights of a workload: the same at every call.

    Parameters
    ----------
    workload : Workload
    examples : int, optional
        Rows of the data; one batch unless given.

    Returns
    -------
    X : array (examples, sizes[0])
    T : array (examples, sizes[-1]), or of integers (examples,)
    weights : list of (array (n_in, n_out), array (n_out,))

    Examples
    --------
    >>> X, T, weights = start(WORKLOADS["W1"])
    >>> X.shape, T.shape, [W.shape for W, b in weights]
    ((32, 2), (32, 1), [(2, 16), (16, 16), (16, 1)])
    """
    rng = np.random.default_rng(0)
    examples = workload.batch if examples is None else examples
    n_in, n_out = workload.sizes[0], workload.sizes[-1]
    X = rng.standard_normal((examples, n_in), dtype=np.float32).astype(workload.dtype, copy=False)
    if workload.loss == "mse":
        T = rng.standard_normal((examples, n_out), dtype=np.float32).astype(workload.dtype, copy=False)
    else:
        T = rng.integers(n_out, size=examples)
    weights = []
    for n_in, n_out in zip(workload.sizes[:-1], workload.sizes[1:], strict=True):
        W = rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)
        weights.append((W.astype(workload.dtype), np.zeros(n_out, workload.dtype)))
    return X, T, weights
