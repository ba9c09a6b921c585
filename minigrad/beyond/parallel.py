"""Data-parallel training: every rank or thread gets a share of each batch, and they average gradients.

Holds ConcurrentLearner, whose workers are threads; and for processes `average_gradients`, which a Learner
calls before its step, and `broadcast`, which gives all the same weights. These two take a communicator of
mpi4py, or any object with its methods; the library itself does not import MPI, and the caller splits
the batches. Built in chapter 22.
"""

import contextvars
import threading

import numpy as np

from minigrad.beyond.sharing import replica
from minigrad.learner import Learner
from minigrad.optimizers import list_of_parameters
from minigrad.settings import require_integer
from minigrad.shapes import count_examples, take


class ConcurrentLearner(Learner):
    """A Learner that splits each batch among threads, each with its own gradients and the same weights.

    Parameters
    ----------
    model, loss, optimizer, metrics, before_step, rng
        As in Learner.
    workers : int
        The number of threads that share each batch.

    Notes
    -----
    Every thread runs forward and backward on a replica of the model. When all have finished, their gradients
    are averaged, weighted by their numbers of examples, and the optimizer takes one step: the same as a
    Learner's on the whole batch, up to rounding. A layer that mixes the examples of a batch, such as
    BatchNorm, uses only its share; all threads update the same running averages, in turn. NumPy lets other
    threads run while it multiplies matrices, so large layers become faster, and small ones slower.

    References
    ----------
    PaddlePaddle, API design ("concurrent optimizer"). Chapter 22.

    Examples
    --------
    >>> from minigrad import SGD, Linear, mse
    >>> X, T = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> learner = ConcurrentLearner(Linear(1, 1, rng=0), mse, SGD(0.1), workers=2)
    >>> history = learner.fit(X, T, epochs=400)
    >>> learner.predict(np.array([[10.0]])).round(2)
    array([[21.]])
    """

    def __init__(self, model, loss, optimizer,  # noqa: PLR0913  settings
                 metrics=(), before_step=None, rng=0, workers=2):  # fmt: skip
        super().__init__(model, loss, optimizer, metrics, before_step, rng)
        self.workers = require_integer("workers of ConcurrentLearner", workers)

    def _forward(self, model, X, T):
        """Return the loss of a batch and the backward function; each thread computes its share of both."""
        examples = count_examples(X, T)
        ends = np.linspace(0, examples, min(self.workers, examples) + 1).astype(int)
        shares = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        weights = (np.diff(ends) / examples).tolist()
        replicas = [replica(model) for _ in shares]
        given = [(twin, take(X, share), T[share]) for twin, share in zip(replicas, shares, strict=True)]
        losses, backwards = zip(*_in_threads(super()._forward, given), strict=True)

        def backward():
            _in_threads(lambda share_backward: share_backward(), [(each,) for each in backwards])
            held = (each.parameters() for each in (model, *replicas))
            for parameter, *copies in zip(*held, strict=True):
                weighted = zip(weights, copies, strict=True)
                parameter.grad += sum(weight * copy.grad for weight, copy in weighted)

        return np.dot(weights, losses), backward


def _in_threads(function, arguments):
    """Call a function with each tuple of a list of arguments, each in its own thread; return the results."""
    results, errors = [None] * len(arguments), []

    def run(place, given):
        try:
            results[place] = function(*given)
        except Exception as error:
            errors.append(error)

    contexts = [contextvars.copy_context() for _ in arguments]  # so that np.errstate applies there, too
    given = zip(contexts, enumerate(arguments), strict=True)
    threads = [threading.Thread(target=context.run, args=(run, *each)) for context, each in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def average_gradients(parameters, communicator, examples=1):
    """Replace the gradients of each rank by the mean over all ranks, weighted by their examples.

    Parameters
    ----------
    parameters : list of Parameter
        The same ones in the same order on every worker; their gradients are means over the worker's examples.
    communicator : mpi4py.MPI.Comm
        Its `Allreduce` is called once, and adds all gradients in one call.
    examples : int
        The number of examples that this worker's gradients are means of; if it is 0, the gradients are
        ignored, whatever their values.

    Raises
    ------
    ValueError
        If no worker had an example.

    Notes
    -----
    grad ← Σ examplesᵢ gradᵢ / Σ examplesᵢ over the workers i: the gradient of one worker with all
    the examples. The plain mean of the gradients equals it only if all workers have equally many.
    Pass it to a Learner as `before_step`.

    References
    ----------
    PaddlePaddle, API design ("GradientMachine"); MPI Forum, "MPI: a message-passing interface standard",
    section 6.9. Chapter 22.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> class Twice:  # as if another rank sent the same
    ...     def Allreduce(self, mine, total):
    ...         total[...] = 2 * mine
    >>> parameter = Parameter([1.0, 2.0])
    >>> parameter.grad[...] = [3.0, 5.0]
    >>> average_gradients([parameter], Twice(), examples=7)
    >>> parameter.grad
    array([3., 5.])
    """
    parameters = list_of_parameters("average_gradients", parameters)
    require_integer("examples of average_gradients", examples, least=0)
    gradients = [parameter.grad.ravel() for parameter in parameters]
    mine = np.concatenate([*gradients, np.ones_like(gradients[0], shape=1)]) * examples
    total = np.empty_like(mine)
    communicator.Allreduce(mine if examples else np.zeros_like(mine), total)  # 0 times nan would be nan
    *flat, count = np.split(total, np.cumsum([gradient.size for gradient in gradients]).tolist())
    if count[0] == 0:
        raise ValueError("no worker had an example: give each batch at least one.")
    for parameter, gradient in zip(parameters, flat, strict=True):
        parameter.grad[...] = gradient.reshape(parameter.shape) / count


def broadcast(model, communicator, root=0):
    """Copy all parameters and buffers of the root to every rank.

    Parameters
    ----------
    model : Layer
        Of the same shape on every worker.
    communicator : mpi4py.MPI.Comm
        Its `Bcast` is called once for each Parameter and Buffer.
    root : int
        The worker whose values are copied.

    References
    ----------
    Chapter 22.
    """
    for part in [*model.parameters(), *model.buffers()]:
        data = part.data.copy()  # contiguous, as MPI needs it
        communicator.Bcast(data, root)
        part.data[...] = data
