"""Optimizers: the third phase, after forward and backward. They change parameters, and nothing else does.

Holds SGD with momentum. Leaves out zeroing the gradients: that is the learner's first line. Built in
chapter 07, momentum in chapter 09.
"""

import numpy as np


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
        if not callable(learning_rate) and not learning_rate > 0:
            raise ValueError(f"learning_rate must be positive, or a function of steps; got {learning_rate}.")
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
        learning_rate = self.learning_rate(self.steps) if callable(self.learning_rate) else self.learning_rate
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
        velocity = parameter.state.setdefault("velocity", np.zeros_like(parameter.data))
        velocity *= self.momentum
        velocity += gradient
        return gradient + self.momentum * velocity if self.nesterov else velocity
