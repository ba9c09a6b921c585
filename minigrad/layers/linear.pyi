from typing import Any

from minigrad._types import Dtype, Init, Result, Rng
from minigrad.layer import Layer
from minigrad.parameter import Parameter

class Linear(Layer):
    n_in: int | None
    n_out: int | None
    bias: bool
    init: Init
    rng: Rng | None
    dtype: Dtype
    W: Parameter  # None until it is drawn
    b: Parameter | Any  # None without bias
    def __init__(
        self,
        n_in: int | None = None,
        n_out: int | None = None,
        *,
        bias: bool = True,
        init: Init = ...,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...
    def forward(self, X: Any, need_dX: bool = True) -> Result: ...
