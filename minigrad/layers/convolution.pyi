from typing import Any, Literal

from minigrad._types import Dtype, Init, Result, Rng
from minigrad.layer import Layer
from minigrad.parameter import Parameter

class Conv2d(Layer):
    n_in: int | None
    n_out: int | None
    kernel: tuple[int, int]
    stride: int
    zeros: tuple[int, int]
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
        kernel: int | tuple[int, int] = 3,
        stride: int = 1,
        padding: int | Literal["same"] = 0,
        *,
        bias: bool = True,
        init: Init = ...,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...
    def forward(self, X: Any, need_dX: bool = True) -> Result: ...

class MaxPool2d(Layer):
    size: int
    stride: int
    def __init__(self, size: int = 2, stride: int | None = None) -> None: ...
