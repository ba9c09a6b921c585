"""The command: ``python -m classroom grade SUBMISSIONS --chapter 04_closures --out GRADES``.

Parses the arguments and prints the outcome; the work is done in the other modules.
"""

import argparse
import os
import shlex
import sqlite3
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

from classroom.by_hand import next_file
from classroom.crew import Grader, grade_all
from classroom.faults import GradingFault
from classroom.folders import left_out, unpacked
from classroom.limits import SECONDS
from classroom.queue import Queue
from classroom.reports import differences, rows, write_reports
from classroom.result import Status, exercises_of
from classroom.seeds import secret
from classroom.version import version
from course.curriculum import CHAPTERS, exercises_name

MOST = 20  # lines of a list
LONGEST = 60  # seconds: the largest limit for one call; a whole notebook may take 30 times as long
UNSAFE = "UNSAFE: no sandbox. The code in these notebooks runs on this machine with your permissions."
OTHER_CHAPTER = (
    "Almost no notebook contains answers to {chapter}: do these notebooks belong to another chapter? "
    "If so, grade them with that --chapter, into another folder."
)
CHANGED = (
    "The checks, the grader, the sandbox level or the limits have changed since {folder} was graded: "
    "nothing was graded.\n"
    "`python -m classroom regrade {folder}` shows what would change."
)


def main(arguments=None):
    """Run one command and return its exit status: 0 done, 1 failed, 2 done but not everything is graded."""
    chosen = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a terminal may not have the letters of every name
        with suppress(AttributeError):
            stream.reconfigure(errors="replace")
    try:
        return chosen.run(chosen)
    except (GradingFault, OSError, sqlite3.Error) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Finished results are kept: run the same command again to continue.", file=sys.stderr)
        return 130


def _parser():
    """Build the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m classroom", description="Grade a class.")
    commands = parser.add_subparsers(required=True)

    def add(run, words, of_marks=True):
        command = commands.add_parser(run.__name__.removeprefix("_"), help=words)
        command.set_defaults(run=run)
        if of_marks:
            command.add_argument("out", type=Path, help="the folder of the marks")
        return command

    grade = add(_grade, "grade each submission that has no mark, and write the reports", of_marks=False)
    grade.add_argument("submissions", type=Path, help="one folder or file per student, or a zip of them")
    grade.add_argument("--chapter", required=True, help="for example 04_closures")
    grade.add_argument("--out", required=True, type=Path, help="the folder for the marks")
    add(_status, "print one row per student")
    regrade = add(_regrade, "after the checks have changed: show what would change")
    regrade.add_argument("--accept", action="store_true", help="make the new results the marks")
    report = add(_report, "write the reports again with the current marks.csv")
    roster = "a gradebook that Canvas or Moodle exported, to be filled in"
    report.add_argument("--roster", type=Path, help=roster)
    gradebook = add(_gradebook, "put the marks into nbgrader's gradebook")
    gradebook.add_argument("--course-dir", required=True, type=Path, help="the folder of the nbgrader course")
    gradebook.add_argument("--back", action="store_true", help="read the marks given in the formgrader")
    _add_by_hand(add)
    term = add(_term, "totals with due dates, and how hard each exercise is", of_marks=False)
    term.add_argument("folder", type=Path, help="the folder of term.csv")
    earlier = "folders of other terms, to compare"
    term.add_argument("--earlier", nargs="+", type=Path, default=[], help=earlier)
    _add_guesses(add)
    for command in (grade, regrade):
        where = command.add_mutually_exclusive_group()
        where.add_argument("--workers", type=_positive, help="number of processes (one per core)")
        where.add_argument("--scheduler", help="address of a Dask scheduler whose workers grade")
        command.add_argument("--unsafe", action="store_true", help="grade without a sandbox")
        limit = "time limit for one call of an answer, or one statement of a cell (%(default)g)"
        command.add_argument("--seconds", type=_seconds, default=SECONDS, help=limit)
    return parser


def _add_by_hand(add):
    """Add the commands for marking by hand."""
    settle = add(_settle, "set the points of one answer by hand, with a reason")
    appeal = add(_appeal, "check one answer again, side by side with the solution")
    add(_similar, "list equal answers, and how common each of them is")
    add(_marking, "write the page for marking by hand")
    send = add(_send, "put all feedback pages into a zip for Canvas or Moodle")
    for command in (settle, appeal):
        command.add_argument("student", type=_name)
        command.add_argument("exercise", help="for example scale")
    settle.add_argument("points")
    settle.add_argument("--reason", required=True, help="shown on the student's page")
    appeal.add_argument("--unsafe", action="store_true", help="check without a sandbox")
    send.add_argument("submissions", type=Path, help="the zip or folder exported by the platform")


def _add_guesses(add):
    """Add the command for what a class guessed."""
    guesses = add(_guesses, "list what a class guessed, and draw it for one question", of_marks=False)
    guesses.add_argument("folder", type=Path, help="one guesses.json or folder per student, or a zip of them")
    guesses.add_argument("--chapter", help="for example 04_closures; without it, all that were handed in")
    guesses.add_argument("--question", help="its number in the chapter, or its id")
    guesses.add_argument("--out", type=_picture, help="the picture for the question: a .svg or .png file")
    guesses.add_argument("--hide", action="store_true", help="draw it without the right answer")


def _picture(text):
    """Parse the path of a picture."""
    path = Path(text)
    if path.suffix not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"must be a file .svg or .png, got {text!r}")
    return path


def _name(text):
    """Normalize a student's name, as folders' names are."""
    return normalize("NFC", text)


def _positive(text):
    """Parse a number of processes."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def _seconds(text):
    """Parse a time limit in seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"must be 0.1 to {LONGEST} seconds, got {text!r}")
    return seconds


def _grade(chosen):
    """Read the submissions, grade those that have no mark, and write the reports."""
    from classroom.submission import read_file

    exercises_of(chosen.chapter)
    if not chosen.submissions.exists():
        raise GradingFault(f"there is no folder or zip file {chosen.submissions}.")
    if chosen.out.exists() and not chosen.out.is_dir():
        raise GradingFault(
            f"--out must be a folder, and {chosen.out} is a file. Nothing was graded or written."
        )
    if chosen.out.resolve().is_relative_to(chosen.submissions.resolve()):
        raise GradingFault(
            f"{chosen.out} is inside {chosen.submissions}, where each folder belongs to a student: "
            "choose an --out outside it. Nothing was graded or written."
        )
    now = version(chosen.chapter, chosen.unsafe, chosen.seconds)
    with Queue(chosen.out, chosen.chapter) as queue:
        if queue.accepted not in (None, now):
            raise GradingFault(CHANGED.format(folder=chosen.out))
        queue.accept(now)
        before = rows(queue)[0]
        with unpacked(chosen.submissions) as (folder, damaged):

            def read(path):
                if path in damaged:
                    raise GradingFault(f"not graded, because {damaged[path]}")
                return read_file(path)

            count, doubts = queue.take_in(folder, read)
            if not count:
                raise GradingFault(
                    f"{chosen.submissions} has no submissions: it needs a folder for each student, or a "
                    f"file for each, named like NAME_{exercises_name(chosen.chapter)}.ipynb."
                )
            lost = [why for path, why in damaged.items() if not os.path.isfile(path)]
            _list("Left out", left_out(folder, chosen.chapter) + lost)
            _list("Look at these hand-ins", doubts)
        _run(queue, now, chosen)
        found, problems = write_reports(queue)
        _list_worse(before, found)
        return _print_summary(found, problems, chosen.out)


def _list_worse(before, after):
    """Print the students whose new hand-in has fewer points than the one before, with those by hand."""
    of_student = {row.student: row for row in after}
    for was in before:
        now = of_student.get(was.student)
        if None in (now, was.points) or now.result is None or was.result.submission == now.result.submission:
            continue
        if now.is_unreadable or (now.points is not None and now.points < was.points):
            has = "no mark" if now.points is None else f"{now.points} points"
            waits = f" ({now.to_mark} more wait to be marked by hand)" if now.to_mark else ""
            print(
                f"Fewer points than before: {_plain(was.student)} handed in again and has {has}{waits} "
                f"instead of {was.points}. The latest hand-in counts."
            )


def _regrade(chosen):
    """Grade again with the current checks, show the changes, and accept them if requested."""
    with Queue(chosen.out) as queue:
        now, before = version(queue.chapter, chosen.unsafe, chosen.seconds), queue.results(queue.accepted)
        if now == queue.accepted:
            print(
                "The checks and the grader have not changed: there is nothing to regrade. "
                "To change a single mark, use settle."
            )
            return 0
        _run(queue, now, chosen)
        after = queue.results(now)
        lines = differences(before, after)
        # a student without a mark before loses none, and must not block the others
        left = [s for s, _ in queue.open(now) if before[s] is not None and before[s].fault is None]
        print("\n".join(lines) or "No mark changes.")
        changed = len({line.partition(", ")[0] for line in lines})
        print(f"\n{len(lines)} changes, {changed} of {len(after)} students.")
        if left:
            _list("Not accepted", left, then=" are not yet graded with the new checks. Run regrade again.")
            return 2
        if not chosen.accept:
            print("Nothing has changed yet: add --accept to make these the marks.")
            return 0
        queue.accept(now)
        return _print_summary(*write_reports(queue), chosen.out)


def _status(chosen):
    """Print one row per student."""
    with Queue(chosen.out) as queue:
        found, problems = rows(queue)
    width = max((len(row.student) for row in found), default=0)
    for row in found:
        points = "-" if row.points is None else f"{row.points} of {row.out_of}"
        print(f"{_plain(row.student):{width}}  {points:>9}  {_plain(row.reason)}")
    return _print_summary(found, problems, chosen.out, written=False)


def _report(chosen):
    """Write the reports again."""
    with Queue(chosen.out) as queue:
        found, problems = write_reports(queue)
        if chosen.roster is not None:
            problems = problems + _fill_in(queue, found, chosen.roster)
        return _print_summary(found, problems, chosen.out)


def _fill_in(queue, found, path):
    """Write the roster with the points of a chapter; return the problems."""
    from classroom.roster import Roster
    from course import store

    marks = {queue.chapter: {row.student: row.points for row in found}}
    out_of = {queue.chapter: sum(exercise.points for exercise in exercises_of(queue.chapter))}
    text, problems, absent = Roster(path).filled(marks, out_of)
    store.write(queue.folder / "import.csv", text)
    _print_absent(absent)
    _print_provisional(sum(row.to_mark > 0 for row in found))
    print(f"Import {queue.folder / 'import.csv'}")
    return problems


def _print_absent(students):
    """Print the students on the roster who have handed in nothing, from their names and numbers."""
    if students:
        names = "; ".join(name for name, _ in students)
        print(f"On the roster, without a hand-in: {len(students):,}: {_plain(names)}")


def _print_provisional(count):
    """Print how many students can still get points by hand."""
    if count:
        students = f"{count:,} student{'s' * (count > 1)}"
        print(f"Provisional, since you still have answers to mark: the points of {students}.")


def _gradebook(chosen):
    """Put the marks into nbgrader's gradebook, or read back those given in its formgrader."""
    from classroom.gradebook import give, take

    with Queue(chosen.out) as queue:
        if chosen.back:
            print(f"Marks read from the gradebook: {take(queue, chosen.course_dir):,}.")
            return _print_summary(*write_reports(queue), chosen.out)
        count, problems = give(queue, chosen.course_dir)
    for problem in problems:
        print(_plain(problem))
    print(f"Students with their marks in the gradebook of {chosen.course_dir}: {count:,}.")
    return 2 if problems else 0


def _settle(chosen):
    """Set the points of one answer, and write the reports again."""
    from classroom.by_hand import settle

    with Queue(chosen.out) as queue:
        print(_plain(settle(queue, chosen.student, chosen.exercise, chosen.points, chosen.reason)))
        return _print_summary(*write_reports(queue), chosen.out)


def _appeal(chosen):
    """Print the check's current verdicts on an answer and on the solution, side by side."""
    from classroom.appeal import appeal

    with Queue(chosen.out) as queue:
        print(appeal(queue, chosen.student, chosen.exercise, chosen.unsafe))
    words = ["python", "-m", "classroom", "settle", str(chosen.out), chosen.student, chosen.exercise]
    print(f'To give other points: {shlex.join(words)} POINTS --reason "TEXT"')
    return 0


def _similar(chosen):
    """Write the table of answers that have the same form."""
    from classroom.similar import HEAD, handed_out_of, similar, solution_of
    from classroom.tables import as_csv
    from course import store

    with Queue(chosen.out) as queue:
        handed = {s: queue.submission(r.submission)[0] for s, r in queue.results(queue.accepted).items() if r}
        answers = {student: data for student, data in handed.items() if data is not None}
        lines = similar(answers, solution_of(queue.chapter), handed_out_of(queue.chapter))
    store.write(chosen.out / "similar.csv", as_csv([HEAD, *lines]))
    print(f"Pairs with equal answers: {len(lines):,}, in {chosen.out / 'similar.csv'}, the rarest first.")
    print("Equal answers do not prove copying: read both, and see how many others have them.")
    return 0


def _marking(chosen):
    """Write the page for marking by hand."""
    from classroom.marking import write_marking_page

    with Queue(chosen.out) as queue:
        print(f"Open {write_marking_page(queue)}; it writes {next_file(chosen.out)}.")
    return 0


def _send(chosen):
    """Write the zip of all pages."""
    from classroom.send import write_zip

    with Queue(chosen.out) as queue, unpacked(chosen.submissions) as (folder, _):
        write_reports(queue)
        target = chosen.out / "feedback.zip"
        count, without = write_zip(queue, folder, target)
    print(f"Pages in {target}: {count:,}.")
    if without:
        print(f"Without a page in it, or without marks: {_plain(', '.join(without))}")
    return 0


def _term(chosen):
    """Write the totals of a term."""
    from classroom.term import write_term

    problems, absent, provisional = write_term(chosen.folder, chosen.earlier)
    _print_absent(absent)
    _print_provisional(provisional)
    for problem in problems:
        print(_plain(problem))
    print(f"Open {chosen.folder / 'totals.csv'} and {chosen.folder / 'items.html'}")
    return 2 if problems else 0


def _guesses(chosen):
    """List the guesses of a class, or draw those for one question."""
    from classroom.guesses import collect

    if chosen.question and not (chosen.chapter and chosen.out):
        raise GradingFault("--question needs the --chapter that asks it, and --out, the file of the picture.")
    if (chosen.out or chosen.hide) and not chosen.question:
        raise GradingFault("--out and --hide are for one question: give its number as --question.")
    with unpacked(chosen.folder, ".json") as (folder, damaged):
        records, problems = collect(folder)
        problems += [why for path, why in damaged.items() if not os.path.isfile(path)]
    _list("Left out", problems, MOST)
    if not records:
        raise GradingFault(
            f"{chosen.folder} has no record of guesses: it needs a file guesses.json for each student, under "
            "any name that ends in .json, or a folder for each with that file in it."
        )
    print(f"Students: {len(records):,}.")
    (_draw_guesses if chosen.question else _list_guesses)(chosen, records)
    return 2 if problems else 0


def _list_guesses(chosen, records):
    """Print a line for each question of the chapters."""
    from classroom import guesses

    handed_in = {chapter for record in records for chapter in record}
    stems = [chapter.stem for chapter in CHAPTERS if chapter.stem in handed_in]
    asked = {
        chapter: guesses.questions_of(chapter) for chapter in ([chosen.chapter] if chosen.chapter else stems)
    }
    left_out = 0
    for chapter, questions in asked.items():
        found = [guesses.guessed(question, records) for question in questions]
        left_out += sum(count for _, count in found)
        print("\n".join(["", chapter, *guesses.rows(questions, [said for said, _ in found])]))
    _print_left_out(guesses.unknown(asked, records, chosen.chapter is None), left_out)


def _draw_guesses(chosen, records):
    """Write the picture of the guesses for one question, and print what it shows and what was written."""
    from classroom import guess_pictures, guesses
    from course import store

    question = guesses.find(chosen.chapter, chosen.question)
    said, left_out = guesses.guessed(question, records)
    if not said:
        raise GradingFault(f"nobody has guessed {question.number} of {question.chapter}: nothing was drawn.")
    if guess_pictures.drawn(question, said):
        figure, description = guess_pictures.picture(question, said, chosen.hide)
        data = guess_pictures.as_file(figure, chosen.out.suffix[1:], description)
        store.write(chosen.out, data)
        print("\n".join(["", *description, f"Open {chosen.out}"]))
    else:
        print("Nothing was drawn: only words were guessed.")
    if lines := guess_pictures.texts(question, said):
        print("\n".join(["", *lines]))
    _print_left_out(0, left_out)


def _print_left_out(unknown, left_out):
    """Print how many guesses and values were left out, if any."""
    if unknown:
        print(f"\nGuesses to questions that this edition does not ask: {unknown:,}.")
    if left_out:
        print(f"\nValues left out, because they do not fit their fields: {left_out:,}.")


def _run(queue, now, chosen):
    """Grade the waiting submissions, with a progress bar."""
    from tqdm import tqdm

    waiting = len(queue.open(now))
    if not waiting:
        return
    key = secret(queue.folder)
    if chosen.scheduler is None:
        grader = Grader(_grade_after_test(chosen.unsafe), now, key, chosen.unsafe, chosen.seconds)
        outcomes = grade_all(queue, grader, chosen.workers)
    else:
        outcomes = _on_a_cluster(queue, now, key, chosen)
    counts = Counter()
    with tqdm(total=waiting, desc=queue.chapter, unit=" students", smoothing=0.1) as bar:
        for _, result in outcomes:
            counts["refused" if result.refused else "not graded" if result.fault else "graded"] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()


def _on_a_cluster(queue, now, key, chosen):
    """Yield the results from a scheduler's workers; each worker tests its own sandbox first."""
    from classroom import cluster
    from classroom.grade import grade

    if chosen.unsafe:
        print(UNSAFE.replace("this machine", "the workers"), file=sys.stderr)
    grader = Grader(grade, now, key, chosen.unsafe, chosen.seconds)
    return cluster.grade_all(queue, grader, chosen.scheduler)


def _grade_after_test(unsafe):
    """Test the sandbox, and return the grading function."""
    from classroom import sandbox
    from classroom.escape import try_to_escape
    from classroom.grade import grade

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each worker has one core
    level = sandbox.level(unsafe)
    try_to_escape(unsafe)
    if level != "bubblewrap":
        print(UNSAFE, file=sys.stderr)
    return grade


def _print_summary(found, problems, folder, written=True):
    """Print a summary of the marks, and return the exit status."""
    refused = [row for row in found if row.is_unreadable]
    ungraded = [row for row in found if row.points is None and not row.is_unreadable]
    others = [row for row in found if row.is_another]
    if _is_another_chapter(found):
        problems, others = [*problems, OTHER_CHAPTER.format(chapter=found[0].chapter)], []
    to_mark = sum(row.to_mark > 0 for row in found)
    wanted = f"{exercises_name(found[0].chapter)}.ipynb" if found else ""
    print(f"Students: {len(found):,}, with a mark: {len(found) - len(ungraded) - len(refused):,}.")
    _list_students("Could not be read", refused)
    _list_students(f"Possibly the wrong notebook; ask for {wanted}", others)
    _list_students("Nothing is written in the notebook", [row for row in found if row.is_unwritten])
    if to_mark:
        how = f"Fill in to_mark.csv, and save it as {next_file(folder)}."  # no earlier one is overwritten
        print(f"With exercises for you to mark: {to_mark:,}. {how}")
    _list_students("Not graded", ungraded, "; run the same command again:")
    for problem in problems:
        print(problem)
    if written:
        print(f"Open {folder / 'class.html'}")
    return 2 if ungraded or problems else 0


def _is_another_chapter(rows):
    """Report whether nearly all of the chapter's names are missing from nearly all readable notebooks."""
    read = [row for row in rows if row.result and row.result.refused is None and row.points is not None]
    parts = [part.status for row in read for part in row.parts if part.status is not Status.BY_HAND]
    return len(parts) > 0 and parts.count(Status.MISSING) > 0.9 * len(parts)


def _list_students(title, rows, then=""):
    """Print some students with their reasons."""
    lines = [f"{row.student}: {row.reason}" for row in rows]
    _list(title, lines, MOST, then, ": `status` lists all")


def _list(title, lines, most=None, then="", more=""):
    """Print a title with the number of lines, and the lines or the first of them, if there are any."""
    if lines:
        print(f"{title}: {len(lines):,}{then}", *(f"  {_plain(line)}" for line in lines[:most]), sep="\n")
    if most and lines[most:]:
        print(f"  ... and {len(lines) - most:,} more{more}")


def _plain(text):
    """Return text without control characters."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


if __name__ == "__main__":
    sys.exit(main())
