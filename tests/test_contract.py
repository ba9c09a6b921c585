"""The laws that every layer and every loss obeys, each tried on every row of the table, tests/contract.py."""

from types import SimpleNamespace

import numpy as np
import pytest

from course import stand_in
from minigrad import Layer, Linear, Parameter, Sequential, gradcheck, load, save, to_device
from minigrad.parts import named_parts
from minigrad.shapes import fits, shape_of
from tests.contract import ROWS, Row, normal, public_layers
from tests.devices import assert_agree

# Sums of at most a few hundred products of numbers near 1: each rounding is 1e-16 of them.
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}


def law(number):
    """Try a law on the rows that it holds for."""
    return pytest.mark.parametrize("row", [row for row in ROWS if number not in row.exempt], ids=str)


def as_layer(layer):
    """Return a plain function as a Layer, which can be saved and moved."""
    return layer if isinstance(layer, Layer) else Sequential(layer)


def parameters(layer):
    return [part for _, part in named_parts(layer) if isinstance(part, Parameter)]


def draw(Y, rng=2):
    """Return a random upstream gradient, of Y's shape."""
    return np.random.default_rng(rng).normal(size=np.shape(Y))


def of_each(change, X):
    """Return an array changed, or a tuple with each of its arrays changed."""
    return tuple(map(change, X)) if isinstance(X, tuple) else change(X)


def arrays(X):
    """Return the arrays of an input or of its gradient as a list: integers have no gradient, but None."""
    if isinstance(X, tuple):
        return [array for entry in X for array in arrays(entry)]
    return [] if X is None else [X]


def back(layer, backward, dY):
    """Return what a backward function gives: the arrays of dX, and what it adds to each parameter."""
    for parameter in parameters(layer):
        parameter.zero_grad()
    return [*arrays(backward(dY)), *(parameter.grad.copy() for parameter in parameters(layer))]


def dX_and_gradients(layer, found):
    """Return the two parts of what `back` returns."""
    cut = len(found) - len(parameters(layer))
    return found[:cut], found[cut:]


def assert_close(found, expected, **tolerance):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **tolerance)


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_every_public_layer_and_loss_stands_in_the_table():
    assert {row.name for row in ROWS} == public_layers()


def test_the_search_finds_classes_functions_and_losses():
    expected = {"minigrad.layer.Sequential", "minigrad.layers.combinators.chain", "minigrad.losses.mse"}
    assert expected < public_layers()
    assert "minigrad.layer.Layer" not in public_layers()


def test_every_row_has_its_own_name():
    assert len({str(row) for row in ROWS}) == len(ROWS)


@law(1)
def test_shapes_are_as_stated_and_dX_has_the_shape_of_X(row):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    dX = backward(draw(Y))
    assert np.shape(Y) == row.Y_shape
    assert fits(dX, shape_of(X))
    assert len(arrays(dX)) == sum(array.dtype == float for array in arrays(X))
    assert all(parameter.grad.shape == parameter.data.shape for parameter in parameters(layer))


@law(2)
def test_backward_agrees_with_nudging(row):
    report = gradcheck(row.layer(), row.sample())
    assert report.ok, str(report)


@law(3)
def test_backward_is_linear_in_dY(row):
    layer = row.layer()
    Y, backward = layer(row.sample())
    one, other = draw(Y), draw(Y, rng=3)
    mixed = back(layer, backward, 2 * one - 3 * other)
    pairs = zip(back(layer, backward, one), back(layer, backward, other), strict=True)
    assert_close(mixed, [2 * a - 3 * b for a, b in pairs], **ROUNDING)


@law(4)
def test_nothing_that_was_given_is_changed(row):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    dY, Y_before = np.asarray(draw(Y)), np.array(Y)
    for array in [*arrays(X), dY, *(parameter.data for parameter in parameters(layer))]:
        array.setflags(write=False)  # NumPy raises at the line that writes
    _, backward = layer(X)
    backward(dY)
    np.testing.assert_array_equal(Y, Y_before)


@law(5)
def test_two_backward_calls_add_up(row):
    layer = row.layer()
    Y, backward = layer(row.sample())
    dX, gradients = dX_and_gradients(layer, back(layer, backward, draw(Y)))
    assert_same(arrays(backward(draw(Y))), dX)
    assert_close([p.grad for p in parameters(layer)], [2 * gradient for gradient in gradients], **ROUNDING)


@law(6)
def test_a_layer_used_twice_in_one_pass_adds_both_gradients(row):
    layer, X, other_X = row.layer(), row.sample(), row.sample(rng=4)
    Y, backward = layer(X)
    other_Y, other_backward = layer(other_X)
    dX, gradients = dX_and_gradients(layer, back(layer, backward, draw(Y)))
    other = back(layer, other_backward, draw(other_Y, rng=3))
    other_dX, other_gradients = dX_and_gradients(layer, other)

    both = back(layer, lambda dY: (other_backward(draw(other_Y, rng=3)), backward(dY)), draw(Y))
    both_dX, both_gradients = dX_and_gradients(layer, both)
    assert_same(both_dX, [*other_dX, *dX])
    assert_close(both_gradients, [a + b for a, b in zip(gradients, other_gradients, strict=True)], **ROUNDING)


@law(7)
def test_one_row_of_a_batch_equals_a_batch_of_that_row(row):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    dY = draw(Y)
    dX = arrays(backward(dY))
    for i in range(len(Y)):
        one = slice(i, i + 1)
        Y_one, backward_one = layer(of_each(lambda array, one=one: array[one], X))
        found = [Y_one, *arrays(backward_one(dY[one]))]
        assert_close(found, [Y[one], *(array[one] for array in dX)], **ROUNDING)


@law(8)
def test_a_later_forward_does_not_change_an_earlier_backward(row):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    before = back(layer, backward, draw(Y))
    later_Y, later_backward = layer(row.sample(rng=4))
    later_backward(draw(later_Y))
    assert_same(back(layer, backward, draw(Y)), before)


@law(9)
def test_float32_in_gives_float32_out(row):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    dY = draw(Y)
    expected = [Y, *back(layer, backward, dY)]

    small = as_layer(row.layer()).to(np.float32)
    Y, backward = small(of_each(lambda array: array.astype(np.float32) if array.dtype == float else array, X))
    found = [Y, *back(small, backward, np.asarray(dY, dtype=np.float32))]
    assert {array.dtype for array in found} == {np.dtype(np.float32)}
    assert_close(found, expected, rtol=1e-4, atol=1e-5)  # float32 rounds at 6e-8, a few hundred times


@law(10)
@pytest.mark.parametrize(
    "scatter",
    [np.asfortranarray, lambda A: np.repeat(A, 2, axis=-1)[..., ::2], lambda A: A[::-1].copy()[::-1]],
    ids=["by columns", "every other", "backwards"],
)
def test_arrays_that_do_not_lie_in_one_piece_give_the_same(row, scatter):
    layer, X = row.layer(), row.sample()
    Y, backward = layer(X)
    dY = draw(Y)
    expected = [Y, *back(layer, backward, dY)]

    Y, backward = layer(of_each(scatter, X))
    found = [Y, *back(layer, backward, scatter(dY) if np.ndim(dY) else dY)]
    assert_close(found, expected, **ROUNDING)


@law(11)
def test_saving_and_loading_gives_the_same_layer(row, tmp_path):
    layer, X = as_layer(row.layer()), row.sample()
    save(tmp_path / "layer.npz", layer)
    copy = load(tmp_path / "layer.npz", as_layer(row.layer(rng=5)))
    Y, backward = layer(X)
    Y_copy, backward_copy = copy(X)
    assert_same([Y_copy, *back(copy, backward_copy, draw(Y))], [Y, *back(layer, backward, draw(Y))])


def on_gpu(row, cupy):
    """Return Y, dX and the gradients of a row's layer, computed where CuPy's arrays live."""
    layer = to_device(as_layer(row.layer()), "gpu")
    Y, backward = layer(of_each(cupy.asarray, row.sample()))
    dX = backward(cupy.asarray(draw(Y)))
    return [Y, *arrays(dX), *(parameter.grad for parameter in parameters(layer))]


@law(12)
def test_a_gpu_gives_the_same(row, cupy):
    layer = row.layer()
    Y, backward = layer(row.sample())
    expected = [Y, *back(layer, backward, draw(Y))]

    found = on_gpu(row, cupy)
    assert {type(array) for array in found} == {cupy.ndarray}
    assert_agree(cupy, found, expected)


def leaky(step):
    """Return a row whose layer does something on the way that must stay on one side."""

    def make(cls, rng):
        def forward(X):
            return step(X), lambda dY: dY

        return forward

    return Row("minigrad.layers.linear.Linear", make, normal(5, 3), (5, 3))


HIDDEN = SimpleNamespace(linear=Linear(3, 3, rng=0))  # what holds it is made by another module's class
LEAKS = {
    "a fresh array beside the data": lambda X: X + np.zeros(X.shape),
    "a mask drawn by NumPy": lambda X: X * (np.random.default_rng(0).random(X.shape) > 0.5),
    "a NumPy array on the left": lambda X: np.ones(X.shape) * X,
    "a conversion": lambda X: np.asarray(X),
    "a conversion inside a list": lambda X: np.array([X, X]),
    "NumPy's random numbers of the data's size": lambda X: np.random.default_rng(0).normal(X),
    "adding to a NumPy array in place": lambda X: np.zeros(X.shape).__iadd__(X),
    "writing NumPy's numbers into it": lambda X: X.__setitem__(0, np.zeros(3)),
    "joining the two": lambda X: np.concatenate([X, np.zeros((1, 3))]),
    "a method given a NumPy array": lambda X: X.dot(np.zeros((3, 3))),
    "a product with a NumPy matrix": lambda X: X @ np.zeros((3, 3)),
    "a function of both": lambda X: np.where(X > 0, X, np.zeros(X.shape)),
    "parameters that nobody finds": lambda X: HIDDEN.linear.predict(X),
}


@pytest.mark.parametrize("step", LEAKS.values(), ids=LEAKS)
def test_the_stand_in_refuses_a_leak(step):
    with stand_in() as cupy, pytest.raises(TypeError, match="Unsupported type|Implicit conversion"):
        on_gpu(leaky(step), cupy)
