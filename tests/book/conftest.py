"""What the tests of the book's Sphinx extensions share."""

import importlib
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[2] / "book/extensions"


@pytest.fixture
def extension(monkeypatch):
    """A function that imports one of the book's own Sphinx extensions."""
    monkeypatch.syspath_prepend(EXTENSIONS)
    return importlib.import_module
