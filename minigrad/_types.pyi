"""The words in which the stubs of minigrad say what comes in and what goes out.

Only type checkers read this file: at run time there is no module of this name. Your own code may import from
it under `if typing.TYPE_CHECKING:`. Shapes have no types: they stand in the docstrings.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from minigrad.parameter import Parameter

Array: TypeAlias = NDArray[Any]
Batch: TypeAlias = Array | tuple[Array, ...]
Dtype: TypeAlias = DTypeLike | None
Rng: TypeAlias = int | np.random.Generator
Init: TypeAlias = Callable[[tuple[int, ...], np.random.Generator], Array]
Schedule: TypeAlias = Callable[[int], float]

# What a layer returns beside Y: dY -> dX. For a tuple X it returns a tuple, with None for integer entries,
# which no type can tell from floats: so its entries are `Array | Any`.
Backward: TypeAlias = Callable[[Array], Array]
TupleBackward: TypeAlias = Callable[[Array], tuple[Array | Any, ...]]

# A pass through any layer, and any layer: a Layer or a plain function.
Result: TypeAlias = tuple[Array, Callable[[Any], Any]]
AnyLayer: TypeAlias = Callable[[Any], Result]

Checkable: TypeAlias = Callable[[Any], tuple[Any, Callable[[Any], Any]]]

class LossBackward(Protocol):
    """The way back from a loss."""

    def __call__(self, dL: float = 1.0) -> Array: ...

class Loss(Protocol):
    """A loss: `L, backward = loss(Y, T)`, and `dY = backward()`."""

    def __call__(self, Y: Any, T: Any, /) -> tuple[Any, Callable[[], Any]]: ...

class Metric(Protocol):
    """What evaluate reports under the function's name."""

    __name__: str

    def __call__(self, Y: Any, T: Any, /) -> float: ...

class Optimizer(Protocol):
    """Changes parameters along their gradients."""

    def step(self, parameters: list[Parameter], /) -> object: ...

class Communicator(Protocol):
    """What several workers need of mpi4py."""

    def Allreduce(self, sendbuf: Any, recvbuf: Any, /) -> object: ...
    def Bcast(self, buf: Any, root: int, /) -> object: ...
