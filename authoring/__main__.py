"""The steps that make the course: ``python -m authoring run 04`` runs a chapter and stores it."""

import argparse
import sys

from authoring.chapters import run, try_all
from authoring.count import table
from authoring.exercises import UnmarkedCell, make_exercises
from authoring.lab import set_up
from authoring.moving import write_numbers
from authoring.notebooks import BuildError
from authoring.picture import write_picture
from authoring.work import copy_to_work


def main(arguments=None):
    """Run one step from the command line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("run", help="execute chapters and solutions, store outputs").add_argument(
        "chapters", nargs="+"
    )
    exercises = steps.add_parser("exercises", help="make exercises/ from solutions/")
    exercises.add_argument(
        "--check", action="store_true", help="write nothing; fail if exercises/ is out of date"
    )
    steps.add_parser("try", help="execute every chapter, and store nothing")
    steps.add_parser("count", help="lines of code in each folder")
    steps.add_parser("picture", help="write the picture of the README")
    steps.add_parser("moving", help="train and store the numbers behind pictures that move").add_argument(
        "pictures", nargs="+"
    )
    steps.add_parser("lab", help="set up JupyterLab in this environment")
    steps.add_parser("work", help="copy chapters and exercises to work/, never over what you changed")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.step == "run":
            for chapter in chosen.chapters:
                run(chapter)
        elif chosen.step == "try":
            try_all()
            print("Every chapter runs on this machine.")
        elif chosen.step == "work":
            for kind, files in copy_to_work().items():
                print(_in_words(kind, files))
        elif chosen.step == "count":
            for name, (files, lines) in table().items():
                print(f"{name:20} {files:4} files {lines:7,} lines of code")
        elif chosen.step == "picture":
            write_picture()
        elif chosen.step == "moving":
            for name in chosen.pictures:
                write_numbers(name)
        elif chosen.step == "lab":
            set_up()
        else:
            return _report_exercises(make_exercises(check=chosen.check), chosen.check)
    except (BuildError, UnmarkedCell, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _report_exercises(changed, check):
    """Print what was made or is out of date, and return the exit status."""
    names = ", ".join(path.stem for path in changed)
    if check and changed:
        print(f"exercises/ is out of date ({names}): run `python -m authoring exercises`.", file=sys.stderr)
        return 1
    print(f"exercises: {len(changed)} made" + (f" ({names})" if names else ", all were up to date"))
    return 0


def _in_words(kind, files):
    """Return one line that says what was done with the files of a kind."""
    counts = ", ".join(
        f"{len(names)} {found}" for found, names in files.items() if names and found != "yours"
    )
    line = f"{kind}: {counts or 'nothing copied'}"
    if files["yours"]:
        line += f"; {len(files['yours'])} left alone, because you changed it: {', '.join(files['yours'])}"
    return line


if __name__ == "__main__":
    sys.exit(main())
