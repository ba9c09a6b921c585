"""Lets somebody in between any two steps of a call: what it shares with others then shows in its numbers.

Holds `interrupted`; `here`, which does it; and `watch`, by which an attempt to stop it is seen. Needs
nothing but Python, so that the grader can put this file beside a submission.
"""

import sys
import threading
import time
from contextlib import suppress

WAITS, STOPPED = "waits", "stopped"
LOOKS, PAUSE = 200, 0.005  # looks at a visitor, and seconds between: a busy machine stretches them
INTO_PYTHON = ("sys.settrace", "sys.setprofile", "sys.monitoring", "sys._getframe", "sys._current")
INTO_PYTHON += ("gc.", "ctypes")
FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
_seen = []  # what a call does to Python itself, once somebody watches


def watch():
    """Note from now on, until the process ends, who looks for Python's frames or switches its tracing off."""
    sys.addaudithook(_note)


def _note(event, args):
    """Note an event if it belongs to those by which a call could hide its steps."""
    if event.startswith(INTO_PYTHON) or (event == "object.__getattr__" and args[1] in FRAMES):
        _seen.append(event)


def interrupted(function, X, visitor, other, comes_back=False):
    """Call a function, and let a visitor go forward in a thread of its own before each step of the call.

    A step is one of Python's own, of which a line has several. Whatever two calls share shows in what is
    returned: a variable of the module, an attribute of the class or the function, a default, a closure's
    cell.

    Parameters
    ----------
    function : function, X -> anything
        The layer, or its ``backward``.
    X : array
        What it is called with.
    visitor : Layer
        May be the same layer.
    other : array
        What the visitor is called with.
    comes_back : bool
        Whether the visitor also calls its ``backward``, which adds to its own gradients.

    Returns
    -------
    result : anything
        What the function has returned.
    trouble : str
        Empty; ``"waits"`` if a visitor had to wait for the call to end, or ``"stopped"`` if the call kept
        visitors out.

    Examples
    --------
    >>> kept = {}
    >>> def double(X):
    ...     kept["X"] = X
    ...     return 2 * kept["X"], None
    >>> interrupted(double, 1, double, 10)[0]
    (20, None)
    """
    elsewhere = getattr(type(function), "__interrupted__", None)  # at home in another process
    return (elsewhere or here)(function, X, visitor, other, comes_back)


def here(function, X, visitor, other, comes_back):
    """Do what `interrupted` does, in this process, whatever the function says of itself."""
    trouble, came = [], []

    def visit():
        came.append(visitor)
        with suppress(Exception):  # its own trouble
            Y, backward = visitor(other)
            if comes_back:
                backward(Y)

    def between(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode" and not trouble:
            thread = _started(visit)
            for _ in range(LOOKS):
                thread.join(PAUSE)
                if not thread.is_alive():
                    break
            trouble.extend([WAITS] * thread.is_alive() or [STOPPED] * (not came))
            came.clear()
        return between

    before, settrace = sys.gettrace(), sys.settrace
    sys._getframe().f_trace_opcodes = True  # Python 3.12 wants to know before settrace
    settrace(between)
    _seen.clear()
    try:
        result = function(X)
        noted, stays = bool(_seen), sys.gettrace() is between
    finally:
        settrace(before)
    return result, *(trouble or [STOPPED * (noted or not stays)])


def _started(visit):
    """Start a thread; a process may have only so many, and one that has just ended still counts."""
    for look in range(LOOKS):
        thread = threading.Thread(target=visit, daemon=True)
        try:
            thread.start()
            return thread
        except RuntimeError:
            if look == LOOKS - 1:
                raise
            time.sleep(PAUSE)
