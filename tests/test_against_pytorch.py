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
SCHEDULES = {"cosine": minigrad.cosine(0.1, steps=20)}


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


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Conv2d", {}),
        ("Conv2d", {"stride": 2, "padding": 1}),
        ("Conv2d", {"padding": "same", "bias": False}),
        ("MaxPool2d", {}),
        ("MaxPool2d", {"stride": 2}),
    ],
    ids=str,
)
def test_layers_for_images(name, options):
    import torch

    sizes = (3, 2, (5, 3)) if name == "Conv2d" else (3,)
    layer, theirs = (getattr(library, name)(*sizes, **options) for library in (minigrad, torch.nn))
    X = rng.normal(size=(5, 3, 7, 11))
    if name == "Conv2d":
        layer.initialize(X, rng=0)
    else:
        X = X.round()  # equal ones in most windows: the first gets the gradient on both sides
    assert_same_layer(layer, theirs, X, training=False)


@pytest.mark.parametrize("last", [False, True], ids=["all states", "last state"])
@pytest.mark.parametrize("name", ["RNN", "LSTM"])
def test_recurrent_layers_over_sequences_of_different_lengths(name, last):
    import torch

    layer = getattr(minigrad, name)(7, 3, last=last, rng=0)
    theirs = getattr(torch.nn, name)(7, 3, batch_first=True).double()
    pairs = [(layer.W, theirs.weight_ih_l0), (layer.U, theirs.weight_hh_l0), (layer.b, theirs.bias_ih_l0)]
    for ours, parameter in pairs:
        ours.data[...] = rng.normal(size=ours.shape)
        parameter.data = tensor(ours.data.T)
    theirs.bias_hh_l0.data.zero_()  # a second bias, added to the first
    X, lengths = minigrad.pad([rng.normal(size=(length, 7)) for length in (11, 2, 1, 7, 11)])
    X_theirs = tensor(X, learns=True)
    Y, backward = layer((X, lengths))
    packing, dY = torch.nn.utils.rnn, rng.normal(size=Y.shape)
    packed = packing.pack_padded_sequence(X_theirs, tensor(lengths), batch_first=True, enforce_sorted=False)
    states, end = theirs(packed)
    Y_theirs, _ = packing.pad_packed_sequence(states, batch_first=True)
    if last:
        Y_theirs = (end[0] if name == "LSTM" else end)[0]
    Y_theirs.backward(tensor(dY))
    np.testing.assert_allclose(Y, Y_theirs.detach().numpy(), **AGREE)
    np.testing.assert_allclose(backward(dY)[0], X_theirs.grad.numpy(), **AGREE)
    for ours, parameter in pairs:
        np.testing.assert_allclose(ours.grad, parameter.grad.numpy().T, **AGREE)


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
    }[name]()
    for step in range(20):
        np.testing.assert_allclose(SCHEDULES[name](step), theirs.get_last_lr()[0], **AGREE)
        optimizer.step()
        theirs.step()


def test_embedding():
    import torch

    layer, tokens = minigrad.Embedding(11, 3, rng=0), rng.integers(0, 11, (5, 7))
    theirs = torch.nn.Embedding(11, 3, _weight=tensor(layer.W.data))
    (Y, backward), Y_theirs = layer(tokens), theirs(tensor(tokens))
    dY = rng.normal(size=Y.shape)
    backward(dY)
    Y_theirs.backward(tensor(dY))
    np.testing.assert_array_equal(Y, Y_theirs.detach().numpy())
    np.testing.assert_allclose(layer.W.grad, theirs.weight.grad.numpy(), **AGREE)


def attention_arrays(layer, of):
    """Return what a MultiHeadAttention has, as PyTorch lays it out: three layers in one, W transposed."""
    inputs = layer.queries, layer.keys, layer.values
    return {
        "in_proj_weight": np.hstack([of(part.W) for part in inputs]).T,
        "in_proj_bias": np.hstack([of(part.b) for part in inputs]),
        "out_proj.weight": of(layer.output.W).T,
        "out_proj.bias": of(layer.output.b),
    }


def assert_same_attention(layer, attention, theirs, run, steps, lengths=None):
    """Compare Y, dX and all gradients of attention, or of a block around it, on sequences."""
    for parameter in layer.parameters():
        parameter.data[...] = rng.normal(size=parameter.shape)

    def arrays(of):
        found = attention_arrays(attention, of)
        if attention is layer:
            return found
        found = {f"self_attn.{name}": array for name, array in found.items()}
        norm, second_norm = (residual.layer.layers[0] for residual in layer.block.layers)
        wide, narrow = (layer.block.layers[1].layer.layers[place] for place in (1, 3))
        for name, part in (("linear1", wide), ("linear2", narrow)):
            found |= {f"{name}.weight": of(part.W).T, f"{name}.bias": of(part.b)}
        for name, part in (("norm1", norm), ("norm2", second_norm)):
            found |= {f"{name}.weight": of(part.gain), f"{name}.bias": of(part.shift)}
        return found

    theirs = theirs.double().train()
    theirs.load_state_dict({name: tensor(array) for name, array in arrays(lambda part: part.data).items()})
    X = rng.normal(size=(5, steps, 6))
    X_theirs = tensor(X, learns=True)
    Y, backward = layer(X if lengths is None else (X, lengths))
    dY = rng.normal(size=Y.shape)
    real = np.ones((5, steps, 1)) if lengths is None else (np.arange(steps) < lengths[:, None])[..., None]
    Y_theirs = run(theirs, X_theirs) * tensor(real)  # which writes behind the end
    Y_theirs.backward(tensor(dY))
    np.testing.assert_allclose(Y, Y_theirs.detach().numpy(), **AGREE)
    dX = backward(dY)
    np.testing.assert_allclose(
        dX if lengths is None else dX[0], X_theirs.grad.numpy(), rtol=1e-10, atol=1e-10
    )
    gradients = dict(theirs.named_parameters())
    for name, gradient in arrays(lambda part: part.grad).items():
        # the sums of 35 steps, of numbers up to a hundred in a block
        np.testing.assert_allclose(gradient, gradients[name].grad.numpy(), rtol=1e-10, atol=1e-10)


LOOKS = pytest.mark.parametrize(
    ("causal", "lengths"),
    [(False, None), (True, None), (False, np.array([7, 1, 3, 5, 2])), (True, np.array([7, 1, 3, 5, 2]))],
    ids=["everywhere", "causal", "lengths", "causal and lengths"],
)


@LOOKS
def test_attention(causal, lengths):
    import torch

    layer, theirs = (
        minigrad.MultiHeadAttention(6, 2, causal),
        torch.nn.MultiheadAttention(6, 2, batch_first=True),
    )
    layer.initialize(np.ones((1, 1, 6)), rng=0)
    ahead = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    behind = None if lengths is None else tensor(np.arange(7) >= lengths[:, None])

    def run(theirs, X):
        return theirs(X, X, X, attn_mask=ahead, key_padding_mask=behind, need_weights=False)[0]

    assert_same_attention(layer, layer, theirs, run, 7, lengths)


@pytest.mark.parametrize("causal", [False, True], ids=["everywhere", "causal"])
def test_transformer_block(causal):
    import torch

    layer = minigrad.TransformerBlock(6, 3, causal, rng=0)
    theirs = torch.nn.TransformerEncoderLayer(
        *(6, 3, 24),
        dropout=0.0,
        activation=torch.nn.GELU(approximate="tanh"),
        batch_first=True,
        norm_first=True,
    )
    ahead = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    attention = layer.block.layers[0].layer.layers[1]
    assert_same_attention(layer, attention, theirs, lambda theirs, X: theirs(X, src_mask=ahead), 7)
