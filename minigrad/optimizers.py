"""Optimizers: the third phase, after forward and backward. They change parameters, and nothing else does.

Holds SGD with momentum, Adam, AdamW, RMSProp, clipping, and two schedules of the learning rate. Leaves out
zeroing the gradients: that is the learner's first line. Built in chapter 07 (plain SGD) and chapter 09.
"""

import math

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


class AdamW(Adam):
    """Adam whose weights decay by themselves, instead of by way of the gradient and its running means.

    Parameters
    ----------
    learning_rate, beta1, beta2, eps
        As for Adam.
    weight_decay : float
        Each step takes learning_rate · weight_decay of a weight away first.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    data ← data - learning_rate weight_decay data, and then a step of Adam.

    References
    ----------
    Loshchilov, Hutter, "Decoupled weight decay regularization" (2019), algorithm 2. Chapter 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([3.0])
    >>> AdamW(learning_rate=0.1, weight_decay=0.5).step([W])  # without any gradient: 3 - 0.1 · 0.5 · 3
    >>> W.data
    array([2.85])
    """

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
        super().__init__(learning_rate, beta1, beta2, eps)
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay must not be negative, got {weight_decay}.")
        self.weight_decay = weight_decay

    def step(self, parameters):
        """Change every trainable parameter once, in place.

        Parameters
        ----------
        parameters : list of Parameter
        """
        kept = 1.0 - _now(self.learning_rate, self.steps) * self.weight_decay
        for parameter in parameters:
            if parameter.trainable:
                parameter.data *= kept
        super().step(parameters)


class RMSProp:
    """Steps scaled by a running mean of the square of the gradient.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    decay : float
        How much of the running mean is kept, 0 to below 1.
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
    square ← decay square + (1 - decay) grad²;  data ← data - learning_rate grad / (√square + eps). The mean
    begins at zero, so the first steps are long; it is kept in `parameter.state["square"]`.

    References
    ----------
    Tieleman, Hinton, "Lecture 6.5: RMSProp", Coursera (2012). Chapter 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([3.0])
    >>> W.grad += 8.0
    >>> RMSProp(learning_rate=0.1, decay=0.75).step([W])  # square 0.25 · 64, its root 4
    >>> W.data.round(6)
    array([2.8])
    """

    def __init__(self, learning_rate=1e-3, decay=0.9, eps=1e-8):
        _require_rate(learning_rate)
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {decay}.")
        if not eps > 0:
            raise ValueError(f"eps must be positive, got {eps}.")
        self.learning_rate, self.decay, self.eps = learning_rate, decay, eps
        self.steps = 0

    def step(self, parameters):
        """Change every trainable parameter once, in place.

        Parameters
        ----------
        parameters : list of Parameter
        """
        learning_rate = _now(self.learning_rate, self.steps)
        self.steps += 1
        for parameter in parameters:
            if parameter.trainable:
                square = _remembered(parameter, "square")
                square *= self.decay
                square += (1.0 - self.decay) * (parameter.grad * parameter.grad)
                parameter.data -= learning_rate * parameter.grad / (np.sqrt(square) + self.eps)


def clip_grad_norm(parameters, max_norm):
    """Shorten all gradients together, in place, if as one long row they are longer than max_norm.

    Parameters
    ----------
    parameters : list of Parameter
    max_norm : float
        Positive.

    Returns
    -------
    float
        The length before.

    Raises
    ------
    ValueError
        If max_norm is not positive, or the length is not finite.

    Notes
    -----
    length = √Σ grad²;  grad ← grad min(1, max_norm / length). The direction stays.

    References
    ----------
    Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks" (2013), algorithm 1.
    Chapter 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W, b = Parameter([0.0]), Parameter([0.0])
    >>> W.grad += 3.0
    >>> b.grad += 4.0
    >>> clip_grad_norm([W, b], 1.0), W.grad.round(6), b.grad.round(6)
    (5.0, array([0.6]), array([0.8]))
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm must be positive, got {max_norm}.")
    length = math.sqrt(sum(float((parameter.grad * parameter.grad).sum()) for parameter in parameters))
    if not math.isfinite(length):
        raise ValueError(f"the gradients have the length {length}: look for nan, or lower the learning rate.")
    if length > max_norm:
        for parameter in parameters:
            parameter.grad *= max_norm / length
    return length


def cosine(learning_rate, steps, warmup=0):
    """Return a schedule: up in a straight line, and then down along half a cosine to zero.

    Parameters
    ----------
    learning_rate : float
        The highest.
    steps : int
        When it is down at zero, where it stays.
    warmup : int
        When it is at its highest; the first step of a warmup is not zero.

    Returns
    -------
    function of the number of steps taken so far -> float

    Raises
    ------
    ValueError
        If there are not more steps than those of the warmup.

    References
    ----------
    Loshchilov, Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), equation 5. Chapter 09.

    Examples
    --------
    >>> schedule = cosine(0.8, steps=6, warmup=2)
    >>> [round(schedule(step), 2) for step in range(8)]
    [0.4, 0.8, 0.8, 0.68, 0.4, 0.12, 0.0, 0.0]
    """
    if not 0 <= warmup < steps:
        raise ValueError(f"warmup must be from 0 to below steps, got {warmup} and {steps}.")

    def schedule(step):
        if step < warmup:
            return learning_rate * (step + 1) / warmup
        done = min(1.0, (step - warmup) / (steps - warmup))
        return learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))

    return schedule


def exponential(learning_rate, half_life):
    """Return a schedule that halves the learning rate every so many steps, evenly.

    Parameters
    ----------
    learning_rate : float
        At the first step.
    half_life : float
        After how many steps half of it is left.

    Returns
    -------
    function of the number of steps taken so far -> float

    Raises
    ------
    ValueError
        If half_life is not positive.

    References
    ----------
    Chapter 09.

    Examples
    --------
    >>> schedule = exponential(0.8, half_life=2)
    >>> [round(schedule(step), 2) for step in range(5)]
    [0.8, 0.57, 0.4, 0.28, 0.2]
    """
    if not half_life > 0:
        raise ValueError(f"half_life must be positive, got {half_life}.")
    return lambda step: learning_rate * 0.5 ** (step / half_life)
