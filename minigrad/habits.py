"""What other libraries call things, and what they are called here: for the error that such a name gets.

Holds a table of names, most of them PyTorch's, and Answering, a class that asks it for a name that it does
not have. Leaves out settings that exist and have a wrong value (settings.py). Built in chapter 12.
"""

_ANSWERS = {
    "train eval training": "write layer(X, training=True), as a Learner does; layer(X) is outside training",
    "state_dict load_state_dict": "save(path, model) and load(path, model) write and read files",
    "half float double": "model.to(np.float32) and model.to(np.float64) choose the type",
    "cuda cpu": 'to_device(model, "gpu") and to_device(model, "cpu") move a model',
    "fit compile": "Learner(model, loss, optimizer).fit(X, T) trains it",
    "backward": "backward comes with the result: Y, backward = layer(X), then dX = backward(dY)",
    "requires_grad requires_grad_ trainable": "parameter.trainable = False, or layer.freeze(), freezes it",
    "weight": "the weights are W",
    "modules children": "named_layers() returns a dict of names to layers",
    "lr": "the setting is learning_rate",
    "p": "the setting is rate",
    "param_groups": "the setting is learning_rate, and each step is given the parameters",
    "add_param_group": "each step is given the parameters: optimizer.step(model.parameters())",
    "zero_grad": "it does not keep the parameters, so call model.zero_grad()",
    "detach": "an array has no graph: parameter.data is a plain array",
    "numpy": "parameter.data is a plain array",
}
HERE = {name: answer for names, answer in _ANSWERS.items() for name in names.split()}


def unknown_attribute(thing, name):
    """Return the error for an attribute that a thing does not have, with what it is called here.

    Parameters
    ----------
    thing : object
    name : str

    Returns
    -------
    AttributeError
    """
    said = f": {HERE[name]}" if name in HERE else ""
    return AttributeError(f"{type(thing).__name__} has no attribute {name}{said}.", name=name, obj=thing)


class Answering:
    """A class whose objects answer the names of other libraries with what they are called here.

    Examples
    --------
    >>> from minigrad import SGD, ReLU
    >>> ReLU().weight
    Traceback (most recent call last):
        ...
    AttributeError: ReLU has no attribute weight: the weights are W.
    >>> SGD(0.1).lr = 0.5  # nothing would read it
    Traceback (most recent call last):
        ...
    AttributeError: SGD has no attribute lr: the setting is learning_rate.
    """

    __slots__ = ()

    def __getattr__(self, name):  # called only for a missing attribute
        if isinstance(getattr(type(self), name, None), property):
            return object.__getattribute__(self, name)  # the property's own error
        raise unknown_attribute(self, name)

    def __setattr__(self, name, value):
        """Refuse such a name, which nothing would read; a reader's own class may have all but `trainable`."""
        if name in HERE and not hasattr(type(self), name):
            if name == "trainable" or type(self).__module__.startswith("minigrad."):
                raise unknown_attribute(self, name)
        super().__setattr__(name, value)
