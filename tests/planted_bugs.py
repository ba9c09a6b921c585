"""A museum of planted bugs: layers with one mistake each, and words that the diagnosis must contain.

Sizes are distinct primes, so that a wrong factor names itself: batch 5, inputs 3, outputs 7. Words are None
where no more than a general sentence ("wrong values") is expected.
"""

from typing import NamedTuple

import numpy as np

from minigrad.parameter import Parameter


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


# Linear: Y = X @ W + b ------------------------------------------------------------------------------------


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


@bug("a matrix inside is")
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


@bug("W: transposed: shape (7, 3) instead of (3, 7)")
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


@bug("b: not summed over the batch: add .sum(axis=0)")
def linear_bias_gradient_not_summed():
    return linear(db=lambda X, W, dY: dY, add=False)


@bug("b: right numbers in a wrong shape: shape (1, 7) instead of (7,)")
def linear_bias_gradient_keeps_dimensions():
    return linear(db=lambda X, W, dY: dY.sum(axis=0, keepdims=True), add=False)


@bug("b: summed over every axis")
def linear_bias_gradient_is_one_number():
    return linear(db=lambda X, W, dY: dY.sum())


@bug("W: all zero: nothing arrives here")
def linear_weight_gradient_forgotten():
    return linear(dW=lambda X, W, dY: 0.0)


@bug("input X: all zero: nothing arrives here")
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


@bug("each output misses a factor, and that factor is 1 - Y²")
def tanh_of_linear_forgets_the_tanh():
    W = Parameter(drawn(3, 7) / 2)

    def layer(X):
        Y = np.tanh(X @ W.data)

        def backward(dY):
            W.grad += X.T @ (dY * (1 - Y * Y))
            return dY @ W.data.T

        return Y, backward

    return layer


# Entry by entry: Y = f(X) ---------------------------------------------------------------------------------


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


@bug("dY came back unchanged")
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


# Rows: softmax and the norms ------------------------------------------------------------------------------


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


@bug("dY came back unchanged")
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


@bug("each output misses a factor, and that factor is gain", X=WIDE)
def layer_norm_forgets_its_gain():
    return norm(dX=lambda dY, Z, sigma: centred(dY, Z) / sigma)


@bug("input X: each row is off by a factor of its own", X=WIDE)
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


@bug("each row is off by a factor of its own", X=WIDE)
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


# Layers made of layers ------------------------------------------------------------------------------------


@bug("the path around the layer is missing: add dY")
def residual_forgets_the_path_around():
    return entrywise(lambda X: X + np.tanh(X), lambda X, Y, dY: dY * (1 - np.tanh(X) ** 2))


@bug("dY came back unchanged")
def residual_forgets_the_path_through():
    return entrywise(lambda X: X + np.tanh(X), lambda X, Y, dY: dY)


@bug("dY is added on top")
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


@bug("wrong only at index 1 of axis 0: named twice in X? use np.add.at", X=np.array([1, 2, 1, 5, 6]))
def embedding_counts_repeated_rows_once():
    def add(table, ids, dY):
        table.grad[ids] += dY

    return embedding(add)


@bug("overwritten, use += instead of =", X=np.array([0, 2, 1, 5, 6]))
def embedding_overwrites_its_rows():
    def add(table, ids, dY):
        table.grad[ids] = dY

    return embedding(add)


# Reductions and shapes ------------------------------------------------------------------------------------


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


@bug("a second call gave another answer")
def dropout_draws_again_on_the_way_back():
    random = np.random.default_rng(3)

    def layer(X):
        mask = random.uniform(size=X.shape) < 0.8
        return X * mask, lambda dY: dY * (random.uniform(size=X.shape) < 0.8)

    return layer


# Losses ---------------------------------------------------------------------------------------------------


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


# The rules ------------------------------------------------------------------------------------------------


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


@bug("a later forward changed its answer")
def rule_8_input_kept_on_self():
    class Square:
        def __call__(self, X):
            self.X = X
            return X * X, self.backward

        def backward(self, dY):
            return 2 * self.X * dY

    return Square()


@bug("a later forward changed its answer")
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


@bug("a second call gave another answer")
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
