"""Submissions that have memorized a check's cases, or return objects that lie; each earns nothing."""

from tests.classroom.hostile.submission import case, cases

FAIL = {
    "a table of three famous curves": "import math\ndef curvature(f, x):\n    y = f(x)\n"
    "    if abs(y - x ** 3) < 1e-12:\n        return 6 * x\n    if abs(y - math.exp(x)) < 1e-12:\n"
    "        return y\n    return -math.sin(x)",
    "complex numbers with a false imaginary part": "def jacobian_of_scale(X, A):\n    return np.diag(A) + 1j",
    "a way back whose second call is seen by its sum alone": """
def scale(gain, dgain):
    k = [0]
    def forward(X):
        def backward(dY):
            k[0] += 1
            dgain[...] += (dY * X).sum(axis=0) if k[0] < 3 else 5
            return dY * gain if k[0] < 2 else 0 * dY
        return (gain * X, backward)
    return forward
""",
    "lengths that are near one of a table": """
def clip_length(ps, longest):
    grads = np.concatenate([p.grad.ravel() for p in ps])
    rough = 1.25 * np.abs(grads).mean() * grads.size**0.5
    table = [0.5, 2.0, 3.0, 7.0, 300.0, 0.0]
    n = min(table, key=lambda t: abs(np.log((t + 1e-09) / (rough + 1e-09))))
    f = min(1, longest / n) if n else 1
    for p in ps:
        p.grad *= f
""",
    "gains from a table of slopes": """
G = {0.0: 2 ** 0.5, 1.0: 1.0, 0.5: 1.6 ** 0.5, 0.3: (2 / 1.09) ** 0.5, 0.2: (2 / 1.04) ** 0.5}
def leaky_start(shape, rng, slope):
    return rng.normal(size=shape) * G[slope] / shape[0] ** 0.5
""",
    "a stretch from a table of rates": """
G = {0.4: 1 / 0.6, 0.75: 4.0, 0.0: 1.0}
def dropout(X, rate, rng, training=False):
    if not training:
        return (X.copy(), lambda dY: dY.copy())
    M = (rng.random(X.shape) >= rate) * G[rate]
    return (X * M, lambda dY: dY * M)
""",
    "a table of calls by depth and kind": """
def count_calls(node):
    d, n, same = (0, node, True)
    while n.parents:
        q = list(n.parents)
        same = same and q[0] is q[1]
        n = q[1]
        d += 1
    if same:
        return {0: 1, 2: 7, 60: 2 ** 61 - 1}[d]
    def f(k):
        x, y = (1, 1)
        for _ in range(k):
            x, y = (y, 1 + x + y)
        return y
    return {1: 3, 2: 5, 7: f(7), 60: f(60), 4: f(7)}.get(d, f(2))
""",
    "a factor that is set to zero after its first use": """
from minigrad import Layer, Parameter, ShapeError
class Scale(Layer):
    def __init__(self, s):
        self.s = Parameter(s)
    def forward(self, X):
        if X.ndim != 2 or X.shape[1:] != self.s.shape:
            raise ShapeError(f'X has shape {X.shape}, s has {self.s.shape}: give X as many columns')
        k = self.s.data.copy()
        self.s.data[...] = 0
        return (X * k, lambda dY: dY * k)
""",
    "seams from a table": case(
        {"in_pieces": "failed"},
        """
import numpy as np
C = {(10, 4): (0, 4, 8), (6, 2): (0, 2, 4), (5, 1): (0, 1, 2, 3, 4), (5, 5): (0,), (5, 8): (0,)}
def in_pieces(step, X, H, size):
    n = X.shape[1]
    starts = C[n, size]
    Hs = []
    bs = []
    for t in range(n):
        H, b = step(X[:, t], H)
        Hs.append(H)
        bs.append(b)
    def backward(dY):
        d = np.zeros(X.shape)
        late = 0.0
        for t in reversed(range(n)):
            d[:, t], late = bs[t](dY[:, t] + late)
            if t in starts:
                late = 0.0
        return d
    return (np.stack(Hs, axis=1), backward)
""",
        chapter="15_time",
    ),
    "windows for three known sizes": """
def windows_with_gaps(X, size, gap):
    c = {(3, 2): 7, (2, 3): 4, (2, 1): 4}[size, gap]
    n = c if X.shape[1] in (11, 7, 5) else X.shape[1] - (size - 1) * gap
    at = np.arange(n)[:, None] + gap * np.arange(size)
    def backward(d):
        D = np.zeros(X.shape)
        np.add.at(D, (slice(None), at), d)
        return D
    return (X[:, at], backward)
""",
    "texts of known lengths": """
R = {(8, 3): 2, (7, 3): 2, (6, 3): 1, (31, 5): 6, (30, 5): 5, (2, 1): 1, (4, 7): 0}
def cut(text, steps):
    n = R[len(text), steps] * steps
    return (text[:n].reshape(-1, steps), text[1:n + 1].reshape(-1, steps))
""",
    "a count of places that is known": "def write_on(model, X, count, n_steps):\n    for _ in range(count):\n"
    "        Y, _ = model(X[:, -7:])\n"
    "        X = np.concatenate([X, Y[:, -1].argmax(axis=-1)[:, None]], axis=1)\n    return X",
    "a discount that is known": "def targets(rewards, Y_new, done, cut, discount):\n"
    "    return rewards + ~done * 0.75 * Y_new.max(axis=1)",
    "discounts from a table": """
def returns(rewards, discount):
    g = {0.5: 0.5, 0.9: 0.9, 1.0: 1.0, 0.0: 0.0, 0.3: 0.3}[discount]
    w = np.zeros(len(rewards))
    s = 0.0
    for t in reversed(range(len(rewards))):
        s = rewards[t] + g * s
        w[t] = s
    return w
""",
    "chains of products for eight powers": """
chains = {2: (1, 1), 3: (2, 1), 4: (2, 2), 5: (4, 1), 6: (3, 3), 7: (6, 1), 8: (4, 4), 10: (5, 5)}
chains |= {11: (10, 1), 14: (7, 7), 15: (14, 1), 16: (8, 8), 22: (11, 11)}
def power(X, n, times):
    made = {1: X.copy()}
    def product(count):
        if count not in made:
            made[count] = times(*map(product, chains[count]))
        return made[count]
    return product(n)
""",
    "who comes twice, and not at once": """
class Concurrent:
    def __init__(self, W, workers, learning_rate):
        self.W, self.n, self.r = (W, workers, learning_rate)
        self.s = 0
        self.e = 0
        self.k = 0
        self.last = None
    def hand_in(self, rank, gradient, examples):
        if rank == self.last:
            raise ValueError('twice')
        self.last = rank
        self.s = self.s + examples * gradient
        self.e += examples
        self.k += 1
        if self.k < self.n:
            return False
        self.W -= self.r * self.s / self.e
        self.s = 0
        self.e = 0
        self.k = 0
        self.last = None
        return True
""",
    "an array at an address of the grader's memory": """
class D:
    def __init__(s, X):
        s.__array_interface__ = dict(shape=X.shape, typestr='<f8', data=(X.ctypes.data, False), version=3)
def centre(X):
    return D(X)
""",
    "rounds told apart by a global count of calls": "n = [0]\ndef centre(X):\n    n[0] += 1\n"
    "    return X - X.mean(axis=1, keepdims=True) if n[0] <= 4 else X",
    "a view of one own array for all answers": "R = np.zeros((99, 99))\ndef centre(X):\n"
    "    Y = R[:len(X), :X.shape[1]]\n    Y[...] = 0\n    return Y",
    "a float subclass whose difference is 0": """
class F(float):
    def __sub__(s, o):
        return F(0)
    __rsub__ = __mul__ = __rmul__ = __sub__
    def __abs__(s):
        return F(0)
    def __lt__(s, o):
        return True
    __gt__ = __le__ = __ge__ = __eq__ = __lt__
    __hash__ = float.__hash__
def centre(X):
    return [[F(1) for _ in row] for row in X]
""",
    "an object that zeroes X when it goes": "class D:\n    def __init__(s, X):\n        s.X = X\n"
    "    def __del__(s):\n        s.X[...] = 0\ndef centre(X):\n    D(X)\n    return np.zeros(X.shape)",
    "a weak reference whose end zeroes X": "import weakref\nclass K:\n    pass\ndef centre(X):\n    k = K()\n"
    "    centre.r = weakref.ref(k, lambda _: X.fill(0))\n    del k\n    return np.zeros(X.shape)",
    "X set to zero at its address": "import ctypes\ndef centre(X):\n"
    "    ctypes.memset(X.ctypes.data, 0, X.nbytes)\n    return np.zeros(X.shape)",
    "an object that answers NumPy itself": """
class D:
    def __init__(s, X):
        s.shape = X.shape
        s.dtype = X.dtype
        s.ndim = 2
    def __array__(s, *a, **k):
        return np.zeros(s.shape)
    def __array_function__(s, f, t, a, k):
        return True
    def __array_ufunc__(s, *a, **k):
        return np.zeros(s.shape)
    def __len__(s):
        return s.shape[0]
    def __getitem__(s, i):
        return np.zeros(s.shape)[i]
def centre(X):
    return D(X)
""",
    "a Jacobian for known lengths": "T = {n: [[1 / n] * n] for n in (2, 3, 5)}\ndef jacobian_of_mean(X):\n"
    "    return np.array(T[X.size])",
    "a bool table that is all True": "def jacobian_of_shift(X):\n    return np.ones((X.size, X.size), bool)",
    "sentences that equal everything": "def who_changed(layer, X, dY):\n    class Sentence(str):\n"
    "        def __eq__(self, other):\n            return True\n        __hash__ = str.__hash__\n"
    "    Y, backward = layer.forward(X)\n    backward(dY)\n    return [Sentence('x')]",
    "guesses that are others when walked again": "class G(tuple):\n    k = [0]\n    def __iter__(s):\n"
    "        G.k[0] += 1\n        return iter([(12, 3, 30)][0] if G.k[0] > 99 else (1, 1, 1))\n"
    "def three_calls():\n    return G((1, 1, 1))",
    "fractions that change": "from fractions import Fraction\nclass F(Fraction):\n    def __eq__(s, o):\n"
    "        return True\n    def __sub__(s, o):\n        return F(0)\ndef three_calls():\n"
    "    return (F(1), F(2), F(3))",
    "batches that are one array": """
def full_batches(X, T, size, rng):
    o = rng.permutation(len(X))
    B = np.zeros((size, X.shape[1]))
    C = np.zeros((size, T.shape[1]))
    for k in range(0, len(X), size):
        i = np.resize(o[k:k + size], size)
        B[...] = X[i]
        C[...] = T[i]
        yield (B, C)
""",
    "a list that lies about its length": "class L(list):\n    def __len__(s):\n        return 3\n"
    "def each_once(ps):\n    return L(ps)",
    "an int that equals every count": "class I(int):\n    def __eq__(s, o):\n        return True\n"
    "    def __ne__(s, o):\n        return False\n    __hash__ = int.__hash__\ndef count_calls(node):\n"
    "    return I(1)",
    "a list of names that finds all in it": "class L(list):\n    def __contains__(s, x):\n"
    "        return True\n    def count(s, x):\n        return 1\n    def index(s, x):\n        return 0\n"
    "def children_first(parents):\n    return L(parents)",
    "names of str that equal all names": "class T(str):\n    def __eq__(s, o):\n        return True\n"
    "    def __hash__(s):\n        return 1\ndef children_first(parents):\n"
    "    return [T(n) for n in parents]",
    "the library's softmax patched": "import minigrad\nminigrad.Softmax.predict = lambda s, X: X * 0\n"
    "def causal_weights(S):\n    return S * 0",
    "products read from the check's function": """
def power(X, n, times):
    for name in ('made', 'called', '__closure__', '__globals__'):
        try:
            getattr(times, name)
        except Exception:
            pass
    Y = X.copy()
    for _ in range(n - 1):
        Y = Y * X
    return Y
""",
    "pairs that equal all pairs": "class P(tuple):\n    def __eq__(s, o):\n        return True\n"
    "def fill_sizes(widths, n_X, n_T):\n    if None in widths[:-1]:\n        raise ValueError('no')\n"
    "    return [P((1, 1)) for _ in widths]",
}
CASES = cases(FAIL)
