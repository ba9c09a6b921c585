from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from minigrad._types import Array, Batch, Checkable, Rng
from minigrad.diagnosis import Report

EPS: Any
EPS32: Any
NUDGE: Any

def numerical_gradient(f: Callable[[Array], Any], array: ArrayLike, dY: ArrayLike | None = None) -> Array: ...
def gradcheck(
    layer: Checkable,
    X: Batch,
    *,
    training: bool = False,
    tol: float = 1e-6,
    max_entries: int = 300,
    rng: Rng = 0,
) -> Report: ...
