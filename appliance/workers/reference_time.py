"""Worker time that key holders may spend on the reference engine, which takes many times as long as the native one."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from appliance.contract.problems import Problem, ProblemType

REFERENCE_LIMIT = ProblemType("reference_limit", 429, example={"limit": 20, "seconds": 12})


class ReferenceTime:
    """Counts worker time of key holders. After a minute without any, a whole minute's time may be spent at once.

    Args:
        per_minute: seconds that a holder may spend per minute. A document that exceeds it delays the next one.
        clock: time in seconds.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._full_at: dict[str, float] = {}

    @contextmanager
    def spend(self, holder: str) -> Iterator[None]:
        """Count the time spent in the context.

        Raises:
            Problem: the holder has none left.
        """
        started = self._clock()
        # As in `appliance.access.rates`, the allowance is replenished evenly, and full again at the stored time.
        if (wait := self._full_at.get(holder, started) - started - 60) > 0:
            seconds = math.ceil(wait)
            limit = round(self._per_minute)
            raise Problem(REFERENCE_LIMIT, headers={"Retry-After": str(seconds)}, limit=limit, seconds=seconds)
        try:
            yield
        finally:
            now = self._clock()
            spent = (now - started) * 60 / self._per_minute
            self._full_at[holder] = max(self._full_at.get(holder, now), now) + spent
