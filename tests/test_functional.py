"""A model as a pure function: what the object gives, bit for bit, and nothing is changed."""

import copy
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Buffer,
    Dropout,
    FunctionalLayer,
    Layer,
    Learner,
    Linear,
    Parameter,
    Recompute,
    ReLU,
    Residual,
    ShapeError,
    Tanh,
    as_layer,
    functional,
    gradcheck,
    load,
    mse,
    numerical_gradient,
    save,
    to_device,
    to_numpy,
    values_of,
    with_values,
)
from minigrad.parts import named_parts
from tests.contract import ROWS, scale
from tests.test_contract import arrays, assert_same, draw, of_each

X = np.random.default_rng(0).normal(size=(5, 3))
dY = np.random.default_rng(1).normal(size=(5, 2))
KEY = np.random.SeedSequence(5)


def model(rng=0):
    """Return a model with everything in it: running averages, draws, a layer used twice, a function."""
    rng = np.random.default_rng(rng)
    shared = Linear(3, 3, rng=rng)
    inside = Residual(Recompute(shared >> Dropout(0.3, rng)))
    return shared >> BatchNorm(3) >> inside >> scale(3, rng) >> Dropout(0.3, rng) >> Linear(3, 2, rng=rng)


def generators(layer):
    return [part for _, part in named_parts(layer) if isinstance(part, np.random.Generator)]


def seeded(layer, key=KEY):
    """Let the Generators of an object draw what the children of a key draw."""
    for place, generator in enumerate(generators(layer)):
        child = np.random.SeedSequence(key.entropy, spawn_key=(*key.spawn_key, place))
        generator.bit_generator.state = np.random.default_rng(child).bit_generator.state
    return layer


def everything(layer):
    """Return copies of all that a layer holds: numbers, gradients, and the states of its Generators."""
    params, state = values_of(layer)
    states = [repr(generator.bit_generator.state) for generator in generators(layer)]
    gradients = [parameter.grad.copy() for parameter in layer.parameters()]
    return [*params.values(), *state.values(), *gradients], states


def run(apply, params, state, X=X, dY=dY, **settings):
    """Return all arrays that a pure function gives, the gradients and the new state by name."""
    Y, backward, new_state = apply(params, state, X, **settings)
    dX, gradients = backward(dY)
    return [Y, *arrays(dX), *gradients.values(), *new_state.values()]


# What the object gives


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_it_gives_what_the_object_gives(row, training):
    layer = as_layer(row.layer())
    params, state = values_of(layer)
    apply = functional(layer)
    Y, backward = seeded(layer)(row.sample(), training=training)
    expected = [Y, *arrays(backward(draw(Y)))]
    expected += [*(parameter.grad for parameter in layer.parameters()), *(b.data for b in layer.buffers())]
    found = run(apply, params, state, row.sample(), draw(Y), training=training, rng=KEY)
    assert_same(found, expected)


def test_names_are_those_of_the_object_and_a_shared_layer_has_one():
    layer = model()
    params, state = values_of(layer)
    Y, backward, new_state = functional(layer)(params, state, X)
    assert list(params) == list(layer.named_parameters()) == list(backward(dY)[1])
    assert [name for name in params if name.endswith("W")] == ["layers.0.W", "layers.5.W"]
    assert list(state) == list(new_state) == ["layers.1.running_mean", "layers.1.running_variance"]


def test_the_gradient_of_a_shared_layer_is_that_of_nudging_its_one_value():
    shared = Linear(3, 3, rng=0)
    layer = shared >> Tanh() >> shared
    params, state = values_of(layer)
    apply = functional(layer)
    _, gradients = apply(params, state, X)[1](X)
    nudged = numerical_gradient(lambda W: apply(params | {"layers.0.W": W}, state, X)[0], shared.W.data, X)
    np.testing.assert_allclose(gradients["layers.0.W"], nudged, rtol=1e-7)  # of nudging


def test_what_is_frozen_runs_as_frozen_and_its_gradients_still_come():
    layer = model()
    layer.layers[1].freeze()
    params, state = values_of(layer)
    Y, backward, new_state = functional(layer)(params, state, X, training=True, rng=KEY)
    expected = seeded(layer)(X, training=True)[0]
    np.testing.assert_array_equal(Y, expected)
    assert_same(new_state.values(), state.values())
    assert backward(dY)[1]["layers.1.gain"].any()


# Nothing is changed


def test_a_call_changes_neither_the_model_nor_what_it_is_given():
    layer = model()
    params, state = values_of(layer)
    numbers, states = everything(layer)
    for array in [*params.values(), *state.values(), X, dY]:
        array.setflags(write=False)  # NumPy raises at the line that writes
    run(functional(layer), params, state, training=True, rng=KEY)
    found, found_states = everything(layer)
    assert_same(found, numbers)
    assert found_states == states
    assert KEY.n_children_spawned == 0


def test_values_are_copies():
    layer = model()
    params, state = values_of(layer)
    before, _ = everything(layer)
    for array in [*params.values(), *state.values()]:
        array += 1.0
    assert_same(everything(layer)[0], before)


def test_the_same_arguments_give_the_same_and_another_rng_gives_another():
    params, state = values_of(model())
    apply = functional(model())
    first = run(apply, params, state, training=True, rng=7)
    assert_same(run(apply, params, state, training=True, rng=7), first)
    assert_same(run(apply, params, state, training=True, rng=np.random.SeedSequence(7)), first)
    assert not np.array_equal(run(apply, params, state, training=True, rng=8)[0], first[0])


def test_a_way_back_may_be_used_again_and_later():
    params, state = values_of(model())
    apply = functional(model())
    _, backward, _ = apply(params, state, X, training=True, rng=7)
    dX, gradients = backward(dY)
    kept = [dX.copy(), *(gradient.copy() for gradient in gradients.values())]
    for array in [dX, *gradients.values(), *params.values(), *state.values()]:
        array += 1.0  # what the caller does with its arrays is the caller's business
    apply(params, state, X)[1](2 * dY)
    dX, gradients = backward(dY)
    assert_same([dX, *gradients.values()], kept)


def test_later_changes_of_the_model_do_not_reach_the_function():
    layer = model()
    params, state = values_of(layer)
    apply = functional(layer)
    before = run(apply, params, state)
    layer.layers.pop()
    layer.layers[1].eps = 10.0
    assert_same(run(apply, params, state), before)


def test_with_values_is_another_model_and_the_old_one_stays():
    layer, other = model(), model(rng=1)
    before, _ = everything(layer)
    twin = with_values(layer, *values_of(other))
    assert_same(twin.predict(X), other.predict(X))
    assert_same(everything(layer)[0], before)
    assert not any(parameter.grad.any() for parameter in twin.parameters())
    assert not np.shares_memory(twin.parameters()[0].data, other.parameters()[0].data)


def test_calls_in_threads_do_not_meet():
    apply, layers = functional(model()), [model(rng) for rng in range(8)]
    given = [values_of(layer) for layer in layers]
    alone = [run(apply, *values, training=True, rng=place) for place, values in enumerate(given)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            calls = [
                pool.submit(run, apply, *values, training=True, rng=place)
                for place, values in enumerate(given)
            ]
            for call, expected in zip(calls, alone, strict=True):
                assert_same(call.result(), expected)


ARRIVED = threading.Event()


def slow(W, X):
    """Add to a gradient, and leave time for another thread to come in."""

    def backward(dY):
        ARRIVED.set()
        time.sleep(0.2 if dY[0, 0] == 1.0 else 0.0)
        W.grad += dY.sum()
        return dY

    return X, backward


def test_one_way_back_in_two_threads_gives_each_its_gradients():
    layer = functools.partial(slow, Parameter(0.0))
    params, state = values_of(layer)
    _, backward, _ = functional(layer)(params, state, X)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(backward, np.full((5, 3), 1.0))
        ARRIVED.wait()
        second = pool.submit(backward, np.full((5, 3), 2.0))
        found = [call.result()[1]["0"].item() for call in (first, second)]
    assert found == [15.0, 30.0]


# Randomness and keywords


def test_two_layers_do_not_draw_the_same():
    row = Dropout(0.5) >> Dropout(0.5)
    Y, _, _ = functional(row)({}, {}, np.ones((100, 100)), training=True, rng=0)
    assert 0.2 < (Y > 0).mean() < 0.3  # the same mask twice would leave a half


def test_what_draws_needs_an_rng_in_training_alone():
    layer = Linear(3, 2, rng=0) >> Recompute(Dropout(0.5))
    params, state = values_of(layer)
    np.testing.assert_array_equal(functional(layer)(params, state, X)[0], layer.predict(X))
    with pytest.raises(ValueError, match="draws random numbers: pass a seed to the call, apply"):
        functional(layer)(params, state, X, training=True)


class Tempered(Layer):
    """A layer that takes more keywords than the library knows, and draws from what it is given."""

    def __init__(self, W):
        self.W = W

    def forward(self, X, training=False, temperature=1.0, rng=None):
        noise = 0.0 if rng is None else rng.normal(size=X.shape)
        return X * self.W.data / temperature + noise, lambda dY: dY * self.W.data / temperature


def test_keywords_reach_the_layers_and_functions_that_declare_them():
    def shifted(X, *, shift=0.0, temperature=1.0):
        return (X + shift) / temperature, lambda dY: dY / temperature

    layer = Tempered(Parameter([2.0])) >> ReLU() >> shifted
    params, state = values_of(layer)
    apply = functional(layer)
    positive = np.abs(X)
    np.testing.assert_array_equal(apply(params, state, positive)[0], 2 * positive)
    Y, backward, _ = apply(params, state, positive, temperature=4.0, shift=1.0)
    np.testing.assert_allclose(Y, (positive / 2 + 1.0) / 4, rtol=1e-15)  # a rounding
    np.testing.assert_array_equal(backward(X)[0], X / 8)
    np.testing.assert_array_equal(layer.predict(positive), 2 * positive)  # nothing is left in the layers


def test_a_keyword_that_a_partial_has_fixed_stays_fixed():
    def divided(X, temperature=1.0):
        return X / temperature, lambda dY: dY / temperature

    apply = functional(functools.partial(divided, temperature=2.0))
    with pytest.raises(TypeError, match="no layer of .* takes temperature; they take no keyword"):
        apply({}, {}, X, temperature=4.0)


def test_an_rng_reaches_the_layers_that_declare_it_each_its_own():
    layer = Tempered(Parameter([0.0])) >> Dropout(0.0, rng=0)
    params, state = values_of(layer)
    first, second = (functional(layer)(params, state, X, rng=seed)[0] for seed in (0, 1))
    child = np.random.SeedSequence(0, spawn_key=(1,))  # the first one is Dropout's
    np.testing.assert_array_equal(first, np.random.default_rng(child).normal(size=X.shape))
    assert not np.array_equal(first, second)
    twice, _, _ = functional(Residual(Tempered(Parameter([0.0]))) >> Tempered(Parameter([0.0])))(
        {"layers.0.layer.W": np.zeros(1), "layers.1.W": np.zeros(1)}, {}, X, rng=0
    )
    assert not np.array_equal(twice, np.random.default_rng(child).normal(size=X.shape) * 2)


# A recipe used twice


def test_a_recipe_used_twice_is_two_models_and_one_function():
    recipe = Linear(n_out=7) >> Tanh() >> Linear(n_out=2)
    one, two = (copy.deepcopy(recipe).initialize(X, rng=seed) for seed in (0, 1))
    assert repr(recipe) == "Sequential(Linear(?, 7), Tanh(), Linear(?, 2))"
    assert not np.array_equal(one.layers[0].W.data, two.layers[0].W.data)
    np.testing.assert_array_equal(functional(one)(*values_of(two), X)[0], two.predict(X))


# The way back to an object


def init(rng, X):
    width = X.shape[1]
    rng = np.random.default_rng(rng)
    return {"scale": rng.normal(size=width)}, {"mean": np.zeros(width), "draws": np.zeros(())}


def centred(params, state, X, training, rng):
    """Scale columns about a running mean that moves in training, where a draw is made as well."""
    new_state = state
    if training:
        drawn = np.random.default_rng(rng).random()
        new_state = {"mean": 0.9 * state["mean"] + 0.1 * X.mean(axis=0), "draws": state["draws"] + drawn}
    N = X - state["mean"]

    def backward(dY):
        return dY * params["scale"], {"scale": (dY * N).sum(axis=0)}

    return N * params["scale"], backward, new_state


def layer_of_functions(rng=0):
    return FunctionalLayer(init, centred).initialize(X, rng=rng)


def test_a_learner_lets_a_layer_of_functions_draw():
    layer = FunctionalLayer(init, centred)
    Learner(layer, mse, SGD(0.1)).fit(X, np.zeros_like(X), epochs=1)
    assert layer.is_drawn and layer.state["mean"].data.any()


def test_a_layer_of_functions_is_right_as_gradcheck_sees_it():
    for training in (False, True):
        report = gradcheck(layer_of_functions() >> Linear(3, 2, rng=0), X, training=training)
        assert report.ok, str(report)


def test_a_wrong_gradient_of_a_function_is_found():
    def wrong(params, state, X):
        Y, backward, new_state = centred(params, state, X, False, None)
        return Y, lambda dY: (dY, backward(dY)[1]), new_state

    assert not gradcheck(FunctionalLayer(init, wrong).initialize(X, rng=0), X).ok


def test_a_model_taken_apart_and_put_together_learns_the_same():
    plain = Linear(3, 7, rng=0) >> BatchNorm(7) >> Tanh() >> Linear(7, 2, rng=1)
    again = FunctionalLayer(lambda rng, X: values_of(plain), functional(plain)).initialize(X, rng=0)
    losses = [
        Learner(each, mse, SGD(0.1, momentum=0.9)).fit(X, dY, epochs=5, batch_size=2)["loss"]
        for each in (again, plain)
    ]
    assert losses[0] == losses[1]
    assert_same(everything(again)[0], everything(plain)[0])


def test_its_state_moves_in_training_alone():
    layer = layer_of_functions()
    layer.predict(X)
    assert not layer.state["mean"].data.any()
    layer(X, training=True)
    np.testing.assert_allclose(layer.state["mean"].data, 0.1 * X.mean(axis=0), rtol=1e-15)
    moved = layer.state["mean"].data.copy()
    layer.freeze()(X, training=True)
    np.testing.assert_array_equal(layer.state["mean"].data, moved)


def test_it_goes_on_from_a_checkpoint_as_if_nothing_had_happened(tmp_path):
    first = layer_of_functions()
    first(X, training=True)
    save(tmp_path / "layer.npz", first)
    second = load(tmp_path / "layer.npz", layer_of_functions(rng=5))
    for layer in (first, second):
        layer(X, training=True)
    assert_same(everything(second)[0], everything(first)[0])  # the draws of the second call among them
    assert first.state["draws"].data > 0


def test_it_is_initialized_by_a_seed_once():
    recipe = FunctionalLayer(init, centred) >> Linear(n_out=2)
    one, same, two = (copy.deepcopy(recipe).initialize(X, rng=seed) for seed in (0, 0, 1))
    scale = one.layers[0].params["scale"]
    np.testing.assert_array_equal(scale.data, same.layers[0].params["scale"].data)
    assert not np.array_equal(scale.data, two.layers[0].params["scale"].data)
    assert one.initialize(X).layers[0].params["scale"] is scale


def test_a_layer_of_functions_as_a_pure_function_again():
    layer = layer_of_functions()
    params, state = values_of(layer)
    assert (list(params), list(state)) == (["params.scale"], ["state.mean", "state.draws"])
    found = run(functional(layer), params, state, dY=X, training=True, rng=KEY)
    Y, backward = seeded(layer)(X, training=True)
    dX = backward(X)
    assert_same(found, [Y, dX, layer.params["scale"].grad, *(b.data for b in layer.buffers())])


def test_a_gradient_that_a_function_hands_out_twice_is_added_not_kept():
    shared = np.ones(3)

    def apply(params, state, X):
        return X * params["scale"], lambda dY: (dY * params["scale"], {"scale": shared}), state

    layer = FunctionalLayer(lambda rng, X: ({"scale": np.ones(3)}, {}), apply).initialize(X, rng=0)
    _, backward = layer(X)
    backward(X)
    backward(X)
    np.testing.assert_array_equal(layer.params["scale"].grad, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(shared, [1.0, 1.0, 1.0])


# Elsewhere


def test_on_a_gpu_it_gives_the_same(cupy):
    layer = Linear(3, 3, rng=0) >> BatchNorm(3) >> Dropout(0.3) >> Linear(3, 2, rng=1)
    expected = run(functional(layer), *values_of(layer), training=True, rng=KEY)
    there = to_device(layer, "gpu")
    given = of_each(cupy.asarray, (X, dY))
    found = run(functional(there), *values_of(there), *given, training=True, rng=KEY)
    assert {type(array) for array in found} == {cupy.ndarray}
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-12, atol=1e-12)  # a GPU adds in another order


def test_float32_stays_float32():
    layer = (Linear(3, 3, rng=0) >> BatchNorm(3) >> Dropout(0.3) >> Linear(3, 2, rng=1)).to(np.float32)
    small = of_each(lambda array: array.astype(np.float32), (X, dY))
    found = run(functional(layer), *values_of(layer), *small, training=True, rng=KEY)
    assert {array.dtype for array in found} == {np.dtype(np.float32)}


# What is answered with a sentence


def ready():
    return FunctionalLayer(init, centred)


def returning(**given):
    """Return a layer of functions, right but for what one of them returns."""
    results = {"init": ({"a": np.ones(3)}, {}), "gradients": {"a": np.ones(3)}, "new_state": {}} | given

    def apply(params, state, X, training):
        return results.get("apply", (X, lambda dY: results.get("back", (dY, results["gradients"])), {}))

    return FunctionalLayer(lambda rng, X: results["init"], apply).initialize(X, rng=0)


LINEAR = Linear(3, 2, rng=0)
PARAMS, STATE = values_of(LINEAR)
# fmt: off
MISTAKES = [
    (lambda: values_of(Linear(3, 2)), ValueError, "Linear(3, 2) has no weights: give it rng=0"),
    (lambda: functional(Linear(n_out=2)), ShapeError, "Linear(?, 2) has no n_in yet"),
    (lambda: functional(ready()), ValueError, "has no weights: call model.initialize(X"),
    (lambda: functional(Linear), TypeError, "Linear is a class, not a layer: create one"),
    (lambda: functional(LINEAR)(LINEAR, {}, X), TypeError,
     "params must be a dict of names to arrays, got Linear."),
    (lambda: functional(LINEAR)(PARAMS, None, X), TypeError,
     "state must be a dict of names to arrays, got NoneType."),
    (lambda: functional(LINEAR)({"W": np.ones((3, 2))}, {}, X), ValueError,
     "params must hold W, b: b is missing."),
    (lambda: functional(LINEAR)(PARAMS | {"c": 1}, {}, X), ValueError,
     "params must hold W, b: c is unknown."),
    (lambda: functional(LINEAR)(PARAMS, {"W": X}, X), ValueError, "state must hold nothing: W is unknown."),
    (lambda: functional(LINEAR)(PARAMS | {"b": np.ones(3)}, {}, X), ShapeError,
     "params['b'] must have shape (2,), got (3,)."),
    (lambda: with_values(LINEAR, PARAMS | {"b": [1, 2]}, {}), TypeError, "expected an array, got list"),
    (lambda: functional(LINEAR)(PARAMS, {}, X, temperature=2.0), TypeError,
     "no layer of Linear(3, 2) takes temperature; they take no keyword. A layer takes the keywords"),
    (lambda: functional(LINEAR)(PARAMS, {}, X, rng=np.random.default_rng(0)), TypeError,
     "or a numpy.random.SeedSequence; got a Generator, which changes when it draws"),
    (lambda: functional(LINEAR)(PARAMS, {}, X, rng="seed"), TypeError, "got 'seed'."),
    (lambda: functional(LINEAR)(PARAMS, {}, X, rng=-1), TypeError, "got -1."),
    (lambda: FunctionalLayer("init", centred), TypeError, "init of FunctionalLayer must be a function"),
    (lambda: FunctionalLayer(init, Linear), TypeError, "apply of FunctionalLayer must be a function"),
    (lambda: ready()(X), ValueError,
     "FunctionalLayer(centred) has no weights: call model.initialize(X, rng=0)."),
    (lambda: ready().initialize(X), ValueError, "has no weights: call model.initialize(X, rng=0)."),
    (lambda: returning(init={}), TypeError,
     "init of FunctionalLayer(apply) must return (params, state), got dict alone."),
    (lambda: returning(apply=(X, len))(X), TypeError,
     "apply of FunctionalLayer(apply) must return (Y, backward, new_state), got 2 things."),
    (lambda: returning(apply=(X, len, {"m": X}))(X, training=True), ValueError,
     "new_state of FunctionalLayer(apply) must hold nothing: m is unknown."),
    (lambda: returning(back=X)(X)[1](X), TypeError,
     "backward of FunctionalLayer(apply) must return (dX, gradients), got ndarray alone."),
    (lambda: returning(gradients={})(X)[1](X), ValueError, "must hold a: a is missing."),
    (lambda: returning(gradients={"a": np.ones(())})(X)[1](X), ShapeError,
     "gradients of FunctionalLayer(apply)['a'] must have shape (3,), got ()."),
]
# fmt: on


@pytest.mark.parametrize("call, error, sentence", MISTAKES)
def test_a_mistake_is_answered_with_a_sentence(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert sentence in str(caught.value)


def test_a_buffer_in_a_closure_comes_back_as_state():
    count = Buffer([0.0])

    def counting(X, training=False):
        count.data += training
        return X, lambda dY: dY

    params, state = values_of(counting)
    _, _, new_state = functional(counting)(params, state, X, training=True)
    assert (state["count"].item(), new_state["count"].item(), count.data.item()) == (0.0, 1.0, 0.0)
