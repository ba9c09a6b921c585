"""The functions a learner calls in an exercise: check, hint, solution, progress.

Also finds an exercise by its name. Each chapter's exercises are in a file of their own
(``ch04_closures.py``), the class Exercise in ``course.checks.exercise``, the requirements that checks share
in ``course.checks.questions``, the learner's progress in ``course.checks.record``, and the HTML in
``course.checks.cards``.
"""

import io
import pkgutil
import re
from contextlib import contextmanager, redirect_stdout
from difflib import get_close_matches
from importlib import import_module

from course import curriculum, guesses, store
from course.checks import cards, record
from course.checks.exercise import CheckFailed, Exercise

__all__ = ["CheckFailed", "Exercise", "check", "exercises", "find", "hint", "progress", "solution"]


MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")
NOTHING = object()  # the default of `answer`
LINES_PRINTED = 20  # shown of an answer's output during a check: nudging calls it many times


class NoExercise(LookupError):
    """No exercise has this name; the message suggests the nearest ones."""

    def _render_traceback_(self):
        """Return the lines a notebook shows instead of a traceback."""
        return [str(self)]


def check(name, answer=NOTHING):
    """Check an answer: show a green card if it is right, or raise an error that explains why it is not.

    Parameters
    ----------
    name : str
        The exercise: ``"04_closures.linear_backward"``.
    answer : function or class
        The learner's object itself, not the result of calling it.

    Raises
    ------
    CheckFailed
        At the first failure. A notebook shows its message without a traceback; if the answer raised an
        exception, that exception is its ``__cause__``.
    NoExercise
        If no exercise has this name.
    TypeError
        If the name or the answer is missing.
    """
    exercise = find(name)
    if answer is NOTHING:
        raise TypeError(f'check also needs your answer: write check("{name}", {exercise.short}).')
    if exercise.by_hand:
        record.note(name, tries=1)
        return cards.card(f"{exercise.short}: this answer is graded by a person; there is no check to run.")
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
        then = f' This is the last hint; `solution("{name}")` now shows the worked solution.' if last else ""
        return cards.card(f"Hint {seen + 1} of {len(exercise.hints)}", exercise.hints[seen] + then)
    hints = [f"({number}) {text}" for number, text in enumerate(exercise.hints, 1)]
    cards.card(
        f"You have seen all {len(hints)} hints",
        "\n".join([*hints, f'`solution("{name}")` shows the worked solution.']),
    )


def solution(name):
    """Show the worked solution, once all hints have been shown or the exercise is passed.

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
            f"{exercise.short}: the worked solution becomes available after the last hint, or once your "
            "answer passes.",
            f'You have seen {known.hints} of {len(exercise.hints)} hints; `hint("{name}")` shows the next '
            "one.",
        )
    path = store.PROJECT / "solutions" / curriculum.exercises_path(exercise.stem)
    if not path.exists():
        where = "/".join(path.parts[-3:])
        return cards.card(
            f"{exercise.short}: the worked solution is not on this machine.",
            f"You find it in the course's repository, in `{where}`.",
        )
    cards.text(f"{exercise.short}: a worked solution", _worked(path, exercise))


def progress(route=None):
    """Show your progress in the chapters that you have started, or in those of a route.

    A chapter counts as started after its first check, hint or guess. Points of exercises graded by a person
    are not counted.

    Parameters
    ----------
    route : {"weekend", "semester", "gpt", "systems"}, optional
        Show all chapters of this route, started or not.

    Raises
    ------
    ValueError
        If there is no such route; the message lists the routes.
    """
    way = None if route is None else curriculum.route(route)
    entries, groups = record.entries(), {}
    for exercise in exercises():
        if way is None or exercise.stem in {chapter.stem for chapter in way.chapters}:
            entry = entries.get(exercise.name, record.Entry())
            groups.setdefault(exercise.stem, []).append((exercise, entry))
    guessed = guesses.counts()
    rows = [_row_of(stem, group, guessed.get(stem, (0, 0, 0))) for stem, group in groups.items()]
    routes = ", ".join(f'"{name}"' for name in curriculum.ROUTES)
    if way is not None:
        return cards.table(way.title, rows, rows, "A chapter starts with its first check, hint or guess.")
    if opened := [row for row in rows if row.exercises]:
        return cards.table(
            "The course", opened, rows, f"progress(route) shows one route through it: {routes}."
        )
    cards.card(
        "You have not started any exercise yet",
        "A chapter starts with its first check, hint or guess. "
        f"`progress(route)` shows one route through the course: {routes}.",
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
    """Return the exercise with a given name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Exercise

    Raises
    ------
    LookupError
        If there is none; the message suggests the nearest names.
    TypeError
        If name is not a str.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"the first argument must be the exercise's name, a str, got {name!r}: "
            'write check("04_closures.linear_backward", linear_backward).'
        )
    known = {exercise.name: exercise for exercise in exercises()}
    if name in known:
        return known[name]
    short = {exercise.short: exercise.name for exercise in known.values()}
    near = [short.get(word, word) for word in get_close_matches(name, [*known, *short], n=3, cutoff=0.5)]
    meant = " or ".join(f'"{word}"' for word in dict.fromkeys(near))
    raise NoExercise(f'There is no exercise "{name}".' + (f" Did you mean {meant}?" if meant else ""))


def _exercises_in(module):
    """Return the exercises of a chapter's check file, in the order of the file."""
    return [
        thing for thing in vars(import_module(f"{__name__}.{module}")).values() if isinstance(thing, Exercise)
    ]


def _row_of(stem, group, guessed):
    """Return a chapter's row of the progress table, without its exercises if it is not started."""
    opened = any(guessed) or any(entry.opened for _, entry in group)
    return cards.Row(
        stem,
        next((chapter.minutes for chapter in curriculum.CHAPTERS if chapter.stem == stem), None),
        sum(exercise.points for exercise, entry in group if entry.passed),
        sum(exercise.points for exercise, _ in group if not exercise.by_hand),
        [(exercise.short, _state(exercise, entry)) for exercise, entry in group] if opened else [],
        guessed,
    )


def _state(exercise, entry):
    """Return the state of an exercise, a key of `cards.MARKS`."""
    if exercise.by_hand:
        return "by hand"
    return "passed" if entry.passed else "tried" if entry.opened else "new"


def _points(exercise):
    """Return the points of an exercise in words."""
    return "1 point" if exercise.points == 1 else f"{exercise.points} points"


def _next_step(exercise):
    """Return the sentence that suggests the next step after a failed check."""
    seen, hints = record.entry(exercise.name).hints, len(exercise.hints)
    if seen == hints:
        return f'You have seen all hints: solution("{exercise.name}") shows a worked solution.'
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
    """Print only the first lines of the output inside, then the number of the others."""
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
