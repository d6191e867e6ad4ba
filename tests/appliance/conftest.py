"""Fixtures of the appliance tests: a running server, a Redis server."""

import shutil
from contextlib import ExitStack, contextmanager

import pytest

from tests.helpers.served import API, RedisServer, serving

CATALOG = f"{API}/errors/catalog"


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory):
    """The URL of a Redis server."""
    with _redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis.url


@pytest.fixture(scope="module")
def module_redis(tmp_path_factory):
    """A Redis server for the tests of a module, which may stop and continue it."""
    with _redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis


@pytest.fixture
def own_redis(tmp_path):
    """A Redis server for a single test, which may stop and start it."""
    with _redis(tmp_path) as redis:
        yield redis


@contextmanager
def _redis(folder):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running appliance with default settings."""
    with serving(tmp_path_factory.mktemp("served") / "data", workers=2, metrics=1) as running:
        for lang in ("de", "en"):  # the server builds the catalogs after its start, and answers slowly meanwhile
            running.client.get(CATALOG, params={"lang": lang}, timeout=300).raise_for_status()
        yield running


@pytest.fixture(scope="session")
def prefixed(tmp_path_factory):
    """A server with a public URL that has a path."""
    data = tmp_path_factory.mktemp("prefixed") / "data"
    with serving(data, workers=1, public_url="https://example.org/e") as running:
        yield running


@pytest.fixture(scope="session")
def without_redis(tmp_path_factory):
    """A server with the address of a Redis that is not running; "pass-word" is in all its secrets."""
    pytest.importorskip("redis", reason="the extra redis is not installed")
    folder = tmp_path_factory.mktemp("without-redis")
    secrets = {"artifacts": f"unix://:pass-word@{folder}/none.sock", "key_acme_1": f"pass-word:business:{64 * '0'}"}
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTHER_PASSWORD", "pass-word")
            running = stack.enter_context(serving(folder / "data", workers=1, **secrets))
        yield running
    assert "pass-word" not in running.log(), "also at its end"


@pytest.fixture
def anyio_backend():
    return "asyncio"
