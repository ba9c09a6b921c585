"""Answers of the same form in a class, and how common that form is: a hint, not a verdict.

Holds `similar`. A short answer has few forms, and many students find the same one; so each form is listed
with the number of students who have it, and each pair of students with the improbability of the forms they
share. ``classroom.answers`` defines the form.
"""

from itertools import combinations
from math import log2

from classroom.answers import definitions, form
from course import store
from course.curriculum import exercises_path

HEAD = ["student", "other", "bits", "same form", "of both written", "exercises, and how many have that form"]
LEAST = 1.0  # bits: pairs with less are not listed; a form that half of the class has gives 1 bit


def similar(answers, solution):
    """List the pairs of students who share forms, the most surprising first.

    Parameters
    ----------
    answers : dict of str to bytes
        Student to notebook.
    solution : bytes
        The chapter's own notebook, whose forms do not count as shared.

    Returns
    -------
    list of list
        A line for each pair, with the columns of `HEAD`. Bits are summed over the exercises: log2 of the
        number of students who wrote the exercise divided by the number who have the form.
    """
    known = {name: form(statement) for name, statement in definitions(solution).items()}
    forms = {
        student: {name: form(s) for name, s in definitions(data).items() if name in known}
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
        if bits >= LEAST:
            shared = [f"{n} ({having[n, forms[one][n]]} of {written[n]})" for n in same]
            lines.append([one, other, round(bits, 1), len(same), len(both), ", ".join(shared)])
    return sorted(lines, key=lambda line: (-line[2], line[0], line[1]))


def solution_of(chapter):
    """Return the bytes of a chapter's solutions."""
    return (store.PROJECT / "solutions" / exercises_path(chapter)).read_bytes()
