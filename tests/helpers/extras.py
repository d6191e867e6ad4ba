"""Skips of tests whose optional packages are not installed."""

import os
from importlib.util import find_spec

import pytest


def requires(*packages):
    """Return a marker that skips tests without these packages; unlike `pytest.importorskip`, it imports none.

    For packages that take seconds to import, and modules of which `tests/run --quick` selects no test.
    """
    missing = [name for name in packages if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX: modes and links of files, named pipes, signals")


def require_rendering():
    """Raise `MissingDependency` if PDFs cannot be rendered, for a test of a command, which catches it."""
    from einvoice.visualization import typesetting

    typesetting._tools()
