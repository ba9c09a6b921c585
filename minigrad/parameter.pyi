from numpy.typing import ArrayLike

from minigrad._types import Array

class Parameter:
    data: Array
    grad: Array
    trainable: bool
    state: dict[str, Array]
    def __init__(self, data: ArrayLike, trainable: bool = True) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def zero_grad(self) -> None: ...

class Buffer:
    data: Array
    def __init__(self, data: ArrayLike) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
