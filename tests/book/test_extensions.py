"""The book's Sphinx extensions, tested on a book of a few pages."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from html import escape, unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.checks import exercises
from course.figures import slopes
from course.figures.widgets import LIVE, Slider, Widget

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
INDEX = """# Book

<!-- where notebooks run -->
Python starts in the page.
<!-- end -->
<!-- where there is paper -->
<a href="minigrad.pdf">PDF</a>
<!-- end -->

```{toctree}
:glob:

notebooks/*
exercises/*/*
glossary
```

```{bibliography}
```
"""
GLOSSARY = """# Glossary

```{glossary}
closure
  A function that remembers $x^2$, "for good". Chapter 04.

return
  What a move is worth, all in all. Chapter 05.
```
"""
CHAPTER = """# 04 Functions that remember

**You will find a way.**

About 65 minutes. See [chapter 05](05_chains.ipynb) and its *closures*.

## In code

A *closure*, once more a **closure**. Press *Closure*. It *returns* a pair.

> What is a *closure*?
"""
TABLE = "W  (3, 7)  ok\nb  (7,)    ok\n"
NEXT = "# 05 Chains\n\n**You will make one layer of many.**\n\nGo [back](04_closures.ipynb#in-code)."


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with a book of two chapters and the exercises of the first."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(
        BOOK, folder / "book", ignore=shutil.ignore_patterns("_build", "notebooks", "exercises", "*.md")
    )
    (folder / "book/index.md").write_text(INDEX, encoding="utf-8")
    (folder / "book/glossary.md").write_text(GLOSSARY, encoding="utf-8")
    (folder / "notebooks").mkdir()
    function = new_code_cell("def half(x):\n    return x / 2")
    function.outputs = [new_output("stream", name="stdout", text=f"{TABLE}{' '.join(20 * ['word'])}\n")]
    imports = new_code_cell("import os\n" * 9)
    shutil.copy(ROOT / "CITATION.cff", folder)
    for stem, cells in {
        "04_closures": [new_markdown_cell(CHAPTER), imports, function],
        "05_chains": [new_markdown_cell(NEXT)],
    }.items():
        chapter = new_notebook(cells=cells)
        chapter.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(chapter, folder / "notebooks" / f"{stem}.ipynb")
    for kind in ("exercises", "solutions"):
        shutil.copytree(ROOT / kind / "04_closures", folder / kind / "04_closures")
    page = folder / "exercises/04_closures/04_closures_exercises.ipynb"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("Functions that remember](", "chapter]("), encoding="utf-8")
    return folder


def built(project, *options, builder="html", suffix="html"):
    """Build the book of a project, and return the text of its pages by name."""
    site = project / ("site" if builder == "html" else builder)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", builder, *options]
    done = subprocess.run(
        [*command, "book", site.name], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.glob(f"**/*.{suffix}")
    }


@pytest.fixture(scope="module")
def pages(project):
    return built(project)


def test_a_term_is_linked_once_per_section_from_its_chapter_on(pages):
    links = pages["notebooks/04_closures.html"].split("<a ")
    linked = [
        re.sub(r"<[^>]+>", "", link.partition(">")[2].partition("</a>")[0])
        for link in links
        if "#term-" in link
    ]
    assert linked == ["closures", "closure"]


def test_a_chapter_links_to_its_copies_and_its_exercises(project, pages):
    row = pages["notebooks/04_closures.html"].split("chapter-tools")[1].split("</nav>")[0]
    assert "Download" in row and "Run" not in row
    assert 'href="../_sources/notebooks/04_closures.ipynb" download' in row
    assert 'href="../recall/04_closures.ipynb" download' in row
    assert 'href="../exercises/04_closures/04_closures_exercises.html"' in row
    copy = nbformat.read(project / "site/recall/04_closures.ipynb", as_version=4)
    assert copy.cells[-1].source == "def half(x):\n    raise NotImplementedError"
    given = project / "site/_sources/notebooks/04_closures.ipynb"
    assert given.read_bytes() == (project / "notebooks/04_closures.ipynb").read_bytes()
    assert "recall" not in pages["notebooks/05_chains.html"]  # it defines nothing


def test_long_imports_are_folded_and_a_table_keeps_the_lines_that_fit(pages):
    page = pages["notebooks/04_closures.html"]
    assert "Imports: 9 lines" in page and page.count('<details class="admonition hide') == 1
    (table,) = re.findall(r'<div class="output stream[^>]*aligned[^>]*>.*?</pre>', page, re.DOTALL)
    assert "b  (7,)    ok\n" in table
    assert re.search(r"(word ){15}word\n {4}word word word word\s*</pre>", table)


def test_only_a_table_keeps_its_lines(extension):
    is_table = extension("outputs").is_table
    assert is_table("[[0.5 0.1]\n [0.7 0.3]]\n")
    assert is_table("one  two   three\nsix  seven eight\n")
    assert not is_table("an error: it is long\nand another one, too\n")
    assert not is_table("name  one\nother  two")


def test_a_page_ends_with_its_date_if_there_is_a_history_and_with_the_citation(extension, pages, tmp_path):
    imprint = extension("imprint")
    page = pages["notebooks/04_closures.html"]
    assert "title = {minigrad: a neural-network library that you build yourself}" in page
    assert "Last changed" not in page and "Report a mistake" not in page  # no history, no repository
    assert imprint.last_changes(tmp_path) == {}
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    for day, name in (("2031-03-02", "a.md"), ("2031-03-05", "b.md")):
        (tmp_path / name).write_text("text", encoding="utf-8")
        subprocess.run([*git, "add", name], check=True)
        dated = {**os.environ, "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
        subprocess.run([*git, "commit", "-q", "-m", "text"], check=True, env=dated)
    changes = imprint.last_changes(tmp_path)
    assert {name: str(day) for name, day in changes.items()} == {"a.md": "2031-03-02", "b.md": "2031-03-05"}
    assert "Last changed <time>2 March 2031</time>" in imprint.imprint(changes["a.md"], "", [])


def test_search_data_have_the_text_of_each_section(pages, project):
    told = (project / "site/passages/notebooks.05_chains.js").read_text("utf-8")
    page, passages = json.loads(told.removeprefix("tellPassages(").removesuffix(");\n"))
    assert page == "notebooks/05_chains"
    assert passages == [["chains", "05 Chains", "You will make one layer of many.\nGo back."]]


def test_links_to_run_print_and_publish_are_there_only_if_their_targets_are(project, pages):
    lab = project / "site/lite/lab/index.html"
    lab.parent.mkdir(parents=True)
    lab.write_text('<script src="program.js"></script>', encoding="utf-8")
    printed = [project / "book/_build" / name for name in ("latex/minigrad.pdf", "epub/minigrad.epub")]
    for path in printed:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"a book")
    address, place = "https://github.com/someone/the-course", "notebooks/04_closures.ipynb"
    written = project / "pyproject.toml"
    written.write_text(f'[tool.minigrad]\nrepository = "{address}"\n', "utf-8")

    full = built(project)
    chapter, first = full["notebooks/04_closures.html"], full["index.html"]
    assert f'href="../lite/lab/index.html?path={place}"' in chapter
    exercises = "exercises/04_closures/04_closures_exercises"
    assert f'href="../../lite/lab/index.html?path={exercises}.ipynb"' in full[f"{exercises}.html"]
    assert "Python starts in the page." in first and 'href="minigrad.pdf"' in first
    assert [(project / "site" / path.name).read_bytes() for path in printed] == 2 * [b"a book"]
    assert 'src="../_static/live/live.js' in chapter and "live.js" not in first
    row = chapter.split("chapter-tools")[1].split("</nav>")[0]
    assert f'href="https://mybinder.org/v2/gh/someone/the-course/HEAD?urlpath=lab/tree/work/{place}"' in row
    assert f'href="https://colab.research.google.com/github/someone/the-course/blob/colab/{place}"' in row
    assert f'href="{address}/issues/new?title=04%20Functions%20that%20remember%3A%20"' in chapter
    assert '<a href="../minigrad.epub">EPUB</a>' in chapter
    assert f'href="{address}/edit/main/{place}"' in chapter and f'href="{address}"' in chapter

    shutil.rmtree(project / "site/lite")
    printed[0].unlink()
    written.unlink()
    for bare in (built(project), pages):  # a target that is gone, and one that never existed
        chapter = bare["notebooks/04_closures.html"]
        assert "chapter-tools" in chapter
        words = ("lite/lab", "live.js", "mybinder", "colab", "github.com/someone")
        assert [word for word in words if word in chapter] == []
        assert not re.search("Python starts in the page|minigrad.pdf", bare["index.html"])


def test_a_recall_copy_is_removed_with_its_chapter(extension, tmp_path):
    write = extension("chapter_tools").write_recall_copies
    (tmp_path / "notebooks").mkdir()
    for name in ("04_a.ipynb", "05_b.ipynb"):
        nbformat.write(
            new_notebook(cells=[new_markdown_cell("# 04"), new_code_cell("def f():\n    return 5")]),
            tmp_path / "notebooks" / name,
        )
    write(tmp_path, tmp_path)
    (tmp_path / "notebooks/05_b.ipynb").unlink()
    write(tmp_path, tmp_path)
    assert [path.name for path in (tmp_path / "recall").iterdir()] == ["04_a.ipynb"]


def test_links_have_previews(pages):
    links = pages["notebooks/04_closures.html"].split("<a ")
    (to_chapter,) = [link for link in links if ">chapter 05<" in link]
    assert to_chapter.startswith('data-bs-toggle="tooltip"')
    assert 'data-bs-title="You will make one layer of many."' in to_chapter
    to_term = next(link for link in links if "#term-closure" in link)
    assert r"A function that remembers \(x^2\), “for good”. Chapter 04." in to_term


def test_a_mention_inside_a_link_does_not_nest_links(pages):
    assert ">chapter 05</span></a>" in pages["notebooks/04_closures.html"]
    assert "></span></a>" not in pages["notebooks/04_closures.html"]


def test_exercises_are_in_boxes_with_hints_and_answers_folded(pages):
    page = pages["exercises/04_closures/04_closures_exercises.html"]
    asked = [exercise for exercise in exercises() if exercise.stem == "04_closures"]
    assert page.count('<section class="exercise"') == page.count('<span class="worth">(') == len(asked)
    contents = page.split('class="page-toc"')[1].split("</nav>")[0]
    assert f"1. {asked[0].title}" in contents and "worth" not in contents
    assert page.count("<summary>Hint ") == 3 * len(asked)
    assert (
        "<h3" not in page
        and "BEGIN SOLUTION" not in page
        and "<details open" not in page.split("<article")[1]
    )
    statements, answers = page.split('<section id="answers">')
    for number, exercise in enumerate(asked, 1):
        assert f"<summary>{number}. {exercise.title}</summary>" in answers
    assert answers.count("<details>") == len(asked)
    assert ">30.0<" in answers and ">30.0<" not in statements


@pytest.mark.parametrize("path", sorted(ROOT.glob("exercises/*/*.ipynb")), ids=lambda path: path.parent.name)
def test_every_exercise_gets_its_own_hints_and_answer(extension, path):
    whole = extension("exercise_boxes").with_hints_and_answers
    learners = nbformat.read(path, as_version=4)
    solutions = nbformat.read(ROOT / "solutions" / path.parent.name / path.name, as_version=4)
    asked = [exercise for exercise in exercises() if exercise.stem == path.parent.name]
    text = "\n".join(cell.source for cell in whole(learners, solutions, asked).cells)
    statements, answers = text.split("## Answers\n")
    for number, exercise in enumerate(asked, 1):
        heading = f"## {number}. {exercise.title} ("
        assert heading in statements
        section = statements.split(heading)[1].split("\n## ")[0]
        assert [hint for hint in exercise.hints if hint not in section] == []
        assert f". {escape(exercise.title)}</summary>" in answers
    assert json.dumps(text).count("<details>") == 4 * len(asked)


def test_accessibility_is_fixed(extension):
    fix = extension("accessible_pages").fix
    html = '<div role="list" class="citation-list"><div class="citation" role="doc-biblioentry">A</div></div>'
    assert fix(html) == '<div class="citation-list"><div class="citation">A</div></div>'
    assert fix('<summary aria-label="Toggle hidden content">Show</summary>') == "<summary>Show</summary>"


def test_a_broken_link_is_found(extension, tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="one">A</h1><a href="b.html">lost</a><a href="#one">here</a><a href="#two">lost</a>'
        '<a href="https://example.org/b">not ours</a><a href="lite/lab/index.html?path=a">a program</a>'
        '<a href="c/d.html#é">there</a><a href="c/d.html#nowhere">lost</a><a href="e.ipynb?x=1">a file</a>',
        encoding="utf-8",
    )
    (tmp_path / "c").mkdir()
    (tmp_path / "c/d.html").write_text('<p id="é"></p><a href="../a.html#one">back</a>', encoding="utf-8")
    (tmp_path / "e.ipynb").write_text("{}", encoding="utf-8")
    assert extension("whole_links").broken_links(tmp_path) == [
        "a.html links to b.html, which does not exist.",
        "a.html links to #two, but that page has no such anchor.",
        "a.html links to c/d.html#nowhere, but that page has no such anchor.",
    ]


def test_the_theme_s_large_script_is_emptied_and_its_absence_is_an_error(extension, pages, project, tmp_path):
    assert (project / "site/_static/scripts/fontawesome.js").stat().st_size < 100
    with pytest.raises(Exception, match="no longer has scripts/fontawesome.js"):
        extension("offline_pages").empty_icon_script(tmp_path)


def test_an_epub_has_wrapped_lines_and_no_empty_list_of_footnotes(project):
    options = ["-d", "doctrees", "-D", "version=1"]
    pages = built(project, *options, builder="epub", suffix="xhtml")
    assert "Footnotes" not in pages["notebooks/04_closures.xhtml"]
    assert 'href="../_static/reader.css"' in pages["notebooks/04_closures.xhtml"]
    assert "white-space: pre-wrap" in (project / "epub/_static/reader.css").read_text(encoding="utf-8")
    assert "reader.css" not in built(project)["notebooks/04_closures.html"]


def test_a_printed_page_has_no_folds_and_no_sliders(extension):
    def draw(step):
        return slopes.secant(lambda x: x * x, 3.0, step, (0, 5), names=("x", "y"), true_slope=6.0)

    widget = Widget(draw, {"step": Slider("step h", (1.0, 0.5), 0.5)})
    data = {kind: face for kind, face in widget._repr_mimebundle_().items() if kind != LIVE}
    slider = new_code_cell(outputs=[new_output("display_data", data)])
    fold = new_markdown_cell("<details>\n<summary>Hint 1</summary>\n\nDivide.\n\n</details>")
    picture = new_output("display_data", {"text/html": '<img src="a" alt="&eacute; &lt; 5"><br>'})
    flat = extension("on_paper").laid_flat(
        new_notebook(cells=[fold, slider, new_code_cell(outputs=[picture])])
    )
    assert flat.cells[0].source.split() == ["**Hint", "1**", "Divide."]
    (output,) = flat.cells[1].outputs
    html = output.data["text/html"]
    assert "script" not in html and "<figcaption>" in html
    (alt, sheet) = re.search('<img alt="(.*?)" src="data:image/png;base64,(.*?)"/>', html).groups()
    assert unescape(alt) == repr(widget) and base64.b64decode(sheet) == widget.sheet()
    assert output.data["image/png"] == sheet
    assert flat.cells[2].outputs[0].data["text/html"] == '<img src="a" alt="é &lt; 5"/><br/>'


def test_in_the_pdf_the_first_page_is_a_chapter_before_parts(extension):
    page = (
        "# A title\n\nText.\n\n## A head\n\n```{toctree}\n:hidden:\n:caption: I · Slopes\n:glob:\n\na\n```\n"
    )
    first, head, part, pages = re.findall(
        r"^```\{(.*?)^```", extension("on_paper").bound(page), re.MULTILINE | re.DOTALL
    )
    assert first == "raw} latex\n\\chapter{About this course}\n"
    assert head == "rubric} A head\n:heading-level: 2\n"  # no chapter, and nothing inside
    assert part == "raw} latex\n\\part{I · Slopes}\n\\normalsize\n"
    assert pages == "toctree}\n:hidden:\n:glob:\n\na\n"


def test_in_the_pdf_exercises_are_small_and_the_guide_is_a_separate_book(extension):
    opening = "```{toctree}\n:hidden:\n:caption: "
    lists = f"{opening}Exercises\n\ne\n```\n{opening}For teachers and contributors\n\nt\n```\n"
    assert extension("on_paper").bound(lists) == (
        "```{raw} latex\n\\part{Exercises}\n\\small\n```\n\n```{toctree}\n:hidden:\n\ne\n```\n"
    )


def test_formulas_become_mathml_and_an_unreadable_one_is_named(extension):
    formulas = extension("formulas")
    assert "<mfrac" in formulas.mathml(r"\tfrac12 + \dots")
    assert "<mtable" in formulas.mathml(r"a &= b \\ c &= d", as_block=True)
    for spaced in (r"\log P", r"\log_2 27", r"\max_{m'} Q"):
        assert formulas.mathml(spaced).count("<mspace") == 1
    assert "<mspace" not in formulas.mathml(r"\log(P) + \log\left(P\right)")
    with pytest.raises(Exception, match=r"docutils cannot parse \$\\nosuch\$"):
        formulas.mathml(r"\nosuch")


def test_the_search_index_takes_no_stopwords_with_a_capital_and_no_texts_of_drawings(extension):
    words = extension("search_words").Words({})
    kept = "backward gelu conv2d w3 softmax"
    dropped = "It The a 0102030step sent0102030unit x_1 12 attentionlayernormlinear"
    assert [word for word in kept.split() if not words.word_filter(word)] == []
    assert [word for word in dropped.split() if words.word_filter(word)] == []
