from collections.abc import Callable

from minigrad._types import Array, Dtype, Init, Rng
from minigrad.layers.linear import Linear
from minigrad.parameter import Parameter

class _Recurrent(Linear):
    b_start: tuple[float, ...]
    last: bool
    init_U: Init
    U: Parameter  # None until it is drawn
    def __init__(
        self,
        n_in: int | None = None,
        n_out: int | None = None,
        *,
        last: bool = False,
        init: Init = ...,
        init_U: Init = ...,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...

class RNN(_Recurrent):
    def through_time(self, Z: Array, U: Array) -> tuple[Array, Callable[[Array], Array]]: ...

class LSTM(_Recurrent):
    def through_time(self, Z: Array, U: Array) -> tuple[Array, Callable[[Array], Array]]: ...
