"""Run another call between any two steps of a call, so that state shared by both shows in the results.

`interrupted` does this, in another process if the function is there, and `here` in this process; `watch`
notices attempts to prevent it. Imports only the standard library, so that the grader can copy this file to a
submission.
"""

import sys
import threading
from contextlib import suppress

WAITS, STOPPED = "waits", "stopped"
LOOKS, PAUSE = 200, 0.005  # checks on a visitor, and seconds between them; longer on a busy machine
INTO_PYTHON = ("sys.settrace", "sys.setprofile", "sys.monitoring", "sys._getframe", "sys._current")
INTO_PYTHON += ("gc.", "ctypes")
FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
_seen = []  # audit events of a call that touches frames or tracing, after watch()


def watch():
    """Record from now on any access to Python's frames and any change of its tracing."""
    sys.addaudithook(_note)


def _note(event, args):
    """Record an audit event by which a call could hide its steps."""
    if event.startswith(INTO_PYTHON) or (event == "object.__getattr__" and args[1] in FRAMES):
        _seen.append(event)


def interrupted(function, X, visitor, other, comes_back=False):
    """Call a function; before each step of the call, run a visitor's forward pass in its own thread.

    A step is a bytecode instruction. Any state that the two calls share shows in the result: a variable of
    the module, an attribute of the class or the function, a default, a closure's cell.

    Parameters
    ----------
    function : function, X -> anything
        The layer, or its ``backward``.
    X : array
        The function's argument.
    visitor : Layer
        May be the same layer.
    other : array
        The visitor's argument.
    comes_back : bool
        Whether the visitor also calls its ``backward``, which adds to its own gradients.

    Returns
    -------
    result : anything
        The function's result.
    trouble : str
        Empty; ``"waits"`` if a visitor had to wait for the call to end, or ``"stopped"`` if the call
        prevented visits.

    Examples
    --------
    >>> kept = {}
    >>> def double(X):
    ...     kept["X"] = X
    ...     return 2 * kept["X"], None
    >>> interrupted(double, 1, double, 10)[0]
    (20, None)
    """
    elsewhere = getattr(type(function), "__interrupted__", None)  # the function is in another process
    return (elsewhere or here)(function, X, visitor, other, comes_back)


def here(function, X, visitor, other, comes_back):
    """Do what `interrupted` does, always in this process."""
    trouble, visits = [], []

    def visit():
        visits.append(visitor)
        with suppress(Exception):  # an error of the visitor does not matter
            Y, backward = visitor(other)
            if comes_back:
                backward(Y)

    def between(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode" and not trouble:
            thread = threading.Thread(target=visit, daemon=True)
            thread.start()
            for _ in range(LOOKS):
                thread.join(PAUSE)
                if not thread.is_alive():
                    break
            trouble.extend([WAITS] * thread.is_alive() or [STOPPED] * (not visits))
            visits.clear()
        return between

    before, settrace = sys.gettrace(), sys.settrace
    sys._getframe().f_trace_opcodes = True  # Python 3.12 needs this before settrace
    settrace(between)
    _seen.clear()
    try:
        result = function(X)
        noted, stays = bool(_seen), sys.gettrace() is between
    finally:
        settrace(before)
    return result, *(trouble or [STOPPED * (noted or not stays)])
