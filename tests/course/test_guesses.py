"""Guesses: their questions and answers, their fields in JupyterLab, and what is stored of them."""

import json
import re
import warnings

import ipywidgets
import numpy as np
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook, writes

from authoring.guesses import HOST
from course import guesses, store

FIELDS = [{"kind": "number", "label": "Half of 6"}, {"kind": "text", "label": "Because"}]
ANSWERS = [{"from": "6 / 2", "is": 3, "others": {"12": "That is twice 6."}}, {}]


def chapter(fields=FIELDS, answers=ANSWERS):
    """A notebook that asks for one guess, and answers it."""
    return new_notebook(
        cells=[
            new_markdown_cell(
                "What is half of 6? Guess." + HOST.format("half"), id="half", metadata={"guess": fields}
            ),
            new_markdown_cell("It is three.", metadata={"right": {"half": answers}}),
        ]
    )


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A work folder of its own."""
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "work"))
    return tmp_path / "work"


@pytest.fixture
def lab(tmp_path, monkeypatch, work):
    """The folder of a chapter that JupyterLab has opened."""
    (tmp_path / "90_demo.ipynb").write_text(writes(chapter()), "utf-8")
    monkeypatch.chdir(tmp_path)


def told(capsys, *expressions, **names):
    """The answers that a chapter's run prints."""
    guesses.tell(expressions, names)
    return json.loads(capsys.readouterr().out)


# the questions of a chapter


def test_questions_join_the_fields_with_their_answers():
    (asked,) = guesses.questions(chapter())
    assert asked == {
        "id": "half",
        "fields": [{**FIELDS[0], "is": 3, "others": {"12": "That is twice 6."}}, FIELDS[1]],
    }


def test_questions_leave_out_how_an_answer_is_computed():
    assert "6 / 2" not in str(guesses.questions(chapter()))


def test_a_field_without_an_answer_of_its_own_is_refused():
    with pytest.raises(ValueError, match="zip"):
        guesses.questions(chapter(answers=ANSWERS[:1]))


# the answers of a chapter's run


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("6 / 2", 3),
        ("2 / 3", 0.666667),
        ("1e-9 / 3", 3.33333e-10),
        ("12345678", 12345678),
        ("X", [[0, 0.5], [1, 1.5]]),
        ("X.shape", [2, 2]),
        ("X[0, 1]", 0.5),
        ("(X > 0.7).sum(axis=0)", [1, 1]),
        ("[1, (2, X[1])]", [1, [2, [1, 1.5]]]),
        ("X.sum(axis=0, where=False).shape[1:]", []),
    ],
)
def test_answers_are_numbers_and_lists_of_numbers(capsys, expression, answer):
    (found,) = told(capsys, expression, X=np.array([[0.0, 0.5], [1.0, 1.5]]))
    assert found == answer and type(found) is type(answer)


@pytest.mark.parametrize(
    ("expression", "got"),
    [
        ("'six'", "'six'"),
        ("True", "True"),
        ("np.float64(3) > 2", "True"),
        ("[1, 2 > 1]", "True"),
        ("None", "None"),
        ("np.array(['a'])", "'a'"),
        ("float('nan')", "nan"),
        ("-np.inf", "-inf"),
        ("1j", "1j"),
    ],
)
def test_what_no_field_can_be_compared_with_is_refused(capsys, expression, got):
    said = f"TypeError: an answer is a finite number, an index, or a list of these; got {got}"
    assert told(capsys, expression, np=np) == [{"raised": said}]


def test_what_an_expression_raises_is_told_beside_the_other_answers(capsys):
    assert told(capsys, "1", "1 / 0", "gone", "2 +") == [
        1,
        {"raised": "ZeroDivisionError: division by zero"},
        {"raised": "NameError: name 'gone' is not defined"},
        {"raised": "SyntaxError: invalid syntax (<string>, line 1)"},
    ]


def test_nothing_but_the_answers_is_printed(capsys):
    def warns_and_prints():
        warnings.warn("careful", stacklevel=1)
        print("done")
        return 1

    guesses.tell(["np.exp(1000.0) > 1 and f()", "f()"], {"np": np, "f": warns_and_prints})
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("[1, 1]\n", "")


# the fields in JupyterLab


def test_a_chapter_asks_from_its_own_folder(lab):
    asked = guesses.ask("90_demo")
    assert asked.chapter == "90_demo"
    assert asked.asked == guesses.questions(chapter())


def test_a_chapter_asks_from_any_folder_of_the_project(tmp_path, monkeypatch, work):
    monkeypatch.setattr(store, "PROJECT", tmp_path)
    store.write(tmp_path / "notebooks" / "90_demo.ipynb", writes(chapter()))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert guesses.ask("90_demo").asked == guesses.questions(chapter())


def test_the_chapter_of_the_project_comes_before_a_copy_that_may_be_old(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PROJECT", tmp_path / "project")
    store.write(tmp_path / "project" / "notebooks" / "90_demo.ipynb", writes(new_notebook()))
    assert guesses.ask("90_demo").asked == []


def test_a_chapter_that_is_nowhere_has_no_fields_and_says_so(lab):
    faces = guesses.ask("<90>")._repr_mimebundle_()
    said = "need <90>.ipynb, which is neither in this folder nor in the course's: write your guesses down."
    assert faces["text/plain"] == f"The fields for your guesses {said}"
    assert "&lt;90&gt;.ipynb" in faces["text/html"] and "<script" not in faces["text/html"]


def data_in(html):
    """What the script of the page is given."""
    return json.loads(re.search(r"^module\.inLab\((.*)\);$", html, re.MULTILINE)[1])


def test_the_script_brings_the_questions(lab):
    html = guesses.ask("90_demo")._repr_mimebundle_()["text/html"]
    assert data_in(html) == {"chapter": "90_demo", "asked": guesses.questions(chapter())}
    module = re.search(r"^const text = (.*);$", html, re.MULTILINE)[1]
    assert json.loads(module) == guesses.MODULE.read_text("utf-8")


def test_no_text_of_a_question_ends_the_script(lab, tmp_path):
    cruel = "<!-- <script> </script> </SCRIPT>"
    fields = [{"kind": "text", "label": cruel}]
    (tmp_path / "90_demo.ipynb").write_text(writes(chapter(fields, [{}])), "utf-8")
    html = guesses.ask("90_demo")._repr_mimebundle_()["text/html"]
    assert html.lower().count("</script") == html.lower().count("<script") == 1 and "<!--" not in html
    assert data_in(html)["asked"][0]["fields"][0]["label"] == cruel


@pytest.mark.parametrize(("count", "said"), [(1, "guess once."), (2, "guess 2 times.")])
def test_where_no_script_runs_a_sentence_says_how_often_to_guess(work, count, said):
    bundle = guesses.Asked("90_demo", guesses.questions(chapter()) * count)._repr_mimebundle_()
    sentence = bundle["text/html"].partition("<script")[0]
    assert sentence.startswith("<p>This chapter asks you to ") and said in sentence


def test_a_guess_that_the_page_hands_over_is_noted(lab, monkeypatch):
    shown, records = [], []

    class Text(ipywidgets.Text):
        def __init__(self, *values, **options):
            super().__init__(*values, **options)
            records.append(self)

    monkeypatch.setattr(ipywidgets, "Text", Text)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    before = {"half": {"said": [12, "it is"], "held": False}}
    guesses.note("90_demo", before)
    guesses.ask("90_demo")._ipython_display_()
    (record,) = records
    assert json.loads(record.value) == before
    assert shown[0][guesses.LIVE]["model_id"] == record.model_id and shown[0]["text/plain"] == ""
    assert "text/html" in shown[1]
    assert record.layout.display == "none"
    assert "guesses-of-90_demo" in record._dom_classes  # by which the script finds it
    said = {"half": {"said": [3, "half"], "held": True}}
    record.value = json.dumps(said)
    assert guesses.entries() == {"90_demo": said}


# what is stored


def test_guesses_are_stored_in_the_work_folder_chapter_by_chapter(work):
    assert guesses.entries() == {} and not work.exists()
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    guesses.note("04_closures", {"b": {"shown": True}})
    guesses.note("01_slope", {"c": {"said": [2], "held": False}})
    kept = {"01_slope": {"c": {"said": [2], "held": False}}, "04_closures": {"b": {"shown": True}}}
    assert guesses.entries() == kept == json.loads((work / "guesses.json").read_text("utf-8"))


def test_with_storing_off_guesses_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, "")
    monkeypatch.setattr(guesses, "_memory", {})
    monkeypatch.chdir(tmp_path)
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    guesses.note("04_closures", {})
    assert guesses.entries() == {"01_slope": {"a": {"said": [1], "held": True}}, "04_closures": {}}
    assert [*tmp_path.iterdir()] == []


def test_the_guesses_that_were_made_are_counted_with_those_that_were_judged_and_that_held(work):
    said = {
        "held": {"said": [6], "held": True},
        "held as well": {"said": [6], "held": True},
        "did not hold": {"said": [5], "held": False},
        "only text": {"said": ["so"], "held": None},
        "waits": {"said": [5], "held": None, "waits": True},
        "opened without a guess": {"shown": True},
    }
    guesses.note("04_closures", said)
    guesses.note("01_slope", {"a": {"shown": True}})
    assert guesses.counts() == {"04_closures": (5, 3, 2), "01_slope": (0, 0, 0)}


def test_a_chapter_can_be_cleared(work):
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    guesses.note("04_closures", {"b": {"said": [1], "held": True}})
    guesses.note("01_slope", {})
    assert guesses.counts() == {"01_slope": (0, 0, 0), "04_closures": (1, 1, 1)}


@pytest.mark.parametrize("content", ["{not json", "[1, 2]", '{"a": 3}', '{"a": {"b": 3}}', "\xff"])
def test_a_file_that_cannot_be_read_is_kept_aside_and_said(work, capsys, content):
    store.write(work / "guesses.json", content.encode("latin-1"))
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    assert capsys.readouterr().out == (
        "guesses.json could not be read. It has been renamed to guesses.json.broken.\n"
    )
    assert (work / "guesses.json.broken").read_bytes() == content.encode("latin-1")
    assert guesses.counts() == {"01_slope": (1, 1, 1)}


def test_a_work_folder_that_cannot_be_written_is_said(work, capsys):
    work.write_text("a file where a folder should be")
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    assert guesses.entries() == {}
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in said] == [
        "Your guess could not be stored",
        "Your guesses could not be read",
    ]


def test_a_file_that_may_not_be_read_is_not_written_over(work, monkeypatch):
    guesses.note("01_slope", {"a": {"said": [1], "held": True}})
    with monkeypatch.context() as patch:
        patch.setattr(type(work), "read_text", denied)
        guesses.note("04_closures", {"b": {"said": [2], "held": True}})
    assert guesses.entries() == {"01_slope": {"a": {"said": [1], "held": True}}}


def denied(*_):
    raise PermissionError(13, "Permission denied")
