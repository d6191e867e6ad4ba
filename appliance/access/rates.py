"""Limits of a plan on the rate and on the number of concurrent requests. Each server process counts on its own."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from appliance.contract.problems import Problem, ProblemType

_CONCURRENT_RETRY_SECONDS: Final = 1

RATE_LIMIT = ProblemType("rate_limit", 429, example={"limit": 60, "seconds": 2})
CONCURRENCY_LIMIT = ProblemType("concurrency_limit", 429, example={"limit": 4})


class RequestRates:
    """Counts the requests of key holders.

    Args:
        clock: time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._running: Counter[str] = Counter()

    def consume(self, holder: str, per_minute: int | None) -> None:
        """Count a request against the rate. After a minute without any, a whole minute's requests may come at once.

        Raises:
            Problem: the rate is exceeded; the request was not counted.
        """
        if per_minute is None:
            return
        now = self._clock()
        # The allowance is replenished evenly; it is full again at the time that is stored (a token bucket).
        full_at = max(self._full_at.get(holder, now), now) + 60 / per_minute
        if (wait := full_at - now - 60) > 1e-6:
            seconds = math.ceil(wait)
            raise Problem(RATE_LIMIT, headers={"Retry-After": str(seconds)}, limit=per_minute, seconds=seconds)
        self._full_at[holder] = full_at

    @contextmanager
    def running(self, holder: str, limit: int | None) -> Iterator[None]:
        """Count a request while it runs.

        Raises:
            Problem: as many requests as the limit are running.
        """
        if limit is not None and self._running[holder] >= limit:
            raise Problem(CONCURRENCY_LIMIT, headers={"Retry-After": str(_CONCURRENT_RETRY_SECONDS)}, limit=limit)
        self._running[holder] += 1
        try:
            yield
        finally:
            self._running[holder] -= 1
            if not self._running[holder]:
                del self._running[holder]
