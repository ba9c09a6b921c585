"""Save and load everything that a run needs to continue as if it had never stopped.

A checkpoint is NumPy's .npz with a JSON header. Holds save and load, for models, Learners, and several of
them in one file. The file does not say how to build a model: build it first, then load (or see
beyond/model_files.py). Built in chapter 08.
"""

import copy
import io
import json
import os
import re

import numpy as np
from numpy.lib.format import read_array

from minigrad.backend import array_module, to_numpy
from minigrad.layer import Layer, as_layer
from minigrad.parts import is_array_holder, named_parts

FORMAT = 3
BESIDE = ("(learner)", "(shuffle)", "(optimizer)", "(callback)")  # saved beside the model
LEARNER, SHUFFLE, OPTIMIZER, CALLBACK = BESIDE


class CheckpointError(ValueError):
    """Raised if a checkpoint is missing, damaged, or does not fit; nothing was loaded or written."""


def save(path, thing):
    """Write a checkpoint; replace an older file at that path only when the new one is complete.

    Parameters
    ----------
    path : str or Path
        Missing folders are created.
    thing : Layer or Learner, or dict from names to Layers, Learners, optimizers and EarlyStoppings
        Of a Layer: Parameters, Buffers, the state of its random Generators, and which layers are frozen. Of a
        Learner also the epoch and the history, the state of the Generator that shuffles, and the optimizer's
        steps and memory. An optimizer's memory belongs to Parameters, so save the optimizer in a dict with
        their model. The same holds for EarlyStopping: `{"learner": learner, "stop": stop}`.

    Raises
    ------
    TypeError
        If the arguments have other types.
    CheckpointError
        If the path is a folder.

    Notes
    -----
    An optimizer of your own is also saved if it counts in `steps` and stores its arrays in
    `memory[parameter]`, as the library's optimizers do; so is a callback that stores its arrays there, and
    the rest of its state in a dict `progress`.

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


def load(path, thing):
    """Read a checkpoint into a model or Learner that was built the same way, and return it.

    Parameters
    ----------
    path : str, Path, or binary file open for reading
    thing : Layer or Learner, or dict of these, as for `save`
        Built like the saved one. A Layer may also be loaded from a Learner's checkpoint.

    Returns
    -------
    thing
        With zero gradients. Its arrays are the same objects with new values, so replicas share them.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or differs in names, shapes, float types, or in the `repr` of a
        layer, such as Tanh() or Dropout(0.5); nothing is changed. An optimizer must be of the same class, but
        its settings, such as the learning rate, may differ.
    TypeError
        If the arguments have other types.

    References
    ----------
    Chapter 08.

    Examples
    --------
    >>> import tempfile
    >>> from minigrad import Linear, Tanh
    >>> path = tempfile.mkdtemp() + "/net.npz"
    >>> net = Linear(2, 3, rng=0) >> Tanh()
    >>> save(path, net)
    >>> other = load(path, Linear(2, 3, rng=5) >> Tanh())
    >>> bool((other.layers[0].W.data == net.layers[0].W.data).all())
    True
    """
    restore(path, *read(path), parts_of(thing))
    return thing


def parts_of(thing):
    """Collect, by name, the parts of a thing that a checkpoint stores.

    Examples
    --------
    >>> from minigrad import Linear
    >>> parts_of(Linear(2, 1, rng=0))
    {'': Linear(2, 1), 'W': Parameter(2, 1), 'b': Parameter(1,)}
    """
    models, others = {}, {}
    for name, value in thing.items() if isinstance(thing, dict) else [("", thing)]:
        if hasattr(value, "progress") and hasattr(value, "memory"):  # careful: it is also callable
            others[name + CALLBACK] = value
        elif callable(value):
            models[name] = as_layer(value)
        elif hasattr(value, "optimizer"):
            models[name] = as_layer(value.model)
            others |= {name + LEARNER: value, name + SHUFFLE: value.rng, name + OPTIMIZER: value.optimizer}
        elif hasattr(value, "step"):
            others[name + OPTIMIZER] = value
        else:
            wanted = "a model, a Learner, or a dict of these (and optimizers)"
            raise TypeError(f"expected {wanted}, got {value!r}.")
    if not models:
        advice = 'saved with its model, as a Learner or as {"model": model, "optimizer": optimizer}'
        raise TypeError(f"there is no model: an optimizer's memory belongs to Parameters, so it is {advice}.")
    kept = (Layer, np.random.Generator)
    found = named_parts(models)
    return {name: part for name, part in found if isinstance(part, kept) or is_array_holder(part)} | others


def write(path, parts, **more):
    """Write parts by name, and further header entries, to a new file, which then replaces the old one."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        raise CheckpointError(f"{path} is a folder: name a file in it, such as {path}/run.npz.")
    arrays = {}
    for name, part in parts.items():
        if is_array_holder(part):
            arrays[f"data/{name}"] = to_numpy(part.data)
        elif name.endswith((OPTIMIZER, CALLBACK)):
            arrays |= _memory_of(name, parts)
    states = {name: getattr(*_state_of(name, part), None) for name, part in parts.items()}
    header = {"format": FORMAT, "facts": facts_of(parts), "states": states, **more}
    header = json.dumps(header, default=np.ndarray.tolist)
    for name, state in json.loads(header)["states"].items():
        _change(name, parts, state, arrays)  # raises an error now if load would fail later
    arrays["header"] = np.array(header.encode())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.urandom(8).hex()}.part"
    try:
        with open(temporary, "xb") as file:
            np.savez(file, **arrays)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def read(path):
    """Read header and arrays of a checkpoint; raise CheckpointError for any other file.

    Examples
    --------
    >>> header, arrays = read("no.npz")
    Traceback (most recent call last):
        ...
    minigrad.checkpoint.CheckpointError: there is no checkpoint no.npz: check the path, or save one first.
    """
    import zipfile  # imported here, since it takes longer than the rest of the library

    is_open = hasattr(path, "read")
    if not is_open and not os.path.isfile(path):
        raise CheckpointError(f"there is no checkpoint {path}: check the path, or save one first.")
    try:
        with zipfile.ZipFile(path) as archive:  # stores a checksum of each array
            members = {name: io.BytesIO(archive.read(name)) for name in archive.namelist()}
        arrays = {name.removesuffix(".npy"): read_array(file) for name, file in members.items()}
        header = json.loads(arrays["header"].item())
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']}, and this version reads {FORMAT}")
        if header["facts"].keys() != header["states"].keys():
            raise ValueError("the header is incomplete")
    except Exception as error:  # any failure means that the file is not a checkpoint
        raise CheckpointError(f"{path} is not a checkpoint, or is damaged ({error}): use another.") from error
    return header, arrays


def restore(path, header, arrays, parts):
    """Compare a file with the given parts, and change them only if all of them fit.

    The check of each part returns a closure that makes its change; the closures are called once all checks
    have passed.

    Examples
    --------
    >>> from minigrad import ReLU
    >>> restore("run.npz", {"facts": {"": "Tanh()"}, "states": {"": False}}, {}, {"": ReLU()})
    Traceback (most recent call last):
        ...
    minigrad.checkpoint.CheckpointError: run.npz does not fit, nothing was loaded. the model: Tanh() in the \
file, ReLU() here.
    """
    ours, theirs = facts_of(parts), header["facts"]
    wanted = {name: fact for name, fact in theirs.items() if name in ours or not name.endswith(BESIDE)}
    differing = differences(ours, wanted)
    if differing:
        pairs = [(n or "the model", theirs.get(n, "nothing"), ours.get(n, "nothing")) for n in differing[:5]]
        lines = "; ".join(f"{name}: {saved} in the file, {here} here" for name, saved, here in pairs)
        more = f"; and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise CheckpointError(f"{path} does not fit, nothing was loaded. {lines}{more}.")
    try:
        changes = [_change(name, parts, header["states"][name], arrays) for name in parts]
    except Exception as error:  # a state has another form
        raise CheckpointError(f"{path} is damaged, nothing was loaded ({error}): use another.") from error
    for change in changes:
        change()


def facts_of(parts):
    """Describe, by name, what must agree in file and model: types and shapes of arrays, reprs of layers.

    Examples
    --------
    >>> from minigrad import Linear
    >>> facts_of(parts_of(Linear(2, 1, rng=0)))
    {'': 'Linear(2, 1)', 'W': 'float64 (2, 1)', 'b': 'float64 (1,)'}
    """
    return {name: _fact_of(part) for name, part in parts.items()}


def _fact_of(part):
    """Describe the fact about one part in which file and model must agree."""
    if is_array_holder(part):
        return _kind_of(part.data)
    if isinstance(part, Layer):
        return re.sub(" at 0x[0-9a-fA-F]+", "", repr(part))  # an address differs from run to run
    return type(getattr(part, "bit_generator", part)).__name__


def differences(ours, theirs):
    """List the names whose values differ in two dicts, without layers that contain another such name.

    Examples
    --------
    >>> differences({"": "Linear(2, 1)", "W": "float64 (2, 1)"}, {"": "Linear(3, 1)", "W": "float64 (3, 1)"})
    ['W']
    """
    names = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    return [name for name in names if not any(n != name and n.startswith(name and name + ".") for n in names)]


def _kind_of(array):
    """Describe the type and shape of an array."""
    return f"{array.dtype.name} {tuple(array.shape)}"


def _state_of(name, part):
    """Return the owner and the name of the attribute that holds a part's state, without its arrays."""
    if isinstance(part, np.random.Generator):
        return part.bit_generator, "state"
    if name.endswith((LEARNER, CALLBACK)):
        return part, "progress"
    if name.endswith(OPTIMIZER):
        return part, "steps"
    return part, "trainable" if is_array_holder(part) else "_frozen"


def _change(name, parts, state, arrays):
    """Check the state and the arrays saved for a part, and return a function that sets them."""
    part = parts[name]
    owner, attribute = _state_of(name, part)
    before = getattr(owner, attribute, None)
    data = memory = None
    if isinstance(before, dict):
        setattr(copy.copy(owner), attribute, state)  # on a copy: the owner raises an error for a wrong state
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
            if getattr(part, "_grad", part) is not None and hasattr(part, "grad"):
                part.grad.fill(0.0)
        if memory is not None:
            part.memory = memory

    return change


def _memory_of(name, parts):
    """Collect by name the arrays that an optimizer or a callback stores for the other parts."""
    memory, kind = getattr(parts[name], "memory", {}), type(parts[name]).__name__
    if not memory and any(hasattr(held, "memory") for held in getattr(parts[name], "__dict__", {}).values()):
        raise TypeError(f"{kind} holds an optimizer, whose memory would be lost: let {kind} inherit from it.")
    return {
        f"memory/{name}/{key}/{word}": to_numpy(value)
        for key, part in parts.items()
        for word, value in memory.get(part, {}).items()
    }


def _memory_in(name, parts, arrays):
    """Build an optimizer's memory from arrays by name; raise ValueError if one does not fit."""
    memory, start = {}, f"memory/{name}/"
    for place in (place for place in arrays if place.startswith(start)):
        key, _, word = place.removeprefix(start).rpartition("/")
        value, parameter = arrays[place], parts[key]
        is_count = value.dtype.kind in "iu" and value.shape == () and value >= 0
        if not is_count and (
            value.dtype.name not in ("float32", "float64") or value.shape != parameter.data.shape
        ):
            raise ValueError(f"{place} is neither a count nor like its parameter, but {_kind_of(value)}")
        memory.setdefault(parameter, {})[word] = value.item() if is_count else value
    return memory
