"""Oryx, `nn.base`: what the document shows, in the fewest lines of this library.

The document's own examples, one after the other: a Template is a recipe, `init` makes layers of it, keys are
split, state comes back from a call, and keywords reach the layers that declare them.
"""

import copy

import numpy as np
import pytest

from minigrad import (
    BatchNorm,
    Dropout,
    FunctionalLayer,
    Linear,
    ReLU,
    Softmax,
    functional,
    gradcheck,
    values_of,
)

X = np.random.default_rng(0).normal(size=(5, 50))


def init(template, key, X):
    """`template.init(key, spec)`: a new layer, and the template stays a recipe."""
    return copy.deepcopy(template).initialize(X, rng=key)


def test_a_template_is_a_recipe_and_two_keys_make_two_layers():
    template = Linear(n_out=200) >> ReLU() >> Linear(n_out=10) >> Softmax()
    one, same, other = (init(template, key, X) for key in (0, 0, 1))
    assert "?" in repr(template) and "?" not in repr(one)
    assert one.predict(X).shape == (5, 10)
    np.testing.assert_array_equal(one.predict(X), same.predict(X))
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_the_key_is_split_among_the_parts():
    params, _ = values_of(init(Linear(n_out=50) >> Linear(n_out=50), 0, X))
    assert not np.array_equal(params["layers.0.W"], params["layers.1.W"])


def test_variables_are_a_dictionary_of_names_to_values():
    params, state = values_of(init(Linear(n_out=10) >> BatchNorm(), 0, X))
    assert {name: array.shape for name, array in params.items()} == {
        "layers.0.W": (50, 10),
        "layers.0.b": (10,),
        "layers.1.gain": (10,),
        "layers.1.shift": (10,),
    }
    assert list(state) == ["layers.1.running_mean", "layers.1.running_variance"]


def test_call_and_update_returns_new_state_and_leaves_the_layer():
    layer = init(BatchNorm(), 0, X)
    params, state = values_of(layer)
    call_and_update = functional(layer)
    Y, _, new_state = call_and_update(params, state, X, training=True)
    np.testing.assert_allclose(new_state["running_mean"], 0.1 * X.mean(axis=0), rtol=1e-12)  # rounding
    assert not state["running_mean"].any() and not layer.running_mean.data.any()
    np.testing.assert_array_equal(call_and_update(params, state, X, training=True)[0], Y)


def test_training_and_rng_are_keywords_of_the_call():
    call = functional(Dropout(0.5))
    np.testing.assert_array_equal(call({}, {}, X, training=False)[0], X)
    first, same, other = (call({}, {}, X, training=True, rng=key)[0] for key in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    with pytest.raises(ValueError, match="draws random numbers"):
        call({}, {}, X, training=True)


def test_any_other_keyword_reaches_the_layers_that_declare_it():
    def scaled(X, temperature=1.0):
        return X / temperature, lambda dY: dY / temperature

    call = functional(scaled >> ReLU())
    np.testing.assert_array_equal(call({}, {}, X, temperature=2.0)[0], np.maximum(X / 2.0, 0.0))


def test_a_layer_of_ones_own_is_an_init_and_a_call():
    def create(key, X):
        return {"kernel": np.random.default_rng(key).normal(size=(X.shape[1], 10))}, {}

    def call(params, state, X):
        return X @ params["kernel"], lambda dY: (dY @ params["kernel"].T, {"kernel": X.T @ dY}), state

    layer = init(FunctionalLayer(create, call) >> ReLU() >> Linear(n_out=2), 0, X)
    assert gradcheck(layer, X).ok
