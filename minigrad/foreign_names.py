"""Names from other libraries, mostly PyTorch's, and the errors that give the names used here.

The checks of settings' values are in settings.py. Built in chapter 12.
"""

_ANSWERS = {
    "train eval training": "write layer(X, training=True), as a Learner does; layer(X) runs as in evaluation",
    "state_dict load_state_dict": "save(path, model) and load(path, model) write and read files",
    "half float double": "model.to(np.float32) and model.to(np.float64) choose the type",
    "cuda cpu": 'to_device(model, "gpu") and to_device(model, "cpu") move a model',
    "fit compile": "Learner(model, loss, optimizer).fit(X, T) trains it",
    "backward": "backward comes with the result: Y, backward = layer(X), then dX = backward(dY)",
    "requires_grad requires_grad_ trainable": "parameter.trainable = False, or layer.freeze(), freezes it",
    "weight": "the weights are W",
    "modules children": "named_layers() returns a dict from names to layers",
    "lr": "the setting is learning_rate",
    "p": "the setting is rate",
    "param_groups": "the setting is learning_rate, and step takes the parameters",
    "add_param_group": "step takes the parameters: optimizer.step(model.parameters())",
    "zero_grad": "an optimizer has no list of parameters: call model.zero_grad()",
    "detach": "an array has no graph: parameter.data is a plain array",
    "numpy": "parameter.data is a plain array",
}
HERE = {name: answer for names, answer in _ANSWERS.items() for name in names.split()}


def unknown_attribute(thing, name):
    """Return the AttributeError for a missing attribute, with the name used here if the table lists one.

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
    """A base class: attributes named as in other libraries raise an error with the name used here.

    Examples
    --------
    >>> from minigrad import SGD, ReLU
    >>> ReLU().weight
    Traceback (most recent call last):
        ...
    AttributeError: ReLU has no attribute weight: the weights are W.
    >>> SGD(0.1).lr = 0.5  # would have no effect
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
        """Raise AttributeError for an unused name; your own classes may set all but `trainable`."""
        if name in HERE and not hasattr(type(self), name):
            if name == "trainable" or type(self).__module__.startswith("minigrad."):
                raise unknown_attribute(self, name)
        super().__setattr__(name, value)
