"""What other libraries call things, and what they are called here: for the error that a habit meets.

Holds a table of names, most of them PyTorch's; unknown_attribute, which asks it; and Answering, a class whose
subclasses answer with it, and tell whoever makes one with another setting which settings there are. Leaves
out settings that exist and have a wrong value (settings.py). Built in chapter 12.
"""

import functools
import inspect

_ANSWERS = {
    "train eval": "a pass is told, layer(X, training=True), as a Learner does; layer(X) is outside training",
    "state_dict load_state_dict": "save(path, model) and load(path, model) write and read files",
    "half float double": "model.to(np.float32) and model.to(np.float64) choose the type",
    "cuda cpu": 'to_device(model, "gpu") and to_device(model, "cpu") move a model',
    "fit compile": "Learner(model, loss, optimizer).fit(X, T) trains it",
    "backward": "the way back comes with the result, Y, backward = layer(X), then dX = backward(dY)",
    "requires_grad": "parameter.trainable = False and layer.freeze() stop the training",
    "requires_grad_": "layer.freeze() and layer.unfreeze() decide what is trained",
    "weight": "the weights are W",
    "modules children": "named_layers() returns a dict of names to layers",
    "lr": "the setting is learning_rate",
    "param_groups": "the setting is learning_rate, and each step is given the parameters",
    "add_param_group": "each step is given the parameters: optimizer.step(model.parameters())",
    "zero_grad": "it does not keep the parameters, so call model.zero_grad()",
    "detach": "an array has no graph: parameter.data is a plain array",
    "numpy": "parameter.data is a plain array",
}
HERE = {name: answer for names, answer in _ANSWERS.items() for name in names.split()}


def unknown_attribute(thing, name, here=None):
    """Return the error for an attribute that a thing does not have, with what it is called here.

    Parameters
    ----------
    thing : object
    name : str
    here : str, optional
        What to say about it, unless what the table says will do.

    Returns
    -------
    AttributeError

    Examples
    --------
    >>> from minigrad import ReLU
    >>> ReLU().weight
    Traceback (most recent call last):
        ...
    AttributeError: ReLU has no attribute weight: the weights are W.
    """
    here = here or HERE.get(name)
    said = f": {here}" if here else ""
    return AttributeError(f"{type(thing).__name__} has no attribute {name}{said}.", name=name, obj=thing)


class _Habit:
    """A name of another library: to read it is an error that says what it is called here."""

    def __init__(self, name, here=None):
        self.name, self.here, self.__doc__ = name, here, None

    def __get__(self, thing, kind=None):
        if thing is None:
            return self
        raise unknown_attribute(thing, self.name, self.here)


class _StrictHabit(_Habit):
    """A name that may not be set either, where setting it would do nothing."""

    def __set__(self, thing, value):
        raise unknown_attribute(thing, self.name, self.here)


class Answering:
    """A class that answers names which it does not have: other libraries' attributes, and unknown settings.

    The class keyword `habits` lists the attributes, and may be a dict with what this class says about each;
    `strict` answers also who sets one. A method __getattr__ could do the same, but would make each attribute
    of the class slower to read.

    Examples
    --------
    >>> class Optimizer(Answering, habits="lr param_groups", strict=True):
    ...     def __init__(self, learning_rate=0.1, momentum=0.0):
    ...         pass
    >>> Optimizer().lr = 0.1
    Traceback (most recent call last):
        ...
    AttributeError: Optimizer has no attribute lr: the setting is learning_rate.
    >>> Optimizer(lr=0.1)
    Traceback (most recent call last):
        ...
    TypeError: Optimizer has no setting lr: it takes learning_rate, momentum.
    """

    __slots__ = ()

    def __init_subclass__(cls, habits="", strict=False, **options):
        super().__init_subclass__(**options)
        sentences = habits if isinstance(habits, dict) else dict.fromkeys(habits.split())
        for name, here in sentences.items():
            setattr(cls, name, (_StrictHabit if strict else _Habit)(name, here))
        if "__init__" in vars(cls):
            cls.__init__ = _naming_its_settings(cls.__init__)


def _naming_its_settings(constructor):
    """Let a constructor answer a setting that it does not have with those that it has."""
    declared = list(inspect.signature(constructor).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in declared):
        return constructor
    known = [parameter.name for parameter in declared if parameter.kind is not parameter.VAR_POSITIONAL]

    @functools.wraps(constructor)
    def checked(self, *arguments, **settings):
        for name in settings:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise TypeError(f"{type(self).__name__} has no setting {name}: {takes}.")
        constructor(self, *arguments, **settings)

    return checked
