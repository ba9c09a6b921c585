"""A made-up class for trying the grader: answers that are right, wrong in known ways, or missing.

Holds `make_class`, `make_term` and the command behind ``make grade-demo``, which makes a class or a term,
grades it as a teacher would, and opens the report. Answers come from the solutions and from the mistakes that
the checks name.
"""

import argparse
import ast
import inspect
import sys
import webbrowser
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import numpy as np

from classroom.__main__ import main as run_command
from classroom.tables import as_csv
from course import store
from course.checks import exercises
from course.curriculum import exercises_name, exercises_path

AT_HAND = {"np", "Layer", "Parameter"}  # names defined in every exercise notebook


def answers(exercise):
    """Return the sources of the mistakes that a check names, as far as they are self-contained.

    Parameters
    ----------
    exercise : Exercise

    Returns
    -------
    list of str
        Definitions under the exercise's name.
    """
    mistakes = [mistake for _, mistake in exercise.mistakes if inspect.isfunction(mistake)]
    if exercise.kind == "predict":
        return [f"def {exercise.short}():\n    return {mistake()!r}" for mistake in mistakes]
    sources = [_source(mistake, exercise.short) for mistake in mistakes]
    return [source for source in sources if source]


def _source(function, name):
    """Return the source of a function under another name; "" if it uses names defined outside it."""
    needed = inspect.getclosurevars(function).globals.keys()
    if function.__name__ == "<lambda>" or function.__closure__ or not needed <= AT_HAND:
        return ""
    definition = ast.parse(inspect.getsource(function)).body[0]
    definition.decorator_list, definition.name = [], name
    return ast.unparse(definition)


def make_class(folder, chapter="04_closures", students=12, rng=0):
    """Write a class: a folder per student, with the chapter's exercises as answered by that student.

    Parameters
    ----------
    folder : Path
    chapter : str
    students : int
    rng : int or numpy.random.Generator
        For drawing the answers. The first student's are all right; the last has written nothing.
    """
    rng = np.random.default_rng(rng)
    asked = {exercise.short: exercise for exercise in exercises() if exercise.stem == chapter}
    solved, unsolved = (
        nbformat.read(store.PROJECT / name / exercises_path(chapter), as_version=4).cells
        for name in ("solutions", "exercises")
    )
    for number in range(students):
        notebook = nbformat.v4.new_notebook(cells=deepcopy(unsolved if number == students - 1 else solved))
        for cell, stub in zip(notebook.cells, unsolved, strict=True):
            exercise = asked.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if exercise is not None and 0 < number < students - 1:
                kept = [cell.source] * (students - number)  # later students have fewer right answers
                cell.source = str(rng.choice([*kept, *answers(exercise), stub.source]))
        place = folder / f"student-{number + 1:02}" / f"{exercises_name(chapter)}.ipynb"
        store.write(place, nbformat.writes(notebook))


def make_term(folder, chapters, students):
    """Write a term: its tables, and a class for each chapter; some hand-ins are late.

    Parameters
    ----------
    folder : Path
    chapters : sequence of str
    students : int
    """
    names = [f"student-{number + 1:02}" for number in range(students)]
    store.write(
        folder / "roster.csv", as_csv([["student", "id"], *([n, 1000 + k] for k, n in enumerate(names))])
    )
    lines, handed_in = [["chapter", "marks", "due", "late", "days", "keep"]], [["student", "chapter", "when"]]
    for week, chapter in enumerate(chapters):
        make_class(folder / "submissions" / chapter, chapter, students, rng=week)
        due = datetime(2026, 10, 5, 23, 59) + timedelta(weeks=week)
        lines.append([chapter, f"marks/{chapter}", due.isoformat(" ", "minutes"), "10%", 3, "last"])
        for place, name in enumerate(names):  # the last two students are one and two days late
            when = due + timedelta(hours=24 * max(0, place - students + 3) - 1)
            handed_in.append([name, chapter, when.isoformat(" ", "minutes")])
    store.write(folder / "term.csv", as_csv(lines))
    store.write(folder / "hand-ins.csv", as_csv(handed_in))


def run_term(folder, chapters, students, options):
    """Make a term, grade every chapter, and write the totals; return the worst exit status.

    Parameters
    ----------
    folder : Path
    chapters : sequence of str
    students : int
    options : list of str
        Options of each ``grade`` command.
    """
    make_term(folder, chapters, students)
    commands = [
        [
            "grade",
            f"{folder}/submissions/{stem}",
            "--chapter",
            stem,
            "--out",
            f"{folder}/marks/{stem}",
            *options,
        ]
        for stem in chapters
    ]
    statuses = []
    for command in [*commands, ["term", str(folder)]]:
        print(f"  python -m classroom {' '.join(command)}")
        statuses.append(run_command(command))
    return max(statuses)


def main(arguments=None):
    """Make the class, grade it, and open the report; return the command's exit status."""
    parser = argparse.ArgumentParser(prog="python -m classroom.demo", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--folder", type=Path, default=Path("work/grade-demo"), help="the folder for the class"
    )
    parser.add_argument("--chapter", default="04_closures")
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--unsafe", action="store_true", help="grade without a sandbox")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--term", nargs="+", metavar="CHAPTER", help="a whole term: the stems of its chapters"
    )
    chosen = parser.parse_args(arguments)
    if chosen.term:
        return run_term(chosen.folder, chosen.term, chosen.students, ["--unsafe"] * chosen.unsafe)
    submissions, marks = chosen.folder / "submissions", chosen.folder / "marks"
    make_class(submissions, chosen.chapter, chosen.students)
    print(f"A class of {chosen.students} is in {submissions}. A teacher would now write:")
    command = ["grade", str(submissions), "--chapter", chosen.chapter, "--out", str(marks)]
    command += ["--unsafe"] * chosen.unsafe
    print(f"  python -m classroom {' '.join(command)}")
    status = run_command(command)
    page = (marks / "class.html").resolve()
    if page.exists() and not chosen.no_open:
        webbrowser.open(page.as_uri())
    return status


if __name__ == "__main__":
    sys.exit(main())
