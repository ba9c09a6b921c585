"""The floors of the project: each file imports only from lower ones, and the library needs NumPy alone."""

import sys
from pathlib import Path

import pytest

from authoring.house import PLACE, floors, house, imported_names, read_imports, sources
from authoring.notebooks import BuildError

ROOT = Path(__file__).parents[2]
# From the ground up: a folder imports only from itself and from those before it.
HOUSES = "minigrad course authoring benchmarks classroom book tests".split()
# The floors of the library from the ground up: their files, and the lower floors that these may import. A
# file may also import others of its own floor, but not in a cycle.
FLOORS = {
    "ground": ("settings shapes foreign_names parameter backend parts initializers", []),
    "contract": ("layer", ["ground"]),
    "layers": ("layers", ["ground", "contract"]),
    "measures": ("losses accuracy data", ["ground", "contract", "layers"]),
    "training": ("optimizers checkpoint check", ["ground", "measures", "contract"]),
    "use": ("learner", ["ground", "measures", "contract", "training"]),
    "beyond": ("beyond", ["ground", "measures", "contract", "training", "use"]),
}


CODE = {name: code for name, code in sources().items() if name.partition(".")[0] in HOUSES}
IMPORTS = read_imports(CODE)
LIBRARY = [name for name in CODE if name.startswith("minigrad.") and name != "minigrad.layers"]


def floor_of(name):
    """Return the floor of a file of the library, or None."""
    _, first, *_ = [*name.split("."), ""]
    return next((floor for floor, (names, _) in FLOORS.items() if first in names.split()), None)


@pytest.mark.parametrize("name", LIBRARY)
def test_a_file_of_the_library_imports_only_from_lower_floors(name):
    floor = floor_of(name)
    assert floor, f"give {name} a floor: the floors are {', '.join(FLOORS)}"
    below = {used: floor_of(used) for used in IMPORTS[name]}
    assert {used: lower for used, lower in below.items() if lower not in [floor, *FLOORS[floor][1]]} == {}


def test_the_library_never_imports_the_packages_above_it():
    beyond = {name for name in CODE if name.startswith("minigrad.beyond")}
    users = {name for name in LIBRARY if IMPORTS[name] & beyond}
    assert beyond and users <= beyond


@pytest.mark.parametrize("name", LIBRARY)
def test_a_file_of_the_library_needs_numpy_alone(name):
    may = {"numpy", "minigrad"} | sys.stdlib_module_names
    used = imported_names(CODE[name], everywhere=False)
    assert {dotted for dotted in used if dotted.split(".")[0] not in may} == set()


@pytest.mark.parametrize("folder", HOUSES)
def test_a_folder_imports_only_from_those_before_it(folder):
    later = HOUSES[HOUSES.index(folder) + 1 :]
    inside = [name for name in CODE if name.split(".")[0] == folder]
    assert {(name, used) for name in inside for used in IMPORTS[name] if used.split(".")[0] in later} == set()


def test_no_files_import_each_other_in_a_circle():
    rows = floors(IMPORTS)  # refuses a circle
    assert sorted(name for row in rows for name in row) == sorted(CODE)
    for place, row in enumerate(rows):
        lower = {name for below in rows[place + 1 :] for name in below}
        assert {used for name in row for used in IMPORTS[name]} <= lower


def test_a_circle_is_refused_by_name():
    with pytest.raises(BuildError, match="in a cycle: [bc], [bc], [bc]"):
        floors({"a": {"b"}, "b": {"c"}, "c": {"b"}})


def test_imports_are_read_from_the_files():
    assert IMPORTS["minigrad.layers.linear"] >= {"minigrad.layers.weighted", "minigrad.shapes"}
    assert IMPORTS["tests.house.test_floors"] == {"authoring.house", "authoring.notebooks"}


def test_an_import_with_dots_is_refused():
    with pytest.raises(BuildError, match="line 2: write the import in full, without dots"):
        imported_names("import ast\nfrom .layer import Layer")


def test_the_picture_of_the_house_is_up_to_date():
    assert (ROOT / PLACE).read_text("utf-8") == house(), "run `python -m authoring pictures`"
