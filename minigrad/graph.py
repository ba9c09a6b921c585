"""The other way to remember: every value is a node that knows what it was made from.

Computing with nodes leaves a graph behind, and `back()` on any node walks it from the youngest node to the
oldest. Holds Variable and the operators of a small classifier. Stands apart: no other file of the library
uses it, and `minigrad` does not export it. Leaves out more operators (they are made by subclassing), arrays
with more than two axes, and optimizers. Built in chapter 11.
"""

from itertools import count

import numpy as np

from minigrad.shapes import ShapeError, shape_of

_births = count()


class Variable:
    """A node: rows of numbers, the gradient that has arrived for them, and the nodes they were made from.

    Parameters
    ----------
    data : array or nested list, at most two axes
        One example becomes a row of shape (1, n_in), and a number becomes (1, 1). A copy is kept, as float64.
    *parents : Variable
        Given by operators, which are subclasses; a variable made by hand has none.

    Attributes
    ----------
    data : array
        The value up to here. Setting it resets `g`.
    g : array of data's shape
        What the rest of the course calls dY: how a node's value, summed, changes with this data. Variables
        add up what arrives until their data is set; operators begin anew in each `back`.
    parents : tuple of Variable
    number : int
        Counts births: a node has a larger number than its parents.

    Raises
    ------
    ShapeError
        If data has more than two axes.

    References
    ----------
    NNKit. Chapter 11.

    Examples
    --------
    >>> a = Variable(3.0)
    >>> b = a + a
    >>> (b + b).back()
    >>> a.g
    array([[4.]])
    """

    def __init__(self, data, *parents):
        self.number, self.parents = next(_births), parents
        self.data = data

    @property
    def data(self):
        """The value; setting it resets the gradient."""
        return self._data

    @data.setter
    def data(self, data):
        self._data = np.array(data, dtype=float, ndmin=2)
        if self._data.ndim > 2:
            raise ShapeError(f"a node holds rows, got shape {self._data.shape}: give an array of two axes.")
        self.g = np.zeros_like(self._data)

    def graph(self):
        """Return this node and all that it was made from, each once, the youngest first."""
        found, waiting = set(), [self]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += node.parents
        return sorted(found, key=lambda node: node.number, reverse=True)

    def back(self, g=1.0):
        """Set this node's gradient, and let every node of its graph pass on what has arrived for it.

        Parameters
        ----------
        g : number, or array of data's shape
            Where to begin: 1, unless something comes after this node.

        Raises
        ------
        ShapeError
            If g has another shape.

        Notes
        -----
        Children are younger than their parents, so youngest first is a topological order: when a node passes
        on its gradient, all of it has arrived.
        """
        if np.ndim(g) and np.shape(g) != self.data.shape:
            raise ShapeError(f"back expects g of data's shape {self.data.shape}, got {np.shape(g)}.")
        graph = self.graph()
        for node in graph:
            if node.parents:
                node.g = np.zeros_like(node.data)
        self.g = np.zeros_like(self.data) + g
        for node in graph:
            node._back()

    def _back(self):
        """Add to the gradients of the parents; a variable has none, and every operator writes its own."""

    def __matmul__(self, w):
        return Multiply(self, w)

    def __add__(self, b):
        return Add(self, b)

    def __repr__(self):
        return f"{type(self).__name__}{self.data.shape}"


class Multiply(Variable):
    """The product of rows and weights: data = x @ w.

    Parameters
    ----------
    x : Variable (batch, n_in)
    w : Variable (n_in, n_out)

    Raises
    ------
    ShapeError
        If x has not a column for each row of w.

    Notes
    -----
    data = x w.
    x.g += g wᵀ; w.g += xᵀ g.

    Examples
    --------
    >>> x, w = Variable([1.0, 2.0]), Variable([[3.0], [5.0]])
    >>> y = x @ w
    >>> y.back()
    >>> y.data, x.g, w.g.T
    (array([[13.]]), array([[3., 5.]]), array([[1., 2.]]))
    """

    def __init__(self, x, w):
        if x.data.shape[1] != w.data.shape[0]:
            shapes = f"got x of shape {x.data.shape} and w of shape {w.data.shape}"
            raise ShapeError(f"Multiply wants a column of x for each row of w, {shapes}.")
        super().__init__(x.data @ w.data, x, w)

    def _back(self):
        x, w = self.parents
        x.g += self.g @ w.data.T  # (batch, n_out) @ (n_out, n_in)
        w.g += x.data.T @ self.g  # (n_in, batch) @ (batch, n_out)


class Add(Variable):
    """A sum: data = x + b, where b has x's shape, or is one row that is added to every row of x.

    Parameters
    ----------
    x : Variable (batch, width)
    b : Variable (batch, width) or (1, width)

    Raises
    ------
    ShapeError
        If b has another shape.

    Notes
    -----
    data = x + b.
    x.g += g; b.g += g, summed over the batch if b is one row.

    Examples
    --------
    >>> x, b = Variable([[1.0], [2.0]]), Variable([[10.0]])
    >>> (x + b).back()
    >>> x.g.T, b.g
    (array([[1., 1.]]), array([[2.]]))
    """

    def __init__(self, x, b):
        if b.data.shape not in (x.data.shape, (1, x.data.shape[1])):
            shapes = f"got x of shape {x.data.shape} and b of shape {b.data.shape}"
            raise ShapeError(f"Add wants b of x's shape, or one row of x's width, {shapes}.")
        super().__init__(x.data + b.data, x, b)

    def _back(self):
        x, b = self.parents
        x.g += self.g
        b.g += self.g if b.g.shape == self.g.shape else self.g.sum(axis=0)


class ReLU(Variable):
    """Keep what is positive: data = max(x, 0). One operation for a whole layer.

    Parameters
    ----------
    x : Variable (batch, width)

    Notes
    -----
    data = max(x, 0).
    x.g += g where x > 0.

    Examples
    --------
    >>> x = Variable([-1.0, 2.0])
    >>> ReLU(x).back()
    >>> x.g
    array([[0., 1.]])
    """

    def __init__(self, x):
        super().__init__(np.maximum(x.data, 0), x)

    def _back(self):
        (x,) = self.parents
        x.g += self.g * (x.data > 0)


class CrossEntropy(Variable):
    """A loss node: minus the logarithm of the right class's probability, in nats, the mean over the rows.

    Parameters
    ----------
    x : Variable (batch, n_classes)
        Scores, before any softmax.
    T : array of integers (batch,)
        The right class of each row.

    Raises
    ------
    ShapeError
        If T has not one label for each row.

    Notes
    -----
    data = -Σ log p[row, T[row]] / batch, with p the softmax of x.
    x.g += g (p - one_hot(T)) / batch.

    Examples
    --------
    >>> x = Variable([0.0, 0.0])
    >>> loss = CrossEntropy(x, np.array([1]))
    >>> loss.back()
    >>> x.g
    array([[ 0.5, -0.5]])
    """

    def __init__(self, x, T):
        if shape_of(T) != (len(x.data),):
            raise ShapeError(f"CrossEntropy wants {len(x.data)} labels, got T of shape {shape_of(T)}.")
        shifted = x.data - x.data.max(axis=1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        self.slopes = np.exp(logs)  # (batch, n_classes)
        self.slopes[np.arange(len(T)), T] -= 1.0
        super().__init__(-logs[np.arange(len(T)), T].mean(), x)

    def _back(self):
        (x,) = self.parents
        x.g += self.g * self.slopes / len(x.data)
