"""Both ends of the wire without a sandbox: a thread runs the submission's end; and an empty queue."""

import os
import sys
import threading

import pytest

from classroom.child import Child
from classroom.queue import Queue
from classroom.remote import Remote
from tests.classroom.stand_ins import CHAPTER

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]  # bubblewrap is a program of Linux


class End:
    """The two ends: `remote` asks, `child` answers; `run` runs a cell there, `find` gets a name."""

    def __init__(self):
        (self.there, back), (self.here, out) = os.pipe(), os.pipe()
        self.out, self.remote = out, Remote(self.here, back)
        self.pipes = [self.there, back, self.here, out]
        self.child = Child(self._read, lambda frame: os.write(out, frame))
        self.thread = threading.Thread(target=self._answer, daemon=True)
        self.thread.start()

    def _read(self, count):
        part = b""
        while len(part) < count:
            more = os.read(self.there, count - len(part))
            if not more:
                raise EOFError
            part += more
        return part

    def _answer(self):
        try:
            while True:
                self.child.answer(self.child.receive())
        except EOFError:
            return

    def run(self, source):
        """Run a cell; the first exception in it is raised when all is run."""
        raised = []
        for place in range(self.remote.ask("read", name=1, value=source)):
            try:
                self.remote.ask("run", name=place)
            except Exception as error:
                raised.append(error)
        if raised:
            raise raised[0]

    def find(self, name, source=None, kind="function"):
        """Return the value of a name, after a cell if one is given."""
        if source is not None:
            self.run(source)
        return self.remote.ask("find", name=name, value=kind)

    def close(self):
        os.close(self.remote.target)
        self.thread.join(timeout=5)
        for pipe in (self.there, self.here, self.out):
            os.close(pipe)


@pytest.fixture
def end():
    """Two ends of the wire."""
    ends = End()
    yield ends
    ends.close()


@pytest.fixture
def queue(tmp_path):
    """A queue without submissions, and the folder that they come from."""
    (tmp_path / "in").mkdir()
    with Queue(tmp_path / "out", CHAPTER) as queue:
        queue.source = tmp_path / "in"
        yield queue
