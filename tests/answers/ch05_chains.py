"""Answers to the exercises of chapter 05: right ones, and those that a check refuses in its own words."""

from copy import deepcopy
from functools import reduce

import numpy as np

from course.checks.ch05_chains import (
    Gate,
    chain_all,
    gate,
    one_layer_two_places,
    row,
    row_with,
    sandwich,
    sigmoid,
    softplus,
    through,
)
from course.checks.questions import by_nudging
from minigrad.layer import Layer, Sequential
from minigrad.layers.combinators import chain
from tests.answers import refused, right

right(one_layer_two_places)(lambda: (18, 9, 12))


@right(one_layer_two_places)
def by_the_formula():
    w, X = 3.0, 2.0
    return [w**2 * X, w**2, 2 * w * X]


right(row)(row_with(lambda backwards, dY: through(backwards[::-1], dY)))


@right(row)
def by_index(layers):
    def forward(X):
        backwards = []
        for layer in layers:
            X, layer_backward = layer(X)
            backwards.insert(0, layer_backward)

        def backward(dY):
            for place in range(len(backwards)):
                dY = backwards[place](dY)
            return dY

        return X, backward

    return forward


@right(row)
def as_nested_chains(layers):
    return reduce(chain, layers)


@refused(row, "keeps what it needs in local variables of that call")
def one_list_for_all_calls(layers):
    last = {}

    def forward(X):
        last["backwards"] = []
        for layer in layers:
            X, layer_backward = layer(X)
            last["backwards"].append(layer_backward)

        def backward(dY):
            for layer_backward in reversed(last["backwards"]):
                dY = layer_backward(dY)
            return dY

        return X, backward

    return forward


@refused(row, "it changes the list layers, which belongs to its caller")
def empties_the_callers_list(layers):
    own = []
    while layers:
        own.append(layers.pop(0))
    return as_nested_chains(own)


@refused(row, "it changes the list layers, which belongs to its caller")
def shortens_a_long_list(layers):
    forward = as_nested_chains(list(layers))
    del layers[5:]
    return forward


@right(chain_all)
def with_reduce(*layers):
    return reduce(chain, layers, lambda X: (X, lambda dY: dY))


@right(chain_all)
def by_calling_itself(*layers):
    if not layers:
        return lambda X: (X, lambda dY: dY)
    first, *others = layers
    return chain(first, by_calling_itself(*others))


@right(chain_all)
def as_a_sequential(*layers):
    return Sequential(*layers)


@refused(chain_all, "without any layer, it raises TypeError: reduce() of empty iterable")
def reduce_without_a_beginning(*layers):
    return reduce(chain, layers)


@refused(chain_all, "with one layer, it raises IndexError")
def two_at_least(*layers):
    whole = chain(layers[0], layers[1])
    for layer in layers[2:]:
        whole = chain(whole, layer)
    return whole


@refused(chain_all, "passes dY on as it is: dX is not all ones")
def ones_without_layers(*layers):
    return reduce(chain, layers) if layers else lambda X: (X, np.ones_like)


@refused(chain_all, "chain_all must return a layer, a function X -> (Y, backward)")
def nothing_returned(*layers):
    reduce(chain, layers, lambda X: (X, lambda dY: dY))


@right(gate)
class AsAProduct(Layer):
    def __init__(self, inside):
        self.inside = inside

    def forward(self, X):
        F, back = self.inside(X)
        return np.multiply(F, X), lambda dY: sum([F * dY, back(X * dY)])


@right(gate)
class InTwoSteps(Layer):
    def __init__(self, layer):
        self.parts = [layer]

    def forward(self, X):
        (layer,) = self.parts
        F, backward_F = layer(X)

        def backward(dY):
            dF, dX = dY * X, dY * F
            return dX + backward_F(dF)

        return X * F, backward


@refused(gate, "parameters() does not find those of the layer inside")
class CopiesTheLayer(Gate):
    def __init__(self, layer):
        self.layer = deepcopy(layer)

    def back(self, X, F, dY, backward_F):
        return dY * F + backward_F(dY * X)


@refused(gate, "not found, make it an attribute of the layer")
class HidesTheLayer(Gate):
    def __init__(self, layer):
        self.hidden = np.array([layer], dtype=object)

    def forward(self, X):
        F, backward_F = self.hidden[0](X)
        return X * F, lambda dY: dY * F + backward_F(dY * X)


@refused(gate, "for a layer that draws random numbers in each call, dX[")
class CallsTheLayerAgain(Gate):
    def back(self, X, F, dY, backward_F):
        F, backward_F = self.layer(X)
        return dY * F + backward_F(dY * X)


@refused(gate, "nudging that entry says")
class DividesYByX(Gate):
    def back(self, X, F, dY, backward_F):
        F = np.divide(X * F, X, out=np.zeros_like(X), where=X != 0)
        return dY * F + backward_F(dY * X)


@right(gate)
class AddsToItsOwnGradient(Gate):
    def back(self, X, F, dY, backward_F):
        dX = backward_F(dY * X)
        dX += dY * F
        return dX


@refused(gate, "Each gate must keep its own layer: in an attribute of self, not of the class")
class KeepsTheLayerInTheClass(Layer):
    def __init__(self, layer):
        type(self).layer = layer

    def forward(self, X):
        F, backward_F = self.layer(X)
        return X * F, lambda dY: dY * F + backward_F(dY * X)


@refused(gate, "in another pass, with zeros in X, Y[")
class RunsOnceForEachShape(Gate):
    def __init__(self, layer):
        self.layer, self.seen = layer, {}

    def forward(self, X):
        if X.shape not in self.seen:
            self.seen[X.shape] = self.layer(X)
        F, backward_F = self.seen[X.shape]
        return X * F, lambda dY: dY * F + backward_F(dY * X)


@refused(gate, "with a plain function inside, dX[0, 1] is 0")
class NothingWhereFIsZero(Gate):
    def back(self, X, F, dY, backward_F):
        return np.where(F == 0, 0.0, dY * F + backward_F(dY * X))


@refused(gate, "forward calls the layer's backward, which adds to its gradients")
class CallsBackInForward(Gate):
    def forward(self, X):
        F, backward_F = self.layer(X)
        slope = backward_F(np.ones_like(X))
        return X * F, lambda dY: dY * F + backward_F(dY * X) + 0 * slope


@refused(gate, "backward calls the layer's backward 2 times")
class CallsBackTwice(Gate):
    def back(self, X, F, dY, backward_F):
        backward_F(dY * X)
        return dY * F + backward_F(dY * X)


@right(sandwich)
def with_chains(bread, filling):
    return chain(chain(bread, filling), bread)


@refused(sandwich, "bread ran 4 times in one pass")
def one_run_for_each_result(bread, filling):
    def forward(X):
        H, back_1 = bread(X)[0], bread(X)[1]
        A, back_2 = filling(H)
        Y, back_3 = bread(A)[0], bread(A)[1]
        return Y, lambda dY: back_1(back_2(back_3(dY)))

    return forward


@right(sandwich)
def in_steps(bread, filling):
    def forward(X):
        H, back_1 = bread(X)
        A, back_2 = filling(H)
        Y, back_3 = bread(A)

        def backward(dY):
            dA = back_3(dY)
            dH = back_2(dA)
            return back_1(dH)

        return Y, backward

    return forward


@refused(softplus, "for X = [0, 1000, -1000, 2], Y[2] is")
def one_branch_for_all(X):
    Y = X + np.log1p(np.exp(-np.maximum(X, 0))) if np.max(X) > 500 else np.logaddexp(0, X)
    return Y, lambda dY: dY * sigmoid(X)


@refused(softplus, "for X = [7, -7, 14, -14], Y[0] is")
def cut_off_too_early(X):
    return np.where(X > 6, X, np.logaddexp(0, X)), lambda dY: dY * sigmoid(X)


@refused(softplus, "for X = [7, -7, 14, -14] and dY of ones, dX[0] is")
def slope_cut_off_too_early(X):
    return np.logaddexp(0, X), lambda dY: dY * np.where(X > 6, 1.0, sigmoid(X))


@right(softplus)
def with_logaddexp(X):
    return np.logaddexp(0, X), lambda dY: sigmoid(X) * dY


@right(softplus)
def on_two_sides(X):
    small = np.exp(-np.abs(X))
    Y = np.where(X > 0, X, 0.0) + np.log(1 + small)

    def backward(dY):
        return dY * np.where(X > 0, 1 / (1 + small), small / (1 + small))

    return Y, backward


@right(softplus)
def entry_by_entry(X):
    Y, slope = np.zeros_like(X), np.zeros_like(X)
    for place in np.ndindex(X.shape):
        x = X[place]
        Y[place] = x + np.log1p(np.exp(-x)) if x > 0 else np.log1p(np.exp(x))
        slope[place] = 1 / (1 + np.exp(-x)) if x > 0 else np.exp(x) / (1 + np.exp(x))
    return Y, lambda dY: dY * slope


@refused(softplus, "NumPy would warn in the forward pass: overflow encountered in exp")
def straight_from_the_formula(X):
    return np.log(1 + np.exp(X)), lambda dY: dY * np.exp(X) / (1 + np.exp(X))


@refused(softplus, "NumPy would warn in the backward pass: overflow encountered in exp")
def safe_value_only(X):
    return np.logaddexp(0, X), lambda dY: dY / (1 + np.exp(-X))


@refused(softplus, "for X = [1000], Y[0] is 700, it must be 1000")
def clipped(X):
    X = np.clip(X, -700, 700)
    return np.log(1 + np.exp(X)), lambda dY: dY * np.exp(X) / (1 + np.exp(X))


refused(softplus, "they are found by nudging, and a formula is asked for")(
    lambda X: by_nudging(lambda X: np.logaddexp(0, X), X)
)


@refused(softplus, "for X = [1000] NumPy would warn in the forward pass: overflow encountered in exp")
def chosen_afterwards(X):
    Y = np.where(X > 0, X + np.log1p(np.exp(-X)), np.log1p(np.exp(X)))
    return Y, lambda dY: dY * sigmoid(X)


@refused(softplus, "It is wrong exactly where X is negative")
def X_on_both_sides(X):
    return X + np.log1p(np.exp(-np.abs(X))), lambda dY: dY * sigmoid(X)
