"""The house has floors: each file imports only from lower ones, and the library needs NumPy alone."""

import ast
import importlib
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# From the ground up: a folder imports only from itself and from those before it.
HOUSES = "minigrad course authoring benchmarks classroom book tests".split()
# The floors of the library from the ground up: their files, and the lower floors that these may use. A file
# may also use others of its own floor, as long as no circle comes about.
FLOORS = {
    "ground": ("settings shapes habits parameter backend parts initializers", []),
    "measures": ("losses accuracy diagnosis data", ["ground"]),
    "contract": ("layer", ["ground"]),
    "layers": ("layers", ["ground", "contract"]),
    "training": ("optimizers checkpoint blueprint trial gradcheck graph", ["ground", "measures", "contract"]),
    "use": (
        "learner early_stopping replica functional parallel evaluator bridge",
        ["ground", "measures", "contract", "training"],
    ),
}


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {dotted(path): path for house in HOUSES for path in sorted((ROOT / house).rglob("*.py"))}
LIBRARY = [name for name in FILES if name.startswith("minigrad.") and name != "minigrad.layers"]


def names_imported(path, everywhere=True):
    """Return the dotted names that a file imports; at its top only, or also inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree)) if everywhere else tree.body
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: write the import in full, without dots"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def files_imported(name):
    """Return the files of the house from which a file imports: a name belongs to the file above it."""
    found = set()
    for used in names_imported(FILES[name]):
        while used and used not in FILES:
            used = used.rpartition(".")[0]
        found |= {used} - {"", name}
    return found


def floor_of(name):
    """Return the floor on which a file of the library stands, or None."""
    _, first, *_ = [*name.split("."), ""]
    return next((floor for floor, (names, _) in FLOORS.items() if first in names.split()), None)


def circle(graph):
    """Return the files that import each other, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("name", LIBRARY)
def test_a_file_of_the_library_imports_only_from_lower_floors(name):
    floor = floor_of(name)
    assert floor, f"give {name} a floor: the floors are {', '.join(FLOORS)}"
    below = {used: floor_of(used) for used in files_imported(name)}
    assert {used: lower for used, lower in below.items() if lower not in [floor, *FLOORS[floor][1]]} == {}


@pytest.mark.parametrize("name", LIBRARY)
def test_a_file_of_the_library_needs_numpy_alone(name):
    may = {"numpy", "minigrad"} | sys.stdlib_module_names
    assert {
        used for used in names_imported(FILES[name], everywhere=False) if used.split(".")[0] not in may
    } == set()


@pytest.mark.parametrize("house", HOUSES)
def test_a_folder_imports_only_from_those_before_it(house):
    later = HOUSES[HOUSES.index(house) + 1 :]
    inside = [name for name in FILES if name.split(".")[0] == house]
    assert {
        (name, used) for name in inside for used in files_imported(name) if used.split(".")[0] in later
    } == set()


def test_no_files_import_each_other_in_a_circle():
    assert circle({name: files_imported(name) for name in FILES}) == []


def test_a_circle_is_found():
    assert sorted(set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}))) == ["b", "c"]


@pytest.fixture
def house_floors(monkeypatch):
    """The book's extension that shows the floors."""
    monkeypatch.syspath_prepend(ROOT / "book" / "extensions")
    return importlib.import_module("house_floors")


def test_the_book_shows_the_floors_as_the_imports_make_them(house_floors):
    found = house_floors.read_imports(ROOT)
    assert found["minigrad.checkpoint"] == {f"minigrad.{name}" for name in ("backend", "layer", "parts")}
    assert {"course.store", "minigrad.layer"} <= found["course.checks"]
    table = house_floors.floors_as_table(found)
    for house in ("minigrad", "course"):
        rows = house_floors.floors(found, house)
        assert {name for row in rows for name in row} == {n for n in found if n.startswith(f"{house}.")}
        for place, row in enumerate(rows):
            lower = {name for below in rows[place + 1 :] for name in below}
            assert {one for name in row for one in found[name] if one.startswith(f"{house}.")} <= lower
    users = sum("minigrad.layer" in used for used in found.values())
    assert f"`layer` {users}," in table and "| 0 | `backend`" in table


def test_files_that_import_each_other_are_refused_by_name(house_floors):
    circle = {"minigrad.a": {"minigrad.b"}, "minigrad.b": {"minigrad.a"}}
    with pytest.raises(Exception, match="in a circle: minigrad.[ab], minigrad.[ab], minigrad.[ab]"):
        house_floors.floors(circle, "minigrad")
