"""A teacher's other commands: settle, appeal, similar, marking, send and term."""

import csv
import json
import re
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from classroom import __main__ as command
from classroom.answers import code_of, definitions, form, words_of
from classroom.by_hand import SETTLED, settle
from classroom.demo import make_class, run_term
from classroom.faults import GradingFault
from classroom.grade import grade
from classroom.items import items
from classroom.marking import write_marking_page
from classroom.queue import Queue
from classroom.reports import rows, write_reports
from classroom.result import exercises_of, unchecked
from classroom.seeds import secret, seed
from classroom.send import write_zip
from classroom.similar import similar, solution_of
from classroom.tables import as_csv
from classroom.term import Chapter, counted, read_term, write_term
from course.curriculum import exercises_name, exercises_path
from tests.classroom import stand_ins
from tests.classroom.hostile.submission import notebook as with_cells

CHAPTER = stand_ins.CHAPTER
NAMES = [exercise.short for exercise in exercises_of(CHAPTER)]
NOON = datetime(2026, 10, 12, 12).astimezone()


def table(path):
    """Return the rows of a table."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def hand_in(folder, handed, chapter=CHAPTER, version="v1"):
    """Store a result for each student: {student: its options or a function, perhaps with the notebook}."""
    source = folder.parent / f"{folder.name}-in"
    with Queue(folder, chapter) as queue:
        queue.accept(version)
        for student, told in handed.items():
            data, told = told if isinstance(told, tuple) else (with_cells(f"x = {student!r}"), told)
            place = source / student / f"{exercises_name(chapter)}.ipynb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            queue.take_in(source, Path.read_bytes)
            ((_, digest),) = queue.open(version)
            result = told(digest) if callable(told) else stand_ins.result(data, chapter, 1, **told)
            queue.store(student, digest, version, result)
    return source


def points(folder):
    """Return the points of each student."""
    with Queue(folder) as queue:
        return {row.student: row.points for row in rows(queue)[0]}


# settling one answer


def test_a_settled_mark_counts_survives_a_regrade_and_is_logged(tmp_path):
    data = with_cells("x = 1")
    hand_in(tmp_path / "out", {"anna": (data, {"right": ["scale"]})})
    with Queue(tmp_path / "out") as queue:
        (tmp_path / "out/marks.csv").write_text("student,exercise,points\nanna,04_closures.two_layers,1\n")
        settle(queue, "anna", "two_layers", "2", "half of it")
        said = settle(queue, "anna", f"{CHAPTER}.two_layers", "3", 'right, "the order" was not said')
        assert said == 'anna, 04_closures.two_layers: 3 points, because right, "the order" was not said'
        assert points(tmp_path / "out") == {"anna": 2 + 3}
        queue.accept("v2")
        (student, digest) = queue.open("v2")[0]
        queue.store(student, digest, "v2", stand_ins.result(data, CHAPTER, 1))
    assert points(tmp_path / "out") == {"anna": 3}
    log = table(tmp_path / "out" / SETTLED)
    assert [row["points"] for row in log] == ["2", "3"] and log[1]["comment"].startswith("right, ")
    assert all(datetime.fromisoformat(row["when"]).tzinfo for row in log)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (("ben", "scale", "1", "so"), "there is no student 'ben'"),
        (("anna", "scales", "1", "so"), "there is no exercise"),
        (("anna", "scale", "99", "so"), "gives 0 to 2 points, got '99'"),
        (("anna", "scale", "1", "  "), "the reason is missing"),
    ],
)
def test_an_invalid_settlement_is_reported_and_nothing_is_written(tmp_path, told, why):
    hand_in(tmp_path / "out", {"anna": {}})
    with Queue(tmp_path / "out") as queue, pytest.raises(GradingFault, match=why):
        settle(queue, *told)
    assert not (tmp_path / "out" / SETTLED).exists()


def test_a_student_who_is_not_graded_has_points_when_every_answer_is_settled(tmp_path):
    def fault(digest):
        return unchecked(CHAPTER, digest, fault="not graded, because the disk is full.")

    hand_in(tmp_path / "out", {"dora": fault})
    with Queue(tmp_path / "out") as queue:
        for name in NAMES:
            assert points(tmp_path / "out") == {"dora": None}
            settle(queue, "dora", name, "1", "looked at by hand")
        write_reports(queue)
    assert points(tmp_path / "out") == {"dora": len(NAMES)}
    assert f"{len(NAMES)} of " in (tmp_path / "out/feedback/dora.html").read_text()


# a zero because of the form


def test_a_zero_because_of_the_form_is_marked(tmp_path):
    def refused(digest):
        return unchecked(CHAPTER, digest, refused="it is no notebook.")

    hand_in(tmp_path / "out", {"ann": refused, "ben": {}, "cleo": {"right": ["scale"]}})
    with Queue(tmp_path / "out") as queue:
        write_reports(queue)
    because = {row["student"]: row["zero because of"] for row in table(tmp_path / "out/grades.csv")}
    assert because == {"ann": "form", "ben": "work", "cleo": ""}
    page = (tmp_path / "out/class.html").read_text()
    assert "0 points because of the form, not the work: 1 student" in page


# an appeal


def test_an_appeal_shows_both_runs_and_changes_nothing(tmp_path, capsys):
    data = with_cells("def three_calls():\n    return 12, 12, 120")
    out = tmp_path / "out"

    def graded(digest):
        with Queue(out) as queue:
            return grade(data, CHAPTER, seed(secret(queue.folder), digest))

    hand_in(out, {"anna": (data, graded)})
    before = points(out)
    assert command.main(["appeal", str(out), "anna", "three_calls"]) == 0
    said = capsys.readouterr().out
    assert "return (12, 12, 120)" in said and "return (12.0, 3.0, 30.0)" in said
    assert "stored: failed: three_calls" in said and "now: failed: three_calls" in said
    assert "now: passed: compared with a run" in said
    assert points(out) == before
    assert command.main(["appeal", str(out), "ben", "three_calls"]) == 1
    assert "there is no student 'ben'" in capsys.readouterr().err


# similar answers

ONE = "def f(X):\n    total = X.sum()\n    return total / X.size"
OTHER = "def f(A):\n    # mine\n    'The mean.'\n    s = A.sum()\n\n    return s / A.size"


def test_a_form_ignores_names_layout_and_docstrings_but_not_the_functions_called():
    forms = [form(definitions(with_cells(source))["f"]) for source in (ONE, OTHER, ONE.replace("sum", "max"))]
    assert forms[0] == forms[1] != forms[2]
    assert definitions(b"no notebook") == {} and code_of(with_cells("def f(:"), "f") == ""


def test_pairs_are_listed_with_how_common_their_form_is():
    def handed(name, *bodies):
        return with_cells(*(f"def {short}(X):\n    return {body}" for short, body in bodies))

    rare, common = ("f", "X * 7 - X"), ("g", "X + X")
    answers = {
        "anna": handed("anna", rare, common),
        "ben": handed("ben", rare, common),
        "cleo": handed("cleo", ("f", "X"), common),
        "dora": handed("dora", ("f", "X * 6"), common),
    }
    solution = with_cells("def f(X):\n    return 6 * X\ndef g(X):\n    return 2 * X")
    assert similar(answers, solution) == [["anna", "ben", 1.0, 2, 2, "f (2 of 4), g (4 of 4)"]]
    same = with_cells("def f(X):\n    return X * 7 - X")
    assert similar(answers, same) == []  # the solution's own form does not count


def test_a_class_that_has_the_solution_shares_nothing(tmp_path, capsys):
    data = solution_of(CHAPTER)
    hand_in(tmp_path / "out", {student: (data, {}) for student in ("anna", "ben")})
    assert command.main(["similar", str(tmp_path / "out")]) == 0
    assert "Pairs with equal forms: 0" in capsys.readouterr().out
    assert table(tmp_path / "out/similar.csv") == []


# marking by hand


def marking(folder, answers):
    """Return the page on which light_tanh is marked, and its groups."""
    hand_in(folder, {s: (with_cells(code), {"by_hand": ["light_tanh"]}) for s, code in answers.items()})
    with Queue(folder) as queue:
        page = write_marking_page(queue).read_text("utf-8")
    return page, json.loads(re.search(r"groups = (\[.*\]);", page)[1])


def test_the_marking_page_groups_equal_answers_and_shows_no_name(tmp_path):
    right = "def light_tanh(X):\n    Y = np.tanh(X)\n    return Y, lambda dY: (1 - Y * Y) * dY"
    handed_out = Path(__file__).parents[2] / "exercises" / exercises_path(CHAPTER)
    answers = {
        "anna": right,
        "ben": right.replace("    Y =", "    # mine\n    Y  ="),
        "cleo": "def light_tanh(X):\n    return '</script><b>'",
        "dora": code_of(handed_out.read_bytes(), "light_tanh"),
    }
    page, groups = marking(tmp_path / "out", answers)
    found = sorted(sorted(student for student, _ in group["students"]) for group in groups)
    assert found == [["anna", "ben"], ["cleo"], ["dora"]]
    visible = page[: page.index("<script>")]
    assert not re.search("anna|ben<|cleo|dora", visible)
    assert visible.count('value="0"') == 1  # the stub
    assert page.count("</script>") == 1 and "&lt;/script&gt;&lt;b&gt;" in visible


def test_an_answer_in_words_is_the_cell_that_was_handed_out():
    named = {"nbgrader": {"grade_id": "why"}}
    cell = {"cell_type": "markdown", "metadata": named, "source": ["Since ", "it is."]}
    assert words_of(json.dumps({"cells": [{}, cell]}).encode(), "why") == "Since it is."
    assert words_of(b"{}", "why") == words_of(b"nothing", "why") == ""


# the pages as a zip


def test_the_zip_has_the_names_that_the_platform_gave(tmp_path):
    hand_in(tmp_path / "out", {"adaking_1234": {}, "Ben_77_assignsubmission_file_": {}})
    export = tmp_path / "export"
    (export / "Ben_77_assignsubmission_file_").mkdir(parents=True)
    (export / f"adaking_LATE_1234_6789_{CHAPTER}-1.ipynb").write_bytes(b"{}")
    (export / f"adaking_LATE_1234_6789_{CHAPTER}-1.html").write_bytes(b"")  # one page for both
    (export / "nobody").mkdir()
    with Queue(tmp_path / "out") as queue:
        write_reports(queue)
        sizes = []
        for _ in range(2):
            assert write_zip(queue, export, tmp_path / "feedback.zip") == 2
            sizes.append((tmp_path / "feedback.zip").read_bytes())
        with pytest.raises(GradingFault, match="nothing was written"):
            write_zip(queue, export / "nobody", tmp_path / "none.zip")
    assert sizes[0] == sizes[1]
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == [
            "Ben_77_assignsubmission_file_/feedback.html",
            f"adaking_LATE_1234_6789_{CHAPTER}-1.html",
        ]
        assert b"adaking_1234" in archive.read(f"adaking_LATE_1234_6789_{CHAPTER}-1.html")


# a term


@pytest.mark.parametrize(
    ("hours", "share"), [(-1, 1.0), (0, 1.0), (0.5, 0.8), (24, 0.8), (24.5, 0.6), (72, 0.4), (72.5, 0.0)]
)
def test_a_late_hand_in_keeps_a_share(hours, share):
    chapter = Chapter(CHAPTER, Path("marks"), NOON, late=0.2, days=3)
    assert chapter.share(NOON + timedelta(hours=hours)) == pytest.approx(share)
    assert chapter.share(None) == 1.0


def term(folder, line=f"{CHAPTER},marks,2026-10-12 12:00,10%,3,last", roster="anna,7\nben,8\n"):
    """Write the tables of a term of one chapter, in which Anna is a day late."""
    folder.mkdir(exist_ok=True)
    (folder / "term.csv").write_text(f"chapter,marks,due,late,days,keep\n{line}\n")
    (folder / "roster.csv").write_text(f"student,id\n{roster}")
    (folder / "hand-ins.csv").write_text(f"student,chapter,when\nanna,{CHAPTER},2026-10-13 11:00\n")


def test_a_term_has_totals_and_a_table_under_the_platform_s_numbers(tmp_path):
    term(tmp_path / "term", roster="anna,7\ncleo,9\n")
    hand_in(tmp_path / "term/marks", {"anna": {"right": ["scale"]}, "ben": {"right": NAMES}})
    assert write_term(tmp_path / "term") == ["ben has marks, but is not on the roster."]
    found = {row["student"]: row for row in table(tmp_path / "term/totals.csv")}
    out_of = sum(exercise.points for exercise in exercises_of(CHAPTER))
    assert [found[s]["total"] for s in ("anna", "ben", "cleo")] == ["1.8", str(out_of), "0"]
    assert {row["out of"] for row in found.values()} == {str(out_of)}
    assert found["anna"][f"{CHAPTER} in words"].startswith("late, 90% of the points count; ")
    assert found["anna"][f"{CHAPTER} of its own"] == "2"
    assert found["cleo"][f"{CHAPTER} in words"] == "nothing handed in"
    assert table(tmp_path / "term/by-id.csv") == [
        {"id": "7", CHAPTER: "1.8", "total": "1.8"},
        {"id": "9", CHAPTER: "0", "total": "0"},
    ]


def test_a_student_with_a_missing_mark_has_no_total(tmp_path):
    term(tmp_path / "term")
    fault = "not graded, because of us."
    hand_in(tmp_path / "term/marks", {"anna": lambda digest: unchecked(CHAPTER, digest, fault=fault)})
    write_term(tmp_path / "term")
    anna = table(tmp_path / "term/totals.csv")[0]
    assert (anna["total"], anna[f"{CHAPTER} in words"]) == ("", fault)


@pytest.mark.parametrize(("keep", "expected"), [("last", 0), ("best", 2)])
def test_the_last_or_the_best_hand_in_counts(tmp_path, keep, expected):
    for number, right in enumerate((["scale"], ["three_calls"], [])):
        hand_in(tmp_path / "marks", {"anna": (with_cells(f"a = {number}"), {"right": right})})
    with Queue(tmp_path / "marks") as queue:
        assert counted(queue, keep)[0]["anna"].points == expected


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            f"{CHAPTER},marks,tomorrow,10,3,last",
            "line 2: a time must be like 2026-10-12 23:59, got 'tomorrow'",
        ),
        (f"{CHAPTER},marks,,x,3,last", "line 2: late must be percent"),
        (f"{CHAPTER},marks,,120,3,last", "line 2: late must be 0 to 100 percent"),
        (f"{CHAPTER},marks,,10,3,first", "line 2: keep must be last or best, got 'first'"),
    ],
)
def test_a_table_that_cannot_be_read_is_reported_with_its_line(tmp_path, line, why):
    term(tmp_path / "term", line)
    with pytest.raises(GradingFault, match=re.escape(f"term.csv, {why}")):
        read_term(tmp_path / "term")


def test_marks_of_another_chapter_are_refused(tmp_path):
    term(tmp_path / "term", "05_chains,marks,,,,")
    hand_in(tmp_path / "term/marks", {"anna": {}})
    with pytest.raises(GradingFault, match="has the marks of 04_closures, not of 05_chains"):
        write_term(tmp_path / "term")
    with pytest.raises(GradingFault, match=r"there is no .*term\.csv"):
        read_term(tmp_path)


# how hard the exercises are


def test_an_item_has_its_share_of_points_and_its_discrimination(tmp_path):
    rights = [[], ["scale"], ["scale", "Linear"], ["scale", "Linear", "two_layers"], NAMES, NAMES]
    hand_in(tmp_path / "marks", {f"s{n}": {"right": right} for n, right in enumerate(rights)})
    with Queue(tmp_path / "marks") as queue:
        found = {item.exercise.partition(".")[2]: item for item in items({CHAPTER: rows(queue)[0]})}
    assert found["scale"].share == pytest.approx(5 / 6) and found["three_calls"].share == pytest.approx(2 / 6)
    own = np.array(["two_layers" in right for right in rights]) * 3
    worth = {exercise.short: exercise.points for exercise in exercises_of(CHAPTER)}
    others = np.array([sum(worth[name] for name in right) for right in rights]) - own
    assert found["two_layers"].discrimination == pytest.approx(np.corrcoef(own, others)[0, 1])
    assert found["two_layers"].message == "dW is 5 times too small. (3)"


def test_unreadable_work_does_not_make_an_exercise_harder(tmp_path):
    marks = tmp_path / "marks"
    source = hand_in(marks, {f"s{n}": {"right": NAMES} for n in range(2)})
    for name in ("cleo", "dora"):
        (source / name).mkdir()
    with Queue(marks) as queue:
        queue.take_in(source, Path.read_bytes)
        for student, digest in queue.open("v1"):
            queue.store(student, digest, "v1", unchecked(CHAPTER, digest, refused="there is no notebook."))
        (marks / "marks.csv").write_text(f"student,exercise,points\ndora,{CHAPTER}.scale,1\n")
        found = {item.exercise.partition(".")[2]: item for item in items({CHAPTER: rows(queue)[0]})}
    assert (found["Linear"].students, found["Linear"].share, found["Linear"].unwritten) == (2, 1, 0)
    assert found["scale"].students == 3 and found["scale"].share == pytest.approx(2.5 / 3)  # with Dora's mark


def test_the_items_are_a_page_and_a_table(tmp_path):
    term(tmp_path / "term")
    hand_in(tmp_path / "term/marks", {f"s{n}": {} for n in range(6)})
    write_term(tmp_path / "term")
    listed = [row["exercise"] for row in table(tmp_path / "term/items.csv")]
    assert listed == [f"{CHAPTER}.{name}" for name in NAMES]
    page = (tmp_path / "term/items.html").read_text()
    assert "hardly any student has it right" in page and "dW is 5 times too small. (6)" in page


# the commands


def test_each_command_prints_the_files_that_it_has_written(tmp_path, capsys):
    out = tmp_path / "term/marks"
    source = hand_in(out, {"anna": {"by_hand": ["light_tanh"]}})
    term(tmp_path / "term")
    assert command.main(["settle", str(out), "anna", "scale", "1", "--reason", "half"]) == 0
    assert "anna, 04_closures.scale: 1 points, because half" in capsys.readouterr().out
    assert command.main(["marking", str(out)]) == 0
    assert "marking.html; it writes marks.csv" in capsys.readouterr().out
    assert command.main(["send", str(out), str(source)]) == 0
    assert "feedback.zip: 1." in capsys.readouterr().out
    assert command.main(["term", str(tmp_path / "term")]) == 0
    assert "totals.csv" in capsys.readouterr().out


@pytest.mark.long
def test_a_whole_term_runs_with_one_command(tmp_path):
    assert run_term(tmp_path, ["00_start", "02_jacobian"], 4, ["--workers", "2"]) == 0
    first, *_, last = table(tmp_path / "totals.csv")
    assert first["00_start share"] == "1.0" and last["00_start share"] == "0.8"
    assert float(first["total"]) > float(last["total"])
    assert len(table(tmp_path / "items.csv")) == len(exercises_of("00_start") + exercises_of("02_jacobian"))


def test_a_demo_class_can_be_made_twice(tmp_path):
    for _ in range(2):
        make_class(tmp_path, CHAPTER, 3)
    assert len(list(tmp_path.iterdir())) == 3


def test_tables_come_back_as_they_were(tmp_path):
    from classroom.tables import read_rows

    (tmp_path / "a.csv").write_text(as_csv([["student", "points"], ["=anna", 1], ["'ben", ""]]))
    assert [row for _, row in read_rows(tmp_path / "a.csv", ("student",))] == [
        {"student": "=anna", "points": "1"},
        {"student": "'ben", "points": ""},
    ]
