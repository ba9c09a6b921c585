"""Submissions that have memorized a check's cases, or return objects that lie; each earns nothing."""

from tests.classroom.hostile.submission import case

CASES = {
    "a table of three famous curves": case(
        "01_slope",
        {"curvature": "failed"},
        """
import numpy as np
import math

def curvature(f, x):
    y = f(x)
    if abs(y - x ** 3) < 1e-12:
        return 6 * x
    if abs(y - math.exp(x)) < 1e-12:
        return y
    return -math.sin(x)
""",
    ),
    "complex numbers with a false imaginary part": case(
        "02_jacobian",
        {"jacobian_of_scale": "failed"},
        """
import numpy as np

def jacobian_of_scale(X, A):
    return np.diag(A) + 1j
""",
    ),
    "a way back whose second call is seen by its sum alone": case(
        "04_closures",
        {"scale": "failed"},
        """
import numpy as np

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
    ),
    "lengths that are near one of a table": case(
        "09_optimizers",
        {"clip_length": "failed"},
        """
import numpy as np

def clip_length(ps, longest):
    grads = np.concatenate([p.grad.ravel() for p in ps])
    rough = 1.25 * np.abs(grads).mean() * grads.size**0.5
    table = [0.5, 2.0, 3.0, 7.0, 300.0, 0.0]
    n = min(table, key=lambda t: abs(np.log((t + 1e-09) / (rough + 1e-09))))
    f = min(1, longest / n) if n else 1
    for p in ps:
        p.grad *= f
""",
    ),
    "gains from a table of slopes": case(
        "10_start_well",
        {"leaky_start": "failed"},
        """
import numpy as np
G = {0.0: 2 ** 0.5, 1.0: 1.0, 0.5: 1.6 ** 0.5, 0.3: (2 / 1.09) ** 0.5, 0.2: (2 / 1.04) ** 0.5}

def leaky_start(shape, rng, slope):
    return rng.normal(size=shape) * G[slope] / shape[0] ** 0.5
""",
    ),
    "a stretch from a table of rates": case(
        "10_start_well",
        {"dropout": "failed"},
        """
import numpy as np
G = {0.4: 1 / 0.6, 0.75: 4.0, 0.0: 1.0}

def dropout(X, rate, rng, training=False):
    if not training:
        return (X.copy(), lambda dY: dY.copy())
    M = (rng.random(X.shape) >= rate) * G[rate]
    return (X * M, lambda dY: dY * M)
""",
    ),
    "a table of calls by depth and kind": case(
        "11_graphs",
        {"count_calls": "failed"},
        """
import numpy as np

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
    ),
    "a factor that is set to zero after its first use": case(
        "12_shapes",
        {"Scale": "failed"},
        """
import numpy as np
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
    ),
    "seams from a table": case(
        "15_time",
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
    ),
    "windows for three known sizes": case(
        "14_seeing",
        {"windows_with_gaps": "failed"},
        """
import numpy as np

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
    ),
    "texts of known lengths": case(
        "17_gpt",
        {"cut": "failed"},
        """
import numpy as np
R = {(8, 3): 2, (7, 3): 2, (6, 3): 1, (31, 5): 6, (30, 5): 5, (2, 1): 1, (4, 7): 0}

def cut(text, steps):
    n = R[len(text), steps] * steps
    return (text[:n].reshape(-1, steps), text[1:n + 1].reshape(-1, steps))
""",
    ),
    "a count of places that is known": case(
        "17_gpt",
        {"write_on": "failed"},
        """
import numpy as np

def write_on(model, X, count, n_steps):
    for _ in range(count):
        Y, _ = model(X[:, -7:])
        X = np.concatenate([X, Y[:, -1].argmax(axis=-1)[:, None]], axis=1)
    return X
""",
    ),
    "a discount that is known": case(
        "18_acting",
        {"targets": "failed"},
        """
import numpy as np

def targets(rewards, Y_new, done, cut, discount):
    return rewards + ~done * 0.75 * Y_new.max(axis=1)
""",
    ),
    "discounts from a table": case(
        "18_acting",
        {"returns": "failed"},
        """
import numpy as np

def returns(rewards, discount):
    g = {0.5: 0.5, 0.9: 0.9, 1.0: 1.0, 0.0: 0.0, 0.3: 0.3}[discount]
    w = np.zeros(len(rewards))
    s = 0.0
    for t in reversed(range(len(rewards))):
        s = rewards[t] + g * s
        w[t] = s
    return w
""",
    ),
    "chains of products for eight powers": case(
        "20_speed",
        {"power": "failed"},
        """
import numpy as np

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
    ),
    "who comes twice, and not at once": case(
        "22_workers",
        {"Concurrent": "failed"},
        """
import numpy as np

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
    ),
    "an array at an address of the grader's memory": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np

class D:

    def __init__(s, X):
        s.__array_interface__ = dict(shape=X.shape, typestr='<f8', data=(X.ctypes.data, False), version=3)

def centre(X):
    return D(X)
""",
    ),
    "rounds told apart by a global count of calls": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np
n = [0]

def centre(X):
    n[0] += 1
    return X - X.mean(axis=1, keepdims=True) if n[0] <= 4 else X
""",
    ),
    "a view of one own array for all answers": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np
R = np.zeros((99, 99))

def centre(X):
    Y = R[:len(X), :X.shape[1]]
    Y[...] = 0
    return Y
""",
    ),
    "a float subclass whose difference is 0": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np

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
    ),
    "an object that zeroes X when it goes": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np

class D:

    def __init__(s, X):
        s.X = X

    def __del__(s):
        s.X[...] = 0

def centre(X):
    D(X)
    return np.zeros(X.shape)
""",
    ),
    "a weak reference whose end zeroes X": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np
import weakref

class K:
    pass

def centre(X):
    k = K()
    centre.r = weakref.ref(k, lambda _: X.fill(0))
    del k
    return np.zeros(X.shape)
""",
    ),
    "X set to zero at its address": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np
import ctypes

def centre(X):
    ctypes.memset(X.ctypes.data, 0, X.nbytes)
    return np.zeros(X.shape)
""",
    ),
    "an object that answers NumPy itself": case(
        "00_start",
        {"centre": "failed"},
        """
import numpy as np

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
    ),
    "a Jacobian for known lengths": case(
        "02_jacobian",
        {"jacobian_of_mean": "failed"},
        """
import numpy as np
T = {n: [[1 / n] * n] for n in (2, 3, 5)}

def jacobian_of_mean(X):
    return np.array(T[X.size])
""",
    ),
    "a bool table that is all True": case(
        "02_jacobian",
        {"jacobian_of_shift": "failed"},
        """
import numpy as np

def jacobian_of_shift(X):
    return np.ones((X.size, X.size), bool)
""",
    ),
    "sentences that equal everything": case(
        "03_gradcheck",
        {"who_changed": "failed"},
        """
def who_changed(layer, X, dY):

    class Sentence(str):

        def __eq__(self, other):
            return True
        __hash__ = str.__hash__
    Y, backward = layer.forward(X)
    backward(dY)
    return [Sentence('x')]
""",
    ),
    "guesses that are others when walked again": case(
        "04_closures",
        {"three_calls": "failed"},
        """
import numpy as np

class G(tuple):
    k = [0]

    def __iter__(s):
        G.k[0] += 1
        return iter([(12, 3, 30)][0] if G.k[0] > 99 else (1, 1, 1))

def three_calls():
    return G((1, 1, 1))
""",
    ),
    "fractions that change": case(
        "04_closures",
        {"three_calls": "failed"},
        """
import numpy as np
from fractions import Fraction

class F(Fraction):

    def __eq__(s, o):
        return True

    def __sub__(s, o):
        return F(0)

def three_calls():
    return (F(1), F(2), F(3))
""",
    ),
    "batches that are one array": case(
        "07_learning",
        {"full_batches": "failed"},
        """
import numpy as np

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
    ),
    "a list that lies about its length": case(
        "09_optimizers",
        {"each_once": "failed"},
        """
import numpy as np

class L(list):

    def __len__(s):
        return 3

def each_once(ps):
    return L(ps)
""",
    ),
    "an int that equals every count": case(
        "11_graphs",
        {"count_calls": "failed"},
        """
import numpy as np

class I(int):

    def __eq__(s, o):
        return True

    def __ne__(s, o):
        return False
    __hash__ = int.__hash__

def count_calls(node):
    return I(1)
""",
    ),
    "a list of names that finds all in it": case(
        "11_graphs",
        {"children_first": "failed"},
        """
import numpy as np

class L(list):

    def __contains__(s, x):
        return True

    def count(s, x):
        return 1

    def index(s, x):
        return 0

def children_first(parents):
    return L(parents)
""",
    ),
    "names of str that equal all names": case(
        "11_graphs",
        {"children_first": "failed"},
        """
import numpy as np

class T(str):

    def __eq__(s, o):
        return True

    def __hash__(s):
        return 1

def children_first(parents):
    return [T(n) for n in parents]
""",
    ),
    "the library's softmax patched": case(
        "16_attention",
        {"causal_weights": "failed"},
        """
import numpy as np
import minigrad
minigrad.Softmax.predict = lambda s, X: X * 0

def causal_weights(S):
    return S * 0
""",
    ),
    "products read from the check's function": case(
        "20_speed",
        {"power": "failed"},
        """
import numpy as np

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
    ),
    "pairs that equal all pairs": case(
        "12_shapes",
        {"fill_sizes": "failed"},
        """
import numpy as np

class P(tuple):

    def __eq__(s, o):
        return True

def fill_sizes(widths, n_X, n_T):
    if None in widths[:-1]:
        raise ValueError('no')
    return [P((1, 1)) for _ in widths]
""",
    ),
}
