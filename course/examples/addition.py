"""Sums of two numbers as text, and a small GPT trained on them: data, training, weights.

`python -m course.examples.addition` trains it again, with two orders of the digits, and writes `addition.npz`
(the weights of one run, by `minigrad.save`) and `addition.json` (the accuracy during training), in about two
minutes on one core. Chapter 17 uses it, and builds the code that generates text.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

import minigrad

SIGNS = "0123456789+="
WIDTH, HEADS, BLOCKS = 32, 4, 2
BATCH, UPDATES, LEARNING_RATE, WARMUP = 128, 1500, 0.003, 100
MEASURED = 100  # updates between two measurements of the accuracy
SEEDS = (0, 1, 2)
LEARNED = 7000  # of 10,000 sums are for training; the others are held out
ORDERS = ("least digit first", "as usual")
FOLDER = Path(__file__).parent


def sums(order="least digit first"):
    """Return all sums of two numbers below 100 as tokens, always in the same shuffled order.

    Parameters
    ----------
    order : {"least digit first", "as usual"}
        The order of the result's digits.

    Returns
    -------
    array of integers (10000, 9)
        The first 7,000 rows are for training.

    Raises
    ------
    ValueError
        If the order is not one of the two.

    Examples
    --------
    >>> text(sums()[0]), text(sums("as usual")[0])
    ('35+77=211', '35+77=112')
    """
    if order not in ORDERS:
        raise ValueError(f"order must be {' or '.join(map(repr, ORDERS))}, got {order!r}.")
    texts = []
    for pair in np.random.default_rng(0).permutation(10_000):
        a, b = divmod(int(pair), 100)
        result = f"{a + b:03d}"
        texts.append(f"{a:02d}+{b:02d}={result[::-1] if order == ORDERS[0] else result}")
    return tokens(texts)


def tokens(texts):
    """Return strings of equal length as an array of tokens.

    Parameters
    ----------
    texts : sequence of str

    Returns
    -------
    array of integers (texts, characters)

    Raises
    ------
    ValueError
        If a character is not one of the twelve, or the lengths differ.

    Examples
    --------
    >>> tokens(["1+2="]).tolist()
    [[1, 10, 2, 11]]
    """
    unknown = sorted(set("".join(texts)) - set(SIGNS))
    if unknown or len(set(map(len, texts))) != 1:
        found = f"the characters {unknown}" if unknown else f"lengths {sorted(set(map(len, texts)))}"
        raise ValueError(f"texts must have the same length and use only {SIGNS}, got {found}.")
    return np.array([[SIGNS.index(sign) for sign in text] for text in texts])


def text(row):
    """Return a row of tokens as a str."""
    return "".join(SIGNS[token] for token in row)


def of_asked_steps(Y, T):
    """Return the cross-entropy over the steps that have a target, and its backward function.

    Parameters
    ----------
    Y : array (batch, steps, n_classes)
    T : array of integers (batch, steps)
        -1 for steps without a target.

    Returns
    -------
    L : float, in nats
    backward : function, dL -> dY
        dY is 0 for steps without a target.

    References
    ----------
    Chapter 15.

    Examples
    --------
    >>> L, backward = of_asked_steps(np.zeros((1, 2, 4)), np.array([[3, -1]]))
    >>> bool(np.isclose(L, np.log(4))), backward().round(2).tolist()
    (True, [[[0.25, 0.25, 0.25, -0.75], [0.0, 0.0, 0.0, 0.0]]])
    """
    asked = T >= 0
    L, back_to_asked = minigrad.cross_entropy(Y[asked], T[asked])

    def backward(dL=1.0):
        dY = np.zeros_like(Y)
        dY[asked] = back_to_asked(dL)
        return dY

    return L, backward


def adder(seed=0):
    """Return the untrained GPT in float32: X (batch, steps) -> logits (batch, steps, 12), up to 8 steps."""
    rng = np.random.default_rng(seed)
    return minigrad.Sequential(
        minigrad.Embedding(len(SIGNS), WIDTH, rng=rng),
        minigrad.Positions(8, WIDTH, rng=rng),
        *(minigrad.TransformerBlock(WIDTH, HEADS, causal=True, rng=rng) for _ in range(BLOCKS)),
        minigrad.LayerNorm(WIDTH),
        minigrad.Linear(WIDTH, len(SIGNS), rng=rng),
    ).to(np.float32)


def stored(folder=FOLDER):
    """Return the trained GPT, which writes the result least digit first.

    Parameters
    ----------
    folder : str or Path
        The folder of `addition.npz`.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or of another model.
    """
    return minigrad.load(Path(folder) / "addition.npz", adder())


def share_right(model, rows):
    """Return the share of sums for which the model's most likely digit is right at all three positions.

    Parameters
    ----------
    model : Layer
    rows : array of integers (batch, 9)

    Notes
    -----
    Each digit is predicted from the correct digits before it. If all three are right, they are also right
    when the model reads its own digits, since these are the same.
    """
    return float((model.predict(rows[:, :-1])[:, 5:].argmax(axis=-1) == rows[:, 6:]).all(axis=1).mean())


def learner_of(model, learning_rate, updates, warmup):
    """Return a Learner for a GPT: Adam with warm-up, a cosine schedule, and clipped gradients.

    Parameters
    ----------
    model : Layer
        Takes characters, (batch, steps), and returns logits.
    learning_rate : float
        The highest learning rate.
    updates, warmup : int
        The number of steps, and how many of them are warm-up.

    Returns
    -------
    Learner
        Its loss is `of_asked_steps`.
    """
    rates = minigrad.cosine(learning_rate, updates, warmup=min(warmup, updates - 1))
    return minigrad.Learner(
        model,
        of_asked_steps,
        minigrad.Adam(rates),
        before_step=lambda parameters: minigrad.clip_grad_norm(parameters, 1.0),
    )


def train(order, seed, updates=UPDATES, until=None, progress=lambda steps: steps):
    """Train a GPT to add, measuring its accuracy during training.

    Parameters
    ----------
    order : {"least digit first", "as usual"}
    seed : int
        Used to draw the weights and the batches.
    updates : int
        The length of the learning rate's schedule.
    until : int, optional
        Stop after this many updates.
    progress : function
        Wraps the range of updates, such as tqdm.

    Returns
    -------
    model : Sequential
    losses : list of float
        One for each update.
    shares : list of float
        The share of held-out sums that are right, before training and after every 100 updates.
    """
    rows, rng, model = sums(order), np.random.default_rng(seed), adder(seed)
    X, T = rows[:LEARNED, :-1], rows[:LEARNED, 1:].copy()
    T[:, :5] = -1  # the operands are random; only the three digits of the result enter the loss
    learner = learner_of(model, LEARNING_RATE, updates, WARMUP)
    losses, shares = [], [share_right(model, rows[LEARNED:])]
    for update in progress(range(1, (until or updates) + 1)):
        batch = rng.integers(LEARNED, size=BATCH)
        losses.append(learner.fit_batch(X[batch], T[batch]))
        if update % MEASURED == 0:
            shares.append(share_right(model, rows[LEARNED:]))
    return model, losses, shares


def write(folder=FOLDER, seeds=SEEDS, updates=UPDATES):
    """Train with both orders of the digits, and write the files for chapter 17.

    Parameters
    ----------
    folder : str or Path
    seeds : sequence of int
        The weights of the first seed are written.
    updates : int

    Returns
    -------
    dict
        The contents of `addition.json`.

    Raises
    ------
    NotADirectoryError
        If the folder does not exist.
    """
    from tqdm import tqdm

    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder: create it first, or leave it out.")
    record = {"updates": list(range(0, updates + 1, MEASURED))}
    for order in ORDERS:
        record[order] = []
        for seed in seeds:
            bar = tqdm(range(1, updates + 1), desc=f"{order}, seed {seed}", unit=" updates")
            model, _, shares = train(order, seed, updates, progress=lambda _, bar=bar: bar)
            record[order].append([round(share, 4) for share in shares])
            if order == ORDERS[0] and seed == seeds[0]:
                minigrad.save(folder / "addition.npz", model)
    part = folder / "addition.json.part"
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    os.replace(part, folder / "addition.json")
    return record


def history(folder=FOLDER):
    """Return the stored accuracy on held-out sums: the updates, and per order one list for each seed."""
    return json.loads((Path(folder) / "addition.json").read_text(encoding="utf-8"))


def main(words=None):
    """Train the models and write the files: the command line."""
    parser = argparse.ArgumentParser(prog="python -m course.examples.addition", description=main.__doc__)
    parser.add_argument(
        "folder", nargs="?", default=FOLDER, help="where to write; beside this file, if left out"
    )
    try:
        record = write(parser.parse_args(words).folder)
    except OSError as error:
        parser.exit(2, f"{error}\n")
    for order in ORDERS:
        print(f"{order}: right at the end", *(f"{shares[-1]:.1%}" for shares in record[order]))


if __name__ == "__main__":
    main()
