"""NNKit's page: its listings, in the fewest lines, with its own weights and numbers.

Federico Saldarini, "NNKit: a Python framework for dynamic neural networks", Codes 1 to 4. What a listing
names differently is named here, once: NetVar, SoftMax, CELoss, GD and FFN. The page's loss takes
probabilities, since its network ends with a softmax.
"""

import numpy as np
import pytest

from minigrad import SGD
from minigrad.beyond.graph import Add, CrossEntropy, Log, Multiply, ReLU, Softmax, Variable

NetVar, SoftMax = Variable, Softmax


def CELoss(p, t):
    return -(t * Log(p)).sum(axis=-1).mean()


class GD:
    """Code 3: gradient descent with momentum as an average. What resets a gradient is `zero_grad` here."""

    learnRate, momentum = 0.1, 0.9

    def __init__(self, params):
        self.params, self.m = params, [np.zeros_like(p.data) for p in params]

    def step(self):
        for i, p in enumerate(self.params):
            self.m[i] = self.momentum * self.m[i] + (1 - self.momentum) * p.g
            p.data -= self.learnRate * self.m[i]
            p.zero_grad()


class FFN:
    """A network as a list of tuples: an operator, and its operands besides the node before it."""

    def __init__(self, *topology):
        self.topology = list(topology)

    @property
    def vars(self):
        return [v for _, *operands in self.topology for v in operands]

    def __call__(self, x):
        for operator, *operands in self.topology:
            x = operator(x, *operands)
        self.last = x
        return x

    def back(self):
        self.last.back()


def code_1():
    """Code 1, as it stands there."""
    x = NetVar([1, 2])
    w1 = NetVar([[3, 4, 5], [6, 7, 8]])
    b1 = NetVar([1, 2, 3])
    w2 = NetVar([[1, 2, 3], [3, 4, 5], [6, 7, 8]])
    b2 = NetVar([1, 2, 3])

    mul1 = Multiply(x, w1)
    add1 = Add(mul1, b1)
    relu1 = ReLU(add1)

    mul2 = Multiply(relu1, w2)
    add2 = Add(mul2, b2)
    smax2 = SoftMax(add2)
    return x, w1, b1, w2, b2, relu1, add2, smax2


def test_code_1_gives_the_values_of_figure_3():
    *_, relu1, add2, smax2 = code_1()
    assert relu1.data.tolist() == [16, 20, 24]
    assert add2.data.tolist() == [221, 282, 343]
    np.testing.assert_allclose(smax2.data, [0, 3e-27, 1], rtol=0.1, atol=1e-50)


def test_code_1_goes_back_from_any_node():
    x, w1, b1, w2, b2, relu1, add2, smax2 = code_1()
    relu1.back()
    assert x.g.tolist() == [12, 21]  # the sums of the rows of w1
    assert w1.g.tolist() == [[1, 1, 1], [2, 2, 2]] and b1.g.tolist() == [1, 1, 1]
    assert not w2.g.any() and not b2.g.any()
    relu1.back()
    assert x.g.tolist() == [24, 42]
    add2.back()
    assert w2.g.tolist() == [[16] * 3, [20] * 3, [24] * 3]
    smax2.back()
    assert np.abs(x.g - ([24, 42] + w1.data @ w2.data.sum(axis=1))).max() < 1e-9  # probabilities sum to 1


def ours(params):
    """The library's momentum takes the page's variables, too."""
    optimizer = SGD(learning_rate=0.1, momentum=0.9, average=True)

    class Ours:
        def step(self):
            optimizer.step(params)
            for p in params:
                p.zero_grad()

    return Ours()


def test_code_3_walks_the_path_of_the_librarys_momentum():
    paths = []
    for optimizer in (GD, ours):
        p, target = NetVar([3.0, -2.0]), np.array([1.0, 5.0])
        steps, path = optimizer([p]), []
        for _ in range(50):
            ((p - target) ** 2).sum().back()
            steps.step()
            path.append(p.data.copy())
        paths.append(path)
    np.testing.assert_allclose(*paths, rtol=1e-10)
    assert np.abs(paths[0][-1] - target).max() < 1.0 < np.abs(paths[0][0] - target).max()


@pytest.mark.parametrize("optimize", [GD, ours])
def test_code_4_trains_until_the_loss_is_small(optimize):
    rng = np.random.default_rng(0)
    rand2 = lambda *shape: NetVar(rng.normal(size=shape) / 2)  # noqa: E731  the page's name
    x = NetVar([1, 2])
    net = FFN(
        (Multiply, rand2(2, 3)),
        (Add, rand2(3)),
        (ReLU,),
        (Multiply, rand2(3, 3)),
        (Add, rand2(3)),
        (SoftMax,),
    )
    optimizer = optimize(net.vars)
    target = NetVar([0, 0, 1])
    net.topology.append((CELoss, target))

    losses = [float("inf")]
    while losses[-1] > 0.01:
        losses.append(net(x).item())
        net.back()
        optimizer.step()
    net.topology.pop()

    assert losses[1] > 0.5 and 10 < len(losses) < 1000
    assert net(x).data.argmax() == 2 and net(x).data[2] > 0.99
    assert target.data.tolist() == [0, 0, 1]  # a target is no parameter: nobody handed it to the optimizer


def test_a_softmax_before_our_loss_of_scores_stalls():
    losses = {}
    for name, scores in (("scores", lambda x: x), ("probabilities", SoftMax)):
        x, T = NetVar([[0.0, 0.0, 0.0]]), np.array([[0, 0, 1.0]])
        for _ in range(2000):
            L = CrossEntropy(scores(x), T)
            L.back()
            SGD(0.5).step([x])
            x.zero_grad()
        losses[name] = L.item()
    assert losses["scores"] < 0.01 and 0.55 < losses["probabilities"] < 0.56  # log(1 + 2 / e) is 0.5514
