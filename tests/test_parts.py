"""What functions and layers hold is found and copied, however Python lets them hold it."""

import copy
import functools
from collections import OrderedDict, deque, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Dropout,
    Layer,
    Learner,
    Linear,
    Parameter,
    ReLU,
    Sequential,
    Watch,
    gradcheck,
    mse,
)
from minigrad.layer import Function, as_layer
from minigrad.parts import copied, named_parts

X = np.random.default_rng(1).normal(size=(5, 3))
Pair = namedtuple("Pair", ["first", "second"])


class Row(list):
    """A list of one's own."""


class Table(dict):
    """A dict of one's own."""


def times(X, W):
    """X times a Parameter, with the way back."""

    def backward(dY):
        W.grad += (dY * X).sum(axis=0)
        return dY * W.data

    return X * W.data, backward


def by_closure(W):
    return lambda X: times(X, W)


def by_deep_closure(W):
    def inner(X):
        return times(X, W)

    def forward(X):
        return inner(X)

    return forward


def by_recursive_closure(W):
    def forward(X, depth=1):
        return forward(X, depth - 1) if depth else times(X, W)

    return forward


def by_partial(W):
    return functools.partial(times, W=W)


def by_attribute_of_a_function(W):
    def forward(X):
        return times(X, forward.W)

    forward.W = W
    return forward


class Holder:
    def __init__(self, W):
        self.W = W

    def run(self, X):
        return times(X, self.W)

    __call__ = run


class Slotted:
    __slots__ = ("_W",)

    def __init__(self, W):
        self._W = W

    def __call__(self, X):
        return times(X, self._W)


def by_bound_method(W):
    return Holder(W).run


def by_callable_object(W):
    return Holder(W)


def by_slot(W):
    return Slotted(W)


def by_object_in_a_closure(W):
    holder = Holder(W)
    return lambda X: holder.run(X)


def by_list_in_a_closure(W):
    weights = [W]
    return lambda X: times(X, weights[0])


def by_wraps(W):
    inner = by_closure(W)

    @functools.wraps(inner)
    def forward(*arguments):
        return inner(*arguments)

    return forward


WAYS = [
    by_closure,
    by_deep_closure,
    by_recursive_closure,
    by_partial,
    by_attribute_of_a_function,
    by_bound_method,
    by_callable_object,
    by_slot,
    by_object_in_a_closure,
    by_list_in_a_closure,
    by_wraps,
]

COMMON = Parameter(np.ones(3))


def reads_a_global(X):
    return times(X, COMMON)


@pytest.mark.parametrize("way", WAYS)
def test_a_parameter_is_found_and_trained_however_a_function_holds_it(way):
    W = Parameter(np.ones(3))
    model = Sequential(way(W))
    assert model.parameters() == [W]
    Learner(model, mse, SGD(0.3), rng=0).fit(X, 3 * X, epochs=300)
    np.testing.assert_allclose(W.data, 3, rtol=0.01)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_a_model_has_a_parameter_of_its_own(way):
    W = Parameter(np.ones(3))
    model = Sequential(way(W))
    twin = copy.deepcopy(model)
    (other,) = twin.parameters()
    assert other is not W and list(twin.named_parameters()) == list(model.named_parameters())
    other.data[...] = 2.0
    np.testing.assert_array_equal(model.predict(X), X)
    np.testing.assert_array_equal(twin.predict(X), 2 * X)


@pytest.mark.parametrize(
    "reader", [reads_a_global, lambda X, W=COMMON: times(X, W)], ids=["global", "default"]
)
def test_what_a_function_only_reads_is_not_its_own(reader):
    own = Parameter(np.ones(3))
    model = Sequential(by_closure(own), reader)
    assert model.parameters() == [own]
    with pytest.raises(ValueError, match="has no Parameter to train: keep Parameters"):
        Learner(reader, mse, SGD(0.1)).fit(X, X)


HOLDERS = {
    "set": set,
    "Pair": Pair._make,
    "SimpleNamespace": lambda parts: SimpleNamespace(first=parts[0]),
}


@pytest.mark.parametrize(("name", "holder"), HOLDERS.items(), ids=HOLDERS)
def test_parts_in_a_container_that_is_not_copied_are_an_error(name, holder):
    layer = ReLU()
    layer.parts = holder([Parameter(np.ones(3)), Parameter(np.ones(3))])
    with pytest.raises(ValueError, match=f"parts is a {name} of parts: write a list or a dict"):
        layer.parameters()


@pytest.mark.parametrize("holder", [list, Row, tuple, deque, Table, OrderedDict])
def test_functions_in_a_container_are_copied_with_their_weights(holder):
    layer, W = ReLU(), Parameter(np.ones(3))
    pairs = holder in (Table, OrderedDict)
    layer.held = holder([("a", by_closure(W)), ("b", by_closure(W))] if pairs else [by_closure(W), W])
    twin = copy.deepcopy(layer)
    assert type(twin.held) is holder and twin.held is not layer.held
    (theirs,) = twin.parameters()
    assert theirs is not W
    theirs.data[...] = 2.0
    np.testing.assert_array_equal(W.data, 1.0)


def test_two_functions_that_share_a_parameter_share_its_copy():
    W = Parameter(np.ones(3))
    model = Sequential(by_closure(W), ReLU(), by_partial(W))
    twin = copy.deepcopy(model)
    assert len(model.parameters()) == len(twin.parameters()) == 1


def test_functions_that_share_a_variable_share_it_in_the_copy():
    def counter():
        count = np.zeros(1)

        def add(X):
            count[...] += 1
            return X, lambda dY: dY

        return Sequential(add, lambda X: (X * count, lambda dY: dY * count))

    model = counter()
    twin = copy.deepcopy(model)
    twin(X)
    np.testing.assert_array_equal(twin(X)[0], 2 * X)
    np.testing.assert_array_equal(model(X)[0], X)  # its own count begins at 0


def test_a_function_that_holds_nothing_is_its_own_copy():
    assert copied(times, {}) is times


def test_a_set_of_parts_is_refused_since_it_has_no_order():
    layer = ReLU()
    layer.parts = {Linear(3, 3, rng=0), Linear(3, 3, rng=1)}
    with pytest.raises(ValueError, match="parts is a set of parts: write a list"):
        layer.parameters()
    layer.parts = {1, "a"}
    assert layer.parameters() == []


def test_things_that_hold_each_other_are_met_once():
    one, other = Sequential(), Sequential()
    one.layers.append(other)
    other.layers.append(one)
    assert [part for _, part in named_parts(one)] == [one, other]


def test_whoever_looks_on_is_no_part_of_a_model():
    model, other = Linear(3, 3, rng=0) >> ReLU(), Linear(3, 3, rng=1)
    watch = Watch(lambda direction, array: other.predict(array))
    watched = model >> watch
    assert watched.parameters() == model.parameters()
    assert copy.deepcopy(watched).layers[2].see is watch.see


def test_only_things_that_can_be_called_become_layers_and_a_layer_stays_itself():
    layer = ReLU()
    assert as_layer(layer) is layer
    assert type(as_layer(times)) is Function and repr(as_layer(times)) == "times"
    for wrong, sentence in ((3, "must be callable"), (ReLU, r"create one, ReLU\(...\)")):
        with pytest.raises(TypeError, match=sentence):
            as_layer(wrong)


def plain(X):
    return X, lambda dY: dY


def trains(X, training=False):
    return X + training, lambda dY: dY


def wrapped(function):
    @functools.wraps(function)
    def forward(*arguments, **options):
        return function(*arguments, **options)

    return forward


class Trains:
    def __call__(self, X, training=False):
        return trains(X, training)

    def method(self, X, training=False):
        return trains(X, training)


class Declares(Layer):
    @wrapped
    def forward(self, X, training=False):
        return trains(X, training)


@pytest.mark.parametrize(
    "layer, is_told",
    [
        (plain, False),
        (trains, True),
        (functools.partial(trains), True),
        (functools.partial(trains, training=False), False),
        (wrapped(trains), True),
        (wrapped(plain), False),
        (Trains(), True),
        (Trains().method, True),
        (lambda X, **options: (X, lambda dY: dY), False),
        (lambda X, *, need_dX, training: trains(X, training), True),
        (Declares(), True),
    ],
)
def test_options_reach_whoever_declares_them(layer, is_told):
    np.testing.assert_array_equal(Sequential(layer)(X, training=True)[0], X + is_told)
    np.testing.assert_array_equal(Sequential(layer)(X)[0], X)


def test_a_frozen_model_stays_as_it_is_and_an_unfrozen_one_learns():
    rng = np.random.default_rng(0)
    body = Linear(3, 7, rng=rng) >> BatchNorm(7) >> Dropout(0.5, rng=rng)
    model = body >> by_closure(Parameter(np.ones(7))) >> Linear(7, 3, rng=rng)
    learner = Learner(model, mse, SGD(0.1), rng=0)
    body.freeze()
    held = [*body.parameters(), *body.buffers()]
    before, state = [part.data.copy() for part in held], str(body.layers[2].rng.bit_generator.state)
    learner.fit(X, X)
    assert all(np.array_equal(part.data, old) for part, old in zip(held, before, strict=True))
    assert str(body.layers[2].rng.bit_generator.state) == state
    body.unfreeze()
    learner.fit(X, X)
    assert not any(np.array_equal(part.data, old) for part, old in zip(held, before, strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_gradcheck_looks_at_a_parameter_however_a_function_holds_it(way):
    report = gradcheck(way(Parameter([0.5, 1.0, 2.0])), X)
    assert report.ok, report.problems
    assert len(report.rows) == 2  # dX and the Parameter
