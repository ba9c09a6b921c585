"""The numbers behind the pictures that move are those of the chapters, and rounding them costs little."""

import json
import math

import numpy as np
import pytest

import minigrad
from authoring.moving import MAKERS, dequantized, names_of, put_in, quantized, write_numbers
from authoring.notebooks import BuildError
from course.examples.addition import of_asked_steps
from course.figures.moving import FOLDER


def stored(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_a_weight_is_a_byte_times_the_scale_of_its_row():
    layer = minigrad.Linear(5, 7, rng=0)
    layer.W.data[3] = 0.0  # a row of zeros stays one
    W, b = dequantized(json.loads(json.dumps(quantized(layer))))
    rows = np.abs(layer.W.data).max(axis=1, keepdims=True)
    assert (np.abs(W - layer.W.data) <= rows / 127 * 0.5001).all() and not W[3].any()
    assert b.shape == layer.b.data.shape


def test_every_picture_with_numbers_has_a_maker_and_stays_small():
    files = {path.stem: path.stat().st_size for path in FOLDER.glob("*.json")}
    assert set(files) == set(MAKERS) and max(files.values()) < 200_000
    with pytest.raises(BuildError, match="name must be one of .*gpt; got 'chain'"):
        write_numbers("chain")


def test_the_bits_of_the_rounded_gpt_are_those_of_the_chapter():
    made, data = names_of("17_gpt", "model = gpt()"), stored("gpt")
    model = put_in(made["model"], dequantized(data))
    loss = of_asked_steps(model.predict(made["X_other"]), made["T_other"])[0]
    assert abs(loss / math.log(2) - data["bits"]) < 0.01
    assert 0.8 < data["bits"] < 1.1 and data["alphabet"] == made["alphabet"]


def test_a_chapter_is_run_up_to_a_line_that_must_be_there(monkeypatch, tmp_path):
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "one = 1"}]
    sources = {"x = 2": [], "x = 3": ["proof"], "y = x": [], "x = 4": []}
    for number, (source, tags) in enumerate(sources.items()):
        code = {"cell_type": "code", "id": str(number), "metadata": {"tags": tags}, "source": source}
        cells.append(code | {"execution_count": None, "outputs": []})
    (tmp_path / "notebooks").mkdir()
    chapter = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks" / "99_last.ipynb").write_text(json.dumps(chapter), encoding="utf-8")
    monkeypatch.setattr("authoring.moving.store.PROJECT", tmp_path)
    made = names_of("99_last", "y = x")
    assert made["x"] == made["y"] == 2 and "one" not in made
    with pytest.raises(BuildError, match="99_last.ipynb has no cell with `x = 5`"):
        names_of("99_last", "x = 5")
