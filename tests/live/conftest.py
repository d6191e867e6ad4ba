"""Skip tests with random seeds, or of several minutes, unless requested by ``pytest -m live``."""

import pytest


def pytest_collection_modifyitems(config, items):
    if "live" in config.getoption("-m"):
        return
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.skip(reason="takes minutes or a random seed: pytest -m live"))
