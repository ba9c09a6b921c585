"""The workloads: a table of networks, and initial weights and data for every contestant.

A step is forward pass, loss, backward pass and update. All contestants compute in float32, PyTorch's default,
from copies of the same arrays. The steps are in the files `with_...`.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks import gpt

KERNEL = 5  # rows and columns of a convolution's kernel


@dataclass(frozen=True)
class Workload:
    """A network, its batch, its loss and its optimizer.

    Parameters
    ----------
    name : str
    sizes : sequence of int
        Widths from the input to the output.
    batch : int
        Rows of X.
    activation : str or None
        "Tanh" or "ReLU", between the layers.
    loss : str
        "mse" or "cross_entropy".
    optimizer : str
        "SGD" or "Adam".
    learning_rate : float
    goal_numpy : float, optional
        The goal for the time of a step of minigrad on one thread, relative to raw NumPy's: at most this.
    goal_products : float, optional
        The goal for the matrix products' share of a step's time on one thread: at least this.
    dtype : str
    steps : int
        Steps of a sequence. If not 0, the first layer is an LSTM, and the next layer gets its last state.
    side : int
        Rows and columns of an image. If not 0, sizes are channels, and all layers but the last are
        convolutions with 5 × 5 kernels, each followed by the activation and a 2 × 2 max pool.
    heads : int
        Attention heads. If not 0, the network is a GPT: see benchmarks.gpt for its sizes.
    """

    name: str
    sizes: tuple
    batch: int
    activation: str | None
    loss: str
    optimizer: str
    learning_rate: float
    goal_numpy: float | None = None
    goal_products: float | None = None
    dtype: str = "float32"
    steps: int = 0
    side: int = 0
    heads: int = 0


# Every step uses the same batch. Adam's learning rate is small, so that even after many thousands of steps
# gradients do not underflow: subnormal numbers are slow, and would distort the times.
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W1", (2, 16, 16, 1), 32, "Tanh", "mse", "SGD", 0.05, 2.0, 0.17),
        Workload("W2 SGD", (64, 128, 10), 64, "ReLU", "cross_entropy", "SGD", 0.05, 1.10, 0.44),
        Workload("W2 Adam", (64, 128, 10), 64, "ReLU", "cross_entropy", "Adam", 1e-5, 1.10, 0.33),
        Workload("W3", (784, 512, 512, 10), 128, "ReLU", "cross_entropy", "Adam", 1e-5, 1.05, 0.75),
        Workload("W4", (1024, 4096, 1024), 512, "ReLU", "mse", "SGD", 0.05, 1.02, 0.94),
        Workload("W5", (1, 16, 32, 10), 64, "ReLU", "cross_entropy", "Adam", 1e-5, 1.05, 0.47, side=28),
        Workload(
            "W6", (65, 64, 64, 65), 16, None, "cross_entropy", "Adam", 1e-5, None, 0.65, steps=64, heads=4
        ),
        Workload("W7", (64, 64, 10), 32, None, "cross_entropy", "Adam", 1e-5, 1.10, 0.52, steps=32),
    )
}


def start(workload, examples=None):
    """Draw a workload's data and initial weights, the same at every call.

    Parameters
    ----------
    workload : Workload
    examples : int, optional
        Rows of the data; by default one batch.

    Returns
    -------
    X : array (examples, sizes[0]), of sequences (examples, steps, sizes[0]), or of images
        (examples, sizes[0], side, side)
    T : array (examples, sizes[-1]), or of integers (examples,)
        For a GPT, X and T are tokens (examples, steps).
    weights : list of (array (n_in, n_out), array (n_out,))
        For an LSTM W, b and U (from the state), with 4 n_out columns: for the input gate, the forget gate,
        the candidate and the output gate. For a convolution W is (n_out, n_in, 5, 5).

    Examples
    --------
    >>> X, T, weights = start(WORKLOADS["W1"])
    >>> X.shape, T.shape, [W.shape for W, b in weights]
    ((32, 2), (32, 1), [(2, 16), (16, 16), (16, 1)])
    """
    rng = np.random.default_rng(0)
    examples = workload.batch if examples is None else examples
    if workload.heads:
        return gpt.start(workload, examples, rng)
    n_in, n_out = workload.sizes[0], workload.sizes[-1]
    shape = (examples, workload.steps, n_in) if workload.steps else (examples, n_in)
    side = workload.side
    shape = (examples, n_in, side, side) if side else shape
    X = rng.standard_normal(shape, dtype=np.float32).astype(workload.dtype, copy=False)
    if workload.loss == "mse":
        T = rng.standard_normal((examples, n_out), dtype=np.float32).astype(workload.dtype, copy=False)
    else:
        T = rng.integers(n_out, size=examples)

    def draw(n_in, n_out):
        return (rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)).astype(workload.dtype)

    weights, pairs = [], list(zip(workload.sizes[:-1], workload.sizes[1:], strict=True))
    if workload.steps:
        n_in, n_out = pairs.pop(0)
        weights = [(draw(n_in, 4 * n_out), np.zeros(4 * n_out, workload.dtype), draw(n_out, 4 * n_out))]
    while side and pairs[1:]:
        n_in, n_out = pairs.pop(0)
        kernels = draw(n_in * KERNEL * KERNEL, n_out).T.reshape(n_out, n_in, KERNEL, KERNEL)
        weights.append((np.ascontiguousarray(kernels), np.zeros(n_out, workload.dtype)))
        side = (side - KERNEL + 1) // 2
    if side:
        n_in, n_out = pairs.pop()
        pairs = [(n_in * side * side, n_out)]
    weights += [(draw(*sizes), np.zeros(sizes[1], workload.dtype)) for sizes in pairs]
    return X, T, weights
