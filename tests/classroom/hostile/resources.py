"""Submissions that use up time, memory or processes, with the expected verdict of each."""

from tests.classroom.hostile.submission import CENTRE, NUMPY, REACH, case

FILE = "open('/tmp/large', 'wb')"

LONG = {  # these wait; others of their kind are asked about in every run
    "an endless loop that no exception ends",
    "an endless loop where an object is thrown away",
    "an endless loop where an object is copied",
    "an endless loop where an attribute is read",
    "an endless row of results",
    "a generator without an end",
    "a row of rows without an end",
    "sleeping in every call",
    "a regular expression that takes years",
    "a power that takes years",
    "JSON that is 100,000 deep",
    "half a frame",
    "its own halt",
    "many files",
    "an exception of 50 MB",
    "a text of nearly 64 MB",
    "memory without an end",
}

CASES = {
    # time
    "an endless loop in a cell": case("00_start", {"centre": "passed"}, "while True: pass", CENTRE),
    "an endless loop in a call": case("00_start", "failed", "def centre(X):\n    while True: pass"),
    "an endless loop in the way back": case(
        "04_closures",
        "failed",
        "def reduce_mean(X):\n    def backward(dY):\n        while True: pass\n"
        "    return X.mean(axis=1), backward",
    ),
    "an endless loop that no exception ends": case(
        "00_start",
        "failed",
        """
def centre(X):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
""",
    ),
    "an endless loop where an object is thrown away": case(
        "00_start",
        "failed",
        "class Bad:\n    def __del__(self):\n        while True: pass\n"
        "def centre(X):\n    Bad()\n    return X",
    ),
    # the grader never copies by their means, so this one is an honest answer
    "an endless loop where an object is copied": case(
        "04_closures",
        "passed",
        """
class Mean:
    def __call__(self, X):
        return X.mean(axis=1), lambda dY: dY[:, None] / X.shape[1] + 0 * X
    def __deepcopy__(self, memo):
        while True: pass
reduce_mean = Mean()
""",
    ),
    "an endless loop where an attribute is read": case(
        "04_closures",
        "failed",
        """
class Linear:
    def __init__(self, *args, **kwargs): pass
    def __getattr__(self, name):
        while True: pass
""",
    ),
    "an endless row of results": case(
        "00_start",
        "failed",
        """
import numpy as np
class Row:
    def __len__(self): return 10**9
    def __getitem__(self, place): return 0.0
def centre(X):
    return Row()
""",
    ),
    "a generator without an end": case(
        "04_closures", "failed", "import itertools\ndef three_calls():\n    return itertools.count()"
    ),
    "a row of rows without an end": case(
        "00_start",
        "failed",
        "class Row:\n    def __len__(self): return 2\n    def __getitem__(self, place): return self\n"
        "def centre(X):\n    return Row()",
    ),
    "sleeping in every call": case(  # the exercises after it find no time left
        "04_closures",
        dict.fromkeys(("reduce_mean", "two_layers", "scale", "Linear"), "failed"),
        "import time\ndef reduce_mean(X):\n    time.sleep(0.8 * WAIT)\n    return X.mean(axis=1), "
        "lambda dY: dY[:, None] / X.shape[1] + 0 * X",
    ),
    "a regular expression that takes years": case(
        "00_start", "failed", "import re\ndef centre(X):\n    return re.match('(a+)+$', 'a' * 60 + 'b')"
    ),
    "a power that takes years": case("00_start", "failed", "def centre(X):\n    return 9**9**9**9"),
    "a call of the grader's function, without an end": case(
        "01_slope", "failed", "def directional_slope(f, X, direction):\n    while True: f(X)"
    ),
    "a cell that answers itself and does not read on": case(
        "00_start",
        {"centre": "failed", None: "failed"},
        REACH + "\nreply(None)\nos.read(3, 5000)\ntime.sleep(1000)",
        "x = '" + "a" * 1_000_000 + "'\ndef centre(X): pass",
    ),
    "a call that is never answered, of a grader that has much to say": case(
        "01_slope",
        "failed",
        REACH
        + """
def complex_slope(f, x):
    import numpy as np
    peer.send("call", (np.ones(500_000),), f._asked[1])
    os.read(3, 5000)
    time.sleep(1000)
""",
    ),
    # memory, here and there
    "memory in files that have no name": case(
        "00_start",
        "failed",
        CENTRE.replace("return", "import os; held = [os.memfd_create('x') for _ in range(200)]\n    return"),
    ),
    "much memory": case("00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.ones(10**9)"),
    "memory without an end": case(
        "00_start", "failed", "def centre(X):\n    held = []\n    while True: held.append(bytes(10**7))"
    ),
    "a reply of more than 64 MB": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.zeros(9_000_000)"
    ),
    "a reply of nearly 64 MB": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.zeros(8_000_000)"
    ),
    "a text of nearly 64 MB": case("00_start", "failed", "def centre(X):\n    return 'a' * 60_000_000"),
    "a list of a million texts": case(
        "01_slope", "failed", "def complex_slope(f, x):\n    return ['text'] * 1_000_000"
    ),
    "an exception of 50 MB": case(
        "00_start", "failed", "def centre(X):\n    raise ValueError('a' * 50_000_000)"
    ),
    "words of an object of 50 MB": case(
        "01_slope",
        "failed",
        "class Long:\n    def __repr__(self): return 'a' * 50_000_000\n    def __len__(self): return 3\n"
        "def complex_slope(f, x):\n    return Long()",
    ),
    "one buffer that is many arrays": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    arrays = [["a", f"c{900 + n}", "<f8", [1_000_000], 0, "C", True] for n in range(100)]
    reply(["t", arrays], [bytes(8_000_000)])
    time.sleep(1000)
""",
    ),
    "a header of lists": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    text = frame_of(["t", ["LISTS"]])[4:]
    raw(text.replace(b'"LISTS"', b"[]," * 10_000_000 + b"[]"))
    time.sleep(1000)
""",
    ),
    "numbers that all fall into one place of a set": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    reply(["e", [n * (2**61 - 1) for n in range(1, 100_000)]])
    time.sleep(1000)
""",
    ),
    "names that all fall into one place of a dict": case(
        "00_start",
        "failed",
        "def centre(X):\n    return {n * (2**61 - 1): None for n in range(1, 15_000)}",
    ),
    "lists that are kept, call after call": case(
        "01_slope",
        "failed",
        """
import numpy as np
def directional_slope(f, X, direction):
    for _ in range(15):
        try:
            f([np.zeros(4_000_000)])
        except Exception:
            pass
""",
    ),
    "places that are recorded, call after call": case(
        "01_slope",
        "failed",
        """
import numpy as np
def complex_slope(f, x):
    for _ in range(15):
        try:
            f(np.zeros(4_000_000))
        except Exception:
            pass
""",
    ),
    # depth
    "recursion without an end": case("00_start", "failed", "def centre(X):\n    return centre(X)"),
    "recursion through the grader": case(
        "11_graphs",
        "failed",
        "from minigrad.layer import Layer\ndef as_loss(*args):\n    return as_loss(*args)",
    ),
    "a list in a list, 10,000 deep": case(
        "00_start",
        "failed",
        "def centre(X):\n    inner = []\n    for _ in range(10_000): inner = [inner]\n    return inner",
    ),
    "a list that holds itself": case(
        "00_start", "failed", "def centre(X):\n    me = []\n    me.append(me)\n    return me"
    ),
    # few bytes on the wire that are many numbers written out
    "a list that holds itself twice": case(
        "00_start", "failed", "def centre(X):\n    me = []\n    me += [me, me]\n    return me"
    ),
    "a dict that holds the next one 2,000 times": case(
        "00_start",
        "failed",
        "def centre(X):\n    held = 0\n    for _ in range(6): held = dict.fromkeys(range(2000), held)\n"
        "    return held",
    ),
    "one row, 2,800 times": case("00_start", "failed", "def centre(X):\n    return [[0.0] * 2800] * 2800"),
    "one array, 60 times": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return [np.zeros(2**17)] * 60"
    ),
    "a long list, counted again in every change": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    lists = ["t", [["l", "c900", [0] * 500_000], ["l", "c901", []]]]
    reply(lists, news=[["c901", "l", [["h", "c900"]]]] * 20_000)
    time.sleep(1000)
""",
    ),
    "a chain of lists, linked from its end": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    places = range(900, 5900)
    links = [[f"c{n}", "l", [["h", f"c{n + 1}"]]] for n in reversed(places[:-1])]
    reply(["t", [["l", f"c{n}", []] for n in places]], news=links)
    time.sleep(1000)
""",
    ),
    "JSON that is 100,000 deep": case(
        "00_start",
        "failed",
        REACH + "\ndef centre(X):\n    raw(b'[' * 100_000)\n    time.sleep(1000)",
    ),
    # processes, threads, files, text
    "a fork bomb": case("00_start", "failed", "import os\ndef centre(X):\n    while True: os.fork()"),
    "a fork bomb above a right answer": case(
        "04_closures",
        {"reduce_mean": "failed", "scale": "passed"},
        "import os\ndef reduce_mean(X):\n    while True: os.fork()",
        "def scale(gain, dgain):\n    def forward(X):\n        def backward(dY):\n"
        "            dgain[...] += (X * dY).sum(axis=0)\n            return gain * dY\n\n"
        "        return gain * X, backward\n\n    return forward",
    ),
    "a fork bomb in a cell": case(
        "00_start",
        {"centre": "passed"},
        """
import os, time
first = os.getpid()
try:
    while os.getpid() == first: os.fork()
except OSError:
    pass
if os.getpid() != first: time.sleep(1000)
""",
        CENTRE,
    ),
    "threads without an end": case(
        "00_start",
        "failed",
        "import threading, time\ndef centre(X):\n"
        "    while True: threading.Thread(target=time.sleep, args=(1000,)).start()",
    ),
    "a process that stays behind": case(
        "00_start",
        {"centre": "passed"},
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)",
        CENTRE,
    ),
    "much text": case(
        "00_start",
        {"centre": "passed"},
        "import sys\nfor _ in range(200):\n    print('a' * 100_000)\n    sys.stderr.write('b' * 100_000)",
        CENTRE,
    ),
    "a large file": case(
        "00_start",
        "failed",
        f"def centre(X):\n    with {FILE} as file:\n        while True: file.write(bytes(10**6))",
    ),
    "many files": case(
        "00_start",
        "failed",
        "def centre(X):\n    for n in range(10**9): open(f'/tmp/{n}', 'w').write('a' * 10_000)",
    ),
    "open files without an end": case(
        "00_start", "failed", "def centre(X):\n    held = []\n    while True: held.append(open('/dev/null'))"
    ),
    "its own end": case("00_start", "failed", "import os\ndef centre(X):\n    os.kill(os.getpid(), 9)"),
    "the end of all": case("00_start", "failed", "import os\ndef centre(X):\n    os.kill(-1, 9)"),
    "its own halt": case("00_start", "failed", "import os\ndef centre(X):\n    os.kill(os.getpid(), 19)"),
    "a crash of the interpreter": case(
        "00_start", "failed", "import ctypes\ndef centre(X):\n    ctypes.string_at(0)"
    ),
    "closed pipes": case(
        "00_start", "failed", "import os\ndef centre(X):\n    os.closerange(0, 100)\n    return X"
    ),
    "the limits taken away": case(
        "00_start",
        "failed",
        "import resource\ndef centre(X):\n    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n    return X",
    ),
    "noise in the grader's pipe": case(
        "00_start",
        "failed",
        REACH + "\ndef centre(X):\n    peer.write(os.urandom(100_000))\n    time.sleep(1000)",
    ),
    "half a frame": case(
        "00_start",
        "failed",
        REACH + "\ndef centre(X):\n    peer.write(frame_of(None)[:-3])\n    time.sleep(1000)",
    ),
    "zeros without an end in the grader's pipe": case(
        "00_start", "failed", REACH + "\ndef centre(X):\n    while True: peer.write(bytes(100_000))"
    ),
}
