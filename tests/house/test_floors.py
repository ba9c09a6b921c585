"""The house has floors: each file imports only from lower ones, and the library needs NumPy alone."""

import importlib
import sys
from pathlib import Path

import pytest

from tests.floors import AROUND, MAY, imports

ROOT = Path(__file__).parents[2]


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
