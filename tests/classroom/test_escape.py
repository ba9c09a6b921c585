"""The attempt to escape: fails in the sandbox, succeeds at the level rlimits, and stops unsafe grading."""

from pathlib import Path

import pytest

from classroom import escape as module
from classroom.escape import try_to_escape
from classroom.faults import GradingFault
from classroom.sandbox import LIMITS


def test_the_attempt_fails_in_the_sandbox_and_succeeds_at_the_level_rlimits():
    facts = try_to_escape()
    seen = [facts[name] for name in ("level", "network", "files", "processes")]
    assert seen == ["bubblewrap", False, [], 2]
    assert facts["forks"] < LIMITS["RLIMIT_NPROC"]
    facts = try_to_escape(unsafe=True)
    assert facts["level"] == "rlimits" and facts["network"] and facts["processes"] > 2
    assert {Path(path).name for path in facts["files"]} >= {"canary", "escape.py", "passwd"}
    assert facts["forks"] == 8


@pytest.mark.parametrize(
    "fact, door",
    [
        ({"numpy": False}, "it cannot read NumPy"),
        ({"network": True}, "it can reach the network"),
        ({"files": ["/etc/shadow"]}, "it can read our files"),
        ({"home": ["thesis"]}, "it can look into our home"),
        ({"processes": 117}, "it can see our processes"),
        ({"environment": ["COURSE_TOKEN"]}, "it can see our environment"),
        ({"forks": 8}, "it can start processes without end"),
    ],
)
def test_a_way_out_stops_the_grading(monkeypatch, fact, door):
    reported = module.ATTEMPT.replace("print(json.dumps(facts)", f"print(json.dumps(facts | {fact!r})")
    monkeypatch.setattr(module, "ATTEMPT", reported)
    with pytest.raises(
        GradingFault, match=f"^not graded, because the sandbox on this machine is not safe: {door}"
    ):
        try_to_escape()


def test_an_attempt_without_an_answer_stops_the_grading(monkeypatch):
    monkeypatch.setattr(module, "ATTEMPT", "raise SystemExit('gone')")
    with pytest.raises(GradingFault, match="the attempt to escape gave no answer: gone"):
        try_to_escape()
