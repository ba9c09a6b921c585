from types import ModuleType
from typing import Any, Literal, TypeVar

from minigrad._types import Array
from minigrad.layer import Layer

_Model = TypeVar("_Model", bound=Layer)

def array_module(*arrays: Any) -> ModuleType: ...  # numpy or cupy
def to_numpy(array: Any) -> Array: ...
def to_device(model: _Model, device: Literal["cpu", "gpu"]) -> _Model: ...
