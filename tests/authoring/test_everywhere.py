"""Arithmetic as on other processors: it takes effect, and what a cell stores too exactly is found."""

import json
import os
import subprocess
import sys

import nbformat
import numpy as np
import pytest

from authoring.everywhere import FOLDER, require_effect, run_everywhere, ways

DRAWN = """
import copy, json, pickle
import numpy as np

rng = np.random.default_rng(3)
same, copied, unpickled = np.random.default_rng(3), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))
assert np.random.default_rng(rng) is rng and isinstance(rng, np.random.Generator)
into = np.empty(2)
floats = rng.normal(size=3).tolist()
for other in same, copied, unpickled:
    assert other.normal(size=3).tolist() == floats
print(json.dumps({
    "normal": floats,
    "one": np.random.default_rng(4).exponential(),
    "into": np.random.default_rng(4).random(out=into).tolist(),
    "float32": np.random.default_rng(4).standard_normal(2, dtype=np.float32).view("i4").tolist(),
    "child": np.random.default_rng(4).spawn(1)[0].random(),
    "given": [
        np.random.default_rng(4).integers(9, size=5).tolist(),
        np.random.default_rng(4).permutation([0.1, 0.2, 0.3]).tolist(),
        np.random.default_rng(4).choice([0.1, 0.2, 0.3], 2).tolist(),
        np.random.default_rng(4).normal(0, 0, size=2).tolist(),
    ],
}))
"""


def drawn(places):
    """What one program draws where numbers are moved by so many places."""
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "MINIGRAD_LAST_PLACE": places}
    told = subprocess.run([sys.executable, "-c", DRAWN], env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


def test_what_is_drawn_moves_by_one_place_and_what_is_given_stays():
    plain, up, down = drawn(""), drawn("1"), drawn("-1")
    for name in ("normal", "one", "into", "child"):
        assert np.array_equal(up[name], np.nextafter(plain[name], np.inf)), name
        assert np.array_equal(down[name], np.nextafter(plain[name], -np.inf)), name
    signs = np.sign(np.array(plain["float32"], dtype="i4").view("f4")).astype(int)
    assert np.array_equal(up["float32"], plain["float32"] + signs)
    assert plain["given"] == up["given"] == down["given"]


def stored(path, source, output):
    """Write a notebook of one cell with an output."""
    cell = nbformat.v4.new_code_cell(source, execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=output)]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)
    return str(path)


def test_an_output_that_is_stored_too_exactly_is_found(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    draw = "import numpy as np\nx = np.random.default_rng(3).normal()\n"
    exact = stored(tmp_path / "exact.ipynb", draw + "print(x)", "2.0409191213851825\n")
    rounded = stored(tmp_path / "rounded.ipynb", draw + "print(f'{x:.3f}')", "2.041\n")
    assert run_everywhere(["down"], [exact, rounded]) == 1
    told = capfd.readouterr().out
    assert "exact.ipynb::Cell 0" in told and "2.040919121385182\n" in told
    assert "rounded.ipynb::Cell 0" not in told and "1 failed, 1 passed" in told
    assert "   down         failed" in told


def test_each_way_takes_effect_where_it_is_offered():
    found = ways()
    assert {"up", "down"} <= set(found)
    for name, way in found.items():
        require_effect(name, way)
    with pytest.raises(ValueError, match="idle has no effect here"):
        require_effect("idle", {"OPENBLAS_CORETYPE": "none"})


def test_a_way_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no variant 'sideways'; there are up, down"):
        run_everywhere(["sideways"])
