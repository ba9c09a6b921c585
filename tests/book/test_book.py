"""The book: its pages match the project, use one word for one thing, and need no network."""

import contextlib
import importlib.util
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat.v4 as notebook

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in BOOK.glob("*.md")}

SMALL_INDEX = """# Book

See chapter 04 and chapter 05, and [its words](../notebooks/04_closures.ipynb#say-it).

```{toctree}
:glob:

notebooks/*
glossary
```

```{bibliography}
```
"""
SMALL_GLOSSARY = """# Glossary

```{glossary}
closure
  A function. Chapter 04.
```
"""
SMALL_CHAPTER = """# 04 Closures

Many **closures**, *surely*: $x^2$. This is chapter 04, with [words](../book/glossary.md).

## Say it

A closure remembers.
"""


def table(page, heading):
    """Return the rows of the first table under a heading of a page."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_configuration_runs_no_notebook_and_has_no_address(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    settings = runpy.run_path(str(BOOK / "conf.py"))
    assert settings["nb_execution_mode"] == "off"
    assert settings["nb_ipywidgets_js"] == {}
    assert "http" not in (BOOK / "conf.py").read_text(encoding="utf-8")
    assert [name for name in settings["extensions"] if importlib.util.find_spec(name) is None] == []


def test_the_landing_page_s_code_prints_the_output_on_the_page():
    code = "".join(re.findall(r"```python\n(.*?)```", PAGES["index"], re.DOTALL))
    (said,) = re.findall(r"```text\n(.*?)```", PAGES["index"], re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "index.md", "exec"), {})
    assert printed.getvalue() == said


def test_the_glossary_is_sorted_and_every_term_names_its_chapter():
    terms = re.findall(r"^(\S.*)\n  \S", PAGES["glossary"], re.MULTILINE)
    assert terms == sorted(set(terms), key=str.lower)
    entries = re.findall(r"^\S.*\n((?:  .+\n)+)", PAGES["glossary"], re.MULTILINE)
    assert len(entries) == len(terms)
    assert [entry for entry in entries if not re.search(r"Chapter \d\d\.\n$", entry)] == []


def test_the_notation_has_one_word_for_one_thing():
    rows = table(PAGES["notation"], "Words")
    ours = [row[0] for row in rows]
    others = [word for row in rows for word in row[2].split(", ")]
    assert ours == sorted(set(ours), key=str.lower)
    assert set(ours) & set(others) == set()
    letters = [letter for row in table(PAGES["notation"], "Letters") for letter in row[0].split(", ")]
    assert len(letters) == len(set(letters))


def test_every_work_in_the_bibliography_is_cited():
    works = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(works) == sorted(set(re.findall(r"\{cite:p\}`(\w+)`", PAGES["references"])))


def test_only_changed_notebooks_are_copied_into_the_book(extension, tmp_path):
    copy_notebooks = extension("notebook_copies").copy_notebooks
    project, book = tmp_path, tmp_path / "book"
    chapter, exercise = project / "notebooks/04_a.ipynb", project / "exercises/04_a/04_a_exercises.ipynb"
    for path in (chapter, exercise):
        path.parent.mkdir(parents=True)
        path.write_text("first", encoding="utf-8")
    copy_notebooks(project, book)
    copy = book / "notebooks/04_a.ipynb"
    assert copy.read_text(encoding="utf-8") == "first"
    os.utime(copy, (7, 7))
    exercise.unlink()
    copy_notebooks(project, book)
    assert copy.stat().st_mtime == 7
    assert not (book / "exercises/04_a/04_a_exercises.ipynb").exists()
    chapter.write_text("other", encoding="utf-8")
    copy_notebooks(project, book)
    assert copy.read_text(encoding="utf-8") == "other"


def test_a_page_that_loads_from_the_network_is_found(extension, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<a href="https://example.org">a link may stay</a><img src="data:image/png;base64,YWJj" alt="a">'
        '<link rel="stylesheet" href="book.css?v=1"><link rel="next" href="https://example.org/next">'
        '<script src="https://example.org/a.js"></script><img src="lost.png" alt="lost">',
        encoding="utf-8",
    )
    (tmp_path / "book.css").write_text("@import '//example.org/font.css'; a { background: url(b.png) }")
    assert extension("offline_pages").unmet_loads(tmp_path) == [
        "page.html would load https://example.org/a.js from the network.",
        "page.html loads lost.png, which does not exist.",
        "book.css would load //example.org/font.css from the network.",
    ]


def test_a_small_book_is_built_as_the_large_one(tmp_path):
    book, notebooks = tmp_path / "book", tmp_path / "notebooks"
    shutil.copytree(BOOK, book, ignore=shutil.ignore_patterns("_build", "notebooks", "exercises", "*.md"))
    (book / "index.md").write_text(SMALL_INDEX, encoding="utf-8")
    (book / "glossary.md").write_text(SMALL_GLOSSARY, encoding="utf-8")
    faces = {"application/vnd.jupyter.widget-view+json": {}, "text/html": "<b>face</b>", "image/png": "YWJj"}
    cell = notebook.new_code_cell("def f(): ...", outputs=[notebook.new_output("display_data", faces)])
    cell.metadata.tags = ["same-as-minigrad.losses.mse"]
    chapter = notebook.new_notebook(cells=[notebook.new_markdown_cell(SMALL_CHAPTER), cell])
    chapter.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebooks.mkdir()
    (notebooks / "04_closures.ipynb").write_text(notebook.writes(chapter), encoding="utf-8")

    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "book", "site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    index = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert re.search(r'<a [^>]*href="notebooks/04_closures.html"[^>]*><span>chapter 04</span></a>', index)
    assert " and chapter 05, and <a" in index and 'href="notebooks/04_closures.html#say-it"' in index
    page = (tmp_path / "site/notebooks/04_closures.html").read_text(encoding="utf-8")
    assert re.search(r'<a [^>]*href="../glossary.html#term-closure"[^>]*><strong>closures</strong></a>', page)
    assert "<em>surely</em>" in page and "This is chapter 04, with <a" in page
    assert 'href="../glossary.html"><span class="std std-doc">words</span></a>' in page
    assert "The library’s own code: <code" in page and "minigrad.\u200blosses.\u200bmse</span>" in page
    assert "<b>face</b>" in page and "widget-view" not in page and "image/png" not in page
    assert "<math " in page and "mathjax/" not in page
    assert "fonts/formulas.woff2" in page and "fonts/formulas.woff2" not in index  # it waits for its brackets
    listed = (tmp_path / "site/genindex.html").read_text(encoding="utf-8")
    for place in ("taught-closure", "built-minigrad-losses-mse"):
        assert f'href="notebooks/04_closures.html#{place}"' in listed and page.count(f'id="{place}"') == 1
    assert "mse (losses)" in listed and '#taught-closure">chapter 04</a>' in listed
    static = tmp_path / "site/_static"
    assert (static / "styles/pydata-sphinx-theme.css").stat().st_size < 150_000
    assert (static / "vendor/fontawesome/webfonts/fa-solid-900.woff2").stat().st_size < 20_000


def test_unused_styles_and_icons_are_removed(extension, tmp_path):
    lean_pages = extension("lean_pages")
    sheet = "/* a */ .a > .b, .c:not(.b) { top: 0 } @media print { .b p { left: 0 } } @font-face { src: x }"
    kept = lean_pages.lean(sheet, {"c"})
    assert ".c:not(.b)" in kept and "@font-face" in kept and "left" not in kept and ".a" not in kept
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/a.js").write_text('element.classList.add("later");', encoding="utf-8")
    (tmp_path / "a.html").write_text('<p class="one two" data-bs-custom-class="bubble">', encoding="utf-8")
    assert {"one", "two", "bubble", "later"} <= lean_pages.names_in(tmp_path)


def test_a_slider_s_other_pictures_are_in_a_separate_file(extension, tmp_path):
    text = '<div class="explore-1a" style="x">\n<svg></svg>\n</div>\n<script>\nshow([1])\n</script>'
    found = extension("lean_pages").SLIDER.search(text)
    assert found[2] == "explore-1a" and found[3] == "\nshow([1])\n" and "<script>" not in found[1]
