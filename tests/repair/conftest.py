"""What all tests of repair share."""

import pytest

from einvoice.repair import api


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch):
    """Let no search end because the machine is busy; tests of the time limit have their own clock."""
    monkeypatch.setattr(api, "MAX_SECONDS", 3600.0)
