"""An Evaluator looks and does not touch: every activation by name, one model for many threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Dropout,
    Evaluator,
    Layer,
    Learner,
    Linear,
    ReLU,
    Residual,
    Sequential,
    chain,
    mse,
    observed,
)
from minigrad.layer import as_layer
from minigrad.parts import attributes, is_array_holder, named_parts
from tests.contract import ROWS, scale

X = np.random.default_rng(1).normal(size=(5, 3))
LAYERS = [row for row in ROWS if not row.name.startswith("minigrad.losses.")]


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    inner = Residual(Linear(7, 7, rng=rng) >> ReLU())
    return Linear(3, 7, rng=rng) >> BatchNorm(7) >> inner >> Dropout(0.5, rng=1) >> Linear(7, 2, rng=rng)


def closures():
    """A model in which layers stand in closures, in chains, and in functions around layers."""
    rng = np.random.default_rng(0)
    inner = chain(scale(3, rng), Linear(3, 7, rng=rng)) >> BatchNorm(7)

    def around(X):
        Y, backward = inner(X)
        return 2 * Y, lambda dY: backward(2 * dY)

    return chain(around, Dropout(0.5, rng=1))


def state(model):
    """Everything a model holds: attributes of layers by identity, arrays and generators by their numbers."""
    held, numbers = [], []
    for name, part in named_parts(model):
        if is_array_holder(part):
            arrays = [array for key, array in attributes(part) if key != "trainable"]
            numbers += [(name, np.asarray(array).tobytes()) for array in arrays]
        elif isinstance(part, np.random.Generator):
            numbers.append((name, str(part.bit_generator.state)))
        elif isinstance(part, Layer):
            held += [(name, key, id(value)) for key, value in vars(part).items()]
    return held, numbers


def flat(Y):
    return Y if isinstance(Y, tuple) else (Y,)


@pytest.mark.parametrize("row", [*LAYERS, None], ids=str)
def test_it_returns_what_the_model_predicts_and_leaves_all_as_it_was(row):
    model, X_row = (closures(), X) if row is None else (row.layer(), row.sample())
    model = as_layer(model)
    expected = model.predict(X_row)
    before = state(model)
    evaluator = Evaluator(model)
    Y = evaluator.forward(X_row)
    for ours, theirs in zip(flat(Y), flat(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert evaluator.activations[""] is Y
    assert set(evaluator.activations) <= set(model.named_layers())
    assert state(model) == before


def test_each_layer_leaves_what_it_returned_under_its_name(model):
    evaluator = Evaluator(model)
    evaluator.forward(X)
    assert set(evaluator.activations) == set(model.named_layers())
    H = model.layers[0](X)[0]
    np.testing.assert_array_equal(evaluator.activations["layers.0"], H)
    np.testing.assert_array_equal(
        evaluator.activations["layers.2"],
        evaluator.activations["layers.1"] + evaluator.activations["layers.2.layer.layers.1"],
    )


def test_layers_in_closures_and_plain_functions_have_activations_too():
    evaluator = Evaluator(closures())
    evaluator.forward(X)
    assert {"layers.0", "layers.0.inner", "layers.0.inner.layers.1", "layers.1"} <= set(evaluator.activations)


def test_what_the_model_learns_later_is_seen(model):
    evaluator = Evaluator(model)
    for part in [*model.parameters(), *model.buffers()]:
        part.data[...] += 0.1
    np.testing.assert_array_equal(evaluator.forward(X), model.predict(X))


def test_what_others_run_later_is_not_kept(model):
    first, second = Evaluator(model), Evaluator(model)
    first.forward(X)
    kept = dict(first.activations)
    second.forward(X[:2])
    model.predict(X[:3])
    assert first.activations == kept and all(first.activations[name] is kept[name] for name in kept)


def test_a_thousand_evaluators_on_one_model_work():
    model = closures()
    expected = model.predict(X)
    for _ in range(1200):
        np.testing.assert_array_equal(Evaluator(model).forward(X), expected)


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


def test_evaluators_and_a_thread_that_trains_do_not_disturb_each_other(model):
    """All three meet in the middle of each pass; each evaluator sees its own batch alone."""
    barrier = threading.Barrier(3, timeout=60)

    def waiting(X):
        barrier.wait()
        return X, lambda dY: dY

    meeting = Linear(3, 3, rng=0) >> waiting >> BatchNorm(3)

    def look(batch):
        evaluator = Evaluator(meeting)
        return [(evaluator.forward(batch).shape, evaluator.activations["layers.0"].shape) for _ in range(20)]

    def train():
        learner = Learner(meeting, mse, SGD(0.1), rng=0)
        return [learner.fit_batch(X, X) for _ in range(20)]

    with ThreadPoolExecutor(3) as pool:
        looks = [pool.submit(look, X[:count]) for count in (2, 4)]
        losses = pool.submit(train).result()
    assert [set(found.result()) for found in looks] == [{((2, 3), (2, 3))}, {((4, 3), (4, 3))}]
    assert losses[-1] < losses[0]


def test_observers_nest_and_are_put_back_after_an_error():
    seen = []

    def look(name):
        return observed(after=lambda layer, Y: seen.append(name))

    layer = ReLU()
    with look("outer"):
        layer(X)
        with pytest.raises(ZeroDivisionError), look("inner"):
            layer(X)
            raise ZeroDivisionError
        layer(X)
    layer(X)
    assert seen == ["outer", "inner", "outer"]


def test_an_observer_hears_nothing_of_another_thread():
    heard, layer = [], ReLU()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(layer, X).result()  # the thread is there before anybody looks
        with observed(after=lambda layer, Y: heard.append(layer)):
            pool.submit(layer, X).result()
            assert heard == []
            layer(X)
    assert heard == [layer]


def test_a_layer_used_twice_shows_its_last_result():
    layer = Linear(3, 3, rng=0)
    evaluator = Evaluator(Sequential(layer, ReLU(), layer))
    Y = evaluator.forward(X)
    np.testing.assert_array_equal(evaluator.activations["layers.0"], Y)
    assert "layers.2" not in evaluator.activations


def test_bad_input_is_refused(model):
    with pytest.raises(TypeError, match="a layer must be callable"):
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


def test_a_name_that_no_layer_has_is_answered_with_those_that_there_are():
    evaluator = Evaluator(Linear(3, 2, rng=0) >> ReLU())
    with pytest.raises(KeyError, match="call forward"):
        evaluator.activations["layers.0"]
    evaluator.forward(X)
    with pytest.raises(KeyError, match="there are 'layers.0', 'layers.1', ''"):
        evaluator.activations["hidden"]


def named():
    rng = np.random.default_rng(0)
    return Sequential({"hidden": Linear(3, 7, rng=rng), "bend": ReLU(), "output": Linear(7, 2, rng=rng)})


def test_a_layer_is_found_by_the_last_part_of_its_name_where_only_one_has_it():
    evaluator = Evaluator(named())
    Y = evaluator.forward(X)
    assert evaluator.activation(layer="output") is Y
    assert evaluator.activation("hidden") is evaluator.activations["layers.hidden"]
    with pytest.raises(KeyError, match="no activations of a layer 'middle': there are 'layers.hidden'"):
        evaluator.activation("middle")
    two = Evaluator(Sequential({"first": named(), "second": Linear(2, 3, rng=0) >> named()}))
    two.forward(X)
    with pytest.raises(KeyError, match=r"'layers.first.layers.hidden' and .* end so: write one of them"):
        two.activation("hidden")


def test_a_test_is_what_a_learner_evaluates():
    T = X[:, :2]
    learner = Learner(named(), mse, SGD(0.1))
    assert Evaluator(learner.model).test(X, T, mse) == learner.evaluate(X, T)
