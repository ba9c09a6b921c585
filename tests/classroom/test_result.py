"""Results: an inconsistent one cannot be made, and conversion to plain values loses nothing."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest

from classroom.crew import read_answer
from classroom.faults import GradingFault
from classroom.result import ExerciseResult, NotAResult, Result, Status, exercises_of, unchecked
from tests.classroom import stand_ins
from tests.classroom.stand_ins import CHAPTER

DIGEST = sha256(b"data").hexdigest()
LINE = {"name": f"{CHAPTER}.scale", "title": "t", "kind": "fill", "out_of": 2, "sentence": ""}


def good():
    """Return a sound result: two exercises pass, one waits for a person."""
    return stand_ins.result(b"data", CHAPTER, 1, right=["scale", "Linear"], by_hand=["light_tanh"])


def partly():
    """Return a result in which one exercise could not be graded."""
    first, *others = good().exercises
    first = replace(first, points=None, status=Status.NOT_GRADED, sentence="not graded, because of us.")
    return replace(good(), exercises=(first, *others))


def test_its_sums_are_those_of_its_exercises():
    assert (good().points, good().out_of, good().by_hand, good().fault) == (6, 12, 2, None)
    assert (partly().points, partly().fault) == (None, "not graded, because of us.")


def test_a_refused_submission_has_no_points_and_a_fault_has_no_mark():
    refused, fault = unchecked(CHAPTER, DIGEST, refused="no JSON"), unchecked(CHAPTER, DIGEST, fault="no")
    assert (refused.points, refused.out_of, refused.refused, refused.fault) == (0, 14, "no JSON", None)
    assert (fault.points, fault.refused, fault.fault) == (None, None, "no")
    assert {part.status for part in refused.exercises} == {"missing"}
    assert {part.status for part in fault.exercises} == {"not graded"}


def results():
    return [
        good(),
        partly(),
        unchecked(CHAPTER, DIGEST, refused="no"),
        unchecked(CHAPTER, DIGEST, fault="no"),
    ]


@pytest.mark.parametrize("result", results(), ids=["sound", "partly", "refused", "fault"])
def test_a_result_survives_conversion_to_json(result):
    assert Result.from_plain(json.loads(json.dumps(result.plain(), allow_nan=False))) == result
    assert read_answer(json.dumps([None, result.plain()]), CHAPTER, DIGEST) == result


def test_plain_values_equal_those_in_the_files_of_older_classes():
    plain = good().plain()
    names = "chapter submission level fault refused points out_of by_hand exercises notes".split()
    assert list(plain) == names
    assert list(plain["exercises"][0]) == "name title kind out_of points status sentence".split()
    assert plain["exercises"][3]["status"] == "passed" and type(plain["notes"]) is list


@pytest.mark.parametrize(
    "change",
    [
        lambda result: result.update(chapter="05_layers"),
        lambda result: result.update(submission="0" * 64),
        lambda result: result.update(submission=None),
        lambda result: result.update(level=3),
        lambda result: result.update(points=7),
        lambda result: result.update(points=True),
        lambda result: result.update(points=None),
        lambda result: result.update(fault="not graded, because of us"),
        lambda result: result.update(refused="not JSON"),
        lambda result: result.update(notes=[3]),
        lambda result: result.update(notes=None),
        lambda result: result.update(more=1),
        lambda result: result.pop("level"),
        lambda result: result.update(exercises=[]),
        lambda result: result.update(exercises=[3]),
        lambda result: result["exercises"].pop(),
        lambda result: result["exercises"].reverse(),
        lambda result: result["exercises"][0].update(points=1),  # but failed
        lambda result: result["exercises"][3].update(points=1),  # of 2
        lambda result: result["exercises"][3].update(points="2"),
        lambda result: result["exercises"][3].update(points=float("nan")),
        lambda result: result["exercises"][3].update(points=None),  # but passed
        lambda result: result["exercises"][3].update(out_of=20),
        lambda result: result["exercises"][3].update(status="excellent"),
        lambda result: result["exercises"][3].update(status="marked"),
        lambda result: result["exercises"][0].update(status="not graded"),
        lambda result: result["exercises"][3].update(status=["passed"]),
        lambda result: result["exercises"][3].update(sentence=None),
        lambda result: result["exercises"][3].update(comment="well done"),
    ],
)
def test_a_result_of_another_submission_is_the_grader_s_fault(change):
    plain = good().plain()
    change(plain)
    read = read_answer(json.dumps([None, plain]), CHAPTER, DIGEST)
    assert read.points is None and "this is not a result: " in read.fault


@pytest.mark.parametrize("values", [None, 3, [], "points", {}, {"points": 14}])
def test_an_invalid_result_is_the_grader_s_fault(values):
    assert "this is not a result: " in read_answer(json.dumps([None, values]), CHAPTER, DIGEST).fault


def test_a_fault_that_a_process_writes_is_that_fault():
    assert (
        read_answer(json.dumps(["not graded, because.", None]), CHAPTER, DIGEST).fault
        == "not graded, because."
    )


def test_a_mark_of_a_person_counts_and_no_grader_gives_one():
    part = good().exercises[3].marked(1.5, "nearly")
    assert (part.points, part.status, part.comment, part.short) == (1.5, "marked", "nearly", "scale")
    with pytest.raises(NotAResult, match="has 3 of 2 points"):
        part.marked(3, "")
    with pytest.raises(NotAResult, match="no marks by hand"):
        replace(good(), exercises=(part,))


@pytest.mark.parametrize("status", Status)
def test_points_fit_their_status(status):
    allowed = {"passed": [2], "failed": [0, None], "not written": [0, None], "missing": [0, None]}
    allowed |= {"marked": [0, 1, 2], "by hand": [None], "not graded": [None]}
    for points in (None, -1, 0, 1, 2, 3, "2", True, float("inf")):
        if points in allowed[status] and type(points) is not bool:
            assert ExerciseResult(points=points, status=status, **LINE).points == points
        else:
            with pytest.raises(NotAResult, match="scale"):
                ExerciseResult(points=points, status=status, **LINE)


def test_a_chapter_without_exercises_is_reported():
    with pytest.raises(GradingFault, match="no chapter 99_none with exercises; the chapters are: 00_start"):
        exercises_of("99_none")


@pytest.mark.parametrize("name", ["04", "closures", "04_closure", "4_closures"])
def test_a_similar_chapter_is_suggested(name):
    with pytest.raises(GradingFault, match="Did you mean 04_closures"):
        exercises_of(name)
