"""Parameter and Buffer: what a model remembers between two passes."""

import numpy as np
import pytest

from minigrad import SGD, Buffer, Linear, Parameter, ShapeError


def test_a_gradient_begins_at_zero_with_the_shape_and_type_of_the_data():
    parameter = Parameter(np.ones((3, 7), dtype=np.float32))
    np.testing.assert_array_equal(parameter.grad, np.zeros((3, 7), dtype=np.float32), strict=True)


@pytest.mark.parametrize("data", [[1, 2, 3], np.array([1, 2, 3]), np.array([True, False, True])])
def test_integers_become_floats(data):
    assert Parameter(data).data.dtype == np.float64


def test_float32_stays_float32():
    assert Parameter(np.ones(3, dtype=np.float32)).data.dtype == np.float32


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0)])
def test_a_single_number_can_learn(number):
    parameter = Parameter(number)
    data = parameter.data
    parameter.grad += 10.0
    SGD(0.1).step([parameter])
    assert parameter.shape == ()
    assert data == 1.0  # changed in place


@pytest.mark.parametrize("data", [["a", "b"], np.array([None, 1.0]), np.array([1j])])
def test_what_is_no_real_number_is_refused(data):
    for kind in (Parameter, Buffer):
        with pytest.raises(TypeError, match="must hold numbers, got an array of"):
            kind(data)


def test_zero_grad_works_in_place():
    parameter = Parameter([1.0, 2.0])
    grad = parameter.grad
    grad += 3.0
    parameter.zero_grad()
    assert parameter.grad is grad
    assert not grad.any()


@pytest.mark.parametrize("array", [[1.0, 2.0], np.zeros(1), np.zeros((2, 1)), np.zeros(2, int), 3.0])
@pytest.mark.parametrize("name", ["data", "grad"])
def test_what_is_assigned_has_the_shape_of_the_data_and_holds_floats(name, array):
    parameter = Parameter([1.0, 2.0])
    with pytest.raises(ShapeError, match=rf"{name} must be an array of floats of shape \(2,\), got"):
        setattr(parameter, name, array)
    setattr(parameter, name, np.array([3.0, 5.0]))
    assert getattr(parameter, name).tolist() == [3.0, 5.0]


def test_a_frozen_parameter_gathers_gradients_and_stays():
    layer = Linear(3, 7, rng=0)
    layer.W.trainable = False
    W, b = layer.W.data.copy(), layer.b.data.copy()
    Y, backward = layer(np.ones((5, 3)))
    backward(np.ones_like(Y))
    optimizer = SGD(0.1, momentum=0.9, weight_decay=0.1)
    optimizer.step(layer.parameters())
    assert layer.W.grad.all()
    np.testing.assert_array_equal(layer.W.data, W)
    assert layer.W not in optimizer.memory
    assert (layer.b.data != b).all()


def test_a_buffer_has_no_gradient():
    assert not hasattr(Buffer([0.0]), "grad")


def test_they_print_their_shapes():
    assert repr(Parameter(np.ones((3, 7)))) == "Parameter(3, 7)"
    assert repr(Buffer(np.ones(3))) == "Buffer(3,)"


def test_a_parameter_leaves_the_callers_array_alone():
    given = np.array([1.0, 2.0])
    Parameter(given).data += 1.0
    assert given.tolist() == [1.0, 2.0]
