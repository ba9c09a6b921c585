"""Submissions that use up time, memory or processes, with the expected verdict of each."""

from tests.classroom.hostile.submission import CENTRE, REACH, case, cases

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

FAIL = {
    # time
    "an endless loop in a cell": case({"centre": "passed"}, "while True: pass", CENTRE),
    "an endless loop in a call": "def centre(X):\n    while True: pass",
    "an endless loop in the way back": "def reduce_mean(X):\n    def backward(dY):\n"
    "        while True: pass\n    return X.mean(axis=1), backward",
    "an endless loop that no exception ends": "def centre(X):\n    while True:\n        try:\n"
    "            while True: pass\n        except BaseException:\n            pass",
    "an endless loop where an object is thrown away": "class Bad:\n    def __del__(self):\n"
    "        while True: pass\ndef centre(X):\n    Bad()\n    return X",
    # the grader never copies by their means, so this one is an honest answer
    "an endless loop where an object is copied": case(
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
    "an endless loop where an attribute is read": """
class Linear:
    def __init__(self, *args, **kwargs): pass
    def __getattr__(self, name):
        while True: pass
""",
    "an endless row of results": "class Row:\n    def __len__(self): return 10**9\n"
    "    def __getitem__(self, place): return 0.0\ndef centre(X):\n    return Row()",
    "a generator without an end": "import itertools\ndef three_calls():\n    return itertools.count()",
    "a row of rows without an end": "class Row:\n    def __len__(self): return 2\n"
    "    def __getitem__(self, place): return self\ndef centre(X):\n    return Row()",
    "sleeping in every call": case(  # the exercises after it find no time left
        dict.fromkeys(("reduce_mean", "two_layers", "scale", "Linear"), "failed"),
        "import time\ndef reduce_mean(X):\n    time.sleep(0.8 * WAIT)\n    return X.mean(axis=1), "
        "lambda dY: dY[:, None] / X.shape[1] + 0 * X",
    ),
    "a regular expression that takes years": "import re\ndef centre(X):\n"
    "    return re.match('(a+)+$', 'a' * 60 + 'b')",
    "a power that takes years": "def centre(X):\n    return 9**9**9**9",
    "a call of the grader's function, without an end": "def directional_slope(f, X, direction):\n"
    "    while True: f(X)",
    "a cell that answers itself and does not read on": case(
        {"centre": "failed", None: "failed"},
        REACH + "\nreply(None)\nos.read(3, 5000)\ntime.sleep(1000)",
        "x = '" + "a" * 1_000_000 + "'\ndef centre(X): pass",
    ),
    # memory, here and there
    "memory in files that have no name": """
def centre(X):
    import os; held = [os.memfd_create('x') for _ in range(200)]
    return X - X.mean(axis=1, keepdims=True)
""",
    "much memory": "def centre(X):\n    return np.ones(10**9)",
    "memory without an end": "def centre(X):\n    held = []\n    while True: held.append(bytes(10**7))",
    "a reply of more than 64 MB": "def centre(X):\n    return np.zeros(9_000_000)",
    "a reply of nearly 64 MB": "def centre(X):\n    return np.zeros(8_000_000)",
    "a text of nearly 64 MB": "def centre(X):\n    return 'a' * 60_000_000",
    "a list of a million texts": "def complex_slope(f, x):\n    return ['text'] * 1_000_000",
    "an exception of 50 MB": "def centre(X):\n    raise ValueError('a' * 50_000_000)",
    "words of an object of 50 MB": "class Long:\n    def __repr__(self): return 'a' * 50_000_000\n"
    "    def __len__(self): return 3\ndef complex_slope(f, x):\n    return Long()",
    "names that all fall into one place of a dict": "def centre(X):\n"
    "    return {n * (2**61 - 1): None for n in range(1, 15_000)}",
    "lists that are kept, call after call": "def directional_slope(f, X, direction):\n"
    "    for _ in range(15):\n        try:\n            f([np.zeros(4_000_000)])\n        except Exception:\n"
    "            pass",
    "places that are recorded, call after call": "def complex_slope(f, x):\n    for _ in range(15):\n"
    "        try:\n            f(np.zeros(4_000_000))\n        except Exception:\n            pass",
    # depth
    "recursion without an end": "def centre(X):\n    return centre(X)",
    "recursion through the grader": "from minigrad.layer import Layer\ndef as_loss(*args):\n"
    "    return as_loss(*args)",
    "a list in a list, 10,000 deep": "def centre(X):\n    inner = []\n"
    "    for _ in range(10_000): inner = [inner]\n    return inner",
    "a list that holds itself": "def centre(X):\n    me = []\n    me.append(me)\n    return me",
    # few bytes on the wire that are many numbers written out
    "a list that holds itself twice": "def centre(X):\n    me = []\n    me += [me, me]\n    return me",
    "a dict that holds the next one 2,000 times": "def centre(X):\n    held = 0\n"
    "    for _ in range(6): held = dict.fromkeys(range(2000), held)\n    return held",
    "one row, 2,800 times": "def centre(X):\n    return [[0.0] * 2800] * 2800",
    "one array, 60 times": "def centre(X):\n    return [np.zeros(2**17)] * 60",
    "a long list, counted again in every change": REACH
    + """
def centre(X):
    lists = ["t", [["l", "c900", [0] * 500_000], ["l", "c901", []]]]
    reply(lists, news=[["c901", "l", [["h", "c900"]]]] * 20_000)
    time.sleep(1000)
""",
    "a chain of lists, linked from its end": REACH
    + """
def centre(X):
    places = range(900, 5900)
    links = [[f"c{n}", "l", [["h", f"c{n + 1}"]]] for n in reversed(places[:-1])]
    reply(["t", [["l", f"c{n}", []] for n in places]], news=links)
    time.sleep(1000)
""",
    # processes, threads, files, text
    "a fork bomb": "import os\ndef centre(X):\n    while True: os.fork()",
    "a fork bomb above a right answer": case(
        {"reduce_mean": "failed", "scale": "passed"},
        "import os\ndef reduce_mean(X):\n    while True: os.fork()",
        "def scale(gain, dgain):\n    def forward(X):\n        def backward(dY):\n"
        "            dgain[...] += (X * dY).sum(axis=0)\n            return gain * dY\n"
        "        return gain * X, backward\n    return forward",
    ),
    "a fork bomb in a cell": case(
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
    "threads without an end": "import threading, time\ndef centre(X):\n"
    "    while True: threading.Thread(target=time.sleep, args=(1000,)).start()",
    "a process that stays behind": case(
        {"centre": "passed"},
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)",
        CENTRE,
    ),
    "much text": case(
        {"centre": "passed"},
        "import sys\nfor _ in range(200):\n    print('a' * 100_000)\n    sys.stderr.write('b' * 100_000)",
        CENTRE,
    ),
    "a large file": "def centre(X):\n    with open('/tmp/large', 'wb') as file:\n"
    "        while True: file.write(bytes(10**6))",
    "many files": "def centre(X):\n    for n in range(10**9): open(f'/tmp/{n}', 'w').write('a' * 10_000)",
    "open files without an end": "def centre(X):\n    held = []\n"
    "    while True: held.append(open('/dev/null'))",
    "its own end": "import os\ndef centre(X):\n    os.kill(os.getpid(), 9)",
    "the end of all": "import os\ndef centre(X):\n    os.kill(-1, 9)",
    "its own halt": "import os\ndef centre(X):\n    os.kill(os.getpid(), 19)",
    "a crash of the interpreter": "import ctypes\ndef centre(X):\n    ctypes.string_at(0)",
    "closed pipes": "import os\ndef centre(X):\n    os.closerange(0, 100)\n    return X",
    "the limits taken away": "import resource\ndef centre(X):\n"
    "    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n    return X",
}
FAIL_BY_HAND = {  # below REACH
    "a call that is never answered, of a grader that has much to say": "def complex_slope(f, x):\n"
    '    import numpy as np\n    peer.send("call", (np.ones(500_000),), f._asked[1])\n'
    "    os.read(3, 5000)\n    time.sleep(1000)",
    "one buffer that is many arrays": """
def centre(X):
    arrays = [["a", f"c{900 + n}", "<f8", [1_000_000], 0, "C", True] for n in range(100)]
    reply(["t", arrays], [bytes(8_000_000)])
    time.sleep(1000)
""",
    "a header of lists": 'def centre(X):\n    text = frame_of(["t", ["LISTS"]])[4:]\n'
    '    raw(text.replace(b\'"LISTS"\', b"[]," * 10_000_000 + b"[]"))\n    time.sleep(1000)',
    "numbers that all fall into one place of a set": "def centre(X):\n"
    '    reply(["e", [n * (2**61 - 1) for n in range(1, 100_000)]])\n    time.sleep(1000)',
    "JSON that is 100,000 deep": "def centre(X):\n    raw(b'[' * 100_000)\n    time.sleep(1000)",
    "noise in the grader's pipe": "def centre(X):\n    peer.write(os.urandom(100_000))\n    time.sleep(1000)",
    "half a frame": "def centre(X):\n    peer.write(frame_of(None)[:-3])\n    time.sleep(1000)",
    "zeros without an end in the grader's pipe": "def centre(X):\n    while True: peer.write(bytes(100_000))",
}
CASES = cases(FAIL) | cases(FAIL_BY_HAND, REACH)
