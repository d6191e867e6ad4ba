"""A fresh seed only on request: ``pytest -m live``."""

import pytest


def pytest_collection_modifyitems(config, items):
    if "live" in config.getoption("-m"):
        return
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.skip(reason="takes a fresh seed each time: pytest -m live"))
