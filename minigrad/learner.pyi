from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from minigrad._types import AnyLayer, Array, Batch, Loss, Metric, Optimizer, Rng
from minigrad.layer import Layer
from minigrad.parameter import Parameter

def accuracy(Y: Array, T: Array) -> float: ...

class History(list[dict[str, float]]):
    @overload
    def __getitem__(self, key: str) -> list[float]: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> dict[str, float]: ...
    @overload
    def __getitem__(self, key: slice[Any, Any, Any]) -> list[dict[str, float]]: ...

class Learner:
    model: Layer
    loss: Loss
    optimizer: Any  # the one given, with what it has beside step
    metrics: Sequence[Metric]
    before_step: Callable[[list[Parameter]], object] | None
    rng: np.random.Generator
    epoch: int
    def __init__(
        self,
        model: AnyLayer,
        loss: Loss,
        optimizer: Optimizer,
        metrics: Sequence[Metric] = (),
        before_step: Callable[[list[Parameter]], object] | None = None,
        rng: Rng = 0,
    ) -> None: ...
    def fit_batch(self, X: Batch, T: Array, parameters: list[Parameter] | None = None) -> float: ...
    def fit(
        self,
        X: Batch,
        T: Array,
        epochs: int = 1,
        batch_size: int = 32,
        validation: tuple[Batch, Array] | None = None,
        callbacks: Sequence[Callable[[Learner, dict[str, float]], object]] = (),
    ) -> History: ...
    def evaluate(self, X: Batch, T: Array) -> dict[str, float]: ...
    def predict(self, X: Batch) -> Array: ...
