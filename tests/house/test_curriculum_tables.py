"""The book's tables of contents, promises and routes, made from the curriculum."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from course.curriculum import CHAPTERS, PARTS, ROUTES

EXTENSIONS = Path(__file__).parents[2] / "book" / "extensions"
CONF = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_nb", "curriculum_tables"]
nb_execution_mode = "off"
"""
INDEX = "# Book\n\n```{chapters}\n```\n\n```{parts}\n```\n\n```{toctree}\nteaching/index\n```\n"
TEACHING = "# Teaching\n\n```{routes}\n```\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the pages of a book in which each chapter is a title."""
    book = tmp_path_factory.mktemp("book")
    (book / "notebooks").mkdir()
    (book / "teaching").mkdir()
    for chapter in CHAPTERS:
        cell = new_markdown_cell(f"# {chapter.stem[:2]} {chapter.title}")
        nbformat.write(new_notebook(cells=[cell]), book / f"notebooks/{chapter.stem}.ipynb")
    for name, text in {"conf.py": CONF, "index.md": INDEX, "teaching/index.md": TEACHING}.items():
        (book / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "site"]
    done = subprocess.run(command, cwd=book, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # a chapter in no table of contents is a warning
    return lambda name: (book / "site" / name).read_text(encoding="utf-8")


def test_each_chapter_has_its_promise_once_in_order(site):
    table = site("index.html").split("<table")[1].split("</table>")[0]
    assert re.findall(r'href="notebooks/(\w+)\.html"', table) == [chapter.stem for chapter in CHAPTERS]
    assert table.count("<tr") == len(CHAPTERS) + 1


def test_the_contents_follow_the_parts(site):
    captions = re.findall(r'<span class="caption-text">(.*?)</span>', site("index.html"))
    assert list(dict.fromkeys(captions)) == list(PARTS)


def test_in_the_pdf_each_part_is_a_part(monkeypatch):
    monkeypatch.syspath_prepend(EXTENSIONS)
    page = importlib.import_module("curriculum_tables").filled(INDEX)
    bound = importlib.import_module("on_paper").bound(page)
    assert re.findall(r"\\part\{(.*)\}", bound) == list(PARTS)


def test_each_route_links_to_its_chapters_from_any_page(site):
    _, *rows = site("teaching/index.html").split("<table")[1].split("</table>")[0].split("<tr")[1:]
    linked = [re.findall(r'href="\.\./notebooks/(\w+)\.html"', row) for row in rows]
    assert linked == [[chapter.stem for chapter in route.chapters] for route in ROUTES.values()]
