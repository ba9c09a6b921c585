"""Chapter 11's bridges: a graph, and a PyTorch module where that is installed, as one closure."""

from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np
import pytest

from minigrad import Layer, Linear, Parameter, gradcheck, load, save

CHAPTER = Path(__file__).parents[2] / "notebooks/11_graphs.ipynb"


def bridge(*names, until=None):
    """Run the chapter until all names are there, or the cell with a text has run; return names and prints."""
    scope = {"__name__": "__main__", "display": lambda *shown: None}
    printed = StringIO()
    for cell in nbformat.read(CHAPTER, as_version=4).cells:
        if cell.cell_type == "code" and (until or not all(name in scope for name in names)):
            with redirect_stdout(printed):
                exec(compile(cell.source, "<cell>", "exec"), scope)
            if until and until in cell.source:
                break
    return scope, printed.getvalue()


def test_a_graph_is_one_layer_with_parameters_that_are_found_and_saved(tmp_path):
    scope, _ = bridge("as_layer")
    W, b = scope["Variable"](np.eye(3)), scope["Variable"](np.zeros(3))
    graph = scope["as_layer"](lambda x: scope["ReLU"](x @ W + b) + x)
    net = Linear(2, 3, rng=0) >> graph >> Linear(3, 2, rng=1)
    assert isinstance(net, Layer) and any(parameter is W for parameter in net.parameters())
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert gradcheck(net, X).ok
    save(tmp_path / "net.npz", net)
    before, W.data[...] = net(X)[0], 7.0
    load(tmp_path / "net.npz", net)
    np.testing.assert_array_equal(net(X)[0], before)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed, so nothing is skipped")
def test_without_pytorch_the_cell_says_why_it_shows_nothing():
    assert bridge(until="from_torch")[1].endswith(
        "Skipped: PyTorch is not installed. Nothing later needs this cell.\n"
    )


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed; it is optional")
def test_a_pytorch_module_is_one_layer_that_passes_gradcheck_and_learns():
    scope, printed = bridge(until="from_torch")
    assert "passed" in printed.rpartition("gradcheck")[2]
    assert float(printed.rpartition("accuracy ")[2].partition(",")[0]) > 0.9
    assert len(scope["mixed"].parameters()) == 6


def test_gradcheck_looks_into_a_module_whose_named_parameters_are_an_iterator():
    class Module:  # as those of PyTorch
        def __init__(self):
            self.W = Parameter(np.ones((3, 2)))

        def named_parameters(self):
            yield "W", self.W

        def __call__(self, X):
            W = self.W

            def backward(dY):
                W.grad += X.T @ dY
                return dY @ W.data.T

            return X @ W.data, backward

    report = gradcheck(Module(), np.random.default_rng(0).normal(size=(5, 3)))
    assert report.ok and [row.name for row in report.rows] == ["input X", "W"]
