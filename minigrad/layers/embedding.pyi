from collections.abc import Callable
from typing import Any

from minigrad._types import Array, Dtype, Init, Result, Rng
from minigrad.layers.linear import Linear

class _Table(Linear): ...

class Embedding(_Table):
    def __init__(
        self,
        n_tokens: int | None = None,
        n_out: int | None = None,
        *,
        init: Init = ...,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...
    def forward(self, X: Any) -> Result: ...  # type: ignore[override]  # it has no need of need_dX

    # Tokens are integers: there is no way back to them.
    def __call__(  # type: ignore[override]
        self, X: Array, training: bool = False, need_dX: bool = True
    ) -> tuple[Array, Callable[[Array], None]]: ...

class Positions(_Table):
    def __init__(
        self,
        n_steps: int | None = None,
        n_out: int | None = None,
        *,
        init: Init = ...,
        rng: Rng | None = None,
        dtype: Dtype = None,
    ) -> None: ...
    def forward(self, X: Any) -> Result: ...  # type: ignore[override]  # it has no need of need_dX
