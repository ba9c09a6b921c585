"""The pages of a class: what each student reads, and what the teacher reads.

Holds `student_page` and `class_page`, which return HTML text. Student text goes into a tree of elements and
is escaped where the tree is written, so that none of it can become a tag. Leaves out which files there are
(``classroom.reports``).
"""

import re
from collections import Counter

from classroom.pages import element as _e
from classroom.pages import page as _page
from classroom.result import Status

ROWS_OF_TOTALS = 12
SENTENCES = 3  # of an exercise, on the class page
WORDS = {  # what a student reads, the colour
    Status.PASSED: ("Passed", "passed"),
    Status.FAILED: ("Not yet", "failed"),
    Status.NOT_WRITTEN: ("Not written yet", "open"),
    Status.MISSING: ("Not found", "missing"),
    Status.MARKED: ("Marked by your teacher", "hand"),
    Status.BY_HAND: ("Read by your teacher", "waiting"),
    Status.NOT_GRADED: ("Not graded", "ungraded"),
}
OF_A_CLASS = {  # the same on the class page, where it is not the status itself
    Status.FAILED: "not yet",
    Status.MISSING: "not found",
    Status.MARKED: "marked by you",
    Status.BY_HAND: "to be marked by you",
}


def student_page(row):
    """Return the feedback page of a student.

    Parameters
    ----------
    row : Row
        What `classroom.reports` knows of the student.

    Returns
    -------
    str
    """
    title = f"{_chapter(row.chapter)}: your exercises"
    body = [_e("h1", title), _e("p", f"For {row.student}", of="faint")]
    if row.points is None:
        why = "its turn has not come yet" if row.result is None else _reason(row.result.fault)
        body += [
            _e("p", "Your work is not graded yet.", of="sum"),
            _e("p", f"Nothing is wrong with what you handed in, and it is safe: {why}"),
            _e("p", "There is nothing you need to do. It will be graded again."),
        ]
        return _page(title, body)
    if row.result.refused is not None:
        body += [
            _e("p", "Your notebook could not be read.", of="sum"),
            _e("p", _sentence_case(row.result.refused)),
            _e("p", "Put that right and hand it in once more, or ask your teacher for help."),
            _e("p", "This says nothing about your answers: nobody has seen them yet."),
        ]
        if not any(part.status is Status.MARKED for part in row.parts):
            return _page(title, body)
    passed = sum(part.status is Status.PASSED for part in row.parts)
    if row.is_another:
        body.append(_e("p", _sentence_case(row.reason)))
    body.append(_e("p", f"{row.points} of {_count(row.out_of, 'point')}", of="sum"))
    body.append(_e("p", _so_far(passed, row)))
    body += [_part(part) for part in row.parts]
    if row.result.notes:
        body += [
            _e("h2", "Seen on the way", of="part"),
            _e("p", "This happened while your notebook ran. It cost no points by itself.", of="faint"),
            _e("ul", *[_e("li", note) for note in row.result.notes]),
        ]
    return _page(title, body)


def _so_far(passed, row):
    """Return a sentence on what is done and what is left."""
    machine = sum(part.status not in (Status.BY_HAND, Status.MARKED) for part in row.parts)
    done = f"{passed} of {machine} checks passed." if machine else ""
    if machine and passed == machine:
        done = "Every check passed. Well done."
    elif machine and not passed:
        done = "No check has passed yet. Each one below says where to go on."
    left = f" Your teacher still gives up to {_count(row.to_mark, 'point')}." if row.to_mark else ""
    return done + left


def _part(part):
    """Return one exercise on a student's page."""
    words, colour = WORDS[part.status]
    gave = f"{part.out_of} to give" if part.points is None else f"{part.points} of {part.out_of}"
    lines = [_e("h2", part.title), _e("p", _e("span", words), _e("b", gave), of="verdict")]
    if part.status is Status.FAILED:
        lines.append(_e("p", part.sentence, of="said"))
        lines.append(_e("p", "Stuck? ", _e("code", f'hint("{part.name}")'), " in your notebook.", of="faint"))
    elif part.status is Status.MARKED:
        lines.append(_e("p", part.comment, of="said"))
    elif part.status in (Status.NOT_WRITTEN, Status.MISSING, Status.NOT_GRADED):
        lines.append(_e("p", part.sentence, of="said"))
    return _e("section", *lines, of=f"card {colour}")


def class_page(chapter, rows, exercises, problems, address):
    """Return the teacher's page: every exercise, the mistakes made most, every student.

    Parameters
    ----------
    chapter : str
    rows : list of Row
    exercises : list of Exercise
    problems : list of str
        What is to be put right in the teacher's own marks.
    address : function, str -> str
        From a student to the address of the feedback page.

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
        *[_e("p", problem) for problem in problems],
        *_zeros(rows, address),
        _e("h2", "Points", of="part"),
        _totals(graded),
        *(
            [_e("p", f"{_count(to_mark, 'student')} can still get points from you.", of="faint")]
            if to_mark
            else []
        ),
        _e("h2", "Exercises, and what went wrong most", of="part"),
    ]
    for place, exercise in enumerate(exercises):
        parts = [(row, row.parts[place]) for row in rows if row.parts]
        body.append(_exercise(exercise, parts, address))
    body += [_e("h2", "Students", of="part"), _students(rows, address)]
    return _page(title, body)


def _zeros(rows, address):
    """Return who has 0 points because nothing could be read or found, which is no word on the work."""
    some = [row for row in rows if row.zero == "form"]
    if not some:
        return []
    links = [_e("a", row.student, href=address(row.student)) for row in some]
    names = [piece for link in links for piece in (link, ", ")][:-1]
    said = f"0 points because of the form, not of the work: {_count(len(some), 'student')}"
    return [_e("details", _e("summary", said), *names)]


def _levels(rows):
    """Return a sentence on how the submissions were kept apart from the machine."""
    levels = Counter(row.result.level for row in rows if row.result and row.result.level)
    if set(levels) == {"bubblewrap"}:
        return "Every notebook that was graded ran in a sandbox."
    if not levels:
        return "No notebook has run."
    said = ", ".join(f"{count:,} at level {level}" for level, count in sorted(levels.items()))
    return f"Not every notebook ran in a sandbox: {said}. Read these marks with care."


def _totals(graded):
    """Return how many students have how many points."""
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
    """Return one exercise on the class page."""
    counts = Counter(part.status for _, part in parts)
    colours = [(WORDS[status][1], counts[status]) for status in WORDS if counts[status]]
    keys = [
        _e("li", _e("i", of=f"key {colour}"), f"{counts[status]:,} {OF_A_CLASS.get(status, status)}")
        for status, (_, colour) in WORDS.items()
        if counts[status]
    ]
    said = most_said(exercise, parts)
    lines = [
        _e("h2", exercise.title, " ", _e("span", _count(exercise.points, "point"), of="faint")),
        _bar(colours),
        _e("ul", *keys, of="keys"),
    ]
    if said:
        lines.append(_e("ol", *[_sentence(*group, address) for group in said[:SENTENCES]], of="said"))
    rest = sum(len(rows) for _, _, rows in said[SENTENCES:])
    if rest:
        lines.append(_e("p", f"{_count(rest, 'student')} went wrong in other ways.", of="faint"))
    return _e("section", *lines, of="card")


def most_said(exercise, parts):
    """Return what students were told most in an exercise.

    Parameters
    ----------
    exercise : Exercise
        Its mistakes are known by name; other sentences are alike when they differ in numbers only.
    parts : list of (Row, ExerciseResult)

    Returns
    -------
    list of (str, str, list of Row)
        The known mistake, or an empty str; one sentence in full; who was told so. Most students first.
    """
    groups = {}
    for row, part in parts:
        if part.status is Status.FAILED:
            known = max((name for name, _ in exercise.mistakes if name in part.sentence), key=len, default="")
            alike = known or re.sub(r"'[^']*'|-?\d[\d.,e+-]*", "…", part.sentence)
            groups.setdefault(alike, (known, part.sentence, []))[2].append(row)
    return sorted(groups.values(), key=lambda group: (-len(group[2]), group[1]))


def _sentence(known, example, rows, address):
    """Return one thing that students were told, and who they are."""
    links = [_e("a", row.student, href=address(row.student)) for row in rows]
    names = [piece for link in links for piece in (link, ", ")][:-1]
    return _e(
        "li",
        _e("b", known or example),
        *([_e("div", f"For example: {example.replace(known, '').strip()}", of="faint")] if known else []),
        _e("details", _e("summary", _count(len(rows), "student")), *names),
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
    """Return a bar of coloured parts. What it shows stands in words beside it."""
    pieces = [_e("i", of=colour, style=f"flex: {count} 0 0") for colour, count in parts if count]
    return _e("div", *pieces, of="bar", **{"aria-hidden": "true"})


def _chapter(stem):
    """Return a chapter's stem as words: "04 closures"."""
    return stem.replace("_", " ")


def _reason(fault):
    """Return what stands behind "not graded, because"."""
    return fault.removeprefix("not graded, because ")


def _sentence_case(text):
    """Return a text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def _count(number, word):
    """Return a number and its word: "1 point", "2 points"."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")
