"""The page *Where each idea comes from* links to the sections that use an idea of each document.

Such a cell has a tag, `source-B7`: the letter is the document's, as in DOCUMENTS; the number tells one idea
from the next.
"""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.curriculum import CHAPTERS

PROJECT = Path(__file__).resolve().parents[2]
TAG = "source-"
DOCUMENTS = "TNOPBS"  # in the order of the page; S: slips
NUMBERS = [chapter.stem[:2] for chapter in CHAPTERS]

PARTS = re.split(r"^## ", (PROJECT / "book/sources.md").read_text("utf-8"), flags=re.M)[1:]
PAGE = dict(zip(DOCUMENTS, PARTS, strict=True))  # the page's sections
LINK = re.compile(r"\]\(\.\./notebooks/(\d\d)_\w+\.ipynb(?:#([\w-]+))?\)")


def tags(cell):
    """Return the ideas in a cell's tags."""
    found = [tag for tag in cell.metadata.get("tags", []) if tag.startswith(TAG)]
    return [tag.removeprefix(TAG) for tag in found]


@cache
def cells_of(number):
    """Return the cells of a chapter."""
    return [
        cell
        for path in PROJECT.glob(f"notebooks/{number}_*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
    ]


def sections(cells):
    """Return the ideas under each heading of a notebook, by the heading's anchor."""
    found, here = {}, None
    for cell in cells:
        headings = re.findall(r"^## (.+)$", cell.source, re.M) if cell.cell_type == "markdown" else []
        for heading in [here, *headings]:  # a cell may end one section and begin the next
            found.setdefault(heading, []).extend(tags(cell))
        here = headings[-1] if headings else here
    return {anchor_of(heading): ideas for heading, ideas in found.items() if heading}


def anchor_of(heading):
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def lost(document, part, sections_of):
    """List the differences between a section of the page and the chapters' tags, a sentence each."""
    found, linked = [], set()
    for number, anchor in LINK.findall(part):
        ideas = sections_of(number).get(anchor, [])
        linked.add(number)
        if not any(idea.startswith(document) for idea in ideas):
            found.append(f"{document}: chapter {number} has no idea of it under #{anchor}")
    carried = {
        number
        for number in NUMBERS
        if any(idea.startswith(document) for ideas in sections_of(number).values() for idea in ideas)
    }
    return found + [f"{document}: no link to chapter {number}" for number in sorted(carried - linked)]


@pytest.mark.parametrize("document", PAGE)
def test_the_page_links_to_every_chapter_with_an_idea_of_the_document(document):
    assert lost(document, PAGE[document], lambda number: sections(cells_of(number))) == []


def test_a_wrong_link_and_a_chapter_without_a_link_are_found():
    cells = [new_markdown_cell("## Say it, twice"), new_code_cell("1", metadata={"tags": ["source-B7"]})]
    cells += [new_markdown_cell("So.\n\n## In code"), new_code_cell("2", metadata={"tags": ["source-N7"]})]
    assert sections(cells) == {"say-it-twice": ["B7"], "in-code": ["N7"]}
    part = (
        "[here](../notebooks/04_closures.ipynb#in-code), [there](../notebooks/04_closures.ipynb#say-it-twice)"
    )
    said = lost("B", part, lambda number: sections(cells) if number in ("04", "07") else {})
    assert said == ["B: chapter 04 has no idea of it under #in-code", "B: no link to chapter 07"]
