"""A clock that a change of the system's time does not move."""

import time


class SteadyClock:
    """Seconds since 1970 (UTC): the system's time when the clock was made, plus the time elapsed since.

    The elapsed time includes the time for which the system was suspended, on Linux.
    """

    def __init__(self) -> None:
        self._start = time.time() - _elapsed()

    def __call__(self) -> float:
        """Return the current time."""
        return self._start + _elapsed()


def _elapsed() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
