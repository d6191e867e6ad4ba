"""The worker pool: admission, queueing and dispatch of jobs.

A document that takes too long or crashes its worker affects only its own request.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.contract.problems import Problem, ProblemType
from appliance.settings import Settings
from appliance.workers.process import JobTimeout, WorkerExited
from appliance.workers.protocol import Message
from appliance.workers.slots import WorkerSlot

RETRY_AFTER_SECONDS = 2

BUSY = ProblemType("busy", 503, example={"seconds": RETRY_AFTER_SECONDS})

DEATH_CAUSES = ("timeout", "cancelled", "signal", "exit")

TOO_COMPLEX = ProblemType("too_complex", 422, example={"seconds": 30, "megabytes": 2048})


class JobFailed(Exception):  # noqa: N818 (the outcome of a job)
    """An internal error, logged by the worker."""


class JobLimitExceeded(Exception):  # noqa: N818
    """The job exceeded its time or memory limit."""


def busy_problem() -> Problem:
    """Return the problem that asks the caller to retry."""
    return Problem(BUSY, headers={"Retry-After": str(RETRY_AFTER_SECONDS)}, seconds=RETRY_AFTER_SECONDS)


class Reservation:
    """An admitted request and the upload memory reserved for it."""

    def __init__(self, pool: "WorkerPool") -> None:
        self._pool = pool
        self._bytes = 0

    def add_bytes(self, size: int) -> None:
        """Reserve `size` more bytes of upload memory.

        Raises:
            Problem: no upload memory is left (`BUSY`).
        """
        if size > self._pool.free_upload_bytes:
            raise busy_problem()
        self._pool.free_upload_bytes -= size
        self._bytes += size

    def release(self) -> None:
        """Release the upload memory."""
        self._pool.free_upload_bytes += self._bytes
        self._bytes = 0


class WorkerPool:
    """Runs jobs in `settings.workers` processes; up to `settings.queue` more may wait or upload.

    Attributes:
        free_upload_bytes: upload memory left, in bytes.
        waiting: number of jobs waiting for a worker.
    """

    def __init__(self, settings: Settings) -> None:
        self.free_upload_bytes = settings.upload_megabytes << 20
        self.waiting = 0
        self._settings = settings
        self._free_requests = settings.workers + settings.queue
        self._slots = [WorkerSlot(settings) for _ in range(settings.workers)]
        self._free_slots = list(self._slots)
        self._semaphore = asyncio.Semaphore(settings.workers)

    def start(self) -> None:
        """Start the workers. Jobs submitted before a worker is ready have to wait."""
        for slot in self._slots:
            slot.start()

    async def wait_until_ready(self) -> None:
        """Wait until every worker is ready."""
        await asyncio.gather(*(slot.wait_until_ready() for slot in self._slots))

    async def stop(self) -> None:
        """Terminate the workers."""
        await asyncio.gather(*(slot.stop() for slot in self._slots))

    @property
    def ready_count(self) -> int:
        """Number of workers that are ready, idle or busy."""
        return sum(slot.ready for slot in self._slots)

    @property
    def start_count(self) -> int:
        """Number of workers started so far."""
        return sum(slot.start_count for slot in self._slots)

    @property
    def deaths(self) -> dict[str, int]:
        """Number of workers that ended unexpectedly, by cause."""
        return {cause: sum(slot.deaths[cause] for slot in self._slots) for cause in DEATH_CAUSES}

    @property
    def pids(self) -> list[int]:
        """Process identifiers of the running workers."""
        return [slot.pid for slot in self._slots if slot.pid is not None]

    @contextmanager
    def reserve(self) -> Iterator[Reservation]:
        """Admit a request, before its body is read.

        Raises:
            Problem: the queue is full (`BUSY`).
        """
        if not self._free_requests:
            raise busy_problem()
        self._free_requests -= 1
        reservation = Reservation(self)
        try:
            yield reservation
        finally:
            self._free_requests += 1
            reservation.release()

    async def run(self, job: Message) -> Message:
        """Run a job on the next free worker and return its outcome.

        Raises:
            Problem: no worker became free in time, or it crashed (`BUSY`).
            JobLimitExceeded: the job exceeded its time or memory limit.
            JobFailed: internal error.
        """
        self.waiting += 1
        try:
            async with asyncio.timeout(self._settings.queue_seconds):
                await self._semaphore.acquire()
        except TimeoutError:
            raise busy_problem() from None
        finally:
            self.waiting -= 1
        slot = self._take_slot()
        try:
            outcome = await slot.run(job, self._settings.queue_seconds)
        except WorkerExited:
            raise busy_problem() from None
        except JobTimeout:
            raise JobLimitExceeded from None
        finally:
            self._free_slots.append(slot)
            self._semaphore.release()
        if "limit_exceeded" in outcome.head:
            raise JobLimitExceeded
        if "failed" in outcome.head:
            raise JobFailed
        return outcome

    def too_complex_problem(self) -> Problem:
        """Return the problem for `JobLimitExceeded`."""
        settings = self._settings
        return Problem(TOO_COMPLEX, seconds=round(settings.document_seconds), megabytes=settings.worker_megabytes)

    def _take_slot(self) -> WorkerSlot:
        """Remove and return a free slot, preferably one whose worker is ready."""
        slot = next((slot for slot in reversed(self._free_slots) if slot.ready), self._free_slots[-1])
        self._free_slots.remove(slot)
        return slot
