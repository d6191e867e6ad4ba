"""Daily limits: how much each holder of keys may use from midnight to midnight (UTC)."""

import datetime
import logging
import time
from collections.abc import Callable

from appliance.counts import Counts, CountsAway, MemoryCounts
from appliance.problems import Problem, ProblemKind, Words

log = logging.getLogger(__name__)

AWAY_SECONDS = 5
"""So long counts that are away are not asked again."""

REQUESTS = ProblemKind(
    "daily_usage_limit",
    429,
    de=Words("Tageslimit erreicht", "Der Tarif erlaubt {limit} Anfragen am Tag (UTC); übrig sind {left}."),
    en=Words("Daily limit reached", "The plan allows {limit} requests a day (UTC); {left} are left."),
    example={"limit": 1000, "left": 0},
)
FILES = ProblemKind(
    "daily_validation_limit",
    429,
    de=Words(
        "Tageslimit erreicht", "Der Tarif erlaubt die Prüfung von {limit} Dateien am Tag (UTC); übrig sind {left}."
    ),
    en=Words("Daily limit reached", "The plan allows {limit} files a day (UTC) to be validated; {left} are left."),
    example={"limit": 100, "left": 2},
)


def now() -> datetime.datetime:
    """Return the time, in UTC."""
    return datetime.datetime.now(datetime.UTC)


class Usage:
    """Counts what each holder uses, by day.

    While `counts` are away it counts in memory: documents are judged all the same, and limits still hold somehow.
    """

    def __init__(self, counts: Counts, clock: Callable[[], datetime.datetime] = now) -> None:
        self._counts = counts
        self._meanwhile = MemoryCounts()
        self._away_until = 0.0
        self._clock = clock

    async def take(self, holder: str, kind: ProblemKind, limit: int | None, count: int = 1) -> None:
        """Use `count` more of what `kind` bounds: `REQUESTS` or `FILES`.

        Raises:
            Problem: that would be more than the limit; nothing is counted then.
        """
        if limit is None:
            return
        moment = self._clock()
        used = await self._take(moment.date().isoformat(), f"{kind.code}:{holder}", count, limit)
        if used + count > limit:
            headers = {"Retry-After": str(_seconds_left(moment))}
            raise Problem(kind, headers=headers, limit=limit, left=max(0, limit - used))

    async def _take(self, day: str, what: str, count: int, limit: int) -> int:
        if time.monotonic() >= self._away_until:
            try:
                return await self._counts.take(day, what, count, limit)
            except CountsAway as error:
                self._away_until = time.monotonic() + AWAY_SECONDS
                log.error("Daily limits are counted in memory for now: %s", error)
        return await self._meanwhile.take(day, what, count, limit)

    def close(self) -> None:
        """Let go of what it counts in."""
        self._counts.close()


def _seconds_left(moment: datetime.datetime) -> int:
    """How long the day still lasts."""
    tomorrow = moment.date() + datetime.timedelta(days=1)
    midnight = datetime.datetime.combine(tomorrow, datetime.time(), datetime.UTC)
    return int((midnight - moment).total_seconds()) + 1
