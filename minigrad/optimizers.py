"""Optimizers: the third phase, after forward and backward. They change parameters, and nothing else does.

Holds SGD with momentum, Adam, AdamW, RMSProp, clipping, and two schedules of the learning rate. Leaves out
zeroing the gradients: that is the learner's first line. Built in chapter 07 (plain SGD) and chapter 09.
"""

import math

import numpy as np

from minigrad.backend import like
from minigrad.habits import Answering
from minigrad.parameter import Parameter
from minigrad.settings import require_integer, require_number


class Optimizer(
    Answering, habits="lr param_groups add_param_group zero_grad state_dict load_state_dict", strict=True
):
    """What all optimizers share: the learning rate, and a memory of their own for each parameter.

    A subclass writes `update(parameter, learning_rate, memory)`, and names in `remembered` the arrays that it
    finds in the memory, zeros at first. If its update treats each number by itself, small Parameters may be
    handed to it side by side, as one: those of at most `small` numbers.

    Parameters
    ----------
    learning_rate : float, or function of the number of steps taken so far -> float

    Attributes
    ----------
    steps : int
        Steps taken so far.
    memory : dict of Parameter to dict
        What this optimizer remembers about each parameter, by name: "steps", how often it was changed, and
        arrays of its shape. A parameter that was frozen until now begins with an empty one.

    Raises
    ------
    TypeError, ValueError
        If the learning rate, or what a schedule returns, is not a positive number (a schedule may return 0).

    References
    ----------
    Chapter 09.
    """

    remembered, small = (), 0
    _checked = None  # the list of the last step, in which all were Parameters
    _arranged = (None, (), ())  # what was arranged; rows of small Parameters; Parameters by themselves

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "update" in vars(cls):  # careful: another update may ask for more than one number at a time
            cls.small = vars(cls).get("small", 0)

    def __init__(self, learning_rate):
        self.learning_rate = learning_rate
        self.steps, self.memory = 0, {}

    def __getstate__(self):
        """Return what a copy takes over: all but what it finds out for itself, the rows among it."""
        return {name: value for name, value in vars(self).items() if name not in ("_checked", "_arranged")}

    @property
    def learning_rate(self):
        """A positive number, or a function of the number of steps taken so far."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate):
        if isinstance(learning_rate, (list, tuple)) or hasattr(learning_rate, "parameters"):
            kind = type(self).__name__
            advice = "the parameters are given to each step: optimizer.step(model.parameters())"
            wanted = f"{kind} takes the learning rate first, {kind}(learning_rate=0.1)"
            raise TypeError(f"{wanted}; {advice}. A Learner does that.")
        if not callable(learning_rate):
            require_number("learning_rate", learning_rate, above=0)
        self._learning_rate = learning_rate

    def step(self, parameters=None):
        """Change every trainable parameter once, in place.

        Parameters
        ----------
        parameters : list of Parameter
        """
        if type(parameters) is not list or parameters != self._checked:
            parameters = list_of_parameters("step", parameters)
            self._checked = parameters.copy()
        learning_rate = self._rate_now()
        parameters = [parameter for parameter in parameters if parameter.trainable]
        arranged, rows, alone = self._arranged
        if arranged != (parameters, self.remembered) or not all([row.gather(self.memory) for row in rows]):
            rows, alone = self._arrange(parameters)
        for row in rows:
            row.memory["steps"] += 1
            self.update(row, learning_rate, row.memory)
            row.scatter()
        for parameter in alone:
            memory = self._memory_of(parameter)
            memory["steps"] += 1
            self.update(parameter, learning_rate, memory)
        self.steps += 1

    def update(self, parameter, learning_rate, memory):
        """Change one parameter in place, along its gradient; every optimizer writes its own."""
        wanted = "a method update(parameter, learning_rate, memory)"
        raise NotImplementedError(f"{type(self).__name__} needs {wanted}.")

    def _rate_now(self):
        """Return the learning rate of this step."""
        learning_rate = self._learning_rate
        if not callable(learning_rate):
            return learning_rate
        name = f"what the schedule returns at step {self.steps}"
        return require_number(name, learning_rate(self.steps), least=0)

    def _memory_of(self, parameter):
        """Return what is remembered about a parameter, in arrays like its data: zeros at first."""
        memory, data = self.memory.setdefault(parameter, {"steps": 0}), parameter.data
        for name in self.remembered:
            if name not in memory:
                memory[name] = np.zeros_like(data)
        for name, array in memory.items():
            if name != "steps" and (array.dtype != data.dtype or type(array) is not type(data)):
                memory[name] = like(array, data)
        return memory

    def _arrange(self, parameters):
        """Put small Parameters of one type, changed equally often, in rows; return these, and the others."""
        groups, alone, seen = {}, [], set()
        for parameter in parameters:
            memory, data = self._memory_of(parameter), parameter.data
            is_plain = type(parameter) is Parameter and type(data) is np.ndarray and data.base is None
            if is_plain and data.size <= self.small and id(data) not in seen:
                groups.setdefault((data.dtype, memory["steps"]), []).append(parameter)
                seen.add(id(data))
            else:  # careful: who shares an array with one in a row is changed after it
                alone.append(parameter)
        rows = [_Row(group, self.memory, self.remembered) for group in groups.values()]
        self._arranged = (parameters, self.remembered), rows, alone
        return rows, alone


class _Row(Parameter):
    """Small Parameters side by side as one, so that a formula runs once for all of them.

    What the optimizer remembers about each of them is a view of what it remembers about the row.
    """

    def __init__(self, parameters, memory, remembered):
        arrays, memories = [p.data for p in parameters], [memory[p] for p in parameters]
        self.data, data_parts = _side_by_side(arrays)
        self.grad, grad_parts = _side_by_side([p.peek().astype(p.data.dtype) for p in parameters])
        self.memory, self.views = {"steps": memories[0]["steps"]}, []
        for name in remembered:
            self.memory[name], parts = _side_by_side([own[name] for own in memories])
            for own, part in zip(memories, parts, strict=True):
                own[name] = part
                self.views.append((own, name, part))
        self.parts = list(zip(parameters, arrays, memories, data_parts, grad_parts, strict=True))

    def gather(self, memory):
        """Copy data and gradients into the row; return False if somebody has exchanged an array since."""
        for own, name, part in self.views:
            if own.get(name) is not part:
                return False
        steps = self.memory["steps"]
        for parameter, array, own, data, grad in self.parts:
            if parameter.data is not array or memory.get(parameter) is not own or own["steps"] != steps:
                return False
            data[...] = array
            grad[...] = parameter.peek()
        return True

    def scatter(self):
        """Copy the new data back, and the number of steps."""
        steps = self.memory["steps"]
        for _, array, own, data, _ in self.parts:
            array[...] = data
            own["steps"] = steps


def _side_by_side(arrays):
    """Return the numbers of several arrays in one row, and views of its parts, each in its array's shape."""
    row = np.concatenate(arrays, axis=None)
    parts = np.split(row, np.cumsum([array.size for array in arrays])[:-1])
    return row, [part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)]


def list_of_parameters(name, parameters):
    """Return a list of Parameters, from a list or whatever else goes through them; refuse something else."""
    wanted = f"{name} takes a list of Parameters"
    if not isinstance(parameters, list):
        if hasattr(parameters, "parameters"):
            raise TypeError(f"{wanted}, got a model: write model.parameters().")
        if isinstance(parameters, Parameter):
            raise TypeError(f"{wanted}, got one Parameter: write [parameter].")
        if not hasattr(parameters, "__iter__"):
            raise TypeError(f"{wanted}, got {parameters!r}: write model.parameters().")
        parameters = list(parameters)
    for parameter in parameters:
        if not isinstance(parameter, Parameter) and not hasattr(parameter, "grad"):  # a reader's own has one
            raise TypeError(f"{wanted}, got {type(parameter).__name__} in it: write model.parameters().")
    if not parameters:
        raise ValueError(f"{wanted}, got none: the model has no Parameter, or a generator was used up.")
    return parameters


PIECE = 2**15  # so many numbers of five arrays stay in the processor's cache between two operations


def in_pieces(*arrays):
    """Return arrays of one shape cut along their first axis into small pieces: views, a tuple for each place.

    An optimizer goes over its arrays many times. Piece by piece it finds them in the processor's cache.

    Examples
    --------
    >>> [[piece.shape for piece in pieces] for pieces in in_pieces(np.zeros((192, 256)))]
    [[(128, 256)], [(64, 256)]]
    """
    size = arrays[0].size
    if size <= PIECE:
        return (arrays,)
    rows = max(1, PIECE * len(arrays[0]) // size)
    starts = range(0, len(arrays[0]), rows)
    return [tuple(array[start : start + rows] for array in arrays) for start in starts]


class SGD(Optimizer):
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
    average : bool
        Let the velocity be a moving average of the gradients, instead of their sum.

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
    With average, (1 - momentum) grad stands for grad: the same path as with learning_rate (1 - momentum).

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

    small = 2**11  # for larger ones, copying them into a row takes longer than the row saves

    def __init__(self, learning_rate=0.1, momentum=0.0, nesterov=False, weight_decay=0.0, average=False):
        super().__init__(learning_rate)
        self.momentum = require_number("momentum", momentum, least=0, below=1)
        if nesterov and momentum == 0:
            raise ValueError("nesterov looks ahead along the velocity, so it needs a momentum above 0.")
        self.nesterov, self.weight_decay = nesterov, require_number("weight_decay", weight_decay, least=0)
        self.average = average

    @property
    def remembered(self):
        """The velocity, where there is a momentum."""
        return ("velocity",) if self.momentum else ()

    def update(self, parameter, learning_rate, memory):
        """Take a step along the gradient, or along the velocity."""
        grads = parameter.peek()
        velocities = memory["velocity"] if self.momentum else grads
        for data, direction, velocity in in_pieces(parameter.data, grads, velocities):
            if self.weight_decay:
                direction = direction + self.weight_decay * data
            if self.average:
                direction = (1.0 - self.momentum) * direction
            if self.momentum:
                velocity *= self.momentum
                velocity += direction
                direction = direction + self.momentum * velocity if self.nesterov else velocity
            data -= learning_rate * direction


class Adam(Optimizer):
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
    means began at zero; steps are those of this parameter. The means are kept in `optimizer.memory`.

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

    remembered, small = ("mean", "square"), 2**13

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        super().__init__(learning_rate)
        self.beta1 = require_number("beta1", beta1, least=0, below=1)
        self.beta2 = require_number("beta2", beta2, least=0, below=1)
        self.eps = require_number("eps", eps, above=0)

    def update(self, parameter, learning_rate, memory):
        """Take a step along the mean gradient, divided by the root of its mean square."""
        c1, c2 = 1.0 - self.beta1 ** memory["steps"], 1.0 - self.beta2 ** memory["steps"]
        rate, eps = learning_rate * math.sqrt(c2) / c1, self.eps * math.sqrt(c2)  # both times √c2
        means, squares = memory["mean"], memory["square"]
        for data, grad, mean, square in in_pieces(parameter.data, parameter.peek(), means, squares):
            change = np.empty_like(data)  # careful: one array for all, which stays in the cache
            np.multiply(grad, 1.0 - self.beta1, out=change)
            mean *= self.beta1
            mean += change
            np.multiply(grad, grad, out=change)
            change *= 1.0 - self.beta2
            square *= self.beta2
            square += change
            np.sqrt(square, out=change)
            change += eps
            np.divide(mean, change, out=change)
            change *= rate
            data -= change  # rate mean / (√square + eps)


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

    small = Adam.small

    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
        super().__init__(learning_rate, beta1, beta2, eps)
        self.weight_decay = require_number("weight_decay", weight_decay, least=0)

    def update(self, parameter, learning_rate, memory):
        """Let the weights decay, and take a step of Adam."""
        parameter.data *= 1.0 - learning_rate * self.weight_decay
        super().update(parameter, learning_rate, memory)


class RMSProp(Optimizer):
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
    begins at zero, so the first steps are long; it is kept in `optimizer.memory[parameter]["square"]`.

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

    remembered, small = ("square",), 2**12

    def __init__(self, learning_rate=1e-3, decay=0.9, eps=1e-8):
        super().__init__(learning_rate)
        self.decay = require_number("decay", decay, least=0, below=1)
        self.eps = require_number("eps", eps, above=0)

    def update(self, parameter, learning_rate, memory):
        """Take a step along the gradient, divided by the root of its mean square."""
        for data, grad, square in in_pieces(parameter.data, parameter.peek(), memory["square"]):
            square *= self.decay
            square += (1.0 - self.decay) * (grad * grad)
            data -= learning_rate * (grad / (np.sqrt(square) + self.eps))


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
    require_number("max_norm", max_norm, above=0)
    parameters = list_of_parameters("clip_grad_norm", parameters)
    gradients = [parameter.peek() for parameter in parameters]
    length = math.sqrt(sum(float((gradient * gradient).sum()) for gradient in gradients))
    if not math.isfinite(length):
        raise ValueError(f"the gradients have the length {length}: look for nan, or lower the learning rate.")
    if length > max_norm:
        for gradient in gradients:
            gradient *= max_norm / length
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
    require_number("learning_rate of exponential", learning_rate, above=0)
    require_number("half_life of exponential", half_life, above=0)
    return lambda step: learning_rate * 0.5 ** (step / half_life)
