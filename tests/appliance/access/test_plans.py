"""Plans and daily limits."""

import asyncio
import datetime
import stat

import httpx
import pytest
from served import API, serving

from appliance.access.keys import KeyFile, KeyRing
from appliance.access.plans import BUSINESS, parse_plans
from appliance.access.quota_store import MemoryQuotaStore, SQLiteQuotaStore, open_quota_store
from appliance.access.quotas import DAILY_FILES, DAILY_REQUESTS, Quotas
from appliance.contract.problems import Problem
from appliance.contract.schemas import Entitlements


def test_business_is_known():
    assert parse_plans([], "none") == {"business": BUSINESS}
    assert not BUSINESS.can_export
    assert all(value is True for name, value in BUSINESS if name.startswith("can_") and name != "can_export")


def test_a_plan_has_what_is_named():
    plans = parse_plans(["# x", " EINVOICE_PLAN_SMALL_TEAM=can_use_api, daily_usage_limit=10 "], "file")
    wanted = Entitlements(plan_type="small-team", can_use_api=True, daily_usage_limit=10)
    assert plans["small-team"] == wanted
    assert not wanted.can_batch


@pytest.mark.parametrize(
    "line",
    [
        "EINVOICE_PLAN_X=can_fly",
        "EINVOICE_PLAN_X=daily_usage_limit=-1",
        "EINVOICE_PLAN_X=daily_usage_limit=many",
        "EINVOICE_PLAN_x=can_use_api",
        "EINVOICE_PLAN_X",
    ],
)
def test_a_damaged_plan_entitles_to_nothing(line, caplog):
    assert set(parse_plans([line], "file")) == {"business"}
    assert "file, line 1" in caplog.text


def test_a_plan_stands_beside_the_keys_and_changes_without_a_restart(tmp_path, caplog):
    file = KeyFile(tmp_path / "keys.env")
    ring = KeyRing(file.path, {})
    key = ring.find(file.add("acme", "trial"))
    assert ring.entitlements(key) is None
    with file.path.open("a") as lines:
        lines.write("EINVOICE_PLAN_TRIAL=can_use_api\n")
    key = ring.find(file.add("acme", "trial"))
    assert ring.entitlements(key).can_use_api
    assert not caplog.text


def test_plans_may_stand_in_the_environment(tmp_path):
    plain = KeyFile(tmp_path / "keys.env").add("acme", "trial")
    ring = KeyRing(tmp_path / "keys.env", {"EINVOICE_PLAN_TRIAL": "can_use_api,can_batch"})
    assert ring.entitlements(ring.find(plain)).can_batch


async def left(quotas, holder, kind, limit, count):
    """Use so much; return None, or what is left where that is too much."""
    try:
        await quotas.consume(holder, kind, limit, count)
    except Problem as refused:
        return refused.values["left"]


@pytest.fixture(params=["file", "memory", "redis"])
def counts(request, tmp_path):
    """Each kind of counts; a function that opens them anew, as a restart does."""
    if request.param == "memory":
        same = MemoryQuotaStore()
        return lambda: same
    if request.param == "file":
        return lambda: open_quota_store("off", tmp_path / "data")
    url = request.getfixturevalue("own_redis").url
    return lambda: open_quota_store(url, tmp_path)


@pytest.mark.anyio
async def test_limits_count_by_holder_unit_and_day(counts):
    moment = datetime.datetime(2026, 11, 20, 23, 59, 30, tzinfo=datetime.UTC)
    quotas = Quotas(counts(), lambda: moment)
    await quotas.consume("a", DAILY_FILES, 3, 2)
    with pytest.raises(Problem) as refused:
        await quotas.consume("a", DAILY_FILES, 3, 2)
    assert refused.value.headers == {"Retry-After": "31"}
    assert refused.value.values == {"limit": 3, "left": 1}
    assert await left(quotas, "a", DAILY_FILES, 3, 1) is None
    assert await left(quotas, "a", DAILY_REQUESTS, 1, 1) is None
    assert await left(quotas, "b", DAILY_FILES, 3, 3) is None
    assert await left(quotas, "a", DAILY_FILES, None, 100) is None
    assert await left(quotas, "a", DAILY_FILES, 2, 1) == 0, "the plan has been made smaller meanwhile"
    quotas.close()
    quotas = Quotas(counts(), lambda: moment)
    assert await left(quotas, "a", DAILY_FILES, 3, 1) == 0, "a restart forgets nothing"
    moment += datetime.timedelta(minutes=1)
    assert await left(quotas, "a", DAILY_FILES, 3, 3) is None
    assert await left(quotas, "a", DAILY_FILES, 3, 1) == 0
    quotas.close()


@pytest.mark.anyio
async def test_replicas_count_together(own_redis, tmp_path):
    one, two = (Quotas(open_quota_store(own_redis.url, tmp_path)) for _ in range(2))
    taken = await asyncio.gather(*(left(it, "a", DAILY_FILES, 5, 1) for _ in range(4) for it in (one, two)))
    assert taken.count(None) == 5
    one.close()
    two.close()


@pytest.mark.anyio
async def test_counts_that_are_away_cost_no_request(tmp_path, caplog):
    (tmp_path / "a-file").touch()
    quotas = Quotas(SQLiteQuotaStore(tmp_path / "a-file" / "usage.sqlite"))
    assert await left(quotas, "a", DAILY_FILES, 1, 1) is None
    assert await left(quotas, "a", DAILY_FILES, 1, 1) == 0
    assert caplog.text.count("in memory") == 1
    quotas.close()


@pytest.mark.anyio
async def test_a_damaged_file_of_counts_is_begun_anew(tmp_path, caplog):
    path = tmp_path / "usage.sqlite"
    path.write_bytes(b"not a database" * 100)
    quotas = Quotas(SQLiteQuotaStore(path))
    assert await left(quotas, "a", DAILY_FILES, 1, 1) is None
    assert await left(quotas, "a", DAILY_FILES, 1, 1) == 0
    assert "damaged" in caplog.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    quotas.close()


@pytest.mark.slow
def test_a_restart_forgets_no_use(tmp_path):
    keys = KeyFile(tmp_path / "data" / "keys.env")
    key = {"X-API-Key": keys.add("acme", "small")}
    with keys.path.open("a") as lines:
        lines.write("EINVOICE_PLAN_SMALL=can_use_api,daily_usage_limit=2\n")
    for status in (200, 200, 429):
        with serving(tmp_path / "data", workers=1) as server:
            answer = httpx.get(server.base.join(f"{API}/capabilities"), headers=key)
            assert answer.status_code == status
            server.process.kill()
