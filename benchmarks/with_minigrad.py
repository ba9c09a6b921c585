"""The step in minigrad, with its public names, as a reader of the course would write it."""

import minigrad
from benchmarks import gpt
from benchmarks.workloads import start


def learner(workload, weights):
    """Make a Learner whose model has copies of the given weights.

    Parameters
    ----------
    workload : Workload
    weights : list of tuple of array
        Drawn by benchmarks.workloads.start.

    Returns
    -------
    minigrad.Learner
    """
    model = gpt.minigrad_model(workload, weights) if workload.heads else sequential(workload, weights)
    optimizer = getattr(minigrad, workload.optimizer)(workload.learning_rate)
    return minigrad.Learner(model, getattr(minigrad, workload.loss), optimizer)


def sequential(workload, weights):
    """Make a workload's Sequential, with copies of the given weights."""
    layers = []
    for W, b, *U in weights:
        if layers and workload.activation:
            layers.append(getattr(minigrad, workload.activation)())
        if layers and workload.side:
            layers.append(minigrad.MaxPool2d(2))
        if U:
            layers.append(minigrad.LSTM(len(W), len(U[0]), last=True, rng=0))
        elif W.ndim == 4:
            n_out, n_in, *kernel = W.shape
            layers.append(minigrad.Conv2d(n_in, n_out, tuple(kernel), rng=0))
        else:
            layers += [minigrad.Flatten()] if workload.side else []
            layers.append(minigrad.Linear(*W.shape, rng=0))
        layers[-1].to(workload.dtype)
        for parameter, array in zip(layers[-1].parameters(), (W, *U, b), strict=True):
            parameter.data[...] = array
    return minigrad.Sequential(*layers)


def step(workload):
    """Return a function that takes one step with minigrad and returns the loss before it."""
    X, T, weights = start(workload)
    trained = learner(workload, weights)
    parameters = trained.model.parameters()  # looked up once, as fit does in an epoch
    return lambda: trained.fit_batch(X, T, parameters)


def epoch(workload, examples):
    """Return a function that goes through the examples once, in shuffled batches, and returns the loss."""
    X, T, weights = start(workload, examples)
    trained = learner(workload, weights)
    return lambda: trained.fit(X, T, epochs=1, batch_size=workload.batch)["loss"][-1]
