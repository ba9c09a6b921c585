"""What more than one test file asks for."""

import sys

import pytest

from tests.devices import DEVICES


@pytest.fixture(params=DEVICES)
def cupy(request, monkeypatch):
    """Let a module be what `import cupy` finds."""
    monkeypatch.setitem(sys.modules, "cupy", request.param)
    return request.param
