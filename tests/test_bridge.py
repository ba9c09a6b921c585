"""The bridge without what it leads to: it imports with NumPy alone, and says what to install."""

import sys

import pytest

from minigrad import Linear
from minigrad.beyond.bridge import from_jax, from_torch, to_torch

CALLS = {
    "from_torch": (lambda: from_torch(None), "torch"),
    "to_torch": (lambda: to_torch(Linear(3, 2, rng=0)), "torch"),
    "from_jax": (lambda: from_jax(lambda params, X: X, {}), "jax"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_missing_library_is_named_with_what_to_install(name, monkeypatch):
    call, library = CALLS[name]
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(ImportError, match=rf"^{name} needs .*pip install \"minigrad-course\[{library}\]\""):
        call()
