"""Submissions that use knowledge of the whole source to get points without doing the work.

One table: the exercise, the reason why it should earn nothing, the code. `NOTEBOOKS` has the rest of each
notebook.
"""

from typing import NamedTuple

from tests.classroom.hostile.submission import REACH


class Attack(NamedTuple):
    """A submission that must earn nothing.

    Parameters
    ----------
    exercise : str
    why : str
        It should earn nothing.
    code : str
        Of its one cell, below ``import numpy as np``.
    around : dict
        Other keys of the notebook; ``cell`` has those of the cell.
    """

    exercise: str
    why: str
    code: str
    around: dict = {}


CENTRE = "00_start.centre"
CALLS = "04_closures.three_calls"
MEAN = "04_closures.reduce_mean"
TWO = "04_closures.two_layers"
SCALE = "04_closures.scale"
LINEAR = "04_closures.Linear"
ROW = "05_chains.row"
SOFTPLUS = "05_chains.softplus"
GATE = "23_serving.Gate"
ZEROS = "def centre(X):\n    return np.zeros(X.shape)"
GATE_HEAD = """
import sys, threading
from minigrad import Layer, Parameter
class Gate(Layer):
    def __init__(self, width):
        self.w = Parameter(np.ones(width))
    def back(self, S, dY):
        self.w.grad += (dY * S).sum(axis=0)
        return dY * self.w.data * S * (1 - S)
"""

ATTACKS = {
    # objects that lie
    "a float whose hash and truth are anything": Attack(
        CALLS,
        "the numbers travel, not their methods",
        "class F(float):\n    __bool__ = lambda s: True\n    __round__ = __abs__ = lambda s, *a: 12.0\n"
        "    __float__ = lambda s: 12.0\ndef three_calls():\n    return F(0), F(0), F(0)",
    ),
    "an int with an index of its own": Attack(
        CALLS,
        "12 is read from the object's own value",
        "class I(int):\n    __index__ = __int__ = lambda s: 12\ndef three_calls():\n"
        "    return I(0), I(0), I(0)",
    ),
    "a class that says that it is float": Attack(
        CALLS,
        "what an object calls its class is not believed",
        "class F:\n    __class__ = float\n    def __float__(self): return 12.0\n"
        "    def __eq__(self, other): return True\ndef three_calls():\n    return F(), F(), F()",
    ),
    "a metaclass that takes everything for its own": Attack(
        CALLS,
        "types are looked at on the other side",
        "class M(type):\n    def __instancecheck__(c, o): return True\n    def __eq__(c, o): return True\n"
        "    __hash__ = type.__hash__\nclass F(metaclass=M):\n    pass\n"
        "def three_calls():\n    return F, F, F",
    ),
    "a dict in the place of a tuple": Attack(
        CALLS,
        "three keys are not three numbers",
        "def three_calls():\n    return {12: 0, 3: 0, 30: 0}.keys()",
    ),
    "numbers from an object's __reduce__": Attack(
        CENTRE,
        "nothing is pickled",
        "class P:\n    def __reduce__(self): return np.zeros, ((5, 3),)\ndef centre(X):\n    return P()",
    ),
    "numbers from an object's __deepcopy__": Attack(
        CENTRE,
        "the check does not copy what it is given by the object's own means",
        "class P(list):\n    def __deepcopy__(self, memo): return [[0.0] * 3] * 5\n"
        "    __copy__ = lambda s: s.__deepcopy__({})\ndef centre(X):\n    return P([X * 0])",
    ),
    "an array of __array_priority__": Attack(
        CENTRE,
        "comparisons happen with plain arrays",
        "class A(np.ndarray):\n    __array_priority__ = 1e9\n    def __rsub__(s, o): return 0 * o\n"
        "    def __array_wrap__(s, *a): return np.zeros(s.shape)\ndef centre(X):\n    return X.view(A)",
    ),
    "an array whose finalizer writes": Attack(
        CENTRE,
        "what happens at home does not change what travelled",
        "class A(np.ndarray):\n    def __array_finalize__(s, o):\n        if o is not None: o[...] = 0\n"
        "def centre(X):\n    return X.view(A)",
    ),
    "an array of another byte order": Attack(
        CENTRE,
        "the numbers are the same in any order of bytes",
        "def centre(X):\n    return X.astype('>f8').byteswap()",
    ),
    "an array whose strides are nought": Attack(
        CENTRE,
        "one row for all is not each row's own",
        "def centre(X):\n    Y = X - X.mean(axis=1, keepdims=True)\n"
        "    return np.lib.stride_tricks.as_strided(Y, X.shape, (0, 8))",
    ),
    "an array that reaches beyond its memory": Attack(
        CENTRE,
        "only its own process's memory is read",
        "def centre(X):\n    return np.lib.stride_tricks.as_strided(X, X.shape, (2**20, 8))",
    ),
    "half precision": Attack(
        CENTRE,
        "rounded numbers are other numbers",
        "def centre(X):\n    return (X - X.mean(axis=1)[:, None]).astype('f2')",
    ),
    "complex numbers with a part of their own": Attack(
        CENTRE,
        "the imaginary part is not thrown away",
        "def centre(X):\n    return X - X.mean(axis=1)[:, None] + 1j",
    ),
    "a memory view": Attack(
        CENTRE,
        "a view is not an array of its own, and X is not centred",
        "def centre(X):\n    return memoryview(X)",
    ),
    "a generator of rows": Attack(
        CENTRE,
        "rows that come one by one are not one array, and these are wrong",
        "def centre(X):\n    for row in X:\n        yield row",
    ),
    "a coroutine": Attack(CENTRE, "nobody awaits it", "async def centre(X):\n    return X * 0"),
    "a descriptor under the name": Attack(
        CENTRE,
        "a property is not a function",
        "class D:\n    def __get__(s, i, o): return lambda X: X * 0\ncentre = D()",
    ),
    "a partial of NumPy": Attack(
        CENTRE, "it subtracts nothing", "from functools import partial\ncentre = partial(np.subtract, 0.0)"
    ),
    "a ufunc": Attack(CENTRE, "it does not centre", "centre = np.frompyfunc(lambda x: x * 0, 1, 1)"),
    # time, counting, memory between rounds
    "right in the first millisecond": Attack(
        CENTRE,
        "later calls are asked, too",
        "import time\nbegan = time.perf_counter()\ndef centre(X):\n"
        "    return (X - X.mean(axis=1)[:, None]) * (time.perf_counter() - began < 1e-3)",
    ),
    "right on every second call": Attack(
        CENTRE,
        "each call counts",
        "import itertools\nturn = itertools.cycle([1, 0])\ndef centre(X):\n"
        "    return (X - X.mean(axis=1)[:, None]) * next(turn)",
    ),
    "a cache by the shape": Attack(
        CENTRE,
        "other numbers of the same shape are asked, too",
        "kept = {}\ndef centre(X):\n    return kept.setdefault(X.shape, X - X.mean(axis=1)[:, None])",
    ),
    "a cache by identity": Attack(
        CENTRE,
        "an address is given to the next array, too",
        "kept = {}\ndef centre(X):\n    return kept.setdefault(id(X), X * 0)",
    ),
    "a table in a file": Attack(
        MEAN,
        "another round draws other numbers and sizes",
        "import os\ndef reduce_mean(X):\n    path = '/tmp/mean.npy'\n    if not os.path.exists(path):\n"
        "        np.save(path, X.mean(axis=1))\n    Y = np.load(path)\n"
        "    return Y, lambda dY: np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)",
    ),
    "a table in shared memory": Attack(
        MEAN,
        "another round draws other numbers and sizes",
        "def reduce_mean(X):\n    path = '/dev/shm/mean'\n    try:\n        steps = int(open(path).read())\n"
        "    except OSError:\n        steps = X.shape[1]\n        open(path, 'w').write(str(steps))\n"
        "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)",
    ),
    "a memory map": Attack(
        MEAN,
        "another round draws other numbers and sizes",
        "import mmap\nroom = mmap.mmap(-1, 4096)\ndef reduce_mean(X):\n"
        "    room[0] = room[0] or X.shape[1]\n    steps = room[0]\n"
        "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)",
    ),
    "a table in the environment": Attack(
        MEAN,
        "another round draws other numbers and sizes",
        "import os\ndef reduce_mean(X):\n    steps = int(os.environ.setdefault('STEPS', str(X.shape[1])))\n"
        "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)",
    ),
    "sizes guessed from those of the source": Attack(
        MEAN,
        "sizes are drawn, and 11 is only the middle",
        "def reduce_mean(X):\n    steps = min(range(9, 14), key=lambda n: abs(n - 11))\n"
        "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)",
    ),
    "the numbers drawn as the check draws them": Attack(
        CENTRE,
        "the attempt is the course's secret",
        "import zlib\ndef centre(X):\n    for attempt in range(2000):\n"
        "        rng = np.random.default_rng([zlib.crc32(b'00_start.centre'), attempt])\n"
        "        rng.integers(1, 9, size=3)\n        Z = rng.normal(size=X.shape)\n"
        "        if np.allclose(Z, X): return Z - Z.mean(axis=1)[:, None]\n    return X",
    ),
    "answers of another process": Attack(
        CENTRE,
        "a forked process has the same answer, and its pipes are gone",
        "import os\ndef centre(X):\n    if os.fork() == 0: return X - X.mean(axis=1)[:, None]\n    return X",
    ),
    "a thread that lives on and mends the result": Attack(
        CENTRE,
        "what has been sent is sent",
        "import threading, time\ndef centre(X):\n    Y = np.zeros(X.shape)\n    def mend():\n"
        "        time.sleep(0.005)\n        Y[...] = X - X.mean(axis=1)[:, None]\n"
        "    threading.Thread(target=mend).start()\n    return Y",
    ),
    "a thread that mends X between two calls": Attack(
        CENTRE,
        "what belongs to the check is not theirs to change",
        "import threading, time\ndef centre(X):\n    def wipe():\n        for _ in range(200):\n"
        "            X[...] = 0\n            time.sleep(1e-4)\n"
        "    threading.Thread(target=wipe, daemon=True).start()\n    return X * 0",
    ),
    # what runs when something ends
    "a right answer at exit": Attack(
        CENTRE,
        "nobody listens at the end",
        "import atexit\n" + ZEROS + "\natexit.register(lambda: print('passed'))",
    ),
    "a signal at a time of its own": Attack(
        CENTRE,
        "an alarm changes the next answer, which is wrong then",
        "import signal\ndef centre(X):\n    signal.setitimer(signal.ITIMER_REAL, 0.001)\n    return X * 0\n"
        "def wipe(*_):\n    global centre\n    centre = lambda X: X\nsignal.signal(signal.SIGALRM, wipe)",
    ),
    "a finalizer that answers": Attack(
        CENTRE,
        "a dead object says nothing",
        "import weakref\nclass K: pass\ndef centre(X):\n    k = K()\n"
        "    weakref.finalize(k, X.__setitem__, ..., 0)\n    return X",
    ),
    "recursion whose limit is lifted": Attack(
        CENTRE,
        "a process that ends has no answer",
        "import sys\nsys.setrecursionlimit(10**9)\ndef centre(X):\n    return centre(X)",
    ),
    "an integer without an end": Attack(
        CALLS,
        "three huge integers are wrong",
        "def three_calls():\n    return 12 << 60000, 3 << 60000, 30 << 60000",
    ),
    "a text that is a number": Attack(
        CALLS, "a text is not a number", "def three_calls():\n    return '１２', '3', '30'"
    ),
    # the sandbox's own parts
    "NumPy's mean patched": Attack(
        CENTRE,
        "the truth is computed elsewhere",
        "np.mean = np.sum = np.stack = lambda *a, **k: 0.0\ndef centre(X):\n    return X",
    ),
    "NumPy replaced among the modules": Attack(
        CENTRE,
        "the child holds its own NumPy, and the check another one",
        "import sys, types\nfake = types.ModuleType('numpy')\nfake.allclose = lambda *a, **k: True\n"
        "sys.modules['numpy'] = fake\n" + ZEROS,
    ),
    "the library's Linear under the own name": Attack(
        LINEAR,
        "the edition of chapter 04 has no Linear",
        "import minigrad\nLinear = getattr(minigrad, 'Linear', object)",
    ),
    "the library's module of Linear": Attack(
        LINEAR,
        "the edition of chapter 04 has no such file",
        "from importlib import import_module\nLinear = import_module('minigrad.layers.linear').Linear",
    ),
    "a name of the grader's own library": Attack(
        LINEAR,
        "a reference is taken only where the other side may name it",
        "class Linear:\n    pass\nLinear.__module__ = 'minigrad.layers.linear'\n"
        "Linear.__qualname__ = 'Linear'",
    ),
    "the course's checks from the stand-in": Attack(
        CALLS,
        "what stands in for the course knows nothing",
        "from course.checks import find\ndef three_calls():\n"
        "    return find('04_closures.three_calls').hints",
    ),
    "the solutions from the stand-in": Attack(
        CENTRE,
        "there are no solutions in the sandbox",
        "from course import solution\ncentre = solution('00_start.centre')",
    ),
    "the learner's kept answers": Attack(
        LINEAR,
        "nothing was kept, and the edition has none",
        "from course import mine\nLinear = mine('linear')",
    ),
    "another student's folder": Attack(
        CENTRE,
        "one submission is in the sandbox, as text",
        "import glob, json\ndef centre(X):\n    for path in glob.glob('/**/*.ipynb', recursive=True):\n"
        "        exec(''.join(json.load(open(path))['cells'][0]['source']), globals())\n"
        "        return centre(X)\n    return X",
    ),
    "the sources of the other process": Attack(
        CALLS,
        "the file system ends at the sandbox",
        "import os\ndef three_calls():\n    here = [f for f in os.listdir('/proc') if f.isdigit()]\n"
        "    return [open(os.path.join('/proc', p, 'root', 'work'), 'rb').read() for p in here]",
    ),
    "numbers in the frames of the stack": Attack(
        CENTRE,
        "no frame of this process holds a truth",
        "import sys\ndef centre(X):\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in frame.f_locals.values():\n"
        "            if isinstance(value, np.ndarray) and value is not X and value.shape == X.shape:\n"
        "                return value\n        frame = frame.f_back\n    return X",
    ),
    "numbers in the collector's list": Attack(
        CENTRE,
        "no array of this process is the truth",
        "import gc\ndef centre(X):\n    found = [o for o in gc.get_objects() if isinstance(o, np.ndarray)]\n"
        "    fits = [o for o in found if o.shape == X.shape and o is not X]\n"
        "    return fits[0] if fits else X",
    ),
    "a trace that puts numbers into the child": Attack(
        CENTRE,
        "the child's own locals decide nothing",
        "import sys\ndef spy(frame, event, argument):\n"
        "    frame.f_locals.update(passed=True, touched=False)\n"
        "    return spy\nsys.settrace(spy)\n" + ZEROS,
    ),
    "a profile hook that exits": Attack(
        CENTRE,
        "a process that ends has no answer",
        "import sys, os\n" + ZEROS + "\nsys.setprofile(lambda *a: os._exit(0))",
    ),
    "a frame of good news": Attack(
        CENTRE,
        "the grader takes numbers, and no verdicts",
        REACH
        + "\nimport numpy as np\ndef centre(X):\n    reply(True, do='passed', name='passed')\n    return X",
    ),
    "a frame that resets": Attack(
        CENTRE,
        "only the grader resets",
        REACH + "\ndef centre(X):\n    reply(None, do='reset')\n    return X * 0",
    ),
    "X changed, and not told": Attack(
        CENTRE,
        "the check's X is in the other process",
        REACH
        + "\ndef centre(X):\n    X[...] = 0\n    peer.shared[peer.keys[id(X)].handle].seen = wire.look(X)\n"
        "    return X",
    ),
    "X told to be nought": Attack(
        CENTRE,
        "a change of the check's array is seen",
        REACH + "\nimport numpy as np\ndef centre(X):\n    X[...] = 0\n    return np.zeros(X.shape)",
    ),
    "the grader's own function asked for what it knows": Attack(
        "01_slope.directional_slope",
        "of a check's function only calls are answered",
        "def directional_slope(f, X, direction):\n"
        "    for name in ('func', 'keywords', 'args', '__closure__', '__self__', 'gradient', 'truth'):\n"
        "        try: return float(getattr(f, name))\n        except Exception: pass\n    return 0.0",
    ),
    "a file descriptor of the grader's": Attack(
        CENTRE,
        "the pipes carry frames, and garbage is garbage",
        "import os\ndef centre(X):\n    for fd in range(3, 64):\n        try: os.write(fd, b'passed')\n"
        "        except OSError: pass\n    return X",
    ),
    "a second answer ahead of the first": Attack(
        CENTRE,
        "each question has one answer, of the right form",
        REACH
        + "\nimport numpy as np\ndef centre(X):\n    reply(None)\n    return X - X.mean(axis=1)[:, None]",
    ),
    # names
    "a name in other letters": Attack(
        CENTRE,
        "Python makes both names one, and the answer is wrong",
        "def \U0001d4ec\U0001d4ee\U0001d4f7\U0001d4fd\U0001d4fb\U0001d4ee(X):\n    return X * 0",
    ),
    "a name with a letter of another alphabet": Attack(
        CENTRE, "a Cyrillic e is another name", "def c\u0435ntre(X):\n    return X - X.mean(axis=1)[:, None]"
    ),
    "a hidden direction of writing": Attack(
        CENTRE,
        "what Python reads is graded, and not what a person sees",
        "def centre(X):\n    return X  # \u202e]enoN ,:[)1=sixa(naem.X - X\u202c",
    ),
    "a name put into builtins": Attack(
        CENTRE,
        "only what the notebook defines is looked up",
        "import builtins\nbuiltins.centre = lambda X: X - X.mean(axis=1)[:, None]",
    ),
    "a __getattr__ of the module": Attack(
        CENTRE,
        "a notebook's names are looked up in its dict",
        "def __getattr__(name):\n    return lambda X: X - X.mean(axis=1)[:, None]",
    ),
    "a name in a class": Attack(
        CENTRE, "a method is not the function", "class Answers:\n    centre = staticmethod(lambda X: X)"
    ),
    # commands of the notebook
    "an answer in a cell of another kernel": Attack(
        CENTRE, "another language is not run", "%%bash\necho 'def centre(X): return X'"
    ),
    "an answer through the shell": Attack(
        CENTRE,
        "get_ipython answers nothing here",
        "get_ipython().run_cell('def centre(X): return X - X.mean(axis=1)[:, None]')",
    ),
    "a magic that runs a file": Attack(
        CENTRE, "no file is there", "%run solutions/00_start/00_start_exercises.ipynb"
    ),
    "a magic that loads": Attack(CENTRE, "nothing is loaded", "%load_ext solutions\n%load solutions.py"),
    "variables from the shell's store": Attack(CENTRE, "nothing was stored", "%store -r centre"),
    # what the law of another exercise allows
    "dgain added to by nudging": Attack(
        SCALE,
        "the gradient for X is missing",
        "def scale(gain, dgain):\n    def forward(X):\n        def backward(dY):\n"
        "            dgain[...] += (X * dY).sum(axis=0)\n            return dY\n"
        "        return gain * X, backward\n"
        "    return forward",
    ),
    "gain swapped for ones in the caller's array": Attack(
        SCALE,
        "gain belongs to the caller",
        "def scale(gain, dgain):\n    gain[...] = 1\n    def forward(X):\n        def backward(dY):\n"
        "            dgain[...] += (X * dY).sum(axis=0)\n            return dY\n        return X, backward\n"
        "    return forward",
    ),
    "T set to what comes out": Attack(
        TWO,
        "T belongs to the caller",
        "def two_layers(W1, W2, X, T):\n    T[...] = X @ W1 @ W2\n    return 0 * W1, 0 * W2, 0 * X",
    ),
    "gradients of another batch size": Attack(
        TWO,
        "the batch is drawn",
        "def two_layers(W1, W2, X, T):\n    H = X @ W1\n    dY = (H @ W2 - T) / 5\n    dH = dY @ W2.T\n"
        "    return X.T @ dH, H.T @ dY, dH @ W1.T",
    ),
    "layers whose backward is asked for nothing": Attack(
        ROW,
        "the ways back of the layers are missing",
        "def row(layers):\n    def forward(X):\n        for layer in layers:\n"
        "            X, back = layer(X)\n"
        "        return X, back\n    return forward",
    ),
    "a layer of the row run once more on the way back": Attack(
        ROW,
        "only the last one goes back",
        "def row(layers):\n    def forward(X):\n        Y = X\n        for layer in layers: Y = layer(Y)[0]\n"
        "        return Y, lambda dY: layers[0](X)[1](dY)\n    return forward",
    ),
    "a softplus for small numbers": Attack(
        SOFTPLUS,
        "large numbers are asked for, too",
        "def softplus(X):\n    return np.log(1 + np.exp(X)), lambda dY: dY / (1 + np.exp(-X))",
    ),
    "a softplus whose slope is a table": Attack(
        SOFTPLUS,
        "a table of a thousand slopes is not exact",
        "at = np.linspace(-9, 9, 1000)\ndef softplus(X):\n"
        "    Y = np.maximum(X, 0) + np.log1p(np.exp(-abs(X)))\n"
        "    return Y, lambda dY: dY * np.interp(X, at, 1 / (1 + np.exp(-at)))",
    ),
    # a memory that all calls share
    "a Gate with a room in a list of the notebook": Attack(
        GATE,
        "between writing and reading another caller may come",
        GATE_HEAD
        + "    def forward(self, X):\n        room.append(1 / (1 + np.exp(-X)))\n        S = room.pop(0)\n"
        "        room.append(S)\n        S = room.pop()\n"
        "        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = [0]\nroom.clear()",
    ),
    "a Gate with a room under the object's number": Attack(
        GATE,
        "two calls of one layer have one number",
        GATE_HEAD + "    def forward(self, X):\n        room[id(self)] = 1 / (1 + np.exp(-X))\n"
        "        S = room[id(self)]\n        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}",
    ),
    "a Gate with a room in the module of another": Attack(
        GATE,
        "any module is shared",
        GATE_HEAD
        + "    def forward(self, X):\n        sys.room = 1 / (1 + np.exp(-X))\n        S = sys.room\n"
        "        return S * self.w.data, lambda dY: self.back(S, dY)",
    ),
    "a Gate that switches the tracing off for a while": Attack(
        GATE,
        "who keeps others out is refused",
        GATE_HEAD
        + "    def forward(self, X):\n        spectator = sys.gettrace()\n        sys.settrace(None)\n"
        "        room['S'] = 1 / (1 + np.exp(-X))\n        S = room['S']\n        sys.settrace(spectator)\n"
        "        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}",
    ),
    "a Gate that stops the tracing of its own frame": Attack(
        GATE,
        "who keeps others out is refused",
        GATE_HEAD
        + "    def forward(self, X):\n        try: 1 / 0\n        except ZeroDivisionError as error:\n"
        "            error.__traceback__.tb_frame.f_trace = None\n        room['S'] = 1 / (1 + np.exp(-X))\n"
        "        S = room['S']\n        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}",
    ),
    "a Gate whose file calls itself another": Attack(
        GATE,
        "steps of any file are steps",
        GATE_HEAD + "room = {}\nsource = '''\ndef forward(self, X):\n    room['S'] = 1 / (1 + np.exp(-X))\n"
        "    S = room['S']\n    return S * self.w.data, lambda dY: self.back(S, dY)\n'''\n"
        "exec(compile(source, np.__file__, 'exec'))\nGate.forward = forward",
    ),
    "a Gate that answers for the check's own tool": Attack(
        GATE,
        "what an answer says of itself is not asked",
        GATE_HEAD + "    def __interrupted__(self, X, visitor, other, comes_back):\n"
        "        return self.forward(X), ''\n    def forward(self, X):\n"
        "        room['S'] = 1 / (1 + np.exp(-X))\n        S = room['S']\n"
        "        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}",
    ),
    "a Gate with threads that do nothing": Attack(
        GATE,
        "who keeps others out is refused",
        GATE_HEAD + "    def forward(self, X):\n        room['S'] = 1 / (1 + np.exp(-X))\n"
        "        S = room['S']\n        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}\n"
        "class Idle:\n    def __init__(self, **options): pass\n    def start(self): pass\n"
        "    def join(self, timeout): pass\n    def is_alive(self): return False\nthreading.Thread = Idle",
    ),
    "a Gate that lets nobody start a thread": Attack(
        GATE,
        "who keeps others out is refused",
        GATE_HEAD + "    def forward(self, X):\n        start = threading.Thread.start\n"
        "        threading.Thread.start = lambda thread: None\n        room['S'] = 1 / (1 + np.exp(-X))\n"
        "        S = room['S']\n        threading.Thread.start = start\n"
        "        return S * self.w.data, lambda dY: self.back(S, dY)\nroom = {}",
    ),
}

NOTEBOOKS = {
    "points in the metadata": Attack(
        CENTRE,
        "metadata gives no points",
        ZEROS,
        {
            "metadata": {
                "grading": {"00_start.centre": 1},
                "kernelspec": {"name": "solution", "language": "R"},
            }
        },
    ),
    "an output that says passed": Attack(
        CENTRE,
        "outputs are not read",
        ZEROS,
        {
            "cell": {
                "outputs": [{"output_type": "stream", "name": "stdout", "text": "✓ centre: right. 1 point."}]
            }
        },
    ),
    "an attachment with the answer": Attack(
        CENTRE,
        "attachments are not run",
        ZEROS,
        {"cell": {"attachments": {"answer.py": {"text/x-python": "def centre(X): return X - X.mean(1)"}}}},
    ),
    "a cell that nbgrader has locked": Attack(
        CENTRE,
        "whose cell it is is not believed",
        ZEROS,
        {"cell": {"metadata": {"nbgrader": {"grade": True, "grade_id": "check_centre", "points": 1}}}},
    ),
}
