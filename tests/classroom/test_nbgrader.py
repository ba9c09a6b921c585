"""nbgrader: our marks in its gradebook, marks back from its formgrader, and its exchange."""

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from classroom import __main__ as command
from classroom import gradebook
from classroom.crew import take_unread
from classroom.faults import GradingFault
from classroom.queue import Queue
from classroom.submission import read_file
from course.curriculum import exercises_name, exercises_path
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER

ROOT = Path(__file__).parents[2]
SOLVED = ROOT / "solutions" / exercises_path(CHAPTER)
NOTEBOOK = exercises_name(CHAPTER)
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "minigrad"
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
c.ClearSolutions.text_stub = "*Your answer:*"
c.Exchange.root = {exchange!r}
"""
HARMLESS = """
c.Execute.enabled = False
c.SaveAutoGrades.enabled = False
"""
BY_HAND, FAILED = f"{CHAPTER}.light_tanh", f"{CHAPTER}.scale"
TO_START = 300  # seconds for a server, on a machine that is busy with other things


def nbgrader(folder, *words):
    """Run one of nbgrader's commands in a folder."""
    run([sys.executable, "-m", "nbgrader", *words], folder)


def run(words, folder):
    done = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def environment(folder):
    """Return an environment whose home is the folder's; nbgrader calls alembic by its name."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ours = {"PATH": path, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), "JUPYTER_NO_CONFIG": "1"}
    return os.environ | ours


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An nbgrader course whose source is our solution, with its assignment generated."""
    return make_course(tmp_path_factory.mktemp("course"))


def make_course(folder, notebook=NOTEBOOK):
    """Make a course whose source is our solution, under any name, and generate its assignment."""
    exchange = folder / "exchange"
    exchange.mkdir(parents=True)
    exchange.chmod(0o777)
    source = folder / "source" / CHAPTER / f"{notebook}.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(SOLVED, source)
    (folder / "nbgrader_config.py").write_text(CONFIG.format(exchange=str(exchange)))
    nbgrader(folder, "generate_assignment", CHAPTER)
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A course of this test's own."""
    return Path(shutil.copytree(made, tmp_path / "course"))


def hand_in(folder, student, answers=(), inner=""):
    """Put a notebook into a student's folder: the solution, with other answers for some exercises."""
    notebook = nbformat.read(SOLVED, as_version=4)
    for cell in notebook.cells:
        short = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = dict(answers).get(short, cell.source)
    path = folder / student / inner / f"{NOTEBOOK}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def stand_in(data, chapter, seed):
    """Fail stubs, leave one exercise to be marked by hand, pass the rest."""
    cells = nbformat.reads(data.decode(), as_version=4).cells
    stubs = [c.metadata["nbgrader"]["grade_id"] for c in cells if c.source.endswith("NotImplementedError")]
    shorts = {e.short for e in stand_ins.exercises_of(chapter)} - {"light_tanh", *stubs}
    return stand_ins.result(data, chapter, seed, right=shorts, by_hand=["light_tanh"])


@pytest.fixture
def marks(tmp_path):
    """Three students: Anna has all right, Ben has not written `scale`, Cleo has handed in nothing."""
    hand_in(tmp_path / "in", "anna")
    hand_in(tmp_path / "in", "ben", {"scale": "def scale(gain, dgain):\n    raise NotImplementedError"})
    (tmp_path / "in" / "cleo").mkdir()
    regrade(tmp_path)
    return tmp_path / "marks"


def regrade(tmp_path):
    with Queue(tmp_path / "marks", CHAPTER) as queue:
        queue.accept("v1")
        queue.take_in(tmp_path / "in", read_file)
        for student, digest in take_unread(queue, "v1")[0]:
            queue.store(student, digest, "v1", stand_in(queue.submission(digest)[0], CHAPTER, 1))


def book(place):
    """Return what stands in the gradebook: student and cell, to points and whether a person is asked."""
    with Gradebook(f"sqlite:///{place}/gradebook.db", "minigrad") as gradebook:
        return {
            (submission.student.id, g.name): (g.auto_score, g.manual_score, g.needs_manual_grade)
            for submission in gradebook.assignment_submissions(CHAPTER)
            for g in submission.notebooks[0].grades
        }


def comment(place, student, short):
    with Gradebook(f"sqlite:///{place}/gradebook.db", "minigrad") as gradebook:
        return gradebook.find_comment(short, NOTEBOOK, CHAPTER, student).auto_comment


def mark_by_hand(place, student, cell, points, words=None):
    """Write what the formgrader writes when a person gives points."""
    with Gradebook(f"sqlite:///{place}/gradebook.db", "minigrad") as gradebook:
        grade = gradebook.find_grade(cell, NOTEBOOK, CHAPTER, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        short = cell.removeprefix("check_")
        gradebook.find_comment(short, NOTEBOOK, CHAPTER, student).manual_comment = words
        gradebook.db.commit()


def give(marks, place, *back):
    return command.main(["gradebook", str(marks), "--course-dir", str(place), *back])


def take(marks, place):
    return give(marks, place, "--back")


def points(marks):
    lines = csv.DictReader((marks / "grades.csv").read_text("utf-8-sig").splitlines())
    return {line["student"]: (line["points"], line[BY_HAND], line[FAILED]) for line in lines}


def autograded(place, student, notebook=NOTEBOOK):
    return place / "autograded" / student / CHAPTER / f"{notebook}.ipynb"


def test_a_course_set_up_when_the_exercises_had_their_chapters_name_goes_on(marks, tmp_path):
    place = make_course(tmp_path / "course", CHAPTER)
    assert give(marks, place) == 2
    assert book(place)["anna", "check_scale"] == (2, None, False)
    assert book(place)["ben", "check_scale"] == (0, None, False)
    assert autograded(place, "anna", CHAPTER).exists() and not autograded(place, "anna").exists()


def test_marks_go_into_the_gradebook_and_back(marks, place, tmp_path, capsys):
    assert give(marks, place) == 2  # for Cleo, who gets no 0 there
    printed = capsys.readouterr().out
    assert f"Students with their marks in the gradebook of {place}: 2." in printed
    assert "cleo: could not be read: there is no notebook: nothing was handed in; hand in " in printed
    first = book(place)
    assert first["anna", "check_scale"] == (2, None, False)
    assert first["ben", "check_scale"] == (0, None, False)
    assert first["ben", "check_light_tanh"] == (None, None, True)
    assert {student for student, _ in first} == {"anna", "ben"}
    assert comment(place, "ben", "scale") == "dW is 5 times too small."
    assert comment(place, "ben", "light_tanh") is None

    # the formgrader's pages are there, nothing ran for them, and nothing that a learner stored is on them
    pages = {student: autograded(place, student) for student in ("anna", "ben")}
    cells = nbformat.read(pages["anna"], as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert not autograded(place, "cleo").exists()

    # again is a no-op
    before = {student: page.stat().st_mtime_ns for student, page in pages.items()}
    assert give(marks, place) == 2
    assert book(place) == first
    assert {student: page.stat().st_mtime_ns for student, page in pages.items()} == before

    # marks given by hand are never overwritten, and are read back
    mark_by_hand(place, "ben", "check_light_tanh", 1.5, "nearly: two arrays are kept")
    mark_by_hand(place, "ben", "check_scale", 0.5)
    assert give(marks, place) == 2
    assert book(place)["ben", "check_light_tanh"] == (None, 1.5, False)
    assert book(place)["ben", "check_scale"] == (0, 0.5, False)
    assert take(marks, place) == 0
    assert "Marks read from the gradebook: 2." in capsys.readouterr().out
    assert points(marks) == {"anna": ("12", "", "2"), "ben": ("12.0", "1.5", "0.5"), "cleo": ("", "", "")}
    assert "nearly: two arrays are kept" in (marks / "feedback" / "ben.html").read_text()

    # the teacher's own file counts first, and goes into the gradebook where no person has marked yet
    told = f"student,exercise,points,comment\nben,{BY_HAND},2,seen\nanna,{BY_HAND},1,short\n"
    (marks / "marks.csv").write_text(told)
    assert give(marks, place) == 2
    assert book(place)["ben", "check_light_tanh"] == (None, 1.5, False)
    assert book(place)["anna", "check_light_tanh"] == (None, 1, False)
    assert take(marks, place) == 0
    assert points(marks) == {"anna": ("13", "1", "2"), "ben": ("12.5", "2", "0.5"), "cleo": ("", "", "")}
    assert (marks / "marks.csv").read_text() == told

    # another notebook: refused until it is graded; then its marks are new, and a person looks again
    hand_in(tmp_path / "in", "ben")
    shutil.copy(tmp_path / "in" / "ben" / f"{NOTEBOOK}.ipynb", place / "submitted" / "ben" / CHAPTER)
    capsys.readouterr()
    assert give(marks, place) == 2
    assert "is not the notebook that was graded: grade again first." in capsys.readouterr().out
    regrade(tmp_path)
    assert give(marks, place) == 2
    assert book(place)["ben", "check_light_tanh"] == (None, 1.5, True)
    assert book(place)["ben", "check_scale"] == (2, 0.5, True)
    assert book(place)["anna", "check_light_tanh"] == (None, 1, False)


def test_a_notebook_that_nbgrader_cannot_show_has_its_marks_all_the_same(marks, place, tmp_path, capsys):
    path = tmp_path / "in" / "ben" / f"{NOTEBOOK}.ipynb"
    told = json.loads(path.read_text())
    for cell in told["cells"]:  # a check that stands there twice
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "scale":
            cell["metadata"]["nbgrader"]["schema_version"] = 99
    path.write_text(json.dumps(told))
    regrade(tmp_path)
    assert give(marks, place) == 2
    assert "ben: the marks are in the gradebook; the formgrader cannot show" in capsys.readouterr().out
    assert book(place)["ben", "check_Linear"] == (4, None, False)
    assert autograded(place, "anna").exists() and not autograded(place, "ben").exists()


def test_ungraded_submissions_are_not_in_the_gradebook(marks, place, tmp_path, capsys):
    with Queue(marks) as queue:
        queue.accept("v2")
    assert give(marks, place) == 2
    assert "anna: not graded yet" in capsys.readouterr().out and book(place) == {}


def test_an_unusable_course_is_reported(marks, tmp_path, capsys, monkeypatch):
    empty = tmp_path / "empty"
    assert give(marks, empty) == 1
    empty.mkdir()
    assert give(marks, empty) == 1
    errors = capsys.readouterr().err
    assert "there is no folder" in errors and f"run `nbgrader generate_assignment {CHAPTER}` there" in errors
    monkeypatch.setenv("PATH", environment(empty)["PATH"])
    with Gradebook(f"sqlite:///{empty}/gradebook.db", "") as other:
        other.add_assignment(CHAPTER)
        other.add_notebook(NOTEBOOK, CHAPTER)
        other.add_grade_cell("check_scale", NOTEBOOK, CHAPTER, max_score=3, cell_type="code")
    assert give(marks, empty) == 1
    assert "do not match the checks (check_Linear, check_light_tanh" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "nbgrader.api", None)
    with Queue(marks) as queue, pytest.raises(GradingFault, match="needs nbgrader, which is not installed"):
        gradebook.give(queue, empty)


# The whole workflow of a teacher and a learner


class Formgrader:
    """A Jupyter server with nbgrader's formgrader, and the requests that its page makes."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        words = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
        words += [f"--port={self.port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=word"]
        words += ["--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"]
        self.log = open(folder / "server.log", "w+")
        self.process = subprocess.Popen(
            words, cwd=folder, env=environment(folder), stdout=self.log, stderr=self.log
        )

    def __enter__(self):
        until = time.monotonic() + TO_START
        while True:
            try:
                self.ask("api/status")
                return self
            except OSError:
                assert self.process.poll() is None and time.monotonic() < until, self._said()
                time.sleep(0.3)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def _said(self):
        self.log.seek(0)
        return self.log.read()[-2000:]

    def ask(self, path, model=None):
        """Get something; or save a model, as the page does."""
        address = f"http://127.0.0.1:{self.port}/formgrader/{path}"
        data, method = (None, "GET") if model is None else (json.dumps(model).encode(), "PUT")
        asked = urllib.request.Request(address, data, {"Authorization": "token word"}, method=method)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.read().decode()


@pytest.mark.long
def test_the_exchange_our_grader_the_formgrader_and_back(place, tmp_path):
    learner = tmp_path / "learner"
    learner.mkdir()
    exchange = str(tmp_path / "course" / "exchange")
    for folder in (place, learner):
        (folder / "nbgrader_config.py").write_text(CONFIG.format(exchange=exchange) + HARMLESS)

    nbgrader(place, "release_assignment", CHAPTER)
    nbgrader(learner, "fetch_assignment", CHAPTER)
    fetched = nbformat.read(learner / CHAPTER / f"{NOTEBOOK}.ipynb", as_version=4)
    ours = nbformat.read(ROOT / "exercises" / CHAPTER / f"{NOTEBOOK}.ipynb", as_version=4)
    assert [cell.source for cell in fetched.cells] == [cell.source for cell in ours.cells]
    nbgrader(learner, "submit", CHAPTER, "--student=ben")
    hand_in(learner, CHAPTER)
    nbgrader(learner, "submit", CHAPTER, "--student=anna")
    nbgrader(place, "collect", CHAPTER)
    assert sorted(path.name for path in (place / "submitted").iterdir()) == ["anna", "ben"]

    ours = [sys.executable, "-m", "classroom"]
    run([*ours, "grade", "submitted", "--chapter", CHAPTER, "--out", "../marks"], place)
    run([*ours, "gradebook", "../marks", "--course-dir", "."], place)
    with Formgrader(place) as formgrader:
        listed = json.loads(formgrader.ask(f"api/submitted_notebooks/{CHAPTER}/{NOTEBOOK}"))
        found = {one["student"]: (one["score"], one["needs_manual_grade"]) for one in listed}
        assert found == {"anna": (12, True), "ben": (0, True)}
        (anna,) = (one["id"] for one in listed if one["student"] == "anna")
        page = formgrader.ask(f"submissions/{anna}/")
        grades, comments = (
            {one["name"]: one for one in json.loads(formgrader.ask(f"api/{kind}?submission_id={anna}"))}
            for kind in ("grades", "comments")
        )
        mark, words = grades["check_light_tanh"], comments["light_tanh"]
        assert "light_tanh" in page and mark["needs_manual_grade"]
        formgrader.ask(f"api/grade/{mark['id']}", mark | {"manual_score": "1.5"})  # a text, as from the page
        formgrader.ask(f"api/comment/{words['id']}", words | {"manual_comment": "keeps two"})
    run([*ours, "gradebook", "../marks", "--course-dir", "."], place)
    said = run([*ours, "gradebook", "../marks", "--course-dir", ".", "--back"], place)
    assert "Marks read from the gradebook: 1." in said
    assert points(tmp_path / "marks") == {"anna": ("13.5", "1.5", "2"), "ben": ("0", "", "0")}
    assert "keeps two" in (tmp_path / "marks" / "feedback" / "anna.html").read_text()
    nbgrader(place, "generate_feedback", CHAPTER)
    told = (place / "feedback" / "anna" / CHAPTER / f"{NOTEBOOK}.html").read_text()
    assert "keeps two" in told and "1.5" in told
