"""A limited quantity shared by key holders: requests, or bytes of upload memory."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

ACTIVE_SECONDS: Final = 60
"""Time after its last use for which a holder counts as using the service."""


class Shares:
    """A quantity shared by holders. A single holder can take all of it, one of several at most half.

    What a holder took beyond half before others came does not count against them, so that they need not wait until it
    is released. Therefore up to one and a half times the quantity can be in use, for a while. If it is limited
    strictly, it is not exceeded; a single holder can take three quarters then, and leaves a quarter for others.

    Args:
        total: the quantity.
        clock: time in seconds.
        is_strict: whether the quantity must not be exceeded.
        least: what one of several can take even if it is more than half.
    """

    def __init__(
        self, total: int, clock: Callable[[], float] = time.monotonic, *, is_strict: bool = False, least: int = 0
    ) -> None:
        self._total = total
        self._single = total - total // 4 if is_strict else total
        self._is_strict = is_strict
        self._half = max((total + 1) // 2, least)
        self._clock = clock
        self._used: Counter[str] = Counter()
        self._last_use: dict[str, float] = {}

    @property
    def free(self) -> int:
        """The quantity that is not in use; 0 if more than all is."""
        return max(0, self._total - self._used.total())

    def take(self, holder: str, quantity: int) -> bool:
        """Take a quantity for a holder; return False if the holder cannot have it, and take nothing."""
        now = self._clock()
        self._last_use[holder] = now
        others = self._others(holder, now)
        limit = self._half if others else self._single
        counted = self._total if self._is_strict else self._half
        in_use = sum(min(self._used[other], counted) for other in others)
        wanted = self._used[holder] + quantity
        if wanted > limit or wanted + in_use > self._total:
            return False
        self._used[holder] = wanted
        return True

    def release(self, holder: str, quantity: int) -> None:
        """Return a quantity."""
        self._used[holder] -= quantity
        if not self._used[holder]:
            del self._used[holder]

    def _others(self, holder: str, now: float) -> list[str]:
        """Return the other holders that use the service; forget those that no longer do."""
        gone = [it for it, last in self._last_use.items() if last < now - ACTIVE_SECONDS and it not in self._used]
        for it in gone:
            del self._last_use[it]
        return [it for it in self._last_use if it != holder]
