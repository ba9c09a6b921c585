from typing import Any

import numpy as np

from minigrad._types import Dtype, Result, Rng
from minigrad.layer import Layer
from minigrad.parameter import Buffer, Parameter

class Dropout(Layer):
    rate: float
    rng: np.random.Generator | None
    def __init__(self, rate: float = 0.5, rng: Rng | None = None) -> None: ...
    def forward(self, X: Any, training: bool = False) -> Result: ...

class LayerNorm(Layer):
    n_in: int | None
    eps: float
    dtype: Dtype
    gain: Parameter  # None, as shift is, until the width is known
    shift: Parameter
    def __init__(self, n_in: int | None = None, eps: float = 1e-5, dtype: Dtype = None) -> None: ...

class BatchNorm(Layer):
    width: int | None
    axis: int
    momentum: float
    eps: float
    dtype: Dtype
    gain: Parameter  # None, as the three below are, until the width is known
    shift: Parameter
    running_mean: Buffer
    running_variance: Buffer
    def __init__(
        self,
        n_in: int | None = None,
        axis: int = 1,
        momentum: float = 0.1,
        eps: float = 1e-5,
        dtype: Dtype = None,
    ) -> None: ...
    def forward(self, X: Any, training: bool = False) -> Result: ...
