"""The release, a wheel and a source archive: complete, and usable without the checkout."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import numpy as np
import pytest
import yaml

import minigrad

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]
MADE = {"work", "dist", "_build", "node_modules", "wheels", "__pycache__", ".ipynb_checkpoints", ".DS_Store"}
KINDS = {".py", ".npz", ".json", ".css", ".md", ".mk", ".html", ".js"}
LARGEST, WHEEL, SOURCE = 500_000, 1_500_000, 20_000_000  # bytes: a stored weight; each release
# The few tests that run each time; the long test runs them all.
SOME = [
    "tests/layers/test_linear.py",
    "tests/test_checkpoint.py",
    "tests/test_data.py",
    "tests/test_losses.py",
]

# Python without this environment's packages except NumPy and, on request, pytest.
ALONE = """
import sys

class Only:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if not (top in sys.stdlib_module_names | {allowed} or top.startswith("_sysconfigdata")):
            raise ModuleNotFoundError(f"blocked: {{name}}", name=name)

sys.meta_path.insert(0, Only())
sys.path[:0] = {folders}
import minigrad
assert minigrad.__file__.startswith({folders}[0]), minigrad.__file__
"""
PYTEST = {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "tests"}
SETTINGS = """
[pytest]
addopts = --import-mode=importlib --doctest-modules
filterwarnings = error
markers =
    gpu: none here
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel, made from the archive of the source, and that archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    """The wheel."""
    (path,) = built.glob("*.whl")
    assert path.name == f"minigrad_course-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(built, tmp_path_factory):
    """The folder with the unpacked source archive."""
    (path,) = built.glob("*.tar.gz")
    assert path.stat().st_size < SOURCE
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(path) as opened:
        opened.extractall(folder, filter="data")
    return folder / f"minigrad_course-{VERSION}"


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """A function that runs code with the wheel, NumPy and nothing else installed."""
    target = tmp_path_factory.mktemp("installed")
    wheel.extractall(target)  # installs a wheel of pure Python

    def run(code, allowed=(), folders=(), cwd=target):
        folders = [str(target), *map(str, folders), str(Path(np.__file__).parents[1])]
        code = ALONE.format(allowed={"minigrad", "course", "numpy", *allowed}, folders=folders) + code
        command = [sys.executable, "-I", "-c", code]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False)

    return run


@pytest.fixture
def library_tests(alone, source, tmp_path):
    """A function that runs the library's tests on the installed wheel, and returns pytest's last line."""
    for path in [*source.glob("tests/layers/*.py"), *source.glob("tests/*.py")]:
        copy = tmp_path / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (tmp_path / "pytest.ini").write_text(SETTINGS, encoding="utf-8")

    def run(*which):
        options = ["-q", "-c", "pytest.ini", "-p", "no:cacheprovider", "--disable-plugin-autoload"]
        options += ["-m", "not gpu", *which]
        code = f"import os, pytest\nos.environ['MINIGRAD_WORK'] = ''\nsys.exit(pytest.main({options}))"
        done = alone(code, PYTEST, [tmp_path], cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.splitlines()[-1]

    return run


def ours(folder):
    """List the files in a folder of this checkout, without those made by running it."""
    paths = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if MADE.isdisjoint(path.parts)}


def test_there_is_one_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == VERSION
    assert citation["version"] == VERSION
    assert minigrad.__version__ == VERSION


def test_the_wheel_has_the_library_and_the_course_and_nothing_else(wheel):
    records = f"minigrad_course-{VERSION}.dist-info/"
    found = {name for name in wheel.namelist() if not name.startswith(records)}
    assert found == ours("minigrad") | ours("course")
    assert {Path(name).suffix for name in found} <= KINDS
    assert {"minigrad/digits.npz", "course/examples/addition.npz", "course/examples/naming.npz"} < found
    licences = {f"{records}licenses/{name}" for name in PYPROJECT["project"]["license-files"]}
    assert licences < set(wheel.namelist())
    assert max(entry.file_size for entry in wheel.infolist()) < LARGEST
    assert Path(wheel.filename).stat().st_size < WHEEL


def test_the_wheel_lists_its_requirements(wheel):
    said = BytesParser().parsebytes(wheel.read(f"minigrad_course-{VERSION}.dist-info/METADATA"))
    assert said["Name"] == "minigrad-course" and said["Version"] == VERSION
    needed = [line for line in said.get_all("Requires-Dist") if "extra ==" not in line]
    assert needed == PYPROJECT["project"]["dependencies"]


def test_the_source_has_all_files_that_the_tests_read(source):
    folders = (
        "minigrad course classroom authoring tests notebooks solutions exercises benchmarks book".split()
    )
    copied = ("book/notebooks/", "book/exercises/", "book/reference/")  # when the book is built
    wanted = {name for name in set().union(*map(ours, folders)) if not name.startswith(copied)}
    found = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert wanted - found == set()
    inside = {name for name in found - wanted if "/" in name}
    assert {name.split("/")[0] for name in inside} <= {".github"}
    beside = "README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff LICENSE LICENSE-text pyproject.toml "
    beside += "requirements.lock environment.yml Makefile conftest.py postBuild PKG-INFO .gitignore"
    assert found - wanted - inside == set(beside.split())


def test_nothing_else_can_be_imported_beside_the_wheel(alone):
    assert "blocked: matplotlib" in alone("import matplotlib").stderr


def test_the_readme_s_example_runs_on_the_wheel_and_numpy(alone):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    done = alone(code)
    assert done.stderr == "" and done.stdout.splitlines()[-2:] == ["passed", "0.998"]


def test_tests_of_the_library_pass_on_the_wheel_and_numpy(library_tests):
    assert re.search(r"[1-9]\d\d passed", library_tests(*SOME))


@pytest.mark.long
def test_all_tests_and_examples_of_the_library_pass_on_the_wheel_and_numpy(library_tests, alone):
    names = ("against_pytorch", "bridge_torch", "bridge_jax")  # they are skipped without PyTorch and JAX
    others = [f"--ignore=tests/test_{name}.py" for name in names]
    assert re.search(r"\d{4} passed", library_tests("tests", *others))
    installed = alone("print(minigrad.__path__[0])").stdout.strip()
    assert re.search(r"[1-9]\d passed", library_tests(installed))


@pytest.mark.long
def test_the_source_passes_its_own_tests(source):
    which = [
        "minigrad",
        "course",
        "tests/layers",
        "tests/course",
        *map(str, sorted(source.glob("tests/test_*.py"))),
    ]
    code = f"import sys, pytest; sys.path.insert(0, {str(source)!r}); sys.exit(pytest.main({['-q', *which]}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
