"""What several tests need: the project's own sample invoices, and the comparison cases where they are there."""

import json
from pathlib import Path

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


@pytest.fixture(scope="module")
def browser():
    """A real Chromium; not for the whole session, since its driver has an event loop, and other tests have theirs."""
    with chromium() as browser:
        yield browser


def pytest_collection_modifyitems(items):
    """Let one process run all tests of the appliance: its server is started once."""
    for item in items:
        if "tests/appliance" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("appliance"))
