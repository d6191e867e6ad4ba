"""Rates and concurrent requests of key holders."""

import pytest

from appliance.access.plans import parse_plan
from appliance.access.rates import CONCURRENCY_LIMIT, RATE_LIMIT, RequestRates
from appliance.contract.problems import Problem


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def refusal(call, *arguments):
    with pytest.raises(Problem) as raised:
        call(*arguments)
    return raised.value.type, raised.value.headers


def test_rate_is_limited_per_holder():
    clock = Clock()
    rates = RequestRates(clock)
    for _ in range(3):
        rates.consume("a", 3)
    assert refusal(rates.consume, "a", 3) == (RATE_LIMIT, {"Retry-After": "20"})
    rates.consume("b", 3)
    clock.now += 19
    assert refusal(rates.consume, "a", 3) == (RATE_LIMIT, {"Retry-After": "1"})
    clock.now += 1
    rates.consume("a", 3)
    assert refusal(rates.consume, "a", 3) == (RATE_LIMIT, {"Retry-After": "20"})


def test_allowance_does_not_grow_beyond_a_minute():
    clock = Clock()
    rates = RequestRates(clock)
    rates.consume("a", 2)
    clock.now += 3600
    rates.consume("a", 2)
    rates.consume("a", 2)
    refusal(rates.consume, "a", 2)


def test_no_limit():
    rates = RequestRates()
    for _ in range(1000):
        rates.consume("a", None)
    with rates.running("a", None), rates.running("a", None):
        pass


def test_concurrent_requests_are_limited_per_holder():
    rates = RequestRates()
    with rates.running("a", 2), rates.running("a", 2), rates.running("b", 1):
        assert refusal(rates.running("a", 2).__enter__)[0] is CONCURRENCY_LIMIT
    with rates.running("a", 2), rates.running("a", 2):
        pass


def test_plan_with_limits():
    plan = parse_plan("EINVOICE_PLAN_X=can_use_api,requests_per_minute=60,concurrent_requests=4")
    assert (plan.requests_per_minute, plan.concurrent_requests) == (60, 4)
