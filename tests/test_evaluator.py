"""An Evaluator looks and does not touch: every activation by name, one model for many threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from minigrad import BatchNorm, Dropout, Evaluator, Linear, ReLU, Residual, Sequential


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    inner = Residual(Linear(7, 7, rng=rng) >> ReLU())
    return Linear(3, 7, rng=rng) >> BatchNorm(7) >> inner >> Dropout(0.5, rng=1) >> Linear(7, 2, rng=rng)


X = np.random.default_rng(1).normal(size=(5, 3))


def test_it_returns_what_the_model_predicts(model):
    np.testing.assert_array_equal(Evaluator(model).forward(X), model.predict(X))


def test_each_layer_leaves_what_it_returned_under_its_name(model):
    evaluator = Evaluator(model)
    Y = evaluator.forward(X)
    assert set(evaluator.activations) == set(model.named_layers())
    np.testing.assert_array_equal(evaluator.activations[""], Y)
    H = model.layers[0](X)[0]
    np.testing.assert_array_equal(evaluator.activations["layers.0"], H)
    np.testing.assert_array_equal(
        evaluator.activations["layers.2"],
        evaluator.activations["layers.1"] + evaluator.activations["layers.2.layer.layers.1"],
    )


def test_the_model_itself_is_left_as_it_was(model):
    before = {name: dict(vars(layer)) for name, layer in model.named_layers().items()}
    state = model.layers[3].rng.bit_generator.state
    Evaluator(model).forward(X)
    assert {name: dict(vars(layer)) for name, layer in model.named_layers().items()} == before
    assert model.layers[3].rng.bit_generator.state == state


def test_what_the_model_learns_later_is_seen(model):
    evaluator = Evaluator(model)
    for part in [*model.parameters(), *model.buffers()]:
        part.data[...] += 0.1
    np.testing.assert_array_equal(evaluator.forward(X), model.predict(X))


def test_many_threads_each_with_an_evaluator_agree_with_one(model):
    inputs = [np.random.default_rng(seed).normal(size=(5, 3)) for seed in range(40)]
    expected = [model.predict(part) for part in inputs]

    def serve(parts):
        evaluator = Evaluator(model)
        return [(evaluator.forward(part), evaluator.activations["layers.0"]) for part in parts]

    with ThreadPoolExecutor(8) as pool:
        found = [pair for pairs in pool.map(serve, [inputs[k::8] for k in range(8)]) for pair in pairs]
    order = [k for first in range(8) for k in range(40)[first::8]]
    for k, (Y, H) in zip(order, found, strict=True):
        np.testing.assert_array_equal(Y, expected[k])
        np.testing.assert_array_equal(H, model.layers[0](inputs[k])[0])


def test_a_layer_used_twice_shows_its_last_result():
    layer = Linear(3, 3, rng=0)
    evaluator = Evaluator(Sequential(layer, ReLU(), layer))
    Y = evaluator.forward(X)
    np.testing.assert_array_equal(evaluator.activations["layers.0"], Y)
    assert "layers.2" not in evaluator.activations


def test_bad_input_is_refused(model):
    with pytest.raises(TypeError, match=r"a layer is something to call, X -> \(Y, backward\); got 3"):
        Evaluator(3)
    with pytest.raises(ValueError, match="finite"):
        Evaluator(model).forward(np.full((5, 3), np.nan))


def test_a_layer_that_was_not_run_is_named(model):
    evaluator = Evaluator(model)
    with pytest.raises(KeyError, match="no activations of a layer 'layers.0': call forward"):
        evaluator.activations["layers.0"]
    evaluator.forward(X)
    with pytest.raises(KeyError, match="no activations of a layer 'layers.9': there are 'layers.0', "):
        evaluator.activations["layers.9"]


def test_a_plain_function_may_be_looked_at():
    evaluator = Evaluator(lambda X: (2 * X, lambda dY: 2 * dY))
    np.testing.assert_array_equal(evaluator.forward(X), evaluator.activations[""])
