"""The graph: gradients against nudging, the order of the walk, what is kept, and what is refused."""

import re

import numpy as np
import pytest

from minigrad import ShapeError, cross_entropy, mse, numerical_gradient
from minigrad.graph import Add, CrossEntropy, Multiply, ReLU, Variable

RNG = np.random.default_rng(0)
X, W, B = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 7)), RNG.normal(size=(1, 7))
LABELS = np.array([0, 2, 6, 1, 1])


def agrees_with_nudging(build, *arrays):
    """Assert that back, from an uneven gradient, finds what nudging finds for each array."""
    nodes = [Variable(array) for array in arrays]
    end = build(*nodes)
    dY = RNG.normal(size=end.data.shape)
    end.back(dY)
    for place, node in enumerate(nodes):

        def f(array, place=place):
            return build(*(Variable(array if i == place else a) for i, a in enumerate(arrays))).data

        np.testing.assert_allclose(node.g, numerical_gradient(f, arrays[place], dY), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("build", "arrays"),
    [
        (Multiply, (X, W)),
        (Add, (X, 2 * X)),
        (Add, (X @ W, B)),
        (ReLU, (X,)),
        (lambda y: CrossEntropy(y, LABELS), (X @ W,)),
        (lambda x, w, b: CrossEntropy(ReLU(x @ w + b), LABELS), (X, W, B)),
        (lambda x, w: (x @ w) @ w + (x + x @ w), (X, W[:, :3])),
    ],
    ids=["multiply", "add", "a row added", "relu", "cross-entropy", "a classifier", "a diamond"],
)
def test_back_agrees_with_nudging(build, arrays):
    agrees_with_nudging(build, *arrays)


def test_the_loss_is_that_of_the_library():
    L, backward = cross_entropy(X @ W, LABELS)
    y = Variable(X @ W)
    loss = CrossEntropy(y, LABELS)
    loss.back()
    np.testing.assert_allclose(loss.data.item(), L, rtol=1e-12)  # rounding
    np.testing.assert_allclose(y.g, backward(), rtol=1e-12, atol=1e-15)


def test_the_worked_example():
    x = Variable([1, 2])
    h = ReLU(x @ Variable([[1, 2, 3], [4, 5, 6]]) + Variable([7, 8, 9]))
    scores = h @ Variable([[1, 2, 3], [4, 5, 6], [5, 6, 7]]) + Variable([5, 6, 7])
    np.testing.assert_array_equal(h.data, [[16, 20, 24]])
    np.testing.assert_array_equal(scores.data, [[221, 282, 343]])


@pytest.mark.parametrize(
    ("write", "slope"),
    [
        (lambda h: h + h, 4),
        (lambda h: (h + h) + h, 6),
        (lambda h: h + (h + h), 6),
        (lambda h: (h + h) + (h + h), 8),
    ],
)
def test_a_node_waits_for_all_of_its_children_however_the_sum_is_written(write, slope):
    a = Variable(1.0)
    write(a + a).back()
    assert a.g == slope


def test_each_node_has_one_turn_and_the_youngest_comes_first():
    a = Variable(1.0)
    b = a + a
    c = b + b
    assert c.graph() == [c, b, a]


def test_a_deep_graph_needs_no_recursion():
    a = top = Variable(1.0)
    for _ in range(20_000):
        top = top + a
    top.back()
    assert a.g == 20_001


def test_sixty_levels_of_diamonds_take_sixty_turns():
    a = top = Variable(1.0)
    for _ in range(60):
        top = top + top
    top.back()
    assert len(top.graph()) == 61 and a.g == 2.0**60


def test_variables_add_up_and_operators_begin_anew():
    x, w = Variable(X), Variable(W)
    y = x @ w
    (y + y).back()
    first, inner = x.g.copy(), y.g.copy()
    ReLU(y + y).back(0.0)  # another graph over the same nodes
    (y + y).back()
    np.testing.assert_array_equal(x.g, 2 * first)
    np.testing.assert_array_equal(y.g, inner)


def test_back_in_the_middle_leaves_the_rest_alone():
    x, w, v = Variable(X), Variable(W), Variable(W.T)
    h = x @ w
    y = h @ v
    h.back()
    np.testing.assert_array_equal(x.g, np.ones((5, 7)) @ W.T)
    assert not v.g.any() and not y.g.any()


def test_setting_data_resets_the_gradient_and_copies():
    array = X.copy()
    x = Variable(array)
    (x + x).back()
    x.data -= 0.5 * x.g
    np.testing.assert_array_equal(x.data, X - 1.0)
    assert not x.g.any()
    np.testing.assert_array_equal(array, X)


def test_one_example_becomes_a_row_and_a_number_one_by_one():
    assert Variable([1, 2]).data.shape == (1, 2) and Variable(3).data.shape == (1, 1)
    assert Variable([1, 2]).data.dtype == np.float64
    x, w = Variable([1.0, 2.0]), Variable([[3.0], [5.0]])
    (x @ w).back()
    np.testing.assert_array_equal(w.g, [[1], [2]])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Variable(np.zeros((2, 3, 4))), "a node holds rows, got shape (2, 3, 4)"),
        (lambda: Variable(X) @ Variable(X), "got x of shape (5, 3) and w of shape (5, 3)"),
        (lambda: Variable(X) + Variable(X[:2]), "got x of shape (5, 3) and b of shape (2, 3)"),
        (lambda: Variable(X) + Variable(X[:, :1]), "got x of shape (5, 3) and b of shape (5, 1)"),
        (lambda: Variable(X[:1]) + Variable(X), "got x of shape (1, 3) and b of shape (5, 3)"),
        (lambda: CrossEntropy(Variable(X), LABELS[:4]), "wants 5 labels, got T of shape (4,)"),
        (lambda: Variable(X).back(np.ones((1, 3))), "expects g of data's shape (5, 3), got (1, 3)"),
    ],
)
def test_shapes_that_numpy_would_repeat_or_refuse_late_are_refused_in_words(make, sentence):
    with pytest.raises(ShapeError, match=re.escape(sentence)):
        make()


def test_a_new_operator_is_a_subclass():
    class Square(Variable):
        def __init__(self, x):
            super().__init__(x.data**2, x)

        def _back(self):
            self.parents[0].g += 2 * self.g * self.parents[0].data

    agrees_with_nudging(Square, X)
    agrees_with_nudging(lambda x, w: Square(x @ w) + x @ w, X, W)
    e = Variable(X) + Variable(-2 * X)
    loss, backward = mse(e.data, np.zeros((5, 3)))
    Square(e).back()
    np.testing.assert_allclose(e.g / e.data.size, backward(), rtol=1e-12)  # rounding
    assert repr(Square(e)) == "Square(5, 3)" and loss > 0
