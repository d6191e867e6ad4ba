"""Stores of jobs in SQLite and in Redis."""

import pytest

from appliance.archive_jobs.job_store import JobStore
from appliance.artifacts.redis_store import RedisStore
from appliance.artifacts.sqlite_store import SQLiteStore
from tests.helpers.artifacts import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["file", "redis"])
def artifacts(request, tmp_path, clock):
    """An artifact store."""
    if request.param == "file":
        store = SQLiteStore(tmp_path / "jobs", 1 << 30, clock)
    else:
        store = RedisStore(request.getfixturevalue("redis_url"), 1 << 30)
        store.delete(*store.names(""))
    yield store
    store.close()


@pytest.fixture
def jobs(artifacts, clock):
    return JobStore(artifacts, clock, is_shared=isinstance(artifacts, RedisStore))
