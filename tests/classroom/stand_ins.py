"""Functions in the place of grade(): some answer as it does, others do all that a grader must not do."""

import atexit
import json
import os
import time
from hashlib import sha256
from pathlib import Path

from classroom.faults import GradingFault
from classroom.result import exercises_of

CHAPTER = "04_closures"
SAYS = ("right", "by_hand", "sentence", "notes")
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def notebook(**told):
    """Return a notebook that tells a stand-in what to do."""
    return json.dumps(NOTEBOOK | {"metadata": told}).encode()


def grade(data, chapter, seed, unsafe=False):
    """Pass the exercises that the notebook names; its metadata is what it tells."""
    told = json.loads(data)["metadata"]
    do = told.get("do")
    if do == "die":
        os._exit(7)
    if do == "hang":
        time.sleep(1000)
    if do == "raise":
        raise ValueError("a fault of the grader")
    if do == "fault":
        raise GradingFault("not graded, because the sandbox does not start.")
    if do == "rubbish":
        return told["rubbish"]
    if do == "leave a trace":
        atexit.register(Path(told["trace"]).write_text, "tidied up")
    if do == "object":
        return object()
    time.sleep(told.get("seconds", 0))
    return result(data, chapter, seed, **{key: told[key] for key in SAYS if key in told})


def stricter(data, chapter, seed, unsafe=False):
    """Grade, and pass nothing of what the notebook calls doubtful."""
    told = json.loads(data)["metadata"]
    right = [short for short in told.get("right", ()) if short != "scale"]
    return result(data, chapter, seed, right)


def result(data, chapter, seed, right=(), by_hand=(), sentence="dW is 5 times too small.", notes=()):
    """Return a result as grade() makes it: `right` names what passes, and the seed shows in a note."""
    parts = []
    for exercise in exercises_of(chapter):
        status = "by hand" if exercise.short in by_hand else "passed" if exercise.short in right else "failed"
        points = None if status == "by hand" else exercise.points * (status == "passed")
        words = {"passed": "", "failed": sentence, "by hand": ""}[status]
        parts.append(
            {
                "name": exercise.name,
                "title": exercise.title,
                "kind": exercise.kind,
                "out_of": exercise.points,
                "points": points,
                "status": status,
                "sentence": words,
            }
        )
    return {
        "chapter": chapter,
        "submission": sha256(data).hexdigest(),
        "level": "bubblewrap",
        "fault": None,
        "refused": None,
        "points": sum(part["points"] or 0 for part in parts),
        "out_of": sum(part["out_of"] for part in parts if part["status"] != "by hand"),
        "by_hand": sum(part["out_of"] for part in parts if part["status"] == "by hand"),
        "exercises": parts,
        "notes": [f"drawn from {seed}", *notes],
    }
