"""The guesses of a class: what the students' files ``guesses.json`` hold, judged and counted.

Holds `collect`, which reads the files; `questions_of`, which reads what a chapter asks; `guessed`, which
matches the two; and `rows`. ``classroom.guess_pictures`` draws. A browser wrote the files, and a student can
have edited them: every value is compared with its field, and whether it held is judged anew.
"""

import json
import re
import textwrap
from collections import Counter
from dataclasses import dataclass

from classroom.faults import GradingFault, Refused
from classroom.folders import SYSTEM
from classroom.grade import clean
from course import store
from course.curriculum import CHAPTERS
from course.guesses import questions

BYTES = 1_000_000  # of a file; the guesses of the whole course take less than a tenth of it
LARGEST = 1e30  # of numbers, and its inverse the smallest but 0; a picture's axis has to hold them
MANY = 64  # entries of a list
LINE = 300  # characters of a line of text
SHORT = 60  # characters of the question and of the commonest wrong answer in the list

NOT_WORDS = re.compile(r"^```.*?^```|^#+ .*?$|<[^<>]*>|\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"`([^`]+)`|\*{1,2}([^*\s][^*]*)\*{1,2}")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
WITHIN = re.compile(r"([±×])([\d.]+)(%?)")


@dataclass(frozen=True)
class Question:
    """One guess that a chapter asks for.

    Attributes
    ----------
    chapter : str
    number : int
        Its place among the chapter's guesses, from 1.
    name : str
        Its id in the record.
    words : str
        The first words of the question.
    fields : list of dict
        As in ``course.guesses.questions``.
    """

    chapter: str
    number: int
    name: str
    words: str
    fields: list


def questions_of(chapter):
    """List the guesses that a chapter asks for.

    Parameters
    ----------
    chapter : str
        ``"04_closures"``.

    Returns
    -------
    list of Question

    Raises
    ------
    GradingFault
        If there is no such chapter.
    """
    if chapter not in {known.stem for known in CHAPTERS}:
        raise GradingFault(f"there is no chapter {chapter!r}: give its full name, such as 04_closures.")
    notebook = json.loads((store.PROJECT / "notebooks" / f"{chapter}.ipynb").read_text("utf-8"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    return [
        Question(chapter, number, asked["id"], first_words(sources[asked["id"]]), asked["fields"])
        for number, asked in enumerate(questions(notebook), 1)
    ]


def find(chapter, which):
    """Return one question of a chapter.

    Parameters
    ----------
    chapter : str
    which : str
        Its number, or its id.

    Returns
    -------
    Question

    Raises
    ------
    GradingFault
        If the chapter does not ask it, or does not exist.
    """
    asked = questions_of(chapter)
    for question in asked:
        if which in (str(question.number), question.name):
            return question
    raise GradingFault(
        f"{chapter} asks for {len(asked)} guesses, and none is called {which!r}: give a number from 1, or an "
        "id. Without --question the command lists them."
    )


def first_words(source):
    r"""Return the first words of the first question, or else instruction, in a cell's Markdown.

    Examples
    --------
    >>> first_words("## Two boxes\n\nCall `f` with 3. What does it *return*? Write it down.")
    'What does it return?'
    """
    text = LINK.sub(r"\1", NOT_WORDS.sub(" ", source)).replace("$", "")
    sentences = re.split(r"(?<=[.?!])\s+", " ".join(plain(text).split()))
    asked = [one for one in sentences if one.endswith("?")]
    told = [one for one in sentences if one.startswith(("Guess", "Write"))]
    return textwrap.shorten((asked or told or sentences)[0], SHORT, placeholder=" …")


def collect(folder):
    """Read the records of a class.

    Parameters
    ----------
    folder : Path
        With one JSON file per student, or one folder per student. Where a student's folder has several files,
        the first one in alphabetical order counts for guesses that are in more than one. A single folder
        around all others is not a student's.

    Returns
    -------
    records : list of dict
        Per student: by chapter and id, what the file has there; of this, nothing has been compared yet.
    problems : list of str
        A sentence for each file that is not a record of guesses.
    """
    places = _places(folder)
    while len(places) == 1 and places[0].is_dir() and not places[0].is_symlink():
        folder = places[0]
        places = _places(folder)
    records, problems = [], []
    for place in places:
        found = []
        is_folder = place.is_dir() and not place.is_symlink()
        for path in _files(place) if is_folder else [place]:
            try:
                found.append(_read(path))
            except Refused as refused:
                problems.append(f"{path.relative_to(folder)}: {refused}")
            except OSError as error:
                problems.append(f"{path.relative_to(folder)}: it cannot be read: {error.strerror}.")
        if found:
            records.append(_merged(found))
    return records, problems


def _places(folder):
    """List what is in a folder, without hidden files and those of the operating system."""
    return sorted(place for place in folder.iterdir() if not place.name.startswith((".", *SYSTEM)))


def _files(folder):
    """List the files in a student's folder and below it, without following links to folders."""
    return [
        path
        for place in _places(folder)
        for path in (_files(place) if place.is_dir() and not place.is_symlink() else [place])
    ]


def _read(path):
    """Read one record, or raise Refused."""
    if path.is_symlink() or not path.is_file():
        raise Refused("it is not a file.")
    if path.suffix.lower() != ".json":
        raise Refused("it is not a JSON file; the record is called guesses.json.")
    if (size := path.stat().st_size) > BYTES:
        raise Refused(f"it has {size / 1e6:.1f} MB, and the limit is {BYTES / 1e6:.0f} MB.")
    try:
        record = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise Refused("it is not JSON.") from error
    if not isinstance(record, dict) or not all(isinstance(said, dict) for said in record.values()):
        raise Refused("it is JSON, but not a record of guesses.")
    return record


def _merged(records):
    """Return one record from several; earlier ones count first."""
    merged = {}
    for record in reversed(records):
        for chapter, said in record.items():
            merged[chapter] = merged.get(chapter, {}) | said
    return merged


def unknown(asked, records, all_chapters):
    """Count the guesses to questions that the chapters do not ask; an older edition may have.

    Parameters
    ----------
    asked : dict of str to list of Question
        By chapter.
    records : list of dict
        From `collect`.
    all_chapters : bool
        Count the guesses of all other chapters, too.

    Returns
    -------
    int
    """
    names = {chapter: {question.name for question in some} for chapter, some in asked.items()}
    return sum(
        len(said.keys() - names.get(chapter, set()))
        for record in records
        for chapter, said in record.items()
        if all_chapters or chapter in names
    )


def guessed(question, records):
    """Return what each student guessed, as far as it fits the question's fields.

    Parameters
    ----------
    question : Question
    records : list of dict
        From `collect`.

    Returns
    -------
    said : list of list
        For each student who guessed, a value per field: a float, a place among the options, a tuple of
        these, or a text; None where the value does not fit the field.
    left_out : int
        Number of values that do not fit.
    """
    said, left_out = [], 0
    for record in records:
        entry = record.get(question.chapter, {}).get(question.name, {"shown": True})
        if isinstance(entry, dict) and entry.get("shown") is True:  # opened without a guess
            continue
        values = entry.get("said") if isinstance(entry, dict) else None
        if not isinstance(values, list) or len(values) != len(question.fields):
            left_out += 1
            continue
        fitting = [fitted(field, value) for field, value in zip(question.fields, values, strict=True)]
        left_out += fitting.count(None)
        if fitting.count(None) < len(fitting):
            said.append(fitting)
    return said, left_out


def fitted(field, value):
    """Return a value from a record as its field has it, or None if it does not fit.

    Parameters
    ----------
    field : dict
    value : object
        Anything that JSON can hold.

    Returns
    -------
    float, int, tuple, str or None

    Examples
    --------
    >>> fitted({"kind": "number"}, 6), fitted({"kind": "number"}, True), fitted({"kind": "shape"}, [3, 2])
    (6.0, None, (3.0, 2.0))
    """
    kind, places = field["kind"], range(len(field.get("options", ())))
    if kind == "text":
        return (clean(value[:LINE]).strip() or None) if isinstance(value, str) else None
    if kind == "number":
        return _number(value)
    if kind == "choice":
        return value if type(value) is int and value in places else None
    if not isinstance(value, list) or len(value) > MANY:
        return None
    if kind in ("choices", "order"):
        if not all(type(place) is int and place in places for place in value) or len({*value}) < len(value):
            return None
        if kind == "choices":
            return tuple(sorted(value))
        return tuple(value) if len(value) == len(places) else None
    numbers = tuple(map(_number, value))
    is_empty = not numbers and kind != "shape"  # () is the shape of a single number
    return None if is_empty or None in numbers else numbers


def _number(value):
    """Return a number as a float; None if it is none, or not finite, or too large or small to be drawn."""
    if type(value) not in (int, float) or not (value == 0 or 1 / LARGEST <= abs(value) <= LARGEST):
        return None
    return float(value)


def holds(field, value):
    """Report whether a value is right, as ``course/static/guesses.js`` judges it.

    Parameters
    ----------
    field : dict
        Not of kind ``text``, which has no answer.
    value : float, int or tuple
        From `fitted`.

    Returns
    -------
    bool
    """
    kind, right = field["kind"], field["is"]
    if kind == "choice":
        return value == right
    if kind == "choices":
        return value == tuple(sorted(right))
    within = field.get("within", "") if kind in ("number", "numbers") else ""
    said, wanted = _flat(value), _flat(right)
    return len(said) == len(wanted) and all(
        is_right(one, other, within) for one, other in zip(said, wanted, strict=True)
    )


def is_right(said, right, within=""):
    """Report whether a number is right within what the question allows; the rule is that of guesses.js.

    Parameters
    ----------
    said, right : float
    within : str
        ``"±0.5"``, ``"±10%"``, ``"×2"``; or "", which leaves four digits of a fraction.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_right(33, 35, "±10%"), is_right(33, 35), is_right(16.2399, 16.24), is_right(1, 10, "×10")
    (True, False, True, True)
    """
    far, tiny = abs(said - right), 1e-6 * max(abs(right), 1e-12)
    if found := WITHIN.fullmatch(within):
        kind, size, percent = found[1], float(found[2]), found[3]
        if kind == "±":
            return far <= (abs(right) * size / 100 if percent else size) + tiny
        near = size * (1 + 1e-9)
        return said * right > 0 and said / right <= near and right / said <= near
    return far <= tiny or (float(f"{said:.4g}") == float(f"{right:.4g}") and not float(right).is_integer())


def _flat(value):
    """Return a number, or nested sequences of numbers, as one list."""
    if isinstance(value, list | tuple):
        return [number for part in value for number in _flat(part)]
    return [value]


def in_words(field, value):
    """Return a guess or an answer as the book writes it, without marks for code.

    Parameters
    ----------
    field : dict
    value : float, int, str, list or tuple

    Returns
    -------
    str

    Examples
    --------
    >>> in_words({"kind": "numbers"}, (4.0, 16.0)), in_words({"kind": "shape"}, (3,))
    ('4 and 16', '(3,)')
    """
    kind, options = field["kind"], [plain(option) for option in field.get("options", ())]
    if kind == "text":
        return value
    if kind == "number":
        return " ".join(filter(None, (shown(value), field.get("unit"))))
    if kind == "choice":
        return options[value]
    if kind == "order":
        return ", ".join(options[place] for place in value)
    if kind == "shape":
        return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
    words = [options[place] for place in value] if kind == "choices" else [shown(one) for one in _flat(value)]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:]))) or "none of them"


def shown(value):
    """Return a number as the book writes it.

    Examples
    --------
    >>> shown(16384), shown(0.0125), shown(1e-9), shown(-2.0)
    ('16,384', '0.0125', '1e-9', '−2')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    if 1000 <= abs(value) < 1e6:
        return shown(round(value))
    short = float(f"{value:.4g}")
    if 1e-4 <= abs(short) < 1e6:
        text = f"{short:g}"
    else:
        digits, power = f"{short:.3e}".split("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    return re.sub("^-", "−", text)


def plain(words):
    """Return words of the course without the marks of Markdown for code and emphasis."""
    return MARK.sub(lambda mark: mark[1] or mark[2], words)


def label(field):
    """Return the label of a field, without the marks of Markdown; it may be empty."""
    return plain(field.get("label", ""))


def rows(asked, said):
    """Describe the guesses of a chapter, with a line each.

    Parameters
    ----------
    asked : list of Question
    said : list of list of list
        For each question, what `guessed` returns first.

    Returns
    -------
    list of str
        A head and the lines: the question's number, how many guessed, how many held ("-" if it asks only for
        text), its first words, and the commonest wrong answer with how many gave it.
    """
    head = f"{'':3}  {'guessed':>7}  {'held':>4}  {'question':{SHORT}}  commonest wrong answer"
    lines = [head]
    for question, values in zip(asked, said, strict=True):
        judged = [field["kind"] != "text" for field in question.fields]
        held = sum(_all_hold(question, one) for one in values) if any(judged) else "-"
        line = f"{question.number:3}  {len(values):7}  {held:>4}  {question.words:{SHORT}}  "
        lines.append((line + _commonest_wrong(question, values)).rstrip())
    return lines


def _judged(question, values):
    """Return, for the values of one student, triples of place, value and whether it holds; None is wrong."""
    return [
        (place, value, value is not None and holds(field, value))
        for place, (field, value) in enumerate(zip(question.fields, values, strict=True))
        if field["kind"] != "text"
    ]


def _all_hold(question, values):
    """Report whether all judged values of a student hold."""
    return all(held for _, _, held in _judged(question, values))


def _commonest_wrong(question, said):
    """Return the commonest wrong answer, with its field's label if there are several fields."""
    wrong = Counter(
        (place, in_words(question.fields[place], value))
        for values in said
        for place, value, held in _judged(question, values)
        if value is not None and not held
    )
    if not wrong:
        return ""
    ((place, words), count) = wrong.most_common(1)[0]
    name = label(question.fields[place]) if len(question.fields) > 1 else ""
    return f"{textwrap.shorten(': '.join(filter(None, (name, words))), SHORT, placeholder=' …')} ({count})"
