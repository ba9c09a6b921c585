"""Every idea of the five documents is run by a test or by a cell, and the book leads to where it stands.

`tests/documents/coverage.md` names the ideas and what proves each; a cell carries an idea by its tag,
`source-B7`. `book/sources.md` tells the reader the same without names, in links to sections of chapters.
"""

import ast
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course.curriculum import CHAPTERS

PROJECT = Path(__file__).resolve().parents[2]
TAG = "source-"
DOCUMENTS = "TNOPBS"  # in the order of the page; S: slips
NUMBERS = [chapter.stem[:2] for chapter in CHAPTERS]

ROW = re.compile(r"^\| (?P<id>[A-Z]\d+) \| (?P<idea>.+) \| (?P<proof>.+) \|$", re.M)
ROWS = [row.groupdict() for row in ROW.finditer((PROJECT / "tests/documents/coverage.md").read_text("utf-8"))]
PARTS = re.split(r"^## ", (PROJECT / "book/sources.md").read_text("utf-8"), flags=re.M)[1:]
PAGE = dict(zip(DOCUMENTS, PARTS, strict=True))  # the page's sections
LINK = re.compile(r"\]\(\.\./notebooks/(\d\d)_\w+\.ipynb(?:#([\w-]+))?\)")


def tags(cell):
    """Return the ideas that a cell carries."""
    found = [tag for tag in cell.metadata.get("tags", []) if tag.startswith(TAG)]
    return [tag.removeprefix(TAG) for tag in found]


@cache
def cells_of(number):
    """Return the cells of a chapter, and those of its exercises."""
    paths = PROJECT.glob(f"notebooks/{number}_*.ipynb"), PROJECT.glob(f"solutions/{number}_*/*.ipynb")
    return [[cell for path in kind for cell in nbformat.read(path, as_version=4).cells] for kind in paths]


def sections(cells):
    """Return which ideas are carried under each heading of a notebook, by the heading's anchor."""
    found, here = {}, None
    for cell in cells:
        headings = re.findall(r"^## (.+)$", cell.source, re.M) if cell.cell_type == "markdown" else []
        for heading in [here, *headings]:  # a cell may end one section and begin the next
            found.setdefault(heading, []).extend(tags(cell))
        here = headings[-1] if headings else here
    return {anchor_of(heading): ideas for heading, ideas in found.items() if heading}


def anchor_of(heading):
    """Return the address of a heading in its page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def is_asked(cell):
    """Say whether a run fails when a cell computes something else: it asserts, or its output is compared."""
    asked = cell.metadata.get("tags", [])
    if cell.cell_type != "code" or "nbval-skip" in asked:
        return False
    if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source))):
        return True
    kinds = {out.output_type for out in cell.outputs}
    return "nbval-ignore-output" not in asked and bool(kinds & {"stream", "execute_result", "error"})


@cache
def proofs_in(path):
    """Return the tests of a file, by name, and whether each of them asserts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: asserts(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def asserts(test):
    """Say whether a test can fail: it has an assert, or calls what is named so, or pytest.raises."""
    called = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
    names = [getattr(func, "attr", getattr(func, "id", "")) for func in called]
    return any(isinstance(node, ast.Assert) for node in ast.walk(test)) or any(
        name.startswith("assert_") or name == "raises" for name in names
    )


def unproven(row):
    """Return what a row of the table promises and does not keep, one sentence each."""
    found = []
    for proof in row["proof"].split(", "):
        if chapter := re.fullmatch(r"chapter (\d\d)", proof):
            cells = [cell for part in cells_of(chapter[1]) for cell in part]
            if not any(row["id"] in tags(cell) and is_asked(cell) for cell in cells):
                found.append(
                    f"{row['id']}: no cell of {proof} with the tag {TAG}{row['id']} asserts or prints"
                )
        elif test := re.fullmatch(r"`([\w/]+\.py)::(test_\w+)`", proof):
            path = PROJECT / "tests" / test[1]
            if not path.exists() or not proofs_in(path).get(test[2]):
                found.append(f"{row['id']}: tests/{test[1]} has no {test[2]} that asserts")
        else:
            found.append(f"{row['id']}: write `file.py::test_name` or chapter 04, not {proof}")
    return found


def lost(document, part, sections_of):
    """Return where a section of the page and the tags of the chapters disagree, one sentence each."""
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


def test_the_ideas_of_a_document_are_numbered_without_a_gap():
    groups = [list(rows) for _, rows in groupby((row["id"] for row in ROWS), lambda name: name[0])]
    assert "".join(group[0][0] for group in groups) == DOCUMENTS
    for group in groups:
        assert group == [f"{group[0][0]}{number}" for number in range(1, len(group) + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_idea_is_run_by_what_the_table_names(row):
    assert unproven(row) == []


def test_every_idea_stands_in_a_notebook_and_every_tag_is_an_idea():
    carried = {
        idea for number in NUMBERS for part in cells_of(number) for cell in part for idea in tags(cell)
    }
    assert carried == {row["id"] for row in ROWS}


@pytest.mark.parametrize("document", PAGE)
def test_the_page_leads_to_every_chapter_that_has_an_idea_of_the_document(document):
    assert lost(document, PAGE[document], lambda number: sections(cells_of(number)[0])) == []


def test_the_page_needs_no_names_of_ideas():
    assert re.findall(r"\b[TNOPBS]\d+\b", "".join(PARTS)) == []


@pytest.mark.parametrize(
    ("proof", "sentence"),
    [
        ("chapter 00", "B7: no cell of chapter 00 with the tag source-B7 asserts or prints"),
        (
            "`documents/test_thinc.py::test_it`",
            "B7: tests/documents/test_thinc.py has no test_it that asserts",
        ),
        ("`no_such.py::test_it`", "B7: tests/no_such.py has no test_it that asserts"),
        ("`Layer`", "B7: write `file.py::test_name` or chapter 04, not `Layer`"),
    ],
)
def test_a_proof_that_is_none_is_found(proof, sentence):
    assert unproven({"id": "B7", "proof": f"chapter 04, {proof}"}) == [sentence]


@pytest.mark.parametrize(
    ("source", "outputs", "asked", "right"),
    [
        ("assert f(2) == 4", [], [], True),
        ("assert f(2) == 4", [], ["nbval-ignore-output"], True),
        ("print(f(2))", [new_output("stream", text="4\n")], [], True),
        ("print(f(2))", [new_output("stream", text="4\n")], ["nbval-ignore-output"], False),
        ("f()", [new_output("error", ename="TypeError", evalue="")], ["raises-exception"], True),
        ("assert f(2) == 4", [], ["nbval-skip"], False),
        ("def f(x): ...", [], [], False),
        ("show(figure)", [new_output("display_data", {"image/png": ""})], [], False),
    ],
)
def test_a_cell_is_a_proof_if_a_run_would_notice(source, outputs, asked, right):
    assert is_asked(new_code_cell(source, outputs=outputs, metadata={"tags": asked})) is right
    assert not is_asked(new_markdown_cell(source))


@pytest.mark.parametrize(
    ("test", "right"),
    [
        ("def test(): assert f(2) == 4", True),
        ("def test(): np.testing.assert_allclose(f(2), 4)", True),
        ("def test():\n with pytest.raises(TypeError): f()", True),
        ("def test(): f(2)", False),
    ],
)
def test_a_test_is_a_proof_if_it_asserts(test, right):
    assert asserts(ast.parse(test).body[0]) is right


def test_a_link_that_leads_elsewhere_and_a_chapter_without_a_link_are_found():
    cells = [new_markdown_cell("## Say it, twice"), new_code_cell("1", metadata={"tags": ["source-B7"]})]
    cells += [new_markdown_cell("So.\n\n## In code"), new_code_cell("2", metadata={"tags": ["source-N7"]})]
    assert sections(cells) == {"say-it-twice": ["B7"], "in-code": ["N7"]}
    part = (
        "[here](../notebooks/04_closures.ipynb#in-code), [there](../notebooks/04_closures.ipynb#say-it-twice)"
    )
    said = lost("B", part, lambda number: sections(cells) if number in ("04", "07") else {})
    assert said == ["B: chapter 04 has no idea of it under #in-code", "B: no link to chapter 07"]
