"""Plugin of pytest: looks for doctests only in files that have examples."""

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Drop the collectors of files without a prompt: each would import its file and look through it."""
    collectors = yield
    if any(isinstance(it, DoctestModule) for it in collectors) and ">>> " not in file_path.read_text("utf-8"):
        return [it for it in collectors if not isinstance(it, DoctestModule)]
    return collectors
