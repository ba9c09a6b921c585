"""The steps that make the course: ``python -m authoring run 04`` runs a chapter and stores it."""

import argparse
import sys

from authoring.chapters import run, try_all
from authoring.count import table
from authoring.everywhere import run_everywhere
from authoring.exercises import UnmarkedCell, make_exercises
from authoring.house import write_house
from authoring.lab import set_up
from authoring.moving import write_numbers
from authoring.notebooks import BuildError
from authoring.picture import write_picture
from authoring.work import copy_to_work


def main(arguments=None):
    """Run one step from the command line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)

    def step(name, function, help):
        one = steps.add_parser(name, help=help)
        one.set_defaults(function=function)
        return one

    chapters = step("run", _run, "execute chapters and solutions, store outputs")
    chapters.add_argument("chapters", nargs="+")
    exercises = step("exercises", _exercises, "make exercises/ from solutions/")
    exercises.add_argument(
        "--check", action="store_true", help="write nothing; fail if exercises/ is out of date"
    )
    step("try", _try, "execute every chapter without storing it")
    everywhere = step("everywhere", _everywhere, "run notebooks and tests as on other processors")
    everywhere.add_argument("ways", nargs="*", help="up, down, a kernel of OpenBLAS, tests (all)")
    everywhere.add_argument("--paths", nargs="+", default=(), help="for pytest, instead of all notebooks")
    step("count", _count, "lines of code in each folder")
    step("pictures", _pictures, "write the pictures of the README and of CONTRIBUTING")
    moving = step("moving", _moving, "train and store the data of interactive pictures")
    moving.add_argument("pictures", nargs="+")
    step("lab", lambda chosen: set_up(), "set up JupyterLab in this environment")
    step("work", _work, "copy chapters and exercises to work/, except over files that you changed")
    chosen = parser.parse_args(arguments)
    try:
        return chosen.function(chosen) or 0
    except (BuildError, UnmarkedCell, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def _run(chosen):
    for chapter in chosen.chapters:
        run(chapter)


def _try(chosen):
    try_all()
    print("Every chapter runs on this machine.")


def _everywhere(chosen):
    return run_everywhere(chosen.ways, chosen.paths)


def _count(chosen):
    for name, (files, lines) in table().items():
        print(f"{name:20} {files:4} files {lines:7,} lines of code")


def _pictures(chosen):
    write_picture()
    write_house()


def _moving(chosen):
    for name in chosen.pictures:
        write_numbers(name)


def _work(chosen):
    for kind, files in copy_to_work().items():
        print(_in_words(kind, files))


def _exercises(chosen):
    return _report_exercises(make_exercises(check=chosen.check), chosen.check)


def _report_exercises(changed, check):
    """Print which files were made or are out of date; return the exit status."""
    names = ", ".join(path.stem for path in changed)
    if check and changed:
        print(f"exercises/ is out of date ({names}): run `python -m authoring exercises`.", file=sys.stderr)
        return 1
    print(f"exercises: {len(changed)} made" + (f" ({names})" if names else ", all were up to date"))
    return 0


def _in_words(kind, files):
    """Summarize, in one line, how the files of a kind were copied."""
    counts = ", ".join(
        f"{len(names)} {found}"
        for found, names in files.items()
        if names and found not in ("yours", "renamed")
    )
    line = f"{kind}: {counts or 'nothing copied'}"
    if files["yours"]:
        line += f"; {len(files['yours'])} not copied, because you changed them: {', '.join(files['yours'])}"
    if files["renamed"]:
        line += f"; {len(files['renamed'])} renamed, to {', '.join(files['renamed'])}"
    return line


if __name__ == "__main__":
    sys.exit(main())
