"""The core's work, kept off the event loop and within bounds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.to_thread

from appliance.problems import Problem, ProblemKind, Words

Result = TypeVar("Result")

RETRY_AFTER_SECONDS = 2

BUSY = ProblemKind(
    "busy",
    503,
    de=Words("Gerade ausgelastet", "Es warten schon zu viele Anfragen. Bitte in {seconds} Sekunden wiederholen."),
    en=Words("Busy", "Too many requests are waiting already. Please try again in {seconds} seconds."),
)


class Workers:
    """Judges documents in threads: `workers` at the same time, and `queue` requests more may wait or be uploading."""

    def __init__(self, workers: int, queue: int) -> None:
        self._limiter = anyio.CapacityLimiter(workers)
        self._free = workers + queue

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place for one request, from before its body is read; that bounds the memory of all uploads.

        Raises:
            Problem: all places are taken.
        """
        if not self._free:
            headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
            raise Problem(BUSY, headers=headers, seconds=RETRY_AFTER_SECONDS)
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run `work` in a thread when one is free, and return its result or raise what it raises."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)
