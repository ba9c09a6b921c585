"""Optimizers, which change the parameters after the forward and the backward pass.

Holds SGD with momentum, Adam, AdamW, RMSProp, clipping, and a learning-rate schedule. The learner, not the
optimizer, sets the gradients to zero. Built in chapters 07 (plain SGD) and 09.
"""

import math

import numpy as np

from minigrad.backend import like
from minigrad.foreign_names import Answering
from minigrad.settings import require_integer, require_number


class Optimizer(Answering):
    """The base class of optimizers: a learning rate, and a memory for each parameter.

    A subclass defines `update(parameter, learning_rate, memory)`, and lists in `remembered` the names of the
    arrays in its memory, which start at zero.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float

    Attributes
    ----------
    steps : int
        Steps taken so far.
    memory : dict of Parameter to dict
        The state stored for each parameter, by name: "steps", the number of its updates, and arrays of its
        shape. A parameter that was frozen until now starts with an empty memory.

    Raises
    ------
    TypeError, ValueError
        If the learning rate is not a positive number (a schedule may also return 0).

    References
    ----------
    Chapter 09.
    """

    remembered = ()

    def __init__(self, learning_rate):
        if not callable(learning_rate):
            require_number("learning_rate", learning_rate, above=0)
        self.learning_rate, self.steps, self.memory = learning_rate, 0, {}

    def step(self, parameters):
        """Update every trainable parameter once, in place.

        Parameters
        ----------
        parameters : list of Parameter
            A parameter that is listed twice is updated once.

        Raises
        ------
        TypeError
            If parameters is not a list: write optimizer.step(model.parameters()).
        ValueError
            If the list is empty.
        """
        learning_rate = self._rate_now()
        for parameter in list_of_parameters("step", parameters):
            if parameter.trainable:
                memory = self._memory_of(parameter)
                memory["steps"] += 1
                self.update(parameter, learning_rate, memory)
        self.steps += 1

    def update(self, parameter, learning_rate, memory):
        """Update one parameter in place, along its gradient; subclasses must override it."""
        raise NotImplementedError(f"{type(self).__name__} needs update(parameter, learning_rate, memory).")

    def _rate_now(self):
        """Return the learning rate of this step."""
        if not callable(self.learning_rate):
            return require_number("learning_rate", self.learning_rate, above=0)
        name = f"the schedule's learning rate at step {self.steps}"
        return require_number(name, self.learning_rate(self.steps), least=0)

    def _memory_of(self, parameter):
        """Return a parameter's memory; create missing arrays as zeros, like its data."""
        memory, data = self.memory.setdefault(parameter, {"steps": 0}), parameter.data
        for name in self.remembered:
            if name not in memory:
                memory[name] = np.zeros_like(data)
            array = memory[name]
            if array.dtype != data.dtype or type(array) is not type(data):  # after `to` or `to_device`
                memory[name] = like(array, data)
        return memory


def list_of_parameters(name, parameters):
    """List each Parameter once; raise ValueError if there are none.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([1.0])
    >>> list_of_parameters("step", [W, W])
    [Parameter(1,)]
    """
    parameters = list(dict.fromkeys(parameters))
    if not parameters:
        what = "the model has no Parameter, or a generator was used up"
        raise ValueError(f"{name} takes a list of Parameters, got none: {what}.")
    return parameters


class SGD(Optimizer):
    """Stochastic gradient descent, with optional momentum.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    momentum : float
        The share of the last step's velocity that is kept, at least 0 and below 1.
    nesterov : bool
        If True, step along the gradient and the new velocity (Nesterov momentum).
    weight_decay : float
        Strength of the pull towards zero: weight_decay · data is added to the gradient.
    average : bool
        If True, the velocity is a moving average of the gradients instead of their sum.

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
    Nesterov steps along grad + momentum v. The velocity is kept in `optimizer.memory[parameter]["velocity"]`.
    With average, grad is replaced by (1 - momentum) grad, as if the rate were learning_rate (1 - momentum).

    References
    ----------
    Sutskever, Martens, Dahl, Hinton, "On the importance of initialization and momentum in deep learning"
    (2013); the average as on NNKit's page. Chapters 07 and 09.

    Examples
    --------
    >>> from minigrad import Parameter
    >>> W = Parameter([3.0])
    >>> W.grad += 10.0
    >>> SGD(learning_rate=0.1).step([W])
    >>> W.data
    array([2.])
    """

    def __init__(self, learning_rate=0.1, momentum=0.0, nesterov=False, weight_decay=0.0, average=False):
        super().__init__(learning_rate)
        self.momentum = require_number("momentum", momentum, least=0, below=1)
        if (nesterov or average) and momentum == 0:
            raise ValueError("nesterov and average need a velocity: set momentum above 0.")
        self.nesterov, self.weight_decay = nesterov, require_number("weight_decay", weight_decay, least=0)
        self.average = average

    @property
    def remembered(self):
        """The velocity, if momentum is above 0."""
        return ("velocity",) if self.momentum else ()

    def update(self, parameter, learning_rate, memory):
        """Take a step along the gradient, or along the velocity."""
        step = parameter.grad
        if self.weight_decay:
            step = step + self.weight_decay * parameter.data
        if self.average:
            step = (1 - self.momentum) * step
        if self.momentum:
            velocity = memory["velocity"]
            velocity *= self.momentum
            velocity += step
            step = step + self.momentum * velocity if self.nesterov else velocity
        parameter.data -= learning_rate * step


class Adam(Optimizer):
    """Steps along a running mean of the gradient, scaled by a running mean of its square.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    beta1, beta2 : float
        Decay rates of the running means of the gradient and of its square, at least 0 and below 1.
    eps : float
        Added to the root, which avoids a division by zero.

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
    means start at zero; steps counts the updates of this parameter. The means are kept in `optimizer.memory`.

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

    remembered = ("mean", "square")

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        super().__init__(learning_rate)
        self.beta1 = require_number("beta1", beta1, least=0, below=1)
        self.beta2 = require_number("beta2", beta2, least=0, below=1)
        self.eps = require_number("eps", eps, above=0)

    def update(self, parameter, learning_rate, memory):
        """Take a step along the mean gradient, divided by the root of its mean square."""
        gradient = parameter.grad
        mean, square = memory["mean"], memory["square"]
        c1 = 1 - self.beta1 ** memory["steps"]
        c2 = 1 - self.beta2 ** memory["steps"]
        mean *= self.beta1
        mean += (1 - self.beta1) * gradient
        square *= self.beta2
        square += (1 - self.beta2) * gradient**2
        # (mean / c1) / (√(square / c2) + eps), with c1 and c2 applied to scalars:
        # the more efficient order at the end of section 2 of Kingma and Ba
        root = c2**0.5
        size = np.sqrt(square) + root * self.eps
        parameter.data -= (learning_rate * root / c1) * mean / size


class AdamW(Adam):
    """Adam with decoupled weight decay: weights shrink directly, not through the gradient.

    Parameters
    ----------
    learning_rate, beta1, beta2, eps
        As for Adam.
    weight_decay : float
        Each step first shrinks every weight by the factor 1 - learning_rate · weight_decay.

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
        self.weight_decay = require_number("weight_decay", weight_decay, least=0)

    def update(self, parameter, learning_rate, memory):
        """Shrink the weights, and take a step of Adam."""
        parameter.data *= 1.0 - learning_rate * self.weight_decay
        super().update(parameter, learning_rate, memory)


class RMSProp(Optimizer):
    """Steps scaled by a running mean of the square of the gradient.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float
    decay : float
        The share of the running mean that is kept, at least 0 and below 1.
    eps : float
        Added to the root, which avoids a division by zero.

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
    starts at zero, so the first steps are long. It is stored in `optimizer.memory[parameter]["square"]`.

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

    remembered = ("square",)

    def __init__(self, learning_rate=1e-3, decay=0.9, eps=1e-8):
        super().__init__(learning_rate)
        self.decay = require_number("decay", decay, least=0, below=1)
        self.eps = require_number("eps", eps, above=0)

    def update(self, parameter, learning_rate, memory):
        """Take a step along the gradient, divided by the root of its mean square."""
        gradient, square = parameter.grad, memory["square"]
        square *= self.decay
        square += (1 - self.decay) * gradient**2
        size = np.sqrt(square) + self.eps
        parameter.data -= learning_rate * gradient / size


def clip_grad_norm(parameters, max_norm):
    """Scale all gradients down, in place, if their total norm exceeds max_norm.

    Parameters
    ----------
    parameters : list of Parameter
        Frozen parameters do not count, and keep their gradients.
    max_norm : float
        The largest norm allowed, above 0.

    Returns
    -------
    float
        The total norm before clipping.

    Raises
    ------
    ValueError
        If max_norm is not positive, or the norm is not finite.

    Notes
    -----
    norm = √Σ grad²;  grad ← grad min(1, max_norm / norm). The direction does not change.

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
    require_number("max_norm", max_norm, above=0)
    parameters = list_of_parameters("clip_grad_norm", parameters)
    gradients = [parameter.grad for parameter in parameters if parameter.trainable]
    length = math.sqrt(sum(float((gradient * gradient).sum()) for gradient in gradients))
    if not math.isfinite(length):
        raise ValueError(f"the norm of the gradients is {length}: look for nan, or lower the learning rate.")
    if length > max_norm:
        for gradient in gradients:
            gradient *= max_norm / length
    return length


def cosine(learning_rate, steps, warmup=0):
    """Create a schedule: a linear warmup, then half a cosine down to zero.

    Parameters
    ----------
    learning_rate : float
        The highest learning rate.
    steps : int
        The number of steps after which the rate is zero.
    warmup : int
        The number of steps until the rate is highest; the first rate is above zero.

    Returns
    -------
    function of the number of steps taken so far -> float

    Raises
    ------
    ValueError
        If steps is not greater than warmup.

    References
    ----------
    Loshchilov, Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), equation 5. Chapter 09.

    Examples
    --------
    >>> schedule = cosine(0.8, steps=6, warmup=2)
    >>> [round(schedule(step), 2) for step in range(8)]
    [0.4, 0.8, 0.8, 0.68, 0.4, 0.12, 0.0, 0.0]
    """
    require_number("learning_rate of cosine", learning_rate, above=0)
    require_integer("steps of cosine", steps)
    require_integer("warmup of cosine", warmup, least=0)
    if warmup >= steps:
        raise ValueError(f"warmup of cosine must be below steps, got {warmup} and {steps}.")

    def schedule(step):
        if step < warmup:
            return learning_rate * (step + 1) / warmup
        done = min(1.0, (step - warmup) / (steps - warmup))
        return learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))

    return schedule
