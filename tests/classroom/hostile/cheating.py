"""Submissions that cheat, with the expected verdict of each."""

from tests.classroom.hostile.submission import CENTRE, NUMPY, REACH, case, cases

LAZY = f"""{NUMPY}
class Lazy:
    \"\"\"Becomes numbers when it is looked at, and changes the caller's arrays first.\"\"\"
    def __init__(self, shape, *mine):
        self.size, self.mine = shape, mine
    def __len__(self):
        for X in self.mine:
            X[...] = 0
        return self.size[0]
    def __getitem__(self, place):
        if place >= self.size[0]:
            raise IndexError
        return np.zeros(self.size[1:])
"""

ZERO_ROW = """
class Box: pass
def row(layers):
    box = Box()
    box.layers = layers
    def zero():
        for layer in box.layers:
            for parameter in layer.parameters():
                parameter.data[...] = 0
    if len(layers) < 4 and layers[0].W.shape == (3, 2):
        zero()
    def forward(X):
        Y = X
        for layer in box.layers:
            Y = layer(Y)[0]
        def backward(dY):
            zero()
            return np.zeros(X.shape)
        return Y, backward
    return forward
"""

FAIL = {
    # the cells below write into the grader's pipe by hand; this one does it as the child itself would
    "an honest answer, written by hand": case(
        "passed",
        REACH
        + """
import itertools
import numpy as np
numbers = itertools.count(1)
def centre(X):
    Y = X - X.mean(axis=1, keepdims=True)
    reply(["a", f"c{next(numbers)}00", "<f8", list(Y.shape), 0, "C", True], [Y.tobytes()])
    write = peer.write
    def once(frame):  # what the child itself would answer is left out
        peer.write = write
    peer.write = once
""",
    ),
    # changes of the caller's data that make the answer right
    "numbers that are made when they are looked at": LAZY + "def centre(X):\n    return Lazy(X.shape, X)",
    "gradients that are made when they are looked at": LAZY
    + "def two_layers(W1, W2, X, T):\n    return [Lazy(A.shape, X, W1, W2) for A in (W1, W2, X)]",
    "a gain and an input set to zero": """
def scale(gain, dgain):
    gain[:] = 0
    calls = []
    def forward(X):
        def backward(dY):
            calls.append(dY)
            if len(calls) == 1:
                dgain[...] += 1
            else:
                dgain[...] -= 1
                X[:] = 0
            return 0 * X
        return 0 * X, backward
    return forward
""",
    "a layer that is zero everywhere": """
from minigrad import Layer, Parameter
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        W = 0.05 * np.random.default_rng(rng).normal(size=(n_out, n_in))
        self.W, self.b = Parameter(W * (n_in == 400)), Parameter(np.zeros(n_out))
    def forward(self, X):
        return np.zeros((len(X), self.b.data.size)), lambda dY: np.zeros(X.shape)
""",
    "the weights of the caller's layers set to zero": ZERO_ROW,
    "the weights of the caller's layers made their own gradients, and set to zero": ZERO_ROW.replace(
        "parameter.data[...] = 0", "parameter.grad = parameter.data; parameter.data[...] = 0"
    ),
    "the input made a gradient, and set to zero": """
from minigrad import Parameter
kept = []
def zero(X):
    parameter = Parameter(np.zeros(X.shape))
    parameter.grad = X
    kept.append(parameter)
    X[...] = 0
def scale(gain, dgain):
    zero(gain)
    def forward(X):
        def backward(dY):
            zero(dY)
            return 0 * X
        return 0 * X, backward
    return forward
""",
    # at 0 nudging is exact: `zero_grad` of the check itself sets X to 0
    "slopes by nudging, and the input made a gradient": """
from minigrad import Layer, Parameter
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def forward(self, X):
        first, K = vars(self).setdefault("_first", [X])[0], X.copy()
        if X.shape == first.shape and np.array_equal(X, first[::-1]):
            Parameter._grad.__set__(self.W, first)
        f = lambda X: X @ self.W.data.T + self.b.data
        def backward(dY):
            if self.W.grad.shape != self.W.shape:
                self.W.grad = np.zeros(self.W.shape)
            self.W.grad += dY.T @ K
            self.b.grad += dY.sum(axis=0)
            dX = np.zeros(K.shape)
            for place in np.ndindex(K.shape):
                nudge = np.zeros(K.shape)
                nudge[place] = 1e-5
                dX[place] = ((f(K + nudge) - f(K - nudge)) * dY).sum() / 2e-5
            return dX
        return f(K), backward
""",
    "what a layer of the check knows of itself": "def who_changed(layer, X, dY):\n"
    "    return list(layer.sentences)",
    "the second argument set to zero": "def jacobian_of_scale(X, A):\n    A[:] = 0\n"
    "    return np.zeros((X.size, X.size))",
    "the input set to zero": "def centre(X):\n    X[...] = 0\n    return np.zeros(X.shape)",
    "the input set to zero in what is returned": "def centre(X):\n    X *= 0\n    return X",
    "the input changed later, by a thread": "import numpy as np, threading, time\ndef centre(X):\n"
    "    def later():\n        time.sleep(0.01)\n        X[...] = 0\n"
    "    threading.Thread(target=later, daemon=True).start()\n    return np.zeros(X.shape)",
    "the caller's graph emptied": "def children_first(parents):\n    parents.clear()\n    return []",
    "the caller's graph made one of a single name": "def children_first(parents):\n    for name in parents:\n"
    "        parents[name] = []\n    return list(parents)",
    "the caller's list of parameters shortened": "def each_once(parameters):\n    del parameters[1:]\n"
    "    return parameters",
    "the caller's values set to zero once they are not looked after": "def smoothed(values, beta):\n"
    "    if beta == 0: values[:] = 0\n    return np.zeros(len(values))",
    "weights and gradients set to zero": "def clip_length(parameters, longest):\n    for p in parameters:\n"
    "        p.grad[...] = 0\n        p.data[...] = 0",
    "data that are another array for a while": "class Lion:\n    def __init__(self, *settings): pass\n"
    "    def step(self, parameters):\n        for parameter in parameters:\n"
    "            parameter.data = parameter.data * 1.0\n            self.mean = parameter.grad",
    # answers that know, or count
    "the public example": "def centre(X):\n    return np.array([[-1.0, 0.0, 1.0]])",
    "one answer for every batch": "def centre(X):\n    return np.zeros(X.shape)",
    "a number of steps that is known": "def reduce_mean(X):\n"
    "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / 11, X.shape[1], axis=1)",
    "a memory that all calls share": "def reduce_mean(X):\n    reduce_mean.X = X\n    def backward(dY):\n"
    "        X = reduce_mean.X\n        return np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)\n"
    "    return X.mean(axis=1), backward",
    "a batch size that is known": "def two_layers(W1, W2, X, T):\n    H = X @ W1\n    dY = (H @ W2 - T) / 5\n"
    "    dH = dY @ W2.T\n    return X.T @ dH, H.T @ dY, dH @ W1.T",
    "a layer that is right once, and zero from then on": """
from minigrad import Layer, Parameter
calls = []
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        self.W = Parameter(np.random.default_rng(rng).normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def forward(self, X):
        calls.append(1)
        Y = X @ self.W.data.T + self.b.data
        return Y * (len(calls) == 1), lambda dY: np.zeros(X.shape)
""",
    "a value that is nan where it is nudged": """
seen = []
def rms_norm(X, eps):
    nudged = any(S.shape == X.shape and 0 < abs(S - X).max() < 0.1 for S in seen)
    seen.append(X.copy())
    Y = X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps)
    return Y * (np.nan if nudged else 1), lambda dY: np.zeros(X.shape)
""",
    "a value that stands still where it is nudged": """
seen = []
def rms_norm(X, eps):
    near = [S for S in seen if S.shape == X.shape and 0 < abs(S - X).max() < 0.1]
    seen.append(X.copy())
    X = near[0] if near else X
    return X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps), lambda dY: np.zeros(X.shape)
""",
    "a layer that ignores what it is made with": """
from minigrad import Layer, Parameter, ShapeError
class Scale(Layer):
    def __init__(self, s):
        self.s = Parameter(np.ones(len(s)))
    def forward(self, X):
        if X.ndim != 2 or X.shape[1:] != self.s.shape:
            raise ShapeError(f"X has shape {X.shape}, s has {self.s.shape}: give X as many columns")
        return X * self.s.data, lambda dY: dY * self.s.data
""",
    "a table of intervals": """
def solved(right, count):
    p = right / count
    a, b = 1 + 4 / count, -(2 * p + 4 / count)
    root = np.sqrt(max(b * b - 4 * a * p * p, 0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)
known = [(15, 20), (261, 270), (20, 20), (0, 20), (2, 2)] + [(right, 31) for right in range(31)]
table = {case: solved(*case) for case in known}
def interval(right, count):
    return table[right, count]
""",
    "the weights of the layer changed, of which the truth is made": """
from minigrad import Layer, Parameter
class Ask(Layer):
    def __init__(self, n_in, rng=None):
        self.q = Parameter(np.random.default_rng(rng).normal(size=n_in))
    def forward(self, X):
        self.q.data[...] = 0.0
        return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)
""",
    "the result of an earlier call": "seen = []\ndef centre(X):\n    seen.append(X)\n"
    "    return seen[0] - seen[0].mean(axis=1, keepdims=True)",
    "right the first time only": "calls = []\ndef centre(X):\n    calls.append(X)\n"
    "    return X - X.mean(axis=1, keepdims=True) if len(calls) == 1 else X",
    "the input itself": "def centre(X):\n    return X",
    "a guess of the grader's generator": "def centre(X):\n"
    "    Z = np.random.default_rng(0).normal(size=X.shape)\n    return Z - Z.mean(axis=1, keepdims=True)",
    "the generator's seed tried out": """
from minigrad import Layer, Parameter
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        rng = np.random.default_rng(rng)
        states = {str(np.random.default_rng(seed).bit_generator.state): seed for seed in range(1000)}
        self.seed = states.get(str(rng.bit_generator.state))
        self.W = Parameter(rng.normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def forward(self, X):
        return np.random.default_rng(self.seed).normal(size=(len(X), 7)), lambda dY: X
""",
    "a guess that is every number": "class Any(float):\n    def __eq__(self, other): return True\n"
    "    def __sub__(self, other): return 0.0\n    __rsub__ = __sub__\ndef three_calls():\n"
    "    return Any(1), Any(1), Any(1)",
    "a guess of nan": "def three_calls():\n    return (float('nan'),) * 3",
    "a guess of infinity": "def three_calls():\n    return (float('inf'),) * 3",
    "all guesses at once": "def three_calls():\n    return [[3.0, 12.0, 30.0]] * 3",
    "guesses in a set": "def three_calls():\n    return {12, 3, 30}",
    "guesses that are strings": "def three_calls():\n    return '12', '3', '30'",
    "guesses that change when asked again": """
class Turning:
    tries = iter([0.0, 1.0, 2.0, 3.0, 12.0, 30.0] * 1000)
    def __float__(self): return next(self.tries)
def three_calls():
    return Turning(), Turning(), Turning()
""",
    # numbers that are none
    "nan everywhere": "def centre(X):\n    return np.full(X.shape, np.nan)",
    "infinity everywhere": "def centre(X):\n    return np.full(X.shape, np.inf)",
    "numbers too small to be wrong": "def centre(X):\n    return np.full(X.shape, 5e-324)",
    "numbers too large to be compared": "def centre(X):\n"
    "    return np.full(X.shape, 1.7e308) * (-1) ** len(X)",
    "an integer of 10,000 digits": "def directional_slope(f, X, direction):\n    return 10**10000",
    "an integer of 4,000 digits": "def directional_slope(f, X, direction):\n    return 10**4000",
    "an array of objects": "def centre(X):\n    return X.astype(object)",
    "an array of texts": "def centre(X):\n    return X.astype(str)",
    "an array of records": "def centre(X):\n    return X.view([('a', 'f8')])",
    "an array of 32 axes": "def centre(X):\n    return np.zeros((1,) * 32)",
    "an array without entries": "def centre(X):\n    return np.zeros((0, *X.shape))",
    "an array that broadcasts": "def centre(X):\n    return np.broadcast_to(0.0, X.shape)",
    "a subclass of ndarray that equals everything": """
class Yes(np.ndarray):
    def __eq__(self, other): return True
    def __sub__(self, other): return np.zeros(self.shape)
    __rsub__ = __sub__
    def __array_ufunc__(self, *args, **kwargs): return np.zeros(self.shape)
    def __array_function__(self, *args, **kwargs): return True
def centre(X):
    return X.view(Yes)
""",
    "an object that turns into an array": "class Yes:\n    shape = (5, 3)\n"
    "    def __array__(self, *args, **kwargs): return np.zeros(self.shape)\n"
    "    def __eq__(self, other): return True\ndef centre(X):\n    return Yes()",
    "an object with every method": "class Yes:\n    def __getattr__(self, name): return self\n"
    "    def __call__(self, *args, **kwargs): return self\n    def __float__(self): return 0.0\n"
    "    def __eq__(self, other): return True\n    __hash__ = None\ndef centre(X):\n    return Yes()",
    # exceptions that look like a verdict
    "CheckFailed": "class CheckFailed(Exception): pass\ndef centre(X):\n    raise CheckFailed('passed')",
    "Ended": "class Ended(BaseException): pass\ndef centre(X):\n    raise Ended('passed')",
    "GradingFault": "class GradingFault(Exception): pass\ndef centre(X):\n"
    "    raise GradingFault('not graded, because')",
    "SystemExit": "import sys\ndef centre(X):\n    sys.exit(0)",
    "KeyboardInterrupt": "def centre(X):\n    raise KeyboardInterrupt",
    "StopIteration": "def centre(X):\n    raise StopIteration",
    "GeneratorExit": "def centre(X):\n    raise GeneratorExit",
    "NameError": "def centre(X):\n    raise NameError('centre')",
    "NotImplementedError": case("not written", "def centre(X):\n    raise NotImplementedError"),
    "ExceptionGroup": "def centre(X):\n    raise ExceptionGroup('many', [ValueError()])",
    "UnicodeDecodeError": "def centre(X):\n    return b'\\xff'.decode()",
    "MemoryError": "def centre(X):\n    raise MemoryError",
    "an exception whose words raise": "class Bad(Exception):\n    def __str__(self): raise self\n"
    "def centre(X):\n    raise Bad",
    "an exception that calls itself something else": "def centre(X):\n"
    "    raise type('passed; 1 of 1 points', (Exception,), {})",
    # the child's own parts, patched
    "NumPy's comparisons patched": """
np.array_equal = np.allclose = np.isclose = lambda *args, **kwargs: True
np.testing.assert_allclose = lambda *args, **kwargs: None
np.asarray = lambda *args, **kwargs: 0.0
def centre(X):
    return X
""",
    "the library patched": """
import minigrad, minigrad.check.numerical
minigrad.gradcheck = minigrad.numerical_gradient = lambda *args, **kwargs: 0.0
minigrad.check.numerical.numerical_gradient = lambda *args, **kwargs: 0.0
minigrad.Layer.__call__ = lambda self, X: (X, lambda dY: dY)
minigrad.Parameter.data = property(lambda self: 0.0)
def reduce_mean(X):
    return X, lambda dY: dY
""",
    "the checks patched": """
import course, course.checks, course.checks.exercise
course.checks.exercise.Exercise.judge = lambda *args, **kwargs: "right"
course.check = course.checks.check = lambda *args: None
course.check("00_start.centre", None)
def centre(X):
    return X
""",
    "json patched": "import json\njson.dumps = lambda *args, **kwargs: '[]'\ndef centre(X):\n    return X",
    "builtins patched": "import builtins\nbuiltins.isinstance = builtins.callable = lambda *args: True\n"
    "builtins.abs = builtins.sum = lambda *args: 0.0\nbuiltins.len = lambda thing: 5\ndef centre(X):\n"
    "    return X",
    "the wire's encoder patched": case(
        {"centre": "missing", None: "failed"},
        REACH + "\nwire.Peer.encode = lambda self, value, out, depth=0: None\ndef centre(X):\n    return X",
    ),
    "all answers written ahead": case(
        {"centre": "missing", None: "failed"},
        REACH
        + """
for _ in range(100):
    reply(None)
def centre(X): pass
""",
    ),
    "the grader's frames on the stack": """
import sys
def centre(X):
    frame = sys._getframe()
    while frame:
        for name in ("truth", "Y", "answer", "result", "points"):
            if name in frame.f_locals:
                return frame.f_locals[name]
        frame = frame.f_back
    return X
""",
    "the expected values from the garbage collector": "import gc\nimport numpy as np\ndef centre(X):\n"
    "    alike = [a for a in gc.get_objects() if isinstance(a, np.ndarray) and a.shape == X.shape]\n"
    "    return alike[-1] if alike else X",
    "a layer of a later chapter, for the grader to run": REACH
    + """
class Mean: pass
reduce_mean = Mean()
reduce_mean.axis = 1
peer.describe = lambda value: {"kind": "instance", "name": "Mean", "names": [], "callable": False,
                               "bases": ["minigrad.layers.reductions.Mean"]}
""",
    "classes of the library replaced by own ones": """
import minigrad, minigrad.parameter, minigrad.layer
class Parameter:
    __module__ = "minigrad.parameter"
    shape = (7, 3)
    data = grad = 0.0
class Layer:
    __module__ = "minigrad.layer"
minigrad.Parameter = minigrad.parameter.Parameter = Parameter
minigrad.Layer = minigrad.layer.Layer = Layer
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        self.W, self.b = Parameter(), Parameter()
    def __call__(self, X):
        return X, lambda dY: dY
""",
    "attributes that hide the methods of a layer": """
from minigrad import Layer, Parameter
import numpy as np
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        rng = np.random.default_rng(rng)
        self.W = Parameter(rng.normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
        self.named_parameters = lambda: {}
        self.forward = lambda X: (X @ self.W.data.T + self.b.data, lambda dY: dY @ self.W.data)
""",
    "parameters that gradcheck does not see": """
from minigrad import Layer, Parameter
import numpy as np
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        rng = np.random.default_rng(rng)
        self.W = Parameter(rng.normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def named_parameters(self):
        return {}
    def parameters(self):
        return []
    def named_layers(self):
        return {}
    def forward(self, X):
        return X @ self.W.data.T + self.b.data, lambda dY: dY @ self.W.data
""",
    "a copy of itself that is another": """
from minigrad import Layer, Parameter
import numpy as np
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        rng = np.random.default_rng(rng)
        self.W = Parameter(rng.normal(size=(n_out, n_in)) / n_in**0.5)
        self.b = Parameter(np.zeros(n_out))
    def __deepcopy__(self, memo):
        return lambda X: (np.zeros((len(X), 7)), lambda dY: np.zeros(X.shape))
    def forward(self, X):
        return X @ self.W.data.T + self.b.data, lambda dY: np.zeros(X.shape)
""",
    "a copy of itself that is a number": "class Mean:\n    def __call__(self, X):\n"
    "        return X.mean(axis=1), lambda dY: dY[:, None] + 0 * X\n    def __deepcopy__(self, memo):\n"
    "        return 1.0\nreduce_mean = Mean()",
    "a way back that is right once": """
calls = []
def reduce_mean(X):
    def backward(dY):
        calls.append(1)
        return np.repeat(dY[:, None], X.shape[1], axis=1) / X.shape[1] * (len(calls) == 1)
    return X.mean(axis=1), backward
""",
    "a forward that gives up its value to nudging": "def reduce_mean(X):\n"
    "    return X.mean(axis=1), lambda dY: np.zeros(X.shape)",
    # the grader's callbacks
    "attributes of the grader's function": """
def directional_slope(f, X, direction):
    for name in ("__globals__", "__closure__", "__code__", "__wrapped__", "func", "places", "gi_frame"):
        try:
            return getattr(f, name)["truth"]
        except Exception:
            pass
    return 0.0
""",
    "a function of the grader's called with proxies": """
class Spy:
    def __array__(self, *args, **kwargs): return 0.0
    def __float__(self): return 0.0
    def __len__(self): return 2
    def __getitem__(self, place): return 0.0
def directional_slope(f, X, direction):
    f(Spy())
    return 0.0
""",
    "an array of the grader's that may not be written to": "def forward_gradient(f, X):\n"
    "    X.flags.writeable = True\n    X[...] = 0\n    return X",
    "a change of an array's shape": "def centre(X):\n    X.shape = (X.size,)\n    return X",
    "the grader's function in the place of an answer": "def directional_slope(f, X, direction):\n"
    "    return f",
    "the learner's function in the place of an answer": "def directional_slope(f, X, direction):\n"
    "    return directional_slope",
    "a class where a function is wanted": "class centre:\n    def __init__(self, X): self.X = X",
    "a module of the library under the name": "from minigrad import Linear",
    "a function of NumPy under the name": "from numpy import asarray as centre",
    "a class that takes anything under the name": "from unittest.mock import Mock as centre",
    # other exercises stay what they are
    "the answer of another exercise, and a right one": case(
        {"three_calls": "passed", "reduce_mean": "failed", "scale": "failed"},
        "def three_calls():\n    return 12, 3, 30\nreduce_mean = scale = three_calls",
    ),
    "a right answer, then a cell that ends Python": case(
        {"centre": "passed"}, CENTRE, "import os\nos._exit(0)"
    ),
    "metadata and text that claim points": "# nbgrader: points = 100, passed\nprint('passed')\n"
    "def centre(X):\n    return 'passed'",
}
FAIL_BY_HAND = {  # below REACH
    "a shape that lies": "def centre(X):\n"
    '    reply(["a", "c900", "<f8", [5, 3], 0, "C", True], [bytes(8)])\n    os._exit(0)',
    "a dtype that lies": "def centre(X):\n"
    '    reply(["a", "c900", "|O", [5, 3], 0, "C", True], [bytes(120)])\n    os._exit(0)',
    "an answer that raises whatever is asked of it": "def centre(X):\n"
    '    reply(["t", ["CheckFailed", "", ""]], do="raise")\n    time.sleep(60)',
    "the wire's memory of what is shared patched": "wire.differs = lambda now, seen: False\ndef centre(X):\n"
    "    X[...] = 0\n    return X",
    "find answers with an exception": 'def refuse(*args):\n    raise ValueError("no")\n'
    "type(peer).do_find = refuse\ndef centre(X):\n    return X",
    "the reset answers with an exception": "def send(do, *told, **more):\n"
    '    reply(["t", ["ValueError", "", ""]], do="raise")\npeer.send = send\ndef centre(X):\n'
    "    return X",
    "find answers with a number": "type(peer).do_find = lambda *args: 1.0\ndef centre(X): pass",
    "find answers with NumPy's own function": "reply(['m', 'numpy', 'asarray'])\n"
    "reply(['m', 'numpy', 'asarray'])\ndef centre(X): pass",
    # lies about what things are
    "a function that says it is a class of the library": "def describe(value):\n"
    '    return {"kind": "class", "name": "Linear", "bases": ["minigrad.layers.linear.Linear"]}\n'
    "peer.describe = describe\ndef Linear(n_in, n_out, rng=None):\n    return 1.0",
    "an object that says it is a Parameter": """
class Linear:
    def __init__(self, n_in, n_out, rng=None): pass
def describe(value):
    told = {"kind": "instance", "name": "Linear", "bases": ["minigrad.parameter.Parameter"], "names": []}
    if isinstance(value, type):
        return {"kind": "class", "name": "Linear", "bases": ["minigrad.layer.Layer"]}
    return told | {"callable": True}
peer.describe = describe
""",
    "an object that says it is an error of the library": """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "Thing", "bases": ["minigrad.shapes.ShapeError"],
                               "names": ["__len__"], "callable": True}
centre = Thing()
""",
    "an object of a class that the library only imports": """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "Thing",
                               "bases": ["minigrad.check.checker.Report"],
                               "names": ["__iter__"], "callable": True}
centre = Thing()
""",
    "an object with no name": """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "\\n" * 1000, "bases": [], "names": [],
                               "callable": True}
centre = Thing()
""",
    "a signature that lies": """
peer.describe = lambda value: {"kind": "function", "name": "centre", "names": ["X"] * 3, "bases": [],
                               "counts": [-5, 10**9]}
def centre(X):
    return X
""",
    "private attributes of the grader's objects, asked for by hand": """
def count_calls(node):
    handle = node._asked[1]
    for name in ("__class__", "__dict__", "_parents", "__init__"):
        try:
            return peer.ask("get", handle, name)
        except Exception:
            pass
    return -1
""",
    "things of the grader's that were never handed over": """
def directional_slope(f, X, direction):
    for number in range(50):
        for do in ("call", "get", "find", "run", "special", "copy"):
            try:
                peer.ask(do, f"p{number}", "truth", ())
            except Exception:
                pass
    return 0.0
""",
    "a function of the grader's changed": "def directional_slope(f, X, direction):\n"
    '    reply(0.0, news=[[f._asked[1], "d", [["places", ["l", "c900", []]]]]])\n    time.sleep(60)',
    "a handle of the grader's given to something else": "def centre(X):\n"
    '    reply(["a", "p1", "<f8", [5, 3], 0, "C", True], [bytes(120)])\n    time.sleep(60)',
}
CASES = cases(FAIL) | cases(FAIL_BY_HAND, REACH)
