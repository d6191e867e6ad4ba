"""Daily quotas of key holders, from midnight to midnight (UTC)."""

import datetime
import logging
import time
from collections.abc import Callable

from appliance.access.quota_store import MemoryQuotaStore, QuotaStore, QuotaStoreError
from appliance.contract.problems import Problem, ProblemType
from appliance.steady_clock import SteadyClock

log = logging.getLogger(__name__)

RETRY_SECONDS = 5
"""Seconds to wait before retrying an unavailable quota store."""

DAILY_REQUESTS = ProblemType("daily_usage_limit", 429, example={"limit": 1000, "left": 0})
DAILY_FILES = ProblemType("daily_validation_limit", 429, example={"limit": 100, "left": 2, "count": 10})


class Quotas:
    """Counts usage per holder and day.

    While the store is unavailable, requests are still served and quotas are enforced per process, in memory.

    Args:
        store: the store.
        clock: time in seconds since 1970. By default one that a change of the system's time does not move: it would
            begin another day.
    """

    def __init__(self, store: QuotaStore, clock: Callable[[], float] | None = None) -> None:
        self._store = store
        self._fallback = MemoryQuotaStore()
        self._retry_at = 0.0
        self._clock = clock or SteadyClock()

    async def consume(self, holder: str, quota: ProblemType, limit: int | None, count: int = 1) -> None:
        """Count `count` units against a quota, `DAILY_REQUESTS` or `DAILY_FILES`.

        Raises:
            Problem: the limit would be exceeded; nothing was counted.
        """
        if limit is None:
            return
        now = self._now()
        used = await self._consume(now.date().isoformat(), f"{quota.code}:{holder}", count, limit)
        if used + count > limit:
            headers = {"Retry-After": str(_seconds_until_midnight(now))}
            raise Problem(quota, headers=headers, limit=limit, left=max(0, limit - used), count=count)

    async def release(self, holder: str, quota: ProblemType, limit: int | None, day: str) -> None:
        """Uncount a unit that was counted on `day` (see `today`); after midnight there is nothing to uncount."""
        if limit is not None and day == self.today():
            await self._consume(day, f"{quota.code}:{holder}", -1, limit)

    def today(self) -> str:
        """Return the day for which units are counted now."""
        return self._now().date().isoformat()

    def _now(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self._clock(), datetime.UTC)

    async def _consume(self, day: str, counter: str, count: int, limit: int) -> int:
        if time.monotonic() >= self._retry_at:
            try:
                return await self._store.consume(day, counter, count, limit)
            except QuotaStoreError as error:
                self._retry_at = time.monotonic() + RETRY_SECONDS
                log.error("The quota store is unavailable; counting in memory: %s", error)
        return await self._fallback.consume(day, counter, count, limit)

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def _seconds_until_midnight(now: datetime.datetime) -> int:
    tomorrow = now.date() + datetime.timedelta(days=1)
    midnight = datetime.datetime.combine(tomorrow, datetime.time(), datetime.UTC)
    return int((midnight - now).total_seconds()) + 1
