"""The stored writer of names: it loads, its record is true, and its training can be repeated."""

import numpy as np
import pytest

from course.examples import naming
from minigrad import ShapeError, values_of

FEW = 3  # updates


def test_the_record_has_every_run_and_begins_with_the_stored_weights():
    bits = naming.history()
    assert len(bits) == len(naming.SEEDS) == 3
    assert np.isclose(naming.bits_of(naming.stored()), bits[0], atol=2e-3)  # processors round differently


def test_no_name_is_learned_and_held_out():
    learn, held_out = naming.collection()
    assert not set(learn) & set(held_out) and len(set(learn)) == len(learn)
    assert max(map(len, learn + held_out)) == naming.LONGEST
    assert not any(name.startswith(naming.SPELLED_BY_RULE) for name in learn + held_out)


def test_the_text_read_and_the_text_asked_are_one_step_apart():
    X, T = naming.lessons(["A", "", "Z" * naming.LONGEST])
    assert X.shape == T.shape == (3, naming.LONGEST + 1)
    assert T[0, :2].tolist() == [naming.ALPHABET.index("A"), 0] and (T[0, 2:] == -1).all()
    assert T[1, 0] == 0 and T[2, -1] == 0 and not X[:, 0].any()
    assert np.array_equal(X[2, 1:], T[2, :-1])


def test_the_file_is_small_and_holds_the_weights_and_nothing_else():
    path = naming.FOLDER / "naming.npz"
    assert path.stat().st_size < 350_000
    with np.load(path) as file:
        assert {array.dtype for array in file.values()} == {np.dtype(np.float16)}
        assert file.keys() == values_of(naming.writer())[0].keys()


def test_sixteen_bits_are_enough():
    model = naming.writer(seed=5)
    rounded = naming.with_weights(naming.in_16_bits(model))
    assert {parameter.data.dtype for parameter in rounded.parameters()} == {np.dtype(np.float32)}
    assert 0 < abs(naming.bits_of(rounded) - naming.bits_of(model)) < 0.002


def test_the_same_seed_trains_in_the_same_way_and_another_does_not(monkeypatch):
    monkeypatch.setattr(naming, "BATCH", 4)
    runs = [naming.train(FEW, seed) for seed in (5, 5, 7)]
    losses = [losses for _, losses in runs]
    assert losses[0] == losses[1] and losses[0] != losses[2] and len(losses[0]) == FEW
    weights = [[parameter.data for parameter in model.parameters()] for model, _ in runs]
    assert all(map(np.array_equal, weights[0], weights[1]))


def test_writing_makes_both_files_and_stored_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(naming, "BATCH", 4)
    bits = naming.write(tmp_path, seeds=[5, 7], updates=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["naming.json", "naming.npz"]
    assert naming.history(tmp_path) == bits and bits[0] != bits[1]
    assert np.isclose(naming.bits_of(naming.stored(tmp_path)), bits[0], atol=1e-4)
    assert all(4 < each < 8 for each in bits)  # knowing nothing takes log2(39) = 5.3


def test_what_cannot_be_is_refused(tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match=r"naming\.npz"):
        naming.stored(tmp_path)
    weights = naming.in_16_bits(naming.writer())
    with pytest.raises(ShapeError, match=r"layers\.0\.W"):
        naming.with_weights(weights | {"layers.0.W": np.zeros((2, 3))})
    with pytest.raises(NotADirectoryError, match="is not a folder"):
        naming.write(tmp_path / "nowhere")
    with pytest.raises(SystemExit):
        naming.main([str(tmp_path / "nowhere")])
    assert "is not a folder" in capsys.readouterr().err
