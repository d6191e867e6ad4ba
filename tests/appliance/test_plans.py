"""Plans and daily limits."""

import datetime

import pytest

from appliance.keys import KeyFile, KeyRing
from appliance.plans import BUSINESS, Entitlements, parse_plans
from appliance.problems import Problem
from appliance.usage import FILES, REQUESTS, Usage


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


def test_limits_count_by_holder_unit_and_day():
    moment = datetime.datetime(2026, 11, 20, 23, 59, 30, tzinfo=datetime.UTC)
    usage = Usage(lambda: moment)
    usage.take("a", FILES, 3, 2)
    with pytest.raises(Problem) as refused:
        usage.take("a", FILES, 3, 2)
    assert refused.value.headers == {"Retry-After": "31"}
    assert refused.value.values == {"limit": 3, "left": 1}
    usage.take("a", FILES, 3)
    usage.take("a", REQUESTS, 1)
    usage.take("b", FILES, 3, 3)
    usage.take("a", FILES, None, 100)
    moment += datetime.timedelta(minutes=1)
    usage.take("a", FILES, 3, 3)
