"""The learner's own library: what is kept, what is refused, and that it comes back in another kernel."""

import linecache
import os
import sys

import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import minigrad
from course import checks, store
from course.kept.keep import NotKept, _exercise_that_keeps, folder, keep, mine

DEMO = """
import numpy as np

from course.checks.exercise import Exercise
from course.checks.questions import expect_gradcheck, expect_values

dense = Exercise(
    "90_demo.dense",
    title="Dense",
    points=2,
    kind="fill",
    minutes=5,
    hints=("a", "b", "c"),
    answer="class",
    keeps="dense",
    ours="minigrad.Linear",
)


@dense.check
def _(answer, rng):
    layer, X = answer(3, 7, rng=0), rng.normal(size=(5, 3))
    expect_gradcheck(layer, X)
    expect_values("Y", layer(X)[0], X @ layer.W.data + layer.b.data)


relu = Exercise(
    "90_demo.relu",
    title="ReLU",
    points=2,
    kind="fill",
    minutes=5,
    hints=("a", "b", "c"),
    keeps="relu",
    ours="minigrad.ReLU",
)


@relu.check
def _(answer, rng):
    X = rng.normal(size=(5, 3))
    expect_gradcheck(answer, X)
    expect_values("Y", answer(X)[0], np.maximum(X, 0))
"""

DENSE = '''class Dense(Layer):
    """The learner's own."""

    def __init__(self, n_in, n_out, rng):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_in, n_out)))
        self.b = Parameter(np.zeros(n_out))

    def forward(self, X):
        def backward(dY):
            self.W.grad += X.T @ dY
            self.b.grad += dY.sum(axis=0)
            return dY @ self.W.data.T

        return X @ self.W.data + self.b.data, backward
'''


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """A chapter of two made-up exercises, and a work folder of its own."""
    (tmp_path / "ch90_demo.py").write_text(DEMO)
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path)])
    monkeypatch.setattr(checks, "exercises", lambda: checks._exercises_in("ch90_demo"))
    monkeypatch.setattr(sys.modules["course.kept.keep"], "exercises", checks.exercises)
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "work"))
    yield tmp_path
    sys.modules.pop("course.checks.ch90_demo", None)


def kept(demo, name="dense"):
    return demo / "work" / "library" / f"{name}.py"


def relu(X):
    positive = X > 0
    return X * positive, lambda dY: dY * positive


def run(cells, work, folder):
    """Run cells in a kernel of their own, and return the notebook."""
    opening = f"import course.checks as checks\nchecks.__path__.append({str(folder)!r})"
    notebook = new_notebook(cells=[new_code_cell(source) for source in (opening, *cells)])
    NotebookClient(notebook, allow_errors=True).execute(env={**os.environ, store.VARIABLE: str(work)})
    return notebook


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def error(cell):
    (output,) = (output for output in cell.outputs if output.output_type == "error")
    return output


# across kernels


def test_what_is_kept_in_one_kernel_is_mine_in_another(tmp_path):
    (tmp_path / "ch90_demo.py").write_text(DEMO)
    setup = "import numpy as np\nfrom course import check, keep, mine\nfrom minigrad import Layer, Parameter"
    wrong = DENSE.replace("+= X.T", "= X.T")
    first = run(
        [
            setup,
            'from course import mine\nprint(mine("dense"))',
            wrong,
            'check("90_demo.dense", Dense)',
            "keep(Dense)",
            DENSE,
            'check("90_demo.dense", Dense)',
            "keep(Dense)",
        ],
        tmp_path / "work",
        tmp_path,
    ).cells[2:]
    assert printed(first[0]).splitlines() == [
        "dense: minigrad.Linear, until you keep your own: it is the exercise 90_demo.dense.",
        "<class 'minigrad.layers.linear.Linear'>",
    ]
    assert "overwritten" in first[2].outputs[0].data["text/html"]  # gradcheck's report, above the sentence
    assert error(first[2]).ename == "CheckFailed"
    assert "use += instead of =" in error(first[2]).evalue
    shown = "\n".join(error(first[2]).traceback)
    assert "Not yet." in shown and "Traceback" not in shown and "File" not in shown and "hint 1 of 3" in shown
    assert error(first[3]).ename == "NotKept" and not any(
        "Traceback" in line for line in error(first[3]).traceback
    )
    assert "right. 2 points." in first[5].outputs[0].data["text/html"]
    assert printed(first[6]) == 'dense: kept. In any later notebook, mine("dense") returns it.\n'
    assert (tmp_path / "work" / "library" / "dense.py").read_text() == (
        '"""dense: kept from the exercise 90_demo.dense."""\n\n'
        f"import numpy as np\nfrom minigrad import Layer, Parameter\n\n\n{DENSE}"
    )
    second = run(
        [
            "from course import mine",
            'Dense = mine("dense")',
            "import numpy as np\nfrom minigrad import gradcheck\nprint(Dense.__doc__)",
            "print(gradcheck(Dense(3, 7, rng=0), np.ones((5, 3))).ok)",
            "from course import keep\nprint(callable(keep))",
        ],
        tmp_path / "work",
        tmp_path,
    ).cells[2:]
    assert printed(second[0]) == "dense: yours, kept from the exercise 90_demo.dense.\n"
    assert printed(second[1]) + printed(second[2]) + printed(second[3]) == "The learner's own.\nTrue\nTrue\n"


# keep


def test_a_kept_file_names_its_imports_and_stands_alone(demo, capsys):
    keep(relu)
    assert kept(demo, "relu").read_text() == (
        '"""relu: kept from the exercise 90_demo.relu."""\n\n\n'
        "def relu(X):\n    positive = X > 0\n    return X * positive, lambda dY: dY * positive\n"
    )
    assert [path.name for path in kept(demo).parent.iterdir()] == ["relu.py"]


def test_what_does_not_pass_is_not_kept_and_leaves_the_old_file_alone(demo):
    keep(relu)
    before = kept(demo, "relu").read_text()

    def wrong(X):
        return X, lambda dY: dY

    wrong.__name__ = "relu"
    with pytest.raises(NotKept, match="The source of relu cannot be found"):
        keep(wrong)
    scope = defined(demo, "def relu(X):\n    return X, lambda dY: dY\n")
    with pytest.raises(NotKept, match=r"relu: Y\[\d, \d\] is") as refused:
        keep(scope["relu"])
    assert "on its own" not in str(refused.value)
    scope = defined(demo, "def relu(X):\n    raise NotImplementedError\n")
    with pytest.raises(NotKept, match=r"relu is not written yet: .* with your code\.$"):
        keep(scope["relu"])
    assert kept(demo, "relu").read_text() == before


def test_what_leans_on_the_notebook_is_refused_by_name(demo):
    scope = defined(
        demo,
        "def bend(X):\n    return X * (X > 0)\n\ndef relu(X):\n    return bend(X), lambda dY: dY * (X > 0)\n",
    )
    with pytest.raises(
        NotKept, match=r"name 'bend' is not defined \(your line \d+: .*define what it needs inside it"
    ):
        keep(scope["relu"])
    assert not kept(demo, "relu").exists()


def test_what_cannot_even_load_on_its_own_is_refused(demo):
    scope = defined(
        demo, "two = 2\ndef relu(X, factor=two):\n    return X * (X > 0), lambda dY: dY * (X > 0)\n"
    )
    with pytest.raises(NotKept, match="it does not load: NameError: name 'two' is not defined"):
        keep(scope["relu"])


def test_a_thing_that_no_exercise_keeps_is_refused(demo):
    for thing in (np.mean, 3, lambda X: X):
        with pytest.raises(NotKept, match=r"exercises keep dense \(90_demo.dense\), relu \(90_demo.relu\)"):
            keep(thing)
    with pytest.raises(NotKept, match="No exercise keeps 'gelu'"):
        mine("gelu")


def test_with_storing_off_nothing_is_kept_and_mine_is_ours(demo, capsys, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "")
    keep(relu)
    assert mine("relu") is minigrad.ReLU
    assert capsys.readouterr().out.splitlines() == [
        "relu: not stored, because storing is off (MINIGRAD_WORK is empty).",
        "relu: minigrad.ReLU, because storing is off (MINIGRAD_WORK is empty).",
    ]
    assert folder() is None and not (demo / "work").exists()


# mine


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("def relu(X):\n    return X, lambda dY: dY\n", "relu: Y["),
        ("def relu(X:\n", "it does not load: SyntaxError"),
        ("import no_such_module\n", "it does not load: ModuleNotFoundError"),
        ("def other(X):\n    pass\n", "it defines nothing called relu"),
        ("", "it defines nothing called relu"),
        ("# \xff", "codec can't decode"),
    ],
)
def test_a_kept_thing_that_broke_gives_way_to_ours(demo, capsys, content, why):
    store.write(kept(demo, "relu"), content.encode("latin-1"))
    assert mine("relu") is minigrad.ReLU
    line = capsys.readouterr().out
    assert line.startswith("relu: minigrad.ReLU, because yours no longer passes its check: ")
    assert why in line and line.count("\n") == 1


def test_every_exercise_that_keeps_names_something_of_ours_that_stands_in(capsys):
    names = [exercise.keeps for exercise in checks.exercises() if exercise.keeps]
    for name in names:
        ours = mine(name)
        assert callable(ours) and f"minigrad.{ours.__name__}" == _exercise_that_keeps(name).ours
    assert names and capsys.readouterr().out.count("storing is off") == len(names)


def defined(demo, source):
    """Define things as a cell does: in a file that Python knows the lines of."""
    path = demo / "cell.py"
    path.write_text(source)
    linecache.checkcache()  # a cell never changes, this file does
    scope = {}
    exec(compile(source, str(path), "exec"), scope)
    return scope
