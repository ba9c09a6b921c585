"""The data of the interactive pictures: weights trained as in a chapter, quantized, stored as JSON.

`python -m authoring moving gpt` runs the cells of chapter 17 up to its training, and writes the data for the
JavaScript module to ``course/static/interactives/gpt.json``. Holds a function for each such picture,
`quantized` and `dequantized`.
"""

import json
import os
import sys
from base64 import b64decode, b64encode

import nbformat
import numpy as np

from authoring.notebooks import BuildError
from course import store
from course.figures.moving import FOLDER

MOST = 127  # the largest signed byte
REHEARSED = 120  # training digits stored with the digit classifier, and rehearsed against forgetting


def names_of(stem, last):
    """Run the cells of a chapter up to the one with a given line, and return their variables.

    Parameters
    ----------
    stem : str
        The chapter: ``"17_gpt"``.
    last : str
        Some code of the last cell to run.

    Returns
    -------
    dict of str to object
        Variables by name. Cells tagged as proofs are not run; outputs are not shown.

    Raises
    ------
    BuildError
        If no cell has that code.
    """
    chapter = nbformat.read(store.PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    names = {"__name__": stem, "print": lambda *texts, **options: None}
    for cell in chapter.cells:
        if cell.cell_type == "code" and "proof" not in cell.metadata.get("tags", ()):
            exec(compile(cell.source, f"{stem}.ipynb", "exec"), names)
            if last in cell.source:
                return names
    raise BuildError(f"{stem}.ipynb has no cell with `{last}`: update the line in authoring/moving.py.")


def quantized(model):
    """Quantize the weights of a model to bytes with a scale for each row, as text for JSON.

    Parameters
    ----------
    model : Layer

    Returns
    -------
    dict
        "shapes", one per parameter in the order of `model.parameters()`; "scales", a 32-bit number per row;
        "bytes", signed. A weight is its byte times the scale of its row.
    """
    weights = [parameter.data for parameter in model.parameters()]
    scales, rounded = [], []
    for W in weights:
        rows = W.reshape(-1, W.shape[-1]).astype(float)
        scale = (np.abs(rows).max(axis=1, keepdims=True) / MOST).astype("<f4")
        scale[scale == 0] = 1.0  # a row of zeros
        scales.append(scale.ravel())
        rounded.append(np.round(rows / scale).astype(np.int8).ravel())
    return {
        "shapes": [list(W.shape) for W in weights],
        "scales": _as_text(np.concatenate(scales)),
        "bytes": _as_text(np.concatenate(rounded)),
    }


def dequantized(stored):
    """Restore the weights that `quantized` stored.

    Parameters
    ----------
    stored : dict

    Returns
    -------
    list of array
        In the order of `model.parameters()`.

    Examples
    --------
    >>> from minigrad import Linear
    >>> layer = Linear(3, 2, rng=0)
    >>> W, b = dequantized(quantized(layer))
    >>> bool(np.abs(W - layer.W.data).max() <= 0.51 * np.abs(W).max() / 127), b
    (True, array([0., 0.]))
    """
    scales = np.frombuffer(b64decode(stored["scales"]), "<f4").astype(float)
    rounded = np.frombuffer(b64decode(stored["bytes"]), np.int8)
    weights = []
    for shape in stored["shapes"]:
        count, n_rows = int(np.prod(shape)), int(np.prod(shape[:-1]))
        rows = rounded[:count].reshape(n_rows, -1) * scales[:n_rows, None]
        weights.append(rows.reshape(shape))
        rounded, scales = rounded[count:], scales[n_rows:]
    return weights


def put_in(model, weights):
    """Set the weights of a model, in the order of `model.parameters()`, and return it."""
    for parameter, W in zip(model.parameters(), weights, strict=True):
        parameter.data[...] = W
    return model


def _as_text(array):
    """Encode the bytes of an array in base64."""
    return b64encode(array.tobytes()).decode()


def gpt():
    """Return the GPT of chapter 17, with its alphabet and the names with which its output is compared."""
    made = names_of("17_gpt", "train(model, watch=watch)")
    return {
        "alphabet": made["alphabet"],
        "heads": made["model"].layers[2].block.layers[0].layer.layers[1].heads,
        "bits": round(made["bits_of"](made["model"]), 4),  # per character, before quantization
        **quantized(made["model"]),
        "unicode": made["now"].unidata_version,
        "names": dictionary(made),
    }


def dictionary(made):
    """List all names in the model's alphabet and scripts, as lines of shared letters, kind, code and rest.

    Parameters
    ----------
    made : dict
        Variables of chapter 17: `then` and `now`, the names of 2002 and of today, and the training set
        `learn`.

    Returns
    -------
    list of str
        Sorted by name. A line begins with the number of letters that it shares with the line before. The kind
        is 0 for a name of the training set, 1 for another name of 2002, and 2 for a newer one.
    """
    then, now, learn, alphabet = made["then"], made["now"], set(made["learn"]), set(made["alphabet"])
    entries = []
    for code in range(sys.maxunicode + 1):
        name = now.name(chr(code), "")
        if name.startswith(made["scripts"]) and len(name) <= made["LONGEST"] and set(name) <= alphabet:
            kind = 0 if name in learn else 1 if then.name(chr(code), "") == name else 2
            entries.append((name, kind, code))
    lines, before = [], ""
    for name, kind, code in sorted(entries):
        shared = len(os.path.commonprefix([name, before]))
        lines.append(f"{shared} {kind} {code:x} {name[shared:]}")
        before = name
    return lines


def digit():
    """Return the network of chapter 08, with its test digits and the first of its training digits."""
    made = names_of("08_digits", "history = learner.fit(")
    (X, T), (X_test, T_test) = made["train"], made["test"]
    return {
        **quantized(made["learner"].model),
        "learned": _as_bytes(X[:REHEARSED], T[:REHEARSED]),
        "test": _as_bytes(X_test, T_test),
    }


def _as_bytes(X, T):
    """Encode digits, with one byte per pixel, and their labels."""
    return {"images": _as_text((16 * X).round().astype(np.uint8)), "labels": T.tolist()}


def attention():
    """Return the reverser of chapter 16 after every second of its forty updates."""
    made = names_of("16_attention", "train(model, reverse, 1, 40, watch)")
    model, updates, models = made["reverser"](seed=1), list(range(0, 41, 2)), []

    def watch(update):
        if update in updates:
            models.append(quantized(model))

    made["train"](model, made["reverse"], 1, updates[-1], watch)
    return {"updates": updates, "models": models}


MAKERS = {"attention": attention, "digit": digit, "gpt": gpt}


def write_numbers(name, folder=FOLDER):
    """Make the data of a picture, and write it next to the picture's module.

    Parameters
    ----------
    name : str
        One of MAKERS.
    folder : Path

    Raises
    ------
    BuildError
        If no picture of this name has data.
    """
    if name not in MAKERS:
        raise BuildError(f"name must be one of {', '.join(MAKERS)}; got {name!r}.")
    store.write(folder / f"{name}.json", json.dumps(MAKERS[name](), separators=(",", ":")) + "\n")
