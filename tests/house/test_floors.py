"""The house has floors: each file imports only from lower ones, and the library needs NumPy alone."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GROUND = "shapes parameter backend initializers losses diagnosis gradcheck data graph".split()
FIRST = "layer optimizers checkpoint".split()
LAYERS = "linear activations combinators reductions normalization convolution recurrent embedding".split()
LAYERS += ["attention", "recompute"]

# From the ground up: what each file of the library may import from the library.
MAY = {name: {"shapes"} for name in GROUND}
MAY["losses"] |= {"backend"}
MAY["gradcheck"] |= {"diagnosis"}
MAY |= {name: {"shapes", "parameter", "backend"} for name in FIRST}
MAY["checkpoint"] |= {"layer"}
below = {"shapes", "parameter", "backend", "initializers", "layer"}
for name in LAYERS:
    MAY[f"layers.{name}"] = set(below)
    below |= {f"layers.{name}"}
MAY |= {name: {*GROUND, *FIRST} for name in ("learner", "replica", "parallel", "evaluator")}

# And of what stands around it, lowest first: a row imports from itself and from the rows before it.
AROUND = "browser style store built gather xray bugs cupy_stand_in gpu mpi addition figures checks".split()
AROUND += ["keep", "widgets", "grading", "release", "recall", "build"]


def imports(path, everywhere=True):
    """Return the dotted names that a file imports; at its top only, or also inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree)) if everywhere else tree.body
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: write the import in full, without dots"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def files(folder):
    return sorted(path for path in (ROOT / folder).rglob("*.py") if path != ROOT / folder / "__init__.py")


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def inside(name, modules):
    return any(name == module or name.startswith(module + ".") for module in modules)


def of_the_house(path):
    return {name for name in imports(path) if inside(name, ["minigrad", "course"])}


@pytest.mark.parametrize("path", files("minigrad"), ids=dotted)
def test_a_file_of_the_library_imports_only_from_lower_floors(path):
    name = dotted(path).removeprefix("minigrad.")
    may = [f"minigrad.{lower}" for lower in MAY.get(name, ())]
    assert {imported for imported in of_the_house(path) if not inside(imported, may)} == set()


@pytest.mark.parametrize("path", files("minigrad"), ids=dotted)
def test_a_file_of_the_library_needs_numpy_alone(path):
    may = {"numpy", "minigrad"} | sys.stdlib_module_names
    assert {name for name in imports(path, everywhere=False) if name.split(".")[0] not in may} == set()


@pytest.mark.parametrize("path", files("course"), ids=dotted)
def test_a_file_around_the_library_imports_only_from_lower_floors(path):
    floor = AROUND.index(dotted(path).split(".")[1])
    may = ["minigrad", *(f"course.{name}" for name in AROUND[: floor + 1])]
    assert {imported for imported in of_the_house(path) if not inside(imported, may)} == set()


def test_every_file_has_a_floor():
    library = {dotted(path).removeprefix("minigrad.") for path in files("minigrad")} - {"layers.__init__"}
    around = {dotted(path).split(".")[1] for path in files("course")}
    assert library - set(MAY) == set()
    assert around - set(AROUND) == set()
