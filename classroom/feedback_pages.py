"""The feedback pages of a class: one for each student, and one for the teacher.

Holds `student_page` and `class_page`, which return HTML. Text from students goes into a tree of elements and
is escaped when the tree is written, so that none of it can become a tag. ``classroom.reports`` writes the
files.
"""

import re
from collections import Counter

from classroom.pages import element as _e
from classroom.pages import page as _page
from classroom.result import Status
from course.curriculum import exercises_name

ROWS_OF_TOTALS = 12
SENTENCES = 3  # most frequent messages of an exercise, on the class page
WORDS = {  # words on the student's page, colour
    Status.PASSED: ("Passed", "passed"),
    Status.FAILED: ("Not yet", "failed"),
    Status.NOT_WRITTEN: ("Not written yet", "open"),
    Status.MISSING: ("Not found", "missing"),
    Status.MARKED: ("Marked by your teacher", "hand"),
    Status.BY_HAND: ("Waits for your teacher", "waiting"),
    Status.NOT_GRADED: ("Not graded", "ungraded"),
}
OF_A_CLASS = {  # words on the class page, if different from the status
    Status.FAILED: "not yet",
    Status.MISSING: "not found",
    Status.MARKED: "marked by you",
    Status.BY_HAND: "to be marked by you",
}


def student_page(row, name):
    """Return a student's feedback page.

    Parameters
    ----------
    row : Row
        The student's row in `classroom.reports`.
    name : str
        The student's name, as the page shows it.

    Returns
    -------
    str
    """
    title = f"{_chapter(row.chapter)}: your exercises"
    body = [_e("h1", title), _e("p", f"For {name}", of="faint")]
    if row.is_unreadable:
        body += [
            _e("p", "Your notebook could not be read.", of="sum"),
            _e("p", *_words(_sentence_case(row.result.refused))),
            _e("p", "Fix that and hand it in again, or ask your teacher for help."),
        ]
        marked = [_part(part) for part in row.parts if part.status is Status.MARKED]
        others = "your other answers" if marked else "your answers"
        body.append(_e("p", f"This says nothing about {others}: they have not been checked yet."))
        return _page(title, body + marked)
    if row.points is None:
        why = "it is still waiting to be graded" if row.result is None else _reason(row.result.fault)
        body += [
            _e("p", "Your work is not graded yet.", of="sum"),
            _e("p", *_words(f"Nothing is wrong with your notebook, and it is safe: {why}")),
            _e("p", "You need not do anything. It will be graded again."),
        ]
        return _page(title, body)
    passed = sum(part.status is Status.PASSED for part in row.parts)
    if row.is_another:
        handed_in = f"You handed in {row.file}. It" if row.file else "Your notebook"
        wanted = f"{exercises_name(row.chapter)}.ipynb"
        body.append(_e("p", f"{handed_in} has almost none of the exercises. Please hand in {wanted}."))
    body.append(_e("p", f"{row.points} of {_count(row.out_of, 'point')}", of="sum"))
    if row.result.refused is None:
        body.append(_e("p", _so_far(passed, row)))
    body += [_part(part) for part in row.parts]
    if row.result.notes:
        body += [
            _e("h2", "Notes", of="part"),
            _e("p", "This happened while your notebook ran. By itself it cost no points.", of="faint"),
            _e("ul", *[_e("li", *_words(note)) for note in row.result.notes]),
        ]
    return _page(title, body)


def _so_far(passed, row):
    """Summarize the passed checks and the points still to come."""
    machine = sum(part.status not in (Status.BY_HAND, Status.MARKED) for part in row.parts)
    done = f"{passed} of {machine} checks passed." if machine else ""
    if machine and passed == machine:
        done = "Every check passed. Well done."
    elif machine and not passed:
        done = "No check has passed yet. Each one below says what to do next."
    left = f" Your teacher can still give you up to {_count(row.to_mark, 'point')}." if row.to_mark else ""
    return done + left


def _part(part):
    """Return the card of one exercise on a student's page."""
    words, colour = WORDS[part.status]
    points = f"out of {part.out_of}" if part.points is None else f"{part.points} of {part.out_of}"
    lines = [_e("h2", part.title), _e("p", _e("span", words), _e("b", points), of="verdict")]
    if part.status is Status.FAILED:
        lines.append(_e("p", *_words(part.sentence), of="said"))
        lines.append(_e("p", "Stuck? ", _e("code", f'hint("{part.name}")'), " in your notebook.", of="faint"))
    elif part.status is Status.MARKED:
        lines.append(_e("p", part.comment, of="said"))
        lines += [_e("p", *_words(part.sentence), of="said")] if part.sentence else []
    elif part.status in (Status.NOT_WRITTEN, Status.MISSING, Status.NOT_GRADED):
        lines.append(_e("p", *_words(part.sentence), of="said"))
    return _e("section", *lines, of=f"card {colour}")


def class_page(chapter, rows, exercises, problems, address):
    """Return the teacher's page: every exercise with its most frequent mistakes, and every student.

    Parameters
    ----------
    chapter : str
    rows : list of Row
    exercises : list of Exercise
    problems : list of str
        Problems to fix in the teacher's own marks.
    address : function, str -> str
        From a student to the URL of the student's feedback page.

    Returns
    -------
    str
    """
    title = f"{_chapter(chapter)}: the class"
    graded = [row for row in rows if row.points is not None]
    to_mark = sum(row.to_mark > 0 for row in rows)
    body = [
        _e("h1", title),
        _e("p", f"{_count(len(rows), 'student')}, {len(graded):,} with a mark.", of="sum"),
        _e("p", _levels(rows), of="faint"),
        *_problems(problems),
        *_zeros(rows, address),
        _e("h2", "Points", of="part"),
        _totals(graded),
        *(
            [_e("p", f"{_count(to_mark, 'student')} can still get points from you.", of="faint")]
            if to_mark
            else []
        ),
        _e("h2", "Exercises and most frequent mistakes", of="part"),
    ]
    for place, exercise in enumerate(exercises):
        parts = [(row, row.parts[place]) for row in rows if row.parts]
        body.append(_exercise(exercise, parts, address))
    body += [_e("details", _e("summary", "Students"), _students(rows, address))]
    return _page(title, body)


def _problems(problems):
    """List the problems in the teacher's marks, closed, since they have names and the page may be a slide."""
    said = f"{_count(len(problems), 'problem')} in your marks"
    lines = [_e("p", problem) for problem in problems]
    return [_e("details", _e("summary", said), *lines)] if lines else []


def _zeros(rows, address):
    """List the students whose notebook cannot be read, or whose answers were not found in it."""
    lists = {
        "No mark, because the notebook cannot be read": [row for row in rows if row.is_unreadable],
        "0 points because of the form, not the work": [row for row in rows if row.zero == "form"],
    }
    return [
        _e("details", _e("summary", f"{said}: {_count(len(some), 'student')}"), *_links(some, address))
        for said, some in lists.items()
        if some
    ]


def _links(rows, address):
    """Return the names of students, each a link to the student's page."""
    links = [_e("a", row.student, href=address(row.student)) for row in rows]
    return [piece for link in links for piece in (link, ", ")][:-1]


def _levels(rows):
    """Summarize the sandbox levels at which the notebooks ran."""
    levels = Counter(row.result.level for row in rows if row.result and row.result.level)
    if set(levels) == {"bubblewrap"}:
        return "Every notebook that was graded ran in a sandbox."
    if not levels:
        return "No notebook has run."
    said = ", ".join(f"{count:,} at level {level}" for level, count in sorted(levels.items()))
    return f"Not every notebook ran in a sandbox: {said}. Read these marks with care."


def _totals(graded):
    """Return the table of how many students have how many points."""
    if not graded:
        return _e("p", "No marks yet.")
    out_of = max(row.out_of for row in graded)
    width = max(1, -(-(out_of + 1) // ROWS_OF_TOTALS))
    counts = Counter(int(row.points // width) for row in graded)
    most, rows = max(counts.values()), []
    for low in range(0, out_of + 1, width):
        high, count = min(low + width - 1, out_of), counts[low // width]
        words = f"{low} points" if low == high else f"{low} to {high} points"
        words = "1 point" if low == high == 1 else words
        bar = _bar([("passed", count), (None, most - count)])
        rows.append(_e("tr", _e("th", words, scope="row"), _e("td", bar), _e("td", f"{count:,}")))
    return _e("table", *reversed(rows), of="counts")


def _exercise(exercise, parts, address):
    """Return the card of one exercise on the class page."""
    order = list(WORDS)
    counts = sorted(Counter((order.index(part.status), _for_class(row, part)) for row, part in parts).items())
    colours = [(WORDS[order[place]][1], count) for (place, _), count in counts]
    keys = [
        _e("li", _e("i", of=f"key {colour}"), f"{count:,} {words}")
        for ((_, words), _), (colour, count) in zip(counts, colours, strict=True)
    ]
    said = most_said(exercise, [pair for pair in parts if is_read(*pair)])
    lines = [
        _e("h2", exercise.title, " ", _e("span", _count(exercise.points, "point"), of="faint")),
        _bar(colours),
        _e("ul", *keys, of="keys"),
    ]
    if said:
        lines.append(_e("ol", *[_sentence(*group, address) for group in said[:SENTENCES]], of="said"))
    rest = sum(len(rows) for _, _, rows in said[SENTENCES:])
    if rest:
        lines.append(_e("p", f"{_count(rest, 'student')} made other mistakes.", of="faint"))
    return _e("section", *lines, of="card")


def _for_class(row, part):
    """Return the words on the class page for the status of one answer."""
    if row.is_unreadable and part.status is Status.NOT_GRADED:
        return "could not be read"
    return OF_A_CLASS.get(part.status, part.status)


def is_read(row, part):
    """Report whether an answer was looked at: unreadable work, or a wrong notebook, has none."""
    if part.status is Status.MARKED:
        return True
    return part.status is not Status.NOT_GRADED and row.zero != "form" and not row.is_another


def most_said(exercise, parts):
    """Group the messages of an exercise's failed checks, the most frequent first.

    Parameters
    ----------
    exercise : Exercise
        Messages that name one of its known mistakes are grouped by it, others up to their numbers.
    parts : list of (Row, ExerciseResult)

    Returns
    -------
    list of (str, str, list of Row)
        The known mistake or "", an example of the message in full, and the students' rows.
    """
    groups = {}
    for row, part in parts:
        if part.status is Status.FAILED:
            known = max((name for name, _ in exercise.mistakes if name in part.sentence), key=len, default="")
            alike = known or re.sub(r"'[^']*'|-?\d[\d.,e+-]*", "…", part.sentence)
            groups.setdefault(alike, (known, part.sentence, []))[2].append(row)
    return sorted(groups.values(), key=lambda group: (-len(group[2]), group[1]))


def _sentence(known, example, rows, address):
    """Return the list item of one group of messages, with its students."""
    return _e(
        "li",
        _e("b", *_words(known or example)),
        *(
            [_e("div", *_words(f"For example: {example.replace(known, '').strip()}"), of="faint")]
            if known
            else []
        ),
        _e("details", _e("summary", _count(len(rows), "student")), *_links(rows, address)),
    )


def _students(rows, address):
    """Return the table of all students."""
    lines = [_e("tr", *[_e("th", word, scope="col") for word in ("Student", "Points", "In words")])]
    for row in rows:
        points = "" if row.points is None else f"{row.points} of {row.out_of}"
        name = _e("a", row.student, href=address(row.student))
        lines.append(_e("tr", _e("td", name), _e("td", points, of="points"), _e("td", row.reason)))
    return _e("table", *lines, of="students")


def _bar(parts):
    """Return a bar of coloured parts; the text next to it has the same numbers."""
    pieces = [_e("i", of=colour, style=f"flex: {count} 0 0") for colour, count in parts if count]
    return _e("div", *pieces, of="bar", **{"aria-hidden": "true"})


def _chapter(stem):
    """Return a chapter's stem as words: "04 closures"."""
    return stem.replace("_", " ")


def _reason(fault):
    """Return a fault without "not graded, because"."""
    return fault.removeprefix("not graded, because ")


def _words(text):
    """Return a sentence's text and elements: what is between backticks is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # the last one does not end
        return [text]
    return [_e("code", piece) if place % 2 else piece for place, piece in enumerate(pieces)]


def _sentence_case(text):
    """Capitalize the first letter of a string."""
    return text[:1].upper() + text[1:]


def _count(number, word):
    """Return a number and its word: "1 point", "2 points"."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")
