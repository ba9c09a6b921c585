"""Guesses in the book: what their script computes, and what readers meet by mouse, by keys and by touch."""

import json
import re

import pytest

from course.guesses import questions
from tests.browser.conftest import FETCHED, HERE, PROJECT, needed, served, small_book
from tests.browser.moving import computed
from tests.browser.test_chapters import answers

pytestmark = pytest.mark.browser

MODULE = "../guesses"
INDEX = "# Book\n\n```{toctree}\n:glob:\n\nwhere\nnotebooks/*\n```\n"
WHERE = '# Where you are\n\n<div class="where-you-are"></div>\n'
CHAPTERS = ("notebooks/04_closures", "notebooks/07_learning", "notebooks/13_sharing")
ASKED = {
    chapter: questions(json.loads((PROJECT / f"{chapter}.ipynb").read_text("utf-8"))) for chapter in CHAPTERS
}
IN_04, IN_07, IN_13 = map(len, ASKED.values())

NUMBERS = {
    " 7 ": 7,
    "+7.": 7,
    ".5": 0.5,
    "−4": -4,
    "- 4": -4,
    "1,000": 1000,
    "16,384.5": 16384.5,
    "1 000 000": 10**6,
    "0,5": 0.5,
    "0,125": 0.125,
    "1e-3": 1e-3,
    "10^5": 1e5,
    "10^-5": 1e-5,
    "-10**2": -100,
    "2·10^3": 2000,
    "2 x 10^(3)": 2000,
    "1/3": 1 / 3,
    "-2 / 8": -0.25,
    "50 %": 0.5,
    "50 percent": 0.5,
}
WITH_UNITS = {
    ("24 %", "percent"): 24,
    ("24 percent", "percent"): 24,
    ("24", "percent"): 24,
    ("2,000 Runs", "runs"): 2000,
    ("2000", "runs"): 2000,
    ("50%", "runs"): 0.5,
    ("7 euros", "runs"): None,
}
NONSENSE = ("", "seven", "1 2", "1,2,3", "--4", "3-1", "10^", "e", "1/0", "1e999", "7 euros")


def test_a_number_is_read_as_people_write_it(node):
    cases = {(text, ""): value for text, value in NUMBERS.items()} | WITH_UNITS
    found = computed(node, MODULE, "module.readNumber(...one)", list(cases))
    assert dict(zip(cases, found, strict=True)) == cases


def test_what_is_no_number_is_not_read(node):
    found = computed(node, MODULE, "module.readNumber(one)", list(NONSENSE))
    assert dict(zip(NONSENSE, found, strict=True)) == dict.fromkeys(NONSENSE)


def test_several_numbers_are_read_between_all_that_people_write(node):
    cases = {
        ("3, 0.5; 12", ""): [3, 0.5, 12],
        ("6 and 10", ""): [6, 10],
        ("[[23, 2], [39, 4]]", ""): [23, 2, 39, 4],
        ("(128,)", ""): [128],
        ("−1 1/3 1e-3", ""): [-1, 1 / 3, 1e-3],
        ("15 %, 42% and 8", "percent"): [15, 42, 8],
        ("3 or 5", ""): None,
        ("[]", ""): None,
        ("", ""): None,
    }
    found = computed(node, MODULE, "module.readNumbers(...one)", list(cases))
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_guess_is_right_within_what_its_question_allows(node):
    cases = {
        (6, 6, ""): True,
        (6.0001, 6, ""): False,
        (0, 0, ""): True,
        (0.3333, 1 / 3, ""): True,
        (0.33, 1 / 3, ""): False,
        (5.5, 6, "±0.5"): True,
        (6.5, 6, "±0.5"): True,
        (6.51, 6, "±0.5"): False,
        (0.11, 0.1, "±10%"): True,
        (0.111, 0.1, "±10%"): False,
        (-110, -100, "±10%"): True,
        (110, -100, "±10%"): False,
        (3, 6, "×2"): True,
        (12, 6, "×2"): True,
        (12.1, 6, "×2"): False,
        (2.9, 6, "×2"): False,
        (-6, 6, "×2"): False,
        (0, 6, "×2"): False,
        (4, 6, "×1.5"): True,
        (3.9, 6, "×1.5"): False,
    }
    found = computed(node, MODULE, "module.isRight(...one)", list(cases))
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_number_is_shown_as_the_book_writes_it(node):
    cases = {
        0: "0",
        16384: "16,384",
        -4: "−4",
        0.0125: "0.0125",
        1 / 3: "0.3333",
        -27.91: "−27.91",
        12345.6: "12,346",
        1234567.8: "1.235e6",
        1e-9: "1e-9",
        -2.5e-7: "−2.5e-7",
        1e15: "1e15",
    }
    found = computed(node, MODULE, "module.shown(one)", list(cases))
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_wrong_number_is_told_by_what(node):
    cases = {
        (12, 6): "your guess is twice as large",
        (3, 6): "your guess is half as large",
        (60, 6): "your guess is 10 times as large",
        (9, 6): "your guess is 1.5 times as large",
        (0.06, 6): "your guess is 100 times too small",
        (7, 6): "your guess is too large by 1",
        (5, 6): "your guess is too small by 1",
        (-6, 6): "only the sign is wrong",
        (6, -6): "only the sign is wrong",
        (-7, 6): "your guess is on the other side of 0",
        (0, 6): "your guess is off by 6",
        (3, 0): "your guess is off by 3",
    }
    found = computed(node, MODULE, "module.byWhat(...one)", list(cases))
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_guess_of_each_kind_is_judged(node):
    number = {"kind": "number", "is": 6, "within": "±1", "others": {"12": "Divide by 2."}}
    several = {"kind": "numbers", "is": [[4, 16], [1, 2]], "others": {"[2, 8, 1, 2]": "That is `square`."}}
    shape = {"kind": "shape", "is": [128, 16]}
    choice = {"kind": "choice", "options": ["a", "b"], "is": 1, "others": {"0": "Not a."}}
    choices = {"kind": "choices", "options": [*"abcd"], "is": [0, 2], "others": {"1": "Not b."}}
    order = {"kind": "order", "options": [*"abc"], "is": [2, 1, 0]}
    cases = [
        (number, 6, True, "", None),
        (number, 7, True, "that is close enough", None),
        (number, 12, False, "", "Divide by 2."),
        (number, 3, False, "your guess is half as large", ""),
        (several, [4, 16, 1, 2], True, "", None),
        (several, [2, 8, 1, 2], False, "2 of 4 are right", "That is `square`."),
        (several, [5, 5, 5, 2], False, "1 of 4 is right", ""),
        (several, [16, 4, 2, 1], False, "none of them is right", ""),
        ({"kind": "numbers", "is": [6]}, [12], False, "your guess is twice as large", ""),
        (shape, [128, 16], True, "", None),
        (shape, [16, 128], False, "the axes are the other way round", ""),
        (shape, [128], False, "it has 2 axes", ""),
        (shape, [128, 17], False, "", ""),
        ({"kind": "shape", "is": [5]}, [5, 1], False, "it has 1 axis", ""),
        (choice, 1, True, "", None),
        (choice, 0, False, "", "Not a."),
        (choices, [0, 2], True, "", None),
        (choices, [0], False, "you missed 1", ""),
        (choices, [0, 1, 2, 3], False, "you chose 2 too many", "Not b."),
        (choices, [3], False, "you missed 2, and you chose 1 too many", ""),
        (order, [2, 1, 0], True, "", None),
        (order, [2, 0, 1], False, "1 of 3 is in the right place", ""),
        (order, [1, 0, 2], False, "none of them is in the right place", ""),
        ({"kind": "text"}, "because", None, "", None),
    ]
    found = computed(node, MODULE, "module.judged(...one)", [case[:2] for case in cases])
    judged = [(answer["right"], answer["why"], answer.get("more")) for answer in found]
    assert judged == [case[2:] for case in cases]


@pytest.fixture(scope="module")
def found(node, chromium, tmp_path_factory):
    """What three readers met who guessed in a book of three chapters: by mouse, by keys and by touch."""
    needed((HERE / "node_modules" / "axe-core").exists(), f"tests/browser/node_modules/axe-core {FETCHED}")
    copied = [f"{chapter}.ipynb" for chapter in CHAPTERS]
    site = small_book(tmp_path_factory.mktemp("guesses"), {"index": INDEX, "where": WHERE}, copied)
    with served(site) as address:
        (line,) = answers([node, HERE / "guesses.mjs", chromium, address], timeout=900)
    return line


def test_nothing_is_asked_of_another_host_and_nothing_fails(found):
    assert found["problems"] == []


def test_there_is_no_barrier_in_either_theme(found):
    assert found["barriers"] == []


def test_a_page_fetches_no_fields_before_a_question_comes_near(found):
    assert found["mouse"]["early"] == [True, False, f"{IN_04} guesses"]


def test_a_question_shows_its_labels_and_options_and_nothing_of_its_answer(found):
    assert found["mouse"]["asks"].keys() == ASKED.keys()
    for chapter, boxes in found["mouse"]["asks"].items():
        assert list(boxes) == [one["id"] for one in ASKED[chapter]]
        for one in ASKED[chapter]:
            assert rest(boxes[one["id"]], one["fields"]) == "CompareShow me", one["id"]


def rest(text, fields):
    """Return what a question shows besides the labels, options and units of its fields."""
    for field in fields:
        options = field.get("options", [])
        if field["kind"] == "order":  # each of its lists has all of them
            options = [f"{place + 1}." for place in range(len(options))] + options * len(options)
        for part in (field.get("label", "Your guess"), *options, field.get("unit", "")):
            words = re.sub("[`*]", "", part)
            assert words in text, f"{words!r} is not in {text!r}"
            text = text.replace(words, "", 1)
    return text.replace("\n", "").strip()


TWO = [
    "≠ back_from_3(1.0): you said 12. It is 6; your guess is twice as large.",
    "✓ back_from_5(1.0): you said 10. It is 10.",
]


def test_a_guess_is_put_beside_the_answer_whose_fold_opens(found):
    lines, focus, status = found["mouse"]["compared"]
    assert lines == status.split("\n") == TWO
    assert focus == "guess-box"
    (opened,) = found["mouse"]["opened"]
    assert "They return 6 and 10" in opened
    assert found["mouse"]["others"] == [
        ["✓ You said 4 and 16. It is 4 and 16."],
        [
            "≠ You said “works”. The answer is “fails at dW += …”. "
            "The += looks harmless, but it assigns to the name."
        ],
        [
            "≠ Fails twice in a row: you said “a queue”. "
            "The answer is “on self” and “a queue”; you missed 1.",
            "✓ Fails two callers: you said “on self” and “a stack”, and that is right.",
        ],
        ["You said “the <b>targets</b>”. Compare it with the answer below."],
    ]


def test_a_field_that_cannot_be_read_says_what_is_expected_and_keeps_the_focus(found):
    of_3, of_5 = (f"back_from_{number}(1.0): write one number, such as 12, 0.5 or 1e-3." for number in (3, 5))
    assert found["mouse"]["unread"] == [[of_3, 0], [of_5, 1], [of_5, 1]]
    assert found["mouse"]["described"] == of_5
    assert found["touch"]["unread"] == 1


def test_the_row_under_the_title_counts_what_was_guessed_and_not_what_was_shown(found):
    one, five = f"1 of {IN_04} guesses made, 0 of 1 held", f"5 of {IN_04} guesses made, 1 of 4 held"
    nothing = f"{IN_04} guesses"
    assert found["mouse"]["counted"] == [nothing, nothing, f"{one} Clear", f"{five} Clear", f"{five} Clear"]
    assert found["mouse"]["shown"] == ["Opened without a guess.", "guess-box", 1]


def test_guesses_outlive_a_reload_and_a_new_edition(found):
    five = f"5 of {IN_04} guesses made, 1 of 4 held Clear"
    assert found["mouse"]["kept"] == [TWO, "Opened without a guess.\n\nGuess again", five]
    of_3, of_5 = TWO
    renamed = [of_3.replace("back_from_3(1.0)", "From 3"), of_5]
    assert found["mouse"]["edition"] == [renamed, 1]  # and asks anew what has a field more


def test_a_guess_can_be_made_again_but_the_first_one_counts(found):
    focus, before, status, counted = found["mouse"]["again"]
    assert (focus, before, counted) == (0, "", f"5 of {IN_04} guesses made, 1 of 4 held Clear")
    assert status.split("\n")[-1] == "Your first guess counts." and status.startswith(
        "✓ back_from_3(1.0): you said 6."
    )


def test_chapters_do_not_mix(found):
    before, lines, after = found["mouse"]["learning"]
    assert before == f"{IN_07} guesses" and after == f"1 of {IN_07} guesses made, 0 of 1 held Clear"
    assert lines == [
        "✓ It jumps across the floor above: you said 0.105. It is about 0.1; that is close enough.",
        "≠ It climbs out above: you said 0.3. It is about 0.2; your guess is too large by 0.1.",
    ]
    assert found["mouse"]["closures"] == f"5 of {IN_04} guesses made, 1 of 4 held Clear"
    assert found["mouse"]["stored"] == {
        "04_closures": {
            "c3ea0cf3-1": {"said": [12, 10], "held": False},
            "093f7351-1": {"said": [[4, 16]], "held": True},
            "66856cc1-1": {"said": [0], "held": False},
            "507c816e-1": {"said": [[2], [0, 1]], "held": False},
            "a620fa7c-1": {"said": ["the <b>targets</b>"], "held": None},
            "982acd28-1": {"shown": True},
        },
        "07_learning": {"091eb00f-1": {"said": [0.105, 0.3], "held": False}},
    }


def test_one_page_counts_the_guesses_of_the_course_hands_them_out_and_clears_them(found):
    def rows(*counts):
        names = ["04 Functions that remember", "07 Learning", "13 Sharing", "The course"]
        counted = [[name, *count] for name, count in zip(names, counts, strict=True)]
        return [["Chapter", "Guesses made", "Held"], *counted]

    every = IN_04 + IN_07 + IN_13
    made = rows(
        [f"5 of {IN_04}", "1 of 4"],
        [f"1 of {IN_07}", "0 of 1"],
        [f"0 of {IN_13}", "–"],
        [f"6 of {every}", "1 of 5"],
    )
    none = rows(*([f"0 of {count}", "–"] for count in (IN_04, IN_07, IN_13, every)))
    assert found["mouse"]["rows"] == found["mouse"]["dismissed"] == made
    assert found["mouse"]["links"] == [f"{chapter}.html" for chapter in CHAPTERS]
    assert found["mouse"]["file"] == ["guesses.json", found["mouse"]["stored"]]
    assert found["mouse"]["cleared"] == [none, {}, "Clear my guesses", f"{IN_04} guesses"]


def test_on_paper_a_line_stands_in_place_of_fields_and_answers(found):
    assert len(found["mouse"]["printed"]) == IN_04
    for before, visible in found["mouse"]["printed"]:
        assert re.fullmatch('"My guess: _+"', before) and visible == 0


def test_fields_are_filled_and_left_by_keys_alone(found):
    keys = found["keys"]
    assert keys["tabs"] == ["Compare", "Show me", "Compare", "guess-box", "Guess again"]
    assert keys["numbers"] == [
        "✓ back_from_3(1.0): you said 6. It is 6.",
        "≠ back_from_5(1.0): you said −10. It is 10; only the sign is wrong.",
    ]
    assert keys["again"] == [0, f"1 of {IN_04} guesses made, 0 of 1 held Clear"]
    right = "✓ You said “fails at dW += …”, and that is right."
    assert keys["choice"] == [[right], "guess-box"]
    assert [line[0] for line in keys["choices"]] == ["✓", "✓"]
    assert keys["shown"] == ["Opened without a guess.", "guess-box"]


def test_a_chapter_is_cleared_by_keys_which_stay_in_the_row(found):
    made = f"3 of {IN_04} guesses made, 2 of 3 held Clear"
    assert found["keys"]["counted"] == [made, f"{IN_04} guesses", "guess-count", {"04_closures": {}}]
    assert found["keys"]["fields"] == IN_04


def test_an_order_is_chosen_place_by_place(found):
    right = "frozen body, fine-tuning, from nothing"
    assert found["keys"]["order"] == [
        "Choose each of them once.",
        f"≠ You said frozen body, from nothing, fine-tuning. "
        f"The answer is {right}; 1 of 3 is in the right place.",
        f"✓ You said {right}, and that is right.\n\nYour first guess counts.",
    ]


def test_a_finger_meets_every_target_and_nothing_is_cut(found):
    touch = found["touch"]
    assert touch["small"] == []
    assert len(touch["wide"]) == 7 and {width for _, width in touch["wide"]} == {390}, touch["wide"]
    assert touch["compared"] == [
        [
            "≠ back_from_3(1.0): you said 3. It is 6; your guess is half as large.",
            "≠ back_from_5(1.0): you said 10.5. It is 10; your guess is too large by 0.5.",
        ],
        [
            "≠ You said “works”. The answer is “fails at dW += …”. "
            "The += looks harmless, but it assigns to the name."
        ],
        [
            "≠ Fails twice in a row: you said “a queue”. "
            "The answer is “on self” and “a queue”; you missed 1.",
            "≠ Fails two callers: you said “a node”. The answer is “on self” and “a stack”; "
            "you missed 2, and you chose 1 too many.",
        ],
    ]
