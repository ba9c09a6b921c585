import json
import os
import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import FunctionType

import nbformat
import pytest

from classroom.bundle import BundleError, make_student, make_teacher
from classroom.bundle.__main__ import main
from classroom.bundle.leaks import leaks
from course.checks import CheckFailed, exercises
from course.guesses import questions

ROOT = Path(__file__).parents[2]

# The answer has no gradient to check by nudging, so the check computes it in another way and compares.
TRUTHS = {
    "03_gradcheck.name_the_bugs": "truly",
    "09_optimizers.smoothed": "_corrected",
    "11_graphs.three_walks": "_arrived",
    "11_graphs.count_calls": "_calls",
    "15_time.in_pieces": "in_pieces_with",
    "16_attention.causal_weights": "_softmax_so_far",
    "17_gpt.nucleus": "true_nucleus",
    "17_gpt.write_on": "true_text",
    "18_acting.returns": "discounted_sums",
    "19_memory.deepest": "_deepest",
}
# Of what the mistakes change one part each.
CHANGED = {
    "13_sharing.Transposed": "Decoder",
    "14_seeing.AveragePool2d": "Pool",
    "16_attention.Distances": "Distances",
    "16_attention.Ask": "Ask",
    "17_gpt.ByTable": "Tied",
    "18_acting.Ring": "List",
    "19_memory.forgetting": "chain_of_blocks",
    "21_gpu.drop_columns": "dropping",
    "23_serving.Gate": "Gate",
}

ASK = """
import warnings
from course.checks import CheckFailed, exercises
warnings.simplefilter("ignore")
for exercise in exercises():
    if exercise.stem in {stems}:
        for words, answer in exercise.mistakes:
            try:
                exercise.judge(answer)
            except CheckFailed as no:
                assert words in str(no), (exercise, words, str(no))
            else:
                raise AssertionError((exercise, words))
        print(exercise.name, len(exercise.mistakes))
"""


def opened(path, folder):
    """Unpack a bundle, and return its folder."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder / path.stem


def run(folder, *arguments, **more):
    """Run Python in a folder, with nothing on its path but that folder and what is installed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"MINIGRAD_WORK": ""} | more
    start = f"import sys; sys.path.insert(0, {str(folder)!r}); "
    arguments = ("-c", start + arguments[1]) if arguments[0] == "-c" else arguments
    words = [sys.executable, "-W", "ignore", *arguments]
    said = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stderr[-2000:]
    return said.stdout


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """A student's bundle, opened."""
    folder = tmp_path_factory.mktemp("student")
    return opened(make_student(folder, "2027-spring"), folder)


def test_no_file_of_a_students_bundle_holds_an_answer(student):
    places = {path.relative_to(student).as_posix() for path in student.rglob("*") if path.is_file()}
    assert not [p for p in places if p.startswith(("solutions", "tests", "classroom", "classroom/bundle"))]
    files = {place: (student / place).read_bytes() for place in places}
    assert not [place for place, data in files.items() if place.endswith("ipynb") and b"SOLUTION" in data]
    assert leaks(files, ROOT) == []


def test_every_chapter_and_exercise_is_in_a_students_bundle_without_outputs(student):
    for kind in ("notebooks/*.ipynb", "exercises/*/*.ipynb"):
        names = {path.name for path in ROOT.glob(kind)}
        assert {path.name for path in student.glob(kind)} == names
        for path in student.glob(kind):
            cells = nbformat.read(path, 4).cells
            assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


def test_a_students_bundle_can_ask_for_the_guesses(student):
    ask = "from course import guesses; print(guesses.ask('04_closures')._repr_mimebundle_()['text/html'])"
    assert "inLab" in (page := run(student, "-c", ask)) and '"id": "c3ea0cf3-1"' in page
    work = {"MINIGRAD_WORK": str(student / "work")}
    run(student, "-c", "from authoring.work import copy_to_work; copy_to_work()", **work)
    copied = json.loads((student / "work" / "notebooks" / "04_closures.ipynb").read_text("utf-8"))
    ours = json.loads((ROOT / "notebooks/04_closures.ipynb").read_text("utf-8"))
    assert questions(copied) == questions(ours)


def test_each_answer_is_found_in_any_file():
    files, tiny = {}, set()
    for path in ROOT.glob("solutions/*/*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            if "BEGIN SOLUTION" in cell.source and cell.cell_type == "code":
                name = f"{path.parent.name}.{cell.metadata.nbgrader.grade_id}"
                reworded = re.sub(r" *### (BEGIN|END) SOLUTION| {2}#.*", "", cell.source)
                files[f"course/{name}.py"] = f"# elsewhere\n\n{reworded}".encode()
                # one line, below its comment, may be common
                if re.search(r"BEGIN SOLUTION\s*\n(?: *#.*\n)*.*\n.*END SOLUTION", cell.source):
                    tiny.add(name)
    found = {re.sub(r".* answers ", "", sentence) for sentence in leaks(files, ROOT)}
    assert len(files) > 140 and {place[7:-3] for place in files} - found <= tiny


@pytest.mark.parametrize("exercise", [e for e in exercises() if not e.by_hand], ids=str)
def test_a_check_holds_no_answer_but_what_it_must(exercise):
    """A mistake is one step from an answer; a whole answer may be in a file only with a reason in a table."""
    file, passing = sys.modules[f"course.checks.ch{exercise.stem}"], set()
    for name, thing in list(vars(file).items()):
        if isinstance(thing, type | FunctionType) and thing.__module__ == file.__name__ and name != "_":
            with suppress(CheckFailed), redirect_stdout(StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exercise.judge(thing)
                passing.add(name)
    assert passing == {TRUTHS.get(exercise.name), CHANGED.get(exercise.name)} - {None}


def test_outputs_solutions_and_teachers_files_are_found():
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text="1")])
    notebook = nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()
    said = leaks({"notebooks/x.ipynb": notebook}, ROOT)
    assert said == ["notebooks/x.ipynb has outputs"]
    assert leaks({"solutions/x.txt": b""}, ROOT) == ["solutions/x.txt is for teachers"]


def test_a_bundle_with_an_answer_in_it_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.bundle.leaks", lambda files, project: ["a.py answers 04_closures.Linear"])
    with pytest.raises(BundleError, match="no bundle was written, because it would contain answers: a.py"):
        make_student(tmp_path)
    assert not list(tmp_path.iterdir())


def test_mistakes_are_named_in_a_bundle_as_they_are_here(student):
    said = run(student, "-c", ASK.format(stems=("04_closures", "05_chains")))
    counts = {e.name: len(e.mistakes) for e in exercises() if e.stem in ("04_closures", "05_chains")}
    assert said.split() == [word for name, count in counts.items() for word in (name, str(count))]


@pytest.mark.long
def test_all_mistakes_are_named_in_a_bundle(student):
    stems = sorted({exercise.stem for exercise in exercises()} - {"14_seeing"})
    assert run(student, "-c", ASK.format(stems=stems))


def test_each_term_draws_other_numbers_and_a_term_always_the_same(tmp_path):
    draw = "from course.checks import find; print(find('04_closures.Linear')._rng(0).random())"
    drawn = []
    for term in ("", "2027-spring", "2027-autumn", "2027-spring"):
        folder = tmp_path / str(len(drawn))
        drawn.append(run(opened(make_student(folder, term), folder), "-c", draw))
    assert drawn[1] == drawn[3] and len(set(drawn)) == 3
    assert drawn[0] == run(ROOT, "-c", draw)  # without a term, as published


def test_the_same_course_gives_the_same_bytes(tmp_path):
    one, two = (make_student(tmp_path / name, "2027-spring", "04") for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_bundle_up_to_a_chapter_has_the_library_that_it_builds(tmp_path):
    folder = opened(make_student(tmp_path, last="04"), tmp_path)
    numbers = ["00", "01", "02", "03", "04"]
    assert sorted(path.name[:2] for path in folder.glob("notebooks/*.ipynb")) == numbers
    assert sorted(path.name[2:4] for path in folder.glob("course/checks/ch*.py")) == numbers
    names = run(folder, "-c", "import minigrad; print(*minigrad.__all__)").split()
    assert "Linear" in names and "Sequential" not in names and "Learner" not in names
    assert run(folder, "-c", ASK.format(stems=("04_closures",)))


def test_a_teachers_bundle_grades(tmp_path):
    folder = opened(make_teacher(tmp_path, "2027-spring"), tmp_path)
    solved = "solutions/04_closures/04_closures_exercises.ipynb"
    for place in (solved, "tests/book/test_book.py", "course/term.txt", "Makefile"):
        assert (folder / place).exists(), place
    assert not (folder / ".git").exists() and not (folder / "work").exists()
    handed_in = tmp_path / "in" / "ada" / "00_start_exercises.ipynb"
    handed_in.parent.mkdir(parents=True)
    shutil.copy(folder / "solutions/00_start/00_start_exercises.ipynb", handed_in)
    marks = tmp_path / "marks"
    grade = ["-m", "classroom", "grade", str(tmp_path / "in"), "--chapter", "00_start", "--out", str(marks)]
    run(folder, *grade, PYTHONPATH=str(folder))
    told = [json.loads(path.read_text()) for path in marks.glob("feedback/*.json")]
    everything = sum(exercise.points for exercise in exercises() if exercise.stem == "00_start")
    assert [one["points"] for one in told] == [everything]


def test_exercises_of_a_teachers_own_go_into_both_bundles(tmp_path):
    """The steps of book/teaching/own.md."""
    project = opened(make_teacher(tmp_path / "made"), tmp_path)
    page = (ROOT / "book/teaching/own.md").read_text("utf-8")
    check, answers, statement, answer, asks = re.findall(r"```\w*\n(.*?)```", page, re.DOTALL)[:5]
    (project / "course/checks/ch50_mine.py").write_text(check, "utf-8")
    (project / "tests/answers/ch50_mine.py").write_text(answers, "utf-8")
    words, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [words("# 50 Mine: exercises"), code("import numpy as np\n\nfrom course import check, hint")]
    cells += [words(statement), code(answer), code(asks)]
    place = project / "solutions/50_mine/50_mine_exercises.ipynb"
    place.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), place)
    here = {"PYTHONPATH": str(project)}
    run(project, "-m", "authoring", "run", "50", **here)
    run(project, "-m", "authoring", "exercises", **here)
    made = nbformat.read(project / "exercises/50_mine/50_mine_exercises.ipynb", 4)
    assert [cell.source for cell in made.cells if "NotImplementedError" in cell.source]
    run(project, "-m", "classroom.bundle", "student", "--out", str(tmp_path / "out"), **here)
    (path,) = (tmp_path / "out").glob("*.zip")
    student = opened(path, tmp_path / "theirs")
    assert (student / "exercises/50_mine/50_mine_exercises.ipynb").exists()
    name = re.search(r'"(50_mine\.\w+)"', check)[1]
    assert name in run(student, "-c", ASK.format(stems=("50_mine",)))
    tested = run(project, "-m", "pytest", "-q", "tests/house/test_exercises.py", "-k", "50_mine", **here)
    assert "passed" in tested


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["student", "--last", "99"], "no chapter '99': give the number of the last one, such as \"08\"."),
        (["student", "--term", "../up"], "a term must have letters, digits and"),
    ],
)
def test_a_bundle_that_cannot_be_made_is_reported(arguments, said, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err and not list(tmp_path.iterdir())
