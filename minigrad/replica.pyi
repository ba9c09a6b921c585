from typing import TypeVar

from minigrad.layer import Layer

_Model = TypeVar("_Model", bound=Layer)

def replica(model: _Model) -> _Model: ...
