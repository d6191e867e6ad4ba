"""Stores of artifacts, and a clock."""

import pytest

from appliance.artifacts.redis_store import RedisStore
from tests.helpers.artifacts import STORE_BYTES, Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "artifacts"


@pytest.fixture
def redis_store(redis_url):
    store = RedisStore(redis_url, STORE_BYTES)
    yield store
    store.close()
