"""Whoever comes in between two steps of a call shows what calls share."""

import sys
import threading

import numpy as np
import pytest

from course.checks import interrupt
from course.checks.interrupt import STOPPED, WAITS, interrupted


def local(X):
    """Double X, and keep it where nobody else can reach it."""
    kept = X
    return 2 * kept, lambda dY: 2 * dY


def test_what_two_calls_share_shows_in_the_result():
    shared = {}

    def forgetful(X):
        shared["X"] = X
        return 2 * shared["X"], None

    (Y, _), trouble = interrupted(forgetful, 1.0, forgetful, 10.0)
    assert Y == 20.0 and not trouble
    (Y, _), trouble = interrupted(local, 1.0, local, 10.0, comes_back=True)
    assert Y == 2.0 and not trouble


def test_a_thread_that_can_never_be_started_is_an_error(monkeypatch):
    def never(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(interrupt.threading.Thread, "start", never)
    before = sys.gettrace()
    with pytest.raises(RuntimeError, match="can't start"):
        interrupted(local, np.ones(3), local, np.ones(3))
    assert sys.gettrace() is before


def test_a_visitor_that_has_to_wait_is_noticed():
    lock = threading.Lock()

    def locked(X):
        with lock:
            return 2 * X, None

    (Y, _), trouble = interrupted(locked, 1.0, locked, 10.0)
    assert Y == 2.0 and trouble == WAITS


def test_a_call_that_keeps_visitors_out_is_noticed():
    def hidden(X):
        sys.settrace(None)
        return 2 * X, None

    before = sys.gettrace()
    assert interrupted(hidden, 1.0, hidden, 10.0)[1] == STOPPED
    assert sys.gettrace() is before


def test_the_visitor_is_gone_when_the_call_fails():
    before = threading.active_count()

    def failing(X):
        raise ValueError(X)

    with pytest.raises(ValueError, match="7"):
        interrupted(failing, 7, local, 1.0)
    for thread in threading.enumerate()[before:]:
        thread.join(5)
    assert threading.active_count() == before
