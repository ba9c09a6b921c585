"""The contract of a layer: calls, names, parameters found on demand, sizes from a sample."""

import copy
import functools
import gc
import re
import sys
import threading

import numpy as np
import pytest

from minigrad import (
    SGD,
    BatchNorm,
    Buffer,
    Conv2d,
    Dropout,
    Layer,
    Learner,
    Linear,
    Mean,
    Parallel,
    Parameter,
    ReLU,
    Residual,
    Sequential,
    ShapeError,
    Tanh,
    TransformerBlock,
    as_layer,
    chain,
    cross_entropy,
    gradcheck,
    mse,
)
from minigrad.parts import named_parts

X = np.random.default_rng(1).normal(size=(5, 3))


def double(X):
    return 2 * X, lambda dY: 2 * dY


def scale(factor):
    """A plain function with a parameter in its closure, as in chapter 04."""

    def forward(X):
        def backward(dY):
            factor.grad += (dY * X).sum(axis=0)
            return dY * factor.data

        return X * factor.data, backward

    return forward


class Returns(Layer):
    """Gives back what it was told to, on the way there and on the way back."""

    def __init__(self, result=None, dX=None):
        self.result, self.dX = result, dX

    def forward(self, X):
        return self.result or (X, lambda dY: self.dX)


class Twins(Layer):
    """Takes a pair of arrays and returns their sum."""

    def forward(self, X):
        left, right = X
        return left + right, lambda dY: (dY, dY)


class Finds(Layer):
    """Looks rows up: the second entry of its input holds integers."""

    def forward(self, X):
        table, rows = X

        def backward(dY):
            d_table = np.zeros_like(table)
            for row, gradient in zip(rows, dY, strict=True):
                d_table[row] += gradient
            return d_table, None

        return table[rows], backward


# Calling a layer


@pytest.mark.parametrize(
    "result, came",
    [
        (np.zeros(2), "ndarray alone"),
        ((X, X), "2 values: ndarray, ndarray"),
        ((X, double, double), "3 values"),
        ([X, double], "list alone"),
    ],
)
def test_a_forward_that_returns_no_pair_is_refused(result, came):
    class Wrong(Layer):
        def forward(self, X):
            return result

    for layer, name in (
        (Wrong(), r"Wrong\(\)"),
        (Sequential(Wrong()), r"Wrong\(\)"),
        (Wrong().forward, "forward"),
    ):
        with pytest.raises(TypeError, match=rf"{name} must return a pair \(Y, backward\), got {came}"):
            as_layer(layer)(X)


def test_a_layer_without_forward_says_what_to_write():
    class Empty(Layer):
        pass

    for layer in (Empty(), Layer()):
        with pytest.raises(NotImplementedError, match="needs a method forward"):
            layer(X)


def test_input_of_forward_and_output_of_backward_match():
    with pytest.raises(ShapeError) as caught:
        Returns(dX=np.zeros((3, 5)))(X)[1](X)
    assert str(caught.value) == "Returns(): backward must return dX of X's shape (5, 3), got (3, 5)."


LOST = "none: take it from the loss, dY = loss_backward()"


@pytest.mark.parametrize("dY, came", [(np.zeros((5, 4)), "(5, 4)"), (None, LOST), (1.0, "()")])
def test_output_of_forward_and_input_of_backward_match(dY, came):
    _, backward = Linear(3, 7, rng=0)(X)
    with pytest.raises(ShapeError) as caught:
        backward(dY)
    assert str(caught.value) == f"Linear(3, 7): backward expects dY of Y's shape (5, 7), got {came}."


def test_a_list_is_no_array():
    for layer in (ReLU(), Linear(1, 1, rng=0) >> ReLU()):
        with pytest.raises(TypeError, match="expects an array of numbers, got list"):
            layer([[1.0]])


def test_a_tuple_in_gives_a_tuple_back():
    Y, backward = Twins()((X, 2 * X))
    np.testing.assert_array_equal(Y, 3 * X)
    dX = backward(Y)
    assert isinstance(dX, tuple) and len(dX) == 2


def test_entries_of_integers_get_none():
    rows = np.array([0, 2, 2])
    Y, backward = Finds()((X, rows))
    d_table, d_rows = backward(np.ones((3, 3)))
    assert d_rows is None
    np.testing.assert_array_equal(d_table[:, 0], [1, 0, 2, 0, 0])


@pytest.mark.parametrize("dX", [X, (X,), (X, X[:2]), (X, X, X)])
def test_a_gradient_that_does_not_match_the_tuple_is_refused(dX):
    with pytest.raises(ShapeError, match=re.escape("dX of X's shape ((5, 3), (5, 3)), got")):
        Returns(result=(X, lambda dY: dX))((X, X))[1](X)


def test_options_are_passed_to_those_who_declare_them():
    heard = []

    class Bare(Layer):
        def forward(self, X):
            heard.append("nothing")
            return double(X)

    class Listens(Layer):
        def forward(self, X, *, need_dX=True, training=False):
            heard.append((training, need_dX))
            return double(X)

    class Callable:
        def __call__(self, X, training=None):
            heard.append(training)
            return double(X)

    def function(X, need_dX=None):
        heard.append(need_dX)
        return double(X)

    model = Sequential(Listens(), Bare(), Callable(), function, functools.partial(double), Listens())
    model(X, training=True, need_dX=False)
    assert heard == [(True, False), "nothing", True, True, (True, True)]  # only the first may skip dX


def test_without_options_a_layer_is_outside_training_and_wants_dX():
    heard = []

    def listens(X, training=None, need_dX=None):
        heard.append((training, need_dX))
        return double(X)

    model = Sequential(listens)
    for call in (as_layer(listens), model, model.forward, model.predict, chain(listens, double)):
        call(X)
    assert heard == [(False, True)] * 5


def test_backward_may_be_called_again_and_adds_again():
    model = Linear(3, 7, rng=0) >> Tanh()
    Y, backward = model(X)
    backward(Y)
    once = model.layers[0].W.grad.copy()
    backward(Y)
    np.testing.assert_allclose(model.layers[0].W.grad, 2 * once, rtol=1e-12)  # rounding


# One layer, many threads


class OnSelf(Layer):
    """Remembers its input where the next call overwrites it."""

    def forward(self, X):
        self.X = X
        return X * X, lambda dY: 2 * self.X * dY


def threaded(layer, inputs):
    """Return dX of each input, each in its own thread; nobody goes back before all went forward."""
    everyone, found = threading.Barrier(len(inputs)), [None] * len(inputs)

    def work(i):
        Y, backward = layer(inputs[i])
        everyone.wait()
        found[i] = backward(np.ones_like(Y))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def wrong(layer):
    """Return how many of 8 threads get a gradient that differs from the one they get alone."""
    inputs = list(np.random.default_rng(0).normal(size=(8, 5, 3)))
    alone = []
    for sample in inputs:
        Y, backward = layer(sample)
        alone.append(backward(np.ones_like(Y)))
    return sum(not np.array_equal(a, b) for a, b in zip(threaded(layer, inputs), alone, strict=True))


def test_eight_threads_share_a_layer():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # as often as can be
    try:
        shared = Linear(3, 3, rng=0)
        assert wrong(shared >> Tanh() >> Residual(shared) >> chain(double, ReLU())) == 0
    finally:
        sys.setswitchinterval(interval)


def test_a_layer_that_remembers_on_self_fails_in_threads():
    assert wrong(OnSelf()) == 7


# What is inside


def test_parameters_come_in_attribute_order_under_dotted_names():
    class Net(Layer):
        def __init__(self):
            self.last = Linear(3, 7, rng=0)
            self.blocks = [Linear(7, 3, rng=0), {"gate": Linear(3, 2, bias=False, rng=0)}]
            self.alpha = Parameter([1.0])
            self.pair = (ReLU(), Linear(2, 1, rng=0))
            self.mean = Buffer([0.0])

    names = [
        "last.W",
        "last.b",
        "blocks.0.W",
        "blocks.0.b",
        "blocks.1.gate.W",
        "alpha",
        "pair.1.W",
        "pair.1.b",
    ]
    net = Net()
    assert list(net.named_parameters()) == names
    assert net.parameters() == list(net.named_parameters().values())
    assert net.buffers() == [net.mean]
    assert list(net.named_layers()) == ["", "last", "blocks.0", "blocks.1.gate", "pair.0", "pair.1"]


def test_a_shared_layer_is_found_once_where_it_is_met_first():
    shared = Linear(3, 3, rng=0)
    model = Sequential(shared, ReLU(), Residual(shared), shared)
    assert list(model.named_parameters()) == ["layers.0.W", "layers.0.b"]


def test_parameters_in_closures_are_found():
    factor, offset = Parameter(np.ones(3)), Parameter(np.ones(3))
    model = chain(scale(factor), chain(scale(offset), scale(factor))) >> ReLU()
    assert {id(p) for p in model.parameters()} == {id(factor), id(offset)}
    assert list(model.named_parameters()) == ["layers.0.factor", "layers.1.layers.0.factor"]


def test_parameters_of_any_callable_are_found():
    class Scale:
        def __init__(self):
            self.factor = Parameter(np.ones(3))

        def __call__(self, X):
            return scale(self.factor)(X)

    def logged(function):
        @functools.wraps(function)
        def wrapper(X):
            return function(X)

        return wrapper

    model = Sequential(Scale(), logged(scale(Parameter(np.zeros(3)))))
    assert list(model.named_parameters()) == ["layers.0.factor", "layers.1.factor"]


def test_the_search_ends_where_things_hold_each_other():
    one, other = Sequential(), Sequential()
    one.layers.append(other)
    other.layers.append(one)
    assert list(one.named_layers().values()) == [one, other]


def test_parameters_are_found_on_demand():
    model = Sequential(Linear(3, 7, rng=0))
    learner = Learner(model, mse, SGD(0.1))
    model.layers.append(Linear(7, 2, rng=0))
    before = [p.data.copy() for p in model.parameters()]
    learner.fit(X, np.ones((5, 2)))
    assert len(before) == 4
    assert all((p.data != old).any() for p, old in zip(model.parameters(), before, strict=True))


def test_zero_grad_reaches_every_parameter():
    factor = Parameter(np.ones(3))
    model = Linear(3, 3, rng=0) >> scale(factor)
    Y, backward = model(X)
    backward(Y)
    assert all(p.grad.any() for p in model.parameters())
    model.zero_grad()
    assert not any(p.grad.any() for p in model.parameters())


def test_deepcopy_means_separate():
    shared = Linear(3, 3, rng=0)
    model = Sequential(shared, ReLU(), shared)
    twin = copy.deepcopy(model)
    assert len(twin.parameters()) == 2  # shared inside the copy as well
    assert not {id(p) for p in model.parameters()} & {id(p) for p in twin.parameters()}
    before = model.predict(X)
    Learner(twin, mse, SGD(0.1, momentum=0.9)).fit(X, np.ones((5, 3)), epochs=3)
    np.testing.assert_array_equal(model.predict(X), before)
    assert (twin.predict(X) != before).all()


# Layers one after the other


def test_sequential_equals_one_layer_after_the_other_by_hand():
    first, second = Linear(3, 7, rng=0), Linear(7, 2, rng=1)
    H, backward_first = first(X)
    Y, backward_second = second(H)
    dX = backward_first(backward_second(Y))
    Y_model, backward = Sequential(first, second)(X)
    np.testing.assert_array_equal(Y_model, Y)
    np.testing.assert_array_equal(backward(Y), dX)


def test_the_empty_sequential_changes_nothing():
    Y, backward = Sequential()(X)
    assert Y is X
    assert backward(Y) is X


def test_arrows_join_layers_and_functions_on_both_sides():
    linear, relu = Linear(3, 7, rng=0), ReLU()
    model = double >> linear >> relu >> double
    assert [getattr(layer, "__wrapped__", layer) for layer in model.layers] == [double, linear, relu, double]
    longer = model >> double
    assert len(model.layers) == 4  # unchanged
    assert longer.layers[:4] == model.layers and longer.layers[4].__wrapped__ is double
    assert (linear >> relu).layers == [linear, relu]


@pytest.mark.parametrize("thing", [3, "ReLU", None])
def test_what_cannot_be_called_is_no_layer(thing):
    for join in (lambda: Sequential(ReLU(), thing), lambda: ReLU() >> thing, lambda: thing >> ReLU()):
        with pytest.raises(TypeError, match="a layer must be callable"):
            join()


def test_it_prints_what_it_holds():
    assert repr(Linear(3, 7) >> ReLU() >> double) == "Sequential(Linear(3, 7), ReLU(), double)"


# predict, summary, to


def test_predict_is_the_result_outside_training():
    class Listens(Layer):
        def forward(self, X, training=False):
            return X * (7 if training else 1), double

    np.testing.assert_array_equal(Listens().predict(X), X)


@pytest.mark.parametrize(
    "bad, error, sentence",
    [
        ([[1.0, 2.0, 3.0]], TypeError, "got list"),
        (np.array([["a", "b", "c"]]), TypeError, "X holds <U1, not numbers"),
        (np.zeros((0, 3)), ShapeError, "is empty: give at least one example"),
        (np.array(1.0), ShapeError, "no batch axis"),
        (np.full((5, 3), np.nan), ValueError, "X is not finite in 15 of its 15 entries"),
    ],
)
def test_predict_refuses_what_is_no_batch(bad, error, sentence):
    with pytest.raises(error, match=sentence):
        Linear(3, 7, rng=0).predict(bad)


def test_numbers_are_checked_once_and_not_by_every_layer(monkeypatch):
    calls = []
    isfinite = np.isfinite
    monkeypatch.setattr(np, "isfinite", lambda *arrays: calls.append(1) or isfinite(*arrays))
    model = Linear(3, 7, rng=0) >> ReLU() >> Sequential(Linear(7, 3, rng=0), Residual(Tanh()))
    model.predict(X)
    assert len(calls) == 1
    model(np.full((5, 3), np.nan))  # a layer in the middle of a model does not ask
    assert len(calls) == 1


def test_summary_counts_every_number_once():
    shared = Linear(3, 3, rng=0)
    assert (shared >> ReLU() >> shared >> Linear(3, 1000, rng=0)).summary() == (
        "layers.0.W  (3, 3)               9\n"
        "layers.0.b  (3,)                 3\n"
        "layers.3.W  (3, 1000)        3,000\n"
        "layers.3.b  (1000,)          1,000\n"
        "total                        4,012"
    )
    assert ReLU().summary().split() == ["total", "0"]


def test_to_float32_takes_everything_along():
    model = Linear(3, 7, rng=0) >> scale(Parameter(np.ones(7)))
    model.mean = Buffer([0.0])
    learner = Learner(model, mse, SGD(0.1, momentum=0.9))
    learner.fit(X, np.ones((5, 7)))
    assert model.to(np.float32) is model
    learner.fit(X.astype(np.float32), np.ones((5, 7)))  # the targets are float64 still
    velocities = [learner.optimizer.memory[parameter]["velocity"] for parameter in model.parameters()]
    arrays = [*velocities, *(array for p in model.parameters() for array in (p.data, p.grad))]
    assert {array.dtype for array in [*arrays, model.mean.data]} == {np.dtype(np.float32)}


@pytest.mark.parametrize("dtype", [int, complex, str])
def test_parameters_stay_floats(dtype):
    layer = Linear(3, 7, rng=0)
    with pytest.raises(TypeError, match="networks train in np.float32 or np.float64, not in"):
        layer.to(dtype)
    assert layer.W.data.dtype == np.float64


# Sizes from a sample


def sizes(model):
    return [p.shape for p in model.parameters()]


def test_sizes_run_forward_and_the_last_open_layer_takes_its_width_from_y():
    model = Linear(n_out=11) >> ReLU() >> Linear()
    assert model.initialize(X, np.zeros((5, 7)), rng=0) is model
    assert sizes(model) == [(3, 11), (11,), (11, 7), (7,)]


def test_labels_say_how_many_classes_there_are():
    model = Linear(n_out=11) >> Tanh() >> Linear()
    T = np.array([0, 6, 2, 3, 1])
    model.initialize(X, T, rng=0)
    assert sizes(model)[-1] == (7,)
    assert np.isfinite(cross_entropy(model.predict(X), T)[0])


@pytest.mark.parametrize("T", [np.zeros((5, 2), dtype=int), np.zeros((5, 2), dtype=bool), np.zeros((5, 2))])
def test_a_row_of_targets_is_as_wide_as_the_outputs_whatever_its_type(T):
    assert sizes(Linear().initialize(X, T, rng=0)) == [(3, 2), (2,)]


def test_labels_of_steps_say_how_many_classes_there_are():
    steps, T = np.zeros((5, 11, 3)), np.full((5, 11), 6)
    assert sizes(Linear().initialize(steps, T, rng=0)) == [(3, 7), (7,)]


def test_targets_without_a_second_axis_are_refused():
    with pytest.raises(ShapeError) as caught:
        Linear(3).initialize(X, np.zeros(5), rng=0)
    assert str(caught.value) == "Linear(3, ?) takes n_out from rows of Y, got shape (5,): write Y[:, None]."


def test_a_width_that_is_given_is_not_taken_from_y():
    assert sizes(Linear(n_out=2).initialize(X, np.zeros((5, 7)), rng=0)) == [(3, 2), (2,)]


def test_only_the_last_layer_can_take_its_width_from_y():
    with pytest.raises(ShapeError, match=re.escape("Linear(3, ?) has no n_out yet: pass it")):
        (Linear() >> ReLU() >> Linear()).initialize(X, np.zeros((5, 7)), rng=0)
    with pytest.raises(ShapeError, match=re.escape("Linear(3, ?) has no n_out yet: pass it")):
        (Linear() >> ReLU()).initialize(X, rng=0)


def test_the_targets_do_not_speak_for_a_hidden_layer_where_the_last_one_has_its_width():
    with pytest.raises(ShapeError, match=re.escape("Linear(3, ?) has no n_out yet: pass it")):
        (Linear() >> ReLU() >> Linear(n_out=7)).initialize(X, np.zeros((5, 7)), rng=0)


def test_drawing_needs_an_rng():
    with pytest.raises(ValueError, match=re.escape("Linear(3, 7) has no weights: give it rng=0")):
        Linear(n_out=7).initialize(X)
    assert sizes(Linear(n_out=7, rng=0).initialize(X)) == [(3, 7), (7,)]  # its own


def test_a_layer_keeps_the_rng_it_was_given():
    model = Linear(n_out=7, rng=1) >> Linear(n_out=2)
    model.initialize(X, rng=0)
    np.testing.assert_array_equal(model.layers[0].W.data, Linear(3, 7, rng=1).W.data)


def test_layers_draw_one_after_the_other():
    model = Linear(n_out=3) >> Linear(n_out=3)
    model.initialize(X, rng=0)
    rng = np.random.default_rng(0)
    for layer in model.layers:
        np.testing.assert_array_equal(layer.W.data, Linear(3, 3, rng=rng).W.data)


def test_a_layer_that_has_weights_keeps_them():
    model = Linear(3, 7, rng=5) >> Linear()
    W = model.layers[0].W
    model.initialize(X, np.zeros((5, 2)), rng=0)
    assert model.layers[0].W is W


@pytest.mark.parametrize(
    "model",
    [
        Sequential(Sequential(Linear(n_out=11), ReLU()), Sequential(Sequential(Linear()))),
        Sequential(chain(Linear(n_out=11), ReLU()), chain(double, Linear())),
        chain(Linear(n_out=11), double) >> Linear(),
        Parallel(Linear(n_out=5), Linear(n_out=6)) >> Linear(),
        Linear(n_out=11) >> Residual(chain(Linear(n_out=2), Linear(n_out=11))) >> Linear(),
        Linear(n_out=11) >> Residual(Sequential()) >> double >> Linear(),
    ],
)
def test_sizes_reach_every_layer_inside(model):
    model.initialize(X, np.zeros((5, 7)), rng=0)
    assert sizes(model)[-2:] == [(11, 7), (7,)]
    assert model.predict(X).shape == (5, 7)


def test_sizes_reach_the_layers_of_a_model_that_you_wrote():
    class Net(Layer):
        def __init__(self):
            self.hidden, self.out = Linear(n_out=11), Linear()

        def forward(self, X):
            H, backward_hidden = self.hidden(X)
            Y, backward_out = self.out(H)
            return Y, lambda dY: backward_hidden(backward_out(dY))

    assert sizes(Net().initialize(X, np.zeros((5, 7)), rng=0)) == [(3, 11), (11,), (11, 7), (7,)]


@pytest.mark.parametrize("dtype", [float, int])
def test_a_residual_is_as_wide_as_what_it_is_added_to(dtype):
    sample = np.ones((5, 3), dtype=dtype)
    for inner in (Linear(), Linear(n_out=2) >> Linear(), chain(Linear(n_out=2), Linear())):
        model = Residual(inner) >> Linear()
        model.initialize(sample, np.zeros((5, 7)), rng=0)
        assert sizes(model)[-3:] == [(3,), (3, 7), (7,)]


def test_a_branch_does_not_take_its_width_from_y():
    with pytest.raises(ShapeError, match=re.escape("Linear(3, ?) has no n_out yet: pass it")):
        Parallel(Linear(n_out=2), Linear()).initialize(X, np.zeros((5, 7)), rng=0)


def test_a_shared_layer_is_drawn_once():
    shared = Linear(n_out=3)
    assert sizes((shared >> Tanh() >> shared).initialize(X, rng=0)) == [(3, 3), (3,)]


def test_the_last_layer_is_found_behind_layers_that_change_the_shape():
    model = Linear(n_out=11) >> Mean() >> Linear()
    assert sizes(model.initialize(np.zeros((5, 2, 3)), np.zeros((5, 7)), rng=0))[2:] == [(11, 7), (7,)]


def test_the_sample_decides_the_dtype():
    model = Linear(n_out=11) >> ReLU() >> Linear(n_out=7)
    model.initialize(X.astype(np.float32), rng=0)
    assert {p.data.dtype for p in model.parameters()} == {np.dtype(np.float32)}
    assert Linear(n_out=7).initialize(np.array([[1, 2, 3]]), rng=0).W.data.dtype == np.float64


def test_after_an_initialize_that_failed_a_call_draws_nothing():
    model = Linear(n_out=11) >> ReLU() >> Linear()
    with pytest.raises(ShapeError):
        model.initialize(X, rng=0)  # the last layer has no width
    with pytest.raises(ShapeError):
        model(X)
    model.initialize(X, np.zeros((5, 7)), rng=0)
    assert model.predict(X).shape == (5, 7)


def test_walking_leaves_nothing_for_the_garbage_collector():
    model = Sequential(Linear(3, 2, rng=0), lambda X: (X, lambda dY: dY))
    gc.collect()
    gc.disable()
    try:
        named_parts(model)
        assert gc.collect() == 0
    finally:
        gc.enable()


def wide_open():
    return Linear(n_out=7) >> ReLU() >> Linear()


def test_sizes_that_are_written_down_need_no_sample():
    model = (Linear(3, 7) >> BatchNorm(7) >> Dropout(0.5) >> Linear(7, 5)).initialize(rng=0)
    assert model(np.ones((2, 3)), training=True)[0].shape == (2, 5)


def test_what_has_been_drawn_stays_and_a_second_seed_for_it_is_refused():
    front = Linear(3, 7, rng=1)
    first = front.W.data.copy()
    model = (front >> Residual(Linear(n_out=7) >> Residual(Linear()))).initialize(X, rng=0)
    np.testing.assert_array_equal(front.W.data, first)
    model.initialize(X)
    with pytest.raises(ValueError, match="is already initialized: make another model."):
        model.initialize(X, rng=1)
    np.testing.assert_array_equal(front.W.data, first)
    assert (ReLU() >> ReLU()).initialize(X, rng=0).parameters() == []


@pytest.mark.parametrize("change", [lambda model: model.to(np.float32), Layer.freeze], ids=("to", "freeze"))
def test_what_is_drawn_later_cannot_be_changed_before(change):
    with pytest.raises(ValueError, match=re.escape("Linear(3, 7) has no weights")):
        change(Linear(3, 7) >> ReLU())


@pytest.mark.parametrize(
    ("model", "settings", "sentence"),
    [
        (
            wide_open,
            {"rng": 0},
            "Linear(?, 7) has no n_in yet: pass it, or call model.initialize(X).",
        ),
        (wide_open, {"X": np.ones((5, 3)), "rng": 0}, "Linear(7, ?) has no n_out yet: pass it"),
        (lambda: Linear(3, 7), {}, "Linear(3, 7) has no weights: give it rng=0"),
        (lambda: TransformerBlock(heads=1), {"rng": 0}, "has no n_in yet"),
        (lambda: Conv2d(n_out=2), {"rng": 0}, "has no n_in yet"),
    ],
)
def test_what_is_still_missing_is_said(model, settings, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        model().initialize(**settings)


def test_layers_with_names():
    model = Sequential({"first": Linear(3, 7, rng=0), "bend": ReLU()}) >> double
    assert list(model.named_parameters()) == ["layers.0.layers.first.W", "layers.0.layers.first.b"]
    assert repr(model) == "Sequential(Sequential({'first': Linear(3, 7), 'bend': ReLU()}), double)"
    twin = copy.deepcopy(model)
    assert twin.layers[0].layers["first"].W is not model.layers[0].layers["first"].W
    assert gradcheck(model, np.random.default_rng(0).normal(size=(5, 3))).ok


def test_a_layer_that_joins_layers_with_names_takes_no_place_of_theirs():
    numbered = Sequential({"1": double, "2": double}) >> double
    assert numbered.predict(np.ones((1, 1))) == 8.0


@pytest.mark.parametrize(
    ("name", "value"), [("weight", np.ones((3, 7))), ("trainable", False), ("n_out", 7), ("training", True)]
)
def test_what_nobody_would_read_cannot_be_set_on_a_layer_of_the_library(name, value):
    layer = Linear(3, 5, rng=0)
    with pytest.raises((AttributeError, ShapeError), match=rf"Linear.*{name}"):
        setattr(layer, name, value)
    with pytest.raises(AttributeError, match="Dropout has no attribute p: the setting is rate"):
        Dropout(0.5, rng=0).p = 0.1


def test_a_layer_of_ones_own_has_its_own_names():
    class Scale(Layer):
        def __init__(self):
            self.weight = Parameter([2.0])

    assert list(Scale().named_parameters()) == ["weight"]


def test_a_sequential_of_ones_own_keeps_its_forward_on_either_side():
    class Tenfold(Sequential):
        def forward(self, X):
            Y, backward = super().forward(X)
            return 10 * Y, lambda dY: backward(10 * dY)

    X = np.ones((1, 1))
    assert (Tenfold(double) >> double).predict(X) == (double >> Tenfold(double)).predict(X) == 40.0


def test_what_comes_second_is_no_option_of_a_layer():
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        Linear(3, 7, rng=0)(np.ones((5, 3)), np.ones((5, 3)))


@pytest.mark.parametrize(
    "layer", [Sequential(), Sequential(ReLU()), Sequential(Sequential(ReLU()))], ids=repr
)
def test_a_row_of_layers_checks_dY_whoever_stands_in_it(layer):
    Y, backward = layer(np.ones((5, 3)))
    with pytest.raises(ShapeError, match=r"backward expects dY of Y's shape \(5, 3\), got \(5, 2\)"):
        backward(np.ones((5, 2)))


def test_a_row_of_layers_with_a_forward_of_its_own_is_checked():
    class Halved(Sequential):
        def forward(self, X):
            Y, backward = super().forward(X)
            return Y[:, :1], lambda dY: backward(np.hstack([dY, dY]))

    Y, backward = Halved(ReLU())(np.ones((5, 2)))
    with pytest.raises(ShapeError, match=r"backward expects dY of Y's shape \(5, 1\), got \(5, 2\)"):
        backward(np.ones((5, 2)))
