"""The names of characters in many scripts, and a GPT trained on most of them.

`python -m course.examples.naming` trains it again with three seeds, and writes `naming.npz` (the weights of
the first run, in float16) and `naming.json` (the loss of each run on held-out names), in about 20 minutes on
one core.
Chapter 17 uses it, and builds the code that generates text and the tables to compare it with.
"""

import argparse
import json
import unicodedata
from pathlib import Path

import numpy as np

import minigrad
from course.examples.addition import learner_of, of_asked_steps

END = "\n"  # before a name and after it
ALPHABET = END + " -0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LONGEST = 40
# scripts whose names are numbers, or syllables spelled by a rule
SPELLED_BY_RULE = ("CJK", "HANGUL", "YI ", "ETHIOPIC", "CANADIAN", "BRAILLE")
HELD_OUT = 400
WIDTH, HEADS, BLOCKS, DROPOUT = 64, 4, 3, 0.15
BATCH, UPDATES, LEARNING_RATE, WARMUP = 32, 4000, 0.01, 200
SEEDS = (0, 1, 2)
FOLDER = Path(__file__).parent


def collection():
    """Return the training names and the held-out names, always in the same shuffled order.

    They are the names that Unicode 3.2 gave to characters below 0x10000, up to 40 characters long, without
    those that are spelled by a rule (Chinese characters, Korean syllables and the like).

    Returns
    -------
    learn, held_out : list of str

    Examples
    --------
    >>> learn, held_out = collection()
    >>> len(learn), len(held_out), set("".join(learn + held_out)) <= set(ALPHABET)
    (6734, 400, True)
    """
    names = (unicodedata.ucd_3_2_0.name(chr(code), "") for code in range(0x10000))
    names = [name for name in names if 0 < len(name) <= LONGEST and not name.startswith(SPELLED_BY_RULE)]
    names = np.random.default_rng(0).permutation(names).tolist()
    return names[HELD_OUT:], names[:HELD_OUT]


def lessons(names):
    """Return inputs and targets: the same text, shifted by one step.

    Parameters
    ----------
    names : sequence of str
        Of at most 40 characters each.

    Returns
    -------
    X, T : arrays of integers (names, 41)
        X begins with END; T is -1 for steps without a target.

    Examples
    --------
    >>> X, T = lessons(["TO"])
    >>> X[0, :4].tolist(), T[0, :4].tolist()
    ([0, 32, 27, 0], [32, 27, 0, -1])
    """
    X = np.zeros((len(names), LONGEST + 1), dtype=int)
    T = np.full(X.shape, -1)
    for row, name in enumerate(names):
        T[row, : len(name) + 1] = [ALPHABET.index(character) for character in name + END]
        X[row, 1 : len(name) + 1] = T[row, : len(name)]
    return X, T


def writer(seed=0):
    """Return the untrained GPT in float32: X (batch, up to 41 steps) -> logits (batch, steps, 39)."""
    rng = np.random.default_rng(seed)
    return minigrad.Sequential(
        minigrad.Embedding(len(ALPHABET), WIDTH, rng=rng),
        minigrad.Positions(LONGEST + 1, WIDTH, rng=rng),
        *(
            minigrad.TransformerBlock(WIDTH, HEADS, causal=True, dropout=DROPOUT, rng=rng)
            for _ in range(BLOCKS)
        ),
        minigrad.LayerNorm(WIDTH),
        minigrad.Linear(WIDTH, len(ALPHABET), rng=rng),
    ).to(np.float32)


def in_16_bits(model):
    """Return the weights of a GPT by name, rounded to float16, half the size of float32.

    Parameters
    ----------
    model : Layer
        As `writer` returns it.

    Returns
    -------
    dict of str to array of float16
    """
    weights, _ = minigrad.values_of(model)
    return {name: W.astype(np.float16) for name, W in weights.items()}


def with_weights(weights):
    """Return the GPT with these weights, in float32.

    Parameters
    ----------
    weights : dict of str to array
        As `in_16_bits` returns them.

    Raises
    ------
    ValueError
        If a name is missing or unknown.
    ShapeError
        If an array has another shape than the model's.
    """
    weights = {name: W.astype(np.float32) for name, W in weights.items()}
    return minigrad.with_values(writer(), weights, {})


def stored(folder=FOLDER):
    """Return the GPT trained on the names.

    Parameters
    ----------
    folder : str or Path
        The folder of `naming.npz`.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    """
    with np.load(Path(folder) / "naming.npz") as weights:
        return with_weights(weights)


def history(folder=FOLDER):
    """Return the bits per character of the held-out names, one number for each seed."""
    return json.loads((Path(folder) / "naming.json").read_text(encoding="utf-8"))["bits"]


def bits_of(model):
    """Return a model's loss on the held-out names, in bits per character."""
    X, T = lessons(collection()[1])
    return float(of_asked_steps(model.predict(X), T)[0] / np.log(2))


def train(updates=UPDATES, seed=0, progress=lambda steps: steps):
    """Train a GPT on the training names.

    Parameters
    ----------
    updates : int
    seed : int
        Used to draw the weights and the batches.
    progress : function
        Wraps the range of updates, such as tqdm.

    Returns
    -------
    model : Sequential
    losses : list of float, in nats
        One for each update.
    """
    model, rng = writer(seed), np.random.default_rng(seed)
    learner = learner_of(model, LEARNING_RATE, updates, WARMUP)
    X, T = lessons(collection()[0])
    losses = []
    for _ in progress(range(updates)):
        batch = rng.integers(len(X), size=BATCH)
        steps = (T[batch] >= 0).sum(axis=1).max()  # up to the end of the longest name
        losses.append(learner.fit_batch(X[batch, :steps], T[batch, :steps]))
    return model, losses


def write(folder=FOLDER, seeds=SEEDS, updates=UPDATES):
    """Train with each seed, and write the files for chapter 17.

    Parameters
    ----------
    folder : str or Path
    seeds : sequence of int
        The weights of the first seed are written.
    updates : int

    Returns
    -------
    list of float
        The bits per character of the held-out names for each seed, with the weights in 16 bits.

    Raises
    ------
    NotADirectoryError
        If the folder does not exist.
    """
    from tqdm import tqdm

    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder: create it first, or leave it out.")
    bits, weights = [], []
    for seed in seeds:
        bar = tqdm(range(updates), desc=f"seed {seed}", unit=" updates")
        model, _ = train(updates, seed, progress=lambda _, bar=bar: bar)
        weights.append(in_16_bits(model))
        bits.append(round(bits_of(with_weights(weights[-1])), 4))
    np.savez(folder / "naming.npz", **weights[0])
    (folder / "naming.json").write_text(json.dumps({"bits": bits}) + "\n", encoding="utf-8")
    return bits


def main(words=None):
    """Train the models and write the files: the command line."""
    parser = argparse.ArgumentParser(prog="python -m course.examples.naming", description=main.__doc__)
    parser.add_argument(
        "folder", nargs="?", default=FOLDER, help="where to write; beside this file, if left out"
    )
    try:
        bits = write(parser.parse_args(words).folder)
    except OSError as error:
        parser.exit(2, f"{error}\n")
    print("held-out names, bits per character:", *bits)


if __name__ == "__main__":
    main()
