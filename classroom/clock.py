"""The time that an answer takes: while the grader waits for it, and it does not wait for a processor itself.

On a machine that is busy with other things an answer comes later, and is not slower. Linux counts for every
process how long it was ready to run while others had the processors; that time is not the answer's, and
neither is what the check computes. Where nobody counts it, all the time of waiting is. Holds `Clock`. Leaves
out the limits (``classroom.grade``).
"""

import os
import time
from contextlib import suppress
from pathlib import Path

STRETCH = 6  # whatever else is going on, a sixth of the time that passes counts


class Clock:
    """Counts the seconds between ``start`` and ``stop`` in which an answer could run.

    Examples
    --------
    >>> clock = Clock()
    >>> clock.start()
    >>> clock.stop()
    >>> 0 <= clock.now() < 60
    True
    """

    def __init__(self):
        self.began, self.spent, self.at, self.files = time.monotonic(), 0.0, (0.0, 0.0), []

    def watch(self, pid):
        """Watch this process and the one that answers: the last descendant of one that was just started."""
        self.release()
        self.files = [_opened(os.getpid()), _opened(_last_descendant(pid))]

    def release(self):
        """Watch them no longer."""
        while self.files:
            os.close(self.files.pop())

    def add(self, seconds):
        """Count a wait so short that nobody asks for what it was."""
        self.spent += seconds

    def start(self):
        """Begin to count: the answer is waited for."""
        self.at = time.monotonic(), self._waited()

    def stop(self):
        """Count no longer."""
        passed, waited = time.monotonic() - self.at[0], self._waited() - self.at[1]
        self.spent += max(passed - max(waited, 0.0), passed / STRETCH)

    def now(self):
        """Return the seconds that the answers have taken; at least a sixth of those that have passed."""
        return max(self.spent, (time.monotonic() - self.began) / STRETCH)

    def _waited(self):
        """Return the seconds for which the watched processes have waited for a processor."""
        return sum(map(_seconds, self.files))


def _opened(pid):
    """Open what Linux counts of a process; where there is nothing of it, what is empty."""
    try:
        return os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)
    except OSError:
        return os.open(os.devnull, os.O_RDONLY)


def _seconds(file):
    """Return for how long a process has been ready to run while others ran; 0 where nobody counts it."""
    with suppress(OSError, IndexError):  # it is gone, or the file is empty
        return int(os.pread(file, 100, 0).split()[1]) / 1e9
    return 0.0


def _last_descendant(pid):
    """Return the last in the line of processes that one has started; itself where nobody tells."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    with suppress(OSError):
        for child in children.read_text().split():
            return _last_descendant(child)
    return pid
