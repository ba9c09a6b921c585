"""The types: the stubs beside the library say what its code does, and a type checker reads them rightly."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import typed_use

ROOT = Path(__file__).parents[2]
USES = Path(typed_use.__file__)
LIBRARY = ROOT / "minigrad"
# What stubtest may find, and why it is no fault.
ALLOWED = {"minigrad._types": "names for type checkers, which no code imports"}
if sys.version_info < (3, 12):
    ALLOWED["minigrad.diagnosis.Row"] = "a subclass of a namedtuple, with nothing of its own but a docstring"
# Each line is a mistake; its comment is what mypy says of it.
MISTAKES = """\
import numpy as np
from minigrad import SGD, Adam, Learner, Linear, Residual, Sequential, gradcheck, load, mse, to_device
from minigrad.parameter import Parameter
X, layer = np.ones((5, 3)), Linear(3, 7, rng=0)
Y: str = layer(X)[0]  # assignment
layer(X).backward()  # attr-defined
Linear("3", 7)  # arg-type
Linear(3, 7, learning_rate=0.1)  # call-arg
Linear(3, 7, True)  # call-arg
def half(X: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float: return float(X.sum()) / 2
Sequential(half)  # arg-type
layer >> "relu"  # operator
Residual([layer])  # arg-type
mse(X)  # call-arg
mse(X, X)[1]("dL")  # arg-type
gradcheck(layer, X, tolerance=1e-6)  # call-arg
Learner(layer, mse, 0.1)  # arg-type
Learner(layer, mse, SGD()).fit(X, X)["loss"].mean()  # attr-defined
Adam(learning_rate="0.1")  # arg-type
to_device(layer, "tpu")  # arg-type
load("model.npz", 3)  # type-var
Parameter([1.0]).gradient  # attr-defined
"""


def run(module, *arguments, folder):
    """Run a module of mypy's on the stubs of this checkout, in a folder of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What mypy says of the uses and of the mistakes, read together: (file, line, code)."""
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    done = run("mypy", "--strict", "--no-pretty", USES, "mistakes.py", folder=folder)
    assert done.returncode == 1, done.stderr
    found = re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert len(found) == len(re.findall(r": error: ", done.stdout)), done.stdout
    return [(Path(name).name, int(line), code) for name, line, code in found]


def test_every_file_of_the_library_has_its_types():
    files = {path.with_suffix(".pyi") for path in LIBRARY.rglob("*.py") if path.stem != "__init__"}
    assert {path for path in LIBRARY.rglob("*.pyi") if path.stem != "_types"} == files
    assert (LIBRARY / "py.typed").exists()  # or else no type checker reads them, where they are installed


def test_the_stubs_say_what_the_code_says(tmp_path):
    (tmp_path / "allowed").write_text("\n".join(map(re.escape, ALLOWED)), encoding="utf-8")
    done = run("mypy.stubtest", "minigrad", "--allowlist", "allowed", "--concise", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_typical_uses_have_the_types_that_they_name(complaints):
    assert [complaint for complaint in complaints if complaint[0] == USES.name] == []


def test_typical_uses_run(tmp_path):
    typed_use.layers()
    typed_use.learning(tmp_path)


def test_each_mistake_is_refused(complaints):
    lines = enumerate(MISTAKES.splitlines(), 1)
    wanted = {(number, line.partition("  # ")[2]) for number, line in lines if "  # " in line}
    assert {(line, code) for name, line, code in complaints if name == "mistakes.py"} == wanted
