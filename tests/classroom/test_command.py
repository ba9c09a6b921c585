"""The command: grade, status, regrade, report; its output and its files."""

import csv
import errno
import io
import json
import shutil
import sqlite3
import time
import zipfile
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from classroom import __main__ as command
from classroom.queue import FILE
from classroom.result import Result, Status, exercise_result, exercises_of
from course.curriculum import exercises_name
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER, notebook

NOTEBOOK = f"{exercises_name(CHAPTER)}.ipynb"

ROOT = Path(__file__).parents[2]
MANY = 1000


@pytest.fixture
def submissions(tmp_path):
    """A small class: two notebooks that can be read, and one folder without."""
    told = {"anna": {"right": ["scale", "Linear"]}, "ben": {"right": ["scale"], "by_hand": ["light_tanh"]}}
    for student, what in told.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / NOTEBOOK).write_bytes(notebook(**what))
    (tmp_path / "in" / "cleo").mkdir()
    return tmp_path / "in"


@pytest.fixture
def grader(monkeypatch):
    """Replace the grader by a stand-in; calling the fixture sets another one, with other checks."""

    def set_to(grade, name):
        def version(chapter, unsafe, seconds):
            return name + "unsafe" * unsafe + f" {seconds:g} s" * (seconds != 10)

        monkeypatch.setattr(command, "_grade_after_test", lambda unsafe: grade)
        monkeypatch.setattr(command, "version", version)

    set_to(stand_ins.grade, "v1")
    return set_to


def grade(submissions, *more):
    """Grade a folder or a zip of submissions into the folder of the marks beside it."""
    words = ["grade", str(submissions), "--chapter", CHAPTER, "--out", str(submissions.parent / "out")]
    return command.main([*words, "--workers", "1", *more])


def run(name, submissions, *more):
    """Run a command on the folder of the marks."""
    return command.main([name, str(submissions.parent / "out"), *more])


def zipped(submissions, others=(), top="", how=zipfile.ZIP_STORED):
    """Zip the notebooks of Anna and Ben, below other entries."""
    with zipfile.ZipFile(submissions.parent / "class.zip", "w", how) as archive:
        for name, data in dict(others).items():
            archive.writestr(name, data)
        for student in ("anna", "ben"):
            archive.writestr(f"{top}{student}/{NOTEBOOK}", (submissions / student / NOTEBOOK).read_bytes())
    return submissions.parent / "class.zip"


def points(submissions):
    lines = (submissions.parent / "out" / "grades.csv").read_text("utf-8-sig").splitlines()
    return {line["student"]: line["points"] for line in csv.DictReader(lines)}


def files(folder):
    found = (path for path in folder.rglob("*") if path.is_file() and "sqlite" not in path.name)
    return {path: path.read_bytes() for path in found}


def test_grade_prints_a_summary_and_writes_the_reports(submissions, grader, capsys):
    assert grade(submissions) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "Students: 3, with a mark: 2.",
        "Could not be read: 1",
        f"  cleo: could not be read: there is no notebook: nothing was handed in; hand in {NOTEBOOK}.",
        "With exercises for you to mark: 1. Fill in to_mark.csv, and save it as marks.csv.",
        f"Open {submissions.parent / 'out' / 'class.html'}",
    ]
    assert "3/3" in printed.err and CHAPTER in printed.err  # the bar
    assert points(submissions) == {"anna": "6", "ben": "2", "cleo": ""}


def test_files_of_no_student_are_listed_with_the_reason(submissions, grader, capsys):
    (submissions / "homework.ipynb").write_bytes(notebook())
    (submissions / "roster.csv").write_text("anna,ben")
    (submissions / ".dora").mkdir()
    with zipfile.ZipFile(submissions / "emil.zip", "w") as archive:
        archive.writestr(NOTEBOOK, notebook())
    assert grade(submissions) == 0
    printed = capsys.readouterr().out
    assert "Left out: 4" in printed and "Students: 3" in printed
    assert "  .dora: its name begins with a dot\n" in printed
    why = "a zip beside the folders is not opened: unpack it, or grade the zip by itself"
    assert f"  emil.zip: {why}\n" in printed
    assert "  homework.ipynb: it is not in a student's folder, and its name is not like NAME_04_" in printed


def test_a_copy_beside_the_notebook_that_counts_is_listed(submissions, grader, capsys):
    (submissions / "anna" / f"{Path(NOTEBOOK).stem}-Copy1.ipynb").write_bytes(notebook())
    grade(submissions)
    why = f"{NOTEBOOK} is graded instead; if this one is newer, delete {NOTEBOOK}"
    assert f"Left out: 1\n  anna/{Path(NOTEBOOK).stem}-Copy1.ipynb: {why}\n" in capsys.readouterr().out


def test_a_notebook_with_no_answer_of_the_chapter_stands_out(submissions, grader, capsys):
    grader(of_another_chapter, "v1")
    grade(submissions)
    capsys.readouterr()
    run("status", submissions)
    printed = capsys.readouterr().out
    assert f"0 of 14  {NOTEBOOK} has almost none of the exercises" in printed
    assert "another chapter?" in printed and "Possibly the wrong notebook" not in printed  # all of them


def test_a_student_who_handed_in_the_chapter_itself_is_listed_and_reads_it(submissions, grader, capsys):
    grader(where_one_is_the_chapter, "v1")
    (submissions / "dora").mkdir()
    (submissions / "dora" / f"{CHAPTER}.ipynb").write_bytes(notebook(who="the chapter itself"))
    grade(submissions)
    why = (
        f"{CHAPTER}.ipynb has almost none of the exercises: is it the wrong notebook, or the chapter itself?"
    )
    said = f"Possibly the wrong notebook; ask for {NOTEBOOK}: 1\n  dora: {why}\n"
    assert said in capsys.readouterr().out
    dora, ben = ((submissions.parent / f"out/feedback/{name}.html").read_text() for name in ("dora", "ben"))
    asks = f"has almost none of the exercises. Please hand in {NOTEBOOK}."
    assert f"You handed in {CHAPTER}.ipynb. It {asks}" in dora and asks not in ben
    page = (submissions.parent / "out" / "class.html").read_text("utf-8")
    assert "dW is 5 times too small." in page and "Linear: no." not in page  # is no mistake of the class


def test_a_student_whose_notebook_is_as_it_was_handed_out_is_listed(submissions, grader, capsys):
    grader(where_one_is_as_it_was_handed_out, "v1")
    (submissions / "dora").mkdir()
    (submissions / "dora" / NOTEBOOK).write_bytes(notebook(who="nothing"))
    grade(submissions)
    said = "Nothing is written in the notebook: 1\n  dora: not written: three_calls, "
    assert said in capsys.readouterr().out


def test_a_file_s_own_name_is_named_without_the_platform_s(submissions, grader):
    grader(where_one_is_the_chapter, "v1")
    (submissions / f"dora_12_3456_{CHAPTER}.ipynb").write_bytes(notebook(who="the chapter itself"))
    grade(submissions)
    page = (submissions.parent / "out/feedback/dora_12.html").read_text("utf-8")
    assert f"You handed in {CHAPTER}.ipynb. It has almost none" in page


def test_the_hint_for_marking_never_overwrites_existing_marks(submissions, grader, capsys):
    grade(submissions)
    marks = submissions.parent / "out" / "marks.csv"
    marks.write_text(f"student,exercise,points\nben,{CHAPTER}.scale,2\n")
    for name in ("report", "status"):
        capsys.readouterr()
        run(name, submissions)
        printed = capsys.readouterr().out
        assert "Fill in to_mark.csv, and save it as marks-2.csv." in printed


def test_a_file_handed_in_again_belongs_to_the_same_student(submissions, grader, capsys):
    first = submissions / f"emil_1234_5678_{CHAPTER}.ipynb"
    first.write_bytes(notebook(right=["scale"]))
    grade(submissions)
    first.rename(submissions / f"emil_LATE_1234_6789_{CHAPTER}-1.ipynb")  # as Canvas calls the second one
    (submissions / f"emil_LATE_1234_6789_{CHAPTER}-1.ipynb").write_bytes(notebook(right=["scale", "Linear"]))
    grade(submissions)
    assert {name: mark for name, mark in points(submissions).items() if "emil" in name} == {"emil_1234": "6"}


def test_files_with_the_students_names_are_graded_as_folders_are(submissions, grader, capsys):
    names = {f"emil_12_34_{CHAPTER}.ipynb": "emil_12_34", f"fay_{CHAPTER}-2.ipynb": "fay"}
    for name in names:
        (submissions / name).write_bytes(notebook(right=["scale"]))
    (submissions / f"anna_{CHAPTER}.ipynb").write_bytes(notebook(right=["scale"]))
    assert grade(submissions) == 0
    found = points(submissions)
    assert {found[name] for name in names.values()} == {"2"} and found["anna"] == ""
    assert "anna and anna_04_closures.ipynb belong to the same student" in capsys.readouterr().out


@pytest.mark.parametrize("top", ["", "class/"])
def test_a_zip_is_graded_as_its_folders_are(submissions, grader, top):
    others = {"__MACOSX/class/._anna": b"", "../outside.ipynb": b"", f"{top}ben/data.csv": b"1, 2"}
    (submissions.parent / "out").mkdir()
    assert grade(zipped(submissions, others, top)) == 0
    assert points(submissions) == {"anna": "6", "ben": "2"}
    assert not (submissions.parent.parent / "outside.ipynb").exists()


def test_names_in_a_zip_are_those_of_the_folders_and_of_the_marks(submissions, grader, capsys):
    path, out = submissions.parent / "class.zip", submissions.parent / "out"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("macOS", "wins"):
            archive.writestr(f"{name}/{NOTEBOOK}", notebook(right=["scale"]))
    packed = path.read_bytes()  # the names that follow do not get the flag for UTF-8
    packed = packed.replace(b"macOS", "Zoe\u0308".encode()).replace(b"wins", "J\u00f6rg".encode("cp437"))
    path.write_bytes(packed)
    out.mkdir()
    (out / "marks.csv").write_text(f"student,exercise,points\nZoe\u0308,{CHAPTER}.scale,1\n", "utf-8")
    assert grade(path) == 2  # the mark by hand is below the check's, and this is said
    assert points(submissions) == {"J\u00f6rg": "2", "Zo\u00eb": "1"}
    assert run("settle", submissions, "Zoe\u0308", "scale", "2", "--reason", "right") == 0
    assert points(submissions)["Zo\u00eb"] == "2"


def test_a_missing_or_damaged_zip_is_reported(submissions, grader, capsys):
    path = zipped(submissions)
    path.write_bytes(path.read_bytes().replace(b"PK\1\2", b"PK\0\0"))
    assert grade(path) == 1
    assert f"{path} cannot be read: " in capsys.readouterr().err


def spoiled(data, offset, bits):
    """Change a byte of the entry of anna in a zip: in its data, or in both of its headers."""
    data, name = bytearray(data), f"anna/{NOTEBOOK}".encode()
    local, central = data.index(b"PK\3\4"), data.index(b"PK\1\2")
    assert data.index(name) == local + 30 and data.index(name, central) == central + 46
    places = {"data": [local + 30 + len(name)], "crc": [local + 14, central + 16]}
    for place in places.get(offset, [local + 6, central + 8]):
        data[place] ^= bits
    return bytes(data)


@pytest.mark.parametrize(
    ("offset", "bits", "why"),
    [("data", 6, "Error -3"), ("crc", 255, "Bad CRC-32"), ("flag", 1, "is encrypted, password required")],
)
def test_a_damaged_entry_of_a_zip_costs_its_student_alone(submissions, grader, capsys, offset, bits, why):
    path = zipped(submissions, how=zipfile.ZIP_DEFLATED)
    path.write_bytes(spoiled(path.read_bytes(), offset, bits))
    assert grade(path) == 2
    assert points(submissions) == {"anna": "", "ben": "2"}
    run("status", submissions)
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("anna "))
    assert f"not graded, because anna/{NOTEBOOK} in the zip cannot be unpacked: " in row and why in row


@pytest.mark.parametrize("spoiler", ["anna", f"ben/{NOTEBOOK}/a"])
def test_a_name_that_cannot_be_in_a_zip_s_folder_is_listed_and_all_others_are_graded(
    submissions, grader, capsys, spoiler
):
    grade(zipped(submissions, {spoiler: b"1"}))
    assert {name: points(submissions)[name] for name in ("anna", "ben")} == {"anna": "6", "ben": "2"}
    assert f"Left out: 1\n  {spoiler[:100]} in the zip cannot be unpacked: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("long", "student"),
    [
        ("cleo/" + "é" * 300 + ".ipynb", "cleo"),
        ("y" * 300 + f"/{NOTEBOOK}", "y" * 120 + "-"),
        ("dora_" + "x" * 300 + f"_{NOTEBOOK}", "dora_xxx"),
    ],
)
def test_a_name_too_long_for_a_file_costs_its_student_nothing(submissions, grader, long, student):
    path = submissions.parent / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(long, notebook(right=["scale"]))
        archive.writestr(f"anna/{NOTEBOOK}", notebook(right=["scale", "Linear"]))
    out = str(submissions.parent / "out")
    assert command.main(["grade", str(path), "--chapter", CHAPTER, "--out", out, "--workers", "1"]) == 0
    assert [mark for name, mark in points(submissions).items() if name.startswith(student)] == ["2"]
    assert len(points(submissions)) == 2


@pytest.mark.parametrize("top", ["", "class/"])
def test_each_file_of_a_flat_zip_is_a_student_s(submissions, grader, top):
    path = submissions.parent / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{top}dora.ipynb", notebook(right=["scale"]))
        archive.writestr(f"{top}student-2 - Copy.ipynb", notebook(right=["scale", "Linear"]))
        archive.writestr(f"{top}emil_{NOTEBOOK}", notebook())
    out = str(submissions.parent / "out")
    assert command.main(["grade", str(path), "--chapter", CHAPTER, "--out", out, "--workers", "1"]) == 0
    assert points(submissions) == {"dora": "2", "emil": "0", "student-2": "6"}


def test_a_zip_of_one_student_s_folder_is_no_flat_class(submissions, grader):
    path = submissions.parent / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"dora/{NOTEBOOK}", notebook(right=["scale"]))
        archive.writestr("dora/scratch.ipynb", notebook())
    out = str(submissions.parent / "out")
    assert command.main(["grade", str(path), "--chapter", CHAPTER, "--out", out, "--workers", "1"]) == 0
    assert points(submissions) == {"dora": "2"}


def test_a_full_disk_unpacks_nothing_by_halves(submissions, grader, capsys, monkeypatch):
    path = zipped(submissions)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert grade(path) == 1
    assert "No space left" in capsys.readouterr().err
    assert not (submissions.parent / "out" / "grades.csv").exists()


def test_a_student_with_fewer_points_than_before_is_named(submissions, grader, capsys):
    grade(submissions)
    (submissions / "anna" / NOTEBOOK).write_bytes(notebook(right=["scale"]))
    capsys.readouterr()
    grade(submissions)
    said = "Fewer points than before: anna handed in again and has 2 points instead of 6."
    assert said in capsys.readouterr().out
    grade(submissions)
    assert "Fewer points" not in capsys.readouterr().out
    (submissions / "anna" / NOTEBOOK).unlink()
    grade(submissions)
    assert "anna handed in again and has no mark instead of 2." in capsys.readouterr().out


def test_points_by_hand_count_before_and_after_another_hand_in(submissions, grader, capsys):
    grade(submissions)
    run("settle", submissions, "ben", "light_tanh", "2", "--reason", "right")
    again = notebook(right=["scale"], by_hand=["light_tanh"], notes=["2"])
    (submissions / "ben" / NOTEBOOK).write_bytes(again)
    capsys.readouterr()
    grade(submissions)
    said = "ben handed in again and has 2 points (2 more wait to be marked by hand) instead of 4. The latest"
    assert said in capsys.readouterr().out


def test_a_mailed_hand_in_without_the_platform_s_number_is_named(submissions, grader, capsys):
    (submissions / "anna").rename(submissions / "Anna Ode_22_assignsubmission_file_")
    (submissions / "Anna Ode").mkdir()
    (submissions / "Anna Ode" / NOTEBOOK).write_bytes(notebook())
    grade(submissions)
    said = "Look at these hand-ins: 1\n  Anna Ode: is this Anna Ode_22_assignsubmission_file_?"
    assert said in capsys.readouterr().out
    assert points(submissions) == {"Anna Ode_22_assignsubmission_file_": "6", "ben": "2", "cleo": ""}


def test_a_row_that_is_joined_with_another_one_is_gone(submissions, grader, capsys):
    grade(submissions)
    (submissions / "anna").rename(submissions / "anna_22_assignsubmission_file_")
    assert grade(submissions) == 0
    assert points(submissions) == {"anna_22_assignsubmission_file_": "6", "ben": "2", "cleo": ""}
    assert "Look at these" not in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_can_be_looked_at(submissions, grader, capsys, monkeypatch):
    grade(submissions)
    capsys.readouterr()
    monkeypatch.setattr(command.Queue.__init__.__globals__["os"], "access", lambda path, mode: False)
    assert run("status", submissions) == 0
    assert capsys.readouterr().out.startswith("anna    6 of 14")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_the_letters_of_a_name_gets_others(submissions, grader, monkeypatch, encoding):
    (submissions / "张伟").mkdir()
    terminal = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", terminal)
    assert grade(submissions) == 0 and run("status", submissions) == 0
    terminal.flush()
    assert terminal.buffer.getvalue().decode(encoding).count("??") == 3  # two lists, a row


def test_grade_again_is_a_no_op_and_asks_no_grader(submissions, grader, capsys):
    grade(submissions)
    before, first = files(submissions.parent / "out"), capsys.readouterr().out
    grader(None, "v1")
    assert grade(submissions) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (first, "")
    assert files(submissions.parent / "out") == before


def test_status_prints_one_row_for_each_student(submissions, grader, capsys):
    (submissions / "d\x1b[31mora").mkdir()
    grade(submissions)
    capsys.readouterr()
    assert run("status", submissions) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "anna         6 of 14  not yet: three_calls, reduce_mean, two_layers, light_tanh",
        "ben          2 of 14  not yet: three_calls, reduce_mean, two_layers, Linear; 2 to mark by hand",
    ]
    assert lines[3].startswith("d\ufffd[31mora          -  could not be read: there is no notebook: ")
    assert lines[4] == "Students: 4, with a mark: 2."


def add_dora(submissions):
    """Add a student whose notebook meets a fault of the grader."""
    (submissions / "dora").mkdir()
    (submissions / "dora" / NOTEBOOK).write_bytes(notebook(do="fault"))


def test_an_ungraded_submission_is_reported_and_tried_again(submissions, grader, capsys):
    add_dora(submissions)
    assert grade(submissions) == 2
    out = capsys.readouterr().out
    assert "Not graded: 1; run the same command again:\n  dora: not graded, because the sandbox" in out
    assert points(submissions)["dora"] == ""
    grader(stand_ins.stricter, "v1")
    assert grade(submissions) == 0
    assert points(submissions) == {"anna": "6", "ben": "2", "cleo": "", "dora": "0"}


def test_changed_checks_are_shown_and_change_nothing_until_they_are_accepted(submissions, grader, capsys):
    grade(submissions)
    out = submissions.parent / "out"
    (out / "marks.csv").write_text(f"student,exercise,points,comment\nben,{CHAPTER}.light_tanh,1,fine\n")
    command.main(["report", str(out)])
    before = files(out)
    marks = points(submissions)
    grader(stand_ins.stricter, "v2")
    capsys.readouterr()

    assert grade(submissions) == 1
    assert "`python -m classroom regrade" in capsys.readouterr().err
    assert files(out) == before

    assert command.main(["regrade", str(out), "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert f"anna, {CHAPTER}.scale: 2 of 2 (passed) -> 0 of 2 (failed)" in printed
    assert f"ben, {CHAPTER}.light_tanh: by hand -> 0 of 2 (failed)" in printed
    assert "3 changes, 2 of 3 students." in printed and "add --accept" in printed
    assert files(out) == before
    command.main(["report", str(out)])
    assert files(out) == before

    grader(None, "v2")  # nothing is left to grade
    assert command.main(["regrade", str(out), "--accept"]) == 0
    assert points(submissions) == {"anna": "4", "ben": "1", "cleo": ""} != marks
    assert (out / "marks.csv").read_bytes() == before[out / "marks.csv"]
    assert grade(submissions) == 0
    capsys.readouterr()
    assert command.main(["regrade", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "there is nothing to regrade" in printed and "a single mark, use settle." in printed
    with closing(sqlite3.connect(out / FILE)) as file:
        assert file.execute("SELECT count(*) FROM results WHERE version = 'v1'").fetchone() == (3,)


def test_regrade_needs_no_submissions_folder_and_takes_nothing_over_that_is_not_graded(
    submissions, grader, capsys
):
    grade(submissions)
    out = submissions.parent / "out"
    before = files(out)
    shutil.rmtree(submissions)
    grader(broken, "v2")
    assert command.main(["regrade", str(out), "--accept", "--workers", "1"]) == 2
    assert "Not accepted: 2 are not yet graded with the new checks." in capsys.readouterr().out
    assert files(out) == before
    grader(stand_ins.grade, "v2")
    assert command.main(["regrade", str(out), "--accept", "--workers", "1"]) == 0
    assert "No mark changes." in capsys.readouterr().out
    assert points(submissions) == {"anna": "6", "ben": "2", "cleo": ""}


def test_a_student_who_was_never_graded_does_not_block_the_others(submissions, grader, capsys):
    add_dora(submissions)
    assert grade(submissions) == 2
    grader(faulty_or_stricter, "v2")
    assert run("regrade", submissions, "--accept", "--workers", "1") == 2  # one is still not graded
    assert points(submissions) == {"anna": "4", "ben": "0", "cleo": "", "dora": ""}


def faulty_or_stricter(data, chapter, seed, unsafe=False, seconds=10.0):
    if b"fault" in data:
        raise RuntimeError("a check that raises")
    return stand_ins.stricter(data, chapter, seed)


def broken(data, chapter, seed, unsafe=False, seconds=10.0):
    raise RuntimeError("a check that raises")


def test_marks_without_a_sandbox_are_not_mixed_with_others(submissions, grader, capsys):
    grade(submissions)
    assert grade(submissions, "--unsafe") == 1
    assert "the sandbox level or the limits have changed since" in capsys.readouterr().err


def test_the_limit_of_a_call_is_the_teachers_and_marks_of_two_limits_are_not_mixed(
    submissions, grader, capsys
):
    assert grade(submissions, "--seconds", "20") == 0
    assert grade(submissions) == 1
    assert "the limits have changed since" in capsys.readouterr().err
    assert grade(submissions, "--seconds", "20") == 0
    for wrong in ("0", "1000", "nan", "long"):
        with pytest.raises(SystemExit):
            grade(submissions, "--seconds", wrong)
        assert "must be 0.1 to 60 seconds" in capsys.readouterr().err


def test_marks_do_not_go_where_the_submissions_are(submissions, grader, capsys):
    before = files(submissions)
    for out in (submissions, submissions / "marks"):
        assert command.main(["grade", str(submissions), "--chapter", CHAPTER, "--out", str(out)]) == 1
        assert "choose an --out outside it" in capsys.readouterr().err
    assert files(submissions) == before


def test_the_notebooks_of_another_chapter_are_noticed(submissions, grader, capsys):
    grader(of_another_chapter, "v1")
    assert grade(submissions) == 2
    assert "do these notebooks belong to another chapter?" in capsys.readouterr().out


def of_another_chapter(data, chapter, seed, unsafe=False, seconds=10.0):
    return Result(chapter, sha256(data).hexdigest(), "bubblewrap", None, missing(chapter))


def where_one_is_the_chapter(data, chapter, seed, unsafe=False, seconds=10.0):
    if b"chapter itself" not in data:
        return stand_ins.grade(data, chapter, seed, unsafe, seconds)
    *before, linear, last = missing(chapter)  # a name that chapter 04 defines, too
    parts = (*before, replace(linear, status=Status.FAILED, sentence="Linear: no."), last)
    return Result(chapter, sha256(data).hexdigest(), "bubblewrap", None, parts)


def where_one_is_as_it_was_handed_out(data, chapter, seed, unsafe=False, seconds=10.0):
    if b"nothing" not in data:
        return stand_ins.grade(data, chapter, seed, unsafe, seconds)
    parts = tuple(replace(part, status=Status.NOT_WRITTEN) for part in missing(chapter))
    return Result(chapter, sha256(data).hexdigest(), "bubblewrap", None, parts)


def missing(chapter):
    return tuple(exercise_result(exercise, 0, Status.MISSING, "") for exercise in exercises_of(chapter))


def test_report_reads_the_teachers_marks(submissions, grader, capsys):
    grade(submissions)
    marks = f"student,exercise,points\nben,{CHAPTER}.light_tanh,2\nzoe,{CHAPTER}.scale,1\n"
    (submissions.parent / "out" / "marks.csv").write_text(marks)
    capsys.readouterr()
    assert run("report", submissions) == 2
    assert "marks.csv, line 3: there is no student 'zoe'." in capsys.readouterr().out
    assert points(submissions)["ben"] == "4"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"grade {{0}}/none --chapter {CHAPTER} --out {{0}}/out", "there is no folder"),
        ("grade {0}/in --chapter 99_none --out {0}/out", "no chapter 99_none with exercises"),
        (f"grade {{0}}/in/anna --chapter {CHAPTER} --out {{0}}/out", "a folder for each student"),
        ("grade {0}/in --chapter closures --out {0}/out", "Did you mean 04_closures?"),
        (f"grade {{0}}/in --chapter {CHAPTER} --out {{0}}/file", "--out must be a folder"),
        (f"grade {{0}}/file --chapter {CHAPTER} --out {{0}}/out", "there is no folder"),
        ("status {0}/none", "there are no marks in"),
        ("regrade {0}/none", "there are no marks in"),
        ("report {0}/none", "there are no marks in"),
        ("status {0}/in/anna/04_closures.ipynb", "there are no marks in"),
    ],
)
def test_an_impossible_command_is_explained_in_a_sentence(submissions, grader, capsys, arguments, words):
    (submissions.parent / "file").write_text("no folder")
    assert command.main(arguments.format(submissions.parent).split()) == 1
    errors = capsys.readouterr().err
    assert words in errors and errors.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1", "two", "²"])
def test_a_number_of_workers_is_a_number(submissions, number, capsys):
    with pytest.raises(SystemExit):
        grade(submissions, "--workers", number)
    assert "must be a whole number of at least 1" in capsys.readouterr().err


def test_ctrl_c_explains_how_to_continue(submissions, grader, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "grade_all", stop)
    assert grade(submissions) == 130
    assert "run the same command again to continue" in capsys.readouterr().err


def test_a_finished_class_of_a_thousand_is_resumed_soon(tmp_path, grader, capsys):
    data = notebook(right=["scale"], notes=["x" * 20_000])
    for number in range(MANY):
        path = tmp_path / "in" / f"s{number:04}" / NOTEBOOK
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    with command.Queue(tmp_path / "out", CHAPTER) as queue:
        queue.accept("v1")
        queue.take_in(tmp_path / "in", Path.read_bytes)
        result = stand_ins.result(data, CHAPTER, 1, right=["scale"])
        queue.file.execute("BEGIN")
        for student, digest in queue.open("v1"):
            queue.store(student, digest, "v1", result)
        queue.file.execute("COMMIT")
    assert grade(tmp_path / "in") == 0
    start = time.process_time()
    assert grade(tmp_path / "in") == 0
    assert time.process_time() - start < 20  # of this process; ten times what it should take
    assert capsys.readouterr().out.startswith("Students: 1,000, with a mark: 1,000.")
    data = json.loads((tmp_path / "out" / "feedback" / "s0999.json").read_text())
    assert data["points"] == 2
