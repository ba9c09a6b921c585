"""The stored adder: it loads, it adds what it never saw, and its training can be repeated."""

import json

import numpy as np
import pytest

from course.examples import addition
from minigrad import CheckpointError, gradcheck

FEW = 3  # updates, seeds


def test_the_stored_weights_add_every_held_out_sum():
    rows = addition.sums()[addition.LEARNED :]
    model = addition.stored()
    assert len(rows) == 3000 and addition.share_right(model, rows) == 1.0
    logits = np.sort(model.predict(rows[:, :-1])[:, 5:], axis=-1)
    assert (logits[..., -1] - logits[..., -2]).min() > 0.1  # far from a tie: rounding cannot change a digit


def test_the_digits_that_it_writes_itself_are_right_too():
    rows, model = addition.sums()[addition.LEARNED :], addition.stored()
    X = rows[:, :6]
    for _ in range(3):
        X = np.concatenate([X, model.predict(X)[:, -1:].argmax(axis=-1)], axis=1)
    assert np.array_equal(X, rows)


@pytest.mark.parametrize("order", addition.ORDERS)
def test_every_sum_is_there_once_and_right(order):
    texts = [addition.text(row) for row in addition.sums(order)]
    assert len(set(texts)) == 10_000
    for text in texts[:: 10_000 // 97]:
        question, result = text.split("=")
        digits = result[::-1] if order == "least digit first" else result
        assert sum(map(int, question.split("+"))) == int(digits)


def test_both_orders_are_shuffled_alike_and_no_sum_is_learned_and_held_out():
    first, usual = map(addition.sums, addition.ORDERS)
    assert np.array_equal(first[:, :6], usual[:, :6]) and np.array_equal(first[:, 6:], usual[:, :5:-1])
    learned, held_out = ({addition.text(row) for row in part} for part in np.split(first, [addition.LEARNED]))
    assert not learned & held_out


def test_the_files_are_small_and_hold_no_memory_of_an_optimizer():
    path = addition.FOLDER / "addition.npz"
    assert path.stat().st_size < 200_000 and (addition.FOLDER / "addition.json").stat().st_size < 10_000
    with np.load(path) as file:
        arrays = {name: file[name] for name in file if name not in ("header", "checksum")}
    assert all(name.startswith("data/") for name in arrays)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}


def test_the_record_has_every_run_and_ends_with_the_stored_weights():
    record = addition.history()
    for order in addition.ORDERS:
        assert np.shape(record[order]) == (len(addition.SEEDS), len(record["updates"]))
    rows = addition.sums()[addition.LEARNED :]
    assert record["updates"][-1] == addition.UPDATES
    assert record["least digit first"][0][-1] == addition.share_right(addition.stored(), rows)
    assert record["least digit first"][0][0] < 0.01  # untrained: a thousand results are possible


def test_the_same_seed_trains_in_the_same_way_and_another_does_not():
    runs = [addition.train("least digit first", seed, until=FEW) for seed in (5, 5, 7)]
    losses = [losses for _, losses, _ in runs]
    assert losses[0] == losses[1] and losses[0] != losses[2] and len(losses[0]) == FEW
    weights = [[parameter.data for parameter in model.parameters()] for model, _, _ in runs]
    assert all(map(np.array_equal, weights[0], weights[1]))


def test_only_the_result_is_asked():
    model, losses, shares = addition.train("as usual", 0, until=1)
    assert abs(losses[0] - np.log(len(addition.SIGNS))) < 1.5  # untrained: near a loss of knowing nothing
    assert len(shares) == 1


def test_steps_without_a_target_have_no_gradient():
    T = np.array([[-1, 3, 0], [2, -1, -1]])
    Y = np.random.default_rng(0).normal(size=(2, 3, 5))
    assert gradcheck(lambda Y: addition.of_asked_steps(Y, T), Y).ok
    _, backward = addition.of_asked_steps(Y, T)
    assert not backward()[T < 0].any() and backward()[T >= 0].any(axis=-1).all()


def test_writing_makes_both_files_and_stored_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(addition, "MEASURED", 1)
    record = addition.write(tmp_path, seeds=[5], updates=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["addition.json", "addition.npz"]
    assert addition.history(tmp_path) == record == json.loads((tmp_path / "addition.json").read_text("utf-8"))
    assert record["updates"] == [0, 1, 2] and all(len(record[order][0]) == 3 for order in addition.ORDERS)
    rows = addition.sums()[addition.LEARNED :]
    assert (
        round(addition.share_right(addition.stored(tmp_path), rows), 4) == record["least digit first"][0][-1]
    )


def test_what_cannot_be_is_said(tmp_path, capsys):
    with pytest.raises(CheckpointError, match=r"addition\.npz"):
        addition.stored(tmp_path)
    with pytest.raises(ValueError, match="'least digit first' or 'as usual', got 'upside down'"):
        addition.sums("upside down")
    with pytest.raises(ValueError, match=r"got the characters \['-'\]"):
        addition.tokens(["1-2="])
    with pytest.raises(ValueError, match=r"got lengths \[4, 5\]"):
        addition.tokens(["1+2=", "1+22="])
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        addition.write(tmp_path / "nowhere")
    with pytest.raises(SystemExit) as end:
        addition.main([str(tmp_path / "nowhere")])
    assert end.value.code == 2 and "is not a folder" in capsys.readouterr().err
