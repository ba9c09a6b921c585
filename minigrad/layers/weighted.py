"""What layers with weights share: sizes that may be open, and one place where weights are drawn.

Leaves out which sizes, and which weights: each layer says that. Built in chapter 12.
"""

import numpy as np

from minigrad.backend import like
from minigrad.layer import Layer
from minigrad.parameter import Parameter
from minigrad.parts import is_array_holder
from minigrad.settings import as_generator, require_function, require_integer
from minigrad.shapes import ShapeError, arrays_of, require_array, shape_of


class Weighted(Layer):
    """A layer whose Parameters are made as soon as its sizes are known, and something to draw them from.

    Parameters
    ----------
    rng : int or numpy.random.Generator, optional
        Where the weights are drawn from; without it they are drawn by `initialize`.

    Raises
    ------
    TypeError, ValueError
        If a size is not an integer of at least 1.

    Notes
    -----
    A subclass names its `sizes` and `weights`, sets the sizes that it is given (None where they are open),
    and then calls this class. It writes `take_sizes(X, Y)` where a sample knows sizes, and
    `draw(rng)` where W is not all.

    References
    ----------
    Chapter 12.
    """

    has_width = True
    asks_targets = False  # True where `take_sizes` is content with Y alone
    needs_rng = True
    sizes = ("n_in", "n_out")
    weights = ("W", "b")
    is_stale = False

    def __init__(self, rng=None):
        for name in self.sizes:
            if getattr(self, name) is not None:
                require_integer(f"{name} of {type(self).__name__}", getattr(self, name))
        for name in {"init", "init_U"} & vars(self).keys():
            require_function(f"{name} of {type(self).__name__}", getattr(self, name), "(shape, rng) -> array")
        if rng is not None:
            as_generator(rng)  # a layer that is still open draws later, but a wrong seed is said now
        self.rng, self.has_own_rng = rng, rng is not None
        self._make(rng, np.empty(0))

    def take_sizes(self, X, Y):
        """Take missing sizes from samples of X, and of the targets, Y, where these are asked; or None."""

    def draw(self, rng):
        """Return a dict of weights by name, arrays of float64: here W alone, whose shape are the sizes."""
        return {"W": self.drawn_by(self.init, tuple(getattr(self, name) for name in self.sizes), rng)}

    def drawn_by(self, init, shape, rng):
        """Return what an init draws, refusing another shape than the one it was asked for."""
        array = init(shape, rng)
        if shape_of(array) != shape:
            raise ShapeError(f"{self}: init must return an array of shape {shape}, got {shape_of(array)}.")
        return array

    @property
    def is_drawn(self):
        """True once there are weights."""
        return self.weights[0] in vars(self)

    def forget(self):
        """Let the next `open` draw anew, unless the layer was given an rng of its own."""
        self.is_stale = self.is_drawn and not self.has_own_rng

    def open(self, X, Y, rng):
        """Take missing sizes from the samples and draw the weights, unless that has been done."""
        if not self.is_drawn and (X is not None or self.asks_targets):
            if Y is not None:
                require_array("initialize takes sizes from Y, and", Y)
            self.take_sizes(X, Y)
        if not self.is_drawn or self.is_stale:
            sample = np.empty(0) if X is None else arrays_of(X)[0]  # X may come with its lengths
            self._make(self.rng if self.has_own_rng else rng, sample)

    def _make(self, rng, X):
        """Make the Parameters, like X, once all sizes are known; new numbers go into the same arrays."""
        if any(getattr(self, name) is None for name in self.sizes) or (rng is None and self.needs_rng):
            return
        drawn = self.draw(None if rng is None else as_generator(rng))
        for name, array in drawn.items():
            if array is not None and self.is_stale:
                getattr(self, name).data[...] = like(array, getattr(self, name).data)
            else:
                setattr(self, name, None if array is None else Parameter(like(array, X)))
        self.rng, self.is_stale = None, False  # it has done its work, and is no state of the layer

    def missing(self):
        """Return the error that says which size, or that the weights are missing; None if nothing is."""
        if self.is_drawn:
            return None
        unknown = [name for name in self.sizes if getattr(self, name) is None]
        if "n_out" in unknown:
            kind = type(self).__name__
            advice = f"write {kind}(n_out=...); the last layer takes it from the targets, initialize(X, Y)"
            return ShapeError(f"{self} does not know its number of outputs: {advice}.")
        if unknown:
            advice = "write it, or call model.initialize(X)"
            return ShapeError(f"{self} does not know its {unknown[0]}: {advice}.")
        return ValueError(f"{self} has no weights: give it rng=0, or call model.initialize(X, rng=0).")

    def __setattr__(self, name, value):
        """Refuse to exchange a weight for something else, or for one of another shape."""
        if name in self.sizes and self.is_drawn and value != getattr(self, name, value):
            raise ShapeError(f"{self}: {name} is that of its weights: make another layer.")
        before = vars(self).get(name) if name in self.weights else None
        if before is not None and value is not None:
            if not is_array_holder(value):
                raise TypeError(f"{self}: {name} is a Parameter: write layer.{name}.data[...] = array.")
            if value.data.shape != before.data.shape:
                came = f"got {value.data.shape}"
                raise ShapeError(f"{self}: {name} has shape {before.data.shape}, {came}: keep the sizes.")
        super().__setattr__(name, value)

    def __getattr__(self, name):  # asked for what is missing alone
        if name in type(self).weights:
            raise AttributeError(f"{self.missing()} Only then is there a {name}.")
        return super().__getattr__(name)

    def __repr__(self):
        sizes = ("?" if getattr(self, name) is None else str(getattr(self, name)) for name in self.sizes)
        return f"{type(self).__name__}({', '.join(sizes)})"
