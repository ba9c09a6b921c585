"""The base class of layers with weights: sizes come from a sample, weights from a seed.

Each subclass defines its own sizes and weights. Built in chapter 12.
"""

from minigrad.backend import like
from minigrad.layer import Layer
from minigrad.parts import is_array_holder
from minigrad.settings import as_generator, require_integer
from minigrad.shapes import ShapeError, arrays_of


class Weighted(Layer):
    """A layer that draws its weights as soon as it has all its sizes and a Generator.

    Parameters
    ----------
    rng : int or numpy.random.Generator, optional
        Draws the initial weights; if missing, `initialize` draws them.

    Raises
    ------
    TypeError, ValueError
        If a size is not an integer of at least 1.

    Notes
    -----
    A subclass names its `sizes` and `weights`, sets its sizes (None for those not given), and then calls
    this constructor. It defines `take_sizes(X, Y)`, which fills in sizes from a sample, and `draw(rng)`,
    which creates the Parameters.

    References
    ----------
    Chapter 12.
    """

    has_width = True
    sizes = ("n_in", "n_out")
    weights = ("W", "b")
    shown = {}  # more settings in the repr, and their defaults, which it leaves out

    def __init__(self, rng=None):
        for name in self.sizes:
            if getattr(self, name) is not None:
                require_integer(f"{name} of {type(self).__name__}", getattr(self, name))
        self.rng = None if rng is None else as_generator(rng)
        self.open(None, None, None)

    def take_sizes(self, X, Y):
        """Take missing sizes from a sample of X, and of the targets, Y, or None."""

    def draw(self, rng):
        """Create the Parameters, from the sizes and a Generator."""
        raise NotImplementedError(f"{self} needs a method draw(self, rng) that makes its Parameters.")

    @property
    def is_drawn(self):
        """True if the weights are initialized."""
        return self.weights[0] in vars(self)

    def open(self, X, Y, rng):
        """Take missing sizes from the samples, and draw the weights once all sizes are known."""
        if self.is_drawn:
            return
        if X is not None:
            self.take_sizes(X, Y)
        rng = self.rng or rng
        if rng is None or any(getattr(self, name) is None for name in self.sizes):
            return
        self.draw(rng)
        self.rng = None  # no longer needed
        if X is not None:
            self._match(X)

    def _match(self, X):
        """Convert the weights to the float type of a sample, and move them to its device."""
        sample = arrays_of(X)[0]  # X may be a pair with lengths
        for part in [*self.parameters(), *self.buffers()]:
            part.convert(lambda array: like(array, sample))

    def missing(self):
        """Return the error that names a missing size or missing weights, or None."""
        if self.is_drawn:
            return None
        unknown = [name for name in self.sizes if getattr(self, name) is None]
        if unknown:
            given = "X, Y), where the last layer takes it from Y" if unknown[0] == "n_out" else "X)"
            advice = f"pass it, or call model.initialize({given}"
            return ShapeError(f"{self} has no {unknown[0]} yet: {advice}.")
        return ValueError(f"{self} has no weights: give it rng=0, or call model.initialize(X, rng=0).")

    def __setattr__(self, name, value):
        """Raise an error for a new size after initialization, and for an array instead of a Parameter."""
        if name in self.sizes and self.is_drawn:
            raise ShapeError(f"{self}: {name} cannot change once the weights exist: make another layer.")
        if name in self.weights and value is not None and not is_array_holder(value):
            raise TypeError(f"{self}: {name} must be a Parameter: write layer.{name}.data[...] = array.")
        super().__setattr__(name, value)

    def __getattr__(self, name):  # called only for a missing attribute
        if name in type(self).weights:
            raise AttributeError(f"{self.missing()} Until then it has no {name}.")
        return super().__getattr__(name)

    def __repr__(self):
        sizes = ["?" if getattr(self, name) is None else str(getattr(self, name)) for name in self.sizes]
        others = [f"{n}={v}" for n, v in vars(self).items() if n in self.shown and v != self.shown[n]]
        return f"{type(self).__name__}({', '.join(sizes + others)})"
