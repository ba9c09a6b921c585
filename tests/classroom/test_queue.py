"""The queue: nothing is lost, nothing is graded twice, and one bad submission never stops the others."""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from classroom import crew
from classroom.clock import STRETCH
from classroom.crew import Grader, grade_all
from classroom.faults import GradingFault
from classroom.folders import handed_in, left_out
from classroom.limits import ALL, SECONDS
from classroom.queue import FILE, Queue
from classroom.result import unchecked
from classroom.seeds import secret, seed
from classroom.submission import read_file
from classroom.version import version
from course.curriculum import exercises_name
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER, notebook

ROOT = Path(__file__).parents[2]
NOTEBOOK = f"{exercises_name(CHAPTER)}.ipynb"
KEY = b"the course's secret"
RIGHT = {"right": ["scale"]}
STUDENTS, KILLS = int(os.environ.get("GRADING_STUDENTS", "60")), 5


def hand_in(folder, student, data=None, name=NOTEBOOK, **told):
    """Put a notebook into a student's folder."""
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook(**told) if data is None else data)
    return path


def given(queue, **students):
    """Hand in for each student, with what the stand-in is told, and take it in."""
    for student, told in students.items():
        hand_in(queue.source, student, **told)
    queue.take_in(queue.source, read_file)


def run(queue, grade=stand_ins.grade, now="v1", workers=2, **options):
    """Grade the open submissions; return student to result."""
    return dict(grade_all(queue, Grader(grade, now, KEY), workers, **options))


def stored(folder):
    """Return every row of results, as bytes."""
    with closing(sqlite3.connect(folder / FILE)) as file:
        rows = file.execute("SELECT student, digest, version, result, open FROM results ORDER BY 1, 2, 3")
        return rows.fetchall()


# Submissions


def found(folder):
    return {
        student: what if isinstance(what, Path) else str(what) for student, what in handed_in(folder, CHAPTER)
    }


def test_a_notebook_is_found_in_the_three_places(tmp_path):
    flat = hand_in(tmp_path, "anna")
    inner = hand_in(tmp_path, "ben", name=f"{CHAPTER}/{NOTEBOOK}")
    other = hand_in(tmp_path, "cleo", name="my homework.IPYNB")
    hand_in(tmp_path, "dora", name="draft.ipynb")
    named = hand_in(tmp_path, "dora")
    (tmp_path / ".git").mkdir()
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "read me.txt").write_text("not a folder")
    assert found(tmp_path) == {"anna": flat, "ben": inner, "cleo": other, "dora": named}


def test_a_notebook_with_the_older_name_counts_if_there_is_no_other(tmp_path):
    before = hand_in(tmp_path, "anna", name=f"{CHAPTER}.ipynb")
    inner = hand_in(tmp_path, "ben", name=f"{CHAPTER}/{CHAPTER}.ipynb")
    hand_in(tmp_path, "ben", name="draft.ipynb")
    hand_in(tmp_path, "cleo", name=f"{CHAPTER}.ipynb")  # the chapter, perhaps
    now = hand_in(tmp_path, "cleo")
    flat = tmp_path / f"dora_12_3456_{CHAPTER}.ipynb"
    shutil.copy(before, flat)
    assert found(tmp_path) == {"anna": before, "ben": inner, "cleo": now, "dora_12": flat}
    (beside,) = left_out(tmp_path, CHAPTER)
    assert beside.startswith(f"cleo/{CHAPTER}.ipynb: {NOTEBOOK} is graded instead;")


def test_every_faulty_folder_has_a_row_with_a_reason(tmp_path):
    hand_in(tmp_path, "anna")
    (tmp_path / "empty").mkdir()
    hand_in(tmp_path, "deep", name=f"work/exercises/{CHAPTER}/{NOTEBOOK}")
    hand_in(tmp_path, "deep", name="all.zip")
    hand_in(tmp_path, "zipped", name="my work/Homework.ZIP")
    for name in ("two/a.ipynb", "two/b.ipynb", f"both/{NOTEBOOK}", f"both/{CHAPTER}/{NOTEBOOK}"):
        hand_in(tmp_path, "", name=name)
    (tmp_path / "linked").symlink_to(tmp_path / "anna")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / CHAPTER).symlink_to(tmp_path / "anna")
    (tmp_path / "folder" / NOTEBOOK).mkdir(parents=True)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / NOTEBOOK)
    reasons = found(tmp_path)
    assert reasons.pop("anna") == tmp_path / "anna" / NOTEBOOK
    assert reasons == {
        "both": "there are two notebooks, 04_closures_exercises.ipynb and "
        "04_closures/04_closures_exercises.ipynb; hand in one of them.",
        "dangling": "the folder dangling is a link; hand in the folder itself.",
        "deep": "there is no notebook: 04_closures_exercises.ipynb is in a subfolder; "
        "hand in the file alone.",
        "empty": f"there is no notebook: nothing was handed in; hand in {NOTEBOOK}.",
        "folder": f"{NOTEBOOK} is not a file.",
        "inner": f"the folder {CHAPTER} is a link; hand in the folder itself.",
        "linked": "the folder linked is a link; hand in the folder itself.",
        "pipe": f"{NOTEBOOK} is not a file.",
        "two": f"there are 2 notebooks, but none is called {NOTEBOOK}: a.ipynb, b.ipynb.",
        "zipped": "there is no notebook: Homework.ZIP was handed in, and is not opened; "
        f"hand in {NOTEBOOK} itself.",
    }


@pytest.mark.parametrize("place", ["{}/{}", "{}_12_3456_{}", "{}_{}"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        (f"{CHAPTER}.ipynb.txt", f"has another ending; rename it to {NOTEBOOK}, and hand that in"),
        (f"{CHAPTER}.json", f"has another ending; rename it to {NOTEBOOK}, and hand that in"),
        *[(f"{CHAPTER}.{kind}", f"is not a notebook; hand in {NOTEBOOK}") for kind in ("py", "html", "PNG")],
        (f"{CHAPTER}.zip", f"was handed in, and is not opened; hand in {NOTEBOOK} itself"),
    ],
)
def test_a_file_of_another_kind_has_a_row_that_names_it(tmp_path, place, name, why):
    path = hand_in(tmp_path, "", b"", place.format("anna", name))
    student = "anna_12" if "3456" in place else "anna"
    assert found(tmp_path) == {student: f"there is no notebook: {path.name} {why}."}
    assert left_out(tmp_path, CHAPTER) == []


BLACKBOARD = "Week 4_{}_attempt_2026-10-{}-23-59-01{}"
MOODLE = "Zoë K_12_assignsubmission_{}"


@pytest.mark.parametrize(
    ("students", "beside"),
    [  # for each student what is taken, and what came beside it
        ({MOODLE.format("file_"): MOODLE.format("file_/a.ipynb")}, [MOODLE.format("onlinetext_/text.html")]),
        ({"Week 4_al": BLACKBOARD.format("al", 12, f"_{NOTEBOOK}")}, [BLACKBOARD.format("al", 12, ".txt")]),
        (
            {"Week 4_al": BLACKBOARD.format("al", 12, "_homework.ipynb")},
            [BLACKBOARD.format("al", 12, ".txt")],
        ),
        (
            {
                "1-2 - Al-Bo": "1-2 - Al-Bo - Oct 12, 2026 1159 PM/a.ipynb",
                "1-3 - Di": "1-3 - Di - 12 octobre 2026 1159/a.ipynb",
            },
            [],
        ),
        ({"al_12": "al_12_3456_homework.ipynb"}, []),
        ({"s_2024_101": f"s_2024_101_{NOTEBOOK}"}, []),
        ({f"s_2024_{number}": f"s_2024_{number}_{NOTEBOOK}" for number in (1001, 1002)}, []),
        ({"al": f"Copy of al_{NOTEBOOK}"}, []),
        ({"al": "Copy of al/a.ipynb", "bo": "bo - Copy (2)/a.ipynb"}, []),
        ({"al": "al.ipynb", "Bo K": "Bo K-Copy1.ipynb"}, []),
        ({"al": f"al_{CHAPTER}_final.ipynb"}, []),
        ({"Zo\u00eb": "Zoe\u0308/a.ipynb"}, []),
    ],
)
def test_one_student_is_one_row_under_the_names_of_each_platform(tmp_path, students, beside):
    for name in [*students.values(), *beside]:
        hand_in(tmp_path, "", b"", name)
    assert found(tmp_path) == {student: tmp_path / name for student, name in students.items()}
    assert left_out(tmp_path, CHAPTER) == []


@pytest.mark.parametrize(
    ("student", "names"),
    [
        ("Week 4_al", [BLACKBOARD.format("al", day, "_a.ipynb") for day in (12, 14)]),
        ("1-2 - Al", ["1-2 - Al - Oct 12, 2026 1159 PM", "1-2 - Al - Oct 13, 2026 901 AM"]),
        ("Zo\u00eb", ["Zoe\u0308", "Zo\u00eb"]),
        ("al", ["Copy of al", "al"]),
    ],
)
def test_two_hand_ins_of_one_student_are_one_row_that_names_both(tmp_path, student, names):
    for name in names:
        hand_in(tmp_path, "", b"", name if name.endswith("ipynb") else f"{name}/a.ipynb")
    assert found(tmp_path) == {
        student: f"{' and '.join(names)} belong to the same student; keep only one of them."
    }
    assert left_out(tmp_path, CHAPTER) == []


def test_a_text_typed_into_the_platform_is_no_notebook(tmp_path):
    hand_in(tmp_path, MOODLE.format("onlinetext_"), b"", "onlinetext.html")
    why = f"there is no notebook: onlinetext.html is not a notebook; hand in {NOTEBOOK}."
    assert found(tmp_path) == {MOODLE.format("file_"): why}
    assert left_out(tmp_path, CHAPTER) == []


def test_what_is_not_taken_is_listed(tmp_path):
    names = [f"Copy of {NOTEBOOK}", f"al_{CHAPTER}_old.ipynb", f"al_{CHAPTER}.html", f"marks_{CHAPTER}.csv"]
    for name in [f"al_{NOTEBOOK}", *names]:
        (tmp_path / name).write_bytes(b"")
    assert found(tmp_path) == {"al": tmp_path / f"al_{NOTEBOOK}"}
    copy, html, old, marks = left_out(tmp_path, CHAPTER)
    assert copy.startswith(f"Copy of {NOTEBOOK}: it is not in a student's folder")
    assert marks == f"marks_{CHAPTER}.csv: a file beside the folders"
    assert [html, old] == [
        f"al_{CHAPTER}{end}: al_{NOTEBOOK} is taken instead" for end in (".html", "_old.ipynb")
    ]


def test_a_folder_that_cannot_be_opened_is_a_fault_and_not_the_students(tmp_path, monkeypatch):
    hand_in(tmp_path, "anna")
    hand_in(tmp_path, "ben", name="other.ipynb")
    real = Path.iterdir

    def iterdir(path):
        if path.name == "ben":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    (_, anna), (_, ben) = handed_in(tmp_path, CHAPTER)
    assert isinstance(anna, Path) and isinstance(ben, GradingFault)
    assert str(ben) == "not graded, because the folder cannot be read: Permission denied."


def test_a_name_that_is_not_utf_8_can_be_stored(tmp_path):
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")
    assert list(found(tmp_path)) == ["caf\\xe9"]


def test_one_bad_submission_does_not_stop_the_others(queue):
    hand_in(queue.source, "anna", right=["scale"])
    (queue.source / "ben").mkdir()
    hand_in(queue.source, "cleo")
    (queue.source / "dora").mkdir()
    (queue.source / "dora" / NOTEBOOK).symlink_to(queue.source / "anna" / NOTEBOOK)
    hand_in(queue.source, "emil")

    def read(path):
        if path.parent.name == "cleo":
            raise GradingFault("not graded, because the file cannot be read: Permission denied.")
        return read_file(path)

    assert queue.take_in(queue.source, read) == (5, [])
    run(queue)
    results = queue.results("v1")
    assert [results[name].points for name in results] == [2, 0, None, 0, 0]
    assert results["ben"].refused.startswith("there is no notebook: nothing was handed in;")
    assert "link" in results["dora"].refused
    assert "Permission denied" in results["cleo"].fault
    assert {part.sentence for part in results["ben"].exercises} == {results["ben"].refused}
    assert {part.status for part in results["cleo"].exercises} == {"not graded"}
    queue.take_in(queue.source, read_file)  # it can be read now
    assert list(run(queue)) == ["cleo"]
    assert queue.results("v1")["cleo"].fault is None


# The file


def test_grading_again_is_a_no_op(queue):
    given(queue, anna=RIGHT, ben=RIGHT)
    assert set(run(queue)) == {"anna", "ben"}
    before = stored(queue.folder)
    queue.take_in(queue.source, read_file)
    assert run(queue) == {}
    assert stored(queue.folder) == before


def test_a_new_hand_in_is_graded_and_the_old_result_is_kept(queue):
    given(queue, anna={})
    run(queue)
    (old,) = stored(queue.folder)
    given(queue, anna=RIGHT)
    assert queue.results("v1") == {"anna": None}
    assert run(queue)["anna"].points == 2
    assert old in stored(queue.folder) and len(stored(queue.folder)) == 2


def test_a_file_that_was_handed_in_before_does_not_replace_the_latest_one(queue, tmp_path):
    def latest():
        return queue.results("v1")["anna"]

    given(queue, anna=RIGHT)
    run(queue)
    given(queue, anna={"right": ["Linear"]})
    run(queue)
    hand_in(tmp_path / "old", "anna", **RIGHT)
    count, (problem,) = queue.take_in(tmp_path / "old", read_file)
    assert (count, run(queue), latest().points) == (1, {}, 4)
    assert problem.startswith("anna: this file was handed in before, and another one after it: that one")
    (queue.source / "anna" / NOTEBOOK).unlink()
    queue.take_in(queue.source, read_file)
    assert run(queue)["anna"].refused
    assert queue.take_in(tmp_path / "old", read_file) == (1, [])  # what can be read counts again
    assert latest().points == 2
    count, (problem,) = queue.take_in(queue.source, read_file)  # and what cannot does not come back
    assert (count, run(queue), latest().points) == (1, {}, 2) and "that one counts" in problem


def test_a_name_without_the_platform_s_number_is_no_other_student(queue):
    numbered = "Fatima Khan_2203405_assignsubmission_file_"
    given(queue, **{numbered: {}, "Ben Ode": {}})
    hand_in(queue.source, "Fatima Khan", **RIGHT)
    count, (problem,) = queue.take_in(queue.source, read_file)
    assert problem.startswith(f"Fatima Khan: is this {numbered}? Then give its folder that name; ")
    assert count == 3 and list(queue.results("v1")) == ["Ben Ode", numbered]


def test_a_mailed_hand_in_taken_in_first_becomes_that_of_the_name_with_a_number(queue):
    numbered = "Fatima Khan_2203405_assignsubmission_file_"
    given(queue, **{"Fatima Khan": RIGHT})
    run(queue)
    shutil.rmtree(queue.source / "Fatima Khan")
    hand_in(queue.source, numbered)
    _, (problem,) = queue.take_in(queue.source, read_file)
    assert problem.startswith(f"Fatima Khan: is this {numbered}?")
    assert list(queue.results("v1")) == ["Fatima Khan", numbered]
    hand_in(queue.source, numbered, **RIGHT)  # the teacher gives the mailed file's folder that name
    assert queue.take_in(queue.source, read_file) == (1, [])
    run(queue)
    assert {student: result.points for student, result in queue.results("v1").items()} == {numbered: 2}


def test_a_student_whose_folder_is_gone_keeps_the_mark(queue, tmp_path):
    given(queue, anna=RIGHT)
    run(queue)
    hand_in(tmp_path / "late", "ben")
    queue.take_in(tmp_path / "late", read_file)
    run(queue)
    assert [(s, result.points) for s, result in queue.results("v1").items()] == [("anna", 2), ("ben", 0)]


def test_a_final_result_is_never_replaced_and_a_fault_is(queue):
    given(queue, anna=RIGHT)
    ((student, digest),) = queue.open("v1")
    data = queue.submission(digest)[0]
    queue.store(student, digest, "v1", unchecked(CHAPTER, digest, fault="not graded, because of us."))
    assert queue.open("v1") == [(student, digest)]
    good = stand_ins.grade(data, CHAPTER, 1)
    queue.store(student, digest, "v1", good)
    assert queue.results("v1") == {"anna": good} and queue.open("v1") == []
    for other in (stand_ins.result(data, CHAPTER, 2), unchecked(CHAPTER, digest, fault="not graded.")):
        queue.store(student, digest, "v1", other)
        assert queue.results("v1") == {"anna": good}


def test_a_folder_belongs_to_one_chapter(queue):
    with pytest.raises(
        GradingFault, match="has the marks of 04_closures; give 05_layers a folder of its own"
    ):
        Queue(queue.folder, "05_layers")
    with Queue(queue.folder) as again:
        assert again.chapter == CHAPTER


def test_a_file_that_is_not_a_queue_is_a_fault(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database, not at all" * 100)
    with pytest.raises(GradingFault, match="cannot be stored in .*: file is not a database"):
        Queue(tmp_path, CHAPTER)


def test_a_result_that_is_damaged_on_the_disk_is_a_fault(queue):
    given(queue, anna=RIGHT)
    run(queue)
    queue.file.execute("UPDATE results SET result = replace(result, '\"points\": 2', '\"points\": 14')")
    with pytest.raises(GradingFault, match=r"queue\.sqlite is damaged: this is not a result"):
        queue.results("v1")


def test_each_result_is_on_the_disk_before_the_next_submission(queue):
    assert queue.file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert queue.file.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


# The version and the seed


def test_the_version_depends_on_the_chapters_checks_the_grader_and_the_level(tmp_path, monkeypatch):
    one = version(CHAPTER)
    assert version(CHAPTER) == one and re.fullmatch("[0-9a-f]{64}", one)
    others = version("02_chain_rule"), version(CHAPTER, unsafe=True), version(CHAPTER, seconds=3)
    assert len({one, *others}) == 4


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("course/checks/ch04_closures.py", True),
        ("course/checks/ch90_other.py", False),
        ("course/checks/questions.py", True),
        ("classroom/remote.py", True),
        ("classroom/feedback_pages.py", False),
        ("course/figures/widgets.py", False),
        ("course/term.txt", True),
        ("minigrad/layers/linear.py", True),
        ("tests/classroom/test_queue.py", False),
    ],
)
def test_a_change_counts_if_it_could_change_a_mark(tmp_path, monkeypatch, name, counts):
    monkeypatch.setattr("course.store.__file__", str(tmp_path / "course" / "store.py"))
    checks = tmp_path / "course" / "checks" / f"ch{CHAPTER}.py"
    checks.parent.mkdir(parents=True)
    checks.write_text("from course.checks import questions\n")
    one = version(CHAPTER)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("x = 1\n")
    two = version(CHAPTER)
    assert (one != two) == counts
    (tmp_path / name).write_text("x = 2\n")
    assert (two != version(CHAPTER)) == counts


def test_the_secret_is_made_once_and_for_the_teachers_eyes_only(tmp_path):
    one = secret(tmp_path)
    assert len(one) == 64 and secret(tmp_path) == one
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("short\n")
    with pytest.raises(GradingFault, match="is damaged"):
        secret(tmp_path)


def test_a_seed_depends_on_the_secret_and_the_submission():
    seeds = {seed(key, digest) for key in (b"one", b"two") for digest in ("a", "b")}
    assert len(seeds) == 4 and seed(b"one", "a") in seeds
    assert all(0 <= number < 2**64 for number in seeds)


def test_the_seed_reaches_the_grader(queue):
    given(queue, anna={})
    ((_, digest),) = queue.open("v1")
    assert run(queue)["anna"].notes == (f"drawn from {seed(KEY, digest)}",)


# The processes that grade


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"do": "die"}, "its grading process ended (exit code 7)"),
        ({"do": "raise"}, "the grader raised ValueError: a fault of the grader"),
        ({"do": "fault"}, "the sandbox does not start"),
        ({"do": "rubbish", "rubbish": {"points": 14}}, "this is not a result"),
        ({"do": "rubbish", "rubbish": None}, "this is not a result"),
        ({"do": "object"}, "the grader raised AttributeError"),
        ({"do": "use up memory"}, "the grader raised MemoryError"),
    ],
)
def test_a_faulty_grader_affects_one_submission_and_gives_no_mark(queue, told, words):
    given(queue, anna=RIGHT, ben=told, cleo=RIGHT)
    results = run(queue, workers=1)
    assert [results[name].points for name in ("anna", "ben", "cleo")] == [2, None, 2]
    assert words in results["ben"].fault and results["ben"].fault.startswith("not graded, because ")
    assert {part.points for part in results["ben"].exercises} == {None}
    assert [student for student, _ in queue.open("v1")] == ["ben"]


@pytest.mark.parametrize("seconds", [0.1, 10, 60])
def test_a_slow_submission_has_all_the_time_that_its_limits_allow_on_a_busy_machine(seconds):
    assert crew.longest(seconds) > STRETCH * ALL * (SECONDS + seconds)  # the solutions before the first one


def test_a_grader_that_hangs_is_ended(queue, monkeypatch):
    monkeypatch.setattr(crew, "longest", lambda seconds: 8)
    given(queue, anna=RIGHT, ben={"do": "hang"}, cleo=RIGHT)
    results = run(queue)
    assert [results[name].points for name in ("anna", "ben", "cleo")] == [2, None, 2]
    assert results["ben"].fault == "not graded, because its grading process took too long."


def test_processes_that_do_not_start_stop_the_run_and_give_no_mark(queue, monkeypatch):
    given(queue, anna={})
    monkeypatch.setattr(crew, "_serve", os._exit)
    with pytest.raises(GradingFault, match="before it began"):
        run(queue)
    assert stored(queue.folder) == []


def test_idle_processes_clean_up_before_they_exit(queue, tmp_path):
    given(queue, anna={"do": "leave a trace", "trace": str(tmp_path / "trace")})
    run(queue)
    assert (tmp_path / "trace").read_text() == "tidied up"


def test_a_process_that_ends_while_it_waits_is_noticed():
    for task in (None, ("anna", "0" * 64)):
        worker = crew._Worker(stand_ins.grade, 60)
        assert worker.pipe.poll(60) and worker.answer(CHAPTER) is None and worker.ready
        worker.process.kill()
        worker.process.join()
        if task:
            worker.give(task, (b"{}", CHAPTER, 1, False, 10.0), 60)
        assert worker.pipe.poll(60)
        result = worker.answer(CHAPTER)
        worker.end()
        assert worker.gone
        fault = "not graded, because its grading process ended (exit code -9)."
        assert (result and result.fault) == (task and fault)


def test_a_finished_run_starts_no_process(queue, monkeypatch):
    monkeypatch.setattr(crew, "_Worker", None)
    (queue.source / "empty").mkdir()
    queue.take_in(queue.source, read_file)
    assert list(run(queue)) == ["empty"] and run(queue) == {}


# Ended at any moment

DRIVER = """
import sys
from pathlib import Path
from classroom.crew import Grader, grade_all
from classroom.queue import Queue
from classroom.submission import read_file
from tests.classroom import stand_ins

if __name__ == "__main__":
    source, out = map(Path, sys.argv[1:])
    with Queue(out, stand_ins.CHAPTER) as queue:
        queue.take_in(source, read_file)
        for student, result in grade_all(queue, Grader(stand_ins.grade, "v1", b"secret"), workers=2):
            print(student, flush=True)
"""


def driver(tmp_path, **options):
    """Start the whole run in a process group of its own."""
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    return subprocess.Popen(
        [sys.executable, script, tmp_path / "in", tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def in_session(session):
    """Return the running processes of a session."""
    listed = subprocess.run(["ps", "-o", "pid=,stat=", "-s", str(session)], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if " Z" not in line]


def test_killed_five_times_every_submission_has_its_one_result(tmp_path):
    for number in range(STUDENTS):
        hand_in(tmp_path / "in", f"s{number:04}", right=["scale"][: number % 2], seconds=0.01)
    before, reached = {}, []
    for kill in range(KILLS):
        process = driver(tmp_path)
        wanted = max(1, STUDENTS // (KILLS + 1) - (kill == 2))
        for _ in range(wanted):
            assert process.stdout.readline(), process.stderr.read()
        if kill % 2:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # the parent alone: its workers must go by themselves
        process.communicate()
        until = time.monotonic() + 60
        while in_session(process.pid):
            assert time.monotonic() < until, in_session(process.pid)
            time.sleep(0.05)
        now = {row[0]: row for row in stored(tmp_path / "out")}
        assert before.items() <= now.items()
        before = now
        reached.append(len(now))
    assert reached == sorted(set(reached)) and reached[-1] < STUDENTS
    process = driver(tmp_path)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    after = stored(tmp_path / "out")
    assert [row[0] for row in after] == [f"s{number:04}" for number in range(STUDENTS)]
    assert before.items() <= {row[0]: row for row in after}.items()
    assert [json.loads(row[3])["points"] for row in after] == [2 * (n % 2) for n in range(STUDENTS)]


# A full disk


def test_a_full_file_keeps_what_was_stored_and_goes_on_when_there_is_room(queue):
    given(queue, **{f"s{number:02}": {"notes": ["x" * 20_000]} for number in range(30)})
    (pages,) = queue.file.execute("PRAGMA page_count").fetchone()
    queue.file.execute(f"PRAGMA max_page_count = {pages + 50}")
    with pytest.raises(GradingFault, match="the marks cannot be stored in .*: database or disk is full"):
        run(queue)
    before = stored(queue.folder)
    assert 0 < len(before) < 30
    assert queue.file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    queue.file.execute("PRAGMA max_page_count = 1000000")
    run(queue)
    after = stored(queue.folder)
    assert len(after) == 30 and set(before) <= set(after)


def test_a_disk_that_is_full_while_submissions_are_taken_in_loses_none(queue):
    for number in range(20):
        hand_in(queue.source, f"s{number:02}", notes=["x" * 20_000, str(number)])
    (pages,) = queue.file.execute("PRAGMA page_count").fetchone()
    queue.file.execute(f"PRAGMA max_page_count = {pages + 50}")
    with pytest.raises(GradingFault, match="full"):
        queue.take_in(queue.source, read_file)
    known = queue.file.execute("SELECT digest FROM students").fetchall()
    assert 0 < len(known) < 20
    assert all(queue.submission(digest)[0] for (digest,) in known)
    queue.file.execute("PRAGMA max_page_count = 1000000")
    assert queue.take_in(queue.source, read_file) == (20, [])
    assert len(run(queue)) == 20


def test_a_file_that_may_not_grow_leaves_nothing_half_written(tmp_path):
    for number in range(30):
        hand_in(tmp_path / "in", f"s{number:02}", notes=["x" * 20_000])

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    process = driver(tmp_path, preexec_fn=small)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "GradingFault: the marks cannot be stored" in errors
    before = stored(tmp_path / "out")
    assert 0 < len(before) < 30 and {row[0] for row in before} >= set(printed.split())
    assert all(json.loads(row[3])["points"] == 0 for row in before)
    process = driver(tmp_path)
    assert process.communicate(timeout=120)[1] == ""
    after = stored(tmp_path / "out")
    assert len(after) == 30 and set(before) <= set(after)
