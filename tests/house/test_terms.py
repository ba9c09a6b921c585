"""The field's terms: introduced in bold, in the glossary, and not outnumbered by the course's own words."""

import re
from pathlib import Path

import nbformat
import pytest

PROJECT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(PROJECT.glob("notebooks/*.ipynb"))
GLOSSARY = (PROJECT / "book" / "glossary.md").read_text(encoding="utf-8")

INTRODUCED = {
    "01": ("limit", "derivative"),
    "02": ("forward pass", "backward pass"),
    "05": ("nonlinearity", "activation function"),
    "07": ("residual", "diverge", "hyperparameter"),
    "08": ("generalization", "overfitting", "held-out data", "validation set"),
    "09": ("momentum", "optimizer state"),
    "12": ("stored activations",),
    "13": ("fine-tuning",),
    "16": ("token", "position"),
    "17": ("memorization",),
    "22": ("rank",),
}
# A picture of the course's own, and the term that the page must have at least as often.
PRIVATE = (
    ("way back", "backward pass"),
    ("bends?", "nonlinear|activation function|curv"),
    ("misses", "residual|error"),
    ("by heart", "memoriz|overfit"),
)


def prose(path):
    """All Markdown of a notebook, without its formulas and code."""
    cells = nbformat.read(path, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.sub(r"\$\$.*?\$\$|`[^`\n]*`", " ", text, flags=re.DOTALL)


def in_bold(term, text):
    """Whether a term is in bold, in any of its forms."""
    stem = term.removesuffix("s").removesuffix("ting").removesuffix("e")
    return re.search(rf"\*\*[^*\n]*\b{stem}\w*[^*\n]*\*\*", text, re.IGNORECASE) is not None


def outnumbered(text):
    """The private words that a text has more often than the field's term."""
    counts = {
        pair: [len(re.findall(rf"\b(?:{word})", text, re.IGNORECASE)) for word in pair] for pair in PRIVATE
    }
    return [private for (private, _), (own, field) in counts.items() if own > field]


@pytest.mark.parametrize(("chapter", "terms"), INTRODUCED.items(), ids=INTRODUCED)
def test_each_term_is_introduced_in_bold_in_its_chapter(chapter, terms):
    (path,) = PROJECT.glob(f"notebooks/{chapter}_*.ipynb")
    assert [term for term in terms if not in_bold(term, prose(path))] == []


def test_the_glossary_names_the_chapter_that_introduces_a_term():
    for chapter, terms in INTRODUCED.items():
        for term in terms:
            entry = re.search(rf"^{term}\n((?:  .*\n)+)", GLOSSARY, re.MULTILINE)
            assert entry and f"Chapter {chapter}." in " ".join(entry[1].split()), term


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_private_word_is_never_the_only_one(path):
    assert outnumbered(prose(path)) == []


def test_a_text_with_private_words_alone_is_found():
    assert outnumbered("The way back is long; what it misses is a bend.") == ["way back", "bends?", "misses"]
    assert outnumbered("The backward pass, our way back.") == []
    assert not in_bold("residual", "The residual is here.") and in_bold("overfitting", "It **overfits**.")
