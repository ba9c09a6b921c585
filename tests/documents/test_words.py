"""The page *The documents' words*: what it says to write here runs, and each section that it names exists."""

import ast
import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

import minigrad
from minigrad import Linear, ReLU, Sequential
from minigrad.beyond import graph
from tests.house.test_sources import anchor_of

PROJECT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (.+) \| (.+) \| \[(\d\d)\]\(\.\./(notebooks/\w+\.ipynb)#([\w-]+)\) \|$", re.M)
PAGE = (PROJECT / "book/documents.md").read_text("utf-8")
TABLES = {name: text for name, text in re.findall(r"^## (.+)$((?:\n(?!## ).*)*)", PAGE, re.M)}

# What is no code of its own: an operator, a pair, and methods that stand without their object.
NOTATION = (">>", "_back", "forward", "zero_grad", "(Y, backward)", "X -> (Y, backward)")


def rows(text):
    """Return (here, chapter, anchor) of each row."""
    return [(here, path, anchor) for _, here, _, path, anchor in ROW.findall(text)]


def cells(path):
    return json.loads((PROJECT / path).read_text("utf-8"))["cells"]


def anchors(path):
    """Return the addresses of a chapter's sections."""
    text = "\n".join("".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "markdown")
    headings = re.findall(r"^##+ (.+)$", text, re.M)
    return set(map(anchor_of, headings))


def defined(name, path):
    """Say whether a cell of the chapter defines a class, a method or a function of this name."""
    text = "\n".join("".join(cell["source"]) for cell in cells(path))
    return all(re.search(rf"^ *(?:class|def) {part}\b", text, re.M) for part in name.split("."))


def things(document):
    """Return what the rows of a document speak of, by the names that they use."""
    rng = np.random.default_rng(0)
    m1, m2 = Linear(10, 1, rng=0), Linear(10, 1, rng=1)
    names = {name: getattr(minigrad, name) for name in minigrad.__all__}
    found = names | {"np": np, "copy": copy, "rng": rng, "n_hidden": 7, "m1": m1, "m2": m2}
    X, T = rng.normal(size=(13, 10)), rng.normal(size=(13, 1))
    found |= {"X": X, "Y": T, "T": T, "dY": T, "layer": m1, "model": m1, "W": m1.W, "projection": m1}
    found["learner"] = minigrad.Learner(m1, minigrad.mse, minigrad.SGD(0.01))
    if document == "NNKit":
        found |= vars(graph)
        x, w, b = map(graph.Variable, ([[1.0, 2.0]], np.ones((2, 2)), np.ones(2)))
        found |= {"x": x, "w": w, "b": b, "T": np.eye(2), "model": Sequential(m1)}
    if document == "PaddlePaddle":
        model = Sequential(Linear(2, 8), ReLU(), Linear(8, 3))
        found |= {"X": rng.normal(size=(13, 2)), "T": rng.integers(0, 3, size=13), "model": model}
    return found


def wrong(document, text):
    """Return what does not hold in a document's table, one sentence for each."""
    found, names = [], things(document)
    for here, path, anchor in rows(text):
        if anchor not in anchors(path):
            found.append(f"{path} has no section #{anchor}")
        for code in re.findall(r"`([^`]+)`", here):
            if code in NOTATION:
                continue
            try:
                exec(compile(ast.parse(code), "the page", "exec"), names)  # noqa: S102  our own page
            except Exception as error:
                if not defined(code, path):
                    found.append(f"{code}: {error}")
    return found


@pytest.mark.parametrize("document", TABLES)
def test_what_the_page_says_to_write_runs_and_its_sections_exist(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(rows(TABLES[document])) == TABLES[document].count("\n| ") - 1  # but for the head
    assert wrong(document, TABLES[document]) == []


def test_a_name_that_does_not_exist_and_a_section_that_does_not_are_found():
    row = "| `a` | `{}` | [04](../notebooks/04_closures.ipynb#{}) |"
    assert wrong("Thinc", row.format("Sums()", "the-contract")) == ["Sums(): name 'Sums' is not defined"]
    assert wrong("Thinc", row.format("Sum()", "no")) == ["notebooks/04_closures.ipynb has no section #no"]
