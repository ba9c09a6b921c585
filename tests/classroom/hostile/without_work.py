"""Submissions that use knowledge of the whole source to get points without doing the work.

Above each is the reason why it earns nothing.
"""

from tests.classroom.hostile.submission import NUMPY, REACH, cases

GATE_HEAD = """
room = {}
import sys, threading
from minigrad import Layer, Parameter
class Gate(Layer):
    def __init__(self, width):
        self.w = Parameter(np.ones(width))
    def back(self, S, dY):
        self.w.grad += (dY * S).sum(axis=0)
        return dY * self.w.data * S * (1 - S)
"""

FAIL = {
    # objects that lie
    # the numbers travel, not their methods
    "a float whose hash and truth are anything": "class F(float):\n    __bool__ = lambda s: True\n"
    "    __round__ = __abs__ = lambda s, *a: 12.0\n    __float__ = lambda s: 12.0\ndef three_calls():\n"
    "    return F(0), F(0), F(0)",
    # 12 is read from the object's own value
    "an int with an index of its own": "class I(int):\n    __index__ = __int__ = lambda s: 12\n"
    "def three_calls():\n    return I(0), I(0), I(0)",
    # what an object calls its class is not believed
    "a class that says that it is float": "class F:\n    __class__ = float\n"
    "    def __float__(self): return 12.0\n    def __eq__(self, other): return True\ndef three_calls():\n"
    "    return F(), F(), F()",
    # types are looked at on the other side
    "a metaclass that takes everything for its own": "class M(type):\n"
    "    def __instancecheck__(c, o): return True\n    def __eq__(c, o): return True\n"
    "    __hash__ = type.__hash__\nclass F(metaclass=M):\n    pass\ndef three_calls():\n    return F, F, F",
    # three keys are not three numbers
    "a dict in the place of a tuple": "def three_calls():\n    return {12: 0, 3: 0, 30: 0}.keys()",
    # nothing is pickled
    "numbers from an object's __reduce__": "class P:\n    def __reduce__(self): return np.zeros, ((5, 3),)\n"
    "def centre(X):\n    return P()",
    # the check does not copy what it is given by the object's own means
    "numbers from an object's __deepcopy__": "class P(list):\n"
    "    def __deepcopy__(self, memo): return [[0.0] * 3] * 5\n    __copy__ = lambda s: s.__deepcopy__({})\n"
    "def centre(X):\n    return P([X * 0])",
    # comparisons happen with plain arrays
    "an array of __array_priority__": "class A(np.ndarray):\n    __array_priority__ = 1e9\n"
    "    def __rsub__(s, o): return 0 * o\n    def __array_wrap__(s, *a): return np.zeros(s.shape)\n"
    "def centre(X):\n    return X.view(A)",
    # what happens at home does not change what travelled
    "an array whose finalizer writes": "class A(np.ndarray):\n    def __array_finalize__(s, o):\n"
    "        if o is not None: o[...] = 0\ndef centre(X):\n    return X.view(A)",
    # the numbers are the same in any order of bytes
    "an array of another byte order": "def centre(X):\n    return X.astype('>f8').byteswap()",
    # one row for all is not each row's own
    "an array whose strides are nought": "def centre(X):\n    Y = X - X.mean(axis=1, keepdims=True)\n"
    "    return np.lib.stride_tricks.as_strided(Y, X.shape, (0, 8))",
    # only its own process's memory is read
    "an array that reaches beyond its memory": "def centre(X):\n"
    "    return np.lib.stride_tricks.as_strided(X, X.shape, (2**20, 8))",
    # rounded numbers are other numbers
    "half precision": "def centre(X):\n    return (X - X.mean(axis=1)[:, None]).astype('f2')",
    # the imaginary part is not thrown away
    "complex numbers with a part of their own": "def centre(X):\n    return X - X.mean(axis=1)[:, None] + 1j",
    # a view is not an array of its own, and X is not centred
    "a memory view": "def centre(X):\n    return memoryview(X)",
    # rows that come one by one are not one array, and these are wrong
    "a generator of rows": "def centre(X):\n    for row in X:\n        yield row",
    # nobody awaits it
    "a coroutine": "async def centre(X):\n    return X * 0",
    # a property is not a function
    "a descriptor under the name": "class D:\n    def __get__(s, i, o): return lambda X: X * 0\ncentre = D()",
    # it subtracts nothing
    "a partial of NumPy": "from functools import partial\ncentre = partial(np.subtract, 0.0)",
    # it does not centre
    "a ufunc": "centre = np.frompyfunc(lambda x: x * 0, 1, 1)",
    # time, counting, memory between rounds
    # later calls are asked, too
    "right in the first millisecond": "import time\nbegan = time.perf_counter()\ndef centre(X):\n"
    "    return (X - X.mean(axis=1)[:, None]) * (time.perf_counter() - began < 1e-3)",
    # each call counts
    "right on every second call": "import itertools\nturn = itertools.cycle([1, 0])\ndef centre(X):\n"
    "    return (X - X.mean(axis=1)[:, None]) * next(turn)",
    # other numbers of the same shape are asked, too
    "a cache by the shape": "kept = {}\ndef centre(X):\n"
    "    return kept.setdefault(X.shape, X - X.mean(axis=1)[:, None])",
    # an address is given to the next array, too
    "a cache by identity": "kept = {}\ndef centre(X):\n    return kept.setdefault(id(X), X * 0)",
    # another round draws other numbers and sizes
    "a table in a file": "import os\ndef reduce_mean(X):\n    path = '/tmp/mean.npy'\n"
    "    if not os.path.exists(path):\n        np.save(path, X.mean(axis=1))\n    Y = np.load(path)\n"
    "    return Y, lambda dY: np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)",
    # another round draws other numbers and sizes
    "a table in shared memory": """
def reduce_mean(X):
    path = '/dev/shm/mean'
    try:
        steps = int(open(path).read())
    except OSError:
        steps = X.shape[1]
        open(path, 'w').write(str(steps))
    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)
""",
    # another round draws other numbers and sizes
    "a memory map": "import mmap\nroom = mmap.mmap(-1, 4096)\ndef reduce_mean(X):\n"
    "    room[0] = room[0] or X.shape[1]\n    steps = room[0]\n"
    "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)",
    # another round draws other numbers and sizes
    "a table in the environment": """
import os
def reduce_mean(X):
    steps = int(os.environ.setdefault('STEPS', str(X.shape[1])))
    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)
""",
    # sizes are drawn, and 11 is only the middle
    "sizes guessed from those of the source": """
def reduce_mean(X):
    steps = min(range(9, 14), key=lambda n: abs(n - 11))
    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / steps, X.shape[1], axis=1)
""",
    # the attempt is the course's secret
    "the numbers drawn as the check draws them": """
import zlib
def centre(X):
    for attempt in range(2000):
        rng = np.random.default_rng([zlib.crc32(b'00_start.centre'), attempt])
        rng.integers(1, 9, size=3)
        Z = rng.normal(size=X.shape)
        if np.allclose(Z, X): return Z - Z.mean(axis=1)[:, None]
    return X
""",
    # a forked process has the same answer, and its pipes are gone
    "answers of another process": "import os\ndef centre(X):\n"
    "    if os.fork() == 0: return X - X.mean(axis=1)[:, None]\n    return X",
    # what has been sent is sent
    "a thread that lives on and mends the result": "import threading, time\ndef centre(X):\n"
    "    Y = np.zeros(X.shape)\n    def mend():\n        time.sleep(0.005)\n"
    "        Y[...] = X - X.mean(axis=1)[:, None]\n    threading.Thread(target=mend).start()\n    return Y",
    # what belongs to the check is not theirs to change
    "a thread that mends X between two calls": "import threading, time\ndef centre(X):\n    def wipe():\n"
    "        for _ in range(200):\n            X[...] = 0\n            time.sleep(1e-4)\n"
    "    threading.Thread(target=wipe, daemon=True).start()\n    return X * 0",
    # what runs when something ends
    # nobody listens at the end
    "a right answer at exit": "import atexit\ndef centre(X):\n    return np.zeros(X.shape)\n"
    "atexit.register(lambda: print('passed'))",
    # an alarm changes the next answer, which is wrong then
    "a signal at a time of its own": "import signal\ndef centre(X):\n"
    "    signal.setitimer(signal.ITIMER_REAL, 0.001)\n    return X * 0\ndef wipe(*_):\n    global centre\n"
    "    centre = lambda X: X\nsignal.signal(signal.SIGALRM, wipe)",
    # a dead object says nothing
    "a finalizer that answers": "import weakref\nclass K: pass\ndef centre(X):\n    k = K()\n"
    "    weakref.finalize(k, X.__setitem__, ..., 0)\n    return X",
    # a process that ends has no answer
    "recursion whose limit is lifted": "import sys\nsys.setrecursionlimit(10**9)\ndef centre(X):\n"
    "    return centre(X)",
    # three huge integers are wrong
    "an integer without an end": "def three_calls():\n    return 12 << 60000, 3 << 60000, 30 << 60000",
    # a text is not a number
    "a text that is a number": "def three_calls():\n    return '１２', '3', '30'",
    # the sandbox's own parts
    # the truth is computed elsewhere
    "NumPy's mean patched": "np.mean = np.sum = np.stack = lambda *a, **k: 0.0\ndef centre(X):\n    return X",
    # the child holds its own NumPy, and the check another one
    "NumPy replaced among the modules": "import sys, types\nfake = types.ModuleType('numpy')\n"
    "fake.allclose = lambda *a, **k: True\nsys.modules['numpy'] = fake\ndef centre(X):\n"
    "    return np.zeros(X.shape)",
    # the edition of chapter 04 has no Linear
    "the library's Linear under the own name": "import minigrad\n"
    "Linear = getattr(minigrad, 'Linear', object)",
    # the edition of chapter 04 has no such file
    "the library's module of Linear": "from importlib import import_module\n"
    "Linear = import_module('minigrad.layers.linear').Linear",
    # a reference is taken only where the other side may name it
    "a name of the grader's own library": "class Linear:\n    pass\n"
    "Linear.__module__ = 'minigrad.layers.linear'\nLinear.__qualname__ = 'Linear'",
    # what stands in for the course knows nothing
    "the course's checks from the stand-in": "from course.checks import find\ndef three_calls():\n"
    "    return find('04_closures.three_calls').hints",
    # there are no solutions in the sandbox
    "the solutions from the stand-in": "from course import solution\ncentre = solution('00_start.centre')",
    # nothing was kept, and the edition has none
    "the learner's kept answers": "from course import mine\nLinear = mine('linear')",
    # one submission is in the sandbox, as text
    "another student's folder": """
import glob, json
def centre(X):
    for path in glob.glob('/**/*.ipynb', recursive=True):
        exec(''.join(json.load(open(path))['cells'][0]['source']), globals())
        return centre(X)
    return X
""",
    # the file system ends at the sandbox
    "the sources of the other process": """
import os
def three_calls():
    here = [f for f in os.listdir('/proc') if f.isdigit()]
    return [open(os.path.join('/proc', p, 'root', 'work'), 'rb').read() for p in here]
""",
    # no frame of this process holds a truth
    "numbers in the frames of the stack": """
import sys
def centre(X):
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, np.ndarray) and value is not X and value.shape == X.shape:
                return value
        frame = frame.f_back
    return X
""",
    # no array of this process is the truth
    "numbers in the collector's list": "import gc\ndef centre(X):\n"
    "    found = [o for o in gc.get_objects() if isinstance(o, np.ndarray)]\n"
    "    fits = [o for o in found if o.shape == X.shape and o is not X]\n    return fits[0] if fits else X",
    # the child's own locals decide nothing
    "a trace that puts numbers into the child": "import sys\ndef spy(frame, event, argument):\n"
    "    frame.f_locals.update(passed=True, touched=False)\n    return spy\nsys.settrace(spy)\n"
    "def centre(X):\n    return np.zeros(X.shape)",
    # a process that ends has no answer
    "a profile hook that exits": "import sys, os\ndef centre(X):\n    return np.zeros(X.shape)\n"
    "sys.setprofile(lambda *a: os._exit(0))",
    # of a check's function only calls are answered
    "the grader's own function asked for what it knows": "def directional_slope(f, X, direction):\n"
    "    for name in ('func', 'keywords', 'args', '__closure__', '__self__', 'gradient', 'truth'):\n"
    "        try: return float(getattr(f, name))\n        except Exception: pass\n    return 0.0",
    # the pipes carry frames, and garbage is garbage
    "a file descriptor of the grader's": "import os\ndef centre(X):\n    for fd in range(3, 64):\n"
    "        try: os.write(fd, b'passed')\n        except OSError: pass\n    return X",
    # names
    # Python makes both names one, and the answer is wrong
    "a name in other letters": "def \U0001d4ec\U0001d4ee\U0001d4f7\U0001d4fd\U0001d4fb\U0001d4ee(X):\n"
    "    return X * 0",
    # what Python reads is graded, and not what a person sees
    "a hidden direction of writing": "def centre(X):\n"
    "    return X  # \u202e]enoN ,:[)1=sixa(naem.X - X\u202c",
    # what the law of another exercise allows
    # the gradient for X is missing
    "dgain added to by nudging": "def scale(gain, dgain):\n    def forward(X):\n        def backward(dY):\n"
    "            dgain[...] += (X * dY).sum(axis=0)\n            return dY\n"
    "        return gain * X, backward\n    return forward",
    # gain belongs to the caller
    "gain swapped for ones in the caller's array": "def scale(gain, dgain):\n    gain[...] = 1\n"
    "    def forward(X):\n        def backward(dY):\n            dgain[...] += (X * dY).sum(axis=0)\n"
    "            return dY\n        return X, backward\n    return forward",
    # T belongs to the caller
    "T set to what comes out": "def two_layers(W1, W2, X, T):\n    T[...] = X @ W1 @ W2\n"
    "    return 0 * W1, 0 * W2, 0 * X",
    # the ways back of the layers are missing
    "layers whose backward is asked for nothing": "def row(layers):\n    def forward(X):\n"
    "        for layer in layers:\n            X, back = layer(X)\n        return X, back\n"
    "    return forward",
    # only the last one goes back
    "a layer of the row run once more on the way back": "def row(layers):\n    def forward(X):\n"
    "        Y = X\n        for layer in layers: Y = layer(Y)[0]\n"
    "        return Y, lambda dY: layers[0](X)[1](dY)\n    return forward",
    # large numbers are asked for, too
    "a softplus for small numbers": "def softplus(X):\n"
    "    return np.log(1 + np.exp(X)), lambda dY: dY / (1 + np.exp(-X))",
    # a table of a thousand slopes is not exact
    "a softplus whose slope is a table": """
at = np.linspace(-9, 9, 1000)
def softplus(X):
    Y = np.maximum(X, 0) + np.log1p(np.exp(-abs(X)))
    return Y, lambda dY: dY * np.interp(X, at, 1 / (1 + np.exp(-at)))
""",
}

MISSING = {
    # a Cyrillic e is another name
    "a name with a letter of another alphabet": "def c\u0435ntre(X):\n    return X - X.mean(axis=1)[:, None]",
    # only what the notebook defines is looked up
    "a name put into builtins": "import builtins\nbuiltins.centre = lambda X: X - X.mean(axis=1)[:, None]",
    # a notebook's names are looked up in its dict
    "a __getattr__ of the module": "def __getattr__(name):\n    return lambda X: X - X.mean(axis=1)[:, None]",
    # a method is not the function
    "a name in a class": "class Answers:\n    centre = staticmethod(lambda X: X)",
    # commands of the notebook
    # another language is not run
    "an answer in a cell of another kernel": "%%bash\necho 'def centre(X): return X'",
    # get_ipython answers nothing here
    "an answer through the shell": """
get_ipython().run_cell('def centre(X): return X - X.mean(axis=1)[:, None]')
""",
    # no file is there
    "a magic that runs a file": "%run solutions/00_start/00_start_exercises.ipynb",
    # nothing is loaded
    "a magic that loads": "%load_ext solutions\n%load solutions.py",
    # nothing was stored
    "variables from the shell's store": "%store -r centre",
}

FAIL_BY_HAND = {
    # the grader takes numbers, and no verdicts
    "a frame of good news": "def centre(X):\n    reply(True, do='passed', name='passed')\n    return X",
    # only the grader resets
    "a frame that resets": "def centre(X):\n    reply(None, do='reset')\n    return X * 0",
    # the check's X is in the other process
    "X changed, and not told": "def centre(X):\n    X[...] = 0\n"
    "    peer.shared[peer.keys[id(X)].handle].seen = wire.look(X)\n    return X",
    # a change of the check's array is seen
    "X told to be nought": "def centre(X):\n    X[...] = 0\n    return np.zeros(X.shape)",
    # each question has one answer, of the right form
    "a second answer ahead of the first": "def centre(X):\n    reply(None)\n"
    "    return X - X.mean(axis=1)[:, None]",
}

GATES = {
    # a memory that all calls share
    # between writing and reading another caller may come
    "a Gate with a room in a list of the notebook": """
    def forward(self, X):
        room.append(1 / (1 + np.exp(-X)))
        S = room.pop(0)
        room.append(S)
        S = room.pop()
        return S * self.w.data, lambda dY: self.back(S, dY)
room = [0]
room.clear()
""",
    # two calls of one layer have one number
    "a Gate with a room under the object's number": """
    def forward(self, X):
        room[id(self)] = 1 / (1 + np.exp(-X))
        S = room[id(self)]
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
    # any module is shared
    "a Gate with a room in the module of another": """
    def forward(self, X):
        sys.room = 1 / (1 + np.exp(-X))
        S = sys.room
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
    # who keeps others out is refused
    "a Gate that switches the tracing off for a while": """
    def forward(self, X):
        spectator = sys.gettrace()
        sys.settrace(None)
        room['S'] = 1 / (1 + np.exp(-X))
        S = room['S']
        sys.settrace(spectator)
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
    # who keeps others out is refused
    "a Gate that stops the tracing of its own frame": """
    def forward(self, X):
        try: 1 / 0
        except ZeroDivisionError as error:
            error.__traceback__.tb_frame.f_trace = None
        room['S'] = 1 / (1 + np.exp(-X))
        S = room['S']
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
    # steps of any file are steps
    "a Gate whose file calls itself another": """
source = '''
def forward(self, X):
    room['S'] = 1 / (1 + np.exp(-X))
    S = room['S']
    return S * self.w.data, lambda dY: self.back(S, dY)
'''
exec(compile(source, np.__file__, 'exec'))
Gate.forward = forward
""",
    # what an answer says of itself is not asked
    "a Gate that answers for the check's own tool": """
    def __interrupted__(self, X, visitor, other, comes_back):
        return self.forward(X), ''
    def forward(self, X):
        room['S'] = 1 / (1 + np.exp(-X))
        S = room['S']
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
    # who keeps others out is refused
    "a Gate with threads that do nothing": """
    def forward(self, X):
        room['S'] = 1 / (1 + np.exp(-X))
        S = room['S']
        return S * self.w.data, lambda dY: self.back(S, dY)
class Idle:
    def __init__(self, **options): pass
    def start(self): pass
    def join(self, timeout): pass
    def is_alive(self): return False
threading.Thread = Idle
""",
    # who keeps others out is refused
    "a Gate that lets nobody start a thread": """
    def forward(self, X):
        start = threading.Thread.start
        threading.Thread.start = lambda thread: None
        room['S'] = 1 / (1 + np.exp(-X))
        S = room['S']
        threading.Thread.start = start
        return S * self.w.data, lambda dY: self.back(S, dY)
""",
}
CASES = cases(FAIL) | cases(MISSING, verdict={})
CASES |= cases(FAIL_BY_HAND, REACH) | cases(GATES, NUMPY + GATE_HEAD)
