"""The graph: laws for all operators, the order of the walk, leaves as Parameters, and a graph as a layer."""

import copy

import numpy as np
import pytest

import minigrad
from minigrad import (
    SGD,
    Adam,
    AdamW,
    Learner,
    Linear,
    RMSProp,
    accuracy,
    array_module,
    cross_entropy,
    gradcheck,
    load,
    moons,
    mse,
    numerical_gradient,
    replica,
    save,
    to_device,
    to_numpy,
)
from minigrad.beyond.graph import (
    Add,
    CrossEntropy,
    Exp,
    GraphLayer,
    Log,
    Multiply,
    ReLU,
    Softmax,
    Times,
    Variable,
)
from tests.devices import assert_agree

RNG = np.random.default_rng(0)
X, W, B = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 7)), RNG.normal(size=(7,))
STACK, STACKED = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(2, 3, 7))
POSITIVE = RNG.uniform(0.5, 2.0, size=(5, 3))
LABELS = np.array([0, 2, 6, 1, 1])
SHARES = RNG.dirichlet(np.ones(7), size=5)


def beside(node, T):
    """Targets in an array where a node's data is."""
    return array_module(node.data).asarray(np.array(T))


# Name, how it is built out of nodes, and the arrays that become nodes.
OPERATORS = [
    ("add", lambda x, b: x + b, (X, 2 * X)),
    ("add a row", lambda x, b: x + b, (X @ W, B)),
    ("add a column", lambda x, b: x + b, (X, X[:, :1])),
    ("a row in front", lambda b, x: b + x, (B, X @ W)),
    ("both repeated", lambda x, b: x + b, (X[:, :1], X[:1])),
    ("a stack and a matrix", lambda x, b: x + b, (STACK, X)),
    ("subtract", lambda x, b: x - b, (X, X[0])),
    ("subtract from a number", lambda x: 1.0 - x, (X,)),
    ("negative", lambda x: -x, (X,)),
    ("times", lambda x, w: x * w, (X, X[::-1])),
    ("times a number", lambda x, w: x * w, (X, X[0, 0])),
    ("divide", lambda x, w: x / w, (X, POSITIVE)),
    ("divide by a column", lambda x, w: x / w, (X, POSITIVE[:, :1])),
    ("a number divided", lambda w: 2.0 / w, (POSITIVE,)),
    ("square", lambda x: x**2, (X,)),
    ("root", lambda x: x**0.5, (POSITIVE,)),
    ("one over", lambda x: x**-1, (POSITIVE,)),
    ("power of zero", lambda x: x**0, (X,)),
    ("exp", Exp, (X,)),
    ("log", Log, (POSITIVE,)),
    ("sum", lambda x: x.sum(), (X,)),
    ("sum of rows", lambda x: x.sum(axis=0), (X,)),
    ("sum of two axes", lambda x: x.sum(axis=(0, -1), keepdims=True), (STACK,)),
    ("mean", lambda x: x.mean(), (X,)),
    ("mean of columns", lambda x: x.mean(axis=1, keepdims=True), (X,)),
    ("mean of two axes", lambda x: x.mean(axis=(0, 2)), (STACK,)),
    ("multiply", lambda x, w: x @ w, (X, W)),
    ("multiply one example", lambda x, w: x @ w, (X[0], W)),
    ("multiply by one column", lambda x, w: x @ w, (X, W[:, 0])),
    ("multiply two rows", lambda x, w: x @ w, (X[0], X[1])),
    ("multiply stacks", lambda x, w: x @ w, (STACK, STACKED)),
    ("multiply a stack by a matrix", lambda x, w: x @ w, (STACK, W)),
    ("multiply a matrix by a stack", lambda x, w: x @ w, (X, STACKED)),
    ("multiply one example by a stack", lambda x, w: x @ w, (X[0], STACKED)),
    ("multiply a stack by one column", lambda x, w: x @ w, (STACK, W[:, 0])),
    ("relu", ReLU, (X,)),
    ("softmax", Softmax, (X,)),
    ("softmax of one example", Softmax, (X[0],)),
    ("cross-entropy with labels", lambda y: CrossEntropy(y, beside(y, LABELS)), (X @ W,)),
    ("cross-entropy with shares", lambda y: CrossEntropy(y, beside(y, SHARES)), (X @ W,)),
    ("cross-entropy of steps", lambda y: CrossEntropy(y, beside(y, [LABELS, LABELS])), (STACK @ STACKED,)),
    ("a classifier", lambda x, w, b: CrossEntropy(ReLU(x @ w + b), beside(x, LABELS)), (X, W, B)),
    ("a diamond", lambda x, w: (x @ w) @ w + (x + x @ w), (X, W[:, :3])),
    ("a softmax by hand", lambda x: Exp(x) / Exp(x).sum(axis=1, keepdims=True), (X,)),
]
laws = pytest.mark.parametrize(("build", "arrays"), [pytest.param(b, a, id=name) for name, b, a in OPERATORS])


def passed(build, arrays, dY=None):
    """The node that is built, and the nodes of the arrays, after one way back."""
    nodes = [Variable(array) for array in arrays]
    end = build(*nodes)
    end.back(uneven(end.data) if dY is None else dY)
    return end, nodes


def uneven(array):
    """A gradient of an array's shape, in which no two entries are equal."""
    return np.linspace(-1.0, 2.0, array.size).reshape(array.shape)


# Laws of every operator


def test_the_laws_know_every_operator():
    known = {kind for kind in Variable.__subclasses__() if kind.__module__ == "minigrad.beyond.graph"}
    built = {type(node) for _, build, arrays in OPERATORS for node in passed(build, arrays)[0].graph()}
    assert built - {Variable} == known


@laws
def test_law_1_back_agrees_with_nudging(build, arrays):
    end, nodes = passed(build, arrays)
    for place, node in enumerate(nodes):

        def f(array, place=place):
            return build(*(Variable(array if i == place else a) for i, a in enumerate(arrays))).data

        true = numerical_gradient(f, arrays[place], uneven(end.data))
        assert node.g.shape == np.shape(arrays[place])
        np.testing.assert_allclose(node.g, true, rtol=1e-6, atol=1e-8)


@laws
def test_law_2_float32_stays_float32(build, arrays):
    end, nodes = passed(build, [array.astype(np.float32) for array in arrays])
    assert {array.dtype for node in end.graph() for array in (node.data, node.g)} == {np.dtype(np.float32)}
    exact, exact_nodes = passed(build, arrays)
    np.testing.assert_allclose(end.data, exact.data, rtol=1e-4, atol=1e-5)
    for node, exact_node in zip(nodes, exact_nodes, strict=True):
        np.testing.assert_allclose(node.g, exact_node.g, rtol=1e-4, atol=1e-4)


@laws
def test_law_3_a_second_way_back_adds_the_same_again(build, arrays):
    end, nodes = passed(build, arrays)
    first = [node.g.copy() for node in nodes]
    end.back(uneven(end.data))
    for node, once in zip(nodes, first, strict=True):
        np.testing.assert_allclose(node.g, 2 * once, rtol=1e-12, atol=1e-14)  # rounding


@laws
def test_law_4_nothing_that_is_given_changes(build, arrays):
    given = [np.array(array) for array in arrays]
    nodes = [Variable(array) for array in given]
    end = build(*nodes)
    kept = {node: node.data.copy() for node in end.graph()}
    dY = uneven(end.data)
    end.back(dY)
    np.testing.assert_array_equal(dY, uneven(end.data))
    for node, data in kept.items():
        np.testing.assert_array_equal(node.data, data)
    for node, array, original in zip(nodes, given, arrays, strict=True):
        np.testing.assert_array_equal(array, original)
        assert not np.shares_memory(node.data, array)


@laws
def test_law_5_a_node_given_twice_gets_both_gradients(build, arrays):
    end, nodes = passed(lambda *nodes: build(*nodes) + build(*nodes), arrays)
    once = passed(build, arrays)[1]
    for node, single in zip(nodes, once, strict=True):
        np.testing.assert_allclose(node.g, 2 * single.g, rtol=1e-12, atol=1e-15)


@laws
def test_law_6_it_computes_where_its_arrays_are(build, arrays, cupy):
    exact, exact_nodes = passed(build, arrays)
    end, nodes = passed(build, [cupy.asarray(array) for array in arrays], cupy.asarray(uneven(exact.data)))
    assert {type(node.data) for node in end.graph()} == {cupy.ndarray}
    assert {type(node.g) for node in end.graph()} == {cupy.ndarray}
    assert_agree(cupy, [end.data, *(node.g for node in nodes)], [exact.data, *(n.g for n in exact_nodes)])


# Numbers and arrays on either side


@pytest.mark.parametrize(
    ("write", "x"),
    [
        (lambda x: x + 1.0, X),
        (lambda x: 1.0 + x, X),
        (lambda x: x - 1, X),
        (lambda x: 1 - x, X),
        (lambda x: 2 * x, X),
        (lambda x: x / 4, X),
        (lambda x: 2 / x, X),
        (lambda x: np.float64(2.0) * x, X),
        (lambda x: X + x, X),
        (lambda x: X[0] - x, X),
        (lambda x: x * POSITIVE, X),
        (lambda x: POSITIVE / x, X),
        (lambda x: x @ W, X),
        (lambda x: X @ x, W),
        (lambda x: [1.0, 2.0, 3.0] + x, X),
        (lambda x: sum([x, x, x]), X),
        (lambda x: x**2 - x**3, X),
    ],
)
def test_formulas_take_numbers_and_arrays_on_either_side(write, x):
    node = Variable(x)
    end = write(node)
    truth = np.asarray(write(x))
    np.testing.assert_allclose(end.data, truth, rtol=1e-15)
    end.back(uneven(truth))
    np.testing.assert_allclose(
        node.g, numerical_gradient(lambda x: np.asarray(write(x)), x, uneven(truth)), rtol=1e-6, atol=1e-8
    )


def test_operators_of_two_nodes_take_arrays_by_name_too():
    for operator, arrays in ((Add, (X, X)), (Times, (X, X)), (Multiply, (X, W))):
        np.testing.assert_array_equal(operator(*arrays).data, operator(*map(Variable, arrays)).data)


def test_a_number_takes_the_type_of_the_node_beside_it():
    x = Variable(X.astype(np.float32))
    for end in (x - 1, 1 - x, x / 4, 4 / x, x**-1, x.mean(), -x):
        assert end.data.dtype == np.float32


def test_the_loss_and_the_softmax_are_those_of_the_library():
    for T in (LABELS, SHARES):
        L, backward = cross_entropy(X @ W, T)
        y = Variable(X @ W)
        loss = CrossEntropy(y, T)
        loss.back()
        np.testing.assert_allclose(loss.item(), L, rtol=1e-12)  # rounding
        np.testing.assert_allclose(y.g, backward(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(Softmax(Variable(X)).data, minigrad.Softmax()(X)[0], rtol=1e-12)


def test_large_scores_and_impossible_classes():
    y = Variable([[1000.0, 0.0, -np.inf]])
    loss = CrossEntropy(y, np.array([0]))
    loss.back()
    assert loss.item() == 0.0 and not y.g.any()
    assert Softmax(Variable([1000.0, 0.0])).data.tolist() == [1.0, 0.0]


# The walk


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
    x.back(10.0)  # a variable is its own end, and adds
    np.testing.assert_array_equal(x.g, 2 * first + 10.0)


def test_back_in_the_middle_leaves_the_rest_alone():
    x, w, v = Variable(X), Variable(W), Variable(W.T)
    h = x @ w
    y = h @ v
    h.back()
    np.testing.assert_array_equal(x.g, np.ones((5, 7)) @ W.T)
    assert not v.g.any() and not y.g.any()


# A leaf is a Parameter


def test_a_gradient_has_two_names_and_one_meaning():
    x = Variable(X)
    (x * 2.0).back()
    assert x.g is x.grad
    x.data -= 0.5 * x.g
    np.testing.assert_array_equal(x.data, X - 1.0)
    np.testing.assert_array_equal(x.g, np.full_like(X, 2.0))  # setting data leaves it: zero_grad resets
    x.zero_grad()
    assert not x.g.any()
    x.g = X
    np.testing.assert_array_equal(x.grad, X)


OPTIMIZERS = {
    "plain": lambda: SGD(0.1),
    "momentum": lambda: SGD(0.1, momentum=0.9),
    "adam": lambda: Adam(0.1),
    "adamw": lambda: AdamW(0.1),
    "rmsprop": lambda: RMSProp(0.1),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_every_optimizer_trains_leaves_as_it_trains_a_layer(optimizer):
    layer = Linear(3, 7, rng=0)
    w, b, by_layer, by_graph = Variable(layer.W.data), Variable(layer.b.data), optimizer(), optimizer()
    for _ in range(20):
        layer.zero_grad()
        Y, backward = layer(X)
        L, loss_backward = cross_entropy(Y, LABELS)
        backward(loss_backward())
        by_layer.step(layer.parameters())
        for leaf in (w, b):
            leaf.zero_grad()
        CrossEntropy(X @ w + b, LABELS).back()
        by_graph.step([w, b])
    np.testing.assert_allclose(w.data, layer.W.data, rtol=1e-9)
    np.testing.assert_allclose(b.data, layer.b.data, rtol=1e-9)
    assert L < cross_entropy(Linear(3, 7, rng=0)(X)[0], LABELS)[0]


def test_optimizers_pass_operators_and_frozen_leaves_by():
    x, w = Variable(X), Variable(W)
    w.trainable = False
    y = x @ w
    y.back()
    assert w.g.any() and not y.trainable
    SGD(0.1).step([w, y])
    np.testing.assert_array_equal(w.data, W)
    np.testing.assert_array_equal(y.data, X @ W)


def test_leaves_of_one_number_can_be_trained():
    for optimizer in OPTIMIZERS.values():
        a, step = Variable(3.0), optimizer()
        for _ in range(300):
            a.zero_grad()
            ((a - 1.0) ** 2).back()
            step.step([a])
        assert abs(a.item() - 1.0) < 0.2 and a.shape == ()


# A graph as a layer


def classifier(rng):
    """A function of nodes with weights in its closure."""
    W1, b1 = Variable(rng.normal(size=(2, 7))), Variable(np.zeros(7))
    W2, b2 = Variable(rng.normal(size=(7, 2)) / 3), Variable(np.zeros(2))
    return lambda x: ReLU(x @ W1 + b1) @ W2 + b2


def test_a_graph_passes_gradcheck_as_a_layer_among_layers():
    m1, m2, m3 = (Variable(RNG.normal(size=(3, 3))) for _ in range(3))

    def branching(x):  # m3(m2(X) + m1(X)), which no chain can say
        return Softmax(ReLU(x @ m1) + x @ m2) @ m3

    report = gradcheck(Linear(2, 3, rng=0) >> GraphLayer(branching) >> Linear(3, 2, rng=1), X[:, :2])
    assert report.ok, report
    assert [row.name for row in report.rows][3:6] == [f"layers.1.build.m{i}" for i in (1, 2, 3)]
    assert gradcheck(GraphLayer(classifier(RNG)), X[:, :2]).ok


def test_a_graph_of_two_inputs_is_a_layer_of_a_tuple():
    report = gradcheck(GraphLayer(lambda x, z: x * z + z), (X, POSITIVE))
    assert report.ok, report
    Y, backward = GraphLayer(lambda x, z: x / z)((X, POSITIVE))
    dX, dZ = backward(np.ones_like(Y))
    np.testing.assert_allclose(dX, 1 / POSITIVE)
    np.testing.assert_allclose(dZ, -X / POSITIVE**2)


def test_a_learner_trains_a_graph_and_its_weights_come_back_from_a_file(tmp_path):
    points, T = moons(200, rng=0)
    model = GraphLayer(classifier(np.random.default_rng(0)))
    assert list(model.named_parameters()) == ["build.W1", "build.W2", "build.b1", "build.b2"]
    assert repr(model) == "GraphLayer(<lambda>)"
    Learner(model, cross_entropy, Adam(0.05), rng=0).fit(points, T, epochs=60)
    assert accuracy(model.predict(points), T) > 0.95
    save(tmp_path / "graph.npz", model)
    fresh = load(tmp_path / "graph.npz", GraphLayer(classifier(np.random.default_rng(1))))
    np.testing.assert_array_equal(fresh.predict(points), model.predict(points))


def test_a_graph_layer_is_copied_shared_converted_and_moved(cupy):
    model, points = GraphLayer(classifier(np.random.default_rng(0))), X[:, :2]
    Y = model.predict(points)
    twin, other = replica(model), copy.deepcopy(model)
    for parameter in model.parameters():
        parameter.data += 0.5
    np.testing.assert_array_equal(other.predict(points), Y)
    np.testing.assert_array_equal(twin.predict(points), model.predict(points))
    backward = twin(points)[1]
    backward(np.ones((5, 2)))
    assert twin.parameters()[0].g.any() and not model.parameters()[0].g.any()
    assert other.to(np.float32).predict(points.astype(np.float32)).dtype == np.float32
    Y = model.predict(points)
    assert_agree(cupy, [to_device(model, "gpu").predict(cupy.asarray(points))], [Y])


def test_each_way_back_belongs_to_its_own_pass():
    w = Variable(W)
    layer = GraphLayer(lambda x: Exp(x @ w))
    Y, backward = layer(X)
    layer(2 * X)
    first = backward(np.ones_like(Y))
    kept = first.copy()
    np.testing.assert_allclose(first, Y @ W.T)
    np.testing.assert_array_equal(backward(2 * np.ones_like(Y)), 2 * kept)
    np.testing.assert_array_equal(first, kept)  # what was handed out stays
    np.testing.assert_allclose(w.g, 3 * X.T @ Y)


def test_a_new_operator_is_a_subclass():
    class Square(Variable):
        def __init__(self, x):
            self.note = "a subclass may keep what it likes"
            super().__init__(x.data**2, x)

        def _back(self):
            self.parents[0].g += 2 * self.g * self.parents[0].data

    for build, arrays in ((Square, (X,)), (lambda x, w: Square(x @ w) + x @ w, (X, W))):
        for node, true in zip(
            passed(build, arrays)[1],
            passed(lambda *nodes, build=build: by_power(build, Square, nodes), arrays)[1],
            strict=True,
        ):
            np.testing.assert_allclose(node.g, true.g, rtol=1e-12)
    e = Variable(X)
    loss, backward = mse(X, np.zeros((5, 3)))
    Square(e).back()
    np.testing.assert_allclose(e.g / X.size, backward(), rtol=1e-12)  # rounding
    assert repr(Square(e)) == "Square(5, 3)" and loss > 0


def by_power(build, Square, nodes):
    """What a reader's Square builds, with the library's power in its place."""
    return nodes[0] ** 2 if build is Square else (nodes[0] @ nodes[1]) ** 2 + nodes[0] @ nodes[1]


def test_arrays_come_back_as_numpy_from_the_device(cupy):
    x = Variable(cupy.asarray(X))
    (2.0 - x).sum().back()
    np.testing.assert_array_equal(to_numpy(x.g), np.full_like(X, -1.0))


def test_data_in_a_formula_are_not_weights():
    W = Variable([[2.0], [3.0]])
    loss = ((X[:, :2] @ W + 1.0) ** 2).mean()
    loss.back()
    assert [node for node in loss.graph() if node.trainable] == [W]
    assert float(loss) == loss.item()
