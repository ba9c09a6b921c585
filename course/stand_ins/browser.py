"""Replacements for parts that Python lacks in a browser: threads, sockets, and a clock that always advances.

`course` calls `install` there. A simulated thread has its own stack, and runs when another one waits:
for a lock, a barrier, a queue. `threading` and `concurrent.futures` are built on the lock that is replaced
here. A simulated socket connects to a server in the same program: waiting for its reply runs it, which is
enough for `http.server` and `http.client`. Waiting needs a browser that can suspend WebAssembly (JSPI); in
others a thread runs at once until it ends, and waiting raises RuntimeError. Processes are in
`course.stand_ins.mpi`. Used in chapters 20, 22 and 23.
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

NOTICE = "Threads and sockets are simulated: in a browser, a thread runs when another one waits."
CANNOT_WAIT = (
    "in this browser a thread cannot wait for another (it lacks JSPI, the suspension of WebAssembly). "
    "Use a current Chrome or Edge, or Python outside a browser."
)

_idents, _ports = count(2), count(49152)
_listening = {}  # the listening sockets, by port
_running = 1  # the running thread; 1 is the main thread
_alive = set()  # the threads that have started and not ended
_is_notified = False


def install():
    """Replace the parts of the standard library that need threads and sockets."""
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
    """Return whether this browser, and this call, can suspend Python."""
    from pyodide.ffi import can_run_sync

    return can_run_sync()


def _wait(turn, seconds=None):
    """Let other threads run until a future is done; return its result, or False when the time is up."""
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
    """Start a thread: on its own stack, when the others wait; or at once, if Python cannot be suspended."""
    global _is_notified
    if not _is_notified:
        _is_notified = True
        print(NOTICE)
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
    """`time.perf_counter` with strictly increasing readings; its ticks are long in a browser."""

    def __init__(self, clock):
        self._clock, self._last = clock, 0.0

    def __call__(self):
        """Return seconds."""
        self._last = max(self._clock(), self._last + 1e-6)
        return self._last


class Lock:
    """`threading.Lock`, which threads acquire in the order of waiting."""

    def __init__(self):
        self._held, self._turns = False, deque()

    def acquire(self, blocking=True, timeout=-1):
        """Acquire the lock, and return whether it was free in time."""
        if not self._held:
            self._held = True
            return True
        if not blocking or timeout == 0:
            return False
        turn = asyncio.get_event_loop().create_future()
        self._turns.append(turn)
        return _wait(turn, None if timeout < 0 else timeout)

    def release(self):
        """Pass the lock to the thread that has waited longest, or leave it free."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._held = False

    def _at_fork_reinit(self):
        """Free the lock; `concurrent.futures` calls this."""
        self.__init__()

    def locked(self):
        """Return whether a thread holds the lock."""
        return self._held

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()


class Handle:
    """The handle that other threads use to wait for the end of a thread."""

    def __init__(self):
        self.ident, self._end = None, Lock()
        self._end.acquire()

    def join(self, timeout=None):
        """Wait until the thread is done."""
        if self._end.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            self._end.release()

    def is_done(self):
        """Return whether the thread is done."""
        return not self._end.locked()

    def _set_done(self):
        if self._end.locked():
            self._end.release()


class Stream(io.RawIOBase):
    """Bytes in transit from one end of a connection to the other."""

    def __init__(self):
        self.bytes, self.when_empty = bytearray(), None

    def readable(self):
        """Return True."""
        return True

    def readinto(self, room):
        """Move as many bytes as there is room for; if there are none, run the other end first."""
        if not self.bytes and self.when_empty is not None:
            answer, self.when_empty = self.when_empty, None
            answer()
        size = min(len(room), len(self.bytes))
        room[:size] = self.bytes[:size]
        del self.bytes[:size]
        return size


class Socket:
    """One end of a connection, or a listening socket."""

    server = None  # the server that accepts connections

    def __init__(self, *kind):
        self.received, self.peer, self._address = Stream(), None, ("127.0.0.1", 0)

    def bind(self, address):
        """Set the address; port 0 is any free port."""
        self._address = (address[0], address[1] or next(_ports))

    def listen(self, size=None):
        """Accept connections."""
        _listening[self._address[1]] = self

    def sendall(self, content):
        """Send bytes to the other end."""
        self.peer.received.bytes += content

    def makefile(self, mode="rb", buffering=-1, **options):
        """Return a file of the bytes received."""
        return io.BufferedReader(self.received)

    def close(self):
        """Stop listening."""
        _listening.pop(self._address[1], None)

    def getsockname(self):
        """Return its address."""
        return self._address

    def fileno(self):
        """Return -1, not the number of a file."""
        return -1

    def _nothing(self, *words):
        """Do nothing: both ends are in this program."""

    shutdown = settimeout = setsockopt = _nothing


def _connect(address, timeout=None, source_address=None, **options):
    """Return a socket connected to the one that listens at an address of this program."""
    listener = _listening.get(address[1])
    if listener is None:
        raise ConnectionRefusedError(
            f"no server at {address[0]}:{address[1]}; the browser has no network sockets."
        )
    near, far = Socket(), Socket()
    near.peer, far.peer = far, near
    near.received.when_empty = lambda: socketserver.BaseServer.process_request(listener.server, far, address)
    return near


class Selector:
    """Replaces the selector of `socketserver`; connections do not arrive through it here."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def register(self, server, events):
        """Note the server of a listening socket."""
        server.socket.server = server

    def select(self, timeout=None):
        """Let other threads run for a while."""
        threading.Event().wait(timeout)
        return []
