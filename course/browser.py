"""What a browser lacks and chapters need: threads, sockets, and a clock that never stands still.

Holds `install`, which `course` calls there. A pretended thread has a stack of its own, and goes on when
another one waits: at a lock, a barrier, a queue. `threading` and `concurrent.futures` rest on the lock
that is replaced here. A pretended socket leads to a server of the same program: who waits for its reply runs
it, which is enough for `http.server` and `http.client`. Waiting needs a browser that can suspend WebAssembly
(JSPI); in others a thread runs at once and to its end, and one that would have to wait says so. Leaves out
processes (`course.mpi`). Used in chapters 20, 22 and 23.
"""

import asyncio
import gc
import io
import queue
import socket
import socketserver
import threading
import time
from collections import deque
from itertools import count

SAID = "The threads and sockets are pretended: in a browser a thread goes on when another one waits."
CANNOT_WAIT = (
    "this browser cannot let one thread wait for another (it lacks JSPI, the suspension of WebAssembly). "
    "A current Chrome or Edge can, and so does Python outside of a browser."
)

_idents, _ports = count(2), count(49152)
_doors = {}  # the sockets that listen, by their port
_running = 1  # whose turn it is; 1 is the main thread
_alive = set()  # the threads that have begun and not ended
_told = False


def install():
    """Put the stand-ins where the standard library looks for them."""
    time.perf_counter = Clock(time.perf_counter)
    threading._allocate_lock = threading.Lock = Lock
    threading.RLock, threading._CRLock = threading._PyRLock, None
    threading.get_ident = lambda: _running
    threading._ThreadHandle, threading._start_joinable_thread = Handle, _start
    main = threading.main_thread()
    threading._active = {_running: main}
    main._ident = _running
    queue.SimpleQueue = queue._PySimpleQueue
    socket.socket, socket.create_connection = Socket, _connect
    socketserver._ServerSelector = Selector


def _can_wait():
    """Say whether this browser, and this call, can suspend Python."""
    from pyodide.ffi import can_run_sync

    return can_run_sync()


def _wait(turn, seconds=None):
    """Let others go on until a future is done, and return its result; False when the time is up."""
    from pyodide.ffi import run_sync

    global _running
    if not _can_wait():
        raise RuntimeError(CANNOT_WAIT)
    mine, timer = _running, None
    if seconds is not None:
        timer = asyncio.get_event_loop().call_later(seconds, lambda: turn.done() or turn.set_result(False))
    try:
        return run_sync(turn)
    finally:
        _running = mine
        if timer is not None:
            timer.cancel()


def _start(function, handle, daemon=True):
    """Start a thread: on its own stack, when the others wait; or at once, where stacks cannot be changed."""
    global _told
    if not _told:
        _told = True
        print(SAID)
    handle.ident = next(_idents)
    _alive.add(handle.ident)
    gc.disable()  # while a stack is suspended, Pyodide's collector reads past its end (its issue 6464)

    def run():
        global _running
        before, _running = _running, handle.ident
        try:
            function()
        finally:
            _running = before
            handle._set_done()
            _alive.discard(handle.ident)
            if not _alive:
                gc.enable()

    if _can_wait():
        asyncio.get_event_loop().call_soon(run)
    else:
        run()


class Clock:
    """`time.perf_counter`, whose ticks are long in a browser: each reading is later than the one before."""

    def __init__(self, clock):
        self._clock, self._last = clock, 0.0

    def __call__(self):
        """Return seconds."""
        self._last = max(self._clock(), self._last + 1e-6)
        return self._last


class Lock:
    """`threading.Lock`: who finds it held waits, and it is handed on in the order of waiting."""

    def __init__(self):
        self._held, self._turns = False, deque()

    def acquire(self, blocking=True, timeout=-1):
        """Take it, and return whether it was free in time."""
        if not self._held:
            self._held = True
            return True
        if not blocking or timeout == 0:
            return False
        turn = asyncio.get_event_loop().create_future()
        self._turns.append(turn)
        return _wait(turn, None if timeout < 0 else timeout)

    def release(self):
        """Give it to who has waited longest, or leave it free."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._held = False

    def _at_fork_reinit(self):
        """Leave it free, for `concurrent.futures`, which asks for this."""
        self.__init__()

    def locked(self):
        """Return whether somebody has it."""
        return self._held

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()


class Handle:
    """What a thread is to those who wait for its end."""

    def __init__(self):
        self.ident, self._end = None, Lock()
        self._end.acquire()

    def join(self, timeout=None):
        """Wait until it is done."""
        if self._end.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            self._end.release()

    def is_done(self):
        """Return whether it is done."""
        return not self._end.locked()

    def _set_done(self):
        if self._end.locked():
            self._end.release()


class Stream(io.RawIOBase):
    """Bytes on their way from one end of a connection to the other."""

    def __init__(self):
        self.bytes, self.when_empty = bytearray(), None

    def readable(self):
        """Return True."""
        return True

    def readinto(self, room):
        """Move as many bytes as there is room for; where there are none, let the other end work first."""
        if not self.bytes and self.when_empty is not None:
            answer, self.when_empty = self.when_empty, None
            answer()
        size = min(len(room), len(self.bytes))
        room[:size] = self.bytes[:size]
        del self.bytes[:size]
        return size


class Socket:
    """One end of a connection, or the door at which connections are asked for."""

    server = None  # who opens the door

    def __init__(self, *kind):
        self.came, self.there, self._address = Stream(), None, ("127.0.0.1", 0)

    def bind(self, address):
        """Take an address; port 0 is any that is free."""
        self._address = (address[0], address[1] or next(_ports))

    def listen(self, size=None):
        """Let others connect."""
        _doors[self._address[1]] = self

    def sendall(self, content):
        """Send bytes to the other end."""
        self.there.came.bytes += content

    def makefile(self, mode="rb", buffering=-1, **options):
        """Return a file of what comes in."""
        return io.BufferedReader(self.came)

    def close(self):
        """Shut the door, if it is one."""
        _doors.pop(self._address[1], None)

    def getsockname(self):
        """Return its address."""
        return self._address

    def fileno(self):
        """Return a number that no file has."""
        return -1

    def _nothing(self, *words):
        """Do nothing: nobody here is far away."""

    shutdown = settimeout = setsockopt = _nothing


def _connect(address, timeout=None, source_address=None, **options):
    """Return a socket that is connected with who listens at an address of this program."""
    door = _doors.get(address[1])
    if door is None:
        raise ConnectionRefusedError(f"nobody listens at {address[0]}:{address[1]}, and here is no network.")
    near, far = Socket(), Socket()
    near.there, far.there = far, near
    near.came.when_empty = lambda: socketserver.BaseServer.process_request(door.server, far, address)
    return near


class Selector:
    """What `socketserver` waits with for the next connection, which comes in another way here."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def register(self, server, events):
        """Say who opens the door."""
        server.socket.server = server

    def select(self, timeout=None):
        """Let the others go on for a while."""
        threading.Event().wait(timeout)
        return []
