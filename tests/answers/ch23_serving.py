"""Answers to the exercises of chapter 23: right ones, and those that a check refuses in its own words."""

import copy
import pickle
import sys
import threading
from math import comb, factorial

import numpy as np

from course.checks.ch23_serving import (
    Gate,
    WithRooms,
    answer_all,
    count_orders,
    exchanged,
    gate,
    in_bundles,
    sorting_out,
    who_is_wrong,
    witness,
)
from minigrad.beyond.sharing import replica
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import Sigmoid
from minigrad.parameter import Parameter
from tests.answers import refused, right

# 1. who comes back wrong


right(who_is_wrong)(lambda: [2, 0, 3, 0, 2])


right(who_is_wrong)(lambda: np.array([3 - 1, 3 - 3, 3 - 0, 3 - 3, 3 - 1]))


# 2. how many orders


@right(count_orders)
def by_factorials(n):
    return factorial(2 * n) // 2**n, factorial(n)


@right(count_orders)
def by_places(n):
    every = 1
    for callers in range(n):
        every *= comb(2 * (n - callers), 2)  # the two places of the next caller
    return every, factorial(n)


@right(count_orders)
def one_caller_more(n):
    if n == 1:
        return 1, 1
    every, alone = one_caller_more(n - 1)
    return every * n * (2 * n - 1), alone * n


@refused(count_orders, "it must return all orders and those in which nobody meets, but returned a list of 1")
def a_list_up_to_n(n):
    return [by_factorials(callers) for callers in range(1, n + 1)]


@refused(count_orders, "divide whole numbers with //")
def by_floats(n):
    return factorial(2 * n) / 2**n, factorial(n)


# 3. a witness against a layer


right(witness)(lambda: (np.arange(6.0).reshape(2, 3), np.ones((2, 3)), "BAAB"))


right(witness)(lambda: (np.array([[3], [4]]), np.array([[5], [6]]), "ABBA"))


right(witness)(lambda: (np.ones((1, 2)), 2 * np.ones((1, 3)), "ABAB"))


refused(witness, "One is done before the other begins: let both go forward before one comes back")(
    lambda: (np.array([[1.0]]), np.array([[2.0]]), "AABB")
)


refused(witness, "They use two drawers: give both the same number of rows")(
    lambda: (np.ones((1, 2)), 2 * np.ones((3, 2)), "ABAB")
)


refused(witness, "Both bring the same, so whose input is taken back makes no difference")(
    lambda: (np.ones((2, 2)), np.ones((2, 2)), "ABAB")
)


refused(witness, "Their squares are equal, so the slope is the same for both")(
    lambda: (np.ones((2, 2)), -np.ones((2, 2)), "ABBA")
)


refused(witness, "the order must be a text with two A and two B")(
    lambda: (np.array([[1.0]]), np.array([[2.0]]), "AB")
)


refused(witness, "X_of_A must hold numbers, but is an array of bool")(
    lambda: (np.array([[True]]), np.array([[False]]), "ABAB")
)


refused(witness, "X_of_A must be an array (batch, width), but is empty: its shape is (0, 1)")(
    lambda: (np.ones((0, 1)), np.ones((0, 1)), "ABAB")
)


refused(witness, "X_of_A must be an array (batch, width), but is a float")(lambda: (1.0, 2.0, "ABAB"))


# 4. a layer with too many memories


@right(gate)
class WithAMethod(Gate):
    pass


@right(gate)
class WithTanh(Layer):
    def __init__(self, width):
        self.w = Parameter(np.ones(width))

    def forward(self, X):
        S = 0.5 * (1 + np.tanh(0.5 * X))
        Y = np.empty_like(S)
        np.multiply(S, self.w.data, out=Y)

        def backward(dY):
            self.w.grad += np.einsum("bi,bi->i", dY, S)
            return dY * (self.w.data * (S - S * S))

        return Y, backward


@right(gate)
class OfLayers(Layer):
    def __init__(self, width):
        self.w, self.sigmoid = Parameter(np.ones(width)), Sigmoid()

    def forward(self, X):
        S, through = self.sigmoid(X)

        def backward(dY):
            self.w.grad += (dY * S).sum(axis=0)
            return through(dY * self.w.data)

        return S * self.w.data, backward


@refused(gate, "the Y that A was given has changed")
class AsItWas(WithRooms):
    def forward(self, X):
        self.S = 1 / (1 + np.exp(-X))
        return self.result(self.S), lambda dY: self.back(self.S, dY)


@refused(gate, "forward writes to self.S, which all calls share: another thread can come between")
class ThereAndBack(Gate):
    def forward(self, X):
        self.S = 1 / (1 + np.exp(-X))
        S = self.S
        return self.S * self.w.data, lambda dY: self.back(S, dY)


@refused(gate, "forward writes to self.rooms, which all calls share")
class CopiesTheRoom(WithRooms):
    def result(self, S):
        return super().result(S).copy()


@refused(gate, "forward writes to self.n and self.S, which all calls share")
class WithANumber(Gate):
    def __init__(self, width):
        super().__init__(width)
        self.n, self.S = 0, {}

    def forward(self, X):
        self.n += 1
        number = self.n
        self.S[number] = 1 / (1 + np.exp(-X))
        return self.S[number] * self.w.data, lambda dY: self.back(self.S[number], dY)


@refused(gate, "forward writes to self.S, which all calls share")
class ByIdentity(Gate):
    def __init__(self, width):
        super().__init__(width)
        self.S = {}

    def forward(self, X):
        self.S[id(X)] = S = 1 / (1 + np.exp(-X))
        return S * self.w.data, lambda dY: self.back(S, dY)


@refused(gate, "forward writes to self.last, which all calls share")
class ShowsTheLast(Gate):
    def forward(self, X):
        self.last = S = 1 / (1 + np.exp(-X))
        return S * self.w.data, lambda dY: self.back(S, dY)


@refused(gate, "backward writes to self.dX, which all calls share")
class WritesOnTheWayBack(Gate):
    def back(self, S, dY):
        self.dX = super().back(S, dY)
        return self.dX


@refused(gate, "self.lock holds a lock: none is needed here")
class WithALock(Gate):
    def __init__(self, width):
        super().__init__(width)
        self.lock = threading.Lock()

    def back(self, S, dY):
        with self.lock:
            return super().back(S, dY)


class _Shared(Gate):
    """A gate that writes to something outside of it."""

    ROOM = {}


@refused(gate, "forward writes to self.ROOM, which all calls share")
class RoomOnTheClass(_Shared):
    def result(self, S):
        return np.multiply(S, self.w.data, out=self.ROOM.setdefault(S.shape, np.zeros(S.shape))).copy()


@refused(gate, "forward writes to self.ROOM, which all calls share")
class MemoryOnTheClass(_Shared):
    def forward(self, X):
        self.ROOM["S"] = 1 / (1 + np.exp(-X))
        S = self.ROOM["S"]
        return S * self.w.data, lambda dY: self.back(S, dY)


ROOM = {}
OUTSIDE = "a thread that comes in between two steps of another one changes its"


@refused(gate, OUTSIDE)
class RoomOfTheNotebook(Gate):
    def forward(self, X):
        ROOM["S"] = 1 / (1 + np.exp(-X))
        S = ROOM["S"]
        return S * self.w.data, lambda dY: self.back(S, dY)


@refused(gate, OUTSIDE)
class RoomOfAFunction(Gate):
    def forward(self, X):
        RoomOfAFunction.forward.S = 1 / (1 + np.exp(-X))
        S = RoomOfAFunction.forward.S
        return S * self.w.data, lambda dY: self.back(S, dY)


@refused(gate, OUTSIDE)
class RoomOfADefault(Gate):
    def result(self, S, room=[None]):  # noqa: B006  the mistake
        room[0] = S * self.w.data
        return room[0]


def _with_a_cell():
    S = None

    class RoomOfACell(Gate):
        def back(self, mine, dY):
            nonlocal S
            S = mine
            self.w.grad += (dY * S).sum(axis=0)
            return dY * self.w.data * S * (1 - S)

    return RoomOfACell


refused(gate, OUTSIDE)(_with_a_cell())


@refused(gate, OUTSIDE)
class RoomOfAHelper(Gate):
    def result(self, S):
        return _product(S, self.w.data)


def _product(S, w):
    """Return a product by way of one array for all."""
    Y = ROOM.setdefault(S.shape, np.zeros(S.shape))
    np.multiply(S, w, out=Y)
    return Y.copy()


LOCK = threading.RLock()


@refused(gate, "another one has to wait: no lock is needed")
class LockOfTheNotebook(Gate):
    def forward(self, X):
        with LOCK:
            return super().forward(X)


@refused(gate, "it keeps other callers out by means of Python's own tracing or frames")
class WithoutASpectator(Gate):
    def forward(self, X):
        sys.settrace(None)
        return super().forward(X)


@refused(gate, "it changes X, which belongs to its caller")
class WritesIntoX(Gate):
    def forward(self, X):
        np.divide(1, 1 + np.exp(-X), out=X)
        return X * self.w.data, lambda dY: self.back(X, dY)


@refused(gate, "it changes dY, which belongs to its caller")
class WritesIntoTheGradient(Gate):
    def back(self, S, dY):
        self.w.grad += (dY * S).sum(axis=0)
        dY *= self.w.data * S * (1 - S)
        return dY


@refused(gate, "the S of backward has w in it already")
class OneArray(Gate):
    def result(self, S):
        S *= self.w.data
        return S


@refused(gate, "keep S from the forward pass")
class ComputesTwice(Gate):
    def forward(self, X):
        def sigmoid():
            return 1 / (1 + np.exp(-X))

        return sigmoid() * self.w.data, lambda dY: self.back(sigmoid(), dY)


@refused(gate, "overwritten, use += instead of =")
class Assigns(Gate):
    def back(self, S, dY):
        self.w.grad = (dY * S).sum(axis=0)
        return dY * self.w.data * S * (1 - S)


# 5. a whole new model


def _refuse(parameters, weights):
    """Raise ValueError if names or shapes do not fit."""
    for name in {**parameters, **weights}:
        if name not in weights or name not in parameters or weights[name].shape != parameters[name].shape:
            raise ValueError(f"{name} does not fit.")


@right(exchanged)
def copies_then_fills(model, weights):
    _refuse(model.named_parameters(), weights)
    fresh = copy.deepcopy(model)
    for name, part in fresh.named_parameters().items():
        part.data[...] = weights[name]
    return fresh


@right(exchanged)
def with_a_memo(model, weights):
    parameters = model.named_parameters()
    _refuse(parameters, weights)
    memo = {id(part.data): weights[name].copy() for name, part in parameters.items()}
    return copy.deepcopy(model, memo)


@refused(exchanged, "it returns the old model itself")
def in_place(model, weights):
    parameters = model.named_parameters()
    _refuse(parameters, weights)
    for name, part in parameters.items():
        part.data[...] = weights[name]
    return model


@refused(exchanged, "the old model has changed")
def a_new_array_in_the_old_model(model, weights):
    parameters = model.named_parameters()
    _refuse(parameters, weights)
    for name, part in parameters.items():
        part.data = weights[name].copy()
    return copy.deepcopy(model)


@refused(exchanged, "the new model's layers.0.W.data shares its memory with the old model's layers.0.W.data")
def by_a_replica(model, weights):
    fresh = replica(model)  # shares the arrays
    _refuse(fresh.named_parameters(), weights)
    for name, part in fresh.named_parameters().items():
        part.data[...] = weights[name]
    return fresh


@refused(exchanged, "the old model's gradients have changed")
def sets_the_old_gradients_to_zero(model, weights):
    model.zero_grad()
    return copies_then_fills(model, weights)


@refused(exchanged, "it changes weights, which belongs to its caller")
def empties_the_dict(model, weights):
    fresh = copies_then_fills(model, weights)
    weights.clear()
    return fresh


@refused(exchanged, "the new model's layers.0.W.data shares its memory with the given layers.0.W: it needs")
def keeps_the_arrays(model, weights):
    fresh = copy.deepcopy(model)
    _refuse(fresh.named_parameters(), weights)
    for name, part in fresh.named_parameters().items():
        part.data = weights[name]
    return fresh


@refused(exchanged, "the new model's layers.0.W.grad shares its memory with the old model's layers.0.W.grad")
def shares_the_gradients(model, weights):
    _refuse(model.named_parameters(), weights)
    fresh = copy.deepcopy(model, {id(part.grad): part.grad for part in model.parameters()})
    for name, part in fresh.named_parameters().items():
        part.data = weights[name].copy()
    return fresh


@refused(exchanged, "is missing: it must raise a ValueError, but raises KeyError")
def without_looking(model, weights):
    fresh = copy.deepcopy(model)
    for name, part in fresh.named_parameters().items():
        part.data = weights[name].copy()
    return fresh


@refused(exchanged, "is missing, and no ValueError is raised")
def only_what_came(model, weights):
    fresh = copy.deepcopy(model)
    for name, part in fresh.named_parameters().items():
        part.data = np.array(weights.get(name, part.data))
    return fresh


@refused(exchanged, "layers.4.W is not a Parameter of the model, and no ValueError is raised")
def too_many_are_fine(model, weights):
    fresh = copy.deepcopy(model)
    for name, part in fresh.named_parameters().items():
        if name not in weights:
            raise ValueError(f"{name} is missing")
        part.data = weights[name].copy()
    return fresh


@refused(exchanged, "and the message of the error does not name it")
def refuses_without_a_name(model, weights):
    parameters = model.named_parameters()
    if parameters.keys() != weights.keys():
        raise ValueError("these weights are of another model")
    return copies_then_fills(model, weights)


@refused(exchanged, "it must return a model, but returned nothing")
def returns_nothing(model, weights):
    copies_then_fills(model, weights)


@right(exchanged)
def through_a_file(model, weights):
    """Its gradients and weights are made anew."""
    _refuse(model.named_parameters(), weights)
    fresh = pickle.loads(pickle.dumps(model))
    for name, array in weights.items():
        np.copyto(fresh.named_parameters()[name].data, array)
    fresh.zero_grad()
    return fresh


@refused(exchanged, "shares its memory with its own layers.0.W.data: it needs one of its own")
def one_array_for_both(model, weights):
    fresh = copies_then_fills(model, weights)
    for part in fresh.parameters():
        part.grad = part.data
    return fresh


@refused(exchanged, "the dict may be in any order")
def in_the_order_of_the_dict(model, weights):
    fresh = copies_then_fills(model, weights)
    for part, array in zip(fresh.parameters(), weights.values(), strict=True):
        part.data = array.copy()
    return fresh


@refused(exchanged, "the dict may be in any order")
def in_the_order_of_the_names(model, weights):
    return in_the_order_of_the_dict(model, dict(sorted(weights.items())))


TWINS = {}


@refused(exchanged, "it returns the same new model in two exchanges of one model")
def one_twin_for_each_kind_of_model(model, weights):
    _refuse(model.named_parameters(), weights)
    fresh = TWINS.setdefault(repr(model), copy.deepcopy(model))
    for name, part in fresh.named_parameters().items():
        part.data[...] = weights[name]
    return fresh


@refused(
    exchanged, "and it raises KeyError: 'layers.4.W'; the dict may be in any order, and a layer in two places"
)
def place_by_place(model, weights):
    fresh = copies_then_fills(model, weights)
    for place, layer in enumerate(fresh.layers):
        for name, part in layer.named_parameters().items():
            part.data = weights[f"layers.{place}.{name}"].copy()
    return fresh


@refused(exchanged, "the new model has a layers.4.W of its own: a layer in two places must be one layer")
def layer_by_layer(model, weights):
    _refuse(model.named_parameters(), weights)
    fresh = Sequential(*map(copy.deepcopy, model.layers))
    for name, part in fresh.named_parameters().items():
        part.data = weights.get(name, part.data).copy()
    return fresh


@refused(exchanged, "a Buffer of the new model has other numbers: only the Parameters get new ones")
def averages_begin_again(model, weights):
    fresh = copies_then_fills(model, weights)
    for part in fresh.buffers():
        part.data = np.ones(part.shape)
    return fresh


@refused(exchanged, "layers.10.W has shape (7, 1), and no ValueError is raised")
def compares_lengths(model, weights):
    fresh = copies_then_fills(model, {name: part.data for name, part in model.named_parameters().items()})
    parameters = fresh.named_parameters()
    for name in parameters.keys() | weights.keys():
        if name not in parameters or len(weights.get(name, "")) != len(parameters[name].data):
            raise ValueError(f"{name} does not fit")
        parameters[name].data[...] = weights[name]
    return fresh


@refused(exchanged, "layers.10.b is missing and layers.10.c has come instead, and no ValueError is raised")
def counts_the_names(model, weights):
    parameters = model.named_parameters()
    if len(parameters) == len(weights):
        weights = {name: weights.get(name, part.data) for name, part in parameters.items()}
    return copies_then_fills(model, weights)


# 6. bundles


@right(answer_all)
def bundles_first(model, questions, most):
    bundles, answers = [], [None] * len(questions)
    for place, question in enumerate(questions):
        if np.isfinite(question).all():
            if not bundles or sum(len(questions[k]) for k in bundles[-1]) + len(question) > most:
                bundles.append([])
            bundles[-1].append(place)
    for bundle in bundles:
        Y = model.predict(np.vstack([questions[place] for place in bundle]))
        for place in bundle:
            answers[place], Y = Y[: len(questions[place])], Y[len(questions[place]) :]
    return answers


@right(answer_all)
def good_ones_first(model, questions, most):
    good = [question for question in questions if np.isfinite(question).all()]
    answers = iter(in_bundles(model, good, lambda rows, more: rows + more <= most))
    return [next(answers) if np.isfinite(question).all() else None for question in questions]


@refused(
    answer_all,
    "the model is called with 4 bundles of 2, 2, 1, 3 rows, but must be called with 2 bundles of 4, 4 rows",
)
@sorting_out
def one_by_one(model, questions, most):
    return [model.predict(question) for question in questions]


@refused(answer_all, "question 1 goes to the model after question 2: bundles keep the order of the questions")
@sorting_out
def where_there_is_room(model, questions, most):
    bundles, answers = [], [None] * len(questions)
    for place, question in enumerate(questions):
        for bundle in bundles:
            if sum(len(questions[k]) for k in bundle) + len(question) <= most:
                bundle.append(place)
                break
        else:
            bundles.append([place])
    for bundle in bundles:
        Y = model.predict(np.concatenate([questions[place] for place in bundle]))
        for place in bundle:
            answers[place], Y = Y[: len(questions[place])], Y[len(questions[place]) :]
    return answers


@refused(answer_all, "bundles keep the order of the questions, and a closed bundle stays closed")
@sorting_out
def sorted_by_length(model, questions, most):
    order = sorted(range(len(questions)), key=lambda place: len(questions[place]))
    answers = iter(in_bundles(model, [questions[k] for k in order], lambda rows, more: rows + more <= most))
    answers_by_place = dict(zip(order, answers, strict=False))
    return [answers_by_place[place] for place in range(len(questions))]


@refused(
    answer_all, "the model is given a question that is not finite, and refuses the whole bundle: leave it out"
)
def spoiled_by_one(model, questions, most):
    return in_bundles(model, questions, lambda rows, more: rows + more <= most)


@refused(answer_all, "it must return a list of 5, got")
def leaves_out_the_spoiled(model, questions, most):
    good = [question for question in questions if np.isfinite(question).all()]
    return in_bundles(model, good, lambda rows, more: rows + more <= most)


@refused(answer_all, "it must return a list of 4, got one array of shape")
def one_array(model, questions, most):
    return np.concatenate([part for part in good_ones_first(model, questions, most) if part is not None])


@refused(gate, "a missing factor w, element by element")
class ForgetsTheWeight(Gate):
    def back(self, S, dY):
        super().back(S, dY)
        return dY * S * (1 - S)
