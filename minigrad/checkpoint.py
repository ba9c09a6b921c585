"""Saving and loading: everything that a run needs to go on as if it had never stopped.

A checkpoint is NumPy's .npz with a JSON header. Holds save and load, for models, Learners, and several of
them in one file. Leaves out how a model is built: build it first, then load (or see beyond/blueprint.py).
Built in chapter 08.
"""

import copy
import inspect
import io
import json
import numbers
import os
import zlib

import numpy as np
from numpy.lib.format import read_array

from minigrad.backend import array_module, to_numpy
from minigrad.layer import Function, Layer, as_layer
from minigrad.parts import attributes, is_array_holder, named_parts

FORMAT = 2
FLOATS = {"float32", "float64"}
FREE = {"rng", "init", "init_U", "learning_rate"}  # arguments that may differ
BESIDE = ("(learner)", "(shuffle)", "(optimizer)", "(callback)")  # what stands beside the names in the model
LEARNER, SHUFFLE, OPTIMIZER, CALLBACK = BESIDE


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged, or of something else; nothing was loaded, nothing written."""


def save(path, thing):
    """Write a checkpoint; an older one at that path stays whole until the new one is complete.

    Parameters
    ----------
    path : str or Path
        Folders above it are made.
    thing : Layer or Learner, or dict of names to Layers, Learners, optimizers and EarlyStoppings
        Of a Layer: Parameters, Buffers, the state of its random Generators, and what is frozen. Of a Learner
        also the epoch and the history, the state of the Generator that shuffles, and the optimizer's steps
        and memory. An optimizer remembers by Parameter, so it stands in a dict together with their model;
        and so does EarlyStopping: `{"learner": learner, "stop": stop}`.

    Raises
    ------
    TypeError
        If the arguments are something else.
    CheckpointError
        If the path is a folder.

    Notes
    -----
    An optimizer of your own goes on, too, if it counts in `steps` and keeps its arrays in
    `memory[parameter]`, as those of the library do. So does a callback, if it keeps its arrays there, and
    the rest, a dict, in `progress`.

    References
    ----------
    Chapter 08.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/linear.npz"
    >>> from minigrad import Linear
    >>> save(path, Linear(2, 1, rng=0))
    >>> bool((load(path, Linear(2, 1, rng=1)).W.data == Linear(2, 1, rng=0).W.data).all())
    True
    """
    write(path, parts_of(thing))


def load(path, thing, prefix=None):
    """Read a checkpoint into a model or Learner of the same make, and return it.

    Parameters
    ----------
    path : str, Path, or binary file open for reading
    thing : Layer or Learner, or dict of such, as for `save`
        Built as the saved one was. A Layer may also be loaded from a Learner's checkpoint.
    prefix : str, optional
        Load a part of what was saved: the name under which `thing` stands in the file. What the file holds
        besides is passed over. A body saved with its head as `{"body": body, "head": head}` is "body". In
        `Sequential(body, head)` it is "layers.0". `body >> head` joins the layers of both into one row, which
        begins as the body does: there it is "".

    Returns
    -------
    thing
        With zero gradients; its arrays are the same objects with other numbers, so replicas see them.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or differs in names, layers, shapes, float types, or the settings
        of the optimizer. Nothing has been changed then. The learning rate may differ: it is yours to choose.
    TypeError
        If the arguments are something else.

    References
    ----------
    Chapter 08.

    Examples
    --------
    >>> import tempfile
    >>> from minigrad import Linear, Tanh
    >>> path = tempfile.mkdtemp() + "/net.npz"
    >>> body = Linear(2, 3, rng=0) >> Tanh()
    >>> save(path, {"body": body, "head": Linear(3, 1, rng=1)})
    >>> other = load(path, Linear(2, 3, rng=5) >> Tanh(), prefix="body")
    >>> bool((other.layers[0].W.data == body.layers[0].W.data).all())
    True
    """
    restore(path, *read(path), parts_of(thing, prefix or ""), is_partial=prefix is not None)
    return thing


def parts_of(thing, prefix=""):
    """Return what a checkpoint remembers of a thing, by name.

    Examples
    --------
    >>> from minigrad import Linear
    >>> parts_of(Linear(2, 1, rng=0))
    {'': Linear(2, 1), 'W': Parameter(2, 1), 'b': Parameter(1,)}
    """
    models, others = {}, {}
    for key, value in thing.items() if isinstance(thing, dict) else [("", thing)]:
        name = ".".join(filter(None, [prefix, str(key)]))
        if hasattr(value, "progress") and hasattr(value, "memory"):  # careful: it can be called, too
            others[name + CALLBACK] = value
        elif callable(value):
            models[name] = as_layer(value)
        elif hasattr(value, "optimizer"):
            models[name] = as_layer(value.model)
            others |= {name + LEARNER: value, name + SHUFFLE: value.rng, name + OPTIMIZER: value.optimizer}
        elif hasattr(value, "step"):
            others[name + OPTIMIZER] = value
        else:
            wanted = "a model, a Learner, or a dict of such (and optimizers)"
            raise TypeError(f"expected {wanted}, got {value!r}.")
    if not models:
        advice = 'saved with its model, as a Learner or as {"model": model, "optimizer": optimizer}'
        raise TypeError(f"there is no model: an optimizer remembers by Parameter, so it is {advice}.")
    kept = (Layer, np.random.Generator)
    found = named_parts(models)
    return {name: part for name, part in found if isinstance(part, kept) or is_array_holder(part)} | others


def write(path, parts, **more):
    """Write parts by name, and more into the header, to a new file, which then takes the place of the old.

    Examples
    --------
    >>> write([], {})
    Traceback (most recent call last):
        ...
    TypeError: the path comes first, save(path, thing) and load(path, thing); got a list.
    """
    path = _as_path(path)
    if path.is_dir():
        raise CheckpointError(f"{path} is a folder: name a file in it, such as {path / 'run.npz'}.")
    arrays = {}
    for name, part in parts.items():
        if is_array_holder(part):
            arrays[f"data/{name}"] = to_numpy(part.data)
        elif name.endswith((OPTIMIZER, CALLBACK)):
            arrays |= _memory_of(name, parts)
            _memory_in(name, parts, arrays)  # refuses at once what could not be read
    states = {name: getattr(*_state_of(name, part), None) for name, part in parts.items()}
    header = {"format": FORMAT, "facts": facts_of(parts), "states": states, **more}
    arrays["header"] = np.array(json.dumps(header, default=np.ndarray.tolist).encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, checksum=np.array(_checksum(arrays)), **arrays)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path):
    """Return header and arrays of a checkpoint, or say what is wrong with the file.

    Examples
    --------
    >>> header, arrays = read("no.npz")
    Traceback (most recent call last):
        ...
    minigrad.checkpoint.CheckpointError: there is no checkpoint no.npz: look at the path, or save one first.
    """
    content = path.read() if hasattr(path, "read") else _content(_as_path(path))
    import zipfile  # here, since it takes longer than the rest of the library

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: io.BytesIO(archive.read(name)) for name in archive.namelist()}
        arrays = {name.removesuffix(".npy"): read_array(file) for name, file in members.items()}
        header = json.loads(arrays["header"].item())
        if header["format"] != FORMAT:
            raise ValueError(f"it is of format {header['format']}, and this version reads {FORMAT}")
        is_whole = int(arrays.pop("checksum")) == _checksum(arrays)
        if not is_whole or header["facts"].keys() != header["states"].keys():
            raise ValueError("this is not what was written")
    except Exception as error:  # whatever goes wrong here, the bytes are not those of a checkpoint
        raise CheckpointError(f"{path} is no checkpoint, or a damaged one ({error}): use another.") from error
    return header, arrays


def restore(path, header, arrays, parts, is_partial=False):
    """Compare what a file holds with the parts here, and change them only if all is well.

    First every part looks at what the file holds for it, and gives a closure that makes the change. These are
    called when all have agreed.

    Examples
    --------
    >>> from minigrad import ReLU
    >>> restore("run.npz", {"facts": {"": "Tanh()"}, "states": {"": False}}, {}, {"": ReLU()})
    Traceback (most recent call last):
        ...
    minigrad.checkpoint.CheckpointError: run.npz does not fit, nothing was loaded. the model: Tanh() in the \
file, ReLU() here.
    """
    ours, theirs = facts_of(parts), {name: str(fact) for name, fact in header["facts"].items()}
    passed_over = [name for name in theirs.keys() - ours if is_partial or name.endswith(BESIDE)]
    differing = [name for name in differences(ours, theirs) if name not in passed_over]
    if differing:
        what = _difference(differing, theirs, ours)
        raise CheckpointError(f"{path} does not fit, nothing was loaded. {what}")
    try:
        changes = [_change(name, parts, header["states"][name], arrays) for name in parts]
    except Exception as error:  # a state is not what it should be
        raise CheckpointError(f"{path} is damaged, nothing was loaded ({error}): use another.") from error
    for change in changes:
        change()


def facts_of(parts):
    """Return by name what must be the same in a file and here, in words.

    Examples
    --------
    >>> from minigrad import Linear
    >>> facts_of(parts_of(Linear(2, 1, rng=0)))
    {'': 'Linear(n_in=2, n_out=1, bias=True)', 'W': 'float64 (2, 1)', 'b': 'float64 (1,)'}
    """
    return {name: in_words(part) for name, part in parts.items()}


def differences(ours, theirs):
    """Return the names under which two dicts hold different things, or one of them nothing.

    Examples
    --------
    >>> differences({"": "Tanh()", "W": "float64 (2, 1)"}, {"": "Tanh()"})
    ['W']
    """
    return [name for name in ours | theirs if ours.get(name) != theirs.get(name)]


def in_words(part):
    """Return in one line what must be the same in the file and here: an array's type, a layer's settings.

    Examples
    --------
    >>> from minigrad import Adam, BatchNorm, Linear
    >>> in_words(BatchNorm(3)), in_words(Adam(0.1))
    ('BatchNorm(n_in=3, axis=1, momentum=0.1, eps=1e-05)', 'Adam(beta1=0.9, beta2=0.999, eps=1e-08)')
    >>> in_words(Linear(3, 7, rng=0).W)
    'float64 (3, 7)'
    """
    if is_array_holder(part):
        return _kind_of(part.data)
    if isinstance(part, np.random.Generator):
        return type(part.bit_generator).__name__
    if isinstance(part, Function):
        return getattr(part.__wrapped__, "__name__", type(part.__wrapped__).__name__)
    given = {} if hasattr(part, "fit_batch") else arguments(part)  # a Learner's parts have their own lines
    given = {name: value for name, value in given.items() if is_plain(value)}
    given = json.loads(json.dumps(given, default=np.generic.item))  # NumPy's numbers become Python's
    settings = [f"{name}={value!r}" for name, value in given.items()]
    return f"{type(part).__name__}({', '.join(settings)})"


def arguments(thing):
    """Return what a layer or an optimizer was made with: what it keeps in attributes of the same names.

    Leaves out what has done its work once there are weights, and the learning rate, which is free.

    Examples
    --------
    >>> from minigrad import MaxPool2d
    >>> arguments(MaxPool2d(3))
    {'size': 3, 'stride': 3}
    """
    held, names = dict(attributes(thing)), inspect.signature(type(thing)).parameters
    return {name: held[name] for name in names if name in held and name not in FREE}


def is_plain(value):
    """Tell whether a value is a number, a text or None, or made of such, and so the same in every run.

    Examples
    --------
    >>> is_plain([1, (2.5, "same"), None]), is_plain([print])
    (True, False)
    """
    if isinstance(value, (tuple, list)):
        return all(map(is_plain, value))
    return value is None or isinstance(value, (numbers.Real, np.bool_, str))


def _kind_of(array):
    """Return the type and the shape of an array in words."""
    return f"{array.dtype.name} {tuple(array.shape)}"


def _difference(names, theirs, ours):
    """Say what differs between a file and what is here, and how to convert where it is the float type."""
    lines, advice = [], ""
    for name in names:
        there, here = theirs.get(name, "nothing"), ours.get(name, "nothing")
        lines.append(f"{name or 'the model'}: {there} in the file, {here} here")
        kind = there.partition(" ")[0]
        if {kind, here.partition(" ")[0]} == FLOATS:
            advice = f" Convert first: model.to(np.{kind})."
    more = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
    return f"{'; '.join(lines[:5])}{more}.{advice}"


def _state_of(name, part):
    """Return which attribute of which object holds what else changes in a part, beside its arrays."""
    if isinstance(part, np.random.Generator):
        return part.bit_generator, "state"
    if name.endswith((LEARNER, CALLBACK)):
        return part, "progress"
    if name.endswith(OPTIMIZER):
        return part, "steps"
    return part, "trainable" if is_array_holder(part) else "frozen"


def _change(name, parts, state, arrays):
    """Look whether a part can take what a file holds for it, and return a function that makes the change."""
    part = parts[name]
    owner, attribute = _state_of(name, part)
    before = getattr(owner, attribute, None)
    data = memory = None
    if isinstance(before, dict):
        setattr(copy.copy(owner), attribute, state)  # a trial: the owner refuses what it cannot take
    elif type(state) is not type(before) or (before is not None and state < 0):
        raise ValueError(f"{name} has {attribute} {state!r}")
    if is_array_holder(part):
        array = arrays[f"data/{name}"]
        if _kind_of(array) != _kind_of(part.data):
            raise ValueError(f"{name} is {_kind_of(array)}")
        data = array_module(part.data).asarray(array)
    elif name.endswith((OPTIMIZER, CALLBACK)) and hasattr(part, "memory"):
        memory = _memory_in(name, parts, arrays)

    def change():
        if before is not None:
            setattr(owner, attribute, state)
        if data is not None:
            part.data[...] = data
            if hasattr(part, "grad"):
                part.grad.fill(0.0)
        if memory is not None:
            part.memory = memory

    return change


def _memory_of(name, parts):
    """Return what an optimizer or a callback remembers of the other parts, as arrays by name."""
    memory = getattr(parts[name], "memory", {})
    return {
        f"memory/{name}/{key}/{word}": to_numpy(value)
        for key, part in parts.items()
        for word, value in memory.get(part, {}).items()
    }


def _memory_in(name, parts, arrays):
    """Return an optimizer's memory out of arrays by name, refusing what cannot be one."""
    memory, start = {}, f"memory/{name}/"
    for place in (place for place in arrays if place.startswith(start)):
        key, _, word = place.removeprefix(start).rpartition("/")
        value, parameter = arrays[place], parts[key]
        is_count = value.dtype.kind in "iu" and value.shape == () and value >= 0
        if not is_count and (value.dtype.name not in FLOATS or value.shape != parameter.data.shape):
            raise ValueError(f"{place} is neither a count nor like its parameter, but {_kind_of(value)}")
        memory.setdefault(parameter, {})[word] = value.item() if is_count else value
    return memory


def _content(path):
    """Return the bytes of a file, or say that there is none."""
    if not path.is_file():
        raise CheckpointError(f"there is no checkpoint {path}: look at the path, or save one first.")
    return path.read_bytes()


def _as_path(path):
    """Return a path, refusing arguments in the wrong order."""
    from pathlib import Path  # here, since it takes a quarter as long as the rest of the library

    if not isinstance(path, (str, os.PathLike)):
        wanted = "the path comes first, save(path, thing) and load(path, thing)"
        raise TypeError(f"{wanted}; got a {type(path).__name__}.")
    return Path(path)


def _checksum(arrays):
    """Return a number that would differ if an array stood under another name."""
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(arrays[name].tobytes(), zlib.crc32(name.encode(), total))
    return total
