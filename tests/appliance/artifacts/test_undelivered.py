"""A ZUGFERD invoice that cannot be delivered is refused: links switched off, and each way of losing the store."""

import contextlib
import secrets

import pytest

from appliance.artifacts.sqlite_store import SQLiteStore
from appliance.artifacts.store import StoreError
from tests.helpers.artifacts import STORE_BYTES
from tests.helpers.served import API, DRAFT, GENERATE, assert_problem, http, serving
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.slow


def capabilities(server, key=None):
    return server.client.get(f"{API}/capabilities", headers=key).json()


def assert_refused(server, status, code):
    """ZUGFERD is refused, not offered and not counted; the other formats are generated."""
    server.add_plan("EINVOICE_PLAN_TWO=can_use_api,can_generate_invoice,daily_usage_limit=2")
    key = server.add_key("two", "two")
    for lang in ("de", "en", "de"):
        draft = {**DRAFT, "format": "ZUGFERD"}
        response = http.post(server.base.join(GENERATE), headers=key, json=draft, params={"lang": lang})
        problem = assert_problem(response, status, code)
        assert ("Speicher" in problem.detail or "Dienst" in problem.detail) is (lang == "de")
        assert ("Retry-After" in response.headers) is (status == 503)
    assert capabilities(server, key)["supported_generation_formats"] == ["UBL", "CII"]
    assert server.generate(format="UBL").json()["xml"]
    assert http.get(server.base.join(f"{API}/capabilities"), headers=key).status_code == 200, "the second that counts"
    assert_problem(http.get(server.base.join(f"{API}/capabilities"), headers=key), 429, "daily_usage_limit")


def assert_generated(server):
    body = server.generate(format="ZUGFERD").json()
    assert body["artifacts"]["zugferd_pdf"]["available"]
    assert "ZUGFERD" in capabilities(server)["supported_generation_formats"]


def fill(store):
    """Fill a store with content that cannot be compressed, until nothing of the size of an invoice fits."""
    for size in (200_000, 20_000, 2_000):
        with contextlib.suppress(StoreError):
            for _ in range(10_000):
                row = secrets.token_hex(8), secrets.token_bytes(size), 3600
                store.try_put(*row, holder=row[0]) or store.put(*row, holder=row[0])


def test_links_switched_off(tmp_path):
    with serving(tmp_path / "data", workers=1, artifacts="off") as server:
        assert_refused(server, 501, "zugferd_not_offered")


def test_full_file(tmp_path):
    with serving(tmp_path / "data", workers=1, artifact_megabytes=16) as server:
        assert_generated(server)
        store = SQLiteStore(server.data / "artifacts", STORE_BYTES)
        fill(store)
        store.close()
        assert_refused(server, 503, "store_unavailable")


def test_redis_that_never_answered(without_redis):
    assert_refused(without_redis, 503, "store_unavailable")


def test_redis_that_dies_and_returns(tmp_path, own_redis):
    with serving(tmp_path / "data", workers=1, artifacts=own_redis.url) as server:
        assert_generated(server)
        own_redis.stop()
        assert_problem(server.generate(format="ZUGFERD"), 503, "store_unavailable")  # maybe not checked yet
        assert_refused(server, 503, "store_unavailable")
        own_redis.start()
        wait_until(lambda: server.generate(format="ZUGFERD").status_code == 200)
        wait_until(lambda: "ZUGFERD" in capabilities(server)["supported_generation_formats"])


def test_full_redis(tmp_path, own_redis):
    with serving(tmp_path / "data", workers=1, artifacts=own_redis.url) as server:
        assert_generated(server)
        import redis

        with redis.Redis.from_url(own_redis.url) as client:
            client.config_set("maxmemory", 100_000)  # less than it uses
        assert_refused(server, 503, "store_unavailable")
