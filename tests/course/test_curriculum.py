"""The table of the course agrees with what it is about: the notebooks, and the library's public names."""

import re
from pathlib import Path

import nbformat
import pytest

import minigrad
from course.curriculum import BUILT, CHAPTERS, PARTS, ROUTES, route

PROJECT = Path(__file__).parents[2]
NOTEBOOKS = PROJECT / "notebooks"


def numbers(name):
    return [chapter.number for chapter in route(name).chapters]


def test_the_table_has_the_chapters_that_stand_in_order():
    assert [chapter.stem for chapter in CHAPTERS] == sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert [chapter.number for chapter in CHAPTERS] == list(range(len(CHAPTERS)))


def test_every_chapter_has_a_page_for_its_teacher():
    pages = sorted(path.stem for path in PROJECT.glob("book/teaching/[0-9]*.md"))
    assert pages == [chapter.stem for chapter in CHAPTERS]


def test_the_parts_follow_each_other():
    assert list(dict.fromkeys(chapter.part for chapter in CHAPTERS)) == list(PARTS)
    places = [PARTS.index(chapter.part) for chapter in CHAPTERS]
    assert places == sorted(places)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_chapter_begins_with_its_title_and_its_minutes(chapter):
    first = nbformat.read(NOTEBOOKS / f"{chapter.stem}.ipynb", as_version=4).cells[0].source
    assert first.splitlines()[0] == f"# {chapter.stem[:2]} {chapter.title}"
    assert re.search(r"\b(\d+) minutes\b", first)[1] == str(chapter.minutes)


def test_a_chapter_builds_every_public_name():
    assert sorted(name for name in BUILT if "." not in name) == sorted(minigrad.__all__)


def test_a_name_is_built_once():
    assert len(BUILT) == sum(len(chapter.builds) for chapter in CHAPTERS)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_chapter_needs_and_uses_earlier_ones(chapter):
    assert all(0 < number < chapter.number for number in chapter.needs + chapter.uses)
    assert not set(chapter.needs) & set(chapter.uses)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_the_first_cell_asks_for_what_the_table_says(chapter):
    line = nbformat.read(NOTEBOOKS / f"{chapter.stem}.ipynb", as_version=4).cells[0].source.split("\n\n")[2]
    named = {"needs": [], "uses": []}
    for sentence in re.split(r"(?<=[.:]) (?=[A-Z`])", line):
        kind = "uses" if "as given" in sentence else "needs"
        named[kind] += [int(number) for number in re.findall(r"\]\((\d\d)_", sentence)]
    assert sorted(named["needs"]) == list(chapter.needs) and sorted(named["uses"]) == list(chapter.uses)


@pytest.mark.parametrize("name", ROUTES)
def test_before_each_chapter_a_route_has_all_that_it_needs(name):
    for place, number in enumerate(numbers(name)):
        assert set(CHAPTERS[number].needs) <= set(numbers(name)[:place])
    assert set(route(name).numbers) <= set(numbers(name))


def test_a_route_follows_the_order_of_the_course():
    assert numbers("weekend") == sorted(numbers("weekend"))
    assert {16, 15, 9, 4, 1} < set(numbers("gpt")) and not {11, 14, 18} & set(numbers("gpt"))


def test_an_unknown_route_is_told_with_those_that_there_are():
    with pytest.raises(ValueError, match="no route is called 'week'; the routes are 'weekend', 'semester'"):
        route("week")
