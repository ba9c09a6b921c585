"""The clock of an answer: the grader's waiting time, minus the time without a processor.

On a busy machine an answer takes longer through no fault of its own. Linux records how long every process was
ready to run while others had the processors; that time does not count, and neither does the check's own. On
other systems all waiting counts. Holds `Clock`; the limits are in ``classroom.limits``.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

STRETCH = 6  # at least a sixth of the elapsed time counts, however busy the machine is


class Clock:
    """Count the seconds between ``start`` and ``stop`` in which an answer could run.

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
        """Watch this process and the answering one, which is the last descendant of `pid`."""
        self.release()
        self.files = [_opened(os.getpid()), _opened(_last_descendant(pid))]

    def release(self):
        """Stop watching."""
        while self.files:
            os.close(self.files.pop())

    def add(self, seconds):
        """Count a wait too short to look up processor times."""
        self.spent += seconds

    def start(self):
        """Start counting."""
        self.at = time.monotonic(), self._waited()

    def stop(self):
        """Stop counting."""
        passed, waited = time.monotonic() - self.at[0], self._waited() - self.at[1]
        self.spent += max(passed - max(waited, 0.0), passed / STRETCH)

    def now(self):
        """Return the seconds counted so far, at least a sixth of those elapsed."""
        return max(self.spent, (time.monotonic() - self.began) / STRETCH)

    def _waited(self):
        """Sum the seconds that the watched processes have waited for a processor."""
        return sum(map(_seconds, self.files))


def _opened(pid):
    """Open Linux's scheduler statistics of a process, or an empty file on other systems."""
    try:
        return os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)
    except OSError:
        return os.open(os.devnull, os.O_RDONLY)


def _seconds(file):
    """Return how long a process was ready to run while others ran; 0 if unknown."""
    with suppress(OSError, IndexError):  # the process is gone, or the file is empty
        return int(os.pread(file, 100, 0).split()[1]) / 1e9
    return 0.0


def _last_descendant(pid):
    """Return the last descendant of a process; the process itself if unknown."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    with suppress(OSError):
        for child in children.read_text().split():
            return _last_descendant(child)
    return pid
