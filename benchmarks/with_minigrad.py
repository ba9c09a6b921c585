"""minigrad takes the step: through its public names, as a reader of the course would write it."""

import minigrad
from benchmarks.workloads import start


def learner(workload, weights):
    """Return a Learner whose model has copies of the given weights.

    Parameters
    ----------
    workload : Workload
    weights : list of (array (n_in, n_out), array (n_out,))

    Returns
    -------
    minigrad.Learner
    """
    layers = []
    for W, b in weights:
        linear = minigrad.Linear(*W.shape, rng=0, dtype=workload.dtype)
        linear.W.data[...], linear.b.data[...] = W, b
        layers += [linear, getattr(minigrad, workload.activation)()]
    model = minigrad.Sequential(*layers[:-1])  # no activation after the last linear layer
    optimizer = getattr(minigrad, workload.optimizer)(workload.learning_rate)
    return minigrad.Learner(model, getattr(minigrad, workload.loss), optimizer)


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
