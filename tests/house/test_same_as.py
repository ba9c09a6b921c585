"""Chapters build the library's own code: same-as- cells have equal syntax, textbook- cells equal results."""

import ast
import importlib
import re
import symtable
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from minigrad import SGD, BatchNorm, History, Linear, Parameter, ReLU, mse, values_of
from minigrad.parts import named_parts
from tests.contract import ROWS

PROJECT = Path(__file__).resolve().parents[2]
SAME_AS, TEXTBOOK = "same-as-", "textbook-"


def step(Optimizer, X, **settings):
    """The data of a parameter after two steps."""
    parameter, optimizer = Parameter(X), Optimizer(learning_rate=0.1, **settings)
    for _ in range(2):
        parameter.grad += 2 * X
        optimizer.step([parameter])
    return parameter.data


def step_with(**settings):
    """A call of step with hyperparameters that a textbook form may lack."""
    return lambda Optimizer, X: step(Optimizer, X, **settings)


def learned(Learner, X):
    """The losses of three epochs, which a learner returns as a list or as a History, and the weights."""
    learner = Learner(Linear(3, 2, rng=0), mse, SGD(learning_rate=0.1), rng=7)
    losses = learner.fit(X, X[:, :2] ** 2, epochs=3, batch_size=2)
    losses = losses["loss"] if isinstance(losses, History) else losses
    return [*losses, *learner.model.parameters()[0].data.ravel()]


def cut(batches, X, rng=None):
    """All batches one below the other, with their sizes beside them."""
    return np.vstack([np.column_stack([X, T, [len(T)] * len(T)]) for X, T in batches(X, 2 * X, 2, rng)])


def data_and_gradients(Parameter, X):
    """A parameter's data and gradient at first, after an addition, and after zeroing."""
    parameter = Parameter(X.astype(int))
    held = [parameter.data.copy(), parameter.grad.copy()]
    parameter.grad += X
    held.append(parameter.grad.copy())
    parameter.zero_grad()
    return [*held, parameter.grad]


def doubled(Layer, X):
    """Y, dX, and the data that named_parameters finds, of a layer made on a Layer class."""
    parameter = Layer.named_parameters.__globals__["Parameter"](X)  # the class that this Layer uses

    class Double(Layer):
        def __init__(self):
            self.scale = parameter

        def forward(self, X):
            return 2 * X, lambda dY: 2 * dY

    layer = Double()
    Y, backward = layer(X)
    return [Y, backward(3 * X), layer.named_parameters()["scale"].data]


def refusals(Layer, X):
    """Which of a right dY, a dY of the wrong shape, and a dX of the wrong shape a layer refuses."""

    class Returns(Layer):
        def __init__(self, dX):
            self.dX = dX

        def forward(self, X):
            return X, lambda dY: self.dX

    refused = []
    for dY, dX in ((X, X), (X[:1], X), (X, X.T)):
        try:
            Returns(dX)(X)[1](dY)
            refused.append(False)
        except (AssertionError, ValueError):
            refused.append(True)
    return refused


def handed_back(Operator, X, *others):
    """The data of an operator's node, and the gradients of its variables."""
    Variable = Operator.__bases__[0]  # the class that this Operator uses
    given = [Variable(array) if array.dtype.kind == "f" else array for array in (X, *others)]
    node = Operator(*given)
    node.back(np.random.default_rng(2).normal(size=node.data.shape))
    arrays = [node.data, *(variable.g for variable in given if isinstance(variable, Variable))]
    return np.concatenate([array.ravel() for array in arrays])


def shared(replica, X):
    """The weights of a model and of its replica, and both gradients, after the replica's pass and step."""
    model = Linear(3, 2, rng=0)
    worker = replica(model)
    Y, backward = worker(X)
    backward(Y)
    SGD(learning_rate=0.1).step(worker.parameters())
    return np.concatenate([array for part in (model, worker) for array in (part.W.data, part.W.grad)])


def pure(functional, X):
    """The results of two calls of a pure function and of its backward pass, and the model afterwards."""
    model = Linear(3, 2, rng=0) >> BatchNorm(2) >> ReLU()
    params, state = values_of(model)
    params = {name: array + 0.5 for name, array in params.items()}
    apply, seen = functional(model), []
    for training in (True, False):
        Y, backward, new_state = apply(params, state, X, training=training)
        for _ in range(2):
            dX, gradients = backward(Y)
            seen += [Y, dX, *gradients.values(), *new_state.values()]
    seen += [part.data for part in [*model.parameters(), *model.buffers()]]
    return np.concatenate([array.ravel() for array in seen])


def looked_at(Evaluator, X):
    """An Evaluator's results and state, before and after a training step, and the model's predictions."""
    model = Linear(3, 2, rng=0) >> BatchNorm(2) >> ReLU()
    evaluator, seen = Evaluator(model), []
    for _ in range(2):
        seen.append(evaluator.forward(X))
        seen += [evaluator.activations[name] for name in sorted(evaluator.activations)]
        for part in [*model.parameters(), *model.buffers()]:
            part.data = part.data + 0.5  # a new array in the same Parameter, as after `load`
    return np.concatenate([array.ravel() for array in [*seen, model.predict(X)]])


# Names of the library that are not layers, and their test arguments.
CALLS = {
    "minigrad.check.numerical.numerical_gradient": (
        lambda find, X: find(lambda x: np.sum(x**3), X),
        lambda find, X: find(np.tanh, X, 2 * X),
        lambda find, X: find(lambda x: x * x, 3.0),
    ),
    "minigrad.parameter.Parameter": (data_and_gradients,),
    "minigrad.layer.Layer": (doubled, refusals),
    "minigrad.optimizers.SGD": (step, step_with(momentum=0.9)),
    "minigrad.optimizers.RMSProp": (step, step_with(decay=0.5, eps=1.0)),
    "minigrad.optimizers.Adam": (step, step_with(beta1=0.0), step_with(beta1=0.5, beta2=0.6, eps=1.0)),
    "minigrad.data.batches": (cut, lambda batches, X: cut(batches, X, np.random.default_rng(3))),
    "minigrad.learner.Learner": (learned,),
    "minigrad.beyond.sharing.replica": (shared,),
    "minigrad.beyond.pure.functional": (pure,),
    "minigrad.beyond.evaluator.Evaluator": (looked_at,),
    "minigrad.beyond.graph.Multiply": (lambda Multiply, X: handed_back(Multiply, X, X.T @ X),),
    "minigrad.beyond.graph.Add": (
        lambda Add, X: handed_back(Add, X, X[::-1]),
        lambda Add, X: handed_back(Add, X, X[:1]),
    ),
    "minigrad.beyond.graph.Times": (lambda Times, X: handed_back(Times, X, X[::-1]),),
    "minigrad.beyond.graph.CrossEntropy": (lambda loss, X: handed_back(loss, X, np.array([0, 2, 1, 1, 0])),),
}


def tagged(prefix):
    """Every (chapter, index of the cell, target) with a tag that begins with `prefix`."""
    found = []
    for path in sorted(PROJECT.glob("notebooks/*.ipynb")):
        for place, cell in enumerate(nbformat.read(path, as_version=4).cells):
            tags = [tag for tag in cell.metadata.get("tags", []) if tag.startswith(prefix)]
            found += [
                pytest.param(path, place, tag.removeprefix(prefix), id=f"{path.stem}-{tag}") for tag in tags
            ]
    return found


def code(cell):
    """The source of a code cell, without IPython's own lines."""
    return re.sub(r"^\s*[%!?].*$", "", cell.source, flags=re.MULTILINE)


# same-as: equal syntax


def split(target):
    """Split a dotted name into its module and the names inside it."""
    names = target.split(".")
    for length in range(len(names) - 1, 0, -1):
        module = ".".join(names[:length])
        try:
            if find_spec(module):
                return module, names[length:]
        except ModuleNotFoundError:
            continue
    raise LookupError(f"no module holds {target}")


def definition(tree, names):
    """Return the class, function or method of these names in a tree, or None."""
    for name in names:
        nodes = [
            node
            for node in tree.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
        ]
        if not nodes:
            return None
        tree = nodes[-1]
    return tree


def is_guard(statement):
    """Report whether a statement only checks an argument: require_...(...), or x = as_generator(x).

    So does `check_input = require_array` in a class.
    """
    if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "check_input":
        return True
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    name = getattr(getattr(call, "func", None), "id", "")
    return name.lstrip("_").startswith("require_") or name in ("list_of_parameters", "as_generator")


class Bare(ast.NodeTransformer):
    """Remove docstrings, annotations, and the guards at the start of a function from a tree."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        node.body = [statement for statement in node.body if not is_guard(statement)] or [ast.Pass()]
        return self.undocumented(node)

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.body = [statement for statement in node.body if not is_guard(statement)]
        return self.undocumented(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], node.value, lineno=0) if node.value else None

    def undocumented(self, node):
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        node.body = node.body or [ast.Pass()]
        return node


def difference(source, target):
    """Describe the difference between a cell and its target in the library; None if they are equal."""
    module, names = split(target)
    ours = definition(ast.parse(Path(find_spec(module).origin).read_text("utf-8")), names)
    tree = ast.parse(source)
    classes = (part for part in tree.body if isinstance(part, ast.ClassDef))  # a method may be in any
    methods = (definition(part, names[-1:]) for part in classes)
    theirs = definition(tree, names[-1:]) or definition(tree, names) or next(filter(None, methods), None)
    if ours is None or theirs is None:
        return f"{target} is not defined {'in the library' if ours is None else 'in the cell'}"
    ours, theirs = (ast.unparse(Bare().visit(tree)) for tree in (ours, theirs))
    return None if ours == theirs else f"the library says\n{ours}\nand the chapter says\n{theirs}"


@pytest.mark.parametrize(("path", "place", "target"), tagged(SAME_AS))
def test_a_same_as_cell_is_the_librarys(path, place, target):
    assert difference(code(nbformat.read(path, as_version=4).cells[place]), target) is None


# textbook: equal numbers


def bound(statement):
    """Return the names that a statement defines, assigns or modifies: ``Row.call = ...``."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            while isinstance(node, ast.Attribute | ast.Subscript):
                node = node.value
            names |= {node.id} if isinstance(node, ast.Name) else set()
    return names


def used(statement):
    """Return the outside names that a statement uses, also inside the functions that it defines."""
    tables, names = [symtable.symtable(ast.unparse(statement), "<cell>", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        names |= {
            name.get_name()
            for name in table.get_symbols()
            if name.is_referenced() and (top or name.is_global())
        }
    return names


def needed(cells, names):
    """Return the statements of code cells that define some names, with their dependencies, in order.

    Statements that only train, print or draw are left out, so that even a chapter that trains for a minute
    defines its classes at once.
    """
    statements = [line for cell in cells if cell.cell_type == "code" for line in ast.parse(code(cell)).body]
    kept, known, waiting = set(), set(names), set(names)
    while waiting:
        new = {n for n, statement in enumerate(statements) if bound(statement) & waiting} - kept
        kept |= new
        waiting = set().union(*(used(statements[n]) for n in new)) - known
        known |= waiting
    return [statements[n] for n in sorted(kept)]


def namespace(cells, *names):
    """Run the statements that some names need, without output, and return the namespace."""
    scope = {"__name__": "__main__", "display": lambda *shown, **options: None}
    with redirect_stdout(StringIO()):
        exec(compile(ast.Module(needed(cells, names), []), "<chapter>", "exec"), scope)
    return scope


def parameters(layer):
    """Return the parameters of a layer, which may use a chapter's own Parameter class."""
    found = [part for _, part in named_parts(layer) if isinstance(part, Parameter)]
    return found or [part for part in getattr(layer, "__dict__", {}).values() if hasattr(part, "grad")]


def results(layer, X):
    """Return Y, dX and the gradients of the parameters, for the same dY for every layer."""
    Y, backward = layer(X)
    dX = backward(np.random.default_rng(2).normal(size=np.shape(Y)))
    parts = dX if isinstance(dX, tuple) else (dX,)
    parts = [part for part in parts if part is not None]  # integers have no gradient
    return [Y, *parts, *(parameter.grad for parameter in parameters(layer))]


def from_library(target):
    module, names = split(target)
    return getattr(importlib.import_module(module), names[0])


def agreeing_calls(textbook, target):
    """Return the calls in which a function that is not a layer gives the library's numbers.

    It may reject an argument, but must not give other numbers.
    """
    X, agreeing = np.random.default_rng(1).normal(size=(5, 3)), []
    for call in CALLS[target]:
        try:
            found = call(textbook, X)
        except TypeError:
            continue
        np.testing.assert_allclose(found, call(from_library(target), X), rtol=1e-9)
        agreeing.append(call)
    return agreeing


def agreeing_rows(textbook, target):
    """Return the rows of the contract table in which a textbook form gives the library's numbers.

    It may do less than the library, and reject an argument or an input, but must not give other numbers.
    """
    agreeing, library = [], from_library(target)
    for row in (row for row in ROWS if row.name == target):
        if isinstance(library, type) and not isinstance(textbook, type):
            maker = lambda: textbook  # noqa: E731  a plain function is a layer that needs no making
        else:
            maker = textbook
        ours = row.make(library, np.random.default_rng(0))
        try:
            theirs = row.make(maker, np.random.default_rng(0))
            for their, our in zip(parameters(theirs), parameters(ours), strict=True):
                their.data[...] = our.data
            found = results(theirs, row.X(np.random.default_rng(1)))
        except (TypeError, ValueError, AssertionError):
            continue
        for their, our in zip(found, results(ours, row.X(np.random.default_rng(1))), strict=True):
            np.testing.assert_allclose(their, our, rtol=1e-9, atol=1e-12)  # float64, other order of sums
        agreeing.append(row)
    return agreeing


def textbook_form(cells, target):
    """Return the object that the last of some cells, the tagged one, defines under the target's name."""
    name = target.rpartition(".")[2].lower()
    defined = [node.name for node in ast.parse(code(cells[-1])).body if hasattr(node, "name")]
    own = next(own for own in defined if own.lower() == name)
    return namespace(cells, own)[own]


@pytest.mark.parametrize(("path", "place", "target"), tagged(TEXTBOOK))
def test_a_textbook_cell_gives_the_librarys_numbers(path, place, target, monkeypatch):
    monkeypatch.chdir(path.parent)
    form = textbook_form(nbformat.read(path, as_version=4).cells[: place + 1], target)
    agreeing = agreeing_calls if target in CALLS else agreeing_rows
    assert agreeing(form, target), f"there is nothing that {target} and its textbook form both do"


# tests of the comparison


def test_there_are_tagged_cells():
    assert tagged(SAME_AS) + tagged(TEXTBOOK)


def test_the_librarys_own_source_without_docstrings_equals_itself():
    source = ast.unparse(ast.parse(Path(find_spec("minigrad.parameter").origin).read_text("utf-8")))
    assert difference(source, "minigrad.parameter.Parameter") is None
    stripped = ast.unparse(Bare().visit(definition(ast.parse(source), ["Parameter"])))
    assert '"""' not in stripped and difference(stripped, "minigrad.parameter.Parameter") is None
    method = ast.unparse(definition(ast.parse(source), ["Parameter", "zero_grad"]))
    assert difference(method, "minigrad.parameter.Parameter.zero_grad") is None
    assert difference(source, "minigrad.parameter.Parameter.zero_grad") is None


def test_another_body_class_or_name_is_found():
    source = ast.unparse(ast.parse(Path(find_spec("minigrad.parameter").origin).read_text("utf-8")))
    changed = source.replace("self.trainable", "self.values", 1)
    assert changed != source
    assert "and the chapter says" in difference(changed, "minigrad.parameter.Parameter")
    assert "not defined in the cell" in difference("class Weight: pass", "minigrad.parameter.Parameter")
    assert "not defined in the library" in difference("class Weight: pass", "minigrad.parameter.Weight")
    with pytest.raises(LookupError):
        difference("class Weight: pass", "maxigrad.parameter.Weight")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ('def f(x: int) -> int:\n    "doc"\n    y: int = x\n    return y', False),
        ("def f(x):\n    require_integer('x', x)\n    y = x\n    return y", False),
        ("def f(x):\n    prepare(x)\n    y = x\n    return y", True),
    ],
)
def test_annotations_docstrings_and_guards_do_not_count_and_other_calls_do(text, counts):
    plain, other = (
        ast.unparse(Bare().visit(ast.parse(one))) for one in ("def f(x):\n    y = x\n    return y", text)
    )
    assert (plain != other) == counts


LINEAR = "minigrad.layers.linear.Linear"
TEXT = """
class Linear(Layer):
    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_in, n_out)))
        self.b = Parameter(np.zeros(n_out))

    def forward(self, X):
        def backward(dY):
            self.W.grad += X.T @ dY
            self.b.grad += dY.sum(axis=0)
            return dY @ self.W.data.T

        return X @ self.W.data + self.b.data, backward
"""


def cells(*sources):
    return [
        new_code_cell(source)
        for source in ("import numpy as np\nfrom minigrad import Layer, Parameter", *sources)
    ]


def test_a_right_textbook_form_passes_where_it_can_run():
    form = textbook_form(cells("%matplotlib inline", TEXT), LINEAR)
    rows = [row for row in ROWS if row.name == LINEAR]
    assert 0 < len(agreeing_rows(form, LINEAR)) < len(rows)  # rejects `bias=False`, and sequences


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("dY.sum(axis=0)", "dY.mean(axis=0)"),
        ("return dY @", "return 2 * dY @"),
        ("+ self.b.data", "+ 1 + self.b.data"),
    ],
)
def test_a_textbook_form_with_other_numbers_is_rejected(right, wrong):
    form = textbook_form(cells(TEXT.replace(right, wrong)), LINEAR)
    with pytest.raises(AssertionError):
        agreeing_rows(form, LINEAR)


def test_a_textbook_form_that_never_runs_is_found():
    assert agreeing_rows(textbook_form(cells("class Linear:\n    pass"), LINEAR), LINEAR) == []


def test_a_plain_function_is_compared_with_the_librarys_class():
    source = "def relu(X):\n    return np.maximum(X, 0), lambda dY: dY * (X > 0)"
    target = "minigrad.layers.activations.ReLU"
    assert agreeing_rows(textbook_form(cells(source), target), target)
    with pytest.raises(AssertionError):
        agreeing_rows(textbook_form(cells(source.replace("(X > 0)", "(X > 1)")), target), target)


def test_a_function_that_is_not_a_layer_is_compared_by_calls():
    target, half = (
        "minigrad.check.numerical.numerical_gradient",
        "from minigrad import numerical_gradient as whole\n",
    )
    half += "def numerical_gradient(f, X, dY=None):\n    return whole(f, X, dY)"
    assert agreeing_calls(textbook_form(cells(half), target), target)
    with pytest.raises(AssertionError):
        agreeing_calls(textbook_form(cells(half + " / 2"), target), target)


def test_only_a_name_s_dependencies_are_run():
    cells = """
import numpy as np

class Row:
    def sum(self):
        return total(self)

raise ValueError("what only trains is left out")
Row.size = 3

def total(row):
    return row.size

size = 1 / 0

def doubled(row):
    size = 2
    return size * row.sum()
"""
    parts = [new_code_cell(part) for part in cells.split("\n\n")]
    scope = namespace(parts, "doubled", "Row")
    assert scope["doubled"](scope["Row"]()) == 6
    with pytest.raises(ZeroDivisionError):
        namespace(parts, "size")
