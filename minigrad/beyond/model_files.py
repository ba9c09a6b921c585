"""Whole models in files: structure and arrays, without code in the file.

Holds save_model and load_model. A layer is saved as the name of its class and the arguments of its
__init__, which it stores in attributes of the same names. The code of a class or a function is not saved:
the library's own are known, others are passed to load_model. Built in chapter 08.
"""

import inspect
import numbers

import numpy as np

from minigrad import checkpoint
from minigrad.checkpoint import CheckpointError, differences, facts_of, parts_of
from minigrad.layer import Function, Layer
from minigrad.parts import attributes, copied, is_array_holder, named_parts

CONTAINERS = {"tuple": tuple, "list": list, "dict": dict}
FREE = {"rng", "init", "init_U"}  # arguments that need not be stored: the weights exist


def save_model(path, model):
    """Save a model, its layers and its arrays, to a file for load_model.

    Parameters
    ----------
    path : str or Path
        Missing folders are created; an older file stays intact until the new one is complete.
    model : Layer
        Made of layers of the library, and of your own layers and functions that have a name. A layer of your
        own must store each argument of its __init__ in an attribute of that name: a number, a str, a layer,
        a function, or a list of these; only `rng` and `init` need not be stored. A layer used twice,
        and a Parameter that two layers share, are still shared after loading.

    Raises
    ------
    TypeError
        If a part cannot be saved; the message says what to do about it.

    References
    ----------
    Chapter 08.

    Examples
    --------
    >>> import tempfile
    >>> from minigrad import Linear, Tanh
    >>> path = tempfile.mkdtemp() + "/model.npz"
    >>> save_model(path, Linear(2, 3, rng=0) >> Tanh())
    >>> load_model(path)
    Sequential(Linear(2, 3), Tanh())
    """
    if not callable(model):
        raise TypeError(f"save_model takes a model, got {model!r}: for a Learner, write learner.model.")
    parts, yours = parts_of(model), {}
    plan, facts = _plan(parts, yours), facts_of(parts)
    try:
        again = parts_of(_build(plan, yours, facts))
    except Exception as error:
        what = f"{model} cannot be created again from its arguments ({error})"
        raise TypeError(f"{what}: use save and load.") from error
    differing = differences(facts, facts_of(again)) or differences(plan["layers"], _plan(again, {})["layers"])
    if differing:
        what = f"created again from its arguments, it differs in {differing[0] or 'itself'}"
        advice = "Move them into __init__, or use save and load"
        raise TypeError(f"{what}: changes after __init__ are not saved. {advice}.")
    checkpoint.write(path, parts, plan=plan)


def load_model(path, layers=None):
    """Create a model from a file written by save_model.

    Parameters
    ----------
    path : str, Path, or binary file open for reading
    layers : dict of str to class or function, optional
        Your own layers and functions, by the names that they had: `{"Swish": Swish}`.

    Returns
    -------
    Layer

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, contains no model, or names a layer that was not passed in.

    References
    ----------
    Chapter 08.

    Examples
    --------
    >>> import tempfile
    >>> from minigrad import Sequential
    >>> def double(X):
    ...     return 2 * X, lambda dY: 2 * dY
    >>> path = tempfile.mkdtemp() + "/model.npz"
    >>> save_model(path, Sequential(double))
    >>> load_model(path, {"double": double})
    Sequential(double)
    """
    header, arrays = checkpoint.read(path)
    plan, layers = header.get("plan"), layers or {}
    if plan is None:
        advice = f"create the model yourself, and load({str(path)!r}, model)"
        raise CheckpointError(f"{path} contains no model: {advice}.")
    try:
        missing = [name for name in plan["yours"] if name not in layers]
        model = None if missing else _build(plan, layers, header["facts"])
    except Exception as error:  # the class may also differ from the one that was saved
        raise CheckpointError(f"{path} cannot be loaded ({type(error).__name__}: {error}).") from error
    if missing:
        passed_in = ", ".join(f'"{name}": {name}' for name in missing)
        advice = f"write load_model({str(path)!r}, {{{passed_in}}})"
        raise CheckpointError(f"{path} needs your own layers: {advice}.")
    checkpoint.restore(path, header, arrays, parts_of(model))
    return model


def _plan(parts, yours):
    """Describe how the layers of a model are made; collect in `yours` all that are not in the library."""
    layers = {}
    _describe(parts[""], {id(part): name for name, part in parts.items()}, layers, yours)
    return {"layers": layers, "shared": _shared(parts), "yours": list(yours)}


def _describe(layer, names, plan, yours):
    """Describe, by name, how a layer and the layers inside it are made; collect those that are not ours."""
    name, kind = names[id(layer)], type(layer)
    if name in plan:  # shared
        return name
    if kind.__module__ == "minigrad.beyond.bridge":
        raise TypeError(
            f"{layer} runs code of another library, which is not saved: create the model again "
            "yourself, and use save and load."
        )
    signature = inspect.signature(kind).parameters
    given = {"function": layer.__wrapped__} if isinstance(layer, Function) else _arguments(layer, signature)
    for key in signature:
        if key not in given and key not in FREE:
            advice = f"write self.{key} = {key} in __init__"
            raise TypeError(f"{layer} takes {key}, but does not store it: {advice}.")
    called = f"minigrad.{kind.__name__}" if _is_ours(kind) else _named(kind, yours)
    plan[name] = entry = {"class": called, "rng": None}
    inside = [part for _, part in named_parts(layer)]
    generators = [part for part in inside if isinstance(part, np.random.Generator)]
    if "rng" in signature and (generators or any(map(is_array_holder, inside))):
        entry["rng"] = type(generators[0].bit_generator).__name__ if generators else "PCG64"

    def encoded(value):
        if isinstance(value, Layer):
            return {"layer": _describe(value, names, plan, yours)}
        if isinstance(value, (tuple, list)):
            return {type(value).__name__: list(map(encoded, value))}
        if isinstance(value, dict):
            return {"dict": [encoded(list(pair)) for pair in value.items()]}
        if callable(value):
            return {"function": _named(value, yours)}
        if value is None or isinstance(value, (numbers.Real, np.bool_, str)):
            return value.item() if isinstance(value, np.generic) else value
        wanted = "number, str, layer, function, or list of these"
        raise TypeError(f"{layer} is made with {value!r}, which is not a {wanted}.")

    for key, value in given.items():
        if isinstance(value, dict) and signature[key].kind is inspect.Parameter.VAR_POSITIONAL:
            given[key] = [value]  # layers with names are one argument, a dict
    entry["arguments"] = {key: encoded(value) for key, value in given.items()}
    return name


def _arguments(layer, signature):
    """Return the arguments of a layer, from its attributes of the same names."""
    held = dict(attributes(layer))
    return {name: held[name] for name in signature if name in held and name not in FREE}


def _named(thing, yours):
    """Return the name under which a class or a function is passed to load_model."""
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"{thing!r} has no name, which load_model needs: define it with def.")
    if yours.setdefault(name, thing) != thing:
        raise TypeError(f"two different things are called {name}: give one of them another name.")
    return name


def _shared(parts):
    """Return, by name, every attribute of a layer that holds an object found under another name."""
    names, shared = {id(part): name for name, part in parts.items()}, {}
    for owner, layer in parts.items():
        for key, value in attributes(layer) if isinstance(layer, Layer) else ():
            place = f"{owner}.{key}" if owner else key
            if names.get(id(value), place) != place:
                shared[place] = names[id(value)]
    return shared


def _build(plan, yours, facts):
    """Create the layers of a plan, share the shared ones, and convert all arrays to their type."""
    ours = {f"minigrad.{kind.__name__}": kind for kind in _kinds_of(Layer) if _is_ours(kind)}
    kinds = {name: (ours | yours)[entry["class"]] for name, entry in plan["layers"].items()}
    made = {}

    def decoded(value):
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "layer":
            return make(content)
        return copied(yours[content], {}) if kind == "function" else CONTAINERS[kind](map(decoded, content))

    def make(name):
        if name not in made:
            entry = plan["layers"][name]
            given = {key: decoded(value) for key, value in entry["arguments"].items()}
            if entry["rng"]:
                given["rng"] = np.random.Generator(getattr(np.random, entry["rng"])(0))
            bound = inspect.BoundArguments(inspect.signature(kinds[name]), given)
            made[name] = kinds[name](*bound.args, **bound.kwargs)
        return made[name]

    model = make("")
    parts = parts_of(model)
    for place, name in plan["shared"].items():
        owner, _, key = place.rpartition(".")
        setattr(parts[owner], key, parts[name])
    for name, part in parts_of(model).items():
        if is_array_holder(part):
            part.convert(lambda array, name=name: array.astype(facts.get(name, "float64").partition(" ")[0]))
    return model


def _is_ours(kind):
    """Return whether a class belongs to the library."""
    return kind.__module__.startswith("minigrad.")


def _kinds_of(kind):
    """Return a class and all its subclasses."""
    return [kind, *(deeper for derived in kind.__subclasses__() for deeper in _kinds_of(derived))]
