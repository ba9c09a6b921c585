"""A teacher's other commands: settle, appeal, similar, marking, send and term."""

import csv
import json
import re
import shutil
import zipfile
from dataclasses import replace
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
from classroom.items import items, tries
from classroom.marking import write_marking_page
from classroom.queue import Queue
from classroom.reports import rows, write_reports
from classroom.result import exercises_of, unchecked
from classroom.roster import Roster
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
CANVAS = (
    f"Student,ID,SIS User ID,SIS Login ID,Section,{CHAPTER} (991),HW 2 (992),Current Score\n"
    ",,,,,Manual Posting,,\n"
    "    Points Possible,,,,,{of},10,(read only)\n"
    '"King, Ada",1234,s-1,aking,A,,7,70\n'
    '"Müller, Zoë",77,s-2,zm,A,3,,\n'
    '"King, Ada",1299,s-3,aking2,B,,,\n'
    '"Doe, Jo",80,s-4,=jo,B,5,,\n'
    '"Student, Test",99,,,A,,,\n'
)
MOODLE = (
    '"First name",Surname,"ID number","Email address","Assignment: {name} (Real)","Course total (Real)"\n'
    "Ada,King,4711,aking@example.org,-,-\nZoë,Müller,4712,zm@example.org,-,-\n"
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)\n"
    "Participant 123,Ada King,,Submitted,,{of},-\nParticipant 1123,Ada King,,Submitted,,{of},-\n"
)
OUT_OF = sum(exercise.points for exercise in exercises_of(CHAPTER))


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


def test_an_exercise_that_a_check_marks_is_settled_again_after_another_hand_in(tmp_path):
    hand_in(tmp_path / "out", {"anna": (with_cells("a = 1"), {})})
    with Queue(tmp_path / "out") as queue:
        settle(queue, "anna", "scale", "1", "half")
        hand_in(tmp_path / "out", {"anna": (with_cells("a = 2"), {"right": ["Linear"]})})
        (row,), (problem,) = rows(queue)
        said = (
            f"settled.csv, line 2: anna has handed in again since {CHAPTER}.scale was marked, and this mark "
        )
        said += (
            "does not count: if the new answer needs a mark by hand, too, run settle again; if not, delete "
        )
        assert (row.points, problem) == (4, f"{said}this row.")
        settle(queue, "anna", "scale", "2", "right")
        (row,), problems = rows(queue)
        assert (row.points, problems) == (6, [])


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


# unreadable work, and a zero because of the form


def unreadable(digest):
    return unchecked(CHAPTER, digest, refused="it is no notebook.")


def without_answers(digest):
    return replace(unreadable(digest), refused=None)


def test_unreadable_work_has_no_mark_until_each_answer_is_settled(tmp_path):
    hand_in(tmp_path / "out", {"ann": (with_cells("a = 1"), unreadable)})
    with Queue(tmp_path / "out") as queue:
        for name in NAMES:
            assert points(tmp_path / "out") == {"ann": None}
            settle(queue, "ann", name, "1", "by mail")
    assert points(tmp_path / "out") == {"ann": len(NAMES)}


@pytest.mark.parametrize(("keep", "expected"), [("last", None), ("best", 2)])
def test_an_unreadable_second_hand_in_is_no_mark_and_the_best_one_may_count(tmp_path, keep, expected):
    hand_in(tmp_path / "marks", {"anna": (with_cells("a = 1"), {"right": ["scale"]})})
    hand_in(tmp_path / "marks", {"anna": (with_cells("a = 2"), unreadable)})
    with Queue(tmp_path / "marks") as queue:
        assert counted(queue, keep)[0]["anna"].points == expected


def test_a_zero_because_of_the_form_is_marked(tmp_path):
    handed = {"ann": without_answers, "dora": unreadable, "ben": {}, "cleo": {"right": ["scale"]}}
    hand_in(tmp_path / "out", handed)
    with Queue(tmp_path / "out") as queue:
        write_reports(queue)
    because = {row["student"]: row["zero because of"] for row in table(tmp_path / "out/grades.csv")}
    assert because == {"ann": "form", "ben": "work", "cleo": "", "dora": ""}
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
    assert f'python -m classroom settle {out} anna three_calls POINTS --reason "TEXT"\n' in said
    assert command.main(["appeal", str(out), "ben", "three_calls"]) == 1
    assert "there is no student 'ben'" in capsys.readouterr().err


def test_a_name_without_its_number_suggests_the_students_who_may_be_meant(tmp_path, capsys):
    name, out = "Wei Chen_22_assignsubmission_file_", str(tmp_path / "out")
    hand_in(tmp_path / "out", {name: {}})
    for told in (
        ["appeal", out, "wei chen", "scale"],
        ["settle", out, "Wei Chen", "scale", "1", "--reason", "so"],
    ):
        assert command.main(told) == 1
        assert f"is it '{name}'?" in capsys.readouterr().err


# similar answers

ONE = "def f(X):\n    total = X.sum()\n    return total / X.size"
OTHER = "def f(A):\n    # mine\n    'The mean.'\n    s = A.sum()\n\n    return s / A.size"


def test_a_form_ignores_names_layout_and_docstrings_but_not_the_functions_called():
    forms = [form(definitions(with_cells(source))["f"]) for source in (ONE, OTHER, ONE.replace("sum", "max"))]
    assert forms[0] == forms[1] != forms[2]
    assert definitions(b"no notebook") == {} and code_of(with_cells("def f(:"), "f") == ""


def test_pairs_are_listed_with_how_common_their_form_is():
    def handed(name, *bodies):
        return with_cells(f"x = {name!r}", *(f"def {short}(X):\n    return {body}" for short, body in bodies))

    rare, common = ("f", "X * 7 - X"), ("g", "X + X")
    answers = {
        "anna": handed("anna", rare, common),
        "ben": handed("ben", rare, common),
        "cleo": handed("cleo", ("f", "X"), common),
        "dora": handed("dora", ("f", "X * 6"), common),
    }
    solution = with_cells("def f(X):\n    return 6 * X\ndef g(X):\n    return 2 * X")
    equal = "2 of 2 answers are equal but for names and layout"
    assert similar(answers, solution) == [["anna", "ben", equal, "f (2 of 4), g (4 of 4)"]]
    same = with_cells("def f(X):\n    return X * 7 - X")
    assert similar(answers, same) == []  # neither the solution's own form
    assert similar(answers, solution, same) == []  # nor what was handed out counts


def test_two_equal_files_are_listed_unless_nothing_is_written_in_them():
    solution = with_cells("def f(X):\n    return 6 * X")
    stub = with_cells("def f(X):\n    raise NotImplementedError")
    answers = {"anna": solution, "ben": solution, "cleo": stub, "dora": stub}
    assert similar(answers, solution, stub) == [["anna", "ben", "the two files are equal, byte for byte", ""]]


def test_a_class_that_has_the_solution_shares_nothing(tmp_path, capsys):
    data = solution_of(CHAPTER)
    hand_in(tmp_path / "out", {s: (data + end, {}) for s, end in {"anna": b"", "ben": b" "}.items()})
    assert command.main(["similar", str(tmp_path / "out")]) == 0
    assert "Pairs with equal answers: 0" in capsys.readouterr().out
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


def test_the_second_page_for_marking_writes_a_second_file_beside_the_first(tmp_path):
    first, _ = marking(tmp_path / "out", {"anna": "def light_tanh(X):\n    return 1"})
    told = f"student,exercise,points\nanna,{CHAPTER}.light_tanh,1\n"
    (tmp_path / "out/marks.csv").write_text(told)
    second, _ = marking(tmp_path / "out", {"ben": "def light_tanh(X):\n    return 2"})
    assert ', name = "marks.csv",' in first and ', name = "marks-2.csv",' in second
    (tmp_path / "out/marks-2.csv").write_text(told.replace("anna", "ben").replace(",1", ",2"))
    assert points(tmp_path / "out") == {"anna": 1, "ben": 2}


def test_an_answer_in_words_is_the_cell_that_was_handed_out():
    named = {"nbgrader": {"grade_id": "why"}}
    cell = {"cell_type": "markdown", "metadata": named, "source": ["Since ", "it is."]}
    assert words_of(json.dumps({"cells": [{}, cell]}).encode(), "why") == "Since it is."
    assert words_of(b"{}", "why") == words_of(b"nothing", "why") == ""


# the pages as a zip


def test_the_zip_has_the_names_that_the_platform_gave(tmp_path):
    hand_in(tmp_path / "out", {"adaking_1234": {}, "Ben_77_assignsubmission_file_": {}, "late": {}})
    export = tmp_path / "export"
    (export / "Ben_77_assignsubmission_file_").mkdir(parents=True)
    (export / f"adaking_LATE_1234_6789_{CHAPTER}-1.ipynb").write_bytes(b"{}")
    (export / f"adaking_LATE_1234_6789_{CHAPTER}-1.html").write_bytes(b"")  # one page for both
    (export / "nobody").mkdir()
    with Queue(tmp_path / "out") as queue:
        write_reports(queue)
        sizes = []
        for _ in range(2):
            assert write_zip(queue, export, tmp_path / "feedback.zip") == (2, ["late", "nobody"])
            sizes.append((tmp_path / "feedback.zip").read_bytes())
        with pytest.raises(GradingFault, match="nothing was written"):
            write_zip(queue, export / "nobody", tmp_path / "none.zip")
    assert sizes[0] == sizes[1]
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == [
            "Ben_77_assignsubmission_file_/feedback.html",
            f"adaking_LATE_1234_6789_{CHAPTER}-1.html",
        ]
        assert b"For adaking<" in archive.read(f"adaking_LATE_1234_6789_{CHAPTER}-1.html")


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


def test_a_term_has_totals_and_the_roster_filled_in(tmp_path):
    term(tmp_path / "term", roster="anna,7\ncleo,9\n")
    hand_in(tmp_path / "term/marks", {"anna": {"right": ["scale"]}, "ben": {"right": NAMES}})
    problems, absent, _ = write_term(tmp_path / "term")
    assert (problems, absent) == (["ben has handed in, but is not on the roster."], [("cleo", "9")])
    found = {row["student"]: row for row in table(tmp_path / "term/totals.csv")}
    out_of = sum(exercise.points for exercise in exercises_of(CHAPTER))
    assert [found[s]["total"] for s in ("anna", "ben", "cleo")] == ["1.8", str(out_of), "0"]
    assert {row["out of"] for row in found.values()} == {str(out_of)}
    assert found["anna"][f"{CHAPTER} in words"].startswith("late, 90% of the points count; ")
    assert found["anna"][f"{CHAPTER} of its own"] == "2"
    assert found["cleo"][f"{CHAPTER} in words"] == "nothing handed in"
    assert [found[s]["id"] for s in ("anna", "ben", "cleo")] == ["7", "", "9"]
    filled = f"student,id,{CHAPTER}\r\nanna,7,1.8\r\ncleo,9,\r\n"
    assert (tmp_path / "term/import.csv").read_bytes() == filled.encode()


def test_a_hand_in_that_came_too_late_counts_nothing(tmp_path):
    term(tmp_path / "term", f"{CHAPTER},marks,2026-10-09 12:00,10%,3,last")
    hand_in(tmp_path / "term/marks", {"anna": {"right": NAMES}})
    write_term(tmp_path / "term")
    anna = table(tmp_path / "term/totals.csv")[0]
    assert (anna["total"], anna[f"{CHAPTER} in words"]) == ("0", "too late; all passed")


# a term whose platform draws the number in a hand-in's name anew for each chapter

OTHER_CHAPTER = "05_chains"


def moodle(folder, chapters, roster=None, late=()):
    """Hand in each chapter under its own numbers, and write the term; late hand-ins keep 90%."""
    folder.mkdir()
    lines = ["chapter,marks,due,late"]
    for number, (chapter, handed) in enumerate(chapters.items(), 1):
        names = [f"{name}_{number}0{k}_assignsubmission_file_" for k, (name, _) in enumerate(handed)]
        told = {name: {"right": right} for name, (_, right) in zip(names, handed, strict=True)}
        hand_in(folder / chapter, told, chapter)
        lines.append(f"{chapter},{chapter},2026-10-12 12:00,10%")
    (folder / "term.csv").write_text("\n".join(lines))
    if roster:
        (folder / "roster.csv").write_text(roster, "utf-8")
    if late:
        times = [f"{name},{chapter},2026-10-13 11:00" for name, chapter in late]
        (folder / "hand-ins.csv").write_text("\n".join(["student,chapter,when", *times]), "utf-8")
    problems, absent, _ = write_term(folder)
    totals = {row["student"]: row for row in table(folder / "totals.csv")}
    return problems, absent, totals


TWICE = {
    CHAPTER: [("Ada King", ["scale"]), ("Zoë Müller", ["scale", "Linear"])],
    OTHER_CHAPTER: [("Zoë Müller", []), ("Ada King", [exercises_of(OTHER_CHAPTER)[0].short])],
}
FIRST = exercises_of(OTHER_CHAPTER)[0].points
OF_ADA = (
    "Ada King",
    "aking",
    "4711",
    "aking@example.org",
    "Ada King_100_assignsubmission_file_",
    "Ada King_100",
)


@pytest.mark.parametrize("called", OF_ADA)
def test_a_student_with_another_number_in_each_chapter_has_one_row(tmp_path, called):
    roster = MOODLE.format(name=CHAPTER)
    problems, absent, totals = moodle(tmp_path / "term", TWICE, roster, [(called, CHAPTER)])
    assert problems == absent == []
    assert {name: (row["id"], row["total"]) for name, row in totals.items()} == {
        "Ada King": ("4711", f"{1.8 + FIRST:g}"),
        "Zoë Müller": ("4712", "6"),
    }
    assert [totals["Ada King"][f"{stem} points"] for stem in TWICE] == ["1.8", str(FIRST)]
    lines = list(table(tmp_path / "term/import.csv"))
    assert [line[f"Assignment: {CHAPTER} (Real)"] for line in lines] == ["1.8", "6"]
    assert [line[OTHER_CHAPTER] for line in lines] == [str(FIRST), "0"]


@pytest.mark.parametrize("called", ["Ada King", "Ada King_100_assignsubmission_file_"])
def test_without_a_roster_a_student_has_the_name_without_the_number(tmp_path, called):
    problems, _, totals = moodle(tmp_path / "term", TWICE, late=[(called, CHAPTER)])
    assert problems == []
    totals = {name: row["total"] for name, row in totals.items()}
    assert totals == {"Ada King": f"{1.8 + FIRST:g}", "Zoë Müller": "6"}


def test_a_name_that_a_hand_in_with_a_number_has_replaced_has_no_row(tmp_path):
    data = with_cells("a = 1")
    source = hand_in(tmp_path / "term/marks", {"Ada King": (data, {"right": ["scale"]})})
    term(tmp_path / "term")
    shutil.copytree(source / "Ada King", source / "Ada King_100_assignsubmission_file_")
    with Queue(tmp_path / "term/marks") as queue:
        queue.take_in(source, Path.read_bytes)
        ((student, digest),) = queue.open("v1")
        queue.store(student, digest, "v1", stand_ins.result(data, CHAPTER, 1, ["scale"]))
    (tmp_path / "term/roster.csv").unlink()
    write_term(tmp_path / "term")
    assert [(row["student"], row["total"]) for row in table(tmp_path / "term/totals.csv")] == [
        ("Ada King", "2")
    ]
    assert table(tmp_path / "term/items.csv")[0]["students"] == "1"


def test_a_student_s_own_number_is_part_of_the_name(tmp_path):
    for chapter, name in ((CHAPTER, "king_1001"), (OTHER_CHAPTER, "king_1002")):
        hand_in(tmp_path / chapter, {name: {}}, chapter)
    (tmp_path / "term.csv").write_text(
        f"chapter,marks\n{CHAPTER},{CHAPTER}\n{OTHER_CHAPTER},{OTHER_CHAPTER}\n"
    )
    write_term(tmp_path)
    assert [row["student"] for row in table(tmp_path / "totals.csv")] == ["king_1001", "king_1002"]


ANNAS = {
    CHAPTER: [("Anna Müller", ["scale"]), ("Anna Müller", NAMES), ("Ada King", [])],
    OTHER_CHAPTER: [("Anna Müller", [])],
}
THEIRS = [f"Anna Müller_{number}_assignsubmission_file_" for number in (100, 101, 200)]


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_two_of_one_name_are_never_added_up(tmp_path, lines):
    annas = ["Anna,Müller,1,a@example.org,,\n", "Anna,Müller,2,b@example.org,,\n"]
    roster = MOODLE.format(name=CHAPTER) + "".join(annas[:lines]) if lines else None
    late = [("Anna Müller", stem) for stem in ANNAS]
    problems, absent, totals = moodle(tmp_path / "term", ANNAS, roster, late)
    assert problems == [
        *["Anna Müller is the name of several students: each of their hand-ins has a row of its own."][
            lines:
        ],
        f"hand-ins.csv: Anna Müller may be each of {THEIRS[0]} and {THEIRS[1]} in {CHAPTER}.",
        *([f"{' and '.join(THEIRS)} fit one line of the roster: Anna Müller."] if lines == 1 else []),
        *(
            [f"{name} has handed in, but fits more than one line of the roster." for name in THEIRS]
            * (lines == 2)
        ),
    ]
    assert absent == [("Zoë Müller", "4712")] * (lines > 0)
    assert [totals[name]["total"] for name in THEIRS] == ["2", str(OUT_OF), "0"]
    assert {*totals} == {*THEIRS, "Ada King", *["Zoë Müller"][:lines]}
    if lines:
        cells = {row[f"Assignment: {CHAPTER} (Real)"] for row in table(tmp_path / "term/import.csv")[2:]}
        assert cells == {""}


def test_an_exercise_is_compared_with_the_same_student_s_other_chapters(tmp_path):
    names, short = [f"Student {letter}" for letter in "abcdef"], exercises_of(OTHER_CHAPTER)[0].short
    chapters = {
        CHAPTER: [(name, NAMES[: k + 1]) for k, name in enumerate(names)],
        OTHER_CHAPTER: [(name, [short] * (k > 2)) for k, name in reversed([*enumerate(names)])],
    }
    moodle(tmp_path / "term", chapters)
    own = np.arange(6) > 2
    reached = np.cumsum([exercise.points for exercise in exercises_of(CHAPTER)])[:6]
    found = {row["exercise"]: row for row in table(tmp_path / "term/items.csv")}[f"{OTHER_CHAPTER}.{short}"]
    assert float(found["discrimination"]) == pytest.approx(np.corrcoef(own, reached)[0, 1], abs=1e-3)
    assert (found["solved"], found["tries"]) == ("0.5", "1.0")


def test_a_time_of_nobody_s_hand_in_is_reported(tmp_path):
    term(tmp_path / "term")
    hand_in(tmp_path / "term/marks", {"ben": (with_cells("b = 1"), {})})
    problems, absent, _ = write_term(tmp_path / "term")
    assert problems == [f"hand-ins.csv: anna has no marks in {CHAPTER}: is that the name of the hand-in?"]
    assert absent == [("anna", "7")]


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


@pytest.mark.parametrize(("when", "share"), [("2026-10-12 23:58", 1.0), ("2026-10-13 00:30", 0.9)])
def test_a_day_ends_at_midnight(tmp_path, when, share):
    term(tmp_path / "term", f"{CHAPTER},marks,2026-10-12,10%,3,last")
    (tmp_path / "term/hand-ins.csv").write_text(f"student,chapter,when\nanna,{CHAPTER},{when}\n")
    ((chapter,), _, hand_ins) = read_term(tmp_path / "term")
    assert chapter.share(hand_ins["anna", CHAPTER]) == share


def test_two_times_of_one_hand_in_are_refused(tmp_path):
    term(tmp_path / "term")
    with (tmp_path / "term/hand-ins.csv").open("a") as file:
        file.write(f"anna,{CHAPTER},2026-10-14 11:00\n")
    with pytest.raises(GradingFault, match=f"line 3: anna has a row for {CHAPTER} already: keep the one"):
        read_term(tmp_path / "term")


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
    assert found["two_layers"].mistakes == "dW is 5 times too small. (3)"
    assert found["two_layers"].solved == found["two_layers"].share == pytest.approx(3 / 6)
    assert found["two_layers"].tries is None


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


def test_an_exercise_that_waits_for_the_teacher_has_no_numbers_yet(tmp_path):
    told = {"anna": {"by_hand": ["light_tanh"]}, "ben": {"by_hand": ["light_tanh"]}, "cleo": {}}
    hand_in(tmp_path / "marks", told)
    with Queue(tmp_path / "marks") as queue:

        def tanh():
            (found,) = (one for one in items({CHAPTER: rows(queue)[0]}) if one.exercise.endswith("tanh"))
            return found.students, found.solved, found.share, found.discrimination

        assert tanh() == (1, None, None, None)
        settle(queue, "anna", "light_tanh", "2", "right")
        assert tanh() == (2, None, None, None)
        settle(queue, "ben", "light_tanh", "2", "right")
        assert tanh()[:2] == (3, pytest.approx(2 / 3))


def test_tries_count_the_hand_ins_until_an_exercise_was_solved(tmp_path):
    marks = tmp_path / "marks"
    for number, right in enumerate((["Linear"], [], ["scale", "Linear"])):
        hand_in(marks, {"anna": (with_cells(f"a = {number}"), {"right": right})})
    hand_in(marks, {"ben": (with_cells("b = 1"), unreadable)})  # this is no try
    hand_in(marks, {"ben": {"right": ["scale"]}})
    with Queue(marks) as queue:
        queue.accept("v2")
        ((_, digest),) = (one for one in queue.open("v2") if one[0] == "anna")
        queue.store("anna", digest, "v2", stand_ins.result(with_cells("a = 2"), CHAPTER, 1, ["scale"]))
        found = tries(queue)
        assert found["anna", f"{CHAPTER}.scale"] == 3 and found["ben", f"{CHAPTER}.scale"] == 1
        assert found["anna", f"{CHAPTER}.Linear"] == 1 and len(found) == 3
        queue.accept("v1")
        (item,) = (one for one in items({CHAPTER: rows(queue)[0]}, found) if one.exercise.endswith(".scale"))
    assert (item.solved, item.tries) == (1, 2)


def test_the_items_of_several_terms_are_a_page_and_a_table(tmp_path):
    for name, right in (("term", []), ("before", NAMES)):
        term(tmp_path / name)
        hand_in(tmp_path / name / "marks", {f"s{n}": {"right": right} for n in range(6)})
    write_term(tmp_path / "term", [tmp_path / "before"])
    found = table(tmp_path / "term/items.csv")
    assert [row["exercise"] for row in found] == 2 * [f"{CHAPTER}.{name}" for name in NAMES]
    assert [(Path(row["term"]).name, row["solved"], row["tries"]) for row in found[:: len(NAMES)]] == [
        ("term", "0.0", ""),
        ("before", "1.0", "1.0"),
    ]
    page = (tmp_path / "term/items.html").read_text()
    assert "hardly any student has it right" in page and "dW is 5 times too small. (6)" in page
    assert f"Linear, {tmp_path / 'before'}</td>" in page


# the platform's table


def filled(folder, text, marks):
    """Return the lines of a roster with a chapter's points, the problems, and the absent students."""
    (folder / "roster.csv").write_bytes(text.encode())
    found, problems, absent = Roster(folder / "roster.csv").filled({CHAPTER: marks}, {CHAPTER: OUT_OF})
    return found.split("\r\n"), problems, absent


@pytest.mark.parametrize("called", ["kingada_1234", "aking", "1234", "s-1"])
def test_canvas_gets_its_own_table_back_with_our_points(tmp_path, called):
    marks = {called: 6.5, "müller zoë": None, "nobody": 3}
    lines, problems, absent = filled(tmp_path, CANVAS.format(of=OUT_OF), marks)
    expected = CANVAS.format(of=OUT_OF).replace("1234,s-1,aking,A,,7", "1234,s-1,aking,A,6.5,7")
    assert lines == expected.split("\n")  # Zoë has no mark: her cell stays as it was
    assert problems == ["nobody has handed in, but is not on the roster."]
    assert absent == [("King, Ada", "1299"), ("Doe, Jo", "80")]


@pytest.mark.parametrize(
    ("marks", "problem"),
    [
        ({"Ada King": 1}, "Ada King has handed in, but fits more than one line of the roster."),
        ({"kingada_5": 1}, "kingada_5 has handed in, but is not on the roster."),
        ({"zm": 1, "Zoe Muller": 2}, "Zoe Muller and zm fit one line of the roster: Müller, Zoë."),
    ],
)
def test_no_student_gets_the_points_of_another(tmp_path, marks, problem):
    lines, problems, _ = filled(tmp_path, CANVAS.format(of=OUT_OF), marks)
    assert lines == CANVAS.format(of=OUT_OF).split("\n") and problems == [problem]


def test_moodle_s_gradebook_is_filled_in_by_name_or_address(tmp_path):
    marks = {"Ada King_31_assignsubmission_file_": 4, "zm": 5}
    lines, problems, absent = filled(tmp_path, "\ufeff" + MOODLE.format(name=CHAPTER), marks)
    expected = (
        MOODLE.format(name=CHAPTER)
        .replace("org,-,-\nZ", "org,4,-\nZ")
        .replace("zm@example.org,-", "zm@example.org,5")
    )
    assert "\n".join(lines).replace('"', "") == "\ufeff" + expected.replace('"', "")
    assert problems == absent == []


def test_a_chapter_without_a_column_gets_a_new_one(tmp_path):
    lines, _, _ = filled(tmp_path, MOODLE.format(name="Homework 4").replace(",", ";"), {"Ada King": 4})
    assert lines[0].endswith(f";{CHAPTER}") and lines[1] == "Ada;King;4711;aking@example.org;-;-;4"
    assert lines[2] == "Zoë;Müller;4712;zm@example.org;-;-;"
    lines, _, _ = filled(tmp_path, CANVAS.format(of=9).replace(CHAPTER, "HW 1"), {"zm": 4})
    assert lines[2].endswith(f"(read only),{OUT_OF}") and lines[4].endswith(",3,,,4")


def test_moodle_s_worksheet_is_filled_in_by_its_identifier(tmp_path):
    names = ["Ada King_123_assignsubmission_file_", "Ada King_1123_assignsubmission_file_"]
    lines, problems, _ = filled(tmp_path, WORKSHEET.format(of=OUT_OF), dict(zip(names, (4, 5), strict=True)))
    assert [line.split(",")[4] for line in lines[1:3]] == ["4", "5"] and problems == []
    _, (problem,), _ = filled(tmp_path, WORKSHEET.format(of="100.00"), {names[0]: 4})
    assert (
        problem
        == f"roster.csv: Grade is out of 100.00, and {CHAPTER} is out of {OUT_OF}: change it on the platform."
    )


def test_the_worksheet_s_own_number_counts_beside_another_number(tmp_path):
    text = WORKSHEET.format(of=OUT_OF).replace("Full name,", "ID number,Full name,")
    text = text.replace("23,Ada", "23,s-7,Ada")
    marks = {"Ada King_123_assignsubmission_file_": 4, "Ada King_1123_assignsubmission_file_": 5}
    lines, problems, absent = filled(tmp_path, text, marks)
    assert [line.split(",")[5] for line in lines[1:3]] == ["4", "5"] and problems == absent == []


def test_two_of_one_name_have_handed_in_even_if_the_roster_cannot_tell_them_apart(tmp_path):
    names = [f"Anna Müller_{number}_assignsubmission_file_" for number in (2203401, 2203402)]
    hand_in(tmp_path / "term/marks", {names[0]: {"right": NAMES}, names[1]: {"right": ["scale"]}})
    term(tmp_path / "term")
    (tmp_path / "term/hand-ins.csv").unlink()
    annas = "Anna,Müller,1,a@example.org,,\nAnna,Müller,2,b@example.org,,\n"
    (tmp_path / "term/roster.csv").write_text(MOODLE.format(name=CHAPTER) + annas, "utf-8")
    problems, absent, _ = write_term(tmp_path / "term")
    assert problems == [f"{name} has handed in, but fits more than one line of the roster." for name in names]
    assert absent == [("Ada King", "4711"), ("Zoë Müller", "4712")]
    totals = {row["student"]: row["total"] for row in table(tmp_path / "term/totals.csv")}
    assert totals == {names[0]: str(OUT_OF), names[1]: "2", "Ada King": "0", "Zoë Müller": "0"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Group,Points\nA,1\n", "no column for the students"),
        (f"student,{CHAPTER} (1),{CHAPTER} (2)\nanna,,\n", "has several columns for 04_closures"),
    ],
)
def test_a_roster_that_cannot_be_filled_in_is_refused(tmp_path, text, why):
    with pytest.raises(GradingFault, match=why):
        filled(tmp_path, text, {"anna": 1})


def test_report_fills_in_the_roster_of_a_chapter(tmp_path, capsys):
    hand_in(tmp_path / "out", {"zm": (with_cells("a = 1"), {"right": ["scale"]})})
    (tmp_path / "book.csv").write_text(CANVAS.format(of=OUT_OF))
    assert command.main(["report", str(tmp_path / "out"), "--roster", str(tmp_path / "book.csv")]) == 0
    assert "without a hand-in: 3: King, Ada; King, Ada; Doe, Jo\n" in capsys.readouterr().out
    assert '"Müller, Zoë",77,s-2,zm,A,2,,\n' in (tmp_path / "out/import.csv").read_text("utf-8")


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
    provisional = "Provisional, since you still have answers to mark: the points of 1 student.\n"
    assert command.main(["term", str(tmp_path / "term")]) == 0
    said = capsys.readouterr().out
    assert "totals.csv" in said and provisional in said
    assert command.main(["report", str(out), "--roster", str(tmp_path / "term/roster.csv")]) == 0
    assert provisional in capsys.readouterr().out
    settle_all = ["settle", str(out), "anna", "light_tanh", "1", "--reason", "half"]
    assert command.main(settle_all) == command.main(["term", str(tmp_path / "term")]) == 0
    assert "Provisional" not in capsys.readouterr().out


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
