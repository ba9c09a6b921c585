"""What a backward function keeps alive is found whole, counted once, and told apart from the weights."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest

from course.xray import xray
from minigrad import Linear, ReLU, Sequential


def square(X):
    def backward(dY):
        return 2 * X * dY

    return X * X, backward


def found(backward):
    return [(row.holder, row.name, row.shape) for row in xray(backward).rows]


def test_a_closure_keeps_its_variable():
    _, backward = square(np.ones((5, 3)))
    report = xray(backward)
    assert found(backward) == [("square", "X", (5, 3))]
    assert report.total == 5 * 3 * 8
    assert report.rows[0].dtype == "float64"
    assert report.weights == []


def test_what_is_found_is_what_python_really_keeps_alive():
    kept, dropped = np.ones((5, 3)), np.ones((7, 2))
    watched = [weakref.ref(kept), weakref.ref(dropped)]
    _, backward = square(kept)
    del kept, dropped
    gc.collect()
    assert [ref() is not None for ref in watched] == [True, False]
    assert found(backward) == [("square", "X", (5, 3))]


def test_a_layer_keeps_x_and_shares_its_weights():
    _, backward = Linear(3, 7, rng=0)(np.ones((5, 3)))
    report = xray(backward)
    assert [(row.name, row.bytes) for row in report.rows] == [("X", 5 * 3 * 8)]
    assert [(row.name, row.shape, row.shared) for row in report.weights] == [
        ("W", (3, 7), True),
        ("b", (7,), True),
    ]
    assert {row.holder for row in report.rows + report.weights} == {"Linear(3, 7)"}


def test_a_chain_is_followed_through_its_list_of_backwards():
    model = Linear(3, 7, rng=0) >> ReLU() >> Linear(7, 2, rng=1)
    _, backward = model(np.ones((5, 3)))
    holders = [row.holder for row in xray(backward).rows]
    assert holders == ["Linear(3, 7)", "ReLU()", "Linear(7, 2)"]


def test_a_plain_function_in_a_chain_is_named_by_itself():
    _, backward = Sequential(square, square)(np.ones((5, 3)))
    assert found(backward) == [("square", "X", (5, 3))] * 2


def test_an_array_kept_twice_is_counted_once():
    X = np.ones((5, 3))
    pair = [square(X)[1], square(X)[1]]
    assert xray(lambda dY: pair[0](dY) + pair[1](dY)).total == X.nbytes


def test_a_view_counts_with_the_array_behind_it():
    X = np.ones((50, 3))
    _, backward = square(X[:5])
    row = xray(backward).rows[0]
    assert (row.shape, row.whole, row.bytes) == ((5, 3), (50, 3), X.nbytes)
    assert "(5, 3) of (50, 3)" in str(xray(backward))


def test_two_views_of_one_array_are_one_array():
    X = np.ones((50, 3))
    first, last = X[:5], X[-5:]
    assert xray(lambda dY: dY * first + last).total == X.nbytes


def test_weights_captured_as_bare_arrays_are_not_counted():
    layer = Linear(3, 7, rng=0)
    data, row = layer.W.data, layer.W.data[0]
    report = xray(lambda dY: (dY @ data.T, row, layer))
    assert report.rows == []
    assert len(report.weights) == 2


@pytest.mark.parametrize(
    "keep",
    [
        lambda X: lambda dY, X=X: dY * X,
        lambda X: partial(np.multiply, X),
        lambda X: partial(np.multiply, x2=X),
        lambda X: (lambda memory: lambda dY: dY * memory["X"][0])({"X": (X,)}),
        lambda X: (lambda memory: lambda dY: dY * memory[1][0])([None, [X]]),
        lambda X: Remembers(X).backward,
    ],
    ids=["default argument", "partial", "partial by name", "dict and tuple", "nested list", "bound method"],
)
def test_every_way_to_remember_is_followed(keep):
    assert xray(keep(np.ones((5, 3)))).total == 5 * 3 * 8


class Remembers:
    def __init__(self, X):
        self.X = X

    def backward(self, dY):
        return dY * self.X


def test_state_on_an_object_is_named_as_such():
    assert found(Remembers(np.ones((5, 3))).backward) == [("Remembers.backward", "self.X", (5, 3))]


def test_a_function_that_calls_itself_and_an_empty_cell_do_no_harm():
    def outer():
        def backward(dY):
            return backward(dY) if dY is None else late * dY

        report = xray(backward)
        late = np.ones(3)
        return report, xray(backward), late

    before, after, late = outer()
    assert (before.total, after.total) == (0, late.nbytes)


def test_the_report_reads_the_same_as_text_and_as_html():
    _, backward = Linear(3, 7, rng=0)(np.ones((5, 3)))
    report = xray(backward)
    text, html = str(report), report._repr_html_()
    for words in ("held by", "Linear(3, 7)", "(5, 3)", "shared, not counted", "kept alive", "120"):
        assert words in text
        assert words in html


def test_html_cannot_be_broken_by_a_name():
    class Angle:
        def __init__(self, X):
            self.memory = {"<b>": X}

        def backward(self, dY):
            return dY * self.memory["<b>"]

    assert "<b>" not in xray(Angle(np.ones(3)).backward)._repr_html_()


def test_the_pair_instead_of_its_second_half_is_refused():
    with pytest.raises(TypeError, match=r"needs the backward of Y, backward = layer\(X\), got tuple"):
        xray(square(np.ones(3)))
