"""JAX's functions as layers: where JAX is installed (the extra `jax`)."""

import copy
import re
from importlib.util import find_spec

import numpy as np
import pytest

import minigrad
from minigrad import (
    SGD,
    Adam,
    Learner,
    Linear,
    cross_entropy,
    gradcheck,
    load,
    moons,
    replica,
    save,
    save_model,
)
from minigrad.beyond.bridge import from_jax

if find_spec("jax") is None:
    pytest.skip("JAX is not installed; it is optional", allow_module_level=True)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

rng = np.random.default_rng(0)
X, TOKENS = rng.normal(size=(5, 3)), rng.integers(0, 5, size=(4, 2))


def mlp(params, X):
    for layer in params["layers"][:-1]:
        X = jnp.tanh(X @ layer["W"] + layer["b"])
    return X @ params["layers"][-1]["W"]


def weights(*sizes):
    pairs = zip(sizes, sizes[1:], strict=False)
    return {"layers": [{"W": rng.normal(size=pair), "b": rng.normal(size=pair[1])} for pair in pairs]}


ROWS = {
    "a network": (lambda: from_jax(mlp, weights(3, 7, 2)), X),
    "compiled": (lambda: from_jax(jax.jit(mlp), weights(3, 7, 2)), X),
    "one array": (lambda: from_jax(lambda W, X: X @ W, rng.normal(size=(3, 2))), X),
    "a number": (lambda: from_jax(lambda params, X: params["factor"] * X, {"factor": 2.0}), X),
    "nothing that learns": (lambda: from_jax(lambda params, X: jax.nn.gelu(X), {}), X),
    "tokens": (lambda: from_jax(lambda W, X: W[X], rng.normal(size=(5, 3))), TOKENS),
    "a tuple": (
        lambda: from_jax(lambda W, X: W[X[0]] * X[1], rng.normal(size=(5, 3))),
        (TOKENS[:, 0], rng.normal(size=(4, 3))),
    ),
    "two results": (
        lambda: from_jax(lambda W, X: (X @ W, (X @ W).argmax(axis=1)), rng.normal(size=(3, 2))),
        X,
    ),
    "an unused array": (lambda: from_jax(lambda params, X: X @ params[0], (np.ones((3, 2)), np.ones(2))), X),
}


@pytest.mark.parametrize("name", ROWS)
def test_gradcheck_passes_a_function(name):
    make, sample = ROWS[name]
    report = gradcheck(make(), sample)
    assert report.ok, report


def test_gradcheck_finds_a_wrong_gradient_inside_a_function():
    @jax.custom_vjp
    def double(X):
        return 2 * X

    double.defvjp(lambda X: (2 * X, None), lambda _, dY: (3 * dY,))
    (problem,) = gradcheck(from_jax(lambda params, X: double(X), ()), X).problems
    assert problem.startswith("input X: 1.5 times too large")


def test_names_are_paths():
    layer = from_jax(mlp, weights(3, 7, 2))
    assert list(layer.named_parameters()) == [
        "parts.layers.0.W", "parts.layers.0.b", "parts.layers.1.W", "parts.layers.1.b",
    ]  # fmt: skip
    assert repr(layer) == "from_jax(mlp)"


def test_float64_and_float32_stay_what_they_are():
    layer = from_jax(mlp, weights(3, 7, 2))
    Y, backward = layer(X)
    assert Y.dtype == np.float64 and backward(np.ones_like(Y)).dtype == np.float64
    first = layer.parts["layers.0.W"].data
    np.testing.assert_allclose(
        Y, np.tanh(X @ first + layer.parts["layers.0.b"].data) @ layer.parts["layers.1.W"].data
    )
    layer.to(np.float32)
    Y, backward = layer(X.astype(np.float32))
    assert Y.dtype == np.float32 and backward(np.ones_like(Y)).dtype == np.float32
    assert layer.parts["layers.0.W"].grad.dtype == np.float32
    assert jnp.ones(1).dtype == np.float32  # JAX is as it was


def test_a_learner_trains_it_and_jax_gets_the_numbers():
    points, labels = moons(200, rng=0)
    layer = from_jax(jax.jit(mlp), weights(16, 16, 16))
    model = Linear(2, 16, rng=0) >> layer >> Linear(16, 2, rng=1)
    assert gradcheck(model, points[:5]).ok
    Learner(model, cross_entropy, Adam(0.01)).fit(points, labels, epochs=30)
    assert minigrad.accuracy(model(points)[0], labels) > 0.95
    hidden = rng.normal(size=(5, 16))
    np.testing.assert_allclose(
        mlp(layer.params, hidden), layer(hidden)[0], rtol=1e-4, atol=1e-4
    )  # in float32


def test_params_is_a_copy_in_the_same_form():
    params = weights(3, 7, 2)
    layer = from_jax(mlp, params)
    params["layers"][0]["W"][...] = 0.0
    layer.params["layers"][0]["W"][...] = 0.0
    assert layer.parts["layers.0.W"].data.all()
    assert jax.tree.structure(layer.params) == jax.tree.structure(params)


def test_a_step_after_forward_does_not_reach_what_jax_computes_with():
    layer = from_jax(lambda W, X: X @ W @ W, np.eye(3))
    Y, backward = layer(X)
    layer.parts[""].data[...] = 7.0
    np.testing.assert_allclose(backward(np.ones((5, 3))), np.ones((5, 3)))


def test_need_dX_and_integers_leave_dX_out():
    Y, backward = from_jax(lambda W, X: X @ W, np.ones((3, 2)))(X, need_dX=False)
    assert backward(np.ones_like(Y)) is None
    Y, backward = from_jax(lambda W, X: W[X], np.ones((5, 3)))(TOKENS)
    assert backward(np.ones_like(Y)) is None


def test_copies_replicas_and_files(tmp_path):
    layer = from_jax(jax.jit(mlp), weights(3, 7, 2))
    twin, clone = replica(layer), copy.deepcopy(layer)
    name = "layers.0.W"
    assert (
        twin.parts[name].data is layer.parts[name].data
        and clone.parts[name].data is not layer.parts[name].data
    )
    Y, backward = twin(X)
    backward(np.ones_like(Y))
    assert twin.parts[name].grad.any() and not layer.parts[name].grad.any()
    SGD(0.1).step(twin.parameters())
    np.testing.assert_array_equal(twin(X)[0], layer(X)[0])
    save(tmp_path / "layer.npz", layer)
    np.testing.assert_array_equal(load(tmp_path / "layer.npz", clone)(X)[0], layer(X)[0])
    with pytest.raises(TypeError, match=r"from_jax\(mlp\) runs code of another library.* use save and load"):
        save_model(tmp_path / "layer.npz", layer)


REFUSED = {
    "half": (
        lambda: from_jax(mlp, {"W": np.ones(3, np.float16)}),
        TypeError,
        "float32 or np.float64, not in float16",
    ),
    "a list": (
        lambda: from_jax(mlp, {})([1.0]),
        TypeError,
        r"from_jax\(mlp\) expects an array of numbers, got list",
    ),
    "another dY": (lambda: from_jax(lambda params, X: X, {})(X)[1](X[:2]), ValueError, "backward expects dY"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_is_answered_with_a_sentence(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_the_example_runs():
    scope = {"np": np, "jax": jax, "gradcheck": gradcheck, "from_jax": from_jax}
    code = re.search(r"installed::\n\n((?: {8}.*\n|\n)+)", from_jax.__doc__ + "\n")[1]
    exec("\n".join(line[8:] for line in code.splitlines()), scope)
    assert gradcheck(scope["layer"], np.ones((5, 2))).ok
