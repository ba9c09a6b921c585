"""Several workers on one model: each takes a share of every batch, and they agree on the gradient.

Holds `average_gradients`, which a Learner calls before its step, and `broadcast`, which lets all begin alike.
Both are given a communicator of mpi4py, or anything with its methods; the library itself imports no MPI.
Leaves out who cuts the batches, and threads, for which `minigrad.replica` is enough. Built in chapter 22.
"""

import numpy as np

from minigrad.optimizers import list_of_parameters
from minigrad.settings import require_integer


def average_gradients(parameters, communicator, examples=1):
    """Replace each worker's gradients by the mean over all workers, a worker counting by its examples.

    Parameters
    ----------
    parameters : list of Parameter
        The same ones in the same order on every worker; their gradients are means over the worker's examples.
    communicator : mpi4py.MPI.Comm
        Of whom `Allreduce` is called, once: all gradients are added in one call.
    examples : int
        How many examples this worker's gradients are means of; 0 if it had none this time: then they do not
        count, whatever they are.

    Raises
    ------
    ValueError
        If no worker had an example.

    Notes
    -----
    grad ← Σ examplesᵢ gradᵢ / Σ examplesᵢ over the workers i: what one worker would have found on all
    examples together. The plain mean of the gradients is that only if all workers have equally many.
    A Learner takes it as `before_step`.

    References
    ----------
    PaddlePaddle, API design ("GradientMachine"); MPI Forum, "MPI: a message-passing interface standard",
    section 6.9. Chapter 22.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> class Twice:  # as if another worker had sent the same
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
    """Give every worker the numbers of one: all parameters and buffers become those of the root.

    Parameters
    ----------
    model : Layer
        Of the same shape on every worker.
    communicator : mpi4py.MPI.Comm
        Of whom `Bcast` is called, once a Parameter and Buffer.
    root : int
        The worker whose numbers are taken.

    References
    ----------
    Chapter 22.
    """
    for part in [*model.parameters(), *model.buffers()]:
        data = part.data.copy()  # in one piece, as MPI wants it
        communicator.Bcast(data, root)
        part.data[...] = data
