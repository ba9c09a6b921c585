"""The generated class for trying the grader."""

import nbformat
import pytest

from classroom import demo
from classroom.grade import grade
from course.checks import exercises

CHAPTER = "04_closures"
ASKED = {exercise.short: exercise for exercise in exercises() if exercise.stem == CHAPTER}


def test_the_first_has_all_right_the_last_nothing_and_each_between_something_else(tmp_path):
    demo.make_class(tmp_path, CHAPTER, students=5)
    found = [grade(path.read_bytes(), CHAPTER, 0) for path in sorted(tmp_path.glob("*/*.ipynb"))]
    points = [result.points for result in found]
    assert points[0] == found[0].out_of and points[-1] == 0
    assert {part.status for part in found[-1].exercises} == {"not written"}
    assert "failed" in {part.status for result in found[1:-1] for part in result.exercises}


def test_the_same_seed_makes_the_same_class(tmp_path):
    for name in ("one", "two"):
        demo.make_class(tmp_path / name, CHAPTER, students=4, rng=3)
    one, two = (
        [
            [cell.source for cell in nbformat.read(path, as_version=4).cells]
            for path in sorted(folder.glob("*/*"))
        ]
        for folder in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two and one[1] != one[2]


@pytest.mark.parametrize("short", ["three_calls", "reduce_mean", "scale"])
def test_mistakes_are_self_contained(short):
    sources = demo.answers(ASKED[short])
    assert len(sources) >= 2 and all(source.startswith(f"def {short}(") for source in sources)


def test_the_command_grades_and_opens_the_report(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(demo.webbrowser, "open", opened.append)
    arguments = ["--folder", str(tmp_path), "--chapter", "00_start", "--students", "2"]
    assert demo.main(arguments) == 0
    assert opened == [(tmp_path / "marks/class.html").resolve().as_uri()]
    assert "python -m classroom grade" in capsys.readouterr().out
    assert demo.main([*arguments, "--no-open"]) == 0 and len(opened) == 1
