"""On paper a guess has a line to write on, and its answer is at the chapter's end."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(ROOT.glob("notebooks/*.ipynb"))
FIELDS = [
    {"kind": "numbers", "label": "Gradient of `W`"},
    {"kind": "choice", "label": "They are", "options": ["`W`", "none"]},
    {"kind": "number", "unit": "runs"},
]
SHORT, LONG = r"\_" * 12, r"\_" * 36


@pytest.fixture
def guess_fields(extension):
    return extension("guess_fields")


def prose(source, *tags, **metadata):
    return new_markdown_cell(source, metadata={"tags": list(tags), **metadata})


def drawn(name, *tags):
    html = f'<figure class="figure"><figcaption>{name}</figcaption></figure>'
    output = new_output("display_data", {"text/html": html, "text/plain": name})
    return new_code_cell(f"show({name!r})", outputs=[output], metadata={"tags": list(tags)})


def chapter():
    """A chapter with three guesses: with an answer and its proof, with none, and with an answer."""
    return new_notebook(
        cells=[
            prose("# 04\n\n## Question"),
            prose('How many?\n\n<div class="guess guess-a-1"></div>', "guess", guess=FIELDS),
            drawn("first", "answer"),
            prose("Two.", "answer"),
            new_code_cell("# proof\n# two\nassert 2", metadata={"tags": ["proof"]}),
            drawn("second"),
            new_code_cell("# proof\n# three\nassert 3", metadata={"tags": ["proof"]}),
            prose("Will it? Guess.", "guess"),
            prose("And why?", "guess"),
            prose("So.", "answer"),
            drawn("third", "answer"),
            prose("## What you can do now"),
        ]
    )


def test_answers_and_their_proofs_are_at_the_end(guess_fields):
    assert [cell.source.split("\n")[0] for cell in guess_fields.with_answers_last(chapter(), "04").cells] == [
        "# 04",
        "How many?",
        "show('second')",
        "# proof",
        "Will it? Guess.",
        "And why?",
        "## What you can do now",
        "## Answers to the guesses",
        "(answer-04-1)=",
        "show('first')",
        "Two.",
        "# proof",
        "(answer-04-3)=",
        "So.",
        "show('third')",
    ]


def test_figures_keep_the_numbers_of_their_places_in_the_chapter(guess_fields):
    found = [
        re.findall(r'data-place="(\d)".*<figcaption>(\w+)<', output.data["text/html"])
        for cell in guess_fields.with_answers_last(chapter(), "04").cells
        for output in cell.get("outputs", ())
    ]
    assert found == [[("2", "second")], [("1", "first")], [("3", "third")]]


def test_each_field_of_a_guess_is_a_line_and_links_go_both_ways(guess_fields):
    cells = guess_fields.with_answers_last(chapter(), "04").cells
    assert cells[1].source.split("\n") == [
        "How many?",
        "",
        "(guess-04-1)=",
        r"**Guess 1** ([answer](#answer-04-1))" + "\\",
        rf"Gradient of `W`: {LONG}" + "\\",
        rf"They are (`W` / none): {SHORT}" + "\\",
        rf"My guess: {SHORT} runs",
    ]
    assert cells[8].source == "(answer-04-1)=\n**Guess 1** ([question](#guess-04-1))"


def test_a_guess_that_is_answered_in_the_text_has_a_line_without_a_link(guess_fields):
    cells = guess_fields.with_answers_last(chapter(), "04").cells
    assert cells[4].source == f"Will it? Guess.\n\n(guess-04-2)=\n**Guess 2**\\\nMy guess: {LONG}"


def test_a_chapter_without_answers_gets_no_section_for_them(guess_fields):
    (cell,) = guess_fields.with_answers_last(new_notebook(cells=[prose("# 04")]), "04").cells
    assert cell.source == "# 04"


def test_an_answer_before_the_first_guess_is_refused(guess_fields):
    early = new_notebook(cells=[prose("Two.", "answer"), prose("How many?", "guess")])
    with pytest.raises(ExtensionError, match="chapter 04 answers before its first guess: 'Two.'"):
        guess_fields.with_answers_last(early, "04")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_all_links_of_a_chapter_s_guesses_have_their_ends(path, guess_fields):
    notebook = guess_fields.with_answers_last(nbformat.read(path, as_version=4), path.stem[:2])
    text = "\n".join(cell.source for cell in notebook.cells)
    ends = re.findall(r"^\(((?:guess|answer)-\d\d-\d+)\)=$", text, re.MULTILINE)
    links = re.findall(r"\]\(#((?:guess|answer)-\d\d-\d+)\)", text)
    assert len(ends) == len(set(ends)) and set(links) <= set(ends)
    assert text.count("\n**Guess ") >= text.count("([answer](#answer-") > 0
    assert '<div class="guess' not in text
