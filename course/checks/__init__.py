"""What a learner calls in an exercise: check, hint, solution, progress.

Holds these four, and how an exercise is found by its name. Leaves out the exercises themselves (a file a
chapter: ``ch04_closures.py``), the object they are (``course.checks.exercise``), the questions they share
(``course.checks.questions``), the record of what is done (``course.checks.record``), and how it looks
(``course.checks.cards``).
"""

import io
import pkgutil
import re
from contextlib import contextmanager, redirect_stdout
from difflib import get_close_matches
from importlib import import_module

from course import curriculum, store
from course.checks import cards, record
from course.checks.exercise import CheckFailed, Exercise

__all__ = ["CheckFailed", "Exercise", "check", "exercises", "find", "hint", "progress", "solution"]


MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")
NOTHING = object()  # what no answer is
LINES_PRINTED = 20  # of what an answer prints while it is checked: nudging calls it many times


class NoExercise(LookupError):
    """A name that no exercise has, and the nearest ones."""

    def _render_traceback_(self):
        """Return what a notebook shows instead of a traceback."""
        return [str(self)]


def check(name, answer=NOTHING):
    """Check an answer: a green card if it is right, one sentence that says why if it is not.

    Parameters
    ----------
    name : str
        The exercise: ``"04_closures.linear_backward"``.
    answer : function or class
        The learner's own object, not called.

    Raises
    ------
    CheckFailed
        At the first thing that is not right. A notebook shows its sentence without a traceback; where the
        answer raised, the whole traceback is its ``__cause__``.
    NoExercise
        If there is no such exercise.
    TypeError
        If one of the two is missing.
    """
    exercise = find(name)
    if answer is NOTHING:
        raise TypeError(f'check takes your answer, too: write check("{name}", {exercise.short}).')
    if exercise.by_hand:
        record.note(name, tries=1)
        return cards.card(f"{exercise.short}: a person reads this one; there is nothing to run.")
    try:
        with _fewer_lines():
            verified = exercise.judge(answer, attempt=record.entry(name).tries)
    except CheckFailed as no:
        record.note(name, tries=1)
        no.next_step = _next_step(exercise)
        if no.report is not None:
            cards.report(no.report)
        raise
    record.note(name, tries=1, passed=True)
    said = f"Checked: {verified.rstrip('.')}." if verified else ""
    cards.card(f"✓ {exercise.short}: right. {_points(exercise)}.", said, cards.GREEN)


def hint(name):
    """Show the next of an exercise's three hints.

    Parameters
    ----------
    name : str

    Raises
    ------
    LookupError
        If there is no such exercise.
    """
    exercise = find(name)
    seen = record.entry(name).hints
    if seen < len(exercise.hints):
        record.note(name, hints=1)
        last = seen + 1 == len(exercise.hints)
        then = f' That was the last hint: `solution("{name}")` now shows the worked solution.' if last else ""
        return cards.card(f"Hint {seen + 1} of {len(exercise.hints)}", exercise.hints[seen] + then)
    hints = [f"({number}) {text}" for number, text in enumerate(exercise.hints, 1)]
    cards.card(
        f"All {len(hints)} hints are open",
        "\n".join([*hints, f'`solution("{name}")` shows the worked solution.']),
    )


def solution(name):
    """Show the worked solution, once all hints are open or the exercise is passed.

    Parameters
    ----------
    name : str

    Raises
    ------
    LookupError
        If there is no such exercise.
    """
    exercise, known = find(name), record.entry(name)
    if not known.passed and known.hints < len(exercise.hints):
        return cards.card(
            f"{exercise.short}: the worked solution opens after the last hint, or when your answer passes.",
            f'{known.hints} of {len(exercise.hints)} hints are open; `hint("{name}")` shows the next one.',
        )
    path = store.PROJECT / "solutions" / curriculum.exercises_path(exercise.stem)
    if not path.exists():
        where = "/".join(path.parts[-3:])
        return cards.card(
            f"{exercise.short}: the worked solution is not on this machine.",
            f"It stands in `{where}` of the course's repository.",
        )
    cards.text(f"{exercise.short}: a worked solution", _worked(path, exercise))


def progress(route=None):
    """Show what is done: in the chapters that you have opened, or in those of a route.

    A chapter is opened by its first check or hint. The points are those that a check can give.

    Parameters
    ----------
    route : {"weekend", "semester", "gpt", "systems"}, optional
        The way through the course whose chapters are shown, opened or not.

    Raises
    ------
    ValueError
        If there is no such route; the message lists those that there are.
    """
    way = None if route is None else curriculum.route(route)
    entries, groups = record.entries(), {}
    for exercise in exercises():
        if way is None or exercise.stem in {chapter.stem for chapter in way.chapters}:
            entry = entries.get(exercise.name, record.Entry())
            groups.setdefault(exercise.stem, []).append((exercise, entry))
    rows = [_row_of(stem, group) for stem, group in groups.items()]
    routes = ", ".join(f'"{name}"' for name in curriculum.ROUTES)
    if way is not None:
        return cards.table(way.title, rows, rows, "A chapter is opened by its first check or hint.")
    if opened := [row for row in rows if row.exercises]:
        return cards.table("The course", opened, rows, f"progress(route) shows one way through it: {routes}.")
    cards.card(
        "Nothing is opened yet",
        "A chapter is opened by its first check or hint. "
        f"`progress(route)` shows one way through the course: {routes}.",
    )


def exercises():
    """Return every exercise of the course, chapter by chapter.

    Returns
    -------
    list of Exercise
    """
    names = sorted(
        module.name for module in pkgutil.iter_modules(__path__) if re.match(r"ch\d\d_", module.name)
    )
    return [thing for name in names for thing in _exercises_in(name)]


def find(name):
    """Return the exercise of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Exercise

    Raises
    ------
    LookupError
        If there is none; the message gives the nearest names.
    TypeError
        If name is not a str.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"an exercise is called by its name, and got {name!r}: "
            'write check("04_closures.linear_backward", linear_backward), the name first.'
        )
    known = {exercise.name: exercise for exercise in exercises()}
    if name in known:
        return known[name]
    short = {exercise.short: exercise.name for exercise in known.values()}
    near = [short.get(word, word) for word in get_close_matches(name, [*known, *short], n=3, cutoff=0.5)]
    meant = " or ".join(f'"{word}"' for word in dict.fromkeys(near))
    raise NoExercise(f'There is no exercise "{name}".' + (f" Did you mean {meant}?" if meant else ""))


def _exercises_in(module):
    """Return the exercises of a chapter's check file, in the order in which they stand there."""
    return [
        thing for thing in vars(import_module(f"{__name__}.{module}")).values() if isinstance(thing, Exercise)
    ]


def _row_of(stem, group):
    """Return how far a chapter is done: its row of the table; without exercises, where it is not opened."""
    opened = any(entry.opened for _, entry in group)
    return cards.Row(
        stem,
        next((chapter.minutes for chapter in curriculum.CHAPTERS if chapter.stem == stem), None),
        sum(exercise.points for exercise, entry in group if entry.passed),
        sum(exercise.points for exercise, _ in group if not exercise.by_hand),
        [(exercise.short, _state(exercise, entry)) for exercise, entry in group] if opened else [],
    )


def _state(exercise, entry):
    """Return how far an exercise is done, as `cards.MARKS` has it."""
    if exercise.by_hand:
        return "by hand"
    return "passed" if entry.passed else "tried" if entry.opened else "new"


def _points(exercise):
    """Return how many points an exercise gives, in words."""
    return "1 point" if exercise.points == 1 else f"{exercise.points} points"


def _next_step(exercise):
    """Return what a learner whose answer failed can do next."""
    seen, hints = record.entry(exercise.name).hints, len(exercise.hints)
    if seen == hints:
        return f'All hints are open: solution("{exercise.name}") shows a worked solution.'
    return f'Stuck? hint("{exercise.name}") shows hint {seen + 1} of {hints}.'


def _worked(path, exercise):
    """Return the cell of an exercise in the solutions notebook as Markdown, without nbgrader's marks."""
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise.short:
            source = "\n".join(line for line in cell.source.splitlines() if line.strip() not in MARKS)
            return f"```python\n{source}\n```" if cell.cell_type == "code" else source
    raise LookupError(f'{path.name} has no cell with the grade_id "{exercise.short}".')


@contextmanager
def _fewer_lines():
    """Show only the first lines of what is printed inside, and say how many followed."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        lines = printed.getvalue().splitlines()
        for line in lines[:LINES_PRINTED]:
            print(line)
        if len(lines) > LINES_PRINTED:
            print(f"... and {len(lines) - LINES_PRINTED:,} more lines, printed while your code was checked")
