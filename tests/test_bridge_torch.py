"""Modules of PyTorch as layers, and layers as modules: where PyTorch is installed (the extra `torch`)."""

import copy
import re
import threading
from importlib.util import find_spec

import numpy as np
import pytest

import minigrad
from minigrad import (
    SGD,
    Adam,
    BatchNorm,
    Dropout,
    Embedding,
    Learner,
    Linear,
    ReLU,
    Sequential,
    Tanh,
    cross_entropy,
    gradcheck,
    load,
    moons,
    mse,
    replica,
    save,
    save_model,
    to_device,
)
from minigrad.beyond.bridge import from_torch, to_torch

if find_spec("torch") is None:
    pytest.skip("PyTorch is not installed; it is optional", allow_module_level=True)

import torch  # noqa: E402
from torch import nn  # noqa: E402

rng = np.random.default_rng(0)
X, IMAGES, SEQUENCES = rng.normal(size=(5, 3)), rng.normal(size=(2, 2, 5, 5)), rng.normal(size=(2, 5, 3))
TOKENS = rng.integers(0, 5, size=(4, 2))


@pytest.fixture(autouse=True)
def one_seed_and_one_thread():
    torch.manual_seed(0)
    torch.set_num_threads(1)


class Last(nn.Module):
    """An LSTM that returns its states alone."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Scaled(nn.Module):
    """Tokens and floats in, a parameter of no axes, and one that nothing uses."""

    def __init__(self):
        super().__init__()
        self.table, self.scale = nn.Embedding(5, 3), nn.Parameter(torch.tensor(2.0))
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, tokens, x):
        return self.table(tokens) * x * self.scale


class Both(nn.Module):
    """Two results, one of them integers."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 7)

    def forward(self, x):
        y = self.linear(x)
        return y, y.argmax(dim=1)


class Counting(nn.Module):
    """A buffer that is replaced by a new tensor in each pass."""

    def __init__(self):
        super().__init__()
        self.register_buffer("passes", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.passes = self.passes + 1
        return 2 * x


def tied():
    module = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    module[2].weight = module[0].weight
    return module


MODULES = {
    "Linear": (lambda: nn.Linear(3, 2), X),
    "Linear without bias": (lambda: nn.Linear(3, 2, bias=False), X),
    "Linear over steps": (lambda: nn.Linear(3, 2), SEQUENCES),
    "Conv2d": (lambda: nn.Conv2d(2, 3, 3), IMAGES),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), IMAGES),
    "BatchNorm": (lambda: nn.BatchNorm1d(3), X),
    "BatchNorm of images": (lambda: nn.BatchNorm2d(2), IMAGES),
    "LayerNorm": (lambda: nn.LayerNorm(3), X),
    "LSTM": (Last, SEQUENCES),
    "attention": (
        lambda: nn.TransformerEncoderLayer(2, 1, 3, dropout=0.0, batch_first=True),
        SEQUENCES[..., :2],
    ),
    "Embedding": (lambda: nn.Embedding(5, 3), TOKENS),
    "a tuple": (Scaled, (TOKENS[:, 0], rng.normal(size=(4, 3)))),
    "two results": (Both, X),
    "in place": (lambda: nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 2), nn.ReLU(inplace=True)), X),
    "nothing inside": (lambda: nn.Tanh(), X),
    "X itself": (lambda: nn.Identity(), X),
    "tied weights": (tied, X),
    "frozen": (lambda: nn.Linear(3, 2).requires_grad_(False), X),
    "a buffer that is replaced": (Counting, X),
}


@pytest.mark.parametrize("training", [False, True], ids=["predicting", "training"])
@pytest.mark.parametrize("name", MODULES)
def test_gradcheck_passes_a_module(name, training):
    make, sample = MODULES[name]
    module = make()
    before = copy.deepcopy(module.state_dict())
    report = gradcheck(from_torch(module), sample, training=training)
    assert report.ok, report
    for key, tensor in module.state_dict().items():
        assert tensor.dtype == before[key].dtype and torch.equal(tensor, before[key]), key


def test_gradcheck_finds_a_wrong_gradient_inside_a_module():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 3 * g

    class Module(nn.Module):
        def forward(self, x):
            return Wrong.apply(x)

    (problem,) = gradcheck(from_torch(Module()), X).problems
    assert problem.startswith("input X: 1.5 times too large")


def test_numbers_are_those_of_pytorch():
    module = nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, 2)).double()
    layer = from_torch(module)
    x, dY = torch.tensor(X, requires_grad=True), rng.normal(size=(5, 2))
    y = module(x)
    y.backward(torch.tensor(dY))
    Y, backward = layer(X)
    np.testing.assert_array_equal(Y, y.detach().numpy())
    np.testing.assert_array_equal(backward(dY), x.grad.numpy())
    for name, tensor in module.named_parameters():
        np.testing.assert_array_equal(layer.parts[name].grad, tensor.grad.numpy())


def test_names_are_those_of_the_module():
    layer = from_torch(nn.Sequential(nn.Linear(3, 7), nn.BatchNorm1d(7)))
    assert list(layer.named_parameters()) == [
        "parts.0.weight", "parts.0.bias", "parts.1.weight", "parts.1.bias",
    ]  # fmt: skip
    assert len(layer.buffers()) == 3 and "parts.0.weight  (7, 3)" in layer.summary()
    assert repr(layer) == "from_torch(Sequential)"


def test_float32_stays_float32_and_dX_is_of_the_type_of_X():
    layer = from_torch(nn.Linear(3, 2))
    for dtype in (np.float32, np.float64):
        Y, backward = layer(X.astype(dtype))
        assert Y.dtype == np.float32 and backward(np.ones((5, 2))).dtype == dtype
    assert layer.parts["weight"].grad.dtype == np.float32


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a model"])
def test_to_converts_the_module_and_back(inside):
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    layer = from_torch(module)
    model = Linear(3, 3, rng=0) >> layer if inside else layer
    model.to(np.float64)
    assert {p.dtype for p in module.parameters()} == {torch.float64}
    assert module[1].num_batches_tracked.dtype == torch.int64
    assert model(X)[0].dtype == np.float64
    module.float()
    assert layer.parts["0.weight"].data.dtype == np.float32 and layer(X)[0].dtype == np.float32


def test_training_here_is_training_there():
    module = nn.Linear(3, 2)
    layer = from_torch(module)
    before = module.weight.detach().clone()
    Y, backward = layer(X)
    backward(np.ones_like(Y))
    Adam(0.1).step(layer.parameters())
    assert not torch.equal(module.weight, before)
    np.testing.assert_array_equal(layer.parts["weight"].data, module.weight.detach().numpy())
    assert module.weight.grad is None


def test_training_there_is_training_here():
    module = nn.Linear(3, 2)
    layer = from_torch(module)
    before, Y = layer.parts["weight"].data.copy(), layer(X)[0]
    module(torch.ones(5, 3)).sum().backward()
    torch.optim.SGD(module.parameters(), lr=0.1).step()
    assert (layer.parts["weight"].data != before).all() and (layer(X)[0] != Y).any()
    module.load_state_dict({"weight": torch.zeros(2, 3), "bias": torch.ones(2)})
    np.testing.assert_array_equal(layer(X)[0], np.ones((5, 2)))


def test_a_learner_trains_a_mixed_model():
    module = nn.Sequential(nn.Linear(16, 16), nn.Tanh())
    model = Linear(2, 16, rng=0) >> Tanh() >> from_torch(module) >> Linear(16, 2, rng=1)
    points, labels = moons(200, rng=0)
    assert gradcheck(model, points[:5]).ok
    Learner(model, cross_entropy, Adam(0.01)).fit(points, labels, epochs=30)
    assert minigrad.accuracy(model(points)[0], labels) > 0.95


def test_data_is_the_same_array_until_the_module_has_another():
    module = nn.Linear(3, 2)
    weight = from_torch(module).parts["weight"]
    array = weight.data
    assert weight.data is array
    array[0, 0] = 7.0
    assert module.weight[0, 0] == 7.0
    weight.data = mine = np.zeros((2, 3))
    assert weight.data is mine and module.weight.dtype == torch.float64
    module.weight.data = torch.ones(2, 3)
    assert (weight.data == 1).all()
    weight.data = mine
    assert (module.weight == 0).all()
    fixed = np.ones((2, 3))
    fixed.setflags(write=False)
    weight.data = fixed  # PyTorch needs to write: a copy
    weight.data += 1
    assert (module.weight == 2).all() and (fixed == 1).all()


def test_modes_are_put_back_one_by_one():
    module = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)).train()
    module[1].eval()
    layer = from_torch(module)
    mean = module[0].running_mean.clone()
    layer.predict(X)
    assert torch.equal(module[0].running_mean, mean)
    layer(X, training=True)
    assert not torch.equal(module[0].running_mean, mean) and layer.parts["0.num_batches_tracked"].data == 1
    np.testing.assert_array_equal(layer.parts["0.running_mean"].data, module[0].running_mean.numpy())
    assert [module.training, module[0].training, module[1].training] == [True, True, False]
    with pytest.raises(RuntimeError):
        layer(np.ones((5, 4)))
    assert [module.training, module[0].training, module[1].training] == [True, True, False]


def test_dropout_draws_in_training_alone():
    layer = from_torch(nn.Dropout(0.5))
    np.testing.assert_array_equal(layer(X)[0], X)
    assert (layer(X, training=True)[0] == 0).any()
    np.testing.assert_array_equal(layer.freeze()(X, training=True)[0], X)


def test_an_rng_makes_a_module_draw_the_same_and_leaves_pytorch_s_alone(tmp_path):
    layer, other = (from_torch(nn.Dropout(0.5), rng=7) for _ in range(2))
    state = torch.get_rng_state()
    first = layer(X, training=True)[0]
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(other(X, training=True)[0], first)
    save(tmp_path / "layer.npz", layer)
    second = layer(X, training=True)[0]
    assert (second != first).any()
    np.testing.assert_array_equal(load(tmp_path / "layer.npz", other)(X, training=True)[0], second)
    assert (replica(layer)(X, training=True)[0] != replica(layer)(X, training=True)[0]).any()
    assert gradcheck(from_torch(nn.Sequential(nn.Linear(3, 7), nn.Dropout(0.5)), rng=0), X, training=True).ok
    wrong = gradcheck(from_torch(nn.Sequential(nn.Linear(3, 7), nn.Dropout(0.5))), X, training=True)
    assert wrong.problems == [
        "the same X gives the same Y: Y: it differs, draw random numbers from the layer's own Generator"
    ]


def test_frozen_is_the_same_on_both_sides():
    module = nn.Linear(3, 2)
    module.bias.requires_grad_(False)
    layer = from_torch(module)
    assert [p.trainable for p in layer.parameters()] == [True, False]
    Y, backward = layer(X)
    backward(np.ones_like(Y))
    np.testing.assert_array_equal(
        layer.parts["bias"].grad, [5.0, 5.0]
    )  # it arrives, and no optimizer uses it
    before = layer.parts["bias"].data.copy()
    SGD(0.1).step(layer.parameters())
    np.testing.assert_array_equal(layer.parts["bias"].data, before)
    layer.freeze()
    assert not module.weight.requires_grad
    layer.unfreeze()
    assert module.weight.requires_grad and module.bias.requires_grad


def test_backward_adds_and_may_be_called_twice():
    layer = from_torch(nn.Sequential(nn.Linear(3, 7), nn.Tanh()))
    Y, backward = layer(X)
    dX, once = backward(np.ones_like(Y)), layer.parts["0.weight"].grad.copy()
    np.testing.assert_array_equal(backward(np.ones_like(Y)), dX)
    np.testing.assert_array_equal(layer.parts["0.weight"].grad, 2 * once)


def test_need_dX_and_integers_leave_dX_out():
    Y, backward = from_torch(nn.Linear(3, 2))(X, need_dX=False)
    assert backward(np.ones_like(Y)) is None
    Y, backward = from_torch(nn.Embedding(5, 3))(TOKENS)
    assert backward(np.ones_like(Y)) is None
    Y, backward = from_torch(nn.Tanh())(X, need_dX=False)
    assert backward(np.ones_like(Y)) is None
    layer, inputs = from_torch(Scaled()), (TOKENS[:, 0], rng.normal(size=(4, 3)))
    Y, backward = layer(inputs)
    dX = backward(np.ones_like(Y))
    assert dX[0] is None and dX[1].shape == (4, 3)
    np.testing.assert_array_equal(layer.parts["unused"].grad, [0.0, 0.0])


def test_dX_of_an_expanded_gradient_can_be_written_to():
    class Total(nn.Module):
        def forward(self, x):
            return x.sum(dim=1)

    Y, backward = from_torch(Total())(X)
    dX = backward(Y)
    dX[0, 0] = 100.0
    assert dX[0, 1] == Y[0]


def test_a_pass_works_where_gradients_are_switched_off():
    with torch.no_grad():
        Y, backward = from_torch(nn.Linear(3, 2))(X)
        assert backward(np.ones_like(Y)).shape == (5, 3)


def test_a_replica_shares_weights_and_averages_and_not_gradients():
    layer = from_torch(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    twin = replica(layer)
    assert twin.module is not layer.module and twin.turns is not layer.turns
    assert twin.parts["0.weight"].data is layer.parts["0.weight"].data
    Y, backward = twin(X, training=True)
    backward(rng.normal(size=Y.shape))
    assert twin.parts["0.weight"].grad.any() and not layer.parts["0.weight"].grad.any()
    assert layer.module[1].running_mean.any() and layer.module[1].num_batches_tracked == 1
    layer.parts["0.weight"].data[...] = 0.0
    assert not twin.module[0].weight.any()


def test_a_deepcopy_shares_nothing():
    layer = from_torch(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    layer.parts["0.weight"].grad += 3.0
    twin = copy.deepcopy(Sequential(layer, Tanh())).layers[0]
    assert (twin.parts["0.weight"].grad == 3.0).all()
    twin.parts["0.weight"].grad += 1.0
    for part in [*twin.parameters(), *twin.buffers()]:
        part.data[...] = 0
    assert not twin.module[0].weight.any() and layer.module[0].weight.all()
    assert (layer.parts["0.weight"].grad == 3.0).all()
    assert torch.equal(layer.module[1].running_var, torch.ones(2))


def test_saving_and_loading(tmp_path):
    model = Linear(3, 3, rng=0) >> from_torch(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    model(X, training=True)
    model.layers[1].module[0].bias.requires_grad_(False)
    save(tmp_path / "model.npz", model)
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    other = load(tmp_path / "model.npz", Linear(3, 3, rng=1) >> from_torch(module))
    np.testing.assert_array_equal(other(X)[0], model(X)[0])
    assert module[1].num_batches_tracked == 1 and not module[0].bias.requires_grad
    with pytest.raises(
        minigrad.CheckpointError, match=r"layers.1.parts.0.weight: float32 \(2, 3\) in the file"
    ):
        load(tmp_path / "model.npz", Linear(3, 3, rng=1) >> from_torch(nn.Linear(3, 2)))
    with pytest.raises(
        TypeError, match=r"from_torch\(Sequential\) runs code of another library.* use save and load"
    ):
        save_model(tmp_path / "model.npz", model)


def test_threads_take_turns_and_each_has_its_own_mode():
    module = nn.Sequential(nn.Linear(3, 64), nn.Dropout(0.5), nn.Linear(64, 2))
    layer = from_torch(module)
    expected, wrong = layer(X)[0], []

    def run(training):
        twin = replica(layer)
        for _ in range(100):
            Y, backward = layer(X, training=training)
            if not training and not np.array_equal(Y, expected):
                wrong.append(Y)
            Y, backward = twin(X)
            backward(np.ones_like(Y))

    threads = [threading.Thread(target=run, args=(place % 2 == 0,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and module.training
    assert all(type(tensor) is nn.Parameter for tensor in module.parameters())


REFUSED = {
    "a function": (
        lambda: from_torch(torch.tanh),
        TypeError,
        "makes a Layer of a torch.nn.Module, got <built-in",
    ),
    "a class": (lambda: from_torch(nn.Linear), TypeError, r"of a torch.nn.Module, got <class"),
    "a layer of ours": (
        lambda: from_torch(Linear(3, 2, rng=0)),
        TypeError,
        r"got Linear\(3, 2\)",
    ),
    "half": (
        lambda: from_torch(nn.Linear(3, 2).half()),
        TypeError,
        "weight is of torch.float16, but minigrad supports",
    ),
    "complex": (
        lambda: from_torch(nn.Linear(3, 2, dtype=torch.cfloat)),
        TypeError,
        "weight is of torch.complex64",
    ),
    "a seed": (lambda: from_torch(nn.Dropout(), rng="a"), TypeError, "rng must be a seed"),
    "a list": (
        lambda: from_torch(nn.Tanh())([1.0]),
        TypeError,
        r"from_torch\(Tanh\) expects an array of numbers, got list",
    ),
    "text": (
        lambda: from_torch(nn.Tanh())(np.array(["a"])),
        TypeError,
        "an array of numbers, got an array of <U1",
    ),
    "another dY": (
        lambda: from_torch(nn.Linear(3, 2))(X)[1](np.ones((5, 3))),
        ValueError,
        r"dY of Y's shape \(5, 2\)",
    ),
    "no layer": (lambda: to_torch([1]), TypeError, r"a layer must be callable"),
    "a Layer class": (lambda: to_torch(Linear), TypeError, r"Linear is a class, not a layer"),
    "no weights": (
        lambda: to_torch(Linear(n_out=3) >> ReLU()),
        ValueError,
        r"Linear\(\?, 3\) has no n_in yet: pass it, or call model.initialize",
    ),
    "other weights": (
        lambda: with_other_weights(to_torch(Linear(3, 2, rng=0))),
        RuntimeError,
        "is no longer shared",
    ),
    "converted here": (lambda: converted(Linear(3, 2, rng=0)), RuntimeError, "W of .* is no longer shared"),
}


def with_other_weights(module):
    return torch.func.functional_call(module, {"W": torch.zeros(3, 2, dtype=torch.float64)}, torch.tensor(X))


def converted(layer):
    module = to_torch(layer)
    layer.to(np.float32)
    return module(torch.ones(5, 3))


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_is_answered_with_a_sentence(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_a_module_cannot_be_moved_to_a_gpu_by_us(cupy):
    layer = from_torch(nn.Linear(3, 2))
    with pytest.raises(TypeError):
        to_device(layer, "gpu")
    assert layer(X)[0].shape == (5, 2)


def test_a_module_is_a_layer_of_its_own_kind_and_the_examples_run():
    scope = {"np": np, "torch": torch} | {name: getattr(minigrad, name) for name in minigrad.__all__}
    scope |= {"from_torch": from_torch, "to_torch": to_torch}
    for function in (from_torch, to_torch):
        code = re.search(r"installed::\n\n((?: {8}.*\n)+)", function.__doc__ + "\n")[1]
        exec("\n".join(line[8:] for line in code.splitlines()), scope)
    assert isinstance(scope["module"], nn.Module)


# A layer inside PyTorch ----------------------------------------------------------------------------------

LAYERS = {
    "Linear": (lambda: Linear(3, 2, rng=0), X),
    "a row": (lambda: Linear(3, 7, rng=0) >> Tanh() >> Linear(7, 2, rng=1), X),
    "BatchNorm": (lambda: BatchNorm(3), X),
    "LSTM": (lambda: minigrad.LSTM(3, 4, rng=0), SEQUENCES),
    "attention": (lambda: minigrad.MultiHeadAttention(6, 2, rng=0), SEQUENCES.repeat(2, 2)),
    "one Linear twice": (lambda: Sequential(*[Linear(3, 3, rng=0), Tanh()] * 2), X),
    "a function": (lambda: lambda X: (X * X, lambda dY: 2 * X * dY), X),
    "X itself": (lambda: Sequential(), X),
    "PyTorch's": (lambda: from_torch(nn.Sequential(nn.Linear(3, 2), nn.Tanh()).double()), X),
}


@pytest.mark.parametrize("training", [False, True], ids=["predicting", "training"])
@pytest.mark.parametrize("name", LAYERS)
def test_pytorch_s_own_gradcheck_passes_a_layer(name, training):
    make, sample = LAYERS[name]
    module = to_torch(make()).train(training)
    inputs = torch.tensor(sample, requires_grad=True), *module.parameters()
    assert torch.autograd.gradcheck(lambda x, *weights: module(x), inputs)


def test_pytorch_s_own_gradcheck_fails_a_wrong_layer():
    module = to_torch(lambda X: (2 * X, lambda dY: 3 * dY))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(module, torch.tensor(X, requires_grad=True))


def test_gradients_arrive_once_each_time_and_ours_stay_as_they_are():
    layer = Linear(3, 2, rng=0)
    module = to_torch(layer)
    layer.W.grad += 7.0
    x = torch.tensor(X)
    module(x).sum().backward()
    np.testing.assert_allclose(module.W.grad.numpy(), np.repeat(X.sum(axis=0)[:, None], 2, axis=1))
    assert (layer.W.grad == 7.0).all() and x.grad is None
    (module(x) + module(2 * x)).sum().backward()  # twice in one pass: 1 + 1 + 2
    np.testing.assert_allclose(module.W.grad.numpy(), 4 * np.repeat(X.sum(axis=0)[:, None], 2, axis=1))


def test_pytorch_s_optimizers_train_a_layer():
    layer = Linear(2, 16, rng=0) >> Tanh() >> Linear(16, 2, rng=1)
    module = to_torch(layer).float()
    model = nn.Sequential(module, nn.LogSoftmax(dim=1))
    points, labels = moons(200, rng=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.nll_loss(
            model(torch.tensor(points, dtype=torch.float32)), torch.tensor(labels)
        ).backward()
        optimizer.step()
    assert minigrad.accuracy(layer(points)[0], labels) > 0.95
    np.testing.assert_array_equal(
        layer.layers[0].W.data, model[0].layers.get_submodule("0").W.detach().numpy()
    )


def test_names_modes_and_buffers():
    layer = Linear(3, 3, rng=0) >> BatchNorm(3) >> Dropout(0.5, rng=0)
    module = to_torch(layer).eval()
    names = ["layers.0.W", "layers.0.b", "layers.1.gain", "layers.1.shift"]
    assert [name for name, _ in module.named_parameters()] == names
    state = module.state_dict()
    assert set(state) - set(names) == {"layers.1.running_mean", "layers.1.running_variance"}
    y = module(torch.tensor(X))
    np.testing.assert_array_equal(y.detach().numpy(), layer(X)[0])
    assert not state["layers.1.running_mean"].any()
    assert (module.train()(torch.tensor(X)) == 0).any()
    assert state["layers.1.running_mean"].any()
    other = to_torch(Linear(3, 3, rng=1) >> BatchNorm(3) >> Dropout(0.5, rng=0)).eval()
    other.load_state_dict(state)
    assert torch.equal(other(torch.tensor(X)), module.eval()(torch.tensor(X)))
    assert repr(module) == f"to_torch({layer})"


def test_module_conversions_convert_the_layer():
    layer = Linear(3, 3, rng=0) >> BatchNorm(3)
    model = nn.Sequential(to_torch(layer), nn.Tanh()).float()
    assert {part.data.dtype for part in [*layer.parameters(), *layer.buffers()]} == {np.dtype(np.float32)}
    assert layer.layers[0].W.grad.dtype == np.float32
    assert model(torch.tensor(X, dtype=torch.float32)).dtype == torch.float32
    layer.layers[0].W.data[...] = 0.0
    assert not model[0].layers.get_submodule("0").W.any()


def test_y_has_the_float_type_of_x():
    module = to_torch(Linear(3, 2, rng=0))
    assert module(torch.ones(5, 3)).dtype == torch.float32
    table = to_torch(Embedding(5, 3, rng=0))
    y = table(torch.tensor(TOKENS))
    assert y.dtype == torch.float64
    y.sum().backward()
    assert table.W.grad.sum() == TOKENS.size * 3


def test_a_tuple_in_and_out():
    def both(X):
        A, B = X
        return (A + B, A.argmax(axis=1)), lambda dY: (dY[0], dY[0])

    a, b = (torch.tensor(rng.normal(size=(5, 3)), requires_grad=True) for _ in range(2))
    total, place = to_torch(both)(a, b)
    assert place.dtype == torch.int64
    total.sum().backward()
    a.grad += 1
    assert (b.grad == 1).all()  # not on the same memory


def test_dX_is_left_out_where_nobody_needs_it():
    asked = []

    def layer(X, need_dX=True):
        asked.append(need_dX)
        return 2 * X, lambda dY: 2 * dY if need_dX else None

    module = to_torch(layer)
    module(torch.tensor(X))
    module(torch.tensor(X, requires_grad=True)).sum().backward()
    assert asked == [False, True]


def test_frozen_weights_get_no_gradient_in_pytorch():
    layer = Linear(3, 2, rng=0)
    layer.b.trainable = False
    module = to_torch(layer)
    assert not module.b.requires_grad
    module(torch.tensor(X)).sum().backward()
    assert module.b.grad is None and module.W.grad is not None


def test_results_and_inputs_changed_in_place_do_not_spoil_the_way_back():
    x = torch.tensor(X, requires_grad=True)
    y = to_torch(Tanh())(x)
    y.mul_(2)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * (1 - np.tanh(X) ** 2))
    start = torch.tensor(X, requires_grad=True)
    x = start + 0
    y = to_torch(Tanh())(x)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_second_derivative_is_refused():
    x = torch.tensor(X, requires_grad=True)
    with pytest.raises(RuntimeError, match="no second derivative: call backward without create_graph=True"):
        torch.autograd.grad(to_torch(Tanh())(x).sum(), x, create_graph=True)


def test_a_graph_can_be_kept_for_another_way_back_and_otherwise_not():
    x = torch.tensor(X, requires_grad=True)
    y = to_torch(Tanh())(x).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    assert torch.equal(x.grad, 2 * once)
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_a_deepcopy_of_a_module_has_a_layer_of_its_own():
    module = to_torch(Linear(3, 2, rng=0) >> BatchNorm(2)).eval()
    module.get_parameter("layers.0.b").requires_grad_(False)
    twin = copy.deepcopy(nn.Sequential(module))[0]
    with torch.no_grad():
        twin.get_parameter("layers.0.W").zero_()
    assert not twin.minigrad.layers[0].W.data.any() and module.minigrad.layers[0].W.data.all()
    assert not twin.training and not twin.get_parameter("layers.0.b").requires_grad
    assert module(torch.tensor(X)).any() and not twin(torch.tensor(X)).any()


def test_there_and_back_again():
    layer = Linear(3, 2, rng=0) >> Tanh()
    again = from_torch(nn.Sequential(to_torch(layer)))
    np.testing.assert_array_equal(again(X)[0], layer(X)[0])
    loss, backward_of_loss = mse(again(X)[0], np.zeros((5, 2)))
    Y, backward = again(X)
    backward(backward_of_loss())
    assert again.parts["0.layers.0.W"].data is not None and not layer.layers[0].W.grad.any()
    SGD(0.1).step(again.parameters())
    np.testing.assert_array_equal(again(X)[0], layer(X)[0])


def test_several_threads_go_back_through_one_layer():
    module, found = to_torch(Linear(3, 2, rng=0) >> Tanh() >> Linear(2, 2, rng=1)), []
    weights = list(module.parameters())
    expected = torch.autograd.grad(module(torch.tensor(X)).sum(), weights)

    def run():
        for _ in range(50):
            found.append(torch.autograd.grad(module(torch.tensor(X)).sum(), weights))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(torch.equal(a, b) for gradients in found for a, b in zip(gradients, expected, strict=True))
