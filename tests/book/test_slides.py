"""The slides: every chapter has some, they are readable, and they need no network."""

import importlib.util
import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import slides
from book.slides import votes, words

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(ROOT.glob("notebooks/*.ipynb"))
FEWEST, MOST = 6, 16
LINES = 20  # of code on one slide
KNOWN_TAGS = (  # of a chapter's cells
    r"raises-exception|nbval-ignore-output|remove-cell|slow|hundred-lines|proof|argument|guess|answer|source-[A-Z]\d+"
    r"|(?:same-as|textbook)-minigrad[.\w]+|slide(?:-[1-9])?"
)
ADDRESS = re.compile(r"""(?:https?:)?//[\w-]+\.\w""")
WITH_REVEAL = importlib.util.find_spec("sphinx_revealjs") is not None


class Seen(HTMLParser):
    """The content of a page: images, URLs that it loads, and the text outside scripts."""

    def __init__(self, page):
        super().__init__()
        self.images, self.loads, self.texts, self.inside = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "img":
            self.images.append(given)
        self.loads += [given[name] for name in ("src", "href") if given.get(name)]
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.texts.append(data)


@cache
def read(path):
    return nbformat.read(path, as_version=4)


@cache
def made(path):
    return slides.slides_of(read(path))


@cache
def seen(path):
    return Seen(slides.page(made(path)))


def tags(path):
    return [tag for cell in read(path).cells for tag in cell.metadata.get("tags", [])]


def answers(path):
    """The answers of a solutions notebook that are longer than one line, without their spaces."""
    for cell in read(path).cells:
        for answer in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL):
            if len(answer.strip().splitlines()) > 1:
                yield "".join(answer.split())


every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@every_chapter
def test_a_chapter_has_slides_from_its_title_to_what_you_can_do_now(path):
    found = made(path)
    assert FEWEST <= len(found) <= MOST
    assert [slide.kind for slide in found].count("title") == 1 and found[0].kind == "title"
    assert found[0].title.startswith(path.stem[:2])
    titles = [slide.title for slide in found]
    assert titles[-1] == words.THE_END
    assert all(slide.title and slide.body.strip() for slide in found)


@every_chapter
def test_every_figure_of_a_slide_has_an_alternative_text(path):
    figures = [slide for slide in made(path) if slide.kind == "figure"]
    assert all(Seen(slide.body).images and slide.notes[0].startswith("*The figure:*") for slide in figures)
    told = [image.get("alt") or "" for image in seen(path).images]
    assert [alt for alt in told if len(alt.split()) < 5 or alt.rstrip()[-1] not in ".!?"] == []


@every_chapter
def test_a_slide_has_no_more_text_than_can_be_read_from_the_back(path):
    for slide in made(path):
        text = unescape("".join(Seen(slide.body).texts))
        if slide.kind == "code":
            code = re.search(r'<div class="[^"]*highlight.*?<pre>(.*?)</pre>', slide.body, re.DOTALL)[1]
            assert len(code.strip().splitlines()) <= LINES, slide.title
        elif slide.kind == "prose":
            assert len(text) <= 2 * words.ROOM, slide.title
        assert len(re.sub(r"<[^>]*>", "", slide.title)) <= 200, slide.title


@every_chapter
def test_a_page_needs_no_network(path):
    assert [address for address in seen(path).loads if re.match(r"\w+:|//", address[:200])] == [
        image["src"] for image in seen(path).images
    ]
    assert all(image["src"].startswith("data:image/") for image in seen(path).images)
    assert ADDRESS.findall("".join(seen(path).texts)) == []


@every_chapter
def test_no_slide_gives_an_answer_away(path):
    (solution,) = ROOT.glob(f"solutions/{path.stem}/*.ipynb")
    shown = "".join("".join(seen(path).texts).split())
    assert "SOLUTION" not in shown
    assert [answer for answer in answers(solution) if answer in shown] == []


@every_chapter
def test_all_slide_tags_of_a_chapter_are_valid(path):
    assert [tag for tag in tags(path) if not re.fullmatch(KNOWN_TAGS, tag)] == []


@every_chapter
def test_a_tag_s_sentence_exists(path):
    chapter = read(path)
    for place, number in slides.tagged(chapter).items():
        cell = chapter.cells[place]
        if cell.cell_type == "markdown":
            text = words.parts(cell.source)[-1][2]
        else:
            text = slides._prose_beside(chapter, place, +1 if slides._figures(cell) else -1)[1]
        assert (number or 1) <= max(1, len(words.sentences_of(text))), cell.source[:60]


@every_chapter
def test_a_guess_is_asked_in_full_and_its_answers_come_with_the_next_step(path):
    chapter = read(path)
    places = [
        at
        for at in slides.tagged(chapter) or slides.by_rule(chapter)
        if "guess" in chapter.cells[at].metadata
    ]
    texts = [words.parts(chapter.cells[at].source)[-1][2] for at in places]
    cut = [
        text for text in texts if words.shown(text, room=words.ROOM_TO_ASK) != words.shown(text, room=10**6)
    ]
    assert cut == []
    bodies = [slide.body for slide in made(path) if 'class="asked"' in slide.body]
    assert len(bodies) == len(places)
    for at, body in zip(places, bodies, strict=True):
        steps = [field for field in chapter.cells[at].metadata.guess if field["kind"] != "text"]
        assert body.count('class="label"') == len(chapter.cells[at].metadata.guess)
        assert body.count('class="answer fragment" data-fragment-index="0"') == len(steps)
    assert 'class="guess' not in unescape(slides.page(made(path)))


# how a notebook becomes slides, on a small one

PICTURE = '<img alt="The loss falls from three to one." src="data:image/png;base64,AA">'
FIGURE = new_output("display_data", {"text/html": PICTURE, "text/plain": "The loss falls from three to one."})


def chapter(*tags_of_cells):
    """A chapter of seven cells; each tag goes to the cell at its index."""
    cells = [
        new_markdown_cell("# 04 Closures\n\n**One promise.** More.\n\n## Question\n\nWhy? Who knows."),
        new_markdown_cell("## See it\n\nLook first. What is the loss?"),
        new_code_cell("loss = 3\nassert loss == 3", outputs=[new_output("stream", text="3 < 4\n")]),
        new_markdown_cell("Three. Then a figure."),
        new_code_cell("show(ax)", outputs=[FIGURE]),
        new_markdown_cell("It falls. It stays (so it seems to the eye) low.\n\n## Exercises\n\nMany."),
        new_markdown_cell("## What you can do now\n\nYou can. You know [it](a.md).\n\nSources: a book."),
    ]
    for cell, tag in zip(cells, tags_of_cells, strict=False):
        cell.metadata.tags = [tag] if tag else []
    return new_notebook(cells=cells)


def told(notebook):
    return [(slide.kind, slide.section, slide.title) for slide in slides.slides_of(notebook)]


def test_a_chapter_without_tags_shows_its_headings_and_figures():
    assert told(chapter()) == [
        ("title", "", "04 Closures"),
        ("prose", "", "Question"),
        ("figure", "See it", "It falls."),
        ("prose", "", "What you can do now"),
    ]


def test_tags_choose_the_cells_and_their_first_sentences():
    found = told(chapter("", "", "slide", "", "slide-2"))
    assert found == [("code", "See it", "What is the loss?"), ("figure", "See it", "It stays low.")]
    assert told(chapter("", "", "slide-1"))[0][2] == "Look first."
    (slide,) = slides.slides_of(chapter("", "", "", "slide-2"))
    assert (slide.kind, slide.title, slide.body.strip()) == ("prose", "See it", "<p>Then a figure.</p>")


def test_code_is_shown_without_assertions_and_its_output_one_step_later():
    (slide,) = slides.slides_of(chapter("", "", "slide"))
    assert "loss" in slide.body and "assert" not in slide.body
    assert '<pre class="output fragment">3 &lt; 4</pre>' in slide.body


def test_notes_have_the_prose_that_the_slide_leaves_out():
    title, question, figure, end = slides.slides_of(chapter())
    assert "More." in "".join(title.notes)
    assert "Three." in "".join(figure.notes) and "Many." not in "".join(figure.notes)
    assert "Sources" not in end.body and "Sources" in "".join(end.notes)
    assert end.body.count("<li>") == 2 and "<a" not in end.body


def asking(fields, answers, source="## See it\n\nLook first. What is the loss?"):
    """The slides of a chapter that asks a guess and answers it."""
    notebook = chapter("slide", "slide")
    cell = notebook.cells[1]
    cell.source = f'{source}\n\n<div class="guess guess-{cell.id}"></div>'
    cell.metadata.guess = fields
    notebook.cells[4].metadata.right = {cell.id: answers}
    return slides.slides_of(notebook)


STEP = 'fragment" data-fragment-index="0"'
MARK = f' <span class="mark {STEP} aria-hidden="true">✓</span>'
CHOICES = {"kind": "choices", "label": "Too large", "options": ["`W`", "the *sum*", "none"]}


def test_options_get_letters_and_the_right_ones_a_mark_in_the_next_step():
    *_, slide = asking([CHOICES], [{"is": [0, 1]}])
    assert (
        f'<ol type="A"><li><code>W</code>{MARK}</li><li>the <em>sum</em>{MARK}</li><li>none</li></ol>'
        in slide.body
    )
    words_of_it = "<strong>A</strong> <code>W</code> and <strong>B</strong> the <em>sum</em>"
    assert f'<span class="answer {STEP}>{words_of_it}</span>' in slide.body
    *_, slide = asking([CHOICES | {"kind": "order"}], [{"is": [2, 0, 1]}])
    assert "✓" not in slide.body and f"{STEP}><strong>C</strong> none, <strong>A</strong>" in slide.body
    *_, slide = asking([{"kind": "choice", "options": ["B", "C"]}], [{"is": 0}])
    assert f"<ol><li>B{MARK}</li><li>C</li></ol>" in slide.body and f"{STEP}>B</span>" in slide.body


def test_numbers_are_asked_with_a_line_and_written_on_it_in_the_next_step():
    *_, slide = asking(
        [{"kind": "number", "unit": "runs"}, {"kind": "text", "label": "Why"}], [{"is": 2000}, {}]
    )
    number = f'<p class="blank number"><span class="answer {STEP}>2,000 runs</span></p>'
    assert f'<p class="label">Your guess</p>{number}' in slide.body
    assert '<p class="label">Why</p><p class="blank text"></p>' in slide.body


def test_the_notes_of_a_guess_have_its_answer_and_what_others_mean():
    others = {"2": "That is not so.", "[1, 2]": "Nor that."}
    *_, slide = asking(
        [CHOICES, {"kind": "number", "within": "±1"}], [{"is": [], "others": others}, {"is": -6}]
    )
    assert slide.notes[-1].splitlines() == [
        "- *Too large:* none of them",
        "    - **C** none? That is not so.",
        "    - **B** the *sum* and **C** none? Nor that.",
        "- *Your guess:* −6 (within ±1)",
    ]


def test_a_guess_leaves_no_host_in_text_notes_or_titles():
    pages = [slides.page(asking([CHOICES], [{"is": [0]}]))]
    notebook = chapter("", "", "slide")
    notebook.cells[1].source += '\n\n<div class="guess guess-a-1"></div>'
    code = slides.slides_of(notebook)
    assert [slide.title for slide in code] == ["What is the loss?"]
    assert [page for page in [*pages, slides.page(code)] if "guess guess" in unescape(page)] == []


def test_a_question_to_vote_on_is_shown_longer_than_other_prose():
    long = f"## See it\n\n{'Seven. ' * 90}What is the loss?"
    *_, slide = asking([CHOICES], [{"is": [0]}], long)
    assert "What is the loss?" in slide.body
    notebook = chapter("", "slide")
    notebook.cells[1].source = long
    (slide,) = slides.slides_of(notebook)
    assert "What is the loss?" not in slide.body


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("number", 16384, "16,384"),
        ("number", -27.913, "−27.91"),
        ("number", 1.5e-9, "1.5e-9"),
        ("number", 2.5e12, "2.5e12"),
        ("numbers", [[3, 2], [1, -1]], "3, 2, 1 and −1"),
        ("numbers", [0.0125], "0.0125"),
        ("shape", [128, 16], "(128, 16)"),
        ("shape", [3], "(3,)"),
        ("shape", [], "()"),
    ],
)
def test_an_answer_is_said_as_in_the_book(kind, value, said):
    assert votes.in_words({"kind": kind}, value) == said


def test_formulas_are_shown_with_the_sentence_before_them():
    text = f"One. {'Very long ' * 50}. (An aside.) So it is\n\n$$a = b$$\n\n- `c`: one. Two.\n- `d`."
    assert words.shown(text).startswith("One.")
    assert words.shown(text).endswith("So it is\n\n$$a = b$$")
    assert words.shown("(An aside.) Yes.\n\n- `c`: one. Two.\n- `d`.") == "Yes.\n\n- `c`: one.\n- `d`."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Is it 3.1? It is. So.", ["Is it 3.1?", "It is.", "So."]),
        ("**Bold.** Then `a. B` and $x. Y$. End.", ["**Bold.**", "Then `a. B` and $x. Y$.", "End."]),
        ("See e.g. Thinc. (Why? Because.) So.", ["See e.g. Thinc.", "(Why? Because.)", "So."]),
        ('It says "no." Then it stops.', ['It says "no."', "Then it stops."]),
    ],
)
def test_text_is_split_into_sentences(text, found):
    assert words.sentences(text) == found


# the pages on disk


@pytest.mark.skipif(not WITH_REVEAL, reason="sphinx-revealjs is not installed")
def test_the_pages_and_all_files_that_they_load_are_written(tmp_path, extension):
    project, site = tmp_path, tmp_path / "site"
    path = project / "notebooks" / "04_closures.ipynb"
    path.parent.mkdir()
    nbformat.write(chapter(), path)
    (site / "slides").mkdir(parents=True)
    (site / "slides" / "03_gone.html").write_text("old", encoding="utf-8")
    assert slides.make(project, site) == {"04_closures": 4}
    assert sorted(page.name for page in site.glob("slides/*.html")) == ["04_closures.html", "index.html"]
    assert extension("offline_pages").unmet_loads(site) == []
    assert extension("whole_links").broken_links(site) == []
    assert "04 Closures" in (site / "slides" / "index.html").read_text(encoding="utf-8")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(slides, "_found", lambda package: None)
    with pytest.raises(slides.SlidesError, match="sphinx-revealjs and sphinx-mathjax-offline"):
        slides.copy_programs(tmp_path)


def test_a_project_without_chapters_is_named(tmp_path):
    with pytest.raises(slides.SlidesError, match="no chapter"):
        slides.make(tmp_path, tmp_path)
