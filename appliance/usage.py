"""Daily limits: how much each holder of keys has used since midnight (UTC).

Counted in this process's memory: a restart begins anew, and replicas count each for themselves.
"""

import datetime
from collections import Counter
from collections.abc import Callable

from appliance.problems import Problem, ProblemKind, Words

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
    """Counts what each holder uses, by day."""

    def __init__(self, clock: Callable[[], datetime.datetime] = now) -> None:
        self._clock = clock
        self._day = clock().date()
        self._used: Counter[tuple[str, str]] = Counter()

    def take(self, holder: str, kind: ProblemKind, limit: int | None, count: int = 1) -> None:
        """Use `count` more of what `kind` bounds: `REQUESTS` or `FILES`.

        Raises:
            Problem: that would be more than the limit; nothing is counted then.
        """
        if limit is None:
            return
        moment = self._clock()
        if moment.date() != self._day:
            self._day = moment.date()
            self._used.clear()
        used = self._used[holder, kind.code]
        if used + count > limit:
            headers = {"Retry-After": str(_seconds_left(moment))}
            raise Problem(kind, headers=headers, limit=limit, left=limit - used)
        self._used[holder, kind.code] = used + count


def _seconds_left(moment: datetime.datetime) -> int:
    """How long the day still lasts."""
    tomorrow = moment.date() + datetime.timedelta(days=1)
    midnight = datetime.datetime.combine(tomorrow, datetime.time(), datetime.UTC)
    return int((midnight - moment).total_seconds()) + 1
