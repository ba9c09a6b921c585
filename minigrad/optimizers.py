"""Optimizers: the third phase, after forward and backward. They change parameters, and nothing else does.

Holds SGD with momentum, and Adam. Leaves out zeroing the gradients: that is the learner's first line. Built
in chapter 07, momentum and Adam in chapter 09.
"""

import numpy as np


def _require_rate(learning_rate):
    """Refuse a learning rate that is neither positive nor a function."""
    if not callable(learning_rate) and not learning_rate > 0:
        raise ValueError(f"learning_rate must be positive, or a function of steps; got {learning_rate}.")


def _now(learning_rate, steps):
    """Return the learning rate of a step."""
    return learning_rate(steps) if callable(learning_rate) else learning_rate


def _remembered(parameter, name):
    """Return what an optimizer remembers about a parameter under a name; zeros at first."""
    if name not in parameter.state:
        parameter.state[name] = np.zeros_like(parameter.data)
    return parameter.state[name]


class SGD:
    """Stochastic gradient descent, with momentum if asked for.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    momentum : float
        The share of the last step's velocity that is kept, 0 to below 1.
    nesterov : bool
        Look ahead along the velocity.
    weight_decay : float
        Pull towards zero: this times the data is added to the gradient.

    Attributes
    ----------
    steps : int
        Steps taken so far.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    v ← momentum v + grad;  data ← data - learning_rate v.  With momentum 0: data ← data - learning_rate grad.
    Nesterov steps along grad + momentum v. The velocity v is kept in `parameter.state["velocity"]`.

    References
    ----------
    Sutskever, Martens, Dahl, Hinton, "On the importance of initialization and momentum in deep learning"
    (2013). Chapters 07 and 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([3.0])
    >>> W.grad += 10.0
    >>> SGD(learning_rate=0.1).step([W])
    >>> W.data
    array([2.])
    """

    def __init__(self, learning_rate=0.1, momentum=0.0, nesterov=False, weight_decay=0.0):
        _require_rate(learning_rate)
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum must be from 0 to below 1, got {momentum}.")
        if nesterov and momentum == 0:
            raise ValueError("nesterov looks ahead along the velocity, so it needs a momentum above 0.")
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay must not be negative, got {weight_decay}.")
        self.learning_rate, self.momentum = learning_rate, momentum
        self.nesterov, self.weight_decay = nesterov, weight_decay
        self.steps = 0

    def step(self, parameters):
        """Change every trainable parameter once, in place, along its gradient.

        Parameters
        ----------
        parameters : list of Parameter
        """
        learning_rate = _now(self.learning_rate, self.steps)
        for parameter in parameters:
            if parameter.trainable:
                parameter.data -= learning_rate * self._direction(parameter)
        self.steps += 1

    def _direction(self, parameter):
        """Return the direction of the step, updating the velocity."""
        gradient = parameter.grad
        if self.weight_decay:
            gradient = gradient + self.weight_decay * parameter.data
        if not self.momentum:
            return gradient
        velocity = _remembered(parameter, "velocity")
        velocity *= self.momentum
        velocity += gradient
        return gradient + self.momentum * velocity if self.nesterov else velocity


class Adam:
    """Steps scaled by a running mean of the gradient and by one of its square.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    beta1, beta2 : float
        How much of the running means of the gradient and of its square is kept, 0 to below 1.
    eps : float
        Added to the root, so that a gradient of zero divides by something.

    Attributes
    ----------
    steps : int
        Steps taken so far.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    mean ← beta1 mean + (1 - beta1) grad;  square ← beta2 square + (1 - beta2) grad².
    data ← data - learning_rate (mean / c1) / (√(square / c2) + eps), with c = 1 - beta ** steps, because both
    means began at zero. They are kept in `parameter.state["mean"]` and `parameter.state["square"]`.

    References
    ----------
    Kingma, Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1. Chapter 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([3.0, 5.0])
    >>> W.grad += [10.0, -0.001]
    >>> Adam(learning_rate=0.1).step([W])
    >>> W.data.round(3)
    array([2.9, 5.1])
    """

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        _require_rate(learning_rate)
        if not (0 <= beta1 < 1 and 0 <= beta2 < 1):
            raise ValueError(f"beta1 and beta2 must be from 0 to below 1, got {beta1} and {beta2}.")
        if not eps > 0:
            raise ValueError(f"eps must be positive, got {eps}.")
        self.learning_rate, self.beta1, self.beta2, self.eps = learning_rate, beta1, beta2, eps
        self.steps = 0

    def step(self, parameters):
        """Change every trainable parameter once, in place.

        Parameters
        ----------
        parameters : list of Parameter
        """
        learning_rate = _now(self.learning_rate, self.steps)
        self.steps += 1
        c1, c2 = 1.0 - self.beta1**self.steps, 1.0 - self.beta2**self.steps
        for parameter in parameters:
            if parameter.trainable:
                mean, square = (_remembered(parameter, name) for name in ("mean", "square"))
                mean *= self.beta1
                mean += (1.0 - self.beta1) * parameter.grad
                square *= self.beta2
                square += (1.0 - self.beta2) * (parameter.grad * parameter.grad)
                parameter.data -= (learning_rate / c1) * mean / (np.sqrt(square / c2) + self.eps)
