"""Automatic differentiation on a graph: every value is a node that stores its parents.

Computing with nodes builds a graph, and `back()` on any node traverses it from the newest node to the
oldest. Holds Variable, its operators, each with its derivative beside it, and GraphLayer, which turns a
function of nodes into a Layer. No other file of the library uses this one, and `minigrad` does not export
it. Only the usual operators are here; a new one is a subclass of Variable. Built in chapter 11.
"""

from itertools import count

import numpy as np

from minigrad.layer import Layer
from minigrad.losses import cross_entropy
from minigrad.parameter import Parameter
from minigrad.shapes import arrays_of

_births = count()


class Variable(Parameter):
    """A node of a graph: a Parameter that stores its parents, with operators.

    Parameters
    ----------
    data : array or nested list
        The value, of any number of axes. A copy is kept; float32 stays float32, integers become float64.
    *parents : Variable
        Given by operators, which are subclasses; a variable created directly has none.

    Attributes
    ----------
    data : array
        The value of the node.
    g : array of data's shape
        Another name of `grad`; the rest of the course calls it dY: the slope of the final result, summed,
        along this data. Those created directly accumulate gradients until `zero_grad`, as every
        Parameter does; operators start from zero in each `back`.
    trainable : bool
        True for a variable created directly, False for an operator: optimizers skip it.
    parents : tuple of Variable
    number : int
        The order of creation: a node has a larger number than its parents.

    Notes
    -----
    Nodes can be added, subtracted, multiplied, divided, raised to powers and multiplied as matrices, `@`,
    with each other, and with numbers and arrays on either side.
    As in NumPy, shapes are broadcast; in the backward pass, the gradients of the copies add up.
    Use data in a formula as plain arrays, and pass optimizers only the weights, in a list: a
    Variable that holds data is trainable like any other. A GraphLayer finds the weights for a Learner.

    References
    ----------
    NNKit. Chapter 11.

    Examples
    --------
    >>> a = Variable(3.0)
    >>> b = a * a + 1.0
    >>> (b + b).back()
    >>> b.item(), a.g
    (10.0, array(12.))
    """

    __slots__ = ("number", "parents")
    __array_ufunc__ = None  # NumPy leaves `array @ node` to the node

    def __array_function__(self, function, types, args, kwargs):
        """Raise TypeError for NumPy's functions, which would return an array of nodes."""
        name = function.__name__
        raise TypeError(f"np.{name} takes arrays, not nodes: write A @ B, exp(A) or A.sum(), or pass A.data.")

    def __init__(self, data, *parents):
        super().__init__(data, trainable=not parents)
        self.number, self.parents = next(_births), parents

    g = Parameter.grad

    def graph(self):
        """Return this node and all its ancestors, each once, the newest first."""
        found, waiting = set(), [self]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += node.parents
        return sorted(found, key=lambda node: node.number, reverse=True)

    def back(self, g=1.0):
        """Set the gradient of this node, and add to the gradients of all its ancestors.

        Parameters
        ----------
        g : number, or array of data's shape
            The initial gradient: 1, unless something comes after this node.

        Notes
        -----
        A node is newer than its parents, so newest first is a topological order: the gradient of a node is
        complete before it is passed to its parents.
        """
        nodes = self.graph()
        for node in nodes:
            if node.parents:
                node.g = np.zeros_like(node.data)
        self.g += g
        for node in nodes:
            if node.parents:
                node._back()  # adds to the gradients of its parents

    def item(self):
        """Return the value of a node with a single entry, as a Python number."""
        return self.data.item()

    def __float__(self):
        return float(self.item())

    def sum(self, axis=None, keepdims=False):
        """Return the sum over one axis, several or all."""
        return Sum(self, axis, keepdims)

    def mean(self, axis=None, keepdims=False):
        """Return the mean over one axis, several or all."""
        total = self.sum(axis, keepdims)
        return total * (total.data.size / self.data.size)

    def __add__(self, other):
        return Add(self, other)

    def __radd__(self, other):
        return Add(other, self)

    def __sub__(self, other):
        _, other = as_nodes(self, other)
        return self + -other

    def __rsub__(self, other):
        return Add(other, -self)

    def __mul__(self, other):
        return Times(self, other)

    def __rmul__(self, other):
        return Times(other, self)

    def __truediv__(self, other):
        _, other = as_nodes(self, other)
        return self * other**-1

    def __rtruediv__(self, other):
        return Times(other, self**-1)

    def __matmul__(self, other):
        return Multiply(self, other)

    def __rmatmul__(self, other):
        return Multiply(other, self)

    def __pow__(self, exponent):
        return Power(self, exponent)

    def __neg__(self):
        return Times(self, -1.0)


# Shared by all operators ---------------------------------------------------------------------------


def as_nodes(*things):
    """Return nodes as they are, and numbers and arrays as new nodes; a number gets the type of the others.

    Examples
    --------
    >>> as_nodes(2.0, Variable(np.zeros((5, 3), np.float32)))[0].data.dtype
    dtype('float32')
    """
    arrays = [thing.data for thing in things if isinstance(thing, Variable)]
    return [thing if isinstance(thing, Variable) else _as_node(thing, arrays) for thing in things]


def _as_node(thing, arrays):
    """Return a number or an array as a node; a number in the type, and on the device, of the arrays."""
    if arrays and isinstance(thing, (int, float, np.number)):
        thing = np.full_like(arrays[0], thing, shape=())
    node = Variable(thing)
    node.trainable = False  # data, not a weight
    return node


def unbroadcast(g, shape):
    """Sum a gradient to the shape of a parent that NumPy has broadcast.

    Parameters
    ----------
    g : array
        The gradient, in the shape after broadcasting.
    shape : tuple
        The shape of the parent.

    Returns
    -------
    array of this shape

    Examples
    --------
    >>> unbroadcast(np.ones((5, 3)), (1, 3))
    array([[5., 5., 5.]])
    """
    if g.shape == shape:
        return g
    new = g.ndim - len(shape)  # axes in front of the parent's own
    stretched = [new + axis for axis, size in enumerate(shape) if size == 1]
    return g.sum(axis=(*range(new), *stretched)).reshape(shape)


# Sums and products ---------------------------------------------------------------------------------------


class Add(Variable):
    """The sum of two nodes, entry by entry: x + b.

    Parameters
    ----------
    x, b : Variable
        Of shapes that NumPy broadcasts: a row b is added to every row of x.

    Notes
    -----
    data = x + b.
    x.g += g; b.g += g, both added up over what was repeated.

    Examples
    --------
    >>> x, b = Variable([[1.0], [2.0]]), Variable([10.0])
    >>> (x + b).back()
    >>> x.g.T, b.g
    (array([[1., 1.]]), array([2.]))
    """

    def __init__(self, x, b):
        x, b = as_nodes(x, b)
        super().__init__(x.data + b.data, x, b)

    def _back(self):
        x, b = self.parents
        x.g += unbroadcast(self.g, x.shape)
        b.g += unbroadcast(self.g, b.shape)


class Times(Variable):
    """The product of two nodes, entry by entry: x * w.

    Parameters
    ----------
    x, w : Variable
        Of shapes that NumPy broadcasts.

    Notes
    -----
    data = x w.
    x.g += g w; w.g += g x, both added up over what was repeated.

    Examples
    --------
    >>> x, w = Variable([3.0, 5.0]), Variable(2.0)
    >>> (x * w).back()
    >>> x.g, w.g
    (array([2., 2.]), array(8.))
    """

    def __init__(self, x, w):
        x, w = as_nodes(x, w)
        super().__init__(x.data * w.data, x, w)

    def _back(self):
        x, w = self.parents
        x.g += unbroadcast(self.g * w.data, x.shape)
        w.g += unbroadcast(self.g * x.data, w.shape)


class Multiply(Variable):
    """The product of rows and weights: x @ w.

    Parameters
    ----------
    x : Variable (..., batch, n_in), or (n_in,)
        One example, without a batch axis, is treated as one row in the product.
    w : Variable (..., n_in, n_out), or (n_in,)
        One column of weights may be one-dimensional.

    Notes
    -----
    data = x w.
    x.g += g wᵀ; w.g += xᵀ g, both added up over what was repeated.

    Examples
    --------
    >>> x, w = Variable([1.0, 2.0]), Variable([[3.0], [5.0]])
    >>> y = x @ w
    >>> y.back()
    >>> y.data, x.g, w.g.T
    (array([13.]), array([3., 5.]), array([[1., 2.]]))
    """

    def __init__(self, x, w):
        x, w = as_nodes(x, w)
        super().__init__(x.data @ w.data, x, w)

    def _back(self):
        x, w = self.parents
        rows, columns, g = x.data, w.data, self.g
        if w.data.ndim == 1:
            columns, g = columns[:, None], g[..., None]
        if x.data.ndim == 1:
            rows, g = rows[None, :], g[..., None, :]
        x.g += unbroadcast(g @ columns.swapaxes(-1, -2), rows.shape).reshape(x.shape)
        w.g += unbroadcast(rows.swapaxes(-1, -2) @ g, columns.shape).reshape(w.shape)


class Sum(Variable):
    """The sum over one axis, several or all: x.sum(axis, keepdims).

    Parameters
    ----------
    x : Variable
    axis : int, tuple of int, or None for all
    keepdims : bool
        Keep the axes that are added up, with length 1.

    Notes
    -----
    data = Σ x.
    x.g += g, repeated along the axes that were added up.

    Examples
    --------
    >>> x = Variable([[1.0, 2.0], [3.0, 5.0]])
    >>> y = x.sum(axis=1)
    >>> y.back(np.array([10.0, 20.0]))
    >>> y.data, x.g
    (array([3., 8.]), array([[10., 10.],
           [20., 20.]]))
    """

    def __init__(self, x, axis=None, keepdims=False):
        total = x.data.sum(axis=axis, keepdims=True)
        self.kept = total.shape
        super().__init__(total if keepdims else total.squeeze(axis), x)

    def _back(self):
        (x,) = self.parents
        x.g += self.g.reshape(self.kept)


# Entry by entry ------------------------------------------------------------------------------------------


class Power(Variable):
    """A power of each entry: x ** exponent.

    Parameters
    ----------
    x : Variable
    exponent : number
        For an exponent that is itself a node, write Exp(exponent * Log(x)).

    Notes
    -----
    data = x ** n.
    x.g += g n x ** (n - 1).

    Examples
    --------
    >>> x = Variable([3.0, 5.0])
    >>> (x**2).back()
    >>> x.g
    array([ 6., 10.])
    """

    def __init__(self, x, exponent):
        self.exponent = exponent
        super().__init__(x.data**exponent, x)

    def _back(self):
        (x,) = self.parents
        if self.exponent:  # careful: of x ** 0 the slope is 0, also where x is 0
            x.g += self.g * self.exponent * x.data ** (self.exponent - 1)


class Exp(Variable):
    """The exponential of each entry.

    Parameters
    ----------
    x : Variable

    Notes
    -----
    data = exp(x).
    x.g += g data.

    Examples
    --------
    >>> x = Variable([0.0, 1.0])
    >>> Exp(x).back()
    >>> x.g.round(3)
    array([1.   , 2.718])
    """

    def __init__(self, x):
        (x,) = as_nodes(x)
        super().__init__(np.exp(x.data), x)

    def _back(self):
        self.parents[0].g += self.g * self.data


class Log(Variable):
    """The natural logarithm of each entry.

    Parameters
    ----------
    x : Variable
        Positive.

    Notes
    -----
    data = log(x).
    x.g += g / x.

    Examples
    --------
    >>> x = Variable([1.0, 4.0])
    >>> Log(x).back()
    >>> x.g
    array([1.  , 0.25])
    """

    def __init__(self, x):
        (x,) = as_nodes(x)
        super().__init__(np.log(x.data), x)

    def _back(self):
        self.parents[0].g += self.g / self.parents[0].data


class ReLU(Variable):
    """Set negative entries to 0: one operation for a whole layer.

    Parameters
    ----------
    x : Variable

    Notes
    -----
    data = max(x, 0).
    x.g += g where x > 0.

    Examples
    --------
    >>> x = Variable([-1.0, 2.0])
    >>> ReLU(x).back()
    >>> x.g
    array([0., 1.])
    """

    def __init__(self, x):
        super().__init__(np.maximum(x.data, 0), x)

    def _back(self):
        self.parents[0].g += self.g * (self.parents[0].data > 0)


# Rows of scores ------------------------------------------------------------------------------------------


class Softmax(Variable):
    """Probabilities from scores: positive, with sum 1 along the last axis.

    Parameters
    ----------
    x : Variable (..., n_classes)

    Notes
    -----
    data = exp(x) / Σ exp(x), computed from x minus its maximum.
    x.g += data (g - Σ g data): each probability depends on each score of its row.

    Examples
    --------
    >>> x = Variable([0.0, 0.0])
    >>> P = Softmax(x)
    >>> P.back(np.array([1.0, 0.0]))
    >>> P.data, x.g
    (array([0.5, 0.5]), array([ 0.25, -0.25]))
    """

    def __init__(self, x):
        E = np.exp(x.data - x.data.max(axis=-1, keepdims=True))
        super().__init__(E / E.sum(axis=-1, keepdims=True), x)

    def _back(self):
        self.parents[0].g += self.data * (self.g - (self.g * self.data).sum(axis=-1, keepdims=True))


class CrossEntropy(Variable):
    """Cross-entropy, as a node: minus the log probability of the right class, in nats, averaged over rows.

    Parameters
    ----------
    x : Variable (..., n_classes)
        Scores, before any softmax.
    T : array of integers (...), or of probabilities (..., n_classes)
        The right class of each row, or how probable each class is; a row with a single 1 is a label, too.

    Raises
    ------
    ShapeError
        If T fits neither form, or there are no rows.
    ValueError
        If a label is not one of the classes, or a row does not hold probabilities.

    Notes
    -----
    data = -Σ T log P / rows, with P the softmax of x.
    x.g += g (P - T) / rows.

    Examples
    --------
    >>> x = Variable([[0.0, 0.0]])
    >>> loss = CrossEntropy(x, np.array([1]))
    >>> loss.back()
    >>> x.g
    array([[ 0.5, -0.5]])
    """

    def __init__(self, x, T):
        (x,) = as_nodes(x)
        loss, self.to_scores = cross_entropy(x.data, T)
        super().__init__(loss, x)

    def _back(self):
        self.parents[0].g += self.to_scores(self.g)


# A graph as a layer --------------------------------------------------------------------------------------


class GraphLayer(Layer):
    """A function of nodes as a Layer: each forward pass builds a graph, and `backward` traverses it.

    Parameters
    ----------
    build : function, Variable -> Variable
        With several Variables for a tuple X. Its weights are the Variables in its closure, or wherever else
        a function can hold them in Python; a Variable is a Parameter, so they are found, trained and saved.

    Raises
    ------
    TypeError
        If build does not return a node.

    References
    ----------
    Chapter 11.

    Examples
    --------
    >>> def scaled(W):
    ...     return lambda x: x * W
    >>> layer = GraphLayer(scaled(Variable([2.0, 5.0])))
    >>> Y, backward = layer(np.array([[1.0, 10.0]]))
    >>> Y, backward(np.ones((1, 2))), layer.named_parameters()
    (array([[ 2., 50.]]), array([[2., 5.]]), {'build.W': Variable(2,)})
    """

    def __init__(self, build):
        self.build = build

    def forward(self, X):
        """Return the data of the node that build returns, and a backward function that starts there."""
        inputs = [Variable(part) for part in arrays_of(X)]
        y = self.build(*inputs)
        if not isinstance(y, Variable):
            raise TypeError(f"{self} must return a node, got {type(y).__name__}: compute only with nodes.")

        def backward(dY):
            for x in inputs:
                x.g = np.zeros_like(x.data)  # a new array: the last one was returned
            y.back(dY)
            return tuple(x.g for x in inputs) if isinstance(X, tuple) else inputs[0].g

        return y.data, backward

    def __repr__(self):
        name = getattr(self.build, "__name__", repr(self.build))
        return f"GraphLayer({name})"
