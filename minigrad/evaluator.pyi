from minigrad._types import Array, Batch
from minigrad.layer import Layer

class Evaluator:
    activations: dict[str, Array]
    model: Layer
    def __init__(self, model: Layer) -> None: ...
    def forward(self, X: Batch) -> Array: ...
