"""Equal answers in a class, and how common each of them is: a hint, not a verdict.

Holds `similar`. Answers are equal if they have the same form. A short answer has few forms, and many students
find the same one; so each is listed with the number of students who have it, and the pairs of students are in
the order of the improbability of the forms they share. ``classroom.answers`` defines the form.
"""

from itertools import combinations
from math import log2

from classroom.answers import definitions, form
from course import store
from course.curriculum import exercises_path

HEAD = ["student", "other", "in words", "equal answers, and how many of the class have them"]
SAME_FILE = "the two files are equal, byte for byte"
LEAST = 1.0  # bits: pairs with less are not listed; a form that half of the class has gives 1 bit


def similar(answers, solution, handed_out=b""):
    """List the pairs of students who have equal answers or files, the most surprising first.

    Parameters
    ----------
    answers : dict of str to bytes
        Student to notebook.
    solution : bytes
        The chapter's own notebook, whose forms do not count as shared.
    handed_out : bytes
        The notebook before anything is written: what is still as in it is no answer.

    Returns
    -------
    list of list
        A line for each pair, with the columns of `HEAD`. Equal files come first; the order of the others is
        that of their bits, summed over the exercises: log2 of the number of students who wrote the exercise
        divided by the number who have the form.
    """
    stubs = {name: form(statement) for name, statement in definitions(handed_out).items()}
    known = {name: form(statement) for name, statement in definitions(solution).items()}
    forms = {
        student: {
            name: shape
            for name, statement in definitions(data).items()
            if name in known and (shape := form(statement)) != stubs.get(name)
        }
        for student, data in answers.items()
    }
    having, written = {}, {}
    for of_student in forms.values():
        for name, shape in of_student.items():
            having[name, shape] = having.get((name, shape), 0) + 1
            written[name] = written.get(name, 0) + 1
    lines = []
    for one, other in combinations(sorted(forms), 2):
        both = forms[one].keys() & forms[other].keys()
        same = [n for n in known if n in both and forms[one][n] == forms[other][n] != known[n]]
        bits = sum(log2(written[name] / having[name, forms[one][name]]) for name in same)
        is_same_file = bool(both) and answers[one] == answers[other]
        if bits >= LEAST or is_same_file:
            words = f"{len(same)} of {len(both)} answers are equal but for names and layout"
            shared = [f"{n} ({having[n, forms[one][n]]} of {written[n]})" for n in same]
            line = [one, other, SAME_FILE if is_same_file else words, ", ".join(shared)]
            lines.append((not is_same_file, -bits, line))
    return [line for _, _, line in sorted(lines)]


def solution_of(chapter):
    """Return the bytes of a chapter's solutions."""
    return (store.PROJECT / "solutions" / exercises_path(chapter)).read_bytes()


def handed_out_of(chapter):
    """Return the bytes of a chapter's exercises before anything is written; b"" if there are none."""
    path = store.PROJECT / "exercises" / exercises_path(chapter)
    return path.read_bytes() if path.exists() else b""
