"""A second opinion where PyTorch is installed: the same numbers in, the same numbers out, in float64.

PyTorch is no reference: what is right is decided by nudging and on paper, in the other tests. Both compute in
another order, so they agree to rounding, for which 1e-12 leaves room.
"""

from importlib.util import find_spec

import numpy as np
import pytest

import minigrad
from minigrad import Linear, Parameter, ReLU

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed; it is optional")
AGREE = {"rtol": 1e-12, "atol": 1e-12}
rng = np.random.default_rng(0)
X, images = rng.normal(size=(5, 7)), rng.normal(size=(5, 7, 3, 2))
T, LABELS, SHARES = rng.normal(size=(5, 7)), rng.integers(0, 7, 5), rng.random((5, 7))
SCHEDULES = {"cosine": minigrad.cosine(0.1, steps=20), "exponential": minigrad.exponential(0.1, half_life=3)}


def tensor(array, learns=False):
    """Return an array as a tensor with numbers of its own."""
    import torch

    return torch.tensor(array, requires_grad=learns)


def assert_same_layer(layer, theirs, X, training):
    """Compare Y, dX and the gradients of the parameters, which stand in the same order on both sides."""
    theirs = theirs.double().train(training)
    for ours, parameter in zip(layer.parameters(), theirs.parameters(), strict=True):
        ours.data[...] = rng.normal(size=ours.shape)
        value = ours.data.T if parameter.shape != ours.shape else ours.data
        parameter.data = tensor(value)
    X_theirs = tensor(X, learns=True)
    Y, backward = layer(X, training=training)
    Y_theirs = theirs(X_theirs)
    dY = rng.normal(size=Y.shape)
    Y_theirs.backward(tensor(dY))
    np.testing.assert_allclose(Y, Y_theirs.detach().numpy(), **AGREE)
    np.testing.assert_allclose(backward(dY), X_theirs.grad.numpy(), **AGREE)
    for ours, parameter in zip(layer.parameters(), theirs.parameters(), strict=True):
        gradient = parameter.grad.numpy()
        np.testing.assert_allclose(
            ours.grad, gradient.T if gradient.shape != ours.shape else gradient, **AGREE
        )


@pytest.mark.parametrize(
    ("make", "make_theirs", "X"),
    [
        (lambda: Linear(7, 3, rng=0), lambda nn: nn.Linear(7, 3), X),
        (lambda: ReLU(), lambda nn: nn.ReLU(), X),
        (lambda: minigrad.Sigmoid(), lambda nn: nn.Sigmoid(), X),
        (lambda: minigrad.Tanh(), lambda nn: nn.Tanh(), X),
        (lambda: minigrad.GELU(), lambda nn: nn.GELU(approximate="tanh"), X),
        (lambda: minigrad.Softmax(), lambda nn: nn.Softmax(dim=-1), X),
        (lambda: minigrad.LayerNorm(7), lambda nn: nn.LayerNorm(7), X),
        (lambda: minigrad.BatchNorm(7), lambda nn: nn.BatchNorm1d(7), X),
        (lambda: minigrad.BatchNorm(7), lambda nn: nn.BatchNorm2d(7), images),
    ],
    ids=[
        "Linear",
        "ReLU",
        "Sigmoid",
        "Tanh",
        "GELU",
        "Softmax",
        "LayerNorm",
        "BatchNorm",
        "BatchNorm images",
    ],
)
@pytest.mark.parametrize("training", [True, False], ids=["training", "predicting"])
def test_layers(make, make_theirs, X, training):
    import torch

    assert_same_layer(make(), make_theirs(torch.nn), X, training)


def test_running_averages():
    import torch

    layer, theirs = minigrad.BatchNorm(7, momentum=0.3), torch.nn.BatchNorm1d(7, momentum=0.3).double()
    for _ in range(3):
        batch = rng.normal(size=(5, 7))
        layer(batch, training=True)
        theirs(tensor(batch))
    np.testing.assert_allclose(layer.running_mean.data, theirs.running_mean.numpy(), **AGREE)
    np.testing.assert_allclose(layer.running_variance.data, theirs.running_var.numpy(), **AGREE)


@pytest.mark.parametrize(
    ("loss", "name", "T"),
    [
        (minigrad.mse, "mse_loss", T),
        (minigrad.cross_entropy, "cross_entropy", LABELS),
        (minigrad.cross_entropy, "cross_entropy", SHARES / SHARES.sum(axis=1, keepdims=True)),
        (minigrad.bce_with_logits, "binary_cross_entropy_with_logits", SHARES),
    ],
    ids=["mse", "cross_entropy of labels", "cross_entropy of shares", "bce_with_logits"],
)
def test_losses(loss, name, T):
    import torch

    Y_theirs = tensor(X, learns=True)
    theirs = getattr(torch.nn.functional, name)(Y_theirs, tensor(T))
    theirs.backward()
    L, backward = loss(X, T)
    np.testing.assert_allclose(L, theirs.item(), **AGREE)
    np.testing.assert_allclose(backward(), Y_theirs.grad.numpy(), **AGREE)


@pytest.mark.parametrize(
    ("optimizer", "name", "settings"),
    [
        (minigrad.SGD(0.1), "SGD", {"lr": 0.1}),
        (minigrad.SGD(0.1, momentum=0.9), "SGD", {"lr": 0.1, "momentum": 0.9}),
        (minigrad.SGD(0.1, 0.9, nesterov=True), "SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
        (minigrad.SGD(0.1, 0.9, weight_decay=0.2), "SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.2}),
        (minigrad.RMSProp(0.1, decay=0.7), "RMSprop", {"lr": 0.1, "alpha": 0.7}),
        (minigrad.Adam(0.1), "Adam", {"lr": 0.1}),
        (
            minigrad.Adam(0.1, beta1=0.5, beta2=0.8, eps=1e-3),
            "Adam",
            {"lr": 0.1, "betas": (0.5, 0.8), "eps": 1e-3},
        ),
        (minigrad.AdamW(0.1, weight_decay=0.2), "AdamW", {"lr": 0.1, "weight_decay": 0.2}),
    ],
    ids=["SGD", "momentum", "nesterov", "weight_decay", "RMSProp", "Adam", "Adam's settings", "AdamW"],
)
def test_optimizers_over_twenty_steps_with_clipped_gradients(optimizer, name, settings):
    import torch

    W, W_theirs = Parameter(X), tensor(X, learns=True)
    theirs = getattr(torch.optim, name)([W_theirs], **settings)
    for _ in range(20):
        gradient = rng.normal(size=W.shape)
        W.zero_grad()
        W.grad += gradient
        W_theirs.grad = tensor(gradient)
        ours, length = minigrad.clip_grad_norm([W], 3.0), torch.nn.utils.clip_grad_norm_([W_theirs], 3.0)
        np.testing.assert_allclose(ours, length.item(), **AGREE)
        optimizer.step([W])
        theirs.step()
    # theirs divides by the length plus 1e-6 when it clips, in each of the 20 steps
    np.testing.assert_allclose(W.data, W_theirs.detach().numpy(), rtol=1e-4)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    import torch

    optimizer = torch.optim.SGD([tensor(X, learns=True)], lr=0.1)
    schedulers = torch.optim.lr_scheduler
    theirs = {
        "cosine": lambda: schedulers.CosineAnnealingLR(optimizer, T_max=20),
        "exponential": lambda: schedulers.ExponentialLR(optimizer, gamma=0.5 ** (1 / 3)),
    }[name]()
    for step in range(20):
        np.testing.assert_allclose(SCHEDULES[name](step), theirs.get_last_lr()[0], **AGREE)
        optimizer.step()
        theirs.step()
