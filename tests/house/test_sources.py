"""Every idea of the five documents has its place: a tagged cell in each chapter named, a name in the library.

The table is the book's page of sources. A cell carries an idea by its tag, `source-B7`.
"""

import re
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pytest

PROJECT = Path(__file__).resolve().parents[2]
TAG = "source-"
COUNTS = {"T": 30, "N": 23, "O": 15, "P": 10, "B": 21, "S": 16}  # how many ideas each document gave; S: slips

LINE = re.compile(
    r"^\| (?P<id>[A-Z]\d+) \| (?P<idea>.+) \| (?P<chapters>[\d, ]*) \| (?P<library>.*) \|$", re.M
)
ROWS = [line.groupdict() for line in LINE.finditer((PROJECT / "book/sources.md").read_text("utf-8"))]


def carried(number):
    """Return the ideas that the cells of a chapter and of its exercises carry; None if it has none."""
    paths = [*PROJECT.glob(f"notebooks/{number}_*.ipynb"), *PROJECT.glob(f"solutions/{number}_*/*.ipynb")]
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", []) if tag.startswith(TAG)]
    return Counter(tag.removeprefix(TAG) for tag in tags) if paths else None


def missing(row, carried):
    """Return what a row of the table promises and does not keep, one sentence each."""
    found = [
        f"{row['id']}: no cell of chapter {number} or of its exercises has the tag {TAG}{row['id']}"
        for number in re.findall(r"\d+", row["chapters"])
        if row["id"] not in (carried(number) or ())
    ]
    for name in re.findall(r"`(.+?)`", row["library"]):
        try:
            resolve_name(f"minigrad.{name}")
        except (ImportError, AttributeError):
            found.append(f"{row['id']}: minigrad.{name} does not exist")
    return found


def test_every_idea_is_in_the_table_once():
    assert [row["id"] for row in ROWS] == [
        f"{document}{number}" for document, count in COUNTS.items() for number in range(1, count + 1)
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_every_idea_has_its_place(row):
    assert row["idea"] and row["chapters"]
    assert missing(row, carried) == []


def test_every_tag_stands_in_a_chapter_that_the_table_names():
    tagged = {(idea, number) for number in (f"{n:02}" for n in range(25)) for idea in carried(number) or ()}
    assert tagged <= {(row["id"], number) for row in ROWS for number in re.findall(r"\d+", row["chapters"])}
    assert len({number for _, number in tagged}) > 3


def test_a_missing_tag_and_a_missing_name_are_found():
    names = "`Layer.__call__`, `Lawyer`"
    row = {"id": "B7", "chapters": "04, 09, 30", "library": names}
    said = missing(row, {"04": {"B7": 1}, "09": {"B8": 1}, "30": None}.get)
    assert [sentence.partition(": ")[2][:24] for sentence in said] == [
        "no cell of chapter 09 or",
        "no cell of chapter 30 or",
        "minigrad.Lawyer does not",
    ]
