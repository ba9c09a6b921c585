from dataclasses import dataclass, field
from typing import NamedTuple

from minigrad._types import Array

GENERAL: str

class Row(NamedTuple):
    name: str
    shape: tuple[int, ...]
    checked: int
    size: int
    error: float
    verdict: str
    sentence: str

@dataclass(repr=False)
class Report:
    title: str
    rules: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    jacobians: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    @property
    def problems(self) -> list[str]: ...
    @property
    def ok(self) -> bool: ...

def diagnose(
    name: str,
    values: dict[str, Array],
    yours: dict[str, Array],
    true: dict[str, Array],
    Y: Array,
    dY: Array,
    jacobians: tuple[Array, Array] | None = None,
) -> str: ...
def same(a: Array, b: Array, tol: float = 1e-5) -> bool: ...
def explain(error: Exception) -> str: ...
