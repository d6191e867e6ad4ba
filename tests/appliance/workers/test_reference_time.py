"""Worker time for the reference engine."""

import pytest

from appliance.contract.problems import Problem
from appliance.workers.reference_time import ReferenceTime


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_time_is_limited_and_replenished_evenly():
    clock = Clock()
    reference_time = ReferenceTime(20, clock)
    with reference_time.spend("a"):
        clock.now += 15
    with reference_time.spend("a"):  # less than the time of a minute has been spent
        clock.now += 15
    with pytest.raises(Problem) as error, reference_time.spend("a"):
        pass
    assert error.value.headers == {"Retry-After": "15"}
    with reference_time.spend("b"):
        pass
    clock.now += 15
    with reference_time.spend("a"):
        pass
