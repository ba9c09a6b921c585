"""Saving and loading: everything that a run needs to go on as if it had never stopped.

A checkpoint is NumPy's .npz with a JSON header. Holds save and load, for a model alone or a Learner. Leaves
out the code of the model: build it first, then load. Built in chapter 08.
"""

import json
import os
from pathlib import Path

import numpy as np

from minigrad.backend import array_module, to_numpy
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import named_parts

FORMAT = 1
LEARNER = "(learner)"  # the name of the generator that shuffles, beside those inside the model


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged, or of another model; nothing was loaded."""


def save(path, thing):
    """Write a checkpoint; an older one at that path stays whole until the new one is complete.

    Parameters
    ----------
    path : str or Path
        Folders above it are made.
    thing : Layer or Learner
        Of a Layer: parameters, optimizer state, buffers and the state of its random generators. Of a Learner
        also the epoch, the optimizer's step, and the state of the generator that shuffles.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "linear.npz"
    >>> from minigrad import Linear
    >>> save(path, Linear(2, 1, rng=0))
    >>> bool((load(path, Linear(2, 1, rng=1)).W.data == Linear(2, 1, rng=0).W.data).all())
    True
    """
    path = Path(path)
    parts, generators = _contents(thing)
    arrays = {f"data/{name}": to_numpy(part.data) for name, part in parts.items()}
    header = {
        "format": FORMAT,
        "generators": {name: generator.bit_generator.state for name, generator in generators.items()},
    }
    if not callable(thing):
        header |= {"optimizer": type(thing.optimizer).__name__, "epoch": thing.epoch}
        header |= {"steps": getattr(thing.optimizer, "steps", 0)}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, header=np.array(json.dumps(header, default=np.ndarray.tolist)), **arrays)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path, thing):
    """Read a checkpoint into a model or Learner of the same make, and return it.

    Parameters
    ----------
    path : str or Path
    thing : Layer or Learner
        Built as the saved one was. A Layer may also be loaded from a Learner's checkpoint.

    Returns
    -------
    thing

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or what it holds differs in names, shapes or kinds. Nothing has
        been changed then.
    """
    header, arrays = _read(Path(path))
    parts, generators = _contents(thing)
    here = {name: f"shape {part.shape}" for name, part in parts.items()}
    here |= {f"generator {name}": type(g.bit_generator).__name__ for name, g in generators.items()}
    there = {name[5:]: f"shape {array.shape}" for name, array in arrays.items() if name.startswith("data/")}
    there |= {f"generator {name}": state["bit_generator"] for name, state in header["generators"].items()}
    if callable(thing):
        there.pop(f"generator {LEARNER}", None)
    else:
        here["optimizer"], there["optimizer"] = type(thing.optimizer).__name__, header.get("optimizer")
    problems = [
        f"{name}: {there.get(name) or 'nothing'} in the file, {here.get(name) or 'nothing'} here"
        for name in sorted(here.keys() | there.keys())
        if here.get(name) != there.get(name)
    ]
    if problems:
        raise CheckpointError(f"{path} does not fit, nothing was loaded. {'; '.join(problems)}.")

    for name, part in parts.items():
        asarray = array_module(part.data).asarray
        part.data = asarray(arrays[f"data/{name}"])
        if isinstance(part, Parameter):
            part.grad = np.zeros_like(part.data)
    for name, generator in generators.items():
        generator.bit_generator.state = header["generators"][name]
    if not callable(thing):
        thing.epoch, thing.optimizer.steps = header["epoch"], header["steps"]
    return thing


def _contents(thing):
    """Return what a model or a learner has to remember, by name: arrays, and random generators."""
    found = dict(named_parts(thing if callable(thing) else thing.model))
    parts = {name: part for name, part in found.items() if isinstance(part, (Parameter, Buffer))}
    generators = {name: part for name, part in found.items() if isinstance(part, np.random.Generator)}
    return parts, generators if callable(thing) else generators | {LEARNER: thing.rng}


def _read(path):
    """Return header and arrays of a checkpoint, or say what is wrong with the file."""
    if not path.exists():
        raise CheckpointError(f"there is no checkpoint {path}: look at the path, or save one first.")
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop("header")))
            written = header["format"]
        except Exception as error:  # whatever goes wrong here, the bytes are not those of a checkpoint
            raise CheckpointError(
                f"{path} is no checkpoint, or a damaged one ({error}): use another."
            ) from error
    if written != FORMAT:
        raise CheckpointError(f"{path} is a checkpoint of format {written}; this version reads {FORMAT}.")
    return header, arrays
