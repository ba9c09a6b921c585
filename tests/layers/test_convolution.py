"""Conv2d and MaxPool2d beside their textbook forms, loops that say what the formulas say."""

import itertools
import re

import numpy as np
import pytest

from minigrad import (
    SGD,
    Conv2d,
    Flatten,
    Learner,
    Linear,
    MaxPool2d,
    ReLU,
    ShapeError,
    cross_entropy,
    gradcheck,
    orthogonal,
)

RNG = np.random.default_rng(0)
SUMS = {"rtol": 1e-12, "atol": 1e-12}  # rounding: the same products, added in another order
FORMS = [
    {"kernel": 3},
    {"kernel": 1},
    {"kernel": (5, 2)},
    {"kernel": (7, 11)},
    {"kernel": 3, "stride": 2},
    {"kernel": 2, "stride": 3},
    {"kernel": 3, "padding": 1},
    {"kernel": 3, "padding": 5},
    {"kernel": (2, 3), "stride": 2, "padding": 1},
    {"kernel": 3, "padding": "same"},
    {"kernel": (4, 2), "padding": "same"},
    {"kernel": 9, "padding": "same"},
    {"kernel": 3, "stride": 2, "padding": "same"},
]


def sides(size, padding):
    """Return how many zeros stand before and after an axis."""
    return ((size - 1) // 2, size // 2) if padding == "same" else (padding, padding)


def textbook_conv2d(X, W, b, dY=None, stride=1, padding=0):
    """Return Y, or with dY the gradients dX, dW and db: the formula, one number of Y after the other."""
    n_out, n_in, k_rows, k_columns = W.shape
    zeros = [(0, 0), (0, 0), sides(k_rows, padding), sides(k_columns, padding)]
    P = np.pad(X, zeros)
    out_rows, out_columns = ((P.shape[2 + i] - W.shape[2 + i]) // stride + 1 for i in (0, 1))
    Y = np.zeros((len(X), n_out, out_rows, out_columns))
    dP, dW, db = np.zeros_like(P), np.zeros_like(W), np.zeros_like(b)
    for i, o, r, c in np.ndindex(Y.shape):
        window = np.s_[i, :, r * stride : r * stride + k_rows, c * stride : c * stride + k_columns]
        Y[i, o, r, c] = b[o] + (W[o] * P[window]).sum()
        if dY is not None:
            dP[window] += dY[i, o, r, c] * W[o]
            dW[o] += dY[i, o, r, c] * P[window]
            db[o] += dY[i, o, r, c]
    (top, _), (left, _) = zeros[2:]
    return Y if dY is None else (dP[:, :, top : top + X.shape[2], left : left + X.shape[3]], dW, db)


def textbook_max_pool2d(X, size, stride, dY=None):
    """Return Y, or with dY the gradient dX: a search in each window, which keeps the first of equal ones."""
    shape = (*X.shape[:2], *((length - size) // stride + 1 for length in X.shape[2:]))
    Y, dX = np.zeros(shape), np.zeros_like(X)
    for i, p, r, c in np.ndindex(shape):
        window = itertools.product(range(r * stride, r * stride + size), range(c * stride, c * stride + size))
        row, column = max(window, key=lambda place: X[i, p][place])  # max keeps the first
        Y[i, p, r, c] = X[i, p, row, column]
        if dY is not None:
            dX[i, p, row, column] += dY[i, p, r, c]
    return Y if dY is None else dX


# Conv2d


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("batch", [5, 1])
def test_a_convolution_is_its_textbook_form(form, batch):
    layer = Conv2d(3, 2, rng=0, **form)
    layer.b.data[...] = RNG.normal(size=2)
    X = RNG.normal(size=(batch, 3, 7, 11))
    Y, backward = layer(X)
    options = {name: form[name] for name in form if name != "kernel"}
    np.testing.assert_allclose(Y, textbook_conv2d(X, layer.W.data, layer.b.data, **options), **SUMS)
    dY = RNG.normal(size=Y.shape)
    found = backward(dY), layer.W.grad, layer.b.grad
    expected = textbook_conv2d(X, layer.W.data, layer.b.data, dY, **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **SUMS)


def test_four_numbers_on_paper():
    layer = Conv2d(1, 1, kernel=(1, 2), rng=0)
    layer.W.data[...], layer.b.data[...] = [[[[3.0, 5.0]]]], 7.0
    Y, backward = layer(np.array([[[[1.0, 2.0, 4.0]]]]))
    assert Y.tolist() == [[[[1 * 3 + 2 * 5 + 7, 2 * 3 + 4 * 5 + 7]]]]
    assert backward(np.array([[[[1.0, 10.0]]]])).tolist() == [[[[3, 5 + 30, 50]]]]  # the middle is seen twice
    assert layer.W.grad.tolist() == [[[[1 + 20, 2 + 40]]]]
    assert layer.b.grad.tolist() == [11]


def test_a_kernel_of_one_place_is_a_linear_layer_at_every_place():
    layer, linear = Conv2d(3, 2, kernel=1, rng=0), Linear(3, 2, rng=0)
    linear.W.data[...] = layer.W.data[:, :, 0, 0].T
    X = RNG.normal(size=(5, 3, 7, 11))
    by_place = linear.predict(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(layer.predict(X), by_place, **SUMS)


def test_an_image_that_moves_moves_what_is_seen():
    layer = Conv2d(1, 2, padding="same", rng=0)
    X = np.zeros((1, 1, 13, 13))
    X[0, 0, 3:6, 3:6] = RNG.normal(size=(3, 3))
    moved = np.roll(X, (2, 5), axis=(2, 3))
    np.testing.assert_allclose(layer.predict(moved), np.roll(layer.predict(X), (2, 5), axis=(2, 3)), **SUMS)


def test_without_bias_there_is_no_b():
    layer = Conv2d(3, 2, bias=False, rng=0)
    assert layer.b is None and list(layer.named_parameters()) == ["W"]


def test_dX_is_left_out_where_nobody_wants_it():
    layer, usual = Conv2d(3, 2, rng=0), Conv2d(3, 2, rng=0)
    X = RNG.normal(size=(5, 3, 7, 11))
    Y, backward = layer(X, need_dX=False)
    assert backward(Y) is None
    usual(X)[1](Y)
    np.testing.assert_array_equal(layer.W.grad, usual.W.grad)


def test_a_closure_keeps_its_images_to_itself():
    layer, X = Conv2d(3, 2, rng=0), RNG.normal(size=(5, 3, 7, 11))
    Y, backward = layer(X)
    before = backward(Y)
    expected = layer.W.grad.copy()
    X[...], layer.W.grad[...] = 0.0, 0.0
    np.testing.assert_array_equal(backward(Y), before)
    np.testing.assert_array_equal(layer.W.grad, expected)


def test_integers_may_be_seen():
    layer, X = Conv2d(1, 2, rng=0), np.arange(5 * 49).reshape(5, 1, 7, 7)
    Y, backward = (layer >> MaxPool2d())(X)
    same_Y, same_backward = (layer >> MaxPool2d())(X.astype(float))
    np.testing.assert_array_equal(Y, same_Y)
    np.testing.assert_array_equal(backward(Y), same_backward(Y))
    assert MaxPool2d()(X)[1](np.full((5, 1, 3, 3), 0.5)).sum() == 22.5


def test_weights_start_with_variance_one_over_the_numbers_in_a_window_and_b_at_zero():
    layer = Conv2d(16, 100, kernel=5, rng=0)
    assert abs(layer.W.data.std() * 20 - 1) < 0.02  # 40,000 draws: the standard deviation is known to 0.35 %
    assert not layer.b.data.any()


def test_init_and_type_are_ours_to_choose():
    layer = Conv2d(3, 2, kernel=(2, 5), init=orthogonal, rng=0).to(np.float32)
    assert layer.W.data.dtype == layer.b.data.dtype == np.float32
    rows = layer.W.data.reshape(2, -1)  # a kernel a row, of which each has length 1
    np.testing.assert_allclose(rows @ rows.T, np.eye(2), atol=1e-6)  # float32


def test_channels_and_types_are_taken_from_a_sample():
    X, labels = RNG.normal(size=(5, 3, 11, 11)).astype(np.float32), np.array([0, 1, 2, 1, 6])
    model = (
        Conv2d(n_out=2) >> ReLU() >> MaxPool2d() >> Conv2d(n_out=5, kernel=(2, 3)) >> Flatten() >> Linear()
    )
    model.initialize(X, labels, rng=0)
    assert str(model) == (
        "Sequential(Conv2d(3, 2, (3, 3)), ReLU(), MaxPool2d(2, 2), Conv2d(2, 5, (2, 3)), Flatten(), "
        "Linear(30, 7))"
    )
    assert {part.data.dtype for part in model.parameters()} == {np.dtype(np.float32)}
    assert model(X)[0].dtype == np.float32


def test_a_small_network_passes_the_checker_and_learns():
    rng = np.random.default_rng(1)
    model = Conv2d(2, 3, padding=1, rng=rng) >> ReLU() >> MaxPool2d(2) >> Conv2d(3, 5, kernel=2, rng=rng)
    model = model >> ReLU() >> Flatten() >> Linear(40, 2, rng=rng)
    X = rng.normal(size=(7, 2, 11, 7))  # 5 × 3 after the pool, 4 × 2 at the end
    assert gradcheck(model, X).ok
    found = Learner(model, cross_entropy, SGD(0.1)).fit(X, np.arange(7) % 2, epochs=30)["loss"]
    assert found[-1] < found[0] / 2


# MaxPool2d


@pytest.mark.parametrize("size, stride", [(2, None), (3, None), (3, 2), (3, 1), (2, 3), (1, None), (7, None)])
@pytest.mark.parametrize("batch", [5, 1])
def test_a_pool_is_its_textbook_form_also_where_numbers_are_equal(size, stride, batch):
    X = RNG.integers(0, 3, size=(batch, 3, 7, 11)).astype(float)  # few numbers: ties in most windows
    Y, backward = MaxPool2d(size, stride)(X)
    stride = size if stride is None else stride
    np.testing.assert_array_equal(Y, textbook_max_pool2d(X, size, stride))
    dY = RNG.normal(size=Y.shape)
    np.testing.assert_allclose(backward(dY), textbook_max_pool2d(X, size, stride, dY), **SUMS)


def test_the_first_of_equal_ones_gets_the_gradient():
    Y, backward = MaxPool2d()(np.array([[[[1.0, 7.0, 9.0], [7.0, 7.0, 9.0], [9.0, 9.0, 9.0]]]]))
    assert Y.tolist() == [[[[7.0]]]]  # the windows that the edge would cut off are dropped
    assert backward(np.array([[[[5.0]]]])).tolist() == [[[[0, 5, 0], [0, 0, 0], [0, 0, 0]]]]


def test_what_overlaps_gets_the_gradient_of_every_window_that_it_wins():
    _, backward = MaxPool2d(2, stride=1)(np.array([[[[1.0, 7.0, 3.0], [2.0, 4.0, 5.0]]]]))
    assert backward(np.array([[[[3.0, 10.0]]]])).tolist() == [[[[0, 13, 0], [0, 0, 0]]]]


def test_minus_infinity_loses():
    Y, backward = MaxPool2d()(np.array([[[[-np.inf, -np.inf], [-np.inf, 3.0]]]]))
    assert Y.tolist() == [[[[3.0]]]]
    assert backward(np.array([[[[5.0]]]])).tolist() == [[[[0, 0], [0, 5]]]]


# what is refused

CONV, POOL = Conv2d(3, 2, kernel=(5, 3), rng=0), MaxPool2d(3)
NO_IMAGES = [(3,), (5, 3), (3, 7, 11), (0, 3, 7, 11), (5, 0, 7, 11), (5, 3, 2, 11), (5, 3, 7, 2)]


@pytest.mark.parametrize("layer", [CONV, POOL], ids=str)
@pytest.mark.parametrize("shape", NO_IMAGES)
def test_what_is_no_batch_of_images_is_refused(layer, shape):
    with pytest.raises(ShapeError) as caught:
        layer(np.zeros(shape))
    assert str(caught.value).startswith(f"{layer} expects images (batch, channels, rows, columns), not empty")
    assert str(caught.value).endswith(f"got X of shape {shape}.")


def test_zeros_around_an_image_count():
    assert Conv2d(1, 1, kernel=5, padding=1, rng=0).predict(np.zeros((1, 1, 3, 3))).shape == (1, 1, 1, 1)
    with pytest.raises(ShapeError, match=re.escape("for windows of (6, 6), got X of shape (1, 1, 3, 3)")):
        Conv2d(1, 1, kernel=6, padding=1, rng=0)(np.zeros((1, 1, 3, 3)))


def test_other_channels_are_refused():
    with pytest.raises(ShapeError) as caught:
        CONV(np.zeros((5, 2, 7, 11)))
    said = "Conv2d(3, 2, (5, 3)) expects 3 channels in axis 1, got X of shape (5, 2, 7, 11)."
    assert str(caught.value) == said


def test_an_open_layer_is_refused():
    X = np.zeros((5, 3, 7, 11))
    with pytest.raises(ShapeError, match=re.escape("Conv2d(3, ?, (3, 3)) has no n_out yet: pass it")):
        Conv2d(3)(X)
    with pytest.raises(ShapeError, match=re.escape("has no n_out yet")):
        Conv2d().initialize(X, X, rng=0)
    with pytest.raises(ShapeError, match=re.escape("Conv2d(?, 2, (3, 3)) has no n_in yet: pass it, or")):
        Conv2d(n_out=2, rng=0)(X)
    with pytest.raises(ValueError, match=re.escape("Conv2d(3, 2, (3, 3)) has no weights")):
        Conv2d(3, 2).initialize(X)


def test_a_sample_that_is_no_image_opens_nothing():
    layer = Conv2d(n_out=2)
    with pytest.raises(ShapeError, match="expects"):
        layer.initialize(np.zeros((5, 7)), rng=0)
    assert layer.n_in is None and not layer.is_drawn


@pytest.mark.parametrize(
    "wrong, least",
    [({"kernel": 0}, 1), ({"kernel": (3, 0)}, 1), ({"stride": 0}, 1), ({"padding": -1}, 0)],
    ids=str,
)
def test_a_window_that_cannot_be_is_refused(wrong, least):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} of Conv2d must be an integer of at least {least}, got "):
        Conv2d(3, 2, **wrong)


def test_a_kernel_may_be_a_list_as_well():
    assert Conv2d(3, 2, kernel=[2, 5], rng=0).kernel == (2, 5)


@pytest.mark.parametrize("wrong", [(0,), (2, 0)])
def test_a_pool_that_cannot_be_is_refused(wrong):
    name = "stride" if wrong[0] else "size"
    with pytest.raises(ValueError, match=f"{name} of MaxPool2d must be an integer of at least 1, got 0"):
        MaxPool2d(*wrong)
