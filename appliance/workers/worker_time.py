"""Worker time that key holders have used recently."""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Final

HALF_LIFE_SECONDS: Final = 60
"""Time after which worker time counts half."""


class WorkerTime:
    """Counts the worker time of key holders, in seconds; what was used earlier counts less.

    Attributes:
        total: all worker time that holders have used.

    Args:
        clock: time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}
        self.total: defaultdict[str, float] = defaultdict(float)

    def recent(self, holder: str) -> float:
        """Return the recent worker time of a holder."""
        seconds, at = self._used.get(holder, (0.0, 0.0))
        return seconds * 2 ** ((at - self._clock()) / HALF_LIFE_SECONDS)

    def add(self, holder: str, seconds: float) -> None:
        """Add worker time."""
        self.total[holder] += seconds
        self._note(holder, seconds)

    def _note(self, holder: str, seconds: float) -> None:
        self._used[holder] = (self.recent(holder) + seconds, self._clock())

    def join(self, holder: str, active: Collection[str]) -> None:
        """Note that a holder has a job, beside the active holders, who have some.

        One who had none is served as the one of them with the least time. Otherwise all others would wait until a new
        one has caught up.
        """
        if active and holder not in active:
            self._note(holder, max(0, min(map(self.recent, active)) - self.recent(holder)))
