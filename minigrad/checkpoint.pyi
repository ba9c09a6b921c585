import os
from typing import TypeVar

from minigrad.layer import Layer
from minigrad.learner import Learner

_Thing = TypeVar("_Thing", bound=Layer | Learner)

FORMAT: int
LEARNER: str

class CheckpointError(ValueError): ...

def save(path: str | os.PathLike[str], thing: Layer | Learner) -> None: ...
def load(path: str | os.PathLike[str], thing: _Thing) -> _Thing: ...
