"""The page book/api.md: every public name once, under the file and the chapter that it comes from."""

import importlib
import re
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/api.md").read_text(encoding="utf-8")
GROUPS = re.split(r"^## .*\n", PAGE, flags=re.MULTILINE)[1:]
FILES = [re.match(r"\n`minigrad/([\w/]+)\.py`", group)[1] for group in GROUPS]
SHOWN = r"^\.\. auto(?:class|function|exception):: minigrad\.(\S+)$"
NAMELESS = ("settings", "habits", "parts", "layers/weighted", "diagnosis", "graph")  # no public name
BESIDE = {"diagnosis.Report": "gradcheck"}  # what gradcheck returns, and no public name
BESIDE |= {f"bridge.{name}": "bridge" for name in ("from_torch", "from_jax", "to_torch")}  # not exported


@pytest.fixture
def as_markup(monkeypatch):
    """What the book makes of a docstring before napoleon reads it."""
    monkeypatch.syspath_prepend(ROOT / "book/extensions")
    return importlib.import_module("plain_docstrings").as_markup


def chapters(text):
    """Return the chapters that a text of the book names."""
    return set(re.findall(r"\bchapter (\d\d)\b", text))


def born():
    """Return the chapters that the comments in the list of public names give to each of them."""
    listed = (ROOT / "minigrad/__init__.py").read_text(encoding="utf-8").partition("__all__ = [")[2]
    found = {}
    for comment, names in re.findall(r"# (chapters? .*)\n((?: +\".*\n)+)", listed):
        found |= dict.fromkeys(re.findall(r'"(\w+)"', names), set(re.findall(r"\d\d", comment)))
    return found


def test_every_public_name_is_shown_once():
    assert sorted(re.findall(SHOWN, PAGE, re.MULTILINE)) == sorted([*minigrad.__all__, *BESIDE])


def test_names_stand_under_their_file():
    for file, group in zip(FILES, GROUPS, strict=True):
        for name in re.findall(SHOWN, group, re.MULTILINE):
            home = getattr(minigrad, name).__module__ if name not in BESIDE else f"minigrad.{BESIDE[name]}"
            assert home == f"minigrad.{file.replace('/', '.')}", name


def test_files_stand_in_the_order_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\]\(minigrad/([\w/]+)\.py\)", readme)
    assert FILES == [file for file in listed if file not in NAMELESS]


def test_each_group_names_the_chapters_of_its_names():
    chapter_of = born()
    assert set(chapter_of) == set(minigrad.__all__)
    for group in GROUPS:
        for name in re.findall(SHOWN, group, re.MULTILINE):
            assert name in BESIDE or chapters(group) & chapter_of[name], name


def test_marks_are_plain_text_and_each_formula_has_its_line(as_markup):
    docstring = """Compare |x| with x_.

Parameters
----------
*layers : Layer

Notes
-----
L = |Y - T| / size, a formula
of two lines.
dY = 2 ** x_i.

Examples
--------
>>> 2 ** 3 | 1
9"""
    expected = r"""Compare \|x\| with x\_.

Parameters
----------
\*layers : Layer

Notes
-----
| L = \|Y - T\| / size, a formula
  of two lines.
| dY = 2 \*\* x_i.

Examples
--------
>>> 2 ** 3 | 1
9"""
    assert "\n".join(as_markup(docstring.splitlines())) == expected
