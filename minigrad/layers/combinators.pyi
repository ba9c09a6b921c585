from collections.abc import Callable
from typing import Any

from minigrad._types import AnyLayer, Array, Result
from minigrad.layer import Layer

class _Chained:
    def __call__(self, X: Any, training: bool = False) -> Result: ...

def chain(first: AnyLayer, second: AnyLayer) -> _Chained: ...

class Residual(Layer):
    layer: AnyLayer
    def __init__(self, layer: AnyLayer) -> None: ...
    def forward(self, X: Any, training: bool = False) -> Result: ...

class Parallel(Layer):
    layers: list[Any]  # what was given: each a Layer or a function
    def __init__(self, *layers: AnyLayer) -> None: ...
    def forward(self, X: Any, training: bool = False) -> Result: ...

class Watch(Layer):
    see: Callable[[str, Array], object]
    def __init__(self, see: Callable[[str, Array], object]) -> None: ...
