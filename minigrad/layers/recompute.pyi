from typing import Any

from minigrad._types import AnyLayer, Result
from minigrad.layer import Layer

class Recompute(Layer):
    layer: AnyLayer
    def __init__(self, layer: AnyLayer) -> None: ...
    def forward(self, X: Any, training: bool = False, need_dX: bool = True) -> Result: ...
