"""The exercises of chapter 11: walks over graphs, an order, an operator, a loss, counts, and a stale node."""

from contextlib import nullcontext
from copy import deepcopy
from itertools import permutations

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, are_numbers_other, described
from course.checks.questions import (
    BATCH,
    N_IN,
    N_OUT,
    OWN_MEMORY,
    because,
    drawn_sizes,
    expect_gradients,
    expect_guesses,
    expect_several,
    expect_shape,
    expect_values,
    explained,
    untouched,
)
from minigrad.beyond.graph import Add, CrossEntropy, Variable
from minigrad.check.numerical import numerical_gradient
from minigrad.layers.linear import Linear
from minigrad.losses import cross_entropy
from minigrad.optimizers import SGD

# 1. three walks over one graph

three_walks = Exercise(
    "11_graphs.three_walks",
    title="Three walks",
    points=2,
    kind="predict",
    minutes=8,
    hints=(
        "Write down, for each visit of a node, which gradient it has then, and to which nodes it adds it.",
        "c adds 1 to b and 1 to d. Then b has its turn, with 1. Then d, with 1: it adds 1 to b and 1 to a. "
        "What happens next differs from walk to walk.",
        "The naive walk goes from d to b again, which now has 2 and adds it twice. The second walk does not. "
        "In the sorted one d has its turn before b.",
    ),
)


def _walked(node, seen=None):
    """Walk a graph as the naive walk does, or, with a set, visiting each node once."""
    if node.parents and (seen is None or node not in seen):
        if seen is not None:
            seen.add(node)
        node._back()
        for parent in node.parents:
            _walked(parent, seen)


def _end(a):
    """Return the last sum of the exercise."""
    b = a + a
    return b + (b + a)


def _arrived():
    """Return the gradient of a in the naive walk, in the one that visits once, and in the sorted one."""
    arrived = []
    for seen in (None, set()):
        a = Variable(1.0)
        c = _end(a)
        c.g += 1.0
        _walked(c, seen)
        arrived.append(a.g.item())
    return *arrived, float(numerical_gradient(_end, 1.0))


@three_walks.check
def _(answer, rng):
    naive, once, in_order = _arrived()
    expect_guesses(
        answer(),
        {
            "what arrives in the naive walk": naive,
            "what arrives in the walk that visits once": once,
            "what arrives in the sorted walk": in_order,
        },
    )
    return "walked, twice; and the sorted one compared with nudging"


three_walks.slips(
    {
        (5, 5, 5): "The slope of c is 5, but only one of the three walks finds it.",
        (8, 4, 4): "These are the numbers of the chapter's small example.",
        (9, 3, 5): "At its first visit b has only 1; the other 1 comes from d, later.",
        (5, 3, 5): "At its second visit b has 2, and passes on both again.",
        (7, 5, 5): "Node b had its turn before d brought its second 1, and gets no other turn.",
        (7, 3, 3): "In the sorted walk d has its turn before b: d is younger, as it was made from b.",
        (6, 2, 4): "Node d passes on its 1 to a, too, besides what a gets from b.",
    }
)


for _order in list(permutations(range(3)))[1:]:
    three_walks.mistake("These are the right numbers in another order: first naive, then once, then sorted.")(
        lambda order=_order: np.take(_arrived(), order)
    )


# 2. a topological order

children_first = Exercise(
    "11_graphs.children_first",
    title="Children first",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Which names may be first? Those that are not the parent of any name. Suppose you remove them: which "
        "may be next?",
        "Keep a dict of names that still wait. In a loop: collect the parents of all that wait, in a set. "
        "A waiting name that is not in that set is ready.",
        "`while waiting:` put into a set all parents in `waiting.values()`; the ready ones, which are not in "
        "it, go to the end of the order, and are deleted from `waiting`, a copy of the dict.",
    ),
)


def _graph(rng, count):
    """Return a graph of so many names, listed in any order; some have the same parent twice."""
    names = [f"v{number}" for number in rng.permutation(count)]  # a name does not reveal the position
    parents = {}
    for place, name in enumerate(names):
        older = names[max(0, place - 4) : place]
        parents[name] = [] if place < 2 else [str(rng.choice(older)) for _ in range(2)]
    return {name: parents[name] for name in rng.permutation(names).tolist()}


def _require_order(found, parents):
    """Require a list of all names, children first."""
    if not isinstance(found, list | tuple):
        raise CheckFailed(f"it must return a list of names, but returned {described(found)}")
    strange = [name for name in found if name not in parents]
    missing = [name for name in parents if name not in found]
    twice = [name for name in parents if found.count(name) > 1]
    for fault, names in (("no name of the graph", strange), ("missing", missing), ("there twice", twice)):
        if names:
            raise CheckFailed(f"in your list {names[0]} is {fault}; it must hold each name of the graph once")
    place = {name: index for index, name in enumerate(found)}
    for child, names in parents.items():
        for parent in names:
            if place[parent] < place[child]:
                raise CheckFailed(f"{parent} is before its child {child}")


@children_first.check
def _(answer, rng):
    diamond = {"a": [], "h": ["a", "a"], "c": ["h", "k"], "k": ["h", "h"]}
    graphs = [{"a": []}, {"a": [], "c": ["b", "b"], "b": ["a", "a"]}, diamond]
    graphs += [_graph(rng, count) for count in (3, 4, 5, 6) * 8]
    graphs = sorted(graphs, key=len) + [_graph(rng, 47)]  # the smallest that fails is shown
    for parents in graphs:
        given = deepcopy(parents)
        found = answer(given)
        if given != parents:
            raise CheckFailed("it changes the dict or a list in it, which belong to its caller: make copies")
        try:
            _require_order(found, parents)
        except CheckFailed as no:
            shown = str(parents) if len(parents) < 7 else f"a graph of {len(parents)} names"
            raise CheckFailed(f"for {shown}, {no.sentence}", name=no.name) from no
    return "a single variable, a row, a diamond, and 33 random graphs"


@children_first.probe
def _(answer, rng):
    parents = {"a": [], "h": ["a", "a"], "c": ["h", "k"], "k": ["h", "h"]}
    listed = "ahck", "hcak"  # in the second, following the parents of each name breaks the order
    return tuple(answer({name: list(parents[name]) for name in names}) for names in listed)


def walked(parents, starts, at_the_end=False):
    """Return names in the order of their first visit, or of its end."""
    order = []

    def visit(name):
        if name in order:
            return
        if not at_the_end:
            order.append(name)
        for parent in parents[name]:
            visit(parent)
        if at_the_end:
            order.append(name)

    for name in starts:
        visit(name)
    return order


def childless(parents):
    """Return the names that are no name's parent."""
    return [name for name in parents if not any(name in names for names in parents.values())]


for sentence, order in {
    "You return the names in the order of the dict, which is arbitrary.": list,
    "You reverse the dict; its order is arbitrary, either way.": lambda parents: list(parents)[::-1],
    "The order of the alphabet is right in the small example by chance.": (
        lambda parents: sorted(parents, reverse=True)
    ),
    "That is parents first: reverse it.": lambda parents: walked(parents, parents, at_the_end=True),
}.items():
    children_first.mistake(sentence)(order)

BY_CHILDREN = children_first.mistake(
    "You sort by the number of children; that is not how far a name is from the end."
)
BY_CHILDREN(
    lambda parents: sorted(parents, key=lambda name: sum(names.count(name) for names in parents.values()))
)
BY_CHILDREN(
    lambda parents: sorted(parents, key=lambda name: sum(name in names for names in parents.values()))
)

FIRST_VISIT = children_first.mistake(
    "A name is listed at its first visit; it must wait for all of its children."
)
FIRST_VISIT(lambda parents: walked(parents, childless(parents)))
FIRST_VISIT(lambda parents: walked(parents, parents))


@FIRST_VISIT
def breadth_first(parents):
    order = childless(parents)
    for name in order:
        order += [parent for parent in dict.fromkeys(parents[name]) if parent not in order]
    return order


# 3. an operator

concatenate = Exercise(
    "11_graphs.Concatenate",
    title="Side by side",
    points=3,
    kind="fill",
    minutes=10,
    answer="class",
    changes=True,
    hints=(
        "Look at `Multiply` in the chapter: what does its `__init__` pass to `super().__init__`, and what "
        "does its `_back` begin with?",
        "`np.concatenate([…], axis=1)` joins columns. In the backward pass the first columns of `self.g`, as "
        "many as x has, are for x.",
        "The number of x's columns is `x.data.shape[1]`. Slice `self.g` there, `[:, :…]` and `[:, …:]`, and "
        "add each part to its parent's g with `+=`.",
    ),
)


WIDER = 11  # than x by an even number whose half is not the batch: a cut in the middle is not another mistake
FIRST_LOST = "The left part is lost: read x.g again before the right part is added."
SECOND_LOST = "The right part is lost: each of two equal parents gets its own part."
NOT_THROUGH = "It is lost: an operator is not trainable, and gets a new g in each back"
OF_ITS_OWN = "A node must keep what its backward pass needs on `self`, or read it from its parents"


def _joined(answer, arrays):
    """Return the arrays' Variables, and the node that an answer makes of them."""
    parents = [Variable(array) for array in arrays]
    node = answer(*parents)
    if not isinstance(node, Variable):
        raise CheckFailed("Concatenate must be a subclass of Variable")
    return parents, node


@concatenate.check
def _(answer, rng):
    rows, n_x, n_z = drawn_sizes(rng, BATCH, N_IN, WIDER)
    for batch in (rows, 1):
        arrays = [rng.normal(size=(batch, width)) for width in (n_x, n_z)]
        parents, node = _joined(answer, arrays)
        expect_values("the node's data", node.data, np.hstack(arrays))
        if tuple(node.parents) != tuple(parents):
            packed = any(isinstance(parent, tuple | list) for parent in node.parents)
            got = "one tuple or list of both" if packed else str(len(node.parents))
            raise CheckFailed(
                f"the node's parents must be x and z, in this order, but it has {got}: "
                "pass them to super().__init__(data, x, z)"
            )
        dY, added = rng.normal(size=(3, *node.data.shape)), 0.0
        for number, case in enumerate(("", "after a second back, ", "after another node was made, ")):
            if number == 2:
                _joined(answer, arrays[::-1])
            with because(OF_ITS_OWN) if number == 2 else nullcontext():
                _go_back(case, node, dY[number])
                added += dY[number]
                for name, parent, part in zip("xz", parents, np.split(added, [n_x], axis=1), strict=True):
                    expect_shape(f"{name}.g", parent.g, name, parent.data)
                    expect_values(f"{case}{name}.g", parent.g, part)
    x, weights = Variable(arrays[0]), rng.normal(size=(2 * n_x, 1))
    (answer(x, x) @ Variable(weights)).back()
    first, second = weights[:n_x].T, weights[n_x:].T
    with explained({"x.g": x.g}, {"x.g": [(FIRST_LOST, second), (SECOND_LOST, first)]}):
        expect_values("for Concatenate(x, x), x.g", x.g, first + second)
    double = 2 * x
    node = answer(double, x)
    double.g, node.g = np.zeros_like(x.data), rng.normal(size=node.data.shape)  # as `back` does
    node._back()
    with nullcontext() if double.g.any() else because(NOT_THROUGH):
        expect_values("for Concatenate(2 * x, x), the g of 2 * x", double.g, node.g[:, :n_x])
    return "two batches, three backward passes, and one node given twice"


def _go_back(case, node, dY):
    """Run a node's backward pass; add the case to the message of an exception."""
    try:
        node.back(dY)
    except Exception as error:
        if not case:
            raise
        raised = f"{type(error).__name__}: {error}".strip(". ")
        raise CheckFailed(f"{case}back raises {raised}") from error


@concatenate.probe
def _(answer, rng):
    (x, z), node = _joined(answer, [rng.normal(size=(BATCH, width)) for width in (N_IN, N_OUT)])
    node.back(rng.normal(size=node.data.shape))
    return x.g, z.g


def operator(join, back, keep=lambda x, z: (x, z)):
    """Return an operator with this forward and this backward function."""

    class Concatenate(Variable):
        def __init__(self, x, z):
            super().__init__(join(x.data, z.data), *keep(x, z))

        def _back(self):
            back(self, *self.parents)

    return Concatenate


def side_by_side(x, z):
    """Return the columns of x and of z."""
    return np.concatenate([x, z], axis=1)


def split_columns(node, x, z):
    """Add to each parent its part."""
    x.g += node.g[:, : x.data.shape[1]]
    z.g += node.g[:, x.data.shape[1] :]


def _assign(node, x, z):
    x.g, z.g = map(np.copy, np.split(node.g, [x.data.shape[1]], axis=1))


def _once(node, x, z):
    if x is z or not x.g.any():
        split_columns(node, x, z)


def _ones(node, x, z):
    x.g += 1.0
    z.g += 1.0


def _only_x(node, x, z):
    x.g += node.g[:, : x.data.shape[1]]


def _all_to_both(node, x, z):
    x.g += node.g
    z.g += node.g


def _halves(node, x, z):
    left, right = np.split(node.g, 2, axis=1)
    x.g += left
    z.g += right


def _halves_anew(node, x, z):
    left, right = np.split(node.g, 2, axis=1)
    x.g = x.g + left
    z.g = z.g + right


CUT_IN_THE_MIDDLE = "The gradient is cut in the middle; cut it where the columns of x end."
for sentence, _back in [
    ("Your `_back` assigns where it must add.", _assign),
    ("A second backward pass adds nothing: `_back` adds whenever it is called.", _once),
    ("The parts are exchanged: the first columns belong to x.", lambda node, x, z: split_columns(node, z, x)),
    ("That is a gradient of ones; pass on the columns of self.g.", _ones),
    ("You add nothing for z: the last columns of self.g are its part.", _only_x),
    ("You add nothing to either parent: `_back` must do that.", lambda node, x, z: None),
    ("All of the gradient goes to both parents: each gets only its own columns.", _all_to_both),
    (CUT_IN_THE_MIDDLE, _halves),
    (CUT_IN_THE_MIDDLE, _halves_anew),
]:
    concatenate.mistake(sentence)(operator(side_by_side, _back))
for _back in (split_columns, lambda node, x, z: split_columns(node, z, x)):
    concatenate.mistake("The columns of z are left of those of x.")(
        operator(lambda x, z: side_by_side(z, x), _back)
    )


@concatenate.mistake("Both are Variables: join their arrays, x.data and z.data.")
class JoinsVariables(Variable):
    def __init__(self, x, z):
        super().__init__(np.concatenate([x, z], axis=1), x, z)


@concatenate.mistake("You joined rows, not columns: use axis=1.")
class JoinsRows(Variable):
    def __init__(self, x, z):
        super().__init__(np.concatenate([x.data, z.data], axis=0), x, z)


# 4. a loss made of a graph

as_loss = Exercise(
    "11_graphs.as_loss",
    title="A loss that is a graph",
    points=3,
    kind="fill",
    minutes=10,
    changes=True,  # the g of nodes
    hints=(
        "Three nested functions: `as_loss` has build, `loss` has Y and T, `backward` has dL.",
        "In `loss`: make a Variable of Y, let `build` make the node, and return its number, "
        "`node.item()`, with a closure.",
        "In `backward`: give the Variable a new gradient of zeros, call `node.back(dL)`, and return the "
        "Variable's `g`.",
    ),
)


class _SquaredErrors(Variable):
    """The sum of the squared errors: in the backward pass it reads the data of its parent again."""

    def __init__(self, y, T):
        self.T = T
        super().__init__(np.square(y.data - T).sum(), y)

    def _back(self):
        (y,) = self.parents
        y.g += 2 * self.g * (y.data - self.T)


def _of_squares(y, T):
    """Return the loss of a graph of several operators, with y in it three times."""
    return CrossEntropy(y * y + y, T)


@as_loss.check
def _(answer, rng):
    labels = rng.integers(N_OUT, size=BATCH)
    cases = (CrossEntropy, labels), (_SquaredErrors, rng.normal(size=(BATCH, N_OUT))), (_of_squares, labels)
    losses = [answer(build) for build, _ in cases]
    for loss, (build, T) in zip(losses, cases, strict=True):
        if not callable(loss):
            raise CheckFailed(f"as_loss must return a function, loss(Y, T), but returned {described(loss)}")
        Y, other = rng.normal(size=(2, BATCH, N_OUT))
        last = _of_squares(Variable(Y), labels).item()
        with untouched(Y=Y, T=T):
            _expect_loss(loss, lambda Y, build=build, T=T: build(Variable(Y), T).item(), Y, other, T, last)
    calls = []
    _, backward = answer(lambda y, T: calls.append(y) or _of_squares(y, T))(Y, labels)
    backward(), backward()
    if len(calls) > 1:
        raise CheckFailed(
            f"in one pass, build is called {len(calls)} times: build the graph once, in loss, and go back "
            "through this one; a build that draws numbers would make another graph"
        )
    return "three losses, values, gradients, dL, and several calls"


ANOTHER_BUILD = "That is the L of another build: each call of as_loss must return a loss with its own"
BEGIN_WITH_ZEROS = "Gradients of variables add up: begin with zeros in each backward"


def _expect_loss(loss, f, Y, other, T, last):  # noqa: PLR0913  two passes, and the L of the last build
    """Require that a loss agrees with f, in two passes, one after the other and interleaved."""
    L, backward = expect_several(loss(Y, T), "L", "backward")
    if isinstance(L, Variable | np.ndarray):
        found = "a node" if isinstance(L, Variable) else "an array"
        raise CheckFailed(f"L is {found}, and it must be a plain number: write node.item()")
    with explained({"L": L}, {"L": [(ANOTHER_BUILD, last)]}):
        expect_values("L", L, f(Y))
    expect_gradients(f, {"Y": Y}, np.array(1.0), {"Y": _dY_of(backward)})
    truth, (_, backward) = numerical_gradient(f, Y), loss(Y, T)
    first = _dY_of(backward, 3.0)
    slips = [("The argument dL is not used: start the backward pass with it", truth)]
    _expect_dY("of backward(3.0)", first, 3 * truth, slips)
    kept = np.copy(first)
    slips = [(BEGIN_WITH_ZEROS, 4 * truth), ("That is what the first call returned: begin anew", 3 * truth)]
    _expect_dY("of backward() after backward(3.0)", _dY_of(backward), truth, slips)
    expect_values("with another Y, L", loss(other, T)[0], f(other))
    with because(OWN_MEMORY):
        _expect_dY("after another pass", _dY_of(backward), truth)
    if not np.array_equal(first, kept):
        raise CheckFailed("the dY of backward(3.0) was changed by a later call: make a new array")


def _dY_of(backward, *dL):
    """Return what backward returns; require that it is an array with numbers other than 0."""
    dY = backward(*dL)
    if dY is None or isinstance(dY, Variable):
        found = "nothing" if dY is None else "a node"
        raise CheckFailed(f"backward returns {found}: return dY, the g of the Variable made of Y")
    if not np.any(dY):
        raise CheckFailed("dY is 0 everywhere; it must be the g of the Variable, as node.back(dL) leaves it")
    return dY


def _expect_dY(when, dY, truth, slips=()):
    """Require the values of dY in a later call."""
    with explained({"dY": dY}, {"dY": slips}):
        expect_values(f"{when}, dY", dY, truth, "nudging says")


@as_loss.probe
def _(answer, rng):
    Y = rng.normal(size=(BATCH, N_OUT))
    return np.array(answer(_SquaredErrors)(Y, np.zeros((BATCH, N_OUT)))[1]())


@as_loss.mistake("A Variable goes into build: make one of Y, and return its g.")
def without_a_variable(build):
    def loss(Y, T):
        node = build(Y, T)

        def backward(dL=1.0):
            node.back(dL)
            return Y.g

        return node.item(), backward

    return loss


@as_loss.mistake("One Variable serves all passes: each call of loss must make its own.")
def with_one_variable(build):
    y = Variable(0.0)

    def loss(Y, T):
        y.data = Y
        return build(y, T).item(), lambda dL=1.0: y.g

    return loss


@as_loss.mistake("The array itself went into `build`, which expects a Variable made from it.")
def with_a_raw_array(build):
    def loss(Y, T):
        node = build(Y, T)
        return node.item(), lambda dL=1.0: node.back(dL)

    return loss


# 5. calls

count_calls = Exercise(
    "11_graphs.count_calls",
    title="Count without calling",
    points=3,
    kind="fill",
    minutes=10,
    hints=(
        "How often is a node called? Each call of one of its children calls it as often as that child lists "
        "it.",
        "Go through `node.graph()`, youngest first, with a dict of calls: 1 for the node itself, 0 for the "
        "others.",
        "Two nested loops: over the nodes in that order, and over the parents of each. A parent "
        "gets as many more calls as the node that lists it has. Finally add up all values of the dict.",
    ),
)
READS = 5000  # reads of parents; a hundred nodes do not need more


class _Sum(Variable):
    """A node that counts how often the parents of such nodes are read."""

    reads = 0

    @property
    def parents(self):
        """The parents, counted."""
        _Sum.reads += 1
        if _Sum.reads > READS:
            raise CheckFailed(
                f"it reads parents more than {READS:,} times: do not make the calls in order to count them"
            )
        return self._parents

    @parents.setter
    def parents(self, parents):
        self._parents = parents


def _tower(levels):
    """Return the top node of levels, each the sum of the one below with itself."""
    top = _Sum(0.0)
    for _ in range(levels):
        top = _Sum(0.0, top, top)
    return top


def _ladder(sums):
    """Return the last of several sums, each of the two nodes before it, starting with two variables."""
    one, two = _Sum(0.0), _Sum(0.0)
    for _ in range(sums):
        one, two = two, _Sum(0.0, one, two)
    return two


def _calls(node, own=lambda parents: 1, called=tuple):
    """Count the calls of a graph, from the oldest node to the youngest; for mistakes, with other parts."""
    calls = {}
    for child in reversed(node.graph()):
        calls[child] = own(child.parents) + sum(calls[parent] for parent in called(child.parents))
    return calls[node]


@count_calls.check
def _(answer, rng):
    cases = {
        "one variable": _Sum(0.0),
        "c = b + b, with b = a + a": _tower(2),
        "d = b + c, with c = a + b": _ladder(2),
        "7 sums, the first a + b, each next one of the two nodes before it": _ladder(7),
        "60 sums, the first a + b, each next one of the two nodes before it": _ladder(60),
        "60 levels, each the sum of the one below with itself": _tower(60),
    }
    if are_numbers_other():
        sums, levels = (int(count) for count in rng.integers(9, 50, size=2))
        cases |= {
            f"{sums} sums, the first a + b, each next one of the two nodes before it": _ladder(sums),
            f"{levels} levels, each the sum of the one below with itself": _tower(levels),
        }
    for name, node in cases.items():
        _Sum.reads = 0
        truth = _calls(node)
        _Sum.reads = 0
        try:
            found = answer(node)
        except CheckFailed as no:
            raise CheckFailed(f"for {name}, {no.sentence}", name=no.name) from no
        if isinstance(found, bool) or not isinstance(found, int | np.integer):
            raise CheckFailed(f"for {name}, it must return an int, but returned {described(found)}")
        if found != truth:
            raise CheckFailed(f"for {name}, it counts {found:,} calls; the naive walk makes {truth:,}")
    return "sums of one node with itself, and of two different ones, up to 60 levels"


@count_calls.probe
def _(answer, rng):
    _Sum.reads = 0
    return tuple(answer(node) for node in (_tower(2), _tower(3), _ladder(5)))


for sentence, count in {
    "That is the number of nodes, each counted once.": lambda node: len(node.graph()),
    "A parent that is listed twice is called twice.": lambda node: _calls(node, called=set),
    "Those are the calls of nodes with parents; variables are called as well.": (
        lambda node: _calls(node, own=lambda parents: len(parents) > 0)
    ),
    "Those are the paths to the variables; the calls on the way count as well.": (
        lambda node: _calls(node, own=lambda parents: not parents)
    ),
    "That holds only where each node is the sum of one node with itself.": (
        lambda node: 2 ** len(node.graph()) - 1
    ),
    "The first call, for the node itself, is missing.": lambda node: _calls(node) - 1,
    "Those are the parents listed, over all nodes: each node counted as if called once.": (
        lambda node: 1 + sum(len(one.parents) for one in node.graph())
    ),
}.items():
    count_calls.mistake(sentence)(count)


@count_calls.mistake("Those are the calls of the oldest variable alone; all nodes are called.")
def of_the_oldest(node):
    calls = dict.fromkeys(node.graph(), 0)
    calls[node] = 1
    for child in node.graph():
        for parent in child.parents:
            calls[parent] += calls[child]
    return calls[node.graph()[-1]]


@count_calls.mistake("Floats hold about 16 digits, which is too few here: count with ints.")
def with_floats(node):
    nodes = node.graph()
    calls = np.zeros(len(nodes))
    calls[0] = 1
    for index, child in enumerate(nodes):
        for parent in child.parents:
            calls[nodes.index(parent)] += calls[index]
    return int(np.sum(calls))


# 6. a training loop

fit = Exercise(
    "11_graphs.fit",
    title="Yesterday's node",
    points=2,
    kind="repair",
    minutes=6,
    changes=True,
    hints=(
        "An operator computes its data once. When is `scores` computed, and with which `w`?",
        "What must happen again in every pass? Variables stay; operators do not.",
        "Move the line that makes `scores` into the loop.",
    ),
)


def _trained(X, T, W, learning_rate, steps):
    """Return the losses and the weights of the same training with a layer."""
    layer, losses = Linear(*W.shape, bias=False, rng=0), []
    layer.W.data[...] = W
    for _ in range(steps):
        layer.zero_grad()
        Y, backward = layer(X)
        L, loss_backward = cross_entropy(Y, T)
        backward(loss_backward())
        SGD(learning_rate).step(layer.parameters())
        losses.append(L)
    return losses, layer.W.data


@fit.check
def _(answer, rng):
    batch, n_in, n_out = drawn_sizes(rng, BATCH, N_IN, N_OUT)
    for steps, learning_rate in ((7, 0.5), (3, rng.uniform(0.1, 0.3)), (1, 1.0)):
        X, T = rng.normal(size=(batch, n_in)), rng.integers(n_out, size=batch)
        W = rng.normal(size=(n_in, n_out))
        w = Variable(W)
        w.g += 1.0  # of an earlier pass
        losses, weights = _trained(X, T, W, learning_rate, steps)
        with untouched(X=X, T=T):
            found = answer(X, T, w, learning_rate, steps)
        if not isinstance(found, list | tuple | np.ndarray) or len(found) != steps:
            count = f" of {len(found)}" if isinstance(found, list | tuple) else ""
            raise CheckFailed(
                f"with {steps} steps it must return {steps} losses, but returned {described(found)}{count}"
            )
        if any(isinstance(loss, Variable) for loss in found):
            raise CheckFailed("the losses are nodes, each with its whole graph; append their numbers")
        if np.array_equal(w.data, W):
            raise CheckFailed(
                "the w that it is given keeps its old data: each step must change them, by the gradient of "
                "its loss"
            )
        case = f"with {steps} steps, " if steps > 1 else "with one step, "
        expect_values(f"{case}losses", np.array(found, dtype=float), losses, "the same with a layer gives")
        expect_values(f"{case}w.data", w.data, weights, "the same with a layer gives")
    return "losses and weights, as of a layer with the same weights"


@fit.probe
def _(answer, rng):
    X, T = rng.normal(size=(BATCH, N_IN)), rng.integers(N_OUT, size=BATCH)
    w = Variable(rng.normal(size=(N_IN, N_OUT)))
    return tuple(answer(X, T, w, 0.5, 4)), w.data


def train_steps(reset=True, sign=-1.0):
    """Return a training function with a mistake."""

    def fit(X, T, w, learning_rate, steps):
        losses = []
        for _ in range(steps):
            loss = CrossEntropy(Add(Variable(X) @ w, 0 * X @ w.data), T)
            if reset is True:
                w.zero_grad()
            loss.back()
            w.data = w.data + sign * learning_rate * w.g
            if reset == "after":
                w.zero_grad()
            losses.append(loss.item())
        return losses

    return fit


@fit.mistake("Those are the scores of the first weights, in every step.")
def as_given(X, T, w, learning_rate, steps):
    scores, losses = Variable(X) @ w, []
    for _ in range(steps):
        loss = CrossEntropy(scores, T)
        w.zero_grad()
        loss.back()
        w.data -= learning_rate * w.g
        losses.append(loss.item())
    return losses


fit.mistake("Gradients accumulate: set them to zero between two steps.")(train_steps(reset=False))
fit.mistake("The w that comes in can have a gradient: set it to zero before each backward pass.")(
    train_steps(reset="after")
)
fit.mistake("You go uphill: subtract the gradient.")(train_steps(sign=1.0))


@fit.mistake("Each loss is one step late: return the loss before the step, not after it.")
def after_the_step(X, T, w, learning_rate, steps):
    losses = []
    for _ in range(steps):
        w.zero_grad()
        CrossEntropy(Variable(X) @ w, T).back()
        w.data -= learning_rate * w.g
        losses.append(CrossEntropy(Variable(X) @ w, T).item())
    return losses
