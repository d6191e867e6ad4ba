"""Fixtures of the appliance tests: a running server, a Redis server."""

import shutil
import subprocess
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from served import serving


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory):
    """The URL of a Redis server."""
    with _redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis.url


@pytest.fixture
def own_redis(tmp_path):
    """A Redis server for a single test: `url` and `process`."""
    with _redis(tmp_path) as redis:
        yield redis


@contextmanager
def _redis(folder):
    pytest.importorskip("redis", reason="the extra redis is not installed")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    socket = folder / "redis.sock"
    settings = ["--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "no"]
    settings += ["--maxmemory", "16mb", "--maxmemory-policy", "noeviction"]
    server = subprocess.Popen([program, *map(str, settings)], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert server.poll() is None, "redis-server exited"
            time.sleep(0.01)
        yield SimpleNamespace(url=f"unix://{socket}", process=server)
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running appliance with default settings."""
    with serving(tmp_path_factory.mktemp("served") / "data", workers=2, metrics=1) as running:
        yield running


@pytest.fixture
def anyio_backend():
    return "asyncio"
