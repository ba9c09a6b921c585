"""The page for marking by hand: no names, equal answers grouped, and 0 filled in for unwritten answers.

Holds `write_marking_page`. The page is one file that loads nothing; its button writes ``marks.csv``, or
``marks-2.csv`` if there is one, which the reports read (``classroom.by_hand``). The teacher's guide explains
how to mark an answer.
"""

import json
from hashlib import sha256

from classroom.answers import code_of, words_of
from classroom.by_hand import COLUMNS, DIGITS, SUBMISSION, next_file
from classroom.pages import element, page
from classroom.reports import rows
from classroom.result import Status, exercises_of
from classroom.similar import handed_out_of
from course import store

NAME = "marking.html"
SCRIPT = """
const head = %s, name = %s, groups = %s;
const cell = text => '"' + (/^[=+@\\t\\r-]/.test(text) ? "'" : "") + String(text).replaceAll('"', '""') + '"';
document.querySelector("button").addEventListener("click", () => {
  const lines = [head];
  for (const group of groups) {
    const points = document.getElementById(group.id + "-points").value.trim();
    const comment = document.getElementById(group.id + "-comment").value;
    if (points === "") continue;
    for (const [student, submission] of group.students)
      lines.push([student, group.exercise, points, comment, submission]);
  }
  const text = "\\ufeff" + lines.map(line => line.map(cell).join(",")).join("\\n") + "\\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  link.download = name;
  link.click();
});
"""


def write_marking_page(queue):
    """Write the page into the folder of the marks.

    Parameters
    ----------
    queue : Queue

    Returns
    -------
    Path
    """
    groups, name = _groups(queue), next_file(queue.folder)
    body = [
        element("h1", f"{queue.chapter.replace('_', ' ')}: to be marked"),
        element(
            "p",
            "Equal answers are grouped, without names. Fill in the points and press the button at the end; "
            f"put the downloaded {name} beside grades.csv, and run report.",
        ),
    ]
    for exercise in exercises_of(queue.chapter):
        of_exercise = [group for group in groups if group["exercise"] == exercise.name]
        if of_exercise:
            body.append(element("h2", f"{exercise.title}: {exercise.points} points", of="part"))
            body += [_card(group, exercise.points) for group in of_exercise]
    body.append(element("p", element("button", name, type="button")))
    plain = [{key: group[key] for key in ("id", "exercise", "students")} for group in groups]
    script = SCRIPT % (json.dumps([*COLUMNS, SUBMISSION]), json.dumps(name), _safe(plain))
    path = queue.folder / NAME
    store.write(path, page("To be marked", body, script))
    return path


def _safe(thing):
    """Return data as JavaScript in which no string can end the script."""
    return json.dumps(thing).replace("<", "\\u003c").replace("&", "\\u0026").replace(">", "\\u003e")


def _groups(queue):
    """Group the answers to mark, equal answers to one exercise together, in the order of their hashes."""
    stubs = handed_out_of(queue.chapter)
    found = {}
    for row in rows(queue)[0]:
        for part in row.parts:
            if part.status is Status.BY_HAND:
                answer = _answer(queue.submission(row.result.submission)[0] or b"", part)
                key = sha256(f"{part.name} {' '.join(answer.split())}".encode()).hexdigest()
                empty = not answer.strip() or answer.split() == _answer(stubs, part).split()
                group = {"id": f"g{key[:16]}", "exercise": part.name, "answer": answer, "empty": empty}
                found.setdefault(key, group | {"students": []})["students"].append(
                    [row.student, row.result.submission[:DIGITS]]
                )
    return [found[key] for key in sorted(found)]


def _answer(data, part):
    """Return an answer's code, or its text."""
    return code_of(data, part.short) or words_of(data, part.short)


def _card(group, points):
    """Return the card of one group on the page."""
    count = len(group["students"])
    given = {"value": "0"} if group["empty"] else {}
    given |= {"type": "number", "min": "0", "max": str(points), "step": "any"}
    number = element("input", id=f"{group['id']}-points", **given)
    comment = element("input", id=f"{group['id']}-comment", type="text", size="40")
    return element(
        "section",
        element("p", element("span", f"{count} answer{'s' * (count > 1)}"), of="verdict"),
        element("pre", group["answer"] or "(nothing)"),
        element("p", element("label", "Points ", number), " ", element("label", "Comment ", comment)),
        of="card waiting",
    )
