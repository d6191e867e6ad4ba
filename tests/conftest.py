"""What several tests need: the project's own sample invoices, and the comparison cases where they are there."""

import json
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from chromium import chromium
from hypothesis import HealthCheck, settings

# The first documents of a fresh checkout take long, whatever the strategy: no cache is warm yet.
settings.register_profile("project", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("project")

ROOT = Path(__file__).parent.parent
CASES = ROOT.parent / "shared" / "cases"


@pytest.fixture(scope="session")
def sample():
    """The path of an invoice in tests/samples; they are invented, and valid."""

    def path(name):
        return ROOT / "tests" / "samples" / name

    return path


@pytest.fixture(scope="session")
def cases():
    """The comparison cases beside the checkout: (what was officially said of it, the document's bytes), one by one."""
    expected = CASES / "expected.jsonl"
    if not expected.exists():
        pytest.skip("the comparison cases are not there")

    def read(folder):
        with expected.open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                if case["case"].startswith(f"{folder}/"):
                    yield case, (CASES / case["case"]).read_bytes()

    return read


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory):
    """The address of a Redis server of the tests' own."""
    with _redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis.url


@pytest.fixture
def own_redis(tmp_path):
    """A Redis server of one test's own: `url` and `process`."""
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
            assert server.poll() is None, "redis-server ended"
            time.sleep(0.01)
        yield SimpleNamespace(url=f"unix://{socket}", process=server)
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running appliance, for the tests that need no settings of their own."""
    from served import serving

    with serving(tmp_path_factory.mktemp("served") / "data", workers=2, metrics=1) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    """A real Chromium; not for the whole session, since its driver has an event loop, and other tests have theirs."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def anyio_backend():
    return "asyncio"


def pytest_collection_modifyitems(items):
    """Let one process run all tests of the appliance: its server is started once."""
    for item in items:
        if "tests/appliance" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("appliance"))
