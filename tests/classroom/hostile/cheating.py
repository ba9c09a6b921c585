"""Submissions that cheat, with the expected verdict of each."""

from tests.classroom.hostile.submission import CENTRE, NUMPY, REACH, case

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

CASES = {
    # the cells below write into the grader's pipe by hand; this one does it as the child itself would
    "an honest answer, written by hand": case(
        "00_start",
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
    "numbers that are made when they are looked at": case(
        "00_start", "failed", LAZY + "def centre(X):\n    return Lazy(X.shape, X)"
    ),
    "gradients that are made when they are looked at": case(
        "04_closures",
        "failed",
        LAZY + "def two_layers(W1, W2, X, T):\n    return [Lazy(A.shape, X, W1, W2) for A in (W1, W2, X)]",
    ),
    "a gain and an input set to zero": case(
        "04_closures",
        "failed",
        """
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
    ),
    "a layer that is zero everywhere": case(
        "04_closures",
        "failed",
        """
import numpy as np
from minigrad import Layer, Parameter
class Linear(Layer):
    def __init__(self, n_in, n_out, rng=None):
        W = 0.05 * np.random.default_rng(rng).normal(size=(n_out, n_in))
        self.W, self.b = Parameter(W * (n_in == 400)), Parameter(np.zeros(n_out))
    def forward(self, X):
        return np.zeros((len(X), self.b.data.size)), lambda dY: np.zeros(X.shape)
""",
    ),
    "the weights of the caller's layers set to zero": case("05_chains", "failed", NUMPY + ZERO_ROW),
    "the weights of the caller's layers made their own gradients, and set to zero": case(
        "05_chains",
        "failed",
        NUMPY
        + ZERO_ROW.replace(
            "parameter.data[...] = 0", "parameter.grad = parameter.data; parameter.data[...] = 0"
        ),
    ),
    "the input made a gradient, and set to zero": case(
        "04_closures",
        {"scale": "failed"},
        """
import numpy as np
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
    ),
    # at 0 nudging is exact: `zero_grad` of the check itself sets X to 0
    "slopes by nudging, and the input made a gradient": case(
        "04_closures",
        "failed",
        """
import numpy as np
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
    ),
    "what a layer of the check knows of itself": case(
        "03_gradcheck",
        {"who_changed": "failed"},
        "def who_changed(layer, X, dY):\n    return list(layer.sentences)",
    ),
    "the second argument set to zero": case(
        "02_jacobian",
        "failed",
        f"{NUMPY}\ndef jacobian_of_scale(X, A):\n    A[:] = 0\n    return np.zeros((X.size, X.size))",
    ),
    "the input set to zero": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    X[...] = 0\n    return np.zeros(X.shape)"
    ),
    "the input set to zero in what is returned": case(
        "00_start", "failed", "def centre(X):\n    X *= 0\n    return X"
    ),
    "the input changed later, by a thread": case(
        "00_start",
        "failed",
        """
import numpy as np, threading, time
def centre(X):
    def later():
        time.sleep(0.01)
        X[...] = 0
    threading.Thread(target=later, daemon=True).start()
    return np.zeros(X.shape)
""",
    ),
    "the caller's graph emptied": case(
        "11_graphs", "failed", "def children_first(parents):\n    parents.clear()\n    return []"
    ),
    "the caller's graph made one of a single name": case(
        "11_graphs",
        "failed",
        "def children_first(parents):\n    for name in parents:\n        parents[name] = []\n"
        "    return list(parents)",
    ),
    "the caller's list of parameters shortened": case(
        "09_optimizers", "failed", "def each_once(parameters):\n    del parameters[1:]\n    return parameters"
    ),
    "the caller's values set to zero once they are not looked after": case(
        "09_optimizers",
        "failed",
        "import numpy as np\ndef smoothed(values, beta):\n    if beta == 0: values[:] = 0\n"
        "    return np.zeros(len(values))",
    ),
    "weights and gradients set to zero": case(
        "09_optimizers",
        "failed",
        "def clip_length(parameters, longest):\n    for p in parameters:\n"
        "        p.grad[...] = 0\n        p.data[...] = 0",
    ),
    "data that are another array for a while": case(
        "09_optimizers",
        "failed",
        """
import numpy as np
class Lion:
    def __init__(self, *settings): pass
    def step(self, parameters):
        for parameter in parameters:
            parameter.data = parameter.data * 1.0
            self.mean = parameter.grad
""",
    ),
    # answers that know, or count
    "the public example": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.array([[-1.0, 0.0, 1.0]])"
    ),
    "one answer for every batch": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.zeros(X.shape)"
    ),
    "a number of steps that is known": case(
        "04_closures",
        "failed",
        f"{NUMPY}\ndef reduce_mean(X):\n"
        "    return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / 11, X.shape[1], axis=1)",
    ),
    "a memory that all calls share": case(
        "04_closures",
        "failed",
        f"""{NUMPY}
def reduce_mean(X):
    reduce_mean.X = X
    def backward(dY):
        X = reduce_mean.X
        return np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)
    return X.mean(axis=1), backward
""",
    ),
    "a batch size that is known": case(
        "04_closures",
        "failed",
        """
def two_layers(W1, W2, X, T):
    H = X @ W1
    dY = (H @ W2 - T) / 5
    dH = dY @ W2.T
    return X.T @ dH, H.T @ dY, dH @ W1.T
""",
    ),
    "a layer that is right once, and zero from then on": case(
        "04_closures",
        "failed",
        """
import numpy as np
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
    ),
    "a value that is nan where it is nudged": case(
        "10_start_well",
        "failed",
        """
import numpy as np
seen = []
def rms_norm(X, eps):
    nudged = any(S.shape == X.shape and 0 < abs(S - X).max() < 0.1 for S in seen)
    seen.append(X.copy())
    Y = X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps)
    return Y * (np.nan if nudged else 1), lambda dY: np.zeros(X.shape)
""",
    ),
    "a value that stands still where it is nudged": case(
        "10_start_well",
        "failed",
        """
import numpy as np
seen = []
def rms_norm(X, eps):
    near = [S for S in seen if S.shape == X.shape and 0 < abs(S - X).max() < 0.1]
    seen.append(X.copy())
    X = near[0] if near else X
    return X / np.sqrt((X * X).mean(axis=1, keepdims=True) + eps), lambda dY: np.zeros(X.shape)
""",
    ),
    "a layer that ignores what it is made with": case(
        "12_shapes",
        "failed",
        """
import numpy as np
from minigrad import Layer, Parameter, ShapeError
class Scale(Layer):
    def __init__(self, s):
        self.s = Parameter(np.ones(len(s)))
    def forward(self, X):
        if X.ndim != 2 or X.shape[1:] != self.s.shape:
            raise ShapeError(f"X has shape {X.shape}, s has {self.s.shape}: give X as many columns")
        return X * self.s.data, lambda dY: dY * self.s.data
""",
    ),
    "a table of intervals": case(
        "08_digits",
        "failed",
        """
import numpy as np
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
    ),
    "the weights of the layer changed, of which the truth is made": case(
        "16_attention",
        "failed",
        """
import numpy as np
from minigrad import Layer, Parameter
class Ask(Layer):
    def __init__(self, n_in, rng=None):
        self.q = Parameter(np.random.default_rng(rng).normal(size=n_in))
    def forward(self, X):
        self.q.data[...] = 0.0
        return X.mean(axis=1), lambda dY: np.repeat(dY[:, None] / X.shape[1], X.shape[1], axis=1)
""",
    ),
    "the result of an earlier call": case(
        "00_start",
        "failed",
        "seen = []\ndef centre(X):\n    seen.append(X)\n"
        "    return seen[0] - seen[0].mean(axis=1, keepdims=True)",
    ),
    "right the first time only": case(
        "00_start",
        "failed",
        "calls = []\ndef centre(X):\n    calls.append(X)\n"
        "    return X - X.mean(axis=1, keepdims=True) if len(calls) == 1 else X",
    ),
    "the input itself": case("00_start", "failed", "def centre(X):\n    return X"),
    "a guess of the grader's generator": case(
        "00_start",
        "failed",
        f"{NUMPY}\ndef centre(X):\n    Z = np.random.default_rng(0).normal(size=X.shape)\n"
        "    return Z - Z.mean(axis=1, keepdims=True)",
    ),
    "the generator's seed tried out": case(
        "04_closures",
        "failed",
        """
import numpy as np
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
    ),
    "a guess that is every number": case(
        "04_closures",
        "failed",
        """
class Any(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
def three_calls():
    return Any(1), Any(1), Any(1)
""",
    ),
    "a guess of nan": case("04_closures", "failed", "def three_calls():\n    return (float('nan'),) * 3"),
    "a guess of infinity": case(
        "04_closures", "failed", "def three_calls():\n    return (float('inf'),) * 3"
    ),
    "all guesses at once": case(
        "04_closures", "failed", "def three_calls():\n    return [[3.0, 12.0, 30.0]] * 3"
    ),
    "guesses in a set": case("04_closures", "failed", "def three_calls():\n    return {12, 3, 30}"),
    "guesses that are strings": case(
        "04_closures", "failed", "def three_calls():\n    return '12', '3', '30'"
    ),
    "guesses that change when asked again": case(
        "04_closures",
        "failed",
        """
class Turning:
    tries = iter([0.0, 1.0, 2.0, 3.0, 12.0, 30.0] * 1000)
    def __float__(self): return next(self.tries)
def three_calls():
    return Turning(), Turning(), Turning()
""",
    ),
    # numbers that are none
    "nan everywhere": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.full(X.shape, np.nan)"
    ),
    "infinity everywhere": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.full(X.shape, np.inf)"
    ),
    "numbers too small to be wrong": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.full(X.shape, 5e-324)"
    ),
    "numbers too large to be compared": case(
        "00_start",
        "failed",
        f"{NUMPY}\ndef centre(X):\n    return np.full(X.shape, 1.7e308) * (-1) ** len(X)",
    ),
    "an integer of 10,000 digits": case(
        "01_slope", "failed", "def directional_slope(f, X, direction):\n    return 10**10000"
    ),
    "an integer of 4,000 digits": case(
        "01_slope", "failed", "def directional_slope(f, X, direction):\n    return 10**4000"
    ),
    "an array of objects": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return X.astype(object)"
    ),
    "an array of texts": case("00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return X.astype(str)"),
    "an array of records": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return X.view([('a', 'f8')])"
    ),
    "an array of 32 axes": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.zeros((1,) * 32)"
    ),
    "an array without entries": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.zeros((0, *X.shape))"
    ),
    "an array that broadcasts": case(
        "00_start", "failed", f"{NUMPY}\ndef centre(X):\n    return np.broadcast_to(0.0, X.shape)"
    ),
    "a subclass of ndarray that equals everything": case(
        "00_start",
        "failed",
        """
import numpy as np
class Yes(np.ndarray):
    def __eq__(self, other): return True
    def __sub__(self, other): return np.zeros(self.shape)
    __rsub__ = __sub__
    def __array_ufunc__(self, *args, **kwargs): return np.zeros(self.shape)
    def __array_function__(self, *args, **kwargs): return True
def centre(X):
    return X.view(Yes)
""",
    ),
    "an object that turns into an array": case(
        "00_start",
        "failed",
        """
import numpy as np
class Yes:
    shape = (5, 3)
    def __array__(self, *args, **kwargs): return np.zeros(self.shape)
    def __eq__(self, other): return True
def centre(X):
    return Yes()
""",
    ),
    "an object with every method": case(
        "00_start",
        "failed",
        """
class Yes:
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
    def __float__(self): return 0.0
    def __eq__(self, other): return True
    __hash__ = None
def centre(X):
    return Yes()
""",
    ),
    "a shape that lies": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    reply(["a", "c900", "<f8", [5, 3], 0, "C", True], [bytes(8)])
    os._exit(0)
""",
    ),
    "a dtype that lies": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    reply(["a", "c900", "|O", [5, 3], 0, "C", True], [bytes(120)])
    os._exit(0)
""",
    ),
    # exceptions that look like a verdict
    "CheckFailed": case(
        "00_start",
        "failed",
        "class CheckFailed(Exception): pass\ndef centre(X):\n    raise CheckFailed('passed')",
    ),
    "Ended": case(
        "00_start", "failed", "class Ended(BaseException): pass\ndef centre(X):\n    raise Ended('passed')"
    ),
    "GradingFault": case(
        "00_start",
        "failed",
        "class GradingFault(Exception): pass\ndef centre(X):\n    raise GradingFault('not graded, because')",
    ),
    "SystemExit": case("00_start", "failed", "import sys\ndef centre(X):\n    sys.exit(0)"),
    "KeyboardInterrupt": case("00_start", "failed", "def centre(X):\n    raise KeyboardInterrupt"),
    "StopIteration": case("00_start", "failed", "def centre(X):\n    raise StopIteration"),
    "GeneratorExit": case("00_start", "failed", "def centre(X):\n    raise GeneratorExit"),
    "NameError": case("00_start", "failed", "def centre(X):\n    raise NameError('centre')"),
    "NotImplementedError": case("00_start", "not written", "def centre(X):\n    raise NotImplementedError"),
    "ExceptionGroup": case(
        "00_start", "failed", "def centre(X):\n    raise ExceptionGroup('many', [ValueError()])"
    ),
    "UnicodeDecodeError": case("00_start", "failed", "def centre(X):\n    return b'\\xff'.decode()"),
    "MemoryError": case("00_start", "failed", "def centre(X):\n    raise MemoryError"),
    "RecursionError": case("00_start", "failed", "def centre(X):\n    return centre(X)"),
    "an exception whose words raise": case(
        "00_start",
        "failed",
        "class Bad(Exception):\n    def __str__(self): raise self\ndef centre(X):\n    raise Bad",
    ),
    "an exception that calls itself something else": case(
        "00_start", "failed", "def centre(X):\n    raise type('passed; 1 of 1 points', (Exception,), {})"
    ),
    "an answer that raises whatever is asked of it": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    reply(["t", ["CheckFailed", "", ""]], do="raise")
    time.sleep(60)
""",
    ),
    # the child's own parts, patched
    "NumPy's comparisons patched": case(
        "00_start",
        "failed",
        """
import numpy as np
np.array_equal = np.allclose = np.isclose = lambda *args, **kwargs: True
np.testing.assert_allclose = lambda *args, **kwargs: None
np.asarray = lambda *args, **kwargs: 0.0
def centre(X):
    return X
""",
    ),
    "the library patched": case(
        "04_closures",
        "failed",
        """
import minigrad, minigrad.check.numerical
minigrad.gradcheck = minigrad.numerical_gradient = lambda *args, **kwargs: 0.0
minigrad.check.numerical.numerical_gradient = lambda *args, **kwargs: 0.0
minigrad.Layer.__call__ = lambda self, X: (X, lambda dY: dY)
minigrad.Parameter.data = property(lambda self: 0.0)
def reduce_mean(X):
    return X, lambda dY: dY
""",
    ),
    "the checks patched": case(
        "00_start",
        "failed",
        """
import course, course.checks, course.checks.exercise
course.checks.exercise.Exercise.judge = lambda *args, **kwargs: "right"
course.check = course.checks.check = lambda *args: None
course.check("00_start.centre", None)
def centre(X):
    return X
""",
    ),
    "json patched": case(
        "00_start",
        "failed",
        "import json\njson.dumps = lambda *args, **kwargs: '[]'\ndef centre(X):\n    return X",
    ),
    "builtins patched": case(
        "00_start",
        "failed",
        """
import builtins
builtins.isinstance = builtins.callable = lambda *args: True
builtins.abs = builtins.sum = lambda *args: 0.0
builtins.len = lambda thing: 5
def centre(X):
    return X
""",
    ),
    "the wire's encoder patched": case(
        "00_start",
        {"centre": "missing", None: "failed"},
        REACH + "\nwire.Peer.encode = lambda self, value, out, depth=0: None\ndef centre(X):\n    return X",
    ),
    "the wire's memory of what is shared patched": case(
        "00_start",
        "failed",
        REACH + "\nwire.differs = lambda now, seen: False\ndef centre(X):\n    X[...] = 0\n    return X",
    ),
    "find answers with an exception": case(
        "00_start",
        "failed",
        REACH
        + """
def refuse(*args):
    raise ValueError("no")
type(peer).do_find = refuse
def centre(X):
    return X
""",
    ),
    "the reset answers with an exception": case(
        "00_start",
        {"centre": "failed", None: "failed"},
        REACH
        + """
def send(do, *told, **more):
    reply(["t", ["ValueError", "", ""]], do="raise")
peer.send = send
def centre(X):
    return X
""",
    ),
    "find answers with a number": case(
        "00_start", "failed", REACH + "\ntype(peer).do_find = lambda *args: 1.0\ndef centre(X): pass"
    ),
    "find answers with NumPy's own function": case(
        "00_start",
        "failed",
        REACH + "\nreply(['m', 'numpy', 'asarray'])\nreply(['m', 'numpy', 'asarray'])\ndef centre(X): pass",
    ),
    "all answers written ahead": case(
        "00_start",
        {"centre": "missing", None: "failed"},
        REACH
        + """
for _ in range(100):
    reply(None)
def centre(X): pass
""",
    ),
    "the grader's frames on the stack": case(
        "00_start",
        "failed",
        """
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
    ),
    "the expected values from the garbage collector": case(
        "00_start",
        "failed",
        """
import gc
import numpy as np
def centre(X):
    alike = [a for a in gc.get_objects() if isinstance(a, np.ndarray) and a.shape == X.shape]
    return alike[-1] if alike else X
""",
    ),
    "a layer of a later chapter, for the grader to run": case(
        "04_closures",
        "failed",
        REACH
        + """
class Mean: pass
reduce_mean = Mean()
reduce_mean.axis = 1
peer.describe = lambda value: {"kind": "instance", "name": "Mean", "names": [], "callable": False,
                               "bases": ["minigrad.layers.reductions.Mean"]}
""",
    ),
    # lies about what things are
    "a function that says it is a class of the library": case(
        "04_closures",
        "failed",
        REACH
        + """
def describe(value):
    return {"kind": "class", "name": "Linear", "bases": ["minigrad.layers.linear.Linear"]}
peer.describe = describe
def Linear(n_in, n_out, rng=None):
    return 1.0
""",
    ),
    "an object that says it is a Parameter": case(
        "04_closures",
        "failed",
        REACH
        + """
class Linear:
    def __init__(self, n_in, n_out, rng=None): pass
def describe(value):
    told = {"kind": "instance", "name": "Linear", "bases": ["minigrad.parameter.Parameter"], "names": []}
    if isinstance(value, type):
        return {"kind": "class", "name": "Linear", "bases": ["minigrad.layer.Layer"]}
    return told | {"callable": True}
peer.describe = describe
""",
    ),
    "an object that says it is an error of the library": case(
        "00_start",
        "failed",
        REACH
        + """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "Thing", "bases": ["minigrad.shapes.ShapeError"],
                               "names": ["__len__"], "callable": True}
centre = Thing()
""",
    ),
    "an object of a class that the library only imports": case(
        "00_start",
        "failed",
        REACH
        + """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "Thing",
                               "bases": ["minigrad.check.checker.Report"],
                               "names": ["__iter__"], "callable": True}
centre = Thing()
""",
    ),
    "an object with no name": case(
        "00_start",
        "failed",
        REACH
        + """
class Thing: pass
peer.describe = lambda value: {"kind": "instance", "name": "\\n" * 1000, "bases": [], "names": [],
                               "callable": True}
centre = Thing()
""",
    ),
    "a signature that lies": case(
        "00_start",
        "failed",
        REACH
        + """
peer.describe = lambda value: {"kind": "function", "name": "centre", "names": ["X"] * 3, "bases": [],
                               "counts": [-5, 10**9]}
def centre(X):
    return X
""",
    ),
    "classes of the library replaced by own ones": case(
        "04_closures",
        "failed",
        """
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
    ),
    "attributes that hide the methods of a layer": case(
        "04_closures",
        "failed",
        """
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
    ),
    "parameters that gradcheck does not see": case(
        "04_closures",
        "failed",
        """
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
    ),
    "a copy of itself that is another": case(
        "04_closures",
        "failed",
        """
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
    ),
    "a copy of itself that is a number": case(
        "04_closures",
        "failed",
        """
class Mean:
    def __call__(self, X):
        return X.mean(axis=1), lambda dY: dY[:, None] + 0 * X
    def __deepcopy__(self, memo):
        return 1.0
reduce_mean = Mean()
""",
    ),
    "a way back that is right once": case(
        "04_closures",
        "failed",
        """
import numpy as np
calls = []
def reduce_mean(X):
    def backward(dY):
        calls.append(1)
        return np.repeat(dY[:, None], X.shape[1], axis=1) / X.shape[1] * (len(calls) == 1)
    return X.mean(axis=1), backward
""",
    ),
    "a forward that gives up its value to nudging": case(
        "04_closures",
        "failed",
        """
import numpy as np
def reduce_mean(X):
    return X.mean(axis=1), lambda dY: np.zeros(X.shape)
""",
    ),
    # the grader's callbacks
    "attributes of the grader's function": case(
        "01_slope",
        "failed",
        """
def directional_slope(f, X, direction):
    for name in ("__globals__", "__closure__", "__code__", "__wrapped__", "func", "places", "gi_frame"):
        try:
            return getattr(f, name)["truth"]
        except Exception:
            pass
    return 0.0
""",
    ),
    "private attributes of the grader's objects, asked for by hand": case(
        "11_graphs",
        "failed",
        REACH
        + """
def count_calls(node):
    handle = node._asked[1]
    for name in ("__class__", "__dict__", "_parents", "__init__"):
        try:
            return peer.ask("get", handle, name)
        except Exception:
            pass
    return -1
""",
    ),
    "things of the grader's that were never handed over": case(
        "01_slope",
        "failed",
        REACH
        + """
def directional_slope(f, X, direction):
    for number in range(50):
        for do in ("call", "get", "find", "run", "special", "copy"):
            try:
                peer.ask(do, f"p{number}", "truth", ())
            except Exception:
                pass
    return 0.0
""",
    ),
    "a function of the grader's called with proxies": case(
        "01_slope",
        "failed",
        """
class Spy:
    def __array__(self, *args, **kwargs): return 0.0
    def __float__(self): return 0.0
    def __len__(self): return 2
    def __getitem__(self, place): return 0.0
def directional_slope(f, X, direction):
    f(Spy())
    return 0.0
""",
    ),
    "a function of the grader's changed": case(
        "01_slope",
        "failed",
        REACH
        + """
def directional_slope(f, X, direction):
    reply(0.0, news=[[f._asked[1], "d", [["places", ["l", "c900", []]]]]])
    time.sleep(60)
""",
    ),
    "an array of the grader's that may not be written to": case(
        "01_slope",
        "failed",
        """
def forward_gradient(f, X):
    X.flags.writeable = True
    X[...] = 0
    return X
""",
    ),
    "a handle of the grader's given to something else": case(
        "00_start",
        "failed",
        REACH
        + """
def centre(X):
    reply(["a", "p1", "<f8", [5, 3], 0, "C", True], [bytes(120)])
    time.sleep(60)
""",
    ),
    "a change of an array's shape": case(
        "00_start",
        "failed",
        "def centre(X):\n    X.shape = (X.size,)\n    return X",
    ),
    "the grader's function in the place of an answer": case(
        "01_slope", "failed", "def directional_slope(f, X, direction):\n    return f"
    ),
    "the learner's function in the place of an answer": case(
        "01_slope", "failed", "def directional_slope(f, X, direction):\n    return directional_slope"
    ),
    "a class where a function is wanted": case(
        "00_start", "failed", "class centre:\n    def __init__(self, X): self.X = X"
    ),
    "a module of the library under the name": case(
        "04_closures", {"Linear": "failed"}, "from minigrad import Linear"
    ),
    "a function of NumPy under the name": case("00_start", "failed", "from numpy import asarray as centre"),
    "a class that takes anything under the name": case(
        "00_start", "failed", "from unittest.mock import Mock as centre"
    ),
    # other exercises stay what they are
    "the answer of another exercise, and a right one": case(
        "04_closures",
        {"three_calls": "passed", "reduce_mean": "failed", "scale": "failed"},
        "def three_calls():\n    return 12, 3, 30\nreduce_mean = scale = three_calls",
    ),
    "a right answer, then a cell that ends Python": case(
        "00_start", {"centre": "passed"}, CENTRE, "import os\nos._exit(0)"
    ),
    "metadata and text that claim points": case(
        "00_start",
        "failed",
        "# nbgrader: points = 100, passed\nprint('passed')\ndef centre(X):\n    return 'passed'",
    ),
}
