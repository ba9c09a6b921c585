"""Whole models in files: structure and numbers, without code in the file.

Holds save_model and load_model. A layer is written down as the name of its class and the arguments that it
was made with, which it keeps in attributes of the same names. Leaves out what a class or a function does:
those of the library are known, others are handed in. Built in chapter 08.
"""

import inspect
import numbers

import numpy as np

from minigrad import checkpoint
from minigrad.checkpoint import CheckpointError, differences, facts_of, parts_of
from minigrad.layer import Function, Layer
from minigrad.parts import attributes, copied, is_array_holder, named_parts

CONTAINERS = {"tuple": tuple, "list": list, "dict": dict}
FREE = {"rng", "init", "init_U"}  # arguments that need not be kept: there are weights


def save_model(path, model):
    """Write a model, its layers and its numbers, into a file for load_model.

    Parameters
    ----------
    path : str or Path
        Folders above it are made; an older file stays whole until the new one is complete.
    model : Layer
        Of layers of the library, and of layers and functions of your own that have a name. A layer of your
        own keeps each argument that it is made with as an attribute of that name: a number, a text, a layer,
        a function, or a list of such; only `rng` and `init` need not be kept. The same layer in two places,
        and a Parameter that two layers share, stay one.

    Raises
    ------
    TypeError
        If a part cannot be written down; the sentence says what to do about it.

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
        raise TypeError(f"save_model takes a model, got {model!r}: of a Learner, write learner.model.")
    parts, yours = parts_of(model), {}
    plan, facts = _plan(parts, yours), facts_of(parts)
    try:
        again = parts_of(_build(plan, yours, facts))
    except Exception as error:
        what = f"{model} cannot be made again from its arguments ({error})"
        raise TypeError(f"{what}: use save and load.") from error
    differing = differences(facts, facts_of(again)) or differences(plan["layers"], _plan(again, {})["layers"])
    if differing:
        what = f"made again from its arguments, it differs in {differing[0] or 'itself'}"
        advice = "Change it in __init__, or use save and load"
        raise TypeError(f"{what}: what is changed after a layer is made is not written down. {advice}.")
    checkpoint.write(path, parts, plan=plan)


def load_model(path, layers=None):
    """Make a model from a file of save_model.

    Parameters
    ----------
    path : str, Path, or binary file open for reading
    layers : dict of str to class or function, optional
        The layers and functions of your own, by the names that they had: `{"Swish": Swish}`.

    Returns
    -------
    Layer

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, holds no such model, or names a layer that was not handed in.

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
        advice = f"make the model yourself, and load({str(path)!r}, model)"
        raise CheckpointError(f"{path} holds no layers: {advice}.")
    try:
        missing = [name for name in plan["yours"] if name not in layers]
        model = None if missing else _build(plan, layers, header["facts"])
    except Exception as error:  # a class may be another than the one that was saved, too
        raise CheckpointError(f"{path} cannot be made ({type(error).__name__}: {error}).") from error
    if missing:
        handed_in = ", ".join(f'"{name}": {name}' for name in missing)
        advice = f"write load_model({str(path)!r}, {{{handed_in}}})"
        raise CheckpointError(f"{path} needs layers of yours: {advice}.")
    checkpoint.restore(path, header, arrays, parts_of(model))
    return model


def _plan(parts, yours):
    """Describe how the layers of a model are made; collect in `yours` what is not in the library."""
    layers = {}
    _describe(parts[""], {id(part): name for name, part in parts.items()}, layers, yours)
    return {"layers": layers, "shared": _shared(parts), "yours": list(yours)}


def _describe(layer, names, plan, yours):
    """Describe, by name, how a layer and the layers inside it are made; collect what is not ours."""
    name, kind = names[id(layer)], type(layer)
    if name in plan:  # shared
        return name
    if kind.__module__ == "minigrad.beyond.bridge":
        raise TypeError(
            f"{layer} runs code of another library, which is not written down: make the model again "
            "yourself, and use save and load."
        )
    signature = inspect.signature(kind).parameters
    given = {"function": layer.__wrapped__} if isinstance(layer, Function) else _arguments(layer, signature)
    for key in signature:
        if key not in given and key not in FREE:
            advice = f"write self.{key} = {key} in __init__"
            raise TypeError(f"{layer} is made with {key}, and forgets it: {advice}.")
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
        wanted = "number, text, layer, function, or list of such"
        raise TypeError(f"{layer} is made with {value!r}, which is not a {wanted}.")

    for key, value in given.items():
        if isinstance(value, dict) and signature[key].kind is inspect.Parameter.VAR_POSITIONAL:
            given[key] = [value]  # layers with names are one argument, a dict
    entry["arguments"] = {key: encoded(value) for key, value in given.items()}
    return name


def _arguments(layer, signature):
    """Return the arguments of a layer, which are in its attributes of the same names."""
    held = dict(attributes(layer))
    return {name: held[name] for name in signature if name in held and name not in FREE}


def _named(thing, yours):
    """Return the name of a class or a function, under which load_model is given it."""
    name = getattr(thing, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"{thing!r} has no name under which load_model could be given it: write it with def.")
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
    """Make the layers of a plan, share the shared ones, and convert all arrays to their type."""
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
