"""The library's reference, which the book makes of the library: every public name once, under its file."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).parents[2]
SHOWN = r"^\.\. auto(?:class|function|exception):: (\S+)$"


@pytest.fixture
def extension(monkeypatch):
    """Return a function that imports one of the book's own Sphinx extensions."""
    monkeypatch.syspath_prepend(ROOT / "book/extensions")
    return importlib.import_module


def test_every_public_name_is_shown_once_under_its_file(extension):
    reference = extension("library_reference")
    names = reference.public_names()
    beside = {f"{module}.{name}" for module, listed in reference.BESIDE.items() for name in listed}
    pages = {module: reference.page(module, listed) for module, listed in names.items()}
    shown = [name for text in pages.values() for name in re.findall(SHOWN, text, re.MULTILINE)]
    assert sorted(shown) == sorted([*minigrad.__all__, *beside])
    for module, text in pages.items():
        for name in re.findall(SHOWN, text, re.MULTILINE):
            assert getattr(sys.modules[module], name.rpartition(".")[2]).__module__ == module


def test_the_table_leads_to_every_page_in_teaching_order(extension):
    reference = extension("library_reference")
    files = [module.removeprefix("minigrad.") for module in reference.public_names()]
    linked = re.findall(r"\]\(reference/(\S+)\.md\)", reference.table())
    assert linked == re.findall(r"^reference/(\S+)$", reference.contents(), re.MULTILINE) == files
    assert files.index("layer") < files.index("layers.linear") < files.index("layers.attention")


def test_pages_follow_the_library(extension, tmp_path):
    write_pages = extension("library_reference").write_pages
    write_pages(tmp_path)
    gone, kept = tmp_path / "gone.md", tmp_path / "layers.linear.md"
    gone.write_text("# A file that is no more", encoding="utf-8")
    written = kept.stat().st_mtime_ns
    write_pages(tmp_path)
    assert not gone.exists() and kept.stat().st_mtime_ns == written
    assert ".. autoclass:: Linear\n   :members: forward\n" in kept.read_text(encoding="utf-8")


def test_marks_are_plain_text_and_each_formula_has_its_line(extension):
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
    assert "\n".join(extension("plain_docstrings").as_markup(docstring.splitlines())) == expected
