"""The names of files and folders, and the promises of README.md."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import minigrad

ROOT = Path(__file__).parents[2]
MADE = set(re.findall(r"^(.+)/$", (ROOT / ".gitignore").read_text(encoding="utf-8"), re.MULTILINE))
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAYS_NOTHING = {"utils.py", "helpers.py", "common.py", "misc.py"}


def files():
    """List the project's files, without those made by building and running it."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        folders[:] = [f for f in folders if f not in MADE | {".git"} and (here / f).as_posix() not in MADE]
        found += [here / name for name in names if name not in MADE]
    return found


def test_every_top_level_folder_is_in_the_readme():
    _, _, place = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Where things live\n")
    named = set(re.findall(r"`(\w+)/`", place.partition("\n## ")[0])) - {"work"}  # made by make lab
    found = {path.parts[0] for path in files() if len(path.parts) > 1 and not path.parts[0].startswith(".")}
    assert found == named


def test_every_file_name_is_descriptive():
    assert [
        str(path) for path in files() if path.name in SAYS_NOTHING or re.search(r"_v\d+\.", path.name)
    ] == []


def test_no_file_is_empty():
    assert [str(path) for path in files() if not (ROOT / path).read_bytes().strip()] == []


def test_the_distribution_has_its_full_name():
    other = re.compile(
        rb"pip install( -\S+)* [\"']?minigrad(?!-course)"
    )  # that name belongs to another project
    assert [str(path) for path in files() if other.search((ROOT / path).read_bytes())] == []


def test_every_name_that_is_imported_is_public():
    tree = ast.parse((ROOT / "minigrad" / "__init__.py").read_text(encoding="utf-8"))
    imported = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert minigrad.__all__ == imported


def test_readme_example_prints_what_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", README, re.DOTALL).groups()
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.stderr == ""
    rounding = r"\d\.\de-(0[9]|1\d)"  # a finite-difference error, whose digits differ from machine to machine
    assert re.sub(rounding, "tiny", process.stdout) == re.sub(rounding, "tiny", shown)


def test_readme_links_lead_to_files():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
