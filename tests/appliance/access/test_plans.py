"""Plans and daily limits."""

import asyncio
import datetime
import stat
import time

import pytest

from appliance.access.keys import KeyFile, KeyRing, generate_key
from appliance.access.plans import BUSINESS, numbered, parse_plans
from appliance.access.quota_store import MemoryQuotaStore, SQLiteQuotaStore, open_quota_store
from appliance.access.quotas import DAILY_FILES, DAILY_REQUESTS, Quotas
from appliance.contract.problems import Problem
from appliance.contract.schemas import Plan
from tests.helpers.served import API, http, serving


def test_business_is_built_in():
    assert parse_plans([]) == {"business": BUSINESS}
    denied = {name for name, value in BUSINESS if name.startswith("can_") and not value}
    assert denied == {"can_export", "can_use_reference"}


def test_plan_grants_what_it_lists():
    plans = parse_plans(numbered(["# x", " EINVOICE_PLAN_SMALL_TEAM=can_use_api, daily_usage_limit=10 "], "file"))
    expected = Plan(plan_type="small-team", can_use_api=True, daily_usage_limit=10)
    assert plans["small-team"] == expected
    assert not expected.can_batch


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
def test_invalid_plan_is_skipped(line, caplog):
    assert set(parse_plans(numbered([line], "file"))) == {"business"}
    assert "file, line 1" in caplog.text


def test_plan_in_the_key_file_changes_without_restart(tmp_path, caplog):
    file = KeyFile(tmp_path / "keys.env")
    plain, stored = generate_key("ACME_1", "acme", "trial")
    file.path.write_text(f"{stored.line()}\n")
    ring = KeyRing(file.path, {})
    assert ring.entitlements(ring.find(plain)) is None
    assert "unknown plan" in caplog.text
    caplog.clear()
    file.path.write_text(f"{stored.line()}\nEINVOICE_PLAN_TRIAL=can_use_api\n")
    assert ring.entitlements(ring.find(plain)).can_use_api
    assert not caplog.text


def test_plans_from_the_environment(tmp_path):
    environ = {"EINVOICE_PLAN_TRIAL": "can_use_api,can_batch"}
    plain = KeyFile(tmp_path / "keys.env", environ).add("acme", "trial")
    ring = KeyRing(tmp_path / "keys.env", environ)
    assert ring.entitlements(ring.find(plain)).can_batch


async def units_left(quotas, holder, kind, limit, count):
    """Consume units; return None, or the units left if the limit would be exceeded."""
    try:
        await quotas.consume(holder, kind, limit, count)
    except Problem as error:
        return error.values["left"]


@pytest.fixture(params=["file", "memory", pytest.param("redis", marks=pytest.mark.slow)])
def open_store(request, tmp_path):
    """For each kind of store: a function that opens it, again after a restart."""
    if request.param == "memory":
        same = MemoryQuotaStore()
        return lambda: same
    if request.param == "file":
        return lambda: open_quota_store("off", tmp_path / "data")
    url = request.getfixturevalue("own_redis").url
    return lambda: open_quota_store(url, tmp_path)


@pytest.mark.anyio
async def test_quotas_count_by_holder_unit_and_day(open_store):
    moment = datetime.datetime(2026, 11, 20, 23, 59, 30, tzinfo=datetime.UTC)
    quotas = Quotas(open_store(), lambda: moment.timestamp())
    await quotas.consume("a", DAILY_FILES, 3, 2)
    with pytest.raises(Problem) as error:
        await quotas.consume("a", DAILY_FILES, 3, 2)
    assert error.value.headers == {"Retry-After": "31"}
    assert error.value.values == {"limit": 3, "left": 1, "count": 2}
    assert await units_left(quotas, "a", DAILY_FILES, 3, 1) is None
    assert await units_left(quotas, "a", DAILY_REQUESTS, 1, 1) is None
    assert await units_left(quotas, "b", DAILY_FILES, 3, 3) is None
    assert await units_left(quotas, "a", DAILY_FILES, None, 100) is None
    assert await units_left(quotas, "a", DAILY_FILES, 2, 1) == 0, "the limit of the plan has been lowered"
    quotas.close()
    quotas = Quotas(open_store(), lambda: moment.timestamp())
    assert await units_left(quotas, "a", DAILY_FILES, 3, 1) == 0, "usage survives a restart"
    moment += datetime.timedelta(minutes=1)
    assert await units_left(quotas, "a", DAILY_FILES, 3, 3) is None
    assert await units_left(quotas, "a", DAILY_FILES, 3, 1) == 0
    quotas.close()


@pytest.mark.anyio
async def test_released_units_are_free_again(open_store):
    moment = datetime.datetime(2026, 11, 20, 23, 59, 30, tzinfo=datetime.UTC)
    quotas = Quotas(open_store(), lambda: moment.timestamp())
    day = quotas.today()
    assert await units_left(quotas, "a", DAILY_REQUESTS, 2, 2) is None
    await quotas.release("a", DAILY_REQUESTS, 2, day)
    assert await units_left(quotas, "a", DAILY_REQUESTS, 2, 2) == 1
    await quotas.release("b", DAILY_REQUESTS, 2, day)
    assert await units_left(quotas, "b", DAILY_REQUESTS, 2, 3) == 2, "never more than the limit"
    moment += datetime.timedelta(minutes=1)
    await quotas.release("a", DAILY_REQUESTS, 2, day)
    assert await units_left(quotas, "a", DAILY_REQUESTS, 2, 3) == 2
    quotas.close()


@pytest.mark.anyio
@pytest.mark.parametrize("jump", [-86_400, 86_400])
async def test_system_time_does_not_reset_quotas(open_store, monkeypatch, jump):
    quotas = Quotas(open_store())
    assert await units_left(quotas, "a", DAILY_REQUESTS, 1, 1) is None
    system_time = time.time
    monkeypatch.setattr(time, "time", lambda: system_time() + jump)
    assert await units_left(quotas, "a", DAILY_REQUESTS, 1, 1) == 0
    quotas.close()


@pytest.mark.anyio
async def test_replicas_share_quotas_in_redis(own_redis, tmp_path):
    one, two = (Quotas(open_quota_store(own_redis.url, tmp_path)) for _ in range(2))
    taken = await asyncio.gather(
        *(units_left(quotas, "a", DAILY_FILES, 5, 1) for _ in range(4) for quotas in (one, two))
    )
    assert taken.count(None) == 5
    one.close()
    two.close()


@pytest.mark.anyio
async def test_unavailable_quota_store_falls_back_to_memory(tmp_path, caplog):
    (tmp_path / "a-file").touch()
    quotas = Quotas(SQLiteQuotaStore(tmp_path / "a-file" / "usage.sqlite"))
    assert await units_left(quotas, "a", DAILY_FILES, 1, 1) is None
    assert await units_left(quotas, "a", DAILY_FILES, 1, 1) == 0
    assert caplog.text.count("in memory") == 1
    quotas.close()


@pytest.mark.anyio
async def test_damaged_quota_file_is_replaced(tmp_path, caplog):
    path = tmp_path / "usage.sqlite"
    path.write_bytes(b"not a database" * 100)
    quotas = Quotas(SQLiteQuotaStore(path))
    assert await units_left(quotas, "a", DAILY_FILES, 1, 1) is None
    assert await units_left(quotas, "a", DAILY_FILES, 1, 1) == 0
    assert "damaged" in caplog.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    quotas.close()


@pytest.mark.slow
def test_quotas_survive_a_restart(tmp_path):
    keys = KeyFile(tmp_path / "data" / "keys.env")
    keys.path.parent.mkdir()
    keys.path.write_text("EINVOICE_PLAN_SMALL=can_use_api,daily_usage_limit=2\n")
    key = {"X-API-Key": keys.add("acme", "small")}
    for statuses in ([200, 200], [429]):
        with serving(tmp_path / "data", workers=1) as server:
            answers = [http.get(server.base.join(f"{API}/capabilities"), headers=key) for _ in statuses]
            assert [answer.status_code for answer in answers] == statuses
            server.process.kill()
