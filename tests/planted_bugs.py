"""A museum of planted bugs: layers with one mistake each, and words that the diagnosis must contain.

Sizes are distinct primes, so that a wrong factor names itself: batch 5, inputs 3, outputs 7. Words are None
where no more than a general sentence ("wrong values") is expected.
"""

import functools
from typing import NamedTuple

import numpy as np

from minigrad.data import digits
from minigrad.layer import Layer
from minigrad.layers.linear import Linear
from minigrad.parameter import Buffer, Parameter


class Bug(NamedTuple):
    """One mistake: a function that builds the layer, what to feed it, and what must be said about it."""

    name: str
    build: callable
    X: object
    words: str | None


BUGS = []
_rng = np.random.default_rng(7)
X = _rng.normal(size=(5, 3))
T = _rng.normal(size=(5, 3))
LABELS = np.array([0, 2, 1, 1, 0])
POSITIVE = np.abs(X) + 0.5
WIDE = _rng.normal(size=(5, 7))


def bug(words, X=X):
    """Put the layer that a function builds into the museum."""

    def add(build):
        BUGS.append(Bug(build.__name__, build, X, words))
        return build

    return add


def drawn(*shape):
    """Return numbers that are the same every time."""
    return np.random.default_rng(11).normal(size=shape)


# Linear: Y = X @ W + b -----------------------------------------------------------------------------------


def linear(
    dX=lambda X, W, dY: dY @ W.T,
    dW=lambda X, W, dY: X.T @ dY,
    db=lambda X, W, dY: dY.sum(axis=0),
    n_out=7,
    add=True,
):
    """Return a linear layer, right but for what is given; without `add`, gradients are new arrays."""
    W, b = Parameter(drawn(3, n_out)), Parameter(drawn(n_out))

    def layer(X):
        def backward(dY):
            if add:
                W.grad += dW(X, W.data, dY)
                b.grad += db(X, W.data, dY)
            else:
                W.grad = W.grad + dW(X, W.data, dY)
                b.grad = b.grad + db(X, W.data, dY)
            return dX(X, W.data, dY)

        return X @ W.data + b.data, backward

    return layer


@bug("b: 5 times too small: 5 is the batch size")
def linear_bias_gradient_is_a_mean():
    return linear(db=lambda X, W, dY: dY.mean(axis=0))


@bug("W: 5 times too small: 5 is the batch size")
def linear_weight_gradient_is_a_mean():
    return linear(dW=lambda X, W, dY: X.T @ dY / len(X))


@bug("W: 35 times too small: 35 is the size of Y")
def linear_weight_gradient_is_a_mean_over_everything():
    return linear(dW=lambda X, W, dY: X.T @ dY / dY.size)


@bug("W: the sign is flipped")
def linear_weight_gradient_points_downhill():
    return linear(dW=lambda X, W, dY: -X.T @ dY)


@bug("W: the sign is flipped, and it is 5 times too small: 5 is the batch size")
def linear_weight_gradient_is_minus_a_mean():
    return linear(dW=lambda X, W, dY: -X.T @ dY / len(X))


@bug("W: 2 times too large")
def linear_weight_gradient_counts_twice():
    return linear(dW=lambda X, W, dY: 2 * X.T @ dY)


@bug("input X: 7 times too small: 7 is the number of outputs")
def linear_input_gradient_is_a_mean():
    return linear(dX=lambda X, W, dY: dY @ W.T / W.shape[1])


@bug("so is a matrix inside")
def linear_square_weights_not_transposed():
    return linear(dX=lambda X, W, dY: dY @ W, n_out=3)


@bug("W: transposed")
def linear_square_weight_gradient_transposed():
    return linear(dW=lambda X, W, dY: dY.T @ X, n_out=3)


@bug("each other's transpose")
def linear_weight_gradient_has_its_shape_reversed():
    return linear(dW=lambda X, W, dY: dY.T @ X)


@bug("is a .T missing, or one too many?")
def linear_product_does_not_fit():
    return linear(dX=lambda X, W, dY: dY @ W)


@bug("got (7, 3). (two of these shapes are each other's transpose)")
def linear_weight_gradient_is_replaced_by_its_transpose():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            W.grad = W.grad.T + dY.T @ X if W.grad.shape == (3, 7) else W.grad + dY.T @ X
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("not summed over the batch")
def linear_bias_gradient_not_summed_in_place():
    return linear(db=lambda X, W, dY: dY)


@bug("got (5, 7). (not summed over the batch? add .sum(axis=0))")
def linear_bias_gradient_not_summed():
    return linear(db=lambda X, W, dY: dY, add=False)


@bug("got (1, 7). (an axis of length 1 too many: did a sum keep it? leave out keepdims=True)")
def linear_bias_gradient_keeps_dimensions():
    return linear(db=lambda X, W, dY: dY.sum(axis=0, keepdims=True), add=False)


@bug("b: summed over every axis")
def linear_bias_gradient_is_one_number():
    return linear(db=lambda X, W, dY: dY.sum())


@bug("W: all zero: no gradient arrives here")
def linear_weight_gradient_forgotten():
    return linear(dW=lambda X, W, dY: 0.0)


@bug("input X: all zero: no gradient arrives here")
def linear_input_gradient_is_zero():
    return linear(dX=lambda X, W, dY: np.zeros_like(X))


@bug("is a `return` missing?")
def linear_backward_returns_nothing():
    return linear(dX=lambda X, W, dY: None)


@bug("backward runs: TypeError: it returned tuple, but dX is a tuple exactly when X is one")
def linear_backward_returns_all_gradients():
    return linear(dX=lambda X, W, dY: (dY @ W.T, X.T @ dY))


@bug("W: does not vanish with dY")
def linear_weight_decay_inside_backward():
    return linear(dW=lambda X, W, dY: X.T @ dY + 0.1 * W)


@bug("wrong only at index 4 of axis 0")
def linear_last_example_forgotten():
    return linear(dX=lambda X, W, dY: np.vstack([dY[:-1] @ W.T, 0 * X[-1:]]))


@bug("wrong only at index 2 of axis 0")
def linear_last_input_forgotten():
    return linear(dW=lambda X, W, dY: (X * [1, 1, 0]).T @ dY)


@bug("not proportional to dY")
def linear_gradient_clipped():
    return linear(dX=lambda X, W, dY: np.clip(dY @ W.T, -1, 1))


@bug("does not vanish with dY")
def linear_gradient_normalised():
    return linear(dX=lambda X, W, dY: dY @ W.T / np.linalg.norm(dY))


@bug("not proportional to dY")
def linear_gradient_rounded():
    return linear(dX=lambda X, W, dY: np.round(dY @ W.T, 2))


@bug("nan or infinity in 1 of 21 entries")
def linear_gradient_holds_nan():
    return linear(dW=lambda X, W, dY: np.where(np.arange(21).reshape(3, 7) == 4, np.nan, X.T @ dY))


@bug("right numbers, wrong places")
def linear_examples_shuffled():
    return linear(dX=lambda X, W, dY: (dY @ W.T)[[0, 2, 4, 1, 3]])


@bug("right numbers, wrong places")
def linear_examples_in_reverse():
    return linear(dX=lambda X, W, dY: (dY @ W.T)[::-1])


@bug("averaged over axis 0")
def linear_input_gradient_averaged_over_the_batch():
    return linear(dX=lambda X, W, dY: np.tile((dY @ W.T).mean(axis=0), (5, 1)))


@bug("W: overwritten, use += instead of =")
def linear_weight_gradient_overwritten():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            W.grad = X.T @ dY
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("W: overwritten, use += instead of =")
def linear_running_average_of_gradients():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            W.grad *= 0.9
            W.grad += X.T @ dY
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("UnboundLocalError")
def linear_gradient_rebound_in_the_closure():
    W, dW = Parameter(drawn(3, 7)), np.zeros((3, 7))

    def layer(X):
        def backward(dY):
            dW += X.T @ dY  # noqa: F823, F841
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("backward leaves X, Y and the weights alone: W: changed, work on a copy")
def linear_learns_inside_backward():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            dX = dY @ W.data.T
            W.grad += X.T @ dY
            W.data -= 0.1 * W.grad
            return dX

        return X @ W.data, backward

    return layer


@bug("forward leaves X and the weights alone: W: changed, work on a copy")
def linear_decays_its_weights_in_forward():
    W = Parameter(drawn(3, 7))

    def layer(X):
        W.data *= 0.99

        def backward(dY):
            W.grad += 0.99 * X.T @ dY
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("V: this is the gradient of W")
def two_weights_get_each_others_gradient():
    V, W = Parameter(drawn(3, 3)), Parameter(drawn(3, 3) + 1)

    def layer(X):
        H = X @ V.data

        def backward(dY):
            dH = dY @ W.data.T
            V.grad += H.T @ dY
            W.grad += X.T @ dH
            return dH @ V.data.T

        return H @ W.data, backward

    return layer


@bug(None)
def weights_used_twice_and_counted_once():
    W = Parameter(drawn(3, 3))

    def layer(X):
        H = X @ W.data

        def backward(dY):
            W.grad += H.T @ dY
            return dY @ W.data.T @ W.data.T

        return H @ W.data, backward

    return layer


@bug(None)
def hidden_layer_reads_the_input_instead_of_its_own():
    V, W = Parameter(drawn(3, 3)), Parameter(drawn(3, 3) + 1)

    def layer(X):
        H = np.tanh(X @ V.data)

        def backward(dY):
            dH = dY @ W.data.T * (1 - H * H)
            V.grad += X.T @ dH
            W.grad += X.T @ dY
            return dH @ V.data.T

        return H @ W.data, backward

    return layer


@bug("each output's gradient lacks the factor 1 - Y²")
def tanh_of_linear_forgets_the_tanh():
    W = Parameter(drawn(3, 7) / 2)

    def layer(X):
        Y = np.tanh(X @ W.data)

        def backward(dY):
            W.grad += X.T @ (dY * (1 - Y * Y))
            return dY @ W.data.T

        return Y, backward

    return layer


# Entry by entry: Y = f(X) --------------------------------------------------------------------------------


def entrywise(f, slope):
    """Return a layer that applies f to each entry; slope(X, Y, dY) is its way back."""

    def layer(X):
        Y = f(X)
        return Y, lambda dY: slope(X, Y, dY)

    return layer


def relu(X):
    """Return what is positive."""
    return np.maximum(X, 0)


def sigmoid(X):
    """Squash to 0..1."""
    return 1 / (1 + np.exp(-X))


@bug("dY was returned unchanged")
def relu_without_its_mask():
    return entrywise(relu, lambda X, Y, dY: dY)


@bug("not proportional to dY")
def relu_masks_by_the_gradient():
    return entrywise(relu, lambda X, Y, dY: dY * (dY > 0))


@bug(None)
def relu_mask_upside_down():
    return entrywise(relu, lambda X, Y, dY: dY * (X < 0))


@bug("wrong only where it is negative")
def leaky_relu_forgets_the_leak():
    return entrywise(lambda X: np.where(X > 0, X, 0.1 * X), lambda X, Y, dY: dY * (X > 0))


@bug("wrong only where it is positive")
def square_on_one_side_forgets_the_bend():
    return entrywise(lambda X: np.where(X > 0, X * X, X), lambda X, Y, dY: dY * np.where(X > 0, 1.5, 1))


@bug("wrong only beyond -1 and 1", X=2 * X)
def clip_forgets_its_ends():
    return entrywise(lambda X: 3 * np.clip(X, -1, 1), lambda X, Y, dY: 3 * dY)


@bug("8 of 15 signs are flipped")
def absolute_value_forgets_the_sign():
    return entrywise(lambda X: 2 * np.abs(X), lambda X, Y, dY: 2 * dY)


@bug("a missing factor 1 + Y")
def tanh_forgets_the_square():
    return entrywise(np.tanh, lambda X, Y, dY: dY * (1 - Y))


@bug("the sign is flipped")
def tanh_has_its_terms_swapped():
    return entrywise(np.tanh, lambda X, Y, dY: dY * (Y * Y - 1))


@bug("a missing factor 1 - Y, element by element")
def sigmoid_forgets_one_minus():
    return entrywise(sigmoid, lambda X, Y, dY: dY * Y)


@bug("a missing factor Y, element by element")
def sigmoid_forgets_itself():
    return entrywise(sigmoid, lambda X, Y, dY: dY * (1 - Y))


@bug(None)
def sigmoid_applied_twice():
    return entrywise(sigmoid, lambda X, Y, dY: dY * sigmoid(Y) * (1 - sigmoid(Y)))


@bug("a factor Y too much")
def exponential_multiplies_once_too_often():
    return entrywise(np.exp, lambda X, Y, dY: dY * Y * Y)


@bug("2 times too small")
def square_forgets_the_two():
    return entrywise(np.square, lambda X, Y, dY: dY * X)


@bug("a missing factor X")
def cube_loses_a_power():
    return entrywise(lambda X: X * X * X, lambda X, Y, dY: dY * 3 * X)


@bug("the sign is flipped")
def reciprocal_forgets_the_minus():
    return entrywise(lambda X: 1 / X, lambda X, Y, dY: dY / (X * X))


@bug("2 times too large", X=POSITIVE)
def root_forgets_the_half():
    return entrywise(np.sqrt, lambda X, Y, dY: dY / Y)


@bug(None, X=POSITIVE)
def logarithm_multiplies_instead_of_dividing():
    return entrywise(np.log, lambda X, Y, dY: dY * X)


@bug("1.732 times too large: 1.732 is the square root of the number of inputs")
def scores_forget_their_scale():
    return entrywise(lambda X: 2 * X / np.sqrt(3), lambda X, Y, dY: 2 * dY)


@bug("9 times too small")
def scale_divides_on_the_way_back():
    return entrywise(lambda X: 3 * X, lambda X, Y, dY: dY / 3)


@bug("nearly right")
def normal_distribution_by_a_rough_formula():
    return entrywise(np.sin, lambda X, Y, dY: dY * (np.cos(X) + 2e-5))


@bug(None)
def gelu_forgets_its_second_term():
    return entrywise(lambda X: X * sigmoid(1.7 * X), lambda X, Y, dY: dY * sigmoid(1.7 * X))


@bug("the output does not depend on this")
def rounding_pretends_to_be_smooth():
    return entrywise(lambda X: np.round(X + 0.1234), lambda X, Y, dY: 2 * dY)


# Rows: softmax and the norms -----------------------------------------------------------------------------


def softmax(dX):
    """Return a softmax layer with the given way back."""

    def layer(X):
        E = np.exp(X - X.max(axis=-1, keepdims=True))
        Y = E / E.sum(axis=-1, keepdims=True)
        return Y, lambda dY: dX(Y, dY)

    return layer


@bug("(that part is right): the cross terms are missing")
def softmax_is_treated_entry_by_entry():
    return softmax(lambda Y, dY: dY * Y * (1 - Y))


@bug(None)
def softmax_is_treated_entry_by_entry_and_wrong():
    return softmax(lambda Y, dY: dY * (1 - Y))


@bug("the gradient through each row's sum is missing")
def softmax_takes_its_sum_for_a_constant():
    return softmax(lambda Y, dY: dY * Y)


@bug(None)
def softmax_sums_over_the_batch():
    return softmax(lambda Y, dY: Y * (dY - (dY * Y).sum(axis=0)))


@bug("dY was returned unchanged")
def log_softmax_takes_its_sum_for_a_constant():
    return lambda X: (X - np.log(np.exp(X).sum(axis=-1, keepdims=True)), lambda dY: dY)


def norm(dX=None, dgain=None, dbias=None, axis=-1, eps=0.0):
    """Return a layer norm (axis 0: batch norm) with gain and bias, right but for what is given."""
    gain, bias = Parameter(drawn(7) + 2), Parameter(drawn(7))

    def right_dX(D, Z, sigma):
        return (D - D.mean(axis, keepdims=True) - Z * (D * Z).mean(axis, keepdims=True)) / sigma

    def layer(X):
        sigma = np.sqrt(X.var(axis, keepdims=True) + eps)
        Z = (X - X.mean(axis, keepdims=True)) / sigma

        def backward(dY):
            gain.grad += (dgain or (lambda X, Z, dY: (dY * Z).sum(axis=0)))(X, Z, dY)
            bias.grad += (dbias or (lambda X, Z, dY: dY.sum(axis=0)))(X, Z, dY)
            return (dX or (lambda dY, *rest: right_dX(dY * gain.data, *rest)))(dY, Z, sigma)

        return gain.data * Z + bias.data, backward

    layer.gain = gain.data
    return layer


GAIN = drawn(7) + 2


@bug("the gradient through each row's mean and variance is missing", X=WIDE)
def layer_norm_takes_its_statistics_for_constants():
    return norm(dX=lambda dY, Z, sigma: dY * GAIN / sigma)


@bug("the gradient through each row's variance is missing", X=WIDE)
def layer_norm_takes_its_variance_for_a_constant():
    return norm(dX=lambda dY, Z, sigma: (dY * GAIN - (dY * GAIN).mean(-1, keepdims=True)) / sigma)


@bug("the gradient through each row's mean is missing", X=WIDE)
def layer_norm_takes_its_mean_for_a_constant():
    return norm(dX=lambda dY, Z, sigma: (dY * GAIN - Z * (dY * GAIN * Z).mean(-1, keepdims=True)) / sigma)


def centred(D, Z):
    """Return the right way back through a norm, but for the division by sigma."""
    return D - D.mean(-1, keepdims=True) - Z * (D * Z).mean(-1, keepdims=True)


@bug("each output's gradient lacks the factor gain", X=WIDE)
def layer_norm_forgets_its_gain():
    return norm(dX=lambda dY, Z, sigma: centred(dY, Z) / sigma)


@bug("input X: each row is off by a different factor", X=WIDE)
def layer_norm_forgets_to_divide():
    return norm(dX=lambda dY, Z, sigma: centred(dY * GAIN, Z))


@bug(None, X=WIDE)
def layer_norm_gain_reads_the_input():
    return norm(dgain=lambda X, Z, dY: (dY * X).sum(axis=0))


@bug("gain: this is the gradient of bias", X=WIDE)
def layer_norm_gain_gets_the_gradient_of_the_bias():
    return norm(dgain=lambda X, Z, dY: dY.sum(axis=0))


@bug("bias: 5 times too small: 5 is the batch size", X=WIDE)
def layer_norm_bias_gradient_is_a_mean():
    return norm(dbias=lambda X, Z, dY: dY.mean(axis=0))


@bug("each row is off by a different factor", X=WIDE)
def layer_norm_forgets_epsilon():
    return norm(eps=1e-2, dX=lambda dY, Z, sigma: centred(dY * GAIN, Z) / np.sqrt(sigma * sigma - 1e-2))


@bug("the gradient through each column's mean and variance is missing", X=WIDE)
def batch_norm_takes_its_statistics_for_constants():
    return norm(axis=0, dX=lambda dY, Z, sigma: dY * GAIN / sigma)


@bug("the gradient through each row's norm is missing")
def unit_rows_take_their_length_for_a_constant():
    def layer(X):
        length = np.sqrt((X * X).sum(axis=-1, keepdims=True))
        return X / length, lambda dY: dY / length

    return layer


@bug("this layer mixes the examples of the batch, and that part is missing")
def gate_of_the_next_example_is_taken_for_a_constant():
    W = drawn(3, 7)

    def layer(X):
        H, gate = np.tanh(X @ W), np.roll(X @ W, 1, axis=0)
        return H * gate, lambda dY: (dY * gate * (1 - H * H)) @ W.T

    return layer


@bug("the gradient through each column's mean is missing or wrong")
def examples_leak_into_each_other():
    return lambda X: (3 * X, lambda dY: 3 * dY + dY.mean(axis=0))


# Layers made of layers -----------------------------------------------------------------------------------


@bug("the path around the layer is missing: add dY")
def residual_forgets_the_path_around():
    return entrywise(lambda X: X + np.tanh(X), lambda X, Y, dY: dY * (1 - np.tanh(X) ** 2))


@bug("dY was returned unchanged")
def residual_forgets_the_path_through():
    return entrywise(lambda X: X + np.tanh(X), lambda X, Y, dY: dY)


@bug("dY is added once too often")
def residual_counts_the_path_around_twice():
    return entrywise(lambda X: X + np.tanh(X), lambda X, Y, dY: 2 * dY + dY * (1 - np.tanh(X) ** 2))


def side_by_side(dX):
    """Return a layer that puts tanh(X @ V) and X @ W side by side in the last axis."""
    V, W = drawn(3, 3), drawn(3, 4)

    def layer(X):
        H = np.tanh(X @ V)
        return np.hstack([H, X @ W]), lambda dY: dX(H, V, W, dY)

    return layer


@bug("output column 3, 4, 5, 6 sends nothing back: is a branch forgotten?")
def branch_forgotten():
    return side_by_side(lambda H, V, W, dY: (dY[:, :3] * (1 - H * H)) @ V.T)


@bug(None)
def branches_get_overlapping_parts():
    return side_by_side(lambda H, V, W, dY: (dY[:, :3] * (1 - H * H)) @ V.T + dY[:, 2:6] @ W.T)


@bug("right numbers, wrong places")
def branches_get_each_others_part():
    return lambda X: (np.hstack([2 * X, 3 * X]), lambda dY: 3 * dY[:, :3] + 2 * dY[:, 3:])


@bug("input X[1]: this is the gradient of input X[0]", X=(X, T))
def product_of_twins_gives_both_the_same():
    return lambda X: (X[0] * X[1], lambda dY: (dY * X[1], dY * X[1]))


@bug("dX is a tuple exactly when X is one", X=(X, T))
def twins_forgotten():
    return lambda X: (X[0] * X[1], lambda dY: dY * X[1])


def embedding(add):
    """Return a table of 7 rows; add(table, ids, dY) is its way back."""
    table = Parameter(drawn(7, 3))

    def layer(ids):
        return table.data[ids], lambda dY: add(table, ids, dY)

    return layer


@bug("wrong only at index 1 of axis 0: repeated in X? use np.add.at", X=np.array([1, 2, 1, 5, 6]))
def embedding_counts_repeated_rows_once():
    def add(table, ids, dY):
        table.grad[ids] += dY

    return embedding(add)


@bug("overwritten, use += instead of =", X=np.array([0, 2, 1, 5, 6]))
def embedding_overwrites_its_rows():
    def add(table, ids, dY):
        table.grad[ids] = dY

    return embedding(add)


# Reductions and shapes -----------------------------------------------------------------------------------


@bug("3 times too large: 3 is the number of inputs")
def mean_forgets_to_divide():
    return lambda X: (X.mean(axis=1), lambda dY: np.repeat(dY[:, None], 3, axis=1))


@bug("3 times too small: 3 is the number of inputs")
def sum_goes_back_as_a_mean():
    return lambda X: (X.sum(axis=1), lambda dY: np.repeat(dY[:, None] / 3, 3, axis=1))


@bug("shape (5, 1) instead of (5, 3)")
def sum_keeps_its_axis_on_the_way_back():
    return lambda X: (X.sum(axis=1), lambda dY: dY[:, None])


@bug("summed over axis 1, then repeated")
def maximum_goes_back_to_everyone():
    return lambda X: (X.max(axis=1), lambda dY: np.repeat(dY[:, None], 3, axis=1))


@bug("1.167 times too small", X=WIDE)
def variance_divides_by_all():
    def layer(X):
        centred = X - X.mean(axis=1, keepdims=True)
        return X.var(axis=1, ddof=1), lambda dY: 2 * centred * dY[:, None] / 7

    return layer


@bug("right numbers, wrong places")
def flip_is_not_undone():
    return lambda X: (2 * X[:, ::-1], lambda dY: 2 * dY)


@bug("right numbers, wrong places", X=WIDE)
def shift_is_not_undone():
    return lambda X: (2 * np.roll(X, 1, axis=1), lambda dY: 2 * dY)


@bug("right numbers, wrong places")
def transpose_is_undone_by_a_reshape():
    return lambda X: (X.T.copy(), lambda dY: dY.reshape(5, 3))


@bug("the whole Jacobian is transposed")
def running_sum_runs_forward_again():
    return lambda X: (2 * np.cumsum(X, axis=1), lambda dY: 2 * np.cumsum(dY, axis=1))


@bug("right, but 30 couplings are missing", X=WIDE)
def convolution_forgets_a_tap():
    def layer(X):
        padded = np.pad(X, ((0, 0), (1, 1)))
        Y = 2 * padded[:, :-2] + 3 * padded[:, 1:-1] + 5 * padded[:, 2:]

        def backward(dY):
            padded = np.pad(dY, ((0, 0), (1, 1)))
            return 3 * padded[:, 1:-1] + 2 * padded[:, 2:]

        return Y, backward

    return layer


@bug("1.25 times too small")
def dropout_forgets_to_scale():
    random = np.random.default_rng(3)

    def layer(X):
        mask = random.uniform(size=X.shape) < 0.8
        return X * mask / 0.8, lambda dY: dY * mask

    return layer


@bug("a second call gave another result")
def dropout_draws_again_on_the_way_back():
    random = np.random.default_rng(3)

    def layer(X):
        mask = random.uniform(size=X.shape) < 0.8
        return X * mask, lambda dY: dY * (random.uniform(size=X.shape) < 0.8)

    return layer


# Losses --------------------------------------------------------------------------------------------------


def loss(value, dY):
    """Return a loss as a layer: value(Y) is a number, dY(Y) its gradient."""
    return lambda Y: (value(Y), lambda dL=1.0: dL * dY(Y))


def cross_entropy(Y):
    """Return the mean cross-entropy of LABELS."""
    return np.mean(np.log(np.exp(Y).sum(axis=1)) - Y[np.arange(5), LABELS])


def probabilities(Y):
    """Return the softmax of each row."""
    return np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)


@bug("3 times too large: 3 is the number of columns")
def mse_averages_value_and_gradient_differently():
    return loss(lambda Y: np.mean((Y - T) ** 2), lambda Y: 2 * (Y - T) / len(Y))


@bug("15 times too large: 15 is the size of X")
def mse_forgets_to_average():
    return loss(lambda Y: np.mean((Y - T) ** 2), lambda Y: 2 * (Y - T))


@bug("2 times too small")
def mse_forgets_the_two():
    return loss(lambda Y: np.mean((Y - T) ** 2), lambda Y: (Y - T) / Y.size)


@bug("the sign is flipped")
def mse_subtracts_the_wrong_way():
    return loss(lambda Y: np.mean((Y - T) ** 2), lambda Y: 2 * (T - Y) / Y.size)


@bug("does not vanish with dY: a factor dY is missing")
def mse_ignores_what_comes_after():
    return lambda Y: (np.mean((Y - T) ** 2), lambda dL=1.0: 2 * (Y - T) / Y.size)


@bug("5 times too large: 5 is the batch size")
def cross_entropy_forgets_to_average():
    return loss(cross_entropy, lambda Y: probabilities(Y) - np.eye(3)[LABELS])


@bug(None)
def cross_entropy_forgets_the_target():
    return loss(cross_entropy, lambda Y: probabilities(Y) / 5)


@bug(None)
def cross_entropy_goes_back_through_softmax_again():
    def again(Y):
        P = probabilities(Y)
        D = (P - np.eye(3)[LABELS]) / 5
        return P * (D - (D * P).sum(axis=1, keepdims=True))

    return loss(cross_entropy, again)


# The rules -----------------------------------------------------------------------------------------------


@bug("forward returns (Y, backward): ndarray: not an array and a function")
def rule_1_forward_returns_only_its_result():
    return lambda X: 2 * X


@bug("forward returns (Y, backward): tuple: not an array and a function")
def rule_1_forward_returns_the_pair_reversed():
    return lambda X: (lambda dY: 2 * dY, 2 * X)


@bug("forward leaves X and the weights alone: input X: changed, work on a copy")
def rule_2_forward_works_in_place():
    def layer(X):
        X -= X.max(axis=1, keepdims=True)
        Y = np.exp(X)
        return Y, lambda dY: dY * Y - (X == 0) * (dY * Y).sum(axis=1, keepdims=True)

    return layer


@bug("the same X gives the same Y: Y: it differs")
def rule_3_forward_counts_its_calls():
    calls = []

    def layer(X):
        calls.append(1)
        scale = len(calls)
        return scale * X, lambda dY: scale * dY

    return layer


@bug("backward runs: NameError")
def rule_4_backward_has_a_typo():
    return lambda X: (2 * X, lambda dY: 2 * dy)  # noqa: F821


@bug("backward leaves dY alone: dY: changed")
def rule_5_backward_masks_in_place():
    def layer(X):
        def backward(dY):
            dY *= X > 0
            return dY

        return relu(X), backward

    return layer


@bug("backward leaves X, Y and the weights alone: input X: changed, work on a copy")
def rule_6_backward_reuses_the_input():
    def layer(X):
        def backward(dY):
            X[...] = 2 * X * dY
            return X

        return X * X, backward

    return layer


@bug("backward leaves X, Y and the weights alone: Y: changed, work on a copy")
def rule_6_backward_reuses_the_output():
    def layer(X):
        Y = np.exp(X)

        def backward(dY):
            np.multiply(Y, dY, out=Y)
            return Y.copy()

        return Y, backward

    return layer


@bug("a later forward changed its result")
def rule_8_input_kept_on_self():
    class Square:
        def __call__(self, X):
            self.X = X
            return X * X, self.backward

        def backward(self, dY):
            return 2 * self.X * dY

    return Square()


@bug("a later forward changed its result")
def rule_8_mask_kept_on_self():
    class Dropout:
        def __init__(self):
            self.random = np.random.default_rng(0)

        def named_parameters(self):
            return {}

        def __call__(self, X):
            self.mask = self.random.uniform(size=X.shape) < 0.5
            return X * self.mask, lambda dY: dY * self.mask

    return Dropout()


@bug("backward runs: the second call failed: IndexError: pop from empty list")
def rule_8_inputs_kept_on_a_stack():
    stack = []

    def layer(X):
        stack[:] = [X]
        return X * X, lambda dY: 2 * stack.pop() * dY

    return layer


@bug("a second call gave another result")
def rule_8_backward_uses_up_what_it_remembers():
    def layer(X):
        slope = 2 * X

        def backward(dY):
            np.multiply(slope, dY, out=slope)
            return slope.copy()

        return X * X, backward

    return layer


@bug("does not vanish with dY: a factor dY is missing")
def rule_9_backward_ignores_its_argument():
    return lambda X: (X * X, lambda dY: 2 * X)


@bug("does not vanish with dY")
def rule_9_backward_keeps_only_signs():
    return lambda X: (X * X, lambda dY: 2 * X * np.sign(dY))


# Right in the plain case, wrong in another: while training -----------------------------------------------


class Trained(Layer):
    """A layer that is right outside training; `way` is its pair of forward and slope while training."""

    def __init__(self, f, slope):
        self.f, self.slope = f, slope

    def forward(self, X, training=False):
        if not training:
            return 2 * X, lambda dY: 2 * dY
        Y = self.f(X)
        return Y, lambda dY: self.slope(X, Y, dY)


@bug("the same holds with training=True: input X: 2 times too small")
def training_forgets_the_two():
    return Trained(np.square, lambda X, Y, dY: X * dY)


@bug("the same holds with training=True: input X: the sign is flipped")
def training_flips_the_sign():
    return Trained(lambda X: 3 * X, lambda X, Y, dY: -3 * dY)


@bug("the same holds with training=True: input X: dY was returned unchanged")
def training_forgets_its_own_slope():
    return Trained(np.tanh, lambda X, Y, dY: dY)


@bug("the same holds with training=True: forward returns (Y, backward)")
def training_returns_no_way_back():
    return lambda X, training=False: (X / 2, None) if training else (X, lambda dY: dY)


@bug("the same holds with training=True: forward leaves X and the weights alone: input X: changed")
def training_works_in_place():
    def layer(X, training=False):
        if training:
            X *= 0.5
            return X.copy(), lambda dY: 0.5 * dY
        return X.copy(), lambda dY: dY

    return layer


@bug("the same holds with training=True: backward runs: NameError")
def training_has_a_typo():
    def layer(X, training=False):
        return X.copy(), lambda dY: dy if training else dY  # noqa: F821

    return layer


@bug("the same holds with training=True: input X: 1.25 times too small")
def dropout_layer_forgets_to_scale():
    class Dropout(Layer):
        def __init__(self):
            self.rng = np.random.default_rng(3)

        def forward(self, X, training=False):
            if not training:
                return X, lambda dY: dY
            mask = self.rng.uniform(size=X.shape) < 0.8
            return X * mask / 0.8, lambda dY: dY * mask

    return Dropout()


@bug("the same holds with training=True: the same X gives the same Y: Y: it differs")
def dropout_layer_draws_from_the_global_state():
    def layer(X, training=False):
        mask = (np.random.uniform(size=X.shape) < 0.8) if training else np.ones(X.shape, bool)  # noqa: NPY002
        return X * mask, lambda dY: dY * mask

    return layer


@bug("the same holds with training=True: backward remembers its own forward: input X: a later forward")
def dropout_layer_keeps_its_mask_on_itself():
    class Dropout(Layer):
        def __init__(self):
            self.rng = np.random.default_rng(3)

        def forward(self, X, training=False):
            self.mask = self.rng.uniform(size=X.shape) < (0.5 if training else 2.0)
            return X * self.mask, lambda dY: dY * self.mask

    return Dropout()


@bug("the same holds with training=True: input X: the gradient through each column's mean is missing", X=WIDE)
def batch_norm_is_wrong_while_training():
    class Centre(Layer):
        def __init__(self):
            self.mean = Buffer(np.zeros(7))

        def forward(self, X, training=False):
            mean = X.mean(axis=0) if training else self.mean.data
            return 2 * (X - mean), lambda dY: 2 * dY

    return Centre()


@bug("the same holds with training=True: W: 5 times too small: 5 is the batch size")
def linear_averages_while_training():
    W = Parameter(drawn(3, 7))

    def layer(X, training=False):
        def backward(dY):
            W.grad += X.T @ dY / (len(X) if training else 1)
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("the same holds with training=True: backward adds to the gradients: W: overwritten, use += instead of =")
def linear_overwrites_while_training():
    W = Parameter(drawn(3, 7))

    def layer(X, training=False):
        def backward(dY):
            dW = X.T @ dY
            W.grad = dW if training else W.grad + dW
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("the same holds with training=True: input X: 2 times too small")
def part_of_a_chain_is_wrong_while_training():
    return Linear(3, 7, rng=0) >> Trained(np.square, lambda X, Y, dY: X * dY)


@bug("the same holds with training=True: input X: 2 times too small")
def partial_hides_the_training():
    def layer(factor, X, training=False):
        return (factor if training else 1) * X, lambda dY: dY

    return functools.partial(layer, 2)


# ... or outside training ---------------------------------------------------------------------------------


def running_mean(update):
    """Return a layer that subtracts a running mean; update(mean, X, training) is when it moves."""

    class Centre(Layer):
        def __init__(self):
            self.mean = Buffer(np.zeros(3))

        def forward(self, X, training=False):
            Y = X - self.mean.data
            update(self.mean, X, training)
            return Y, lambda dY: dY.copy()

    return Centre()


@bug("forward leaves X and the weights alone: mean: changed outside training")
def running_mean_moves_outside_training():
    def update(mean, X, training):
        mean.data = 0.9 * mean.data + 0.1 * X.mean(axis=0)

    return running_mean(update)


@bug("forward leaves X and the weights alone: mean: changed outside training")
def running_mean_moves_in_place_outside_training():
    def update(mean, X, training):
        if not training:
            mean.data += 0.1 * X.mean(axis=0)

    return running_mean(update)


@bug("forward leaves X and the weights alone: calls: changed outside training")
def buffer_counts_calls():
    calls = Buffer(np.zeros(1))

    def layer(X):
        calls.data += 1
        return 2 * X, lambda dY: 2 * dY

    return layer


# ... for another batch -----------------------------------------------------------------------------------


@bug("the same holds for a batch of one: input X: 2 times too large")
def batch_of_one_counts_twice():
    return lambda X: (3 * X, lambda dY: (6 if len(dY) == 1 else 3) * dY)


@bug("the same holds for a batch of one: b: ")
def bias_gradient_squeezes_a_batch_of_one():
    b = Parameter(drawn(3))

    def layer(X):
        def backward(dY):
            b.grad += dY.squeeze().sum(axis=0)
            return dY.copy()

        return X + b.data, backward

    return layer


@bug("the same holds for a batch of one: backward runs: AxisError")
def gradient_loses_its_axis_for_a_batch_of_one():
    return lambda X: (X * X, lambda dY: 2 * X * dY / (1 + 0 * dY.squeeze().sum(axis=1, keepdims=True)[0]))


@bug("the same holds for a batch of one: W: ")
def size_of_the_batch_is_written_down():
    return linear(dW=lambda X, W, dY: X.T @ dY * (5 / len(X)))


@bug("the same holds for a batch of one: b: ")
def bias_gradient_divides_by_one_less():
    return linear(db=lambda X, W, dY: dY.sum(axis=0) if len(X) > 1 else 0 * dY.sum(axis=0))


@bug("the same holds for a batch of one: input X: all zero: no gradient arrives here")
def no_gradient_for_a_batch_of_one():
    return lambda X: (3 * X, lambda dY: 3 * dY * (len(dY) > 1))


@bug("the same holds for a batch of one: backward runs: IndexError")
def second_example_is_taken_for_granted():
    return lambda X: (3 * X, lambda dY: 3 * dY + 0 * dY[1])


@bug("the same holds for a batch of two: input X: 3 times too large", X=X[:1])
def batch_of_two_is_wrong():
    return lambda X: (2 * X, lambda dY: (2 if len(dY) == 1 else 6) * dY)


@bug("not summed over the batch", X=X[:1])
def bias_gradient_of_one_example_is_not_summed():
    return linear(db=lambda X, W, dY: dY[0] if len(dY) == 1 else dY)


@bug("b: examples 1, 2, 3, 4 send nothing back: is a sum over the batch missing?")
def bias_gradient_takes_the_first_example():
    return linear(db=lambda X, W, dY: dY[0])


@bug("b: example 0 sends nothing back: is a sum over the batch missing?")
def bias_gradient_leaves_the_first_example_out():
    return linear(db=lambda X, W, dY: dY[1:].sum(axis=0))


@bug("W: example 4 sends nothing back")
def weight_gradient_leaves_the_last_example_out():
    return linear(dW=lambda X, W, dY: X[:-1].T @ dY[:-1])


# ... without dX ------------------------------------------------------------------------------------------


def choosy(way_back):
    """Return a linear layer that declares need_dX; way_back(W, b, X, dY, need_dX) is its backward."""

    class Choosy(Layer):
        def __init__(self):
            self.W, self.b = Parameter(drawn(3, 7)), Parameter(drawn(7))

        def forward(self, X, need_dX=True):
            Y = X @ self.W.data + self.b.data
            return Y, lambda dY: way_back(self.W, self.b, X, dY, need_dX)

    return Choosy()


@bug("the same holds with need_dX=False: W, b: a different gradient")
def without_dX_nothing_is_added():
    def way_back(W, b, X, dY, need_dX):
        if not need_dX:
            return None
        W.grad += X.T @ dY
        b.grad += dY.sum(axis=0)
        return dY @ W.data.T

    return choosy(way_back)


@bug("the same holds with need_dX=False: b: a different gradient")
def without_dX_the_bias_is_forgotten():
    def way_back(W, b, X, dY, need_dX):
        W.grad += X.T @ dY
        if need_dX:
            b.grad += dY.sum(axis=0)
            return dY @ W.data.T

    return choosy(way_back)


@bug("the same holds with need_dX=False: W: a different gradient")
def without_dX_the_weights_count_twice():
    def way_back(W, b, X, dY, need_dX):
        W.grad += X.T @ dY * (1 if need_dX else 2)
        b.grad += dY.sum(axis=0)
        return dY @ W.data.T if need_dX else None

    return choosy(way_back)


@bug("the same holds with need_dX=False: UnboundLocalError")
def without_dX_backward_fails():
    def way_back(W, b, X, dY, need_dX):
        W.grad += X.T @ dY
        b.grad += dY.sum(axis=0)
        if need_dX:
            dX = dY @ W.data.T
        return dX

    return choosy(way_back)


# ... in float32 ------------------------------------------------------------------------------------------


@bug("float32 in gives float32 back: input X: got float64")
def gradient_is_made_by_zeros():
    def slope(X, Y, dY):
        dX = np.zeros(X.shape)
        dX[X > 0] = dY[X > 0]
        return dX

    return entrywise(relu, slope)


@bug("float32 in gives float32 back: input X: got float64")
def gradient_is_multiplied_by_a_numpy_number():
    return entrywise(lambda X: X * float(np.sqrt(2)), lambda X, Y, dY: dY * np.sqrt(2))


@bug("float32 in gives float32 back: W: got float64")
def weight_gradient_becomes_float64():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            W.grad = W.grad + (X.T @ dY).astype(float)
            return dY @ W.data.T

        return X @ W.data, backward

    return layer


@bug("the same holds in float32: input X: the values differ from those in float64")
def slope_by_a_difference_too_fine_for_float32():
    return entrywise(np.tanh, lambda X, Y, dY: dY * (np.tanh(X + 1e-6) - np.tanh(X - 1e-6)) / 2e-6)


@bug("the same holds in float32: input X: the values differ from those in float64")
def slope_is_another_in_float32():
    return entrywise(np.square, lambda X, Y, dY: X * dY * (2 if X.dtype == float else 1))


@bug("the same holds in float32: Y: the values differ from those in float64")
def rounding_constant_is_lost_in_float32():
    return entrywise(
        lambda X: (X + 10**9) - 10**9,
        lambda X, Y, dY: dY.copy(),
    )


@bug("the same holds in float32: TypeError")
def float32_is_refused():
    def slope(X, Y, dY):
        if dY.dtype != float:
            raise TypeError("float64, please")
        return 2 * dY

    return entrywise(lambda X: 2 * X, slope)


# ... in another order in memory --------------------------------------------------------------------------


@bug("the same holds for X in Fortran order: input X: the values depend on the memory layout")
def mask_is_read_as_it_lies_in_memory():
    def layer(X):
        mask = (X.ravel(order="K") > 0).reshape(X.shape)
        return relu(X), lambda dY: dY * mask

    return layer


@bug("the same holds for X in Fortran order: Y, input X: the values depend on the memory layout")
def rows_are_read_as_they_lie_in_memory():
    def layer(X):
        Z = X.ravel(order="K").reshape(X.shape)
        return Z * Z, lambda dY: 2 * Z * dY

    return layer


@bug("the same holds for a transposed dY: input X: the values depend on the memory layout")
def dY_is_read_as_it_lies_in_memory():
    return lambda X: (3 * X, lambda dY: 3 * dY.ravel(order="K").reshape(dY.shape))


@bug("the same holds for a transposed dY: ValueError")
def dY_is_looked_at_as_bytes():
    return lambda X: (X.copy(), lambda dY: dY.view(np.uint8).view(dY.dtype).copy())


@bug("the same holds for a transposed dY: input X: the values depend on the memory layout")
def only_a_contiguous_dY_is_scaled():
    return lambda X: (3 * X, lambda dY: 3 * dY if dY.flags.c_contiguous else dY.copy())


@bug("the same holds for X in Fortran order: input X: the values depend on the memory layout")
def only_a_contiguous_X_is_right():
    return lambda X: (X * X, lambda dY, factor=2 if X.flags.c_contiguous else 1: factor * X * dY)


# ... for a large or a small dY ---------------------------------------------------------------------------


@bug("not proportional to dY")
def large_gradients_are_clipped():
    return entrywise(lambda X: 2 * X, lambda X, Y, dY: np.clip(2 * dY, -50, 50))


@bug("W: not proportional to dY")
def large_weight_gradients_are_clipped():
    return linear(dW=lambda X, W, dY: np.clip(X.T @ dY, -1000, 1000))


@bug("W: not proportional to dY")
def large_weight_gradients_are_shortened():
    def short(G):
        return G / max(1.0, float(np.linalg.norm(G)) / 1e4)

    return linear(dW=lambda X, W, dY: short(X.T @ dY))


@bug("not proportional to dY")
def small_gradients_are_dropped():
    return entrywise(lambda X: 2 * X, lambda X, Y, dY: 2 * dY * (np.abs(dY) > 1e-6))


@bug("does not vanish with dY")
def a_little_is_added_to_the_gradient():
    return entrywise(lambda X: 2 * X, lambda X, Y, dY: 2 * dY + 1e-7)


@bug("not proportional to dY")
def gradient_is_squashed():
    return entrywise(lambda X: 2 * X, lambda X, Y, dY: 2e4 * np.tanh(dY / 1e4))


@bug("not proportional to dY")
def gradient_explodes_above_a_million():
    return entrywise(lambda X: 2 * X, lambda X, Y, dY: np.where(np.abs(dY) > 1e6, 0 * dY, 2 * dY))


# ... after another call ----------------------------------------------------------------------------------

KEPT = {}


def kept_in(store, key):
    """Return ReLU whose mask is made once for each key(X), and kept in a dict."""

    def layer(X):
        if key(X) not in store:
            store[key(X)] = X > 0
        mask = store[key(X)]
        return X * mask, lambda dY: dY * mask

    return layer


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_in_a_global():
    return kept_in(KEPT, lambda X: "mask")


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_in_a_closure():
    return kept_in({}, lambda X: "mask")


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_is_kept_for_each_shape():
    return kept_in({}, lambda X: X.shape)


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_is_kept_for_each_array():
    return kept_in({}, id)


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_on_the_function():
    def layer(X):
        if not hasattr(layer, "mask"):
            layer.mask = X > 0
        mask = layer.mask
        return X * mask, lambda dY: dY * mask

    return layer


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_on_the_layer():
    class Masked(Layer):
        mask = None

        def forward(self, X):
            if self.mask is None:
                self.mask = X > 0
            mask = self.mask
            return X * mask, lambda dY: dY * mask

    return Masked()


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_on_the_class():
    class Masked(Layer):
        mask = None

        def forward(self, X):
            if Masked.mask is None:
                Masked.mask = X > 0
            mask = Masked.mask
            return X * mask, lambda dY: dY * mask

    return Masked()


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def mask_of_the_first_X_is_kept_in_a_default():
    def layer(X, kept=[]):  # noqa: B006
        if not kept:
            kept.append(X > 0)
        mask = kept[0]
        return X * mask, lambda dY: dY * mask

    return layer


@bug("the same holds after another X: Y, input X: a value from the previous call is reused")
def scale_of_the_first_X_is_kept():
    store = {}

    def layer(X):
        scale = store.setdefault("scale", float(X[0, 0]))
        return X * scale, lambda dY: dY * scale

    return layer


@bug("the same holds after another X: input X: a value from the previous call is reused")
def slope_of_the_first_X_is_kept():
    store = {}

    def layer(X):
        slope = store.setdefault("slope", 2 * X)
        return X * X, lambda dY: slope * dY

    return layer


@bug("the same holds after an X of another shape")
def shape_of_the_first_X_is_kept():
    store = {}

    def layer(X):
        shape = store.setdefault("shape", X.shape)
        return 2 * X, lambda dY: 2 * dY.reshape(shape)

    return layer


@bug("the same holds after an X of another shape")
def number_of_examples_is_kept():
    class Mean(Layer):
        batch = None

        def forward(self, X):
            self.batch = self.batch or len(X)
            batch = self.batch
            return X - X.sum(axis=0) / batch, lambda dY: dY - dY.sum(axis=0) / batch

    return Mean()


@bug("the same holds after an X of another shape")
def buffer_of_the_first_shape_is_kept():
    store = []

    def layer(X):
        if not store:
            store.append(np.ones(X.shape, dtype=X.dtype))
        ones = store[0]
        return X * 2, lambda dY: dY * (2 * ones)

    return layer


@bug("the same holds after another X: Y: a value from the previous call is reused")
def first_number_is_kept():
    class Shift(Layer):
        def forward(self, X):
            self.first = getattr(self, "first", X[0, 0])
            return X + float(self.first != X[0, 0]), lambda dY: dY.copy()

    return Shift()


# ... after an optimizer's step ---------------------------------------------------------------------------


def cached(key):
    """Return a linear layer that keeps W.T for its way back, for each key(W)."""
    W, store = Parameter(drawn(3, 7)), {}

    def layer(X):
        if key(W) not in store:
            store[key(W)] = W.data.T.copy()
        transposed = store[key(W)]

        def backward(dY):
            W.grad += X.T @ dY
            return dY @ transposed

        return X @ W.data, backward

    return layer


@bug("the same holds after an optimizer's step: input X: a value from the previous call is reused")
def transposed_weights_are_cached():
    return cached(lambda W: "W")


@bug("the same holds after an optimizer's step: input X: a value from the previous call is reused")
def transposed_weights_are_cached_for_each_parameter():
    return cached(id)


@bug("the same holds after an optimizer's step: input X: a value from the previous call is reused")
def transposed_weights_are_cached_for_each_array():
    return cached(lambda W: id(W.data))


@bug("the same holds after an optimizer's step: input X: a value from the previous call is reused")
def transposed_weights_are_cached_on_the_layer():
    class Cached(Layer):
        def __init__(self):
            self.W, self.turned = Parameter(drawn(3, 7)), None

        def forward(self, X):
            if self.turned is None:
                self.turned = self.W.data.T.copy()
            turned = self.turned

            def backward(dY):
                self.W.grad += X.T @ dY
                return dY @ turned

            return X @ self.W.data, backward

    return Cached()


@bug("the same holds after an optimizer's step: input X: a value from the previous call is reused")
def norm_of_the_weights_is_cached():
    W, store = Parameter(drawn(3)), {}

    def layer(X):
        slope = store.setdefault("slope", 2 * W.data)

        def backward(dY):
            W.grad += (2 * X * dY).sum(axis=0)
            return dY * slope

        return 2 * X * W.data, backward

    return layer


# Memory that is shared -----------------------------------------------------------------------------------


@bug("backward remembers its own forward: Y: a later forward overwrote it: return a new array")
def output_is_always_the_same_array():
    out = {}

    def layer(X):
        Y = out.setdefault(X.shape, np.empty(X.shape))
        np.multiply(X, 3, out=Y)
        return Y, lambda dY: 3 * dY

    return layer


@bug("backward remembers its own forward: Y: a later forward overwrote it: return a new array")
def output_is_kept_on_the_layer():
    class Triple(Layer):
        out = None

        def forward(self, X):
            if self.out is None or self.out.shape != X.shape:
                self.out = np.empty(X.shape)
            self.out[...] = 3 * X
            return self.out, lambda dY: 3 * dY

    return Triple()


@bug("backward remembers its own forward: input X: a second call overwrote the first one's result")
def gradient_is_always_the_same_array():
    out = {}

    def slope(X, Y, dY):
        dX = out.setdefault(X.shape, np.empty(X.shape))
        return np.multiply(dY, 3, out=dX)

    return entrywise(lambda X: 3 * X, slope)


@bug("backward remembers its own forward: input X: a second call overwrote the first one's result")
def gradients_of_a_pass_are_one_array():
    def layer(X):
        dX = np.empty_like(X)
        return 3 * X, lambda dY: np.multiply(dY, 3, out=dX)

    return layer


@bug("backward remembers its own forward: input X: a second call overwrote the first one's result")
def gradient_is_summed_up_in_the_closure():
    def layer(X):
        dX = np.zeros_like(X)

        def backward(dY):
            dX[...] = 0
            dX[...] += 2 * X * dY
            return dX

        return X * X, backward

    return layer


# Tiny and huge -------------------------------------------------------------------------------------------


@bug("input X: 1.5 times too large")
def tiny_gradient_is_half_too_large():
    c = 1e-9
    return entrywise(lambda X: c * np.tanh(X), lambda X, Y, dY: 1.5 * c * dY * (1 - np.tanh(X) ** 2))


@bug("input X: all zero: no gradient arrives here")
def tiny_gradient_is_forgotten():
    return entrywise(lambda X: 1e-10 * X, lambda X, Y, dY: 0 * dY)


@bug("input X: the sign is flipped")
def tiny_gradient_points_the_wrong_way():
    return entrywise(lambda X: 1e-12 * X * X, lambda X, Y, dY: -2e-12 * X * dY)


@bug("input X: 2 times too small")
def huge_gradient_is_half():
    return entrywise(lambda X: 1e9 * X * X, lambda X, Y, dY: 1e9 * X * dY)


@bug("W: 5 times too small: 5 is the batch size")
def tiny_weight_gradient_is_a_mean():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            W.grad += 1e-9 * X.T @ dY / len(X)
            return 1e-9 * dY @ W.data.T

        return 1e-9 * X @ W.data, backward

    return layer


@bug("W: 2 times too large")
def tiny_inputs_hide_a_factor():
    W = Parameter(drawn(3, 7))

    def layer(X):
        Z = 1e-8 * X

        def backward(dY):
            W.grad += 2 * Z.T @ dY
            return 1e-8 * dY @ W.data.T

        return Z @ W.data, backward

    return layer


# Where every number is at a kink, or equals another ------------------------------------------------------


def maximum(axis, share):
    """Return a layer that takes the maximum along an axis; `share` makes dX from what is largest."""

    def layer(X):
        Y = X.max(axis=axis)
        largest = np.equal(X, np.expand_dims(Y, axis))
        return Y, lambda dY: share(largest, axis) * np.expand_dims(dY, axis)

    return layer


@bug("no comparison is possible; at nearby values: dY was returned unchanged", X=np.zeros((5, 3)))
def relu_of_zeros_hands_dY_on():
    return entrywise(relu, lambda X, Y, dY: dY * np.ones_like(X))


@bug("no comparison is possible; at nearby values: wrong only where it is negative", X=np.zeros((5, 3)))
def slope_of_the_absolute_value_of_zeros_is_never_negative():
    return entrywise(lambda X: np.where(X < 0, -2 * X, 3 * X), lambda X, Y, dY: 3.0 * dY.astype(X.dtype))


@bug("does each entry of a tie get the whole dY?", X=digits()[0][:5])
def each_entry_of_a_tie_on_digits_gets_all():
    return maximum(1, lambda largest, axis: largest)


@bug("does each entry of a tie get the whole dY?", X=np.array([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]]))
def each_entry_of_a_tie_gets_all():
    return maximum(1, lambda largest, axis: largest)


@bug("does each entry of a tie get the whole dY?", X=np.round(X))
def each_entry_of_a_tie_over_the_batch_gets_all():
    return maximum(0, lambda largest, axis: largest)


@bug("does each entry of a tie get the whole dY?", X=digits()[0][:2, 16:32])
def first_entry_of_a_tie_gets_nothing():
    first = lambda largest, axis: np.cumsum(largest, axis) == 1  # noqa: E731
    return maximum(
        1, lambda largest, axis: largest & ~(first(largest, axis) & (largest.sum(1, keepdims=True) > 1))
    )


# Parameters that nobody finds ----------------------------------------------------------------------------


@bug("parameters() finds every parameter: a Parameter of shape (3,): not found")
def parameter_is_an_attribute_of_the_class():
    class Scale(Layer):
        W = Parameter(drawn(3))

        def forward(self, X):
            def backward(dY):
                self.W.grad += (X * dY).sum(axis=0)
                return dY * self.W.data

            return X * self.W.data, backward

    return Scale()


@bug("parameters() finds every parameter: a Parameter of shape (3,): not found")
def parameter_is_a_global_of_a_helper():
    class Scale(Layer):
        def forward(self, X):
            return self.scaled(X)

        def scaled(self, X):
            def backward(dY):
                W_HIDDEN.grad += (X * dY).sum(axis=0)
                return dY * W_HIDDEN.data

            return X * W_HIDDEN.data, backward

    return Scale()


W_HIDDEN = Parameter(drawn(3))


@bug("parameters() finds every parameter: b: not found")
def parameters_lists_only_one():
    class Line(Layer):
        def __init__(self):
            self.W, self.b = Parameter(drawn(3, 7)), Parameter(drawn(7))

        def parameters(self):
            return [self.W]

        def forward(self, X):
            def backward(dY):
                self.W.grad += X.T @ dY
                self.b.grad += dY.sum(axis=0)
                return dY @ self.W.data.T

            return X @ self.W.data + self.b.data, backward

    return Line()


@bug("parameters() finds every parameter: a Parameter of shape (3,): not found")
def parameter_is_in_an_array_of_objects():
    weights = np.empty(1, dtype=object)
    weights[0] = Parameter(drawn(3))

    def layer(X):
        def backward(dY):
            weights[0].grad += (X * dY).sum(axis=0)
            return dY * weights[0].data

        return X * weights[0].data, backward

    return layer


# A tuple of outputs --------------------------------------------------------------------------------------


@bug("input X: 2 times too small")
def both_outputs_forget_the_two():
    return lambda X: ((X * X, X * X + 1), lambda dY: X * dY[0] + X * dY[1])


@bug("outputs send nothing back")
def second_output_sends_nothing_back():
    return lambda X: ((X * X, 3 * X), lambda dY: 2 * X * dY[0])


@bug("right numbers, wrong places")
def outputs_are_exchanged():
    return lambda X: ((2 * X, 3 * X), lambda dY: 3 * dY[0] + 2 * dY[1])


@bug("backward leaves dY alone")
def first_gradient_is_written_into():
    def layer(X):
        def backward(dY):
            first, second = dY
            first += second
            return first.copy()

        return (X.copy(), X.copy()), backward

    return layer


# More slips of the pen -----------------------------------------------------------------------------------


@bug("1.571 times too small")
def sine_of_a_half_turn_forgets_pi_halves():
    return entrywise(lambda X: np.sin(X * (np.pi / 2)), lambda X, Y, dY: dY * np.cos(X * (np.pi / 2)))


@bug("wrong only where it is positive")
def steep_side_is_less_steep_on_the_way_back():
    return entrywise(
        lambda X: np.where(X > 0, 3 * X, X), lambda X, Y, dY: dY * (1.0 + (X > 0)).astype(X.dtype)
    )


@bug("2 times too large")
def sum_of_squares_counts_twice():
    return lambda X: ((X * X).sum(axis=1), lambda dY: 4 * X * dY[:, None])


@bug("wrong only at index 0, 2 of axis 1")
def columns_are_exchanged():
    return lambda X: (X * [1.0, 2.0, 3.0], lambda dY: dY * [3.0, 2.0, 1.0])


@bug("the path around the layer is missing: add dY")
def residual_square_forgets_the_path_around():
    return entrywise(lambda X: X + X * X, lambda X, Y, dY: 2 * X * dY)


@bug("the gradient through each row's mean is missing")
def centred_rows_take_their_mean_for_a_constant():
    return lambda X: (2 * (X - X.mean(axis=1, keepdims=True)), lambda dY: 2 * dY)


@bug("5 times too small: 5 is the batch size")
def mean_over_the_batch_is_divided_twice():
    return lambda X: (X.mean(axis=0), lambda dY: np.tile(dY, (5, 1)) / 25)


@bug("the second call failed: AttributeError")
def memory_is_deleted_after_use():
    class Memory:
        pass

    def layer(X):
        memory = Memory()
        memory.X = X

        def backward(dY):
            dX = 2 * memory.X * dY
            del memory.X
            return dX

        return X * X, backward

    return layer


@bug("the second call failed: RuntimeError: backward was called before")
def backward_refuses_a_second_call():
    def layer(X):
        done = []

        def backward(dY):
            if done:
                raise RuntimeError("backward was called before")
            done.append(1)
            return 2 * X * dY

        return X * X, backward

    return layer


@bug("backward leaves dY alone: dY: changed, work on a copy")
def gradient_is_shrunk_in_place():
    W = Parameter(drawn(3, 7))

    def layer(X):
        def backward(dY):
            dY *= 0.9
            W.grad += X.T @ dY
            return dY @ W.data.T

        return X @ W.data, backward

    return layer
