"""One server for all tests that need no settings of their own."""

import pytest
from served import serving


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "data", workers=2, metrics=1) as running:
        yield running


@pytest.fixture
def anyio_backend():
    return "asyncio"


def pytest_collection_modifyitems(items):
    """Let one process run all tests of this folder: the server is started once."""
    for item in items:
        if "tests/appliance" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("appliance"))
