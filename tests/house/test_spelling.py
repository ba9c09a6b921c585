"""Spelling, checked by codespell's list of common mistakes: in prose, in code, and in the book."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = "minigrad course tests benchmarks book".split()
ENDINGS = {".py", ".md", ".bib", ".css", ".js", ".mjs"}
MADE = {"_build", "notebooks", "exercises", "node_modules", "__pycache__", ".ipynb_checkpoints"}
OURS = "fro,vermillion,onself,caf,joo,meger"  # to and fro; a colour; the class OnSelf; a cut word; names


def texts():
    """Yield the path and the text of each file written by hand; a notebook's outputs are left out."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS and MADE.isdisjoint(path.relative_to(ROOT).parts):
                yield path, path.read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        yield ROOT / name, (ROOT / name).read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb")]):
        cells = nbformat.read(path, as_version=4).cells
        yield path, "\n\n".join(cell.source for cell in cells)


def misspelled(named, folder):
    """Write texts into a folder, and return codespell's findings."""
    for path, text in named:
        copy = folder / f"{path.relative_to(ROOT).as_posix().replace('/', '__')}.txt"
        copy.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", OURS, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr.strip(), done.stderr
    return done.stdout.splitlines()


def test_files_written_by_hand_are_spelled_right(tmp_path):
    assert misspelled(texts(), tmp_path) == []


@pytest.mark.parametrize("name", ["notebooks/04_closures.ipynb", "book/index.md", "course/kept/keep.py"])
def test_a_mistake_is_found(tmp_path, name):
    written = dict(texts())[ROOT / name]
    wrong = "".join(("rec", "ieve"))  # split, so that this file is spelled right
    (line,) = misspelled([(ROOT / name, f"{written}\n{wrong}\n")], tmp_path)
    assert wrong in line
