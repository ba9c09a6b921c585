from minigrad._types import Schedule
from minigrad.parameter import Parameter

class SGD:
    learning_rate: float | Schedule
    momentum: float
    nesterov: bool
    weight_decay: float
    steps: int
    def __init__(
        self,
        learning_rate: float | Schedule = 0.1,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None: ...
    def step(self, parameters: list[Parameter]) -> None: ...

class Adam:
    learning_rate: float | Schedule
    beta1: float
    beta2: float
    eps: float
    steps: int
    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ) -> None: ...
    def step(self, parameters: list[Parameter]) -> None: ...

class AdamW(Adam):
    weight_decay: float
    def __init__(
        self,
        learning_rate: float | Schedule = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None: ...
    def step(self, parameters: list[Parameter]) -> None: ...

class RMSProp:
    learning_rate: float | Schedule
    decay: float
    eps: float
    steps: int
    def __init__(
        self, learning_rate: float | Schedule = 1e-3, decay: float = 0.9, eps: float = 1e-8
    ) -> None: ...
    def step(self, parameters: list[Parameter]) -> None: ...

def clip_grad_norm(parameters: list[Parameter], max_norm: float) -> float: ...
def cosine(learning_rate: float, steps: int, warmup: int = 0) -> Schedule: ...
def exponential(learning_rate: float, half_life: float) -> Schedule: ...
