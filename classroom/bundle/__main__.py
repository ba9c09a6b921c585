"""The command line: ``python -m classroom.bundle student --term 2027-spring``."""

import argparse
import sys
from pathlib import Path

from classroom.bundle import BundleError, make_student, make_teacher


def main(arguments=None):
    """Make a bundle, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m classroom.bundle", description="Make a class's zip files."
    )
    parser.add_argument("whose", choices=["student", "teacher"])
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder of the zip file (dist)")
    parser.add_argument(
        "--term", default="", help="the term, such as 2027-spring; each gets different check data"
    )
    parser.add_argument("--last", help="the last chapter of the students' bundle, such as 08")
    chosen = parser.parse_args(arguments)
    if chosen.whose == "teacher" and chosen.last:
        parser.error("--last is for the students' bundle; the teacher's has everything")
    try:
        if chosen.whose == "student":
            path = make_student(chosen.out, chosen.term, chosen.last)
        else:
            path = make_teacher(chosen.out, chosen.term)
    except BundleError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
