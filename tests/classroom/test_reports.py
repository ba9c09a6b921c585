"""The reports: marks are right, the teacher's file is never changed, student text never becomes a tag."""

import csv
import errno
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from classroom.by_hand import SETTLED, next_file, read_marks, settle
from classroom.feedback_pages import class_page, most_said, student_page
from classroom.reports import differences, gradescope, page_name, rows, write_reports
from classroom.result import Status, exercises_of, unchecked
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER, notebook

SCALE, TANH, LINEAR = f"{CHAPTER}.scale", f"{CHAPTER}.light_tanh", f"{CHAPTER}.Linear"
HOSTILE = [
    "<script>alert(1)</script>",
    "</title></style><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "&lt;b&gt; &amp; <!-- ]]> -->",
    "javascript:alert(1)",
    "line one\nline two\x00\x1b[31m\u202egnp",
    "\ud800 lone surrogate",
]
TAGS = set(
    "html head meta title style body main h1 h2 p span b i a div section ul ol li table tr th td code".split()
)
TAGS |= {"details", "summary"}


class Seen(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.inside = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.inside = tag

    def handle_data(self, data):
        if self.inside != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def queue(queue):
    queue.accept("v1")
    return queue


def graded(queue, results):
    """Hand in for each student and store a result: {student: what the stand-in is told, or a function}."""
    for student, told in results.items():
        data = notebook(who=student.encode("utf-8", "replace").decode())
        (queue.source / page_name(student)).mkdir(parents=True)
        (queue.source / page_name(student) / "a.ipynb").write_bytes(data)
        queue.take_in(queue.source, Path.read_bytes)
        (digest,) = (d for s, d in queue.open("v1") if s == page_name(student))
        queue.file.execute("UPDATE students SET student = ? WHERE student = ?", [student, page_name(student)])
        (queue.source / page_name(student) / "a.ipynb").unlink()
        (queue.source / page_name(student)).rmdir()
        result = told(digest) if callable(told) else stand_ins.result(data, CHAPTER, 1, **told)
        queue.store(student, digest, "v1", result)


def a_class(queue):
    graded(
        queue,
        {
            "anna": {"right": ["scale", "Linear"], "by_hand": ["light_tanh"]},
            "ben": {"right": ["three_calls", "reduce_mean", "two_layers", "scale", "Linear", "light_tanh"]},
            "cleo": lambda digest: unchecked(CHAPTER, digest, refused="the file is not a notebook."),
            "dora": lambda digest: unchecked(CHAPTER, digest, fault="not graded, because the disk is full."),
        },
    )


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_one_row_a_student_with_a_reason(queue):
    a_class(queue)
    write_reports(queue)
    anna, ben, cleo, dora = table(queue.folder / "grades.csv")
    columns = ("student", "points", "out of", "to mark by hand")
    assert [anna[column] for column in columns] == ["anna", "6", "14", "2"]
    assert anna["in words"] == "not yet: three_calls, reduce_mean, two_layers; 2 to mark by hand"
    assert (anna[SCALE], anna[LINEAR], anna[TANH], anna["level"]) == ("2", "4", "", "bubblewrap")
    assert (ben["points"], ben["in words"]) == ("14", "all passed")
    assert cleo["points"] == cleo[SCALE] == "" and "the file is not a notebook." in cleo["in words"]
    assert dora["points"] == dora[SCALE] == "" and dora["in words"] == "not graded, because the disk is full."


def test_a_student_who_is_not_graded_yet_has_a_row_without_a_mark(queue):
    graded(queue, {"anna": {}})
    queue.accept("v2")
    ((row,), _) = write_reports(queue)
    assert (row.points, row.reason) == (None, "not graded yet")
    assert "Your work is not graded yet." in Seen(student_page(row, "anna")).text
    assert "score" not in gradescope(row)


def test_reports_written_again_are_the_same_and_are_not_touched(queue):
    a_class(queue)
    write_reports(queue)
    files = [path for path in queue.folder.rglob("*") if path.is_file() and "sqlite" not in path.name]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    write_reports(queue)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    assert len(files) == 3 + 3 * 4


def test_a_disk_that_is_full_leaves_the_old_report_whole(queue, monkeypatch):
    graded(queue, {"anna": {}})
    write_reports(queue)
    before = {path: path.read_bytes() for path in queue.folder.rglob("*.[chj]*") if path.is_file()}
    (queue.folder / "marks.csv").write_text(f"student,exercise,points\nanna,{SCALE},2\n")
    real = Path.write_bytes

    def half(path, data):
        real(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        write_reports(queue)
    assert {path: path.read_bytes() for path in before} == before
    monkeypatch.undo()
    write_reports(queue)
    assert table(queue.folder / "grades.csv")[0]["points"] == "2"
    assert not [path for path in queue.folder.rglob(".*")]


# The teacher's own marks


def marked(queue, text, encoding="utf-8"):
    (queue.folder / "marks.csv").write_bytes(text.encode(encoding))
    return read_marks(queue.folder, list(queue.results("v1")), exercises_of(CHAPTER))


def test_a_teachers_mark_counts_before_the_check_and_the_file_stays_as_it_is(queue):
    a_class(queue)
    rows_of_anna = f"anna,{TANH},1.5,neat\nanna,{SCALE},0,copied\n"
    marks, problems = marked(queue, f"student,exercise,points,comment\n{rows_of_anna}")
    assert (marks, problems) == ({("anna", TANH): (1.5, "neat"), ("anna", SCALE): (0, "copied")}, [])
    path = queue.folder / "marks.csv"
    before = path.read_bytes(), path.stat().st_mtime_ns
    write_reports(queue)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    anna = table(queue.folder / "grades.csv")[0]
    assert (anna["points"], anna[TANH], anna[SCALE], anna["to mark by hand"]) == ("5.5", "1.5", "0", "0")
    text = Seen((queue.folder / "feedback" / "anna.html").read_text("utf-8")).text
    assert "Marked by your teacher" in text and "neat" in text
    assert anna["in words"].endswith("; marked by hand: scale, light_tanh")
    assert "neat" in (queue.folder / anna["feedback"]).read_text("utf-8")


def test_a_mark_below_what_the_check_gives_is_reported_and_counts(queue):
    a_class(queue)
    digest, path = queue.results("v1")["anna"].submission[:12], queue.folder / "marks.csv"
    path.write_text(f"student,exercise,points\nanna,{SCALE},0.5\nanna,{LINEAR},4\n")
    (anna, *_), problems = rows(queue)
    assert (anna.points, problems) == (4.5, [
        f"marks.csv, line 2: anna has 0.5 points in {SCALE}, where the check gives 2: delete the row or, if "
        f"it is meant for this hand-in, write {digest} into a column submission."
    ])  # fmt: skip
    settle(queue, "anna", SCALE, "1", "an appeal")
    assert (rows(queue)[0][0].points, rows(queue)[1]) == (5, [])
    (queue.folder / SETTLED).unlink()
    path.write_text(f"student,exercise,points,submission\nanna,{SCALE},0.5,{digest}\n")
    assert (rows(queue)[0][0].points, rows(queue)[1]) == (4.5, [])


def test_answers_to_mark_are_listed_with_the_columns_of_the_teachers_file(queue):
    a_class(queue)
    write_reports(queue)
    listed = queue.folder / "to_mark.csv"
    (line,) = table(listed)
    assert (line["student"], line["exercise"], line["points"], line["out of"]) == ("anna", TANH, "", "2")
    filled = listed.read_bytes().replace(TANH.encode() + b",,", TANH.encode() + b",2,well said")
    (queue.folder / "marks.csv").write_bytes(filled)
    found, problems = write_reports(queue)
    assert (found[0].points, problems) == (8, [])
    assert table(listed) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_the_formats_of_spreadsheets_are_read(queue, encoding):
    graded(queue, {"Zoë": {}})
    text = f"student;exercise;points;comment\r\nZoë ; {SCALE} ;1,5;schön\r\nZoë;{TANH};;\r\n"
    assert marked(queue, text, encoding) == ({("Zoë", SCALE): (1.5, "schön")}, [])


def test_marks_that_cannot_be_used_are_reported_and_stop_nothing(queue):
    graded(queue, {"anna": {}})
    lines = ["student,exercise,points", f"bob,{SCALE},1", "anna,04_closures.none,1", "anna,scale,1"]
    lines += [f"anna,{SCALE},{points}" for points in ("3", "-1", "nan", "good", "1", "2")]
    marks, problems = marked(queue, "\n".join([*lines, f"anna,{LINEAR}"]))
    assert marks == {("anna", SCALE): (1, "")}
    assert problems == [
        "marks.csv, line 2: there is no student 'bob'.",
        "marks.csv, line 3: there is no exercise '04_closures.none'.",
        f"marks.csv, line 4: there is no exercise 'scale'; write {SCALE}.",
        f"marks.csv, line 5: {SCALE} gives 0 to 2 points, got '3'.",
        f"marks.csv, line 6: {SCALE} gives 0 to 2 points, got '-1'.",
        f"marks.csv, line 7: {SCALE} gives 0 to 2 points, got 'nan'.",
        f"marks.csv, line 8: {SCALE} gives 0 to 2 points, got 'good'.",
        "marks.csv, line 10: this student and exercise occur twice; the first mark counts.",
    ]
    assert rows(queue)[1] == problems
    why = "no column student and no column exercise and no column points: none of its marks count."
    assert marked(queue, "name,mark\n") == ({}, [f"marks.csv has {why}"])


# Student text


def pages(queue):
    write_reports(queue)
    return {path: path.read_text("utf-8") for path in queue.folder.rglob("*.html")}


@pytest.mark.parametrize("text", HOSTILE)
def test_student_text_stays_text(queue, text):
    name = text.replace("\x00", "").encode("utf-8", "backslashreplace").decode()
    graded(queue, {name: {"sentence": text, "notes": [text]}, "anna": {}})
    for page in pages(queue).values():
        seen = Seen(page)
        assert set(seen.tags) <= TAGS
        assert {(tag, attribute) for tag, attribute, _ in seen.attributes} <= {
            *[(tag, "class") for tag in TAGS],
            *[("html", "lang"), ("i", "style"), ("a", "href"), ("th", "scope"), ("div", "aria-hidden")],
            *[("meta", attribute) for attribute in ("charset", "http-equiv", "content", "name")],
        }
        links = [value for tag, attribute, value in seen.attributes if attribute == "href"]
        assert all(re.fullmatch(r"feedback/[A-Za-z0-9_.-]+\.html", link) for link in links)
        assert page.count("<style>") == page.count("</style>") == 1
        assert "\x00" not in page and "\x1b" not in page and "\u202e" not in page
    words = text.split("\n")[0].replace("\ud800", "\ufffd")
    (own,) = (Seen(page) for path, page in pages(queue).items() if path.stem == page_name(name))
    assert sum(words in piece for piece in own.texts) == 6 + 1 + (
        words in name
    )  # exercises, a note, the name
    for path in queue.folder.rglob("*.json"):
        json.loads(path.read_text("utf-8"))


def test_no_cell_of_a_table_is_taken_for_a_formula(queue):
    names = ["=HYPERLINK(1)", "+1", "-1", "@x"]
    graded(queue, {name: {"by_hand": ["scale"]} for name in names})
    write_reports(queue)
    for name in ("grades.csv", "to_mark.csv"):
        found = sorted(line["student"] for line in table(queue.folder / name))
        assert found == sorted(f"'{name}" for name in names)
    marks, problems = marked(queue, f"student,exercise,points\n'=HYPERLINK(1),{SCALE},1\n")
    assert (marks, problems) == ({("=HYPERLINK(1)", SCALE): (1, "")}, [])


@pytest.mark.parametrize("name", [*". .. a/b CON: -rf 张伟 \u202e .hidden".split(" "), "x" * 250, "a b"])
def test_a_page_has_a_name_that_is_valid_on_every_system(name):
    made = page_name(name)
    assert made.isascii() and len(made) <= 70 and made[0].isalnum()
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
    assert page_name(name + "!") != made


def test_names_that_differ_in_case_alone_have_two_pages():
    names = ["jose", "JOSE", "Jose", f"jose-{page_name('JOSE')[-8:]}", page_name("JOSE")]
    assert len({page_name(name).lower() for name in names}) == len(names)


# Pages


def test_a_page_runs_nothing_and_has_its_language_and_width(queue):
    graded(queue, {"anna": {}})
    for page in pages(queue).values():
        assert page.startswith('<!doctype html>\n<html lang="en">')
        assert "default-src 'none'" in page and 'name="viewport"' in page
        assert "prefers-color-scheme: dark" in page and "@media print" in page


def text_of(queue, student=None):
    """Return the text of a student's page, or of the class's."""
    write_reports(queue)
    page = f"feedback/{student}.html" if student else "class.html"
    return Seen((queue.folder / page).read_text("utf-8")).text


def test_a_student_reads_what_passed_what_failed_and_what_to_do_next(queue):
    a_class(queue)
    anna, ben = text_of(queue, "anna"), text_of(queue, "ben")
    assert "6 of 14 points 2 of 5 checks passed. Your teacher can still give you up to 2 points." in anna
    hint = 'Stuck? hint("04_closures.three_calls") in your notebook.'
    assert f"Not yet 0 of 1 dW is 5 times too small. {hint}" in anna
    assert "Passed 4 of 4" in anna and "Waits for your teacher out of 2" in anna
    assert "14 of 14 points Every check passed. Well done." in ben and "Stuck?" not in ben
    assert "Notes" in ben and "By itself it cost no points." in ben


def test_a_student_whose_notebook_was_not_graded_is_not_blamed(queue):
    a_class(queue)
    dora, cleo = text_of(queue, "dora"), text_of(queue, "cleo")
    assert "Nothing is wrong with your notebook, and it is safe: the disk is full." in dora
    assert " of 14" not in dora
    assert "Your notebook could not be read. The file is not a notebook." in cleo
    assert "hand it in again" in cleo and " of 14" not in cleo
    marked(queue, f"student,exercise,points,comment\ncleo,{SCALE},2,by mail\n")
    cleo = text_of(queue, "cleo")
    assert "2 of 2" in cleo and "by mail" in cleo and "nothing about your other answers" in cleo
    assert " of 14" not in cleo and "No check" not in cleo


def test_a_page_has_the_platform_s_number_only_where_two_have_one_name(queue):
    ending = "assignsubmission_file_"
    names = [f"Wei Chen_22_{ending}", f"Anna Mey_31_{ending}", f"Anna Mey_32_{ending}"]
    graded(queue, {name: {} for name in names})
    said = {re.search("For (.*?) 0 of 14", text_of(queue, page_name(name)))[1] for name in names}
    assert said == {"Wei Chen", "Anna Mey_31", "Anna Mey_32"}


def test_the_check_s_sentence_stays_beside_a_part_of_the_points(queue):
    graded(queue, {"anna": {}})
    marked(queue, f"student,exercise,points,comment\nanna,{SCALE},1,half\nanna,{LINEAR},4,right\n")
    text = text_of(queue, "anna")
    assert "Marked by your teacher 1 of 2 half dW is 5 times too small." in text
    assert "Marked by your teacher 4 of 4 right" in text and "4 of 4 right dW" not in text


def test_what_stands_between_backticks_is_code(queue):
    said = {"anna": "is a `return` missing? <b>", "ben": "an odd ` stays", "cleo": "`x` is `y`"}
    graded(queue, {name: {"sentence": sentence, "notes": [sentence]} for name, sentence in said.items()})
    found = pages(queue)
    by_name = {path.stem: page for path, page in found.items()}
    for place in ("anna", "class"):
        assert "is a <code>return</code> missing? &lt;b&gt;" in by_name[place]
        assert "`return`" not in by_name[place]
    assert by_name["anna"].count("<code>return</code>") == 7 and "an odd ` stays" in by_name["ben"]
    assert "<code>x</code> is <code>y</code>" in by_name["cleo"]


def test_a_page_without_a_passed_check_is_kind(queue):
    graded(queue, {"anna": {}})
    assert "No check has passed yet. Each one below says what to do next." in text_of(queue, "anna")


def test_the_class_page_counts_every_exercise_in_words(queue):
    a_class(queue)
    (queue.folder / "marks.csv").write_text(f"student,exercise,points\nbob,{SCALE},2\n")
    text = text_of(queue)
    assert "4 students, 2 with a mark." in text and "ran in a sandbox." in text
    assert "there is no student 'bob'" in text
    assert "A name that went missing 2 points 2 passed 1 could not be read 1 not graded" in text
    assert "Travel light 2 points 1 passed 1 to be marked by you 1 could not be read 1 not graded" in text
    assert "No mark, because the notebook cannot be read: 1 student cleo" in text
    assert "14 points 1 12 to 13 points 0" in text and "6 to 7 points 1" in text and "0 to 1 points 0" in text
    assert "1 student can still get points from you." in text
    assert "anna 6 of 14 not yet: three_calls" in text
    assert "dora not graded, because the disk is full." in text


def test_no_name_is_on_the_class_page_before_a_part_of_it_is_opened(queue):
    a_class(queue)
    (queue.folder / "marks.csv").write_text(f"student,exercise,points\nanna,{SCALE},1\n")
    write_reports(queue)
    page = (queue.folder / "class.html").read_text("utf-8")
    assert "1 problem in your marks" in page and page.count(">anna<") > 1
    assert not re.search("anna|ben<|cleo|dora", re.sub("(?s)<details.*?</details>", "", page))


def test_missing_marks_and_a_missing_sandbox_are_shown(queue):
    def text():
        return Seen(class_page(CHAPTER, rows(queue)[0], exercises_of(CHAPTER), [], page_name)).text

    assert "0 students, 0 with a mark. No notebook has run." in text() and "No marks yet." in text()
    data = notebook(who="anna")
    graded(queue, {"anna": lambda digest: replace(stand_ins.result(data, CHAPTER, 1), level="rlimits")})
    assert "Not every notebook ran in a sandbox: 1 at level rlimits. Read these marks with care." in text()


def test_the_mistakes_made_most_are_named_whatever_numbers_they_had(queue):
    (scale,) = (e for e in exercises_of(CHAPTER) if e.name == SCALE)
    name = scale.mistakes[0][0]
    said = {
        "anna": f"scale: dgain[0] is 0.25, nudging says 1.5e-05. {name}",
        "ben": f"scale: dgain[1] is -3, nudging says 2. {name}",
        "cleo": "scale: name 'q' is not defined on line 3.",
        "dora": "scale: name 'gain2' is not defined on line 17.",
        "emil": "scale: name 'x' is not defined on line 2.",
        "fritz": "scale: something else.",
    }
    graded(queue, {student: {"sentence": sentence} for student, sentence in said.items()})
    found, _ = write_reports(queue)
    place = [e.name for e in exercises_of(CHAPTER)].index(SCALE)
    groups = most_said(scale, [(row, row.parts[place]) for row in found])
    assert [(known, [row.student for row in who]) for known, _, who in groups] == [
        ("", ["cleo", "dora", "emil"]),
        (name, ["anna", "ben"]),
        ("", ["fritz"]),
    ]
    text = text_of(queue)
    assert f"{name} For example: scale: dgain[0] is 0.25, nudging says 1.5e-05. 2 students anna , ben" in text


def test_more_than_three_kinds_of_mistake_are_counted(queue):
    kinds = ["too long", "too short", "too late", "too soon", "too loud"]
    graded(queue, {kind.replace(" ", "_"): {"sentence": kind} for kind in kinds})
    text = text_of(queue)
    assert "2 students made other mistakes." in text


# Other forms


def test_gradescope_reads_scores_that_add_up_and_none_where_nothing_is_graded(queue):
    a_class(queue)
    write_reports(queue)
    paths = sorted(queue.folder.glob("gradescope/*/results.json"))
    anna, _, cleo, dora = (json.loads(path.read_text()) for path in paths)
    assert anna["score"] == sum(test["score"] for test in anna["tests"]) == 6
    assert len(anna["tests"]) == 5 and {test["status"] for test in anna["tests"]} == {"passed", "failed"}
    for student in (cleo, dora):
        assert "score" not in student and student["tests"] == []
    assert cleo["output"] == "could not be read: the file is not a notebook."


def test_gradescope_s_plain_text_has_no_backticks(queue):
    graded(queue, {"anna": {"right": ["scale"], "sentence": "is a `return` missing?"}})
    marked(queue, f"student,exercise,points,comment\nanna,{LINEAR},1,see `W`\n")
    said = {test["name"]: test["output"] for test in gradescope(rows(queue)[0][0])["tests"]}
    both = "see `W`\nis a return missing?"  # the teacher's words stay
    assert set(said.values()) == {"", "is a return missing?", both}


def test_each_student_has_a_file_of_data(queue):
    a_class(queue)
    write_reports(queue)
    anna = json.loads((queue.folder / "feedback" / "anna.json").read_text())
    assert (anna["points"], anna["result"]["level"], len(anna["parts"])) == (6, "bubblewrap", 6)
    assert "exercises" not in anna["result"]  # each fact once


def test_differences_are_marks_that_change_and_nothing_else(queue):
    one = stand_ins.result(b"a", CHAPTER, 1, right=["scale"])
    told = {"right": ["Linear"], "by_hand": ["light_tanh"], "sentence": "Other words."}
    other = stand_ins.result(b"a", CHAPTER, 2, **told)
    said = stand_ins.result(b"a", CHAPTER, 2, right=["scale"], sentence="x")
    assert differences({"a": one}, {"a": one}) == differences({"a": one}, {"a": said}) == []
    assert differences({"a": one}, {"a": other}) == [
        f"a, {SCALE}: 2 of 2 (passed) -> 0 of 2 (failed): Other words.",
        f"a, {LINEAR}: 0 of 4 (failed) -> 4 of 4 (passed)",
        f"a, {TANH}: 0 of 2 (failed) -> by hand",
    ]
    fault = unchecked(CHAPTER, one.submission, fault="not graded, because of us.")
    assert len(differences({"a": one}, {"a": fault})) == 6
    first = f"a, {CHAPTER}.three_calls: no result -> 0 of 1 (failed): dW is 5 times too small."
    assert differences({}, {"a": one})[0] == first
    assert differences({"a": one}, {"a": None})[3] == f"a, {SCALE}: 2 of 2 (passed) -> no result"


def test_where_one_exercise_could_not_be_graded_there_is_no_mark_at_all(queue):
    def partly(digest):
        result = stand_ins.result(notebook(who="anna"), CHAPTER, 1, right=["scale"])
        first, *others = result.exercises
        first = replace(first, points=None, status=Status.NOT_GRADED, sentence="not graded, because of us.")
        return replace(result, exercises=(first, *others))

    graded(queue, {"anna": partly})
    ((row,), _) = write_reports(queue)
    assert (row.points, {part.points for part in row.parts}) == (None, {None})
    assert row.reason == "not graded, because of us."
    assert len(queue.open("v1")) == 1


def test_a_mark_counts_for_the_answer_that_it_was_given_for(queue):
    graded(queue, {"anna": {"by_hand": ["light_tanh"]}})
    write_reports(queue)
    listed = (queue.folder / "to_mark.csv").read_text("utf-8-sig")
    head, line = listed.splitlines()
    columns = head.split(",")
    marked = line.split(",")
    marked[columns.index("points")] = "2"
    (queue.folder / "marks.csv").write_text(f"{head}\n{','.join(marked)}\n")
    (row,), problems = rows(queue)
    assert (row.points, problems) == (2, [])
    data = notebook(handed_in="again")
    (queue.source / "anna").mkdir()
    (queue.source / "anna" / "a.ipynb").write_bytes(data)
    queue.take_in(queue.source, Path.read_bytes)
    again = stand_ins.result(data, CHAPTER, 1, by_hand=["light_tanh"])
    queue.store("anna", again.submission, "v1", again)
    (row,), problems = rows(queue)
    assert (row.points, row.to_mark) == (0, 2)
    assert problems == [
        f"marks.csv, line 2: anna has handed in again since {TANH} was marked, and this mark does not count: "
        "mark the new answer, which is in to_mark.csv."
    ]
    assert next_file(queue.folder) == "marks-2.csv"
    (queue.folder / "marks-2.csv").write_text(f"student,exercise,points\nanna,{TANH},1\n")
    (queue.folder / "marks-10.csv").write_text(f"student,exercise,points\nanna,{TANH},1.5\n")
    (queue.folder / "marks-old.csv").write_text(f"student,exercise,points\nanna,{TANH},0\n")
    (row,), problems = rows(queue)
    assert (row.points, problems, next_file(queue.folder)) == (1.5, [], "marks-11.csv")
