"""The book folds proofs and answers, numbers figures, and links terms to where they are taught."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.colours import FORWARD

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
INDEX = "# Book\n\n```{toctree}\n:glob:\n\nnotebooks/*\nglossary\n```\n\n```{bibliography}\n```\n"
GLOSSARY = """# Glossary

```{glossary}
closure
  A function that remembers. Chapter 04.

loss
  One number. Chapter 06.
```
"""
QUESTION = "## Question\n\nWhat does a **closure** do? See Figure 4.1 and Figure 4.2."
ANSWER = """<details class="answer"><summary>Show what happens</summary>

It *remembers* $x^2$, see [the question](#question).

</details>"""
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36"><g id="a">'
    f'<path d="M0 0" style="stroke: {FORWARD.lower()}"/></g><use href="#a"/></svg>'
)
ADDRESS = f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"
FIGURE = (
    '<figure class="figure" style="margin:0">\n'
    f'<img alt="A line &amp; a box" src="{ADDRESS}" style="width:110px;background:white">\n'
    "<figcaption><strong>Three of five fail.</strong> Read it from &quot;left&quot;.</figcaption>\n</figure>"
)
PICTURE = base64.b64encode((BOOK / "_static/speed_ratios.png").read_bytes()).decode()


def code(source, *outputs, tags=()):
    """Return a cell of code."""
    return new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def figure():
    """Return an output with a figure."""
    return new_output("display_data", {"text/html": FIGURE, "image/png": PICTURE, "text/plain": "A line"})


def chapter():
    """Return a chapter with a proof, answers and figures."""
    printed = new_output("stream", name="stdout", text="81.0\n")
    cells = [
        new_markdown_cell("# 04 Functions that remember\n\n**You will find a way.**\n\nAbout 65 minutes."),
        new_markdown_cell(QUESTION, metadata={"tags": ["guess"]}),
        code("draw()", figure()),
        code("# proof\n# three of five ways fail\nassert ways == 5", tags=["proof"]),
        new_markdown_cell(ANSWER, metadata={"tags": ["answer"]}),
        code("# what happens\nprint(square(9.0))", printed, tags=["answer"]),
        code("draw_again()", figure(), tags=["answer"]),
        new_markdown_cell("## Say it\n\nAfter the answers."),
        new_markdown_cell(ANSWER, metadata={"tags": ["answer"]}),
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with a book of one chapter."""
    folder = tmp_path_factory.mktemp("project")
    made = shutil.ignore_patterns("_build", "notebooks", "exercises", "reference", "*.md")
    shutil.copytree(BOOK, folder / "book", ignore=made)
    (folder / "book/index.md").write_text(INDEX, encoding="utf-8")
    (folder / "book/glossary.md").write_text(GLOSSARY, encoding="utf-8")
    (folder / "notebooks").mkdir()
    nbformat.write(chapter(), folder / "notebooks/04_closures.ipynb")
    return folder


def build(project, builder, *options):
    """Build the book of a project, and return Sphinx's warnings."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        builder,
        *options,
        "book",
        f"book/_build/{builder}",
    ]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def page(project):
    assert build(project, "html", "-W") == ""
    return (project / "book/_build/html/notebooks/04_closures.html").read_text(encoding="utf-8")


def test_neighbouring_answers_share_one_fold_with_their_outputs(page):
    first, second = re.findall(r'<details class="answer">(.*?)\n</details>', page, re.DOTALL)
    assert page.count("<summary>Show what happens</summary>") == 2  # not one more for the notebook's own fold
    assert 'href="#question"' in first
    for shown in ("<em>remembers</em>", "<msup><mi>x</mi><mn>2</mn></msup>", "81.0", 'id="figure-4-2"'):
        assert shown in first and shown not in page.split('<details class="answer">')[0]
    assert "<em>remembers</em>" in second and "81.0" not in second
    assert "After the answers." not in first + second


def test_one_switch_opens_all_answers_if_there_are_any(page, project):
    row = page.split("chapter-tools")[1].split("</nav>")[0]
    assert '<input type="checkbox" class="show-answers"> Show all answers' in row
    assert "show-answers" in (project / "book/_build/html/_static/book.js").read_text(encoding="utf-8")


def test_a_proof_is_folded_and_shows_its_claim_when_opened(page):
    (proof,) = re.findall(r'<div class="cell tag_proof.*?</details>', page, re.DOTALL)
    assert "<details" in proof.split("assert")[0]
    lines = re.findall(r'<p class="(collapsed|expanded)[^"]*">([^<]*)</p>', proof)
    assert lines == [("collapsed", "Proof"), ("expanded", "Proof: three of five ways fail")], proof


def test_lines_for_jupyterlab_are_not_in_the_book(page):
    assert "# proof" not in page and "# what happens" not in page


def test_figures_have_numbers_captions_and_anchors_that_prose_links_to(page):
    for number in ("4.1", "4.2"):
        place = f"figure-{number.replace('.', '-')}"
        assert page.count(f'id="{place}"') == 1
        caption = f'<span class="figure-number">Figure {number}</span> <strong>Three of five fail.</strong>'
        assert caption in page
        (link,) = re.findall(rf'<a [^>]*href="#{place}"[^>]*>', page)
        assert "Three of five fail. Read it from &quot;left&quot;." in link


def test_a_drawing_is_inlined_in_the_theme_s_colours_with_unique_ids(page):
    assert "data:image/svg+xml" not in page
    assert page.count('<svg role="img" aria-label="A line &amp; a box" style="width:110px"') == 2
    assert page.count(f"var(--figure-forward, {FORWARD.lower()})") == 2
    assert 'id="figure-4-1-1-a"' in page and 'href="#figure-4-1-1-a"' in page and 'id="a"' not in page


def test_the_search_data_have_where_a_term_is_taught_and_a_name_is_built(page, project):
    text = (project / "book/_build/html/_static/taught.js").read_text(encoding="utf-8")
    places = json.loads(text.removeprefix("const TAUGHT = ").removesuffix(";\n"))
    assert places["closure"] == {
        "term": "closure",
        "meaning": "A function that remembers.",
        "how": "Taught in",
        "page": "notebooks/04_closures",
        "anchor": "question",
        "title": "04 Functions that remember",
    }
    assert (places["relu"]["how"], places["relu"]["page"]) == ("Built in", "notebooks/04_closures")
    assert "loss" not in places and "gradcheck" not in places, "their chapters are not in this small book"
    search = (project / "book/_build/html/search.html").read_text(encoding="utf-8")
    assert "taught.js" in search and "taught.js" not in page


def test_letters_above_the_glossary_link_to_their_first_terms(page, project):
    glossary = (project / "book/_build/html/glossary.html").read_text(encoding="utf-8")
    (row,) = re.findall(r'<p class="letters">.*?</p>', glossary)
    assert re.findall(r'href="#([\w-]+)">(\w)<', row) == [("term-closure", "C"), ("term-loss", "L")]


def test_e_readers_see_all_folds_open_and_figures_as_images(project):
    build(project, "epub", "-W", "-d", "reader", "-D", "version=1")
    text = (project / "book/_build/epub/notebooks/04_closures.xhtml").read_text(encoding="utf-8")
    assert "<details" not in text and "</details>" not in text
    assert "<p><em>Proof:</em> three of five ways fail</p>" in text and "<em>remembers</em>" in text
    assert text.count("data:image/svg+xml") == 2 and 'id="figure-4-2"' in text
    assert 'href="#figure-4-1"' in text and "Figure 4.2</span>" in text
    for one, other in (("guess", "answer"), ("answer", "guess")):
        assert f'id="{one}-04-1"' in text and f'href="#{other}-04-1"' in text
    manifest = (project / "book/_build/epub/content.opf").read_text(encoding="utf-8")
    assert 'href="_static/fonts/text-regular.woff2"' in manifest and 'media-type="font/woff2"' in manifest


def test_paper_shows_all_folds_open_and_captions_with_the_book_s_numbers(project):
    build(project, "latex", "-W", "-d", "paper")
    text = (project / "book/_build/latex/minigrad.tex").read_text(encoding="utf-8")
    assert r"\sphinxstyleemphasis{Proof:} three of five ways fail" in text and "81.0" in text
    assert (
        text.index(r"\section{Say it}") < text.index(r"\section{Answers to the guesses}") < text.index("81.0")
    )
    for name in ("guess-04-1", "answer-04-1"):
        assert rf"\label{{\detokenize{{notebooks/04_closures:{name}}}}}" in text
        assert rf"{{\hyperref[\detokenize{{notebooks/04_closures:{name}}}]" in text
    assert "Show what happens" not in text
    assert text.count(r"\begin{figure}[!htbp]") == 2
    for number in ("4.1", "4.2"):
        assert rf"\sphinxstylestrong{{Figure {number}}}" in text
        assert rf"\label{{\detokenize{{notebooks/04_closures:figure-{number.replace('.', '-')}}}}}" in text
    fonts = project / "book/_build/latex/fonts"
    of_pages = {path.stem for path in (BOOK / "_static/fonts").glob("*.woff2")}
    assert {path.stem for path in fonts.glob("*.ttf")} == of_pages - {"formulas"}  # TeX brings its own
    assert (fonts / "text-regular.ttf").read_bytes()[:4] == b"\0\1\0\0"


def test_a_figure_that_does_not_exist_is_named(project, tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("_build"))
    with_mistake = chapter()
    with_mistake.cells[1].source += " And Figure 7.1."
    nbformat.write(with_mistake, copy / "notebooks/04_closures.ipynb")
    assert "there is no Figure 7.1, which is mentioned here" in build(copy, "html")


def test_a_proof_without_a_claim_is_refused(extension):
    with_folds = extension("folds").with_folds
    with pytest.raises(Exception, match="must begin with the line `# proof`"):
        with_folds(new_notebook(cells=[code("assert True", tags=["proof"])]))


def test_an_answer_with_a_heading_is_refused(extension):
    with_folds = extension("folds").with_folds
    comment = new_markdown_cell("```python\n# no heading\n```", metadata={"tags": ["answer"]})
    assert len(with_folds(new_notebook(cells=[comment])).cells) == 3
    heading = new_markdown_cell("Text.\n\n## Say it", metadata={"tags": ["answer"]})
    with pytest.raises(Exception, match="must not have a heading.*## Say it"):
        with_folds(new_notebook(cells=[heading]))


def test_a_figure_without_a_caption_is_refused(extension):
    with pytest.raises(Exception, match="Figure 4.1 has no <figcaption>"):
        extension("figure_numbers").numbered('<figure class="figure"><img></figure>', "4.1")
