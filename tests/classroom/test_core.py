"""The trusted core of the grader: small, distrustful of its input, with every branch tested."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.test_budgets import code_lines

ROOT = Path(__file__).resolve().parents[2]
CLASSROOM = ROOT / "classroom"
CORE = ("faults", "result", "submission", "wire", "remote", "clock", "sandbox", "grade")
LINES = 1310  # of code, in these files together
TRIED = (
    "wire remote result grade honest unusual submission sandbox figures hostile".split()
)  # the files of tests


def test_the_trusted_core_stays_small():
    assert sum(len(code_lines(CLASSROOM.joinpath(f"{name}.py").read_text("utf-8"))) for name in CORE) <= LINES


@pytest.mark.parametrize("name", CORE)
def test_the_core_runs_nothing_that_it_reads(name):
    tree = ast.parse(CLASSROOM.joinpath(f"{name}.py").read_text("utf-8"))
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not called & {"eval", "exec", "compile", "__import__", "np.load"}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not imported & {"pickle", "marshal", "shelve", "dill", "yaml"}


@pytest.mark.long
def test_every_branch_of_the_core_is_tested(tmp_path):
    files = ",".join(f"classroom/{name}.py" for name in CORE)
    tests = [f"tests/classroom/test_{name}.py" for name in TRIED]
    environment = os.environ | {"COVERAGE_FILE": str(tmp_path / "coverage")}
    coverage = [sys.executable, "-m", "coverage"]
    run = f"run --branch --include={files} -m pytest -p no:cacheprovider".split()
    subprocess.run([*coverage, *run, *tests], cwd=ROOT, env=environment, check=True, capture_output=True)
    report = [*coverage, "json", "-q", "-o", str(tmp_path / "coverage.json")]
    subprocess.run(report, cwd=ROOT, env=environment, check=True)
    found = json.loads(tmp_path.joinpath("coverage.json").read_text())["files"]
    missing = {name: (part["missing_lines"], part["missing_branches"]) for name, part in found.items()}
    assert len(missing) == len(CORE) and set(map(str, missing.values())) == {"([], [])"}, missing
