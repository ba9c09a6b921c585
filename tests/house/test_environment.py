"""The dependencies: pyproject.toml lists them, the lock pins them, and environment.yml installs them."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from authoring.house import imported_names

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
EXTRAS = PROJECT["optional-dependencies"]
PINNED = r"^([A-Za-z0-9._-]+)==([^\s;]+)"
# larger than all the others: only for the benchmarks and minigrad.beyond.bridge
LEFT_OUT = {"bench", "torch", "jax"}


def wanted():
    """Return {name: version range} for the project's requirements, with its extras except those left out."""
    lines = PROJECT["dependencies"] + [line for name in EXTRAS.keys() - LEFT_OUT for line in EXTRAS[name]]
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


def test_environment_yml_installs_the_project_with_its_extras():
    python, _, with_pip = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))[
        "dependencies"
    ]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
    (itself,) = with_pip["pip"]
    assert itself.startswith("--editable .[")
    assert Requirement(itself.replace("--editable .", "itself")).extras == {*EXTRAS} - LEFT_OUT


def test_the_lock_pins_every_dependency_inside_its_range():
    pinned = {canonicalize_name(name): version for name, version in re.findall(PINNED, LOCK, re.MULTILINE)}
    assert {name: spec for name, spec in wanted().items() if not spec.contains(pinned.get(name, "0"))} == {}


def test_every_pin_has_a_hash():
    for block in re.split(r"\n(?=\S)", LOCK):
        if re.match(PINNED, block):
            assert "--hash=sha256:" in block, block.split()[0]


def test_the_lock_has_no_address_and_no_path():
    assert [line for line in LOCK.splitlines() if re.search(r"/| @ |^-", line)] == []


def test_every_package_that_is_imported_is_named_in_pyproject():
    optional = {"cupy", "jax", "mpi4py", "pyodide", "sklearn", "torch"}  # each imported where it is needed
    ours = {path.stem for path in (ROOT / "book").rglob("*.py")}
    ours |= {path.stem for path in (ROOT / "classroom").glob("*.py")}  # modules of the sandbox
    ours.add("interrupt")  # the course's file beside them
    ours |= {"minigrad", "course", "classroom", "authoring", "tests", "benchmarks", "book"}
    distributions = packages_distributions()
    for folder in ("minigrad", "course", "classroom", "authoring", "tests", "book", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            used = {name.split(".")[0] for name in imported_names(path.read_text(encoding="utf-8"))}
            for module in used - sys.stdlib_module_names - ours - optional:
                names = {canonicalize_name(name) for name in distributions.get(module, [module])}
                assert names & set(wanted()), f"{path.relative_to(ROOT)} imports {module}"
