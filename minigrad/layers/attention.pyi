from typing import Any

from minigrad._types import Array, Batch, Dtype, Result, Rng
from minigrad.layer import Layer, Sequential
from minigrad.layers.linear import Linear

class MultiHeadAttention(Layer):
    n_in: int | None
    heads: int
    causal: bool
    queries: Linear
    keys: Linear
    values: Linear
    output: Linear
    def __init__(
        self,
        n_in: int | None = None,
        heads: int = 1,
        causal: bool = False,
        *,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...
    def weights(self, X: Batch) -> Array: ...

class TransformerBlock(Layer):
    n_in: int | None
    heads: int
    causal: bool
    block: Sequential
    wide: Linear
    def __init__(
        self,
        n_in: int | None = None,
        heads: int = 1,
        causal: bool = False,
        *,
        dropout: float = 0.0,
        rng: Rng | None = None,
    ) -> None: ...
    def forward(self, X: Any, training: bool = False) -> Result: ...
