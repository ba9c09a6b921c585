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
    return {name for name in imports(path) if inside(name, ["minigrad", *AROUND])}


@pytest.mark.parametrize("path", files("minigrad"), ids=dotted)
def test_a_file_of_the_library_imports_only_from_lower_floors(path):
    name = dotted(path).removeprefix("minigrad.")
    may = [f"minigrad.{lower}" for lower in MAY.get(name, ())]
    assert {imported for imported in of_the_house(path) if not inside(imported, may)} == set()


@pytest.mark.parametrize("path", files("minigrad"), ids=dotted)
def test_a_file_of_the_library_needs_numpy_alone(path):
    may = {"numpy", "minigrad"} | sys.stdlib_module_names
    assert {name for name in imports(path, everywhere=False) if name.split(".")[0] not in may} == set()


@pytest.mark.parametrize("path", [path for house in AROUND for path in files(house)], ids=dotted)
def test_a_file_around_the_library_imports_only_from_lower_floors(path):
    house, name = dotted(path).split(".")[:2]
    lower = AROUND[house][: AROUND[house].index(name) + 1]
    may = ["minigrad", *list(AROUND)[: list(AROUND).index(house)], *(f"{house}.{name}" for name in lower)]
    assert {imported for imported in of_the_house(path) if not inside(imported, may)} == set()


def test_every_file_has_a_floor():
    library = {dotted(path).removeprefix("minigrad.") for path in files("minigrad")} - {"layers.__init__"}
    assert library - set(MAY) == set()
    for house, names in AROUND.items():
        assert {dotted(path).split(".")[1] for path in files(house)} == set(names)


def test_the_book_draws_the_floors_out_of_the_imports(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book" / "extensions")
    house = importlib.import_module("house_floors")
    found = house.read_imports(ROOT)
    assert {name for name in found if name.startswith("minigrad.")} == {
        f"minigrad.{name}" for floor in house.LIBRARY.values() for name in floor
    }
    assert found["minigrad.checkpoint"] == {f"minigrad.{name}" for name in ("backend", "layer", "parts")}
    assert {"course.store", "minigrad.layer"} <= found["course.checks"]
    rows = house.rows_of_the_course(found)
    for place, row in enumerate(rows):
        lower = {part for below in rows[place + 1 :] for part in below}
        assert {part for name in row for part in found[name] if part.startswith("course.")} <= lower
    labels = [text.get_text() for text in house.draw_floors(found).axes[0].texts]
    assert {"shapes", "attention", "checks", "course", "minigrad"} <= set(labels)
    assert "checkpoint" in house.floors_in_words(found)
