"""What a class guessed: reading untrusted records, judging as the page does, the list, and the pictures."""

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from classroom import __main__ as command
from classroom import guess_pictures as pictures
from classroom import guesses
from classroom.guesses import Question, collect, fitted, guessed, holds, in_words, shown
from course import colours

ROOT = Path(__file__).parents[2]
CHAPTER = "04_closures"
TWO = "c3ea0cf3-1"  # of chapter 04: which two numbers, with 6 and 10 as answers
LINE = "337ffdd6-1"  # of chapter 04: which line, the first of three, and why
TEXT = "a620fa7c-1"  # of chapter 04: a line of text

NUMBER = {"kind": "number", "is": 35, "within": "±10%", "unit": "percent"}
NUMBERS = {"kind": "numbers", "is": [[4, 16], [1, 2]]}
SHAPE = {"kind": "shape", "is": [3, 2]}
CHOICE = {"kind": "choice", "is": 1, "options": ["`a * b`", "the *second*", "c"]}
CHOICES = {"kind": "choices", "is": [2, 0], "options": ["a", "b", "c"]}
ORDER = {"kind": "order", "is": [2, 0, 1], "options": ["a", "b", "c"]}
WORDS = {"kind": "text"}


def said(*values):
    """Return an entry of a record."""
    return {"said": list(values), "held": True}


@pytest.fixture
def records(tmp_path):
    """A class of four, with a file each."""
    folder = tmp_path / "in"
    folder.mkdir()
    red = "an\x1b[31m <b>error</b>\u202e"
    found = {
        "anna": {TWO: said(6, 10), LINE: said(0, "it has no dY"), TEXT: said("the targets")},
        "ben": {TWO: said(10, 6), LINE: said(1, red), TEXT: said("Aha")},
        "cleo": {TWO: said(6, 6), LINE: {"shown": True}, "gone": said(3)},
        "dora": {TWO: said(6, 1e999), LINE: said(7, "x"), TEXT: "ha"},
    }
    for name, record in found.items():
        other = {"99_gone": {"x": said(1)}} if name == "cleo" else {}
        (folder / f"{name}.json").write_text(json.dumps({CHAPTER: record} | other))
    return folder


def run(folder, *more):
    return command.main(["guesses", str(folder), *map(str, more)])


# ---- values


@pytest.mark.parametrize(
    ("field", "value", "as_read"),
    [
        (NUMBER, 6, 6.0),
        (NUMBER, -0.5, -0.5),
        (NUMBER, 0, 0.0),
        (NUMBERS, [4, 16, 1, 2.5], (4.0, 16.0, 1.0, 2.5)),
        (SHAPE, [3], (3.0,)),
        (SHAPE, [], ()),
        (CHOICE, 2, 2),
        (CHOICES, [2, 1], (1, 2)),
        (CHOICES, [], ()),
        (ORDER, [2, 1, 0], (2, 1, 0)),
        (WORDS, " a\tb\x00\u202e ", "a b"),
        (WORDS, "x" * 10**6, "x" * guesses.LINE),
    ],
)
def test_a_value_that_fits_is_read(field, value, as_read):
    assert fitted(field, value) == as_read


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((NUMBER, value) for value in (True, "6", [6], {}, np.inf, np.nan, 10**4000, -1e31, 1e-31)),
        *((NUMBERS, value) for value in (6, [], [[1, 2]], [1, None], [1] * 1000, "12", {"0": 1})),
        *((SHAPE, value) for value in ([True], [3, 1e99])),
        *((CHOICE, value) for value in (3, -1, 1.0, True, "1", [1])),
        *((CHOICES, value) for value in ([3], [1, 1], [[0]], [True], 1, "ab")),
        *((ORDER, value) for value in ([0, 1], [0, 1, 1], [0, 1, 2, 0], [], None)),
        *((WORDS, value) for value in ("", " \n", 3, ["a"], {"a": 1})),
    ],
)
def test_a_value_that_does_not_fit_is_none(field, value):
    assert fitted(field, value) is None


JUDGED = [
    (NUMBER, [35, 35.0001, 38.5, 38.6, 31.5, -35, 0]),
    ({"kind": "number", "is": 2000, "within": "×2"}, [1000, 4000, 4001, 999, -2000, 0]),
    ({"kind": "number", "is": 0, "within": "±0.5"}, [0.5, -0.5, 0.51]),
    ({"kind": "number", "is": 0.123456}, [0.1235, 0.1234, 0.12349]),
    ({"kind": "number", "is": 10}, [10.000001, 10.0001, 9]),
    (NUMBERS, [[4, 16, 1, 2], [4, 16, 1], [4, 16, 2, 1]]),
    ({"kind": "numbers", "is": [1, 2], "within": "±0.1"}, [[1.1, 1.9], [1.2, 2]]),
    (SHAPE, [[3, 2], [2, 3], [3], [3, 2, 1]]),
    ({"kind": "shape", "is": []}, [[], [1]]),
    (CHOICE, [0, 1, 2]),
    (CHOICES, [[0, 2], [2], [], [0, 1, 2]]),
    (ORDER, [[2, 0, 1], [0, 1, 2]]),
]
NUMBERS_SHOWN = [0, 6, -4, 16384, 0.0125, 1 / 3, -2.5, 1e-9, 3.2e-5, 123456.7, 1234567.8, 1e15, 2.5e22, 1e6]
ASK = """
import { judged, shown } from "./guesses.mjs";
const [fields, numbers] = JSON.parse(process.argv[1]);
const held = fields.map(([field, values]) => values.map((said) => judged(field, said).right));
console.log(JSON.stringify([held, numbers.map(shown)]));
"""


def test_guesses_are_judged_and_shown_as_on_the_page(tmp_path):
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    shutil.copy(ROOT / "course" / "static" / "guesses.js", tmp_path / "guesses.mjs")
    asked = json.dumps([JUDGED, NUMBERS_SHOWN])
    words = [node, "--input-type=module", "--eval", ASK, asked]
    held, numbers = json.loads(subprocess.check_output(words, cwd=tmp_path, text=True, timeout=60))
    assert [[holds(field, fitted(field, one)) for one in values] for field, values in JUDGED] == held
    assert [shown(number) for number in NUMBERS_SHOWN] == numbers
    assert [sum(some) for some in held] == [4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (NUMBER, 1234.0, "1,234 percent"),
        (NUMBERS, (4.0, 16.0, -1.0), "4, 16 and −1"),
        (NUMBERS, NUMBERS["is"], "4, 16, 1 and 2"),
        (SHAPE, (3.0,), "(3,)"),
        (SHAPE, (), "()"),
        (CHOICE, 0, "a * b"),
        (CHOICE, 1, "the second"),
        (CHOICES, (0, 2), "a and c"),
        (CHOICES, (), "none of them"),
        (ORDER, (2, 0, 1), "c, a, b"),
        (WORDS, "a `b`", "a `b`"),
    ],
)
def test_a_value_is_told_in_words(field, value, words):
    assert in_words(field, value) == words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("## Why?\n\nAn intro. What does `a * b` *return*? And then?\n\n<b></b>", "What does a * b return?"),
        ("An intro. Guess the **score**.", "Guess the score."),
        ("See [the page](https://x.y/?z) first.\n\n```python\nf(???)\n```", "See the page first."),
        (f"Is {'very ' * 30}long?", f"Is {'very ' * 11}…"),
    ],
)
def test_the_first_words_are_those_of_the_question(source, words):
    assert guesses.first_words(source) == words


# ---- files


def test_folders_files_and_a_zip_of_them_are_read_alike(records, tmp_path):
    expected, _ = collect(records)
    folders = tmp_path / "folders" / "Class 3a"  # as platforms export it
    for path in records.iterdir():
        place = folders / f"{path.stem} _123_assignsubmission_file" / "work"
        place.mkdir(parents=True)
        path.rename(place / "guesses.json")
    (folders / ".DS_Store").write_bytes(b"\x00")
    assert collect(tmp_path / "folders") == (expected, [])
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for path in folders.rglob("*"):
            archive.write(path, path.relative_to(folders.parent))
        archive.writestr("__MACOSX/._guesses.json", b"\x00")
    with command.unpacked(tmp_path / "class.zip", ".json") as (folder, _):
        assert collect(folder) == (expected, [])


def test_a_students_files_are_one_record(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna/book.json").write_text(json.dumps({CHAPTER: {TWO: said(1, 2)}}))
    lab = {CHAPTER: {TWO: said(3, 4), LINE: said(0, "x")}, "05_chains": {}}
    (tmp_path / "anna/lab.json").write_text(json.dumps(lab))
    (tmp_path / "ben.json").write_text("{}")
    records, problems = collect(tmp_path)
    assert records == [{CHAPTER: {TWO: said(1, 2), LINE: said(0, "x")}, "05_chains": {}}, {}]
    assert problems == []


def test_each_unreadable_file_is_named_and_costs_only_itself(records, capsys):
    bad = {
        "array.json": "[]",
        "broken.json": '{"04_clo',
        "bytes.json": b"\xff\xfe\x00",
        "deep.json": '{"a":' * 10**5,
        "digits.json": '{"a": {"b": %s}}' % ("9" * 5000),
        "large.json": b" " * (guesses.BYTES + 1),
        "notebook.json": '{"cells": [], "metadata": {}}',
        "red\x1b[31m.json": "3",
        "roster.csv": "anna,ben",
    }
    for name, content in bad.items():
        (records / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (records / "link.json").symlink_to(records / "anna.json")
    os.mkfifo(records / "pipe.json")
    assert run(records, "--chapter", CHAPTER) == 2
    printed = capsys.readouterr().out
    named = printed.partition("Students: 4.")[0].splitlines()
    assert named[0] == "Left out: 11" and len(named) == 12 and "\x1b" not in printed
    assert "  array.json: it is JSON, but not a record of guesses." in named
    assert "  deep.json: it is not JSON." in named and "  digits.json: it is not JSON." in named
    assert "  large.json: it has 1.0 MB, and the limit is 1 MB." in named
    assert "  link.json: it is not a file." in named and "  pipe.json: it is not a file." in named
    assert "  roster.csv: it is not a JSON file; the record is called guesses.json." in named


def test_a_folder_without_a_record_is_refused(tmp_path, capsys):
    assert run(tmp_path) == 1
    assert "has no record of guesses: it needs a file guesses.json" in capsys.readouterr().err


# ---- the list


def test_the_list_has_a_line_for_each_guess(records, capsys):
    assert run(records, "--chapter", CHAPTER) == 0
    lines = capsys.readouterr().out.splitlines()
    number = {question.name: question.number for question in guesses.questions_of(CHAPTER)}
    of = {int(line[:3]): line for line in lines if line[:3].strip().isdigit()}
    assert list(of) == list(range(1, len(number) + 1))
    told = f"{number[TWO]} 4 1 Which two numbers do they return? back_from_5(1.0): 6 (2)"
    assert " ".join(of[number[TWO]].split()) == told
    assert of[number[LINE]].endswith("The line that cannot work: Z, dY = second(Y, dZ) (1)")
    assert of[number[LINE]].split()[1:3] == ["3", "1"]
    assert of[number[TEXT]].split()[1:3] == ["2", "-"]
    assert "Guesses to questions that this edition does not ask: 1." in lines
    assert "Values left out, because they do not fit their fields: 3." in lines  # 1e999, 7 and "ha"


def test_without_a_chapter_all_that_occur_are_listed(records, capsys):
    (records / "emil.json").write_text('{"05_chains": {}, "../04_closures": {"x": {"said": [1]}}}')
    run(records)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[2:3] == "_"] == [CHAPTER, "05_chains"]
    assert "Guesses to questions that this edition does not ask: 3." in lines


def test_what_a_record_says_of_itself_does_not_count(records):
    two = guesses.find(CHAPTER, TWO)
    values, left_out = guessed(two, [{CHAPTER: {TWO: {"said": [1, 2], "held": True}}}, {CHAPTER: {TWO: {}}}])
    assert values == [[1, 2]] and left_out == 1
    assert guesses.rows([two], [values])[1].split()[1:3] == ["1", "0"]


# ---- the pictures


def asked(*fields):
    return Question(CHAPTER, 3, TWO, "Which two?", list(fields))


def drawn(field, values, hide=False):
    """Draw a question with one field; return its axes and the picture's description of it."""
    figure, (_, description) = pictures.picture(asked(field), [[value] for value in values], hide)
    return figure.axes[0], description


def bars(field, values, hide=False):
    """Return the words beside the bars, their lengths, and the text at their ends."""
    ax, _ = drawn(field, values, hide)
    words = [label.get_text() for label in ax.get_yticklabels()]
    assert [bar.get_facecolor()[:3] == (0, 0, 0) for bar in ax.patches] == [
        not hide and ("right" in text.get_text() or "close" in text.get_text()) for text in ax.texts
    ]
    rows = zip(words, ax.patches, ax.texts, strict=True)
    return [(word, bar.get_width(), text.get_text()) for word, bar, text in rows]


def test_options_are_bars_in_their_order():
    assert bars(CHOICE, [0, 1, 1]) == [("a * b", 1, "1"), ("the second", 2, "2  right"), ("c", 0, "0")]
    rows = [("a", 2, "2  right"), ("b", 1, "1"), ("c", 1, "1  right")]
    assert bars(CHOICES, [(0,), (0, 1), (2,)]) == rows
    assert bars(CHOICES, [(0,), ()])[-1] == ("none of them", 1, "1")
    assert bars({**CHOICES, "is": []}, [(0,)])[-1] == ("none of them", 0, "0  right")
    assert len(bars({**CHOICES, "is": []}, [(0,)], hide=True)) == 3


def test_orders_and_shapes_are_bars_with_the_commonest_first():
    assert bars(ORDER, [(0, 1, 2), (2, 0, 1), (0, 1, 2)]) == [("a, b, c", 2, "2"), ("c, a, b", 1, "1  right")]
    assert bars(SHAPE, [(2.0, 3.0)]) == [("(2, 3)", 1, "1"), ("(3, 2)", 0, "0  right")]
    many = [(float(size),) for size in range(10, 20)] + [(3.0, 2.0)] + [(12.0,)]
    found = bars(SHAPE, many)
    assert found[0] == ("(12,)", 2, "2")
    assert found[-2:] == [("(3, 2)", 1, "1  right"), ("5 other answers", 5, "5")]
    assert sum(count for _, count, _ in found) == 12


def test_few_numbers_are_bars_by_size():
    assert bars(NUMBER, [36.0, 100.0, -2.0, 36.0]) == [
        ("−2 percent", 1, "1"),
        ("35 percent", 0, "0  right"),
        ("36 percent", 2, "2  close enough"),
        ("100 percent", 1, "1"),
    ]


@pytest.mark.parametrize(
    ("values", "right"),
    [
        (range(20), 7),
        (np.linspace(1, 50, 17), 7.5),
        ([1, 2, 5, 10, 100, 1000, 999, 1e6, 1e5], 2000),
        ([1e30, 1e-30, *range(1, 9)], 1e10),
        ([-1e30, 0, 1e-30, *range(1, 9)], -3.5),
        ([-1, -2, -5, -10, -100, -1000, -999, -1e6, -1e5], 0),
    ],
)
def test_many_numbers_are_a_histogram_that_loses_none(values, right):
    values = [float(value) for value in values]
    ax, description = drawn({"kind": "number", "is": right}, values)
    assert sum(bar.get_height() for bar in ax.patches) == len(values)
    (line,), (note,) = ax.lines, ax.texts
    assert line.get_color() == colours.TRUTH and note.get_text() == f"right: {shown(right)}"
    assert ax.get_xlim()[0] <= line.get_xdata()[0] <= ax.get_xlim()[1]
    assert f"right: {shown(right)}, " in description


def test_an_axis_is_logarithmic_beyond_two_powers_of_ten():
    values = [float(value) for value in (1, 2, 5, 10, 20, 30, 50, 60, 99)]
    ax, _ = drawn({"kind": "number", "is": 7}, values)
    assert ax.get_xlim()[1] > 90
    ax, _ = drawn({"kind": "number", "is": 7}, [*values, 1e5])
    assert [label.get_text() for label in ax.get_xticklabels()] == "1 10 100 1,000 10,000 100,000".split()
    np.testing.assert_allclose(np.diff(ax.get_xticks()), 1)
    ax, _ = drawn({"kind": "number", "is": 0}, [*values, -1e5])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert "0" in labels and labels[0].startswith("−") and len(labels) < 10


OTHER = {"number": 99999, "numbers": [7, 7], "shape": [9], "choice": 2, "choices": [], "order": [0, 1, 2]}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        (NUMBER, [36.0, 3.0]),
        (NUMBER, [float(value) for value in range(20)]),
        (NUMBERS, [(4.0, 16.0), (1.0,)]),
        (SHAPE, [(3.0, 2.0), (float(9),), *((float(size),) for size in range(20))]),
        (CHOICE, [0, 1]),
        (CHOICES, [(0,), (1, 2)]),
        (ORDER, [(2, 0, 1), (0, 1, 2)]),
    ],
)
def test_a_hidden_picture_is_the_same_whatever_is_right(field, values):
    found = []
    for right in (field, {**field, "is": OTHER[field["kind"]], "within": "±1"}):
        figure, description = pictures.picture(asked(right), [[value] for value in values], hide=True)
        found.append((pictures.as_file(figure, "svg", description), description))
        open_figure, told = pictures.picture(asked(right), [[value] for value in values])
        assert pictures.as_file(open_figure, "svg", told) != found[-1][0] and "right" in told[1]
    assert found[0] == found[1] and "right" not in found[0][1][1]


def test_the_command_draws_describes_and_prints_texts_without_names(records, tmp_path, capsys):
    number = guesses.find(CHAPTER, LINE).number
    out = tmp_path / "pictures" / "line.svg"
    assert run(records, "--chapter", CHAPTER, "--question", number, "--out", out) == 0
    printed = capsys.readouterr().out
    svg = out.read_text("utf-8")
    assert "n = 3 students" in svg and "2  right" not in svg and "1  right" in svg
    told = "Y, dX = first(X, dY): 1 (right); Z, dY = second(Y, dZ): 1; return Z, dX: 0."
    assert told in printed and told.replace("\n", " ") in svg.replace("\n", " ")
    assert "Because:\n  an [31m <b>error</b>\n  it has no dY\n  x\n" in printed
    assert not [name for name in ("anna", "ben", "cleo", "dora") if name in printed + svg]
    assert "Values left out, because they do not fit their fields: 1." in printed


def test_a_picture_is_a_png_too_and_an_id_is_as_good_as_a_number(records, tmp_path, capsys):
    run(records, "--chapter", CHAPTER, "--question", TWO, "--out", tmp_path / "two.png", "--hide")
    assert (tmp_path / "two.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "back_from_3(1.0) (n = 4): 6: 3; 10: 1." in printed and "right" not in printed


def test_a_question_for_words_alone_is_not_drawn(records, tmp_path, capsys):
    assert run(records, "--chapter", CHAPTER, "--question", TEXT, "--out", tmp_path / "x.svg") == 0
    printed = capsys.readouterr().out
    assert "Nothing was drawn" in printed and "  Aha\n  the targets\n" in printed
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--chapter", "04"], "there is no chapter '04': give its full name, such as 04_closures."),
        (["--chapter", "../04_closures"], "there is no chapter"),
        (["--question", "3", "--out", "x.svg"], "--question needs the --chapter"),
        (["--chapter", CHAPTER, "--question", "3"], "and --out, the file of the picture"),
        (["--chapter", CHAPTER, "--hide"], "--out and --hide are for one question"),
        (["--chapter", CHAPTER, "--question", "99", "--out", "x.svg"], "none is called '99'"),
        (["--chapter", CHAPTER, "--question", "9", "--out", "x.svg"], "nobody has guessed 9 of 04_closures"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(records, words, why, capsys):
    assert run(records, *words) == 1
    assert why in capsys.readouterr().err


def test_a_picture_is_an_svg_or_a_png(records, capsys):
    with pytest.raises(SystemExit):
        run(records, "--chapter", CHAPTER, "--question", "3", "--out", "picture.pdf")
    assert "must be a file .svg or .png, got 'picture.pdf'" in capsys.readouterr().err


def test_the_course_s_own_answers_fit_their_fields_and_hold():
    for chapter in guesses.CHAPTERS:
        for question in guesses.questions_of(chapter.stem):
            assert question.words
            for field in question.fields:
                if field["kind"] != "text":
                    right = field["is"]
                    listed = guesses._flat(right) if isinstance(right, list) else right
                    assert holds(field, fitted(field, listed)), (question, field)
