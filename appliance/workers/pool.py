"""The worker pool: admission, queueing and dispatch of jobs.

A document that takes too long or crashes its worker affects only its own request. Key holders share the pool fairly
(`appliance.workers.shares`, `appliance.workers.schedule`).
"""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from appliance.contract.problems import Problem, ProblemType
from appliance.settings import Settings
from appliance.workers.memory import MemoryTrimmer
from appliance.workers.process import JobInterrupted, JobTimeout, WorkerCrashed, WorkerExited, WorkerNotReady
from appliance.workers.protocol import Message
from appliance.workers.reference_time import ReferenceTime
from appliance.workers.schedule import JobKind, Schedule, Turn
from appliance.workers.shares import Shares
from appliance.workers.slots import WorkerSlot

RETRY_AFTER_SECONDS = 2

_KINDS: dict[str, JobKind] = {
    "generate": "generation",
    "validation_report_pdf": "pdf",
    "readable_invoice_pdf": "pdf",
    "fix": "causes",
    "archive_causes": "causes",
}
"""Kinds of jobs that create documents. They take fifty times as long as a validation, as does a validation with the
search for causes or with the reference engine, so a worker is kept free of them; all others are validations."""

_REFERENCED = ("validate", "validate_item", "archive_file", "kosit_report")
"""Jobs that may use the reference engine."""

QUICK_BYTES = 65_536
"""Size up to which a document is probably validated quickly: a typical one in 10 ms, a hostile one in 0.2 s."""

SURELY_QUICK_BYTES = 16_384
"""Size up to which XML is validated quickly, whatever it contains."""

BATCH_BYTES = 101 << 20
"""Size of a batch of ten files of 10 MB, with a megabyte for the form."""

DEATH_CAUSES = ("timeout", "cancelled", "interrupted", "signal", "exit")

BUSY = ProblemType("busy", 503, example={"seconds": RETRY_AFTER_SECONDS})
TOO_COMPLEX = ProblemType("too_complex", 422, example={"seconds": 30, "megabytes": 2048})


def _kind(job: Message) -> JobKind:
    task = job.head["job"]
    if task.startswith("validate") and job.head.get("causes_seconds") is not None:
        return "causes"
    if task in _REFERENCED and _uses_reference(job):
        return "reference"
    return _KINDS.get(task, "validation")


def _uses_reference(job: Message) -> bool:
    engine: str = job.head.get("engine", "native")
    return engine != "native"


class JobFailed(Exception):  # noqa: N818 (the outcome of a job)
    """An internal error, logged by the worker."""


class JobLimitExceeded(Exception):  # noqa: N818
    """The job exceeded its time or memory limit."""


class JobCrashed(Exception):  # noqa: N818
    """The worker exited during the job, twice."""


def busy_problem() -> Problem:
    """Return the problem that asks the caller to retry."""
    return Problem(BUSY, headers={"Retry-After": str(RETRY_AFTER_SECONDS)}, seconds=RETRY_AFTER_SECONDS)


class Reservation:
    """An admitted request and the upload memory reserved for it."""

    def __init__(self, memory: Shares, trimmer: MemoryTrimmer, holder: str) -> None:
        self._memory = memory
        self._trimmer = trimmer
        self._holder = holder
        self._bytes = 0

    def add_bytes(self, size: int) -> None:
        """Reserve `size` more bytes of upload memory.

        Raises:
            Problem: no upload memory is left for the holder (`BUSY`).
        """
        if not self._memory.take(self._holder, size):
            raise busy_problem()
        self._bytes += size

    def release(self) -> None:
        """Release the upload memory."""
        self._memory.release(self._holder, self._bytes)
        self._trimmer.released(self._bytes)
        self._bytes = 0


class WorkerPool:
    """Runs jobs in `settings.workers` processes; up to `settings.queue` more of either kind may wait or upload.

    While several key holders use the service, each has at most half of the requests and of the upload memory.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._requests = {is_long: Shares(settings.workers + settings.queue) for is_long in (False, True)}
        self._memory = Shares(settings.upload_megabytes << 20, is_strict=True, least=BATCH_BYTES)
        self._trimmer = MemoryTrimmer()
        self._slots = [WorkerSlot(settings) for _ in range(settings.workers)]
        self._free_slots = list(self._slots)
        self._schedule = Schedule(settings.workers)
        self._reference_time = ReferenceTime(settings.reference_seconds)

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

    @property
    def waiting(self) -> dict[str, int]:
        """Number of jobs waiting for a worker, by kind."""
        return self._schedule.waiting

    @property
    def running(self) -> dict[str, int]:
        """Number of running jobs, by kind."""
        return self._schedule.running

    @property
    def used_seconds(self) -> Mapping[str, float]:
        """Worker time that has been used, by key holder."""
        return self._schedule.used_seconds

    @property
    def free_upload_bytes(self) -> int:
        """Upload memory left, in bytes."""
        return self._memory.free

    @property
    def causes_seconds(self) -> float:
        """Time limit of the search for causes: that of the settings, at most a quarter of that of a document."""
        return min(self._settings.causes_seconds, self._settings.document_seconds / 4)

    @contextmanager
    def reserve(self, holder: str, is_long: bool = False) -> Iterator[Reservation]:
        """Admit a request of the holder of a key, before its body is read.

        Args:
            holder: name of the key holder.
            is_long: whether it creates a document or searches for causes; these requests have a queue of their own.

        Raises:
            Problem: the queue is full (`BUSY`).
        """
        requests = self._requests[is_long]
        if not requests.take(holder, 1):
            raise busy_problem()
        reservation = Reservation(self._memory, self._trimmer, holder)
        try:
            yield reservation
        finally:
            requests.release(holder, 1)
            reservation.release()

    async def run(self, job: Message, holder: str = "") -> Message:
        """Run a job of the holder of a key on the next free worker and return its outcome.

        Raises:
            Problem: no worker became free in time (`BUSY`), or the holder has no time left for the reference engine
                (`appliance.workers.reference_time`).
            JobCrashed: the worker exited during the job, twice.
            JobLimitExceeded: the job exceeded its time or memory limit.
            JobFailed: internal error.
        """
        try:
            outcome = await self._wait_and_run(job, holder)
        except (TimeoutError, WorkerNotReady):
            raise busy_problem() from None
        except (JobTimeout, WorkerCrashed):  # crashes in native code are those of allocations that failed
            raise JobLimitExceeded from None
        except WorkerExited:
            raise JobCrashed from None
        if "limit_exceeded" in outcome.head:
            raise JobLimitExceeded
        if "failed" in outcome.head:
            raise JobFailed
        return outcome

    async def _wait_and_run(self, job: Message, holder: str) -> Message:
        """Wait for the job's turn and run it; once more, as a long job, if it was interrupted."""
        seconds, is_long = self._settings.queue_seconds, self._is_long(job, holder)
        with contextlib.suppress(JobInterrupted):
            async with self._schedule.turn(holder, _kind(job), seconds, is_long=is_long) as turn:
                return await self._run(job, turn)
        async with self._schedule.turn(holder, _kind(job), seconds, is_long=True) as turn:
            return await self._run(job, turn)

    def _is_long(self, job: Message, holder: str) -> bool:
        """Return whether a document may take long; what is attached to a small PDF may be large."""
        size = sum(map(len, job.parts))
        if not self._schedule.is_slow(holder):
            return size > QUICK_BYTES
        return size > SURELY_QUICK_BYTES or any(document.startswith(b"%PDF") for document in job.parts)

    async def _run(self, job: Message, turn: Turn) -> Message:
        if self._settings.engine == "native" and _uses_reference(job):
            with self._reference_time.spend(turn.holder):
                return await self._run_again(job, turn)
        return await self._run_again(job, turn)

    async def _run_again(self, job: Message, turn: Turn) -> Message:
        """Run a job; once more if its worker exits, which may have another cause than the job."""
        try:
            return await self._run_once(job, turn)
        except WorkerExited:
            return await self._run_once(job, turn)

    async def _run_once(self, job: Message, turn: Turn) -> Message:
        slot = self._take_slot()
        turn.interrupt = slot.interrupt
        try:
            return await slot.run(job, self._settings.queue_seconds)
        finally:
            self._free_slots.append(slot)

    def too_complex_problem(self) -> Problem:
        """Return the problem for `JobLimitExceeded`."""
        settings = self._settings
        return Problem(TOO_COMPLEX, seconds=round(settings.document_seconds), megabytes=settings.worker_megabytes)

    def _take_slot(self) -> WorkerSlot:
        """Remove and return a free slot, preferably one whose worker is ready."""
        slot = next((slot for slot in reversed(self._free_slots) if slot.ready), self._free_slots[-1])
        self._free_slots.remove(slot)
        return slot
